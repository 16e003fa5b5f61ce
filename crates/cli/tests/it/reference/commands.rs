//! Pages of commands, from the command line as clap knows it.

use std::fmt::Write;

use clap::{Arg, ArgAction, Command};

use super::super::{Desk, Said};
use super::{cell, escaped, wrapped};

/// Returns the groups of `hayase --help` with their commands.
pub fn groups() -> Vec<(String, Vec<String>)> {
    let help = Desk::new().hayase("--help").assert().success().stdout();
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for line in help.lines().skip_while(|line| !line.starts_with("Usage")).skip(1) {
        match line.strip_prefix("  ") {
            _ if line == "Options:" => break,
            Some(verb) => groups.last_mut().unwrap().1.push(verb.split_whitespace().next().unwrap().to_owned()),
            None if line.ends_with(':') => groups.push((line.trim_end_matches(':').to_owned(), Vec::new())),
            None => {}
        }
    }
    groups
}

/// Returns the file of a group's page.
pub fn file(group: &str) -> String {
    format!("commands-{}.md", group.to_lowercase().replace(' ', "-"))
}

fn program() -> Command {
    let mut command = hayase_cli::command().disable_help_subcommand(true);
    command.build();
    command
}

/// Returns the page about the program itself: all commands, options of every command, exit codes.
pub fn index() -> String {
    let program = program();
    let mut page = "# Commands\n\n".to_owned();
    write!(page, "{}\n\n", wrapped(&escaped(&long_about(&program)))).unwrap();
    for (group, verbs) in groups() {
        write!(page, "**[{group}]({})**\n\n| command | |\n|---|---|\n", file(&group)).unwrap();
        for verb in verbs {
            let about = program.find_subcommand(&verb).unwrap().get_about().unwrap().to_string();
            writeln!(page, "| [`{verb}`]({}#hayase-{verb}) | {} |", file(&group), cell(&about)).unwrap();
        }
        page.push('\n');
    }
    page += "## Options of every command\n\n";
    options(&mut page, program.get_arguments().filter(|arg| !arg.is_hide_set()));
    after(&mut page, &program);
    page.trim_end().to_owned() + "\n"
}

/// Returns the page of one group of commands.
pub fn page(group: &str, verbs: &[String]) -> String {
    let program = program();
    let mut page = format!("# {group}\n");
    for verb in verbs {
        command(&mut page, program.find_subcommand(verb).unwrap(), &format!("hayase {verb}"), 2);
    }
    page
}

fn long_about(command: &Command) -> String {
    let text = command.get_long_about().or_else(|| command.get_about()).map(ToString::to_string).unwrap_or_default();
    if text.ends_with('.') { text } else { text + "." }
}

fn command(page: &mut String, command_: &Command, name: &str, level: usize) {
    let usage = command_.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim().lines().map(str::trim).collect::<Vec<_>>().join("\n");
    write!(
        page,
        "\n{} {name}\n\n{}\n\n```text\n{usage}\n```\n\n",
        "#".repeat(level),
        wrapped(&escaped(&long_about(command_)))
    )
    .unwrap();
    let own: Vec<&Arg> = command_
        .get_arguments()
        .filter(|arg| {
            !arg.is_hide_set() && !arg.is_global_set() && !["help", "version"].contains(&arg.get_id().as_str())
        })
        .collect();
    let mut headings: Vec<Option<&str>> = Vec::new();
    for arg in &own {
        if !headings.contains(&arg.get_help_heading()) {
            headings.push(arg.get_help_heading());
        }
    }
    for heading in headings {
        if let Some(heading) = heading {
            write!(page, "**{heading}**\n\n").unwrap();
        }
        options(page, own.iter().copied().filter(|arg| arg.get_help_heading() == heading));
    }
    after(page, command_);
    for verb in command_.get_subcommands().filter(|verb| !verb.is_hide_set()) {
        command(page, verb, &format!("{name} {}", verb.get_name()), level + 1);
    }
    *page = page.trim_end().to_owned() + "\n";
}

fn options<'a>(page: &mut String, args: impl Iterator<Item = &'a Arg>) {
    page.push_str("| argument | meaning |\n|---|---|\n");
    for arg in args {
        let help = arg.get_long_help().or_else(|| arg.get_help()).map(ToString::to_string).unwrap_or_default();
        let mut help = cell(&help);
        if !help.is_empty() && !help.ends_with(['.', ':', '!', ')']) {
            help.push('.');
        }
        let values: Vec<String> = arg
            .get_possible_values()
            .iter()
            .filter(|v| !v.is_hide_set())
            .map(|v| format!("`{}`", v.get_name()))
            .collect();
        if !values.is_empty() && takes_value(arg) && !arg.is_hide_possible_values_set() {
            write!(help, " Values: {}.", values.join(", ")).unwrap();
        }
        let defaults: Vec<String> =
            arg.get_default_values().iter().map(|value| format!("`{}`", value.to_string_lossy())).collect();
        if !defaults.is_empty() && takes_value(arg) && !arg.is_hide_default_value_set() {
            write!(help, " Default: {}.", defaults.join(", ")).unwrap();
        }
        writeln!(page, "| {} | {help} |", forms(arg)).unwrap();
    }
    page.push('\n');
}

fn takes_value(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Set | ArgAction::Append)
}

/// Returns how an argument is written: `-t, --topology TOPOLOGY`.
fn forms(arg: &Arg) -> String {
    let names = arg.get_value_names().unwrap_or_default();
    let value = names.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    if arg.is_positional() {
        let many = arg.get_num_args().is_some_and(|range| range.max_values() > 1);
        return format!("`{}{}`", value, if many { "..." } else { "" });
    }
    let short = arg.get_short().map(|short| format!("-{short}"));
    let long = arg.get_long().map(|long| format!("--{long}"));
    let names = short.into_iter().chain(long).collect::<Vec<_>>().join(", ");
    let optional = arg.get_num_args().is_some_and(|range| range.min_values() == 0);
    match (takes_value(arg), optional) {
        (false, _) => format!("`{names}`"),
        (true, true) => format!("`{names} [{value}]`").replace('|', "\\|"),
        (true, false) => format!("`{names} {value}`").replace('|', "\\|"),
    }
}

/// Writes the part of a help text below the options: examples, outputs, exit codes.
fn after(page: &mut String, command: &Command) {
    let text = command.get_after_long_help().or_else(|| command.get_after_help());
    let Some(text) = text.map(ToString::to_string) else { return };
    write!(page, "```text\n{}\n```\n\n", text.trim_end()).unwrap();
}

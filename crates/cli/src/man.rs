//! `hayase man` and `hayase completions`.

use std::path::PathBuf;

use clap::{Args, Command, Subcommand, ValueHint};
use clap_complete::Shell;
use clap_mangen::Man;

use super::files::Opened;
use super::{End, Failure, Voice, print_with};
use hayase::scenario as scenarios;
use hayase_output::table::count;

/// `hayase generate`.
#[derive(Subcommand, Debug)]
pub enum GenerateVerb {
    /// Print the JSON schema of scenario files, for editors.
    Schema,
    /// Print a completion script for a shell.
    Completions(CompletionsArgs),
    /// Print the manual page, or write the pages of all commands into a folder.
    Man(ManArgs),
}

/// `hayase completions`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  hayase generate completions bash > ~/.local/share/bash-completion/completions/hayase
  hayase generate completions zsh > ~/.zfunc/_hayase
  hayase generate completions fish > ~/.config/fish/completions/hayase.fish")]
pub struct CompletionsArgs {
    /// The shell: bash, elvish, fish, powershell or zsh.
    #[arg(value_name = "SHELL", hide_possible_values = true)]
    pub shell: Shell,
}

/// `hayase man`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  hayase generate man | man -l -
  hayase generate man -o ~/.local/share/man/man1")]
pub struct ManArgs {
    /// Write the pages of the program and all its commands into this folder, which must exist.
    #[arg(short, long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub output: Option<PathBuf>,
}

/// Generates files for other programs.
pub fn generate(verb: &GenerateVerb, command: Command, voice: Voice) -> Result<End, Failure> {
    match verb {
        GenerateVerb::Schema => schema(),
        GenerateVerb::Completions(args) => completions(args, command),
        GenerateVerb::Man(args) => man(args, command, voice),
    }
}

/// Prints the JSON schema of scenario files.
pub fn schema() -> Result<End, Failure> {
    print_with(|w| w.write_all(scenarios::schema().as_bytes()))?;
    Ok(End::Done)
}

/// Prints a completion script.
pub fn completions(args: &CompletionsArgs, mut command: Command) -> Result<End, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "hayase", &mut script);
    print_with(|w| w.write_all(&script))?;
    Ok(End::Done)
}

/// Prints the page of the program, or writes the pages of all commands into a folder.
pub fn man(args: &ManArgs, command: Command, voice: Voice) -> Result<End, Failure> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let Some(folder) = &args.output else {
        print_with(|mut w| Man::new(command).render(&mut w))?;
        return Ok(End::Done);
    };
    let pages = pages(&command);
    for (name, command) in &pages {
        Opened::new(&folder.join(format!("{name}.1")))?
            .write(|mut file| Man::new(command.clone().display_name(name.clone())).render(&mut file))?;
    }
    voice.say(format_args!("{} written to `{}`", count(pages.len() as u64, "page", "pages"), folder.display()));
    Ok(End::Done)
}

/// Returns the program and all its commands by the names of their pages: `hayase-topology-show`.
fn pages(command: &Command) -> Vec<(String, Command)> {
    let mut pages = vec![(command.get_name().to_owned(), command.clone())];
    let mut i = 0;
    while i < pages.len() {
        let (name, command) = pages[i].clone();
        for verb in command.get_subcommands() {
            pages.push((format!("{name}-{}", verb.get_name()), verb.clone()));
        }
        i += 1;
    }
    pages
}

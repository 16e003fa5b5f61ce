//! `hayase man` and `hayase completions`.

use clap::CommandFactory;
use clap_mangen::Man;

use super::args::{Cli, CompletionsArgs, ManArgs};
use super::files::Opened;
use super::{End, Failure, Voice, print_with};

/// Prints a completion script.
pub fn completions(args: &CompletionsArgs) -> Result<End, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "hayase", &mut script);
    print_with(|w| w.write_all(&script))?;
    Ok(End::Done)
}

/// Prints the page of the program, or writes those of all verbs into a folder.
pub fn man(args: &ManArgs, voice: Voice) -> Result<End, Failure> {
    let mut command = Cli::command().disable_help_subcommand(true);
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
    voice.say(format_args!("{} pages written to `{}`", pages.len(), folder.display()));
    Ok(End::Done)
}

/// The program and all its verbs, by the names of their pages: `hayase-topology-show`.
fn pages(command: &clap::Command) -> Vec<(String, clap::Command)> {
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

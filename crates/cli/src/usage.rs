//! Words of the command line before clap parses them, and clap's messages in our words.

use std::ffi::OsString;
use std::io::{self, Write};

use clap::{ColorChoice, Command, CommandFactory};

use super::args::{self, Cli};
use super::typed::{while_typed, with_our_parser};
use super::{complain, reason};
use hayase::diagnostic::{failure, file_names};

/// Commands that pass their words to another program unchanged.
const HAND_ON: [&str; 4] = ["cc", "fc", "wrap", "record"];

/// Returns the words of the command line, each as a text ([`file_names`]). A negative value is joined to its
/// option (`--size=-5`), so that it is reported as a wrong value and not as an unknown option.
pub fn words(typed: impl Iterator<Item = OsString>) -> Vec<OsString> {
    joined(typed.map(|word| file_names::text(&word)).collect())
}

fn joined(words: Vec<String>) -> Vec<OsString> {
    let hands_on = words.get(1).is_some_and(|verb| HAND_ON.contains(&verb.as_str()));
    let mut joined: Vec<String> = Vec::with_capacity(words.len());
    let mut options = !hands_on;
    for word in words {
        options &= word != "--";
        let negative =
            word.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || c == '.'));
        match joined.last_mut() {
            Some(option) if options && negative && is_option(option) => {
                option.push('=');
                option.push_str(&word);
            }
            _ => joined.push(word),
        }
    }
    joined.into_iter().map(OsString::from).collect()
}

/// Returns true if the next word may be the value of this one.
fn is_option(word: &str) -> bool {
    match word.strip_prefix("--") {
        Some(name) => !name.is_empty() && !name.contains('='),
        None => word.len() == 2 && word.starts_with('-') && word.as_bytes()[1].is_ascii_alphabetic(),
    }
}

/// Returns the command for these words, with the colour of clap's own messages, which must be set before
/// parsing.
pub fn command(words: &[OsString]) -> Command {
    let mut command = while_typed(words, Cli::command);
    // Global options are passed on to each subcommand, so a single subcommand saves time.
    let only = words.get(1).and_then(|word| command.find_subcommand_mut(word)).map(std::mem::take);
    if let Some(verb) = only {
        command = args::of_one_verb(verb);
    } else if !command.get_subcommands().any(|verb| words.iter().any(|word| word == verb.get_name())) {
        // Suggestions for an unknown command or option need all of them.
        command = args::grouped(Cli::command());
    }
    let colour = words.iter().enumerate().find_map(|(i, word)| match word.to_str()? {
        "--color" => words.get(i + 1).and_then(|value| value.to_str()),
        word => word.strip_prefix("--color="),
    });
    command.mut_args(with_our_parser).color(match colour {
        Some("always") => ColorChoice::Always,
        Some("never") => ColorChoice::Never,
        _ => ColorChoice::Auto,
    })
}

/// Prints help or a usage error from clap, and returns the exit code.
pub fn answer(error: &clap::Error) -> u8 {
    let printed = error.print();
    if error.use_stderr() {
        return 2;
    }
    // Help is a result, so a failed write is a failure, except for a closed pipe.
    match printed.and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            complain(failure(&format!("cannot write to standard output: {}", reason(&error)), false));
            1
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        let words = joined(words.iter().map(|&word| word.to_owned()).collect());
        words.iter().map(|word| word.to_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn a_negative_value_belongs_to_its_option() {
        assert_eq!(words(&["hayase", "run", "--seeds", "-5", "-j", "-1"]), ["hayase", "run", "--seeds=-5", "-j=-1"]);
        assert_eq!(words(&["hayase", "run", "--jitter", "-.5us"]), ["hayase", "run", "--jitter=-.5us"]);
        // Passed-on arguments, options with values and other words stay unchanged.
        for same in [
            &["hayase", "record", "-o", "run", "--", "mpirun", "-np", "-4"][..],
            &["hayase", "cc", "-o", "-5"],
            &["hayase", "run", "--seeds=1", "-5"],
            &["hayase", "check", "x.toml", "-5"],
            &["hayase", "predict", "--", "--x", "-5"],
        ] {
            assert_eq!(words(same), same);
        }
    }

    #[test]
    fn what_follows_a_verb_is_worked_out_for_the_verb_that_was_typed() {
        let known = |verb: &Command| verb.get_arguments().count() + verb.get_subcommands().count();
        let all = Cli::command();
        let verbs = || all.get_subcommands().filter(|verb| known(verb) > 0);
        assert!(verbs().count() > 25);
        for typed in verbs() {
            let alone = command(&["hayase", typed.get_name()].map(OsString::from));
            let names: Vec<&str> = alone.get_subcommands().map(Command::get_name).collect();
            assert_eq!(names, [typed.get_name()]);
            assert!(alone.get_arguments().map(clap::Arg::get_id).eq(all.get_arguments().map(clap::Arg::get_id)));
            let words = ["hayase", "--color", "never", typed.get_name()].map(OsString::from);
            for verb in command(&words).get_subcommands() {
                let name = verb.get_name();
                let expected = if name == typed.get_name() { known(typed) } else { 0 };
                assert_eq!(known(verb), expected, "`{name}`: is it `InOurWords<...>` in `Verb`?");
            }
        }
        // Without a command, an option of any command may be meant.
        let none = command(&["hayase", "--topology"].map(OsString::from));
        assert!(none.get_subcommands().zip(all.get_subcommands()).all(|(a, b)| known(a) == known(b)));
    }

    #[test]
    fn numbers_say_what_is_allowed() {
        for (given, expected) in [
            (["hayase", "run", "--seeds=-5"], "a whole number from 1 to 4294967295 is expected"),
            (["hayase", "run", "--seeds=0"], "a whole number from 1 to 4294967295 is expected"),
            (
                ["hayase", "run", "--seed=18446744073709551616"],
                "a whole number from 0 to 18446744073709551615 is expected",
            ),
        ] {
            let words: Vec<OsString> = given.iter().map(OsString::from).collect();
            let error = command(&words).try_get_matches_from(&words).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}

//! Commands run by a host program inside its own process: their output is captured, base texts come from the
//! host, and the host receives progress and can cancel.

use std::ffi::OsString;

use clap::FromArgMatches;

use super::args::Cli;
use super::asked::{Inside, Kept, take_said};
use super::{End, Failure, Voice, asked, dispatch, reason, usage};
use hayase::diagnostic::{Diagnostic, Invalid};

/// Answer to a host program.
#[derive(Debug)]
pub struct Answer {
    /// Captured output.
    pub kept: Kept,
    /// End of the command.
    pub ended: Ended,
}

/// End of a command.
#[derive(Debug)]
pub enum Ended {
    /// The command is done.
    Done,
    /// The command failed at run time, although the input is right.
    Failed(Box<Invalid>),
    /// The input has mistakes.
    Invalid(Box<Invalid>),
    /// The arguments are not understood.
    Usage(String),
    /// The simulated program deadlocks.
    Deadlocked,
    /// The command was cancelled.
    Interrupted,
}

impl Inside {
    /// Runs the command with these arguments, the first of which is its name.
    pub fn answer(self, words: &[&str]) -> Answer {
        let (ended, kept) = asked::within(self, || ended(words));
        Answer { kept, ended }
    }
}

fn ended(words: &[&str]) -> Ended {
    let words: Vec<OsString> = ["hayase"].iter().chain(words).map(OsString::from).collect();
    let cli = usage::command(&words).try_get_matches_from(&words).and_then(|found| Cli::from_arg_matches(&found));
    let cli = match cli {
        Ok(cli) => cli,
        Err(error) => return Ended::Usage(error.to_string()),
    };
    let invalid = |diagnostic: Diagnostic| Box::new(Invalid::from(diagnostic));
    match dispatch(&cli.verb, Voice::unheard()) {
        Ok(End::Done) => Ended::Done,
        // The failure has been reported.
        Ok(End::Failed) => Ended::Failed(invalid(Diagnostic::new("failed", take_said()))),
        Ok(End::Invalid) => Ended::Invalid(invalid(Diagnostic::new("invalid", take_said()))),
        Ok(End::Deadlocked) => Ended::Deadlocked,
        Ok(End::Interrupted) => Ended::Interrupted,
        Err(Failure::Invalid(invalid)) => Ended::Invalid(invalid),
        Err(Failure::Failed(diagnostic)) => Ended::Failed(invalid(*diagnostic)),
        Err(Failure::Write(path, error)) => {
            let message = format!("cannot write `{}`: {}", path.display(), reason(&error));
            Ended::Failed(invalid(Diagnostic::new("unwritable-file", message)))
        }
        Err(Failure::Print(error)) => Ended::Failed(invalid(Diagnostic::new("unwritable-file", reason(&error)))),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use hayase::scenario::Loader;

    fn answered(base: Loader, words: &[&str]) -> Answer {
        let stop: &'static AtomicBool = Box::leak(Box::default());
        Inside { base, stop, tell: None, html: true }.answer(words)
    }

    #[test]
    fn a_verb_hands_over_what_it_prints_and_lies_above_the_texts_of_its_caller() {
        let text = "topology = \"torus-4x4\"\nworkload = \"ring\"\nplacement = \"random\"";
        let base = Loader::new().text("settings", text);
        let answer = answered(base.clone(), &["run", "--format=json", "--seed=3"]);
        assert!(matches!(answer.ended, Ended::Done), "{answer:?}");
        let report: serde_json::Value = serde_json::from_slice(&answer.kept.printed).unwrap();
        assert!(answer.kept.html.contains("<table>"), "{}", answer.kept.html);
        assert_eq!(report["scenario"]["seed"], 3);
        assert!(report["scenario"]["placement"]["random"].is_object());
        assert!(!asked::is_inside());
        let attached = Loader::new().attach("m.csv", *b"src,dst,bytes\n0,1,1000\n");
        let answer = answered(attached, &["run", "-t", "torus-4x4", "-p", "m.csv", "--format=json"]);
        let report: serde_json::Value = serde_json::from_slice(&answer.kept.printed).unwrap();
        assert_eq!(report["bytes"], 1000, "{answer:?}");
    }

    #[test]
    fn mistakes_and_words_that_are_none_come_back() {
        let answer = answered(Loader::new(), &["run", "-t", "no-such-fabric", "-p", "ring"]);
        assert!(matches!(&answer.ended, Ended::Invalid(invalid) if invalid.to_string().contains("no-such-fabric")));
        assert!(
            matches!(answered(Loader::new(), &["run", "--no-such"]).ended, Ended::Usage(text) if text.contains("--no-such"))
        );
    }

    #[test]
    fn it_is_ended_by_its_caller() {
        let stop: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(true)));
        let base = Loader::new().topology("torus-32x32").pattern("all-to-all-pairwise");
        let answer = Inside { base, stop, tell: None, html: false }.answer(&["run", "--format=json"]);
        assert!(matches!(answer.ended, Ended::Interrupted), "{answer:?}");
    }
}

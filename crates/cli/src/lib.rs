//! The command line: assembles a scenario, runs it, prints a report.
//!
//! Results go to standard output, everything else to standard error. Exit codes:
//!
//! - 0: done;
//! - 1: failed at run time, or in a case of the validation;
//! - 2: bad input or usage;
//! - 3: the simulated program deadlocks;
//! - 130: stopped by Ctrl-C after reporting the results until then (a second Ctrl-C ends the process at once).

mod accuracy;
mod accuracy_measured;
mod advise;
mod args;
mod asked;
mod bench;
mod calibrate;
mod catalog;
mod caveats;
mod check;
mod compare;
mod differences;
mod end;
mod estimate;
mod files;
mod init;
mod inside;
mod interrupt;
mod lines;
mod linux;
mod listing;
mod llm;
mod machine;
mod man;
mod master_slave;
mod nccl;
mod operation;
mod options;
mod pattern;
mod play;
mod predict;
mod preset;
mod process;
mod program;
mod progress;
mod range;
mod rates;
mod regions;
mod replay;
mod routes;
mod run;
mod scenario;
mod schedule;
mod seeds;
mod shown;
mod sweep;
mod throughput;
mod topology;
mod topology_compare;
mod trace;
mod typed;
mod usage;
mod validate;
mod voice;
mod whatif;
mod width;
mod window;
mod work;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

use args::{Cli, Verb};
pub use asked::{Inside, Tell};
pub use check::in_words;
pub(crate) use end::{End, Failure, reason};
pub(crate) use files::extension;
use hayase::diagnostic::{self, Invalid};
pub use inside::{Answer, Ended};
pub(crate) use voice::{Voice, complain, print, print_with, show};

/// Returns the command line as clap knows it: all commands, their options and examples.
pub fn command() -> clap::Command {
    Cli::command()
}

/// Runs the program, as the binary `hayase` does.
pub fn main() -> ExitCode {
    #[cfg(unix)]
    interrupt::outlive_large_files();
    let run = || ExitCode::from(answer(std::env::args_os()));
    // Deeply nested texts need more stack than the 1 MiB that Windows gives the first thread.
    if cfg!(windows)
        && let Ok(thread) = std::thread::Builder::new().stack_size(8 << 20).spawn(run)
    {
        return thread.join().unwrap_or(ExitCode::FAILURE);
    }
    run()
}

/// Runs the program inside another process and returns the exit code; the process continues. `words` are the
/// arguments without the program's name, and `program` is the command that starts the program again.
///
/// The handler for Ctrl-C is installed and stays.
pub fn main_of_another(words: impl IntoIterator<Item = OsString>, program: Vec<OsString>) -> u8 {
    process::is_started_by(program);
    interrupt::forget();
    let code = answer(std::iter::once(OsString::from("hayase")).chain(words));
    // The Rust runtime does this when a program ends.
    let _ = io::stdout().flush();
    code
}

/// Runs the program with these arguments, the first of which is its name, and returns the exit code.
fn answer(words: impl Iterator<Item = OsString>) -> u8 {
    let words = usage::words(words);
    process::is_given(&words);
    let matches = match usage::command(&words).try_get_matches_from(&words) {
        Ok(matches) => matches,
        Err(error) => return usage::answer(&error),
    };
    let cli = match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(error) => return usage::answer(&error),
    };
    let voice = Voice::new(cli.global);
    match dispatch(&cli.verb, voice) {
        Ok(end) => end.code(),
        Err(failure) => report(&failure, voice),
    }
}

fn dispatch(verb: &Verb, voice: Voice) -> Result<End, Failure> {
    match verb {
        Verb::Run(args) => run::run(args, voice),
        Verb::Compare(args) => match args.operation() {
            Some(operation) => operation::compare(args, operation, voice),
            None => compare::compare(args, voice),
        },
        Verb::Accuracy(args) => accuracy::accuracy(args, voice),
        Verb::Sweep(args) => sweep::sweep(args, voice),
        Verb::Rates(args) => rates::rates(args, voice),
        Verb::Llm(args) => llm::llm(args, voice),
        Verb::Throughput(args) => throughput::throughput(args, voice),
        Verb::Schedule(args) => schedule::schedule(args, voice),
        Verb::Nccl(args) => nccl::nccl(args, voice),
        Verb::Calibrate(args) => calibrate::calibrate(args, voice),
        Verb::Check(args) => check::check(args, voice),
        Verb::Init(args) => init::init(args, voice),
        Verb::List(verb) => catalog::list(verb, voice),
        Verb::Show(args) => catalog::show(args, voice),
        Verb::Generate(verb) => man::generate(verb, Cli::command(), voice),
        Verb::Schema => man::schema(),
        Verb::Topology(verb) => topology::topology(verb, voice),
        Verb::Pattern(verb) => pattern::pattern(verb, voice),
        Verb::Machine(verb) => machine::machine(verb, voice),
        Verb::Preset(verb) => preset::preset(verb, voice),
        Verb::Replay(args) => replay::replay(args, voice),
        Verb::Whatif(args) => whatif::whatif(args, voice),
        Verb::Program(verb) => program::program(verb, voice),
        Verb::Predict(args) => predict::predict(args, voice),
        Verb::Linux(verb) => linux::dispatch(verb, voice),
        Verb::Advise(args) => advise::advise(args, voice),
        Verb::Explain(args) => advise::explain(args),
        Verb::Trace(verb) => trace::trace(verb, voice),
        Verb::MasterSlave(args) => master_slave::master_slave(args, voice),
        Verb::Validate(args) => validate::validate(args, voice),
        Verb::Bench(args) => bench::bench(args, voice),
        Verb::Completions(args) => man::completions(args, Cli::command()),
        Verb::Man(args) => man::man(args, Cli::command(), voice),
    }
}

/// Reports a failure and returns the exit code.
fn report(failure: &Failure, voice: Voice) -> u8 {
    let (text, code) = match failure {
        // The input is right, but the rest of the fabric does not suffice.
        Failure::Invalid(invalid) if invalid.is_cut_off() => (invalid.show(voice.colour), End::Deadlocked.code()),
        Failure::Invalid(invalid) => (invalid.show(voice.colour), End::Invalid.code()),
        // The reader of the pipe has closed it.
        Failure::Print(error) if error.kind() == io::ErrorKind::BrokenPipe => return 0,
        Failure::Failed(diagnostic) => (Invalid::from(*diagnostic.clone()).show(voice.colour), 1),
        Failure::Write(path, error) => {
            let what = format!("cannot write `{}`: {}", path.display(), reason(error));
            (diagnostic::failure(&what, voice.colour), 1)
        }
        Failure::Print(error) => {
            let what = format!("cannot write to standard output: {}", reason(error));
            (diagnostic::failure(&what, voice.colour), 1)
        }
    };
    complain(text);
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_is_declared_once_and_every_verb_has_help() {
        let command = Cli::command();
        command.clone().debug_assert();
        for verb in command.get_subcommands() {
            assert!(verb.get_about().is_some(), "{}", verb.get_name());
            for option in verb.get_arguments() {
                assert!(option.get_help().is_some(), "{} {}", verb.get_name(), option.get_id());
            }
        }
    }

    #[test]
    fn every_verb_that_is_seen_is_in_one_group() {
        let command = Cli::command();
        let mut seen: Vec<&str> =
            command.get_subcommands().filter(|verb| !verb.is_hide_set()).map(clap::Command::get_name).collect();
        let mut grouped: Vec<&str> = args::GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        seen.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(seen, grouped);
    }

    /// Returns all commands and subcommands with the words that are typed for them.
    fn verbs(command: &clap::Command, name: &str) -> Vec<(String, clap::Command)> {
        let below = command.get_subcommands().flat_map(|verb| verbs(verb, &format!("{name} {}", verb.get_name())));
        std::iter::once((name.to_owned(), command.clone())).chain(below).collect()
    }

    #[test]
    fn an_option_of_output_or_of_scenarios_is_the_same_for_all_verbs() {
        const SAME: [&str; 14] = [
            "format",
            "threads",
            "output",
            "window",
            "preset",
            "set",
            "node",
            "seed",
            "machine",
            "transport",
            "size",
            "jitter",
            "strict",
            "routing",
        ];
        // Commands whose purpose is one output, and options that take lists, have their own texts.
        let own = |verb: &str, option: &str| match option {
            "output" => ["record", "man", "generate man", "trace convert", "program extend", "sweep"].contains(&verb),
            "machine" => ["accuracy", "compare", "llm", "nccl", "trace convert"].contains(&verb),
            "transport" => verb == "compare",
            "routing" => ["accuracy", "compare", "throughput", "topology compare", "topology routes"].contains(&verb),
            "size" => ["accuracy", "nccl", "schedule"].contains(&verb),
            "jitter" => verb == "accuracy",
            "preset" => verb == "check",
            "seed" => ["pattern show", "topology routes"].contains(&verb),
            _ => false,
        };
        let said = |option: &clap::Arg| {
            let help = option.get_long_help().or(option.get_help()).map(ToString::to_string);
            (
                help,
                option.get_short(),
                option.get_value_names().map(<[_]>::to_vec),
                option.get_default_values().to_vec(),
            )
        };
        let mut known = std::collections::BTreeMap::new();
        for (verb, command) in verbs(&Cli::command(), "") {
            let verb = verb.trim_start();
            for option in command.get_arguments().filter(|option| SAME.contains(&option.get_id().as_str())) {
                let name = option.get_id().to_string();
                if !own(verb, &name) {
                    let first = known.entry(name.clone()).or_insert_with(|| (verb.to_owned(), said(option)));
                    assert_eq!(first.1, said(option), "--{name} of `{verb}` and `{}`", first.0);
                }
            }
        }
        assert_eq!(known.len(), SAME.len());
    }

    #[test]
    fn every_verb_with_a_result_has_all_options_of_output() {
        let results = [
            "run",
            "compare",
            "accuracy",
            "rates",
            "throughput",
            "schedule",
            "llm",
            "nccl",
            "predict",
            "program fold",
            "program show",
            "replay",
            "whatif",
            "calibrate",
            "measure communication",
            "check",
            "list topologies",
            "list patterns",
            "list machines",
            "list presets",
            "list models",
            "list rules",
            "show",
            "topology list",
            "topology show",
            "topology compare",
            "topology routes",
            "pattern list",
            "pattern show",
            "machine list",
            "machine show",
            "preset list",
            "preset show",
            "advise",
            "explain",
            "trace info",
            "trace sites",
            "master-slave",
            "master-slave plan",
            "validate",
            "bench",
        ];
        let all: Vec<String> = verbs(&Cli::command(), "")
            .into_iter()
            .filter(|(_, command)| {
                let has = |name: &str| command.get_arguments().any(|option| option.get_id() == name);
                has("output") && has("format") && has("threads")
            })
            .map(|(verb, _)| verb.trim_start().to_owned())
            .collect();
        let mut expected = results.map(str::to_owned).to_vec();
        expected.sort();
        let mut found = all;
        found.sort();
        assert_eq!(found, expected);
    }
}

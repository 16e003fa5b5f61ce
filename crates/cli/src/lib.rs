//! The command line: assembles a scenario, runs it, prints a report.
//!
//! Results go to standard output, everything else to standard error. Exit codes: 0 done; 1 failed at run time (or in a
//! case of the validation); 2 bad input or usage; 3 the simulated program deadlocks; 130 stopped by Ctrl-C, after what
//! had happened by then has been reported (a second Ctrl-C ends the process at once).

mod advise;
mod args;
mod bench;
mod calibrate;
mod caveats;
mod check;
mod compare;
mod deadlock;
mod files;
mod init;
mod interrupt;
mod lines;
mod machine;
mod man;
mod master_slave;
mod measure;
mod pattern;
mod pictures;
mod predict;
mod preset;
mod program;
mod progress;
mod range;
mod rates;
#[cfg(unix)]
mod record;
mod regions;
mod replay;
mod run;
mod scenario;
mod seeds;
mod throughput;
mod topology;
mod trace;
mod usage;
mod validate;
mod whatif;
mod width;
mod window;
#[cfg(unix)]
mod wrap;

use std::ffi::OsStr;
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::FromArgMatches;

use args::{Cli, Verb, When};
use hayase::diagnostic::{self, Diagnostic, Invalid};
use hayase::scenario as scenarios;
use hayase_output::table::Answer;
use progress::Show;

/// Threads at most: more than any machine has cores.
const MOST_THREADS: usize = 1024;

/// How a verb that did what it could ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    Done,
    /// A case of the validation failed, and has been reported.
    Failed,
    /// Some input was wrong, and has been reported.
    Invalid,
    Deadlocked,
    Interrupted,
}

impl End {
    fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Invalid => 2,
            Self::Deadlocked => 3,
            // 128 and the number of the signal, as shells have it.
            Self::Interrupted => 130,
        }
    }
}

/// Why a verb could not do what was asked.
#[derive(Debug)]
enum Failure {
    /// Mistakes in what was given.
    Invalid(Box<Invalid>),
    /// What was asked for went wrong, although nothing in the input is.
    Failed(Box<Diagnostic>),
    /// A file cannot be written.
    Write(PathBuf, io::Error),
    /// Standard output cannot be written.
    Print(io::Error),
}

impl From<Invalid> for Failure {
    fn from(invalid: Invalid) -> Self {
        Self::Invalid(Box::new(invalid))
    }
}

impl From<Diagnostic> for Failure {
    fn from(diagnostic: Diagnostic) -> Self {
        Invalid { diagnostics: vec![diagnostic], ..Invalid::default() }.into()
    }
}

/// How the program talks to the person who called it.
#[derive(Clone, Copy, Debug)]
struct Voice {
    quiet: bool,
    colour: bool,
    show: Show,
}

impl Voice {
    fn new(global: args::Global) -> Self {
        let terminal = io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let colour = match global.color {
            When::Auto => terminal && !plain,
            When::Always => true,
            When::Never => false,
        };
        let show = match global.progress {
            When::Auto if terminal && !global.quiet => Show::Bar,
            When::Always if terminal => Show::Bar,
            When::Always => Show::Lines,
            When::Auto | When::Never => Show::Nothing,
        };
        Self { quiet: global.quiet, colour, show }
    }

    /// Says something that is no result: on standard error, unless nothing is wanted there.
    fn say(self, text: impl Display) {
        if !self.quiet {
            complain(text);
        }
    }

    /// A hint, on a line of its own.
    fn hint(self, text: impl Display) {
        self.say(format_args!("hint: {text}"));
    }
}

/// Writes a line to standard error; that nobody reads it is no reason to fail.
fn complain(text: impl Display) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Writes results to standard output.
fn print(text: &str) -> Result<(), Failure> {
    print_with(|w| w.write_all(text.as_bytes()))
}

/// Writes an answer to standard output, as wide as the terminal where that is one.
fn show(answer: &Answer) -> Result<(), Failure> {
    print(&answer.to_text(width::of(&io::stdout())))
}

fn print_with(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut stdout = io::BufWriter::new(io::stdout().lock());
    write(&mut stdout).and_then(|()| stdout.flush()).map_err(Failure::Print)
}

/// Runs the program.
pub fn main() -> ExitCode {
    let words = usage::words();
    let matches = match usage::command(&words).try_get_matches_from(&words) {
        Ok(matches) => matches,
        Err(error) => return usage::answer(&error),
    };
    let cli = match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(error) => return usage::answer(&error),
    };
    let voice = Voice::new(cli.global);
    let code = match dispatch(&cli.verb, voice) {
        Ok(end) => end.code(),
        Err(failure) => report(&failure, voice),
    };
    ExitCode::from(code)
}

fn dispatch(verb: &Verb, voice: Voice) -> Result<End, Failure> {
    match verb {
        Verb::Run(args) => run::run(args, voice),
        Verb::Compare(args) => compare::compare(args, voice),
        Verb::Rates(args) => rates::rates(args, voice),
        Verb::Throughput(args) => throughput::throughput(args, voice),
        Verb::Calibrate(args) => calibrate::calibrate(args, voice),
        Verb::Measure(verb) => measure::measure(verb, voice),
        Verb::MeasureAgent(args) => measure::agent(args),
        Verb::Check(args) => check::check(args, voice),
        Verb::Init(args) => init::init(args, voice),
        Verb::Schema => print_with(|w| w.write_all(scenarios::schema().as_bytes())).map(|()| End::Done),
        Verb::Topology(verb) => topology::topology(verb, voice),
        Verb::Pattern(verb) => pattern::pattern(verb, voice),
        Verb::Machine(verb) => machine::machine(verb, voice),
        Verb::Preset(verb) => preset::preset(verb, voice),
        Verb::Replay(args) => replay::replay(args, voice),
        Verb::Whatif(args) => whatif::whatif(args, voice),
        Verb::Program(verb) => program::program(verb, voice),
        Verb::Predict(args) => predict::predict(args, voice),
        #[cfg(unix)]
        Verb::Record(args) => record::record(args, voice),
        #[cfg(unix)]
        Verb::Cc(args) => wrap::compile(args, "mpicc", voice),
        #[cfg(unix)]
        Verb::Fc(args) => wrap::compile(args, "mpifort", voice),
        #[cfg(unix)]
        Verb::Wrap(args) => wrap::wrap(args, voice),
        Verb::Advise(args) => advise::advise(args, voice),
        Verb::Explain(args) => advise::explain(args),
        Verb::Trace(verb) => trace::trace(verb, voice),
        Verb::MasterSlave(args) => master_slave::master_slave(args, voice),
        Verb::Validate(args) => validate::validate(args, voice),
        Verb::Bench(args) => bench::bench(args, voice),
        Verb::Completions(args) => man::completions(args),
        Verb::Man(args) => man::man(args, voice),
    }
}

/// Says why a verb failed and returns the exit code.
fn report(failure: &Failure, voice: Voice) -> u8 {
    match failure {
        Failure::Invalid(invalid) => {
            complain(invalid.show(voice.colour));
            2
        }
        Failure::Failed(diagnostic) => {
            let invalid = Invalid { diagnostics: vec![*diagnostic.clone()], ..Invalid::default() };
            complain(invalid.show(voice.colour));
            1
        }
        Failure::Write(path, error) => {
            complain(diagnostic::failure(
                &format!("cannot write `{}`: {}", path.display(), reason(error)),
                voice.colour,
            ));
            1
        }
        // Whoever read the results has read enough.
        Failure::Print(error) if error.kind() == io::ErrorKind::BrokenPipe => 0,
        Failure::Print(error) => {
            complain(diagnostic::failure(&format!("cannot write to standard output: {}", reason(error)), voice.colour));
            1
        }
    }
}

/// Does so many runs on so many threads, or on one for each core. More threads than runs would have nothing to do.
fn in_threads<T: Send>(
    threads: Option<NonZeroU32>,
    runs: usize,
    work: impl FnOnce() -> T + Send,
) -> Result<T, Failure> {
    let Some(threads) = threads else { return Ok(work()) };
    let threads = (threads.get() as usize).min(runs.max(1)).min(MOST_THREADS);
    match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
        Ok(pool) => Ok(pool.install(work)),
        Err(error) => Err(Diagnostic::new("threads", format!("cannot start {threads} threads: {error}")).into()),
    }
}

/// An error of the system in lowercase and without its number.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// The extension of a file's name, in lowercase.
fn extension(path: &Path) -> String {
    path.extension().and_then(OsStr::to_str).unwrap_or_default().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

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
    fn reasons_of_the_system_read_as_part_of_a_sentence() {
        assert_eq!(reason(&io::Error::from_raw_os_error(2)), "no such file or directory");
    }
}

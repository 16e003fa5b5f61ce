//! How the program talks to the person who called it: results on standard output, all else on standard error.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};

use clap::{Args, ValueEnum};

use super::end::Failure;
use super::{asked, width};
use hayase_output::table::Answer;

/// What holds for all verbs.
#[derive(Args, Clone, Copy, Debug)]
pub struct Global {
    /// Say nothing but results and errors.
    #[arg(short, long, global = true, help_heading = "General options")]
    pub quiet: bool,
    /// Show how far a run is: on a terminal a bar, elsewhere (with `always`) a line now and then.
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = When::Auto,
          hide_possible_values = true, help_heading = "General options",
          long_help = "Show how far a run is, on standard error: auto (on a terminal), always (off a terminal a line \
                       every few seconds) or never")]
    pub progress: When,
    /// Colour messages: auto (on a terminal, unless NO_COLOR is set), always or never.
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = When::Auto,
          hide_possible_values = true, help_heading = "General options")]
    pub color: When,
}

/// When something is shown.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum When {
    /// On a terminal.
    Auto,
    /// Everywhere.
    Always,
    /// Nowhere.
    Never,
}

/// How progress is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Show {
    /// A bar that is drawn again and again.
    Bar,
    /// A line every few seconds.
    Lines,
    /// Nothing.
    Nothing,
}

/// What is said, and how.
#[derive(Clone, Copy, Debug)]
pub struct Voice {
    /// Whether only results and errors are.
    pub quiet: bool,
    /// Whether messages have colours.
    pub colour: bool,
    /// How progress is shown.
    pub show: Show,
}

impl Voice {
    /// As it was asked for.
    pub fn new(global: Global) -> Self {
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

    /// Nobody hears anything but results and errors.
    pub fn unheard() -> Self {
        Self { quiet: true, colour: false, show: Show::Nothing }
    }

    /// Says something that is no result: on standard error, unless nothing is wanted there.
    pub fn say(self, text: impl Display) {
        if !self.quiet {
            complain(text);
        }
    }

    /// A hint, on a line of its own.
    pub fn hint(self, text: impl Display) {
        self.say(format_args!("hint: {text}"));
    }
}

/// Writes a line to standard error; that nobody reads it is no reason to fail.
pub fn complain(text: impl Display) {
    if asked::is_inside() {
        asked::keep_said(&text.to_string());
        return;
    }
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Writes results to standard output.
pub fn print(text: &str) -> Result<(), Failure> {
    print_with(|w| w.write_all(text.as_bytes()))
}

/// Writes an answer to standard output, as wide as the terminal where that is one.
pub fn show(answer: &Answer) -> Result<(), Failure> {
    print(&answer.to_text(width::of(&io::stdout())))
}

/// Writes results to standard output, through a buffer.
pub fn print_with(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    if asked::is_inside() {
        let mut printed = Vec::new();
        write(&mut printed).map_err(Failure::Print)?;
        asked::keep_printed(&printed);
        return Ok(());
    }
    let mut stdout = io::BufWriter::new(io::stdout().lock());
    write(&mut stdout).and_then(|()| stdout.flush()).map_err(Failure::Print)
}

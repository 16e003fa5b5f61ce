//! Output of the program: results on standard output, messages on standard error.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};

use clap::{Args, ValueEnum};

use super::end::Failure;
use super::{asked, width};
use hayase_output::table::Answer;

/// Options of all commands.
#[derive(Args, Clone, Copy, Debug)]
pub struct Global {
    /// Print only results and errors.
    #[arg(short, long, global = true, help_heading = "General options")]
    pub quiet: bool,
    /// Show the progress of a run: a bar on a terminal; with `always`, elsewhere a line every few seconds.
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

/// Condition for showing something.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum When {
    /// On a terminal.
    Auto,
    /// Everywhere.
    Always,
    /// Nowhere.
    Never,
}

/// Display of progress.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Show {
    /// A bar that is redrawn.
    Bar,
    /// A line every few seconds.
    Lines,
    /// Nothing.
    Nothing,
}

/// Settings of messages.
#[derive(Clone, Copy, Debug)]
pub struct Voice {
    /// True if only results and errors are printed.
    pub quiet: bool,
    /// True if messages have colours.
    pub colour: bool,
    /// Display of progress.
    pub show: Show,
}

impl Voice {
    /// Creates a voice from the options.
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

    /// Creates a voice that prints only results and errors.
    pub fn unheard() -> Self {
        Self { quiet: true, colour: false, show: Show::Nothing }
    }

    /// Prints a message to standard error, except with `--quiet`.
    pub fn say(self, text: impl Display) {
        if !self.quiet {
            complain(text);
        }
    }

    /// Prints a hint on a line of its own.
    pub fn hint(self, text: impl Display) {
        self.say(format_args!("hint: {text}"));
    }
}

/// Writes a line to standard error, and ignores failures.
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

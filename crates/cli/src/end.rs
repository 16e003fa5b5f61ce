//! Outcome of a command: its end, or its failure.

use std::io;
use std::path::PathBuf;

use hayase::diagnostic::{Diagnostic, Invalid};

/// End of a command that did its work as far as possible.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// All work is done.
    Done,
    /// A case of the validation failed, and has been reported.
    Failed,
    /// Some input was wrong and has been reported.
    Invalid,
    /// The simulated program deadlocks, and that has been reported.
    Deadlocked,
    /// Stopped by Ctrl-C; the results until then have been reported.
    Interrupted,
}

impl End {
    /// Returns the exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Invalid => 2,
            Self::Deadlocked => 3,
            // 128 plus the number of the signal, as in shells.
            Self::Interrupted => 130,
        }
    }
}

/// Failure of a command.
#[derive(Debug)]
pub enum Failure {
    /// Mistakes in the input.
    Invalid(Box<Invalid>),
    /// Failure at run time, although the input is right.
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
        Invalid::from(diagnostic).into()
    }
}

/// Returns an error of the operating system in lower case and without its number.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_of_the_system_read_as_part_of_a_sentence() {
        assert_eq!(reason(&io::Error::from_raw_os_error(2)), "no such file or directory");
    }
}

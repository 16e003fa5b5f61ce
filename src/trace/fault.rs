//! Mistakes in the bytes of a file.

use std::borrow::Cow;

use super::calls::ItemError;
use crate::diagnostic::Diagnostic;

/// A mistake in the bytes of a file.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    /// Name of the kind of mistake.
    pub code: &'static str,
    /// Offset in the file \[B\].
    pub at: u64,
    /// Description, with the thing that was expected.
    pub what: Cow<'static, str>,
}

/// Returns damage at a byte.
pub(super) fn fault<T>(at: u64, what: impl Into<Cow<'static, str>>) -> Result<T, Fault> {
    mistake("damaged-trace", at, what)
}

/// Returns a mistake at a byte.
pub(super) fn mistake<T>(code: &'static str, at: u64, what: impl Into<Cow<'static, str>>) -> Result<T, Fault> {
    Err(Fault { code, at, what: what.into() })
}

impl Fault {
    /// Creates the mistake of an item that was read at this byte.
    pub fn of_item(wrong: ItemError, at: u64) -> Self {
        Self { code: wrong.code, at, what: wrong.message }
    }

    /// Returns the mistake with its file and byte; `of` names the rank.
    pub fn of(self, file: &str, of: &str) -> Diagnostic {
        Diagnostic::new(self.code, format!("{file}{of}, byte {}: {}", self.at, self.what))
    }
}

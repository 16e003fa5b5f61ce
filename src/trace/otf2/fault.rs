//! Mistakes in the bytes of a file.

use std::borrow::Cow;

use crate::diagnostic::Diagnostic;

/// A mistake in the bytes of a file.
#[derive(Debug)]
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
    Err(Fault { code: "damaged-trace", at, what: what.into() })
}

impl Fault {
    /// Returns the mistake with its file and byte; `of` names the rank.
    pub fn of(self, file: &str, of: &str) -> Diagnostic {
        Diagnostic::new(self.code, format!("{file}{of}, byte {}: {}", self.at, self.what))
    }
}

//! Failures of the results folder.

use super::super::{Failure, reason};
use hayase::diagnostic::Diagnostic;
use hayase::plan::StoreError;

/// Converts an error of the results folder.
pub(super) fn store(error: StoreError) -> Failure {
    match error {
        StoreError::Invalid(invalid) => invalid.into(),
        StoreError::Failed(path, error) => {
            let message = format!("cannot read or write `{}`: {}", path.display(), reason(&error));
            let help = "finished points are kept; the same command continues";
            Failure::Failed(Box::new(Diagnostic::new("store", message).help(help)))
        }
        StoreError::Unwritten(error) => {
            Failure::Failed(Box::new(Diagnostic::new("unwritten", format!("cannot write rows: {}", reason(&error)))))
        }
    }
}

//! The wall clock, for the run time in the `meta` of reports alone: results never depend on it.

use std::time::Instant;

/// What it shows now.
#[allow(clippy::disallowed_methods, reason = "goes into `meta` only, which may differ from run to run")]
pub fn now() -> Instant {
    Instant::now()
}

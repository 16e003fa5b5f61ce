//! The wall clock, used only for the run time in the `meta` of reports. Results never depend on it.

use std::time::Instant;

/// Returns the current instant of the wall clock.
#[allow(clippy::disallowed_methods, reason = "goes into `meta` only, which may differ from run to run")]
pub fn now() -> Instant {
    Instant::now()
}

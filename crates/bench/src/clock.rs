//! Two clocks: processor time and wall time.

use std::time::{Duration, Instant};

/// A moment on both clocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    wall: Instant,
    worked: Option<Duration>,
}

impl Moment {
    #[expect(clippy::disallowed_methods, reason = "benchmarks are about the wall clock")]
    pub(super) fn now() -> Self {
        Self { wall: Instant::now(), worked: worked() }
    }

    /// Returns processor time of all threads and wall time since an earlier moment \[ns\].
    ///
    /// If the system does not tell processor time, both are wall time.
    pub(super) fn since(self, earlier: Self) -> (f64, f64) {
        let wall = self.wall - earlier.wall;
        let worked = self.worked.zip(earlier.worked).map(|(now, then)| now.saturating_sub(then));
        (worked.unwrap_or(wall).as_secs_f64() * 1e9, wall.as_secs_f64() * 1e9)
    }
}

/// Returns the processor time of this process so far.
#[cfg(unix)]
fn worked() -> Option<Duration> {
    Duration::try_from(rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime)).ok()
}

#[cfg(not(unix))]
fn worked() -> Option<Duration> {
    None
}

//! The engine: the clock, the events and the loop that asks workload and transport what happens next.

use crate::units::Time;

/// How far a run is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Progress {
    /// Simulated time.
    pub now: Time,
    /// Messages delivered.
    pub delivered: u64,
    /// Messages in all.
    pub total: u64,
}

/// Looks on while a simulation runs, and may end it.
pub trait Watch: Sync {
    /// Called every few thousand messages; `false` ends the run.
    fn tick(&self, progress: Progress) -> bool;
}

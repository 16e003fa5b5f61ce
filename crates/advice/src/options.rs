//! Options and limits of a search.

use std::sync::Arc;

use crate::unit::Unit;
use crate::within::RunPart;

/// Limits of the search around a communication.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Number of events over which a communication is followed.
    pub ahead: u64,
    /// Number of intervals over which a communication is traced back.
    pub back: u64,
    /// Number of intervals on either side whose lines are named.
    pub named: usize,
    /// Number of communications at each place whose lines are named; of later ones every sixteenth.
    pub detailed: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { ahead: 1024, back: 256, named: 8, detailed: 1 << 12 }
    }
}

/// Options of a search.
#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    /// Limits of the search around a communication.
    pub limits: Limits,
    /// Shortest computation that counts without memory accesses \[ns\]. Shorter computation is not worth an
    /// overlap and does not keep messages apart.
    pub least_ns: u64,
    /// Largest message that does not wait for its receiver \[B\]; `None` if it is not known.
    pub eager: Option<u64>,
    /// Smallest share of all ranks' time from which waits are worth a finding.
    pub share: f64,
    /// Part of the run that is searched; `None` for the whole run.
    pub within: Option<Arc<RunPart>>,
    /// Longest other time that is written next to those of a finding, such as a simulated makespan \[ns\];
    /// all share one unit.
    pub beside_ns: f64,
}

impl Options {
    /// True if the search covers this call.
    pub(crate) fn looks_at(&self, rank: u32, event: u64) -> bool {
        self.within.as_ref().is_none_or(|within| within.has(rank, event))
    }

    /// Returns the unit of a finding with this time at stake \[ns\].
    pub(crate) fn unit(&self, time_ns: u64) -> Unit {
        Unit::of(self.beside_ns.max(time_ns as f64))
    }
}

impl Default for Options {
    fn default() -> Self {
        Self { limits: Limits::default(), least_ns: 1_000, eager: None, share: 0.001, within: None, beside_ns: 0.0 }
    }
}

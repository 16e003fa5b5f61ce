//! What is searched, and how far.

use std::sync::Arc;

use crate::unit::Unit;
use crate::within::Within;

/// How far is looked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Events that a communication is followed.
    pub ahead: u64,
    /// Intervals that it is traced back.
    pub back: u64,
    /// Intervals on either side whose lines are named.
    pub named: usize,
    /// Communications whose lines are named, by place; of later ones every sixteenth.
    pub detailed: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { ahead: 1024, back: 256, named: 8, detailed: 1 << 12 }
    }
}

/// What is asked of a search.
#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    /// How far is looked.
    pub limits: Limits,
    /// Without memory accesses: less computation than this is not worth an overlap, and does not keep messages apart
    /// \[ns\].
    pub least_ns: u64,
    /// Messages larger than this wait for their receiver \[B\]; `None`: not known.
    pub eager: Option<u64>,
    /// Waits below this share of all ranks' time are not worth a finding.
    pub share: f64,
    /// The part of the run that is looked at; `None`: all of it.
    pub within: Option<Arc<Within>>,
    /// The longest time that will be written beside those of a finding, as the makespan of a simulation \[ns\]; all
    /// have one unit.
    pub beside_ns: f64,
}

impl Options {
    /// Whether a call is looked at.
    pub(crate) fn looks_at(&self, rank: u32, event: u64) -> bool {
        self.within.as_ref().is_none_or(|within| within.has(rank, event))
    }

    /// The unit of a finding with so much time at stake \[ns\].
    pub(crate) fn unit(&self, time_ns: u64) -> Unit {
        Unit::of(self.beside_ns.max(time_ns as f64))
    }
}

impl Default for Options {
    fn default() -> Self {
        Self { limits: Limits::default(), least_ns: 1_000, eager: None, share: 0.001, within: None, beside_ns: 0.0 }
    }
}

//! A rank on its way from recorded calls to a program.

use hayase_trace::walk::{Naming, Requests};
use rustc_hash::FxHashMap;

use super::thread::RankThreads;
use crate::program::between::Ends;
use crate::program::{Op, ProgramBuilder, SequenceBuilder};
use crate::trace::calls::{Clock, Header};
use crate::units::Time;

/// Picoseconds in a nanosecond.
pub(super) const PS_PER_NS: f64 = 1000.0;

/// A time in nanoseconds.
pub(super) fn ns(time: u64) -> Time {
    Time::from_ps(time as f64 * PS_PER_NS)
}

/// What is known of a rank so far.
#[derive(Debug)]
pub(super) struct RankCalls {
    pub ops: SequenceBuilder,
    pub clock: Clock,
    pub empty_gap: u64,
    /// Its number, and how many there are.
    pub me: u32,
    pub world: u32,
    /// Calls so far.
    pub calls: u64,
    /// When `Init` returned, and the call before \[ns\].
    pub start: u64,
    pub last_end: u64,
    /// When `Finalize` was called \[ns\].
    pub finalize: Option<u64>,
    /// Computation not yet written down \[ns\].
    pub computed: u64,
    pub borders: Borders,
    /// Its threads; `last_end` and `computed` are those of the one at hand.
    pub threads: RankThreads,
    /// By request, the operation under way.
    pub requests: Requests<u32>,
    /// By index, the communicator's number in the program, and this rank's rank in it.
    pub communicators: FxHashMap<u32, (u32, Option<u32>)>,
    /// By index, the name of a call site; those without one have a number and no name.
    pub sites: FxHashMap<u32, String>,
    pub naming: Naming,
}

/// What a rank knows of borders.
#[derive(Debug, Default)]
pub(super) struct Borders {
    /// Of the time since the call before, what is computation before a border \[ns\].
    pub counted: u64,
    /// Of the same, what setting borders took \[ns\].
    pub set: u64,
    /// Positions of computation before a border, of which the next call is not known yet.
    pub computed: Vec<u32>,
    /// By index, the region's number.
    pub regions: FxHashMap<u32, u32>,
    /// By call site, whether the region by two places begins or ends there.
    pub ends: FxHashMap<u32, Ends>,
    /// Whether that region has begun.
    pub open: bool,
    /// Whether the region behind a time has begun.
    pub after: bool,
    /// When the rank's stream starts on the clock of its machine \[ns\].
    pub start: u64,
}

impl Borders {
    /// A call has come.
    pub fn passed(&mut self) {
        (self.counted, self.set) = (0, 0);
    }
}

impl RankCalls {
    /// Its calls begin.
    pub fn new(header: &Header) -> Self {
        Self {
            ops: ProgramBuilder::new(0).sequence(header.rank),
            clock: header.clock,
            empty_gap: header.empty_gap,
            me: header.rank,
            world: header.ranks,
            calls: 0,
            start: 0,
            last_end: 0,
            finalize: None,
            computed: 0,
            borders: Borders::default(),
            threads: RankThreads::default(),
            requests: Requests::default(),
            communicators: FxHashMap::default(),
            sites: FxHashMap::default(),
            naming: Naming::default(),
        }
    }

    /// Writes down the computation so far, as of this place.
    pub fn compute(&mut self, place: u32) {
        let computed = std::mem::take(&mut self.computed);
        if computed > 0 {
            self.ops.push_at(Op::calc(ns(computed)), place);
        }
    }

    /// A call from this site comes next: computation before borders leads to it.
    pub fn leads_to(&mut self, site: u32) {
        for at in std::mem::take(&mut self.borders.computed) {
            self.ops.set_site(at, site);
        }
    }

    /// How long the rank has run at a time of its stream \[ns\].
    pub fn since_start(&self, time: u64) -> Time {
        ns(time.saturating_sub(self.start))
    }

    /// Computation since the call or border before \[ns\], up to something with this processor time and begin.
    pub fn gap(&self, cpu: Option<u64>, begin: u64) -> u64 {
        // Borders are between calls of the first thread.
        let (set, counted) = if self.threads.at == 0 { (self.borders.set, self.borders.counted) } else { (0, 0) };
        let since = match cpu {
            Some(cpu) => cpu.saturating_sub(self.empty_gap),
            None => begin.saturating_sub(self.last_end).saturating_sub(set),
        };
        since.saturating_sub(counted)
    }
}

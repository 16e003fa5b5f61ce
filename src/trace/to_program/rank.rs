//! A rank on its way from recorded calls to a program.

use hayase_trace::walk::{Identities, Requests};
use rustc_hash::FxHashMap;

use super::thread::RankThreads;
use crate::program::between::SiteBorders;
use crate::program::{Op, ProgramBuilder, SequenceBuilder};
use crate::trace::calls::{Clock, Header};
use crate::units::Time;

/// Picoseconds in a nanosecond.
pub(super) const PS_PER_NS: f64 = 1000.0;

/// Converts a time in nanoseconds.
pub(super) fn ns(time: u64) -> Time {
    Time::from_ps(time as f64 * PS_PER_NS)
}

/// State of a rank.
#[derive(Debug)]
pub(super) struct RankCalls {
    pub ops: SequenceBuilder,
    pub clock: Clock,
    pub empty_gap: u64,
    /// Number of the rank, and the number of ranks.
    pub me: u32,
    pub world: u32,
    /// Number of calls so far.
    pub calls: u64,
    /// Times at which `Init` and the previous call returned \[ns\].
    pub start: u64,
    pub last_end: u64,
    /// Time at which `Finalize` was called \[ns\].
    pub finalize: Option<u64>,
    /// Computation that is not recorded yet \[ns\].
    pub computed: u64,
    pub borders: Borders,
    /// Threads of the rank. `last_end` and `computed` are those of the current thread.
    pub threads: RankThreads,
    /// Pending operation of each request.
    pub requests: Requests<u32>,
    /// Number in the program and this rank's rank in each communicator, by index.
    pub communicators: FxHashMap<u32, (u32, Option<u32>)>,
    /// Names of call sites, by index. A site without a name has only a number.
    pub sites: FxHashMap<u32, String>,
    pub naming: Identities,
}

/// State of a rank's borders.
#[derive(Debug, Default)]
pub(super) struct Borders {
    /// Part of the time since the previous call that is computation before a border \[ns\].
    pub counted: u64,
    /// Part of that time that was spent on setting borders \[ns\].
    pub set: u64,
    /// Positions of computation before a border whose next call is not known yet.
    pub computed: Vec<u32>,
    /// Number of each region, by index.
    pub regions: FxHashMap<u32, u32>,
    /// Ends of the region between two places that lie at each call site.
    pub ends: FxHashMap<u32, SiteBorders>,
    /// Set while that region is open.
    pub open: bool,
    /// Set when the region after a time has begun.
    pub after: bool,
    /// Start of the rank's stream on the clock of its machine \[ns\].
    pub start: u64,
}

impl Borders {
    /// Notes that a call has come.
    pub fn passed(&mut self) {
        (self.counted, self.set) = (0, 0);
    }
}

impl RankCalls {
    /// Creates the state at the beginning of a rank.
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
            naming: Identities::default(),
        }
    }

    /// Records the computation so far, at this place.
    pub fn compute(&mut self, place: u32) {
        let computed = std::mem::take(&mut self.computed);
        if computed > 0 {
            self.ops.push_at(Op::calc(ns(computed)), place);
        }
    }

    /// Notes that a call from this site comes next, to which computation before borders leads.
    pub fn leads_to(&mut self, site: u32) {
        for at in std::mem::take(&mut self.borders.computed) {
            self.ops.set_site(at, site);
        }
    }

    /// Returns the time that the rank has run at a time of its stream \[ns\].
    pub fn since_start(&self, time: u64) -> Time {
        ns(time.saturating_sub(self.start))
    }

    /// Returns the computation since the previous call or border \[ns\], up to an event with this processor
    /// time and begin.
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

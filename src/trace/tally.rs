//! Counts of the calls of a trace.

use std::collections::{BTreeMap, BTreeSet};

use super::calls::{Call, Calls, Clock, Event, Item, ItemError};
use crate::units::Time;

/// Counts the calls of a trace.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Notes of the first header: `title`, `program`, `host` and others.
    pub notes: Vec<(String, String)>,
    /// Number of ranks according to the trace.
    pub ranks: u32,
    /// Number of ranks present in the trace.
    pub present: u32,
    /// Clock of the times.
    pub clock: Clock,
    /// Number of calls of all ranks.
    pub events: u64,
    /// Number of calls that the recorder reports as not recorded.
    pub lost: u64,
    /// Number of ranks whose streams have no end.
    pub open: u32,
    /// Largest number of calling threads of any rank.
    pub threads: u32,
    /// Largest number of call sites of any rank.
    pub sites: u32,
    /// Largest number of communicators of any rank, apart from that of all ranks.
    pub communicators: u32,
    /// Tallies by call.
    pub calls: BTreeMap<Call, CallTally>,
    /// Sum of the times between calls of all ranks.
    pub computed: Time,
    /// Longest time of any rank from the return of `Init` to `Finalize`, if times are real.
    pub elapsed: Option<Time>,
    state: BTreeMap<u32, State>,
}

/// Tally of one kind of call.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct CallTally {
    /// Number of calls.
    pub count: u64,
    /// Bytes that the calling rank sends or, for receives, gets \[B\].
    pub bytes: u64,
    /// Time inside the calls.
    pub time: Time,
}

/// State of a rank while it is read.
#[derive(Clone, Debug, Default)]
struct State {
    clock: Clock,
    empty_gap: u64,
    start: u64,
    /// End of the last call of each thread.
    last_end: BTreeMap<u32, u64>,
    sites: BTreeSet<(u64, String)>,
    communicators: u32,
    ended: bool,
}

/// Picoseconds in a nanosecond.
const PS_PER_NS: f64 = 1000.0;

impl Tally {
    fn event(&mut self, rank: u32, event: &Event) {
        let Some(state) = self.state.get_mut(&rank) else { return };
        self.events += 1;
        let tally = self.calls.entry(event.call).or_default();
        tally.count += 1;
        tally.bytes = tally.bytes.saturating_add(event.all_bytes());
        tally.time += Time::from_ps(event.end.saturating_sub(event.begin) as f64 * PS_PER_NS);
        let gap = match event.cpu {
            Some(cpu) => cpu.saturating_sub(state.empty_gap),
            None => event.begin.saturating_sub(state.last_end.get(&event.thread).copied().unwrap_or(state.start)),
        };
        state.last_end.insert(event.thread, event.end);
        self.threads = self.threads.max(state.last_end.len() as u32);
        match event.call {
            Call::Init => state.start = event.end,
            _ => self.computed += Time::from_ps(gap as f64 * PS_PER_NS),
        }
        if state.clock == Clock::Wall {
            let end = if event.call == Call::Finalize { event.begin } else { event.end };
            let elapsed = Time::from_ps(end.saturating_sub(state.start) as f64 * PS_PER_NS);
            self.elapsed = self.elapsed.max(Some(elapsed));
        }
    }
}

impl Calls for Tally {
    fn item(&mut self, rank: u32, _place: u64, item: Item<'_>) -> Result<(), ItemError> {
        match item {
            Item::Header(header) => {
                if self.present == 0 {
                    self.notes.clone_from(&header.notes);
                    self.clock = header.clock;
                }
                self.ranks = self.ranks.max(header.ranks);
                let state = State { clock: header.clock, empty_gap: header.empty_gap, ..State::default() };
                self.state.insert(rank, state);
                self.present = self.state.len() as u32;
                self.open += 1;
            }
            Item::Event(event) => self.event(rank, event),
            Item::Site(_, site) => {
                if let Some(state) = self.state.get_mut(&rank) {
                    // A place with other callers is the same place.
                    state.sites.insert((site.address, site.name.clone()));
                    self.sites = self.sites.max(state.sites.len() as u32);
                }
            }
            Item::Communicator(..) => {
                if let Some(state) = self.state.get_mut(&rank) {
                    state.communicators += 1;
                    self.communicators = self.communicators.max(state.communicators);
                }
            }
            Item::End { lost, .. } => {
                self.lost += lost;
                if let Some(state) = self.state.get_mut(&rank)
                    && !state.ended
                {
                    state.ended = true;
                    self.open -= 1;
                }
            }
            Item::Region(..) | Item::Mark(_) | Item::Note(..) => {}
        }
        Ok(())
    }
}

//! What a trace holds, counted.

use std::collections::{BTreeMap, BTreeSet};

use super::calls::{Call, Calls, Clock, Event, Item, Wrong};
use crate::units::Time;

/// Counts the calls of a trace.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// What the first header says: `title`, `program`, `host` and others.
    pub notes: Vec<(String, String)>,
    /// How many ranks the trace says that there are.
    pub ranks: u32,
    /// How many of them are there.
    pub present: u32,
    /// What the times are.
    pub clock: Clock,
    /// Calls of all ranks.
    pub events: u64,
    /// Calls that the recorder says it could not record.
    pub lost: u64,
    /// Ranks whose streams have no end.
    pub open: u32,
    /// Threads that call, of the rank that has most.
    pub threads: u32,
    /// Call sites, of the rank that has most.
    pub sites: u32,
    /// Communicators that a rank knows apart from that of all, of the rank that has most.
    pub communicators: u32,
    /// By call.
    pub calls: BTreeMap<Call, CallTally>,
    /// Time between calls, of all ranks.
    pub computed: Time,
    /// From the return of `Init` to `Finalize`, of the rank where it is longest, if times are real.
    pub elapsed: Option<Time>,
    state: BTreeMap<u32, State>,
}

/// What is counted of a call.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct CallTally {
    /// How often it was made.
    pub count: u64,
    /// What the calling rank sends or, for receives, gets \[B\].
    pub bytes: u64,
    /// Time inside it.
    pub time: Time,
}

/// Of a rank, while it is read.
#[derive(Clone, Debug, Default)]
struct State {
    clock: Clock,
    empty_gap: u64,
    start: u64,
    /// By thread.
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
    fn item(&mut self, rank: u32, _place: u64, item: Item<'_>) -> Result<(), Wrong> {
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

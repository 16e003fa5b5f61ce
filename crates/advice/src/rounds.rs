//! Messages of a rank, sent or received at one line to or from one rank after the other: what a collective operation may do.
//!
//! A round is as many messages of one size as there are different partners, at one line. It ends where a partner comes again, where the
//! size changes, where the rank turns from sending to receiving or back, and where a message's data is not ready when the
//! first of the round goes out.

use hayase_trace::Kind;
use rustc_hash::FxHashMap;

use crate::calls::Doubts;
use crate::model::Part;
use crate::overlap::{Called, Posted};
use crate::watch::AT_EVENT;

/// Partners of a round at least: less is no pattern.
pub const FEWEST: usize = 2;
/// Events of rounds that are kept of a rank.
const MOST: usize = 1 << 21;

/// A round.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Round {
    /// Sent or received.
    pub part: Part,
    /// Line, a number of the rank's table.
    pub line: u32,
    /// The id of the communicator and how many ranks it has.
    pub comm: (u64, u32),
    /// Bytes of each message.
    pub bytes: u64,
    /// Events.
    pub events: Vec<u32>,
    /// Partners, ranks of `MPI_COMM_WORLD`, in the order of events.
    pub peers: Vec<u32>,
    /// Whether all messages have one buffer.
    pub one_buffer: bool,
    /// Whether no two have a byte in common.
    pub apart: bool,
    /// What must be checked by eye.
    pub doubts: Doubts,
}

#[derive(Debug)]
struct Open {
    round: Round,
    head: u64,
    lows: Vec<u64>,
    computed: u64,
}

/// Finds the rounds of a rank.
#[derive(Debug, Default)]
pub struct Rounds {
    open: FxHashMap<(Part, u32, u32), Open>,
    /// Those found, by part, line and first event.
    pub rounds: Vec<Round>,
    /// By part and line, how many messages there were.
    pub executions: FxHashMap<(Part, u32), u64>,
    computed: u64,
    kept: usize,
}

impl Rounds {
    /// A call goes by.
    pub fn call(&mut self, called: &Called<'_>) {
        self.computed += called.gap;
        match called.event.call.kind() {
            Kind::Send => self.end(|part| part == Part::Receive),
            Kind::Recv | Kind::Probe | Kind::Iprobe => self.end(|part| part == Part::Send),
            Kind::Collective | Kind::Icollective | Kind::Communicator | Kind::Opaque => self.end(|_| true),
            _ => {}
        }
    }

    /// A message is posted; without memory accesses, less computation than `least` \[ns\] does not keep messages apart.
    pub fn posted(&mut self, at: &Posted<'_>, least: u64) {
        let Posted { number, event, line, communication: part, known, .. } = *at;
        if part.part == Part::Collective || part.bytes == 0 {
            return;
        }
        let Some(peer) = known.world(event, part.peer) else { return };
        *self.executions.entry((part.part, line)).or_default() += 1;
        let mut doubts = part.doubts;
        if !known.memory {
            doubts.and(Doubts::MEMORY);
        }
        let key = (part.part, line, event.comm);
        let low = part.spans.first().map_or(0, |span| span.low);
        let length = part.spans.first().map_or(part.bytes, |span| span.high - span.low);
        if let Some(open) = self.open.get_mut(&key) {
            let free = if known.memory && !part.doubts.has(Doubts::ADDRESS) {
                at.data.stamp < (open.head, AT_EVENT) && at.fence.stamp < (open.head, AT_EVENT)
            } else {
                self.computed - open.computed <= least * open.lows.len() as u64
            };
            // Received into one buffer, one after the other: only sums do that.
            let sums = part.part == Part::Receive && open.lows.iter().all(|&other| other == low) && low != 0;
            let round = &mut open.round;
            if (free || sums)
                && round.bytes == part.bytes
                && !round.peers.contains(&peer)
                && number < u64::from(u32::MAX)
            {
                round.doubts.and(doubts);
                round.one_buffer &= open.lows.first() == Some(&low);
                round.apart &= open.lows.iter().all(|&other| other.abs_diff(low) >= length);
                round.events.push(number as u32);
                round.peers.push(peer);
                open.lows.push(low);
                return;
            }
            if let Some(open) = self.open.remove(&key) {
                self.close(open);
            }
        }
        let round = Round {
            part: part.part,
            line,
            comm: (known.id(event.comm), known.size(event.comm)),
            bytes: part.bytes,
            events: vec![number as u32],
            peers: vec![peer],
            one_buffer: true,
            apart: true,
            doubts,
        };
        self.open.insert(key, Open { round, head: number, lows: vec![low], computed: self.computed });
    }

    /// The rank has ended.
    pub fn finish(&mut self) {
        self.end(|_| true);
        self.rounds.sort_by_key(|round| (round.part, round.line, round.events[0]));
    }

    fn end(&mut self, which: impl Fn(Part) -> bool) {
        if self.open.is_empty() {
            return;
        }
        // The order in which they are found does not matter: they are sorted in the end.
        let (ended, open) = std::mem::take(&mut self.open).into_iter().partition::<Vec<_>, _>(|(key, _)| which(key.0));
        self.open.extend(open);
        for (_, open) in ended {
            self.close(open);
        }
    }

    fn close(&mut self, open: Open) {
        if open.round.peers.len() >= FEWEST && self.kept < MOST {
            self.kept += open.round.events.len();
            self.rounds.push(open.round);
        }
    }
}

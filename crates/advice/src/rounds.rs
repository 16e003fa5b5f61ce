//! Rounds: messages of one line to or from one rank after the other, which a collective operation may
//! replace.
//!
//! A round has one message of the same size for each of several partners. It ends where a partner comes
//! again, where the size changes, or where the rank turns from sends to receives or back. It also ends at a
//! message whose data is not ready when the first message of the round is posted.

use std::collections::BTreeMap;

use hayase_trace::CallKind;
use rustc_hash::FxHashMap;

use crate::doubts::Doubts;
use crate::model::CallPart;
use crate::overlap::{Called, Posted};
use crate::watch::{AT_EVENT, Completion, Stamp};

/// Smallest number of partners of a round.
pub const MIN_PARTNERS: usize = 2;
/// Largest number of events kept in the rounds of a rank.
const MAX_EVENTS: usize = 1 << 21;

/// Round of messages of a rank.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Round {
    /// `Send` or `Receive`.
    pub part: CallPart,
    /// Line, a number of the rank's table.
    pub line: u32,
    /// Id and number of ranks of the communicator.
    pub comm: (u64, u32),
    /// Size of each message \[B\].
    pub bytes: u64,
    /// Events of the messages.
    pub events: Vec<u32>,
    /// Partners, as ranks of `MPI_COMM_WORLD`, in the order of events.
    pub peers: Vec<u32>,
    /// True if all messages use the same buffer.
    pub one_buffer: bool,
    /// True if no two messages have a byte in common.
    pub apart: bool,
    /// Doubts that need a check by eye.
    pub doubts: Doubts,
    /// Last event that a message of the round must stay behind; if messages are summed up, only that of the
    /// first message.
    pub behind: Stamp,
    /// Earlier communications that must be complete when the round begins, and could end after `behind`.
    pub needs: Vec<Completion>,
}

/// Key of an open round: part, line and communicator.
type Key = (CallPart, u32, u32);

#[derive(Debug, Default)]
struct OpenRound {
    round: Round,
    head: u64,
    lows: Vec<u64>,
    computed: u64,
}

/// Search for the rounds of a rank.
#[derive(Debug, Default)]
pub struct Rounds {
    open: FxHashMap<Key, OpenRound>,
    /// Ended rounds, kept for reuse of their memory.
    spare: Vec<OpenRound>,
    /// Rounds found, by part, line and first event.
    pub rounds: Vec<Round>,
    /// Numbers of sends and of receives, by line.
    executions: [Vec<u64>; 2],
    computed: u64,
    kept: usize,
    /// Events whose messages were completed one by one.
    completed_singly: Vec<u32>,
}

impl Rounds {
    /// Processes a call.
    pub fn call(&mut self, called: &Called<'_>) {
        self.computed += called.gap;
        match called.event.call.kind() {
            CallKind::Send => self.end(|key| key.0 == CallPart::Receive),
            CallKind::Recv | CallKind::Probe | CallKind::Iprobe => self.end(|key| key.0 == CallPart::Send),
            CallKind::Collective | CallKind::Icollective | CallKind::Communicator | CallKind::Opaque => {
                self.end(|_| true)
            }
            _ => {}
        }
    }

    /// Processes a posted message; without memory accesses, computation below `least` \[ns\] does not keep
    /// messages apart.
    pub fn posted(&mut self, at: &Posted<'_>, least: u64) {
        let Posted { number, event, line, communication: part, known, .. } = *at;
        if part.part == CallPart::Collective || part.bytes == 0 || event.flags.neighbourhood().is_some() {
            return;
        }
        let Some(peer) = known.communicators.world(event, part.peer) else { return };
        let side = &mut self.executions[usize::from(part.part == CallPart::Receive)];
        if side.len() <= line as usize {
            side.resize(line as usize + 1, 0);
        }
        side[line as usize] += 1;
        let mut doubts = part.doubts;
        if !known.memory {
            doubts.and(Doubts::MEMORY);
        }
        let key = (part.part, line, event.comm);
        let behind = at.data.stamp.max(at.fence.stamp);
        let low = part.spans.first().map_or(0, |span| span.low);
        let length = part.spans.first().map_or(part.bytes, |span| span.high - span.low);
        if let Some(open) = self.open.get_mut(&key) {
            let seen = known.memory && !part.doubts.has(Doubts::ADDRESS) && !part.doubts.has(Doubts::FOREIGN);
            let free = if seen {
                at.data.stamp < (open.head, AT_EVENT) && at.fence.stamp < (open.head, AT_EVENT)
            } else {
                self.computed - open.computed <= least * open.lows.len() as u64
            };
            // Messages received into one buffer one after the other must be summed up.
            let sums = part.part == CallPart::Receive && open.lows.iter().all(|&other| other == low) && low != 0;
            let round = &mut open.round;
            if (free || sums)
                && round.bytes == part.bytes
                && !round.peers.contains(&peer)
                && number < u64::from(u32::MAX)
            {
                round.doubts.and(doubts);
                if at.control.stamp >= (open.head, AT_EVENT) {
                    round.doubts.and(Doubts::CONTENT);
                }
                if free {
                    round.behind = round.behind.max(behind);
                    round.needs.extend(at.needs.iter().chain(at.decided_by).copied());
                }
                round.one_buffer &= open.lows.first() == Some(&low);
                round.apart &= open.lows.iter().all(|&other| other.abs_diff(low) >= length);
                round.events.push(number as u32);
                round.peers.push(peer);
                open.lows.push(low);
                return;
            }
            self.end(|other| *other == key);
        }
        let mut open = self.spare.pop().unwrap_or_default();
        let round = &mut open.round;
        (round.part, round.line, round.bytes, round.doubts) = (part.part, line, part.bytes, doubts);
        round.comm = (known.communicators.id(event.comm), known.communicators.size(event.comm));
        (round.one_buffer, round.apart, round.behind) = (true, true, behind);
        round.needs.extend(at.needs.iter().chain(at.decided_by).copied());
        round.events.push(number as u32);
        round.peers.push(peer);
        open.lows.push(low);
        (open.head, open.computed) = (number, self.computed);
        self.open.insert(key, open);
    }

    /// Records that a call found the message of an event complete, perhaps before other messages of its
    /// round.
    pub fn completed_by_itself(&mut self, event: u64) {
        self.completed_singly.push(event as u32);
    }

    /// Returns the number of messages by part and line.
    pub fn executions(&self) -> BTreeMap<(CallPart, u32), u64> {
        let mut executions = BTreeMap::new();
        for (part, counts) in [CallPart::Send, CallPart::Receive].into_iter().zip(&self.executions) {
            let counts = (0..).zip(counts).filter(|&(_, &count)| count > 0);
            executions.extend(counts.map(|(line, &count)| ((part, line), count)));
        }
        executions
    }

    /// Ends all rounds at the end of the rank.
    pub fn finish(&mut self) {
        self.end(|_| true);
        self.completed_singly.sort_unstable();
        for round in &mut self.rounds {
            if round.events.iter().any(|event| self.completed_singly.binary_search(event).is_ok()) {
                round.doubts.and(Doubts::PLACE);
            }
        }
        self.rounds.sort_by_key(|round| (round.part, round.line, round.events[0]));
    }

    fn end(&mut self, which: impl Fn(&Key) -> bool) {
        if self.open.is_empty() {
            return;
        }
        // The order of this loop does not matter: the rounds are sorted at the end.
        for (_, mut open) in self.open.extract_if(|key, _| which(key)) {
            let round = &mut open.round;
            if round.peers.len() >= MIN_PARTNERS && self.kept < MAX_EVENTS {
                self.kept += round.events.len();
                self.rounds.push(std::mem::take(round));
            }
            round.events.clear();
            round.peers.clear();
            round.needs.clear();
            open.lows.clear();
            self.spare.push(open);
        }
    }
}

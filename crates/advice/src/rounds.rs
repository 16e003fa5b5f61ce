//! Messages of a rank, sent or received at one line to or from one rank after the other: what a collective operation
//! may do.
//!
//! A round is as many messages of one size as there are different partners, at one line. It ends where a partner comes
//! again, where the size changes, where the rank turns from sending to receiving or back, and where a message's data is
//! not ready when the first of the round goes out.

use std::collections::BTreeMap;

use hayase_trace::Kind;
use rustc_hash::FxHashMap;

use crate::doubts::Doubts;
use crate::model::CallPart;
use crate::overlap::{Called, Posted};
use crate::watch::{AT_EVENT, Stamp, Through};

/// Partners of a round at least: less is no pattern.
pub const FEWEST: usize = 2;
/// Events of rounds that are kept of a rank.
const MOST: usize = 1 << 21;

/// A round.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Round {
    /// Sent or received.
    pub part: CallPart,
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
    /// The last thing that one of its messages must stay behind; of what is summed up, only the first.
    pub behind: Stamp,
    /// Earlier communications that must be complete when it begins, and could end behind `behind`.
    pub needs: Vec<Through>,
}

/// What a round is at: sent or received, line, communicator.
type Key = (CallPart, u32, u32);

#[derive(Debug, Default)]
struct Open {
    round: Round,
    head: u64,
    lows: Vec<u64>,
    computed: u64,
}

/// Finds the rounds of a rank.
#[derive(Debug, Default)]
pub struct Rounds {
    open: FxHashMap<Key, Open>,
    /// Rounds that have ended, room for others.
    spare: Vec<Open>,
    /// Those found, by part, line and first event.
    pub rounds: Vec<Round>,
    /// Sends and receives, by line: how many there were.
    executions: [Vec<u64>; 2],
    computed: u64,
    kept: usize,
    /// Events whose messages were complete one by one.
    by_themselves: Vec<u32>,
}

impl Rounds {
    /// A call goes by.
    pub fn call(&mut self, called: &Called<'_>) {
        self.computed += called.gap;
        match called.event.call.kind() {
            Kind::Send => self.end(|key| key.0 == CallPart::Receive),
            Kind::Recv | Kind::Probe | Kind::Iprobe => self.end(|key| key.0 == CallPart::Send),
            Kind::Collective | Kind::Icollective | Kind::Communicator | Kind::Opaque => self.end(|_| true),
            _ => {}
        }
    }

    /// A message is posted; without memory accesses, less computation than `least` \[ns\] does not keep messages apart.
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
            // Received into one buffer, one after the other: only sums do that.
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

    /// Notes that the message of an event was complete when some call found it so, perhaps before others of its round.
    pub fn completed_by_itself(&mut self, event: u64) {
        self.by_themselves.push(event as u32);
    }

    /// By part and line, how many messages there were.
    pub fn executions(&self) -> BTreeMap<(CallPart, u32), u64> {
        let mut executions = BTreeMap::new();
        for (part, counts) in [CallPart::Send, CallPart::Receive].into_iter().zip(&self.executions) {
            let counts = (0..).zip(counts).filter(|&(_, &count)| count > 0);
            executions.extend(counts.map(|(line, &count)| ((part, line), count)));
        }
        executions
    }

    /// The rank has ended.
    pub fn finish(&mut self) {
        self.end(|_| true);
        self.by_themselves.sort_unstable();
        for round in &mut self.rounds {
            if round.events.iter().any(|event| self.by_themselves.binary_search(event).is_ok()) {
                round.doubts.and(Doubts::PLACE);
            }
        }
        self.rounds.sort_by_key(|round| (round.part, round.line, round.events[0]));
    }

    fn end(&mut self, which: impl Fn(&Key) -> bool) {
        if self.open.is_empty() {
            return;
        }
        // The order in which they are found does not matter: they are sorted in the end.
        for (_, mut open) in self.open.extract_if(|key, _| which(key)) {
            let round = &mut open.round;
            if round.peers.len() >= FEWEST && self.kept < MOST {
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

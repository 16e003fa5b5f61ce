//! Calls of a rank that could be one: messages with one partner, collective operations in a row.
//!
//! The later call joins the earlier if it could be posted there: all that its data depends on lies before the first call of
//! the group ([`Posted::data`]), and nothing but members of the group keeps it in its order ([`Posted::order`]). So it is what would be
//! sent later that moves forward; nothing waits longer than it does now.
//!
//! Whether the partners can do the same is asked when all ranks are known ([`crate::rules`]).
//!
//! Cost: a look-up for each communication.

use std::collections::hash_map::Entry;

use hayase_trace::{Call, Kind};
use rustc_hash::FxHashMap;

use crate::calls::Doubts;
use crate::model::Part;
use crate::overlap::{Called, Posted};
use crate::watch::AT_EVENT;

/// Most calls that are made one.
const MOST: u32 = 64;
/// Events that a group may span.
const LONGEST: u64 = 256;

/// A call that could be part of an earlier one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Join {
    /// Which part of the call.
    pub part: Part,
    /// The call.
    pub event: u32,
    /// The first of its group, at whose place it could be.
    pub head: u32,
    /// The one of the group before it.
    pub before: u32,
    /// Whether its buffer begins where that one's ends.
    pub adjacent: bool,
    /// What must be checked by eye.
    pub doubts: Doubts,
}

#[derive(Clone, Copy, Debug)]
struct Group {
    head: u64,
    last: u64,
    members: u32,
    high: u64,
    doubts: Doubts,
    /// Computation until its head \[ns\].
    computed: u64,
    kind: (Call, i32, u8, u32),
}

/// Finds the joins of a rank.
#[derive(Debug, Default)]
pub struct Merges {
    groups: FxHashMap<(Part, u32, i32), Group>,
    /// Those found, by event.
    pub joins: Vec<Join>,
    computed: u64,
    /// The last event after which a send, a receive, a collective may depend on what another rank did with an earlier one.
    turned: [u64; 3],
}

impl Merges {
    /// A call goes by.
    pub fn call(&mut self, called: &Called<'_>) {
        self.computed += called.gap;
        let turns = match called.event.call.kind() {
            Kind::Recv | Kind::Wait | Kind::WaitAny | Kind::Test | Kind::Probe | Kind::Iprobe => [true, false, true],
            Kind::Send | Kind::Isend => [false, true, true],
            Kind::Irecv | Kind::SendInit | Kind::RecvInit => [false; 3],
            Kind::Collective | Kind::Icollective => [true, true, false],
            _ => [true; 3],
        };
        for (last, turns) in self.turned.iter_mut().zip(turns) {
            if turns {
                *last = called.number;
            }
        }
    }

    /// A communication is posted; without memory accesses, less computation than `least` \[ns\] does not keep calls apart.
    pub fn posted(&mut self, at: &Posted<'_>, least: u64) {
        let Posted { number, event, communication: part, known, .. } = *at;
        let collective = part.part == Part::Collective;
        let counted = !event.counts.is_empty() || !event.counts2.is_empty();
        let dynamic = part.wildcard
            || (!collective && part.peer < 0)
            || matches!(event.call.kind(), Kind::Start | Kind::Sendrecv);
        let key = (part.part, event.comm, if collective { 0 } else { part.peer });
        if part.bytes == 0 || counted || dynamic || matches!(event.call, Call::Rsend | Call::Irsend) {
            self.groups.remove(&key);
            return;
        }
        let kind = if collective {
            (event.call.blocking(), part.peer, event.op.0, if event.op.0 == 0 { 0 } else { event.element })
        } else {
            (event.call, part.peer, 0, 0)
        };
        let blind = !known.memory || part.doubts.has(Doubts::ADDRESS) || part.doubts.has(Doubts::FOREIGN);
        let mut doubts = part.doubts;
        if !known.memory {
            doubts.and(Doubts::MEMORY);
        }
        let (low, high) = match part.spans.as_slice() {
            [span] if !part.doubts.has(Doubts::GAPS) => (span.low, span.high),
            _ => (0, 0),
        };
        let turned = self.turned[match part.part {
            Part::Send => 0,
            Part::Receive => 1,
            Part::Collective => 2,
        }];
        let new = Group { head: number, last: number, members: 1, high, doubts, computed: self.computed, kind };
        let group = match self.groups.entry(key) {
            Entry::Vacant(entry) => {
                entry.insert(new);
                return;
            }
            Entry::Occupied(entry) => entry.into_mut(),
        };
        let free = if blind {
            let apart = self.computed - group.computed;
            turned <= group.head && apart <= least * u64::from(group.members) && group.last + 1 == number
        } else {
            at.data.stamp < (group.head, AT_EVENT) && at.fence.stamp < (group.head, AT_EVENT)
        };
        let in_order = at.order.stamp.0 <= group.last;
        if !(free && in_order && group.kind == kind && group.members < MOST && number <= group.head + LONGEST) {
            *group = new;
            return;
        }
        group.doubts.and(doubts);
        let adjacent = group.high != 0 && group.high == low;
        let (event, head, before) = (number as u32, group.head as u32, group.last as u32);
        self.joins.push(Join { part: part.part, event, head, before, adjacent, doubts: group.doubts });
        (group.last, group.high, group.members) = (number, high, group.members + 1);
    }
}

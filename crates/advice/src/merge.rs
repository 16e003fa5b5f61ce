//! Calls of a rank that could be one: messages with one partner, collective operations in a row.
//!
//! A later call joins an earlier one if it could be posted there. All that its data depends on must lie
//! before the first call of the group ([`Posted::data`]), and only members of the group may precede it in the
//! order of messages ([`Posted::order`]). So a later send moves forward, and nothing waits longer than it
//! does now.
//!
//! **A length, and then its data.** The contents of a message may decide if another follows, and its length;
//! then the two cannot be one. The trace shows no contents, so these rules decide:
//! * If the data of the earlier message was not read before the later call, it decides nothing.
//! * If it was read, it may decide if there is a later message ([`Doubts::CONTENT`], to be checked).
//! * If it was read, is no longer than a few integers, and the later message is longer or of several sizes, it counts
//!   as the length of the later one. The two stay apart.
//! * If reads were not recorded, the two stay apart if the earlier message is a few integers and the size of the later
//!   one varies between executions. A few integers are in doubt in any case.
//!
//! For a message the receiver decides this, for a collective operation every rank that receives data by it.
//!
//! The rules check that the partners can do the same, when all ranks are known ([`mod@crate::rules`]).
//!
//! Cost: a look-up for each communication.

use std::collections::hash_map::Entry;

use hayase_trace::{Call, CallKind, Event};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::calls::{Communication, may_be_length};
use crate::doubts::Doubts;
use crate::model::CallPart;
use crate::overlap::{Called, Posted};
use crate::watch::{AT_EVENT, Completion, Span};

/// Largest number of calls in a group.
const MAX_MEMBERS: u32 = 64;
/// Largest number of events that a group spans.
const MAX_EVENTS: u64 = 256;

/// Call that could be merged into an earlier one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Join {
    /// Part of the call.
    pub part: CallPart,
    /// Event of the call.
    pub event: u32,
    /// First event of its group, where it could be posted.
    pub head: u32,
    /// Event before it in its group.
    pub before: u32,
    /// True if its buffer begins where the buffer of `before` ends.
    pub adjacent: bool,
    /// Doubts that need a check by eye.
    pub doubts: Doubts,
    /// Earlier communications that must be complete when the first of the group is posted, and could end
    /// after it.
    pub needs: Vec<Completion>,
    /// Data on which its size may depend.
    pub content: EarlierData,
}

/// Data of an earlier call of the group that was read before a later call.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum EarlierData {
    /// No data.
    Nothing,
    /// More than a few integers.
    Unknown,
    /// A few integers; or they arrived, and reads were not recorded.
    Length,
}

#[derive(Clone, Debug)]
struct Group {
    head: u64,
    last: u64,
    members: u32,
    high: u64,
    doubts: Doubts,
    /// Data that its members deliver: bytes, event and size \[B\].
    brought: SmallVec<[(Span, u64, u64); 2]>,
    /// Set if one of its members may deliver a length.
    lengths: bool,
    /// Computation before its head \[ns\].
    computed: u64,
    kind: (Call, i32, u8, u32),
}

/// Finds the joins of a rank.
#[derive(Debug, Default)]
pub struct Merges {
    groups: FxHashMap<(CallPart, u32, i32), Group>,
    /// Joins in the order of events.
    pub joins: Vec<Join>,
    computed: u64,
    /// Size of the first call by part and line, and true if another call has a different size.
    sizes: [Vec<Option<(u64, bool)>>; 3],
    /// Last event after which a send, a receive or a collective may depend on the reaction of another rank to
    /// an earlier one.
    turned: [u64; 3],
}

impl Merges {
    /// Processes a call.
    pub fn call(&mut self, called: &Called<'_>) {
        self.computed += called.gap;
        let turns = match called.event.call.kind() {
            CallKind::Recv
            | CallKind::Wait
            | CallKind::WaitAny
            | CallKind::Test
            | CallKind::Probe
            | CallKind::Iprobe => [true, false, true],
            CallKind::Send | CallKind::Isend => [false, true, true],
            CallKind::Irecv | CallKind::SendInit | CallKind::RecvInit => [false; 3],
            CallKind::Collective | CallKind::Icollective => [true, true, false],
            _ => [true; 3],
        };
        for (last, turns) in self.turned.iter_mut().zip(turns) {
            if turns {
                *last = called.number;
            }
        }
    }

    /// Returns the lines at which calls of one part have different sizes.
    pub fn of_several_sizes(&self) -> impl Iterator<Item = u32> + '_ {
        let of = |sizes: &'_ Vec<Option<(u64, bool)>>| -> Vec<u32> {
            let lines = (0..).zip(sizes).filter(|(_, size)| size.is_some_and(|(_, several)| several));
            lines.map(|(line, _)| line).collect()
        };
        self.sizes.iter().flat_map(of)
    }

    fn sized(&mut self, part: CallPart, line: u32, bytes: u64) {
        let sizes = &mut self.sizes[part as usize];
        if sizes.len() <= line as usize {
            sizes.resize(line as usize + 1, None);
        }
        let (first, several) = sizes[line as usize].get_or_insert((bytes, false));
        *several |= *first != bytes;
    }

    /// Processes a posted communication; without memory accesses, computation below `least` \[ns\] does not
    /// keep calls apart.
    pub fn posted(&mut self, at: &Posted<'_>, least: u64) {
        let Posted { number, event, communication: part, known, .. } = *at;
        if event.flags.neighbourhood().is_some() {
            return;
        }
        self.sized(part.part, at.line, part.bytes);
        let collective = part.part == CallPart::Collective;
        let counted = !event.counts.is_empty() || !event.counts2.is_empty();
        let dynamic = part.wildcard || (!collective && part.peer < 0) || event.call.kind() == CallKind::Sendrecv;
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
            CallPart::Send => 0,
            CallPart::Receive => 1,
            CallPart::Collective => 2,
        }];
        let brings = receives_data(event, part);
        let brought = part.spans.iter().filter(|span| span.write).map(|&span| (span, number, part.bytes)).collect();
        let lengths = brings && may_be_length(part.bytes);
        let new = Group {
            head: number,
            last: number,
            members: 1,
            high,
            doubts,
            brought,
            lengths,
            computed: self.computed,
            kind,
        };
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
        // A recorded access forbids the merge even if others were not recorded: the later call needs something that
        // arrives with the head of the group or after it.
        let forbidden = (known.memory && at.data.stamp >= (group.head, AT_EVENT))
            || at.needs.iter().any(|need| need.event >= group.head);
        let free = free && !forbidden;
        let in_order = at.order.stamp.0 <= group.last;
        let read = group.brought.iter().filter(|(span, event, _)| at.watch.read(span) > *event);
        let (mut content, mut decides) = (EarlierData::Nothing, false);
        for &(_, _, bytes) in read {
            content = content.max(if may_be_length(bytes) { EarlierData::Length } else { EarlierData::Unknown });
            decides |= bytes < part.bytes && may_be_length(bytes);
        }
        // The later call may depend on data that arrived with the head or after it and was read.
        if at.control.stamp >= (group.head, AT_EVENT) {
            doubts.and(Doubts::CONTENT);
        }
        if blind && group.lengths {
            content = EarlierData::Length;
            doubts.and(Doubts::CONTENT);
        }
        let apart = decides || !free || !in_order || group.kind != kind;
        if apart || group.members == MAX_MEMBERS || number > group.head + MAX_EVENTS {
            *group = new;
            return;
        }
        group.doubts.and(doubts);
        group.brought.extend(new.brought);
        group.lengths |= lengths;
        let decided_by = at.decided_by.iter().filter(|need| need.event < group.head);
        let needs =
            at.needs.iter().chain(decided_by).filter(|need| need.until > (group.head, AT_EVENT)).copied().collect();
        let adjacent = group.high != 0 && group.high == low;
        let (event, head, before) = (number as u32, group.head as u32, group.last as u32);
        self.joins.push(Join { part: part.part, event, head, before, adjacent, doubts: group.doubts, needs, content });
        (group.last, group.high, group.members) = (number, high, group.members + 1);
    }
}

/// True if the rank receives data by the communication; a sender and the root of a broadcast do not.
fn receives_data(event: &Event, part: &Communication) -> bool {
    match part.part {
        CallPart::Send => false,
        CallPart::Receive => true,
        CallPart::Collective => event.call.blocking() != Call::Bcast || part.spans.iter().all(|span| span.write),
    }
}

/// Returns the needs of all members of a group.
pub fn needs_of(joins: &mut dyn Iterator<Item = &Join>) -> Vec<Completion> {
    let mut needs: Vec<Completion> = joins.flat_map(|join| &join.needs).copied().collect();
    needs.sort_unstable();
    needs.dedup_by_key(|need| (need.event, need.part));
    needs
}

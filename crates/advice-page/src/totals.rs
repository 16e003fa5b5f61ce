//! Sums of a run, which stay complete even where spans and messages are dropped.

use std::collections::BTreeMap;

use crate::span::{KINDS, Message, PlaceId, Span};

/// Time of each kind \[ns\].
pub(crate) type ByKind = [u64; KINDS];

/// Time of one rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct RankTime {
    /// Time by kind \[ns\].
    pub ns: ByKind,
    /// End of its last span \[ns\].
    pub end: u64,
    /// Number of its last call.
    pub event: Option<u64>,
}

/// Cost of one line on one rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct LineCost {
    /// Time by kind \[ns\].
    pub ns: ByKind,
    /// Number of calls.
    pub calls: u64,
    /// Their payload \[B\].
    pub bytes: u64,
    /// Longest span \[ns\].
    pub longest: u64,
}

impl LineCost {
    /// Adds the cost of another line.
    pub fn join(&mut self, other: &Self) {
        self.ns.iter_mut().zip(other.ns).for_each(|(sum, more)| *sum += more);
        self.calls += other.calls;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.longest = self.longest.max(other.longest);
    }
}

/// Cost of the calls of one name on one rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct CallCost {
    /// Number of calls.
    pub count: u64,
    /// Time \[ns\].
    pub ns: u64,
    /// Longest call \[ns\]; for a call in several pieces, the longest piece.
    pub longest: u64,
    /// Payload \[B\].
    pub bytes: u64,
}

/// Messages and their bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Traffic {
    /// Number of messages.
    pub messages: u64,
    /// Payload \[B\].
    pub bytes: u64,
}

impl Traffic {
    fn add(&mut self, bytes: u64) {
        self.messages += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// All sums of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    /// Times by rank.
    pub ranks: Vec<RankTime>,
    /// Costs by line and rank.
    pub lines: BTreeMap<(PlaceId, u32), LineCost>,
    /// Costs by call (an index of the run's names) and rank.
    pub calls: BTreeMap<(u32, u32), CallCost>,
    /// Messages by sender and receiver.
    pub pairs: BTreeMap<(u32, u32), Traffic>,
    /// Messages by size: entry `i` holds messages of `2^(i-1) .. 2^i - 1` bytes, entry 0 those without data.
    pub sizes: BTreeMap<u32, Traffic>,
    /// Number of events: calls of the program.
    pub events: u64,
    /// All messages.
    pub all: Traffic,
}

impl Totals {
    /// Adds a span; `first_piece` is false if it is a further piece of the call before.
    pub fn span(&mut self, rank: u32, span: &Span<'_>, call: u32, first_piece: bool) {
        let (ns, kind) = (span.end - span.begin, span.kind as usize);
        let of_rank = &mut self.ranks[rank as usize];
        of_rank.ns[kind] += ns;
        of_rank.end = of_rank.end.max(span.end);
        of_rank.event = span.event.or(of_rank.event);
        let counted = u64::from(span.event.is_some() && first_piece);
        let bytes = if first_piece { span.bytes } else { 0 };
        self.events += counted;
        let line = self.lines.entry((span.place, rank)).or_default();
        line.ns[kind] += ns;
        line.calls += counted;
        line.bytes = line.bytes.saturating_add(bytes);
        line.longest = line.longest.max(ns);
        if span.event.is_some() {
            let calls = self.calls.entry((call, rank)).or_default();
            calls.count += counted;
            calls.ns += ns;
            calls.longest = calls.longest.max(ns);
            calls.bytes = calls.bytes.saturating_add(bytes);
        }
    }

    /// Adds a message.
    pub fn message(&mut self, message: &Message) {
        self.all.add(message.bytes);
        self.pairs.entry((message.from, message.to)).or_default().add(message.bytes);
        self.sizes.entry(u64::BITS - message.bytes.leading_zeros()).or_default().add(message.bytes);
    }
}

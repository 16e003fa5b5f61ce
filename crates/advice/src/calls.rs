//! Memory that a call reads and writes, and the order that it must keep.

use hayase_trace::{Call, CallKind, Event, Flags, MessageEnd};
use smallvec::{SmallVec, smallvec};

use crate::doubts::Doubts;
use crate::model::CallPart;
use crate::stream::TraceState;
use crate::watch::Span;

/// Part of a call that communicates.
#[derive(Clone, Debug)]
pub struct Communication {
    /// Part of the call.
    pub part: CallPart,
    /// Bytes that the message is read from and written to.
    pub spans: SmallVec<[Span; 2]>,
    /// Payload \[B\].
    pub bytes: u64,
    /// Other rank or root, in the communicator; [`Event::NOBODY`] if there is none.
    pub peer: i32,
    /// Tag.
    pub tag: i32,
    /// True if the receive accepts any source or any tag.
    pub wildcard: bool,
    /// Doubts that need a check by eye.
    pub doubts: Doubts,
}

/// Largest size of a few integers \[B\].
const MAX_LENGTH_BYTES: u64 = 32;

/// True if a message of this size may hold one length or a few.
pub fn may_be_length(bytes: u64) -> bool {
    bytes <= MAX_LENGTH_BYTES && bytes.is_multiple_of(4)
}

/// True for the size of an element of a basic datatype \[B\].
fn is_basic(element: u32) -> bool {
    matches!(element, 0 | 1 | 2 | 4 | 8 | 12 | 16 | 32)
}

/// Returns the communications of a call: two for a sendrecv, one or none for other calls.
pub fn communications(event: &Event, known: &TraceState) -> SmallVec<[Communication; 2]> {
    let gaps = event.flags.has(Flags::GAPS);
    let doubts = if gaps {
        Doubts::GAPS
    } else if is_basic(event.element) || event.flags.has(Flags::DENSE) {
        Doubts::default()
    } else {
        Doubts::DATATYPE
    };
    // The extent of a buffer with gaps is recorded for single messages only.
    let reach = (gaps && event.call.kind() != CallKind::Sendrecv).then_some(event.bytes2).filter(|&reach| reach > 0);
    let message = |MessageEnd { sends, peer, tag, bytes }: MessageEnd| {
        let (part, write) = if sends { (CallPart::Send, false) } else { (CallPart::Receive, true) };
        // The receive of a sendrecv has a buffer of its own.
        let address = if write && event.call == Call::Sendrecv { event.buffer2 } else { event.buffer };
        let mut doubts = doubts;
        let length = reach.unwrap_or(bytes);
        let spans = match (address, bytes) {
            (_, 0) => SmallVec::new(),
            _ if address == 0 || (gaps && reach.is_none()) => {
                doubts.and(Doubts::ADDRESS);
                SmallVec::new()
            }
            _ => smallvec![Span::new(address, address.saturating_add(length), write)],
        };
        let wildcard = write && (event.flags.has(Flags::ANY_SOURCE) || event.flags.has(Flags::ANY_TAG));
        if wildcard {
            doubts.and(Doubts::WILDCARD);
        }
        if matches!(event.call, Call::Ssend | Call::Issend | Call::SsendInit) {
            doubts.and(Doubts::SYNCHRONOUS);
        }
        Communication { part, spans, bytes, peer, tag, wildcard, doubts }
    };
    let mut parts = SmallVec::new();
    match event.call.kind() {
        CallKind::Collective | CallKind::Icollective => parts.extend(collective(event, known, doubts)),
        _ => event.message_ends().for_each(|end| parts.push(message(end))),
    }
    parts
}

/// Returns the memory that a collective operation reads and writes; `None` if it only waits.
fn collective(event: &Event, known: &TraceState, mut doubts: Doubts) -> Option<Communication> {
    let ranks = u64::from(known.communicators.size(event.comm));
    let root = known.communicators.world(event, event.peer) == Some(known.rank);
    let sum = |list: &[u64]| list.iter().fold(0_u64, |sum, bytes| sum.saturating_add(*bytes));
    let all = |block: u64| block.saturating_mul(ranks);
    let Event { bytes, bytes2, .. } = *event;
    if event.flags.has(Flags::INTER) {
        // The bytes that a rank sends and receives depend on the group of the root.
        doubts.and(Doubts::ADDRESS);
    }
    let (sent, received) = match event.call.blocking() {
        Call::Bcast if root => (bytes, 0),
        Call::Bcast => (0, bytes),
        Call::Reduce => (bytes, if root { bytes } else { 0 }),
        Call::Allreduce | Call::Scan | Call::Exscan => (bytes, bytes),
        Call::Gather => (bytes, if root { all(bytes) } else { 0 }),
        Call::Scatter => (if root { all(bytes) } else { 0 }, bytes),
        Call::Allgather => (bytes, all(bytes)),
        Call::Alltoall => (all(bytes), all(bytes)),
        Call::ReduceScatterBlock => (all(bytes), bytes),
        Call::Gatherv => (bytes, if root { sum(&event.counts2) } else { 0 }),
        Call::Scatterv => (if root { sum(&event.counts) } else { 0 }, bytes2),
        Call::Allgatherv => (bytes, sum(&event.counts2)),
        Call::Alltoallv | Call::Alltoallw => (sum(&event.counts), sum(&event.counts2)),
        Call::ReduceScatter => (sum(&event.counts), bytes),
        _ => return None,
    };
    if !event.counts.is_empty() || !event.counts2.is_empty() {
        doubts.and(Doubts::BLOCKS);
    }
    let (mut from, mut into) = (event.buffer, event.buffer2);
    if event.call.blocking() == Call::Bcast {
        into = from;
    } else if matches!(event.call.blocking(), Call::Scatter | Call::Scatterv) && !root {
        // A rank that is not the root has one buffer only.
        into = if into != 0 { into } else { from };
    } else if event.flags.has(Flags::IN_PLACE) {
        // One of the two is `MPI_IN_PLACE`, not an address.
        (from, into) = if into != 0 { (into, into) } else { (from, from) };
    }
    let mut spans = SmallVec::new();
    for (address, bytes, write) in [(from, sent, false), (into, received, true)] {
        match (address, bytes) {
            (_, 0) => {}
            _ if address == 0 || doubts.has(Doubts::GAPS) || event.flags.has(Flags::INTER) => {
                doubts.and(Doubts::ADDRESS);
            }
            _ => spans.push(Span::new(address, address.saturating_add(bytes), write)),
        }
    }
    let Event { peer, tag, .. } = *event;
    Some(Communication {
        part: CallPart::Collective,
        spans,
        bytes: sent.max(received),
        peer,
        tag,
        wildcard: false,
        doubts,
    })
}

//! What a call does to memory and in which order it must stay.

use hayase_trace::{Call, Event, Flags, Kind, MessageEnd};
use smallvec::{SmallVec, smallvec};

use crate::model::CallPart;
use crate::stream::Known;
use crate::watch::Span;

/// A part of a call that is a communication.
#[derive(Clone, Debug)]
pub struct Communication {
    /// Which part.
    pub part: CallPart,
    /// Bytes it is taken from and put into.
    pub spans: SmallVec<[Span; 2]>,
    /// Payload \[B\].
    pub bytes: u64,
    /// The other rank or the root, in the communicator; [`Event::NOBODY`].
    pub peer: i32,
    /// Tag.
    pub tag: i32,
    /// Whether source or tag were open.
    pub wildcard: bool,
    /// What must be checked by eye.
    pub doubts: Doubts,
}

/// What a finding rests on and the trace cannot show: a set of bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Doubts(pub u32);

impl Doubts {
    /// The datatype is not a basic one; it is taken to have no gaps.
    pub const DATATYPE: Self = Self(1);
    /// Blocks are taken to lie one after the other: where each begins was not recorded.
    pub const BLOCKS: Self = Self(2);
    /// The buffer's address is not known.
    pub const ADDRESS: Self = Self(4);
    /// Memory accesses were not recorded.
    pub const MEMORY: Self = Self(8);
    /// The call waits for its receiver by definition; whether the program relies on that is not known.
    pub const SYNCHRONOUS: Self = Self(16);
    /// The receive takes messages from anyone.
    pub const WILDCARD: Self = Self(32);
    /// What the program does with messages one after the other may be a reduction or not.
    pub const OPERATION: Self = Self(64);
    /// The bytes of a buffer do not follow each other; the interval from the first to the last is taken in their place.
    pub const GAPS: Self = Self(128);
    /// The call was made by code without instrumentation.
    pub const FOREIGN: Self = Self(1024);
    /// What came before may decide whether the call is made, and with which arguments.
    pub const CONTENT: Self = Self(512);
    /// What is sent is not ready where the first of several calls is that become one.
    pub const PLACE: Self = Self(2048);
    /// Other threads of the program run, whose accesses are not seen.
    pub const THREADS: Self = Self(1 << 12);
    /// A handler of signals may run at any place.
    pub const SIGNALS: Self = Self(1 << 13);
    /// Memory is shared with other processes or with a file.
    pub const MAPPED: Self = Self(1 << 14);
    /// Errors are returned to the program, which may act on them.
    pub const ERRORS: Self = Self(1 << 15);
    /// Other ranks read and write memory of this one.
    pub const WINDOW: Self = Self(1 << 16);
    /// Calls of functions without instrumentation could not be seen.
    pub const CALLS: Self = Self(1 << 17);

    /// Returns what has to be checked where memory is in danger of this kind, by its name in a file of accesses.
    pub fn hazard(name: &str) -> Self {
        match name {
            "thread" => Self::THREADS,
            "signal handler" => Self::SIGNALS,
            "shared mapping" => Self::MAPPED,
            "errors return" => Self::ERRORS,
            "window" => Self::WINDOW,
            _ => Self::CALLS,
        }
    }

    /// Both.
    pub fn and(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// Whether all bits of `other` are set.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// What has to be checked, in sentences, and what is only said.
    pub fn sentences(self) -> (Vec<String>, Vec<String>) {
        let checks = [
            (
                Self::DATATYPE,
                "a derived datatype was used: it was taken to have no gaps; check what lies between its elements",
            ),
            (
                Self::BLOCKS,
                "the blocks of this operation were taken to lie one after the other; check their displacements",
            ),
            (Self::ADDRESS, "where a buffer lies was not recorded: only the order of calls was looked at"),
            (
                Self::MEMORY,
                "memory accesses were not recorded: compile with `hayase cc` and record with --memory to know what the \
                 computation reads and writes",
            ),
            (
                Self::SYNCHRONOUS,
                "the call returns only when its receiver has begun to receive; check that the program does not rely on that",
            ),
            (
                Self::OPERATION,
                "what is done with the messages was not looked at: check that it is a sum, a maximum or the like",
            ),
            (
                Self::CONTENT,
                "what came before was read by then: check that neither whether the call is made nor its partner, tag or length depends \
                 on it",
            ),
            (
                Self::PLACE,
                "what is sent is made, or what is received is used, between the first of these calls and the last: check that one place \
                 in between suits both",
            ),
            (
                Self::FOREIGN,
                "the call is made by code that was not instrumented: what that reads and writes before and after it was not seen; \
                 compile it with `hayase cc` too",
            ),
            (Self::THREADS, "other threads run, whose accesses were not seen: check that none of them uses the buffer"),
            (Self::SIGNALS, "the program handles signals: check that no handler uses the buffer"),
            (
                Self::MAPPED,
                "memory is shared with other processes or a file: check that the buffer is not, and that nobody waits there for the message",
            ),
            (
                Self::ERRORS,
                "errors of MPI are returned to the program: check that what follows the call does not depend on the return code",
            ),
            (
                Self::CALLS,
                "calls of functions that were not instrumented could not be seen: check that none of them uses the buffer",
            ),
            (
                Self::WINDOW,
                "other ranks may access memory of this one (a window): check that neither the buffer nor what is computed is in one",
            ),
        ];
        // An interval around a buffer forbids too much, not too little.
        let notes = [
            (
                Self::GAPS,
                "a buffer is not contiguous: the interval from its first to its last byte was assumed; what lies between its elements \
                 may forbid less",
            ),
            (Self::WILDCARD, "the receive takes messages from any rank or with any tag; which comes first may change"),
        ];
        let of = |list: &[(Self, &str)]| -> Vec<String> {
            list.iter().filter(|&&(doubt, _)| self.has(doubt)).map(|&(_, text)| text.to_owned()).collect()
        };
        (of(&checks), of(&notes))
    }
}

/// Bytes of a few integers, at most.
const FEW: u64 = 32;

/// Whether a message of so many bytes may be a length, or a few.
pub fn may_be_length(bytes: u64) -> bool {
    bytes <= FEW && bytes.is_multiple_of(4)
}

/// Sizes of the elements of basic datatypes \[B\].
fn is_basic(element: u32) -> bool {
    matches!(element, 0 | 1 | 2 | 4 | 8 | 12 | 16 | 32)
}

/// The communications of a call: one, two of a sendrecv, none of most.
pub fn communications(event: &Event, known: &Known) -> SmallVec<[Communication; 2]> {
    let gaps = event.flags.has(Flags::GAPS);
    let doubts = if gaps {
        Doubts::GAPS
    } else if is_basic(event.element) || event.flags.has(Flags::DENSE) {
        Doubts::default()
    } else {
        Doubts::DATATYPE
    };
    // How far a buffer with gaps reaches is known of messages alone.
    let reach = (gaps && event.call.kind() != Kind::Sendrecv).then_some(event.bytes2).filter(|&reach| reach > 0);
    let message = |MessageEnd { sends, peer, tag, bytes }: MessageEnd| {
        let (part, write) = if sends { (CallPart::Send, false) } else { (CallPart::Receive, true) };
        // Of a sendrecv, what is received has a buffer of its own.
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
        Kind::Collective | Kind::Icollective => parts.extend(collective(event, known, doubts)),
        _ => event.message_ends().for_each(|end| parts.push(message(end))),
    }
    parts
}

/// What a collective operation reads and writes; `None`: nothing, it only waits.
fn collective(event: &Event, known: &Known, mut doubts: Doubts) -> Option<Communication> {
    let ranks = u64::from(known.communicators.size(event.comm));
    let root = known.communicators.world(event, event.peer) == Some(known.rank);
    let sum = |list: &[u64]| list.iter().fold(0_u64, |sum, bytes| sum.saturating_add(*bytes));
    let all = |block: u64| block.saturating_mul(ranks);
    let Event { bytes, bytes2, .. } = *event;
    if event.flags.has(Flags::INTER) {
        // What a rank gives and gets depends on the group of the root.
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
        // The only buffer that it has.
        into = if into != 0 { into } else { from };
    } else if event.flags.has(Flags::IN_PLACE) {
        // One of the two is not an address but says so.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_doubt_is_to_be_checked_or_a_note_and_said_once() {
        for bit in 0..32 {
            let (checks, notes) = Doubts(1 << bit).sentences();
            assert!(checks.len() + notes.len() <= 1, "{checks:?} {notes:?}");
        }
        let (checks, notes) = Doubts(u32::MAX).sentences();
        assert!(checks.len() > 7 && notes.len() == 2, "{checks:?} {notes:?}");
    }
}

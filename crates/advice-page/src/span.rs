//! Parts of a run: spans of ranks, and messages between them.

use serde::Serialize;

/// Number of kinds of [`Activity`].
pub(crate) const KINDS: usize = 5;

/// Activity of a rank.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
pub enum Activity {
    /// The rank computes.
    Computation,
    /// The rank sends: its processor is busy with it.
    Send,
    /// The rank receives: its processor is busy with it.
    Receive,
    /// The rank waits for others.
    Wait,
    /// The rank takes part in a collective operation, without further detail.
    Collective,
}

impl Activity {
    /// All kinds, in the order in which they are shown.
    pub const ALL: [Self; KINDS] = [Self::Computation, Self::Send, Self::Receive, Self::Wait, Self::Collective];
}

/// Number of a place of the source, from `Run::place`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize)]
pub struct PlaceId(pub(crate) u32);

impl PlaceId {
    /// Unknown place.
    pub const UNKNOWN: Self = Self(0);
}

/// Activity of a rank from one moment to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span<'a> {
    /// Kind of activity.
    pub kind: Activity,
    /// Begin \[ns\].
    pub begin: u64,
    /// End \[ns\].
    pub end: u64,
    /// Place in the source. For computation it is the line that computes or, if that is not known, the line
    /// of the next call.
    pub place: PlaceId,
    /// Number of the call in the rank's trace; `None` for computation. Pieces of one call (sending, then
    /// waiting) share a number.
    pub event: Option<u64>,
    /// Name of the call: `Send`.
    pub call: &'a str,
    /// Other rank, if there is one.
    pub peer: Option<u32>,
    /// Payload \[B\].
    pub bytes: u64,
    /// Tag.
    pub tag: i32,
}

impl Span<'_> {
    /// Creates a span without further detail.
    pub fn new(kind: Activity, begin: u64, end: u64) -> Self {
        Self { kind, begin, end, place: PlaceId::UNKNOWN, event: None, call: "", peer: None, bytes: 0, tag: 0 }
    }
}

/// A message from rank to rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message {
    /// Sender.
    pub from: u32,
    /// Receiver.
    pub to: u32,
    /// Begin of the span that sends it \[ns\].
    pub sent: u64,
    /// End of the span in which it was received \[ns\].
    pub arrived: u64,
    /// Payload \[B\].
    pub bytes: u64,
    /// Tag.
    pub tag: i32,
    /// Place of the send.
    pub from_place: PlaceId,
    /// Place of the receive.
    pub to_place: PlaceId,
}

impl Message {
    /// Creates a message without further detail.
    pub fn new(from: u32, to: u32, sent: u64, arrived: u64) -> Self {
        let (bytes, tag) = (0, 0);
        Self { from, to, sent, arrived, bytes, tag, from_place: PlaceId::UNKNOWN, to_place: PlaceId::UNKNOWN }
    }
}

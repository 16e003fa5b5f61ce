//! What a run is made of: spans of ranks, and messages between them.

use serde::Serialize;

/// How many [`Activity`]s there are.
pub(crate) const KINDS: usize = 5;

/// What a rank does with its time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
pub enum Activity {
    /// It computes.
    Computation,
    /// It sends: its processor is busy with it.
    Send,
    /// It receives: its processor is busy with it.
    Receive,
    /// It waits for others.
    Wait,
    /// It takes part in a collective operation of which no more is known.
    Collective,
}

impl Activity {
    /// All, in the order in which they are shown.
    pub const ALL: [Self; KINDS] = [Self::Computation, Self::Send, Self::Receive, Self::Wait, Self::Collective];
}

/// A place of the source, as `Run::place` numbers it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize)]
pub struct PlaceId(pub(crate) u32);

impl PlaceId {
    /// No place is known.
    pub const UNKNOWN: Self = Self(0);
}

/// What a rank did from one moment to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span<'a> {
    /// What it did.
    pub kind: Activity,
    /// From when \[ns\].
    pub begin: u64,
    /// Until when \[ns\].
    pub end: u64,
    /// Where. Of computation the line that computes or, where that is not known, the line of the call it leads to.
    pub place: PlaceId,
    /// Number of the call in the rank's trace; `None`: no call. Pieces of one call (sending, then waiting) have one
    /// number.
    pub event: Option<u64>,
    /// Name of the call: `Send`.
    pub call: &'a str,
    /// The other rank, where there is one.
    pub peer: Option<u32>,
    /// Payload \[B\].
    pub bytes: u64,
    /// Tag.
    pub tag: i32,
}

impl Span<'_> {
    /// A span of which no more is known.
    pub fn new(kind: Activity, begin: u64, end: u64) -> Self {
        Self { kind, begin, end, place: PlaceId::UNKNOWN, event: None, call: "", peer: None, bytes: 0, tag: 0 }
    }
}

/// A message from rank to rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message {
    /// Who sends.
    pub from: u32,
    /// Who receives.
    pub to: u32,
    /// When sending began \[ns\]: begin of the span that sends.
    pub sent: u64,
    /// When it was received \[ns\]: end of the span in which it was.
    pub arrived: u64,
    /// Payload \[B\].
    pub bytes: u64,
    /// Tag.
    pub tag: i32,
    /// Where it is sent.
    pub from_place: PlaceId,
    /// Where it is received.
    pub to_place: PlaceId,
}

impl Message {
    /// A message of which no more is known.
    pub fn new(from: u32, to: u32, sent: u64, arrived: u64) -> Self {
        let (bytes, tag) = (0, 0);
        Self { from, to, sent, arrived, bytes, tag, from_place: PlaceId::UNKNOWN, to_place: PlaceId::UNKNOWN }
    }
}

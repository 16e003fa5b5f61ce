//! One call of one rank, and the tables it refers to.

use crate::{Call, CallKind};

/// A call of a rank.
///
/// Fields that a call does not have keep the value from [`Event::new`] and take no space.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// Call.
    pub call: Call,
    /// Time at which it was entered \[ns since the start of the stream\]. Times are rounded down to the
    /// header's ticks.
    pub begin: u64,
    /// Time at which it returned \[ns since the start of the stream\].
    pub end: u64,
    /// Processor time since the previous call returned \[ns\], as measured: it includes the clock's own cost.
    /// With several threads it is that of this thread since its own previous call, at first since its
    /// creation.
    pub cpu: Option<u64>,
    /// Number of the calling thread; 0 is the one that initialised MPI.
    pub thread: u32,
    /// Special properties.
    pub flags: Flags,
    /// Call site: an index of the table of sites, plus one; 0 if unknown.
    pub site: u32,
    /// Communicator: an index of the rank's table; 0 is `MPI_COMM_WORLD`.
    pub comm: u32,
    /// Reduction operator.
    pub op: Op,
    /// Size of an element of the datatype \[B\]; 0 if unknown.
    pub element: u32,
    /// Partner or root, a rank of `comm`; [`Event::NOBODY`] if there is none, [`Event::PROC_NULL`].
    pub peer: i32,
    /// Tag.
    pub tag: i32,
    /// Payload \[B\]: of the message; for a collective operation of a rank's own contribution, or of one
    /// block if all blocks have one size (the table in `docs/internals/trace-format.md`).
    pub bytes: u64,
    /// For `Sendrecv`: sender of the message received.
    pub peer2: i32,
    /// For `Sendrecv`: tag of the message received.
    pub tag2: i32,
    /// For `Sendrecv`: size of the message received \[B\]; for collective operations: size of a block
    /// received.
    pub bytes2: u64,
    /// Address of the buffer (the one sent, if there are two); 0 if unknown.
    pub buffer: u64,
    /// Address of the buffer received into, if there are two.
    pub buffer2: u64,
    /// Requests made, started or completed: numbers from 1 in the order in which they were made.
    pub requests: Vec<u64>,
    /// For `Waitany`, `Waitsome`, `Testany`, `Testsome`: all requests offered.
    pub offered: Vec<u64>,
    /// Bytes sent to each rank of the communicator, if they differ.
    pub counts: Vec<u64>,
    /// Bytes received from each rank of the communicator, if they differ.
    pub counts2: Vec<u64>,
}

impl Event {
    /// `peer` of a call that has none.
    pub const NOBODY: i32 = -1;
    /// `peer` of a message to or from `MPI_PROC_NULL`.
    pub const PROC_NULL: i32 = -2;

    /// Creates a call with only its times.
    pub fn new(call: Call, begin: u64, end: u64) -> Self {
        Self {
            call,
            begin,
            end,
            cpu: None,
            thread: 0,
            flags: Flags::default(),
            site: 0,
            comm: 0,
            op: Op::NONE,
            element: 0,
            peer: Self::NOBODY,
            tag: 0,
            bytes: 0,
            peer2: Self::NOBODY,
            tag2: 0,
            bytes2: 0,
            buffer: 0,
            buffer2: 0,
            requests: Vec::new(),
            offered: Vec::new(),
            counts: Vec::new(),
            counts2: Vec::new(),
        }
    }

    /// Returns the bytes that a call moves; for a collective that lists them, those of all members \[B\].
    pub fn all_bytes(&self) -> u64 {
        let list: u64 = match self.call.kind() {
            CallKind::Collective | CallKind::Icollective => self.counts.iter().sum(),
            _ => 0,
        };
        self.bytes.saturating_add(list)
    }

    /// Returns the name of the call in the source: a neighbourhood collective is recorded as its messages.
    pub fn name(&self) -> &'static str {
        self.flags.neighbourhood().unwrap_or_else(|| self.call.name())
    }

    /// Returns the request that the call makes.
    #[inline]
    pub fn request_made(&self) -> Option<u64> {
        if self.call.makes_request() { self.requests.first().copied() } else { None }
    }

    /// Returns the ends of messages of a call, the one sent first. For a call that makes a persistent
    /// request, they are those of a start. Messages to and from [`PROC_NULL`](Self::PROC_NULL) are left out.
    #[inline]
    pub fn message_ends(&self) -> impl Iterator<Item = MessageEnd> + use<> {
        let sends = match self.call.kind() {
            CallKind::Send | CallKind::Isend | CallKind::SendInit | CallKind::Sendrecv => Some(true),
            CallKind::Recv | CallKind::Irecv | CallKind::RecvInit => Some(false),
            _ => None,
        };
        let Self { peer, tag, bytes, .. } = *self;
        let first = sends.filter(|_| peer != Self::PROC_NULL).map(|sends| MessageEnd { sends, peer, tag, bytes });
        let both = self.call.kind() == CallKind::Sendrecv && self.peer2 != Self::PROC_NULL;
        let (peer, tag, bytes) = (self.peer2, self.tag2, self.bytes2);
        first.into_iter().chain(both.then_some(MessageEnd { sends: false, peer, tag, bytes }))
    }
}

/// One end of a message, in a call that sends or receives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MessageEnd {
    /// True if the message is sent, false if it is received.
    pub sends: bool,
    /// Partner, a rank of the call's communicator; [`Event::NOBODY`] if unknown.
    pub peer: i32,
    /// Tag; below 0 if unknown.
    pub tag: i32,
    /// Payload \[B\].
    pub bytes: u64,
}

/// A border of a region named by the program's author: between two calls.
///
/// Marks stand beside the events: a reader that does not know them reads the same calls with the same times.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Mark {
    /// Region: an index of the table of regions.
    pub region: u32,
    /// True if the region begins here, false if it ends.
    pub begins: bool,
    /// Site of the mark: an index of the table of sites, plus one; 0 if unknown.
    pub site: u32,
    /// Time at which the marking was entered \[ns since the start of the stream\].
    pub begin: u64,
    /// Time at which it returned \[ns since the start of the stream\].
    pub end: u64,
    /// Processor time since the previous *call* returned \[ns\], measured as for a call; the time of marks in
    /// between is not included.
    pub cpu: Option<u64>,
}

/// Special properties of a call: a set of bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Flags(pub u16);

impl Flags {
    /// The program received from any source; `peer` is the actual sender.
    pub const ANY_SOURCE: Self = Self(1);
    /// The program received with any tag; `tag` is the actual one.
    pub const ANY_TAG: Self = Self(2);
    /// A collective operation worked in place.
    pub const IN_PLACE: Self = Self(4);
    /// `bytes` is the room for the message; its size is not known.
    pub const CAPACITY: Self = Self(8);
    /// An operation of an inter-communicator: `peer` is a rank of the remote group.
    pub const INTER: Self = Self(16);
    /// The buffer's bytes are not contiguous. For a send or receive alone, `buffer` is the first of them and
    /// `bytes2` the length of their range \[B\], if it is not 0.
    pub const GAPS: Self = Self(32);
    /// The bytes of a datatype that is not basic are known to be contiguous.
    pub const DENSE: Self = Self(64);
    /// With several threads: this one gave its core away before the call, to wait for something outside MPI.
    pub const BLOCKED: Self = Self(128);

    /// Neighbourhood collectives, by their number in the flags of the messages and waits that record them.
    const NEIGHBOURHOOD: &str = " Neighbor_allgather Neighbor_allgatherv Neighbor_alltoall Neighbor_alltoallv \
        Neighbor_alltoallw Ineighbor_allgather Ineighbor_allgatherv Ineighbor_alltoall Ineighbor_alltoallv \
        Ineighbor_alltoallw";

    /// Returns the mark of a message of a neighbourhood collective (`Neighbor_alltoall`); no mark for any
    /// other name.
    pub fn of_neighbourhood(name: &str) -> Self {
        Self(Self::NEIGHBOURHOOD.split(' ').position(|known| known == name).map_or(0, |number| (number as u16) << 8))
    }

    /// Returns the name of the neighbourhood collective that a call is part of.
    pub fn neighbourhood(self) -> Option<&'static str> {
        Self::NEIGHBOURHOOD.split(' ').nth(usize::from(self.0 >> 8 & 15)).filter(|name| !name.is_empty())
    }

    /// Returns the union of two sets.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns true if all bits of `other` are set.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// A reduction operator, by its number in the format.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Op(pub u8);

impl Op {
    /// No operator, or an unknown one.
    pub const NONE: Self = Self(0);
    /// A commutative operator defined by the program.
    pub const USER: Self = Self(20);
    /// A non-commutative operator defined by the program.
    pub const USER_ORDERED: Self = Self(21);

    /// Names by number; `?` is unused.
    const NAMES: &str = "- max min sum prod land band lor bor lxor bxor maxloc minloc replace no_op ? ? ? ? ? user \
                         user-ordered";

    /// Returns the operator with this name (`sum`).
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.split(' ').position(|known| known == name && name != "?").map(|code| Self(code as u8))
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        Self::NAMES.split(' ').nth(self.0.into()).unwrap_or("?")
    }
}

/// A place in the program from which calls are made.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Site {
    /// Return address minus one, in the process; 0 if unknown.
    pub address: u64,
    /// `file:line`, or another known name; empty if there is none yet.
    pub name: String,
    /// Caller of the function that makes the calls, the caller of that one, and so on; empty if unknown. The
    /// same place with other callers is another site.
    pub callers: Vec<Frame>,
}

/// A call on the path to a call site.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Frame {
    /// Return address minus one, in the process; 0 for a line of an interpreted language.
    pub address: u64,
    /// `file:line`, or another known name; empty if there is none yet.
    pub name: String,
}

/// A communicator of a rank.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Communicator {
    /// Id, the same for all members and for no other communicator of the run; 0 if unknown.
    pub id: u64,
    /// Members as ranks of `MPI_COMM_WORLD`, by their rank in it; empty if unknown.
    pub members: Vec<u32>,
    /// Remote group of an inter-communicator.
    pub remote: Vec<u32>,
}

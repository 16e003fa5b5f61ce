//! One call of one rank, and the tables it refers to.

use crate::{Call, Kind};

/// A call of a rank.
///
/// Fields that a call does not have keep the value that [`Event::new`] gives them and cost nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// Which call.
    pub call: Call,
    /// When it was entered \[ns since the start of the stream\]. Times are rounded down to the header's ticks.
    pub begin: u64,
    /// When it returned \[ns since the start of the stream\].
    pub end: u64,
    /// Processor time since the call before returned \[ns\], as measured: the clock's own cost is still in it. Of
    /// several threads: of this one, since its own call before; at first since it was created.
    pub cpu: Option<u64>,
    /// The thread that called, by number; 0: the one that initialised MPI.
    pub thread: u32,
    /// What was special.
    pub flags: Flags,
    /// Where it was called from: an index of the table of sites, plus one; 0: not known.
    pub site: u32,
    /// Communicator: an index of the rank's table; 0 is `MPI_COMM_WORLD`.
    pub comm: u32,
    /// Reduction operator.
    pub op: Op,
    /// Size of an element of the datatype \[B\]; 0: not known.
    pub element: u32,
    /// Partner or root, a rank of `comm`; [`Event::NOBODY`] where there is none, [`Event::PROC_NULL`].
    pub peer: i32,
    /// Tag.
    pub tag: i32,
    /// Payload \[B\]: of the message; of a rank's own contribution to a collective operation, where all blocks are of
    /// one size of one block (the table in `docs/internals/trace-format.md`).
    pub bytes: u64,
    /// Of `Sendrecv`: from whom.
    pub peer2: i32,
    /// Of `Sendrecv`: the tag of the message received.
    pub tag2: i32,
    /// Of `Sendrecv`: the size of the message received \[B\]; of collective operations: a block received.
    pub bytes2: u64,
    /// Address of the buffer (the one sent, where there are two); 0: not known.
    pub buffer: u64,
    /// Address of the buffer received into, where there are two.
    pub buffer2: u64,
    /// The request made, those started, or those completed: numbers from 1 in the order in which they were made.
    pub requests: Vec<u64>,
    /// Of `Waitany`, `Waitsome`, `Testany`, `Testsome`: all requests that were offered.
    pub offered: Vec<u64>,
    /// Bytes sent to each rank of the communicator, where they differ.
    pub counts: Vec<u64>,
    /// Bytes received from each rank of the communicator, where they differ.
    pub counts2: Vec<u64>,
}

impl Event {
    /// The `peer` of a call that has none.
    pub const NOBODY: i32 = -1;
    /// The `peer` of a message that goes nowhere (`MPI_PROC_NULL`).
    pub const PROC_NULL: i32 = -2;

    /// A call without anything but its times.
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

    /// Bytes that a call is about; of a collective those of all members, where it lists them \[B\].
    pub fn all_bytes(&self) -> u64 {
        let list: u64 = match self.call.kind() {
            Kind::Collective | Kind::Icollective => self.counts.iter().sum(),
            _ => 0,
        };
        self.bytes.saturating_add(list)
    }

    /// Returns the name of the call in the source: a neighbourhood collective is recorded as its messages.
    pub fn name(&self) -> &'static str {
        self.flags.neighbourhood().unwrap_or_else(|| self.call.name())
    }

    /// The request that the call makes.
    #[inline]
    pub fn request_made(&self) -> Option<u64> {
        if self.call.makes_request() { self.requests.first().copied() } else { None }
    }

    /// What the call sends, then what it receives; of a call that makes a persistent request, what a start does.
    /// Messages to and from nobody ([`PROC_NULL`](Self::PROC_NULL)) are none.
    #[inline]
    pub fn message_ends(&self) -> impl Iterator<Item = MessageEnd> + use<> {
        let sends = match self.call.kind() {
            Kind::Send | Kind::Isend | Kind::SendInit | Kind::Sendrecv => Some(true),
            Kind::Recv | Kind::Irecv | Kind::RecvInit => Some(false),
            _ => None,
        };
        let Self { peer, tag, bytes, .. } = *self;
        let first = sends.filter(|_| peer != Self::PROC_NULL).map(|sends| MessageEnd { sends, peer, tag, bytes });
        let both = self.call.kind() == Kind::Sendrecv && self.peer2 != Self::PROC_NULL;
        let (peer, tag, bytes) = (self.peer2, self.tag2, self.bytes2);
        first.into_iter().chain(both.then_some(MessageEnd { sends: false, peer, tag, bytes }))
    }
}

/// One end of a message, of a call that sends or receives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MessageEnd {
    /// It is sent; else received.
    pub sends: bool,
    /// The other end, a rank of the call's communicator; [`Event::NOBODY`]: not known.
    pub peer: i32,
    /// Tag; below 0: not known.
    pub tag: i32,
    /// Payload \[B\].
    pub bytes: u64,
}

/// A border of a region that the program's author named: between two calls.
///
/// Marks stand beside the events: whoever knows nothing of them reads the same calls, with the same times.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Mark {
    /// Which region: an index of the table of regions.
    pub region: u32,
    /// Whether it begins here; else it ends.
    pub begins: bool,
    /// Where it was marked: an index of the table of sites, plus one; 0: not known.
    pub site: u32,
    /// When the marking was entered \[ns since the start of the stream\].
    pub begin: u64,
    /// When it returned \[ns since the start of the stream\].
    pub end: u64,
    /// Processor time since the *call* before returned \[ns\], as of a call; that of marks in between is not in it.
    pub cpu: Option<u64>,
}

/// What was special about a call: a set of bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Flags(pub u16);

impl Flags {
    /// The program received from any source; `peer` is who it was.
    pub const ANY_SOURCE: Self = Self(1);
    /// The program received with any tag; `tag` is what it was.
    pub const ANY_TAG: Self = Self(2);
    /// A collective operation worked in place.
    pub const IN_PLACE: Self = Self(4);
    /// `bytes` is how much there was room for; how much came is not known.
    pub const CAPACITY: Self = Self(8);
    /// An operation of an inter-communicator: `peer` is of the remote group.
    pub const INTER: Self = Self(16);
    /// The buffer's bytes do not follow each other: of a send or receive alone, `buffer` is the first of them and
    /// `bytes2` how far they reach \[B\], if it is not 0.
    pub const GAPS: Self = Self(32);
    /// The bytes of a datatype that is not basic are known to follow each other.
    pub const DENSE: Self = Self(64);
    /// Of several threads: this one gave its core away before the call, to wait for something outside MPI.
    pub const BLOCKED: Self = Self(128);

    /// Neighbourhood collectives, by their number in the flags of the messages and waits that they are recorded as.
    const NEIGHBOURHOOD: &str = " Neighbor_allgather Neighbor_allgatherv Neighbor_alltoall Neighbor_alltoallv \
        Neighbor_alltoallw Ineighbor_allgather Ineighbor_allgatherv Ineighbor_alltoall Ineighbor_alltoallv \
        Ineighbor_alltoallw";

    /// Returns the mark of a message of a neighbourhood collective (`Neighbor_alltoall`); none for any other name.
    pub fn of_neighbourhood(name: &str) -> Self {
        Self(Self::NEIGHBOURHOOD.split(' ').position(|known| known == name).map_or(0, |number| (number as u16) << 8))
    }

    /// Returns the name of the neighbourhood collective that a call is a part of.
    pub fn neighbourhood(self) -> Option<&'static str> {
        Self::NEIGHBOURHOOD.split(' ').nth(usize::from(self.0 >> 8 & 15)).filter(|name| !name.is_empty())
    }

    /// Both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all bits of `other` are set.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// A reduction operator, by its number in the format.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Op(pub u8);

impl Op {
    /// None, or not known.
    pub const NONE: Self = Self(0);
    /// One that the program defines, commutative.
    pub const USER: Self = Self(20);
    /// One that the program defines, not commutative.
    pub const USER_ORDERED: Self = Self(21);

    /// Names by number; `?`: not used.
    const NAMES: &str = "- max min sum prod land band lor bor lxor bxor maxloc minloc replace no_op ? ? ? ? ? user \
                         user-ordered";

    /// The operator with this name (`sum`).
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.split(' ').position(|known| known == name && name != "?").map(|code| Self(code as u8))
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::NAMES.split(' ').nth(self.0.into()).unwrap_or("?")
    }
}

/// A place in the program from which calls are made.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Site {
    /// Return address minus one, as the process saw it; 0: not known.
    pub address: u64,
    /// `file:line`, or what else is known; empty: nothing yet.
    pub name: String,
    /// Who called the function that makes the calls, who called that, and so on; empty where that is not known. The
    /// same place with other callers is another site.
    pub callers: Vec<Frame>,
}

/// A call on the way to a call site.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Frame {
    /// Return address minus one, as the process saw it; 0: it has none, being a line of an interpreted language.
    pub address: u64,
    /// `file:line`, or what else is known; empty: nothing yet.
    pub name: String,
}

/// A communicator of a rank.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Communicator {
    /// The same for all members and for no other communicator of the run; 0: not known.
    pub id: u64,
    /// Its members as ranks of `MPI_COMM_WORLD`, by their rank in it; empty: not known.
    pub members: Vec<u32>,
    /// Of an inter-communicator: the remote group.
    pub remote: Vec<u32>,
}

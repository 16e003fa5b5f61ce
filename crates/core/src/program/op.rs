//! One operation of a rank: compact in 24 bytes, and as an enum for those who read it.

use crate::ids::RankId;
use crate::node::Role;
use crate::units::Time;

/// Any source: the peer of a receive that takes messages from all ranks.
pub const ANY_SOURCE: u32 = u32::MAX;
/// Any tag: the tag of a receive that takes messages of all tags.
pub const ANY_TAG: u32 = u32::MAX;

/// Kind of an operation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Named)]
#[repr(u8)]
pub enum OpKind {
    /// Computes for some time.
    Calc,
    /// Sends, and returns when the buffer may be used again.
    Send,
    /// Starts a send.
    Isend,
    /// Receives, and returns when the message has arrived.
    Recv,
    /// Starts a receive.
    Irecv,
    /// Waits for one request.
    Wait,
    /// Waits for all requests of a list.
    Waitall,
    /// Waits until one request of a list is complete.
    Waitany,
    /// Waits until at least one request of a list is complete, and completes all that are.
    Waitsome,
    /// Tests if a request is complete.
    Test,
    /// Waits until a matching message has arrived, without receiving it.
    Probe,
    /// Runs a collective operation.
    Collective,
    /// Starts a collective operation.
    Icollective,
}

impl OpKind {
    /// Returns true for a collective operation, blocking or not.
    pub fn is_collective(self) -> bool {
        matches!(self, Self::Collective | Self::Icollective)
    }

    /// Returns true if it starts something that another operation waits for.
    pub fn is_nonblocking(self) -> bool {
        matches!(self, Self::Isend | Self::Irecv | Self::Icollective)
    }
}

/// One operation of a rank in its compact form: 24 bytes, so that three million of them fit in 72 MB.
///
/// The meaning of `peer`, `tag`, `arg` and `size` depends on the kind; see [`Op::action`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Op {
    /// Kind of the operation.
    pub kind: OpKind,
    /// Marks: [`Op::WITHIN_CALL`], [`Op::OPEN_SOURCE`], [`Op::OPEN_TAG`], [`Op::POSTED`], [`Op::EXCHANGE`],
    /// [`Op::ONE_PARTNER`].
    pub marks: u8,
    /// Processor of the rank that executes it (in a graph; else 0).
    pub cpu: u8,
    /// Network interface of the rank that executes it (in a graph; else 0).
    pub nic: u8,
    /// Peer, as a rank of the world, or [`ANY_SOURCE`].
    pub peer: u32,
    /// Tag, or [`ANY_TAG`].
    pub tag: u32,
    /// Messages: the communicator. Waits and tests of one request: the operation that started it. Waits for
    /// several: the start of their list. Collectives, blocking or not: the number of the collective.
    pub arg: u32,
    /// Messages: bytes. Calculations: bits of the duration in picoseconds. Lists: their length.
    pub size: u64,
}

const _: () = assert!(size_of::<Op>() == 24);

/// An operation with named fields.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Action {
    /// Computes.
    Calc(Time),
    /// Sends a message.
    Send {
        /// True if the send only starts here and another operation waits for its end.
        nonblocking: bool,
        /// Receiver, tag and communicator.
        to: Envelope,
        /// Size of the message \[B\].
        bytes: u64,
    },
    /// Receives a message.
    Recv {
        /// True if the receive only starts here and another operation waits for its end.
        nonblocking: bool,
        /// Messages that the receive takes.
        from: Envelope,
        /// Expected size \[B\]; the size of the message itself decides.
        bytes: u64,
    },
    /// Waits until a matching message has arrived.
    Probe(Envelope),
    /// Waits for a request: the position of the operation that started it.
    Wait(u32),
    /// Tests a request: the position of the operation that started it.
    Test(u32),
    /// Waits for several requests: `first .. first + count` of the rank's [lists](super::RankProgram::list).
    WaitList {
        /// Kind of the wait: for all, any or some.
        kind: OpKind,
        /// Start of the list.
        first: u32,
        /// Length of the list.
        count: u32,
    },
    /// Runs a collective: its number in [`Program::collectives`](super::Program::collectives).
    Collective(u32),
    /// Starts a collective; another operation waits for its end.
    Icollective(u32),
}

/// Peer, tag and communicator of a message.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Envelope {
    /// Peer, as a rank of the world, or [`ANY_SOURCE`].
    pub peer: u32,
    /// Tag, or [`ANY_TAG`].
    pub tag: u32,
    /// Communicator: its number in [`Program::communicators`](super::Program::communicators).
    pub comm: u32,
}

impl Envelope {
    /// Creates an envelope in the communicator of all ranks.
    pub fn world(peer: u32, tag: u32) -> Self {
        Self { peer, tag, comm: 0 }
    }

    /// Returns the peer, unless it is a wildcard.
    pub fn rank(self) -> Option<RankId> {
        (self.peer != ANY_SOURCE).then_some(RankId(self.peer))
    }
}

impl Op {
    /// Set if the operation is part of a call that is charged elsewhere, so that posting it costs nothing. In
    /// a sendrecv the posting of the receive and the wait are free, and only the receive itself costs.
    pub const WITHIN_CALL: u8 = 1;
    /// Set if the program left the source open: `peer` is the source in the recorded run.
    pub const OPEN_SOURCE: u8 = 2;
    /// Set if the program left the tag open: `tag` is the tag in the recorded run.
    pub const OPEN_TAG: u8 = 4;
    /// Set if a blocking send returns once it is posted, while its bytes may still be leaving the node.
    pub const POSTED: u8 = 8;
    /// Set if a send is part of a call that also receives.
    pub const EXCHANGE: u8 = 16;
    /// Set if the call of an exchange receives from the rank that it sends to.
    pub const ONE_PARTNER: u8 = 32;

    const fn new(kind: OpKind) -> Self {
        Self { kind, marks: 0, cpu: 0, nic: 0, peer: 0, tag: 0, arg: 0, size: 0 }
    }

    /// Creates a calculation of this duration.
    pub fn calc(duration: Time) -> Self {
        Self { size: duration.ps().to_bits(), ..Self::new(OpKind::Calc) }
    }

    /// Creates a blocking send.
    pub fn send(to: Envelope, bytes: u64) -> Self {
        Self::message(OpKind::Send, to, bytes)
    }

    /// Creates a non-blocking send.
    pub fn isend(to: Envelope, bytes: u64) -> Self {
        Self::message(OpKind::Isend, to, bytes)
    }

    /// Creates a blocking receive.
    pub fn recv(from: Envelope, bytes: u64) -> Self {
        Self::message(OpKind::Recv, from, bytes)
    }

    /// Creates a non-blocking receive.
    pub fn irecv(from: Envelope, bytes: u64) -> Self {
        Self::message(OpKind::Irecv, from, bytes)
    }

    /// Creates a probe.
    pub fn probe(from: Envelope) -> Self {
        Self::message(OpKind::Probe, from, 0)
    }

    /// Creates a wait for the request that operation `started` of the rank started.
    pub fn wait(started: u32) -> Self {
        Self { arg: started, ..Self::new(OpKind::Wait) }
    }

    /// Creates a test of the request that operation `started` of the rank started.
    pub fn test(started: u32) -> Self {
        Self { arg: started, ..Self::new(OpKind::Test) }
    }

    /// Creates a collective from its number in the program's list.
    pub fn collective(number: u32) -> Self {
        Self { arg: number, ..Self::new(OpKind::Collective) }
    }

    /// Creates a non-blocking collective from its number in the program's list.
    pub fn icollective(number: u32) -> Self {
        Self { arg: number, ..Self::new(OpKind::Icollective) }
    }

    pub(super) fn list(kind: OpKind, first: u32, count: u32) -> Self {
        Self { arg: first, size: count.into(), ..Self::new(kind) }
    }

    fn message(kind: OpKind, envelope: Envelope, bytes: u64) -> Self {
        Self { peer: envelope.peer, tag: envelope.tag, arg: envelope.comm, size: bytes, ..Self::new(kind) }
    }

    /// Returns the operation with these marks added.
    #[must_use]
    pub fn marked(mut self, marks: u8) -> Self {
        self.marks |= marks;
        self
    }

    /// Returns the send as part of a call that also receives, from the rank `from`.
    #[must_use]
    pub fn receiving(self, from: u32) -> Self {
        self.marked(if self.peer == from { Self::EXCHANGE | Self::ONE_PARTNER } else { Self::EXCHANGE })
    }

    /// Returns the operation on this processor and interface of the rank.
    #[must_use]
    pub fn on(mut self, cpu: u8, nic: u8) -> Self {
        (self.cpu, self.nic) = (cpu, nic);
        self
    }

    /// Returns true if the program left the source or the tag open and the recorded run fills it in.
    #[inline]
    pub fn is_pinned(&self) -> bool {
        self.marks & (Self::OPEN_SOURCE | Self::OPEN_TAG) != 0
    }

    /// Returns the operation as the program wrote it, with source and tag open again.
    #[must_use]
    pub fn unpinned(mut self) -> Self {
        if self.marks & Self::OPEN_SOURCE != 0 {
            self.peer = ANY_SOURCE;
        }
        if self.marks & Self::OPEN_TAG != 0 {
            self.tag = ANY_TAG;
        }
        self.marks &= !(Self::OPEN_SOURCE | Self::OPEN_TAG);
        self
    }

    /// Returns true if posting it is charged elsewhere.
    #[inline]
    pub fn is_within_call(&self) -> bool {
        self.marks & Self::WITHIN_CALL != 0
    }

    /// Returns true for a send that returns once it is posted.
    #[inline]
    pub fn is_posted(&self) -> bool {
        self.marks & Self::POSTED != 0
    }

    /// Returns the part of a send in its call.
    #[inline]
    pub fn role(&self) -> Role {
        match self.marks & (Self::EXCHANGE | Self::ONE_PARTNER) {
            0 => Role::OneWay,
            Self::EXCHANGE => Role::Step,
            _ => Role::Swap,
        }
    }

    /// Duration of a calculation.
    #[inline]
    pub fn duration(&self) -> Time {
        debug_assert_eq!(self.kind, OpKind::Calc);
        Time::from_ps(f64::from_bits(self.size))
    }

    /// Returns the envelope of a send, receive or probe.
    #[inline]
    pub fn envelope(&self) -> Envelope {
        Envelope { peer: self.peer, tag: self.tag, comm: self.arg }
    }

    /// Returns the operation with named fields.
    pub fn action(&self) -> Action {
        match self.kind {
            OpKind::Calc => Action::Calc(self.duration()),
            OpKind::Send | OpKind::Isend => {
                Action::Send { nonblocking: self.kind == OpKind::Isend, to: self.envelope(), bytes: self.size }
            }
            OpKind::Recv | OpKind::Irecv => {
                Action::Recv { nonblocking: self.kind == OpKind::Irecv, from: self.envelope(), bytes: self.size }
            }
            OpKind::Probe => Action::Probe(self.envelope()),
            OpKind::Wait => Action::Wait(self.arg),
            OpKind::Test => Action::Test(self.arg),
            OpKind::Waitall | OpKind::Waitany | OpKind::Waitsome => {
                Action::WaitList { kind: self.kind, first: self.arg, count: self.size as u32 }
            }
            OpKind::Collective => Action::Collective(self.arg),
            OpKind::Icollective => Action::Icollective(self.arg),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_says_what_was_put_into_it() {
        let to = Envelope { peer: 3, tag: 7, comm: 2 };
        assert_eq!(Op::isend(to, 100).action(), Action::Send { nonblocking: true, to, bytes: 100 });
        assert_eq!(Op::calc(Time::from_ps(1.5)).action(), Action::Calc(Time::from_ps(1.5)));
        assert_eq!(Op::wait(4).action(), Action::Wait(4));
        assert_eq!(Op::recv(Envelope::world(ANY_SOURCE, ANY_TAG), 0).envelope().rank(), None);
    }
}

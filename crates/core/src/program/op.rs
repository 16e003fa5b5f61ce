//! One operation of a rank, in 24 bytes, and the same as an enum for those who read it.

use crate::ids::RankId;
use crate::units::Time;

/// Any source: the peer of a receive that takes a message from whoever sends one.
pub const ANY_SOURCE: u32 = u32::MAX;
/// Any tag: the tag of a receive that takes a message of any tag.
pub const ANY_TAG: u32 = u32::MAX;

/// What an operation is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Named)]
#[repr(u8)]
pub enum OpKind {
    /// Computes for a while.
    Calc,
    /// Sends, and goes on when the buffer may be used again.
    Send,
    /// Starts a send.
    Isend,
    /// Receives, and goes on when the message is there.
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
    /// Asks whether a request is complete.
    Test,
    /// Waits until a message that could be received is there, without receiving it.
    Probe,
    /// A collective operation.
    Collective,
    /// Starts a collective operation.
    Icollective,
}

impl OpKind {
    /// Whether it is a collective operation, here or from here on.
    pub fn is_collective(self) -> bool {
        matches!(self, Self::Collective | Self::Icollective)
    }

    /// Whether it starts something that another operation waits for.
    pub fn is_nonblocking(self) -> bool {
        matches!(self, Self::Isend | Self::Irecv | Self::Icollective)
    }
}

/// One operation of a rank, as it is kept: 24 bytes, so that three million of them fit in 72 MB.
///
/// What `peer`, `tag`, `arg` and `size` mean depends on the kind; [`Op::action`] says it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Op {
    /// What it is.
    pub kind: OpKind,
    /// Marks: [`Op::WITHIN_CALL`], [`Op::OPEN_SOURCE`], [`Op::OPEN_TAG`].
    pub marks: u8,
    /// The processor of the rank that does it (in a graph; 0 elsewhere).
    pub cpu: u8,
    /// The network interface of the rank that does it (in a graph; 0 elsewhere).
    pub nic: u8,
    /// The other side, as a rank of the world; [`ANY_SOURCE`].
    pub peer: u32,
    /// The tag; [`ANY_TAG`].
    pub tag: u32,
    /// Messages: the communicator. Waits and tests of one request: the operation that started it. Of several: where
    /// their list starts. Collectives, also those that only start: which one.
    pub arg: u32,
    /// Messages: bytes. Calculations: bits of the duration in picoseconds. Lists: their length.
    pub size: u64,
}

const _: () = assert!(size_of::<Op>() == 24);

/// An operation, spelled out.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Action {
    /// Computes.
    Calc(Time),
    /// Sends; the flag is set where another operation waits for its end.
    Send {
        /// Whether it only starts here.
        nonblocking: bool,
        /// Where the message goes.
        to: Envelope,
        /// How large it is \[B\].
        bytes: u64,
    },
    /// Receives; the flag is set where another operation waits for its end.
    Recv {
        /// Whether it only starts here.
        nonblocking: bool,
        /// Which messages it takes.
        from: Envelope,
        /// How large it says they are \[B\]; the message itself decides.
        bytes: u64,
    },
    /// Looks for a message.
    Probe(Envelope),
    /// Waits for a request: the position of the operation that started it.
    Wait(u32),
    /// Asks for a request: the position of the operation that started it.
    Test(u32),
    /// Waits for several: `first .. first + count` of the rank's [lists](super::RankProgram::list).
    WaitList {
        /// All, any or some.
        kind: OpKind,
        /// Where the list starts.
        first: u32,
        /// How long it is.
        count: u32,
    },
    /// A collective: its number in [`Program::collectives`](super::Program::collectives).
    Collective(u32),
    /// The same, which only starts here; another operation waits for its end.
    Icollective(u32),
}

/// Who, with what tag, in which communicator.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Envelope {
    /// The other side as a rank of the world; [`ANY_SOURCE`].
    pub peer: u32,
    /// The tag; [`ANY_TAG`].
    pub tag: u32,
    /// The communicator: its number in [`Program::communicators`](super::Program::communicators).
    pub comm: u32,
}

impl Envelope {
    /// In the communicator of all ranks.
    pub fn world(peer: u32, tag: u32) -> Self {
        Self { peer, tag, comm: 0 }
    }

    /// The other side, if it is a certain one.
    pub fn rank(self) -> Option<RankId> {
        (self.peer != ANY_SOURCE).then_some(RankId(self.peer))
    }
}

impl Op {
    /// The operation is part of a call that is charged for elsewhere: posting it costs nothing (the two halves of a
    /// sendrecv: its receive is posted and waited for, and only the receive itself costs).
    pub const WITHIN_CALL: u8 = 1;
    /// The program left open from whom: `peer` is who it was in the run that was recorded.
    pub const OPEN_SOURCE: u8 = 2;
    /// The program left the tag open: `tag` is what came in the run that was recorded.
    pub const OPEN_TAG: u8 = 4;

    const fn new(kind: OpKind) -> Self {
        Self { kind, marks: 0, cpu: 0, nic: 0, peer: 0, tag: 0, arg: 0, size: 0 }
    }

    /// Computes for a while.
    pub fn calc(duration: Time) -> Self {
        Self { size: duration.ps().to_bits(), ..Self::new(OpKind::Calc) }
    }

    /// Sends.
    pub fn send(to: Envelope, bytes: u64) -> Self {
        Self::message(OpKind::Send, to, bytes)
    }

    /// Starts a send.
    pub fn isend(to: Envelope, bytes: u64) -> Self {
        Self::message(OpKind::Isend, to, bytes)
    }

    /// Receives.
    pub fn recv(from: Envelope, bytes: u64) -> Self {
        Self::message(OpKind::Recv, from, bytes)
    }

    /// Starts a receive.
    pub fn irecv(from: Envelope, bytes: u64) -> Self {
        Self::message(OpKind::Irecv, from, bytes)
    }

    /// Looks for a message.
    pub fn probe(from: Envelope) -> Self {
        Self::message(OpKind::Probe, from, 0)
    }

    /// Waits for what operation `started` of the rank started.
    pub fn wait(started: u32) -> Self {
        Self { arg: started, ..Self::new(OpKind::Wait) }
    }

    /// Asks for what operation `started` of the rank started.
    pub fn test(started: u32) -> Self {
        Self { arg: started, ..Self::new(OpKind::Test) }
    }

    /// A collective: its number in the program's list.
    pub fn collective(number: u32) -> Self {
        Self { arg: number, ..Self::new(OpKind::Collective) }
    }

    /// Starts a collective: its number in the program's list.
    pub fn icollective(number: u32) -> Self {
        Self { arg: number, ..Self::new(OpKind::Icollective) }
    }

    pub(super) fn list(kind: OpKind, first: u32, count: u32) -> Self {
        Self { arg: first, size: count.into(), ..Self::new(kind) }
    }

    fn message(kind: OpKind, envelope: Envelope, bytes: u64) -> Self {
        Self { peer: envelope.peer, tag: envelope.tag, arg: envelope.comm, size: bytes, ..Self::new(kind) }
    }

    /// The same with these marks.
    #[must_use]
    pub fn marked(mut self, marks: u8) -> Self {
        self.marks |= marks;
        self
    }

    /// The same on this processor and interface of the rank.
    #[must_use]
    pub fn on(mut self, cpu: u8, nic: u8) -> Self {
        (self.cpu, self.nic) = (cpu, nic);
        self
    }

    /// Whether the program left anything of it open, and it is known what came.
    #[inline]
    pub fn is_pinned(&self) -> bool {
        self.marks & (Self::OPEN_SOURCE | Self::OPEN_TAG) != 0
    }

    /// As the program wrote it: what it left open is open again.
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

    /// Whether posting it is charged for elsewhere.
    #[inline]
    pub fn is_within_call(&self) -> bool {
        self.marks & Self::WITHIN_CALL != 0
    }

    /// The duration of a calculation.
    #[inline]
    pub fn duration(&self) -> Time {
        debug_assert_eq!(self.kind, OpKind::Calc);
        Time::from_ps(f64::from_bits(self.size))
    }

    /// Who, with what tag, where: of a send, receive or probe.
    #[inline]
    pub fn envelope(&self) -> Envelope {
        Envelope { peer: self.peer, tag: self.tag, comm: self.arg }
    }

    /// The operation, spelled out.
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

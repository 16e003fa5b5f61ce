//! What ranks do, and who looks on.

use crate::ids::RankId;
use crate::program::Mark;
use crate::units::Time;

/// What a rank does for a while.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ActivityKind {
    /// It computes.
    Compute,
    /// It sends: the processor is busy.
    SendOverhead,
    /// It receives: the processor is busy.
    RecvOverhead,
    /// It waits for a receiver.
    SendWait,
    /// It waits for a message.
    RecvWait,
    /// It exchanges request and answer of a rendezvous.
    Sync,
}

impl ActivityKind {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 6] =
        [Self::Compute, Self::SendOverhead, Self::RecvOverhead, Self::SendWait, Self::RecvWait, Self::Sync];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::SendOverhead => "send overhead",
            Self::RecvOverhead => "receive overhead",
            Self::SendWait => "send wait",
            Self::RecvWait => "receive wait",
            Self::Sync => "synchronisation",
        }
    }
}

/// A span of a rank's time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Activity {
    /// Whose.
    pub rank: RankId,
    /// What it does.
    pub kind: ActivityKind,
    /// From when.
    pub begin: Time,
    /// Until when.
    pub end: Time,
    /// The operation: its position in the rank's program (that of the collective, inside one).
    pub op: u32,
    /// The message it is for, by number in order of sending; the same at both ends.
    pub message: Option<u32>,
    /// The other end of that message.
    pub peer: Option<RankId>,
}

/// Called with each activity when it has ended; those of one rank come in order of time.
pub type OnActivity<'a> = &'a mut dyn FnMut(&Activity);

/// The way of a message, from the call that sends it until it is received.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Transfer {
    /// Its number in order of sending, as in [`Activity::message`].
    pub message: u32,
    /// Who sends it.
    pub src: RankId,
    /// Who receives it.
    pub dst: RankId,
    /// Its length \[B\].
    pub bytes: u64,
    /// The operation that sends it; `None` inside a collective.
    pub op: Option<u32>,
    /// The operation that receives it; `None` inside a collective, and where the node model does not say it.
    pub received_by: Option<u32>,
    /// When its send is called.
    pub called: Time,
    /// When the sender's overhead for its bytes begins; later than `called` where the sender waits for the receiver.
    pub begin: Time,
    /// Whether `begin` waited for the receiver: a rendezvous.
    pub waited: bool,
    /// When it leaves the sender.
    pub leave: Time,
    /// When its last byte arrives.
    pub arrive: Time,
    /// When the receiver is done with it.
    pub end: Time,
}

/// Called with each border of a region when its rank comes to it; those of one rank, and its activities, come in their
/// order in the program.
pub type OnMark<'a> = &'a mut dyn FnMut(RankId, &Mark, Time);

/// Who looks on while a program is played.
#[derive(Default)]
pub struct Observers<'a> {
    /// Called with everything that ranks do.
    pub on_activity: Option<OnActivity<'a>>,
    /// Called with every message that is received.
    pub on_transfer: Option<OnTransfer<'a>>,
    /// Called with every border of a region.
    pub on_mark: Option<OnMark<'a>>,
}

/// Called with each message when it has been received.
pub type OnTransfer<'a> = &'a mut dyn FnMut(&Transfer);

/// Where a rank's time went; of several threads in the mean.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct RankTimes {
    /// When its last operation ended.
    pub end: Time,
    spent: [Time; 6],
}

impl RankTimes {
    /// The time spent on one kind of activity.
    pub fn of(&self, kind: ActivityKind) -> Time {
        self.spent[kind as usize]
    }

    #[inline]
    pub(super) fn add(&mut self, kind: ActivityKind, time: Time) {
        self.spent[kind as usize] += time;
    }

    /// Returns the times of one of so many threads, in the mean.
    pub(super) fn a_thread(self, threads: u32) -> Self {
        match threads {
            0 | 1 => self,
            _ => Self { spent: self.spent.map(|time| Time::from_ps(time.ps() / f64::from(threads))), ..self },
        }
    }

    /// Time spent on something, one thing after the other: all of it ends so much later.
    pub fn spend(&mut self, kind: ActivityKind, time: Time) {
        self.add(kind, time);
        self.end += time;
    }
}

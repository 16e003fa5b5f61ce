//! Activities of ranks, and the observers of a run.

use crate::ids::RankId;
use crate::program::Mark;
use crate::units::Time;

/// Kind of an activity of a rank.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ActivityKind {
    /// The rank computes.
    Compute,
    /// The processor is busy with sending.
    SendOverhead,
    /// The processor is busy with receiving.
    RecvOverhead,
    /// The rank waits for a receiver.
    SendWait,
    /// The rank waits for a message.
    RecvWait,
    /// The rank exchanges request and answer of a rendezvous.
    Sync,
}

impl ActivityKind {
    /// All kinds, in the order in which they are shown.
    pub const ALL: [Self; 6] =
        [Self::Compute, Self::SendOverhead, Self::RecvOverhead, Self::SendWait, Self::RecvWait, Self::Sync];

    /// Name of the kind.
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

/// A span of a rank's time spent on one activity.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Activity {
    /// Rank whose time it is.
    pub rank: RankId,
    /// Kind of the activity.
    pub kind: ActivityKind,
    /// Begin of the span.
    pub begin: Time,
    /// End of the span.
    pub end: Time,
    /// Position of the operation in the rank's program; inside a collective, that of the collective.
    pub op: u32,
    /// Message that the time is spent on, by number in order of sending; the same number at both ends.
    pub message: Option<u32>,
    /// Rank at the other end of that message.
    pub peer: Option<RankId>,
}

/// Callback for each activity when it has ended; those of one rank come in order of time.
pub type OnActivity<'a> = &'a mut dyn FnMut(&Activity);

/// A message's transfer, from the call that sends it until it is received.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Transfer {
    /// Number of the message in order of sending, as in [`Activity::message`].
    pub message: u32,
    /// Sender.
    pub src: RankId,
    /// Receiver.
    pub dst: RankId,
    /// Size of the message \[B\].
    pub bytes: u64,
    /// Operation that sends it; `None` inside a collective.
    pub op: Option<u32>,
    /// Operation that receives it; `None` inside a collective, and if the node model does not know it.
    pub received_by: Option<u32>,
    /// Time at which its send is called.
    pub called: Time,
    /// Begin of the sender's overhead for its bytes; later than `called` if the sender waits for the
    /// receiver.
    pub begin: Time,
    /// True if `begin` waited for the receiver: a rendezvous.
    pub waited: bool,
    /// Time at which it leaves the sender.
    pub leave: Time,
    /// Time at which its last byte arrives.
    pub arrive: Time,
    /// End of the receiver's overhead.
    pub end: Time,
}

/// Callback for each border of a region when its rank comes to it. The borders and activities of one rank
/// come in their order in the program.
pub type OnMark<'a> = &'a mut dyn FnMut(RankId, &Mark, Time);

/// Observers of a run.
#[derive(Default)]
pub struct Observers<'a> {
    /// Called with every activity of a rank.
    pub on_activity: Option<OnActivity<'a>>,
    /// Called with every message that is received.
    pub on_transfer: Option<OnTransfer<'a>>,
    /// Called with every border of a region.
    pub on_mark: Option<OnMark<'a>>,
    /// Called with the end of every operation of a graph.
    pub on_done: Option<OnDone<'a>>,
}

/// Callback for the end of an operation of a graph, by its position.
pub type OnDone<'a> = &'a mut dyn FnMut(RankId, u32, Time);

/// Callback for each message when it has been received.
pub type OnTransfer<'a> = &'a mut dyn FnMut(&Transfer);

/// Time of a rank by kind of activity; for several threads, the mean of the threads.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct RankTimes {
    /// End of its last operation.
    pub end: Time,
    spent: [Time; 6],
}

impl RankTimes {
    /// Time spent on one kind of activity.
    pub fn of(&self, kind: ActivityKind) -> Time {
        self.spent[kind as usize]
    }

    #[inline]
    pub(super) fn add(&mut self, kind: ActivityKind, time: Time) {
        self.spent[kind as usize] += time;
    }

    /// Divides the sums over `threads` threads, so that they are the mean of one thread.
    pub(super) fn mean_of_threads(self, threads: u32) -> Self {
        match threads {
            0 | 1 => self,
            _ => Self { spent: self.spent.map(|time| Time::from_ps(time.ps() / f64::from(threads))), ..self },
        }
    }

    /// Adds time spent on an activity after everything before it; the end moves by the same time.
    pub fn spend(&mut self, kind: ActivityKind, time: Time) {
        self.add(kind, time);
        self.end += time;
    }
}

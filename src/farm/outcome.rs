//! What happened in a run of a master and its workers.

use std::collections::VecDeque;

use crate::units::Time;

/// What happened, in sum.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Outcome {
    /// The master's clock at the end: the predicted time.
    pub time: Time,
    /// Messages with tasks that were sent; what was lost and sent again counts again.
    pub messages: u64,
    /// By master, the master of masters last: how long it was busy.
    pub masters: Vec<Time>,
    /// By worker.
    pub workers: Vec<WorkerUse>,
    /// How long results waited at the masters, summed.
    pub waited: Time,
    /// Most results that waited at one master at once.
    pub most_waiting: u32,
    /// When the last task was given out for the first time.
    pub dealt: Time,
    /// Messages with tasks that were lost with their worker and sent again.
    pub repeated: u64,
    /// Time that lost workers had computed for nothing.
    pub wasted: Time,
    /// Tasks that are not done, since all workers were lost.
    pub undone: u32,
}

/// What one worker did.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct WorkerUse {
    /// Time it computed tasks whose results it sent.
    pub busy: Time,
    /// Those tasks.
    pub tasks: u32,
    /// When the last of these results arrived at the master.
    pub last: Time,
}

/// One message with tasks, from the master to a worker and back.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Turn {
    /// Who computed.
    pub worker: u32,
    /// Position of the first task in the list.
    pub first: u32,
    /// How many tasks.
    pub tasks: u32,
    /// When the master was free to send it.
    pub given: Time,
    /// When the worker began to compute.
    pub start: Time,
    /// When it had computed.
    pub end: Time,
    /// When the result was at the master; [`Time::NEVER`] if the worker was lost.
    pub back: Time,
}

/// Sees every turn, in the order in which the master gives them out.
pub trait TurnLog {
    /// A message with tasks goes out.
    fn turn(&mut self, turn: Turn);
}

/// Keeps nothing.
impl TurnLog for () {
    #[inline]
    fn turn(&mut self, _: Turn) {}
}

/// Keeps everything.
impl TurnLog for Vec<Turn> {
    fn turn(&mut self, turn: Turn) {
        self.push(turn);
    }
}

/// How many results wait at a master that serves them in the order of their arrival.
///
/// A result waits from its arrival to the start of its service. Those that wait when one arrives are the earlier ones
/// that have not been started by then.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    starts: VecDeque<Time>,
    pub(super) total: Time,
    pub(super) most: u32,
}

impl Waiting {
    /// A result that arrived is served from `start` on; in order of arrival.
    #[inline]
    pub(super) fn served(&mut self, arrived: Time, start: Time) {
        if start.ps() <= arrived.ps() {
            return;
        }
        self.total += start - arrived;
        while self.starts.front().is_some_and(|first| first.ps() <= arrived.ps()) {
            self.starts.pop_front();
        }
        self.starts.push_back(start);
        self.most = self.most.max(self.starts.len() as u32);
    }
}

impl Outcome {
    /// Time computed by all workers together.
    pub fn busy(&self) -> Time {
        self.workers.iter().map(|worker| worker.busy).sum()
    }

    /// Tasks done.
    pub fn tasks(&self) -> u64 {
        self.workers.iter().map(|worker| u64::from(worker.tasks)).sum()
    }

    /// Adds what another master did with other workers at the same time; worker i of `group` is `workers[i]` here.
    pub(super) fn join(&mut self, other: Self, worker: impl Fn(usize) -> usize) {
        self.time = self.time.max(other.time);
        self.messages += other.messages;
        self.masters.extend(other.masters);
        for (i, used) in other.workers.into_iter().enumerate() {
            self.workers[worker(i)] = used;
        }
        self.waited += other.waited;
        self.most_waiting = self.most_waiting.max(other.most_waiting);
        self.dealt = self.dealt.max(other.dealt);
        self.repeated += other.repeated;
        self.wasted += other.wasted;
        self.undone += other.undone;
    }
}

//! Outcome of a run of a master and its workers.

use std::collections::VecDeque;

use crate::units::Time;

/// Figures of a whole run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Outcome {
    /// The master's clock at the end, which is the predicted time.
    pub time: Time,
    /// Number of messages with tasks. Messages that were lost and sent again count again.
    pub messages: u64,
    /// Time that each master was busy, the master of masters last.
    pub masters: Vec<Time>,
    /// Figures of each worker.
    pub workers: Vec<WorkerUse>,
    /// Sum of the times that results waited at the masters.
    pub waited: Time,
    /// Largest number of results that waited at one master at the same time.
    pub most_waiting: u32,
    /// Time at which the last task was dealt for the first time.
    pub dealt: Time,
    /// Number of messages with tasks that were lost with their worker and sent again.
    pub repeated: u64,
    /// Time that lost workers had computed in vain.
    pub wasted: Time,
    /// Number of tasks that are not done because all workers were lost.
    pub undone: u32,
}

/// Figures of one worker.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct WorkerUse {
    /// Time spent on tasks whose results were sent.
    pub busy: Time,
    /// Number of these tasks.
    pub tasks: u32,
    /// Time at which the last of these results arrived at the master.
    pub last: Time,
}

/// One message with tasks, from the master to a worker and back.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Turn {
    /// Worker that computed the tasks.
    pub worker: u32,
    /// Position of the first task in the list.
    pub first: u32,
    /// Number of tasks.
    pub tasks: u32,
    /// Time at which the master was free to send the message.
    pub given: Time,
    /// Time at which the worker began to compute.
    pub start: Time,
    /// Time at which the worker had computed.
    pub end: Time,
    /// Time at which the result arrived at the master; [`Time::NEVER`] if the worker was lost.
    pub back: Time,
}

/// Observer of all turns, in the order in which the master deals them.
pub trait TurnLog {
    /// Records the turn of one message with tasks.
    fn turn(&mut self, turn: Turn);
}

/// A log that keeps nothing.
impl TurnLog for () {
    #[inline]
    fn turn(&mut self, _: Turn) {}
}

/// A log that keeps all turns.
impl TurnLog for Vec<Turn> {
    fn turn(&mut self, turn: Turn) {
        self.push(turn);
    }
}

/// Counter of the results that wait at a master, which serves them in order of arrival.
///
/// A result waits from its arrival to the start of its service. When one arrives, the results that wait are
/// the earlier ones whose service has not started by then.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    starts: VecDeque<Time>,
    pub(super) total: Time,
    pub(super) most: u32,
}

impl Waiting {
    /// Counts a result that arrived at `arrived` and is served from `start` on. Calls are in order of
    /// arrival.
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
    /// Returns the sum of the times that all workers computed.
    pub fn busy(&self) -> Time {
        self.workers.iter().map(|worker| worker.busy).sum()
    }

    /// Returns the number of tasks done.
    pub fn tasks(&self) -> u64 {
        self.workers.iter().map(|worker| u64::from(worker.tasks)).sum()
    }

    /// Adds the outcome of another master with other workers at the same time. `worker` maps its workers to
    /// those of all.
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

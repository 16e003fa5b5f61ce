//! A master with extensions of the paper's: it sends tasks ahead, has messages of any cost, and loses
//! workers.
//!
//! Without extensions it agrees with the paper's master to the last digits, which a test checks.
//!
//! * **Prefetch** of depth d: a worker may have `1 + d` messages at once. It computes them one after another in the
//!   order in which they came, so that the next is there when one is done. All workers get their first message before
//!   any gets its second.
//! * **Loss** of a worker at time t: results that were not completely sent by then never arrive. The master notices the
//!   loss after a delay, takes back the lost tasks and deals them again, before other tasks, first to workers that had
//!   been dismissed. Tasks that were sent to the worker before the loss was noticed are lost as well, and dealt again.

use std::collections::VecDeque;

use super::arrivals::{Arrivals, Keyed};
use super::costs::Costs;
use super::deal::{Chunk, Dealer};
use super::outcome::{Outcome, Turn, TurnLog, Waiting, WorkerUse};
use super::workers::Workers;
use crate::base::Arrange;
use crate::units::Time;

/// Extensions of the paper's master.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Extensions {
    /// Number of messages that a worker may have beside the one it computes.
    pub prefetch: u32,
    /// Time from the loss of a worker until the master notices it.
    pub detection: Time,
}

/// State of a worker, including what its master does not know yet.
#[derive(Debug)]
struct Worker {
    factor: f64,
    /// Time at which the worker has sent all results that it will send.
    free: Time,
    /// Messages that the worker has, in the order in which they were sent, each with the arrival time of its
    /// result.
    has: VecDeque<(Chunk, Time)>,
    /// Time at which the worker is lost.
    lost: Time,
    /// Set when the master has noticed the loss.
    loss_noticed: bool,
    /// Set when the worker asked for tasks and there were none.
    idle: bool,
    /// Set until the worker's first request is served.
    awaits_first: bool,
    used: WorkerUse,
}

struct MasterRun<'a, 'b, L> {
    dealer: Dealer<'a>,
    costs: &'b Costs,
    o: Time,
    workers: Vec<Worker>,
    arrivals: Keyed,
    clock: Time,
    busy: Time,
    waiting: Waiting,
    outcome: Outcome,
    log: &'b mut L,
}

/// Runs the tasks of the dealer on these workers. `o` is the master's overhead for a message.
pub fn run(
    dealer: Dealer<'_>,
    workers: &Workers,
    costs: &Costs,
    o: Time,
    extensions: Extensions,
    log: &mut impl TurnLog,
) -> Outcome {
    let mut states: Vec<Worker> = workers.factors.iter().map(|&factor| Worker::new(factor)).collect();
    for loss in &workers.losses {
        states[loss.worker as usize].lost = loss.at;
    }
    let mut run = MasterRun {
        dealer,
        costs,
        o,
        arrivals: Keyed::all_at_zero(states.len()),
        workers: states,
        clock: Time::ZERO,
        busy: Time::ZERO,
        waiting: Waiting::default(),
        outcome: Outcome::default(),
        log,
    };
    run.play(workers, extensions);
    run.finish()
}

impl<L: TurnLog> MasterRun<'_, '_, L> {
    fn play(&mut self, workers: &Workers, extensions: Extensions) {
        let mut losses = workers.losses.clone();
        losses.arrange_by_key(|loss| (loss.at, loss.worker));
        let mut losses = losses.into_iter().peekable();
        // First requests come first; then, round by round, the messages that each worker may have beyond its first.
        let mut fresh = self.workers.len();
        let mut ahead = 0..u64::from(extensions.prefetch) * self.workers.len() as u64;
        loop {
            if fresh == 0
                && let Some(turn) = ahead.next()
            {
                if self.dealer.left() == 0 {
                    ahead = 0..0;
                } else {
                    let worker = (turn % self.workers.len() as u64) as u32;
                    self.send(worker);
                }
                continue;
            }
            let (arrival, worker) = self.arrivals.first();
            let missed = losses.peek().map_or(Time::NEVER, |loss| loss.at + extensions.detection);
            if missed <= arrival {
                match losses.next() {
                    Some(loss) => self.notice_loss(loss.worker, missed),
                    // No event is left: both times are never.
                    None => break,
                }
                continue;
            }
            fresh -= usize::from(self.workers[worker as usize].awaits_first);
            self.serve(worker, arrival);
        }
    }

    /// Receives the first message of a worker, a request or a result, and sends it a message if tasks are
    /// left (P1 and P2).
    fn serve(&mut self, worker: u32, arrival: Time) {
        let start = self.clock.max(arrival);
        let state = &mut self.workers[worker as usize];
        let mut bytes = 0;
        if state.awaits_first {
            state.awaits_first = false;
        } else if let Some((chunk, back)) = state.has.pop_front() {
            bytes = chunk.size.output;
            state.used.tasks += chunk.tasks;
            state.used.busy += Time::from_ps(chunk.work.ps() * state.factor);
            state.used.last = back;
            self.waiting.served(arrival, start);
        }
        let receive = self.costs.message(bytes, self.o).receive;
        self.clock = start + receive;
        self.busy += receive;
        let next = state.next_arrival();
        self.arrivals.set(worker, next);
        if !self.workers[worker as usize].loss_noticed {
            self.send(worker);
        }
    }

    /// Sends the next tasks to a worker (P3).
    fn send(&mut self, worker: u32) {
        let state = &mut self.workers[worker as usize];
        let Some(chunk) = self.dealer.deal() else {
            state.idle = true;
            return;
        };
        state.idle = false;
        let given = self.clock;
        let there = self.costs.message(chunk.size.input, self.o);
        let back = self.costs.message(chunk.size.output, self.o);
        self.clock += there.send;
        self.busy += there.send;
        self.outcome.messages += 1;
        if self.dealer.left() == 0 && self.outcome.repeated == 0 {
            self.outcome.dealt = self.clock;
        }
        let start = state.free.max(self.clock + there.flight) + there.receive;
        let end = start + Time::from_ps(chunk.work.ps() * state.factor);
        let sent = end + back.send;
        state.free = sent;
        let arrival = if sent <= state.lost { sent + back.flight } else { Time::NEVER };
        if arrival == Time::NEVER && start < state.lost {
            self.outcome.wasted += end.min(state.lost) - start;
        }
        if state.has.is_empty() {
            self.arrivals.set(worker, arrival);
        }
        state.has.push_back((chunk, arrival));
        let (first, tasks) = (chunk.first, chunk.tasks);
        self.log.turn(Turn { worker, first, tasks, given, start, end: end.min(state.lost.max(start)), back: arrival });
    }

    /// Lets the master notice the loss of a worker.
    fn notice_loss(&mut self, worker: u32, now: Time) {
        self.clock = self.clock.max(now);
        let state = &mut self.workers[worker as usize];
        state.loss_noticed = true;
        state.idle = false;
        // Results that it sent before are under way and still arrive.
        let (lost, under_way) = state.has.iter().copied().partition(|(_, back)| *back == Time::NEVER);
        state.has = under_way;
        for (chunk, _) in lost as VecDeque<(Chunk, Time)> {
            self.dealer.give_back(chunk);
            self.outcome.repeated += 1;
        }
        for other in 0..self.workers.len() as u32 {
            if self.dealer.left() == 0 {
                break;
            }
            if self.workers[other as usize].idle {
                self.send(other);
            }
        }
    }

    fn finish(mut self) -> Outcome {
        self.outcome.time = self.clock;
        self.outcome.masters = vec![self.busy];
        self.outcome.workers = self.workers.iter().map(|worker| worker.used).collect();
        (self.outcome.waited, self.outcome.most_waiting) = (self.waiting.total, self.waiting.most);
        self.outcome.undone = self.dealer.left();
        self.outcome
    }
}

impl Worker {
    fn new(factor: f64) -> Self {
        Self {
            factor,
            free: Time::ZERO,
            has: VecDeque::new(),
            lost: Time::NEVER,
            loss_noticed: false,
            idle: false,
            awaits_first: true,
            used: WorkerUse::default(),
        }
    }

    /// Returns the arrival time of the worker's first result.
    fn next_arrival(&self) -> Time {
        self.has.front().map_or(Time::NEVER, |(_, back)| *back)
    }
}

//! A master that does more than that of the paper: it sends tasks ahead, has messages of any cost, and loses workers.
//!
//! Without any of that it is the paper's, to the last digits (a test holds them against each other).
//!
//! * **Prefetch** of depth d: a worker may have `1 + d` messages at once. It computes them one after another in the
//!   order in which they came, so that the next is there when one is done. All workers get their first message before
//!   any gets its second.
//! * **Loss** of a worker at time t: results whose sending was not complete by then never arrive. The master notices
//!   after a delay, takes back what was lost and gives it out again, before other tasks, first to workers that had been
//!   dismissed. Tasks that were sent to the worker before the loss was noticed are lost too, and given out again.

use std::collections::VecDeque;

use super::arrivals::{Arrivals, Keyed};
use super::costs::Costs;
use super::deal::{Chunk, Dealer};
use super::outcome::{Outcome, Turn, TurnLog, Waiting, WorkerUse};
use super::workers::Workers;
use crate::base::Arrange;
use crate::units::Time;

/// What a master does beyond the paper.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Extensions {
    /// Messages a worker may have beside the one it computes.
    pub prefetch: u32,
    /// How long after its loss a worker is missed.
    pub detection: Time,
}

/// A worker as its master knows it, and what it does not know yet.
#[derive(Debug)]
struct Worker {
    factor: f64,
    /// When it has sent all results it will send.
    free: Time,
    /// Messages it has, in the order in which they were sent, each with the arrival of its result.
    has: VecDeque<(Chunk, Time)>,
    /// From when on it is lost.
    lost: Time,
    /// Whether the master has missed it.
    missed: bool,
    /// Whether it asked for tasks when there were none.
    idle: bool,
    /// Whether its first request is still to be served.
    fresh: bool,
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

/// Runs the tasks of the dealer on these workers, whose master's overhead for a message is `o`.
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
        // First requests; then, round by round, what every worker may have beyond its first message.
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
                    Some(loss) => self.miss(loss.worker, missed),
                    // Nothing is expected any more: both are never.
                    None => break,
                }
                continue;
            }
            fresh -= usize::from(self.workers[worker as usize].fresh);
            self.serve(worker, arrival);
        }
    }

    /// P1 and P2: the first message of a worker, a request or a result, is received; then it gets a message, if there
    /// is one.
    fn serve(&mut self, worker: u32, arrival: Time) {
        let start = self.clock.max(arrival);
        let state = &mut self.workers[worker as usize];
        let mut bytes = 0;
        if state.fresh {
            state.fresh = false;
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
        if !self.workers[worker as usize].missed {
            self.send(worker);
        }
    }

    /// P3: the next tasks go to a worker.
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

    /// The master notices that a worker is lost.
    fn miss(&mut self, worker: u32, now: Time) {
        self.clock = self.clock.max(now);
        let state = &mut self.workers[worker as usize];
        state.missed = true;
        state.idle = false;
        // What it had sent before is under way and still comes.
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
            missed: false,
            idle: false,
            fresh: true,
            used: WorkerUse::default(),
        }
    }

    /// When the first of its results arrives.
    fn next_arrival(&self) -> Time {
        self.has.front().map_or(Time::NEVER, |(_, back)| *back)
    }
}

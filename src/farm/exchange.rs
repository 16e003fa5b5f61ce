//! A master and its workers over a simulated fabric. Rank 0 is the master; all other ranks are workers.
//!
//! The queue of tasks is that of the closed form, but the time of a message under way depends on the fabric
//! and all other messages there. For example, results that arrive together share the master's link. Only the
//! costs at the ends apply: `o`, and a machine's cost per byte. L, if given, counts for both directions at
//! the worker. The fabric's capacity replaces G.
//!
//! Sending is blocking: the master continues when its message has arrived (in the closed form: after `ki*G`).
//! With `overlapped` it continues at once, and messages leave as fast as the link allows.
//!
//! On an idle crossbar of capacity 1/G without latencies this is the paper's master, as long as no two
//! results meet.

use std::collections::VecDeque;

use super::costs::Costs;
use super::deal::{Chunk, Dealer};
use super::outcome::{Outcome, Turn, TurnLog, Waiting, WorkerUse};
use crate::ids::{MessageId, RankId, WakeId};
use crate::noise::{Processors, Work};
use crate::units::Time;
use crate::workload::{Blocked, Load, Requests, SendRequest, Workload};

/// Rank of the master.
const MASTER: RankId = RankId(0);

/// State of the master.
#[derive(Clone, Copy, PartialEq, Debug)]
enum State {
    /// The master waits for an arrival.
    Free,
    /// The master receives an arrival and prepares the message that answers it, if any.
    Working(Option<(u32, Chunk)>),
    /// The master's message is under way.
    Sending(Time),
}

/// A master and its workers, as a workload of the engine.
#[derive(Debug)]
pub struct Exchange<'a, L> {
    dealer: Dealer<'a>,
    messages: u64,
    factors: &'a [f64],
    costs: &'a Costs,
    o: Time,
    overlapped: bool,
    /// Arrivals that wait at the master: arrival time and worker.
    arrivals: VecDeque<(Time, u32)>,
    state: State,
    /// Tasks that each worker holds.
    has: Vec<Option<(Chunk, Turn)>>,
    /// Number of messages sent by each rank.
    sent: Vec<u32>,
    used: Vec<WorkerUse>,
    clock: Time,
    busy: Time,
    waiting: Waiting,
    outcome: Outcome,
    /// Processors of master and workers, if some are slow.
    processors: Option<Processors>,
    log: &'a mut L,
}

impl<'a, L: TurnLog> Exchange<'a, L> {
    /// Creates the workload that deals the dealer's tasks to workers with these factors.
    pub fn new(
        dealer: Dealer<'a>,
        factors: &'a [f64],
        costs: &'a Costs,
        o: Time,
        overlapped: bool,
        log: &'a mut L,
    ) -> Self {
        let workers = factors.len();
        Self {
            messages: 2 * dealer.clone().messages(),
            dealer,
            factors,
            costs,
            o,
            overlapped,
            arrivals: (0..workers as u32).map(|worker| (Time::ZERO, worker)).collect(),
            state: State::Free,
            has: vec![None; workers],
            sent: vec![0; workers + 1],
            used: vec![WorkerUse::default(); workers],
            clock: Time::ZERO,
            busy: Time::ZERO,
            waiting: Waiting::default(),
            outcome: Outcome::default(),
            processors: None,
            log,
        }
    }

    /// Sets the processors, if some are slow.
    #[must_use]
    pub fn slowed(self, processors: Option<Processors>) -> Self {
        Self { processors, ..self }
    }

    /// Returns the time at which a rank completes work that begins at `begin`, which is not before `now`.
    fn completion(&mut self, rank: RankId, now: Time, begin: Time, time: Time, work: Work) -> Time {
        match &mut self.processors {
            None => begin + time,
            Some(processors) => processors.end(rank, now, begin, time, work),
        }
    }

    /// Returns the outcome once the engine is done.
    pub fn outcome(self) -> Outcome {
        Outcome {
            time: self.clock,
            masters: vec![self.busy],
            workers: self.used,
            waited: self.waiting.total,
            most_waiting: self.waiting.most,
            undone: self.dealer.left(),
            ..self.outcome
        }
    }

    /// Lets the master, if it is free, receive the first arrival and take tasks for an answer (P1 and P2).
    fn serve(&mut self, now: Time, requests: &mut Requests) {
        if self.state != State::Free {
            return;
        }
        let Some((arrived, worker)) = self.arrivals.pop_front() else { return };
        let index = worker as usize;
        let mut bytes = 0;
        if let Some((chunk, turn)) = self.has[index].take() {
            bytes = chunk.size.output;
            let used = &mut self.used[index];
            used.tasks += chunk.tasks;
            used.busy += turn.end - turn.start;
            used.last = arrived;
            self.waiting.served(arrived, now);
            self.log.turn(Turn { back: arrived, ..turn });
        }
        let mut time = self.costs.message(bytes, self.o).receive;
        let answer = self.dealer.deal();
        if let Some(chunk) = answer {
            time += self.costs.message(chunk.size.input, self.o).send;
        }
        let end = self.completion(MASTER, now, now, time, Work::Overhead);
        self.busy += if self.processors.is_some() { end - now } else { time };
        self.state = State::Working(answer.map(|chunk| (worker, chunk)));
        requests.wakes.push((end, WakeId(MASTER.0)));
    }

    fn next_id(&mut self, src: RankId) -> MessageId {
        let index = self.sent[src.0 as usize];
        self.sent[src.0 as usize] += 1;
        MessageId { src, index }
    }
}

impl<L: TurnLog> Workload for Exchange<'_, L> {
    fn ranks(&self) -> u32 {
        self.factors.len() as u32 + 1
    }

    fn messages(&self) -> u64 {
        self.messages
    }

    fn load(&self) -> Load {
        Load { one_at_a_time: !self.overlapped, ..Load::default() }
    }

    fn begin(&mut self, requests: &mut Requests) {
        self.serve(Time::ZERO, requests);
    }

    fn delivered(&mut self, now: Time, messages: &[SendRequest], requests: &mut Requests) {
        for message in messages {
            if message.dst == MASTER {
                self.arrivals.push_back((now, message.id.src.0 - 1));
                continue;
            }
            let worker = message.dst.0 - 1;
            let Some((chunk, mut turn)) = self.has[worker as usize] else { continue };
            let there = self.costs.message(chunk.size.input, self.o);
            let back = self.costs.message(chunk.size.output, self.o);
            let work = Time::from_ps(chunk.work.ps() * self.factors[worker as usize]);
            turn.start = self.completion(message.dst, now, now + there.flight, there.receive, Work::Overhead);
            turn.end = self.completion(message.dst, now, turn.start, work, Work::Calculation);
            let leaves = self.completion(message.dst, now, turn.end, back.send, Work::Overhead);
            self.has[worker as usize] = Some((chunk, turn));
            requests.wakes.push((leaves + back.flight, WakeId(message.dst.0)));
            if let State::Sending(since) = self.state {
                self.busy += now - since;
                self.clock = now;
                self.state = State::Free;
            }
        }
        self.serve(now, requests);
    }

    fn woke(&mut self, now: Time, wake: WakeId, requests: &mut Requests) {
        let rank = RankId(wake.0);
        if rank != MASTER {
            let bytes = self.has[rank.0 as usize - 1].map_or(0, |(chunk, _)| chunk.size.output);
            let id = self.next_id(rank);
            requests.sends.push(SendRequest { id, dst: MASTER, bytes });
            return;
        }
        self.clock = now;
        if let State::Working(Some((worker, chunk))) = self.state {
            let id = self.next_id(MASTER);
            requests.sends.push(SendRequest { id, dst: RankId(worker + 1), bytes: chunk.size.input });
            let (first, tasks) = (chunk.first, chunk.tasks);
            let given = now;
            let turn = Turn { worker, first, tasks, given, start: now, end: now, back: Time::NEVER };
            self.has[worker as usize] = Some((chunk, turn));
            self.outcome.messages += 1;
            self.outcome.dealt = now;
            if !self.overlapped {
                self.state = State::Sending(now);
                return;
            }
        }
        self.state = State::Free;
        self.serve(now, requests);
    }

    fn blocked(&self) -> Vec<Blocked> {
        // Every message is answered, so no rank waits in vain.
        Vec::new()
    }

    fn ended(&self) -> Option<Time> {
        Some(self.clock)
    }
}

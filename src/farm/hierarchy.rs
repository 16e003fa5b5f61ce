//! A master of masters: it deals batches of tasks to masters, each of which deals its batch to its own
//! workers.
//!
//! The master of masters serves requests as the paper's master does, with masters in place of workers and
//! batches in place of tasks. A master serves its own workers from the current batch. When half of it is left
//! (or its workers wait) it asks for the next one, so that the answer arrives in time. The request carries
//! the results that it has by then. Workers that ask while it has no tasks wait for the batch. An empty
//! answer says that there are no more tasks. Then a master dismisses its workers as they come, and after the
//! last one it sends the rest of the results.
//!
//! Each master's overhead counts its workers, itself and the master above; that of the master of masters
//! counts the masters and itself.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::costs::Costs;
use super::deal::{Chunking, Dealer};
use super::outcome::{Outcome, Turn, TurnLog, Waiting, WorkerUse};
use super::tasks::Tasks;
use super::workers::Workers;
use crate::units::Time;

/// Arrival of a message, ordered as simultaneous arrivals are served.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Event {
    /// Request or results of a master at the master of masters.
    Above(u32),
    /// Batch of tasks at a master: the master, the first task, and the end of the range.
    Batch(u32, u32, u32),
    /// Request or result of a worker at its master.
    Worker(u32),
}

/// A master between the master of masters and its workers.
struct Master {
    clock: Time,
    busy: Time,
    o: Time,
    tasks: VecDeque<(u32, u32)>,
    /// Number of tasks of the last batch.
    batch: u32,
    /// Workers that wait for tasks.
    idle: VecDeque<u32>,
    /// Set while a request is under way.
    has_request: bool,
    /// Set when there are no more tasks to ask for.
    is_finished: bool,
    /// Bytes of results to send up with the next request.
    results: u64,
    /// Bytes of results in the message under way to the master of masters.
    bytes_under_way: u64,
    /// Number of workers that still have tasks.
    working: u32,
    closed: bool,
    waiting: Waiting,
}

/// Runs all tasks with `masters` masters and batches of `batch` tasks. Worker w belongs to master `w %
/// masters`.
pub fn run(
    tasks: &Tasks,
    workers: &Workers,
    costs: &Costs,
    masters: u32,
    batch: u32,
    chunking: Chunking,
    log: &mut impl TurnLog,
) -> Outcome {
    let groups: Vec<u32> = (0..masters).map(|m| (workers.len() as u32 + masters - 1 - m) / masters).collect();
    let mut below: Vec<Master> = groups.iter().map(|&size| Master::new(costs.overhead_among(size + 2))).collect();
    let top_o = costs.overhead_among(masters + 1);
    let (mut top, mut top_busy) = (Time::ZERO, Time::ZERO);
    let mut batches = Dealer::new(tasks, Chunking::Fixed(batch.max(1)), masters);
    let mut events: BinaryHeap<Reverse<(Time, Event)>> = BinaryHeap::new();
    let mut used = vec![WorkerUse::default(); workers.len()];
    // Bytes and number of the results that each worker has, and the time computed.
    let mut has: Vec<Option<(u64, u32, Time)>> = vec![None; workers.len()];
    let mut outcome = Outcome::default();
    for m in 0..masters {
        below[m as usize].has_request = true;
        events.push(Reverse((Time::ZERO, Event::Above(m))));
    }
    events.extend((0..workers.len() as u32).map(|worker| Reverse((Time::ZERO, Event::Worker(worker)))));
    while let Some(Reverse((now, event))) = events.pop() {
        let m = match event {
            Event::Above(m) => {
                let master = &mut below[m as usize];
                let receive = costs.message(master.bytes_under_way, top_o).receive;
                master.bytes_under_way = 0;
                let start = top.max(now);
                top = start + receive;
                top_busy += receive;
                if master.closed {
                    continue;
                }
                let (from, to, size) = batches
                    .deal()
                    .map_or((0, 0, 0), |chunk| (chunk.first, chunk.first + chunk.tasks, chunk.size.input));
                let cost = costs.message(size, top_o);
                top += cost.send;
                top_busy += cost.send;
                events.push(Reverse((top + cost.flight, Event::Batch(m, from, to))));
                continue;
            }
            Event::Batch(m, from, to) => {
                let master = &mut below[m as usize];
                let size = Dealer::part(tasks, from..to, Chunking::Fixed(u32::MAX), 1).deal();
                master.spend(now, costs.message(size.map_or(0, |chunk| chunk.size.input), master.o).receive);
                master.has_request = false;
                if from == to {
                    master.is_finished = true;
                    master.idle.clear();
                } else {
                    master.batch = to - from;
                    master.tasks.push_back((from, to));
                }
                m
            }
            Event::Worker(worker) => {
                let m = worker % masters;
                let master = &mut below[m as usize];
                let mut bytes = 0;
                if let Some((size, count, computing)) = has[worker as usize].take() {
                    let use_of = &mut used[worker as usize];
                    use_of.tasks += count;
                    use_of.busy += computing;
                    use_of.last = now;
                    bytes = size;
                    master.results += size;
                    master.working -= 1;
                    master.waiting.served(now, master.clock.max(now));
                }
                master.spend(now, costs.message(bytes, master.o).receive);
                if !(master.is_finished && master.tasks.is_empty()) {
                    master.idle.push_back(worker);
                }
                m
            }
        };
        let master = &mut below[m as usize];
        while let Some(worker) = master.idle.front().copied() {
            let Some((from, to)) = master.tasks.pop_front() else { break };
            let mut dealer = Dealer::part(tasks, from..to, chunking, groups[m as usize]);
            let Some(chunk) = dealer.deal() else { continue };
            if from + chunk.tasks < to {
                master.tasks.push_front((from + chunk.tasks, to));
            }
            master.idle.pop_front();
            let given = master.clock;
            let there = costs.message(chunk.size.input, master.o);
            let back = costs.message(chunk.size.output, master.o);
            master.spend(given, there.send);
            master.working += 1;
            let computing = Time::from_ps(chunk.work.ps() * workers.factors[worker as usize]);
            let start = master.clock + there.flight + there.receive;
            let arrival = start + computing + back.send + back.flight;
            has[worker as usize] = Some((chunk.size.output, chunk.tasks, computing));
            events.push(Reverse((arrival, Event::Worker(worker))));
            outcome.messages += 1;
            outcome.dealt = outcome.dealt.max(master.clock);
            let (first, count, end) = (chunk.first, chunk.tasks, start + computing);
            log.turn(Turn { worker, first, tasks: count, given, start, end, back: arrival });
        }
        let left: u32 = master.tasks.iter().map(|(from, to)| to - from).sum();
        let ask = !master.is_finished && !master.has_request && 2 * left <= master.batch;
        let close = master.is_finished && !master.closed && left == 0 && master.working == 0;
        if ask || close {
            master.has_request = ask;
            master.closed = close;
            master.bytes_under_way = std::mem::take(&mut master.results);
            let cost = costs.message(master.bytes_under_way, master.o);
            master.spend(Time::ZERO, cost.send);
            events.push(Reverse((master.clock + cost.flight, Event::Above(m))));
        }
    }
    outcome.time = below.iter().map(|master| master.clock).fold(top, Time::max);
    outcome.masters = below.iter().map(|master| master.busy).chain([top_busy]).collect();
    outcome.waited = below.iter().map(|master| master.waiting.total).sum();
    outcome.most_waiting = below.iter().map(|master| master.waiting.most).max().unwrap_or(0);
    outcome.workers = used;
    outcome.undone = batches.left();
    outcome
}

impl Master {
    fn new(o: Time) -> Self {
        Self {
            clock: Time::ZERO,
            busy: Time::ZERO,
            o,
            tasks: VecDeque::new(),
            batch: 0,
            idle: VecDeque::new(),
            has_request: false,
            is_finished: false,
            results: 0,
            bytes_under_way: 0,
            working: 0,
            closed: false,
            waiting: Waiting::default(),
        }
    }

    /// Occupies the master for `time`, from `now` on or when it is free.
    fn spend(&mut self, now: Time, time: Time) {
        self.clock = self.clock.max(now) + time;
        self.busy += time;
    }
}

//! Runs of masters and workers under a policy, and lower bounds of their times.

use super::arrivals::Tournament;
use super::costs::Costs;
use super::deal::{Chunking, Dealer};
use super::master::{self, Extensions};
use super::outcome::{Outcome, TurnLog, WorkerUse};
use super::tasks::{Size, Sizes, Tasks};
use super::workers::Workers;
use super::{hierarchy, paper};
use crate::units::Time;

/// Arrangement of the masters that deal the tasks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Masters {
    /// One master.
    #[default]
    One,
    /// Several independent masters, each with its part of the tasks and of the workers.
    ///
    /// Worker w belongs to master `w mod M`; the tasks are cut into consecutive parts in proportion to the
    /// speed of each master's workers.
    Partition(u32),
    /// Several masters below a master of masters, which deals batches of tasks (see [`hierarchy`]).
    Hierarchy {
        /// Number of masters below.
        masters: u32,
        /// Number of tasks of a batch.
        batch: u32,
    },
}

/// Rules for dealing tasks, apart from the tasks, the workers and the network.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Policy {
    /// Masters that deal the tasks.
    pub masters: Masters,
    /// Number of tasks in one message.
    pub chunking: Chunking,
    /// Messages sent ahead, and the time until a loss is noticed.
    pub extensions: Extensions,
}

impl Masters {
    /// Number of processors beside the workers.
    pub fn count(self) -> u32 {
        match self {
            Self::One => 1,
            Self::Partition(masters) => masters,
            Self::Hierarchy { masters, .. } => masters + 1,
        }
    }
}

/// Predicts a run of the tasks, in the order in which they are listed.
pub fn run(tasks: &Tasks, workers: &Workers, costs: &Costs, policy: &Policy, log: &mut impl TurnLog) -> Outcome {
    match policy.masters {
        Masters::One => {
            run_single(Dealer::new(tasks, policy.chunking, workers.len() as u32), workers, costs, policy, log)
        }
        Masters::Partition(masters) => partition(tasks, workers, costs, masters, policy, log),
        Masters::Hierarchy { masters, batch } => {
            hierarchy::run(tasks, workers, costs, masters, batch, policy.chunking, log)
        }
    }
}

/// Runs one master with its workers.
fn run_single(
    dealer: Dealer<'_>,
    workers: &Workers,
    costs: &Costs,
    policy: &Policy,
    log: &mut impl TurnLog,
) -> Outcome {
    let o = costs.overhead_among(workers.len() as u32 + 1);
    if workers.losses.is_empty() && policy.extensions.prefetch == 0 && costs.is_log_gp() {
        paper::run::<Tournament>(dealer, &workers.factors, costs, o, log)
    } else {
        master::run(dealer, workers, costs, o, policy.extensions, log)
    }
}

/// A log that translates the worker of a group to its number among all workers.
struct GroupLog<'a, L> {
    log: &'a mut L,
    first: u32,
    masters: u32,
}

impl<L: TurnLog> TurnLog for GroupLog<'_, L> {
    fn turn(&mut self, turn: super::outcome::Turn) {
        self.log.turn(super::outcome::Turn { worker: turn.worker * self.masters + self.first, ..turn });
    }
}

fn partition(
    tasks: &Tasks,
    workers: &Workers,
    costs: &Costs,
    masters: u32,
    policy: &Policy,
    log: &mut impl TurnLog,
) -> Outcome {
    let groups: Vec<Workers> = (0..masters).map(|m| workers.group(m, masters)).collect();
    let all: f64 = groups.iter().map(Workers::speed).sum();
    let mut outcome = Outcome { workers: vec![WorkerUse::default(); workers.len()], ..Outcome::default() };
    let (mut from, mut speed) = (0, 0.0);
    for (m, group) in (0..masters).zip(&groups) {
        speed += group.speed();
        let to = if m + 1 == masters { tasks.len() } else { (tasks.len() as f64 * (speed / all)).round() as usize };
        let to = (to as u32).clamp(from, tasks.len() as u32);
        let dealer = Dealer::part(tasks, from..to, policy.chunking, group.len() as u32);
        let mut log = GroupLog { log, first: m, masters };
        let part = run_single(dealer, group, costs, policy, &mut log);
        outcome.join(part, |i| i * masters as usize + m as usize);
        from = to;
    }
    outcome
}

/// Lower bounds of the predicted time.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Bounds {
    /// Total work over the speed of all workers.
    pub work: Time,
    /// Same bound with the worker's cost of each message: its overheads and, unless tasks are sent ahead, the
    /// flight both ways.
    pub exchange: Time,
    /// Time of the longest message on the fastest worker, there and back.
    pub longest: Time,
    /// Time that the master (the busiest of several) spends on messages.
    pub master: Time,
}

impl Bounds {
    /// Returns the largest bound. No run is faster.
    pub fn largest(&self) -> Time {
        self.work.max(self.exchange).max(self.longest).max(self.master)
    }

    /// Returns the bounds for these tasks on these workers.
    ///
    /// With one master, each of n messages of tasks takes the master a receive and a send, and each worker's
    /// last arrival takes another receive. A worker of factor r that computes work A' in n' messages is
    /// engaged for `r*A' + n'*h`. Here h is the least cost of a message beside its tasks. Summed over workers
    /// with weights 1/r,
    /// ```text
    /// time >= (A + n*h / max(r)) / sum(1/r)
    /// ```
    pub fn of(tasks: &Tasks, workers: &Workers, costs: &Costs, policy: &Policy) -> Self {
        let speed = workers.speed();
        let masters = policy.masters.count();
        let work = Time::from_ps(tasks.work().ps() / speed);
        let group = (workers.len() as u32).div_ceil(masters.max(1)).max(1);
        let o = costs.overhead_among(match policy.masters {
            Masters::One => workers.len() as u32 + 1,
            // Groups differ by at most one worker; this is the least overhead of any.
            _ => (workers.len() as u32 / masters.max(1)) + 1,
        });
        let cycle = |size: Size| {
            let (there, back) = (costs.message(size.input, o), costs.message(size.output, o));
            let ends = there.receive + back.send;
            (ends, ends + there.send + there.flight + back.flight, there.send + back.receive)
        };
        let (ahead, fastest) = (policy.extensions.prefetch > 0, workers.fastest());
        let (mut least, mut longest, mut busy, mut messages) = (f64::INFINITY, 0.0f64, Time::ZERO, 0u64);
        let mut add = |count: u64, work: Time, size: Size| {
            let (ends, cycle, master) = cycle(size);
            least = least.min(if ahead { ends.ps() } else { cycle.ps() });
            longest = longest.max(work.ps() * fastest + cycle.ps());
            busy += Time::from_ps(master.ps() * count as f64);
            messages += count;
        };
        match (policy.chunking, tasks.sizes()) {
            // All messages cost the same, so there is nothing to add up one by one.
            (Chunking::Fixed(1), Sizes::Same(size)) if !tasks.is_empty() => {
                add(tasks.len() as u64, tasks.longest(), *size);
            }
            _ => {
                let group = if masters == 1 { workers.len() as u32 } else { group };
                let mut dealer = Dealer::new(tasks, policy.chunking, group);
                while let Some(chunk) = dealer.deal() {
                    add(1, chunk.work, chunk.size);
                }
            }
        }
        if messages == 0 {
            return Self::default();
        }
        let (exchange, master) = match policy.masters {
            Masters::One => (
                Time::from_ps((tasks.work().ps() + messages as f64 * least / workers.slowest()) / speed),
                busy + Time::from_ps(costs.message(0, o).receive.ps() * workers.len() as f64),
            ),
            // The number of messages of each part depends on the cut; the work holds for any cut.
            _ => (work, Time::ZERO),
        };
        let longest = match policy.masters {
            Masters::One => Time::from_ps(longest),
            _ => Time::from_ps(tasks.longest().ps() * workers.fastest()),
        };
        Self { work, exchange, longest, master }
    }

    /// Returns the number of workers that keep a single master busy: the smallest W with `n*(o + send) >=
    /// (A*r + n*cycle) / W`, for equal workers of the mean factor.
    ///
    /// Since `o` may grow with the number of processors, the condition is checked for each W up to `most`.
    pub fn saturation(tasks: &Tasks, factor: f64, costs: &Costs, policy: &Policy, most: u32) -> Option<u32> {
        let (Masters::One, Chunking::Fixed(k)) = (policy.masters, policy.chunking) else { return None };
        let messages = (tasks.len() as u64).div_ceil(u64::from(k.max(1))) as f64;
        let (input, output) = mean_size(tasks, messages);
        let mean_work = tasks.work().ps() * factor / messages;
        (1..=most).find(|&workers| {
            let o = costs.overhead_among(workers + 1);
            let (there, back) = (costs.message(input, o), costs.message(output, o));
            let service = back.receive.ps() + there.send.ps();
            let flight = if policy.extensions.prefetch == 0 { there.flight.ps() + back.flight.ps() } else { 0.0 };
            let cycle = service + flight + there.receive.ps() + mean_work + back.send.ps();
            service * f64::from(workers) >= cycle
        })
    }
}

/// Returns the mean bytes of a message of tasks, there and back.
fn mean_size(tasks: &Tasks, messages: f64) -> (u64, u64) {
    let all = Dealer::new(tasks, Chunking::Fixed(u32::MAX), 1).deal().map(|chunk| chunk.size).unwrap_or_default();
    ((all.input as f64 / messages).round() as u64, (all.output as f64 / messages).round() as u64)
}

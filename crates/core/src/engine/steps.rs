//! Work in lockstep, without an event for each message.

use super::link_counts::LinkCounts;
use super::{Alone, CountedStep, LinkProperties, Observer, Outcome, Passed, Progress, Stop, Watch};
use crate::base::threads;
use crate::fabric::Fabric;
use crate::ids::{IdVec, LinkId, NodeId, RankId};
use crate::placement::Placement;
use crate::routing::Router;
use crate::units::{Bandwidth, Time};
use crate::workload::{Lockstep, PassedOn};

/// Work in lockstep whose steps are counted instead of played.
///
/// In each step every rank sends one message, all of b bytes, and the next step begins when all have arrived,
/// for one of two reasons:
///
/// * **A barrier holds them.** Under equal share and under max-min the step then takes
///   ```text
///   max over links l of n(l) b / c(l)
///   ```
///   with n(l) messages of the step over link l of capacity c(l). The flows of the link with the largest n / c have
///   that rate from the start to the end of the step: no other link is slower, neither at the start nor after flows
///   have left it. Every other flow is at least as fast all the time. *When* within its step a message arrives is not
///   computed: it counts as delivered when its step is over.
/// * **They are even**: the least share c / n along its route is the same for every message. Then that is the rate of
///   all messages: each is held back by a link whose n flows all get c / n, so the link is full. They arrive together,
///   and each rank is free for its next message at the same instant. A regular placement gives that on fabrics that
///   can carry a permutation. A step that is not even ends the counting: such a program has to be played.
///
/// So a step is counting: no lists, no queue, no events. No step depends on an earlier one, so threads count
/// different steps. Their sums are whole numbers, so the result does not depend on the number of threads.
/// Identical steps (a ring's) are counted once.
///
/// Cost: O(N h + L) for each counted step, for N ranks, h links a route and L links.
pub struct Steps<'a> {
    fabric: &'a Fabric,
    router: &'a dyn Router,
    placement: &'a Placement,
    work: Lockstep<'a>,
    wires: LinkProperties,
    /// Reason why each step waits for the previous one.
    sync: StepSync,
}

/// Reason why a step begins when all messages of the previous step have arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StepSync {
    /// A barrier ends every step.
    Barrier,
    /// Each rank sends its next message when its previous one has arrived, and all arrive together.
    Even,
}

/// Smallest number of messages of different sizes that are counted instead of played. Counting gives only the
/// time of the last arrival, so it replaces playing only where playing would take too long.
const MIN_PASSED: u64 = 1 << 28;

/// Messages that one thread counts between two looks at the watch. With many ranks it counts up to
/// [`STEPS_A_TURN`] steps of at most [`MOST_MESSAGES_A_TURN`] messages: an observer goes through the ranks
/// once for several steps.
const MESSAGES_A_TURN: u32 = 1 << 16;
const MOST_MESSAGES_A_TURN: u32 = 1 << 20;
const STEPS_A_TURN: u32 = 8;

/// Returns the number of steps that one thread counts between two looks at the watch.
fn steps_a_turn(ranks: u32) -> u32 {
    let steps = |messages: u32| messages / ranks.max(1);
    steps(MESSAGES_A_TURN).max(steps(MOST_MESSAGES_A_TURN).min(STEPS_A_TURN)).max(1)
}

/// Working memory of a counting thread.
struct Worker {
    counts: LinkCounts,
    /// By rank: source and destination node of its message.
    ends: Vec<(NodeId, NodeId)>,
    route: Vec<LinkId>,
}

/// Counted step.
#[derive(Default)]
struct Counted {
    /// By rank: the destination of its message.
    destinations: Vec<RankId>,
    /// By rank: the time that its message takes alone, where that is not the same for all.
    alone: Vec<Time>,
    /// By link: the number of messages that cross it, where an observer asks for it.
    on_links: IdVec<LinkId, u32>,
    /// Rate of the slowest messages; infinite where no link is used, `None` where the messages should be even
    /// but are not.
    rate: Option<f64>,
}

impl<'a> Steps<'a> {
    /// Creates the counting of this work. Returns `None` if it cannot be counted: messages must have bytes,
    /// links no latency, and each pair one route.
    pub fn new(
        fabric: &'a Fabric,
        router: &'a dyn Router,
        placement: &'a Placement,
        work: Lockstep<'a>,
        sync: StepSync,
    ) -> Option<Self> {
        let fits =
            work.bytes > 0 && router.choice().is_none() && fabric.links().iter().all(|link| link.latency == Time::ZERO);
        fits.then(|| Self { fabric, router, placement, work, wires: LinkProperties::new(fabric, 1.0), sync })
    }

    /// Runs to the end, or until the watch ends the run. Returns `None` where a step should be even but is
    /// not; the observer has then seen a part.
    pub fn run(&self, observer: &mut impl Observer, watch: Option<&dyn Watch>) -> Option<Outcome> {
        let Lockstep { ranks, steps, bytes, alike, .. } = self.work;
        let total = u64::from(ranks) * u64::from(steps);
        if let Some(sent) = &self.work.passed_on {
            // Here the time of a message on a link stays unknown, too.
            let is_passed = total >= MIN_PASSED && !observer.asks_links();
            return is_passed.then(|| self.pass_on(&**sent, observer)).flatten();
        }
        let asks_links = observer.asks_links();
        let mut outcome = Outcome::default();
        let mut workers: Vec<Worker> = (0..threads::count()).map(|_| self.worker()).collect();
        let most = steps_a_turn(ranks) * workers.len() as u32;
        // Identical steps are counted once.
        let all: Vec<u32> = (0..steps).step_by(alike as usize).collect();
        let again = |step: u32| alike.min(steps - step);
        let mut turn: Vec<Counted> = Vec::new();
        let mut ends: Vec<Time> = Vec::new();
        // Unevenness mostly shows in the first step.
        let (mut first, mut len) = (0, 1);
        while first < all.len() {
            let progress = Progress { now: outcome.makespan, delivered: outcome.messages, total };
            if watch.is_some_and(|watch| !watch.tick(progress)) {
                outcome.stop = Stop::Interrupted;
                break;
            }
            let steps = &all[first..all.len().min(first + len as usize)];
            turn.resize_with(steps.len(), Counted::default);
            let share = turn.len().div_ceil(workers.len());
            let parts = turn.chunks_mut(share).zip(steps.chunks(share)).zip(&mut workers).collect();
            threads::map(parts, |((counted, steps), worker): ((&mut [Counted], &[u32]), &mut Worker)| {
                for (counted, &step) in counted.iter_mut().zip(steps) {
                    self.count(step, again(step), worker, counted, asks_links);
                }
            });
            ends.clear();
            for (&step, counted) in steps.iter().zip(&turn) {
                let rate = counted.rate?;
                let transfer = Bandwidth::from_bytes_per_second(rate).time_for(bytes as f64);
                for _ in 0..again(step) {
                    if rate < f64::INFINITY {
                        outcome.makespan += transfer;
                    }
                    ends.push(outcome.makespan);
                }
            }
            let mut delivered = Vec::with_capacity(turn.len());
            let (mut start, mut rest) = (progress.now, ends.as_slice());
            for (&index, counted) in steps.iter().zip(&turn) {
                let alone = match self.wires.common_capacity {
                    Some(capacity) if counted.alone.is_empty() => Alone::Same(capacity.time_for(bytes as f64)),
                    _ => Alone::Each(&counted.alone),
                };
                let (of_step, of_others) = rest.split_at(again(index) as usize);
                let destinations = counted.destinations.as_slice();
                let on_links = asks_links.then_some(&counted.on_links);
                delivered.push(CountedStep { index, start, ends: of_step, bytes, destinations, alone, on_links });
                (start, rest) = (of_step.last().copied().unwrap_or(start), of_others);
            }
            observer.steps(&delivered);
            outcome.messages += u64::from(ranks) * ends.len() as u64;
            first += steps.len();
            len = (2 * len).min(most);
        }
        outcome.bytes = outcome.messages * bytes;
        for worker in workers {
            for (link, &crossed) in worker.counts.crossed().iter_ids() {
                observer.carried(link, crossed * bytes);
            }
        }
        if let Some(watch) = watch {
            watch.tick(Progress { now: outcome.makespan, delivered: outcome.messages, total });
        }
        Some(Self::ended(outcome))
    }

    /// Completes the outcome: each message counts as two events.
    fn ended(outcome: Outcome) -> Outcome {
        Outcome { ended: outcome.makespan, events: 2 * outcome.messages, ..outcome }
    }

    /// Computes messages of several sizes that are passed on around a ring; `None` where two of them meet.
    ///
    /// A message of b bytes then takes b / c. Rank r sends its message of step s as soon as its own of step s
    /// - 1 has left and that of rank r - 1 has arrived:
    /// ```text
    /// t(r, s) = max(t(r, s - 1), t(r - 1, s - 1)) + b(r, s) / c,    b(r, s) = b(r - 1, s - 1)
    /// ```
    /// The largest block is in every step, so after S steps it has taken `S max b / c`. No chain of messages
    /// is longer, since none of its S messages is larger. Under a barrier each step takes as long as its
    /// largest message, and every step has one: the same time.
    pub(super) fn pass_on(&self, sent: &PassedOn<'_>, observer: &mut impl Observer) -> Option<Outcome> {
        let Lockstep { ranks, steps, bytes, .. } = self.work;
        let messages = u64::from(ranks) * u64::from(steps);
        let capacity = self.wires.common_capacity?;
        let (mut worker, mut counted) = (self.worker(), Counted::default());
        self.count(0, 1, &mut worker, &mut counted, false);
        if !counted.alone.is_empty() || counted.rate != Some(capacity.bytes_per_second()) {
            return None; // some are on one node, or meet
        }
        let transfer = capacity.time_for(bytes as f64);
        let makespan = (0..steps).fold(Time::ZERO, |now, _| now + transfer);
        let sent: Vec<(RankId, u64)> =
            counted.destinations.iter().zip(0..).map(|(&dst, rank)| (dst, sent(RankId(rank)))).collect();
        let total: u64 = sent.iter().map(|(_, bytes)| bytes).sum();
        for (&(from, to), &(_, bytes)) in worker.ends.iter().zip(&sent) {
            self.route(from, to, &mut worker.route);
            for &link in &worker.route {
                observer.carried(link, bytes);
            }
        }
        let under_way = capacity.time_for(total as f64).ps();
        observer.passed(&Passed { steps, end: makespan, sent: &sent, under_way });
        Some(Self::ended(Outcome { makespan, messages, bytes: total, ..Outcome::default() }))
    }

    fn worker(&self) -> Worker {
        Worker { counts: LinkCounts::new(self.fabric.links().len()), ends: Vec::new(), route: Vec::new() }
    }

    /// Counts the messages of a step that is repeated `times` times; keeps the counts of links if
    /// `asks_links`.
    fn count(&self, step: u32, times: u32, worker: &mut Worker, counted: &mut Counted, asks_links: bool) {
        let Counted { destinations, alone, on_links, rate } = counted;
        destinations.clear();
        (self.work.destinations)(step, destinations);
        worker.ends.clear();
        let mut at_home = false;
        worker.ends.extend(self.placement.iter().zip(destinations.iter()).map(|(&from, &dst)| {
            let to = self.placement[dst];
            at_home |= from == to;
            (from, to)
        }));
        worker.counts.count(self.router, &worker.ends);

        alone.clear();
        if at_home || self.wires.common_capacity.is_none() {
            for &(from, to) in &worker.ends {
                self.route(from, to, &mut worker.route);
                alone.push(self.wires.transfer(&worker.route, self.work.bytes));
            }
        }
        let slowest = self.slowest(&worker.counts);
        let keeps_step = match self.sync {
            StepSync::Barrier => true,
            StepSync::Even => !at_home && self.is_even(slowest, worker),
        };
        *rate = keeps_step.then_some(slowest);
        if asks_links {
            worker.counts.write_to(on_links);
        }
        worker.counts.end_step(times);
    }

    fn route(&self, from: NodeId, to: NodeId, route: &mut Vec<LinkId>) {
        route.clear();
        if from != to {
            self.router.route(from, to, route);
        }
    }

    /// Returns the rate of the slowest messages, the least c / n of all links; infinite where no link is
    /// used.
    fn slowest(&self, counts: &LinkCounts) -> f64 {
        if let Some(capacity) = self.wires.common_capacity {
            let most = counts.most();
            return if most > 0 { capacity.bytes_per_second() / f64::from(most) } else { f64::INFINITY };
        }
        let used = self.fabric.links().ids().map(|link| (link, counts.get(link))).filter(|&(_, count)| count > 0);
        let share = |(link, count)| self.wires.capacity.get(link).bytes_per_second() / f64::from(count);
        used.map(share).fold(f64::INFINITY, |least, share| if share < least { share } else { least })
    }

    /// True if the least share of every message is that of the slowest.
    fn is_even(&self, slowest: f64, worker: &mut Worker) -> bool {
        if self.wires.common_capacity.is_some_and(|capacity| capacity.bytes_per_second() == slowest) {
            return true; // no two messages meet
        }
        worker.ends.iter().all(|&(from, to)| {
            self.route(from, to, &mut worker.route);
            let share =
                |link: &LinkId| self.wires.capacity.get(*link).bytes_per_second() / f64::from(worker.counts.get(*link));
            worker.route.iter().any(|link| share(link) == slowest)
        })
    }
}

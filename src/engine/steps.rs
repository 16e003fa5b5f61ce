//! Programs that go step by step behind a barrier, without an event for each message.

use rayon::prelude::*;

use super::{Flight, Observer, Outcome, Progress, Stop, Watch, Wires};
use crate::fabric::Fabric;
use crate::ids::{IdVec, LinkId, MessageId, NodeId, RankId};
use crate::placement::Placement;
use crate::routing::Router;
use crate::units::{Bandwidth, Time};
use crate::workload::Send;
use crate::workload::pattern::Pattern;

/// A pattern played under a barrier, step by step.
///
/// In each step every rank sends one message, all of b bytes, and the next step begins when all have arrived. Under
/// equal share and under max-min the step takes
/// ```text
/// max over links l of n(l) b / c(l)
/// ```
/// with n(l) messages of the step over link l of capacity c(l): the flows of the link with the largest n / c have that
/// rate from the start to the end of the step, since no other link is slower, neither at the start nor when flows have
/// left it; and every other flow is at least as fast all the time. So a step is counting: no lists, no queue, no events.
/// *When* within its step a message arrives is not worked out: it counts as delivered when its step is over.
///
/// Ranks are counted in parallel, in parts whose sums are whole numbers: the result does not depend on how many threads
/// there are.
///
/// Cost: O(N·h + L) a step, for N ranks, h links a route and L links.
pub struct Steps<'a> {
    fabric: &'a Fabric,
    router: &'a dyn Router,
    placement: &'a Placement,
    pattern: &'a dyn Pattern,
    wires: Wires,
    /// Size of all messages \[B\].
    bytes: u64,
}

/// Ranks counted by one thread at a time: so many that handing them out does not matter.
const FEWEST_RANKS: usize = 1024;

/// Some of the ranks.
struct Part {
    ranks: std::ops::Range<u32>,
    /// By link: messages of this step.
    counts: IdVec<LinkId, u32>,
    /// By rank of this part: where its message goes, and how long it takes alone.
    messages: Vec<(RankId, Time)>,
    route: Vec<LinkId>,
}

impl<'a> Steps<'a> {
    /// The pattern on this fabric, if it can be played so: its steps are uniform and no link has a latency.
    pub fn new(
        fabric: &'a Fabric,
        router: &'a dyn Router,
        placement: &'a Placement,
        pattern: &'a dyn Pattern,
    ) -> Option<Self> {
        let bytes = pattern.uniform_steps()?;
        let fits = bytes > 0 && fabric.links().iter().all(|link| link.latency == Time::ZERO);
        fits.then(|| Self { fabric, router, placement, pattern, wires: Wires::new(fabric), bytes })
    }

    /// Runs to the end, or until the watch wants to stop.
    pub fn run(&self, observer: &mut impl Observer, watch: Option<&dyn Watch>) -> Outcome {
        let mut outcome = Outcome { stop: Stop::Done, makespan: Time::ZERO, messages: 0, bytes: 0, events: 0 };
        let (ranks, total) = (self.pattern.ranks(), self.pattern.messages());
        let capacities: Vec<f64> = self.fabric.links().iter().map(|link| link.capacity.bytes_per_second()).collect();
        let mut crossed: IdVec<LinkId, u64> = IdVec::filled(capacities.len(), 0);
        let mut parts = self.parts();
        for step in 0..self.pattern.steps() {
            let progress = Progress { now: outcome.makespan, delivered: outcome.messages, total };
            if watch.is_some_and(|watch| !watch.tick(progress)) {
                outcome.stop = Stop::Interrupted;
                break;
            }
            parts.par_iter_mut().for_each(|part| self.count(step, part));
            let rate = slowest(&capacities, &mut parts, &mut crossed);
            let start = outcome.makespan;
            if rate < f64::INFINITY {
                outcome.makespan = start + Bandwidth::from_bytes_per_second(rate).time_for(self.bytes as f64);
            }
            for part in &parts {
                for (src, &(dst, alone)) in part.ranks.clone().map(RankId).zip(&part.messages) {
                    let send = Send { id: MessageId { src, index: step }, dst, bytes: self.bytes };
                    observer.delivered(outcome.makespan, &Flight { send, start, alone }, &[]);
                }
            }
            outcome.messages += u64::from(ranks);
        }
        outcome.bytes = outcome.messages * self.bytes;
        outcome.events = 2 * outcome.messages;
        for (link, &messages) in crossed.iter_ids() {
            observer.carried(link, messages * self.bytes);
        }
        if let Some(watch) = watch {
            watch.tick(Progress { now: outcome.makespan, delivered: outcome.messages, total });
        }
        outcome
    }

    fn parts(&self) -> Vec<Part> {
        let ranks = self.pattern.ranks();
        let count = (ranks as usize / FEWEST_RANKS).clamp(1, rayon::current_num_threads()) as u32;
        let bound = |part: u32| (u64::from(ranks) * u64::from(part) / u64::from(count)) as u32;
        let part = |part: u32| Part {
            ranks: bound(part)..bound(part + 1),
            counts: IdVec::filled(self.fabric.links().len(), 0),
            messages: Vec::new(),
            route: Vec::new(),
        };
        (0..count).map(part).collect()
    }

    /// Counts the messages of a step that the ranks of a part send.
    fn count(&self, step: u32, part: &mut Part) {
        part.messages.clear();
        for rank in part.ranks.clone().map(RankId) {
            let dst = self.pattern.message(rank, step).dst;
            let (from, to): (NodeId, NodeId) = (self.placement[rank], self.placement[dst]);
            part.route.clear();
            if from != to {
                self.router.route(from, to, &mut part.route);
            }
            part.messages.push((dst, self.wires.transfer(&part.route, self.bytes)));
            for &link in &part.route {
                part.counts[link] += 1;
            }
        }
    }
}

/// The rate of the slowest messages: the least c / n of all links; infinite where no link is used. Takes the counts.
fn slowest(capacities: &[f64], parts: &mut [Part], crossed: &mut IdVec<LinkId, u64>) -> f64 {
    let (first, others) = parts.split_first_mut().expect("there is always a part");
    for part in others {
        let counts = part.counts.as_mut_slice();
        for (sum, count) in first.counts.as_mut_slice().iter_mut().zip(counts) {
            *sum += std::mem::take(count);
        }
    }
    // By the largest n / c, which takes no division for links of one capacity.
    let (mut most, mut narrowest, mut rate) = (0, 0.0, f64::INFINITY);
    let counts = first.counts.as_mut_slice().iter_mut().zip(capacities).zip(crossed.as_mut_slice());
    for ((count, &capacity), crossed) in counts {
        let n = std::mem::take(count);
        *crossed += u64::from(n);
        if n > most || capacity < narrowest && n > 0 {
            let share = capacity / f64::from(n);
            if share < rate {
                (most, narrowest, rate) = (n, capacity, share);
            }
        }
    }
    rate
}

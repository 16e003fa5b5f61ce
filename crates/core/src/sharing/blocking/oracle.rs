//! Fixed point of `blocking` over the whole network at once, computed as plainly as possible.

use std::collections::BTreeMap;

use super::channels::Channels;
use crate::base::portable;

/// Links, their channels, and by flow the links that it crosses.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) capacities: Vec<f64>,
    pub(crate) channels: Channels,
    pub(crate) flows: Vec<Vec<u32>>,
}

/// Link and channel of a queue. Messages that start on a link that others cross, too, are in a channel of
/// their own.
pub(super) type Queue = (u32, u32);
pub(super) const SOURCE: u32 = u32::MAX;

impl Problem {
    /// Returns for each flow the queues that it goes through, up to the one behind its last link.
    fn queue_paths(&self) -> Vec<Vec<Queue>> {
        let mut lanes = Vec::new();
        let way = |links: &Vec<u32>| {
            self.channels.of_route(links, &mut lanes);
            let source = self.channels.has_source(links[0]).then_some((links[0], SOURCE));
            source.into_iter().chain(links.iter().copied().zip(lanes.iter().copied())).collect()
        };
        self.flows.iter().map(way).collect()
    }

    /// Returns the rates at the fixed point, found by moving all queues a part of the distance at once;
    /// `None` if that does not converge.
    pub(crate) fn fixed_point(&self) -> Option<Vec<f64>> {
        let queue_paths = self.queue_paths();
        let mut drains: BTreeMap<Queue, f64> =
            queue_paths.iter().flatten().map(|&queue| (queue, self.capacities[queue.0 as usize])).collect();
        for _ in 0..5000 {
            let required = self.required_drains(&queue_paths, &drains);
            let mut most = 0.0f64;
            for (queue, drain) in &mut drains {
                let by = required.get(queue).copied().unwrap_or(self.capacities[queue.0 as usize]) - *drain;
                most = most.max(by.abs() / *drain);
                *drain += 0.4 * by;
            }
            if most < 1e-11 {
                return Some(rates(&queue_paths, &drains));
            }
        }
        None
    }

    /// Returns the largest relative difference between these q and the values that the equations ask for.
    pub(crate) fn residual(&self, drains: &BTreeMap<Queue, f64>) -> f64 {
        let required = self.required_drains(&self.queue_paths(), drains);
        required.iter().map(|(queue, drain)| (drain - drains[queue]).abs() / drains[queue]).fold(0.0, f64::max)
    }

    /// Returns the q that the equations ask for, for each queue that has something to send.
    fn required_drains(&self, queue_paths: &[Vec<Queue>], drains: &BTreeMap<Queue, f64>) -> BTreeMap<Queue, f64> {
        let rates = rates(queue_paths, drains);
        // Rates that each queue takes of links, and of the queues behind them.
        let mut of_links: BTreeMap<u32, BTreeMap<Queue, f64>> = BTreeMap::new();
        let mut of_queues: BTreeMap<Queue, BTreeMap<Queue, f64>> = BTreeMap::new();
        let mut sums: BTreeMap<Queue, f64> = BTreeMap::new();
        for (way, rate) in queue_paths.iter().zip(rates) {
            for pair in way.windows(2) {
                let (from, to) = (pair[0], pair[1]);
                *of_links.entry(to.0).or_default().entry(from).or_default() += rate;
                *of_queues.entry(to).or_default().entry(from).or_default() += rate;
                *sums.entry(from).or_default() += rate;
            }
        }
        // By queue and link: the rate that it takes of the link, and its least offer there.
        let mut offers: BTreeMap<Queue, BTreeMap<u32, (f64, f64)>> = BTreeMap::new();
        for (&link, takers) in &of_links {
            for (&from, &taken) in takers {
                let others = takers.iter().filter(|(other, _)| **other != from).map(|(_, &taken)| taken);
                let level = level(&others.collect::<Vec<_>>(), self.capacities[link as usize]);
                offers.entry(from).or_default().insert(link, (taken, level));
            }
        }
        for (&to, takers) in &of_queues {
            if drains[&to] >= self.capacities[to.0 as usize] || !sums.contains_key(&to) {
                continue;
            }
            let enters = |from: &Queue| self.channels.enters_ring((from.1 != SOURCE).then_some(from.0), to.0);
            let in_ring: f64 = takers.iter().filter(|(from, _)| !enters(from)).map(|(_, taken)| taken).sum();
            for (&from, &taken) in takers {
                let others = takers.iter().filter(|(other, _)| **other != from && enters(other) == enters(&from));
                let room =
                    if enters(&from) { (drains[&to] - in_ring).max(super::BUBBLE * drains[&to]) } else { drains[&to] };
                let level = level(&others.map(|(_, &taken)| taken).collect::<Vec<_>>(), room);
                let (of_link, least) = offers.get_mut(&from).and_then(|of| of.get_mut(&to.0)).expect("it takes of it");
                *least = least.min(level * *of_link / taken);
            }
        }
        let required = |(&from, outputs): (&Queue, &BTreeMap<u32, (f64, f64)>)| {
            let capacity = self.capacities[from.0 as usize];
            let all: f64 = outputs.values().map(|(taken, _)| taken).sum();
            let alone = outputs.values().map(|(taken, level)| all * level / taken).fold(f64::INFINITY, f64::min);
            let passes = |(&link, &(taken, level)): (&u32, &(f64, f64))| {
                let others = || outputs.iter().filter(|(other, _)| **other != link).map(|(_, offer)| offer);
                let time = others().map(|(taken, level)| taken / level.min(capacity)).sum::<f64>() / (all - taken);
                let part = 1.0 - taken / all;
                part * time * portable::exp(portable::ln(part) / (level * time))
            };
            let is_first = queue_paths.iter().any(|way| way[0] == from);
            let passes = if is_first || outputs.len() == 1 {
                0.0
            } else {
                outputs.iter().map(passes).fold(f64::INFINITY, f64::min)
            };
            let least = (1.0 / (1.0 / alone + passes)).min(capacity);
            (from, least.max(super::MIN_DRAIN * capacity))
        };
        offers.iter().map(required).collect()
    }
}

/// Returns the rate of each flow, given the q of its first queue.
fn rates(queue_paths: &[Vec<Queue>], drains: &BTreeMap<Queue, f64>) -> Vec<f64> {
    let starting = |queue: Queue| queue_paths.iter().filter(|way| way[0] == queue).count() as f64;
    queue_paths.iter().map(|way| drains[&way[0]] / starting(way[0])).collect()
}

/// Returns L with `L + sum of min(others, L) = capacity`, by taking off the others that take less one after
/// another.
pub(super) fn level(others: &[f64], capacity: f64) -> f64 {
    let mut level = capacity / (others.len() + 1) as f64;
    loop {
        let less: Vec<f64> = others.iter().copied().filter(|&taken| taken < level).collect();
        let next = (capacity - less.iter().sum::<f64>()) / (others.len() - less.len() + 1) as f64;
        if next <= level {
            return level;
        }
        level = next;
    }
}

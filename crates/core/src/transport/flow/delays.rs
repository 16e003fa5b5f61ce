//! Delay by link: time that messages lose on the links that hold them back.

use super::interference::{Meter, ROUNDING};
use crate::ids::{FlowId, Id, RankId};
use crate::sharing::{Change, Terms};
use crate::units::Time;

/// Time that messages lose on each link.
///
/// Let a message under way have rate r, and alone the rate r1, the least c / a of its links or its own limit.
/// It loses `1 - r / r1` of each moment on its bottleneck, the link that gives it its rate:
/// ```text
/// d delay(l) / dt = sum over the messages that l holds back of (1 - r / r1)
/// ```
/// Over all links this adds up to the time that messages are under way longer than alone. If several links
/// give a message the same rate, the bottleneck is the link that held it back before, else the one that the
/// policy names. If capacities change, r1 is the value at the message's start.
///
/// Cost: O(1) for each rate that changes while the bottleneck stays the same, else O(h) for a message over h
/// links.
///
/// In a folded run a message stands for those of all ranks of a class (`FOLDED`). It is alone without them, and what
/// it loses counts for each of them.
#[derive(Debug)]
pub struct Delays<const FOLDED: bool = false> {
    /// Capacity by link \[B/s\].
    capacities: Vec<f64>,
    /// Capacity of every link, where they all have the same and have kept it \[B/s\].
    even: Option<f64>,
    /// Lost time by link \[s\].
    lost: Vec<f64>,
    flows: Vec<Held>,
    /// Flows that leave at the time of the next [`Meter::settle`].
    left: Vec<Held>,
    /// Number of messages that one of a rank stands for, in a folded run, and that of the next message.
    times: Vec<f64>,
    next: f64,
}

/// Message under way.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    /// Time that one byte takes it alone \[s\].
    alone: f64,
    /// Part of each moment that it loses.
    loses: f64,
    /// Time from which on it loses that part \[s\].
    since: f64,
    /// Number of messages that it stands for.
    times: f32,
    /// Its bottleneck.
    by: u32,
}

impl Held {
    /// Returns the time that it, or all messages that it stands for, have lost since its rate changed \[s\].
    #[inline]
    fn lost<const FOLDED: bool>(&self, now: f64) -> f64 {
        let lost = (now - self.since) * self.loses;
        if FOLDED { lost * f64::from(self.times) } else { lost }
    }
}

impl<const FOLDED: bool> Delays<FOLDED> {
    /// Creates a meter for links of these capacities \[B/s\], and for messages that stand for others, by rank.
    pub fn new(capacities: Vec<f64>, times: &[f64]) -> Self {
        let even = capacities.first().copied().filter(|first| capacities.iter().all(|capacity| capacity == first));
        let lost = vec![0.0; capacities.len()];
        Self { lost, capacities, even, flows: Vec::new(), left: Vec::new(), times: times.to_vec(), next: 1.0 }
    }

    /// Returns the rate of a message alone on these links, by parts and up to a limit \[B/s\].
    fn alone(&self, links: &[u32], parts: &[f64], limit: f64) -> f64 {
        match (self.even, parts) {
            (Some(capacity), []) => capacity.min(limit),
            (None, []) => links.iter().map(|&link| self.capacity(link)).fold(limit, f64::min),
            _ => links.iter().zip(parts).map(|(&link, part)| self.capacity(link) / part).fold(limit, f64::min),
        }
    }
}

impl<const FOLDED: bool> Meter for Delays<FOLDED> {
    const IS_ON: bool = true;

    #[inline]
    fn sender(&mut self, _: FlowId, src: RankId) {
        if FOLDED {
            self.next = self.times[src.index()];
        }
    }

    #[inline]
    fn start(&mut self, flow: u32, links: &[u32], parts: &[f64], Terms { limit, .. }: Terms) {
        let parts = if FOLDED { &[] } else { parts };
        let alone = self.alone(links, parts, limit).recip();
        let held = Held { alone, by: links[0], times: self.next as f32, ..Held::default() };
        if self.flows.len() <= flow as usize {
            self.flows.resize(flow as usize + 1, Held::default());
        }
        self.flows[flow as usize] = held;
    }

    #[inline]
    fn leave(&mut self, flow: u32) {
        self.left.push(self.flows[flow as usize]);
    }

    fn set_capacity(&mut self, link: u32, capacity: f64) {
        self.capacities[link as usize] = capacity;
        self.even = None;
    }

    fn settle(&mut self, now: Time, changes: &[Change], bottleneck: impl Fn(u32, u32) -> Option<u32>) {
        let now = now.seconds();
        let Self { lost, flows, left, .. } = self;
        for held in left.drain(..) {
            lost[held.by as usize] += held.lost::<FOLDED>(now);
        }
        for change in changes {
            let held = &mut flows[change.flow as usize];
            lost[held.by as usize] += held.lost::<FOLDED>(now);
            held.since = now;
            held.loses = 1.0 - change.new * held.alone;
            match if held.loses > ROUNDING { bottleneck(change.flow, held.by) } else { None } {
                Some(by) => held.by = by,
                None => held.loses = 0.0,
            }
        }
    }

    fn capacity(&self, link: u32) -> f64 {
        self.capacities[link as usize]
    }

    fn delays(&self) -> Option<Vec<f64>> {
        Some(self.lost.clone())
    }
}

//! Delay by link: time that messages lose on the links that hold them back.

use super::interference::{Meter, ROUNDING};
use crate::sharing::{Change, Terms};
use crate::units::Time;

/// Time that messages lose on each link.
///
/// A message under way with rate r, which alone would have r1, the least c / a of its links or its own limit, loses
/// `1 - r / r1` of each moment on its bottleneck, the link that gives it its rate:
/// ```text
/// d delay(l) / dt = sum over the messages that l holds back of (1 - r / r1)
/// ```
/// Over all links this adds up to the time that messages are under way longer than alone. Where several links give a
/// message the same rate, it is the one that held it back before, else the one that the policy names. Under changes of
/// capacities r1 is that of the message's start.
///
/// Cost: O(1) for each rate that changes while the bottleneck stays the same, else O(h) for a message over h links.
#[derive(Debug)]
pub struct Delays {
    /// By link \[B/s\].
    capacities: Vec<f64>,
    /// By link \[s\]; without what messages under way have lost on the bottlenecks that they have.
    lost: Vec<f64>,
    flows: Vec<Held>,
    /// Flows that go at the time of the next [`Meter::settle`].
    left: Vec<Held>,
}

/// A message under way.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    /// Time that one byte takes it alone \[s\].
    alone: f64,
    /// Part of each moment that it loses.
    loses: f64,
    /// Time from which on it loses that \[s\].
    since: f64,
    /// What it lost on its bottleneck before that \[s\].
    lost: f64,
    /// Its bottleneck.
    by: u32,
}

impl Held {
    /// Notes what it has lost up to now.
    fn wait(&mut self, now: f64) {
        self.lost += (now - self.since) * self.loses;
        self.since = now;
    }
}

impl Delays {
    /// Creates a meter for links of these capacities \[B/s\].
    pub fn new(capacities: Vec<f64>) -> Self {
        Self { lost: vec![0.0; capacities.len()], capacities, flows: Vec::new(), left: Vec::new() }
    }
}

impl Meter for Delays {
    const IS_ON: bool = true;

    fn start(&mut self, flow: u32, links: &[u32], parts: &[f64], Terms { limit, .. }: Terms) {
        let alone = match parts {
            [] => links.iter().map(|&link| self.capacity(link)).fold(limit, f64::min),
            parts => links.iter().zip(parts).map(|(&link, part)| self.capacity(link) / part).fold(limit, f64::min),
        };
        if self.flows.len() <= flow as usize {
            self.flows.resize(flow as usize + 1, Held::default());
        }
        self.flows[flow as usize] = Held { alone: alone.recip(), by: links[0], ..Held::default() };
    }

    fn leave(&mut self, flow: u32) {
        self.left.push(std::mem::take(&mut self.flows[flow as usize]));
    }

    fn set_capacity(&mut self, link: u32, capacity: f64) {
        self.capacities[link as usize] = capacity;
    }

    fn settle(&mut self, now: Time, changes: &[Change], bottleneck: impl Fn(u32, u32) -> Option<u32>) {
        let now = now.seconds();
        let Self { lost, flows, left, .. } = self;
        for mut held in left.drain(..) {
            held.wait(now);
            lost[held.by as usize] += held.lost;
        }
        for change in changes {
            let held = &mut flows[change.flow as usize];
            held.wait(now);
            held.loses = 1.0 - change.new * held.alone;
            let by = if held.loses > ROUNDING { bottleneck(change.flow, held.by) } else { None };
            match by {
                None => held.loses = 0.0,
                Some(by) if by == held.by => {}
                Some(by) => {
                    lost[held.by as usize] += std::mem::take(&mut held.lost);
                    held.by = by;
                }
            }
        }
    }

    fn capacity(&self, link: u32) -> f64 {
        self.capacities[link as usize]
    }

    fn delays(&self) -> Option<Vec<f64>> {
        let mut delays = self.lost.clone();
        self.flows.iter().for_each(|held| delays[held.by as usize] += held.lost);
        Some(delays)
    }
}

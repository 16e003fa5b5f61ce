//! Messages that start together, move evenly and arrive together.

use crate::ids::{FlowId, Id, LinkId, UniformOrEach};
use crate::units::{Bandwidth, Time};

/// Messages of a step in lock step: all that are under way.
///
/// Let messages of one size start at one instant on an idle network, with the same least share c / n along
/// the route of each. Then that is the rate of all, under equal share and max-min alike: each is held back by
/// a link whose n flows all get c / n, so the link is full. They all arrive at once. A regular placement
/// gives that on fabrics that can carry a permutation. Then the flows of each link only have to be counted:
/// no lists of flows, no queue of finish times. If anything starts before they arrive, or they are not even,
/// the caller takes them back ([`LockStep::give_back`]) and shares them in the usual way; the result is the
/// same up to rounding.
#[derive(Clone, Debug, Default)]
pub(super) struct LockStep {
    /// Capacity by link \[B/s\].
    capacities: UniformOrEach<LinkId, f64>,
    /// Number of flows by link.
    counts: Vec<u32>,
    flows: Vec<FlowId>,
    /// Size of each flow \[B\].
    bytes: Vec<u64>,
    /// Links of the flows, one after another, each flow's ended by [`END`].
    routes: Vec<u32>,
    /// Set if all have the same size so far.
    is_even: bool,
    /// Arrival time and rate \[B/s\], once they move.
    under_way: Option<(Time, f64)>,
}

/// Distance to the message whose links are announced, in messages.
const AHEAD: usize = 8;

/// Entry that ends the links of a flow.
const END: u32 = u32::MAX;

impl LockStep {
    /// Creates an empty step on links of these capacities \[B/s\].
    pub fn new(capacities: &[f64]) -> Self {
        Self {
            capacities: UniformOrEach::new(capacities.len(), |link: LinkId| capacities[link.index()]),
            counts: vec![0; capacities.len()],
            is_even: true,
            ..Self::default()
        }
    }

    /// Changes the capacity of a link while nothing moves.
    pub fn set_capacity(&mut self, link: u32, capacity: f64) {
        debug_assert!(self.under_way.is_none());
        self.capacities.set(LinkId(link), capacity);
    }

    /// True if messages move.
    #[inline]
    pub fn is_moving(&self) -> bool {
        self.under_way.is_some()
    }

    /// Returns the arrival time of the messages that move; [`Time::NEVER`] if none do.
    #[inline]
    pub fn arrival(&self) -> Time {
        self.under_way.map_or(Time::NEVER, |(arrival, _)| arrival)
    }

    /// Returns the rate of the messages that move \[B/s\].
    pub fn rate(&self) -> Option<f64> {
        self.under_way.map(|(_, rate)| rate)
    }

    /// Adds a message that starts at the time of the next [`LockStep::settle`].
    #[inline]
    pub fn start(&mut self, flow: FlowId, links: &[u32], bytes: u64) {
        debug_assert!(self.under_way.is_none());
        self.is_even &= self.bytes.first().is_none_or(|&first| first == bytes);
        self.flows.push(flow);
        self.bytes.push(bytes);
        for &link in links {
            self.counts[link as usize] += 1;
        }
        self.routes.extend_from_slice(links);
        self.routes.push(END);
    }

    /// Lets the messages move from `now` on if they are even; returns true if they are.
    pub fn settle(&mut self, now: Time) -> bool {
        if self.under_way.is_some() || self.flows.is_empty() {
            return true;
        }
        if self.is_even
            && let Some(rate) = self.common_rate()
        {
            let transfer = Bandwidth::from_bytes_per_second(rate).time_for(self.bytes[0] as f64);
            self.under_way = Some((now + transfer, rate));
        }
        self.under_way.is_some()
    }

    /// Returns the least share of the messages, if it is the same for all.
    fn common_rate(&self) -> Option<f64> {
        let (mut common, mut least) = (None, f64::INFINITY);
        for &link in &self.routes {
            if link != END {
                let (capacity, count) = (self.capacities.get(LinkId(link)), self.counts[link as usize]);
                let share = if count == 1 { capacity } else { capacity / f64::from(count) };
                least = if share < least { share } else { least };
            } else if least < f64::INFINITY && *common.get_or_insert(least) == least {
                least = f64::INFINITY;
            } else {
                return None;
            }
        }
        common
    }

    /// Returns the first of these links that gives its messages this rate.
    pub fn bottleneck(&self, links: &[u32], rate: f64) -> Option<u32> {
        let share = |link: u32| self.capacities.get(LinkId(link)) / f64::from(self.counts[link as usize]);
        links.iter().copied().find(|&link| share(link) == rate)
    }

    /// Takes out all messages, which have arrived.
    pub fn arrived(&mut self, flows: &mut Vec<FlowId>) {
        flows.extend_from_slice(&self.flows);
        self.clear();
    }

    /// Returns the messages, in the order in which they started, with their links.
    pub fn messages(&self) -> impl Iterator<Item = (FlowId, &[u32])> {
        self.flows.iter().copied().zip(self.routes.split(|&link| link == END))
    }

    /// Gives the messages back, in the order in which they started, with their links and bytes, and the links
    /// of a message that follows soon after, if there is one. Returns their arrival time if nothing changes.
    pub fn give_back(&mut self, mut each: impl FnMut(FlowId, &[u32], u64, &[u32])) -> Option<Time> {
        {
            let mut soon = self.messages().skip(AHEAD).map(|(_, links)| links);
            for ((flow, links), &bytes) in self.messages().zip(&self.bytes) {
                each(flow, links, bytes, soon.next().unwrap_or_default());
            }
        }
        let arrival = self.under_way.map(|(arrival, _)| arrival);
        self.clear();
        arrival
    }

    fn clear(&mut self) {
        for &link in &self.routes {
            if let Some(count) = self.counts.get_mut(link as usize) {
                *count = 0;
            }
        }
        self.flows.clear();
        self.bytes.clear();
        self.routes.clear();
        self.is_even = true;
        self.under_way = None;
    }
}

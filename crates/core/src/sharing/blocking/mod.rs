//! Blocking: rates that input queues with finite buffers let through, computed without simulating packets.

mod channels;
mod feasible;
mod levels;
mod queues;
mod solve;
mod virtual_output;

#[cfg(test)]
pub(crate) mod oracle;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

pub use channels::{ChannelRule, Channels};
pub use virtual_output::VirtualOutput;

use super::policy::{Change, Sharing};
#[cfg(test)]
use channels::NO_RING;
use feasible::Feasible;
use levels::Levels;
use queues::Queues;

/// Policy with rates of two qualities: rates that hold at once, and rates that are computed again.
pub trait RenewedSharing: Sharing {
    /// Appends the rates of new flows, and of the flows that share their sources, as far as they follow from
    /// the state at the last [`Sharing::solve`].
    fn report(&mut self, changes: &mut Vec<Change>);

    /// True if the last [`Sharing::solve`] converged, and nothing has changed since.
    fn is_settled(&self) -> bool;

    /// True if a flow has come whose source has never sent, so that nothing is known of its rate.
    fn is_fresh(&self) -> bool;

    /// Returns the links of a flow.
    fn links(&self, flow: u32) -> &[u32];
}

/// Blocking: first-in-first-out queues at the inputs, outputs that serve them in turn, and backpressure.
///
/// A queue b stands behind each link and virtual channel, and one in front of the network for each source.
/// Let y(b, o) be the rate that it takes of link o \[B/s\], X(b) the sum of that, and q(b) the rate that it
/// would let through if it always had bytes:
/// ```text
/// L(b, o) + sum over queues j != b at o of min(y(j, o), L(b, o)) = c(o)          the port of o serves inputs in turn
/// l(b, d) + sum over queues j != b before d of min(y(j, d), l(b, d)) = q(d)      where q(d) < c: its buffer is full
/// q(b) = X(b) min over o, d of (L(b, o) / y(b, o), l(b, d) / y(b, d))            the first byte holds up the rest
/// x(f) = min(c, q(first queue of f)) / flows that start there
/// ```
/// A turn of the worst output may find no byte for it at the head of a queue that also holds bytes for other
/// outputs. Let p be the part of the bytes that go to o, and L(b, o) the least of L and l for it. With s the
/// time that a byte for another output takes, the mean of 1 / L(b, o') over them:
/// ```text
/// 1 / q'(b) = 1 / q(b) + min over o of (1 - p) s (1 - p)^(1 / (L(b, o) s))
/// ```
/// So the output that is worst for a queue holds up all its flows in proportion. A full queue is a smaller
/// link to the queues before it, back to the sources. The model has no packets, no lengths of queues and no
/// sizes of buffers: it is the steady state of queues whose buffers are small beside messages. Under
/// [`ChannelRule::Bubble`] messages that enter a ring get the rest of q(d) that messages in the ring leave,
/// and at least a part `BUBBLE` of it.
///
/// The fixed point is searched around the change only. A list holds the links whose levels have to be worked
/// out again; each of them changes the q of the queues before it. A q that is off by more than `tolerance` of
/// itself moves by a part `DOWN` or `UP` of the distance. If all its bytes go the same way, it moves by all
/// of a small distance (`PIPE`). A move puts its link on the list, or all links of the flows that start
/// there. When the list is empty, every q is within `tolerance` of the value that the equations ask for. A
/// solve takes at most `Blocking::most` updates; the rest is left for the next.
///
/// Cost: an update O(n log n) for n queues at a link and its ends, and what they feed.
///
/// Source: the steady state of node models with spillback for road traffic: J. Gibb, "Model of Traffic Flow
/// Capacity Constraint through Nodes for Dynamic Network Loading with Queue Spillback", TRR 2263 (2011); R.
/// Smits et al., "A family of macroscopic node models", TR-B 74 (2015).
#[derive(Clone, Debug)]
pub struct Blocking {
    queues: Queues,
    feasible: Feasible,
    channels: Channels,
    tolerance: f64,
    /// Largest number of updates of a solve.
    most: usize,
    /// Links whose levels have to be computed again, in the order in which they were marked.
    stale: VecDeque<u32>,
    /// Flows whose wanted rates may have changed.
    touched: Vec<u32>,
    is_fresh: bool,
    solver: Levels,
    lanes: Vec<u32>,
}

/// Part of the distance that a q moves down, and up, in one update. A queue fills as soon as more comes than
/// goes, and has to empty before the flows that it held up are faster again.
const DOWN: f64 = 0.8;
const UP: f64 = 0.4;

/// Two constants for a pipe, a queue whose bytes all go the same way: the part of the tolerance that holds
/// when q is to rise, and the relative distance within which q takes the new value at once. Along a path of
/// pipes shortfalls add up, while excess is limited by the capacities of links ([`Feasible`]).
const PIPE: f64 = 0.1;
const CLOSE: f64 = 0.3;

/// Smallest part of the rate of its queue that messages entering a ring get: so no ring comes to a
/// standstill.
pub(super) const BUBBLE: f64 = 0.02;

/// Smallest q, as a part of its link's capacity: so no rate is 0.
const MIN_DRAIN: f64 = 1e-9;

/// Two thresholds, as parts of the tolerance. A link's levels are computed again once the changes of the
/// rates taken of it exceed `STALE_THRESHOLD`, relative to an even share of the narrowest of the link and the queues
/// behind it. A new rate is reported if it differs by more than `REPORT_THRESHOLD`, relative to itself.
const STALE_THRESHOLD: f64 = 0.5;
const REPORT_THRESHOLD: f64 = 0.2;

/// Largest number of updates of a solve: a constant, and a number for each link.
const MAX_UPDATES: usize = 3000;
const MOST_BY_LINK: usize = 4;

impl Blocking {
    /// Creates links of these capacities \[B/s\] with these channels, without flows.
    pub fn new(capacities: Vec<f64>, channels: Channels, tolerance: f64) -> Self {
        Self {
            queues: Queues::new(&capacities),
            feasible: Feasible::new(&capacities),
            channels,
            tolerance,
            most: MAX_UPDATES + MOST_BY_LINK * capacities.len(),
            stale: VecDeque::new(),
            touched: Vec::new(),
            is_fresh: false,
            solver: Levels::default(),
            lanes: Vec::new(),
        }
    }

    /// Marks a link whose levels have to be computed again.
    #[inline]
    fn mark(&mut self, link: u32) {
        if !std::mem::replace(&mut self.queues.links[link as usize].is_stale, true) {
            self.stale.push_back(link);
        }
    }

    /// Passes on the wanted rates that have changed.
    fn want(&mut self) {
        for flow in self.touched.drain(..) {
            let state = &mut self.queues.flows[flow as usize];
            state.is_touched = false;
            self.feasible.want_if_changed(flow, state.rate, REPORT_THRESHOLD * self.tolerance);
        }
    }
}

impl Sharing for Blocking {
    fn add(&mut self, flow: u32, links: &[u32]) {
        let mut lanes = std::mem::take(&mut self.lanes);
        self.channels.of_route(links, &mut lanes);
        self.is_fresh |= self.queues.add(flow, links, &lanes, &self.channels);
        self.lanes = lanes;
        self.feasible.add(flow, links);
        for place in 0..self.queues.flows[flow as usize].hops.len() {
            self.mark(self.queues.flows[flow as usize].hops[place].link);
        }
        self.divide(self.queues.flows[flow as usize].first);
    }

    fn remove(&mut self, flow: u32) {
        let first = self.queues.flows[flow as usize].first;
        for place in 0..self.queues.flows[flow as usize].hops.len() {
            let hop = self.queues.flows[flow as usize].hops[place];
            self.mark(hop.link);
            // A queue that no longer takes anything of that link has to be updated from another one.
            if let Some(other) = self.queues.other_link_of(hop) {
                self.mark(other);
            }
        }
        self.queues.remove(flow);
        self.feasible.remove(flow);
        self.divide(first);
    }

    fn set_capacity(&mut self, link: u32, capacity: f64) {
        self.queues.links[link as usize].capacity = capacity;
        self.feasible.set_capacity(link, capacity);
        self.mark(link);
        for fifo in self.queues.links[link as usize].fifos.clone().into_iter().filter(|&fifo| fifo != queues::NONE) {
            let state = &mut self.queues.fifos[fifo as usize];
            state.drain = if state.is_known { state.drain.min(capacity) } else { capacity };
            for claim in state.claims.clone() {
                self.mark(self.queues.claims[claim as usize].link);
            }
            self.divide(fifo);
        }
    }

    fn solve(&mut self, changes: &mut Vec<Change>) {
        self.is_fresh = false;
        self.relax();
        self.want();
        self.feasible.report(true, changes);
    }

    fn rate(&self, flow: u32) -> f64 {
        self.feasible.rate(flow)
    }

    /// Returns `None`: the queue that holds a flow back may hold none of its bytes.
    fn bottleneck(&self, _flow: u32) -> Option<u32> {
        None
    }

    fn may_leave_out_dominated_links(&self) -> bool {
        false
    }

    fn gives_even_flows_even_shares(&self) -> bool {
        false
    }
}

impl RenewedSharing for Blocking {
    fn report(&mut self, changes: &mut Vec<Change>) {
        self.want();
        self.feasible.report(false, changes);
    }

    fn is_settled(&self) -> bool {
        self.stale.is_empty()
    }

    fn is_fresh(&self) -> bool {
        self.is_fresh
    }

    fn links(&self, flow: u32) -> &[u32] {
        self.feasible.links(flow)
    }
}

//! Virtual output queues: outputs serve inputs in turn, without head-of-line blocking.

use std::collections::VecDeque;

use super::feasible::Feasible;
use super::levels::Levels;
use super::{Change, RenewedSharing, Sharing};

/// Part of the distance to the rate that its links offer by which a rate moves in one update.
const STEP: f64 = 0.7;

/// Virtual output queues, one for each output at every input: ports share links evenly, and flows share their
/// port's part.
///
/// With inputs b of a link o, x(f) the rate of a flow and y(b, o) the sum of those that come from b:
/// ```text
/// L(b, o) + sum over inputs j != b of min(y(j, o), L(b, o)) = c(o)
/// l(f, o) + sum over flows g != f of b of min(x(g), l(f, o)) = L(b, o)
/// x(f) = min over its links o of l(f, o)
/// ```
/// This is max-min fairness in two stages: each flow has a link on which its port gets no more, and no flow
/// of the port is faster. An input is the previous link, or the source. No message waits for one that goes to
/// another output, so this stands for buffers that no output can fill. Where all queues of an input share one
/// small buffer, its worst output fills it, and [`Blocking`](super::Blocking) is closer.
///
/// Rates are computed around the change, link by link, until each is within `tolerance` of the rate that
/// its links ask for. Reported rates never exceed the capacity of a link.
///
/// Source: N. McKeown, "The iSLIP Scheduling Algorithm for Input-Queued Switches", IEEE/ACM ToN 7 (1999), for
/// outputs that serve inputs in turn.
#[derive(Clone, Debug)]
pub struct VirtualOutput {
    links: Vec<Link>,
    flows: Vec<Flow>,
    feasible: Feasible,
    tolerance: f64,
    most: usize,
    stale: VecDeque<u32>,
    touched: Vec<u32>,
    of_ports: Levels,
    of_flows: Levels,
}

#[derive(Clone, Debug)]
struct Link {
    /// Capacity \[B/s\].
    capacity: f64,
    ports: Vec<Port>,
    is_stale: bool,
}

/// Flows that come to a link over another one, or from a source.
#[derive(Clone, Debug)]
struct Port {
    /// Previous link; this link for flows that start here.
    from: u32,
    flows: Vec<u32>,
}

#[derive(Clone, Debug, Default)]
struct Flow {
    links: Vec<u32>,
    /// By link: l \[B/s\].
    offers: Vec<f64>,
    rate: f64,
    is_touched: bool,
}

impl VirtualOutput {
    /// Creates links of these capacities \[B/s\] without flows.
    pub fn new(capacities: Vec<f64>, tolerance: f64) -> Self {
        let feasible = Feasible::new(&capacities);
        Self {
            most: super::MAX_UPDATES + super::MOST_BY_LINK * capacities.len(),
            links: capacities
                .into_iter()
                .map(|capacity| Link { capacity, ports: Vec::new(), is_stale: false })
                .collect(),
            flows: Vec::new(),
            feasible,
            tolerance,
            stale: VecDeque::new(),
            touched: Vec::new(),
            of_ports: Levels::default(),
            of_flows: Levels::default(),
        }
    }

    fn mark(&mut self, link: u32) {
        if !std::mem::replace(&mut self.links[link as usize].is_stale, true) {
            self.stale.push_back(link);
        }
    }

    fn mark_links(&mut self, flow: u32) {
        for hop in 0..self.flows[flow as usize].links.len() {
            self.mark(self.flows[flow as usize].links[hop]);
        }
    }

    fn touch(&mut self, flow: u32) {
        if !std::mem::replace(&mut self.flows[flow as usize].is_touched, true) {
            self.touched.push(flow);
        }
    }

    /// Passes on the wanted rates that have changed.
    fn want(&mut self) {
        for flow in self.touched.drain(..) {
            let state = &mut self.flows[flow as usize];
            state.is_touched = false;
            self.feasible.want_if_changed(flow, state.rate, super::REPORT_THRESHOLD * self.tolerance);
        }
    }

    /// Computes the rate that a link offers each of its flows. Flows whose rate is far from the least offer
    /// of their links move towards it.
    fn work_out(&mut self, link: u32) {
        let ports = std::mem::take(&mut self.links[link as usize].ports);
        let Self { links, flows, of_ports, of_flows, .. } = self;
        let taken = ports.iter().map(|port| port.flows.iter().map(|&flow| flows[flow as usize].rate).sum());
        let shares = of_ports.of(taken, links[link as usize].capacity);
        for (port, &share) in ports.iter().zip(shares) {
            let offers = of_flows.of(port.flows.iter().map(|&flow| flows[flow as usize].rate), share);
            for (&flow, &offer) in port.flows.iter().zip(offers) {
                let state = &mut flows[flow as usize];
                let hop = state.links.iter().position(|&other| other == link).unwrap_or(0);
                state.offers[hop] = offer;
            }
        }
        for &flow in ports.iter().flat_map(|port| &port.flows) {
            let state = &mut self.flows[flow as usize];
            let least = state.offers.iter().copied().fold(f64::INFINITY, f64::min);
            if (least - state.rate).abs() > self.tolerance * state.rate {
                // Only a part of the distance: offers and rates that follow each other at once may go round
                // in a circle.
                let part = if state.rate == 0.0 { 1.0 } else { STEP };
                state.rate += part * (least - state.rate);
                self.touch(flow);
                for hop in 0..self.flows[flow as usize].links.len() {
                    let other = self.flows[flow as usize].links[hop];
                    self.mark(other);
                }
            }
        }
        self.links[link as usize].ports = ports;
    }
}

impl Sharing for VirtualOutput {
    fn add(&mut self, flow: u32, links: &[u32]) {
        if self.flows.len() <= flow as usize {
            self.flows.resize_with(flow as usize + 1, Flow::default);
        }
        let mut from = links[0];
        for &link in links {
            let ports = &mut self.links[link as usize].ports;
            match ports.iter_mut().find(|port| port.from == from) {
                Some(port) => port.flows.push(flow),
                None => ports.push(Port { from, flows: vec![flow] }),
            }
            from = link;
        }
        let offers = links.iter().map(|&link| self.links[link as usize].capacity).collect();
        let state = &mut self.flows[flow as usize];
        state.links.clear();
        state.links.extend_from_slice(links);
        (state.offers, state.rate) = (offers, 0.0);
        self.feasible.add(flow, links);
        self.touch(flow);
        self.mark_links(flow);
    }

    fn remove(&mut self, flow: u32) {
        self.mark_links(flow);
        let links = std::mem::take(&mut self.flows[flow as usize].links);
        let mut from = links.first().copied().unwrap_or(0);
        for &link in &links {
            let ports = &mut self.links[link as usize].ports;
            if let Some(place) = ports.iter().position(|port| port.from == from) {
                ports[place].flows.retain(|&other| other != flow);
                if ports[place].flows.is_empty() {
                    ports.swap_remove(place);
                }
            }
            from = link;
        }
        self.flows[flow as usize].rate = 0.0;
        self.feasible.remove(flow);
    }

    fn set_capacity(&mut self, link: u32, capacity: f64) {
        self.links[link as usize].capacity = capacity;
        self.feasible.set_capacity(link, capacity);
        self.mark(link);
    }

    fn solve(&mut self, changes: &mut Vec<Change>) {
        for _ in 0..self.most {
            let Some(link) = self.stale.pop_front() else { break };
            self.links[link as usize].is_stale = false;
            self.work_out(link);
        }
        self.want();
        self.feasible.report(true, changes);
    }

    fn rate(&self, flow: u32) -> f64 {
        self.feasible.rate(flow)
    }

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

impl RenewedSharing for VirtualOutput {
    fn report(&mut self, changes: &mut Vec<Change>) {
        self.want();
        self.feasible.report(false, changes);
    }

    fn is_settled(&self) -> bool {
        self.stale.is_empty()
    }

    /// True if a new flow has no rate: flows have none before it is computed.
    fn is_fresh(&self) -> bool {
        self.touched.iter().any(|&flow| self.feasible.wanted(flow) == 0.0)
    }

    fn links(&self, flow: u32) -> &[u32] {
        self.feasible.links(flow)
    }
}

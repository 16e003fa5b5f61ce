//! Flows with weights, windows and traffic on the way back.

use super::flows::Flows;
use super::interference::Meter;
use super::spec::{FlowSpec, Weights};
use crate::fabric::{Fabric, Link};
use crate::ids::{FlowId, IdVec, LinkId};
use crate::routing::Router;
use crate::sharing::{SharingSpec, Terms};
use crate::transport::{Entry, Facts, Transport, Wants};
use crate::units::{Bandwidth, Time};

/// Messages as flows that share links with weights and limits of their own.
///
/// Let L be the sum of the latencies of a message's route \[s\], B(l) the bandwidth of link l, and v the
/// weight that the workload gives the message ([`Workload::weight`](crate::workload::Workload::weight)), by
/// default 1. The options of [`FlowSpec`] are phi: bandwidth factor, S: weight size, W: window, x: part on
/// the way back.
/// ```text
/// c(l) = phi B(l)                             bandwidth that all messages on l get together
/// w    = v / (L + sum over l of S / B(l))     weight; v where L is 0, or without weights
/// r   <= phi W / (2 L)                        rate; no limit where L is 0, or without a window
/// a(l) = 1 on links of the route, plus x on links of the way back
/// r   <= phi B(l)                             on links of which each message has the bandwidth to itself
/// ```
/// On several paths the router gives a(l), and L and the sum are means over the paths: each link counts a(l)
/// times. Rates are those of weighted max-min ([`WeightedMaxMin`](crate::sharing::WeightedMaxMin)), or of
/// equal share by parts. The message has waited for `latency factor * L` before.
///
/// With weights or traffic on the way back, a link of which each message has the bandwidth to itself is a
/// *pipe* under max-min: its messages all stop where the first of them has its bandwidth, and a(l) is the
/// larger of both directions.
///
/// Source: SimGrid 3.32, models CM02 (Casanova, Marchal, *A network model for simulation of grid
/// application*, 2002) and LV08 (Velho, Legrand, *Accuracy study and improvement of network simulation in the
/// SimGrid framework*, 2009).
#[derive(Debug)]
pub struct FlowsOnTerms<M = ()> {
    flows: Flows<M>,
    latency_factor: f64,
    bandwidth_factor: f64,
    weights: Weights,
    /// S, the weight size \[B\].
    weight_size: f64,
    /// W, the window \[B\]; infinite for none.
    window: f64,
    /// x, the part of the rate on the way back.
    cross_traffic: f64,
    links: IdVec<LinkId, Wire>,
    /// True if messages have weights of their own.
    weighted: bool,
    /// Links of the message that starts, and its part on each.
    crossed: Vec<u32>,
    parts: Vec<f64>,
    /// By link: its place in `crossed`, while a message starts.
    places: IdVec<LinkId, u32>,
}

/// Properties of a link.
#[derive(Clone, Copy, Debug)]
struct Wire {
    /// Bandwidth \[B/s\].
    bandwidth: f64,
    /// Latency \[s\].
    latency: f64,
    /// Set if each message has the bandwidth to itself.
    own: bool,
    /// Set if the link is a pipe, so that one message stops all others there, too.
    pipe: bool,
}

/// Sums over the links of a message.
#[derive(Clone, Copy, Debug)]
struct Extent {
    /// L, the sum of latencies \[s\].
    latency: f64,
    /// Sum of S / B(l) \[s\].
    queued: f64,
    /// Rate that its narrowest shared link allows it alone \[B/s\].
    narrowest: f64,
    /// Rate that links allow on which each message has the bandwidth to itself \[B/s\].
    own: f64,
}

/// Place of a link that the starting message does not cross.
const ABSENT: u32 = u32::MAX;

impl FlowsOnTerms {
    /// Creates the transport of this fabric, with nothing under way; `None` if the sharing policy is not
    /// defined for flows with terms.
    pub fn new(fabric: &Fabric, router: &dyn Router, spec: &FlowSpec, sharing: &SharingSpec) -> Option<Self> {
        Self::metered(fabric, router, spec, sharing, false, |flows| flows)
    }
}

impl<M: Meter> FlowsOnTerms<M> {
    /// Creates the transport under a meter, where messages may have weights of their own (`weighted`).
    pub(super) fn metered(
        fabric: &Fabric,
        router: &dyn Router,
        spec: &FlowSpec,
        sharing: &SharingSpec,
        weighted: bool,
        metered: impl FnOnce(Flows) -> Flows<M>,
    ) -> Option<Self> {
        let factor = *spec.bandwidth_factor;
        let wire = |(id, link): (LinkId, &Link)| Wire {
            bandwidth: link.capacity.bytes_per_second(),
            latency: link.latency.seconds(),
            own: fabric.is_own(id),
            pipe: false,
        };
        let mut links: IdVec<LinkId, Wire> = fabric.links().iter_ids().map(wire).collect();
        let capacities: Vec<f64> = fabric.shared_capacities().into_iter().map(|capacity| factor * capacity).collect();
        let mut sharing = sharing.build_on_terms(capacities.clone())?;
        if !spec.weights.is_even() || *spec.cross_traffic > 0.0 {
            let own = fabric.links().ids().filter(|&id| fabric.is_own(id));
            own.for_each(|id| links[id].pipe = sharing.make_pipe(id.0, factor * links[id].bandwidth));
        }
        Some(Self {
            // (Not one at a time: acknowledgements of other messages leave a node beside its one message.)
            flows: metered(Flows::shared_by(sharing, &capacities, fabric, router, false)),
            latency_factor: *spec.latency_factor,
            bandwidth_factor: factor,
            weights: spec.weights,
            weight_size: spec.weight_size.0 as f64,
            window: spec.window.as_ref().map_or(f64::INFINITY, |window| window.0 as f64),
            cross_traffic: *spec.cross_traffic,
            weighted,
            crossed: Vec::new(),
            parts: Vec::new(),
            places: IdVec::filled(links.len(), ABSENT),
            links,
        })
    }

    /// Returns the rate of a message under way, as of the last [`Transport::settle`] \[B/s\].
    pub fn rate(&self, flow: FlowId) -> f64 {
        self.flows.rate(flow)
    }

    /// Returns the bottleneck link of a message, as of the last [`Transport::settle`], if there is one.
    pub fn bottleneck(&self, flow: FlowId) -> Option<LinkId> {
        self.flows.bottleneck(flow)
    }

    /// Returns the sums over the links that a message crosses, given its part on each.
    fn extent(&self, crossed: impl Iterator<Item = (LinkId, f64)>) -> Extent {
        let mut extent = Extent { latency: 0.0, queued: 0.0, narrowest: f64::INFINITY, own: f64::INFINITY };
        for (link, part) in crossed {
            let Wire { bandwidth, latency, own, .. } = self.links[link];
            extent.latency += part * latency;
            extent.queued += part * self.weight_size / bandwidth;
            let least = if own { &mut extent.own } else { &mut extent.narrowest };
            *least = least.min(self.bandwidth_factor * bandwidth / part);
        }
        extent
    }

    /// Returns the largest rate that the window allows a message of this latency \[s\].
    fn limit(&self, latency: f64) -> f64 {
        if latency > 0.0 { self.bandwidth_factor * self.window / (2.0 * latency) } else { f64::INFINITY }
    }

    /// Returns weight and limit of a message.
    fn terms(&self, Extent { latency, queued, narrowest, own }: Extent) -> Terms {
        let weight = match self.weights {
            Weights::RoundTrip if latency > 0.0 => 1.0 / (latency + queued),
            Weights::RoundTrip | Weights::Even => 1.0,
        };
        let limit = self.limit(latency).min(own);
        // A limit that the narrowest link enforces anyway can be dropped.
        Terms { weight, limit: if limit < narrowest { limit } else { f64::INFINITY } }
    }

    /// Adds `part` to the part of its rate that the starting message takes on a link.
    ///
    /// Links that never bind are left out: a message that crosses such a link, there or back, takes no less
    /// of the link that dominates it.
    fn cross(&mut self, link: LinkId, part: f64) {
        if self.flows.numbers.get(link).is_none() {
            return;
        }
        match self.places[link] {
            ABSENT => {
                self.places[link] = self.crossed.len() as u32;
                self.crossed.push(link.0);
                self.parts.push(part);
            }
            place => {
                let before = &mut self.parts[place as usize];
                *before = if self.links[link].pipe { before.max(part) } else { *before + part };
            }
        }
    }
}

impl<M: Meter> Transport for FlowsOnTerms<M> {
    fn latency_factor(&self) -> f64 {
        self.latency_factor
    }

    fn wants(&self) -> Wants {
        Wants { ways_back: self.cross_traffic > 0.0, weights: self.weighted, to_ask: false }
    }

    fn alone(&self, route: &[LinkId], bytes: u64) -> Option<Time> {
        let Extent { latency, narrowest, own, .. } = self.extent(Entry::new(FlowId(0), route, bytes).crossed());
        let rate = self.limit(latency).min(narrowest).min(own);
        let transfer = if bytes == 0 || route.is_empty() { 0.0 } else { bytes as f64 / rate };
        Some(Time::from_seconds(self.latency_factor * latency + transfer))
    }

    fn start(&mut self, entry: &Entry<'_>) {
        let mut terms = self.terms(self.extent(entry.crossed()));
        terms.weight *= entry.options.weight;
        entry.crossed().for_each(|(link, part)| self.cross(link, part));
        entry.options.way_back.iter().for_each(|&link| self.cross(link, self.cross_traffic));
        self.flows.start_on_terms(entry, &self.crossed, &self.parts, terms);
        self.crossed.drain(..).for_each(|link| self.places[LinkId(link)] = ABSENT);
        self.parts.clear();
    }

    fn set_capacity(&mut self, link: LinkId, capacity: Bandwidth) {
        let bandwidth = capacity.bytes_per_second();
        self.links[link].bandwidth = bandwidth;
        let capacity = self.bandwidth_factor * bandwidth;
        match self.links[link] {
            // (The meter only needs the capacities of shared links.)
            Wire { pipe: true, .. } => self.flows.sharing.set_capacity(link.0, capacity),
            Wire { own: true, .. } => {}
            _ => self.flows.set_capacity(link, Bandwidth::from_bytes_per_second(capacity)),
        }
    }

    fn cancel(&mut self, flow: FlowId) {
        self.flows.cancel(flow);
    }

    fn settle(&mut self, now: Time) {
        self.flows.settle(now);
    }

    fn next_arrival(&mut self, horizon: Time) -> Time {
        self.flows.next_arrival(horizon)
    }

    fn arrived(&mut self, until: Time, flows: &mut Vec<FlowId>) {
        self.flows.arrived(until, flows);
    }

    fn facts(&self) -> Facts {
        self.flows.facts()
    }
}

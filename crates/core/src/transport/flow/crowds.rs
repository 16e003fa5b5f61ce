//! Exact max-min fairness of messages, where it is not known in advance how many will share a link.
//!
//! Sharing flow by flow is the fastest where few messages share a link, sharing by groups where hundreds do
//! ([`GroupFlows`]). A pattern shows this before it starts, a program only while it runs. So messages are
//! shared flow by flow until [`CROWD`] of them cross one link, then by groups, and flow by flow again once no
//! link has [`FEW`]. Messages under way keep their remaining bytes: rates are the same, and so are arrivals,
//! up to rounding. The result equals that of [`Flows`] to the last bit where such crowds never meet, or their
//! messages are in lock step. The change depends only on the messages under way, so it is the same on every
//! machine.

use smallvec::SmallVec;

use super::delays::Delays;
use super::interference::Meter;
use super::{Flows, GroupFlows};
use crate::fabric::Fabric;
use crate::ids::{FlowId, LinkId};
use crate::routing::Router;
use crate::sharing::MaxMin;
use crate::transport::{Entry, Facts, Transport};
use crate::units::Time;

/// Number of messages on one link from which on groups are faster; equals the limit for messages to one rank
/// of a pattern.
pub(super) const CROWD: u32 = 256;
/// Number of messages on one link below which groups are given up: small enough to avoid constant changes.
const FEW: u32 = 64;

/// Place of a flow that is not under way.
const ABSENT: u32 = u32::MAX;

/// Messages as flows, by groups while many share a link.
#[derive(Debug)]
pub struct CrowdedFlows<M = ()> {
    flows: Flows<M, MaxMin>,
    /// Groups, created when they are first needed.
    groups: Option<Box<GroupFlows>>,
    by_groups: bool,
    capacities: Vec<f64>,
    /// By link: number of messages on it.
    on_link: Vec<u32>,
    /// Number of links with at least [`CROWD`] messages, and with at least [`FEW`].
    crowded: u32,
    busy: u32,
    /// By flow: its links that can hold it back, and its place among the flows under way.
    routes: Vec<SmallVec<[u32; 8]>>,
    places: Vec<u32>,
    under_way: Vec<u32>,
    links: Vec<u32>,
    #[cfg(test)]
    changes: u32,
}

impl CrowdedFlows {
    /// Creates the transport of this fabric, with nothing under way. `one_at_a_time`: no node ever sends two
    /// messages at once.
    pub fn new(fabric: &Fabric, router: &dyn Router, one_at_a_time: bool) -> Self {
        let capacities = fabric.shared_capacities();
        let policy = Box::new(MaxMin::new(capacities.clone()));
        Self::of(Flows::shared_by(policy, &capacities, fabric, router, one_at_a_time), capacities)
    }

    /// Puts the flows under a meter of delays. These are known if no crowd meets.
    pub(super) fn with_delays(self, fabric: &Fabric, factor: f64) -> CrowdedFlows<Delays> {
        CrowdedFlows::of(self.flows.with_delays(fabric, factor), self.capacities)
    }
}

impl<M: Meter> CrowdedFlows<M> {
    fn of(flows: Flows<M, MaxMin>, capacities: Vec<f64>) -> Self {
        Self {
            flows,
            groups: None,
            by_groups: false,
            on_link: vec![0; capacities.len()],
            capacities,
            crowded: 0,
            busy: 0,
            routes: Vec::new(),
            places: Vec::new(),
            under_way: Vec::new(),
            links: Vec::new(),
            #[cfg(test)]
            changes: 0,
        }
    }

    /// Returns the transport in use at present.
    fn active_transport(&mut self) -> &mut dyn Transport {
        match &mut self.groups {
            Some(groups) if self.by_groups => &mut **groups,
            _ => &mut self.flows,
        }
    }

    fn note(&mut self, flow: FlowId, route: &[LinkId]) {
        let mut links = std::mem::take(&mut self.links);
        let kept = self.flows.numbers.keep(route, &mut links);
        let at = flow.0 as usize;
        if self.routes.len() <= at {
            self.routes.resize(at + 1, SmallVec::new());
            self.places.resize(at + 1, ABSENT);
        }
        self.routes[at].clear();
        self.routes[at].extend_from_slice(kept);
        for &link in kept {
            let on = &mut self.on_link[link as usize];
            *on += 1;
            self.busy += u32::from(*on == FEW);
            self.crowded += u32::from(*on == CROWD);
        }
        self.places[at] = self.under_way.len() as u32;
        self.under_way.push(flow.0);
        self.links = links;
    }

    fn forget(&mut self, flow: FlowId) {
        let at = flow.0 as usize;
        for &link in &self.routes[at] {
            let on = &mut self.on_link[link as usize];
            self.busy -= u32::from(*on == FEW);
            self.crowded -= u32::from(*on == CROWD);
            *on -= 1;
        }
        let place = std::mem::replace(&mut self.places[at], ABSENT);
        self.under_way.swap_remove(place as usize);
        if let Some(&moved) = self.under_way.get(place as usize) {
            self.places[moved as usize] = place;
        }
    }

    /// Changes from flow by flow to groups, or back; the old transport must be settled.
    #[cold]
    fn change(&mut self, now: Time) {
        let Self { flows, groups, capacities, under_way, routes, .. } = self;
        let groups = groups.get_or_insert_with(|| Box::new(GroupFlows::on(capacities.clone(), flows.numbers.clone())));
        // The order does not depend on the history.
        let mut all = under_way.clone();
        all.sort_unstable();
        let mut left = Vec::with_capacity(all.len());
        match self.by_groups {
            false => flows.hand_over(now, &all, &mut left),
            true => groups.hand_over(now, &all, &mut left),
        }
        let with_routes = all.iter().zip(left).map(|(&flow, left)| (flow, &*routes[flow as usize], left));
        match self.by_groups {
            false => groups.take_over(now, with_routes),
            true => flows.take_over(now, with_routes),
        }
        self.by_groups = !self.by_groups;
        #[cfg(test)]
        {
            self.changes += 1;
        }
    }
}

impl<M: Meter> Transport for CrowdedFlows<M> {
    fn start(&mut self, entry: &Entry<'_>) {
        self.note(entry.flow, entry.links);
        self.active_transport().start(entry);
    }

    fn settle(&mut self, now: Time) {
        self.active_transport().settle(now);
        // Messages in lock step are faster than either form.
        let changes = match &self.groups {
            Some(groups) if self.by_groups => self.busy == 0 && groups.shared() == self.under_way.len(),
            _ => self.crowded > 0 && self.flows.shared() > 0,
        };
        if changes {
            self.change(now);
        }
    }

    fn next_arrival(&mut self, horizon: Time) -> Time {
        self.active_transport().next_arrival(horizon)
    }

    fn arrived(&mut self, until: Time, flows: &mut Vec<FlowId>) {
        let before = flows.len();
        self.active_transport().arrived(until, flows);
        for &flow in &flows[before..] {
            self.forget(flow);
        }
    }

    fn facts(&self) -> Facts {
        let facts = self.flows.facts();
        Facts { delays: facts.delays.filter(|_| self.groups.is_none()), ..facts }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::played::{Start, play};
    use super::*;
    use crate::diagnostic::Sources;
    use crate::rng::Stream;
    use crate::routing::RoutingSpec;
    use crate::sharing::SharingSpec;
    use crate::topology::TopologySpec;

    /// Creates messages: a crowd at node 0 in the first half and again in the last third, else messages
    /// between random nodes with time in between.
    fn starts(random: &mut Stream, nodes: u32, count: u32) -> Vec<Start> {
        let mut now = 0.0;
        let start = |at: u32| {
            let crowd = at < count / 2 || at > count / 3 * 2;
            now += random.unit() * if crowd { 1e5 } else { 6e11 / f64::from(count) };
            let from = 1 + random.below(u64::from(nodes) - 1) as u32;
            let to = if crowd && !at.is_multiple_of(4) {
                0
            } else {
                (from + 1 + random.below(u64::from(nodes) - 1) as u32) % nodes
            };
            let to = if to == from { 0 } else { to };
            (now, from, to, 10_000 + random.below(40_000))
        };
        (0..count).map(start).collect()
    }

    fn on(topology: &str, count: u32) -> (u32, Vec<f64>, Vec<f64>) {
        let spec: TopologySpec = crate::reading::from_toml(topology).unwrap();
        let fabric = Arc::new(spec.build(&mut Sources::default()).unwrap());
        let router = RoutingSpec::default_for(&fabric).build(&fabric, 1).unwrap();
        let starts = starts(&mut Stream::new(1, topology), fabric.nodes(), count);
        let sharing: SharingSpec = crate::reading::from_toml("[max-min]").unwrap();
        let mut crowded = CrowdedFlows::new(&fabric, &*router, false);
        let found = play(&*router, &starts, &mut crowded);
        let expected = play(&*router, &starts, &mut Flows::new(&fabric, &*router, &sharing, false));
        assert!(crowded.under_way.is_empty() && crowded.on_link.iter().all(|&on| on == 0));
        assert_eq!((crowded.crowded, crowded.busy), (0, 0));
        (crowded.changes, found, expected)
    }

    #[test]
    fn crowds_come_and_go_and_messages_arrive_as_one_by_one() {
        for topology in [
            "[fat-tree]\np = 4\nbandwidth = \"1 GB/s\"\n",
            "[torus]\ndims = [8, 8]\nbandwidth = \"1 GB/s\"\n",
            "[crossbar]\nnodes = 40\nbandwidth = \"1 GB/s\"\n",
        ] {
            let (changes, found, expected) = on(topology, 2000);
            assert!(changes >= 3, "{topology}: {changes} changes");
            for (found, expected) in found.iter().zip(&expected) {
                assert!((found - expected).abs() <= 1e-9 * expected, "{topology}: {found} ps, {expected} ps");
            }
        }
    }

    #[test]
    fn where_no_crowd_meets_nothing_is_different() {
        let (changes, found, expected) = on("[fat-tree]\np = 4\nbandwidth = \"1 GB/s\"\n", 300);
        assert_eq!(changes, 0);
        assert_eq!(found, expected);
    }
}

//! Flow-level transport by groups: exact max-min fairness where many flows share a bottleneck.

use super::binding::{Numbers, binding_links};
use super::finish_queue::FinishQueue;
use super::group_clock::{ABSENT, GroupClock};
use super::lock_step::LockStep;
use crate::fabric::Fabric;
use crate::ids::FlowId;
use crate::routing::Router;
use crate::sharing::Groups;
use crate::transport::{Entry, Transport};
use crate::units::Time;

/// Messages as flows, in groups that the same link holds back.
///
/// The model is that of [`Flows`](super::Flows) with exact max-min fairness, and so are the arrivals, up to
/// rounding. The difference is the cost of an event. A message that comes or goes changes the level of a few
/// groups, and a group has one entry in the queue of arrivals, however many flows it holds. The ends of its
/// flows are stored in the group's virtual time, in which a change of level moves none. With n messages to
/// one node at once, an event takes O(log n) instead of O(n).
#[derive(Debug)]
pub struct GroupFlows {
    groups: Groups,
    /// Number of flows in `groups`.
    shared: usize,
    /// Messages in lock step, if any: then `groups` has none.
    lock_step: LockStep,
    /// Time since which messages in lock step move.
    in_step_since: Time,
    /// Numbers of the links that can hold a flow back.
    numbers: Numbers,
    /// Clock of each group.
    clocks: Vec<GroupClock>,
    /// Next arrival of each group.
    arrivals: FinishQueue,
    /// By flow: the group whose clock it is in, its place there, and while it is in none, its remaining bytes
    /// \[B\].
    homes: Vec<u32>,
    places: Vec<u32>,
    left: Vec<f64>,
    /// Groups whose next arrival may have changed, each once.
    stale: Vec<u32>,
    is_stale: Vec<bool>,
    /// Time of the last settling.
    now: Time,
    links: Vec<u32>,
}

impl GroupFlows {
    /// Creates the transport of this fabric, with nothing under way. `one_at_a_time`: no node ever sends two
    /// messages at once.
    pub fn new(fabric: &Fabric, router: &dyn Router, one_at_a_time: bool) -> Self {
        Self::on(fabric.shared_capacities(), Numbers::same(&binding_links(fabric, router, one_at_a_time)))
    }

    /// Creates the transport on links of these capacities \[B/s\], which have the numbers of the fabric.
    pub(super) fn on(capacities: Vec<f64>, numbers: Numbers) -> Self {
        Self {
            lock_step: LockStep::new(&capacities),
            clocks: Vec::new(),
            is_stale: Vec::new(),
            groups: Groups::new(capacities),
            shared: 0,
            in_step_since: Time::ZERO,
            numbers,
            arrivals: FinishQueue::default(),
            homes: Vec::new(),
            places: Vec::new(),
            left: Vec::new(),
            stale: Vec::new(),
            now: Time::ZERO,
            links: Vec::new(),
        }
    }

    /// Adds a flow to the shared ones.
    fn share(&mut self, flow: FlowId, bytes: f64) {
        self.groups.add_flow(flow.0, &self.links);
        self.shared += 1;
        let flow = flow.0 as usize;
        if self.left.len() <= flow {
            self.left.resize(flow + 1, 0.0);
            self.homes.resize(flow + 1, ABSENT);
            self.places.resize(flow + 1, 0);
        }
        self.left[flow] = bytes;
        self.homes[flow] = ABSENT;
    }

    /// Shares the messages that were in lock step by groups from now on.
    #[cold]
    fn leave_lock_step(&mut self) {
        let mut lock_step = std::mem::take(&mut self.lock_step);
        let arrival = lock_step.give_back(|flow, links, bytes, _| {
            self.links.clear();
            self.links.extend_from_slice(links);
            self.share(flow, bytes as f64);
        });
        self.lock_step = lock_step;
        if arrival.is_some() {
            // They are under way, at the rates that they would have had by themselves.
            self.share_out(self.in_step_since);
        }
    }

    /// Returns the number of flows that are shared, and not in lock step.
    pub(super) fn shared(&self) -> usize {
        self.shared
    }

    /// Takes over flows that are under way, with their links and remaining bytes \[B\]; nothing is in lock
    /// step.
    pub(super) fn take_over<'a>(&mut self, now: Time, flows: impl Iterator<Item = (u32, &'a [u32], f64)>) {
        for (flow, links, left) in flows {
            self.links.clear();
            self.links.extend_from_slice(links);
            self.share(FlowId(flow), left);
        }
        self.share_out(now);
    }

    /// Hands over these flows, which are all that are under way and shared, and writes their remaining bytes
    /// \[B\].
    pub(super) fn hand_over(&mut self, now: Time, flows: &[u32], left: &mut Vec<f64>) {
        for &flow in flows {
            let home = std::mem::replace(&mut self.homes[flow as usize], ABSENT);
            left.push(match home {
                ABSENT => self.left[flow as usize],
                home => {
                    self.mark(home);
                    self.clocks[home as usize].leave(now, flow, &mut self.places)
                }
            });
            self.groups.remove_flow(flow);
            self.shared -= 1;
        }
        self.share_out(now);
    }

    fn mark(&mut self, group: u32) {
        if !std::mem::replace(&mut self.is_stale[group as usize], true) {
            self.stale.push(group);
        }
    }

    /// Computes the levels, moves flows between the clocks and updates the next arrivals.
    fn share_out(&mut self, now: Time) {
        self.now = now;
        self.groups.solve_groups();
        self.clocks.resize(self.groups.group_bound(), GroupClock::default());
        self.is_stale.resize(self.groups.group_bound(), false);
        for index in 0..self.groups.moved().len() {
            let flow = self.groups.moved()[index];
            let home = self.homes[flow as usize];
            if home != ABSENT && self.groups.group(flow) != Some(home) {
                self.left[flow as usize] = self.clocks[home as usize].leave(now, flow, &mut self.places);
                self.homes[flow as usize] = ABSENT;
                self.mark(home);
            }
        }
        for index in 0..self.groups.touched().len() {
            let group = self.groups.touched()[index];
            let clock = &mut self.clocks[group as usize];
            if clock.set_level(now, self.groups.level(group)) && !clock.is_empty() {
                self.mark(group);
            }
        }
        for index in 0..self.groups.moved().len() {
            let flow = self.groups.moved()[index];
            let Some(group) = self.groups.group(flow).filter(|_| self.homes[flow as usize] == ABSENT) else {
                continue;
            };
            self.clocks[group as usize].join(now, flow, self.left[flow as usize], &mut self.places);
            self.homes[flow as usize] = group;
            self.mark(group);
        }
        for group in self.stale.drain(..) {
            self.is_stale[group as usize] = false;
            self.arrivals.set(group, self.clocks[group as usize].next_arrival(now).ps());
        }
        self.groups.end_solve();
    }
}

impl Transport for GroupFlows {
    fn start(&mut self, entry: &Entry<'_>) {
        if self.lock_step.is_moving() {
            self.leave_lock_step();
        }
        let kept = self.numbers.keep(entry.links, &mut self.links).len();
        self.links.truncate(kept);
        if self.shared == 0 {
            self.lock_step.start(entry.flow, &self.links, entry.bytes);
        } else {
            self.share(entry.flow, entry.bytes as f64);
        }
    }

    fn settle(&mut self, now: Time) {
        if self.shared == 0 {
            let was_moving = self.lock_step.is_moving();
            if self.lock_step.settle(now) {
                if !was_moving {
                    self.in_step_since = now;
                }
                return;
            }
            self.leave_lock_step();
        }
        self.share_out(now);
    }

    fn next_arrival(&mut self, _horizon: Time) -> Time {
        self.lock_step.arrival().min(Time::from_ps(self.arrivals.earliest()))
    }

    fn arrived(&mut self, until: Time, flows: &mut Vec<FlowId>) {
        if self.lock_step.arrival() <= until {
            self.lock_step.arrived(flows);
        }
        while self.arrivals.earliest() <= until.ps() {
            let Some(group) = self.arrivals.pop() else { break };
            let clock = &mut self.clocks[group as usize];
            if let Some(flow) = clock.first() {
                clock.leave(until, flow, &mut self.places);
                self.homes[flow as usize] = ABSENT;
                self.groups.remove_flow(flow);
                self.shared -= 1;
                flows.push(FlowId(flow));
            }
            self.arrivals.set(group, self.clocks[group as usize].next_arrival(self.now).ps());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::Flows;
    use super::super::played::{Start, play};
    use super::*;
    use crate::diagnostic::Sources;
    use crate::rng::Stream;
    use crate::routing::RoutingSpec;
    use crate::sharing::SharingSpec;
    use crate::topology::TopologySpec;

    /// Plays the messages by flows and by groups on a fabric and compares every arrival.
    fn arrive_alike(topology: &str, starts: impl Fn(&mut Stream, u32) -> Vec<Start>) {
        let spec: TopologySpec = crate::reading::from_toml(topology).unwrap();
        let fabric = Arc::new(spec.build(&mut Sources::default()).unwrap());
        let router = RoutingSpec::default_for(&fabric).build(&fabric, 1).unwrap();
        let starts = starts(&mut Stream::new(1, topology), fabric.nodes());
        let one_by_one = play(&*router, &starts, &mut Flows::new(&fabric, &*router, &SharingSpec::default(), false));
        let by_groups = play(&*router, &starts, &mut GroupFlows::new(&fabric, &*router, false));
        for (message, (expected, arrival)) in one_by_one.into_iter().zip(by_groups).enumerate() {
            assert!(arrival > 0.0, "message {message} does not arrive on {topology}");
            assert!(
                (arrival - expected).abs() <= 1e-9 * expected,
                "message {message} arrives at {arrival} instead of {expected} ps on {topology}"
            );
        }
    }

    #[test]
    fn messages_arrive_by_groups_as_they_do_one_by_one() {
        for topology in [
            "torus = { dims = [5, 4], bandwidth = [\"1 GB/s\", \"3 GB/s\"], host-bandwidth = \"1.3 GB/s\" }",
            "torus = { dims = [8, 8], bandwidth = \"1 GB/s\" }",
            "fat-tree = { p = 3, bandwidth = \"1 GB/s\" }",
            "fat-tree = { down = [4, 4, 2], up = [1, 2, 2], bandwidth = [\"2 GB/s\", \"1 GB/s\", \"1.5 GB/s\"] }",
        ] {
            arrive_alike(topology, |random, nodes| {
                let mut now = 0.0;
                let pair = |random: &mut Stream| {
                    let from = random.below(u64::from(nodes));
                    (from as u32, ((from + 1 + random.below(u64::from(nodes) - 1)) % u64::from(nodes)) as u32)
                };
                let mut starts = Vec::new();
                for _ in 0..3000 {
                    // (Some start together.)
                    now += if random.below(4) == 0 { 0.0 } else { random.unit() * 2e12 / f64::from(nodes) * 1e-5 };
                    let (from, to) = pair(random);
                    starts.push((now, from, to, 1 + random.below(20_000)));
                }
                starts
            });
        }
    }

    #[test]
    fn an_incast_of_a_thousand_arrives_by_groups_as_it_does_one_by_one() {
        arrive_alike("crossbar = { nodes = 1001, bandwidth = \"1 GB/s\" }", |random, nodes| {
            (1..nodes).map(|from| (f64::from(from) * 1e5, from, 0, 1 + random.below(100_000))).collect()
        });
    }

    #[test]
    fn a_message_that_breaks_the_lock_step_delays_the_others_alike() {
        // A shift by one in lock step, and one more message in the midst of it.
        arrive_alike("fat-tree = { p = 3, bandwidth = \"1 GB/s\" }", |_, nodes| {
            let mut starts: Vec<Start> = (0..nodes).map(|from| (0.0, from, (from + 1) % nodes, 10_000)).collect();
            starts.push((3e6, 4, 9, 10_000));
            starts
        });
    }
}

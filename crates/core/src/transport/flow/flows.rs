//! Messages as flows, each shared by itself.

use super::binding::{Numbers, binding_links};
use super::delays::Delays;
use super::finish_queue::FinishQueue;
use super::interference::Meter;
use super::lock_step::LockStep;
use crate::fabric::Fabric;
use crate::ids::{FlowId, IdVec, LinkId};
use crate::routing::Router;
use crate::sharing::{Change, Sharing, SharingSpec, Terms};
use crate::transport::{EXPECTED, Entry, Facts, Transport};
use crate::units::{Bandwidth, Time};
use rustc_hash::FxHashMap;

/// Messages as flows.
///
/// A flow of b bytes whose rate is r(t) arrives when the integral of r over the time since its start is b.
/// Between two events rates are constant, so only the finish time at the present rate is kept. When the rate
/// changes from r to r' at time t,
/// ```text
/// finish' = t + (finish - t) * r / r'
/// ```
/// and no count of remaining bytes has to be updated.
///
/// Source: MFS, steps 3 to 8 of its cycle, with rates computed around the change only.
///
/// # Links that never bind
///
/// If every route over link A also crosses link B, and B's capacity is not larger, then A never holds
/// anything back: its flows are some of B's. On a fat-tree with D-mod-k routing each down link serves one
/// destination, so its ejection link dominates it. Where a node sends one message at a time, its injection
/// link carries one flow and is dominated by that flow's ejection link. Such links are left out of the
/// sharing, half of them on a 3,456-node fat-tree; rates stay the same.
///
/// Links that are left out have no number in the policy, so that it stores nothing for them.
///
/// # Programs in lock step
///
/// Messages that start together on an idle network and move evenly are not shared one by one: their links are
/// counted, and they arrive together.
///
/// `S` is the policy. With a concrete type it costs no indirect calls.
#[derive(Debug)]
pub struct Flows<M = (), S: ?Sized = dyn Sharing> {
    pub(super) sharing: Box<S>,
    /// Number of flows in `sharing`.
    shared: usize,
    /// Messages in lock step, if any: then `sharing` has none.
    lock_step: LockStep,
    /// Set if messages may be in lock step.
    allows_lock_step: bool,
    /// Numbers of the links that can hold a flow back, in `sharing` and `lock_step`.
    pub(super) numbers: Numbers,
    finish: FinishQueue,
    /// Bytes by flow, until it has a rate.
    bytes: Vec<u64>,
    changes: Vec<Change>,
    links: Vec<u32>,
    /// Meter that observes the rates.
    meter: M,
    /// Time since which messages are in lock step, if the meter is on.
    in_step_since: Time,
}

/// Prefetch distance, in messages that arrive at one instant.
const LINK_PREFETCH_DISTANCE: usize = 4;

/// Prefetch distance for places in the queue, in rates that change.
const QUEUE_PREFETCH_DISTANCE: usize = 32;

impl Flows {
    /// Creates the transport of this fabric, with nothing under way. `one_at_a_time`: no node ever sends two
    /// messages at once.
    pub fn new(fabric: &Fabric, router: &dyn Router, sharing: &SharingSpec, one_at_a_time: bool) -> Self {
        let capacities = fabric.shared_capacities();
        Self::shared_by(sharing.build(capacities.clone()), &capacities, fabric, router, one_at_a_time)
    }

    /// Creates the transport for messages on several paths; `None` if the policy is not defined for them.
    pub fn split(fabric: &Fabric, router: &dyn Router, sharing: &SharingSpec, one_at_a_time: bool) -> Option<Self> {
        let capacities = fabric.shared_capacities();
        let sharing = sharing.build_on_terms(capacities.clone())?;
        Some(Self::shared_by(sharing, &capacities, fabric, router, one_at_a_time))
    }

    /// Shares every flow by itself from now on: lock step must not change the result.
    #[cfg(test)]
    pub(crate) fn without_lock_step(mut self) -> Self {
        self.allows_lock_step = false;
        self
    }
}

impl<S: Sharing> Flows<(), S> {
    /// Creates the transport with nothing under way. The policy is made for given capacities \[B/s\], leaves
    /// out dominated links and knows no others. No message is on several paths.
    pub(super) fn dense(
        policy: impl FnOnce(Vec<f64>) -> S,
        fabric: &Fabric,
        router: &dyn Router,
        one_at_a_time: bool,
    ) -> Self {
        let numbers = Numbers::dense(&binding_links(fabric, router, one_at_a_time));
        let capacities = numbers.capacities(|link| fabric.shared_capacity(link).bytes_per_second());
        Self::numbered(Box::new(policy(capacities.clone())), &capacities, numbers)
    }
}

impl<S: Sharing + ?Sized> Flows<(), S> {
    /// Creates the transport with this policy on links of these capacities \[B/s\], with nothing under way.
    pub(super) fn shared_by(
        sharing: Box<S>,
        capacities: &[f64],
        fabric: &Fabric,
        router: &dyn Router,
        one_at_a_time: bool,
    ) -> Self {
        let binding = if sharing.may_leave_out_dominated_links() {
            binding_links(fabric, router, one_at_a_time)
        } else {
            IdVec::filled(fabric.links().len(), true)
        };
        Self::numbered(sharing, capacities, Numbers::same(&binding))
    }

    /// Puts these flows, with nothing under way yet, under this meter.
    pub(super) fn metered<M: Meter>(self, meter: M) -> Flows<M, S> {
        Flows {
            sharing: self.sharing,
            shared: self.shared,
            lock_step: self.lock_step,
            allows_lock_step: self.allows_lock_step,
            numbers: self.numbers,
            finish: self.finish,
            bytes: self.bytes,
            changes: self.changes,
            links: self.links,
            meter,
            in_step_since: self.in_step_since,
        }
    }

    /// Puts these flows under a meter of delays, on links of which all messages together get the part
    /// `factor` of the bandwidth.
    pub(super) fn with_delays(self, fabric: &Fabric, factor: f64) -> Flows<Delays, S> {
        self.with_delays_of(fabric, factor, &[])
    }

    /// Puts these flows under a meter of delays for messages that stand for others.
    pub(super) fn with_delays_of<const FOLDED: bool>(
        self,
        fabric: &Fabric,
        factor: f64,
        times: &[f64],
    ) -> Flows<Delays<FOLDED>, S> {
        let capacity = |link| factor * fabric.shared_capacity(link).bytes_per_second();
        let meter = Delays::new(self.numbers.capacities(capacity), times);
        self.metered(meter)
    }

    /// Creates the transport with a policy that knows links by these numbers.
    fn numbered(sharing: Box<S>, capacities: &[f64], numbers: Numbers) -> Self {
        Self {
            shared: 0,
            lock_step: LockStep::new(capacities),
            allows_lock_step: sharing.gives_even_flows_even_shares(),
            sharing,
            numbers,
            finish: FinishQueue::default(),
            bytes: Vec::new(),
            changes: Vec::new(),
            links: Vec::new(),
            meter: (),
            in_step_since: Time::ZERO,
        }
    }
}

impl<M: Meter, S: Sharing + ?Sized> Flows<M, S> {
    /// Returns the rate of a message under way, as of the last [`Transport::settle`] \[B/s\].
    pub fn rate(&self, flow: FlowId) -> f64 {
        self.lock_step.rate().unwrap_or_else(|| self.sharing.rate(flow.0))
    }

    /// Returns the bottleneck link of a message, as of the last [`Transport::settle`], if flows are shared
    /// one by one.
    pub(super) fn bottleneck(&self, flow: FlowId) -> Option<LinkId> {
        self.sharing.bottleneck(flow.0).and_then(|number| self.numbers.link(number))
    }

    /// Starts a message on several paths, or with a weight or a limit; no message is in lock step.
    ///
    /// # Panics
    /// If the policy was not made for such messages.
    pub(super) fn start_on_terms(&mut self, entry: &Entry<'_>, links: &[u32], parts: &[f64], terms: Terms) {
        let Entry { flow, src, bytes, .. } = *entry;
        self.sharing.add_on_terms(flow.0, links, parts, terms);
        self.meter.sender(flow, src);
        self.meter.start(flow.0, links, parts, terms);
        self.note(flow, bytes);
    }

    /// Records the bytes of a flow that has just been added to the policy.
    #[inline]
    fn note(&mut self, flow: FlowId, bytes: u64) {
        self.shared += 1;
        if self.bytes.len() <= flow.0 as usize {
            self.bytes.resize(flow.0 as usize + 1, 0);
        }
        self.bytes[flow.0 as usize] = bytes;
    }

    /// Shares the messages that were in lock step one by one from now on.
    #[cold]
    fn leave_lock_step(&mut self) {
        let mut lock_step = std::mem::take(&mut self.lock_step);
        let mut given_back = Vec::new();
        let is_large = self.numbers.are_many();
        let arrival = lock_step.give_back(|flow, links, bytes, soon| {
            if is_large {
                self.sharing.expect_on(soon, 1);
            }
            self.sharing.add(flow.0, links);
            self.meter.start(flow.0, links, &[], Terms::default());
            self.note(flow, bytes);
            given_back.push(flow);
        });
        self.lock_step = lock_step;
        if let Some(arrival) = arrival {
            // They are under way, at the rates that the policy gives them now.
            self.changes.clear();
            self.sharing.solve(&mut self.changes);
            let sharing = &self.sharing;
            self.meter.settle(self.in_step_since, &self.changes, |flow, last| {
                if sharing.holds_back(flow, last) { Some(last) } else { sharing.bottleneck(flow) }
            });
            for flow in given_back {
                self.finish.set(flow.0, arrival.ps());
            }
        }
    }

    /// Reports a finished step to the meter, unless its messages were as fast as alone.
    #[cold]
    fn meter_step(&mut self, until: Time) {
        let Self { lock_step, meter, changes, in_step_since, .. } = self;
        let Some(rate) = lock_step.rate() else { return };
        if lock_step.messages().all(|(_, links)| !meter.is_slowed(links, rate)) {
            return;
        }
        changes.clear();
        let mut held_by = FxHashMap::default();
        for (flow, links) in lock_step.messages() {
            meter.start(flow.0, links, &[], Terms::default());
            changes.push(Change { flow: flow.0, old: 0.0, new: rate });
            held_by.insert(flow.0, lock_step.bottleneck(links, rate));
        }
        meter.settle(*in_step_since, changes, |flow, _| held_by.get(&flow).copied().flatten());
        lock_step.messages().for_each(|(flow, _)| meter.leave(flow.0));
        meter.settle(until, &[], |_, _| None);
    }
}

impl<M: Meter, S: Sharing + ?Sized> Transport for Flows<M, S> {
    #[inline]
    fn start(&mut self, entry: &Entry<'_>) {
        if self.lock_step.is_moving() {
            self.leave_lock_step();
        }
        let Entry { flow, links: route, bytes, src, options } = *entry;
        if !options.parts.is_empty() {
            // (Links that never bind stay in: a part may be smaller there than on the link that dominates them.)
            let links: Vec<u32> = route.iter().map(|link| link.0).collect();
            return self.start_on_terms(entry, &links, options.parts, Terms::default());
        }
        self.meter.sender(flow, src);
        let links = self.numbers.keep(route, &mut self.links);
        if self.allows_lock_step && self.shared == 0 {
            self.lock_step.start(flow, links, bytes);
        } else {
            self.sharing.add(flow.0, links);
            self.meter.start(flow.0, links, &[], Terms::default());
            self.note(flow, bytes);
        }
    }

    fn set_capacity(&mut self, link: LinkId, capacity: Bandwidth) {
        if self.lock_step.is_moving() {
            self.leave_lock_step();
        }
        let (Some(number), capacity) = (self.numbers.get(link), capacity.bytes_per_second()) else { return };
        self.lock_step.set_capacity(number, capacity);
        self.sharing.set_capacity(number, capacity);
        self.meter.set_capacity(number, capacity);
    }

    fn cancel(&mut self, flow: FlowId) {
        self.leave_lock_step();
        self.sharing.remove(flow.0);
        self.meter.leave(flow.0);
        self.finish.remove(flow.0);
        self.shared -= 1;
    }

    fn settle(&mut self, now: Time) {
        if self.shared == 0 {
            let was_moving = M::IS_ON && self.lock_step.is_moving();
            if self.lock_step.settle(now) {
                if M::IS_ON && !was_moving {
                    self.in_step_since = now;
                    // Settle the messages that left before.
                    self.meter.settle(now, &[], |_, _| None);
                }
                return;
            }
            self.leave_lock_step();
        }
        self.changes.clear();
        self.sharing.solve(&mut self.changes);
        let sharing = &self.sharing;
        self.meter.settle(now, &self.changes, |flow, last| {
            if sharing.holds_back(flow, last) { Some(last) } else { sharing.bottleneck(flow) }
        });
        let now_ps = now.ps();
        let is_large = self.numbers.are_many();
        if is_large {
            self.changes.iter().take(QUEUE_PREFETCH_DISTANCE).for_each(|change| self.finish.fetch(change.flow));
        }
        for (index, &Change { flow, old, new }) in self.changes.iter().enumerate() {
            if is_large && let Some(later) = self.changes.get(index + QUEUE_PREFETCH_DISTANCE) {
                self.finish.fetch(later.flow);
            }
            if old == 0.0 {
                let bytes = self.bytes[flow as usize] as f64;
                self.finish.set(flow, (now + Bandwidth::from_bytes_per_second(new).time_for(bytes)).ps());
            } else {
                // A message that should have arrived already does so now, within the width of an instant.
                let later =
                    |finish: f64| if finish > now_ps { now_ps + (finish - now_ps) * (old / new) } else { finish };
                self.finish.change(flow, later);
            }
        }
    }

    fn next_arrival(&mut self, _horizon: Time) -> Time {
        self.lock_step.arrival().min(Time::from_ps(self.finish.earliest()))
    }

    fn arrived(&mut self, until: Time, flows: &mut Vec<FlowId>) {
        if self.lock_step.arrival() <= until {
            if M::IS_ON {
                self.meter_step(self.lock_step.arrival());
            }
            self.lock_step.arrived(flows);
        }
        let first = flows.len();
        while self.finish.earliest() <= until.ps() {
            let Some(flow) = self.finish.pop() else { break };
            flows.push(FlowId(flow));
        }
        for index in first..flows.len() {
            if let (Some(soon), Some(later)) =
                (flows.get(index + LINK_PREFETCH_DISTANCE), flows.get(index + 2 * LINK_PREFETCH_DISTANCE))
            {
                self.sharing.expect(soon.0, 1);
                self.sharing.expect(later.0, 2);
            }
            self.sharing.remove(flows[index].0);
            self.meter.leave(flows[index].0);
        }
        self.shared -= flows.len() - first;
    }

    fn expected(&self) -> Option<[FlowId; EXPECTED]> {
        if !self.numbers.are_many() {
            return None;
        }
        let flows = self.finish.nearest()?;
        flows.iter().enumerate().for_each(|(after, &flow)| self.sharing.expect(flow, after));
        Some(flows.map(FlowId))
    }

    fn expect_on(&self, route: &[LinkId], after: usize) {
        let numbers = route.iter().filter_map(|&link| self.numbers.get(link));
        numbers.for_each(|number| self.sharing.expect_on(&[number], after));
    }

    fn facts(&self) -> Facts {
        let delays = self.meter.delays().map(|delays| self.numbers.by_link(&delays));
        Facts { rounds: self.sharing.rounds(), lost: self.meter.lost(), delays, ..Facts::default() }
    }
}

/// Transfer of flows under way from one way of sharing to another.
impl<M: Meter, S: Sharing + ?Sized> Flows<M, S> {
    /// Returns the number of flows that are shared one by one, and not in lock step.
    pub(super) fn shared(&self) -> usize {
        self.shared
    }

    /// Takes over flows that are under way, with their links and remaining bytes \[B\]; nothing else may be
    /// under way.
    pub(super) fn take_over<'a>(&mut self, now: Time, flows: impl Iterator<Item = (u32, &'a [u32], f64)>) {
        let mut lefts = Vec::new();
        for (flow, links, left) in flows {
            self.sharing.add(flow, links);
            self.note(FlowId(flow), 0);
            self.meter.start(flow, links, &[], Terms::default());
            lefts.push((flow, left));
        }
        self.changes.clear();
        self.sharing.solve(&mut self.changes);
        self.meter.settle(now, &self.changes, |_, _| None);
        for (flow, left) in lefts {
            let rate = Bandwidth::from_bytes_per_second(self.sharing.rate(flow));
            self.finish.set(flow, (now + rate.time_for(left)).ps());
        }
    }

    /// Hands over these flows, which are all that are under way and shared, and writes their remaining bytes
    /// \[B\]. The last [`Transport::settle`] was at `now`.
    pub(super) fn hand_over(&mut self, now: Time, flows: &[u32], left: &mut Vec<f64>) {
        for &flow in flows {
            let rate = self.sharing.rate(flow);
            self.finish.change(flow, |finish| {
                left.push(rate * (Time::from_ps(finish) - now).seconds().max(0.0));
                finish
            });
            self.finish.remove(flow);
            self.sharing.remove(flow);
            self.meter.leave(flow);
            self.shared -= 1;
        }
        self.changes.clear();
        self.sharing.solve(&mut self.changes);
        self.meter.settle(now, &[], |_, _| None);
    }
}

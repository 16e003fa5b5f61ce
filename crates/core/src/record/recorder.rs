//! The observer behind every report.

use super::Fingerprint;
use super::fingerprint::mix;
use super::over_time::{LinkMeasures, LinkSeries};
use super::split::Fractions;
use crate::base::prefetch::fetch;
use crate::base::threads;
use crate::engine::{Alone, CountedStep, Flight, Observer, Passed};
use crate::fabric::{Bisection, Fabric};
use crate::ids::{Id, IdVec, LinkId, NodeId, RankId};
use crate::placement::Placement;
#[cfg(feature = "simulator")]
use crate::symmetry::Folded;
use crate::units::Time;

/// A hook that is called with each delivered message and the time.
pub type OnMessage<'a> = &'a mut dyn FnMut(Time, &Flight);

/// Recorder of the data of a report: a few sums for each message, and the bytes on each link. Times on links
/// and the messages themselves are kept only on request.
pub struct Recorder<'a> {
    /// Bytes that each link has carried \[B\].
    pub bytes: IdVec<LinkId, u64>,
    /// Fractions of a byte from split messages that are not yet in `bytes`.
    fractions: Fractions,
    /// Bytes that each rank sent to, and received from, other nodes \[B\].
    pub ranks: IdVec<RankId, (u64, u64)>,
    /// Bytes that have crossed the bisection: from the first half to the second, and back \[B\].
    pub crossed: (u64, u64),
    /// Busy time and number of flows of each link, if requested.
    pub times: Option<LinkTimes>,
    /// Load of each link over time, if requested.
    pub series: Option<LinkSeries>,
    /// Sum over messages of the time under way \[ps\].
    pub under_way: Sum,
    /// Sum over messages of the time that each would have taken alone \[ps\].
    pub alone: Sum,
    /// Fingerprint of the deliveries so far.
    pub fingerprint: Fingerprint,
    /// Arrival of each sender's last message so far if it sent one message after another from its initial
    /// value here on, each with the network to itself. Kept only if requested, and only for messages that are
    /// played.
    pub alone_in_sequence: Option<IdVec<RankId, Time>>,
    /// Home of each rank.
    homes: Vec<Home>,
    /// Hook for delivered messages, if requested.
    pub on_message: Option<OnMessage<'a>>,
}

impl<'a> Recorder<'a> {
    /// Creates an empty recorder.
    pub fn new(fabric: &Fabric, placement: &Placement, bisection: Option<&Bisection>, measures: LinkMeasures) -> Self {
        let links = fabric.links().len();
        let side = |node: NodeId| bisection.is_some_and(|cut| cut.first_half[node.0 as usize]);
        Self {
            bytes: IdVec::filled(links, 0),
            fractions: Fractions::default(),
            ranks: IdVec::filled(placement.len(), (0, 0)),
            crossed: (0, 0),
            times: measures.times.then(|| LinkTimes::new(links)),
            series: measures.series.then(|| LinkSeries::new(links)),
            under_way: Sum::default(),
            alone: Sum::default(),
            fingerprint: Fingerprint::new(placement.len() as u32),
            alone_in_sequence: None,
            homes: placement.iter().map(|&node| (node, side(node))).collect(),
            on_message: None,
        }
    }

    /// Takes the bytes that each link has carried, rounded to whole bytes that add up.
    pub fn take_bytes(&mut self, fabric: &Fabric) -> IdVec<LinkId, u64> {
        self.fractions.round_to_bytes(&mut self.bytes, fabric);
        std::mem::take(&mut self.bytes)
    }

    /// Adds a message to the sums.
    #[inline]
    fn count(&mut self, now: Time, flight: &Flight) {
        let send = &flight.send;
        self.under_way.add((now - flight.start).ps(), 1);
        self.alone.add(flight.alone.ps(), 1);
        self.fingerprint.add(now, send);
        if let Some(times) = &mut self.alone_in_sequence {
            times[send.id.src] += flight.alone;
        }
        self.move_bytes(send.id.src, send.dst, send.bytes);
    }

    /// Adds bytes to those sent and received by these ranks and to those that crossed the bisection, unless
    /// they stay within a node.
    #[inline]
    fn move_bytes(&mut self, src: RankId, dst: RankId, bytes: u64) {
        let (from, side) = self.homes[src.index()];
        let (to, other_side) = self.homes[dst.index()];
        if from != to {
            self.ranks[src].0 += bytes;
            self.ranks[dst].1 += bytes;
            self.crossed.0 += u64::from(side & !other_side) * bytes;
            self.crossed.1 += u64::from(!side & other_side) * bytes;
        }
    }
}

impl Observer for Recorder<'_> {
    #[inline]
    fn entered(&mut self, now: Time, route: &[LinkId]) {
        if let Some(times) = &mut self.times {
            route.iter().for_each(|&link| times.enter(now, link, 1));
        }
    }

    #[inline]
    fn left(&mut self, now: Time, route: &[LinkId]) {
        if let Some(times) = &mut self.times {
            route.iter().for_each(|&link| times.leave(now, link, 1));
        }
    }

    fn entered_split(&mut self, now: Time, links: &[LinkId], parts: &[f64]) {
        if let Some(times) = &mut self.times {
            links.iter().zip(parts).for_each(|(&link, &part)| times.enter(now, link, flows_of(part)));
        }
    }

    fn left_split(&mut self, now: Time, links: &[LinkId], parts: &[f64]) {
        if let Some(times) = &mut self.times {
            links.iter().zip(parts).for_each(|(&link, &part)| times.leave(now, link, flows_of(part)));
        }
    }

    #[inline]
    fn expect(&self, route: &[LinkId]) {
        route.iter().for_each(|&link| fetch(&self.bytes[link]));
    }

    #[inline]
    fn delivered(&mut self, now: Time, flight: &Flight, route: &[LinkId]) {
        for &link in route {
            self.bytes[link] += flight.send.bytes;
        }
        if let Some(series) = &mut self.series {
            series.add(flight.start, now, route.iter().map(|&link| (link, flight.send.bytes as f64)));
        }
        self.count(now, flight);
        if let Some(on_message) = &mut self.on_message {
            on_message(now, flight);
        }
    }

    fn delivered_split(&mut self, now: Time, flight: &Flight, links: &[LinkId], parts: &[f64]) {
        self.fractions.add(&mut self.bytes, flight.send.bytes, links, parts);
        if let Some(series) = &mut self.series {
            let bytes = flight.send.bytes as f64;
            series.add(flight.start, now, links.iter().zip(parts).map(|(&link, part)| (link, part * bytes)));
        }
        self.delivered(now, flight, &[]);
    }

    fn asks_links(&self) -> bool {
        self.times.is_some() || self.series.is_some()
    }

    fn steps(&mut self, steps: &[CountedStep<'_>]) {
        if let Some(times) = &mut self.times {
            for step in steps {
                if let Some(on_links) = step.on_links {
                    step.times().for_each(|(start, end)| times.step(start, end, on_links));
                }
            }
        }
        if let Some(series) = &mut self.series {
            steps.iter().for_each(|step| series.add_steps(step));
        }
        if let Some(on_message) = &mut self.on_message {
            for step in steps {
                step.flights().for_each(|(now, flight)| on_message(now, &flight));
            }
        }
        let ranks = self.homes.len();
        for step in steps {
            for (start, now) in step.times() {
                self.under_way.add((now - start).ps(), ranks as u64);
                match step.alone {
                    Alone::Same(alone) => self.alone.add(alone.ps(), ranks as u64),
                    Alone::Each(alone) => alone.iter().for_each(|alone| self.alone.add(alone.ps(), 1)),
                }
            }
        }
        // Senders are independent; received bytes are added up afterwards, in whole numbers.
        let share = ranks.div_ceil(threads::count()).max(FEWEST_RANKS);
        let homes = &self.homes;
        let parts = self.fingerprint.senders().chunks_mut(share).zip(self.ranks.as_mut_slice().chunks_mut(share));
        let parts = parts.enumerate().collect();
        let tallies =
            threads::map(parts, |(part, (senders, sums))| StepSums::of(steps, part * share, senders, sums, homes));
        for tally in tallies {
            for (rank, received) in self.ranks.as_mut_slice().iter_mut().zip(tally.received) {
                rank.1 += received;
            }
            self.crossed.0 += tally.crossed.0;
            self.crossed.1 += tally.crossed.1;
        }
    }

    fn passed(&mut self, passed: &Passed<'_>) {
        self.under_way.add(passed.under_way, 1);
        self.alone.add(passed.under_way, 1);
        for (rank, &(dst, bytes)) in (0..).map(RankId).zip(passed.sent) {
            mix(&mut self.fingerprint.senders()[rank.index()], passed.end, passed.steps, dst, bytes);
            self.move_bytes(rank, dst, bytes);
        }
    }

    fn carried(&mut self, link: LinkId, bytes: u64) {
        self.bytes[link] += bytes;
    }
}

/// Returns the number of messages that a part of a message stands for: one for a part of a split message, and the
/// number on the link for one that stands for others.
#[inline]
fn flows_of(part: f64) -> u32 {
    (part.round() as u32).max(1)
}

/// Largest number of messages of repeated steps that are mixed into the fingerprint one by one.
const MOST_MIXED: u64 = 1 << 30;

/// Least number of senders that one thread counts at a time, so that distributing the work costs little.
const FEWEST_RANKS: usize = 1024;

/// Node of a rank, and true if the node is in the first half of the bisection.
type Home = (NodeId, bool);

/// Number of senders that are processed for all steps before the next ones. The sums of these senders and
/// their receivers stay in the nearest cache meanwhile.
const BLOCK: usize = 512;

/// Contribution of the messages of some senders to sums of all ranks.
struct StepSums {
    /// Bytes received by each rank \[B\].
    received: Vec<u64>,
    crossed: (u64, u64),
}

impl StepSums {
    /// Counts the steps of the senders from `first` on, and updates their numbers of the fingerprint and
    /// their sums.
    fn of(
        steps: &[CountedStep<'_>],
        first: usize,
        senders: &mut [u64],
        sums: &mut [(u64, u64)],
        homes: &[Home],
    ) -> Self {
        let mut tally = Self { received: vec![0; homes.len()], crossed: (0, 0) };
        for (block, (senders, sums)) in senders.chunks_mut(BLOCK).zip(sums.chunks_mut(BLOCK)).enumerate() {
            for step in steps {
                tally.add(step, first + block * BLOCK, senders, sums, homes);
            }
        }
        tally
    }

    /// Adds the messages of the senders from `first` on in one step and its repetitions.
    fn add(
        &mut self,
        step: &CountedStep<'_>,
        first: usize,
        senders: &mut [u64],
        sums: &mut [(u64, u64)],
        homes: &[Home],
    ) {
        let destinations = &step.destinations[first..][..senders.len()];
        if let [now] = step.ends {
            for (sender, &dst) in senders.iter_mut().zip(destinations) {
                mix(sender, *now, step.index, dst, step.bytes);
            }
        } else {
            // In a long run of equal steps the last stands for all: its number and time follow from theirs.
            let is_long = step.ends.len() as u64 * homes.len() as u64 > MOST_MIXED;
            let skipped = if is_long { step.ends.len() - 1 } else { 0 };
            for (sender, &dst) in senders.iter_mut().zip(destinations) {
                for (index, &now) in (step.index + skipped as u32..).zip(&step.ends[skipped..]) {
                    mix(sender, now, index, dst, step.bytes);
                }
            }
        }
        let bytes = step.bytes * step.ends.len() as u64;
        let (mut there, mut back) = (0, 0);
        for ((sum, &dst), &(from, side)) in sums.iter_mut().zip(destinations).zip(&homes[first..]) {
            let (to, other_side) = homes[dst.index()];
            let moved = if from != to { bytes } else { 0 };
            sum.0 += moved;
            self.received[dst.index()] += moved;
            there += u64::from(side & !other_side);
            back += u64::from(!side & other_side);
        }
        // (Messages within a node stay on its side.)
        self.crossed.0 += there * bytes;
        self.crossed.1 += back * bytes;
    }
}

/// A sum of times, many of them equal in a row \[ps\].
///
/// Equal times are counted and multiplied, so that adding n at once or one by one gives the same to the last
/// bit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum {
    /// Sum of all times before the last equal ones.
    sum: f64,
    last: f64,
    count: u64,
}

impl Sum {
    /// Adds a time `count` times.
    #[inline]
    pub fn add(&mut self, time: f64, count: u64) {
        if time == self.last {
            self.count += count;
        } else {
            *self = Self { sum: self.total(), last: time, count };
        }
    }

    /// Returns the sum so far.
    #[inline]
    pub fn total(&self) -> f64 {
        self.sum + self.last * self.count as f64
    }
}

/// Busy times of links, and their numbers of flows.
///
/// A span is its end minus its beginning, so nothing needs to be updated in between. A beginning is
/// subtracted from a sum and an end is added to it; spans that have not ended are completed when the sum is
/// read.
#[derive(Clone, Debug)]
pub struct LinkTimes {
    links: IdVec<LinkId, Spans>,
}

/// Busy time and flows of one link.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkTime {
    /// Largest number of flows at once.
    pub peak: u32,
    /// Time with at least one flow.
    pub busy: Time,
    /// Number of flows integrated over time \[ps\].
    pub flow_time: f64,
}

/// Sums of ends minus beginnings on one link.
#[derive(Clone, Copy, Debug, Default)]
struct Spans {
    /// Sum over flows \[ps\].
    of_flows: f64,
    /// Sum over times with at least one flow \[ps\].
    busy: f64,
    flows: u32,
    peak: u32,
}

impl LinkTimes {
    fn new(links: usize) -> Self {
        Self { links: threads::collect(links, |_| Spans::default()).into() }
    }

    #[inline]
    fn enter(&mut self, now: Time, link: LinkId, flows: u32) {
        let link = &mut self.links[link];
        link.of_flows -= now.ps() * f64::from(flows);
        link.busy -= if link.flows == 0 { now.ps() } else { 0.0 };
        link.flows += flows;
        link.peak = link.peak.max(link.flows);
    }

    #[inline]
    fn leave(&mut self, now: Time, link: LinkId, flows: u32) {
        let link = &mut self.links[link];
        link.of_flows += now.ps() * f64::from(flows);
        link.flows -= flows;
        link.busy += if link.flows == 0 { now.ps() } else { 0.0 };
    }

    /// Returns the times of all links of a folded run.
    #[cfg(feature = "simulator")]
    #[must_use]
    pub fn expanded(&self, folded: &Folded) -> Self {
        Self { links: folded.expand_links(&self.links) }
    }

    /// Adds the given number of messages on each link, which enter at the start and leave at the end. The
    /// result is the same to the last bit as one by one.
    fn step(&mut self, start: Time, end: Time, on_links: &IdVec<LinkId, u32>) {
        let (start, end) = (start.ps(), end.ps());
        let used = self.links.as_mut_slice().iter_mut().zip(on_links.as_slice()).filter(|(_, flows)| **flows > 0);
        for (link, &flows) in used {
            for _ in 0..flows {
                link.of_flows -= start;
            }
            for _ in 0..flows {
                link.of_flows += end;
            }
            link.busy -= start;
            link.busy += end;
            link.peak = link.peak.max(flows);
        }
    }

    /// Returns the busy time and flows of a link up to `now`.
    pub fn of(&self, link: LinkId, now: Time) -> LinkTime {
        let Spans { of_flows, busy, flows, peak } = self.links[link];
        let still_busy = if flows > 0 { now.ps() } else { 0.0 };
        let flow_time = of_flows + f64::from(flows) * now.ps();
        LinkTime { peak, busy: Time::from_ps(busy + still_busy), flow_time }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::{FabricBuilder, Irregular, LinkRole};
    use crate::ids::{MessageId, VertexId};
    use crate::units::Bandwidth;
    use crate::workload::SendRequest;

    #[test]
    fn the_parts_of_split_messages_add_up_to_whole_bytes() {
        // From node 0 to node 1 over one of three switches or, equally often, over two of them.
        let mut builder = FabricBuilder::new("three ways", 2, 3);
        let speed = Bandwidth::from_bytes_per_second(1e9);
        let role = LinkRole::Network { tier: 0 };
        let mut link = |from, to| builder.link(VertexId(from), VertexId(to), speed, Time::ZERO, role);
        let links: Vec<LinkId> = [(0, 2), (0, 3), (0, 4), (2, 3), (3, 4), (2, 1), (3, 1), (4, 1)]
            .into_iter()
            .map(|(from, to)| link(from, to))
            .collect();
        let parts = [1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0, 1.0 / 7.0, 1.0 / 6.0, 5.0 / 14.0, 10.0 / 21.0];
        let fabric = builder.finish(Irregular);
        let placement: Placement = fabric.node_ids().collect();
        for (messages, bytes) in [(1, 100), (1, 1), (3, 100), (7, 20_001), (300, 1)] {
            let mut recorder = Recorder::new(&fabric, &placement, None, LinkMeasures::default());
            for index in 0..messages {
                let id = MessageId { src: RankId(0), index };
                let send = SendRequest { id, dst: RankId(1), bytes };
                let flight = Flight { send, start: Time::ZERO, alone: Time::ZERO };
                recorder.delivered_split(Time::ZERO, &flight, &links, &parts);
            }
            let carried = recorder.take_bytes(&fabric);
            let all = u64::from(messages) * bytes;
            let sum = |of: &[usize]| of.iter().map(|&link| carried[links[link]]).sum::<u64>();
            assert_eq!((sum(&[0, 1, 2]), sum(&[5, 6, 7])), (all, all), "{messages} of {bytes} B");
            assert_eq!((sum(&[0]), sum(&[1, 3]), sum(&[2, 4])), (sum(&[3, 5]), sum(&[4, 6]), sum(&[7])));
            for (&link, part) in links.iter().zip(parts) {
                assert!((carried[link] as f64 - all as f64 * part).abs() < 1.0, "{link}");
            }
            assert_eq!(recorder.ranks[RankId(1)], (0, all));
        }
    }

    #[test]
    fn times_of_links_are_those_of_going_through_all_spans() {
        let (links, flows) = (5, 9);
        let mut random = crate::rng::Stream::new(1, "link times");
        let mut times = LinkTimes::new(links);
        let mut routes: Vec<Vec<LinkId>> = vec![Vec::new(); flows];
        // For each link: flows, their peak, and their integral over time.
        let mut plain = vec![(0u32, 0u32, 0.0f64, 0.0f64); links];
        let mut now = 0.0;
        for _ in 0..2_000 {
            let passed = random.below(1000) as f64;
            now += passed;
            for (count, _, busy, flow_time) in &mut plain {
                *busy += if *count > 0 { passed } else { 0.0 };
                *flow_time += passed * f64::from(*count);
            }
            let route = &mut routes[random.below(flows as u64) as usize];
            if route.is_empty() {
                route.extend((0..links as u32).map(LinkId).filter(|_| random.below(2) == 0));
                route.iter().for_each(|&link| times.enter(Time::from_ps(now), link, 1));
                for link in &*route {
                    let (count, most, ..) = &mut plain[link.0 as usize];
                    *count += 1;
                    *most = (*most).max(*count);
                }
            } else {
                route.iter().for_each(|&link| times.leave(Time::from_ps(now), link, 1));
                route.drain(..).for_each(|link| plain[link.0 as usize].0 -= 1);
            }
            // Also while flows are under way.
            for (link, &(_, peak, busy, flow_time)) in plain.iter().enumerate() {
                let of = times.of(LinkId(link as u32), Time::from_ps(now));
                assert_eq!((of.peak, of.busy.ps(), of.flow_time), (peak, busy, flow_time));
            }
        }
    }
}

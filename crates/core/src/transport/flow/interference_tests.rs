//! Tests of the meter against the definition, computed from scratch at every event.

use std::sync::Arc;

use super::interference::{Interference, Meter};
use super::*;
use crate::diagnostic::Sources;
use crate::ids::{FlowId, LinkId, NodeId, RankId};
use crate::rng::Stream;
use crate::routing::RoutingSpec;
use crate::sharing::weighted_oracle::WeightedProblem;
use crate::sharing::{EqualShareSpec, Terms};
use crate::topology::TopologySpec;
use crate::transport::{Entry, Transport};
use crate::units::Time;

const TREE: &str =
    "fat-tree = { down = [4, 4, 2], up = [1, 2, 2], bandwidth = [\"2 GB/s\", \"1 GB/s\", \"1.5 GB/s\"] }";
const EVEN: &str = "fat-tree = { down = [3, 3, 3], up = [1, 1, 2], bandwidth = \"1 GB/s\" }";
const TORUS: &str = "torus = { dims = [5, 4], bandwidth = [\"1 GB/s\", \"3 GB/s\"], host-bandwidth = \"1.3 GB/s\" }";
const RING: &str = "torus = { dims = [7], bandwidth = \"1 GB/s\" }";

/// Relative tolerance of the definition.
const SAME: f64 = 1e-9;

fn network(topology: &str) -> (Arc<Fabric>, Arc<dyn Router>) {
    let spec: TopologySpec = crate::reading::from_toml(topology).unwrap();
    let fabric = Arc::new(spec.build(&mut Sources::default()).unwrap());
    let router = RoutingSpec::default_for(&fabric).build(&fabric, 1).unwrap();
    (fabric, router)
}

#[derive(Clone, Debug)]
struct Message {
    /// Start time \[s\].
    start: f64,
    links: Vec<(u32, f64)>,
    bytes: u64,
    party: u32,
    terms: Terms,
}

impl Message {
    fn alone(&self, capacities: &[f64]) -> f64 {
        self.links.iter().fold(self.terms.limit, |least, &(link, part)| least.min(capacities[link as usize] / part))
    }

    fn part(&self, link: u32) -> f64 {
        self.links.iter().find(|(other, _)| *other == link).map_or(0.0, |(_, part)| *part)
    }
}

/// Computes the lost time by victim and culprit, including the own party, from the rates of all messages at
/// every event \[s\].
fn from_scratch(capacities: &[f64], messages: &[Message], is_equal_share: bool, parties: usize) -> Vec<f64> {
    let mut matrix = vec![0.0; parties * parties];
    let mut left: Vec<f64> = messages.iter().map(|message| message.bytes as f64).collect();
    let (mut active, mut now, mut next): (Vec<usize>, f64, usize) = (Vec::new(), 0.0, 0);
    loop {
        let flows = active.iter().map(|&f| (messages[f].links.clone(), messages[f].terms)).collect();
        let problem = WeightedProblem { capacities: capacities.to_vec(), pipes: Vec::new(), flows };
        let rates = if is_equal_share { problem.equal_share() } else { problem.max_min() };
        let ends = active.iter().zip(&rates).map(|(&f, rate)| now + left[f] / rate).fold(f64::INFINITY, f64::min);
        let until = messages.get(next).map_or(f64::INFINITY, |message| message.start).min(ends);
        if until == f64::INFINITY {
            return matrix;
        }
        let dt = until - now;
        let under_way = &active;
        let level = |i: usize| rates[i] / messages[under_way[i]].terms.weight;
        let takes = |i: usize, link: u32| {
            let Message { terms, .. } = &messages[under_way[i]];
            messages[under_way[i]].part(link) * if is_equal_share { terms.weight } else { rates[i] }
        };
        for (i, &f) in under_way.iter().enumerate() {
            let lost = dt * (1.0 - rates[i] / messages[f].alone(capacities));
            if lost <= 1e-12 * dt {
                continue;
            }
            let on = |link: u32| (0..under_way.len()).filter(move |&g| messages[under_way[g]].part(link) > 0.0);
            let holds = |link: u32| {
                let (total, capacity) = (on(link).map(|g| takes(g, link)).sum::<f64>(), capacities[link as usize]);
                match is_equal_share {
                    true => capacity / total <= level(i) * (1.0 + SAME),
                    false => {
                        let highest = on(link).map(level).fold(0.0, f64::max);
                        total >= capacity * (1.0 - SAME) && level(i) >= highest * (1.0 - SAME)
                    }
                }
            };
            let tight: Vec<u32> = messages[f].links.iter().map(|hop| hop.0).filter(|&link| holds(link)).collect();
            let own = |link: &&u32| on(**link).all(|g| messages[under_way[g]].party == messages[f].party);
            let bottlenecks = tight.iter().find(own).map_or(&tight[..], std::slice::from_ref);
            assert!(!bottlenecks.is_empty(), "what is slower than alone has a bottleneck");
            for &link in bottlenecks {
                let others: f64 = on(link).filter(|&g| g != i).map(|g| takes(g, link)).sum();
                for g in on(link).filter(|&g| g != i) {
                    let culprit = messages[under_way[g]].party as usize;
                    let part = takes(g, link) / others / bottlenecks.len() as f64;
                    matrix[messages[f].party as usize * parties + culprit] += lost * part;
                }
            }
        }
        active.iter().zip(&rates).for_each(|(&f, rate)| left[f] -= rate * dt);
        active.retain(|&f| left[f] > 1e-9 * messages[f].bytes as f64);
        now = until;
        while messages.get(next).is_some_and(|message| message.start <= now) {
            active.push(next);
            next += 1;
        }
    }
}

/// Returns the lost time that the meter has kept, and the time that each message was under way \[s\].
fn metered<T: Transport>(
    by: &mut T,
    messages: &[Message],
    start: impl Fn(&mut T, FlowId, &Message),
) -> (Vec<f64>, Vec<f64>) {
    let mut took = vec![0.0; messages.len()];
    let (mut next, mut gone) = (0, Vec::new());
    let mut arrived = 0;
    loop {
        let at = messages.get(next).map_or(Time::NEVER, |message| Time::from_seconds(message.start));
        let now = at.min(by.next_arrival(Time::NEVER));
        if !now.is_finite() {
            assert_eq!(arrived, messages.len());
            return (by.facts().lost.unwrap(), took);
        }
        by.arrived(now + Time::from_ps(now.ps() * 1e-13), &mut gone);
        for flow in gone.drain(..) {
            took[flow.0 as usize] = now.seconds() - messages[flow.0 as usize].start;
            arrived += 1;
        }
        while let Some(message) = messages.get(next).filter(|message| Time::from_seconds(message.start) <= now) {
            start(by, FlowId(next as u32), message);
            next += 1;
        }
        by.settle(now);
    }
}

/// Compares both, and the row sums of the definition with the time that messages were under way longer than
/// alone.
fn compare(capacities: &[f64], messages: &[Message], is_equal_share: bool, parties: usize, kept: (Vec<f64>, Vec<f64>)) {
    let (lost, took) = kept;
    let expected = from_scratch(capacities, messages, is_equal_share, parties);
    let scale: f64 = took.iter().sum();
    for victim in 0..parties {
        let mine = || messages.iter().zip(&took).filter(|(message, _)| message.party as usize == victim);
        let longer: f64 = mine().map(|(message, took)| took - message.bytes as f64 / message.alone(capacities)).sum();
        let row: f64 = expected[victim * parties..][..parties].iter().sum();
        assert!((row - longer).abs() <= 1e-9 * scale, "row {victim}: {row} s, {longer} s longer than alone");
        for culprit in (0..parties).filter(|&culprit| culprit != victim) {
            let place = victim * parties + culprit;
            let (lost, expected) = (lost[place], expected[place]);
            assert!((lost - expected).abs() <= 1e-9 * scale, "{victim} to {culprit}: {lost} s, not {expected} s");
        }
    }
}

fn meter(capacities: &[f64], is_equal_share: bool, parties: u32) -> Interference {
    Interference::new(
        capacities,
        is_equal_share,
        Arc::new(Parties { of: (0..parties).collect(), count: parties, counts_own: false }),
    )
}

fn policy(is_equal_share: bool) -> SharingSpec {
    if is_equal_share { SharingSpec::EqualShare(EqualShareSpec {}) } else { SharingSpec::default() }
}

/// Creates messages between random nodes; now and then several of one size start at once, on an idle network
/// or not.
fn random(fabric: &Fabric, router: &dyn Router, count: u32, parties: u32, seed: u64) -> Vec<Message> {
    let mut random = Stream::new(seed, "interference");
    let nodes = u64::from(fabric.nodes());
    // (A node has messages of one party, as ranks of jobs do.)
    let of: Vec<u32> = (0..nodes).map(|_| random.below(u64::from(parties)) as u32).collect();
    let mut now = 0.0;
    let mut bytes = 1_000_000;
    let mut messages: Vec<Message> = Vec::new();
    while messages.len() < count as usize {
        if random.below(3) > 0 {
            now += random.unit() * if random.below(8) == 0 { 1e-1 } else { 2e-3 };
        }
        if random.below(2) == 0 {
            bytes = [1_000_000, 2_000_000, 1 + random.below(4_000_000)][random.below(3) as usize];
        }
        let from = random.below(nodes);
        let to = (from + 1 + random.below(nodes - 1)) % nodes;
        let mut route = Vec::new();
        router.route(NodeId(from as u32), NodeId(to as u32), &mut route);
        let links = route.iter().map(|link| (link.0, 1.0)).collect();
        messages.push(Message { start: now, links, bytes, party: of[from as usize], terms: Terms::default() });
    }
    messages
}

#[test]
fn what_is_kept_is_what_the_definition_gives_anew_at_every_event() {
    for is_equal_share in [false, true] {
        for topology in [TREE, EVEN, TORUS, RING] {
            for seed in 0..5 {
                let (fabric, router) = network(topology);
                let parties = 1 + seed as u32 % 5;
                let messages = random(&fabric, &*router, 40, parties, seed);
                let capacities = fabric.shared_capacities();
                let mut flows = Flows::new(&fabric, &*router, &policy(is_equal_share), false).metered(meter(
                    &capacities,
                    is_equal_share,
                    parties,
                ));
                let kept = metered(&mut flows, &messages, |by, flow, message| {
                    let route: Vec<LinkId> = message.links.iter().map(|hop| LinkId(hop.0)).collect();
                    by.start(&Entry { src: RankId(message.party), ..Entry::new(flow, &route, message.bytes) });
                });
                compare(&capacities, &messages, is_equal_share, parties as usize, kept);
            }
        }
    }
}

#[test]
fn so_it_is_of_parts_weights_and_limits() {
    for is_equal_share in [false, true] {
        for seed in 0..12 {
            let (fabric, router) = network(if seed % 2 == 0 { TREE } else { TORUS });
            let parties = 2 + seed as u32 % 3;
            let mut messages = random(&fabric, &*router, 40, parties, seed);
            let mut draws = Stream::new(seed, "terms");
            for message in &mut messages {
                message.terms.weight = [0.5, 1.0, 3.0][draws.below(3) as usize];
                if draws.below(3) == 0 {
                    message.terms.limit = 5e7 + draws.unit() * 1e9;
                }
                message.links.iter_mut().for_each(|hop| hop.1 = [0.25, 0.5, 1.0, 1.0][draws.below(4) as usize]);
            }
            let capacities = fabric.shared_capacities();
            let flows = Flows::split(&fabric, &*router, &policy(is_equal_share), false).unwrap();
            let mut flows = flows.metered(meter(&capacities, is_equal_share, parties));
            let kept = metered(&mut flows, &messages, |by, flow, message| {
                let (links, parts): (Vec<u32>, Vec<f64>) = message.links.iter().copied().unzip();
                let entry = Entry { src: RankId(message.party), ..Entry::new(flow, &[], message.bytes) };
                by.start_on_terms(&entry, &links, &parts, message.terms);
            });
            compare(&capacities, &messages, is_equal_share, parties as usize, kept);
        }
    }
}

/// Creates two steps in lock step, in which each node of a tree sends to the next switch; up links carry
/// three flows each.
fn steps(fabric: &Fabric, router: &dyn Router, disturbed: bool) -> Vec<Message> {
    let nodes = fabric.nodes();
    let mut messages = Vec::new();
    for start in [0.0, 1.0] {
        for from in 0..nodes {
            let mut route = Vec::new();
            router.route(NodeId(from), NodeId((from + 3) % nodes), &mut route);
            let links = route.iter().map(|link| (link.0, 1.0)).collect();
            messages.push(Message { start, links, bytes: 1_000_000, party: from % 3 / 2, terms: Terms::default() });
        }
        if disturbed {
            let mut late = messages[1].clone();
            late.start = start + 5e-4;
            messages.push(late);
        }
    }
    messages
}

#[test]
fn steps_in_lock_step_lose_what_they_lose_one_by_one() {
    let (fabric, router) = network(EVEN);
    let capacities = fabric.shared_capacities();
    for disturbed in [false, true] {
        let messages = steps(&fabric, &*router, disturbed);
        let mut flows =
            Flows::new(&fabric, &*router, &SharingSpec::default(), false).metered(meter(&capacities, false, 2));
        let kept = metered(&mut flows, &messages, |by, flow, message| {
            let route: Vec<LinkId> = message.links.iter().map(|hop| LinkId(hop.0)).collect();
            by.start(&Entry { src: RankId(message.party), ..Entry::new(flow, &route, message.bytes) });
        });
        assert!(kept.0[1] > 0.0 && kept.0[2] > 0.0, "{:?}", kept.0);
        compare(&capacities, &messages, false, 2, kept);
    }
}

#[test]
fn a_link_that_carries_less_later_costs_more_from_then_on() {
    let mut by = meter(&[1e9], false, 2);
    for flow in [0, 1] {
        by.sender(FlowId(flow), RankId(flow));
        by.start(flow, &[0], &[], Terms::default());
    }
    let change = |flow, old, new| crate::sharing::Change { flow, old, new };
    by.settle(Time::ZERO, &[change(0, 0.0, 5e8), change(1, 0.0, 5e8)], |_, _| None);
    by.set_capacity(0, 5e8);
    by.settle(Time::from_seconds(1.0), &[change(0, 5e8, 2.5e8), change(1, 5e8, 2.5e8)], |_, _| None);
    by.leave(1);
    by.settle(Time::from_seconds(3.0), &[change(0, 2.5e8, 5e8)], |_, _| None);
    by.leave(0);
    by.settle(Time::from_seconds(4.0), &[], |_, _| None);
    // Half of each moment for three seconds, and nothing alone.
    assert!(
        by.lost().unwrap().iter().zip([0.0, 1.5, 1.5, 0.0]).all(|(lost, expected)| (lost - expected).abs() < 1e-12)
    );
}

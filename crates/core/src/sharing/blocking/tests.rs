//! Tests of the incremental solvers against the fixed point of the whole network, and on cases solved by
//! hand.

use std::collections::BTreeMap;

use super::oracle::{Problem, Queue, SOURCE, level};
use super::*;
use crate::rng::Stream;

/// Solves until nothing is left to do; returns true if that converged.
fn settle(policy: &mut dyn RenewedSharing) -> bool {
    (0..20).any(|_| {
        policy.solve(&mut Vec::new());
        policy.is_settled()
    })
}

/// Returns the rates of flows that come at once, to within 1e-9.
fn rates(channels: &Channels, capacities: &[f64], flows: &[&[u32]]) -> Vec<f64> {
    let mut policy = Blocking::new(capacities.to_vec(), channels.clone(), 1e-9);
    flows.iter().zip(0..).for_each(|(links, flow)| policy.add(flow, links));
    assert!(settle(&mut policy));
    (0..flows.len() as u32).map(|flow| policy.rate(flow)).collect()
}

fn injection(links: usize, hosts: usize) -> Channels {
    Channels { shared: (0..links).map(|link| link >= hosts).collect(), ..Channels::default() }
}

#[track_caller]
fn assert_close(rates: &[f64], expected: &[f64]) {
    let close = rates.iter().zip(expected).all(|(a, b)| (a - b).abs() <= 1e-6 * b);
    assert!(close && rates.len() == expected.len(), "{rates:?}, expected {expected:?}");
}

/// Hosts 0 and 1; a link of 3 between two switches, 2; behind it links 3 and 4. Host 0 sends two messages, to both.
#[test]
fn the_worst_output_holds_up_all_that_is_in_a_queue() {
    // Link 3 carries 0.5: the message to it waits, and the other one waits as long, though its link is empty.
    // A byte to link 3 takes 2. It finds more than two bytes for link 4 before it with a chance of an eighth:
    // two more each time.
    let found = rates(&injection(5, 2), &[1.0, 1.0, 3.0, 0.5, 1.0], &[&[0, 2, 3], &[0, 2, 4]]);
    assert_close(&found, &[1.0 / 2.25, 1.0 / 2.25]);
    let found = rates(&injection(5, 2), &[1.0, 1.0, 3.0, 0.25, 1.0], &[&[0, 2, 3], &[0, 2, 4]]);
    assert_close(&found, &[1.0 / 4.0625, 1.0 / 4.0625]);
    // Max-min, and a queue for each output, give the other one what is left of its host.
    let mut open = VirtualOutput::new(vec![1.0, 1.0, 3.0, 0.25, 1.0], 1e-9);
    open.add(0, &[0, 2, 3]);
    open.add(1, &[0, 2, 4]);
    assert!(settle(&mut open));
    assert_close(&[open.rate(0), open.rate(1)], &[0.25, 0.75]);
}

/// A full queue holds up a message of another host that shares it, and no message that does not.
#[test]
fn congestion_spreads_back_over_shared_queues_only() {
    let capacities = [1.0, 1.0, 1.0, 1.0, 0.2, 1.0, 1.0];
    // Hosts 0, 1 and 2. Hosts 0 and 1 share link 3, link 4 is slow; host 2 sends to link 6 alone.
    let found = rates(&injection(7, 3), &capacities, &[&[0, 3, 4], &[1, 3, 5], &[2, 6]]);
    // Half of the bytes in the queue go to the slow link. A byte for the other link takes 1. A turn of the
    // slow link takes 5 and finds five of those in a row at the head with a chance of a half to the power of
    // 5.
    let each = 1.0 / (5.0 + 1.0 / 32.0);
    assert_close(&found, &[each, each, 1.0]);
}

#[test]
fn outputs_serve_their_inputs_in_turn_however_many_messages_come_by_each() {
    // Four hosts: 0, 1 and 2 come over link 4 to link 5, and 3 comes directly. Half for 3, a sixth for each
    // of the rest.
    let found = rates(&injection(6, 4), &[1.0; 6], &[&[0, 4, 5], &[1, 4, 5], &[2, 4, 5], &[3, 5]]);
    assert_close(&found, &[1.0 / 6.0, 1.0 / 6.0, 1.0 / 6.0, 0.5]);
    let mut open = VirtualOutput::new(vec![1.0; 6], 1e-9);
    [&[0u32, 4, 5][..], &[1, 4, 5], &[2, 4, 5], &[3, 5]].iter().zip(0..).for_each(|(links, f)| open.add(f, links));
    assert!(settle(&mut open));
    assert_close(&[open.rate(0), open.rate(3)], &[1.0 / 6.0, 0.5]);
}

#[test]
fn messages_that_start_on_a_link_that_others_cross_are_an_input_of_their_own() {
    // No link belongs to a host: two messages start on link 0, one comes over link 1 to it.
    let found = rates(&Channels::default(), &[1.0; 3], &[&[0], &[0], &[1, 0]]);
    assert_close(&found, &[0.25, 0.25, 0.5]);
}

#[test]
fn channels_follow_the_rules_of_rings() {
    // A ring of links 1, 2, 3, which link 3 closes; link 0 leads in, link 4 out.
    let ring = |rule| Channels {
        rule,
        rings: vec![NO_RING, 0, 0, 0, NO_RING],
        closing: vec![false, false, false, true, false],
        ranks: vec![0, 1, 2, 3, 4],
        ..Channels::default()
    };
    let lanes = |rule, route: &[u32]| {
        let mut lanes = Vec::new();
        ring(rule).of_route(route, &mut lanes);
        lanes
    };
    assert_eq!(lanes(ChannelRule::Dateline, &[0, 2, 3, 1, 4]), [0, 0, 1, 1, 0]);
    assert_eq!(lanes(ChannelRule::Turn, &[0, 2, 3, 1, 4]), [0, 1, 1, 1, 0]);
    assert_eq!(lanes(ChannelRule::Turn, &[0, 1, 2, 4]), [0, 0, 0, 0]);
    assert_eq!(lanes(ChannelRule::Classes, &[0, 2, 3, 1, 4]), [0, 0, 0, 1, 1]);
    assert_eq!(lanes(ChannelRule::Bubble, &[0, 2, 3, 1, 4]), [0; 5]);
}

/// Messages on random routes over random links. With `ascending`, routes go over links in ascending order, so
/// that no queues wait for each other in a circle.
struct Play {
    random: Stream,
    problem: Problem,
    active: Vec<Option<Vec<u32>>>,
}

impl Play {
    fn new(seed: u64, hosts: u64, links: u64, rule: ChannelRule) -> Self {
        let mut random = Stream::new(seed, "blocking");
        let all = (hosts + links) as usize;
        let even = random.below(2) == 0;
        let capacities = (0..all).map(|_| if even { 1e9 } else { 1e9 * (0.1 + random.unit()) }).collect();
        let channels = Channels {
            rule,
            rings: (0..all).map(|link| if link < hosts as usize { NO_RING } else { (link % 2) as u8 }).collect(),
            closing: (0..all).map(|_| random.below(4) == 0).collect(),
            ranks: (0..all as u32).collect(),
            shared: (0..all).map(|link| link >= hosts as usize).collect(),
            source_queues: 1,
        };
        let problem = Problem { capacities, channels, flows: Vec::new() };
        Self { random, problem, active: vec![None; 2 * hosts as usize] }
    }

    fn links(&mut self, flow: usize, longest: u64, ascending: bool) -> Vec<u32> {
        let hosts = self.active.len() / 2;
        let all = self.problem.capacities.len() as u64;
        let mut route = vec![(flow / 2) as u32];
        for _ in 0..=self.random.below(longest) {
            let link = (hosts as u64 + self.random.below(all - hosts as u64)) as u32;
            if !route.contains(&link) {
                route.push(link);
            }
        }
        if ascending {
            route.sort_unstable();
        }
        route
    }

    /// Adds and removes some messages.
    fn change(&mut self, policy: &mut dyn RenewedSharing, ascending: bool) {
        for _ in 0..=self.random.below(4) {
            let flow = self.random.below(self.active.len() as u64) as usize;
            if self.active[flow].take().is_some() {
                policy.remove(flow as u32);
            } else {
                let links = self.links(flow, 5, ascending);
                policy.add(flow as u32, &links);
                self.active[flow] = Some(links);
            }
        }
    }
}

/// Returns the load of the fullest link, as a part of its capacity.
fn fullest(play: &Play, policy: &dyn RenewedSharing) -> f64 {
    let mut carried = vec![0.0; play.problem.capacities.len()];
    for (flow, links) in (0..).zip(&play.active) {
        let rate = if links.is_some() { policy.rate(flow) } else { 0.0 };
        links.iter().flatten().for_each(|&link| carried[link as usize] += rate);
    }
    carried.iter().zip(&play.problem.capacities).map(|(carried, capacity)| carried / capacity).fold(0.0, f64::max)
}

/// This holds at any tolerance, wherever a solve ends, settled or not.
#[test]
fn no_link_carries_more_than_it_can_after_a_solve() {
    use ChannelRule::{Bubble, Classes, Dateline, One, Turn};
    let mut full = 0;
    for (tolerance, rule) in [0.9, 0.2, 0.01, 1e-9].into_iter().flat_map(|tolerance| {
        [None, Some(One), Some(Bubble), Some(Dateline), Some(Turn), Some(Classes)].map(|rule| (tolerance, rule))
    }) {
        for seed in 0..SEEDS {
            let mut play = Play::new(seed, 2 + seed % 5, 4 + seed % 7, rule.unwrap_or_default());
            let capacities = play.problem.capacities.clone();
            let mut policy: Box<dyn RenewedSharing> = match rule {
                None => Box::new(VirtualOutput::new(capacities, tolerance)),
                Some(_) => Box::new(Blocking {
                    most: 20,
                    ..Blocking::new(capacities, play.problem.channels.clone(), tolerance)
                }),
            };
            for round in 0..10 {
                play.change(&mut *policy, seed % 2 == 0);
                if round == 5 {
                    // A link has a smaller capacity from now on.
                    let link = play.random.below(play.problem.capacities.len() as u64);
                    play.problem.capacities[link as usize] *= 0.3;
                    policy.set_capacity(link as u32, play.problem.capacities[link as usize]);
                }
                // Rates are reported now and then before they are computed again.
                if round % 3 == 0 {
                    policy.report(&mut Vec::new());
                }
                policy.solve(&mut Vec::new());
                let fullest = fullest(&play, &*policy);
                assert!(fullest <= 1.0 + 1e-9, "{tolerance} {rule:?} {seed}: a link carries {fullest} of what it can");
                full += u32::from(fullest > 1.0 - 1e-9);
            }
        }
    }
    assert!(full > 2000, "{full}: hardly any link is full");
}

/// Returns the q of all queues of a solver, named as the oracle names them.
fn drains(policy: &Blocking) -> BTreeMap<Queue, f64> {
    let mut drains = BTreeMap::new();
    for (link, state) in policy.queues.links.iter().enumerate() {
        let source = state.sources.first().map(|&source| (SOURCE, source));
        let known = (0..).zip(state.fifos.iter().copied()).filter(|&(_, fifo)| fifo != queues::NONE).chain(source);
        drains.extend(known.map(|(lane, fifo)| ((link as u32, lane), policy.queues.fifos[fifo as usize].drain)));
    }
    drains
}

/// Counts over many rounds: all rounds, rounds that the solver settled, rounds that the oracle settled, too,
/// and rounds of those in which all rates agree.
#[derive(Debug, Default)]
struct Counts {
    rounds: u32,
    settled: u32,
    both: u32,
    agree: u32,
    /// By round in which rates do not agree: the largest difference, as a part of the larger of the two.
    apart: Vec<f64>,
    /// Largest relative residual of any settled q in the equations.
    residual: f64,
}

impl Counts {
    /// Returns the median and the largest difference of rates where some do not agree.
    fn apart(&self) -> (f64, f64) {
        let mut apart = self.apart.clone();
        apart.sort_by(f64::total_cmp);
        (apart[apart.len() / 2], apart[apart.len() - 1])
    }
}

/// Adds and removes messages on random networks. Rates agree with those of the oracle if they differ by at
/// most `within`; without it the oracle is not asked.
fn play(tolerance: f64, within: Option<f64>, ascending: bool, rules: &[ChannelRule]) -> Counts {
    let mut found = Counts::default();
    for (&rule, seed) in rules.iter().flat_map(|rule| (0..SEEDS).map(move |seed| (rule, seed))) {
        let mut play = Play::new(seed, 2 + seed % 5, 4 + seed % 7, rule);
        let mut policy = Blocking::new(play.problem.capacities.clone(), play.problem.channels.clone(), tolerance);
        for _ in 0..6 {
            play.change(&mut policy, ascending);
            found.rounds += 1;
            if !settle(&mut policy) {
                continue;
            }
            found.settled += 1;
            let flows = (0..).zip(&play.active);
            let active: Vec<u32> = flows.filter(|(_, links)| links.is_some()).map(|(flow, _)| flow).collect();
            play.problem.flows = play.active.iter().flatten().cloned().collect();
            found.residual = found.residual.max(play.problem.residual(&drains(&policy)));
            let Some((expected, within)) = within.and_then(|within| Some((play.problem.fixed_point()?, within))) else {
                continue;
            };
            found.both += 1;
            let apart =
                |(&flow, expected): (&u32, f64)| (policy.rate(flow) / expected).max(expected / policy.rate(flow));
            let most = 1.0 - 1.0 / active.iter().zip(expected).map(apart).fold(1.0, f64::max);
            if most <= within {
                found.agree += 1;
            } else {
                found.apart.push(most);
            }
        }
    }
    found
}

/// Number of networks for each rule.
const SEEDS: u64 = 150;

/// In about one network in thirty several sets of rates fulfil the equations. Then the solver finds the one
/// closest to the rates before, and the oracle another.
#[test]
fn rates_around_the_change_fulfil_the_equations_of_the_whole_network() {
    let rules = [ChannelRule::One, ChannelRule::Dateline, ChannelRule::Turn, ChannelRule::Classes];
    let found = play(1e-9, Some(1e-5), true, &rules);
    println!("{found:?}, apart {:?}", found.apart());
    assert!(found.residual < 1e-6, "{found:?}");
    assert!(found.settled * 100 >= 95 * found.rounds, "{found:?}");
    assert!(found.agree * 100 >= 95 * found.both && found.both > 1000, "{found:?}");
}

#[test]
fn so_they_do_where_queues_wait_for_each_other_in_circles() {
    for rule in [ChannelRule::One, ChannelRule::Bubble] {
        let found = play(1e-9, Some(1e-5), false, &[rule]);
        println!("{rule:?} {found:?}, apart {:?}", found.apart());
        assert!(found.residual < 1e-6, "{found:?}");
        assert!(found.settled * 100 >= 90 * found.rounds, "{found:?}");
        assert!(found.agree * 100 >= 85 * found.both && found.both > 250, "{found:?}");
    }
}

/// A settled q may be off by the tolerance, plus half of it for rates that have changed since.
#[test]
fn what_is_settled_is_within_the_tolerance_of_the_equations() {
    for tolerance in [0.2, 0.05, 0.001] {
        let found = play(tolerance, None, true, &[ChannelRule::One, ChannelRule::Dateline]);
        println!("{tolerance} {found:?}");
        assert!(found.residual <= 3.0 * tolerance, "{tolerance}: {found:?}");
    }
}

/// Under `voq` each flow has exactly the rate that its worst link offers: an even part of its port's share,
/// which is an even part of the link, less the flows that take less. No link carries more than its capacity.
#[test]
fn queues_of_their_own_share_links_evenly_in_two_stages() {
    for seed in 0..200 {
        let mut play = Play::new(seed, 2 + seed % 5, 4 + seed % 7, ChannelRule::One);
        let capacities = play.problem.capacities.clone();
        let mut policy = VirtualOutput::new(capacities.clone(), 1e-10);
        for _ in 0..6 {
            play.change(&mut policy, false);
            assert!(settle(&mut policy), "{seed}");
            // By link and previous link: the flows, with their rates.
            let mut ports: BTreeMap<(u32, u32), Vec<(u32, f64)>> = BTreeMap::new();
            for (flow, links) in (0..).zip(&play.active) {
                let Some(links) = links else { continue };
                for (place, &link) in links.iter().enumerate() {
                    let from = links[place.saturating_sub(1)];
                    ports.entry((link, from)).or_default().push((flow, policy.rate(flow)));
                }
            }
            let sum = |flows: &[(u32, f64)]| flows.iter().map(|(_, rate)| rate).sum::<f64>();
            let mut offered: BTreeMap<u32, f64> = BTreeMap::new();
            for (&(link, from), flows) in &ports {
                let at_link = || ports.iter().filter(|((other, _), _)| *other == link);
                let load: f64 = at_link().map(|(_, flows)| sum(flows)).sum();
                assert!(load <= capacities[link as usize] * (1.0 + 1e-6), "link {link} carries {load}");
                let others: Vec<f64> =
                    at_link().filter(|((_, f), _)| *f != from).map(|(_, flows)| sum(flows)).collect();
                let share = level(&others, capacities[link as usize]);
                for &(flow, _) in flows {
                    let others: Vec<f64> = flows.iter().filter(|(f, _)| *f != flow).map(|&(_, rate)| rate).collect();
                    let least = offered.entry(flow).or_insert(f64::INFINITY);
                    *least = least.min(level(&others, share));
                }
            }
            for (flow, offered) in offered {
                let rate = policy.rate(flow);
                assert!((rate - offered).abs() <= 1e-6 * offered, "{seed}: flow {flow} has {rate} of {offered}");
            }
        }
    }
}

//! Tests of the incremental policies against the oracles, on random problems and by the defining properties.

use super::oracle::Problem;
use super::*;
use crate::rng::Stream;

/// Style of random problems.
#[derive(Clone, Copy)]
struct Style {
    links: u64,
    flows: u32,
    longest: u64,
    /// Set for few different capacities: many ties.
    ties: bool,
}

struct Play {
    random: Stream,
    problem: Problem,
    policy: Box<dyn Sharing>,
    style: Style,
    active: Vec<bool>,
    known: Vec<f64>,
}

impl Play {
    fn new(seed: u64, style: Style, policy: fn(Vec<f64>) -> Box<dyn Sharing>) -> Self {
        let mut random = Stream::new(seed, "sharing");
        let capacities: Vec<f64> = (0..style.links)
            .map(|_| if style.ties { 1.0 + random.below(2) as f64 } else { 1e9 * (0.05 + random.unit()) })
            .collect();
        let flows = style.flows as usize;
        Self {
            random,
            policy: policy(capacities.clone()),
            problem: Problem { capacities, flows: vec![Vec::new(); flows] },
            style,
            active: vec![false; flows],
            known: vec![0.0; flows],
        }
    }

    /// Adds and removes some flows; then rates are solved.
    fn batch(&mut self, size: u64) {
        self.come_and_go(size);
        self.solve();
    }

    /// Removes flows other than those of a preceding [`Play::come_and_go`] or [`Play::change_links`]; then
    /// rates are solved.
    fn come_and_go_once(&mut self, size: u64) {
        for _ in 0..size {
            let flow = self.random.below(u64::from(self.style.flows)) as u32;
            let f = flow as usize;
            if self.active[f] && self.known[f] > 0.0 {
                self.policy.remove(flow);
                self.problem.flows[f].clear();
                (self.known[f], self.active[f]) = (0.0, false);
            }
        }
        self.change_links(2);
        self.solve();
    }

    fn come_and_go(&mut self, size: u64) {
        let mut changed = Vec::new();
        for _ in 0..=self.random.below(size) {
            let flow = self.random.below(u64::from(self.style.flows)) as u32;
            let f = flow as usize;
            if self.active[f] && changed.contains(&flow) {
                continue; // a flow that comes and goes within a batch never has a rate
            }
            changed.push(flow);
            if self.active[f] {
                self.policy.remove(flow);
                self.problem.flows[f].clear();
                self.known[f] = 0.0;
                self.active[f] = false;
                if self.random.below(3) > 0 {
                    continue;
                }
            }
            for _ in 0..=self.random.below(self.style.longest) {
                let link = self.random.below(self.style.links) as u32;
                if !self.problem.flows[f].contains(&link) {
                    self.problem.flows[f].push(link);
                }
            }
            self.active[f] = true;
            self.policy.add(flow, &self.problem.flows[f]);
        }
    }

    /// Changes the capacities of some links; then rates are solved.
    fn change_capacities(&mut self, size: u64) {
        self.change_links(size);
        self.solve();
    }

    fn change_links(&mut self, size: u64) {
        for _ in 0..=self.random.below(size) {
            let link = self.random.below(self.style.links) as u32;
            let factor = if self.style.ties { 0.5 } else { 0.05 + self.random.unit() };
            let old = self.problem.capacities[link as usize];
            let new = if self.random.below(2) == 0 { old * factor } else { old / factor };
            self.problem.capacities[link as usize] = new;
            self.policy.set_capacity(link, new);
        }
    }

    fn solve(&mut self) {
        let mut changes = Vec::new();
        self.policy.solve(&mut changes);
        for change in changes {
            assert_eq!(self.known[change.flow as usize], change.old, "the old rate is the one last told");
            assert!(change.new != change.old);
            self.known[change.flow as usize] = change.new;
        }
    }

    fn flows(&self) -> impl Iterator<Item = usize> + use<'_> {
        (0..self.active.len()).filter(|&f| self.active[f])
    }

    fn agrees_with(&self, oracle: impl Fn(&Problem) -> Vec<f64>, tolerance: f64) {
        let map: Vec<usize> = self.flows().collect();
        let problem = Problem {
            capacities: self.problem.capacities.clone(),
            flows: map.iter().map(|&f| self.problem.flows[f].clone()).collect(),
        };
        for (expected, &f) in oracle(&problem).into_iter().zip(&map) {
            let rate = self.policy.rate(f as u32);
            assert_eq!(rate, self.known[f], "the rate of flow {f} is the one last told");
            assert!(
                (rate - expected).abs() <= tolerance * expected,
                "flow {f}: {rate}, expected {expected} in {problem:?}"
            );
        }
    }

    /// Asserts that no link carries more than its capacity.
    fn no_link_is_overbooked(&self) {
        for (link, &capacity) in self.problem.capacities.iter().enumerate() {
            let on_link = self.flows().filter(|&f| self.problem.flows[f].contains(&(link as u32)));
            let load: f64 = on_link.map(|f| self.known[f]).sum();
            assert!(load <= capacity * (1.0 + 1e-9), "link {link} carries {load} of {capacity}");
        }
    }

    /// Asserts that every flow crosses a full link on which no flow is faster, and that the policy names such
    /// a link.
    fn every_flow_has_a_bottleneck(&self) {
        for f in self.flows() {
            let link = self.policy.bottleneck(f as u32).expect("every flow has a bottleneck");
            assert!(self.problem.flows[f].contains(&link));
            let on_link: Vec<usize> = self.flows().filter(|&g| self.problem.flows[g].contains(&link)).collect();
            let load: f64 = on_link.iter().map(|&g| self.known[g]).sum();
            let capacity = self.problem.capacities[link as usize];
            assert!((load - capacity).abs() <= 1e-9 * capacity, "the bottleneck {link} of flow {f} is not full");
            let fastest = on_link.iter().map(|&g| self.known[g]).fold(0.0, f64::max);
            assert!(fastest <= self.known[f] * (1.0 + 1e-9), "flow {f} is not the fastest on its bottleneck");
        }
    }
}

const STYLES: [Style; 6] = [
    Style { links: 12, flows: 8, longest: 4, ties: true },
    Style { links: 12, flows: 16, longest: 6, ties: false },
    Style { links: 40, flows: 60, longest: 6, ties: true },
    Style { links: 5, flows: 60, longest: 3, ties: true },
    Style { links: 60, flows: 50, longest: 20, ties: false },
    Style { links: 3, flows: 40, longest: 1, ties: false },
];

fn plays(policy: fn(Vec<f64>) -> Box<dyn Sharing>, check: impl Fn(&Play)) {
    for (s, style) in STYLES.into_iter().enumerate() {
        for seed in 0..400 {
            let mut play = Play::new(seed + 1000 * s as u64, style, policy);
            for round in 0..12 {
                play.batch(if round % 4 == 0 { 20 } else { 3 });
                check(&play);
            }
        }
    }
}

/// Plays random problems on which capacities change, too.
fn plays_on_changing_links(policy: fn(Vec<f64>) -> Box<dyn Sharing>, check: impl Fn(&Play)) {
    for (s, style) in STYLES.into_iter().enumerate() {
        for seed in 0..30 {
            let mut play = Play::new(seed + 1000 * s as u64, style, policy);
            for round in 0..12 {
                play.batch(if round % 4 == 0 { 20 } else { 3 });
                play.change_capacities(if round % 3 == 0 { style.links } else { 2 });
                check(&play);
            }
        }
    }
}

#[test]
fn a_link_that_a_flow_has_for_itself_holds_it_back_where_no_other_does() {
    for seed in 0..400 {
        // Few flows on many links: most links have one flow, and any link of a route may be the narrowest.
        let style = Style { links: 30, flows: 8, longest: 6, ties: seed % 2 == 0 };
        let mut play = Play::new(seed, style, |capacities| Box::new(MaxMin::new(capacities)));
        for round in 0..20 {
            match round % 4 {
                0 => play.batch(6),
                1 => play.change_capacities(6),
                2 => play.come_and_go_once(3),
                _ => play.batch(2),
            }
            play.agrees_with(Problem::max_min, 1e-11);
            play.every_flow_has_a_bottleneck();
        }
    }
}

#[test]
fn rates_follow_capacities_that_change() {
    plays_on_changing_links(
        |c| Box::new(MaxMin::new(c)),
        |play| {
            play.agrees_with(Problem::max_min, 1e-11);
            play.no_link_is_overbooked();
            play.every_flow_has_a_bottleneck();
        },
    );
    plays_on_changing_links(|c| Box::new(WeightedMaxMin::new(c)), |play| play.agrees_with(Problem::max_min, 1e-10));
    plays_on_changing_links(|c| Box::new(EqualShare::new(c)), |play| play.agrees_with(Problem::equal_share, 0.0));
    plays_on_changing_links(
        |c| Box::new(WeightedEqualShare::new(c)),
        |play| play.agrees_with(Problem::equal_share, 1e-12),
    );
    plays_on_changing_links(
        |c| Box::new(Redistribute::new(c, 0.010_137)),
        |play| play.agrees_with(|problem| problem.redistribute(0.010_137), 1e-9),
    );
}

#[test]
fn links_and_flows_may_change_at_the_same_instant_in_any_order() {
    type Policy = fn(Vec<f64>) -> Box<dyn Sharing>;
    type Oracle = fn(&Problem) -> Vec<f64>;
    let policies: [(Policy, Oracle, f64); 2] = [
        (|capacities| Box::new(EqualShare::new(capacities)), Problem::equal_share, 0.0),
        (|capacities| Box::new(MaxMin::new(capacities)), Problem::max_min, 1e-11),
    ];
    for (policy, oracle, tolerance) in policies {
        for seed in 0..150 {
            // Six links and thirty flows: now and then some links have more flows than fit in their line.
            let style = Style { links: 6, flows: 30, longest: 3, ties: seed % 2 == 0 };
            let mut play = Play::new(seed, style, policy);
            for round in 0..20 {
                match round % 3 {
                    0 => play.come_and_go(12),
                    1 => play.change_links(3),
                    _ => (),
                }
                play.come_and_go_once(if round % 2 == 0 { 1 } else { 12 });
                play.agrees_with(oracle, tolerance);
            }
        }
    }
}

#[test]
fn max_min_agrees_with_water_filling_on_random_problems() {
    plays(
        |c| Box::new(MaxMin::new(c)),
        |play| {
            play.agrees_with(Problem::max_min, 1e-12);
            play.no_link_is_overbooked();
        },
    );
}

#[test]
fn under_max_min_every_flow_has_a_bottleneck() {
    plays(|c| Box::new(MaxMin::new(c)), Play::every_flow_has_a_bottleneck);
}

#[test]
fn max_min_by_groups_agrees_with_water_filling_on_random_problems() {
    plays(
        |c| Box::new(Groups::new(c)),
        |play| {
            play.agrees_with(Problem::max_min, 1e-11);
            play.no_link_is_overbooked();
        },
    );
}

#[test]
fn under_max_min_by_groups_every_flow_has_a_bottleneck() {
    plays(|c| Box::new(Groups::new(c)), Play::every_flow_has_a_bottleneck);
}

#[test]
fn equal_share_is_the_least_even_share_to_the_last_bit() {
    plays(
        |c| Box::new(EqualShare::new(c)),
        |play| {
            play.agrees_with(Problem::equal_share, 0.0);
            play.no_link_is_overbooked();
        },
    );
}

#[test]
fn redistribution_around_the_change_agrees_with_rounds_over_all_flows() {
    plays(
        // Not 0.01: a gain of exactly the threshold would stop here and, summed in another order, continue
        // there.
        |c| Box::new(Redistribute::new(c, 0.010_137)),
        |play| {
            play.agrees_with(|problem| problem.redistribute(0.010_137), 1e-9);
            play.no_link_is_overbooked();
        },
    );
}

#[test]
fn redistribution_never_takes_from_the_equal_share() {
    plays(
        |c| Box::new(Redistribute::new(c, 1e-6)),
        |play| {
            let even = play.problem.equal_share();
            assert!(play.flows().all(|f| play.known[f] >= even[f]));
        },
    );
}

/// On sets of many shapes with few and many rounds, the rates after thousands of changes equal those of a new
/// solver.
#[test]
fn redistribution_keeps_nothing_of_flows_that_are_gone() {
    for threshold in [0.2, 0.010_137, 1e-4] {
        for (s, style) in STYLES.into_iter().enumerate() {
            let mut play = Play::new(s as u64, style, |c| Box::new(EqualShare::new(c)));
            let capacities = play.problem.capacities.clone();
            play.policy = Box::new(Redistribute::new(capacities.clone(), threshold));
            for turn in 0..300 {
                play.batch(if turn % 50 == 0 { 40 } else { 2 });
            }
            let mut fresh = Redistribute::new(capacities, threshold);
            for f in play.flows() {
                fresh.add(f as u32, &play.problem.flows[f]);
            }
            fresh.solve(&mut Vec::new());
            for f in play.flows() {
                let (rate, expected) = (play.known[f], fresh.rate(f as u32));
                assert!((rate - expected).abs() <= 1e-9 * expected, "flow {f}: {rate}, from scratch {expected}");
                assert_eq!(play.policy.bottleneck(f as u32).is_some(), fresh.bottleneck(f as u32).is_some());
            }
        }
    }
}

/// This lets the engine leave such links out.
#[test]
fn a_dominated_link_changes_no_rate_of_any_policy() {
    type Make = fn(Vec<f64>) -> Box<dyn Sharing>;
    let policies: [Make; 2] = [|c| Box::new(EqualShare::new(c)), |c| Box::new(Redistribute::new(c, 0.010_137))];
    for policy in policies {
        for seed in 0..300 {
            let mut random = Stream::new(seed, "dominated");
            // Links 0 .. 5 have a feeder each, 6 .. 11, of no smaller capacity, which some of their flows
            // cross.
            let mut capacities: Vec<f64> = (0..6).map(|_| 1.0 + random.below(4) as f64).collect();
            for link in 0..6 {
                capacities.push(capacities[link] + random.below(2) as f64);
            }
            let (mut with, mut without) = (policy(capacities.clone()), policy(capacities));
            assert!(with.may_leave_out_dominated_links());
            for f in 0..20 {
                let first = random.below(6) as u32;
                let second = (first + 1 + random.below(5) as u32) % 6;
                without.add(f, &[first, second]);
                // All flows of a feeder cross its link.
                let feeder = 6 + first;
                let route = [first, second, feeder];
                with.add(f, if random.below(2) == 0 { &route } else { &route[..2] });
            }
            with.solve(&mut Vec::new());
            without.solve(&mut Vec::new());
            for f in 0..20 {
                let (a, b) = (with.rate(f), without.rate(f));
                assert!((a - b).abs() <= 1e-12 * b, "flow {f}: {a} with the dominated link, {b} without");
            }
        }
    }
}

/// Solves one set of flows at once.
fn rates(mut policy: impl Sharing, flows: &[&[u32]]) -> Vec<f64> {
    for (f, links) in flows.iter().enumerate() {
        policy.add(f as u32, links);
    }
    policy.solve(&mut Vec::new());
    (0..flows.len()).map(|f| policy.rate(f as u32)).collect()
}

#[test]
fn a_flow_throttled_elsewhere_leaves_its_share_to_the_others() {
    // Link 1, which f1 shares with two more, limits it to a third; on link 0 it meets f0 (MFS, step 5).
    let flows: [&[u32]; 4] = [&[0], &[0, 1], &[1], &[1]];
    let third = 1.0 / 3.0;
    assert_eq!(rates(EqualShare::new(vec![1.0; 2]), &flows), [0.5, third, third, third]);
    let exact = rates(MaxMin::new(vec![1.0; 2]), &flows);
    assert!((exact[0] - 2.0 / 3.0).abs() < 1e-15);
    let redistributed = rates(Redistribute::new(vec![1.0; 2], 0.01), &flows);
    // Redistribution stops when the next gain, half of what is left, is below 1 %.
    assert!((redistributed[0] - 2.0 / 3.0).abs() < 0.02);
}

#[test]
fn thousands_of_flows_on_one_link_share_it_evenly() {
    let mut policies: [Box<dyn Sharing>; 4] = [
        Box::new(EqualShare::new(vec![1e9; 5001])),
        Box::new(MaxMin::new(vec![1e9; 5001])),
        Box::new(Groups::new(vec![1e9; 5001])),
        Box::new(Redistribute::new(vec![1e9; 5001], 0.01)),
    ];
    for policy in &mut policies {
        for f in 0..5000 {
            policy.add(f, &[f, 5000]);
        }
        let mut changes = Vec::new();
        policy.solve(&mut changes);
        assert_eq!(changes.len(), 5000);
        for f in (0..5000).step_by(2) {
            policy.remove(f);
        }
        policy.solve(&mut changes);
        assert!((policy.rate(1) - 1e9 / 2500.0).abs() < 1e-3);
    }
}

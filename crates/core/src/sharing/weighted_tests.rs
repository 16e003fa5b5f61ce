//! Tests of the policies for flows on several paths, with weights and limits, against the oracle and by the
//! defining properties.

use super::weighted_oracle::WeightedProblem;
use super::*;
use crate::rng::Stream;

/// Style of random problems.
#[derive(Clone, Copy, Debug)]
struct Style {
    links: u64,
    flows: u32,
    longest: u64,
    kind: ProblemKind,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum ProblemKind {
    /// Capacities, parts and weights from a few values: many ties.
    Ties,
    /// One path each, weight 1, no limits: the case of the plain policies.
    Plain,
    /// Capacities of 1e3 to 1e12, parts down to 1e-3, weights of 1e-2 to 1e2.
    Wide,
    /// Anything between 0 and 1.
    Even,
}

type Make = fn(Vec<f64>) -> Box<dyn Sharing>;

struct Play {
    random: Stream,
    problem: WeightedProblem,
    policy: Box<dyn Sharing>,
    style: Style,
    known: Vec<f64>,
}

/// Returns 10 to the power of a random number in this range.
fn between(random: &mut Stream, least: i32, most: i32) -> f64 {
    let power = least + random.below((most - least) as u64) as i32;
    let ten = if power < 0 { 0.1 } else { 10.0 };
    (0..power.abs()).fold(1.0 + 9.0 * random.unit(), |product, _| product * ten)
}

impl Play {
    fn new(seed: u64, style: Style, make: Make) -> Self {
        let mut random = Stream::new(seed, "weighted");
        let mut capacity = || match style.kind {
            ProblemKind::Ties | ProblemKind::Plain => 1.0 + random.below(2) as f64,
            ProblemKind::Wide => between(&mut random, 3, 12),
            ProblemKind::Even => 1e9 * (0.05 + random.unit()),
        };
        let capacities: Vec<f64> = (0..style.links).map(|_| capacity()).collect();
        let flows = vec![(Vec::new(), Terms::default()); style.flows as usize];
        let known = vec![0.0; style.flows as usize];
        Self {
            policy: make(capacities.clone()),
            random,
            problem: WeightedProblem { capacities, pipes: Vec::new(), flows },
            style,
            known,
        }
    }

    fn flow(&mut self) -> (Vec<(u32, f64)>, Terms) {
        let random = &mut self.random;
        let mut links: Vec<(u32, f64)> = Vec::new();
        for _ in 0..=random.below(self.style.longest) {
            let link = random.below(self.style.links) as u32;
            if links.iter().all(|&(other, _)| other != link) {
                let part = match self.style.kind {
                    ProblemKind::Plain => 1.0,
                    ProblemKind::Ties => [1.0, 0.5, 0.25, 1.05, 0.05][random.below(5) as usize],
                    ProblemKind::Wide => between(random, -3, 0),
                    ProblemKind::Even => 0.02 + random.unit(),
                };
                links.push((link, part));
            }
        }
        let weight = match self.style.kind {
            ProblemKind::Plain => 1.0,
            ProblemKind::Ties => [1.0, 2.0, 0.5][random.below(3) as usize],
            ProblemKind::Wide => between(random, -2, 2),
            ProblemKind::Even => 0.1 + random.unit(),
        };
        let limit = match self.style.kind {
            ProblemKind::Plain => f64::INFINITY,
            _ if random.below(3) > 0 => f64::INFINITY,
            ProblemKind::Ties => [0.125, 0.25, 0.5, 1.0][random.below(4) as usize],
            ProblemKind::Wide => between(random, 2, 10),
            ProblemKind::Even => 3e8 * (0.01 + random.unit()),
        };
        (links, Terms { weight, limit })
    }

    /// Adds and removes some flows; then rates are solved.
    fn batch(&mut self, size: u64) {
        let mut changed = Vec::new();
        for _ in 0..=self.random.below(size) {
            let f = self.random.below(u64::from(self.style.flows)) as usize;
            let is_active = !self.problem.flows[f].0.is_empty();
            if is_active && changed.contains(&f) {
                continue; // a flow that comes and goes within a batch never has a rate
            }
            changed.push(f);
            if is_active {
                self.policy.remove(f as u32);
                self.problem.flows[f].0.clear();
                self.known[f] = 0.0;
                if self.random.below(3) > 0 {
                    continue;
                }
            }
            let (crossed, terms) = self.flow();
            let (links, parts): (Vec<u32>, Vec<f64>) = crossed.iter().copied().unzip();
            match self.style.kind {
                ProblemKind::Plain => self.policy.add(f as u32, &links),
                _ if terms == Terms::default() => self.policy.add_split(f as u32, &links, &parts),
                _ => self.policy.add_on_terms(f as u32, &links, &parts, terms),
            }
            self.problem.flows[f] = (crossed, terms);
        }
        let mut changes = Vec::new();
        self.policy.solve(&mut changes);
        for Change { flow, old, new } in changes {
            assert_eq!(self.known[flow as usize], old, "the old rate is the one last told");
            assert!(new != old);
            self.known[flow as usize] = new;
        }
    }

    fn active(&self) -> Vec<usize> {
        (0..self.known.len()).filter(|&f| !self.problem.flows[f].0.is_empty()).collect()
    }

    fn agrees_with(&self, oracle: fn(&WeightedProblem) -> Vec<f64>, tolerance: f64) {
        let active = self.active();
        let flows = active.iter().map(|&f| self.problem.flows[f].clone()).collect();
        let problem = WeightedProblem { flows, ..self.problem.clone() };
        for (expected, &f) in oracle(&problem).into_iter().zip(&active) {
            let rate = self.policy.rate(f as u32);
            assert_eq!(rate, self.known[f], "the rate of flow {f} is the one last told");
            assert!(
                (rate - expected).abs() <= tolerance * expected,
                "flow {f}: {rate}, expected {expected}: {problem:?}"
            );
        }
    }

    /// Returns the load of a link.
    fn load(&self, link: u32) -> f64 {
        let part = |f: usize| self.problem.flows[f].0.iter().filter(|hop| hop.0 == link).map(|hop| hop.1).sum::<f64>();
        self.active().into_iter().map(|f| part(f) * self.known[f]).sum()
    }

    fn no_link_is_overbooked(&self) {
        for (link, &capacity) in self.problem.capacities.iter().enumerate() {
            let load = self.load(link as u32);
            assert!(load <= capacity * (1.0 + 1e-9), "link {link} carries {load} of {capacity}");
        }
    }

    /// Asserts that every flow is at its limit or crosses the named full link, on which no other level is
    /// higher.
    fn every_flow_has_a_bottleneck(&self) {
        for f in self.active() {
            let (links, Terms { weight, limit }) = &self.problem.flows[f];
            assert!(self.known[f] <= limit * (1.0 + 1e-12), "flow {f} is above its limit");
            let Some(link) = self.policy.bottleneck(f as u32) else {
                assert!((self.known[f] - limit).abs() <= 1e-9 * limit, "flow {f} is held back by nothing");
                continue;
            };
            assert!(links.iter().any(|hop| hop.0 == link));
            let (load, capacity) = (self.load(link), self.problem.capacities[link as usize]);
            assert!((load - capacity).abs() <= 1e-9 * capacity, "the bottleneck {link} of flow {f} is not full");
            for g in self.active() {
                let crosses = self.problem.flows[g].0.iter().any(|hop| hop.0 == link);
                let level = self.known[g] / self.problem.flows[g].1.weight;
                assert!(!crosses || level <= self.known[f] / weight * (1.0 + 1e-9), "flow {g} is above flow {f}");
            }
        }
    }
}

const STYLES: [Style; 9] = [
    Style { links: 12, flows: 8, longest: 4, kind: ProblemKind::Ties },
    Style { links: 12, flows: 16, longest: 6, kind: ProblemKind::Even },
    Style { links: 40, flows: 60, longest: 6, kind: ProblemKind::Ties },
    Style { links: 5, flows: 60, longest: 3, kind: ProblemKind::Ties },
    Style { links: 60, flows: 50, longest: 20, kind: ProblemKind::Wide },
    Style { links: 12, flows: 30, longest: 6, kind: ProblemKind::Wide },
    Style { links: 3, flows: 40, longest: 1, kind: ProblemKind::Wide },
    Style { links: 40, flows: 60, longest: 30, kind: ProblemKind::Even },
    Style { links: 40, flows: 60, longest: 6, kind: ProblemKind::Plain },
];

fn plays(make: Make, problems: u64, check: impl Fn(&Play)) {
    for (s, style) in STYLES.into_iter().enumerate() {
        for seed in 0..problems {
            let mut play = Play::new(seed + 1000 * s as u64, style, make);
            for round in 0..12 {
                play.batch(if round % 4 == 0 { 20 } else { 3 });
                check(&play);
            }
        }
    }
}

#[test]
fn weighted_max_min_agrees_with_progressive_filling_on_random_problems() {
    plays(
        |c| Box::new(WeightedMaxMin::new(c)),
        200,
        |play| {
            play.agrees_with(WeightedProblem::max_min, 1e-9);
            play.no_link_is_overbooked();
            play.every_flow_has_a_bottleneck();
        },
    );
}

#[test]
fn thousands_of_changes_leave_no_trace_in_weighted_max_min() {
    for (s, style) in STYLES.into_iter().enumerate() {
        let mut play = Play::new(s as u64, style, |c| Box::new(WeightedMaxMin::new(c)));
        for round in 0..3_000 {
            play.batch(if round % 100 == 0 { 60 } else { 2 });
            if round % 50 == 0 {
                play.agrees_with(WeightedProblem::max_min, 1e-9);
            }
        }
    }
}

/// Makes each second link a pipe.
fn make_pipes(play: &mut Play) {
    play.problem.pipes = (0..play.style.links).map(|link| link % 2 == 0).collect();
    for (link, &capacity) in play.problem.capacities.iter().enumerate().step_by(2) {
        assert!(play.policy.make_pipe(link as u32, capacity));
    }
}

#[test]
fn pipes_stop_all_of_their_flows_where_the_first_is_as_fast_as_they_are() {
    for (s, style) in STYLES.into_iter().enumerate() {
        for seed in 0..200 {
            let mut play = Play::new(seed + 1000 * s as u64, style, |c| Box::new(WeightedMaxMin::new(c)));
            make_pipes(&mut play);
            for round in 0..40 {
                play.batch(if round % 4 == 0 { 20 } else { 3 });
                play.agrees_with(WeightedProblem::max_min, 1e-9);
            }
        }
    }
    let mut policy = WeightedMaxMin::new(vec![1.0, 10.0]);
    assert!(policy.make_pipe(1, 10.0) && !WeightedEqualShare::new(vec![1.0]).make_pipe(0, 1.0));
    let on = |policy: &mut WeightedMaxMin, flow, links: &[u32], weight| {
        policy.add_on_terms(flow, links, &[1.0, 1.0][..links.len()], Terms { weight, ..Terms::default() });
        policy.solve(&mut Vec::new());
    };
    on(&mut policy, 0, &[1], 1.0);
    on(&mut policy, 1, &[1], 0.25);
    assert_eq!([0, 1].map(|f| (policy.rate(f), policy.bottleneck(f))), [(10.0, Some(1)), (2.5, Some(1))]);
    // A flow that another link stops earlier does not hold the other flows back.
    on(&mut policy, 2, &[0, 1], 4.0);
    assert_eq!([0, 1, 2].map(|f| policy.rate(f)), [10.0, 2.5, 1.0]);
    policy.remove(0);
    policy.solve(&mut Vec::new());
    assert_eq!([1, 2].map(|f| policy.rate(f)), [10.0, 1.0]);
    policy.set_capacity(1, 0.5);
    policy.solve(&mut Vec::new());
    assert_eq!([1, 2].map(|f| policy.rate(f)), [0.03125, 0.5]);
}

#[test]
fn weighted_equal_share_is_the_least_share_of_the_links() {
    plays(
        |c| Box::new(WeightedEqualShare::new(c)),
        100,
        |play| {
            play.agrees_with(WeightedProblem::equal_share, 1e-12);
            play.no_link_is_overbooked();
        },
    );
}

/// Flows of one path, weight 1 and no limit are the case of the plain policies.
#[test]
fn whole_flows_of_equal_weight_have_the_rates_of_the_plain_policies() {
    let makes: [(Make, Make, f64); 2] = [
        (|c| Box::new(WeightedMaxMin::new(c)), |c| Box::new(MaxMin::new(c)), 1e-12),
        (|c| Box::new(WeightedEqualShare::new(c)), |c| Box::new(EqualShare::new(c)), 0.0),
    ];
    for (weighted, plain, tolerance) in makes {
        for seed in 0..100 {
            let mut random = Stream::new(seed, "plain");
            let capacities: Vec<f64> = (0..30).map(|_| 1e9 * (0.1 + random.unit())).collect();
            let mut policies = [weighted(capacities.clone()), plain(capacities)];
            for f in 0..60 {
                let first = random.below(10) as u32;
                let links = [first, 10 + random.below(10) as u32, 20 + random.below(10) as u32];
                policies.iter_mut().for_each(|policy| policy.add(f, &links));
                if f % 7 == 6 {
                    policies.iter_mut().for_each(|policy| policy.remove(f - 3));
                }
                policies.iter_mut().for_each(|policy| policy.solve(&mut Vec::new()));
                let [a, b] = [0, 1].map(|i: usize| policies[i].rate(f));
                assert!((a - b).abs() <= tolerance * b, "flow {f}: {a}, {b}");
            }
        }
    }
}

#[test]
fn a_flow_over_two_paths_takes_half_of_its_rate_on_each() {
    let mut policy = WeightedMaxMin::new(vec![1.0; 4]);
    // Both paths share links 0 and 3; links 1 and 2 are a path each; flow 1 is on one of them.
    policy.add_split(0, &[0, 1, 2, 3], &[1.0, 0.5, 0.5, 1.0]);
    policy.solve(&mut Vec::new());
    assert_eq!(policy.rate(0), 1.0);
    policy.add(1, &[1]);
    policy.solve(&mut Vec::new());
    // 1/2 x + x = 1.
    assert!((policy.rate(1) - 2.0 / 3.0).abs() < 1e-15 && (policy.rate(0) - 2.0 / 3.0).abs() < 1e-15);
    assert_eq!(policy.bottleneck(0), Some(1));
}

#[test]
fn rates_are_in_proportion_to_weights_until_a_limit() {
    let mut policy = WeightedMaxMin::new(vec![12.0]);
    for (flow, weight) in [1.0, 2.0, 3.0].into_iter().enumerate() {
        policy.add_on_terms(flow as u32, &[0], &[1.0], Terms { weight, ..Terms::default() });
    }
    policy.solve(&mut Vec::new());
    assert_eq!([0, 1, 2].map(|f| policy.rate(f)), [2.0, 4.0, 6.0]);
    policy.remove(2);
    policy.add_on_terms(2, &[0], &[1.0], Terms { weight: 3.0, limit: 3.0 });
    policy.solve(&mut Vec::new());
    assert_eq!([0, 1, 2].map(|f| policy.rate(f)), [3.0, 6.0, 3.0]);
    assert_eq!([0, 1, 2].map(|f| policy.bottleneck(f)), [Some(0), Some(0), None]);
}

#[test]
fn thousands_of_split_flows_on_one_link_share_it_by_their_parts() {
    let mut policies: [Box<dyn Sharing>; 2] =
        [Box::new(WeightedMaxMin::new(vec![1e9; 5001])), Box::new(WeightedEqualShare::new(vec![1e9; 5001]))];
    for policy in &mut policies {
        for f in 0..5000 {
            policy.add_split(f, &[f, 5000], &[1.0, 0.25]);
        }
        let mut changes = Vec::new();
        policy.solve(&mut changes);
        assert_eq!(changes.len(), 5000);
        (0..5000).step_by(2).for_each(|f| policy.remove(f));
        policy.solve(&mut changes);
        assert!((policy.rate(1) - 4.0 * 1e9 / 2500.0).abs() < 1e-3);
    }
}

fn refusal(links: &[u32], parts: &[f64], terms: Terms) -> String {
    let mut policy = WeightedMaxMin::new(vec![1.0; 3]);
    let add = std::panic::AssertUnwindSafe(|| policy.add_on_terms(0, links, parts, terms));
    let payload = std::panic::catch_unwind(add).expect_err("this is refused");
    payload.downcast_ref::<String>().cloned().unwrap_or_else(|| payload.downcast_ref::<&str>().unwrap().to_string())
}

#[test]
fn what_is_no_flow_is_refused() {
    let plain = Terms::default();
    assert_eq!(refusal(&[], &[], plain), "a flow crosses at least one link");
    assert!(refusal(&[0, 1], &[1.0], plain).contains("a flow has a part on each of its links"));
    for part in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(refusal(&[1], &[part], plain).contains("of its rate on link 1"));
    }
    for weight in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(refusal(&[1], &[1.0], Terms { weight, ..plain }).contains("is no weight of a flow"));
    }
    for limit in [0.0, -1.0, f64::NAN] {
        assert!(refusal(&[1], &[1.0], Terms { limit, ..plain }).contains("is no limit of a flow"));
    }
}

#[test]
fn policies_that_take_no_terms_say_why() {
    let spec = |text: &str| -> SharingSpec { toml_like(text) };
    for (name, reason) in
        [("redistribute", Some("evenly")), ("groups", Some("groups")), ("max-min", None), ("equal-share", None)]
    {
        let spec = spec(name);
        assert_eq!(spec.refuses_terms().map(|text| text.contains(reason.unwrap())), reason.map(|_| true), "{name}");
        assert_eq!(spec.build_on_terms(vec![1.0]).is_some(), reason.is_none());
        assert_eq!(spec.build_on_terms(vec![1.0]).is_some_and(|policy| policy.takes_terms()), reason.is_none());
        assert!(!spec.build(vec![1.0]).takes_terms());
    }
}

fn toml_like(name: &str) -> SharingSpec {
    match name {
        "redistribute" => SharingSpec::Redistribute(RedistributeSpec::default()),
        "groups" => SharingSpec::MaxMin(MaxMinSpec { solver: Solver::Groups }),
        "equal-share" => SharingSpec::EqualShare(EqualShareSpec {}),
        _ => SharingSpec::default(),
    }
}

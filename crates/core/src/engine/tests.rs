//! Whole runs: rates against the oracles while messages come and go, latencies, odd loads.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Flight, Observer, Outcome, Passed, Simulation, StepSync, Steps, Stop};
use crate::diagnostic::Sources;
use crate::fabric::Fabric;
use crate::ids::{FlowId, LinkId, RankId};
use crate::pattern::{Injection, PatternPlayer, PatternSpec};
use crate::placement::{Placement, PlacementSpec};
use crate::routing::{Router, RoutingSpec};
use crate::sharing::oracle::Problem;
use crate::sharing::{EqualShareSpec, MaxMinSpec, RedistributeSpec, SharingSpec};
use crate::topology::TopologySpec;
use crate::transport::{Entry, Flows, Transport};
use crate::units::Time;
use crate::workload::{SendRequest, Workload};

/// Flows whose rates are compared with an oracle after every n-th solve.
struct Checked<'a> {
    flows: Flows,
    fabric: &'a Fabric,
    oracle: fn(&Problem) -> Vec<f64>,
    under_way: BTreeMap<FlowId, Vec<LinkId>>,
    every: u32,
    solves: u32,
    checks: u32,
}

impl Transport for Checked<'_> {
    fn start(&mut self, entry: &Entry<'_>) {
        self.under_way.insert(entry.flow, entry.links.to_vec());
        self.flows.start(entry);
    }

    fn settle(&mut self, now: Time) {
        self.flows.settle(now);
        self.solves += 1;
        if !self.solves.is_multiple_of(self.every) {
            return;
        }
        self.checks += 1;
        // The oracle sees every link, also links that the flows leave out because they never bind.
        let problem = Problem {
            capacities: self.fabric.links().iter().map(|link| link.capacity.bytes_per_second()).collect(),
            flows: self.under_way.values().map(|route| route.iter().map(|link| link.0).collect()).collect(),
        };
        for ((flow, _), expected) in self.under_way.iter().zip((self.oracle)(&problem)) {
            let rate = self.flows.rate(*flow);
            assert!((rate - expected).abs() <= 1e-9 * expected, "flow {flow}: {rate}, expected {expected}");
        }
    }

    fn next_arrival(&mut self, horizon: Time) -> Time {
        self.flows.next_arrival(horizon)
    }

    fn arrived(&mut self, until: Time, flows: &mut Vec<FlowId>) {
        let before = flows.len();
        self.flows.arrived(until, flows);
        for flow in &flows[before..] {
            self.under_way.remove(flow);
        }
    }
}

/// Times of delivery and messages.
#[derive(Default)]
struct Log(Vec<(f64, SendRequest)>);

impl Observer for Log {
    fn delivered(&mut self, now: Time, flight: &Flight, _: &[LinkId]) {
        self.0.push((now.ps(), flight.send));
    }
}

fn fabric(topology: &str) -> Arc<Fabric> {
    let spec: TopologySpec = crate::reading::from_toml(topology).unwrap();
    Arc::new(spec.build(&mut Sources::default()).unwrap())
}

/// Plays the messages of these ranks to their end.
fn simulate<T: Transport, O: Observer>(
    fabric: &Fabric,
    router: &dyn Router,
    placement: &Placement,
    workload: &mut PatternPlayer,
    transport: &mut T,
    observer: &mut O,
) -> Outcome {
    let resolution = Time::ZERO;
    Simulation { fabric, router, placement, workload, transport, resolution }.run(observer, None)
}

/// Plays a pattern; returns the outcome and the number of checks.
fn play(
    topology: &str,
    workload: &str,
    placement: &str,
    injection: Injection,
    sharing: &SharingSpec,
    oracle: fn(&Problem) -> Vec<f64>,
    every: u32,
) -> (Outcome, u32) {
    let mut sources = Sources::default();
    let fabric = fabric(topology);
    let router = RoutingSpec::default_for(&fabric).build(&fabric, 1).unwrap();
    let workload: PatternSpec = crate::reading::from_toml(workload).unwrap();
    let pattern = workload.build(&fabric.nodes(), 1, &mut sources).unwrap();
    let placement: Placement =
        PlacementSpec::parse(placement).build((pattern.ranks(), 1), &fabric, 1, &mut sources).unwrap();
    let mut player = PatternPlayer::new(pattern, injection, Time::ZERO, 1);
    let flows = Flows::new(&fabric, &*router, sharing, player.load().one_at_a_time);
    let mut transport =
        Checked { flows, fabric: &fabric, oracle, under_way: BTreeMap::new(), every, solves: 0, checks: 0 };
    let outcome = simulate(&fabric, &*router, &placement, &mut player, &mut transport, &mut ());
    (outcome, transport.checks)
}

const TREE: &str = "fat-tree = { p = 3, bandwidth = \"1 GB/s\" }";
const HALVED: &str =
    "fat-tree = { down = [4, 4, 2], up = [1, 2, 2], bandwidth = [\"2 GB/s\", \"1 GB/s\", \"1.5 GB/s\"] }";
const TORUS: &str = "torus = { dims = [5, 4], bandwidth = [\"1 GB/s\", \"3 GB/s\"], host-bandwidth = \"1.3 GB/s\" }";
const SPREAD: &str = "all-to-all = { algorithm = \"simple-spread\", size = \"20 KB\" }";

#[test]
fn rates_of_real_runs_are_those_of_the_oracles() {
    let max_min = SharingSpec::MaxMin(MaxMinSpec::default());
    let equal_share = SharingSpec::EqualShare(EqualShareSpec {});
    let redistribute = SharingSpec::Redistribute(RedistributeSpec { threshold: 0.010_137.into() });
    for topology in [TREE, HALVED, TORUS] {
        for injection in [Injection::Queue, Injection::SendRecv, Injection::Window(3)] {
            let run = |sharing, oracle| play(topology, SPREAD, "random", injection, sharing, oracle, 29).1;
            assert!(run(&max_min, Problem::max_min) > 10);
            assert!(run(&equal_share, Problem::equal_share) > 10);
            assert!(run(&redistribute, |problem| problem.redistribute(0.010_137)) > 10);
        }
    }
}

/// Returns the deliveries of a pattern, with or without lockstep.
fn deliveries(
    topology: &str,
    workload: &str,
    injection: Injection,
    jitter: Time,
    lock_step: bool,
) -> Vec<(f64, SendRequest)> {
    let mut sources = Sources::default();
    let fabric = fabric(topology);
    let router = RoutingSpec::default_for(&fabric).build(&fabric, 1).unwrap();
    let pattern =
        crate::reading::from_toml::<PatternSpec>(workload).unwrap().build(&fabric.nodes(), 1, &mut sources).unwrap();
    let placement = PlacementSpec::parse("regular").build((pattern.ranks(), 1), &fabric, 1, &mut sources).unwrap();
    let mut player = PatternPlayer::new(pattern, injection, jitter, 1);
    let flows = Flows::new(&fabric, &*router, &SharingSpec::default(), player.load().one_at_a_time);
    let mut transport = if lock_step { flows } else { flows.without_lock_step() };
    let mut log = Log::default();
    let outcome = simulate(&fabric, &*router, &placement, &mut player, &mut transport, &mut log);
    assert_eq!(outcome.stop, Stop::Done);
    log.0.sort_by_key(|(_, send)| send.id);
    log.0
}

#[test]
fn lock_step_spares_work_and_changes_nothing_but_rounding() {
    let broadcast = "broadcast = { algorithm = \"binomial\", size = \"20 KB\" }";
    let shift = "permutation = { kind = \"shift\", offset = 3, size = \"20 KB\" }";
    for topology in [TREE, HALVED, TORUS] {
        for workload in [SPREAD, broadcast, shift] {
            for injection in [Injection::Queue, Injection::SendRecv, Injection::Barrier, Injection::Window(2)] {
                for jitter in [Time::ZERO, Time::from_ps(5e6)] {
                    let with = deliveries(topology, workload, injection, jitter, true);
                    let without = deliveries(topology, workload, injection, jitter, false);
                    assert!(!with.is_empty() && with.len() == without.len());
                    for ((time, send), (expected, same)) in with.iter().zip(&without) {
                        assert_eq!(send, same);
                        assert!((time - expected).abs() <= 1e-11 * expected, "{send:?}: {time}, expected {expected}");
                    }
                }
            }
        }
    }
}

/// Runs a pattern under max-min, unchecked.
fn run(topology: &str, workload: &str, injection: Injection) -> Outcome {
    play(topology, workload, "regular", injection, &SharingSpec::default(), Problem::max_min, u32::MAX).0
}

#[test]
fn a_message_without_bytes_takes_the_latencies_of_its_route() {
    let tree = "crossbar = { nodes = 2, bandwidth = \"1 GB/s\", latency = \"3 us\" }";
    let outcome = run(tree, "ring = { size = \"0 B\" }", Injection::Queue);
    assert_eq!(outcome.makespan, Time::from_ps(6e6));
    assert_eq!((outcome.messages, outcome.bytes), (2, 0));
}

#[test]
fn latency_is_added_once_for_each_link_on_the_way() {
    let tree = "crossbar = { nodes = 2, bandwidth = \"1 GB/s\", latency = \"3 us\" }";
    let outcome = run(tree, "ring = { size = \"20 KB\" }", Injection::Queue);
    assert_eq!(outcome.makespan, Time::from_ps(26e6));
}

#[test]
fn one_node_alone_is_done_at_once() {
    let outcome = run("crossbar = { nodes = 1, bandwidth = \"1 GB/s\" }", SPREAD, Injection::Queue);
    assert_eq!((outcome.stop, outcome.makespan, outcome.messages), (Stop::Done, Time::ZERO, 0));
}

#[test]
fn everything_at_once_shares_every_host_link() {
    // Each of 8 nodes sends to 7 others at once: each message gets a seventh of the host link.
    let outcome = run("crossbar = { nodes = 8, bandwidth = \"1 GB/s\" }", SPREAD, Injection::All);
    assert!((outcome.makespan.seconds() - 7.0 * 20e-6).abs() < 1e-15);
}

#[test]
fn every_byte_that_is_sent_arrives() {
    for injection in [Injection::Queue, Injection::SendRecv, Injection::Barrier, Injection::All, Injection::Window(2)] {
        let outcome = run(TORUS, SPREAD, injection);
        assert_eq!(outcome.stop, Stop::Done);
        assert_eq!((outcome.messages, outcome.bytes), (20 * 19, 20 * 19 * 20_000));
    }
}

/// Bytes carried by links and ranks, whichever method reported them.
#[derive(Default)]
struct Carried {
    links: BTreeMap<LinkId, u64>,
    sent: BTreeMap<RankId, u64>,
    under_way: f64,
}

impl Observer for Carried {
    fn delivered(&mut self, now: Time, flight: &Flight, route: &[LinkId]) {
        route.iter().for_each(|&link| self.carried(link, flight.send.bytes));
        *self.sent.entry(flight.send.id.src).or_default() += flight.send.bytes;
        self.under_way += (now - flight.start).ps();
    }

    fn passed(&mut self, passed: &Passed<'_>) {
        self.sent.extend((0..).map(RankId).zip(passed.sent.iter().map(|(_, bytes)| *bytes)));
        self.under_way += passed.under_way;
    }

    fn carried(&mut self, link: LinkId, bytes: u64) {
        *self.links.entry(link).or_default() += bytes;
    }
}

#[test]
fn blocks_of_several_sizes_are_passed_on_as_if_played() {
    let sizes = ["1 B", "7 B", "17 B", "18 B", "19 B", "100 B", "1234567 B"];
    let rings = sizes.map(|size| format!("allreduce = {{ algorithm = \"ring\", size = \"{size}\" }}"));
    let mut uneven = 0;
    for (topology, workload) in
        [TREE, "torus = { dims = [18], bandwidth = \"1 GB/s\" }", "crossbar = { nodes = 7, bandwidth = \"3 GB/s\" }"]
            .iter()
            .flat_map(|topology| rings.iter().map(move |ring| (topology, ring)))
    {
        let mut sources = Sources::default();
        let fabric = fabric(topology);
        let router = RoutingSpec::default_for(&fabric).build(&fabric, 1).unwrap();
        let pattern = crate::reading::from_toml::<PatternSpec>(workload)
            .unwrap()
            .build(&fabric.nodes(), 1, &mut sources)
            .unwrap();
        let placement = PlacementSpec::parse("regular").build((pattern.ranks(), 1), &fabric, 1, &mut sources).unwrap();
        let work = pattern.lockstep().unwrap();
        let Some(sent) = &work.passed_on else { continue };
        uneven += 1;
        for (sync, injection) in [(StepSync::Even, Injection::Queue), (StepSync::Barrier, Injection::Barrier)] {
            let steps = Steps::new(&fabric, &*router, &placement, pattern.lockstep().unwrap(), sync).unwrap();
            let (mut counted, mut played) = (Carried::default(), Carried::default());
            let expected = {
                let mut player = PatternPlayer::new(pattern.clone(), injection, Time::ZERO, 1);
                let mut transport = Flows::new(&fabric, &*router, &SharingSpec::default(), true);
                simulate(&fabric, &*router, &placement, &mut player, &mut transport, &mut played)
            };
            let outcome = steps.pass_on(&**sent, &mut counted).unwrap();
            let (time, wanted) = (outcome.makespan.ps(), expected.makespan.ps());
            assert!((time - wanted).abs() <= 1e-12 * wanted, "{topology} {workload}: {time}, played {wanted}");
            assert_eq!((outcome.messages, outcome.bytes), (expected.messages, expected.bytes), "{topology} {workload}");
            played.links.retain(|_, bytes| *bytes > 0);
            counted.links.retain(|_, bytes| *bytes > 0);
            assert_eq!(counted.links, played.links, "{topology} {workload}");
            assert_eq!(counted.sent, played.sent, "{topology} {workload}");
            assert!((counted.under_way - played.under_way).abs() <= 1e-9 * played.under_way, "{topology} {workload}");
        }
    }
    assert!(uneven > 12, "{uneven}");
}

#[test]
fn blocks_that_meet_are_played() {
    let mut sources = Sources::default();
    let fabric = fabric("torus = { dims = [5], bandwidth = \"1 GB/s\" }");
    let router = RoutingSpec::default_for(&fabric).build(&fabric, 1).unwrap();
    let ring = "allreduce = { algorithm = \"ring\", size = \"11 B\" }";
    let pattern =
        crate::reading::from_toml::<PatternSpec>(ring).unwrap().build(&fabric.nodes(), 1, &mut sources).unwrap();
    let placement = PlacementSpec::parse("random").build((pattern.ranks(), 1), &fabric, 1, &mut sources).unwrap();
    let steps = Steps::new(&fabric, &*router, &placement, pattern.lockstep().unwrap(), StepSync::Even).unwrap();
    assert_eq!(steps.pass_on(&|_| 1, &mut ()), None);
}

//! Links that fail, carry less or come back: closed forms, and an oracle that computes from scratch.

use hayase::Scenario;
use hayase::fabric::{Fabric, LinkChange};
use hayase::ids::{LinkId, NodeId};
use hayase::report::MessageRecord;
use hayase::report::Status;
use hayase::rng::Stream;
use hayase::scenario::Loader;
use hayase::simulation::{PatternOutcome, PatternWork, RunOptions};

/// Mesh of two nodes. A message of 1 MB takes 1 ms on a link.
const MESH: &str = "[topology.mesh]\ndims = [2]\nhost-link = false\nbandwidth = \"1 GB/s\"\n";

fn ring(nodes: u32) -> String {
    format!("[topology.torus]\ndims = [{nodes}]\nhost-link = false\nbandwidth = \"1 GB/s\"\n")
}

/// Returns a workload in which every node sends 1 MB at once, to the node `offset` places after it.
fn shift(offset: u32) -> String {
    format!("[workload.permutation]\nkind = \"shift\"\noffset = {offset}\nsize = \"1 MB\"\n")
}

fn load(text: &str) -> Scenario<PatternWork> {
    Loader::new().text("scenario", text).load_pattern().unwrap_or_else(|invalid| panic!("{text}\n{invalid:?}"))
}

fn run(parts: &[&str]) -> PatternOutcome {
    load(&parts.join("\n")).run(RunOptions { link_use: true, ..RunOptions::default() })
}

fn makespan_ms(parts: &[&str]) -> f64 {
    let outcome = run(parts);
    assert_eq!(outcome.report.head.status, Status::Complete, "{parts:?}");
    outcome.report.head.makespan_s * 1e3
}

/// Returns true if two values are equal except for the last digits.
fn same(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-12 * expected.abs()
}

const HALVED: &str = "[[faults.event]]\nat = \"0.5 ms\"\nlink = \"node 0 -> node 1\"\nbandwidth = \"50 %\"\n";

#[test]
fn a_link_that_halves_at_half_time_takes_one_and_a_half_times_as_long() {
    for policy in ["max-min", "equal-share", "redistribute"] {
        let sharing = format!("sharing = \"{policy}\"");
        let found = makespan_ms(&[&sharing, &ring(3), &shift(1), HALVED]);
        assert!(same(found, 1.5), "{policy}: {found}");
    }
    // Also in SimGrid's terms, with factors of bandwidth and latency.
    let found = makespan_ms(&["[transport.flow]\nbandwidth-factor = 0.5\n", &ring(3), &shift(1), HALVED]);
    assert!(same(found, 2.0 + 1.5), "0.5 ms at 0.5 GB/s, then 0.25 GB/s: {found}");
    // From the start, on all links.
    let degraded = "[faults]\nlinks = \"100 %\"\nbandwidth = \"25 %\"\n";
    assert!(same(makespan_ms(&[&ring(3), &shift(1), degraded]), 4.0));
    let rate = "[faults]\nlinks = [\"node 1 <-> node 2\"]\nbandwidth = \"200 MB/s\"\n";
    assert!(same(makespan_ms(&[&ring(3), &shift(1), rate]), 5.0));
}

#[test]
fn of_two_parallel_cables_the_other_one_carries_both() {
    let tree = "[topology.fat-tree]\ndown = [2, 2]\nup = [1, 1]\nparallel = [1, 2]\nbandwidth = \"1 GB/s\"\n";
    let work = shift(2);
    assert!(same(makespan_ms(&[tree, &work]), 1.0));
    let fabric = load(&[tree, &work].join("\n")).network().unwrap().fabric.clone();
    let name =
        fabric.links().ids().map(|link| fabric.link_name(link)).find(|name| name.matches('L').count() == 2).unwrap();
    let one = format!("[faults]\nlinks = ['{} #2']\n", name.replace("->", "<->"));
    assert!(same(makespan_ms(&[tree, &work, &one]), 2.0));
    // At half time: the messages on the link start again, beside the others, which have 0.5 MB left.
    let later =
        format!("[[faults.event]]\nat = \"0.5 ms\"\nlink = '{} #2'\nstate = \"down\"\n", name.replace("->", "<->"));
    assert!(same(makespan_ms(&[tree, &work, &later]), 0.5 + 1.0 + 0.5));
}

#[test]
fn a_ring_with_a_failed_cable_is_gone_round_the_other_way() {
    let broken = "[faults]\nlinks = \"node 0 <-> node 1\"\n";
    let outcome = run(&[&ring(7), &shift(1), broken]);
    assert_eq!(outcome.report.head.status, Status::Complete);
    let bytes = |name: &str| outcome.links.iter().find(|link| link.name == name).unwrap().bytes;
    assert_eq!(
        (bytes("node 0 -> node 1"), bytes("node 0 -> node 6"), bytes("node 2 -> node 1")),
        (0, 1_000_000, 1_000_000)
    );
    assert!(same(outcome.report.head.makespan_s, 1e-3));
    let faults = outcome.report.head.faults.unwrap();
    assert_eq!((faults.failed_links.count, faults.pairs_cut_off), (2, Some(0)));
    assert!(outcome.links.iter().filter(|link| link.failed).count() == 2);
}

fn down_and_up(link: &str, down: &str, up: &str) -> String {
    format!(
        "[[faults.event]]\nat = \"{up}\"\nlink = \"{link}\"\nstate = \"up\"\n\
         [[faults.event]]\nat = \"{down}\"\nlink = \"{link}\"\nstate = \"down\"\n"
    )
}

#[test]
fn a_message_on_a_link_that_fails_is_sent_again_when_there_is_a_way() {
    let (work, link) = (shift(1), "node 0 -> node 1");
    // There is no other path: the message waits until the link is back.
    let events = down_and_up(link, "0.25 ms", "0.75 ms");
    assert!(same(makespan_ms(&[MESH, &work, &events]), 1.75));
    assert!(same(makespan_ms(&["[faults]\nrerouting-delay = \"0.1 ms\"\n", &events, MESH, &work]), 1.85));
    // There is another path: around the ring.
    assert!(same(makespan_ms(&[&ring(3), &work, &events]), 1.25));
    assert!(same(makespan_ms(&["[faults]\nrerouting-delay = \"0.1 ms\"\n", &events, &ring(3), &work]), 1.35));
    // Latencies count as part of the path: a message that has not entered yet starts again, too.
    let slow = "[topology.mesh]\ndims = [2]\nhost-link = false\nbandwidth = \"1 GB/s\"\nlatency = \"1 ms\"\n";
    assert!(same(makespan_ms(&[slow, &work, &events]), 2.75));
    // A failure after the last arrival has no effect.
    let late = down_and_up(link, "3 ms", "9 s");
    assert!(same(makespan_ms(&[MESH, &work, &late]), 1.0));
    let outcome = run(&[MESH, &work, &events]);
    assert_eq!(outcome.report.head.faults.map(|faults| (faults.resent, faults.lost)), Some((1, 0)));
}

#[test]
fn a_link_that_is_back_is_used_again() {
    let events = down_and_up("node 0 -> node 1", "0 s", "0.5 ms");
    let outcome = run(&[&ring(4), "[workload.all-to-all]\nalgorithm = \"simple-spread\"\nsize = \"1 MB\"\n", &events]);
    let bytes = outcome.links.iter().find(|link| link.name == "node 0 -> node 1").unwrap().bytes;
    assert!(bytes > 0 && outcome.report.head.status == Status::Complete);
}

#[test]
fn what_is_lost_never_arrives_and_the_run_says_so() {
    let lost = "[faults]\non-failure = \"lost\"\n[[faults.event]]\nat = \"0.5 ms\"\nlink = \"node 0 -> node 1\"\nstate = \"down\"\n";
    let outcome = run(&[lost, &ring(3), &shift(1)]);
    // No rank waits for it, and nothing bounds the run by its bytes.
    assert!(outcome.report.bounds.largest() <= outcome.report.head.makespan_s * (1.0 + 1e-9));
    let head = outcome.report.head;
    assert_eq!((head.status, head.messages), (Status::Complete, 2));
    let faults = head.faults.unwrap();
    assert_eq!((faults.lost, faults.stranded, &faults.without_way[..]), (1, 0, &["node 0 -> node 1".to_owned()][..]));
    // There is no path to send it again.
    let stranded = "[[faults.event]]\nat = \"0.5 ms\"\nlink = \"node 0 -> node 1\"\nstate = \"down\"\n";
    let head = run(&[MESH, &shift(1), stranded]).report.head;
    assert_eq!((head.status, head.messages), (Status::Deadlocked, 1));
    assert_eq!(head.faults.map(|faults| faults.stranded), Some(1));
    // The next message of a rank waits for the one that was lost.
    let all = "[workload.all-to-all]\nalgorithm = \"simple-spread\"\nsize = \"1 MB\"\n";
    let outcome = run(&[lost, &ring(3), all]);
    assert_eq!((outcome.report.head.status, outcome.blocked.is_empty()), (Status::Deadlocked, false));
}

#[test]
fn a_message_without_a_path_waits_for_new_routes_where_others_are_lost() {
    let down = "[faults]\non-failure = \"lost\"\n".to_owned() + &down_and_up("node 0 -> node 1", "0 s", "0.5 ms");
    let outcome = run(&[&down, MESH, &shift(1)]);
    let head = outcome.report.head;
    assert!(head.status == Status::Complete && same(head.makespan_s, 1.5e-3), "{}", head.makespan_s);
    assert_eq!(head.faults.map(|faults| (faults.lost, faults.stranded)), Some((0, 0)));
}

#[test]
fn pairs_that_are_cut_off_and_needed_are_refused_and_others_are_told() {
    let torus = "[topology.torus]\ndims = [4]\nbandwidth = \"1 GB/s\"\n";
    let off = "[faults]\nlinks = [\"node 3 <-> (3)\"]\n";
    let refused = Loader::new().text("scenario", [torus, &shift(1), off].join("\n")).load_pattern().unwrap_err();
    assert_eq!(refused.diagnostics.iter().map(|one| one.code).collect::<Vec<_>>(), ["cut-off"]);
    let ranks = "[workload.broadcast]\nalgorithm = \"binomial\"\nsize = \"1 MB\"\nranks = 3\n";
    let outcome = run(&[torus, ranks, off]);
    assert_eq!(outcome.report.head.status, Status::Complete);
    assert_eq!(outcome.report.head.faults.unwrap().pairs_cut_off, Some(6));
}

#[test]
fn the_same_part_and_seed_fail_in_every_transport_and_under_every_rule() {
    let torus = "[topology.torus]\ndims = [4, 4]\nbandwidth = \"1 GB/s\"\n[workload.all-to-all]\nalgorithm = \"pairwise\"\nsize = \"4 KB\"\n";
    let faults = "[faults]\nlinks = \"10 %\"\n";
    let transports = ["flow", "packet:oq", "packet:iq", "packet:fq", "contention-free"];
    let rules =
        ["dimension-order", "shortest-path", "minimal", "ecmp", "spray", "valiant-switches", "ugal-l", "ugal-g"];
    for transport in transports {
        for rule in rules {
            if rule == "spray" && transport.starts_with("packet") {
                continue;
            }
            let choices = format!("transport = \"{transport}\"\nrouting = \"{rule}\"\nseed = 3\n");
            let outcome = run(&[&choices, torus, faults]);
            let faults = outcome.report.head.faults.clone().unwrap();
            assert_eq!(faults.failed_links.count, 6, "3.2 of 32 cables, both ways");
            assert!(outcome.links.iter().all(|link| !link.failed || link.bytes == 0), "{transport}, {rule}");
            // Cycles of input queues may block each other around the failed links; that is reported
            // separately.
            let told = outcome.report.head.status == Status::Complete || transport == "packet:iq";
            assert!(told, "{transport}, {rule}");
        }
    }
}

/// Returns the arrival times of messages that all start at once, computed from scratch: rates by
/// water-filling after every arrival and change.
fn oracle(fabric: &Fabric, routes: &[Vec<LinkId>], bytes: f64, changes: &[(f64, LinkId, f64)]) -> Vec<f64> {
    let mut capacity: Vec<f64> = fabric.links().iter().map(|link| link.capacity.bytes_per_second()).collect();
    let (mut left, mut ends, mut now) = (vec![bytes; routes.len()], vec![f64::INFINITY; routes.len()], 0.0);
    let mut changes = changes.to_vec();
    changes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut changes = changes.into_iter().peekable();
    while ends.iter().any(|end| end.is_infinite()) {
        let mut rates = vec![f64::INFINITY; routes.len()];
        let on = |link: usize| (0..routes.len()).filter(move |&f| routes[f].contains(&LinkId(link as u32)));
        loop {
            let level = |link: usize| {
                let free = on(link).filter(|&f| ends[f].is_infinite() && rates[f].is_infinite()).count();
                let used: f64 =
                    on(link).filter(|&f| ends[f].is_infinite() && rates[f].is_finite()).map(|f| rates[f]).sum();
                if free > 0 { (capacity[link] - used) / free as f64 } else { f64::INFINITY }
            };
            let lowest =
                (0..capacity.len()).map(|link| (level(link), link)).min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
            if lowest.0.is_infinite() {
                break;
            }
            for f in on(lowest.1).filter(|&f| ends[f].is_infinite()).collect::<Vec<_>>() {
                rates[f] = rates[f].min(lowest.0);
            }
        }
        let first = (0..routes.len())
            .filter(|&f| ends[f].is_infinite())
            .map(|f| left[f] / rates[f])
            .fold(f64::INFINITY, f64::min);
        let change = changes.peek().map_or(f64::INFINITY, |change| change.0 - now);
        let step = first.min(change);
        for f in (0..routes.len()).filter(|&f| ends[f].is_infinite()) {
            left[f] -= rates[f] * step;
        }
        now += step;
        if change <= first {
            let (_, link, rate) = changes.next().unwrap();
            capacity[link.0 as usize] = rate;
            continue;
        }
        for f in (0..routes.len()).filter(|&f| ends[f].is_infinite()).collect::<Vec<_>>() {
            if left[f] <= 1e-9 * bytes {
                ends[f] = now;
            }
        }
    }
    ends
}

#[test]
fn messages_arrive_as_from_scratch_while_capacities_change() {
    for seed in 1..=12 {
        let mut random = Stream::new(seed, "capacities");
        let topology = "[topology.torus]\ndims = [4, 3]\nhost-link = false\nbandwidth = \"1 GB/s\"\n";
        let work = "[workload.permutation]\nkind = \"random\"\nsize = \"1 MB\"\ninjection = \"all\"\n";
        let plain = load(&[&format!("seed = {seed}\n"), topology, work].join("\n"));
        let fabric = plain.network().unwrap().fabric.clone();
        let (mut events, mut changes) = (String::new(), Vec::new());
        for _ in 0..30 {
            let link = LinkId(random.below(fabric.links().len() as u64) as u32);
            let (at_us, percent) = (10 + random.below(2000), 5 + random.below(95));
            let name = fabric.link_name(link);
            events +=
                &format!("[[faults.event]]\nat = \"{at_us} us\"\nlink = \"{name}\"\nbandwidth = \"{percent} %\"\n");
            changes.push((at_us as f64 * 1e-6, link, 1e9 * percent as f64 / 100.0));
        }
        let scenario = load(&[&format!("seed = {seed}\n"), topology, work, &events].join("\n"));
        let mut records: Vec<MessageRecord> = Vec::new();
        let mut see = |record: &MessageRecord| records.push(*record);
        let outcome = scenario.run(RunOptions { on_message: Some(&mut see), ..RunOptions::default() });
        assert_eq!(outcome.report.head.status, Status::Complete);
        let network = plain.network().unwrap();
        let route = |record: &MessageRecord| {
            let mut route = Vec::new();
            network.router.route(NodeId(record.src), NodeId(record.dst), &mut route);
            route
        };
        records.retain(|record| record.src != record.dst);
        let routes: Vec<Vec<LinkId>> = records.iter().map(route).collect();
        let expected = oracle(&fabric, &routes, 1e6, &changes);
        for (record, expected) in records.iter().zip(expected) {
            assert!((record.end_s - expected).abs() <= 1e-9 * expected, "seed {seed}: {record:?}, expected {expected}");
        }
        assert!(!records.is_empty());
    }
}

#[test]
fn a_profile_with_a_period_repeats() {
    use hayase::System;
    use hayase::fabric::{FabricBuilder, Irregular, LinkRole, Timetable};
    use hayase::faults::{Faults, FaultsSpec};
    use hayase::ids::VertexId;
    use hayase::network::NetworkParts;
    use hayase::routing::RoutingSpec;
    use hayase::simulation::simulate;
    use hayase::units::{Bandwidth, Time};
    use std::sync::Arc;

    // 1 GB/s for 1 ms, 0.5 GB/s for 1 ms, and so on: 3 MB in 4 ms.
    let mut builder = FabricBuilder::new("pair", 2, 0);
    let speed = Bandwidth::from_bytes_per_second(1e9);
    let there = builder.link(VertexId(0), VertexId(1), speed, Time::ZERO, LinkRole::Network { tier: 0 });
    builder.link(VertexId(1), VertexId(0), speed, Time::ZERO, LinkRole::Network { tier: 0 });
    let mut timetable = Timetable::default();
    let half = LinkChange::Bandwidth(Bandwidth::from_bytes_per_second(5e8));
    let changes = vec![(Time::ZERO, LinkChange::Bandwidth(speed)), (Time::from_ps(1e9), half)];
    timetable.add(there, changes, Some(Time::from_ps(2e9))).unwrap();
    builder.timetable(timetable);
    let network = NetworkParts::new(builder.finish(Irregular)).unwrap();
    let rule = RoutingSpec::default_for(&network.fabric);
    let faults = Faults::build(&FaultsSpec::default(), &network.fabric, (&rule, &network.router), 1).unwrap();
    let system = System::new(network.with_faults(Arc::new(faults)).build().unwrap());
    let text = "[topology.mesh]\ndims = [2]\nbandwidth = \"1 GB/s\"\n[workload.permutation]\nkind = \"shift\"\noffset = 1\nsize = \"3 MB\"\n";
    let work = load(text).work().clone();
    let outcome = simulate(&system, &work, RunOptions::default()).unwrap();
    assert!(same(outcome.report.head.makespan_s, 4e-3), "{}", outcome.report.head.makespan_s);
}

//! Columns of lists of messages by which a plan is played: slots, paths and weights.

use hayase::report::MessageRecord;
use hayase::simulation::{Outcome, PatternOutcome};
use hayase::{Loader, RunOptions, Scenario};

/// Two switches with two nodes each, and two cables between them. A node's link is four times as fast as a cable.
const LINKS: &str = "id,from,to,bandwidth
u0,0,a,4e9\nd0,a,0,4e9\nu1,1,a,4e9\nd1,a,1,4e9\nu2,2,b,4e9\nd2,b,2,4e9\nu3,3,b,4e9\nd3,b,3,4e9
one,a,b,1e9\ntwo,a,b,1e9\nback,b,a,1e9\n";

/// Nodes on which calls are free.
const NODE: &str = "[node.loggps]\nL = \"0 s\"\no = \"0 s\"\nGs = \"0 ns/B\"\nS = \"1 GB\"\n";

fn loader(head: &str, messages: &str, options: &str) -> Loader {
    let text = format!(
        "{head}\n[topology.custom]\nnodes = 4\nlinks = \"links.csv\"\n[workload.file]\npath = \"m.csv\"\n{options}\n"
    );
    let loader = Loader::new().text("s.toml", text);
    loader.attach("links.csv", LINKS.as_bytes()).attach("m.csv", messages.as_bytes())
}

fn load(head: &str, messages: &str, options: &str) -> Scenario {
    loader(head, messages, options).load().unwrap_or_else(|invalid| panic!("{invalid}"))
}

fn mistakes(head: &str, messages: &str, options: &str) -> String {
    loader(head, messages, options).load().unwrap_err().lines()
}

/// Sender, number and end of a message.
type End = ((u32, u32), f64);

/// Returns the outcome and the end of each message, by sender and number.
fn run(scenario: &Scenario) -> (PatternOutcome, Vec<End>) {
    let mut ends = Vec::new();
    let mut see = |message: &MessageRecord| ends.push(((message.src, message.index), message.end_s));
    let options = RunOptions { on_message: Some(&mut see), link_use: true, ..RunOptions::default() };
    let outcome = match scenario.run(options) {
        Outcome::Pattern(outcome) => *outcome,
        other => panic!("{other:?}"),
    };
    ends.sort_by_key(|(message, _)| *message);
    (outcome, ends)
}

fn bytes_of(outcome: &PatternOutcome, link: &str) -> u64 {
    outcome.links.iter().find(|one| one.name == link).unwrap().bytes
}

fn close(value: f64, expected: f64) {
    assert!((value - expected).abs() <= 1e-9 * expected, "{value} {expected}");
}

/// Returns rows of messages between these ranks of 4 MB with this last cell.
fn rows(column: &str, messages: &[(u32, u32, &str)]) -> String {
    let row = |(src, dst, cell): &(u32, u32, &str)| format!("{src},{dst},4000000,{cell}\n");
    format!("src,dst,bytes,{column}\n{}", messages.iter().map(row).collect::<String>())
}

#[test]
fn slots_under_a_barrier_take_the_sum_of_their_times() {
    // Rank 0 passes in slots 1 and 3, rank 2 in slots 0 and 2. Alone, 4 MB take 1 ms on a node's link.
    let messages = rows("slot", &[(0, 1, "0"), (0, 1, "2"), (0, 1, "4"), (2, 3, "1"), (2, 3, "3"), (2, 3, "4")]);
    let barrier = "injection = \"barrier\"";
    let (outcome, ends) = run(&load("", &messages, barrier));
    let expected = [1e-3, 3e-3, 5e-3, 2e-3, 4e-3, 5e-3];
    ends.iter().zip(expected).for_each(|((_, end), expected)| close(*end, expected));
    close(outcome.report.head.makespan_s, 5e-3);
    // Without a barrier nothing waits.
    close(run(&load("", &messages, "")).0.report.head.makespan_s, 3e-3);
    // On nodes with costs the barriers are calls.
    let Outcome::Program(program) = load(NODE, &messages, barrier).run(RunOptions::default()) else { panic!() };
    assert!(program.report.head.messages > 6 && program.report.head.makespan_s >= 3e-3);
}

#[test]
fn sendrecv_waits_for_earlier_slots_only() {
    // Rank 1 sends in slot 2 after what it receives in slot 1, and before what it receives in slot 3.
    let messages = rows("slot", &[(0, 1, "1"), (0, 1, "3"), (1, 0, "2"), (1, 0, "4")]);
    let (_, ends) = run(&load("", &messages, "injection = \"sendrecv\""));
    let expected = [1e-3, 3e-3, 2e-3, 4e-3];
    ends.iter().zip(expected).for_each(|((_, end), expected)| close(*end, expected));
}

#[test]
fn messages_take_the_paths_that_are_given_for_them() {
    let one = "node 0 -> a -> b #1 -> node 2";
    let two = "node 1 -> a -> b #2 -> node 3";
    let same = "1 -> a -> b #1 -> 3";
    let makespan = |routing: &str, second: &str| {
        let outcome = run(&load(routing, &rows("path", &[(0, 2, one), (1, 3, second)]), "")).0;
        let bytes = ["one", "two"].map(|link| bytes_of(&outcome, link));
        (outcome.report.head.makespan_s, bytes)
    };
    for routing in ["", "routing = \"ecmp\"", "routing = \"spray\"", "routing = \"ugal-l\""] {
        let (apart, bytes) = makespan(routing, two);
        close(apart, 4e-3);
        assert_eq!(bytes, [4_000_000, 4_000_000], "{routing}");
        let (together, bytes) = makespan(routing, same);
        close(together, 8e-3);
        assert_eq!(bytes, [8_000_000, 0], "{routing}");
    }
    // Without a path the rule has the message.
    assert_eq!(makespan("", "").1, [8_000_000, 0]);
    // A detour over a link of the way back.
    let around = "node 0 -> a -> b #2 -> a -> b #1 -> node 2";
    let outcome = run(&load("", &rows("path", &[(0, 2, around)]), "")).0;
    assert_eq!(["one", "two", "back"].map(|link| bytes_of(&outcome, link)), [4_000_000; 3]);
    let system = load("", &rows("path", &[(0, 2, one)]), "");
    assert!(system.with_nodes(&[0, 1, 3]).is_none() && system.with_nodes(&[0, 1, 2]).is_some());
}

#[test]
fn packets_follow_the_path_of_their_message() {
    for transport in ["oq", "fq", "iq"] {
        for routing in ["", "routing = \"ecmp\"\n", "routing = \"spray\"\n", "routing = \"progressive\"\n"] {
            let head = format!("transport = \"packet:{transport}\"\n{routing}");
            let two = "node 0 -> a -> b #2 -> node 2";
            let around = "node 1 -> a -> b #2 -> a -> b #1 -> node 3";
            let outcome = run(&load(&head, &rows("path", &[(0, 2, two), (1, 3, around), (2, 0, "")]), "")).0;
            let bytes = ["one", "two", "back", "d3"].map(|link| bytes_of(&outcome, link));
            assert_eq!(bytes, [4_000_000, 8_000_000, 8_000_000, 4_000_000], "{head}");
        }
    }
}

#[test]
fn paths_that_do_not_fit_have_their_places() {
    let paths = [
        (0, 2, "node 0 -> a -> b -> node 2"),
        (0, 2, "node 0 -> a -> c -> node 2"),
        (0, 2, "node 0 -> b -> node 2"),
        (0, 2, "node 0"),
    ];
    insta::assert_snapshot!(mistakes("", &rows("path", &paths), ""), @"
    m.csv:2:28: 2 links lead here from `a` (`b #1` for the first of them)
    m.csv:3:28: there is no node or switch `c`; did you mean `a`?
    m.csv:4:23: no link leads here from `node 0`
    m.csv:5:13: the path has no links; leave the cell empty
    ");
    let paths = [
        (1, 0, ""),
        (0, 2, "node 0 -> a -> node 1"),
        (0, 2, "node 1 -> a -> b #1 -> node 2"),
        (0, 3, "node 1 -> a -> b #1 -> node 2 -> b -> node 3"),
        (0, 2, "a -> b #1 -> node 2"),
        (1, 1, "node 1 -> a -> node 1"),
    ];
    let places = "placement.nodes.list = \"1,0,2,3\"";
    insta::assert_snapshot!(mistakes(places, &rows("path", &paths), ""), @"
    m.csv:3:13: the path does not lead from the node of rank 0 to that of rank 2 (rank 0 is on `node 1`, and rank 2 on `node 2`)
    m.csv:5:13: the path does not lead from the node of rank 0 to that of rank 3 (rank 0 is on `node 1`, and rank 3 on `node 3`)
    m.csv:6:13: the path does not lead from the node of rank 0 to that of rank 2 (rank 0 is on `node 1`, and rank 2 on `node 2`)
    m.csv:7:13: the path does not lead from the node of rank 1 to that of rank 1 (rank 1 is on `node 0`, and rank 1 on `node 0`)
    ");
    let failed = "faults.links = \"two\"\n";
    insta::assert_snapshot!(mistakes(failed, &rows("path", &[(0, 2, "node 0 -> a -> b #2 -> node 2")]), ""), @"m.csv:2:28: 1 links lead here from `a` (`b #1` for the first of them)");
    let later = "faults.links = \"two\"\nfaults.at = \"1 ms\"\n";
    insta::assert_snapshot!(mistakes(later, &rows("path", &[(0, 2, "node 0 -> a -> b #2 -> node 2")]), ""), @"s.toml:7:11: the column `path` needs links that are known and neither fail nor change during the run; leave the column out");
    let random = load("placement = \"random\"\nseed = 1\n", &rows("path", &[(0, 2, "")]), "");
    assert!(random.with_seed(2).is_ok());
}

#[test]
fn paths_make_up_for_routes_that_a_rule_lacks() {
    let alone = "node 0 -> a -> b #2 -> node 2";
    let of = |messages: &str| {
        loader("routing.paths.file = \"p.csv\"\n", messages, "").attach("p.csv", &b"src,dst,path\n"[..]).load()
    };
    let outcome = run(&of(&rows("path", &[(0, 2, alone)])).unwrap_or_else(|invalid| panic!("{invalid}"))).0;
    assert_eq!(bytes_of(&outcome, "two"), 4_000_000);
    let lines = of(&rows("path", &[(0, 2, alone), (0, 2, "")])).unwrap_err().lines();
    assert!(lines.contains("there is no route from node 0 to node 2"), "{lines}");
}

#[test]
fn weights_of_messages_divide_a_full_link() {
    // 1/4 and 3/4 of 1 GB/s: the second ends after 16/3 ms, and the first has 8/3 MB left.
    let messages = rows("flow_weight", &[(0, 2, ""), (1, 3, "3")]);
    for sharing in ["", "sharing = \"equal-share\""] {
        let scenario = load(sharing, &messages, "");
        let (_, ends) = run(&scenario);
        close(ends[1].1, 16e-3 / 3.0);
        close(ends[0].1, 8e-3);
        let Outcome::Pattern(late) = scenario.run(RunOptions { late: true, ..RunOptions::default() }) else { panic!() };
        close(late.report.head.makespan_s, 8e-3);
    }
    let refused = |head: &str| mistakes(head, &messages, "");
    insta::assert_snapshot!(refused("transport = \"packet\""), @"s.toml:5:11: the transport `packet:oq` has no weights of messages; leave them out, or take flows");
    insta::assert_snapshot!(refused("sharing = \"redistribute\""), @"s.toml:5:11: the sharing policy `redistribute` has no weights: its rounds hand out left-over evenly, for flows on one path without weights; take `max-min` or `equal-share`");
    // The largest and the smallest weight.
    let (outcome, ends) = run(&load("", &rows("flow_weight", &[(0, 2, "1e-100"), (1, 3, "1e100")]), ""));
    close(ends[1].1, 4e-3);
    close(outcome.report.head.makespan_s, 8e-3);
}

#[test]
fn jobs_multiply_their_weight_by_those_of_messages() {
    let job = |name: &str, nodes: &str, weight: u32, file: &str| {
        format!(
            "[[job]]\nname = \"{name}\"\nweight = {weight}\nrepeat = 2\nplacement.nodes.list = \"{nodes}\"\n\
             [job.workload.file]\npath = \"{file}\"\n"
        )
    };
    let of = |plain: &str, weighted: &str| {
        let jobs = job("a", "0,2", 1, "a.csv") + &job("b", "1,3", 2, "b.csv");
        let text = format!("[topology.custom]\nnodes = 4\nlinks = \"links.csv\"\n{jobs}");
        let loader = Loader::new().text("s.toml", text).attach("links.csv", LINKS.as_bytes());
        loader.attach("a.csv", plain.as_bytes()).attach("b.csv", weighted.as_bytes()).load()
    };
    let (plain, weighted) = (rows("flow_weight", &[(0, 1, "")]), rows("flow_weight", &[(0, 1, "1.5")]));
    let Outcome::Jobs(outcome) = of(&plain, &weighted).unwrap().run(RunOptions::default()) else { panic!() };
    // 1 to 3 again, twice: the second ends after 32/3 ms.
    close(outcome.report.jobs[1].end_s.unwrap(), 32e-3 / 3.0);
    let lines = of(&plain, &rows("path", &[(0, 1, "node 1 -> a -> b #1 -> node 3")])).unwrap_err().lines();
    assert!(lines.contains("the column `path` is for a pattern alone, and job `b` has it"), "{lines}");
}

#[test]
fn nodes_with_costs_refuse_paths_and_weights() {
    let path = mistakes(NODE, &rows("path", &[(0, 2, "node 0 -> a -> b #1 -> node 2")]), "");
    assert!(path.contains("the column `path` is for ideal nodes"), "{path}");
    let weight = mistakes(NODE, &rows("flow_weight", &[(0, 2, "2")]), "");
    assert!(weight.contains("the column `flow_weight` is for ideal nodes"), "{weight}");
}

#[test]
fn a_plan_for_another_fabric_is_reported() {
    let of = |fingerprint: &str, head: &str| {
        let messages = format!("# fabric: {fingerprint}\n{}", rows("slot", &[(0, 2, "0")]));
        run(&load(head, &messages, "")).0.report.planned_for
    };
    let fingerprint = load("", &rows("slot", &[(0, 2, "0")]), "").network().unwrap().fabric.fingerprint();
    assert_eq!(fingerprint.len(), 16);
    assert_eq!(of(&fingerprint, ""), None);
    assert_eq!(of("0", ""), Some("0".to_owned()));
    // Failed and slow links make another fabric.
    assert_eq!(of(&fingerprint, "faults.links = \"two\"\n"), Some(fingerprint));
}

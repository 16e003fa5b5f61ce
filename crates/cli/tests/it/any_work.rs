//! Runs of scenarios with programs, and of patterns on nodes with costs, including seeds and reports.

use super::{Desk, Said};

/// Program in which one rank computes for a microsecond, then sends 1,000 bytes to the other.
pub const GOAL: &str = "\
num_ranks 2
rank 0 {
c: calc 1000
s: send 1000b to 1 tag 3
s requires c
}
rank 1 {
r: recv 1000b from 0 tag 3
}
";

/// Nodes with o = 1 us, L = 10 us, no cost per byte; all messages are eager.
pub const NODES: &str = "[node.loggps]\nL = \"10 us\"\no = \"1 us\"\nGs = \"0 ns/B\"\nS = \"1 GB\"\n";

fn makespan_us(desk: &Desk, words: &str) -> f64 {
    let report: serde_json::Value =
        desk.hayase(&format!("{words} -q --format json")).assert().success().stderr_eq("").json();
    (report["makespan_s"].as_f64().unwrap() * 1e9).round() / 1e3
}

#[test]
fn a_scenario_names_a_trace_or_a_rule_and_its_report_runs_again() {
    let trace = "[workload.trace]\npath = \"x.goal\"\n";
    let desk = Desk::new().file("x.goal", GOAL).file("work.toml", &format!("{trace}{NODES}")).file("nodes.toml", NODES);
    // 1 us of computation, o, L, o.
    assert_eq!(makespan_us(&desk, "run work.toml"), 13.0);
    assert_eq!(makespan_us(&desk, "run work.toml --set workload.trace.cpu-speed=2.0"), 12.5);
    assert_eq!(makespan_us(&desk, "run -p x.goal -m ./nodes.toml"), 13.0);
    assert_eq!(makespan_us(&desk, "run work.toml -t torus-4x4"), 1.0 + 1.0 + 1.0 + 1.0);
    for words in ["run work.toml -o a.json", "replay x.goal -m ./nodes.toml --cpu-speed 4 -o b.json"] {
        desk.hayase(&format!("{words} -q")).assert().success();
    }
    assert_eq!(makespan_us(&desk, "run a.json"), 13.0);
    assert_eq!(makespan_us(&desk, "run b.json"), 12.25);
    // The smallest step of time is part of it.
    desk.hayase("run work.toml -t torus-4x4 --set resolution=3us -o c.json -q").assert().success();
    let report: serde_json::Value = serde_json::from_str(&desk.read("c.json")).unwrap();
    assert_eq!(report["scenario"]["resolution"], "3 us");
    assert_eq!(makespan_us(&desk, "run c.json"), (report["makespan_s"].as_f64().unwrap() * 1e9).round() / 1e3);
    // A dissemination barrier of 4: two rounds of o + L + o.
    assert_eq!(makespan_us(&desk, "run -p dissemination:ranks=4 -m ./nodes.toml"), 24.0);
    desk.hayase("check work.toml a.json").assert().success().stdout_eq(
        "work.toml: ok: x.goal, 2 ranks, 3 operations, nodes loggps, the model's own latency and gaps\n\
         a.json: ok: x.goal, 2 ranks, 3 operations, nodes loggps, the model's own latency and gaps\n",
    );
}

#[test]
fn patterns_run_on_nodes_that_cost_something() {
    let desk = Desk::new().file("nodes.toml", NODES);
    // o for the send, 20 us for 20 KB at 1 GB/s, o for the receive.
    let words = "run -p ring -t crossbar-64 -m ./nodes.toml";
    let ring = makespan_us(&desk, words);
    assert_eq!(ring, 1.0 + 20.0 + 1.0);
    assert_eq!(makespan_us(&desk, "run -p ring -t crossbar-64"), 20.0);
    // There is only one step, before which no rank waits.
    assert_eq!(makespan_us(&desk, &format!("{words} --injection barrier")), ring);
    desk.hayase(&format!("{words} -o r.json -q")).assert().success();
    assert_eq!(makespan_us(&desk, "run r.json"), ring);
}

/// Nodes with hardly any cost, whose messages above 8 KiB wait for their receivers.
const RENDEZVOUS: &str = "[node.loggps]\nL = \"0 s\"\no = \"1 ns\"\nGs = \"0 ns/B\"\nS = \"8 KiB\"\n";

#[test]
fn sends_of_a_scatter_follow_each_other_and_those_of_a_tree_share_the_port() {
    let desk = Desk::new().file("nodes.toml", RENDEZVOUS);
    // 32 blocks of 1 MB, each 1 ms alone.
    let on = "-t crossbar:nodes=32,bandwidth=1GB/s -m ./nodes.toml";
    let blocks = |words: &str| makespan_us(&desk, &format!("run {words} {on}")) / 1000.0;
    for (words, expected) in [
        // 16 + 8 + 4 + 2 + 1 blocks, one message after the other.
        ("-p scatter-binomial --size 1MB", 31.0),
        ("-p bcast-scatter-ring --size 32MB", 31.0 + 31.0),
        ("-p bcast-scatter-allgather --size 32MB", 31.0 + 31.0),
        // 5 + 4 + 3 + 2 + 1 children on the longest way, each with the whole vector.
        ("-p bcast-binomial --size 1MB", 15.0),
        ("-p allgather-ring --size 1MB", 31.0),
    ] {
        let found = blocks(words);
        assert!((found / expected - 1.0).abs() < 1e-3, "{words}: {found} of {expected} blocks");
    }
}

#[test]
fn collectives_as_patterns_combine_at_the_given_rate() {
    let desk = Desk::new().file("nodes.toml", RENDEZVOUS);
    let run = |more: &str| {
        let words = "run -p allreduce-ring --size 32MB -t crossbar:nodes=32,bandwidth=1GB/s -m ./nodes.toml";
        makespan_us(&desk, &format!("{words} {more}")) / 1000.0
    };
    // 31 steps of 1 ms combine blocks that take as long as on the wire.
    let (free, combined) = (run(""), run("--set collectives.combine=1GB/s"));
    assert!((free - 62.0).abs() < 0.1 && (combined - 93.0).abs() < 0.1, "{free} {combined}");
}

#[test]
fn ranks_of_one_node_share_its_links() {
    let desk =
        Desk::new().file("two.csv", "rank,node\n0,1\n1,0\n2,1\n").file("three.csv", "rank,node\n0,1\n1,1\n2,1\n");
    let run = |words: &str| makespan_us(&desk, &format!("run -t crossbar:nodes=10,bandwidth=1GB/s {words}"));
    // 27 of 29 others are on other nodes, and three ranks share a port: 27 x 3 messages of 20 us.
    let words = "-p all-to-all-linear --size 20KB --ranks-per-node 3";
    assert_eq!((run(words), run("-p all-to-all-linear --size 20KB")), (27.0 * 3.0 * 20.0, 9.0 * 20.0));
    assert_eq!(run(&format!("{words} --ranks 3")), 0.0);
    // Rank 0 sends to rank 1 on another node, rank 2 to rank 0 on its own one.
    assert_eq!(run("-p ring --ranks 3 --placement two.csv --ranks-per-node 2"), 20.0);
    desk.hayase(&format!("run -t crossbar-64 {words} -o r.json -q")).assert().success();
    assert_eq!(makespan_us(&desk, "run r.json"), makespan_us(&desk, &format!("run -t crossbar-64 {words}")));
    for (words, mistake) in [
        ("--placement three.csv --ranks 3 --ranks-per-node 2", "three.csv:4:3"),
        ("--placement three.csv --ranks 3", "three.csv:3:3"),
        ("--ranks 31 --ranks-per-node 3", "31 ranks do not fit on the 10 nodes of `crossbar N=10`, 3 on each"),
        ("--ranks-per-node 0", "a whole number from 1"),
    ] {
        let said = desk.hayase(&format!("run -t crossbar:nodes=10,bandwidth=1GB/s -p ring {words}")).assert().code(2);
        assert!(said.stderr().contains(mistake), "{words}: {}", said.stderr());
    }
}

#[test]
fn every_injection_rule_plays_every_all_to_all_to_its_end() {
    let desk = Desk::new().file("nodes.toml", NODES);
    for pattern in ["all-to-all-simple-spread", "all-to-all-bruck", "all-to-all-linear"] {
        for rule in ["queue", "sendrecv", "barrier", "left", "all", "window=2"] {
            let words = format!("-p {pattern} -t torus-4x4 --injection {rule} --jitter 1us");
            let plain = makespan_us(&desk, &format!("run {words}"));
            let costly = makespan_us(&desk, &format!("run {words} -m ./nodes.toml"));
            assert!(costly > 0.0 && plain > 0.0, "{words}: {plain} {costly}");
        }
    }
}

#[test]
fn seeds_place_the_ranks_of_a_program_anew() {
    let desk = Desk::new().file("nodes.toml", NODES);
    let words = "run -p linear:ranks=16 -t torus-4x4 -m ./nodes.toml --placement random --seeds 4 --format json -q";
    let assert = desk.hayase(words).assert().success().stderr_eq("");
    let report: serde_json::Value = assert.json();
    let over = &report["seeds"];
    let makespans: Vec<f64> =
        over["makespans_s"].as_array().unwrap().iter().map(|time| time.as_f64().unwrap()).collect();
    assert_eq!((over["seeds"].as_array().unwrap().len(), makespans.len()), (4, 4));
    for (seed, makespan) in (1..).zip(&makespans) {
        let words = format!("run -p linear:ranks=16 -t torus-4x4 -m ./nodes.toml --placement random --seed {seed}");
        assert_eq!(makespan_us(&desk, &words), (makespan * 1e9).round() / 1e3, "seed {seed}");
    }
    assert!(makespans.windows(2).any(|pair| pair[0] != pair[1]), "{makespans:?}");
}

#[test]
fn mistakes_are_marked_where_they_stand() {
    let text = "[workload.trace]\npath = \"x.goal\"\ncpu-speed = 0.0\nfrom = \"here\"\nskip-start = \"soon\"\nflop-rate = 0.5\n";
    let desk = Desk::new().file("x.goal", GOAL).file("wrong.toml", text);
    let assert = desk.hayase("run wrong.toml").assert().code(2);
    let said = assert.stderr();
    for place in ["wrong.toml:3:13", "wrong.toml:4:8", "wrong.toml:5:14", "wrong.toml:6:13"] {
        assert!(said.contains(place), "{place}: {said}");
    }
    for (words, expected) in [
        ("run -p nothere.goal", "no such file"),
        ("run -p lineer:ranks=4 -t torus-4x4", "did you mean the program by rule `linear`?"),
        ("run -p linear:ranks=0", "`ranks` of linear is a number from 1"),
        ("rates -t torus-4x4 -p linear:ranks=4", "a pattern is needed here"),
        ("run -p linear:ranks=32 -t torus-4x4", "32 ranks"),
        ("run -p linear:ranks=4 --size 3KB", "the workload `program` has no `size`"),
    ] {
        let assert = desk.hayase(words).assert().code(2);
        let said = assert.stderr();
        assert!(said.contains(expected), "{words}: {said}");
    }
}

#[test]
fn two_reports_are_compared_key_by_key() {
    let desk = Desk::new();
    for (file, size) in [("a.json", "1KB"), ("b.json", "2KB"), ("c.json", "1KB")] {
        desk.hayase(&format!("run -t torus-4x4 -p ring --size {size} -o {file}")).assert().success();
    }
    desk.hayase("replay linear:ranks=4 -m myrinet -o replay.json").assert().success();
    let text = desk.hayase("compare a.json b.json").assert().success().stdout();
    for part in ["b.json takes 100 % longer than a.json", "differ in 1 key: workload.ring.size", "makespan_s"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let text = desk.hayase("compare a.json c.json").assert().success().stdout();
    assert!(text.contains("The fingerprints are equal") && text.contains("The scenarios are equal"), "{text}");
    let report = desk.hayase("compare a.json b.json --format json").assert().success().json();
    assert_eq!(report["scenario"][0]["first"], "1 KB");
    desk.hayase("compare a.json b.json -o x.html -o x.csv").assert().success();
    assert!(desk.read("x.html").contains("b.json takes 100 % longer"));
    let desk = desk.file("cut.json", "{\"schema\": ").file("plain.toml", "seed = 1\n");
    for (words, expected) in [
        ("compare a.json replay.json", "the reports are of two kinds"),
        ("compare a.json cut.json", "cut.json:1:11"),
        ("compare a.json missing.json", "missing.json"),
        ("compare a.json plain.toml", "plain.toml:1:1"),
        ("compare a.json b.json -t torus-4x4", "two reports are compared as they are"),
        ("compare a.json b.json --size 2KB", "two reports are compared as they are"),
        ("compare a.json b.json -o a.json", "would be overwritten"),
        ("compare a.json b.json -o x.svg", "x.svg"),
    ] {
        let said = desk.hayase(words).assert().code(2).stderr();
        assert!(said.contains(expected), "{words}: {said}");
    }
}

#[test]
fn programs_machines_and_fabrics_are_compared() {
    let desk = Desk::new().file("nodes.toml", NODES);
    let words = "compare -p linear:ranks=8,size=1KB,pairwise:ranks=8,size=1KB -m myrinet,./nodes.toml -t torus-4x4,crossbar-64 \
                 --placement random --seeds 3 --format json -q -o c.csv -o c.svg";
    let assert = desk.hayase(words).assert().success().stderr_eq("");
    let report: serde_json::Value = assert.json();
    let rows = report["rows"].as_array().unwrap();
    // Both rules send the same amount among the same ranks: one job, ranked as a whole.
    assert_eq!(rows.len(), 8);
    assert!(
        rows.iter().all(|row| row["job"] == rows[0]["job"] && row["makespan"]["seeds"].as_array().unwrap().len() == 3)
    );
    let mean = |row: &serde_json::Value| row["makespan"]["mean_s"].as_f64().unwrap();
    assert!(rows.windows(2).all(|pair| mean(&pair[0]) <= mean(&pair[1])));
    // Each row equals the result of `run`.
    for row in rows {
        let word = |key: &str| row[key].as_str().unwrap().to_owned();
        let one = |seed| {
            let (program, machine, fabric) = (word("pattern"), word("machine"), word("topology"));
            makespan_us(&desk, &format!("run -p {program} -m {machine} -t {fabric} --placement random --seed {seed}"))
        };
        let expected = (one(1) + one(2) + one(3)) / 3.0;
        assert!((mean(row) * 1e6 - expected).abs() < 2e-3, "{row}: {expected}");
    }
    assert!(
        desk.read("c.csv").lines().next().unwrap().ends_with(",machine") && desk.read("c.svg").starts_with("<?xml")
    );
}

#[test]
fn any_key_is_varied() {
    let desk = Desk::new().file("nodes.toml", NODES).file("x.goal", GOAL);
    let words =
        "compare -p x.goal -m ./nodes.toml --vary workload.trace.cpu-speed=1,2,4 --vary node.loggps.L=10us,20us";
    let assert = desk.hayase(&format!("{words} --format csv -q")).assert().success().stderr_eq("");
    let csv = assert.stdout();
    assert!(csv.lines().next().unwrap().ends_with(",machine,node.loggps.L,workload.trace.cpu-speed"), "{csv}");
    let ends: Vec<&str> = csv.lines().skip(1).map(|line| line.rsplitn(3, ',').nth(2).unwrap_or("")).collect();
    assert_eq!(ends.len(), 6, "{csv}");
    // 1 us of computation at that speed, o, L, o: the best first.
    let means: Vec<f64> = csv.lines().skip(1).map(|line| line.split(',').nth(8).unwrap().parse().unwrap()).collect();
    let us: Vec<f64> = means.iter().map(|mean: &f64| (mean * 1e9).round() / 1e3).collect();
    assert_eq!(us, [12.25, 12.5, 13.0, 22.25, 22.5, 23.0], "{csv}");
    let table = desk.hayase(&format!("{words} -q")).assert().success();
    let table = table.stdout();
    assert!(table.contains("workload.trace.cpu-speed") && table.contains("node.loggps.L"), "{table}");
    for wrong in ["--vary seed", "--vary =1", "--vary a=,", "--vary no.such=1,2"] {
        desk.hayase(&format!("compare -p x.goal -m ./nodes.toml {wrong}")).assert().code(2);
    }
}

/// A send is over at once if nothing takes time at the ends. Under every rule, a message then starts as soon as the
/// messages that it needs are received, as under the rule `all`.
#[test]
fn on_nodes_that_cost_nothing_messages_go_as_soon_as_they_may() {
    let nodes = "[node.loggps]\nL = \"0 s\"\no = \"0 s\"\nGs = \"0 ns/B\"\nS = \"1 GB\"\n";
    let desk = Desk::new().file("nothing.toml", nodes);
    let patterns = [
        "all-to-all-simple-spread",
        "all-to-all-bruck",
        "allgather-ring",
        "allreduce-rabenseifner",
        "allreduce-recursive-doubling",
        "broadcast-binomial",
        "broadcast-pipelined-chain",
        "halo-2d",
        "incast",
        "random-permutation",
        "ring",
    ];
    for pattern in patterns {
        for fabric in ["torus-4x4", "crossbar-64"] {
            // Calls of collectives split vectors between elements of 8 bytes.
            let words = format!("run -p {pattern} -t {fabric} --jitter 3us --size 1024KB");
            let expected = makespan_us(&desk, &format!("{words} --injection all"));
            for rule in ["all", "queue", "left"] {
                let found = makespan_us(&desk, &format!("{words} --injection {rule} -m ./nothing.toml"));
                assert!((found - expected).abs() < 2e-3, "{words}, {rule}: {found} instead of {expected}");
            }
        }
    }
}

/// Nodes with their own network take no fabric, so the pattern must give its number of ranks.
#[test]
fn patterns_run_on_the_network_of_their_nodes() {
    let desk = Desk::new()
        .file("nodes.toml", NODES)
        .file("m.csv", "src,dst,bytes\n0,1,1000\n1,2,1000\n")
        .file("elsewhere.csv", "src,dst,bytes,after,id\n0,1,9,b,a\n1,2,9,,b\n")
        .file("circle.csv", "src,dst,bytes,after,id\n0,1,9,c,a\n1,2,9,a,b\n2,0,9,b,c\n");
    // o, L, o; nothing for bytes.
    assert_eq!(makespan_us(&desk, "run -p ring -m ./nodes.toml --set workload.ring.ranks=5"), 12.0);
    assert_eq!(makespan_us(&desk, "run -p m.csv -m ./nodes.toml"), 12.0);
    // o, L, o + (s - 1) G under LogGOPSim's defaults; the receiver's interface works beside its processor.
    let gops = "--node loggopsim --set node.loggopsim.L=10us --set node.loggopsim.o=1us --set node.loggopsim.G=0ns/B";
    let alone = makespan_us(&desk, &format!("run -p ring {gops} --set workload.ring.ranks=5"));
    assert_eq!(alone, 12.0);
    desk.hayase(&format!("run -p uniform-random {gops} --set workload.uniform-random.ranks=7 --seeds 2 -o r.json -q"))
        .assert()
        .success();
    desk.hayase("run r.json -q").assert().success();
    let said = |words: &str, code: i32| desk.hayase(words).assert().code(code).stderr();
    // Each of the two messages suggests a way that the other does not refuse.
    let both = said("run -p ring -t torus-4x4 --node loggopsim", 2);
    assert!(both.contains("leave the topology out"), "{both}");
    let none = said("run -p ring --node loggopsim", 2);
    assert!(none.contains("number of ranks is unknown") && none.contains("workload.ring.ranks"), "{none}");
    assert!(said("run --node loggopsim", 2).contains("there is no workload"));
    assert!(said("run -p ring --node ideal", 2).contains("there is no topology"));
    // Messages wait for each other in a cycle, which is reported.
    for nodes in ["--node loggopsim", "-m ./nodes.toml"] {
        let stuck = said(&format!("run -p circle.csv {nodes} -q"), 3);
        assert!(stuck.contains("3 ranks wait"), "{stuck}");
        // A call can wait only for messages that its rank receives.
        let elsewhere = said(&format!("run -p elsewhere.csv {nodes} -q"), 2);
        assert!(elsewhere.contains("rank 0 waits for message 0 of rank 1, which goes to rank 2"), "{elsewhere}");
    }
}

#[test]
fn a_size_counts_a_block_or_the_whole_vector() {
    let desk = Desk::new();
    let fingerprint = |words: &str| -> String {
        let out = desk.hayase(&format!("run -t torus-4x4 {words} --format json")).assert().success().stdout();
        serde_json::from_str::<serde_json::Value>(&out).unwrap()["fingerprint"].to_string()
    };
    for (pattern, usual, other) in [
        ("all-to-all-simple-spread", "100B", "1600B --size-of vector"),
        ("all-to-all-simple-spread --order node", "100B", "1600B --size-of vector"),
        ("allgather-ring", "100B", "1600B --size-of vector"),
        ("allreduce-ring", "1600B", "100B --size-of block"),
        ("bcast-mpich", "1600B", "100B --size-of block"),
        ("bcast-mpich", "1600B", "1600B --size-of vector"),
    ] {
        assert_eq!(
            fingerprint(&format!("-p {pattern} --size {usual}")),
            fingerprint(&format!("-p {pattern} --size {other}")),
            "{pattern} {other}"
        );
    }
    let refused = |words: &str| desk.hayase(&format!("run -t torus-4x4 {words}")).assert().code(2).stderr();
    let found = refused("-p allgather-ring --size 1601B --size-of vector");
    assert!(found.contains("1601 B are no 16 blocks") && found.contains("\"1600 B\" or \"1616 B\""), "{found}");
    assert!(refused("-p allgather-ring --size-of matrix").contains("block"));
    assert!(refused("-p ring --size-of vector").contains("size-of"));
}

/// Nodes without costs whose messages all wait for the receiver.
const WAITING: &str = "[node.loggps]\nL = \"0 s\"\no = \"0 s\"\nGs = \"0 ns/B\"\nS = \"0 B\"\n";

#[test]
fn a_rank_of_a_binary_tree_calls_for_its_next_child_before_it_waits() {
    let desk = Desk::new().file("nodes.toml", WAITING);
    let reduce = "-p collective:operation=reduce,algorithm=binary,segment-size=1GB,size=1MB";
    // Ranks 3 and 4 send to 1 one after the other, 5 and 6 to 2 at once, then 1 and 2 to 0 at once.
    let words = format!("run -t crossbar:nodes=8,bandwidth=1GB/s -m nodes.toml {reduce}");
    assert!((makespan_us(&desk, &words) - 4000.0).abs() < 1e-3);
}

#[test]
fn blocks_are_packed_at_a_rate() {
    let desk = Desk::new().file("nodes.toml", WAITING);
    let makespan = |operation: &str, set: &str| {
        let work = format!("-p collective:operation={operation},algorithm=bruck,size=1000B");
        makespan_us(&desk, &format!("run -t crossbar:nodes=8,bandwidth=1GB/s -m nodes.toml {work}{set}"))
    };
    let pack = " --set collectives.pack=\"1GB/s\"";
    // The vector of 8 blocks before and after, and 4 blocks in and out of each of three messages.
    let copied = makespan("alltoall", pack) - makespan("alltoall", "");
    assert!((copied - 40.0).abs() < 2e-3, "{copied}");
    // Rank 1 copies 15 blocks.
    let copied = makespan("allgather", pack) - makespan("allgather", "");
    assert!((copied - 15.0).abs() < 2e-3, "{copied}");
    let stands = desk
        .hayase("run -t torus-4x4 -m nodes.toml -p all-to-all-bruck --set collectives.pack=\"0GB/s\"")
        .assert()
        .code(2)
        .stderr();
    assert!(stands.contains("packed at no speed"), "{stands}");
}

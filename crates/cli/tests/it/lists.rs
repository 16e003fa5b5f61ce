//! Lists of the names to choose from, and descriptions of each.

use super::{Desk, FABRIC, MESSAGES, Said};
use snapbox::str;

#[test]
fn lists_have_a_line_for_each_name() {
    for (words, heading) in [("topology list", "name"), ("pattern list", "name")] {
        let assert = Desk::new().hayase(words).assert().success();
        let text = assert.stdout();
        assert!(text.starts_with(heading) && text.contains("what it is"), "{text}");
    }
}

#[test]
fn presets_are_listed_shown_and_laid_below_the_rest() {
    let stdout = |desk: &Desk, words: &str| desk.hayase(words).assert().success().stdout();
    let desk = Desk::new().file("torus.toml", "[topology.torus]\ndims = [4, 4]\n");
    assert!(stdout(&desk, "preset list -q").lines().any(|line| line.starts_with("mfs ")));
    assert!(stdout(&desk, "preset show mfs").contains("[defaults.workload.any]"));
    let told = stdout(&desk, "run --preset mfs -q");
    assert!(told.contains("fat-tree-54") || told.contains("54 nodes"), "{told}");
    assert!(told.contains("sendrecv") && told.contains("equal-share"), "{told}");
    let table = stdout(&desk, "compare --preset mfs -t torus-4x4 --sharing equal-share,redistribute --format csv -q");
    assert!(table.lines().count() == 3 && table.lines().skip(1).all(|line| line.contains("sendrecv")), "{table}");
    let checked = stdout(&desk, "check --preset mfs torus.toml");
    assert!(checked.contains("4x4") && checked.contains("injection sendrecv"), "{checked}");
    assert!(stdout(&desk, "rates torus.toml --preset mfs -q").contains("sharing equal-share"));
    for words in ["run --preset mfz", "compare --preset mfz", "rates --preset mfz", "check --preset mfz torus.toml"] {
        let assert = desk.hayase(words).assert().code(2);
        let told = assert.stderr();
        assert!(told.contains("unknown preset `mfz`") && told.contains("did you mean `mfs`?"), "{words}: {told}");
    }
    desk.hayase("preset show mfz").assert().code(2);
}

#[test]
fn a_topology_shows_its_size_and_its_bounds() {
    let desk = Desk::new().file("fabric.toml", FABRIC);
    desk.hayase("topology show fabric.toml --set topology.fat-tree.down=[4,2]")
        .assert()
        .success()
        .stderr_eq("")
        .stdout_eq(str![[r#"
fat-tree down 4,2 up 1,4 (8 nodes, 6 switches, 32 links)

nodes             8
switches          6
links             32, each in one direction
diameter          4 links between the nodes furthest apart
bisection         4 GB/s each way, 1 GB/s per node
oversubscription  1.00 : 1

links                   count  capacity [GB/s]  latency [s]
───────────────────────────────────────────────────────────
node into network           8            1.000        0.000
between levels 1 and 2     16            1.000        0.000
network to node             8            1.000        0.000

"#]]);
}

#[test]
fn a_topology_is_drawn_and_described_in_files() {
    let desk = Desk::new().file("fabric.toml", FABRIC);
    desk.hayase("topology show fabric.toml -o x.svg -o x.dot -o x.json").assert().success();
    assert!(desk.read("x.svg").contains("<svg"));
    assert_eq!(desk.names(), ["fabric.toml", "x.dot", "x.json", "x.svg"]);
}

#[test]
fn a_pattern_shows_its_messages() {
    let desk =
        Desk::new().file("messages.csv", "src,dst,bytes,delay,after\n0,1,20000,,\n1,2,2e4,1e-6,0:0\n2,0,1 MB,,\n");
    desk.hayase("pattern show messages.csv").assert().success().stderr_eq("").stdout_eq(str![[r#"
messages of messages.csv, 3 ranks
3 messages, 1.04 MB, 1 step, injection queue

rank  index  step  dst   size [B]  delay [us]  after        carries
───────────────────────────────────────────────────────────────────
   0      0     0    1     20,000
   1      0     0    2     20,000       1.000  0 of rank 0
   2      0     0    0  1,000,000

"#]]);
    desk.hayase("pattern show messages.csv --rank 1").assert().success().stdout_eq(str![[r#"
messages of messages.csv, 3 ranks
3 messages, 1.04 MB, 1 step, injection queue

rank  index  step  dst  size [B]  delay [us]  after        carries
──────────────────────────────────────────────────────────────────
   1      0     0    2    20,000       1.000  0 of rank 0

"#]]);
    desk.hayase("pattern show messages.csv --rank 3").assert().code(2).stdout_eq("").stderr_eq(str![[r#"
error[unknown-rank]: there is no rank 3: messages of messages.csv has 3 ranks
 |
 = help: ranks count from 0

"#]]);
}

#[test]
fn a_long_pattern_is_cut_and_says_how_to_see_more() {
    let mut text = "src,dst,bytes\n".to_owned();
    for i in 0..200 {
        text.push_str(&format!("0,1,{i}\n"));
    }
    let desk = Desk::new().file("m.csv", &text);
    let assert = desk.hayase("pattern show m.csv").assert().success().stderr_eq("hint: --rank R[..]\n");
    let shown = assert.stdout();
    assert!(shown.lines().count() < 80 && shown.ends_with("...\n"), "{shown}");
}

/// The fabrics are eight nodes, alternately on two switches joined by one cable, and a torus with halves that
/// differ by a plane.
#[test]
fn a_bisection_does_not_depend_on_the_order_of_nodes() {
    let nodes = (0..8).map(|i| format!("{{\"id\": \"n{i}\", \"kind\": \"node\"}}"));
    let switches = ["A", "B"].map(|id| format!("{{\"id\": \"{id}\", \"kind\": \"switch\"}}"));
    let link =
        |from: &str, to: &str| format!("{{\"source\": \"{from}\", \"target\": \"{to}\", \"bandwidth\": \"1 GB/s\"}}");
    let links = (0..8).map(|i| link(&format!("n{i}"), ["A", "B"][i % 2])).chain([link("A", "B")]);
    let graph = format!(
        "{{\"directed\": false, \"nodes\": [{}], \"links\": [{}]}}",
        nodes.chain(switches).collect::<Vec<_>>().join(", "),
        links.collect::<Vec<_>>().join(", ")
    );
    let desk = Desk::new().file("two.json", &graph);
    let output = desk.hayase("topology show two.json").output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(
        told.contains(
            "bisection         at most 1 GB/s each way, 250 MB/s per node\noversubscription  at least 4.00 : 1"
        ),
        "{told}"
    );
    let output = desk.hayase("topology show").arg("torus:dims=[3,5],bandwidth=1 GB/s").output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    // 8 cables lead out of 7 nodes (two planes of 3, and 1 of the next), whose own links carry 7 GB/s.
    assert!(told.contains("bisection         7 GB/s each way, 1 GB/s per node\noversubscription  1.00 : 1"), "{told}");
}

#[test]
fn fabrics_are_listed_with_the_bandwidth_of_their_links() {
    let assert = Desk::new().hayase("topology list").assert().success();
    let list = assert.stdout();
    let line = |name: &str| list.lines().find(|line| line.starts_with(&format!("{name} "))).unwrap();
    assert!(line("fat-tree-54").contains(" 1 GB/s "), "{list}");
    assert!(line("fugaku").contains("6.8 GB/s to 40.8 GB/s"), "{list}");
}

#[test]
fn the_schema_is_json() {
    let assert = Desk::new().hayase("schema").assert().success();
    let schema: serde_json::Value = assert.json();
    assert!(schema["properties"]["topology"].is_object());
}

#[test]
fn a_named_pattern_is_unknown_with_a_way_out() {
    Desk::new().hayase("pattern show nonsense").assert().code(2).stdout_eq("").stderr_eq(str![[r#"
error[unknown-name]: unknown pattern `nonsense`
 --> --pattern:1:1
  |
1 | nonsense
  | ^^^^^^^^ not built in, and no such file
  |
  = help: `hayase pattern list` shows all

"#]]);
    let desk = Desk::new().file("messages.csv", MESSAGES);
    desk.hayase("topology show messages.csv").assert().code(2).stdout_eq("").stderr_eq(str![[r#"
error[wrong-file]: `messages.csv` is a table and not a fabric
 --> --topology:1:1
  |
1 | messages.csv
  | ^^^^^^^^^^^^
  |
  = help: links are taken as `custom:links=messages.csv,nodes=N`, with the number of nodes

"#]]);
}

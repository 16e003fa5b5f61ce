//! Tests of forwarding tables and graphs that are written and read again.

use serde_json::Value;

use super::{Desk, Said};

fn json(desk: &Desk, words: &str) -> Value {
    desk.hayase(&format!("{words} --format json -q")).assert().success().stderr_eq("").json()
}

#[test]
fn tables_written_and_read_again_give_the_same_run() {
    let desk = Desk::new();
    for rule in ["dfsssp", "min-hop", "up-down", "d-mod-k"] {
        desk.hayase(&format!("topology routes fat-tree-54 --routing {rule} -o tables.csv")).assert().success();
        assert!(desk.read("tables.csv").starts_with("switch,link,destinations\n"));
        let run = "run -t fat-tree-54 -p all-to-all-simple-spread --placement random";
        let of_rule = json(&desk, &format!("{run} --routing {rule}"));
        let of_file = json(&desk, &format!("{run} --routing tables:tables.csv"));
        assert_eq!(of_rule["fingerprint"], of_file["fingerprint"], "{rule}");
        assert_eq!(of_file["scenario"]["routing"]["tables"]["file"], "tables.csv");
    }
    // Tables of the whole fabric avoid the failed links.
    desk.hayase("run -t fat-tree-54 -p ring --routing tables:tables.csv --faults 5% -q").assert().success();
    // An output never overwrites an input.
    let assert = desk.hayase("topology routes fat-tree-54 --routing tables:tables.csv -o tables.csv").assert().code(2);
    assert!(assert.stderr().contains("overwritten"));
}

#[test]
fn what_has_no_tables_and_what_is_wrong_with_them_is_said_with_its_place() {
    let desk = Desk::new().file("t.csv", "switch,link,destinations\nswitch 9,x,0\n");
    let said = |words: &str| desk.hayase(words).assert().code(2).stdout_eq("").stderr();
    assert!(said("topology routes fat-tree-54 --routing s-mod-k").contains("by where they come from"));
    assert!(said("topology routes dragonfly-72 --routing valiant-groups").contains("chooses"));
    assert!(said("topology routes fat-tree-54 --routing tables:t.csv").contains("t.csv:2:1"));
    assert!(said("topology routes fat-tree-54 --routing tables:none.csv").contains("no file"));
    assert!(said("topology routes fat-tree-54 --routing tables").contains("file"));
    let set = "topology routes torus-4x4 --routing up-down --set routing.up-down.roots=[\"x\"]";
    assert!(said(set).contains("no switch `x`"));
}

#[test]
fn a_fabric_is_a_graph_that_is_read_again() {
    let desk = Desk::new();
    desk.hayase("topology show torus-4x4 -o torus.json").assert().success();
    let graph: Value = serde_json::from_str(&desk.read("torus.json")).unwrap();
    assert_eq!(graph["directed"], false);
    // 16 host cables, and two more of each router.
    assert_eq!(graph["edges"].as_array().map(Vec::len), Some(16 + 32));
    desk.hayase("check torus.json").assert().success();
    let of =
        |name: &str| json(&desk, &format!("throughput -t {name} --routing min-hop"))["throughput"].as_f64().unwrap();
    let (named, read) = (of("torus-4x4"), of("torus.json"));
    assert!((named - read).abs() < 0.2, "{named} {read}");
    let desk = desk.file("bad.json", "{\"nodes\": [{\"id\": 0}],\n \"links\": [{\"source\": 0, \"target\": 1}]}");
    assert!(desk.hayase("run -t bad.json -p ring").assert().code(2).stdout_eq("").stderr().contains("bad.json:2:"));
}

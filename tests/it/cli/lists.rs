//! What there is to choose from, and what it is.

use super::{Desk, FABRIC, MESSAGES};
use snapbox::str;

#[test]
fn lists_have_a_line_for_each_name() {
    for (words, heading) in [("topology list", "name"), ("pattern list", "name")] {
        let assert = Desk::new().hayase(words).assert().success();
        let text = String::from_utf8(assert.get_output().stdout.clone()).unwrap();
        assert!(text.starts_with(heading) && text.contains("what it is"), "{text}");
    }
}

#[test]
fn a_topology_shows_its_size_and_its_bounds() {
    let desk = Desk::new().file("fabric.toml", FABRIC);
    desk.hayase("topology show fabric.toml --set topology.fat-tree.down=[4,2]").assert().success().stderr_eq("").stdout_eq(str![]);
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
    let desk = Desk::new().file("messages.csv", "src,dst,bytes,delay,after\n0,1,20000,,\n1,2,2e4,1e-6,0:0\n2,0,1 MB,,\n");
    desk.hayase("pattern show messages.csv").assert().success().stderr_eq("").stdout_eq(str![]);
    desk.hayase("pattern show messages.csv --rank 1").assert().success().stdout_eq(str![]);
    desk.hayase("pattern show messages.csv --rank 3").assert().code(2).stdout_eq("").stderr_eq(str![]);
}

#[test]
fn a_long_pattern_is_cut_and_says_how_to_see_more() {
    let mut text = "src,dst,bytes\n".to_owned();
    for i in 0..200 {
        text.push_str(&format!("0,1,{i}\n"));
    }
    let desk = Desk::new().file("m.csv", &text);
    let assert = desk.hayase("pattern show m.csv").assert().success().stderr_eq("hint: --rank R[..]\n");
    let shown = String::from_utf8(assert.get_output().stdout.clone()).unwrap();
    assert!(shown.lines().count() < 80 && shown.ends_with("...\n"), "{shown}");
}

#[test]
fn the_schema_is_json() {
    let assert = Desk::new().hayase("schema").assert().success();
    let schema: serde_json::Value = serde_json::from_slice(&assert.get_output().stdout).unwrap();
    assert!(schema["properties"]["topology"].is_object());
}

#[test]
fn a_named_pattern_is_unknown_with_a_way_out() {
    Desk::new().hayase("pattern show nonsense").assert().code(2).stdout_eq("").stderr_eq(str![]);
    let desk = Desk::new().file("messages.csv", MESSAGES);
    desk.hayase("topology show messages.csv").assert().code(2).stdout_eq("").stderr_eq(str![]);
}

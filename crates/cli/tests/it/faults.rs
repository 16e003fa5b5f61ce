//! Faults from the command line: shown, drawn, named, compared.

use serde_json::Value;

use super::{Desk, Said};

const CABLE: &str = "(0,0) <-> (1,0)";

fn out(desk: &Desk, words: &str, more: &[&str]) -> String {
    desk.hayase(words).args(more).assert().success().stdout()
}

fn said(desk: &Desk, words: &str, more: &[&str], code: i32) -> String {
    desk.hayase(words).args(more).assert().code(code).stdout_eq("").stderr()
}

#[test]
fn a_fabric_is_shown_and_written_without_what_failed() {
    let desk = Desk::new().file("left.toml", "[topology.custom]\nnodes = 64\nlinks = \"left.csv\"\n");
    let words = "topology show torus-8x8 -o x.svg -o x.dot -o left.json -o left.csv --faults";
    let text = out(&desk, words, &[CABLE]);
    assert!(text.contains("faults            2 links failed ((0,0) -> (1,0), (1,0) -> (0,0))"), "{text}");
    // 8 x 8 switches have 64 cables along each dimension, two links each; one cable has failed.
    assert!(text.contains("along dimension 0    126") && text.contains("along dimension 1    128"), "{text}");
    assert!(desk.read("x.svg").contains("2 links have failed") && desk.read("x.dot").contains("failed"));
    // The rest is a fabric of its own, from either file: 384 links except 2, and another route.
    assert_eq!(desk.read("left.csv").lines().count(), 1 + 382);
    let counted = |fabric: &str, more: &[&str]| -> Value {
        let words = format!("throughput -t {fabric} --routing spray --format json");
        serde_json::from_str(&out(&desk, &words, more)).unwrap()
    };
    let failed = counted("torus-8x8", &["--faults", CABLE]);
    for fabric in ["./left.toml", "./left.json"] {
        let left = counted(fabric, &[]);
        assert!(left["fabric"].as_str().unwrap().contains("382 links"), "{left}");
        let close = left["throughput"].as_f64().unwrap() / failed["throughput"].as_f64().unwrap();
        assert!((close - 1.0).abs() < 1e-9, "{left} {failed}");
    }
    let whole = counted("torus-8x8", &[]);
    assert!(whole["throughput"].as_f64() > failed["throughput"].as_f64());
    // Tables of the rest do not contain the link.
    out(&desk, "topology routes torus-8x8 --routing min-hop -o tables.csv -q --faults", &[CABLE]);
    assert!(!desk.read("tables.csv").contains("(0,0) -> (1,0)") && desk.read("tables.csv").contains("(0,0) -> (7,0)"));
}

#[test]
fn that_nothing_failed_is_said() {
    // 1 % of 32 cables rounds to none.
    let text = out(&Desk::new(), "run -t torus-4x4 -p ring -q --faults 1%", &[]);
    assert!(text.contains("faults        nothing failed"), "{text}");
    let text = out(&Desk::new(), "run -t torus-4x4 -p ring -q --faults", &["(0,0) -> (1,0)"]);
    assert!(text.contains("1 link failed ("), "{text}");
}

#[test]
fn names_with_commas_are_compared() {
    let compare = "compare -t torus-4x4 -p ring --format csv -q --faults";
    let rows = out(&Desk::new(), compare, &[&format!("12.5%,{CABLE},(1,1) -> (2,1)")]);
    let of = |name: &str| rows.lines().filter(|row| row.contains(name)).count();
    assert_eq!((rows.lines().count(), of(CABLE), of("(1,1) -> (2,1)"), of("12.5%")), (1 + 4, 1, 1, 1), "{rows}");
    let help = said(&Desk::new(), "run -t torus-4x4 -p ring --faults", &["(1,1)"], 2);
    assert!(help.contains("`(1,1)` is a switch: write `switches = \"(1,1)\"`"), "{help}");
    let help = said(&Desk::new(), "run -t torus-4x4 -p ring --faults", &["node 3"], 2);
    assert!(help.contains("`node 3` is a node"), "{help}");
}

#[test]
fn seeds_with_which_messages_have_no_way_are_counted() {
    let desk = Desk::new();
    // Each of the 16 nodes has one cable of 48; 12 % are 6, and few draws spare all nodes.
    let words =
        "run -t torus-4x4 -p all-to-all-pairwise --faults 12% --set faults.node-links=true --seeds 8 -o x.json -q";
    let text = out(&desk, words, &[]);
    assert!(!text.contains("INTERRUPTED") && text.contains("messages have no way"), "{text}");
    let report: Value = serde_json::from_str(&desk.read("x.json")).unwrap();
    let seeds = &report["seeds"];
    let run = seeds["makespans_s"].as_array().unwrap().len() as u64;
    assert_eq!((&report["status"], run + seeds["cut_off"].as_u64().unwrap()), (&"complete".into(), 8), "{seeds}");
    // Comparisons report the same seeds as cut off.
    let compare = "compare -t torus-4x4 -p all-to-all-pairwise --faults 12% --set faults.node-links=true --seeds 8";
    let rows: Value = serde_json::from_str(&out(&desk, &format!("{compare} --format json -q"), &[])).unwrap();
    let failed = rows["rows"].as_array().unwrap().iter().find(|row| row["faults"] == "12%").unwrap();
    assert_eq!(failed["cut_off"], seeds["cut_off"]);
}

#[test]
fn what_a_family_lacks_is_named_by_its_own_keys() {
    let desk = Desk::new().file("cables.csv", "from-group,from-switch,to-group,to-switch,cables\n0,0,1,0,4\n");
    let show = |fabric: &str| said(&desk, "topology show", &[&format!("{fabric},bandwidth=1 GB/s")], 2);
    let plus = "dragonfly-plus:nodes=3,leaves=5,spines=2,global-ports=3";
    assert!(show(&format!("{plus},groups=8")).contains("raise `global-ports`"));
    assert!(show(&format!("{plus},groups=3,cables=cables.csv")).contains("raise `global-ports`"));
    assert!(show("dragonfly:p=1,a=2,h=2,g=9").contains("raise `h`"));
    assert!(show("polarfly:q=6").contains("q = 5 is the closest one"));
    assert!(show("slim-fly:q=6").contains("q = 5 is the closest one"));
}

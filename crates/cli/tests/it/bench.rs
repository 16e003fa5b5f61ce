//! `hayase bench`: figures differ from machine to machine, their form does not.

use super::{Desk, Said};
use snapbox::str;

fn output(desk: &Desk, words: &str) -> String {
    desk.hayase(words).assert().success().stdout()
}

#[test]
fn a_load_is_measured_in_messages_of_its_own() {
    let desk = Desk::new();
    let words = "bench fat-tree-54/random/max-min --repeats 2 --format json -o b.csv -o b.md -o b.json";
    let benchmark: serde_json::Value = serde_json::from_str(&output(&desk, words)).unwrap();
    assert_eq!(benchmark["schema"], "hayase-benchmark-1");
    assert!(benchmark["machine"]["compiler"].as_str().unwrap().starts_with("rustc "), "{benchmark}");
    let row = &benchmark["rows"][0];
    assert_eq!((row["nodes"].as_u64(), row["messages"].as_u64()), (Some(54), Some(54 * 53)));
    let all: Vec<f64> = row["cpu_ns"]["all"].as_array().unwrap().iter().map(|ns| ns.as_f64().unwrap()).collect();
    assert_eq!(all.len(), 2);
    assert!(all.iter().all(|ns| *ns > 0.0));
    // JSON has the shortest digits of each number.
    let median = row["cpu_ns"]["median"].as_f64().unwrap();
    assert!((median - (all[0] + all[1]) / 2.0).abs() <= 1e-12 * median, "{all:?} {median}");
    assert_eq!(desk.names(), ["b.csv", "b.json", "b.md"]);
    assert!(desk.read("b.csv").lines().nth(1).unwrap().starts_with("fat-tree-54/random/max-min,54,2862,2,1,"));
    assert!(desk.read("b.md").contains("| fat-tree-54/random/max-min | 2,862 |"));
}

#[test]
fn three_sizes_of_a_kind_show_how_costs_grow() {
    let words =
        "bench fat-tree-54/regular/equal-share fat-tree-128/regular/equal-share fat-tree-250/regular/equal-share";
    let table = output(&Desk::new(), &format!("{words} --repeats 1"));
    assert!(table.contains("fat-tree, regular/equal-share  54 to 250"), "{table}");
}

#[test]
fn the_list_says_what_is_measured() {
    let list = output(&Desk::new(), "bench --list");
    assert!(list.contains("fat-tree-1024/random/max-min"), "{list}");
    assert!(list.lines().any(|line| line.starts_with("fat-tree-65536/") && line.contains("(with --large)")), "{list}");
}

#[test]
fn an_unknown_load_is_a_mistake() {
    Desk::new().hayase("bench fat-tre-54").assert().code(2).stdout_eq("").stderr_eq(str![[r#"
error[unknown-load]: there is no load with `fat-tre-54` in its name
 |
 = help: `hayase bench --list` shows all

"#]]);
    let stderr = Desk::new().hayase("bench fat-tree-65536 --quick").assert().code(2).get_output().stderr.clone();
    assert!(String::from_utf8(stderr).unwrap().contains("no load with these words is quick"));
}

#[test]
fn figures_of_another_build_stand_beside_those_of_this_one() {
    let desk = Desk::new();
    let load = "bench fat-tree-54/random/max-min --repeats 4";
    output(&desk, &format!("{load} -o old.json"));
    // The other build took twice and half the time.
    let old: serde_json::Value = serde_json::from_str(&desk.read("old.json")).unwrap();
    let scaled = |factor: f64| {
        let mut scaled = old.clone();
        for value in scaled["rows"][0]["cpu_ns"]["all"].as_array_mut().unwrap() {
            *value = (value.as_f64().unwrap() * factor).into();
        }
        scaled.to_string()
    };
    for (factor, verb) in [(0.05, "more"), (20.0, "less")] {
        std::fs::write(desk.path().join("other.json"), scaled(factor)).unwrap();
        let table = output(&desk, &format!("{load} --against other.json -o x.json -o x.csv"));
        assert!(table.contains(&format!("1 of 1 loads cost {verb} than with other.json")), "{table}");
        let report: serde_json::Value = serde_json::from_str(&desk.read("x.json")).unwrap();
        let against = &report["rows"][0]["against"];
        let (low, high) = (against["interval"][0].as_f64().unwrap(), against["interval"][1].as_f64().unwrap());
        assert!(low <= against["ratio"].as_f64().unwrap() && (high < 1.0 || low > 1.0), "{against}");
        assert!(desk.read("x.csv").contains("ratio_low"));
    }
    for (name, content, words) in [
        ("no.json", "{}", "`no.json` is no benchmark: missing field"),
        ("cut.json", &desk.read("old.json")[..40], "`cut.json` is no benchmark: EOF"),
        ("x.toml", "[a]", "is no benchmark"),
        ("other.json", &scaled(1.0).replace("fat-tree-54/", "fat-tree-55/"), "none of the loads"),
        ("new.json", &scaled(1.0).replace("benchmark-1", "benchmark-9"), "has schema `hayase-benchmark-9`"),
    ] {
        std::fs::write(desk.path().join(name), content).unwrap();
        let stderr = desk.hayase(&format!("{load} --against {name}")).assert().code(2).get_output().stderr.clone();
        let stderr = String::from_utf8(stderr).unwrap();
        assert!(stderr.contains(words), "{name}: {stderr}");
    }
    desk.hayase(&format!("{load} --against missing.json")).assert().code(2);
    // The other figures are an input.
    desk.hayase(&format!("{load} --against old.json -o old.json")).assert().code(2);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&desk.read("old.json")).unwrap(), old);
}

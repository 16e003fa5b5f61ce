//! Transcripts of throughput by load counting.

use serde_json::Value;

use super::{Desk, Said};
use snapbox::str;

fn json(desk: &Desk, words: &str) -> Value {
    desk.hayase(&format!("throughput {words} --format json")).assert().success().stderr_eq("").json()
}

#[test]
fn a_torus_under_uniform_traffic() {
    // Along a ring of 8 the mean distance is 2, itself included, and each node has 2 links of each dimension: without
    // itself 64/63 * 2 / 2 of a link's capacity.
    let desk = Desk::new();
    let answer = json(&desk, "-t torus-8x8 --traffic uniform --routing spray");
    let load = answer["largest_load"]["dimension 0"].as_f64().unwrap();
    assert!((load - 64.0 / 63.0).abs() < 1e-12, "{load}");
    assert_eq!(answer["largest_load"]["dimension 1"].as_f64().map(|other| (other - load).abs() < 1e-12), Some(true));
    let throughput = answer["throughput"].as_f64().unwrap();
    assert!((throughput - 63.0 / 64.0).abs() < 1e-12, "{throughput}");
    assert_eq!(answer["bottleneck"]["load"].as_f64().map(|load| (load * throughput - 1.0).abs() < 1e-12), Some(true));
}

#[test]
fn effective_bisection_is_a_mean_over_seeds() {
    let desk = Desk::new();
    let one = json(&desk, "-t fat-tree-128 --traffic bisection");
    assert!(one.get("deviation").is_none() && one["seeds"] == 1);
    let many = json(&desk, "-t fat-tree-128 --traffic bisection --both --seeds 5 --seed 7");
    assert!(many["deviation"].as_f64().unwrap() > 0.0 && many["seeds"] == 5);
    assert!(many["slowest_pair"].as_f64().unwrap() < many["throughput"].as_f64().unwrap());
    // Spread over all paths, a full-bisection tree carries all pairs.
    let spread = json(&desk, "-t fat-tree-128 --traffic bisection --both --routing spray");
    assert!((spread["throughput"].as_f64().unwrap() - 1.0).abs() < 1e-12);
}

#[test]
fn the_messages_of_a_file_are_steady_traffic() {
    let desk =
        Desk::new().file("m.csv", "src,dst,bytes,slot,path,flow_weight\n0,1,100,0,,1\n2,1,50,,a -> b,\n3,3,7,,,\n");
    let answer = json(&desk, "-t crossbar-64 --traffic ./m.csv");
    assert!((answer["throughput"].as_f64().unwrap() - 1.0 / 1.5).abs() < 1e-12);
    let desk = Desk::new().file("bad.csv", "src,dst,bytes\n0,64,100\n0,1,x\n");
    desk.hayase("throughput -t crossbar-64 --traffic ./bad.csv").assert().code(2).stdout_eq("").stderr_eq(str![[r#"
error[out-of-range]: there is no node 64
 --> ./bad.csv:2:3
  |
2 | 0,64,100
  |   ^^ nodes are numbered from 0 to 63

error[bad-quantity]: "x" is not a size; [..]
...
"#]]);
}

#[test]
fn mistakes_are_told_with_what_is_expected() {
    let told = |words: &str| Desk::new().hayase(&format!("throughput {words}")).assert().code(2).stdout_eq("").stderr();
    for (words, expected) in [
        ("-t torus-4x4 --traffic unifrom", "adversarial=K, worst-case, hot-group=F, bisection, permutation"),
        ("-t torus-4x4 --traffic adversarial=-1", "like adversarial=1"),
        ("-t torus-4x4 --both", "leave `--both` out"),
        ("-t torus-4x4 --routing valiant-groups", "torus 4x4 has none"),
        ("-t torus-4x4 --routing ugal-g", "--routing fluid"),
        ("-t torus-4x4 --routing valiant-switches --set routing.valiant-switches.intermediates=0", "1 to 1024"),
        ("-t torus-4x4 --traffic no/such.csv", "no/such.csv"),
    ] {
        let text = told(words);
        assert!(text.contains(expected), "{words}: {text}");
    }
}

#[test]
fn rules_that_choose_are_simulated_where_they_can_be() {
    let desk = Desk::new();
    let run = |words: &str| desk.hayase(&format!("run -t torus-4x4 -p all-to-all-pairwise -q {words}")).assert();
    for words in [
        "--routing valiant-switches",
        "--routing ugal-l",
        "--routing ugal-g --transport packet:oq",
        "--routing progressive --injection window=4",
        "--routing spray --transport contention-free",
        "--routing spray --transport packet:iq",
        "--routing valiant-switches --transport packet:fq",
    ] {
        let (first, again) = (run(words).success(), run(words).success());
        // The same, wall clock apart.
        let line = |assert: &snapbox::cmd::OutputAssert| {
            let text = assert.stdout();
            text.lines().find(|line| line.contains("makespan")).map(str::to_owned)
        };
        assert!(line(&first).is_some() && line(&first) == line(&again), "{words}");
    }
    for (words, expected) in [
        ("--routing spray --sharing redistribute", "flows under sharing redistribute go over one path"),
        ("--routing fluid", "known by its loads only"),
    ] {
        let told = run(words).code(2).stderr();
        assert!(told.contains(expected) && told.contains("--routing:1:1"), "{words}: {told}");
    }
}

/// Errors are shown under the words of the command that caused them.
#[test]
fn mistakes_of_throughput_have_a_place() {
    for (words, place) in [
        ("--routing ugal-l", "--> --routing:1:1"),
        ("--set routing.ugal-g.candidates=2", "--> --set:1:1"),
        ("--routing fluid --traffic bisection --both", "--> --routing:1:1"),
        ("--both", "--> --both:1:1"),
        ("--set routing.valiant-groups={all-intermediates=true,intermediates=3}", "--> --set:1:"),
    ] {
        let assert = super::Desk::new().hayase(&format!("throughput -t dragonfly-72 {words}")).assert().code(2);
        let said = assert.stderr();
        assert!(said.contains(place), "{words}: {said}");
    }
}

/// Split messages need a transport that supports them: the one that refuses them is named.
#[test]
fn what_takes_no_split_messages_is_named() {
    let words = "run -t dragonfly-72 -p ring --routing spray --sharing redistribute";
    let assert = super::Desk::new().hayase(words).assert().code(2);
    let error = assert.stderr();
    assert!(error.contains("flows under sharing redistribute go over one path"), "{error}");
    // A changed fabric does not have the name.
    let shown = |set: &str| {
        super::Desk::new()
            .hayase(&format!("topology show polarfly-798{set}"))
            .assert()
            .success()
            .stdout()
            .contains("PolarFly of 798 nodes")
    };
    assert!(shown("") && !shown(" --set topology.polarfly.q=3"));
}

/// The mistake of a fabric that is too large marks its largest dimension.
#[test]
fn the_largest_size_of_a_fabric_is_marked() {
    for (fabric, sets, place) in [
        ("dragonfly-72", "a=100000 h=1 g=3", "dragonfly.a=100000"),
        ("dragonfly-72", "h=70000 a=60000", "dragonfly.h=70000"),
        ("dragonfly-plus-8448", "spines=4000000 global-ports=1 groups=2", "dragonfly-plus.spines=4000000"),
        ("slim-fly-200", "p=4000000", "slim-fly.p=4000000"),
        ("t2hx", "nodes=4000000", "hyperx.nodes=4000000"),
        ("simai-spectrum-x", "gpus=4000000", "rails.gpus=4000000"),
    ] {
        let kind = place.split('.').next().unwrap();
        let sets: String = sets.split(' ').map(|set| format!(" --set topology.{kind}.{set}")).collect();
        let assert = super::Desk::new().hayase(&format!("topology show {fabric}{sets}")).assert().code(2);
        let said = assert.stderr();
        assert!(said.contains(&format!("topology.{place}\n")), "{fabric}{sets}: {said}");
    }
    let words = "topology show dragonfly-72 --set topology.dragonfly.h=0 --set topology.dragonfly.g=2";
    let assert = super::Desk::new().hayase(words).assert().code(2);
    let said = assert.stderr();
    assert!(said.contains("at most 1 group, one more than ports") && said.contains("1 other group\n"), "{said}");
}

#[test]
fn fabrics_are_compared_figure_by_figure() {
    let desk = Desk::new().file("prices.toml", "nic = 10\n[switch]\n8 = 100\n[optical]\ncable = 5\n");
    let words = "topology compare dragonfly-72,slim-fly-200 --prices ./prices.toml --pairings 2 --format json -o ./x.svg -o ./x.csv";
    let assert = desk.hayase(words).assert().success();
    let answer: Value = assert.json();
    let [dragonfly, slim] = [&answer["fabrics"][0], &answer["fabrics"][1]];
    // 36 switches, 36 cables between 9 groups, 72 cards. A slim fly's switches have 11 ports, none of the list has.
    assert_eq!(dragonfly["cost"]["total"], 3600.0 + 180.0 + 720.0);
    assert_eq!(slim["notes"][0], "no cost: no switch of the list of prices has 11 ports");
    // JSON has the names of the columns.
    let columns = desk.read("x.csv");
    let of_links = ["diameter_links", "mean_distance_links", "uniform_throughput", "adversarial_throughput"];
    for name in of_links.into_iter().chain(["bisection_bps", "bisection_is_least"]) {
        assert!(
            slim.get(name).is_some() && columns.lines().next().unwrap().split(',').any(|has| has == name),
            "{name}"
        );
    }
    assert!((dragonfly["adversarial_throughput"].as_f64().unwrap() - 0.125).abs() < 1e-9);
    assert!((slim["uniform_throughput"].as_f64().unwrap() - 0.9567).abs() < 1e-3);
    desk.hayase("topology compare no-such,dragonfly-72").assert().code(2);
    desk.hayase("topology compare dragonfly-72 -o x.dot").assert().code(2);
    desk.hayase("topology compare dragonfly-72 --failed 100%").assert().code(2);
}

//! Tests of `--estimate`: makespans with intervals from the beginning of a run, and work that is run in full.

use serde_json::Value;

use super::{Desk, Said};

/// An all-to-all in rounds on 16 nodes, 3,000 messages a rank, at random places: 48,000 messages.
const ROUNDS: &str = "run -t torus-4x4 -p all-to-all-simple-spread --placement random \
    --set workload.all-to-all.messages=200 --set workload.all-to-all.message-order=rounds --format json -q";

fn report(words: &str) -> Value {
    Desk::new().hayase(words).assert().success().json()
}

fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("{key} of {value}"))
}

#[test]
fn an_estimate_has_an_interval_as_narrow_as_asked_for_from_a_part_of_the_messages() {
    let full = report(ROUNDS);
    let estimated = report(&format!("{ROUNDS} --estimate 6%"));
    let estimate = &estimated["estimate"];
    let (low, high) = (number(estimate, "low_s"), number(estimate, "high_s"));
    let makespan = number(&estimated, "makespan_s");
    assert_eq!(number(estimate, "makespan_s"), makespan);
    assert_eq!((number(estimate, "confidence"), number(estimate, "asked")), (0.95, 0.06));
    assert!((0.01..0.6).contains(&number(estimate, "simulated_part")), "{estimate}");
    assert!(low < makespan && makespan < high && high - makespan < 0.07 * makespan, "{estimate}");
    assert!(low <= number(&full, "makespan_s") && number(&full, "makespan_s") <= high, "{full} {estimate}");
    // The whole run is reported, with the bounds that are known for it.
    for key in ["messages", "bytes"] {
        assert_eq!(estimated[key], full[key]);
    }
    assert_eq!(estimated["bounds"]["busiest_link_s"], Value::Null);
    let injection = number(&full["bounds"], "injection_s");
    assert!((number(&estimated["bounds"], "injection_s") / injection - 1.0).abs() < 1e-9);
    assert!(full.get("estimate").is_none());
    // The same result again, to the last bit, also from the scenario in the report.
    assert_eq!(report(&format!("{ROUNDS} --estimate 6%"))["estimate"], *estimate);
    assert_eq!(estimated["scenario"]["estimate"], "6 %");
}

#[test]
fn what_is_not_estimated_is_run_in_full_and_says_why() {
    let simple = "run -t torus-4x4 -p all-to-all-simple-spread --placement random -q --format json";
    let cases = [
        (simple.to_owned(), "too few"),
        (format!("{simple} --injection all"), "never settles"),
        (format!("{simple} --injection barrier"), "barrier"),
        (simple.replace("simple-spread", "bruck"), "differ from step to step"),
        ("run -t fat-tree-54 -p all-to-all-simple-spread -q --format json".to_owned(), "exact"),
        ("run -t fat-tree-2000 -p all-to-all-simple-spread -q --format json".to_owned(), "exact"),
        ("run -t torus-4x4 -p linear:ranks=16 -q --format json".to_owned(), "programs"),
    ];
    for (words, reason) in cases {
        let (mut full, mut asked) = (report(&words), report(&format!("{words} --estimate 5%")));
        assert_eq!(asked["estimate"], Value::Null, "{words}");
        let why = asked["estimate_reason"].as_str().unwrap();
        assert!(why.contains(reason), "{words}: {why}");
        for report in [&mut full, &mut asked] {
            for key in ["meta", "scenario", "estimate", "estimate_reason", "breakdown", "waits", "late", "ranks"] {
                report.as_object_mut().unwrap().remove(key);
            }
        }
        assert_eq!(full, asked, "{words}");
    }
}

#[test]
fn tables_say_what_is_an_estimate_and_why_there_is_none() {
    let desk = Desk::new();
    let words = ROUNDS.replace(" --format json -q", "");
    let assert = desk.hayase(&format!("{words} --estimate 6% --seeds 2 -o loads.svg -o links.csv")).assert().success();
    let text = assert.stdout();
    assert!(text.contains("(an estimate, ±") && text.contains("at 95 % confidence"), "{text}");
    assert!(std::fs::read_to_string(desk.path().join("loads.svg")).unwrap().contains("estimate"));
    let none = desk.hayase("run -t torus-4x4 -p all-to-all-bruck --estimate 1%").assert().success();
    let said = none.stderr();
    assert!(said.contains("no estimate, the whole run is simulated: its messages differ"), "{said}");
    assert!(none.stdout().contains("(no estimate: all was simulated)"));
}

#[test]
fn the_mean_over_seeds_has_an_interval_of_its_own() {
    let report = report(&format!("{ROUNDS} --estimate 6% --seeds 3"));
    let seeds = &report["seeds"];
    let halves: Vec<f64> = seeds["halves_s"].as_array().unwrap().iter().map(|half| half.as_f64().unwrap()).collect();
    assert_eq!(halves.len(), 3);
    let half = halves.iter().map(|half| half * half).sum::<f64>().sqrt() / 3.0;
    let interval = seeds["interval_s"].as_array().unwrap();
    let (low, high) = (interval[0].as_f64().unwrap(), interval[1].as_f64().unwrap());
    assert!(((high - low) / 2.0 / half - 1.0).abs() < 1e-9);
    assert!(((high + low) / 2.0 / number(seeds, "mean_s") - 1.0).abs() < 1e-9);
}

#[test]
fn a_comparison_of_estimates_has_intervals_in_its_rows_and_ties_within_them() {
    let desk = Desk::new();
    let words = "compare -t torus-4x4 -p all-to-all-simple-spread,all-to-all-bruck --placement random --estimate 6% \
        --set workload.all-to-all.size=2KB -o rows.csv -o chart.svg -o all.json";
    desk.hayase(words).assert().success();
    let rows = std::fs::read_to_string(desk.path().join("rows.csv")).unwrap();
    assert!(
        rows.lines().next().unwrap().ends_with(",estimate,estimate_low_s,estimate_high_s,simulated_part"),
        "{rows}"
    );
    assert!(rows.lines().skip(1).all(|row| row.ends_with(",false,,,1")), "{rows}");
    let both = format!(
        "{} --sharing max-min,equal-share --estimate 6% -o chart.svg",
        ROUNDS.replace("run -t", "compare -t").replace(" --format json", " --format csv")
    );
    let assert = desk.hayase(&both).assert().success();
    let rows = assert.stdout();
    assert!(rows.lines().skip(1).all(|row| row.contains(",true,")), "{rows}");
    let chart = std::fs::read_to_string(desk.path().join("chart.svg")).unwrap();
    assert!(chart.contains("95 % interval of an estimate") && chart.contains("estimates"), "no interval in the chart");
}

#[test]
fn what_is_no_error_of_an_estimate_is_a_mistake_with_its_place() {
    for wrong in ["0", "0%", "-1%", "200%", "abc", "nan", "1e-9", "''", "%"] {
        let assert = Desk::new().hayase(&format!("run -t torus-4x4 -p ring --estimate {wrong}")).assert().code(2);
        let said = assert.stderr();
        assert!(said.contains("--estimate") && said.contains("from 0.01 % to 50 %"), "{wrong}: {said}");
    }
    let desk = Desk::new().file("scenario.toml", "topology = \"torus-4x4\"\nworkload = \"ring\"\nestimate = \"2\"\n");
    let assert = desk.hayase("run scenario.toml").assert().code(2);
    let said = assert.stderr();
    assert!(said.contains("scenario.toml:3:12"), "{said}");
}

#[test]
fn tables_of_all_messages_and_estimates_of_jobs_are_refused() {
    for file in ["messages.csv", "timeline.svg", "ranks.csv", "path.csv", "activities.csv"] {
        let words = format!("{} --estimate 6% -o {file}", ROUNDS.replace(" --format json -q", ""));
        let assert = Desk::new().hayase(&words).assert().code(2);
        let said = assert.stderr();
        assert!(said.contains("is about all messages"), "{said}");
    }
    let jobs = "run -t torus-4x4 --job a=ring:8 --job b=ring:8 --estimate 1%";
    let assert = Desk::new().hayase(jobs).assert().code(2);
    let said = assert.stderr();
    assert!(said.contains("each ends at a time of its own"), "{said}");
}

#[test]
fn few_large_packets_are_as_large_in_an_estimate() {
    let packets = |key: &str| {
        let words = format!("{ROUNDS} --transport packet:oq --set transport.packet.{key} --estimate 8%");
        report(&words)["estimate"].clone()
    };
    let estimate = packets("packets-per-message=2");
    assert!(estimate.is_object(), "{estimate}");
    assert_eq!(estimate, packets("packet-size=10KB"));
}

#[test]
fn a_farm_says_why_there_is_no_estimate_of_it() {
    let farm = "[workload.master-slave]\ntasks = \"constant:count=5,time=1ms\"\nworkers = 2\n";
    let desk = Desk::new().file("farm.toml", farm);
    let words = ["run farm.toml --format json -q", "run farm.toml --format json -q --estimate 1%"];
    let [full, asked] = words.map(|words| {
        let assert = desk.hayase(words).assert().success();
        serde_json::from_slice::<Value>(&assert.get_output().stdout).unwrap()
    });
    assert!(full.get("estimate").is_none() && full.get("estimate_reason").is_none(), "{full}");
    assert_eq!((&asked["estimate"], &asked["makespan_s"]), (&Value::Null, &full["makespan_s"]));
    let why = asked["estimate_reason"].as_str().unwrap();
    assert!(why.contains("farms"), "{why}");
}

#[test]
fn odd_numbers_of_ranks_and_errors_at_the_ends_of_their_range_are_estimated_or_run_in_full() {
    for nodes in [1, 2, 7] {
        for error in ["0.01%", "50%"] {
            let words = format!(
                "run -t crossbar-64 --set topology.crossbar.nodes={nodes} -p uniform-random --format json -q \
                 --set workload.uniform-random.messages=900 --size 2KB"
            );
            let (full, asked) = (report(&words), report(&format!("{words} --estimate {error}")));
            let makespan = number(&full, "makespan_s");
            match &asked["estimate"] {
                Value::Null => {
                    assert!(asked["estimate_reason"].is_string(), "{asked}");
                    assert_eq!(number(&asked, "makespan_s"), makespan, "{nodes} nodes, {error}");
                }
                estimate => {
                    let (low, high) = (number(estimate, "low_s"), number(estimate, "high_s"));
                    assert!(low > 0.0 && low <= makespan && makespan <= high, "{nodes} nodes, {error}: {estimate}");
                }
            }
        }
    }
}

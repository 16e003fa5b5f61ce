use hayase::scenario::Loaded;
use hayase::{Loader, RunOptions};
use serde_json::Value;

use crate::{check, init, names, run};

fn mistakes(text: &str) -> Vec<(u64, u64, u64, String)> {
    let answer = check(text);
    let number = |mistake: &Value, key: &str| mistake[key].as_u64().unwrap();
    let of = |mistake: &Value| {
        let [line, column, length] = ["line", "column", "length"].map(|key| number(mistake, key));
        (line, column, length, mistake["message"].as_str().unwrap().to_owned())
    };
    answer["mistakes"].as_array().unwrap().iter().map(of).collect()
}

#[test]
fn a_mistake_in_a_scenario_is_at_its_place() {
    let text = "topology = \"fat-tree-54\"\n\n[workload.all-to-all]\nalgorithm = \"simple-sprad\"\nsize = 20000\n";
    let found = mistakes(text);
    let places: Vec<_> = found.iter().map(|(line, column, length, _)| (*line, *column, *length)).collect();
    assert_eq!(places, [(4, 13, 14), (5, 8, 5)], "{found:?}");
    assert!(found[0].3.contains("simple-sprad"), "{found:?}");
}

#[test]
fn a_mistake_in_a_command_is_at_its_word() {
    let at = |text: &str| mistakes(text).first().map(|(line, column, length, _)| (*line, *column, *length));
    assert_eq!(at("hayase run -t torus-4x4 -p rng"), Some((1, 28, 3)));
    assert_eq!(at("# é\nhayase run -t torus-4x4 \\\n  -p ring --placemnt random"), Some((3, 11, 10)));
    assert_eq!(at("hayase run -t torus-4x4 -p ring --size \"20 XB\""), Some((1, 40, 7)));
    assert_eq!(at("hayase run -t torus-4x4 -p ring --seeds none"), Some((1, 41, 4)));
    assert_eq!(at("hayase run -t torus-4x4 -p 'ring"), Some((1, 28, 1)));
    assert_eq!(at("hayase sweep plan.toml"), Some((1, 8, 5)));
    assert_eq!(at("hayase run my.toml"), Some((1, 12, 7)));
    assert_eq!(at("hayase compare -t torus-4x4 -p ring --vary x"), Some((1, 44, 1)));
    assert_eq!(at("hayase compare -t torus-4x4 -p ring,rng"), Some((1, 32, 8)));
    assert_eq!(at("hayase run -t torus-4x4 -p ring -o x.svg -q --optimum"), None);
}

#[test]
fn a_run_has_the_fingerprint_of_the_library() {
    let loader = Loader::new().topology("fat-tree-54").pattern("all-to-all-simple-spread").placement("random");
    let Loaded::Pattern(scenario) = loader.load_all().unwrap() else { panic!("this is a pattern") };
    let outcome = scenario.run(RunOptions::default());
    let fingerprint = serde_json::to_value(&outcome.report).unwrap()["fingerprint"].clone();
    let command = "hayase run -t fat-tree-54 -p all-to-all-simple-spread --placement random";
    let scenario = "topology = \"fat-tree-54\"\nworkload = \"all-to-all-simple-spread\"\nplacement = \"random\"";
    for text in [command, scenario] {
        let answer = run(text, |_, _| {});
        assert_eq!(answer["fingerprint"], fingerprint, "{text}");
        let html = answer["html"].as_str().unwrap();
        assert!(html.contains("data-name=\"timeline.svg\"") && html.contains("<table"), "{text}");
    }
}

#[test]
fn every_kind_of_work_has_a_page() {
    for text in [
        "hayase run gaussian-elimination:n=16 -m myrinet -t torus-4x4",
        "hayase run -t fat-tree-54 --job a=all-to-all-simple-spread:8 --job b=ring:8 --interference",
        "hayase compare -t torus-4x4 -p ring,shift --placement regular,random --seeds 2",
        "hayase run -t torus-4x4 -p npb-cg-W-16 --straggler 3=50%",
    ] {
        let answer = run(text, |_, _| {});
        assert!(answer["html"].as_str().is_some_and(|html| html.contains("<svg")), "{text}: {answer}");
    }
}

#[test]
fn a_single_piece_of_work_has_no_interference() {
    let answer = run("hayase run -t torus-4x4 -p ring --interference", |_, _| {});
    assert!(answer["mistakes"][0]["message"].as_str().unwrap().contains("needs several jobs"), "{answer}");
}

#[test]
fn a_first_scenario_is_written_and_names_are_listed() {
    let text = init("torus-4x4", "ring")["text"].as_str().unwrap().to_owned();
    assert_eq!(mistakes(&text), []);
    assert!(init("torus-4x4", "rng")["mistakes"].is_array());
    assert!(names()["patterns"].as_array().unwrap().iter().any(|one| one["name"] == "ring"));
}

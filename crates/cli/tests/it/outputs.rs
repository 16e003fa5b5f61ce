//! Options of output, the same for all verbs: the contents of each format, the files that can be written, and the
//! error if a verb has none of them.

use serde_json::Value;

use super::any_work::{GOAL, NODES};
use super::master_slave::TASKS;
use super::{Desk, FABRIC, MESSAGES, Said};

fn desk() -> Desk {
    Desk::new()
        .file("x.goal", GOAL)
        .file("nodes.toml", NODES)
        .file("fabric.toml", FABRIC)
        .file("messages.csv", MESSAGES)
        .file("tasks.csv", TASKS)
        .file("farm.toml", "[workload.master-slave]\ntasks = \"constant:count=20,time=1ms\"\nworkers = \"4\"\n")
}

fn said(desk: &Desk, words: &str, code: i32) -> String {
    desk.hayase(words).assert().code(code).stderr()
}

fn printed(desk: &Desk, words: &str) -> String {
    desk.hayase(words).assert().success().stdout()
}

#[test]
fn what_is_printed_as_json_reads_as_json_whatever_the_verb() {
    let desk = desk();
    for words in [
        "run -t ./fabric.toml -p ./messages.csv",
        "run -p x.goal -m ./nodes.toml",
        "run farm.toml",
        "compare -t ./fabric.toml -p ring,incast",
        "rates -t ./fabric.toml -p ring",
        "replay x.goal",
        "whatif x.goal -m ./nodes.toml",
        "master-slave tasks.csv --workers 1..3:1",
        "check fabric.toml messages.csv",
        "topology list",
        "topology show ./fabric.toml",
        "pattern list",
        "pattern show ring --ranks 1",
        "pattern show all-to-all-simple-spread --ranks 7",
        "machine list",
        "machine show myrinet",
        "preset list",
        "preset show mfs",
        "list models",
        "show mixtral-8x7b",
        "llm mixtral-8x7b -m h100-8x400g --search",
        "advise x.goal -m ./nodes.toml",
        "explain",
        "explain A001",
        "trace info x.goal",
        "validate --list",
        "bench --list",
    ] {
        let text = printed(&desk, &format!("{words} --format json -q"));
        serde_json::from_str::<Value>(&text).unwrap_or_else(|error| panic!("{words}: {error}: {text}"));
    }
}

#[test]
fn rows_are_printed_as_csv_and_what_is_no_rows_says_what_to_do() {
    let desk = desk();
    for (words, header, rows) in [
        ("run farm.toml", "workers,", 1),
        ("rates -t ./fabric.toml -p ring", "src,dst,rate_Bps,bottleneck", 4),
        ("check fabric.toml messages.csv", "file,ok,content", 2),
        ("pattern show ring --ranks 5", "rank,index,step,dst,bytes,delay_s,after,carries", 5),
        ("pattern show all-to-all-pairwise --ranks 8", "rank,index,step,dst,bytes,delay_s,after,carries", 56),
        ("pattern show all-to-all-pairwise --ranks 8 --steps 2", "rank,index,step,dst,bytes,delay_s,after,carries", 16),
    ] {
        let text = printed(&desk, &format!("{words} --format csv -q"));
        let mut lines = text.lines();
        assert!(lines.next().unwrap().starts_with(header), "{words}: {text}");
        assert_eq!(lines.count(), rows, "{words}: {text}");
    }
    // Data contains everything that a table leaves out.
    let text = printed(&desk, "pattern show all-to-all-bruck --ranks 16 --format csv --rank 3 -q");
    assert!(!text.contains("in all") && text.contains("(3, 4)"), "{text}");
    for list in ["topology list", "pattern list", "machine list", "preset list", "explain", "validate --list"] {
        let text = printed(&desk, &format!("{list} --format csv -q"));
        let columns = text.lines().next().unwrap().split(',').count();
        assert!(columns >= 2 && text.lines().count() > 1, "{list}: {text}");
    }
    for (words, help) in [
        ("run -t ./fabric.toml -p ring", "-o messages.csv, links.csv, ranks.csv"),
        ("run -p x.goal", "-o ranks.csv"),
        ("replay x.goal", "-o ranks.csv"),
        ("machine show myrinet", "it is no table"),
        ("trace info x.goal", "trace sites"),
        ("llm gpt-3-175b", "--format json"),
        ("advise x.goal", "-o x.html"),
    ] {
        let text = said(&desk, &format!("{words} --format csv"), 2);
        assert!(text.contains("prints no CSV") && text.contains(help), "{words}: {text}");
    }
}

#[test]
fn files_have_what_is_printed_and_an_unknown_extension_lists_those_that_work() {
    let desk = desk();
    for (words, name) in [
        ("topology list", "x.csv"),
        ("topology list", "x.json"),
        ("check fabric.toml", "x.json"),
        ("pattern show ring --ranks 3", "x.csv"),
        ("machine show myrinet", "x.json"),
        ("machine show myrinet", "x.toml"),
        ("trace info x.goal", "x.json"),
        ("explain overlap", "x.csv"),
        ("bench --list", "x.csv"),
        ("validate --list", "x.json"),
    ] {
        let format = if name == "x.toml" { "table" } else { &name[2..] };
        let text = printed(&desk, &format!("{words} --format {format} -o {name} -q"));
        assert_eq!(desk.read(name), text, "{words}");
    }
    for (words, known) in [
        (
            "run -t ./fabric.toml -p ring",
            "x.json, x.html, timeline.svg, noise.svg, links.svg, x.svg, messages.csv, links.csv, noise.csv, ranks.csv, activities.csv, path.csv, rankfile=FILE or \
             hostfile=FILE",
        ),
        ("rates -t ./fabric.toml -p ring", "x.csv, x.json, x.html or x.svg"),
        ("check fabric.toml", "x.csv or x.json"),
        ("machine show myrinet", "x.toml or x.json"),
        ("topology show ./fabric.toml", "x.svg, x.dot, x.json or x.csv"),
        ("trace info x.goal", "x.json"),
        ("validate --list", "x.csv or x.json"),
        ("bench --list", "x.csv or x.json"),
        ("master-slave plan --grid 4x4", "x.csv or x.json"),
    ] {
        let text = said(&desk, &format!("{words} -o x.xyz"), 2);
        assert!(text.contains("`.xyz`") && text.contains(known), "{words}: {text}");
        assert!(!desk.names().contains(&"x.xyz".to_owned()));
    }
}

#[test]
fn a_verb_with_one_thing_to_do_says_so_when_it_is_given_threads() {
    let desk = desk();
    for words in
        ["check fabric.toml", "topology list", "machine show myrinet", "explain", "master-slave plan --grid 4x4"]
    {
        let text = said(&desk, &format!("{words} -j 2"), 2);
        assert!(text.contains("uses one thread") && text.contains("leave out -j"), "{words}: {text}");
    }
    // All mistakes at once.
    let text = said(&desk, "machine show myrinet -j 2 --format csv -o x.svg", 2);
    for part in ["`.svg`", "prints no CSV", "uses one thread"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn results_do_not_depend_on_threads() {
    let desk = desk();
    for words in [
        "run -t torus-4x4 -p all-to-all-pairwise --placement random --seeds 5 -o x.json",
        "replay linear:ranks=13 -t torus-4x4 --placement random --seeds 5 -o x.json",
        "compare -t torus-4x4 -p ring,incast --placement random --seeds 3 -o x.csv",
        "master-slave exponential:count=50,mean=1ms --workers 1..5:1 --seeds 3 -o x.csv",
    ] {
        let of_threads = |threads: u32| {
            desk.hayase(&format!("{words} -j {threads} -q")).assert().success();
            without_run_times(&desk.read(if words.ends_with("csv") { "x.csv" } else { "x.json" }))
        };
        let one = of_threads(1);
        assert_eq!(one, of_threads(3), "{words}");
        // More cores than any machine has.
        assert_eq!(one, of_threads(4_000_000), "{words}");
    }
}

/// Removes values that differ between runs.
fn without_run_times(text: &str) -> String {
    match serde_json::from_str::<Value>(text) {
        Ok(mut report) => {
            report.as_object_mut().unwrap().remove("meta");
            report.to_string()
        }
        Err(_) => {
            let header: Vec<&str> = text.lines().next().unwrap_or_default().split(',').collect();
            let kept = |line: &str| {
                let cells = line.split(',').zip(&header).filter(|(_, name)| **name != "wall_s").map(|(cell, _)| cell);
                cells.collect::<Vec<_>>().join(",")
            };
            text.lines().map(kept).collect::<Vec<_>>().join("\n")
        }
    }
}

#[test]
fn all_verbs_that_play_something_take_presets_and_seeds() {
    let preset = format!("# What nodes cost, for tests of presets: ours.\n{NODES}");
    let desk = desk().file("preset.toml", &preset);
    let makespan = |words: &str| {
        let report: Value = serde_json::from_str(&printed(&desk, &format!("{words} --format json -q"))).unwrap();
        report["makespan_s"].as_f64().or(report["predictions"][0]["time_s"].as_f64()).unwrap()
    };
    // 1 us of computation, o, L, o.
    for verb in ["run -p x.goal", "replay x.goal", "whatif x.goal"] {
        let us = makespan(&format!("{verb} --preset ./preset.toml")) * 1e6;
        assert!((us - 13.0).abs() < 1e-6, "{verb}: {us}");
    }
    let farm = "master-slave constant:count=7,time=1ms --workers 2";
    assert_eq!(makespan(&format!("{farm} --preset ./preset.toml")), makespan(&format!("{farm} -m ./nodes.toml")));
    assert!(makespan(farm) < makespan(&format!("{farm} --preset ./preset.toml")));
    // All commands share one loader, with keys, node models and transports.
    let on = "-t torus-4x4 --transport packet:oq --node loggps --set node.loggps.L=2us";
    for verb in ["run -p linear:ranks=5", "replay linear:ranks=5", "whatif linear:ranks=5", farm] {
        makespan(&format!("{verb} -m ./nodes.toml {on}"));
    }
    // Seeds have the same meaning for all commands.
    let random = "-t torus-4x4 --placement random --seeds 4 --seed 3 --format json -q";
    let of = |words: &str| {
        let report: Value = serde_json::from_str(&printed(&desk, &format!("{words} {random}"))).unwrap();
        report["seeds"].clone()
    };
    let seeds = of("run -p linear:ranks=11 -m ./nodes.toml");
    assert_eq!(seeds["seeds"], serde_json::json!([3, 4, 5, 6]));
    assert_eq!(of("replay linear:ranks=11 -m ./nodes.toml"), seeds);
    let farm = printed(&desk, &format!("{farm} {random}"));
    assert!(farm.contains("\"seeds\""), "{farm}");
}

#[test]
fn a_farm_of_a_scenario_file_is_changed_by_the_options() {
    let text = "[workload.master-slave]\ntasks = \"constant:count=20,time=1ms\"\nworkers = \"4\"\ngranularity = 5\n";
    let desk = desk().file("five.toml", text);
    let predicted = |words: &str| {
        let report: Value = serde_json::from_str(&printed(&desk, &format!("{words} --format json -q"))).unwrap();
        report["predictions"][0]["time_s"].as_f64().unwrap()
    };
    let of_file = predicted("run five.toml");
    assert_eq!(predicted("master-slave constant:count=20,time=1ms --scenario five.toml"), of_file);
    assert_eq!(
        predicted("master-slave constant:count=20,time=1ms --scenario five.toml -k 20"),
        predicted("run five.toml --set workload.master-slave.granularity=20"),
    );
    assert!(predicted("master-slave constant:count=20,time=1ms --scenario five.toml -k 20") > of_file);
}

/// Models are compared for each load separately: another machine or key value makes another load.
#[test]
fn models_are_compared_for_one_load_at_a_time() {
    let desk = desk();
    let tables = |words: &str| -> Vec<String> {
        let text = printed(&desk, &format!("compare -t torus-4x4 -p ring --transport packet:oq,flow {words} -q"));
        text.split("\n\n").filter(|part| part.contains(": by model\n")).map(str::to_owned).collect()
    };
    for (words, values) in [
        (
            "--vary topology.torus.bandwidth=1GB/s,2GB/s",
            ["topology.torus.bandwidth 1GB/s", "topology.torus.bandwidth 2GB/s"],
        ),
        ("--machine myrinet,fast-ethernet", ["machine myrinet", "machine fast-ethernet"]),
    ] {
        let tables = tables(words);
        assert_eq!(tables.len(), 2, "{words}: {tables:#?}");
        for value in values {
            let of_value: Vec<&String> = tables.iter().filter(|table| table.contains(value)).collect();
            // A title, a line of names, a rule, and a line for each model.
            assert!(of_value.len() == 1 && of_value[0].trim().lines().count() == 5, "{words}: {tables:#?}");
        }
    }
    // Two policies of one transport are two models of one load.
    assert_eq!(tables("--sharing max-min,equal-share").len(), 1);
}

/// An unknown value is empty, not a number.
#[test]
fn bounds_that_are_not_known_are_empty() {
    let desk = desk();
    let cells = |words: &str| -> std::collections::BTreeMap<String, String> {
        let csv = printed(&desk, &format!("compare {words} --format csv -q"));
        let row: Vec<&str> = csv.lines().nth(1).unwrap().split(',').collect();
        csv.lines()
            .next()
            .unwrap()
            .split(',')
            .map(str::to_owned)
            .zip(row.iter().map(|cell| (*cell).to_owned()))
            .collect()
    };
    let none = cells("-t torus-4x4 -p x.goal");
    let known = cells("-t ./fabric.toml -p ring");
    for bound in ["injection_bound_s", "busiest_link_bound_s"] {
        assert_eq!((none[bound].as_str(), known[bound].as_str()), ("", "0.00002"), "{bound}");
    }
    // A program that computes nothing: no bound at all.
    let linear = cells("-t torus-4x4 -p dissemination:ranks=4 -m myrinet");
    assert_eq!((linear["ratio_to_bound"].as_str(), linear["injection_bound_s"].as_str()), ("", ""));
    let json = printed(&desk, "compare -t torus-4x4 -p dissemination:ranks=4 -m myrinet --format json -q");
    let json: Value = serde_json::from_str(&json).unwrap();
    let row = &json["rows"][0];
    assert!(row["bounds"]["injection_s"].is_null() && row["ratio_to_bound"].is_null(), "{row}");
}

/// `mytrace.json` does not contain the word `trace`.
#[test]
fn words_in_names_of_files_stand_by_themselves() {
    let desk = desk();
    desk.hayase("replay x.goal -m ./nodes.toml -o mytrace.json -o trace.json -o x.trace.json -o x.perfetto.json -q")
        .assert()
        .success();
    let is_report = |name: &str| desk.read(name).contains("hayase-replay-1");
    let reports = ["mytrace.json", "trace.json", "x.trace.json", "x.perfetto.json"].map(is_report);
    assert_eq!(reports, [true, false, false, false]);
    desk.hayase("run -t ./fabric.toml -p ring -o mymessages.csv -q").assert().code(2);
    desk.hayase("run -t ./fabric.toml -p ring -o My_Messages-2.csv -q").assert().success();
}

#[test]
fn what_if_begins_as_every_report_does() {
    let desk = desk();
    let whatif = printed(&desk, "whatif x.goal -m ./nodes.toml --vary L=1us,2us --format json -q");
    let replay = printed(&desk, "replay x.goal -m ./nodes.toml --format json -q");
    let [whatif, replay]: [Value; 2] = [whatif, replay].map(|text| serde_json::from_str(&text).unwrap());
    for key in ["scenario", "status", "makespan_s", "messages", "bytes", "fingerprint"] {
        assert_eq!(whatif[key], replay[key], "{key}");
        assert!(!whatif[key].is_null(), "{key}");
    }
}

/// Rates follow the transport, also for split messages and those with limits, each with its bottleneck.
#[test]
fn rates_are_those_of_the_transport() {
    let rates = |words: &str| -> Vec<(f64, bool)> {
        let rows: Value =
            Desk::new().hayase(&format!("rates {words} --format json -q")).assert().success().stderr_eq("").json();
        let rows = rows.as_array().unwrap().iter();
        rows.map(|row| (row["rate_Bps"].as_f64().unwrap(), row["bottleneck"].is_string())).collect()
    };
    // 63 messages to one node share its link: 1 GB/s in all, or each 1 GB/s without contention.
    let incast = "-t crossbar-64 -p incast";
    assert!(rates(incast).iter().all(|&(rate, named)| named && (rate * 63.0 / 1e9 - 1.0).abs() < 1e-9));
    let alone = rates(&format!("{incast} --transport contention-free"));
    assert!(alone.len() == 63 && alone.iter().all(|&rate| rate == (1e9, true)), "{alone:?}");
    // In equal parts over all shortest paths: the same share of the last link, which is the bottleneck.
    let split = rates("-t fat-tree-54 -p incast --routing spray");
    assert!(split.iter().all(|&(rate, named)| named && (rate * 53.0 / 1e9 - 1.0).abs() < 1e-9), "{split:?}");
    // Windows: a limit independent of links.
    let words: Vec<&str> = "rates -t crossbar-64 -p ring --format json -q --set transport.flow.window=1KB \
                            --set topology.crossbar.latency=10us"
        .split_whitespace()
        .collect();
    let assert = Desk::new().hayase(&words.join(" ")).assert().success();
    let rows: Value = assert.json();
    // W / (2 L), of two links.
    assert_eq!(rows[0]["rate_Bps"].as_f64(), Some(1000.0 / (2.0 * 20e-6)), "{rows}");
    Desk::new().hayase(&format!("rates {incast} --transport packet:oq")).assert().code(2);
}

/// A picture of a named fabric shows the name, and one of a changed fabric does not.
#[test]
fn pictures_of_named_fabrics_have_their_names() {
    let desk = Desk::new();
    let title = |words: &str| {
        desk.hayase(&format!("topology show dragonfly-72 {words} -o x.svg -q")).assert().success();
        let svg = desk.read("x.svg");
        (svg.contains(">dragonfly-72<"), svg.contains("dragonfly p=2 a=4 h=2"))
    };
    assert_eq!(title(""), (true, true));
    assert_eq!(title("--set topology.dragonfly.g=5"), (false, true));
}

/// A report names files relative to the folder of the run, and they are found from another folder.
#[test]
fn a_report_runs_again_in_another_folder() {
    let cables = "from-group,from-switch,to-group,to-switch\n0,0,1,0\n1,1,2,0\n2,1,0,1\n";
    let fabric = "[topology.dragonfly]\np = 1\na = 2\nh = 1\ng = 3\nbandwidth = \"1 GB/s\"\ncables = \"cables.csv\"\n";
    let desk = Desk::new().file("fabrics/cables.csv", cables).file("fabrics/d.toml", fabric).file("out/x", "");
    let desk = desk.file("elsewhere/deep/x", "");
    desk.hayase("run -t fabrics/d.toml -p ring -o r.json -o out/r.json -q").assert().success();
    for (folder, report) in
        [(".", "r.json"), ("elsewhere/deep", "../../r.json"), ("out", "r.json"), ("out", "../r.json")]
    {
        let folder = desk.path().join(folder);
        desk.hayase(&format!("run {report} -q --format json")).current_dir(folder).assert().success();
    }
    // A file that is nowhere is missing.
    std::fs::remove_file(desk.path().join("fabrics/cables.csv")).unwrap();
    desk.hayase("run out/r.json -q").assert().code(2);
}

#[test]
fn two_outputs_of_one_name_are_refused_however_it_is_spelled() {
    let desk = desk();
    let error = said(&desk, "run -t ./fabric.toml -p ring -o links.csv -o ./links.csv", 2);
    assert!(error.contains("error[output-twice]"), "{error}");
    assert!(!desk.path().join("links.csv").exists());
}

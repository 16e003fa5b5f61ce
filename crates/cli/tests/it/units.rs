//! Printed tables: a unit in every heading, the same for a quantity in all tables of an answer, and early
//! ends.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::{Desk, FABRIC, MESSAGES, Said};

/// Headings of columns without units: names, identifiers, counts, ratios.
const BARE: [&str; 56] = [
    "",
    "link",
    "links",
    "peak flows",
    "mean flows",
    "peak queue",
    "mean queue",
    "src",
    "dst",
    "bottleneck",
    "topology",
    "placement",
    "transport",
    "sharing",
    "routing",
    "injection",
    "pattern",
    "to best",
    "to bound",
    "to optimum",
    "in step only",
    "model",
    "/ oq",
    "/ iq",
    "speed-up on oq",
    "speed-up on iq",
    "rank",
    "op",
    "kind",
    "operation",
    "what",
    "for rank",
    "ranks delayed",
    "mostly",
    "times",
    "parameter",
    "value",
    "elasticity",
    "workers",
    "waiting, mean",
    "most",
    "by",
    "granularity",
    "call",
    "count",
    "block",
    "called at",
    "runs",
    "from",
    "to",
    "advice",
    "place",
    "what to do",
    "index",
    "step",
    "after",
];
const MORE: [&str; 13] = [
    "within 10 %",
    "size",
    "reference",
    "speed-up",
    "rows",
    "carries",
    "unit",
    "+-",
    "region",
    "executions",
    "ranks",
    "calls",
    "seeds run",
];

/// Returns the headings of all tables of a text.
fn headings(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let headed = lines.windows(2).filter(|pair| !pair[1].is_empty() && pair[1].chars().all(|c| c == '─'));
    let words = headed.flat_map(|pair| pair[0].split("  ").map(str::trim).filter(|word| !word.is_empty()));
    words.map(str::to_owned).collect()
}

fn trace() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../traces/lu.S.16.tsv.zst")
}

#[test]
fn every_column_has_its_unit_in_its_heading_and_a_quantity_one_unit_in_an_answer() {
    let desk = Desk::new().file("fabric.toml", FABRIC).file("messages.csv", MESSAGES).file(
        "rtt.csv",
        "bytes,time\n0,10us\n100,12us\n1000,20us\n4000,50us\n8000,90us\n16000,170us\n32000,330us\n64000,650us\n",
    );
    let trace = trace();
    let trace = trace.to_str().unwrap();
    let elimination = "gaussian-elimination:n=64,ranks=4 -m myrinet";
    let fold = format!("program fold {trace} -o lu.prog -o lu.comp");
    let mut seen = BTreeSet::new();
    for words in [
        "run -t fabric.toml -p messages.csv",
        "run -t torus-4x4 -p all-to-all-pairwise --transport packet:iq",
        "rates -t fabric.toml -p messages.csv",
        "compare -t torus-4x4 -p all-to-all-pairwise --transport packet:oq,packet:iq,flow --jitter 1us --seeds 2",
        "compare -t torus-4x4,torus-8x8 -p ring --placement regular,random",
        "accuracy -t torus-4x4 -p ring --size 20KB --seeds 1",
        &format!("replay {elimination} -t torus-4x4"),
        &format!("replay {trace} -m myrinet"),
        &format!("whatif {elimination}"),
        &format!("whatif {elimination} --vary L=1us..10us"),
        &format!("advise {elimination}"),
        &format!("trace info {trace}"),
        "master-slave constant:count=50,time=1ms --workers 1..4 -m myrinet",
        &fold,
        "program show lu.prog --computation lu.comp --rank 0",
        "predict --program lu.prog --computation lu.comp -m myrinet",
        "calibrate rtt.csv",
        "topology show torus-4x4",
        "pattern show all-to-all-pairwise --ranks 4",
    ] {
        let output = desk.hayase(words).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0), "{words}: {}", String::from_utf8_lossy(&output.stderr));
        let headings = headings(&text);
        assert!(!headings.is_empty(), "{words}:\n{text}");
        let mut units = BTreeSet::new();
        for heading in &headings {
            match heading.rsplit_once(" [") {
                Some((name, unit)) if !name.contains("run time") => {
                    units.insert(unit.trim_end_matches(']').to_owned());
                }
                Some(_) => {}
                None if heading.starts_with('[') => {}
                None => {
                    let known = BARE.contains(&heading.as_str()) || MORE.contains(&heading.as_str());
                    assert!(known, "{words}: `{heading}` has no unit, and is none that needs none\n{text}");
                }
            }
        }
        let times = ["s", "ms", "us", "ns", "ps"].iter().filter(|unit| units.contains(**unit)).count();
        assert!(times <= 1, "{words}: {units:?}\n{text}");
        seen.extend(headings);
    }
    for heading in ["least [ms]", "part [%]", "change [%]", "efficiency [%]", "messages [k/s]"] {
        let name = heading.split(" [").next().unwrap();
        assert!(seen.iter().any(|seen| seen.starts_with(&format!("{name} ["))), "no {heading} in {seen:?}");
    }
}

#[test]
fn table_csv_json_and_chart_agree_on_what_is_the_best() {
    let desk = Desk::new();
    let words = "compare -t torus-4x4 -p all-to-all-simple-spread --placement random,regular --seeds 4 -o c.csv -o c.json -o c.svg";
    let text = desk.hayase(words).assert().success().stdout();
    let json: serde_json::Value = serde_json::from_str(&desk.read("c.json")).unwrap();
    let rows = json["rows"].as_array().unwrap();
    let best = rows[0]["placement"].as_str().unwrap();
    assert_eq!((&rows[0]["place"], &rows[0]["ratio_to_best"]), (&1.into(), &1.0.into()));
    assert!(rows[1]["makespan"]["mean_s"].as_f64() > rows[0]["makespan"]["mean_s"].as_f64());
    assert_eq!(rows[1]["place"], 2);
    assert!(text.contains(&format!("placement {best} is the fastest, ")), "{text}");
    let csv = desk.read("c.csv");
    let cells: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert!(cells.iter().all(|row| row.len() == cells[0].len()), "{csv}");
    let column = |name: &str| cells[0].iter().position(|cell| *cell == name).unwrap();
    assert_eq!((cells[1][column("placement")], cells[1][column("place")], cells[2][column("place")]), (best, "1", "2"));
    assert_eq!(cells[2][column("ratio_to_best")].parse::<f64>().ok(), rows[1]["ratio_to_best"].as_f64());
    // One bar of the two, and the sign of the legend, are as dark as the best.
    assert_eq!(desk.read("c.svg").matches("fill=\"#2f6f8f\"").count(), 2);
}

#[test]
fn what_cannot_be_compared_is_listed_and_said() {
    let text = Desk::new().hayase("compare -t torus-4x4,torus-8x8 -p ring").assert().success();
    let text = text.stdout();
    assert!(!text.contains("fastest") && !text.contains("to best"), "{text}");
    let end = "Not ranked against each other, since they do not do the same: 320,000 B among 16 ranks and 1,280,000 B among 64 ranks.\n";
    assert!(text.ends_with(end), "{text}");
}

#[test]
fn a_list_of_messages_given_as_a_program_is_pointed_to_run() {
    let desk = Desk::new().file("messages.csv", MESSAGES);
    let output = desk.hayase("replay messages.csv -m myrinet").output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && stderr.contains("hayase run -t FABRIC -p messages.csv"), "{stderr}");
}

/// Stops a run after a while, and returns its output and exit code.
#[cfg(unix)]
fn stopped(desk: &Desk, words: &str, until: impl Fn(&str) -> bool) -> (String, Option<i32>) {
    use std::io::{BufRead, BufReader, Read};
    use std::process::{Command, Stdio};
    let mut child = Command::new(snapbox::cmd::cargo_bin!("hayase"))
        .args(words.split(' '))
        .current_dir(desk.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Progress tells, a line every few seconds, when something has been run.
    let mut stderr = BufReader::new(child.stderr.take().unwrap()).lines();
    let told = stderr.find(|line| until(line.as_ref().unwrap()));
    assert!(told.is_some(), "it ended by itself");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let drained = std::thread::spawn(move || stderr.for_each(drop));
    let mut stdout = String::new();
    child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
    drained.join().unwrap();
    (stdout, child.wait().unwrap().code())
}

#[cfg(unix)]
#[test]
fn an_interrupted_comparison_shows_what_was_run() {
    let desk = Desk::new();
    let words = "compare -t torus-8x8 -p all-to-all-pairwise,ring --placement random,regular --seeds 25000 -j 2 --progress always -o c.csv \
                 -o c.json -o c.svg -o c.md";
    let (text, code) = stopped(&desk, words, |line| line.contains("runs done") && !line.contains(" 0 of"));
    assert_eq!(code, Some(130), "{text}");
    assert!(text.contains("INTERRUPTED: ") && text.contains(" runs were made"), "{text}");
    assert!(text.contains("seeds run") && text.contains("all-to-all-pairwise"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&desk.read("c.json")).unwrap();
    assert_eq!(json["complete"], false);
    assert!(json["missing_runs"].as_u64().unwrap() > 0);
    assert!(desk.read("c.md").contains("INTERRUPTED") && desk.read("c.svg").contains("interrupted"));
    assert_eq!(desk.names(), ["c.json", "c.md", "c.svg"]);
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_over_seeds_says_how_many_there_were() {
    let desk = Desk::new();
    let words = "run -t torus-8x8 -p all-to-all-pairwise --placement random --seeds 4000 --progress always";
    let (text, code) = stopped(&desk, words, |line| line.contains("runs done"));
    assert_eq!(code, Some(130), "{text}");
    assert!(text.contains("INTERRUPTED: ") && text.contains(" of 4000 seeds were run\n"), "{text}");
    assert!(text.contains("makespan is "), "{text}");
}

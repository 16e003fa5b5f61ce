//! A straggler found by one command and shown in one picture: in a message file, a pattern and a recorded
//! program.

use super::{Desk, Said};

const CROSSBAR: &str = "[topology.crossbar]\nnodes = 8\nbandwidth = \"1 GB/s\"\n";

/// Ring of four ranks: rank 2 computes 4 ms at first, and all others and all later steps 1 ms.
const RING: &str = "src,dst,bytes,delay,after,id\n\
    0,1,1000000,1 ms,,a0\n1,2,1000000,1 ms,,a1\n2,3,1000000,4 ms,,a2\n3,0,1000000,1 ms,,a3\n\
    0,1,1000000,1 ms,a3,\n1,2,1000000,1 ms,a0,\n2,3,1000000,1 ms,a1,\n3,0,1000000,1 ms,a2,\n";

/// Returns the same program as recorded calls, with computation in operations.
fn trace() -> String {
    let rank = |rank: u32| {
        let (right, left) = ((rank + 1) % 4, (rank + 3) % 4);
        let first = if rank == 2 { "4e6" } else { "1e6" };
        let step = |work: &str| {
            format!("{rank} compute {work}\n{rank} send {right} 0 1000000 6\n{rank} recv {left} 0 1000000 6\n")
        };
        format!("{rank} init\n{}{}{rank} finalize\n", step(first), step("1e6"))
    };
    (0..4).map(rank).collect()
}

fn printed(desk: &Desk, words: &str) -> String {
    desk.hayase(words).assert().success().stdout()
}

/// Returns the rows below the heading about late ranks, split into words and figures.
fn late(text: &str) -> Vec<Vec<String>> {
    let table = text.split("Late ranks").nth(1).unwrap_or_else(|| panic!("{text}"));
    let rows = table.lines().skip(1).take_while(|line| !line.trim().is_empty());
    let rows = rows.map(|line| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
    rows.filter(|row| row[0].parse::<u32>().is_ok()).collect()
}

#[test]
fn a_straggler_in_a_message_file() {
    let desk = Desk::new().file("fabric.toml", CROSSBAR).file("ring.csv", RING);
    let text =
        printed(&desk, "run -t fabric.toml -p ring.csv -q -o timeline.svg -o ranks.csv -o path.csv -o activities.csv");
    // Rank 3 waits 3 ms for 2, and rank 0 as long for 3.
    let rows = late(&text);
    assert_eq!(rows[0][..2], ["2", "6.000"], "{text}");
    assert_eq!(rows.len(), 1, "{text}");
    assert!(text.contains("Critical path: 4 steps, 2 changes of rank") && text.contains("compute 71 %"), "{text}");
    assert!(text.contains("computation   7 ms        1.000 times"), "{text}");
    assert_eq!(
        desk.read("ranks.csv").lines().nth(3).unwrap(),
        "2,0.007,0.005,0,0,0.002,0,0,0.006,0.006,0,0.003,0.003,0,0"
    );
    let path = desk.read("path.csv");
    assert_eq!(path.lines().nth(1).unwrap(), "2,compute,0,0.004,0,,");
    assert_eq!(path.lines().nth(2).unwrap(), "3,network,0.004,0.005,1,5,2");
    assert_eq!(desk.read("activities.csv").lines().filter(|line| line.contains("receive wait")).count(), 2);
    let picture = desk.read("timeline.svg");
    assert!(picture.contains(">for 2<") && picture.contains("critical path") && picture.contains("computing"));
}

#[test]
fn a_late_start_in_a_pattern() {
    let desk = Desk::new().file("fabric.toml", CROSSBAR);
    let words = "run -t fabric.toml -p all-to-all-pairwise:message-jitter=5ms,injection=barrier -q --format json \
                 -o timeline.svg";
    let report: serde_json::Value = serde_json::from_str(&printed(&desk, words)).unwrap();
    let starts: Vec<f64> =
        report["ranks"].as_array().unwrap().iter().map(|rank| rank["compute_s"].as_f64().unwrap()).collect();
    let latest = starts.iter().copied().fold(0.0, f64::max);
    let late = &report["late"][0];
    assert_eq!(starts[late["rank"].as_u64().unwrap() as usize], latest);
    let all: f64 = starts.iter().map(|start| latest - start).sum();
    assert!((late["caused_s"].as_f64().unwrap() - all).abs() < 1e-12, "{late} {all}");
    assert_eq!(late["delays"].as_array().unwrap().len(), 7);
    let picture = desk.read("timeline.svg");
    assert!(picture.contains(&format!(">for {}<", late["rank"])), "{picture}");
    // Without computation and imbalance there is no such table, and its columns are empty.
    let text = printed(&desk, "run -t fabric.toml -p all-to-all-pairwise -q -o ranks.csv");
    assert!(!text.contains("Late ranks") && !text.contains("Where the time"), "{text}");
    assert_eq!(desk.read("ranks.csv").lines().count(), 9);
}

#[test]
fn a_straggler_in_a_recorded_program() {
    let desk = Desk::new().file("fabric.toml", CROSSBAR).file("ring.txt", &trace());
    let words = "replay ring.txt --flop-rate 1e9 --node ideal -t fabric.toml -q -o timeline.svg -o ranks.csv";
    let text = printed(&desk, words);
    let rows = late(&text);
    assert_eq!(rows[0][..2], ["2", "6.000"], "{text}");
    assert_eq!(rows.len(), 1, "{text}");
    assert!(desk.read("timeline.svg").contains("critical path"));
    let csv = desk.read("ranks.csv");
    assert!(
        csv.lines().next().unwrap().ends_with(
            ",caused_s,by_computing_s,by_sending_s,waited_for_s,as_it_computed_s,as_it_sent_s,as_it_waited_s"
        )
    );
    assert!(csv.lines().nth(3).unwrap().contains(",0.006,0.006,"), "{csv}");
}

#[test]
fn one_rank_no_bytes_and_a_run_that_does_not_end() {
    let desk = Desk::new().file("fabric.toml", CROSSBAR).file("one.csv", "src,dst,bytes,delay\n0,0,0,2 ms\n");
    let text = printed(&desk, "run -t fabric.toml -p one.csv -q -o ranks.csv -o timeline.svg -o path.csv");
    assert!(!text.contains("Late ranks"), "{text}");
    assert_eq!(desk.read("ranks.csv").lines().nth(1).unwrap(), "0,0.002,0.002,0,0,0,0,0,0,0,0,0,0,0,0");
    let circle = "src,dst,bytes,delay,after\n0,1,8,1 ms,1\n1,0,8,,0\n";
    let desk = desk.file("circle.csv", circle);
    let words = "run -t fabric.toml -p circle.csv -q -o circle-ranks.csv";
    desk.hayase(words).assert().code(3);
    assert!(!desk.names().iter().any(|name| name.starts_with("circle-")));
}

//! Advice that only a simulation gives: placements, algorithms of collective operations, latency, the eager
//! limit. Each rule is tested on a program with a known answer, and on a similar one that gets none. Each
//! gain equals that of `hayase replay` with the changed scenario.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{Desk, Said};
use serde_json::Value;

/// Four switches with four nodes each, and one link up from each: 1 GB/s.
const TREE: &str = "[topology.fat-tree]\ndown = [4, 4]\nup = [1, 1]\nbandwidth = \"1 GB/s\"\nlatency = \"1 us\"\n";

const RANKS: u32 = 16;

fn json(desk: &Desk, words: &str) -> Value {
    desk.hayase(words).assert().success().json()
}

/// Returns the units of the times in a text.
fn units(text: &str) -> BTreeSet<String> {
    let plain = |word: &str| word.trim_matches(|c: char| "(),;:.".contains(c)).to_owned();
    let words: Vec<String> = text.split_whitespace().map(plain).collect();
    let times = words.windows(2).filter(|pair| pair[0].parse::<f64>().is_ok());
    let units = times.map(|pair| pair[1].clone());
    units.filter(|unit| ["ps", "ns", "us", "ms", "s"].contains(&unit.as_str())).collect()
}

#[test]
fn all_times_of_a_finding_have_one_unit_in_words_and_in_the_log() {
    let cases = [
        ("ring.goal", ring(7), "-m infiniband-hdr -t ./tree.toml", "A201"),
        ("sums.tsv", sums(), "-m infiniband-hdr -t ./tree.toml --scenario doubling.toml", "A202"),
        ("chain.goal", chain(1_000), "-m myrinet", "A203"),
        ("late.goal", late(100_000), "-m myrinet", "A204"),
        ("halo.tsv", halo(), "-m myrinet", "A101"),
    ];
    for (name, text, on, rule) in cases {
        let desk = Desk::new()
            .file("tree.toml", TREE)
            .file("doubling.toml", "[collectives]\nallreduce = \"recursive-doubling\"\n")
            .file(name, &text);
        let words = desk.hayase(&format!("-q advise {name} {on} --all -o a.sarif")).assert().success().stdout();
        assert!(words.contains(rule), "{rule}: {words}");
        // Below the table, a paragraph each; its row is in the table.
        for paragraph in words.split("\n\n").filter(|text| text.starts_with('A')) {
            let id = paragraph.split(' ').next().unwrap();
            let row = words.lines().find(|line| line.split_whitespace().any(|word| word == id)).unwrap();
            assert_eq!(units(&format!("{row} {paragraph}")).len().max(1), 1, "{row}\n{paragraph}");
        }
        let log: Value = serde_json::from_str(&desk.read("a.sarif")).unwrap();
        for result in log["runs"][0]["results"].as_array().unwrap() {
            let message = result["message"]["text"].as_str().unwrap();
            assert!(units(message).len() <= 1, "{message}");
        }
    }
}

/// Returns a program of two ranks, one of which computes longer before they exchange messages, with one
/// message that has too little time.
fn halo() -> String {
    let mut text = "#hxtrace-text 1\n#title halo\n#ranks 2\n#gap_overhead_ns 0\n\
                    #columns op cpu_gap_ns peer tag bytes comm reqs site\n#site 0 a.c:1\n#site 1 a.c:2\n#site 2 a.c:3\n"
        .to_owned();
    for rank in 0..2 {
        let _ = writeln!(text, "#rank {rank}\nInit\t0\t{rank}\t0\t0\t0\t-\t-1");
        for step in 0..40 {
            let work = if rank == 0 { 300_000 } else { 1_000 + step };
            let call = if rank == 0 { "Send" } else { "Recv" };
            let _ = writeln!(text, "{call}\t{work}\t{}\t{step}\t2000\t0\t-\t{rank}", 1 - rank);
        }
        let _ = writeln!(text, "Barrier\t{}\t-1\t0\t0\t0\t-\t2", 50_000 * rank);
        let _ = writeln!(text, "Finalize\t0\t{rank}\t0\t0\t0\t-\t-1");
    }
    text
}

/// Returns the finding of a rule, if there is one.
fn finding<'a>(advice: &'a Value, rule: &str) -> Option<&'a Value> {
    advice["findings"].as_array().unwrap().iter().find(|finding| finding["rule"] == rule)
}

fn makespan(desk: &Desk, words: &str) -> f64 {
    json(desk, &format!("-q replay {words} --format json"))["makespan_s"].as_f64().unwrap()
}

/// Returns a schedule from the lines of each rank.
fn goal(ranks: impl Iterator<Item = Vec<String>>) -> String {
    let mut text = String::new();
    let mut count = 0;
    for (rank, lines) in ranks.enumerate() {
        let _ = writeln!(text, "rank {rank} {{\n{}\n}}", lines.join("\n"));
        count += 1;
    }
    format!("num_ranks {count}\n{text}")
}

/// Returns a program in which each rank sends 1 MB four times to the rank `far` further on, and receives from
/// the one `far` before.
fn ring(far: u32) -> String {
    goal((0..RANKS).map(|rank| {
        let (to, from) = ((rank + far) % RANKS, (rank + RANKS - far) % RANKS);
        let step = |k: u32| {
            let mut lines = vec![
                format!("s{k}: send 1000000b to {to} tag {k}"),
                format!("r{k}: recv 1000000b from {from} tag {k}"),
            ];
            if k > 0 {
                let last = k - 1;
                lines.extend([format!("s{k} requires r{last}"), format!("r{k} requires r{last}")]);
                lines.push(format!("s{k} requires s{last}"));
            }
            lines
        };
        (0..4).flat_map(step).collect()
    }))
}

#[test]
fn a_ring_that_is_scattered_over_an_oversubscribed_tree_is_put_together() {
    // Neighbours seven ranks apart are on other switches in every placement by rule: four messages share each link up,
    // four times.
    let desk = Desk::new().file("tree.toml", TREE).file("ring.goal", &ring(7));
    let on = "ring.goal -m infiniband-hdr -t ./tree.toml";
    let advice = json(&desk, &format!("-q advise {on} -o placement.csv --format json"));
    let found = finding(&advice, "A201").expect("a better placement");
    let (before, after) = (&advice["simulated"]["makespan_s"], &found["changed"]["makespan_s"]);
    let (before, after) = (before.as_f64().unwrap(), after.as_f64().unwrap());
    // 16 MB over one link of 1 GB/s; a MB four times where only one message leaves each switch.
    assert!((before / 16e-3 - 1.0).abs() < 0.02 && (after / 4e-3 - 1.0).abs() < 0.02, "{before} {after}");
    assert_eq!(makespan(&desk, on), before);
    assert_eq!(makespan(&desk, &format!("{on} --placement placement.csv")), after);
    let nodes: Vec<u32> = desk
        .read("placement.csv")
        .lines()
        .skip(1)
        .map(|line| line.split_once(',').unwrap().1.parse().unwrap())
        .collect();
    let crossing = (0..RANKS).filter(|&rank| nodes[rank as usize] / 4 != nodes[((rank + 7) % RANKS) as usize] / 4);
    assert_eq!(crossing.count(), 4, "one way out of each switch is the least: {nodes:?}");
}

#[test]
fn a_ring_that_is_in_order_already_stays() {
    let desk = Desk::new().file("tree.toml", TREE).file("ring.goal", &ring(1));
    let words = "ring.goal -m infiniband-hdr -t ./tree.toml";
    assert!(finding(&json(&desk, &format!("-q advise {words} --format json")), "A201").is_none());
    // A placement file scatters the ranks; the advice restores the order.
    let rows: String = (0..RANKS).map(|rank| format!("{rank},{}\n", rank % 4 * 4 + rank / 4)).collect();
    let desk = desk.file("scattered.csv", &format!("rank,node\n{rows}"));
    let advice = json(&desk, &format!("-q advise {words} --placement scattered.csv --format json"));
    let gain = finding(&advice, "A201").unwrap()["gain_s"].as_f64().unwrap();
    assert!((gain / 12e-3 - 1.0).abs() < 0.02, "{gain}");
}

/// Returns a program with three reductions of 4 MB.
fn sums() -> String {
    let mut text = format!(
        "#hxtrace-text 1\n#title sums\n#ranks {RANKS}\n#gap_overhead_ns 0\n\
         #columns op cpu_gap_ns peer tag bytes comm reqs site\n#site 0 solve.c:10\n"
    );
    for rank in 0..RANKS {
        let _ = writeln!(text, "#rank {rank}\nInit\t0\t{rank}\t0\t0\t0\t-\t-1");
        for _ in 0..3 {
            text += "Allreduce\t10000\t-1\t0\t4000000\t0\t-\t0\n";
        }
        let _ = writeln!(text, "Finalize\t0\t{rank}\t0\t0\t0\t-\t-1");
    }
    text
}

#[test]
fn a_large_reduction_whose_partners_are_behind_one_link_goes_round_a_ring() {
    let with = |name: &str| format!("[collectives]\nallreduce = \"{name}\"\n");
    let desk = Desk::new()
        .file("tree.toml", TREE)
        .file("sums.tsv", &sums())
        .file("doubling.toml", &with("recursive-doubling"))
        .file("ring.toml", &with("ring"));
    let words = "sums.tsv -m infiniband-hdr -t ./tree.toml --scenario";
    let advice = json(&desk, &format!("-q advise {words} doubling.toml --format json"));
    let found = finding(&advice, "A202").expect("a better algorithm");
    let (before, after) = (&advice["simulated"]["makespan_s"], &found["changed"]["makespan_s"]);
    let (before, after) = (before.as_f64().unwrap(), after.as_f64().unwrap());
    // Doubling: 4 MB twice within a switch, twice with four on one link. A ring: 15/16 of 4 MB twice, one on each link.
    // Request, answer and data of the farthest pair take 4 us each in every step.
    let closed = (3.0 * ((2.0 + 2.0 * 4.0) * 4e-3 + 4.0 * 12e-6), 3.0 * (30.0 / 16.0 * 4e-3 + 30.0 * 12e-6));
    assert!((before / closed.0 - 1.0).abs() < 0.01 && (after / closed.1 - 1.0).abs() < 0.01, "{before} {after}");
    assert_eq!(makespan(&desk, &format!("{words} doubling.toml")), before);
    assert_eq!(makespan(&desk, &format!("{words} ring.toml")), after);
    assert_eq!(found["places"][0]["location"]["line"], 10);
    let text = found["text"].to_string();
    // MPICH 4.0 has no ring.
    assert!(text.contains("--mca coll_tuned_allreduce_algorithm 4") && !text.contains("MPICH"), "{text}");

    let advice = json(&desk, &format!("-q advise {words} ring.toml --format json"));
    assert!(finding(&advice, "A202").is_none(), "the best algorithm is not advised against");
}

/// Returns a schedule in which a small message goes from rank to rank; each computes `calc` \[ns\] before it sends.
fn chain(calc: u64) -> String {
    goal((0..RANKS).map(|rank| {
        let mut lines = vec![format!("c: calc {calc}")];
        if rank > 0 {
            lines.extend([format!("r: recv 8b from {}", rank - 1), "c requires r".to_owned()]);
        }
        if rank + 1 < RANKS {
            lines.extend([format!("s: send 8b to {}", rank + 1), "s requires c".to_owned()]);
        }
        lines
    }))
}

#[test]
fn a_chain_of_small_messages_is_latency_unless_it_computes() {
    let desk = Desk::new().file("chain.goal", &chain(1_000)).file("work.goal", &chain(1_000_000));
    let advice = json(&desk, "-q advise chain.goal -m myrinet --format json");
    let found = finding(&advice, "A203").expect("latency");
    assert_eq!(found["occurrences"], 15, "every message is on the path");
    // All of the path but 16 us of computation.
    let (path, at_stake) = (advice["simulated"]["makespan_s"].as_f64().unwrap(), found["time_ns"].as_f64().unwrap());
    assert!((path - 16e-6 - at_stake * 1e-9).abs() < 1e-8, "{path} {at_stake}");
    assert!(finding(&json(&desk, "-q advise work.goal -m myrinet --format json"), "A203").is_none());
}

/// Returns a schedule: rank 0 sends `bytes` and computes 10 ms; rank 1 computes 10 ms and receives.
fn late(bytes: u64) -> String {
    let ranks = [
        vec![format!("s: send {bytes}b to 1"), "c: calc 10000000".into(), "c requires s".into()],
        vec!["c: calc 10000000".into(), format!("r: recv {bytes}b from 0"), "r requires c".into()],
    ];
    goal(ranks.into_iter())
}

#[test]
fn a_message_that_waits_for_its_receiver_is_worth_a_larger_limit() {
    let desk = Desk::new().file("late.goal", &late(100_000)).file("short.goal", &late(8_000));
    let advice = json(&desk, "-q advise late.goal -m myrinet --format json");
    let found = finding(&advice, "A204").expect("a wait");
    let gain = found["gain_s"].as_f64().unwrap();
    assert!((gain / 10e-3 - 1.0).abs() < 0.01, "rank 0 computes while rank 1 does: {gain}");
    let eager = makespan(&desk, "late.goal -m myrinet --set node.loggps.S=100000B");
    assert_eq!(found["changed"]["makespan_s"].as_f64().unwrap(), eager);
    assert!(finding(&json(&desk, "-q advise short.goal -m myrinet --format json"), "A204").is_none());
}

#[test]
fn what_is_not_worth_it_is_counted_and_shown_when_all_is_asked_for() {
    // A larger limit makes the ring slower: the messages would be copied by processors.
    let desk = Desk::new().file("tree.toml", TREE).file("ring.goal", &ring(1));
    let words = "-q advise ring.goal -m infiniband-hdr -t ./tree.toml --format json";
    let (some, all) = (json(&desk, words), json(&desk, &format!("{words} --all")));
    let count = |advice: &Value| advice["findings"].as_array().unwrap().len() as u64;
    assert!(some["hidden"].as_u64().unwrap() > 0 && all["hidden"] == 0);
    let left = some["hidden"].as_u64().unwrap() + some["untried"].as_u64().unwrap();
    assert_eq!((count(&some) + left, &all["untried"]), (count(&all), &0.into()));
    assert!(some["notes"].to_string().contains("--all shows them"));
    let worth = |finding: &Value| finding["gain_s"].as_f64().is_none_or(|gain| gain > 0.0);
    assert!(some["findings"].as_array().unwrap().iter().all(worth));
}

//! Late ranks: the same straggler in a message file, in a pattern and in a program, with answers computed by
//! hand.

use std::fmt::Write;
use std::fs;

use hayase::record::PathKind;
use hayase::report::replay::LateRank;
use hayase::report::{RanksReport, Report};
use hayase::rng::Stream;
use hayase::simulation::{Outcome, PatternOutcome};
use hayase::units::Time;
use hayase::{Loader, RunOptions};

/// Crossbar on which messages of 1 MB take 1 ms, without contention between different pairs.
const CROSSBAR: &str = "[topology.crossbar]\nnodes = 8\nbandwidth = \"1 GB/s\"\n";

/// A ring of four: each rank computes 1 ms and sends to the right, and once more when the left one's message
/// has arrived. Rank 2 first computes 3 ms longer.
const RING: &str = "src,dst,bytes,delay,after,id\n\
    0,1,1000000,1 ms,,a0\n1,2,1000000,1 ms,,a1\n2,3,1000000,4 ms,,a2\n3,0,1000000,1 ms,,a3\n\
    0,1,1000000,1 ms,a3,\n1,2,1000000,1 ms,a0,\n2,3,1000000,1 ms,a1,\n3,0,1000000,1 ms,a2,\n";

fn run(text: &str) -> PatternOutcome {
    let scenario = Loader::new().text("run.toml", text).load().unwrap_or_else(|invalid| panic!("{invalid}"));
    match scenario.run(RunOptions { late: true, link_use: true, ..RunOptions::default() }) {
        Outcome::Pattern(outcome) => *outcome,
        other => panic!("{other:?}"),
    }
}

/// Returns a scenario of these messages, in a folder that lasts as long as the test.
fn of_messages(folder: &tempfile::TempDir, csv: &str, rest: &str) -> String {
    let path = folder.path().join("messages.csv");
    fs::write(&path, csv).unwrap();
    format!("{CROSSBAR}[workload.file]\npath = \"{}\"\n{rest}", path.display().to_string().replace('\\', "/"))
}

fn ranks(report: &Report) -> &RanksReport {
    report.ranks.as_ref().unwrap()
}

fn ms(seconds: f64) -> f64 {
    (seconds * 1e9).round() / 1e6
}

/// Returns the waits caused by a rank: rank, by its computing \[ms\], the ranks delayed by it, waits for it,
/// and the part of these while it waited itself \[ms\].
fn late_row(late: &LateRank) -> (u32, f64, Vec<(u32, f64)>, f64, f64) {
    let delays = late.delays.iter().map(|delayed| (delayed.rank, ms(delayed.time_s))).collect();
    (late.rank, ms(late.by_computing_s), delays, ms(late.waited_for_s), ms(late.as_it_waited_s))
}

#[test]
fn a_straggler_in_a_message_file_is_found_and_whom_it_delays() {
    let folder = tempfile::tempdir().unwrap();
    let outcome = run(&of_messages(&folder, RING, ""));
    let report = &outcome.report;
    assert_eq!(ms(report.head.makespan_s), 7.0);
    let of = ranks(report);
    // 3 waits from 2 to 5 ms for 2; it continues 3 ms later than 0, which waits from 4 to 7 ms for it.
    assert_eq!(late_row(&of.late[0]), (2, 6.0, vec![(0, 3.0), (3, 3.0)], 3.0, 0.0));
    assert_eq!(late_row(&of.late[1]), (3, 0.0, vec![], 3.0, 3.0));
    assert_eq!(of.late.len(), 2);
    let times: Vec<_> =
        of.ranks.iter().map(|rank| [rank.compute_s, rank.send_wait_s, rank.recv_wait_s].map(ms)).collect();
    assert_eq!(times, [[2.0, 2.0, 3.0], [2.0, 2.0, 0.0], [5.0, 2.0, 0.0], [2.0, 2.0, 3.0]]);
    assert_eq!(of.ranks.iter().map(|rank| ms(rank.end_s)).collect::<Vec<_>>(), [7.0, 4.0, 7.0, 7.0]);
    // Without a gap from the straggler's computation to the end.
    let path = outcome.path.as_ref().unwrap();
    let steps: Vec<_> = path.iter().map(|step| (step.kind.name(), step.rank.0, ms(step.end.seconds()))).collect();
    assert_eq!(steps, [("compute", 2, 4.0), ("network", 3, 5.0), ("compute", 3, 6.0), ("network", 0, 7.0)]);
    let critical = of.critical_path.as_ref().unwrap();
    assert_eq!(critical.operations[0].operation.as_deref(), Some("message 0 to rank 3, 1 MB"));
    // The bound of computation: 5 ms of delays and two messages.
    assert_eq!(report.bounds.computation_s.map(ms), Some(7.0));
    assert_eq!(report.bounds.path_s.map(ms), Some(7.0));
}

#[test]
fn the_same_times_whoever_looks_on() {
    let folder = tempfile::tempdir().unwrap();
    let rules = ["queue", "all", "window=2", "sendrecv", "barrier", "left"];
    let rules = rules.map(|rule| format!("injection = \"{rule}\"\n"));
    for rest in rules.into_iter().chain(["message-jitter = \"3 ms\"\n".to_owned()]) {
        for transport in ["", "[transport.packet]\nmodel = \"oq\"\n", "[transport.contention-free]\n"] {
            let text = of_messages(&folder, RING, &rest) + transport;
            let seen = run(&text).report;
            let scenario = Loader::new().text("run.toml", text).load().unwrap();
            let plain = scenario.run(RunOptions::default()).summary();
            assert_eq!((plain.fingerprint, plain.makespan_s), (seen.head.fingerprint.clone(), seen.head.makespan_s));
            let of = ranks(&seen);
            let last = of.ranks.iter().map(|rank| rank.end_s).fold(0.0, f64::max);
            assert_eq!(last, seen.head.makespan_s, "{rest}{transport}");
            for rank in &of.ranks {
                let spent = rank.compute_s + rank.send_wait_s + rank.recv_wait_s;
                assert!((spent - rank.end_s).abs() <= 1e-12 * last, "{rest}{transport}: {rank:?}");
            }
        }
    }
}

#[test]
fn whatever_is_sent_spans_and_path_have_no_gap() {
    let folder = tempfile::tempdir().unwrap();
    for seed in 0..30_u64 {
        let mut draw = Stream::new(seed, "messages");
        let ranks_ = [2, 3, 7, 8][draw.below(4) as usize];
        let mut csv = "src,dst,bytes,delay,after,id\n".to_owned();
        for row in 0..draw.below(80) + 1 {
            let (src, dst) = (draw.below(ranks_), draw.below(ranks_));
            let (bytes, delay) = (draw.below(3) * 500_000, draw.below(3) * draw.below(2000));
            // After an earlier row, so that no cycle of waits arises.
            let after = if row > 0 && draw.below(2) > 0 { draw.below(row).to_string() } else { String::new() };
            let after = if after.is_empty() { after } else { format!("m{after}") };
            let _ = writeln!(csv, "{src},{dst},{bytes},{delay} us,{after},m{row}");
        }
        let rule = ["queue", "all", "window=3", "left"][draw.below(4) as usize];
        let outcome = run(&of_messages(&folder, &csv, &format!("injection = \"{rule}\"\n")));
        let report = &outcome.report;
        let makespan = report.head.makespan_s;
        let of = ranks(report);
        for rank in &of.ranks {
            let spent = rank.compute_s + rank.send_wait_s + rank.recv_wait_s;
            assert!((spent - rank.end_s).abs() <= 1e-12, "seed {seed}: {rank:?}");
        }
        let path = outcome.path.as_ref().unwrap();
        let mut now = Time::ZERO;
        for step in path {
            assert_eq!(step.begin, now, "seed {seed}: {path:?}");
            now = step.end;
        }
        assert_eq!(now.seconds(), makespan, "seed {seed}");
        // The waits attributed to ranks are part of all waits, and none is counted twice.
        let waited: f64 = of.ranks.iter().map(|rank| rank.recv_wait_s).sum();
        let caused: f64 = of.late.iter().map(|late| late.caused_s).sum();
        assert!(caused <= waited + 1e-12, "seed {seed}: {caused} of {waited}");
        for bound in [report.bounds.computation_s, report.bounds.path_s].into_iter().flatten() {
            assert!(bound <= makespan * (1.0 + 1e-12), "seed {seed}: {bound} {makespan}");
        }
    }
}

#[test]
fn in_a_pattern_with_barriers_everybody_waits_for_the_last() {
    // Rank r starts o_r late and sends for 1 ms; the barrier opens 1 ms after the last start.
    let text = format!(
        "{CROSSBAR}[workload.ring]\nsize = \"1 MB\"\nranks = 7\nrounds = 1\ninjection = \"barrier\"\n\
         message-jitter = \"5 ms\"\n"
    );
    let outcome = run(&text);
    let of = ranks(&outcome.report);
    let starts: Vec<f64> = of.ranks.iter().map(|rank| rank.compute_s).collect();
    let (last, late) = (0..).zip(&starts).max_by(|a, b| a.1.total_cmp(b.1)).unwrap();
    // In a ring that goes around once, a rank finally waits only for its left neighbour.
    let left = |rank: usize| starts[(rank + 6) % 7];
    let expected: f64 = (0..7).map(|rank| (left(rank) - starts[rank]).max(0.0)).sum();
    let caused: f64 = of.late.iter().map(|late| late.by_computing_s).sum();
    assert!((caused - expected).abs() < 1e-12, "{caused} {expected}");
    assert!(of.late.iter().any(|row| row.rank == last as u32) && *late > 0.0);
}

#[test]
fn a_late_start_in_a_pattern_of_many_steps_delays_all_by_as_much() {
    // An all-to-all in steps with barriers. After the first step all ranks continue together, at o_max + 1
    // ms, and none is late any more.
    for ranks_ in [2_u32, 5, 8] {
        let text = format!(
            "{CROSSBAR}[workload.all-to-all]\nalgorithm = \"simple-spread\"\nsize = \"1 MB\"\nranks = {ranks_}\n\
             injection = \"barrier\"\nmessage-jitter = \"5 ms\"\n"
        );
        let outcome = run(&text);
        let of = ranks(&outcome.report);
        let starts: Vec<f64> = of.ranks.iter().map(|rank| rank.compute_s).collect();
        let (last, latest) = (0_u32..).zip(&starts).max_by(|a, b| a.1.total_cmp(b.1)).unwrap();
        let expected: f64 = starts.iter().map(|start| latest - start).sum();
        let row = &of.late[0];
        assert_eq!(row.rank, last);
        if ranks_ > 2 {
            assert!((row.by_computing_s - expected).abs() < 1e-12, "{row:?} {expected}");
            assert_eq!(row.delays.len(), ranks_ as usize - 1);
        }
        assert!((outcome.report.head.makespan_s - latest - f64::from(ranks_ - 1) * 1e-3).abs() < 1e-12);
        let path = outcome.path.unwrap();
        assert!(path[0].kind.name() == "compute" && path[0].rank.0 == last);
        let length: Time = path.iter().map(|step| step.end - step.begin).sum();
        assert!((length.seconds() - outcome.report.head.makespan_s).abs() < 1e-12);
        assert!(path.iter().all(|step| matches!(step.kind.name(), "compute" | "network" | "send wait")), "{path:?}");
    }
}

#[test]
fn balanced_work_has_nobody_who_is_late() {
    for pattern in [
        "allreduce = { algorithm = \"ring\", size = \"8 MB\", ranks = 8 }",
        "all-to-all = { algorithm = \"pairwise\", size = \"1 MB\", ranks = 8 }",
        "allgather = { algorithm = \"ring\", size = \"1 MB\", ranks = 7 }",
        "all-to-all = { algorithm = \"pairwise\", size = \"0 B\", ranks = 8 }",
        "all-to-all = { algorithm = \"linear\", size = \"1 MB\", ranks = 1 }",
    ] {
        let outcome = run(&format!("workload.{pattern}\n{CROSSBAR}"));
        let of = ranks(&outcome.report);
        assert!(of.late.iter().all(|late| late.caused_s < 1e-12), "{pattern}: {:?}", of.late);
        let path = outcome.path.as_ref().unwrap();
        let length: Time = path.iter().map(|step| step.end - step.begin).sum();
        assert!((length.seconds() - outcome.report.head.makespan_s).abs() < 1e-12, "{pattern}");
        let sends = |kind: PathKind| matches!(kind.name(), "network" | "send wait");
        assert!(path.iter().all(|step| sends(step.kind)), "{pattern}: {path:?}");
    }
}

#[test]
fn a_rank_that_sends_more_than_others_is_late_by_its_sending() {
    // 0 sends 3 ms to 2 and then to 1, which has sent 1 ms to 3: 1 waits 3 ms, of which 1 ms is for its own
    // message.
    let folder = tempfile::tempdir().unwrap();
    let csv = "src,dst,bytes\n0,2,3000000\n0,1,1000000\n1,3,1000000\n";
    let outcome = run(&of_messages(&folder, csv, ""));
    let late = &ranks(&outcome.report).late;
    let of = |rank: u32| late.iter().find(|row| row.rank == rank).unwrap();
    // 2 waits only for a message under way.
    assert_eq!((ms(of(0).by_computing_s), ms(of(0).waited_for_s)), (0.0, 3.0 + 3.0));
    assert_eq!(ms(of(0).by_sending_s), 2.0);
}

#[test]
fn a_straggler_in_a_program_is_found_through_the_ranks_that_it_holds_up() {
    // The ring as a trace: sends cost nothing, so ranks also wait for messages under way. 3 waits 4 ms for 2,
    // 1 ms of them with the message under way; 0 waits as long for 3.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ring.txt");
    let mut trace = String::new();
    for rank in 0..4 {
        let (right, left) = ((rank + 1) % 4, (rank + 3) % 4);
        let first = if rank == 2 { "4e6" } else { "1e6" };
        trace += &format!("{rank} init\n{rank} compute {first}\n{rank} send {right} 0 1000000 6\n");
        trace += &format!("{rank} recv {left} 0 1000000 6\n{rank} compute 1e6\n{rank} send {right} 0 1000000 6\n");
        trace += &format!("{rank} recv {left} 0 1000000 6\n{rank} finalize\n");
    }
    fs::write(&path, trace).unwrap();
    let name = path.display().to_string().replace('\\', "/");
    let text = format!("{CROSSBAR}[workload.trace]\npath = \"{name}\"\nflop-rate = 1e9\n");
    let scenario = Loader::new().text("run.toml", text).load().unwrap_or_else(|invalid| panic!("{invalid}"));
    let Outcome::Program(outcome) = scenario.run(RunOptions { late: true, ..RunOptions::default() }) else {
        panic!("a program");
    };
    let late = &outcome.report.late;
    assert_eq!(ms(outcome.report.head.makespan_s), 7.0);
    assert_eq!(late_row(&late[0]), (2, 6.0, vec![(0, 3.0), (3, 3.0)], 4.0, 0.0));
    assert!(late[1..].iter().all(|row| row.caused_s < 1e-12), "{late:?}");
    // Nothing is computed without a request.
    let Outcome::Program(outcome) = scenario.run(RunOptions::default()) else { panic!("a program") };
    assert!(outcome.report.late.is_empty());
}

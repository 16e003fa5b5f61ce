//! Flaws of a recording: every verb that uses it reports them in a line, and in the files that it writes.

use std::fs;

use hayase_trace::{Call, Event, Header, Site, Writer};
use serde_json::Value;

use super::Desk;

/// Flaws of the stream of rank 1.
#[derive(Clone, Copy, Default)]
struct Wrong {
    /// Number of calls of rank 1 that were not recorded.
    lost: u64,
    notes: &'static [(&'static str, &'static str)],
    /// Its end is missing.
    cut: bool,
    /// The stream is missing.
    missing: bool,
    /// Computation is measured in real time.
    wall: bool,
    /// Rank 0 sends one message more.
    stray: bool,
}

/// Writes a recording `run` of ten messages from rank 0 to rank 1 and back.
fn record(desk: &Desk, wrong: Wrong) {
    let folder = desk.path().join("run");
    fs::create_dir_all(&folder).unwrap();
    for rank in 0..2 {
        let path = folder.join(format!("rank-{rank:05}.hyt"));
        if rank == 1 && wrong.missing {
            continue;
        }
        let clocks = if wrong.wall { "CLOCK_MONOTONIC" } else { "CLOCK_MONOTONIC, CLOCK_THREAD_CPUTIME_ID" };
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file, &Header::new(rank, 2).note("clock-source", clocks)).unwrap();
        writer.new_site(0, &Site { address: 16, name: "ring.c:7 (main)".into(), callers: Vec::new() });
        let mut now = 0;
        let mut event = |call, peer| {
            now += 2000;
            let event = Event { peer, bytes: 8, cpu: Some(1000), site: 1, ..Event::new(call, now - 1000, now) };
            writer.event(&event).unwrap();
        };
        event(Call::Init, Event::NOBODY);
        let other = 1 - rank as i32;
        let calls = if rank == 0 { [Call::Send, Call::Recv] } else { [Call::Recv, Call::Send] };
        for _ in 0..10 {
            calls.into_iter().for_each(|call| event(call, other));
        }
        if rank == 0 && wrong.stray {
            event(Call::Send, other);
        }
        event(Call::Finalize, Event::NOBODY);
        for (name, text) in wrong.notes.iter().filter(|_| rank == 1) {
            writer.note(name, text.as_bytes()).unwrap();
        }
        writer.finish_with_lost(if rank == 1 { wrong.lost } else { 0 }).unwrap();
        if rank == 1 && wrong.cut {
            file.truncate(file.len() - 4);
        }
        fs::write(path, file).unwrap();
    }
}

/// Commands that use a trace, with a JSON output.
const VERBS: [&str; 7] = [
    "trace info run --format json",
    "trace sites run --format json",
    "trace convert run -o copy.hyt",
    "program fold run -o x.prog -o x.comp --format json",
    "replay run -m myrinet --format json",
    "whatif run -m myrinet --vary L=1us --format json",
    "advise run -m myrinet --format json",
];
/// Commands that use data sets made from a trace.
const VERBS_OF_DATA: [&str; 4] = [
    "program show x.prog --computation x.comp",
    "program extend x.prog --loop L1 --iterations 20 -o y.prog",
    "predict --program x.prog --computation x.comp -m myrinet --format json",
    "trace info copy.hyt --format json",
];

fn run(desk: &Desk, words: &str) -> (i32, String, String) {
    let output = desk.hayase(words).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

/// Checks that every command reports the defect once on standard error and in its JSON, and exits with code 1
/// under `--strict`.
fn all_say(wrong: Wrong, what: &str, options: &str) {
    let desk = Desk::new();
    record(&desk, wrong);
    for words in VERBS.iter().chain(&VERBS_OF_DATA) {
        // Data sets made from the trace are complete in form.
        let words = format!("{words}{}", if words.contains("run") { options } else { "" });
        let (code, out, error) = run(&desk, &words);
        assert_eq!(code, 0, "{words}: {error}");
        let said: Vec<&str> = error.lines().filter(|line| line.contains("is incomplete")).collect();
        assert!(said.len() == 1 && said[0].starts_with("warning: `") && said[0].contains(what), "{words}: {error}");
        assert!(said[0].contains(": ") && said[0].contains("never end"), "what follows: {error}");
        if words.contains("json") {
            let report: Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{words}: {error}: {out}"));
            assert!(report["incomplete"][0].as_str().unwrap().contains(what), "{words}: {}", report["incomplete"]);
        }
        let (code, _, error) = run(&desk, &format!("{words} --strict"));
        assert!(code == 1 && error.contains(what), "{words} --strict: {code}: {error}");
    }
}

#[test]
fn a_whole_recording_passes_in_silence() {
    let desk = Desk::new();
    let notes = &[("scheduling", "0 0 0 0 1 start\n1000000000 900000000 20000000 3 20 end\n")];
    record(&desk, Wrong { notes, ..Wrong::default() });
    for words in VERBS.iter().chain(&VERBS_OF_DATA) {
        let (code, out, error) = run(&desk, &format!("{words} --strict"));
        assert!(code == 0 && !error.contains("warning"), "{words}: {error}");
        assert!(!out.contains("incomplete") && !out.contains("lack_of_cores"), "{words}: {out}");
    }
}

#[test]
fn calls_that_were_lost_are_named_by_every_verb() {
    all_say(Wrong { lost: 72, ..Wrong::default() }, "72 calls of rank 1 were not recorded", "");
}

#[test]
fn a_run_that_was_killed_is_named_by_every_verb() {
    let notes = &[("ended", "killed by SIGTERM")];
    all_say(Wrong { notes, ..Wrong::default() }, "the calls of rank 1 end early (killed by SIGTERM)", "");
}

#[test]
fn a_stream_that_is_cut_off_is_used_when_asked_for_and_named() {
    all_say(Wrong { cut: true, ..Wrong::default() }, "rank 1", " --truncated");
}

#[test]
fn a_rank_that_is_missing_is_named_where_it_is_no_mistake() {
    let desk = Desk::new();
    record(&desk, Wrong { missing: true, ..Wrong::default() });
    for words in &VERBS[1..3] {
        let (code, _, error) = run(&desk, words);
        assert!(code == 0 && error.contains("1 of 2 ranks are missing (rank 1)"), "{words}: {error}");
        assert_eq!(run(&desk, &format!("{words} --strict")).0, 1, "{words}");
    }
    for words in &VERBS[3..] {
        let (code, _, error) = run(&desk, words);
        assert!(code == 2 && error.contains("rank 1 is missing"), "{words}: {error}");
    }
}

#[test]
fn a_lack_of_cores_is_said_with_what_it_does_to_times() {
    let notes = &[("scheduling", "0 0 0 0 1 start\nnonsense\n1000000000 500000000 410000000 3 20 end\n")];
    for (wall, follows) in [(false, "block times leave it out and hold"), (true, "block times are too long")] {
        let desk = Desk::new();
        record(&desk, Wrong { notes, wall, ..Wrong::default() });
        for words in VERBS.iter().chain(&VERBS_OF_DATA).filter(|words| !words.contains("extend")) {
            // That does not make it incomplete.
            let (code, out, error) = run(&desk, &format!("{words} --strict"));
            let said: Vec<&str> = error.lines().filter(|line| line.contains("lacked a core")).collect();
            assert!(code == 0 && said.len() == 1, "{words}: {error}");
            assert!(
                said[0].contains("rank 1 lacked a core for 41 % of the run: ") && said[0].contains(follows),
                "{error}"
            );
            assert!(said[0].contains("--token"), "{error}");
            if words.contains("json") {
                let report: Value = serde_json::from_str(&out).unwrap();
                assert!(report["lack_of_cores"][0].as_str().unwrap().contains("41 %"), "{words}");
            }
        }
    }
}

#[test]
fn time_that_was_neither_computation_nor_mpi_is_said_by_every_verb_with_what_to_do() {
    let notes = &[("outside", "run 501000000\nblocked 500000000\ntimes 10\nfiles 0\npolled 0\n")];
    let desk = Desk::new();
    record(&desk, Wrong { notes, ..Wrong::default() });
    for words in VERBS.iter().chain(&VERBS_OF_DATA).filter(|words| !words.contains("extend")) {
        let (code, out, error) = run(&desk, &format!("{words} --strict"));
        let said: Vec<&str> = error.lines().filter(|line| line.contains("outside of MPI")).collect();
        assert!(code == 0 && said.len() == 1, "{words}: {error}");
        assert!(
            said[0].contains("rank 1 was blocked outside of MPI for 100 % of the run, 10 times (asleep"),
            "{error}"
        );
        assert!(said[0].ends_with("predictions are too short by as much; record with --clock auto"), "{error}");
        if words.contains("json") {
            let report: Value = serde_json::from_str(&out).unwrap();
            assert!(report["outside"][0].as_str().unwrap().contains("blocked"), "{words}");
        }
    }
}

#[test]
fn a_message_that_is_never_received_is_said_by_every_verb_and_is_no_mistake() {
    let desk = Desk::new();
    record(&desk, Wrong { stray: true, ..Wrong::default() });
    for words in VERBS.iter().chain(&VERBS_OF_DATA).chain(&["check run"]) {
        let (code, _, error) = run(&desk, words);
        let said: Vec<&str> = error.lines().filter(|line| line.contains("never received")).collect();
        // Commands that do not match messages.
        let looks = !["sites", "show", "convert", "extend"].iter().any(|verb| words.contains(verb));
        assert!(code == 0 && said.len() == usize::from(looks), "{words}: {code} {error}");
        let says =
            |line: &&str| line.contains("`: 1 message is never received, the first ") && line.contains("to rank 1:");
        assert!(said.iter().all(says), "{words}: {error}");
    }
}

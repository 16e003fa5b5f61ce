//! Time in which a rank is neither in MPI nor on a core.

mod common;

use common::{MPIS, RunOptions, Stream, run};
use hayase_trace::{Call, Clock};

/// Returns the computation before barriers \[ns\].
fn computed(stream: &Stream) -> u64 {
    stream.events.iter().filter(|event| event.call == Call::Barrier).map(|event| event.cpu.unwrap()).sum()
}

fn noted(stream: &Stream, name: &str) -> u64 {
    let (_, note) = stream.notes.iter().find(|(name, _)| name == "outside").unwrap();
    note.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok()).unwrap()
}

#[test]
fn time_asleep_is_computation_unless_processor_time_alone_is_asked_for() {
    if !std::fs::read_to_string("/proc/thread-self/schedstat").is_ok_and(|text| !text.starts_with("0 0 0")) {
        hayase_needs::skipped("this system does not count");
        return;
    }
    for mpi in MPIS {
        for token in ["0", "1"] {
            for (clock, counts) in [("auto", true), ("cpu", false)] {
                let what = format!("{mpi}, token {token}, {clock}");
                let variables = [("HAYASE_CAPTURE_TOKEN", token), ("HAYASE_CAPTURE_CLOCK", clock)];
                let Some(run) = run(mpi, "blocked", RunOptions { ranks: 2, arguments: &[], variables: &variables })
                else {
                    continue;
                };
                run.assert_success(&what);
                let [asleep, other] = [run.stream(0), run.stream(1)];
                assert_eq!(asleep.header.as_ref().unwrap().clock, if token == "1" { Clock::Cpu } else { Clock::Wall });
                // A sleep lasts at least as long as requested. The start of a rank is before its first
                // barrier.
                assert!(noted(&asleep, "times") >= 10, "{what}: {:?}", asleep.notes);
                assert!(noted(&asleep, "blocked") >= 190_000_000, "{what}: {:?}", asleep.notes);
                assert_eq!(computed(&asleep) >= 190_000_000, counts, "{what}: {}", computed(&asleep));
                // The other rank waits within MPI.
                assert!(noted(&other, "blocked") < 190_000_000, "{what}: {:?}", other.notes);
            }
        }
    }
}

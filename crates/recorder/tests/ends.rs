//! Programs that do not end well, or not at all.

mod common;

use common::{MPIS, RunOptions, TOKEN, run};

/// Ends of programs: the argument, the reason in the trace of the rank that ends, and the number of its
/// calls.
const ENDS: [(&str, &str, usize); 8] = [
    // Init, 300 rounds, a receive that is never complete; Abort is a call itself.
    ("abort", "MPI_Abort(7)", 303),
    ("exit", "exit without MPI_Finalize", 302),
    ("_exit", "exit without MPI_Finalize", 302),
    ("SIGABRT", "killed by SIGABRT", 302),
    ("SIGSEGV", "killed by SIGSEGV", 302),
    ("SIGTERM", "killed by SIGTERM", 302),
    ("SIGFPE", "killed by SIGFPE", 302),
    ("stack", "killed by SIGSEGV", 302),
];

#[test]
fn nothing_is_lost_when_a_program_does_not_end_well() {
    for mpi in MPIS {
        for (how, note, calls) in ENDS {
            let Some(run) = run(mpi, "ends", RunOptions { ranks: 2, arguments: &[how], ..RunOptions::default() })
            else {
                continue;
            };
            assert!(!run.output.status.success(), "{mpi} {how}");
            let stream = run.stream(1);
            let said = stream.notes.iter().find(|(name, _)| name == "ended").map(|(_, text)| text.as_str());
            assert_eq!((said, stream.events.len(), stream.ended), (Some(note), calls, true), "{mpi} {how}");
            assert!(std::fs::metadata(run.path().join("rank-00001.maps")).unwrap().len() > 1000);
            // The other rank is killed at nearly the same point: a partner may be a round behind.
            let stream = run.stream(0);
            assert!(stream.ended && stream.events.len() >= 300, "{mpi} {how}: {}", stream.events.len());
        }
    }
}

#[test]
fn a_deadlock_is_found_and_named() {
    for mpi in MPIS {
        for (how, first) in [
            ("recv", "rank 0: Recv waits for a message of rank 1, tag 7, at deadlock+0x"),
            ("send", "rank 0: Send waits for rank 1 of its communicator to receive, tag 7, at deadlock+0x"),
            ("tag", "rank 0: Recv waits for a message of any rank, tag 8, at deadlock+0x"),
            ("wait", "rank 0: Wait waits for a message of rank 1, at deadlock+0x"),
            ("collective", "rank 1: Barrier waits for the other ranks of its communicator, at deadlock+0x"),
            ("end", "rank 0: has ended"),
        ] {
            let how_to = RunOptions { ranks: 3, arguments: &[how], variables: TOKEN };
            let Some(run) = run(mpi, "deadlock", how_to) else { continue };
            // The ranks end with 3; a launcher that kills the others may report that instead.
            assert!(!run.output.status.success(), "{mpi} {how}");
            let report = std::fs::read_to_string(run.path().join("deadlock")).unwrap();
            assert!(report.contains(first), "{mpi} {how}: {report}");
            let said = String::from_utf8_lossy(&run.output.stderr).into_owned();
            assert!(said.contains(first), "{mpi} {how}: {said}");
            for rank in 1..3 {
                let stream = run.stream(rank);
                assert!(stream.ended && stream.notes.contains(&("ended".into(), "deadlock".into())), "{mpi} {how}");
            }
        }
    }
}

#[test]
fn a_program_that_polls_gets_on_with_the_token() {
    for mpi in MPIS {
        let how = RunOptions { ranks: 3, arguments: &["poll"], variables: TOKEN };
        let Some(run) = run(mpi, "deadlock", how) else { continue };
        run.assert_success(mpi);
        // For any number of tests, there is one call that found nothing and one that found something.
        let stream = run.stream(0);
        let probes = stream.events.iter().filter(|event| event.call == hayase_trace::Call::Iprobe).count();
        assert!((1..=2).contains(&probes), "{mpi}: {probes}");
    }
}

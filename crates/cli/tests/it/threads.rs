//! Programs whose threads call MPI at the same time, from recording to prediction.

use std::time::Duration;

use super::{Desk, Said};
use hayase_needs::is_there;

const PROGRAM: &str = include_str!("../../../recorder/tests/programs/threads.c");

/// Commands on the recording of a program of two threads, with the expected exit codes.
const ASKED: [(&str, i32); 9] = [
    ("trace info run", 0),
    ("replay run -m shared-memory", 0),
    ("program fold run -o run.prog -o run.comp", 0),
    ("predict --program run.prog --computation run.comp -m shared-memory", 0),
    ("trace convert run -o run.hyt", 0),
    ("replay run.hyt -m shared-memory", 0),
    ("advise run -m shared-memory", 2),
    ("replay run -m loggopsim", 2),
    ("trace convert run -o run.goal", 2),
];

#[test]
fn programs_of_several_threads_are_replayed_and_predicted_and_what_cannot_refuses() {
    let desk = Desk::new().file("threads.c", PROGRAM);
    let hayase = |words: &str| {
        desk.hayase(words)
            .env("XDG_CACHE_HOME", desk.path().join("cache"))
            .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
            .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
            .timeout(Duration::from_secs(300))
    };
    for mpi in ["openmpi", "mpich"] {
        if !is_there(&format!("mpicc.{mpi}")) {
            continue;
        }
        hayase(&format!("cc --compiler mpicc.{mpi} -w -g -O1 -fopenmp -o threads threads.c")).assert().success();
        let launcher = format!("mpirun.{mpi}{} -np 2", if mpi == "openmpi" { " --oversubscribe" } else { "" });
        for how in ["pingpong 20", "requests", "openmp"] {
            let said =
                hayase(&format!("record --force -o run -- {launcher} ./threads {how}")).assert().success().stdout();
            if !said.contains(how.split(' ').next().unwrap_or_default()) {
                // This MPI does not support such threads.
                continue;
            }
            for (words, code) in ASKED {
                let assert = hayase(words).assert().code(code);
                let output = assert.get_output();
                let (stdout, stderr) =
                    (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
                if words == "trace info run" {
                    assert!(stdout.contains("threads  ") && !stdout.contains("lost  "), "{mpi} {how}: {stdout}");
                }
                if code == 2 {
                    assert!(stderr.contains("error[several-threads]"), "{mpi} {how}, {words}: {stderr}");
                }
            }
        }
        let stderr = hayase(&format!("record --force --token -o run -- {launcher} ./threads pingpong"))
            .assert()
            .code(2)
            .stderr();
        assert!(stderr.contains("error[several-threads]"), "{mpi}: {stderr}");
    }
}

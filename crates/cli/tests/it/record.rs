//! Recording: refused commands, the message if nothing is recorded, and recordings if an MPI is installed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use hayase_needs::{Need, is_there};

use super::{Desk, Said};

/// Returns the command `hayase` with its own cache folder, where the recorder is written.
fn hayase(desk: &Desk, words: &str) -> snapbox::cmd::Command {
    desk.hayase(words)
        .env("XDG_CACHE_HOME", desk.path().join("cache"))
        .env_remove("LD_PRELOAD")
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .timeout(Duration::from_secs(300))
}

/// Returns the text on standard error; the exit code must be `code`.
fn said(desk: &Desk, words: &str, code: i32) -> String {
    hayase(desk, words).assert().code(code).stderr()
}

#[test]
fn a_recording_needs_a_program_and_a_place_of_its_own() {
    let desk = Desk::new().file("thesis/chapter.txt", "");
    for (words, what) in [
        ("record -o run", "required"),
        ("record -- true", "--output"),
        ("record -o run -- ./no-such-program", "there is no program `./no-such-program`"),
        ("record -o thesis -- true", "`thesis` exists and is not a recording"),
        ("record -o thesis --force -- true", "`thesis` exists and is not a recording"),
        ("record -o run --clock moon -- true", "moon"),
        ("record -o run --stop-after 3km -- true", "a time like"),
        ("record -o run --stop-after 0 -- true", "at least one call"),
    ] {
        let text = said(&desk, words, 2);
        assert!(text.contains(what), "{words}: {text}");
    }
    assert_eq!(desk.names(), ["thesis"]);
}

#[test]
fn where_nothing_was_recorded_the_reason_is_said_and_nothing_stays() {
    let desk = Desk::new().file("job", "#!/bin/sh\ntrue\n").file("text", "hello\n");
    for name in ["job", "text"] {
        fs::set_permissions(desk.path().join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    for (words, what) in [
        ("record -o run -- true", "makes no calls of MPI"),
        ("record -o run -- ./job", "`./job` is a script for `/bin/sh`"),
    ] {
        let text = said(&desk, words, 1);
        assert!(text.contains(what), "{words}: {text}");
    }
    let text = said(&desk, "record -o run -- ./text", 2);
    assert!(text.contains("cannot start `./text`"), "{text}");
    assert_eq!(desk.names(), ["cache", "job", "text"]);
}

#[test]
fn a_static_program_is_said_to_be_one() {
    let desk = Desk::new().file("a.c", "int main(void) { return 0; }\n");
    let mut compiled = Command::new("cc");
    compiled.args(["-static", "-o", "a", "a.c"]).current_dir(desk.path()).stderr(Stdio::null());
    if !compiled.status().is_ok_and(|status| status.success()) {
        hayase_needs::missing(Need::Compilers, "there is no C compiler that links statically");
        return;
    }
    let text = said(&desk, "record -o run -- ./a", 1);
    assert!(text.contains("`./a` is statically linked"), "{text}");
    assert!(text.contains("link it again"), "{text}");
}

#[test]
fn the_recorder_is_written_for_its_owner_alone_and_once() {
    let desk = Desk::new();
    let cached = || {
        said(&desk, "record -o run -- true", 1);
        let folder = desk.path().join("cache/hayase");
        let names: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(names.len(), 1, "{names:?}");
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        (names[0].clone(), fs::metadata(&names[0]).unwrap().modified().unwrap())
    };
    assert_eq!(cached(), cached());
}

/// Program with a ring of messages, whose contents depend on its first argument.
const RING: &str = r#"#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int pass(int value, int to, int from) {
    int got = -1;
    MPI_Request request;
    MPI_Irecv(&got, 1, MPI_INT, from, 3, MPI_COMM_WORLD, &request);
    MPI_Send(&value, 1, MPI_INT, to, 3, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return got;
}

int main(int argc, char **argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int value = rank;
    for (int i = 0; i < ranks; i++)
        value = pass(value, (rank + 1) % ranks, (rank + ranks - 1) % ranks);
    if (argc > 1 && !strcmp(argv[1], "stuck"))
        MPI_Recv(&value, 1, MPI_INT, (rank + 1) % ranks, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0)
        printf("round: %d\n", value);
    MPI_Finalize();
    return argc > 1 ? atoi(argv[1]) : 0;
}
"#;

/// Returns the launchers of all installed MPIs, each with the ring compiled as `ring-NAME`.
fn launchers(desk: &Desk) -> Vec<(&'static str, String)> {
    let mut launchers = Vec::new();
    for mpi in ["openmpi", "mpich"] {
        if !is_there(&format!("mpicc.{mpi}")) {
            continue;
        }
        let mut compiler = Command::new(format!("mpicc.{mpi}"));
        compiler.args(["-g", "-O1", "-o", &format!("ring-{mpi}"), "ring.c"]).current_dir(desk.path());
        let output = compiler.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let oversubscribe = if mpi == "openmpi" { "--oversubscribe " } else { "" };
        launchers.push((mpi, format!("mpirun.{mpi} {oversubscribe}-np 3")));
    }
    launchers
}

#[test]
fn a_program_is_recorded_with_its_lines_under_every_mpi() {
    let desk = Desk::new().file("ring.c", RING);
    for (mpi, launcher) in launchers(&desk) {
        let assert = hayase(&desk, &format!("record -o {mpi} -- {launcher} ./ring-{mpi}")).assert().success();
        let output = assert.get_output();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "round: 0\n", "the program's output is all there is");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        for what in [format!("recorded into `{mpi}`"), "ranks       3".into(), "with file and line".into()] {
            assert!(text.contains(&what), "{what}: {text}");
        }
        // Init, three rounds of three, Finalize.
        assert!(text.contains("calls       33, 11 a rank"), "{text}");
        let run = desk.read(&format!("{mpi}/run.toml"));
        for what in ["hayase-run-1", "ranks = 3", "events = 33", "ended = \"exit code 0\"", "clock = \"auto\""] {
            assert!(run.contains(what), "{what}: {run}");
        }
        let sites: serde_json::Value =
            hayase(&desk, &format!("trace sites {mpi} --format json")).assert().success().json();
        let find = |call: &str| sites["sites"].as_array().unwrap().iter().find(|site| site["call"] == call).unwrap();
        for (call, line, count) in
            [("Irecv", "ring.c:9 (pass)", 9), ("Send", "ring.c:10 (pass)", 9), ("Init", "ring.c:17 (main)", 3)]
        {
            let site = find(call);
            assert_eq!(site["site"], line);
            assert_eq!((&site["count"], &site["ranks"]), (&count.into(), &3.into()));
        }
        hayase(&desk, &format!("trace info {mpi}")).assert().success();

        // A recording is replaced when that is asked for, and by nothing less than another one.
        let again = format!("-o {mpi} -- {launcher} ./ring-{mpi}");
        assert!(said(&desk, &format!("record {again}"), 2).contains("already contains a recording"));
        assert!(said(&desk, "record --force -o openmpi -- true", 1).contains("nothing was recorded"));
        assert!(desk.path().join(format!("{mpi}/rank-00002.hyt")).exists());
        let text = said(&desk, &format!("record --force {again} 7"), 1);
        assert!(text.contains("ended with exit code 7"), "{text}");
        assert!(desk.read(&format!("{mpi}/run.toml")).contains("ended = \"exit code 7\""));
    }
}

#[test]
fn a_program_that_deadlocks_is_heard_out() {
    let desk = Desk::new().file("ring.c", RING);
    for (mpi, launcher) in launchers(&desk) {
        let text = said(&desk, &format!("record --token -o {mpi} -- {launcher} ./ring-{mpi} stuck"), 3);
        assert!(text.contains("deadlocked"), "{text}");
        assert!(text.contains("ring.c:24 (main)"), "{text}");
        assert!(desk.read(&format!("{mpi}/run.toml")).contains("ended = \"deadlock\""));
    }
}

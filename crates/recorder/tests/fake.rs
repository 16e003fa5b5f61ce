//! Tests of the recorder over a fake MPI library, without any MPI on the machine.

mod common;

use std::os::unix::process::ExitStatusExt as _;
use std::process::Command;

use hayase_trace::{Call, Flags};

/// Runs the program over the fake library, with an environment variable.
fn run(variable: &str, value: &str) -> common::Run {
    let folder = tempfile::tempdir().unwrap();
    let traces = folder.path().join("run");
    std::fs::create_dir(&traces).unwrap();
    common::compile_fake("library.rs", &folder.path().join("libfakempi.so"), &[]);
    let program = folder.path().join("program");
    common::compile_fake("program.rs", &program, &["-L", folder.path().to_str().unwrap()]);
    let output = Command::new(&program)
        .env("LD_LIBRARY_PATH", folder.path())
        .env("LD_PRELOAD", common::library())
        .env("HAYASE_CAPTURE_DIR", &traces)
        .env(variable, value)
        .output()
        .unwrap();
    common::Run { folder, output }
}

#[test]
fn a_program_is_recorded_whatever_mpi_is_underneath() {
    let run = run("FAKE_MPI_SIGNAL", "0");
    run.assert_success("the program");
    let stream = run.stream(0);
    let events = &stream.events;
    assert_eq!(stream.header.as_ref().and_then(|header| header.find("mpi")), Some("MPICH 4.9.9"));
    let calls: Vec<Call> = events.iter().map(|event| event.call).collect();
    use Call::{Barrier, Finalize, Init, Irecv, Isend, Test, Waitall};
    assert_eq!(calls, [Init, Irecv, Irecv, Test, Isend, Isend, Waitall, Barrier, Finalize]);
    let (open, tagged) = (&events[1], &events[2]);
    assert_eq!((open.peer, open.tag, open.bytes, open.requests.as_slice()), (0, 7, 12, &[1][..]));
    assert_eq!(open.flags, Flags::ANY_SOURCE.and(Flags::ANY_TAG));
    assert_eq!((tagged.peer, tagged.tag, tagged.bytes, tagged.requests.as_slice()), (0, 8, 20, &[2][..]));
    assert_eq!(events[6].requests, [1, 2, 3, 4]);
    let buffer: u64 = String::from_utf8_lossy(&run.output.stdout).trim().parse().unwrap();
    assert_eq!((events[4].bytes, events[4].element, events[4].buffer), (12, 4, buffer));
}

#[test]
fn a_signal_waits_until_a_trace_that_ends_is_whole() {
    const SIGTERM: i32 = 15;
    let run = run("FAKE_MPI_SIGNAL", &SIGTERM.to_string());
    assert_eq!(run.output.status.signal(), Some(SIGTERM), "{:?}", run.output);
    let stream = run.stream(0);
    assert!(stream.ended && stream.notes.iter().all(|(name, _)| name != "ended"));
    assert_eq!(stream.events.last().map(|event| event.call), Some(Call::Finalize));
    assert!(run.path().join("rank-00000.maps").exists());
}

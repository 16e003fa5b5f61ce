//! Call paths: the recorder finds the callers that each function knows, however the compiler uses the frame
//! pointer. Without tables and frame pointers, nothing ends the program.

mod common;

use std::collections::BTreeSet;

use common::{MPIS, Run, RunOptions, run_compiled};
use hayase_trace::{Call, Event, Site};

/// Compilers with options, and true if callers can be found in their code.
const WAYS: &[(&str, bool)] = &[
    ("gcc -O0", true),
    ("gcc -O2", true),
    ("gcc -O2 -fomit-frame-pointer", true),
    ("gcc -O3 -march=native", true),
    ("gcc -O1 -fno-omit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables", true),
    ("gcc -O2 -fomit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables", false),
    ("clang -O0", true),
    ("clang -O2", true),
    ("clang -O2 -fomit-frame-pointer", true),
    ("clang -O2 -fomit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables", false),
];

const DEPTH: usize = 8;

/// Returns the sites by index, and the calls that `paths.c` makes with `wrapper`.
fn recorded(run: &Run) -> (Vec<Site>, Vec<Event>) {
    let stream = run.stream(0);
    (stream.whole_sites, stream.events.into_iter().filter(|event| event.call == Call::Send).collect())
}

/// Returns the output of the program: the tag of each call and the return addresses above it.
fn said(run: &Run) -> Vec<(i32, Vec<u64>)> {
    let text = String::from_utf8_lossy(&run.output.stdout).into_owned();
    let line = |line: &str| {
        let mut words = line.split(' ');
        let tag = words.next().unwrap().parse().unwrap();
        (tag, words.map(|word| u64::from_str_radix(word.trim_start_matches("0x"), 16).unwrap()).collect())
    };
    text.lines().map(line).collect()
}

#[test]
fn callers_are_those_that_each_function_knows() {
    for mpi in MPIS {
        for &(way, found) in WAYS {
            let how = RunOptions { ranks: 1, ..RunOptions::default() };
            let Some(run) = run_compiled(mpi, "paths", way, how) else { continue };
            run.assert_success(&format!("{mpi} {way}"));
            let (sites, events) = recorded(&run);
            let said = said(&run);
            assert_eq!((events.len(), said.len()), (29, 29), "{mpi} {way}");
            for (event, (tag, expected)) in events.iter().zip(said) {
                assert_eq!(event.tag, tag);
                let site = &sites[event.site as usize - 1];
                assert!(site.callers.len() <= DEPTH);
                if tag == 10 {
                    assert!(site.callers.is_empty(), "a stack that is not the thread's is not read");
                }
                if !found || tag == 10 {
                    continue;
                }
                let callers: Vec<u64> = site.callers.iter().map(|frame| frame.address + 1).collect();
                // The program's list ends with the caller of `main`, or of the thread's function; that caller
                // is in a library.
                let common = expected.len().min(DEPTH);
                assert_eq!(callers[..common], expected[..common], "{mpi} {way}: tag {tag}");
            }
            if found {
                // Each path to the call, as far as eight callers tell it apart, is one site, and the same in
                // every round.
                let ways: BTreeSet<(i32, u32)> = events.iter().map(|event| (event.tag, event.site)).collect();
                assert_eq!(ways.len(), 11, "{mpi} {way}: {ways:?}");
                assert_eq!(ways.iter().map(|(_, site)| site).collect::<BTreeSet<_>>().len(), 11, "{mpi} {way}");
            }
        }
    }
}

#[test]
fn as_many_callers_are_kept_as_were_asked_for() {
    for depth in ["0", "1", "3"] {
        let how = RunOptions { ranks: 1, variables: &[("HAYASE_CAPTURE_DEPTH", depth)], ..RunOptions::default() };
        let Some(run) = run_compiled(MPIS[0], "paths", "gcc -O2", how) else { return };
        run.assert_success(depth);
        let (sites, events) = recorded(&run);
        let depth: usize = depth.parse().unwrap();
        for (event, (_, expected)) in events.iter().zip(said(&run)).filter(|(_, (tag, _))| *tag != 10) {
            let callers: Vec<u64> =
                sites[event.site as usize - 1].callers.iter().map(|frame| frame.address + 1).collect();
            assert!(callers.len() <= depth);
            let common = depth.min(expected.len());
            assert_eq!(callers[..common], expected[..common]);
        }
        if depth == 0 {
            assert!(events.iter().all(|event| event.site == events[0].site), "one place without its callers");
        }
    }
}

/// Program in Python that calls MPI through `ctypes`, which every version of the interpreter has.
const PROGRAM: &str = "\
import ctypes, os, sys
mpi = ctypes.CDLL(None)
def one(n):
    mpi.MPI_Barrier(ctypes.c_int(n))
def two(n):
    one(
        n)
    # Lines
    # in between.
    mpi.MPI_Barrier(
        ctypes.c_int(n),
    )
def makes():
    for i in range(2):
        two(0x44000000)
        yield i
mpi.MPI_Init(None, None)
for i in range(3):
    list(makes())
exec(compile('one(0x44000000)', 'made \\u00fcp.py', 'exec'))
(lambda: one(0x44000000))()
mpi.MPI_Finalize()
";

#[test]
fn places_in_python_are_recorded_whatever_its_version() {
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("libfakempi.so");
    common::compile_fake("library.rs", &library, &[]);
    let program = folder.path().join("program.py");
    std::fs::write(&program, PROGRAM).unwrap();
    let interpreters = common::interpreters();
    if interpreters.is_empty() {
        hayase_needs::skipped("there is no python3 of 3.8 to 3.13");
    }
    for (interpreter, version) in interpreters {
        let run = common::run_python(&interpreter, &library, &program, &[]);
        run.assert_success(&version);
        let stream = run.stream(0);
        let places = |event: &Event| -> Vec<String> {
            let site = &stream.whole_sites[event.site as usize - 1];
            let python = site.callers.iter().filter(|frame| frame.address == 0);
            python.map(|frame| frame.name.rsplit_once('/').map_or(&*frame.name, |(_, name)| name).to_owned()).collect()
        };
        let barriers: Vec<Vec<String>> =
            stream.events.iter().filter(|event| event.call == Call::Barrier).map(places).collect();
        let one = "program.py:4 (one)";
        // A call written on several lines: older versions report the line of its last argument or of its
        // name.
        let made = |first: &str, last: u32| {
            vec![first.to_owned(), format!("program.py:{last} (makes)"), "program.py:19 (<module>)".into()]
        };
        let two = |place: &str| ["6", "7", "10", "11"].iter().any(|line| place == format!("program.py:{line} (two)"));
        for round in 0..6 {
            let (inner, outer) = (&barriers[2 * round], &barriers[2 * round + 1]);
            assert_eq!(inner[0], one, "{version}");
            assert!(two(&inner[1]), "{version}: {inner:?}");
            assert_eq!(inner[2..], made("", 15)[1..], "{version}");
            assert!(two(&outer[0]), "{version}: {outer:?}");
            assert_eq!(outer[1..], made("", 15)[1..], "{version}");
        }
        assert_eq!(barriers[12], [one, "made \u{fc}p.py:1 (<module>)", "program.py:20 (<module>)"], "{version}");
        assert_eq!(barriers[13], [one, "program.py:21 (<lambda>)", "program.py:21 (<module>)"], "{version}");
        assert_eq!(barriers.len(), 14);
        let init = stream.events.iter().find(|event| event.call == Call::Init).map(places);
        assert_eq!(init.unwrap(), ["program.py:17 (<module>)"], "{version}");
    }
}

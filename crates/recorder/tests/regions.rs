//! Regions of real programs: the marks of the program are in the trace, and nothing else changes.

mod common;

use common::{MPIS, RunOptions, TOKEN, run};
use hayase_trace::Call;

/// Largest ratio between the cost of a look at the clock and its measured cost.
const SLACK: u64 = 8;

#[test]
fn borders_stand_between_the_calls_where_the_program_set_them() {
    for mpi in MPIS {
        for variables in [&[], TOKEN, &[("HAYASE_CAPTURE_CLOCK", "wall")]] {
            let Some(run) = run(mpi, "regions", RunOptions { variables, ranks: 3, ..RunOptions::default() }) else {
                continue;
            };
            run.assert_success(mpi);
            for rank in 0..3 {
                let stream = run.stream(rank);
                let wanted: &[&str] = match rank {
                    1 => &["iteration", "solve", "send", "pcontrol", "pcontrol-7", "never begun", "never ended"],
                    _ => &["iteration", "solve", "send", "pcontrol", "pcontrol-7", "never ended"],
                };
                assert_eq!(stream.regions, wanted, "{mpi} {variables:?}");
                let name = |mark: &hayase_trace::Mark| stream.regions[mark.region as usize].as_str();
                // Place of each border, by the call that comes next.
                let borders: Vec<(&str, bool, Call)> = stream
                    .marks
                    .iter()
                    .map(|(before, mark)| (name(mark), mark.begins, stream.events[*before].call))
                    .collect();
                use Call::{Barrier, Finalize, Irecv, Send, Wait};
                let iteration = |next| {
                    [
                        ("iteration", true, Barrier),
                        ("solve", true, Irecv),
                        ("send", true, Send),
                        ("send", false, Wait),
                        ("solve", false, next),
                        ("iteration", false, next),
                    ]
                };
                let mut expected: Vec<_> = (0..25).flat_map(|_| iteration(Barrier)).collect();
                expected.extend([("pcontrol", true, Barrier), ("pcontrol", false, Finalize)]);
                // Without a name, -1 and 1 are as 0 and 1.
                expected.extend([("pcontrol-7", true, Finalize), ("pcontrol-7", false, Finalize)]);
                expected.extend([true, false, true, false].map(|begins| ("pcontrol", begins, Finalize)));
                if rank == 1 {
                    expected.push(("never begun", false, Finalize));
                }
                expected.push(("never ended", true, Finalize));
                assert_eq!(borders, expected, "{mpi} {variables:?}");

                // The cost of a look at the clock. On a busy machine, more or less than that is subtracted.
                let empty = SLACK * stream.header.as_ref().unwrap().empty_gap;
                // Times increase, and the processor time between two calls is that before the border plus
                // that after it.
                let mut last = (0, 0, 0);
                for (before, mark) in &stream.marks {
                    let event = &stream.events[before - 1];
                    let next = &stream.events[*before];
                    assert!(mark.begin >= event.end && mark.end >= mark.begin && mark.end <= next.begin, "{mark:?}");
                    assert_eq!(mark.cpu.is_some(), next.cpu.is_some());
                    if let (Some(cpu), Some(whole)) = (mark.cpu, next.cpu) {
                        // The clock's own cost is subtracted once for each piece, and varies by part of it.
                        assert!(cpu <= whole + empty, "{mark:?} {next:?}");
                        assert!(*before != last.0 || cpu + empty >= last.1, "{mark:?}");
                        last = (*before, cpu, mark.end);
                    }
                }
            }
        }
    }
}

#[test]
fn marking_takes_no_time_of_the_program() {
    for mpi in MPIS {
        let Some(run) = run(mpi, "regions", RunOptions { ranks: 2, variables: TOKEN, ..RunOptions::default() }) else {
            continue;
        };
        run.assert_success(mpi);
        let stream = run.stream(0);
        // "solve" begins right after the barrier, and the receive follows at once. The receive's time since
        // the barrier is that up to the border plus that from there on, without the time of the border
        // itself.
        let mut checked = 0;
        for (before, mark) in &stream.marks {
            let Some(event) = stream.events.get(*before).filter(|event| event.call == Call::Irecv) else { continue };
            let (up_to, since) = (mark.cpu.unwrap(), event.cpu.unwrap());
            assert!(
                up_to <= since + SLACK * stream.header.as_ref().unwrap().empty_gap,
                "{mpi}: {up_to} ns to the border, {since} ns to the call behind it"
            );
            checked += 1;
        }
        assert!(checked > 0, "{mpi}");
    }
}

#[test]
fn the_program_computes_what_it_does_without_a_recorder() {
    for mpi in MPIS {
        let Some(recorded) = run(mpi, "regions", RunOptions { ranks: 3, ..RunOptions::default() }) else { continue };
        // Without a folder nothing is recorded.
        let plain = RunOptions { ranks: 3, variables: &[("HAYASE_CAPTURE_DIR", "")], ..RunOptions::default() };
        let plain = run(mpi, "regions", plain).unwrap();
        plain.assert_success(mpi);
        let lines = |run: &common::Run| {
            let mut lines: Vec<String> =
                String::from_utf8_lossy(&run.output.stdout).lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        assert_eq!(lines(&recorded), lines(&plain), "{mpi}");
        assert_eq!(lines(&plain), ["0 of rank 1", "1 of rank 2", "2 of rank 0"]);
    }
}

/// Compiles the program in Fortran with the module; `None` if there is no such compiler.
fn compiled(mpi: &str, interface: &str, folder: &std::path::Path) -> Option<std::path::PathBuf> {
    let program = folder.join(format!("{interface}-{mpi}"));
    let root = env!("CARGO_MANIFEST_DIR");
    let output = std::process::Command::new(format!("mpifort.{mpi}"))
        .args(["-g", "-pedantic", "-Wall", "-Werror=all", &format!("-D{interface}"), "-o"])
        .arg(&program)
        .args([format!("{root}/../capture/include/hayase.f90"), format!("{root}/tests/regions.F90")])
        .current_dir(folder)
        .output()
        .ok()?;
    assert!(output.status.success(), "{interface}: {}", String::from_utf8_lossy(&output.stderr));
    Some(program)
}

#[test]
fn fortran_marks_regions_by_its_module_and_by_levels() {
    for mpi in MPIS {
        for interface in ["MPIF_H", "USE_MPI", "USE_F08"] {
            let folder = tempfile::tempdir().unwrap();
            let Some(program) = compiled(mpi, interface, folder.path()) else { continue };
            let run = common::run_binary(mpi, &program, folder, RunOptions { ranks: 2, ..RunOptions::default() });
            run.assert_success(&format!("{interface} under {mpi}"));
            for rank in 0..2 {
                let stream = run.stream(rank);
                assert_eq!(stream.regions, ["solve", "pcontrol", "pcontrol-3"], "{mpi} {interface}");
                let calls: Vec<Call> = stream.events.iter().map(|event| event.call).collect();
                use Call::{Barrier, Finalize, Init};
                assert_eq!(calls, [Init, Barrier, Barrier, Barrier, Barrier, Barrier, Finalize], "{mpi} {interface}");
                let borders: Vec<(usize, u32, bool)> =
                    stream.marks.iter().map(|(before, mark)| (*before, mark.region, mark.begins)).collect();
                let solve = |at| [(at, 0, true), (at + 1, 0, false)];
                let mut expected: Vec<_> = (1..4).flat_map(solve).collect();
                expected.extend([(4, 1, true), (5, 1, false), (5, 2, true), (6, 2, false)]);
                assert_eq!(borders, expected, "{mpi} {interface}");
            }
        }
    }
}

//! Recording leaves the floating-point environment of the program alone.

mod common;
#[path = "common/machine_code.rs"]
mod machine_code;

use common::{MPIS, RunOptions, library, run, run_plainly};

/// Returns the output of the program, a line a rank and call, in a fixed order.
fn lines(output: &std::process::Output, what: &str) -> Vec<String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{what}: {}\n{}{}", output.status, text(&output.stdout), text(&output.stderr));
    let mut lines: Vec<String> = text(&output.stdout).lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn flags_traps_and_rounding_are_those_of_a_run_that_is_not_recorded() {
    // The largest limit cannot be a double, and the recorder reads limits as numbers.
    let limited = [("HAYASE_CAPTURE_STOP_EVENTS", "18446744073709551615"), ("HAYASE_CAPTURE_STOP_SECONDS", "1e300")];
    let token = [("HAYASE_CAPTURE_TOKEN", "1"), limited[0], ("HAYASE_CAPTURE_STOP_SECONDS", "0.1e")];
    let wall = [("HAYASE_CAPTURE_CLOCK", "wall"), ("HAYASE_CAPTURE_STOP_SECONDS", "1000000000000")];
    for mpi in MPIS {
        for mode in ["flags", "trap", "early"] {
            let how = RunOptions { arguments: &[mode], ..RunOptions::default() };
            let Some(plain) = run_plainly(mpi, "environment", how) else { continue };
            let expected = lines(&plain.output, &format!("{mpi} {mode}, not recorded"));
            assert!(expected.iter().any(|line| line.contains("20000 messages raise 0")), "{expected:?}");
            let raised = if mode == "flags" { "program raises 4" } else { "program raises 0" };
            assert!(cfg!(not(target_arch = "x86_64")) || expected.iter().any(|line| line.contains(raised)));
            for variables in [&[][..], &limited, &token, &wall] {
                let what = format!("{mpi} {mode} {variables:?}");
                let recorded = run(mpi, "environment", RunOptions { variables, ..how }).expect("this MPI is installed");
                assert_eq!(lines(&recorded.output, &what), expected, "{what}");
                assert!(recorded.stream(0).events.len() > 40_000, "{what}: it is recorded");
            }
        }
    }
}

#[test]
fn the_recorder_has_no_instruction_that_may_raise_a_floating_point_flag() {
    let found = machine_code::floating_point(&library());
    assert!(found.as_ref().is_none_or(Vec::is_empty), "{found:#?}");
}

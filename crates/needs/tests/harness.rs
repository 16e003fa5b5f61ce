//! Tests that lack a need, run by the harness as in `cargo test`: this file's own first test, in a process of
//! its own.

use std::env;
use std::process::{Command, Output};

/// Variable that marks the inner process.
const INNER: &str = "HAYASE_NEEDS_INNER_TEST";

#[test]
fn needs_an_mpi() {
    if env::var_os(INNER).is_some() {
        hayase_needs::is_there("mpirun.openmpi");
    }
}

/// Runs the test above, without any programs or with those of this machine.
fn inner(required: &str, programs: bool) -> Output {
    let mut test = Command::new(env::current_exe().unwrap());
    test.args(["--exact", "needs_an_mpi"]).env(INNER, "1").env(hayase_needs::VARIABLE, required);
    if !programs {
        test.env("PATH", "/nowhere");
    }
    test.output().unwrap()
}

#[test]
fn a_test_that_is_skipped_says_so_past_the_harness() {
    let output = inner("compilers,browser", false);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("SKIPPED") && said.contains("needs_an_mpi: there is no mpirun.openmpi"), "{said}");
}

#[test]
fn what_is_required_and_missing_fails() {
    let output = inner("mpi", false);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(!output.status.success(), "{said}");
    assert!(said.contains("there is no mpirun.openmpi, and HAYASE_REQUIRE=mpi"), "{said}");
}

#[test]
fn a_mistake_in_what_is_required_fails_whatever_is_there() {
    for programs in [false, true] {
        let output = inner("mpi,compiler", programs);
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(!output.status.success(), "{said}");
        assert!(said.contains("there is no `compiler`; known are mpi, compilers, browser"), "{said}");
    }
}

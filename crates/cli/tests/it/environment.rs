//! Recording, also of memory accesses, leaves the floating-point environment of programs alone.

use std::process::Command;
use std::time::Duration;

use super::Desk;
use hayase_needs::is_there;

const C: &str = include_str!("../../../recorder/tests/programs/environment.c");
const FORTRAN: &str = include_str!("../../../recorder/tests/programs/traps.f90");

/// Returns the lines that a program printed, sorted.
fn sorted(output: &[u8]) -> Vec<String> {
    let mut lines: Vec<String> = String::from_utf8_lossy(output).lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn programs_that_trap_floating_point_errors_are_recorded_with_their_memory_accesses() {
    let desk = Desk::new().file("environment.c", C).file("traps.f90", FORTRAN);
    let hayase = |words: &str| {
        desk.hayase(words)
            .env("XDG_CACHE_HOME", desk.path().join("cache"))
            .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
            .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
            .timeout(Duration::from_secs(300))
    };
    for mpi in ["openmpi", "mpich"] {
        if !is_there(&format!("mpicc.{mpi}")) || !is_there(&format!("mpifort.{mpi}")) {
            continue;
        }
        let launcher = format!("mpirun.{mpi}{} -np 2", if mpi == "openmpi" { " --oversubscribe" } else { "" });
        let c = format!("cc --compiler mpicc.{mpi} -w -g -O1 -frounding-math -o c environment.c -lm");
        let fortran = format!("fc --compiler mpifort.{mpi} -w -g -O1 -ffpe-trap=invalid,zero,overflow -o f traps.f90");
        hayase(&c).assert().success();
        hayase(&fortran).assert().success();
        for program in ["f", "c flags", "c early"] {
            let words: Vec<String> = format!("{launcher} ./{program}").split(' ').map(str::to_owned).collect();
            let plain = Command::new(&words[0])
                .args(&words[1..])
                .current_dir(desk.path())
                .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
                .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
                .output()
                .unwrap();
            assert!(plain.status.success(), "{mpi} {program}: {}", String::from_utf8_lossy(&plain.stderr));
            for options in ["--memory", "--memory --token", "--memory --stop-after 18446744073709551615"] {
                let record = format!("record --force {options} -o run -- {launcher} ./{program}");
                let assert = hayase(&record).assert().success();
                assert_eq!(sorted(&assert.get_output().stdout), sorted(&plain.stdout), "{record}");
            }
        }
    }
}

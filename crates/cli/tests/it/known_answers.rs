//! Programs that are hard for recorders and advisers, each with its right answer, under every compiler and
//! MPI that it applies to (`tests/programs/known`). `tests/programs/cases` has more, with answers beside the
//! code.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use hayase_needs::is_there;
use serde_json::Value;

use super::{Desk, Said};

const PROGRAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/programs/known");
/// Nodes on which messages cost more than the computation of these programs.
const MACHINE: &str = "-m myrinet";

/// Compiler under an MPI, and a folder to work in.
struct Chain {
    compiler: &'static str,
    mpi: &'static str,
    desk: Desk,
}

/// Returns every MPI with every installed compiler of these.
fn chains(compilers: &[&'static str]) -> Vec<Chain> {
    let mut chains = Vec::new();
    for mpi in ["openmpi", "mpich"] {
        for &compiler in compilers {
            let wrapper = if compiler == "gfortran" { "mpifort" } else { "mpicc" };
            if [compiler, &format!("{wrapper}.{mpi}"), &format!("mpirun.{mpi}")].iter().all(|tool| is_there(tool)) {
                chains.push(Chain { compiler, mpi, desk: Desk::new() });
            }
        }
    }
    chains
}

impl Chain {
    fn name(&self) -> String {
        format!("{} under {}", self.compiler, self.mpi)
    }

    fn variables(&self) -> [(&'static str, &str); 5] {
        let compiler = self.compiler;
        let root = "OMPI_ALLOW_RUN_AS_ROOT";
        [
            (root, "1"),
            ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
            ("OMPI_CC", compiler),
            ("MPICH_CC", compiler),
            ("LC_ALL", "C"),
        ]
    }

    /// Runs `hayase` with these arguments, which must succeed; returns its output.
    fn hayase(&self, words: &str) -> String {
        let mut command = self.desk.hayase(words).env("XDG_CACHE_HOME", self.desk.path().join("cache"));
        for (name, value) in self.variables() {
            command = command.env(name, value);
        }
        command.timeout(Duration::from_secs(300)).assert().success().stdout()
    }

    /// Runs the compiler without instrumentation.
    fn compile(&self, words: &str) {
        let wrapper = if self.compiler == "gfortran" { "mpifort" } else { "mpicc" };
        let mut command = Command::new(format!("{wrapper}.{}", self.mpi));
        command.args(words.split(' ')).current_dir(self.desk.path()).envs(self.variables());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}: {}", self.name(), String::from_utf8_lossy(&output.stderr));
    }

    /// Compiles with instrumentation.
    fn instrument(&self, words: &str) {
        let (verb, wrapper) = if self.compiler == "gfortran" { ("fc", "mpifort") } else { ("cc", "mpicc") };
        self.hayase(&format!("{verb} --compiler {wrapper}.{} {words}", self.mpi));
    }

    fn launcher(&self) -> String {
        format!("mpirun.{}{} -np 2", self.mpi, if self.mpi == "openmpi" { " --oversubscribe" } else { "" })
    }

    /// Records into `run` and returns the output of the program.
    fn record(&self, options: &str, program: &str) -> String {
        self.hayase(&format!("-q record --force {options} -o run -- {} {program}", self.launcher()))
    }

    fn json(&self, words: &str) -> Value {
        serde_json::from_str(&self.hayase(&format!("{words} --format json"))).unwrap()
    }
}

fn findings<'a>(advice: &'a Value, rule: &'a str) -> impl Iterator<Item = &'a Value> {
    advice["findings"].as_array().unwrap().iter().filter(move |finding| finding["rule"] == rule)
}

/// One buffer goes back and forth, so every send needs the receive before it and the messages form one chain.
/// Without computation the run takes as long as this chain, and no overlap makes it shorter.
#[test]
fn no_advice_is_faster_than_the_chain_of_messages_that_need_each_other() {
    for chain in chains(&["gcc", "clang"]) {
        chain.instrument(&format!("-O2 {PROGRAMS}/pp.c -o pp"));
        chain.record("--memory", "./pp");
        let least = chain.json(&format!("-q replay run {MACHINE} --cpu-speed 1e9"))["makespan_s"].as_f64().unwrap();
        let advice = chain.json(&format!("-q advise run --all {MACHINE}"));
        let base = advice["simulated"]["makespan_s"].as_f64().unwrap();
        assert!(base > least, "{}: {base} s with computation, {least} s without", chain.name());
        let possible = (base - least) * 1.001;
        let mut overlaps = 0;
        for finding in findings(&advice, "A001") {
            let gain = finding["gain_s"].as_f64().unwrap_or(0.0);
            assert!(gain <= possible, "{}: at most {possible} s: {finding}", chain.name());
            overlaps += 1;
        }
        assert!(overlaps > 0, "{}: the computation beside the messages is not found: {advice}", chain.name());
        if let Some(together) = advice["together"].as_object() {
            let gain = base - together["changed"]["makespan_s"].as_f64().unwrap();
            assert!(gain <= possible, "{}: {gain} s of at most {possible} s: {together:?}", chain.name());
        }
        // Messages of a fixed length: nothing can be merged, and there is no collective operation.
        for rule in ["A002", "A003", "A004"] {
            assert_eq!(findings(&advice, rule).count(), 0, "{}: {rule}", chain.name());
        }
    }
}

/// Recording does not disturb programs that trap floating-point errors: they print the same and end normally.
#[test]
fn programs_that_trap_floating_point_errors_run_on_when_they_are_recorded() {
    let traps = "-ffpe-trap=invalid,zero,overflow";
    let programs = [("gfortran", "fpe.f90", traps), ("gcc", "trapc.c", "-lm"), ("clang", "trapc.c", "-lm")];
    for (compiler, source, options) in programs {
        for chain in chains(&[compiler]) {
            let path = Path::new(PROGRAMS).join(source);
            chain.compile(&format!("-O2 -g {} -o plain {options}", path.display()));
            chain.instrument(&format!("-O2 {} -o told {options}", path.display()));
            let name = format!("{source}, {}", chain.name());
            let answers = |text: &str| if source == "fpe.f90" { text.contains(" ok ") } else { text.is_empty() };
            let mut runs = vec![("", "plain"), ("--memory", "told")];
            // The other program has 20,000 barriers.
            runs.extend((source == "fpe.f90").then_some(("--token", "plain")));
            for (settings, program) in runs {
                let said = chain.record(settings, &format!("./{program}"));
                assert!(answers(&said), "{name} {settings}: {said}");
            }
        }
    }
}

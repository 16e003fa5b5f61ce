//! Advice on partly observed programs, and on programs that compilers transform: nothing is proven that does
//! not hold.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hayase_advice::model::{Certainty, Dependence, Finding, Iterations, Role, RuleId, Side};
use snapbox::cmd::Command;

use super::advice_cases::Chain;
use super::{Desk, Said};

/// Compilers and MPI libraries; all installed ones are used.
const CHAINS: [Chain; 4] = [
    Chain { compiler: "gcc", mpi: "openmpi" },
    Chain { compiler: "clang", mpi: "openmpi" },
    Chain { compiler: "gcc", mpi: "mpich" },
    Chain { compiler: "clang", mpi: "mpich" },
];

/// Desk on which programs are compiled under one of these chains.
struct Bench<'a> {
    desk: Desk,
    chain: &'a Chain,
}

impl<'a> Bench<'a> {
    fn new(chain: &'a Chain) -> Self {
        Self { desk: Desk::new(), chain }
    }

    fn source(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs/cases").join(name)
    }

    fn settings(&self, command: Command) -> Command {
        let Chain { compiler, .. } = self.chain;
        command
            .env("XDG_CACHE_HOME", self.desk.path().join("cache"))
            .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
            .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
            .env("OMPI_CC", compiler)
            .env("MPICH_CC", compiler)
            .timeout(Duration::from_secs(120))
    }

    fn hayase(&self, words: &str) -> Command {
        self.settings(self.desk.hayase(words))
    }

    fn compile(&self, words: &str) {
        self.hayase(&format!("cc --compiler mpicc.{} -O2 {words}", self.chain.mpi)).assert().success();
    }

    /// Compiles without instrumentation.
    fn compile_plainly(&self, words: &str) {
        let command = Command::new(format!("mpicc.{}", self.chain.mpi)).current_dir(self.desk.path());
        self.settings(command).args(["-g", "-O2"]).args(words.split_whitespace()).assert().success();
    }

    /// Records `program` on two ranks; returns the findings about overlap and merging, and the notes about the run.
    fn advised(&self) -> (Vec<Finding>, Vec<String>) {
        let mpi = self.chain.mpi;
        let over = if mpi == "openmpi" { " --oversubscribe" } else { "" };
        self.hayase(&format!("-q record --memory -o run -- mpirun.{mpi}{over} -np 2 ./program")).assert().success();
        let mut advice: serde_json::Value = self.hayase("-q advise run --all --format json").assert().success().json();
        let findings: Vec<Finding> = serde_json::from_value(advice["findings"].take()).unwrap();
        let of_calls = findings.into_iter().filter(|finding| finding.rule < RuleId::A101).collect();
        (of_calls, serde_json::from_value(advice["notes"].take()).unwrap())
    }
}

/// Returns the number of the line with this name.
fn line(source: &Path, name: &str) -> u32 {
    let text = std::fs::read_to_string(source).unwrap();
    let lines = (1..).zip(text.lines());
    lines.into_iter().find(|(_, line)| line.ends_with(&format!("// @{name}"))).unwrap().0
}

#[test]
fn nothing_is_proven_across_code_that_was_not_instrumented_and_its_file_is_named() {
    let (step, steps) = (Bench::source("step.c"), Bench::source("steps.c"));
    let places = [line(&step, "first"), line(&step, "second")].map(|line| format!("step.c:{line}"));
    for chain in CHAINS.iter().filter(|chain| chain.is_here()) {
        // In a separate library, or in the program itself.
        for (how, file) in [("-shared -fPIC -o libstep.so", "libstep.so"), ("-c -o step.o", "program")] {
            let bench = Bench::new(chain);
            bench.compile_plainly(&format!("{how} {}", step.display()));
            let with = if file == "program" { "step.o" } else { "-L. -lstep -Wl,-rpath,$ORIGIN" };
            bench.compile(&format!("{} {with} -o program", steps.display()));
            let (findings, notes) = bench.advised();
            let Chain { compiler, mpi } = chain;
            for finding in &findings {
                assert_eq!(finding.certainty(), Certainty::Check, "{compiler}, {mpi}, {file}: {finding:?}");
                let why = finding.caveats.iter().any(|caveat| caveat.contains("not instrumented"));
                assert!(why, "{compiler}, {mpi}, {file}: {finding:?}");
            }
            let named: Vec<&String> = notes.iter().filter(|note| note.starts_with("not instrumented: ")).collect();
            assert!(
                named.len() == 1 && named[0].contains(file) && places.iter().all(|place| named[0].contains(place)),
                "{compiler}, {mpi}, {file}: {notes:?}"
            );
        }
    }
}

#[test]
fn an_argument_that_is_handed_to_mpi_is_written_where_its_function_begins() {
    let (step, steps) = (Bench::source("step.c"), Bench::source("steps.c"));
    for chain in CHAINS.iter().filter(|chain| chain.is_here()) {
        let bench = Bench::new(chain);
        bench.compile(&format!("-shared -fPIC {} -o libstep.so", step.display()));
        bench.compile(&format!("{} -L. -lstep -Wl,-rpath,$ORIGIN -o program", steps.display()));
        let (findings, notes) = bench.advised();
        // Everything is observed, and each call needs the one before, so there is no advice.
        let Chain { compiler, mpi } = chain;
        assert!(findings.is_empty(), "{compiler}, {mpi}: {findings:?}");
        assert!(!notes.iter().any(|note| note.contains("not instrumented")), "{compiler}, {mpi}: {notes:?}");
    }
}

#[test]
fn a_store_is_where_the_source_has_it_whatever_the_compiler_would_make_of_its_loop() {
    let source = Bench::source("stored.c");
    let [send, receive, work, store] = ["send", "receive", "work", "store"].map(|name| line(&source, name));
    for chain in CHAINS.iter().filter(|chain| chain.is_here()) {
        let bench = Bench::new(chain);
        bench.compile(&format!("{} -o program", source.display()));
        let (findings, _) = bench.advised();
        let Chain { compiler, mpi } = chain;
        for (call, kinds) in [(send, [Dependence::Flow, Dependence::Anti]), (receive, [Dependence::Output; 2])] {
            let what = format!("{compiler}, {mpi}, line {call}");
            let found = findings.iter().find(|finding| finding.places[0].location.line == call);
            let found = found.unwrap_or_else(|| panic!("{what}: nothing found"));
            let at = |role: Role| {
                let mut places = found.places.iter().filter(move |place| place.role == role);
                places.find(|place| place.location.line == work).and_then(|place| place.iterations)
            };
            // Row 10 is the eleventh: its first element is iteration 200,001, and what is stored there comes behind it.
            let of = 40 * 20_000;
            assert_eq!(at(Role::OverlapAfter), Some(Iterations { first: 1, last: 200_001, of }), "{what}");
            assert_eq!(at(Role::OverlapBefore), Some(Iterations { first: 200_002, last: of, of }), "{what}");
            for (side, kind) in [Side::Before, Side::After].into_iter().zip(kinds) {
                let by = found.blockers.iter().find(|by| by.side == side && by.dependence == kind);
                let lines = by.and_then(|by| by.location.as_ref()).map(|at| at.line);
                assert_eq!(lines, Some(store), "{what}: {:?}", found.blockers);
            }
        }
    }
}

//! Advice on programs written for these tests, with expected answers beside the code, derived by hand. They
//! contain the dependences of Gordini's figure 5, messages and collective operations that could be merged,
//! and near misses. Each is compiled, recorded with its memory accesses, and advised.
//!
//! `tests/programs/cases/overlap.c` explains the format of an answer.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use hayase_advice::model::{
    Action, Blocker, CallPart, Certainty, Change, Dependence, Finding, Iterations, Location, Place, Role, RuleId, Side,
};
use hayase_needs::is_there;

use super::{Desk, Said};

/// A compiler under an MPI.
pub struct Chain {
    pub compiler: &'static str,
    pub mpi: &'static str,
}

impl Chain {
    /// Returns true if the compiler and the MPI are installed; reports the missing one.
    pub fn is_here(&self) -> bool {
        is_there(self.compiler) && is_there(&format!("mpirun.{}", self.mpi))
    }
}

/// Named lines of a source, and its answers.
struct Source {
    name: String,
    names: BTreeMap<u32, String>,
    answers: Vec<String>,
}

impl Source {
    fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap();
        let comment = if path.extension().is_some_and(|end| end == "c") { "//" } else { "!" };
        let (answer, name) = (format!("{comment}="), format!("{comment} @"));
        let (mut names, mut answers) = (BTreeMap::new(), Vec::<String>::new());
        for (number, line) in (1..).zip(text.lines()) {
            if let Some(text) = line.trim_start().strip_prefix(&answer) {
                match answers.last_mut() {
                    // An indented line continues the answer.
                    Some(last) if text.starts_with("  ") => *last += &format!(" {}", text.trim()),
                    _ => answers.push(text.trim().to_owned()),
                }
            } else if let Some((_, name)) = line.split_once(&name) {
                names.insert(number, format!("@{}", name.trim()));
            }
        }
        Self { name: path.file_name().unwrap().to_string_lossy().into_owned(), names, answers }
    }

    fn line(&self, at: &Location) -> String {
        match self.names.get(&at.line) {
            Some(name) if at.file.ends_with(&self.name) => name.clone(),
            _ => at.to_string(),
        }
    }

    fn lines<'a>(&self, places: impl Iterator<Item = &'a Place>) -> String {
        let mut lines: Vec<&Location> = places.map(|place| &place.location).collect();
        lines.sort();
        lines.dedup();
        lines.into_iter().map(|at| self.line(at)).collect::<Vec<_>>().join(", ")
    }

    /// Returns a finding in the format of an answer.
    fn written(&self, finding: &Finding) -> String {
        let of = |role: Role| finding.places.iter().filter(move |place| place.role == role);
        let Change::Program { edits, .. } = &finding.change else { panic!("{finding:?}") };
        let mut parts = match finding.rule {
            RuleId::A001 => self.overlap(finding, &edits[0].action),
            RuleId::A002 | RuleId::A003 => {
                let merged = edits.iter().map(|edit| match edit.action {
                    Action::Merge { bytes, copy, .. } => (edit.rank, bytes, copy),
                    _ => panic!("{edit:?}"),
                });
                let copies: Vec<String> = merged.clone().map(|(rank, _, copy)| format!("{copy} B on {rank}")).collect();
                let lines = self.lines(of(Role::Communication).chain(of(Role::Companion)));
                let (call, received) = match finding.rule {
                    RuleId::A002 => (String::new(), format!(", received at {}", self.lines(of(Role::Partner)))),
                    _ => (format!("{} ", finding.places[0].call.as_ref().unwrap()), String::new()),
                };
                let bytes = merged.map(|(_, bytes, _)| bytes).next().unwrap();
                vec![format!("{call}{lines}{received}: {bytes} B, copies {}", copies.join(", "))]
            }
            _ => {
                let Action::Replace { collective, root, bytes, .. } = &edits[0].action else { panic!("{finding:?}") };
                let root = root.map_or(String::new(), |root| format!(", root {root}"));
                let (here, there) = (self.lines(of(Role::Communication)), self.lines(of(Role::Partner)));
                vec![format!("{collective} {here}, other end {there}: {bytes} B among {}{root}", finding.ranks)]
            }
        };
        if finding.occurrences > 1 {
            parts.push(format!("{} times", finding.occurrences));
        }
        if finding.notes.iter().any(|note| note.contains("not contiguous")) {
            parts.push("gaps".to_owned());
        }
        if finding.certainty() == Certainty::Check {
            parts.push("check".to_owned());
        }
        format!("{} {}", finding.rule, parts.join("; "))
    }

    fn overlap(&self, finding: &Finding, action: &Action) -> Vec<String> {
        let communication = &finding.places[0];
        let part = match action {
            Action::Overlap { part, .. } if communication.call.as_deref() == Some("Sendrecv") => match part {
                CallPart::Send => " (send)",
                _ => " (receive)",
            },
            _ => "",
        };
        let wait = finding.places.iter().find(|place| place.role == Role::Completion);
        let wait = wait.map_or(String::new(), |place| format!(", waited for {}", self.line(&place.location)));
        let iterations = |its: &Option<Iterations>| {
            its.map_or(String::new(), |its| format!(" {}..{} of {}", its.first, its.last, its.of))
        };
        let mut words = Vec::new();
        for (role, word) in [(Role::OverlapBefore, "before"), (Role::OverlapAfter, "after")] {
            let mut places: Vec<&Place> = finding.places.iter().filter(|place| place.role == role).collect();
            places.sort_by_key(|place| place.location.line);
            let lines: Vec<String> = places
                .into_iter()
                .map(|place| {
                    let all = finding.occurrences;
                    let some = if place.occurrences < all {
                        format!(" ({} of {all})", place.occurrences)
                    } else {
                        String::new()
                    };
                    format!("{}{}{some}", self.line(&place.location), iterations(&place.iterations))
                })
                .collect();
            if !lines.is_empty() {
                words.push(format!("{word} {}", lines.join(", ")));
            }
        }
        let mut blockers: Vec<&Blocker> = finding.blockers.iter().collect();
        blockers.sort_by_key(|by| (by.side == Side::After, by.location.clone()));
        let forbids: Vec<String> = blockers
            .into_iter()
            .map(|by| {
                let kind = match by.dependence {
                    Dependence::Flow => "flow",
                    Dependence::Anti => "anti",
                    Dependence::Output => "output",
                    Dependence::Order => "order",
                    Dependence::Opaque => "opaque",
                    other => other.name(),
                };
                let at = by.location.as_ref().map_or_else(|| "nowhere".to_owned(), |at| self.line(at));
                format!("{kind} {at}{}", iterations(&by.iterations))
            })
            .collect();
        words.push(forbids.join(", "));
        let first = format!("{}{part}{wait}: {}", self.line(&communication.location), words.remove(0));
        std::iter::once(first).chain(words).collect()
    }
}

/// Compiles a program of the cases and records it; returns `None` if a tool is missing.
pub fn recorded(name: &str, ranks: u32, chain: &Chain) -> Option<Desk> {
    if !chain.is_here() {
        return None;
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs/cases").join(name);
    let desk = Desk::new();
    let hayase = |words: &str| {
        desk.hayase(words)
            .env("XDG_CACHE_HOME", desk.path().join("cache"))
            .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
            .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
            .env("OMPI_CC", chain.compiler)
            .env("MPICH_CC", chain.compiler)
            .timeout(Duration::from_secs(120))
    };
    let (verb, wrapper) = if name.ends_with(".c") { ("cc", "mpicc") } else { ("fc", "mpifort") };
    let Chain { mpi, compiler } = chain;
    hayase(&format!("{verb} --compiler {wrapper}.{mpi} -O2 {} -o program", path.display())).assert().success();
    let over = if *mpi == "openmpi" { " --oversubscribe" } else { "" };
    hayase(&format!("-q record --memory -o run -- mpirun.{mpi}{over} -np {ranks} ./program")).assert().success();
    eprintln!("{name}, {compiler}, {mpi}");
    Some(desk)
}

/// Returns the output of `hayase advise` as JSON.
pub fn advised(desk: &Desk, words: &str) -> serde_json::Value {
    desk.hayase(words).timeout(Duration::from_secs(120)).assert().success().json()
}

/// Compiles, records and advises a program, and checks that the findings of these rules are exactly its
/// answers.
fn answers_hold(name: &str, ranks: u32, rules: &[RuleId], chain: &Chain) {
    let Some(desk) = recorded(name, ranks, chain) else { return };
    let source = Source::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs/cases").join(name));
    assert!(source.answers.len() > 3 && source.names.len() > 10, "{name} has no answers");
    let advice = advised(&desk, "-q advise run --all --format json");
    let findings = advice["findings"].as_array().unwrap().iter();
    let findings = findings.map(|finding| serde_json::from_value::<Finding>(finding.clone()).unwrap());
    let mut found: Vec<String> =
        findings.filter(|finding| rules.contains(&finding.rule)).map(|finding| source.written(&finding)).collect();
    let mut wanted = source.answers.clone();
    found.sort();
    wanted.sort();
    let without = |these: &[String], those: &[String]| -> String {
        these.iter().filter(|this| !those.contains(this)).map(|this| format!("\n  {this}")).collect()
    };
    let Chain { compiler, mpi } = chain;
    assert!(
        found == wanted,
        "{name}, {compiler}, {mpi}: not found:{}\nfound, but no answer:{}",
        without(&wanted, &found),
        without(&found, &wanted)
    );
}

const MERGING: [RuleId; 3] = [RuleId::A002, RuleId::A003, RuleId::A004];

#[test]
fn overlap_in_c_is_what_the_dependences_allow_under_gcc() {
    answers_hold("overlap.c", 2, &[RuleId::A001], &Chain { compiler: "gcc", mpi: "openmpi" });
}

#[test]
fn overlap_in_c_is_what_the_dependences_allow_under_clang() {
    answers_hold("overlap.c", 2, &[RuleId::A001], &Chain { compiler: "clang", mpi: "mpich" });
}

#[test]
fn overlap_in_fortran_is_what_the_dependences_allow() {
    answers_hold("overlap.f90", 2, &[RuleId::A001], &Chain { compiler: "gfortran", mpi: "openmpi" });
    answers_hold("overlap.f90", 2, &[RuleId::A001], &Chain { compiler: "gfortran", mpi: "mpich" });
}

#[test]
fn messages_and_collectives_in_c_that_could_be_one_are_all_found_and_no_others() {
    answers_hold("merge.c", 4, &MERGING, &Chain { compiler: "gcc", mpi: "mpich" });
    answers_hold("merge.c", 4, &MERGING, &Chain { compiler: "clang", mpi: "openmpi" });
}

#[test]
fn messages_and_collectives_in_fortran_that_could_be_one_are_all_found_and_no_others() {
    answers_hold("merge.f90", 4, &MERGING, &Chain { compiler: "gfortran", mpi: "openmpi" });
}

#[test]
fn a_pingpong_with_one_buffer_gains_nothing_by_overlap_but_its_empty_loop() {
    for chain in [
        Chain { compiler: "gcc", mpi: "openmpi" },
        Chain { compiler: "gcc", mpi: "mpich" },
        Chain { compiler: "clang", mpi: "mpich" },
    ] {
        let Some(desk) = recorded("pingpong.c", 2, &chain) else { continue };
        let advice = advised(&desk, "-q advise run -m fast-ethernet --all --format json");
        let base = advice["simulated"]["makespan_s"].as_f64().unwrap();
        let overlap = advice["findings"].as_array().unwrap().iter().filter(|finding| finding["rule"] == "A001");
        let gains: Vec<f64> = overlap.clone().map(|finding| finding["gain_s"].as_f64().unwrap()).collect();
        // The send may go before the loop, or the receive end behind it: what that saves is the loop, at most.
        let loops = overlap.map(|finding| finding["time_ns"].as_f64().unwrap() * 1e-9).fold(0.0, f64::max);
        assert!(gains.len() >= 2 && gains.iter().all(|&gain| gain <= loops), "{gains:?} {loops}");
        // Both would send data that has not arrived.
        let together = &advice["together"];
        let saved = base - together["changed"]["makespan_s"].as_f64().unwrap();
        // Sends and receives are two places each, by their callers. The ranks' loops are hidden once each, and no more.
        let taken = together["taken"].as_array().unwrap();
        let gain = |id: &serde_json::Value| {
            let finding = advice["findings"].as_array().unwrap().iter().find(|finding| finding["id"] == *id).unwrap();
            finding["gain_s"].as_f64().unwrap()
        };
        let sum: f64 = taken.iter().map(gain).sum();
        assert!(saved <= sum * 1.000_001 && saved <= 2.0 * loops, "{saved} {gains:?} {loops}");
        let left_out = &together["left_out"][0];
        assert!(left_out["id"].as_str().unwrap().starts_with("A001-"), "{together}");
        let why = left_out["why"].as_str().unwrap();
        assert!(why.starts_with("beside A001-") && why.contains("needs"), "{why}");
        assert!(taken.len() <= 2, "{together}");
    }
}

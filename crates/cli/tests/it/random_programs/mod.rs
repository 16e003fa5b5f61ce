//! Advice on random programs, carried out: proven advice must not change the results of the program.
//!
//! A program is made of idioms of MPI ([`idioms`]), in C or Fortran. It is recorded with its memory accesses
//! and advised. Each finding gives a moved version ([`moves`], [`plan`]), in which the communication is
//! posted as early and awaited as late as the finding allows, or messages or collective operations are
//! merged. All versions run under the library for which the program was recorded, with and without delays,
//! and print what they received and computed. Memory that must not be touched meanwhile is watched
//! (`moved.c`).
//!
//! `HAYASE_PROGRAMS=500 HAYASE_SEED=7 cargo test -p hayase-cli --test it -- random_programs --nocapture`
//! tries 500 programs from another seed. A program that shows a difference is kept below
//! `target/tmp/random_programs`.

mod collectives;
mod completions;
mod dialect;
mod events;
mod generate;
mod idioms;
mod memory;
mod merges;
mod messages;
mod moves;
mod plan;
mod program;
mod run;
mod source;
mod statements;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use hayase_advice::model::RuleId;
use hayase_needs::is_there;

use events::Events;
use moves::Mover;
use program::Language;
use run::{Bench, Results, Workshop};

const MPIS: [&str; 2] = ["openmpi", "mpich"];

/// Number of executions of each version: without and with delays.
const PASSES: usize = 2;

const RULES: [RuleId; 3] = [RuleId::A001, RuleId::A002, RuleId::A003];

/// Counts over all programs.
#[derive(Default)]
struct Counts {
    programs: u64,
    /// Number of programs whose calls are not in the order of their lines.
    not_followed: u64,
    findings: BTreeMap<(String, String), u64>,
    executed: BTreeMap<String, u64>,
    skipped: BTreeMap<(String, &'static str), u64>,
    idioms: BTreeMap<&'static str, u64>,
    /// Wrong findings, by rule and idiom.
    wrong: BTreeMap<(RuleId, &'static str), u64>,
    differences: Vec<String>,
}

fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn proven_advice_on_random_programs_changes_no_result() {
    let tools = MPIS.iter().flat_map(|mpi| ["mpicc", "mpifort", "mpirun"].map(|tool| format!("{tool}.{mpi}")));
    if !tools.chain(["gcc".into(), "gfortran".into()]).all(|tool| is_there(&tool)) {
        return;
    }
    let (programs, first) = (setting("HAYASE_PROGRAMS", 20), setting("HAYASE_SEED", 1));
    let (shop, counts, next) = (Workshop::new(), Mutex::new(Counts::default()), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= programs {
                        return;
                    }
                    try_program(first + number, &shop, &counts);
                }
            });
        }
    });
    let counts = counts.into_inner().unwrap();
    eprintln!("{}", counts.report());
    assert_eq!(counts.programs, programs, "all programs were tried");
    assert!(counts.executed.values().sum::<u64>() >= programs / 2, "most programs have advice");
    assert!(10 * counts.not_followed <= programs, "{} programs could not be followed", counts.not_followed);
    assert!(counts.differences.is_empty(), "proven, and yet:\n{}", counts.differences.join("\n"));
}

/// Generates the program of a seed, and carries out its advice.
fn try_program(seed: u64, shop: &Workshop, counts: &Mutex<Counts>) {
    let language = match (seed % 2, seed / 4 % 2) {
        (0, _) => Language::C,
        (_, 0) => Language::Fortran,
        _ => Language::Fortran08,
    };
    let mpi = MPIS[(seed / 2 % 2) as usize];
    let name = format!("{seed}-{mpi}");
    let program = generate::program(seed, language);
    let bench = shop.bench(&name, &program, mpi);
    let source = source::recorded(&program);
    let expected = bench.record(&source.text);
    assert_eq!(expected.len(), program.ranks, "{name}: all ranks say what they computed");
    let Some(events) = Events::read(&bench.folder.join("run"), &program, &source) else {
        let mut counts = counts.lock().unwrap();
        counts.programs += 1;
        counts.not_followed += 1;
        return;
    };
    let mover = Mover { program: &program, source: &source, events: &events, mpi };
    let (mut plans, mut titles) = (Vec::new(), Vec::new());
    let mut local = Counts { programs: 1, ..Counts::default() };
    for (finding, certainty) in bench.advise() {
        if !RULES.contains(&finding.rule) {
            continue;
        }
        let rule = finding.rule.to_string();
        *local.findings.entry((rule.clone(), certainty.clone())).or_default() += 1;
        if certainty != "proven" {
            continue;
        }
        match mover.plan(&finding) {
            Ok(plan) => {
                plans.push(plan);
                titles.push((finding.rule, format!("{} {}: {}", finding.id, finding.title, finding.text.join("; "))));
                *local.executed.entry(rule).or_default() += 1;
            }
            Err(why) => *local.skipped.entry((rule, why)).or_default() += 1,
        }
    }
    bench.compile_moved(&source::moved(&program, &plans).text);
    let found = run_all(&bench, program.ranks, plans.len());
    let mut notes = String::new();
    for version in 0..=plans.len() {
        let wrong = (0..program.ranks).find_map(|rank| {
            let (wanted, passes) = (&expected[&(0, rank)][0], found.get(&(version, rank)));
            let passes = passes.map_or(&[][..], Vec::as_slice);
            let differs = passes.len() < PASSES || passes.iter().any(|result| result != wanted);
            differs.then(|| format!("rank {rank}: {wanted} became {passes:?}"))
        });
        let Some(wrong) = wrong else { continue };
        assert_ne!(
            version,
            0,
            "{name} is not always the same: {wrong}; kept in {}",
            bench.keep(&name, &wrong).display()
        );
        let ((rule, title), idiom) = (&titles[version - 1], plans[version - 1].idiom);
        let _ = writeln!(notes, "version {version} ({idiom}): {title}\n    {wrong}");
        *local.wrong.entry((*rule, idiom)).or_default() += 1;
    }
    if !notes.is_empty() {
        let kept = bench.keep(&name, &notes);
        eprintln!("{name}: {}", notes.trim_end());
        local.differences.push(format!("{name} ({}), kept in {}\n{notes}", program.idioms.join(", "), kept.display()));
    }
    for idiom in program.idioms {
        *local.idioms.entry(idiom).or_default() += 1;
    }
    let _ = std::fs::remove_dir_all(&bench.folder);
    let mut counts = counts.lock().unwrap();
    counts.add(local);
    if counts.programs.is_multiple_of(50) {
        eprintln!("{}", counts.report());
    }
}

/// Runs the original and all moved versions; one that hangs or crashes is run again, and then the later ones.
fn run_all(bench: &Bench<'_>, ranks: usize, last: usize) -> Results {
    let complete = |found: &Results, version: usize| {
        (0..ranks).all(|rank| found.get(&(version, rank)).is_some_and(|passes| passes.len() == PASSES))
    };
    let (mut found, mut next) = (Results::new(), 0);
    while next <= last {
        found.extend(bench.run_moved(next..=last));
        while next <= last && complete(&found, next) {
            next += 1;
        }
        if next <= last {
            found.retain(|&(version, _), _| version < next);
            found.extend(bench.run_moved(next..=next));
            next += 1;
        }
    }
    found
}

impl Counts {
    fn add(&mut self, other: Self) {
        fn sum<K: Ord>(to: &mut BTreeMap<K, u64>, from: BTreeMap<K, u64>) {
            for (key, count) in from {
                *to.entry(key).or_default() += count;
            }
        }
        self.programs += other.programs;
        sum(&mut self.findings, other.findings);
        sum(&mut self.executed, other.executed);
        sum(&mut self.skipped, other.skipped);
        sum(&mut self.idioms, other.idioms);
        sum(&mut self.wrong, other.wrong);
        self.differences.extend(other.differences);
    }

    fn report(&self) -> String {
        let mut text = format!("{} programs, {} with differences\n", self.programs, self.differences.len());
        for ((rule, certainty), count) in &self.findings {
            let _ = writeln!(text, "{count:6} {rule} {certainty}");
        }
        for (rule, count) in &self.executed {
            let _ = writeln!(text, "{count:6} {rule} proven and carried out");
        }
        for ((rule, why), count) in &self.skipped {
            let _ = writeln!(text, "{count:6} {rule} proven, not carried out: {why}");
        }
        for ((rule, idiom), count) in &self.wrong {
            let _ = writeln!(text, "{count:6} {rule} proven and wrong: {idiom}");
        }
        let idioms: Vec<String> = self.idioms.iter().map(|(idiom, count)| format!("{idiom} {count}")).collect();
        text + &format!("idioms: {}", idioms.join(", "))
    }
}

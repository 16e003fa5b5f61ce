//! Rules that need a simulation; rules that need only the run are in the crate `hayase-advice`.
//!
//! Each rule has one file; `hayase advise --explain` prints the text file next to it.

mod a201_placement;
mod a202_algorithm;
mod a203_latency;
mod a204_eager;
mod settings;
mod tries;

use std::collections::BTreeMap;
use std::sync::Arc;

use hayase_advice::model::{Change, Finding, Location, Place, Ranks, Role, RuleId, ScenarioChange};
use hayase_advice::rules::Rule;
use hayase_advice::unit::Unit;

use super::gain::{Judge, Simulated, outcome};
use hayase::ids::RankId;
use hayase::player::Transfer;
use hayase::program::Program;
use hayase::program::collectives::{Operation, operation};
use hayase::simulation::{ProgramOutcome, RunOptions};
use hayase::units::Time;

/// Largest number of activities and messages of the run that are kept for the bounds of changes: some 400 MB.
const MAX_KEPT_ACTIVITIES: usize = 6_000_000;

/// Rules of this module.
pub const SIMULATED: &[Rule] = hayase_advice::rules! {
    A201 "a201_placement.txt" "placement"
        "ranks on other nodes, so that messages take shorter ways and share fewer links";
    A202 "a202_algorithm.txt" "algorithm" "collective operations that another algorithm would do sooner";
    A203 "a203_latency.txt" "latency" "a critical path that waits for small messages one after another";
    A204 "a204_eager.txt" "rendezvous"
        "messages that wait for their receivers because they are longer than the eager limit";
};

/// Returns all rules, by number.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    hayase_advice::rules::ALL.iter().chain(SIMULATED)
}

/// Returns the rule with this number or name.
pub fn find(name: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.id.to_string().eq_ignore_ascii_case(name) || rule.name.eq_ignore_ascii_case(name))
}

/// Simulated run of the original program.
#[derive(Debug)]
pub struct Base {
    /// Original program.
    pub program: Arc<Program>,
    /// Makespan and critical path.
    pub simulated: Simulated,
    /// Full outcome of the run.
    pub replayed: ProgramOutcome,
    /// Messages of the run, for the rules.
    pub(super) seen: RunMessages,
    /// Operations of each rank in the selected region, if there is one.
    within: Option<Vec<Vec<(u32, u32)>>>,
}

/// Messages of a run.
#[derive(Debug, Default)]
pub(super) struct RunMessages {
    /// Bytes between ranks \[B\], by sender and receiver.
    pub matrix: BTreeMap<(u32, u32), u64>,
    /// Messages that waited for their receiver, by sending rank and operation.
    pub waited: BTreeMap<(u32, u32), Waited>,
}

/// Messages that waited.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waited {
    pub count: u64,
    pub ns: u64,
    pub largest: u64,
}

impl RunMessages {
    fn transfer(&mut self, transfer: &Transfer, eager: Option<u64>) {
        *self.matrix.entry((transfer.src.0, transfer.dst.0)).or_default() += transfer.bytes;
        if let (true, Some(op)) = (transfer.waited, transfer.op)
            && eager.is_some_and(|eager| transfer.bytes > eager)
        {
            let waited = self.waited.entry((transfer.src.0, op)).or_default();
            waited.count += 1;
            waited.ns += ((transfer.begin - transfer.called).ps() / 1000.0) as u64;
            waited.largest = waited.largest.max(transfer.bytes);
        }
    }
}

impl Base {
    /// Simulates the original program; `keep` keeps all activities and messages of a run of any length.
    ///
    /// # Errors
    /// The program does not complete; the error is the outcome of its run.
    pub fn new(judge: &Judge<'_>, keep: bool) -> Result<Self, Box<ProgramOutcome>> {
        let mut seen = RunMessages::default();
        let limit = eager(judge);
        let mut on_transfer = |transfer: &Transfer| seen.transfer(transfer, limit);
        let replayed = judge.replay.run(RunOptions {
            keep,
            room: Some(MAX_KEPT_ACTIVITIES),
            watch: judge.watch,
            on_transfer: Some(&mut on_transfer),
            ..RunOptions::default()
        });
        match outcome(&replayed) {
            Ok(simulated) => {
                let program = Arc::clone(&judge.replay.work().program);
                let spans = |region| program.iter().map(|(_, rank)| rank.within(region)).collect();
                let within = judge.replay.work().region.map(spans);
                Ok(Self { program, simulated, replayed, seen, within })
            }
            Err(_) => Err(Box::new(replayed)),
        }
    }

    /// True if an operation of a rank lies in the selected region.
    pub(super) fn looks_at(&self, rank: u32, op: u32) -> bool {
        let Some(within) = &self.within else { return true };
        within.get(rank as usize).is_some_and(|spans| {
            spans.get(spans.partition_point(|&(_, end)| end <= op)).is_some_and(|&(first, _)| first <= op)
        })
    }

    /// True if an interval of time overlaps an execution of the selected region.
    pub(super) fn is_at(&self, begin: Time, end: Time, judge: &Judge<'_>) -> bool {
        let region = judge.replay.work().region.and_then(|region| self.replayed.regions.get(region as usize));
        region.is_none_or(|region| region.clipped(begin, end).next().is_some())
    }
}

/// Returns the largest message that does not wait for its receiver \[B\], if the node model has such a limit.
pub fn eager(judge: &Judge<'_>) -> Option<u64> {
    judge.replay.system().node().eager_limit().map(|limit| limit.0)
}

/// Runs the rules that need a simulation; `known` are the findings of the recorded run.
pub fn search(base: &Base, judge: &Judge<'_>, known: &[Finding]) -> Vec<Finding> {
    let mut findings = a201_placement::find(base, judge);
    findings.extend(a202_algorithm::find(base, judge));
    if !known.iter().any(|finding| finding.rule == RuleId::A105) {
        findings.extend(a203_latency::find(base, judge));
    }
    let raised = |finding: &Finding| matches!(finding.change, Change::Scenario(ScenarioChange::RaiseEager { .. }));
    if !known.iter().any(raised) {
        findings.extend(a204_eager::find(base));
    }
    let mut counts: BTreeMap<RuleId, u32> = BTreeMap::new();
    for finding in &mut findings {
        let count = counts.entry(finding.rule).or_default();
        *count += 1;
        finding.id = format!("{}-{count}", finding.rule);
    }
    findings
}

/// Returns the MPI operation of a collective of a program.
pub(super) fn operation_of(program: &Program, number: u32) -> Operation {
    operation(&program.collectives[number as usize])
}

/// Creates a finding without contents.
fn empty(rule: RuleId) -> Finding {
    Finding {
        id: String::new(),
        rule,
        title: String::new(),
        text: Vec::new(),
        places: Vec::new(),
        blockers: Vec::new(),
        ranks: Ranks::default(),
        occurrences: 0,
        executions: 0,
        bytes: 0,
        time_ns: 0,
        caveats: Vec::new(),
        notes: Vec::new(),
        unit: Unit::default(),
        change: Change::None,
    }
}

/// Returns the place at which an operation is called; `?` if it is not known.
fn place(program: &Program, rank: u32, op: u32) -> Location {
    match program.site(RankId(rank), op) {
        Some(site) => Location::parse(site),
        None => Location { file: "?".into(), ..Location::default() },
    }
}

fn a_place(location: &Location, role: Role, occurrences: u64) -> Place {
    Place { location: location.clone(), role, call: None, iterations: None, occurrences, whole: occurrences }
}

/// Returns the start of a line of text about a place; empty for schedules, which have no places.
fn at(location: &Location) -> String {
    if location.file == "?" { String::new() } else { format!("{location}: ") }
}

fn messages(count: u64) -> String {
    if count == 1 { "1 message".to_owned() } else { format!("{count} messages") }
}

/// Returns the unit of times that stand next to the makespan.
fn unit(base: &Base, time_ns: u64) -> Unit {
    Unit::of((base.simulated.makespan_s * 1e9).max(time_ns as f64))
}

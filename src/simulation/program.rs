//! Programs: what ranks do call by call, played on nodes, and over a network where there is one.

use std::cell::RefCell;
use std::sync::Arc;

use serde_json::{Value, json};

use super::ranks::{breakdown, late_ranks, rank_report};
use super::simulated::{RunOptions, Simulated, fingerprint, fits_noise, fits_places, processors};
use super::summary::Summary;
use super::waits::Waits;
use super::{estimate, program_path};
use crate::diagnostic::{Diagnostic, Sources};
use crate::engine::{Mishaps, Progress, Stop, Watch};
use crate::ids::RankId;
use crate::network::Network;
use crate::pattern::{Ground, Pattern, PatternSpec};
use crate::player::{
    Activity, ActivityKind, Observers, OnActivity, OnMark, OnTransfer, Play, Played, Player, RankTimes, Stuck,
    Transfer, alone, rules,
};
use crate::prediction::{Origin, assemble};
use crate::program::as_program;
use crate::program::collectives::Expander;
use crate::program::start_up::StartUp;
use crate::program::{Mark, Op, Program, Wildcards};
use crate::record::{History, PathStep, PlayedRegion, Regions, critical_path};
use crate::report::replay::{OpenReceives, Prediction, PredictionPart, ReplayReport, SCHEMA};
use crate::report::{FaultsReport, Head, Meta, Status, Stopped};
use crate::steady::OnFabric;
use crate::system::System;
use crate::system::{BlockTimes, ProgramDataSpec, ProgramSpec, WorkloadSpec};
use crate::units::Time;
use crate::workload::Blocked;

/// Activities and messages that are kept for the critical path where nobody asks for more.
pub const KEPT: usize = 1_000_000;
/// The same is kept of programs of so many ranks where nobody asks for more: of tens of thousands it would take more
/// time and memory than playing them.
pub const KEPT_RANKS: u32 = 10_000;

/// What ranks do, call by call.
#[derive(Clone, Debug)]
pub struct ProgramWork {
    /// The calls.
    pub program: Arc<Program>,
    /// The name of the program.
    pub name: String,
    /// How fast processors are, relative to those of the trace.
    pub cpu_speed: f64,
    /// What receives take that left open from whom.
    pub wildcards: Wildcards,
    /// The region of the program that is asked for, by its number.
    pub region: Option<u32>,
    /// What of its start is left out.
    pub start_up: Option<StartUp>,
    /// Which data sets it was put together from, where it is a prediction.
    pub origin: Option<Arc<Origin>>,
    /// What a scenario says of it; nothing where it was put together in code.
    pub spec: Option<WorkloadSpec>,
}

/// What a run of a program gave.
#[derive(Clone, PartialEq, Debug)]
pub struct ProgramOutcome {
    /// The report.
    pub report: ReplayReport,
    /// Who waits for whom, where the program deadlocked.
    pub stuck: Vec<Stuck>,
    /// What ranks did and the messages between them, if that was kept.
    pub history: Option<History>,
    /// The steps of the critical path, in order of time; where the run is complete and was kept.
    pub path: Option<Vec<PathStep>>,
    /// The program's regions, by number.
    pub regions: Vec<PlayedRegion>,
}

impl ProgramOutcome {
    /// The figures that all work has in common; of a region, where one is asked for.
    pub fn summary(&self) -> Summary {
        let report = &self.report;
        let blocked = self.stuck.iter().cloned().map(Blocked::from).collect();
        Summary { makespan_s: report.asked_s(), blocked, ..Summary::of(&report.head, &report.meta) }
    }
}

impl ProgramWork {
    /// This program, on processors as fast as those it was recorded on.
    pub fn new(program: impl Into<Arc<Program>>, name: impl Into<String>) -> Self {
        Self {
            program: program.into(),
            name: name.into(),
            cpu_speed: 1.0,
            wildcards: Wildcards::default(),
            region: None,
            start_up: None,
            origin: None,
            spec: None,
        }
    }

    /// The same, asked for one region of the program.
    ///
    /// # Errors
    /// There is none of this name.
    pub fn of_region(self, name: &str) -> Result<Self, Diagnostic> {
        let region = self.program.region(name)?;
        Ok(Self { region: Some(region), ..self })
    }

    /// Another program of as many ranks, asked for the same.
    #[must_use]
    pub fn with_program(&self, program: Arc<Program>) -> Self {
        Self { program, spec: None, origin: None, ..self.clone() }
    }

    /// Whether messages are told apart by the rules of MPIETE alone: nothing depends on the order in which they arrive.
    pub fn by_rules(&self, system: &System) -> bool {
        let open = self.wildcards == Wildcards::Arrival && self.program.pinned() > 0;
        system.node().facts().is_table && !open && rules::apply(&self.program)
    }

    /// The program in which receives that left open from whom take what comes, where that is asked for and there are
    /// any.
    pub(super) fn played_otherwise(&self) -> Option<Program> {
        (self.wildcards == Wildcards::Arrival && self.program.pinned() > 0).then(|| self.program.unpinned())
    }

    /// The same with what is random drawn again; a pattern that it is the program of has so many ranks where it does
    /// not say how many.
    pub(super) fn with_seed_among(
        &self,
        ground: &dyn Ground,
        seed: u64,
        sources: &mut Sources,
    ) -> Result<Self, Vec<Diagnostic>> {
        let mut work = self.clone();
        if let Some(spec) = self.drawn_data() {
            work.program = Arc::new(assemble(spec, seed, sources)?.program);
        }
        if let Some(spec) = self.random_pattern() {
            work.program = Arc::new(calls_of(&*spec.build(ground, seed, sources)?, spec, seed)?);
        }
        Ok(work)
    }

    /// The pattern that it is the program of, if that depends on the seed.
    fn random_pattern(&self) -> Option<&PatternSpec> {
        match &self.spec {
            Some(WorkloadSpec::Pattern(pattern)) => {
                let jitter = *pattern.traffic().message_jitter > Time::ZERO;
                (jitter || pattern.depends_on_seed()).then_some(pattern)
            }
            _ => None,
        }
    }

    /// The data sets that it is put together from, if times of blocks are drawn.
    fn drawn_data(&self) -> Option<&ProgramDataSpec> {
        match &self.spec {
            Some(WorkloadSpec::Program(ProgramSpec::ProgramData(spec))) => {
                (spec.times == BlockTimes::Draw).then_some(spec)
            }
            _ => None,
        }
    }
}

/// The calls that the ranks of a pattern make.
///
/// # Errors
/// A pattern whose messages no calls send.
pub(crate) fn calls_of(pattern: &dyn Pattern, spec: &PatternSpec, seed: u64) -> Result<Program, Vec<Diagnostic>> {
    let traffic = spec.traffic();
    as_program(pattern, *traffic.injection, *traffic.message_jitter, seed)
}

impl Simulated for ProgramWork {
    type Outcome = ProgramOutcome;

    fn fits(&self, system: &System) -> Result<(), Diagnostic> {
        if !system.node().facts().knows_receives && self.program.has_threads() {
            let what = format!("ranks of `{}` have several threads, which this node model does not know", self.name);
            return Err(Diagnostic::new("several-threads", what).help("replay it with loggps, loggp or ideal"));
        }
        fits_noise(system, self.program.ranks(), &[])?;
        fits_places(&self.name, self.program.ranks(), system)
    }

    fn play(&self, system: &System, options: RunOptions<'_>) -> Result<ProgramOutcome, Diagnostic> {
        Ok(Playing { work: self, system }.run(options))
    }

    fn summary(outcome: &ProgramOutcome) -> Summary {
        outcome.summary()
    }

    fn ends(outcome: &ProgramOutcome) -> Vec<f64> {
        outcome.report.ranks.iter().map(|rank| rank.end_s).collect()
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn ranks(&self) -> u32 {
        self.program.ranks()
    }

    fn messages(&self) -> u64 {
        self.program.messages()
    }

    fn spec(&self) -> Option<&WorkloadSpec> {
        self.spec.as_ref()
    }

    fn depends_on_seed(&self) -> bool {
        self.random_pattern().is_some() || self.drawn_data().is_some()
    }

    fn with_seed_of(&self, system: &System, sources: &mut Sources) -> Result<Self, Vec<Diagnostic>> {
        // Without a network the pattern says itself how many ranks it has.
        let ranks = self.program.ranks();
        let network = system.network();
        let on = network.map(|network| OnFabric { fabric: &network.fabric, router: &*network.router });
        let ground: &dyn Ground = on.as_ref().map_or(&ranks, |on| on);
        self.with_seed_among(ground, system.seed(), sources)
    }

    fn to_json(&self, system: &System) -> Value {
        let mut spec = self.spec.clone();
        if let Some(WorkloadSpec::Program(program)) = &mut spec {
            // It may have been changed since it was written.
            program.set_cpu_speed(self.cpu_speed);
        }
        let mut value = system.to_json(spec.as_ref(), true);
        if let (None, Some(map)) = (&self.spec, value.as_object_mut()) {
            map.insert("trace".to_owned(), self.name.clone().into());
            map.insert("cpu-speed".to_owned(), json!(self.cpu_speed));
            if self.wildcards != Wildcards::default() {
                map.insert("wildcards".to_owned(), self.wildcards.name().into());
            }
        }
        value
    }
}

/// A program that is played on a system.
#[derive(Clone, Copy)]
pub(super) struct Playing<'a> {
    pub work: &'a ProgramWork,
    pub system: &'a System,
}

impl Playing<'_> {
    /// Plays it.
    fn run(self, options: RunOptions<'_>) -> ProgramOutcome {
        let start = crate::base::wall_clock::now();
        let Self { work, system } = self;
        let RunOptions { mut on_activity, mut on_transfer, mut on_mark, late, keep, room, until, watch, added, .. } =
            options;
        let total = work.program.messages();
        let room = match room {
            _ if keep => usize::MAX,
            Some(room) => room,
            None if work.program.ranks() > KEPT_RANKS => 0,
            None => KEPT,
        };
        // Each message is kept: of so many nothing would be left, and nothing is begun.
        let keeps = total <= room as u64 && room > 0;
        let history = RefCell::new(History::new(if keeps { work.program.ranks() } else { 0 }, room));
        let watched = Until { until, watch };
        let go_on =
            |now: Time, delivered: u64| watched.tick(Progress { now, delivered, total: total.max(delivered + 1) });
        let expander = Expander::new(system.collectives().clone());
        let mut waits = Waits::default();
        let pinned = work.program.pinned();
        let unpinned = work.played_otherwise();
        let program = unpinned.as_ref().unwrap_or(&work.program);
        let (mut matched, mut as_recorded) = (0_u64, 0_u64);
        // Nobody else wants to know of messages.
        let looks_on = pinned > 0 || keeps || on_transfer.is_some();
        let mut see_transfer = |transfer: &Transfer| {
            if pinned > 0
                && let Some((op, sent)) = self.open_receive(transfer)
            {
                matched += 1;
                as_recorded += u64::from((op.peer, op.tag) == (transfer.src.0, sent.tag));
            }
            if keeps {
                history.borrow_mut().transfer(transfer);
            }
            if let Some(on_transfer) = &mut on_transfer {
                on_transfer(transfer);
            }
        };
        let marked = program.has_regions();
        let regions = RefCell::new(Regions::new(program));
        let mut see_mark = |rank: RankId, mark: &Mark, time: Time| {
            regions.borrow_mut().mark(rank, mark, time);
            if let Some(on_mark) = &mut on_mark {
                on_mark(rank, mark, time);
            }
        };
        let on_mark: Option<OnMark<'_>> = if marked { Some(&mut see_mark) } else { None };
        let knows_waits = system.node().facts().knows_receives;
        let sees = marked || knows_waits || keeps || on_activity.is_some();
        let mut see = |activity: &Activity| {
            if marked {
                regions.borrow_mut().activity(activity);
            }
            if knows_waits && work.region.is_none_or(|region| regions.borrow().is_open(activity.rank, region)) {
                waits.see(activity);
            }
            if keeps {
                history.borrow_mut().activity(activity);
            }
            if let Some(on_activity) = &mut on_activity {
                on_activity(activity);
            }
        };
        let on_transfer: Option<OnTransfer<'_>> = if looks_on { Some(&mut see_transfer) } else { None };
        let on_activity: Option<OnActivity<'_>> = if sees { Some(&mut see) } else { None };
        let observers = Observers { on_activity, on_transfer, on_mark };
        let mut mishaps = None;
        let processors = processors(system, work.program.ranks(), added);
        let played = match system.network() {
            None => {
                let speed = (work.cpu_speed, processors);
                alone(program, system.node().playing(), &expander, speed, observers, &go_on)
            }
            Some(network) => {
                // Models that are a network of their own have been refused; nothing is left to play of one.
                let costs = system.node().costs().unwrap_or_default();
                let (expand, cpu_speed) = (Some(&expander as _), work.cpu_speed);
                let player = Player::new(Play { program, costs, expand, cpu_speed, on_fabric: true }, observers);
                let player = player.slowed(processors);
                let (played, told) = over(network, player, Some(&watched));
                mishaps = told;
                played
            }
        };
        let meta = Meta::since(start, played.events, None);
        let mut history = history.into_inner();
        history.sort();
        if late && keeps {
            history.came_together(self.together(program, &history));
        }
        let history = (keeps && !history.is_full()).then_some(history);
        let whole = !played.interrupted && played.stuck.is_empty();
        let makespan = played.makespan();
        let last = (0..).map(RankId).zip(&played.ranks).find(|(_, times)| times.end == makespan);
        let path = history
            .as_ref()
            .zip(last)
            .filter(|_| whole)
            .map(|(history, (rank, times))| critical_path(history, rank, times.end));
        let regions = regions.into_inner().finish(&played.ranks, makespan);
        let mut report = self.report(&played, waits, meta);
        report.head.faults = system.network().and_then(|network| FaultsReport::of_run(network, mishaps.as_deref()));
        self.report_regions(&mut report, &regions);
        report.open_receives = (pinned > 0).then(|| OpenReceives {
            take: work.wildcards.name(),
            receives: pinned,
            seen: matched,
            as_recorded,
        });
        let within = work.region.and_then(|region| regions.get(region as usize));
        let described = program_path::described(&work.program, system);
        let operation = |step: &PathStep| Some((step.rank.0, step.op?));
        report.critical_path = path.as_ref().map(|path| program_path::summary(path, &operation, &described, within));
        // Of a region it is not known who was late within it alone.
        let asked = late && whole && work.region.is_none();
        report.late = history.as_ref().filter(|_| asked).map(late_ranks).unwrap_or_default();
        ProgramOutcome { report, stuck: played.stuck, history, path, regions }
    }

    /// By rank: when it had done each of the collectives in which all ranks wait for all; nothing where the order of
    /// its operations is not that of time.
    fn together(&self, program: &Program, history: &History) -> Vec<Vec<Time>> {
        if !self.system.node().facts().knows_receives || program.has_graphs() {
            return Vec::new();
        }
        let of_rank = |rank: RankId| {
            let mut activities = history.of(rank).iter().peekable();
            let (mut done, mut ended) = (Time::ZERO, Vec::new());
            let ops = program.rank(rank).ops.iter().enumerate();
            for (at, _) in ops.filter(|(_, op)| program.waits_for_all(op)) {
                while let Some(activity) = activities.next_if(|activity| activity.op as usize <= at) {
                    done = done.max(activity.end);
                }
                ended.push(done);
            }
            ended
        };
        program.rank_ids().map(of_rank).collect()
    }

    /// The receive that took a message, where it is one that left open what it takes, and the send.
    fn open_receive(&self, transfer: &Transfer) -> Option<(Op, Op)> {
        let receive = *self.work.program.rank(transfer.dst).ops.get(transfer.received_by? as usize)?;
        let send = *self.work.program.rank(transfer.src).ops.get(transfer.op? as usize)?;
        receive.is_pinned().then_some((receive, send))
    }

    fn report(&self, played: &Played, waits: Waits, meta: Meta) -> ReplayReport {
        let makespan_s = played.makespan().seconds();
        let measured_s = self.work.program.measured().map(Time::seconds).filter(|&measured| measured > 0.0);
        let status = match (played.interrupted, played.stuck.is_empty()) {
            (true, _) => Status::Interrupted,
            (false, true) => Status::Complete,
            (false, false) => Status::Deadlocked,
        };
        let spent = |times: &RankTimes| {
            let times = *times;
            std::iter::once(times.end).chain(ActivityKind::ALL.into_iter().map(move |kind| times.of(kind)))
        };
        let ran = Stopped { at_s: played.last.seconds(), messages: played.messages, bytes: played.bytes };
        ReplayReport {
            head: Head {
                makespan_s,
                estimated: estimate::not_of(self.system, "programs"),
                fingerprint: fingerprint(played.ranks.iter().flat_map(spent)),
                ..Head::of_run(SCHEMA, self.work.to_json(self.system), status, ran)
            },
            program: format!(
                "{} ({}, {} operations)",
                self.work.name,
                match self.work.program.ranks() {
                    1 => "1 rank".to_owned(),
                    ranks => format!("{ranks} ranks"),
                },
                self.work.program.operations()
            ),
            caveats: self.work.program.caveats.clone(),
            node: self.system.node().name().to_owned(),
            network: self.system.network_name(),
            measured_s,
            error: measured_s.filter(|_| status == Status::Complete).map(|measured| makespan_s / measured - 1.0),
            region: None,
            regions: Vec::new(),
            operations: self.work.program.operations(),
            unreceived: played.unreceived,
            breakdown: breakdown(&played.ranks, (status != Status::Complete).then_some(played.last)),
            waits: waits.longest(),
            open_receives: None,
            critical_path: None,
            late: Vec::new(),
            prediction: self.work.origin.as_ref().map(|origin| self.prediction(origin)),
            ranks: played.ranks.iter().enumerate().map(|(rank, times)| rank_report(rank as u32, times)).collect(),
            meta,
        }
    }

    /// What it was put together from, as a report has it.
    fn prediction(&self, origin: &Origin) -> Prediction {
        let part = |(ranks, computation, scale): &(String, String, f64)| PredictionPart {
            ranks: ranks.clone(),
            computation: computation.clone(),
            scale: *scale,
        };
        Prediction {
            program: origin.program.clone(),
            computation: origin.computation.iter().map(part).collect(),
            communication: origin.communication.clone(),
            recorded_s: origin.recorded.map(Time::seconds),
            waits: match self.system.node().facts().is_table {
                true if self.work.by_rules(self.system) => "rules",
                true => "order of arrival",
                false => "simulated",
            },
            direct: origin.found.direct,
            by_name: origin.found.by_name,
            other_ranks: origin.found.other_ranks,
            times: origin.times.name(),
        }
    }
}

/// Plays a program over a network.
fn over(network: &Network, mut player: Player<'_>, watch: Option<&dyn Watch>) -> (Played, Option<Box<Mishaps>>) {
    let outcome = network.play(&mut player, watch);
    (player.ended(outcome.stop == Stop::Interrupted), outcome.mishaps)
}

/// Ends a run at a time, or when whoever looks on wants it.
struct Until<'a> {
    until: Option<Time>,
    watch: Option<&'a dyn Watch>,
}

impl Watch for Until<'_> {
    fn tick(&self, progress: Progress) -> bool {
        self.until.is_none_or(|until| progress.now <= until) && self.watch.is_none_or(|watch| watch.tick(progress))
    }
}

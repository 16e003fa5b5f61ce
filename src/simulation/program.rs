//! Programs: the calls of each rank, played on nodes and, if there is one, over a network.

use std::cell::RefCell;
use std::sync::Arc;

use serde_json::{Value, json};

use super::link_uses::{LinkUses, MESSAGES_WITH_LINK_TIMES, MOST_USED};
use super::optimum::Exchanged;
use super::ranks::{breakdown, late_ranks, rank_report};
use super::simulated::{RunOptions, Simulated, fingerprint, fits_noise, fits_places, processors};
use super::step::{played_step, repeat};
use super::summary::Summary;
use super::symmetry::Quotient;
use super::waits::Waits;
use super::{estimate, program_path};
use crate::collective::{Call, Sizes};
use crate::diagnostic::{Diagnostic, Sources};
use crate::engine::{Mishaps, Progress, Stop, Watch};
use crate::ids::RankId;
use crate::network::Network;
use crate::pattern::{FabricInfo, Pattern, PatternSpec};
use crate::player::{
    Activity, ActivityKind, Observers, OnActivity, OnDone, OnMark, OnTransfer, Play, Played, Player, RankTimes, Stuck,
    Transfer, alone, rules,
};
use crate::prediction::{Origin, assemble};
use crate::program::collectives::Expander;
use crate::program::start_up::StartUp;
use crate::program::{Mark, Op, Program, Wildcards};
use crate::program::{as_program, call_as_program};
use crate::record::{History, LinkMeasures, PathStep, PlayedRegion, Recorder, Regions, critical_path};
use crate::report::replay::{OpenReceives, Prediction, PredictionPart, ReplayReport, SCHEMA};
use crate::report::{Bounds, FaultsReport, Head, Meta, Status, Stopped};
use crate::steady::OnFabric;
use crate::symmetry::Folded;
use crate::system::{BlockTimes, ProgramDataSpec, ProgramSpec, WorkloadSpec};
use crate::system::{Symmetry, System};
use crate::training::{Repetition, Step, StepRecord};
use crate::transport::Metered;
use crate::units::Time;
use crate::workload::Blocked;

/// Number of activities and messages that are kept for the critical path by default.
pub const KEPT: usize = 1_000_000;
/// Largest number of ranks for which activities and messages are kept by default. For tens of thousands of
/// ranks they would take more time and memory than playing the program.
pub const KEPT_RANKS: u32 = 10_000;

/// A program: the calls of each rank.
#[derive(Clone, Debug)]
pub struct ProgramWork {
    /// Calls of the ranks.
    pub program: Arc<Program>,
    /// Name of the program.
    pub name: String,
    /// Speed of processors, relative to those of the trace.
    pub cpu_speed: f64,
    /// Rule by which wildcard receives choose a message.
    pub wildcards: Wildcards,
    /// Number of the region of the program that results are asked for.
    pub region: Option<u32>,
    /// Part of the start that is left out.
    pub start_up: Option<StartUp>,
    /// Data sets that a prediction was assembled from.
    pub origin: Option<Arc<Origin>>,
    /// The program as a scenario describes it; `None` if it was built in code.
    pub spec: Option<WorkloadSpec>,
    /// Number of micro-batches of a training step whose program is only its beginning, since the rest repeats.
    pub beginning: Option<u64>,
}

/// Outcome of a run of a program.
#[derive(Clone, PartialEq, Debug)]
pub struct ProgramOutcome {
    /// The report.
    pub report: ReplayReport,
    /// Blocked ranks and what they wait for, if the program deadlocked.
    pub stuck: Vec<Stuck>,
    /// Activities of ranks and the messages between them, if they were kept.
    pub history: Option<History>,
    /// Steps of the critical path in order of time, if the run is complete and was kept.
    pub path: Option<Vec<PathStep>>,
    /// Regions of the program, by number.
    pub regions: Vec<PlayedRegion>,
    /// Use of links, if it was asked for and there is a network.
    pub links: LinkUses,
}

impl ProgramOutcome {
    /// Returns the figures that all kinds of work share; those of a region if one is asked for.
    pub fn summary(&self) -> Summary {
        let report = &self.report;
        let blocked = self.stuck.iter().cloned().map(Blocked::from).collect();
        Summary {
            makespan_s: report.asked_s(),
            blocked,
            llm: report.llm.as_ref().map(|step| step.parts),
            ..Summary::of(&report.head, &report.meta)
        }
    }
}

impl ProgramWork {
    /// Creates the work of this program, on processors as fast as those it was recorded on.
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
            beginning: None,
        }
    }

    /// Returns the observations that a run makes unless others are asked for.
    pub fn usual<'a>(&self) -> RunOptions<'a> {
        let link_use = self.program.messages() <= MESSAGES_WITH_LINK_TIMES;
        RunOptions { link_use, late: true, ..RunOptions::default() }
    }

    /// Returns the same work with results asked for one region of the program.
    ///
    /// # Errors
    /// There is no region of this name.
    pub fn of_region(self, name: &str) -> Result<Self, Diagnostic> {
        let region = self.program.region(name)?;
        Ok(Self { region: Some(region), ..self })
    }

    /// Returns the same work with another program of as many ranks.
    #[must_use]
    pub fn with_program(&self, program: Arc<Program>) -> Self {
        Self { program, spec: None, origin: None, beginning: None, ..self.clone() }
    }

    /// True if messages are matched by the rules of MPIETE alone, so that nothing depends on their order of
    /// arrival.
    pub fn by_rules(&self, system: &System) -> bool {
        let open = self.wildcards == Wildcards::Arrival && self.program.pinned() > 0;
        system.node().facts().is_table && !open && rules::apply(&self.program)
    }

    /// Returns the program whose wildcard receives take messages in order of arrival, if that is asked for
    /// and there are any.
    pub(super) fn with_open_receives(&self) -> Option<Program> {
        (self.wildcards == Wildcards::Arrival && self.program.pinned() > 0).then(|| self.program.unpinned())
    }

    /// Returns the same work with everything random drawn again. If the program comes from a pattern,
    /// `ground` gives the number of ranks where the pattern does not.
    pub(super) fn with_seed_among(
        &self,
        ground: &dyn FabricInfo,
        seed: u64,
        sources: &mut Sources,
    ) -> Result<Self, Vec<Diagnostic>> {
        let mut work = self.clone();
        if let Some(spec) = self.drawn_data() {
            work.program = Arc::new(assemble(spec, seed, sources)?.program);
        }
        if let Some(spec) = self.varying_pattern() {
            work.program = Arc::new(calls_of(&*spec.build(ground, seed, sources)?, spec, seed)?);
        }
        Ok(work)
    }

    /// Returns the pattern that the program comes from, if it depends on the seed or on the placement.
    fn varying_pattern(&self) -> Option<&PatternSpec> {
        match &self.spec {
            Some(WorkloadSpec::Pattern(pattern)) => {
                let varies = has_jitter(pattern) || pattern.depends_on_seed() || pattern.knows_fabric();
                varies.then_some(pattern)
            }
            _ => None,
        }
    }

    /// Returns the data sets that the program is assembled from, if times of blocks are drawn.
    fn drawn_data(&self) -> Option<&ProgramDataSpec> {
        match &self.spec {
            Some(WorkloadSpec::Program(ProgramSpec::ProgramData(spec))) => {
                (spec.times == BlockTimes::Draw).then_some(spec)
            }
            _ => None,
        }
    }
}

/// Returns the calls that the ranks of a pattern make.
///
/// # Errors
/// A pattern whose messages cannot be sent by calls.
pub(crate) fn calls_of(pattern: &dyn Pattern, spec: &PatternSpec, seed: u64) -> Result<Program, Vec<Diagnostic>> {
    let traffic = spec.traffic();
    if *traffic.barrier_cost > Time::ZERO {
        let message = "`barrier-cost` has no meaning on nodes with costs: there a barrier is a collective of its ranks";
        let mistake = Diagnostic::new("unused-option", message).at_value(&traffic.barrier_cost);
        return Err(vec![mistake.help("leave it out; [collectives] chooses the algorithm of the barrier")]);
    }
    let jitter = *traffic.message_jitter;
    match pattern.call() {
        Some((call @ &Call { sizes: Sizes::Equal(bytes), .. }, plan)) if spec.is_usual() => {
            call_as_program(call, bytes, plan, (jitter, seed))
        }
        _ => as_program(pattern, *traffic.injection, jitter, seed),
    }
}

/// Returns true if ranks of the pattern start at random times.
fn has_jitter(pattern: &PatternSpec) -> bool {
    *pattern.traffic().message_jitter > Time::ZERO
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
        let repeats = self.beginning.is_some() && self.may_repeat(system, &options);
        let mut work = std::borrow::Cow::Borrowed(self);
        while let Some(played) = work.beginning {
            if repeats {
                let RunOptions { watch, ref added, .. } = options;
                let options = RunOptions { watch, added: added.clone(), room: Some(0), ..RunOptions::default() };
                let outcome = Playing { work: &work, system }.run(options);
                if outcome.report.llm.is_some() || outcome.report.head.status != Status::Complete {
                    return Ok(outcome);
                }
            }
            let more = if repeats { 4 * played } else { u64::MAX };
            work = std::borrow::Cow::Owned(work.into_owned().with_micro_batches(more)?);
        }
        Ok(Playing { work: &work, system }.run(options))
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
        self.varying_pattern().is_some_and(|pattern| pattern.depends_on_seed() || has_jitter(pattern))
            || self.drawn_data().is_some()
    }

    fn with_seed_of(&self, system: &System, sources: &mut Sources) -> Result<Self, Vec<Diagnostic>> {
        // Without a network the number of ranks comes from the pattern.
        let ranks = self.program.ranks();
        let network = system.network();
        let on = network.map(|network| OnFabric {
            fabric: &network.fabric,
            router: &*network.router,
            places: Some(network.placement.as_slice()),
            per_node: 1,
        });
        let ground: &dyn FabricInfo = on.as_ref().map_or(&ranks, |on| on);
        self.with_seed_among(ground, system.seed(), sources)
    }

    fn to_json(&self, system: &System) -> Value {
        let mut spec = self.spec.clone();
        if let Some(WorkloadSpec::Program(program)) = &mut spec {
            // The speed may have changed since the scenario was read.
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

/// A program being played on a system.
#[derive(Clone, Copy)]
pub(super) struct Playing<'a> {
    pub work: &'a ProgramWork,
    pub system: &'a System,
}

impl Playing<'_> {
    /// Plays the program.
    fn run(self, options: RunOptions<'_>) -> ProgramOutcome {
        let start = crate::base::wall_clock::now();
        let Self { work, system } = self;
        // Observers see every rank, so all ranks are played for them.
        let is_observed = options.is_observed();
        let RunOptions { mut on_activity, mut on_transfer, mut on_mark, late, keep, room, until, watch, added, .. } =
            options;
        let measures = LinkMeasures { times: options.link_use, series: options.link_series };
        let expander = Expander::new(system.collectives().clone()).of(&work.program);
        let processors = processors(system, work.program.ranks(), added);
        let total = work.program.messages();
        let room = match room {
            _ if keep => usize::MAX,
            Some(room) => room,
            None if work.program.ranks() > KEPT_RANKS => 0,
            None => KEPT,
        };
        // A history that cannot hold all messages would be dropped, so it is not begun.
        let can_keep = total <= room as u64 && room > 0;
        let training = work.training();
        // A run whose history is kept tells more of its ranks than a folded one.
        let folds = match system.symmetry() {
            // Collectives of a training step send far more messages than a history can hold.
            Symmetry::Auto => !(late && can_keep) || training.is_some(),
            Symmetry::On => true,
            Symmetry::Off => false,
        };
        let folds = folds && !is_observed && processors.is_none();
        let quotient = if folds { self.quotient(&expander) } else { None };
        let keeps = can_keep && quotient.is_none();
        let history = RefCell::new(History::new(if keeps { work.program.ranks() } else { 0 }, room));
        let watched = TimeLimit { until, watch };
        let go_on =
            |now: Time, delivered: u64| watched.tick(Progress { now, delivered, total: total.max(delivered + 1) });
        let mut waits = Waits::default();
        let pinned = work.program.pinned();
        let unpinned = work.with_open_receives();
        let whole_program = unpinned.as_ref().unwrap_or(&work.program);
        let program = quotient.as_ref().map_or(whole_program, |quotient| &quotient.program);
        let (mut matched, mut as_recorded) = (0_u64, 0_u64);
        // Messages are observed only if something needs them.
        let exchanged = system.optimum().and_then(|_| Exchanged::new(system.network()?)).map(RefCell::new);
        let looks_on = pinned > 0 || keeps || on_transfer.is_some() || exchanged.is_some();
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
            if let Some(exchanged) = &exchanged {
                exchanged.borrow_mut().add(transfer.src, transfer.dst, transfer.bytes);
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
        let step = training.as_ref().map(|(step, gpu)| {
            let folded = quotient.as_ref().map(|quotient| Arc::clone(&quotient.folded));
            let record = StepRecord::new(whole_program).with_played(folded);
            RefCell::new(match work.beginning.map(|few| step.beginning(few)) {
                Some(few) => record.with_passes(&Step::new(&few.model, &few.layout, gpu)),
                None => record,
            })
        });
        let counted = step.as_ref().filter(|_| work.beginning.is_some());
        let sees = marked || knows_waits || keeps || on_activity.is_some() || counted.is_some();
        let mut see = |activity: &Activity| {
            if marked {
                regions.borrow_mut().activity(activity);
            }
            if let Some(step) = counted {
                step.borrow_mut().spent(activity.rank, activity.kind as usize, activity.end - activity.begin);
            }
            if knows_waits && work.region.is_none_or(|region| regions.borrow().is_open(activity.rank, region)) {
                waits.record(activity);
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
        let mut see_done = |rank: RankId, op: u32, now: Time| {
            if let Some(step) = &step {
                step.borrow_mut().done(rank, op, now);
            }
        };
        let on_done: Option<OnDone<'_>> = if step.is_some() { Some(&mut see_done) } else { None };
        let observers = Observers { on_activity, on_transfer, on_mark, on_done };
        let (mut mishaps, mut links) = (None, LinkUses::default());
        let mut played = match system.network() {
            None => {
                let speed = (work.cpu_speed, processors);
                alone(program, system.node().playing(), &expander, speed, observers, &go_on)
            }
            Some(network) => {
                // A system with a network has no node model that is a network of its own.
                let costs = system.node().costs().unwrap_or_default();
                let (expand, cpu_speed) = (Some(&expander as _), work.cpu_speed);
                let player = Player::new(Play { program, costs, expand, cpu_speed, on_fabric: true }, observers);
                let player = player.slowed(processors);
                let folded = quotient.as_ref().map(|quotient| &quotient.folded);
                let (network, player) = match &quotient {
                    Some(quotient) => (&quotient.network, player.folded(&quotient.folded)),
                    None => (network, player),
                };
                let played;
                (played, mishaps, links) = play_on_network(network, player, folded, measures, Some(&watched));
                played
            }
        };
        let meta = Meta::since(start, played.events, None);
        let mut history = history.into_inner();
        history.sort();
        if late && keeps {
            history.set_common_operations(self.collective_ends(program, &history));
        }
        let history = (keeps && !history.is_full()).then_some(history);
        let whole = !played.interrupted && played.stuck.is_empty();
        let mut step = step.map(RefCell::into_inner);
        step.iter_mut().for_each(StepRecord::expand);
        let all = training.as_ref().map_or(0, |(step, _)| step.layout.micro_batches(&step.model));
        let repetition = match (&step, work.beginning.filter(|_| whole)) {
            (Some(step), Some(played)) => step.repetition(all - played),
            _ => None,
        };
        if let Some(repetition) = &repetition {
            repeat(&mut played, repetition, whole_program, &expander);
            waits = Waits::default();
        }
        let makespan = played.makespan();
        let last = (0..).map(RankId).zip(&played.ranks).find(|(_, times)| times.end == makespan);
        let path = history
            .as_ref()
            .zip(last)
            .filter(|_| whole)
            .map(|(history, (rank, times))| critical_path(history, rank, times.end));
        let regions = regions.into_inner().finish(&played.ranks, makespan);
        let mut report = self.report(&played, waits, meta);
        (report.links, report.delays) = (links.most_delayed(MOST_USED), links.delays());
        report.classes = quotient.as_ref().map(|quotient| quotient.folded.classes());
        if let Some(exchanged) = exchanged.as_ref().filter(|_| whole) {
            let (now, messages) = (makespan, played.messages);
            let progress = Progress { now, delivered: messages, total: messages };
            let mut bounds = Bounds::default();
            exchanged.borrow().bound(system, watch, progress, &mut bounds);
            report.ratio_to_optimum = bounds.ratio_to_optimum(makespan.seconds());
            report.bounds = Some(bounds);
        }
        let is_whole = whole && (work.beginning.is_none() || repetition.is_some());
        let parts = step.map(|step| step.finish(repetition.as_ref())).filter(|parts| is_whole && parts.step_s > 0.0);
        let few = work.beginning.unwrap_or(all);
        report.llm = training.zip(parts).map(|(step, parts)| played_step(&step, parts, few));
        report.operations += repetition.iter().flat_map(Repetition::operations).sum::<u64>();
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
        // Late ranks are not known within a region alone.
        let asked = late && whole && work.region.is_none();
        report.late = history.as_ref().filter(|_| asked).map(late_ranks).unwrap_or_default();
        ProgramOutcome { report, stuck: played.stuck, history, path, regions, links }
    }

    /// Returns the program of one rank of each class, if ranks do the same and nothing asks for each of them.
    fn quotient(self, expander: &Expander) -> Option<Quotient> {
        let Self { work, system } = self;
        let network = system.network()?;
        let is_plain = system.optimum().is_none() && !work.program.has_regions() && work.program.pinned() == 0;
        let costs = system.node().costs().unwrap_or_default();
        let is_wanted = system.symmetry() == Symmetry::On;
        is_plain.then(|| Quotient::of(&work.program, expander, network, &costs, is_wanted)).flatten()
    }

    /// Returns, for each rank, the times at which it completed each collective that synchronises all ranks.
    /// Returns nothing if the order of operations is not their order in time.
    fn collective_ends(&self, program: &Program, history: &History) -> Vec<Vec<Time>> {
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

    /// Returns the receive and the send of a message, if the receive is a wildcard.
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
                estimated: estimate::not_estimated(self.system, "programs"),
                fingerprint: fingerprint(played.ranks.iter().flat_map(spent)),
                ..Head::of_run(SCHEMA, self.work.to_json(self.system), status, ran)
            },
            bounds: None,
            ratio_to_optimum: None,
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
            classes: None,
            unreceived: played.unreceived,
            breakdown: breakdown(&played.ranks, (status != Status::Complete).then_some(played.last)),
            waits: waits.longest(),
            open_receives: None,
            critical_path: None,
            late: Vec::new(),
            links: Vec::new(),
            delays: None,
            llm: None,
            prediction: self.work.origin.as_ref().map(|origin| self.prediction(origin)),
            ranks: played.ranks.iter().enumerate().map(|(rank, times)| rank_report(rank as u32, times)).collect(),
            meta,
        }
    }

    /// Returns the data sets of a prediction for the report.
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

/// Plays a program over a network, and measures its links.
pub(super) fn play_on_network(
    network: &Network,
    mut player: Player<'_>,
    folded: Option<&Arc<Folded>>,
    measures: LinkMeasures,
    watch: Option<&dyn Watch>,
) -> (Played, Option<Box<Mishaps>>, LinkUses) {
    let (outcome, links) = if measures == LinkMeasures::default() {
        (network.play(&mut player, watch), LinkUses::default())
    } else {
        let times = folded.map(|folded| folded.all_times());
        let metered = match &times {
            _ if !measures.times => Metered::Nothing,
            Some(times) => Metered::Classes(times),
            None => Metered::Links,
        };
        let mut recorder = Recorder::new(&network.fabric, &network.placement, None, measures);
        let mut outcome = network.record(&mut player, metered, &mut recorder, watch);
        let links = LinkUses::of(network, &mut recorder, &mut outcome);
        match folded {
            Some(folded) => (outcome, links.expanded(folded)),
            None => (outcome, links),
        }
    };
    (player.ended(outcome.stop == Stop::Interrupted), outcome.mishaps, links)
}

/// A watch that ends a run at a given time or when an inner watch asks for it.
struct TimeLimit<'a> {
    until: Option<Time>,
    watch: Option<&'a dyn Watch>,
}

impl Watch for TimeLimit<'_> {
    fn tick(&self, progress: Progress) -> bool {
        self.until.is_none_or(|until| progress.now <= until) && self.watch.is_none_or(|watch| watch.tick(progress))
    }
}

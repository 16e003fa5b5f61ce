//! Patterns: messages as a function of rank and number, played on a network, and their report.

use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::Arc;

use super::estimate::{self, Pilot};
use super::link_uses::{LinkUses, MESSAGES_WITH_LINK_TIMES, MOST_USED};
use super::optimum::bound_of_pattern;
use super::program::KEPT;
use super::ranks::of_pattern;
use super::simulated::{RunOptions, Simulated, fits_noise, fits_places, processors, time_over, without_network};
use super::summary::Summary;
use super::waits::Waits;
use crate::diagnostic::{Diagnostic, Sources};
use crate::engine::{Flight, Outcome, Progress, StepSync, Steps, Stop, Watch};
use crate::fabric::Bisection;
use crate::ids::{IdVec, RankId};
use crate::network::{Network, NetworkParts};
use crate::noise::Added;
use crate::pattern::{Injection, Pattern, PatternPlayer, PatternSpec, start_offsets};
use crate::player::{Activity, Observers, OnActivity, OnTransfer, RankTimes, Transfer};
use crate::record::{History, LinkMeasures, PathStep, PatternRanks, Recorder, chain, critical_path};
use crate::report::{
    self, Bounds, Estimate, Estimated, FaultsReport, Head, MessageRecord, Meta, OrderReport, Rate, Report, Rounds,
    SCHEMA, Status,
};
use crate::routing::ChoiceKind;
use crate::sharing::SharingSpec;
use crate::steady::OnFabric;
use crate::steady::rates;
use crate::system::System;
use crate::system::WorkloadSpec;
use crate::transport::{Channel, ContentionFreeSpec, Gridlock, Metered, TransportSpec};
use crate::units::{Bandwidth, Time};
use crate::workload::Blocked;

/// Largest number of messages for which the critical path is computed after the run. It plays all messages
/// once more, without contention.
const MOST_ON_PATH: u64 = 10_000_000;

/// Largest number of messages for which late ranks are reported by default.
const LATE: u64 = 100_000;

/// A watch that lets a run be stopped while its critical path is computed, after all messages have been
/// delivered.
struct PathWatch<'a> {
    watch: &'a dyn Watch,
    messages: u64,
}

impl Watch for PathWatch<'_> {
    fn tick(&self, progress: Progress) -> bool {
        self.watch.tick(Progress { delivered: self.messages, ..progress })
    }
}

/// Messages sent by ranks according to a pattern.
#[derive(Clone, Debug)]
pub struct PatternWork {
    /// The messages.
    pub pattern: Arc<dyn Pattern>,
    /// Description of the pattern, as shown to users: `all-to-all simple-spread, 20 KB`.
    pub name: String,
    /// Rule by which ranks inject messages.
    pub injection: Injection,
    /// Largest start offset of a message.
    pub jitter: Time,
    /// Time of each barrier under the rule `barrier`.
    pub barrier_cost: Time,
    /// The pattern as a scenario describes it; `None` if it was built in code.
    pub spec: Option<WorkloadSpec>,
}

/// Outcome of a run of a pattern.
#[derive(Clone, PartialEq, Debug)]
pub struct PatternOutcome {
    /// The report; its links are the most used ones.
    pub report: Report,
    /// All links, by id (busy time and flows are 0 unless they were asked for).
    pub links: LinkUses,
    /// Blocked ranks and what they wait for, if the run deadlocked.
    pub blocked: Vec<Blocked>,
    /// Activities of ranks and the messages between them, if they were asked for and kept.
    pub history: Option<History>,
    /// Steps of the critical path in order of time, if they were asked for and kept.
    pub path: Option<Vec<PathStep>>,
}

impl PatternOutcome {
    /// Returns the figures that all kinds of work share.
    pub fn summary(&self) -> Summary {
        let Report { head, meta, bounds, gridlock, ratio_in_step, .. } = &self.report;
        Summary {
            bounds: *bounds,
            ratio_in_step: *ratio_in_step,
            blocked: self.blocked.clone(),
            gridlock: gridlock.clone(),
            ..Summary::of(head, meta)
        }
    }
}

impl PatternWork {
    /// Returns the options of a run for which nothing else is asked. Runs that are short enough record the
    /// times of links and, if ranks compute or wait for each other, the late ranks.
    pub fn usual<'a>(&self) -> RunOptions<'a> {
        let (needs, messages) = (self.pattern.needs(), self.pattern.messages());
        let waits = needs.steps || needs.messages || matches!(self.injection, Injection::SendRecv | Injection::Barrier);
        let late = (waits || self.pattern.delays() || self.jitter > Time::ZERO) && messages <= LATE;
        RunOptions { link_use: messages <= MESSAGES_WITH_LINK_TIMES, late, ..RunOptions::default() }
    }

    /// Creates the work of this pattern under an injection rule.
    pub fn new(pattern: Arc<dyn Pattern>, name: impl Into<String>, injection: Injection) -> Self {
        let name = name.into();
        Self { pattern, name, injection, jitter: Time::ZERO, barrier_cost: Time::ZERO, spec: None }
    }

    /// Returns the pattern as a scenario describes it.
    pub fn pattern_spec(&self) -> Option<&PatternSpec> {
        match &self.spec {
            Some(WorkloadSpec::Pattern(spec)) => Some(spec),
            _ => None,
        }
    }

    /// Returns the rates of the messages of the first step, all under way at once; none without a network.
    ///
    /// The first step has the messages that the injection rule releases at once: those of step 0 of each
    /// rank, the first k under `window=k`, all under `all`. What these messages would wait for is ignored.
    ///
    /// The rates are those of the transport: the full bandwidth where messages do not see each other, with
    /// weights, limits and parts where flows have them. Packets have no rates, so plain flows stand in for them.
    pub fn rates(&self, system: &System) -> Vec<Rate> {
        self.network_on(system).map(|network| rates(&*self.pattern, self.injection, &network)).unwrap_or_default()
    }

    /// Plays the pattern and calls a function for each message on its arrival, without a report, bounds or
    /// critical path. Returns `None` without a network.
    pub(crate) fn watched(
        &self,
        system: &System,
        on_delivered: &mut dyn FnMut(Time, &Flight),
        watch: Option<&dyn Watch>,
    ) -> Option<Outcome> {
        let network = self.network_on(system)?;
        let playing = Playing { work: self, system, network: &network };
        let mut player = playing.player(None);
        Some(playing.network.play_pattern(&mut player, on_delivered, watch))
    }

    /// Returns the network with the paths that single messages have.
    fn network_on<'a>(&self, system: &'a System) -> Option<Cow<'a, Network>> {
        Some(system.network()?.with_paths_of(&*self.pattern))
    }

    /// True if single messages have paths of their own.
    pub(super) fn has_paths(&self) -> bool {
        self.pattern.plan().is_some_and(|plan| plan.has_paths)
    }

    /// Returns the fingerprint of the fabric for which the messages were planned, if it is another one.
    pub fn other_fabric(&self, system: &System) -> Option<&str> {
        let fabric = &system.network()?.fabric;
        self.pattern.plan()?.fabric.as_deref().filter(|fingerprint| *fingerprint != fabric.fingerprint())
    }
}

impl Simulated for PatternWork {
    type Outcome = PatternOutcome;

    fn fits(&self, system: &System) -> Result<(), Diagnostic> {
        let Some(network) = system.network() else { return Err(without_network(&self.name)) };
        if !system.node().facts().is_ideal {
            let message =
                format!("messages of a pattern cost nothing at their ends, and {} nodes do", system.node().name());
            return Err(
                Diagnostic::new("wrong-choice", message).help("play the pattern as a program: ProgramWork::of_pattern")
            );
        }
        fits_noise(system, self.pattern.ranks(), &[])?;
        fits_places(&self.name, self.pattern.ranks(), system)?;
        if self.pattern.plan().is_some_and(|plan| plan.is_weighted()) {
            network.refuses_weights("messages").map_or(Ok(()), Err)?;
        }
        network.misplaced_paths(&*self.pattern).into_iter().next().map_or(Ok(()), |(_, mistake)| Err(mistake))
    }

    fn play(&self, system: &System, options: RunOptions<'_>) -> Result<PatternOutcome, Diagnostic> {
        let network = self.network_on(system).ok_or_else(|| without_network(&self.name))?;
        Ok(Playing { work: self, system, network: &network }.run(options))
    }

    fn summary(outcome: &PatternOutcome) -> Summary {
        outcome.summary()
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn ranks(&self) -> u32 {
        self.pattern.ranks()
    }

    fn messages(&self) -> u64 {
        self.pattern.messages()
    }

    fn spec(&self) -> Option<&WorkloadSpec> {
        self.spec.as_ref()
    }

    fn depends_on_seed(&self) -> bool {
        self.jitter > Time::ZERO || self.pattern_spec().is_some_and(PatternSpec::depends_on_seed)
    }

    fn with_seed_of(&self, system: &System, sources: &mut Sources) -> Result<Self, Vec<Diagnostic>> {
        let mut work = self.clone();
        if let (Some(spec), Some(network)) = (self.pattern_spec(), system.network())
            && (spec.depends_on_seed() || spec.knows_fabric())
        {
            let places = Some(network.placement.as_slice());
            let ground = OnFabric { fabric: &network.fabric, router: &*network.router, places, per_node: 1 };
            work.pattern = spec.build(&ground, system.seed(), sources)?;
        }
        // Paths of messages fit one placement.
        work.fits(system).map_err(|mistake| vec![mistake])?;
        Ok(work)
    }
}

/// Observations of ranks during a run.
struct RankObservations<'a> {
    history: History,
    waits: Waits,
    times: Vec<RankTimes>,
    on_activity: Option<OnActivity<'a>>,
    on_transfer: Option<OnTransfer<'a>>,
}

impl<'a> RankObservations<'a> {
    fn new(ranks: u32, room: usize, on_activity: Option<OnActivity<'a>>, on_transfer: Option<OnTransfer<'a>>) -> Self {
        let history = History::of_pattern(ranks, room);
        Self { history, waits: Waits::default(), times: Vec::new(), on_activity, on_transfer }
    }

    /// Returns the report on ranks, the history if it was kept, and the critical path.
    fn report(self, pattern: &dyn Pattern) -> (report::RanksReport, Option<History>, Option<Vec<PathStep>>) {
        let Self { history, waits, times, .. } = self;
        let history = (!history.is_full()).then_some(history);
        let end = times.iter().map(|times| times.end).max().unwrap_or(Time::ZERO);
        let last = (0..).map(RankId).zip(&times).find(|(_, times)| times.end == end);
        let path = history.as_ref().zip(last).map(|(history, (rank, _))| critical_path(history, rank, end));
        let ranks = of_pattern(pattern, &times, waits, history.as_ref(), path.as_deref());
        (ranks, history, path)
    }
}

/// A pattern being played on a network.
struct Playing<'a> {
    work: &'a PatternWork,
    system: &'a System,
    network: &'a Network,
}

impl Playing<'_> {
    /// Runs the pattern.
    fn run(&self, options: RunOptions<'_>) -> PatternOutcome {
        let start = crate::base::wall_clock::now();
        let RunOptions { link_use, link_series, mut on_message, on_activity, on_transfer, late, keep, room, .. } =
            options;
        let RunOptions { watch, added, in_step, .. } = options;
        let wants_messages = on_message.is_some();
        // An estimate does not play the whole pattern, so it has no late ranks.
        let wanted = self.estimate_target();
        let late = late && !matches!(wanted, Some(Ok(_)));
        let wants_ranks = late || keep || on_activity.is_some() || on_transfer.is_some();
        let room = if keep { usize::MAX } else { room.unwrap_or(KEPT) };
        let mut seen =
            wants_ranks.then(|| RankObservations::new(self.work.pattern.ranks(), room, on_activity, on_transfer));
        let mut record = |now: Time, flight: &Flight| {
            if let Some(on_message) = &mut on_message {
                on_message(&MessageRecord::delivered(now, flight));
            }
        };
        let bisection = self.network.most().bisection();
        let measures = LinkMeasures { times: link_use, series: link_series };
        let recorder = |measures| Recorder::new(&self.network.fabric, &self.network.placement, bisection, measures);
        // Messages can be observed only while they are played. So can links under a barrier, because counting does not
        // tell when each message of a step leaves them; messages of even steps all leave at the end. Counting a single
        // step takes as long as playing it.
        let asks_links = link_use || link_series;
        let plays_links = asks_links && (self.work.injection == Injection::Barrier || self.work.pattern.steps() < 2);
        let is_played = plays_links || wants_messages || wants_ranks;
        let counted = if is_played { None } else { self.count(|| recorder(measures), watch) };
        let mut watched = recorder(measures);
        let metered = if link_use { Metered::Links } else { Metered::Nothing };
        watched.on_message = if wants_messages { Some(&mut record) } else { None };
        watched.alone_in_sequence = self.starts_of_rows();
        let mut estimated = (self.system.estimate().is_some() && counted.is_some())
            .then(|| Estimated::Full("its steps are counted, which is exact, and sooner done".to_owned()));
        let (mut recorder, mut outcome) = match counted {
            Some(counted) => counted,
            None => {
                if let Some(wanted) = &wanted {
                    let reason = wanted.as_ref().err().copied().unwrap_or("what ranks do is asked for");
                    estimated = Some(Estimated::Full(reason.to_owned()));
                }
                let outcome = match (&mut seen, wanted) {
                    (Some(seen), _) => self.play_seen(seen, metered, &mut watched, watch, added),
                    (None, Some(Ok(wanted))) => {
                        let (outcome, came) = self.play_part(wanted, metered, &mut watched, watch, added);
                        estimated = Some(came).filter(|_| outcome.stop == Stop::Done);
                        outcome
                    }
                    (None, _) => self.network.record_pattern(&mut self.player(added), metered, &mut watched, watch),
                };
                // Under a barrier only the messages within a step need events. The figures are still those of counted
                // steps, so that they do not depend on the observations asked for.
                let is_counted = self.work.injection == Injection::Barrier && outcome.stop == Stop::Done;
                match is_counted.then(|| self.count(|| recorder(LinkMeasures::default()), None)).flatten() {
                    Some((mut counted, outcome)) => {
                        (counted.times, counted.series) = (watched.times.take(), watched.series.take());
                        (counted, outcome)
                    }
                    None => (watched, outcome),
                }
            }
        };
        let links = LinkUses::of(self.network, &mut recorder, &mut outcome);
        // An estimate has only the bounds of the senders.
        let is_whole = outcome.stop == Stop::Done && estimated.as_ref().and_then(Estimated::estimate).is_none();
        let has_lost = outcome.mishaps.as_ref().is_some_and(|mishaps| mishaps.lost > 0);
        let path = if is_whole && !has_lost { self.path(&recorder, watch) } else { None };
        // The run adds in another order, so this sum may exceed it in the last bits.
        let path = path.map(|path| path.min(outcome.makespan));
        let mut bounds = self.bounds(&recorder, bisection, &links, path);
        if is_whole && !has_lost {
            bound_of_pattern(&*self.work.pattern, self.network, self.system, watch, &mut bounds);
        }
        let meta = Meta::since(start, outcome.events, outcome.facts.packet_hops);
        let mut report = self.report(&recorder, &outcome, bounds, &links, meta);
        if let Some(estimate) = estimated.as_ref().and_then(Estimated::estimate) {
            self.extrapolate(&mut report, estimate, &recorder);
        }
        report.head.estimated = estimated;
        if in_step && self.work.jitter > Time::ZERO && report.head.status == Status::Complete {
            let work = PatternWork { jitter: Time::ZERO, ..self.work.clone() };
            let alone = Playing { work: &work, ..*self }.run(RunOptions { watch, ..RunOptions::default() });
            report.ratio_in_step = Some(alone.report)
                .filter(|alone| alone.head.status == Status::Complete)
                .map(|alone| alone.ratio_to_bound);
        }
        let done = outcome.stop == Stop::Done;
        let (mut history, mut steps) = (None, None);
        if let Some(seen) = seen.filter(|_| done) {
            let (ranks, kept, path) = seen.report(&*self.work.pattern);
            report.ranks = Some(Box::new(ranks));
            (history, steps) = (kept, path);
        }
        let blocked = match outcome.stop {
            Stop::Deadlock(blocked) => blocked,
            Stop::Done | Stop::Interrupted | Stop::Gridlock(_) => Vec::new(),
        };
        PatternOutcome { report, links, blocked, history, path: steps }
    }

    /// Plays the pattern and observes its ranks.
    fn play_seen(
        &self,
        seen: &mut RankObservations<'_>,
        metered: Metered<'_>,
        recorder: &mut Recorder<'_>,
        watch: Option<&dyn Watch>,
        added: Option<Arc<Added>>,
    ) -> Outcome {
        let RankObservations { history, waits, on_activity, on_transfer, .. } = seen;
        let kept = RefCell::new(history);
        let mut see = |activity: &Activity| {
            waits.record(activity);
            kept.borrow_mut().activity(activity);
            if let Some(on_activity) = on_activity {
                on_activity(activity);
            }
        };
        let mut see_transfer = |transfer: &Transfer| {
            kept.borrow_mut().transfer(transfer);
            if let Some(on_transfer) = on_transfer {
                on_transfer(transfer);
            }
        };
        let observers =
            Observers { on_activity: Some(&mut see), on_transfer: Some(&mut see_transfer), ..Observers::default() };
        let mut player = PatternRanks::new(
            self.player(added),
            self.work.pattern.clone(),
            self.work.injection,
            self.work.jitter,
            observers,
        );
        let outcome = self.network.record(&mut player, metered, recorder, watch);
        let openings;
        (seen.times, openings) = player.finish();
        seen.history.set_common_releases(openings);
        outcome
    }

    /// Returns the player of the pattern.
    fn player(&self, added: Option<Arc<Added>>) -> PatternPlayer {
        let processors = processors(self.system, self.work.pattern.ranks(), added);
        let player =
            PatternPlayer::new(self.work.pattern.clone(), self.work.injection, self.work.jitter, self.system.seed());
        player.with_barrier_cost(self.work.barrier_cost).slowed(processors, Time::ZERO)
    }

    /// Returns the relative precision asked for if the makespan may be estimated, or the reason why it cannot
    /// be.
    fn estimate_target(&self) -> Option<Result<f64, &'static str>> {
        let target = self.system.estimate()?;
        Some(match estimate::obstacle(&*self.work.pattern, self.work.injection, self.system) {
            None => Ok(target.part()),
            Some(reason) => Err(reason),
        })
    }

    /// Plays the part of the pattern from which its makespan can be estimated.
    fn play_part(
        &self,
        wanted: f64,
        metered: Metered<'_>,
        recorder: &mut Recorder<'_>,
        watch: Option<&dyn Watch>,
        added: Option<Arc<Added>>,
    ) -> (Outcome, Estimated) {
        let NetworkParts { fabric, router, placement, .. } = &**self.network;
        let (pattern, router, seed) = (&*self.work.pattern, &**router, self.system.seed());
        let ground = estimate::Comparison { pattern, fabric, router, placement, seed };
        let whole = estimate::whole(pattern);
        let mut alike = |played: u32| ground.check_similar(played, wanted);
        let tell = |forecast: estimate::Forecast| {
            if let Some(watch) = watch {
                watch.outlook(forecast.half / forecast.makespan);
            }
        };
        let mut pilot = Pilot::new(self.player(added), whole, wanted, &mut alike, &tell);
        let outcome = self.network.record(&mut pilot, metered, recorder, watch);
        let estimated = match pilot.finish() {
            Ok((forecast, played)) => Estimated::By(estimate::reported(forecast, played, whole.messages, wanted)),
            Err(reason) => Estimated::Full(reason),
        };
        (outcome, estimated)
    }

    /// Extends a report on the part that was played to the whole pattern.
    ///
    /// Makespan, messages, bytes and bandwidth become estimates or known values. Of the bounds only those of
    /// the senders are known. Links remain those of the part.
    fn extrapolate(&self, report: &mut Report, estimate: &Estimate, recorder: &Recorder<'_>) {
        let makespan_s = estimate.makespan_s;
        let (messages, bytes) = (self.work.pattern.messages(), self.work.pattern.bytes() as u64);
        let sent = |rank: RankId| {
            let (out, _) = self.network.capacity_of(self.network.placement[rank]);
            let bytes = recorder.ranks[rank].0 as f64 / estimate.simulated_part;
            time_over(bytes, out).seconds()
        };
        let injection_s = Some(recorder.ranks.ids().map(sent).fold(0.0, f64::max));
        report.bounds = Bounds { injection_s, computation_s: self.computation(), ..Bounds::default() };
        report.ratio_to_bound = ratio(makespan_s, report.bounds.largest());
        (report.head.makespan_s, report.head.messages, report.head.bytes) = (makespan_s, messages, bytes);
        report.bandwidth_bps = ratio_or(bytes as f64, makespan_s, 0.0);
        report.bandwidth_per_node_bps = report.bandwidth_bps / f64::from(self.work.pattern.ranks().max(1));
    }

    /// Counts the pattern step by step. Returns `None` if that is not possible.
    fn count<'a>(
        &self,
        recorder: impl FnOnce() -> Recorder<'a>,
        watch: Option<&dyn Watch>,
    ) -> Option<(Recorder<'a>, Outcome)> {
        let because = match self.work.injection {
            Injection::Barrier => StepSync::Barrier,
            Injection::Queue | Injection::SendRecv => StepSync::Even,
            Injection::Left | Injection::All | Injection::Window(_) => return None,
        };
        let plain = !self.network.faults_concern_runs()
            && self.work.jitter == Time::ZERO
            && self.work.barrier_cost == Time::ZERO
            && self.network.resolution == Time::ZERO
            && self.network.transport.is_plain_flow()
            && !self.network.fabric.limits_messages();
        let is_known = matches!(self.network.sharing, SharingSpec::EqualShare(_) | SharingSpec::MaxMin(_));
        let lockstep = if plain && is_known { self.work.pattern.lockstep()? } else { return None };
        let NetworkParts { fabric, router, placement, .. } = &**self.network;
        let steps = Steps::new(fabric, &**router, placement, lockstep, because)?;
        let mut recorder = recorder();
        let outcome = steps.record(&mut recorder, watch)?;
        Some((recorder, outcome))
    }

    fn report(
        &self,
        recorder: &Recorder<'_>,
        outcome: &Outcome,
        bounds: Bounds,
        links: &LinkUses,
        meta: Meta,
    ) -> Report {
        let (makespan_s, bytes) = (outcome.makespan.seconds(), outcome.bytes as f64);
        let bandwidth_bps = ratio_or(bytes, makespan_s, 0.0);
        let scenario = self.work.to_json(self.system);
        Report {
            head: Head {
                makespan_s,
                faults: FaultsReport::of_run(self.network, outcome.mishaps.as_deref()),
                fingerprint: recorder.fingerprint.to_string(),
                ..Head::of_run(SCHEMA, scenario, (&outcome.stop).into(), outcome.into())
            },
            fabric: self.network.fabric.to_string(),
            workload: self.work.name.clone(),
            planned_for: self.work.other_fabric(self.system).map(str::to_owned),
            bandwidth_bps,
            bandwidth_per_node_bps: bandwidth_bps / f64::from(self.work.pattern.ranks().max(1)),
            bounds,
            ratio_to_bound: ratio(makespan_s, bounds.largest()),
            ratio_to_optimum: bounds.ratio_to_optimum(makespan_s),
            ratio_in_step: None,
            order: self.work.pattern.order().map(OrderReport::of),
            contention: ratio(recorder.under_way.total(), recorder.alone.total()),
            links: links.most_delayed(MOST_USED),
            delays: links.delays(),
            channels: self.network.channels().map(str::to_owned),
            ranks: None,
            rounds: outcome.facts.rounds.map(|rounds| Rounds {
                min: rounds.min,
                mean: rounds.total as f64 / rounds.solves as f64,
                max: rounds.max,
            }),
            gridlock: match &outcome.stop {
                Stop::Gridlock(gridlock) => Some(self.name_gridlock(gridlock)),
                _ => None,
            },
            meta,
        }
    }

    /// Returns the names of the channels that wait for each other.
    fn name_gridlock(&self, gridlock: &Gridlock) -> report::Gridlock {
        let lanes = gridlock.cycle.iter().any(|channel| channel.lane > 0);
        let name = |channel: &Channel| {
            let link = self.network.fabric.link_name(channel.link);
            if lanes { format!("{link} (virtual channel {})", channel.lane) } else { link }
        };
        report::Gridlock { packets: gridlock.packets, cycle: gridlock.cycle.iter().map(name).collect() }
    }

    /// Returns the arrival time of the last message if each message had the network to itself.
    ///
    /// Only dependencies, delays, latencies and the bytes of each message count. Returns `None` if the result
    /// would say no more than the other bounds, or if it is unknown when a message has left its sender.
    ///
    /// If each rank sends its messages one after another, the run itself has added up the times. If ranks go
    /// in steps, a recurrence is solved. Otherwise all messages are played once more.
    fn path(&self, recorder: &Recorder<'_>, watch: Option<&dyn Watch>) -> Option<Time> {
        if !self.tells_path() {
            return None;
        }
        if let Some(times) = &recorder.alone_in_sequence {
            let sends = times.iter_ids().filter(|&(rank, _)| self.work.pattern.sends(rank) > 0);
            return Some(sends.map(|(_, &time)| time).max().unwrap_or(Time::ZERO));
        }
        if self.work.pattern.messages() > MOST_ON_PATH {
            return None;
        }
        let whole = watch.map(|watch| PathWatch { watch, messages: self.work.pattern.messages() });
        let watch = whole.as_ref().map(|whole| whole as &dyn Watch);
        let starts = starts(&*self.work.pattern, self.work.jitter, self.system, self.network);
        if let Some((starts, work)) = starts.zip(self.work.pattern.lockstep())
            && let Some(last) = chain::of_steps(&work, self.work.injection, self.network, starts, watch)
        {
            return Some(last);
        }
        let mut player = self.player(None);
        let transport = TransportSpec::ContentionFree(ContentionFreeSpec {});
        let alone = NetworkParts { transport, resolution: Time::ZERO, ..self.network.parts() }.build().ok()?;
        let outcome = alone.play(&mut player, watch);
        (outcome.stop == Stop::Done).then_some(outcome.makespan)
    }

    /// True if the longest chain of messages is known and says more than the other bounds.
    fn tells_path(&self) -> bool {
        let latencies = || self.network.fabric.links().iter().any(|link| link.latency > Time::ZERO);
        // A route chosen on an idle network may differ from the one chosen under load, and may be longer.
        let adapts = self.network.router.choice().is_some_and(|choice| choice.kind() == ChoiceKind::Adaptive);
        !self.network.faults_concern_runs()
            && self.work.injection != Injection::Left
            && !adapts
            && (self.work.jitter > Time::ZERO || self.work.pattern.delays() || latencies())
    }

    /// Returns the start times of ranks if the longest chain is wanted and each rank's chain is its own
    /// messages, one after another.
    fn starts_of_rows(&self) -> Option<IdVec<RankId, Time>> {
        let is_asked = chain::is_sequential(&*self.work.pattern, self.work.injection) && self.tells_path();
        is_asked.then(|| starts(&*self.work.pattern, self.work.jitter, self.system, self.network)).flatten()
    }

    /// Returns the longest sequential time of a rank \[s\]; `None` if no rank computes.
    ///
    /// It is the sum of the late start, the delays and, if the rank sends one message at a time, the time of
    /// their bytes at the node's injection bandwidth.
    fn computation(&self) -> Option<f64> {
        if !self.work.pattern.delays() && self.work.jitter == Time::ZERO {
            return None;
        }
        let sends_alone = match self.work.injection {
            Injection::Queue | Injection::SendRecv | Injection::Barrier | Injection::Left => true,
            Injection::All | Injection::Window(_) => false,
        };
        let start = start_offsets(self.system.seed(), self.work.jitter);
        let slow = self.system.slow(self.work.pattern.ranks(), &[]).ok().flatten();
        let of_rank = |rank: RankId| {
            let node = self.network.placement[rank];
            let (out, _) = self.network.capacity_of(node);
            if self.work.pattern.sends(rank) == 0 {
                // Nothing waits for this rank to start.
                return Time::ZERO;
            }
            let (mut computes, mut sends) = (start(rank), Time::ZERO);
            for message in (0..self.work.pattern.sends(rank)).map(|index| self.work.pattern.message(rank, index)) {
                let leaves = sends_alone && self.network.placement[message.dst] != node && message.bytes > 0;
                computes += message.delay;
                if leaves && out.bytes_per_second() > 0.0 {
                    sends += out.time_for(message.bytes as f64);
                }
            }
            let speed = slow.as_ref().map_or(1.0, |slow| slow.highest_speed(rank.0));
            Time::from_ps(computes.ps() / speed) + sends
        };
        let longest = (0..self.work.pattern.ranks()).map(RankId).map(of_rank).max().unwrap_or(Time::ZERO);
        // The run adds in another order, so this sum may exceed it in the last bits.
        Some(longest.seconds())
    }

    /// Returns lower bounds of the makespan, from the messages that have been delivered.
    fn bounds(
        &self,
        recorder: &Recorder<'_>,
        bisection: Option<&Bisection>,
        links: &LinkUses,
        path: Option<Time>,
    ) -> Bounds {
        let seconds = |bytes: u64, bandwidth: Bandwidth| time_over(bytes as f64, bandwidth).seconds();
        let node_bound = |rank: RankId| {
            let (sent, received) = recorder.ranks[rank];
            let (out, into) = self.network.capacity_of(self.network.placement[rank]);
            seconds(sent, out).max(seconds(received, into))
        };
        let (there, back) = recorder.crossed;
        Bounds {
            injection_s: Some(recorder.ranks.ids().map(node_bound).fold(0.0, f64::max)),
            computation_s: self.computation(),
            busiest_link_s: Some(links.busiest_s()),
            bisection_s: bisection.map(|cut| seconds(there, cut.bandwidth).max(seconds(back, cut.back))),
            path_s: path.map(Time::seconds),
            ..Bounds::default()
        }
    }
}

/// Returns `a / b`, or 1 if b is 0.
fn ratio(a: f64, b: f64) -> f64 {
    ratio_or(a, b, 1.0)
}

/// Returns `a / b`, or `other` if b is 0.
fn ratio_or(a: f64, b: f64, other: f64) -> f64 {
    if b > 0.0 { a / b } else { other }
}

/// Returns the times at which ranks start, or `None` unless a message alone takes a time that follows from
/// its route.
///
/// That holds for plain flows without delays, on processors of full speed. Each pair has one route, and a
/// message alone takes the latencies and its bytes over the narrowest link.
fn starts(pattern: &dyn Pattern, jitter: Time, system: &System, network: &Network) -> Option<IdVec<RankId, Time>> {
    let is_plain =
        network.transport.is_plain_flow() && !network.fabric.limits_messages() && network.router.choice().is_none();
    let ranks = pattern.ranks();
    let is_known = is_plain && network.plan.is_none() && !pattern.delays() && processors(system, ranks, None).is_none();
    let start = start_offsets(system.seed(), jitter);
    is_known.then(|| (0..ranks).map(|rank| start(RankId(rank))).collect())
}

//! Several jobs on one fabric, each with its own ranks, start and repetitions.

use std::cell::RefCell;
use std::sync::{Arc, Mutex};

use serde_json::Value;

use super::farm::FarmWork;
use super::followed::{MainWatch, SharedWatch};
use super::job_links;
use super::optimum::Exchanged;
use super::pattern::PatternWork;
use super::program::ProgramWork;
use super::simulated::{RunOptions, Simulated, Slowed, fits_noise, fits_places, time_over, without_network};
use super::summary::Summary;
use crate::base::Arrange;
use crate::diagnostic::{Diagnostic, Sources};
use crate::engine::{Flight, Outcome, Progress, Stop, Watch};
use crate::farm::Dealer;
use crate::farm::exchange::Exchange;
use crate::ids::{Id, IdVec, LinkId, NodeId, RankId};
use crate::network::Network;
use crate::noise::Added;
use crate::pattern::{FabricInfo, PatternPlayer};
use crate::player::{Observers, Play, Player};
use crate::program::Program;
use crate::program::collectives::Expander;
use crate::record::JobsRecorder;
use crate::report::{
    self, Bounds, Carried, FaultsReport, Head, JOBS_SCHEMA, JobReport, JobsLink, JobsReport, Meeting, MessageRecord,
    Meta, Status,
};
use crate::rng::seed_of_job;
use crate::steady::{OnFabric, OnNodes};
use crate::system::System;
use crate::system::WorkloadSpec;
use crate::transport::Metered;
use crate::units::{Bandwidth, Time};
use crate::workload::Blocked;
use crate::workload::background::Background;
use crate::workload::joint::{Factory, Joint, Part, Repeat, Runs};

/// Largest number of links shared by jobs that a report lists.
const MOST_MEETINGS: usize = 10;

/// Several jobs on one fabric. The ranks of the system are the ranks of the jobs, job after job.
#[derive(Clone, Debug)]
pub struct JobsWork {
    /// The jobs.
    pub jobs: Vec<Job>,
    /// Description of the jobs, as shown to users: `a: all-to-all ...; b: ...`.
    name: String,
}

/// A job.
#[derive(Clone, Debug)]
pub struct Job {
    /// Name of the job.
    pub name: String,
    /// Work that the job does.
    pub task: JobWork,
    /// Placement of the job, as shown to users.
    pub placement: String,
    /// Time at which the job begins for the first time.
    pub start: Time,
    /// Repetitions of the work.
    pub repeat: Repeat,
    /// Time between the end of one repetition and the beginning of the next.
    pub think: Time,
    /// Weight of the job's messages beside those of other jobs. Rates on a full link are proportional to it.
    pub weight: f64,
    /// The job as a scenario describes it, if there is one.
    pub written: Option<Value>,
}

/// Work of one job.
#[derive(Clone, Debug)]
pub enum JobWork {
    /// Messages as a function of rank and number.
    Pattern(Box<PatternWork>),
    /// Calls of each rank.
    Program(Box<ProgramWork>),
    /// A master that deals tasks to workers.
    Farm(Box<FarmWork>),
    /// Background messages to random ranks of the job.
    Load {
        /// Number of ranks.
        ranks: u32,
        /// Offered load on each host link, as a part of its capacity from 0 to 1.
        load: f64,
        /// Size of a message \[B\].
        bytes: u64,
    },
}

impl JobWork {
    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        match self {
            Self::Pattern(work) => work.ranks(),
            Self::Program(work) => work.ranks(),
            Self::Farm(work) => work.ranks(),
            Self::Load { ranks, .. } => *ranks,
        }
    }

    /// Returns the work as a scenario describes it.
    pub fn spec(&self) -> Option<&WorkloadSpec> {
        match self {
            Self::Pattern(work) => work.spec(),
            Self::Program(work) => work.spec(),
            Self::Farm(work) => work.spec(),
            Self::Load { .. } => None,
        }
    }

    /// Returns the description of the work that is shown to users.
    fn name(&self) -> String {
        match self {
            Self::Pattern(work) => work.name().to_owned(),
            Self::Program(work) => work.name().to_owned(),
            Self::Farm(work) => work.name().to_owned(),
            Self::Load { load, bytes, .. } => {
                format!("background at {} % of each host link, {}", load * 100.0, crate::units::Bytes(*bytes))
            }
        }
    }

    fn messages(&self) -> u64 {
        match self {
            Self::Pattern(work) => work.messages(),
            Self::Program(work) => work.messages(),
            Self::Farm(work) => work.messages(),
            Self::Load { .. } => 0,
        }
    }

    fn depends_on_seed(&self) -> bool {
        match self {
            Self::Pattern(work) => work.depends_on_seed(),
            Self::Program(work) => work.depends_on_seed(),
            Self::Farm(work) => work.depends_on_seed(),
            Self::Load { .. } => true,
        }
    }

    /// Succeeds if the work can run on this system.
    fn fits(&self, system: &System) -> Result<(), Diagnostic> {
        match self {
            Self::Pattern(work) => work.fits(system),
            Self::Program(work) => work.fits(system),
            Self::Farm(work) => work.fits(system),
            Self::Load { .. } => Ok(()),
        }
    }

    /// Returns the same work with the seed of this system. A pattern has as many ranks as its job, not as
    /// many as the fabric has nodes.
    fn with_seed_of(
        &self,
        ground: &dyn FabricInfo,
        system: &System,
        sources: &mut Sources,
    ) -> Result<Self, Vec<Diagnostic>> {
        let seed = system.seed();
        Ok(match self {
            Self::Pattern(work) => {
                let mut work = work.clone();
                if let Some(spec) = work.pattern_spec() {
                    work.pattern = spec.build(ground, seed, sources)?;
                }
                Self::Pattern(work)
            }
            Self::Program(work) => Self::Program(Box::new(work.with_seed_among(ground, seed, sources)?)),
            Self::Farm(work) => Self::Farm(Box::new(work.with_seed_of(system, sources)?)),
            Self::Load { .. } => self.clone(),
        })
    }
}

/// Outcome of a run of several jobs.
#[derive(Clone, PartialEq, Debug)]
pub struct JobsOutcome {
    /// The report.
    pub report: JobsReport,
    /// Blocked ranks and what they wait for, if a job deadlocked.
    pub blocked: Vec<Blocked>,
    /// All links by id, if they were asked for.
    pub links: Vec<JobsLink>,
}

impl JobsOutcome {
    /// Returns the figures that all kinds of work share.
    pub fn summary(&self) -> Summary {
        let JobsReport { head, meta, bounds, jobs, gridlock, .. } = &self.report;
        let (blocked, gridlock, jobs) = (self.blocked.clone(), gridlock.clone(), jobs.clone());
        Summary { bounds: *bounds, blocked, gridlock, jobs, ..Summary::of(head, meta) }
    }
}

impl JobsWork {
    /// Creates the work of these jobs.
    pub fn new(jobs: Vec<Job>) -> Self {
        let names = jobs.iter().map(|job| format!("{}: {}", job.name, job.task.name()));
        Self { name: names.collect::<Vec<_>>().join("; "), jobs }
    }

    /// Returns the names of the jobs, each with its number of ranks.
    pub(crate) fn names_and_ranks(&self) -> Vec<(&str, u32)> {
        self.jobs.iter().map(|job| (job.name.as_str(), job.task.ranks())).collect()
    }

    /// True if the run lasts until the job's end. A background job counts only if all jobs are background and
    /// it has an end.
    fn must_end(&self, job: &Job) -> bool {
        let is_background = |job: &Job| job.repeat.is_background();
        !is_background(job) || (self.jobs.iter().all(is_background) && job.repeat != Repeat::Background(None))
    }
}

impl Simulated for JobsWork {
    type Outcome = JobsOutcome;

    fn fits(&self, system: &System) -> Result<(), Diagnostic> {
        if system.network().is_none() {
            return Err(without_network(&self.name));
        }
        if !self.jobs.iter().any(|job| self.must_end(job)) {
            let message = "no job ends: all of them are background jobs, which repeat until another ends";
            return Err(Diagnostic::new("endless", message));
        }
        if let Some(job) = self.jobs.iter().find(|job| matches!(&job.task, JobWork::Pattern(work) if work.has_paths()))
        {
            let message = format!("the column `path` is for a pattern alone, and job `{}` has it", job.name);
            return Err(Diagnostic::new("wrong-choice", message).help("leave the column out"));
        }
        // Slow ranks are described over all jobs and checked below.
        let plain = system.clone().with_noise(Default::default());
        self.jobs.iter().try_for_each(|job| job.task.fits(&plain))?;
        fits_noise(system, self.ranks(), &self.names_and_ranks())?;
        fits_places(&self.name, self.ranks(), system)
    }

    fn play(&self, system: &System, options: RunOptions<'_>) -> Result<JobsOutcome, Diagnostic> {
        let network = system.network().ok_or_else(|| without_network(&self.name))?;
        Ok(Playing { work: self, system, network }.run(options))
    }

    fn summary(outcome: &JobsOutcome) -> Summary {
        outcome.summary()
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn ranks(&self) -> u32 {
        self.jobs.iter().map(|job| job.task.ranks()).sum()
    }

    fn messages(&self) -> u64 {
        let of = |job: &Job| match job.repeat {
            Repeat::Times(times) => job.task.messages().saturating_mul(times),
            _ => job.task.messages(),
        };
        self.jobs.iter().map(of).fold(0, u64::saturating_add)
    }

    fn spec(&self) -> Option<&WorkloadSpec> {
        None
    }

    fn depends_on_seed(&self) -> bool {
        self.jobs.iter().any(|job| job.task.depends_on_seed())
    }

    fn with_seed_of(&self, system: &System, sources: &mut Sources) -> Result<Self, Vec<Diagnostic>> {
        let mut jobs = self.jobs.clone();
        for (index, job) in jobs.iter_mut().enumerate() {
            let knows_fabric = matches!(job.task.spec(), Some(WorkloadSpec::Pattern(spec)) if spec.knows_fabric());
            if !knows_fabric && !job.task.depends_on_seed() {
                continue;
            }
            let (ranks, mut nodes) = (job.task.ranks(), Vec::new());
            if let (Some(network), Some(joint), true) = (system.network(), system.joint(), knows_fabric) {
                nodes = joint.in_order(index, &network.fabric, system.seed(), sources)?;
            }
            let on = system.network().filter(|_| !nodes.is_empty()).map(|network| OnNodes {
                fabric: OnFabric { fabric: &network.fabric, router: &*network.router, places: None, per_node: 1 },
                nodes: &nodes,
            });
            let ground: &dyn FabricInfo = on.as_ref().map_or(&ranks, |on| on);
            let seeded = system.seeded(seed_of_job(system.seed(), index));
            job.task = job.task.with_seed_of(ground, &seeded, sources)?;
        }
        Ok(Self { jobs, ..self.clone() })
    }

    fn to_json(&self, system: &System) -> Value {
        let programs = |job: &Job| matches!(&job.task, JobWork::Program(_));
        let mut value = system.to_json(None, self.jobs.iter().any(programs));
        if let Some(map) = value.as_object_mut() {
            let jobs = self.jobs.iter().map(|job| job.written.clone().unwrap_or_else(|| job.name.clone().into()));
            map.insert("job".to_owned(), jobs.collect::<Vec<Value>>().into());
        }
        system.enclose_files(&mut value);
        value
    }
}

/// Data borrowed by a running job.
enum Stage {
    /// For a program: its variant that is played in its place, if there is one, and the expander of its
    /// collectives.
    Program(Box<(Option<Program>, Expander)>),
    Other,
}

/// Jobs being played on a system.
#[derive(Clone, Copy)]
struct Playing<'a> {
    work: &'a JobsWork,
    system: &'a System,
    network: &'a Network,
}

impl Playing<'_> {
    /// Runs all jobs together and, if asked for, each one alone.
    fn run(&self, options: RunOptions<'_>) -> JobsOutcome {
        let start = crate::base::wall_clock::now();
        let RunOptions { mut on_message, watch, alone, interference, link_use, added, .. } = options;
        let exchanged = self.system.optimum().and_then(|_| Exchanged::new(self.network)).map(RefCell::new);
        let wants_messages = on_message.is_some() || exchanged.is_some();
        let must_end: Vec<bool> =
            self.work.jobs.iter().flat_map(|job| vec![self.work.must_end(job); job.task.ranks() as usize]).collect();
        let mut record = |now: Time, flight: &Flight| {
            if let Some(exchanged) = exchanged.as_ref().filter(|_| must_end[flight.send.id.src.index()]) {
                exchanged.borrow_mut().add(flight.send.id.src, flight.send.dst, flight.send.bytes);
            }
            if let Some(on_message) = &mut on_message {
                on_message(&MessageRecord::delivered(now, flight));
            }
        };
        let ranks: Vec<u32> = self.work.jobs.iter().map(|job| job.task.ranks()).collect();
        let mut recorder = JobsRecorder::new(&self.network.fabric, &self.network.placement, &ranks);
        recorder.on_message = if wants_messages { Some(&mut record) } else { None };
        let jobs = &self.work.jobs;
        let once: Vec<usize> = (0..jobs.len()).filter(|&job| alone && !jobs[job].repeat.is_background()).collect();
        let mut alone: Vec<Option<Time>> = vec![None; jobs.len()];
        let followed = watch.map(|watch| SharedWatch { watch, last: Mutex::new(None) });
        let (mut runs, mut outcome) = (Vec::new(), Outcome::default());
        let told = interference && self.work.tells_interference(self.system).is_ok();
        let faults = self.network.events().is_some();
        let parties = told.then(|| self.work.parties(faults));
        let metered = parties.as_ref().map_or(Metered::Nothing, Metered::Parties);
        rayon::in_place_scope(|scope| {
            let mut rest = alone.as_mut_slice();
            let mut before = 0;
            for &job in &once {
                let (_, from) = rest.split_at_mut(job - before);
                let Some((slot, after)) = from.split_first_mut() else { break };
                (rest, before) = (after, job + 1);
                let followed = followed.as_ref();
                scope.spawn(move |_| *slot = self.alone(job, followed.map(|watch| watch as &dyn Watch)));
            }
            let stages = self.stages();
            let mut joint = self.joint(&stages, None, added);
            let first = followed.as_ref().map(MainWatch);
            let watch = first.as_ref().map(|watch| watch as &dyn Watch);
            outcome = self.network.record_jobs(&mut joint, metered, &mut recorder, watch);
            runs = joint.runs();
        });
        recorder.round_to_bytes(&self.network.fabric);
        let meta = Meta::since(start, outcome.events, outcome.facts.packet_hops);
        let mut report = self.report(&recorder, &runs, &alone, &outcome, meta);
        if let Some(exchanged) = exchanged.as_ref().filter(|_| report.head.status == Status::Complete) {
            let progress = Progress { now: outcome.makespan, delivered: outcome.messages, total: outcome.messages };
            exchanged.borrow().bound(self.system, watch, progress, &mut report.bounds);
            report.ratio_to_optimum = report.bounds.ratio_to_optimum(report.head.makespan_s);
        }
        if told && report.head.status == Status::Complete {
            let (matrix, to_faults) = self.work.interference(&recorder, outcome.facts.lost.as_deref(), faults);
            report.interference = Some(matrix);
            for (job, time) in report.jobs.iter_mut().zip(to_faults) {
                job.fault_delay_s = Some(time);
            }
        }
        let blocked = match outcome.stop {
            Stop::Deadlock(blocked) => self.with_job_names(blocked, &ranks),
            Stop::Done | Stop::Interrupted | Stop::Gridlock(_) => Vec::new(),
        };
        let makespan = Time::from_seconds(report.head.makespan_s);
        let links = if link_use { job_links::of_jobs(self.network, &recorder.jobs, makespan) } else { Vec::new() };
        JobsOutcome { report, blocked, links }
    }

    /// Returns the time that a job takes once with the network to itself; `None` if it does not end.
    fn alone(&self, job: usize, watch: Option<&dyn Watch>) -> Option<Time> {
        let stages = self.stages();
        let mut joint = self.joint(&stages, Some(job), None);
        let outcome = self.network.play(&mut joint, watch);
        let runs = joint.runs();
        (outcome.stop == Stop::Done && runs[job].count > 0).then(|| runs[job].mean())
    }

    fn stages(&self) -> Vec<Stage> {
        let stage = |job: &Job| match &job.task {
            JobWork::Program(work) => {
                let expander = Expander::new(self.system.collectives().clone()).of(&work.program);
                Stage::Program(Box::new((work.with_open_receives(), expander)))
            }
            _ => Stage::Other,
        };
        self.work.jobs.iter().map(stage).collect()
    }

    /// Returns all jobs as one workload, or only one of them, played once on its own ranks.
    fn joint<'a>(&'a self, stages: &'a [Stage], only: Option<usize>, added: Option<Arc<Added>>) -> Joint<'a> {
        // `fits` has checked the tables of slow ranks.
        let slow = self.system.slow(self.work.ranks(), &self.work.names_and_ranks()).ok().flatten().map(Arc::new);
        let mut first = 0;
        let part = |(index, (job, stage)): (usize, (&'a Job, &'a Stage))| {
            let ranks = job.task.ranks();
            let ranks_before = first;
            first += ranks;
            let nodes = &self.network.placement.as_slice()[ranks_before as usize..(ranks_before + ranks) as usize];
            let plays = only.is_none_or(|only| only == index);
            Part {
                ranks,
                start: job.start,
                own_clock: matches!(job.task, JobWork::Program(_) | JobWork::Farm(_)),
                make: plays.then(|| {
                    let slow =
                        slow.clone().map(|slow| Slowed { slow, first: ranks_before, ranks, added: added.clone() });
                    self.maker(index, stage, nodes, slow)
                }),
                repeat: if only.is_some() { Repeat::Times(1) } else { job.repeat },
                think: job.think,
                weight: job.weight,
            }
        };
        Joint::new(self.work.jobs.iter().zip(stages).enumerate().map(part).collect())
    }

    /// Returns a function that creates the workload of a job for each repetition.
    fn maker<'a>(&'a self, index: usize, stage: &'a Stage, nodes: &'a [NodeId], slowed: Option<Slowed>) -> Factory<'a> {
        let job = &self.work.jobs[index];
        let seed = seed_of_job(self.system.seed(), index);
        let processors = move |begun: Time| slowed.as_ref().map(|slowed| slowed.from(begun));
        match (&job.task, stage) {
            (JobWork::Load { load, bytes, .. }, _) => {
                let mean: IdVec<RankId, Option<Time>> =
                    nodes.iter().map(|&node| self.mean(node, *load, *bytes)).collect();
                Box::new(move |_| Box::new(Background::new(mean.clone(), *bytes, seed, &job.name)))
            }
            (JobWork::Pattern(work), _) => {
                Box::new(move |begun| {
                    let player = PatternPlayer::new(work.pattern.clone(), work.injection, work.jitter, seed)
                        .with_barrier_cost(work.barrier_cost);
                    // All times of a pattern are on the clock of all jobs, except its beginning.
                    Box::new(player.slowed(processors(Time::ZERO), begun))
                })
            }
            (JobWork::Program(work), Stage::Program(stage)) => Box::new(move |begun| {
                let (other, expander) = &**stage;
                let program = other.as_ref().unwrap_or(&work.program);
                let costs = self.system.node().costs().unwrap_or_default();
                let (expand, cpu_speed) = (Some(expander as _), work.cpu_speed);
                let observers = Observers::default();
                let player = Player::new(Play { program, costs, expand, cpu_speed, on_fabric: true }, observers);
                Box::new(player.slowed(processors(begun)))
            }),
            (JobWork::Farm(farm), _) => Box::new(move |begun| {
                let (workers, policy) = (&farm.point.workers, &farm.point.policy);
                let ranks = workers.len() as u32 + 1;
                let dealer = Dealer::new(&farm.tasks, policy.chunking, ranks - 1);
                let o = farm.costs.overhead_among(ranks);
                // Leaks no memory: `()` has no bytes.
                let log = Box::leak(Box::new(()));
                let exchange = Exchange::new(dealer, &workers.factors, &farm.costs, o, farm.overlapped, log);
                Box::new(exchange.slowed(processors(begun)))
            }),
            // Cannot happen: a program has a stage of its own.
            (JobWork::Program(_), Stage::Other) => Box::new(|_| Box::new(Joint::new(Vec::new()))),
        }
    }

    /// Returns the mean time between two messages of `bytes` bytes that load the node's host link to the part
    /// `load`.
    fn mean(&self, node: NodeId, load: f64, bytes: u64) -> Option<Time> {
        let bytes_per_s = self.network.capacity_of(node).0.bytes_per_second() * load;
        (bytes_per_s > 0.0).then(|| Bandwidth::from_bytes_per_second(bytes_per_s).time_for(bytes as f64))
    }

    fn report(
        &self,
        recorder: &JobsRecorder<'_>,
        runs: &[Runs],
        alone: &[Option<Time>],
        outcome: &Outcome,
        meta: Meta,
    ) -> JobsReport {
        let jobs = &self.work.jobs;
        let waited = |index: &usize| self.work.must_end(&jobs[*index]);
        let ends = (0..jobs.len()).filter(waited).map(|index| runs[index].ended);
        let makespan = match outcome.stop {
            Stop::Done => ends.fold(Time::ZERO, Time::max),
            _ => outcome.makespan,
        };
        // A job whose last messages were lost has no blocked rank, and yet it never ends.
        let endless = (0..jobs.len()).any(|index| waited(&index) && runs[index].count == 0);
        let status = match (&outcome.stop).into() {
            Status::Complete if endless => Status::Deadlocked,
            status => status,
        };
        let job = |index: usize| {
            let (job, runs, record) = (&jobs[index], &runs[index], &recorder.jobs[index]);
            let background = job.repeat.is_background();
            let ended = (runs.count > 0).then(|| runs.mean().seconds());
            let several = ended.filter(|_| runs.count > 1);
            let alone_s = alone[index].map(Time::seconds);
            let makespan_s = ended.filter(|_| !background);
            let has_begun = runs.count > 0 || record.messages > 0 || runs.begun < outcome.ended;
            let unfinished = match status {
                _ if !has_begun && background => "the other jobs ended before its start",
                _ if !has_begun => "the run ended before its start",
                Status::Interrupted => "the run was interrupted",
                _ => "messages that it waits for never came",
            };
            let of = |makespan: f64, alone: f64| if alone > 0.0 { makespan / alone } else { 1.0 };
            JobReport {
                name: job.name.clone(),
                workload: job.task.name(),
                ranks: job.task.ranks(),
                placement: job.placement.clone(),
                nodes: recorder.nodes_of(index),
                background,
                start_s: has_begun.then(|| runs.begun.seconds()),
                end_s: (runs.count > 0).then(|| runs.ended.seconds()),
                unfinished: (runs.count == 0).then_some(unfinished),
                repetitions: runs.count,
                makespan_s,
                min_s: several.map(|_| runs.min.seconds()),
                max_s: several.map(|_| runs.max.seconds()),
                alone_s,
                slowdown: makespan_s.zip(alone_s).map(|(makespan, alone)| of(makespan, alone)),
                messages: record.messages,
                bytes: record.bytes,
                contention: record.contention(),
                fault_delay_s: None,
            }
        };
        let bounds = if status == Status::Complete { self.bounds(recorder) } else { Bounds::default() };
        let largest = bounds.largest();
        JobsReport {
            head: Head {
                makespan_s: makespan.seconds(),
                faults: FaultsReport::of_run(self.network, outcome.mishaps.as_deref()),
                fingerprint: recorder.fingerprint.to_string(),
                ..Head::of_run(JOBS_SCHEMA, self.work.to_json(self.system), status, outcome.into())
            },
            fabric: self.network.fabric.to_string(),
            jobs: (0..jobs.len()).map(job).collect(),
            meetings: self.meetings(recorder, makespan),
            interference: None,
            bounds,
            ratio_to_bound: if largest > 0.0 { makespan.seconds() / largest } else { 1.0 },
            ratio_to_optimum: None,
            gridlock: match &outcome.stop {
                Stop::Gridlock(gridlock) => Some(report::Gridlock {
                    packets: gridlock.packets,
                    cycle: gridlock.cycle.iter().map(|channel| self.network.fabric.link_name(channel.link)).collect(),
                }),
                _ => None,
            },
            meta,
        }
    }

    /// Returns the links shared by several jobs that carried the most.
    fn meetings(&self, recorder: &JobsRecorder<'_>, makespan: Time) -> Vec<Meeting> {
        let fabric = self.network.most();
        let all = |link: LinkId| recorder.jobs.iter().map(|job| job.links[link]).sum::<u64>();
        let time = |link: LinkId| {
            let capacity = fabric.link(link).capacity.bytes_per_second();
            if capacity > 0.0 { all(link) as f64 / capacity } else { 0.0 }
        };
        let several = |link: &LinkId| recorder.jobs.iter().filter(|job| job.links[*link] > 0).nth(1).is_some();
        let mut links: Vec<(f64, LinkId)> = fabric
            .links()
            .ids()
            .filter(|&link| !fabric.is_own(link))
            .filter(several)
            .map(|link| (time(link), link))
            .collect();
        links.arrange_by(|(a, first), (b, second)| b.total_cmp(a).then(first.cmp(second)));
        links.truncate(MOST_MEETINGS);
        let meeting = |(time, link): (f64, LinkId)| {
            let of_job = self.work.jobs.iter().zip(&recorder.jobs);
            let of_job = of_job.map(|(job, record)| Carried { job: job.name.clone(), bytes: record.links[link] });
            let mut jobs: Vec<Carried> = of_job.filter(|carried| carried.bytes > 0).collect();
            jobs.arrange_by_key(|carried| std::cmp::Reverse(carried.bytes));
            Meeting {
                link: fabric.link_name(link),
                capacity_bps: fabric.link(link).capacity.bytes_per_second(),
                utilisation: if makespan > Time::ZERO { time / makespan.seconds() } else { 0.0 },
                jobs,
            }
        };
        links.into_iter().map(meeting).collect()
    }

    /// Returns lower bounds of the makespan, from the bytes that jobs whose end counts put on each node and
    /// link.
    fn bounds(&self, recorder: &JobsRecorder<'_>) -> Bounds {
        let fabric = self.network.most();
        let waited: Vec<bool> = self.work.jobs.iter().map(|job| self.work.must_end(job)).collect();
        let seconds = |bytes: u64, bandwidth: Bandwidth| time_over(bytes as f64, bandwidth).seconds();
        let of_rank = |rank: RankId| {
            if !waited[recorder.job_of(rank) as usize] {
                return 0.0;
            }
            let (sent, received) = recorder.ranks[rank];
            let (out, into) = self.network.capacity_of(self.network.placement[rank]);
            seconds(sent, out).max(seconds(received, into))
        };
        let of_link = |link: LinkId| {
            let jobs = recorder.jobs.iter().zip(&waited).filter(|(_, waited)| **waited);
            seconds(jobs.map(|(job, _)| job.links[link]).sum(), fabric.link(link).capacity)
        };
        // A link that messages do not share bounds nothing.
        let shared = fabric.links().ids().filter(|&link| !fabric.is_own(link));
        Bounds {
            injection_s: Some(recorder.ranks.ids().map(of_rank).fold(0.0, f64::max)),
            busiest_link_s: Some(shared.map(of_link).fold(0.0, f64::max)),
            ..Bounds::default()
        }
    }

    /// Adds the name of its job to each blocked rank, since ranks are numbered over all jobs.
    fn with_job_names(&self, blocked: Vec<Blocked>, ranks: &[u32]) -> Vec<Blocked> {
        let of = |rank: RankId| {
            let mut first = 0;
            for (job, &ranks) in self.work.jobs.iter().zip(ranks) {
                if rank.index() < (first + ranks) as usize {
                    return (job.name.as_str(), first);
                }
                first += ranks;
            }
            ("", 0)
        };
        let said = |blocked: Blocked| {
            let (name, first) = of(blocked.rank);
            let waits_for =
                format!("{} (numbers within job `{name}`, whose rank 0 is rank {first})", blocked.waits_for);
            Blocked { waits_for, ..blocked }
        };
        blocked.into_iter().map(said).collect()
    }
}

//! Farms: a master that gives out tasks to workers, in closed form or over a fabric, for numbers of workers and ways of
//! giving out tasks.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use serde_json::Value;

use super::build::{self, Placed};
use super::replay::File;
use super::{Control, Measured, SweepProgress};
use crate::diagnostic::{Invalid, Sources};
use crate::engine::{Stop, Watch};
use crate::node::NodeSpec;
use crate::report::{
    self, FARM_SCHEMA, FarmBounds, FarmReport, Meta, Prediction, SeedStatistics, Status, Utilisation, Waiting,
    master_busy, saturation,
};
use crate::system::Network;
use crate::units::Time;
use crate::workload::WorkloadSpec;
use crate::workload::farm::exchange::Exchange;
use crate::workload::farm::{
    self, Bounds, Costs, Dealer, FarmPoint, FarmSpec, MasterSlaveSpec, Order, Outcome, Tasks, Turn, TurnLog, WorkerUse,
};

/// A farm and what it runs on: complete, checked and built.
#[derive(Clone, Debug)]
pub struct Farm {
    /// The tasks, as they are listed.
    pub tasks: Arc<Tasks>,
    /// Where they come from, for people.
    pub title: String,
    /// The network and how tasks are given out, for people.
    pub setting: String,
    /// What messages cost; of these only the ends, where there is a fabric.
    pub costs: Costs,
    /// What is tried: numbers of workers, and ways of giving out tasks.
    pub points: Vec<FarmPoint>,
    /// What was written; paths as they are seen from the working directory.
    pub(super) workload: WorkloadSpec,
    pub(super) node: Option<NodeSpec>,
    /// Of each point, where there is a fabric.
    pub(super) placed: Vec<Placed>,
    pub(super) seed: u64,
    pub(super) sources: Sources,
}

impl Farm {
    /// What it is, for people: the tasks.
    pub fn name(&self) -> &str {
        &self.title
    }

    /// The seed of everything random.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// What was written of the work.
    pub fn workload(&self) -> &WorkloadSpec {
        &self.workload
    }

    /// The node model: what messages cost, where that is a machine's.
    pub fn node_name(&self) -> &'static str {
        self.node.as_ref().map_or("ideal", |node| node.name())
    }

    /// The table of the farm.
    pub fn spec(&self) -> Option<&MasterSlaveSpec> {
        match &self.workload {
            WorkloadSpec::Farm(FarmSpec::MasterSlave(spec)) => Some(spec),
            WorkloadSpec::Pattern(_) | WorkloadSpec::Program(_) => None,
        }
    }

    /// Ranks of the largest point: workers and their masters.
    pub fn ranks(&self) -> u32 {
        let ranks = self.points.iter().map(|point| point.workers.len() as u32 + point.policy.masters.count());
        ranks.max().unwrap_or(1)
    }

    /// Messages of all points, for progress: one with each task and one with each result, at most.
    pub fn messages(&self) -> u64 {
        2 * self.tasks.len() as u64 * self.points.len() as u64
    }

    /// The network of the first point, if there is a fabric.
    pub fn network(&self) -> Option<&Network> {
        self.placed.first().map(|placed| &placed.network)
    }

    /// Has all points run on this fabric with these routes, which are the same as its own.
    pub(super) fn share_network(&mut self, known: &Network) {
        for placed in &mut self.placed {
            placed.network.fabric = Arc::clone(&known.fabric);
            placed.network.router = Arc::clone(&known.router);
        }
    }

    /// Whether another seed can give another result.
    pub fn depends_on_seed(&self) -> bool {
        let placed = |placed: &Placed| placed.routing.depends_on_seed() || placed.placement.depends_on_seed();
        self.spec().is_some_and(MasterSlaveSpec::depends_on_seed) || self.placed.iter().any(placed)
    }

    /// The same with another seed: what is random is drawn again.
    ///
    /// # Errors
    /// What cannot be built with this seed.
    pub fn with_seed(&self, seed: u64) -> Result<Self, Invalid> {
        let mut farm = Self { seed, ..self.clone() };
        let mut sources = self.sources.clone();
        let invalid = |diagnostics, sources: &Sources| Invalid { diagnostics, sources: sources.clone() };
        if let Some(spec) = self.spec().filter(|spec| spec.tasks_depend_on_seed()) {
            let tasks = spec.tasks(seed, &mut sources).map_err(|mistakes| invalid(mistakes, &sources))?;
            farm.tasks = Arc::new(tasks);
        }
        for point in &mut farm.points {
            if let Order::Random(_) = point.order {
                point.order = Order::Random(seed);
            }
        }
        for Placed { routing, placement, network, .. } in &mut farm.placed {
            let built = build::reseed(network, Some(routing), Some(placement), seed, &mut sources);
            built.map_err(|mistakes| invalid(mistakes, &sources))?;
        }
        Ok(farm)
    }

    /// Each point as a farm of its own, with the keys that say which it is.
    pub fn split(&self) -> Vec<(BTreeMap<String, String>, Self)> {
        let Some(spec) = self.spec() else { return Vec::new() };
        let several_crews = self.points.iter().any(|point| point.workers.len() != self.points[0].workers.len());
        let varied = spec.varied_name();
        let one = |(i, point): (usize, &FarmPoint)| {
            let mut keys = BTreeMap::new();
            if several_crews {
                keys.insert("workload.master-slave.workers".to_owned(), point.workers.len().to_string());
            }
            if let (Some(name), Some(value)) = (&varied, &point.value) {
                keys.insert(format!("workload.master-slave.{name}"), value.clone());
            }
            let spec = spec.of_point(point);
            let setting = self.setting.clone();
            let placed = self.placed.get(i).cloned().into_iter().collect();
            let workload = WorkloadSpec::Farm(FarmSpec::MasterSlave(Box::new(spec)));
            (keys, Self { points: vec![point.clone()], placed, workload, setting, ..self.clone() })
        };
        self.points.iter().enumerate().map(one).collect()
    }

    /// What runs, as JSON: the scenario with every default put in.
    pub fn to_json(&self) -> Value {
        let placed = self.placed.first();
        let network = placed.map(|placed| &placed.network);
        File {
            seed: self.seed,
            resolution: network.map(|network| network.resolution).filter(|resolution| *resolution > Time::ZERO),
            topology: placed.map(|placed| &placed.topology),
            routing: placed.map(|placed| &placed.routing),
            placement: placed.map(|placed| &placed.placement),
            sharing: network.map(|network| &network.sharing),
            transport: network.map(|network| &network.transport).filter(|transport| !transport.is_default()),
            node: self.node.as_ref(),
            collectives: None,
            workload: Some(&self.workload),
        }
        .to_json()
    }

    /// Runs all points, on all cores.
    pub fn run(&self, control: Control<'_>) -> FarmReport {
        let start = crate::wall_clock::now();
        let arranged = self.arranged();
        let done = AtomicUsize::new(0);
        let total = self.points.len();
        let (tasks, work) = (self.tasks.len() as u64, self.tasks.work());
        let tell = |runs: usize| {
            if let Some(progress) = control.progress {
                let messages = runs as u64 * tasks;
                progress(SweepProgress { runs, total_runs: total, messages, total_messages: total as u64 * tasks });
            }
        };
        let results: Vec<Option<Prediction>> = (0..total)
            .into_par_iter()
            .with_max_len(1)
            .map(|i| {
                if control.is_cancelled() {
                    return None;
                }
                let prediction = self.predicted(i, arranged.of(&self.points[i]), Some(&control));
                tell(done.fetch_add(1, Ordering::Relaxed) + 1);
                prediction
            })
            .collect();
        let predictions: Vec<Prediction> = results.into_iter().flatten().collect();
        let first = predictions.first().and_then(|prediction| prediction.value.clone());
        let series = |of: fn(&Prediction) -> f64| -> Vec<(u32, f64)> {
            let of_first = predictions.iter().filter(|prediction| prediction.value == first);
            of_first.map(|prediction| (prediction.workers, of(prediction))).collect()
        };
        let complete = predictions.len() == total;
        FarmReport {
            schema: FARM_SCHEMA,
            scenario: self.to_json(),
            tasks: self.title.clone(),
            setting: self.setting.clone(),
            task_count: tasks,
            work_s: work.seconds(),
            longest_task_s: self.tasks.longest().seconds(),
            varied: self.spec().and_then(MasterSlaveSpec::varied_name),
            saturation_workers: saturation(&series(|row| row.time_s)).filter(|_| complete),
            master_busy_workers: master_busy(&series(|row| row.master_utilisation)).filter(|_| complete),
            master_bound_workers: self.master_bound_workers(),
            predictions,
            complete,
            meta: Meta {
                wall_s: start.elapsed().as_secs_f64(),
                events: tasks * total as u64,
                packet_hops: None,
                peak_rss_bytes: crate::memory::peak(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            },
        }
    }

    /// Runs all points with each of these seeds, and says of the first what [`Farm::run`] says, with the times of all.
    ///
    /// # Errors
    /// What cannot be built with one of the seeds.
    pub fn run_seeds(&self, seeds: &[u64], control: Control<'_>) -> Result<FarmReport, Invalid> {
        let mut report = match seeds.first() {
            Some(&first) if first != self.seed => self.with_seed(first)?.run(control),
            _ => self.run(control),
        };
        if seeds.len() < 2 || !report.complete {
            return Ok(report);
        }
        let mut done = vec![seeds[0]];
        let mut times: Vec<Vec<f64>> = report.predictions.iter().map(|row| vec![row.time_s]).collect();
        for &seed in &seeds[1..] {
            let again = match self.depends_on_seed() {
                true => self.with_seed(seed)?.run(control),
                false => report.clone(),
            };
            if !again.complete {
                report.complete = false;
                break;
            }
            done.push(seed);
            times.iter_mut().zip(&again.predictions).for_each(|(times, row)| times.push(row.time_s));
        }
        let missing = seeds.len() - done.len();
        for (row, times) in report.predictions.iter_mut().zip(times) {
            row.seeds = Some(SeedStatistics { missing, ..SeedStatistics::new(done.clone(), times) });
        }
        Ok(report)
    }

    /// One point: what is predicted of it; nothing where it was ended early.
    pub fn run_point(&self, point: usize, watch: Option<&dyn Watch>) -> Option<Prediction> {
        let arranged = self.points.get(point)?.order.arrange((*self.tasks).clone());
        self.predicted(point, &arranged, watch)
    }

    /// The first point, as any work is measured.
    pub(super) fn measured(&self, watch: Option<&dyn Watch>) -> Measured {
        let start = crate::wall_clock::now();
        let row = self.run_point(0, watch);
        let status = if row.is_some() { Status::Complete } else { Status::Interrupted };
        let sent = |row: &Prediction| 2 * row.messages - row.repeated;
        Measured {
            status,
            makespan_s: row.as_ref().map_or(0.0, |row| row.time_s),
            messages: row.as_ref().map_or(0, sent),
            bytes: self.tasks.bytes(),
            bounds: report::Bounds { path_s: row.as_ref().map(|row| row.bound_s), ..report::Bounds::default() },
            packet_hops: None,
            undone: row.as_ref().map_or(0, |row| row.undone),
            fingerprint: row.map(|row| row.fingerprint).unwrap_or_default(),
            wall_s: start.elapsed().as_secs_f64(),
            blocked: Vec::new(),
            gridlock: None,
            stopped: None,
        }
    }

    /// The same where messages cost nothing and are no time under way.
    #[must_use]
    pub fn without_network(&self) -> Self {
        Self { costs: Costs::default(), placed: Vec::new(), ..self.clone() }
    }

    /// The network and what messages cost, for people.
    pub fn network_name(&self) -> String {
        match self.network() {
            Some(network) => format!("{}, {}", network.fabric, moved_by(network)),
            None => self.setting.clone(),
        }
    }

    /// Every turn of one point, for a picture.
    pub fn turns(&self, point: usize) -> Vec<Turn> {
        let mut turns = Vec::new();
        if let Some(of) = self.points.get(point) {
            let tasks = of.order.arrange((*self.tasks).clone());
            self.outcome(point, &tasks, None, &mut turns);
        }
        turns
    }

    /// The tasks in every order that is asked for: each is arranged once, however many points use it.
    fn arranged(&self) -> Arranged<'_> {
        let mut orders: Vec<(Order, Tasks)> = Vec::new();
        for point in self.points.iter().filter(|point| point.order != Order::Listed) {
            if orders.iter().all(|(order, _)| *order != point.order) {
                orders.push((point.order, point.order.arrange((*self.tasks).clone())));
            }
        }
        Arranged { listed: &self.tasks, orders }
    }

    fn predicted(&self, point: usize, tasks: &Tasks, watch: Option<&dyn Watch>) -> Option<Prediction> {
        let outcome = self.outcome(point, tasks, watch, &mut ())?;
        Some(prediction(&self.points[point], tasks, &self.costs, &outcome))
    }

    /// Plays one point; nothing where it was ended early.
    fn outcome(
        &self,
        point: usize,
        tasks: &Tasks,
        watch: Option<&dyn Watch>,
        log: &mut impl TurnLog,
    ) -> Option<Outcome> {
        let FarmPoint { workers, policy, .. } = self.points.get(point)?;
        let Some(placed) = self.placed.get(point) else {
            return Some(farm::run(tasks, workers, &self.costs, policy, log));
        };
        let ranks = workers.len() as u32 + 1;
        let o = self.costs.overhead_among(ranks);
        let dealer = Dealer::new(tasks, policy.chunking, ranks - 1);
        let overlapped = self.spec().is_some_and(MasterSlaveSpec::overlapped);
        let mut exchange = Exchange::new(dealer, &workers.factors, &self.costs, o, overlapped, log);
        let ended = placed.network.simulate(&mut exchange, &mut (), watch);
        (ended.stop != Stop::Interrupted).then(|| exchange.outcome())
    }

    /// The workers that keep the master busy, for the first point's way of giving out tasks; not over a fabric.
    fn master_bound_workers(&self) -> Option<u32> {
        const MOST: u32 = 1 << 20;
        let point = self.points.first().filter(|_| self.placed.is_empty() && !self.tasks.is_empty())?;
        let factor = point.workers.len() as f64 / point.workers.speed();
        Bounds::saturation(&self.tasks, factor, &self.costs, &point.policy, MOST)
    }
}

/// What moves messages over a network: the sharing policy of flows, or the transport.
pub(super) fn moved_by(network: &Network) -> String {
    match network.transport.is_flow() {
        true => network.sharing.name().to_owned(),
        false => network.transport.name(),
    }
}

/// The tasks in several orders.
struct Arranged<'a> {
    listed: &'a Tasks,
    orders: Vec<(Order, Tasks)>,
}

impl Arranged<'_> {
    fn of(&self, point: &FarmPoint) -> &Tasks {
        let found = self.orders.iter().find(|(order, _)| *order == point.order);
        found.map_or(self.listed, |(_, tasks)| tasks)
    }
}

/// What is said of one outcome.
fn prediction(point: &FarmPoint, tasks: &Tasks, costs: &Costs, outcome: &Outcome) -> Prediction {
    let work = tasks.work();
    let time_s = outcome.time.seconds();
    let part = |time: Time| if outcome.time > Time::ZERO { time.ps() / outcome.time.ps() } else { 0.0 };
    let workers = &outcome.workers;
    let count = workers.len().max(1) as f64;
    let busy = || workers.iter().map(|worker| part(worker.busy));
    let last = |ends: f64, worker: &WorkerUse| ends + part(worker.last);
    let latest = workers.iter().map(|worker| part(worker.last)).fold(0.0, f64::max);
    let bounds = Bounds::of(tasks, &point.workers, costs, &point.policy);
    let bounds = FarmBounds {
        work_s: bounds.work.seconds(),
        exchange_s: bounds.exchange.seconds(),
        longest_s: bounds.longest.seconds(),
        master_s: bounds.master.seconds(),
    };
    Prediction {
        value: point.value.clone(),
        workers: workers.len() as u32,
        processors: workers.len() as u32 + point.policy.masters.count(),
        time_s,
        // Of what was not done there is no efficiency.
        efficiency: match outcome.undone {
            0 => part(Time::from_ps(work.ps() / point.workers.speed())),
            _ => 0.0,
        },
        master_utilisation: outcome.masters.iter().map(|&busy| part(busy)).fold(0.0, f64::max),
        worker_utilisation: Utilisation {
            mean: busy().sum::<f64>() / count,
            min: busy().fold(f64::INFINITY, f64::min),
            max: busy().fold(0.0, f64::max),
        },
        waiting: Waiting { mean: part(outcome.waited), max: outcome.most_waiting },
        imbalance: latest - workers.iter().fold(0.0, last) / count,
        tail_s: (outcome.time - outcome.dealt).seconds(),
        messages: outcome.messages,
        repeated: outcome.repeated,
        wasted_s: outcome.wasted.seconds(),
        undone: outcome.undone,
        bounds,
        bound_s: bounds.work_s.max(bounds.exchange_s).max(bounds.longest_s).max(bounds.master_s),
        seeds: None,
        fingerprint: fingerprint(outcome),
    }
}

/// Over when everybody did how much, to the last bit.
fn fingerprint(outcome: &Outcome) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut time = |time: Time| {
        hasher.update(&time.ps().to_bits().to_le_bytes());
    };
    time(outcome.time);
    outcome.masters.iter().for_each(|&busy| time(busy));
    for worker in &outcome.workers {
        time(worker.busy);
        time(worker.last);
        time(Time::from_ps(f64::from(worker.tasks)));
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

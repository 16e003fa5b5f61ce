//! Farms: a master that deals tasks to workers, in closed form or over a network.

use std::sync::Arc;

use super::estimate;
use super::simulated::{RunOptions, Simulated, fingerprint, fits_noise, fits_places, processors, time_over};
use super::summary::Summary;
use crate::diagnostic::{Diagnostic, Sources};
use crate::engine::{Stop, Watch};
use crate::farm;
use crate::farm::exchange::Exchange;
use crate::farm::{
    Bounds, Costs, Dealer, FarmPoint, FarmSpec, MasterSlaveSpec, Masters, Order, Outcome, Tasks, Turn, TurnLog,
    WorkerUse, Workers,
};
use crate::ids::RankId;
use crate::noise::Added;
use crate::report::{self, Estimated, FarmBounds, Head, Meta, Prediction, Status, Utilisation, Waiting};
use crate::system::System;
use crate::system::WorkloadSpec;
use crate::units::Time;

/// A master that deals tasks to workers under one policy.
#[derive(Clone, Debug)]
pub struct FarmWork {
    /// Tasks in the order in which they are listed.
    pub listed: Arc<Tasks>,
    /// Tasks in the order in which they are dealt.
    pub tasks: Arc<Tasks>,
    /// Source of the tasks, as shown to users.
    pub title: String,
    /// Network and policy, as shown to users.
    pub setting: String,
    /// Costs of messages. Over a network only the costs at the ends count.
    pub costs: Costs,
    /// Workers and the policy by which they receive tasks.
    pub point: FarmPoint,
    /// True if the master continues while a message leaves; applies over a network.
    pub overlapped: bool,
    /// The farm as a scenario describes it.
    pub spec: Option<WorkloadSpec>,
}

/// Outcome of a farm's run.
#[derive(Clone, PartialEq, Debug)]
pub struct FarmOutcome {
    /// Predicted times; `None` if the run was ended early.
    pub prediction: Option<Prediction>,
    /// Bytes of all tasks and results \[B\].
    pub bytes: u64,
    /// Wall-clock time of the run itself \[s\].
    pub wall_s: f64,
    /// Reason why the farm was run in full, if an estimate was asked for.
    pub estimated: Option<Estimated>,
}

impl FarmOutcome {
    /// Returns the figures that all kinds of work share.
    pub fn summary(&self) -> Summary {
        let row = self.prediction.as_ref();
        let status = match row.map(|row| row.undone) {
            None => Status::Interrupted,
            Some(0) => Status::Complete,
            Some(_) => Status::Undone,
        };
        let messages = row.map_or(0, |row| 2 * row.messages - row.repeated);
        let head = Head {
            status,
            makespan_s: row.map_or(0.0, |row| row.time_s),
            messages,
            bytes: self.bytes,
            fingerprint: row.map(|row| row.fingerprint.clone()).unwrap_or_default(),
            estimated: self.estimated.clone(),
            ..Head::default()
        };
        Summary {
            bounds: report::Bounds { path_s: row.map(|row| row.bound_s), ..report::Bounds::default() },
            undone: row.map_or(0, |row| row.undone),
            ..Summary::of(&head, &Meta { wall_s: self.wall_s, events: messages, ..Meta::default() })
        }
    }
}

impl FarmWork {
    /// Returns the description of the farm in the scenario.
    pub fn master_slave(&self) -> Option<&MasterSlaveSpec> {
        match &self.spec {
            Some(WorkloadSpec::Farm(FarmSpec::MasterSlave(spec))) => Some(spec),
            _ => None,
        }
    }

    /// Returns the same farm with messages that cost nothing.
    #[must_use]
    pub fn without_costs(&self) -> Self {
        Self { costs: Costs::default(), ..self.clone() }
    }

    /// Returns every turn of the master, for a picture.
    pub fn turns(&self, system: &System) -> Vec<Turn> {
        let mut turns = Vec::new();
        self.outcome(system, None, None, &mut turns);
        turns
    }

    /// Returns the number of workers that keep the master busy; `None` over a network.
    pub fn master_bound_workers(&self, system: &System) -> Option<u32> {
        const MAX_WORKERS: u32 = 1 << 20;
        if system.network().is_some() || self.listed.is_empty() {
            return None;
        }
        let workers = &self.point.workers;
        let factor = workers.len() as f64 / workers.speed();
        Bounds::saturation(&self.listed, factor, &self.costs, &self.point.policy, MAX_WORKERS)
    }

    /// Returns the time that the links of the master's node need for all tasks and results. Returns `None` if
    /// there are several masters, or a worker on the same node.
    fn network_bound(&self, system: &System) -> Option<Time> {
        let network = system.network().filter(|_| matches!(self.point.policy.masters, Masters::One))?;
        let node = network.placement[RankId(0)];
        if (1..self.ranks()).any(|rank| network.placement[RankId(rank)] == node) {
            return None;
        }
        let (out, back) = network.capacity_of(node);
        let [sent, returned] = self.tasks.bytes_each_way();
        Some(time_over(sent as f64, out).max(time_over(returned as f64, back)))
    }

    /// Returns the workers with their factors divided by the highest speed that their rank ever has.
    fn slowed_workers(&self, system: &System) -> Workers {
        let mut workers = self.point.workers.clone();
        if let Some(slow) = system.slow(self.ranks(), &[]).ok().flatten() {
            for (rank, factor) in (self.point.policy.masters.count()..).zip(&mut workers.factors) {
                *factor /= slow.highest_speed(rank);
            }
        }
        workers
    }

    /// True if only workers are slow, each at a constant speed.
    fn has_constant_speeds(&self, system: &System) -> bool {
        let Some(slow) = system.slow(self.ranks(), &[]).ok().flatten() else { return true };
        let masters = self.point.policy.masters.count();
        let is_constant = |&rank: &u32| rank >= masters && slow.constant_speed(rank).is_some();
        !slow.has_noise() && slow.stragglers().iter().all(is_constant)
    }

    /// Plays the farm. Returns `None` if it was ended early.
    fn outcome(
        &self,
        system: &System,
        watch: Option<&dyn Watch>,
        added: Option<Arc<Added>>,
        log: &mut impl TurnLog,
    ) -> Option<Outcome> {
        let FarmPoint { workers, policy, .. } = &self.point;
        let Some(network) = system.network() else {
            return Some(farm::run(&self.tasks, &self.slowed_workers(system), &self.costs, policy, log));
        };
        let ranks = workers.len() as u32 + 1;
        let o = self.costs.overhead_among(ranks);
        let dealer = Dealer::new(&self.tasks, policy.chunking, ranks - 1);
        let exchange = Exchange::new(dealer, &workers.factors, &self.costs, o, self.overlapped, log);
        let mut exchange = exchange.slowed(processors(system, ranks, added));
        let ended = network.play(&mut exchange, watch);
        (ended.stop != Stop::Interrupted).then(|| exchange.outcome())
    }
}

impl Simulated for FarmWork {
    type Outcome = FarmOutcome;

    fn fits(&self, system: &System) -> Result<(), Diagnostic> {
        fits_noise(system, self.ranks(), &[])?;
        if system.network().is_none() && !self.has_constant_speeds(system) {
            let message = "in closed form workers have one speed each, and nobody else is slow";
            let help = "name a topology (-t torus-4x4), or slow workers by `ranks` and `speed` alone";
            return Err(Diagnostic::new("wrong-choice", message).help(help));
        }
        fits_places(&self.title, self.point.workers.len() as u32 + 1, system)
    }

    fn play(&self, system: &System, options: RunOptions<'_>) -> Result<FarmOutcome, Diagnostic> {
        let start = crate::base::wall_clock::now();
        let outcome = self.outcome(system, options.watch, options.added, &mut ());
        let point = FarmPoint { workers: self.slowed_workers(system), ..self.point.clone() };
        Ok(FarmOutcome {
            prediction: outcome.map(|outcome| {
                let network = self.network_bound(system).filter(|_| outcome.undone == 0);
                prediction(&point, &self.tasks, &self.costs, &outcome, network)
            }),
            bytes: self.tasks.bytes(),
            wall_s: start.elapsed().as_secs_f64(),
            estimated: estimate::not_estimated(system, "farms"),
        })
    }

    fn summary(outcome: &FarmOutcome) -> Summary {
        outcome.summary()
    }

    fn name(&self) -> &str {
        &self.title
    }

    /// Number of workers and masters.
    fn ranks(&self) -> u32 {
        self.point.workers.len() as u32 + self.point.policy.masters.count()
    }

    /// Largest number of messages: one with each task and one with each result.
    fn messages(&self) -> u64 {
        2 * self.tasks.len() as u64
    }

    fn spec(&self) -> Option<&WorkloadSpec> {
        self.spec.as_ref()
    }

    fn depends_on_seed(&self) -> bool {
        self.master_slave().is_some_and(MasterSlaveSpec::depends_on_seed)
    }

    fn with_seed_of(&self, system: &System, sources: &mut Sources) -> Result<Self, Vec<Diagnostic>> {
        let mut work = self.clone();
        if let Some(spec) = self.master_slave().filter(|spec| spec.tasks_depend_on_seed()) {
            work.listed = Arc::new(spec.tasks(system.seed(), sources)?);
        }
        if let Order::Random(_) = work.point.order {
            work.point.order = Order::Random(system.seed());
        }
        work.tasks = arranged(&work.listed, work.point.order);
        Ok(work)
    }

    fn network_name(&self, system: &System) -> String {
        match system.network() {
            Some(_) => system.network_name(),
            None => self.setting.clone(),
        }
    }
}

/// Returns the tasks in this order.
pub(crate) fn arranged(listed: &Arc<Tasks>, order: Order) -> Arc<Tasks> {
    match order {
        Order::Listed => Arc::clone(listed),
        order => Arc::new(order.arrange((**listed).clone())),
    }
}

/// Returns the row of a report for one outcome.
fn prediction(point: &FarmPoint, tasks: &Tasks, costs: &Costs, outcome: &Outcome, network: Option<Time>) -> Prediction {
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
        network_s: network.map(Time::seconds),
    };
    let of_worker = |worker: &WorkerUse| [worker.busy, worker.last, Time::from_ps(f64::from(worker.tasks))];
    let of_masters = outcome.masters.iter().copied();
    let times = std::iter::once(outcome.time).chain(of_masters).chain(workers.iter().flat_map(of_worker));
    Prediction {
        value: point.value.clone(),
        workers: workers.len() as u32,
        processors: workers.len() as u32 + point.policy.masters.count(),
        time_s,
        // An unfinished farm has no efficiency.
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
        bound_s: bounds.largest(),
        seeds: None,
        fingerprint: fingerprint(times),
    }
}

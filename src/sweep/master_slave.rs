//! Studies of master/slave programs: predictions side by side for numbers of workers and ways of giving out tasks.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::{Control, SweepProgress};
use crate::diagnostic::{Diagnostic, Invalid};
use crate::engine::{Progress, Stop, Watch};
use crate::report::{
    self, FarmBounds, MASTER_SLAVE_SCHEMA, MasterSlaveReport, Meta, Prediction, Utilisation, Waiting, master_busy,
    saturation,
};
use crate::scenario::Loader;
use crate::units::Time;
use crate::workload::task_queue::exchange::Exchange;
use crate::workload::task_queue::{
    Bounds, Costs, Dealer, Masters, Order, Outcome, Policy, Tasks, Turn, TurnLog, Workers, farm,
};

/// A study: tasks, a network, and what is tried.
#[derive(Clone, Debug)]
pub struct Study {
    /// The tasks, as they are listed.
    pub tasks: Tasks,
    /// Where they come from, for people.
    pub title: String,
    /// The network and how tasks are given out, for people.
    pub setting: String,
    /// What messages cost; of these only the ends, where there is a fabric.
    pub costs: Costs,
    /// The fabric under the exchange, if there is one.
    pub fabric: Option<FabricUse>,
    /// What is varied beside the number of workers.
    pub varied: Option<String>,
    /// What is tried.
    pub points: Vec<StudyPoint>,
}

/// A fabric under the exchange.
#[derive(Clone, Debug)]
pub struct FabricUse {
    /// What chooses topology, routing, placement and sharing; a workload is not needed.
    pub loader: Loader,
    /// Whether the master goes on while its messages leave.
    pub overlapped: bool,
}

/// One combination.
#[derive(Clone, Debug)]
pub struct StudyPoint {
    /// The value of what is varied.
    pub value: Option<String>,
    /// The workers.
    pub workers: Workers,
    /// The order of the tasks.
    pub order: Order,
    /// How they are given out.
    pub policy: Policy,
}

/// Ends a run over a fabric when the study is ended.
struct Cancel<'a>(Control<'a>);

impl Watch for Cancel<'_> {
    fn tick(&self, _: Progress) -> bool {
        !self.0.is_cancelled()
    }
}

impl Study {
    /// Runs all points, on all cores.
    ///
    /// # Errors
    /// Where the fabric cannot be built, or is too small for the workers.
    pub fn run(&self, control: Control<'_>) -> Result<MasterSlaveReport, Invalid> {
        let start = report::wall_clock();
        // Each order is arranged once, however many points use it.
        let mut arranged: BTreeMap<String, Tasks> = BTreeMap::new();
        for point in self.points.iter().filter(|point| point.order != Order::Listed) {
            arranged.entry(format!("{:?}", point.order)).or_insert_with(|| point.order.arrange(self.tasks.clone()));
        }
        let done = AtomicUsize::new(0);
        let total = self.points.len();
        let (tasks, work) = (self.tasks.len() as u64, self.tasks.work());
        let tell = |runs: usize| {
            if let Some(progress) = control.progress {
                let messages = runs as u64 * tasks;
                progress(SweepProgress { runs, total_runs: total, messages, total_messages: total as u64 * tasks });
            }
        };
        let results: Vec<Result<Option<Prediction>, Invalid>> = self
            .points
            .par_iter()
            .with_max_len(1)
            .map(|point| {
                if control.is_cancelled() {
                    return Ok(None);
                }
                let tasks = arranged.get(&format!("{:?}", point.order)).unwrap_or(&self.tasks);
                let outcome = self.outcome(point, tasks, control, &mut ())?;
                tell(done.fetch_add(1, Ordering::Relaxed) + 1);
                Ok(outcome.map(|outcome| self.prediction(point, tasks, work, &outcome)))
            })
            .collect();
        let mut predictions = Vec::with_capacity(total);
        for result in results {
            predictions.extend(result?);
        }
        let first = predictions.first().and_then(|prediction| prediction.value.clone());
        let series = |of: fn(&Prediction) -> f64| -> Vec<(u32, f64)> {
            let of_first = predictions.iter().filter(|prediction| prediction.value == first);
            of_first.map(|prediction| (prediction.workers, of(prediction))).collect()
        };
        let complete = predictions.len() == total;
        Ok(MasterSlaveReport {
            schema: MASTER_SLAVE_SCHEMA,
            tasks: self.title.clone(),
            setting: self.setting.clone(),
            task_count: tasks,
            work_s: work.seconds(),
            longest_task_s: self.tasks.longest().seconds(),
            varied: self.varied.clone(),
            saturation_workers: saturation(&series(|row| row.time_s)).filter(|_| complete),
            master_busy_workers: master_busy(&series(|row| row.master_utilisation)).filter(|_| complete),
            master_bound_workers: self.master_bound_workers(),
            predictions,
            complete,
            meta: Meta {
                wall_s: start.elapsed().as_secs_f64(),
                events: tasks * total as u64,
                packet_hops: None,
                peak_rss_bytes: report::peak_rss(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            },
        })
    }

    /// Every turn of one point, for a picture.
    ///
    /// # Errors
    /// As [`Study::run`].
    pub fn turns(&self, point: &StudyPoint) -> Result<(Vec<Turn>, Option<Outcome>), Invalid> {
        let mut turns = Vec::new();
        let tasks = point.order.arrange(self.tasks.clone());
        let outcome = self.outcome(point, &tasks, Control::default(), &mut turns)?;
        Ok((turns, outcome))
    }

    /// Plays one point; nothing where it was ended early.
    fn outcome(
        &self,
        point: &StudyPoint,
        tasks: &Tasks,
        control: Control<'_>,
        log: &mut impl TurnLog,
    ) -> Result<Option<Outcome>, Invalid> {
        match &self.fabric {
            None => Ok(Some(farm::run(tasks, &point.workers, &self.costs, &point.policy, log))),
            Some(fabric) => self.over(fabric, point, tasks, control, log),
        }
    }

    fn over(
        &self,
        fabric: &FabricUse,
        point: &StudyPoint,
        tasks: &Tasks,
        control: Control<'_>,
        log: &mut impl TurnLog,
    ) -> Result<Option<Outcome>, Invalid> {
        let ranks = point.workers.len() + 1;
        let nodes = fabric.loader.clone().load_topology()?.fabric.nodes();
        if ranks > nodes as usize {
            let message = format!("{} workers and their master need {ranks} nodes, the fabric has {nodes}", ranks - 1);
            return Err(Invalid {
                diagnostics: vec![
                    Diagnostic::new("too-few-nodes", message).help("take fewer workers or a larger fabric"),
                ],
                ..Invalid::default()
            });
        }
        let network = fabric.loader.clone().load_network(ranks as u32)?;
        let o = self.costs.overhead_among(ranks as u32);
        let dealer = Dealer::new(tasks, point.policy.chunking, ranks as u32 - 1);
        let mut exchange = Exchange::new(dealer, &point.workers.factors, &self.costs, o, fabric.overlapped, log);
        let ended = network.simulate(&mut exchange, &mut (), Some(&Cancel(control)));
        Ok((ended.stop != Stop::Interrupted).then(|| exchange.outcome()))
    }

    fn prediction(&self, point: &StudyPoint, tasks: &Tasks, work: Time, outcome: &Outcome) -> Prediction {
        let time_s = outcome.time.seconds();
        let part = |time: Time| if outcome.time > Time::ZERO { time.ps() / outcome.time.ps() } else { 0.0 };
        let workers = &outcome.workers;
        let count = workers.len().max(1) as f64;
        let busy = || workers.iter().map(|worker| part(worker.busy));
        let last = |ends: f64, worker: &crate::workload::task_queue::WorkerUse| ends + part(worker.last);
        let latest = workers.iter().map(|worker| part(worker.last)).fold(0.0, f64::max);
        let bounds = Bounds::of(tasks, &point.workers, &self.costs, &point.policy);
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
        }
    }

    /// The workers that keep the master busy, for the first point's way of giving out tasks; not over a fabric.
    fn master_bound_workers(&self) -> Option<u32> {
        const MOST: u32 = 1 << 20;
        let point = self.points.first().filter(|_| self.fabric.is_none() && !self.tasks.is_empty())?;
        let factor = point.workers.len() as f64 / point.workers.speed();
        Bounds::saturation(&self.tasks, factor, &self.costs, &point.policy, MOST)
    }

    /// Whether more than one master, tasks sent ahead or losses are asked for, which no fabric has.
    pub fn beyond_a_fabric(policy: &Policy, workers: &Workers) -> bool {
        policy.masters != Masters::One || policy.manner.prefetch > 0 || !workers.losses.is_empty()
    }
}

impl Control<'_> {
    pub(super) fn is_cancelled(&self) -> bool {
        self.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed))
    }
}

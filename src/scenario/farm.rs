//! Farms: a master that gives out tasks to workers, in closed form or over a fabric, for numbers of workers and ways of giving out tasks.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use serde_json::Value;

use super::build::{self, Placed};
use super::links::Links;
use super::read::{Section, Sections};
use super::replay::File;
use super::{Control, Loader, Measured, Runnable, SweepProgress, paths, read};
use crate::diagnostic::{Diagnostic, Invalid, Sources};
use crate::engine::{Stop, Watch};
use crate::node::{self, NodeSpec};
use crate::report::{
    self, FarmBounds, MASTER_SLAVE_SCHEMA, MasterSlaveReport, Meta, Prediction, SeedStatistics, Status, Utilisation,
    Waiting, master_busy, saturation,
};
use crate::system::Network;
use crate::units::Time;
use crate::workload::WorkloadSpec;
use crate::workload::task_queue::exchange::Exchange;
use crate::workload::task_queue::{
    Bounds, Costs, Dealer, Executed, FarmPoint, FarmSpec, Given, Grid, Machine, MasterSlaveSpec, MessageCost, Order,
    Outcome, Tasks, Turn, TurnLog, WorkerUse, Workers, farm,
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
    workload: WorkloadSpec,
    node: Option<NodeSpec>,
    /// Of each point, where there is a fabric.
    placed: Vec<Placed>,
    seed: u64,
    sources: Sources,
}

/// What a network is called, for people.
fn network_in_words(spec: &MasterSlaveSpec, costs: &Costs, machine: Option<String>, on_fabric: bool) -> String {
    if let Some(machine) = machine {
        return machine;
    }
    let Costs { latency, overhead, overhead_per_processor, gap, .. } = costs;
    let nothing = [latency, overhead, overhead_per_processor].into_iter().all(|time| *time == Time::ZERO);
    if nothing && *gap == 0.0 {
        return if on_fabric { "ideal ends" } else { "messages at no cost" }.to_owned();
    }
    let mut text = format!("L = {latency}, o = {overhead}");
    if *overhead_per_processor > Time::ZERO {
        text += &format!(" + P x {overhead_per_processor}");
    }
    if let Some(gap) = spec.gap.as_ref().filter(|gap| gap.ps() > 0.0) {
        text += &format!(", G = {} ns/B", gap.ps() / 1e3);
    }
    text
}

/// What a message costs on a machine: what its calls cost, and where sender and receiver agree first, that, as if the other
/// were ready.
fn message(model: &node::Costs, bytes: u64) -> MessageCost {
    let costs = model.message(bytes);
    let agreement = match costs.rendezvous {
        true if model.control_travels => Time::from_ps(4.0 * model.handshake.ps() + 2.0 * model.latency.ps()),
        _ => Time::ZERO,
    };
    MessageCost { send: agreement + costs.send, flight: model.latency + costs.gap, receive: costs.recv }
}

/// What messages cost, by the table of the farm or by the machine.
fn costs(sections: &Sections, spec: &MasterSlaveSpec, diagnostics: &mut Vec<Diagnostic>) -> Option<Costs> {
    let costs = spec.costs();
    let on_fabric = !matches!(sections.topology, Section::Absent);
    if let (true, Some(gap)) = (on_fabric, &spec.gap) {
        let message = "with a topology its capacity takes the place of the gap G";
        diagnostics
            .push(Diagnostic::new("wrong-choice", message).at_value(gap).help("leave out the gap, or the topology"));
    }
    if let (false, Some(overlap)) = (on_fabric, &spec.overlap)
        && **overlap
    {
        let message = "without a topology the master waits for each message while it leaves";
        let help = "name a topology, or leave out `overlap`";
        diagnostics.push(Diagnostic::new("wrong-choice", message).at_value(overlap).help(help));
    }
    let (node, at) = match &sections.node {
        Section::Absent => return Some(costs),
        Section::Broken => return None,
        Section::Is(NodeSpec::Ideal(_), _) => return Some(costs),
        Section::Is(node, at) => (node, *at),
    };
    diagnostics.extend(build::at_section(node.check(), Some(at)));
    if let Some((key, span)) = spec.cost_of_machine() {
        let message = format!("`{key}` and the machine both say what messages cost");
        let diagnostic = Diagnostic::new("two-choices", message).label("leave out one of them");
        diagnostics.push(diagnostic.at(span.unwrap_or(at)));
    }
    let Some(mut model) = node.costs() else {
        let message = format!("a machine of the kind `{}` says more than what a message costs", node.name());
        let diagnostic = Diagnostic::new("wrong-choice", message).at(at);
        diagnostics.push(diagnostic.help("take one with [node.loggp] or [node.loggps]"));
        return None;
    };
    if on_fabric {
        model = model.on_fabric();
    }
    let machine = Machine(Arc::new(move |bytes| message(&model, bytes)));
    Some(Costs { machine: Some(machine), ..Costs::log_gp(Time::ZERO, Time::ZERO, costs.overhead_per_processor, 0.0) })
}

/// What of a scenario has no meaning for a farm, or none without a fabric.
fn check_sections(sections: &Sections, diagnostics: &mut Vec<Diagnostic>) {
    if let Section::Is(_, at) = &sections.collectives {
        let message = "a master and its workers have no collectives that [collectives] could be about";
        diagnostics.push(Diagnostic::new("wrong-choice", message).at(*at).help("leave it out"));
    }
    if !matches!(sections.topology, Section::Absent) {
        return build::check_transport(sections, diagnostics);
    }
    let tables = [
        ("routing", sections.routing.span()),
        ("placement", sections.placement.span()),
        ("sharing", sections.sharing.span()),
        ("transport", sections.transport.span()),
    ];
    for (name, at) in tables.into_iter().filter_map(|(name, at)| Some((name, at?))) {
        let message = format!("without a topology there is nothing that `{name}` could be about");
        diagnostics
            .push(Diagnostic::new("wrong-choice", message).at(at).help("name a topology with -t, or leave it out"));
    }
}

/// A farm that a scenario names, on what the scenario says.
pub(super) fn of_workload(
    sections: &Sections,
    spec: &MasterSlaveSpec,
    links: &Links,
    mut sources: Sources,
    mut diagnostics: Vec<Diagnostic>,
) -> Result<Farm, Invalid> {
    let farm = built(sections, spec, links, &mut sources, &mut diagnostics);
    let farm = build::finish(farm, sources.clone(), diagnostics)?;
    let mut workload = farm.workload;
    paths::settle_workload(&mut workload, &sources);
    Ok(Farm { workload, sources, ..farm })
}

fn built(
    sections: &Sections,
    spec: &MasterSlaveSpec,
    links: &Links,
    sources: &mut Sources,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Farm> {
    let (seed, at) = (build::seed(sections), sections.workload.span());
    check_sections(sections, diagnostics);
    let costs = costs(sections, spec, diagnostics);
    let on_fabric = !matches!(sections.topology, Section::Absent);
    let points = build::taken(spec.points(on_fabric, seed, sources), spec.workers_span().or(at), diagnostics);
    let tasks = build::taken(spec.tasks(seed, sources), spec.tasks_span().or(at), diagnostics);
    let routed = if on_fabric { build::routed(sections, sources, diagnostics) } else { None };
    let (costs, points, tasks) = (costs?, points?, tasks?);
    let mut placed: Vec<Placed> = Vec::new();
    if on_fabric {
        let routed = routed?;
        let nodes = routed.fabric.nodes() as usize;
        for point in &points {
            let ranks = point.workers.len() + 1;
            if ranks > nodes {
                let workers = ranks - 1;
                let message = format!("{workers} workers and their master need {ranks} nodes, the fabric has {nodes}");
                let diagnostic = Diagnostic::new("too-few-nodes", message);
                let help = "take fewer workers or a larger fabric";
                diagnostics.push(build::with_span(diagnostic, spec.workers_span().or(at)).help(help));
                return None;
            }
            let same = placed.iter().find(|placed| placed.network.placement.len() == ranks).cloned();
            placed.push(match same {
                Some(same) => same,
                None => build::placed(routed.clone(), sections, ranks as u32, at, sources, diagnostics)?,
            });
        }
        let most = placed.iter().max_by_key(|placed| placed.network.placement.len())?;
        build::check_all_routes(&most.network, sections, diagnostics);
    }
    let node = sections.node.get().filter(|node| !matches!(node, NodeSpec::Ideal(_))).cloned();
    let machine = node.as_ref().map(|node| match links.machine_name() {
        Some(machine) => format!("machine {machine}"),
        None => format!("nodes {}", node.name()),
    });
    let mut setting = network_in_words(spec, &costs, machine, on_fabric);
    if let Some(first) = placed.first() {
        setting += &format!(" over {}", links.topology_name().unwrap_or(first.network.fabric.name()));
        if !first.network.transport.is_flow() {
            setting += &format!(" ({})", first.network.transport.name());
        }
    }
    Some(Farm {
        tasks: Arc::new(tasks),
        title: spec.tasks_title(),
        setting: format!("{setting}, {}", spec.title()),
        costs,
        points,
        workload: WorkloadSpec::Farm(FarmSpec::MasterSlave(Box::new(spec.clone()))),
        node,
        placed,
        seed,
        sources: Sources::default(),
    })
}

impl Loader {
    /// Reads the texts and builds the master with its workers that they say.
    ///
    /// # Errors
    /// Every mistake of every text, and a workload that is something else.
    pub fn load_farm(self) -> Result<Farm, Invalid> {
        match self.load_any()? {
            Runnable::Farm(farm) => Ok(*farm),
            Runnable::Pattern(_) | Runnable::Program(..) => {
                let message = "the workload is no master with its workers";
                let diagnostic = Diagnostic::new("wrong-choice", message).help("write a table [workload.master-slave]");
                Err(Invalid { diagnostics: vec![diagnostic], ..Invalid::default() })
            }
        }
    }

    /// Reads the texts for the farm alone: what was executed of its grid, the workers that are tried, and what messages cost.
    ///
    /// # Errors
    /// Every mistake of every text, and a topology: a plan predicts in closed form.
    pub fn load_plan(self) -> Result<FarmPlan, Invalid> {
        let mut texts = self.gather();
        let sections = read::sections_alone(&texts.table, &mut texts.diagnostics, texts.incomplete);
        texts.only_first_mistakes();
        let (mut sources, mut diagnostics) = texts.into_parts();
        let plan = match &sections.workload {
            Section::Is(WorkloadSpec::Farm(FarmSpec::MasterSlave(spec)), at) => {
                plan(&sections, spec, *at, &mut sources, &mut diagnostics)
            }
            _ => None,
        };
        build::finish(plan, sources, diagnostics)
    }
}

/// What a plan of executions starts from.
#[derive(Clone, Debug)]
pub struct FarmPlan {
    /// The tasks executed so far.
    pub executed: Executed,
    /// The grid of all tasks.
    pub grid: Grid,
    /// The workers that are tried; none if no number of them is said.
    pub crews: Vec<Workers>,
    /// What messages cost.
    pub costs: Costs,
}

fn plan(
    sections: &Sections,
    spec: &MasterSlaveSpec,
    at: crate::diagnostic::Span,
    sources: &mut Sources,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<FarmPlan> {
    check_sections(sections, diagnostics);
    if let Section::Is(_, at) = &sections.topology {
        let message = "a plan predicts in closed form, not over a fabric";
        diagnostics.push(Diagnostic::new("wrong-choice", message).at(*at).help("leave out the topology"));
    }
    let costs = costs(sections, spec, diagnostics);
    let named = spec.workers.is_some() || spec.processors.is_some() || spec.speeds.is_some();
    let crews = if named { spec.crews(1, sources) } else { Ok(Vec::new()) };
    let crews = build::taken(crews, Some(at), diagnostics);
    let missing = || Diagnostic::new("missing-grid", "a plan needs the grid of all tasks").help("give it with --grid");
    let given = spec.given(build::seed(sections), sources);
    let (executed, grid) = match build::taken(given, spec.tasks_span().or(Some(at)), diagnostics)? {
        Given::Executed(executed, Some(grid)) => (executed, grid),
        Given::Executed(_, None) => {
            diagnostics.push(missing());
            return None;
        }
        Given::All(_) => {
            let message = "a rule gives all tasks: there is nothing to plan";
            diagnostics.push(Diagnostic::new("wrong-choice", message).help("name a table of executed tasks"));
            return None;
        }
    };
    Some(FarmPlan { executed, grid, crews: crews?, costs: costs? })
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
    pub fn run(&self, control: Control<'_>) -> MasterSlaveReport {
        let start = report::wall_clock();
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
        MasterSlaveReport {
            schema: MASTER_SLAVE_SCHEMA,
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
                peak_rss_bytes: report::peak_rss(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            },
        }
    }

    /// Runs all points with each of these seeds, and says of the first what [`Farm::run`] says, with the times of all.
    ///
    /// # Errors
    /// What cannot be built with one of the seeds.
    pub fn run_seeds(&self, seeds: &[u64], control: Control<'_>) -> Result<MasterSlaveReport, Invalid> {
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
        let start = report::wall_clock();
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

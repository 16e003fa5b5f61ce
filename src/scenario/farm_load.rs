//! From the texts of a scenario to a farm and its systems.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::notes::Notes;
use super::read::Sections;
use super::section::Section;
use super::{Farm, Loaded, Loader, RoutedFabric, Scenario, paths};
use crate::diagnostic::{Diagnostic, Invalid, Span};
use crate::farm::{
    Costs, Executed, FarmPoint, FarmSpec, Given, Machine, MasterSlaveSpec, MessageCost, Order, TaskGrid, Tasks, Workers,
};
use crate::node;
use crate::simulation::{FarmWork, Simulated, arranged};
use crate::system::System;
use crate::system::WorkloadSpec;
use crate::units::Time;

/// Returns a description of a network, for people.
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

/// Returns the cost of a message on a machine: the cost of its calls, and the cost of the handshake of a
/// rendezvous with a peer that is ready.
fn message(model: &node::Costs, bytes: u64) -> MessageCost {
    let costs = model.message(bytes);
    let agreement = match costs.rendezvous {
        true if model.control_travels => Time::from_ps(4.0 * model.handshake.ps() + 2.0 * model.latency.ps()),
        _ => Time::ZERO,
    };
    MessageCost { send: agreement + costs.send, flight: model.latency + costs.gap, receive: costs.recv }
}

impl Sections {
    /// Returns the costs of messages, from the table of the farm or from the machine.
    fn costs(&self, spec: &MasterSlaveSpec, notes: &mut Notes) -> Option<Costs> {
        let costs = spec.costs();
        let on_fabric = !self.topology.is_absent();
        if let (true, Some(gap)) = (on_fabric, &spec.gap) {
            let message = "with a topology its capacity takes the place of the gap G";
            notes.refuse(message, gap.span(), "leave out the gap, or the topology");
        }
        if let (false, Some(overlap)) = (on_fabric, &spec.overlap)
            && **overlap
        {
            let message = "without a topology the master waits for each message while it leaves";
            notes.refuse(message, overlap.span(), "name a topology, or leave out `overlap`");
        }
        let (node, at) = match &self.node {
            Section::Absent => return Some(costs),
            Section::Broken => return None,
            Section::Is(node, _) if node.facts().is_ideal => return Some(costs),
            Section::Is(node, at) => (node, *at),
        };
        notes.extend_at(node.check(), Some(at));
        if let Some((key, span)) = spec.cost_of_machine() {
            let message = format!("`{key}` and the machine both set the cost of messages");
            let diagnostic = Diagnostic::new("two-choices", message).label("leave out one of them");
            notes.push(diagnostic.at(span.unwrap_or(at)));
        }
        let Some(mut model) = node.costs() else {
            let message = format!("a machine of the kind `{}` sets more than the cost of a message", node.name());
            notes.refuse(message, at, "take one with [node.loggp] or [node.loggps]");
            return None;
        };
        if on_fabric {
            model = model.on_fabric();
        }
        let machine = Some(Machine(Arc::new(move |bytes| message(&model, bytes))));
        Some(Costs { machine, ..Costs::log_gp(Time::ZERO, Time::ZERO, costs.overhead_per_processor, 0.0) })
    }

    /// Refuses sections that have no meaning for a farm, or none without a fabric.
    fn check_for_farm(&self, notes: &mut Notes) {
        if let (Section::Is(_, at), None) = (&self.collectives, notes.links.machine_name()) {
            let message = "a master and its workers have no collectives that [collectives] could be about";
            notes.refuse(message, *at, "leave it out");
        }
        if self.topology.is_absent() {
            return self.check_without_topology(notes);
        }
        self.check_packets(notes);
        self.check_transport(notes);
    }

    /// Builds a farm that a scenario names, on the scenario's system.
    pub fn farm(&self, spec: &MasterSlaveSpec, mut notes: Notes) -> Result<Farm, Invalid> {
        let farm = self.farm_points(spec, &mut notes);
        Ok(notes.finish(farm)?.0)
    }

    /// Builds the systems of these points on a fabric. Points with the same number of ranks share a system.
    fn farm_systems(
        &self,
        spec: &MasterSlaveSpec,
        points: &[FarmPoint],
        routed: &RoutedFabric,
        notes: &mut Notes,
    ) -> Option<Vec<System>> {
        let at = self.workload.span();
        let mut systems: Vec<System> = Vec::new();
        for point in points {
            let ranks = point.workers.len() + 1;
            let is_placed = |system: &&System| system.network().is_some_and(|network| network.placement.len() == ranks);
            if let Some(same) = systems.iter().find(is_placed).cloned() {
                systems.push(same);
                continue;
            }
            let nodes = routed.fabric.nodes() as usize;
            if ranks > nodes {
                let workers = ranks - 1;
                let message = format!("{workers} workers and their master need {ranks} nodes, the fabric has {nodes}");
                let diagnostic = Diagnostic::new("too-few-nodes", message).at(spec.workers_span().or(at));
                notes.push(diagnostic.help("take fewer workers or a larger fabric"));
                return None;
            }
            systems.push(self.place(routed.clone(), ranks as u32, at, notes)?);
        }
        let networks = systems.iter().filter_map(System::network);
        if let Some(most) = networks.max_by_key(|network| network.placement.len()) {
            self.check_all_routes(most, notes);
            if most.faults_concern_runs() {
                let message =
                    "a master and its workers are played on links that stay, and on which all nodes reach each other";
                let diagnostic = Diagnostic::new("faults-misfit", message).at(self.faults.span().or(at));
                notes.push(diagnostic.help("let fewer links fail, and from the start"));
            }
        }
        Some(systems)
    }

    fn farm_points(&self, spec: &MasterSlaveSpec, notes: &mut Notes) -> Option<Farm> {
        let (seed, at) = (self.seed(), self.workload.span());
        self.check_for_farm(notes);
        let costs = self.costs(spec, notes);
        let on_fabric = !self.topology.is_absent();
        let points = notes.taken(spec.points(on_fabric, seed, &notes.sources), spec.workers_span().or(at));
        let tasks = notes.build(spec.tasks_span().or(at), |sources| spec.tasks(seed, sources));
        let routed = if on_fabric { self.routed(notes) } else { None };
        let (costs, points, listed) = (costs?, points?, Arc::new(tasks?));
        let systems = if on_fabric { self.farm_systems(spec, &points, &routed?, notes)? } else { Vec::new() };
        let node = self.node.get().filter(|node| !node.facts().is_ideal).cloned();
        let machine = node.as_ref().map(|node| match notes.links.machine_name() {
            Some(machine) => format!("machine {machine}"),
            None => format!("nodes {}", node.name()),
        });
        let mut network_in_words = network_in_words(spec, &costs, machine, on_fabric);
        if let Some(first) = systems.iter().find_map(System::network) {
            network_in_words += &format!(" over {}", notes.links.topology_name().unwrap_or(first.fabric.name()));
            if !first.transport.is_flow() {
                network_in_words += &format!(" ({})", first.transport.name());
            }
        }
        let setting = |spec: &MasterSlaveSpec| format!("{network_in_words}, {}", spec.title());
        let sources = notes.sources.clone();
        let written = |spec: &MasterSlaveSpec| {
            paths::settled(WorkloadSpec::Farm(FarmSpec::MasterSlave(Box::new(spec.clone()))), &sources)
        };
        let several_crews = points.iter().any(|point| point.workers.len() != points[0].workers.len());
        let mut in_order: Vec<(Order, Arc<Tasks>)> = Vec::new();
        let mut scenarios = Vec::with_capacity(points.len());
        for (i, point) in points.iter().enumerate() {
            let known = in_order.iter().find(|(order, _)| *order == point.order).map(|(_, tasks)| Arc::clone(tasks));
            let tasks = known.unwrap_or_else(|| {
                let tasks = arranged(&listed, point.order);
                in_order.push((point.order, Arc::clone(&tasks)));
                tasks
            });
            let mut keys = BTreeMap::new();
            if several_crews {
                keys.insert("workload.master-slave.workers".to_owned(), point.workers.len().to_string());
            }
            if let (Some(name), Some(value)) = (spec.varied_name(), &point.value) {
                keys.insert(format!("workload.master-slave.{name}"), value.clone());
            }
            let system = systems.get(i).cloned().unwrap_or_else(|| System::built(None, Default::default(), seed));
            // The costs at the ends have already been taken from the machine.
            let system = match &node {
                Some(node) => notes.taken(system.with_node(node.clone()).map_err(|m| vec![m]), at)?,
                None => system,
            };
            let work = FarmWork {
                listed: Arc::clone(&listed),
                tasks,
                title: spec.tasks_title(),
                setting: setting(spec),
                costs: costs.clone(),
                point: point.clone(),
                overlapped: spec.overlapped(),
                spec: Some(written(&spec.of_point(point))),
            };
            let before = notes.diagnostics.len();
            let system = self.estimated(self.slowed(system, work.ranks(), &[], notes));
            if notes.diagnostics.len() == before {
                let at = self.noise.span().or(self.stragglers.span());
                notes.extend_at(work.fits(&system).err(), at);
            }
            scenarios.push(Scenario { keys, ..Scenario::read(system, work, sources.clone()) });
        }
        Some(Farm { points: scenarios, written: written(spec), setting: setting(spec) })
    }

    /// Reads the input of a plan of executions.
    pub fn plan(&self, spec: &MasterSlaveSpec, at: Span, notes: &mut Notes) -> Option<FarmPlan> {
        self.check_for_farm(notes);
        if let Section::Is(_, at) = &self.topology {
            notes.refuse("a plan predicts in closed form, not over a fabric", *at, "leave out the topology");
        }
        let costs = self.costs(spec, notes);
        let named = spec.workers.is_some() || spec.processors.is_some() || spec.speeds.is_some();
        let crews = if named { spec.crews(1, &notes.sources) } else { Ok(Vec::new()) };
        let crews = notes.taken(crews, Some(at));
        let given = notes.build(spec.tasks_span().or(Some(at)), |sources| spec.given(self.seed(), sources));
        let (executed, grid) = match given? {
            Given::Executed(executed, Some(grid)) => (executed, grid),
            Given::Executed(_, None) => {
                let missing = Diagnostic::new("missing-grid", "a plan needs the grid of all tasks");
                notes.push(missing.help("give it with --grid"));
                return None;
            }
            Given::All(_) => {
                let message = "a rule gives all tasks: there is nothing to plan";
                notes.push(Diagnostic::new("wrong-choice", message).help("name a table of executed tasks"));
                return None;
            }
        };
        Some(FarmPlan { executed, grid, crews: crews?, costs: costs? })
    }
}

impl Loader {
    /// Reads the texts and builds their farm: a master with its workers.
    ///
    /// # Errors
    /// Every mistake in every text, and a workload of another kind.
    pub fn load_farm(self) -> Result<Farm, Invalid> {
        match self.load_all()? {
            Loaded::Farm(farm) => Ok(*farm),
            Loaded::Pattern(_) | Loaded::Program(_) | Loaded::Jobs(_) => {
                let message = "the workload is not a master/slave program";
                let diagnostic = Diagnostic::new("wrong-choice", message).help("write a table [workload.master-slave]");
                Err(diagnostic.into())
            }
        }
    }
}

/// Input of a plan of executions.
#[derive(Clone, Debug)]
pub struct FarmPlan {
    /// Tasks executed so far.
    pub executed: Executed,
    /// Grid of all tasks.
    pub grid: TaskGrid,
    /// Workers of each trial; empty if no number of workers is given.
    pub crews: Vec<Workers>,
    /// Costs of messages.
    pub costs: Costs,
}

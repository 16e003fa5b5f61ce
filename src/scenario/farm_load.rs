//! From the texts of a scenario to a farm and what it runs on.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::build;
use super::estimated::estimated;
use super::links::Links;
use super::load::{Needs, Understood};
use super::read::{Section, Sections};
use super::slow::slowed;
use super::{Farm, Loaded, Loader, Scenario, paths};
use crate::diagnostic::{Diagnostic, Invalid, Sources, Span};
use crate::farm::{
    Costs, Executed, FarmSpec, Given, Machine, MasterSlaveSpec, MessageCost, Order, TaskGrid, Tasks, Workers,
};
use crate::node;
use crate::simulation::{FarmWork, Simulated, arranged};
use crate::system::System;
use crate::system::WorkloadSpec;
use crate::units::Time;

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

/// What a message costs on a machine: what its calls cost, and where sender and receiver agree first, that, as if the
/// other were ready.
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
        Section::Is(node, _) if node.facts().is_ideal => return Some(costs),
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
        build::check_packets(sections, diagnostics);
        return build::check_transport(sections, diagnostics);
    }
    build::check_without_topology(sections, diagnostics);
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
    build::finish(farm, sources, diagnostics)
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
    let (costs, points, listed) = (costs?, points?, Arc::new(tasks?));
    let mut systems: Vec<System> = Vec::new();
    for point in points.iter().filter(|_| on_fabric) {
        let ranks = point.workers.len() + 1;
        let is_placed = |system: &&System| system.network().is_some_and(|network| network.placement.len() == ranks);
        let same = systems.iter().find(is_placed).cloned();
        systems.push(match same {
            Some(same) => same,
            None => {
                let routed = routed.clone()?;
                let nodes = routed.fabric.nodes() as usize;
                if ranks > nodes {
                    let workers = ranks - 1;
                    let message =
                        format!("{workers} workers and their master need {ranks} nodes, the fabric has {nodes}");
                    let diagnostic = Diagnostic::new("too-few-nodes", message);
                    let help = "take fewer workers or a larger fabric";
                    diagnostics.push(build::with_span(diagnostic, spec.workers_span().or(at)).help(help));
                    return None;
                }
                build::placed(routed, sections, ranks as u32, at, sources, diagnostics)?
            }
        });
    }
    let networks = || systems.iter().filter_map(System::network);
    if let Some(most) = networks().max_by_key(|network| network.placement.len()) {
        build::check_all_routes(most, sections, diagnostics);
        if most.faults_concern_runs() {
            let message =
                "a master and its workers are played on links that stay, and on which all nodes reach each other";
            let diagnostic = Diagnostic::new("faults-misfit", message).help("let fewer links fail, and from the start");
            diagnostics.push(build::with_span(diagnostic, sections.faults.span().or(at)));
        }
    }
    let node = sections.node.get().filter(|node| !node.facts().is_ideal).cloned();
    let machine = node.as_ref().map(|node| match links.machine_name() {
        Some(machine) => format!("machine {machine}"),
        None => format!("nodes {}", node.name()),
    });
    let mut network_in_words = network_in_words(spec, &costs, machine, on_fabric);
    if let Some(first) = networks().next() {
        network_in_words += &format!(" over {}", links.topology_name().unwrap_or(first.fabric.name()));
        if !first.transport.is_flow() {
            network_in_words += &format!(" ({})", first.transport.name());
        }
    }
    let setting = |spec: &MasterSlaveSpec| format!("{network_in_words}, {}", spec.title());
    let written = |spec: &MasterSlaveSpec| {
        let mut written = WorkloadSpec::Farm(FarmSpec::MasterSlave(Box::new(spec.clone())));
        paths::settle_workload(&mut written, sources);
        written
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
        // What of a machine is no network has been taken as costs.
        let system = match &node {
            Some(node) => build::taken(system.with_node(node.clone()).map_err(|m| vec![m]), at, diagnostics)?,
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
        let before = diagnostics.len();
        let system = estimated(slowed(system, sections, work.ranks(), &[], diagnostics), sections);
        if diagnostics.len() == before {
            let at = sections.noise.span().or(sections.stragglers.span());
            diagnostics.extend(build::at_section(work.fits(&system).err().into_iter().collect(), at));
        }
        scenarios.push(Scenario { keys, ..Scenario::read(system, work, sources.clone()) });
    }
    Some(Farm { points: scenarios, written: written(spec), setting: setting(spec) })
}

impl Loader {
    /// Reads the texts and builds the master with its workers that they say.
    ///
    /// # Errors
    /// Every mistake of every text, and a workload that is something else.
    pub fn load_farm(self) -> Result<Farm, Invalid> {
        match self.load_all()? {
            Loaded::Farm(farm) => Ok(*farm),
            Loaded::Pattern(_) | Loaded::Program(_) | Loaded::Jobs(_) => {
                let message = "the workload is no master with its workers";
                let diagnostic = Diagnostic::new("wrong-choice", message).help("write a table [workload.master-slave]");
                Err(Invalid { diagnostics: vec![diagnostic], ..Invalid::default() })
            }
        }
    }

    /// Reads the texts for the farm alone: what was executed of its grid, the workers that are tried, and what messages
    /// cost.
    ///
    /// # Errors
    /// Every mistake of every text, and a topology: a plan predicts in closed form.
    pub fn load_plan(self) -> Result<FarmPlan, Invalid> {
        let Understood { sections, mut sources, mut diagnostics, .. } = self.understood(Needs::Nothing);
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
    pub grid: TaskGrid,
    /// The workers that are tried; none if no number of them is said.
    pub crews: Vec<Workers>,
    /// What messages cost.
    pub costs: Costs,
}

fn plan(
    sections: &Sections,
    spec: &MasterSlaveSpec,
    at: Span,
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

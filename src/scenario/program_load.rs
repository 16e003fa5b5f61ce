//! From the texts of a scenario to a program and what it is played on.

use std::sync::Arc;

use super::estimated::estimated;
use super::links::Links;
use super::read::{Section, Sections};
use super::shared::SharedProgram;
use super::slow::slowed;
use super::{RoutedFabric, Scenario, build, paths};
use crate::diagnostic::{Diagnostic, Invalid, Located, Sources, Span};
use crate::node::NodeSpec;
use crate::prediction::assemble;
use crate::program::Program;
use crate::program::collectives::CollectivesSpec;
use crate::program::part::Part;
use crate::simulation::{ProgramWork, Simulated, calls_of};
use crate::system::{ProgramDataSpec, ProgramSpec, ReadProgram, WorkloadSpec};
use crate::system::{System, network_of_its_own};

/// A program that the scenario itself names, on what the scenario says.
pub(super) fn of_workload(
    sections: &Sections,
    links: &Links,
    workload: &ProgramSpec,
    mut sources: Sources,
    mut diagnostics: Vec<Diagnostic>,
) -> Result<Scenario<ProgramWork>, Invalid> {
    let at = sections.workload.span();
    diagnostics.extend(build::at_section(workload.check(), at));
    if let ProgramSpec::ProgramData(spec) = workload {
        return of_data(sections, links, spec, sources, diagnostics);
    }
    let read = match diagnostics.is_empty() {
        true => {
            let anew = |diagnostics: &mut Vec<Diagnostic>| {
                let ReadProgram { program, name, start_up } = build::taken(workload.read(&sources), at, diagnostics)?;
                Some(SharedProgram { program: Arc::new(program), name, start_up })
            };
            match &sections.shared {
                Some(shared) => shared.program(workload, &sources, &mut diagnostics, anew),
                None => anew(&mut diagnostics),
            }
        }
        false => None,
    };
    let found = read.and_then(|read| {
        let work = ProgramWork {
            cpu_speed: **workload.cpu_speed(),
            wildcards: workload.wildcards(),
            start_up: read.start_up,
            ..ProgramWork::new(read.program, read.name)
        };
        let ranks = work.program.ranks();
        let system = system(sections, links, ranks, None, &mut sources, &mut diagnostics)?;
        let part = build::taken(workload.part(), at, &mut diagnostics)?;
        Some((system, of_part(work, &part, at, &mut diagnostics)?))
    });
    scenario(found, ProgramSpec::clone(workload), sources, diagnostics)
}

/// The part of the program that is asked for, or all of it.
fn of_part(work: ProgramWork, part: &Part, at: Option<Span>, diagnostics: &mut Vec<Diagnostic>) -> Option<ProgramWork> {
    match part.name() {
        Some(name) => build::taken(work.of_region(&name).map_err(|mistake| vec![mistake]), at, diagnostics),
        None => Some(work),
    }
}

/// What was found, with what was written of it, or all mistakes.
fn scenario(
    found: Option<(System, ProgramWork)>,
    written: ProgramSpec,
    sources: Sources,
    diagnostics: Vec<Diagnostic>,
) -> Result<Scenario<ProgramWork>, Invalid> {
    let mut diagnostics = diagnostics;
    if let Some((system, work)) = found.as_ref().filter(|_| diagnostics.is_empty()) {
        diagnostics.extend(work.fits(system).err());
    }
    let (system, work) = build::finish(found, sources.clone(), diagnostics)?;
    let mut written = WorkloadSpec::Program(written);
    paths::settle_workload(&mut written, &sources);
    Ok(Scenario::read(system, ProgramWork { spec: Some(written), ..work }, sources))
}

/// A prediction: a program put together from data sets, on what the scenario says or on the times of communication
/// data.
fn of_data(
    sections: &Sections,
    links: &Links,
    spec: &ProgramDataSpec,
    mut sources: Sources,
    mut diagnostics: Vec<Diagnostic>,
) -> Result<Scenario<ProgramWork>, Invalid> {
    let at = sections.workload.span();
    let mut sections = sections.clone();
    if let Some(communication) = &spec.communication {
        let others = [("node", sections.node.span()), ("topology", sections.topology.span())];
        for (other, _) in others.into_iter().filter(|(_, span)| span.is_some()) {
            let message = format!("`communication` is a network of its own, and `{other}` names another");
            let diagnostic = Diagnostic::new("wrong-choice", message).at_value(communication);
            let help = "leave one of them out; a simulated network takes the ends of messages from a machine";
            diagnostics.push(diagnostic.label("leave one of them out").help(help));
        }
    }
    let assembled = match diagnostics.is_empty() {
        true => build::taken(assemble(spec, build::seed(&sections), &mut sources), at, &mut diagnostics),
        false => None,
    };
    let mut written = spec.clone();
    let found = assembled.and_then(|assembled| {
        if let Some((times, at)) = assembled.receive_times.zip(at) {
            // From here on they are those of the nodes, so that a report holds all that was used.
            sections.node = Section::Is(NodeSpec::ReceiveTimes(times), at);
            written.communication = None;
        }
        let work = ProgramWork {
            cpu_speed: *spec.cpu_speed,
            wildcards: spec.wildcards,
            start_up: assembled.start_up,
            origin: Some(Arc::new(assembled.origin)),
            ..ProgramWork::new(assembled.program, spec.program.to_string())
        };
        let ranks = work.program.ranks();
        let system = system(&sections, links, ranks, None, &mut sources, &mut diagnostics)?;
        let part = build::taken(spec.part(), at, &mut diagnostics)?;
        let at = spec.region.as_ref().and_then(Located::span).or(at);
        Some((system, of_part(work, &part, at, &mut diagnostics)?))
    });
    scenario(found, ProgramSpec::ProgramData(written), sources, diagnostics)
}

/// A pattern on nodes that cost something: the calls that its ranks make.
pub(super) fn of_pattern(
    sections: &Sections,
    links: &Links,
    mut sources: Sources,
    mut diagnostics: Vec<Diagnostic>,
) -> Result<Scenario<ProgramWork>, Invalid> {
    let at = sections.workload.span();
    let routed = build::routed(sections, &mut sources, &mut diagnostics);
    let work = match (&sections.topology, &sections.workload) {
        (Section::Absent, Section::Is(WorkloadSpec::Pattern(pattern), at)) => {
            let ranks = pattern.ranks();
            if ranks.is_none() {
                let message = "without a topology nothing says how many ranks there are";
                let name = serde_json::to_value(pattern).unwrap_or_default();
                let name = name.as_object().and_then(|tables| tables.keys().next().cloned()).unwrap_or_default();
                let fabric = match &sections.node {
                    Section::Is(node, _) if node.facts().is_network => "",
                    _ => ", or name a topology with -t",
                };
                let help = format!("write their number (--set workload.{name}.ranks=16){fabric}");
                diagnostics.push(Diagnostic::new("missing-key", message).at(*at).help(help));
            }
            ranks.and_then(|ranks| build::work(sections, &ranks, &mut sources, &mut diagnostics))
        }
        _ => routed.as_ref().and_then(|on| build::work(sections, &on.ground(), &mut sources, &mut diagnostics)),
    };
    let found = work.and_then(|build::Workload { workload, pattern }| {
        let calls = calls_of(&*pattern, &workload, build::seed(sections));
        let program: Program = build::taken(calls, at, &mut diagnostics)?;
        let system = system(sections, links, program.ranks(), routed, &mut sources, &mut diagnostics)?;
        let mut spec = WorkloadSpec::Pattern(workload.clone());
        paths::settle_workload(&mut spec, &sources);
        Some((system, ProgramWork { spec: Some(spec), ..ProgramWork::new(program, workload.title()) }))
    });
    let (system, work) = build::finish(found, sources.clone(), diagnostics)?;
    Ok(Scenario::read(system, work, sources))
}

/// What messages cost at their ends, and how collectives are done.
pub(super) fn ends(sections: &Sections, diagnostics: &mut Vec<Diagnostic>) -> Option<(NodeSpec, CollectivesSpec)> {
    let node = match &sections.node {
        Section::Is(node, at) => {
            diagnostics.extend(build::at_section(node.check(), Some(*at)));
            node.clone()
        }
        Section::Absent => NodeSpec::default(),
        Section::Broken => return None,
    };
    let collectives = match &sections.collectives {
        Section::Is(collectives, at) => {
            diagnostics.extend(build::at_section(collectives.check(), Some(*at)));
            collectives.clone()
        }
        Section::Absent => CollectivesSpec::default(),
        Section::Broken => return None,
    };
    Some((node, collectives))
}

/// What the texts say of nodes, collectives and fabric, for a program of so many ranks. `routed` is the fabric with its
/// routes, where that has been built already.
pub(super) fn system(
    sections: &Sections,
    links: &Links,
    ranks: u32,
    routed: Option<RoutedFabric>,
    sources: &mut Sources,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<System> {
    let (node, collectives) = ends(sections, diagnostics)?;
    if let Section::Is(_, at) = &sections.topology
        && node.facts().is_network
    {
        diagnostics.push(network_of_its_own(&node).at(*at));
    }
    let system = match &sections.topology {
        Section::Is(..) => {
            build::check_transport(sections, diagnostics);
            build::check_packets(sections, diagnostics);
            let routed = routed.or_else(|| build::routed(sections, sources, diagnostics))?;
            let system = build::placed(routed, sections, ranks, sections.topology.span(), sources, diagnostics)?;
            build::check_all_routes(system.network()?, sections, diagnostics);
            system
        }
        Section::Absent => {
            build::check_without_topology(sections, diagnostics);
            System::built(None, Default::default(), build::seed(sections))
        }
        Section::Broken => return None,
    };
    let own_links = system.network().and_then(|network| links.comparison(&network.fabric, &sections.link));
    // A model that is a network, beside another one, has been refused.
    let system = system.with_node(node).ok()?;
    let system = system.with_collectives(collectives).comparing_links(own_links);
    Some(estimated(slowed(system, sections, ranks, &[], diagnostics), sections))
}

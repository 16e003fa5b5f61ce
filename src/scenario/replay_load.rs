//! From the texts of a scenario to a program and what it is played on.

use std::sync::Arc;

use super::Loader;
use super::build::{self, Placed};
use super::paths;
use super::read::{self, Section, Sections};
use super::replay::Replay;
use crate::diagnostic::{Diagnostic, Invalid, Sources};
use crate::node::NodeSpec;
use crate::prediction::{Origin, assemble};
use crate::report::replay::{Prediction, PredictionPart};
use crate::units::Time;
use crate::workload::program::Program;
use crate::workload::program::Wildcards;
use crate::workload::program::collectives::CollectivesSpec;
use crate::workload::program::start_up::StartUp;
use crate::workload::{ProgramDataSpec, ProgramSpec, WorkloadSpec, as_program};

impl Loader {
    /// Reads the texts and builds what they say of nodes and fabric, for this program.
    ///
    /// # Errors
    /// Every mistake of every text; that there is no topology or workload is none.
    pub fn load_replay(self, program: Arc<Program>, name: &str, cpu_speed: f64) -> Result<Replay, Invalid> {
        let wildcards = self.wildcards;
        let mut texts = self.gather();
        // A topology may be missing; a parameter of the machine may not.
        let incomplete = texts.incomplete;
        let sections = read::sections_alone(&texts.table, &mut texts.diagnostics, incomplete);
        texts.only_first_mistakes();
        let links = texts.links.clone();
        let (mut sources, mut diagnostics) = texts.into_parts();
        let replay = built(&sections, program, name, cpu_speed, &mut sources, &mut diagnostics);
        let replay = build::finish(replay, sources.clone(), diagnostics)?.comparing_links(&links, &sections);
        Ok(Replay { wildcards, sources, ..replay })
    }
}

/// A program that the scenario itself names, on what the scenario says.
pub(super) fn of_workload(
    sections: &Sections,
    workload: &ProgramSpec,
    mut sources: Sources,
    mut diagnostics: Vec<Diagnostic>,
) -> Result<(Replay, Option<StartUp>), Invalid> {
    let at = sections.workload.span();
    diagnostics.extend(build::at_section(workload.check(), at));
    if let ProgramSpec::ProgramData(spec) = workload {
        return of_data(sections, spec, sources, diagnostics);
    }
    let read = match diagnostics.is_empty() {
        true => build::taken(workload.read(&sources), at, &mut diagnostics),
        false => None,
    };
    let start_up = read.as_ref().and_then(|read| read.start_up);
    let replay = read.and_then(|read| {
        let (program, speed) = (Arc::new(read.program), **workload.cpu_speed());
        let replay = built(sections, program, &read.name, speed, &mut sources, &mut diagnostics)?;
        let part = build::taken(workload.part(), at, &mut diagnostics)?.name();
        build::taken(
            part.map_or(Ok(replay.clone()), |part| replay.of_region(&part)).map_err(|mistake| vec![mistake]),
            at,
            &mut diagnostics,
        )
    });
    let replay = build::finish(replay, sources.clone(), diagnostics)?;
    let mut written = WorkloadSpec::Program(workload.clone());
    paths::settle_workload(&mut written, &sources);
    let (wildcards, workload) = (workload.wildcards(), Some(written));
    Ok((Replay { wildcards, workload, sources, ..replay }, start_up))
}

/// A prediction: a program put together from data sets, on what the scenario says or on the times of communication
/// data.
fn of_data(
    sections: &Sections,
    spec: &ProgramDataSpec,
    mut sources: Sources,
    mut diagnostics: Vec<Diagnostic>,
) -> Result<(Replay, Option<StartUp>), Invalid> {
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
    let mut start_up = None;
    let replay = assembled.and_then(|assembled| {
        start_up = assembled.start_up;
        if let Some((times, at)) = assembled.receive_times.zip(at) {
            // From here on they are those of the nodes, so that a report holds all that was used.
            sections.node = Section::Is(NodeSpec::ReceiveTimes(times), at);
            written.communication = None;
        }
        let speed = *spec.cpu_speed;
        let program = Arc::new(assembled.program);
        let replay = built(&sections, program, &spec.program, speed, &mut sources, &mut diagnostics)?;
        let replay = Replay { origin: Some(Arc::new(assembled.origin)), ..replay };
        let part = build::taken(spec.part(), at, &mut diagnostics)?.name();
        let asked = part.map_or(Ok(replay.clone()), |part| replay.of_region(&part)).map_err(|mistake| vec![mistake]);
        build::taken(asked, at, &mut diagnostics)
    });
    let replay = build::finish(replay, sources.clone(), diagnostics)?;
    let mut workload = WorkloadSpec::Program(ProgramSpec::ProgramData(written));
    paths::settle_workload(&mut workload, &sources);
    let wildcards = spec.wildcards;
    Ok((Replay { wildcards, workload: Some(workload), sources, ..replay }, start_up))
}

impl Replay {
    /// What it was put together from, as a report has it.
    pub(super) fn prediction(&self, origin: &Origin) -> Prediction {
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
            waits: match self.node.facts().is_table {
                true if self.by_rules() => "rules",
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

/// A pattern on nodes that cost something: the calls that its ranks make.
pub(super) fn of_pattern(
    sections: &Sections,
    mut sources: Sources,
    mut diagnostics: Vec<Diagnostic>,
) -> Result<Replay, Invalid> {
    let at = sections.workload.span();
    let routed = build::routed(sections, &mut sources, &mut diagnostics);
    let nodes = routed.map(|routed| routed.fabric.nodes());
    let work = nodes.and_then(|nodes| build::work(sections, nodes, &mut sources, &mut diagnostics));
    let replay = work.and_then(|work| {
        let traffic = work.workload.traffic();
        let seed = build::seed(sections);
        let program = as_program(&*work.pattern, *traffic.injection, *traffic.message_jitter, seed);
        let program = Arc::new(build::taken(program, at, &mut diagnostics)?);
        let replay = built(sections, program, &work.workload.title(), 1.0, &mut sources, &mut diagnostics)?;
        Some(Replay { workload: Some(WorkloadSpec::Pattern(work.workload)), ..replay })
    });
    let mut replay = build::finish(replay, sources.clone(), diagnostics)?;
    if let Some(workload) = &mut replay.workload {
        paths::settle_workload(workload, &sources);
    }
    Ok(Replay { sources, ..replay })
}

fn built(
    sections: &Sections,
    program: Arc<Program>,
    name: &str,
    cpu_speed: f64,
    sources: &mut Sources,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Replay> {
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
    if let Section::Is(_, at) = &sections.topology
        && node.facts().is_network
    {
        let message = format!("the node model `{}` is a network of its own", node.name());
        let help = "leave the topology out, or choose another model (--node loggps)";
        diagnostics.push(Diagnostic::new("wrong-choice", message).at(*at).help(help));
    }
    if let (Section::Absent, Section::Is(_, at)) = (&sections.topology, &sections.transport) {
        let message = "a transport needs a fabric to move messages over";
        let help = "name one with -t; without a fabric messages take the node model's own latency and gaps";
        diagnostics.push(Diagnostic::new("wrong-choice", message).at(*at).help(help));
    }
    let fabric = match &sections.topology {
        Section::Is(..) => Some(placed(sections, program.ranks(), sources, diagnostics)?),
        Section::Absent => None,
        Section::Broken => return None,
    };
    Some(Replay {
        program,
        name: name.to_owned(),
        node,
        collectives,
        cpu_speed,
        wildcards: Wildcards::default(),
        region: None,
        own_links: None,
        workload: None,
        origin: None,
        fabric,
        seed: build::seed(sections),
        sources: Sources::default(),
    })
}

fn placed(sections: &Sections, ranks: u32, sources: &mut Sources, diagnostics: &mut Vec<Diagnostic>) -> Option<Placed> {
    build::check_transport(sections, diagnostics);
    let routed = build::routed(sections, sources, diagnostics)?;
    let placed = build::placed(routed, sections, ranks, sections.topology.span(), sources, diagnostics)?;
    build::check_all_routes(&placed.network, sections, diagnostics);
    Some(placed)
}

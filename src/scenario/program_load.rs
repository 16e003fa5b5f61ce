//! From the texts of a scenario to a program and its system.

use std::sync::Arc;

use super::notes::Notes;
use super::read::Sections;
use super::section::Section;
use super::shared::{self, SharedProgram};
use super::{RoutedFabric, Scenario, Workload, paths};
use crate::diagnostic::{Diagnostic, Invalid, Located, Span};
use crate::node::NodeSpec;
use crate::prediction::assemble;
use crate::program::collectives::CollectivesSpec;
use crate::program::part::Part;
use crate::simulation::{ProgramWork, Simulated, calls_of};
use crate::system::{ProgramDataSpec, ProgramSpec, ReadProgram, WorkloadSpec};
use crate::system::{System, network_of_its_own};

/// A program with its system, if both could be read.
type ReadProgramOnSystem = Option<(System, ProgramWork)>;

/// Returns the part of the program that is asked for, or all of it.
fn of_part(work: ProgramWork, part: &Part, at: Option<Span>, notes: &mut Notes) -> Option<ProgramWork> {
    match part.name() {
        Some(name) => notes.taken(work.of_region(&name).map_err(|mistake| vec![mistake]), at),
        None => Some(work),
    }
}

/// Returns the scenario with its specification, or all mistakes.
fn scenario(
    found: ReadProgramOnSystem,
    written: ProgramSpec,
    mut notes: Notes,
) -> Result<Scenario<ProgramWork>, Invalid> {
    if let Some((system, work)) = found.as_ref().filter(|_| notes.is_clean()) {
        notes.diagnostics.extend(work.fits(system).err());
    }
    let ((system, work), sources) = notes.finish(found)?;
    let spec = Some(paths::settled(WorkloadSpec::Program(written), &sources));
    Ok(Scenario::read(system, ProgramWork { spec, ..work }, sources))
}

impl Sections {
    /// Builds a program that the scenario names, on the scenario's system.
    pub fn program(&self, workload: &ProgramSpec, mut notes: Notes) -> Result<Scenario<ProgramWork>, Invalid> {
        notes.extend_at(workload.check(), self.workload.span());
        if let ProgramSpec::ProgramData(spec) = workload {
            return self.clone().prediction(spec, notes);
        }
        let found = self.read_program(workload, &mut notes);
        scenario(found, workload.clone(), notes)
    }

    fn read_program(&self, workload: &ProgramSpec, notes: &mut Notes) -> ReadProgramOnSystem {
        if !notes.is_clean() {
            return None;
        }
        let part = match workload {
            ProgramSpec::Trace(spec) => {
                [&spec.from, &spec.to, &spec.region].into_iter().flatten().find_map(Located::span)
            }
            _ => None,
        };
        let at = part.or(self.workload.span());
        let anew = |notes: &mut Notes| {
            let ReadProgram { program, name, start_up, beginning } = notes.taken(workload.read(&notes.sources), at)?;
            Some(SharedProgram { program: Arc::new(program), name, start_up, beginning })
        };
        let read = match &self.shared {
            Some(shared) => {
                let written = paths::settled(WorkloadSpec::Program(workload.clone()), &notes.sources);
                shared.programs.get(shared::key(&written), notes, &mut |notes| anew(notes))
            }
            None => anew(notes),
        }?;
        let work = ProgramWork {
            cpu_speed: **workload.cpu_speed(),
            wildcards: workload.wildcards(),
            start_up: read.start_up,
            beginning: read.beginning,
            ..ProgramWork::new(read.program, read.name)
        };
        let system = self.system(work.program.ranks(), None, notes)?;
        let part = notes.taken(workload.part(), at)?;
        Some((system, of_part(work, &part, at, notes)?))
    }

    /// Builds a prediction: a program assembled from data sets, on the scenario's system or with the times of
    /// communication data.
    fn prediction(mut self, spec: &ProgramDataSpec, mut notes: Notes) -> Result<Scenario<ProgramWork>, Invalid> {
        if let Some(communication) = &spec.communication {
            let others = [("node", self.node.span()), ("topology", self.topology.span())];
            for (other, _) in others.into_iter().filter(|(_, span)| span.is_some()) {
                let message = format!("`communication` is a network of its own, and `{other}` names another");
                let diagnostic = Diagnostic::new("wrong-choice", message).at_value(communication);
                let help = "leave one of them out; a simulated network takes the ends of messages from a machine";
                notes.push(diagnostic.label("leave one of them out").help(help));
            }
        }
        let mut written = spec.clone();
        let found = self.assembled(spec, &mut written, &mut notes);
        scenario(found, ProgramSpec::ProgramData(written), notes)
    }

    fn assembled(
        &mut self,
        spec: &ProgramDataSpec,
        written: &mut ProgramDataSpec,
        notes: &mut Notes,
    ) -> ReadProgramOnSystem {
        if !notes.is_clean() {
            return None;
        }
        let at = self.workload.span();
        let assembled = notes.build(at, |sources| assemble(spec, self.seed(), sources))?;
        if let Some((times, at)) = assembled.receive_times.zip(at) {
            // From here on the times belong to the nodes, so that a report contains all values that were used.
            self.node = Section::Is(NodeSpec::ReceiveTimes(times), at);
            written.communication = None;
        }
        let work = ProgramWork {
            cpu_speed: *spec.cpu_speed,
            wildcards: spec.wildcards,
            start_up: assembled.start_up,
            origin: Some(Arc::new(assembled.origin)),
            ..ProgramWork::new(assembled.program, spec.program.to_string())
        };
        let system = self.system(work.program.ranks(), None, notes)?;
        let part = notes.taken(spec.part(), at)?;
        let at = spec.region.as_ref().and_then(Located::span).or(at);
        Some((system, of_part(work, &part, at, notes)?))
    }

    /// Builds a pattern on nodes that cost something: the program of the calls that its ranks make.
    pub fn pattern_as_program(&self, mut notes: Notes) -> Result<Scenario<ProgramWork>, Invalid> {
        let found = self.calls(&mut notes);
        let ((system, work), sources) = notes.finish(found)?;
        Ok(Scenario::read(system, work, sources))
    }

    fn calls(&self, notes: &mut Notes) -> ReadProgramOnSystem {
        let routed = self.routed(notes);
        let work = match (&self.topology, &self.workload) {
            (Section::Absent, Section::Is(WorkloadSpec::Pattern(pattern), at)) => {
                let ranks = pattern.ranks();
                if ranks.is_none() {
                    let message = "without a topology the number of ranks is unknown";
                    let name = serde_json::to_value(pattern).unwrap_or_default();
                    let name = name.as_object().and_then(|tables| tables.keys().next().cloned()).unwrap_or_default();
                    let fabric = match self.node.get() {
                        Some(node) if node.facts().is_network => "",
                        _ => ", or name a topology with -t",
                    };
                    let help = format!("write their number (--set workload.{name}.ranks=16){fabric}");
                    notes.push(Diagnostic::new("missing-key", message).at(*at).help(help));
                }
                self.work(&ranks?, notes)
            }
            _ => self.work_on(routed.as_ref()?, notes),
        }?;
        let (ranks, program) = self.program_of(work, notes)?;
        Some((self.system(ranks, routed, notes)?, program))
    }

    /// Returns the number of ranks of a pattern and the program of the calls that they make.
    pub fn program_of(&self, work: Workload, notes: &mut Notes) -> Option<(u32, ProgramWork)> {
        let Workload { workload, pattern } = work;
        let program = notes.taken(calls_of(&*pattern, &workload, self.seed()), self.workload.span())?;
        let (ranks, title) = (program.ranks(), workload.title());
        let spec = Some(paths::settled(WorkloadSpec::Pattern(workload), &notes.sources));
        Some((ranks, ProgramWork { spec, ..ProgramWork::new(program, title) }))
    }

    /// Returns the node model and the algorithms of collectives.
    pub fn ends(&self, notes: &mut Notes) -> Option<(NodeSpec, CollectivesSpec)> {
        let node = self.node.or(NodeSpec::default)?;
        notes.extend_at(node.check(), self.node.span());
        let collectives = self.collectives.or(CollectivesSpec::default)?;
        notes.extend_at(collectives.check(), self.collectives.span());
        Some((node, collectives))
    }

    /// Builds the system of a program with `ranks` ranks: nodes, collectives and fabric. `routed` is the
    /// fabric with its routes, if it is built already.
    pub fn system(&self, ranks: u32, routed: Option<RoutedFabric>, notes: &mut Notes) -> Option<System> {
        let (node, collectives) = self.ends(notes)?;
        if let Section::Is(_, at) = &self.topology
            && node.facts().is_network
        {
            notes.push(network_of_its_own(&node).at(*at));
        }
        let system = match &self.topology {
            Section::Is(..) => {
                self.check_transport(notes);
                self.check_packets(notes);
                let routed = routed.or_else(|| self.routed(notes))?;
                let system = self.place(routed, ranks, self.topology.span(), notes)?;
                self.check_all_routes(system.network()?, notes);
                system
            }
            Section::Absent => {
                self.check_without_topology(notes);
                System::built(None, Default::default(), self.seed())
            }
            Section::Broken => return None,
        };
        let own_links =
            system.network().and_then(|network| notes.links.comparison(&network.fabric, &self.link, &notes.sources));
        // A model that is itself a network, next to a fabric, has been refused.
        let system = system.with_node(node).ok()?;
        let system = system.with_collectives(collectives).with_link_comparison(own_links);
        Some(self.estimated(self.slowed(system, ranks, &[], notes)))
    }
}

//! From the texts of a loader to what is asked for: all that a scenario says, or a part of it.

use super::links::Links;
use super::loader::Texts;
use super::read::{self, Section, Sections};
use super::{Loaded, Loader, RoutedFabric, Scenario, build, farm_load, job_load, program_load};
use crate::diagnostic::{Diagnostic, Invalid, Sources, Span};
use crate::farm::FarmSpec;
use crate::node::NodeSpec;
use crate::pattern::Ground;
use crate::simulation::{PatternWork, ProgramWork, Simulated};
use crate::system::{ALONE, WorkloadSpec};

/// The sections of the texts, as far as they were understood.
pub(super) struct Understood {
    pub sections: Sections,
    pub links: Links,
    pub sources: Sources,
    pub diagnostics: Vec<Diagnostic>,
}

/// What must be said of a scenario.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
    /// A topology and a workload; work that needs no network needs no topology.
    All,
    /// A topology and a workload, whatever the workload is.
    Both,
    /// This table.
    Table(&'static str),
    /// Nothing: whoever asks sees for himself.
    Nothing,
}

impl Texts {
    /// Drops what only follows from a mistake of the syntax: anything else on the same line.
    fn only_first_mistakes(&mut self) {
        if self.broken.is_empty() {
            return;
        }
        let line = |span: Span| self.sources.place(span).map(|place| (place.file, place.line));
        let broken: Vec<_> = self.broken.iter().map(|span| line(*span)).collect();
        let mut seen = Vec::new();
        self.diagnostics.retain(|diagnostic| {
            let place = diagnostic.place(&self.sources).map(|place| (place.file, place.line));
            if place.is_none() || !broken.contains(&place) {
                return true;
            }
            let first = diagnostic.code == "syntax" && !seen.contains(&place);
            seen.push(place);
            first
        });
    }
}

impl Understood {
    /// Reads the sections of texts that were laid over each other.
    pub(super) fn of(mut texts: Texts, needs: Needs) -> Self {
        let named = |texts: &Texts| {
            let workload = texts.table.get("workload").and_then(|entry| entry.value.table());
            workload.is_some_and(|workload| workload.keys().any(|name| ALONE.contains(&name.as_str())))
        };
        // Nodes that cost something are a network where there is no other.
        let on_nodes = |texts: &Texts| {
            let node = texts.table.get("node").and_then(|entry| entry.value.table());
            node.is_some_and(|node| node.keys().any(|name| name != "ideal"))
        };
        let on_nodes = needs == Needs::All && on_nodes(&texts);
        let whole = needs == Needs::Both || (needs == Needs::All && !named(&texts) && !on_nodes);
        let sections = match whole {
            true => read::sections(&texts.table, &mut texts.diagnostics, texts.incomplete, texts.file.as_deref()),
            false => read::sections_alone(&texts.table, &mut texts.diagnostics, texts.incomplete),
        };
        texts.only_first_mistakes();
        let texts_are_incomplete = texts.incomplete;
        let Texts { sources, mut diagnostics, links, table, file, .. } = texts;
        let works = ["workload", "job"].iter().any(|key| table.contains_key(*key));
        if on_nodes && !works && !texts_are_incomplete {
            diagnostics.push(read::nothing_chosen("workload", file.as_deref()));
        }
        if let Needs::Table(key) = needs
            && !table.contains_key(key)
            && diagnostics.is_empty()
        {
            diagnostics.push(read::nothing_chosen(key, file.as_deref()));
        }
        Self { sections, links, sources, diagnostics }
    }

    /// Builds what the sections say is to be done.
    ///
    /// # Errors
    /// Every mistake of every text.
    pub(super) fn build(self) -> Result<Loaded, Invalid> {
        let Understood { mut sections, links, sources, diagnostics } = self;
        if !matches!(sections.jobs, Section::Absent) {
            // Each job is built from a copy of the sections, in which the others have no place.
            let jobs = match &mut sections.jobs {
                Section::Is(jobs, _) => std::mem::take(jobs),
                _ => Vec::new(),
            };
            let scenario = job_load::of_jobs(&sections, &jobs, &links, sources, diagnostics)?;
            return Ok(Loaded::Jobs(Box::new(scenario)));
        }
        match &sections.workload {
            Section::Is(WorkloadSpec::Program(workload), _) => {
                let scenario = program_load::of_workload(&sections, &links, workload, sources, diagnostics)?;
                Ok(Loaded::Program(Box::new(scenario)))
            }
            Section::Is(WorkloadSpec::Farm(FarmSpec::MasterSlave(spec)), _) => {
                let farm = farm_load::of_workload(&sections, spec, &links, sources, diagnostics)?;
                Ok(Loaded::Farm(Box::new(farm)))
            }
            _ => match &sections.node {
                Section::Is(node, _) if !node.facts().is_ideal => {
                    let scenario = program_load::of_pattern(&sections, &links, sources, diagnostics)?;
                    Ok(Loaded::Program(Box::new(scenario)))
                }
                _ => Ok(Loaded::Pattern(Box::new(build::scenario(&sections, sources, diagnostics)?))),
            },
        }
    }
}

impl Loader {
    /// `--link-bandwidth`: the bandwidth of links where a fabric leaves it open, as `link.bandwidth` says.
    #[must_use]
    pub fn link_bandwidth(self, bandwidth: &str) -> Self {
        self.set("--link-bandwidth", &format!("link.bandwidth={bandwidth:?}"))
    }

    /// Gathers the texts and reads their sections.
    pub(super) fn understood(self, needs: Needs) -> Understood {
        Understood::of(self.gather(), needs)
    }

    /// Reads, checks and builds one scenario, whatever its work is.
    ///
    /// # Errors
    /// Every mistake of every text and of the files they name, at once; and a farm that is tried in several ways, which
    /// is several scenarios ([`Loader::load_all`]).
    pub fn load(self) -> Result<Scenario, Invalid> {
        let help = "give one number of workers (--set workload.master-slave.workers=8) and no `vary`";
        self.load_all()?.only(help)
    }

    /// Reads the texts and builds what they say is to be done: a pattern on a fabric, a program, a farm, or jobs. A
    /// pattern on nodes that cost something is the program of the calls that its ranks make.
    ///
    /// # Errors
    /// Every mistake of every text. Programs and farms need no topology.
    pub fn load_all(self) -> Result<Loaded, Invalid> {
        self.understood(Needs::All).build()
    }

    /// Reads, checks and builds a pattern on a fabric.
    ///
    /// # Errors
    /// Every mistake of every text, and work that is no pattern.
    pub fn load_pattern(self) -> Result<Scenario<PatternWork>, Invalid> {
        let Understood { sections, sources, mut diagnostics, .. } = self.understood(Needs::Both);
        if let Section::Is(_, at) = &sections.jobs {
            let diagnostic = Diagnostic::new("wrong-choice", "these are several jobs, and a pattern is needed here");
            diagnostics.push(diagnostic.at(*at).help("`hayase run` and `hayase compare` run jobs"));
        }
        build::scenario(&sections, sources, diagnostics)
    }

    /// Reads the texts and puts this program on what they say of nodes and fabric.
    ///
    /// # Errors
    /// Every mistake of every text; that there is no topology or workload is none.
    pub fn load_program(self, work: ProgramWork) -> Result<Scenario<ProgramWork>, Invalid> {
        // A topology may be missing; a parameter of the machine may not.
        let Understood { sections, links, mut sources, mut diagnostics } = self.understood(Needs::Nothing);
        let ranks = work.program.ranks();
        let system = program_load::system(&sections, &links, ranks, None, &mut sources, &mut diagnostics);
        if let Some(system) = system.as_ref().filter(|_| diagnostics.is_empty()) {
            diagnostics.extend(work.fits(system).err());
        }
        let system = build::finish(system, sources.clone(), diagnostics)?;
        Ok(Scenario::read(system, work, sources))
    }

    /// Reads the texts and builds the topology alone, for showing it.
    ///
    /// # Errors
    /// Every mistake of every text, but a missing workload is none.
    pub fn load_topology(self) -> Result<RoutedFabric, Invalid> {
        let Understood { sections, mut sources, mut diagnostics, .. } = self.understood(Needs::Table("topology"));
        let network = build::routed(&sections, &mut sources, &mut diagnostics);
        build::finish(network, sources, diagnostics)
    }

    /// Reads the texts for the nodes alone.
    ///
    /// # Errors
    /// Every mistake of every text, but a missing topology or workload is none.
    pub fn load_machine(self) -> Result<NodeSpec, Invalid> {
        let Understood { sections, sources, mut diagnostics, .. } = self.understood(Needs::Table("node"));
        let node = sections.node.get().cloned();
        let mistakes = node.as_ref().map(|node| node.check()).unwrap_or_default();
        diagnostics.extend(build::at_section(mistakes, sections.node.span()));
        build::finish(node, sources, diagnostics)
    }

    /// Reads the texts and looks at what is there, without building anything: what is missing is no mistake.
    ///
    /// # Errors
    /// Every mistake of every text.
    pub fn check(self) -> Result<(), Invalid> {
        let Understood { sources, diagnostics, .. } = self.understood(Needs::Nothing);
        build::finish(Some(()), sources, diagnostics)
    }

    /// Reads the texts and builds the workload alone, for a fabric of which this is known.
    ///
    /// # Errors
    /// Every mistake of every text, but a missing topology is none.
    pub fn load_workload(self, ground: &dyn Ground) -> Result<build::Workload, Invalid> {
        let Understood { sections, mut sources, mut diagnostics, .. } = self.understood(Needs::Table("workload"));
        let workload = build::work(&sections, ground, &mut sources, &mut diagnostics);
        build::finish(workload, sources, diagnostics)
    }
}

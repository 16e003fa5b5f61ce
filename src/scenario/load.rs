//! From the texts of a loader to the result: the whole scenario, or a part of it.

use super::loader::Texts;
use super::notes::Notes;
use super::read::{self, Sections};
use super::section::Section;
use super::{FarmPlan, Loaded, Loader, RoutedFabric, Scenario, Workload};
use crate::diagnostic::{Invalid, Span};
use crate::farm::FarmSpec;
use crate::node::NodeSpec;
use crate::pattern::FabricInfo;
use crate::simulation::{PatternWork, ProgramWork, Simulated};
use crate::system::{ALONE, WorkloadSpec};

/// The sections of the texts that could be read.
pub(super) struct ReadScenario {
    pub sections: Sections,
    pub notes: Notes,
}

/// Required parts of a scenario.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
    /// A topology and a workload. Work that needs no network needs no topology.
    All,
    /// A topology and a workload of any kind.
    Both,
    /// This table.
    Table(&'static str),
    /// Nothing: the caller checks for itself.
    Nothing,
}

impl Texts {
    /// Drops mistakes that only follow from a syntax error: all others on the same line.
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

impl ReadScenario {
    /// Reads the sections of merged texts.
    pub(super) fn of(mut texts: Texts, needs: Needs) -> Self {
        let named = |texts: &Texts| {
            let workload = texts.table.get("workload").and_then(|entry| entry.value.table());
            workload.is_some_and(|workload| workload.keys().any(|name| ALONE.contains(&name.as_str())))
        };
        // Nodes that cost something serve as the network if there is no fabric.
        let on_nodes = |texts: &Texts| {
            let node = texts.table.get("node").and_then(|entry| entry.value.table());
            node.is_some_and(|node| node.keys().any(|name| name != "ideal"))
        };
        let on_nodes = needs == Needs::All && on_nodes(&texts);
        let whole = needs == Needs::Both || (needs == Needs::All && !named(&texts) && !on_nodes);
        let sections = match whole {
            true => read::sections(&texts.table, &mut texts.diagnostics, texts.incomplete, texts.file.as_deref()),
            false => read::sections_without_requirements(&texts.table, &mut texts.diagnostics, texts.incomplete),
        };
        texts.only_first_mistakes();
        let texts_are_incomplete = texts.incomplete;
        let Texts { sources, mut diagnostics, links, table, file, .. } = texts;
        let works = ["workload", "job"].iter().any(|key| table.contains_key(*key));
        if on_nodes && !works && !texts_are_incomplete {
            diagnostics.push(read::missing_choice("workload", file.as_deref()));
        }
        if let Needs::Table(key) = needs
            && !table.contains_key(key)
            && diagnostics.is_empty()
        {
            diagnostics.push(read::missing_choice(key, file.as_deref()));
        }
        Self { sections, notes: Notes { sources, links, diagnostics } }
    }

    /// Builds the work of the sections.
    ///
    /// # Errors
    /// Every mistake in every text.
    pub(super) fn build(self) -> Result<Loaded, Invalid> {
        let ReadScenario { mut sections, notes } = self;
        if !sections.jobs.is_absent() {
            // Each job is built from a copy of the sections without the other jobs.
            let jobs = match &mut sections.jobs {
                Section::Is(jobs, _) => std::mem::take(jobs),
                _ => Vec::new(),
            };
            return Ok(Loaded::Jobs(Box::new(sections.jobs(&jobs, notes)?)));
        }
        let node = sections.node.get();
        Ok(match sections.workload.get() {
            Some(WorkloadSpec::Program(workload)) => Loaded::Program(Box::new(sections.program(workload, notes)?)),
            Some(WorkloadSpec::Farm(FarmSpec::MasterSlave(spec))) => {
                Loaded::Farm(Box::new(sections.farm(spec, notes)?))
            }
            _ if node.is_some_and(|node| !node.facts().is_ideal) => {
                Loaded::Program(Box::new(sections.pattern_as_program(notes)?))
            }
            _ => Loaded::Pattern(Box::new(sections.pattern(notes)?)),
        })
    }
}

impl Loader {
    /// `--link-bandwidth`: sets `link.bandwidth`, the bandwidth of links that a fabric leaves open.
    #[must_use]
    pub fn link_bandwidth(self, bandwidth: &str) -> Self {
        self.set("--link-bandwidth", &format!("link.bandwidth={bandwidth:?}"))
    }

    /// Gathers the texts and reads their sections.
    pub(super) fn read_sections(self, needs: Needs) -> ReadScenario {
        ReadScenario::of(self.gather(), needs)
    }

    /// Reads, checks and builds one scenario with any kind of work.
    ///
    /// # Errors
    /// Every mistake in every text and in the files that they name, at once; and a farm that is tried in
    /// several ways, which is several scenarios ([`Loader::load_all`]).
    pub fn load(self) -> Result<Scenario, Invalid> {
        let help = "give one number of workers (--set workload.master-slave.workers=8) and no `vary`";
        self.load_all()?.only(help)
    }

    /// Reads the texts and builds their work: a pattern on a fabric, a program, a farm, or jobs. A pattern on
    /// nodes that cost something becomes the program of the calls of its ranks.
    ///
    /// # Errors
    /// Every mistake in every text. Programs and farms need no topology.
    pub fn load_all(self) -> Result<Loaded, Invalid> {
        self.read_sections(Needs::All).build()
    }

    /// Reads, checks and builds a pattern on a fabric.
    ///
    /// # Errors
    /// Every mistake in every text, and work that is not a pattern.
    pub fn load_pattern(self) -> Result<Scenario<PatternWork>, Invalid> {
        let ReadScenario { sections, mut notes } = self.read_sections(Needs::Both);
        if let Section::Is(_, at) = &sections.jobs {
            let message = "these are several jobs, and a pattern is needed here";
            notes.refuse(message, *at, "`hayase run` and `hayase compare` run jobs");
        }
        sections.pattern(notes)
    }

    /// Reads the texts and puts this program on their nodes and fabric.
    ///
    /// # Errors
    /// Every mistake in every text. A missing topology or workload is not a mistake.
    pub fn load_program(self, work: ProgramWork) -> Result<Scenario<ProgramWork>, Invalid> {
        // A topology may be missing; a parameter of the machine may not.
        let ReadScenario { sections, mut notes } = self.read_sections(Needs::Nothing);
        let system = sections.system(work.program.ranks(), None, &mut notes);
        if let Some(system) = system.as_ref().filter(|_| notes.is_clean()) {
            notes.diagnostics.extend(work.fits(system).err());
        }
        let (system, sources) = notes.finish(system)?;
        Ok(Scenario::read(system, work, sources))
    }

    /// Reads a part of a scenario, and builds it.
    fn part<T>(self, needs: Needs, build: impl FnOnce(&Sections, &mut Notes) -> Option<T>) -> Result<T, Invalid> {
        let ReadScenario { sections, mut notes } = self.read_sections(needs);
        let built = build(&sections, &mut notes);
        Ok(notes.finish(built)?.0)
    }

    /// Reads the texts and builds only the topology, to show it.
    ///
    /// # Errors
    /// Every mistake in every text. A missing workload is not a mistake.
    pub fn load_topology(self) -> Result<RoutedFabric, Invalid> {
        self.part(Needs::Table("topology"), Sections::routed)
    }

    /// Reads the texts and returns only the nodes.
    ///
    /// # Errors
    /// Every mistake in every text. A missing topology or workload is not a mistake.
    pub fn load_machine(self) -> Result<NodeSpec, Invalid> {
        self.part(Needs::Table("node"), |sections, notes| {
            let node = sections.node.get().cloned()?;
            notes.extend_at(node.check(), sections.node.span());
            Some(node)
        })
    }

    /// Reads the texts and returns only the input of a plan for the farm: executed tasks, grid, workers to
    /// try, and costs of messages.
    ///
    /// # Errors
    /// Every mistake in every text, and a topology: a plan predicts in closed form.
    pub fn load_plan(self) -> Result<FarmPlan, Invalid> {
        self.part(Needs::Nothing, |sections, notes| match &sections.workload {
            Section::Is(WorkloadSpec::Farm(FarmSpec::MasterSlave(spec)), at) => sections.plan(spec, *at, notes),
            _ => None,
        })
    }

    /// Reads the texts and checks them without building anything. Missing sections are not mistakes.
    ///
    /// # Errors
    /// Every mistake in every text.
    pub fn check(self) -> Result<(), Invalid> {
        self.part(Needs::Nothing, |_, _| Some(()))
    }

    /// Reads the texts and builds only the workload, for a fabric of which only `ground` is known.
    ///
    /// # Errors
    /// Every mistake in every text. A missing topology is not a mistake.
    pub fn load_workload(self, ground: &dyn FabricInfo) -> Result<Workload, Invalid> {
        self.part(Needs::Table("workload"), |sections, notes| sections.work(ground, notes))
    }
}

//! From the texts of a loader to what is asked for: all that a scenario says, or a part of it.

use super::loader::Texts;
use super::notes::Notes;
use super::read::{self, Sections};
use super::section::Section;
use super::{FarmPlan, Loaded, Loader, RoutedFabric, Scenario, Workload};
use crate::diagnostic::{Invalid, Span};
use crate::farm::FarmSpec;
use crate::node::NodeSpec;
use crate::pattern::Ground;
use crate::simulation::{PatternWork, ProgramWork, Simulated};
use crate::system::{ALONE, WorkloadSpec};

/// The sections of the texts, as far as they were understood.
pub(super) struct Understood {
    pub sections: Sections,
    pub notes: Notes,
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
        Self { sections, notes: Notes { sources, links, diagnostics } }
    }

    /// Builds what the sections say is to be done.
    ///
    /// # Errors
    /// Every mistake of every text.
    pub(super) fn build(self) -> Result<Loaded, Invalid> {
        let Understood { mut sections, notes } = self;
        if !sections.jobs.is_absent() {
            // Each job is built from a copy of the sections, in which the others have no place.
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
        let Understood { sections, mut notes } = self.understood(Needs::Both);
        if let Section::Is(_, at) = &sections.jobs {
            let message = "these are several jobs, and a pattern is needed here";
            notes.refuse(message, *at, "`hayase run` and `hayase compare` run jobs");
        }
        sections.pattern(notes)
    }

    /// Reads the texts and puts this program on what they say of nodes and fabric.
    ///
    /// # Errors
    /// Every mistake of every text; that there is no topology or workload is none.
    pub fn load_program(self, work: ProgramWork) -> Result<Scenario<ProgramWork>, Invalid> {
        // A topology may be missing; a parameter of the machine may not.
        let Understood { sections, mut notes } = self.understood(Needs::Nothing);
        let system = sections.system(work.program.ranks(), None, &mut notes);
        if let Some(system) = system.as_ref().filter(|_| notes.is_clean()) {
            notes.diagnostics.extend(work.fits(system).err());
        }
        let (system, sources) = notes.finish(system)?;
        Ok(Scenario::read(system, work, sources))
    }

    /// Reads a part of a scenario, and builds it.
    fn part<T>(self, needs: Needs, build: impl FnOnce(&Sections, &mut Notes) -> Option<T>) -> Result<T, Invalid> {
        let Understood { sections, mut notes } = self.understood(needs);
        let built = build(&sections, &mut notes);
        Ok(notes.finish(built)?.0)
    }

    /// Reads the texts and builds the topology alone, for showing it.
    ///
    /// # Errors
    /// Every mistake of every text, but a missing workload is none.
    pub fn load_topology(self) -> Result<RoutedFabric, Invalid> {
        self.part(Needs::Table("topology"), Sections::routed)
    }

    /// Reads the texts for the nodes alone.
    ///
    /// # Errors
    /// Every mistake of every text, but a missing topology or workload is none.
    pub fn load_machine(self) -> Result<NodeSpec, Invalid> {
        self.part(Needs::Table("node"), |sections, notes| {
            let node = sections.node.get().cloned()?;
            notes.extend_at(node.check(), sections.node.span());
            Some(node)
        })
    }

    /// Reads the texts for the farm alone: what was executed of its grid, the workers that are tried, and what messages
    /// cost.
    ///
    /// # Errors
    /// Every mistake of every text, and a topology: a plan predicts in closed form.
    pub fn load_plan(self) -> Result<FarmPlan, Invalid> {
        self.part(Needs::Nothing, |sections, notes| match &sections.workload {
            Section::Is(WorkloadSpec::Farm(FarmSpec::MasterSlave(spec)), at) => sections.plan(spec, *at, notes),
            _ => None,
        })
    }

    /// Reads the texts and looks at what is there, without building anything: what is missing is no mistake.
    ///
    /// # Errors
    /// Every mistake of every text.
    pub fn check(self) -> Result<(), Invalid> {
        self.part(Needs::Nothing, |_, _| Some(()))
    }

    /// Reads the texts and builds the workload alone, for a fabric of which this is known.
    ///
    /// # Errors
    /// Every mistake of every text, but a missing topology is none.
    pub fn load_workload(self, ground: &dyn Ground) -> Result<Workload, Invalid> {
        self.part(Needs::Table("workload"), |sections, notes| sections.work(ground, notes))
    }
}

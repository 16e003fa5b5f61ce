//! `estimate`: how well the makespan is to be known, where less than exactly is enough.

use super::Loader;
use super::read::Sections;
use crate::diagnostic::Diagnostic;
use crate::system::System;

impl Loader {
    /// `--estimate PERCENT`: the makespan to within this part of it (`1%`), by estimate where that is shorter.
    #[must_use]
    pub fn estimate(self, percent: &str) -> Self {
        self.set("--estimate", &format!("estimate={percent}"))
    }
}

impl Sections {
    /// The system with what the scenario says of that.
    pub fn estimated(&self, system: System) -> System {
        system.with_estimate(self.estimate.get().map(|target| **target))
    }

    /// The mistake of an estimate of several jobs.
    pub fn estimate_of_jobs(&self) -> Option<Diagnostic> {
        let target = self.estimate.get()?;
        let message = "jobs have no makespan that could be estimated: each ends at a time of its own";
        let diagnostic = Diagnostic::new("wrong-choice", message).at_value(target).label("of several jobs");
        Some(diagnostic.help("leave `estimate` out, or estimate one pattern by itself"))
    }
}

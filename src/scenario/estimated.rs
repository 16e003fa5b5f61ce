//! The key `estimate`: the relative precision of the makespan if less than the exact value is enough.

use super::Loader;
use super::read::Sections;
use crate::diagnostic::Diagnostic;
use crate::system::System;

impl Loader {
    /// `--estimate PERCENT`: estimates the makespan to this relative precision (`1%`), if that is faster.
    #[must_use]
    pub fn estimate(self, percent: &str) -> Self {
        self.set("--estimate", &format!("estimate={percent}"))
    }
}

impl Sections {
    /// Returns the system with the precision that the scenario asks for.
    pub fn estimated(&self, system: System) -> System {
        system.with_estimate(self.estimate.get().map(|target| **target))
    }

    /// Returns the diagnostic for an estimate of several jobs.
    pub fn estimate_of_jobs(&self) -> Option<Diagnostic> {
        let target = self.estimate.get()?;
        let message = "jobs have no makespan that could be estimated: each ends at a time of its own";
        let diagnostic = Diagnostic::new("wrong-choice", message).at_value(target).label("of several jobs");
        Some(diagnostic.help("leave `estimate` out, or estimate one pattern by itself"))
    }
}

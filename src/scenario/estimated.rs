//! The keys `estimate` and `optimum`: relative precisions of the makespan, if less than the exact value is enough,
//! and of the best possible time.

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

    /// `--optimum PERCENT`: bounds the best possible time over all routings, with this largest gap (`1%`).
    #[must_use]
    pub fn optimum(self, percent: &str) -> Self {
        self.set("--optimum", &format!("optimum={percent}"))
    }
}

impl Sections {
    /// Returns the system with the precisions that the scenario asks for.
    pub fn estimated(&self, system: System) -> System {
        let [estimate, optimum] = [&self.estimate, &self.optimum].map(|asked| asked.get().map(|target| **target));
        system.with_estimate(estimate).with_optimum(optimum)
    }

    /// Returns the diagnostic for an estimate of several jobs.
    pub fn estimate_of_jobs(&self) -> Option<Diagnostic> {
        let target = self.estimate.get()?;
        let message = "jobs have no makespan that could be estimated: each ends at a time of its own";
        let diagnostic = Diagnostic::new("wrong-choice", message).at_value(target).label("of several jobs");
        Some(diagnostic.help("leave `estimate` out, or estimate one pattern by itself"))
    }
}

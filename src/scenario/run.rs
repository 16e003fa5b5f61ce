//! Runs a scenario.

use super::{Run, RunOptions, Scenario};
use crate::report::Rate;

impl Scenario {
    /// Runs it.
    pub fn run(&self, options: RunOptions<'_>) -> Run {
        let _ = options;
        unreachable!()
    }

    /// The rates of the messages of the first step, all under way at once.
    pub fn rates(&self) -> Vec<Rate> {
        Vec::new()
    }
}

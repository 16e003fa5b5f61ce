//! One run over several seeds: the makespans of those that the report is not of.

use super::progress::RunsMonitor;
use super::{Failure, Voice, interrupt};
use hayase::report::SeedStatistics;
use hayase::scenario::Scenario;
use hayase::simulation::{Simulated, Summary};
use hayase::sweep::{Control, over_seeds};

/// The makespans over the seeds, the first of which has been run and came to this.
pub fn over<W: Simulated>(
    scenario: &Scenario<W>,
    seeds: &[u64],
    first: &Summary,
    voice: Voice,
) -> Result<SeedStatistics, Failure> {
    if !scenario.depends_on_seed() {
        voice.hint("nothing in this scenario is random: every seed gives the same");
    }
    let monitor = RunsMonitor::new(voice.show);
    let tell = |done| monitor.tell(done);
    let control = Control { progress: Some(&tell), cancel: Some(interrupt::stop_flag()) };
    Ok(over_seeds(scenario, seeds, first, control)?)
}

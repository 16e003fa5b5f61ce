//! What slow processors cost: the run once more, beside the same one in which nobody is slow.

use std::path::Path;

use super::{Failure, Voice, progress};
use hayase::diagnostic::Diagnostic;
use hayase::report::{Head, Status};
use hayase::scenario::Scenario;
use hayase::simulation::Simulated;
use hayase::sweep::cost_of_noise;
use hayase::system::System;

/// Whether somebody is slow, where a file is to show what that costs.
pub fn check(system: &System, file: Option<&Path>) -> Result<(), Diagnostic> {
    match file {
        Some(path) if system.noise().is_empty() => {
            let message = format!("`{}` shows what slow ranks cost, and no rank is slow", path.display());
            Err(Diagnostic::new("wrong-choice", message).help("say who is: --straggler 3=50%, or --noise 25us/1ms"))
        }
        _ => Ok(()),
    }
}

/// Works out what slow processors cost, where there are any, and puts it into the report of a run that is complete.
pub fn cost<W: Simulated>(scenario: &Scenario<W>, head: &mut Head, voice: Voice) -> Result<(), Failure> {
    if head.status != Status::Complete || scenario.system().noise().is_empty() {
        return Ok(());
    }
    let seeds = head.seeds.as_ref();
    let cost = progress::over_runs(voice.show, "messages", |control| cost_of_noise(scenario, seeds, control))?;
    if let Some(slowed) = cost.as_ref().and_then(|cost| cost.slowed)
        && slowed.ranks == 0
    {
        voice.hint(
            "nobody was slowed: no processor had work while it was slow. Messages of a pattern cost processors nothing \
             but where they have delays; nodes that cost something are named with -m",
        );
    }
    head.noise = cost.map(Box::new);
    Ok(())
}

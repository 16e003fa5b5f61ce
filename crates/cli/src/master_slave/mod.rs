//! `hayase master-slave`: predictions of master/slave programs, and plans of tasks to execute.

pub mod args;
mod plan;

use super::play::{FARM, play_farm};
use super::{End, Failure, Voice, work};
use args::{MasterSlaveArgs, MasterSlaveVerb};

/// Predicts a master/slave program, or plans executions.
pub fn master_slave(args: &MasterSlaveArgs, voice: Voice) -> Result<End, Failure> {
    if let Some(MasterSlaveVerb::Plan(args)) = &args.verb {
        return plan::plan(args, voice);
    }
    args.out.begin(&FARM)?;
    let loader = work::tasks(args.beside.loader(voice), args.tasks.as_deref().unwrap_or_default());
    let loader = args.giving.on(args.farm.on(args.source.on(args.system.on(loader))));
    play_farm(&loader.load_farm()?, args.seeds.seeds, &args.out, voice)
}

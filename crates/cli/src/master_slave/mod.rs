//! `hayase master-slave`: predictions of master/slave programs, and plans of what to execute.

pub mod args;
mod loader;
mod plan;

use super::play::{FARM, play_farm};
use super::{End, Failure, Voice};
use args::{MasterSlaveArgs, MasterSlaveVerb};

/// Predicts, or plans.
pub fn master_slave(args: &MasterSlaveArgs, voice: Voice) -> Result<End, Failure> {
    if let Some(MasterSlaveVerb::Plan(args)) = &args.verb {
        return plan::plan(args, voice);
    }
    args.out.begin(&FARM)?;
    let farm = args.loader(voice).load_farm()?;
    play_farm(&farm, args.seeds.seeds, &args.out, voice)
}

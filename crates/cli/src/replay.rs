//! `hayase replay`: run time of a program on other nodes and another network, and where the time goes.

use super::play::Asked;
use super::trace::TraceArgs;
use super::{End, Failure, Voice, work};
use hayase::scenario::Loader;
use hayase::simulation::ProgramWork;

pub mod args;
use args::{PlayedOn, ReplayArgs};

/// Replays a program.
pub fn replay(args: &ReplayArgs, voice: Voice) -> Result<End, Failure> {
    let asked = Asked::new("replay", args.seeds, &args.out, &args.window, voice);
    asked.begin::<ProgramWork>()?;
    let loader = args.fragment.on(loader(&args.input, &args.on, voice));
    let played = work::load_program(loader, &args.input.trace)?;
    work::play_program(&played, &asked, args.input.strictness)
}

/// Returns the loader of a program and its system.
pub fn loader(input: &TraceArgs, on: &PlayedOn, voice: Voice) -> Loader {
    on.program.on(input.read.on(work::program(on.loader(voice), &input.trace)))
}

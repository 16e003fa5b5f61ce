//! `hayase predict`: run time of a program, from its data sets.

pub mod args;

use std::path::Path;

use super::play::Asked;
use super::{End, Failure, Voice, work};
use args::PredictArgs;
use hayase::simulation::ProgramWork;

/// Predicts a program.
pub fn predict(args: &PredictArgs, voice: Voice) -> Result<End, Failure> {
    let start = hayase::base::wall_clock::now();
    let asked = Asked { since: Some(start), ..Asked::new("predict", args.seeds, &args.out, &args.window, voice) };
    asked.begin::<ProgramWork>()?;
    let loader = args.on.program.on(args.data.on(work::prediction(args.on.loader(voice))));
    let played = work::load_program(loader, Path::new(""))?;
    work::play_program(&played, &asked, args.strictness)
}

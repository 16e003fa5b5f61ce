//! `hayase predict`: run time of a program, from its data sets.

pub mod args;

use std::path::Path;

use super::caveats::Strictness;
use super::play::Asked;
use super::{End, Failure, Voice, caveats, work};
use args::PredictArgs;
use hayase::simulation::ProgramWork;
use hayase::trace::unreceived;

/// Predicts a program.
pub fn predict(args: &PredictArgs, voice: Voice) -> Result<End, Failure> {
    let start = hayase::base::wall_clock::now();
    let asked = Asked { since: Some(start), ..Asked::new("predict", args.seeds, &args.out, &args.window, voice) };
    asked.begin::<ProgramWork>()?;
    let loader = args.on.program.on(args.data.on(work::prediction(args.on.loader(voice))));
    let played = work::load_program(loader, Path::new(""))?;
    work::play_program(&played, &asked, args.strictness)
}

/// Reports the defects of the recordings behind the data sets of a prediction, and how times were found.
/// Returns false if the work is no prediction.
pub(super) fn say(work: &ProgramWork, strictness: Strictness, voice: Voice) -> Result<bool, Failure> {
    let Some(origin) = &work.origin else { return Ok(false) };
    for (name, found) in &origin.caveats {
        caveats::judge(found, name, strictness, voice)?;
    }
    caveats::say_unreceived(unreceived(&work.program), &origin.program, voice);
    let found = origin.found;
    if found.by_name + found.other_ranks > 0 {
        voice.hint(format_args!(
            "the computation data belongs to another variant of the program: of {} times, {} were found by block \
             name, {} of them at other ranks",
            found.direct + found.by_name + found.other_ranks,
            found.by_name + found.other_ranks,
            found.other_ranks
        ));
    }
    Ok(true)
}

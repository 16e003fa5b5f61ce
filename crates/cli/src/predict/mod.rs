//! `hayase predict`: how long a program takes, put together from its data sets.

pub mod args;

use super::caveats::Strictness;
use super::play::{Asked, play};
use super::{End, Failure, Voice, caveats, progress, regions, replay};
use args::PredictArgs;
use hayase::diagnostic::{Diagnostic, file_names};
use hayase::program::Wildcards;
use hayase::scenario::{Loaded, Loader};
use hayase::simulation::ProgramWork;
use hayase::trace::unreceived;

/// Predicts a program.
pub fn predict(args: &PredictArgs, voice: Voice) -> Result<End, Failure> {
    let start = hayase::base::wall_clock::now();
    let asked = Asked { since: Some(start), ..Asked::new("predict", args.seeds, &args.out, &args.window, voice) };
    asked.begin::<ProgramWork>()?;
    let played = match loader(args).on_read(progress::reading(voice.show)).load_all()? {
        Loaded::Program(played) => played,
        Loaded::Pattern(_) | Loaded::Farm(_) | Loaded::Jobs(_) => {
            return Err(Diagnostic::new("wrong-choice", "the workload is no program data").into());
        }
    };
    let work = played.work();
    regions::say(work.start_up, &work.program, voice);
    regions::say_strays(&work.program, voice);
    say(work, args.strictness, voice)?;
    replay::say_links(&played, voice);
    if args.communication.is_none() && played.system().node().facts().is_ideal && played.network().is_none() {
        voice.hint("messages take no time; name communication data (--communication), a machine (-m) or a fabric (-t)");
    }
    play(&played, &asked)
}

/// What was typed, as the scenario that it stands for.
fn loader(args: &PredictArgs) -> Loader {
    let on = &args.on;
    let mut loader = on
        .loader()
        .text("<predict>", "[workload.program-data]\n")
        .work("--program", "program", &file_names::text_of(&args.program))
        .work("--computation", "computation", &args.computation)
        .work("--scale", "scale", &args.scale)
        .work("--times", "times", args.times.name())
        .set("--cpu-speed", &format!("workload.program-data.cpu-speed={:?}", on.cpu_speed));
    if let Some(communication) = &args.communication {
        loader = loader.work("--communication", "communication", communication);
    }
    loader = loader.work("--wildcards", "wildcards", Wildcards::from(on.wildcards).name());
    let part = on.regions.part();
    let texts = [
        ("--region", "region", part.region),
        ("--from", "from", part.from.map(|place| place.to_string())),
        ("--to", "to", part.to.map(|place| place.to_string())),
        ("--skip-start", "skip-start", part.skip_start.map(|skip| skip.to_string())),
    ];
    for (flag, key, text) in texts {
        if let Some(text) = text {
            loader = loader.work(flag, key, &text);
        }
    }
    loader
}

/// Says what is wrong with the recordings behind the data sets of a prediction, and how times were found; whether it is
/// one.
pub(super) fn say(work: &ProgramWork, strictness: Strictness, voice: Voice) -> Result<bool, Failure> {
    let Some(origin) = &work.origin else { return Ok(false) };
    for (name, found) in &origin.caveats {
        caveats::judge(found, name, strictness, voice)?;
    }
    caveats::say_unreceived(unreceived(&work.program), &origin.program, voice);
    let found = origin.found;
    if found.by_name + found.other_ranks > 0 {
        voice.hint(format_args!(
            "the computation data is of another form of the program: of {} times {} were found by the names of their blocks, \
             {} of them at other ranks",
            found.direct + found.by_name + found.other_ranks,
            found.by_name + found.other_ranks,
            found.other_ranks
        ));
    }
    Ok(true)
}

//! `hayase whatif`: which parameters of nodes and network matter for a program, and what any network could bring.

pub mod args;
mod vary;

use super::files::{self, outputs};
use super::options::Offer;
use super::{End, Failure, Voice, caveats, complain, deadlock, extension, predict, progress, regions, replay};
use args::WhatIfArgs;
use hayase::diagnostic::{Diagnostic, failure, file_names};
use hayase::program::Wildcards;
use hayase::report::Status;
use hayase::scenario::library::Shelf;
use hayase::scenario::{Loader, Scenario};
use hayase::simulation::Work;
use hayase::sweep::not_done;
use hayase::sweep::whatif::{WhatIf, halved_and_doubled};
use hayase::trace::Options;
use hayase_output::{csv, json, svg, table};

outputs! {
    /// Contents of a file, by its name.
    enum Kind {
        Chart: "x.svg",
        Csv: "x.csv",
        Json: "x.json",
    }
}

const OFFER: Offer<Kind> = Offer { verb: "whatif", names: Kind::NAMES, json: Ok(()), csv: Ok(()), threads: true };

/// Runs any work with one parameter changed at a time.
pub fn whatif(args: &WhatIfArgs, voice: Voice) -> Result<End, Failure> {
    args.out.begin(&OFFER)?;
    let loader = args.on.loader().on_read(progress::reading(voice.show));
    let (base, loader, named) = match named(args, loader.clone()) {
        Some(loader) => (work(args, loader.clone(), voice)?, loader, true),
        None => {
            let program = replay::program(&args.input, &args.on, None, voice)?;
            let program = args.on.regions.ask(program, voice)?;
            (loader.clone().load_program(program)?.into(), loader, false)
        }
    };
    if let Some(comparison) = base.system().own_links() {
        voice.say(comparison);
    }
    let varied = match args.vary.is_empty() {
        true => halved_and_doubled(&base),
        false => vary::varied(&args.vary, &base, named)?,
    };
    let study = WhatIf { base, loader, varied, tornado: args.vary.is_empty() };
    let files = args.out.open(&OFFER)?;
    let (report, blocked) = progress::over_runs(voice.show, "messages", |control| study.run(control))?;
    for (kind, file) in files {
        if !report.complete && kind != Kind::Json {
            voice.say(format_args!("`{}` is not written: replays are missing", file.path().display()));
            continue;
        }
        match kind {
            Kind::Json => file.write(|w| json::write(&report, w))?,
            Kind::Csv => file.write(|w| csv::whatif(&report, w))?,
            Kind::Chart => file.write(files::text(&svg::whatif(&report)))?,
        }
    }
    args.out.print_rows(|| table::whatif(&report), &report, |w| csv::whatif(&report, w))?;
    if report.head.status == Status::Deadlocked {
        complain(deadlock::describe(&blocked, "operation", report.head.stopped).trim_end());
        return Ok(End::Deadlocked);
    }
    if report.head.status == Status::Undone {
        complain(failure(&format!("all workers are lost, and {}", not_done(report.undone)), voice.colour));
        return Ok(End::Failed);
    }
    Ok(if report.complete { End::Done } else { End::Interrupted })
}

/// The texts with what is named, if that is a scenario (its file, or a report that holds one) or a pattern; a program
/// is none of these.
fn named(args: &WhatIfArgs, loader: Loader) -> Option<Loader> {
    let path = &args.input.trace;
    let name = file_names::text_of(path);
    match extension(path).as_str() {
        "toml" | "json" => Some(loader.file(path)),
        _ if Shelf::Patterns.get(&name).is_some() && !path.exists() => Some(loader.pattern(&name)),
        _ => None,
    }
}

/// The work that the texts name.
fn work(args: &WhatIfArgs, loader: Loader, voice: Voice) -> Result<Scenario, Failure> {
    let part = args.on.regions.part();
    let beside = [
        ("--cpu-speed", args.on.cpu_speed != 1.0),
        ("--wildcards", !Wildcards::from(args.on.wildcards).is_default()),
        ("--flop-rate", args.input.flop_rate != Options::default().flop_rate),
        ("--truncated", args.input.truncated),
        ("--region", part.region.is_some()),
        ("--from", part.from.is_some()),
        ("--to", part.to.is_some()),
        ("--skip-start", part.skip_start.is_some()),
    ];
    if let Some((flag, _)) = beside.into_iter().find(|(_, given)| *given) {
        let message = format!("`{flag}` is about a trace, and `{}` is a scenario", args.input.trace.display());
        let help = "the scenario itself says it: --set workload.trace.cpu-speed=2.0";
        return Err(Diagnostic::new("wrong-choice", message).help(help).into());
    }
    let scenario = loader.load()?;
    if let Work::Program(work) = scenario.work() {
        regions::say(work.start_up, &work.program, voice);
        regions::say_strays(&work.program, voice);
        if !predict::say(work, args.input.strictness, voice)? {
            caveats::judge_program(&work.program, &work.name, args.input.strictness, voice)?;
        }
    }
    Ok(scenario)
}

//! `hayase whatif`: influence of node and network parameters on a program, and the largest gain from any
//! network.

pub mod args;
mod vary;

use super::files::{self, outputs};
use super::options::{self, Offer};
use super::{End, Failure, Voice, complain, extension, progress, work};
use args::WhatIfArgs;
use hayase::diagnostic::{failure, file_names};
use hayase::report::Status;
use hayase::scenario::Loader;
use hayase::scenario::library::Shelf;
use hayase::simulation::Work;
use hayase::sweep::not_done;
use hayase::sweep::whatif::{WhatIf, halved_and_doubled};
use hayase_output::page::PagePicture;
use hayase_output::{csv, deadlock, json, svg, table};

outputs! {
    /// Content of an output file, by its name.
    enum Kind {
        Chart: "x.svg",
        Csv: "x.csv",
        Json: "x.json",
        Page: "x.html",
    }
}

const OFFER: Offer<Kind> = Offer { verb: "whatif", names: Kind::NAMES, json: Ok(()), csv: Ok(()), threads: true };

/// Runs work with one parameter changed at a time.
pub fn whatif(args: &WhatIfArgs, voice: Voice) -> Result<End, Failure> {
    args.out.begin(&OFFER)?;
    let on = args.on.loader(voice);
    let named = named(args, on.clone());
    let is_named = named.is_some();
    let loader = named.unwrap_or_else(|| work::program(on.clone(), &args.input.trace));
    let loader = args.on.program.on(args.input.read.on(loader));
    let base = loader.clone().load().map_err(|invalid| work::with_hints(invalid, &args.input.trace))?;
    if let Work::Program(program) = base.work() {
        work::say(program, args.input.strictness, voice)?;
    }
    let loader = if is_named { loader } else { on };
    if let Some(comparison) = base.system().own_links() {
        voice.say(comparison);
    }
    let varied = match args.vary.is_empty() {
        true => halved_and_doubled(&base),
        false => vary::varied(&args.vary, &base, is_named)?,
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
            Kind::Page => file.write(|w| {
                let answer = table::whatif(&report);
                let chart = PagePicture::new("x.svg", svg::whatif(&report));
                options::page(&answer.first_line(), &answer, &[chart], &report, w)
            })?,
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

/// Adds the named work to the texts if it is a scenario (a file or a report) or a pattern; returns `None` for
/// a program.
fn named(args: &WhatIfArgs, loader: Loader) -> Option<Loader> {
    let path = &args.input.trace;
    let name = file_names::text_of(path);
    match extension(path).as_str() {
        "toml" | "json" => Some(loader.file(path)),
        _ if Shelf::Patterns.get(&name).is_some() && !path.exists() => Some(loader.pattern(&name)),
        _ => None,
    }
}

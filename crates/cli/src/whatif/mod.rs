//! `hayase whatif`: which parameters of nodes and network matter for a program, and what any network could bring.

pub mod args;
mod vary;

use std::path::Path;
use std::sync::Arc;

use super::args::TableFormat;
use super::files::{self, unknown};
use super::progress::{self, RunsMonitor};
use super::{End, Failure, Voice, complain, deadlock, extension, in_threads, interrupt, print_with, replay, show};
use args::WhatIfArgs;
use hayase::diagnostic::Diagnostic;
use hayase::report::Status;
use hayase::sweep::Control;
use hayase::sweep::whatif::{WhatIf, halved_and_doubled};
use hayase_output::{csv, json, svg, table};

/// What a file holds, by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Json,
    Csv,
    Chart,
}

impl Kind {
    fn of(path: &Path) -> Result<Self, Diagnostic> {
        match extension(path).as_str() {
            "json" => Ok(Self::Json),
            "csv" => Ok(Self::Csv),
            "svg" => Ok(Self::Chart),
            _ => Err(unknown(path, "x.svg, x.csv or x.json")),
        }
    }
}

/// Plays a program with one parameter changed at a time.
pub fn whatif(args: &WhatIfArgs, voice: Voice) -> Result<End, Failure> {
    files::check_names(&args.output, Kind::of)?;
    let regions = &args.on.regions;
    let (program, name) = replay::program(&args.input, &args.on, voice)?;
    let loader = replay::loader(&args.on).on_read(progress::reading(voice.show));
    let base = loader.clone().load_replay(Arc::new(program), &name, args.on.cpu_speed)?;
    let base = regions.ask(base, voice)?.with_workload(replay::workload(&args.input, &args.on));
    replay::say_links(&base, voice);
    let varied = if args.vary.is_empty() { halved_and_doubled(&base) } else { vary::varied(&args.vary, &base)? };
    let study = WhatIf { base, loader, varied, tornado: args.vary.is_empty() };
    let files = files::open(&args.output, Kind::of)?;
    let monitor = RunsMonitor::new(voice.show);
    let tell = |done| monitor.tell(done);
    let control = Control { progress: Some(&tell), cancel: Some(interrupt::stop_flag()) };
    let runs: usize = study.varied.iter().map(|varied| varied.trials.len()).sum();
    let (report, stuck) = in_threads(args.threads, runs, || study.run(control))??;
    drop(monitor);
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
    match args.format {
        TableFormat::Table => show(&table::whatif(&report))?,
        TableFormat::Json => print_with(|w| json::write(&report, w))?,
        TableFormat::Csv => print_with(|w| csv::whatif(&report, w))?,
    }
    if report.status == Status::Deadlocked {
        complain(deadlock::describe(&replay::blocked(stuck), "operation", report.stopped).trim_end());
        return Ok(End::Deadlocked);
    }
    Ok(if report.complete { End::Done } else { End::Interrupted })
}

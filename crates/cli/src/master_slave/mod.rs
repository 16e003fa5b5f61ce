//! `hayase master-slave`: predictions of master/slave programs, and plans of what to execute.

pub mod args;
mod loader;
mod plan;

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use super::files::{self, named, unknown};
use super::progress::RunsMonitor;
use super::{End, Failure, Voice, complain, extension, in_threads, interrupt, print_with, show};
use crate::args::TableFormat;
use args::{MasterSlaveArgs, MasterSlaveVerb};
use hayase::diagnostic::{Diagnostic, failure};
use hayase::report::FarmReport;
use hayase::scenario::Farm;
use hayase::sweep::Control;
use hayase_output::{csv, json, svg, table};

/// What a file holds, by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Json,
    Csv,
    Chart,
    Gantt,
}

impl Kind {
    fn of(path: &Path) -> Result<Self, Diagnostic> {
        match extension(path).as_str() {
            "json" => Ok(Self::Json),
            "csv" => Ok(Self::Csv),
            "svg" if named(path, "gantt") => Ok(Self::Gantt),
            "svg" => Ok(Self::Chart),
            _ => Err(unknown(path, "x.json, x.csv, x.svg or gantt.svg")),
        }
    }
}

/// Predicts, or plans.
pub fn master_slave(args: &MasterSlaveArgs, voice: Voice) -> Result<End, Failure> {
    if let Some(MasterSlaveVerb::Plan(args)) = &args.verb {
        return plan::plan(args, voice);
    }
    files::check_names(&args.output, Kind::of)?;
    let farm = args.loader(voice).load_farm()?;
    let wanted = Wanted { output: &args.output, format: args.format, threads: args.threads };
    play_over(&farm, &[farm.seed()], wanted, voice)
}

/// What is written and printed of a farm.
pub(super) struct Wanted<'a> {
    pub output: &'a [PathBuf],
    pub format: TableFormat,
    pub threads: Option<NonZeroU32>,
}

/// Whether a farm can write a file of this name.
pub(super) fn knows(path: &Path) -> Result<(), Diagnostic> {
    Kind::of(path).map(drop)
}

/// Runs all that is tried of a farm with each of these seeds, and writes and prints what came out.
pub(super) fn play_over(farm: &Farm, seeds: &[u64], wanted: Wanted<'_>, voice: Voice) -> Result<End, Failure> {
    let Wanted { output, format, threads } = wanted;
    files::check_names(output, Kind::of)?;
    if farm.points.len() > 1
        && let Some(path) = output.iter().find(|path| Kind::of(path) == Ok(Kind::Gantt))
    {
        let message = format!("`{}` shows one prediction, and {} are asked for", path.display(), farm.points.len());
        return Err(Diagnostic::new("too-many-points", message).help("give one number of workers").into());
    }
    if seeds.len() > 1 && !farm.depends_on_seed() {
        voice.hint("nothing in this scenario is random: every seed gives the same");
    }
    let files = files::open(output, Kind::of)?;
    let monitor = RunsMonitor::new(voice.show);
    let progress = |done| monitor.tell(done);
    let control = Control { progress: Some(&progress), cancel: Some(interrupt::stop_flag()) };
    let report = in_threads(threads, farm.points.len(), || farm.run_seeds(seeds, control))??;
    drop(monitor);
    for (kind, file) in files {
        if !report.complete && kind != Kind::Json {
            voice.say(format_args!("`{}` is not written: predictions are missing", file.path().display()));
            continue;
        }
        let picture = match kind {
            Kind::Chart => svg::farm(&report),
            Kind::Gantt => gantt(farm, &report),
            Kind::Json | Kind::Csv => String::new(),
        };
        file.write(|w| match kind {
            Kind::Json => json::write(&report, w),
            Kind::Csv => csv::predictions(&report, w),
            Kind::Chart | Kind::Gantt => files::text(&picture)(w),
        })?;
    }
    match format {
        TableFormat::Table => show(&table::farm(&report))?,
        TableFormat::Json => print_with(|w| json::write(&report, w))?,
        TableFormat::Csv => print_with(|w| csv::predictions(&report, w))?,
    }
    let undone = report.predictions.iter().find(|row| row.undone > 0);
    if let Some(row) = undone {
        let message = format!("all of {} workers are lost, and {} tasks are not done", row.workers, row.undone);
        complain(failure(&message, voice.colour));
        return Ok(End::Failed);
    }
    Ok(if report.complete { End::Done } else { End::Interrupted })
}

/// What each worker did, in the one prediction.
fn gantt(farm: &Farm, report: &FarmReport) -> String {
    let Some(row) = report.predictions.first() else { return String::new() };
    let title = format!("{}, {}", report.tasks, report.setting);
    let turns = farm.points.first().map(|point| point.work().turns(point.system())).unwrap_or_default();
    svg::gantt(&turns, row.workers as usize, row.time_s, &title)
}

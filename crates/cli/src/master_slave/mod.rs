//! `hayase master-slave`: predictions of master/slave programs, and plans of what to execute.

pub mod args;
mod loader;
mod plan;

use std::path::Path;

use super::files::{self, outputs};
use super::options::{Offer, OutputArgs};
use super::seeds::seeds;
use super::{End, Failure, Voice, complain, noise, progress};
use args::{MasterSlaveArgs, MasterSlaveVerb};
use hayase::diagnostic::{Diagnostic, failure};
use hayase::report::{FarmReport, Head};
use hayase::scenario::Farm;
use hayase::sweep::not_done;
use hayase_output::{csv, json, svg, table};

outputs! {
    /// Contents of a file, by its name.
    enum Kind {
        Json: "x.json",
        Csv: "x.csv",
        Gantt: "gantt.svg",
        Chart: "x.svg",
    }
}

const OFFER: Offer<Kind> = Offer { verb: "master-slave", kind: Kind::of, json: Ok(()), csv: Ok(()), threads: true };

/// Predicts, or plans.
pub fn master_slave(args: &MasterSlaveArgs, voice: Voice) -> Result<End, Failure> {
    if let Some(MasterSlaveVerb::Plan(args)) = &args.verb {
        return plan::plan(args, voice);
    }
    args.out.begin(&OFFER)?;
    let farm = args.loader(voice).load_farm()?;
    let seeds = seeds(farm.seed(), args.seeds.seeds)?;
    play(&farm, &seeds, &args.out, voice)
}

/// Whether a farm can write a file of this name.
pub(super) fn knows(path: &Path) -> Result<(), Diagnostic> {
    Kind::of(path).map(drop)
}

/// Runs all that is tried of a farm with each of these seeds, and writes and prints what came out.
pub(super) fn play(farm: &Farm, seeds: &[u64], out: &OutputArgs, voice: Voice) -> Result<End, Failure> {
    out.check(&OFFER)?;
    if farm.points.len() > 1
        && let Some(path) = out.file_of(&OFFER, Kind::Gantt)
    {
        let message = format!("`{}` shows one prediction, and {} are asked for", path.display(), farm.points.len());
        return Err(Diagnostic::new("too-many-points", message).help("give one number of workers").into());
    }
    if seeds.len() > 1 && !farm.depends_on_seed() {
        voice.hint("nothing in this scenario is random: every seed gives the same");
    }
    let files = out.open(&OFFER)?;
    let mut report = progress::over_runs(voice.show, "messages", |control| farm.run_seeds(seeds, control))?;
    if let ([point], [row]) = (&farm.points[..], &report.predictions[..]) {
        let mut head = Head { seeds: row.seeds.clone(), ..report.head.clone() };
        noise::cost(point, &mut head, voice)?;
        report.head.noise = head.noise;
    }
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
    out.print_rows(|| table::farm(&report), &report, |w| csv::predictions(&report, w))?;
    let undone = report.predictions.iter().find(|row| row.undone > 0);
    if let Some(row) = undone {
        let workers = table::count(row.workers.into(), "worker", "workers");
        let message = format!("all of {workers} are lost, and {}", not_done(row.undone));
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

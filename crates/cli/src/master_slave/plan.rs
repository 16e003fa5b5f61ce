//! `hayase master-slave plan`: how sure a prediction is, and what to execute next.

use std::path::Path;

use super::args::PlanArgs;
use super::farm::Farm;
use super::tasks;
use crate::args::TableFormat;
use crate::files::{self, unknown};
use crate::range;
use crate::{End, Failure, Voice, extension, print_with, progress, show};
use hayase::diagnostic::{Diagnostic, Invalid};
use hayase::report::{IntervalPrediction, PlanReport};
use hayase::workload::task_queue::plan::plan as propose;
use hayase::workload::task_queue::{Executed, Given, Grid, Policy, farm, refined};
use hayase_output::{csv, json, table};

/// What a file holds, by its name.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Json,
    Csv,
}

impl Kind {
    fn of(path: &Path) -> Result<Self, Diagnostic> {
        match extension(path).as_str() {
            "json" => Ok(Self::Json),
            "csv" => Ok(Self::Csv),
            _ => Err(unknown(path, "x.csv or x.json")),
        }
    }
}

/// Plans.
pub fn plan(args: &PlanArgs, voice: Voice) -> Result<End, Failure> {
    files::check_names(&args.output, Kind::of)?;
    let accuracy = range::part("--accuracy", &args.accuracy)?;
    let (executed, grid) = executed(args, voice)?;
    let proposed = propose(&executed, &grid, accuracy)?;
    let farm = match (&args.farm.workers, &args.farm.processors, &args.farm.speeds) {
        (None, None, None) => None,
        _ => Some(Farm::of(&args.farm, args.source.seed, voice)?),
    };
    let known = !executed.is_empty();
    let half_width = Some(proposed.relative()).filter(|width| known && width.is_finite());
    let mut predictions = Vec::new();
    if let (Some(farm), Some(width)) = (farm, half_width) {
        if farm.fabric.is_some() {
            let message = "a plan predicts in closed form, not over a fabric";
            return Err(Diagnostic::new("wrong-choice", message).help("leave out --topology").into());
        }
        let all = refined::interpolate(&executed, &grid)?;
        for count in farm.counts(1)? {
            let workers = farm.workers(count)?;
            let time = |factor: f64| {
                let tasks = all.scaled(factor.max(0.0));
                farm::run(&tasks, &workers, &farm.costs, &Policy::default(), &mut ()).time.seconds()
            };
            let time_s = time(1.0);
            let (least_s, most_s) = (time(1.0 - width).min(time_s), time(1.0 + width).max(time_s));
            predictions.push(IntervalPrediction { workers: count, time_s, least_s, most_s });
        }
    }
    let report = PlanReport {
        schema: "hayase-master-slave-plan-1",
        grid: grid.to_string(),
        task_count: proposed.tasks as u64,
        executed: proposed.executed as u64,
        accuracy,
        work_s: known.then(|| proposed.work.seconds()),
        half_width,
        predictions,
        next: proposed.next,
    };
    for (kind, file) in files::open(&args.output, Kind::of)? {
        file.write(|w| match kind {
            Kind::Json => json::write(&report, w),
            Kind::Csv => csv::points(&report, w),
        })?;
    }
    match args.format {
        TableFormat::Table => show(&table::plan(&report))?,
        TableFormat::Json => print_with(|w| json::write(&report, w))?,
        TableFormat::Csv => print_with(|w| csv::points(&report, w))?,
    }
    Ok(End::Done)
}

/// What was executed, and the grid.
fn executed(args: &PlanArgs, voice: Voice) -> Result<(Executed, Grid), Failure> {
    let missing = || Diagnostic::new("missing-grid", "a plan needs the grid of all tasks").help("give it with --grid");
    let Some(text) = &args.tasks else {
        let Some(text) = &args.source.grid else { return Err(missing().into()) };
        let grid: Grid = text.parse().map_err(|message: String| Diagnostic::new("bad-grid", message))?;
        return Ok((Executed::new(grid.extents().len()), grid));
    };
    let mut sources = progress::sources(voice.show);
    let (_, file) = tasks::describe(text, &args.source, &mut sources)?;
    let given = file.given(args.source.seed, &mut sources);
    match given.map_err(|diagnostics| Invalid { diagnostics, sources: sources.clone() })? {
        Given::Executed(executed, Some(grid)) => Ok((executed, grid)),
        Given::Executed(_, None) => Err(missing().into()),
        Given::All(_) => {
            let message = "a rule gives all tasks: there is nothing to plan";
            Err(Diagnostic::new("wrong-choice", message).help("name a table of executed tasks").into())
        }
    }
}

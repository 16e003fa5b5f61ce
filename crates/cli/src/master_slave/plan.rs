//! `hayase master-slave plan`: how sure a prediction is, and what to execute next.

use std::path::Path;

use super::args::PlanArgs;
use super::loader::loader;
use crate::files::unknown;
use crate::options::Offer;
use crate::range;
use crate::{End, Failure, Voice, extension};
use hayase::diagnostic::Diagnostic;
use hayase::report::{IntervalPrediction, PlanReport};
use hayase::scenario::FarmPlan;
use hayase::workload::farm::plan::plan as propose;
use hayase::workload::farm::{self, Policy, refined};
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

const OFFER: Offer<Kind> =
    Offer { verb: "master-slave plan", kind: Kind::of, json: Ok(()), csv: Ok(()), threads: false };

/// Plans.
pub fn plan(args: &PlanArgs, voice: Voice) -> Result<End, Failure> {
    args.out.begin(&OFFER)?;
    let accuracy = range::part("--accuracy", &args.accuracy)?;
    // Before the first plan nothing has been executed.
    let tasks = args.tasks.as_deref().unwrap_or("executed:points=[]");
    let plan = loader(tasks, &args.source, &args.farm, voice).load_plan()?;
    let FarmPlan { executed, grid, crews, costs } = plan;
    let proposed = propose(&executed, &grid, accuracy)?;
    let known = !executed.is_empty();
    let half_width = Some(proposed.relative()).filter(|width| known && width.is_finite());
    let mut predictions = Vec::new();
    if let (Some(width), false) = (half_width, crews.is_empty()) {
        let all = refined::interpolate(&executed, &grid)?;
        for workers in crews {
            let time = |factor: f64| {
                let tasks = all.scaled(factor.max(0.0));
                farm::run(&tasks, &workers, &costs, &Policy::default(), &mut ()).time.seconds()
            };
            let time_s = time(1.0);
            let (least_s, most_s) = (time(1.0 - width).min(time_s), time(1.0 + width).max(time_s));
            predictions.push(IntervalPrediction { workers: workers.len() as u32, time_s, least_s, most_s });
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
    for (kind, file) in args.out.open(&OFFER)? {
        file.write(|w| match kind {
            Kind::Json => json::write(&report, w),
            Kind::Csv => csv::points(&report, w),
        })?;
    }
    args.out.print_rows(|| table::plan(&report), &report, |w| csv::points(&report, w))?;
    Ok(End::Done)
}

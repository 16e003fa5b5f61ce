//! `hayase master-slave plan`: how sure a prediction is, and what to execute next.

use super::args::PlanArgs;
use super::loader::loader;
use crate::files::outputs;
use crate::options::Offer;
use crate::range;
use crate::{End, Failure, Voice};
use hayase::farm::plan::{Played, RATE};
use hayase::report::{IntervalPrediction, PlanReport};
use hayase::scenario::FarmPlan;
use hayase::units::Time;
use hayase_output::{csv, json, table};

outputs! {
    /// Contents of a file, by its name.
    enum Kind {
        Csv: "x.csv",
        Json: "x.json",
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
    let played = Played::new(&executed, &grid)?;
    let proposed = played.plan(accuracy);
    let known = !executed.is_empty();
    let half_width = Some(proposed.relative()).filter(|width| width.is_finite());
    let crews = if half_width.is_some() { crews } else { Vec::new() };
    let predicted = played.predict(&crews, &costs).into_iter().zip(&crews);
    let predictions = predicted.map(|(times, crew)| {
        let [time_s, least_s, most_s] = times.map(Time::seconds);
        IntervalPrediction { workers: crew.len() as u32, time_s, least_s, most_s }
    });
    let report = PlanReport {
        schema: "hayase-master-slave-plan-1",
        grid: grid.to_string(),
        task_count: proposed.tasks as u64,
        executed: proposed.executed as u64,
        accuracy,
        work_s: known.then(|| proposed.work.seconds()),
        rate: RATE,
        half_width,
        needed: known.then_some(proposed.needed as u64),
        predictions: predictions.collect(),
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

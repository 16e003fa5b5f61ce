//! `hayase master-slave plan`: accuracy of a prediction, and the tasks to execute next.

use super::args::PlanArgs;
use crate::files::names;
use crate::options::{Offer, Writes};
use crate::range;
use crate::{End, Failure, Voice, work};
use hayase::farm::plan::{RATE, ReplayedPlan};
use hayase::report::{IntervalPrediction, PlanReport};
use hayase::scenario::FarmPlan;
use hayase::units::Time;
use hayase_output::{csv, table};

const OFFER: Offer<&str> = Offer::new("master-slave plan", names!["x.csv", "x.json"]).on_one_thread();

/// Prints a plan.
pub fn plan(args: &PlanArgs, voice: Voice) -> Result<End, Failure> {
    args.out.begin(&OFFER)?;
    let accuracy = range::part("--accuracy", &args.accuracy)?;
    // Before the first plan no task has been executed.
    let tasks = args.tasks.as_deref().unwrap_or("executed:points=[]");
    let loader = work::tasks(args.beside.loader(voice), tasks);
    let plan = args.farm.on(args.source.on(args.system.on(loader))).load_plan()?;
    let FarmPlan { executed, grid, crews, costs } = plan;
    let played = ReplayedPlan::new(&executed, &grid)?;
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
    let csv: Writes<'_> = &|w| csv::points(&report, w);
    args.out.deliver(args.out.open(&OFFER)?, || table::plan(&report), &report, &[("x.csv", csv)])?;
    Ok(End::Done)
}

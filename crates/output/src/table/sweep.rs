//! Means over the seeds of a plan: the best configurations, and the sensitivity to each key.

use super::figures::{fixed, seconds};
use super::{Answer, Grid, printable};
use hayase::columns::{Blank, Columns};
use hayase::plan::{MeanRow, Means, Sensitivity};

/// Returns the configurations with the shortest mean makespans.
pub fn best(means: &Means, most: usize) -> Answer {
    let keyed = means.keys.iter().enumerate().fold(Columns::<MeanRow>::new(), |columns, (at, key)| {
        columns.words(key.name.as_str(), move |row| means.value(row, at).to_owned())
    });
    let columns = keyed
        .time(if means.are_estimates() { "mean, by estimate" } else { "mean" }, |row| row.mean_s)
        .time("+-", |row| Blank((row.seeds > 1).then_some(row.half_s)))
        .id("seeds", |row| row.seeds);
    let grid = Grid::of(&columns, means.best(most)).keys(means.keys.len());
    let mut text = Answer::new();
    text.push_str("\n");
    text.table(grid);
    if let Some(row) = means.best(1).into_iter().next() {
        text.say(&format!("The shortest mean, {}, is that of {}.", seconds(row.mean_s), printable(&means.named(row))));
    }
    text
}

/// Returns the fraction of the variance of log(makespan) that each key explains alone.
pub fn sensitivity(means: &Means) -> Answer {
    let columns = Columns::<Sensitivity>::new()
        .text("key", |found| &found.key)
        .part("part of variance", |found| found.part)
        .id("from best to worst", |found| format!("x {}", fixed(found.ratio, 2)))
        .text("shortest with", |found| &found.extremes[0])
        .text("longest with", |found| &found.extremes[1]);
    let grid = Grid::of(&columns, means.sensitivity());
    let mut text = Answer::new();
    text.push_str("\n");
    text.table(grid);
    text
}

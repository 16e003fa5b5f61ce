//! Means over the seeds of a plan: the best configurations, and which key matters how much.

use super::figures::{Quantity, fixed};
use super::{Answer, Cell, Grid};
use hayase::plan::{MeanRow, Means};

/// The configurations with the least mean makespans.
pub fn best(means: &Means, most: usize) -> Answer {
    let keyed = means.keys.iter().fold(Grid::new(), |grid, key| grid.text(key.name.as_str()));
    let mut grid = keyed
        .time(if means.are_estimates() { "mean, by estimate" } else { "mean" })
        .time("+-")
        .number("seeds")
        .keys(means.keys.len());
    for row in means.best(most) {
        let MeanRow { mean_s, half_s, seeds, .. } = *row;
        let half = if seeds > 1 { Cell::from(half_s) } else { Cell::default() };
        let keys = (0..means.keys.len()).map(|key| Cell::from(means.value(row, key)));
        grid.row(keys.chain([mean_s.into(), half, seeds.to_string().into()]));
    }
    let mut text = Answer::new();
    text.push_str("\n");
    text.table(grid);
    text
}

/// Which part of the variance of log(makespan) goes with each key alone.
pub fn sensitivity(means: &Means) -> Answer {
    let mut grid = Grid::new()
        .text("key")
        .quantity("part of variance", Quantity::Part)
        .number("from best to worst")
        .text("shortest with")
        .text("longest with");
    for found in means.sensitivity() {
        let [least, most] = found.extremes;
        let ratio = format!("x {}", fixed(found.ratio, 2));
        grid.row([Cell::from(found.key), found.part.into(), ratio.into(), least.into(), most.into()]);
    }
    let mut text = Answer::new();
    text.push_str("\n");
    text.table(grid);
    text
}

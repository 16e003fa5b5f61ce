//! Interference between jobs: a square for each pair, darker where more time is lost.

use super::axis::{Axis, SECONDS};
use super::cells::{Cell, Cells};
use super::matrix::{SIDE, cell, ramp};
use super::picture::Picture;
use crate::table::seconds;
use hayase::base::Arrange;
use hayase::report::JobsReport;

/// Largest number of jobs in a picture; those that lose or cause most delay are kept.
const MOST: usize = 40;

/// Draws the time that messages of each job (down) lost to those of each job (across). The own job is framed.
pub fn interference(report: &JobsReport) -> String {
    let pairs = report.interference.as_deref().unwrap_or_default();
    let all = report.jobs.len();
    let delay = |victim: usize, culprit: usize| pairs.get(victim * all + culprit).map_or(0.0, |pair| pair.delay_s);
    let shown = shown(all, delay);
    let names: Vec<String> = shown.iter().map(|&job| report.jobs[job].name.clone()).collect();
    let values = shown.iter().flat_map(|&row| shown.iter().map(move |&column| delay(row, column)));
    let axis = Axis::new(values.fold(0.0, f64::max), 4, SECONDS);
    let mut cells = Vec::new();
    for (row, &victim) in shown.iter().enumerate() {
        for (column, &culprit) in shown.iter().enumerate() {
            let lost = delay(victim, culprit);
            if lost > 0.0 {
                let tooltip = format!("{} to {}: {}", names[row], names[column], seconds(lost));
                cells.push(Cell { tooltip, ..cell(row, column, lost / axis.end, seconds(lost)) });
            }
        }
    }
    let side = (SIDE / shown.len().max(1) as f64).clamp(16.0, 72.0);
    let captions = ("messages of".to_owned(), "to messages of".to_owned());
    let (cell, rows, columns, has_diagonal) = ((side, side), names.clone(), names, true);
    let fabric = &report.fabric;
    Picture::new(
        format!("Who delays whom: {all} jobs"),
        format!("{fabric}; time that the messages of a job lost to those of each, added up; framed: to its own"),
    )
    .remarks((shown.len() < all).then(|| format!("The {MOST} of {all} jobs that lose or cost most.")))
    .with(ramp(&axis, "lost"))
    .with(Cells { rows, columns, captions, cell, cells, has_diagonal, ..Cells::default() })
    .draw()
}

/// Returns the jobs that are drawn, in their order.
fn shown(all: usize, delay: impl Fn(usize, usize) -> f64) -> Vec<usize> {
    let weight = |job: usize| (0..all).map(|other| delay(job, other) + delay(other, job)).sum::<f64>();
    let mut jobs: Vec<(f64, usize)> = (0..all).map(|job| (weight(job), job)).collect();
    jobs.arrange_by(|(a, first), (b, second)| b.total_cmp(a).then(first.cmp(second)));
    let mut shown: Vec<usize> = jobs.into_iter().take(MOST).map(|(_, job)| job).collect();
    shown.sort_unstable();
    shown
}

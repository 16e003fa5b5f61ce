//! Results of the jobs under each choice of a comparison.

use super::Grid;
use super::figures::{fixed, percent};
use crate::columns;
use hayase::report::{ComparisonRow, WorstSlowdown};

/// Relative difference below which two ratios count as equal.
const SAME: f64 = 1e-9;

/// Returns the largest slowdown of a row if it is above 1.
pub(super) fn is_slowed(row: &ComparisonRow) -> Option<&WorstSlowdown> {
    row.worst_slowdown.as_ref().filter(|worst| worst.mean > 1.0 + SAME)
}

/// Returns a table with a line for each job of each row. `names` are the choices that have columns.
pub(super) fn grid(rows: &[ComparisonRow], names: &[usize]) -> Grid {
    let all = rows.iter().flat_map(|row| row.jobs.iter().map(move |job| (row, job)));
    let mut shown: Vec<(&str, &str)> = names.iter().map(|&choice| (rows[0].names()[choice], "")).collect();
    shown.extend([("job", ""), ("ranks", ""), ("makespan", ""), ("alone", ""), ("slowdown", "")]);
    if all.clone().any(|(_, job)| job.slowdown_sd.is_some()) {
        shown.push(("slowdown_sd", "sd of slowdown"));
    }
    Grid::of(&columns::compared_jobs(rows).only(&shown), all).keys(names.len() + 1)
}

/// Compares the choices by the slowdown of their most delayed job; `None` for a single row.
pub(super) fn verdict(rows: &[ComparisonRow], name: impl Fn(&ComparisonRow) -> String) -> Option<String> {
    let worst = |row: &ComparisonRow| row.worst_slowdown.as_ref().map(|worst| worst.mean);
    let known = || rows.iter().filter_map(|row| Some((row, worst(row)?)));
    let (least, low) = known().reduce(|least, row| if row.1 < least.1 { row } else { least })?;
    let (most, high) = known().reduce(|most, row| if row.1 > most.1 { row } else { most })?;
    if rows.len() < 2 {
        return None;
    }
    let of = |row: &ComparisonRow| row.worst_slowdown.as_ref().map_or("", |WorstSlowdown { job, .. }| job).to_owned();
    if high <= 1.0 + SAME {
        return Some("No job is slowed in any of them.".to_owned());
    }
    if high <= low * (1.0 + SAME) {
        let times = fixed(low, 3);
        return Some(format!("The job that is slowed most takes {times} times as long as alone in all of them."));
    }
    if low <= 1.0 + SAME {
        let (least, most, high, of) = (name(least), name(most), fixed(high, 3), of(most));
        return Some(format!(
            "With {least} no job is slowed; with {most} one takes {high} times as long as alone ({of})."
        ));
    }
    let more = if high < 10.0 * low { format!(", {} more", percent(high / low - 1.0)) } else { String::new() };
    Some(format!(
        "The job that is slowed most is slowed least with {}: {} times as long as alone ({}); with {} it is {} ({}){more}.",
        name(least),
        fixed(low, 3),
        of(least),
        name(most),
        fixed(high, 3),
        of(most),
    ))
}

//! What jobs came to under each choice of a comparison.

use super::figures::{fixed, percent};
use super::{Cell, Grid, printable};
use hayase::report::{ComparisonRow, WorstSlowdown};

/// Ratios that differ by less are the same.
const SAME: f64 = 1e-9;

/// The largest slowdown of a row in which a job is slowed.
pub(super) fn is_slowed(row: &ComparisonRow) -> Option<&WorstSlowdown> {
    row.worst_slowdown.as_ref().filter(|worst| worst.mean > 1.0 + SAME)
}

/// A line for each job of each row; `names` are the choices that have columns.
pub(super) fn grid(rows: &[ComparisonRow], names: &[usize]) -> Grid {
    let jobs = || rows.iter().flat_map(|row| &row.jobs);
    let spread = jobs().any(|job| job.slowdown_sd.is_some());
    let mut grid = Grid::new().keys(names.len() + 1);
    for &choice in names {
        grid = grid.text(rows[0].names()[choice]);
    }
    grid = grid.text("job").number("ranks").time("makespan").time("alone").number("slowdown");
    if spread {
        grid = grid.number("sd of slowdown");
    }
    for row in rows {
        for job in &row.jobs {
            let mut cells: Vec<Cell> = names.iter().map(|&choice| row.choices()[choice].into()).collect();
            cells.extend([printable(&job.name).into(), job.ranks.to_string().into()]);
            cells.extend([Cell::from(job.makespan_s), job.alone_s.into()]);
            let number = |number: Option<f64>| Cell::from(number.map(|number| fixed(number, 3)).unwrap_or_default());
            cells.push(number(job.slowdown));
            if spread {
                cells.push(number(job.slowdown_sd));
            }
            grid.row(cells);
        }
    }
    grid
}

/// Under which choice the job that is slowed most is slowed least, and most; nothing where there is one row.
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

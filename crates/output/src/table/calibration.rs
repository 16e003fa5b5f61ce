//! Table of a calibration: the parameters with their errors, and the quality of the fit.

use std::fmt::Write;

use super::figures::{grouped, percent};
use super::{Answer, Grid, printable};
use hayase::node::calibrate::{Calibration, Estimate, StepTable, Threshold};

/// Returns the parameters of a machine that fit its measurements.
pub fn calibration(title: &str, found: &Calibration) -> Answer {
    let mut grid = Grid::new().text("parameter").number("value").number("+-").text("unit").text("");
    for estimate in found.parameters.iter().chain(&found.sums) {
        grid.row(row(estimate));
    }
    grid.row(gap_row(found));
    for (name, threshold) in [("s", found.s), ("S", found.sync)] {
        grid.row(threshold_row(name, threshold));
    }
    let mut text = Answer::new();
    let _ = writeln!(text, "{}\n", printable(title));
    text.table(grid);
    let _ = writeln!(
        text,
        "\n{} measurements, {} of them different; off by {} (median), {} at most",
        grouped(found.samples as u64),
        grouped(found.points.len() as u64),
        percent(found.median_residual),
        percent(found.largest_residual),
    );
    text
}

/// Returns the end costs of a machine by size.
pub fn steps(title: &str, found: &StepTable) -> Answer {
    let mut grid = Grid::new().number("size B").number("step us").number("beyond the wire us");
    for point in &found.points {
        grid.row([grouped(point.bytes), format!("{:.3}", point.time_s * 1e6), format!("{:.3}", point.step_s * 1e6)]);
    }
    let mut text = Answer::new();
    let _ = writeln!(text, "{}\n", printable(title));
    text.table(grid);
    text
}

fn row(estimate: &Estimate) -> [String; 5] {
    let digits = if estimate.unit == "ns" { 1 } else { 3 };
    let name = printable(&estimate.name);
    match (estimate.value, estimate.error) {
        (Some(value), Some(error)) => {
            let remark = if value.abs() <= error { "cannot be told from 0" } else { "" };
            let show = |value: f64| format!("{value:.digits$}");
            [name, show(value), show(error), estimate.unit.into(), remark.into()]
        }
        _ => [name, "-".into(), "-".into(), estimate.unit.into(), "not identifiable".into()],
    }
}

fn gap_row(found: &Calibration) -> [String; 5] {
    let mut cells = row(&found.g);
    if found.g.value.is_none() {
        cells[4] = match found.g_at_most {
            Some(most) => format!("not identifiable: inside what a message takes, at most {most:.1}"),
            None => "not identifiable: no `interval` was measured".to_owned(),
        };
    }
    cells
}

fn threshold_row(name: &str, threshold: Option<Threshold>) -> [String; 5] {
    let (value, remark) = match threshold {
        Some(Threshold { bytes, below: Some(below) }) if below == bytes + 1 => {
            (bytes.to_string(), "to the byte".into())
        }
        Some(Threshold { bytes, below: Some(below) }) => {
            (bytes.to_string(), format!("or up to {}, the next length measured", below - 1))
        }
        Some(Threshold { bytes, below: None }) => (bytes.to_string(), "as given".into()),
        None => ("-".into(), "no length measured is above it".into()),
    };
    [name.into(), value, String::new(), "B".into(), remark]
}

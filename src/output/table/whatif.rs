//! The predicted time of a program over parameters, for a terminal.

use std::fmt::Write;

use super::figures::{Scale, fixed, seconds};
use super::{Grid, delivered, early, printable};
use crate::report::Status;
use crate::report::whatif::{Sensitivity, WhatIfPoint, WhatIfReport};

/// What each limit says.
const MEANING: [&str; 3] = [
    "computation and dependences alone: no network can be faster",
    "the busiest rank's computation and overheads, if nobody waited",
    "the busiest rank's computation",
];

/// What matters, and what is the most that a network could bring.
pub fn whatif(report: &WhatIfReport) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{}", printable(&report.program));
    let _ = writeln!(text, "nodes {}; network: {}\n", report.node, printable(&report.network));
    match early(report.status, report.stopped) {
        Some(early) if report.status == Status::Deadlocked => {
            let _ = writeln!(text, "{early}");
            if let Some(stopped) = &report.stopped {
                let _ = writeln!(text, "delivered      {}", delivered(stopped));
            }
            text.push_str("the program does not end with nothing changed; nothing else is tried\n");
        }
        _ if !report.complete => text.push_str("INTERRUPTED: replays are missing\n"),
        _ => {}
    }
    if report.status != Status::Complete {
        return text;
    }
    if let Some(region) = &report.region {
        let _ = writeln!(text, "{:<15}{}: all times are of it", "region", printable(region));
    }
    let _ = writeln!(text, "{:<15}{}", "predicted", seconds(report.makespan_s));
    if let Some(measured) = report.measured_s {
        let _ = writeln!(text, "{:<15}{}", "measured", seconds(measured));
    }
    for ((name, time_s), meaning) in report.limits.named().into_iter().zip(MEANING) {
        let change = percent(Some(time_s / report.makespan_s - 1.0));
        let _ = writeln!(text, "{name:<15}{:<12}{change:>9}   {meaning}", seconds(time_s));
    }
    if report.tornado {
        let _ = write!(text, "\nEach parameter halved and doubled, the others unchanged\n\n{}", tornado(report));
    } else {
        for varied in &report.varied {
            let base = varied.base.as_ref().map_or_else(String::new, |base| format!(" (unchanged: {base})"));
            let _ = write!(text, "\n{}{base}\n\n{}", printable(&varied.parameter), values(varied, report));
        }
    }
    text
}

fn tornado(report: &WhatIfReport) -> String {
    let mut grid = Grid::new().text("parameter").number("value");
    for side in ["halved", "doubled"] {
        grid = grid.number(format!("{side} [{}]", scale(report).unit)).number("change");
    }
    grid = grid.number("elasticity");
    let scale = scale(report);
    for varied in &report.varied {
        let mut cells = vec![printable(&varied.parameter).to_string(), varied.base.clone().unwrap_or_default()];
        for point in &varied.points {
            cells.extend([time(point, scale), percent(point.change)]);
        }
        cells.push(exponent(varied.elasticity));
        grid.row(cells);
    }
    let mut text = grid.to_text();
    for varied in &report.varied {
        for point in &varied.points {
            if point.failed.is_some() {
                let failed = failed(point);
                let _ = write!(text, "\n{} = {}: {failed}", printable(&varied.parameter), printable(&point.value));
            }
        }
    }
    if report.varied.iter().flat_map(|varied| &varied.points).any(|point| point.failed.is_some()) {
        text.push('\n');
    }
    text
}

fn values(varied: &Sensitivity, report: &WhatIfReport) -> String {
    let scale = scale(report);
    let mut grid = Grid::new().number("value").number(format!("time [{}]", scale.unit)).number("change").text("");
    for point in &varied.points {
        let remarks = [point.note.clone().unwrap_or_default(), failed(point)];
        let remarks = remarks.into_iter().filter(|remark| !remark.is_empty()).collect::<Vec<_>>().join("; ");
        grid.row([printable(&point.value).to_string(), time(point, scale), percent(point.change), remarks]);
    }
    let mut text = grid.to_text();
    if varied.elasticity.is_some() {
        let _ = writeln!(text, "elasticity {}", exponent(varied.elasticity));
    }
    text
}

/// Why there is no time, and from when on nothing moved.
fn failed(point: &WhatIfPoint) -> String {
    let reason = point.failed.clone().unwrap_or_default();
    point.stopped.map_or(reason.clone(), |stopped| format!("{reason} at {}", seconds(stopped.at_s)))
}

/// One unit for all times.
fn scale(report: &WhatIfReport) -> Scale {
    Scale::time(report.varied.iter().flat_map(|varied| &varied.points).filter_map(|point| point.time_s))
}

fn time(point: &WhatIfPoint, scale: Scale) -> String {
    point.time_s.map_or_else(|| "-".to_owned(), |time_s| scale.show(time_s))
}

/// `+3.2 %`; `0.0 %` has no sign.
fn percent(change: Option<f64>) -> String {
    let Some(change) = change.filter(|change| change.is_finite()) else { return "-".to_owned() };
    let text = format!("{:+.1} %", change * 100.0);
    if text[1..].starts_with("0.0 ") { text[1..].to_owned() } else { text }
}

fn exponent(elasticity: Option<f64>) -> String {
    // No minus before a zero.
    elasticity.map_or_else(|| "-".to_owned(), |value| fixed((value * 1000.0).round() / 1000.0 + 0.0, 3))
}

//! Tables of the predicted time of a program over parameters.

use std::fmt::Write;

use super::figures::{Quantity, fixed, seconds};
use super::{Answer, Grid, delivered, early, printable};
use hayase::columns::Columns;
use hayase::report::Status;
use hayase::report::whatif::{Sensitivity, WhatIfPoint, WhatIfReport};
use hayase::sweep::not_done;

/// Returns the effect of each parameter, and the largest gain that a network could bring.
pub fn whatif(report: &WhatIfReport) -> Answer {
    let mut text = Answer::new();
    let _ = writeln!(text, "{}", printable(&report.program));
    let _ = writeln!(text, "nodes {}; network: {}\n", report.node, printable(&report.network));
    match early(report.head.status, report.head.stopped) {
        Some(early) if report.head.status == Status::Deadlocked => {
            let _ = writeln!(text, "{early}");
            if let Some(stopped) = &report.head.stopped {
                let _ = writeln!(text, "delivered      {}", delivered(stopped));
            }
            text.push_str("the program does not end with nothing changed; nothing else is tried\n");
        }
        Some(_) if report.head.status == Status::Undone => {
            let undone = not_done(report.undone);
            let _ =
                writeln!(text, "NOT DONE at {}: all workers are lost, and {undone}", seconds(report.head.makespan_s));
            text.push_str("the farm does not end with nothing changed; nothing else is tried\n");
        }
        Some(early) => {
            let _ = writeln!(text, "{early}");
            text.push_str("the unchanged program has not come to its end; nothing else has been tried\n");
        }
        None if !report.complete => {
            text.push_str("INTERRUPTED: replays are missing; those that were played are shown\n")
        }
        _ => {}
    }
    if report.head.status != Status::Complete {
        return text;
    }
    if let Some(region) = &report.region {
        let _ = writeln!(text, "{:<15}{}: all times are of it", "region", printable(region));
    }
    let _ = writeln!(text, "{:<15}{}", "predicted", seconds(report.head.makespan_s));
    if let Some(measured) = report.measured_s {
        let _ = writeln!(text, "{:<15}{}", "measured", seconds(measured));
    }
    for (name, time_s, meaning) in report.limits.named() {
        let change = percent(Some(time_s / report.head.makespan_s - 1.0));
        let _ = writeln!(text, "{name:<15}{:<12}{change:>9}   {meaning}", seconds(time_s));
    }
    if report.tornado {
        text.push_str("\nEach parameter halved and doubled, the others unchanged\n\n");
        tornado(&mut text, report);
    } else {
        for varied in &report.varied {
            let base = varied.base.as_ref().map_or_else(String::new, |base| format!(" (unchanged: {})", rounded(base)));
            let _ = writeln!(text, "\n{}{base}\n", printable(&varied.parameter));
            values(&mut text, varied);
        }
    }
    text
}

/// Rounds a quantity such as `40.800000000000004 ps/B` to 10 digits.
fn rounded(quantity: &str) -> String {
    let (value, unit) = quantity.split_once(' ').unwrap_or((quantity, ""));
    let rounded = value.parse::<f64>().ok().and_then(|number| format!("{number:.9e}").parse::<f64>().ok());
    match rounded {
        Some(rounded) if value.len() > 11 => format!("{rounded} {unit}").trim_end().to_owned(),
        _ => quantity.to_owned(),
    }
}

fn tornado(text: &mut Answer, report: &WhatIfReport) {
    let named = Columns::<Sensitivity>::new()
        .text("parameter", |varied| &varied.parameter)
        .id("value", |varied| varied.base.as_deref().map(rounded).unwrap_or_default());
    let sides = ["halved", "doubled"].into_iter().enumerate().fold(named, |columns, (at, side)| {
        // An interrupted study lacks some points.
        columns.time(side, move |varied| varied.points.get(at)?.time_s).quantity(
            "change",
            Quantity::Change,
            move |varied| varied.points.get(at)?.change,
        )
    });
    let columns = sides.id("elasticity", |varied| exponent(varied.elasticity));
    text.table(Grid::of(&columns, &report.varied).keys(2));
    let mut any = false;
    for varied in &report.varied {
        for point in varied.points.iter().filter(|point| point.failed.is_some()) {
            let failed = failed(point);
            let _ = write!(text, "\n{} = {}: {failed}", printable(&varied.parameter), printable(&point.value));
            any = true;
        }
    }
    if any {
        text.push_str("\n");
    }
}

fn values(text: &mut Answer, varied: &Sensitivity) {
    let columns = Columns::<WhatIfPoint>::new()
        .id("value", |point| point.value.clone())
        .time("time", |point| point.time_s)
        .quantity("change", Quantity::Change, |point| point.change)
        .words("", |point| {
            let remarks = [point.note.clone().unwrap_or_default(), failed(point)];
            remarks.into_iter().filter(|remark| !remark.is_empty()).collect::<Vec<_>>().join("; ")
        });
    text.table(Grid::of(&columns, &varied.points));
    if varied.elasticity.is_some() {
        let _ = writeln!(text, "elasticity {}", exponent(varied.elasticity));
    }
}

/// Returns the reason for a missing time, with the time from which nothing moved.
fn failed(point: &WhatIfPoint) -> String {
    let reason = point.failed.clone().unwrap_or_default();
    point.stopped.map_or(reason.clone(), |stopped| format!("{reason} at {}", seconds(stopped.at_s)))
}

/// Formats a change: `+3.2 %`; `0.0 %` has no sign.
fn percent(change: Option<f64>) -> String {
    let Some(change) = change.filter(|change| change.is_finite()) else { return "-".to_owned() };
    let text = format!("{:+.1} %", change * 100.0);
    if text[1..].starts_with("0.0 ") { text[1..].to_owned() } else { text }
}

fn exponent(elasticity: Option<f64>) -> String {
    // A zero has no minus sign.
    elasticity.map_or_else(|| "-".to_owned(), |value| fixed((value * 1000.0).round() / 1000.0 + 0.0, 3))
}

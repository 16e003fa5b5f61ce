//! Predicted time of a program over parameters: bars to both sides of the unchanged run, or a curve for each
//! parameter.

use super::axis::{Axis, SECONDS};
use super::canvas::{GREY, INK};
use super::chart::{Chart, Series};
use super::lanes::{Lane, Lanes, Span};
use super::picture::{Picture, Tiles};
use super::scale::round_step;
use super::sign::{EDGE, Fill, Mark, Pen, STRONG, Sign};
use crate::table::seconds;
use hayase::base::Arrange;
use hayase::report::whatif::{Sensitivity, WhatIfPoint, WhatIfReport};

/// Width and height of a curve \[px\].
const INSIDE: (f64, f64) = (560.0, 210.0);
const PREDICTED: Pen = Pen::new("#2f6f8f", 2.0).marked(Mark::Disc);
/// Dashes of the lines of limits.
const DASHES: [&str; 3] = ["8 3", "2 3", "1 5"];
/// Names and fills of changes: halved is light, doubled is dark.
const CHANGED: [(&str, Fill); 2] = [("halved", Fill("#c9dbe4", EDGE)), ("doubled", STRONG)];

/// Draws a report: bars with the most sensitive parameter on top, or one curve for each parameter over the
/// same times.
pub fn whatif(report: &WhatIfReport) -> String {
    if report.tornado { tornado(report) } else { curves(report) }
}

fn change(value: f64) -> String {
    let text = format!("{:+.1} %", value * 100.0);
    if text[1..].starts_with("0.0 ") { text[1..].to_owned() } else { text }
}

/// Returns the unchanged time and the limits as text.
fn subtitle(report: &WhatIfReport) -> String {
    let mut parts = vec![
        format!("nodes {}", report.node),
        format!("network: {}", report.network),
        format!("predicted {}", seconds(report.head.makespan_s)),
    ];
    for (name, time_s, _) in report.limits.named() {
        let than =
            if report.head.makespan_s > 0.0 { change(time_s / report.head.makespan_s - 1.0) } else { String::new() };
        parts.push(format!("{name} {} ({than})", seconds(time_s)));
    }
    parts.join(" · ")
}

// --- halved and doubled ----------------------------------------------------------------------------------------------

fn tornado(report: &WhatIfReport) -> String {
    let changes = || report.varied.iter().flat_map(|varied| &varied.points).filter_map(|point| point.change);
    let (least, most) = (changes().fold(0.0, f64::min) * 100.0, changes().fold(0.0, f64::max) * 100.0);
    let (step, decimals) = round_step(((most - least) / 8.0).max(1e-3));
    let (first, last) = ((least / step - 1e-9).floor().min(-1.0), (most / step + 1e-9).ceil().max(1.0));
    let tick = |tick: i32| {
        let percent = f64::from(tick) * step;
        (percent, if tick == 0 { "0".to_owned() } else { format!("{percent:+.decimals$}") })
    };
    let ticks = (first as i32..=last as i32).map(tick).collect();
    let axis = Axis::linear(first * step, last * step, "%", ticks);
    let columns = [("halved", 84.0), ("doubled", 70.0), ("elasticity", 86.0)];
    let lanes = Lanes::new(axis, "change of the predicted time", 560.0, report.varied.iter().map(lane).collect());
    Picture::new(&report.program, format!("each parameter halved and doubled · {}", subtitle(report)))
        .legend(CHANGED.map(|(name, fill)| (Sign::Box(fill, 0.1, 0.9), name)))
        .with(Lanes { columns: columns.into(), uprights: vec![(0.0, String::new(), Pen::new(INK, 1.4))], ..lanes })
        .draw()
}

/// Returns a lane for a parameter, with a bar for each change. Each bar takes half of the lane, since both
/// may be on one side.
fn lane(varied: &Sensitivity) -> Lane {
    let name = match &varied.base {
        Some(base) => format!("{} = {base}", varied.parameter),
        None => varied.parameter.clone(),
    };
    let mut lane = Lane { name, height: 26.0, ..Lane::default() };
    let mut tooltip = Vec::new();
    for (half, point) in varied.points.iter().take(2).enumerate() {
        lane.figures.push(point.change.map_or_else(|| "–".to_owned(), change));
        if let Some(by) = point.change {
            let part = (0.1 + 0.4 * half as f64, 0.5 + 0.4 * half as f64);
            lane.spans.push(Span::bar((by * 100.0).min(0.0), (by * 100.0).max(0.0), CHANGED[half].1, part));
            tooltip.push(format!("{} = {}: {}", varied.parameter, point.value, change(by)));
        }
    }
    lane.figures.resize(2, String::new());
    let elasticity = varied.elasticity.map(|value| format!("{:.3}", (value * 1000.0).round() / 1000.0 + 0.0));
    lane.figures.push(elasticity.unwrap_or_else(|| "–".to_owned()));
    Lane { tooltip: tooltip.join("; "), ..lane }
}

// --- curves ----------------------------------------------------------------------------------------------------------

fn curves(report: &WhatIfReport) -> String {
    let times = report.varied.iter().flat_map(|varied| &varied.points).filter_map(|point| point.time_s);
    let times: Vec<f64> = times.chain([report.head.makespan_s]).filter(|&time| time > 0.0).collect();
    let least = times.iter().copied().fold(f64::INFINITY, f64::min);
    let most = times.iter().copied().fold(0.0, f64::max);
    let limits: Vec<f64> = report.limits.named().map(|(_, time_s, _)| time_s).collect();
    let axis = Axis::fitting(least, most, 5, SECONDS).reaching(limits.into_iter(), SECONDS);
    let charts = report.varied.iter().map(|varied| curve(varied, report, &axis)).collect();
    let failed = report.varied.iter().flat_map(|varied| varied.points.iter().map(|point| (&varied.parameter, point)));
    let notes =
        failed.filter_map(|(name, point)| Some(format!("× {name} = {}: {}", point.value, point.failed.as_ref()?)));
    Picture::new(&report.program, subtitle(report)).with(Tiles(charts, 1)).notes(notes).draw()
}

/// Returns the time over one parameter, with the limits and the unchanged time.
fn curve(varied: &Sensitivity, report: &WhatIfReport, axis: &Axis) -> Chart {
    let (places, logarithmic) = places(&varied.points);
    let places: Vec<f64> = places.into_iter().map(|place| 0.04 + 0.92 * place).collect();
    let ticks = places.iter().zip(&varied.points).map(|(&place, point)| (place, point.value.clone()));
    let mut caption = varied.parameter.clone();
    if let Some(base) = &varied.base {
        caption += &format!(" (unchanged: {base})");
    }
    if logarithmic {
        caption += ", logarithmic";
    }
    let named = |name: &str, time_s: f64| format!("{name} {}", seconds(time_s));
    let mut levels = vec![(report.head.makespan_s, named("unchanged", report.head.makespan_s), Pen::new(INK, 1.2))];
    for ((name, time_s, _), dashes) in report.limits.named().zip(DASHES) {
        levels.push((time_s, named(name, time_s), Pen::new(GREY, 1.2).dashed(dashes)));
    }
    let mut points: Vec<(f64, f64)> =
        places.iter().zip(&varied.points).filter_map(|(&place, point)| Some((place, point.time_s?))).collect();
    points.arrange_by(|a, b| a.0.total_cmp(&b.0));
    // No line joins values that are words.
    let series = match varied.points.iter().all(|point| point.number.is_some()) {
        true => Series::Line(PREDICTED, points),
        false => Series::Marks(PREDICTED, points),
    };
    let failed = places.iter().zip(&varied.points).filter(|(_, point)| point.failed.is_some());
    let failed = failed.map(|(&place, _)| (place, axis.start, "×".to_owned()));
    let series = vec![series, Series::Texts(failed.collect())];
    let across = (Axis::of_places(ticks.collect()), &*caption);
    Chart { levels, ..Chart::new(INSIDE, across, (axis.clone(), "predicted time"), series) }
}

/// Returns the place of each value along the axis, from 0 to 1, and true if the axis is logarithmic. Words
/// stand side by side.
#[expect(clippy::disallowed_methods, reason = "of a picture, nothing is computed from it")]
fn places(points: &[WhatIfPoint]) -> (Vec<f64>, bool) {
    let side_by_side = || (0..points.len()).map(|i| (i as f64 + 0.5) / points.len() as f64).collect();
    let Some(numbers) = points.iter().map(|point| point.number).collect::<Option<Vec<f64>>>() else {
        return (side_by_side(), false);
    };
    let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let most = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if most <= least {
        return (side_by_side(), false);
    }
    let logarithmic = least > 0.0 && most / least >= 8.0;
    let place = |value: f64| match logarithmic {
        true => (value / least).ln() / (most / least).ln(),
        false => (value - least) / (most - least),
    };
    (numbers.into_iter().map(place).collect(), logarithmic)
}

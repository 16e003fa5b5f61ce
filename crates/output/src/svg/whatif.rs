//! The predicted time of a program over parameters: bars to both sides of the unchanged run, or a curve for each
//! parameter.

use super::axis::{Axis, SECONDS};
use super::canvas::{Anchor, Canvas, FAINT, GREY, INK, MARGIN, Point, fit, text_width};
use super::chart::{Chart, Mark, Pen};
use super::scale::round_step;
use hayase::base::Arrange;
use hayase::report::whatif::{Sensitivity, WhatIfPoint, WhatIfReport};
use hayase::units::Time;

const CHART: f64 = 560.0;
const ROW: f64 = 26.0;
const HEIGHT: f64 = 210.0;
/// Room below a curve for ticks and caption.
const BELOW: f64 = 52.0;
const PREDICTED: Pen = Pen::new("#2f6f8f", 2.0).marked(Mark::Disc);

/// Limits as lines: told apart by their dashes.
const DASHES: [&str; 3] = ["8 3", "2 3", "1 5"];

/// Draws a report: what matters most on top, or one curve for each parameter over the same times.
pub fn whatif(report: &WhatIfReport) -> String {
    if report.tornado { tornado(report) } else { curves(report) }
}

fn seconds(value: f64) -> String {
    Time::from_seconds(value).to_string()
}

fn change(value: f64) -> String {
    let text = format!("{:+.1} %", value * 100.0);
    if text[1..].starts_with("0.0 ") { text[1..].to_owned() } else { text }
}

/// The unchanged time and the limits, in words.
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
    let name = |varied: &Sensitivity| match &varied.base {
        Some(base) => format!("{} = {base}", varied.parameter),
        None => varied.parameter.clone(),
    };
    let widest = report.varied.iter().map(|varied| text_width(&name(varied), 12.0)).fold(80.0, f64::max);
    let labels = widest.min(330.0) + 12.0;
    let left = MARGIN + labels;
    let width = left + CHART + 240.0 + MARGIN;
    let mut canvas = Canvas::new();
    let y =
        canvas.heading(&report.program, &format!("each parameter halved and doubled · {}", subtitle(report)), width);
    let y = key(&mut canvas, left, y) + 22.0;
    let changes = || report.varied.iter().flat_map(|varied| &varied.points).filter_map(|point| point.change);
    let least = changes().fold(0.0, f64::min) * 100.0;
    let most = changes().fold(0.0, f64::max) * 100.0;
    let (step, decimals) = round_step(((most - least) / 8.0).max(1e-3));
    let (first, last) = ((least / step - 1e-9).floor().min(-1.0), (most / step + 1e-9).ceil().max(1.0));
    let x = |percent: f64| left + CHART * (percent / step - first) / (last - first);
    let bottom = y + ROW * report.varied.len() as f64 + 4.0;
    for tick in first as i32..=last as i32 {
        let (percent, at) = (f64::from(tick) * step, x(f64::from(tick) * step));
        canvas.line(Point::new(at, y), Point::new(at, bottom), &format!(r#"stroke="{FAINT}""#));
        canvas.line(Point::new(at, bottom), Point::new(at, bottom + 4.0), &format!(r#"stroke="{INK}""#));
        let text = if tick == 0 { "0".to_owned() } else { format!("{percent:+.decimals$}") };
        canvas.text(at, bottom + 15.0, 10.0, Anchor::Middle, &text, "");
    }
    canvas.line(Point::new(left, bottom), Point::new(left + CHART, bottom), &format!(r#"stroke="{INK}""#));
    let caption = "change of the predicted time [%]";
    canvas.text(left + CHART / 2.0, bottom + 31.0, 11.0, Anchor::Middle, caption, "");
    let numbers = left + CHART + 14.0;
    let bold = r#"font-weight="bold""#;
    for (at, text) in [(70.0, "halved"), (140.0, "doubled"), (226.0, "elasticity")] {
        canvas.text(numbers + at, y - 6.0, 11.0, Anchor::End, text, bold);
    }
    for (i, varied) in report.varied.iter().enumerate() {
        let top = y + ROW * i as f64;
        let middle = top + ROW / 2.0 + 4.0;
        canvas.text(left - 10.0, middle, 12.0, Anchor::End, &fit(&name(varied), 12.0, labels), "");
        // One half of the row each: both may be on one side.
        for (half, point) in varied.points.iter().take(2).enumerate() {
            let at = numbers + 70.0 * (half + 1) as f64;
            let Some(by) = point.change else {
                canvas.text(at, middle, 11.0, Anchor::End, "–", "");
                continue;
            };
            canvas.text(at, middle, 11.0, Anchor::End, &change(by), "");
            let (from, to) = (x(0.0).min(x(by * 100.0)), x(0.0).max(x(by * 100.0)));
            canvas.open(&format!("{} = {}: {}", varied.parameter, point.value, change(by)));
            canvas.rect(from, top + 4.0 + 9.0 * half as f64, to - from, 9.0, style(half));
            canvas.close();
        }
        let exponent = varied
            .elasticity
            .map_or_else(|| "–".to_owned(), |value| format!("{:.3}", (value * 1000.0).round() / 1000.0 + 0.0));
        canvas.text(numbers + 226.0, middle, 11.0, Anchor::End, &exponent, "");
    }
    canvas.line(Point::new(x(0.0), y), Point::new(x(0.0), bottom), &format!(r#"stroke="{INK}" stroke-width="1.4""#));
    canvas.finish(width, bottom + 40.0 + MARGIN, &report.program)
}

/// Halved is light, doubled is dark.
fn style(half: usize) -> &'static str {
    match half {
        0 => r##"fill="#c9dbe4" stroke="#2b4a5a" stroke-width="0.7""##,
        _ => r##"fill="#2f6f8f" stroke="#2b4a5a" stroke-width="0.7""##,
    }
}

fn key(canvas: &mut Canvas, left: f64, y: f64) -> f64 {
    for (half, text) in ["halved", "doubled"].into_iter().enumerate() {
        let x = left + 90.0 * half as f64;
        canvas.rect(x, y, 22.0, 9.0, style(half));
        canvas.text(x + 28.0, y + 9.0, 11.0, Anchor::Start, text, "");
    }
    y + 14.0
}

// --- curves ----------------------------------------------------------------------------------------------------------

fn curves(report: &WhatIfReport) -> String {
    let left = MARGIN + 64.0;
    let width = left + CHART + 190.0 + MARGIN;
    let mut canvas = Canvas::new();
    let mut y = canvas.heading(&report.program, &subtitle(report), width);
    let times = report.varied.iter().flat_map(|varied| &varied.points).filter_map(|point| point.time_s);
    let times: Vec<f64> = times.chain([report.head.makespan_s]).filter(|&time| time > 0.0).collect();
    let least = times.iter().copied().fold(f64::INFINITY, f64::min);
    let most = times.iter().copied().fold(0.0, f64::max);
    let mut axis = Axis::fitting(least, most, 5, SECONDS);
    if axis.is_logarithmic() {
        let limits = report.limits.named().map(|(_, time_s, _)| time_s).filter(|&time| time > 0.0);
        axis = Axis::logarithmic(limits.fold(least, f64::min), most, SECONDS);
    }
    for varied in &report.varied {
        panel(&mut canvas, varied, report, &axis, Point::new(left, y + 8.0));
        y += HEIGHT + BELOW + 16.0;
    }
    canvas.finish(width, y + MARGIN, &report.program)
}

/// One parameter.
fn panel(canvas: &mut Canvas, varied: &Sensitivity, report: &WhatIfReport, axis: &Axis, corner: Point) {
    let (places, logarithmic) = places(&varied.points);
    let places: Vec<f64> = places.into_iter().map(|place| 0.04 + 0.92 * place).collect();
    let ticks = places.iter().zip(&varied.points).map(|(&place, point)| (place, point.value.clone()));
    let across = Axis::of_places(ticks.collect());
    let (left, top) = (corner.x, corner.y);
    let chart = Chart { left, top, width: CHART, height: HEIGHT, across, up: axis.clone() };
    let mut caption = varied.parameter.clone();
    if let Some(base) = &varied.base {
        caption += &format!(" (unchanged: {base})");
    }
    if logarithmic {
        caption += ", logarithmic";
    }
    chart.axes(canvas, &caption, "predicted time");
    // Limits and the unchanged time.
    let named = |name: &str, time_s: f64| format!("{name} {}", seconds(time_s));
    let mut levels = vec![(report.head.makespan_s, named("unchanged", report.head.makespan_s), Pen::new(INK, 1.2))];
    for ((name, time_s, _), dashes) in report.limits.named().zip(DASHES) {
        levels.push((time_s, named(name, time_s), Pen::new(GREY, 1.2).dashed(dashes)));
    }
    chart.levels(canvas, levels);
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.arrange_by(|&a, &b| places[a].total_cmp(&places[b]));
    let points: Vec<Point> =
        order.iter().filter_map(|&i| Some(chart.at(places[i], varied.points[i].time_s?))).collect();
    // Between words there is nothing.
    if varied.points.iter().all(|point| point.number.is_some()) {
        PREDICTED.trace(canvas, &points);
    }
    PREDICTED.marks(canvas, points);
    for (place, point) in places.iter().zip(&varied.points) {
        if let Some(failed) = &point.failed {
            // Away from the nearer edge, so that it stays inside.
            let anchor = if *place < 0.5 { Anchor::Start } else { Anchor::End };
            canvas.text(chart.x(*place), chart.bottom() - 6.0, 10.0, anchor, &format!("× {failed}"), "");
        }
    }
}

/// Where each value is along the axis, from 0 to 1, and whether that is by its logarithm: words are side by side.
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

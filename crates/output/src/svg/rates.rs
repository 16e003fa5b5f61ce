//! The rates of messages that are all under way at once, sorted, with what holds them back.

use std::collections::BTreeMap;

use super::axis::{Axis, BYTES_PER_SECOND};
use super::canvas::{Anchor, Canvas, FAINT, GREY, MARGIN, Point, fit};
use super::chart::{Chart, Pen};
use crate::table::count;
use hayase::base::Arrange;
use hayase::report::Rate;
use hayase::units::Bandwidth;

const WIDTH: f64 = 860.0;
const CHART: (f64, f64) = (730.0, 270.0);
const LABELS: f64 = 66.0;
/// Bottlenecks in the list.
const LISTED: usize = 12;

/// Draws rates, fastest first, and lists the links that hold most messages back.
pub fn rates(rates: &[Rate], title: &str) -> String {
    let mut values: Vec<f64> = rates.iter().map(|rate| rate.rate_bps).filter(|rate| rate.is_finite()).collect();
    values.arrange_by(|a, b| b.total_cmp(a));
    let unbound = rates.len() - values.len();
    let mut canvas = Canvas::new();
    let bandwidth = |value: f64| Bandwidth::from_bytes_per_second(value).to_string();
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    let mut subtitle = format!("{} under way at once", count(rates.len() as u64, "message", "messages"));
    if let (Some(&most), Some(&least)) = (values.first(), values.last()) {
        subtitle += &format!("; fastest {}, mean {}, slowest {}", bandwidth(most), bandwidth(mean), bandwidth(least));
    }
    if unbound > 0 {
        subtitle += &format!("; {unbound} cross no link and are left out");
    }
    let mut y = canvas.heading(title, &subtitle, WIDTH);
    if values.is_empty() {
        canvas.text(MARGIN, y + 12.0, 12.0, Anchor::Start, "No message crosses a link.", "");
        return canvas.finish(WIDTH, y + 40.0, title);
    }
    sorted(&mut canvas, &values, y);
    y += CHART.1 + 56.0;
    y = bottlenecks(&mut canvas, rates, y);
    canvas.finish(WIDTH, y + MARGIN, title)
}

/// The rates, which fall, over their number.
fn sorted(canvas: &mut Canvas, values: &[f64], top: f64) {
    let up = Axis::fitting(values[values.len() - 1], values[0], 6, BYTES_PER_SECOND);
    let (left, (width, height)) = (MARGIN + LABELS, CHART);
    let chart = Chart { left, top, width, height, across: Axis::counts(values.len()), up };
    chart.axes(canvas, "messages, fastest first", "rate");
    let mut steps = Vec::new();
    let mut from = 0;
    // Equal rates in a row are one step.
    for equal in values.chunk_by(|a, b| a == b) {
        steps.extend([from, from + equal.len()].map(|at| chart.at(at as f64, equal[0])));
        from += equal.len();
    }
    // From 0 up areas mean something; logarithms have no 0.
    if !chart.up.is_logarithmic() {
        chart.area(canvas, &steps, r##"fill="#9dbccc" fill-opacity="0.35""##);
    }
    Pen::new("#2f6f8f", 2.0).trace(canvas, &steps);
}

/// The links that hold messages back, by how many; returns where the list ends.
fn bottlenecks(canvas: &mut Canvas, rates: &[Rate], y: f64) -> f64 {
    let mut by_link: BTreeMap<&str, (usize, f64)> = BTreeMap::new();
    for rate in rates {
        if let Some(link) = &rate.bottleneck {
            let entry = by_link.entry(link).or_insert((0, f64::INFINITY));
            entry.0 += 1;
            entry.1 = entry.1.min(rate.rate_bps);
        }
    }
    let mut order: Vec<(&str, usize, f64)> =
        by_link.into_iter().map(|(link, (count, slowest))| (link, count, slowest)).collect();
    order.arrange_by(|a, b| b.1.cmp(&a.1).then(a.2.total_cmp(&b.2)).then(a.0.cmp(b.0)));
    let Some(&(_, most, _)) = order.first() else { return y };
    let mut y = y + 14.0;
    let bold = r#"font-weight="bold""#;
    let (name, count, rate) = (MARGIN + 150.0, MARGIN + 600.0, MARGIN + 740.0);
    canvas.text(MARGIN, y, 11.0, Anchor::Start, "bottlenecks (of equal ones, one)", bold);
    canvas.text(count, y, 11.0, Anchor::End, "messages held back", bold);
    canvas.text(rate, y, 11.0, Anchor::End, "slowest of them", bold);
    canvas.line(Point::new(MARGIN, y + 5.0), Point::new(rate, y + 5.0), &format!(r#"stroke="{FAINT}""#));
    for (link, held, slowest) in order.iter().take(LISTED) {
        y += 17.0;
        let bar = r##"fill="#9dbccc" stroke="#2b4a5a" stroke-width="0.5""##;
        canvas.rect(MARGIN, y - 9.0, 130.0 * *held as f64 / most as f64, 10.0, bar);
        canvas.text(name, y, 11.0, Anchor::Start, &fit(link, 11.0, 330.0), "");
        canvas.text(count, y, 11.0, Anchor::End, &held.to_string(), "");
        let slowest = Bandwidth::from_bytes_per_second(*slowest).to_string();
        canvas.text(rate, y, 11.0, Anchor::End, &slowest, "");
    }
    if order.len() > LISTED {
        y += 16.0;
        let text = format!("and {} more links", order.len() - LISTED);
        canvas.text(name, y, 11.0, Anchor::Start, &text, &format!(r#"fill="{GREY}""#));
    }
    y
}

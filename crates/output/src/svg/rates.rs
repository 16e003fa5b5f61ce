//! Rates of messages that are all under way at once, sorted, with their bottleneck links.

use std::collections::BTreeMap;

use super::axis::{Axis, BYTES_PER_SECOND};
use super::chart::{Chart, Series};
use super::lanes::{Lane, Lanes, Span};
use super::picture::Picture;
use super::sign::{PALE, Pen};
use crate::table::count;
use hayase::base::Arrange;
use hayase::report::Rate;
use hayase::units::Bandwidth;

/// Number of bottleneck links in the list.
const LISTED: usize = 12;

/// Draws rates, fastest first, and lists the links that are the bottleneck of most messages.
pub fn rates(rates: &[Rate], title: &str) -> String {
    let mut values: Vec<f64> = rates.iter().map(|rate| rate.rate_bps).filter(|rate| rate.is_finite()).collect();
    values.arrange_by(|a, b| b.total_cmp(a));
    let unbound = rates.len() - values.len();
    let bandwidth = |value: f64| Bandwidth::from_bytes_per_second(value).to_string();
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    let mut subtitle = format!("{} under way at once", count(rates.len() as u64, "message", "messages"));
    if let (Some(&most), Some(&least)) = (values.first(), values.last()) {
        subtitle += &format!("; fastest {}, mean {}, slowest {}", bandwidth(most), bandwidth(mean), bandwidth(least));
    }
    if unbound > 0 {
        subtitle += &format!("; {unbound} cross no link and are left out");
    }
    let picture = Picture::new(title, subtitle);
    if values.is_empty() {
        return picture.notes(["No message crosses a link.".to_owned()]).draw();
    }
    let (bottlenecks, notes) = bottlenecks(rates);
    picture.with(sorted(&values)).with(bottlenecks).notes(notes).draw()
}

/// Returns a chart of the rates in descending order.
fn sorted(values: &[f64]) -> Chart {
    let up = Axis::fitting(values[values.len() - 1], values[0], 6, BYTES_PER_SECOND);
    let mut steps = Vec::new();
    let mut from = 0;
    // Successive equal rates are one step.
    for equal in values.chunk_by(|a, b| a == b) {
        steps.extend([from, from + equal.len()].map(|at| (at as f64, equal[0])));
        from += equal.len();
    }
    let mut series = Vec::new();
    // An area has a meaning only if the axis begins at 0.
    if !up.is_logarithmic() {
        let outline = steps.iter().copied().chain([(from as f64, 0.0), (0.0, 0.0)]).collect();
        series.push(Series::Area(r##"fill="#9dbccc" fill-opacity="0.35""##, outline));
    }
    series.push(Series::Line(Pen::new("#2f6f8f", 2.0), steps));
    let across = (Axis::counts(values.len()), "messages, fastest first");
    Chart::new((730.0, 270.0), across, (up, "rate"), series)
}

/// Returns the bottleneck links by the number of messages that they hold back, and a note on those left out.
fn bottlenecks(rates: &[Rate]) -> (Lanes, Option<String>) {
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
    let lane = |&(link, held, slowest): &(&str, usize, f64)| Lane {
        name: link.to_owned(),
        height: 17.0,
        spans: vec![Span::bar(0.0, held as f64, PALE, (0.1, 0.9))],
        figures: vec![held.to_string(), Bandwidth::from_bytes_per_second(slowest).to_string()],
        ..Lane::default()
    };
    let lanes = order.iter().take(LISTED).map(lane).collect();
    let most = order.first().map_or(0.0, |first| first.1 as f64);
    let columns = [("messages held back", 170.0), ("slowest of them", 130.0)];
    let name = if order.is_empty() { "" } else { "bottlenecks (of equal ones, one)" };
    let more = order.len().saturating_sub(LISTED);
    let notes = (more > 0).then(|| format!("and {more} more links"));
    let list = Lanes::list(name, most, lanes, if order.is_empty() { &[] } else { &columns });
    (list, notes)
}

//! Strips: a row for each kind of link, with the links in order from left to right and, beside it, the same
//! loads sorted.

use super::groups::groups;
use super::{Loads, frame};
use crate::svg::canvas::{Anchor, Canvas, GREY, INK, MARGIN, Point};
use crate::svg::failed;
use crate::svg::scale::percent;
use hayase::base::Arrange;
use hayase::ids::LinkId;

const LABELS: f64 = 150.0;
const STRIP: f64 = 520.0;
const CURVE: f64 = 150.0;
const NUMBERS: f64 = 150.0;
const GAP: f64 = 18.0;
/// Width of all columns \[px\].
pub(super) const WIDTH: f64 = LABELS + STRIP + CURVE + NUMBERS + 3.0 * GAP;
/// Largest number of columns of a strip.
const BINS: usize = 260;
const HEIGHT: f64 = 28.0;

/// Draws the strips; returns the y coordinate below them.
pub(super) fn draw(canvas: &mut Canvas, loads: &Loads<'_>, y: f64) -> f64 {
    let groups = groups(loads.fabric);
    let (strip, curve) = (MARGIN + LABELS + GAP, MARGIN + LABELS + STRIP + 2.0 * GAP);
    let numbers = curve + CURVE + GAP;
    let binned = groups.iter().any(|group| group.links.len() > BINS);
    let bold = r#"font-weight="bold""#;
    let mut y = y + 12.0;
    canvas.text(MARGIN, y, 11.0, Anchor::Start, "kind of link", bold);
    let text =
        if binned { "links in order, several a column: busiest above, mean below" } else { "each link, in order" };
    canvas.text(strip, y, 11.0, Anchor::Start, text, bold);
    canvas.text(curve, y, 11.0, Anchor::Start, "sorted, busiest first", bold);
    canvas.text(numbers + NUMBERS * 0.3, y, 11.0, Anchor::End, "mean", bold);
    canvas.text(numbers + NUMBERS * 0.65, y, 11.0, Anchor::End, "max", bold);
    canvas.text(numbers + NUMBERS, y, 11.0, Anchor::End, "min", bold);
    y += 8.0;
    for group in &groups {
        let (mean, max) = loads.summary(&group.links);
        let min = group.links.iter().map(|&link| loads.of(link)).fold(f64::INFINITY, f64::min).min(max);
        canvas.fitted(Point::new(MARGIN, y + 13.0), 12.0, Anchor::Start, &group.name, LABELS, "");
        let text = format!("{} link{}", group.links.len(), if group.links.len() == 1 { "" } else { "s" });
        canvas.text(MARGIN, y + 26.0, 10.0, Anchor::Start, &text, &format!(r#"fill="{GREY}""#));
        row(canvas, loads, &group.links, strip, y);
        for (i, link) in [group.links.first(), group.links.last()].into_iter().flatten().enumerate() {
            if i == 1 && group.links.len() == 1 {
                continue;
            }
            let (x, anchor) = if i == 0 { (strip, Anchor::Start) } else { (strip + STRIP, Anchor::End) };
            let (at, name, grey) =
                (Point::new(x, y + HEIGHT + 11.0), loads.fabric.link_name(*link), format!(r#"fill="{GREY}""#));
            canvas.fitted(at, 9.0, anchor, &name, STRIP / 2.0 - 20.0, &grey);
        }
        sorted(canvas, loads, &group.links, mean, curve, y);
        canvas.text(numbers + NUMBERS * 0.3, y + 18.0, 11.0, Anchor::End, &percent(mean), "");
        canvas.text(numbers + NUMBERS * 0.65, y + 18.0, 11.0, Anchor::End, &percent(max), bold);
        canvas.text(numbers + NUMBERS, y + 18.0, 11.0, Anchor::End, &percent(min), "");
        y += HEIGHT + 20.0;
    }
    y
}

/// Draws one strip. If a column stands for several links, its upper half shows the busiest and its lower half
/// their mean.
fn row(canvas: &mut Canvas, loads: &Loads<'_>, links: &[LinkId], x: f64, y: f64) {
    let bins = links.len().clamp(1, BINS);
    let summaries: Vec<(f64, f64)> =
        (0..bins).map(|bin| loads.summary(&links[bin * links.len() / bins..(bin + 1) * links.len() / bins])).collect();
    let colours = |pick: fn(&(f64, f64)) -> f64| -> Vec<String> {
        summaries.iter().map(|summary| loads.scale.colour(pick(summary))).collect()
    };
    if links.len() > BINS {
        let half = (STRIP, HEIGHT / 2.0);
        cells(canvas, &colours(|summary| summary.1), Point::new(x, y), half);
        cells(canvas, &colours(|summary| summary.0), Point::new(x, y + half.1), half);
    } else {
        cells(canvas, &colours(|summary| summary.1), Point::new(x, y), (STRIP, HEIGHT));
    }
    // Marks are drawn over the frame, so that loads painted in it leave them visible.
    canvas.rect(x, y, STRIP, HEIGHT, &frame(links.iter().copied().map(Some), links.len()));
    let width = STRIP / links.len().max(1) as f64;
    for (i, _) in links.iter().enumerate().filter(|(_, link)| loads.fabric.has_failed(**link)) {
        failed::stroke(canvas, Point::new(x + width * i as f64, y), width.max(2.0), HEIGHT);
    }
    let busiest = (0..links.len()).max_by(|&a, &b| loads.of(links[a]).total_cmp(&loads.of(links[b])).then(b.cmp(&a)));
    if let Some(busiest) = busiest.filter(|&i| loads.of(links[i]) > 0.0) {
        let at = x + STRIP * (busiest as f64 + 0.5) / links.len() as f64;
        let tip = Point::new(at, y);
        canvas.polygon(&[tip, tip.plus(-4.0, -6.0), tip.plus(4.0, -6.0)], &format!(r#"fill="{INK}""#));
    }
}

/// Draws cells side by side; neighbours of one colour share a rectangle.
pub(super) fn cells(canvas: &mut Canvas, colours: &[String], corner: Point, (width, height): (f64, f64)) {
    let at = |cell: usize| corner.x + width * cell as f64 / colours.len() as f64;
    let mut start = 0;
    for run in colours.chunk_by(|a, b| a == b) {
        let end = start + run.len();
        canvas.rect(at(start), corner.y, at(end) - at(start) + 0.2, height, &format!(r#"fill="{}""#, run[0]));
        start = end;
    }
}

/// Draws the loads in descending order as a filled curve over the whole scale, with the mean as a dashed
/// line.
fn sorted(canvas: &mut Canvas, loads: &Loads<'_>, links: &[LinkId], mean: f64, x: f64, y: f64) {
    let mut values: Vec<f64> = links.iter().map(|&link| loads.of(link)).collect();
    values.arrange_by(|a, b| b.total_cmp(a));
    let height = |value: f64| y + HEIGHT - HEIGHT * loads.scale.position(value);
    canvas.rect(x, y, CURVE, HEIGHT, &format!(r##"fill="#f7f8fa" stroke="{GREY}" stroke-width="0.7""##));
    let points = values.len().min(CURVE as usize);
    let mut outline = vec![Point::new(x, y + HEIGHT)];
    for i in 0..points {
        let (from, to) = (x + CURVE * i as f64 / points as f64, x + CURVE * (i + 1) as f64 / points as f64);
        let value = height(values[i * values.len() / points]);
        outline.push(Point::new(from, value));
        outline.push(Point::new(to, value));
    }
    outline.push(Point::new(x + CURVE, y + HEIGHT));
    canvas.polygon(&outline, &format!(r##"fill="#9db3c6" stroke="{INK}" stroke-width="0.7""##));
    let dashes = format!(r#"stroke="{INK}" stroke-width="1" stroke-dasharray="4 2""#);
    canvas.line(Point::new(x, height(mean)), Point::new(x + CURVE, height(mean)), &dashes);
}

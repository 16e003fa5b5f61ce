//! Makespans side by side: a bar for each row of a comparison, in blocks; where they differ too much for that, a dot on
//! a logarithmic axis.

use super::axis::{Axis, SECONDS};
use super::canvas::{Anchor, Canvas, GREY, INK, MARGIN, Point, fit, text_width};
use crate::table::count;
use hayase::faults::part;
use hayase::report::{Comparison, ComparisonRow, FAULTS};
use hayase::units::Time;

const CHART: f64 = 520.0;
const NUMBERS: f64 = 300.0;
const ROW: f64 = 24.0;
const HEADING: f64 = 24.0;

/// A run of rows under one heading, with what stands before each of its bars.
struct Group<'a> {
    heading: Option<String>,
    rows: Vec<(String, &'a ComparisonRow)>,
}

/// Draws a comparison: mean makespans with their standard deviations, each with its lower bound. All blocks share one
/// axis.
///
/// A bar shows a makespan by its length, so it begins at 0. On a logarithmic axis there is no 0, and where a bar would
/// begin is arbitrary: there a makespan is a dot, and a line joins it with its bound, for there lengths are ratios.
pub fn comparison(comparison: &Comparison) -> String {
    let groups = groups(comparison);
    let widest = groups.iter().flat_map(|group| &group.rows).map(|(label, _)| text_width(label, 12.0));
    let labels = widest.fold(80.0, f64::max).min(330.0) + 12.0;
    let left = MARGIN + labels;
    let width = left + CHART + NUMBERS + MARGIN;

    let mut canvas = Canvas::new();
    let mut y = canvas.heading(&comparison.title, &subtitle(comparison), width);
    let extent = |row: &ComparisonRow| {
        let value = (row.makespan.mean_s + row.makespan.sd_s).max(row.bounds.largest());
        if value.is_finite() { value } else { 0.0 }
    };
    let longest = comparison.rows.iter().map(extent).fold(0.0, f64::max);
    let shortest = comparison.rows.iter().map(|row| row.makespan.mean_s).fold(f64::INFINITY, f64::min);
    let most =
        comparison.rows.iter().map(|row| row.makespan.mean_s).filter(|mean| mean.is_finite()).fold(0.0, f64::max);
    let mut axis = Axis::fitting(shortest, most, 6, SECONDS);
    axis = if axis.is_logarithmic() {
        let bounds = comparison.rows.iter().map(|row| row.bounds.largest()).filter(|&bound| bound > 0.0);
        Axis::logarithmic(bounds.fold(shortest, f64::min), longest, SECONDS)
    } else {
        Axis::new(longest, 6, SECONDS)
    };
    y = legend(&mut canvas, comparison, axis.is_logarithmic(), y) + 14.0;
    headings(&mut canvas, left, y);
    y += 6.0;
    // Behind the bars, so before them.
    let block = |group: &Group<'_>| HEADING * f64::from(group.heading.is_some()) + ROW * group.rows.len() as f64 + 4.0;
    let bottom = y + groups.iter().map(block).sum::<f64>();
    axis.draw(&mut canvas, left, CHART, y, bottom, "makespan");
    for group in &groups {
        if let Some(heading) = &group.heading {
            let room = labels + CHART;
            canvas.text(MARGIN, y + 16.0, 12.0, Anchor::Start, &fit(heading, 12.0, room), r#"font-weight="bold""#);
            y += HEADING;
        }
        for (label, row) in &group.rows {
            canvas.text(left - 10.0, y + ROW * 0.5 + 4.0, 12.0, Anchor::End, &fit(label, 12.0, labels), "");
            bar(&mut canvas, row, &axis, left, y);
            y += ROW;
        }
        y += 4.0;
    }
    canvas.finish(width, y + 40.0, &comparison.title)
}

/// One bar with its whiskers, its bound and its numbers.
fn bar(canvas: &mut Canvas, row: &ComparisonRow, axis: &Axis, left: f64, y: f64) {
    let x = |time: f64| if time.is_finite() { left + CHART * axis.place(time) } else { left };
    let (mean, sd) = (row.makespan.mean_s, row.makespan.sd_s);
    let is_best = row.is_best();
    let fill = if is_best { "#2f6f8f" } else { "#9dbccc" };
    canvas.open(&format!(
        "{}: {} over {}",
        row.pattern,
        Time::from_seconds(mean),
        count(row.makespan.seeds.len() as u64, "seed", "seeds")
    ));
    let middle = y + ROW / 2.0;
    let bound = row.bounds.largest();
    if axis.is_logarithmic() {
        if bound > 0.0 && bound.is_finite() {
            let line = r##"stroke="#9dbccc" stroke-width="3""##;
            canvas.line(Point::new(x(bound), middle), Point::new(x(mean), middle), line);
            marker(canvas, x(bound), y);
        }
        dot(canvas, Point::new(x(mean), middle), is_best);
    } else {
        let bar = format!(r##"fill="{fill}" stroke="#2b4a5a" stroke-width="0.7""##);
        canvas.rect(left, y + 5.0, x(mean) - left, ROW - 10.0, &bar);
    }
    canvas.close();
    if let Some([low, high]) = row.makespan.interval_s {
        // A box about the end of the bar: what an estimate leaves open.
        let (from, to) = (x(low.max(0.0)), x(high));
        let open = r##"fill="#e8a33d" fill-opacity="0.55" stroke="#7a4a00" stroke-width="0.7""##;
        canvas.rect(from, middle - 4.0, (to - from).max(1.5), 8.0, open);
    }
    if sd > 0.0 && sd.is_finite() {
        let line = format!(r#"stroke="{INK}" stroke-width="1.3""#);
        let (from, to) = (x((mean - sd).max(0.0)), x(mean + sd));
        canvas.line(Point::new(from, middle), Point::new(to, middle), &line);
        for end in [from, to] {
            canvas.line(Point::new(end, middle - 4.0), Point::new(end, middle + 4.0), &line);
        }
    }
    if bound > 0.0 && bound.is_finite() && !axis.is_logarithmic() {
        marker(canvas, x(bound), y);
    }
    let text = Time::from_seconds(mean).to_string();
    let numbers = left + CHART + 14.0;
    let weight = if is_best { r#"font-weight="bold""# } else { "" };
    canvas.text(numbers + 66.0, middle + 4.0, 11.0, Anchor::End, &text, weight);
    if row.makespan.seeds.len() > 1 {
        let text = format!("± {}", Time::from_seconds(sd));
        canvas.text(numbers + 72.0, middle + 4.0, 11.0, Anchor::Start, &text, &format!(r#"fill="{GREY}""#));
    }
    canvas.text(numbers + 206.0, middle + 4.0, 11.0, Anchor::End, &times(row.ratio_to_bound), "");
    canvas.text(numbers + 276.0, middle + 4.0, 11.0, Anchor::End, &times(row.ratio_to_best), weight);
}

/// The sign for a makespan on a logarithmic axis: full where it is the best of its job.
fn dot(canvas: &mut Canvas, at: Point, is_best: bool) {
    let fill = if is_best { "#2f6f8f" } else { "#ffffff" };
    canvas.circle(at, 5.0, &format!(r##"fill="{fill}" stroke="#2b4a5a" stroke-width="1.6""##));
}

/// The sign for a lower bound: a red line, wider than the bar is high, with a head.
fn marker(canvas: &mut Canvas, x: f64, y: f64) {
    let (top, bottom) = (Point::new(x, y + 2.0), Point::new(x, y + ROW - 2.0));
    canvas.line(top, bottom, r##"stroke="#ffffff" stroke-width="4""##);
    canvas.line(top, bottom, r##"stroke="#b3261e" stroke-width="2""##);
    canvas.polygon(&[top.plus(0.0, 3.0), top.plus(-4.0, -2.0), top.plus(4.0, -2.0)], r##"fill="#b3261e""##);
}

/// What the columns of numbers are.
fn headings(canvas: &mut Canvas, left: f64, y: f64) {
    let numbers = left + CHART + 14.0;
    let bold = r#"font-weight="bold""#;
    canvas.text(numbers + 66.0, y, 11.0, Anchor::End, "makespan", bold);
    canvas.text(numbers + 206.0, y, 11.0, Anchor::End, "× bound", bold);
    canvas.text(numbers + 276.0, y, 11.0, Anchor::End, "× best", bold);
}

/// `2.43`.
fn times(ratio: f64) -> String {
    match ratio {
        r if !r.is_finite() => "–".to_owned(),
        r if r >= 99.95 => format!("{r:.0}"),
        r => format!("{r:.2}"),
    }
}

/// What all rows have in common.
fn subtitle(comparison: &Comparison) -> String {
    let Some(first) = comparison.rows.first() else { return "nothing to compare".to_owned() };
    let mut parts = Vec::new();
    for (i, (field, value)) in first.block().into_iter().enumerate() {
        if !varies(comparison, i) && !value.is_empty() && value != "flow" {
            parts.push(format!("{field} {value}"));
        }
    }
    if comparison.rows.iter().all(|row| row.pattern == first.pattern) {
        parts.push(format!("pattern {}", first.pattern));
    }
    // What is not random is run once, whatever the number of seeds: blocks may differ.
    let seeds = || comparison.rows.iter().map(|row| row.makespan.seeds.len());
    if comparison.rows.iter().any(|row| row.makespan.interval_s.is_some()) {
        parts.push("estimates".to_owned());
    }
    parts.push(match (seeds().min().unwrap_or(0), seeds().max().unwrap_or(0)) {
        (1, 1) => "1 seed".to_owned(),
        (least, most) if least == most => format!("{most} seeds"),
        (1, most) => format!("{most} seeds where something is random"),
        (least, most) => format!("{least} to {most} seeds"),
    });
    if !comparison.complete {
        parts.push("interrupted: rows are missing".to_owned());
    }
    parts.join(" · ")
}

fn varies(comparison: &Comparison, field: usize) -> bool {
    comparison.rows.windows(2).any(|pair| pair[0].block()[field] != pair[1].block()[field])
}

/// `nothing failed`, `1% failed`, or the name of what did.
fn what_failed(faults: &str) -> String {
    match part(faults) {
        Some(Ok(0.0)) => "nothing failed".to_owned(),
        _ => format!("{faults} failed"),
    }
}

/// Rows by block, in the order in which blocks appear; blocks of one row each are no blocks.
fn groups(comparison: &Comparison) -> Vec<Group<'_>> {
    let varying: Vec<usize> = (0..comparison.rows.first().map_or(0, |row| row.block().len()))
        .filter(|&field| varies(comparison, field))
        .collect();
    let name = |row: &ComparisonRow| {
        let block = row.block();
        let parts = varying.iter().map(|&field| block[field]).filter(|(_, value)| !value.is_empty());
        parts
            .map(|(name, value)| if name == FAULTS { what_failed(value) } else { value.to_owned() })
            .collect::<Vec<_>>()
            .join(", ")
    };
    let mut blocks: Vec<(&ComparisonRow, Vec<&ComparisonRow>)> = Vec::new();
    for row in &comparison.rows {
        match blocks.iter_mut().find(|(first, _)| first.block() == row.block()) {
            Some((_, rows)) => rows.push(row),
            None => blocks.push((row, vec![row])),
        }
    }
    if blocks.iter().all(|(_, rows)| rows.len() == 1) && blocks.len() > 1 {
        let same = comparison.rows.windows(2).all(|pair| pair[0].pattern == pair[1].pattern);
        let label = |row| if same { name(row) } else { format!("{}, {}", name(row), row.pattern) };
        return vec![Group { heading: None, rows: comparison.rows.iter().map(|row| (label(row), row)).collect() }];
    }
    let several = blocks.len() > 1;
    blocks
        .into_iter()
        .map(|(first, rows)| Group {
            heading: several.then(|| name(first)),
            rows: rows.into_iter().map(|row| (row.pattern.clone(), row)).collect(),
        })
        .collect()
}

/// What the signs mean, and headings for the numbers; returns where it ends.
fn legend(canvas: &mut Canvas, comparison: &Comparison, logarithmic: bool, y: f64) -> f64 {
    let mut x = MARGIN;
    let mut entry = |canvas: &mut Canvas, text: &str, sign: &dyn Fn(&mut Canvas, f64)| {
        sign(canvas, x);
        canvas.text(x + 34.0, y + 4.0, 11.0, Anchor::Start, text, "");
        x += 34.0 + text_width(text, 11.0) + 18.0;
    };
    entry(canvas, "mean makespan, the best of its job", &|canvas, x| match logarithmic {
        true => dot(canvas, Point::new(x + 14.0, y), true),
        false => canvas.rect(x, y - 6.0, 28.0, 12.0, r##"fill="#2f6f8f" stroke="#2b4a5a""##),
    });
    entry(canvas, "others", &|canvas, x| match logarithmic {
        true => dot(canvas, Point::new(x + 14.0, y), false),
        false => canvas.rect(x, y - 6.0, 28.0, 12.0, r##"fill="#9dbccc" stroke="#2b4a5a""##),
    });
    if comparison.rows.iter().any(|row| row.makespan.sd_s > 0.0) {
        entry(canvas, "± standard deviation over seeds", &|canvas, x| {
            let line = format!(r#"stroke="{INK}" stroke-width="1.3""#);
            canvas.line(Point::new(x + 2.0, y), Point::new(x + 26.0, y), &line);
            for end in [x + 2.0, x + 26.0] {
                canvas.line(Point::new(end, y - 4.0), Point::new(end, y + 4.0), &line);
            }
        });
    }
    if comparison.rows.iter().any(|row| row.makespan.interval_s.is_some()) {
        entry(canvas, "95 % interval of an estimate", &|canvas, x| {
            let open = r##"fill="#e8a33d" fill-opacity="0.55" stroke="#7a4a00" stroke-width="0.7""##;
            canvas.rect(x + 4.0, y - 4.0, 20.0, 8.0, open);
        });
    }
    entry(canvas, "largest lower bound", &|canvas, x| marker(canvas, x + 14.0, y - 12.0));
    y + 8.0
}

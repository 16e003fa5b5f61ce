//! Makespans side by side: a bar for each row of a comparison, in blocks. If they differ too much for bars,
//! each is a dot on a logarithmic axis.

use super::axis::{Axis, SECONDS};
use super::lanes::{Lane, Lanes, Span};
use super::picture::Picture;
use super::sign::{Fill, Legend, PALE, Pen, STRONG, Sign};
use crate::table::{count, seconds};
use hayase::faults::part;
use hayase::report::{Comparison, ComparisonRow, FAULTS};

/// Interval of an estimate: a box around the end of the bar.
const OPEN: Sign = Sign::Box(Fill("#e8a33d", r##"fill-opacity="0.55" stroke="#7a4a00" stroke-width="0.7""##), 0.3, 0.7);

/// Rows under one heading, each with the name of its bar.
struct Group<'a> {
    heading: Option<String>,
    rows: Vec<(String, &'a ComparisonRow)>,
}

/// Draws a comparison: mean makespans with their standard deviations, each with its lower bound. All blocks
/// share one axis.
///
/// The length of a bar shows the makespan, so a bar begins at 0. A logarithmic axis has no 0 at which a bar
/// could begin. There a makespan is a dot, and a line joins it with its bound, because lengths are ratios
/// there.
pub fn comparison(comparison: &Comparison) -> String {
    let extent = |row: &ComparisonRow| {
        let value = (row.makespan.mean_s + row.makespan.sd_s).max(row.bounds.largest());
        if value.is_finite() { value } else { 0.0 }
    };
    let means = || comparison.rows.iter().map(|row| row.makespan.mean_s);
    let longest = comparison.rows.iter().map(extent).fold(0.0, f64::max);
    let shortest = means().fold(f64::INFINITY, f64::min);
    let most = means().filter(|mean| mean.is_finite()).fold(0.0, f64::max);
    let is_logarithmic = Axis::fitting(shortest, most, 6, SECONDS).is_logarithmic();
    let axis = if is_logarithmic {
        let bounds = comparison.rows.iter().map(|row| row.bounds.largest()).filter(|&bound| bound > 0.0);
        Axis::logarithmic(bounds.fold(shortest, f64::min), longest, SECONDS)
    } else {
        Axis::new(longest, 6, SECONDS)
    };
    let mut lanes = Vec::new();
    for group in groups(comparison) {
        let mut heading = group.heading.unwrap_or_default();
        for (name, row) in group.rows {
            lanes.push(Lane { name, heading: std::mem::take(&mut heading), ..lane(row, is_logarithmic) });
        }
    }
    let columns = vec![("makespan", 80.0), ("", 76.0), ("× bound", 64.0), ("× best", 70.0)];
    Picture::new(&comparison.title, subtitle(comparison))
        .legend(legend(comparison, is_logarithmic))
        .with(Lanes { columns, ..Lanes::new(axis, "makespan", 520.0, lanes) })
        .draw()
}

/// Returns a bar or a dot, with its whiskers, its bound and its numbers.
fn lane(row: &ComparisonRow, is_logarithmic: bool) -> Lane {
    let (mean, sd, bound) = (row.makespan.mean_s, row.makespan.sd_s, row.bounds.largest());
    let has_bound = bound > 0.0 && bound.is_finite();
    let mut spans = Vec::new();
    if is_logarithmic && has_bound {
        spans.push(Span::new(bound, mean, Sign::Line(Pen::new("#9dbccc", 3.0))));
        spans.push(Span::new(0.0, bound, Sign::Bound));
    }
    spans.push(Span::new(0.0, mean, makespan(is_logarithmic, row.is_best())));
    spans.extend(row.makespan.interval_s.map(|[low, high]| Span::new(low.max(0.0), high, OPEN)));
    if sd > 0.0 && sd.is_finite() {
        spans.push(Span::new((mean - sd).max(0.0), mean + sd, Sign::Whisker));
    }
    if has_bound && !is_logarithmic {
        spans.push(Span::new(0.0, bound, Sign::Bound));
    }
    let seeds = row.makespan.seeds.len();
    let deviation = if seeds > 1 { format!("± {}", seconds(sd)) } else { String::new() };
    Lane {
        height: 24.0,
        spans,
        figures: vec![seconds(mean), deviation, times(row.ratio_to_bound), times(row.ratio_to_best)],
        is_strong: row.is_best(),
        tooltip: format!("{}: {} over {}", row.pattern, seconds(mean), count(seeds as u64, "seed", "seeds")),
        ..Lane::default()
    }
}

/// Returns the sign of a makespan: dark (or filled) for the best of its job.
fn makespan(is_logarithmic: bool, is_best: bool) -> Sign {
    match is_logarithmic {
        true => Sign::Dot(is_best),
        false => Sign::Box(if is_best { STRONG } else { PALE }, 0.18, 0.82),
    }
}

/// Returns the meanings of the signs.
fn legend(comparison: &Comparison, is_logarithmic: bool) -> Legend {
    let any = |of: fn(&ComparisonRow) -> bool| comparison.rows.iter().any(of);
    let entries = [
        (true, makespan(is_logarithmic, true), "mean makespan, the best of its job"),
        (true, makespan(is_logarithmic, false), "others"),
        (any(|row| row.makespan.sd_s > 0.0), Sign::Whisker, "± standard deviation over seeds"),
        (any(|row| row.makespan.interval_s.is_some()), OPEN, "95 % interval of an estimate"),
        (true, Sign::Bound, "largest lower bound"),
    ];
    entries.into_iter().filter(|entry| entry.0).map(|(_, sign, text)| (sign, text.to_owned())).collect()
}

/// Formats a ratio: `2.43`.
fn times(ratio: f64) -> String {
    match ratio {
        r if !r.is_finite() => "–".to_owned(),
        r if r >= 99.95 => format!("{r:.0}"),
        r => format!("{r:.2}"),
    }
}

/// Returns the choices that all rows share.
pub(super) fn common(comparison: &Comparison) -> Vec<String> {
    let Some(first) = comparison.rows.first() else { return vec!["nothing to compare".to_owned()] };
    let named = first.block().into_iter().enumerate();
    let same = named.filter(|&(i, (_, value))| !varies(comparison, i) && !value.is_empty() && value != "flow");
    same.map(|(_, (name, value))| format!("{name} {value}")).collect()
}

fn subtitle(comparison: &Comparison) -> String {
    let mut parts = common(comparison);
    let Some(first) = comparison.rows.first() else { return parts.concat() };
    if comparison.rows.iter().all(|row| row.pattern == first.pattern) {
        parts.push(format!("pattern {}", first.pattern));
    }
    if comparison.rows.iter().any(|row| row.makespan.interval_s.is_some()) {
        parts.push("estimates".to_owned());
    }
    // Rows without randomness are run once for any number of seeds, so numbers of seeds may differ.
    let seeds = || comparison.rows.iter().map(|row| row.makespan.seeds.len());
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

/// Names the failed parts: `nothing failed`, `1% failed`, or their name.
fn what_failed(faults: &str) -> String {
    match part(faults) {
        Some(Ok(0.0)) => "nothing failed".to_owned(),
        _ => format!("{faults} failed"),
    }
}

/// Groups rows into blocks, in order of first appearance. If every block has one row, there are no blocks.
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

//! Slowdown of runs over the fraction of failed links: a line for each compared configuration, with its
//! interval.

use super::axis::Axis;
use super::chart::{Chart, Series as Drawn};
use super::picture::Picture;
use super::sign::{LIMIT, Pen, Sign, pen};
use crate::table::count;
use hayase::base::Arrange;
use hayase::faults::part;
use hayase::report::{Comparison, ComparisonRow, FAULTS, varying};

/// Line: its name, and its rows with the failed fraction, in ascending order.
struct Series<'a> {
    name: String,
    rows: Vec<(f64, &'a ComparisonRow)>,
}

/// Draws the slowdown of a comparison over the failed fraction. If failures are named, the names stand side
/// by side.
pub fn faults(comparison: &Comparison) -> String {
    let series = series(&comparison.rows);
    let points = || series.iter().flat_map(|series| &series.rows);
    let ends = || points().filter_map(|(_, row)| row.slowdown.as_ref());
    let most = ends().map(|slowdown| slowdown.high).filter(|high| high.is_finite()).fold(1.0, f64::max);
    let least = ends().map(|slowdown| slowdown.low).filter(|low| low.is_finite()).fold(1.0, f64::min);
    let up = Axis::between(least.max(0.0) - 0.02 * (most - least), most.max(least + 0.01), 6, &[("", 1.0)]);
    let widest = points().map(|(percent, _)| *percent).fold(0.0, f64::max).max(1e-9);
    let place = |percent: f64| 0.03 + 0.94 * percent / widest;
    let mut ticks: Vec<(f64, String)> = Vec::new();
    for (percent, row) in points() {
        let label = row.faults.clone().unwrap_or_default();
        if !ticks.iter().any(|(at, _)| *at == place(*percent)) {
            ticks.push((place(*percent), label));
        }
    }
    let (mut drawn, mut legend) = (Vec::new(), Vec::new());
    for (number, Series { name, rows }) in series.iter().enumerate() {
        // Lines are shifted, so that intervals at the same fraction do not overlap.
        let aside = (number as f64 - (series.len() as f64 - 1.0) / 2.0) * 0.004;
        let known = || rows.iter().filter_map(|(percent, row)| Some((place(*percent) + aside, row.slowdown?)));
        let intervals = known().filter(|(_, slowdown)| slowdown.seeds > 1);
        let intervals = intervals.map(|(at, slowdown)| (at, slowdown.low, slowdown.high)).collect();
        drawn.push(Drawn::Intervals(Pen::new(pen(number).colour, 1.2), intervals));
        drawn.push(Drawn::Line(pen(number), known().map(|(at, slowdown)| (at, slowdown.mean)).collect()));
        legend.push((Sign::Line(pen(number)), name.clone()));
    }
    let across = (Axis::of_places(ticks), "cables that failed");
    let chart = Chart::new((760.0, 330.0), across, (up, "times as long as with none"), drawn);
    let levels = vec![(1.0, String::new(), LIMIT)];
    Picture::new(&comparison.title, subtitle(comparison)).legend(legend).with(Chart { levels, ..chart }).draw()
}

fn subtitle(comparison: &Comparison) -> String {
    let seeds = comparison.rows.iter().map(|row| row.makespan.seeds.len() as u64 + row.cut_off).max().unwrap_or(0);
    let cut_off: u64 = comparison.rows.iter().map(|row| row.cut_off).sum();
    let mut text = format!("mean and 95 % interval over {}", count(seeds, "seed", "seeds"));
    if cut_off > 0 {
        text += &format!("; {} without a way for some message left out", count(cut_off, "run", "runs"));
    }
    if !comparison.complete {
        text += "; INTERRUPTED: runs are missing";
    }
    text
}

/// Groups the rows by their choices other than failures, in order of the failed fraction.
fn series(rows: &[ComparisonRow]) -> Vec<Series<'_>> {
    let names = rows.first().map(ComparisonRow::names).unwrap_or_default();
    let shown: Vec<usize> = varying(rows).into_iter().filter(|&choice| names[choice] != FAULTS).collect();
    let mut all: Vec<(Vec<&str>, Series<'_>)> = Vec::new();
    let mut words: Vec<&str> = Vec::new();
    for row in rows {
        let choices = row.choices();
        let key: Vec<&str> =
            names.iter().zip(&choices).filter(|(name, _)| **name != FAULTS).map(|(_, one)| *one).collect();
        let text = row.faults.as_deref().unwrap_or_default();
        let percent = match part(text) {
            Some(Ok(part)) => part * 100.0,
            _ => {
                // Names stand side by side, in order of first appearance.
                let at = words.iter().position(|word| *word == text).unwrap_or_else(|| {
                    words.push(text);
                    words.len() - 1
                });
                at as f64 + 1.0
            }
        };
        match all.iter_mut().find(|(known, _)| *known == key) {
            Some((_, series)) => series.rows.push((percent, row)),
            None => {
                let parts: Vec<&str> =
                    shown.iter().map(|&choice| choices[choice]).filter(|one| !one.is_empty()).collect();
                let name = if parts.is_empty() { row.pattern.clone() } else { parts.join(", ") };
                all.push((key, Series { name, rows: vec![(percent, row)] }));
            }
        }
    }
    let mut all: Vec<Series<'_>> = all.into_iter().map(|(_, series)| series).collect();
    for series in &mut all {
        series.rows.arrange_by(|a, b| a.0.total_cmp(&b.0));
    }
    all
}

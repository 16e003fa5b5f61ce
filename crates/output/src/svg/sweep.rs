//! Sweeps: makespans over one parameter, as a field of two parameters, and against a cost.

use super::axis::{Axis, BYTES, BYTES_PER_SECOND, SECONDS};
use super::canvas::INK;
use super::cells::{Cell, Cells, Ramp};
use super::chart::{Chart, Series};
use super::picture::{Picture, Tiles};
use super::scale::LoadScale;
use super::sign::{Mark, PENS, Pen, Sign};
use hayase::base::Arrange;
use hayase::plan::{Crossing, MeanRow, Means, VariedKey};
use hayase::units::{Time, grouped};

/// Largest number of charts of a picture.
const MOST_PANELS: usize = 24;
/// Largest number of named points of a front.
const MOST_NAMED: usize = 20;
const NOTHING: &str = "no point has a makespan yet";
/// Charts in a row.
const COLUMNS: usize = 2;
/// Width and height of a chart [px].
const CHART: (f64, f64) = (440.0, 270.0);

/// Reason why a picture of a plan cannot be drawn.
pub type Undrawn = String;

/// Chooses the two keys of a picture: the numeric key with most values, and of the others one that is not
/// numeric or has most values.
///
/// # Errors
/// No key has several numbers.
pub fn axes_of(means: &Means) -> Result<[usize; 2], Undrawn> {
    let several = |key: &VariedKey| key.values.len() > 1;
    let keys = || means.keys.iter().enumerate().filter(|(_, key)| several(key));
    let across =
        keys().filter(|(_, key)| key.numbers.is_some()).max_by_key(|(i, key)| (key.values.len(), usize::MAX - i));
    let Some((across, first)) = across else {
        return Err("no key has several numbers that a picture could have on an axis".to_owned());
    };
    let others = keys().filter(|(_, key)| key.group != first.group);
    let lines = others.max_by_key(|(i, key)| {
        let fits = key.values.len() <= PENS.len();
        (fits, key.numbers.is_none(), key.values.len(), usize::MAX - i)
    });
    Ok([across, lines.map_or(across, |(i, _)| i)])
}

/// Draws mean makespans over a numeric key: a line for each value of `keys[1]`, a chart for each combination
/// of the other keys. Bars are 95 % intervals over seeds. Crossings of lines are marked.
///
/// # Errors
/// More charts or lines than can be told apart.
pub fn sweep_lines(means: &Means, keys: [usize; 2], crossings: &[Crossing]) -> Result<String, Undrawn> {
    let [over, of] = keys;
    let Some(numbers) = &means.keys[over].numbers else {
        return Err(format!("`{}` has values that are no numbers", means.keys[over].name));
    };
    let several = over != of;
    if several && means.keys[of].values.len() > PENS.len() {
        return Err(too_many(&means.keys[of], PENS.len()));
    }
    let panels = panels(means, keys)?;
    let lows = means.rows.iter().map(|row| (row.mean_s - row.half_s).max(row.mean_s / 2.0)).filter(|low| *low > 0.0);
    let highs = means.rows.iter().map(|row| row.mean_s + row.half_s);
    let across = number_axis(numbers, means.keys[over].unit);
    let (least, most) = (lows.fold(f64::INFINITY, f64::min), highs.fold(0.0, f64::max));
    let up = match across.is_logarithmic() && most > 3.0 * least {
        true => Axis::logarithmic(least, most, SECONDS).with_zero(means.rows.iter().map(|row| row.mean_s)),
        false => Axis::fitting(least, most, 6, SECONDS),
    };
    let mut columns = numbers.clone();
    columns.arrange_by(f64::total_cmp);
    columns.dedup();
    let column = |point: &(f64, &MeanRow)| columns.partition_point(|number| *number < point.0);
    let choices = if several { means.keys[of].values.len() } else { 1 };
    let panel = |(rest, rows): &(Vec<usize>, Vec<&MeanRow>)| {
        let (mut series, mut places) = (Vec::new(), Vec::new());
        for (choice, pen) in (0..choices).zip(PENS) {
            let own = rows.iter().filter(|row| !several || row.choice[of] == choice);
            let mut own: Vec<(f64, &MeanRow)> = own.map(|row| (numbers[row.choice[over]], *row)).collect();
            own.arrange_by(|a, b| a.0.total_cmp(&b.0));
            let uncertain = own.iter().filter(|(_, row)| row.half_s > 0.0);
            let intervals = uncertain.map(|(at, row)| (*at, row.mean_s - row.half_s, row.mean_s + row.half_s));
            series.push(Series::Intervals(Pen::new(pen.colour, 1.0), intervals.collect()));
            places.extend(own.iter().copied());
            // A line ends where a point is left out or missing.
            for line in own.chunk_by(|a, b| column(b) <= column(a) + 1) {
                series.push(Series::Line(pen, line.iter().map(|(at, row)| (*at, row.mean_s)).collect()));
            }
        }
        series.push(spots(means, &places));
        let named = means.rest(keys, rest);
        let own = crossings.iter().filter(|crossing| crossing.rest == named);
        let uprights = own.map(|crossing| {
            let middle = (crossing.between[0] * crossing.between[1]).sqrt();
            (middle, number(middle, means.keys[over].unit), Pen::new(INK, 1.0).dashed("4 3"))
        });
        let (across, up) = ((across.clone(), &*means.keys[over].name), (up.clone(), "mean makespan"));
        let (name, uprights) = (panel_name(means, keys, rest), uprights.collect());
        Chart { name, uprights, ..Chart::new(CHART, across, up, series) }
    };
    let key = &means.keys[of];
    let entries = key.values.iter().zip(PENS).filter(|_| several);
    let legend = entries.map(|(value, pen)| (Sign::Line(pen), format!("{} {value}", key.name)));
    let charts = Tiles(panels.iter().map(panel).collect(), COLUMNS);
    Ok(Picture::new(&means.plan, subtitle(means, true)).legend(legend).with(charts).draw())
}

/// Draws mean makespans as a field of two keys, darker for longer; a field for each combination of the other
/// keys.
///
/// # Errors
/// More fields than have room.
#[expect(clippy::disallowed_methods, reason = "logarithms of a picture, nothing is computed from them")]
pub fn sweep_heat(means: &Means, keys: [usize; 2]) -> Result<String, Undrawn> {
    let [over, of] = keys;
    if over == of {
        return Err("a field has two keys with several values each, and one is varied".to_owned());
    }
    for key in keys.map(|key| &means.keys[key]) {
        if key.values.len() > 60 {
            return Err(too_many(key, 60));
        }
    }
    let panels = panels(means, keys)?;
    // A time of 0 has no logarithm; it gets the lightest colour.
    let positive = || means.rows.iter().map(|row| row.mean_s).filter(|mean| *mean > 0.0);
    let most = positive().fold(0.0, f64::max);
    let least = positive().fold(f64::INFINITY, f64::min).min(most);
    let part = |mean: f64| match most > least {
        true => ((mean / least).ln() / (most / least).ln()).max(0.0),
        false => 0.5,
    };
    // Numbers are sorted, words stay in the order of the plan.
    let order = |key: &VariedKey| -> Vec<usize> {
        let mut order: Vec<usize> = (0..key.values.len()).collect();
        if let Some(numbers) = &key.numbers {
            order.arrange_by(|&a, &b| numbers[a].total_cmp(&numbers[b]));
        }
        order
    };
    let (columns, mut lines) = (order(&means.keys[over]), order(&means.keys[of]));
    lines.reverse();
    let names = |key: usize, order: &[usize]| order.iter().map(|&i| means.keys[key].values[i].clone()).collect();
    let panel = |(rest, rows): &(Vec<usize>, Vec<&MeanRow>)| {
        let best = rows.iter().map(|row| row.mean_s).fold(f64::INFINITY, f64::min);
        let cell = |row: &&MeanRow| {
            let place = |order: &[usize], key: usize| order.iter().position(|i| *i == row.choice[key]).unwrap_or(0);
            Cell {
                row: place(&lines, of),
                column: place(&columns, over),
                colour: heat(part(row.mean_s)),
                is_dark: part(row.mean_s) > 0.55,
                text: time(row.mean_s),
                is_strong: row.mean_s == best,
                tooltip: described(means, row),
                point: Some(row.configuration as usize),
            }
        };
        Cells {
            name: panel_name(means, keys, rest),
            rows: names(of, &lines),
            columns: names(over, &columns),
            captions: (means.keys[of].name.clone(), means.keys[over].name.clone()),
            cell: (CHART.0 / columns.len() as f64, (CHART.1 / lines.len() as f64).min(60.0)),
            cells: rows.iter().map(cell).collect(),
            ..Cells::default()
        }
    };
    let ticks = [(0.0, least), (0.5, (least * most).sqrt()), (1.0, most)].map(|(at, value)| (at, time(value)));
    let ramp = Ramp { caption: "mean makespan, logarithmic".to_owned(), colour: heat, ticks: ticks.into() };
    let fields = Tiles(panels.iter().map(panel).collect(), COLUMNS);
    Ok(Picture::new(&means.plan, subtitle(means, false)).with(ramp).with(fields).draw())
}

fn heat(part: f64) -> String {
    LoadScale::up_to(1.0).colour(part)
}

/// Draws mean makespans against a cost: a numeric key or a figure that the plan keeps. The points of the
/// Pareto front are joined and named.
///
/// # Errors
/// A cost that does not exist or is not numeric.
pub fn sweep_pareto(means: &Means, cost: &str) -> Result<String, Undrawn> {
    if means.rows.is_empty() {
        return Err(NOTHING.to_owned());
    }
    let key = means.keys.iter().position(|key| key.name == cost);
    let kept = means.kept.iter().position(|key| key == cost);
    let of = |row: &MeanRow| match (key, kept) {
        (Some(key), _) => means.keys[key].numbers.as_ref().map(|numbers| numbers[row.choice[key]]),
        (_, Some(kept)) => row.kept[kept],
        _ => None,
    };
    let points: Vec<(f64, &MeanRow)> = means.rows.iter().filter_map(|row| Some((of(row)?, row))).collect();
    if points.is_empty() {
        return Err(format!("`{cost}` is neither a key with numbers nor a figure that the plan keeps"));
    }
    let unit = key.map_or("", |key| means.keys[key].unit);
    let costs: Vec<f64> = points.iter().map(|point| point.0).collect();
    let places = |points: &[(f64, &MeanRow)]| points.iter().map(|(cost, row)| (*cost, row.mean_s)).collect::<Vec<_>>();
    let up = Axis::of(points.iter().map(|point| point.1.mean_s), 7, SECONDS);
    let mut front = points.clone();
    front.arrange_by(|a, b| a.0.total_cmp(&b.0).then(a.1.mean_s.total_cmp(&b.1.mean_s)));
    let mut least = f64::INFINITY;
    front.retain(|(_, row)| {
        let is_better = row.mean_s < least;
        least = least.min(row.mean_s);
        is_better
    });
    let mut steps: Vec<(f64, f64)> = Vec::new();
    for (cost, time) in places(&front) {
        steps.extend(steps.last().map(|last| (cost, last.1)));
        steps.push((cost, time));
    }
    let (mut notes, mut numbers) = (Vec::new(), Vec::new());
    for (i, (cost, row)) in front.iter().enumerate().take(MOST_NAMED) {
        numbers.push((*cost, row.mean_s, (i + 1).to_string()));
        let own = match key {
            Some(_) => String::new(),
            None => format!("{of_what} {}, ", number(*cost, unit), of_what = means.kept[kept.unwrap_or(0)]),
        };
        notes.push(format!("{}: {}, {own}{}", i + 1, time(row.mean_s), means.named(row)));
    }
    if front.len() > MOST_NAMED {
        notes.push(format!("and {} more that nothing beats in both", grouped((front.len() - MOST_NAMED) as u64)));
    }
    let pen = Pen::new("#b3541e", 1.8);
    let (others, best) = (Pen::new("#8fa7b3", 1.0).marked(Mark::Disc), pen.marked(Mark::Square));
    let legend = [
        (Sign::Mark(others), "configuration"),
        (Sign::Line(best), "front: nothing beats these in both (numbers: see below)"),
    ];
    let series = vec![
        Series::Marks(others, places(&points)),
        Series::Line(pen, steps),
        Series::Marks(best, places(&front)),
        spots(means, &points),
        Series::Texts(numbers),
    ];
    let chart = Chart::new((800.0, 460.0), (number_axis(&costs, unit), cost), (up, "mean makespan"), series);
    let title = format!("{}: time against {cost}", means.plan);
    Ok(Picture::new(title, subtitle(means, false)).legend(legend).with(chart).notes(notes).draw())
}

/// Returns the places of these configurations, each with its cost or its value across.
fn spots(means: &Means, points: &[(f64, &MeanRow)]) -> Series {
    let spot = |(at, row): &(f64, &MeanRow)| ((*at, row.mean_s), row.configuration, described(means, row));
    Series::Spots(points.iter().map(spot).collect())
}

/// Returns the values of a configuration and its mean: `size 1 KB, placement random: 127.6 us +- 3.6 us`.
fn described(means: &Means, row: &MeanRow) -> String {
    let interval = if row.half_s > 0.0 { format!(" +- {}", time(row.half_s)) } else { String::new() };
    format!("{}: {}{interval}", means.named(row), time(row.mean_s))
}

/// Returns the values of the keys that a panel stands for.
fn panel_name(means: &Means, keys: [usize; 2], rest: &[usize]) -> String {
    let names = means.rest(keys, rest).into_iter().map(|(key, value)| format!("{key} {value}"));
    names.collect::<Vec<_>>().join(", ")
}

/// Returns the subtitle: `3 of 4 points`, and the meaning of the intervals.
fn subtitle(means: &Means, bars: bool) -> String {
    let bars = if bars { ", bars: 95 % intervals" } else { "" };
    let seeds = means_of(means.rows.iter().map(|row| row.seeds as usize));
    let bars = if seeds.starts_with("means") { bars } else { "" };
    let counts = &means.counts;
    let mut text = format!("{} configurations, {seeds}{bars}", means.rows.len());
    if means.are_estimates() {
        text += ", by estimate";
    }
    if counts.missing > 0 {
        text += &format!("; {} points are missing", counts.missing);
    }
    if counts.failed > 0 {
        text += &format!("; {} points failed", counts.failed);
    }
    text
}

/// Returns the number of seeds of the means: `means of 3 seeds`.
pub(super) fn means_of(seeds: impl Iterator<Item = usize> + Clone) -> String {
    match (seeds.clone().min().unwrap_or(0), seeds.max().unwrap_or(0)) {
        (_, 0 | 1) => "one run each".to_owned(),
        (least, most) if least == most => format!("means of {most} seeds"),
        (least, most) => format!("means of {least} to {most} seeds"),
    }
}

fn too_many(key: &VariedKey, most: usize) -> Undrawn {
    format!("`{}` has {} values, and {most} are the most that can be told apart", key.name, key.values.len())
}

/// Rows of each panel, by the values of the other keys.
type Panels<'a> = Vec<(Vec<usize>, Vec<&'a MeanRow>)>;

fn panels(means: &Means, keys: [usize; 2]) -> Result<Panels<'_>, Undrawn> {
    if means.rows.is_empty() {
        return Err(NOTHING.to_owned());
    }
    let panels: Panels<'_> = means.panels(keys).into_iter().collect();
    match panels.len() {
        count if count > MOST_PANELS => Err(format!(
            "there would be {count} charts, and {MOST_PANELS} are the most; leave points out with [[only]]"
        )),
        _ => Ok(panels),
    }
}

fn number_axis(numbers: &[f64], unit: &str) -> Axis {
    let units: &[(&str, f64)] = match unit {
        "B" => BYTES,
        "s" => SECONDS,
        "B/s" => BYTES_PER_SECOND,
        _ => &[("", 1.0)],
    };
    Axis::of(numbers.iter().copied(), 6, units)
}

fn time(seconds: f64) -> String {
    Time::from_seconds(seconds).to_string()
}

/// Formats a number with its unit.
pub fn number(value: f64, unit: &str) -> String {
    let scaled = |units: &[(&str, f64)]| {
        let (unit, factor) = units.iter().rev().find(|(_, factor)| value >= *factor).unwrap_or(&units[0]);
        format!("{} {unit}", digits(value / factor))
    };
    match unit {
        "B" => scaled(BYTES),
        "s" => time(value),
        "B/s" => scaled(BYTES_PER_SECOND),
        "" => digits(value),
        unit => format!("{} {unit}", digits(value)),
    }
}

/// Formats a number with four digits.
fn digits(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 999.95 => 0,
        v if v >= 99.995 => 1,
        v if v >= 9.9995 => 2,
        _ => 3,
    };
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

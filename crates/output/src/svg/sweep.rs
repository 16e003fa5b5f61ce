//! Sweeps: makespans over a parameter, as a field of two, and against what they cost.

use std::collections::BTreeSet;

use super::axis::{Axis, BYTES, BYTES_PER_SECOND, SECONDS};
use super::canvas::{Anchor, Canvas, GREY, INK, MARGIN, Point, fit, text_width, wrap};
use super::chart::{Chart, Mark, Pen};
use super::scale::LoadScale;
use hayase::base::Arrange;
use hayase::plan::{Crossing, MeanRow, Means, VariedKey};
use hayase::units::{Time, grouped};

/// Lines, told apart by their marks and dashes too.
const PENS: [Pen; 8] = [
    Pen::new("#2f6f8f", 1.8).marked(Mark::Disc),
    Pen::new("#b3541e", 1.8).marked(Mark::Square),
    Pen::new("#4d7c3a", 1.8).marked(Mark::Triangle),
    Pen::new("#6d4a8c", 1.8).marked(Mark::Ring),
    Pen::new("#8c7a1f", 1.8).dashed("7 3").marked(Mark::Disc),
    Pen::new("#a3252c", 1.8).dashed("7 3").marked(Mark::Square),
    Pen::new("#444b55", 1.8).dashed("2 3").marked(Mark::Triangle),
    Pen::new("#1b7a74", 1.8).dashed("2 3").marked(Mark::Ring),
];
/// Charts beside and above each other at most.
const MOST_PANELS: usize = 24;
/// Points of a line from which on they are not drawn one by one.
const DENSE: usize = 200;
/// Points of a front that are named at most.
const MOST_NAMED: usize = 20;
const NOTHING: &str = "no point has a makespan yet";
/// Charts in a row.
const COLUMNS: usize = 2;
/// Width and height of a chart.
const CHART: (f64, f64) = (440.0, 270.0);
const LEFT: f64 = 62.0;
/// Room above each chart for its name, and below it for ticks and caption.
const ABOVE: f64 = 40.0;
const BELOW: f64 = 46.0;
/// Height of a line of such a name.
const LINE: f64 = 13.0;

/// Why a picture cannot be drawn of a plan.
pub type Undrawn = String;

/// The two keys that a picture is about: the one with numbers that has most values, and of the others the one that is no
/// number, or has most values.
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

/// Draws mean makespans over a key with numbers: a line for each value of `keys[1]`, a chart for each combination of the
/// others; bars are 95 % intervals over seeds. Where lines cross is marked.
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
    let mut page = Page::new(means, keys, &panels, &subtitle(means, true));
    let lows = means.rows.iter().map(|row| (row.mean_s - row.half_s).max(row.mean_s / 2.0)).filter(|low| *low > 0.0);
    let highs = means.rows.iter().map(|row| row.mean_s + row.half_s);
    let across = number_axis(numbers, means.keys[over].unit);
    let (least, most) = (lows.fold(f64::INFINITY, f64::min), highs.fold(0.0, f64::max));
    let up = match across.is_logarithmic() && most > 3.0 * least {
        true => Axis::logarithmic(least, most, SECONDS).with_zero(means.rows.iter().map(|row| row.mean_s)),
        false => Axis::fitting(least, most, 6, SECONDS),
    };
    if several {
        page.y = legend(&mut page.canvas, &means.keys[of], page.y);
    }
    let mut columns = numbers.clone();
    columns.arrange_by(f64::total_cmp);
    columns.dedup();
    for (i, (rest, rows)) in panels.iter().enumerate() {
        let named = means.rest(keys, rest);
        let chart = page.chart(i, across.clone(), up.clone());
        // Said once in a row of charts.
        let caption = if i % COLUMNS == 0 { "mean makespan" } else { "" };
        chart.axes(&mut page.canvas, &means.keys[over].name, caption);
        for choice in 0..if several { means.keys[of].values.len() } else { 1 } {
            let own = rows.iter().filter(|row| !several || row.choice[of] == choice);
            let mut own: Vec<(f64, &MeanRow)> = own.map(|row| (numbers[row.choice[over]], *row)).collect();
            own.arrange_by(|a, b| a.0.total_cmp(&b.0));
            let pen = PENS[choice % PENS.len()];
            let bar = Pen::new(pen.colour, 1.0);
            let mut last = f64::NEG_INFINITY;
            for (at, row) in own.iter().filter(|(_, row)| row.half_s > 0.0) {
                // Where a line is known densely, its bars would be a field.
                let x = chart.at(*at, row.mean_s).x;
                if x < last + 7.0 && own.len() > DENSE {
                    continue;
                }
                last = x;
                let (low, high) = (row.mean_s - row.half_s, row.mean_s + row.half_s);
                bar.line(&mut page.canvas, chart.at(*at, low), chart.at(*at, high));
                for end in [low, high] {
                    let end = chart.at(*at, end);
                    bar.line(&mut page.canvas, end.plus(-3.0, 0.0), end.plus(3.0, 0.0));
                }
            }
            let points: Vec<Point> = own.iter().map(|(at, row)| chart.at(*at, row.mean_s)).collect();
            // A line ends where a point is left out or missing.
            let column = |point: &(f64, &MeanRow)| columns.partition_point(|number| *number < point.0);
            let mut begin = 0;
            for line in own.chunk_by(|a, b| column(b) <= column(a) + 1) {
                pen.trace(&mut page.canvas, &thinned(&points[begin..begin + line.len()]));
                begin += line.len();
            }
            // Marks of a line that is known densely would be a band.
            let mut last = f64::NEG_INFINITY;
            let apart = points.iter().copied().filter(|at| {
                let is_apart = at.x > last + 7.0;
                last = if is_apart { at.x } else { last };
                is_apart
            });
            pen.marks(&mut page.canvas, apart.collect::<Vec<_>>());
        }
        let own: Vec<&Crossing> = crossings.iter().filter(|crossing| crossing.rest == named).collect();
        for (row, crossing) in own.iter().enumerate() {
            let middle = (crossing.between[0] * crossing.between[1]).sqrt();
            let name = number(middle, means.keys[over].unit);
            chart.upright(&mut page.canvas, middle, &name, row % 2, Pen::new(INK, 1.0).dashed("4 3"));
        }
    }
    Ok(page.finish())
}

/// Draws mean makespans as a field of two keys: the darker, the longer; a field for each combination of the others.
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
    // Nothing that takes no time has a logarithm: it is the lightest.
    let positive = || means.rows.iter().map(|row| row.mean_s).filter(|mean| *mean > 0.0);
    let most = positive().fold(0.0, f64::max);
    let least = positive().fold(f64::INFINITY, f64::min).min(most);
    let part = |mean: f64| match most > least {
        true => ((mean / least).ln() / (most / least).ln()).max(0.0),
        false => 0.5,
    };
    let scale = LoadScale::up_to(1.0);
    let mut page = Page::new(means, keys, &panels, &subtitle(means, false));
    let y = page.y;
    page.canvas.text(MARGIN, y + 10.0, 11.0, Anchor::Start, "mean makespan, logarithmic", "");
    for step in 0..64 {
        let fill = format!(r#"fill="{}""#, scale.colour(f64::from(step) / 63.0));
        page.canvas.rect(MARGIN + 5.0 * f64::from(step), y + 16.0, 5.3, 12.0, &fill);
    }
    for (at, text) in [(0.0, least), (0.5, (least * most).sqrt()), (1.0, most)] {
        let anchor = [Anchor::Start, Anchor::Middle, Anchor::End][(at * 2.0) as usize];
        page.canvas.text(MARGIN + 320.0 * at, y + 42.0, 10.0, anchor, &time(text), "");
    }
    page.y += 54.0;
    // Numbers in their order, words in that of the plan.
    let order = |key: &VariedKey| -> Vec<usize> {
        let mut order: Vec<usize> = (0..key.values.len()).collect();
        if let Some(numbers) = &key.numbers {
            order.arrange_by(|&a, &b| numbers[a].total_cmp(&numbers[b]));
        }
        order
    };
    let (columns, lines) = (order(&means.keys[over]), order(&means.keys[of]));
    let names_of_lines = told_apart(&means.keys[of].values, 9.0, LEFT + 4.0);
    let (wide, high) = (CHART.0 / columns.len() as f64, CHART.1 / lines.len() as f64);
    for (i, (_, rows)) in panels.iter().enumerate() {
        let Corner { left, top } = page.corner(i);
        let label = left - 6.0;
        let best = rows.iter().map(|row| row.mean_s).fold(f64::INFINITY, f64::min);
        for row in rows {
            let column = columns.iter().position(|choice| *choice == row.choice[over]).unwrap_or(0);
            let line = lines.iter().position(|choice| *choice == row.choice[of]).unwrap_or(0);
            let (x, y) = (left + wide * column as f64, top + high * (lines.len() - 1 - line) as f64);
            let part = part(row.mean_s);
            page.canvas.rect(x, y, wide + 0.3, high + 0.3, &format!(r#"fill="{}""#, scale.colour(part)));
            let text = time(row.mean_s);
            let ink = if part > 0.55 { "#ffffff" } else { INK };
            let weight = if row.mean_s == best { r#" font-weight="bold""# } else { "" };
            if text_width(&text, 9.0) + 4.0 < wide && high > 11.0 {
                let attributes = format!(r#"fill="{ink}"{weight}"#);
                page.canvas.text(x + wide / 2.0, y + high / 2.0 + 3.0, 9.0, Anchor::Middle, &text, &attributes);
            }
        }
        // Each, or every second, third ...: as many as have room.
        let widest = means.keys[over].values.iter().map(|value| text_width(value, 9.0)).fold(0.0, f64::max);
        let every = (((widest + 4.0) / wide).ceil() as usize).max(1);
        for (column, &choice) in columns.iter().enumerate().step_by(every) {
            let (at, text) = (left + wide * (column as f64 + 0.5), &means.keys[over].values[choice]);
            page.canvas.text(at, top + CHART.1 + 12.0, 9.0, Anchor::Middle, text, "");
        }
        for (line, &choice) in lines.iter().enumerate().filter(|(line, _)| high > 9.0 || line % 2 == 0) {
            let mut name = wrap(&names_of_lines[choice], 9.0, LEFT + 4.0);
            if 10.0 * name.len() as f64 > high {
                name = vec![fit(&names_of_lines[choice], 9.0, LEFT + 4.0)];
            }
            let y =
                top + high * ((lines.len() - 1 - line) as f64 + 0.5) + 3.0 - 5.0 * name.len().saturating_sub(1) as f64;
            for (line, text) in name.iter().enumerate() {
                page.canvas.text(label, y + 10.0 * line as f64, 9.0, Anchor::End, text, "");
            }
        }
        let grey = format!(r#"fill="{GREY}""#);
        let caption = format!("{}; upwards: {}", means.keys[over].name, means.keys[of].name);
        page.canvas.text(left + CHART.0 / 2.0, top + CHART.1 + 28.0, 11.0, Anchor::Middle, &caption, &grey);
    }
    Ok(page.finish())
}

/// Draws mean makespans against a cost, a key with numbers or a figure that the plan keeps. What nothing beats in both is
/// joined and named.
///
/// # Errors
/// A cost that is not there or is no number.
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
    let times = || points.iter().map(|point| point.1.mean_s);
    let up = Axis::of(times(), 7, SECONDS);
    let width = MARGIN * 2.0 + LEFT + 820.0;
    let mut canvas = Canvas::new();
    let y = canvas.heading(&format!("{}: time against {cost}", means.plan), &subtitle(means, false), width);
    let (left, top) = (MARGIN + LEFT, y + 6.0);
    let chart = Chart { left, top, width: 800.0, height: 460.0, across: number_axis(&costs, unit), up };
    chart.axes(&mut canvas, cost, "mean makespan");
    let dot = Pen::new("#8fa7b3", 1.0).marked(Mark::Disc);
    // Dots on each other are one.
    let mut drawn = BTreeSet::new();
    let places = points.iter().map(|(cost, row)| chart.at(*cost, row.mean_s));
    dot.marks(&mut canvas, places.filter(|at| drawn.insert((at.x.round() as i64, at.y.round() as i64))));
    let mut front = points.clone();
    front.arrange_by(|a, b| a.0.total_cmp(&b.0).then(a.1.mean_s.total_cmp(&b.1.mean_s)));
    let mut least = f64::INFINITY;
    front.retain(|(_, row)| {
        row.mean_s < least && {
            least = row.mean_s;
            true
        }
    });
    let mut steps: Vec<Point> = Vec::new();
    for (cost, row) in &front {
        let at = chart.at(*cost, row.mean_s);
        if let Some(last) = steps.last().copied() {
            steps.push(Point::new(at.x, last.y));
        }
        steps.push(at);
    }
    let pen = Pen::new("#b3541e", 1.8).marked(Mark::Square);
    pen.trace(&mut canvas, &steps);
    pen.marks(&mut canvas, front.iter().map(|(cost, row)| chart.at(*cost, row.mean_s)));
    let mut below = chart.bottom() + BELOW + 12.0;
    let several: Vec<(usize, &VariedKey)> =
        means.keys.iter().enumerate().filter(|(_, key)| key.values.len() > 1).collect();
    let mut named: Option<Point> = None;
    for (i, (cost, row)) in front.iter().enumerate().take(MOST_NAMED) {
        let at = chart.at(*cost, row.mean_s);
        // A number on another one is none.
        if named.is_none_or(|last| (at.x - last.x).abs() > 14.0 || (at.y - last.y).abs() > 11.0) {
            canvas.text(at.x + 5.0, at.y - 6.0, 10.0, Anchor::Start, &(i + 1).to_string(), r#"font-weight="bold""#);
            named = Some(at);
        }
        let names: Vec<String> =
            several.iter().map(|(k, key)| format!("{} {}", key.name, means.value(row, *k))).collect();
        let own = match key {
            Some(_) => String::new(),
            None => format!("{of_what} {}, ", number(*cost, unit), of_what = means.kept[kept.unwrap_or(0)]),
        };
        let text = format!("{}: {}, {own}{}", i + 1, time(row.mean_s), names.join(", "));
        canvas.text(MARGIN, below, 11.0, Anchor::Start, &fit(&text, 11.0, width - 2.0 * MARGIN), "");
        below += 15.0;
    }
    if front.len() > MOST_NAMED {
        let text = format!("and {} more that nothing beats in both", grouped((front.len() - MOST_NAMED) as u64));
        canvas.text(MARGIN, below, 11.0, Anchor::Start, &text, "");
        below += 15.0;
    }
    let title = format!("{}: time against {cost}", means.plan);
    Ok(canvas.finish(width, below + MARGIN - 8.0, &title))
}

/// `3 of 4 points`, and what intervals are of.
fn subtitle(means: &Means, bars: bool) -> String {
    let bars = if bars { ", bars: 95 % intervals" } else { "" };
    let seeds = means.rows.iter().map(|row| row.seeds);
    let (least, most) = (seeds.clone().min().unwrap_or(0), seeds.max().unwrap_or(0));
    let seeds = match (least, most) {
        (_, 0 | 1) => "one run each".to_owned(),
        (least, most) if least == most => format!("means of {most} seeds{bars}"),
        (least, most) => format!("means of {least} to {most} seeds{bars}"),
    };
    let counts = &means.counts;
    let mut text = format!("{} configurations, {seeds}", means.rows.len());
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

fn too_many(key: &VariedKey, most: usize) -> Undrawn {
    format!("`{}` has {} values, and {most} are the most that can be told apart", key.name, key.values.len())
}

/// The rows of each picture, by the choices of the other keys.
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

/// Charts in rows of two.
struct Page {
    canvas: Canvas,
    width: f64,
    y: f64,
    /// The lines of the name of each chart, and the room for the most of them.
    names: Vec<Vec<String>>,
    above: f64,
    title: String,
}

struct Corner {
    left: f64,
    top: f64,
}

impl Page {
    fn new(means: &Means, keys: [usize; 2], panels: &Panels<'_>, subtitle: &str) -> Self {
        let name = |rest: &[usize]| -> Vec<String> {
            let names = means.rest(keys, rest).into_iter().map(|(key, value)| format!("{key} {value}"));
            wrap(&names.collect::<Vec<_>>().join(", "), 11.0, CHART.0)
        };
        let names: Vec<Vec<String>> = panels.iter().map(|(rest, _)| name(rest)).collect();
        let most = names.iter().map(Vec::len).max().unwrap_or(0);
        let above = ABOVE + LINE * most.saturating_sub(1) as f64;
        let columns = panels.len().clamp(1, COLUMNS);
        let width = MARGIN * 2.0 + (LEFT + CHART.0 + 24.0) * columns as f64;
        let mut canvas = Canvas::new();
        let y = canvas.heading(&means.plan, subtitle, width);
        Self { canvas, width, y, names, above, title: means.plan.clone() }
    }

    /// Where the chart of this number has its upper left corner; its name is drawn above.
    fn corner(&mut self, i: usize) -> Corner {
        let (row, column) = (i / COLUMNS, i % COLUMNS);
        let left = MARGIN + LEFT + (LEFT + CHART.0 + 24.0) * column as f64;
        let top = self.y + self.above + (self.above + CHART.1 + BELOW) * row as f64;
        for (line, text) in self.names[i].iter().rev().enumerate() {
            let y = top - 28.0 - LINE * line as f64;
            self.canvas.text(left, y, 11.0, Anchor::Start, text, r#"font-weight="bold""#);
        }
        Corner { left, top }
    }

    fn chart(&mut self, i: usize, across: Axis, up: Axis) -> Chart {
        let Corner { left, top } = self.corner(i);
        Chart { left, top, width: CHART.0, height: CHART.1, across, up }
    }

    fn finish(self) -> String {
        let rows = self.names.len().div_ceil(COLUMNS);
        let height = self.y + (self.above + CHART.1 + BELOW) * rows as f64 + MARGIN;
        self.canvas.finish(self.width, height, &self.title)
    }
}

/// What the lines are; where the charts may begin.
fn legend(canvas: &mut Canvas, key: &VariedKey, y: f64) -> f64 {
    canvas.text(MARGIN, y + 4.0, 11.0, Anchor::Start, &key.name, &format!(r#"fill="{GREY}""#));
    let mut y = y + 20.0;
    for (value, pen) in key.values.iter().zip(PENS) {
        pen.key(canvas, MARGIN, y, &fit(value, 11.0, 400.0));
        y += 16.0;
    }
    y
}

/// Returns names without the words that all of them begin with, where they have no room.
fn told_apart(names: &[String], size: f64, room: f64) -> Vec<String> {
    let common = names.iter().skip(1).fold(names.first().map_or("", String::as_str), |common, name| {
        let same = common.char_indices().zip(name.chars()).find(|((_, a), b)| a != b);
        let end = same.map_or(common.len().min(name.len()), |((at, _), _)| at);
        &common[..end]
    });
    let words = common.trim_end_matches(char::is_alphanumeric).len();
    if names.len() < 2 || words == 0 || names.iter().all(|name| text_width(name, size) <= room) {
        return names.to_vec();
    }
    names.iter().map(|name| format!("..{}", &name[words..])).collect()
}

/// A line of very many points as it looks: within half a pixel the first, the highest, the lowest and the last.
fn thinned(points: &[Point]) -> Vec<Point> {
    if points.len() <= DENSE * 10 {
        return points.to_vec();
    }
    let mut kept = Vec::new();
    for column in points.chunk_by(|a, b| (a.x * 2.0).floor() == (b.x * 2.0).floor()) {
        let by_height = |a: &&Point, b: &&Point| a.y.total_cmp(&b.y);
        let ends = [column.first(), column.iter().min_by(by_height), column.iter().max_by(by_height), column.last()];
        kept.extend(ends.into_iter().flatten().copied());
    }
    kept
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

/// A number with its unit, for people.
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

/// With four digits.
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

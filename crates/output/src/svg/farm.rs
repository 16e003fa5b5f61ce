//! Master/slave programs: time and efficiency over the number of workers, and what each worker did when.

use super::axis::{Axis, SECONDS};
use super::canvas::{Anchor, Canvas, FAINT, GREY, INK, MARGIN, Point, fit, text_width};
use super::chart::{Chart, Mark, Pen};
use super::scale::percent;
use crate::table::count;
use hayase::base::Arrange;
use hayase::farm::Turn;
use hayase::report::{FarmReport, Prediction};

const LEFT: f64 = 64.0;
const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 300.0;
/// Parts of the time.
const PERCENT: &[(&str, f64)] = &[("%", 0.01)];
/// Room below a chart for ticks and caption.
const BELOW: f64 = 44.0;

/// Series: told apart by the form of their marks too.
const SERIES: [Pen; 6] = [
    Pen::new("#2f6f8f", 2.0).marked(Mark::Disc),
    Pen::new("#b3541e", 2.0).marked(Mark::Square),
    Pen::new("#4d7c3a", 2.0).marked(Mark::Triangle),
    Pen::new("#6d4a8c", 2.0).marked(Mark::Disc),
    Pen::new("#8c7a1f", 2.0).marked(Mark::Square),
    Pen::new("#444b55", 2.0).marked(Mark::Triangle),
];
/// What is drawn of a prediction.
type Value = fn(&Prediction) -> f64;
/// Bounds: what each says.
const BOUNDS: [(&str, Pen, Value); 4] = [
    ("bound: workers", Pen::new(GREY, 1.3).dashed("8 3"), |row| row.bounds.work_s.max(row.bounds.exchange_s)),
    ("bound: master", Pen::new(GREY, 1.3).dashed("2 3"), |row| row.bounds.master_s),
    ("bound: longest task", Pen::new(GREY, 1.3).dashed("1 5"), |row| row.bounds.longest_s),
    ("bound: network", Pen::new(GREY, 1.3).dashed("8 3 2 3"), |row| row.bounds.network_s.unwrap_or(0.0)),
];
/// How the time of the master is told from that of the workers.
const MASTER: &str = "3 3";

/// Draws time and efficiency of predictions over the number of workers, or over what is varied with one number of them.
pub fn farm(report: &FarmReport) -> String {
    let rows = &report.predictions;
    let width = MARGIN * 2.0 + LEFT + WIDTH + 170.0;
    let mut canvas = Canvas::new();
    let subtitle = format!(
        "{}; {}, work {}",
        report.setting,
        count(report.task_count, "task", "tasks"),
        hayase::units::Time::from_seconds(report.work_s)
    );
    let y = canvas.heading(&report.tasks, &subtitle, width);
    let by_value = report.varied.is_some() && rows.iter().all(|row| row.workers == rows[0].workers);
    let (x_caption, places) = positions(report, by_value);
    let names: Vec<Option<String>> = if by_value {
        vec![None]
    } else {
        let mut names: Vec<Option<String>> = rows.iter().map(|row| row.value.clone()).collect();
        names.dedup();
        names
    };
    let left = MARGIN + LEFT;
    let longest = rows.iter().map(|row| row.time_s).fold(0.0, f64::max);
    let shortest = rows.iter().map(|row| row.time_s).fold(f64::INFINITY, f64::min);
    let time = Axis::fitting(shortest, longest, 6, SECONDS);
    let chart = |top: f64, up: Axis| Chart {
        left,
        top,
        width: WIDTH,
        height: HEIGHT,
        across: Axis::of_places(places.clone()),
        up,
    };
    let times = chart(y + Chart::room_above(1), time);
    times.axes(&mut canvas, &x_caption, "predicted time");
    let series = |name: &Option<String>| -> Vec<usize> {
        (0..rows.len()).filter(|&i| by_value || rows[i].value == *name).collect()
    };
    // The least of all series: what none of them can beat.
    for (_, pen, value) in BOUNDS {
        let mut points: Vec<(f64, f64)> = Vec::new();
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.arrange_by(|&a, &b| places[a].0.total_cmp(&places[b].0));
        for i in order {
            let bound = value(&rows[i]);
            match points.last_mut() {
                Some((place, least)) if *place == places[i].0 => *least = least.min(bound),
                _ => points.push((places[i].0, bound)),
            }
        }
        points.retain(|point| point.1 > 0.0);
        pen.trace(&mut canvas, &points.into_iter().map(|(place, bound)| times.at(place, bound)).collect::<Vec<_>>());
    }
    let saturated = report.saturation_workers.filter(|_| !by_value);
    if let Some(i) = saturated.and_then(|workers| rows.iter().position(|row| row.workers == workers)) {
        let name = format!("saturated from {} workers on", rows[i].workers);
        times.upright(&mut canvas, places[i].0, &name, 0, Pen::new(INK, 1.0).dashed("4 3"));
    }
    let second = times.bottom() + BELOW + 22.0;
    let parts = chart(second, Axis::new(1.0, 5, PERCENT));
    parts.axes(&mut canvas, &x_caption, "part of the time");
    for (name, pen) in names.iter().zip(SERIES.iter().cycle()) {
        let of = series(name);
        let points = |chart: &Chart, value: Value| -> Vec<Point> {
            of.iter().map(|&i| chart.at(places[i].0, value(&rows[i]))).collect()
        };
        pen.curve(&mut canvas, &points(&times, |row| row.time_s));
        pen.curve(&mut canvas, &points(&parts, |row| row.efficiency));
        let master = Pen::new(pen.colour, 1.6).dashed(MASTER);
        master.trace(&mut canvas, &points(&parts, |row| row.master_utilisation));
    }
    let right = times.right() + 18.0;
    legend(&mut canvas, right, times.top + 10.0, &names, report);
    Pen::new(INK, 1.6).key(&mut canvas, right, second + 10.0, "efficiency");
    Pen::new(INK, 1.6).dashed(MASTER).key(&mut canvas, right, second + 28.0, "master busy");
    canvas.finish(width, second + HEIGHT + BELOW + MARGIN, &report.tasks)
}

/// Where each prediction stands along the axis, from 0 to 1, and its label.
fn positions(report: &FarmReport, by_value: bool) -> (String, Vec<(f64, String)>) {
    let rows = &report.predictions;
    if by_value {
        // Values of what is varied stand side by side, whatever they are.
        let step = |i: usize| (i as f64 + 0.5) / rows.len().max(1) as f64;
        let label = |i: usize| rows[i].value.clone().unwrap_or_default();
        let caption = report.varied.clone().unwrap_or_default();
        return (caption, (0..rows.len()).map(|i| (step(i), label(i))).collect());
    }
    let most = f64::from(rows.iter().map(|row| row.workers).max().unwrap_or(1).max(1));
    let place = |row: &Prediction| (f64::from(row.workers) / most, row.workers.to_string());
    ("workers".to_owned(), rows.iter().map(place).collect())
}

fn legend(canvas: &mut Canvas, x: f64, y: f64, names: &[Option<String>], report: &FarmReport) {
    let mut y = y;
    for (name, pen) in names.iter().zip(SERIES.iter().cycle()) {
        let text = match (report.varied.as_deref(), name) {
            (Some(varied), Some(name)) => format!("{varied} {name}"),
            _ => "predicted time".to_owned(),
        };
        pen.key(canvas, x, y, &fit(&text, 11.0, 125.0));
        y += 18.0;
    }
    let is_drawn = |value: &Value| report.predictions.iter().any(|row| value(row) > 0.0);
    for (text, pen, _) in BOUNDS.iter().filter(|(_, _, value)| is_drawn(value)) {
        pen.key(canvas, x, y, text);
        y += 18.0;
    }
}

/// Most workers and turns of a Gantt picture.
const MOST_WORKERS: usize = 64;
const MOST_TURNS: usize = 4000;
const TONES: [&str; 2] = ["#2f6f8f", "#5b9ab8"];

/// Draws what each worker computed when; what a lost worker did not finish is hatched out.
///
/// Up to 64 workers and 4,000 messages; of a larger run the first, which the picture says.
pub fn gantt(turns: &[Turn], workers: usize, time_s: f64, title: &str) -> String {
    let width = MARGIN * 2.0 + LEFT + 1080.0 + 20.0;
    let (left, chart) = (MARGIN + LEFT, 1080.0);
    let mut canvas = Canvas::new();
    let busy: f64 = turns.iter().map(|turn| (turn.end - turn.start).seconds()).sum();
    let part = if time_s > 0.0 { busy / (time_s * workers.max(1) as f64) } else { 0.0 };
    let subtitle = format!(
        "{} with tasks to {}, which compute {} of the time",
        count(turns.len() as u64, "message", "messages"),
        count(workers as u64, "worker", "workers"),
        percent(part)
    );
    let y = canvas.heading(title, &subtitle, width);
    let shown = workers.min(MOST_WORKERS);
    let mut drawn: Vec<&Turn> = turns.iter().filter(|turn| (turn.worker as usize) < shown).collect();
    drawn.arrange_by(|a, b| a.given.cmp(&b.given).then(a.worker.cmp(&b.worker)));
    let mut remarks = Vec::new();
    if shown < workers {
        remarks.push(format!("Only the first {shown} of {workers} workers are drawn."));
    }
    let mut end = time_s;
    if drawn.len() > MOST_TURNS {
        end = drawn[MOST_TURNS].given.seconds();
        drawn.truncate(MOST_TURNS);
        remarks.push(format!("Only the first {MOST_TURNS} messages of them are drawn."));
    }
    let y = canvas.remarks(&remarks, y - 10.0, width) + 14.0;
    let axis = Axis::new(end, 10, SECONDS);
    let row = (760.0 / shown.max(1) as f64).clamp(11.0, 34.0);
    let bottom = y + row * shown as f64;
    axis.draw(&mut canvas, left, chart, y, bottom, "simulated time");
    let x = |time: f64| left + chart * (time / axis.end).clamp(0.0, 1.0);
    for worker in 0..shown {
        let top = y + row * worker as f64;
        canvas.text(left - 8.0, top + row / 2.0 + 3.5, 10.0, Anchor::End, &format!("worker {worker}"), "");
        canvas.line(Point::new(left, top), Point::new(left + chart, top), &format!(r#"stroke="{FAINT}""#));
    }
    let mut seen = vec![0usize; shown];
    for turn in drawn {
        let worker = turn.worker as usize;
        let top = y + row * worker as f64 + 1.5;
        let high = row - 3.0;
        // From when the master sends to when the result is back: a thin line; the computation: a bar.
        let back = if turn.back.is_finite() { turn.back } else { turn.end };
        let middle = top + high / 2.0;
        let (from, to) = (x(turn.given.seconds()), x(back.seconds()));
        canvas.line(
            Point::new(from, middle),
            Point::new(to, middle),
            &format!(r#"stroke="{GREY}" stroke-width="0.8""#),
        );
        let (from, to) = (x(turn.start.seconds()), x(turn.end.seconds()));
        let tone = TONES[seen[worker] % 2];
        seen[worker] += 1;
        let style = if turn.back.is_finite() {
            format!(r#"fill="{tone}""#)
        } else {
            r##"fill="#ffffff" stroke="#a3252c" stroke-width="1.2" stroke-dasharray="3 2""##.to_owned()
        };
        canvas.rect(from, top, (to - from).max(0.4), high, &style);
        let label = if turn.tasks == 1 { turn.first.to_string() } else { format!("{} x{}", turn.first, turn.tasks) };
        let size = (high * 0.7).min(9.0);
        if size >= 6.5 && text_width(&label, size) + 3.0 < to - from {
            let ink = if turn.back.is_finite() && tone == TONES[0] { "#ffffff" } else { INK };
            let centre = (from + to) / 2.0;
            canvas.text(centre, middle + size * 0.36, size, Anchor::Middle, &label, &format!(r#"fill="{ink}""#));
        }
    }
    if time_s > 0.0 && time_s <= axis.end {
        let at = x(time_s);
        canvas.line(
            Point::new(at, y - 6.0),
            Point::new(at, bottom),
            &format!(r#"stroke="{INK}" stroke-dasharray="5 3""#),
        );
        let anchor = if at > left + chart * 0.85 { Anchor::End } else { Anchor::Start };
        let text = format!("predicted time {}", hayase::units::Time::from_seconds(time_s));
        canvas.text(at, y - 9.0, 10.0, anchor, &text, "");
    }
    let legend = "bars: computing (numbers: first task, how many); lines: from the master's message to the result's arrival; \
                  dashed: lost with its worker";
    canvas.text(MARGIN, bottom + 48.0, 11.0, Anchor::Start, legend, &format!(r#"fill="{GREY}""#));
    canvas.finish(width, bottom + 48.0 + MARGIN, title)
}

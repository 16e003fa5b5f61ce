//! Master/slave programs: time and efficiency over the number of workers, and what each worker did when.

use super::axis::{Axis, SECONDS};
use super::canvas::{Anchor, Canvas, FAINT, GREY, INK, MARGIN, Point, fit, text_width};
use super::scale::percent;
use crate::table::count;
use hayase::report::{FarmReport, Prediction};
use hayase::workload::farm::Turn;

const LEFT: f64 = 64.0;
const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 300.0;
/// Parts of the time.
const PERCENT: &[(&str, f64)] = &[("%", 1.0)];
/// Room below a chart for ticks and caption.
const BELOW: f64 = 44.0;

/// Colours and marks of series: told apart by the form of the mark too.
const COLOURS: [&str; 6] = ["#2f6f8f", "#b3541e", "#4d7c3a", "#6d4a8c", "#8c7a1f", "#444b55"];

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
    let top = y + 6.0;
    time.draw_left(&mut canvas, left, WIDTH, top, top + HEIGHT, "predicted time");
    x_axis(&mut canvas, left, top, &places, &x_caption);
    let at = |row: usize| left + WIDTH * places[row].0;
    let series = |name: &Option<String>| -> Vec<usize> {
        (0..rows.len()).filter(|&i| by_value || rows[i].value == *name).collect()
    };
    type Value = fn(&Prediction) -> f64;
    let curves: [(Value, &str); 3] = [
        (|row| row.bounds.work_s.max(row.bounds.exchange_s), "8 3"),
        (|row| row.bounds.master_s, "2 3"),
        (|row| row.bounds.longest_s, "1 5"),
    ];
    let height = |value: f64| top + HEIGHT * (1.0 - time.place(value));
    // The least of all series: what none of them can beat.
    for (value, dash) in curves {
        let mut points: Vec<(f64, f64)> = Vec::new();
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by(|&a, &b| places[a].0.total_cmp(&places[b].0));
        for i in order {
            let bound = value(&rows[i]);
            match points.last_mut() {
                Some((x, least)) if *x == at(i) => *least = least.min(bound),
                _ => points.push((at(i), bound)),
            }
        }
        let points: Vec<Point> =
            points.into_iter().filter(|(_, y)| *y > 0.0).map(|(x, y)| Point::new(x, height(y))).collect();
        canvas
            .polyline(&points, &format!(r#"fill="none" stroke="{GREY}" stroke-width="1.3" stroke-dasharray="{dash}""#));
    }
    let saturated = report.saturation_workers.filter(|_| !by_value);
    if let Some(i) = saturated.and_then(|workers| rows.iter().position(|row| row.workers == workers)) {
        let x = at(i);
        canvas.line(
            Point::new(x, top),
            Point::new(x, top + HEIGHT),
            &format!(r#"stroke="{INK}" stroke-dasharray="4 3""#),
        );
        let anchor = if x > left + WIDTH * 0.7 { Anchor::End } else { Anchor::Start };
        let shift = if anchor == Anchor::End { -5.0 } else { 5.0 };
        canvas.text(x + shift, top + 12.0, 11.0, anchor, &format!("saturated from {} workers on", rows[i].workers), "");
    }
    for (n, name) in names.iter().enumerate() {
        let points: Vec<Point> = series(name).into_iter().map(|i| Point::new(at(i), height(rows[i].time_s))).collect();
        curve(&mut canvas, &points, n);
    }
    legend(&mut canvas, left + WIDTH + 18.0, top + 10.0, &names, report.varied.as_deref());
    let second = top + HEIGHT + BELOW + 22.0;
    Axis::new(100.0, 5, PERCENT).draw_left(&mut canvas, left, WIDTH, second, second + HEIGHT, "part of the time");
    x_axis(&mut canvas, left, second, &places, &x_caption);
    let parts: [(Value, &str, &str); 2] =
        [(|row| row.efficiency, "", "efficiency"), (|row| row.master_utilisation, "3 3", "master busy")];
    for (n, name) in names.iter().enumerate() {
        for (value, dash, _) in parts {
            let points: Vec<Point> = series(name)
                .into_iter()
                .map(|i| Point::new(at(i), second + HEIGHT * (1.0 - value(&rows[i]).clamp(0.0, 1.0))))
                .collect();
            if dash.is_empty() {
                curve(&mut canvas, &points, n);
            } else {
                let colour = COLOURS[n % COLOURS.len()];
                let style = format!(r#"fill="none" stroke="{colour}" stroke-width="1.6" stroke-dasharray="{dash}""#);
                canvas.polyline(&points, &style);
            }
        }
    }
    for (i, (_, dash, text)) in parts.into_iter().enumerate() {
        let (x, y) = (left + WIDTH + 18.0, second + 10.0 + 18.0 * i as f64);
        let style = format!(r#"stroke="{INK}" stroke-width="1.6" stroke-dasharray="{dash}""#);
        canvas.line(Point::new(x, y - 4.0), Point::new(x + 24.0, y - 4.0), &style);
        canvas.text(x + 30.0, y, 11.0, Anchor::Start, text, "");
    }
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

/// The horizontal axis; labels that would touch are left out.
fn x_axis(canvas: &mut Canvas, left: f64, top: f64, places: &[(f64, String)], caption: &str) {
    let y = top + HEIGHT;
    canvas.line(Point::new(left, y), Point::new(left + WIDTH, y), &format!(r#"stroke="{INK}""#));
    let mut sorted: Vec<&(f64, String)> = places.iter().collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    sorted.dedup_by(|a, b| a.1 == b.1);
    let mut free = f64::NEG_INFINITY;
    for (place, label) in sorted {
        let x = left + WIDTH * place;
        let half = text_width(label, 10.0) / 2.0;
        if x - half < free {
            continue;
        }
        canvas.line(Point::new(x, y), Point::new(x, y + 4.0), &format!(r#"stroke="{INK}""#));
        canvas.text(x, y + 15.0, 10.0, Anchor::Middle, label, "");
        free = x + half + 4.0;
    }
    canvas.text(left + WIDTH / 2.0, y + 31.0, 11.0, Anchor::Middle, caption, "");
}

/// A line with a mark at each point.
fn curve(canvas: &mut Canvas, points: &[Point], n: usize) {
    let colour = COLOURS[n % COLOURS.len()];
    canvas.polyline(points, &format!(r#"fill="none" stroke="{colour}" stroke-width="2""#));
    for &point in points {
        mark(canvas, point, n);
    }
}

fn mark(canvas: &mut Canvas, point: Point, n: usize) {
    let colour = COLOURS[n % COLOURS.len()];
    let fill = format!(r#"fill="{colour}""#);
    match n % 3 {
        0 => canvas.circle(point, 3.2, &fill),
        1 => canvas.rect(point.x - 3.0, point.y - 3.0, 6.0, 6.0, &fill),
        _ => canvas.polygon(&[point.plus(0.0, -4.2), point.plus(4.0, 3.2), point.plus(-4.0, 3.2)], &fill),
    }
}

fn legend(canvas: &mut Canvas, x: f64, y: f64, names: &[Option<String>], varied: Option<&str>) {
    let mut y = y;
    for (n, name) in names.iter().enumerate() {
        let text = match (varied, name) {
            (Some(varied), Some(name)) => format!("{varied} {name}"),
            _ => "predicted time".to_owned(),
        };
        mark(canvas, Point::new(x + 12.0, y - 4.0), n);
        canvas.text(x + 30.0, y, 11.0, Anchor::Start, &fit(&text, 11.0, 130.0), "");
        y += 18.0;
    }
    for (text, dash) in [("bound: workers", "8 3"), ("bound: master", "2 3"), ("bound: longest task", "1 5")] {
        let style = format!(r#"stroke="{GREY}" stroke-width="1.3" stroke-dasharray="{dash}""#);
        canvas.line(Point::new(x, y - 4.0), Point::new(x + 24.0, y - 4.0), &style);
        canvas.text(x + 30.0, y, 11.0, Anchor::Start, text, "");
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
    drawn.sort_by(|a, b| a.given.cmp(&b.given).then(a.worker.cmp(&b.worker)));
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

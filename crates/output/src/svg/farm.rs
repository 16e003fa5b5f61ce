//! Master/slave programs: time and efficiency over the number of workers, and the tasks of each worker over
//! time.

use super::axis::{Axis, SECONDS};
use super::canvas::{GREY, INK};
use super::chart::{Chart, Series};
use super::lanes::{Lane, Lanes, Span};
use super::picture::Picture;
use super::scale::percent;
use super::sign::{Fill, Pen, Sign, pen};
use crate::table::{count, seconds};
use hayase::base::Arrange;
use hayase::farm::Turn;
use hayase::report::{FarmReport, Prediction};

const INSIDE: (f64, f64) = (760.0, 300.0);
/// Units of fractions of the time.
const PERCENT: &[(&str, f64)] = &[("%", 0.01)];

/// Figure of a prediction that is drawn.
type Value = fn(&Prediction) -> f64;
/// Name, pen and value of each bound.
const BOUNDS: [(&str, Pen, Value); 4] = [
    ("bound: workers", Pen::new(GREY, 1.3).dashed("8 3"), |row| row.bounds.work_s.max(row.bounds.exchange_s)),
    ("bound: master", Pen::new(GREY, 1.3).dashed("2 3"), |row| row.bounds.master_s),
    ("bound: longest task", Pen::new(GREY, 1.3).dashed("1 5"), |row| row.bounds.longest_s),
    ("bound: network", Pen::new(GREY, 1.3).dashed("8 3 2 3"), |row| row.bounds.network_s.unwrap_or(0.0)),
];
/// Dashes of the time of the master, to tell it from that of the workers.
const MASTER: &str = "3 3";

/// Draws time and efficiency of predictions over the number of workers; with a single number of workers, over
/// the varied parameter.
pub fn farm(report: &FarmReport) -> String {
    let rows = &report.predictions;
    let subtitle =
        format!("{}; {}, work {}", report.setting, count(report.task_count, "task", "tasks"), seconds(report.work_s));
    let by_value = report.varied.is_some() && rows.iter().all(|row| row.workers == rows[0].workers);
    let (across, places) = positions(report, by_value);
    let mut names: Vec<Option<String>> =
        if by_value { vec![None] } else { rows.iter().map(|row| row.value.clone()).collect() };
    names.dedup();
    let (mut times, mut parts, mut legend) = (Vec::new(), Vec::new(), Vec::new());
    for (name, pen) in names.iter().zip((0..).map(pen)) {
        let points = |value: Value| -> Vec<(f64, f64)> {
            let own = (0..rows.len()).filter(|&i| by_value || rows[i].value == *name);
            own.map(|i| (places[i].0, value(&rows[i]))).collect()
        };
        times.push(Series::Line(pen, points(|row| row.time_s)));
        parts.push(Series::Line(pen, points(|row| row.efficiency)));
        parts.push(Series::Line(Pen::new(pen.colour, 1.6).dashed(MASTER), points(|row| row.master_utilisation)));
        let text = match (report.varied.as_deref(), name) {
            (Some(varied), Some(name)) => format!("{varied} {name}"),
            _ => "predicted time".to_owned(),
        };
        legend.push((Sign::Line(pen), text));
    }
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.arrange_by(|&a, &b| places[a].0.total_cmp(&places[b].0));
    // The smallest bound of all series, which none of them can beat.
    for (name, pen, value) in BOUNDS {
        let mut points: Vec<(f64, f64)> = Vec::new();
        for &i in &order {
            let bound = value(&rows[i]);
            match points.last_mut() {
                Some((place, least)) if *place == places[i].0 => *least = least.min(bound),
                _ => points.push((places[i].0, bound)),
            }
        }
        points.retain(|point| point.1 > 0.0);
        if !points.is_empty() {
            legend.push((Sign::Line(pen), name.to_owned()));
            times.push(Series::Line(pen, points));
        }
    }
    legend.push((Sign::Line(Pen::new(INK, 1.6)), "efficiency (below)".to_owned()));
    legend.push((Sign::Line(Pen::new(INK, 1.6).dashed(MASTER)), "master busy".to_owned()));
    let saturated = report.saturation_workers.filter(|_| !by_value);
    let saturated = saturated.and_then(|workers| rows.iter().position(|row| row.workers == workers));
    let uprights = saturated.map(|i| {
        let name = format!("saturated from {} workers on", rows[i].workers);
        (places[i].0, name, Pen::new(INK, 1.0).dashed("4 3"))
    });
    let longest = rows.iter().map(|row| row.time_s).fold(0.0, f64::max);
    let shortest = rows.iter().map(|row| row.time_s).fold(f64::INFINITY, f64::min);
    let chart = |up: Axis, name: &str, series: Vec<Series>| {
        Chart::new(INSIDE, (Axis::of_places(places.clone()), &across), (up, name), series)
    };
    let bounds = rows.iter().flat_map(|row| BOUNDS.map(|(.., value)| value(row))).filter(|&bound| bound > 0.0);
    let axis = Axis::fitting(shortest, longest, 6, SECONDS).reaching(bounds, SECONDS);
    let times = chart(axis, "predicted time", times);
    Picture::new(&report.tasks, subtitle)
        .legend(legend)
        .with(Chart { uprights: uprights.into_iter().collect(), ..times })
        .with(chart(Axis::new(1.0, 5, PERCENT), "part of the time", parts))
        .draw()
}

/// Returns the place of each prediction along the axis, from 0 to 1, with its label, and the caption of the
/// axis.
fn positions(report: &FarmReport, by_value: bool) -> (String, Vec<(f64, String)>) {
    let rows = &report.predictions;
    if by_value {
        // Values of the varied parameter stand side by side, regardless of their size.
        let step = |i: usize| (i as f64 + 0.5) / rows.len().max(1) as f64;
        let label = |i: usize| rows[i].value.clone().unwrap_or_default();
        let caption = report.varied.clone().unwrap_or_default();
        return (caption, (0..rows.len()).map(|i| (step(i), label(i))).collect());
    }
    let most = f64::from(rows.iter().map(|row| row.workers).max().unwrap_or(1).max(1));
    let place = |row: &Prediction| (f64::from(row.workers) / most, row.workers.to_string());
    ("workers".to_owned(), rows.iter().map(place).collect())
}

/// Largest numbers of workers and of turns in a Gantt chart.
const MOST_WORKERS: usize = 64;
const MOST_TURNS: usize = 4000;
const TONES: [Fill; 2] = [Fill("#2f6f8f", ""), Fill("#5b9ab8", "")];
/// Fill of computation that a lost worker did not finish.
const LOST: Fill = Fill("#ffffff", r##"stroke="#a3252c" stroke-width="1.2" stroke-dasharray="3 2""##);
/// Pen of the time from the master's message to the result's arrival.
const EXCHANGE: Pen = Pen::new(GREY, 0.8);

/// Draws the computation of each worker over time. Computation that a lost worker did not finish has a dashed
/// edge.
///
/// A larger run is cut to the first 64 workers and 4,000 messages, with a remark.
pub fn gantt(turns: &[Turn], workers: usize, time_s: f64, title: &str) -> String {
    let busy: f64 = turns.iter().map(|turn| (turn.end - turn.start).seconds()).sum();
    let part = if time_s > 0.0 { busy / (time_s * workers.max(1) as f64) } else { 0.0 };
    let subtitle = format!(
        "{} with tasks to {}, which compute {} of the time",
        count(turns.len() as u64, "message", "messages"),
        count(workers as u64, "worker", "workers"),
        percent(part)
    );
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
    let axis = Axis::new(end, 10, SECONDS);
    let height = (760.0 / shown.max(1) as f64).clamp(11.0, 34.0);
    let lane = |worker: usize| Lane { name: format!("worker {worker}"), height, ..Lane::default() };
    let mut lanes: Vec<Lane> = (0..shown).map(lane).collect();
    for turn in drawn {
        let spans = &mut lanes[turn.worker as usize].spans;
        let is_lost = !turn.back.is_finite();
        let back = if is_lost { turn.end } else { turn.back };
        // The exchange, from the master's send to the arrival of the result, is a thin line; the computation is a bar.
        spans.push(Span::new(turn.given.seconds(), back.seconds(), Sign::Line(EXCHANGE)));
        let fill = if is_lost { LOST } else { TONES[spans.len() / 2 % 2] };
        let text = if turn.tasks == 1 { turn.first.to_string() } else { format!("{} x{}", turn.first, turn.tasks) };
        spans.push(Span { text, ..Span::bar(turn.start.seconds(), turn.end.seconds(), fill, (0.0, 1.0)) });
    }
    let makespan = (time_s > 0.0 && time_s <= axis.end)
        .then(|| (time_s, format!("predicted time {}", seconds(time_s)), Pen::new(INK, 1.0).dashed("5 3")));
    let legend = [
        (Sign::Box(TONES[0], 0.0, 1.0), "computing (numbers: first task, how many)"),
        (Sign::Line(EXCHANGE), "from the master's message to the result's arrival"),
        (Sign::Box(LOST, 0.0, 1.0), "lost with its worker"),
    ];
    let lanes = Lanes::new(axis, "simulated time", 1080.0, lanes);
    Picture::new(title, subtitle)
        .legend(legend)
        .remarks(remarks)
        .with(Lanes { is_ruled: true, uprights: makespan.into_iter().collect(), ..lanes })
        .draw()
}

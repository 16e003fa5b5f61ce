//! Tables of predictions of master/slave programs.

use std::fmt::Write;

use super::figures::{count, fixed, grouped, seconds};
use super::{Answer, Grid, printable};
use crate::columns;
use hayase::columns::Columns;
use hayase::report::{FarmReport, IntervalPrediction, PlanReport, Prediction};

/// Returns the predictions and their limits.
pub fn farm(report: &FarmReport) -> Answer {
    let mut text = Answer::new();
    let _ = writeln!(text, "{}\n{}", printable(&report.tasks), printable(&report.setting));
    let _ = writeln!(
        text,
        "{}, work {}, longest {}\n",
        count(report.task_count, "task", "tasks"),
        seconds(report.work_s),
        seconds(report.longest_task_s)
    );
    text.table(grid(report));
    if !report.complete {
        text.push_str("\nINTERRUPTED: predictions are missing.\n");
    }
    for line in remarks(report) {
        let _ = write!(text, "\n{line}");
    }
    for (name, value) in report.head.noise.iter().flat_map(|noise| super::noise::lines(noise)) {
        let _ = write!(text, "\n{name:<14}{value}");
    }
    text.push_str("\n");
    text
}

fn grid(report: &FarmReport) -> Grid {
    let any = |has: fn(&Prediction) -> bool| report.predictions.iter().any(has);
    let mut shown: Vec<(&str, &str)> = report.varied.iter().map(|varied| (varied.as_str(), "")).collect();
    shown.extend([
        ("workers", ""),
        ("time", ""),
        ("efficiency", ""),
        ("master_utilisation", "master busy"),
        ("worker_utilisation", "workers busy"),
        ("waiting_mean", "waiting, mean"),
        ("waiting_max", "most"),
        ("imbalance", ""),
        ("bound", ""),
        ("by", ""),
    ]);
    if any(|row| row.repeated > 0 || row.undone > 0) {
        shown.extend([("repeated", "sent again"), ("undone", "")]);
    }
    if any(|row| row.seeds.is_some()) {
        shown.extend([("mean", ""), ("sd", "")]);
    }
    let columns = columns::predictions(report).text("by", |row| row.bounds.limit()).only(&shown);
    Grid::of(&columns, &report.predictions).keys(1 + usize::from(report.varied.is_some()))
}

/// Returns the findings as sentences.
fn remarks(report: &FarmReport) -> Vec<String> {
    let mut lines = Vec::new();
    let rows = &report.predictions;
    let best = rows.iter().min_by(|a, b| a.time_s.total_cmp(&b.time_s));
    if let (Some(best), true) = (best, rows.len() > 1) {
        let value = match (&report.varied, &best.value) {
            (Some(varied), Some(value)) => format!(", {varied} {value}"),
            _ => String::new(),
        };
        lines.push(format!("fastest: {} with {}{value}", seconds(best.time_s), of_workers(best.workers)));
    }
    let tried = |row: &Prediction| rows.first().is_some_and(|first| first.workers != row.workers);
    match report.saturation_workers {
        Some(workers) => {
            let of = match (&report.varied, rows.first().and_then(|row| row.value.as_ref())) {
                (Some(varied), Some(value)) => format!(" ({varied} {value})"),
                _ => String::new(),
            };
            lines.push(format!("saturation{of}: from {} on more gain less than 1 %", of_workers(workers)));
        }
        None if rows.iter().any(tried) && report.complete => {
            lines.push("saturation: not reached; the largest number of workers still gains".to_owned());
        }
        None => {}
    }
    if let Some(workers) = report.master_busy_workers {
        lines.push(format!("the master is busy for 99 % of the time or more from {} on", of_workers(workers)));
    }
    if let Some(workers) = report.master_bound_workers {
        lines.push(format!(
            "estimate in closed form: {workers} equal workers keep the master busy, but for start and end"
        ));
    }
    lines
}

/// Formats a number of workers: `16 workers`.
fn of_workers(workers: u32) -> String {
    count(workers.into(), "worker", "workers")
}

/// Returns the precision of a prediction and the tasks to execute next.
pub fn plan(report: &PlanReport) -> Answer {
    let mut text = Answer::new();
    let _ = writeln!(
        text,
        "{} of {} of the grid {} executed",
        grouped(report.executed),
        count(report.task_count, "task", "tasks"),
        report.grid
    );
    let percent = |part: f64| format!("{} %", fixed(part * 100.0, 2));
    let rate = fixed(report.rate * 100.0, 0);
    if let Some(work) = report.work_s {
        let width = report.half_width.map_or("unknown".to_owned(), percent);
        let wanted = percent(report.accuracy);
        let _ =
            writeln!(text, "work of all tasks: {} +- {width} (interval of {rate} %; wanted: {wanted})", seconds(work));
    }
    if !report.predictions.is_empty() {
        let _ = writeln!(text, "predicted times with intervals of {rate} %");
        let columns = Columns::<IntervalPrediction>::new()
            .id("workers", |row| row.workers)
            .time("time", |row| row.time_s)
            .time("least", |row| row.least_s)
            .time("most", |row| row.most_s);
        text.push_str("\n");
        text.table(Grid::of(&columns, &report.predictions));
    }
    text.push_str("\n");
    if report.next.is_empty() {
        text.push_str("the prediction is as sure as asked for: nothing more to execute\n");
        return text;
    }
    if let Some(needed) = report.needed {
        // Near the end, executing a part saves nothing.
        let is_part = needed * 10 < report.task_count * 9;
        let words = if is_part { "is expected to need" } else { "cannot be had from a part: it needs about" };
        let tasks = count(report.task_count, "task", "tasks");
        let _ = writeln!(text, "{} {words} {} of {tasks}", percent(report.accuracy), grouped(needed));
    }
    let _ = writeln!(text, "execute next: {}", count(report.next.len() as u64, "task", "tasks"));
    const SHOWN: usize = 10;
    for point in report.next.iter().take(SHOWN) {
        let _ = writeln!(text, "  {}", point.iter().map(i64::to_string).collect::<Vec<_>>().join(","));
    }
    if report.next.len() > SHOWN {
        let more = grouped((report.next.len() - SHOWN) as u64);
        let _ = writeln!(text, "  and {more} more; -o next.csv or --format csv lists all");
    }
    text
}

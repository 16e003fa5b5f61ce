//! Several jobs on one fabric: the time of each on a common axis, and its time alone.

use super::axis::{Axis, SECONDS};
use super::canvas::INK;
use super::lanes::{Lane, Lanes, Span};
use super::picture::Picture;
use super::sign::{Fill, Sign};
use crate::table::seconds;
use hayase::report::{JobReport, JobsReport};

/// Bar of a job. Signs differ in form too: the bar of the time alone is thin, that of a background job pale
/// and framed.
const BUSY: Sign = Sign::Box(Fill("#2f6f8f", ""), 0.0, 0.55);
const ALONE: Sign = Sign::Box(Fill(INK, ""), 0.62, 0.75);
const IDLE: Sign = Sign::Box(Fill("#a9c4d1", FRAME), 0.0, 0.55);
const FRAME: &str = r##"stroke="#5a6270""##;

/// Draws a row for each job: a bar from its beginning to its end, and below it the time that it takes alone.
pub fn jobs(report: &JobsReport) -> String {
    let end_of = |job: &JobReport| job.start_s.map_or(0.0, |start| start + job.alone_s.unwrap_or(0.0));
    let ends = report.jobs.iter().map(|job| job.end_s.unwrap_or(0.0).max(end_of(job)));
    let axis = Axis::new(ends.fold(report.head.makespan_s, f64::max), 8, SECONDS);
    let legend = [(BUSY, "among the others"), (ALONE, "once, alone"), (IDLE, "background, or done several times")];
    let lanes = report.jobs.iter().map(|job| lane(job, report.head.makespan_s)).collect();
    let subtitle = format!("makespan {} · bars: from beginning to end", seconds(report.head.makespan_s));
    Picture::new(format!("{} jobs on {}", report.jobs.len(), report.fabric), subtitle)
        .legend(legend)
        .with(Lanes::new(axis, "time", 620.0, lanes))
        .draw()
}

fn lane(job: &JobReport, makespan_s: f64) -> Lane {
    let mut spans = Vec::new();
    if let Some(start) = job.start_s {
        let form = if job.background || job.repetitions > 1 { IDLE } else { BUSY };
        spans.push(Span::new(start, job.end_s.unwrap_or(makespan_s), form));
        spans.extend(job.alone_s.map(|alone| Span::new(start, start + alone, ALONE)));
    }
    let behind = match (job.makespan_s, job.slowdown) {
        (Some(makespan), Some(slowdown)) => {
            let times = if job.repetitions > 1 { format!("{} x ", job.repetitions) } else { String::new() };
            format!("{times}{}, slowdown {slowdown:.3}", seconds(makespan))
        }
        (Some(makespan), None) => seconds(makespan),
        (None, _) if job.start_s.is_none() => "never began".to_owned(),
        (None, _) if job.background => "background".to_owned(),
        (None, _) => "did not end".to_owned(),
    };
    let name = format!("{} ({} ranks, {})", job.name, job.ranks, job.placement);
    let tooltip = format!("{}: {}", job.name, job.workload);
    Lane { name, height: 34.0, spans, behind, tooltip, ..Lane::default() }
}

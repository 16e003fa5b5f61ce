//! Several jobs on one fabric: when each ran, and how long it would have taken alone.

use super::axis::{Axis, SECONDS};
use super::canvas::{Anchor, Canvas, FAINT, GREY, INK, MARGIN, Point, fit, text_width};
use hayase::report::{JobReport, JobsReport};
use hayase::units::Time;

const CHART: f64 = 620.0;
const ROW: f64 = 34.0;
const BAR: f64 = 16.0;
/// Room for what stands behind a bar.
const BEHIND: f64 = 190.0;
const BUSY: &str = "#2f6f8f";
const IDLE: &str = "#a9c4d1";

fn seconds(value: f64) -> String {
    Time::from_seconds(value).to_string()
}

/// Draws a row for each job: a bar from its beginning to its end, and below it the time that it takes alone.
pub fn jobs(report: &JobsReport) -> String {
    let label = |job: &JobReport| format!("{} ({} ranks, {})", job.name, job.ranks, job.placement);
    let widest = report.jobs.iter().map(|job| text_width(&label(job), 12.0)).fold(80.0, f64::max).min(300.0);
    let left = MARGIN + widest + 12.0;
    let width = left + CHART + BEHIND + MARGIN;
    let mut canvas = Canvas::new();
    let title = format!("{} jobs on {}", report.jobs.len(), report.fabric);
    let subtitle = format!("makespan {} · bars: from beginning to end", seconds(report.head.makespan_s));
    let y = canvas.heading(&title, &subtitle, width);
    // A legend that tells by form as well: alone is thin, a background pale and framed.
    canvas.rect(left, y - 9.0, 22.0, 9.0, &format!(r#"fill="{BUSY}""#));
    canvas.text(left + 28.0, y, 11.0, Anchor::Start, "among the others", "");
    canvas.rect(left + 140.0, y - 6.0, 22.0, 4.0, &format!(r#"fill="{INK}""#));
    canvas.text(left + 168.0, y, 11.0, Anchor::Start, "once, alone", "");
    canvas.rect(left + 250.0, y - 9.0, 22.0, 9.0, &format!(r#"fill="{IDLE}" stroke="{GREY}""#));
    canvas.text(left + 278.0, y, 11.0, Anchor::Start, "background, or done several times", "");
    let top = y + 16.0;
    let bottom = top + ROW * report.jobs.len() as f64 + 4.0;
    let end_of = |job: &JobReport| job.start_s.map_or(0.0, |start| start + job.alone_s.unwrap_or(0.0));
    let ends = report.jobs.iter().map(|job| job.end_s.unwrap_or(0.0).max(end_of(job)));
    let axis = Axis::new(ends.fold(report.head.makespan_s, f64::max), 8, SECONDS);
    let x = |time: f64| left + CHART * (time / axis.end).clamp(0.0, 1.0);
    for (time, text) in &axis.ticks {
        canvas.line(Point::new(x(*time), top), Point::new(x(*time), bottom), &format!(r#"stroke="{FAINT}""#));
        canvas.text(x(*time), bottom + 15.0, 10.0, Anchor::Middle, text, "");
    }
    canvas.line(Point::new(left, bottom), Point::new(left + CHART, bottom), &format!(r#"stroke="{INK}""#));
    let caption = format!("time [{}]", axis.unit);
    canvas.text(left + CHART / 2.0, bottom + 31.0, 11.0, Anchor::Middle, &caption, "");
    for (row, job) in report.jobs.iter().enumerate() {
        let y = top + ROW * row as f64 + 4.0;
        canvas.open(&format!("{}: {}", job.name, job.workload));
        let name = fit(&label(job), 12.0, widest);
        canvas.text(left - 10.0, y + BAR - 3.0, 12.0, Anchor::End, &name, "");
        let start = job.start_s.unwrap_or(0.0);
        let (from, to) =
            (x(start), x(job.end_s.unwrap_or(if job.start_s.is_some() { report.head.makespan_s } else { 0.0 })));
        let pale = job.background || job.repetitions > 1;
        let fill = if pale { format!(r#"fill="{IDLE}" stroke="{GREY}""#) } else { format!(r#"fill="{BUSY}""#) };
        if job.start_s.is_some() {
            canvas.rect(from, y, (to - from).max(1.0), BAR, &fill);
        }
        if let (Some(alone), true) = (job.alone_s, job.start_s.is_some()) {
            let until = x(start + alone);
            canvas.rect(from, y + BAR + 2.0, (until - from).max(1.0), 4.0, &format!(r#"fill="{INK}""#));
        }
        let said = match (job.makespan_s, job.slowdown) {
            (Some(makespan), Some(slowdown)) => {
                let times = if job.repetitions > 1 { format!("{} x ", job.repetitions) } else { String::new() };
                format!("{times}{}, slowdown {slowdown:.3}", seconds(makespan))
            }
            (Some(makespan), None) => seconds(makespan),
            (None, _) if job.start_s.is_none() => "never began".to_owned(),
            (None, _) if job.background => "background".to_owned(),
            (None, _) => "did not end".to_owned(),
        };
        canvas.text(to + 8.0, y + BAR - 4.0, 11.0, Anchor::Start, &fit(&said, 11.0, BEHIND), "");
        canvas.close();
    }
    canvas.finish(width, bottom + 44.0, &title)
}

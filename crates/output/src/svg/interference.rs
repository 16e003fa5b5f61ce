//! Which job delays which: a square for each pair, darker where more time is lost.

use super::axis::{Axis, SECONDS};
use super::canvas::{Anchor, Canvas, FAINT, GREY, INK, MARGIN, Point, fit, text_width};
use super::matrix::{scale, shade};
use hayase::base::Arrange;
use hayase::report::JobsReport;
use hayase::units::Time;

/// Jobs at most in a picture: those with most to do with the others.
const MOST: usize = 40;
/// Room for a name.
const NAME: f64 = 150.0;
const SIDE: f64 = 680.0;

/// Draws what the messages of each job (down) lost to those of each (across), their own job framed.
pub fn interference(report: &JobsReport) -> String {
    let pairs = report.interference.as_deref().unwrap_or_default();
    let all = report.jobs.len();
    let delay = |victim: usize, culprit: usize| pairs.get(victim * all + culprit).map_or(0.0, |pair| pair.delay_s);
    let shown = shown(all, delay);
    let names: Vec<&str> = shown.iter().map(|&job| report.jobs[job].name.as_str()).collect();
    let values = shown.iter().flat_map(|&row| shown.iter().map(move |&column| delay(row, column)));
    let axis = Axis::new(values.fold(0.0, f64::max), 4, SECONDS);

    let count = shown.len().max(1) as f64;
    let side = (SIDE / count).clamp(16.0, 72.0);
    let widest = names.iter().map(|name| text_width(name, 11.0)).fold(40.0, f64::max).min(NAME);
    let left = MARGIN + widest + 12.0;
    let width = left + (side * count).max(420.0) + MARGIN;
    let mut canvas = Canvas::new();
    let title = format!("Who delays whom: {all} jobs");
    let subtitle = format!(
        "{}; time that the messages of a job lost to those of each, added up; framed: to its own",
        report.fabric
    );
    let mut y = canvas.heading(&title, &subtitle, width);
    scale(&mut canvas, y, &axis, "lost");
    y += 52.0;
    if shown.len() < all {
        let remark = format!("The {MOST} of {all} jobs that lose or cost most.");
        y = canvas.remarks(&[remark], y - 14.0, width) + 12.0;
    }
    let top = y + 34.0;
    canvas.text(left + side * count / 2.0, top - 26.0, 11.0, Anchor::Middle, "to messages of", "");
    canvas.text(MARGIN, top - 8.0, 11.0, Anchor::Start, "messages of", "");
    for (row, (&victim, name)) in shown.iter().zip(&names).enumerate() {
        let at = side * row as f64;
        canvas.text(left - 8.0, top + at + side / 2.0 + 4.0, 11.0, Anchor::End, &fit(name, 11.0, NAME), "");
        let head = fit(name, 11.0, side - 2.0);
        canvas.text(left + at + side / 2.0, top - 8.0, 11.0, Anchor::Middle, &head, "");
        for (column, &culprit) in shown.iter().enumerate() {
            let (x, y, lost) = (left + side * column as f64, top + at, delay(victim, culprit));
            if lost <= 0.0 {
                continue;
            }
            let part = lost / axis.end;
            let text = Time::from_seconds(lost).to_string();
            canvas.open(&format!("{name} to {}: {text}", names[column]));
            canvas.rect(x, y, side, side, &format!(r#"fill="{}""#, shade(part)));
            if text_width(&text, 9.0) + 3.0 < side {
                let ink = if part > 0.45 { "#ffffff" } else { "#1b1f24" };
                let fill = format!(r#"fill="{ink}""#);
                canvas.text(x + side / 2.0, y + side / 2.0 + 3.2, 9.0, Anchor::Middle, &text, &fill);
            }
            canvas.close();
        }
    }
    let end = side * count;
    for line in 0..=shown.len() {
        let at = side * line as f64;
        let thin = format!(r#"stroke="{FAINT}" stroke-width="0.6""#);
        canvas.line(Point::new(left + at, top), Point::new(left + at, top + end), &thin);
        canvas.line(Point::new(left, top + at), Point::new(left + end, top + at), &thin);
    }
    for own in 0..shown.len() {
        let at = side * own as f64 + 1.0;
        let frame = format!(r#"fill="none" stroke="{INK}" stroke-width="1.2""#);
        canvas.rect(left + at, top + at, side - 2.0, side - 2.0, &frame);
    }
    canvas.rect(left, top, end, end, &format!(r#"fill="none" stroke="{GREY}""#));
    canvas.finish(width, top + end + MARGIN, &title)
}

/// The jobs that are drawn, in their order.
fn shown(all: usize, delay: impl Fn(usize, usize) -> f64) -> Vec<usize> {
    let weight = |job: usize| (0..all).map(|other| delay(job, other) + delay(other, job)).sum::<f64>();
    let mut jobs: Vec<(f64, usize)> = (0..all).map(|job| (weight(job), job)).collect();
    jobs.arrange_by(|(a, first), (b, second)| b.total_cmp(a).then(first.cmp(second)));
    let mut shown: Vec<usize> = jobs.into_iter().take(MOST).map(|(_, job)| job).collect();
    shown.sort_unstable();
    shown
}

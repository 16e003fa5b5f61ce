//! Jobs under each choice of a comparison: how long each takes beside the others, and how long alone.

use super::axis::{Axis, SECONDS};
use super::canvas::{Anchor, Canvas, FAINT, GREY, INK, MARGIN, Point, fit, text_width};
use crate::table::count;
use hayase::base::Arrange;
use hayase::report::{ComparedJob, Comparison, ComparisonRow, RankBy, varying};
use hayase::units::Time;

const CHART: f64 = 560.0;
const ROW: f64 = 24.0;
const BAR: f64 = 11.0;
const HEADING: f64 = 26.0;
/// Room for what stands behind a bar.
const BEHIND: f64 = 210.0;
/// Most rows: what is ranked behind is counted.
const MOST_ROWS: usize = 24;
/// Most jobs of a row: those slowed most.
const MOST_JOBS: usize = 12;
const BESIDE: &str = r##"fill="#2f6f8f" stroke="#2b4a5a" stroke-width="0.7""##;
const WORST: &str = r##"fill="#b3261e" stroke="#5a1410" stroke-width="0.7""##;

fn seconds(value: f64) -> String {
    Time::from_seconds(value).to_string()
}

/// The jobs of a row that are drawn, in their order.
fn drawn(row: &ComparisonRow) -> Vec<&ComparedJob> {
    let mut jobs: Vec<(usize, &ComparedJob)> = row.jobs.iter().enumerate().collect();
    if jobs.len() > MOST_JOBS {
        let of = |job: &ComparedJob| job.slowdown.unwrap_or(0.0);
        jobs.arrange_by(|(i, a), (j, b)| of(b).total_cmp(&of(a)).then(i.cmp(j)));
        jobs.truncate(MOST_JOBS);
        jobs.arrange_by_key(|(index, _)| *index);
    }
    jobs.into_iter().map(|(_, job)| job).collect()
}

/// Draws a block for each row, best first, and in it for each job a bar as long as it takes beside the others, and a
/// thin one as long as it takes alone. All share one axis.
pub fn compared_jobs(comparison: &Comparison) -> String {
    let rows = &comparison.rows[..comparison.rows.len().min(MOST_ROWS)];
    let label = |job: &ComparedJob| format!("{} ({})", job.name, count(job.ranks.into(), "rank", "ranks"));
    let jobs = || rows.iter().flat_map(drawn);
    let widest = jobs().map(|job| text_width(&label(job), 12.0)).fold(80.0, f64::max).min(260.0);
    let left = MARGIN + widest + 16.0;
    let width = left + CHART + BEHIND + MARGIN;
    let mut canvas = Canvas::new();
    let mut y = canvas.heading(&comparison.title, &subtitle(comparison), width);
    legend(&mut canvas, left, y);
    y += 18.0;
    let longest = jobs().map(|job| job.makespan_s.unwrap_or(0.0).max(job.alone_s.unwrap_or(0.0)));
    let axis = Axis::new(longest.fold(0.0, f64::max), 7, SECONDS);
    let block = |row: &ComparisonRow| HEADING + ROW * drawn(row).len() as f64 + 4.0;
    let bottom = y + rows.iter().map(block).sum::<f64>();
    axis.draw(&mut canvas, left, CHART, y, bottom, "time of a job from its beginning to its end");
    let x = |time: f64| left + CHART * axis.place(time);
    let shown = varying(&comparison.rows);
    for row in rows {
        let heading = heading(row, &shown);
        let room = width - 2.0 * MARGIN;
        canvas.text(MARGIN, y + 17.0, 12.0, Anchor::Start, &fit(&heading, 12.0, room), r#"font-weight="bold""#);
        y += HEADING;
        for job in drawn(row) {
            one(&mut canvas, row, job, (left, y), widest, &label(job), &x);
            y += ROW;
        }
        y += 4.0;
        canvas.line(Point::new(MARGIN, y - 3.0), Point::new(width - MARGIN, y - 3.0), &format!(r#"stroke="{FAINT}""#));
    }
    let mut remarks = Vec::new();
    if rows.len() < comparison.rows.len() {
        remarks.push(format!("{} of {} rows are drawn, the best.", rows.len(), comparison.rows.len()));
    }
    if rows.iter().any(|row| row.jobs.len() > MOST_JOBS) {
        remarks.push(format!("Of each row the {MOST_JOBS} jobs are drawn that are slowed most."));
    }
    let y = canvas.remarks(&remarks, y + 40.0, width);
    canvas.finish(width, y + 8.0, &comparison.title)
}

/// A job of a row.
fn one(
    canvas: &mut Canvas,
    row: &ComparisonRow,
    job: &ComparedJob,
    (left, y): (f64, f64),
    widest: f64,
    label: &str,
    x: &dyn Fn(f64) -> f64,
) {
    let is_slowed = job.slowdown.is_some_and(|slowdown| slowdown > 1.0 + 1e-9);
    let is_worst = is_slowed && row.worst_slowdown.as_ref().is_some_and(|worst| worst.job == job.name);
    canvas.open(label);
    canvas.text(left - 10.0, y + BAR, 12.0, Anchor::End, &fit(label, 12.0, widest), "");
    let Some(makespan) = job.makespan_s else {
        canvas.text(left + 6.0, y + BAR - 1.0, 11.0, Anchor::Start, "background", &format!(r#"fill="{GREY}""#));
        canvas.close();
        return;
    };
    canvas.rect(left, y, (x(makespan) - left).max(1.0), BAR, if is_worst { WORST } else { BESIDE });
    if let Some(alone) = job.alone_s {
        canvas.rect(left, y + BAR + 1.5, (x(alone) - left).max(1.0), 4.0, &format!(r#"fill="{INK}""#));
    }
    let weight = if is_worst { r#"font-weight="bold""# } else { "" };
    let slowdown = match (job.slowdown, job.slowdown_sd) {
        (Some(slowdown), Some(sd)) if sd > 0.0 => format!(", × {slowdown:.2} ± {sd:.2}"),
        (Some(slowdown), _) => format!(", × {slowdown:.2}"),
        (None, _) => String::new(),
    };
    let text = format!("{}{slowdown}", seconds(makespan));
    let end = x(makespan.max(job.alone_s.unwrap_or(0.0)));
    canvas.text(end + 8.0, y + BAR, 11.0, Anchor::Start, &fit(&text, 11.0, BEHIND), weight);
    canvas.close();
}

/// `placement by-leaf: makespan 3.2 ms`.
fn heading(row: &ComparisonRow, shown: &[usize]) -> String {
    let (names, choices) = (row.names(), row.choices());
    let chosen = shown.iter().filter(|&&choice| !choices[choice].is_empty());
    let parts: Vec<String> = chosen.map(|&choice| format!("{} {}", names[choice], choices[choice])).collect();
    let is = match parts.is_empty() {
        true => String::new(),
        false => format!("{}: ", parts.join(", ")),
    };
    let worst = row.worst_slowdown.as_ref().map(|worst| format!(", worst slowdown {:.2}", worst.mean));
    format!("{is}makespan {}{}", seconds(row.makespan.mean_s), worst.unwrap_or_default())
}

fn subtitle(comparison: &Comparison) -> String {
    let mut parts = Vec::new();
    if let Some(first) = comparison.rows.first() {
        let shown = varying(&comparison.rows);
        let same = first.names().into_iter().zip(first.choices()).enumerate().filter(|(choice, (name, value))| {
            !shown.contains(choice) && !value.is_empty() && *value != "flow" && *name != "pattern"
        });
        parts.extend(same.map(|(_, (name, value))| format!("{name} {value}")));
    }
    let seeds = comparison.rows.iter().map(|row| row.makespan.seeds.len()).max().unwrap_or(0);
    if seeds > 1 {
        parts.push(format!("means over {seeds} seeds"));
    }
    parts.push(match comparison.ranked_by {
        RankBy::Makespan => "smallest makespan first".to_owned(),
        RankBy::Slowdown => "smallest worst slowdown first".to_owned(),
    });
    if !comparison.complete {
        parts.push("interrupted: rows are missing".to_owned());
    }
    parts.join(" · ")
}

/// What bars mean: by form as well as by colour.
fn legend(canvas: &mut Canvas, left: f64, y: f64) {
    canvas.rect(left, y - 9.0, 24.0, 10.0, BESIDE);
    canvas.text(left + 30.0, y, 11.0, Anchor::Start, "beside the others", "");
    canvas.rect(left + 142.0, y - 9.0, 24.0, 10.0, WORST);
    canvas.text(left + 172.0, y, 11.0, Anchor::Start, "the one that is slowed most (bold)", r#"font-weight="bold""#);
    canvas.rect(left + 396.0, y - 6.0, 24.0, 4.0, &format!(r#"fill="{INK}""#));
    canvas.text(left + 426.0, y, 11.0, Anchor::Start, "once, alone", "");
}

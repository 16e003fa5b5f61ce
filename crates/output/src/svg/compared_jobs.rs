//! Jobs under each choice of a comparison: the time of each beside the other jobs, and alone.

use super::axis::{Axis, SECONDS};
use super::canvas::INK;
use super::comparison::common;
use super::lanes::{Lane, Lanes, Span};
use super::picture::Picture;
use super::sign::{EDGE, Fill, Sign};
use crate::table::{count, seconds};
use hayase::base::Arrange;
use hayase::report::{ComparedJob, Comparison, ComparisonRow, RankBy, varying};

/// Largest number of rows; the rows ranked behind them are only counted.
const MOST_ROWS: usize = 24;
/// Largest number of jobs of a row; those with the largest slowdown are kept.
const MOST_JOBS: usize = 12;
const BESIDE: Sign = Sign::Box(Fill("#2f6f8f", EDGE), 0.1, 0.6);
const WORST: Sign = Sign::Box(Fill("#b3261e", EDGE), 0.1, 0.6);
const ALONE: Sign = Sign::Box(Fill(INK, ""), 0.67, 0.85);

/// Returns the jobs of a row that are drawn, in their order.
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

/// Draws a block for each row, best first. A job has a bar for its time beside the other jobs and a thin one
/// for its time alone. All share one axis.
pub fn compared_jobs(comparison: &Comparison) -> String {
    let rows = &comparison.rows[..comparison.rows.len().min(MOST_ROWS)];
    let jobs = || rows.iter().flat_map(drawn);
    let longest = jobs().map(|job| job.makespan_s.unwrap_or(0.0).max(job.alone_s.unwrap_or(0.0)));
    let axis = Axis::new(longest.fold(0.0, f64::max), 7, SECONDS);
    let shown = varying(&comparison.rows);
    let mut lanes = Vec::new();
    for row in rows {
        let first = lanes.len();
        lanes.extend(drawn(row).into_iter().map(|job| lane(row, job)));
        if let Some(lane) = lanes.get_mut(first) {
            lane.heading = heading(row, &shown);
        }
    }
    let mut notes = Vec::new();
    if rows.len() < comparison.rows.len() {
        notes.push(format!("{} of {} rows are drawn, the best.", rows.len(), comparison.rows.len()));
    }
    if rows.iter().any(|row| row.jobs.len() > MOST_JOBS) {
        notes.push(format!("Of each row the {MOST_JOBS} jobs are drawn that are slowed most."));
    }
    let legend = [(BESIDE, "beside the others"), (WORST, "the one that is slowed most (bold)"), (ALONE, "once, alone")];
    Picture::new(&comparison.title, subtitle(comparison))
        .legend(legend)
        .with(Lanes::new(axis, "time of a job from its beginning to its end", 560.0, lanes))
        .notes(notes)
        .draw()
}

/// Returns the lane of a job of a row.
fn lane(row: &ComparisonRow, job: &ComparedJob) -> Lane {
    let name = format!("{} ({})", job.name, count(job.ranks.into(), "rank", "ranks"));
    let lane = Lane { tooltip: name.clone(), name, height: 24.0, ..Lane::default() };
    let Some(makespan) = job.makespan_s else { return Lane { behind: "background".to_owned(), ..lane } };
    let is_slowed = job.slowdown.is_some_and(|slowdown| slowdown > 1.0 + 1e-9);
    let is_strong = is_slowed && row.worst_slowdown.as_ref().is_some_and(|worst| worst.job == job.name);
    let mut spans = vec![Span::new(0.0, makespan, if is_strong { WORST } else { BESIDE })];
    spans.extend(job.alone_s.map(|alone| Span::new(0.0, alone, ALONE)));
    let slowdown = match (job.slowdown, job.slowdown_sd) {
        (Some(slowdown), Some(sd)) if sd > 0.0 => format!(", × {slowdown:.2} ± {sd:.2}"),
        (Some(slowdown), _) => format!(", × {slowdown:.2}"),
        (None, _) => String::new(),
    };
    Lane { spans, behind: format!("{}{slowdown}", seconds(makespan)), is_strong, ..lane }
}

/// Returns the heading of a row: `placement by-leaf: makespan 3.2 ms`.
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
    let mut parts = common(comparison);
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

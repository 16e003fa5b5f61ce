//! Tables of several jobs on one fabric.

use std::fmt::Write;

use super::figures::{fixed, grouped, seconds};
use super::run::{Lines, of_head, write_lines};
use super::{Answer, Grid, early, printable};
use crate::columns::{self, nodes};
use hayase::base::Arrange;
use hayase::columns::Columns;
use hayase::report::{Carried, Interference, JobReport, JobsReport, Meeting, Status};
use hayase::units::Bytes;

/// Largest number of jobs for which the delays between jobs are shown as a matrix.
const MATRIX: usize = 12;

/// Number of pairs that are listed if there are more jobs.
const PAIRS: usize = 20;

/// Returns the results of each job and the links that jobs share.
pub fn jobs(report: &JobsReport) -> Answer {
    let mut text = Answer::new();
    let _ = writeln!(text, "{}", printable(&report.fabric));
    for job in &report.jobs {
        let _ = writeln!(text, "{}: {}", printable(&job.name), printable(&job.workload));
    }
    let faster = |job: &&JobReport| job.slowdown.is_some_and(|slowdown| slowdown < 1.0 - 1e-9);
    for job in report.jobs.iter().filter(faster) {
        let name = printable(&job.name);
        let _ =
            writeln!(text, "{name} takes less time than alone: messages of others change when its own leave and meet");
    }
    for (job, why) in report.jobs.iter().filter_map(|job| Some((job, job.unfinished?))) {
        let what = if job.start_s.is_some() { "did not end" } else { "never began" };
        let _ = writeln!(text, "{} {what}: {why}", printable(&job.name));
    }
    if let Some(early) = early(report.head.status, report.head.stopped) {
        let _ = writeln!(text, "{early}");
    }
    text.push_str("\n");
    text.table(grid(report));
    let _ = writeln!(text);
    write_lines(&mut text, figures(report), &report.head);
    if !report.meetings.is_empty() {
        let _ = match report.meetings.len() {
            1 => writeln!(text, "\nThe link on which jobs meet"),
            links => writeln!(text, "\nThe {links} most used links on which jobs meet"),
        };
        text.table(meetings(report));
    }
    if let Some(pairs) = &report.interference {
        if report.jobs.len() <= MATRIX {
            let _ = writeln!(text, "\nTime that the messages of a job lost to those of each, added up");
            text.table(matrix(report, pairs));
        } else {
            let _ = writeln!(text, "\nThe {PAIRS} pairs of jobs with most time lost, added up over messages");
            text.table(most(pairs));
        }
    }
    text
}

/// Longest list of nodes in a table \[characters\].
const LONGEST: usize = 24;

/// Returns the nodes of a job as ranges, cut if the list is too long.
fn few_nodes(of_ranks: &[u32]) -> String {
    let all = nodes(of_ranks);
    match all.get(..=LONGEST).and_then(|start| start.rsplit_once(',')) {
        Some((start, _)) => format!("{start},…"),
        None => all,
    }
}

/// Returns the matrix of lost times: a row for each delayed job, a column for each job that delays it.
fn matrix(report: &JobsReport, pairs: &[Interference]) -> Grid {
    let victims = Columns::<&[Interference]>::new().text("job", |row| &row[0].victim);
    let columns = report
        .jobs
        .iter()
        .enumerate()
        .fold(victims, |columns, (at, job)| columns.time(format!("to {}", job.name), move |row| row[at].delay_s));
    let columns = columns.time("all", |row| row.iter().map(|pair| pair.delay_s).sum::<f64>());
    Grid::of(&columns, pairs.chunks(report.jobs.len().max(1)))
}

/// Returns the pairs of jobs with the largest delays.
fn most(pairs: &[Interference]) -> Grid {
    let mut pairs: Vec<&Interference> = pairs.iter().collect();
    pairs.arrange_by(|a, b| b.delay_s.total_cmp(&a.delay_s));
    let shown = columns::interference().only(&[("victim", "job"), ("culprit", "to"), ("delay", "lost")]);
    Grid::of(&shown, pairs.into_iter().take(PAIRS)).keys(2)
}

fn grid(report: &JobsReport) -> Grid {
    let any = |has: fn(&JobReport) -> bool| report.jobs.iter().any(has);
    let mut shown = vec![("job", ""), ("ranks", ""), ("placement", ""), ("nodes", ""), ("start", ""), ("end", "")];
    let repeated = any(|job| job.repetitions > 1);
    if repeated {
        shown.push(("repetitions", "times"));
    }
    shown.push(("makespan", ""));
    if repeated {
        shown.extend([("min", ""), ("max", "")]);
    }
    if any(|job| job.alone_s.is_some()) {
        shown.extend([("alone", ""), ("slowdown", "")]);
    }
    shown.extend([("messages", ""), ("bytes", "data"), ("contention", "")]);
    if any(|job| job.fault_delay_s.is_some()) {
        shown.push(("fault_delay", "lost to faults"));
    }
    let columns = columns::jobs().without("nodes").words("nodes", |job| few_nodes(&job.nodes));
    Grid::of(&columns.text("placement", |job| &job.placement).only(&shown), &report.jobs)
}

/// Returns names and values, a line each.
fn figures(report: &JobsReport) -> Lines {
    let head = &report.head;
    let bound = report.bounds.largest();
    let bounds = match bound > 0.0 {
        true => format!("{}  makespan is {} times this", seconds(bound), fixed(report.ratio_to_bound, 3)),
        // Bounds hold for the complete work only.
        false if head.status != Status::Complete => "-".to_owned(),
        false => seconds(bound),
    };
    let mut lines = vec![
        ("makespan", seconds(head.makespan_s)),
        ("messages", grouped(head.messages)),
        ("bytes", Bytes(head.bytes).to_string()),
        ("bound", bounds),
    ];
    lines.extend(of_head(head));
    lines.push(("fingerprint", head.fingerprint.clone()));
    lines
}

fn meetings(report: &JobsReport) -> Grid {
    let of_job = |carried: &Carried| format!("{} {}", printable(&carried.job), Bytes(carried.bytes));
    let columns = Columns::<Meeting>::new()
        .text("link", |meeting| &meeting.link)
        .part("utilisation", |meeting| meeting.utilisation)
        .words("data of each job", move |meeting| meeting.jobs.iter().map(of_job).collect::<Vec<_>>().join(", "));
    Grid::of(&columns, &report.meetings)
}

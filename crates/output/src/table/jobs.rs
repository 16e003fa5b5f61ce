//! The table of several jobs on one fabric.

use std::fmt::Write;

use super::figures::{Quantity, fixed, grouped, seconds};
use super::{Answer, Cell, Grid, early, printable};
use crate::csv::nodes;
use hayase::base::Arrange;
use hayase::report::{Interference, JobReport, JobsReport, Meeting, Status};
use hayase::units::Bytes;

/// Jobs up to which the delay of each by each is a table of rows and columns.
const MATRIX: usize = 12;

/// Pairs that are listed of more jobs.
const PAIRS: usize = 20;

/// What became of each job, and where they met.
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
    for (name, value) in figures(report) {
        let _ = writeln!(text, "{}", format!("{name:<14}{value}").trim_end());
    }
    let distances = report.head.noise.as_ref().and_then(|noise| super::noise::distances(noise));
    if let Some(distances) = distances {
        let _ = writeln!(text, "\n{}", super::noise::HEADING);
        text.table(distances);
    }
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

/// Longest list of nodes in a table [characters].
const LONGEST: usize = 24;

/// Returns the nodes of a job as ranges, cut where there is no room for all of them.
fn few_nodes(of_ranks: &[u32]) -> String {
    let all = nodes(of_ranks);
    match all.get(..=LONGEST).and_then(|start| start.rsplit_once(',')) {
        Some((start, _)) => format!("{start},…"),
        None => all,
    }
}

/// Who loses down, to whom across.
fn matrix(report: &JobsReport, pairs: &[Interference]) -> Grid {
    let mut grid = Grid::new().text("job").keys(1);
    for job in &report.jobs {
        grid = grid.time(format!("to {}", printable(&job.name)));
    }
    grid = grid.time("all");
    for row in pairs.chunks(report.jobs.len().max(1)) {
        let mut cells = vec![Cell::from(printable(&row[0].victim))];
        cells.extend(row.iter().map(|pair| Cell::from(pair.delay_s)));
        cells.push(row.iter().map(|pair| pair.delay_s).sum::<f64>().into());
        grid.row(cells);
    }
    grid
}

/// The pairs with most of it.
fn most(pairs: &[Interference]) -> Grid {
    let mut pairs: Vec<&Interference> = pairs.iter().collect();
    pairs.arrange_by(|a, b| b.delay_s.total_cmp(&a.delay_s));
    let mut grid = Grid::new().text("job").text("to").time("lost").keys(2);
    for pair in pairs.into_iter().take(PAIRS) {
        grid.row([printable(&pair.victim).into(), printable(&pair.culprit).into(), Cell::from(pair.delay_s)]);
    }
    grid
}

fn grid(report: &JobsReport) -> Grid {
    let alone = report.jobs.iter().any(|job| job.alone_s.is_some());
    let repeated = report.jobs.iter().any(|job| job.repetitions > 1);
    let mut grid =
        Grid::new().keys(1).text("job").number("ranks").text("placement").text("nodes").time("start").time("end");
    if repeated {
        grid = grid.number("times");
    }
    grid = grid.time("makespan");
    if repeated {
        grid = grid.time("min").time("max");
    }
    if alone {
        grid = grid.time("alone").number("slowdown");
    }
    grid = grid.number("messages").quantity("data", Quantity::Bytes).number("contention");
    let faults = report.jobs.iter().any(|job| job.fault_delay_s.is_some());
    if faults {
        grid = grid.time("lost to faults");
    }
    for job in &report.jobs {
        let mut cells: Vec<Cell> = vec![
            printable(&job.name).into(),
            u64::from(job.ranks).into(),
            printable(&job.placement).into(),
            few_nodes(&job.nodes).into(),
            job.start_s.into(),
            job.end_s.into(),
        ];
        if repeated {
            cells.push(job.repetitions.into());
        }
        cells.push(job.makespan_s.into());
        if repeated {
            cells.extend([Cell::from(job.min_s), job.max_s.into()]);
        }
        if alone {
            let slowdown = job.slowdown.map_or_else(|| "-".to_owned(), |slowdown| fixed(slowdown, 3));
            cells.extend([Cell::from(job.alone_s), slowdown.into()]);
        }
        cells.extend([Cell::from(job.messages), (job.bytes as f64).into(), fixed(job.contention, 3).into()]);
        if faults {
            cells.push(job.fault_delay_s.into());
        }
        grid.row(cells);
    }
    grid
}

/// Names and values, a line each.
fn figures(report: &JobsReport) -> Vec<(&'static str, String)> {
    let head = &report.head;
    let bound = report.bounds.largest();
    let bounds = match bound > 0.0 {
        true => format!("{}  makespan is {} times this", seconds(bound), fixed(report.ratio_to_bound, 3)),
        // Bounds are of what was done to its end.
        false if head.status != Status::Complete => "-".to_owned(),
        false => seconds(bound),
    };
    let mut lines = vec![
        ("makespan", seconds(head.makespan_s)),
        ("messages", grouped(head.messages)),
        ("bytes", Bytes(head.bytes).to_string()),
        ("bound", bounds),
    ];
    if let Some(faults) = &head.faults {
        lines.extend(super::run::failed(faults));
    }
    if let Some(seeds) = &head.seeds {
        lines.extend(super::run::over_seeds(seeds));
    }
    if let Some(noise) = &head.noise {
        lines.extend(super::noise::lines(noise));
    }
    lines.push(("fingerprint", head.fingerprint.clone()));
    lines
}

fn meetings(report: &JobsReport) -> Grid {
    let mut grid = Grid::new().text("link").quantity("utilisation", Quantity::Part).text("data of each job").keys(1);
    for Meeting { link, utilisation, jobs, .. } in &report.meetings {
        let of_job = jobs.iter().map(|carried| format!("{} {}", printable(&carried.job), Bytes(carried.bytes)));
        grid.row([Cell::from(link.clone()), (*utilisation).into(), of_job.collect::<Vec<_>>().join(", ").into()]);
    }
    grid
}

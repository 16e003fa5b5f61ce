//! Pictures of results, as files.

use std::io::{self, Write};

use hayase::fabric::Fabric;
use hayase::report::{Comparison, Estimated, Head, MessageRecord, NoiseReport};
use hayase::simulation::{LinkUses, PatternOutcome, PatternWork};

use crate::svg::{self, LinkLoad, Window};
use crate::table;

/// Draws the load of each link in a run.
///
/// # Errors
/// Fails if the writer fails.
pub fn loads(fabric: &Fabric, links: &LinkUses, work: &str, head: &Head, mut w: impl Write) -> io::Result<()> {
    let loads: Vec<LinkLoad> = links.iter().map(|link| LinkLoad::from(&link)).collect();
    let mut subtitle = format!("{work}, makespan {}", table::seconds(head.makespan_s));
    if let Some(estimate) = head.estimated.as_ref().and_then(Estimated::estimate) {
        // A line that is too long would be cut.
        let (error, part) = (table::percent(estimate.error()), table::percent(estimate.simulated_part));
        subtitle += &format!(" (estimate, \u{b1} {error}; links: of the {part} simulated)");
    }
    w.write_all(svg::link_loads(fabric, &loads, &fabric.to_string(), &subtitle).as_bytes())
}

/// Draws the load of links over time.
///
/// # Errors
/// Fails if the writer fails.
pub fn series(fabric: &Fabric, links: &LinkUses, work: &str, makespan_s: f64, mut w: impl Write) -> io::Result<()> {
    let subtitle = format!("{work}, makespan {}", table::seconds(makespan_s));
    w.write_all(svg::link_series(fabric, links, &fabric.to_string(), &subtitle).as_bytes())
}

/// Draws the timeline of a run: messages, computation and waiting.
///
/// # Errors
/// Fails if the writer fails.
pub fn timeline(
    records: &[MessageRecord],
    work: &PatternWork,
    run: &PatternOutcome,
    window: Window,
    mut w: impl Write,
) -> io::Result<()> {
    let (report, pattern) = (&run.report, &*work.pattern);
    let title = format!("{} on {}", report.workload, report.fabric);
    let sent = svg::Sent {
        messages: records,
        ranks: pattern.ranks(),
        makespan_s: report.head.makespan_s,
        history: run.history.as_ref(),
        path: run.path.as_deref().unwrap_or_default(),
        jobs: &[],
        window,
    };
    w.write_all(svg::timeline(&sent, &title).as_bytes())
}

/// Draws a comparison as a chart; for jobs, each beside the others and alone.
///
/// # Errors
/// Fails if the writer fails.
pub fn comparison(comparison: &Comparison, mut w: impl Write) -> io::Result<()> {
    let of_jobs = !comparison.rows.is_empty() && comparison.rows.iter().all(|row| !row.jobs.is_empty());
    let picture = if of_jobs { svg::compared_jobs(comparison) } else { svg::comparison(comparison) };
    w.write_all(picture.as_bytes())
}

/// Draws the slowdown of runs with failures.
///
/// # Errors
/// Fails if the writer fails.
pub fn faults(comparison: &Comparison, mut w: impl Write) -> io::Result<()> {
    w.write_all(svg::faults(comparison).as_bytes())
}

/// Draws the propagation of the delay of slow ranks.
///
/// # Errors
/// Fails if the writer fails.
pub fn noise(noise: &NoiseReport, title: &str, mut w: impl Write) -> io::Result<()> {
    w.write_all(svg::noise(noise, title).as_bytes())
}

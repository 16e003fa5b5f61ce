//! Pictures of what a verb shows, as files.

use std::io::{self, Write};

use super::Voice;
use hayase::fabric::Fabric;
use hayase::ids::RankId;
use hayase::report::{Comparison, LinkUse, MessageRecord, Rate, Report};
use hayase::workload::pattern::Pattern;
use hayase_output::svg::{self, FabricOptions, LinkLoad, Window};
use hayase_output::table;

/// A fabric, under the name that it has if it has one; the reader is told where not all of it is drawn.
pub fn fabric(fabric: &Fabric, name: Option<&str>, mut w: impl Write, voice: Voice) -> io::Result<()> {
    let options = FabricOptions { title: name.map(str::to_owned), ..FabricOptions::default() };
    let drawing = svg::fabric(fabric, &options);
    if let Some(note) = &drawing.note {
        voice.hint(note);
    }
    w.write_all(drawing.svg.as_bytes())
}

/// How loaded each link was in a run.
pub fn loads(fabric: &Fabric, links: &[LinkUse], report: &Report, mut w: impl Write) -> io::Result<()> {
    let loads: Vec<LinkLoad> = links.iter().map(LinkLoad::from).collect();
    let subtitle = format!("{}, makespan {}", report.workload, table::seconds(report.head.makespan_s));
    w.write_all(svg::link_loads(fabric, &loads, &report.fabric, &subtitle).as_bytes())
}

/// Who sent what when.
pub fn timeline(
    records: &[MessageRecord],
    pattern: &dyn Pattern,
    window: Window,
    report: &Report,
    mut w: impl Write,
) -> io::Result<()> {
    let title = format!("{} on {}", report.workload, report.fabric);
    // What it computes it computes right before it sends.
    let delays = pattern.delays();
    let delay = |message: &MessageRecord| match delays {
        true => pattern.message(RankId(message.src), message.index).delay.seconds(),
        false => 0.0,
    };
    w.write_all(svg::timeline(records, pattern.ranks(), report.head.makespan_s, delay, window, &title).as_bytes())
}

/// A comparison as a chart: of jobs each of them beside the others and alone.
pub fn comparison(comparison: &Comparison, mut w: impl Write) -> io::Result<()> {
    let of_jobs = !comparison.rows.is_empty() && comparison.rows.iter().all(|row| !row.jobs.is_empty());
    let picture = if of_jobs { svg::compared_jobs(comparison) } else { svg::comparison(comparison) };
    w.write_all(picture.as_bytes())
}

/// How much longer runs take in which something failed.
pub fn faults(comparison: &Comparison, mut w: impl Write) -> io::Result<()> {
    w.write_all(svg::faults(comparison).as_bytes())
}

/// How rates spread.
pub fn rates(rates: &[Rate], title: &str, mut w: impl Write) -> io::Result<()> {
    w.write_all(svg::rates(rates, title).as_bytes())
}

//! Table of NCCL's choices by size.

use super::figures::{bandwidth, percent, seconds};
use super::{Answer, Grid};
use hayase::columns::Columns;
use hayase::report::{NcclDifference, NcclReport, NcclRow};
use hayase::units::Bytes;

/// Returns NCCL's choice for each size for a terminal.
pub fn nccl(report: &NcclReport) -> Answer {
    let mut text = Answer::new();
    if let Some(first) = report.rows.first() {
        let fabric = report.fabric.iter().map(|fabric| format!(", on {fabric}")).collect::<String>();
        let nodes = if first.nodes == 1 { "node" } else { "nodes" };
        let title = format!(
            "{} by NCCL, {} ranks on {} {nodes}: {}{fabric}",
            first.op, first.ranks, first.nodes, report.system
        );
        text.title(&title);
    }
    let has_times = report.rows.iter().any(|row| row.simulated_s.is_some());
    let maybe = |value: Option<f64>, show: fn(f64) -> String| value.map_or_else(|| "-".to_owned(), show);
    let columns = Columns::<NcclRow>::new()
        .words("size", |row| Bytes(row.size_bytes).to_string())
        .text("algorithm", |row| &row.algorithm)
        .text("protocol", |row| &row.protocol)
        .words("model", |row| seconds(row.model_s))
        .words("runner-up", |row| {
            row.runner_up.as_ref().map_or_else(|| "-".to_owned(), |of| format!("{} {}", of.algorithm, of.protocol))
        })
        .words("margin", move |row| maybe(row.margin, percent))
        .when(has_times, |columns| {
            columns
                .words("simulated", move |row| maybe(row.simulated_s, seconds))
                .words("bound", move |row| maybe(row.bound_s, seconds))
                .words("bus bandwidth", move |row| maybe(row.bus_bandwidth_bps, bandwidth))
        });
    text.table(Grid::of(&columns, &report.rows));
    if let Some(log) = &report.log {
        let (choices, entries) = (log.choices, log.entries);
        let differ = log.differences.len();
        text.push_str(&format!(
            "{}: {choices} choices and {entries} latencies and bandwidths beside the model, {differ} different\n",
            log.file
        ));
        let columns = Columns::<NcclDifference>::new()
            .words("line", |of| of.line.to_string())
            .text("value", |of| &of.value)
            .text("log", |of| &of.logged)
            .text("model", |of| &of.model);
        if differ > 0 {
            text.table(Grid::of(&columns, &log.differences));
        }
    }
    text
}

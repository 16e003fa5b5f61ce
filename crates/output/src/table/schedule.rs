//! Table of a schedule of a collective operation.

use std::fmt::Write;

use super::figures::{bandwidth, fixed, grouped, seconds};
use super::{Answer, Grid, printable};
use crate::columns;
use hayase::columns::Columns;
use hayase::report::{Crossing, OperationComparison, OperationRow, ScheduleReport, ScheduleRow};
use hayase::units::Bytes;

/// Returns the optimum, the schedule and the usual algorithms for a terminal.
pub fn schedule(report: &ScheduleReport) -> Answer {
    let mut text = Answer::new();
    let size = Bytes(report.size_bytes);
    let title = format!("{}, {size}, {} ranks: {}", report.operation, report.ranks, report.fabric);
    let _ = writeln!(text, "{}\n", printable(&title));
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{}", format!("{name:<14}{value}").trim_end());
    };
    let kind = if report.optimum_exact { "steady flows reach it" } else { "at least" };
    line("optimum", format!("{}  ({kind})", seconds(report.optimum_s)));
    line("proof", printable(&report.optimum_proof));
    if let Some(cut) = &report.worst_cut {
        line("worst cut", format!("{} ranks, {} out of it", cut.nodes, bandwidth(cut.bandwidth_bps)));
    }
    if let Some(free_s) = report.free_shares_s {
        let gain = fixed(report.optimum_s / free_s, 2);
        line("free shares", format!("{}, {gain} times less: if roots had the best shares", seconds(free_s)));
    }
    match (&report.method, &report.no_schedule) {
        (Some(method), _) => line("schedule", format!("{method}{}", facts(report))),
        (None, reason) => line("schedule", format!("none: {}", reason.as_deref().unwrap_or("unknown"))),
    }
    if let Some(predicted) = report.predicted_s {
        line(
            "predicted",
            format!("{}  {} times the optimum", seconds(predicted), fixed(predicted / report.optimum_s, 3)),
        );
    }
    line("late starts", format!("up to {} a rank", seconds(report.jitter_s)));
    if !report.algorithms.is_empty() {
        text.push_str("\n");
        let columns = Columns::<ScheduleRow>::new()
            .text("algorithm", |row| &row.name)
            .time("late starts", |row| row.makespan_jitter_s)
            .ratio("to optimum", 3, |row| row.ratio_to_optimum)
            .time("in step", |row| row.makespan_s)
            .ratio("in step only", 3, |row| row.ratio_in_step);
        text.table(Grid::of(&columns, &report.algorithms).keys(1));
    }
    if let Some(sentence) = sentence(report) {
        let _ = writeln!(text, "\n{}", printable(&sentence));
        text.say(&printable(&sentence));
    }
    text
}

/// Returns the algorithms of an operation, and the sizes from which each is the fastest, for a terminal.
pub fn operation(comparison: &OperationComparison) -> Answer {
    let mut text = Answer::new();
    text.title(&comparison.operation);
    let csv = columns::operation(comparison);
    let has = |name: &str| csv.position(name).is_some();
    let columns = Columns::<OperationRow>::new()
        .text("algorithm", |row| &row.of.name)
        .when(has("topology"), |columns| columns.text("topology", |row| &row.topology))
        .when(has("placement"), |columns| columns.text("placement", |row| &row.placement))
        .when(has("transport"), |columns| columns.text("transport", |row| &row.transport))
        .words("size", |row| Bytes(row.size_bytes).to_string())
        .words("late starts", |row| seconds(row.of.makespan_jitter_s))
        .ratio("to optimum", 3, |row| row.of.ratio_to_optimum)
        .words("in step", |row| seconds(row.of.makespan_s))
        .ratio("in step only", 3, |row| row.of.ratio_in_step);
    text.table(Grid::of(&columns, &comparison.rows).keys(1));
    text.push_str("\n");
    text.title("Fastest from this size on");
    let any = |has: fn(&Crossing) -> bool| comparison.crossings.iter().any(has);
    let columns = Columns::<Crossing>::new()
        .when(any(|row| !row.topology.is_empty()), |columns| columns.text("topology", |row| &row.topology))
        .when(any(|row| !row.placement.is_empty()), |columns| columns.text("placement", |row| &row.placement))
        .when(any(|row| !row.transport.is_empty()), |columns| columns.text("transport", |row| &row.transport))
        .words("from", |row| Bytes(row.from_bytes).to_string())
        .text("with late starts", |row| &row.algorithm)
        .text("in step only", |row| &row.algorithm_in_step);
    text.table(Grid::of(&columns, &comparison.crossings));
    text
}

/// Returns the facts of a schedule: `, 13 trees a root in 16 chunks, depth 3, 11,520 messages`.
fn facts(report: &ScheduleReport) -> String {
    let mut facts = String::new();
    let mut add = |fact: Option<String>| facts.extend(fact.map(|fact| format!(", {fact}")));
    let trees = report.trees_per_root.filter(|_| report.depth.is_some());
    add(trees.map(|trees| format!("{} a root", counted(trees, "tree"))));
    add(report.chunks.map(|chunks| counted(chunks.into(), "chunk")));
    add(report.depth.map(|depth| format!("depth {depth}")));
    add(report.order.as_ref().map(|order| format!("order {order}")));
    add(report.slots.map(|slots| counted(slots.into(), "slot")));
    add((report.messages > 0).then(|| counted(report.messages, "message")));
    facts
}

fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// Returns the sentence that compares the best usual algorithm with the schedule.
fn sentence(report: &ScheduleReport) -> Option<String> {
    let is_ours = |row: &&ScheduleRow| row.name == "schedule";
    let ours = report.algorithms.iter().find(is_ours)?;
    let best = report.algorithms.iter().find(|row| !is_ours(row))?;
    let how = match (report.trees_per_root, report.depth, report.slots) {
        (Some(trees), Some(_), _) => format!("{} a root", counted(trees, "tree")),
        (_, _, Some(slots)) => counted(slots.into(), "slot"),
        _ => "the schedule".to_owned(),
    };
    let is_one = how.starts_with("1 ") || how.starts_with("the ");
    let (takes, how) = (if is_one { "takes" } else { "take" }, printable(&how));
    let (times, ratio) = (fixed(best.ratio_to_optimum, 2), fixed(ours.ratio_to_optimum, 2));
    Some(format!("The fastest usual algorithm ({}) takes {times} times the optimum; {how} {takes} {ratio}.", best.name))
}

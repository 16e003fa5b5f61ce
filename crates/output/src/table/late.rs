//! Tables of the activity of ranks: their time by kind, the critical path, and stragglers.

use std::fmt::Write;

use super::figures::{count, percent};
use super::{Answer, Grid};
use hayase::columns::{Blank, Columns};
use hayase::report::RanksReport;
use hayase::report::replay::{CriticalPath, LateRank, PathOperation, Spread};

/// Number of stragglers shown, and of ranks shown that one straggler delays.
const RANKS: usize = 5;
const DELAYED: usize = 3;
/// Number of ranks and operations of the critical path shown.
const OF_PATH: usize = 5;
/// Smallest delay that is shown, as a fraction of the makespan.
const LEAST: f64 = 1e-3;

/// Adds the table of stragglers; nothing if no rank was late.
pub(super) fn who(text: &mut Answer, late: &[LateRank], makespan_s: f64) {
    let columns = Columns::<LateRank>::new()
        .id("rank", |rank| rank.rank)
        .time("delays others", |rank| rank.caused_s)
        .time("by computing", |rank| rank.by_computing_s)
        .time("by sending", |rank| rank.by_sending_s)
        .id("ranks delayed", |rank| rank.delays.len())
        .words("mostly", |rank| {
            let names: Vec<_> = rank.delays.iter().take(DELAYED).map(|delayed| delayed.rank.to_string()).collect();
            names.join(", ") + if rank.delays.len() > DELAYED { ", ..." } else { "" }
        })
        .time("waited for", |rank| rank.waited_for_s)
        .time("while waiting itself", |rank| rank.as_it_waited_s);
    let grid = Grid::of(&columns, shown(late, makespan_s));
    if !grid.is_empty() {
        text.push_str(
            "\nLate ranks: waiting time of others that goes back to each, and time that others waited for it\n",
        );
        text.table(grid);
    }
}

fn shown(late: &[LateRank], makespan_s: f64) -> impl Iterator<Item = &LateRank> {
    late.iter().take(RANKS).filter(move |rank| rank.caused_s > LEAST * makespan_s)
}

/// Adds the activity of the ranks of a pattern if any rank computed or was late. Otherwise it would repeat
/// the other figures.
pub(super) fn of_pattern(text: &mut Answer, ranks: &RanksReport, makespan_s: f64) {
    let computes = ranks.ranks.iter().any(|rank| rank.compute_s > 0.0);
    if !computes && shown(&ranks.late, makespan_s).next().is_none() {
        return;
    }
    text.push_str("\nWhere the time of ranks went (rank: the one with the most)\n");
    let kinds: Vec<_> = ranks.breakdown.iter().filter(|spread| spread.most_s > 0.0).cloned().collect();
    text.table(breakdown(&kinds));
    if let Some(path) = &ranks.critical_path {
        critical_path(text, path);
    }
    who(text, &ranks.late, makespan_s);
}

/// Returns the time of ranks by kind of activity.
pub(super) fn breakdown(kinds: &[Spread]) -> Grid {
    let columns = Columns::<Spread>::new()
        .text("kind", |spread| spread.kind)
        .part("part", |spread| spread.part)
        .time("least", |spread| spread.least_s)
        .time("mean", |spread| spread.mean_s)
        .time("most", |spread| spread.most_s)
        .id("rank", |spread| Blank((spread.most_s > spread.least_s).then_some(spread.most_rank)));
    Grid::of(&columns, kinds)
}

/// Adds the critical path: its time by kind and by rank, and its longest operations.
pub(super) fn critical_path(text: &mut Answer, path: &CriticalPath) {
    let kinds: Vec<_> = path.kinds.iter().map(|part| format!("{} {}", part.kind, percent(part.part))).collect();
    let ranks = path.ranks.iter().take(OF_PATH);
    let ranks: Vec<_> = ranks.map(|part| format!("{} ({})", part.rank, percent(part.part))).collect();
    let _ = writeln!(
        text,
        "\nCritical path: {}, {} of rank\n  {}\n  most on rank {}",
        count(path.steps, "step", "steps"),
        count(path.changes, "change", "changes"),
        kinds.join(", "),
        ranks.join(", ")
    );
    let columns = Columns::<PathOperation>::new()
        .id("rank", |step| step.rank)
        .id("op", |step| step.op)
        .text("kind", |step| step.kind)
        .time("time", |step| step.time_s)
        .text("operation", |step| step.operation.as_deref().unwrap_or_default());
    let grid = Grid::of(&columns, path.operations.iter().take(OF_PATH)).keys(2);
    if !grid.is_empty() {
        text.table(grid);
    }
}

//! What ranks did, whatever they play: where their time went, what is on the critical path, who is late.

use std::fmt::Write;

use super::figures::{Quantity, count, percent};
use super::{Answer, Cell, Grid};
use hayase::report::RanksReport;
use hayase::report::replay::{CriticalPath, LateRank, Spread};

/// Ranks that are shown, and how many of those that one delays.
const RANKS: usize = 5;
const DELAYED: usize = 3;
/// Ranks and operations of the critical path that are shown.
const OF_PATH: usize = 5;
/// What is below this part of the makespan is not worth a line.
const LEAST: f64 = 1e-3;

/// The ranks that others wait for; nothing where nobody was late.
pub(super) fn who(text: &mut Answer, late: &[LateRank], makespan_s: f64) {
    let mut grid = Grid::new()
        .number("rank")
        .time("delays others")
        .time("by computing")
        .time("by sending")
        .number("ranks delayed")
        .text("most of all")
        .time("waited for")
        .time("as it waited");
    for rank in shown(late, makespan_s) {
        let names: Vec<_> = rank.delays.iter().take(DELAYED).map(|delayed| delayed.rank.to_string()).collect();
        let more = if rank.delays.len() > DELAYED { ", ..." } else { "" };
        grid.row([
            Cell::from(rank.rank),
            rank.caused_s.into(),
            rank.by_computing_s.into(),
            rank.by_sending_s.into(),
            rank.delays.len().to_string().into(),
            (names.join(", ") + more).into(),
            rank.waited_for_s.into(),
            rank.as_it_waited_s.into(),
        ]);
    }
    if !grid.is_empty() {
        text.push_str("\nWho is late: what all ranks waited that goes back to it, and how long others waited for it\n");
        text.table(grid);
    }
}

fn shown(late: &[LateRank], makespan_s: f64) -> impl Iterator<Item = &LateRank> {
    late.iter().take(RANKS).filter(move |rank| rank.caused_s > LEAST * makespan_s)
}

/// What ranks of a pattern did, where any computed or was late: else it says no more than the other figures.
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

/// Where the time of ranks went, by kind.
pub(super) fn breakdown(kinds: &[Spread]) -> Grid {
    let mut grid = Grid::new()
        .text("kind")
        .quantity("part", Quantity::Part)
        .time("least")
        .time("mean")
        .time("most")
        .number("rank");
    for spread in kinds {
        let rank = if spread.most_s > spread.least_s { spread.most_rank.to_string() } else { String::new() };
        grid.row([
            Cell::from(spread.kind),
            spread.part.into(),
            spread.least_s.into(),
            spread.mean_s.into(),
            spread.most_s.into(),
            rank.into(),
        ]);
    }
    grid
}

/// What made the run last as long as it did.
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
    let mut grid = Grid::new().number("rank").number("op").text("kind").time("time").text("operation").keys(2);
    for step in path.operations.iter().take(OF_PATH) {
        grid.row([
            Cell::from(step.rank),
            step.op.to_string().into(),
            step.kind.into(),
            step.time_s.into(),
            step.operation.as_deref().unwrap_or_default().into(),
        ]);
    }
    if !grid.is_empty() {
        text.table(grid);
    }
}

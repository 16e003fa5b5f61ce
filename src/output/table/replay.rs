//! The table of a replayed program.

use std::fmt::Write;

use super::figures::{Scale, grouped, percent, seconds};
use super::run::over_seeds;
use super::{Grid, early, printable};
use crate::report::replay::{CriticalPath, Prediction, RegionReport, ReplayReport};
use crate::units::Bytes;

/// Waits that are shown.
const WAITS: usize = 10;
/// Ranks and operations of the critical path that are shown.
const OF_PATH: usize = 5;

/// What a report says, for a terminal: how long, where the time went, who waited for whom.
pub fn replay(report: &ReplayReport) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{}", printable(&report.program));
    let _ = writeln!(text, "nodes {}; network: {}", report.node, printable(&report.network));
    if let Some(early) = early(report.status, report.stopped) {
        let _ = writeln!(text, "{early}");
    }
    text.push('\n');
    let mut lines = Vec::new();
    if report.stopped.is_none() {
        match report.chosen() {
            None => lines.push(("predicted", seconds(report.makespan_s))),
            Some(region) => {
                let time = format!("{}, region {}", seconds(region.time_s), printable(&region.name));
                lines.extend([("predicted", time), ("whole run", seconds(report.makespan_s))]);
            }
        }
    }
    if let Some(prediction) = &report.prediction {
        lines.extend(self::prediction(prediction));
    }
    if let Some(prediction) = report.prediction.as_ref().filter(|_| report.meta.wall_s > 0.0) {
        let (of, time) = match prediction.recorded_s {
            Some(recorded) => ("the recorded run", recorded),
            None => ("the predicted time", report.makespan_s),
        };
        let times = time / report.meta.wall_s;
        let faster =
            if times >= 1.0 { format!("1/{} of {of}", grouped(times as u64)) } else { format!("longer than {of}") };
        lines.push(("took", format!("{}, {faster}", seconds(report.meta.wall_s))));
    }
    if let (Some(measured), Some(error)) = (report.measured_s, report.error) {
        lines.push(("measured", format!("{} (predicted {:+.1} %)", seconds(measured), error * 100.0)));
    }
    lines.push((
        if report.stopped.is_some() { "delivered" } else { "messages" },
        format!("{}, {}", grouped(report.messages), Bytes(report.bytes)),
    ));
    if report.unreceived > 0 {
        lines.push(("unreceived", format!("{}: messages that nobody asked for", grouped(report.unreceived))));
    }
    if let Some(open) = &report.open_receives {
        let value = match open.take {
            "recorded" => format!(
                "{} receives from any rank or with any tag take what they took in the recorded run",
                grouped(open.receives)
            ),
            _ => format!(
                "{} of {} receives from any rank or with any tag take what they took in the recorded run",
                grouped(open.as_recorded),
                grouped(open.seen)
            ),
        };
        lines.push(("left open", value));
    }
    lines.extend(report.seeds.iter().flat_map(over_seeds));
    for (name, value) in lines {
        let _ = writeln!(text, "{name:<14}{value}");
    }
    text.push_str(&regions(&report.regions));
    let times = report.breakdown.iter().flat_map(|spread| [spread.least_s, spread.mean_s, spread.most_s]);
    let scale = Scale::time(times);
    let mut grid = Grid::new().text("time").number("part").number("least").number("mean").number("most").number("rank");
    for spread in &report.breakdown {
        let rank = if spread.most_s > spread.least_s { spread.most_rank.to_string() } else { String::new() };
        grid.row([
            spread.kind.to_owned(),
            percent(spread.part),
            scale.show(spread.least_s),
            scale.show(spread.mean_s),
            scale.show(spread.most_s),
            rank,
        ]);
    }
    let within = report.region.as_ref().map_or_else(String::new, |region| format!(" in {}", printable(region)));
    let _ = write!(text, "\nWhere the time of ranks went{within} (rank: the one with the most)\n{}", grid.to_text());
    if let Some(path) = &report.critical_path {
        text.push_str(&critical_path(path));
    }
    if !report.waits.is_empty() {
        let shown = &report.waits[..report.waits.len().min(WAITS)];
        let scale = Scale::time(shown.iter().map(|wait| wait.time_s));
        let mut grid = Grid::new().number("rank").text("what").number("for rank").number("time").number("times");
        for wait in shown {
            grid.row([
                wait.rank.to_string(),
                wait.kind.to_owned(),
                wait.peer.to_string(),
                scale.show(wait.time_s),
                grouped(wait.count),
            ]);
        }
        let _ = write!(text, "\nThe longest waits between two ranks\n{}", grid.to_text());
    }
    text
}

/// Time by region, in a table; nothing where there are none.
fn regions(regions: &[RegionReport]) -> String {
    if regions.is_empty() {
        return String::new();
    }
    let times = regions.iter().flat_map(|region| [region.time_s, region.computation_s, region.waiting_s]);
    let scale = Scale::time(times);
    let recorded = regions.iter().any(|region| region.recorded_s.is_some());
    let mut grid = Grid::new().text("region").number("executions").number("ranks");
    for name in ["time", "computation", "communication", "waiting"] {
        grid = grid.number(format!("{name} [{}]", scale.unit));
    }
    if recorded {
        grid = grid.number(format!("recorded [{}]", scale.unit)).number("error");
    }
    for region in regions {
        let mut row = vec![
            printable(&region.name),
            grouped(region.executions),
            region.ranks.to_string(),
            scale.show(region.time_s),
            scale.show(region.computation_s),
            scale.show(region.communication_s),
            scale.show(region.waiting_s),
        ];
        if recorded {
            row.extend(match region.recorded_s {
                Some(time) => [scale.show(time), format!("{:+.1} %", 100.0 * (region.time_s / time - 1.0))],
                None => [String::new(), String::new()],
            });
        }
        grid.row(row);
    }
    format!(
        "\nRegions (time: from the first rank's begin to the last one's end; the rest: mean of its ranks)\n{}",
        grid.to_text()
    )
}

/// What a prediction was put together from.
fn prediction(prediction: &Prediction) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    for part in &prediction.computation {
        let mut text = printable(&part.computation);
        if prediction.computation.len() > 1 {
            text += &format!(", ranks {}", part.ranks);
        }
        if part.scale != 1.0 {
            text += &format!(", times {}", part.scale);
        }
        lines.push(("computation", text));
    }
    if let Some(communication) = &prediction.communication {
        let by = if prediction.waits == "rules" { "" } else { ", in order of arrival" };
        lines.push(("communication", format!("{}{by}", printable(communication))));
    }
    if let Some(recorded) = prediction.recorded_s {
        lines.push(("recorded run", format!("{}, the one that the times of blocks are from", seconds(recorded))));
    }
    lines
}

/// What made the program last as long as it did.
fn critical_path(path: &CriticalPath) -> String {
    let kinds: Vec<_> = path.kinds.iter().map(|part| format!("{} {}", part.kind, percent(part.part))).collect();
    let ranks = path.ranks.iter().take(OF_PATH);
    let ranks: Vec<_> = ranks.map(|part| format!("{} ({})", part.rank, percent(part.part))).collect();
    let mut text = format!(
        "\nCritical path: {} steps, {} changes of rank\n  {}\n  most on rank {}\n",
        grouped(path.steps),
        grouped(path.changes),
        kinds.join(", "),
        ranks.join(", ")
    );
    let shown = &path.operations[..path.operations.len().min(OF_PATH)];
    let scale = Scale::time(shown.iter().map(|step| step.time_s));
    let mut grid = Grid::new().number("rank").number("op").text("time on it").number("time").text("operation");
    for step in shown {
        let operation = step.operation.as_deref().map(printable).unwrap_or_default();
        grid.row([
            step.rank.to_string(),
            step.op.to_string(),
            step.kind.to_owned(),
            scale.show(step.time_s),
            operation.to_string(),
        ]);
    }
    if !shown.is_empty() {
        text.push_str(&grid.to_text());
    }
    text
}

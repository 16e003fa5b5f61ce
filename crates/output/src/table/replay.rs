//! Tables of a replayed program.

use std::fmt::Write;

use super::figures::{Quantity, grouped, percent, seconds};
use super::run::{lost, of_head, write_lines};
use super::{Answer, Grid, early, late, printable};
use hayase::columns::{Blank, Columns};
use hayase::report::Status;
use hayase::report::replay::{Prediction, RegionReport, ReplayReport, Wait};
use hayase::simulation::KEPT_RANKS;
use hayase::units::Bytes;

/// Number of waits shown.
const WAITS: usize = 10;

/// Returns a report as text: the predicted time, the time of ranks by kind, and waits between ranks.
pub fn replay(report: &ReplayReport) -> Answer {
    let mut text = Answer::new();
    let _ = writeln!(text, "{}", printable(&report.program));
    let _ = writeln!(text, "nodes {}; network: {}", report.node, printable(&report.network));
    if let Some(early) = early(report.head.status, report.head.stopped) {
        let _ = writeln!(text, "{early}");
    }
    text.push_str("\n");
    if report.head.status == Status::Complete {
        let time = seconds(report.asked_s());
        text.say(&format!("{} takes {time} on {}.", printable(&report.program), printable(&report.network)));
        let most = report.breakdown.iter().max_by(|a, b| a.part.total_cmp(&b.part));
        if let Some(most) = most.filter(|most| most.part > 0.0) {
            text.say(&format!("Ranks spend {} of their time on {}.", percent(most.part), most.kind));
        }
        text.say_delays(report.delays.as_ref());
    }
    let mut lines = Vec::new();
    if report.head.stopped.is_none() {
        match report.chosen() {
            None => lines.push(("predicted", seconds(report.head.makespan_s))),
            Some(region) => {
                let time = format!("{}, region {}", seconds(region.time_s), printable(&region.name));
                lines.extend([("predicted", time), ("whole run", seconds(report.head.makespan_s))]);
            }
        }
    }
    if let Some(prediction) = &report.prediction {
        lines.extend(self::prediction(prediction));
    }
    if let Some(prediction) = report.prediction.as_ref().filter(|_| report.meta.wall_s > 0.0) {
        let (of, time) = match prediction.recorded_s {
            Some(recorded) => ("the recorded run", recorded),
            None => ("the predicted run", report.head.makespan_s),
        };
        let faster = match time / report.meta.wall_s {
            times if times < 1.0 => format!("more than {of} itself"),
            times if times < 10.0 => format!("{of} takes {times:.1} times as long"),
            times => format!("{of} takes {} times as long", grouped(times as u64)),
        };
        lines.push(("computed in", format!("{}, {faster}", seconds(report.meta.wall_s))));
    }
    if let (Some(measured), Some(error)) = (report.measured_s, report.error) {
        lines.push(("measured", format!("{} (predicted {:+.1} %)", seconds(measured), error * 100.0)));
    }
    lines.push((
        if report.head.stopped.is_some() { "delivered" } else { "messages" },
        format!("{}, {}", grouped(report.head.messages), Bytes(report.head.bytes)),
    ));
    if let Some(classes) = report.classes {
        let [ranks, classes] = [report.ranks.len() as u64, classes.into()].map(grouped);
        lines.push(("symmetry", format!("{ranks} ranks in {classes} classes; one of each is played")));
    }
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
    if let Some((name, delay)) = report.delays.as_ref().and_then(lost) {
        let most = report.links.first().map_or(String::new(), |link| format!("; most on {}", printable(&link.name)));
        lines.push((name, delay + &most));
    }
    lines.extend(of_head(&report.head));
    write_lines(&mut text, lines, &report.head);
    regions(&mut text, &report.regions);
    if let Some(step) = &report.llm {
        super::training::played(&mut text, step);
    }
    let within = report.region.as_ref().map_or_else(String::new, |region| format!(" in {}", printable(region)));
    let _ = writeln!(text, "\nWhere the time of ranks went{within} (rank: the one with the most)");
    text.table(late::breakdown(&report.breakdown));
    if let Some(path) = &report.critical_path {
        late::critical_path(&mut text, path);
    } else if report.head.status == Status::Complete && report.ranks.len() > KEPT_RANKS as usize {
        text.push_str(
            "\nCritical path and late ranks are worked out of so many ranks where they are asked for: `-o path.csv`\n",
        );
    }
    late::who(&mut text, &report.late, report.head.makespan_s);
    if !report.waits.is_empty() {
        let columns = Columns::<Wait>::new()
            .id("rank", |wait| wait.rank)
            .text("what", |wait| wait.kind)
            .id("for rank", |wait| wait.peer)
            .time("time", |wait| wait.time_s)
            .count("times", |wait| wait.count);
        text.push_str("\nThe longest waits between two ranks\n");
        text.table(Grid::of(&columns, report.waits.iter().take(WAITS)).keys(3));
    }
    text
}

/// Adds the table of time by region; nothing if there are no regions.
fn regions(text: &mut Answer, regions: &[RegionReport]) {
    if regions.is_empty() {
        return;
    }
    let columns = Columns::<RegionReport>::new()
        .text("region", |region| &region.name)
        .count("executions", |region| region.executions)
        .id("ranks", |region| region.ranks)
        .time("time", |region| region.time_s)
        .time("computation", |region| region.computation_s)
        .time("communication", |region| region.communication_s)
        .time("waiting", |region| region.waiting_s)
        .when(regions.iter().any(|region| region.recorded_s.is_some()), |columns| {
            let error = |region: &RegionReport| region.recorded_s.map(|time| region.time_s / time - 1.0);
            columns.time("recorded", |region| Blank(region.recorded_s)).quantity(
                "error",
                Quantity::Change,
                move |region| Blank(error(region)),
            )
        });
    text.push_str("\nRegions (time: from the first rank's begin to the last one's end; the rest: mean of its ranks)\n");
    text.table(Grid::of(&columns, regions));
}

/// Returns the data that a prediction was made from.
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

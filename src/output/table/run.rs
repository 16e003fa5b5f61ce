//! The table of one run.

use std::fmt::Write;

use serde_json::Value;

use super::figures::{Scale, bandwidth, fixed, grouped, percent, seconds};
use super::{Grid, early, printable};
use crate::report::{LinkUse, Report, SeedStatistics, Status};
use crate::units::Bytes;

/// How many links are shown.
const BUSIEST: usize = 10;

/// What a report says, for a terminal: titles, figures, and the busiest links.
pub fn run(report: &Report) -> String {
    let mut text = String::new();
    for line in [&report.fabric, &report.workload] {
        let _ = writeln!(text, "{}", printable(line));
    }
    if let Some(choices) = choices(&report.scenario) {
        let _ = writeln!(text, "{}", printable(&choices));
    }
    if let Some(early) = early(report.status, report.stopped) {
        let _ = writeln!(text, "{early}");
    }
    text.push('\n');
    for (name, value) in figures(report) {
        let _ = writeln!(text, "{}", format!("{name:<14}{value}").trim_end());
    }
    let links = links(&report.links);
    if !links.is_empty() {
        let shown = report.links.len().min(BUSIEST);
        let _ = write!(text, "\nThe {shown} busiest links\n{}", links.to_text());
    }
    text
}

/// Names and values, a line each.
fn figures(report: &Report) -> Vec<(&'static str, String)> {
    let mut lines = vec![
        ("makespan", seconds(report.makespan_s)),
        ("messages", grouped(report.messages)),
        ("bytes", Bytes(report.bytes).to_string()),
        (
            "bandwidth",
            format!(
                "{} per node, {} in all",
                bandwidth(report.bandwidth_per_node_bps),
                bandwidth(report.bandwidth_bps)
            ),
        ),
    ];
    let bounds = [
        ("injection", Some(report.bounds.injection_s)),
        ("busiest link", Some(report.bounds.busiest_link_s)),
        ("bisection", report.bounds.bisection_s),
        ("critical path", report.bounds.path_s),
    ];
    for (i, (name, bound)) in bounds.into_iter().filter_map(|(name, bound)| Some((name, bound?))).enumerate() {
        let value = format!("{name:<14}{:<10}", seconds(bound));
        // A partial run has no makespan to hold against a bound of the whole.
        let close = match report.status {
            Status::Complete if bound > 0.0 => {
                let times = fixed(report.makespan_s / bound, 3);
                if i == 0 { format!("  makespan is {times} times this") } else { format!("  {times} times") }
            }
            _ => String::new(),
        };
        lines.push((if i == 0 { "bounds" } else { "" }, value + &close));
    }
    if report.messages > 0 {
        let meaning = if report.contention <= 1.0 + 1e-9 {
            "no message was held back by another".to_owned()
        } else {
            format!("messages were under way {} times as long as each would be alone", fixed(report.contention, 3))
        };
        lines.push(("contention", format!("{}  ({meaning})", fixed(report.contention, 3))));
    }
    if let Some(rounds) = report.rounds {
        let (min, mean, max) = (rounds.min, fixed(rounds.mean, 1), rounds.max);
        lines.push(("rounds", format!("{mean} of redistribution on average, {min} to {max}")));
    }
    if let Some(seeds) = &report.seeds {
        lines.extend(over_seeds(seeds));
    }
    lines.push(("fingerprint", report.fingerprint.clone()));
    lines
}

/// The makespans over several seeds, in three lines.
pub(super) fn over_seeds(seeds: &SeedStatistics) -> [(&'static str, String); 3] {
    let of_mean = if seeds.mean_s > 0.0 { format!(" ({})", percent(seeds.sd_s / seeds.mean_s)) } else { String::new() };
    let (mean, deviation) = (seconds(seeds.mean_s), seconds(seeds.sd_s));
    [
        ("seeds", format!("{}; the other figures are of the first", list(&seeds.seeds))),
        ("", format!("mean makespan {mean}, standard deviation {deviation}{of_mean}")),
        ("", format!("{} to {}", seconds(seeds.min_s), seconds(seeds.max_s))),
    ]
}

/// `8 seeds (1 to 8)`, or the seeds themselves where they do not follow each other.
fn list(seeds: &[u64]) -> String {
    match (seeds.first(), seeds.last()) {
        (Some(first), Some(last)) if seeds.windows(2).all(|pair| pair[1].checked_sub(1) == Some(pair[0])) => {
            format!("{} ({first} to {last})", seeds.len())
        }
        _ => seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(", "),
    }
}

fn links(links: &[LinkUse]) -> Grid {
    let links = &links[..links.len().min(BUSIEST)];
    let capacity = Scale::bandwidth(links.iter().map(|link| link.capacity_bps));
    let bytes = Scale::bytes(links.iter().map(|link| link.bytes as f64));
    let busy = Scale::time(links.iter().map(|link| link.busy_s));
    // Not recorded, then not shown.
    let flows = links.iter().any(|link| link.peak_flows > 0);
    let mut grid = Grid::new()
        .text("link")
        .number(format!("capacity [{}]", capacity.unit))
        .number(format!("bytes [{}]", bytes.unit))
        .number("utilisation [%]");
    if flows {
        grid = grid.number(format!("busy [{}]", busy.unit)).number("peak flows").number("mean flows");
    }
    // Of packets alone; a link that has no queue at all is nothing special.
    let queues = links.iter().any(|link| link.peak_queue > 0);
    let blocked = Scale::time(links.iter().map(|link| link.blocked_s));
    if queues {
        grid = grid.number("peak queue").number("mean queue").number(format!("blocked [{}]", blocked.unit));
    }
    for link in links {
        let mut row = vec![
            link.name.clone(),
            capacity.show(link.capacity_bps),
            bytes.show(link.bytes as f64),
            fixed(link.utilisation * 100.0, 1),
        ];
        if flows {
            row.extend([busy.show(link.busy_s), link.peak_flows.to_string(), fixed(link.mean_flows, 2)]);
        }
        if queues {
            row.extend([link.peak_queue.to_string(), fixed(link.mean_queue, 2), blocked.show(link.blocked_s)]);
        }
        grid.row(row);
    }
    grid
}

/// `placement random, routing d-mod-k, sharing max-min, injection queue, seed 1`, as far as the scenario says.
fn choices(scenario: &Value) -> Option<String> {
    let mut words = Vec::new();
    let transport = chosen(&scenario["transport"]);
    for key in ["placement", "routing", "sharing"] {
        match (key, &transport) {
            ("sharing", Some(name)) => words.push(match scenario["transport"][name]["model"].as_str() {
                Some(model) => format!("transport {name}:{model}"),
                None => format!("transport {name}"),
            }),
            _ => words.extend(chosen(&scenario[key]).map(|name| format!("{key} {name}"))),
        }
    }
    if let Some(workload) = scenario["workload"].as_object().and_then(|tables| tables.values().next()) {
        if let Some(injection) = workload["injection"].as_str() {
            words.push(format!("injection {injection}"));
        }
        if let Some(jitter) = workload["message-jitter"].as_str().filter(|jitter| !jitter.starts_with("0 ")) {
            words.push(format!("jitter {jitter}"));
        }
    }
    if let Some(seed) = scenario["seed"].as_u64() {
        words.push(format!("seed {seed}"));
    }
    (!words.is_empty()).then(|| words.join(", "))
}

/// The name of the table that is the choice: `max-min` of `{"max-min": {}}`, with the file where it is one.
fn chosen(value: &Value) -> Option<String> {
    let (name, options) = value.as_object()?.iter().next()?;
    match options["path"].as_str() {
        Some(path) => Some(format!("{name} {path}")),
        None => Some(name.clone()),
    }
}

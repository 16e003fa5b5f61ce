//! Table of one run.

use std::fmt::Write;

use serde_json::Value;

use super::figures::{bandwidth, count, fixed, grouped, percent, seconds};
use super::{Answer, Grid, early, late, printable};
use crate::columns;
use hayase::report::{
    Bounds, Delays, Estimate, Estimated, FaultsReport, Head, KindDelay, LinkUse, Report, SeedStatistics, Status,
};
use hayase::units::Bytes;

/// Number of links shown.
const BUSIEST: usize = 10;
/// Number of kinds of links that are named with their fraction of all delay.
const KINDS: usize = 3;
/// Number of names of failed parts shown.
const FAILED: usize = 3;

/// Returns a report as text: titles, figures, and the busiest links.
pub fn run(report: &Report) -> Answer {
    let mut text = Answer::new();
    for line in [&report.fabric, &report.workload] {
        let _ = writeln!(text, "{}", printable(line));
    }
    if let Some(choices) = choices(&report.head.scenario, report.channels.as_deref()) {
        let _ = writeln!(text, "{}", printable(&choices));
    }
    match (early(report.head.status, report.head.stopped), &report.head.seeds) {
        // The first run is complete, and so are its figures.
        (Some(_), Some(seeds)) => {
            let (done, missing) = (seeds.seeds.len(), seeds.missing);
            let done = done + seeds.cut_off;
            let _ = writeln!(text, "INTERRUPTED: {done} of {} seeds were run", done + missing);
        }
        (Some(early), None) => {
            let _ = writeln!(text, "{early}");
        }
        (None, _) => {}
    }
    text.push_str("\n");
    if report.head.status == Status::Complete {
        let bound = report.bounds.named().max_by(|a, b| a.1.total_cmp(&b.1)).filter(|bound| bound.1 > 0.0);
        let times = bound.map_or(String::new(), |(name, bound)| {
            format!(": {} times the lower bound by {name}", fixed(report.head.makespan_s / bound, 2))
        });
        let (work, time) = (printable(&report.workload), seconds(report.head.makespan_s));
        text.say(&format!("{work} takes {time} on {}{times}.", printable(&report.fabric)));
        text.say_delays(report.delays.as_ref());
    }
    write_lines(&mut text, figures(report), &report.head);
    if let Some(ranks) = &report.ranks {
        late::of_pattern(&mut text, ranks, report.head.makespan_s);
    }
    let links = links(&report.links);
    if !links.is_empty() {
        let shown = report.links.len().min(BUSIEST);
        let part = report.head.estimated.as_ref().and_then(Estimated::estimate);
        let of = part.map_or("", |_| ", of what was simulated for the estimate");
        let what = if report.delays.as_ref().is_some_and(|delays| delays.total_s > 0.0) {
            format!("The {shown} links on which messages lost most time")
        } else {
            format!("The {shown} busiest links")
        };
        let _ = writeln!(text, "\n{what}{of}");
        text.table(links);
    }
    text
}

/// Returns names and values, a line each.
fn figures(report: &Report) -> Lines {
    let mut lines = vec![
        ("makespan", seconds(report.head.makespan_s) + &estimated(report.head.estimated.as_ref())),
        ("messages", grouped(report.head.messages)),
        ("bytes", Bytes(report.head.bytes).to_string()),
        (
            "bandwidth",
            format!(
                "{} per node, {} in all",
                bandwidth(report.bandwidth_per_node_bps),
                bandwidth(report.bandwidth_bps)
            ),
        ),
    ];
    for (i, (name, bound)) in report.bounds.named().enumerate() {
        let value = format!("{name:<14}{:<10}", seconds(bound));
        // A partial run has no makespan to compare with a bound of the whole run.
        let close = match report.head.status {
            _ if bound > 0.0 && (report.head.status == Status::Complete || report.head.seeds.is_some()) => {
                let times = fixed(report.head.makespan_s / bound, 3);
                if i == 0 { format!("  makespan is {times} times this") } else { format!("  {times} times") }
            }
            _ => String::new(),
        };
        lines.push((if i == 0 { "bounds" } else { "" }, value + &close));
    }
    lines.extend(optimum(&report.bounds));
    if let Some(order) = &report.order {
        let tried = order.rounds.iter().map(|(name, time_s)| format!("{name} {}", seconds(*time_s)));
        let tried = tried.collect::<Vec<_>>().join(", ");
        let why = if tried.is_empty() { String::new() } else { format!("  (in rounds: {tried})") };
        lines.push(("order", format!("{}{why}", order.order)));
    }
    if let Some(ratio) = report.ratio_in_step {
        let ratio = fixed(ratio, 3);
        lines.push(("in step only", format!("without late starts the makespan is {ratio} times the bound")));
    }
    if report.head.messages > 0 {
        let meaning = if report.contention <= 1.0 + 1e-9 {
            "no message was held back by another".to_owned()
        } else {
            format!("messages were under way {} times as long as each would be alone", fixed(report.contention, 3))
        };
        lines.push(("contention", format!("{}  ({meaning})", fixed(report.contention, 3))));
    }
    let is_part = report.head.estimated.as_ref().and_then(Estimated::estimate).is_some();
    lines.extend(report.delays.as_ref().filter(|_| !is_part).and_then(lost));
    if let Some(rounds) = report.rounds {
        let (min, mean, max) = (rounds.min, fixed(rounds.mean, 1), rounds.max);
        lines.push(("rounds", format!("{mean} of redistribution on average, {min} to {max}")));
    }
    lines.extend(of_head(&report.head));
    lines.push(("fingerprint", report.head.fingerprint.clone()));
    lines
}

impl Answer {
    /// Adds the sentence that names the kind of links that hold messages back most.
    pub(super) fn say_delays(&mut self, delays: Option<&Delays>) {
        let kind = delays.filter(|delays| delays.total_s > 0.0).and_then(|delays| delays.kinds.first());
        if let Some(KindDelay { links, part }) = kind {
            let part = percent(*part);
            self.say(&format!(
                "{part} of the time that messages lose to each other is lost on links of kind `{links}`."
            ));
        }
    }
}

/// Returns the line of the time that messages lost on links; nothing if they lost none.
pub(super) fn lost(delays: &Delays) -> Option<(&'static str, String)> {
    let kinds = delays.kinds.iter().filter(|kind| kind.part >= 0.005).take(KINDS);
    let kinds: Vec<String> = kinds.map(|kind| format!("{} on {}", percent(kind.part), kind.links)).collect();
    let line = || format!("{} lost by all messages: {}", seconds(delays.total_s), kinds.join("; "));
    (delays.total_s > 0.0).then(|| ("delay", line()))
}

/// Returns the line of the optimum over all routings, if it was asked for.
pub(super) fn optimum(bounds: &Bounds) -> Option<(&'static str, String)> {
    let (least, reached, proof) = (bounds.optimum_at_least_s?, bounds.optimum_reached_s?, bounds.optimum_certificate?);
    let times = match reached <= least * (1.0 + 1e-9) {
        true => format!("exactly {}", seconds(least)),
        false => format!("{} to {}", seconds(least), seconds(reached)),
    };
    Some(("optimum", format!("{times} on any routes, by volume; proof: {proof}")))
}

/// Names and values, a line each.
pub(super) type Lines = Vec<(&'static str, String)>;

/// Returns the lines that every report has: faults, seeds, cost of slow ranks.
pub(super) fn of_head(head: &Head) -> impl Iterator<Item = (&'static str, String)> {
    let faults = head.faults.iter().flat_map(|faults| failed(faults));
    let noise = head.noise.iter().flat_map(|noise| super::noise::lines(noise));
    faults.chain(head.seeds.iter().flat_map(over_seeds)).chain(noise)
}

/// Writes lines, then the delay over the distance from slow ranks.
pub(super) fn write_lines(text: &mut Answer, lines: Lines, head: &Head) {
    for (name, value) in lines {
        let _ = writeln!(text, "{}", format!("{name:<14}{value}").trim_end());
    }
    if let Some(distances) = head.noise.as_ref().and_then(|noise| super::noise::distances(noise)) {
        let _ = writeln!(text, "\n{}", super::noise::HEADING);
        text.table(distances);
    }
}

/// Returns a remark on an interval that is wider than requested.
fn wider(estimate: &Estimate) -> String {
    if estimate.is_wider() {
        format!(", wider than the {} % asked for", fixed(100.0 * estimate.asked, 2))
    } else {
        String::new()
    }
}

/// Returns a remark on a makespan for which an estimate was requested.
pub fn estimated(estimated: Option<&Estimated>) -> String {
    match estimated {
        None => String::new(),
        Some(Estimated::Full(_)) => "  (no estimate: all was simulated)".to_owned(),
        Some(Estimated::By(estimate)) => format!(
            "  (an estimate, \u{b1} {} %{}: {} to {} at {} confidence, of {} of all messages)",
            fixed(100.0 * estimate.error(), 2),
            wider(estimate),
            seconds(estimate.low_s),
            seconds(estimate.high_s),
            percent(estimate.confidence),
            percent(estimate.simulated_part),
        ),
    }
}

/// Returns the failed parts and their effect on messages.
pub fn failed(faults: &FaultsReport) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    let kinds = [
        (["link failed", "links failed"], &faults.failed_links),
        (["switch failed", "switches failed"], &faults.failed_switches),
        (["link degraded", "links degraded"], &faults.degraded_links),
    ];
    for ([one, several], parts) in kinds.into_iter().filter(|(_, parts)| parts.count > 0) {
        let mut names: Vec<String> = parts.names.iter().take(FAILED).map(|name| printable(name)).collect();
        if parts.count > names.len() as u64 {
            names.push("...".to_owned());
        }
        lines.push(format!("{} ({})", count(parts.count, one, several), names.join(", ")));
    }
    if lines.is_empty() && !faults.events {
        lines.push("nothing failed: the part that was asked for is less than half of one".to_owned());
    }
    if faults.events {
        lines.push("links fail, come back or change while it runs".to_owned());
    }
    if let Some(pairs) = faults.pairs_cut_off.filter(|pairs| *pairs > 0) {
        let first: Vec<String> = faults.cut_off.iter().take(FAILED).map(|name| printable(name)).collect();
        lines.push(format!("{} pairs of nodes are cut off ({} ...)", grouped(pairs), first.join(", ")));
    }
    if faults.resent > 0 {
        lines.push(format!("{} messages were sent again, or later", grouped(faults.resent)));
    }
    if faults.lost + faults.stranded > 0 {
        let (lost, stranded) = (grouped(faults.lost), grouped(faults.stranded));
        lines.push(format!("{lost} messages were lost, {stranded} found no way"));
    }
    (0..).zip(lines).map(|(number, line)| (if number == 0 { "faults" } else { "" }, line)).collect()
}

/// Returns the makespans over several seeds, in three lines.
fn over_seeds(seeds: &SeedStatistics) -> [(&'static str, String); 3] {
    let of_mean = if seeds.mean_s > 0.0 { format!(" ({})", percent(seeds.sd_s / seeds.mean_s)) } else { String::new() };
    let (mean, deviation) = (seconds(seeds.mean_s), seconds(seeds.sd_s));
    let all = seeds.seeds.len() + seeds.missing + seeds.cut_off;
    let of = if all > seeds.seeds.len() { format!(" of {all}") } else { String::new() };
    let cut_off = match seeds.cut_off {
        0 => String::new(),
        cut_off => format!("; with {} messages have no way", count(cut_off as u64, "seed", "seeds")),
    };
    let run = seeds.seeds.len();
    [
        ("seeds", format!("{run}{of} ({}){cut_off}; the other figures are of the first", list(&seeds.seeds))),
        ("", format!("mean makespan {mean}, standard deviation {deviation}{of_mean}")),
        ("", format!("{} to {}", seconds(seeds.min_s), seconds(seeds.max_s))),
    ]
}

/// Formats seeds, consecutive ones as ranges: `1 to 8`, `1 to 45, 201 to 241`.
fn list(seeds: &[u64]) -> String {
    const MOST: usize = 4;
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for &seed in seeds {
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(seed) => *last = seed,
            _ => runs.push((seed, seed)),
        }
    }
    let shown = runs.iter().take(MOST).map(|(first, last)| match last - first {
        0 => first.to_string(),
        1 => format!("{first}, {last}"),
        _ => format!("{first} to {last}"),
    });
    let more = if runs.len() > MOST { ", ..." } else { "" };
    shown.collect::<Vec<_>>().join(", ") + more
}

fn links(links: &[LinkUse]) -> Grid {
    let links = &links[..links.len().min(BUSIEST)];
    let any = |has: fn(&LinkUse) -> bool| links.iter().any(has);
    let mut shown = vec![("name", "link"), ("capacity", ""), ("bytes", ""), ("utilisation", "")];
    // Figures that were not recorded are not shown.
    if any(|link| link.peak_flows > 0) {
        shown.extend([("busy", ""), ("peak_flows", "peak flows"), ("mean_flows", "mean flows")]);
    }
    // Only packet models have queues, and most links never have one.
    if any(|link| link.peak_queue > 0) {
        shown.extend([("peak_queue", "peak queue"), ("mean_queue", "mean queue"), ("blocked", "")]);
    }
    if any(|link| link.delay_s > 0.0) {
        shown.push(("delay", "lost here"));
    }
    Grid::of(&columns::links().only(&shown), links)
}

/// Returns the choices of a scenario: `placement random, routing d-mod-k, sharing max-min, injection queue,
/// seed 1`. The rule for virtual channels follows the model of switches.
fn choices(scenario: &Value, channels: Option<&str>) -> Option<String> {
    let rule = channels.map_or_else(String::new, |rule| format!(" ({rule})"));
    let mut words = Vec::new();
    let transport = chosen(&scenario["transport"]);
    for key in ["placement", "routing", "sharing"] {
        match (key, &transport) {
            ("sharing", Some(name)) => words.push(match scenario["transport"][name]["model"].as_str() {
                Some(model) => format!("transport {name}:{model}{rule}"),
                None => format!("transport {name}"),
            }),
            ("sharing", None) => words.extend(chosen(&scenario[key]).map(|name| format!("sharing {name}{rule}"))),
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

/// Returns the name of the chosen table, with its file if it has one: `max-min` of `{"max-min": {}}`.
fn chosen(value: &Value) -> Option<String> {
    let (name, options) = value.as_object()?.iter().next()?;
    match options["path"].as_str() {
        Some(path) => Some(format!("{name} {path}")),
        None => Some(name.clone()),
    }
}

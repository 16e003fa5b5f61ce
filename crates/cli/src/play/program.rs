//! Files of a program.

use std::io::{self, Write};
use std::sync::Arc;

use super::streams::Stream;
use super::{Asked, Filed, PAGE, Played, took};
use crate::files::{Names, names};
use crate::{Failure, pictures};
use hayase::atomic_file::AtomicFile;
use hayase::diagnostic::Diagnostic;
use hayase::report::replay::ReplayReport;
use hayase::report::{Meta, Status};
use hayase::scenario::Scenario;
use hayase::simulation::{KEPT, KEPT_RANKS, ProgramOutcome, ProgramWork, Simulated};
use hayase::trace::unmatched;
use hayase::units::Bytes;
use hayase_output::table::{self, Answer};
use hayase_output::trace::Trace;
use hayase_output::{csv, svg};

/// Describes the system on which a program was replayed.
fn played_on(report: &ReplayReport) -> String {
    format!("nodes {}; network: {}", report.node, report.network)
}

impl Filed for ProgramWork {
    const NAMES: Names<&'static str> = names![
        "trace.json" | "perfetto.json",
        "x.json",
        "x.html",
        "activities.csv",
        "messages.csv",
        "ranks.csv",
        "matrix.csv",
        "path.csv",
        "noise.csv",
        "noise.svg",
        "breakdown.svg",
        "timeline.svg",
        "matrix.svg",
        "links.csv",
        "links.svg",
        "loads.svg",
    ];
    const CSV: Result<(), &'static str> =
        Err("of a program there are several tables: -o ranks.csv, activities.csv, messages.csv, path.csv, matrix.csv");
    const KEPT: &'static [&'static str] = &["x.json", PAGE, "ranks.csv"];

    fn check(scenario: &Scenario<Self>, asked: &Asked<'_>) -> Result<(), Failure> {
        let path = ["links.csv", "links.svg", "loads.svg"].into_iter().find_map(|name| asked.file::<Self>(name));
        match path {
            Some(path) if scenario.system().network().is_none() => {
                let message = format!("`{}` shows links, and the program runs without a network", path.display());
                Err(Diagnostic::new("wrong-choice", message).help("add -t FABRIC").into())
            }
            _ => Ok(()),
        }
    }

    fn stream<'a>(scenario: &'a Scenario<Self>, name: &str, file: AtomicFile) -> io::Result<Box<dyn Stream + 'a>> {
        let Self { program, name: title, .. } = scenario.work();
        Ok(match name {
            "trace.json" => Box::new(Trace::new(file, title, program.ranks(), &program.regions)?),
            "messages.csv" => Box::new(csv::transfers(file, Arc::clone(program))?),
            _ => Box::new(csv::activities(file)?),
        })
    }

    fn write(played: &Played<'_, Self>, name: &str, w: &mut dyn Write) -> io::Result<()> {
        let &Played { scenario, outcome, report, ref matrix, window, .. } = played;
        let ProgramOutcome { history, path, regions, .. } = outcome;
        let (path, ranks) = (path.as_deref().unwrap_or_default(), report.ranks.len() as u32);
        let picture = match name {
            "ranks.csv" => {
                let known = history.is_some() && report.region.is_none() && report.head.status == Status::Complete;
                return csv::ranks(&report.ranks, &report.late, known, w);
            }
            "path.csv" => return csv::path(path, w),
            "links.csv" => return csv::links(outcome.links.iter(), w),
            "links.svg" | "loads.svg" => {
                let Some(network) = scenario.system().network() else { return Ok(()) };
                let (fabric, head) = (&network.fabric, &report.head);
                return match name {
                    "links.svg" => pictures::series(fabric, &outcome.links, &report.program, head.makespan_s, w),
                    _ => pictures::loads(fabric, &outcome.links, &report.program, head, w),
                };
            }
            "matrix.csv" => return csv::matrix(matrix, w),
            "matrix.svg" => {
                let messages = table::count(report.head.messages, "message", "messages");
                svg::matrix(matrix, ranks, &report.program, &format!("{messages}, {}", Bytes(report.head.bytes)))
            }
            "breakdown.svg" => {
                let region = report.region.as_ref().map_or(String::new(), |region| format!(" (region {region})"));
                svg::breakdown(&report.ranks, &format!("{}{region}", report.program), &played_on(report))
            }
            "timeline.svg" => {
                let Some(history) = history else { return Ok(()) };
                let names = &scenario.work().program.regions;
                let named = report.regions.iter().filter_map(|region| {
                    let number = names.iter().position(|name| **name == *region.name)?;
                    Some((region.name.as_str(), regions.get(number)?.spans.as_slice()))
                });
                let regions: Vec<svg::Region<'_>> = named.collect();
                let makespan_s = report.head.makespan_s;
                let played = svg::Played { history, path, ranks, makespan_s, regions: &regions, window };
                svg::replay(&played, &report.program, &played_on(report))
            }
            _ => return Ok(()),
        };
        w.write_all(picture.as_bytes())
    }

    fn pictures(scenario: &Scenario<Self>) -> Vec<&'static str> {
        let has_history = scenario.work().messages() <= KEPT as u64 && scenario.work().ranks() <= KEPT_RANKS;
        let of_links = scenario.system().network().filter(|_| has_history).map(|_| ["loads.svg", "links.svg"]);
        let of_ranks = has_history.then_some("timeline.svg").into_iter().chain(["breakdown.svg", "matrix.svg"]);
        of_ranks.chain(of_links.into_iter().flatten()).collect()
    }

    fn title(report: &ReplayReport) -> String {
        format!("{}; {}", report.program, played_on(report))
    }

    fn table(report: &ReplayReport) -> Answer {
        table::replay(report)
    }

    fn took(_: &ReplayReport, meta: &Meta) -> String {
        took("played", meta, &[(meta.events, "events")])
    }

    fn say(scenario: &Scenario<Self>, outcome: &ProgramOutcome, asked: &Asked<'_>) {
        if !outcome.stuck.is_empty()
            && outcome.report.head.status != Status::Complete
            && let Some(mistake) = unmatched(&scenario.work().program).receives.first()
        {
            asked.voice.hint(&mistake.message);
        }
    }
}

//! Files of a program.

use std::io::{self, Write};
use std::sync::Arc;

use super::streams::Stream;
use super::{Asked, Filed, PAGE, took};
use crate::Failure;
use crate::files::{Names, names};
use hayase::atomic_file::AtomicFile;
use hayase::diagnostic::Diagnostic;
use hayase::report::replay::ReplayReport;
use hayase::report::{Meta, Status};
use hayase::scenario::Scenario;
use hayase::simulation::{ProgramOutcome, ProgramWork};
use hayase::trace::unmatched;
use hayase_output::csv;
use hayase_output::shown::{Played, Shown};
use hayase_output::trace::Trace;

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
        let &Played { outcome, report, ref matrix, .. } = played;
        match name {
            "ranks.csv" => {
                let is_known = outcome.history.is_some();
                let known = is_known && report.region.is_none() && report.head.status == Status::Complete;
                csv::ranks(&report.ranks, &report.late, known, w)
            }
            "path.csv" => csv::path(outcome.path.as_deref().unwrap_or_default(), w),
            "links.csv" => csv::links(outcome.links.iter(), w),
            "matrix.csv" => csv::matrix(matrix, w),
            _ => Self::draw(played, name, w),
        }
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

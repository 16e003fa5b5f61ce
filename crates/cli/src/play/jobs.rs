//! Files of several jobs on one fabric.

use std::io::{self, Write};

use super::streams::Stream;
use super::{Asked, Filed};
use crate::Failure;
use crate::files::{Names, names};
use crate::options::Format;
use hayase::atomic_file::AtomicFile;
use hayase::diagnostic::Diagnostic;
use hayase::report::{JobsReport, Meta};
use hayase::scenario::Scenario;
use hayase::simulation::JobsWork;
use hayase_output::shown::{Played, Shown};
use hayase_output::{csv, table};

/// Word in names of files with the delays between jobs.
pub const INTERFERENCE: &str = "interference";

/// Returns the jobs with their numbers of ranks.
fn ranks(work: &JobsWork) -> impl Iterator<Item = (&str, u32)> {
    work.jobs.iter().map(|job| (job.name.as_str(), job.task.ranks()))
}

impl Filed for JobsWork {
    const NAMES: Names<&'static str> = names![
        "x.json",
        "x.html",
        "noise.svg",
        "noise.csv",
        "interference.svg",
        "interference.csv",
        "timeline.svg",
        "loads.svg",
        "x.svg",
        "messages.csv",
        "links.csv",
        "x.csv",
    ];

    fn check(scenario: &Scenario<Self>, asked: &Asked<'_>) -> Result<(), Failure> {
        let is_written = ["interference.csv", "interference.svg"].iter().any(|name| asked.file::<Self>(name).is_some());
        if asked.interference && !is_written && asked.out.format == Format::Csv {
            let diagnostic =
                Diagnostic::new("wrong-choice", "the table of jobs does not contain the delays between jobs");
            return Err(diagnostic.help("write -o interference.csv in the place of --interference").into());
        }
        if asked.interference || is_written {
            scenario.work().tells_interference(scenario.system())?;
        }
        Ok(())
    }

    fn stream<'a>(scenario: &'a Scenario<Self>, _: &str, file: AtomicFile) -> io::Result<Box<dyn Stream + 'a>> {
        Ok(Box::new(csv::JobMessages::new(file, ranks(scenario.work()))?))
    }

    fn write(played: &Played<'_, Self>, name: &str, w: &mut dyn Write) -> io::Result<()> {
        let &Played { scenario, outcome: run, report, .. } = played;
        match name {
            "x.csv" => csv::jobs(report, w),
            "links.csv" => csv::job_links(&run.links, ranks(scenario.work()).map(|(name, _)| name), w),
            "interference.csv" => csv::interference(report, w),
            _ => Self::draw(played, name, w),
        }
    }

    fn csv(report: &JobsReport, w: &mut dyn Write) -> io::Result<()> {
        csv::jobs(report, w)
    }

    fn took(_: &JobsReport, meta: &Meta) -> String {
        format!("simulated in {}", table::seconds(meta.wall_s))
    }
}

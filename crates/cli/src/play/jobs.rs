//! Files of several jobs on one fabric.

use std::io::{self, Write};

use super::streams::Stream;
use super::{Asked, Filed, Played, TIMELINE};
use crate::Failure;
use crate::files::{Names, names};
use crate::options::Format;
use hayase::atomic_file::AtomicFile;
use hayase::diagnostic::Diagnostic;
use hayase::report::{JobsLink, JobsReport, Meta};
use hayase::scenario::Scenario;
use hayase::simulation::{JobsWork, Simulated};
use hayase_output::table::{self, Answer};
use hayase_output::{csv, svg};

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
        let &Played { scenario, outcome: run, report, window, .. } = played;
        let picture = match name {
            "x.csv" => return csv::jobs(report, w),
            "links.csv" => return csv::job_links(&run.links, ranks(scenario.work()).map(|(name, _)| name), w),
            "interference.csv" => return csv::interference(report, w),
            "interference.svg" => svg::interference(report),
            "x.svg" => svg::jobs(report),
            "loads.svg" => {
                let load =
                    |link: &JobsLink| svg::LinkLoad { utilisation: link.utilisation, bytes: link.bytes, delay_s: 0.0 };
                let loads: Vec<svg::LinkLoad> = run.links.iter().map(load).collect();
                let Some(network) = scenario.network() else { return Ok(()) };
                let makespan = table::seconds(report.head.makespan_s);
                let subtitle = format!("{} jobs, makespan {makespan}", report.jobs.len());
                svg::link_loads(&network.fabric, &loads, &report.fabric, &subtitle)
            }
            "timeline.svg" => {
                let jobs: Vec<(&str, u32)> = ranks(scenario.work()).collect();
                let sent = svg::Sent {
                    messages: &played.messages,
                    ranks: jobs.iter().map(|(_, ranks)| ranks).sum(),
                    makespan_s: report.head.makespan_s,
                    history: None,
                    path: &[],
                    jobs: &jobs,
                    window,
                };
                svg::timeline(&sent, &Self::title(report))
            }
            _ => return Ok(()),
        };
        w.write_all(picture.as_bytes())
    }

    fn pictures(scenario: &Scenario<Self>) -> Vec<&'static str> {
        let has_messages = scenario.work().messages() <= TIMELINE;
        ["x.svg", "loads.svg"].into_iter().chain(has_messages.then_some("timeline.svg")).collect()
    }

    fn title(report: &JobsReport) -> String {
        format!("{} jobs on {}", report.jobs.len(), report.fabric)
    }

    fn table(report: &JobsReport) -> Answer {
        table::jobs(report)
    }

    fn csv(report: &JobsReport, w: &mut dyn Write) -> io::Result<()> {
        csv::jobs(report, w)
    }

    fn took(_: &JobsReport, meta: &Meta) -> String {
        format!("simulated in {}", table::seconds(meta.wall_s))
    }
}

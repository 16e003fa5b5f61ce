//! Runs as a page shows them: tables and pictures of each kind of work.

use std::io::{self, Write};

use hayase::player::Transfer;
use hayase::record::Matrix;
use hayase::report::replay::ReplayReport;
use hayase::report::{JobsLink, JobsReport, LinkUse, MessageRecord, Report, Status};
use hayase::scenario::Scenario;
use hayase::simulation::{JobsWork, KEPT, KEPT_RANKS, PatternWork, ProgramOutcome, ProgramWork, RunOptions, Simulated};
use hayase::units::Bytes;

use crate::page::{self, Binned, Page, PagePicture, RunData};
use crate::runner::{Answering, Looking, ReportOf, Reported, Told, answer};
use crate::table::{self, Answer};
use crate::{pictures, svg};

/// Largest number of messages in a timeline: more cannot be told apart, and all are kept until the end.
pub const TIMELINE: u64 = 100_000;
/// Largest number of messages that a page sums up. More are not shown.
const MOST_SUMMED: u64 = 3_000_000;

/// Finished run with its observations.
pub struct Played<'a, W: Answering> {
    /// The scenario.
    pub scenario: &'a Scenario<W>,
    /// Outcome of the run.
    pub outcome: &'a W::Outcome,
    /// Report of the run.
    pub report: &'a ReportOf<W>,
    /// All messages if there is a timeline, at most one more than it can show.
    pub messages: Vec<MessageRecord>,
    /// Sums of all messages for a page.
    pub binned: Option<Binned>,
    /// Messages between ranks, if counted.
    pub matrix: Matrix,
    /// Part of the run that a timeline shows.
    pub window: svg::Window,
}

/// Work with tables and pictures of its run.
pub trait Shown: Answering {
    /// Returns the names of the pictures on a page of this scenario's run.
    fn pictures(scenario: &Scenario<Self>) -> Vec<&'static str>;

    /// Draws a picture; nothing is written for a name that this work has not.
    ///
    /// # Errors
    /// Fails if the writer fails.
    fn draw(played: &Played<'_, Self>, name: &str, w: &mut dyn Write) -> io::Result<()>;

    /// Returns the data for the script of a page.
    fn data<'a>(played: &'a Played<'_, Self>) -> Option<RunData<'a>>;

    /// Returns the number of ranks if a page sums up their messages.
    fn summed_ranks(_scenario: &Scenario<Self>) -> Option<u32> {
        None
    }

    /// Returns the title of pictures.
    fn title(report: &ReportOf<Self>) -> String;

    /// Returns the answer for a terminal.
    fn table(report: &ReportOf<Self>) -> Answer;
}

/// Runs a scenario with these seeds and writes its page as `-o x.html` does, with `more` pictures. `command` repeats
/// the run. Returns the outcome.
///
/// # Errors
/// Fails if the scenario cannot be built with one of the seeds, or the page cannot be written.
pub fn write_page<W: Shown>(
    scenario: &Scenario<W>,
    seeds: &[u64],
    more: &[&'static str],
    command: &str,
    looking: &impl Looking,
    w: &mut dyn Write,
) -> Result<W::Outcome, Box<dyn std::error::Error>> {
    let shown: Vec<&str> = W::pictures(scenario).into_iter().chain(more.iter().copied()).collect();
    let wants = |name: &str| shown.contains(&name);
    let transfers = scenario.work().program().is_some();
    let (mut messages, mut matrix) = (Vec::new(), Matrix::default());
    let summed = W::summed_ranks(scenario);
    let mut binned = summed.map(|ranks| Binned::new(ranks, 1));
    let mut on_message = |message: &MessageRecord| {
        if messages.len() as u64 <= TIMELINE {
            messages.push(*message);
        }
        if let Some(binned) = &mut binned {
            binned.message(message);
        }
    };
    let mut on_transfer = |transfer: &Transfer| matrix.add(transfer);
    let outcome = answer(scenario, seeds, looking, |watch| {
        scenario.run(RunOptions {
            on_message: if summed.is_some() || !transfers && wants("timeline.svg") {
                Some(&mut on_message)
            } else {
                None
            },
            on_transfer: if transfers && wants("matrix.svg") { Some(&mut on_transfer) } else { None },
            watch: Some(watch),
            ..scenario.work().observed(&wants)
        })
    })?;
    let report = outcome.report();
    let played =
        Played { scenario, outcome: &outcome, report, messages, binned, matrix, window: svg::Window::default() };
    let is_complete = W::summary(&outcome).status == Status::Complete;
    let draw = |name: &&str| {
        let mut svg = Vec::new();
        W::draw(&played, name, &mut svg)?;
        Ok(PagePicture::new(name, String::from_utf8_lossy(&svg)))
    };
    let pictures = shown.iter().filter(|_| is_complete).map(draw).collect::<io::Result<Vec<_>>>()?;
    let (title, answer) = (W::title(report), W::table(report));
    let data = W::data(&played).filter(|_| is_complete).map(|data| data.to_json()).unwrap_or_default();
    page::write(&Page { title: &title, answer: &answer, pictures: &pictures, command, data: &data }, report, w)?;
    Ok(outcome)
}

/// Returns the messages of a run for its page, or the reason why they are not all known.
fn observed<'a, W: Shown>(played: &'a Played<'_, W>) -> RunData<'a> {
    let (messages, unknown) = match played.messages.len() as u64 {
        0 => (&[][..], "messages were not recorded"),
        messages if messages > TIMELINE => (&[][..], "the run has more than 100,000 messages"),
        _ => (played.messages.as_slice(), ""),
    };
    let end_s = Reported::head(played.report).makespan_s;
    RunData { messages: messages.into(), unknown, binned: played.binned.as_ref(), end_s, ..RunData::default() }
}

impl Shown for PatternWork {
    fn pictures(scenario: &Scenario<Self>) -> Vec<&'static str> {
        let has_messages = scenario.work().messages() <= TIMELINE && scenario.system().estimate().is_none();
        ["x.svg", "links.svg"].into_iter().chain(has_messages.then_some("timeline.svg")).collect()
    }

    fn draw(played: &Played<'_, Self>, name: &str, w: &mut dyn Write) -> io::Result<()> {
        let &Played { scenario, outcome: run, report, window, .. } = played;
        match (name, scenario.network()) {
            ("x.svg", Some(network)) => pictures::loads(&network.fabric, &run.links, &report.workload, &report.head, w),
            ("links.svg", Some(network)) => {
                pictures::series(&network.fabric, &run.links, &report.workload, report.head.makespan_s, w)
            }
            ("timeline.svg", _) => pictures::timeline(&played.messages, scenario.work(), run, window, w),
            _ => Ok(()),
        }
    }

    fn data<'a>(played: &'a Played<'_, Self>) -> Option<RunData<'a>> {
        let &Played { scenario, outcome: run, .. } = played;
        Some(RunData {
            network: scenario.network(),
            links: run.links.iter().collect(),
            measured: Some(&run.links),
            history: run.history.as_ref(),
            path: run.path.as_deref().unwrap_or_default(),
            ranks: scenario.work().pattern.ranks(),
            ..observed(played)
        })
    }

    fn summed_ranks(scenario: &Scenario<Self>) -> Option<u32> {
        let is_played = scenario.work().messages() <= MOST_SUMMED && scenario.system().estimate().is_none();
        is_played.then(|| scenario.work().pattern.ranks())
    }

    fn title(report: &Report) -> String {
        format!("{} on {}", report.workload, report.fabric)
    }

    fn table(report: &Report) -> Answer {
        table::run(report)
    }
}

/// Describes the system on which a program was replayed.
fn played_on(report: &ReplayReport) -> String {
    format!("nodes {}; network: {}", report.node, report.network)
}

impl Shown for ProgramWork {
    fn pictures(scenario: &Scenario<Self>) -> Vec<&'static str> {
        let has_history = scenario.work().messages() <= KEPT as u64 && scenario.work().ranks() <= KEPT_RANKS;
        let of_links = scenario.system().network().filter(|_| has_history).map(|_| ["loads.svg", "links.svg"]);
        let of_ranks = has_history.then_some("timeline.svg").into_iter().chain(["breakdown.svg", "matrix.svg"]);
        of_ranks.chain(of_links.into_iter().flatten()).collect()
    }

    fn draw(played: &Played<'_, Self>, name: &str, w: &mut dyn Write) -> io::Result<()> {
        let &Played { scenario, outcome, report, ref matrix, window, .. } = played;
        let ProgramOutcome { history, path, regions, .. } = outcome;
        let (path, ranks) = (path.as_deref().unwrap_or_default(), report.ranks.len() as u32);
        let picture = match name {
            "links.svg" | "loads.svg" => {
                let Some(network) = scenario.system().network() else { return Ok(()) };
                let (fabric, head) = (&network.fabric, &report.head);
                return match name {
                    "links.svg" => pictures::series(fabric, &outcome.links, &report.program, head.makespan_s, w),
                    _ => pictures::loads(fabric, &outcome.links, &report.program, head, w),
                };
            }
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

    fn data<'a>(played: &'a Played<'_, Self>) -> Option<RunData<'a>> {
        let &Played { scenario, outcome, report, .. } = played;
        let history = outcome.history.as_ref().filter(|history| !history.is_full());
        let message = |transfer: &Transfer| MessageRecord {
            src: transfer.src.0,
            dst: transfer.dst.0,
            index: transfer.message,
            bytes: transfer.bytes,
            start_s: transfer.leave.min(transfer.arrive).seconds(),
            end_s: transfer.arrive.seconds(),
        };
        let links: Vec<LinkUse> = outcome.links.iter().collect();
        Some(RunData {
            network: scenario.system().network().filter(|_| !links.is_empty()),
            links,
            measured: Some(&outcome.links),
            messages: history.map_or(Vec::new(), |history| history.transfers().map(message).collect()).into(),
            unknown: if history.is_some() { "" } else { "messages were not recorded" },
            history,
            path: outcome.path.as_deref().unwrap_or_default(),
            ranks: report.ranks.len() as u32,
            ..observed(played)
        })
    }

    fn title(report: &ReplayReport) -> String {
        format!("{}; {}", report.program, played_on(report))
    }

    fn table(report: &ReplayReport) -> Answer {
        table::replay(report)
    }
}

impl Shown for JobsWork {
    fn pictures(scenario: &Scenario<Self>) -> Vec<&'static str> {
        let has_messages = scenario.work().messages() <= TIMELINE;
        ["x.svg", "loads.svg"].into_iter().chain(has_messages.then_some("timeline.svg")).collect()
    }

    fn draw(played: &Played<'_, Self>, name: &str, w: &mut dyn Write) -> io::Result<()> {
        let &Played { scenario, outcome: run, report, window, .. } = played;
        let picture = match name {
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
                let jobs = scenario.work().jobs.iter().map(|job| (job.name.as_str(), job.task.ranks()));
                let jobs: Vec<(&str, u32)> = jobs.collect();
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

    fn data<'a>(played: &'a Played<'_, Self>) -> Option<RunData<'a>> {
        let &Played { scenario, outcome: run, .. } = played;
        let jobs: Vec<(&str, u32)> =
            scenario.work().jobs.iter().map(|job| (job.name.as_str(), job.task.ranks())).collect();
        let link = |link: &JobsLink| LinkUse {
            id: link.id,
            name: link.name.clone(),
            capacity_bps: link.capacity_bps,
            bytes: link.bytes,
            utilisation: link.utilisation,
            ..LinkUse::default()
        };
        Some(RunData {
            network: scenario.network(),
            links: run.links.iter().map(link).collect(),
            ranks: jobs.iter().map(|(_, ranks)| ranks).sum(),
            jobs,
            ..observed(played)
        })
    }

    fn summed_ranks(scenario: &Scenario<Self>) -> Option<u32> {
        let jobs = &scenario.work().jobs;
        (scenario.work().messages() <= MOST_SUMMED).then(|| jobs.iter().map(|job| job.task.ranks()).sum())
    }

    fn title(report: &JobsReport) -> String {
        format!("{} jobs on {}", report.jobs.len(), report.fabric)
    }

    fn table(report: &JobsReport) -> Answer {
        table::jobs(report)
    }
}

//! `hayase run` of several jobs on one fabric.

use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;

use super::files::{Opened, outputs};
use super::options::{Format, Offer, OutputArgs};
use super::progress::RunMonitor;
use super::seeds::over;
use super::window::WindowArgs;
use super::{End, Failure, Voice, complain, deadlock, files, interrupt, noise, pictures};
use hayase::atomic_file::AtomicFile;
use hayase::diagnostic::Diagnostic;
use hayase::report::{JobsLink, JobsReport, MessageRecord, Status};
use hayase::scenario::Scenario;
use hayase::simulation::{JobsOutcome, JobsWork, RunOptions};
use hayase_output::svg::Window;
use hayase_output::{csv, json, svg, table};

/// Messages of a timeline at most: more of them are no longer seen apart, and are all kept until the end.
const TIMELINE: usize = 100_000;
/// What names of files have that hold who delays whom.
pub const INTERFERENCE: &str = "interference";

outputs! {
    /// Contents of a file, by its name.
    enum Kind {
        Report: "x.json",
        Noise: "noise.svg",
        NoiseTable: "noise.csv",
        InterferencePicture: "interference.svg",
        Interference: "interference.csv",
        Timeline: "timeline.svg",
        Loads: "loads.svg",
        Picture: "x.svg",
        Messages: "messages.csv",
        Links: "links.csv",
        Jobs: "x.csv",
    }
}

/// Whether a name is that of a file that jobs have.
pub fn knows(path: &Path) -> Result<(), Diagnostic> {
    Kind::of(path).map(drop)
}

const OFFER: Offer<Kind> = Offer { verb: "run", kind: Kind::of, json: Ok(()), csv: Ok(()), threads: true };

/// Runs the jobs, and each of them alone.
pub fn play(
    scenario: &Scenario<JobsWork>,
    seeds: &[u64],
    interference: bool,
    out: &OutputArgs,
    window: &WindowArgs,
    voice: Voice,
) -> Result<End, Failure> {
    out.check(&OFFER)?;
    for kind in [Kind::Noise, Kind::NoiseTable] {
        noise::check(scenario.system(), out.file_of(&OFFER, kind))?;
    }
    let kinds = [Kind::Interference, Kind::InterferencePicture];
    let is_written = kinds.into_iter().any(|kind| out.file_of(&OFFER, kind).is_some());
    if interference && !is_written && out.format == Format::Csv {
        let diagnostic = Diagnostic::new("wrong-choice", "the rows of jobs do not say which delays which");
        return Err(diagnostic.help("write -o interference.csv in the place of --interference").into());
    }
    let interference = interference || is_written;
    if interference {
        scenario.work().tells_interference(scenario.system())?;
    }
    let window = window.window(out.file_of(&OFFER, Kind::Timeline).is_some())?;
    let files = out.open(&OFFER)?;
    let Observed { mut run, files, records } = observe(scenario, interference, files, voice)?;
    if seeds.len() > 1 && run.report.head.status == Status::Complete {
        let statistics = over(scenario, seeds, &run.summary(), voice)?;
        if statistics.missing > 0 {
            run.report.head.status = Status::Interrupted;
        }
        run.report.head.seeds = Some(statistics);
    }
    noise::cost(scenario, &mut run.report.head, voice)?;
    let report = &run.report;
    for (kind, file) in files {
        if report.head.status != Status::Complete && kind != Kind::Report {
            voice.say(format_args!("`{}` is not written: the run is not complete", file.path().display()));
            continue;
        }
        if kind == Kind::Timeline && records.len() > TIMELINE {
            let (path, most) = (file.path().display(), table::grouped(TIMELINE as u64));
            voice.say(format_args!("`{path}` is not written: there are more than {most} messages"));
            continue;
        }
        file.write(|w| write(kind, w, scenario, &run, &records, window))?;
    }
    out.print_rows(|| table::jobs(report), report, |w| csv::jobs(report, w))?;
    voice.say(format!("simulated in {}", table::seconds(report.meta.wall_s)));
    Ok(match report.head.status {
        Status::Complete => End::Done,
        // Only a farm by itself can be left undone.
        Status::Interrupted | Status::Undone => End::Interrupted,
        Status::Deadlocked => {
            let JobsReport { head, gridlock, .. } = report;
            let why = deadlock::explain(&run.blocked, gridlock.as_ref(), head.stopped, head.faults.as_deref());
            complain(why.trim_end());
            End::Deadlocked
        }
    })
}

/// A run with what was seen of it.
struct Observed {
    run: JobsOutcome,
    /// The files that are still to be written.
    files: Vec<(Kind, Opened)>,
    /// The messages, where there is a timeline: one more than it can show at most.
    records: Vec<MessageRecord>,
}

/// The jobs with their numbers of ranks.
fn ranks(work: &JobsWork) -> impl Iterator<Item = (&str, u32)> {
    work.jobs.iter().map(|job| (job.name.as_str(), job.task.ranks()))
}

/// Runs the jobs and writes their messages as they are delivered.
fn observe(
    scenario: &Scenario<JobsWork>,
    interference: bool,
    mut files: Vec<(Kind, Opened)>,
    voice: Voice,
) -> Result<Observed, Failure> {
    let asks = |wanted: Kind| files.iter().any(|(kind, _)| *kind == wanted);
    let (timeline, link_use) = (asks(Kind::Timeline), asks(Kind::Links) || asks(Kind::Loads));
    let mut records = Vec::new();
    let mut tables = Vec::new();
    for (_, file) in files.extract_if(.., |(kind, _)| *kind == Kind::Messages) {
        let (path, file) = file.into_parts();
        match csv::JobMessages::new(file, ranks(scenario.work())) {
            Ok(table) => tables.push((path, table)),
            Err(error) => return Err(Failure::Write(path, error)),
        }
    }
    let monitor = RunMonitor::new(voice.show, interrupt::stop_flag());
    let run = {
        let observe = timeline || !tables.is_empty();
        let mut on_message = |message: &MessageRecord| {
            for (_, table) in &mut tables {
                table.write(message);
                if table.failed() {
                    monitor.vain.store(true, Ordering::Relaxed);
                }
            }
            if timeline && records.len() <= TIMELINE {
                records.push(*message);
            }
        };
        scenario.run(RunOptions {
            alone: true,
            interference,
            link_use,
            on_message: if observe { Some(&mut on_message) } else { None },
            watch: Some(&monitor),
            ..RunOptions::default()
        })
    };
    drop(monitor);
    let complete = run.report.head.status == Status::Complete;
    for (path, table) in tables {
        let written = table.finish().and_then(|file| if complete { file.commit() } else { Ok(()) });
        written.map_err(|error| Failure::Write(path.clone(), error))?;
        if !complete {
            voice.say(format_args!("`{}` is not written: the run is not complete", path.display()));
        }
    }
    Ok(Observed { run, files, records })
}

fn write(
    kind: Kind,
    w: &mut AtomicFile,
    scenario: &Scenario<JobsWork>,
    run: &JobsOutcome,
    records: &[MessageRecord],
    window: Window,
) -> io::Result<()> {
    let report = &run.report;
    match kind {
        Kind::Report => json::write(report, w),
        Kind::Jobs => csv::jobs(report, w),
        Kind::Noise => pictures::noise(&report.head, &format!("{} jobs on {}", report.jobs.len(), report.fabric), w),
        Kind::NoiseTable => pictures::noise_table(&report.head, w),
        // Written while it ran.
        Kind::Messages => Ok(()),
        Kind::Links => csv::job_links(&run.links, ranks(scenario.work()).map(|(name, _)| name), w),
        Kind::Picture => files::text(&svg::jobs(report))(w),
        Kind::Loads => {
            let load =
                |link: &JobsLink| svg::LinkLoad { utilisation: link.utilisation, bytes: link.bytes, delay_s: 0.0 };
            let loads: Vec<svg::LinkLoad> = run.links.iter().map(load).collect();
            let Some(network) = scenario.network() else { return Ok(()) };
            let subtitle = format!("{} jobs, makespan {}", report.jobs.len(), table::seconds(report.head.makespan_s));
            files::text(&svg::link_loads(&network.fabric, &loads, &report.fabric, &subtitle))(w)
        }
        Kind::Timeline => {
            let jobs: Vec<(&str, u32)> = ranks(scenario.work()).collect();
            let title = format!("{} jobs on {}", jobs.len(), report.fabric);
            files::text(&svg::timeline_of_jobs(records, &jobs, report.head.makespan_s, window, &title))(w)
        }
        Kind::Interference => csv::interference(report, w),
        Kind::InterferencePicture => files::text(&svg::interference(report))(w),
    }
}

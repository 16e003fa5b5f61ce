//! `hayase run` of several jobs on one fabric.

use std::io;
use std::path::Path;

use super::files::{named, unknown};
use super::options::{Offer, OutputArgs};
use super::progress::RunMonitor;
use super::seeds::over;
use super::{End, Failure, Voice, complain, deadlock, extension, files, interrupt};
use hayase::atomic_file::AtomicFile;
use hayase::diagnostic::Diagnostic;
use hayase::report::{JobsReport, Status};
use hayase::scenario::Scenario;
use hayase::simulation::{JobsWork, RunOptions};
use hayase_output::{csv, json, svg, table};

/// What names of files have that hold who delays whom.
pub const INTERFERENCE: &str = "interference";

/// What a file holds, by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Report,
    Jobs,
    Picture,
    Interference,
    InterferencePicture,
}

impl Kind {
    fn of(path: &Path) -> Result<Self, Diagnostic> {
        match extension(path).as_str() {
            "json" => Ok(Self::Report),
            "svg" if named(path, INTERFERENCE) => Ok(Self::InterferencePicture),
            "svg" => Ok(Self::Picture),
            "csv" if named(path, INTERFERENCE) => Ok(Self::Interference),
            "csv" => Ok(Self::Jobs),
            _ => Err(unknown(path, "x.json, x.csv, x.svg, interference.csv or interference.svg")),
        }
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
    voice: Voice,
) -> Result<End, Failure> {
    out.check(&OFFER)?;
    let kinds = [Kind::Interference, Kind::InterferencePicture];
    let interference = interference || kinds.into_iter().any(|kind| out.file_of(&OFFER, kind).is_some());
    if interference {
        scenario.work().tells_interference(scenario.system())?;
    }
    let files = out.open(&OFFER)?;
    let monitor = RunMonitor::new(voice.show, interrupt::stop_flag());
    let options = RunOptions { alone: true, interference, watch: Some(&monitor), ..RunOptions::default() };
    let mut run = scenario.run(options);
    drop(monitor);
    if seeds.len() > 1 && run.report.head.status == Status::Complete {
        let statistics = over(scenario, seeds, &run.summary(), voice)?;
        if statistics.missing > 0 {
            run.report.head.status = Status::Interrupted;
        }
        run.report.head.seeds = Some(statistics);
    }
    let report = &run.report;
    for (kind, file) in files {
        if report.head.status != Status::Complete && kind != Kind::Report {
            voice.say(format_args!("`{}` is not written: the run is not complete", file.path().display()));
            continue;
        }
        file.write(|w| write(kind, w, report))?;
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

fn write(kind: Kind, w: &mut AtomicFile, report: &JobsReport) -> io::Result<()> {
    match kind {
        Kind::Report => json::write(report, w),
        Kind::Jobs => csv::jobs(report, w),
        Kind::Picture => files::text(&svg::jobs(report))(w),
        Kind::Interference => csv::interference(report, w),
        Kind::InterferencePicture => files::text(&svg::interference(report))(w),
    }
}

//! `hayase run` of several jobs on one fabric.

use std::io;
use std::path::Path;

use super::files::{named, unknown};
use super::options::{Offer, OutputArgs};
use super::progress::RunMonitor;
use super::seeds::over;
use super::{End, Failure, Voice, complain, deadlock, extension, files, interrupt, noise, pictures};
use hayase::atomic_file::AtomicFile;
use hayase::diagnostic::Diagnostic;
use hayase::report::{JobsReport, Status};
use hayase::scenario::Scenario;
use hayase::simulation::{JobsWork, RunOptions};
use hayase_output::{csv, json, svg, table};

/// What a file holds, by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Report,
    Jobs,
    Picture,
    Noise,
    NoiseTable,
}

impl Kind {
    fn of(path: &Path) -> Result<Self, Diagnostic> {
        match extension(path).as_str() {
            "json" => Ok(Self::Report),
            "svg" if named(path, "noise") => Ok(Self::Noise),
            "csv" if named(path, "noise") => Ok(Self::NoiseTable),
            "svg" => Ok(Self::Picture),
            "csv" => Ok(Self::Jobs),
            _ => Err(unknown(path, "x.json, x.csv or x.svg")),
        }
    }
}

/// Whether a name is that of a file that jobs have.
pub fn knows(path: &Path) -> Result<(), Diagnostic> {
    Kind::of(path).map(drop)
}

const OFFER: Offer<Kind> = Offer { verb: "run", kind: Kind::of, json: Ok(()), csv: Ok(()), threads: true };

/// Runs the jobs, and each of them alone.
pub fn play(scenario: &Scenario<JobsWork>, seeds: &[u64], out: &OutputArgs, voice: Voice) -> Result<End, Failure> {
    out.check(&OFFER)?;
    for kind in [Kind::Noise, Kind::NoiseTable] {
        noise::check(scenario.system(), out.file_of(&OFFER, kind))?;
    }
    let files = out.open(&OFFER)?;
    let monitor = RunMonitor::new(voice.show, interrupt::stop_flag());
    let options = RunOptions { alone: true, watch: Some(&monitor), ..RunOptions::default() };
    let mut run = scenario.run(options);
    drop(monitor);
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
        Kind::Noise => pictures::noise(&report.head, &format!("{} jobs on {}", report.jobs.len(), report.fabric), w),
        Kind::NoiseTable => pictures::noise_table(&report.head, w),
        Kind::Picture => files::text(&svg::jobs(report))(w),
    }
}

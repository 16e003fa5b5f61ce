//! Work run by a command: output files of each kind of work, written and printed in the same way for all.

mod farm;
mod jobs;
mod pattern;
mod program;
mod streams;

use std::cell::{Cell, RefCell};
use std::io::{self, Write};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::files::{Names, leave_out};
use super::options::{self, Offer, OutputArgs, PAGE, page_with, picture};
use super::progress::{self, RunMonitor};
use super::seeds::{SeedsArgs, seeds};
use super::window::WindowArgs;
use super::{End, Failure, Voice, accuracy, complain, interrupt};
use hayase::atomic_file::AtomicFile;
use hayase::diagnostic::Diagnostic;
use hayase::engine::Watch;
use hayase::ids::RankId;
use hayase::player::{Activity, Transfer};
use hayase::program::Mark;
use hayase::record::Matrix;
use hayase::report::{MessageRecord, Meta, Status};
use hayase::scenario::Scenario;
use hayase::simulation::RunOptions;
use hayase::sweep::Control;
use hayase::system::System;
use hayase::units::{Bytes, Time};
use hayase_output::page::Binned;
use hayase_output::runner::{self, Looking, ReportOf, Reported, Told};
use hayase_output::shown::{Played, Shown, TIMELINE};
use hayase_output::svg::Window;
use hayase_output::table;
use hayase_output::{csv, json, pictures};
use streams::Stream;

pub use farm::{OFFER as FARM, play_farm};
pub use jobs::INTERFERENCE;

/// Files that are written during a run.
const STREAMS: [&str; 3] = ["messages.csv", "activities.csv", "trace.json"];

/// Work with files that show its run.
pub trait Filed: Shown {
    /// Names of its output files.
    const NAMES: Names<&'static str>;
    /// `Ok` if it prints CSV, else the advice for the user.
    const CSV: Result<(), &'static str> = Ok(());
    /// Files that are also written for an incomplete run.
    const KEPT: &'static [&'static str] = &["x.json", PAGE];

    /// Refuses requests that this scenario does not support.
    ///
    /// # Errors
    /// Returns the mistake.
    fn check(_scenario: &Scenario<Self>, _asked: &Asked<'_>) -> Result<(), Failure> {
        Ok(())
    }

    /// Begins a file that is written during the run.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    fn stream<'a>(scenario: &'a Scenario<Self>, name: &str, file: AtomicFile) -> io::Result<Box<dyn Stream + 'a>>;

    /// Writes a file from the outcome; files that all kinds of work have are written elsewhere.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    fn write(played: &Played<'_, Self>, name: &str, w: &mut dyn Write) -> io::Result<()>;

    /// Writes the answer as CSV, if it is one table.
    ///
    /// # Errors
    /// Fails if the writer fails.
    fn csv(_report: &ReportOf<Self>, _w: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    /// Returns a line about the cost of the simulation itself.
    fn took(report: &ReportOf<Self>, meta: &Meta) -> String;

    /// Reports more about the run after its files are written.
    fn say(_scenario: &Scenario<Self>, _outcome: &Self::Outcome, _asked: &Asked<'_>) {}

    /// Returns the output options of a command that runs such work.
    fn offer(verb: &'static str) -> Offer<&'static str> {
        Offer { verb, names: Self::NAMES, json: Ok(()), csv: Self::CSV, threads: true }
    }
}

/// Request to a command that runs work.
#[derive(Clone)]
pub struct Asked<'a> {
    /// Name of the command.
    pub verb: &'static str,
    /// Number of seeds.
    pub seeds: Option<NonZeroU32>,
    /// True if `--interference` was given.
    pub interference: bool,
    /// Start of the time that counts as run time, if earlier than the run.
    pub since: Option<Instant>,
    /// Arguments of `hayase accuracy` for the same scenario.
    pub words: String,
    /// Options of output.
    pub out: &'a OutputArgs,
    /// Window of a timeline.
    pub window: &'a WindowArgs,
    /// Voice of the program.
    pub voice: Voice,
}

impl<'a> Asked<'a> {
    /// Creates the request from the options that all such commands have.
    pub fn new(
        verb: &'static str,
        seeds: SeedsArgs,
        out: &'a OutputArgs,
        window: &'a WindowArgs,
        voice: Voice,
    ) -> Self {
        let seeds = seeds.seeds;
        Self { verb, seeds, interference: false, since: None, words: String::new(), out, window, voice }
    }

    /// Checks the request and starts the threads.
    ///
    /// # Errors
    /// Fails if such work does not support the request.
    pub fn begin<W: Filed>(&self) -> Result<(), Failure> {
        self.check::<W>()?;
        options::begin(self.out.threads)
    }

    /// Returns the first requested file of this kind.
    pub fn file<W: Filed>(&self, name: &'static str) -> Option<&'a Path> {
        self.out.file_of(&W::offer(self.verb), name)
    }

    /// Checks the request and returns the window of a timeline.
    ///
    /// # Errors
    /// Fails if such work does not support the request.
    pub fn check<W: Filed>(&self) -> Result<Window, Failure> {
        self.out.check(&W::offer(self.verb))?;
        Ok(self.window.window(self.file::<W>("timeline.svg").is_some())?)
    }
}

/// Progress display of runs, which also stops runs whose output has failed.
pub struct Onlooker {
    voice: Voice,
    vain: AtomicBool,
    ended: Cell<Option<Instant>>,
}

impl Onlooker {
    /// Creates a display that uses this voice.
    pub fn new(voice: Voice) -> Self {
        Self { voice, vain: AtomicBool::new(false), ended: Cell::new(None) }
    }
}

impl Looking for Onlooker {
    fn run<T>(&self, run: impl FnOnce(&dyn Watch) -> T) -> T {
        let outcome = run(&RunMonitor::new(self.voice.show, interrupt::stop_flag(), &self.vain));
        self.ended.set(Some(hayase::base::wall_clock::now()));
        outcome
    }

    fn runs<T>(&self, runs: impl FnOnce(Control<'_>) -> T) -> T {
        progress::over_runs(self.voice.show, "messages", runs)
    }

    fn hint(&self, text: &str) {
        self.voice.hint(text);
    }
}

/// Runs the scenario with its seeds, writes and prints the results of the first seed, and reports why it
/// stopped early.
///
/// # Errors
/// Fails if such work does not support the request or a file cannot be written.
pub fn play<W: Filed>(scenario: &Scenario<W>, asked: &Asked<'_>) -> Result<End, Failure> {
    let &Asked { out, voice, .. } = asked;
    let window = asked.check::<W>()?;
    let seeds = seeds(scenario.seed(), asked.seeds)?;
    W::check(scenario, asked)?;
    for name in ["noise.svg", "noise.csv"] {
        check_noise(scenario.system(), asked.file::<W>(name))?;
    }
    let files = out.open(&W::offer(asked.verb))?;
    let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
    let on_page = if names.contains(&PAGE) { W::pictures(scenario) } else { Vec::new() };
    let wants = |name: &str| {
        names.contains(&name) || on_page.contains(&name) || (asked.interference && name == "interference.csv")
    };
    let wants_any = |some: &[&str]| some.iter().any(|name| wants(name));

    let (mut streams, mut others) = (Vec::<(PathBuf, Box<dyn Stream + '_>)>::new(), Vec::new());
    for (name, file) in files {
        if !STREAMS.contains(&name) {
            others.push((name, file));
            continue;
        }
        let (path, file) = file.into_parts();
        match W::stream(scenario, name, file) {
            Ok(stream) => streams.push((path, stream)),
            Err(error) => return Err(Failure::Write(path, error)),
        }
    }
    let looking = Onlooker::new(voice);
    let (mut messages, mut matrix) = (Vec::new(), Matrix::default());
    let summed = W::summed_ranks(scenario).filter(|_| names.contains(&PAGE));
    let mut binned = summed.map(|ranks| Binned::new(ranks, 1));
    let mut streamed = Ok(());
    let mut outcome = {
        let transfers = scenario.work().program().is_some();
        let (streams, keeps) = (RefCell::new(&mut streams), summed.is_some() || !transfers && wants("timeline.svg"));
        let each = |take: &mut dyn FnMut(&mut dyn Stream)| {
            streams.borrow_mut().iter_mut().for_each(|(_, stream)| take(&mut **stream));
        };
        let mut on_message = |message: &MessageRecord| {
            each(&mut |stream| {
                stream.message(message);
                if stream.failed() {
                    looking.vain.store(true, Ordering::Relaxed);
                }
            });
            if keeps && messages.len() as u64 <= TIMELINE {
                messages.push(*message);
            }
            if let Some(binned) = &mut binned {
                binned.message(message);
            }
        };
        let mut on_activity = |activity: &Activity| each(&mut |stream| stream.activity(activity));
        let counts = wants_any(&["matrix.csv", "matrix.svg"]);
        let mut on_transfer = |transfer: &Transfer| {
            if counts {
                matrix.add(transfer);
            }
            each(&mut |stream| stream.transfer(transfer));
        };
        let mut on_mark = |rank: RankId, mark: &Mark, time: Time| each(&mut |stream| stream.mark(rank, mark, time));
        let hears_messages = wants("messages.csv");
        let hears_transfers = transfers && (hears_messages || counts || wants("trace.json"));
        let run = |watch: &dyn Watch| {
            let mut outcome = scenario.run(RunOptions {
                on_message: if !transfers && (hears_messages || keeps) { Some(&mut on_message) } else { None },
                on_activity: if wants_any(&["activities.csv", "trace.json"]) { Some(&mut on_activity) } else { None },
                on_transfer: if hears_transfers { Some(&mut on_transfer) } else { None },
                on_mark: if wants("trace.json") { Some(&mut on_mark) } else { None },
                watch: Some(watch),
                ..scenario.work().observed(&wants)
            });
            // Printed before other seeds run, which may be interrupted.
            let complete = outcome.report_mut().parts().0.status == Status::Complete;
            streamed = finish(std::mem::take(&mut **streams.borrow_mut()), complete, voice);
            outcome
        };
        runner::answer(scenario, &seeds, &looking, run)?
    };
    streamed?;
    let (head, meta) = outcome.report_mut().parts();
    if let Some((since, ended)) = asked.since.zip(looking.ended.get()) {
        // The time of a prediction includes reading and combining the data sets.
        meta.wall_s = ended.duration_since(since).as_secs_f64();
    }
    let (head, meta) = (head.clone(), meta.clone());
    let complete = head.status == Status::Complete;

    if !complete {
        leave_out(&mut others, |name| !W::KEPT.contains(&name), WHY, voice);
    }
    if messages.len() as u64 > TIMELINE {
        let why = format!("there are more than {} messages", table::grouped(TIMELINE));
        leave_out(&mut others, |name| name == "timeline.svg", &why, voice);
    }
    let report = outcome.report();
    let played = Played { scenario, outcome: &outcome, report, messages, binned, matrix, window };
    W::say(scenario, &outcome, asked);
    for (name, file) in others {
        file.write(|w| match (name, &head.noise) {
            ("x.json", _) => json::write(report, w),
            (PAGE, _) => {
                let shown = on_page.iter().filter(|_| complete);
                let pictures = shown.map(|name| picture(name, &|w: &mut dyn Write| W::write(&played, name, w)));
                let pictures = pictures.collect::<io::Result<Vec<_>>>()?;
                let data = W::data(&played).filter(|_| complete).map(|data| data.to_json()).unwrap_or_default();
                page_with(&W::title(report), &W::table(report), &pictures, &data, report, w)
            }
            ("noise.svg", Some(noise)) => pictures::noise(noise, &W::title(report), w),
            ("noise.csv", Some(noise)) => csv::noise(noise, w),
            _ => W::write(&played, name, w),
        })?;
    }
    out.print_rows(|| W::table(report), report, |w| W::csv(report, w))?;
    if let Some(known) = &head.accuracy {
        accuracy::say(known, &asked.words, voice);
    }
    voice.say(W::took(report, &meta));
    Ok(match head.status {
        Status::Complete => End::Done,
        // Only a master/slave program can be left undone.
        Status::Interrupted | Status::Undone => End::Interrupted,
        Status::Deadlocked => {
            complain(W::reason(&outcome).trim_end());
            End::Deadlocked
        }
    })
}

/// Reason for leaving out files of an incomplete run: a partial table looks like a whole one, while the
/// report is marked.
const WHY: &str = "the run is not complete";

/// Finishes the files that were written during the run, if it is complete.
///
/// # Errors
/// Fails if a file cannot be written.
fn finish(streams: Vec<(PathBuf, Box<dyn Stream + '_>)>, complete: bool, voice: Voice) -> Result<(), Failure> {
    for (path, stream) in streams {
        let written = stream.finish().and_then(|file| if complete { file.commit() } else { Ok(()) });
        written.map_err(|error| Failure::Write(path.clone(), error))?;
        if !complete {
            voice.say(format_args!("`{}` is not written: {WHY}", path.display()));
        }
    }
    Ok(())
}

/// Refuses a file about slow ranks if no rank is slow.
fn check_noise(system: &System, file: Option<&Path>) -> Result<(), Diagnostic> {
    match file {
        Some(path) if system.noise().is_empty() => {
            let message = format!("`{}` shows the cost of slow ranks, and no rank is slow", path.display());
            Err(Diagnostic::new("wrong-choice", message).help("add --straggler 3=50% or --noise 25us/1ms"))
        }
        _ => Ok(()),
    }
}

/// Returns a line about the time of a run, with rates and the memory of the process.
fn took(done: &str, meta: &Meta, counts: &[(u64, &str)]) -> String {
    let mut text = format!("{done} in {}", table::seconds(meta.wall_s));
    for (count, what) in counts.iter().filter(|_| meta.wall_s > 0.0) {
        text += &format!(", {}", table::rate_of(*count as f64 / meta.wall_s, what));
    }
    if let Some(bytes) = meta.peak_rss_bytes {
        text += &format!(", peak memory {}", Bytes(bytes));
    }
    text
}

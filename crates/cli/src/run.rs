//! `hayase run`: one scenario, its report, and the files that were asked for.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::args::{RunArgs, RunFormat, TableFormat};
use super::files::{self, Opened, named, unknown};
use super::master_slave::{self, Wanted};
use super::progress::{self, RunMonitor};
use super::scenario::seeds;
use super::seeds::over;
use super::{
    End, Failure, Voice, caveats, complain, deadlock, extension, interrupt, pictures, predict, print_with, regions,
    replay, show,
};
use hayase::atomic_file::AtomicFile;
use hayase::diagnostic::Diagnostic;
use hayase::report::{MessageRecord, Report, Status};
use hayase::scenario::{Loaded, Scenario};
use hayase::simulation::{PatternOutcome, PatternWork, RunOptions, Simulated};
use hayase::units::Bytes;
use hayase_output::svg::Window;
use hayase_output::{csv, json, table};

/// Messages of a timeline at most: more of them are no longer seen apart, and are all kept until the end.
const TIMELINE: u64 = 100_000;

/// What a file holds, by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Report,
    Messages,
    Links,
    Loads,
    Timeline,
}

impl Kind {
    fn of(path: &Path) -> Result<Self, Diagnostic> {
        match extension(path).as_str() {
            "json" => Ok(Self::Report),
            "svg" if named(path, "timeline") => Ok(Self::Timeline),
            "svg" => Ok(Self::Loads),
            "csv" if named(path, "messages") => Ok(Self::Messages),
            "csv" if named(path, "links") => Ok(Self::Links),
            "csv" => {
                let message = format!("the name `{}` does not say which table to write", path.display());
                Err(Diagnostic::new("unknown-output", message)
                    .help("a CSV file with `messages` or `links` in its name holds these"))
            }
            _ => Err(unknown(path, "x.json, messages.csv, links.csv, x.svg or timeline.svg")),
        }
    }
}

/// Runs a scenario.
pub fn run(args: &RunArgs, voice: Voice) -> Result<End, Failure> {
    // Which names there are depends on the work, which is not known yet; what no work knows is wrong now.
    files::check_names(&args.written.output, |path| {
        let farm = |mistake| master_slave::knows(path).or(Err(mistake));
        Kind::of(path).map(drop).or_else(|mistake| replay::knows(path).or(Err(mistake)).or_else(farm))
    })?;
    match args.scenario.loader().on_read(progress::reading(voice.show)).load_all()? {
        Loaded::Pattern(scenario) => pattern(&scenario, args, voice),
        Loaded::Program(played) => {
            let work = played.work();
            regions::say(work.start_up, &work.program, voice);
            regions::say_strays(&work.program, voice);
            replay::say_links(&played, voice);
            if !predict::say(work, args.strictness, voice)? {
                caveats::judge(&work.program.caveats, &work.name, args.strictness, voice)?;
            }
            let seeds = seeds(played.seed(), args.seeds)?;
            replay::play(&played, None, &seeds, &args.written, args.format, voice)
        }
        Loaded::Farm(farm) => {
            let seeds = seeds(farm.seed(), args.seeds)?;
            let format = match args.format {
                RunFormat::Table => TableFormat::Table,
                RunFormat::Json => TableFormat::Json,
            };
            let wanted = Wanted { output: &args.written.output, format, threads: None };
            master_slave::play_over(&farm, &seeds, wanted, voice)
        }
    }
}

/// Runs a pattern.
fn pattern(scenario: &Scenario<PatternWork>, args: &RunArgs, voice: Voice) -> Result<End, Failure> {
    files::check_names(&args.written.output, Kind::of)?;
    let window =
        args.written.window.window(args.written.output.iter().any(|path| Kind::of(path) == Ok(Kind::Timeline)))?;
    let seeds = seeds(scenario.seed(), args.seeds)?;
    check_timeline(scenario, &args.written.output)?;
    let files = files::open(&args.written.output, Kind::of)?;
    let stop = interrupt::stop_flag();
    let Observed { mut run, mut files, records } = observe(scenario, files, stop, voice)?;
    if seeds.len() > 1 && run.report.status == Status::Complete {
        let statistics = over(scenario, &seeds, &run.summary(), voice)?;
        if statistics.missing > 0 {
            run.report.status = Status::Interrupted;
        }
        run.report.seeds = Some(statistics);
    }
    if run.report.status != Status::Complete {
        // A part of a table looks like a whole one; the report says what it is.
        for (_, left_out) in files.extract_if(.., |(kind, _)| *kind != Kind::Report) {
            voice.say(format_args!("`{}` is not written: the run is not complete", left_out.path().display()));
        }
    }
    for (kind, file) in files {
        file.write(|w| write(kind, w, scenario, &run, &records, window))?;
    }
    match args.format {
        RunFormat::Table => show(&table::run(&run.report))?,
        RunFormat::Json => print_with(|w| json::write(&run.report, w))?,
    }
    voice.say(cost(&run.report));
    Ok(match run.report.status {
        Status::Complete => End::Done,
        Status::Interrupted => End::Interrupted,
        Status::Deadlocked => {
            complain(deadlock::explain(&run.blocked, run.report.gridlock.as_ref(), run.report.stopped).trim_end());
            End::Deadlocked
        }
    })
}

/// A timeline keeps every message, so its size is checked before the run.
fn check_timeline(scenario: &Scenario<PatternWork>, output: &[PathBuf]) -> Result<(), Failure> {
    let messages = scenario.work().messages();
    match output.iter().find(|path| Kind::of(path) == Ok(Kind::Timeline)) {
        Some(path) if messages > TIMELINE => {
            let (messages, most) = (table::grouped(messages), table::grouped(TIMELINE));
            let message = format!("a timeline of {messages} messages cannot be read (`{}`)", path.display());
            Err(Diagnostic::new("too-large", message)
                .help(format!("{most} messages are the most; take a smaller run, or messages.csv"))
                .into())
        }
        _ => Ok(()),
    }
}

/// The longest run in which the times of links (busy, number of flows) are recorded without being asked for: it costs a
/// tenth of the run time.
const MESSAGES_WITH_LINK_TIMES: u64 = 2_000_000;

/// A run with what was seen of it.
struct Observed {
    run: PatternOutcome,
    /// The files that are still to be written.
    files: Vec<(Kind, Opened)>,
    /// All messages, where there is a timeline.
    records: Vec<MessageRecord>,
}

/// Runs the scenario and writes its messages as they are delivered.
fn observe(
    scenario: &Scenario<PatternWork>,
    mut files: Vec<(Kind, Opened)>,
    stop: &AtomicBool,
    voice: Voice,
) -> Result<Observed, Failure> {
    let asks = |wanted: Kind| files.iter().any(|(kind, _)| *kind == wanted);
    let timeline = asks(Kind::Timeline);
    let link_use = asks(Kind::Links) || scenario.work().messages() <= MESSAGES_WITH_LINK_TIMES;
    let mut records = Vec::new();
    let mut tables = Vec::new();
    for (_, file) in files.extract_if(.., |(kind, _)| *kind == Kind::Messages) {
        let (path, file) = file.into_parts();
        match csv::Messages::new(file) {
            Ok(table) => tables.push((path, table)),
            Err(error) => return Err(Failure::Write(path, error)),
        }
    }
    let monitor = RunMonitor::new(voice.show, stop);
    let run = {
        let observe = timeline || !tables.is_empty();
        let mut on_message = |message: &MessageRecord| {
            for (_, table) in &mut tables {
                table.write(message);
                if table.failed() {
                    monitor.vain.store(true, Ordering::Relaxed);
                }
            }
            if timeline {
                records.push(*message);
            }
        };
        scenario.run(RunOptions {
            link_use,
            on_message: if observe { Some(&mut on_message) } else { None },
            watch: Some(&monitor),
            ..RunOptions::default()
        })
    };
    drop(monitor);
    let complete = run.report.status == Status::Complete;
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
    scenario: &Scenario<PatternWork>,
    run: &PatternOutcome,
    records: &[MessageRecord],
    window: Window,
) -> io::Result<()> {
    let report = &run.report;
    match kind {
        Kind::Report => json::write(report, w),
        Kind::Links => csv::links(&run.links, w),
        Kind::Loads => match scenario.network() {
            Some(network) => pictures::loads(&network.fabric, &run.links, report, w),
            None => Ok(()),
        },
        Kind::Timeline => pictures::timeline(records, &*scenario.work().pattern, window, report, w),
        // Written while it ran.
        Kind::Messages => Ok(()),
    }
}

/// What the simulation itself took.
fn cost(report: &Report) -> String {
    let meta = &report.meta;
    let mut text = format!("simulated in {}", table::seconds(meta.wall_s));
    if meta.wall_s > 0.0 {
        let per_second = |count: u64, of: &str| table::rate_of(count as f64 / meta.wall_s, of);
        text += &format!(", {}, {}", per_second(report.messages, "messages"), per_second(meta.events, "events"));
    }
    if let Some(bytes) = meta.peak_rss_bytes {
        text += &format!(", peak memory {}", Bytes(bytes));
    }
    text
}

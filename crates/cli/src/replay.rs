//! `hayase replay`: how long a program takes on other nodes and another network, and where its time goes.

use std::cell::RefCell;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::files::{self, Opened, outputs};
use super::options::{Offer, OutputArgs};
use super::progress::{self, RunMonitor};
use super::regions;
use super::seeds::{over, seeds};
use super::trace::TraceArgs;
use super::window::WindowArgs;
use super::{End, Failure, Voice, caveats, complain, deadlock, interrupt, noise, pictures};
use hayase::atomic_file::AtomicFile;
use hayase::diagnostic::{Diagnostic, Invalid, Located, file_names};
use hayase::ids::RankId;
use hayase::player::{Activity, Stuck, Transfer};
use hayase::program::Mark;
use hayase::program::generate::Generator;
use hayase::record::Matrix;
use hayase::report::Status;
use hayase::report::replay::ReplayReport;
use hayase::scenario::Scenario;
use hayase::simulation::{ProgramOutcome, ProgramWork, RunOptions};
use hayase::system::{ProgramSpec, ReadProgram, WorkloadSpec};
use hayase::trace::{Options, unmatched};
use hayase::units::{Bytes, Time};
use hayase::workload::Blocked;
use hayase_output::svg::Window;
use hayase_output::trace::Trace as TraceFile;
use hayase_output::{csv, json, svg, table};

pub mod args;
use args::{PlayedOn, ReplayArgs};

outputs! {
    /// Contents of a file, by its name.
    enum Kind {
        Trace: "trace.json" | "perfetto.json",
        Report: "x.json",
        Activities: "activities.csv",
        Messages: "messages.csv",
        Ranks: "ranks.csv",
        MatrixTable: "matrix.csv",
        Path: "path.csv",
        NoiseTable: "noise.csv",
        Noise: "noise.svg",
        Breakdown: "breakdown.svg",
        Timeline: "timeline.svg",
        Matrix: "matrix.svg",
    }
}

/// What a verb that plays a program can do.
const fn offer(verb: &'static str) -> Offer<Kind> {
    let csv =
        Err("of a program there are several tables: -o ranks.csv, activities.csv, messages.csv, path.csv, matrix.csv");
    Offer { verb, kind: Kind::of, json: Ok(()), csv, threads: true }
}

/// Whether a replay can write a file of this name.
pub(super) fn knows(path: &Path) -> Result<(), Diagnostic> {
    Kind::of(path).map(drop)
}

/// Checks what is asked of a verb that plays a program; the window of a timeline, if there is one.
pub(super) fn check(verb: &'static str, out: &OutputArgs, window: &WindowArgs) -> Result<Window, Failure> {
    let offer = offer(verb);
    out.check(&offer)?;
    Ok(window.window(out.file_of(&offer, Kind::Timeline).is_some())?)
}

/// The same, and starts its threads.
pub(super) fn begin(verb: &'static str, out: &OutputArgs, window: &WindowArgs) -> Result<Window, Failure> {
    let window = check(verb, out, window)?;
    out.begin(&offer(verb)).map(|()| window)
}

/// Replays a program.
pub fn replay(args: &ReplayArgs, voice: Voice) -> Result<End, Failure> {
    let window = begin("replay", &args.out, &args.window)?;
    let work = program(&args.input, &args.on, args.fragment, voice)?;
    let work = args.on.regions.ask(work, voice)?;
    let scenario = args.on.loader().on_read(progress::reading(voice.show)).load_program(work)?;
    say_links(&scenario, voice);
    if scenario.system().node().facts().is_ideal && scenario.network().is_none() {
        voice.hint("nodes and network are ideal; name a machine (-m, see `hayase machine list`) or a fabric (-t)");
    }
    let seeds = seeds(scenario.seed(), args.seeds.seeds)?;
    play(&scenario, &seeds, None, &args.out, window, voice)
}

/// Says how the links of the fabric compare with those of the machine, where it keeps its own.
pub(super) fn say_links(scenario: &Scenario<ProgramWork>, voice: Voice) {
    if let Some(comparison) = scenario.system().own_links() {
        voice.say(comparison);
    }
}

/// Plays it once for each of these seeds, and writes and prints what came out with the first; of a prediction, also
/// since when it is put together.
pub(super) fn play(
    scenario: &Scenario<ProgramWork>,
    seeds: &[u64],
    since: Option<Instant>,
    out: &OutputArgs,
    window: Window,
    voice: Voice,
) -> Result<End, Failure> {
    for path in &out.output {
        if matches!(Kind::of(path)?, Kind::Noise | Kind::NoiseTable) {
            noise::check(scenario.system(), Some(path))?;
        }
    }
    let files = files::open(&out.output, Kind::of)?;
    let (report, stuck) = run(scenario, since, seeds, files, window, voice)?;
    out.print(|| table::replay(&report), &report)?;
    voice.say(cost(&report));
    Ok(match report.head.status {
        Status::Complete => End::Done,
        // Only a farm can be left undone.
        Status::Interrupted | Status::Undone => End::Interrupted,
        Status::Deadlocked => {
            if let Some(why) = deadlock::without_way(report.head.faults.as_deref(), report.head.stopped) {
                complain(why.trim_end());
            }
            complain(deadlock::describe(&blocked(stuck), "operation", report.head.stopped).trim_end());
            End::Deadlocked
        }
    })
}

/// The program that is named, as a scenario says it.
fn workload(input: &TraceArgs, on: &PlayedOn, fragment: Option<Bytes>) -> ProgramSpec {
    let mut workload = ProgramSpec::named(file_names::text_of(&input.trace).into());
    let fragment = fragment.map(Located::from);
    if let ProgramSpec::Trace(spec) = &mut workload {
        spec.fragment = fragment;
        spec.truncated = input.truncated;
        spec.flop_rate = (input.flop_rate != Options::default().flop_rate).then(|| input.flop_rate.into());
        spec.wildcards = on.wildcards.into();
    } else if let ProgramSpec::Program(spec) = &mut workload {
        spec.fragment = fragment;
    }
    workload.set_cpu_speed(on.cpu_speed);
    workload.set_part(&on.regions.part());
    workload
}

/// Reads the program that is named; messages longer than `fragment` go in pieces.
pub(super) fn program(
    input: &TraceArgs,
    on: &PlayedOn,
    fragment: Option<Bytes>,
    voice: Voice,
) -> Result<ProgramWork, Failure> {
    let sources = progress::sources(voice.show);
    let text = file_names::text_of(&input.trace);
    let workload = workload(input, on, fragment);
    let read = workload.read(&sources);
    let read = read.map_err(|diagnostics| diagnostics.into_iter().map(|mistake| with_hint(mistake, &text)).collect());
    let ReadProgram { program, name, start_up } = read.map_err(|diagnostics| Invalid { diagnostics, sources })?;
    regions::say(start_up, &program, voice);
    caveats::judge_program(&program, &name, input.strictness, voice)?;
    Ok(ProgramWork {
        cpu_speed: on.cpu_speed,
        wildcards: on.wildcards.into(),
        start_up,
        spec: Some(WorkloadSpec::Program(workload)),
        ..ProgramWork::new(program, name)
    })
}

/// The mistake of a trace that cannot be read, with what was meant where that is something else: a rule, or messages.
fn with_hint(mistake: Diagnostic, text: &str) -> Diagnostic {
    match mistake.code {
        "missing-file" => match Generator::meant(text) {
            Some(rule) => mistake.help(format!("did you mean the program by rule `{rule}`?")),
            None if text.contains(':') => {
                let rules: Vec<&str> = Generator::names().collect();
                mistake.help(format!("programs by rule are: {}", rules.join(", ")))
            }
            None => mistake,
        },
        "unknown-format" if text.ends_with(".csv") || text.ends_with(".csv.zst") => {
            mistake.help(format!("a list of messages is sent with `hayase run -t FABRIC -p {text}`"))
        }
        _ => mistake,
    }
}

/// A file that is written while the program is played.
enum Running {
    Activities(csv::Activities<AtomicFile>),
    Messages(csv::Transfers<AtomicFile>),
    Trace(TraceFile<AtomicFile>),
}

impl Running {
    fn finish(self) -> io::Result<AtomicFile> {
        match self {
            Self::Activities(table) => table.finish(),
            Self::Messages(table) => table.finish(),
            Self::Trace(trace) => trace.finish(),
        }
    }
}

/// Plays it, and writes the files.
fn run(
    scenario: &Scenario<ProgramWork>,
    since: Option<Instant>,
    seeds: &[u64],
    files: Vec<(Kind, Opened)>,
    window: Window,
    voice: Voice,
) -> Result<(ReplayReport, Vec<Stuck>), Failure> {
    let monitor = RunMonitor::new(voice.show, interrupt::stop_flag());
    let work = scenario.work();
    let ranks = work.program.ranks();
    let (mut running, mut others) = (Vec::new(), Vec::new());
    for (kind, file) in files {
        if !matches!(kind, Kind::Activities | Kind::Messages | Kind::Trace) {
            others.push((kind, file));
            continue;
        }
        let (path, file) = file.into_parts();
        let begun = match kind {
            Kind::Trace => TraceFile::new(file, &work.name, ranks, &work.program.regions).map(Running::Trace),
            Kind::Messages => csv::transfers(file, Arc::clone(&work.program)).map(Running::Messages),
            _ => csv::activities(file).map(Running::Activities),
        };
        match begun {
            Ok(begun) => running.push((path, begun)),
            Err(error) => return Err(Failure::Write(path, error)),
        }
    }
    let of_messages = |(kind, _): &(Kind, Opened)| matches!(kind, Kind::Matrix | Kind::MatrixTable);
    let counts = others.iter().any(of_messages);
    let mut matrix = Matrix::default();
    let mut replayed = {
        let asked = !running.is_empty();
        let running = RefCell::new(&mut running);
        let mut on_activity = |activity: &Activity| {
            for (_, file) in running.borrow_mut().iter_mut() {
                match file {
                    Running::Activities(table) => table.write(activity),
                    Running::Messages(_) => {}
                    Running::Trace(trace) => trace.activity(activity),
                }
            }
        };
        let mut on_transfer = |transfer: &Transfer| {
            if counts {
                matrix.add(transfer);
            }
            for (_, file) in running.borrow_mut().iter_mut() {
                match file {
                    Running::Messages(table) => table.write(transfer),
                    Running::Trace(trace) => trace.transfer(transfer),
                    Running::Activities(_) => {}
                }
            }
        };
        let mut on_mark = |rank: RankId, mark: &Mark, time: Time| {
            for (_, file) in running.borrow_mut().iter_mut() {
                if let Running::Trace(trace) = file {
                    trace.mark(rank, mark, time);
                }
            }
        };
        scenario.run(RunOptions {
            on_activity: if asked { Some(&mut on_activity) } else { None },
            on_transfer: if asked || counts { Some(&mut on_transfer) } else { None },
            on_mark: if asked { Some(&mut on_mark) } else { None },
            late: true,
            keep: others.iter().any(|(kind, _)| matches!(kind, Kind::Timeline | Kind::Path)),
            watch: Some(&monitor),
            ..RunOptions::default()
        })
    };
    if let Some(start) = since {
        // Reading the data sets and putting them together is part of what a prediction takes.
        replayed.report.meta.wall_s = start.elapsed().as_secs_f64();
    }
    drop(monitor);
    if seeds.len() > 1 && replayed.report.head.status == Status::Complete {
        let statistics = over(scenario, seeds, &replayed.summary(), voice)?;
        if statistics.missing > 0 {
            replayed.report.head.status = Status::Interrupted;
        }
        replayed.report.head.seeds = Some(statistics);
    }
    noise::cost(scenario, &mut replayed.report.head, voice)?;
    let complete = replayed.report.head.status == Status::Complete;
    let skipped = |path: &Path| voice.say(format_args!("`{}` is not written: the run is not complete", path.display()));
    for (path, file) in running {
        let written = file.finish().and_then(|file| if complete { file.commit() } else { Ok(()) });
        written.map_err(|error| Failure::Write(path.clone(), error))?;
        if !complete {
            skipped(&path);
        }
    }
    for (kind, file) in others {
        if complete || matches!(kind, Kind::Report | Kind::Ranks) {
            write(kind, file, &replayed, &work.program.regions, &matrix, window)?;
        } else {
            skipped(file.path());
        }
    }
    if !complete
        && !replayed.stuck.is_empty()
        && let Some(mistake) = unmatched(&work.program).receives.first()
    {
        voice.hint(&mistake.message);
    }
    Ok((replayed.report, replayed.stuck))
}

/// Writes a file that is made of what came out.
fn write(
    kind: Kind,
    file: Opened,
    replayed: &ProgramOutcome,
    names: &[Arc<str>],
    matrix: &Matrix,
    window: Window,
) -> Result<(), Failure> {
    let ProgramOutcome { report, history, path, regions, .. } = replayed;
    let path = path.as_deref().unwrap_or_default();
    let ranks = report.ranks.len() as u32;
    let played_on = format!("nodes {}; network: {}", report.node, report.network);
    let amount = format!("{}, {}", table::count(report.head.messages, "message", "messages"), Bytes(report.head.bytes));
    match kind {
        Kind::Report => file.write(|w| json::write(report, w)),
        Kind::Ranks => {
            let known = history.is_some() && report.region.is_none() && report.head.status == Status::Complete;
            file.write(|w| csv::ranks(&report.ranks, &report.late, known, w))
        }
        Kind::Path => file.write(|w| csv::path(path, w)),
        Kind::Noise => {
            let title = format!("{}; {played_on}", report.program);
            file.write(|w| pictures::noise(&report.head, &title, w))
        }
        Kind::NoiseTable => file.write(|w| pictures::noise_table(&report.head, w)),
        Kind::MatrixTable => file.write(|w| csv::matrix(matrix, w)),
        Kind::Matrix => file.write(files::text(&svg::matrix(matrix, ranks, &report.program, &amount))),
        Kind::Breakdown => {
            let region = report.region.as_ref().map_or(String::new(), |region| format!(" (region {region})"));
            let title = format!("{}{region}", report.program);
            file.write(files::text(&svg::breakdown(&report.ranks, &title, &played_on)))
        }
        Kind::Timeline => {
            let Some(history) = history else { return Ok(()) };
            let named = report.regions.iter().filter_map(|region| {
                let number = names.iter().position(|name| **name == *region.name)?;
                Some((region.name.as_str(), regions.get(number)?.spans.as_slice()))
            });
            let regions: Vec<svg::Region<'_>> = named.collect();
            let makespan_s = report.head.makespan_s;
            let played = svg::Played { history, path, ranks, makespan_s, regions: &regions, window };
            file.write(files::text(&svg::replay(&played, &report.program, &played_on)))
        }
        // Those have been written meanwhile.
        Kind::Activities | Kind::Messages | Kind::Trace => Ok(()),
    }
}

/// Ranks that are stuck, as a deadlock is described.
pub(super) fn blocked(stuck: Vec<Stuck>) -> Vec<Blocked> {
    stuck.into_iter().map(Blocked::from).collect()
}

/// What the replay itself took.
fn cost(report: &ReplayReport) -> String {
    let meta = &report.meta;
    let mut text = format!("played in {}", table::seconds(meta.wall_s));
    if meta.wall_s > 0.0 {
        text += &format!(", {}", table::rate_of(meta.events as f64 / meta.wall_s, "events"));
    }
    if let Some(bytes) = meta.peak_rss_bytes {
        text += &format!(", peak memory {}", Bytes(bytes));
    }
    text
}

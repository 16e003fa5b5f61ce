//! `hayase run`: one scenario, its report, and the files that were asked for.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;

use super::caveats::Strictness;
use super::files::{Opened, named, outputs};
use super::master_slave;
use super::options::{Offer, OutputArgs};
use super::progress::{self, RunMonitor};
use super::scenario::ScenarioArgs;
use super::seeds::{SeedsArgs, over, seeds};
use super::window::WindowArgs;
use super::{
    End, Failure, Voice, accuracy, caveats, complain, deadlock, estimate, interrupt, jobs, noise, pictures, predict,
    regions, replay,
};
use hayase::atomic_file::AtomicFile;
use hayase::diagnostic::Diagnostic;
use hayase::player::Activity;
use hayase::report::{MessageRecord, Report, Status};
use hayase::scenario::{Loaded, Scenario};
use hayase::simulation::{PatternOutcome, PatternWork, RunOptions, Simulated};
use hayase::sweep::accuracy::known_of;
use hayase::system::System;
use hayase::units::Bytes;
use hayase_output::svg::Window;
use hayase_output::{csv, json, table};

const RUN_EXAMPLES: &str = "\
Examples:
  hayase run -t fat-tree-54 -p all-to-all-simple-spread --placement random --seeds 8
  hayase run -t torus-4x4 -p all-to-all-pairwise --transport packet:iq
  hayase run -t torus-8x8 -p ring --size \"1 MB\" -o report.json -o loads.svg
  hayase run report.json                  the scenario of a report once more
  hayase run scenario.toml --set topology.fat-tree.p=4
  hayase run -t torus-8x8 -p messages.csv --injection window=4
  hayase run farm.toml -t torus-4x4       a master and its workers ([workload.master-slave])
  hayase run -t fat-tree-54 --job a=all-to-all-pairwise:16@random --job b=ring:20
  hayase run -t fat-tree-3456 -p all-to-all-simple-spread --placement random --estimate 1%
  hayase run -t torus-8x8 -p messages.csv --straggler 3=50% -o noise.svg

Yours: scenario.toml (`hayase init scenario.toml` writes one), messages.csv (src,dst,bytes), farm.toml

Files (-o), by name:
  x.json         the report
  x.svg          how loaded each link was, drawn over the fabric
  timeline.svg   who sent what when, computed, and waited for whom (small runs)
  messages.csv   every message: src,dst,index,bytes,start_s,end_s
  ranks.csv      every rank: where its time went, how late it was
  path.csv       the critical path; activities.csv: all that ranks did
  links.csv      every link: capacity, bytes, busy time, utilisation, flows
  noise.svg      how far the delay of slow ranks travels (--straggler, --noise); also noise.csv
Of a program those of `hayase replay`, of a farm those of `hayase master-slave`. Of jobs x.csv is a line for each, \
x.svg shows when they ran, messages.csv and links.csv say which job it was, timeline.svg has a colour for each, and \
loads.svg shows how loaded each link was; interference.csv and interference.svg hold which delays which.
The name may be longer (run-7-messages.csv): the word in it counts.
A file appears when it is complete; of a run that was stopped or deadlocked only the report.";

/// `hayase run`.
#[derive(Args, Debug)]
#[command(after_help = RUN_EXAMPLES)]
pub struct RunArgs {
    /// The scenario.
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    /// A job beside others, NAME=PATTERN:RANKS@PLACEMENT: its name, a pattern or program, its number of ranks and
    /// their placement among the nodes that are left; the last two may be left out (may be repeated).
    #[arg(long, value_name = "JOB", help_heading = "Scenario")]
    pub job: Vec<String>,
    /// Of jobs: also tell which delays which, the time that messages of each lost to those of each other.
    #[arg(long)]
    pub interference: bool,
    /// The makespan to within this part of it (1%), as an estimate with its 95 % interval: the beginning is simulated,
    /// and the rest is worked out from it. What is not alike from step to step is run in full.
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true, help_heading = "Scenario")]
    pub estimate: Option<String>,
    /// With how many seeds.
    #[command(flatten)]
    pub seeds: SeedsArgs,
    /// What becomes of a recording that is incomplete.
    #[command(flatten)]
    pub strictness: Strictness,
    /// Where results go.
    #[command(flatten)]
    pub out: OutputArgs,
    /// What a timeline shows.
    #[command(flatten)]
    pub window: WindowArgs,
}

/// Messages of a timeline at most: more of them are no longer seen apart, and are all kept until the end.
const TIMELINE: u64 = 100_000;

outputs! {
    /// Contents of a file, by its name.
    enum Kind {
        Report: "x.json",
        Timeline: "timeline.svg",
        Noise: "noise.svg",
        Loads: "x.svg",
        Messages: "messages.csv",
        Links: "links.csv",
        NoiseTable: "noise.csv",
        Ranks: "ranks.csv",
        Activities: "activities.csv",
        Path: "path.csv",
    }
}

/// What a run can do, whatever is run: which names of files there are depends on the work, which is not known yet; what
/// no work knows is wrong at once.
const ANY: Offer<()> = Offer {
    verb: "run",
    kind: |path| {
        let farm = |mistake| master_slave::knows(path).or(Err(mistake));
        let jobs = |mistake| jobs::knows(path).or(Err(mistake));
        Kind::of(path).map(drop).or_else(|mistake| replay::knows(path).or(Err(mistake)).or_else(farm).or_else(jobs))
    },
    json: Ok(()),
    csv: Ok(()),
    threads: true,
};

/// What the run of a pattern can do.
const OFFER: Offer<Kind> = Offer {
    verb: "run",
    kind: Kind::of,
    json: Ok(()),
    csv: Err("of a pattern there are several tables: -o messages.csv, links.csv, ranks.csv, activities.csv, path.csv"),
    threads: true,
};

/// Runs a scenario.
pub fn run(args: &RunArgs, voice: Voice) -> Result<End, Failure> {
    args.out.begin(&ANY)?;
    let loader = args.job.iter().fold(args.scenario.loader(), |loader, job| loader.job(job));
    let loader = args.estimate.iter().fold(loader, |loader, percent| loader.estimate(percent));
    let loaded = loader.on_read(progress::reading(voice.show)).load_all()?;
    estimate::say(&loaded, voice);
    let system = match &loaded {
        Loaded::Pattern(scenario) => Some(scenario.system()),
        Loaded::Program(scenario) => Some(scenario.system()),
        Loaded::Jobs(scenario) => Some(scenario.system()),
        Loaded::Farm(_) => None,
    };
    if let Some(idle) = system.and_then(System::idle_links) {
        voice.say(table::printable(&idle));
    }
    match loaded {
        Loaded::Jobs(scenario) => {
            let seeds = seeds(scenario.seed(), args.seeds.seeds)?;
            jobs::play(&scenario, &seeds, args.interference, &args.out, &args.window, voice)
        }
        _ if asks_interference(args) => {
            let message = "`interference` is which of several jobs delays which, and this is one by itself";
            Err(Diagnostic::new("wrong-choice", message)
                .help("name jobs by --job NAME=PATTERN:RANKS, or in [[job]]")
                .into())
        }
        Loaded::Pattern(scenario) => pattern(&scenario, args, voice),
        Loaded::Program(played) => {
            let window = replay::check("run", &args.out, &args.window)?;
            let work = played.work();
            regions::say(work.start_up, &work.program, voice);
            regions::say_strays(&work.program, voice);
            replay::say_links(&played, voice);
            if !predict::say(work, args.strictness, voice)? {
                caveats::judge_program(&work.program, &work.name, args.strictness, voice)?;
            }
            let seeds = seeds(played.seed(), args.seeds.seeds)?;
            replay::play(&played, &seeds, None, &args.out, window, voice)
        }
        Loaded::Farm(farm) => {
            let seeds = seeds(farm.seed(), args.seeds.seeds)?;
            master_slave::play(&farm, &seeds, &args.out, voice)
        }
    }
}

/// Whether an option or the name of a file asks who delays whom.
fn asks_interference(args: &RunArgs) -> bool {
    args.interference || args.out.output.iter().any(|path| named(path, jobs::INTERFERENCE))
}

/// Runs a pattern.
fn pattern(scenario: &Scenario<PatternWork>, args: &RunArgs, voice: Voice) -> Result<End, Failure> {
    args.out.check(&OFFER)?;
    let timeline = args.out.file_of(&OFFER, Kind::Timeline);
    let window = args.window.window(timeline.is_some())?;
    let seeds = seeds(scenario.seed(), args.seeds.seeds)?;
    let whole = [Kind::Messages, Kind::Ranks, Kind::Activities, Kind::Path, Kind::Timeline];
    estimate::check(scenario.system(), whole.into_iter().find_map(|kind| args.out.file_of(&OFFER, kind)))?;
    check_timeline(scenario, timeline)?;
    for kind in [Kind::Noise, Kind::NoiseTable] {
        noise::check(scenario.system(), args.out.file_of(&OFFER, kind))?;
    }
    let files = args.out.open(&OFFER)?;
    let stop = interrupt::stop_flag();
    let Observed { mut run, mut files, records } = observe(scenario, files, stop, voice)?;
    if seeds.len() > 1 && run.report.head.status == Status::Complete {
        let statistics = over(scenario, &seeds, &run.summary(), voice)?;
        if statistics.missing > 0 {
            run.report.head.status = Status::Interrupted;
        }
        run.report.head.seeds = Some(statistics);
    }
    estimate::say_reason(run.report.head.estimated.as_ref(), voice);
    noise::cost(scenario, &mut run.report.head, voice)?;
    if run.report.head.status == Status::Complete {
        run.report.head.accuracy = known_of(scenario, scenario.work()).map(Box::new);
    }
    if run.report.head.status != Status::Complete {
        // A part of a table looks like a whole one; the report says what it is.
        for (_, left_out) in files.extract_if(.., |(kind, _)| *kind != Kind::Report) {
            voice.say(format_args!("`{}` is not written: the run is not complete", left_out.path().display()));
        }
    }
    for (kind, file) in files {
        file.write(|w| write(kind, w, scenario, &run, &records, window))?;
    }
    args.out.print(|| table::run(&run.report), &run.report)?;
    if let Some(known) = &run.report.head.accuracy {
        accuracy::say(known, &measured_by(args), voice);
    }
    voice.say(cost(&run.report));
    Ok(match run.report.head.status {
        Status::Complete => End::Done,
        // Only a farm can be left undone.
        Status::Interrupted | Status::Undone => End::Interrupted,
        Status::Deadlocked => {
            let Report { head, gridlock, .. } = &run.report;
            let why = deadlock::explain(&run.blocked, gridlock.as_ref(), head.stopped, head.faults.as_deref());
            complain(why.trim_end());
            End::Deadlocked
        }
    })
}

/// The words that `hayase accuracy` has for the same.
fn measured_by(args: &RunArgs) -> String {
    let ScenarioArgs { scenario, pattern, system, messages, .. } = &args.scenario;
    let options = [
        ("-t", system.topology.as_slice()),
        ("-p", pattern.as_slice()),
        ("--size", messages.size.as_slice()),
        ("--placement", system.placement.as_slice()),
        ("--routing", system.routing.as_slice()),
    ];
    accuracy::words(scenario.as_deref(), &options)
}

/// A timeline keeps every message, so its size is checked before the run.
fn check_timeline(scenario: &Scenario<PatternWork>, timeline: Option<&Path>) -> Result<(), Failure> {
    let messages = scenario.work().messages();
    match timeline {
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
    let usual = scenario.work().usual();
    let link_use = asks(Kind::Links) || usual.link_use;
    let mut records = Vec::new();
    let late = usual.late || timeline || asks(Kind::Ranks) || asks(Kind::Path);
    let keep = timeline || asks(Kind::Path);
    let mut activities = Vec::new();
    for (_, file) in files.extract_if(.., |(kind, _)| *kind == Kind::Activities) {
        let (path, file) = file.into_parts();
        match csv::activities(file) {
            Ok(table) => activities.push((path, table)),
            Err(error) => return Err(Failure::Write(path, error)),
        }
    }
    let mut tables = Vec::new();
    for (_, file) in files.extract_if(.., |(kind, _)| *kind == Kind::Messages) {
        let (path, file) = file.into_parts();
        match csv::MessagesBeside::new(file) {
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
        let asked = !activities.is_empty();
        let mut on_activity = |activity: &Activity| {
            for (_, table) in &mut activities {
                table.write(activity);
            }
        };
        scenario.run(RunOptions {
            link_use,
            on_message: if observe { Some(&mut on_message) } else { None },
            on_activity: if asked { Some(&mut on_activity) } else { None },
            late,
            keep,
            watch: Some(&monitor),
            ..RunOptions::default()
        })
    };
    drop(monitor);
    let complete = run.report.head.status == Status::Complete;
    let tables = tables.into_iter().map(|(path, table)| (path, table.finish()));
    let activities = activities.into_iter().map(|(path, table)| (path, table.finish()));
    for (path, finished) in tables.chain(activities) {
        let written = finished.and_then(|file| if complete { file.commit() } else { Ok(()) });
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
        Kind::Links => csv::links(run.links.iter(), w),
        Kind::Loads => match scenario.network() {
            Some(network) => pictures::loads(&network.fabric, &run.links, report, w),
            None => Ok(()),
        },
        Kind::Timeline => pictures::timeline(records, scenario.work(), run, window, w),
        Kind::Noise => {
            let title = format!("{} on {}", report.workload, report.fabric);
            pictures::noise(&report.head, &title, w)
        }
        Kind::NoiseTable => pictures::noise_table(&report.head, w),
        Kind::Ranks => {
            let known = run.history.is_some();
            let (ranks, late) = report.ranks.as_ref().map_or((&[][..], &[][..]), |of| (&of.ranks, &of.late));
            csv::ranks(ranks, late, known, w)
        }
        Kind::Path => csv::path(run.path.as_deref().unwrap_or_default(), w),
        // Written while it ran.
        Kind::Messages | Kind::Activities => Ok(()),
    }
}

/// What the simulation itself took.
fn cost(report: &Report) -> String {
    let meta = &report.meta;
    let mut text = format!("simulated in {}", table::seconds(meta.wall_s));
    if meta.wall_s > 0.0 {
        let per_second = |count: u64, of: &str| table::rate_of(count as f64 / meta.wall_s, of);
        text += &format!(
            ", {}, {}",
            per_second(estimate::simulated(&report.head), "messages"),
            per_second(meta.events, "events")
        );
    }
    if let Some(bytes) = meta.peak_rss_bytes {
        text += &format!(", peak memory {}", Bytes(bytes));
    }
    text
}

//! `hayase replay`: how long a program takes on other nodes and another network, and where its time goes.

use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;

use super::args::RunFormat;
use super::files::{self, Opened, named, unknown};
use super::progress::{self, RunMonitor};
use super::trace::TraceArgs;
use super::{End, Failure, Voice, complain, deadlock, extension, interrupt, print, print_with};
use crate::diagnostic::{Diagnostic, Invalid, Located, Sources};
use crate::ids::MessageId;
use crate::node::NodeSpec;
use crate::output::{csv, json, table};
use crate::player::{Activity, Stuck};
use crate::report::Status;
use crate::report::replay::ReplayReport;
use crate::scenario::Loader;
use crate::scenario::replay::{Replay, ReplayOptions};
use crate::units::Bytes;
use crate::workload::Blocked;
use crate::workload::program::Program;
use crate::workload::program::generate::Generator;
use crate::workload::trace::{Options, Trace, unmatched};

pub mod args;
use args::{PlayedOn, ReplayArgs};

/// What a file holds, by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Report,
    Ranks,
    Activities,
}

impl Kind {
    fn of(path: &Path) -> Result<Self, Diagnostic> {
        match extension(path).as_str() {
            "json" => Ok(Self::Report),
            "csv" if named(path, "activities") => Ok(Self::Activities),
            "csv" if named(path, "ranks") => Ok(Self::Ranks),
            "csv" => {
                let message = format!("the name `{}` does not say which table to write", path.display());
                Err(Diagnostic::new("unknown-output", message)
                    .help("a CSV file with `ranks` or `activities` in its name holds these"))
            }
            _ => Err(unknown(path, "x.json, ranks.csv or activities.csv")),
        }
    }
}

/// Replays a program.
pub fn replay(args: &ReplayArgs, voice: Voice) -> Result<End, Failure> {
    files::check_names(&args.output, Kind::of)?;
    let (program, name) = program(&args.input, voice)?;
    let loader = loader(&args.on).on_read(progress::reading(voice.show));
    let replay = loader.load_replay(Arc::new(program), &name, args.on.cpu_speed)?;
    if matches!(replay.node, NodeSpec::Ideal(_)) && replay.placement().is_none() {
        voice.hint("nodes and network are ideal; name a machine (-m, see `hayase machine list`) or a fabric (-t)");
    }
    let files = files::open(&args.output, Kind::of)?;
    let (report, stuck) = run(&replay, files, voice)?;
    match args.format {
        RunFormat::Table => print(&table::replay(&report))?,
        RunFormat::Json => print_with(|w| json::write(&report, w))?,
    }
    voice.say(cost(&report));
    Ok(match report.status {
        Status::Complete => End::Done,
        Status::Interrupted => End::Interrupted,
        Status::Deadlocked => {
            complain(deadlock::describe(&blocked(stuck), "operation").trim_end());
            End::Deadlocked
        }
    })
}

/// The program that is named: a trace, or one by rule.
pub(super) fn program(input: &TraceArgs, voice: Voice) -> Result<(Program, String), Failure> {
    let text = input.trace.to_string_lossy();
    if Generator::is_meant(&text) && !input.trace.exists() {
        let program = Generator::parse(&text)?.program();
        return Ok((program.map_err(|diagnostics| Invalid { diagnostics, ..Invalid::default() })?, text.into_owned()));
    }
    let mut sources = Sources::default();
    sources.on_read(progress::reading(voice.show));
    let path: Located<String> = text.into_owned().into();
    let options = Options { flop_rate: input.flop_rate, truncated: input.truncated };
    let found = Trace::open(&sources, &path).map_err(|diagnostic| vec![diagnostic]).and_then(|trace| {
        let program = trace.program(options)?;
        Ok((program, trace.name().to_owned()))
    });
    found.map_err(|diagnostics| Invalid { diagnostics, sources: sources.clone() }.into())
}

/// What the program is played on.
pub(super) fn loader(args: &PlayedOn) -> Loader {
    let mut loader = Loader::new();
    if let Some(path) = &args.scenario {
        loader = loader.file(path);
    }
    type Set = fn(Loader, &str) -> Loader;
    let options: [(&Option<String>, Set); 7] = [
        (&args.machine, Loader::machine),
        (&args.node, Loader::node),
        (&args.topology, Loader::topology),
        (&args.placement, Loader::placement),
        (&args.routing, Loader::routing),
        (&args.sharing, Loader::sharing),
        (&args.transport, Loader::transport),
    ];
    for (value, add) in options {
        if let Some(value) = value {
            loader = add(loader, value);
        }
    }
    if let Some(seed) = args.seed {
        loader = loader.seed(seed);
    }
    args.set.iter().fold(loader, |loader, assignment| loader.set("--set", assignment))
}

/// Plays it, and writes the files.
fn run(replay: &Replay, files: Vec<(Kind, Opened)>, voice: Voice) -> Result<(ReplayReport, Vec<Stuck>), Failure> {
    let monitor = RunMonitor::new(voice.show, interrupt::stop_flag());
    let (mut tables, mut others) = (Vec::new(), Vec::new());
    for (kind, file) in files {
        match kind {
            Kind::Activities => {
                let (path, file) = file.into_parts();
                match csv::Activities::new(file) {
                    Ok(table) => tables.push((path, table)),
                    Err(error) => return Err(Failure::Write(path, error)),
                }
            }
            Kind::Report | Kind::Ranks => others.push((kind, file)),
        }
    }
    let replayed = {
        let written = RefCell::new(&mut tables);
        let asked = !written.borrow().is_empty();
        let mut on_activity = |activity: &Activity| {
            for (_, table) in written.borrow_mut().iter_mut() {
                table.write(activity);
            }
        };
        replay.run(ReplayOptions {
            on_activity: if asked { Some(&mut on_activity) } else { None },
            watch: Some(&monitor),
        })
    };
    drop(monitor);
    let complete = replayed.report.status == Status::Complete;
    for (path, table) in tables {
        let written = table.finish().and_then(|file| if complete { file.commit() } else { Ok(()) });
        written.map_err(|error| Failure::Write(path.clone(), error))?;
        if !complete {
            voice.say(format_args!("`{}` is not written: the run is not complete", path.display()));
        }
    }
    for (kind, file) in others {
        match kind {
            Kind::Report => file.write(|w| json::write(&replayed.report, w))?,
            Kind::Ranks | Kind::Activities => file.write(|w| csv::ranks(&replayed.report.ranks, w))?,
        }
    }
    if !complete && !replayed.stuck.is_empty() {
        for mistake in unmatched(&replay.program).into_iter().take(1) {
            voice.hint(mistake.message);
        }
    }
    Ok((replayed.report, replayed.stuck))
}

/// Ranks that are stuck, as a deadlock is described.
pub(super) fn blocked(stuck: Vec<Stuck>) -> Vec<Blocked> {
    let blocked = |stuck: Stuck| Blocked {
        rank: stuck.rank,
        next: MessageId { src: stuck.rank, index: stuck.op },
        waits_for: stuck.what,
        on: stuck.on,
    };
    stuck.into_iter().map(blocked).collect()
}

/// What the replay itself took.
fn cost(report: &ReplayReport) -> String {
    let meta = &report.meta;
    let mut text = format!("played in {}", table::seconds(meta.wall_s));
    if meta.wall_s > 0.0 {
        text += &format!(", {} events/s", table::grouped((meta.events as f64 / meta.wall_s) as u64));
    }
    if let Some(bytes) = meta.peak_rss_bytes {
        text += &format!(", peak memory {}", Bytes(bytes));
    }
    text
}

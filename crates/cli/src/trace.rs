//! `hayase trace`: shows the contents of a recorded program or converts it.

pub mod accesses;
mod args;
mod sites;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use super::files::{Opened, names, unknown, write_together};
use super::options::Offer;
use super::work::{is_rule, load_program};
use super::{End, Failure, Voice, asked, caveats, complain, extension, progress};
pub use args::TraceVerb;
pub use args::{ReadArgs, TraceArgs};
use args::{TraceConvertArgs, TraceInfoArgs};
use hayase::base::Arrange;
use hayase::diagnostic::{Diagnostic, Invalid, Sources, file_names};
use hayase::program::caveats::Caveats;
use hayase::program::collectives::{CollectivesSpec, Expander};
use hayase::program::{OpKind, Program, RecordedRegion};
use hayase::trace::calls::Call;
use hayase::trace::{
    CallTally, Format, Tally, ToPaje, ToTrace, Trace, Unmatched, chakra, expanded, goal, otf2, unmatched,
};
use hayase::units::Time;
use hayase_output::table::{Answer, Cell, Grid, count, grouped, printable};

/// Shows the contents of a trace, or converts it.
pub fn trace(verb: &TraceVerb, voice: Voice) -> Result<End, Failure> {
    match verb {
        TraceVerb::Info(args) => info(args, voice),
        TraceVerb::Sites(args) => sites::sites(args, voice),
        TraceVerb::Convert(args) => convert(args, voice),
    }
}

/// Contents of a trace, as data.
#[derive(Serialize)]
struct Info {
    schema: &'static str,
    name: String,
    format: &'static str,
    ranks: u32,
    /// Number of ranks whose calls are present.
    #[serde(skip_serializing_if = "Option::is_none")]
    present: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clock: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    calls: Option<Vec<CallInfo>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lost: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call_sites: Option<u32>,
    /// Largest number of calling threads of a rank, if more than one.
    #[serde(skip_serializing_if = "Option::is_none")]
    threads: Option<u32>,
    /// Program that a replay runs; `None` if the trace is inconsistent.
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<ProgramInfo>,
    /// Regions that the program marks, as recorded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    regions: Vec<RegionInfo>,
    /// Memory accesses, if recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    accesses: Option<AccessInfo>,
    notes: Vec<(String, String)>,
    #[serde(flatten)]
    caveats: Caveats,
}

#[derive(Serialize)]
struct RegionInfo {
    name: String,
    /// Number of executions on the rank that executed it most.
    executions: u64,
    ranks: u32,
    /// Sum over executions of the time from the first rank's begin to the last rank's end, if times are real.
    #[serde(skip_serializing_if = "Option::is_none")]
    time_s: Option<f64>,
    /// Computation and time in calls within it, as means over its ranks.
    computation_s: f64,
    communication_s: f64,
    /// Number of calls of all ranks.
    calls: u64,
    bytes: u64,
}

impl RegionInfo {
    fn all(program: &Program) -> Vec<Self> {
        let of = |(name, region): (&Arc<str>, &RecordedRegion)| {
            let mean = |time: Time| time.seconds() / f64::from(region.ranks.max(1));
            Self {
                name: name.to_string(),
                executions: region.executions,
                ranks: region.ranks,
                time_s: region.time.map(Time::seconds),
                computation_s: mean(region.computation),
                communication_s: mean(region.in_calls),
                calls: region.calls,
                bytes: region.bytes,
            }
        };
        program.regions.iter().zip(&program.recorded).map(of).collect()
    }
}

#[derive(Serialize)]
struct AccessInfo {
    count: u64,
    /// Number of places of the program that make them.
    sites: u64,
    file_bytes: u64,
}

#[derive(Serialize)]
struct CallInfo {
    call: &'static str,
    count: u64,
    bytes: u64,
    time_s: f64,
}

#[derive(Serialize)]
struct ProgramInfo {
    operations: u64,
    messages: u64,
    /// Number of these that are never received.
    unreceived: u64,
    message_bytes: u64,
    collective_calls: u64,
    communicators: u64,
    /// Computation of all ranks together.
    computed_s: f64,
    /// Time of the recorded run, if the trace has it.
    measured_s: Option<f64>,
}

impl ProgramInfo {
    fn of(program: &Program, ends: &Unmatched) -> Self {
        let ops = || program.iter().flat_map(|(_, rank)| &rank.ops);
        let sent = ops().filter(|op| matches!(op.kind, OpKind::Send | OpKind::Isend));
        let calc = ops().filter(|op| op.kind == OpKind::Calc);
        Self {
            operations: program.operations(),
            messages: program.messages(),
            unreceived: ends.messages,
            message_bytes: sent.map(|op| op.size).fold(0, u64::saturating_add),
            collective_calls: program.collective_calls(),
            communicators: program.communicators.len() as u64,
            computed_s: calc.map(|op| op.duration()).fold(Time::ZERO, |sum, time| sum + time).seconds(),
            measured_s: program.measured().map(Time::seconds),
        }
    }
}

const INFO: Offer<&str> = Offer::new("trace info", names!["x.json"])
    .without_csv("the contents of a trace are several tables; use --format json, or `hayase trace sites`")
    .on_one_thread();

fn info(args: &TraceInfoArgs, voice: Voice) -> Result<End, Failure> {
    args.out.begin(&INFO)?;
    let files = args.out.open(&INFO)?;
    let sources = progress::sources(voice.show);
    let trace = args.input.open(&sources)?;
    let options = args.input.options();
    let mut tally = Tally::default();
    // A trace that ends early is shown up to its end, with a note.
    let calls = trace.calls(options, &mut tally);
    let (program, ends, mistakes) = match calls.and_then(|_| trace.program(options)) {
        Ok(program) => {
            let mut ends = unmatched(&program);
            let mistakes = std::mem::take(&mut ends.receives);
            (Some(program), ends, mistakes)
        }
        Err(mistakes) => (None, Unmatched::default(), mistakes),
    };
    let has_calls = tally.present > 0;
    let caveats = trace.caveats();
    let info = Info {
        schema: "hayase-trace-info-1",
        name: trace.name().to_owned(),
        format: trace.format().name(),
        ranks: program.as_ref().map_or(tally.ranks, Program::ranks),
        present: has_calls.then_some(tally.present),
        clock: has_calls.then_some(tally.clock.name()),
        calls: has_calls.then(|| {
            let call = |(call, tally): (&Call, &CallTally)| CallInfo {
                call: call.name(),
                count: tally.count,
                bytes: tally.bytes,
                time_s: tally.time.seconds(),
            };
            tally.calls.iter().map(call).collect()
        }),
        lost: has_calls.then_some(tally.lost),
        call_sites: has_calls.then_some(tally.sites),
        threads: (tally.threads > 1).then_some(tally.threads),
        program: program.as_ref().map(|program| ProgramInfo::of(program, &ends)),
        regions: program.as_ref().map(RegionInfo::all).unwrap_or_default(),
        accesses: accesses::of(&args.input.trace)?.map(|accesses| AccessInfo {
            count: accesses.count,
            sites: accesses.sites.len() as u64,
            file_bytes: accesses.bytes,
        }),
        notes: tally.notes.clone(),
        caveats: caveats.clone(),
    };
    // Without anything to show, the mistakes suffice.
    if has_calls || program.is_some() {
        args.out.deliver(files, || page(&info, &tally), &info, &[])?;
    }
    if let Some(strays) = program.as_ref().map(Program::stray_borders).filter(|strays| !strays.is_empty()) {
        voice.hint(strays.join("; "));
    }
    caveats::judge(&caveats, trace.name(), args.input.strictness, voice)?;
    caveats::say_unreceived(ends.unreceived(), trace.name(), voice);
    if mistakes.is_empty() {
        return Ok(End::Done);
    }
    complain(Invalid { diagnostics: mistakes, sources: Sources::default() }.show(voice.colour));
    Ok(End::Invalid)
}

/// Returns the answer for a terminal.
fn page(info: &Info, tally: &Tally) -> Answer {
    let mut text = Answer::new();
    text.push_str(&format!("{} ({})\n", printable(&info.name), info.format));
    for (name, value) in info.notes.iter().filter(|(_, value)| !value.is_empty()) {
        text.push_str(&format!("{}: {}\n", printable(name), printable(value)));
    }
    text.push_str("\n");
    let mut fact = |name: &str, value: String| text.push_str(&format!("{name:<14}{value}\n"));
    match info.present {
        Some(present) if present < info.ranks => {
            fact("ranks", format!("{}, of which {} are there", grouped(info.ranks.into()), grouped(present.into())));
        }
        _ => fact("ranks", grouped(info.ranks.into())),
    }
    if let Some(clock) = info.clock {
        fact("calls", grouped(tally.events));
        fact("call sites", grouped(tally.sites.into()));
        if let Some(threads) = info.threads {
            fact("threads", format!("{threads}, of the rank that has most"));
        }
        fact(
            "times",
            match clock {
                "wall" => "real time in calls and between them".to_owned(),
                "cpu" => "processor time between calls; none in calls".to_owned(),
                _ => "none".to_owned(),
            },
        );
    }
    if let Some(AccessInfo { count: accesses, sites, file_bytes }) = &info.accesses {
        let bytes = grouped(*file_bytes);
        fact("accesses", format!("{} from {}, {bytes} bytes", grouped(*accesses), count(*sites, "place", "places")));
    }
    if tally.lost > 0 {
        fact("lost", format!("{} could not be recorded", count(tally.lost, "call", "calls")));
    }
    if let Some(program) = &info.program {
        fact("operations", grouped(program.operations));
        fact("messages", format!("{}, {} bytes", grouped(program.messages), grouped(program.message_bytes)));
        fact(
            "collectives",
            format!(
                "{}, {}",
                count(program.collective_calls, "call", "calls"),
                count(program.communicators, "communicator", "communicators")
            ),
        );
        let each = program.computed_s / f64::from(info.ranks.max(1));
        fact(
            "computation",
            format!("{} in all, {} a rank", Time::from_seconds(program.computed_s), Time::from_seconds(each)),
        );
        if let Some(measured) = program.measured_s {
            fact("measured", format!("{} from Init to Finalize", Time::from_seconds(measured)));
        }
    }
    if let Some(calls) = &info.calls {
        let timed = info.clock == Some("wall");
        let mut grid = Grid::new().text("call").number("count").number("bytes [B]");
        if timed {
            grid = grid.time("time inside");
        }
        let mut calls: Vec<&CallInfo> = calls.iter().collect();
        calls.arrange_by_key(|call| std::cmp::Reverse(call.count));
        for call in calls {
            let mut row = vec![Cell::from(call.call), call.count.into(), call.bytes.into()];
            if timed {
                row.push(call.time_s.into());
            }
            grid.row(row);
        }
        text.push_str("\n");
        text.table(grid);
    }
    regions(&mut text, info);
    text
}

/// Adds a table of the recorded regions, if there are any.
fn regions(text: &mut Answer, info: &Info) {
    if info.regions.is_empty() {
        return;
    }
    let timed = info.clock == Some("wall");
    let mut grid = Grid::new().text("region").number("executions").number("ranks");
    if timed {
        grid = grid.time("time");
    }
    grid = grid.time("computation").number("calls").number("bytes [B]");
    if timed {
        grid = grid.time("time inside");
    }
    for region in &info.regions {
        let mut row: Vec<Cell> = vec![region.name.as_str().into(), region.executions.into(), region.ranks.into()];
        row.extend(region.time_s.filter(|_| timed).map(Cell::from));
        row.extend([Cell::from(region.computation_s), region.calls.into(), region.bytes.into()]);
        if timed {
            row.push(region.communication_s.into());
        }
        grid.row(row);
    }
    text.push_str(
        "\nRegions (time: from the first rank's begin to the last one's end; computation, time inside calls: mean of its ranks)\n",
    );
    text.table(grid);
}

/// Format of the output, by the name of the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Target {
    /// One file with all ranks.
    Trace,
    /// Folder with a file for each rank.
    Folder,
    Goal,
    GoalBinary,
    /// Chakra execution trace, a file for each rank.
    Nodes,
    /// Trace of Paje.
    Paje,
    /// OTF2 archive: an anchor, definitions, and a folder.
    Archive,
}

/// Returns the format, and true if it is compressed.
fn target(path: &Path) -> Result<(Target, bool), Diagnostic> {
    let (name, compressed) = match extension(path).as_str() {
        "zst" => (path.with_extension(""), true),
        _ => (path.to_owned(), false),
    };
    let target = match extension(&name).as_str() {
        "goal" => Target::Goal,
        "bin" => Target::GoalBinary,
        "et" if !compressed => Target::Nodes,
        "paje" if !compressed => Target::Paje,
        otf2::EXTENSION if !compressed => Target::Archive,
        hayase_trace::EXTENSION => return Ok((Target::Trace, false)),
        "" if path.to_string_lossy().ends_with('/') || path.is_dir() => Target::Folder,
        _ => {
            return Err(unknown(
                path,
                "x.hyt, folder/, x.et, x.otf2, x.paje, x.goal or x.bin (the last two also with .zst)",
            ));
        }
    };
    Ok((target, compressed))
}

/// True if the complete streams of a trace have an end, unlike those of formats without one.
pub fn has_ends(trace: &Trace<'_>) -> bool {
    matches!(trace.format(), Format::Hayase | Format::Dumpi | Format::Paraver)
}

/// Returns the program of a rule in place of a trace, with all its micro-batches if it is a training step.
fn of_rule(args: &TraceConvertArgs) -> Result<Option<Program>, Failure> {
    let path = &args.input.trace;
    let text = file_names::text_of(path);
    if !is_rule(path) && !text.starts_with("llm:") {
        let unused =
            || Diagnostic::new("unused-option", "a machine is for a training step").help("leave out --machine");
        return if args.machine.is_some() { Err(unused().into()) } else { Ok(None) };
    }
    let loader = args.machine.iter().fold(asked::loader().pattern(&text), |loader, machine| loader.machine(machine));
    let work = load_program(loader, path)?.work().clone().with_micro_batches(u64::MAX)?;
    Ok(Some(Arc::unwrap_or_clone(work.program)))
}

fn convert(args: &TraceConvertArgs, voice: Voice) -> Result<End, Failure> {
    let (target, compressed) = target(&args.output)?;
    if let Some(program) = of_rule(args)? {
        if matches!(target, Target::Nodes | Target::Goal | Target::GoalBinary) {
            return write_program(program, (target, compressed), &args.output, voice);
        }
        let message = "a program by rule holds no calls to write as a trace";
        return Err(Diagnostic::new("no-calls", message).help("write it as x.et, x.goal or x.bin").into());
    }
    let sources = progress::sources(voice.show);
    let trace = args.input.open(&sources)?;
    let options = args.input.options();
    let invalid = |diagnostics| Failure::from(Invalid { diagnostics, ..Invalid::default() });
    let judge = |holds_calls: bool| {
        if !holds_calls {
            let message = format!("`{}` is a schedule: it holds no calls to write as a trace", trace.name());
            return Err(Diagnostic::new("no-calls", message).help("write it as x.goal or x.bin").into());
        }
        caveats::judge(&trace.caveats(), trace.name(), args.input.strictness, voice)
    };
    if matches!(target, Target::Trace | Target::Folder) {
        let mut calls = ToTrace::new().with_ends(has_ends(&trace));
        judge(trace.calls(options, &mut calls).map_err(invalid)?)?;
        return write_trace(calls, target, &args.output, voice);
    }
    if target == Target::Paje {
        let mut calls = ToPaje::new();
        judge(trace.calls(options, &mut calls).map_err(invalid)?)?;
        Opened::new(&args.output)?.write(|file| calls.write(file))?;
        voice.say(format_args!("written to `{}`", args.output.display()));
        return Ok(End::Done);
    }
    if target == Target::Archive {
        let mut calls = otf2::ToArchive::new();
        judge(trace.calls(options, &mut calls).map_err(invalid)?)?;
        let archive = calls.finish().map_err(|mistake| Diagnostic::new(mistake.code, mistake.message.to_string()))?;
        return write_archive(&archive, &args.output, voice);
    }
    let program = trace.program(options).map_err(invalid)?;
    caveats::judge_program(&program, trace.name(), args.input.strictness, voice)?;
    write_program(program, (target, compressed), &args.output, voice)
}

/// Writes a program as an execution trace or a schedule.
fn write_program(
    mut program: Program,
    (target, compressed): (Target, bool),
    output: &Path,
    voice: Voice,
) -> Result<End, Failure> {
    if target == Target::Nodes {
        return write_nodes(&program, output, voice);
    }
    if program.collective_calls() > 0 || program.has_threads() {
        let expander = Expander::new(CollectivesSpec::default()).of(&program);
        program = expanded(&program, &expander)
            .map_err(|diagnostics| Failure::from(Invalid { diagnostics, ..Invalid::default() }))?;
    }
    let file = Opened::new(output)?;
    let mut not_goal = None;
    let result = file.write(|file| {
        let write = |out: &mut dyn Write| match target {
            Target::GoalBinary => goal::write_binary(&program, out),
            _ => goal::write_text(&program, out),
        };
        let result = if compressed {
            let mut out = zstd::Encoder::new(&mut *file, 0)?;
            write(&mut out).and_then(|()| Ok(out.finish().map(drop)?))
        } else {
            write(file)
        };
        result.map_err(|error| match error {
            goal::NotGoal::Io { error } => error,
            error => {
                not_goal = Some(error.to_string());
                io::Error::other("")
            }
        })
    });
    if let Some(message) = not_goal {
        return Err(Diagnostic::new("not-goal", message).into());
    }
    result?;
    voice.say(format_args!(
        "{} written to `{}`",
        count(program.operations(), "operation", "operations"),
        output.display()
    ));
    Ok(End::Done)
}

/// Writes a program as an execution trace, a file for each rank.
fn write_nodes(program: &Program, output: &Path, voice: Voice) -> Result<End, Failure> {
    write_together(program.rank_ids().map(|rank| {
        let mut bytes = Vec::new();
        let written = chakra::write(program, rank, &mut bytes);
        written.map_err(|error| Diagnostic::new("not-chakra", error.to_string()))?;
        Ok((output.with_extension(format!("{rank}.et")), vec![bytes]))
    }))?;
    let ranks = count(program.ranks().into(), "rank", "ranks");
    voice.say(format_args!("{ranks} written to `{}`", output.with_extension("RANK.et").display()));
    Ok(End::Done)
}

/// Writes an archive: `x.otf2`, `x.def`, and the files of ranks in the folder `x`.
fn write_archive(archive: &otf2::Archive, output: &Path, voice: Voice) -> Result<End, Failure> {
    let (folder, definitions) = (output.with_extension(""), output.with_extension("def"));
    let foreign = [&folder, &definitions].into_iter().find(|path| path.exists() && !output.exists());
    if let Some(foreign) = foreign {
        let message = format!("`{}` exists, and no archive that it belongs to", foreign.display());
        return Err(Diagnostic::new("output-exists", message).help("give the archive another name").into());
    }
    let is_new = !folder.exists();
    let failed = |error| Failure::Write(folder.clone(), error);
    std::fs::create_dir_all(&folder).map_err(failed)?;
    let in_folder = archive.locations.iter().map(|(name, bytes)| (folder.join(name), bytes));
    // The anchor comes last: an archive without one is none.
    let all: Vec<_> =
        in_folder.chain([(definitions, &archive.definitions), (output.to_owned(), &archive.anchor)]).collect();
    let written = write_together(all.iter().map(|(path, bytes)| Ok((path.clone(), vec![bytes]))));
    if let (Err(_), true) = (&written, is_new) {
        // The folder is not empty if names were given before the failure.
        let _ = std::fs::remove_dir(&folder);
    }
    written?;
    // Files of ranks that the archive before it had, and this one has not.
    for entry in std::fs::read_dir(&folder).map_err(failed)?.flatten() {
        let path = entry.path();
        let is_of_rank = matches!(extension(&path).as_str(), "evt" | "def");
        if is_of_rank && !all.iter().any(|(written, _)| *written == path) {
            std::fs::remove_file(&path).map_err(|error| Failure::Write(path, error))?;
        }
    }
    let total: usize = all.iter().map(|(_, bytes)| bytes.len()).sum();
    let (files, bytes) = (count(all.len() as u64, "file", "files"), grouped(total as u64));
    voice.say(format_args!("{files}, {bytes} bytes written: `{}`, with `{}/`", output.display(), folder.display()));
    Ok(End::Done)
}

fn write_trace(calls: ToTrace, target: Target, output: &Path, voice: Voice) -> Result<End, Failure> {
    let failed = |error| Failure::Write(output.to_owned(), error);
    let streams = calls.streams().map_err(failed)?;
    let total: usize = streams.iter().map(|(_, stream)| stream.len()).sum();
    let written: Vec<(PathBuf, Vec<&[u8]>)> = match target {
        Target::Folder => {
            std::fs::create_dir_all(output).map_err(failed)?;
            let name = |rank| output.join(format!("rank-{rank:05}.{}", hayase_trace::EXTENSION));
            streams.iter().map(|(rank, stream)| (name(rank), vec![stream.as_slice()])).collect()
        }
        _ => vec![(output.to_owned(), streams.iter().map(|(_, stream)| stream.as_slice()).collect())],
    };
    write_together(written.into_iter().map(Ok))?;
    let (ranks, bytes) = (count(streams.len() as u64, "rank", "ranks"), grouped(total as u64));
    voice.say(format_args!("{ranks}, {bytes} bytes written to `{}`", output.display()));
    Ok(End::Done)
}

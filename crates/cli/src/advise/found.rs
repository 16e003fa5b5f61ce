//! Recorded run to be advised: its calls, memory accesses and program.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hayase_advice::model::Finding;
use hayase_advice::search::{Options as SearchOptions, RunFiles, search};
use hayase_advice::within::RunPart;

use super::args::AdviseArgs;
use crate::caveats::judge;
use crate::trace::{TraceArgs, accesses, has_ends};
use crate::{Failure, Voice, progress, reason, replay, work};
use hayase::diagnostic::{Diagnostic, Invalid, Located, file_names};
use hayase::program::generate::Generator;
use hayase::program::{Op, OpKind, Program, RankProgram};
use hayase::simulation::ProgramWork;
use hayase::trace::{Format, ToProgram, ToTrace, Trace};

/// Recorded run, read from its files.
pub struct Found {
    /// Its name.
    pub name: String,
    /// Program of the ranks; its places are numbers of calls.
    pub program: Arc<Program>,
    /// Streams of the run; `None` for a schedule, which has no calls.
    run: Option<RunFiles>,
    /// Folder of the recording.
    pub folder: PathBuf,
    /// Folder in which the program ran.
    pub source: Option<PathBuf>,
    /// Temporary folder with the streams converted from another format.
    _converted: Option<Converted>,
}

/// Folder that is removed when it is dropped.
struct Converted(PathBuf);

impl Drop for Converted {
    fn drop(&mut self) {
        // Leftover files are in the system's temporary folder.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Reads the run.
pub fn open(args: &AdviseArgs, input: &TraceArgs, voice: Voice) -> Result<Found, Failure> {
    let text = file_names::text_of(&input.trace);
    let regions = &args.on.program.regions;
    let schedule = |program: Arc<Program>, name: String| Found {
        name,
        program,
        run: None,
        folder: PathBuf::new(),
        source: None,
        _converted: None,
    };
    if Generator::is_meant(&text) && !input.trace.exists() {
        of_recordings(args, input, "is a program by rule", true)?;
        let played = work::load_program(replay::loader(input, &args.on, voice), &input.trace)?;
        work::say(played.work(), input.strictness, voice)?;
        let ProgramWork { program, name, .. } = played.work().clone();
        return Ok(schedule(program, name));
    }
    let sources = progress::sources(voice.show);
    let options = input.options();
    let read = |diagnostics: Vec<Diagnostic>| Failure::from(Invalid { diagnostics, sources: sources.clone() });
    let open = |path: &Path| -> Result<Trace<'_>, Failure> {
        let path: Located<String> = file_names::text_of(path).into();
        Trace::open(&sources, &path).map_err(|diagnostic| read(vec![diagnostic]))
    };
    let trace = open(&input.trace)?;
    let name = trace.name().to_owned();
    let program_of = |trace: &Trace<'_>| -> Result<Program, Failure> {
        let mut program = ToProgram::new(&name, "event").at_every_call().with_callers().with_part(&regions.part());
        trace.calls(options, &mut program).map_err(read)?;
        program.finish().map_err(read)
    };
    if matches!(trace.format(), Format::Goal | Format::GoalBinary) {
        of_recordings(args, input, "is a schedule", true)?;
        let mut program = trace.program(options).map_err(read)?;
        regions.in_program(&mut program, voice)?;
        return Ok(schedule(Arc::new(program), name));
    }
    if trace.format() == Format::Hayase && input.trace.is_dir() {
        let folder = input.trace.clone();
        let mut program = program_of(&trace)?;
        let mut caveats = trace.caveats();
        judge(&caveats, &name, input.strictness, voice)?;
        if let Some(times) = &args.times {
            let trace = open(times)?;
            let plain = program_of(&trace)?;
            let others = trace.caveats().beyond(&caveats);
            judge(&others, trace.name(), input.strictness, voice)?;
            caveats.add(&others);
            if let Some(rank) = difference(&program, &plain) {
                let what = format!("`{}` is another run: rank {rank} makes other calls", times.display());
                return Err(Diagnostic::new("other-run", what)
                    .help(
                        "record the same program with the same input, ranks and MPI; runs that differ cannot be \
                           compared",
                    )
                    .into());
            }
            program = plain;
        }
        regions.in_program_of_trace(&mut program, voice);
        let program = Arc::new(program.with_caveats(caveats));
        let run = RunFiles::open(&folder).map_err(failed)?;
        let source = recorded_in(&folder);
        return Ok(Found { name, program, run: Some(run), folder, source, _converted: None });
    }
    of_recordings(args, input, "is not one", false)?;
    let folder = std::env::temp_dir().join(format!("hayase-advise-{}", std::process::id()));
    let unwritable = |error: std::io::Error| {
        Diagnostic::new("unwritable", format!("cannot write into `{}`: {}", folder.display(), reason(&error)))
    };
    fs::create_dir_all(&folder).map_err(unwritable)?;
    let converted = Converted(folder.clone());
    let mut streams = ToTrace::new().with_ends(has_ends(&trace));
    trace.calls(options, &mut streams).map_err(read)?;
    let caveats = trace.caveats();
    judge(&caveats, &name, input.strictness, voice)?;
    for (rank, stream) in streams.streams().map_err(unwritable)? {
        fs::write(folder.join(format!("rank-{rank:05}.hyt")), stream).map_err(unwritable)?;
    }
    let mut program = program_of(&open(&folder)?)?;
    regions.in_program_of_trace(&mut program, voice);
    let program = Arc::new(program.with_caveats(caveats));
    let run = RunFiles::open(&folder).map_err(failed)?;
    Ok(Found { name, program, run: Some(run), folder, source: None, _converted: Some(converted) })
}

/// Refuses options of recorded runs for other input, which `is` describes; a run without calls has no
/// `source` either.
fn of_recordings(args: &AdviseArgs, input: &TraceArgs, is: &str, without_source: bool) -> Result<(), Failure> {
    let given = [("--times", args.times.is_some()), ("--source", without_source && !args.source.is_empty())];
    let Some((option, _)) = given.into_iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
    let message = format!("{option} needs a recording, and `{}` {is}", input.trace.display());
    Err(Diagnostic::new("wrong-choice", message).help("leave it out, or record the program: `hayase record`").into())
}

/// Key by which calls are compared: kind, place in the program, and partner and size of a message.
type Call = (OpKind, Option<u32>, Option<(u32, u64)>);

/// Returns the first rank whose calls differ between two programs in kind, message or number.
fn difference(a: &Program, b: &Program) -> Option<u32> {
    let calls = |rank: &RankProgram| -> Vec<Call> {
        let message = |op: &Op| match op.kind {
            OpKind::Send | OpKind::Isend | OpKind::Recv | OpKind::Irecv => Some((op.peer, op.size)),
            _ => None,
        };
        let ops = rank.ops.iter().enumerate().filter(|(_, op)| op.kind != OpKind::Calc);
        ops.map(|(at, op)| (op.kind, rank.place(at), message(op))).collect()
    };
    if a.ranks() != b.ranks() {
        return Some(a.ranks().min(b.ranks()));
    }
    a.iter().zip(b.iter()).find(|((_, a), (_, b))| calls(a) != calls(b)).map(|((rank, _), _)| rank.0)
}

fn failed(error: hayase_advice::stream::Error) -> Failure {
    Diagnostic::new("unreadable-run", error.to_string()).into()
}

/// Returns the folder in which a recorded program ran.
#[cfg(target_os = "linux")]
fn recorded_in(folder: &Path) -> Option<PathBuf> {
    hayase_capture::folder::Provenance::read(folder).map(|provenance| provenance.folder.into())
}

#[cfg(not(target_os = "linux"))]
fn recorded_in(_: &Path) -> Option<PathBuf> {
    None
}

impl Found {
    /// Searches the run and returns the findings and everything that could not be seen. Times come from
    /// `times` if it is given.
    pub fn search(
        &self,
        eager: Option<u64>,
        region: Option<u32>,
        makespan_s: f64,
    ) -> Result<(Vec<Finding>, Vec<String>), Failure> {
        let Some(run) = &self.run else {
            let note = "a schedule has no calls, so only rules that need a simulation were applied";
            return Ok((Vec::new(), vec![note.to_owned()]));
        };
        let calls = |region| self.program.iter().map(|(_, rank)| rank.calls_within(region)).collect();
        let within = region.map(|region| Arc::new(RunPart::new(calls(region))));
        let options = SearchOptions { eager, within, beside_ns: makespan_s * 1e9, ..SearchOptions::default() };
        let advice = search(run, &options, &*accesses::names(&self.folder)).map_err(failed)?;
        Ok((advice.findings, advice.notes))
    }
}

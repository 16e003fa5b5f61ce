//! `hayase program`: makes program and computation data from a trace, shows and extends them.

pub mod args;

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use super::files::{Names, Opened, check_names, kind_of, open, parts, unknown};
use super::options::{Offer, OutputArgs};
use super::trace::TraceArgs;
use super::{End, Failure, Voice, caveats, extension, progress};
use args::{ExtendArgs, FoldArgs, ProgramVerb, ShowArgs};
use hayase::atomic_file::AtomicFile;
use hayase::diagnostic::{Diagnostic, Invalid, Located, file_names};
use hayase::prediction::computation::{self, ComputationData, Estimates, Machine, Pool, TimeRule, gather};
use hayase::prediction::program::{self, Blocks, Folded, ProgramData, extend, fold, unfold};
use hayase::program::caveats::Caveats;
use hayase::report::variation::Variation;
use hayase::sweep::variation::variation;
use hayase::trace::{Tally, unmatched, unreceived};
use hayase::units::Bytes;
use hayase_output::table;
use hayase_output::table::Answer;

/// Content of a file by its name; true if it is compressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Program,
    Computation,
}

fn kind(path: &Path) -> Result<(Kind, bool), Diagnostic> {
    let names = [("x.prog", 0), ("x.comp", 1), ("x.zst", 2)];
    if parts(path).0.is_some() {
        kind_of(path, &names)?;
    }
    let compressed = extension(path) == "zst";
    let name = if compressed { path.with_extension("") } else { path.to_owned() };
    match extension(&name).as_str() {
        program::EXTENSION => Ok((Kind::Program, compressed)),
        computation::EXTENSION => Ok((Kind::Computation, compressed)),
        _ => Err(unknown(path, "x.prog or x.comp (both also with .zst)")),
    }
}

/// Makes, shows or extends program data.
pub fn program(verb: &ProgramVerb, voice: Voice) -> Result<End, Failure> {
    match verb {
        ProgramVerb::Fold(args) => fold_trace(args, voice),
        ProgramVerb::Show(args) => show(args, voice),
        ProgramVerb::Extend(args) => extended(args, voice),
    }
}

/// Result of folding, as data.
#[derive(Serialize)]
struct FoldReport {
    schema: &'static str,
    trace: String,
    #[serde(flatten)]
    caveats: Caveats,
    ranks: u32,
    operations: u64,
    /// Number of operations and loops of the folded program, over all groups.
    steps: usize,
    loops: u32,
    groups: usize,
    blocks: u32,
    /// Sizes of the trace and of the program data as text \[B\].
    trace_bytes: Option<u64>,
    program_bytes: u64,
    /// Computation time of all ranks together \[s\].
    computed_s: f64,
    variation: Variation,
}

fn invalid(diagnostics: Vec<Diagnostic>) -> Failure {
    Invalid { diagnostics, ..Invalid::default() }.into()
}

const FOLD: Offer<()> = Offer {
    verb: "program fold",
    // Names of files select two kinds (`kind`).
    names: &[],
    json: Ok(()),
    csv: Err("the result of folding is not a table; use --format json"),
    threads: false,
};

fn fold_trace(args: &FoldArgs, voice: Voice) -> Result<End, Failure> {
    check_names(&args.out.output, kind)?;
    OutputArgs { output: Vec::new(), ..args.out.clone() }.begin(&FOLD)?;
    let Run { folded, name, notes, borders, caveats } = read_run(&args.input, voice)?;
    caveats::judge(&caveats, &name, args.input.strictness, voice)?;
    let Folded { mut data, times } = folded;
    data.notes = notes.iter().cloned().chain(caveats.notes(false)).collect();
    let leaves: u64 = times.iter().map(|times| times.len() as u64 - 1).sum();
    let operations = leaves - borders;
    let blocks = Blocks::of(&data);
    let folded = Folded { data, times };
    let pool = if args.pooled { Pool::Group } else { Pool::EachRank };
    let mut times = gather(&folded, &blocks, pool).map_err(invalid)?;
    times.notes = notes.into_iter().chain(caveats.notes(true)).collect();
    let variation = variation(&folded, &blocks, &times).map_err(invalid)?;
    let mut text = Vec::new();
    program::write(&folded.data, &mut text).map_err(Failure::Print)?;
    for ((kind, compressed), file) in open(&args.out.output, kind)? {
        match kind {
            Kind::Program => write(file, compressed, &|out| out.write_all(&text))?,
            Kind::Computation => write(file, compressed, &|out| computation::write(&times, out))?,
        }
    }
    let report = FoldReport {
        schema: "hayase-fold-1",
        trace: name,
        caveats,
        ranks: folded.data.ranks,
        operations,
        steps: folded.data.steps(),
        loops: folded.data.loops,
        groups: folded.data.groups.len(),
        blocks: blocks.count(),
        trace_bytes: size(&args.input.trace),
        program_bytes: text.len() as u64,
        computed_s: times.total().seconds(),
        variation,
    };
    args.out.print(|| page(&report), &report)?;
    if args.out.output.is_empty() {
        voice.hint("nothing was written; add -o x.prog and -o x.comp");
    }
    Ok(End::Done)
}

/// A recorded run.
struct Run {
    folded: Folded,
    name: String,
    /// Origin of the run.
    notes: Vec<(String, String)>,
    /// Number of region borders of all ranks.
    borders: u64,
    caveats: Caveats,
}

fn read_run(input: &TraceArgs, voice: Voice) -> Result<Run, Failure> {
    let sources = progress::sources(voice.show);
    let options = input.options();
    let read = || -> Result<Run, Vec<Diagnostic>> {
        let trace = input.open(&sources).map_err(|diagnostic| vec![diagnostic])?;
        let program = trace.program(options)?;
        caveats::say_unreceived(unreceived(&program), trace.name(), voice);
        let folded = fold(&program).map_err(|diagnostic| vec![diagnostic])?;
        let mut tally = Tally::default();
        trace.calls(options, &mut tally)?;
        let mut notes = vec![("trace".to_owned(), trace.name().to_owned())];
        notes.extend(tally.notes.into_iter().filter(|(_, value)| !value.is_empty()));
        notes.push(("clock".to_owned(), tally.clock.name().to_owned()));
        if let Some(measured) = program.measured() {
            notes.push(("measured".to_owned(), measured.exact()));
        }
        notes.extend(computation::region_notes(&program));
        notes.push(("made-by".to_owned(), format!("hayase {}", env!("CARGO_PKG_VERSION"))));
        let borders = program.iter().map(|(_, rank)| rank.marks.len() as u64).sum();
        Ok(Run { folded, name: trace.name().to_owned(), notes, borders, caveats: program.caveats })
    };
    read().map_err(|diagnostics| Invalid { diagnostics, sources: sources.clone() }.into())
}

/// Returns the size of a trace \[B\].
fn size(path: &Path) -> Option<u64> {
    let metadata = fs::metadata(path).ok()?;
    if !metadata.is_dir() {
        return Some(metadata.len());
    }
    let mut total = 0;
    for entry in fs::read_dir(path).ok()?.flatten() {
        if extension(&entry.path()) == hayase_trace::EXTENSION {
            total += entry.metadata().ok()?.len();
        }
    }
    Some(total)
}

fn write(file: Opened, compressed: bool, write: &dyn Fn(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    file.write(|file: &mut AtomicFile| {
        if !compressed {
            return write(file);
        }
        let mut out = zstd::Encoder::new(&mut *file, 0)?;
        write(&mut out)?;
        out.finish().map(drop)
    })
}

/// Returns the answer for a terminal.
fn page(report: &FoldReport) -> Answer {
    let mut text = Answer::new();
    text.push_str(&format!("{}\n\n", table::printable(&report.trace)));
    let mut fact = |name: &str, value: String| text.push_str(&format!("{name:<14}{value}\n"));
    let steps = table::count(report.steps as u64, "step", "steps");
    let loops = table::count(report.loops.into(), "loop", "loops");
    let groups = table::count(report.groups as u64, "group", "groups");
    let ranks = table::count(report.ranks.into(), "rank", "ranks");
    fact("operations", format!("{} of {ranks}", table::grouped(report.operations)));
    fact("folded", format!("{steps}, {loops}; {groups} of ranks"));
    let size = Bytes(report.program_bytes);
    fact(
        "program data",
        match report.trace_bytes {
            Some(trace @ 1..) => {
                format!("{size}, {} of the trace", table::percent(report.program_bytes as f64 / trace as f64))
            }
            _ => size.to_string(),
        },
    );
    let blocks = table::count(report.blocks.into(), "block", "blocks");
    fact("computation", format!("{} in {blocks}", table::seconds(report.computed_s)));
    text.append(table::variation(&report.variation));
    text
}

/// Reads program data.
pub(super) fn read_program(path: &Path, voice: Voice) -> Result<ProgramData, Invalid> {
    read_with(path, voice, program::read)
}

/// Reads computation data.
pub(super) fn read_computation(path: &Path, voice: Voice) -> Result<ComputationData, Invalid> {
    read_with(path, voice, computation::read)
}

fn read_with<T>(
    path: &Path,
    voice: Voice,
    read: impl FnOnce(hayase::reading::Input) -> Result<T, Vec<Diagnostic>>,
) -> Result<T, Invalid> {
    let sources = progress::sources(voice.show);
    let named: Located<String> = file_names::text_of(path).into();
    let found = sources.open(&named).map_err(|diagnostic| vec![diagnostic]).and_then(read);
    found.map_err(|diagnostics| Invalid { diagnostics, sources })
}

fn show(args: &ShowArgs, voice: Voice) -> Result<End, Failure> {
    const HELP: &str = "program data is a text of its own (docs/reference/data-sets.md), with a line for each step";
    let offer =
        Offer { verb: "program show", names: &[] as Names<()>, json: Err(HELP), csv: Err(HELP), threads: false };
    args.out.begin(&offer)?;
    let data = read_program(&args.program, voice)?;
    let blocks = Blocks::of(&data);
    if let Some(rank) = args.rank.filter(|&rank| rank >= data.ranks) {
        return Err(
            Diagnostic::new("unknown-rank", format!("there is no rank {rank}; there are {}", data.ranks)).into()
        );
    }
    let times = args.computation.as_ref().map(|path| read_computation(path, voice)).transpose()?;
    let beside = args.computation.as_deref().zip(times.as_ref().map(|times| times.notes.as_slice()));
    let data_sets = std::iter::once((args.program.as_path(), data.notes.as_slice())).chain(beside);
    caveats::judge_data(data_sets, args.strictness, voice)?;
    let fits = |times: &ComputationData| times.structure == computation::structure(&data, &blocks);
    if let Some(times) = times.as_ref().filter(|times| !fits(times)) {
        // Blocks are looked up by name, as in a prediction.
        let machines = vec![Machine { data: 0, scale: 1.0 }; data.ranks as usize];
        Estimates::new(&data, &blocks, std::slice::from_ref(times), &machines, TimeRule::Mean).map_err(invalid)?;
        voice.hint(
            "the computation data belongs to another variant of the program: times are shown for blocks with equal \
             numbers",
        );
    }
    let name = args.program.display().to_string();
    super::show(&table::program(&data, &blocks, times.as_ref(), args.rank, &name))?;
    Ok(End::Done)
}

fn extended(args: &ExtendArgs, voice: Voice) -> Result<End, Failure> {
    let (kind, compressed) = kind(&args.output)?;
    if kind != Kind::Program {
        return Err(unknown(&args.output, "x.prog or x.prog.zst").into());
    }
    let mut data = read_program(&args.program, voice)?;
    caveats::judge_data([(args.program.as_path(), data.notes.as_slice())], args.strictness, voice)?;
    let name = args.program.display().to_string();
    let ends =
        |data: &ProgramData| unfold(data, &Blocks::of(data), &mut (), &name).map(|whole| (unmatched(&whole), whole));
    let (before, _) = ends(&data).map_err(invalid)?;
    for name in &args.loops {
        let (before, after) = extend::extend(&mut data, name, args.iterations)?;
        voice.say(format_args!("{name}: {before} iterations become {after}"));
        data.notes.push(("extended".to_owned(), format!("{name} from {before} to {after}")));
    }
    // Mismatches are found before the file is written.
    let (after, whole) = ends(&data).map_err(invalid)?;
    let more = after.unreceived().filter(|_| after.messages > before.messages && after.receives.is_empty());
    let mut mistakes = after.receives;
    mistakes.extend(more.map(|what| Diagnostic::new("unmatched-send", what)));
    if let Some(first) = mistakes.first_mut() {
        first.help = Some(
            "ranks run different loops here; extend the loops of all of them that belong together (--loop may be repeated)"
                .to_owned(),
        );
        return Err(invalid(mistakes));
    }
    write(Opened::new(&args.output)?, compressed, &|out| program::write(&data, out))?;
    let operations = table::count(whole.operations(), "operation", "operations");
    voice.say(format_args!("{operations} in `{}`", args.output.display()));
    Ok(End::Done)
}

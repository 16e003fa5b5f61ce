//! Search of a run: first each rank by itself, then all ranks together.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use hayase_trace::callers::{Callers, Gather};
use rayon::prelude::*;

use crate::doubts::Doubts;
use crate::lines::Names;
use crate::merge::{Join, Merges};
use crate::model::{Advice, CallPart, Finding, Location};
use crate::overlap::{Called, Listener, Posted, Search, Spread};
use crate::rounds::{Round, Rounds};
use crate::rules::a001_overlap::Overlap;
use crate::rules::a002_aggregation::Aggregation;
use crate::rules::a003_collectives_in_a_row::ConsecutiveCollectives;
use crate::rules::a004_collectives::Patterns;
use crate::stream::{Error, Steps, TraceState};
use crate::waits::Waits;
use crate::walk::{CallEnd, Wait, Walk, Watcher};

pub use crate::options::Options;

/// Files of a run, by rank.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RunFiles {
    /// Streams of calls.
    pub streams: Vec<PathBuf>,
    /// Files of memory accesses, if they were recorded.
    pub memory: Vec<Option<PathBuf>>,
}

impl RunFiles {
    /// Lists the files of a run in a folder: `rank-00000.hyt`, `rank-00000.mem` and so on.
    ///
    /// # Errors
    /// The folder cannot be read, holds no streams, or lacks some.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let failed = |error: std::io::Error| Error::File { path: folder.into(), error: error.into() };
        let mut streams = BTreeMap::new();
        for entry in fs::read_dir(folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let number = name.strip_prefix("rank-").and_then(|name| name.strip_suffix(".hyt")?.parse::<u32>().ok());
            if let Some(rank) = number {
                streams.insert(rank, path);
            }
        }
        let what = match streams.last_key_value() {
            None => Some(format!("{} holds no streams (rank-00000.hyt)", folder.display())),
            Some((&last, _)) if last as usize >= streams.len() => {
                let missing = (0..last).find(|rank| !streams.contains_key(rank)).unwrap_or(0);
                Some(format!("{} lacks the stream of rank {missing}", folder.display()))
            }
            Some(_) => None,
        };
        if let Some(what) = what {
            return Err(Error::NoRun { what });
        }
        let memory = |path: &PathBuf| Some(path.with_extension("mem")).filter(|path| path.exists());
        let streams: Vec<PathBuf> = streams.into_values().collect();
        Ok(Self { memory: streams.iter().map(memory).collect(), streams })
    }
}

/// Results of one rank, before the ranks are combined.
#[derive(Debug, Default)]
pub struct RankFindings {
    /// Number of the rank.
    pub rank: u32,
    /// Number of ranks of the program.
    pub ranks: u32,
    /// Number of calls.
    pub events: u64,
    /// Number of memory accesses.
    pub accesses: u64,
    /// Computation \[ns\].
    pub computation: u64,
    /// True if its memory accesses were recorded.
    pub memory: bool,
    /// Notes on the rank.
    pub notes: Vec<String>,
    /// Files of code without instrumentation that ran, with their lines.
    pub foreign: BTreeMap<String, BTreeSet<String>>,
    /// Calls whose buffer is freed on the same line: copies of array sections.
    pub copies: BTreeSet<Location>,
    /// Communications that can be spread.
    pub overlap: Overlap<Location>,
    /// Messages that could be merged into earlier ones, by event.
    pub joins: Vec<Join>,
    /// Collective operations that could be merged into earlier ones, by event.
    pub collective_joins: Vec<Join>,
    /// Lines at which calls have different sizes.
    pub of_several_sizes: BTreeSet<Location>,
    /// Rounds of messages to or from many ranks.
    pub rounds: Vec<Round>,
    /// Number of messages by part and line.
    pub executions: BTreeMap<(CallPart, u32), u64>,
    /// Source lines of the rank.
    pub lines: crate::lines::Lines,
}

/// Listener that collects the results of a rank's search.
struct Collector {
    rank: u32,
    options: Options,
    overlap: Overlap<u32>,
    merges: Merges,
    rounds: Rounds,
    computation: u64,
}

impl Listener for Collector {
    fn spread(&mut self, spread: &Spread, known: &TraceState) {
        if !self.options.looks_at(self.rank, spread.event) {
            return;
        }
        self.overlap.add(self.rank, known.memory, spread, self.options.least_ns);
        if spread.completed_by_itself() && spread.part != CallPart::Collective {
            self.rounds.completed_by_itself(spread.event);
        }
    }

    fn posted(&mut self, at: &Posted<'_>) {
        self.merges.posted(at, self.options.least_ns);
        if self.options.looks_at(self.rank, at.number) {
            self.rounds.posted(at, self.options.least_ns);
        }
    }

    fn call(&mut self, called: &Called<'_>) {
        self.rank = called.known.rank;
        if called.event.call != hayase_trace::Call::Init {
            self.computation += called.gap;
        }
        self.merges.call(called);
        self.rounds.call(called);
    }
}

/// Searches a rank.
///
/// # Errors
/// The stream cannot be read.
pub fn search_rank<R: Read, M: Read>(mut steps: Steps<'_, R, M>, options: &Options) -> Result<RankFindings, Error> {
    let mut search = Search::new(options.limits);
    let mut collector = Collector {
        rank: 0,
        options: options.clone(),
        overlap: Overlap::default(),
        merges: Merges::default(),
        rounds: Rounds::default(),
        computation: 0,
    };
    let (mut events, mut accesses) = (0, 0);
    while let Some(step) = steps.next()? {
        events = step.number + 1;
        accesses += step.accesses.count;
        search.step(step, &mut collector);
    }
    let known = steps.finish();
    search.finish(&mut collector, &known);
    collector.rounds.finish();
    let mut notes = Vec::new();
    let rank = known.rank;
    if let Some(how) = &known.cut_off {
        notes.push(format!("rank {rank} was cut short: {how}"));
    }
    let (elsewhere, lost) = known.unseen;
    if elsewhere > 0 {
        notes.push(format!("rank {rank}: {elsewhere} accesses of other threads were not seen"));
    }
    if lost > 0 {
        notes.push(format!("rank {rank}: {lost} accesses were lost"));
    }
    let Collector { overlap, computation, mut merges, mut rounds, .. } = collector;
    let mut overlap = overlap.locate(|line| known.lines.get(line));
    for (unseen, doubts) in [(elsewhere, Doubts::THREADS), (lost, Doubts::SIGNALS)] {
        if unseen > 0 {
            overlap.doubt(doubts);
            merges.joins.iter_mut().for_each(|join| join.doubts.and(doubts));
            rounds.rounds.iter_mut().for_each(|round| round.doubts.and(doubts));
        }
    }
    // Drops members of a group whose first call lies before the part of the run.
    let inside = |event: u32| options.looks_at(rank, event.into());
    merges.joins.retain(|join| inside(join.event) && inside(join.head) && inside(join.before));
    let of_several_sizes = merges.of_several_sizes().map(|line| known.lines.get(line)).collect();
    let (collective_joins, joins) = merges.joins.into_iter().partition(|join| join.part == CallPart::Collective);
    Ok(RankFindings {
        rank,
        ranks: known.ranks,
        events,
        accesses,
        computation,
        memory: known.memory,
        notes,
        foreign: known.foreign,
        copies: search.copies().map(|line| known.lines.get(line)).filter(is_fortran).collect(),
        overlap,
        joins,
        collective_joins,
        of_several_sizes,
        executions: rounds.executions(),
        rounds: rounds.rounds,
        lines: known.lines,
    })
}

/// Rules that see all ranks together.
struct Together {
    aggregation: Aggregation,
    in_a_row: ConsecutiveCollectives,
    patterns: Patterns,
    waits: Waits,
    options: Options,
}

impl Watcher for Together {
    fn matched(&mut self, send: &CallEnd, receive: &CallEnd) {
        self.aggregation.matched(send, receive);
        self.patterns.matched(send, receive);
    }

    fn waited(&mut self, waited: &Wait) {
        if self.options.looks_at(waited.rank, waited.event) {
            self.waits.waited(waited);
        }
    }

    fn taken(&mut self, rank: u32, computed: u64, send: &CallEnd, receive: &CallEnd) {
        if self.options.looks_at(receive.rank, receive.event) {
            self.waits.taken(rank, computed, send, receive);
        }
    }

    fn collective_met(&mut self, comm: u64, ordinal: u64, members: &[CallEnd]) {
        self.in_a_row.collective_met(comm, ordinal, members);
    }
}

/// Combines ranks that were searched one by one; `steps` reads them again, without their accesses.
///
/// # Errors
/// A stream cannot be read.
pub fn put_together<R: Read, M: Read>(
    mut ranks: Vec<RankFindings>,
    steps: Vec<Steps<'_, R, M>>,
    options: &Options,
) -> Result<Advice, Error> {
    let mut advice = Advice { ranks: ranks.iter().map(|rank| rank.ranks).max().unwrap_or(0), ..Advice::default() };
    let mut overlap = Overlap::<Location>::default();
    let mut foreign: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut copies = BTreeSet::new();
    for rank in &mut ranks {
        advice.events += rank.events;
        advice.accesses += rank.accesses;
        advice.computation_ns += rank.computation;
        advice.ranks_with_memory += u32::from(rank.memory);
        advice.notes.append(&mut rank.notes);
        overlap.merge(std::mem::take(&mut rank.overlap));
        copies.append(&mut rank.copies);
        for (file, lines) in std::mem::take(&mut rank.foreign) {
            foreign.entry(file).or_default().extend(lines);
        }
    }
    advice.notes.extend(without_instrumentation(&foreign));
    advice.notes.extend(copied(&copies));
    advice.notes.extend(match advice.ranks_with_memory {
        0 => Some("memory accesses were not recorded: what the computation reads and writes was not seen".to_owned()),
        some if some < advice.ranks => Some(format!(
            "memory accesses were recorded on {some} of {} ranks; what the others read and write was not seen",
            advice.ranks
        )),
        _ => Some(
            "times are those of the instrumented program: waits (A101 to A106) are better sought in a run without"
                .to_owned(),
        ),
    });
    let mut each = |part: fn(&mut RankFindings) -> Vec<Join>| ranks.iter_mut().map(part).collect::<Vec<_>>();
    let joins = each(|rank| std::mem::take(&mut rank.joins));
    let collective_joins = each(|rank| std::mem::take(&mut rank.collective_joins));
    let several: BTreeSet<Location> =
        ranks.iter_mut().flat_map(|rank| std::mem::take(&mut rank.of_several_sizes)).collect();
    let rounds = ranks.iter_mut().map(|rank| std::mem::take(&mut rank.rounds)).collect();
    let executions = ranks.iter_mut().map(|rank| std::mem::take(&mut rank.executions)).collect();
    let mut together = Together {
        aggregation: Aggregation::new(joins),
        in_a_row: ConsecutiveCollectives::new(collective_joins),
        patterns: Patterns::new(rounds, executions),
        waits: Waits::new(steps.len(), options.least_ns),
        options: options.clone(),
    };
    let walked = Walk::new(steps, options.eager, &mut together).run()?;
    if let [(rank, event), ..] = walked.stuck.as_slice() {
        advice.notes.push(format!(
            "rank {rank} waits at event {event} for something that was not recorded: what {} ranks did after that was searched \
             rank by rank only",
            walked.stuck.len()
        ));
    }
    let Together { aggregation, in_a_row, patterns, waits, .. } = together;
    let line = |rank: u32, line: u32| {
        walked.known.get(rank as usize).map_or_else(Location::default, |known| known.lines.get(line))
    };
    advice.findings = overlap.findings(advice.ranks);
    advice.findings.extend(aggregation.findings(advice.ranks, &several, line));
    advice.findings.extend(in_a_row.findings(advice.ranks, &several, line));
    // Line numbers of rounds are those of the search of their rank, not those of the walk.
    let searched =
        |rank: u32, line: u32| ranks.get(rank as usize).map_or_else(Location::default, |rank| rank.lines.get(line));
    advice.findings.extend(patterns.findings(advice.ranks, searched, line));
    advice.findings.extend(waits.findings(&walked.clocks, options, line));
    for finding in &mut advice.findings {
        finding.unit = options.unit(finding.time_ns);
    }
    number(&mut advice.findings);
    Ok(advice)
}

/// Largest number of lines that a note names for one file.
const MAX_NAMED_LINES: usize = 4;

/// True for a place in a Fortran source.
fn is_fortran(location: &Location) -> bool {
    let extension = Path::new(&location.file).extension().unwrap_or_default();
    extension.to_string_lossy().to_lowercase().starts_with('f')
}

/// Returns the note on calls whose buffers are copies of array sections.
fn copied(calls: &BTreeSet<Location>) -> Option<String> {
    if calls.is_empty() {
        return None;
    }
    let mut named: Vec<String> = calls.iter().take(MAX_NAMED_LINES).map(Location::to_string).collect();
    if calls.len() > MAX_NAMED_LINES {
        named.push(format!("{} more", calls.len() - MAX_NAMED_LINES));
    }
    Some(format!(
        "the buffer at {} is a copy of an array section, which the compiler makes before the call and frees behind it: a \
         non-blocking form needs a buffer of its own",
        named.join(", ")
    ))
}

/// Returns the note on files without instrumentation that called MPI or the program.
fn without_instrumentation(foreign: &BTreeMap<String, BTreeSet<String>>) -> Option<String> {
    if foreign.is_empty() {
        return None;
    }
    let file = |(file, lines): (&String, &BTreeSet<String>)| {
        let mut named: Vec<&str> = lines.iter().take(MAX_NAMED_LINES).map(String::as_str).collect();
        let more = format!("{} more", lines.len() - named.len());
        if lines.len() > named.len() {
            named.push(&more);
        }
        format!("{file} ({})", named.join(", "))
    };
    let files: Vec<String> = foreign.iter().map(file).collect();
    Some(format!(
        "not instrumented: {}; what is read and written there was not seen, so nothing is proven across it: compile it with \
         `hayase cc` too",
        files.join(", ")
    ))
}

/// Searches a run.
///
/// Time: the run is read twice; see [`crate::overlap`] and [`crate::walk`] for the rest. Memory: the
/// findings, the last intervals of as many ranks as there are threads, and the messages under way.
///
/// # Errors
/// A file of the run cannot be read, or a rank is missing.
pub fn search(run: &RunFiles, options: &Options, names: Names<'_>) -> Result<Advice, Error> {
    let files: Vec<(&PathBuf, &Option<PathBuf>)> = run.streams.iter().zip(&run.memory).collect();
    let callers = callers(run, names)?;
    let ranks: Vec<RankFindings> = files
        .par_iter()
        .map(|(stream, memory)| {
            search_rank(Steps::open(stream, memory.as_deref(), names)?.with_callers(&callers), options)
        })
        .collect::<Result<_, _>>()?;
    let world = ranks.iter().map(|rank| rank.ranks).max().unwrap_or(0);
    let odd = ranks.iter().zip(0..).find(|(rank, number)| rank.rank != *number || rank.ranks != world);
    if odd.is_some() || ranks.len() != world as usize {
        let what = format!("the run has {} of {world} ranks, or streams of different runs", ranks.len());
        return Err(Error::NoRun { what });
    }
    let steps = files.iter().map(|(stream, _)| Ok(Steps::open(stream, None, names)?.with_callers(&callers)));
    let steps = steps.collect::<Result<_, Error>>()?;
    put_together(ranks, steps, options)
}

/// Collects the callers that distinguish call sites of one place, over all ranks.
fn callers(run: &RunFiles, names: Names<'_>) -> Result<Callers, Error> {
    let mut gather = Gather::default();
    for path in &run.streams {
        let failed = |error| Error::File { path: path.clone(), error };
        let file = File::open(path).map_err(|error| failed(error.into()))?;
        gather.add_stream(BufReader::with_capacity(1 << 16, file), names).map_err(failed)?;
    }
    Ok(gather.finish())
}

/// Numbers the findings of each rule.
fn number(findings: &mut [Finding]) {
    findings.sort_by_key(|finding| finding.rule);
    let mut counts: BTreeMap<_, u32> = BTreeMap::new();
    for finding in findings {
        let count = counts.entry(finding.rule).or_default();
        *count += 1;
        finding.id = format!("{}-{count}", finding.rule);
    }
}

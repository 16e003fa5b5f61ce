//! The search of a run: every rank by itself, then all together.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::lines::Names;
use crate::model::{Advice, Finding, Location};
use crate::overlap::{Called, Limits, Listener, Posted, Search, Spread};
use crate::rules::a001_overlap::Overlap;
use crate::stream::{Error, Known, Steps};

/// What is asked of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// How far is looked.
    pub limits: Limits,
    /// Without memory accesses: less computation than this is not worth an overlap, and does not keep messages apart \[ns\].
    pub least_ns: u64,
    /// Messages larger than this wait for their receiver \[B\]; `None`: not known.
    pub eager: Option<u64>,
}

impl Default for Options {
    fn default() -> Self {
        Self { limits: Limits::default(), least_ns: 1_000, eager: None }
    }
}

/// The files of a run, by rank.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Run {
    /// Calls.
    pub streams: Vec<PathBuf>,
    /// Accesses, where they were recorded.
    pub memory: Vec<Option<PathBuf>>,
}

impl Run {
    /// The run in a folder: `rank-00000.hyt`, `rank-00000.mem` and so on.
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

/// What a rank has, before the ranks are put together.
#[derive(Debug, Default)]
pub struct RankFindings {
    /// Its number.
    pub rank: u32,
    /// How many there are.
    pub ranks: u32,
    /// Calls and accesses.
    pub events: u64,
    /// Accesses.
    pub accesses: u64,
    /// Computation \[ns\].
    pub computation: u64,
    /// Whether its accesses were recorded.
    pub memory: bool,
    /// What is to be said of the rank.
    pub notes: Vec<String>,
    /// Communications that can be spread.
    pub overlap: Overlap<Location>,
}

/// Listens to the search of a rank.
struct Collector {
    rank: u32,
    options: Options,
    overlap: Overlap<u32>,
    computation: u64,
}

impl Listener for Collector {
    fn spread(&mut self, spread: &Spread, known: &Known) {
        self.overlap.add(self.rank, known.memory, spread, self.options.least_ns);
    }

    fn posted(&mut self, _: &Posted<'_>) {}

    fn call(&mut self, called: &Called<'_>) {
        self.rank = called.known.rank;
        self.computation += called.gap;
    }
}

/// Searches a rank.
///
/// # Errors
/// Those of reading.
pub fn search_rank<R: Read, M: Read>(mut steps: Steps<'_, R, M>, options: &Options) -> Result<RankFindings, Error> {
    let mut search = Search::new(options.limits);
    let mut collector = Collector { rank: 0, options: *options, overlap: Overlap::default(), computation: 0 };
    let (mut events, mut accesses) = (0, 0);
    while let Some(step) = steps.next()? {
        events = step.number + 1;
        accesses += step.accesses.count;
        search.step(step, &mut collector);
    }
    let known = steps.finish();
    search.finish(&mut collector, &known);
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
    let Collector { overlap, computation, .. } = collector;
    Ok(RankFindings {
        rank,
        ranks: known.ranks,
        events,
        accesses,
        computation,
        memory: known.memory,
        notes,
        overlap: overlap.locate(|line| known.lines.get(line)),
    })
}

/// Searches a run.
///
/// Time: that of reading, and see [`crate::overlap`]. Memory: what the findings take, and the last intervals of as many ranks as there are threads.
///
/// # Errors
/// Those of reading.
pub fn search(run: &Run, options: &Options, names: Names<'_>) -> Result<Advice, Error> {
    let files: Vec<(&PathBuf, &Option<PathBuf>)> = run.streams.iter().zip(&run.memory).collect();
    let ranks: Vec<RankFindings> = files
        .par_iter()
        .map(|(stream, memory)| search_rank(Steps::open(stream, memory.as_deref(), names)?, options))
        .collect::<Result<_, _>>()?;
    let mut advice = Advice { ranks: ranks.iter().map(|rank| rank.ranks).max().unwrap_or(0), ..Advice::default() };
    let mut overlap = Overlap::<Location>::default();
    for rank in ranks {
        advice.events += rank.events;
        advice.accesses += rank.accesses;
        advice.computation_ns += rank.computation;
        advice.ranks_with_memory += u32::from(rank.memory);
        advice.notes.extend(rank.notes);
        overlap.merge(rank.overlap);
    }
    if advice.ranks_with_memory < advice.ranks {
        advice.notes.push(format!(
            "memory accesses were recorded on {} of {} ranks; what the others compute was not seen",
            advice.ranks_with_memory, advice.ranks
        ));
    }
    advice.findings = overlap.findings(advice.ranks);
    number(&mut advice.findings);
    Ok(advice)
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

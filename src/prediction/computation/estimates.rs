//! Estimated times of blocks: computation data of one or more machines, for program data that may be of
//! another run.

use rustc_hash::FxHashMap;

use super::{ComputationData, Times, structure};
use crate::diagnostic::Diagnostic;
use crate::prediction::program::{BlockName, Blocks, ProgramData, Timing};
use crate::rng::Mix;
use crate::units::Time;

/// Largest number of blocks without a time that are named.
const MOST_MISTAKES: usize = 10;

/// Source of the times of a rank.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Machine {
    /// Position of the computation data, from 0.
    pub data: usize,
    /// Factor of the times: 1 for a machine that was measured, the ratio of clock rates for one that was not.
    pub scale: f64,
}

/// Rule for the time of an execution of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TimeRule {
    /// Mean of the block.
    Mean,
    /// Line of the block if its times follow one, otherwise the mean.
    Line,
    /// Line of the block if its times follow one; otherwise, if they vary, one of the eighths, each once in
    /// every eight executions, in a random order of this seed. So times vary in the prediction as in the
    /// recorded run, and ranks wait for each other.
    Draw(u64),
}

/// Numbers of block times by the way they were found; a block counts once for each rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BlockMatches {
    /// Times found by block and rank.
    pub direct: u64,
    /// Times found by the block's name, at the same rank.
    pub by_name: u64,
    /// Times found by the block's name, at other ranks.
    pub other_ranks: u64,
}

/// Time of a block at a rank.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Estimate {
    mean: f64,
    /// Line: its first value, and its growth up to the last execution.
    line: Option<(f64, f64)>,
    /// Position of the eighths plus one; 0 if there are none.
    eighths: u32,
}

/// Times of all blocks of all ranks of a program.
#[derive(Clone, Debug)]
pub struct Estimates {
    /// For each rank, the start of its estimates and its first block.
    start: Vec<(usize, u32)>,
    estimates: Vec<Estimate>,
    /// Number of executions of the block of each estimate; 0 if no line needs it.
    executions: Vec<u64>,
    /// Eighths of blocks whose times vary.
    eighths: Vec<[f64; 8]>,
    random: Mix,
    /// Numbers of times by the way they were found.
    pub found: BlockMatches,
    rank: usize,
}

impl Estimates {
    /// Finds a time for every block of every rank: by block and rank if the data fits the program, otherwise
    /// by the block's name at this rank, then at any rank. `machines` has an entry for each rank.
    ///
    /// # Errors
    /// Blocks that have no time.
    pub fn new(
        program: &ProgramData,
        blocks: &Blocks,
        data: &[ComputationData],
        machines: &[Machine],
        take: TimeRule,
    ) -> Result<Self, Vec<Diagnostic>> {
        let structure = structure(program, blocks);
        let books: Vec<DataIndex<'_>> =
            data.iter().map(|data| DataIndex::new(data, structure == data.structure)).collect();
        let mut estimates = Self {
            start: vec![(0, 0); program.ranks as usize],
            estimates: Vec::new(),
            executions: Vec::new(),
            eighths: Vec::new(),
            random: Mix::new(if let TimeRule::Draw(seed) = take { seed } else { 0 }, "computation"),
            found: BlockMatches::default(),
            rank: 0,
        };
        let mut missing: Vec<(&BlockName, u32, u32)> = Vec::new();
        for (number, group) in program.groups.iter().enumerate() {
            let range = blocks.of_group(number);
            for (position, &rank) in group.ranks.iter().enumerate() {
                let Some(&Machine { data, scale }) = machines.get(rank as usize) else { continue };
                let start = estimates.estimates.len();
                estimates.start[rank as usize] = (start, range.start);
                for block in range.clone() {
                    let Some(name) = blocks.name(block) else { continue };
                    let found = books[data].find(block, name, rank, &mut estimates.found);
                    let Some(found) = found else {
                        missing.push((name, block, rank));
                        estimates.estimates.push(Estimate::default());
                        continue;
                    };
                    let line = found.line.filter(|_| take != TimeRule::Mean);
                    let mut eighths = 0;
                    if let (TimeRule::Draw(_), Some(found)) = (take, found.eighths) {
                        estimates.eighths.push(found.map(|time| time.ps() * scale));
                        eighths = estimates.eighths.len() as u32;
                    }
                    estimates.estimates.push(Estimate {
                        mean: found.mean * scale,
                        line: line.map(|(first, growth)| (first * scale, growth * scale)),
                        eighths,
                    });
                }
                estimates.executions.resize(estimates.estimates.len(), 0);
                if estimates.estimates[start..].iter().any(|estimate| estimate.line.is_some()) {
                    let first = blocks.first(number);
                    let executions = &mut estimates.executions[start..];
                    let counted: Result<(), std::convert::Infallible> =
                        group.walk(position, &mut |leaf, level, _, _| {
                            executions[(first[leaf] + level - range.start) as usize] += 1;
                            Ok(())
                        });
                    debug_assert!(counted.is_ok());
                }
            }
        }
        if missing.is_empty() { Ok(estimates) } else { Err(mistakes(&missing)) }
    }
}

fn mistakes(missing: &[(&BlockName, u32, u32)]) -> Vec<Diagnostic> {
    let mut mistakes: Vec<Diagnostic> = Vec::new();
    let mut seen: Vec<&BlockName> = Vec::new();
    for &(name, block, rank) in missing {
        if seen.contains(&name) {
            continue;
        }
        seen.push(name);
        if mistakes.len() < MOST_MISTAKES {
            let message = format!("there is no time for block {} ({name}), which rank {rank} runs", block + 1);
            mistakes.push(Diagnostic::new("missing-time", message));
        }
    }
    if let Some(first) = mistakes.first_mut() {
        first.help = Some(format!(
            "{} blocks have no time: is this computation data of the same program, with the same source lines?",
            seen.len()
        ));
    }
    mistakes
}

impl Timing for Estimates {
    fn rank(&mut self, rank: u32) {
        self.rank = rank as usize;
    }

    #[inline]
    fn time(&mut self, block: u32, execution: u64) -> Time {
        let Some(&(start, first)) = self.start.get(self.rank) else { return Time::ZERO };
        let at = start + (block - first) as usize;
        let Some(estimate) = self.estimates.get(at) else { return Time::ZERO };
        Time::from_ps(match estimate.line {
            Some((first, growth)) if self.executions[at] > 1 => {
                first + growth * (execution as f64 / (self.executions[at] - 1) as f64)
            }
            _ if estimate.eighths > 0 => {
                // Each eighth once in eight executions: a x + b mod 8 with an odd a is a permutation.
                let bits = self.random.two(at as u64, execution / 8);
                let which = (bits | 1).wrapping_mul(execution % 8).wrapping_add(bits >> 32) % 8;
                self.eighths[estimate.eighths as usize - 1][which as usize]
            }
            _ => estimate.mean,
        })
    }
}

/// Index of computation data.
struct DataIndex<'a> {
    data: &'a ComputationData,
    /// True if the data has the same blocks as the program.
    fits: bool,
    by_name: FxHashMap<&'a BlockName, Vec<&'a Times>>,
    by_block: FxHashMap<u32, &'a [Times]>,
}

impl<'a> DataIndex<'a> {
    fn new(data: &'a ComputationData, fits: bool) -> Self {
        let mut by_name: FxHashMap<&BlockName, Vec<&Times>> = FxHashMap::default();
        let mut by_block = FxHashMap::default();
        for block in &data.blocks {
            by_name.entry(&block.name).or_default().extend(&block.rows);
            by_block.insert(block.block, block.rows.as_slice());
        }
        Self { data, fits, by_name, by_block }
    }

    fn find(&self, block: u32, name: &BlockName, rank: u32, found: &mut BlockMatches) -> Option<Entry> {
        let has = |row: &&Times| row.ranks.binary_search(&rank).is_ok();
        if self.fits {
            debug_assert!(self.data.ranks > 0);
            let rows = self.by_block.get(&block).copied().unwrap_or_default();
            if let Some(row) = rows.iter().find(has) {
                found.direct += 1;
                return Some(combined(&[row]));
            }
        }
        let rows = self.by_name.get(name).filter(|rows| !rows.is_empty())?;
        let here: Vec<&Times> = rows.iter().copied().filter(has).collect();
        match here.as_slice() {
            [] => {
                found.other_ranks += 1;
                Some(combined(rows))
            }
            here => {
                found.by_name += 1;
                Some(combined(here))
            }
        }
    }
}

/// Entry of computation data for a block at a rank.
struct Entry {
    mean: f64,
    line: Option<(f64, f64)>,
    eighths: Option<[Time; 8]>,
}

/// Combines rows: the mean of several rows, weighted by executions; the line or the eighths of a single row.
fn combined(rows: &[&Times]) -> Entry {
    if let [row] = rows {
        let line = row.trend.map(|(first, last)| (first.ps(), last.ps() - first.ps()));
        return Entry { mean: row.mean.ps(), line, eighths: row.eighths };
    }
    let count: f64 = rows.iter().map(|row| row.count as f64).sum();
    let all: f64 = rows.iter().map(|row| row.mean.ps() * row.count as f64).sum();
    Entry { mean: all / count, line: None, eighths: None }
}

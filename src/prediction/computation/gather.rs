//! Computation data from the times of a run.

use super::{ComputationData, MeasuredBlock, Times, structure};
use crate::base::Arrange;
use crate::diagnostic::Diagnostic;
use crate::prediction::program::{Blocks, Folded, Timing, unfold};
use crate::units::Time;

/// Least part of the variance that a line over the executions must explain to be kept.
const EXPLAINED: f64 = 0.5;
/// Least number of executions for a line.
const LEAST_FOR_LINE: usize = 8;
/// Least change along a line, as a part of the mean.
const LEAST_CHANGE: f64 = 0.1;

/// Least number of executions for eighths.
const LEAST_FOR_EIGHTHS: usize = 16;
/// Least standard deviation for eighths, as a part of the mean.
const LEAST_DEVIATION: f64 = 0.02;

/// Ranks that share a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Pool {
    /// Every rank has its own row.
    #[default]
    EachRank,
    /// Ranks of the same group share a row.
    Group,
}

/// Collects the times of all blocks of a run.
///
/// # Errors
/// None for the result of [`fold`](crate::prediction::program::fold).
pub fn gather(folded: &Folded, blocks: &Blocks, pool: Pool) -> Result<ComputationData, Vec<Diagnostic>> {
    let mut collected = Collected { times: &folded.times, of: Vec::new(), next: 0, all: Vec::new() };
    // The unfolded program is discarded: only the requests for times matter.
    unfold(&folded.data, blocks, &mut collected, "")?;
    let mut all = collected.all;
    // Sorted by block, then by rank; executions stay in their order.
    all.arrange_by_key(|found| (found.block, found.rank));
    let mut data = ComputationData {
        notes: Vec::new(),
        ranks: folded.data.ranks,
        structure: structure(&folded.data, blocks),
        blocks: Vec::new(),
    };
    let mut at = 0;
    while at < all.len() {
        let block = all[at].block;
        let of_block = &all[at..at + all[at..].iter().take_while(|found| found.block == block).count()];
        at += of_block.len();
        let rows = match pool {
            Pool::Group => vec![row(of_block)],
            Pool::EachRank => of_block.chunk_by(|a, b| a.rank == b.rank).map(row).collect(),
        };
        let Some(name) = blocks.name(block).cloned() else { continue };
        data.blocks.push(MeasuredBlock { block, name, rows: merged(rows) });
    }
    Ok(data)
}

/// Time of one execution of a block at a rank.
#[derive(Clone, Copy)]
struct Execution {
    block: u32,
    rank: u32,
    time: Time,
}

struct Collected<'a> {
    times: &'a [Vec<Time>],
    of: Vec<u32>,
    next: usize,
    all: Vec<Execution>,
}

impl Timing for Collected<'_> {
    fn rank(&mut self, rank: u32) {
        self.of.push(rank);
        self.next = 0;
    }

    fn time(&mut self, block: u32, _execution: u64) -> Time {
        let rank = self.of.last().copied().unwrap_or_default();
        let time = self.times.get(rank as usize).and_then(|times| times.get(self.next)).copied().unwrap_or_default();
        self.next += 1;
        self.all.push(Execution { block, rank, time });
        Time::ZERO
    }
}

/// Summarizes the times of a block in a row. Executions of several ranks come rank by rank.
fn row(spent: &[Execution]) -> Times {
    let mut ranks: Vec<u32> = spent.iter().map(|found| found.rank).collect();
    ranks.dedup();
    let n = spent.len() as f64;
    let mean = spent.iter().map(|found| found.time.ps()).sum::<f64>() / n;
    let variance = spent.iter().map(|found| (found.time.ps() - mean) * (found.time.ps() - mean)).sum::<f64>() / n;
    let mut sorted: Vec<Time> = spent.iter().map(|found| found.time).collect();
    sorted.sort_unstable();
    let middle = sorted.len() / 2;
    let median = match sorted.len() % 2 {
        0 => Time::from_ps((sorted[middle - 1].ps() + sorted[middle].ps()) / 2.0),
        _ => sorted[middle],
    };
    let deviation = variance.sqrt();
    let trend = trend(spent, ranks.len(), mean, variance);
    let varies = trend.is_none() && sorted.len() >= LEAST_FOR_EIGHTHS && deviation > LEAST_DEVIATION * mean;
    Times {
        eighths: varies.then(|| eighths(&sorted)),
        count: spent.len() as u64,
        mean: Time::from_ps(mean),
        median,
        deviation: Time::from_ps(deviation),
        least: sorted[0],
        most: sorted[sorted.len() - 1],
        trend,
        ranks,
    }
}

/// Returns the means of eight parts of sorted times, of equal weight. A time at a boundary counts for both
/// its parts, so the mean of the eight is the mean of all.
fn eighths(sorted: &[Time]) -> [Time; 8] {
    // In eighths of an execution: part i is from i n to (i + 1) n, execution k from 8 k to 8 k + 8.
    let n = sorted.len();
    std::array::from_fn(|part| {
        let (from, to) = (part * n, (part + 1) * n);
        let weighed = (from / 8..to.div_ceil(8)).map(|k| {
            let weight = to.min(8 * k + 8) - from.max(8 * k);
            sorted[k].ps() * weight as f64
        });
        Time::from_ps(weighed.sum::<f64>() / n as f64)
    })
}

/// Fits a line of least squares through the times over the executions (of each rank from the first to the
/// last). Returns `None` if it does not explain the times.
fn trend(spent: &[Execution], ranks: usize, mean: f64, variance: f64) -> Option<(Time, Time)> {
    let each = spent.len() / ranks.max(1);
    if each < LEAST_FOR_LINE || each * ranks != spent.len() || variance <= 0.0 {
        return None;
    }
    let middle = (each - 1) as f64 / 2.0;
    let (mut along, mut product) = (0.0, 0.0);
    for of_rank in spent.chunks(each) {
        for (execution, found) in of_rank.iter().enumerate() {
            let x = execution as f64 - middle;
            along += x * x;
            product += x * (found.time.ps() - mean);
        }
    }
    // Work that shrinks to nothing may follow a curve, whose line ends below zero. Then the steepest line with the same
    // mean that stays above zero is taken.
    let steepest = mean / middle;
    let slope = (product / along).clamp(-steepest, steepest);
    let explained = slope * (2.0 * product - slope * along) / (variance * spent.len() as f64);
    let (first, last) = (mean - slope * middle, mean + slope * middle);
    let matters = (last - first).abs() > LEAST_CHANGE * mean;
    (explained >= EXPLAINED && matters).then(|| (Time::from_ps(first.max(0.0)), Time::from_ps(last.max(0.0))))
}

/// Merges consecutive equal rows of different ranks.
fn merged(rows: Vec<Times>) -> Vec<Times> {
    let mut merged: Vec<Times> = Vec::new();
    for row in rows {
        match merged.last_mut() {
            Some(last) if Times { ranks: Vec::new(), ..last.clone() } == Times { ranks: Vec::new(), ..row.clone() } => {
                last.ranks.extend(row.ranks);
            }
            _ => merged.push(row),
        }
    }
    merged
}

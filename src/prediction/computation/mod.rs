//! Computation data: how long each block of a program takes on a machine.
//!
//! Of each block and rank: how often it ran, the mean, the median, how far times spread. A prediction takes the mean,
//! so that the sum over all executions is that of the run that was recorded, or draws from the times ([`Take`]). Where
//! times follow a line (a block of an elimination does less in every iteration) its two ends are kept beside the mean,
//! and a prediction takes the line.
//!
//! Blocks have the numbers of the [program data](super::program) of the same run, and their names: the two call sites.
//! The data fits any program data with the same blocks in the same order, whatever the machine, the number of
//! iterations and the sizes of messages; for others, blocks are found by their names.
//!
//! Source: Horii, Iwabuchi, Yamana: MPIETE, section 2.4 (computation data `T_comp(r, i)`).

mod estimates;
mod gather;
mod read;
mod write;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::program::{BlockName, Blocks, ProgramData};
use crate::program::{Program, RecordedRegion};
use crate::units::Time;

pub use estimates::{BlockMatches, Estimates, Machine, Take};
pub use gather::{Pool, gather};
pub use read::read;
pub use write::write;

/// What a computation-data file is called.
pub const EXTENSION: &str = "comp";
/// The note that says how long a region took in the recorded run: a time in seconds, `s`, and its name.
const MEASURED_REGION: &str = "measured-region";

/// How a computation-data file begins.
pub const SIGNATURE: &str = "hayase-computation 1";

/// How long the blocks of a program take on a machine.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ComputationData {
    /// Where it is from: names and values.
    pub notes: Vec<(String, String)>,
    /// Ranks of the run that was recorded.
    pub ranks: u32,
    /// Which program data has the same blocks: [`structure`] of it.
    pub structure: String,
    /// The blocks that ran, ascending.
    pub blocks: Vec<MeasuredBlock>,
}

/// How long a block takes.
#[derive(Clone, PartialEq, Debug)]
pub struct MeasuredBlock {
    /// Its number, from 0.
    pub block: u32,
    /// What it runs between.
    pub name: BlockName,
    /// At each rank, or at several together.
    pub rows: Vec<Times>,
}

/// How long a block takes at some ranks.
#[derive(Clone, PartialEq, Debug)]
pub struct Times {
    /// Which, ascending.
    pub ranks: Vec<u32>,
    /// How often it ran, at all of them.
    pub count: u64,
    /// The mean \[ps\].
    pub mean: Time,
    /// The median \[ps\].
    pub median: Time,
    /// The standard deviation \[ps\].
    pub deviation: Time,
    /// The shortest \[ps\].
    pub least: Time,
    /// The longest \[ps\].
    pub most: Time,
    /// Where times follow a line over the executions: its value at the first and at the last \[ps\].
    pub trend: Option<(Time, Time)>,
    /// Where they vary otherwise: the means of the eight eighths of the times, from the shortest to the longest \[ps\].
    pub eighths: Option<[Time; 8]>,
}

/// A number that two programs have in common whose blocks are the same, in the same order, at the same ranks: whatever
/// the numbers of iterations and the sizes of messages.
pub fn structure(data: &ProgramData, blocks: &Blocks) -> String {
    let mut hasher = blake3::Hasher::new();
    for (number, group) in data.groups.iter().enumerate() {
        hasher.update(format!("{:?}\n", group.ranks).as_bytes());
        for block in blocks.of_group(number) {
            if let Some(name) = blocks.name(block) {
                hasher.update(format!("{}\t{}\n", name.from, name.to).as_bytes());
            }
        }
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

/// Notes of what the regions of a program were in the run that was recorded.
pub fn region_notes(program: &Program) -> Vec<(String, String)> {
    let regions = program.regions.iter().zip(&program.recorded);
    let note = |(name, region): (&Arc<str>, &RecordedRegion)| {
        Some((MEASURED_REGION.to_owned(), format!("{} s {name}", region.time?.seconds())))
    };
    regions.filter_map(note).collect()
}

/// The ranks of `RANKS=COMP`.
pub(super) fn named_ranks(part: &str) -> Option<&str> {
    let is_range = |text: &&str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || c == '-');
    part.split_once('=').map(|(ranks, _)| ranks).filter(is_range)
}

impl ComputationData {
    /// The note of this name.
    pub fn note(&self, name: &str) -> Option<&str> {
        self.notes.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// What the regions of these names were in the run that was recorded.
    pub fn recorded_regions(&self, regions: &[Arc<str>]) -> Vec<RecordedRegion> {
        let times: FxHashMap<&str, Time> = self
            .notes
            .iter()
            .filter(|(name, _)| name == MEASURED_REGION)
            .filter_map(|(_, value)| {
                let (time, region) = value.split_once("s ")?;
                Some((region, Time::from_seconds(time.trim().parse().ok()?)))
            })
            .collect();
        let region =
            |name: &Arc<str>| RecordedRegion { time: times.get(&**name).copied(), ..RecordedRegion::default() };
        regions.iter().map(region).collect()
    }

    /// All computation of all ranks \[ps\].
    pub fn total(&self) -> Time {
        let rows = self.blocks.iter().flat_map(|block| &block.rows);
        rows.map(|row| Time::from_ps(row.mean.ps() * row.count as f64)).sum()
    }
}

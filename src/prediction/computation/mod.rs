//! Computation data: the time of each block of a program on a machine.
//!
//! For each block and rank, the data has the number of executions, the mean, the median and the spread of the
//! times. A prediction takes the mean, so that the sum over all executions is that of the recorded run, or
//! draws from the times ([`TimeRule`]). If times follow a line (a block of an elimination does less in every
//! iteration), the data also has the two ends of the line, and a prediction takes the line.
//!
//! Blocks have the numbers of the [program data](super::program) of the same run, and their names: the two
//! call sites. The data fits any program data with the same blocks in the same order, whatever the machine,
//! the number of iterations and the sizes of messages. For other program data, blocks are found by their
//! names.
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

pub use estimates::{BlockMatches, Estimates, Machine, TimeRule};
pub use gather::{Pool, gather};
pub use read::read;
pub use write::write;

/// Extension of computation-data files.
pub const EXTENSION: &str = "comp";
/// Note with the time of a region in the recorded run: a time in seconds, `s`, and the region's name.
const MEASURED_REGION: &str = "measured-region";

/// First line of a computation-data file.
pub const SIGNATURE: &str = "hayase-computation 1";

/// Times of the blocks of a program on a machine.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ComputationData {
    /// Origin of the data: names and values.
    pub notes: Vec<(String, String)>,
    /// Number of ranks of the recorded run.
    pub ranks: u32,
    /// Identifier of the program data with the same blocks: its [`structure`].
    pub structure: String,
    /// Blocks that ran, ascending.
    pub blocks: Vec<MeasuredBlock>,
}

/// Times of one block.
#[derive(Clone, PartialEq, Debug)]
pub struct MeasuredBlock {
    /// Number of the block, from 0.
    pub block: u32,
    /// Call sites around the block.
    pub name: BlockName,
    /// Rows for each rank, or for several ranks together.
    pub rows: Vec<Times>,
}

/// Times of a block at some ranks.
#[derive(Clone, PartialEq, Debug)]
pub struct Times {
    /// Ranks, ascending.
    pub ranks: Vec<u32>,
    /// Number of executions, at all these ranks.
    pub count: u64,
    /// Mean \[ps\].
    pub mean: Time,
    /// Median \[ps\].
    pub median: Time,
    /// Standard deviation \[ps\].
    pub deviation: Time,
    /// Shortest time \[ps\].
    pub least: Time,
    /// Longest time \[ps\].
    pub most: Time,
    /// Values of the line at the first and the last execution, if times follow a line \[ps\].
    pub trend: Option<(Time, Time)>,
    /// Means of the eight eighths of the sorted times, from the shortest to the longest, if times vary
    /// without a line \[ps\].
    pub eighths: Option<[Time; 8]>,
}

/// Returns an identifier that is the same for programs whose blocks are the same, in the same order, at the
/// same ranks, whatever the numbers of iterations and the sizes of messages.
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

/// Returns notes with the times of a program's regions in the recorded run.
pub fn region_notes(program: &Program) -> Vec<(String, String)> {
    let regions = program.regions.iter().zip(&program.recorded);
    let note = |(name, region): (&Arc<str>, &RecordedRegion)| {
        Some((MEASURED_REGION.to_owned(), format!("{} s {name}", region.time?.seconds())))
    };
    regions.filter_map(note).collect()
}

/// Returns the ranks of `RANKS=COMP`.
pub(super) fn named_ranks(part: &str) -> Option<&str> {
    let is_range = |text: &&str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || c == '-');
    part.split_once('=').map(|(ranks, _)| ranks).filter(is_range)
}

impl ComputationData {
    /// Returns the note of this name.
    pub fn note(&self, name: &str) -> Option<&str> {
        self.notes.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// Returns the times of the regions of these names in the recorded run.
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

    /// Returns the sum of the computation of all ranks \[ps\].
    pub fn total(&self) -> Time {
        let rows = self.blocks.iter().flat_map(|block| &block.rows);
        rows.map(|row| Time::from_ps(row.mean.ps() * row.count as f64)).sum()
    }
}

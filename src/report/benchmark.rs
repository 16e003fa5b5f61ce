//! Benchmarks: what a simulated message costs on this machine, as plain data.

use crate::base::Arrange;
use serde::{Deserialize, Serialize};

/// The version of the form of [`Benchmark`] in JSON.
pub const SCHEMA: &str = "hayase-benchmark-1";

/// What messages of several loads cost on one machine; nothing of it is the same on another.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Benchmark {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// Where it was measured.
    pub machine: Machine,
    /// How often each load was run.
    pub repeats: u32,
    /// Threads that a run was allowed.
    pub threads: u32,
    /// Whether every run that was wanted has been made.
    pub complete: bool,
    /// In the order in which loads are listed.
    pub rows: Vec<BenchmarkRow>,
    /// How costs grow with the number of nodes, for each kind of load that was measured at three sizes or more.
    pub growth: Vec<Growth>,
}

/// The machine and the program that figures are of.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Machine {
    /// The processor, as it calls itself.
    pub cpu: String,
    /// Cores that this process may use.
    pub cores: u32,
    /// Operating system and architecture.
    pub system: String,
    /// The compiler that built this program.
    pub compiler: String,
    /// `optimised`, or `with debug assertions`: then the figures say nothing.
    pub build: String,
    /// The version of this program.
    pub version: String,
}

/// What one run of a load gave.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Measurement {
    /// Nodes of the fabric.
    pub nodes: u32,
    /// Messages delivered while it was measured.
    pub messages: u64,
    /// Processor time of all threads \[ns\]; wall time where the system does not tell.
    pub cpu_ns: f64,
    /// Time on the wall \[ns\].
    pub wall_ns: f64,
    /// Peak memory of the process \[B\], where the system tells.
    pub peak_rss_bytes: Option<u64>,
}

/// A load, and what its messages cost.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct BenchmarkRow {
    /// The load.
    pub load: String,
    /// Nodes of its fabric.
    pub nodes: u32,
    /// Messages that were measured in each run.
    pub messages: u64,
    /// Processor time of a message \[ns\], over the repeats.
    pub cpu_ns: Spread,
    /// Wall time of a message \[ns\], over the repeats.
    pub wall_ns: Spread,
    /// Messages in a second of wall time, from the median.
    pub messages_per_s: f64,
    /// Largest peak memory of a process that runs this load alone \[B\], where the system tells.
    pub peak_rss_bytes: Option<u64>,
}

impl BenchmarkRow {
    /// Of several runs of one load; nothing of none.
    pub fn new(load: &str, runs: &[Measurement]) -> Option<Self> {
        let first = runs.first()?;
        let each = |time: fn(&Measurement) -> f64| runs.iter().map(|run| time(run) / run.messages as f64).collect();
        let wall_ns = Spread::new(each(|run| run.wall_ns));
        Some(Self {
            load: load.to_owned(),
            nodes: first.nodes,
            messages: first.messages,
            cpu_ns: Spread::new(each(|run| run.cpu_ns)),
            messages_per_s: 1e9 / wall_ns.median,
            wall_ns,
            peak_rss_bytes: runs.iter().filter_map(|run| run.peak_rss_bytes).max(),
        })
    }
}

/// A figure that was measured several times.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Spread {
    /// The middle one; of an even number the mean of the two in the middle.
    pub median: f64,
    /// The least.
    pub min: f64,
    /// The largest.
    pub max: f64,
    /// All, in the order in which they were measured.
    pub all: Vec<f64>,
}

impl Spread {
    /// Of these values; not a number where there are none.
    pub fn new(all: Vec<f64>) -> Self {
        let mut sorted = all.clone();
        sorted.arrange_by(f64::total_cmp);
        let at = |place: usize| sorted.get(place).copied().unwrap_or(f64::NAN);
        let half = sorted.len() / 2;
        let median = if sorted.len() % 2 == 1 { at(half) } else { (at(half.wrapping_sub(1)) + at(half)) / 2.0 };
        Self { median, min: at(0), max: at(sorted.len().wrapping_sub(1)), all }
    }

    /// `(max - min) / median`.
    pub fn relative(&self) -> f64 {
        (self.max - self.min) / self.median
    }
}

/// How the cost of a message grows with the number of nodes N: as `N^exponent`, by least squares of the logarithms.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Growth {
    /// What the loads have in common: `fat-tree, random/max-min`.
    pub loads: String,
    /// The fewest and the most nodes.
    pub nodes: (u32, u32),
    /// Of the median processor time of a message. An all-to-all has N(N-1) messages, so it grows as N to the power of
    /// this and two.
    pub exponent: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_one() {
        assert_eq!(Spread::new(vec![3.0, 1.0, 2.0]).median, 2.0);
        assert_eq!(Spread::new(vec![4.0, 1.0, 2.0, 3.0]).median, 2.5);
        let one = Spread::new(vec![7.0]);
        assert_eq!((one.median, one.min, one.max, one.relative()), (7.0, 7.0, 7.0, 0.0));
        assert!(Spread::new(Vec::new()).median.is_nan());
    }

    #[test]
    fn a_row_is_about_one_message() {
        let run = |cpu_ns, rss| Measurement {
            nodes: 4,
            messages: 10,
            cpu_ns,
            wall_ns: 2.0 * cpu_ns,
            peak_rss_bytes: Some(rss),
        };
        let row = BenchmarkRow::new("x", &[run(1000.0, 5), run(3000.0, 7), run(2000.0, 6)]).unwrap();
        assert_eq!((row.cpu_ns.median, row.wall_ns.median, row.messages_per_s), (200.0, 400.0, 2.5e6));
        assert_eq!(row.peak_rss_bytes, Some(7));
        assert_eq!(BenchmarkRow::new("x", &[]), None);
    }
}

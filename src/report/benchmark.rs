//! Benchmarks: the cost of a simulated message on this machine, as plain data.

use crate::base::Arrange;
use serde::{Deserialize, Serialize};

/// Version of the JSON format of [`Benchmark`].
pub const SCHEMA: &str = "hayase-benchmark-1";

/// Cost of messages for several loads on one machine. No figure carries over to another machine.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Benchmark {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// Machine and program that were measured.
    pub machine: Machine,
    /// Number of runs of each load.
    pub repeats: u32,
    /// Number of threads that a run may use.
    pub threads: u32,
    /// True if all requested runs were made.
    pub complete: bool,
    /// Rows, in the order in which loads are listed.
    pub rows: Vec<BenchmarkRow>,
    /// Growth of the cost with the number of nodes, for each kind of load measured at three sizes or more.
    pub growth: Vec<Growth>,
}

/// Machine and program that were measured.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Machine {
    /// Processor, by the name it gives itself.
    pub cpu: String,
    /// Number of cores that this process may use.
    pub cores: u32,
    /// Operating system and architecture.
    pub system: String,
    /// Compiler that built this program.
    pub compiler: String,
    /// `optimised`, or `with debug assertions`, in which case the figures mean nothing.
    pub build: String,
    /// Version of this program.
    pub version: String,
}

/// Measurement of one run of a load.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Measurement {
    /// Number of nodes of the fabric.
    pub nodes: u32,
    /// Number of messages delivered during the measurement.
    pub messages: u64,
    /// Processor time of all threads \[ns\]; wall time if the system does not report it.
    pub cpu_ns: f64,
    /// Wall time \[ns\].
    pub wall_ns: f64,
    /// Peak memory of the process \[B\], if the system reports it.
    pub peak_rss_bytes: Option<u64>,
}

/// Load with the cost of its messages.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct BenchmarkRow {
    /// Name of the load.
    pub load: String,
    /// Number of nodes of its fabric.
    pub nodes: u32,
    /// Number of messages measured in each run.
    pub messages: u64,
    /// Processor time per message \[ns\], over the repeats.
    pub cpu_ns: Spread,
    /// Wall time per message \[ns\], over the repeats.
    pub wall_ns: Spread,
    /// Messages per second of wall time, from the median.
    pub messages_per_s: f64,
    /// Largest peak memory of a process that runs this load alone \[B\], if the system reports it.
    pub peak_rss_bytes: Option<u64>,
}

impl BenchmarkRow {
    /// Summarizes several runs of one load; returns `None` if there are no runs.
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

/// Figure that was measured several times.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Spread {
    /// Median; of an even number of values, the mean of the two in the middle.
    pub median: f64,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// All values, in the order in which they were measured.
    pub all: Vec<f64>,
}

impl Spread {
    /// Summarizes values; the figures are NaN if there are no values.
    pub fn new(all: Vec<f64>) -> Self {
        let mut sorted = all.clone();
        sorted.arrange_by(f64::total_cmp);
        let at = |place: usize| sorted.get(place).copied().unwrap_or(f64::NAN);
        let half = sorted.len() / 2;
        let median = if sorted.len() % 2 == 1 { at(half) } else { (at(half.wrapping_sub(1)) + at(half)) / 2.0 };
        Self { median, min: at(0), max: at(sorted.len().wrapping_sub(1)), all }
    }

    /// Returns `(max - min) / median`.
    pub fn relative(&self) -> f64 {
        (self.max - self.min) / self.median
    }
}

/// Growth of the cost of a message with the number of nodes N: `N^exponent`, by least squares of the
/// logarithms.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Growth {
    /// Common part of the names of the loads: `fat-tree, random/max-min`.
    pub loads: String,
    /// Smallest and largest number of nodes.
    pub nodes: (u32, u32),
    /// Exponent of the median processor time per message. An all-to-all has N(N-1) messages, so its cost
    /// grows as N to the power of this exponent plus two.
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

//! Benchmarks: the cost of a simulated message on this machine, as plain data.

use std::borrow::Cow;

use crate::base::Arrange;
use serde::{Deserialize, Serialize};

/// Version of the JSON format of [`Benchmark`].
pub const SCHEMA: &str = "hayase-benchmark-1";

/// Cost of messages for several loads on one machine. No figure carries over to another machine.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Benchmark {
    /// [`SCHEMA`].
    pub schema: Cow<'static, str>,
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
    /// Other build whose figures stand beside these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<OtherBuild>,
}

/// Other build: a saved benchmark, or a program that was measured in turns with this one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OtherBuild {
    /// Name of the file.
    pub file: String,
    /// Machine and program of a saved benchmark.
    pub machine: Option<Machine>,
}

/// Machine and program that were measured.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
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
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
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
    /// Cost with another build, if it was measured over the same messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<OtherCost>,
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
            against: None,
        })
    }
}

/// Cost of a message with another build.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct OtherCost {
    /// Processor time per message of the other build \[ns\], over its repeats.
    pub cpu_ns: Spread,
    /// Median of `this / other` over all pairs of repeats.
    pub ratio: f64,
    /// Interval of the ratio at a confidence level of at least 95 %; absent if there are too few repeats (4 and 4
    /// are enough). Of each build the first 40 repeats count.
    pub interval: Option<(f64, f64)>,
}

/// Largest number of repeats of each build that an interval takes into account.
const MOST_REPEATS: usize = 40;

impl OtherCost {
    /// Compares repeats of this build with those of the other one.
    ///
    /// The interval is that of the rank-sum test (Hodges and Lehmann, Ann. Math. Statist. 34 (1963) 598-611): the
    /// ratios of all pairs without the `k` smallest and the `k` largest, where `P(U <= k) <= 2.5 %` for two samples
    /// of one distribution. It assumes nothing about that distribution.
    pub fn new(this: &[f64], other: Spread) -> Self {
        let (this, before) = (&this[..this.len().min(MOST_REPEATS)], &other.all[..other.all.len().min(MOST_REPEATS)]);
        let mut sorted: Vec<f64> = this.iter().flat_map(|a| before.iter().map(move |b| a / b)).collect();
        sorted.arrange_by(f64::total_cmp);
        let cut = rank_sum_cut(this.len(), before.len());
        let interval = cut.and_then(|cut| Some((*sorted.get(cut)?, *sorted.get(sorted.len().checked_sub(cut + 1)?)?)));
        Self { ratio: Spread::new(sorted).median, interval, cpu_ns: other }
    }
}

/// Returns the number of ratios that an interval leaves out at each end: the largest `k` with `P(U <= k) <= 2.5 %`.
/// `U` counts pairs in which the first of two samples of one distribution is the larger. `None` if there is none.
fn rank_sum_cut(first: usize, second: usize) -> Option<usize> {
    // Number of ways to choose `n` of the ranks so far with this excess over the smallest sum.
    let mut ways = vec![vec![0.0; first * second + 1]; first + 1];
    ways[0][0] = 1.0;
    for rank in 0..first + second {
        for chosen in (1..=first.min(rank + 1)).rev() {
            let (below, above) = ways.split_at_mut(chosen);
            let (from, to) = (&below[chosen - 1], &mut above[0]);
            let excess = rank + 1 - chosen;
            to.iter_mut().skip(excess).zip(from).for_each(|(to, from)| *to += from);
        }
    }
    let all: f64 = ways[first].iter().sum();
    let mut sum = 0.0;
    let within = ways[first].iter().take_while(|ways| {
        sum += **ways;
        sum <= 0.025 * all
    });
    within.count().checked_sub(1)
}

/// Figure that was measured several times.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
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
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
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
    fn intervals_of_ratios_are_those_of_the_rank_sum_test() {
        // Critical values of the Mann-Whitney test, two-sided, 5 % (Mann and Whitney 1947, table I).
        let cuts = [(3, 3), (4, 4), (5, 5), (5, 10), (8, 8), (10, 10), (20, 20)].map(|(n, m)| rank_sum_cut(n, m));
        assert_eq!(cuts, [None, Some(0), Some(2), Some(8), Some(13), Some(23), Some(127)]);
        let before = || Spread::new(vec![100.0, 102.0, 98.0, 101.0]);
        let slower = OtherCost::new(&[105.0, 107.0, 106.0, 110.0], before());
        assert!(slower.ratio > 1.05 && slower.interval == Some((105.0 / 102.0, 110.0 / 98.0)), "{slower:?}");
        assert_eq!(OtherCost::new(&[100.0], before()).interval, None);
        // Samples of one distribution: the interval holds 1 in at least 95 of 100 cases.
        let mut state = 1_u64;
        let mut noise = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let part = (state >> 40) as f64 / f64::from(1 << 24);
            100.0 + 20.0 * part * part * part
        };
        let mut sample = || (0..10).map(|_| noise()).collect::<Vec<f64>>();
        let holds = (0..2000).filter(|_| {
            let (low, high) = OtherCost::new(&sample(), Spread::new(sample())).interval.unwrap();
            (low..=high).contains(&1.0)
        });
        assert!((1900..=1980).contains(&holds.count()));
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

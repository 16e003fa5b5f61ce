//! Comparisons: many runs side by side, as plain data.

use std::collections::{BTreeMap, BTreeSet};

use super::noise::CostOverSeeds;
use super::{Bounds, ComparedJob, Estimated, KindUse, KnownAccuracy, RankBy, Sample, SeedStatistics, WorstSlowdown};
use crate::base::Arrange;
use crate::faults::part;
use crate::training::StepParts;

/// Version of the JSON format of [`Comparison`].
pub const SCHEMA: &str = "hayase-comparison-1";

/// Runs that differ in the compared choices, over the same seeds.
#[report]
pub struct Comparison {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// Command or file behind the comparison, for the title of tables and pictures.
    pub title: String,
    /// Figure by which rows are ranked; absent if it is the makespan.
    #[serde(skip_serializing_if = "RankBy::is_makespan")]
    pub ranked_by: RankBy,
    /// Rows, best first within each job. Jobs are in the order in which they were named.
    pub rows: Vec<ComparisonRow>,
    /// True if all runs were made; otherwise rows, or seeds of rows, are missing.
    pub complete: bool,
    /// Number of runs that were not made.
    #[serde(skip_serializing_if = "super::skip::is_zero")]
    pub missing_runs: u64,
}

/// One point of a comparison: a pattern under one choice of everything else.
#[report(Default)]
pub struct ComparisonRow {
    /// Topology, as named by the user.
    pub topology: String,
    /// Placement.
    pub placement: String,
    /// Sharing policy; empty if messages are not flows.
    pub sharing: String,
    /// Transport: `flow`, `packet:oq` ...
    pub transport: String,
    /// Routing rule.
    pub routing: String,
    /// Injection rule.
    pub injection: String,
    /// Machine as named by the user, or the node model; empty if nodes cost nothing.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub machine: String,
    /// Values of the varied keys.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub varied: BTreeMap<String, String>,
    /// Pattern or program, as named by the user.
    pub pattern: String,
    /// Faults, if they are compared: a part of the cables, or a name.
    pub faults: Option<String>,
    /// Slowdown against runs without faults, if faults are compared.
    pub slowdown: Option<Slowdown>,
    /// Number of seeds whose faults leave messages without a route. Their runs have no makespan.
    #[serde(skip_serializing_if = "super::skip::is_zero")]
    pub cut_off: u64,
    /// Work that is done: `all-to-all of 20 KB among 54 ranks`, or, if it has no name, `57,240,000 B among 54
    /// ranks`. Rows of the same job are ranked; rows of different jobs cannot be.
    pub job: String,
    /// Makespans over the seeds.
    pub makespan: SeedStatistics,
    /// Estimate of the mean makespan with its interval, or the reason why there is none; present if estimates
    /// were asked for.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub estimated: Option<Estimated>,
    /// Results of each job, if several jobs share the fabric.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<ComparedJob>,
    /// Largest slowdown of any job, if several jobs share the fabric.
    pub worst_slowdown: Option<WorstSlowdown>,
    /// Number of messages of one run.
    pub messages: u64,
    /// Bytes sent in one run \[B\].
    pub bytes: u64,
    /// Lower bounds of the makespan, averaged over the seeds.
    pub bounds: Bounds,
    /// `mean makespan / largest bound`.
    pub ratio_to_bound: f64,
    /// `mean makespan / optimum_at_least_s`, if the optimum was asked for.
    pub ratio_to_optimum: Option<f64>,
    /// Mean ratio to the bound of the same runs without late starts, if ranks start late by `message-jitter`.
    pub ratio_in_step: Option<f64>,
    /// `mean makespan / smallest mean makespan of the job`, or the same ratio of the figure by which rows are
    /// ranked.
    pub ratio_to_best: f64,
    /// Use of links by kind in the run of the first seed; absent if it was not measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<KindUse>,
    /// Time of a training step by its parts, in the run of the first seed.
    pub llm: Option<StepParts>,
    /// Rank among the rows of the job by the mean of that figure, from 1. Equal means share a rank.
    pub place: u32,
    /// True if the row is not the best but cannot be told from it: 0 lies within the 95 % interval of the
    /// difference of the two means.
    pub tied: bool,
    /// Run time of one run, averaged over the seeds \[s\]. It differs from machine to machine.
    pub wall_s: f64,
    /// Packet hops of the first run, if messages are packets: each link that a packet crosses counts once.
    pub packet_hops: Option<u64>,
    /// Accuracy to expect of such runs, from a map of errors; for patterns whose messages are flows.
    pub accuracy: Option<Box<KnownAccuracy>>,
    /// Combined fingerprint of the runs.
    pub fingerprint: String,
}

/// Key of the faults in [`ComparisonRow::varied`].
pub const FAULTS: &str = "faults";

/// Slowdown of runs with faults against runs without.
#[report(Copy)]
pub struct Slowdown {
    /// Mean over the seeds of `makespan / makespan without faults`, both with the same seed.
    pub mean: f64,
    /// Lower end of the 95 % interval of the mean, `mean - t s / sqrt(n)` with Student's t; the mean if there
    /// is one seed.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Number of seeds.
    pub seeds: u64,
}

impl Slowdown {
    /// Computes the slowdown of runs against runs without faults; returns `None` if they have no seed in
    /// common.
    fn of(runs: &SeedStatistics, healthy: &SeedStatistics) -> Option<Self> {
        let pairs = runs.beside(healthy).filter(|(_, healthy)| *healthy > 0.0);
        let ratios = Sample::of(&pairs.map(|(time, healthy)| time / healthy).collect::<Vec<_>>())?;
        let [low, high] = ratios.interval();
        Some(Self { mean: ratios.mean, low, high, seeds: ratios.count as u64 })
    }
}

impl CostOverSeeds {
    /// Computes the cost from the makespans with and without slow processors. `without` has a single makespan
    /// if nothing in these runs is random.
    pub fn new(with: &SeedStatistics, without: &SeedStatistics) -> Option<Self> {
        let costs = Sample::of(&with.beside(without).map(|(with, without)| with - without).collect::<Vec<_>>())?;
        let [low_s, high_s] = costs.interval();
        Some(Self {
            seeds: costs.count as u64,
            without_mean_s: without.mean_s,
            mean_s: costs.mean,
            low_s,
            high_s,
            sd_s: costs.sd,
        })
    }
}

/// Adds to each row its slowdown against the row that differs from it only in having no faults.
fn with_slowdowns(mut rows: Vec<ComparisonRow>) -> Vec<ComparisonRow> {
    let is_healthy = |row: &ComparisonRow| row.faults.as_deref().and_then(part) == Some(Ok(0.0));
    let others = |row: &ComparisonRow| -> Vec<String> {
        let all = row.names().into_iter().zip(row.choices());
        all.filter(|(name, _)| *name != FAULTS).map(|(_, choice)| choice.to_owned()).collect()
    };
    let healthy: Vec<(Vec<String>, SeedStatistics)> =
        rows.iter().filter(|row| is_healthy(row)).map(|row| (others(row), row.makespan.clone())).collect();
    for row in rows.iter_mut().filter(|row| row.faults.is_some()) {
        let same = healthy.iter().find(|(choices, _)| *choices == others(row));
        row.slowdown = same.and_then(|(_, healthy)| Slowdown::of(&row.makespan, healthy));
    }
    rows
}

/// Choices in which rows may differ. The varied keys come after these.
pub const CHOICES: [&str; 8] =
    ["topology", "placement", "transport", "sharing", "routing", "injection", "pattern", "machine"];

/// Position of the pattern in [`CHOICES`].
pub const PATTERN: usize = 6;

impl ComparisonRow {
    /// Returns the names of the choices in which rows may differ: [`CHOICES`], and the varied keys.
    pub fn names(&self) -> Vec<&str> {
        CHOICES.into_iter().chain(self.varied.keys().map(String::as_str)).collect()
    }

    /// Returns the choices of this row, in the order of [`ComparisonRow::names`].
    pub fn choices(&self) -> Vec<&str> {
        let fixed: [&String; 8] = [
            &self.topology,
            &self.placement,
            &self.transport,
            &self.sharing,
            &self.routing,
            &self.injection,
            &self.pattern,
            &self.machine,
        ];
        fixed.into_iter().chain(self.varied.values()).map(String::as_str).collect()
    }

    /// Returns all choices except the pattern, each with its name: what the rows of a block of a chart have
    /// in common.
    pub fn block(&self) -> Vec<(&str, &str)> {
        let mut all: Vec<(&str, &str)> = self.names().into_iter().zip(self.choices()).collect();
        all.remove(PATTERN);
        all
    }

    /// Returns the figure by which rows are ranked, over the seeds; of a row without jobs, its makespan.
    fn figure(&self, by: RankBy) -> SeedStatistics {
        match (by, &self.worst_slowdown) {
            (RankBy::Slowdown, Some(worst)) => SeedStatistics::new(self.makespan.seeds.clone(), worst.by_seed.clone()),
            _ => self.makespan.clone(),
        }
    }

    /// Returns true if the row is the best of its job, alone or sharing the rank.
    pub fn is_best(&self) -> bool {
        self.place == 1
    }
}

impl Comparison {
    /// Builds a comparison from rows, and ranks the rows of each job by their means.
    pub fn new(title: &str, rows: Vec<ComparisonRow>, missing_runs: u64) -> Self {
        let ranked_by = RankBy::default();
        let (rows, complete) = (ranked(with_slowdowns(with_the_same_keys(rows)), ranked_by), missing_runs == 0);
        Self { schema: SCHEMA, title: title.to_owned(), ranked_by, rows, complete, missing_runs }
    }

    /// Ranks the rows by another figure.
    #[must_use]
    pub fn ranked_by(self, ranked_by: RankBy) -> Self {
        Self { rows: ranked(self.rows, ranked_by), ranked_by, ..self }
    }

    /// Returns the rows of each job.
    pub fn jobs(&self) -> impl Iterator<Item = &[ComparisonRow]> {
        self.rows.chunk_by(|a, b| a.job == b.job)
    }
}

/// Returns the choices in which rows differ, as positions in [`ComparisonRow::names`].
///
/// A row without a sharing policy, because its messages are not flows, does not make the policies differ.
/// Neither do topologies that each have their usual routing make the routings differ.
pub fn varying(rows: &[ComparisonRow]) -> Vec<usize> {
    let follows =
        |row: &ComparisonRow| rows.iter().all(|other| other.topology != row.topology || other.routing == row.routing);
    let by_topology = rows.iter().any(|row| row.topology != rows[0].topology) && rows.iter().all(follows);

    let differs = |choice: &usize| {
        let mut values = rows.iter().map(|row| row.choices()[*choice]).filter(|value| !value.is_empty());
        values.next().is_some_and(|first| values.any(|value| value != first))
    };
    let count = rows.first().map_or(0, |row| row.names().len());
    (0..count).filter(|&choice| !(by_topology && CHOICES.get(choice) == Some(&"routing"))).filter(differs).collect()
}

/// Gives every row all varied keys of any row, with an empty value for a key that the row lacks.
fn with_the_same_keys(mut rows: Vec<ComparisonRow>) -> Vec<ComparisonRow> {
    let keys: BTreeSet<String> = rows.iter().flat_map(|row| row.varied.keys().cloned()).collect();
    for row in &mut rows {
        for key in &keys {
            row.varied.entry(key.clone()).or_default();
        }
    }
    rows
}

/// Sorts rows, best first within each job; jobs stay in the order of their first rows.
fn ranked(rows: Vec<ComparisonRow>, by: RankBy) -> Vec<ComparisonRow> {
    let mut jobs: Vec<Vec<ComparisonRow>> = Vec::new();
    for row in rows {
        match jobs.iter_mut().find(|job| job[0].job == row.job) {
            Some(job) => job.push(row),
            None => jobs.push(vec![row]),
        }
    }
    for job in &mut jobs {
        // Stable: among equal rows, the one named first.
        job.arrange_by(|a, b| a.figure(by).mean_s.total_cmp(&b.figure(by).mean_s));
        let best = job[0].figure(by);
        let mut before = (best.mean_s, 1);
        for (row, number) in job.iter_mut().zip(1..) {
            let figure = row.figure(by);
            let mean = figure.mean_s;
            if mean != before.0 {
                before = (mean, number);
            }
            row.place = before.1;
            row.ratio_to_best = if mean == best.mean_s { 1.0 } else { mean / best.mean_s };
            row.tied = row.place > 1 && figure.is_like(&best);
        }
    }
    jobs.into_iter().flatten().collect()
}

impl SeedStatistics {
    /// Returns true if two means cannot be told apart: 0 lies within the 95 % interval of their difference,
    /// `d +- t s / sqrt(n)` with Student's t for n - 1 degrees of freedom.
    ///
    /// Over the same seeds, d is the mean of the differences of each seed and s their standard deviation,
    /// because a seed that is hard for one may be hard for both. If one of the two is not random, s is the
    /// standard deviation of the other. Without two runs of either, only equal means are alike, or estimates
    /// whose intervals meet: the half-widths are added in squares.
    ///
    /// Source: any text book, as Box, Hunter, Hunter: Statistics for Experimenters, chapter 3 (paired
    /// comparison).
    pub fn is_like(&self, other: &Self) -> bool {
        let (several, other) = if self.makespans_s.len() == 1 { (other, self) } else { (self, other) };
        let differences: Vec<f64> = several.beside(other).map(|(time, other)| time - other).collect();
        let of = Sample::of(&differences).unwrap_or_default();
        // A difference by rounding does not count, even if it is the same for every seed.
        let rounding = 1e-12 * self.mean_s.abs().max(other.mean_s.abs());
        // The interval of an estimate adds to the spread over seeds.
        let squares = [of.half(), self.half_s(), other.half_s()].map(|half| half * half);
        of.mean.abs() <= rounding.max(squares.iter().sum::<f64>().sqrt())
    }

    /// Pairs makespans that have the same seed. A single makespan is paired with all of the other, because
    /// nothing in it is random.
    fn beside(&self, other: &Self) -> impl Iterator<Item = (f64, f64)> {
        self.seeds.iter().zip(&self.makespans_s).filter_map(|(seed, time)| {
            let of_seed = match &other.makespans_s[..] {
                [one] => one,
                all => all.get(other.seeds.iter().position(|known| known == seed)?)?,
            };
            Some((*time, *of_seed))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over(makespans: &[f64]) -> SeedStatistics {
        SeedStatistics::new((1..).take(makespans.len()).collect(), makespans.to_vec())
    }

    #[test]
    fn means_are_alike_within_the_interval_of_their_difference() {
        // d = 1 on average, s = 1: t(2) s / sqrt(3) = 2.484; and d = 1, s = 0.1: 0.248.
        assert!(over(&[10.0, 11.0, 12.0]).is_like(&over(&[10.0, 10.0, 10.0])));
        assert!(!over(&[10.9, 11.0, 11.1]).is_like(&over(&[10.0, 10.0, 10.0])));
        // Hard seeds are hard for both: the differences are 0.1 each.
        assert!(!over(&[10.1, 20.1, 30.1]).is_like(&over(&[10.0, 20.0, 30.0])));
        // One of the two is not random.
        assert!(over(&[9.0, 11.0]).is_like(&over(&[10.5])) && over(&[10.5]).is_like(&over(&[9.0, 11.0])));
        assert!(!over(&[10.0]).is_like(&over(&[10.001])) && over(&[10.0]).is_like(&over(&[10.0])));
        // Seeds that only one of them has do not count: without the first, the two are the same.
        let some = SeedStatistics::new(vec![2, 3], vec![11.0, 12.0]);
        assert!(some.is_like(&over(&[1000.0, 11.0, 12.0])));
    }

    #[test]
    fn a_slowdown_is_a_mean_over_seeds_with_its_interval() {
        // 2, 3 and 4 times as long, s = 1: t(2) / sqrt(3) = 2.484.
        let slowdown = Slowdown::of(&over(&[2.0, 6.0, 12.0]), &over(&[1.0, 2.0, 3.0])).unwrap();
        assert_eq!((slowdown.mean, slowdown.seeds), (3.0, 3));
        assert!((slowdown.high - 5.484).abs() < 1e-3 && (slowdown.low - 0.516).abs() < 1e-3);
        // Nothing in the healthy run is random, and only seeds that both have count.
        assert_eq!(Slowdown::of(&over(&[3.0, 3.0]), &over(&[1.5])).unwrap().low, 2.0);
        let some = SeedStatistics::new(vec![7, 2], vec![5.0, 4.0]);
        assert_eq!(Slowdown::of(&some, &over(&[1.0, 2.0, 3.0])).map(|slowdown| slowdown.mean), Some(2.0));
    }
}

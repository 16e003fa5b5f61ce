//! Reports: what came out of a run, as plain data.
//!
//! Everything but [`Meta`] and the figures of a [`Benchmark`] is the same on every machine.

mod accuracy;
mod benchmark;
mod compared_jobs;
mod comparison;
mod estimate;
mod farm;
mod faults;
mod jobs;
mod noise;
pub mod replay;
mod sample;
mod schema;
pub mod variation;
pub mod whatif;

use std::time::Instant;

use serde::Serialize;

use crate::engine::{Flight, Outcome, Stop};
use crate::units::Time;

pub(crate) use crate::base::portable::student;
pub use crate::steady::Rate;
pub use accuracy::{
    Accuracy, AccuracyCase, AccuracyRow, ErrorRange, KnownAccuracy, LeftOut, SCHEMA as ACCURACY_SCHEMA,
};
pub use benchmark::{Benchmark, BenchmarkRow, Growth, Machine, Measurement, SCHEMA as BENCHMARK_SCHEMA, Spread};
pub use compared_jobs::{ComparedJob, RankBy, WorstSlowdown};
pub use comparison::{
    CHOICES, Comparison, ComparisonRow, FAULTS, PATTERN, SCHEMA as COMPARISON_SCHEMA, Slowdown, varying,
};
pub use farm::{
    FARM_SCHEMA, FarmBounds, FarmReport, IntervalPrediction, PlanReport, Prediction, Utilisation, Waiting, master_busy,
    saturation,
};
pub use jobs::{Carried, Interference, JOBS_SCHEMA, JobReport, JobsLink, JobsReport, Meeting};

pub use estimate::{Estimate, Estimated};
pub use faults::{FaultsReport, Parts};
pub use noise::{CostOverSeeds, Delayed, NoiseReport, RankDelay, Reached, SlowedRanks};
pub(crate) use sample::Sample;
pub(crate) use schema::find;
pub use schema::schema;

/// The version of the form of [`Report`] in JSON.
pub const SCHEMA: &str = "hayase-report-1";

/// What every report begins with, whatever the work.
#[report(Default)]
pub struct Head {
    /// The version of the form of the report in JSON: [`SCHEMA`], [`replay::SCHEMA`],
    /// [`FARM_SCHEMA`], [`whatif::SCHEMA`].
    pub schema: &'static str,
    /// The complete scenario, so that the report can be run again.
    pub scenario: serde_json::Value,
    /// `complete`, or why the run ended early; of a farm that is tried in several ways, the worst of all.
    pub status: Status,
    /// When the last message arrived, or the last rank ended \[s\]; of a run that is not complete, the last of those
    /// that did; of a farm that is tried in several ways, that of the first.
    pub makespan_s: f64,
    /// Messages delivered; of a program those of its collectives among them.
    pub messages: u64,
    /// Bytes delivered \[B\].
    pub bytes: u64,
    /// When and with what the run came to a standstill or was stopped, where it is not complete.
    pub stopped: Option<Stopped>,
    /// Over seeds, where there are several; the rest of the report is of the first seed.
    pub seeds: Option<SeedStatistics>,
    /// What failed, and what became of messages for it, where anything does.
    pub faults: Option<Box<FaultsReport>>,
    /// What slow processors cost, where there are any and that was asked for.
    pub noise: Option<Box<NoiseReport>>,
    /// Where an estimate was asked for: `estimate`, with `estimate_reason` where it is none.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub estimated: Option<Estimated>,
    /// A number that differs where anything happened at another time.
    pub fingerprint: String,
    /// What a map of errors says of such runs, of patterns that are flows.
    pub accuracy: Option<Box<KnownAccuracy>>,
}

impl Head {
    /// Creates the head of a run that came this far; all that not every run has is still to be said.
    pub(crate) fn of_run(schema: &'static str, scenario: serde_json::Value, status: Status, ran: Stopped) -> Self {
        let Stopped { messages, bytes, .. } = ran;
        let stopped = (status != Status::Complete).then_some(ran);
        Self { schema, scenario, status, messages, bytes, stopped, ..Self::default() }
    }
}

/// What came out of one run of a pattern.
#[report(Default)]
pub struct Report {
    /// What every report begins with.
    #[serde(flatten)]
    pub head: Head,
    /// The fabric, for people: `fat-tree p=12 (3456 nodes, 1008 switches, 20736 links)`.
    pub fabric: String,
    /// The workload, for people: `all-to-all simple-spread, 20 KB, 3456 ranks`.
    pub workload: String,
    /// `bytes / makespan` \[B/s\].
    pub bandwidth_bps: f64,
    /// The same for each node \[B/s\].
    pub bandwidth_per_node_bps: f64,
    /// Lower bounds of the makespan.
    pub bounds: Bounds,
    /// `makespan / largest bound`; 1 is perfect.
    pub ratio_to_bound: f64,
    /// Time messages were under way over the time they would have taken alone, both summed over all messages; 1: no
    /// message was ever held back by another.
    pub contention: f64,
    /// The links on which messages lost most time, or, where that was not measured, those most used.
    pub links: Vec<LinkUse>,
    /// Time that messages lost on links, where it was measured.
    pub delays: Option<Delays>,
    /// The rule by which messages change virtual channels, where switches have queues that share links (`packet:iq`,
    /// `blocking`): `dateline`, `classes` ...
    pub channels: Option<String>,
    /// Rounds of the redistribution, where that is the sharing policy.
    pub rounds: Option<Rounds>,
    /// Which channels wait for each other, where packets block each other for ever.
    pub gridlock: Option<Gridlock>,
    /// What its ranks did, where that was asked for and the run is complete.
    #[serde(flatten)]
    #[always]
    pub ranks: Option<Box<RanksReport>>,
    /// What may differ from machine to machine.
    pub meta: Meta,
}

/// What the ranks of a pattern did, as [`replay::ReplayReport`] has it of a program.
#[report(Default)]
pub struct RanksReport {
    /// Where the time went, over all ranks.
    pub breakdown: Vec<replay::Spread>,
    /// The longest waits of a rank for another, or for its own message to it, longest first.
    pub waits: Vec<replay::Wait>,
    /// What made the run last as long as it did; where it is not too long to be walked back through.
    pub critical_path: Option<replay::CriticalPath>,
    /// Ranks that others waited for, those first that most of all waiting goes back to; the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub late: Vec<replay::LateRank>,
    /// Where the time of each rank went.
    pub ranks: Vec<replay::RankReport>,
}

/// How a run ended.
#[report(Copy, Eq, Default)]
pub enum Status {
    /// All messages were delivered.
    Complete,
    /// The user stopped it: what is reported is what had happened by then.
    #[default]
    Interrupted,
    /// Some ranks wait for what never comes.
    Deadlocked,
    /// All workers of a farm were lost, and some of its tasks are not done.
    Undone,
}

impl From<&Stop> for Status {
    fn from(stop: &Stop) -> Self {
        match stop {
            Stop::Done => Self::Complete,
            Stop::Interrupted => Self::Interrupted,
            Stop::Deadlock(_) | Stop::Gridlock(_) => Self::Deadlocked,
        }
    }
}

/// How far a run came that did not come to its end.
#[report(Copy)]
pub struct Stopped {
    /// From when on nothing moved any more, or when the run was stopped \[s\].
    pub at_s: f64,
    /// Messages delivered by then.
    pub messages: u64,
    /// Their bytes \[B\].
    pub bytes: u64,
}

impl From<&Outcome> for Stopped {
    fn from(outcome: &Outcome) -> Self {
        Self { at_s: outcome.ended.seconds(), messages: outcome.messages, bytes: outcome.bytes }
    }
}

/// Lower bounds of the makespan \[s\]: three of bandwidth, which do not know the order of the messages, one of
/// computation, and one of dependences, which does not know that they share links. Of programs and farms only the last
/// is known.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Bounds {
    /// The most that one node sends or receives over its host link.
    pub injection_s: Option<f64>,
    /// The most that one rank computes, and sends where it does one after the other; of patterns that compute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub computation_s: Option<f64>,
    /// The most that one link carries over its capacity.
    pub busiest_link_s: Option<f64>,
    /// What crosses the bisection over its bandwidth, where the fabric's bisection is known.
    pub bisection_s: Option<f64>,
    /// The critical path: the longest chain of messages that wait for each other, with their delays and the latencies
    /// of their routes, each as if it had the network to itself; of complete runs with delays or latencies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_s: Option<f64>,
}

impl Bounds {
    /// Returns those that are known with their names.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let all = [
            ("injection", self.injection_s),
            ("computation", self.computation_s),
            ("busiest link", self.busiest_link_s),
            ("bisection", self.bisection_s),
            ("critical path", self.path_s),
        ];
        all.into_iter().filter_map(|(name, bound)| Some((name, bound?)))
    }

    /// Returns the largest of those that are known \[s\]; 0 where none is.
    pub fn largest(&self) -> f64 {
        self.named().fold(0.0, |largest, (_, bound)| f64::max(largest, bound))
    }
}

/// Time that messages lost on links that held them back.
#[report]
pub struct Delays {
    /// Over all messages \[s\].
    pub total_s: f64,
    /// Kinds of links with their parts of it, the largest first.
    pub kinds: Vec<KindDelay>,
}

/// The part of all delay that a kind of links has.
#[report]
pub struct KindDelay {
    /// The kind: `up from level 1`.
    pub links: String,
    /// Its part of all delay.
    pub part: f64,
}

/// What one link did.
#[report]
pub struct LinkUse {
    /// Its number.
    pub id: u32,
    /// Whether it has failed at the start.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// Its name: `node 3 -> switch 1.0`.
    pub name: String,
    /// Its capacity \[B/s\].
    pub capacity_bps: f64,
    /// What it carried \[B\].
    pub bytes: u64,
    /// How long at least one flow was on it \[s\]; absent, like the numbers of flows, where times were not recorded.
    #[serde(skip_serializing_if = "is_zero")]
    pub busy_s: f64,
    /// `bytes / (capacity * makespan)`.
    pub utilisation: f64,
    /// The most flows on it at once.
    #[serde(skip_serializing_if = "is_zero")]
    pub peak_flows: u32,
    /// Flows on it, averaged over its busy time.
    #[serde(skip_serializing_if = "is_zero")]
    pub mean_flows: f64,
    /// The most packets that waited for it at once; absent, like the two below, where messages are not packets.
    #[serde(skip_serializing_if = "is_zero")]
    pub peak_queue: u32,
    /// Packets that waited for it, averaged over the run.
    #[serde(skip_serializing_if = "is_zero")]
    pub mean_queue: f64,
    /// How long it stood still although packets waited for it, for want of room behind it \[s\].
    #[serde(skip_serializing_if = "is_zero")]
    pub blocked_s: f64,
    /// Time that messages lost on it, summed over messages \[s\]; absent where it was not measured.
    #[serde(skip_serializing_if = "is_zero")]
    pub delay_s: f64,
}

fn is_zero<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Packets that wait for each other in a circle.
#[report(Eq)]
pub struct Gridlock {
    /// Packets, and messages at their sources, that cannot move.
    pub packets: u64,
    /// The circle, by names of links: the buffer behind each is full, and its first packet waits for the next one.
    pub cycle: Vec<String>,
}

/// Rounds of the redistribution policy, per solution of the rates.
#[report(Copy)]
pub struct Rounds {
    /// Fewest.
    pub min: u32,
    /// On average.
    pub mean: f64,
    /// Most.
    pub max: u32,
}

/// Makespans over seeds.
#[report(Default)]
pub struct SeedStatistics {
    /// The seeds.
    pub seeds: Vec<u64>,
    /// The makespan of each \[s\].
    pub makespans_s: Vec<f64>,
    /// Their mean \[s\].
    pub mean_s: f64,
    /// Their sample standard deviation \[s\]; 0 for a single seed.
    pub sd_s: f64,
    /// The smallest \[s\].
    pub min_s: f64,
    /// The largest \[s\].
    pub max_s: f64,
    /// Seeds that were asked for and not run.
    #[serde(skip_serializing_if = "is_zero")]
    pub missing: usize,
    /// Seeds with which what failed left messages without a way.
    #[serde(skip_serializing_if = "is_zero")]
    pub cut_off: usize,
    /// Where makespans are estimates: half of the 95 % interval of each \[s\], 0 of those that are exact.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub halves_s: Vec<f64>,
    /// And the interval of their mean \[s\].
    pub interval_s: Option<[f64; 2]>,
}

impl SeedStatistics {
    /// The statistics of these makespans, one for each seed.
    pub fn new(seeds: Vec<u64>, makespans_s: Vec<f64>) -> Self {
        let Sample { mean: mean_s, sd: sd_s, .. } = Sample::of(&makespans_s).unwrap_or_default();
        let min_s = makespans_s.iter().copied().fold(f64::INFINITY, f64::min);
        let max_s = makespans_s.iter().copied().fold(0.0, f64::max);
        Self { seeds, makespans_s, mean_s, sd_s, min_s, max_s, ..Self::default() }
    }

    /// The same of makespans that are estimates, with half of the interval of each; nothing where all are exact. Errors
    /// of estimates are independent, so that half of the interval of their mean is `sqrt(sum h^2) / n`.
    #[must_use]
    pub fn estimated(self, halves_s: Vec<f64>) -> Self {
        if halves_s.iter().all(|&half| half == 0.0) {
            return self;
        }
        let half = halves_s.iter().map(|half| half * half).sum::<f64>().sqrt() / halves_s.len().max(1) as f64;
        Self { interval_s: Some([self.mean_s - half, self.mean_s + half]), halves_s, ..self }
    }

    /// Half of the interval of the mean \[s\], as far as makespans are estimates.
    pub fn half_s(&self) -> f64 {
        self.interval_s.map_or(0.0, |[low, high]| (high - low) / 2.0)
    }
}

/// What may differ from machine to machine.
#[report(Default)]
pub struct Meta {
    /// Run time of the simulation \[s\].
    pub wall_s: f64,
    /// Events: deliveries, starts and wakes.
    pub events: u64,
    /// Packets that crossed a link, each link counted, where messages are packets.
    pub packet_hops: Option<u64>,
    /// Peak memory of the process \[B\], where the system tells.
    #[always]
    pub peak_rss_bytes: Option<u64>,
    /// Version of this program.
    pub version: String,
}

impl Meta {
    /// Returns what a run took that started then.
    pub(crate) fn since(start: Instant, events: u64, packet_hops: Option<u64>) -> Self {
        Self {
            wall_s: start.elapsed().as_secs_f64(),
            events,
            packet_hops,
            peak_rss_bytes: crate::base::memory::peak(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

/// One delivered message.
#[report(Copy)]
pub struct MessageRecord {
    /// Sending rank.
    pub src: u32,
    /// Receiving rank.
    pub dst: u32,
    /// Its position among the sender's messages, from 0.
    pub index: u32,
    /// Its size \[B\].
    pub bytes: u64,
    /// When it was sent \[s\].
    pub start_s: f64,
    /// When it arrived \[s\].
    pub end_s: f64,
}

impl MessageRecord {
    /// Returns the record of a message that is delivered now.
    pub(crate) fn delivered(now: Time, flight: &Flight) -> Self {
        Self {
            src: flight.send.id.src.0,
            dst: flight.send.dst.0,
            index: flight.send.id.index,
            bytes: flight.send.bytes,
            start_s: flight.start.seconds(),
            end_s: now.seconds(),
        }
    }
}

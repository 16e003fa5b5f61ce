//! Reports: results of runs, as plain data.
//!
//! Everything except [`Meta`] and the figures of a [`Benchmark`] is the same on every machine.

mod accuracy;
mod benchmark;
mod compared_jobs;
mod comparison;
mod difference;
mod estimate;
mod farm;
mod faults;
mod jobs;
mod measured;
mod nccl;
mod noise;
pub mod replay;
mod sample;
mod schedule;
mod schema;
mod skip;
mod training;
pub mod variation;
pub mod whatif;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::base::wall_clock::Instant;
use crate::engine::{Flight, Outcome, Stop};
use crate::pattern::OrderChoice;
use crate::units::Time;

pub(crate) use crate::base::portable::student;
pub use crate::optimum::Proof;
pub use crate::steady::Rate;
pub use accuracy::{
    Accuracy, AccuracyCase, AccuracyRow, ErrorRange, KnownAccuracy, LeftOut, SCHEMA as ACCURACY_SCHEMA,
};
pub use benchmark::{
    Benchmark, BenchmarkRow, Growth, Machine, Measurement, OtherBuild, OtherCost, SCHEMA as BENCHMARK_SCHEMA, Spread,
};
pub use compared_jobs::{ComparedJob, RankBy, WorstSlowdown};
pub use comparison::{
    CHOICES, Comparison, ComparisonRow, FAULTS, PATTERN, SCHEMA as COMPARISON_SCHEMA, Slowdown, varying,
};
pub use difference::{Difference, OtherValue, SCHEMA as DIFFERENCE_SCHEMA};
pub use farm::{
    FARM_SCHEMA, FarmBounds, FarmReport, IntervalPrediction, PlanReport, Prediction, Utilisation, Waiting, master_busy,
    saturation,
};
pub use jobs::{Carried, Interference, JOBS_SCHEMA, JobReport, JobsLink, JobsReport, Meeting};

pub use estimate::{Estimate, Estimated};
pub use faults::{FaultsReport, Parts};
pub use measured::{MeasuredErrors, MeasuredReport, MeasuredRow, ReasonCount, SCHEMA as MEASURED_SCHEMA};
pub use nccl::{NcclChoice, NcclDifference, NcclLog, NcclReport, NcclRow, SCHEMA as NCCL_SCHEMA};
pub use noise::{CostOverSeeds, Delayed, NoiseReport, RankDelay, Reached, SlowedRanks};
pub(crate) use sample::Sample;
pub use schedule::{
    Crossing, OPERATION_SCHEMA, OperationComparison, OperationRow, SCHEMA as SCHEDULE_SCHEMA, ScheduleReport,
    ScheduleRow, WorstCut,
};
pub(crate) use schema::find;
pub use schema::schema;
pub use training::{
    FirstStage, LayoutRow, LayoutSearch, SCHEMA as TRAINING_SCHEMA, TrainingLayout, TrainingReport, TrainingStep,
};

/// Version of the JSON format of [`Report`].
pub const SCHEMA: &str = "hayase-report-1";

/// Head of every report, whatever the work.
#[report(Default)]
pub struct Head {
    /// Version of the JSON format: `hayase-report-1` of a pattern, `hayase-replay-1` of a program,
    /// `hayase-jobs-1` of several jobs, `hayase-master-slave-1` of a farm, `hayase-whatif-1` of any of them
    /// varied.
    pub schema: &'static str,
    /// Complete scenario, so that the report can be run again. Work without a fabric has no topology,
    /// routing, placement and sharing.
    pub scenario: serde_json::Value,
    /// `complete`, or the reason why the run ended early. Of a farm that is tried in several ways, the worst
    /// status.
    pub status: Status,
    /// Time at which the last message arrived, or the last rank ended \[s\]. An incomplete run counts only
    /// those that did. Of a farm that is tried in several ways, this is the makespan of the first.
    pub makespan_s: f64,
    /// Number of messages delivered, including those of collectives, and of a farm those with tasks and
    /// with results.
    pub messages: u64,
    /// Bytes delivered \[B\].
    pub bytes: u64,
    /// Time and progress at which the run deadlocked or was stopped; present if the run is not complete.
    pub stopped: Option<Stopped>,
    /// Makespans over several seeds, if there are several; the rest of the report is of the first seed.
    pub seeds: Option<SeedStatistics>,
    /// Faults and their effect on messages, if there are faults.
    pub faults: Option<Box<FaultsReport>>,
    /// Cost of slow processors, if there are any and it was asked for. Absent for a farm that is tried in
    /// several ways.
    pub noise: Option<Box<NoiseReport>>,
    /// Result of a request for an estimate: `estimate`, and `estimate_reason` if there is no estimate.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub estimated: Option<Estimated>,
    /// Hash that changes if anything happens at another time.
    pub fingerprint: String,
    /// Accuracy to expect of such runs, from a map of errors; for patterns whose messages are flows.
    pub accuracy: Option<Box<KnownAccuracy>>,
}

impl Head {
    /// Creates the head of a run that came as far as `ran`. Fields that only some runs have are still to be
    /// filled in.
    pub(crate) fn of_run(schema: &'static str, scenario: serde_json::Value, status: Status, ran: Stopped) -> Self {
        let Stopped { messages, bytes, .. } = ran;
        let stopped = (status != Status::Complete).then_some(ran);
        Self { schema, scenario, status, messages, bytes, stopped, ..Self::default() }
    }
}

/// Result of one run of a pattern.
#[report(Default)]
pub struct Report {
    /// Head of the report.
    #[serde(flatten)]
    pub head: Head,
    /// Fabric, for people: `fat-tree p=12 (3456 nodes, 1008 switches, 20736 links)`.
    pub fabric: String,
    /// Workload, for people: `all-to-all simple-spread, 20 KB, 3456 ranks`.
    pub workload: String,
    /// Fingerprint of the fabric for which the messages were planned, if it is another one: their paths and slots may
    /// not fit.
    pub planned_for: Option<String>,
    /// `bytes / makespan` \[B/s\].
    pub bandwidth_bps: f64,
    /// Bandwidth per node \[B/s\].
    pub bandwidth_per_node_bps: f64,
    /// Lower bounds of the makespan.
    pub bounds: Bounds,
    /// `makespan / largest bound`; 1 is perfect.
    pub ratio_to_bound: f64,
    /// `makespan / optimum_at_least_s`, if the optimum was asked for.
    pub ratio_to_optimum: Option<f64>,
    /// Ratio to the bound of the same run without late starts, if ranks start late by `message-jitter`: in step only.
    pub ratio_in_step: Option<f64>,
    /// Order of an all-to-all that follows the nodes of its ranks.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub order: Option<OrderReport>,
    /// Time that messages were under way, over the time that they would have taken alone, both summed over
    /// all messages. 1 means that no message was ever held back by another.
    pub contention: f64,
    /// The ten links on which messages lost the most time, or, if that was not measured, the ten most used;
    /// with the columns of `links.csv`.
    pub links: Vec<LinkUse>,
    /// Time that messages lost on links, if it was measured: by default for at most 2,000,000 messages, as flows under
    /// a policy that names bottlenecks.
    pub delays: Option<Delays>,
    /// Rule by which messages change virtual channels, if switches have queues that share links (`packet:iq`,
    /// `blocking`): `dateline`, `classes` ...
    pub channels: Option<String>,
    /// Number of rounds of the redistribution, if that is the sharing policy.
    pub rounds: Option<Rounds>,
    /// Channels that wait for each other, if packets block each other forever.
    pub gridlock: Option<Gridlock>,
    /// Activity of the ranks, if asked for and the run is complete.
    #[serde(flatten)]
    #[always]
    pub ranks: Option<Box<RanksReport>>,
    /// Figures that may differ from machine to machine.
    pub meta: Meta,
}

/// Order in which an all-to-all visits the ranks.
#[report]
pub struct OrderReport {
    /// Name of the order, also if it was chosen by `auto`: `node`.
    pub order: String,
    /// Time of each order that was tried by `auto`, with a barrier after each round and without other costs \[s\].
    #[serde(rename = "rounds_s", skip_serializing_if = "BTreeMap::is_empty")]
    pub rounds: BTreeMap<String, f64>,
}

impl OrderReport {
    /// Creates the report of an order.
    pub(crate) fn of(choice: &OrderChoice) -> Self {
        let rounds = choice.tried.iter().map(|&(name, time_s)| (name.to_owned(), time_s)).collect();
        Self { order: choice.name.to_owned(), rounds }
    }
}

/// Activity of the ranks of a pattern, as [`replay::ReplayReport`] has it for a program.
#[report(Default)]
pub struct RanksReport {
    /// Breakdown of the time, over all ranks. Like the next four fields it is present if ranks compute or
    /// wait for each other and there are at most 100,000 messages, or if files ask for it (`ranks.csv`,
    /// `path.csv`, a timeline). An operation is a message; a rank's own message under way is `send wait`.
    pub breakdown: Vec<replay::Spread>,
    /// Longest waits of a rank for another, or for its own message to it, longest first.
    pub waits: Vec<replay::Wait>,
    /// Critical path of the run; absent if the run is too long to be walked back through.
    pub critical_path: Option<replay::CriticalPath>,
    /// Ranks that delayed others, largest caused wait first; absent if the run is too long to be walked back
    /// through.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub late: Vec<replay::LateRank>,
    /// Breakdown of the time of each rank.
    pub ranks: Vec<replay::RankReport>,
}

/// Status of a run at its end.
#[report(Copy, Eq, Default)]
pub enum Status {
    /// All messages were delivered.
    Complete,
    /// The user stopped the run: the report covers what had happened by then.
    #[default]
    Interrupted,
    /// Some ranks wait for messages that never come.
    Deadlocked,
    /// All workers of a farm were lost, and some of its tasks were not done.
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

/// Progress of a run that did not reach its end.
#[report(Copy)]
pub struct Stopped {
    /// Time from which on nothing moved, or at which the run was stopped \[s\].
    pub at_s: f64,
    /// Number of messages delivered by then.
    pub messages: u64,
    /// Bytes delivered by then \[B\].
    pub bytes: u64,
}

impl From<&Outcome> for Stopped {
    fn from(outcome: &Outcome) -> Self {
        Self { at_s: outcome.ended.seconds(), messages: outcome.messages, bytes: outcome.bytes }
    }
}

/// Lower bounds of the makespan \[s\]: three of bandwidth, which ignore the order of messages, one of
/// computation, and one of dependences, which ignores that messages share links. Programs and farms have only
/// the last.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Bounds {
    /// Bytes that one node sends or receives over its host link, divided by the link's capacity; the largest
    /// of all nodes.
    pub injection_s: Option<f64>,
    /// Largest computation of one rank, with its sending if the rank does one after the other; for patterns
    /// that compute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub computation_s: Option<f64>,
    /// Bytes of one link divided by its capacity; the largest of all links.
    pub busiest_link_s: Option<f64>,
    /// Bytes that cross the bisection divided by its bandwidth, if the fabric's bisection is known.
    pub bisection_s: Option<f64>,
    /// Critical path: the longest chain of messages that wait for each other, with their delays and the
    /// latencies of their routes, each as if it had the network to itself. Present for complete runs with
    /// delays or latencies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_s: Option<f64>,
    /// Time that no schedule on any routes undercuts, by the bytes that each pair of nodes exchanges. Present if
    /// the optimum was asked for, or if a free certificate says more than injection and bisection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optimum_at_least_s: Option<f64>,
    /// Time that steady flows on the best known routes reach, with any split over routes; if the optimum was asked
    /// for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optimum_reached_s: Option<f64>,
    /// Proof of `optimum_at_least_s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optimum_certificate: Option<Proof>,
}

impl Bounds {
    /// Returns the known bounds with their names.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let all = [
            ("injection", self.injection_s),
            ("computation", self.computation_s),
            ("busiest link", self.busiest_link_s),
            ("bisection", self.bisection_s),
            ("critical path", self.path_s),
            ("optimum", self.optimum_at_least_s),
        ];
        all.into_iter().filter_map(|(name, bound)| Some((name, bound?)))
    }

    /// Returns `makespan / optimum_at_least_s`, if the optimum was asked for.
    pub fn ratio_to_optimum(&self, makespan_s: f64) -> Option<f64> {
        self.optimum_reached_s?;
        self.optimum_at_least_s.filter(|&least| least > 0.0).map(|least| makespan_s / least)
    }

    /// Returns the largest known bound \[s\]; 0 if none is known.
    pub fn largest(&self) -> f64 {
        self.named().fold(0.0, |largest, (_, bound)| f64::max(largest, bound))
    }
}

/// Time that messages lost on links that held them back.
#[report]
pub struct Delays {
    /// Total over all messages \[s\].
    pub total_s: f64,
    /// Parts of the total by kind of link, largest first.
    pub kinds: Vec<KindDelay>,
}

/// Part of the total delay that falls on one kind of link.
#[report]
pub struct KindDelay {
    /// Kind of link: `up from level 1`.
    pub links: String,
    /// Part of the total delay.
    pub part: f64,
}

/// Use of the links of one kind in a run.
#[report]
pub struct KindUse {
    /// Kind of link: `up from level 1`.
    pub links: String,
    /// Largest time that a link needs for its bytes, `bytes / capacity` \[s\].
    pub load_s: f64,
    /// Link with this load.
    pub most_loaded: String,
    /// Time that messages lost on all links of the kind \[s\]; absent if it was not measured.
    pub delay_s: Option<f64>,
}

/// Load of one link.
#[report(Default)]
pub struct LinkUse {
    /// Number of the link.
    pub id: u32,
    /// True if the link has failed at the start.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// Name of the link: `node 3 -> switch 1.0`.
    pub name: String,
    /// Capacity of the link \[B/s\].
    pub capacity_bps: f64,
    /// Bytes carried \[B\].
    pub bytes: u64,
    /// Time with at least one flow on the link \[s\]. Absent, like the numbers of flows, if times were not
    /// recorded.
    #[serde(skip_serializing_if = "skip::is_zero")]
    pub busy_s: f64,
    /// `bytes / (capacity * makespan)`.
    pub utilisation: f64,
    /// Largest number of flows at once.
    #[serde(skip_serializing_if = "skip::is_zero")]
    pub peak_flows: u32,
    /// Number of flows, averaged over the busy time.
    #[serde(skip_serializing_if = "skip::is_zero")]
    pub mean_flows: f64,
    /// Largest number of packets that waited for the link at once. Absent, like the next two figures, if
    /// messages are not packets.
    #[serde(skip_serializing_if = "skip::is_zero")]
    pub peak_queue: u32,
    /// Number of packets that waited for the link, averaged over the run.
    #[serde(skip_serializing_if = "skip::is_zero")]
    pub mean_queue: f64,
    /// Time that the link stood still although packets waited for it, because the buffer behind it was full
    /// \[s\].
    #[serde(skip_serializing_if = "skip::is_zero")]
    pub blocked_s: f64,
    /// Time that messages lost on the link, summed over messages \[s\]; absent if it was not measured.
    #[serde(skip_serializing_if = "skip::is_zero")]
    pub delay_s: f64,
}

/// Cycle of packets that wait for each other.
#[report(Eq)]
pub struct Gridlock {
    /// Number of packets, and of messages at their sources, that cannot move.
    pub packets: u64,
    /// Cycle, as names of links: the buffer behind each is full, and its first packet waits for the next
    /// link.
    pub cycle: Vec<String>,
}

/// Rounds of the redistribution policy for each solution of the rates.
#[report(Copy)]
pub struct Rounds {
    /// Smallest number of rounds.
    pub min: u32,
    /// Mean number of rounds.
    pub mean: f64,
    /// Largest number of rounds.
    pub max: u32,
}

/// Makespans over seeds.
#[report(Default)]
pub struct SeedStatistics {
    /// Seeds.
    pub seeds: Vec<u64>,
    /// Makespan of each seed \[s\].
    pub makespans_s: Vec<f64>,
    /// Mean makespan \[s\].
    pub mean_s: f64,
    /// Sample standard deviation of the makespans \[s\]; 0 for a single seed.
    pub sd_s: f64,
    /// Smallest makespan \[s\].
    pub min_s: f64,
    /// Largest makespan \[s\].
    pub max_s: f64,
    /// Number of seeds that were asked for and not run.
    #[serde(skip_serializing_if = "skip::is_zero")]
    pub missing: usize,
    /// Number of seeds whose faults left messages without a route.
    #[serde(skip_serializing_if = "skip::is_zero")]
    pub cut_off: usize,
    /// Half of the 95 % interval of each makespan \[s\], 0 for an exact one; present if makespans are
    /// estimates.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub halves_s: Vec<f64>,
    /// Interval of the mean makespan \[s\]; present if makespans are estimates.
    pub interval_s: Option<[f64; 2]>,
}

impl SeedStatistics {
    /// Computes the statistics of makespans, one for each seed.
    pub fn new(seeds: Vec<u64>, makespans_s: Vec<f64>) -> Self {
        let Sample { mean: mean_s, sd: sd_s, .. } = Sample::of(&makespans_s).unwrap_or_default();
        let min_s = makespans_s.iter().copied().fold(f64::INFINITY, f64::min);
        let max_s = makespans_s.iter().copied().fold(0.0, f64::max);
        Self { seeds, makespans_s, mean_s, sd_s, min_s, max_s, ..Self::default() }
    }

    /// Adds half of the interval of each makespan; does nothing if all are exact. Errors of estimates are
    /// independent, so half of the interval of their mean is `sqrt(sum h^2) / n`.
    #[must_use]
    pub fn estimated(self, halves_s: Vec<f64>) -> Self {
        if halves_s.iter().all(|&half| half == 0.0) {
            return self;
        }
        let half = halves_s.iter().map(|half| half * half).sum::<f64>().sqrt() / halves_s.len().max(1) as f64;
        Self { interval_s: Some([self.mean_s - half, self.mean_s + half]), halves_s, ..self }
    }

    /// Returns half of the interval of the mean that comes from estimated makespans \[s\].
    pub fn half_s(&self) -> f64 {
        self.interval_s.map_or(0.0, |[low, high]| (high - low) / 2.0)
    }
}

/// Figures that may differ from machine to machine.
#[report(Default)]
pub struct Meta {
    /// Run time of the simulation \[s\].
    pub wall_s: f64,
    /// Number of events: deliveries, starts and wakes.
    pub events: u64,
    /// Packet hops, if messages are packets: each link that a packet crosses counts once.
    pub packet_hops: Option<u64>,
    /// Peak memory of the process \[B\], if the system reports it.
    #[always]
    pub peak_rss_bytes: Option<u64>,
    /// Version of this program.
    pub version: String,
}

impl Meta {
    /// Returns the figures of a run that started at `start`.
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
    /// Position among the sender's messages, from 0.
    pub index: u32,
    /// Size \[B\].
    pub bytes: u64,
    /// Time at which the message was sent \[s\].
    pub start_s: f64,
    /// Time at which the message arrived \[s\].
    pub end_s: f64,
}

impl MessageRecord {
    /// Returns the record of a message that is delivered at `now`.
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

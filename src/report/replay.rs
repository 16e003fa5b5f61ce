//! Results of a replayed program, as plain data.

use super::{Bounds, Delays, Head, LinkUse, Meta};
use crate::program::caveats::Caveats;
use crate::training::{StageMemory, StepParts};

/// Version of the JSON format of [`ReplayReport`].
pub const SCHEMA: &str = "hayase-replay-1";

/// Result of one run of a program.
#[report]
pub struct ReplayReport {
    /// Head of the report.
    #[serde(flatten)]
    pub head: Head,
    /// Lower bounds of the makespan by the bytes that nodes exchange, if the optimum was asked for.
    pub bounds: Option<Bounds>,
    /// `makespan / optimum_at_least_s`, if the optimum was asked for.
    pub ratio_to_optimum: Option<f64>,
    /// Program, by the name of its trace.
    pub program: String,
    /// Defects of the recordings that the program was made from.
    #[serde(flatten)]
    pub caveats: Caveats,
    /// Node model, for people: `loggps`.
    pub node: String,
    /// Network, for people.
    pub network: String,
    /// Makespan of the recorded run, if the trace has it \[s\].
    pub measured_s: Option<f64>,
    /// `makespan_s / measured_s - 1`, for a complete run.
    pub error: Option<f64>,
    /// Region that was asked for: breakdown, waits, critical path and ranks cover only this region. The
    /// `end_s` of a rank is then the time it spent there.
    pub region: Option<String>,
    /// Regions that the program marks, or the one that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub regions: Vec<RegionReport>,
    /// Number of operations of the program.
    pub operations: u64,
    /// Number of classes of ranks that do the same, if one rank of each was played; waits are those of these ranks.
    pub classes: Option<u32>,
    /// Number of messages that arrived and were never received.
    pub unreceived: u64,
    /// Breakdown of the time, over all ranks.
    pub breakdown: Vec<Spread>,
    /// The 20 longest waits between two ranks, longest first (none under `loggopsim`).
    pub waits: Vec<Wait>,
    /// Matching of receives that leave source or tag open (`MPI_ANY_SOURCE`, `MPI_ANY_TAG`) and whose message
    /// in the recorded run is known.
    pub open_receives: Option<OpenReceives>,
    /// Critical path of the run; present if the run is complete and not too long: up to 1,000,000
    /// activities and messages and 10,000 ranks, or any if a file asks for it (`path.csv`, a timeline).
    pub critical_path: Option<CriticalPath>,
    /// Ranks that delayed others, largest caused wait first; present if asked for and the run is complete and
    /// not too long to be walked back through.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub late: Vec<LateRank>,
    /// Up to ten links, those on which messages lost the most time first, then the most used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinkUse>,
    /// Time that messages lost on links, if the run measured it.
    pub delays: Option<Delays>,
    /// Data sets behind the run, if it is a prediction from data sets.
    pub prediction: Option<Prediction>,
    /// Training step, if the program is one.
    pub llm: Option<PlayedStep>,
    /// Breakdown of the time of each rank.
    pub ranks: Vec<RankReport>,
    /// Figures that may differ from machine to machine.
    pub meta: Meta,
}

/// Training step that was played.
#[report]
pub struct PlayedStep {
    /// Time of the step on the GPU that ends last, by what it computes or waits for.
    #[serde(flatten)]
    pub parts: StepParts,
    /// Model operations over those of the GPUs' peak in the time of the step.
    pub mfu: f64,
    /// Hardware operations over those of the GPUs' peak in the time of the step.
    pub hfu: f64,
    /// Number of micro-batches.
    pub micro_batches: u64,
    /// Number of micro-batches that were played; the others repeat them.
    pub played: u64,
    /// Time of the step in closed form \[s\].
    pub closed_form_s: f64,
    /// Memory of a GPU of each stage.
    pub stages: Vec<StageMemory>,
}

/// Part of the program that its author marked as a region.
#[report]
pub struct RegionReport {
    /// Name of the region.
    pub name: String,
    /// Number of executions, on the rank with the most.
    pub executions: u64,
    /// Number of ranks that executed it.
    pub ranks: u32,
    /// Time from the first rank's begin to the last one's end, summed over the executions \[s\].
    pub time_s: f64,
    /// Computation within the region, mean over its ranks \[s\].
    pub computation_s: f64,
    /// Sending and receiving within the region, mean over its ranks \[s\].
    pub communication_s: f64,
    /// Waiting within the region, mean over its ranks \[s\].
    pub waiting_s: f64,
    /// `time_s` of the recorded run, if known \[s\].
    pub recorded_s: Option<f64>,
}

impl ReplayReport {
    /// Returns the region that was asked for.
    pub fn chosen(&self) -> Option<&RegionReport> {
        let name = self.region.as_deref()?;
        self.regions.iter().find(|region| region.name == name)
    }

    /// Returns the time of the region that was asked for, or of the whole run if none was \[s\].
    pub fn asked_s(&self) -> f64 {
        self.chosen().map_or(self.head.makespan_s, |region| region.time_s)
    }
}

/// Receives that leave open which message they take (`MPI_ANY_SOURCE`, `MPI_ANY_TAG`).
#[report]
pub struct OpenReceives {
    /// Message that they take: `recorded`, the one of the recorded run, or `arrival`, the first to arrive.
    pub take: &'static str,
    /// Number of such receives.
    pub receives: u64,
    /// Number of receives that took a message which the node model identifies (`loggopsim` does not).
    pub seen: u64,
    /// Number of these that took a message with the source and tag of the recorded run.
    pub as_recorded: u64,
}

/// Breakdown of the time of one rank \[s\].
#[report(Copy)]
pub struct RankReport {
    /// Number of the rank.
    pub rank: u32,
    /// End of its last operation.
    pub end_s: f64,
    /// Computation.
    pub compute_s: f64,
    /// Send overhead: the processor was busy sending.
    pub send_overhead_s: f64,
    /// Receive overhead: the processor was busy receiving.
    pub recv_overhead_s: f64,
    /// Wait for receivers.
    pub send_wait_s: f64,
    /// Wait for messages.
    pub recv_wait_s: f64,
    /// Exchange of requests and answers of rendezvous.
    pub sync_s: f64,
}

/// Time of one kind, over all ranks \[s\].
#[report]
pub struct Spread {
    /// Kind of time.
    pub kind: &'static str,
    /// Smallest time of a rank.
    pub least_s: f64,
    /// First rank with the smallest time.
    pub least_rank: u32,
    /// Mean time of a rank.
    pub mean_s: f64,
    /// Largest time of a rank.
    pub most_s: f64,
    /// First rank with the largest time.
    pub most_rank: u32,
    /// Part of the time of all ranks until each ended.
    pub part: f64,
}

/// Chain of activities and messages from the start to the end of the last rank. Its times add up to the
/// makespan.
#[report]
pub struct CriticalPath {
    /// Number of steps.
    pub steps: u64,
    /// Number of times the path goes from one rank to another.
    pub changes: u64,
    /// Time on the path by kind.
    pub kinds: Vec<PathPart>,
    /// The 20 ranks with the most time on the path, most first.
    pub ranks: Vec<PathRank>,
    /// The 20 operations with the most time on the path, most first.
    pub operations: Vec<PathOperation>,
}

/// Time of one kind on the critical path.
#[report]
pub struct PathPart {
    /// Kind of time; `network` is a message under way.
    pub kind: &'static str,
    /// Time on the path \[s\].
    pub time_s: f64,
    /// Part of the path.
    pub part: f64,
}

/// Time of one rank on the critical path.
#[report]
pub struct PathRank {
    /// Number of the rank.
    pub rank: u32,
    /// Time on the path, including messages to the rank \[s\].
    pub time_s: f64,
    /// Part of the path.
    pub part: f64,
}

/// Time of one operation on the critical path, for one kind of time.
#[report]
pub struct PathOperation {
    /// Rank of the operation.
    pub rank: u32,
    /// Position of the operation in the rank's program.
    pub op: u32,
    /// Operation in words, if the node model tells receives apart.
    pub operation: Option<String>,
    /// Kind of time.
    pub kind: &'static str,
    /// Time on the path \[s\].
    pub time_s: f64,
}

/// Total wait of one rank for another.
#[report]
pub struct Wait {
    /// Rank that waited.
    pub rank: u32,
    /// Rank that was waited for.
    pub peer: u32,
    /// Kind of wait: `send wait` or `receive wait`.
    pub kind: &'static str,
    /// Total wait \[s\].
    pub time_s: f64,
    /// Number of waits.
    pub count: u64,
}

/// Rank that others waited for, with the waits that it caused \[s\], summed over all ranks that waited.
#[report]
pub struct LateRank {
    /// Number of the rank.
    pub rank: u32,
    /// Waits that this rank caused, directly or through ranks that it delayed.
    pub caused_s: f64,
    /// Part of `caused_s` because it computed longer than the waiting ranks, or started later.
    pub by_computing_s: f64,
    /// Rest of `caused_s`: it spent longer on sending.
    pub by_sending_s: f64,
    /// Ranks that it delayed, most first; only for the first five rows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub delays: Vec<Delayed>,
    /// Time that others waited for messages of this rank.
    pub waited_for_s: f64,
    /// Part of `waited_for_s` because it computed longer.
    pub as_it_computed_s: f64,
    /// Part of `waited_for_s` because it sent longer.
    pub as_it_sent_s: f64,
    /// Part of `waited_for_s` because it waited itself. In the rest of the time its messages were under way.
    pub as_it_waited_s: f64,
}

/// Rank that another rank delayed.
#[report]
pub struct Delayed {
    /// Number of the rank.
    pub rank: u32,
    /// Wait caused by the delaying rank \[s\].
    pub time_s: f64,
}

/// Data sets that a prediction was assembled from.
#[report]
pub struct Prediction {
    /// Program data.
    pub program: String,
    /// Sources of the times of blocks.
    pub computation: Vec<PredictionPart>,
    /// Communication data, if times of messages come from it.
    pub communication: Option<String>,
    /// Time of the run that the computation data was gathered from, if it is a single run and its time is
    /// known \[s\].
    pub recorded_s: Option<f64>,
    /// Rule by which waits end: `rules` (each message by itself), `order of arrival` (receives with an open
    /// source, in order of time), or `simulated`.
    pub waits: &'static str,
    /// Number of block times found by block and rank.
    pub direct: u64,
    /// Number of block times found by the block's name, in data of another form of the program.
    pub by_name: u64,
    /// Number of block times found by the block's name at other ranks.
    pub other_ranks: u64,
    /// Time that an execution of a block takes: `mean`, `line` or `draw`.
    pub times: &'static str,
}

/// Ranks that take the times of their blocks from the same data.
#[report]
pub struct PredictionPart {
    /// Ranks: `0-7`.
    pub ranks: String,
    /// Computation data.
    pub computation: String,
    /// Factor by which the times are multiplied.
    pub scale: f64,
}

//! What came out of a program that was replayed, as plain data.

use super::{Head, Meta};
use crate::program::caveats::Caveats;

/// The version of the form of [`ReplayReport`] in JSON.
pub const SCHEMA: &str = "hayase-replay-1";

/// What came out of one run of a program.
#[report]
pub struct ReplayReport {
    /// What every report begins with.
    #[serde(flatten)]
    pub head: Head,
    /// The program: the name of its trace.
    pub program: String,
    /// What is wrong with the recordings that it was made of.
    #[serde(flatten)]
    pub caveats: Caveats,
    /// The nodes, for people: `loggps`.
    pub node: String,
    /// The network, for people.
    pub network: String,
    /// The same in the run that was recorded, where the trace has it \[s\].
    pub measured_s: Option<f64>,
    /// `makespan_s / measured_s - 1`; of a complete run.
    pub error: Option<f64>,
    /// The region that was asked for: breakdown, waits, critical path and ranks are of what happens in it.
    pub region: Option<String>,
    /// The regions that the program marks, or the one that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub regions: Vec<RegionReport>,
    /// Operations of the program.
    pub operations: u64,
    /// Messages that arrived and that nobody asked for.
    pub unreceived: u64,
    /// Where the time went, over all ranks.
    pub breakdown: Vec<Spread>,
    /// The longest waits between two ranks, longest first.
    pub waits: Vec<Wait>,
    /// Of receives that left open from whom or with what tag, and of which it is known what came in the recorded run:
    /// what they took here.
    pub open_receives: Option<OpenReceives>,
    /// What made it last as long as it did; where the run is complete and not too long to be walked back through.
    pub critical_path: Option<CriticalPath>,
    /// Ranks that others waited for, those first that most of all waiting goes back to; where that was asked for, the
    /// run is complete, and not too long to be walked back through.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub late: Vec<LateRank>,
    /// What it was put together from, where it is a prediction from data sets.
    pub prediction: Option<Prediction>,
    /// Where the time of each rank went.
    pub ranks: Vec<RankReport>,
    /// What may differ from machine to machine.
    pub meta: Meta,
}

/// A part of the program that its author told apart.
#[report]
pub struct RegionReport {
    /// Its name.
    pub name: String,
    /// How often it was executed, on the rank that did so most.
    pub executions: u64,
    /// How many ranks executed it.
    pub ranks: u32,
    /// From the first rank's begin to the last one's end of each execution, added up \[s\].
    pub time_s: f64,
    /// Computation within it: the mean over its ranks \[s\].
    pub computation_s: f64,
    /// Sending and receiving, the same \[s\].
    pub communication_s: f64,
    /// Waiting, the same \[s\].
    pub waiting_s: f64,
    /// `time_s` of the run that was recorded, where that is known \[s\].
    pub recorded_s: Option<f64>,
}

impl ReplayReport {
    /// The region that was asked for.
    pub fn chosen(&self) -> Option<&RegionReport> {
        let name = self.region.as_deref()?;
        self.regions.iter().find(|region| region.name == name)
    }

    /// The time that is asked for: of the region, if one is, else of the whole run \[s\].
    pub fn asked_s(&self) -> f64 {
        self.chosen().map_or(self.head.makespan_s, |region| region.time_s)
    }
}

/// Receives that left open what they take (`MPI_ANY_SOURCE`, `MPI_ANY_TAG`).
#[report]
pub struct OpenReceives {
    /// What they take: `recorded`, what came in the recorded run, or `arrival`, what comes first.
    pub take: &'static str,
    /// How many there are.
    pub receives: u64,
    /// How many took a message, and the node model says which.
    pub seen: u64,
    /// How many of these took one of the rank, with the tag, of the recorded run.
    pub as_recorded: u64,
}

/// Where the time of one rank went \[s\].
#[report(Copy)]
pub struct RankReport {
    /// Which one.
    pub rank: u32,
    /// When its last operation ended.
    pub end_s: f64,
    /// It computed.
    pub compute_s: f64,
    /// It sent: its processor was busy.
    pub send_overhead_s: f64,
    /// It received: its processor was busy.
    pub recv_overhead_s: f64,
    /// It waited for receivers.
    pub send_wait_s: f64,
    /// It waited for messages.
    pub recv_wait_s: f64,
    /// It exchanged requests and answers of rendezvous.
    pub sync_s: f64,
}

/// One kind of time, over all ranks \[s\].
#[report]
pub struct Spread {
    /// What it was spent on.
    pub kind: &'static str,
    /// The least, and the first rank that has it.
    pub least_s: f64,
    /// Which.
    pub least_rank: u32,
    /// The mean.
    pub mean_s: f64,
    /// The most, and the first rank that has it.
    pub most_s: f64,
    /// Which.
    pub most_rank: u32,
    /// Its part of the time of all ranks until each ended.
    pub part: f64,
}

/// The chain of activities and messages from the start to the end of the last rank; its times add up to the makespan.
#[report]
pub struct CriticalPath {
    /// Its steps.
    pub steps: u64,
    /// How often it goes from one rank to another.
    pub changes: u64,
    /// The time of each kind that is on it.
    pub kinds: Vec<PathPart>,
    /// The ranks with the most time on it, most first.
    pub ranks: Vec<PathRank>,
    /// The operations with the most time on it, most first.
    pub operations: Vec<PathOperation>,
}

/// One kind of time on the critical path.
#[report]
pub struct PathPart {
    /// What it was spent on; `network` is a message under way.
    pub kind: &'static str,
    /// How long \[s\].
    pub time_s: f64,
    /// Its part of the path.
    pub part: f64,
}

/// One rank's part of the critical path.
#[report]
pub struct PathRank {
    /// Which one.
    pub rank: u32,
    /// How long it was on it, messages to it included \[s\].
    pub time_s: f64,
    /// Its part of the path.
    pub part: f64,
}

/// One operation's part of the critical path, of one kind.
#[report]
pub struct PathOperation {
    /// Whose.
    pub rank: u32,
    /// Its position in the rank's program.
    pub op: u32,
    /// What it is, in words, where the node model tells receives apart.
    pub operation: Option<String>,
    /// What the time was spent on.
    pub kind: &'static str,
    /// How long \[s\].
    pub time_s: f64,
}

/// How long one rank waited for another, in all.
#[report]
pub struct Wait {
    /// Who waited.
    pub rank: u32,
    /// For whom.
    pub peer: u32,
    /// For what: `send wait` or `receive wait`.
    pub kind: &'static str,
    /// How long \[s\].
    pub time_s: f64,
    /// How often.
    pub count: u64,
}

/// A rank that others waited for, and what goes back to it \[s\]; sums over all ranks that waited.
#[report]
pub struct LateRank {
    /// Which one.
    pub rank: u32,
    /// What ranks waited, for it or for others that it held up, that goes back to it.
    pub caused_s: f64,
    /// Of that: since it computed longer than those that waited, or started later.
    pub by_computing_s: f64,
    /// The rest: since it sent longer.
    pub by_sending_s: f64,
    /// Whom that delayed, most first; of the first five ranks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub delays: Vec<Delayed>,
    /// How long others waited for it.
    pub waited_for_s: f64,
    /// Of that: since it computed longer.
    pub as_it_computed_s: f64,
    /// Since it sent longer.
    pub as_it_sent_s: f64,
    /// Since it waited for others itself. The rest its messages were under way.
    pub as_it_waited_s: f64,
}

/// A rank that another delayed.
#[report]
pub struct Delayed {
    /// Which one.
    pub rank: u32,
    /// How long it waited for that \[s\].
    pub time_s: f64,
}

/// What a prediction was put together from.
#[report]
pub struct Prediction {
    /// The program data.
    pub program: String,
    /// Where the times of blocks are from.
    pub computation: Vec<PredictionPart>,
    /// The communication data, where messages take their times from it.
    pub communication: Option<String>,
    /// How long the run took that the computation data is of, where it is one run and that is known \[s\].
    pub recorded_s: Option<f64>,
    /// By what rule waits end: `rules` (each message by itself), `order of arrival` (receives that leave open from
    /// whom, in order of time), or `simulated`.
    pub waits: &'static str,
    /// Times of blocks found by the block and rank themselves.
    pub direct: u64,
    /// Found by the block's name, in data of another form of the program.
    pub by_name: u64,
    /// Found by the block's name at other ranks.
    pub other_ranks: u64,
    /// Which times of a block are taken: `mean`, `line` or `draw`.
    pub times: &'static str,
}

/// Ranks that take the times of their blocks from one place.
#[report]
pub struct PredictionPart {
    /// Which: `0-7`.
    pub ranks: String,
    /// The computation data.
    pub computation: String,
    /// What its times are multiplied by.
    pub scale: f64,
}

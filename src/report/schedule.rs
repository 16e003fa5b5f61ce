//! Result of a schedule of a collective operation, as plain data.

use super::Proof;

/// Version of the JSON format of [`ScheduleReport`].
pub const SCHEMA: &str = "hayase-schedule-1";

/// Best possible time of a collective operation on a fabric, a schedule near it, and the usual algorithms.
#[report(Default)]
pub struct ScheduleReport {
    /// Version of the JSON format: `hayase-schedule-1`.
    pub schema: &'static str,
    /// Fabric, for people.
    pub fabric: String,
    /// Fingerprint of the fabric, which the plan's file names.
    pub fabric_fingerprint: String,
    /// Placement of the ranks.
    pub placement: String,
    /// Transport on which the times are simulated.
    pub transport: String,
    /// Operation: `all-gather`.
    pub operation: String,
    /// Method of the schedule: `trees`, `greedy` ...; absent if there is a bound alone.
    #[always]
    pub method: Option<String>,
    /// Reason why there is a bound and no schedule.
    pub no_schedule: Option<String>,
    /// Number of ranks.
    pub ranks: u32,
    /// Size \[B\]: what each rank contributes to an all-gather, reduce-scatter, scatter or gather, what it has for each
    /// other rank in an all-to-all, the whole vector of an all-reduce or a broadcast.
    pub size_bytes: u64,
    /// Time that no schedule undercuts \[s\]: bandwidth alone, without latencies.
    pub optimum_s: f64,
    /// True if steady flows reach `optimum_s`.
    pub optimum_exact: bool,
    /// Kind of proof of `optimum_s`.
    pub optimum_certificate: Option<Proof>,
    /// Proof in words.
    pub optimum_proof: String,
    /// Cut that limits an operation on trees.
    #[always]
    pub worst_cut: Option<WorstCut>,
    /// Smallest number of equal trees of each root that reaches the optimum, or the number that the schedule has.
    #[always]
    pub trees_per_root: Option<u64>,
    /// Largest number of messages between a root and a rank, for trees.
    pub depth: Option<u32>,
    /// Number of chunks of each tree's data.
    pub chunks: Option<u32>,
    /// Number of slots, for schedules in rounds.
    pub slots: Option<u32>,
    /// Order of the ranks, for schedules in rounds of an order.
    pub order: Option<String>,
    /// Number of messages of the plan.
    pub messages: u64,
    /// Time of the schedule by its formula \[s\].
    #[always]
    pub predicted_s: Option<f64>,
    /// Simulated time of the schedule \[s\].
    #[always]
    pub simulated_s: Option<f64>,
    /// Simulated time of the schedule if ranks start up to `jitter_s` late \[s\].
    #[always]
    pub simulated_jitter_s: Option<f64>,
    /// Largest late start of a rank \[s\].
    pub jitter_s: f64,
    /// The schedule and the usual algorithms, fastest first with late starts.
    pub algorithms: Vec<ScheduleRow>,
}

/// Cut between compute nodes.
#[report(Copy)]
pub struct WorstCut {
    /// Number of ranks inside.
    pub nodes: u32,
    /// Bandwidth out of the cut \[B/s\].
    #[serde(rename = "bandwidth_Bps")]
    pub bandwidth_bps: f64,
}

/// Simulated times of one algorithm.
#[report]
pub struct ScheduleRow {
    /// Name: `schedule`, or that of an algorithm.
    pub name: String,
    /// Makespan if all ranks start at once \[s\].
    pub makespan_s: f64,
    /// Makespan if ranks start late \[s\].
    pub makespan_jitter_s: f64,
    /// `makespan / optimum`, all ranks at once: in step only.
    pub ratio_in_step: f64,
    /// `makespan with late starts / optimum`.
    pub ratio_to_optimum: f64,
}

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
    /// Time that no schedule undercuts \[s\]: bandwidth alone, without latencies. Of an all-reduce it is the optimum of
    /// a reduce-scatter and then an all-gather with equal shares; other shares can be faster on unequal nodes.
    pub optimum_s: f64,
    /// Time of an all-reduce along reversed trees and then the same trees, if their roots had the best shares of the
    /// vector; present if it is smaller than `optimum_s`, for up to 128 ranks \[s\].
    pub free_shares_s: Option<f64>,
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

/// Version of the JSON format of [`OperationComparison`].
pub const OPERATION_SCHEMA: &str = "hayase-operation-1";

/// Algorithms of a collective operation on several fabrics, with several sizes.
#[report]
pub struct OperationComparison {
    /// Version of the JSON format: `hayase-operation-1`.
    pub schema: &'static str,
    /// Operation: `all-gather`.
    pub operation: String,
    /// Times of each algorithm, fastest first for each size.
    pub rows: Vec<OperationRow>,
    /// Sizes from which another algorithm is the fastest.
    pub crossings: Vec<Crossing>,
}

/// Simulated times of one algorithm for one size on one fabric.
#[report]
pub struct OperationRow {
    /// Fabric as named by the user.
    pub topology: String,
    /// Placement as named by the user.
    pub placement: String,
    /// Transport as named by the user.
    pub transport: String,
    /// Size \[B\].
    pub size_bytes: u64,
    /// Time that no schedule undercuts \[s\].
    pub optimum_s: f64,
    /// Largest late start of a rank \[s\].
    pub jitter_s: f64,
    /// The algorithm with its times.
    #[serde(flatten)]
    pub of: ScheduleRow,
}

/// Size from which an algorithm is the fastest.
#[report]
pub struct Crossing {
    /// Fabric as named by the user.
    pub topology: String,
    /// Placement as named by the user.
    pub placement: String,
    /// Transport as named by the user.
    pub transport: String,
    /// Smallest compared size \[B\].
    pub from_bytes: u64,
    /// Fastest algorithm with late starts.
    pub algorithm: String,
    /// Fastest algorithm if all ranks start at once: in step only.
    pub algorithm_in_step: String,
}

impl OperationRow {
    /// Returns a row for each algorithm of a report; `choices` are topology, placement and transport.
    pub fn of(report: &ScheduleReport, choices: [String; 3]) -> Vec<Self> {
        let row = |of: &ScheduleRow| {
            let [topology, placement, transport] = choices.clone();
            let ScheduleReport { size_bytes, optimum_s, jitter_s, .. } = *report;
            Self { topology, placement, transport, size_bytes, optimum_s, jitter_s, of: of.clone() }
        };
        report.algorithms.iter().map(row).collect()
    }

    fn is_beside(&self, other: &Self) -> bool {
        let names = |row: &Self| [row.topology.clone(), row.placement.clone(), row.transport.clone()];
        names(self) == names(other)
    }
}

impl OperationComparison {
    /// Creates the comparison of rows that are grouped by fabric and size, fastest first.
    pub fn new(operation: &str, rows: Vec<OperationRow>) -> Self {
        let mut crossings: Vec<Crossing> = Vec::new();
        let groups = rows.chunk_by(|a, b| a.is_beside(b) && a.size_bytes == b.size_bytes);
        let mut before: Option<&OperationRow> = None;
        for group in groups {
            let first = &group[0];
            let in_step = group.iter().min_by(|a, b| a.of.makespan_s.total_cmp(&b.of.makespan_s)).unwrap_or(first);
            let best = [&first.of.name, &in_step.of.name];
            let is_same = before.is_some_and(|before| before.is_beside(first))
                && crossings.last().is_some_and(|last| [&last.algorithm, &last.algorithm_in_step] == best);
            before = Some(first);
            if !is_same {
                crossings.push(Crossing {
                    topology: first.topology.clone(),
                    placement: first.placement.clone(),
                    transport: first.transport.clone(),
                    from_bytes: first.size_bytes,
                    algorithm: best[0].clone(),
                    algorithm_in_step: best[1].clone(),
                });
            }
        }
        Self { schema: OPERATION_SCHEMA, operation: operation.to_owned(), rows, crossings }
    }
}

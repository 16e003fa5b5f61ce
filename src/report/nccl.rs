//! Choices of NCCL by size, as plain data.

/// Version of the JSON format of [`NcclReport`].
pub const SCHEMA: &str = "hayase-nccl-1";

/// Algorithms and protocols that NCCL takes for an operation, by size.
#[report]
pub struct NcclReport {
    /// Version of the JSON format: `hayase-nccl-1`.
    pub schema: &'static str,
    /// System, as named by the user.
    pub system: String,
    /// Fabric of the simulated times, for people.
    pub fabric: Option<String>,
    /// A row for each size.
    pub rows: Vec<NcclRow>,
    /// Values of NCCL's own log beside those of the model.
    pub log: Option<NcclLog>,
}

/// Values of NCCL's own log beside those of the model.
#[report]
pub struct NcclLog {
    /// File of the log.
    pub file: String,
    /// Number of compared choices, each size and choice once.
    pub choices: u64,
    /// Number of compared latencies and bandwidths.
    pub entries: u64,
    /// Values that differ.
    pub differences: Vec<NcclDifference>,
}

/// Value of a log that is not that of the model.
#[report]
pub struct NcclDifference {
    /// Line of the log, from 1.
    pub line: u64,
    /// Value in words: `all-reduce of 64 KiB`.
    pub value: String,
    /// Value of the log.
    pub logged: String,
    /// Value of the model.
    pub model: String,
}

/// Algorithm and protocol for one size.
#[report]
pub struct NcclRow {
    /// Operation: `all-reduce`.
    pub op: String,
    /// Number of ranks.
    pub ranks: u32,
    /// Number of nodes.
    pub nodes: u32,
    /// Size \[B\]: what a rank sends or receives, the larger; all blocks of an all-gather or a reduce-scatter.
    #[serde(rename = "size_B")]
    pub size_bytes: u64,
    /// Algorithm: `ring`, `tree`, `nvls`, `nvls-tree`, `pat`, `collnet-direct`, `collnet-chain`.
    pub algorithm: String,
    /// Protocol: `ll`, `ll128`, `simple`.
    pub protocol: String,
    /// Time by NCCL's model \[s\].
    pub model_s: f64,
    /// Second choice of the model.
    #[always]
    pub runner_up: Option<NcclChoice>,
    /// Time of the second choice over that of the first, less 1.
    #[always]
    pub margin: Option<f64>,
    /// Simulated time with the launch \[s\]; absent without a fabric, and for algorithms without messages.
    pub simulated_s: Option<f64>,
    /// Time that the messages on their routes do not undercut \[s\].
    pub bound_s: Option<f64>,
    /// Bus bandwidth by NCCL's convention, of the simulated time \[B/s\].
    #[serde(rename = "bus_bandwidth_Bps")]
    pub bus_bandwidth_bps: Option<f64>,
}

/// Algorithm with its time by NCCL's model.
#[report]
pub struct NcclChoice {
    /// Algorithm.
    pub algorithm: String,
    /// Protocol.
    pub protocol: String,
    /// Time by NCCL's model \[s\].
    pub model_s: f64,
}

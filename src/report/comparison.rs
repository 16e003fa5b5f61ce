//! Comparisons: many runs side by side, as plain data.

use serde::Serialize;

use super::{Bounds, SeedStatistics};

/// The version of the form of [`Comparison`] in JSON.
pub const SCHEMA: &str = "hayase-comparison-1";

/// Runs that differ in what is compared, over the same seeds.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Comparison {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The command or file behind it, for the title of tables and pictures.
    pub title: String,
    /// Best first within each block (same topology, placement, transport, sharing, routing and injection).
    pub rows: Vec<ComparisonRow>,
    /// `complete`, or `interrupted`: then rows are missing.
    pub complete: bool,
}

/// One point of a comparison: a pattern under one choice of everything else.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ComparisonRow {
    /// The topology as named.
    pub topology: String,
    /// The placement.
    pub placement: String,
    /// The sharing policy; empty where messages are no flows.
    pub sharing: String,
    /// The transport: `flow`, `packet:oq` ...
    pub transport: String,
    /// The routing rule.
    pub routing: String,
    /// The injection rule.
    pub injection: String,
    /// The pattern as named.
    pub pattern: String,
    /// Makespans over the seeds.
    pub makespan: SeedStatistics,
    /// Messages of one run.
    pub messages: u64,
    /// Bytes of one run \[B\].
    pub bytes: u64,
    /// Lower bounds of the makespan, averaged over the seeds.
    pub bounds: Bounds,
    /// `mean makespan / largest bound`.
    pub ratio_to_bound: f64,
    /// `mean makespan / smallest mean makespan of the block`.
    pub ratio_to_best: f64,
    /// Run time of one run, averaged over the seeds \[s\]; differs from machine to machine.
    pub wall_s: f64,
    /// Packets that crossed a link in the first run, each link counted, where messages are packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packet_hops: Option<u64>,
    /// Combined fingerprint of the runs.
    pub fingerprint: String,
}

impl ComparisonRow {
    /// What all rows of a block share.
    pub fn block(&self) -> [&str; 6] {
        [&self.topology, &self.placement, &self.transport, &self.sharing, &self.routing, &self.injection]
    }
}

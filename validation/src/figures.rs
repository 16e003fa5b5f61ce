//! Figures from other sources for comparison (`validation/figures.json`).

use serde::Deserialize;

/// All figures.
#[derive(Deserialize)]
pub(super) struct Figures {
    pub mfs: Mfs,
    pub lock_step: LockStep,
    pub packet: Packet,
}

/// Figures of the MFS paper.
#[derive(Deserialize)]
pub(super) struct Mfs {
    pub source: String,
    /// Number of nodes, and simulated time under random over regular placement, on full-bisection trees.
    pub random_over_regular: Vec<(u32, f64)>,
    /// Mean of these ratios over all its sizes.
    pub random_over_regular_mean: f64,
    /// Range of the differences between simulated times with and without redistribution \[%\].
    pub redistribute_against_equal_share_percent: (f64, f64),
    /// Rounds of the redistribution.
    pub redistribution_rounds: (f64, f64),
    /// Number of nodes, and run time with redistribution over that without it.
    pub redistribute_run_time_over_equal_share: Vec<(u32, f64)>,
}

/// Makespans in lock step on n x n tori: n, and the time [us].
#[derive(Deserialize)]
pub(super) struct LockStep {
    pub source: String,
    #[serde(rename = "2d-spread_us")]
    pub spread_2d_us: Vec<(u32, f64)>,
    pub pairwise_us: Vec<(u32, f64)>,
}

/// Makespans of packet-level simulators on the 16 x 16 torus [ms].
#[derive(Deserialize)]
pub(super) struct Packet {
    pub source: String,
    pub algorithms: Vec<String>,
    pub ns3_ms: Vec<f64>,
    pub booksim_ms: Vec<f64>,
}

/// Reads the figures.
///
/// # Panics
/// Never: the file is built in, and a test reads it.
pub(super) fn figures() -> Figures {
    serde_json::from_str(include_str!("../figures.json")).expect("figures.json is checked by a test")
}

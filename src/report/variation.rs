//! Effect on a prediction of taking one time for all executions of a block, as plain data.

/// Predictions of one run by the time that executions of a block take. Messages take no time in any of them.
#[report]
pub struct Variation {
    /// Prediction with all times as recorded \[s\].
    pub recorded_s: f64,
    /// Prediction with the mean of each block at each rank \[s\].
    pub means_s: f64,
    /// Prediction with a line for each block whose times follow one, and means elsewhere \[s\].
    pub lines_s: f64,
    /// Prediction with lines, and for other blocks whose times vary with the mean of one eighth of the sorted
    /// times at a time \[s\].
    pub drawn_s: f64,
    /// Blocks whose times vary most, most first.
    pub blocks: Vec<BlockVariation>,
}

/// One of the blocks whose times vary most.
#[report]
pub struct BlockVariation {
    /// Number of the block.
    pub block: u32,
    /// MPI call before the block.
    pub from: String,
    /// MPI call after the block.
    pub to: String,
    /// Number of executions.
    pub executions: u64,
    /// Mean time \[s\].
    pub mean_s: f64,
    /// Standard deviation of the times around the mean of their rank \[s\].
    pub deviation_s: f64,
    /// True if the times follow a line.
    pub line: bool,
    /// Relative change of the prediction with all recorded times if this block alone takes its line or its
    /// mean.
    pub cost: f64,
}

//! What it costs that a prediction takes one time for all executions of a block, as plain data.

/// How predictions of one run differ by what is taken as the time of a block; messages take no time in all of them.
#[report]
pub struct Variation {
    /// With every time as it was recorded \[s\].
    pub recorded_s: f64,
    /// With the mean of each block at each rank \[s\].
    pub means_s: f64,
    /// With the line of each block whose times follow one, and means elsewhere \[s\].
    pub lines_s: f64,
    /// With lines, and where times vary otherwise with one of their eighths at a time \[s\].
    pub drawn_s: f64,
    /// The blocks whose times vary most, most first.
    pub blocks: Vec<BlockVariation>,
}

/// One of the blocks whose times vary most.
#[report]
pub struct BlockVariation {
    /// Its number.
    pub block: u32,
    /// The call before.
    pub from: String,
    /// The call after.
    pub to: String,
    /// How often it ran.
    pub executions: u64,
    /// The mean \[s\].
    pub mean_s: f64,
    /// The standard deviation of its times around the mean of their rank \[s\].
    pub deviation_s: f64,
    /// Whether they follow a line.
    pub line: bool,
    /// What its mean alone, or its line, changes the prediction with all recorded times by, relative to that.
    pub cost: f64,
}

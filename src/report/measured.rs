//! Measured collectives beside predictions, as plain data.

/// Version of the JSON format of [`MeasuredReport`].
pub const SCHEMA: &str = "hayase-measured-1";

/// Measured times of collectives beside the predictions of models.
#[report]
pub struct MeasuredReport {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// Files or names that were asked for, for the title of tables and pictures.
    pub title: String,
    /// Version of the program that made the report.
    pub version: String,
    /// Models in the order asked for. The first one has intervals, ratios and worst rows.
    pub models: Vec<String>,
    /// Columns of the files, in their usual order.
    pub columns: Vec<String>,
    /// Rows, in the order of the files.
    pub rows: Vec<MeasuredRow>,
    /// Errors by model, by system, operation and size.
    pub errors: Vec<MeasuredErrors>,
    /// Positions in `rows` of the scored rows with the largest errors, the worst first; at most ten.
    pub worst: Vec<usize>,
    /// Reasons of rows without a prediction or a score, the most frequent first.
    pub reasons: Vec<ReasonCount>,
    /// Share of measured times that intervals are made to contain.
    pub nominal_coverage: f64,
    /// Share of scored rows with an interval whose measured time lies inside it; absent if there are none.
    pub coverage: Option<f64>,
    /// True if all runs were made; otherwise predictions are missing.
    pub complete: bool,
    /// Number of runs that were not made.
    #[serde(skip_serializing_if = "super::skip::is_zero")]
    pub missing_runs: u64,
}

/// Measured collective, with its predictions.
#[report(Default)]
pub struct MeasuredRow {
    /// Name of the machine.
    pub system: String,
    /// Collective operation: `allgather`, `alltoall` ...
    pub operation: String,
    /// Name of the algorithm in its library.
    pub algorithm: String,
    /// Library and its version; empty if unknown.
    pub library: String,
    /// Number of nodes.
    pub nodes: u32,
    /// Lengths of a grid of nodes: `4x4x4`; empty if there is none.
    pub shape: String,
    /// Number of ranks.
    pub ranks: u32,
    /// Size of the whole vector \[B\]: the block of one pair of ranks is its part by the number of ranks.
    #[serde(rename = "size_B")]
    pub size_bytes: u64,
    /// Measured time \[s\].
    pub time_s: f64,
    /// Statistic of the time: `median of the slowest rank`; empty if unknown.
    pub statistic: String,
    /// 10 % quantile of the measured times \[s\].
    pub p10_s: Option<f64>,
    /// 90 % quantile of the measured times \[s\].
    pub p90_s: Option<f64>,
    /// Number of measured times.
    pub repetitions: Option<u64>,
    /// Name of the placement; empty if unknown.
    pub placement: String,
    /// Note of the source.
    pub note: String,
    /// Source of the row.
    pub source: String,
    /// Predicted time of each model \[s\]; null where there is none.
    pub predicted_s: Vec<Option<f64>>,
    /// Lower end of the interval around the first model's prediction \[s\].
    pub low_s: Option<f64>,
    /// Upper end of the interval \[s\].
    pub high_s: Option<f64>,
    /// Prediction of the first model over measured time \[1\]: below 1 the model is too fast.
    pub ratio: Option<f64>,
    /// True if the row counts in the errors.
    pub scored: bool,
    /// Reason why the row has no prediction or is not scored; empty if it is scored.
    pub reason: String,
}

/// Errors of one model over scored rows. The error of a row is a factor: the larger of predicted over measured
/// and measured over predicted, at least 1.
#[report]
pub struct MeasuredErrors {
    /// Model.
    pub model: String,
    /// Machine; absent for all.
    pub system: Option<String>,
    /// Operation; absent for all.
    pub operation: Option<String>,
    /// Class of sizes of the whole vector; absent for all.
    pub size: Option<String>,
    /// Number of scored rows that the model predicts.
    pub rows: usize,
    /// Median of the errors \[1\].
    pub median: f64,
    /// 90 % quantile of the errors \[1\].
    pub p90: f64,
    /// Share of rows whose prediction is within 25 % of the measured time.
    pub within_25: f64,
}

/// Reason, and the number of rows that have it.
#[report(Eq)]
pub struct ReasonCount {
    /// Reason in words.
    pub reason: String,
    /// Number of rows.
    pub rows: usize,
}

impl MeasuredRow {
    /// Largest part by which a prediction within the band differs from the measured time.
    pub const BAND: f64 = 0.25;

    /// Returns the prediction of a model over the measured time.
    pub fn ratio_of(&self, model: usize) -> Option<f64> {
        self.predicted_s.get(model).copied().flatten().map(|predicted| predicted / self.time_s)
    }

    /// Returns a name for tables and pictures: `Fugaku alltoall linear, 64 nodes`.
    pub fn name(&self) -> String {
        let Self { system, operation, algorithm, nodes, shape, .. } = self;
        match shape.is_empty() {
            true => format!("{system} {operation} {algorithm}, {nodes} nodes"),
            false => format!("{system} {operation} {algorithm}, {shape}"),
        }
    }
}

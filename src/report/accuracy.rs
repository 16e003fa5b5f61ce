//! Accuracy of flow models against packet models, as plain data: a map of errors, and the accuracy of one run
//! that follows from a map.

use std::collections::BTreeMap;

/// Version of the JSON format of [`Accuracy`].
pub const SCHEMA: &str = "hayase-accuracy-1";

/// Errors of flow models against packet models over many cases.
#[report]
pub struct Accuracy {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// Command or file that was asked for, for the title of tables and pictures.
    pub title: String,
    /// Version of the program that made the report.
    pub version: String,
    /// Rows, ordered by case, then by reference, then by model.
    pub rows: Vec<AccuracyRow>,
    /// Models that could not be run in a case.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// True if all runs were made; otherwise rows, or seeds of rows, are missing.
    pub complete: bool,
    /// Number of runs that were not made.
    #[serde(skip_serializing_if = "super::skip::is_zero")]
    pub missing_runs: u64,
}

/// Simulated case: everything that a model and its reference have in common.
#[report(Default)]
pub struct AccuracyCase {
    /// Topology, as named by the user.
    pub topology: String,
    /// Family of the fabric, with its number of dimensions if it has dimensions: `torus 2d`, `tree`.
    pub family: String,
    /// Number of nodes of the fabric.
    pub nodes: u32,
    /// Pattern, as named by the user.
    pub pattern: String,
    /// Kind of pattern: `all-to-all`, `random`, `permutation`, `incast` ...
    pub kind: String,
    /// Placement, as named by the user.
    pub placement: String,
    /// Routing rule.
    pub routing: String,
    /// Injection rule.
    pub injection: String,
    /// Values of the varied keys.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub varied: BTreeMap<String, String>,
    /// Mean size of a message \[B\].
    #[serde(rename = "size_B")]
    pub size_bytes: u64,
    /// Number of messages of one run.
    pub messages: u64,
}

/// Errors of one model against one reference in one case. An error is `model / reference - 1`: below 0 the
/// model is too fast.
#[report]
pub struct AccuracyRow {
    /// Simulated case.
    #[serde(flatten)]
    pub case: AccuracyCase,
    /// The model: `equal-share`, `redistribute`, `max-min`, `blocking`, `few-packets`.
    pub model: String,
    /// Virtual channels of `blocking`: those of the reference if it has them, otherwise the usual ones of the
    /// model.
    pub channels: Option<String>,
    /// Packet model that serves as the reference: `packet:oq`, `packet:fq`, `packet:iq:dateline` ...
    pub reference: String,
    /// Buffer of the reference, in packets; absent if there is no limit.
    #[always]
    pub buffer: Option<u32>,
    /// Packets of a mean message in the reference; present if these packets are few and large.
    pub packets_per_message: Option<u32>,
    /// Seeds of the model and the reference.
    pub seeds: Vec<u64>,
    /// Error of the mean makespan over the seeds.
    pub makespan_error: f64,
    /// Smallest error of the makespan of a single seed.
    pub makespan_error_min: f64,
    /// Largest error of the makespan of a single seed.
    pub makespan_error_max: f64,
    /// Error of the time at which a rank's last message has arrived, averaged over ranks and seeds.
    pub mean_finish_error: f64,
    /// Error of the time that a message is under way, 5 % quantile: 5 of 100 messages have a lower error.
    /// Quantiles are computed for each seed and averaged over the seeds.
    pub time_error_q05: f64,
    /// Median of the same error: half of the messages have a lower error.
    pub time_error_q50: f64,
    /// 95 % quantile of the same error: 95 of 100 messages have a lower error.
    pub time_error_q95: f64,
    /// Mean makespan of the model \[s\].
    pub model_makespan_s: f64,
    /// Mean makespan of the reference \[s\].
    pub reference_makespan_s: f64,
    /// Sample standard deviation of the reference's makespans over their mean. Errors below it are not
    /// significant.
    pub reference_spread: f64,
    /// Processor time of one run of the model \[s\]. It differs from machine to machine, as do the next two
    /// figures.
    pub model_cpu_s: f64,
    /// Processor time of one run of the reference \[s\].
    pub reference_cpu_s: f64,
    /// `reference_cpu_s / model_cpu_s`: the speedup of the model.
    pub speed_ratio: f64,
}

/// Model that was not run in a case.
#[report(Eq)]
pub struct LeftOut {
    /// Case, in words.
    pub case: String,
    /// Model or reference.
    pub model: String,
    /// Reason why it was left out.
    pub reason: String,
}

/// Accuracy to expect of a run, from a map of errors.
#[report(Default)]
pub struct KnownAccuracy {
    /// Model of the run.
    pub model: String,
    /// Errors of the makespan by kind of switch, of this model and of others. Empty if the map has no case
    /// near the run.
    pub against: Vec<ErrorRange>,
    /// Cases of the map that are near the run, in words: `torus-16x16, all-to-all-pairwise, 1 MB, random`.
    /// Empty if there are none.
    pub cases: Vec<String>,
    /// Version of the map.
    pub map: String,
    /// Ratios of measured collectives near the run; absent if there are none.
    pub measured: Option<String>,
    /// Summary in one sentence.
    pub text: String,
    /// Sentence about effects that the model leaves out, present if they take a tenth of a message's time or
    /// more.
    pub leaves_out: Option<String>,
}

/// Range of the makespan errors of a model over near cases.
#[report]
pub struct ErrorRange {
    /// Model.
    pub model: String,
    /// Kind of switch: `input-queued`, `output-queued`, `fair-queued`.
    pub switches: String,
    /// Smallest error of the makespan; 0.1 means 10 % too long.
    pub low: f64,
    /// Largest error of the makespan.
    pub high: f64,
    /// Number of rows of the map behind the range.
    pub rows: u32,
}

impl AccuracyRow {
    /// Error above which a row is marked.
    pub const MARKED: f64 = 0.1;
}

impl AccuracyCase {
    /// Returns a name for messages and headings: `all-to-all-pairwise on torus-4x4, random`.
    pub fn name(&self) -> String {
        let varied = self.varied.iter().map(|(key, value)| format!(", {key} {value}"));
        let injection = if self.injection == "queue" { String::new() } else { format!(", {}", self.injection) };
        let Self { pattern, topology, placement, .. } = self;
        format!("{pattern} on {topology}, {placement}{injection}{}", varied.collect::<String>())
    }
}

//! How far models of messages lie from packets, as plain data: of a map, and what a map says of a run.

use std::collections::BTreeMap;

/// The version of the form of [`Accuracy`] in JSON.
pub const SCHEMA: &str = "hayase-accuracy-1";

/// Models of messages beside models of packets, over cases.
#[report]
pub struct Accuracy {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// What was asked for, for the title of tables and pictures.
    pub title: String,
    /// The version of the program that made it.
    pub version: String,
    /// By case, then by reference, then by model.
    pub rows: Vec<AccuracyRow>,
    /// Models that could not be played in a case.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// Whether all runs were made; else rows, or seeds of rows, are missing.
    pub complete: bool,
    /// Runs that were not made.
    #[serde(skip_serializing_if = "is_none")]
    pub missing_runs: u64,
}

/// Whether a number of things is none.
fn is_none(count: &u64) -> bool {
    *count == 0
}

/// What is simulated: all that a model and its reference have in common.
#[report(Default)]
pub struct AccuracyCase {
    /// The topology as named.
    pub topology: String,
    /// What kind of fabric it is, with its number of dimensions where it has some: `torus 2d`, `tree`.
    pub family: String,
    /// Nodes of the fabric.
    pub nodes: u32,
    /// The pattern as named.
    pub pattern: String,
    /// What kind of pattern it is: `all-to-all`, `random`, `permutation`, `incast` ...
    pub kind: String,
    /// The placement as named.
    pub placement: String,
    /// The routing rule.
    pub routing: String,
    /// The injection rule.
    pub injection: String,
    /// The values of the keys that are varied.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub varied: BTreeMap<String, String>,
    /// Size of a message on average \[B\].
    #[serde(rename = "size_B")]
    pub size_bytes: u64,
    /// Messages of one run.
    pub messages: u64,
}

/// One model beside one reference in one case. An error is `model / reference - 1`: below 0 the model is too fast.
#[report]
pub struct AccuracyRow {
    /// What is simulated.
    #[serde(flatten)]
    pub case: AccuracyCase,
    /// The model: `equal-share`, `redistribute`, `max-min`, `blocking`, `few-packets`.
    pub model: String,
    /// The virtual channels of `blocking`; those of the reference where it knows them, else its usual ones.
    pub channels: Option<String>,
    /// The packet model it is held against: `packet:oq`, `packet:fq`, `packet:iq:dateline` ...
    pub reference: String,
    /// Packets of a buffer of the reference; none where there is no limit.
    #[always]
    pub buffer: Option<u32>,
    /// Packets of a mean message of the reference, where its packets are few and large.
    pub packets_per_message: Option<u32>,
    /// The seeds of both.
    pub seeds: Vec<u64>,
    /// Of the mean makespan over the seeds.
    pub makespan_error: f64,
    /// The least of the errors of the makespan, seed by seed.
    pub makespan_error_min: f64,
    /// The largest.
    pub makespan_error_max: f64,
    /// Of the time at which a rank's last message has arrived, averaged over ranks and seeds.
    pub mean_finish_error: f64,
    /// Of the time that each message is under way: 5 of 100 messages have a lower error. Quantiles are means over the
    /// seeds of those of each.
    pub time_error_q05: f64,
    /// Half of the messages have a lower error.
    pub time_error_q50: f64,
    /// 95 of 100 messages have a lower error.
    pub time_error_q95: f64,
    /// Mean makespan of the model \[s\].
    pub model_makespan_s: f64,
    /// Mean makespan of the reference \[s\].
    pub reference_makespan_s: f64,
    /// Sample standard deviation of the reference's makespans over their mean: errors below it say little.
    pub reference_spread: f64,
    /// Processor time of one run of the model \[s\]; differs from machine to machine, as the two below.
    pub model_cpu_s: f64,
    /// Processor time of one run of the reference \[s\].
    pub reference_cpu_s: f64,
    /// `reference_cpu_s / model_cpu_s`: how many times faster the model is.
    pub speed_ratio: f64,
}

/// A model that was not played in a case.
#[report(Eq)]
pub struct LeftOut {
    /// The case, in words.
    pub case: String,
    /// The model or reference.
    pub model: String,
    /// Why.
    pub reason: String,
}

/// What a map of errors says of runs like this one.
#[report]
pub struct KnownAccuracy {
    /// The model of the run.
    pub model: String,
    /// By kind of switch: how far makespans of the model, and of others, were off. Empty where no case is near.
    pub against: Vec<ErrorRange>,
    /// The cases it is from, in words: `torus-16x16, all-to-all-pairwise, 1 MB, random`. Empty where none is near.
    pub cases: Vec<String>,
    /// The version of the map.
    pub map: String,
    /// One sentence that says it.
    pub text: String,
    /// A sentence on what the model leaves out, where that takes a tenth of a message's time or more.
    pub leaves_out: Option<String>,
}

/// How far the makespans of a model were off over near cases.
#[report]
pub struct ErrorRange {
    /// The model.
    pub model: String,
    /// The switches: `input-queued`, `output-queued`, `fair-queued`.
    pub switches: String,
    /// The least error of the makespan; 0.1 is 10 % too long.
    pub low: f64,
    /// The largest.
    pub high: f64,
    /// Rows of the map it is from.
    pub rows: u32,
}

impl AccuracyRow {
    /// An error beyond this is marked.
    pub const MARKED: f64 = 0.1;
}

impl AccuracyCase {
    /// What it is, for messages and headings: `all-to-all-pairwise on torus-4x4, random`.
    pub fn name(&self) -> String {
        let varied = self.varied.iter().map(|(key, value)| format!(", {key} {value}"));
        let injection = if self.injection == "queue" { String::new() } else { format!(", {}", self.injection) };
        let Self { pattern, topology, placement, .. } = self;
        format!("{pattern} on {topology}, {placement}{injection}{}", varied.collect::<String>())
    }
}

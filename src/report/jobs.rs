//! Report of several jobs on one fabric.

use super::{Bounds, Gridlock, Head, Meta};

/// Version of the JSON format of [`JobsReport`].
pub const JOBS_SCHEMA: &str = "hayase-jobs-1";

/// Results of several jobs on one fabric.
#[report(Default)]
pub struct JobsReport {
    /// Head of the report. The makespan is the end of the last job that is not a background job.
    #[serde(flatten)]
    pub head: Head,
    /// Fabric, for people.
    pub fabric: String,
    /// Jobs, in their order.
    pub jobs: Vec<JobReport>,
    /// The ten most used links that several jobs used, largest bytes over capacity first.
    pub meetings: Vec<Meeting>,
    /// Delays between each pair of jobs, if asked for and the run is complete.
    pub interference: Option<Vec<Interference>>,
    /// Lower bounds of the makespan, for the jobs that are not background jobs.
    pub bounds: Bounds,
    /// `makespan / largest bound`.
    pub ratio_to_bound: f64,
    /// `makespan / optimum_at_least_s`, if the optimum was asked for.
    pub ratio_to_optimum: Option<f64>,
    /// Channels that wait for each other, if packets block each other forever.
    pub gridlock: Option<Gridlock>,
    /// Figures that may differ from machine to machine.
    pub meta: Meta,
}

/// Result of a job.
#[report(Default)]
pub struct JobReport {
    /// Name of the job.
    pub name: String,
    /// Workload of the job, for people.
    pub workload: String,
    /// Number of ranks of the job.
    pub ranks: u32,
    /// Placement of the job: the rule, a file, or a list of nodes.
    pub placement: String,
    /// Node of each rank.
    pub nodes: Vec<u32>,
    /// True if the job runs in the background, as long as other jobs do.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
    /// First start of the job \[s\]; absent if it never started.
    #[always]
    pub start_s: Option<f64>,
    /// Last end of the job \[s\]; absent if it never ended.
    #[always]
    pub end_s: Option<f64>,
    /// Reason why the job never started, or never ended.
    pub unfinished: Option<&'static str>,
    /// Number of repetitions.
    pub repetitions: u64,
    /// Time from the start of the job to its end \[s\], averaged over its repetitions. Absent for a
    /// background job.
    pub makespan_s: Option<f64>,
    /// Shortest of several repetitions \[s\].
    pub min_s: Option<f64>,
    /// Longest of several repetitions \[s\].
    pub max_s: Option<f64>,
    /// Time of one repetition with no other job on the fabric \[s\], if it was computed.
    pub alone_s: Option<f64>,
    /// `makespan / alone`.
    pub slowdown: Option<f64>,
    /// Number of messages delivered.
    pub messages: u64,
    /// Bytes delivered \[B\].
    pub bytes: u64,
    /// Time that its messages were under way, over the time that each would have taken with the network to
    /// itself, both summed over all messages. It counts delays by messages of this job and of others.
    pub contention: f64,
    /// Time that its messages lost to faults, summed over messages \[s\]. Present if interference was asked
    /// for and links change while jobs run.
    pub fault_delay_s: Option<f64>,
}

/// Link that several jobs used, at the same time or not.
#[report]
pub struct Meeting {
    /// Name of the link.
    pub link: String,
    /// Capacity of the link \[B/s\].
    pub capacity_bps: f64,
    /// `bytes of all jobs / (capacity * makespan)`.
    pub utilisation: f64,
    /// Bytes of each job on the link, most first.
    pub jobs: Vec<Carried>,
}

/// Time that the messages of a job lost to those of another job, or to other messages of the same job.
#[report]
pub struct Interference {
    /// Job that was delayed.
    pub victim: String,
    /// Job that caused the delay.
    pub culprit: String,
    /// Delay, summed over the messages of the victim \[s\].
    pub delay_s: f64,
}

/// Bytes of one job on a link.
#[report]
pub struct Carried {
    /// Name of the job.
    pub job: String,
    /// Bytes carried \[B\].
    pub bytes: u64,
}

/// Load of a link by several jobs.
#[report]
pub struct JobsLink {
    /// Number of the link.
    pub id: u32,
    /// Name of the link.
    pub name: String,
    /// Capacity of the link \[B/s\].
    pub capacity_bps: f64,
    /// Bytes carried \[B\].
    pub bytes: u64,
    /// `bytes / (capacity * makespan)`.
    pub utilisation: f64,
    /// Bytes carried for each job \[B\].
    pub by_job: Vec<u64>,
}

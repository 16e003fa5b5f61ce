//! The report of several jobs on one fabric.

use super::{Bounds, Gridlock, Head, Meta};

/// The version of the form of [`JobsReport`] in JSON.
pub const JOBS_SCHEMA: &str = "hayase-jobs-1";

/// What came out of several jobs on one fabric.
#[report(Default)]
pub struct JobsReport {
    /// What every report begins with; the makespan is when the last job ended that is no background.
    #[serde(flatten)]
    pub head: Head,
    /// The fabric, for people.
    pub fabric: String,
    /// The jobs, in their order.
    pub jobs: Vec<JobReport>,
    /// The links that several jobs used, most bytes over capacity first.
    pub meetings: Vec<Meeting>,
    /// Who delays whom: each pair of jobs, where that was asked for and the run is complete.
    pub interference: Option<Vec<Interference>>,
    /// Lower bounds of the makespan, of the jobs that are no background.
    pub bounds: Bounds,
    /// `makespan / largest bound`.
    pub ratio_to_bound: f64,
    /// Which channels wait for each other, where packets block each other for ever.
    pub gridlock: Option<Gridlock>,
    /// What may differ from machine to machine.
    pub meta: Meta,
}

/// What became of a job.
#[report(Default)]
pub struct JobReport {
    /// Its name.
    pub name: String,
    /// What it does, for people.
    pub workload: String,
    /// Its ranks.
    pub ranks: u32,
    /// How it was placed: the rule, a file, or a list of nodes.
    pub placement: String,
    /// By rank: its node.
    pub nodes: Vec<u32>,
    /// Whether it goes on as long as others do.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
    /// When it began for the first time \[s\]; nothing of a job that never began.
    #[always]
    pub start_s: Option<f64>,
    /// When it ended for the last time \[s\]; nothing of a job that never ended.
    #[always]
    pub end_s: Option<f64>,
    /// Why it never began, or never ended.
    pub unfinished: Option<&'static str>,
    /// How often it was done.
    pub repetitions: u64,
    /// From its beginning to its end, on average over its repetitions \[s\]; nothing of a background.
    pub makespan_s: Option<f64>,
    /// The shortest of several repetitions \[s\].
    pub min_s: Option<f64>,
    /// The longest of them \[s\].
    pub max_s: Option<f64>,
    /// The same with nobody else on the fabric, done once \[s\]; where that was worked out.
    pub alone_s: Option<f64>,
    /// `makespan / alone`.
    pub slowdown: Option<f64>,
    /// Messages delivered.
    pub messages: u64,
    /// Their bytes \[B\].
    pub bytes: u64,
    /// Time its messages were under way over the time that each would have taken with the network to itself, both
    /// summed over all messages: by its own messages and by those of others.
    pub contention: f64,
    /// Time that its messages lost to faults, summed over messages \[s\]; where interference was asked for and links
    /// change while jobs run.
    pub fault_delay_s: Option<f64>,
}

/// A link that several jobs used, at the same time or not.
#[report]
pub struct Meeting {
    /// Its name.
    pub link: String,
    /// Its capacity \[B/s\].
    pub capacity_bps: f64,
    /// `bytes of all jobs / (capacity * makespan)`.
    pub utilisation: f64,
    /// What it carried of each job, most first.
    pub jobs: Vec<Carried>,
}

/// What the messages of a job lost to those of another, or to those of their own.
#[report]
pub struct Interference {
    /// The job that lost it.
    pub victim: String,
    /// The job to which.
    pub culprit: String,
    /// Summed over the messages of the victim \[s\].
    pub delay_s: f64,
}

/// What a link carried of a job.
#[report]
pub struct Carried {
    /// The name of the job.
    pub job: String,
    /// \[B\]
    pub bytes: u64,
}

/// What a link carried of several jobs.
#[report]
pub struct JobsLink {
    /// Its number.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// Its capacity \[B/s\].
    pub capacity_bps: f64,
    /// What it carried \[B\].
    pub bytes: u64,
    /// `bytes / (capacity * makespan)`.
    pub utilisation: f64,
    /// What it carried of each job \[B\].
    pub by_job: Vec<u64>,
}

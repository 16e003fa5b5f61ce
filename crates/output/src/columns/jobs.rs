//! Columns of several jobs on one fabric: results of each job, its messages, and the links.

use hayase::columns::{Blank, Columns, Quantity};
use hayase::prediction::program::ranges;
use hayase::report::{ComparedJob, ComparisonRow, Interference, JobReport, JobsLink, MessageRecord};

use super::runs::messages;

/// Message of a job.
#[derive(Clone, Copy, Debug)]
pub struct JobMessage<'a> {
    /// Name of the job.
    pub job: &'a str,
    /// The message; its ranks are those of the job, from 0.
    pub message: MessageRecord,
}

/// Returns the columns of messages of jobs.
pub fn job_messages<'a>() -> Columns<'a, JobMessage<'a>> {
    Columns::<JobMessage<'a>>::new().text("job", |row| row.job).join(|row| &row.message, messages())
}

/// Returns the nodes of these ranks, each once, as ranges: `0-17,36`.
pub fn nodes(of_ranks: &[u32]) -> String {
    let mut nodes = of_ranks.to_vec();
    nodes.sort_unstable();
    nodes.dedup();
    ranges(&nodes)
}

/// Returns the columns of jobs; unknown values are empty.
pub fn jobs<'a>() -> Columns<'a, JobReport> {
    Columns::<JobReport>::new()
        .text("job", |job| &job.name)
        .count("ranks", |job| job.ranks)
        .words("nodes", |job| nodes(&job.nodes))
        .time("start_s", |job| job.start_s)
        .time("end_s", |job| job.end_s)
        .count("repetitions", |job| job.repetitions)
        .time("makespan_s", |job| job.makespan_s)
        .time("min_s", |job| job.min_s)
        .time("max_s", |job| job.max_s)
        .time("alone_s", |job| job.alone_s)
        .ratio("slowdown", 3, |job| job.slowdown)
        .count("messages", |job| job.messages)
        .quantity("bytes", Quantity::Bytes, |job| job.bytes)
        .ratio("contention", 3, |job| job.contention)
        .time("fault_delay_s", |job| job.fault_delay_s)
}

/// Returns the columns of the delay between each pair of jobs.
pub fn interference<'a>() -> Columns<'a, Interference> {
    Columns::<Interference>::new()
        .text("victim", |pair| &pair.victim)
        .text("culprit", |pair| &pair.culprit)
        .time("delay_s", |pair| pair.delay_s)
}

/// Returns the columns of the data on each link, with a column `bytes of NAME` for each of these jobs.
pub fn job_links<'a, 'n>(jobs: impl IntoIterator<Item = &'n str>) -> Columns<'a, JobsLink> {
    let columns = Columns::<JobsLink>::new()
        .id("id", |link| link.id)
        .text("name", |link| &link.name)
        .quantity("capacity_Bps", Quantity::Bandwidth, |link| link.capacity_bps)
        .quantity("bytes", Quantity::Bytes, |link| link.bytes)
        .part("utilisation", |link| link.utilisation);
    jobs.into_iter().enumerate().fold(columns, |columns, (at, job)| {
        let carried = move |link: &JobsLink| link.by_job.get(at).copied().unwrap_or(0);
        columns.quantity(format!("bytes of {job}"), Quantity::Bytes, carried)
    })
}

/// Returns the columns of the jobs of a comparison: the choices, then the results of the job.
pub fn compared_jobs(rows: &[ComparisonRow]) -> Columns<'_, (&ComparisonRow, &ComparedJob)> {
    type Row<'a> = (&'a ComparisonRow, &'a ComparedJob);
    let names = rows.first().map(ComparisonRow::names).unwrap_or_default();
    let choices = names.into_iter().enumerate().fold(Columns::<Row<'_>>::new(), |columns, (at, name)| {
        columns.text(name, move |(row, _)| row.choices().get(at).copied().unwrap_or_default())
    });
    choices
        .count("seeds", |(row, _)| row.makespan.seeds.len())
        .id("place", |(row, _)| row.place)
        .text("job", |(_, job)| &job.name)
        .id("ranks", |(_, job)| job.ranks)
        .time("makespan_s", |(_, job)| job.makespan_s)
        .time("alone_s", |(_, job)| job.alone_s)
        .ratio("slowdown", 3, |(_, job)| Blank(job.slowdown))
        .ratio("slowdown_sd", 3, |(_, job)| Blank(job.slowdown_sd))
}

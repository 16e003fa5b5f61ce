//! CSV of records, comparisons and predictions. A header line comes first. The columns are those of
//! [`mod@crate::columns`]; [`hayase::columns::csv`] writes them.

mod beside;
mod jobs;

use std::borrow::Borrow;
use std::io::{self, Write};
use std::sync::Arc;

use crate::columns;
use hayase::columns::Columns;
use hayase::columns::csv::{Lines, write};
use hayase::fabric::Fabric;
use hayase::player::{Activity, Transfer};
use hayase::program::Program;
use hayase::record::{Matrix, PathStep};
use hayase::report::replay::{LateRank, RankReport};
use hayase::report::whatif::WhatIfReport;
use hayase::report::{
    Accuracy, Benchmark, Comparison, Difference, FarmReport, JobsLink, JobsReport, LinkUse, MeasuredReport,
    MessageRecord, NcclReport, NoiseReport, OperationComparison, PlanReport, Rate,
};
use hayase::steady::WeightedPath;

pub use beside::MessagesBeside;
pub use jobs::JobMessages;

/// Writer of messages, as they are delivered.
pub type Messages<W> = Lines<'static, MessageRecord, W>;

/// Writer of the messages of a program, as they are received.
pub type Transfers<W> = Lines<'static, Transfer, W>;

/// Writer of the activities of ranks, as they end.
pub type Activities<W> = Lines<'static, Activity, W>;

/// Writes the algorithms of a collective operation.
///
/// # Errors
/// Failures of `writer`.
pub fn operation<W: Write>(comparison: &OperationComparison, writer: W) -> io::Result<()> {
    write(columns::operation(comparison), &comparison.rows, writer)
}

/// Writes weighted paths, as `--routing paths:FILE` reads them.
///
/// # Errors
/// Failures of `writer`.
pub fn paths<W: Write>(paths: &[WeightedPath], fabric: &Fabric, writer: W) -> io::Result<()> {
    let columns = Columns::<WeightedPath>::new()
        .words("src", |path| fabric.vertex_name(path.src))
        .words("dst", |path| fabric.vertex_name(path.dst))
        .id("weight", |path| path.weight)
        .words("path", |path| fabric.path_name(&path.links));
    write(columns, paths, writer)
}

/// Begins a table of messages.
///
/// # Errors
/// Failures of `writer`.
pub fn messages<W: Write>(writer: W) -> io::Result<Messages<W>> {
    Lines::new(columns::messages(), writer)
}

/// Begins a table of the messages of a program.
///
/// # Errors
/// Failures of `writer`.
pub fn transfers<W: Write>(writer: W, program: Arc<Program>) -> io::Result<Transfers<W>> {
    Lines::new(columns::transfers(program).without("leave"), writer)
}

/// Begins a table of the activities of ranks.
///
/// # Errors
/// Failures of `writer`.
pub fn activities<W: Write>(writer: W) -> io::Result<Activities<W>> {
    Lines::new(columns::activities(), writer)
}

/// Writes the critical path, a line for each step, in order of time.
///
/// # Errors
/// Failures of `writer`.
pub fn path(steps: &[PathStep], writer: impl Write) -> io::Result<()> {
    write(columns::path(), steps, writer)
}

/// Writes the communication matrix, a line for each pair of ranks with messages.
///
/// # Errors
/// Failures of `writer`.
pub fn matrix(matrix: &Matrix, writer: impl Write) -> io::Result<()> {
    write(columns::matrix(), matrix.iter(), writer)
}

/// Writes the time of ranks by kind of activity and, if `known`, their lateness.
///
/// # Errors
/// Failures of `writer`.
pub fn ranks(ranks: &[RankReport], late: &[LateRank], known: bool, writer: impl Write) -> io::Result<()> {
    let mut of_rank: Vec<Option<&LateRank>> = vec![None; ranks.len()];
    for row in late {
        if let Some(of_rank) = of_rank.get_mut(row.rank as usize) {
            *of_rank = Some(row);
        }
    }
    write(columns::ranks_with_late(known), ranks.iter().copied().zip(of_rank), writer)
}

/// Writes the delay of each rank by slow ranks.
///
/// # Errors
/// Failures of `writer`.
pub fn noise(noise: &NoiseReport, writer: impl Write) -> io::Result<()> {
    write(columns::noise(), &noise.ranks, writer)
}

/// Writes all links. If any link has failed, a column `failed` (0 or 1) is added.
///
/// # Errors
/// Failures of `writer`.
pub fn links<L: Borrow<LinkUse>>(links: impl Iterator<Item = L> + Clone, writer: impl Write) -> io::Result<()> {
    let any_failed = links.clone().any(|link| link.borrow().failed);
    let columns = columns::links();
    let columns = columns.when(any_failed, |columns| columns.id("failed", |link| u32::from(link.failed)));
    write(columns, links, writer)
}

/// Writes the bytes of each of these jobs on each link.
///
/// # Errors
/// Failures of `writer`.
pub fn job_links<'a>(
    links: &[JobsLink],
    jobs: impl IntoIterator<Item = &'a str>,
    writer: impl Write,
) -> io::Result<()> {
    write(columns::job_links(jobs), links, writer)
}

/// Writes jobs.
///
/// # Errors
/// Failures of `writer`.
pub fn jobs(report: &JobsReport, writer: impl Write) -> io::Result<()> {
    write(columns::jobs(), &report.jobs, writer)
}

/// Writes the delay that each job causes each other job, a line for each pair.
///
/// # Errors
/// Failures of `writer`.
pub fn interference(report: &JobsReport, writer: impl Write) -> io::Result<()> {
    write(columns::interference(), report.interference.iter().flatten(), writer)
}

/// Writes rates.
///
/// # Errors
/// Failures of `writer`.
pub fn rates(rates: &[Rate], writer: impl Write) -> io::Result<()> {
    write(columns::rates(), rates, writer)
}

/// Writes the rows of a comparison, best first in each job.
///
/// # Errors
/// Failures of `writer`.
pub fn comparison(comparison: &Comparison, writer: impl Write) -> io::Result<()> {
    write(columns::comparison(comparison), &comparison.rows, writer)
}

/// Writes a line for each job of each row of a comparison: the choices, then the results of the job.
///
/// # Errors
/// Failures of `writer`.
pub fn compared_jobs(comparison: &Comparison, writer: impl Write) -> io::Result<()> {
    let rows = comparison.rows.iter().flat_map(|row| row.jobs.iter().map(move |job| (row, job)));
    write(columns::compared_jobs(&comparison.rows), rows, writer)
}

/// Writes the errors of models, a line for each model, reference and case.
///
/// # Errors
/// Failures of `writer`.
pub fn accuracy(accuracy: &Accuracy, writer: impl Write) -> io::Result<()> {
    write(columns::accuracy(accuracy), &accuracy.rows, writer)
}

/// Writes measured collectives with their predictions, a line for each row in the order of the files.
///
/// # Errors
/// Failures of `writer`.
pub fn measured(report: &MeasuredReport, writer: impl Write) -> io::Result<()> {
    write(columns::measured(report), &report.rows, writer)
}

/// Writes NCCL's choices.
///
/// # Errors
/// Failures of `writer`.
pub fn nccl(report: &NcclReport, writer: impl Write) -> io::Result<()> {
    write(columns::nccl(report), &report.rows, writer)
}

/// Writes the keys of two reports with other values, those of the scenario first.
///
/// # Errors
/// Failures of `writer`.
pub fn difference(difference: &Difference, writer: impl Write) -> io::Result<()> {
    write(columns::other_values(), difference.scenario.iter().chain(&difference.result), writer)
}

/// Writes the rows of a benchmark.
///
/// # Errors
/// Failures of `writer`.
pub fn benchmark(benchmark: &Benchmark, writer: impl Write) -> io::Result<()> {
    write(columns::benchmark(benchmark), &benchmark.rows, writer)
}

/// Writes predictions of a master/slave program, a line each.
///
/// # Errors
/// Failures of `writer`.
pub fn predictions(report: &FarmReport, writer: impl Write) -> io::Result<()> {
    write(columns::predictions(report), &report.predictions, writer)
}

/// Writes the tasks that a plan proposes, a line each.
///
/// # Errors
/// Failures of `writer`.
pub fn points(plan: &PlanReport, writer: impl Write) -> io::Result<()> {
    write(columns::points(plan), &plan.next, writer)
}

/// Writes the predicted time over each parameter, a line for each value. The unchanged run comes first.
///
/// # Errors
/// Failures of `writer`.
pub fn whatif(report: &WhatIfReport, writer: impl Write) -> io::Result<()> {
    let (columns, rows) = columns::whatif(report);
    write(columns, rows, writer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> String {
        let mut bytes = Vec::new();
        write(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn messages_have_a_line_each() {
        let mut messages = super::messages(Vec::new()).unwrap();
        messages.write(&MessageRecord { src: 0, dst: 1, index: 2, bytes: 20_000, start_s: 20e-6, end_s: 40e-6 });
        let text = String::from_utf8(messages.finish().unwrap()).unwrap();
        assert_eq!(text, "src,dst,index,bytes,start_s,end_s\n0,1,2,20000,0.00002,0.00004\n");
    }

    #[test]
    fn a_failure_of_the_disk_is_told_at_the_end() {
        struct Full(usize);
        impl Write for Full {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                if self.0 < bytes.len() {
                    return Err(io::ErrorKind::StorageFull.into());
                }
                self.0 -= bytes.len();
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut messages = super::messages(Full(40)).unwrap();
        for index in 0..10 {
            messages.write(&MessageRecord { src: 0, dst: 1, index, bytes: 1, start_s: 0.0, end_s: 1.0 });
        }
        assert!(messages.failed());
        assert_eq!(messages.finish().err().map(|error| error.kind()), Some(io::ErrorKind::StorageFull));
    }

    #[test]
    fn names_with_commas_are_quoted() {
        let link = LinkUse {
            id: 3,
            failed: false,
            name: "a \"b\", c".into(),
            capacity_bps: 1e9,
            bytes: 20_000,
            busy_s: 20e-6,
            utilisation: 0.5,
            peak_flows: 2,
            mean_flows: 1.5,
            peak_queue: 0,
            mean_queue: 0.0,
            blocked_s: 0.0,
            delay_s: 0.0,
        };
        let text = written(|w| links([&link].into_iter(), w));
        assert_eq!(text.lines().nth(1), Some("3,\"a \"\"b\"\", c\",1000000000,20000,0.00002,0.5,2,1.5,0,0,0,0"));
    }

    #[test]
    fn a_message_that_crosses_no_link_has_an_infinite_rate_and_no_bottleneck() {
        let rate = |dst, rate_bps, bottleneck| Rate { src: 0, dst, rate_bps, bottleneck };
        let list = [rate(0, f64::INFINITY, None), rate(1, 1e9 / 3.0, Some("node 0 -> switch 0".to_owned()))];
        let text = written(|w| rates(&list, w));
        assert_eq!(text, "src,dst,rate_Bps,bottleneck\n0,0,inf,\n0,1,333333333.3333333,node 0 -> switch 0\n");
    }
}

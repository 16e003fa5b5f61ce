//! CSV: messages, links, rates, comparisons and benchmarks, a header line first.
//!
//! Numbers are in base units (s, B, B/s, as the column's name says) and the shortest text that reads back to the same
//! value; infinite ones are `inf`, and what is not known is empty.

mod accuracy;
mod beside;
mod farm;
mod jobs;
mod lines;

use std::borrow::Borrow;
use std::io::{self, Write};
use std::sync::Arc;

use serde_json::ser::{CompactFormatter, Formatter};

use hayase::player::{Activity, Transfer};
use hayase::prediction::program::ranges;
use hayase::program::Program;
use hayase::record::{Matrix, PathStep};
use hayase::report::replay::{LateRank, RankReport};
use hayase::report::whatif::WhatIfReport;
use hayase::report::{
    Benchmark, Comparison, Estimated, Interference, JobsReport, LinkUse, MessageRecord, NoiseReport, PATTERN, Rate,
};

use lines::Lines;

pub use accuracy::accuracy;
pub use beside::MessagesBeside;
pub use farm::{points, predictions};
pub use jobs::{JobMessages, compared_jobs, job_links};

/// Writes messages as they are delivered, a line each: `src,dst,index,bytes,start_s,end_s`.
///
/// `src` and `dst` are ranks, `index` counts the sender's messages from 0. A run of millions of messages goes
/// through here, so nothing is allocated; give it a buffered writer.
#[derive(Debug)]
pub struct Messages<W> {
    lines: Lines<W>,
}

impl<W: Write> Messages<W> {
    /// Writes the header.
    ///
    /// # Errors
    /// Where `writer` fails.
    pub fn new(writer: W) -> io::Result<Self> {
        Ok(Self { lines: Lines::new(writer, "src,dst,index,bytes,start_s,end_s\n")? })
    }

    /// Writes one line; the first failure is kept for [`finish`](Self::finish) and nothing is written after it.
    pub fn write(&mut self, message: &MessageRecord) {
        self.lines.write(|w| {
            integer(w, message.src.into())?;
            w.write_all(b",")?;
            integer(w, message.dst.into())?;
            w.write_all(b",")?;
            integer(w, message.index.into())?;
            w.write_all(b",")?;
            integer(w, message.bytes)?;
            w.write_all(b",")?;
            number(w, message.start_s)?;
            w.write_all(b",")?;
            number(w, message.end_s)?;
            w.write_all(b"\n")
        });
    }

    /// Whether a write has failed: then going on is in vain.
    pub fn failed(&self) -> bool {
        self.lines.failed()
    }

    /// The writer, all lines being written.
    ///
    /// # Errors
    /// The first failure of the writer.
    pub fn finish(self) -> io::Result<W> {
        self.lines.finish()
    }
}

/// The critical path: `rank,kind,begin_s,end_s,op,message,peer`, a line for each step, in order of time.
///
/// # Errors
/// Where `writer` fails.
pub fn path(steps: &[PathStep], mut w: impl Write) -> io::Result<()> {
    w.write_all(b"rank,kind,begin_s,end_s,op,message,peer\n")?;
    for step in steps {
        write!(w, "{},{},", step.rank, step.kind.name())?;
        number(&mut w, step.begin.seconds())?;
        w.write_all(b",")?;
        number(&mut w, step.end.seconds())?;
        for value in [step.op, step.message, step.peer.map(|peer| peer.0)] {
            w.write_all(b",")?;
            if let Some(value) = value {
                integer(&mut w, value.into())?;
            }
        }
        w.write_all(b"\n")?;
    }
    Ok(())
}

/// The communication matrix: `src,dst,messages,bytes`, a line for each pair of ranks with messages.
///
/// # Errors
/// Where `writer` fails.
pub fn matrix(matrix: &Matrix, mut w: impl Write) -> io::Result<()> {
    w.write_all(b"src,dst,messages,bytes\n")?;
    for (src, dst, messages, bytes) in matrix.iter() {
        writeln!(w, "{src},{dst},{messages},{bytes}")?;
    }
    Ok(())
}

/// Writes the messages of a program as they are received, a line each:
/// `message,src,dst,tag,comm,bytes,sent_by,received_by,called_s,arrive_s,end_s`; what is not known of it, as of a
/// message inside a collective, is empty.
#[derive(Debug)]
pub struct Transfers<W> {
    lines: Lines<W>,
    program: Arc<Program>,
}

impl<W: Write> Transfers<W> {
    /// Writes the header.
    ///
    /// # Errors
    /// Where `writer` fails.
    pub fn new(writer: W, program: Arc<Program>) -> io::Result<Self> {
        let lines = Lines::new(writer, "message,src,dst,tag,comm,bytes,sent_by,received_by,called_s,arrive_s,end_s\n")?;
        Ok(Self { lines, program })
    }

    /// Writes one line; the first failure is kept for [`finish`](Self::finish) and nothing is written after it.
    pub fn write(&mut self, transfer: &Transfer) {
        let Self { lines, program } = self;
        lines.write(|w| {
            let sent = transfer.op.and_then(|op| program.rank(transfer.src).ops.get(op as usize));
            write!(w, "{},{},{},", transfer.message, transfer.src, transfer.dst)?;
            match sent {
                Some(op) => write!(w, "{},{},", op.tag, op.arg)?,
                None => w.write_all(b",,")?,
            }
            integer(w, transfer.bytes)?;
            for op in [transfer.op, transfer.received_by] {
                w.write_all(b",")?;
                if let Some(op) = op {
                    integer(w, op.into())?;
                }
            }
            for time in [transfer.called, transfer.arrive, transfer.end] {
                w.write_all(b",")?;
                number(w, time.seconds())?;
            }
            w.write_all(b"\n")
        });
    }

    /// The writer, all lines being written.
    ///
    /// # Errors
    /// The first failure of the writer.
    pub fn finish(self) -> io::Result<W> {
        self.lines.finish()
    }
}

/// Writes what ranks do as it ends, a line each: `rank,kind,begin_s,end_s,op,message,peer`; the last two are empty
/// where it is about no message.
#[derive(Debug)]
pub struct Activities<W> {
    lines: Lines<W>,
}

impl<W: Write> Activities<W> {
    /// Writes the header.
    ///
    /// # Errors
    /// Where `writer` fails.
    pub fn new(writer: W) -> io::Result<Self> {
        Ok(Self { lines: Lines::new(writer, "rank,kind,begin_s,end_s,op,message,peer\n")? })
    }

    /// Writes one line; the first failure is kept for [`finish`](Self::finish) and nothing is written after it.
    pub fn write(&mut self, activity: &Activity) {
        self.lines.write(|w| {
            write!(w, "{},{},", activity.rank, activity.kind.name())?;
            number(w, activity.begin.seconds())?;
            w.write_all(b",")?;
            number(w, activity.end.seconds())?;
            write!(w, ",{},", activity.op)?;
            if let Some(message) = activity.message {
                integer(w, message.into())?;
            }
            w.write_all(b",")?;
            if let Some(peer) = activity.peer {
                integer(w, peer.0.into())?;
            }
            w.write_all(b"\n")
        });
    }

    /// The writer, all lines being written.
    ///
    /// # Errors
    /// The first failure of the writer.
    pub fn finish(self) -> io::Result<W> {
        self.lines.finish()
    }
}

/// Writes where the time of ranks went, and how late they were:
/// `rank,end_s,compute_s,send_overhead_s,recv_overhead_s,send_wait_s,recv_wait_s,sync_s,caused_s,by_computing_s,
/// by_sending_s,waited_for_s,as_it_computed_s,as_it_sent_s,as_it_waited_s`; what is not known of lateness is empty.
///
/// # Errors
/// Where `writer` fails.
pub fn ranks(ranks: &[RankReport], late: &[LateRank], known: bool, mut writer: impl Write) -> io::Result<()> {
    let w = &mut writer;
    w.write_all(
        b"rank,end_s,compute_s,send_overhead_s,recv_overhead_s,send_wait_s,recv_wait_s,sync_s,\
          caused_s,by_computing_s,by_sending_s,waited_for_s,as_it_computed_s,as_it_sent_s,as_it_waited_s\n",
    )?;
    let mut of_rank: Vec<Option<&LateRank>> = vec![None; ranks.len()];
    for row in late {
        if let Some(of_rank) = of_rank.get_mut(row.rank as usize) {
            *of_rank = Some(row);
        }
    }
    for (rank, late) in ranks.iter().zip(of_rank) {
        integer(w, rank.rank.into())?;
        let times = [
            rank.end_s,
            rank.compute_s,
            rank.send_overhead_s,
            rank.recv_overhead_s,
            rank.send_wait_s,
            rank.recv_wait_s,
            rank.sync_s,
        ];
        for time in times {
            w.write_all(b",")?;
            number(w, time)?;
        }
        let late = late.map(|late| {
            [
                late.caused_s,
                late.by_computing_s,
                late.by_sending_s,
                late.waited_for_s,
                late.as_it_computed_s,
                late.as_it_sent_s,
                late.as_it_waited_s,
            ]
        });
        for time in late.unwrap_or([0.0; 7]) {
            w.write_all(b",")?;
            if known {
                number(w, time)?;
            }
        }
        w.write_all(b"\n")?;
    }
    Ok(())
}

/// Writes how slow ranks delay each rank: `rank,end_s,without_s,delay_s,slowed_s,reached_s,messages,hops`; what is not
/// known of a rank is empty.
///
/// # Errors
/// Where `writer` fails.
pub fn noise(noise: &NoiseReport, mut writer: impl Write) -> io::Result<()> {
    let w = &mut writer;
    w.write_all(b"rank,end_s,without_s,delay_s,slowed_s,reached_s,messages,hops\n")?;
    for rank in &noise.ranks {
        integer(w, rank.rank.into())?;
        let times = [Some(rank.end_s), Some(rank.without_s), Some(rank.delay_s), rank.slowed_s, rank.reached_s];
        for time in times {
            w.write_all(b",")?;
            if let Some(time) = time {
                number(w, time)?;
            }
        }
        for count in [rank.messages, rank.hops] {
            w.write_all(b",")?;
            if let Some(count) = count {
                integer(w, count.into())?;
            }
        }
        w.write_all(b"\n")?;
    }
    Ok(())
}

/// Writes all links:
/// `id,name,capacity_Bps,bytes,busy_s,utilisation,peak_flows,mean_flows,peak_queue,mean_queue,blocked_s,delay_s`; where any has
/// failed, a column `failed` (0 or 1) follows.
///
/// # Errors
/// Where `writer` fails.
pub fn links<L: Borrow<LinkUse>>(links: impl Iterator<Item = L> + Clone, mut writer: impl Write) -> io::Result<()> {
    let any_failed = links.clone().any(|link| link.borrow().failed);
    writer.write_all(
        b"id,name,capacity_Bps,bytes,busy_s,utilisation,peak_flows,mean_flows,peak_queue,mean_queue,blocked_s,delay_s",
    )?;
    writer.write_all(if any_failed { b",failed\n" } else { b"\n" })?;
    let w = &mut writer;
    for link in links {
        let link = link.borrow();
        write!(w, "{},", link.id)?;
        text(w, &link.name)?;
        w.write_all(b",")?;
        number(w, link.capacity_bps)?;
        write!(w, ",{},", link.bytes)?;
        number(w, link.busy_s)?;
        w.write_all(b",")?;
        number(w, link.utilisation)?;
        write!(w, ",{},", link.peak_flows)?;
        number(w, link.mean_flows)?;
        write!(w, ",{},", link.peak_queue)?;
        number(w, link.mean_queue)?;
        w.write_all(b",")?;
        number(w, link.blocked_s)?;
        w.write_all(b",")?;
        number(w, link.delay_s)?;
        if any_failed {
            write!(w, ",{}", u8::from(link.failed))?;
        }
        w.write_all(b"\n")?;
    }
    Ok(())
}

/// Returns the nodes of ranks, each once, as ranges: `0-17,36`.
pub(crate) fn nodes(of_ranks: &[u32]) -> String {
    let mut nodes = of_ranks.to_vec();
    nodes.sort_unstable();
    nodes.dedup();
    ranges(&nodes)
}

/// Writes jobs: `job,ranks,nodes,start_s,end_s,repetitions,makespan_s,min_s,max_s,alone_s,slowdown,messages,bytes,contention,
/// fault_delay_s`; what there is not is empty.
///
/// # Errors
/// Where `writer` fails.
pub fn jobs(report: &JobsReport, mut writer: impl Write) -> io::Result<()> {
    writer.write_all(
        b"job,ranks,nodes,start_s,end_s,repetitions,makespan_s,min_s,max_s,alone_s,slowdown,messages,bytes,contention,fault_delay_s\n",
    )?;
    let w = &mut writer;
    for job in &report.jobs {
        text(w, &job.name)?;
        write!(w, ",{},", job.ranks)?;
        text(w, &nodes(&job.nodes))?;
        figures(w, &[job.start_s, job.end_s])?;
        write!(w, ",{}", job.repetitions)?;
        figures(w, &[job.makespan_s, job.min_s, job.max_s, job.alone_s, job.slowdown])?;
        write!(w, ",{},{},", job.messages, job.bytes)?;
        number(w, job.contention)?;
        w.write_all(b",")?;
        if let Some(delay) = job.fault_delay_s {
            number(w, delay)?;
        }
        w.write_all(b"\n")?;
    }
    Ok(())
}

/// Writes figures, each behind a comma; what there is not is empty.
fn figures(w: &mut impl Write, figures: &[Option<f64>]) -> io::Result<()> {
    figures.iter().try_for_each(|figure| {
        w.write_all(b",")?;
        figure.map_or(Ok(()), |figure| number(w, figure))
    })
}

/// Writes which job delays which: `victim,culprit,delay_s`, a line for each pair.
///
/// # Errors
/// Where `writer` fails.
pub fn interference(report: &JobsReport, mut writer: impl Write) -> io::Result<()> {
    let w = &mut writer;
    w.write_all(b"victim,culprit,delay_s\n")?;
    for Interference { victim, culprit, delay_s } in report.interference.iter().flatten() {
        text(w, victim)?;
        w.write_all(b",")?;
        text(w, culprit)?;
        w.write_all(b",")?;
        number(w, *delay_s)?;
        w.write_all(b"\n")?;
    }
    Ok(())
}

/// Writes rates: `src,dst,rate_Bps,bottleneck`; the bottleneck is the name of a link, or empty.
///
/// # Errors
/// Where `writer` fails.
pub fn rates(rates: &[Rate], mut writer: impl Write) -> io::Result<()> {
    writer.write_all(b"src,dst,rate_Bps,bottleneck\n")?;
    let w = &mut writer;
    for rate in rates {
        write!(w, "{},{},", rate.src, rate.dst)?;
        number(w, rate.rate_bps)?;
        w.write_all(b",")?;
        text(w, rate.bottleneck.as_deref().unwrap_or(""))?;
        w.write_all(b"\n")?;
    }
    Ok(())
}

/// Writes the rows of a comparison, best first in each job.
///
/// # Errors
/// Where `writer` fails.
pub fn comparison(comparison: &Comparison, mut writer: impl Write) -> io::Result<()> {
    writer.write_all(
        b"topology,placement,transport,sharing,routing,injection,pattern,seeds,mean_s,sd_s,min_s,max_s,messages,bytes,\
          injection_bound_s,busiest_link_bound_s,bisection_bound_s,ratio_to_bound,ratio_to_best,wall_s,packet_hops,fingerprint,job,place,tied,machine",
    )?;
    let w = &mut writer;
    for key in comparison.rows.first().into_iter().flat_map(|row| row.varied.keys()) {
        w.write_all(b",")?;
        text(w, key)?;
    }
    let compares_faults = comparison.rows.iter().any(|row| row.faults.is_some());
    let compares_jobs = comparison.rows.iter().any(|row| row.worst_slowdown.is_some());
    w.write_all(if compares_faults { b",slowdown,slowdown_low,slowdown_high,cut_off_seeds" } else { b"" })?;
    w.write_all(if compares_jobs { b",worst_slowdown,worst_job" } else { b"" })?;
    let estimates = comparison.rows.iter().any(|row| row.estimated.is_some());
    w.write_all(if estimates { b",estimate,estimate_low_s,estimate_high_s,simulated_part\n" } else { b"\n" })?;
    for row in &comparison.rows {
        for name in row.choices().into_iter().take(PATTERN + 1) {
            text(w, name)?;
            w.write_all(b",")?;
        }
        write!(w, "{}", row.makespan.seeds.len())?;
        for value in [row.makespan.mean_s, row.makespan.sd_s, row.makespan.min_s, row.makespan.max_s] {
            w.write_all(b",")?;
            number(w, value)?;
        }
        write!(w, ",{},{}", row.messages, row.bytes)?;
        // Where no bound is known there is no ratio to it.
        let ratio = Some(row.ratio_to_bound).filter(|ratio| ratio.is_finite());
        let bounds = [row.bounds.injection_s, row.bounds.busiest_link_s, row.bounds.bisection_s];
        for value in bounds.into_iter().chain([ratio, Some(row.ratio_to_best), Some(row.wall_s)]) {
            w.write_all(b",")?;
            known(w, value)?;
        }
        w.write_all(b",")?;
        if let Some(hops) = row.packet_hops {
            integer(w, hops)?;
        }
        write!(w, ",{},", row.fingerprint)?;
        text(w, &row.job)?;
        write!(w, ",{},{}", row.place, row.tied)?;
        w.write_all(b",")?;
        text(w, &row.machine)?;
        for value in row.varied.values() {
            w.write_all(b",")?;
            text(w, value)?;
        }
        if compares_faults {
            let values = row.slowdown.map(|slowdown| [slowdown.mean, slowdown.low, slowdown.high]);
            for value in values.map_or([None; 3], |values| values.map(Some)) {
                w.write_all(b",")?;
                if let Some(value) = value {
                    number(w, value)?;
                }
            }
            write!(w, ",{}", row.cut_off)?;
        }
        if compares_jobs {
            w.write_all(b",")?;
            known(w, row.worst_slowdown.as_ref().map(|worst| worst.mean))?;
            w.write_all(b",")?;
            text(w, row.worst_slowdown.as_ref().map_or("", |worst| &worst.job))?;
        }
        if estimates {
            let estimate = row.estimated.as_ref().and_then(Estimated::estimate);
            write!(w, ",{}", estimate.is_some())?;
            let values = estimate.map(|estimate| [estimate.low_s, estimate.high_s, estimate.simulated_part]);
            for value in values.map_or([None, None, Some(1.0)], |values| values.map(Some)) {
                w.write_all(b",")?;
                known(w, value)?;
            }
        }
        w.write_all(b"\n")?;
    }
    Ok(())
}

/// Writes the rows of a benchmark; the machine is in every row.
///
/// # Errors
/// Where `writer` fails.
pub fn benchmark(benchmark: &Benchmark, mut writer: impl Write) -> io::Result<()> {
    writer.write_all(
        b"load,nodes,messages,repeats,threads,cpu_ns,cpu_min_ns,cpu_max_ns,wall_ns,wall_min_ns,wall_max_ns,\
          messages_per_s,peak_rss_bytes,cpu,compiler,build,version\n",
    )?;
    let w = &mut writer;
    let machine = &benchmark.machine;
    for row in &benchmark.rows {
        text(w, &row.load)?;
        write!(w, ",{},{},{},{}", row.nodes, row.messages, row.cpu_ns.all.len(), benchmark.threads)?;
        let (cpu, wall) = (&row.cpu_ns, &row.wall_ns);
        for value in [cpu.median, cpu.min, cpu.max, wall.median, wall.min, wall.max, row.messages_per_s] {
            w.write_all(b",")?;
            number(w, value)?;
        }
        write!(w, ",{}", row.peak_rss_bytes.map(|bytes| bytes.to_string()).unwrap_or_default())?;
        for name in [&machine.cpu, &machine.compiler, &machine.build, &machine.version] {
            w.write_all(b",")?;
            text(w, name)?;
        }
        w.write_all(b"\n")?;
    }
    Ok(())
}

/// An integer, without the machinery of `write!`.
#[inline]
fn integer(w: &mut impl Write, value: u64) -> io::Result<()> {
    CompactFormatter.write_u64(w, value)
}

/// The shortest decimal text that reads back to `value`, a whole number without a fraction.
#[inline]
fn number(w: &mut impl Write, value: f64) -> io::Result<()> {
    // Below 2^53 every integer is exact, so its digits are the shortest text.
    if (0.0..9_007_199_254_740_992.0).contains(&value) && value.fract() == 0.0 {
        CompactFormatter.write_u64(w, value as u64)
    } else if value.is_finite() {
        CompactFormatter.write_f64(w, value)
    } else {
        w.write_all(if value.is_nan() {
            b"nan"
        } else if value > 0.0 {
            b"inf"
        } else {
            b"-inf"
        })
    }
}

/// A number, or nothing where it is not known.
fn known(w: &mut impl Write, value: Option<f64>) -> io::Result<()> {
    value.map_or(Ok(()), |value| number(w, value))
}

/// A cell of text, in quotes where a comma, a quote or a newline asks for them.
fn text(w: &mut impl Write, value: &str) -> io::Result<()> {
    if value.contains([',', '"', '\n', '\r']) {
        write!(w, "\"{}\"", value.replace('"', "\"\""))
    } else {
        w.write_all(value.as_bytes())
    }
}

/// Writes the predicted time over each parameter, a line a value, the unchanged run first:
/// `parameter,value,number,time_s,change,failed`; empty where there is none.
///
/// # Errors
/// Where `writer` fails.
pub fn whatif(report: &WhatIfReport, mut writer: impl Write) -> io::Result<()> {
    writer.write_all(b"parameter,value,number,time_s,change,failed\n")?;
    let shown = |number: Option<f64>| number.map_or_else(String::new, |number| number.to_string());
    writeln!(writer, "unchanged,,,{},0,", report.head.makespan_s)?;
    for (name, time_s, _) in report.limits.named() {
        let change = (report.head.makespan_s > 0.0).then(|| time_s / report.head.makespan_s - 1.0);
        writeln!(writer, "limit,{name},,{time_s},{},", shown(change))?;
    }
    for varied in &report.varied {
        for point in &varied.points {
            text(&mut writer, &varied.parameter)?;
            writer.write_all(b",")?;
            text(&mut writer, &point.value)?;
            write!(writer, ",{},{},{},", shown(point.number), shown(point.time_s), shown(point.change))?;
            text(&mut writer, point.failed.as_deref().unwrap_or_default())?;
            writer.write_all(b"\n")?;
        }
    }
    Ok(())
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
    fn numbers_are_the_shortest_text_that_reads_back_the_same() {
        let text = |value| written(|w| number(w, value));
        assert_eq!(text(20e-6), "0.00002");
        assert_eq!(text(0.0691), "0.0691");
        assert_eq!(text(1e9), "1000000000");
        assert_eq!(text(0.0), "0");
        assert_eq!(text(f64::INFINITY), "inf");
        for value in [1e9 / 3.0, 0.1 + 0.2, 5e-324, 1e300, 1e-7 / 3.0] {
            assert_eq!(text(value).parse(), Ok(value));
        }
    }

    #[test]
    fn messages_have_a_line_each() {
        let mut messages = Messages::new(Vec::new()).unwrap();
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
        let mut messages = Messages::new(Full(40)).unwrap();
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

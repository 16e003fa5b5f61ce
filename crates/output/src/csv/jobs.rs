//! Tables of several jobs on one fabric: their messages, the links, and what each came to in a comparison.

use std::io::{self, Write};

use super::lines::Lines;
use super::{integer, known, number, text};
use hayase::report::{Comparison, JobsLink, MessageRecord};

/// Writes messages of jobs as they are delivered, a line each: `job,src,dst,index,bytes,start_s,end_s`.
///
/// `src` and `dst` are ranks of the job, from 0.
#[derive(Debug)]
pub struct JobMessages<W> {
    lines: Lines<W>,
    /// By job: its name as a cell, and the rank of all behind its last.
    jobs: Vec<(Vec<u8>, u32)>,
}

impl<W: Write> JobMessages<W> {
    /// Writes the header; the jobs with their numbers of ranks.
    ///
    /// # Errors
    /// Where `writer` fails.
    pub fn new<'a>(writer: W, jobs: impl IntoIterator<Item = (&'a str, u32)>) -> io::Result<Self> {
        let lines = Lines::new(writer, "job,src,dst,index,bytes,start_s,end_s\n")?;
        let mut end = 0;
        let mut all = Vec::new();
        for (name, ranks) in jobs {
            end += ranks;
            let mut cell = Vec::new();
            text(&mut cell, name)?;
            all.push((cell, end));
        }
        Ok(Self { lines, jobs: all })
    }

    /// Writes one line; the first failure is kept for [`finish`](Self::finish) and nothing is written after it.
    pub fn write(&mut self, message: &MessageRecord) {
        let Self { lines, jobs } = self;
        lines.write(|w| {
            let job = jobs.partition_point(|(_, end)| *end <= message.src);
            let first = if job == 0 { 0 } else { jobs[job - 1].1 };
            w.write_all(jobs.get(job).map_or(b"", |(name, _)| name))?;
            for value in [message.src - first, message.dst - first, message.index] {
                w.write_all(b",")?;
                integer(w, value.into())?;
            }
            w.write_all(b",")?;
            integer(w, message.bytes)?;
            for value in [message.start_s, message.end_s] {
                w.write_all(b",")?;
                number(w, value)?;
            }
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

/// Writes what links carried of jobs: `id,name,capacity_Bps,bytes,utilisation`, and a column `bytes of NAME` for each
/// job.
///
/// # Errors
/// Where `writer` fails.
pub fn job_links<'a>(
    links: &[JobsLink],
    jobs: impl IntoIterator<Item = &'a str>,
    mut writer: impl Write,
) -> io::Result<()> {
    let w = &mut writer;
    w.write_all(b"id,name,capacity_Bps,bytes,utilisation")?;
    for job in jobs {
        w.write_all(b",")?;
        text(w, &format!("bytes of {job}"))?;
    }
    w.write_all(b"\n")?;
    for link in links {
        write!(w, "{},", link.id)?;
        text(w, &link.name)?;
        w.write_all(b",")?;
        number(w, link.capacity_bps)?;
        write!(w, ",{},", link.bytes)?;
        number(w, link.utilisation)?;
        for bytes in &link.by_job {
            w.write_all(b",")?;
            integer(w, *bytes)?;
        }
        w.write_all(b"\n")?;
    }
    Ok(())
}

/// Writes a line for each job of each row of a comparison: what was chosen, and what the job came to.
///
/// # Errors
/// Where `writer` fails.
pub fn compared_jobs(comparison: &Comparison, mut writer: impl Write) -> io::Result<()> {
    let w = &mut writer;
    for name in comparison.rows.first().map(|row| row.names()).unwrap_or_default() {
        text(w, name)?;
        w.write_all(b",")?;
    }
    w.write_all(b"seeds,place,job,ranks,makespan_s,alone_s,slowdown,slowdown_sd\n")?;
    for row in &comparison.rows {
        for job in &row.jobs {
            for name in row.choices() {
                text(w, name)?;
                w.write_all(b",")?;
            }
            write!(w, "{},{},", row.makespan.seeds.len(), row.place)?;
            text(w, &job.name)?;
            write!(w, ",{}", job.ranks)?;
            for figure in [job.makespan_s, job.alone_s, job.slowdown, job.slowdown_sd] {
                w.write_all(b",")?;
                known(w, figure)?;
            }
            w.write_all(b"\n")?;
        }
    }
    Ok(())
}

//! Messages of several jobs on one fabric.

use std::io::{self, Write};

use crate::columns::{JobMessage, job_messages};
use hayase::columns::csv::Lines;
use hayase::report::MessageRecord;

/// Writer of the messages of several jobs, as they are delivered.
pub struct JobMessages<'a, W> {
    lines: Lines<'a, JobMessage<'a>, W>,
    /// By job: its name, and the rank after its last one, counted over all jobs.
    jobs: Vec<(&'a str, u32)>,
}

impl<'a, W: Write> JobMessages<'a, W> {
    /// Writes the header. `jobs` are the names of the jobs with their numbers of ranks.
    ///
    /// # Errors
    /// Failures of `writer`.
    pub fn new(writer: W, jobs: impl IntoIterator<Item = (&'a str, u32)>) -> io::Result<Self> {
        let ends = jobs.into_iter().scan(0, |end, (name, ranks)| {
            *end += ranks;
            Some((name, *end))
        });
        Ok(Self { lines: Lines::new(job_messages(), writer)?, jobs: ends.collect() })
    }

    /// Writes one line. The first failure is kept for [`finish`](Self::finish), and nothing is written after
    /// it.
    pub fn write(&mut self, message: &MessageRecord) {
        let at = self.jobs.partition_point(|(_, end)| *end <= message.src);
        let first = at.checked_sub(1).map_or(0, |before| self.jobs[before].1);
        let job = self.jobs.get(at).map_or("", |(name, _)| name);
        let message = MessageRecord { src: message.src - first, dst: message.dst - first, ..*message };
        self.lines.write(&JobMessage { job, message });
    }

    /// True if a write has failed. Further messages are then not written.
    pub fn failed(&self) -> bool {
        self.lines.failed()
    }

    /// Returns the writer after all lines are written.
    ///
    /// # Errors
    /// The first failure of the writer.
    pub fn finish(self) -> io::Result<W> {
        self.lines.finish()
    }
}

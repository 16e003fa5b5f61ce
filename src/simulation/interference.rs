//! Interference between jobs: the time that one job's messages lose to those of another.

use std::sync::Arc;

use super::jobs::JobsWork;
use crate::diagnostic::Diagnostic;
use crate::record::JobsRecorder;
use crate::report::Interference;
use crate::system::System;
use crate::transport::Parties;

/// Rounding error of a difference that should be 0, relative to the times that are subtracted.
const ROUNDING: f64 = 1e-12;

impl JobsWork {
    /// Succeeds if the interference between jobs can be measured on this system.
    ///
    /// # Errors
    /// The reason why it cannot.
    pub fn tells_interference(&self, system: &System) -> Result<(), Diagnostic> {
        let Some(network) = system.network() else { return Ok(()) };
        let Some(why) = network.transport.refuses_parties(&network.sharing) else { return Ok(()) };
        let message = format!("under {} it is not known which job delays which: {why}", network.moved_by());
        let help = "take flows under `max-min` or `equal-share`, or leave the interference out";
        Err(Diagnostic::new("unknown-interference", message).help(help))
    }

    /// Returns the reason why a single piece of work has no interference.
    pub fn needs_several() -> Diagnostic {
        let message = "`interference` needs several jobs, and this is a single one";
        let help = "add jobs with --job NAME=PATTERN:RANKS, or with [[job]] in the scenario";
        Diagnostic::new("wrong-choice", message).help(help)
    }

    /// Returns the jobs as parties, with each rank in the party of its job.
    pub(super) fn parties(&self, counts_own: bool) -> Arc<Parties> {
        let ranks = (0..).zip(&self.jobs);
        let of = ranks.flat_map(|(number, job)| std::iter::repeat_n(number, job.task.ranks() as usize)).collect();
        Arc::new(Parties { of, count: self.jobs.len() as u32, counts_own })
    }

    /// Returns the matrix, row after row, and the time lost to faults by job.
    ///
    /// The time lost to other jobs is the transport's measurement. The time lost to the own job is the rest
    /// of the time that messages were under way longer than alone. With faults the own part is measured, too,
    /// and the rest is the second value.
    pub(super) fn interference(
        &self,
        recorder: &JobsRecorder<'_>,
        lost: Option<&[f64]>,
        faults: bool,
    ) -> (Vec<Interference>, Vec<f64>) {
        let count = self.jobs.len();
        let (mut matrix, mut to_faults) = (Vec::with_capacity(count * count), Vec::new());
        for (victim, (job, record)) in self.jobs.iter().zip(&recorder.jobs).enumerate() {
            let row = lost.and_then(|lost| lost.get(victim * count..(victim + 1) * count));
            let to = |culprit: usize| row.map_or(0.0, |row| row[culprit]);
            let others: f64 = (0..count).filter(|&culprit| culprit != victim).map(to).sum();
            let [under_way, alone] = <[_; 2]>::from(record.under_way()).map(|time| time.seconds());
            let own = under_way - alone - others;
            let rounded = |time: f64| if time.abs() <= ROUNDING * under_way { 0.0 } else { time };
            let own = if faults {
                to_faults.push(rounded(own - to(victim)));
                to(victim)
            } else {
                rounded(own)
            };
            matrix.extend(self.jobs.iter().enumerate().map(|(culprit, by)| Interference {
                victim: job.name.clone(),
                culprit: by.name.clone(),
                delay_s: if culprit == victim { own } else { to(culprit) },
            }));
        }
        (matrix, to_faults)
    }
}

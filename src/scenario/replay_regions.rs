//! What a report says of regions: of all, or of the one that is asked for.

use super::replay::{Replay, breakdown, rank_report};
use crate::diagnostic::Diagnostic;
use crate::player::ActivityKind;
use crate::record::PlayedRegion;
use crate::report::replay::{RegionReport, ReplayReport};
use crate::units::Time;

impl Replay {
    /// The same, asked for one region of the program.
    ///
    /// # Errors
    /// There is none of this name.
    pub fn of_region(self, name: &str) -> Result<Self, Diagnostic> {
        let region = self.program.region(name)?;
        Ok(self.with_region(Some(region)))
    }

    /// Puts regions into a report. What it says of ranks is then of the region that is asked for.
    pub(super) fn report_regions(&self, report: &mut ReplayReport, regions: &[PlayedRegion]) {
        let asked = |number: &usize| self.region.is_none_or(|region| region as usize == *number);
        report.regions =
            (0..regions.len()).filter(asked).map(|number| self.region_report(number, &regions[number])).collect();
        if let Some(region) = self.region
            && let Some(played) = regions.get(region as usize)
        {
            report.region = self.program.regions.get(region as usize).map(ToString::to_string);
            report.breakdown = breakdown(&played.times);
            for (rank, (row, times)) in (0..).zip(report.ranks.iter_mut().zip(&played.times)) {
                *row = rank_report(rank, times);
            }
        }
    }

    fn region_report(&self, number: usize, played: &PlayedRegion) -> RegionReport {
        use ActivityKind::{Compute, RecvOverhead, RecvWait, SendOverhead, SendWait, Sync};
        let recorded = self.program.recorded.get(number).and_then(|region| region.time);
        RegionReport {
            name: self.program.regions.get(number).map(ToString::to_string).unwrap_or_default(),
            executions: played.spans.len() as u64,
            ranks: played.ranks,
            time_s: played.time().seconds(),
            computation_s: played.mean(&[Compute]).seconds(),
            communication_s: played.mean(&[SendOverhead, RecvOverhead, Sync]).seconds(),
            waiting_s: played.mean(&[SendWait, RecvWait]).seconds(),
            recorded_s: recorded.filter(|&time| time > Time::ZERO).map(Time::seconds),
        }
    }
}

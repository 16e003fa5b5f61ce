//! Times within regions while a program is played.

use crate::ids::RankId;
use crate::player::{Activity, ActivityKind, RankTimes};
use crate::program::{Executions, Mark, Program};
use crate::units::Time;

/// Executions of regions, and the times of ranks within them by kind of activity.
#[derive(Clone, Debug, Default)]
pub struct Regions {
    executions: Executions,
    /// Times by region and rank.
    times: Vec<Vec<RankTimes>>,
}

/// A region of a run that was played.
#[derive(Clone, PartialEq, Debug)]
pub struct PlayedRegion {
    /// Begin and end of each execution: from the first rank's begin to the last rank's end.
    pub spans: Vec<(Time, Time)>,
    /// Number of ranks that executed it.
    pub ranks: u32,
    /// Times of each rank within the region by kind of activity. `end` is their sum.
    pub times: Vec<RankTimes>,
    /// Union of all executions, as spans that do not touch.
    union: Vec<(Time, Time)>,
}

impl PlayedRegion {
    /// Returns the total time of all executions.
    pub fn time(&self) -> Time {
        self.spans.iter().map(|&(first, last)| last - first).sum()
    }

    /// Returns the time of these kinds of activities, averaged over the ranks that executed the region.
    pub fn mean(&self, kinds: &[ActivityKind]) -> Time {
        let all: Time = self.times.iter().flat_map(|times| kinds.iter().map(|&kind| times.of(kind))).sum();
        Time::from_ps(all.ps() / f64::from(self.ranks.max(1)))
    }

    /// Returns the parts of a span of time that lie in an execution. Cost: logarithmic in the executions,
    /// plus the parts.
    pub fn clipped(&self, begin: Time, end: Time) -> impl Iterator<Item = (Time, Time)> + '_ {
        let union = &self.union;
        let first = union.partition_point(|&(_, last)| last <= begin);
        union[first..]
            .iter()
            .take_while(move |&&(from, _)| from < end)
            .map(move |&(from, to)| (from.max(begin), to.min(end)))
    }
}

/// Returns the union of spans of time, as spans that do not touch, in order.
fn union(spans: &[(Time, Time)]) -> Vec<(Time, Time)> {
    let mut sorted = spans.to_vec();
    sorted.sort();
    let mut union: Vec<(Time, Time)> = Vec::new();
    for (first, last) in sorted {
        match union.last_mut() {
            Some((_, end)) if first <= *end => *end = (*end).max(last),
            _ => union.push((first, last)),
        }
    }
    union
}

impl Regions {
    /// Creates the regions of a program.
    pub fn new(program: &Program) -> Self {
        let ranks = vec![RankTimes::default(); program.ranks() as usize];
        Self { executions: Executions::default(), times: vec![ranks; program.regions.len()] }
    }

    /// Records that a rank reaches the border of a region.
    pub fn mark(&mut self, rank: RankId, mark: &Mark, time: Time) {
        self.executions.border(rank, mark.region, mark.begins, time);
    }

    /// Returns true if a region is open on a rank.
    pub fn is_open(&self, rank: RankId, region: u32) -> bool {
        self.executions.open(rank).contains(&region)
    }

    /// Adds an activity to the regions that are open on its rank.
    pub fn activity(&mut self, activity: &Activity) {
        for &region in self.executions.open(activity.rank) {
            self.times[region as usize][activity.rank.0 as usize].spend(activity.kind, activity.end - activity.begin);
        }
    }

    /// Ends all regions when all ranks have ended or stopped, and returns them.
    pub fn finish(mut self, ranks: &[RankTimes], stopped: Time) -> Vec<PlayedRegion> {
        for (rank, times) in (0..).zip(ranks) {
            let end = if times.end > Time::ZERO { times.end } else { stopped };
            self.executions.end(RankId(rank), end);
        }
        let region = |(region, times): (u32, Vec<RankTimes>)| {
            let spans = self.executions.spans(region).to_vec();
            PlayedRegion { union: union(&spans), spans, ranks: self.executions.ranks(region), times }
        };
        (0..).zip(self.times).map(region).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_clipped_to_what_the_executions_cover() {
        let ps = Time::from_ps;
        let spans = [(1.0, 4.0), (3.0, 6.0), (8.0, 9.0), (9.0, 10.0)].map(|(a, b)| (ps(a), ps(b)));
        let region = PlayedRegion { spans: spans.into(), ranks: 1, times: Vec::new(), union: union(&spans) };
        let clipped =
            |begin, end| region.clipped(ps(begin), ps(end)).map(|(a, b)| (a.ps(), b.ps())).collect::<Vec<_>>();
        assert_eq!(clipped(0.0, 20.0), [(1.0, 6.0), (8.0, 10.0)]);
        assert_eq!(clipped(5.0, 8.5), [(5.0, 6.0), (8.0, 8.5)]);
        assert_eq!(clipped(6.0, 8.0), []);
        assert_eq!(region.time(), ps(8.0), "each by itself, whatever they cover together");
    }
}

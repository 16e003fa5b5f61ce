//! Regions: parts of a program that its author marked, by their borders among the operations of each rank.
//!
//! A border takes no time and changes nothing: it is kept beside the operations, before the one at its
//! position. So a program with borders plays like one without.

use crate::ids::RankId;
use crate::units::Time;

/// A border of a region among the operations of a rank.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Mark {
    /// Position of the operation after the border; the number of operations at the end.
    pub at: u32,
    /// Region: its number in [`Program::regions`](super::Program::regions).
    pub region: u32,
    /// True if the region begins here, false if it ends.
    pub begins: bool,
    /// Call site of the border: a number in [`Program::sites`](super::Program::sites) plus one, or 0 if
    /// unknown.
    pub site: u32,
    /// Place in the input of the call after the border.
    pub place: u32,
}

/// Open regions of one rank, which takes its borders in order. A region that begins while it is open is part
/// of the same execution, and an end without a begin is ignored.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Open {
    /// Number of begins without an end, by region.
    depths: Vec<u32>,
    /// Open regions, in the order in which they began.
    open: Vec<u32>,
}

/// Effect of a border, given those before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Border {
    /// An execution begins.
    Begins,
    /// An execution ends.
    Ends,
    /// The border lies within an execution of the same region.
    Inner,
    /// The region ends without a begin.
    Stray,
}

impl Open {
    /// Creates the state for `regions` regions, none of them open.
    pub fn new(regions: usize) -> Self {
        Self { depths: vec![0; regions], open: Vec::new() }
    }

    /// Takes a border.
    pub fn take(&mut self, region: u32, begins: bool) -> Border {
        if self.depths.len() <= region as usize {
            self.depths.resize(region as usize + 1, 0);
        }
        let depth = &mut self.depths[region as usize];
        match (begins, *depth) {
            (true, before) => {
                *depth += 1;
                if before > 0 {
                    return Border::Inner;
                }
                self.open.push(region);
                Border::Begins
            }
            (false, 0) => Border::Stray,
            (false, before) => {
                *depth -= 1;
                if before > 1 {
                    return Border::Inner;
                }
                self.open.retain(|&open| open != region);
                Border::Ends
            }
        }
    }

    /// Open regions, in the order in which they began.
    pub fn regions(&self) -> &[u32] {
        &self.open
    }
}

/// Executions of regions on all ranks, with the begin and the end of each.
///
/// The n-th executions of a region on all ranks are one execution: it lasts from the first begin to the last
/// end.
#[derive(Clone, Debug, Default)]
pub struct Executions {
    ranks: Vec<RankExecutions>,
    /// First begin and last end of each execution, by region and number.
    spans: Vec<Vec<(Time, Time)>>,
}

/// Executions on one rank.
#[derive(Clone, Debug, Default)]
struct RankExecutions {
    open: Open,
    /// Number of executions that have begun, by region.
    begun: Vec<u32>,
}

impl Executions {
    /// Takes a border of a rank. The borders of one rank come in order.
    pub fn border(&mut self, rank: RankId, region: u32, begins: bool, time: Time) -> Border {
        let at = rank.0 as usize;
        if self.ranks.len() <= at {
            self.ranks.resize_with(at + 1, RankExecutions::default);
        }
        let of = &mut self.ranks[at];
        let border = of.open.take(region, begins);
        let region = region as usize;
        if of.begun.len() <= region {
            of.begun.resize(region + 1, 0);
        }
        match border {
            Border::Begins => {
                if self.spans.len() <= region {
                    self.spans.resize_with(region + 1, Vec::new);
                }
                let (spans, number) = (&mut self.spans[region], of.begun[region] as usize);
                of.begun[region] += 1;
                match spans.get_mut(number) {
                    Some((first, _)) => *first = (*first).min(time),
                    None => spans.push((time, time)),
                }
            }
            Border::Ends => self.ends(at, region, time),
            Border::Inner | Border::Stray => {}
        }
        border
    }

    fn ends(&mut self, rank: usize, region: usize, time: Time) {
        let number = self.ranks[rank].begun[region] as usize - 1;
        let (_, last) = &mut self.spans[region][number];
        *last = (*last).max(time);
    }

    /// Ends a rank, and all regions that are open on it.
    pub fn end(&mut self, rank: RankId, time: Time) {
        let at = rank.0 as usize;
        let Some(of) = self.ranks.get_mut(at) else { return };
        for region in std::mem::take(&mut of.open).open {
            self.ends(at, region as usize, time);
        }
    }

    /// Regions that are open on a rank.
    #[inline]
    pub fn open(&self, rank: RankId) -> &[u32] {
        self.ranks.get(rank.0 as usize).map_or(&[], |of| of.open.regions())
    }

    /// Begin and end of each execution of a region.
    pub fn spans(&self, region: u32) -> &[(Time, Time)] {
        self.spans.get(region as usize).map_or(&[], Vec::as_slice)
    }

    /// Total time of all executions of a region.
    pub fn time(&self, region: u32) -> Time {
        self.spans(region).iter().map(|&(first, last)| last - first).sum()
    }

    /// Number of ranks that have executed a region.
    pub fn ranks(&self, region: u32) -> u32 {
        let has = |of: &&RankExecutions| of.begun.get(region as usize).is_some_and(|&begun| begun > 0);
        self.ranks.iter().filter(has).count() as u32
    }
}

/// Statistics of a region in the recorded run.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct RecordedRegion {
    /// Largest number of executions on any rank.
    pub executions: u64,
    /// Number of ranks that executed the region.
    pub ranks: u32,
    /// Total time of all executions, each from the first begin to the last end; `None` if times are not real.
    pub time: Option<Time>,
    /// Computation within the region, over all ranks.
    pub computation: Time,
    /// Time within the region's calls, over all ranks.
    pub in_calls: Time,
    /// Number of calls within the region, over all ranks.
    pub calls: u64,
    /// Bytes of these calls, counted as in `docs/internals/trace-format.md` \[B\].
    pub bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_execution_goes_from_the_first_begin_to_the_last_end_of_all_ranks() {
        let mut executions = Executions::default();
        let ps = Time::from_ps;
        let borders = [
            (0, true, 1.0),
            (1, true, 2.0),
            (0, false, 5.0),
            (1, false, 9.0),
            // The second execution on rank 0 begins before the first one on rank 1 has ended.
            (0, true, 6.0),
            (0, false, 8.0),
            (1, true, 10.0),
        ];
        for (rank, begins, time) in borders {
            executions.border(RankId(rank), 0, begins, ps(time));
        }
        assert_eq!((executions.open(RankId(0)), executions.open(RankId(1))), (&[][..], &[0][..]));
        executions.end(RankId(1), ps(14.0));
        assert_eq!(executions.spans(0), [(ps(1.0), ps(9.0)), (ps(6.0), ps(14.0))]);
        assert_eq!((executions.time(0), executions.ranks(0)), (ps(16.0), 2));
        assert_eq!((executions.time(7), executions.ranks(7)), (Time::ZERO, 0));
    }
}

//! Regions: parts of a program that its author told apart, by their borders among the operations of each rank.
//!
//! A border takes no time and changes nothing: it stands beside the operations, before the one of its position. So a
//! program with borders plays as one without.

use crate::ids::RankId;
use crate::units::Time;

/// A border of a region in the operations of a rank.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Mark {
    /// The operation before which it stands; their number at the end.
    pub at: u32,
    /// Which region: its number in [`Program::regions`](super::Program::regions).
    pub region: u32,
    /// Whether it begins here; else it ends.
    pub begins: bool,
    /// Where it was marked, as of an operation: a number of [`Program::sites`](super::Program::sites) plus one; 0: not
    /// known.
    pub site: u32,
    /// Where in the input the call behind it stands, as of an operation.
    pub place: u32,
}

/// The borders of one rank, taken in their order: what begins while it has begun is a part of what began, and what ends
/// without having begun is nothing.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Open {
    /// By region, how many beginnings have no end yet.
    depths: Vec<u32>,
    /// Those that are open, in the order in which they began.
    open: Vec<u32>,
}

/// What a border is, given those before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Border {
    /// An execution begins.
    Begins,
    /// An execution ends.
    Ends,
    /// It lies within an execution of the same region.
    Inner,
    /// An end without a beginning.
    Stray,
}

impl Open {
    /// Nothing is open, of so many regions.
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

    /// The regions that are open, in the order in which they began.
    pub fn regions(&self) -> &[u32] {
        &self.open
    }
}

/// Executions of regions on all ranks, and from when to when each was.
///
/// The n-th executions of a region on all ranks are one: it goes from the first begin to the last end.
#[derive(Clone, Debug, Default)]
pub struct Executions {
    ranks: Vec<OfRank>,
    /// By region and number: the first begin, the last end.
    spans: Vec<Vec<(Time, Time)>>,
}

/// What a rank has executed.
#[derive(Clone, Debug, Default)]
struct OfRank {
    open: Open,
    /// By region, how many executions have begun.
    begun: Vec<u32>,
}

impl Executions {
    /// A rank comes to a border. Those of one rank come in order.
    pub fn border(&mut self, rank: RankId, region: u32, begins: bool, time: Time) -> Border {
        let at = rank.0 as usize;
        if self.ranks.len() <= at {
            self.ranks.resize_with(at + 1, OfRank::default);
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

    /// A rank ends, and all that is open on it.
    pub fn end(&mut self, rank: RankId, time: Time) {
        let at = rank.0 as usize;
        let Some(of) = self.ranks.get_mut(at) else { return };
        for region in std::mem::take(&mut of.open).open {
            self.ends(at, region as usize, time);
        }
    }

    /// The regions that are open on a rank.
    #[inline]
    pub fn open(&self, rank: RankId) -> &[u32] {
        self.ranks.get(rank.0 as usize).map_or(&[], |of| of.open.regions())
    }

    /// From when to when each execution of a region was.
    pub fn spans(&self, region: u32) -> &[(Time, Time)] {
        self.spans.get(region as usize).map_or(&[], Vec::as_slice)
    }

    /// The time of all executions of a region, added up.
    pub fn time(&self, region: u32) -> Time {
        self.spans(region).iter().map(|&(first, last)| last - first).sum()
    }

    /// How many ranks have executed a region.
    pub fn ranks(&self, region: u32) -> u32 {
        let has = |of: &&OfRank| of.begun.get(region as usize).is_some_and(|&begun| begun > 0);
        self.ranks.iter().filter(has).count() as u32
    }
}

/// A region in the run that was recorded.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct RecordedRegion {
    /// How often it was executed, on the rank that did so most.
    pub executions: u64,
    /// How many ranks executed it.
    pub ranks: u32,
    /// From the first begin to the last end of each execution, added up; where times are real.
    pub time: Option<Time>,
    /// Computation within it, of all ranks.
    pub computation: Time,
    /// Time within its calls, of all ranks.
    pub in_calls: Time,
    /// Calls within it, of all ranks.
    pub calls: u64,
    /// Their bytes, each as of a call in `docs/formats.md` \[B\].
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
            // The second one on rank 0 begins before the first one of rank 1 has ended.
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

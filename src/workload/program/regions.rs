//! Regions: parts of a program that its author told apart, by their borders among the operations of each rank.
//!
//! A border takes no time and changes nothing: it stands beside the operations, before the one of its position. So a
//! program with borders plays as one without.

use std::sync::Arc;

use super::{Program, RankProgram};
use crate::diagnostic::{Diagnostic, closest};
use crate::ids::RankId;
use crate::units::Time;

/// A border of a region in the operations of a rank.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Mark {
    /// The operation before which it stands; their number at the end.
    pub at: u32,
    /// Which region: its number in [`Program::regions`].
    pub region: u32,
    /// Whether it begins here; else it ends.
    pub begins: bool,
    /// Where it was marked, as of an operation: a number of [`Program::sites`] plus one; 0: not known.
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

impl RankProgram {
    /// Positions of operations that lie within a region: from the first to before the second, ascending.
    pub fn within(&self, region: u32) -> Vec<(u32, u32)> {
        let mut open = Open::default();
        let (mut found, mut from) = (Vec::new(), 0);
        for mark in self.marks.iter().filter(|mark| mark.region == region) {
            match open.take(region, mark.begins) {
                Border::Begins => from = mark.at,
                Border::Ends => found.push((from, mark.at)),
                Border::Inner | Border::Stray => {}
            }
        }
        if !open.regions().is_empty() {
            found.push((from, self.ops.len() as u32));
        }
        found
    }

    /// Calls of a recorded run that lie within a region: numbers from 0 of the first and of the one behind the last,
    /// ascending.
    pub fn calls_within(&self, region: u32) -> Vec<(u64, u64)> {
        let mut open = Open::default();
        let (mut found, mut from) = (Vec::new(), 0);
        let call = |mark: &Mark| u64::from(mark.place.saturating_sub(1));
        for mark in self.marks.iter().filter(|mark| mark.region == region) {
            match open.take(region, mark.begins) {
                Border::Begins => from = call(mark),
                Border::Ends => found.push((from, if mark.place == u32::MAX { u64::MAX } else { call(mark) })),
                Border::Inner | Border::Stray => {}
            }
        }
        if !open.regions().is_empty() {
            found.push((from, u64::MAX));
        }
        found
    }
}

impl Program {
    /// Whether any region is marked.
    pub fn has_regions(&self) -> bool {
        !self.regions.is_empty()
    }

    /// The number of a region.
    ///
    /// # Errors
    /// There is none of this name: those that there are.
    pub fn region(&self, name: &str) -> Result<u32, Diagnostic> {
        if let Some(number) = self.regions.iter().position(|region| &**region == name) {
            return Ok(number as u32);
        }
        let unknown = Diagnostic::new("unknown-region", format!("there is no region `{name}`"));
        let names = || self.regions.iter().map(|region| &**region);
        Err(match closest(name, names()) {
            Some(near) => unknown.help(format!("did you mean `{near}`? {}", self.listed_regions())),
            None => unknown.help(self.listed_regions()),
        })
    }

    /// The regions that there are, in a sentence.
    fn listed_regions(&self) -> String {
        const MOST: usize = 20;
        let names: Vec<String> = self.regions.iter().take(MOST).map(|name| format!("`{name}`")).collect();
        match self.regions.len() {
            0 => "the program marks none: hayase_region_begin(\"solve\") of hayase.h marks one, and so do --from \
                  FILE:LINE and --to FILE:LINE"
                .to_owned(),
            all if all > MOST => format!("there are {} and {} more", names.join(", "), all - MOST),
            _ => format!("there are {}", names.join(", ")),
        }
    }

    /// Borders that belong to no other: a sentence for each region that has any.
    pub fn stray_borders(&self) -> Vec<String> {
        let mut ends = vec![(0_u64, u32::MAX); self.regions.len()];
        let mut begins = vec![(0_u64, u32::MAX); self.regions.len()];
        for (rank, of) in self.iter() {
            let mut open = Open::new(self.regions.len());
            for mark in &of.marks {
                if open.take(mark.region, mark.begins) == Border::Stray {
                    let (count, first) = &mut ends[mark.region as usize];
                    (*count, *first) = (*count + 1, rank.0.min(*first));
                }
            }
            for &region in open.regions() {
                let (count, first) = &mut begins[region as usize];
                (*count, *first) = (*count + 1, rank.0.min(*first));
            }
        }
        let mut said = Vec::new();
        for (name, (ends, begins)) in self.regions.iter().zip(ends.into_iter().zip(begins)) {
            let times = |(count, rank): (u64, u32)| match count {
                1 => format!("once, on rank {rank}"),
                _ => format!("{count} times, first on rank {rank}"),
            };
            if ends.0 > 0 {
                said.push(format!(
                    "region `{name}` ends without having begun ({}): that end is passed over",
                    times(ends)
                ));
            }
            if begins.0 > 0 {
                said.push(format!(
                    "region `{name}` does not end ({}): it is taken to end with its rank",
                    times(begins)
                ));
            }
        }
        said
    }

    /// The number of a region with this name, which is made if there is none.
    pub fn new_region(&mut self, name: &str) -> u32 {
        let known = self.regions.iter().position(|region| &**region == name);
        known.unwrap_or_else(|| {
            self.regions.push(Arc::from(name));
            self.regions.len() - 1
        }) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::program::{Op, ProgramBuilder};

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

    fn program(borders: &[(u32, &str, bool)]) -> Program {
        let mut program = ProgramBuilder::new(1);
        let mut rank = program.sequence(0);
        for op in 0..=10 {
            for (_, name, begins) in borders.iter().filter(|(at, ..)| *at == op) {
                let region = program.region(name);
                rank.mark(region, *begins, 0, op);
            }
            if op < 10 {
                rank.push(Op::calc(Time::from_ps(1.0)));
            }
        }
        program.finish_rank(rank);
        program.build().unwrap()
    }

    #[test]
    fn a_region_within_itself_is_a_part_of_it_and_others_may_cross() {
        let program = program(&[
            (1, "a", true),
            (2, "a", true),
            (3, "b", true),
            (4, "a", false),
            (5, "a", false),
            (6, "b", false),
            (8, "a", true),
            (9, "a", false),
        ]);
        let rank = program.rank(crate::ids::RankId(0));
        assert_eq!(rank.within(0), [(1, 5), (8, 9)]);
        assert_eq!(rank.within(1), [(3, 6)]);
        assert_eq!(program.stray_borders(), [""; 0]);
    }

    #[test]
    fn borders_that_belong_to_no_other_are_said_and_do_no_harm() {
        let program = program(&[(1, "a", false), (2, "a", true), (4, "a", false), (7, "b", true)]);
        let rank = program.rank(crate::ids::RankId(0));
        assert_eq!((rank.within(0), rank.within(1)), (vec![(2, 4)], vec![(7, 10)]));
        let said = program.stray_borders();
        assert!(said[0].starts_with("region `a` ends without having begun (once, on rank 0)"), "{said:?}");
        assert!(said[1].starts_with("region `b` does not end"), "{said:?}");
    }

    #[test]
    fn an_unknown_region_names_those_that_there_are() {
        let program = program(&[(1, "solve", true), (2, "assemble", true)]);
        assert_eq!(program.region("assemble").unwrap(), 1);
        let mistake = program.region("sovle").unwrap_err();
        assert_eq!(mistake.help.as_deref(), Some("did you mean `solve`? there are `solve`, `assemble`"));
    }
}

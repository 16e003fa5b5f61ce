//! Start-up: the part of a program that runs once, before the part that repeats.
//!
//! **End of start-up.** The calls of a rank are divided into ten parts with the same number of calls. A call
//! site belongs to the program's *main part* if calls are made from it in at least five of the ten parts. If
//! no site reaches five, the sites with the most parts are taken. Start-up ends with the rank's first call
//! from a site of the main part. For example, a site that distributes options is called in the first part
//! alone, one that reads commands in the first and the last.

use rustc_hash::FxHashMap;

use super::{Mark, OpKind, Program, RankProgram};
use crate::base::Arrange;
use crate::ids::RankId;

/// Number of parts into which the calls of a rank are divided.
const PARTS: u64 = 10;
/// Number of parts in which a site of the main part is called.
const MAIN_PARTS: u32 = 5;

/// Name of the region after start-up.
pub const REGION_NAME: &str = "after start-up";

/// Start-up that was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StartUp {
    /// Smallest and largest number of start-up calls of any rank.
    pub calls: (u64, u64),
    /// Start-up calls of all ranks, and all calls of all ranks.
    pub of: (u64, u64),
    /// Call site of rank 0's first call after start-up: a number in [`Program::sites`] plus one, or 0 if
    /// unknown.
    pub until: u32,
}

impl Program {
    /// Marks everything after start-up as a region. If `calls` is given, start-up is that number of calls of
    /// each rank.
    pub fn mark_after_start_up(&mut self, calls: Option<u64>) -> StartUp {
        let region = self.new_region(REGION_NAME);
        let mut found = StartUp { calls: (u64::MAX, 0), ..StartUp::default() };
        for rank in (0..self.ranks()).map(RankId) {
            let of = self.rank_mut(rank);
            let skipped = calls.unwrap_or_else(|| start_up(of));
            let all = calls_of(of).count() as u64;
            let skipped = skipped.min(all);
            // The computation before the first call after start-up belongs to that call.
            let before = skipped.checked_sub(1).and_then(|last| calls_of(of).nth(last as usize));
            let at = before.map_or(0, |(at, _)| end_of_call(of, at));
            if rank.0 == 0 {
                let next = calls_of(of).nth(skipped as usize);
                found.until = next.and_then(|(at, _)| of.sites.get(at).copied()).unwrap_or(0);
            }
            found.calls = (found.calls.0.min(skipped), found.calls.1.max(skipped));
            found.of = (found.of.0 + skipped, found.of.1 + all);
            let place = of.place_or_last(at).unwrap_or(0);
            of.marks.push(Mark { at: at as u32, region, begins: true, site: 0, place });
            of.marks.push(Mark { at: of.ops.len() as u32, region, begins: false, site: 0, place: u32::MAX });
            of.marks.arrange_by_key(|mark| mark.at);
        }
        found
    }
}

/// Returns the first operation of each call with its call site.
fn calls_of(rank: &RankProgram) -> impl Iterator<Item = (usize, u32)> + '_ {
    let ops = rank.ops.iter().enumerate();
    // The two halves of a sendrecv and their wait are one call: that of the send between them.
    let calls = ops.filter(|(_, op)| op.kind != OpKind::Calc && !op.is_within_call());
    calls.map(|(at, _)| (at, rank.sites.get(at).copied().unwrap_or(0)))
}

/// Returns the position after the last operation of a call.
fn end_of_call(rank: &RankProgram, at: usize) -> usize {
    let is_half = rank.ops.get(at + 1).is_some_and(|op| op.kind == OpKind::Wait && op.is_within_call());
    at + if is_half { 2 } else { 1 }
}

/// Returns the number of calls of a rank before its main part.
fn start_up(rank: &RankProgram) -> u64 {
    let all = calls_of(rank).count() as u64;
    let mut parts: FxHashMap<u32, u16> = FxHashMap::default();
    for (number, (_, site)) in (0..).zip(calls_of(rank)) {
        *parts.entry(site).or_default() |= 1 << (PARTS * number / all.max(1));
    }
    let most = parts.values().map(|parts| parts.count_ones()).max().unwrap_or(0);
    let many = most.min(MAIN_PARTS);
    let is_main = |site: u32| parts.get(&site).is_some_and(|parts| parts.count_ones() >= many);
    calls_of(rank).position(|(_, site)| is_main(site)).unwrap_or(0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Envelope, Op, ProgramBuilder};
    use crate::units::Time;

    /// Builds a rank that calls from these sites in this order; returns its start-up and the range of its
    /// main part.
    fn found(sites: &[u32]) -> (StartUp, Vec<(u32, u32)>) {
        let mut program = ProgramBuilder::new(1);
        for site in 1..=sites.iter().copied().max().unwrap_or(0) {
            program.site(&format!("a.c:{site}"));
        }
        let mut rank = program.sequence(0);
        for &site in sites {
            rank.at_site(site);
            rank.push(Op::calc(Time::from_ps(1.0)));
            rank.push(Op::send(Envelope::world(0, 0), 1));
        }
        program.finish_rank(rank);
        let mut program = program.build().unwrap();
        let found = program.mark_after_start_up(None);
        (found, program.rank(RankId(0)).within(0))
    }

    #[test]
    fn options_that_are_broadcast_are_start_up_and_so_are_commands() {
        // Eight broadcasts of options; a command is read at site 2 before and after the loop of sites 3 and 4.
        let mut sites = vec![1; 8];
        sites.push(2);
        (0..40).for_each(|_| sites.extend([3, 4]));
        sites.push(2);
        let (start_up, within) = found(&sites);
        assert_eq!((start_up.calls, start_up.of, start_up.until), ((9, 9), (9, 90), 3));
        // From after the last call of start-up to the end: the computation before the loop's first call is
        // included.
        assert_eq!(within, [(18, 180)]);
    }

    #[test]
    fn a_program_of_phases_begins_with_the_longest() {
        let mut sites = vec![1; 30];
        sites.extend([2; 30]);
        sites.extend([3; 40]);
        assert_eq!(found(&sites).0.calls, (60, 60));
    }

    #[test]
    fn a_program_that_is_a_loop_has_no_start_up() {
        let sites: Vec<u32> = (0..50).flat_map(|_| [1, 2]).collect();
        let (start_up, within) = found(&sites);
        assert_eq!((start_up.calls, within), ((0, 0), vec![(0, 200)]));
    }
}

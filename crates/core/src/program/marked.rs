//! The regions that a program marks: their names, their positions, and borders without a counterpart.

use std::sync::Arc;

use super::regions::{Border, Mark, Open};
use super::{Program, RankProgram};
use crate::diagnostic::{Diagnostic, closest};

impl RankProgram {
    /// Returns the ranges of operations that lie within a region, ascending; each range excludes its end.
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

    /// Returns the ranges of calls of the recorded run that lie within a region, ascending. Calls are
    /// numbered from 0; each range excludes its end.
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
    /// Returns true if any region is marked.
    pub fn has_regions(&self) -> bool {
        !self.regions.is_empty()
    }

    /// Returns the number of a region.
    ///
    /// # Errors
    /// No region has this name; the message lists the existing ones.
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

    /// Lists the existing regions in a sentence.
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

    /// Reports borders without a counterpart: a sentence for each region that has any.
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

    /// Returns the number of the region with this name, and adds the region if it does not exist.
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
    use crate::program::{Op, ProgramBuilder};
    use crate::units::Time;

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

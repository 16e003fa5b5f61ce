//! A region between two places of the source: from the call at one to the call at the other.
//!
//! The region begins when a rank enters a call at the first place, unless it is open already. It ends when
//! the rank returns from a call at the second place. Without a first place it begins with the program,
//! without a second it ends with the program.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use super::{OpKind, Program};
use crate::base::Arrange;
use crate::diagnostic::Diagnostic;
use crate::ids::RankId;

/// Number of nearby lines that an error message lists if there is no call at the given line.
const NEAREST: usize = 4;

/// A line of a source file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SourceLine {
    /// End of the path of the file: its name and any number of folders before it.
    pub file: String,
    /// Number of the line, from 1.
    pub line: u32,
}

impl FromStr for SourceLine {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let place = text.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse::<u32>().ok()?)));
        match place {
            Some((file, line)) if !file.is_empty() && line > 0 => Ok(Self { file: file.to_owned(), line }),
            _ => Err("a file and a line are expected: solver.c:40".to_owned()),
        }
    }
}

impl fmt::Display for SourceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

impl SourceLine {
    /// Returns the line of a call site as traces name it, `src/solver.c:40 (solve)`; `None` if it has none.
    pub fn of_site(site: &str) -> Option<Self> {
        let place = site.split(" (").next().unwrap_or(site);
        let mut parts = place.rsplitn(3, ':');
        let (last, middle, first) = (parts.next()?, parts.next()?, parts.next());
        let number = |text: &str| text.parse::<u32>().ok();
        match (number(middle), first) {
            // A column follows the line.
            (Some(line), Some(file)) if number(last).is_some() => Some(Self { file: file.to_owned(), line }),
            _ => Some(Self { file: place[..place.len() - last.len() - 1].to_owned(), line: number(last)? }),
        }
    }

    /// Returns true if `other` is in the same file; `other` may have a longer path.
    fn is_file_of(&self, other: &Self) -> bool {
        other.file == self.file || other.file.strip_suffix(&self.file).is_some_and(|folder| folder.ends_with('/'))
    }
}

/// Two places of the source between which a region lies.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Between {
    /// Call sites at which the region begins.
    pub from: Option<SourceLine>,
    /// Call sites at which the region ends.
    pub to: Option<SourceLine>,
}

/// Borders of a region that a call site can be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SiteBorders {
    /// True if the region can begin here.
    pub from: bool,
    /// True if the region can end here.
    pub to: bool,
}

impl Between {
    /// Returns the region's default name.
    pub fn name(&self) -> String {
        let place =
            |place: &Option<SourceLine>, other: &str| place.as_ref().map_or(other.to_owned(), ToString::to_string);
        format!("{} to {}", place(&self.from, "start"), place(&self.to, "end"))
    }

    /// Tells which borders of the region a call site can be.
    pub fn ends(&self, site: &str) -> SiteBorders {
        let Some(found) = SourceLine::of_site(site) else { return SiteBorders::default() };
        let is = |place: &Option<SourceLine>| {
            place.as_ref().is_some_and(|place| place.line == found.line && place.is_file_of(&found))
        };
        SiteBorders { from: is(&self.from), to: is(&self.to) }
    }

    /// Checks that both places are among the call sites. If both are given, `ended`, the number of times the
    /// region ended at a call on any rank, must not be 0.
    ///
    /// # Errors
    /// A place has no call (the message names the nearest lines that have calls), or the region is empty.
    pub fn check<'a>(&self, sites: impl Iterator<Item = &'a str> + Clone, ended: u64) -> Result<(), Diagnostic> {
        for (option, place) in [("--from", &self.from), ("--to", &self.to)] {
            let Some(place) = place else { continue };
            let known: BTreeSet<SourceLine> = sites.clone().filter_map(SourceLine::of_site).collect();
            if !known.iter().any(|other| other.line == place.line && place.is_file_of(other)) {
                return Err(no_call(option, place, &known));
            }
        }
        if let (Some(from), Some(to), 0) = (&self.from, &self.to, ended) {
            let message = format!("no rank comes to a call at --to {to} after one at --from {from}");
            return Err(Diagnostic::new("empty-region", message).help(format!(
                "write --from {to} --to {from}, or leave --to out: the region then ends with the program"
            )));
        }
        Ok(())
    }

    /// Marks the region in a program whose operations have call sites. Returns the region's number.
    ///
    /// # Errors
    /// Those of [`check`](Self::check).
    pub fn mark(&self, program: &mut Program, name: &str) -> Result<u32, Diagnostic> {
        let ends: Vec<SiteBorders> = program.sites.iter().map(|site| self.ends(site)).collect();
        let region = program.new_region(name);
        let mut ended = 0;
        for rank in 0..program.ranks() {
            ended += self.mark_rank(program.rank_mut(RankId(rank)), region, &ends);
        }
        self.check(program.sites.iter().map(|site| &**site), ended)?;
        Ok(region)
    }

    /// Marks the region in one rank. Returns the number of times it ended at a call.
    fn mark_rank(&self, rank: &mut super::RankProgram, region: u32, ends: &[SiteBorders]) -> u64 {
        let mut marks = Vec::new();
        let (mut open, mut ended) = (self.from.is_none(), 0);
        let place = |at: u32| rank.place_or_last(at as usize).unwrap_or(0);
        let mark = |at: u32, begins| super::Mark { at, region, begins, site: 0, place: place(at) };
        if open {
            marks.push(mark(0, true));
        }
        let mut at = 0;
        while at < rank.ops.len() {
            let op = &rank.ops[at];
            // The two halves of a sendrecv and their wait are one call.
            let whole = op.kind == OpKind::Irecv
                && op.is_within_call()
                && rank.ops.get(at + 2).is_some_and(|wait| wait.kind == OpKind::Wait && wait.is_within_call());
            let next = at + if whole { 3 } else { 1 };
            let site = rank.sites.get(at).and_then(|site| site.checked_sub(1));
            let here = site.and_then(|site| ends.get(site as usize)).copied().unwrap_or_default();
            if op.kind != OpKind::Calc {
                if here.from && !open {
                    marks.push(mark(at as u32, true));
                    open = true;
                }
                if here.to && open {
                    marks.push(mark(next as u32, false));
                    (open, ended) = (false, ended + 1);
                }
            }
            at = next;
        }
        if open && self.to.is_none() {
            marks.push(mark(rank.ops.len() as u32, false));
        }
        rank.marks.extend(marks);
        // At equal positions, marks that existed before stay first.
        rank.marks.arrange_by_key(|mark| mark.at);
        ended
    }
}

/// Reports that a place has no call, and names lines that have calls.
fn no_call(option: &str, place: &SourceLine, known: &BTreeSet<SourceLine>) -> Diagnostic {
    let message = format!("no call of MPI is recorded at {option} {place}");
    let unknown = Diagnostic::new("no-call", message);
    let mut near: Vec<&SourceLine> = known.iter().filter(|other| place.is_file_of(other)).collect();
    near.arrange_by_key(|other| (other.line.abs_diff(place.line), other.line));
    near.truncate(NEAREST);
    near.sort();
    if !near.is_empty() {
        let near: Vec<String> = near.iter().map(|place| place.to_string()).collect();
        return unknown.help(format!("the nearest lines with calls are {}", near.join(", ")));
    }
    let files: BTreeSet<&str> = known.iter().map(|place| place.file.as_str()).collect();
    let files: Vec<&str> = files.into_iter().take(2 * NEAREST).collect();
    unknown.help(match files.is_empty() {
        true => "it is not known from which lines calls are made: compile the program with -g".to_owned(),
        false => format!("calls are made in {}", files.join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Envelope, Op, ProgramBuilder};
    use crate::units::Time;

    fn line(text: &str) -> SourceLine {
        text.parse().unwrap()
    }

    #[test]
    fn a_place_is_a_file_and_a_line() {
        assert_eq!(SourceLine::of_site("src/a b.c:40 (solve)"), Some(line("src/a b.c:40")));
        assert_eq!(SourceLine::of_site("src/a.c:40:7 (solve)"), Some(line("src/a.c:40")));
        assert_eq!(SourceLine::of_site("pw.x+0x123"), None);
        assert_eq!(SourceLine::of_site("f:x:1"), Some(line("f:x:1")));
        for wrong in ["a.c", "a.c:", ":4", "a.c:0", "a.c:-1"] {
            assert!(wrong.parse::<SourceLine>().is_err(), "{wrong}");
        }
        assert!(line("a.c:1").is_file_of(&line("/x/a.c:9")) && !line("a.c:1").is_file_of(&line("/x/aa.c:9")));
    }

    /// Marks a region in calls from the sites `a.c:10`, `a.c:20` and `a.c:30`; returns the positions within
    /// it.
    fn within(calls: &[u32], from: Option<&str>, to: Option<&str>) -> Result<Vec<(u32, u32)>, Diagnostic> {
        let mut program = ProgramBuilder::new(1);
        let sites: Vec<u32> = ["x/a.c:10 (f)", "x/a.c:20 (f)", "x/a.c:30"].map(|site| program.site(site)).into();
        let mut rank = program.sequence(0);
        for &call in calls {
            rank.at_site(sites[call as usize]);
            rank.push(Op::calc(Time::from_ps(1.0)));
            rank.push(Op::send(Envelope::world(0, 0), 1));
        }
        program.finish_rank(rank);
        let mut program = program.build().unwrap();
        let between = Between { from: from.map(line), to: to.map(line) };
        let region = between.mark(&mut program, "r")?;
        Ok(program.rank(RankId(0)).within(region))
    }

    #[test]
    fn it_goes_from_the_entry_into_one_call_to_the_return_from_another() {
        // The computation before the first call is outside, the computation between the two calls inside.
        assert_eq!(within(&[0, 1, 2], Some("a.c:10"), Some("a.c:20")).unwrap(), [(1, 4)]);
        assert_eq!(within(&[0, 0, 1, 1, 0, 2], Some("a.c:10"), Some("a.c:20")).unwrap(), [(1, 6), (9, 12)]);
        assert_eq!(within(&[0, 1, 0], Some("a.c:10"), Some("a.c:10")).unwrap(), [(1, 2), (5, 6)], "one call");
        assert_eq!(within(&[0, 1, 2], None, Some("x/a.c:20")).unwrap(), [(0, 4)]);
        assert_eq!(within(&[0, 1, 2], Some("a.c:20"), None).unwrap(), [(3, 6)]);
    }

    #[test]
    fn what_cannot_be_says_what_to_write_instead() {
        let mistake = within(&[0, 1, 2], Some("a.c:17"), None).unwrap_err();
        assert_eq!(mistake.message, "no call of MPI is recorded at --from a.c:17");
        assert_eq!(mistake.help.unwrap(), "the nearest lines with calls are x/a.c:10, x/a.c:20, x/a.c:30");
        let mistake = within(&[0, 1], None, Some("b.c:10")).unwrap_err();
        assert_eq!(mistake.help.unwrap(), "calls are made in x/a.c");
        let mistake = within(&[0, 1], Some("a.c:20"), Some("a.c:10")).unwrap_err();
        assert!(mistake.help.unwrap().starts_with("write --from a.c:10 --to a.c:20"));
    }
}

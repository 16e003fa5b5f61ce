//! A001: communication that could be under way while the program computes.

use std::collections::BTreeMap;

use crate::doubts::Doubts;
use crate::fold::Folded;
use crate::model::{Action, CallPart, Dependence, Finding, Iterations, Location, Point, Role, RuleId, Side};
use crate::overlap::{Spread, needed};
use crate::past::IterationShare;
use crate::watch::{Blocker, NO_LINE};

/// Key of a finding: line, call, part, and the line and call of the wait.
pub type Key<L> = (L, &'static str, CallPart, Option<(L, &'static str)>);

/// Communications that can be spread, by place.
///
/// Each place has two findings: one with the known reach, and one with the reach if earlier data decides
/// nothing.
#[derive(Debug)]
pub struct Overlap<L> {
    folded: BTreeMap<Key<L>, [Folded<L>; 2]>,
}

impl<L> Default for Overlap<L> {
    fn default() -> Self {
        Self { folded: BTreeMap::new() }
    }
}

impl Overlap<u32> {
    /// Adds a communication of a rank; without memory accesses, it must save at least `least` \[ns\] of computation.
    pub fn add(&mut self, rank: u32, memory: bool, spread: &Spread, least: u64) {
        let part = if spread.neighbour.is_some() { CallPart::Collective } else { spread.part };
        let key = (spread.line, spread.name, part, spread.waits.map(|(name, line)| (line, name)));
        let [folded, beyond] = self.folded.entry(key).or_default();
        add(folded, rank, memory, spread, least);
        match &spread.beyond {
            None => add(beyond, rank, memory, spread, least),
            Some(early) => {
                let spread = Spread { early: (**early).clone(), beyond: None, ..spread.clone() };
                add(beyond, rank, memory, &spread, least);
            }
        }
    }

    /// Converts lines to locations.
    pub fn locate(self, line: impl Fn(u32) -> Location) -> Overlap<Location> {
        let mut located = Overlap::default();
        for ((at, call, part, waits), folded) in self.folded {
            let key = (line(at), call, part, waits.map(|(at, call)| (line(at), call)));
            located.insert(key, folded.map(|folded| folded.map(|&at| line(at))));
        }
        located
    }
}

/// Adds a communication to those of its place. The messages of a neighbourhood collective count once.
fn add(folded: &mut Folded<u32>, rank: u32, memory: bool, spread: &Spread, least: u64) {
    let (early, late) = (&spread.early, &spread.late);
    let counts = spread.neighbour.is_none_or(|place| place == 0);
    if counts {
        folded.executions += 1;
        folded.given(spread.arguments);
    }
    let worth = if memory {
        // Accesses of the blocking line are no computation that could overlap.
        let moves = !spread.detailed || !early.lines.is_empty() || !late.lines.is_empty();
        early.accesses + late.accesses > 0 && moves
    } else {
        early.time.saturating_add(late.time) >= least.max(1)
    };
    if !worth {
        return;
    }
    let relative =
        |(interval, fraction): (u64, f32)| Point { interval: interval as i64 - spread.event as i64, fraction };
    let (post, wait) = (relative(early.point), relative(late.point));
    let action = Action::Overlap { part: spread.part, post, wait, needs: needed(&spread.needs, spread.event) };
    folded.edits.push(rank, spread.event, action);
    folded.bytes += spread.bytes;
    folded.doubts.and(spread.doubts);
    // Sent data is written before an earlier post; received data must not arrive before its variable exists.
    if spread.on_stack && (late.accesses > 0 || (spread.part != CallPart::Send && early.accesses > 0)) {
        folded.doubts.and(Doubts::SCOPE);
    }
    if !counts {
        return;
    }
    folded.found += 1;
    folded.ranks.insert(rank);
    folded.time += early.time + late.time;
    folded.before_reading |= spread.before_reading;
    folded.place(Role::Communication, spread.line, spread.name, None);
    if let Some((call, line)) = spread.waits {
        folded.place(Role::Completion, line, call, None);
    }
    let sides = [
        (Side::Before, Role::OverlapBefore, early.block, &early.lines),
        (Side::After, Role::OverlapAfter, late.block, &late.lines),
    ];
    for (side, role, block, shares) in sides {
        for share in shares {
            let iterations = Iterations { first: share.first, last: share.last, of: share.of };
            folded.place(role, share.line, "", Some(iterations));
        }
        let line = (block.line != NO_LINE).then_some(block.line);
        let rest = rest(&block, side, shares);
        folded.blocker(side, block.dependence, line, block.call, block.address, rest);
    }
}

/// Returns the iterations of a blocking line outside its share.
fn rest(block: &Blocker, side: Side, shares: &[IterationShare]) -> Option<Iterations> {
    let share = shares.iter().find(|share| share.line == block.line && share.count() < share.of)?;
    Some(match side {
        Side::Before => Iterations { first: 1, last: share.first - 1, of: share.of },
        Side::After => Iterations { first: share.last + 1, last: share.of, of: share.of },
    })
}

impl Overlap<Location> {
    fn insert(&mut self, key: Key<Location>, folded: [Folded<Location>; 2]) {
        let own = self.folded.entry(key).or_default();
        own.iter_mut().zip(folded).for_each(|(own, other)| own.merge(other));
    }

    /// Adds doubts to all findings.
    pub fn doubt(&mut self, doubts: Doubts) {
        self.folded.values_mut().flatten().for_each(|folded| folded.doubts.and(doubts));
    }

    /// Adds the communications of a later rank.
    pub fn merge(&mut self, other: Self) {
        for (key, folded) in other.folded {
            self.insert(key, folded);
        }
    }

    /// Returns the findings, by place.
    pub fn findings(self, ranks: u32) -> Vec<Finding> {
        let one = |((line, call, part, waits), [folded, mut beyond]): (Key<Location>, [Folded<Location>; 2])| {
            beyond.doubts.and(Doubts::CONTENT);
            let mut folded = if folded.found > 0 { folded } else { beyond };
            let does = match part {
                CallPart::Collective => call.to_owned(),
                _ if !call.starts_with("Sendrecv") && !call.starts_with("Start") => call.to_owned(),
                CallPart::Send => format!("the send of {call}"),
                CallPart::Receive => format!("the receive of {call}"),
            };
            let title = match &waits {
                None => format!("{does} at {line} could be under way during computation"),
                Some((wait, how)) => {
                    format!("{does} at {line}, completed by {how} at {wait}, could be under way longer")
                }
            };
            // A call with the same arguments each time does not depend on received data.
            if folded.before_reading && folded.varies() {
                folded.doubts.and(Doubts::CONTENT);
            }
            let mut finding = folded.finding(RuleId::A001, title, Vec::new(), ranks)?;
            for (role, what) in [(Role::OverlapBefore, "posted before"), (Role::OverlapAfter, "completed after")] {
                let lines: Vec<String> = finding
                    .places
                    .iter()
                    .filter(|place| place.role == role)
                    .take(8)
                    .map(|place| match place.iterations.filter(|_| place.whole == 0) {
                        Some(iterations) => format!("{} ({iterations})", place.location),
                        None => place.location.to_string(),
                    })
                    .collect();
                if !lines.is_empty() {
                    finding.text.push(format!("it can be {what} {}", lines.join(", ")));
                }
            }
            for blocker in finding.blockers.iter().filter(|blocker| blocker.dependence != Dependence::Program).take(4) {
                let side = if blocker.side == Side::Before { "before" } else { "behind" };
                let place = blocker.location.as_ref().map_or_else(String::new, |at| format!(" of {at}"));
                finding.text.push(format!("no further {side}: {}{place}", blocker.dependence.name()));
            }
            Some(finding)
        };
        self.folded.into_iter().filter_map(one).collect()
    }
}

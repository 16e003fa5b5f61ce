//! Folding of occurrences into findings: all occurrences at one place, on all ranks, become one finding.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::doubts::Doubts;
use crate::model::{
    Action, Blocker, Change, Dependence, Edit, Finding, Iterations, Location, Place, Ranks, Role, RuleId, Side,
};
use crate::unit::Unit;

/// Largest number of edits of a finding on one rank, and in all; further occurrences are only counted.
const MAX_EDITS_PER_RANK: usize = 1 << 14;
const MAX_EDITS: usize = 1 << 20;
/// Largest number of lines that a caveat names.
const MAX_NAMED: usize = 6;

/// List of edits in which repeated edits are stored once.
#[derive(Clone, Debug, Default)]
pub struct Edits {
    list: Vec<Edit>,
    /// Index of the newest edit of each rank, and the number of its edits.
    newest: FxHashMap<u32, (usize, usize)>,
    left_out: u64,
}

impl Edits {
    /// Adds an edit; the edits of a rank fold best in the order of their events.
    pub fn push(&mut self, rank: u32, event: u64, action: Action) {
        let (newest, count) = self.newest.get(&rank).copied().unwrap_or((usize::MAX, 0));
        if let Some(last) = self.list.get_mut(newest)
            && last.action == action
            && !matches!(action, Action::Replace { .. })
            && let Some(step) = event.checked_sub(last.event + (last.times - 1) * last.step)
            && step > 0
            && (last.times == 1 || last.step == step)
        {
            (last.times, last.step) = (last.times + 1, step);
        } else if count < MAX_EDITS_PER_RANK && self.list.len() < MAX_EDITS {
            self.newest.insert(rank, (self.list.len(), count + 1));
            self.list.push(Edit { rank, event, times: 1, step: 0, action });
        } else {
            self.left_out += 1;
        }
    }

    /// Adds the edits of a later rank.
    pub fn append(&mut self, mut other: Self) {
        let room = MAX_EDITS.saturating_sub(self.list.len());
        self.left_out +=
            other.left_out + other.list.drain(room.min(other.list.len())..).map(|edit| edit.times).sum::<u64>();
        self.list.append(&mut other.list);
    }

    /// Converts the edits into a change of the program.
    pub fn change(mut self) -> Change {
        self.list.sort_by_key(|edit| (edit.rank, edit.event));
        Change::Program { edits: self.list, left_out: self.left_out }
    }
}

/// Occurrences of a place in a finding: their number, those with all iterations, and the largest part.
#[derive(Clone, Copy, Debug, Default)]
struct PlaceShare {
    occurrences: u64,
    whole: u64,
    largest: Option<Iterations>,
}

/// Occurrences of a blocker, with the address and iterations of the first.
#[derive(Clone, Copy, Debug)]
struct BlockerCount {
    occurrences: u64,
    address: u64,
    iterations: Option<Iterations>,
}

/// Side, dependence, line and call of a blocker.
type BlockerKey<L> = (Side, Dependence, Option<L>, Option<&'static str>);

/// Partner, tag and size \[B\] of a communication.
pub type Arguments = (i32, i32, u64);

/// Finding under construction; `L` is first a line number of a rank and at the end a location.
#[derive(Clone, Debug)]
pub struct Folded<L> {
    /// Number of executions that could be improved.
    pub found: u64,
    /// Number of executions.
    pub executions: u64,
    /// Bytes of the messages that could be improved.
    pub bytes: u64,
    /// Time at stake \[ns\].
    pub time: u64,
    /// Doubts that need a check by eye.
    pub doubts: Doubts,
    /// Ranks on which it occurs.
    pub ranks: Ranks,
    /// Changes of the calls.
    pub edits: Edits,
    /// Set if a communication could be posted before the program reads data that arrived earlier.
    pub before_reading: bool,
    /// Arguments of the first execution, and true if another execution has different ones.
    arguments: Option<(Arguments, bool)>,
    places: BTreeMap<(Role, L, &'static str), PlaceShare>,
    blockers: BTreeMap<BlockerKey<L>, BlockerCount>,
}

impl<L> Default for Folded<L> {
    fn default() -> Self {
        Self {
            found: 0,
            executions: 0,
            bytes: 0,
            time: 0,
            doubts: Doubts::default(),
            ranks: Ranks::default(),
            edits: Edits::default(),
            before_reading: false,
            arguments: None,
            places: BTreeMap::new(),
            blockers: BTreeMap::new(),
        }
    }
}

impl<L: Ord + Clone> Folded<L> {
    /// Records the arguments of an execution.
    pub fn given(&mut self, arguments: Arguments) {
        let (first, several) = self.arguments.get_or_insert((arguments, false));
        *several |= *first != arguments;
    }

    /// True if the executions differ in their arguments.
    pub fn varies(&self) -> bool {
        self.arguments.is_some_and(|(_, several)| several)
    }

    /// Adds one occurrence of a place, with its iterations.
    pub fn place(&mut self, role: Role, line: L, call: &'static str, iterations: Option<Iterations>) {
        self.places(role, line, call, 1, iterations);
    }

    /// Adds `times` occurrences of a place.
    pub fn places(&mut self, role: Role, line: L, call: &'static str, times: u64, iterations: Option<Iterations>) {
        let share = self.places.entry((role, line, call)).or_default();
        share.occurrences += times;
        match iterations {
            Some(new) if new.last + 1 - new.first < new.of => {
                if share.largest.is_none_or(|old| old.last + 1 - old.first < new.last + 1 - new.first) {
                    share.largest = Some(new);
                }
            }
            _ => share.whole += times,
        }
    }

    /// Adds an occurrence of a blocker.
    pub fn blocker(
        &mut self,
        side: Side,
        dependence: Dependence,
        line: Option<L>,
        call: Option<&'static str>,
        address: u64,
        iterations: Option<Iterations>,
    ) {
        let blocked = self.blockers.entry((side, dependence, line, call));
        blocked.or_insert(BlockerCount { occurrences: 0, address, iterations }).occurrences += 1;
    }

    /// Converts the lines with `line`.
    pub fn map<M: Ord + Clone>(self, line: impl Fn(&L) -> M) -> Folded<M> {
        let mut places: BTreeMap<_, PlaceShare> = BTreeMap::new();
        for ((role, at, call), share) in self.places {
            places.entry((role, line(&at), call)).or_default().add(&share);
        }
        let mut blockers: BTreeMap<_, BlockerCount> = BTreeMap::new();
        for ((side, dependence, at, call), blocked) in self.blockers {
            let entry = blockers.entry((side, dependence, at.as_ref().map(&line), call));
            entry.and_modify(|other| other.occurrences += blocked.occurrences).or_insert(blocked);
        }
        let Self { found, executions, bytes, time, doubts, ranks, edits, before_reading, arguments, .. } = self;
        Folded { found, executions, bytes, time, doubts, ranks, edits, before_reading, arguments, places, blockers }
    }

    /// Adds the occurrences of a later rank at the same place.
    pub fn merge(&mut self, other: Self) {
        self.found += other.found;
        self.executions += other.executions;
        self.bytes += other.bytes;
        self.time += other.time;
        self.doubts.and(other.doubts);
        self.ranks.extend(&other.ranks);
        let varies = other.varies();
        self.edits.append(other.edits);
        self.before_reading |= other.before_reading;
        // Different arguments on different ranks do not count as varying.
        self.arguments = self.arguments.or(other.arguments).map(|(first, own)| (first, own || varies));
        for (key, share) in other.places {
            self.places.entry(key).or_default().add(&share);
        }
        for (key, blocked) in other.blockers {
            self.blockers.entry(key).and_modify(|mine| mine.occurrences += blocked.occurrences).or_insert(blocked);
        }
    }
}

impl PlaceShare {
    fn add(&mut self, other: &Self) {
        self.occurrences += other.occurrences;
        self.whole += other.whole;
        let length = |iterations: Option<Iterations>| iterations.map_or(0, |its| its.last + 1 - its.first);
        if length(other.largest) > length(self.largest) {
            self.largest = other.largest;
        }
    }
}

impl Folded<Location> {
    /// Returns the finding, without its number; `None` if there is nothing to improve.
    pub fn finding(self, rule: RuleId, title: String, mut text: Vec<String>, ranks: u32) -> Option<Finding> {
        if self.found == 0 {
            return None;
        }
        let (caveats, mut notes) = self.doubts.sentences();
        let mut places: Vec<Place> = self
            .places
            .into_iter()
            .map(|((role, location, call), share)| Place {
                location,
                role,
                call: (!call.is_empty()).then(|| call.to_owned()),
                iterations: share.largest,
                occurrences: share.occurrences,
                whole: share.whole,
            })
            .collect();
        places.sort_by(|a, b| {
            (a.role, std::cmp::Reverse(a.occurrences), &a.location).cmp(&(
                b.role,
                std::cmp::Reverse(b.occurrences),
                &b.location,
            ))
        });
        let mut sometimes: Vec<String> = Vec::new();
        for place in &places {
            let overlaps = matches!(place.role, Role::OverlapBefore | Role::OverlapAfter);
            if overlaps && place.occurrences < self.found {
                sometimes.push(format!("{} ({})", place.location, place.occurrences));
            }
        }
        if !sometimes.is_empty() {
            let more = sometimes.len().saturating_sub(MAX_NAMED);
            sometimes.truncate(MAX_NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            notes.push(format!(
                "not executed there in all {} cases: {}{more}; what was executed in the others was seen too",
                self.found,
                sometimes.join(", "),
            ));
        }
        if self.ranks.len() < u64::from(ranks) {
            let (some, _) = self.ranks.in_words();
            notes.push(format!("seen on {some} only, of {ranks}: the others take another way through the program"));
        }
        let mut blockers: Vec<Blocker> = self
            .blockers
            .into_iter()
            .map(|((side, dependence, location, call), blocked)| Blocker {
                location,
                call: call.map(str::to_owned),
                dependence,
                side,
                address: (blocked.address != 0).then_some(blocked.address),
                iterations: blocked.iterations,
                occurrences: blocked.occurrences,
            })
            .collect();
        blockers.sort_by(|a, b| {
            (std::cmp::Reverse(a.occurrences), a.side, &a.location).cmp(&(
                std::cmp::Reverse(b.occurrences),
                b.side,
                &b.location,
            ))
        });
        if self.executions > self.found {
            text.push(format!("{} of {} executions can be improved", self.found, self.executions));
        }
        Some(Finding {
            id: String::new(),
            rule,
            title,
            text,
            places,
            blockers,
            ranks: self.ranks,
            occurrences: self.found,
            executions: self.executions.max(self.found),
            bytes: self.bytes,
            time_ns: self.time,
            caveats,
            notes,
            unit: Unit::of(self.time as f64),
            change: self.edits.change(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_that_repeat_are_stored_once() {
        let merge = |copy| Action::Merge { with: vec![1], bytes: 8, copy, needs: Vec::new() };
        let mut edits = Edits::default();
        for event in [3, 7, 11, 15, 20] {
            edits.push(0, event, merge(8));
        }
        edits.push(0, 25, merge(0));
        edits.push(1, 30, merge(0));
        let Change::Program { edits, left_out: 0 } = edits.change() else { panic!("a change of the program") };
        let events: Vec<Vec<u64>> = edits.iter().map(|edit| edit.events().collect()).collect();
        assert_eq!(events, [vec![3, 7, 11, 15], vec![20], vec![25], vec![30]]);
    }
}

//! A003: collective operations in a row that could be one.

use std::collections::{BTreeMap, BTreeSet};

use hayase_trace::Call;
use rustc_hash::FxHashMap;

use crate::doubts::Doubts;
use crate::fold::Folded;
use crate::merge::{EarlierData, Join, needs_of};
use crate::model::{Action, Finding, Location, Role, RuleId};
use crate::overlap::needed;
use crate::walk::CallEnd;

/// Collective operations that could be one.
#[derive(Debug, Default)]
pub struct ConsecutiveCollectives {
    /// Joins of collective operations by rank, in the order of events.
    joins: Vec<Vec<Join>>,
    open: FxHashMap<u64, (u64, Vec<Vec<CallEnd>>)>,
    /// Groups on one communicator: lists of operations, each a list of its members.
    groups: Vec<Vec<Vec<CallEnd>>>,
}

impl ConsecutiveCollectives {
    /// Creates the rule from the joins of each rank, in the order of events.
    pub fn new(joins: Vec<Vec<Join>>) -> Self {
        Self { joins, ..Self::default() }
    }

    fn join(&self, half: &CallEnd) -> Option<&Join> {
        let joins = self.joins.get(half.rank as usize)?;
        joins.binary_search_by_key(&(half.event as u32), |join| join.event).ok().map(|at| &joins[at])
    }

    /// Adds an operation that all members have called.
    pub fn collective_met(&mut self, comm: u64, ordinal: u64, members: &[CallEnd]) {
        let (last, mut group) = self.open.remove(&comm).unwrap_or_default();
        let joins = group.last().is_some_and(|before: &Vec<CallEnd>| {
            last + 1 == ordinal
                && before.len() == members.len()
                && before
                    .iter()
                    .zip(members)
                    .all(|(before, half)| self.join(half).is_some_and(|join| u64::from(join.before) == before.event))
        });
        if !joins {
            let old = std::mem::take(&mut group);
            if old.len() > 1 {
                self.groups.push(old);
            }
        }
        group.push(members.to_vec());
        self.open.insert(comm, (ordinal, group));
    }

    /// Splits a group before each operation whose size an earlier one may deliver.
    fn split_at_lengths<'g>(
        &self,
        group: &'g [Vec<CallEnd>],
        of_several_sizes: &BTreeSet<Location>,
        line: &impl Fn(u32, u32) -> Location,
    ) -> Vec<&'g [Vec<CallEnd>]> {
        let mut parts = Vec::new();
        let mut from = 0;
        for at in 1..group.len() {
            let mut joins = group[at].iter().filter_map(|half| self.join(half));
            let varies = group[at].first().is_some_and(|half| of_several_sizes.contains(&line(half.rank, half.line)));
            if varies && joins.any(|join| join.content == EarlierData::Length) {
                parts.push(&group[from..at]);
                from = at;
            }
        }
        parts.push(&group[from..]);
        parts.retain(|part| part.len() > 1);
        parts
    }

    /// Returns the findings. `of_several_sizes` holds the lines whose calls have different sizes; `line`
    /// gives the location of a rank's line.
    pub fn findings(
        mut self,
        ranks: u32,
        of_several_sizes: &BTreeSet<Location>,
        line: impl Fn(u32, u32) -> Location,
    ) -> Vec<Finding> {
        let open: BTreeMap<u64, (u64, Vec<Vec<CallEnd>>)> = std::mem::take(&mut self.open).into_iter().collect();
        self.groups.extend(open.into_values().map(|(_, group)| group).filter(|group| group.len() > 1));
        let mut folded: BTreeMap<(Vec<Location>, &'static str), Folded<Location>> = BTreeMap::new();
        for group in self.groups.iter().flat_map(|group| self.split_at_lengths(group, of_several_sizes, &line)) {
            let Some(first) = group.first().and_then(|members| members.first()) else { continue };
            let later = group[1..].iter().filter_map(|members| members.first());
            let several = later.map(|half| line(half.rank, half.line)).any(|at| of_several_sizes.contains(&at));
            let mut lines: Vec<Location> =
                group.iter().filter_map(|members| members.first()).map(|half| line(half.rank, half.line)).collect();
            lines.dedup();
            let entry = folded.entry((lines.clone(), first.call.name())).or_default();
            entry.found += 1;
            for (i, at) in lines.iter().enumerate() {
                let role = if i == 0 { Role::Communication } else { Role::Companion };
                entry.place(role, at.clone(), first.call.name(), None);
            }
            for (i, head) in group[0].iter().enumerate() {
                let halves: Vec<&CallEnd> = group.iter().filter_map(|members| members.get(i)).collect();
                let bytes = halves.iter().map(|half| half.bytes).sum::<u64>();
                let with: Vec<u64> = halves[1..].iter().map(|half| half.event - head.event).collect();
                let mut doubts = Doubts::default();
                let mut adjacent = true;
                let joins = || halves[1..].iter().filter_map(|half| self.join(half));
                for join in joins() {
                    doubts.and(join.doubts);
                    if several && join.content != EarlierData::Nothing {
                        doubts.and(Doubts::CONTENT);
                    }
                    adjacent &= join.adjacent;
                }
                entry.doubts.and(doubts);
                entry.bytes += bytes;
                entry.ranks.insert(head.rank);
                // Copies into the buffer and out of it; in a broadcast the root copies in and the other ranks copy
                // out.
                let copies = if first.call.blocking() == Call::Bcast { 1 } else { 2 };
                let copy = if adjacent { 0 } else { copies * bytes };
                let needs = needed(&needs_of(&mut joins()), head.event);
                entry.edits.push(head.rank, head.event, Action::Merge { with, bytes, copy, needs });
            }
        }
        folded
            .into_iter()
            .filter_map(|((at, call), folded)| {
                let lines: Vec<String> = at.iter().map(Location::to_string).collect();
                let title = format!("calls of {call} in a row at {} could be one", lines.join(", "));
                folded.finding(RuleId::A003, title, Vec::new(), ranks)
            })
            .collect()
    }
}

//! The critical path of a run in figures: time by kind, by rank and by operation.

use std::collections::BTreeMap;

use crate::base::Arrange;
use crate::program::Program;
use crate::record::{PathKind, PathStep, PlayedRegion};
use crate::report::replay::{CriticalPath, PathOperation, PathPart, PathRank};
use crate::system::System;
use crate::units::Time;

/// Number of ranks and operations of the path that a report lists.
const MAX_LISTED: usize = 20;

/// Returns the critical path for a report; for a region only the part within its executions.
///
/// `operation` returns the rank and operation of a step, and `described` its description.
pub(super) fn summary(
    path: &[PathStep],
    operation: &dyn Fn(&PathStep) -> Option<(u32, u32)>,
    described: &dyn Fn(u32, u32) -> Option<String>,
    within: Option<&PlayedRegion>,
) -> CriticalPath {
    let clipped: Vec<PathStep>;
    let path = match within {
        None => path,
        Some(region) => {
            let parts = |step: &PathStep| {
                let step = *step;
                region.clipped(step.begin, step.end).map(move |(begin, end)| PathStep { begin, end, ..step })
            };
            clipped = path.iter().flat_map(parts).collect();
            &clipped
        }
    };
    let mut kinds: BTreeMap<PathKind, Time> = BTreeMap::new();
    let mut ranks: BTreeMap<u32, Time> = BTreeMap::new();
    let mut operations: BTreeMap<(u32, u32, PathKind), Time> = BTreeMap::new();
    for step in path {
        let time = step.end - step.begin;
        *kinds.entry(step.kind).or_default() += time;
        *ranks.entry(step.rank.0).or_default() += time;
        if let Some((rank, op)) = operation(step) {
            *operations.entry((rank, op, step.kind)).or_default() += time;
        }
    }
    let all: Time = kinds.values().copied().sum();
    let part = |time: Time| if all > Time::ZERO { time.ps() / all.ps() } else { 0.0 };
    let kinds = PathKind::all().filter_map(|kind| {
        let time = *kinds.get(&kind)?;
        Some(PathPart { kind: kind.name(), time_s: time.seconds(), part: part(time) })
    });
    CriticalPath {
        steps: path.len() as u64,
        changes: path.windows(2).filter(|pair| pair[0].rank != pair[1].rank).count() as u64,
        kinds: kinds.collect(),
        ranks: largest(ranks)
            .into_iter()
            .map(|(rank, time)| PathRank { rank, time_s: time.seconds(), part: part(time) })
            .collect(),
        operations: largest(operations)
            .into_iter()
            .map(|((rank, op, kind), time)| PathOperation {
                rank,
                op,
                operation: described(rank, op),
                kind: kind.name(),
                time_s: time.seconds(),
            })
            .collect(),
    }
}

/// Returns a function that describes operations of a program in words.
pub(super) fn described<'a>(program: &'a Program, system: &System) -> impl Fn(u32, u32) -> Option<String> + 'a {
    let knows_receives = system.node().facts().knows_receives;
    move |rank: u32, op: u32| {
        let rank = crate::ids::RankId(rank);
        let found = program.rank(rank).ops.get(op as usize).filter(|_| knows_receives)?;
        let mut words = program.describe(rank, found);
        if let Some(site) = program.site(rank, op) {
            words += &format!(" at {site}");
        }
        Some(match program.place(rank, op) {
            Some(place) => format!("{words} ({place})"),
            None => words,
        })
    }
}

/// Returns the entries with the most time, largest first.
fn largest<K: Ord + Copy>(times: BTreeMap<K, Time>) -> Vec<(K, Time)> {
    let mut times: Vec<(K, Time)> = times.into_iter().collect();
    times.arrange_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    times.truncate(MAX_LISTED);
    times
}

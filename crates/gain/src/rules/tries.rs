//! Choice of the algorithms of a collective operation that are simulated with the whole program.
//!
//! Algorithms that send the same messages in all calls of the program are simulated once; on two ranks, for
//! example, most trees are the same. Of the rest, those are simulated that are fastest for the calls alone,
//! played one after the other without the rest of the program.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHasher};

use crate::Judge;
use crate::bound::{Touched, most_saved};
use crate::gain::{ALGORITHMS, LEAST_GAIN, with_algorithm, with_program};
use crate::rules::Base;
use hayase::base::Arrange;
use hayase::ids::RankId;
use hayase::program::collectives::{Algorithm, CollectivesSpec, Expander, Operation, operation};
use hayase::program::{Expand, Op, OpKind, Program, RankProgram};
use hayase::scenario::Scenario;
use hayase::simulation::ProgramWork;

/// Largest number of calls of a rank that are played alone.
const MAX_CALLS_ALONE: u64 = 128;

/// Largest number of steps of collectives that are compared.
const MAX_STEPS_COMPARED: usize = 1_000_000;

/// Algorithms that were tried for the calls of one operation.
pub(super) struct TriedAlgorithms {
    /// Makespan of the whole program \[s\] with each simulated algorithm.
    pub times: Vec<(f64, Algorithm)>,
    /// Number of algorithms that send other messages but were not simulated.
    pub untried: usize,
}

/// Simulates algorithms of these operations, each for all calls of the program.
pub(super) fn simulate(
    base: &Base,
    judge: &Judge<'_>,
    operations: &[Operation],
) -> BTreeMap<&'static str, TriedAlgorithms> {
    let program = &base.program;
    let mut bounded: Vec<(f64, Operation)> = operations.iter().map(|&of| (bound(base, of), of)).collect();
    bounded.arrange_by(|a, b| b.0.total_cmp(&a.0).then(a.1.name().cmp(b.1.name())));
    let mut left = if judge.thorough { usize::MAX } else { ALGORITHMS };
    let mut chosen: Vec<(Operation, Vec<Vec<Algorithm>>, usize)> = Vec::new();
    for (most, of) in bounded {
        let groups = if judge.thorough { alone(of) } else { groups(program, judge, of) };
        let cannot = !judge.thorough && judge.is_bound() && most < LEAST_GAIN * base.simulated.makespan_s;
        let take = if cannot { 0 } else { groups.len().min(left).min(if judge.thorough { usize::MAX } else { 3 }) };
        left -= take.min(left);
        let untried = if cannot { 0 } else { groups[take..].iter().map(Vec::len).sum() };
        chosen.push((of, groups.into_iter().take(take).collect(), untried));
    }
    let tries: Vec<(Operation, &Vec<Algorithm>)> =
        chosen.iter().flat_map(|(of, groups, _)| groups.iter().map(move |group| (*of, group))).collect();
    // A run that takes twice as long is not played to its end.
    let until = judge.until(base, 2.0);
    let times: Vec<Option<f64>> = tries
        .par_iter()
        .map(|(of, group)| {
            let replay = with_algorithm_of(judge.replay, *of, group[0])?;
            judge.makespan(&replay, base.simulated.unreceived, until)
        })
        .collect();
    let mut tried: BTreeMap<&'static str, TriedAlgorithms> = BTreeMap::new();
    for (of, _, untried) in &chosen {
        tried.insert(of.name(), TriedAlgorithms { times: Vec::new(), untried: *untried });
    }
    for ((of, group), time) in tries.iter().zip(times) {
        if let (Some(time), Some(tried)) = (time, tried.get_mut(of.name())) {
            tried.times.extend(group.iter().map(|&algorithm| (time, algorithm)));
        }
    }
    tried
}

/// Returns the largest time that any algorithm could save \[s\].
fn bound(base: &Base, of: Operation) -> f64 {
    let touched = Touched::collectives(&base.program, |number| super::operation_of(&base.program, number) == of);
    most_saved(base, &touched).unwrap_or(f64::INFINITY)
}

/// Returns the replay with one operation done by one algorithm.
fn with_algorithm_of(
    replay: &Scenario<ProgramWork>,
    of: Operation,
    algorithm: Algorithm,
) -> Option<Scenario<ProgramWork>> {
    let system = replay.system().clone();
    let collectives = with_algorithm(system.collectives(), of.name(), algorithm.name()).ok()?;
    replay.with_system(system.with_collectives(collectives)).ok()
}

/// Returns a group for every algorithm.
fn alone(of: Operation) -> Vec<Vec<Algorithm>> {
    Algorithm::of(of).iter().map(|&algorithm| vec![algorithm]).collect()
}

/// Returns groups of algorithms that send the same messages, without the group of the present algorithm.
/// Groups that are fastest for the calls alone come first.
fn groups(program: &Program, judge: &Judge<'_>, of: Operation) -> Vec<Vec<Algorithm>> {
    let algorithms = Algorithm::of(of);
    let spec =
        |algorithm: Algorithm| with_algorithm(judge.replay.system().collectives(), of.name(), algorithm.name()).ok();
    let groups = match messages(program, of, judge.replay.system().collectives()) {
        None => alone(of),
        Some(now) => {
            let mut same: Vec<(u64, Vec<Algorithm>)> = Vec::new();
            for &algorithm in algorithms {
                let Some(by) = spec(algorithm).and_then(|spec| messages(program, of, &spec)) else { continue };
                match same.iter_mut().find(|(other, _)| *other == by) {
                    Some((_, group)) => group.push(algorithm),
                    None if by == now => {}
                    None => same.push((by, vec![algorithm])),
                }
            }
            same.into_iter().map(|(_, group)| group).collect()
        }
    };
    let calls = Arc::new(calls_alone(program, of));
    let mut timed: Vec<(f64, usize, Vec<Algorithm>)> = groups
        .into_par_iter()
        .enumerate()
        .map(|(at, group)| {
            let time = with_algorithm_of(judge.replay, of, group[0])
                .and_then(|replay| judge.makespan(&with_program(&replay, Arc::clone(&calls)).ok()?, 0, None));
            (time.unwrap_or(f64::INFINITY), at, group)
        })
        .collect();
    timed.arrange_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    timed.into_iter().map(|(.., group)| group).collect()
}

/// Returns a hash of the messages of all calls; `None` if there are too many to compare.
fn messages(program: &Program, of: Operation, spec: &CollectivesSpec) -> Option<u64> {
    let expander = Expander::new(spec.clone());
    let mut hasher = FxHasher::default();
    let mut steps: Vec<Op> = Vec::new();
    let mut looked = 0;
    for collective in program.collectives.iter().filter(|collective| operation(collective) == of) {
        let group = &program.communicators[collective.comm as usize];
        for me in 0..group.size() {
            steps.clear();
            expander.steps(collective, group, me, &mut steps);
            looked += steps.len() + 1;
            if looked > MAX_STEPS_COMPARED {
                return None;
            }
            steps.len().hash(&mut hasher);
            for op in &steps {
                (op.kind as u8, op.peer, op.size, op.arg, op.tag).hash(&mut hasher);
            }
        }
    }
    Some(hasher.finish())
}

/// Returns a program of the calls of one operation only; at most about [`MAX_CALLS_ALONE`] of each rank, evenly spread.
fn calls_alone(program: &Program, of: Operation) -> Program {
    let is_it = |op: &Op| op.kind.is_collective() && super::operation_of(program, op.arg) == of;
    let most = program.iter().map(|(_, rank)| rank.ops.iter().filter(|op| is_it(op)).count()).max().unwrap_or(0) as u64;
    let every = most.div_ceil(MAX_CALLS_ALONE).max(1);
    let mut alone = program.clone();
    for rank in (0..program.ranks()).map(RankId) {
        let mut numbers: FxHashMap<u32, u64> = FxHashMap::default();
        let ops = program.rank(rank).ops.iter().filter(|op| is_it(op)).filter(|op| {
            // All members of a communicator count its calls alike, so they leave out the same calls.
            let number = numbers.entry(program.collectives[op.arg as usize].comm).or_default();
            *number += 1;
            (*number - 1).is_multiple_of(every)
        });
        let ops = ops.map(|op| Op { kind: OpKind::Collective, ..*op }).collect();
        *alone.rank_mut(rank) = RankProgram { ops, ..RankProgram::default() };
    }
    alone
}

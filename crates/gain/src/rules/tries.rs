//! Which algorithms of a collective operation are worth a simulation of the whole program.
//!
//! Algorithms that do all calls of the program by the same messages are simulated once: on two ranks, most trees are
//! one. Of the others, those are simulated that do the calls alone soonest: without the rest of the program, one call
//! after the other.

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

/// Calls of a rank that are played alone, at most.
const ALONE: u64 = 128;

/// Steps of collectives that are compared, at most.
const COMPARED: usize = 1_000_000;

/// How a program's calls of one operation could be done.
pub(super) struct Tried {
    /// By algorithm, when the whole program ends \[s\]: of those that were simulated.
    pub times: Vec<(f64, Algorithm)>,
    /// Algorithms that were not simulated, though they do it by other messages.
    pub untried: usize,
}

/// Simulates algorithms of these operations, each for all calls of the program.
pub(super) fn simulate(base: &Base, judge: &Judge<'_>, operations: &[Operation]) -> BTreeMap<&'static str, Tried> {
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
    // What takes twice as long need not be played to its end.
    let until = judge.until(base, 2.0);
    let times: Vec<Option<f64>> = tries
        .par_iter()
        .map(|(of, group)| {
            let replay = by(judge.replay, *of, group[0])?;
            judge.makespan(&replay, base.simulated.unreceived, until)
        })
        .collect();
    let mut tried: BTreeMap<&'static str, Tried> = BTreeMap::new();
    for (of, _, untried) in &chosen {
        tried.insert(of.name(), Tried { times: Vec::new(), untried: *untried });
    }
    for ((of, group), time) in tries.iter().zip(times) {
        if let (Some(time), Some(tried)) = (time, tried.get_mut(of.name())) {
            tried.times.extend(group.iter().map(|&algorithm| (time, algorithm)));
        }
    }
    tried
}

/// Most that any algorithm could save \[s\].
fn bound(base: &Base, of: Operation) -> f64 {
    let touched = Touched::collectives(&base.program, |number| super::operation_of(&base.program, number) == of);
    most_saved(base, &touched).unwrap_or(f64::INFINITY)
}

/// The same, with one operation done by one algorithm.
fn by(replay: &Scenario<ProgramWork>, of: Operation, algorithm: Algorithm) -> Option<Scenario<ProgramWork>> {
    let system = replay.system().clone();
    let collectives = with_algorithm(system.collectives(), of.name(), algorithm.name()).ok()?;
    replay.with_system(system.with_collectives(collectives)).ok()
}

/// Every algorithm by itself.
fn alone(of: Operation) -> Vec<Vec<Algorithm>> {
    Algorithm::of(of).iter().map(|&algorithm| vec![algorithm]).collect()
}

/// Algorithms that do all calls alike are together, without those that do them as they are done now; those that do the
/// calls alone soonest come first.
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
            let time = by(judge.replay, of, group[0])
                .and_then(|replay| judge.makespan(&with_program(&replay, Arc::clone(&calls)).ok()?, 0, None));
            (time.unwrap_or(f64::INFINITY), at, group)
        })
        .collect();
    timed.arrange_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    timed.into_iter().map(|(.., group)| group).collect()
}

/// A number that differs where any call is done by other messages; `None` where there are too many to look at.
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
            if looked > COMPARED {
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

/// The calls of an operation and nothing else: evenly, so many of each rank at most.
fn calls_alone(program: &Program, of: Operation) -> Program {
    let is_it = |op: &Op| op.kind.is_collective() && super::operation_of(program, op.arg) == of;
    let most = program.iter().map(|(_, rank)| rank.ops.iter().filter(|op| is_it(op)).count()).max().unwrap_or(0) as u64;
    let every = most.div_ceil(ALONE).max(1);
    let mut alone = program.clone();
    for rank in (0..program.ranks()).map(RankId) {
        let mut numbers: FxHashMap<u32, u64> = FxHashMap::default();
        let ops = program.rank(rank).ops.iter().filter(|op| is_it(op)).filter(|op| {
            // Members of a communicator count its calls alike, so they leave out the same.
            let number = numbers.entry(program.collectives[op.arg as usize].comm).or_default();
            *number += 1;
            (*number - 1).is_multiple_of(every)
        });
        let ops = ops.map(|op| Op { kind: OpKind::Collective, ..*op }).collect();
        *alone.rank_mut(rank) = RankProgram { ops, ..RankProgram::default() };
    }
    alone
}

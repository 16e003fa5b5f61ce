//! A202: collective operations for which another algorithm would be faster.

use std::collections::BTreeMap;

use hayase::base::Arrange;
use hayase_advice::model::{Change, Finding, Location, Role, RuleId, ScenarioChange};

use super::settings::{is_setting, settings};
use super::tries::{self, TriedAlgorithms};
use super::{Base, place};
use crate::Judge;
use crate::gain::LEAST_GAIN;
use hayase::program::collectives::{Algorithm, Operation, operation};

/// Searches for faster algorithms, with up to three simulations for each operation, or one for each
/// algorithm.
pub(super) fn find(base: &Base, judge: &Judge<'_>) -> Vec<Finding> {
    let program = &base.program;
    // Number of calls, ranks and places of each operation.
    type Called = (u64, std::collections::BTreeSet<u32>, BTreeMap<Location, u64>);
    let mut called: BTreeMap<&'static str, (Operation, Called)> = BTreeMap::new();
    let operations: Vec<Operation> = program.collectives.iter().map(operation).collect();
    for (rank, ops) in program.iter() {
        // Number of calls and one of them, by operation and number of the place.
        let mut of_rank: BTreeMap<(&'static str, u32), (Operation, u64, u32)> = BTreeMap::new();
        for (at, op) in (0..).zip(&ops.ops) {
            if op.kind.is_collective() && base.looks_at(rank.0, at) {
                let operation = operations[op.arg as usize];
                let site = ops.sites.get(at as usize).copied().unwrap_or(0);
                of_rank.entry((operation.name(), site)).or_insert((operation, 0, at)).1 += 1;
            }
        }
        for ((name, _), (operation, times, at)) in of_rank {
            let (_, (count, ranks, sites)) = called.entry(name).or_insert_with(|| (operation, Called::default()));
            *count += times;
            ranks.insert(rank.0);
            *sites.entry(place(program, rank.0, at)).or_default() += times;
        }
    }
    let operations: Vec<Operation> = called.values().map(|&(operation, _)| operation).collect();
    let mut tried = tries::simulate(base, judge, &operations);
    let mut findings = Vec::new();
    for (operation, (count, ranks, sites)) in called.into_values() {
        let Some(TriedAlgorithms { times: mut of, untried }) = tried.remove(operation.name()) else { continue };
        of.arrange_by(|a, b| a.0.total_cmp(&b.0));
        let Some(&(best, _)) = of.first() else { continue };
        // Algorithms within a thousandth of the run are equally fast; of these, one that a library has a setting for
        // is named.
        let tie = of.iter().filter(|(time, _)| *time <= best + LEAST_GAIN * base.simulated.makespan_s);
        let mut tie: Vec<Algorithm> = tie.map(|&(_, algorithm)| algorithm).collect();
        tie.arrange_by_key(|&algorithm| !is_setting(operation, algorithm));
        let (algorithm, others) = (tie[0], &tie[1..]);
        let name = algorithm.name();
        if best > base.simulated.makespan_s * 0.999 {
            continue;
        }
        let unit = super::unit(base, 0);
        let all: Vec<String> =
            of.iter().map(|(time, other)| format!("{} {}", other.name(), unit.write(time * 1e9))).collect();
        let mut text = vec![
            format!("as it is the program takes {}; with {operation} by", unit.write(base.simulated.makespan_s * 1e9)),
            all.join(", "),
        ];
        if untried > 0 {
            text.push(format!(
                "{untried} more were not simulated: those were that do the calls alone soonest; --all simulates all"
            ));
        }
        text.extend(settings(operation, algorithm));
        findings.push(Finding {
            title: format!("do {operation} by `{name}`: {}", standing(others, of.len())),
            text,
            places: sites.iter().map(|(site, count)| super::a_place(site, Role::Communication, *count)).collect(),
            ranks: ranks.into_iter().collect(),
            occurrences: count,
            executions: count,
            caveats: vec!["the library must be able to choose it; all calls of the operation use it".into()],
            unit,
            change: Change::Scenario(ScenarioChange::Algorithm {
                collective: operation.name().to_owned(),
                algorithm: name.to_owned(),
            }),
            ..super::empty(RuleId::A202)
        });
    }
    findings
}

/// Describes the rank of an algorithm among `all` algorithms, of which `others` are as fast.
fn standing(others: &[Algorithm], all: usize) -> String {
    let names: Vec<String> = others.iter().map(|other| format!("`{}`", other.name())).collect();
    match names.as_slice() {
        [] => format!("the fastest of {all} algorithms on this network"),
        _ if names.len() + 1 == all => format!("as fast as any of the {all} algorithms on this network"),
        [other] => format!("as fast as {other}, faster than the others of {all} algorithms on this network"),
        [first @ .., last] => format!(
            "as fast as {} and {last}, faster than the others of {all} algorithms on this network",
            first.join(", ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_are_ties() {
        use Algorithm::{Bruck, Linear, Ring};
        assert_eq!(standing(&[], 5), "the fastest of 5 algorithms on this network");
        assert_eq!(
            standing(&[Linear], 5),
            "as fast as `linear`, faster than the others of 5 algorithms on this network"
        );
        assert_eq!(
            standing(&[Linear, Ring], 5),
            "as fast as `linear` and `ring`, faster than the others of 5 algorithms on this network"
        );
        assert_eq!(standing(&[Linear, Ring, Bruck], 4), "as fast as any of the 4 algorithms on this network");
    }
}

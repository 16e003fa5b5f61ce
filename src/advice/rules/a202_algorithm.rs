//! A202: collective operations that another algorithm would do sooner.

use std::collections::BTreeMap;

use hayase_advice::model::{Change, Finding, Location, Role, RuleId, ScenarioChange};
use hayase_advice::rules::Rule;
use rayon::prelude::*;

use super::settings::{is_setting, settings};
use super::{Base, place};
use crate::advice::Judge;
use crate::advice::gain::{LEAST_GAIN, with_algorithm};
use crate::output::table::seconds;
use crate::workload::program::collectives::{Algorithm, Operation, operation};

/// The rule.
pub const RULE: Rule = Rule {
    id: RuleId::A202,
    name: "algorithm",
    summary: "collective operations that another algorithm would do sooner",
    explanation: "\
An MPI library chooses the algorithm of a collective operation by the number of ranks and the size of the data, by limits that were
measured somewhere else. On another network, or with ranks placed otherwise, another algorithm may be faster.

What is reported. The whole program is played with every algorithm that there is for each of its collective operations; the fastest is
reported if the program ends earlier by a thousandth or more. Those that a thousandth does not tell apart are as fast, and named
together.

How to change it. By settings of the library, not in the source; the advice names those of the algorithm, where Open MPI 4.1
(component `tuned`: `--mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_allreduce_algorithm 4`) and MPICH 4.0
(`MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=reduce_scatter_allgather`) have one. Numbers and names differ between versions: `ompi_info --all`
lists those of Open MPI, and MPICH refuses to start with one that it does not know. Or by a collective of one's own.

When it is wrong. The algorithm is that of all calls of the operation in the program, whatever their size. Which one a library really
takes is told to the simulator with `[collectives]`; without, it is that of MPICH's defaults.
",
};

/// Looks for them; one simulation for each algorithm of each operation.
pub(super) fn find(base: &Base, judge: &Judge<'_>) -> Vec<Finding> {
    let program = &base.program;
    // By operation: how often, by whom, and where.
    type Called = (u64, std::collections::BTreeSet<u32>, BTreeMap<Location, u64>);
    let mut called: BTreeMap<&'static str, (Operation, Called)> = BTreeMap::new();
    for (rank, ops) in program.iter() {
        for (at, op) in (0..).zip(&ops.ops) {
            if op.kind.is_collective() && base.looks_at(rank.0, at) {
                let operation = operation(&program.collectives[op.arg as usize]);
                let (_, (count, ranks, sites)) =
                    called.entry(operation.name()).or_insert_with(|| (operation, Called::default()));
                *count += 1;
                ranks.insert(rank.0);
                *sites.entry(place(program, rank.0, at)).or_default() += 1;
            }
        }
    }
    let tries: Vec<(Operation, Algorithm)> = called
        .values()
        .flat_map(|&(operation, _)| Algorithm::of(operation).iter().map(move |&algorithm| (operation, algorithm)))
        .collect();
    let times: Vec<Option<f64>> = tries
        .par_iter()
        .map(|&(operation, algorithm)| {
            let collectives = with_algorithm(&judge.replay.collectives, operation.name(), algorithm.name()).ok()?;
            let mut replay = judge.replay.clone();
            replay.collectives = collectives;
            judge.play(&replay, base.simulated.unreceived).ok().map(|simulated| simulated.makespan_s)
        })
        .collect();
    let mut findings = Vec::new();
    for (operation, (count, ranks, sites)) in called.into_values() {
        let mut of: Vec<(f64, Algorithm)> = tries
            .iter()
            .zip(&times)
            .filter(|((other, _), _)| *other == operation)
            .filter_map(|(&(_, algorithm), time)| Some(((*time)?, algorithm)))
            .collect();
        of.sort_by(|a, b| a.0.total_cmp(&b.0));
        let Some(&(best, _)) = of.first() else { continue };
        // What a thousandth of the run cannot tell apart is as fast; of these, one that a library can be told to use.
        let tie = of.iter().filter(|(time, _)| *time <= best + LEAST_GAIN * base.simulated.makespan_s);
        let mut tie: Vec<Algorithm> = tie.map(|&(_, algorithm)| algorithm).collect();
        tie.sort_by_key(|&algorithm| !is_setting(operation, algorithm));
        let (algorithm, others) = (tie[0], &tie[1..]);
        let name = algorithm.name();
        if best > base.simulated.makespan_s * 0.999 {
            continue;
        }
        let all: Vec<String> = of.iter().map(|(time, other)| format!("{} {}", other.name(), seconds(*time))).collect();
        let mut text = vec![
            format!("as it is the program takes {}; with {operation} by", seconds(base.simulated.makespan_s)),
            all.join(", "),
        ];
        text.extend(settings(operation, algorithm));
        findings.push(Finding {
            title: format!("do {operation} by `{name}`: {}", standing(others, of.len())),
            text,
            places: sites.iter().map(|(site, count)| super::a_place(site, Role::Communication, *count)).collect(),
            ranks: ranks.into_iter().collect(),
            occurrences: count,
            executions: count,
            caveats: vec!["the library must be able to choose it; all calls of the operation use it".into()],
            change: Change::Scenario(ScenarioChange::Algorithm {
                collective: operation.name().to_owned(),
                algorithm: name.to_owned(),
            }),
            ..super::empty(RuleId::A202)
        });
    }
    findings
}

/// How an algorithm stands among `all`, of which `others` are as fast.
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

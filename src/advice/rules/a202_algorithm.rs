//! A202: collective operations that another algorithm would do sooner.

use std::collections::BTreeMap;

use hayase_advice::model::{Certainty, Change, Finding, Location, Role, RuleId, ScenarioChange};
use hayase_advice::rules::Rule;
use rayon::prelude::*;

use super::settings::settings;
use super::{Base, place};
use crate::advice::Judge;
use crate::advice::gain::with_algorithm;
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
reported if the program ends earlier by a thousandth or more.

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
        let Some(&(best, algorithm)) = of.first() else { continue };
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
            certainty: Certainty::Check,
            title: format!("do {operation} by `{name}`: the fastest of {} algorithms on this network", of.len()),
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

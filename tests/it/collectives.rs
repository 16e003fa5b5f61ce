//! Collectives as patterns: their messages are those of programs, and a single one takes the time of its
//! closed form.

use std::sync::Arc;

use hayase::collective::{Algorithm, Call, Operation, Plan, rules};
use hayase::program::{Collective, CollectiveCall, Counts, ProgramBuilder};
use hayase::report::Status;
use hayase::scenario::Loader;
use hayase::scenario::library::Shelf;
use hayase::simulation::{ProgramWork, RunOptions};
use insta::assert_snapshot;

const RANKS: [u32; 9] = [1, 2, 3, 5, 7, 8, 12, 16, 17];

/// Returns a crossbar with 1 byte a nanosecond on each link, and 100 ns on each of the two links of a route.
fn crossbar(nodes: u32) -> String {
    format!("[topology.crossbar]\nnodes = {nodes}\nbandwidth = \"1 GB/s\"\nlatency = \"100 ns\"\n")
}

fn collective(operation: &str, lines: &str) -> String {
    format!("[workload.collective]\noperation = \"{operation}\"\n{}\n", lines.replace(';', "\n"))
}

/// Runs a workload on a number of nodes; returns its time, and the number of messages and bytes it sends.
fn run(nodes: u32, workload: &str) -> (f64, u64, u64) {
    let loader = Loader::new().text("fabric.toml", crossbar(nodes)).text("work.toml", workload);
    let scenario = loader.load_pattern().unwrap_or_else(|invalid| panic!("{workload}: {invalid}"));
    let report = scenario.run(RunOptions::default()).report;
    assert_eq!(report.head.status, Status::Complete, "{workload}, {nodes} ranks");
    (report.head.makespan_s * 1e9, report.head.messages, report.head.bytes)
}

/// Returns the call of a program for this operation, if all blocks have one size.
fn call_of(operation: Operation) -> Option<CollectiveCall> {
    let ops = CollectiveCall::ALL.into_iter().map(|call| {
        let one = Collective { call, comm: 0, root: 0, counts: Counts::Same(0), plan: None };
        (hayase::program::collectives::operation(&one), call)
    });
    ops.into_iter().find(|(one, _)| *one == operation).map(|(_, call)| call)
}

fn needs_size(operation: Operation) -> bool {
    operation != Operation::Barrier
}

/// On nodes that cost nothing a send is complete at once. So a program's messages leave as soon as the data
/// they need has been received, like those of its pattern under the rule `all`. Both are the same messages,
/// so they take the same time.
#[test]
fn a_collective_as_a_pattern_takes_the_time_of_the_same_in_a_program() {
    for &operation in Operation::ALL {
        let Some(call) = call_of(operation) else { continue };
        for &algorithm in Algorithm::of(operation) {
            for ranks in RANKS {
                for bytes in [0, 1000, 4099] {
                    let root = if operation.has_root() { ranks / 3 } else { 0 };
                    let wanted = Call::equal(operation, ranks, bytes).rooted(root);
                    if ranks > 1 && Plan::of(&wanted, algorithm).algorithm != algorithm {
                        continue;
                    }
                    let name = format!("{operation} {algorithm}, {ranks} ranks, {bytes} B");
                    let mut lines = format!("algorithm = \"{algorithm}\"; injection = \"all\"");
                    if needs_size(operation) {
                        lines += &format!("; size = \"{bytes} B\"");
                    }
                    if operation.has_root() {
                        lines += &format!("; root = {root}");
                    }
                    let (pattern, messages, sent) = run(ranks, &collective(operation.name(), &lines));
                    let mut program = ProgramBuilder::new(ranks);
                    let counts = Counts::Same(if needs_size(operation) { bytes } else { 0 });
                    let number = program.collective(Collective { call, comm: 0, root, counts, plan: None });
                    for rank in 0..ranks {
                        let mut ops = program.sequence(rank);
                        ops.push(hayase::program::Op::collective(number));
                        program.finish_rank(ops);
                    }
                    let by = format!("[collectives]\n{operation} = \"{algorithm}\"\n");
                    let loader = Loader::new().text("fabric.toml", crossbar(ranks)).text("by.toml", by);
                    let replay = loader.load_program(ProgramWork::new(Arc::new(program.build().unwrap()), "test"));
                    let replayed = replay.unwrap_or_else(|invalid| panic!("{name}: {invalid}"));
                    let report = replayed.run(RunOptions::default()).report;
                    assert_eq!((messages, sent), (report.head.messages, report.head.bytes), "{name}");
                    let played = report.head.makespan_s * 1e9;
                    assert!((pattern - played).abs() <= 1e-6 * played, "{name}: {pattern} and {played} ns");
                }
            }
        }
    }
}

/// A message of m bytes takes 200 ns + m / B alone. B is 1 byte a nanosecond.
#[test]
fn a_lone_collective_takes_the_time_of_its_closed_form() {
    let m = 16_000.0;
    for ranks in [2u32, 4, 5, 8, 16] {
        let p = f64::from(ranks);
        let log = f64::from(ranks.next_power_of_two().ilog2());
        let one = |bytes: f64| 200.0 + bytes;
        let halves: f64 = (1..=ranks.ilog2()).map(|k| one(m / f64::from(1 << k))).sum();
        let doubled: f64 = (0..ranks.ilog2()).map(|k| one(m * f64::from(1 << k))).sum();
        let any = [
            ("barrier", "dissemination", log * one(0.0)),
            ("barrier", "ring", 2.0 * p * one(0.0)),
            ("bcast", "binomial", log * one(m)),
            ("bcast", "linear", (p - 1.0) * one(m)),
            ("scan", "linear", (p - 1.0) * one(m)),
            ("exscan", "linear", (p - 1.0) * one(m)),
            ("allgather", "ring", (p - 1.0) * one(m)),
            ("allgatherv", "ring", (p - 1.0) * one(m)),
            ("alltoall", "simple-spread", (p - 1.0) * one(m)),
            ("reduce-scatter", "ring", (p - 1.0) * one(m)),
            ("reduce-scatter-block", "pairwise", (p - 1.0) * one(m)),
            ("scatter", "linear", (p - 1.0) * one(m)),
            // P - 1 messages share the link of the root, or each link.
            ("gather", "linear", one((p - 1.0) * m)),
            ("gatherv", "linear-nonblocking", one((p - 1.0) * m)),
            ("scatter", "linear-nonblocking", one((p - 1.0) * m)),
            ("alltoall", "linear", one((p - 1.0) * m)),
            ("alltoallv", "scattered", one((p - 1.0) * m)),
            // The root requests each block.
            ("gather", "linear-sync", (p - 1.0) * (one(0.0) + one(m))),
        ];
        let of_powers = [
            ("allreduce", "recursive-doubling", log * one(m)),
            ("allreduce", "rabenseifner", 2.0 * halves),
            ("allreduce", "ring", 2.0 * (p - 1.0) * one(m / p)),
            ("allreduce", "reduce-bcast", 2.0 * log * one(m)),
            ("reduce", "binomial", log * one(m)),
            ("reduce", "rabenseifner", 2.0 * halves),
            ("scan", "recursive-doubling", log * one(m)),
            ("allgather", "recursive-doubling", doubled),
            ("allgather", "bruck", doubled),
            ("allgather", "neighbor-exchange", one(m) + (p / 2.0 - 1.0) * one(2.0 * m)),
            ("alltoall", "pairwise", (p - 1.0) * one(m)),
            ("alltoall", "bruck", log * one(p / 2.0 * m)),
            ("scatter", "binomial", doubled),
            ("gather", "binomial", doubled),
            ("reduce-scatter", "recursive-halving", doubled),
            ("bcast", "scatter-allgather", 2.0 * halves),
            ("bcast", "scatter-ring", halves + (p - 1.0) * one(m / p)),
        ];
        let of_powers = of_powers.into_iter().filter(|_| ranks.is_power_of_two());
        for (operation, algorithm, expected) in any.into_iter().chain(of_powers) {
            let size = if operation == "barrier" { "" } else { "; size = \"16 KB\"" };
            let (found, ..) = run(ranks, &collective(operation, &format!("algorithm = \"{algorithm}\"{size}")));
            assert!(
                (found - expected).abs() <= 1e-6 * expected,
                "{operation} {algorithm}, {ranks}: {found}, {expected}"
            );
        }
        let chain = "algorithm = \"pipeline\"; size = \"16 KB\"; segment-size = \"1 KB\"";
        let (found, ..) = run(ranks, &collective("bcast", chain));
        let expected = (p - 2.0 + 16.0) * one(1000.0);
        assert!((found - expected).abs() <= 1e-6 * expected, "pipeline, {ranks}: {found}, {expected}");
    }
}

/// 40 ranks have 39 partners: 32 at a time, then the remaining 7, each batch after the one before.
#[test]
fn a_scattered_alltoall_waits_for_a_batch_before_it_starts_the_next() {
    let (found, messages, _) = run(40, &collective("alltoall", "algorithm = \"scattered\"; size = \"1 KB\""));
    assert_eq!(messages, 40 * 39);
    assert!((found - (200.0 + 32_000.0 + 200.0 + 7_000.0)).abs() < 0.1, "{found}");
    // On nodes that cost something, the program waits in this way.
    let loader = Loader::new()
        .text("fabric.toml", crossbar(40))
        .text("node.toml", "[node.loggps]\nL = \"0 s\"\no = \"0 s\"\nGs = \"0 ns/B\"\nS = \"0 B\"\n")
        .text("work.toml", collective("alltoall", "algorithm = \"scattered\"; size = \"1 KB\""));
    let measured = loader.load().unwrap().measured(None, false);
    assert!(measured.makespan_s > 39.3e-6, "{}", measured.makespan_s);
}

/// The rules choose an algorithm by its name.
#[test]
fn without_a_name_the_rules_choose() {
    for operation in [Operation::Alltoall, Operation::Bcast, Operation::Allgather, Operation::ReduceScatter] {
        for bytes in [100, 20_000, 1_000_000] {
            for ranks in [5, 8, 16] {
                let call = Call::equal(operation, ranks, bytes).of_usual_elements();
                for (like, plan) in [("mpich", rules::mpich::plan(&call)), ("open-mpi", rules::open_mpi::plan(&call))] {
                    let size = format!("size = \"{bytes} B\"");
                    // A chain is in segments if it is named.
                    if matches!(plan.algorithm, Algorithm::Chain | Algorithm::Pipeline) {
                        continue;
                    }
                    let of_rules = run(ranks, &collective(operation.name(), &format!("{size}; like = \"{like}\"")));
                    let named = format!("{size}; algorithm = \"{}\"", plan.algorithm);
                    let named = run(ranks, &collective(operation.name(), &named));
                    assert_eq!(of_rules, named, "{call:?} like {like}: {plan:?}");
                }
            }
        }
    }
}

/// A pattern with a file of its own sends the same messages as the collective of the same name.
#[test]
fn every_algorithm_of_every_operation_has_a_name() {
    for &operation in Operation::ALL {
        for algorithm in Algorithm::of(operation) {
            let name = format!("{operation}-{algorithm}");
            let work =
                Loader::new().pattern(&name).load_workload(&16).unwrap_or_else(|error| panic!("{name}: {error}"));
            let size = if needs_size(operation) { "; size = \"1 MB\"" } else { "" };
            let text = collective(operation.name(), &format!("algorithm = \"{algorithm}\"{size}"));
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("same.toml");
            std::fs::write(&path, text).unwrap();
            let same = Loader::new().pattern(path.to_str().unwrap()).load_workload(&16).unwrap();
            let messages = |pattern: &dyn hayase::pattern::Pattern| {
                let ranks = (0..pattern.ranks()).map(hayase::ids::RankId);
                let all = ranks.flat_map(|rank| (0..pattern.sends(rank)).map(move |index| (rank, index)));
                all.map(|(rank, index)| pattern.message(rank, index)).map(|m| (m.dst, m.step)).collect::<Vec<_>>()
            };
            assert_eq!(messages(&*work.pattern), messages(&*same.pattern), "{name}");
        }
        for rules in ["mpich", "open-mpi"] {
            assert!(Shelf::Patterns.get(&format!("{operation}-{rules}")).is_some(), "{operation}-{rules}");
        }
    }
}

fn told(text: &str) -> String {
    let text = format!("{}{text}", crossbar(12));
    Loader::new().text("s.toml", text).load_pattern().expect_err("this is wrong").lines()
}

#[test]
fn wrong_options_of_a_collective_are_told_with_their_place() {
    let all = "[workload.collective]\noperation = \"allreduce\"\nalgorithm = \"pairwise\"\nlike = \"mpich\"\nroot = 3\n\
               segment-size = \"1 KB\"\nchains = 2\nradix = 1\n";
    assert_snapshot!(told(all), @r#"
    s.toml:6:13: `allreduce` without a size (needs `size`); write `size = "1 MB"`
    s.toml:7:13: `pairwise` is not an algorithm for allreduce (not one of them); allreduce can be: recursive-doubling, rabenseifner, ring, reduce-bcast, linear
    s.toml:8:8: `like` has no meaning for allreduce by algorithm "pairwise" (rules choose where no algorithm is named); leave `like` or `algorithm` out
    s.toml:9:8: `root` has no meaning for operation "allreduce" (only for bcast, reduce, gather and scatter); leave `root` out, or choose bcast, reduce, gather and scatter
    s.toml:10:16: `segment-size` has no meaning for allreduce by algorithm "pairwise" (only for bcast and reduce along a named tree); leave `segment-size` out, or choose bcast and reduce along a named tree
    s.toml:11:10: `chains` has no meaning for allreduce by algorithm "pairwise" (only for algorithm "chain"); leave `chains` out, or choose algorithm "chain"
    s.toml:12:9: `radix` has no meaning for allreduce by algorithm "pairwise" (only for algorithm "knomial"); leave `radix` out, or choose algorithm "knomial"
    "#);
    let words =
        "[workload.collective]\noperation = \"alreduce\"\nalgorithm = \"rign\"\nlike = \"openmpi\"\nsize = \"1 MB\"\n";
    assert_snapshot!(told(words), @r"
    s.toml:6:13: unknown operation `alreduce`; did you mean `allreduce`?
    s.toml:7:13: unknown algorithm `rign`; did you mean `ring`?
    s.toml:8:8: unknown like `openmpi`; did you mean `open-mpi`?
    ");
    let ranks = "[workload.collective]\noperation = \"alltoall\"\nalgorithm = \"pairwise\"\nsize = \"1 MB\"\n";
    assert_snapshot!(told(ranks), @r#"s.toml:7:13: alltoall by pairwise is not defined for 12 ranks (needs a power of two of ranks); write `algorithm = "simple-spread"`, which programs take in its place"#);
    let root = "[workload.collective]\noperation = \"bcast\"\nalgorithm = \"knomial\"\nsize = \"1 MB\"\nroot = 12\nradix = 4\n";
    assert_snapshot!(told(root), @r"s.toml:9:8: there is no rank 12 among 12 (a rank from 0 to 11); write `root = 11` or less");
    let small = "[workload.collective]\noperation = \"reduce\"\nalgorithm = \"knomial\"\nsize = \"1 MB\"\nradix = 1\nsegment-size = \"0 B\"\n";
    assert_snapshot!(told(small), @r#"
    s.toml:9:9: `radix` of 1 (at least 2); write `radix = 4`
    s.toml:10:16: `segment-size` is zero (must be more than 0); write `segment-size = "64 KiB"`
    "#);
    let barrier = "[workload.collective]\noperation = \"barrier\"\nsize = \"1 B\"\n";
    assert_snapshot!(told(barrier), @r#"s.toml:7:8: `size` has no meaning for operation "barrier" (only for operations that move data); leave `size` out, or choose operations that move data"#);
    let many = "[workload.collective]\noperation = \"bcast\"\nalgorithm = \"linear\"\nsize = \"9000 TB\"\nsegment-size = \"1 B\"\n";
    assert_snapshot!(told(many), @r"
    s.toml:9:16: 47244640245 steps are too many to count (at most 4294967295 steps); write a larger segment size
    ");
    assert_snapshot!(told("[workload.collective]\nsize = \"1 B\"\n"), @r"
    s.toml:5:1: missing key `operation`; `operation`: collective operation
    ");
}

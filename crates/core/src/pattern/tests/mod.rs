//! Properties of all patterns, and the result of each.

mod collectives;
mod groups;
mod options;
mod orders;
mod symbolic;
mod traffic;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{After, Message, Pattern, PatternSpec};
use crate::diagnostic::{Diagnostic, Sources};
use crate::ids::RankId;
use crate::units::Time;

/// A file that holds only a pattern.
#[derive(Serialize, Deserialize)]
struct PatternFile {
    workload: PatternSpec,
}

/// Reads the specification in `[workload.<table>]` with these lines, separated by semicolons.
fn spec(table: &str, lines: &str) -> PatternSpec {
    let text = format!("[workload.{table}]\n{}", lines.replace(';', "\n"));
    match crate::reading::from_toml::<PatternFile>(&text) {
        Ok(file) => file.workload,
        Err(error) => panic!("{text}: {error}"),
    }
}

fn try_build(table: &str, lines: &str, nodes: u32) -> Result<Arc<dyn Pattern>, Vec<Diagnostic>> {
    spec(table, lines).build(&nodes, 1, &mut Sources::default())
}

fn build(table: &str, lines: &str, nodes: u32) -> Arc<dyn Pattern> {
    try_build(table, lines, nodes).unwrap_or_else(|wrong| panic!("{table} {lines} {nodes}: {wrong:?}"))
}

/// Every table with every algorithm, for sizes that do not divide evenly.
const EVERY: &[(&str, &str)] = &[
    ("all-to-all", "algorithm = 'simple-spread'; size = '7 B'"),
    ("all-to-all", "algorithm = '2d-spread'; size = '7 B'"),
    ("all-to-all", "algorithm = 'nd-spread'; size = '7 B'"),
    ("all-to-all", "algorithm = 'nd-spread'; dimensions = 2; size = '7 B'"),
    ("all-to-all", "algorithm = 'pairwise'; size = '7 B'"),
    ("all-to-all", "algorithm = 'mpich'; size = '7 B'"),
    ("all-to-all", "algorithm = 'ring'; size = '7 B'"),
    ("all-to-all", "algorithm = 'bruck'; size = '7 B'"),
    ("all-to-all", "algorithm = 'random-order'; size = '7 B'"),
    ("all-to-all", "algorithm = 'linear'; size = '7 B'"),
    ("all-to-all", "algorithm = 'simple-spread'; size = '7 B'; messages = 3"),
    ("all-to-all", "algorithm = 'nd-spread'; size = '7 B'; messages = 2; message-order = 'rounds'"),
    ("all-to-all", "algorithm = 'pairwise'; size = '7 B'; messages = 2; message-order = 'in-a-row'"),
    ("all-to-all", "algorithm = 'mpich'; size = '7 B'; messages = 5; message-order = 'rounds'"),
    ("all-to-all", "algorithm = 'random-order'; size = '7 B'; messages = 4"),
    ("all-to-all", "algorithm = 'linear'; size = '7 B'; messages = 2"),
    ("ring", "size = '7 B'; rounds = 5"),
    ("broadcast", "algorithm = 'flat'; size = '101 B'"),
    ("broadcast", "algorithm = 'binomial'; size = '101 B'"),
    ("broadcast", "algorithm = 'pipelined-chain'; size = '101 B'; segments = 7"),
    ("broadcast", "algorithm = 'pipelined-chain'; size = '101 B'; segment-size = '9 B'"),
    ("allgather", "algorithm = 'ring'; size = '7 B'"),
    ("allgather", "algorithm = 'recursive-doubling'; size = '7 B'"),
    ("allgather", "algorithm = 'bruck'; size = '7 B'"),
    ("allreduce", "algorithm = 'ring'; size = '101 B'"),
    ("allreduce", "algorithm = 'recursive-doubling'; size = '101 B'"),
    ("allreduce", "algorithm = 'rabenseifner'; size = '101 B'"),
    ("collective", "operation = 'barrier'; algorithm = 'dissemination'"),
    ("collective", "operation = 'allreduce'; algorithm = 'ring'; size = '101 B'"),
    ("collective", "operation = 'allreduce'; algorithm = 'reduce-bcast'; size = '101 B'"),
    ("collective", "operation = 'bcast'; algorithm = 'chain'; chains = 3; size = '101 B'; segment-size = '20 B'"),
    ("collective", "operation = 'alltoall'; algorithm = 'pairwise'; size = '7 B'"),
    ("collective", "operation = 'reduce-scatter'; algorithm = 'pairwise'; size = '7 B'"),
    ("collective", "operation = 'allgather'; algorithm = 'neighbor-exchange'; size = '7 B'"),
    ("permutation", "kind = 'shift'; offset = -3; size = '7 B'; rounds = 2"),
    ("permutation", "kind = 'transpose'; size = '7 B'"),
    ("permutation", "kind = 'bit-reverse'; size = '7 B'"),
    ("permutation", "kind = 'tornado'; size = '7 B'"),
    ("permutation", "kind = 'random'; size = '7 B'; rounds = 3"),
    ("uniform-random", "messages = 37; size = '7 B'"),
    ("incast", "size = '7 B'; messages = 3"),
    ("halo", "dimensions = 1; size = '7 B'; rounds = 3"),
    ("halo", "dimensions = 2; size = ['7 B', '11 B']; rounds = 2"),
    ("halo", "dimensions = 3; size = '7 B'"),
    ("halo", "dimensions = 2; size = '7 B'; rounds = 3; periodic = false"),
    ("halo", "dimensions = 3; size = ['7 B', '11 B', '13 B']; rounds = 2; periodic = false"),
];

/// Returns every pattern for every number of ranks for which it is defined.
fn every() -> impl Iterator<Item = (String, Arc<dyn Pattern>)> {
    let of = |(table, lines): (&'static str, &'static str)| {
        (1..=40).filter_map(move |n| Some((format!("{table}: {lines}, {n} ranks"), try_build(table, lines, n).ok()?)))
    };
    EVERY.iter().copied().flat_map(of)
}

/// Returns all messages with their senders and indices.
fn messages(pattern: &dyn Pattern) -> impl Iterator<Item = (RankId, u32, Message)> {
    let ranks = (0..pattern.ranks()).map(RankId);
    ranks.flat_map(move |rank| (0..pattern.sends(rank)).map(move |index| (rank, index, pattern.message(rank, index))))
}

#[test]
fn every_pattern_is_defined_for_one_rank_and_then_silent() {
    for (table, lines) in EVERY {
        let pattern = build(table, lines, 1);
        assert_eq!((pattern.messages(), pattern.steps(), pattern.bytes()), (0, 0, 0), "{table} {lines}");
        assert_eq!(pattern.receives(RankId(0), 0), 0, "{table} {lines}");
    }
}

#[test]
fn a_message_goes_to_another_rank_at_once() {
    for (name, pattern) in every() {
        for (src, index, message) in messages(&*pattern) {
            assert!(message.dst != src && message.dst.0 < pattern.ranks(), "{name}: {src} {index} {message:?}");
            assert_eq!(message.delay, Time::ZERO);
            assert!(!matches!(message.after, After::Messages(_)));
            assert!(message.step > 0 || message.after == After::Nothing || index == 0, "{name}");
        }
    }
}

#[test]
fn a_rank_sends_at_most_one_message_a_step_in_order() {
    for (name, pattern) in every() {
        for rank in (0..pattern.ranks()).map(RankId) {
            let steps: Vec<u32> = (0..pattern.sends(rank)).map(|index| pattern.message(rank, index).step).collect();
            assert!(steps.is_sorted_by(|a, b| a < b), "{name}: {rank} {steps:?}");
        }
    }
}

#[test]
fn what_a_pattern_says_of_itself_is_what_its_messages_say() {
    for (name, pattern) in every() {
        let mut received = BTreeMap::<(u32, u32), u32>::new();
        let (mut count, mut bytes, mut steps) = (0, 0, 0);
        for (_, _, message) in messages(&*pattern) {
            *received.entry((message.dst.0, message.step)).or_default() += 1;
            count += 1;
            bytes += u128::from(message.bytes);
            steps = steps.max(message.step + 1);
        }
        assert_eq!((pattern.messages(), pattern.bytes(), pattern.steps()), (count, bytes, steps), "{name}");
        for rank in 0..pattern.ranks() {
            for step in (0..steps + 3).chain([u32::MAX]) {
                let expected = received.get(&(rank, step)).copied().unwrap_or(0);
                assert_eq!(pattern.receives(RankId(rank), step), expected, "{name}: rank {rank} step {step}");
            }
        }
    }
}

#[test]
fn in_lockstep_every_rank_sends_its_messages_one_a_step() {
    let (mut seen, mut passed_on) = (0, 0);
    for (name, pattern) in every() {
        let Some(work) = pattern.lockstep() else { continue };
        assert_eq!((work.ranks, work.steps), (pattern.ranks(), pattern.steps()), "{name}");
        assert!(!pattern.needs().messages, "{name}");
        let ranks = || (0..work.ranks).map(RankId);
        for step in 0..work.steps {
            let mut destinations = Vec::new();
            (work.destinations)(step / work.alike * work.alike, &mut destinations);
            let expected: Vec<Message> = ranks().map(|rank| pattern.message(rank, step)).collect();
            assert!(expected.iter().all(|message| message.step == step && message.bytes <= work.bytes), "{name}");
            if work.passed_on.is_none() {
                assert!(expected.iter().all(|message| message.bytes == work.bytes), "{name}");
            } else if step > 0 {
                // A rank sends the message that it received in the step before.
                for (rank, before) in ranks().map(|rank| (rank, pattern.message(rank, step - 1))) {
                    assert_eq!(expected[before.dst.0 as usize].bytes, before.bytes, "{name}: {rank} step {step}");
                }
            } else {
                assert!(expected.iter().any(|message| message.bytes == work.bytes), "{name}");
            }
            let expected: Vec<RankId> = expected.iter().map(|message| message.dst).collect();
            assert_eq!(destinations, expected, "{name}: step {step}");
        }
        if let Some(sent) = &work.passed_on {
            for rank in ranks() {
                let bytes: u64 = (0..work.steps).map(|step| pattern.message(rank, step).bytes).sum();
                assert_eq!(sent(rank), bytes, "{name}: {rank}");
            }
            passed_on += 1;
        }
        assert_eq!(u64::from(work.ranks) * u64::from(work.steps), pattern.messages(), "{name}");
        seen += 1;
    }
    assert!(seen > 400 && passed_on > 40, "{seen}, {passed_on} of them passed on");
}

#[test]
fn a_pattern_without_bytes_or_rounds_is_a_pattern() {
    for (table, lines) in EVERY {
        let empty = lines.replace("'7 B'", "'0 B'").replace("'101 B'", "'0 B'").replace("'11 B'", "'0 B'");
        let empty = empty.replace("'13 B'", "'0 B'");
        for n in [1, 4, 16] {
            assert_eq!(build(table, &empty, n).bytes(), 0, "{table} {empty}");
        }
    }
    assert_eq!(build("ring", "size = '1 B'; rounds = 0", 8).steps(), 0);
    assert_eq!(build("halo", "size = '1 B'; rounds = 0", 8).messages(), 0);
}

#[test]
fn a_pattern_for_many_ranks_is_built_at_once() {
    // No message may be evaluated or stored: an all-to-all has 10^14 of them.
    for (table, lines) in EVERY {
        let ranks = super::rule::MAX_RANKS;
        let pattern = build(table, &lines.replace("7 B", "0 B"), ranks);
        let last = RankId(ranks - 1);
        if pattern.sends(last) > 0 {
            assert!(pattern.message(last, pattern.sends(last) - 1).step < pattern.steps());
        }
    }
}

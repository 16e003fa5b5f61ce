//! Result of each collective, and its number of steps and bytes.

use super::symbolic::gather;
use super::{build, messages, try_build};
use crate::ids::RankId;
use crate::pattern::{Block, Pattern};

fn block(origin: u32, part: u32) -> Block {
    Block { origin: RankId(origin), part }
}

fn log2_up(n: u32) -> u32 {
    (0..32).find(|k| 1u64 << k >= u64::from(n)).unwrap_or(32)
}

/// Builds an algorithm for each number of ranks from 1 to 40, and checks that it exists exactly where
/// `defined` says.
fn defined(table: &str, lines: &str, defined: impl Fn(u32) -> bool) -> Vec<(u32, std::sync::Arc<dyn Pattern>)> {
    let built = (1..=40).filter_map(|n| {
        let pattern = try_build(table, lines, n);
        assert_eq!(pattern.is_ok(), defined(n), "{table} {lines}, {n} ranks");
        Some((n, pattern.ok()?))
    });
    built.collect()
}

const ALL_TO_ALL: &[&str] =
    &["simple-spread", "2d-spread", "nd-spread", "pairwise", "mpich", "ring", "bruck", "random-order", "linear"];

#[test]
fn after_an_all_to_all_every_rank_has_its_block_of_every_other() {
    for algorithm in ALL_TO_ALL {
        let lines = format!("algorithm = '{algorithm}'; size = '7 B'");
        let exists = |n: u32| match *algorithm {
            "pairwise" => n.is_power_of_two(),
            "2d-spread" => n.isqrt().pow(2) == n,
            _ => true,
        };
        for (n, pattern) in defined("all-to-all", &lines, exists) {
            let name = format!("{algorithm}, {n} ranks");
            let own = |src: RankId| (0..n).map(|dst| block(src.0, dst)).collect();
            let end = gather(&name, &*pattern, own, |_| 7);
            for (dst, blocks) in (0..).zip(&end) {
                for src in 0..n {
                    assert!(blocks.contains(&block(src, dst)), "{name}: rank {dst} lacks the block of rank {src}");
                }
            }
        }
    }
}

#[test]
fn an_all_to_all_takes_the_steps_and_bytes_of_its_formula() {
    for algorithm in ALL_TO_ALL {
        for n in 1..=40 {
            let Ok(pattern) = try_build("all-to-all", &format!("algorithm = '{algorithm}'; size = '7 B'"), n) else {
                continue;
            };
            let wide = u64::from(n);
            let (steps, blocks) = match *algorithm {
                "bruck" => (log2_up(n), wide * (0..wide).map(|j| u64::from(j.count_ones())).sum::<u64>()),
                "ring" => (n - 1, wide * wide * (wide - 1) / 2),
                _ => (n - 1, wide * (wide - 1)),
            };
            assert_eq!((pattern.steps(), pattern.bytes()), (steps, u128::from(7 * blocks)), "{algorithm}, {n} ranks");
        }
    }
}

#[test]
fn with_several_messages_every_rank_has_each_of_every_other() {
    for algorithm in ALL_TO_ALL.iter().filter(|name| !matches!(**name, "ring" | "bruck")) {
        for (k, order) in [(1, ""), (2, "in-a-row"), (3, "rounds"), (7, "in-a-row"), (2, "rounds")] {
            let order = if order.is_empty() { String::new() } else { format!("; message-order = '{order}'") };
            let lines = format!("algorithm = '{algorithm}'; size = '7 B'; messages = {k}{order}");
            for n in 1..=20 {
                let Ok(pattern) = try_build("all-to-all", &lines, n) else { continue };
                let name = format!("{lines}, {n} ranks");
                let wide = u64::from(n);
                assert_eq!(
                    (pattern.steps(), pattern.messages()),
                    (k * (n - 1), u64::from(k) * wide * (wide - 1)),
                    "{name}"
                );
                assert_eq!(pattern.bytes(), u128::from(7 * pattern.messages()), "{name}");
                // Part d + j N is the j-th message for rank d.
                let own = |src: RankId| (0..n * k).map(|part| block(src.0, part)).collect();
                let end = gather(&name, &*pattern, own, |_| 7);
                for (dst, blocks) in (0..).zip(&end) {
                    for src in (0..n).filter(|src| *src != dst) {
                        let from: Vec<u32> = blocks.iter().filter(|b| b.origin.0 == src).map(|b| b.part).collect();
                        assert_eq!(from, (0..k).map(|j| dst + j * n).collect::<Vec<_>>(), "{name}: {src} to {dst}");
                    }
                }
            }
        }
    }
}

#[test]
fn messages_of_a_pair_go_in_a_row_or_in_whole_rounds() {
    let of =
        |more: &str| build("all-to-all", &format!("algorithm = 'simple-spread'; size = '1 B'; messages = 2{more}"), 4);
    assert_eq!(destinations(&*of(""), 3), [0, 0, 1, 1, 2, 2]);
    assert_eq!(destinations(&*of("; message-order = 'in-a-row'"), 3), [0, 0, 1, 1, 2, 2]);
    assert_eq!(destinations(&*of("; message-order = 'rounds'"), 3), [0, 1, 2, 0, 1, 2]);
    let one = build("all-to-all", "algorithm = 'simple-spread'; size = '1 B'; messages = 1", 4);
    assert_eq!(destinations(&*one, 3), [0, 1, 2]);
}

/// Returns the destinations of one rank.
fn destinations(pattern: &dyn Pattern, src: u32) -> Vec<u32> {
    messages(pattern).filter(|(rank, ..)| rank.0 == src).map(|(_, _, message)| message.dst.0).collect()
}

#[test]
fn destinations_are_those_of_the_published_formulas() {
    let of = |algorithm: &str, n| build("all-to-all", &format!("algorithm = '{algorithm}'; size = '1 B'"), n);
    assert_eq!(destinations(&*of("simple-spread", 5), 3), [4, 0, 1, 2]);
    assert_eq!(destinations(&*of("linear", 5), 3), [4, 0, 1, 2]);
    assert_eq!(destinations(&*of("pairwise", 8), 5), [4, 7, 6, 1, 0, 3, 2]);
    assert_eq!(destinations(&*of("mpich", 8), 5), [4, 7, 6, 1, 0, 3, 2]);
    assert_eq!(destinations(&*of("mpich", 5), 3), [4, 0, 1, 2]);
    // 3 x 3, rank 5 is (2, 1).
    assert_eq!(destinations(&*of("2d-spread", 9), 5), [3, 4, 8, 6, 7, 2, 0, 1]);
    for side in 1..=6u32 {
        let n = side * side;
        let spread = of("2d-spread", n);
        let nd = build("all-to-all", &format!("algorithm = 'nd-spread'; size = '1 B'; dims = [{side}, {side}]"), n);
        for src in 0..n {
            let formula = |p: u32| ((src % side + p % side) % side) + ((src / side + p / side) % side) * side;
            let expected: Vec<u32> = (1..n).map(formula).collect();
            assert_eq!(destinations(&*spread, src), expected);
            assert_eq!(destinations(&*nd, src), expected);
        }
    }
}

#[test]
fn an_nd_spread_advances_every_coordinate_of_an_uneven_grid() {
    let pattern = build("all-to-all", "algorithm = 'nd-spread'; size = '1 B'; dims = [2, 1, 3, 4]", 24);
    for (src, index, message) in messages(&*pattern) {
        let digits = |x: u32| [x % 2, x / 2 % 3, x / 6];
        let (s, p, d) = (digits(src.0), digits(index + 1), digits(message.dst.0));
        assert_eq!(d, [(s[0] + p[0]) % 2, (s[1] + p[1]) % 3, (s[2] + p[2]) % 4]);
    }
}

#[test]
fn in_a_spread_every_rank_gets_one_message_a_step() {
    for algorithm in ["simple-spread", "2d-spread", "nd-spread", "pairwise"] {
        let pattern = build("all-to-all", &format!("algorithm = '{algorithm}'; size = '1 B'"), 16);
        for step in 0..15 {
            assert!((0..16).all(|rank| pattern.receives(RankId(rank), step) == 1));
        }
    }
}

#[test]
fn random_orders_differ_between_ranks_and_seeds_and_not_between_runs() {
    let spec = super::spec("all-to-all", "algorithm = 'random-order'; size = '1 B'");
    let build = |seed| spec.build(&54, seed, &mut Default::default()).unwrap();
    let distances = |pattern: &dyn Pattern, src: u32| -> Vec<u32> {
        destinations(pattern, src).iter().map(|dst| (dst + 54 - src) % 54).collect()
    };
    let (first, again, other) = (build(1), build(1), build(2));
    assert_eq!(distances(&*first, 0), distances(&*again, 0));
    assert_ne!(distances(&*first, 0), distances(&*other, 0));
    assert_ne!(distances(&*first, 0), distances(&*first, 1));
    // Independent orders leave about 1/e of the ranks without a message in a step.
    let alone = (0..54).filter(|&rank| first.receives(RankId(rank), 0) == 0).count();
    assert!((10..=30).contains(&alone), "{alone}");
}

#[test]
fn a_broadcast_brings_every_segment_to_every_rank_from_any_root() {
    let algorithms = [
        ("flat", "", 1),
        ("binomial", "", 1),
        ("pipelined-chain", "segments = 1", 1),
        ("pipelined-chain", "segments = 7", 7),
        ("pipelined-chain", "segments = 200", 200),
        ("pipelined-chain", "segment-size = '9 B'", 12),
        ("pipelined-chain", "", 16),
    ];
    for (algorithm, more, segments) in algorithms {
        for n in 1..=40 {
            for root in [0, n / 3, n - 1] {
                let lines = format!("algorithm = '{algorithm}'; size = '101 B'; root = {root}; {more}");
                let pattern = build("broadcast", &lines, n);
                let all: Vec<Block> = (0..segments).map(|k| block(root, k)).collect();
                let own = |rank: RankId| if rank.0 == root { all.clone() } else { Vec::new() };
                // As even as possible: the first 101 mod segments are longer.
                let size = |b: Block| 101 / u64::from(segments) + u64::from(b.part < 101 % segments);
                let end = gather(&lines, &*pattern, own, size);
                assert!(end.iter().all(|blocks| blocks.iter().eq(&all)), "{lines}, {n} ranks");
                let steps = match algorithm {
                    _ if n == 1 => 0,
                    "flat" => n - 1,
                    "binomial" => log2_up(n),
                    _ => n + segments - 2,
                };
                assert_eq!((pattern.steps(), pattern.bytes()), (steps, 101 * u128::from(n - 1)), "{lines}, {n} ranks");
            }
        }
    }
}

#[test]
fn an_allgather_brings_every_contribution_to_every_rank() {
    for algorithm in ["ring", "recursive-doubling", "bruck"] {
        let lines = format!("algorithm = '{algorithm}'; size = '7 B'");
        for (n, pattern) in defined("allgather", &lines, |n| algorithm != "recursive-doubling" || n.is_power_of_two()) {
            let name = format!("{algorithm}, {n} ranks");
            let end = gather(&name, &*pattern, |rank| vec![block(rank.0, 0)], |_| 7);
            assert!(end.iter().all(|blocks| blocks.len() == n as usize), "{name}");
            let steps = if algorithm == "ring" { n - 1 } else { log2_up(n) };
            assert_eq!((pattern.steps(), pattern.bytes()), (steps, 7 * u128::from(n) * u128::from(n - 1)), "{name}");
        }
    }
}

#[test]
fn an_allreduce_takes_the_steps_and_bytes_of_its_formula() {
    for algorithm in ["ring", "recursive-doubling", "rabenseifner"] {
        for (n, pattern) in defined("allreduce", &format!("algorithm = '{algorithm}'; size = '101 B'"), |_| true) {
            let name = format!("{algorithm}, {n} ranks");
            let members = 1 << n.ilog2();
            let folded = n - members;
            let segments = match algorithm {
                "ring" => n,
                "rabenseifner" => members,
                _ => 1,
            };
            // Tests of the expansion show that each contribution is combined once; here segments are as even
            // as possible.
            let size = |part| 101 / u64::from(segments) + u64::from(part < 101 % segments);
            for (rank, index, message) in messages(&*pattern) {
                let carried = pattern.carries(rank, index);
                let parts: std::collections::BTreeSet<u32> = carried.iter().map(|block| block.part).collect();
                assert_eq!(message.bytes, parts.into_iter().map(size).sum::<u64>(), "{name}: {index} of rank {rank}");
            }
            let (log, fold) = (members.ilog2(), if folded > 0 { 2 } else { 0 });
            let (steps, vectors) = match algorithm {
                "ring" => (2 * (n - 1), 2 * (n - 1)),
                "recursive-doubling" => (log + fold, members * log + 2 * folded),
                _ => (2 * log + fold, 2 * (n - 1)),
            };
            assert_eq!((pattern.steps(), pattern.bytes()), (steps, 101 * u128::from(vectors)), "{name}");
        }
    }
}

#[test]
fn a_ring_hands_the_data_of_every_rank_around() {
    for n in 1..=12 {
        // After n - 1 rounds every rank has had all data; later rounds bring the same again.
        let pattern = build("ring", &format!("size = '7 B'; rounds = {}", n - 1), n);
        let end = gather(&format!("ring, {n} ranks"), &*pattern, |rank| vec![block(rank.0, 0)], |_| 7);
        assert!(end.iter().all(|blocks| blocks.len() == n as usize));
        assert_eq!(pattern.bytes(), 7 * u128::from(n) * u128::from(n - 1));
    }
    let longer = build("ring", "size = '7 B'; rounds = 9", 4);
    assert_eq!(longer.carries(RankId(1), 0), [block(1, 0)]);
    assert_eq!(longer.carries(RankId(1), 6), [block(3, 0)]);
}

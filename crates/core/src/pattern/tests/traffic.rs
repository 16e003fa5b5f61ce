//! Permutations, random traffic, incast and halo exchange.

use std::collections::BTreeSet;

use super::{build, messages, spec};
use crate::ids::RankId;
use crate::pattern::{After, Pattern};

/// Returns the destination of each rank in the first round; the rank itself if it sends nothing.
fn image(pattern: &dyn Pattern) -> Vec<u32> {
    let to = |rank| if pattern.sends(rank) > 0 { pattern.message(rank, 0).dst.0 } else { rank.0 };
    (0..pattern.ranks()).map(RankId).map(to).collect()
}

#[test]
fn every_permutation_reaches_every_rank_once() {
    for (name, pattern) in super::every().filter(|(name, _)| name.starts_with("permutation")) {
        let mut image = image(&*pattern);
        image.sort_unstable();
        assert!(image.into_iter().eq(0..pattern.ranks()), "{name}");
    }
}

#[test]
fn permutations_go_where_their_formulas_say() {
    let of = |lines: &str, n| image(&*build("permutation", &format!("{lines}; size = '1 B'"), n));
    assert_eq!(of("kind = 'shift'", 5), [1, 2, 3, 4, 0]);
    assert_eq!(of("kind = 'shift'; offset = -1", 5), [4, 0, 1, 2, 3]);
    assert_eq!(of("kind = 'shift'; offset = 7", 5), [2, 3, 4, 0, 1]);
    assert_eq!(of("kind = 'transpose'", 9), [0, 3, 6, 1, 4, 7, 2, 5, 8]);
    // A 3 x 2 matrix becomes a 2 x 3 one: (x, y) at x + 3 y goes to y + 2 x.
    assert_eq!(of("kind = 'transpose'; dims = [3, 2]", 6), [0, 2, 4, 1, 3, 5]);
    assert_eq!(of("kind = 'bit-reverse'", 8), [0, 4, 2, 6, 1, 5, 3, 7]);
    assert_eq!(of("kind = 'bit-reverse'", 1), [0]);
    // Rings of 8, 7 and 2: distances of 3, 3 and 0.
    assert_eq!(of("kind = 'tornado'", 8), [3, 4, 5, 6, 7, 0, 1, 2]);
    assert_eq!(of("kind = 'tornado'", 7), [3, 4, 5, 6, 0, 1, 2]);
    assert_eq!(of("kind = 'tornado'; dims = [4, 2]", 8), [1, 2, 3, 0, 5, 6, 7, 4]);
    assert_eq!(of("kind = 'tornado'; dims = [3, 3]", 9), [4, 5, 3, 7, 8, 6, 1, 2, 0]);
}

#[test]
fn a_rank_that_is_its_own_destination_sends_nothing() {
    let transpose = build("permutation", "kind = 'transpose'; size = '5 B'; rounds = 3", 9);
    for rank in [0, 4, 8].map(RankId) {
        assert_eq!((transpose.sends(rank), transpose.receives(rank, 1)), (0, 0));
    }
    assert_eq!((transpose.messages(), transpose.bytes(), transpose.steps()), (18, 90, 3));
    assert_eq!(build("permutation", "kind = 'shift'; offset = 9; size = '5 B'; rounds = 3", 9).steps(), 0);
}

#[test]
fn a_random_permutation_is_the_same_for_the_same_seed_only() {
    let spec = spec("permutation", "kind = 'random'; size = '1 B'");
    let of = |seed| image(&*spec.build(&64, seed, &mut Default::default()).unwrap());
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
}

#[test]
fn uniform_random_traffic_is_uniform() {
    let (n, per_rank) = (17, 4000);
    let pattern = build("uniform-random", &format!("messages = {per_rank}; size = '1 B'"), n);
    let mut counts = vec![vec![0u32; n as usize]; n as usize];
    for (src, _, message) in messages(&*pattern) {
        counts[src.0 as usize][message.dst.0 as usize] += 1;
    }
    let expected = f64::from(per_rank) / f64::from(n - 1);
    for (src, row) in counts.iter().enumerate() {
        assert_eq!(row[src], 0);
        let others = row.iter().enumerate().filter(|(dst, _)| *dst != src);
        let chi2: f64 = others.map(|(_, &c)| (f64::from(c) - expected) * (f64::from(c) - expected) / expected).sum();
        // 15 degrees of freedom: above 44.3 or below 2.5 with a probability of 1 in 10,000 each.
        assert!((2.5..44.3).contains(&chi2), "rank {src}: {chi2}");
    }
}

#[test]
fn uniform_random_traffic_is_the_same_for_the_same_seed_only() {
    let spec = spec("uniform-random", "messages = 20; size = '1 B'");
    let of = |seed| -> Vec<u32> {
        messages(&*spec.build(&9, seed, &mut Default::default()).unwrap()).map(|(_, _, m)| m.dst.0).collect()
    };
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
}

#[test]
fn in_an_incast_everyone_sends_to_the_root() {
    let pattern = build("incast", "size = '3 B'; root = 2; messages = 4", 6);
    assert!(messages(&*pattern).all(|(src, _, message)| src.0 != 2 && message.dst.0 == 2));
    assert_eq!((pattern.messages(), pattern.bytes(), pattern.steps()), (20, 60, 4));
    assert_eq!(pattern.receives(RankId(2), 3), 5);
}

#[test]
fn in_a_halo_exchange_neighbours_send_to_each_other() {
    for (name, pattern) in super::every().filter(|(name, _)| name.starts_with("halo")) {
        let mut pairs = std::collections::BTreeMap::<(u32, u32, u64), i64>::new();
        for (src, _, message) in messages(&*pattern) {
            let (low, high) = (src.0.min(message.dst.0), src.0.max(message.dst.0));
            *pairs.entry((low, high, message.bytes)).or_default() += if low == src.0 { 1 } else { -1 };
        }
        assert!(pairs.values().all(|balance| *balance == 0), "{name}: {pairs:?}");
    }
}

#[test]
fn the_neighbours_of_a_halo_exchange_are_those_of_the_grid() {
    let of = |lines: &str, src: u32| -> Vec<(u32, u64, u32)> {
        let pattern = build("halo", lines, 24);
        let sent = messages(&*pattern).filter(|(rank, ..)| rank.0 == src);
        sent.map(|(_, _, message)| (message.dst.0, message.bytes, message.step)).collect()
    };
    let sizes = "dims = [4, 3, 2]; size = ['1 B', '2 B', '3 B']";
    // Rank 0 is a corner; 2 = 3 places up x1; both ways along x2 lead to the same rank.
    assert_eq!(of(sizes, 0), [(1, 1, 0), (3, 1, 1), (4, 2, 2), (8, 2, 3), (12, 3, 4), (12, 3, 5)]);
    assert_eq!(of(&format!("{sizes}; periodic = false"), 0), [(1, 1, 0), (4, 2, 2), (12, 3, 4)]);
    // Rank 17 is (1, 1, 1).
    let inner = [(18, 1, 0), (16, 1, 1), (21, 2, 2), (13, 2, 3), (5, 3, 5)];
    assert_eq!(of(&format!("{sizes}; periodic = false"), 17), inner);
    // A dimension of one rank has no neighbours and no steps.
    assert_eq!(of("dims = [1, 24]; size = '1 B'", 0), [(1, 1, 0), (23, 1, 1)]);
}

#[test]
fn a_halo_exchange_moves_the_bytes_of_its_borders() {
    let grid = "dims = [4, 3, 2]; size = ['1 B', '10 B', '100 B']; rounds = 3";
    assert_eq!(build("halo", grid, 24).bytes(), 3 * 2 * 24 * 111);
    // Open: 3 of 4, 2 of 3 and 1 of 2 borders remain.
    let open = build("halo", &format!("{grid}; periodic = false"), 24);
    assert_eq!(open.bytes(), 3 * 2 * (18 + 160 + 1200));
    assert_eq!(open.steps(), 18);
}

#[test]
fn a_round_of_a_halo_exchange_begins_when_the_round_before_has_come_in() {
    let pattern = build("halo", "dims = [3, 3]; size = '1 B'; rounds = 2", 9);
    let waits: Vec<bool> = (0..8).map(|i| pattern.message(RankId(4), i).after == After::EarlierSteps).collect();
    assert_eq!(waits, [false, false, false, false, true, false, false, false]);
    let distinct: BTreeSet<u32> = (0..4).map(|i| pattern.message(RankId(4), i).dst.0).collect();
    assert_eq!(distinct, BTreeSet::from([1, 3, 5, 7]));
}

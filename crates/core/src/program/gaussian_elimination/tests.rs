use std::collections::BTreeMap;

use super::*;
use crate::program::{Action, Op, OpKind, Program};

fn spec(n: u32) -> GaussianElimination {
    GaussianElimination { n, flops: 1e6, ..Default::default() }
}

/// Returns the sizes of the messages that each rank sends.
fn sizes(program: &Program) -> Vec<Vec<u64>> {
    let sends = |op: &Op| (op.kind == OpKind::Send).then_some(op.size);
    program.iter().map(|(_, rank)| rank.ops.iter().filter_map(sends).collect()).collect()
}

/// "The longest message at n = 1024 is 16,320 bytes, just below S", and 65,472 bytes at n = 4096.
#[test]
fn messages_are_as_long_as_published() {
    for (n, longest) in [(1024, 16_320), (4096, 65_472)] {
        let sizes = sizes(&spec(n).program().unwrap());
        assert_eq!(sizes.iter().flatten().max(), Some(&longest));
        assert_eq!(sizes.iter().flatten().any(|&size| size > 16_383), n > 1024);
    }
}

#[test]
fn every_message_has_its_receive_and_pieces_add_up() {
    let whole = spec(500);
    let pieces = GaussianElimination { fragment: Some(Bytes(1000)), ..whole.clone() };
    let mut bytes = Vec::new();
    for spec in [whole, pieces] {
        let program = spec.program().unwrap();
        let mut open: BTreeMap<(u32, u32, u32, u64), i64> = BTreeMap::new();
        for (rank, ops) in program.iter() {
            for op in &ops.ops {
                match op.action() {
                    Action::Send { to, bytes, .. } => {
                        *open.entry((rank.0, to.peer, to.tag, bytes)).or_default() += 1;
                        assert!(spec.fragment.is_none() || bytes <= 1000);
                    }
                    Action::Recv { from, bytes, .. } => {
                        *open.entry((from.peer, rank.0, from.tag, bytes)).or_default() -= 1;
                    }
                    _ => {}
                }
            }
        }
        assert!(open.values().all(|&count| count == 0));
        bytes.push(sizes(&program).iter().flatten().sum::<u64>());
    }
    assert_eq!(bytes[0], bytes[1]);
}

/// The program computes 2/3 n^3 operations, and lower orders.
#[test]
fn as_much_is_computed_as_elimination_takes() {
    for look_ahead in [true, false] {
        let n = 2048.0;
        let program = GaussianElimination { look_ahead, ..spec(2048) }.program().unwrap();
        let calc = |op: &Op| if op.kind == OpKind::Calc { op.duration().seconds() } else { 0.0 };
        let total: f64 = program.iter().flat_map(|(_, rank)| &rank.ops).map(calc).sum();
        let operations = total * 1e6;
        assert!((operations / (2.0 / 3.0 * n * n * n) - 1.0).abs() < 0.02, "{operations}");
    }
}

#[test]
fn odd_sizes_are_as_good_as_round_ones() {
    for (n, ranks, block) in [(1, 1, 1), (1, 16, 8), (7, 4, 8), (33, 9, 8), (97, 49, 3), (100, 25, 7), (64, 1, 64)] {
        for search in [PivotSearch::Allreduce, PivotSearch::Gather] {
            for (swap, solve) in [(Swap::Rows, true), (Swap::Rest, true), (Swap::Rest, false)] {
                let spec = GaussianElimination { ranks, block, search, swap, solve, ..spec(n) };
                let program = spec.program().unwrap();
                assert!(program.operations() <= spec.operations(), "{spec:?}: {}", program.operations());
            }
        }
    }
    let large = GaussianElimination { fragment: Some(Bytes(4096)), ..spec(2048) };
    let (exact, estimate) = (large.program().unwrap().operations(), large.operations());
    assert!((exact..3 * exact).contains(&estimate), "{estimate} instead of {exact}");
}

#[test]
fn what_makes_no_program_is_told() {
    let good = spec(64);
    assert_eq!(good.mistake(), None);
    for wrong in [
        GaussianElimination { n: 0, ..good.clone() },
        GaussianElimination { ranks: 12, ..good.clone() },
        GaussianElimination { block: 0, ..good.clone() },
        GaussianElimination { flops: f64::NAN, ..good.clone() },
        GaussianElimination { fragment: Some(Bytes(0)), ..good.clone() },
    ] {
        assert!(wrong.program().is_err(), "{wrong:?}");
    }
}

/// "22.5 MB a processor" and "1438 sends and receives" of 16,383 bytes: these are exactly the panels and the
/// pivot rows of a 4 x 4 grid.
#[test]
fn what_is_above_s_makes_as_many_pieces_as_published() {
    let sizes = sizes(&spec(4096).program().unwrap());
    let long: u64 = sizes.iter().flatten().filter(|&&size| size > 16_383).sum();
    assert_eq!(long / 16 / 16_383, 1438);
    assert!((long as f64 / 16.0 / f64::from(1 << 20) - 22.5).abs() < 0.05);
    // Panels of 16 (n - 8 k - 4) bytes and pivot rows of 16 (n - 8 k - 8), twelve of each.
    assert_eq!(long, (1..=768).map(|four| 12 * 16 * (4096 - 4 * four)).sum::<u64>());
}

fn with(search: PivotSearch, swap: Swap, solve: bool) -> GaussianElimination {
    GaussianElimination { search, swap, solve, ..spec(64) }
}

/// Returns the number of messages and their bytes, by purpose.
fn by_purpose(spec: &GaussianElimination) -> BTreeMap<u32, (u64, u64)> {
    let mut found: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for (_, rank) in spec.program().unwrap().iter() {
        for op in &rank.ops {
            if let Action::Send { to, bytes, .. } = op.action() {
                let entry = found.entry(to.tag).or_default();
                *entry = (entry.0 + 1, entry.1 + bytes);
            }
        }
    }
    found
}

/// Trees of Q ranks have Q - 1 messages.
#[test]
fn a_column_and_an_unknown_take_as_many_messages_as_their_trees_have() {
    let (n, others) = (64, 3);
    for swap in [Swap::Rows, Swap::Rest] {
        let all = by_purpose(&with(PivotSearch::Allreduce, swap, true));
        let exchanged = all[&4].0 / 4;
        assert_eq!(all[&1], (n * others, n * others * 16));
        // The position to all, the pivot's row to all, and the diagonal's row if it is on another rank; in
        // each of 4 columns two rows swap.
        assert_eq!(all[&2].0, n * 2 * others + exchanged / 2);
        assert_eq!((all[&6], all[&7]), ((n * others, n * others * 8), (n * others, n * others * 8)));
        let gathered = by_purpose(&with(PivotSearch::Gather, swap, false));
        assert_eq!(gathered[&1], (n * others, n * others * (16 + 64)));
        assert_eq!((gathered[&1], gathered.get(&6), gathered.get(&7)), (gathered[&2], None, None));
        assert_eq!((gathered[&3], gathered[&4], gathered[&5]), (all[&3], all[&4], all[&5]));
    }
}

#[test]
fn what_is_left_of_rows_is_half_of_them_on_average() {
    let [rows, rest] = [Swap::Rows, Swap::Rest].map(|swap| by_purpose(&with(PivotSearch::Allreduce, swap, true))[&4]);
    assert_eq!(rows.0, rest.0);
    assert_eq!(rows.1, rows.0 * 8 * 16);
    let half = rest.1 as f64 / rows.1 as f64;
    assert!((half - 0.5).abs() < 0.15, "{half}");
}

/// Messages cost L + 2 o, and computation is free. The row of the next unknown is the farthest from this
/// one's in its tree, at most ceil(log2 Q) messages away. Sums have arrived by then and cost o each; ranks in
/// between first send on to others, for o each.
#[test]
fn back_substitution_is_hidden_by_nothing() {
    use crate::player::{Observers, Play, Player};
    let text = "[loggps]\nL = \"1 us\"\no = \"2 us\"\nOss = \"0 ns/B\"\nOrs = \"0 ns/B\"\nGs = \"0 ns/B\"\nOsl = \"0 ns/B\"\n\
                Orl = \"0 ns/B\"\nGl = \"0 ns/B\"\nS = \"1 MB\"\nreceiver-sharing = false";
    let node: crate::node::NodeSpec = crate::reading::from_toml(text).unwrap();
    for (ranks, rounds) in [(4, 1.0), (9, 2.0), (16, 2.0), (25, 3.0), (64, 3.0)] {
        let time = |solve| {
            let spec = GaussianElimination { ranks, solve, n: 48, flops: 1e18, ..Default::default() };
            let program = spec.program().unwrap();
            let play = Play {
                program: &program,
                costs: node.costs().unwrap(),
                expand: None,
                cpu_speed: 1.0,
                on_fabric: false,
            };
            let played = Player::new(play, Observers::default()).run(&|_, _| true);
            assert_eq!(played.stuck, []);
            played.makespan().seconds() * 1e6
        };
        let unknown = (time(true) - time(false)) / 48.0;
        let (least, most) = (5.0, rounds * (5.0 + 2.0 + 2.0) + 2.0 * rounds);
        assert!((least..=most).contains(&unknown), "{ranks} ranks: {unknown} us");
    }
}

//! Trees and bytes of the algorithms.

use super::*;
use crate::nccl::System;

const SYSTEMS: &str = include_str!("../../../validation/nccl/systems.json");

fn sent(operation: Operation, shape: (u32, u32), algorithm: Algorithm, bytes: u64) -> Vec<Message> {
    sent_on("h100-ndr", operation, shape, algorithm, bytes)
}

fn sent_on(name: &str, operation: Operation, shape: (u32, u32), algorithm: Algorithm, bytes: u64) -> Vec<Message> {
    let (ranks, nodes) = shape;
    let system = System::from_json(SYSTEMS, 0, name).unwrap();
    let tuning = Tuning::new(&system, operation, ranks, nodes).unwrap();
    messages(&tuning, algorithm, bytes).unwrap()
}

fn total(messages: &[Message]) -> f64 {
    messages.iter().map(|message| message.bytes).sum()
}

fn near(a: f64, b: f64) -> bool {
    (a / b - 1.0).abs() < 1e-9
}

#[test]
fn parents_and_children_of_both_trees_agree_and_reach_every_node() {
    for nodes in 1..200 {
        let trees = DoubleTree::new(nodes);
        for tree in [0, 1] {
            let order = trees.down_order(tree);
            assert_eq!(order.len() as u32, nodes, "tree {tree} of {nodes}");
            for node in 0..nodes {
                let children = trees.children(tree, node);
                assert!(children.len() <= 2);
                assert!(children.iter().all(|&child| trees.parent(tree, child) == Some(node)), "{node} of {nodes}");
            }
        }
    }
}

#[test]
fn a_node_with_two_children_in_one_tree_is_a_leaf_of_the_other() {
    for nodes in (2..200).step_by(2) {
        let trees = DoubleTree::new(nodes);
        for node in 0..nodes {
            let counts = [0, 1].map(|tree| trees.children(tree, node).len());
            assert!(counts.contains(&0) || counts.iter().sum::<usize>() <= 3, "{node} of {nodes}: {counts:?}");
            assert!(counts != [2, 2], "{node} of {nodes}");
        }
    }
}

#[test]
fn a_ring_moves_what_the_definition_says() {
    let (n, bytes) = (16_u32, 1_u64 << 20);
    for (operation, factor) in [
        (Operation::AllReduce, 2.0 * f64::from(n - 1)),
        (Operation::AllGather, f64::from(n - 1)),
        (Operation::ReduceScatter, f64::from(n - 1)),
        (Operation::Broadcast, f64::from(n - 1)),
        (Operation::Reduce, f64::from(n - 1)),
    ] {
        let list = sent(operation, (n, 2), Algorithm::Ring, bytes);
        assert!(near(total(&list), factor * bytes as f64), "{operation:?}");
    }
}

#[test]
fn trees_move_the_data_up_and_down_once_along_each_edge() {
    let list = sent(Operation::AllReduce, (32, 4), Algorithm::Tree, 1 << 20);
    assert!(near(total(&list), 2.0 * 31.0 * f64::from(1 << 20)));
}

#[test]
fn nvls_moves_the_data_and_a_part_in_each_direction_of_a_link() {
    let list = sent(Operation::AllReduce, (8, 1), Algorithm::Nvls, 1 << 20);
    assert!(near(total(&list), 8.0 * f64::from(1 << 20) * (1.0 + 1.0 / 8.0) / 0.85));
}

#[test]
fn rings_cross_between_nodes_on_one_rail() {
    let list = sent(Operation::AllReduce, (32, 4), Algorithm::Ring, 1 << 20);
    let crossings = list.iter().filter(|message| message.src / 8 != message.dst / 8);
    assert!(crossings.clone().count() > 0);
    assert!(crossings.into_iter().all(|message| message.src % 8 == message.dst % 8));
}

#[test]
fn messages_wait_for_earlier_messages_of_their_sender_alone() {
    for (algorithm, shape) in [
        (Algorithm::Ring, (16, 2)),
        (Algorithm::Tree, (24, 3)),
        (Algorithm::NvlsTree, (32, 4)),
        (Algorithm::CollnetDirect, (24, 3)),
        (Algorithm::CollnetChain, (24, 3)),
        (Algorithm::Pat, (12, 12)),
    ] {
        let operation = if algorithm == Algorithm::Pat { Operation::ReduceScatter } else { Operation::AllReduce };
        let list = sent_on("h100-sharp", operation, shape, algorithm, 1 << 20);
        for (at, message) in list.iter().enumerate() {
            for &awaited in &message.after {
                let of = &list[awaited as usize];
                assert!((awaited as usize) < at && (of.src == message.src || of.dst == message.src), "{algorithm:?}");
            }
        }
    }
}

/// Checks an all-gather on lists of blocks: ranks send only what they hold, and end with all.
#[test]
fn with_pat_every_rank_sends_what_it_holds_and_ends_with_all_blocks() {
    for ranks in 2..70_u32 {
        for together in (0..ranks.ilog2()).map(|shift| 1 << shift) {
            let mut holds: Vec<Vec<bool>> =
                (0..ranks).map(|rank| (0..ranks).map(|block| block == rank).collect()).collect();
            for (distance, places) in pat::steps(ranks, together) {
                assert!(places.len() as u32 <= together.max(ranks / 2), "{ranks}: {places:?}");
                let before = holds.clone();
                for rank in 0..ranks {
                    let to = (rank + ranks - distance) % ranks;
                    for place in &places {
                        let block = ((rank + place) % ranks) as usize;
                        assert!(before[rank as usize][block], "{ranks} by {together}: {rank} lacks {block}");
                        assert!(!std::mem::replace(&mut holds[to as usize][block], true), "{block} comes twice");
                    }
                }
            }
            assert!(holds.iter().flatten().all(|held| *held), "{ranks} by {together}");
        }
    }
}

#[test]
fn pat_moves_each_block_once_to_each_rank_and_small_blocks_in_few_messages() {
    for operation in [Operation::AllGather, Operation::ReduceScatter] {
        for bytes in [1 << 10, 1 << 20, 1 << 30] {
            let list = sent(operation, (16, 16), Algorithm::Pat, bytes);
            assert!(near(total(&list), 15.0 * bytes as f64), "{operation:?} {bytes}");
            for rank in 0..16 {
                let of_rank: f64 = list.iter().filter(|of| of.dst == rank).map(|of| of.bytes).sum();
                assert!(near(of_rank, 15.0 / 16.0 * bytes as f64), "{operation:?} {bytes} to {rank}");
            }
        }
        // Eight blocks go together: three distances of a stride of two and more, then one step.
        assert_eq!(sent(operation, (16, 16), Algorithm::Pat, 1 << 10).len(), 16 * 4);
        // Blocks above half a buffer go alone.
        assert_eq!(sent(operation, (16, 16), Algorithm::Pat, 1 << 30).len(), 16 * 15);
    }
}

#[test]
fn cards_of_collnet_send_and_receive_the_share_of_their_head() {
    let bytes = f64::from(1 << 20);
    let share = |operation, algorithm| {
        let list = sent_on("h100-sharp", operation, (32, 4), algorithm, 1 << 20);
        let crosses = |of: &&Message| of.src / 8 != of.dst / 8;
        let of_rank = |rank| list.iter().filter(crosses).filter(|of| of.src == rank).map(|of| of.bytes).sum::<f64>();
        assert!((1..32).all(|rank| near(of_rank(rank), of_rank(0))), "{operation:?}");
        let arrives: f64 = list.iter().filter(crosses).filter(|of| of.dst == 0).map(|of| of.bytes).sum();
        assert!(near(arrives, of_rank(0)));
        let inside: f64 = list.iter().filter(|of| !crosses(of) && of.src == 0).map(|of| of.bytes).sum();
        (of_rank(0) / bytes, inside / bytes)
    };
    for algorithm in [Algorithm::CollnetDirect, Algorithm::CollnetChain] {
        let (card, inside) = share(Operation::AllReduce, algorithm);
        // Up to the heads and down again, each time all but an eighth.
        assert!(near(card, 1.0 / 8.0) && near(inside, 2.0 * 7.0 / 8.0), "{algorithm:?}: {card} {inside}");
    }
    for operation in [Operation::AllGather, Operation::ReduceScatter] {
        let (card, inside) = share(operation, Algorithm::CollnetDirect);
        assert!(near(card, 3.0 / 4.0 / 8.0) && near(inside, 7.0 / 8.0), "{operation:?}: {card} {inside}");
    }
}

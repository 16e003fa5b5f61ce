//! Trees and bytes of the algorithms.

use super::*;
use crate::nccl::System;

const SYSTEMS: &str = include_str!("../testdata/nccl_systems.json");

fn sent(operation: Operation, (ranks, nodes): (u32, u32), algorithm: Algorithm, bytes: u64) -> Vec<Message> {
    let system = System::from_json(SYSTEMS, 0, "h100-ndr").unwrap();
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
    for (algorithm, shape) in [(Algorithm::Ring, (16, 2)), (Algorithm::Tree, (24, 3)), (Algorithm::NvlsTree, (32, 4))] {
        let list = sent(Operation::AllReduce, shape, algorithm, 1 << 20);
        for (at, message) in list.iter().enumerate() {
            for &awaited in &message.after {
                let of = &list[awaited as usize];
                assert!((awaited as usize) < at && (of.src == message.src || of.dst == message.src), "{algorithm:?}");
            }
        }
    }
}

//! Tests of packed slots and coloured routes.

use std::collections::BTreeMap;

use super::*;
use crate::fabric::Tree;
use crate::rng::Stream;

/// Returns the messages of an all-to-all on a ring of ports and links, the shorter way round or both ways.
fn ring(nodes: u32, both: bool) -> Messages {
    let mut messages = Messages::default();
    for (src, dst) in (0..nodes).flat_map(|src| (0..nodes).map(move |dst| (src, dst))).filter(|(src, dst)| src != dst) {
        let hops = (dst + nodes - src) % nodes;
        let way = |hops: u32, first: u32, step: u32| -> Vec<u32> {
            let links = (0..hops).map(|hop| first + (src + hop * step) % nodes);
            [src].into_iter().chain(links).chain([nodes + dst]).collect()
        };
        let ways = [way(hops, 2 * nodes, 1), way(nodes - hops, 3 * nodes, nodes - 1)];
        let shorter = usize::from(2 * hops > nodes);
        match both {
            true => messages.push(1, ways.iter().map(Vec::as_slice)),
            false => messages.push(1, [ways[shorter].as_slice()]),
        }
    }
    messages
}

/// Checks that each message has a slot and no link carries more than its room in any.
fn assert_valid(messages: &Messages, room: &[u32], slots: &Slots) {
    let mut used: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    for message in 0..messages.count() as u32 {
        let (slot, route) = (slots.slot[message as usize], slots.route[message as usize]);
        assert!(messages.routes(message).contains(&route) && slot < slots.slots);
        for held in slot..slot + messages.weight(message) {
            messages.route(route).iter().for_each(|&link| *used.entry((held, link)).or_default() += 1);
        }
    }
    assert!(used.iter().all(|(&(_, link), &count)| count <= room[link as usize]));
}

#[test]
fn packed_slots_hold_all_messages_within_the_room_of_links() {
    for nodes in [2, 3, 7, 16] {
        let (single, several) = (ring(nodes, false), ring(nodes, true));
        for room in [1, 2] {
            let room = vec![room; 4 * nodes as usize];
            for effort in [Effort::Greedy, Effort::Pack] {
                let slots = pack(&single, &room, effort, 1, &mut |_| true).unwrap();
                assert_valid(&single, &room, &slots);
                let bound = single.work(&room).into_iter().fold(0.0, f64::max);
                assert!(f64::from(slots.slots) >= bound - 1e-9 && f64::from(slots.slots) <= 1.5 * bound + 1.0);
                let slots = pack(&several, &room, effort, 1, &mut |_| true).unwrap();
                assert_valid(&several, &room, &slots);
            }
        }
    }
    assert!(pack(&ring(16, false), &[1; 64], Effort::Greedy, 1, &mut |_| false).is_none());
}

#[test]
fn the_packing_of_a_seed_is_always_the_same() {
    let (messages, room) = (ring(12, false), vec![1; 48]);
    let slots = || pack(&messages, &room, Effort::Pack, 7, &mut |_| true).unwrap();
    assert_eq!(slots().slot, slots().slot);
}

#[test]
fn coloured_rounds_never_meet_on_a_full_tree() {
    let mut stream = Stream::new(3, "colour");
    for (down, up) in [(vec![4, 4], vec![1, 4]), (vec![3, 3, 6], vec![1, 3, 3]), (vec![6, 6, 12], vec![1, 6, 6])] {
        let tree = Tree { parallel: vec![1; down.len()], down, up };
        let mut to: Vec<u32> = (0..tree.nodes()).collect();
        for round in 0..20 {
            stream.shuffle(&mut to);
            // In some rounds part of the nodes are silent.
            let messages: Vec<(u32, u32)> = (0..tree.nodes()).zip(to.iter().copied()).skip(round % 5).collect();
            let mut ports = Vec::new();
            assert_eq!(colour_round(&tree, &messages, &mut ports), 1);
            let mut used = BTreeMap::new();
            for (message, ports) in messages.iter().zip(ports.chunks(tree.levels())) {
                let mut at = [message.0, message.1];
                for (level, &port) in (1..).zip(ports) {
                    if message.0 / tree.block(level - 1) == message.1 / tree.block(level - 1) {
                        break;
                    }
                    let links = [tree.up_link(level, at[0], port.into()), tree.down_link(level, at[1], port.into())];
                    links.into_iter().for_each(|link| *used.entry(link.0).or_insert(0) += 1);
                    at = at.map(|part| tree.parent(level, part, port.into()));
                }
                assert_eq!(at[0], at[1], "both ways meet at one switch");
            }
            assert!(used.values().all(|&count| count == 1));
        }
    }
}

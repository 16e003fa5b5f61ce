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

/// Returns the links of a route of a tree by its ports from level 1 up.
fn tree_route(tree: &Tree, src: u32, dst: u32, port: &dyn Fn(usize) -> u32) -> Vec<u32> {
    let (mut at, mut up, mut down) = ([src, dst], Vec::new(), Vec::new());
    for level in 1..=tree.levels() {
        if src / tree.block(level - 1) == dst / tree.block(level - 1) {
            break;
        }
        up.push(tree.up_link(level, at[0], port(level)).0);
        down.push(tree.down_link(level, at[1], port(level)).0);
        at = at.map(|part| tree.parent(level, part, port(level)));
    }
    up.into_iter().chain(down.into_iter().rev()).collect()
}

#[test]
fn slots_of_a_tree_that_lost_a_cable_are_near_the_bound_of_its_leaf() {
    let tree = Tree { down: vec![4, 8], up: vec![1, 4], parallel: vec![1, 1] };
    let lost = [tree.up_link(2, 0, 0).0, tree.down_link(2, 0, 0).0];
    let mut messages = Messages::default();
    for (src, dst) in (0..32).flat_map(|src| (0..32).map(move |dst| (src, dst))).filter(|(src, dst)| src != dst) {
        let mut routes: Vec<Vec<u32>> =
            (0..4).map(|port| tree_route(&tree, src, dst, &|level| [0, port][level - 1])).collect();
        routes.dedup();
        routes.retain(|route| !route.iter().any(|link| lost.contains(link)));
        messages.push(1, routes.iter().map(Vec::as_slice));
    }
    let room = vec![1; tree.first_link(3) as usize];
    for effort in [Effort::Greedy, Effort::Pack] {
        let slots = pack(&messages, &room, effort, 1, &mut |_| true).unwrap();
        assert_valid(&messages, &room, &slots);
        // 4 nodes of the leaf send to 28 others over 3 cables.
        assert!((38..40).contains(&slots.slots), "{effort:?}: {}", slots.slots);
    }
}

#[test]
fn messages_hold_their_links_as_long_as_they_weigh() {
    // A torus of 4 x 4 without ports: first along a row, then along a column.
    let mut stream = Stream::new(4, "weights");
    let mut messages = Messages::default();
    for (src, dst) in (0..256_u32).map(|pair| (pair / 16, pair % 16)) {
        let (mut at, mut route) = ([src % 4, src / 4], Vec::new());
        for (dim, to) in [dst % 4, dst / 4].into_iter().enumerate() {
            while at[dim] != to {
                let step = if (to + 4 - at[dim]) % 4 == 3 { 3 } else { 1 };
                route.push(4 * (at[0] + 4 * at[1]) + 2 * dim as u32 + step / 2);
                at[dim] = (at[dim] + step) % 4;
            }
        }
        messages.push(1 + stream.below(4) as u32, [route.as_slice()]);
    }
    let room: Vec<u32> = (0..64).map(|_| 1 + stream.below(3) as u32).collect();
    let bound = messages.work(&room).into_iter().fold(0.0, f64::max);
    for effort in [Effort::Greedy, Effort::Pack] {
        let slots = pack(&messages, &room, effort, 1, &mut |_| true).unwrap();
        assert_valid(&messages, &room, &slots);
        assert!((bound..=1.2 * bound).contains(&f64::from(slots.slots)), "{effort:?}: {} {bound}", slots.slots);
    }
}

#[test]
fn nothing_takes_no_slot_and_messages_within_a_node_take_one() {
    let mut messages = Messages::default();
    assert_eq!(pack(&messages, &[], Effort::Pack, 1, &mut |_| true).unwrap().slots, 0);
    messages.push(1, [&[][..]]);
    messages.push(1, [&[][..]]);
    assert_eq!(pack(&messages, &[], Effort::Pack, 1, &mut |_| true).unwrap().slots, 1);
}

#[test]
fn coloured_rounds_share_the_ports_of_thin_trees_evenly() {
    let tree = Tree { down: vec![6, 4], up: vec![1, 3], parallel: vec![1, 1] };
    let once: Vec<(u32, u32)> = (0..24).map(|node| (node, (node + 6) % 24)).collect();
    // Two ranks a node send two messages at once.
    let twice = [&once[..], &once[..]].concat();
    for (pairs, most) in [(once, 2), (twice, 4)] {
        let mut ports = Vec::new();
        assert_eq!(colour_round(&tree, &pairs, &mut ports), most);
        let mut load = vec![0; tree.first_link(3) as usize];
        for (&(src, dst), ports) in pairs.iter().zip(ports.chunks(2)) {
            let route = tree_route(&tree, src, dst, &|level| ports[level - 1].into());
            route.into_iter().for_each(|link| load[link as usize] += 1);
        }
        assert_eq!(load.into_iter().max(), Some(most));
    }
}

//! Routes without conflict on a tree: edge colouring of each round's messages.

use std::mem::{replace, swap};

use crate::fabric::Tree;

const NONE: u32 = u32::MAX;

/// Chooses the port of each message of a round on each level of a tree and returns the largest number of messages
/// on a link.
///
/// `messages` are pairs of nodes. Message m climbs by port `ports[m * levels + l - 1]` to level l and comes down by
/// the same port, from level 1 to the first level on which both nodes have a switch in common. Higher entries are 0.
///
/// On each level a message is an edge between the parts of the level below that it leaves and reaches. The edges at
/// a part get different colours, and a colour is a port. A part has at most as many edges as links from below. The
/// result is therefore 1 if each node sends and receives at most one message and no level has fewer ports up than
/// links from below. On thinner trees colours share ports evenly, `ceil(edges / ports)` to each.
///
/// Source: D. König, "Über Graphen und ihre Anwendung auf Determinantentheorie und Mengenlehre", 1916.
/// Cost: `O(messages * ports)` a level, plus the length of the alternating paths, which are short in practice.
pub fn colour_round(tree: &Tree, messages: &[(u32, u32)], ports: &mut Vec<u16>) -> u32 {
    let levels = tree.levels();
    ports.clear();
    ports.resize(messages.len() * levels, 0);
    let mut copy = vec![0; messages.len()];
    let mut climbing: Vec<u32> = (0..messages.len() as u32).collect();
    let mut load = 0;
    for level in 1..=levels {
        let (block, copies, up) = (tree.block(level - 1), tree.copies(level - 1), tree.up[level - 1]);
        climbing.retain(|&m| messages[m as usize].0 / block != messages[m as usize].1 / block);
        let part = |m: u32, node: u32| node / block * copies + copy[m as usize];
        let ends = |&m: &u32| [part(m, messages[m as usize].0), part(m, messages[m as usize].1)];
        let edges: Vec<[u32; 2]> = climbing.iter().map(ends).collect();
        let cables = tree.ports(level);
        let (colours, degree) = colour_edges(&edges, tree.parts(level - 1) as usize, cables as usize);
        load = load.max(degree.div_ceil(cables));
        for (&m, colour) in climbing.iter().zip(colours) {
            let port = colour % cables;
            ports[m as usize * levels + level - 1] = port as u16;
            copy[m as usize] += copies * (port % up);
        }
    }
    load
}

/// Colours the edges of a bipartite multigraph with `vertices` on each side, so that no two at a vertex are alike.
///
/// Returns the colours, below `max(least, degree)`, and the largest degree.
fn colour_edges(edges: &[[u32; 2]], vertices: usize, least: usize) -> (Vec<u32>, u32) {
    let mut degrees = [vec![0u32; vertices], vec![0u32; vertices]];
    for ends in edges {
        (0..2).for_each(|side| degrees[side][ends[side] as usize] += 1);
    }
    let degree = degrees.iter().flatten().copied().max().unwrap_or(0);
    let colours = least.max(degree as usize);
    // Edge of each colour at each vertex.
    let mut at = [vec![NONE; vertices * colours], vec![NONE; vertices * colours]];
    for (edge, ends) in edges.iter().enumerate() {
        let [left, right] = [0, 1].map(|side| ends[side] as usize * colours);
        let free = |side: usize, c: usize| at[side][[left, right][side] + c] == NONE;
        let both = (0..colours).find(|&c| free(0, c) && free(1, c));
        let first = |side| both.or_else(|| (0..colours).find(|&c| free(side, c))).unwrap_or(0);
        // The edge takes a colour that is free on the left. Edges in its way swap this colour with one that is free
        // on the right, along a path that cannot come back to the left end.
        let (mut new, mut old) = (first(0), first(1));
        let (mut edge, mut side) = (edge as u32, 1);
        at[0][left + new] = edge;
        loop {
            let row = edges[edge as usize][side] as usize * colours;
            let displaced = replace(&mut at[side][row + new], edge);
            if new != old {
                at[side][row + old] = displaced;
            }
            if displaced == NONE {
                break;
            }
            (edge, side) = (displaced, 1 - side);
            swap(&mut new, &mut old);
        }
    }
    let mut colour = vec![0; edges.len()];
    for (i, &edge) in at[0].iter().enumerate().filter(|(_, edge)| **edge != NONE) {
        colour[edge as usize] = (i % colours) as u32;
    }
    (colour, degree)
}

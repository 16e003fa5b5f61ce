//! Closed forms of forests on regular fabrics.

use rustc_hash::FxHashMap;

use super::forest::{Edge, Forest, Tree};
use super::graph::Graph;
use super::max_flow::Network;
use super::ratio::{Ratio, gcd};

/// Largest number of edges of a closed form.
const MOST_EDGES: u64 = 1 << 25;

/// Returns the forest of equal trees `(root, pairs of nodes)`, with one path for each pair of nodes.
fn plant(
    trees_per_root: u64,
    trees: impl Iterator<Item = (u32, Vec<(u32, u32)>)>,
    route: &mut dyn FnMut(u32, u32) -> Vec<u32>,
) -> Forest {
    let unit = Ratio { numerator: 1, denominator: trees_per_root };
    let mut forest = Forest { unit, trees: Vec::new(), paths: Vec::new() };
    let mut numbers = FxHashMap::default();
    for (root, pairs) in trees {
        let edge = |(from, to)| {
            let path = *numbers.entry((from, to)).or_insert_with(|| {
                forest.paths.push(route(from, to));
                forest.paths.len() as u32 - 1
            });
            Edge { from, to, path }
        };
        let edges = pairs.into_iter().map(edge).collect();
        forest.trees.push(Tree { root, weight: 1, edges });
    }
    forest
}

/// Returns one tree of depth 2 for each root: node i of group l sends to node i of each other group, and each of
/// these nodes and the root send to the other nodes of their group.
///
/// `group` is the group of each compute node, for example its leaf switch or its box, and `route` returns the links
/// from one compute node to another. The result is optimal on fat-trees and near the optimum on boxes with an inner
/// switch; [`Forest::time`] tells by the loads. `None` if groups differ in size or there are too many edges.
pub fn groups(group: &[u32], route: &mut dyn FnMut(u32, u32) -> Vec<u32>) -> Option<Forest> {
    let nodes = group.len();
    let mut order: Vec<u32> = (0..nodes as u32).collect();
    order.sort_by_key(|&node| (group[node as usize], node));
    let members: Vec<&[u32]> = order.chunk_by(|&a, &b| group[a as usize] == group[b as usize]).collect();
    let size = members.first()?.len();
    if members.iter().any(|group| group.len() != size) || (nodes as u64).pow(2) > MOST_EDGES {
        return None;
    }
    let count = members.len();
    let tree = |(l, i): (usize, usize)| {
        let group = |step: usize| members[(l + step) % count];
        let across = (1..count).map(|step| (group(0)[i], group(step)[i]));
        let within = (0..count).flat_map(|step| (1..size).map(move |to| (step, to)));
        let within = within.map(|(step, to)| (group(step)[i], group(step)[(i + to) % size]));
        (group(0)[i], across.chain(within).collect())
    };
    Some(plant(1, (0..count).flat_map(|l| (0..size).map(move |i| (l, i))).map(tree), route))
}

/// Returns trees of a fabric that looks the same from each compute node: tori, hypercubes, HyperX, circulants.
///
/// The number of a node is its position in a grid of size `dims`, the first dimension fastest, and `steps` are the
/// distances to its neighbours, as positions from node 0. `route` returns the links from a node to a neighbour. All
/// trees of a root are shortest-path trees, and the other roots have the same ones, shifted. So the load of a link
/// depends on its step alone. A flow chooses the last step to each node such that each step is used in proportion to
/// its bandwidth b_s. Then the time is `(N - 1) / sum of b_s`, the least possible, as [`Forest::time`] confirms.
///
/// `None` if some node is not reached, no such choice exists, or there are too many edges. Cost: one maximum flow
/// and the result.
pub fn translated(
    graph: &Graph,
    dims: &[u32],
    steps: &[u32],
    route: &mut dyn FnMut(u32, u32) -> Vec<u32>,
) -> Option<Forest> {
    let nodes = graph.compute;
    let size = dims.iter().try_fold(1_u32, |size, &dim| size.checked_mul(dim));
    if size != Some(nodes) || nodes < 2 || steps.iter().any(|&step| step == 0 || step >= nodes) {
        return None;
    }
    let shifted = |node: u32, by: u32| {
        let (mut sum, mut stride) = (0, 1);
        for &dim in dims {
            sum += (node / stride % dim + by / stride % dim) % dim * stride;
            stride *= dim;
        }
        sum
    };
    let bandwidth = |links: Vec<u32>| links.iter().map(|&link| graph.links[link as usize].2).min();
    let mut widths = steps.iter().map(|&step| bandwidth(route(0, step)).map(u128::from)).collect::<Option<Vec<_>>>()?;
    let common = widths.iter().fold(0, |common, &width| gcd(common, width));
    widths.iter_mut().for_each(|width| *width /= common.max(1));
    let sum: u128 = widths.iter().sum();
    let edges = u128::from(nodes - 1);
    let trees = sum.checked_div(gcd(edges, sum))?;
    if trees.saturating_mul(edges * u128::from(nodes)) > u128::from(MOST_EDGES) {
        return None;
    }
    let (source, sink, trees) = (0, nodes + steps.len() as u32, trees as i64);
    let mut links: Vec<_> = (1..nodes).map(|node| (source, node, trees)).collect();
    for (number, &width) in (nodes..).zip(&widths) {
        links.push((number, sink, (trees as u128 * edges * width / sum) as i64));
    }
    let (mut ways, mut at) = (Vec::new(), 0);
    let (mut order, mut distance) = (vec![0], vec![u32::MAX; nodes as usize]);
    distance[0] = 0;
    while let Some(&from) = order.get(at) {
        at += 1;
        for (number, &step) in (nodes..).zip(steps) {
            let to = shifted(from, step);
            if distance[to as usize] == u32::MAX {
                distance[to as usize] = distance[from as usize] + 1;
                order.push(to);
            }
            if distance[to as usize] == distance[from as usize] + 1 {
                ways.push((links.len(), from, to));
                links.push((to, number, trees));
            }
        }
    }
    let mut network = Network::new(sink as usize + 1, &links);
    let all = trees * i64::from(nodes - 1);
    if order.len() < nodes as usize || network.flow(source, sink, all) < all {
        return None;
    }
    // By node: the sender of each tree.
    let mut senders = vec![Vec::new(); nodes as usize];
    for (link, from, to) in ways {
        senders[to as usize].extend((0..network.sent_on(link)).map(|_| from));
    }
    let pair = |root, tree, node| (shifted(root, senders[node as usize][tree]), shifted(root, node));
    let tree = |(root, tree)| (root, order.iter().skip(1).map(|&node| pair(root, tree, node)).collect());
    let numbers = (0..nodes).flat_map(|root| (0..trees as usize).map(move |tree| (root, tree)));
    Some(plant(trees as u64, numbers.map(tree), route))
}

/// Returns the steps to the neighbours in a torus of size `dims`: plus and minus 1 in each dimension.
pub fn torus_steps(dims: &[u32]) -> Vec<u32> {
    let (mut steps, mut stride) = (Vec::new(), 1);
    for &dim in dims {
        steps.extend((dim > 1).then_some(stride));
        steps.extend((dim > 2).then(|| stride * (dim - 1)));
        stride *= dim;
    }
    steps
}

//! Forests of a fabric: bound, removal of switches, packing, and the way back to links.

use std::collections::BTreeMap;

use super::bound::{bound, fraction, least_flow};
use super::demand::Demand;
use super::forest::{Edge, Forest, Tree};
use super::graph::{Error, Graph, Progress, Scaled};
use super::packing::pack;
use super::ratio::Ratio;
use super::splitting::{remove_switches, take};

/// Returns trees of an all-gather that reach the [`bound`].
///
/// Cost: 0.1 s to 0.2 s for 64 compute nodes, 0.7 s for 128, and 10 s to 120 s for 432. It grows with the number of
/// trees, 3 s for 32 nodes with 83 trees each; [`with_trees`] limits that number.
///
/// # Errors
/// Returns an error if the graph is not valid or has more than 1,024 compute nodes, a switch cannot be removed because
/// its bandwidths in and out differ, capacities overflow, or `progress` returns false.
pub fn all_gather(graph: &Graph, progress: &mut Progress<'_>) -> Result<Forest, Error> {
    let best = bound(graph, &mut |done| progress(0.1 * done))?;
    let scaled = Scaled::new(graph, 1)?;
    let (p, q) = fraction(&best, &scaled);
    let shares = vec![q; scaled.compute as usize];
    let unit = Ratio { numerator: 1, denominator: best.trees_per_root };
    forest(&scaled, |bandwidth| p * bandwidth, &shares, unit, &mut |done| progress(0.1 + 0.9 * done))
}

/// Returns trees of a broadcast from `root`, which is below `compute`, that reach [`super::broadcast_bound`].
///
/// # Errors
/// As [`all_gather`].
pub fn broadcast(graph: &Graph, root: u32, progress: &mut Progress<'_>) -> Result<Forest, Error> {
    let scaled = Scaled::new(graph, 1)?;
    let flow = least_flow(&scaled, root, &mut |done| progress(0.1 * done))?;
    let mut shares = vec![0; scaled.compute as usize];
    shares[root as usize] = flow;
    let unit = Ratio::new(u128::from(scaled.compute), flow as u128).ok_or(Error::Overflow)?;
    forest(&scaled, |bandwidth| bandwidth, &shares, unit, &mut |done| progress(0.1 + 0.9 * done))
}

/// Returns `trees` trees for each root that are as fast as that number allows: few trees are fewer and larger messages.
///
/// With U trees for each unit of bandwidth, link e carries floor(U b_e). The smallest U that has the trees is found
/// by bisection. It exceeds `trees` times the [`bound`] by at most 1 over the least bandwidth.
///
/// Source: ForestColl. Cost: as [`all_gather`], and N maximum flows for each step of a bisection.
///
/// # Errors
/// As [`all_gather`]. A switch may get unbalanced by rounding if its links differ in the two directions.
pub fn with_trees(graph: &Graph, trees: u64, progress: &mut Progress<'_>) -> Result<Forest, Error> {
    let best = bound(graph, &mut |done| progress(0.1 * done))?;
    // Capacities are at most (trees p/q + 1) b_e.
    let scaled = Scaled::new(graph, trees.saturating_mul(2).max(1))?;
    let (p, q) = fraction(&best, &scaled);
    let trees = trees.max(1) as i64;
    let shares = vec![trees; scaled.compute as usize];
    let demand = Demand::new(scaled.vertices, &shares);
    let scale = |rate: i128| move |bandwidth: i64| ((rate * i128::from(bandwidth)) >> FRACTION) as i64;
    let mut low = ((i128::from(trees) * i128::from(p)) << FRACTION) / i128::from(q) - 1;
    let least = scaled.links.iter().map(|link| link.2).min().unwrap_or(1);
    let mut high = low + (1 << FRACTION) / i128::from(least) + 3;
    while low + 1 < high {
        let middle = (low + high) / 2;
        let links = scaled.links.iter().map(|&(from, to, bandwidth)| (from, to, scale(middle)(bandwidth)));
        let (lacks, _) = demand.lacking(&mut demand.network(links), 0, &mut |_| progress(0.1))?;
        if lacks > 0 { low = middle } else { high = middle }
    }
    let unit = Ratio { numerator: 1, denominator: trees as u64 };
    forest(&scaled, scale(high), &shares, unit, &mut |done| progress(0.1 + 0.9 * done))
}

/// Number of binary digits behind the point of the number of trees for each unit of bandwidth.
const FRACTION: u32 = 40;

/// Largest number of compute nodes for which trees are packed.
const MOST_NODES: u32 = 1024;

/// Packs trees into links that carry `capacity(bandwidth)` of them.
fn forest(
    scaled: &Scaled,
    capacity: impl Fn(i64) -> i64,
    shares: &[i64],
    unit: Ratio,
    progress: &mut Progress<'_>,
) -> Result<Forest, Error> {
    if scaled.compute > MOST_NODES {
        return Err(Error::TooLarge);
    }
    let links: Vec<_> = scaled.links.iter().map(|&(from, to, bandwidth)| (from, to, capacity(bandwidth))).collect();
    let demand = Demand::new(scaled.vertices, shares);
    let (mut edges, paths) = remove_switches(&links, &demand, &mut |done| progress(0.3 * done))?;
    let batches = pack(&edges, &demand, &mut |done| progress(0.3 + 0.7 * done))?;
    let mut forest = Forest { unit, trees: Vec::new(), paths: Vec::new() };
    let mut numbers = BTreeMap::new();
    for batch in batches {
        let mut pieces: Vec<_> =
            batch.edges.iter().map(|edge| take(edges.entry(*edge).or_default(), batch.weight)).collect();
        let mut left = batch.weight;
        while left > 0 {
            let weight = pieces.iter().filter_map(|pieces| pieces.last()).map(|piece| piece.1).fold(left, i64::min);
            let mut tree = Tree { root: batch.root, weight: weight as u64, edges: Vec::new() };
            for (&(from, to), pieces) in batch.edges.iter().zip(&mut pieces) {
                let Some(piece) = pieces.last_mut() else { return Err(Error::Overflow) };
                let path = *numbers.entry(piece.0).or_insert_with(|| {
                    forest.paths.push(paths.links(piece.0));
                    forest.paths.len() as u32 - 1
                });
                tree.edges.push(Edge { from, to, path });
                piece.1 -= weight;
                pieces.pop_if(|piece| piece.1 == 0);
            }
            forest.trees.push(tree);
            left -= weight;
        }
    }
    Ok(forest)
}

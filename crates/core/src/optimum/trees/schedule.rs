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
/// Cost: 0.1 s to 1 s for 64 compute nodes, several seconds for 128; see [`with_trees`] for larger ones.
///
/// # Errors
/// Returns an error if the graph is not valid, a switch has different bandwidths in and out, capacities overflow,
/// or `progress` returns false.
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
/// With U trees for each unit of bandwidth, link e carries floor(U b_e). The smallest U that has the trees is `j / b_e`
/// for some link and some whole j. It exceeds `trees` times the [`bound`] by at most 1 over the least bandwidth.
///
/// Source: ForestColl, section 5.5. Cost: as [`all_gather`], and N maximum flows for each step of a bisection.
///
/// # Errors
/// As [`all_gather`]. A switch may get unbalanced by rounding if its links differ in the two directions.
pub fn with_trees(graph: &Graph, trees: u64, progress: &mut Progress<'_>) -> Result<Forest, Error> {
    let best = bound(graph, &mut |done| progress(0.1 * done))?;
    // Capacities are at most (trees p/q + 1) b_e.
    let scaled = Scaled::new(graph, trees.saturating_mul(2).max(1))?;
    let (p, q) = fraction(&best, &scaled);
    let trees = trees.max(1) as i64;
    let mut widths: Vec<i64> = scaled.links.iter().map(|link| link.2).collect();
    widths.sort_unstable();
    widths.dedup();
    if widths.iter().map(|width| width / widths[0]).sum::<i64>() > MOST_CANDIDATES {
        return Err(Error::TooLarge);
    }
    let least = |width: i64| (i128::from(trees * p) * i128::from(width) / i128::from(q)) as i64;
    let all = widths.iter().flat_map(|&width| (0..=width / widths[0] + 1).map(move |j| (least(width) + j, width)));
    let mut candidates: Vec<(i64, i64)> = all.collect();
    candidates.sort_by_key(|&(j, width)| (j as f64 / width as f64).to_bits());
    let scale = |(j, width): (i64, i64)| {
        move |bandwidth: i64| (i128::from(j) * i128::from(bandwidth) / i128::from(width)) as i64
    };
    let shares = vec![trees; scaled.compute as usize];
    let demand = Demand::new(scaled.vertices, &shares);
    let (mut low, mut high) = (0, candidates.len() - 1);
    while low < high {
        let middle = (low + high) / 2;
        let scale = scale(candidates[middle]);
        let mut network = demand.network(scaled.links.iter().map(|&(from, to, width)| (from, to, scale(width))));
        let (lacks, _) = demand.lacking(&mut network, 0, true, &mut |_| progress(0.1))?;
        if lacks > 0 { low = middle + 1 } else { high = middle }
    }
    let unit = Ratio { numerator: 1, denominator: trees as u64 };
    forest(&scaled, scale(candidates[low]), &shares, unit, &mut |done| progress(0.1 + 0.9 * done))
}

/// Largest number of rates that are candidates for a fixed number of trees.
const MOST_CANDIDATES: i64 = 1 << 20;

/// Packs trees into links that carry `capacity(bandwidth)` of them.
fn forest(
    scaled: &Scaled,
    capacity: impl Fn(i64) -> i64,
    shares: &[i64],
    unit: Ratio,
    progress: &mut Progress<'_>,
) -> Result<Forest, Error> {
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

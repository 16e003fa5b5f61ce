//! Lower bounds of the time of an all-gather and a broadcast, with a cut that proves each.

use super::demand::Demand;
use super::graph::{Error, Graph, Progress, Scaled, report};
use super::max_flow::Network;
use super::ratio::{Ratio, gcd};

/// Least possible time of an all-gather, proved by a cut.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bound {
    /// Time for 1 byte a rank \[s\]: `cut_nodes / cut_bandwidth`.
    pub time: Ratio,
    /// By vertex: true if it is in the cut S. All bytes of the compute nodes in S have to leave S.
    pub cut: Vec<bool>,
    /// Number of compute nodes in S.
    pub cut_nodes: u32,
    /// Bandwidth out of S \[B/s\].
    pub cut_bandwidth: u64,
    /// Smallest number of equal trees of each root that reaches the bound.
    pub trees_per_root: u64,
}

/// Returns the bound of the compute node with the least bandwidth in: all other nodes' bytes have to enter it.
///
/// It is a lower bound at once, and the exact one on most regular fabrics. Cost: O(links).
///
/// # Errors
/// Returns an error if the graph is not valid or bandwidths overflow.
pub fn ingress_bound(graph: &Graph) -> Result<Bound, Error> {
    ingress(graph, &Scaled::new(graph, 1)?)
}

fn ingress(graph: &Graph, scaled: &Scaled) -> Result<Bound, Error> {
    let mut into = vec![0; scaled.vertices as usize];
    for &(from, to, bandwidth) in &scaled.links {
        into[to as usize] += if from == to { 0 } else { bandwidth };
    }
    let node = (0..scaled.compute).min_by_key(|&node| into[node as usize]).unwrap_or(0);
    certify(graph, scaled, (0..scaled.vertices).map(|vertex| vertex != node).collect()).ok_or(Error::Disconnected(node))
}

/// Returns the bound of a cut, or `None` if nothing can leave the cut.
fn certify(graph: &Graph, scaled: &Scaled, cut: Vec<bool>) -> Option<Bound> {
    let leaves = |&&(from, to, _): &&(u32, u32, u64)| cut[from as usize] && !cut[to as usize];
    let cut_bandwidth: u64 = graph.links.iter().filter(leaves).map(|link| link.2).sum();
    let cut_nodes = cut.iter().take(graph.compute as usize).filter(|&&inside| inside).count() as u32;
    let time = Ratio::new(u128::from(cut_nodes), u128::from(cut_bandwidth))?;
    let (nodes, bandwidth) = (u128::from(cut_nodes), u128::from(cut_bandwidth / scaled.unit));
    let trees_per_root = (bandwidth / gcd(nodes, bandwidth)) as u64;
    Some(Bound { time, cut, cut_nodes, cut_bandwidth, trees_per_root })
}

/// Returns the least possible time of an all-gather, exactly. That of a reduce-scatter is the same if each vertex
/// has as much bandwidth in as out.
///
/// For the ratio p/q of a cut, each compute node u gets q units from a source, and each link e carries `p b_e`. If
/// less than N q units reach some node v, the smallest cut has a larger ratio, which is taken instead (Newton's
/// method). One pass over all v is enough, since ratios only grow. Cost: N maximum flows and a few more.
///
/// Source: ForestColl (with Newton's iteration in place of its bisection).
///
/// # Errors
/// Returns an error if the graph is not valid, bandwidths overflow, or `progress` returns false.
pub fn bound(graph: &Graph, progress: &mut Progress<'_>) -> Result<Bound, Error> {
    let scaled = Scaled::new(graph, 1)?;
    let shares = vec![0; scaled.compute as usize];
    let mut network = Demand::new(scaled.vertices, &shares).network(scaled.links.iter().copied());
    let scale = |network: &mut Network, best: &Bound| {
        let (p, q) = fraction(best, &scaled);
        (0..shares.len()).for_each(|node| _ = network.set(node, q));
        (shares.len()..).zip(&scaled.links).for_each(|(number, link)| _ = network.set(number, p * link.2));
        i64::from(scaled.compute) * q
    };
    let mut best = ingress(graph, &scaled)?;
    let mut need = scale(&mut network, &best);
    for node in 0..scaled.compute {
        while network.flow(scaled.vertices, node, need) < need {
            let cut = (0..scaled.vertices).map(|vertex| !network.on_sink_side(vertex)).collect();
            best = certify(graph, &scaled, cut).ok_or(Error::Disconnected(node))?;
            need = scale(&mut network, &best);
        }
        report(progress, f64::from(node + 1) / f64::from(scaled.compute))?;
    }
    Ok(best)
}

/// Returns the bound as `(p, q)` in lowest terms, with bandwidths in units of the graph's common divisor.
pub(super) fn fraction(bound: &Bound, scaled: &Scaled) -> (i64, i64) {
    let q = bound.trees_per_root as i64;
    ((i128::from(bound.cut_nodes) * i128::from(q) / i128::from(bound.cut_bandwidth / scaled.unit)) as i64, q)
}

/// Returns the least possible time of a broadcast of N bytes from `root` to all N compute nodes \[s\]: N over the
/// smallest of the maximum flows from the root to each node.
///
/// `root` is below `compute`. Cost: N maximum flows. Source: J. Edmonds, "Edge-disjoint branchings", 1973.
///
/// # Errors
/// Returns an error if the graph is not valid, bandwidths overflow, or `progress` returns false.
pub fn broadcast_bound(graph: &Graph, root: u32, progress: &mut Progress<'_>) -> Result<Ratio, Error> {
    let scaled = Scaled::new(graph, 1)?;
    let flow = least_flow(&scaled, root, progress)?;
    Ratio::new(u128::from(scaled.compute), flow as u128 * u128::from(scaled.unit)).ok_or(Error::Overflow)
}

/// Returns the smallest maximum flow from `root` to another compute node.
pub(super) fn least_flow(scaled: &Scaled, root: u32, progress: &mut Progress<'_>) -> Result<i64, Error> {
    let mut network = Network::new(scaled.vertices as usize, &scaled.links);
    let mut least = i64::MAX;
    for node in (0..scaled.compute).filter(|&node| node != root) {
        least = network.flow(root, node, least);
        if least == 0 {
            return Err(Error::Disconnected(node));
        }
        report(progress, f64::from(node + 1) / f64::from(scaled.compute))?;
    }
    Ok(least)
}

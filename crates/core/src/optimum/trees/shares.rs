//! All-reduce with roots of unequal shares.

use super::demand::Demand;
use super::graph::{Error, Graph, Progress, Scaled, report};

/// Largest number of compute nodes; the search takes time of the third power.
const MOST_NODES: u32 = 128;
/// Steps of the bandwidth, as fractions of the common divisor of all bandwidths.
const STEPS: i64 = 1 << 16;

/// Returns the largest bandwidth of spanning trees whose roots may have any shares \[B/s\]; `None` for more than 128
/// compute nodes. It is too low by less than 1/65,536 of the greatest common divisor of the bandwidths.
///
/// Trees of total bandwidth k with shares x exist if x(S) + b(into S) is at least k for each set S with a compute
/// node. From shares of k each, every share is reduced in turn as far as all sets allow, by one maximum flow. The sum
/// that is left is the least sum of shares (Frank), and k is possible if the sum is at most k.
///
/// Sources: J. Edmonds, "Edge-disjoint branchings", 1973; A. Frank, "On disjoint trees and arborescences", 1978.
///
/// # Errors
/// Returns an error if the graph is not valid, bandwidths overflow, or `progress` returns false.
pub fn free_bandwidth(graph: &Graph, progress: &mut Progress<'_>) -> Result<Option<f64>, Error> {
    if graph.compute > MOST_NODES {
        return Ok(None);
    }
    let scaled = Scaled::new(graph, 2 * STEPS as u64)?;
    let nodes = scaled.compute;
    let mut network = Demand::new(scaled.vertices, &vec![0; nodes as usize])
        .network(scaled.links.iter().map(|&(from, to, bandwidth)| (from, to, bandwidth * STEPS)));
    let ends = |node: u32| {
        let at = scaled.links.iter().filter(|link| link.0 == node || link.1 == node);
        at.map(|link| link.2 * STEPS).sum::<i64>()
    };
    let mut is_possible = |total: i64| {
        (0..nodes).for_each(|node| _ = network.set(node as usize, total));
        let mut sum = 0;
        for node in 0..nodes {
            report(progress, 0.0)?;
            // The flow is the least x(S) + b(into S) of a set with the node.
            let spare = network.flow(scaled.vertices, node, 2 * total) - total;
            let share = (total - spare).max(0);
            network.set(node as usize, share);
            sum += share;
        }
        Ok(sum <= total)
    };
    // No set lacks more than its links in both directions carry.
    let (mut low, mut high) = (0, (0..nodes).map(ends).min().unwrap_or(0) + 1);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if is_possible(middle)? { low = middle } else { high = middle }
    }
    Ok(Some(low as f64 / STEPS as f64 * scaled.unit as f64))
}

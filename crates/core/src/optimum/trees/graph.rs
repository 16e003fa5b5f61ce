//! Fabric as a graph of whole bandwidths.

use super::ratio::gcd;

/// Fabric: compute nodes and switches, joined by directed links.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Graph {
    /// Number of compute nodes; they are the vertices `0..compute`.
    pub compute: u32,
    /// Number of vertices; those from `compute` on are switches.
    pub vertices: u32,
    /// Links `(from, to, bandwidth)` \[B/s\], with both ends below `vertices`. Parallel links are separate.
    pub links: Vec<(u32, u32, u64)>,
}

/// Report of progress: receives the finished fraction of the work, and returns false to stop it.
pub type Progress<'a> = dyn FnMut(f64) -> bool + 'a;

/// Returns an error if the report of progress asks to stop.
pub(super) fn report(progress: &mut Progress<'_>, done: f64) -> Result<(), Error> {
    if progress(done) { Ok(()) } else { Err(Error::Stopped) }
}

/// Reason for which there is no result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Error {
    /// There are fewer than two compute nodes.
    TooFewNodes,
    /// This link has no bandwidth.
    ZeroBandwidth(u32),
    /// Some compute node has no path from another one. The named one is not reached, or reaches no other.
    Disconnected(u32),
    /// This switch cannot be removed, because its bandwidths in and out differ.
    Unbalanced(u32),
    /// Bandwidths have too few common divisors for 64 bits.
    Overflow,
    /// There are too many compute nodes to pack trees.
    TooLarge,
    /// The report of progress returned false.
    Stopped,
}

/// Graph with bandwidths divided by their common divisor, so that all sums fit 64 bits.
#[derive(Debug)]
pub(super) struct Scaled {
    pub compute: u32,
    pub vertices: u32,
    /// Links `(from, to, bandwidth / unit)`.
    pub links: Vec<(u32, u32, i64)>,
    /// Common divisor of all bandwidths \[B/s\].
    pub unit: u64,
}

/// Largest product of compute nodes, trees of a root and sum of bandwidths: sums of capacities stay below it.
const LARGEST: u128 = 1 << 60;

impl Scaled {
    /// Divides bandwidths by their common divisor and checks the sums for `trees` trees of a root.
    pub fn new(graph: &Graph, trees: u64) -> Result<Self, Error> {
        let Graph { compute, vertices, ref links } = *graph;
        if compute < 2 || vertices < compute {
            return Err(Error::TooFewNodes);
        }
        if let Some(link) = links.iter().position(|&(_, _, bandwidth)| bandwidth == 0) {
            return Err(Error::ZeroBandwidth(link as u32));
        }
        let unit = links.iter().fold(0, |common, link| gcd(common, u128::from(link.2))).max(1) as u64;
        let sum: u128 = links.iter().map(|link| u128::from(link.2 / unit)).sum();
        let product = sum.checked_mul(u128::from(compute)).and_then(|product| product.checked_mul(u128::from(trees)));
        if product.is_none_or(|product| product >= LARGEST) || sum * u128::from(unit) > u128::from(u64::MAX) {
            return Err(Error::Overflow);
        }
        let links = links.iter().map(|&(from, to, bandwidth)| (from, to, (bandwidth / unit) as i64)).collect();
        Ok(Self { compute, vertices, links, unit })
    }
}

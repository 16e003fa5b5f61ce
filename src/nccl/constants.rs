//! Constants of the cost model: latencies of hops, caps of bandwidths by architecture, corrections by size.
//!
//! Source: NCCL 2.30.7, `src/graph/tuning.cc`. Times are in us, bandwidths in GB/s (1e9 B/s).

use super::kinds::{Algorithm, Protocol};
use super::system::{Cpu, Hop, System};

/// Caps by architecture and number of nodes: 1, 2, more.
type Caps = [[f64; 3]; 4];

/// LL on one node.
const LL_ONE_NODE: [f64; 4] = [39.0, 87.7, 141.0, 282.0];
/// A channel of a ring with LL128 (R).
const RING_LL128: [f64; 4] = [20.0, 20.0, 36.7, 40.0];
/// A channel of a tree (X).
const TREE: Caps = [[26.5, 18.5, 10.0], [24.0, 23.6, 17.8], [38.7, 41.4, 36.0], [70.0, 42.8, 24.0]];
/// A channel of a tree with LL128 (Y).
const TREE_LL128: Caps = [[20.0; 3], [20.0; 3], [36.7, 36.7, 29.0], [55.6, 31.67, 20.0]];
/// A channel of NVLS tree (Z).
const NVLS_TREE: Caps = [[0.0; 3], [0.0; 3], [0.0, 57.7, 45.5], [0.0, 96.0, 80.0]];

/// Caps of bandwidths on a number of nodes.
pub(super) struct Limits {
    pub ll: f64,
    pub ring_ll128: f64,
    pub tree: f64,
    pub tree_ll128: f64,
    pub nvls_tree: f64,
}

impl Limits {
    /// Returns the caps of a system on `nodes` nodes.
    pub fn of(system: &System, nodes: u32) -> Self {
        let (of, column) = (system.architecture() as usize, nodes.clamp(1, 3) as usize - 1);
        let ll = match (column, system.cpu == Cpu::Amd) {
            (0, _) => LL_ONE_NODE[of],
            (1, false) => 39.0,
            (_, false) => 20.4,
            (1, true) => 22.5,
            (_, true) => 19.0,
        };
        let [tree, tree_ll128, nvls_tree] = [TREE, TREE_LL128, NVLS_TREE].map(|caps| caps[of][column]);
        Self { ll, ring_ll128: RING_LL128[of], tree, tree_ll128, nvls_tree }
    }
}

/// Returns the latency before the first hop \[us\].
pub(super) fn base_latency(algorithm: Algorithm, protocol: Protocol) -> f64 {
    use Algorithm as A;
    match algorithm {
        A::Tree => [6.8, 14.0, 8.4][protocol as usize],
        A::Ring => [6.6, 14.0, 8.4][protocol as usize],
        A::Pat => 8.0,
        A::CollnetDirect | A::CollnetChain | A::Nvls | A::NvlsTree => 0.0,
    }
}

/// Returns the latency of a hop inside a node \[us\].
pub(super) fn hop_inside(hop: Hop, algorithm: Algorithm, protocol: Protocol) -> f64 {
    use Algorithm as A;
    let by_protocol = match (algorithm, hop) {
        (A::Ring, Hop::Nvlink) => [0.6, 1.9, 3.4],
        (A::Ring, Hop::Pci) => [1.0, 2.5, 5.7],
        (A::Tree, Hop::Nvlink) => [0.6, 1.25, 4.0],
        (A::Tree, Hop::Pci) => [1.0, 1.9, 4.0],
        (A::Pat, _) => [4.0; 3],
        (A::Nvls | A::NvlsTree, Hop::Nvlink) => [25.0; 3],
        (A::Nvls | A::NvlsTree, Hop::Pci) => [0.0; 3],
        (A::CollnetDirect, _) => [3.7; 3],
        (A::CollnetChain, _) => [2.8; 3],
    };
    by_protocol[protocol as usize]
}

/// Returns the latency of a hop between nodes, without that of the card \[us\].
pub(super) fn hop_between(algorithm: Algorithm, protocol: Protocol, is_before_2_28_9: bool) -> f64 {
    use Algorithm as A;
    match algorithm {
        A::Ring => [2.7, 4.0, 14.0][protocol as usize],
        A::Tree => [5.0, 8.5, 14.0][protocol as usize],
        A::Pat => 14.0,
        A::Nvls => 18.0,
        A::NvlsTree if is_before_2_28_9 => 14.0,
        A::NvlsTree => 20.9,
        A::CollnetDirect => 31.0,
        A::CollnetChain => 30.0,
    }
}

/// Factors of the bandwidth of trees by protocol and floor(log2(size / 64 B)); 1 beyond.
const TREE_FACTORS: [[f64; 23]; 3] = [
    [1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5, 0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.0, 1.0, 1.0],
    [1.0, 1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.8, 0.9, 0.9, 0.9, 0.9, 1.0, 1.0],
    [0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5, 0.5, 0.5, 0.5, 0.6, 0.7, 0.8, 0.7, 0.7, 0.8, 0.9, 0.9],
];
/// Last factors of NVLS tree, at 21 to 23; the first are those of trees.
const NVLS_TREE_END: [f64; 3] = [1.0, 1.0, 0.9];

/// Returns the factor of the bandwidth of a tree for an all-reduce of this size.
pub(super) fn tree_factor(algorithm: Algorithm, protocol: Protocol, bytes: u64) -> f64 {
    let at = (bytes >> 6).max(1).ilog2() as usize;
    let end = (algorithm == Algorithm::NvlsTree).then(|| NVLS_TREE_END.get(at.wrapping_sub(21))).flatten();
    *end.or(TREE_FACTORS[protocol as usize].get(at)).unwrap_or(&1.0)
}

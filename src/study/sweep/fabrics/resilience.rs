//! Resilience of a fabric: random failures of cables.

use serde::Serialize;

use super::cables::Cable;
use super::spread::Spread;
use crate::fabric::{Fabric, FabricBuilder, Irregular, LinkRole};
use crate::ids::{Id, VertexId};
use crate::rng::Stream;

/// Part of the cables between switches that can fail, one after another in a random order, until some node no
/// longer reaches another.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Resilience {
    /// Part of the cables whose loss separates nodes.
    pub parts_at: Spread,
    /// Smallest part of all orders.
    pub least: f64,
}

/// Returns the cables that may fail: those between switches, or between nodes that are their own switches.
pub(super) fn between_switches(fabric: &Fabric, cables: &[Cable]) -> Vec<Cable> {
    let inside = |cable: &&Cable| matches!(fabric.link(cable.link).role, LinkRole::Network { .. });
    cables.iter().filter(inside).copied().collect()
}

/// Returns the cables in a random order.
pub(super) fn failing(cables: &[Cable], seed: u64) -> Vec<Cable> {
    let mut order = cables.to_vec();
    Stream::new(seed, "fabrics.failing").shuffle(&mut order);
    order
}

/// Computes the resilience over random orders of failures, one for each seed. Returns `None` if there are no
/// cables between switches, or if nodes do not reach each other from the start.
///
/// Cost: C steps of a union-find per order, for C cables: they are put back, the last to fail first, until
/// nodes are joined.
pub(super) fn resilience(fabric: &Fabric, cables: &[Cable], seeds: impl Iterator<Item = u64>) -> Option<Resilience> {
    let inside = between_switches(fabric, cables);
    if inside.is_empty() || fabric.nodes() < 2 {
        return None;
    }
    let parts: Option<Vec<f64>> = seeds.map(|seed| parts_at(fabric, cables, &failing(&inside, seed))).collect();
    let parts = parts.filter(|parts| !parts.is_empty())?;
    let least = parts.iter().copied().fold(1.0, f64::min);
    Some(Resilience { parts_at: Spread::of(&parts), least })
}

/// Returns the part of the cables that have failed when the first nodes are separated.
fn parts_at(fabric: &Fabric, cables: &[Cable], order: &[Cable]) -> Option<f64> {
    let mut joined = Components::new(fabric);
    for cable in cables.iter().filter(|cable| !matches!(fabric.link(cable.link).role, LinkRole::Network { .. })) {
        joined.join(cable.ends);
    }
    for (left, cable) in order.iter().rev().enumerate() {
        if joined.parts == 1 {
            // Nodes are joined with `left` cables, but not with one cable less.
            return Some((order.len() - left + 1) as f64 / order.len() as f64);
        }
        joined.join(cable.ends);
    }
    (joined.parts == 1).then(|| 1.0 / order.len() as f64)
}

/// Connected components of vertices, as a union-find.
struct Components {
    above: Vec<u32>,
    /// For each root: true if its component has a node.
    has_node: Vec<bool>,
    /// Number of components with a node.
    parts: u32,
}

impl Components {
    fn new(fabric: &Fabric) -> Self {
        let vertices = fabric.graph().node_count() as u32;
        let has_node = (0..vertices).map(|vertex| vertex < fabric.nodes()).collect();
        Self { above: (0..vertices).collect(), has_node, parts: fabric.nodes() }
    }

    fn root(&mut self, mut vertex: u32) -> u32 {
        while self.above[vertex as usize] != vertex {
            let next = self.above[self.above[vertex as usize] as usize];
            self.above[vertex as usize] = next;
            vertex = next;
        }
        vertex
    }

    fn join(&mut self, ends: (VertexId, VertexId)) {
        let (a, b) = (self.root(ends.0.0), self.root(ends.1.0));
        if a == b {
            return;
        }
        let (low, high) = (a.min(b), a.max(b));
        if self.has_node[low as usize] && self.has_node[high as usize] {
            self.parts -= 1;
        }
        self.above[high as usize] = low;
        self.has_node[low as usize] |= self.has_node[high as usize];
    }
}

/// Returns the fabric as a graph without these cables.
pub(super) fn without(fabric: &Fabric, failed: &[Cable]) -> Fabric {
    let mut lost: Vec<(u32, u32)> = failed.iter().map(|cable| (cable.ends.0.0, cable.ends.1.0)).collect();
    lost.sort_unstable();
    // Parallel cables lose one link in each direction for each failed cable.
    let mut taken = [vec![false; lost.len()], vec![false; lost.len()]];
    let mut builder = FabricBuilder::new(fabric.name(), fabric.nodes(), fabric.switches());
    for link in fabric.links().iter() {
        let Some((from, to)) = link.ends else { continue };
        let key = (from.0.min(to.0), from.0.max(to.0));
        let way = &mut taken[usize::from(from.index() > to.index())];
        let first = lost.partition_point(|pair| *pair < key);
        let failed = (first..lost.len()).take_while(|&at| lost[at] == key).find(|&at| !way[at]);
        match failed {
            Some(at) => way[at] = true,
            None => {
                builder.link(from, to, link.capacity, link.latency, link.role);
            }
        }
    }
    builder.finish(Irregular)
}

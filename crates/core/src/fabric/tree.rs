//! Fat-trees: levels of switches above the nodes, several parents allowed.

use crate::ids::{LinkId, NodeId, VertexId};

/// Fat-tree in the notation of extended generalised fat-trees.
///
/// Level 0 are the nodes; a *part* of a level is one of its nodes or switches. Each part of level l-1 has
/// `up[l-1]` parents on level l and each switch of level l has `down[l-1]` children, joined by
/// `parallel[l-1]` cables each.
///
/// Let `M_l = down[0] * ... * down[l-1]` and `W_l = up[0] * ... * up[l-1]`. The switches of level l form
/// groups of `W_l` copies, `N / M_l` in all. Those of one group are above the same `M_l` nodes, and copy c
/// has the parents `c + W_l * j`, j in `0..up[l]`. So:
///
/// * Part `group * W_l + copy` of level l is above the nodes `group * M_l .. (group + 1) * M_l`.
/// * *Port* q of a part, q in `0..up[l] * parallel[l]`, leads to its parent `q % up[l]` by cable `q / up[l]`.
/// * Vertices are numbered level by level.
/// * Links are numbered level by level from the nodes. In each level all that lead up come first, by child and port,
///   and then all that lead down in the same order. Level 1 are the host links.
///
/// Source: S. R. Öhring et al., "On generalized fat trees", IPPS 1995; parallel cables as in SimGrid's
/// `FAT_TREE` clusters and in E. Zahavi, "Fat-tree routing and node ordering providing contention free
/// traffic for MPI global collectives", JPDC 72 (2012).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tree {
    /// Children of a switch, by level from the nodes up.
    pub down: Vec<u32>,
    /// Parents of a part of the level below, by level.
    pub up: Vec<u32>,
    /// Cables between a part and each of its parents, by level.
    pub parallel: Vec<u32>,
}

/// One direction of a cable of a [`Tree`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TreeLink {
    /// Level of the upper end, from 1.
    pub level: usize,
    /// Number of the lower end on the level below.
    pub child: u32,
    /// Port of the lower end.
    pub port: u32,
    /// True if the link leads down.
    pub down: bool,
}

impl Tree {
    /// Creates the tree of one switch: a crossbar.
    pub fn crossbar(nodes: u32) -> Self {
        Self { down: vec![nodes], up: vec![1], parallel: vec![1] }
    }

    /// Number of levels of switches.
    pub fn levels(&self) -> usize {
        self.down.len()
    }

    /// `M_l`: nodes under a part of this level (1 on level 0).
    pub fn block(&self, level: usize) -> u32 {
        self.down[..level].iter().product()
    }

    /// `W_l`: parts of this level that are above the same nodes (1 on level 0).
    pub fn copies(&self, level: usize) -> u32 {
        self.up[..level].iter().product()
    }

    /// Number of nodes.
    pub fn nodes(&self) -> u32 {
        self.block(self.levels())
    }

    /// Number of parts of a level: nodes on level 0, switches above.
    pub fn parts(&self, level: usize) -> u32 {
        self.down[level..].iter().product::<u32>() * self.copies(level)
    }

    /// Number of switches of a level, from 1.
    pub fn switches(&self, level: usize) -> u32 {
        self.parts(level)
    }

    /// Number of cables that lead from a part of the level below up to this level, from 1.
    pub fn ports(&self, level: usize) -> u32 {
        self.up[level - 1] * self.parallel[level - 1]
    }

    /// Number of cables between the level below and this one.
    pub fn cables(&self, level: usize) -> u32 {
        self.parts(level - 1) * self.ports(level)
    }

    /// Returns the number of the first link of a level.
    pub fn first_link(&self, level: usize) -> u32 {
        (1..level).map(|below| 2 * self.cables(below)).sum()
    }

    /// Returns the number of nodes, switches and links, or `None` if one does not fit in 64 bits.
    pub fn size(&self) -> Option<(u64, u64, u64)> {
        let (mut groups, mut copies) = (1u64, 1u64);
        for &children in &self.down {
            groups = groups.checked_mul(children.into())?;
        }
        let (nodes, mut switches, mut links) = (groups, 0u64, 0u64);
        for ((&children, &parents), &parallel) in self.down.iter().zip(&self.up).zip(&self.parallel) {
            let parts = groups.checked_mul(copies)?;
            let ports = u64::from(parents).checked_mul(parallel.into())?;
            links = links.checked_add(parts.checked_mul(ports)?.checked_mul(2)?)?;
            groups /= u64::from(children.max(1));
            copies = copies.checked_mul(parents.into())?;
            switches = switches.checked_add(groups.checked_mul(copies)?)?;
        }
        Some((nodes, switches, links))
    }

    /// Returns the vertex of a part.
    pub fn vertex(&self, level: usize, index: u32) -> VertexId {
        VertexId((0..level).map(|below| self.parts(below)).sum::<u32>() + index)
    }

    /// Returns the level of a vertex (0: a node) and its number there.
    pub fn part(&self, vertex: VertexId) -> (usize, u32) {
        let (mut level, mut index) = (0, vertex.0);
        while level < self.levels() && index >= self.parts(level) {
            index -= self.parts(level);
            level += 1;
        }
        (level, index)
    }

    /// Returns the number of the parent, on `level`, that a part of the level below reaches by this port.
    pub fn parent(&self, level: usize, child: u32, port: u32) -> u32 {
        let below = self.copies(level - 1);
        let (group, copy) = (child / below, child % below);
        group / self.down[level - 1] * self.copies(level) + copy + below * (port % self.up[level - 1])
    }

    /// Returns the leaf switch above a node, the first one if there are several.
    pub fn leaf(&self, node: NodeId) -> VertexId {
        self.vertex(1, node.0 / self.down[0] * self.up[0])
    }

    /// Returns the link that leads up from a part of the level below.
    pub fn up_link(&self, level: usize, child: u32, port: u32) -> LinkId {
        LinkId(self.first_link(level) + child * self.ports(level) + port)
    }

    /// Returns the link that leads down to a part of the level below, beside its [`Tree::up_link`].
    pub fn down_link(&self, level: usize, child: u32, port: u32) -> LinkId {
        LinkId(self.up_link(level, child, port).0 + self.cables(level))
    }

    /// Returns the level, ends and direction of a link.
    pub fn link(&self, link: LinkId) -> TreeLink {
        let (mut level, mut index) = (1, link.0);
        while level < self.levels() && index >= 2 * self.cables(level) {
            index -= 2 * self.cables(level);
            level += 1;
        }
        let down = index >= self.cables(level);
        let cable = if down { index - self.cables(level) } else { index };
        TreeLink { level, child: cable / self.ports(level), port: cable % self.ports(level), down }
    }

    /// Returns the name of a switch: `L2.5` is the one numbered 5 on level 2.
    pub(super) fn name_of(&self, switch: u32) -> String {
        let (level, index) = self.part(VertexId(self.nodes() + switch));
        format!("L{level}.{index}")
    }
}

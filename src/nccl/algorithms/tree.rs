//! Double binary tree between nodes, chains inside them.
//!
//! Source: P. Sanders, J. Speck, J. L. Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan",
//! Parallel Computing 35(12), 2009; NCCL, `src/graph/trees.cc`.

use super::Plan;

/// Two binary trees of n nodes; a node is interior in at most one of them.
///
/// With b the lowest set bit of r, the parent of r in the first tree is `(r xor b) | 2b`, or `r xor b` where that is n
/// or more. Its children are `r - b/2` and `r + b/2`, the latter with the offset halved until it is below n. The second
/// tree is the first with r as n - 1 - r for even n, and shifted by one for odd n.
#[derive(Clone, Copy, Debug)]
pub struct DoubleTree {
    nodes: u32,
}

impl DoubleTree {
    /// Creates the trees of a number of nodes.
    pub fn new(nodes: u32) -> Self {
        Self { nodes }
    }

    /// Returns the parent of a node in tree 0 or 1; `None` for the root.
    pub fn parent(self, tree: u32, node: u32) -> Option<u32> {
        let n = self.nodes;
        self.first_parent(self.to_first(tree, node)).map(|parent| match tree {
            0 => parent,
            _ if n.is_multiple_of(2) => n - 1 - parent,
            _ => (parent + 1) % n,
        })
    }

    /// Returns the children of a node in tree 0 or 1.
    pub fn children(self, tree: u32, node: u32) -> Vec<u32> {
        let n = self.nodes;
        let back = |child: u32| match tree {
            0 => child,
            _ if n.is_multiple_of(2) => n - 1 - child,
            _ => (child + 1) % n,
        };
        self.first_children(self.to_first(tree, node)).into_iter().map(back).collect()
    }

    /// Returns the nodes of a tree, parents before their children.
    pub(super) fn down_order(self, tree: u32) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.nodes).filter(|&node| self.parent(tree, node).is_none()).collect();
        let mut at = 0;
        while let Some(&node) = order.get(at) {
            order.extend(self.children(tree, node));
            at += 1;
        }
        order
    }

    /// Returns the node of the first tree at whose place a node stands.
    fn to_first(self, tree: u32, node: u32) -> u32 {
        match tree {
            0 => node,
            _ if self.nodes.is_multiple_of(2) => self.nodes - 1 - node,
            _ => (node + self.nodes - 1) % self.nodes,
        }
    }

    fn first_parent(self, r: u32) -> Option<u32> {
        if r == 0 {
            return None;
        }
        let bit = r & r.wrapping_neg();
        let up = (r ^ bit) | (bit << 1);
        Some(if up >= self.nodes { r ^ bit } else { up })
    }

    fn first_children(self, r: u32) -> Vec<u32> {
        let n = self.nodes;
        if r == 0 {
            return if n > 1 { vec![n.next_power_of_two() / 2] } else { Vec::new() };
        }
        let mut offset = (r & r.wrapping_neg()) / 2;
        if offset == 0 {
            return Vec::new();
        }
        let mut children = vec![r - offset];
        while offset > 0 && r + offset >= n {
            offset /= 2;
        }
        children.extend((offset > 0).then_some(r + offset));
        children
    }
}

/// Sends an all-reduce up and down both trees of all channels, half of the data on each.
pub(super) fn send(plan: &mut Plan) -> Result<(), String> {
    let (gpus, channels) = (plan.gpus, plan.channels);
    let trees = DoubleTree::new(plan.nodes);
    let bytes = plan.bytes / f64::from(2 * channels);
    let chunks = plan.chunks(bytes, u64::from(4 * channels) * u64::from(plan.ranks()))?;
    for (channel, tree) in (0..channels).flat_map(|channel| [(channel, 0), (channel, 1)]) {
        let rank = |node: u32, i: u32| node * gpus + (i + channel) % gpus;
        let connection = 2 * channel + tree;
        let order = trees.down_order(tree);
        for _ in 0..chunks {
            let bytes = bytes / f64::from(chunks);
            // Messages for which the first GPU of each node waits, up and then down.
            let mut arrived = vec![Vec::new(); plan.nodes as usize];
            for &node in order.iter().rev() {
                let mut after = Vec::new();
                for i in (1..gpus).rev() {
                    after = vec![plan.send((rank(node, i), rank(node, i - 1), connection), bytes, &after)];
                }
                arrived[node as usize].append(&mut after);
                if let Some(parent) = trees.parent(tree, node) {
                    let after = std::mem::take(&mut arrived[node as usize]);
                    let sent = plan.send((rank(node, 0), rank(parent, 0), connection), bytes, &after);
                    arrived[parent as usize].push(sent);
                }
            }
            for &node in &order {
                let mut after = std::mem::take(&mut arrived[node as usize]);
                for child in trees.children(tree, node) {
                    let sent = plan.send((rank(node, 0), rank(child, 0), connection), bytes, &after);
                    arrived[child as usize] = vec![sent];
                }
                for i in 1..gpus {
                    after = vec![plan.send((rank(node, i - 1), rank(node, i), connection), bytes, &after)];
                }
            }
        }
    }
    Ok(())
}

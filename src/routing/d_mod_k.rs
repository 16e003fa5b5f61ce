//! D-mod-k and S-mod-k.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::climb::{Climb, TreeRoutes};
use super::router::{Router, misfit};
use crate::diagnostic::Diagnostic;
use crate::fabric::{Fabric, Tree};
use crate::ids::{IdVec, LinkId, NodeId};

/// `[routing.d-mod-k]`: up a tree by the destination's number.
///
/// From a part of level l a message to node d takes port `(d / W_l) mod (up[l] * parallel[l])`, where `W_l = up[0] *
/// ... * up[l-1]`: neighbouring destinations are spread over the parents, and a destination is reached by the same way
/// down from everywhere. Shifts (node i to i + c) on a full-bisection tree share no link.
///
/// Source: E. Zahavi, "D-Mod-K routing providing non-blocking traffic for shift permutations on real life fat trees",
/// Technion CCIT report 776 (2010); SimGrid's `FAT_TREE` clusters.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct DModKSpec {}

impl DModKSpec {
    pub(super) fn build(&self, fabric: &Arc<Fabric>) -> Result<Arc<dyn Router>, Vec<Diagnostic>> {
        ModK::on(fabric, "d-mod-k", End::Destination)
    }
}

/// `[routing.s-mod-k]`: up a tree by the source's number; the mirror image of `[routing.d-mod-k]`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct SModKSpec {}

impl SModKSpec {
    pub(super) fn build(&self, fabric: &Arc<Fabric>) -> Result<Arc<dyn Router>, Vec<Diagnostic>> {
        ModK::on(fabric, "s-mod-k", End::Source)
    }
}

/// Whose number says which way is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    Source,
    Destination,
}

/// Up by the digits of one end's number.
#[derive(Debug)]
struct ModK {
    routes: TreeRoutes,
    tree: Arc<Tree>,
    by: End,
}

impl ModK {
    fn on(fabric: &Arc<Fabric>, rule: &str, by: End) -> Result<Arc<dyn Router>, Vec<Diagnostic>> {
        let routes = TreeRoutes::new(Climb::new(fabric, rule)?, fabric.nodes());
        let tree = fabric.shared_family_as().ok_or_else(|| vec![misfit(rule, "trees", fabric)])?;
        Ok(Arc::new(Self { routes, tree, by }))
    }
}

impl Router for ModK {
    fn route(&self, src: NodeId, dst: NodeId, route: &mut Vec<LinkId>) {
        let decider = match self.by {
            End::Source => src,
            End::Destination => dst,
        };
        self.routes.route(src, dst, decider, route);
    }

    fn count(&self, ends: &[(NodeId, NodeId)], counts: &mut IdVec<LinkId, u32>) {
        match self.by {
            End::Source => self.routes.count(ends, |src, _| src, counts),
            End::Destination => self.routes.count(ends, |_, dst| dst, counts),
        }
    }

    /// The next link towards the destination of a link down (D-mod-k), or the one before a link up, towards the source
    /// (S-mod-k), where that is the same for all nodes that the link serves: so always where it serves one.
    fn dominator(&self, link: LinkId) -> Option<LinkId> {
        let tree = &*self.tree;
        let at = tree.link(link);
        if at.level == 1 || at.down != (self.by == End::Destination) {
            return None;
        }
        // The nodes it serves: those below its lower end (`start .. start + block`) whose number modulo the number of
        // ways over this level (`period`) is the number of this way (`way`).
        let (block, period) = (tree.block(at.level - 1), ways(tree, at.level));
        let copies = tree.copies(at.level - 1);
        let (start, way) = (at.child / copies * block, at.child % copies + copies * at.port);
        let first = start + (way + period - start % period) % period;
        let end = start + block;
        if first >= end {
            return None;
        }
        let last = first + (end - 1 - first) / period * period;
        let same_part = first / tree.block(at.level - 2) == last / tree.block(at.level - 2);
        let same_way = first == last || period.is_multiple_of(ways(tree, at.level - 1));
        (same_part && same_way).then(|| next(tree, at.level - 1, first, at.down))
    }
}

/// Number of ways between the parts above one node below this level and those above it on this level.
fn ways(tree: &Tree, level: usize) -> u32 {
    tree.copies(level - 1) * tree.ports(level)
}

/// The link of this level on the way to (or from) a node.
fn next(tree: &Tree, level: usize, node: u32, down: bool) -> LinkId {
    let copies = tree.copies(level - 1);
    let child = node / tree.block(level - 1) * copies + node % copies;
    let port = node / copies % tree.ports(level);
    if down { tree.down_link(level, child, port) } else { tree.up_link(level, child, port) }
}

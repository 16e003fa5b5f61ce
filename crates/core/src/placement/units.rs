//! Leaf switches and groups, of which a placement fills one after another or takes turns.

use crate::diagnostic::{Diagnostic, Located};
use crate::fabric::{Fabric, LinkRole};
use crate::ids::{Id, NodeId, VertexId};

/// What nodes hang together by.
#[spec(Copy, Eq, Default)]
pub enum Unit {
    /// The leaf switch.
    #[default]
    Leaf,
    /// The group: of a dragonfly and the like, what hangs together below the top switches of a tree, a scalable unit.
    Group,
}

/// Which of them come first.
#[spec(Copy, Eq, Default)]
pub enum UnitOrder {
    /// That with the lowest node.
    #[default]
    Ascending,
    /// A random one.
    Random,
}

/// `[placement.round-robin]`: rank r on leaf switch, or group, r mod their number; a full one is passed over.
#[spec(partial, Default)]
pub struct RoundRobinSpec {
    /// Among what ranks are spread: "leaf" (default), "group".
    pub over: Unit,
}

/// `[placement.by-leaf]`: whole leaf switches, filled one after another; only those of which all nodes are free.
#[spec(partial, Default)]
pub struct ByLeafSpec {
    /// Which come first: "ascending" (default), "random".
    pub order: UnitOrder,
    /// The seed of a random order (default: that of the scenario).
    pub seed: Option<Located<u64>>,
}

/// `[placement.by-group]`: the same of groups.
#[spec(partial, Default)]
pub struct ByGroupSpec {
    /// Which come first: "ascending" (default), "random".
    pub order: UnitOrder,
    /// The seed of a random order (default: that of the scenario).
    pub seed: Option<Located<u64>>,
}

impl Unit {
    /// What they are called.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Leaf => "leaf switches",
            Self::Group => "groups",
        }
    }

    /// The nodes of each, ascending.
    ///
    /// # Errors
    /// A fabric without groups, where they are asked for.
    pub(super) fn all(self, fabric: &Fabric) -> Result<Vec<Vec<NodeId>>, Vec<Diagnostic>> {
        match self {
            Self::Leaf => Ok(leaves(fabric)),
            Self::Group => groups(fabric).ok_or_else(|| {
                let diagnostic = Diagnostic::new("no-groups", format!("`{}` has no groups", fabric.name()));
                let help = "take a dragonfly, a tree or another fabric that has, or leaf switches (`by-leaf`)";
                vec![diagnostic.help(help)]
            }),
        }
    }
}

/// The nodes of each leaf switch, ascending; leaves in the order of their lowest node.
///
/// A node's leaf is where its injection link ends, the one with the lowest id if it has several; a node without one
/// (it sits on the network links) is a leaf of its own.
pub(super) fn leaves(fabric: &Fabric) -> Vec<Vec<NodeId>> {
    let mut switch_of: Vec<Option<VertexId>> = vec![None; fabric.nodes() as usize];
    for link in fabric.links().iter() {
        if let (LinkRole::Injection, Some((from, to))) = (link.role, link.ends)
            && let Some(switch) = switch_of.get_mut(from.index())
        {
            switch.get_or_insert(to);
        }
    }
    let leaf = |node: NodeId| switch_of[node.index()].unwrap_or(node.into()).0;
    gathered(fabric, leaf, fabric.nodes() + fabric.switches())
}

/// The nodes of each group, ascending; groups in the order of their lowest node.
fn groups(fabric: &Fabric) -> Option<Vec<Vec<NodeId>>> {
    let group_of = fabric.node_groups()?;
    let end = group_of.iter().max().map_or(0, |last| last + 1);
    Some(gathered(fabric, |node| group_of[node.index()], end))
}

/// Nodes of the same number, below `end`, together.
fn gathered(fabric: &Fabric, number: impl Fn(NodeId) -> u32, end: u32) -> Vec<Vec<NodeId>> {
    let mut unit_of: Vec<Option<usize>> = vec![None; end as usize];
    let mut units: Vec<Vec<NodeId>> = Vec::new();
    for node in fabric.node_ids() {
        let unit = *unit_of[number(node) as usize].get_or_insert(units.len());
        if unit == units.len() {
            units.push(Vec::new());
        }
        units[unit].push(node);
    }
    units
}

/// The first node of each, then the second of each ...
pub(super) fn dealt(ranks: usize, units: &[Vec<NodeId>]) -> Vec<NodeId> {
    let largest = units.iter().map(Vec::len).max().unwrap_or(0);
    let rounds = (0..largest).flat_map(|round| units.iter().filter_map(move |unit| unit.get(round)));
    rounds.take(ranks).copied().collect()
}

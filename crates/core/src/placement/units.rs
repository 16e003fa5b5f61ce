//! Leaf switches and groups, which a placement fills one after another or in turns.

use crate::diagnostic::{Diagnostic, Located};
use crate::fabric::{Fabric, LinkRole};
use crate::ids::{Id, NodeId, VertexId};

/// Unit of nodes for placements.
#[spec(Copy, Eq, Default)]
pub enum Unit {
    /// The leaf switch.
    #[default]
    Leaf,
    /// The group, as of a dragonfly; on a tree the subtree below the top switches, on rails the scalable
    /// unit.
    Group,
}

/// Order of leaf switches or groups.
#[spec(Copy, Eq, Default)]
pub enum UnitOrder {
    /// By the lowest node.
    #[default]
    Ascending,
    /// At random.
    Random,
}

/// `[placement.round-robin]`: rank r on leaf switch, or group, r mod their number; full ones are skipped.
#[spec(partial, Default)]
pub struct RoundRobinSpec {
    /// Unit over which ranks are spread: "leaf" (default), "group".
    pub over: Unit,
}

/// `[placement.by-leaf]`: whole leaf switches, filled one after another; only those whose nodes are all free.
#[spec(partial, Default)]
pub struct ByLeafSpec {
    /// Order of the leaf switches: "ascending" (default), "random".
    pub order: UnitOrder,
    /// Seed of a random order (default: the scenario's).
    pub seed: Option<Located<u64>>,
}

/// `[placement.by-group]`: whole groups, filled one after another; only those whose nodes are all free.
#[spec(partial, Default)]
pub struct ByGroupSpec {
    /// Order of the groups: "ascending" (default), "random".
    pub order: UnitOrder,
    /// Seed of a random order (default: the scenario's).
    pub seed: Option<Located<u64>>,
}

impl Unit {
    /// Returns the name of the units in messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Leaf => "leaf switches",
            Self::Group => "groups",
        }
    }

    /// Returns the nodes of each unit, ascending.
    ///
    /// # Errors
    /// Fails for groups on a fabric without groups.
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

/// Returns the nodes of each leaf switch, ascending; leaves in the order of their lowest node.
///
/// A node's leaf is at the end of its injection link, the one with the lowest id if it has several. A node
/// without one (it sits on the network links) is a leaf of its own.
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
    group_nodes_by(fabric, leaf, fabric.nodes() + fabric.switches())
}

/// Returns the nodes of each group, ascending; groups in the order of their lowest node.
fn groups(fabric: &Fabric) -> Option<Vec<Vec<NodeId>>> {
    let group_of = fabric.node_groups()?;
    let end = group_of.iter().max().map_or(0, |last| last + 1);
    Some(group_nodes_by(fabric, |node| group_of[node.index()], end))
}

/// Collects the nodes of the same `number`, which is below `end`.
fn group_nodes_by(fabric: &Fabric, number: impl Fn(NodeId) -> u32, end: u32) -> Vec<Vec<NodeId>> {
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

/// Returns the first node of each unit, then the second of each, and so on.
pub(super) fn take_in_turns(ranks: usize, units: &[Vec<NodeId>]) -> Vec<NodeId> {
    let largest = units.iter().map(Vec::len).max().unwrap_or(0);
    let rounds = (0..largest).flat_map(|round| units.iter().filter_map(move |unit| unit.get(round)));
    rounds.take(ranks).copied().collect()
}

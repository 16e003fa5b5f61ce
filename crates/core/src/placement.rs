//! Placement: the node of each rank.

mod file;
mod joint;
mod units;

use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Located, Sources};
use crate::fabric::Fabric;
use crate::ids::{IdVec, NodeId, RankId};
use crate::rng::Stream;
use crate::units::count;

#[cfg(feature = "simulator")]
#[doc(hidden)]
pub use file::COLUMNS;
pub use file::FileSpec;
pub use joint::{Joint, JointPart};
pub use units::{ByGroupSpec, ByLeafSpec, RoundRobinSpec, Unit, UnitOrder};

/// Node of each rank; no two ranks share one.
pub type Placement = IdVec<RankId, NodeId>;

/// Placement of a scenario: `[placement.random]` and so on.
#[spec]
pub enum PlacementSpec {
    /// Rank r on node r.
    Regular(RegularSpec),
    /// Ranks on random nodes.
    Random(RandomSpec),
    /// Each leaf switch is filled with consecutive ranks before the next.
    Block(BlockSpec),
    /// Consecutive ranks on consecutive leaf switches, or groups; full ones are skipped.
    RoundRobin(RoundRobinSpec),
    /// Whole leaf switches, filled one after another; none of them has ranks of another job.
    ByLeaf(ByLeafSpec),
    /// Whole groups, filled one after another. A group is one of a dragonfly or ring of rings, a pod of a
    /// tree (the subtree below its top switches), or a segment of rails; other fabrics have none.
    ByGroup(ByGroupSpec),
    /// Nodes from a CSV file.
    File(FileSpec),
    /// Nodes by their numbers.
    Nodes(NodesSpec),
}

/// `[placement.regular]`: rank r on node r. No options.
#[spec(Default)]
pub struct RegularSpec {}

/// `[placement.random]`: ranks on nodes in a random order.
#[spec(partial, Default)]
pub struct RandomSpec {
    /// Seed of the order (default: the scenario's).
    pub seed: Option<Located<u64>>,
}

/// `[placement.block]`: each leaf switch is filled with consecutive ranks before the next.
#[spec(partial, Default)]
pub struct BlockSpec {
    /// Largest number of nodes used of each leaf switch (default: all).
    pub per_leaf: Option<Located<u32>>,
}

/// `[placement.nodes]`: rank r on the r-th node of a list.
#[spec]
pub struct NodesSpec {
    /// Numbers and ranges of nodes, separated by commas: "0-7,12".
    pub list: Located<String>,
}

impl Default for PlacementSpec {
    fn default() -> Self {
        Self::Regular(RegularSpec {})
    }
}

impl PlacementSpec {
    /// Returns the name of the placement, its file, or its list of nodes.
    pub fn name(&self) -> &str {
        match self {
            Self::Regular(_) => "regular",
            Self::Random(_) => "random",
            Self::Block(_) => "block",
            Self::RoundRobin(RoundRobinSpec { over: Unit::Leaf }) => "round-robin",
            Self::RoundRobin(RoundRobinSpec { over: Unit::Group }) => "round-robin:group",
            Self::ByLeaf(ByLeafSpec { order: UnitOrder::Ascending, .. }) => "by-leaf",
            Self::ByLeaf(ByLeafSpec { order: UnitOrder::Random, .. }) => "by-leaf:random",
            Self::ByGroup(ByGroupSpec { order: UnitOrder::Ascending, .. }) => "by-group",
            Self::ByGroup(ByGroupSpec { order: UnitOrder::Random, .. }) => "by-group:random",
            Self::File(spec) => &spec.path,
            Self::Nodes(spec) => &spec.list,
        }
    }

    /// Returns true if another seed can give another result.
    pub fn depends_on_seed(&self) -> bool {
        match self {
            Self::Regular(_) | Self::Block(_) | Self::RoundRobin(_) | Self::File(_) | Self::Nodes(_) => false,
            Self::Random(spec) => spec.seed.is_none(),
            Self::ByLeaf(ByLeafSpec { order, seed }) | Self::ByGroup(ByGroupSpec { order, seed }) => {
                *order == UnitOrder::Random && seed.is_none()
            }
        }
    }

    /// Returns true if the placement names the node of each rank.
    pub fn names_nodes(&self) -> bool {
        matches!(self, Self::File(_) | Self::Nodes(_))
    }

    /// Returns true if the order of the nodes reflects their location: named nodes, and whole leaf switches
    /// or groups in ascending order. Other rules mix them.
    pub fn keeps_order(&self) -> bool {
        let is_whole = matches!(self, Self::ByLeaf(ByLeafSpec { order, .. }) | Self::ByGroup(ByGroupSpec { order, .. })
            if *order == UnitOrder::Ascending);
        self.names_nodes() || is_whole
    }

    /// Places `ranks` ranks on the nodes of the fabric, up to `per_node` on each. Rules place nodes, and ranks of
    /// consecutive numbers fill a node. Files name the node of each rank.
    ///
    /// # Errors
    /// Fails if the ranks do not fit on the nodes, or if the file has a mistake.
    pub fn build(
        &self,
        (ranks, per_node): (u32, u32),
        fabric: &Arc<Fabric>,
        seed: u64,
        sources: &mut Sources,
    ) -> Result<Placement, Vec<Diagnostic>> {
        let nodes = ranks.div_ceil(per_node);
        if nodes > fabric.nodes() {
            let ranks = count(ranks.into(), "rank does not fit", "ranks do not fit");
            let nodes = count(fabric.nodes().into(), "node", "nodes");
            let each = if per_node > 1 { format!(", {per_node} on each") } else { String::new() };
            let message = format!("{ranks} on the {nodes} of `{}`{each}", fabric.name());
            return Err(vec![
                Diagnostic::new("too-many-ranks", message)
                    .help("take a larger fabric or fewer ranks, or place more ranks on a node (`ranks-per-node`)"),
            ]);
        }
        if let Self::File(spec) = self {
            return Ok(spec.nodes((ranks as usize, per_node), fabric, None, sources)?.into());
        }
        let place = PlacementRequest { ranks: nodes, fabric, is_free: &|_| true, stream: "placement", seed, job: None };
        let places = self.place_on_free_nodes(place, sources)?;
        if per_node == 1 {
            return Ok(places);
        }
        let filled = places.iter().flat_map(|&node| std::iter::repeat_n(node, per_node as usize));
        Ok(filled.take(ranks as usize).collect())
    }

    /// Places ranks on free nodes of the fabric, as if there were no other nodes. There must be enough of
    /// them.
    ///
    /// A list of nodes or a file names the nodes, even if they are not free.
    fn place_on_free_nodes(
        &self,
        place: PlacementRequest<'_>,
        sources: &mut Sources,
    ) -> Result<Placement, Vec<Diagnostic>> {
        let PlacementRequest { ranks, fabric, is_free, stream, seed, job } = place;
        let ranks = ranks as usize;
        let free = || fabric.node_ids().filter(|&node| is_free(node));
        let free_of = |units: Vec<Vec<NodeId>>| {
            let of_unit = |unit: Vec<NodeId>| unit.into_iter().filter(|&node| is_free(node)).collect();
            units.into_iter().map(of_unit).collect::<Vec<Vec<NodeId>>>()
        };
        let whole = |unit: Unit, order: UnitOrder, own: &Option<Located<u64>>| {
            let mut units = unit.all(fabric)?;
            let (all, one) = (units.len() as u64, unit.name());
            units.retain(|unit| unit.iter().all(|&node| is_free(node)));
            if order == UnitOrder::Random {
                Stream::new(own.as_deref().copied().unwrap_or(seed), stream).shuffle(&mut units);
            }
            let nodes: Vec<NodeId> = units.iter().flatten().take(ranks).copied().collect();
            if nodes.len() < ranks {
                let ranks = count(ranks as u64, "rank does", "ranks do");
                let message = format!("{ranks} not fit on the {one} of which all nodes are free");
                let (nodes, free) = (count(nodes.len() as u64, "node", "nodes"), units.len());
                let label = format!("{free} of {all} are, with {nodes}");
                let help = "give it fewer ranks, name it before jobs with other rules, or place it on the free nodes \
                            (`block`)";
                return Err(vec![Diagnostic::new("too-many-ranks", message).label(label).help(help)]);
            }
            Ok(nodes.into())
        };
        match self {
            Self::Regular(_) => Ok(free().take(ranks).collect()),
            Self::Random(spec) => {
                let seed = spec.seed.as_deref().copied().unwrap_or(seed);
                let mut nodes: Vec<NodeId> = free().collect();
                Stream::new(seed, stream).shuffle(&mut nodes);
                nodes.truncate(ranks);
                Ok(nodes.into())
            }
            Self::Block(spec) => spec.build(ranks, fabric, free_of(units::leaves(fabric))),
            Self::RoundRobin(spec) => Ok(units::take_in_turns(ranks, &free_of(spec.over.all(fabric)?)).into()),
            Self::ByLeaf(spec) => whole(Unit::Leaf, spec.order, &spec.seed),
            Self::ByGroup(spec) => whole(Unit::Group, spec.order, &spec.seed),
            Self::File(spec) => Ok(spec.nodes((ranks, 1), fabric, job, sources)?.into()),
            Self::Nodes(spec) => spec.build(ranks, fabric),
        }
    }
}

/// Ranks to be placed, and the nodes available to them.
#[derive(Clone, Copy)]
struct PlacementRequest<'a> {
    ranks: u32,
    fabric: &'a Arc<Fabric>,
    is_free: &'a dyn Fn(NodeId) -> bool,
    /// Name of the random stream for draws.
    stream: &'a str,
    seed: u64,
    /// Position of the job among several, and the names of all.
    job: Option<(usize, &'a [&'a str])>,
}

/// Returns true if a text is a list of nodes: digits, commas and hyphens.
#[cfg(any(feature = "simulator", test))]
fn is_list(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | '-'))
}

/// Expands a short text for a rule with one key to rule, key and value. `0-7,12` is a list of nodes,
/// `by-leaf:random` an order.
#[cfg(feature = "simulator")]
#[doc(hidden)]
pub fn short(text: &str) -> Option<[&str; 3]> {
    if is_list(text) {
        return Some(["nodes", "list", text]);
    }
    match text.split_once(':')? {
        (rule @ ("by-leaf" | "by-group"), order) => Some([rule, "order", order]),
        (rule @ "round-robin", unit) => Some([rule, "over", unit]),
        _ => None,
    }
}

impl NodesSpec {
    fn build(&self, ranks: usize, fabric: &Fabric) -> Result<Placement, Vec<Diagnostic>> {
        let mistake = |message: String| vec![Diagnostic::new("wrong-value", message).at_value(&self.list)];
        let mut nodes: Vec<NodeId> = Vec::new();
        let mut is_named = vec![false; fabric.nodes() as usize];
        for item in self.list.split(',') {
            let (first, last) = item.split_once('-').unwrap_or((item, item));
            let (Ok(first), Ok(last)) = (first.trim().parse::<u32>(), last.trim().parse::<u32>()) else {
                let mistakes = mistake(format!("`{item}` is neither a node nor a range of nodes"));
                return Err(mistakes.into_iter().map(|mistake| mistake.help("write 0-7,12")).collect());
            };
            if first > last {
                return Err(mistake(format!("the range {first}-{last} of nodes is empty")));
            }
            if last >= fabric.nodes() {
                let message = format!("there is no node {last}: `{}` has {}", fabric.name(), fabric.nodes());
                return Err(mistake(message));
            }
            for node in first..=last {
                if std::mem::replace(&mut is_named[node as usize], true) {
                    return Err(mistake(format!("node {node} is named twice")));
                }
                nodes.push(NodeId(node));
            }
        }
        if nodes.len() < ranks {
            return Err(mistake({
                let named = count(nodes.len() as u64, "node that is named", "nodes that are named");
                format!("{ranks} ranks do not fit on the {named}")
            }));
        }
        nodes.truncate(ranks);
        Ok(nodes.into())
    }
}

impl BlockSpec {
    fn build(&self, ranks: usize, fabric: &Fabric, leaves: Vec<Vec<NodeId>>) -> Result<Placement, Vec<Diagnostic>> {
        let Some(per_leaf) = &self.per_leaf else {
            return Ok(leaves.into_iter().flatten().take(ranks).collect());
        };
        let used = |leaf: Vec<NodeId>| leaf.into_iter().take(**per_leaf as usize);
        let leaf_count = leaves.len();
        let nodes: Vec<NodeId> = leaves.into_iter().flat_map(used).collect();
        if nodes.len() < ranks {
            let message = format!(
                "{} on {} of each of the {} of `{}`",
                count(ranks as u64, "rank does not fit", "ranks do not fit"),
                count((**per_leaf).into(), "node", "nodes"),
                count(leaf_count as u64, "leaf switch", "leaf switches"),
                fabric.name()
            );
            return Err(vec![
                Diagnostic::new("too-many-ranks", message)
                    .at_value(per_leaf)
                    .label(format!("there is room for {}", count(nodes.len() as u64, "rank", "ranks"))),
            ]);
        }
        Ok(nodes.into_iter().take(ranks).collect())
    }
}

#[cfg(test)]
mod tests;

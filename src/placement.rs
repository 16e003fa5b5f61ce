//! Placement: which node each rank runs on.

mod joint;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::diagnostic::{Diagnostic, Located, Sources};
use crate::fabric::{Fabric, LinkRole};
use crate::ids::{Id, IdVec, NodeId, RankId, VertexId};
use crate::reading::csv::{self, Column};
use crate::rng::Stream;
use crate::units::count;

pub use joint::{Joint, JointPart};

/// The node of each rank; no two ranks share one.
pub type Placement = IdVec<RankId, NodeId>;

/// The placement of a scenario: `[placement.random]` and so on.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PlacementSpec {
    /// Rank r on node r.
    Regular(RegularSpec),
    /// Ranks on random nodes.
    Random(RandomSpec),
    /// Each leaf switch is filled with consecutive ranks before the next.
    Block(BlockSpec),
    /// Consecutive ranks on consecutive leaf switches.
    RoundRobin(RoundRobinSpec),
    /// Nodes from a CSV file.
    File(FileSpec),
    /// Nodes by their numbers.
    Nodes(NodesSpec),
}

/// `[placement.regular]`: no options.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RegularSpec {}

/// `[placement.random]`: the first so many nodes of a random order of all.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct RandomSpec {
    /// The seed of the order (default: that of the scenario).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<Located<u64>>,
}

/// `[placement.block]`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct BlockSpec {
    /// How many nodes of each leaf switch are used at most (default: all).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_leaf: Option<Located<u32>>,
}

/// `[placement.round-robin]`: rank r on leaf switch r mod their number; a full leaf is passed over.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct RoundRobinSpec {}

/// `[placement.file]`: a CSV file `rank,node` that names each rank once.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(test, schemars(rename = "PlacementFile"))]
pub struct FileSpec {
    /// The file, relative to the one that names it.
    pub path: Located<String>,
}

/// `[placement.nodes]`: rank r on the r-th node of a list.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct NodesSpec {
    /// Numbers of nodes and ranges of them, with commas between; "0-7,12".
    pub list: Located<String>,
}

impl Default for PlacementSpec {
    fn default() -> Self {
        Self::Regular(RegularSpec {})
    }
}

impl PlacementSpec {
    /// What the command line calls a placement: one of the names, else a file.
    pub fn parse(name_or_path: &str) -> Self {
        match name_or_path {
            "regular" => Self::Regular(RegularSpec {}),
            "random" => Self::Random(RandomSpec::default()),
            "block" => Self::Block(BlockSpec::default()),
            "round-robin" => Self::RoundRobin(RoundRobinSpec {}),
            list if is_list(list) => Self::Nodes(NodesSpec { list: list.to_owned().into() }),
            path => Self::File(FileSpec { path: path.to_owned().into() }),
        }
    }

    /// The name of the placement, or its file.
    pub fn name(&self) -> &str {
        match self {
            Self::Regular(_) => "regular",
            Self::Random(_) => "random",
            Self::Block(_) => "block",
            Self::RoundRobin(_) => "round-robin",
            Self::File(spec) => &spec.path,
            Self::Nodes(spec) => &spec.list,
        }
    }

    /// Whether another seed can give another result.
    pub fn depends_on_seed(&self) -> bool {
        match self {
            Self::Regular(_) | Self::Block(_) | Self::RoundRobin(_) | Self::File(_) | Self::Nodes(_) => false,
            Self::Random(spec) => spec.seed.is_none(),
        }
    }

    /// Whether it says node by node where ranks are.
    pub fn names_nodes(&self) -> bool {
        matches!(self, Self::File(_) | Self::Nodes(_))
    }

    /// Places `ranks` ranks on the nodes of the fabric.
    ///
    /// # Errors
    /// More ranks than nodes, or a mistake in the file.
    pub fn build(
        &self,
        ranks: u32,
        fabric: &Arc<Fabric>,
        seed: u64,
        sources: &mut Sources,
    ) -> Result<Placement, Vec<Diagnostic>> {
        if ranks > fabric.nodes() {
            let ranks = count(ranks.into(), "rank does not fit", "ranks do not fit");
            let nodes = count(fabric.nodes().into(), "node", "nodes");
            let message = format!("{ranks} on the {nodes} of `{}`", fabric.name());
            return Err(vec![
                Diagnostic::new("too-many-ranks", message)
                    .help("take a larger fabric or fewer ranks; each rank needs a node of its own"),
            ]);
        }
        self.among(ranks, fabric, &|_| true, "placement", seed, sources)
    }

    /// Places `ranks` ranks on nodes of the fabric that are free, as if there were no others; there are enough. What is
    /// drawn is drawn from the stream of this name.
    ///
    /// A list of nodes or a file says which, whether they are free or not.
    fn among(
        &self,
        ranks: u32,
        fabric: &Arc<Fabric>,
        is_free: &dyn Fn(NodeId) -> bool,
        stream: &str,
        seed: u64,
        sources: &mut Sources,
    ) -> Result<Placement, Vec<Diagnostic>> {
        let ranks = ranks as usize;
        let free = || fabric.node_ids().filter(|&node| is_free(node));
        let free_leaves = || {
            let of_leaf = |leaf: Vec<NodeId>| leaf.into_iter().filter(|&node| is_free(node)).collect();
            leaves(fabric).into_iter().map(of_leaf).collect::<Vec<Vec<NodeId>>>()
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
            Self::Block(spec) => spec.build(ranks, fabric, free_leaves()),
            Self::RoundRobin(_) => Ok(round_robin(ranks, &free_leaves())),
            Self::File(spec) => spec.build(ranks, fabric, sources),
            Self::Nodes(spec) => spec.build(ranks, fabric),
        }
    }
}

/// Whether a text is a list of nodes: digits, commas and hyphens.
pub(crate) fn is_list(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | '-'))
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
            return Err(mistake(format!("{ranks} ranks do not fit on the {} nodes that are named", nodes.len())));
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

pub(crate) const COLUMNS: [Column; 2] = [Column::required("rank"), Column::required("node")];
const RANK: usize = 0;
const NODE: usize = 1;

impl FileSpec {
    fn build(&self, ranks: usize, fabric: &Fabric, sources: &Sources) -> Result<Placement, Vec<Diagnostic>> {
        let input = sources.open(&self.path).map_err(|diagnostic| vec![diagnostic])?;
        let file = input.name().to_owned();
        // By rank its node and by node its rank, each with the line that says so (0: none yet).
        let mut node_of = vec![(NodeId(0), 0); ranks];
        let mut rank_on = vec![0; fabric.nodes() as usize];
        csv::read(input, &COLUMNS, |row| {
            let rank = row.number(RANK, "rank", ranks as u32);
            let node = row.number(NODE, "node", fabric.nodes());
            let (Some(rank), Some(node)) = (rank, node) else { return };
            let (at, on) = (&mut node_of[rank as usize], &mut rank_on[node as usize]);
            if at.1 != 0 {
                let diagnostic = Diagnostic::new("duplicate-rank", format!("rank {rank} has a node already"));
                row.mistake(RANK, diagnostic.label(format!("line {} places it on node {}", at.1, at.0)));
            } else if *on != 0 {
                let diagnostic = Diagnostic::new("duplicate-node", format!("node {node} has a rank already"));
                row.mistake(NODE, diagnostic.label(format!("line {on} places one on it")));
            } else {
                *at = (NodeId(node), row.line());
                *on = row.line();
            }
        })?;
        let missing: Vec<usize> = (0..ranks).filter(|&rank| node_of[rank].1 == 0).collect();
        match missing[..] {
            [] => Ok(node_of.into_iter().map(|(node, _)| node).collect()),
            [first, ..] => {
                let message = match missing.len() {
                    1 => format!("`{file}` gives rank {first} no node"),
                    n => format!("`{file}` gives {n} of the {ranks} ranks no node; the first is rank {first}"),
                };
                let diagnostic = Diagnostic::new("missing-rank", message).at_value(&self.path);
                Err(vec![diagnostic.help("add a line `rank,node` for each")])
            }
        }
    }
}

/// The nodes of each leaf switch, ascending; leaves in the order of their lowest node.
///
/// A node's leaf is where its injection link ends, the one with the lowest id if it has several; a node without one
/// (it sits on the network links) is a leaf of its own.
fn leaves(fabric: &Fabric) -> Vec<Vec<NodeId>> {
    let mut switch_of: Vec<Option<VertexId>> = vec![None; fabric.nodes() as usize];
    for link in fabric.links().iter() {
        if let (LinkRole::Injection, Some((from, to))) = (link.role, link.ends)
            && let Some(switch) = switch_of.get_mut(from.index())
        {
            switch.get_or_insert(to);
        }
    }
    let mut leaf_of: Vec<Option<usize>> = vec![None; (fabric.nodes() + fabric.switches()) as usize];
    let mut leaves: Vec<Vec<NodeId>> = Vec::new();
    for node in fabric.node_ids() {
        let vertex = switch_of[node.index()].unwrap_or(node.into());
        let leaf = *leaf_of[vertex.index()].get_or_insert(leaves.len());
        if leaf == leaves.len() {
            leaves.push(Vec::new());
        }
        leaves[leaf].push(node);
    }
    leaves
}

fn round_robin(ranks: usize, leaves: &[Vec<NodeId>]) -> Placement {
    let largest = leaves.iter().map(Vec::len).max().unwrap_or(0);
    let rounds = (0..largest).flat_map(|round| leaves.iter().filter_map(move |leaf| leaf.get(round)));
    rounds.take(ranks).copied().collect()
}

#[cfg(test)]
mod tests;

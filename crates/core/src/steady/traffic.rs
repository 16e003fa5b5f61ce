//! Steady traffic by name or from a file.

use petgraph::graph::NodeIndex;

use crate::diagnostic::{Diagnostic, Located, Sources};
use crate::fabric::Fabric;
use crate::ids::{Id, NodeId};
use crate::pattern::MESSAGE_COLUMNS;
use crate::reading::csv;
use crate::rng::Stream;
use crate::routing::{Blocks, ChoiceKind, Demand, Router};

/// Steady traffic: the destinations of each node.
#[derive(Clone, PartialEq, Debug)]
pub enum Traffic {
    /// From every node to all other nodes, in equal parts.
    Uniform,
    /// From every node to all nodes of the group k after its own, in equal parts. Without groups, to the
    /// switch k after its own; if nodes are their own switches, to the node k after it.
    Adversarial(u32),
    /// From a random half of the nodes, each to one node of the other half.
    Bisection {
        /// Set if the other half sends back.
        both: bool,
    },
    /// From every node to one other, drawn at random, so that each node receives from one.
    Permutation,
    /// From every node to one other: the permutation found to load a link most (see `worst`).
    WorstCase,
    /// From every node this fraction to all nodes of the first group, in equal parts, and the rest to all
    /// other nodes.
    HotGroup(f64),
    /// Source, destination and weight of each pair, scaled so that no node sends more than its bandwidth and
    /// one node sends exactly that.
    Listed(Vec<(NodeId, NodeId, f64)>),
}

/// List of the words for traffic.
const WORDS: &str =
    "uniform, adversarial=K, worst-case, hot-group=F, bisection, permutation, or a CSV file src,dst,bytes";

impl Traffic {
    /// Reads traffic from its word, or from the messages of a file: `uniform`, `adversarial=K`, `worst-case`,
    /// `hot-group=F`, `bisection`, `permutation`, `FILE`. `both` selects both directions of `bisection`.
    ///
    /// # Errors
    /// The word is unknown, or `both` has no meaning for it; and every mistake in the file.
    pub fn parse(
        text: &Located<String>,
        both: bool,
        nodes: u32,
        sources: &mut Sources,
    ) -> Result<Self, Vec<Diagnostic>> {
        let traffic = match text.as_str() {
            "uniform" => Self::Uniform,
            "bisection" => Self::Bisection { both },
            "permutation" => Self::Permutation,
            "worst-case" => Self::WorstCase,
            word if word.starts_with("hot-group=") => match word["hot-group=".len()..].parse::<f64>() {
                Ok(part) if (0.0..=1.0).contains(&part) => Self::HotGroup(part),
                _ => {
                    let message = format!("`{word}` does not say which part of the traffic goes to one group");
                    let label = "from 0 to 1, like hot-group=0.1";
                    return Err(vec![Diagnostic::new("traffic", message).at_value(text).label(label)]);
                }
            },
            word => match word.strip_prefix("adversarial=").map(str::parse) {
                Some(Ok(k)) => Self::Adversarial(k),
                Some(Err(_)) => {
                    let message = format!("`{word}` does not say how many groups on traffic goes");
                    return Err(vec![Diagnostic::new("traffic", message).at_value(text).label("like adversarial=1")]);
                }
                None if word == "adversarial" || word == "hot-group" || !word.contains(['.', '/', '\\']) => {
                    let message = format!("unknown traffic `{word}`");
                    return Err(vec![Diagnostic::new("traffic", message).at_value(text).label(WORDS)]);
                }
                None => Self::read(text, nodes, sources)?,
            },
        };
        if both && !matches!(traffic, Self::Bisection { .. }) {
            let message = format!("`--both` is for the two directions of `bisection`, not for `{}`", **text);
            return Err(vec![Diagnostic::new("traffic", message).help("leave `--both` out")]);
        }
        Ok(traffic)
    }

    fn read(path: &Located<String>, nodes: u32, sources: &mut Sources) -> Result<Self, Vec<Diagnostic>> {
        let input = sources.open(path).map_err(|mistake| vec![mistake])?;
        let mut pairs: Vec<(NodeId, NodeId, f64)> = Vec::new();
        csv::read(input, &MESSAGE_COLUMNS, |row| {
            let (src, dst) = (row.number(0, "node", nodes), row.number(1, "node", nodes));
            let bytes = row.size(2);
            if let (Some(src), Some(dst), Some(bytes)) = (src, dst, bytes)
                && src != dst
                && bytes > 0
            {
                pairs.push((NodeId(src), NodeId(dst), bytes as f64));
            }
        })?;
        // Bytes are whole numbers, so the order of their sum does not matter.
        pairs.sort_unstable_by_key(|&(src, dst, _)| (src, dst));
        pairs.dedup_by(|next, first| {
            let same = (next.0, next.1) == (first.0, first.1);
            if same {
                first.2 += next.2;
            }
            same
        });
        if pairs.is_empty() {
            let message = "no message of this file has bytes for another node: there is no traffic";
            return Err(vec![Diagnostic::new("no-traffic", message).at_value(path).label("rows src,dst,bytes")]);
        }
        Ok(Self::Listed(pairs))
    }

    /// Returns true if the traffic is random.
    pub fn is_random(&self) -> bool {
        matches!(self, Self::Bisection { .. } | Self::Permutation)
    }

    /// Returns the rates that each node sends to every other node with its whole bandwidth \[B/s\], as
    /// demands whose loads are added.
    ///
    /// # Errors
    /// The traffic does not fit the fabric.
    pub(crate) fn demands(&self, fabric: &Fabric, router: &dyn Router, seed: u64) -> Result<Vec<Demand>, Diagnostic> {
        let Self::HotGroup(part) = self else { return Ok(vec![self.demand(fabric, router, seed)?]) };
        if router.choice().is_some_and(|choice| choice.kind() == ChoiceKind::Bound) {
            let message = "a rule that mixes ways for all traffic together is not counted under traffic of two kinds";
            return Err(
                Diagnostic::new("mixed-routing", message).help("use another rule, or write the traffic as a file")
            );
        }
        let class = groups(fabric);
        let scaled = |part: f64| fabric.node_ids().map(|node| part * bandwidth(fabric, node)).collect();
        let to = vec![0; class.iter().max().map_or(0, |&most| most as usize + 1)];
        Ok(vec![
            Demand::Blocks(Blocks::new(vec![0; class.len()], scaled(1.0 - part), vec![0])),
            Demand::Blocks(Blocks::new(class, scaled(*part), to)),
        ])
    }

    /// Returns the demand of traffic of one kind.
    pub(crate) fn demand(&self, fabric: &Fabric, router: &dyn Router, seed: u64) -> Result<Demand, Diagnostic> {
        let bandwidth = |node: NodeId| bandwidth(fabric, node);
        let nodes = fabric.nodes();
        let sends = || fabric.node_ids().map(bandwidth).collect();
        Ok(match self {
            Self::Uniform | Self::HotGroup(_) => Demand::Blocks(Blocks::new(vec![0; nodes as usize], sends(), vec![0])),
            Self::Adversarial(k) => {
                let class = groups(fabric);
                let count = class.iter().max().map_or(0, |&most| most + 1);
                if fabric.nodes() > 1 && k % count == 0 {
                    let what = if fabric.groups().is_some() { "group" } else { "switch" };
                    let message = format!("{k} on, of {count}, every {what} sends to itself");
                    let help = "take another K: a multiple of their number is no traffic between them";
                    return Err(Diagnostic::new("traffic", message).help(help));
                }
                let to = (0..count).map(|group| ((u64::from(group) + u64::from(*k)) % u64::from(count)) as u32);
                Demand::Blocks(Blocks::new(class, sends(), to.collect()))
            }
            Self::Bisection { both } => {
                let mut order: Vec<NodeId> = fabric.node_ids().collect();
                Stream::new(seed, "throughput.bisection").shuffle(&mut order);
                let (one, other) = order.split_at(order.len() / 2);
                // With an odd number of nodes one node is left over.
                let there = one.iter().zip(other).map(|(&src, &dst)| (src, dst, bandwidth(src)));
                let back = one.iter().zip(other).map(|(&src, &dst)| (dst, src, bandwidth(dst)));
                let mut pairs: Vec<_> = if *both { there.chain(back).collect() } else { there.collect() };
                pairs.sort_unstable_by_key(|pair| (pair.0, pair.1));
                Demand::Pairs(pairs)
            }
            Self::Permutation => {
                let mut order: Vec<NodeId> = fabric.node_ids().collect();
                Stream::new(seed, "throughput.permutation").shuffle(&mut order);
                // All nodes form one circle, so that no node sends to itself.
                let next = order.iter().cycle().skip(1);
                let mut pairs: Vec<_> = order.iter().zip(next).map(|(&src, &dst)| (src, dst, bandwidth(src))).collect();
                pairs.retain(|pair| pair.0 != pair.1);
                pairs.sort_unstable_by_key(|pair| (pair.0, pair.1));
                Demand::Pairs(pairs)
            }
            Self::WorstCase => {
                let to = super::worst::worst_case(fabric, router)?;
                let pairs = fabric.node_ids().zip(to).map(|(src, dst)| (src, NodeId(dst), bandwidth(src)));
                Demand::Pairs(pairs.filter(|pair| pair.0 != pair.1).collect())
            }
            Self::Listed(pairs) => {
                let mut sums = vec![0.0; nodes as usize];
                pairs.iter().for_each(|&(src, _, much)| sums[src.index()] += much);
                let limit = |(node, sum): (NodeId, &f64)| bandwidth(node) / sum;
                let scale = fabric
                    .node_ids()
                    .zip(&sums)
                    .filter(|(_, sum)| **sum > 0.0)
                    .map(limit)
                    .fold(f64::INFINITY, f64::min);
                Demand::Pairs(pairs.iter().map(|&(src, dst, much)| (src, dst, much * scale)).collect())
            }
        })
    }
}

/// Returns the bandwidth of a node into the network \[B/s\].
fn bandwidth(fabric: &Fabric, node: NodeId) -> f64 {
    let out = fabric.graph().edges(NodeIndex::new(node.index()));
    // θ is a fraction of the bandwidth into the network; links inside a server do not count.
    let into = out.filter(|edge| fabric.family().leads_into_network(*edge.weight()));
    into.map(|edge| fabric.link(*edge.weight()).capacity.bytes_per_second()).sum()
}

/// Returns the group of each node's switch, or the switch if there are no groups, numbered from 0.
pub fn groups(fabric: &Fabric) -> Vec<u32> {
    let group = |node: NodeId| {
        let leaf = fabric.leaf_of(node);
        match (fabric.groups(), leaf.checked_sub(fabric.nodes())) {
            (Some(groups), Some(switch)) => groups[switch as usize],
            _ => leaf,
        }
    };
    let of_nodes: Vec<u32> = fabric.node_ids().map(group).collect();
    let mut all = of_nodes.clone();
    all.sort_unstable();
    all.dedup();
    of_nodes.iter().map(|group| all.partition_point(|other| other < group) as u32).collect()
}

//! Steady traffic by name or from a file.

use petgraph::graph::NodeIndex;

use crate::diagnostic::{Diagnostic, Located, Sources};
use crate::fabric::Fabric;
use crate::ids::{Id, NodeId};
use crate::reading::csv::{self, Column};
use crate::rng::Stream;
use crate::routing::{Blocks, Demand};

/// Who sends to whom, all the time.
#[derive(Clone, PartialEq, Debug)]
pub enum Traffic {
    /// Every node to all others, in equal parts.
    Uniform,
    /// Every node to all nodes of the group k after its own, in equal parts. Without groups, of the switch k after its
    /// own; where nodes are their own switches, to the node k after it.
    Adversarial(u32),
    /// A random half of the nodes, each with one of the other half.
    Bisection {
        /// Whether the other half sends back.
        both: bool,
    },
    /// Every node to one other, drawn at random; each gets from one.
    Permutation,
    /// From, to and how much: scaled so that no node sends more than its bandwidth, and one as much.
    Listed(Vec<(NodeId, NodeId, f64)>),
}

/// The words for traffic.
const WORDS: &str = "uniform, adversarial=K, bisection, permutation, or a CSV file src,dst,bytes";

const COLUMNS: [Column; 7] = [
    Column::required("src"),
    Column::required("dst"),
    Column::required("bytes"),
    Column::optional("order"),
    Column::optional("delay"),
    Column::optional("after"),
    Column::optional("id"),
];

impl Traffic {
    /// Traffic by its word, or the messages of a file: `uniform`, `adversarial=K`, `bisection`, `permutation`, `FILE`.
    /// `both` says that both directions of `bisection` are meant.
    ///
    /// # Errors
    /// An unknown word, `both` where it has no meaning, and every mistake of the file.
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
            word => match word.strip_prefix("adversarial=").map(str::parse) {
                Some(Ok(k)) => Self::Adversarial(k),
                Some(Err(_)) => {
                    let message = format!("`{word}` does not say how many groups on traffic goes");
                    return Err(vec![Diagnostic::new("traffic", message).at_value(text).label("like adversarial=1")]);
                }
                None if word == "adversarial" || !word.contains(['.', '/', '\\']) => {
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
        csv::read(input, &COLUMNS, |row| {
            let (src, dst) = (row.number(0, "node", nodes), row.number(1, "node", nodes));
            let bytes = row.size(2);
            if let (Some(src), Some(dst), Some(bytes)) = (src, dst, bytes)
                && src != dst
                && bytes > 0
            {
                pairs.push((NodeId(src), NodeId(dst), bytes as f64));
            }
        })?;
        // Bytes are whole numbers: their order does not matter.
        pairs.sort_unstable_by_key(|&(src, dst, _)| (src, dst));
        pairs.dedup_by(|next, first| {
            let same = (next.0, next.1) == (first.0, first.1);
            if same {
                first.2 += next.2;
            }
            same
        });
        Ok(Self::Listed(pairs))
    }

    /// Whether it is drawn.
    pub fn is_random(&self) -> bool {
        matches!(self, Self::Bisection { .. } | Self::Permutation)
    }

    /// How much each node sends to each other with its whole bandwidth \[B/s\].
    ///
    /// # Errors
    /// Where traffic does not fit the fabric.
    pub(crate) fn demand(&self, fabric: &Fabric, seed: u64) -> Result<Demand, Diagnostic> {
        let bandwidth = |node: NodeId| -> f64 {
            let out = fabric.graph().edges(NodeIndex::new(node.index()));
            out.map(|edge| fabric.link(*edge.weight()).capacity.bytes_per_second()).sum()
        };
        let nodes = fabric.nodes();
        let sends = || fabric.node_ids().map(bandwidth).collect();
        Ok(match self {
            Self::Uniform => Demand::Blocks(Blocks::new(vec![0; nodes as usize], sends(), vec![0])),
            Self::Adversarial(k) => {
                let class = groups(fabric);
                let count = class.iter().max().map_or(0, |&most| most + 1);
                let to = (0..count).map(|group| ((u64::from(group) + u64::from(*k)) % u64::from(count)) as u32);
                Demand::Blocks(Blocks::new(class, sends(), to.collect()))
            }
            Self::Bisection { both } => {
                let mut order: Vec<NodeId> = fabric.node_ids().collect();
                Stream::new(seed, "throughput.bisection").shuffle(&mut order);
                let (one, other) = order.split_at(order.len() / 2);
                // Of an odd number of nodes one is left over.
                let there = one.iter().zip(other).map(|(&src, &dst)| (src, dst, bandwidth(src)));
                let back = one.iter().zip(other).map(|(&src, &dst)| (dst, src, bandwidth(dst)));
                let mut pairs: Vec<_> = if *both { there.chain(back).collect() } else { there.collect() };
                pairs.sort_unstable_by_key(|pair| (pair.0, pair.1));
                Demand::Pairs(pairs)
            }
            Self::Permutation => {
                let mut order: Vec<NodeId> = fabric.node_ids().collect();
                Stream::new(seed, "throughput.permutation").shuffle(&mut order);
                // Around one circle, so that nobody sends to itself.
                let next = order.iter().cycle().skip(1);
                let mut pairs: Vec<_> = order.iter().zip(next).map(|(&src, &dst)| (src, dst, bandwidth(src))).collect();
                pairs.retain(|pair| pair.0 != pair.1);
                pairs.sort_unstable_by_key(|pair| (pair.0, pair.1));
                Demand::Pairs(pairs)
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

/// By node: the group of its switch, or its switch where there are no groups, numbered from 0.
fn groups(fabric: &Fabric) -> Vec<u32> {
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

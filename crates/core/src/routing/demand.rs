//! Steady traffic between all pairs of nodes.

use super::graph::Graph;
use crate::diagnostic::Diagnostic;
use crate::ids::NodeId;

/// Largest number of pairs of nodes that are listed, for traffic of all with all.
const MOST_PAIRS: u64 = 100_000_000;

/// Steady traffic from each node to each other node \[B/s\].
#[derive(Clone, PartialEq, Debug)]
pub enum Demand {
    /// Nodes are in classes. A node sends in equal parts to all other nodes of one class.
    Blocks(Blocks),
    /// Source, destination and amount, in ascending order of (source, destination).
    Pairs(Vec<(NodeId, NodeId, f64)>),
}

/// Traffic from class to class.
#[derive(Clone, PartialEq, Debug)]
pub struct Blocks {
    /// Class of each node.
    class: Vec<u32>,
    /// Amount sent by each node \[B/s\].
    sends: Vec<f64>,
    /// Class to which the nodes of each class send.
    to: Vec<u32>,
    /// Nodes of each class.
    members: Vec<Vec<u32>>,
}

impl Blocks {
    /// Creates traffic between classes; `class` and `sends` are by node, `to` by class. A node without
    /// receivers sends nothing.
    ///
    /// # Panics
    /// Panics if a class has no entry in `to`.
    pub fn new(class: Vec<u32>, sends: Vec<f64>, to: Vec<u32>) -> Self {
        let mut members = vec![Vec::new(); to.len()];
        for (node, &class) in class.iter().enumerate() {
            members[class as usize].push(node as u32);
        }
        Self { class, sends, to, members }
    }

    /// Number of nodes that a node of this class sends to.
    fn receivers(&self, class: u32) -> usize {
        let to = self.to[class as usize];
        self.members[to as usize].len().saturating_sub(usize::from(to == class))
    }

    /// Amount that a node sends to each of its receivers \[B/s\].
    fn amount_each(&self, node: u32) -> f64 {
        match self.receivers(self.class[node as usize]) {
            0 => 0.0,
            receivers => self.sends[node as usize] / receivers as f64,
        }
    }
}

impl Demand {
    /// One more than the last node that may send.
    pub fn sources(&self) -> u32 {
        match self {
            Self::Blocks(blocks) => blocks.class.len() as u32,
            Self::Pairs(pairs) => pairs.last().map_or(0, |(src, ..)| src.0 + 1),
        }
    }

    /// Calls `visit` for each node that a node sends to, with the amount \[B/s\].
    pub fn from(&self, src: NodeId, mut visit: impl FnMut(NodeId, f64)) {
        match self {
            Self::Blocks(blocks) => {
                let (each, to) = (blocks.amount_each(src.0), blocks.to[blocks.class[src.0 as usize] as usize]);
                let others = blocks.members[to as usize].iter().filter(|&&dst| dst != src.0);
                others.for_each(|&dst| visit(NodeId(dst), each));
            }
            Self::Pairs(pairs) => {
                let first = pairs.partition_point(|pair| pair.0 < src);
                pairs[first..].iter().take_while(|pair| pair.0 == src).for_each(|&(_, dst, much)| visit(dst, much));
            }
        }
    }

    /// Returns the amount from each node to each that it sends to \[B/s\], if it is the same for all that send.
    pub(super) fn amount_of_all(&self) -> Option<f64> {
        let mut amount_of_all = None;
        let mut is_same = |amount: f64| amount == 0.0 || *amount_of_all.get_or_insert(amount) == amount;
        let all = match self {
            Self::Blocks(blocks) => (0..blocks.class.len() as u32).all(|node| is_same(blocks.amount_each(node))),
            Self::Pairs(pairs) => pairs.iter().all(|pair| is_same(pair.2)),
        };
        amount_of_all.filter(|_| all)
    }

    /// Returns one of the receivers of a node, with probabilities proportional to their amounts. `unit` is
    /// the draw, in `[0, 1)`. Returns `None` for a node that sends nothing.
    pub fn drawn(&self, src: NodeId, unit: f64) -> Option<NodeId> {
        match self {
            Self::Blocks(blocks) => {
                let class = blocks.class[src.0 as usize];
                let (to, receivers) = (blocks.to[class as usize], blocks.receivers(class));
                if receivers == 0 {
                    return None;
                }
                let members = &blocks.members[to as usize];
                let at = ((unit * receivers as f64) as usize).min(receivers - 1);
                // Members are ascending: those from the node itself on are shifted by one.
                let own = if to == class { members.partition_point(|&node| node < src.0) } else { members.len() };
                Some(NodeId(members[at + usize::from(at >= own)]))
            }
            Self::Pairs(pairs) => {
                let first = pairs.partition_point(|pair| pair.0 < src);
                let own = || pairs[first..].iter().take_while(|pair| pair.0 == src && pair.2 > 0.0);
                let mut left = unit * own().map(|pair| pair.2).sum::<f64>();
                let reached = |&&(_, _, much): &&(NodeId, NodeId, f64)| {
                    left -= much;
                    left < 0.0
                };
                // (The last one takes the rounding error.)
                own().find(reached).or_else(|| own().last()).map(|pair| pair.1)
            }
        }
    }

    /// Returns the amount that one node sends to another \[B/s\].
    pub fn between(&self, src: NodeId, dst: NodeId) -> f64 {
        match self {
            Self::Blocks(blocks) => {
                let to = blocks.to[blocks.class[src.0 as usize] as usize];
                if src != dst && blocks.class[dst.0 as usize] == to { blocks.amount_each(src.0) } else { 0.0 }
            }
            Self::Pairs(pairs) => {
                let first = pairs.partition_point(|pair| (pair.0, pair.1) < (src, dst));
                pairs[first..].iter().take_while(|pair| (pair.0, pair.1) == (src, dst)).map(|pair| pair.2).sum()
            }
        }
    }

    /// Returns the traffic multiplied by `times`.
    pub(super) fn scaled(&self, times: f64) -> Self {
        match self {
            Self::Blocks(blocks) => {
                let sends = blocks.sends.iter().map(|much| times * much).collect();
                Self::Blocks(Blocks { sends, ..blocks.clone() })
            }
            Self::Pairs(pairs) => Self::Pairs(pairs.iter().map(|&(src, dst, much)| (src, dst, times * much)).collect()),
        }
    }

    /// Returns the traffic between the pairs of nodes for which `holds` is true.
    ///
    /// # Errors
    /// Fails if these are too many to be listed.
    pub(super) fn kept(&self, nodes: u32, holds: impl Fn(NodeId, NodeId) -> bool) -> Result<Self, Diagnostic> {
        if matches!(self, Self::Blocks(_)) && u64::from(nodes).pow(2) > MOST_PAIRS {
            let message = format!("the planes of all pairs of {nodes} nodes are too many to be counted one by one");
            return Err(Diagnostic::new("too-large", message).help("`select = \"round-robin\"` counts all alike"));
        }
        let mut pairs = Vec::new();
        for src in (0..self.sources()).map(NodeId) {
            self.from(src, |dst, much| {
                if holds(src, dst) {
                    pairs.push((src, dst, much));
                }
            });
        }
        Ok(Self::Pairs(pairs))
    }

    /// Returns the traffic with each node mapped to one of `nodes` different nodes in the same order.
    pub(super) fn moved(&self, nodes: u32, to: impl Fn(NodeId) -> NodeId) -> Self {
        match self {
            Self::Blocks(blocks) => {
                // All other nodes are in a class of their own and send nothing.
                let idle = blocks.to.len() as u32;
                let (mut class, mut sends) = (vec![idle; nodes as usize], vec![0.0; nodes as usize]);
                for (node, (&of, &much)) in (0..).zip(blocks.class.iter().zip(&blocks.sends)) {
                    let node = to(NodeId(node)).0 as usize;
                    (class[node], sends[node]) = (of, much);
                }
                Self::Blocks(Blocks::new(class, sends, blocks.to.iter().copied().chain([idle]).collect()))
            }
            Self::Pairs(pairs) => Self::Pairs(pairs.iter().map(|&(src, dst, much)| (to(src), to(dst), much)).collect()),
        }
    }

    /// Returns the amounts that each node sends to other nodes and receives \[B/s\].
    pub fn totals(&self, nodes: u32) -> Vec<(f64, f64)> {
        let mut totals = vec![(0.0, 0.0); nodes as usize];
        match self {
            Self::Blocks(blocks) => {
                let mut to_class = vec![0.0; blocks.to.len()];
                for (node, total) in totals.iter_mut().enumerate() {
                    let class = blocks.class[node];
                    let each = blocks.amount_each(node as u32);
                    total.0 = each * blocks.receivers(class) as f64;
                    to_class[blocks.to[class as usize] as usize] += each;
                }
                for (node, total) in totals.iter_mut().enumerate() {
                    let class = blocks.class[node];
                    let own = if blocks.to[class as usize] == class { blocks.amount_each(node as u32) } else { 0.0 };
                    total.1 = to_class[class as usize] - own;
                }
            }
            Self::Pairs(pairs) => {
                for &(src, dst, much) in pairs.iter().filter(|(src, dst, _)| src != dst) {
                    totals[src.0 as usize].0 += much;
                    totals[dst.0 as usize].1 += much;
                }
            }
        }
        totals
    }
}

/// Traffic added up by places, column by column: the amounts from all places to one.
pub(super) enum Columns<'a> {
    Blocks {
        blocks: &'a Blocks,
        /// By place: the classes of its nodes, with the amount that all of them together send to each
        /// receiver.
        sent: Vec<Vec<(u32, f64)>>,
        /// By place: the classes of its nodes, with their number of nodes.
        counts: Vec<Vec<(u32, u32)>>,
    },
    /// By place: the places that send there, and the amounts.
    Pairs(Vec<Vec<(u32, f64)>>),
}

impl<'a> Columns<'a> {
    pub fn new(demand: &'a Demand, graph: &Graph) -> Self {
        Self::by(demand, graph.places(), |node| graph.home(node).place)
    }

    /// Adds up traffic by places; `place_of` gives the place of each node.
    pub fn by(demand: &'a Demand, places: u32, place_of: impl Fn(NodeId) -> u32) -> Self {
        let places = places as usize;
        match demand {
            Demand::Blocks(blocks) => {
                let mut sent = vec![Vec::<(u32, f64)>::new(); places];
                let mut counts = vec![Vec::<(u32, u32)>::new(); places];
                for node in 0..blocks.class.len() as u32 {
                    let (class, place) = (blocks.class[node as usize], place_of(NodeId(node)) as usize);
                    let each = blocks.amount_each(node);
                    match sent[place].iter_mut().find(|entry| entry.0 == class) {
                        Some(entry) => entry.1 += each,
                        None => sent[place].push((class, each)),
                    }
                    match counts[place].iter_mut().find(|entry| entry.0 == class) {
                        Some(entry) => entry.1 += 1,
                        None => counts[place].push((class, 1)),
                    }
                }
                Self::Blocks { blocks, sent, counts }
            }
            Demand::Pairs(pairs) => {
                let mut into = vec![Vec::new(); places];
                for &(src, dst, much) in pairs {
                    into[place_of(dst) as usize].push((place_of(src), much));
                }
                Self::Pairs(into)
            }
        }
    }

    /// Writes the amount from each place to `to` \[B/s\], without the traffic of a place to itself. Returns
    /// true if any amount is above 0.
    pub fn column(&self, to: u32, column: &mut [f64]) -> bool {
        column.fill(0.0);
        match self {
            Self::Blocks { blocks, sent, counts } => {
                let counts = &counts[to as usize];
                if counts.is_empty() {
                    return false;
                }
                for (amount, sent) in column.iter_mut().zip(sent) {
                    for &(class, each) in sent {
                        let receivers = counts.iter().find(|entry| entry.0 == blocks.to[class as usize]);
                        *amount += each * receivers.map_or(0.0, |entry| f64::from(entry.1));
                    }
                }
            }
            Self::Pairs(into) => into[to as usize].iter().for_each(|&(from, much)| column[from as usize] += much),
        }
        column[to as usize] = 0.0;
        column.iter().any(|&amount| amount > 0.0)
    }
}

/// Traffic added up by sending places, node by node: the amounts from all places to one node.
pub(super) enum ColumnsByNode<'a> {
    Blocks {
        blocks: &'a Blocks,
        /// By class: the places that send to its nodes, with the amount from each place to each of these
        /// nodes.
        to_class: Vec<Vec<(u32, f64)>>,
    },
    /// By node: the places that send there, and the amounts.
    Pairs(Vec<Vec<(u32, f64)>>),
}

impl<'a> ColumnsByNode<'a> {
    pub fn new(demand: &'a Demand, graph: &Graph) -> Self {
        match demand {
            Demand::Blocks(blocks) => {
                let mut to_class = vec![Vec::<(u32, f64)>::new(); blocks.to.len()];
                let mut nodes: Vec<(u32, u32)> =
                    (0..blocks.class.len() as u32).map(|node| (graph.home(NodeId(node)).place, node)).collect();
                nodes.sort_unstable();
                for (place, node) in nodes {
                    let to = &mut to_class[blocks.to[blocks.class[node as usize] as usize] as usize];
                    match to.last_mut() {
                        Some(entry) if entry.0 == place => entry.1 += blocks.amount_each(node),
                        _ => to.push((place, blocks.amount_each(node))),
                    }
                }
                Self::Blocks { blocks, to_class }
            }
            Demand::Pairs(pairs) => {
                let mut into = vec![Vec::new(); graph.fabric.nodes() as usize];
                for &(src, dst, much) in pairs.iter().filter(|(src, dst, _)| src != dst) {
                    into[dst.0 as usize].push((graph.home(src).place, much));
                }
                Self::Pairs(into)
            }
        }
    }

    /// Writes the amount from each place to this node \[B/s\]. Returns true if any amount is above 0.
    pub fn amounts(&self, dst: NodeId, graph: &Graph, amounts: &mut [f64]) -> bool {
        let senders = match self {
            Self::Blocks { blocks, to_class } => match blocks.class.get(dst.0 as usize) {
                Some(&class) => {
                    // A node sends nothing to itself.
                    if blocks.to[class as usize] == class {
                        amounts[graph.home(dst).place as usize] -= blocks.amount_each(dst.0);
                    }
                    &to_class[class as usize]
                }
                None => return false,
            },
            Self::Pairs(into) => &into[dst.0 as usize],
        };
        senders.iter().for_each(|&(place, much)| amounts[place as usize] += much);
        !senders.is_empty()
    }
}

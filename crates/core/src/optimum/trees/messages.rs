//! Messages that carry the chunks of a forest.

use super::forest::Forest;

/// Message of one chunk over one edge of a tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    /// Index of the tree.
    pub tree: u32,
    /// Number of the chunk of the tree's data.
    pub chunk: u32,
    /// Node that sends.
    pub from: u32,
    /// Node that receives.
    pub to: u32,
    /// Index in [`Forest::paths`]. A reduction runs on the opposite links in reverse order.
    pub path: u32,
    /// Weight of the tree. A flow takes this share of a link; the message has `weight * unit / chunks` bytes.
    pub weight: u64,
    /// Turn of the message: number of edges before it on its tree plus number of chunks before it.
    pub turn: u32,
    /// Indices of earlier messages that have to arrive before this one is sent.
    pub after: Vec<u32>,
}

/// Returns the messages of a forest on `nodes` compute nodes in the order of sending, by turn.
///
/// Chunk j over (x,y) waits for chunk j into x and for chunk j - 1 over (x,y). Without the latter, all chunks share
/// the first links at once and there is no pipeline. If `reduces` is set, the trees are followed backwards: chunk j
/// over (y,x) waits for chunk j from each child of y. Trees that do not span the nodes are left out.
/// Cost: O(messages log messages).
pub fn messages(forest: &Forest, nodes: u32, chunks: u32, reduces: bool) -> Vec<Message> {
    let mut edges = Vec::new();
    for (number, tree) in (0_u32..).zip(&forest.trees) {
        let Some(depths) = tree.depths(nodes) else { continue };
        let depth = depths.iter().copied().max().unwrap_or(0);
        let turn = |to: u32| if reduces { depth - depths[to as usize] } else { depths[to as usize] - 1 };
        edges.extend(tree.edges.iter().map(|edge| (turn(edge.to), number, *edge)));
    }
    let count = chunks as usize;
    let mut sends: Vec<_> = (0..edges.len()).flat_map(|edge| (0..chunks).map(move |chunk| (edge, chunk))).collect();
    sends.sort_by_key(|&(edge, chunk)| edges[edge].0 + chunk);
    // By tree, node and chunk: the messages of the chunk that have arrived.
    let mut arrived = vec![Vec::new(); forest.trees.len() * nodes as usize * count];
    let mut previous = vec![None; edges.len()];
    let mut messages = Vec::with_capacity(sends.len());
    for (index, (number, chunk)) in (0..).zip(sends) {
        let (turn, tree, edge) = edges[number];
        let (from, to) = if reduces { (edge.to, edge.from) } else { (edge.from, edge.to) };
        let place = |node: u32| (tree as usize * nodes as usize + node as usize) * count + chunk as usize;
        let mut after: Vec<u32> = arrived[place(from)].clone();
        after.extend(previous[number].replace(index));
        arrived[place(to)].push(index);
        let weight = forest.trees[tree as usize].weight;
        messages.push(Message { tree, chunk, from, to, path: edge.path, weight, turn: turn + chunk, after });
    }
    messages
}

/// Returns the number of chunks that makes a pipeline over trees of this depth shortest, at most `limit`.
///
/// c chunks take d + c - 1 turns of one chunk's time and one latency each: `t(c) = (d + c - 1) (T/c + L)`, with the
/// time T of the whole data \[s\] and the latency L \[s\]. It is least at `c = sqrt((d - 1) T / L)`.
pub fn usual_chunks(depth: u32, latency: f64, time: f64, limit: u32) -> u32 {
    let best = (f64::from(depth.saturating_sub(1)) * time / latency).sqrt();
    // A chunk without latency costs nothing; 0/0 is a single chunk.
    if best.is_nan() { 1 } else { best.round().clamp(1.0, f64::from(limit.max(1))) as u32 }
}

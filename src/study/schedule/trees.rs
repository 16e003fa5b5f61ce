//! Schedules along packed trees: all-gather, reduce-scatter, all-reduce and broadcast.

use super::ground::RankGraph;
use super::plan::{Plan, PlanMessage, PlanOperation};
use crate::fabric::Lattice;
use crate::ids::{Id, LinkId, NodeId};
use crate::optimum::trees::{
    Bound, Error, Forest, Graph, Progress, Ratio, all_gather, bound, broadcast, broadcast_bound, groups, messages,
    torus_steps, translated, usual_chunks, with_trees,
};
use crate::routing::Router;

/// Largest number of ranks whose trees are packed.
const MOST_PACKED: u32 = 128;
/// Largest number of ranks for which one tree of each root is packed.
const MOST_SINGLE: u32 = 256;
/// Largest number of messages of a plan.
const MOST_MESSAGES: u64 = 1 << 20;
/// Largest excess over the bound at which a closed form replaces packing.
const CLOSED: f64 = 1.02;
/// Chunks for each edge of depth without latency: the pipeline then takes an eighth more at most.
const CHUNKS_PER_DEPTH: u32 = 8;

/// Trees of an operation with their bound.
pub(super) struct TreesOf {
    /// Least time for 1 byte of each rank \[s\].
    pub least: Ratio,
    /// Cut that proves it; `None` for a broadcast.
    pub bound: Option<Bound>,
    /// The trees, or the reason why there are none.
    pub forest: Result<Forest, String>,
    /// Time of the trees for 1 byte of each rank \[s\].
    pub time: f64,
}

/// Returns the bound and the trees of an operation; `trees` fixes their number for each root.
///
/// # Errors
/// The graph allows no bound, or `progress` stopped the search.
pub(super) fn trees(
    ground: &RankGraph<'_>,
    nodes: &[NodeId],
    router: &dyn Router,
    (operation, root): (PlanOperation, u32),
    fixed: Option<u64>,
    progress: &mut Progress<'_>,
) -> Result<TreesOf, Error> {
    let graph = &ground.graph;
    if operation == PlanOperation::Broadcast {
        let least = broadcast_bound(graph, root, progress)?;
        let forest = match graph.compute > MOST_SINGLE {
            true => Err(too_many(graph.compute)),
            false => said(broadcast(graph, root, progress))?,
        };
        return Ok(finished(least, None, forest, graph));
    }
    let bound = bound(graph, progress)?;
    let least = bound.time;
    if let Some(trees) = fixed {
        let forest = said(with_trees(graph, trees, progress))?;
        return Ok(finished(least, Some(bound), forest, graph));
    }
    for forest in closed_forms(ground, nodes, router).into_iter().flatten() {
        if let Some(time) = forest.verified_time(graph).filter(|time| time.value() <= CLOSED * least.value()) {
            return Ok(TreesOf { least, bound: Some(bound), forest: Ok(forest), time: time.value() });
        }
    }
    let forest = match graph.compute {
        ranks if ranks <= MOST_PACKED => said(all_gather(graph, progress))?,
        ranks if ranks <= MOST_SINGLE => said(with_trees(graph, 1, progress))?,
        ranks => Err(too_many(ranks)),
    };
    Ok(finished(least, Some(bound), forest, graph))
}

fn too_many(ranks: u32) -> String {
    format!("trees are packed for at most {MOST_SINGLE} ranks, and no closed form suits these {ranks}")
}

/// Returns trees, or the reason in words why the fabric has none; other errors remain errors.
fn said(forest: Result<Forest, Error>) -> Result<Result<Forest, String>, Error> {
    match forest {
        Ok(forest) => Ok(Ok(forest)),
        Err(Error::Unbalanced(_)) => Ok(Err("a switch has different bandwidths in and out".to_owned())),
        Err(Error::Overflow) => Ok(Err("bandwidths have too small common divisors".to_owned())),
        Err(Error::TooLarge) => Ok(Err("the trees have too many edges".to_owned())),
        Err(error) => Err(error),
    }
}

fn finished(least: Ratio, bound: Option<Bound>, forest: Result<Forest, String>, graph: &Graph) -> TreesOf {
    // Trees that do not pass their check are no schedule.
    let checked = forest.and_then(|forest| match forest.verified_time(graph) {
        Some(time) => Ok((forest, time.value())),
        None => Err("the trees could not be verified".to_owned()),
    });
    let (forest, time) = checked.map_or_else(|reason| (Err(reason), f64::NAN), |(forest, time)| (Ok(forest), time));
    TreesOf { least, bound, forest, time }
}

/// Returns the forests of closed forms that suit the fabric: by translation on lattices, by groups of leaf switches
/// or node groups elsewhere.
fn closed_forms(ground: &RankGraph<'_>, nodes: &[NodeId], router: &dyn Router) -> Vec<Option<Forest>> {
    let (fabric, graph, numbers) = (ground.fabric, &ground.graph, ground.numbers());
    let mut route = |from: u32, to: u32| {
        let mut links = Vec::new();
        router.route(nodes[from as usize], nodes[to as usize], &mut links);
        links.iter().map(|link: &LinkId| numbers[link.index()]).collect()
    };
    if router.choice().is_some() || fabric.failed().is_some() || ground.is_reversed {
        return Vec::new();
    }
    let in_order = nodes.iter().enumerate().all(|(rank, node)| node.index() == rank);
    if let Some(lattice) = fabric.family().lattice().filter(|_| in_order && nodes.len() as u32 == fabric.nodes()) {
        let lattice: &dyn Lattice = lattice;
        return vec![translated(graph, lattice.sizes(), &torus_steps(lattice.sizes()), &mut route)];
    }
    let leaves: Vec<u32> = nodes.iter().map(|&node| fabric.leaf_of(node)).collect();
    let by_group = fabric.node_groups().map(|of| nodes.iter().map(|node| of[node.index()]).collect::<Vec<u32>>());
    let mut forms = vec![groups(&leaves, &mut route)];
    forms.extend(by_group.map(|by_group| groups(&by_group, &mut route)));
    forms
}

/// Data of a plan along trees.
pub(super) struct TreePlan {
    pub plan: Plan,
    pub depth: u32,
    pub chunks: u32,
    /// Time by the formula of the pipeline \[s\].
    pub predicted_s: f64,
}

/// Returns the messages of an operation along trees: `bytes` in all, that take `time` seconds by the trees.
pub(super) fn tree_plan(
    ground: &RankGraph<'_>,
    forest: &Forest,
    (operation, root, bytes): (PlanOperation, u32, u64),
    time: f64,
    chunks: Option<u32>,
) -> Result<TreePlan, String> {
    let (graph, fabric) = (&ground.graph, ground.fabric);
    let ranks = graph.compute;
    let phases = if operation == PlanOperation::AllReduce { 2 } else { 1 };
    let depth = forest.trees.iter().filter_map(|tree| tree.depths(ranks)?.into_iter().max()).max().unwrap_or(0);
    let edges: u64 = forest.trees.iter().map(|tree| tree.edges.len() as u64).sum::<u64>() * phases;
    let latency = forest.paths.iter().map(|path| {
        let links: Vec<LinkId> = path.iter().map(|&link| ground.of_link[link as usize]).collect();
        fabric.latency(&links).seconds()
    });
    let latency = latency.fold(0.0, f64::max);
    // By root: number of unit trees.
    let mut weight_of = vec![0_u64; ranks as usize];
    forest.trees.iter().for_each(|tree| weight_of[tree.root as usize] += tree.weight);
    let weight = weight_of.iter().copied().max().unwrap_or(1).max(1);
    let blocks = if operation == PlanOperation::Broadcast { 1 } else { u64::from(ranks) };
    let most = (MOST_MESSAGES / edges.max(1)).clamp(1, u64::from(CHUNKS_PER_DEPTH * depth.max(1)));
    let most =
        most.min(bytes / (blocks * weight).max(1)).clamp(1, (u64::from(u32::MAX) / (blocks * weight).max(1)).max(1));
    let chunks = chunks.unwrap_or_else(|| usual_chunks(depth, latency, time, most as u32));
    let units = u64::from(chunks) * weight * blocks;
    if edges * u64::from(chunks) > 16 * MOST_MESSAGES || units > u64::from(u32::MAX) {
        return Err(format!("{} messages are too many for one plan", edges * u64::from(chunks)));
    }
    let opposite = match operation {
        PlanOperation::ReduceScatter if ground.is_reversed => (0..graph.links.len() as u32).collect(),
        PlanOperation::ReduceScatter | PlanOperation::AllReduce => {
            ground.opposite().ok_or("links differ in their two directions, so trees cannot be reversed")?
        }
        _ => Vec::new(),
    };
    // First unit of each tree.
    let mut next: Vec<u64> = (0..u64::from(ranks)).map(|rank| rank * weight).collect();
    let first: Vec<u64> = forest
        .trees
        .iter()
        .map(|tree| {
            let of_root = &mut next[tree.root as usize];
            let first =
                if operation == PlanOperation::Broadcast { *of_root - u64::from(root) * weight } else { *of_root };
            *of_root += tree.weight;
            first
        })
        .collect();
    let boundary = |unit: u64| (u128::from(bytes) * u128::from(unit) / u128::from(units)) as u64;
    let mut plan = Plan { operation, ranks, root, units: units as u32, messages: Vec::new() };
    // By tree and chunk: messages that bring the contributions to the root, which passes on their sum.
    let mut arrived: Vec<Vec<u32>> = vec![Vec::new(); forest.trees.len() * chunks as usize];
    let passes: &[bool] = match operation {
        PlanOperation::AllReduce => &[true, false],
        PlanOperation::ReduceScatter => &[true],
        _ => &[false],
    };
    for &reduces in passes {
        let base = plan.messages.len() as u32;
        for (index, message) in (base..).zip(messages(forest, ranks, chunks, reduces)) {
            let tree = message.tree as usize;
            let sums = &mut arrived[tree * chunks as usize + message.chunk as usize];
            let from = first[tree] * u64::from(chunks) + u64::from(message.chunk) * message.weight;
            let path = forest.paths[message.path as usize].iter();
            let links: Vec<u32> = match reduces {
                true => path.rev().map(|&link| opposite[link as usize]).collect(),
                false => path.copied().collect(),
            };
            let mut after: Vec<u32> = message.after.iter().map(|&earlier| base + earlier).collect();
            let tree_root = forest.trees[tree].root;
            if reduces && message.to == tree_root {
                sums.push(index);
            } else if !reduces && message.from == tree_root {
                after.extend(sums.iter());
            }
            plan.messages.push(PlanMessage {
                src: message.from,
                dst: message.to,
                bytes: boundary(from + message.weight) - boundary(from),
                slot: None,
                path: links.iter().map(|&link| ground.of_link[link as usize].0).collect(),
                weight: message.weight as f64,
                after,
                data: (from as u32, message.weight as u32),
                reduces,
            });
        }
    }
    let turns = f64::from(depth.max(1) + chunks - 1);
    let predicted_s = phases as f64 * turns * (time / phases as f64 / f64::from(chunks) + latency);
    Ok(TreePlan { plan, depth, chunks, predicted_s })
}

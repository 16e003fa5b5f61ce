//! What a user asks of fabrics: their figures side by side.
//!
//! All but the simulated throughput are counted on the graph or by loads, so that fabrics of 40,000 nodes take seconds.

mod cables;
mod prices;
mod resilience;
mod spread;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use petgraph::Direction::{Incoming, Outgoing};
use petgraph::graph::NodeIndex;
use serde::Serialize;

use crate::diagnostic::Invalid;
use crate::fabric::{Fabric, Grid, MeanDistance};
use crate::report::MessageRecord;
use crate::routing::{RoutingSpec, SpraySpec};
use crate::scenario::{Loader, RoutedFabric};
use crate::simulation::{RunOptions, Work};
use crate::steady::{Traffic, throughput};

pub use cables::{Cables, Layout};
pub use prices::{Cost, Prices};
pub use resilience::Resilience;
pub use spread::Spread;

/// The version of the form of [`FabricFigures`] in JSON.
pub const SCHEMA: &str = "hayase-fabrics-1";

/// Seeds of the throughput with failed cables, at most: two counts of loads each.
const FAILED_SEEDS: u32 = 5;
/// Pairs of nodes whose loads are counted for uniform traffic where the rule counts them one by one.
const MOST_PAIRS: u64 = 1_000_000_000;

/// What is asked.
#[derive(Clone, PartialEq, Debug)]
pub struct Questions {
    /// Where switches are, and which cables are optical.
    pub layout: Layout,
    /// Prices, where cost is asked for.
    pub prices: Option<Prices>,
    /// Random pairings for the effective bisection; 0 leaves it out.
    pub pairings: u32,
    /// Random orders in which cables fail; 0 leaves it out.
    pub failures: u32,
    /// The part of the cables between switches that fails, for the throughput of what is left; 0 leaves it out.
    pub failed: f64,
    /// Messages that each node sends in a simulation of uniform random traffic; 0 leaves it out.
    pub simulated: u32,
    /// Seed of all that is drawn.
    pub seed: u64,
}

/// The figures of a fabric. What is not known is left out, and `notes` says why.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FabricFigures {
    /// What it was called by.
    pub name: String,
    /// What it is.
    pub fabric: String,
    /// The routing rule.
    pub routing: String,
    /// Nodes.
    pub nodes: u32,
    /// Switches.
    pub switches: u32,
    /// Ports in use of the switch that has most; of nodes, where they are their own switches.
    pub radix: u32,
    /// Cables.
    pub cables: Cables,
    /// What it costs by the list of prices.
    pub cost: Option<Cost>,
    /// Links between the nodes furthest apart.
    #[serde(rename = "diameter_links")]
    pub diameter: Option<u32>,
    /// Links between two nodes on average.
    #[serde(rename = "mean_distance_links")]
    pub mean_distance: Option<f64>,
    /// Whether that is of all nodes to some, not to all.
    pub mean_distance_is_sampled: bool,
    /// What the cut in two halves carries each way \[B/s\].
    pub bisection_bps: Option<f64>,
    /// The same over what the nodes of a half can send.
    pub bisection: Option<f64>,
    /// True if no other halves carry less, by a closed form; else some may.
    pub bisection_is_least: Option<bool>,
    /// The part of its bandwidth that every node can use under uniform traffic, by counting loads.
    #[serde(rename = "uniform_throughput")]
    pub uniform: Option<f64>,
    /// The same under traffic against the fabric.
    #[serde(rename = "adversarial_throughput")]
    pub adversarial: Option<f64>,
    /// Which traffic that is.
    pub adversary: String,
    /// What pairs of a random half with the other have, the mean over pairs.
    pub effective_bisection: Option<Spread>,
    /// How many cables may fail.
    pub resilience: Option<Resilience>,
    /// Uniform throughput with failed cables over that without, all shortest paths used alike in both.
    pub with_failed: Option<Spread>,
    /// The part of their bandwidth that nodes use in a simulation of uniform random messages.
    #[serde(rename = "simulated_throughput")]
    pub simulated: Option<f64>,
    /// What is missing, and why.
    pub notes: Vec<String>,
}

/// The figures of one fabric. `tell` hears what is worked out next.
///
/// # Errors
/// Mistakes of the simulation's scenario; what cannot be known of a fabric is none.
pub fn figures(
    name: &str,
    loader: &Loader,
    routed: &RoutedFabric,
    questions: &Questions,
    tell: &dyn Fn(&str),
) -> Result<FabricFigures, Invalid> {
    let fabric = &routed.fabric;
    let mut notes = Vec::new();
    tell("cables");
    let all = cables::cables(fabric);
    let cables = cables::count(fabric, &all, questions.layout);
    let ports = ports(fabric);
    let cost = questions.prices.as_ref().and_then(|prices| match prices.cost(&ports, &cables, fabric.nodes()) {
        Ok(cost) => Some(cost),
        Err(why) => {
            notes.push(format!("no cost: {why}"));
            None
        }
    });
    tell("distances");
    let distance = fabric.mean_distance();
    tell("bisection");
    let bisection = fabric.bisection();
    tell("uniform throughput");
    let router = &*routed.router;
    let pairs = u64::from(fabric.nodes()).pow(2);
    // Rules of trees and grids count pair by pair.
    let by_pairs = matches!(
        routed.routing,
        RoutingSpec::DModK(_) | RoutingSpec::SModK(_) | RoutingSpec::Hashed(_) | RoutingSpec::DimensionOrder(_)
    );
    let mut counted = |what: &str, traffic: &Traffic, seeds: u32| {
        if *traffic == Traffic::Uniform && by_pairs && pairs > MOST_PAIRS {
            notes.push(format!("no {what}: {} pairs of nodes are too many to count", pairs));
            return None;
        }
        let first = questions.seed;
        match throughput(fabric, router, traffic, first..first.saturating_add(u64::from(seeds))) {
            Ok(counted) => Some(counted),
            Err(diagnostic) => {
                notes.push(format!("no {what}: {}", diagnostic.message));
                None
            }
        }
    };
    let uniform = counted("uniform throughput", &Traffic::Uniform, 1).map(|counted| counted.throughput);
    tell("adversarial throughput");
    let (traffic, adversary) = adversary(fabric);
    let adversarial = counted("adversarial throughput", &traffic, 1).map(|counted| counted.throughput);
    tell("effective bisection");
    let effective_bisection = match questions.pairings {
        0 => None,
        count => counted("effective bisection", &Traffic::Bisection { both: false }, count)
            .map(|counted| Spread::new(counted.throughput, counted.deviation, counted.seeds)),
    };
    tell("failing cables");
    let seeds = questions.seed..questions.seed.saturating_add(questions.failures.into());
    let resilience = resilience::resilience(fabric, &all, seeds);
    let with_failed = if questions.failed > 0.0 { with_failed(fabric, &all, questions, &mut notes) } else { None };
    let simulated = match questions.simulated {
        0 => None,
        messages => {
            tell("simulation");
            simulated(loader, fabric, messages, questions.seed, &mut notes)?
        }
    };
    Ok(FabricFigures {
        name: name.to_owned(),
        fabric: fabric.to_string(),
        routing: routed.routing.name().to_owned(),
        nodes: fabric.nodes(),
        switches: fabric.switches(),
        radix: ports.iter().copied().max().unwrap_or(0),
        cables,
        cost,
        diameter: fabric.diameter(),
        mean_distance: distance.map(|MeanDistance { links, .. }| links),
        mean_distance_is_sampled: distance.is_some_and(|distance| distance.is_sampled),
        bisection_bps: bisection.map(|bisection| bisection.bandwidth.bytes_per_second()),
        bisection: fabric.oversubscription().map(|factor| 1.0 / factor),
        bisection_is_least: bisection.map(|bisection| bisection.is_least),
        uniform,
        adversarial,
        adversary,
        effective_bisection,
        resilience,
        with_failed,
        simulated,
        notes,
    })
}

/// By switch, the ports in use; by node, where there are no switches.
fn ports(fabric: &Fabric) -> Vec<u32> {
    let first = if fabric.switches() > 0 { fabric.nodes() as usize } else { 0 };
    let degree = |vertex: usize| {
        let edges = |direction| fabric.graph().edges_directed(NodeIndex::new(vertex), direction).count();
        edges(Outgoing).max(edges(Incoming)) as u32
    };
    (first..fabric.graph().node_count()).map(degree).collect()
}

/// The traffic against a fabric: of one with several groups every group to the next; of a grid tornado in its longest
/// dimension would be a special case of the worst permutation, which is taken for all others.
fn adversary(fabric: &Fabric) -> (Traffic, String) {
    let several = fabric.groups().is_some_and(|groups| groups.iter().any(|&group| group > 0));
    let has_nodes = |of: &[u32]| of.iter().any(|&group| group != of[0]);
    match several && fabric.family_as::<Grid>().is_none() && has_nodes(&crate::steady::groups_of_nodes(fabric)) {
        true => (Traffic::Adversarial(1), "each group to the next".to_owned()),
        false => (Traffic::WorstCase, "worst permutation found".to_owned()),
    }
}

/// What failed cables leave of the uniform throughput.
fn with_failed(
    fabric: &Arc<Fabric>,
    all: &[cables::Cable],
    questions: &Questions,
    notes: &mut Vec<String>,
) -> Option<Spread> {
    let inside = resilience::between_switches(fabric, all);
    let count = (questions.failed * inside.len() as f64).round() as usize;
    let on = |fabric: Arc<Fabric>| {
        let router = RoutingSpec::Spray(SpraySpec::default()).build(&fabric, questions.seed).ok()?;
        throughput(&fabric, &*router, &Traffic::Uniform, [questions.seed]).ok().map(|counted| counted.throughput)
    };
    let whole = on(Arc::new(resilience::without(fabric, &[])))?;
    let mut parts = Vec::new();
    for seed in (questions.seed..).take(questions.failures.clamp(1, FAILED_SEEDS) as usize) {
        let failed = &resilience::failing(&inside, seed)[..count.min(inside.len())];
        match on(Arc::new(resilience::without(fabric, failed))) {
            Some(left) => parts.push(left / whole),
            None => notes.push(format!("with seed {seed} the failed cables part nodes from others")),
        }
    }
    (!parts.is_empty()).then(|| Spread::of(&parts))
}

/// Messages of a simulation \[B\].
pub const SIMULATED_SIZE: &str = "1 MB";
/// How many of its messages a node has under way in a simulation.
pub const SIMULATED_WINDOW: u32 = 4;

/// Every node sends so many messages to random others, some at a time: what arrives while the middle half of all
/// messages does, so that neither the start nor the last stragglers count, over what nodes could send in that time.
fn simulated(
    loader: &Loader,
    fabric: &Fabric,
    messages: u32,
    seed: u64,
    notes: &mut Vec<String>,
) -> Result<Option<f64>, Invalid> {
    let text = format!(
        "[workload.uniform-random]\nmessages = {messages}\nsize = \"{SIMULATED_SIZE}\"\ninjection = \"window={SIMULATED_WINDOW}\"\n"
    );
    let scenario = loader.clone().text("the simulation of uniform traffic", text).seed(seed).load()?;
    let Work::Pattern(_) = scenario.work() else { return Ok(None) };
    let mut ends = Vec::new();
    let mut note = |message: &MessageRecord| ends.push(message.end_s);
    let options = RunOptions { on_message: Some(&mut note), ..RunOptions::default() };
    let summary = scenario.run(options).summary();
    let sends: f64 = fabric
        .node_ids()
        .flat_map(|node| fabric.graph().edges(NodeIndex::new(node.0 as usize)))
        .map(|edge| fabric.link(*edge.weight()).capacity.bytes_per_second())
        .sum();
    ends.sort_by(f64::total_cmp);
    let (first, last) = (ends.len() / 4, ends.len() * 3 / 4);
    let time = if last > first { ends[last] - ends[first] } else { 0.0 };
    if time <= 0.0 || sends <= 0.0 {
        notes.push("no simulation: too few messages arrive one after another".to_owned());
        return Ok(None);
    }
    let bytes = summary.bytes as f64 * (last - first) as f64 / ends.len() as f64;
    Ok(Some(bytes / time / sends))
}

//! Figures of fabrics side by side.
//!
//! All except the simulated throughput are counted on the graph or from loads, so that fabrics of 40,000
//! nodes take seconds.

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

/// Version of the JSON format of [`FabricFigures`].
pub const SCHEMA: &str = "hayase-fabrics-1";

/// Largest number of seeds of the throughput with failed cables; each takes two counts of loads.
const FAILED_SEEDS: u32 = 5;
/// Largest number of pairs of nodes for uniform traffic, if the routing rule counts loads pair by pair.
const MOST_PAIRS: u64 = 1_000_000_000;

/// Figures that are asked for.
#[derive(Clone, PartialEq, Debug)]
pub struct Questions {
    /// Layout of racks, and the rule for optical cables.
    pub layout: Layout,
    /// Prices, if the cost is asked for.
    pub prices: Option<Prices>,
    /// Number of random pairings for the effective bisection; 0 leaves it out.
    pub pairings: u32,
    /// Number of random orders in which cables fail; 0 leaves the resilience out.
    pub failures: u32,
    /// Part of the cables between switches that fails, for the throughput with failed cables; 0 leaves it
    /// out.
    pub failed: f64,
    /// Number of messages that each node sends in a simulation of uniform random traffic; 0 leaves it out.
    pub simulated: u32,
    /// Seed of all random values.
    pub seed: u64,
}

/// Figures of a fabric. Unknown figures are left out, and `notes` gives the reasons.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FabricFigures {
    /// Name by which the user called the fabric.
    pub name: String,
    /// Description of the fabric.
    pub fabric: String,
    /// Routing rule.
    pub routing: String,
    /// Number of nodes.
    pub nodes: u32,
    /// Number of switches.
    pub switches: u32,
    /// Largest number of ports in use of a switch, or of a node if nodes are their own switches.
    pub radix: u32,
    /// Cables.
    pub cables: Cables,
    /// Cost by the list of prices.
    pub cost: Option<Cost>,
    /// Number of links between the nodes furthest apart.
    #[serde(rename = "diameter_links")]
    pub diameter: Option<u32>,
    /// Mean number of links between two nodes.
    #[serde(rename = "mean_distance_links")]
    pub mean_distance: Option<f64>,
    /// True if the mean distance is sampled: from some nodes instead of from all.
    pub mean_distance_is_sampled: bool,
    /// Bandwidth of the cut into two halves, each way \[B/s\].
    pub bisection_bps: Option<f64>,
    /// Bandwidth of the cut over the bandwidth of the nodes of one half.
    pub bisection: Option<f64>,
    /// True if a closed form shows that no other cut into halves has less bandwidth; otherwise one may.
    pub bisection_is_least: Option<bool>,
    /// Part of its bandwidth that every node can use under uniform traffic, from loads.
    #[serde(rename = "uniform_throughput")]
    pub uniform: Option<f64>,
    /// The same part under adversarial traffic.
    #[serde(rename = "adversarial_throughput")]
    pub adversarial: Option<f64>,
    /// Name of the adversarial traffic.
    pub adversary: String,
    /// Part of the bandwidth under random pairings of one half with the other, mean over pairs.
    pub effective_bisection: Option<Spread>,
    /// Part of the cables that may fail.
    pub resilience: Option<Resilience>,
    /// Uniform throughput with failed cables over the throughput without failures. Both use all shortest
    /// paths evenly.
    pub with_failed: Option<Spread>,
    /// Part of their bandwidth that nodes use in a simulation of uniform random messages.
    #[serde(rename = "simulated_throughput")]
    pub simulated: Option<f64>,
    /// Missing figures, with the reasons.
    pub notes: Vec<String>,
}

/// Computes the figures of one fabric. Calls `tell` with the name of each figure before it is computed.
///
/// # Errors
/// Mistakes of the simulation's scenario. A figure that cannot be known is not an error.
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
    // Routing rules of trees and grids count loads pair by pair.
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

/// Returns the number of ports in use of each switch, or of each node if there are no switches.
fn ports(fabric: &Fabric) -> Vec<u32> {
    let first = if fabric.switches() > 0 { fabric.nodes() as usize } else { 0 };
    let degree = |vertex: usize| {
        let edges = |direction| fabric.graph().edges_directed(NodeIndex::new(vertex), direction).count();
        edges(Outgoing).max(edges(Incoming)) as u32
    };
    (first..fabric.graph().node_count()).map(degree).collect()
}

/// Returns the adversarial traffic of a fabric and its name: each group to the next if there are several
/// groups, otherwise the worst permutation found. Tornado traffic on a grid is a special case of the worst
/// permutation.
fn adversary(fabric: &Fabric) -> (Traffic, String) {
    let several = fabric.groups().is_some_and(|groups| groups.iter().any(|&group| group > 0));
    let has_nodes = |of: &[u32]| of.iter().any(|&group| group != of[0]);
    match several && fabric.family_as::<Grid>().is_none() && has_nodes(&crate::steady::groups_of_nodes(fabric)) {
        true => (Traffic::Adversarial(1), "each group to the next".to_owned()),
        false => (Traffic::WorstCase, "worst permutation found".to_owned()),
    }
}

/// Computes the part of the uniform throughput that failed cables leave.
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

/// Size of the messages of a simulation \[B\].
pub const SIMULATED_SIZE: &str = "1 MB";
/// Number of messages that a node has under way in a simulation.
pub const SIMULATED_WINDOW: u32 = 4;

/// Simulates uniform traffic: every node sends `messages` messages to random other nodes, several at a time.
///
/// The result is the part of the nodes' bandwidth that arrives while the middle half of all messages arrives,
/// so that neither the start nor the last stragglers count.
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

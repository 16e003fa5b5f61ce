//! System on which work runs: network, nodes, collectives, seed.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};

use super::symmetry::Symmetry;
use super::target::Target;
use crate::diagnostic::{Diagnostic, Located, Sources};
use crate::faults::{Faults, FaultsSpec};
use crate::ids::NodeId;
use crate::network::{Network, NetworkParts};
use crate::node::NodeSpec;
use crate::noise::{NoiseContext, NoiseSpec, NoiseTables, Slow, StragglerSpec};
use crate::placement::{Joint, PlacementSpec};
use crate::program::collectives::CollectivesSpec;
use crate::reading::nulls::drop_nulls;
use crate::routing::RoutingSpec;
use crate::sharing::SharingSpec;
use crate::system::WorkloadSpec;
use crate::topology::TopologySpec;
use crate::transport::TransportSpec;
use crate::units::Time;

/// System on which work runs.
///
/// It has a network with ranks on it, or none if the nodes' own latencies and gaps describe it all. It also
/// has the costs of a message at its ends, the algorithms of collectives, and the seed of everything random.
///
/// It is immutable. Another seed, placement or node model makes another system from it.
#[derive(Clone, Debug)]
pub struct System {
    network: Option<Network>,
    written: Specifications,
    node: NodeSpec,
    collectives: CollectivesSpec,
    seed: u64,
    own_links: Option<String>,
    noise: NoiseTables,
    estimate: Option<Target>,
    optimum: Option<Target>,
    symmetry: Symmetry,
}

/// Specifications of a network that was built from them; empty for a network that was built in code. Reports
/// contain them, and everything random is drawn again from them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Specifications {
    pub topology: Option<TopologySpec>,
    pub routing: Option<RoutingSpec>,
    pub placement: Option<PlacementSpec>,
    /// Largest number of ranks on a node; 0 is taken as 1.
    pub per_node: u32,
    /// Placements of several jobs, in place of `placement`.
    pub joint: Option<Joint>,
    pub faults: Option<FaultsSpec>,
    /// Files in memory. Those that the scenario names are written with it.
    pub files: Vec<(Arc<str>, Arc<[u8]>)>,
}

/// Tables of a scenario to be written. Null tables are removed afterwards.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct ScenarioFile<'a> {
    seed: u64,
    ranks_per_node: Option<u32>,
    resolution: Option<Time>,
    symmetry: Option<Symmetry>,
    topology: Option<&'a TopologySpec>,
    routing: Option<&'a RoutingSpec>,
    placement: Option<&'a PlacementSpec>,
    sharing: Option<&'a SharingSpec>,
    transport: Option<&'a TransportSpec>,
    node: Option<&'a NodeSpec>,
    collectives: Option<&'a CollectivesSpec>,
    faults: Option<&'a FaultsSpec>,
    workload: Option<&'a WorkloadSpec>,
    noise: Option<&'a NoiseSpec>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    straggler: &'a [Located<StragglerSpec>],
    estimate: Option<Target>,
    optimum: Option<Target>,
}

impl Default for System {
    /// Creates a system without a network, with nodes that cost nothing, collectives as MPICH chooses, and
    /// seed 1.
    fn default() -> Self {
        Self {
            network: None,
            written: Specifications::default(),
            node: NodeSpec::default(),
            collectives: CollectivesSpec::default(),
            seed: Self::SEED,
            own_links: None,
            noise: NoiseTables::default(),
            estimate: None,
            optimum: None,
            symmetry: Symmetry::default(),
        }
    }
}

impl System {
    /// Default seed.
    pub const SEED: u64 = 1;

    /// Creates a system of this network, with nodes that cost nothing, collectives as MPICH chooses, and seed
    /// 1.
    pub fn new(network: Network) -> Self {
        Self { network: Some(network), ..Self::default() }
    }

    /// Creates a system of a network that was built from specifications, with this seed.
    pub(crate) fn built(network: Option<Network>, written: Specifications, seed: u64) -> Self {
        Self { network, written, seed, ..Self::default() }
    }

    /// Returns the same system with these costs of nodes.
    ///
    /// # Errors
    /// A node model that is a network of its own, if there is a network already.
    pub fn with_node(self, node: NodeSpec) -> Result<Self, Diagnostic> {
        if node.facts().is_network && self.network.is_some() {
            return Err(network_of_its_own(&node));
        }
        Ok(Self { node, ..self })
    }

    /// Returns the same system with these algorithms of collectives.
    #[must_use]
    pub fn with_collectives(self, collectives: CollectivesSpec) -> Self {
        Self { collectives, ..self }
    }

    /// Returns the same system with this choice of the ranks that are played.
    #[must_use]
    pub fn with_symmetry(self, symmetry: Symmetry) -> Self {
        Self { symmetry, ..self }
    }

    /// Rule by which ranks that do the same are played once.
    pub fn symmetry(&self) -> Symmetry {
        self.symmetry
    }

    /// Returns the same system with these tables of slow processors.
    #[must_use]
    pub fn with_noise(self, noise: NoiseTables) -> Self {
        Self { noise, ..self }
    }

    /// Returns the same system with this relative precision of the makespan.
    #[must_use]
    pub fn with_estimate(self, estimate: Option<Target>) -> Self {
        Self { estimate, ..self }
    }

    /// Returns the precision asked for the makespan; `None` for an exact makespan.
    pub fn estimate(&self) -> Option<Target> {
        self.estimate
    }

    /// Returns the same system with this largest gap of the best possible time.
    #[must_use]
    pub fn with_optimum(self, optimum: Option<Target>) -> Self {
        Self { optimum, ..self }
    }

    /// Returns the largest gap between the bounds of the best possible time, if that time is asked for.
    pub fn optimum(&self) -> Option<Target> {
        self.optimum
    }

    /// Returns the tables of slow processors.
    pub fn noise(&self) -> &NoiseTables {
        &self.noise
    }

    /// Returns the slow ones among `ranks` ranks. `jobs` has the names and numbers of ranks of several jobs.
    ///
    /// # Errors
    /// Mistakes in the tables for these ranks.
    pub fn slow(&self, ranks: u32, jobs: &[(&str, u32)]) -> Result<Option<Slow>, Vec<Diagnostic>> {
        if self.noise.is_empty() {
            return Ok(None);
        }
        let nodes: Option<(u32, Vec<u32>)> = self
            .network
            .as_ref()
            .map(|network| (network.fabric.nodes(), network.placement.iter().map(|node| node.0).collect()));
        let nodes = nodes.as_ref().map(|(all, on)| (*all, on.as_slice()));
        let ground = NoiseContext { ranks, nodes, jobs, seed: self.seed };
        Slow::new(self.noise.noise.as_ref(), &self.noise.stragglers, &ground)
    }

    /// Sets the comparison of the fabric's own links with those of the machine, in words.
    pub(crate) fn with_link_comparison(self, own_links: Option<String>) -> Self {
        Self { own_links, ..self }
    }

    /// Takes fabric and routes from another network that has the same.
    pub(crate) fn share_network(&mut self, known: &Network) {
        if let Some(network) = &mut self.network {
            let (fabric, router, faults) = (known.fabric.clone(), known.router.clone(), known.faults.clone());
            *network = NetworkParts { fabric, router, faults, ..network.parts() }.unchecked();
        }
    }

    /// Returns the same system on ideal nodes and without a network. Messages arrive when they are sent, so
    /// that only computation and dependences remain.
    #[must_use]
    pub fn without_network(&self) -> Self {
        let (collectives, seed, noise) = (self.collectives.clone(), self.seed, self.noise.clone());
        Self { collectives, seed, noise, ..Self::default() }
    }

    /// Returns the same fabric, routes and places, for work with a seed of its own.
    pub(crate) fn seeded(&self, seed: u64) -> Self {
        Self { seed, ..self.clone() }
    }

    /// Returns the same system with ranks on these nodes. Returns `None` if there is no network, a node does
    /// not exist or has two ranks, or the number of ranks differs.
    #[must_use]
    pub fn with_nodes(&self, nodes: &[u32]) -> Option<Self> {
        let mut system = self.clone();
        let network = system.network.as_mut()?;
        let mut taken = vec![false; network.fabric.nodes() as usize];
        let free = |&node: &u32| taken.get_mut(node as usize).is_some_and(|taken| !std::mem::replace(taken, true));
        if nodes.len() != network.placement.len() || !nodes.iter().all(free) {
            return None;
        }
        *network = network.with_placement(nodes.iter().map(|&node| NodeId(node)).collect::<Vec<_>>().into());
        // The written placement no longer applies; another seed must not draw it again.
        system.written.placement = None;
        Some(system)
    }

    /// Returns the same system with another seed: random routes and placements are drawn again.
    ///
    /// # Errors
    /// A network that cannot be built with this seed.
    pub fn with_seed(&self, seed: u64, sources: &mut Sources) -> Result<Self, Vec<Diagnostic>> {
        let mut system = Self { seed, ..self.clone() };
        let Some(network) = &mut system.network else { return Ok(system) };
        let Specifications { routing, faults, .. } = &self.written;
        let routes_differ = routing.as_ref().is_some_and(RoutingSpec::depends_on_seed);
        let faults_differ = faults.as_ref().is_some_and(FaultsSpec::depends_on_seed);
        if let (Some(routing), true) = (routing, routes_differ || faults_differ) {
            if network.faults.is_some() {
                let spec = faults.clone().unwrap_or_default();
                let own = routing.build_from(network.whole(), seed, sources)?;
                let faults = Faults::build(&spec, network.whole(), (routing, &own), seed)?;
                *network = network.parts().with_faults(Arc::new(faults)).unchecked();
            } else {
                let router = routing.build_from(&network.fabric, seed, sources)?;
                *network = NetworkParts { router, ..network.parts() }.unchecked();
            }
        }
        if let Some(placement) = self.written.placement.as_ref().filter(|placement| placement.depends_on_seed()) {
            let ranks = (network.placement.len() as u32, self.written.per_node.max(1));
            *network = network.with_placement(placement.build(ranks, &network.fabric, seed, sources)?);
        }
        if let Some(joint) = self.written.joint.as_ref().filter(|joint| joint.depends_on_seed()) {
            *network = network.with_placement(joint.build(&network.fabric, seed, sources)?);
        }
        Ok(system)
    }

    /// True if another seed gives other routes or places.
    pub fn depends_on_seed(&self) -> bool {
        self.written.routing.as_ref().is_some_and(RoutingSpec::depends_on_seed)
            || self.written.placement.as_ref().is_some_and(PlacementSpec::depends_on_seed)
            || self.written.joint.as_ref().is_some_and(Joint::depends_on_seed)
            || self.written.faults.as_ref().is_some_and(FaultsSpec::depends_on_seed)
            || self.noise.depends_on_seed()
    }

    /// Returns the network with the ranks on it, if there is one.
    pub fn network(&self) -> Option<&Network> {
        self.network.as_ref()
    }

    /// Returns the costs of a message at its ends.
    pub fn node(&self) -> &NodeSpec {
        &self.node
    }

    /// Returns the algorithms of collectives.
    pub fn collectives(&self) -> &CollectivesSpec {
        &self.collectives
    }

    /// Seed of everything random.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns a comparison, in words, of the fabric's own links with those of the machine, if it keeps its own.
    pub fn own_links(&self) -> Option<&str> {
        self.own_links.as_deref()
    }

    /// Returns a note if only the first of parallel links of different bandwidth is used, because messages
    /// take one shortest path.
    pub fn idle_links(&self) -> Option<String> {
        let fabric = &self.network()?.fabric;
        if self.routing().map_or(fabric.family().default_routing(), RoutingSpec::name) != "shortest-path" {
            return None;
        }
        let mut by_ends: Vec<_> =
            fabric.links().iter_ids().filter_map(|(id, link)| Some((link.ends?, id, link.capacity))).collect();
        by_ends.retain(|&(_, id, _)| !fabric.has_failed(id));
        by_ends.sort_unstable_by_key(|&(ends, id, _)| (ends, id));
        let mut parallel = by_ends.chunk_by(|a, b| a.0 == b.0);
        let links = parallel.find(|links| links.iter().any(|link| link.2 != links[0].2))?;
        let (from, to) = links[0].0;
        let others: Vec<String> = links[1..].iter().map(|link| link.2.to_string()).collect();
        Some(format!(
            "{} parallel links lead from {} to {}, and `shortest-path` uses the first alone ({}; idle: {}); `--routing ecmp` \
             or `spray` uses all of them alike",
            links.len(),
            fabric.vertex_name(from),
            fabric.vertex_name(to),
            links[0].2,
            others.join(", ")
        ))
    }

    /// Returns the specification of the topology.
    pub fn topology(&self) -> Option<&TopologySpec> {
        self.written.topology.as_ref()
    }

    /// Returns the specification of the routes.
    pub fn routing(&self) -> Option<&RoutingSpec> {
        self.written.routing.as_ref()
    }

    /// Returns the specification of the placement.
    pub fn placement(&self) -> Option<&PlacementSpec> {
        self.written.placement.as_ref()
    }

    /// Returns the placements of several jobs.
    pub fn joint(&self) -> Option<&Joint> {
        self.written.joint.as_ref()
    }

    /// Returns the specification of faults.
    pub fn faults(&self) -> Option<&FaultsSpec> {
        self.written.faults.as_ref()
    }

    /// Returns the description of the network that is shown to users: `fat-tree p=4 (...), max-min`.
    pub fn network_name(&self) -> String {
        match &self.network {
            Some(network) => format!("{}, {}", network.fabric, network.moved_by()),
            None => self.node.facts().network.to_owned(),
        }
    }

    /// Returns the scenario of this work on the system, with all defaults filled in. For a program the node
    /// model and collectives are included even if they are the defaults.
    pub fn to_json(&self, workload: Option<&WorkloadSpec>, of_program: bool) -> Value {
        let network = self.network.as_ref();
        let file = ScenarioFile {
            seed: self.seed,
            ranks_per_node: Some(self.written.per_node).filter(|&per_node| per_node > 1),
            resolution: network.map(|network| network.resolution).filter(|resolution| *resolution > Time::ZERO),
            symmetry: Some(self.symmetry).filter(|symmetry| !symmetry.is_auto()),
            topology: self.written.topology.as_ref(),
            routing: self.written.routing.as_ref(),
            placement: self.written.placement.as_ref(),
            sharing: network.map(|network| &network.sharing),
            transport: network.map(|network| &network.transport).filter(|transport| !transport.is_default()),
            node: Some(&self.node).filter(|node| of_program || !node.facts().is_ideal),
            collectives: Some(&self.collectives).filter(|_| of_program),
            faults: self.written.faults.as_ref().filter(|faults| !faults.is_nothing()),
            workload,
            noise: self.noise.noise.as_ref(),
            straggler: &self.noise.stragglers,
            estimate: self.estimate,
            optimum: self.optimum,
        };
        let mut value = serde_json::to_value(file).unwrap_or_default();
        drop_nulls(&mut value);
        if let Some(packet) = value.pointer_mut("/transport/packet").and_then(Value::as_object_mut)
            && packet.contains_key("packets-per-message")
        {
            // A packet size beside it would be refused.
            packet.remove("packet-size");
        }
        self.enclose_files(&mut value);
        value
    }

    /// Adds the files in memory that a scenario names to it, under its key `files`, since their names mean
    /// nothing elsewhere.
    pub(crate) fn enclose_files(&self, scenario: &mut Value) {
        let named = self.written.files.iter().filter(|(name, _)| contains_text(scenario, name));
        let texts = named.filter_map(|(name, content)| Some((name.to_string(), str::from_utf8(content).ok()?.into())));
        let texts: Map<String, Value> = texts.collect();
        if !texts.is_empty()
            && let Some(tables) = scenario.as_object_mut()
        {
            tables.insert("files".to_owned(), texts.into());
        }
    }
}

/// True if this text is among the values.
fn contains_text(value: &Value, text: &str) -> bool {
    match value {
        Value::String(own) => own == text,
        Value::Array(items) => items.iter().any(|item| contains_text(item, text)),
        Value::Object(map) => map.values().any(|value| contains_text(value, text)),
        _ => false,
    }
}

/// Returns the error for a fabric beside a node model that is a network.
pub(crate) fn network_of_its_own(node: &NodeSpec) -> Diagnostic {
    let message = format!("the node model `{}` is a network of its own", node.name());
    let help = "leave the topology out, or choose another model (--node loggps)";
    Diagnostic::new("wrong-choice", message).help(help)
}

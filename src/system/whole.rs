//! All that work runs on: network, nodes, collectives, seed.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};

use super::target::Target;
use crate::diagnostic::{Diagnostic, Located, Sources};
use crate::faults::{Faults, FaultsSpec};
use crate::ids::NodeId;
use crate::network::{Network, NetworkParts};
use crate::node::NodeSpec;
use crate::noise::{Ground, NoiseSpec, NoiseTables, Slow, StragglerSpec};
use crate::placement::{Joint, PlacementSpec};
use crate::program::collectives::CollectivesSpec;
use crate::reading::nulls::drop_nulls;
use crate::routing::RoutingSpec;
use crate::sharing::SharingSpec;
use crate::system::WorkloadSpec;
use crate::topology::TopologySpec;
use crate::transport::TransportSpec;
use crate::units::Time;

/// What work runs on: a network with ranks on it, or none where the nodes' own latencies and gaps are all there is;
/// what a message costs at its ends; how collectives are done; and the seed of everything random.
///
/// It does not change: another system is made from it, with another seed, placement or node model.
#[derive(Clone, Debug)]
pub struct System {
    network: Option<Network>,
    written: Written,
    node: NodeSpec,
    collectives: CollectivesSpec,
    seed: u64,
    own_links: Option<String>,
    noise: NoiseTables,
    estimate: Option<Target>,
}

/// What was written of a network that was built from specifications: reports hold it, and what is random in it is drawn
/// again from it. A network that was put together in code has nothing of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Written {
    pub topology: Option<TopologySpec>,
    pub routing: Option<RoutingSpec>,
    pub placement: Option<PlacementSpec>,
    /// Of several jobs, in the place of `placement`.
    pub joint: Option<Joint>,
    pub faults: Option<FaultsSpec>,
    /// Files in memory, of which those are written that the scenario names.
    pub files: Vec<(Arc<str>, Arc<[u8]>)>,
}

/// The tables of a scenario, to be written; those that are null are left out afterwards.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct File<'a> {
    seed: u64,
    resolution: Option<Time>,
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
}

impl Default for System {
    /// No network, nodes that cost nothing, collectives as MPICH chooses, seed 1.
    fn default() -> Self {
        Self {
            network: None,
            written: Written::default(),
            node: NodeSpec::default(),
            collectives: CollectivesSpec::default(),
            seed: Self::SEED,
            own_links: None,
            noise: NoiseTables::default(),
            estimate: None,
        }
    }
}

impl System {
    /// The seed where none is given.
    pub const SEED: u64 = 1;

    /// This network, with nodes that cost nothing, collectives as MPICH chooses, and seed 1.
    pub fn new(network: Network) -> Self {
        Self { network: Some(network), ..Self::default() }
    }

    /// A network that was built from specifications, with this seed.
    pub(crate) fn built(network: Option<Network>, written: Written, seed: u64) -> Self {
        Self { network, written, seed, ..Self::default() }
    }

    /// The same with nodes that cost this.
    ///
    /// # Errors
    /// A node model that is a network of its own, where there is a network already.
    pub fn with_node(self, node: NodeSpec) -> Result<Self, Diagnostic> {
        if node.facts().is_network && self.network.is_some() {
            return Err(network_of_its_own(&node));
        }
        Ok(Self { node, ..self })
    }

    /// The same with collectives done in this way.
    #[must_use]
    pub fn with_collectives(self, collectives: CollectivesSpec) -> Self {
        Self { collectives, ..self }
    }

    /// The same where these tables say which processors are slow.
    #[must_use]
    pub fn with_noise(self, noise: NoiseTables) -> Self {
        Self { noise, ..self }
    }

    /// The same where the makespan is wanted to within this part of it, and no better.
    #[must_use]
    pub fn with_estimate(self, estimate: Option<Target>) -> Self {
        Self { estimate, ..self }
    }

    /// How well the makespan is to be known; exactly where nothing is said.
    pub fn estimate(&self) -> Option<Target> {
        self.estimate
    }

    /// What is written of slow processors.
    pub fn noise(&self) -> &NoiseTables {
        &self.noise
    }

    /// Which of so many ranks are slow, and how; of several jobs these are their names and numbers of ranks.
    ///
    /// # Errors
    /// What is wrong with the tables for these ranks.
    pub fn slow(&self, ranks: u32, jobs: &[(&str, u32)]) -> Result<Option<Slow>, Vec<Diagnostic>> {
        if self.noise.is_empty() {
            return Ok(None);
        }
        let nodes: Option<(u32, Vec<u32>)> = self
            .network
            .as_ref()
            .map(|network| (network.fabric.nodes(), network.placement.iter().map(|node| node.0).collect()));
        let nodes = nodes.as_ref().map(|(all, on)| (*all, on.as_slice()));
        let ground = Ground { ranks, nodes, jobs, seed: self.seed };
        Slow::new(self.noise.noise.as_ref(), &self.noise.stragglers, &ground)
    }

    /// Says how the links that the fabric brings along compare with those of the machine.
    pub(crate) fn comparing_links(self, own_links: Option<String>) -> Self {
        Self { own_links, ..self }
    }

    /// Takes fabric and routes from another network that has the same.
    pub(crate) fn share_network(&mut self, known: &Network) {
        if let Some(network) = &mut self.network {
            let (fabric, router, faults) = (known.fabric.clone(), known.router.clone(), known.faults.clone());
            *network = NetworkParts { fabric, router, faults, ..network.parts() }.unchecked();
        }
    }

    /// The same on ideal nodes and no network: messages arrive when they are sent, so that computation and dependences
    /// are left.
    #[must_use]
    pub fn without_network(&self) -> Self {
        let (collectives, seed, noise) = (self.collectives.clone(), self.seed, self.noise.clone());
        Self { collectives, seed, noise, ..Self::default() }
    }

    /// The same fabric, routes and places, for work with a seed of its own.
    pub(crate) fn seeded(&self, seed: u64) -> Self {
        Self { seed, ..self.clone() }
    }

    /// The same with ranks on these nodes; `None` if there is no network, a node is not there or has two ranks, or the
    /// ranks are not so many.
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
        // What was written of the placement says where ranks were; another seed must not draw it again.
        system.written.placement = None;
        Some(system)
    }

    /// The same with another seed: random routes and placements are drawn again.
    ///
    /// # Errors
    /// What cannot be built with this seed.
    pub fn with_seed(&self, seed: u64, sources: &mut Sources) -> Result<Self, Vec<Diagnostic>> {
        let mut system = Self { seed, ..self.clone() };
        let Some(network) = &mut system.network else { return Ok(system) };
        let Written { routing, faults, .. } = &self.written;
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
            let ranks = network.placement.len() as u32;
            *network = network.with_placement(placement.build(ranks, &network.fabric, seed, sources)?);
        }
        if let Some(joint) = self.written.joint.as_ref().filter(|joint| joint.depends_on_seed()) {
            *network = network.with_placement(joint.build(&network.fabric, seed, sources)?);
        }
        Ok(system)
    }

    /// Whether another seed gives other routes or places.
    pub fn depends_on_seed(&self) -> bool {
        self.written.routing.as_ref().is_some_and(RoutingSpec::depends_on_seed)
            || self.written.placement.as_ref().is_some_and(PlacementSpec::depends_on_seed)
            || self.written.joint.as_ref().is_some_and(Joint::depends_on_seed)
            || self.written.faults.as_ref().is_some_and(FaultsSpec::depends_on_seed)
            || self.noise.depends_on_seed()
    }

    /// The network with the ranks on it, if there is one.
    pub fn network(&self) -> Option<&Network> {
        self.network.as_ref()
    }

    /// What a message costs at its ends.
    pub fn node(&self) -> &NodeSpec {
        &self.node
    }

    /// How collectives are done.
    pub fn collectives(&self) -> &CollectivesSpec {
        &self.collectives
    }

    /// The seed of everything random.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// How the links that the fabric brings along compare with those of the machine, where it does not take these.
    pub fn own_links(&self) -> Option<&str> {
        self.own_links.as_deref()
    }

    /// Says of parallel links of different bandwidth that only the first is used, where messages take one shortest
    /// path.
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

    /// What was written of the topology.
    pub fn topology(&self) -> Option<&TopologySpec> {
        self.written.topology.as_ref()
    }

    /// What was written of the routes.
    pub fn routing(&self) -> Option<&RoutingSpec> {
        self.written.routing.as_ref()
    }

    /// What was written of the placement.
    pub fn placement(&self) -> Option<&PlacementSpec> {
        self.written.placement.as_ref()
    }

    /// Of several jobs: where each is.
    pub fn joint(&self) -> Option<&Joint> {
        self.written.joint.as_ref()
    }

    /// What was written of faults.
    pub fn faults(&self) -> Option<&FaultsSpec> {
        self.written.faults.as_ref()
    }

    /// What carries messages, for people: `fat-tree p=4 (...), max-min`.
    pub fn network_name(&self) -> String {
        match &self.network {
            Some(network) => format!("{}, {}", network.fabric, network.moved_by()),
            None => self.node.facts().network.to_owned(),
        }
    }

    /// The scenario of this work on it, with every default put in; of a program, node model and collectives as well
    /// where they are the usual ones.
    pub fn to_json(&self, workload: Option<&WorkloadSpec>, of_program: bool) -> Value {
        let network = self.network.as_ref();
        let file = File {
            seed: self.seed,
            resolution: network.map(|network| network.resolution).filter(|resolution| *resolution > Time::ZERO),
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
        };
        let mut value = serde_json::to_value(file).unwrap_or_default();
        drop_nulls(&mut value);
        if let Some(packet) = value.pointer_mut("/transport/packet").and_then(Value::as_object_mut)
            && packet.contains_key("packets-per-message")
        {
            // A size beside it is refused.
            packet.remove("packet-size");
        }
        self.enclose_files(&mut value);
        value
    }

    /// Puts the files in memory that a scenario names into it, under its key `files`: a name means nothing to others.
    pub(crate) fn enclose_files(&self, scenario: &mut Value) {
        let named = self.written.files.iter().filter(|(name, _)| is_in(scenario, name));
        let texts = named.filter_map(|(name, content)| Some((name.to_string(), str::from_utf8(content).ok()?.into())));
        let texts: Map<String, Value> = texts.collect();
        if !texts.is_empty()
            && let Some(tables) = scenario.as_object_mut()
        {
            tables.insert("files".to_owned(), texts.into());
        }
    }
}

/// Returns true if this text is among the values.
fn is_in(value: &Value, text: &str) -> bool {
    match value {
        Value::String(own) => own == text,
        Value::Array(items) => items.iter().any(|item| is_in(item, text)),
        Value::Object(map) => map.values().any(|value| is_in(value, text)),
        _ => false,
    }
}

/// The mistake of a fabric beside a node model that is a network.
pub(crate) fn network_of_its_own(node: &NodeSpec) -> Diagnostic {
    let message = format!("the node model `{}` is a network of its own", node.name());
    let help = "leave the topology out, or choose another model (--node loggps)";
    Diagnostic::new("wrong-choice", message).help(help)
}

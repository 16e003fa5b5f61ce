//! Cost model: latency and bandwidth of each algorithm and protocol, and the choice for a size.

use super::constants::{Limits, base_latency, hop_between, hop_inside, tree_factor};
use super::kinds::{Algorithm, Architecture, Protocol};
use super::system::{Cpu, Graph, System, TreePattern};
use crate::diagnostic::Diagnostic;

/// Collective operation.
#[derive(Named, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Operation {
    /// All ranks get the sum of the vectors of all ranks.
    AllReduce,
    /// All ranks get the blocks of all ranks.
    AllGather,
    /// Each rank gets the sum of one block of all ranks.
    ReduceScatter,
    /// All ranks get the vector of one rank.
    Broadcast,
    /// One rank gets the sum of the vectors of all ranks.
    Reduce,
}

/// Latency and bandwidth of an algorithm with a protocol.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Entry {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The protocol.
    pub protocol: Protocol,
    /// Time of an empty operation \[us\].
    pub latency_us: f64,
    /// Size by time, of long operations \[GB/s\].
    pub bandwidth_gbps: f64,
}

/// Algorithm and protocol with the time of the model.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Choice {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The protocol.
    pub protocol: Protocol,
    /// Time of the model \[us\].
    pub time_us: f64,
}

/// Table of an operation on a number of ranks and nodes.
#[derive(Clone, Debug)]
pub struct Tuning<'a> {
    system: &'a System,
    operation: Operation,
    ranks: u32,
    nodes: u32,
    entries: Vec<Entry>,
}

/// Largest number of ranks.
const MOST_RANKS: u32 = 1 << 24;

impl<'a> Tuning<'a> {
    /// Computes the table of an operation of `ranks` on `nodes`, with as many ranks on each.
    ///
    /// # Errors
    /// Fewer than two ranks, ranks that nodes do not divide, or a system without a graph for the operation.
    pub fn new(system: &'a System, operation: Operation, ranks: u32, nodes: u32) -> Result<Self, Diagnostic> {
        let wrong = |message: String, help: &str| Err(Diagnostic::new("wrong-value", message).help(help));
        if !(2..=MOST_RANKS).contains(&ranks) {
            return wrong(format!("{ranks} ranks have no collective"), "write 2 to 16777216 ranks");
        }
        if nodes == 0 || !ranks.is_multiple_of(nodes) {
            let message = format!("{ranks} ranks cannot be spread evenly over {nodes} nodes");
            return wrong(message, "write a number of nodes that divides the ranks");
        }
        let mut tuning = Self { system, operation, ranks, nodes, entries: Vec::new() };
        let pairs =
            Algorithm::ALL.into_iter().flat_map(|algorithm| Protocol::ALL.map(|protocol| (algorithm, protocol)));
        tuning.entries = pairs.filter_map(|(algorithm, protocol)| tuning.compute(algorithm, protocol)).collect();
        if tuning.entries.is_empty() {
            let message = format!("the system has no graph for {} on {ranks} ranks", operation.name());
            return wrong(message, "give it a ring");
        }
        Ok(tuning)
    }

    /// Returns the system.
    pub fn system(&self) -> &'a System {
        self.system
    }

    /// Returns the operation, its ranks and its nodes.
    pub fn call(&self) -> (Operation, u32, u32) {
        (self.operation, self.ranks, self.nodes)
    }

    /// Returns all entries, in the order in which NCCL prefers them at equal times.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns the entry of an algorithm with a protocol, if the operation can take them.
    pub fn entry(&self, algorithm: Algorithm, protocol: Protocol) -> Option<&Entry> {
        self.entries.iter().find(|entry| (entry.algorithm, entry.protocol) == (algorithm, protocol))
    }

    /// Returns the time of an entry for a size: `latency + size / (1000 bandwidth)` \[us\].
    ///
    /// The size is what a rank sends or receives, the larger; for an all-gather and a reduce-scatter that of all
    /// blocks. Rings between nodes have a longer latency from 64 B for each channel and rank on, and trees a smaller
    /// bandwidth at medium sizes.
    pub fn time_us(&self, entry: &Entry, bytes: u64) -> f64 {
        let Entry { algorithm, protocol, mut latency_us, mut bandwidth_gbps } = *entry;
        let is_all_reduce = self.operation == Operation::AllReduce;
        let corrected = match algorithm {
            Algorithm::Tree => true,
            Algorithm::NvlsTree => self.architecture() == Architecture::Blackwell && self.system.cpu != Cpu::Arm,
            _ => false,
        };
        if is_all_reduce && corrected {
            bandwidth_gbps *= tree_factor(algorithm, protocol, bytes);
        }
        let parts = u64::from(*self.system.channels) * u64::from(self.ranks);
        let is_ring = (algorithm, protocol) == (Algorithm::Ring, Protocol::Simple);
        if is_all_reduce && is_ring && self.nodes > 1 && bytes / parts >= 64 {
            latency_us *= if self.architecture() == Architecture::Volta { 1.9 } else { 1.4 };
        }
        latency_us + bytes as f64 / (1000.0 * bandwidth_gbps)
    }

    /// Returns algorithms and protocols with their times for a size, the fastest first.
    pub fn ranking(&self, bytes: u64) -> Vec<Choice> {
        let choice = |entry: &Entry| {
            let Entry { algorithm, protocol, .. } = *entry;
            Choice { algorithm, protocol, time_us: self.time_us(entry, bytes) }
        };
        let mut ranking: Vec<Choice> = self.entries.iter().map(choice).collect();
        ranking.sort_by(|a, b| a.time_us.total_cmp(&b.time_us));
        ranking
    }

    fn architecture(&self) -> Architecture {
        self.system.architecture()
    }

    /// Returns the ranks of a node.
    fn on_node(&self) -> f64 {
        f64::from(self.ranks / self.nodes)
    }

    /// Returns the number of steps of a ring.
    fn steps(&self) -> f64 {
        let n = f64::from(self.ranks);
        match self.operation {
            Operation::AllReduce => 2.0 * (n - 1.0),
            Operation::AllGather | Operation::ReduceScatter => n - 1.0,
            Operation::Broadcast | Operation::Reduce => n,
        }
    }

    /// Returns true if the operation can take an algorithm with a protocol.
    fn may(&self, algorithm: Algorithm, protocol: Protocol) -> bool {
        use {Algorithm as A, Operation as O, Protocol as P};
        let (system, ranks_of_node) = (self.system, self.ranks / self.nodes);
        let parts = matches!(self.operation, O::AllGather | O::ReduceScatter);
        let of_operation = match self.operation {
            O::AllReduce => algorithm != A::Pat,
            O::AllGather | O::ReduceScatter => matches!(algorithm, A::Ring | A::Pat | A::CollnetDirect | A::Nvls),
            O::Broadcast | O::Reduce => algorithm == A::Ring,
        };
        let has_heads = !parts || system.collnet_heads.as_deref().is_none_or(|heads| *heads >= ranks_of_node);
        let network_reduces = system.collnet && self.nodes > 1 && has_heads;
        let of_system = match algorithm {
            A::Tree | A::Ring => true,
            A::CollnetDirect => network_reduces,
            A::CollnetChain => network_reduces,
            A::Nvls => self.has_nvls() && (self.nodes == 1 || network_reduces),
            A::NvlsTree => self.has_nvls() && self.nodes > 1,
            A::Pat => ranks_of_node == 1,
        };
        let of_protocol = match protocol {
            P::Simple => true,
            P::Ll => matches!(algorithm, A::Tree | A::Ring),
            P::Ll128 => matches!(algorithm, A::Tree | A::Ring) && system.ll128,
        };
        of_operation && of_system && of_protocol
    }

    fn has_nvls(&self) -> bool {
        let channels = self.system.graph(Algorithm::Nvls).map_or(0, |graph| *graph.channels);
        self.architecture().nvls_efficiency() > 0.0 && channels >= 2
    }

    /// Computes one entry.
    fn compute(&self, algorithm: Algorithm, protocol: Protocol) -> Option<Entry> {
        let graph = self.system.graph(algorithm).filter(|_| self.may(algorithm, protocol))?;
        let bandwidth_gbps = self.bandwidth(graph, algorithm, protocol);
        let latency_us = self.latency(graph, algorithm, protocol);
        // Nodes of one GPU have nothing to copy in their switch.
        (bandwidth_gbps > 0.0).then_some(Entry { algorithm, protocol, latency_us, bandwidth_gbps })
    }

    /// Returns the bandwidth of long operations: the bus bandwidth, times ranks by steps for rings and NVLS, halved for
    /// trees and CollNet. An all-gather or reduce-scatter other than by ring has the bus bandwidth \[GB/s\].
    fn bandwidth(&self, graph: &Graph, algorithm: Algorithm, protocol: Protocol) -> f64 {
        use {Algorithm as A, Protocol as P};
        let limits = Limits::of(self.system, self.nodes);
        let (channels, inside, between) = (f64::from(*graph.channels), *graph.bw_intra, *graph.bw_inter);
        let parts = matches!(self.operation, Operation::AllGather | Operation::ReduceScatter);
        let of_all = channels * if self.nodes <= 2 { inside } else { between };
        let tree = (0.92 * of_all).min(channels * limits.tree);
        let nvls = || {
            let copies = if parts { (self.on_node() - 1.0) / self.on_node() } else { 2.0 };
            inside * self.architecture().nvls_efficiency() * copies * (channels - 1.0) / channels
        };
        let bus = match (algorithm, protocol) {
            (A::Ring, P::Ll) => (of_all / 2.0).min(limits.ll),
            (A::Ring, P::Ll128) => (0.92 * of_all).min(channels * limits.ring_ll128),
            (A::Ring, P::Simple) => of_all,
            (A::Tree, P::Ll) => (tree / 3.8).min(limits.ll),
            (A::Tree, P::Ll128) => {
                let part = if self.nodes == 1 { 7.0 / 9.0 } else { 0.9375 };
                (tree * part).min(channels * limits.tree_ll128)
            }
            (A::Tree, P::Simple) => tree,
            (A::Pat, _) => 0.75 * of_all,
            (A::Nvls, _) => channels * nvls().min(between),
            (A::NvlsTree, _) => {
                let between = if self.nodes == 2 { 2.0 * between } else { between };
                channels * nvls().min(between).min(limits.nvls_tree)
            }
            (A::CollnetDirect, _) if parts => self.on_node() * inside.min(0.9 * between),
            (A::CollnetDirect, _) => {
                let part = if self.architecture() >= Architecture::Hopper { 0.85 } else { 1.0 };
                2.0 * channels * inside / (1.0 + self.on_node() / channels) * part
            }
            (A::CollnetChain, _) => channels * inside,
        };
        let is_plain = algorithm == A::Tree && graph.pattern == TreePattern::Tree;
        let bus = if is_plain { 0.85 * bus } else { bus };
        match algorithm {
            A::Ring => bus * f64::from(self.ranks) / self.steps(),
            _ if parts => bus,
            A::Nvls | A::NvlsTree => bus * f64::from(self.ranks) / self.steps(),
            _ => bus / 2.0,
        }
    }

    /// Returns the latency of a hop inside a node \[us\].
    fn hop_inside(&self, algorithm: Algorithm, protocol: Protocol) -> f64 {
        let hop = self.system.graph(algorithm).map(|graph| graph.intra).unwrap_or_default();
        hop_inside(hop, algorithm, protocol)
    }

    /// Returns the latency of a hop between nodes: that of the network and that of the card, which comes twice with
    /// Simple, for the flush \[us\]. Nodes of one GPU have the hop of trees.
    fn hop_between(&self, algorithm: Algorithm, protocol: Protocol) -> f64 {
        let hop = if self.ranks == self.nodes { Algorithm::Tree } else { algorithm };
        let times = if protocol == Protocol::Simple { 2.0 } else { 1.0 };
        hop_between(hop, protocol, self.system.is_before_2_28_9()) + times * *self.system.net_latency_us
    }

    /// Returns the time of an empty operation \[us\].
    fn latency(&self, graph: &Graph, algorithm: Algorithm, protocol: Protocol) -> f64 {
        use {Algorithm as A, Operation as O, Protocol as P};
        let base = base_latency(algorithm, protocol);
        let (inside, between) = (self.hop_inside(algorithm, protocol), self.hop_between(algorithm, protocol));
        let (others, levels) = (self.on_node() - 1.0, f64::from(self.nodes.ilog2()));
        let is_one_node = self.nodes == 1;
        let latency = match (algorithm, self.operation) {
            (A::Ring, O::Broadcast | O::Reduce) => {
                let hop = |of: A| match is_one_node {
                    true => hop_inside(graph.intra, of, protocol),
                    false => hop_between(of, protocol, false),
                };
                match graph.same_channels.unwrap_or(true) {
                    true => hop(A::Ring),
                    // Unequal channels wait for the right chunk, as trees do.
                    false => self.steps() * hop(if protocol == P::Simple { A::Tree } else { A::Ring }),
                }
            }
            (A::Ring, operation) => {
                let rounds = if operation == O::AllReduce { 2.0 } else { 1.0 };
                let crossings = rounds * f64::from(self.nodes - 1);
                let overhead = match (is_one_node, self.system.cpu) {
                    (true, _) => 0.0,
                    (false, Cpu::Amd) => 2.0,
                    (false, _) => 1.0,
                } * if protocol == P::Simple { 3.0 } else { 1.0 };
                (self.steps() - crossings) * inside.max(overhead) + crossings * between
            }
            (A::Tree, _) => 2.0 * (others * inside + levels * between),
            (A::Nvls, _) => inside + if is_one_node { 0.0 } else { between },
            (A::NvlsTree, _) => inside + 2.0 * levels * between,
            (A::Pat, _) => levels * between / 3.5 + 2.8 * f64::from(self.ranks),
            (A::CollnetDirect, _) => 2.0 * (others.min(1.0) * inside + 0.4 * others) + between,
            (A::CollnetChain, _) => 2.0 * others * inside + between,
        };
        base + latency
    }
}

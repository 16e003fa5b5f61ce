//! System as NCCL sees it: GPUs, processors, and the channels of its graphs.

use super::kinds::{Algorithm, Architecture};
use crate::diagnostic::{Diagnostic, Located, Span};
use crate::reading::json;
use crate::reading::tree::{self, Entry, Table, Tree};
use crate::reading::whole::TableReader;
use crate::units::Time;

/// `[nccl]` of a machine file: the system as NCCL sees it, as its log tells with `NCCL_DEBUG=INFO`.
#[spec]
pub struct System {
    /// Compute capability of the GPUs, times ten; 90 for Hopper.
    pub cc: Located<u32>,
    /// Processors of the nodes.
    #[serde(default)]
    pub cpu: Cpu,
    /// Channels of a communicator.
    pub channels: Located<u32>,
    /// True if the links and cards keep the order of 128 bytes, which LL128 needs.
    #[serde(default)]
    pub ll128: bool,
    /// True if the network reduces in its switches (SHARP).
    #[serde(default)]
    pub collnet: bool,
    /// GPUs of a node with a card for reductions in the network.
    #[serde(alias = "collnet_heads")]
    pub collnet_heads: Option<Located<u32>>,
    /// Latency that the plugin of the card reports \[us\]; 0 for InfiniBand and sockets.
    #[serde(default, alias = "net_latency_us")]
    pub net_latency_us: Located<f64>,
    /// Version of NCCL, for its older constants (default 2.30.7); "2.27.3".
    pub version: Option<Located<String>>,
    /// Channels and bandwidths that NCCL found for each algorithm.
    pub graphs: Graphs,
    /// GPUs of a node (default 8).
    pub gpus: Option<Located<u32>>,
    /// Fabric, with {nodes} for the number of nodes: `fat-tree:down=[8,{nodes}],up=[1,8],bandwidth=50 GB/s`.
    pub topology: Option<Located<String>>,
    /// Time from the call to the first byte, which the cost model leaves out; "35 us".
    pub launch: Option<Located<Time>>,
}

/// Processor of a node.
#[spec(Copy, Eq, Default)]
pub enum Cpu {
    /// x86 of Intel.
    #[default]
    Intel,
    /// x86 of AMD.
    Amd,
    /// Any other.
    Arm,
}

/// Graphs of a system.
#[spec(Default)]
pub struct Graphs {
    /// Rings.
    pub ring: Option<Graph>,
    /// Trees; PAT takes them, too.
    pub tree: Option<Graph>,
    /// Reduction in the network, each GPU with the card of its own.
    pub collnet_direct: Option<Graph>,
    /// Reduction in the network at the end of a chain.
    pub collnet_chain: Option<Graph>,
    /// NVLink switches; NVLS tree takes them, too.
    pub nvls: Option<Graph>,
}

/// Channels of an algorithm.
#[spec]
pub struct Graph {
    /// Number of channels.
    pub channels: Located<u32>,
    /// Bandwidth of a channel inside a node \[GB/s\].
    #[serde(alias = "bw_intra")]
    pub bw_intra: Located<f64>,
    /// Bandwidth of a channel between nodes \[GB/s\].
    #[serde(alias = "bw_inter")]
    pub bw_inter: Located<f64>,
    /// Kind of hop inside a node (default nvlink).
    #[serde(default)]
    pub intra: Hop,
    /// Form of trees (default balanced).
    #[serde(default)]
    pub pattern: TreePattern,
    /// False if channels differ in the order of their GPUs (default true).
    #[serde(alias = "same_channels")]
    pub same_channels: Option<bool>,
}

/// Hop inside a node.
#[spec(Copy, Eq, PartialOrd, Ord, Default)]
pub enum Hop {
    /// NVLink.
    #[default]
    Nvlink,
    /// PCI Express.
    Pci,
}

/// Form of the trees that NCCL's search ended with.
#[spec(Copy, Eq, PartialOrd, Ord, Default)]
pub enum TreePattern {
    /// Parent and one child at one GPU, the other child at the next.
    #[default]
    Balanced,
    /// Parent at one GPU, both children at the next.
    Split,
    /// Parent and children at one GPU.
    Tree,
}

impl System {
    /// Reads the system `name` of a JSON text that starts at `base` in its sources. A text with one system needs no
    /// name.
    ///
    /// # Errors
    /// All mistakes of the text, each with its place.
    pub fn from_json(text: &str, base: usize, name: &str) -> Result<Self, Vec<Diagnostic>> {
        let tree = json::tree(text, base).map_err(|mistake| vec![mistake])?;
        let value = match tree.table() {
            Some(systems) if !systems.contains_key("cc") => match (systems.get(name), systems.values().next()) {
                (Some(Entry { value, .. }), _) => value,
                (None, Some(only)) if name.is_empty() && systems.len() == 1 => &only.value,
                _ => {
                    let names: Vec<&str> = systems.keys().map(String::as_str).collect();
                    let message = match name {
                        "" => "the file has several systems or none".to_owned(),
                        name => format!("there is no system `{name}`"),
                    };
                    let help = format!("write FILE:NAME; there are: {}", names.join(", "));
                    return Err(vec![Diagnostic::new("unknown-choice", message).at(tree.span).help(help)]);
                }
            },
            _ => &tree,
        };
        Self::of(value, name)
    }

    /// Reads the table `[nccl]` of a machine; `None` if it has none.
    ///
    /// # Errors
    /// All mistakes of the table, each with its place.
    pub fn of_machine(text: &str, base: usize) -> Result<Option<Self>, Vec<Diagnostic>> {
        let (table, mistakes): (Table, _) = tree::parse(text, base);
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        table.get("nccl").map(|entry| Self::of(&entry.value, "nccl")).transpose()
    }

    /// Reads a system from its table.
    fn of(value: &Tree, name: &str) -> Result<Self, Vec<Diagnostic>> {
        let reader = TableReader { key: name, span: value.span, is_incomplete: false, about: &|_| None };
        let system: Self = reader.read(value)?;
        let mistakes = system.mistakes(value.span);
        if mistakes.is_empty() { Ok(system) } else { Err(mistakes) }
    }

    /// Returns the mistakes of values out of range.
    pub(super) fn mistakes(&self, span: Span) -> Vec<Diagnostic> {
        let mut mistakes = Vec::new();
        let mut check = |is_right: bool, at: Option<Span>, message: String, label: &str| {
            let wrong = Diagnostic::new("out-of-range", message).at(at.unwrap_or(span)).label(label.to_owned());
            mistakes.extend((!is_right).then_some(wrong));
        };
        let counts = [Some(&self.channels), self.collnet_heads.as_ref(), self.gpus.as_ref()];
        let counts = counts.into_iter().flatten().chain(self.graphs.all().map(|(_, graph)| &graph.channels));
        for count in counts {
            let message = format!("{} is no number of channels or GPUs", **count);
            check((1..=1024).contains(&**count), count.span(), message, "1 to 1024");
        }
        check(
            (35..1000).contains(&*self.cc),
            self.cc.span(),
            format!("{} is no compute capability times ten", *self.cc),
            "90 for a capability of 9.0",
        );
        let latency = *self.net_latency_us;
        let message = format!("a latency of {latency} us");
        check((0.0..=1e6).contains(&latency), self.net_latency_us.span(), message, "0 to 1e6 us");
        for bandwidth in self.graphs.all().flat_map(|(_, graph)| [&graph.bw_intra, &graph.bw_inter]) {
            let message = format!("a channel of {} GB/s", **bandwidth);
            check(**bandwidth > 0.0 && **bandwidth < 1e6, bandwidth.span(), message, "above 0, below 1e6");
        }
        check(self.graphs.all().next().is_some(), None, "there is no graph".to_owned(), "at least a ring");
        mistakes
    }

    /// Returns the number of GPUs of a node.
    pub fn gpus_of_node(&self) -> u32 {
        self.gpus.as_deref().copied().unwrap_or(8)
    }

    /// Returns the generation of the GPUs.
    pub fn architecture(&self) -> Architecture {
        Architecture::of(*self.cc)
    }

    /// Returns the graph of an algorithm.
    pub fn graph(&self, algorithm: Algorithm) -> Option<&Graph> {
        use Algorithm as A;
        let graphs = &self.graphs;
        match algorithm {
            A::Ring => graphs.ring.as_ref(),
            A::Tree | A::Pat => graphs.tree.as_ref(),
            A::CollnetDirect => graphs.collnet_direct.as_ref(),
            A::CollnetChain => graphs.collnet_chain.as_ref(),
            A::Nvls | A::NvlsTree => graphs.nvls.as_ref(),
        }
    }

    /// Returns true for versions of NCCL before 2.28.9.
    pub(super) fn is_before_2_28_9(&self) -> bool {
        let Some(version) = &self.version else { return false };
        let parts: Vec<u32> = version.split('.').map(|part| part.parse().unwrap_or(0)).collect();
        parts < vec![2, 28, 9]
    }
}

impl Graphs {
    /// Adds the graph of one more rank: the least of all ranks holds.
    pub(super) fn add(&mut self, algorithm: Algorithm, graph: Graph) {
        use Algorithm as A;
        let of = match algorithm {
            A::Ring => &mut self.ring,
            A::Tree | A::Pat => &mut self.tree,
            A::CollnetDirect => &mut self.collnet_direct,
            A::CollnetChain => &mut self.collnet_chain,
            A::Nvls | A::NvlsTree => &mut self.nvls,
        };
        let Some(all) = of else { return *of = Some(graph) };
        let least = |all: &mut Located<f64>, one: Located<f64>| {
            if *one < **all {
                *all = one;
            }
        };
        least(&mut all.bw_intra, graph.bw_intra);
        least(&mut all.bw_inter, graph.bw_inter);
        if *graph.channels < *all.channels {
            all.channels = graph.channels;
        }
        all.intra = all.intra.max(graph.intra);
        all.pattern = all.pattern.max(graph.pattern);
        all.same_channels = all.same_channels.min(graph.same_channels);
    }

    /// Returns the graphs that there are, with their names.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, &Graph)> {
        let all = [
            ("ring", &self.ring),
            ("tree", &self.tree),
            ("collnet-direct", &self.collnet_direct),
            ("collnet-chain", &self.collnet_chain),
            ("nvls", &self.nvls),
        ];
        all.into_iter().filter_map(|(name, graph)| Some((name, graph.as_ref()?)))
    }
}

//! Log of NCCL (`NCCL_DEBUG=INFO`): the system that it describes, and the choices and entries that it states.
//!
//! Ranks print their own graphs, and NCCL takes the least of all ranks. So does this reader. Of several communicators
//! it takes the one with most ranks.
//!
//! | line | from | setting of `NCCL_DEBUG_SUBSYS` |
//! |---|---|---|
//! | `Pattern 4, crossNic 0, nChannels 12, bw 30.0/30.0, type NVL/PIX, sameChannels 0` | a graph of a rank | GRAPH |
//! | `CPU/0 (1/1/2)` | architecture and vendor of a processor | GRAPH |
//! | `comm 0x1 rank 0 nRanks 24 nNodes 3 ...` | a communicator, NCCL 2.20 and later | INIT |
//! | `24 coll channels, ...` | its channels | INIT |
//! | `AllReduce: 65536 Bytes -> Algo TREE proto LL ...` | a choice; before 2.26 with numbers and a time | TUNING |
//! | `Algorithm \| Tree \| Ring \| ...` | latencies and bandwidths; algorithms have three columns each | TUNING |
//!
//! Source: NCCL 2.18.3 to 2.30.7, `src/init.cc`, `src/enqueue.cc`, `src/graph/search.cc`, `topo.cc`, `tuning.cc`.

use std::collections::BTreeMap;

use super::kinds::{Algorithm, Architecture, Protocol};
use super::system::{Cpu, Graph, Graphs, Hop, System, TreePattern};
use super::tuning::Operation;
use crate::diagnostic::{Diagnostic, Located, Span};

/// Log of a communicator.
#[derive(Debug, Default)]
pub struct Log {
    /// Number of ranks.
    pub ranks: u32,
    /// Number of nodes.
    pub nodes: u32,
    /// Choices of NCCL.
    pub choices: Vec<LoggedChoice>,
    /// Entries of its tables.
    pub entries: Vec<LoggedEntry>,
    channels: Option<Located<u32>>,
    graphs: Graphs,
    /// Farthest paths of rings and trees inside and between nodes, as numbers of [`PATHS`].
    paths: (usize, usize),
    version: Option<Located<String>>,
    cpu: Option<Cpu>,
}

/// Choice of NCCL for a size.
#[derive(Clone, Copy, Debug)]
pub struct LoggedChoice {
    /// Line of the log, from 1.
    pub line: u64,
    /// Operation, which NCCL names from 2.23 on.
    pub operation: Option<Operation>,
    /// Size \[B\], of all blocks.
    pub bytes: u64,
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The protocol.
    pub protocol: Protocol,
    /// Time of the model, which NCCL prints before 2.26 \[us\].
    pub time_us: Option<f64>,
}

/// Latency and bandwidth of an algorithm, as printed.
#[derive(Debug)]
pub struct LoggedEntry {
    /// Line of the log, from 1.
    pub line: u64,
    /// The operation.
    pub operation: Operation,
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The protocol.
    pub protocol: Protocol,
    /// Latency \[us\] and bandwidth \[GB/s\]: `16.8/0.5`.
    pub printed: String,
}

/// Paths between two devices, the nearest first.
const PATHS: [&str; 12] = ["LOC", "NVL", "NVB", "C2C", "PIX", "PXB", "P2C", "PXN", "PHB", "SYS", "NET", "DIS"];
const GRAPH: &str = "Pattern 4, crossNic 0, nChannels 12, bw 30.0/30.0, type NVL/PIX, sameChannels 0";
const COMM: &str = "comm 0x1 rank 0 nRanks 24 nNodes 3 localRanks 8 localRank 0 MNNVL 0";
const CHOICE: &str = "AllReduce: 65536 Bytes -> Algo TREE proto LL";
const ENTRY: &str = "AllReduce | 16.8/ 0.5 | ..., three of each algorithm in the line `Algorithm | ...`";

impl Log {
    /// Reads a log that starts at `base` in its sources.
    ///
    /// # Errors
    /// Lines that are cut off or mixed up, and missing lines with the setting that prints them.
    pub fn read(text: &str, base: usize) -> Result<Self, Vec<Diagnostic>> {
        let (mut mistakes, mut start) = (Vec::new(), base);
        let (mut version, mut cpu, mut is_log) = (None, None, false);
        let mut processes: BTreeMap<String, Process> = BTreeMap::new();
        let mut logs: BTreeMap<(u32, u32), Self> = BTreeMap::new();
        for (line, whole) in (1..).zip(text.split_inclusive('\n')) {
            let span = Span::new(start, start + whole.trim_end().len().max(1));
            start += whole.len();
            if let Some((_, of)) = whole.split_once("NCCL version ") {
                version.get_or_insert_with(|| Located::new(first_word(of).to_owned(), span));
            }
            let Some((prefix, body)) = whole.split_once("NCCL INFO ") else { continue };
            is_log = true;
            let process = processes.entry(sender(prefix)).or_default();
            let body = body.trim();
            let expected = if body.starts_with("Pattern ") {
                process.graph(body, span).err().map(|()| GRAPH)
            } else if body.starts_with("comm ") && body.contains("nNodes ") {
                process.join(body, &mut logs).err().map(|()| COMM)
            } else if let Some(log) = process.of.and_then(|of| logs.get_mut(&of)) {
                log.line(line, body, span, &mut process.columns).err()
            } else {
                None
            };
            mistakes.extend(expected.map(|expected| {
                let message = "the line is cut off or mixed with another";
                Diagnostic::new("nccl-log", message).at(span).help(format!("expected `{expected}`"))
            }));
            if let Some(kind) = body.strip_prefix("CPU/").and_then(|of| of.split_once('(')) {
                cpu = match kind.1.split('/').collect::<Vec<_>>()[..] {
                    ["1", "2", ..] => Some(Cpu::Amd),
                    ["1", ..] => Some(Cpu::Intel),
                    _ => Some(Cpu::Arm),
                };
            }
        }
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        let best = logs.into_values().max_by_key(|log| (log.graphs.ring.is_some(), log.ranks));
        let missing = match &best {
            _ if !is_log => ("`NCCL INFO`", "set NCCL_DEBUG=INFO and NCCL_DEBUG_SUBSYS=INIT,GRAPH,TUNING"),
            None => ("`comm ... nRanks N nNodes M`", "NCCL 2.20 and later print it with NCCL_DEBUG_SUBSYS=INIT"),
            Some(log) if log.channels.is_none() => ("`N coll channels`", "NCCL_DEBUG_SUBSYS=INIT prints it"),
            Some(log) if log.graphs.ring.is_none() => {
                ("`Pattern ...` before its communicator", "NCCL_DEBUG_SUBSYS=GRAPH prints it")
            }
            Some(_) => return Ok(Self { version, cpu, ..best.unwrap_or_default() }),
        };
        let message = format!("the log has no line {}", missing.0);
        Err(vec![Diagnostic::new("nccl-log", message).at(Span::new(base, base + 1)).help(missing.1)])
    }

    /// Returns the system of the log. A machine gives the values that no log has: the GPUs, the latency of the card,
    /// launch and fabric.
    ///
    /// # Errors
    /// Values out of range, each at its line.
    pub fn system(&self, machine: System) -> Result<System, Vec<Diagnostic>> {
        let far = if Architecture::of(*machine.cc) >= Architecture::Hopper { "PXN" } else { "PXB" };
        let reaches = |path: usize, far: &str| path <= PATHS.iter().position(|of| *of == far).unwrap_or(0);
        let found = |graph: &Option<Graph>| graph.clone().filter(|graph| *graph.channels > 0);
        let Graphs { ring, tree, collnet_direct, collnet_chain, nvls } = &self.graphs;
        let [ring, tree, collnet_direct, collnet_chain, nvls] =
            [ring, tree, collnet_direct, collnet_chain, nvls].map(found);
        let graphs = Graphs { ring, tree, collnet_direct, collnet_chain, nvls };
        let system = System {
            cpu: self.cpu.unwrap_or(machine.cpu),
            channels: self.channels.unwrap_or(machine.channels),
            ll128: reaches(self.paths.0, "NVB") && reaches(self.paths.1, far),
            collnet: graphs.collnet_chain.is_some(),
            collnet_heads: None,
            version: self.version.clone().or(machine.version),
            graphs,
            ..machine
        };
        let mistakes = system.mistakes(Span::new(0, 0));
        if mistakes.is_empty() { Ok(system) } else { Err(mistakes) }
    }

    /// Reads a line of a communicator: its channels, a choice, or entries. Others are passed over.
    fn line(
        &mut self,
        line: u64,
        body: &str,
        span: Span,
        columns: &mut Vec<Option<Algorithm>>,
    ) -> Result<(), &'static str> {
        if let Some((count, _)) = body.split_once(" coll channels,") {
            self.channels = Some(Located::new(count.parse().map_err(|_| "24 coll channels, ...")?, span));
        } else if body.contains("disabling CollNet") {
            (self.graphs.collnet_direct, self.graphs.collnet_chain) = (None, None);
        } else if let Some((of, choice)) = body.split_once(" Bytes -> Algo ") {
            let (operation, bytes) = of.rsplit_once(": ").map_or((None, of), |(name, bytes)| (Some(name), bytes));
            let words: Vec<&str> = choice.split_whitespace().collect();
            let [algorithm, "proto", protocol, rest @ ..] = &words[..] else { return Err(CHOICE) };
            let operation = match operation.map(|name| named(&Operation::ALL, Operation::name, name)) {
                // Other operations have no choice of an algorithm.
                Some(None) => return Ok(()),
                operation => operation.flatten(),
            };
            let algorithm = named(&Algorithm::ALL, Algorithm::name, algorithm).ok_or(CHOICE)?;
            let protocol = named(&Protocol::ALL, Protocol::name, protocol).ok_or(CHOICE)?;
            let mut bytes: u64 = bytes.parse().map_err(|_| CHOICE)?;
            let time_us = match rest {
                ["time", time, ..] => Some(time.parse().map_err(|_| CHOICE)?),
                _ => None,
            };
            let is_of_blocks = matches!(operation, Some(Operation::AllGather | Operation::ReduceScatter));
            if is_of_blocks && time_us.is_none() {
                bytes = bytes.saturating_mul(self.ranks.into());
            }
            self.choices.push(LoggedChoice { line, operation, bytes, algorithm, protocol, time_us });
        } else if let Some((head, cells)) = body.split_once('|') {
            let cells = cells.split('|').map(str::trim).filter(|cell| !cell.is_empty());
            if head.trim() == "Algorithm" {
                *columns = cells.map(|cell| named(&Algorithm::ALL, Algorithm::name, cell)).collect();
            } else if let Some(operation) = named(&Operation::ALL, Operation::name, head.trim()) {
                for (at, cell) in cells.enumerate() {
                    let Some(&Some(algorithm)) = columns.get(at / Protocol::ALL.len()) else { return Err(ENTRY) };
                    let (latency, bandwidth) = cell.split_once('/').ok_or(ENTRY)?;
                    let printed = format!("{}/{}", latency.trim(), bandwidth.trim());
                    let protocol = Protocol::ALL[at % Protocol::ALL.len()];
                    self.entries.push(LoggedEntry { line, operation, algorithm, protocol, printed });
                }
            }
        }
        Ok(())
    }
}

/// Lines of one GPU.
#[derive(Default)]
struct Process {
    /// Graphs of the communicator under way, with their kind and paths.
    graphs: Vec<(Algorithm, Graph, (usize, usize))>,
    /// Communicator of the last lines: ranks and nodes.
    of: Option<(u32, u32)>,
    /// Algorithms of the table under way.
    columns: Vec<Option<Algorithm>>,
}

impl Process {
    /// Reads a graph. The second tree after a ring is the chain of CollNet.
    fn graph(&mut self, body: &str, span: Span) -> Result<(), ()> {
        let field = |name: &str| body.split_once(name).map(|(_, of)| first_word(of)).ok_or(());
        let pair = |name: &str| field(name)?.split_once('/').ok_or(());
        let number = |text: &str| text.parse::<f64>().map_err(drop);
        let path = |text: &str| PATHS.iter().position(|path| *path == text).ok_or(());
        let (inside, between) = pair(" bw ").or_else(|()| pair(" speed "))?;
        let (near, far) = pair(" type ")?;
        let (near, far) = (path(near)?, path(far)?);
        let is_chain = self.graphs.iter().any(|(kind, ..)| *kind == Algorithm::Tree);
        let (kind, pattern) = match field("Pattern ")? {
            "1" if !is_chain => (Algorithm::Tree, TreePattern::Balanced),
            "2" if !is_chain => (Algorithm::Tree, TreePattern::Split),
            "3" if !is_chain => (Algorithm::Tree, TreePattern::Tree),
            "1" | "2" | "3" => (Algorithm::CollnetChain, TreePattern::Tree),
            "4" => (Algorithm::Ring, TreePattern::Balanced),
            "5" => (Algorithm::Nvls, TreePattern::Balanced),
            "6" => (Algorithm::CollnetDirect, TreePattern::Balanced),
            _ => return Err(()),
        };
        if kind == Algorithm::Ring {
            self.graphs.clear();
        }
        let graph = Graph {
            channels: Located::new(field(" nChannels ")?.parse().map_err(drop)?, span),
            bw_intra: Located::new(number(inside)?, span),
            bw_inter: Located::new(number(between)?, span),
            intra: if PATHS[near] == "NVL" { Hop::Nvlink } else { Hop::Pci },
            pattern,
            same_channels: Some(field(" sameChannels ")? != "0"),
        };
        self.graphs.push((kind, graph, (near, far)));
        Ok(())
    }

    /// Gives the graphs to a communicator.
    fn join(&mut self, body: &str, logs: &mut BTreeMap<(u32, u32), Log>) -> Result<(), ()> {
        let field = |name: &str| body.split_once(name).and_then(|(_, of)| first_word(of).parse().ok()).ok_or(());
        let (ranks, nodes) = (field(" nRanks ")?, field(" nNodes ")?);
        let log = logs.entry((ranks, nodes)).or_insert_with(|| Log { ranks, nodes, ..Log::default() });
        for (kind, graph, paths) in self.graphs.drain(..) {
            if matches!(kind, Algorithm::Ring | Algorithm::Tree) {
                log.paths = (log.paths.0.max(paths.0), log.paths.1.max(paths.1));
            }
            log.graphs.add(kind, graph);
        }
        self.of = Some((ranks, nodes));
        Ok(())
    }
}

/// Returns the text up to a blank, a comma or a plus.
fn first_word(text: &str) -> &str {
    text.split([' ', ',', '+', '\t', '\r', '\n']).next().unwrap_or_default()
}

/// Returns host, process and GPU of a prefix `host:process:thread [gpu]`, which a label may stand before.
fn sender(prefix: &str) -> String {
    let mut words = prefix.split_whitespace().rev();
    let (gpu, thread) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut parts = thread.rsplit(':').skip(1);
    format!("{} {} {gpu}", parts.next().unwrap_or_default(), parts.next().unwrap_or_default())
}

/// Returns the value with this number or name; cases and marks do not count.
fn named<T: Copy>(all: &[T], name: impl Fn(T) -> &'static str, text: &str) -> Option<T> {
    let bare = |text: &str| text.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    let by_name = || all.iter().copied().find(|value| bare(name(*value)) == bare(text));
    text.parse().map_or_else(|_| by_name(), |number: usize| all.get(number).copied())
}

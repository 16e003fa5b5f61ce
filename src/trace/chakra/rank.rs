//! Reading of one rank's file: nodes become operations of a graph.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::dependences::{Positions, cycle};
use super::groups::Groups;
use super::ignored::Ignored;
use super::kinds::{Place, Rules, collective};
use super::node::{Node, NodeType};
use super::wire::Frames;
use crate::base::memory;
use crate::diagnostic::Diagnostic;
use crate::program::{Envelope, GraphBuilder, Op, RankProgram};
use crate::reading::Input;
use crate::trace::fault::{Fault, fault, mistake};
use crate::units::Time;

/// Largest number of operations of a rank, which are counted in 31 bits.
const MOST_OPS: usize = (1 << 31) - 1;
/// Longest message, beyond which bytes are no longer exact \[B\].
const MOST_BYTES: u64 = 1 << 53;
/// Number of nodes between two looks at the free memory.
const NODES_PER_LOOK: usize = 1 << 20;
/// Memory that is left free \[B\].
const RESERVE: u64 = 64 << 20;

/// Processors: device, host, and communication; further streams and threads follow.
const DEVICE: u8 = 0;
const HOST: u8 = 1;
const COMMUNICATION: u8 = 2;

/// A rank as read, before its groups are known.
#[derive(Debug)]
pub(super) struct RankTrace {
    pub program: RankProgram,
    pub file: Arc<str>,
    /// Operations that name a group.
    pub calls: Vec<GroupCall>,
    /// Names of groups.
    pub names: Vec<String>,
}

/// An operation that names a group.
#[derive(Debug)]
pub(super) struct GroupCall {
    pub op: u32,
    /// Name of the group: an index.
    pub group: u32,
    /// Type of the collective; `None` for a send or receive without its other end.
    pub kind: Option<u64>,
    pub bytes: u64,
    /// Root, as a rank of the world.
    pub root: Option<u64>,
    pub node: u64,
    pub at: u64,
}

impl RankTrace {
    /// Returns the place of a call.
    pub fn place(&self, call: &GroupCall) -> Place {
        Place { file: Arc::clone(&self.file), node: call.node, at: call.at }
    }
}

/// Reads a file into an empty graph. The `ranks` of the world bound the other ends of messages.
///
/// # Errors
/// The first damage or contradiction, with its place; a cycle of data dependences.
pub(super) fn read(
    input: Input,
    builder: GraphBuilder,
    (ranks, rules): (u32, Rules),
    groups: &mut Groups,
    ignored: &mut Ignored,
) -> Result<RankTrace, Diagnostic> {
    let file: Arc<str> = input.name().into();
    let mut reader = Reader {
        builder,
        ranks,
        rules,
        groups,
        ignored,
        positions: Positions::default(),
        control: Vec::new(),
        later: Vec::new(),
        lanes: FxHashMap::default(),
        calls: Vec::new(),
        names: Vec::new(),
    };
    let mut last = 0;
    let read = reader.read_all(Frames::new(input), &mut last);
    read.map_err(|Fault { code, at, what }| {
        let last = if reader.builder.ops().is_empty() { String::new() } else { format!(" (last node {last})") };
        Diagnostic::new(code, format!("{file}, byte {at}{last}: {what}"))
    })?;
    reader.order().map_err(|what| Diagnostic::new("cyclic-dependence", format!("{file}: {what}")))?;
    let Reader { builder, calls, names, .. } = reader;
    let (_, program): (u32, RankProgram) = builder.into();
    Ok(RankTrace { program, file, calls, names })
}

struct Reader<'a> {
    builder: GraphBuilder,
    ranks: u32,
    rules: Rules,
    groups: &'a mut Groups,
    ignored: &'a mut Ignored,
    positions: Positions,
    /// Control dependences (required, follower).
    control: Vec<(u32, u32)>,
    /// Dependences on nodes that have not been read: follower, identifier, true for control.
    later: Vec<(u32, u64, bool)>,
    /// Processors of streams (false) and threads (true).
    lanes: FxHashMap<(bool, i128), u8>,
    calls: Vec<GroupCall>,
    names: Vec<String>,
}

impl Reader<'_> {
    fn read_all(&mut self, mut frames: Frames, last: &mut u64) -> Result<(), Fault> {
        let Some(metadata) = frames.next()? else {
            return fault(0, "the file is empty; expected is a message of metadata, then nodes");
        };
        metadata.each(|_| Ok(()))?;
        while let Some(message) = frames.next()? {
            let node = Node::read(message)?;
            *last = node.id;
            self.node(&node)?;
        }
        Ok(())
    }

    fn node(&mut self, node: &Node) -> Result<(), Fault> {
        let position = self.builder.ops().len();
        if position >= MOST_OPS {
            return mistake("too-large", node.at, format!("a rank has at most {MOST_OPS} nodes"));
        }
        if position.is_multiple_of(NODES_PER_LOOK) {
            let needed = 4 * (position + self.builder.edges().len()) as u64 + RESERVE;
            if memory::free().is_some_and(|free| free < needed) {
                return mistake("too-large", node.at, "the trace does not fit in the free memory");
            }
        }
        if !self.positions.add(node.id, position as u32) {
            return mistake("duplicate-node", node.at, format!("there are two nodes {}; each has its own id", node.id));
        }
        if let Some(bytes) = node.bytes.filter(|&bytes| bytes > MOST_BYTES) {
            return fault(
                node.at,
                format!("node {} has comm_size {bytes}, and at most {MOST_BYTES} is possible", node.id),
            );
        }
        if node.is_init && node.kind == NodeType::Metadata {
            let defined = self.groups.of_node(&node.inputs);
            defined.or_else(|what| mistake("unlike-groups", node.at, what))?;
        }
        let op = self.operation(node)?;
        let place = u32::try_from(node.id).unwrap_or(u32::MAX);
        self.builder.push_at(op, place);
        for (ids, is_control) in [(&node.data, false), (&node.control, true)] {
            for &id in ids {
                match self.positions.get(id) {
                    _ if id == node.id => self.ignored.own += 1,
                    Some(before) if is_control => self.control.push((before, position as u32)),
                    Some(before) => self.builder.requires(position as u32, before),
                    None => self.later.push((position as u32, id, is_control)),
                }
            }
        }
        Ok(())
    }

    fn operation(&mut self, node: &Node) -> Result<Op, Fault> {
        let time = match node.kind {
            NodeType::Metadata => Time::ZERO,
            NodeType::Load | NodeType::Store | NodeType::Compute => self.time(node),
            NodeType::Send => return self.message(node, node.dst, Op::send),
            NodeType::Recv => return self.message(node, node.src, Op::recv),
            NodeType::Collective if node.collective.is_none() && node.is_host => {
                self.ignored.untyped += 1;
                self.time(node)
            }
            NodeType::Collective => return self.collective(node),
        };
        let lane = match node.is_host {
            true => node.thread.map_or(HOST, |thread| self.lane(true, thread)),
            false => node.stream.map_or(DEVICE, |stream| self.lane(false, stream)),
        };
        Ok(Op::calc(time).on(lane, 0))
    }

    /// Returns the processor of a stream or thread. The last one serves all that have none of their own.
    fn lane(&mut self, is_thread: bool, number: i128) -> u8 {
        let next = (usize::from(COMMUNICATION) + 1 + self.lanes.len()).min(usize::from(u8::MAX)) as u8;
        *self.lanes.entry((is_thread, number)).or_insert(next)
    }

    /// Returns the time of a node: max(operations / peak, bytes / bandwidth) if the rates are given, else as recorded.
    fn time(&mut self, node: &Node) -> Time {
        let rate = |amount: Option<u64>, rate: Option<f64>| Some(amount? as f64 / rate?);
        let memory = rate(node.tensor, self.rules.memory_bandwidth);
        let seconds = match node.kind {
            NodeType::Load | NodeType::Store => memory,
            _ => rate(node.operations, self.rules.peak).map(|work| work.max(memory.unwrap_or(0.0))),
        };
        if let Some(seconds) = seconds {
            return Time::from_seconds(seconds);
        }
        if node.duration == 0 && node.duration_ps.is_none() && (node.operations.or(node.tensor)).is_some() {
            self.ignored.untimed += 1;
        }
        Time::from_ps(node.duration_ps.unwrap_or(node.duration as f64 * 1e6))
    }

    /// Returns a send or receive; without its other end it is paired in a group of two.
    fn message(&mut self, node: &Node, peer: Option<u64>, op: fn(Envelope, u64) -> Op) -> Result<Op, Fault> {
        let tag = node.tag.unwrap_or(0);
        if tag >= u32::MAX.into() {
            return mistake("wrong-tag", node.at, format!("node {} has tag {tag}, beyond 32 bits", node.id));
        }
        if let Some(peer) = peer.filter(|&peer| peer >= self.ranks.into()) {
            let what = format!("node {} names rank {peer}, and there are {} ranks", node.id, self.ranks);
            return mistake("unknown-rank", node.at, what);
        }
        if peer.is_none() {
            self.call(node, None);
        }
        let envelope = Envelope::world(peer.unwrap_or(0) as u32, tag as u32);
        Ok(op(envelope, node.bytes.unwrap_or(0)).on(COMMUNICATION, 0))
    }

    fn collective(&mut self, node: &Node) -> Result<Op, Fault> {
        let expected = "expected is 0 (all-reduce), 1 (reduce), 2 (all-gather), 3 (gather), 4 (scatter), 5 (broadcast), \
                        6 (all-to-all), 7, 8 (reduce-scatter) or 9 (barrier)";
        let what = match (node.collective, node.collective.and_then(collective)) {
            (None, _) => format!("has no comm_type; {expected}"),
            (Some(kind), None) => format!("has comm_type {kind}; {expected}"),
            (_, Some((name, ..))) if node.bytes.is_none() && name != "barrier" => {
                format!("is {name} without comm_size, its size in bytes")
            }
            _ => {
                self.call(node, node.collective);
                // Its number follows when all groups are known.
                return Ok(Op::collective(0).on(COMMUNICATION, 0));
            }
        };
        fault(node.at, format!("node {} {what}", node.id))
    }

    /// Notes an operation that names a group.
    fn call(&mut self, node: &Node, kind: Option<u64>) {
        let op = self.builder.ops().len() as u32;
        let group = self.names.iter().position(|name| *name == node.group).unwrap_or_else(|| {
            self.names.push(node.group.clone());
            self.names.len() - 1
        }) as u32;
        let (bytes, root) = (node.bytes.unwrap_or(0), node.root.or(node.src).or(node.dst));
        self.calls.push(GroupCall { op, group, kind, bytes, root, node: node.id, at: node.at });
    }

    /// Orders the operations: by data and control dependences if these have no cycle, else by data alone.
    ///
    /// # Errors
    /// A cycle of data dependences.
    fn order(&mut self) -> Result<(), String> {
        let mut is_in_order = true;
        for (follower, id, is_control) in std::mem::take(&mut self.later) {
            let Some(before) = self.positions.get(id) else {
                self.ignored.missing += 1;
                continue;
            };
            match is_control {
                true => self.control.push((before, follower)),
                false => self.builder.requires(follower, before),
            }
            is_in_order = false;
        }
        let count = self.builder.ops().len();
        let named = |way: Vec<u32>| {
            let ids: Vec<u64> = way.iter().map(|&op| self.positions.id(op)).collect();
            // A long cycle is shown by its beginning.
            let dots = if ids.len() > 10 { " ... " } else { "" };
            let shown = ids.iter().take(10).map(u64::to_string).collect::<Vec<_>>().join(" -> ");
            format!("{shown}{dots} -> {}", ids[0])
        };
        if !is_in_order {
            if let Some(way) = cycle(count, self.builder.edges(), &[]) {
                let message = format!("data dependences form a cycle of nodes: {}", named(way));
                return Err(message);
            }
            if let Some(way) = cycle(count, self.builder.edges(), &self.control) {
                let way = named(way);
                self.ignored.control += self.control.len() as u64;
                self.ignored.cyclic += 1;
                self.ignored.cycle.get_or_insert(way);
                self.control = Vec::new();
            }
        }
        for (before, follower) in std::mem::take(&mut self.control) {
            self.builder.requires(follower, before);
        }
        Ok(())
    }
}

//! Shapes of the programs of ranks: operations without the names of peers and communicators.

use rustc_hash::FxHashMap;

use super::keys::COLLECTIVE;
use crate::ids::RankId;
use crate::program::{ANY_SOURCE, Expand, Op, OpKind, Program, RankProgram};
use crate::symmetry::{Channel, Exchanges, RankShape, mix};

/// Returns the channels of all ranks of a program; `None` if they cannot be folded ([`shape_of`]).
pub fn exchanges_of(program: &Program, expand: Option<&dyn Expand>) -> Option<Exchanges> {
    let shapes = program.iter().map(|(rank, ops)| shape_of(program, rank, ops, expand));
    Exchanges::new(shapes.collect::<Option<Vec<RankShape>>>()?)
}

/// Returns the shape of one rank. Only communicators and collectives are taken from `program`, so the operations of
/// ranks may be made one after the other and dropped.
///
/// Returns `None` for ranks that take messages from any source, which depend on the names of ranks, and for ranks of
/// several threads. Cost: O(n) for n operations and steps of different collectives.
pub fn shape_of(program: &Program, rank: RankId, ops: &RankProgram, expand: Option<&dyn Expand>) -> Option<RankShape> {
    if !ops.threads.is_empty() {
        return None;
    }
    let mut reader = Reader::new(program, rank, expand);
    let is_graph = ops.graph().is_some();
    let mut hash = mix(u64::from(is_graph), ops.ops.len() as u64);
    for op in &ops.ops {
        hash = reader.operation(hash, op)?;
    }
    hash = ops.lists.iter().fold(hash, |hash, &request| mix(hash, request.into()));
    if let Some(graph) = ops.graph() {
        for op in 0..ops.ops.len() as u32 {
            let edge = |hash, op: u32, for_start: bool| mix(hash, u64::from(op) << 1 | u64::from(for_start));
            hash = graph.followers(op).fold(mix(hash, u64::MAX), |hash, next| edge(hash, next.op, next.for_start));
        }
    }
    let Reader { sends, receives, .. } = reader;
    Some(RankShape { colour: hash, sends: sends.list, receives: receives.list })
}

/// Reader of the operations of a rank.
struct Reader<'a> {
    program: &'a Program,
    me: RankId,
    expand: Option<&'a dyn Expand>,
    /// Numbers of peers, by first use; the rank itself is 0.
    peers: FxHashMap<u32, u64>,
    /// Numbers of communicators, by first use.
    kinds: FxHashMap<u32, u64>,
    /// Numbers of collectives, by first use.
    collectives: FxHashMap<u32, u64>,
    sends: Channels,
    receives: Channels,
    steps: Vec<Op>,
}

/// Channels by first use.
#[derive(Default)]
struct Channels {
    list: Vec<Channel>,
    numbers: FxHashMap<Channel, u64>,
}

impl Channels {
    fn number(&mut self, channel: Channel) -> u64 {
        let next = self.list.len() as u64;
        let number = *self.numbers.entry(channel).or_insert(next);
        if number == next {
            self.list.push(channel);
        }
        number
    }
}

impl<'a> Reader<'a> {
    fn new(program: &'a Program, me: RankId, expand: Option<&'a dyn Expand>) -> Self {
        Self {
            program,
            me,
            expand,
            peers: FxHashMap::from_iter([(me.0, 0)]),
            kinds: FxHashMap::default(),
            collectives: FxHashMap::default(),
            sends: Channels::default(),
            receives: Channels::default(),
            steps: Vec::new(),
        }
    }

    /// Adds an operation to a hash.
    fn operation(&mut self, hash: u64, op: &Op) -> Option<u64> {
        let form = u64::from(op.kind as u8) << 24 | u64::from(op.marks) << 16 | u64::from(op.cpu) << 8;
        let hash = mix(mix(hash, form | u64::from(op.nic)), op.size);
        Some(match op.kind {
            OpKind::Send | OpKind::Isend | OpKind::Recv | OpKind::Irecv | OpKind::Probe => {
                mix(self.message(hash, op)?, op.tag.into())
            }
            OpKind::Collective | OpKind::Icollective => self.collective(mix(hash, op.tag.into()), op)?,
            _ => mix(hash, op.arg.into()),
        })
    }

    /// Adds the channel of a message to a hash.
    fn message(&mut self, hash: u64, op: &Op) -> Option<u64> {
        if op.peer == ANY_SOURCE {
            return None;
        }
        let channel = Channel { peer: op.peer, kind: op.arg & !COLLECTIVE };
        let sends = matches!(op.kind, OpKind::Send | OpKind::Isend);
        let channels = if sends { &mut self.sends } else { &mut self.receives };
        let hash = mix(hash, channels.number(channel));
        let next = self.peers.len() as u64;
        let peer = *self.peers.entry(channel.peer).or_insert(next);
        let next = self.kinds.len() as u64;
        let kind = *self.kinds.entry(channel.kind).or_insert(next);
        Some(mix(hash, peer << 32 | kind))
    }

    /// Adds the steps of a collective to a hash when it is called for the first time, and later its number.
    fn collective(&mut self, hash: u64, op: &Op) -> Option<u64> {
        let next = self.collectives.len() as u64;
        let number = *self.collectives.entry(op.arg).or_insert(next);
        let mut hash = mix(hash, number);
        if number < next {
            return Some(hash);
        }
        let collective = &self.program.collectives[op.arg as usize];
        let group = &self.program.communicators[collective.comm as usize];
        let mut steps = std::mem::take(&mut self.steps);
        steps.clear();
        if let (Some(expand), Some(me)) = (self.expand, group.rank_of(self.me)) {
            expand.steps(collective, group, me, &mut steps);
        }
        // Its communicator numbers the calls, even of a collective without messages.
        let next = self.kinds.len() as u64;
        hash = mix(hash, *self.kinds.entry(collective.comm).or_insert(next));
        for step in &steps {
            hash = self.operation(hash, step)?;
        }
        self.steps = steps;
        Some(hash)
    }
}

//! Shapes of the programs of ranks: operations without the names of peers and communicators.

use rustc_hash::FxHashMap;

use super::keys::COLLECTIVE;
use crate::ids::RankId;
use crate::program::{ANY_SOURCE, Expand, Op, OpKind, Program, RankProgram};
use crate::symmetry::{Channel, Exchanges, RankShape, mix};

/// Returns the channels of all ranks of a program; `None` if they cannot be folded.
///
/// Ranks that take messages from any source depend on the names of ranks, so they cannot be folded; neither can ranks
/// of several threads. Cost: O(n) for the n operations of all ranks and the steps of their different collectives; of a
/// cyclic collective ([`Expand::is_cyclic`]) only those of one rank.
pub fn exchanges_of(program: &Program, expand: Option<&dyn Expand>) -> Option<Exchanges> {
    let mut collectives = Collectives { program, expand, cyclic: FxHashMap::default() };
    let shapes = program.iter().map(|(rank, ops)| shape_of(&mut collectives, rank, ops));
    Exchanges::new(shapes.collect::<Option<Vec<RankShape>>>()?)
}

/// Returns the shape of one rank; `None` if it cannot be folded.
fn shape_of(collectives: &mut Collectives<'_>, rank: RankId, ops: &RankProgram) -> Option<RankShape> {
    if !ops.threads.is_empty() {
        return None;
    }
    let mut reader = Reader::new(rank);
    let is_graph = ops.graph().is_some();
    let mut hash = mix(u64::from(is_graph), ops.ops.len() as u64);
    for op in &ops.ops {
        hash = match op.kind {
            OpKind::Collective | OpKind::Icollective => {
                reader.collective(mix(reader.own(hash, op), op.tag.into()), op.arg, collectives)?
            }
            _ => reader.operation(hash, op)?,
        };
    }
    hash = ops.lists.iter().fold(hash, |hash, &request| mix(hash, request.into()));
    if let Some(graph) = ops.graph() {
        for op in 0..ops.ops.len() as u32 {
            let edge = |hash, op: u32, for_start: bool| mix(hash, u64::from(op) << 1 | u64::from(for_start));
            hash = graph.followers(op).fold(mix(hash, u64::MAX), |hash, next| edge(hash, next.op, next.for_start));
        }
    }
    Some(reader.shape(hash))
}

/// Collectives of a program, and the shapes of those that all ranks of a communicator do alike.
struct Collectives<'a> {
    program: &'a Program,
    expand: Option<&'a dyn Expand>,
    /// Shape of rank 0 of the communicator, by collective; `None` if ranks differ. Its peers are ranks of the
    /// communicator.
    cyclic: FxHashMap<u32, Option<RankShape>>,
}

impl Collectives<'_> {
    /// Returns the shape of the steps of a rank in a collective.
    fn shape(&mut self, number: u32, me: RankId) -> Option<RankShape> {
        let collective = &self.program.collectives[number as usize];
        let group = &self.program.communicators[collective.comm as usize];
        let Some((expand, rank)) = self.expand.zip(group.rank_of(me)) else { return Some(RankShape::default()) };
        let steps = |rank: u32| {
            let mut steps = Vec::new();
            expand.steps(collective, group, rank, &mut steps);
            let mut reader = Reader::new(RankId(group.world_rank(rank)));
            let hash = steps.iter().try_fold(0, |hash, step| reader.operation(hash, step))?;
            Some(reader.shape(hash))
        };
        let first = self.cyclic.entry(number).or_insert_with(|| {
            let mut first = expand.is_cyclic(collective, group).then(|| steps(0)).flatten()?;
            for channel in first.sends.iter_mut().chain(&mut first.receives) {
                channel.peer = group.rank_of(RankId(channel.peer))?;
            }
            Some(first)
        });
        let Some(first) = first else { return steps(rank) };
        let peer = |of: u32| group.world_rank(((u64::from(of) + u64::from(rank)) % u64::from(group.size())) as u32);
        let turned = |ends: &[Channel]| ends.iter().map(|end| Channel { peer: peer(end.peer), ..*end }).collect();
        Some(RankShape { colour: first.colour, sends: turned(&first.sends), receives: turned(&first.receives) })
    }
}

/// Reader of the operations of a rank.
struct Reader {
    /// Numbers of peers, by first use; the rank itself is 0.
    peers: FxHashMap<u32, u64>,
    /// Numbers of communicators, by first use.
    kinds: FxHashMap<u32, u64>,
    /// Numbers of collectives, by first use.
    collectives: FxHashMap<u32, u64>,
    sends: Channels,
    receives: Channels,
    me: RankId,
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

impl Reader {
    fn new(me: RankId) -> Self {
        Self {
            peers: FxHashMap::from_iter([(me.0, 0)]),
            kinds: FxHashMap::default(),
            collectives: FxHashMap::default(),
            sends: Channels::default(),
            receives: Channels::default(),
            me,
        }
    }

    /// Returns the shape of the operations that were read, with their hash.
    fn shape(self, hash: u64) -> RankShape {
        RankShape { colour: hash, sends: self.sends.list, receives: self.receives.list }
    }

    /// Adds kind, marks, processor and size of an operation to a hash.
    fn own(&self, hash: u64, op: &Op) -> u64 {
        let form = u64::from(op.kind as u8) << 24 | u64::from(op.marks) << 16 | u64::from(op.cpu) << 8;
        mix(mix(hash, form | u64::from(op.nic)), op.size)
    }

    /// Adds an operation that is no collective to a hash.
    fn operation(&mut self, hash: u64, op: &Op) -> Option<u64> {
        let hash = self.own(hash, op);
        Some(match op.kind {
            OpKind::Send | OpKind::Isend | OpKind::Recv | OpKind::Irecv | OpKind::Probe => {
                if op.peer == ANY_SOURCE {
                    return None;
                }
                let channel = Channel { peer: op.peer, kind: op.arg & !COLLECTIVE };
                mix(self.channel(hash, channel, matches!(op.kind, OpKind::Send | OpKind::Isend)), op.tag.into())
            }
            _ => mix(hash, op.arg.into()),
        })
    }

    /// Adds a channel to a hash: its number, and those of its peer and communicator.
    fn channel(&mut self, hash: u64, channel: Channel, sends: bool) -> u64 {
        let channels = if sends { &mut self.sends } else { &mut self.receives };
        let hash = mix(hash, channels.number(channel));
        let next = self.peers.len() as u64;
        let peer = *self.peers.entry(channel.peer).or_insert(next);
        mix(hash, peer << 32 | self.kind(channel.kind))
    }

    /// Returns the number of a communicator.
    fn kind(&mut self, kind: u32) -> u64 {
        let next = self.kinds.len() as u64;
        *self.kinds.entry(kind).or_insert(next)
    }

    /// Adds the steps of a collective to a hash when it is called for the first time, and later its number.
    fn collective(&mut self, hash: u64, number: u32, collectives: &mut Collectives<'_>) -> Option<u64> {
        let next = self.collectives.len() as u64;
        let known = *self.collectives.entry(number).or_insert(next);
        let hash = mix(hash, known);
        if known < next {
            return Some(hash);
        }
        let RankShape { colour, sends, receives } = collectives.shape(number, self.me)?;
        // Its communicator numbers the calls, even of a collective without messages.
        let comm = self.kind(collectives.program.collectives[number as usize].comm);
        let hash = mix(mix(hash, comm), colour);
        let hash = sends.into_iter().fold(hash, |hash, channel| self.channel(hash, channel, true));
        Some(receives.into_iter().fold(hash, |hash, channel| self.channel(hash, channel, false)))
    }
}

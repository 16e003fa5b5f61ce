//! Schedules: the messages of a collective by sender, number and round, without following it rank by rank.

use smallvec::SmallVec;

use super::algorithm::Plan;
use super::alltoall::at_places;
use super::call::{Call, Operation};
use super::compose;
use super::data::{Data, cyclic};
use super::expansion::Expansion;
use super::phase::Phase;

/// Messages that all ranks send in one call of a collective.
///
/// A message depends on all messages that its sender receives in earlier rounds. If ranks start messages
/// without waiting for them, it also depends on those that its sender has started in earlier rounds. The
/// [`Step`](super::Step)s of the expansion have the same messages and dependencies.
///
/// Memory: that of the call. Cost of a message: constant for most algorithms, O(log P) along trees.
#[derive(Clone, Debug)]
pub struct Schedule {
    call: Call,
    pub(super) expansion: Expansion,
    /// Number of rounds before each phase.
    before: SmallVec<[u64; 2]>,
    rounds: u64,
}

/// A message of a [`Schedule`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scheduled {
    /// Receiver.
    pub to: u32,
    /// Size \[B\].
    pub bytes: u64,
    /// Round, from 0.
    pub round: u64,
}

/// Blocks that travel around a ring.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ring {
    /// Size of the largest block \[B\].
    pub largest: u64,
    /// True if all blocks have that size.
    pub is_even: bool,
}

impl Schedule {
    /// Creates the schedule of a call by a plan, or by the closest that can perform the call.
    ///
    /// Cost: O(P log P) for some trees, else constant.
    pub fn of(call: &Call, plan: Plan) -> Self {
        Self::new(call, Expansion::of(call, plan))
    }

    /// Creates the schedule of a broadcast of `bytes` bytes along one chain, in `segments` segments as even
    /// as possible.
    pub fn pipeline(ranks: u32, root: u32, bytes: u64, segments: u32) -> Self {
        let call = Call::equal(Operation::Bcast, ranks, bytes).rooted(root);
        Self::new(&call, Expansion { phases: compose::pipeline(ranks, root, bytes, segments) })
    }

    fn new(call: &Call, expansion: Expansion) -> Self {
        let mut rounds = 0;
        let mut before = SmallVec::new();
        for phase in &expansion.phases {
            before.push(rounds);
            rounds += phase.rounds();
        }
        Self { call: call.clone(), expansion, before, rounds }
    }

    /// Returns the call.
    pub fn call(&self) -> &Call {
        &self.call
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        self.call.ranks
    }

    /// Number of rounds: one more than that of the last message.
    pub fn rounds(&self) -> u64 {
        self.rounds
    }

    /// Number of messages that a rank sends.
    pub fn sends(&self, rank: u32) -> u64 {
        self.expansion.phases.iter().map(|phase| phase.sends(rank)).sum()
    }

    /// Returns the position of a rank's message: its phase, and the index of its action.
    fn place(&self, rank: u32, number: u64) -> Option<(usize, &Phase, u64)> {
        let mut number = number;
        for (at, phase) in self.expansion.phases.iter().enumerate() {
            let sends = phase.sends(rank);
            if number < sends {
                return Some((at, phase, phase.send(rank, number)));
            }
            number -= sends;
        }
        None
    }

    /// Returns the position, the receiver and the data of a rank's message with this number, from 0.
    fn data(&self, rank: u32, number: u64) -> Option<(usize, &Phase, u64, u32, Data)> {
        let (at, phase, index) = self.place(rank, number)?;
        let (to, data) = phase.action(rank, index)?.sent()?;
        Some((at, phase, index, to, data))
    }

    /// Returns the message of a rank with this number, from 0; `None` beyond the last.
    pub fn message(&self, rank: u32, number: u64) -> Option<Scheduled> {
        let (at, phase, index, to, data) = self.data(rank, number)?;
        let round = self.before[at] + phase.round(rank, index);
        Some(Scheduled { to, bytes: phase.bytes(rank, data), round })
    }

    /// Number of messages to a rank in a round.
    pub fn receives(&self, rank: u32, round: u64) -> u64 {
        // A phase without rounds begins where the next one does.
        let at = self.before.partition_point(|before| *before <= round);
        match (round < self.rounds, at.checked_sub(1)) {
            (true, Some(at)) => self.expansion.phases[at].receives(rank, round - self.before[at]),
            _ => 0,
        }
    }

    /// Returns the blocks that travel around a ring, if the schedule is one. On a ring of all ranks each rank
    /// sends one block to the next rank in every round: after the first round, the block that it has just
    /// received.
    ///
    /// Cost: O(P).
    pub fn ring(&self) -> Option<Ring> {
        let phases = &self.expansion.phases;
        if self.ranks() < 2 || phases.iter().any(|phase| phase.kept_on_ring(0).is_none()) {
            return None;
        }
        // This also holds between phases: the last block that rank 0 sends is the first that rank 1 sends.
        let block = |phase: &Phase, rank, index| Some(phase.action(rank, index)?.sent()?.1);
        let goes_on = |pair: &[Phase]| block(&pair[0], 0, pair[0].rounds() - 1) == block(&pair[1], 1, 0);
        let layout = phases.first()?.layout()?;
        let (least, largest) = layout.sizes();
        phases.windows(2).all(goes_on).then_some(Ring { largest, is_even: least == largest })
    }

    /// Total size of all messages of a rank on a [ring](Schedule::ring) \[B\].
    pub fn sent_on_ring(&self, rank: u32) -> u64 {
        let sent = |phase: &Phase| {
            let (layout, kept) = (phase.layout()?, phase.kept_on_ring(rank)?);
            Some(layout.total() as u64 - layout.bytes(kept, 1))
        };
        self.expansion.phases.iter().filter_map(sent).sum()
    }

    /// Total size of all messages \[B\].
    pub fn bytes(&self) -> u128 {
        self.expansion.phases.iter().map(|phase| phase.total()).sum()
    }

    /// Returns true if any message depends on messages that its sender has received.
    pub fn waits(&self) -> bool {
        self.expansion.phases.len() > 1 || self.expansion.phases.iter().any(|phase| phase.waits())
    }

    /// Returns true if ranks start several messages before they wait for one.
    pub fn starts(&self) -> bool {
        self.expansion.phases.iter().any(|phase| phase.starts())
    }

    /// Largest number of messages in flight to one rank at once, if it is large by design; else 0.
    pub fn most_to_one(&self) -> u32 {
        self.expansion.phases.iter().map(|phase| phase.most_to_one()).max().unwrap_or(0)
    }

    /// Returns the data of a message, by origin and part. In an all-to-all (s, d) is the block of rank s for
    /// rank d. Else (r, k) is block k of the layout as rank r has it at the start: the k-th segment of a
    /// vector, or in a scatter the block for rank k. In gathers and allgathers, in which each rank has one
    /// block, its part is 0.
    pub fn carries(&self, rank: u32, number: u64) -> Vec<(u32, u32)> {
        use Operation as O;
        let Some((at, phase, index, _, data)) = self.data(rank, number) else { return Vec::new() };
        let (ranks, root) = (self.call.ranks, self.call.root);
        let blocks: Vec<u32> = match data {
            Data::Token => return Vec::new(),
            Data::Pair { src, dst } => return vec![(src, dst)],
            Data::Places { sender, bit } => return at_places(ranks, sender, bit),
            Data::Blocks { first, count } => {
                let all = phase.layout().map_or(1, |layout| layout.blocks());
                (0..count).map(|by| (first + by) % all).collect()
            }
            Data::Cyclic { first, stride, count } => {
                cyclic(first, stride, count, phase.layout().map_or(1, |layout| layout.blocks())).collect()
            }
            Data::Strided { first, stride } => {
                let all = phase.layout().map_or(1, |layout| layout.blocks());
                (first..all).step_by(stride as usize).collect()
            }
        };
        match self.call.collective {
            O::Barrier | O::Alltoall | O::Alltoallv => Vec::new(),
            O::Bcast | O::Scatter | O::Scatterv => blocks.into_iter().map(|part| (root, part)).collect(),
            // Gathered blocks are sent on as one block.
            O::Allgather | O::Allgatherv if at > 0 => (0..ranks).map(|origin| (origin, 0)).collect(),
            O::Gather | O::Gatherv | O::Allgather | O::Allgatherv => {
                blocks.into_iter().map(|origin| (origin, 0)).collect()
            }
            O::Reduce | O::Allreduce | O::ReduceScatter | O::ReduceScatterBlock | O::Scan | O::Exscan => {
                let combined: Vec<u32> = if at > 0 { (0..ranks).collect() } else { phase.contributors(rank, index) };
                blocks.iter().flat_map(|part| combined.iter().map(|origin| (*origin, *part))).collect()
            }
        }
    }
}

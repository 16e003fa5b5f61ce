//! Schedules: the messages of a collective by sender, number and round, without following it rank by rank.

use smallvec::SmallVec;

use super::algorithm::Plan;
use super::alltoall::at_places;
use super::call::{Call, Operation};
use super::compose;
use super::data::Data;
use super::expansion::Expansion;
use super::phase::Phase;

/// The messages that all ranks send in one call of a collective.
///
/// A message needs what its sender receives in earlier rounds; and where ranks start messages without waiting for them,
/// it waits for those that its sender has started in earlier rounds. That is what the [`Step`](super::Step)s of the
/// expansion say, whose messages these are.
///
/// Memory: that of the call. Cost of a message: constant for most algorithms, O(log P) along trees.
#[derive(Clone, Debug)]
pub struct Schedule {
    call: Call,
    pub(super) expansion: Expansion,
    /// Rounds before each phase.
    before: SmallVec<[u64; 2]>,
    rounds: u64,
}

/// A message of a [`Schedule`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scheduled {
    /// Who gets it.
    pub to: u32,
    /// Size \[B\].
    pub bytes: u64,
    /// The round, from 0.
    pub round: u64,
}

/// What goes round a ring.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ring {
    /// Size of the largest block \[B\].
    pub largest: u64,
    /// Whether all blocks have that size.
    pub is_even: bool,
}

impl Schedule {
    /// The messages of a call by a plan, or by the closest that can do the call.
    ///
    /// Cost: O(P log P) for some trees, else constant.
    pub fn of(call: &Call, plan: Plan) -> Self {
        Self::new(call, Expansion::of(call, plan))
    }

    /// The messages of a broadcast of `bytes` bytes \[B\] along one chain, in so many segments as even as can be.
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

    /// Where the message of this number is: which phase, and the index of its action.
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

    /// What is sent in the message of this number, from 0.
    fn data(&self, rank: u32, number: u64) -> Option<(usize, &Phase, u64, u32, Data)> {
        let (at, phase, index) = self.place(rank, number)?;
        let (to, data) = phase.action(rank, index)?.sent()?;
        Some((at, phase, index, to, data))
    }

    /// The message of a rank with this number, from 0; `None` beyond the last.
    pub fn message(&self, rank: u32, number: u64) -> Option<Scheduled> {
        let (at, phase, index, to, data) = self.data(rank, number)?;
        let round = self.before[at] + phase.round(rank, index);
        Some(Scheduled { to, bytes: phase.bytes(rank, data), round })
    }

    /// Number of messages that a rank gets in a round.
    pub fn receives(&self, rank: u32, round: u64) -> u64 {
        // Phases without rounds begin where the next one does.
        let at = self.before.partition_point(|before| *before <= round);
        match (round < self.rounds, at.checked_sub(1)) {
            (true, Some(at)) => self.expansion.phases[at].receives(rank, round - self.before[at]),
            _ => 0,
        }
    }

    /// The blocks that go round, where in every round each rank sends the next one on a ring of all ranks one block,
    /// after the first round the one that it has just got.
    ///
    /// Cost: O(P).
    pub fn ring(&self) -> Option<Ring> {
        let phases = &self.expansion.phases;
        if self.ranks() < 2 || phases.iter().any(|phase| phase.kept_on_ring(0).is_none()) {
            return None;
        }
        // From one phase to the next, too: what rank 0 sends last is what rank 1 sends first.
        let block = |phase: &Phase, rank, index| Some(phase.action(rank, index)?.sent()?.1);
        let goes_on = |pair: &[Phase]| block(&pair[0], 0, pair[0].rounds() - 1) == block(&pair[1], 1, 0);
        let layout = phases.first()?.layout()?;
        let (least, largest) = layout.sizes();
        phases.windows(2).all(goes_on).then_some(Ring { largest, is_even: least == largest })
    }

    /// Bytes of all messages of a rank on a [ring](Schedule::ring) \[B\].
    pub fn sent_on_ring(&self, rank: u32) -> u64 {
        let sent = |phase: &Phase| {
            let (layout, kept) = (phase.layout()?, phase.kept_on_ring(rank)?);
            Some(layout.total() as u64 - layout.bytes(kept, 1))
        };
        self.expansion.phases.iter().filter_map(sent).sum()
    }

    /// Bytes of all messages \[B\].
    pub fn bytes(&self) -> u128 {
        self.expansion.phases.iter().map(|phase| phase.total()).sum()
    }

    /// Whether any message needs what its sender has received.
    pub fn waits(&self) -> bool {
        self.expansion.phases.len() > 1 || self.expansion.phases.iter().any(|phase| phase.waits())
    }

    /// Whether ranks start several messages before they wait for one.
    pub fn starts(&self) -> bool {
        self.expansion.phases.iter().any(|phase| phase.starts())
    }

    /// How many messages may be on their way to one rank at once, where these are many.
    pub fn most_to_one(&self) -> u32 {
        self.expansion.phases.iter().map(|phase| phase.most_to_one()).max().unwrap_or(0)
    }

    /// The data that a message holds, by origin and part: in an all-to-all (s, d) is what rank s has for rank d; else
    /// (r, k) is block k of the layout as rank r has it at the start: the k-th segment of a vector, or in a scatter the
    /// block for rank k. In gathers and allgathers, where each rank has one block, its part is 0.
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
            Data::Strided { first, stride } => {
                let all = phase.layout().map_or(1, |layout| layout.blocks());
                (first..all).step_by(stride as usize).collect()
            }
        };
        match self.call.collective {
            O::Barrier | O::Alltoall | O::Alltoallv => Vec::new(),
            O::Bcast | O::Scatter | O::Scatterv => blocks.into_iter().map(|part| (root, part)).collect(),
            // All that was gathered is one block where it is sent on.
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

//! Actions of each rank as a function of rank and index, and their rounds.

use super::data::{Data, ReceivedUse, cyclic};
use super::fold::Butterfly;
use super::layout::Layout;

/// Next action of a rank, with data instead of sizes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Action {
    /// Nothing at this index (an empty block).
    Nothing,
    Send {
        to: u32,
        data: Data,
    },
    Receive {
        from: u32,
        data: Data,
        then: ReceivedUse,
    },
    Exchange {
        to: u32,
        sent: Data,
        from: u32,
        received: Data,
        then: ReceivedUse,
    },
    StartSend {
        to: u32,
        data: Data,
    },
    StartReceive {
        from: u32,
        data: Data,
    },
    WaitAll,
}

impl Action {
    /// Returns the receiver and the data if the action sends.
    pub fn sent(self) -> Option<(u32, Data)> {
        match self {
            Self::Send { to, data } | Self::StartSend { to, data } => Some((to, data)),
            Self::Exchange { to, sent, .. } => Some((to, sent)),
            Self::Nothing | Self::Receive { .. } | Self::StartReceive { .. } | Self::WaitAll => None,
        }
    }

    /// Returns true if the action receives.
    pub fn receives(self) -> bool {
        matches!(self, Self::Receive { .. } | Self::Exchange { .. } | Self::StartReceive { .. })
    }
}

/// Actions of the ranks in a phase, and their rounds.
///
/// Both ends of a message agree on its round, and rounds never decrease along the actions of a rank. A rank's
/// message depends on all messages that the rank has received by then, and these are exactly the messages to
/// it in earlier rounds. So the messages of a phase are known without following it rank by rank. The tests
/// compare the rounds of every algorithm with the order of actions.
pub(super) trait Rounds {
    /// Returns the action of `rank` at this index; `None` when it is done.
    fn action(&self, rank: u32, index: u64) -> Option<Action>;

    /// Returns the layout of the blocks in its messages; `None` if messages are not ranges of blocks.
    fn layout(&self) -> Option<&Layout>;

    /// Number of ranks.
    fn ranks(&self) -> u32;

    /// Returns the phase as a butterfly, if it is one.
    fn butterfly(&self) -> Option<Butterfly> {
        None
    }

    /// Number of rounds: one more than that of the last message.
    fn rounds(&self) -> u64 {
        self.butterfly().map_or(1, |butterfly| butterfly.rounds())
    }

    /// Returns the round of a rank's action at this index.
    fn round(&self, rank: u32, index: u64) -> u64 {
        self.butterfly().map_or(index, |butterfly| butterfly.round(rank, index))
    }

    /// Returns true if in each round each rank sends and receives one message, in the action of that number.
    fn is_regular(&self) -> bool {
        false
    }

    /// Returns the block that this rank never sends on a ring; `None` if the phase is no ring. On a ring a
    /// rank first sends one of its blocks to the next rank, and then in each round the block that it received
    /// in the round before.
    fn kept_on_ring(&self, rank: u32) -> Option<u32> {
        let _ = rank;
        None
    }

    /// Number of messages that a rank sends.
    fn sends(&self, rank: u32) -> u64 {
        match self.butterfly() {
            Some(butterfly) => butterfly.sends(rank),
            None if self.is_regular() => self.rounds(),
            None => by_action::sends(self, rank),
        }
    }

    /// Returns the action in which a rank sends its message of this number, from 0.
    fn send(&self, rank: u32, number: u64) -> u64 {
        match self.butterfly() {
            Some(butterfly) => butterfly.send(rank, number),
            None if self.is_regular() => number,
            None => by_action::send(self, rank, number),
        }
    }

    /// Number of messages that a rank receives in a round.
    fn receives(&self, rank: u32, round: u64) -> u64 {
        match self.butterfly() {
            Some(butterfly) => butterfly.receives(rank, round),
            None if self.is_regular() => u64::from(round < self.rounds()),
            None => by_action::receives(self, rank, round),
        }
    }

    /// Total size of all messages \[B\].
    fn total(&self) -> u128 {
        by_action::total(self)
    }

    /// Returns true if any message depends on messages that its sender has received in this phase.
    fn waits(&self) -> bool {
        true
    }

    /// Returns true if ranks start several messages before they wait for one.
    fn starts(&self) -> bool {
        false
    }

    /// Returns true if a rank sends to all its children at once.
    fn posts(&self) -> bool {
        false
    }

    /// Largest number of messages in flight to one rank at once, if it is large by design; else 0.
    fn most_to_one(&self) -> u32 {
        0
    }

    /// Returns the ranks whose contributions are combined in a rank's message at this index; before the phase
    /// each rank has only its own.
    fn contributors(&self, rank: u32, index: u64) -> Vec<u32> {
        let _ = index;
        vec![rank]
    }

    /// Size of a message from or to `rank` \[B\].
    fn bytes(&self, rank: u32, data: Data) -> u64 {
        let _ = rank;
        let Some(layout) = self.layout() else { return 0 };
        match data {
            Data::Blocks { first, count } => layout.bytes(first, count),
            // Blocks that are taken this way have one size.
            Data::Strided { first, stride } => {
                u64::from((layout.blocks() - first).div_ceil(stride)) * layout.bytes(first, 1)
            }
            Data::Cyclic { first, stride, count } => {
                cyclic(first, stride, count, layout.blocks()).map(|block| layout.bytes(block, 1)).sum()
            }
            Data::Token | Data::Pair { .. } | Data::Places { .. } => 0,
        }
    }
}

/// Answers found by going through the actions of a rank, for phases with few actions.
pub(super) mod by_action {
    use super::{Action, Rounds};

    fn actions<P: Rounds + ?Sized>(phase: &P, rank: u32) -> impl Iterator<Item = (u64, Action)> {
        (0..).map_while(move |index| Some((index, phase.action(rank, index)?)))
    }

    pub fn sends<P: Rounds + ?Sized>(phase: &P, rank: u32) -> u64 {
        actions(phase, rank).filter(|(_, action)| action.sent().is_some()).count() as u64
    }

    pub fn send<P: Rounds + ?Sized>(phase: &P, rank: u32, number: u64) -> u64 {
        let mut sending = actions(phase, rank).filter(|(_, action)| action.sent().is_some());
        sending.nth(number as usize).map_or(u64::MAX, |(index, _)| index)
    }

    pub fn receives<P: Rounds + ?Sized>(phase: &P, rank: u32, round: u64) -> u64 {
        let receiving = actions(phase, rank).filter(|(_, action)| action.receives());
        receiving.filter(|(index, _)| phase.round(rank, *index) == round).count() as u64
    }

    pub fn total<P: Rounds + ?Sized>(phase: &P) -> u128 {
        let of_rank = |rank| actions(phase, rank).filter_map(move |(_, action)| Some((rank, action.sent()?.1)));
        (0..phase.ranks()).flat_map(of_rank).map(|(rank, data)| u128::from(phase.bytes(rank, data))).sum()
    }
}

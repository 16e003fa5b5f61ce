//! What an algorithm makes each rank do, as a function of rank and index, and in which round.

use super::data::{Data, Then};
use super::fold::Butterfly;
use super::layout::Layout;

/// What a rank does next, with data instead of sizes.
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
        then: Then,
    },
    Exchange {
        to: u32,
        sent: Data,
        from: u32,
        received: Data,
        then: Then,
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
    /// What it sends, and to whom.
    pub fn sent(self) -> Option<(u32, Data)> {
        match self {
            Self::Send { to, data } | Self::StartSend { to, data } => Some((to, data)),
            Self::Exchange { to, sent, .. } => Some((to, sent)),
            Self::Nothing | Self::Receive { .. } | Self::StartReceive { .. } | Self::WaitAll => None,
        }
    }

    /// Whether it receives.
    pub fn receives(self) -> bool {
        matches!(self, Self::Receive { .. } | Self::Exchange { .. } | Self::StartReceive { .. })
    }
}

/// What ranks do in a phase, action by action, and the rounds that this makes.
///
/// Both ends of a message agree on its round, and along the actions of a rank rounds never descend. What a rank sends
/// needs what it has received by then, and that is just what is sent to it in earlier rounds. So the messages of a
/// phase are told without following it rank by rank: the tests hold the rounds of every algorithm against the order of
/// actions.
pub(super) trait Rounds {
    /// What `rank` does at this index; `None` when it is done.
    fn action(&self, rank: u32, index: u64) -> Option<Action>;

    /// The blocks its messages are made of; none where they are not made of blocks in a row.
    fn layout(&self) -> Option<&Layout>;

    /// Number of ranks.
    fn ranks(&self) -> u32;

    /// The butterfly that it is, where it is one.
    fn butterfly(&self) -> Option<Butterfly> {
        None
    }

    /// Number of rounds: one more than that of the last message.
    fn rounds(&self) -> u64 {
        self.butterfly().map_or(1, |butterfly| butterfly.rounds())
    }

    /// The round of what a rank sends or receives at this index.
    fn round(&self, rank: u32, index: u64) -> u64 {
        self.butterfly().map_or(index, |butterfly| butterfly.round(rank, index))
    }

    /// Whether in each round each rank sends one message and receives one, in the action of that number.
    fn is_regular(&self) -> bool {
        false
    }

    /// Around a ring, where a rank sends the next one its own block or what it has, and then in each round what it got
    /// in the one before: the block that this rank never sends. `None` for what is not such a ring.
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

    /// The action in which a rank sends its message of this number, from 0.
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

    /// Bytes of all messages \[B\].
    fn total(&self) -> u128 {
        by_action::total(self)
    }

    /// Whether any message needs what its sender has received in this phase.
    fn waits(&self) -> bool {
        true
    }

    /// Whether ranks start several messages before they wait for one.
    fn starts(&self) -> bool {
        false
    }

    /// How many messages may be on their way to one rank at once, where these are many.
    fn most_to_one(&self) -> u32 {
        0
    }

    /// Whose contributions are combined in what a rank sends at this index, where before the phase each had its own
    /// only.
    fn contributors(&self, rank: u32, index: u64) -> Vec<u32> {
        let _ = index;
        vec![rank]
    }

    /// Size of a message of `rank` or to it \[B\].
    fn bytes(&self, rank: u32, data: Data) -> u64 {
        let _ = rank;
        let Some(layout) = self.layout() else { return 0 };
        match data {
            Data::Blocks { first, count } => layout.bytes(first, count),
            // Blocks that are taken this way are of one size.
            Data::Strided { first, stride } => {
                u64::from((layout.blocks() - first).div_ceil(stride)) * layout.bytes(first, 1)
            }
            Data::Token | Data::Pair { .. } | Data::Places { .. } => 0,
        }
    }
}

/// Answers found by looking at the actions of a rank, where these are few.
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

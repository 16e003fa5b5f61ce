//! All-to-alls: each rank has a block for each rank.

use super::call::Sizes;
use super::data::{Data, ReceivedUse};
use super::layout::{Layout, ceil_log2};
use super::rounds::{Action, Rounds, by_action};

/// Algorithm of an all-to-all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AlltoallAlgorithm {
    /// All receives and all sends are started, for `at_once` peers at a time: those 1, 2, 3 ... places on.
    Started { at_once: u32 },
    /// In step p a rank sends to the rank p places on and receives from the rank p places before.
    Shift,
    /// In step p partners are `r` and `r xor p`; P is a power of two.
    Pairwise,
    /// In round k a rank sends all blocks that still have to move 2^k places, in one message: ceil(log2 P)
    /// messages of about half of all blocks.
    ///
    /// Source: Bruck et al., IEEE TPDS 8(11), 1997, section 3.
    Bruck,
}

/// An all-to-all.
#[derive(Clone, Debug)]
pub(super) struct Alltoall {
    pub algorithm: AlltoallAlgorithm,
    pub ranks: u32,
    pub sizes: Sizes,
}

impl Rounds for Alltoall {
    fn action(&self, rank: u32, index: u64) -> Option<Action> {
        let ranks = self.ranks;
        let plus = |by: u32| ((u64::from(rank) + u64::from(by)) % u64::from(ranks)) as u32;
        let minus = |by: u32| plus(ranks - by);
        match self.algorithm {
            AlltoallAlgorithm::Started { at_once } => self.started(rank, index, at_once),
            AlltoallAlgorithm::Shift | AlltoallAlgorithm::Pairwise => {
                let step = u32::try_from(index + 1).ok().filter(|&step| step < ranks)?;
                let (to, from) = match self.algorithm {
                    AlltoallAlgorithm::Pairwise => (rank ^ step, rank ^ step),
                    _ => (plus(step), minus(step)),
                };
                let (sent, received) = (Data::Pair { src: rank, dst: to }, Data::Pair { src: from, dst: rank });
                Some(Action::Exchange { to, sent, from, received, then: ReceivedUse::Keep })
            }
            AlltoallAlgorithm::Bruck => {
                let bit = u32::try_from(index).ok()?;
                let distance = 1u32.checked_shl(bit).filter(|&distance| distance < ranks)?;
                let (to, from) = (plus(distance), minus(distance));
                let (sent, received) = (Data::Places { sender: rank, bit }, Data::Places { sender: from, bit });
                Some(Action::Exchange { to, sent, from, received, then: ReceivedUse::Keep })
            }
        }
    }

    fn layout(&self) -> Option<&Layout> {
        None
    }

    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn rounds(&self) -> u64 {
        let others = self.ranks - 1;
        u64::from(match self.algorithm {
            AlltoallAlgorithm::Shift | AlltoallAlgorithm::Pairwise => others,
            AlltoallAlgorithm::Bruck => ceil_log2(self.ranks),
            AlltoallAlgorithm::Started { at_once } => others.div_ceil(at_once.max(1)),
        })
    }

    /// Messages started together are one round.
    fn round(&self, _: u32, index: u64) -> u64 {
        match self.algorithm {
            AlltoallAlgorithm::Started { at_once } => index / (2 * u64::from(at_once.max(1)) + 1),
            _ => index,
        }
    }

    fn is_regular(&self) -> bool {
        !self.starts()
    }

    fn sends(&self, rank: u32) -> u64 {
        match (self.algorithm, &self.sizes) {
            (AlltoallAlgorithm::Started { .. }, Sizes::Own { .. }) => by_action::sends(self, rank),
            (AlltoallAlgorithm::Started { .. }, _) => u64::from(self.ranks) - 1,
            _ => self.rounds(),
        }
    }

    fn send(&self, rank: u32, number: u64) -> u64 {
        match (self.algorithm, &self.sizes) {
            (AlltoallAlgorithm::Started { .. }, Sizes::Own { .. }) => by_action::send(self, rank, number),
            (AlltoallAlgorithm::Started { at_once }, _) => {
                let at_once = u64::from(at_once.max(1));
                number / at_once * (2 * at_once + 1) + at_once + number % at_once
            }
            _ => number,
        }
    }

    fn receives(&self, rank: u32, round: u64) -> u64 {
        match (self.algorithm, &self.sizes) {
            (AlltoallAlgorithm::Started { .. }, Sizes::Own { .. }) => by_action::receives(self, rank, round),
            (AlltoallAlgorithm::Started { at_once }, _) => {
                let (others, at_once) = (u64::from(self.ranks) - 1, u64::from(at_once.max(1)));
                others.saturating_sub(round.saturating_mul(at_once)).min(at_once)
            }
            _ => u64::from(round < self.rounds()),
        }
    }

    fn total(&self) -> u128 {
        let Sizes::Equal(bytes) = self.sizes else { return by_action::total(self) };
        let ranks = self.ranks;
        let blocks: u128 = match self.algorithm {
            AlltoallAlgorithm::Bruck => (0..ceil_log2(ranks)).map(|bit| u128::from(places_with(ranks, bit))).sum(),
            _ => u128::from(ranks - 1),
        };
        u128::from(ranks) * blocks * u128::from(bytes)
    }

    fn waits(&self) -> bool {
        self.rounds() > 1 || !self.starts()
    }

    fn starts(&self) -> bool {
        matches!(self.algorithm, AlltoallAlgorithm::Started { .. })
    }

    fn bytes(&self, rank: u32, data: Data) -> u64 {
        match (data, &self.sizes) {
            (Data::Pair { .. }, Sizes::Equal(bytes)) => *bytes,
            (Data::Pair { src, dst }, Sizes::Own { send, receive }) => {
                let (counts, peer) = if src == rank { (Some(send), dst) } else { (receive.as_ref(), src) };
                counts.and_then(|counts| counts.get(peer as usize)).copied().unwrap_or(0)
            }
            (Data::Places { bit, .. }, Sizes::Equal(bytes)) => {
                bytes.saturating_mul(u64::from(places_with(self.ranks, bit)))
            }
            _ => 0,
        }
    }
}

impl Alltoall {
    /// Returns the action of batches of `at_once` receives, then as many sends, then a wait; empty blocks are
    /// left out.
    fn started(&self, rank: u32, index: u64, at_once: u32) -> Option<Action> {
        let (others, at_once) = (u64::from(self.ranks) - 1, u64::from(at_once.max(1)));
        let batch = index / (2 * at_once + 1);
        let first = batch * at_once;
        if first >= others {
            return None;
        }
        let (count, within) = (at_once.min(others - first), index % (2 * at_once + 1));
        let distance = first + within % at_once + 1;
        let receives = within < at_once;
        if within == 2 * at_once {
            return Some(Action::WaitAll);
        }
        if within % at_once >= count {
            return Some(Action::Nothing);
        }
        let ranks = u64::from(self.ranks);
        let plus = ((u64::from(rank) + distance) % ranks) as u32;
        let minus = ((u64::from(rank) + ranks - distance) % ranks) as u32;
        let data = if receives { Data::Pair { src: minus, dst: rank } } else { Data::Pair { src: rank, dst: plus } };
        Some(match receives {
            _ if self.skips(rank, data) => Action::Nothing,
            true => Action::StartReceive { from: minus, data },
            false => Action::StartSend { to: plus, data },
        })
    }

    /// Returns true if a message is left out. Blocks of one size are sent even if they are empty; blocks of
    /// different sizes are left out if they are empty and both sides know it.
    fn skips(&self, rank: u32, data: Data) -> bool {
        matches!(self.sizes, Sizes::Own { receive: Some(_), .. }) && self.bytes(rank, data) == 0
    }
}

/// Number of places below `ranks` that have this bit set.
fn places_with(ranks: u32, bit: u32) -> u32 {
    let (ranks, unit) = (u64::from(ranks), 1u64 << bit);
    let whole = ranks / (2 * unit) * unit;
    (whole + (ranks % (2 * unit)).saturating_sub(unit)) as u32
}

/// Returns the blocks in a message of [`Data::Places`], as source and destination.
pub(super) fn at_places(ranks: u32, sender: u32, bit: u32) -> Vec<(u32, u32)> {
    (0..ranks)
        .filter(|place| place >> bit & 1 == 1)
        .map(|place| {
            let src = (sender + ranks - (place & ((1 << bit) - 1))) % ranks;
            (src, (src + place) % ranks)
        })
        .collect()
}

//! Barriers without a root.

use super::data::{Data, ReceivedUse};
use super::fold::{Butterfly, ButterflyPosition, Fold};
use super::layout::{Layout, ceil_log2};
use super::rounds::{Action, Rounds};

/// A barrier in which all ranks do the same.
#[derive(Clone, Copy, Debug)]
pub(super) enum Barrier {
    /// In round k a rank signals the rank 2^k places on and waits for the rank 2^k before: ceil(log2 P)
    /// rounds.
    ///
    /// Source: Hensgen, Finkel, Manber, "Two algorithms for barrier synchronization", IJPP 17(1), 1988.
    Dissemination { ranks: u32 },
    /// In round k partners are 2^k apart. Ranks beyond the largest power of two first report to a rank below
    /// it, and hear from it at the end.
    RecursiveDoubling { ranks: u32 },
    /// A token goes around the ring twice.
    Ring { ranks: u32 },
}

impl Rounds for Barrier {
    fn action(&self, rank: u32, index: u64) -> Option<Action> {
        match *self {
            Self::Dissemination { ranks } => {
                let distance = 1u64.checked_shl(u32::try_from(index).ok()?)?;
                let distance = u32::try_from(distance).ok().filter(|&distance| distance < ranks)?;
                let to = ((u64::from(rank) + u64::from(distance)) % u64::from(ranks)) as u32;
                let from = if rank >= distance { rank - distance } else { rank + (ranks - distance) };
                Some(exchange(to, from))
            }
            Self::RecursiveDoubling { ranks } => {
                let fold = Fold::beyond(ranks);
                let (data, then) = (Data::Token, ReceivedUse::Keep);
                match Butterfly::of(fold, true).place(rank, index)? {
                    ButterflyPosition::GiveUp { to } => Some(Action::Send { to, data }),
                    ButterflyPosition::TakeOver { from } => Some(Action::Receive { from, data, then }),
                    ButterflyPosition::Round { member, round } => {
                        let partner = fold.rank(member ^ (1 << round));
                        Some(exchange(partner, partner))
                    }
                    ButterflyPosition::GiveBack { to } => Some(Action::Send { to, data }),
                    ButterflyPosition::GetBack { from } => Some(Action::Receive { from, data, then }),
                }
            }
            Self::Ring { ranks } => {
                if ranks < 2 || index >= 4 {
                    return None;
                }
                let (to, from) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
                // Rank 0 starts each round; the other ranks pass it on.
                let sends = index.is_multiple_of(2) == (rank == 0);
                let (data, then) = (Data::Token, ReceivedUse::Keep);
                Some(if sends { Action::Send { to, data } } else { Action::Receive { from, data, then } })
            }
        }
    }

    fn layout(&self) -> Option<&Layout> {
        None
    }

    fn ranks(&self) -> u32 {
        match *self {
            Self::Dissemination { ranks } | Self::RecursiveDoubling { ranks } | Self::Ring { ranks } => ranks,
        }
    }

    fn rounds(&self) -> u64 {
        match *self {
            Self::Dissemination { ranks } => u64::from(ceil_log2(ranks)),
            Self::RecursiveDoubling { ranks } => Butterfly::of(Fold::beyond(ranks), true).rounds(),
            Self::Ring { ranks } => 2 * u64::from(ranks),
        }
    }

    fn round(&self, rank: u32, index: u64) -> u64 {
        match *self {
            Self::Dissemination { .. } => index,
            Self::RecursiveDoubling { ranks } => Butterfly::of(Fold::beyond(ranks), true).round(rank, index),
            // The token leaves rank r in rounds r and P + r.
            Self::Ring { ranks } => {
                let (time, second) = (u64::from(ranks) * (index / 2), index % 2);
                match rank {
                    0 => time + second * (u64::from(ranks) - 1),
                    _ => time + u64::from(rank) - 1 + second,
                }
            }
        }
    }

    fn is_regular(&self) -> bool {
        matches!(self, Self::Dissemination { .. })
    }

    fn total(&self) -> u128 {
        0
    }
}

fn exchange(to: u32, from: u32) -> Action {
    Action::Exchange { to, sent: Data::Token, from, received: Data::Token, then: ReceivedUse::Keep }
}

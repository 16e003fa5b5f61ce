//! Scans: each rank gets the combined data of the ranks up to it, in their order.

use super::data::{Data, ReceivedUse};
use super::layout::{Layout, ceil_log2};
use super::rounds::{Action, Rounds};

/// A scan or an exscan.
#[derive(Clone, Debug)]
pub(super) struct Scan {
    pub algorithm: ScanAlgorithm,
    /// True if a rank's own contribution is left out of its result.
    pub exclusive: bool,
    pub ranks: u32,
    pub layout: Layout,
}

/// Algorithm of a scan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ScanAlgorithm {
    /// Each rank combines the data from the rank before with its own and passes them on: P - 1 messages one
    /// after the other.
    Linear,
    /// In round k partners `r` and `r xor 2^k` exchange the combinations of their groups of 2^k: ceil(log2 P)
    /// rounds. The higher rank also combines the received data with its result.
    RecursiveDoubling,
}

impl Rounds for Scan {
    fn action(&self, rank: u32, index: u64) -> Option<Action> {
        let data = Data::block(0);
        match self.algorithm {
            ScanAlgorithm::Linear => {
                let receives = rank > 0;
                match index {
                    0 if receives => Some(Action::Receive { from: rank - 1, data, then: self.prefix_use(rank) }),
                    _ if index == u64::from(receives) && rank + 1 < self.ranks => {
                        Some(Action::Send { to: rank + 1, data })
                    }
                    _ => None,
                }
            }
            ScanAlgorithm::RecursiveDoubling => {
                let distance =
                    1u32.checked_shl(u32::try_from(index).ok()?).filter(|&distance| distance < self.ranks)?;
                let partner = rank ^ distance;
                if partner >= self.ranks {
                    return Some(Action::Nothing);
                }
                let then = match () {
                    () if partner > rank => ReceivedUse::Right,
                    // In its first round with a lower partner a rank has no result yet.
                    () if self.exclusive && rank & (distance - 1) == 0 => ReceivedUse::First,
                    () => ReceivedUse::Both,
                };
                Some(Action::Exchange { to: partner, sent: data, from: partner, received: data, then })
            }
        }
    }

    fn layout(&self) -> Option<&Layout> {
        Some(&self.layout)
    }

    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn rounds(&self) -> u64 {
        u64::from(match self.algorithm {
            ScanAlgorithm::Linear => self.ranks - 1,
            ScanAlgorithm::RecursiveDoubling => ceil_log2(self.ranks),
        })
    }

    fn round(&self, rank: u32, index: u64) -> u64 {
        match self.algorithm {
            ScanAlgorithm::Linear => u64::from(rank.saturating_sub(1)) + index,
            ScanAlgorithm::RecursiveDoubling => index,
        }
    }

    fn contributors(&self, rank: u32, index: u64) -> Vec<u32> {
        let mut all = match self.algorithm {
            ScanAlgorithm::Linear => (0..=rank).collect(),
            ScanAlgorithm::RecursiveDoubling => self.group(rank, index as u32),
        };
        all.sort_unstable();
        all
    }
}

impl Scan {
    /// Returns the ranks whose contributions a rank has combined before this round, in no order.
    fn group(&self, rank: u32, round: u32) -> Vec<u32> {
        let Some(before) = round.checked_sub(1) else { return vec![rank] };
        let mut group = self.group(rank, before);
        let partner = rank ^ (1 << before);
        if partner < self.ranks {
            group.extend(self.group(partner, before));
        }
        group
    }

    /// Returns the use of the combination of all ranks before, in a linear scan.
    fn prefix_use(&self, rank: u32) -> ReceivedUse {
        match self.exclusive {
            false => ReceivedUse::Both,
            true if rank + 1 < self.ranks => ReceivedUse::First,
            true => ReceivedUse::Result,
        }
    }
}

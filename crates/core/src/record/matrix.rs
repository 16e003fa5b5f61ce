//! The communication matrix: messages and bytes from each rank to each other.

use std::collections::BTreeMap;

use crate::player::Transfer;

/// Messages and bytes by sender and receiver; pairs without messages take no memory.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Matrix {
    pairs: BTreeMap<(u32, u32), (u64, u64)>,
}

impl Matrix {
    /// Counts a message.
    pub fn add(&mut self, transfer: &Transfer) {
        let pair = self.pairs.entry((transfer.src.0, transfer.dst.0)).or_default();
        pair.0 += 1;
        pair.1 += transfer.bytes;
    }

    /// Returns sender, receiver, messages and bytes \[B\], ordered by sender and receiver.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32, u64, u64)> {
        self.pairs.iter().map(|(&(src, dst), &(messages, bytes))| (src, dst, messages, bytes))
    }
}

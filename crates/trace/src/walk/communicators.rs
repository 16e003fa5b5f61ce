//! Communicators of a rank: their members, and their identity across ranks.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

use super::Channel;
use crate::{Communicator, Event, Flags, MessageEnd};

/// Identity of a communicator of a run: the same at all its members, and no other's.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Identity {
    /// Id from the recorder.
    Id(u64),
    /// The n-th communicator that these ranks, and those of the remote group, made: they make them together,
    /// so in one order.
    Ranks(Vec<u32>, Vec<u32>, u64),
}

impl Identity {
    /// Returns its number: the recorder's, or a hash.
    pub fn number(&self) -> u64 {
        match self {
            Self::Id(id) => *id,
            Self::Ranks(..) => hash(self),
        }
    }
}

/// Gives the communicators of a rank their identity, in the order in which its stream names them.
#[derive(Clone, Debug, Default)]
pub struct Identities {
    /// Number of communicators without an id so far, by a hash of the ranks.
    made: FxHashMap<u64, u64>,
}

impl Identities {
    /// Returns the identity of the next communicator.
    pub fn identity(&mut self, communicator: &Communicator) -> Identity {
        let Communicator { id, members, remote } = communicator;
        if *id != 0 {
            return Identity::Id(*id);
        }
        let made = self.made.entry(hash(&(members, remote))).or_default();
        *made += 1;
        Identity::Ranks(members.clone(), remote.clone(), *made)
    }
}

fn hash(of: &impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    of.hash(&mut hasher);
    hasher.finish()
}

/// Communicators of a rank, by their index.
#[derive(Clone, Debug, Default)]
pub struct Communicators {
    rank: u32,
    ranks: u32,
    /// Communicators with the number of their identity. In a map a false index costs nothing.
    table: FxHashMap<u32, (u64, Communicator)>,
    naming: Identities,
}

impl Communicators {
    /// Creates the table of a rank, given the number of ranks.
    pub fn new(rank: u32, ranks: u32) -> Self {
        Self { rank, ranks, ..Self::default() }
    }

    /// Adds the communicator of this index.
    pub fn insert(&mut self, index: u32, communicator: &Communicator) {
        let number = self.naming.identity(communicator).number();
        self.table.insert(index, (number, communicator.clone()));
    }

    fn get(&self, index: u32) -> Option<&(u64, Communicator)> {
        self.table.get(&index)
    }

    /// Returns the rank in the world of `peer` in the communicator of a call; for an inter-communicator, in
    /// the remote group.
    pub fn world(&self, event: &Event, peer: i32) -> Option<u32> {
        let peer = u32::try_from(peer).ok()?;
        let rank = match self.get(event.comm) {
            Some((_, group)) if event.flags.has(Flags::INTER) => group.remote.get(peer as usize).copied(),
            Some((_, group)) if !group.members.is_empty() => group.members.get(peer as usize).copied(),
            _ => (event.comm == 0).then_some(peer),
        };
        rank.filter(|&rank| rank < self.ranks)
    }

    /// Returns the number of ranks in a communicator; that of the world if it is unknown.
    pub fn size(&self, index: u32) -> u32 {
        match self.get(index) {
            Some((_, group)) if !group.members.is_empty() => group.members.len() as u32,
            _ => self.ranks,
        }
    }

    /// Returns the number of a communicator, which is the same at all its members; 0 for the world.
    pub fn id(&self, index: u32) -> u64 {
        match self.get(index) {
            Some((number, _)) if index != 0 => *number,
            _ => u64::from(index),
        }
    }

    /// Returns the channel of one end of a message of a call; `None` if its sender or its tag is unknown.
    pub fn channel(&self, event: &Event, end: &MessageEnd) -> Option<Channel> {
        let (me, other) = (self.rank, self.world(event, end.peer)?);
        let (from, to) = if end.sends { (me, other) } else { (other, me) };
        (end.tag >= 0).then(|| Channel { from, to, comm: self.id(event.comm), tag: end.tag })
    }
}

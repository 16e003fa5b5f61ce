//! The communicators of a rank: who is in them, and which of another rank they are.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

use super::Channel;
use crate::{Communicator, Event, Flags, MessageEnd};

/// Communicators of a stream have smaller indices: a damaged one can name any.
const MOST: usize = 1 << 24;

/// Which communicator of a run it is: the same at all its members, and no other's.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Identity {
    /// By the id that the recorder gave it.
    Id(u64),
    /// The n-th that these ranks, and those of the remote group, made: they make them together, so in one order.
    Ranks(Vec<u32>, Vec<u32>, u64),
}

impl Identity {
    /// A number for it: the recorder's, or a hash.
    pub fn number(&self) -> u64 {
        match self {
            Self::Id(id) => *id,
            Self::Ranks(..) => hash(self),
        }
    }
}

/// Gives the communicators of a rank their identity, in the order in which its stream names them.
#[derive(Clone, Debug, Default)]
pub struct Naming {
    /// By a hash of the ranks, how many there have been without an id.
    made: FxHashMap<u64, u64>,
}

impl Naming {
    /// The identity of the next one.
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

/// The communicators of a rank, by their index.
#[derive(Clone, Debug, Default)]
pub struct Communicators {
    rank: u32,
    ranks: u32,
    /// With the number of its identity; none: not said.
    table: Vec<Option<(u64, Communicator)>>,
    naming: Naming,
}

impl Communicators {
    /// Those of this rank of so many.
    pub fn new(rank: u32, ranks: u32) -> Self {
        Self { rank, ranks, ..Self::default() }
    }

    /// The stream says who is in the communicator of this index.
    pub fn insert(&mut self, index: u32, communicator: &Communicator) {
        let at = index as usize;
        if at >= MOST {
            return;
        }
        if self.table.len() <= at {
            self.table.resize(at + 1, None);
        }
        let number = self.naming.identity(communicator).number();
        self.table[at] = Some((number, communicator.clone()));
    }

    fn get(&self, index: u32) -> Option<&(u64, Communicator)> {
        self.table.get(index as usize)?.as_ref()
    }

    /// The rank of the world that is `peer` in the communicator of a call; of an inter-communicator, in the remote
    /// group.
    pub fn world(&self, event: &Event, peer: i32) -> Option<u32> {
        let peer = u32::try_from(peer).ok()?;
        let rank = match self.get(event.comm) {
            Some((_, group)) if event.flags.has(Flags::INTER) => group.remote.get(peer as usize).copied(),
            Some((_, group)) if !group.members.is_empty() => group.members.get(peer as usize).copied(),
            _ => (event.comm == 0).then_some(peer),
        };
        rank.filter(|&rank| rank < self.ranks)
    }

    /// How many ranks are in a communicator; of one that is not known, all.
    pub fn size(&self, index: u32) -> u32 {
        match self.get(index) {
            Some((_, group)) if !group.members.is_empty() => group.members.len() as u32,
            _ => self.ranks,
        }
    }

    /// A number of a communicator that is the same at all its members; 0: the world.
    pub fn id(&self, index: u32) -> u64 {
        match self.get(index) {
            Some((number, _)) if index != 0 => *number,
            _ => u64::from(index),
        }
    }

    /// The channel of one end of a message of a call; `None`: from whom it comes, or with which tag, is not known.
    pub fn channel(&self, event: &Event, end: &MessageEnd) -> Option<Channel> {
        let (me, other) = (self.rank, self.world(event, end.peer)?);
        let (from, to) = if end.sends { (me, other) } else { (other, me) };
        (end.tag >= 0).then(|| Channel { from, to, comm: self.id(event.comm), tag: end.tag })
    }
}

//! Program data: the operations of every rank, with repeated sequences stored once.
//!
//! **What is kept.** All operations of every rank in their order, with all their fields: nothing is lost, and unfolding
//! gives back what was folded, operation by operation. Times are not kept: between two operations there is a *block*,
//! whose time is in the [computation data](super::computation). So the file is the same for every machine that the
//! program was recorded on.
//!
//! **How iterations become equal.** Requests are named by their age (1: the newest) instead of by a number; peers by
//! their distance from the rank, around the end of the communicator; roots, tags, sizes, ages and the counts of inner
//! loops may grow by a constant from one iteration to the next (`bytes=8192-8*L1`), as they do in eliminations.
//! [`fold`] finds the loops.
//!
//! **Ranks that do the same** are a [`Group`] and are stored once: their trees of loops are equal, and their numbers
//! are the same, or listed for each rank where they are not. A stencil has a group for its inner ranks and one for each
//! edge and corner.
//!
//! **Blocks.** A block is what runs between two operations. The operation that ends it may be reached from two places:
//! when it is the first of a loop, from before the loop and from the loop's own end. These are two blocks: what runs
//! once before a loop is no part of what is repeated, and longer loops must not repeat it. So a block is an edge of the
//! folded program, and has a name of two call sites, which other runs of the same program have too.
//!
//! Source: Horii, Iwabuchi, Yamana: MPIETE, section 2.4 (program data `Bo(r, i)`); collectives stay as they are called
//! and are spelled out when a prediction chooses how they are done.

mod blocks;
pub mod extend;
mod fold;
mod gather;
mod read;
mod sequence;
mod size;
mod unfold;
mod write;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use smallvec::SmallVec;

use crate::program::{CollectiveCall, Communicator, OpKind};

pub use blocks::{BlockName, Blocks, short};
pub use gather::{Folded, fold};
pub use read::read;
pub use unfold::{Timing, unfold};
pub use write::write;

/// What a program-data file is called.
pub const EXTENSION: &str = "prog";
/// How a program-data file begins.
pub const SIGNATURE: &str = "hayase-program 1";

/// The operations of every rank of a program, loops folded.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ProgramData {
    /// Where it is from: names and values.
    pub notes: Vec<(String, String)>,
    /// Number of ranks.
    pub ranks: u32,
    /// Places in the source code; an operation's number is one more.
    pub sites: Vec<Arc<str>>,
    /// Names of regions; a border's number is one more.
    pub regions: Vec<Arc<str>>,
    /// Communicators beside that of all ranks; their numbers begin at 1.
    pub communicators: Vec<Communicator>,
    /// Counts of collective operations whose blocks differ.
    pub counts: Vec<Box<[u64]>>,
    /// Loops by number, the name of a loop in all groups being its number plus one: `L1`.
    pub loops: u32,
    /// Ranks that do the same.
    pub groups: Vec<Group>,
    /// Where their operations stand; empty of data that is in no file.
    pub lines: Lines,
}

/// Line of each operation in its file, by group. Data is the same wherever it stands.
#[derive(Clone, Debug, Default)]
pub struct Lines(pub Vec<Vec<u64>>);

impl PartialEq for Lines {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Ranks whose operations are the same but for numbers that differ from rank to rank.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Group {
    /// Which, ascending.
    pub ranks: Vec<u32>,
    /// What they do.
    pub body: Vec<Statement>,
}

/// An operation, or several in a loop.
#[derive(Clone, PartialEq, Debug)]
pub enum Statement {
    /// One operation.
    Op(Operation),
    /// Operations that are repeated.
    Loop(Loop),
}

/// Operations that are repeated.
#[derive(Clone, PartialEq, Debug)]
pub struct Loop {
    /// Its number; loops of several groups that belong together have the same.
    pub name: u32,
    /// How often.
    pub count: Number,
    /// What.
    pub body: Vec<Statement>,
}

/// One operation of the folded program.
#[derive(Clone, PartialEq, Debug)]
pub struct Operation {
    /// Where it is called: a number of [`ProgramData::sites`] plus one; 0: not known.
    pub site: u32,
    /// What it is.
    pub what: What,
    /// How the first number of a message says who the other side is.
    pub peer: Peer,
    /// Its numbers, see [`What`].
    pub numbers: SmallVec<[Number; 3]>,
}

/// What an operation is, without what may change from iteration to iteration or from rank to rank.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum What {
    /// A send, a receive or a probe. Numbers: the other side (unless any), the tag (unless any), the bytes.
    Message {
        /// Which.
        kind: OpKind,
        /// Marks of an [`Op`](crate::program::Op::marks): within a call; what the program left open and is
        /// known.
        marks: u8,
        /// Its communicator.
        comm: u32,
        /// Whether it takes a message from anybody, and it is not known from whom it did.
        any_source: bool,
        /// Whether it takes a message with any tag, and it is not known with which it did.
        any_tag: bool,
    },
    /// A wait or test for one request. Numbers: its age, 1 for the newest.
    Wait {
        /// Which.
        kind: OpKind,
        /// As above.
        marks: u8,
    },
    /// A wait for requests of descending age, one after the other. Numbers: the first age, the last age.
    WaitRange {
        /// All, any or some.
        kind: OpKind,
    },
    /// A wait for requests of these ages.
    WaitList {
        /// All, any or some.
        kind: OpKind,
        /// In the order in which the call names them.
        ages: Box<[u32]>,
    },
    /// A collective operation. Numbers: the root, and the bytes unless there are counts.
    Collective {
        /// Which.
        call: CollectiveCall,
        /// Its communicator.
        comm: u32,
        /// The bytes of each rank, where they differ: a number of [`ProgramData::counts`].
        counts: Option<u32>,
        /// Whether it only starts here.
        background: bool,
    },
    /// A border of a region, which takes no time. It has no numbers.
    Border {
        /// Which: a number of [`ProgramData::regions`].
        region: u32,
        /// Whether it begins here; else it ends.
        begins: bool,
    },
    /// What follows is executed by this thread of the rank. It has no numbers.
    Thread(u32),
    /// The operation that follows begins no earlier than after one of another thread; how long after is the block
    /// before this. Number: how many operations back that is, 1 for the newest; 0: the start of the rank.
    After,
}

/// How a number says who the other side of a message is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Peer {
    /// `(rank + number) mod ranks`.
    #[default]
    Relative,
    /// `number mod ranks`.
    Absolute,
    /// `rank xor number`.
    Xor,
}

/// A number of an operation: `base + sum of step * index` over the loops around it.
#[derive(Clone, PartialEq, Debug)]
pub struct Number {
    /// In the first iteration of all loops.
    pub base: Base,
    /// By how much it grows from one iteration to the next: depth of the loop (0: the outermost) and step, ascending.
    pub steps: SmallVec<[(u8, i64); 2]>,
}

/// A number in the first iteration of all loops.
#[derive(Clone, PartialEq, Debug)]
pub enum Base {
    /// The same for all ranks of the group.
    Same(i64),
    /// One for each rank of the group.
    Each(Box<[i64]>),
}

/// What the numbers of an operation are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Meaning {
    /// The other side of a message: a distance between ranks.
    Peer,
    /// A rank of the communicator.
    Root,
    /// A tag.
    Tag,
    /// Bytes \[B\].
    Bytes,
    /// The age of a request.
    Age,
    /// Operations back.
    Back,
}

impl What {
    /// What its numbers are, in order.
    pub fn meanings(&self) -> &'static [Meaning] {
        use Meaning::{Age, Back, Bytes, Peer, Root, Tag};
        match self {
            Self::Message { any_source: false, any_tag: false, .. } => &[Peer, Tag, Bytes],
            Self::Message { any_source: false, .. } => &[Peer, Bytes],
            Self::Message { any_tag: false, .. } => &[Tag, Bytes],
            Self::Message { .. } => &[Bytes],
            Self::Wait { .. } => &[Age],
            Self::WaitRange { .. } => &[Age, Age],
            Self::WaitList { .. } | Self::Border { .. } | Self::Thread(_) => &[],
            Self::After => &[Back],
            Self::Collective { counts: None, .. } => &[Root, Bytes],
            Self::Collective { .. } => &[Root],
        }
    }

    /// Its name: `isend`, `allreduce`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Message { kind, .. }
            | Self::Wait { kind, .. }
            | Self::WaitRange { kind }
            | Self::WaitList { kind, .. } => kind.name(),
            Self::Border { begins: true, .. } => "enter",
            Self::Border { .. } => "leave",
            Self::Thread(_) => "thread",
            Self::After => "after",
            Self::Collective { call, background: true, .. } => call.background_name(),
            Self::Collective { call, .. } => call.name(),
        }
    }

    /// How many requests it makes.
    pub fn starts(&self) -> bool {
        match self {
            Self::Message { kind, .. } => kind.is_nonblocking(),
            Self::Collective { background, .. } => *background,
            _ => false,
        }
    }
}

impl Number {
    /// The same for all ranks and iterations.
    pub fn same(value: i64) -> Self {
        Self { base: Base::Same(value), steps: SmallVec::new() }
    }

    /// Its value for the rank at this position of the group, in these iterations of the loops around it.
    ///
    /// Wraps around at 64 bits: what is read from a file is checked by [`unfold`].
    #[inline]
    pub fn value(&self, position: usize, indices: &[u64]) -> i64 {
        let base = match &self.base {
            Base::Same(value) => *value,
            Base::Each(values) => values.get(position).copied().unwrap_or_default(),
        };
        self.steps.iter().fold(base, |value, &(depth, step)| {
            let index = indices.get(usize::from(depth)).copied().unwrap_or_default();
            value.wrapping_add(step.wrapping_mul(index as i64))
        })
    }
}

impl ProgramData {
    /// Number of ranks of a communicator; 0 if there is none of this number.
    pub fn comm_size(&self, comm: u32) -> u32 {
        match comm.checked_sub(1) {
            None => self.ranks,
            Some(at) => self.communicators.get(at as usize).map_or(0, Communicator::size),
        }
    }

    /// The name of a call site; what is not known has none.
    pub fn site(&self, number: u32) -> Option<&Arc<str>> {
        self.sites.get(number.checked_sub(1)? as usize)
    }

    /// The group of a rank and its position there.
    pub fn position(&self, rank: u32) -> Option<(usize, usize)> {
        self.groups
            .iter()
            .enumerate()
            .find_map(|(group, found)| found.ranks.binary_search(&rank).ok().map(|position| (group, position)))
    }

    /// The note of this name.
    pub fn note(&self, name: &str) -> Option<&str> {
        self.notes.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// Number of steps of the folded program: operations and loops, of all groups.
    pub fn steps(&self) -> usize {
        fn count(steps: &[Statement]) -> usize {
            steps.iter().map(|step| if let Statement::Loop(inner) = step { 1 + count(&inner.body) } else { 1 }).sum()
        }
        self.groups.iter().map(|group| count(&group.body)).sum()
    }
}

/// A number of ranks as ranges: `0-3,7`.
pub fn ranges(ranks: &[u32]) -> String {
    let run = |run: &[u32]| match run {
        [one] => one.to_string(),
        run => format!("{}-{}", run[0], run[run.len() - 1]),
    };
    ranks.chunk_by(|a, b| a.wrapping_add(1) == *b).map(run).collect::<Vec<_>>().join(",")
}

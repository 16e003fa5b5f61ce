//! Program data: the operations of every rank, with repeated sequences stored once.
//!
//! **Contents.** All operations of every rank in their order, with all their fields. Nothing is lost:
//! unfolding gives back the folded program, operation by operation. Times are not stored: between two
//! operations there is a *block*, whose time is in the [computation data](super::computation). So the file is
//! the same for every machine on which the program was recorded.
//!
//! **Equal iterations.** Requests are named by their age (1: the newest) instead of by a number, and peers by
//! their distance from the rank, around the end of the communicator. Roots, tags, sizes, ages and the counts
//! of inner loops may grow by a constant from one iteration to the next (`bytes=8192-8*L1`), as they do in
//! eliminations. [`fold`] finds the loops.
//!
//! **Equal ranks** are a [`Group`] and are stored once: their trees of loops are equal. Numbers are equal,
//! too, or listed for each rank. A stencil has a group for its inner ranks and one for each edge and corner.
//!
//! **Blocks.** A block is the computation between two operations. If the operation that ends it is the first
//! of a loop, it may be reached from before the loop and from the loop's own end. These are two blocks: a
//! computation that runs once before a loop is not part of its iterations, and longer loops must not repeat
//! it. So a block is an edge of the folded program. Its name is two call sites, which other runs of the same
//! program have too.
//!
//! Source: Horii, Iwabuchi, Yamana: MPIETE, section 2.4 (program data `Bo(r, i)`); collectives are stored as
//! calls and expanded when a prediction chooses their algorithms.

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

/// Extension of program-data files.
pub const EXTENSION: &str = "prog";
/// First line of a program-data file.
pub const SIGNATURE: &str = "hayase-program 1";

/// Operations of every rank of a program, with loops folded.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ProgramData {
    /// Origin of the data: names and values.
    pub notes: Vec<(String, String)>,
    /// Number of ranks.
    pub ranks: u32,
    /// Places in the source code; the site of an operation is an index plus one.
    pub sites: Vec<Arc<str>>,
    /// Names of regions; a number in the file is an index plus one.
    pub regions: Vec<Arc<str>>,
    /// Communicators other than that of all ranks; their numbers begin at 1.
    pub communicators: Vec<Communicator>,
    /// Counts of collective operations whose ranks send different sizes.
    pub counts: Vec<Box<[u64]>>,
    /// Number of loops. The name of a loop, in all groups, is its number plus one: `L1`.
    pub loops: u32,
    /// Groups of ranks with the same operations.
    pub groups: Vec<Group>,
    /// Lines of the operations in their file; empty for data that is not in a file.
    pub lines: Lines,
}

/// Line of each operation in its file, by group. Ignored when data is compared.
#[derive(Clone, Debug, Default)]
pub struct Lines(pub Vec<Vec<u64>>);

impl PartialEq for Lines {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Ranks whose operations are the same except for numbers that differ from rank to rank.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Group {
    /// Ranks of the group, ascending.
    pub ranks: Vec<u32>,
    /// Operations of the group.
    pub body: Vec<Statement>,
}

/// Operation, or several in a loop.
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
    /// Number of the loop; loops of several groups that belong together have the same number.
    pub name: u32,
    /// Number of iterations.
    pub count: Number,
    /// Operations of one iteration.
    pub body: Vec<Statement>,
}

/// One operation of the folded program.
#[derive(Clone, PartialEq, Debug)]
pub struct Operation {
    /// Call site: an index of [`ProgramData::sites`] plus one; 0 if unknown.
    pub site: u32,
    /// Kind of the operation.
    pub what: OperationKind,
    /// Form of the peer in the first number of a message.
    pub peer: Peer,
    /// Numbers of the operation, see [`OperationKind`].
    pub numbers: SmallVec<[Number; 3]>,
}

/// Kind of an operation, without the numbers that may change from iteration to iteration or from rank to
/// rank.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum OperationKind {
    /// Send, receive or probe. Numbers: the peer (unless any), the tag (unless any), the bytes.
    Message {
        /// Kind of call.
        kind: OpKind,
        /// Marks of an [`Op`](crate::program::Op::marks): within a call; source or tag that the program left
        /// open and that is known.
        marks: u8,
        /// Communicator.
        comm: u32,
        /// True if the source is open, and the recorded source is unknown.
        any_source: bool,
        /// True if the tag is open, and the recorded tag is unknown.
        any_tag: bool,
    },
    /// Wait or test for one request. Numbers: its age, 1 for the newest.
    Wait {
        /// Kind of call.
        kind: OpKind,
        /// Marks, as for a message.
        marks: u8,
    },
    /// Wait for requests of consecutive descending ages. Numbers: the first age, the last age.
    WaitRange {
        /// Wait for all, any or some.
        kind: OpKind,
    },
    /// Wait for requests of these ages.
    WaitList {
        /// Wait for all, any or some.
        kind: OpKind,
        /// Ages, in the order in which the call names the requests.
        ages: Box<[u32]>,
    },
    /// Collective operation. Numbers: the root, and the bytes unless there are counts.
    Collective {
        /// Kind of call.
        call: CollectiveCall,
        /// Communicator.
        comm: u32,
        /// Bytes of each rank, if they differ: an index of [`ProgramData::counts`].
        counts: Option<u32>,
        /// True if the operation only starts here (nonblocking).
        background: bool,
    },
    /// Border of a region, which takes no time. It has no numbers.
    Border {
        /// Region: an index of [`ProgramData::regions`].
        region: u32,
        /// True if the region begins here, false if it ends.
        begins: bool,
    },
    /// Switch to this thread of the rank, which executes the operations that follow. It has no numbers.
    Thread(u32),
    /// Dependence of the next operation: it begins no earlier than some time after an operation of another
    /// thread. That time is the block before this entry. Number: how many operations back that operation is,
    /// 1 for the newest; 0: the start of the rank.
    After,
}

/// Form of the peer of a message.
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

/// Number of an operation: `base + sum of step * index` over the loops around it.
#[derive(Clone, PartialEq, Debug)]
pub struct Number {
    /// Value in the first iteration of all loops.
    pub base: Base,
    /// Growth from one iteration to the next: depth of the loop (0: the outermost) and step, ascending.
    pub steps: SmallVec<[(u8, i64); 2]>,
}

/// Number in the first iteration of all loops.
#[derive(Clone, PartialEq, Debug)]
pub enum Base {
    /// Same number for all ranks of the group.
    Same(i64),
    /// Number of each rank of the group.
    Each(Box<[i64]>),
}

/// Meaning of a number of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Meaning {
    /// Peer of a message: a distance between ranks.
    Peer,
    /// Rank of the communicator.
    Root,
    /// Tag.
    Tag,
    /// Bytes \[B\].
    Bytes,
    /// Age of a request.
    Age,
    /// Number of operations back.
    Back,
}

impl OperationKind {
    /// Returns the meanings of its numbers, in order.
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

    /// Returns its name: `isend`, `allreduce`.
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

    /// Returns true if the operation makes a request.
    pub fn starts(&self) -> bool {
        match self {
            Self::Message { kind, .. } => kind.is_nonblocking(),
            Self::Collective { background, .. } => *background,
            _ => false,
        }
    }
}

impl Number {
    /// Creates a number that is the same for all ranks and iterations.
    pub fn same(value: i64) -> Self {
        Self { base: Base::Same(value), steps: SmallVec::new() }
    }

    /// Returns the value for the rank at this position of the group, in these iterations of the loops around
    /// it.
    ///
    /// Wraps around at 64 bits: [`unfold`] checks numbers that were read from a file.
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

    /// Returns the name of a call site; `None` if the site is unknown.
    pub fn site(&self, number: u32) -> Option<&Arc<str>> {
        self.sites.get(number.checked_sub(1)? as usize)
    }

    /// Returns the group of a rank and its position there.
    pub fn position(&self, rank: u32) -> Option<(usize, usize)> {
        self.groups
            .iter()
            .enumerate()
            .find_map(|(group, found)| found.ranks.binary_search(&rank).ok().map(|position| (group, position)))
    }

    /// Returns the note of this name.
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

/// Formats ascending ranks as ranges: `0-3,7`.
pub fn ranges(ranks: &[u32]) -> String {
    let run = |run: &[u32]| match run {
        [one] => one.to_string(),
        run => format!("{}-{}", run[0], run[run.len() - 1]),
    };
    ranks.chunk_by(|a, b| a.wrapping_add(1) == *b).map(run).collect::<Vec<_>>().join(",")
}

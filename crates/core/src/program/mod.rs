//! Programs: the operations of each rank, which computes, sends, receives and waits.
//!
//! Every reader of traces returns a [`Program`], and the player runs one. A program has a list of
//! [operations](Op) for each rank, in one of two [orders](Order):
//!
//! * **sequence**: one after the other, as a process calls MPI. Non-blocking operations continue in the
//!   background until a wait names them by their position in the list. A process of several [`Threads`] has one
//!   list for all of them.
//! * **graph**: an operation starts when those it requires are done (`requires`) or have started (`irequires`),
//!   as in GOAL schedules. There are no waits: to require an operation is to wait for it.
//!
//! Peers are always ranks of the world; a communicator only keeps messages apart, and defines the ranks of a
//! collective. A program is built by a [`ProgramBuilder`] and does not change afterwards.
//!
//! ```
//! # use hayase_core as hayase;
//! use hayase::units::Time;
//! use hayase::program::{Envelope, Op, ProgramBuilder};
//!
//! let mut program = ProgramBuilder::new(2);
//! let mut rank = program.sequence(0);
//! rank.push(Op::calc(Time::from_ps(1e6)));
//! let request = rank.push(Op::isend(Envelope::world(1, 0), 1024));
//! rank.push(Op::wait(request));
//! program.finish_rank(rank);
//! let mut rank = program.sequence(1);
//! rank.push(Op::recv(Envelope::world(0, 0), 1024));
//! program.finish_rank(rank);
//! let program = program.build().expect("both ranks are there");
//! assert_eq!(program.operations(), 4);
//! ```

mod as_program;
pub mod between;
mod builder;
pub mod caveats;
mod collective;
mod expander;
mod gaussian_elimination;
pub mod generate;
mod graph;
pub mod mailboxes;
mod marked;
pub mod matching;
mod op;
pub mod part;
mod pieces;
pub mod regions;
pub mod start_up;
mod threads;
mod unrolled;

/// Algorithms of collectives ([`collective`](crate::collective)), and the expansion of a program's
/// collectives into operations.
pub mod collectives {
    pub use super::expander::{Expander, operation};
    pub use crate::collective::*;
}

pub use as_program::{as_program, call_as_program};
pub use builder::{GraphBuilder, ProgramBuilder, SequenceBuilder};
pub use collective::{Collective, CollectiveCall, Communicator, Counts, Expand};
pub use gaussian_elimination::{GaussianElimination, PivotSearch, Swap};
use graph::FOR_START;
pub use graph::{Follower, Graph};
pub use op::{ANY_SOURCE, ANY_TAG, Action, Envelope, Op, OpKind};
pub use pieces::pieces;
pub use regions::{Executions, Mark, RecordedRegion};
pub use threads::{After, Threads};
pub use unrolled::unrolled;

use std::sync::Arc;

use crate::ids::{IdVec, RankId};
use crate::program::caveats::Caveats;
use crate::units::Time;

/// Messages that wildcard receives take, if the recorded run tells which message came.
#[spec(Copy, Eq, Default, Named)]
pub enum Wildcards {
    /// The message that came in the recorded run. The assignment of work to ranks stays as recorded, whatever
    /// the network.
    #[default]
    Recorded,
    /// The message that arrives first.
    Arrival,
}

impl Wildcards {
    /// Returns true for the default.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Program: the operations of each rank.
#[derive(Clone, Debug, Default)]
pub struct Program {
    ranks: IdVec<RankId, RankProgram>,
    /// Communicators; the first one has all ranks.
    pub communicators: Vec<Communicator>,
    /// Collectives that operations name; ranks that make the same call share one.
    pub collectives: Vec<Collective>,
    /// Places in the source code where operations are called; [`RankProgram::sites`] names them.
    pub sites: Vec<Arc<str>>,
    /// Names of regions; [`Mark::region`] is an index.
    pub regions: Vec<Arc<str>>,
    /// Statistics of each region in the recorded run; empty if unknown.
    pub recorded: Vec<RecordedRegion>,
    /// Files that the program was read from; [`RankProgram::file`] is an index.
    pub files: Vec<Arc<str>>,
    /// Unit that places count: `"line"`, `"event"`, `"byte"`.
    pub place_unit: &'static str,
    /// Set if collectives are rings, and all-to-alls direct, unless `[collectives]` names an algorithm: then no rules
    /// of an MPI library choose.
    pub rings: bool,
    /// Known defects of the recording.
    pub caveats: Caveats,
}

/// Operations of one rank, and data about them.
#[derive(Clone, Debug, Default)]
pub struct RankProgram {
    /// Operations of the rank.
    pub ops: Vec<Op>,
    /// Order in which the operations run.
    pub order: Order,
    /// Thread of each operation, if a sequence has several threads.
    pub threads: Threads,
    /// Requests of waits for several, list after list: positions in `ops`.
    pub lists: Vec<u32>,
    /// Place of each operation in the input, from 1; empty if unknown, or if `numbered` is set.
    pub places: Vec<u32>,
    /// Call site of each operation: its number in [`Program::sites`] plus one, or 0 if unknown; empty if all
    /// are unknown.
    pub sites: Vec<u32>,
    /// Borders of regions, ascending.
    pub marks: Vec<Mark>,
    /// File that the rank was read from: its number in [`Program::files`].
    pub file: u32,
    /// Set if the operation at position i is at place i + 1 of the input: then `places` is not needed.
    pub numbered: bool,
    /// Time at which the rank ended in the recorded run, counted from its start.
    pub measured: Option<Time>,
}

/// Order in which operations run.
#[derive(Clone, Debug, Default)]
pub enum Order {
    /// One after the other.
    #[default]
    Sequence,
    /// Each when the operations that it requires are done or have started.
    Graph(Graph),
}

impl RankProgram {
    /// Returns the requests of a wait for several.
    #[inline]
    pub fn list(&self, first: u32, count: u32) -> &[u32] {
        &self.lists[first as usize..][..count as usize]
    }

    /// Returns the place of an operation in the input, from 1.
    #[inline]
    pub fn place(&self, at: usize) -> Option<u32> {
        match self.numbered {
            true => (at < self.ops.len()).then_some(at as u32 + 1),
            false => self.places.get(at).copied(),
        }
    }

    /// Returns the place of an operation in the input; for one added after all others, the place of the last
    /// of those.
    pub fn place_or_last(&self, at: usize) -> Option<u32> {
        self.place(at).or_else(|| match self.numbered {
            true => Some(self.ops.len() as u32),
            false => self.places.last().copied(),
        })
    }

    /// Returns the graph if the order is one.
    #[inline]
    pub fn graph(&self) -> Option<&Graph> {
        match &self.order {
            Order::Graph(graph) => Some(graph),
            Order::Sequence => None,
        }
    }
}

impl Program {
    /// Returns the program with these caveats about its recording.
    #[must_use]
    pub fn with_caveats(mut self, caveats: Caveats) -> Self {
        self.caveats = caveats;
        self
    }

    /// Returns the program without the operations of ranks that fail the test.
    #[must_use]
    pub fn only(&self, test: impl Fn(RankId) -> bool) -> Self {
        let kept = |(id, rank): (RankId, &RankProgram)| if test(id) { rank.clone() } else { RankProgram::default() };
        Self {
            ranks: self.ranks.iter_ids().map(kept).collect(),
            communicators: self.communicators.clone(),
            collectives: self.collectives.clone(),
            sites: self.sites.clone(),
            regions: self.regions.clone(),
            recorded: self.recorded.clone(),
            files: self.files.clone(),
            caveats: self.caveats.clone(),
            ..*self
        }
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        self.ranks.len() as u32
    }

    /// Operations of one rank.
    #[inline]
    pub fn rank(&self, rank: RankId) -> &RankProgram {
        &self.ranks[rank]
    }

    /// Operations of one rank, mutably. The caller ensures that everything they name exists.
    pub fn rank_mut(&mut self, rank: RankId) -> &mut RankProgram {
        &mut self.ranks[rank]
    }

    /// All ranks with their operations, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (RankId, &RankProgram)> {
        self.ranks.iter_ids()
    }

    /// Number of operations.
    pub fn operations(&self) -> u64 {
        self.ranks.iter().map(|rank| rank.ops.len() as u64).sum()
    }

    /// Number of messages that the point-to-point operations send; messages of collectives are not counted.
    pub fn messages(&self) -> u64 {
        let sends = |rank: &RankProgram| {
            rank.ops.iter().filter(|op| matches!(op.kind, OpKind::Send | OpKind::Isend)).count() as u64
        };
        self.ranks.iter().map(sends).sum()
    }

    /// Number of wildcard receives that are pinned to the message of the recorded run ([`Op::is_pinned`]).
    pub fn pinned(&self) -> u64 {
        let pinned = |op: &&Op| op.is_pinned() && matches!(op.kind, OpKind::Recv | OpKind::Irecv);
        self.ranks.iter().map(|rank| rank.ops.iter().filter(pinned).count() as u64).sum()
    }

    /// Returns the program as it was written: its wildcard receives take the message that arrives first.
    #[must_use]
    pub fn unpinned(&self) -> Self {
        let mut program = self.clone();
        for rank in program.ranks.as_mut_slice() {
            rank.ops.iter_mut().filter(|op| op.is_pinned()).for_each(|op| *op = op.unpinned());
        }
        program
    }

    /// Returns true if an operation is a collective of all ranks that none leaves before all have arrived.
    pub fn waits_for_all(&self, op: &Op) -> bool {
        let Action::Collective(number) = op.action() else { return false };
        let Some(collective) = self.collectives.get(number as usize) else { return false };
        let members = self.communicators.get(collective.comm as usize).map(Communicator::size);
        use CollectiveCall::{Allgather, Allreduce, Alltoall, Barrier, ReduceScatter};
        let is_of_all = matches!(collective.call, Barrier | Allreduce | Allgather | Alltoall | ReduceScatter);
        is_of_all && members == Some(self.ranks())
    }

    /// Number of collective calls, counted at every rank that takes part.
    pub fn collective_calls(&self) -> u64 {
        self.ranks.iter().map(|rank| rank.ops.iter().filter(|op| op.kind.is_collective()).count() as u64).sum()
    }

    /// Returns true if any collective operation runs in the background.
    pub fn has_background_collectives(&self) -> bool {
        self.ranks.iter().any(|rank| rank.ops.iter().any(|op| op.kind == OpKind::Icollective))
    }

    /// Returns true if any rank does several things at once: its order is a graph, or it has several threads.
    pub fn has_graphs(&self) -> bool {
        self.ranks.iter().any(|rank| rank.graph().is_some()) || self.has_threads()
    }

    /// Returns true if any rank has several threads.
    pub fn has_threads(&self) -> bool {
        self.ranks.iter().any(|rank| !rank.threads.is_empty())
    }

    /// Largest numbers of processors and of network interfaces that a rank uses.
    pub fn lanes(&self) -> (u32, u32) {
        let ops = self.ranks.iter().flat_map(|rank| &rank.ops);
        let (cpu, nic) = ops.fold((0, 0), |(cpu, nic), op| (op.cpu.max(cpu), op.nic.max(nic)));
        (u32::from(cpu) + 1, u32::from(nic) + 1)
    }

    /// Time at which the last rank ended in the recorded run, if it is known for all ranks.
    pub fn measured(&self) -> Option<Time> {
        self.ranks.iter().map(|rank| rank.measured).try_fold(Time::ZERO, |last, end| Some(last.max(end?)))
    }

    /// Describes the place of an operation in the input: `bt.goal, line 12`. Unknown parts are left out.
    pub fn place(&self, rank: RankId, op: u32) -> Option<String> {
        let program = self.ranks.get(rank)?;
        let file = self.files.get(program.file as usize).map(|file| file.to_string());
        let place = program.place(op as usize).map(|place| format!("{} {place}", self.place_unit));
        match (file, place) {
            (Some(file), Some(place)) if self.place_unit == "line" => Some(format!("{file}:{}", &place[5..])),
            (Some(file), Some(place)) => Some(format!("{file}, {place}")),
            (file, place) => place.or(file),
        }
    }

    /// Returns the place in the source code where an operation is called: `cg.f:1023`.
    pub fn site(&self, rank: RankId, op: u32) -> Option<&Arc<str>> {
        let number = *self.ranks.get(rank)?.sites.get(op as usize)?;
        self.sites.get(number.checked_sub(1)? as usize)
    }

    /// Describes an operation in words: `recv of 100 B from rank 3, tag 5`.
    pub fn describe(&self, rank: RankId, op: &Op) -> String {
        let tag = |tag: u32| if tag == ANY_TAG { "any tag".to_owned() } else { format!("tag {tag}") };
        let comm = |comm: u32| if comm == 0 { String::new() } else { format!(", communicator {comm}") };
        let peer = |peer: u32| if peer == ANY_SOURCE { "any rank".to_owned() } else { format!("rank {peer}") };
        let name = op.kind.name();
        match op.action() {
            Action::Calc(time) => format!("calc of {time}"),
            Action::Send { to, bytes, .. } => {
                format!("{name} of {bytes} B to {}, {}{}", peer(to.peer), tag(to.tag), comm(to.comm))
            }
            Action::Recv { from, bytes, .. } => {
                format!("{name} of {bytes} B from {}, {}{}", peer(from.peer), tag(from.tag), comm(from.comm))
            }
            Action::Probe(from) => format!("probe for {}, {}{}", peer(from.peer), tag(from.tag), comm(from.comm)),
            Action::Wait(started) | Action::Test(started) => {
                let ops = &self.ranks[rank].ops;
                match ops.get(started as usize) {
                    Some(op) if op.kind.is_nonblocking() => format!("{name} for {}", self.describe(rank, op)),
                    _ => name.to_owned(),
                }
            }
            Action::WaitList { count, .. } => format!("{name} for {count} requests"),
            Action::Collective(number) => match self.collectives.get(number as usize) {
                Some(collective) => format!("{}{}", collective.call.name(), comm(collective.comm)),
                None => name.to_owned(),
            },
            Action::Icollective(number) => match self.collectives.get(number as usize) {
                Some(collective) => format!("{}{}", collective.call.background_name(), comm(collective.comm)),
                None => name.to_owned(),
            },
        }
    }
}

//! Programs: what each rank computes, sends, receives and waits for.
//!
//! A [`Program`] is what every reader of traces gives and what the player runs. Of each rank it has a list of
//! [operations](Op), in one of two [orders](Order):
//!
//! * **sequence**: one after the other, as a process calls MPI. Non-blocking operations go on in the background until a
//!   wait names them by their position in the list. A process of several [`Threads`] has one list for all of them.
//! * **graph**: an operation starts when those it requires are done (`requires`) or have started (`irequires`), as in
//!   GOAL schedules. There are no waits: to require an operation is to wait for it.
//!
//! Peers are ranks of the world everywhere; a communicator only keeps messages apart, and says who takes part in a
//! collective. A program is put together by a [`ProgramBuilder`] and does not change afterwards.
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

/// How collectives are done: [`collective`](crate::collective), and what turns those of a program into operations.
pub mod collectives {
    pub use super::expander::{Expander, operation};
    pub use crate::collective::*;
}

pub use as_program::as_program;
pub use builder::{GraphBuilder, ProgramBuilder, SequenceBuilder};
pub use collective::{Collective, CollectiveCall, Communicator, Counts, Expand};
pub use gaussian_elimination::{GaussianElimination, PivotSearch, Swap};
use graph::FOR_START;
pub use graph::{Follower, Graph};
pub use op::{ANY_SOURCE, ANY_TAG, Action, Envelope, Op, OpKind};
pub use pieces::pieces;
pub use regions::{Executions, Mark, RecordedRegion};
pub use threads::{After, Threads};

use std::sync::Arc;

use crate::ids::{IdVec, RankId};
use crate::program::caveats::Caveats;
use crate::units::Time;

/// What a receive takes that left open from whom, or with what tag, where it is known what came in the recorded run.
#[spec(Copy, Eq, Default, Named)]
pub enum Wildcards {
    /// What came then. Who did what in the recorded run stays as it was, whatever the network.
    #[default]
    Recorded,
    /// What comes first.
    Arrival,
}

impl Wildcards {
    /// Whether it is the default.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// What each rank does.
#[derive(Clone, Debug, Default)]
pub struct Program {
    ranks: IdVec<RankId, RankProgram>,
    /// Communicators; the first is that of all ranks.
    pub communicators: Vec<Communicator>,
    /// Collectives that operations name; ranks that call the same thing share one.
    pub collectives: Vec<Collective>,
    /// Places in the source code where operations are called; [`RankProgram::sites`] names them.
    pub sites: Vec<Arc<str>>,
    /// Names of regions; [`Mark::region`] is a number of one.
    pub regions: Vec<Arc<str>>,
    /// By region, what it was in the run that was recorded; empty where there is none.
    pub recorded: Vec<RecordedRegion>,
    /// The files it was read from; [`RankProgram::file`] names one.
    pub files: Vec<Arc<str>>,
    /// What places count: `"line"`, `"event"`, `"byte"`.
    pub place_unit: &'static str,
    /// What is wrong with the recording that it was made of.
    pub caveats: Caveats,
}

/// What one rank does.
#[derive(Clone, Debug, Default)]
pub struct RankProgram {
    /// Its operations.
    pub ops: Vec<Op>,
    /// In which order they run.
    pub order: Order,
    /// Which thread executes which of them, where a sequence has several.
    pub threads: Threads,
    /// Requests that waits for several name, list after list: positions in `ops`.
    pub lists: Vec<u32>,
    /// Where in the input each operation stands, from 1; empty where that is not known, and where they are `numbered`.
    pub places: Vec<u32>,
    /// Where each operation is called from: its number in [`Program::sites`] plus one, 0 where that is not known; empty
    /// where it is known of none.
    pub sites: Vec<u32>,
    /// Borders of regions, ascending.
    pub marks: Vec<Mark>,
    /// The file it was read from: its number in [`Program::files`].
    pub file: u32,
    /// The operation at position i stands at place i + 1 of the input: nothing needs to be kept of that.
    pub numbered: bool,
    /// When the rank ended in the run that was recorded, from its start.
    pub measured: Option<Time>,
}

/// In which order operations run.
#[derive(Clone, Debug, Default)]
pub enum Order {
    /// One after the other.
    #[default]
    Sequence,
    /// When those they require are done or have started.
    Graph(Graph),
}

impl RankProgram {
    /// The requests that a wait for several names.
    #[inline]
    pub fn list(&self, first: u32, count: u32) -> &[u32] {
        &self.lists[first as usize..][..count as usize]
    }

    /// Where in the input an operation stands, from 1.
    #[inline]
    pub fn place(&self, at: usize) -> Option<u32> {
        match self.numbered {
            true => (at < self.ops.len()).then_some(at as u32 + 1),
            false => self.places.get(at).copied(),
        }
    }

    /// The same; of an operation that was added behind all others, where the last of those stands.
    pub fn place_or_last(&self, at: usize) -> Option<u32> {
        self.place(at).or_else(|| match self.numbered {
            true => Some(self.ops.len() as u32),
            false => self.places.last().copied(),
        })
    }

    /// The graph, where that is its order.
    #[inline]
    pub fn graph(&self) -> Option<&Graph> {
        match &self.order {
            Order::Graph(graph) => Some(graph),
            Order::Sequence => None,
        }
    }
}

impl Program {
    /// The same, made of recordings of which this is wrong.
    #[must_use]
    pub fn with_caveats(mut self, caveats: Caveats) -> Self {
        self.caveats = caveats;
        self
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        self.ranks.len() as u32
    }

    /// What one rank does.
    #[inline]
    pub fn rank(&self, rank: RankId) -> &RankProgram {
        &self.ranks[rank]
    }

    /// What one rank does, to be changed: whoever does that sees to it that everything it names is there.
    pub fn rank_mut(&mut self, rank: RankId) -> &mut RankProgram {
        &mut self.ranks[rank]
    }

    /// All ranks with what they do, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (RankId, &RankProgram)> {
        self.ranks.iter_ids()
    }

    /// Number of operations.
    pub fn operations(&self) -> u64 {
        self.ranks.iter().map(|rank| rank.ops.len() as u64).sum()
    }

    /// Number of messages that the point-to-point operations send (those of collectives come on top).
    pub fn messages(&self) -> u64 {
        let sends = |rank: &RankProgram| {
            rank.ops.iter().filter(|op| matches!(op.kind, OpKind::Send | OpKind::Isend)).count() as u64
        };
        self.ranks.iter().map(sends).sum()
    }

    /// Number of receives that the program left open, of which it is known what came ([`Op::is_pinned`]).
    pub fn pinned(&self) -> u64 {
        let pinned = |op: &&Op| op.is_pinned() && matches!(op.kind, OpKind::Recv | OpKind::Irecv);
        self.ranks.iter().map(|rank| rank.ops.iter().filter(pinned).count() as u64).sum()
    }

    /// As the program was written: receives that left open from whom or with what tag take whatever comes first.
    #[must_use]
    pub fn unpinned(&self) -> Self {
        let mut program = self.clone();
        for rank in program.ranks.as_mut_slice() {
            rank.ops.iter_mut().filter(|op| op.is_pinned()).for_each(|op| *op = op.unpinned());
        }
        program
    }

    /// Whether an operation is one of all ranks, which none is done with before all have come to it.
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

    /// Whether any collective operation goes on in the background.
    pub fn has_background_collectives(&self) -> bool {
        self.ranks.iter().any(|rank| rank.ops.iter().any(|op| op.kind == OpKind::Icollective))
    }

    /// Whether any rank does several things at once: its order is a graph, or it has several threads.
    pub fn has_graphs(&self) -> bool {
        self.ranks.iter().any(|rank| rank.graph().is_some()) || self.has_threads()
    }

    /// Whether any rank has several threads.
    pub fn has_threads(&self) -> bool {
        self.ranks.iter().any(|rank| !rank.threads.is_empty())
    }

    /// The largest number of processors and of network interfaces that a rank uses.
    pub fn lanes(&self) -> (u32, u32) {
        let ops = self.ranks.iter().flat_map(|rank| &rank.ops);
        let (cpu, nic) = ops.fold((0, 0), |(cpu, nic), op| (op.cpu.max(cpu), op.nic.max(nic)));
        (u32::from(cpu) + 1, u32::from(nic) + 1)
    }

    /// When the last rank ended in the run that was recorded, where all ranks say it.
    pub fn measured(&self) -> Option<Time> {
        self.ranks.iter().map(|rank| rank.measured).try_fold(Time::ZERO, |last, end| Some(last.max(end?)))
    }

    /// Where in the input an operation stands: `bt.goal, line 12`; what is known of it.
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

    /// Where in the source code an operation is called: `cg.f:1023`.
    pub fn site(&self, rank: RankId, op: u32) -> Option<&Arc<str>> {
        let number = *self.ranks.get(rank)?.sites.get(op as usize)?;
        self.sites.get(number.checked_sub(1)? as usize)
    }

    /// An operation in words: `recv of 100 B from rank 3, tag 5`.
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

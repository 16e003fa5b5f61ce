//! A rank: a sequence of calls, or operations of a graph.

use super::graph::GraphRank;
use super::keys::is_background;
use super::protocol::{CallEnd, ProcessorTime};
use super::runtime::Runtime;
use super::sequence::Sequence;
use crate::ids::RankId;
use crate::program::Program;

/// Player of a rank, by the form of its operations.
#[derive(Debug)]
pub(super) enum RankPlayer {
    Sequence(Sequence),
    Graph(GraphRank),
}

impl RankPlayer {
    pub fn new(program: &Program, rank: RankId) -> Self {
        match program.rank(rank).graph() {
            None => Self::Sequence(Sequence::new(rank, program.rank(rank).threads.count())),
            Some(graph) => Self::Graph(GraphRank::new(rank, program.rank(rank), graph)),
        }
    }

    pub fn begin(&mut self, runtime: &mut Runtime<'_>) {
        match self {
            Self::Sequence(rank) => rank.begin_all(runtime),
            Self::Graph(rank) => rank.begin(runtime),
        }
    }

    /// Notes that a call is done.
    pub fn done(&mut self, op: u32, done: CallEnd, runtime: &mut Runtime<'_>) {
        match self {
            Self::Sequence(rank) => rank.request_done(op, done, runtime),
            Self::Graph(rank) if is_background(op) => rank.step_done(op, done.other, runtime),
            Self::Graph(rank) => rank.finish(op, runtime),
        }
    }

    /// Gives a message time of one of its processors.
    pub fn processor(&mut self, time: &ProcessorTime, runtime: &mut Runtime<'_>) {
        if let Self::Graph(rank) = self {
            rank.take(time, runtime);
        }
    }

    /// Notes that an unexpected message has arrived.
    pub fn unexpected(&mut self, runtime: &mut Runtime<'_>) {
        if let Self::Sequence(rank) = self {
            rank.unexpected(runtime);
        }
    }
}

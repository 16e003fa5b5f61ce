//! Ranks whose operations are a graph: each starts when those it requires are done or have started, and takes the processor it
//! is on.

use super::ActivityKind;
use super::state::{Event, Player, State};
use crate::ids::RankId;
use crate::units::Time;
use crate::workload::program::{Graph, OpKind, RankProgram};

/// It waits for no other operation any more.
const CALLED: u8 = 1;
/// Its processor has come to it.
const STARTED: u8 = 2;
/// It is done.
const DONE: u8 = 4;

/// The state of such a rank.
#[derive(Debug)]
pub(super) struct GraphRank {
    /// For how many others each operation still waits.
    pub required: Vec<u32>,
    /// When each processor has done all that it has been given.
    free: Vec<Time>,
    /// Operations that are not done.
    pub left: usize,
    /// How far each operation is: [`CALLED`], [`STARTED`], [`DONE`].
    stage: Vec<u8>,
}

impl GraphRank {
    pub fn new(program: &RankProgram, graph: &Graph) -> Self {
        let processors = program.ops.iter().map(|op| op.cpu).max().unwrap_or(0);
        Self {
            required: graph.required(),
            free: vec![Time::ZERO; usize::from(processors) + 1],
            left: program.ops.len(),
            stage: vec![0; program.ops.len()],
        }
    }

    /// Operations that wait for nothing else and are not done.
    pub fn open(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.stage.len() as u32).filter(|&op| self.stage[op as usize] & (CALLED | DONE) == CALLED)
    }
}

impl Player<'_> {
    /// Starts what waits for nothing.
    pub(super) fn begin_graph(&mut self, rank: RankId) {
        let Some(graph) = &self.ranks[rank].graph else { return };
        let roots: Vec<u32> = (0..graph.required.len() as u32).filter(|&op| graph.required[op as usize] == 0).collect();
        if graph.left == 0 {
            self.ranks[rank].state = State::Ended;
        }
        for op in roots {
            self.start_op(rank, op);
        }
    }

    /// An operation waits for nothing any more.
    fn start_op(&mut self, rank: RankId, op: u32) {
        self.events += 1;
        let found = self.program.rank(rank).ops[op as usize];
        if let Some(graph) = &mut self.ranks[rank].graph {
            graph.stage[op as usize] |= CALLED;
        }
        match found.kind {
            OpKind::Calc => {
                let time = Time::from_ps(found.duration().ps() / self.cpu_speed);
                let kinds = (ActivityKind::Compute, ActivityKind::RecvWait);
                let end = self.occupy(rank, op, self.now, time, kinds, None);
                self.timers.set(end, Event::Finish(rank, op));
            }
            OpKind::Send | OpKind::Isend => self.start_send(rank, op, found.envelope(), found.size),
            _ => {
                self.start_recv(rank, op, found.envelope());
                self.started(rank, op);
            }
        }
    }

    /// Takes the processor of an operation, after what it has been given before.
    pub(super) fn occupy(
        &mut self,
        rank: RankId,
        op: u32,
        begin: Time,
        time: Time,
        (kind, idle): (ActivityKind, ActivityKind),
        other: Option<(u32, RankId)>,
    ) -> Time {
        let cpu = usize::from(self.program.rank(rank).ops[op as usize].cpu);
        let Some(graph) = &mut self.ranks[rank].graph else { return begin + time };
        let free = graph.free[cpu];
        let start = begin.max(free);
        let end = start + time;
        graph.free[cpu] = end;
        if cpu == 0 {
            self.spent(rank, idle, (free, start), op, other);
        }
        self.spent(rank, kind, (start, end), op, other);
        let waits = |follower: crate::workload::program::Follower| follower.for_start;
        let program = self.program.rank(rank);
        if program.graph().is_some_and(|graph| graph.followers(op).any(waits)) {
            // Nothing of it happens before the processor comes to it.
            if start > self.now { self.timers.set(start, Event::Started(rank, op)) } else { self.started(rank, op) }
        }
        end
    }

    /// An operation has started: those that wait for that may start, too.
    pub(super) fn started(&mut self, rank: RankId, op: u32) {
        let Some(graph) = &mut self.ranks[rank].graph else { return };
        let stage = &mut graph.stage[op as usize];
        if *stage & STARTED == 0 {
            *stage |= STARTED;
            self.release(rank, op, true);
        }
    }

    /// An operation is done.
    pub(super) fn finish(&mut self, rank: RankId, op: u32) {
        self.started(rank, op);
        let Some(graph) = &mut self.ranks[rank].graph else { return };
        graph.left -= 1;
        graph.stage[op as usize] |= DONE;
        let ended = graph.left == 0;
        let busy_until = graph.free.iter().copied().max().unwrap_or_default().max(self.now);
        if ended {
            let rank = &mut self.ranks[rank];
            rank.times.end = busy_until;
            rank.state = State::Ended;
        }
        self.release(rank, op, false);
    }

    /// Those that waited for this start or end alone start now, in the order of the input.
    fn release(&mut self, rank: RankId, op: u32, for_start: bool) {
        let program = self.program.rank(rank);
        let Some((edges, state)) = program.graph().zip(self.ranks[rank].graph.as_mut()) else { return };
        let mut free: smallvec::SmallVec<[u32; 8]> = smallvec::SmallVec::new();
        for follower in edges.followers(op).filter(|follower| follower.for_start == for_start) {
            let required = &mut state.required[follower.op as usize];
            *required -= 1;
            if *required == 0 {
                free.push(follower.op);
            }
        }
        free.sort_unstable();
        for op in free {
            self.start_op(rank, op);
        }
    }
}

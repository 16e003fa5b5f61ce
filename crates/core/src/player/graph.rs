//! Ranks whose operations are a graph: each operation starts when those it requires are done or have started,
//! and occupies its processor.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::activity::ActivityKind;
use super::clock::Event;
use super::protocol::ProcessorTime;
use super::runtime::Runtime;
use super::strand::Strand;
use crate::ids::RankId;
use crate::program::{Graph, OpKind, RankProgram};
use crate::units::Time;

/// Set when the operation waits for no other operation.
const CALLED: u8 = 1;
/// Set when the operation has got its processor.
const STARTED: u8 = 2;
/// Set when the operation is done.
const DONE: u8 = 4;

/// A rank whose operations are a graph.
#[derive(Debug)]
pub(super) struct GraphRank {
    pub(super) me: RankId,
    /// Number of operations that each operation still waits for.
    required: Vec<u32>,
    /// Time at which each processor has finished the work assigned so far.
    pub(super) free: Vec<Time>,
    /// Number of operations that are not done.
    left: usize,
    /// Stage of each operation: [`CALLED`], [`STARTED`], [`DONE`].
    stage: Vec<u8>,
    /// Collectives that run.
    pub(super) collectives: Vec<Strand>,
    /// Messages that the collectives have begun, by key, each with true if it is done.
    pub(super) requests: FxHashMap<u32, bool>,
    /// Time up to which waits for messages of collectives are booked.
    pub(super) booked: Time,
}

impl GraphRank {
    pub fn new(me: RankId, program: &RankProgram, graph: &Graph) -> Self {
        let processors = program.ops.iter().map(|op| op.cpu).max().unwrap_or(0);
        Self {
            me,
            required: graph.required(),
            free: vec![Time::ZERO; usize::from(processors) + 1],
            left: program.ops.len(),
            stage: vec![0; program.ops.len()],
            collectives: Vec::new(),
            requests: FxHashMap::default(),
            booked: Time::ZERO,
        }
    }

    /// Operations that wait for no other operation and are not done.
    pub fn open(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.stage.len() as u32).filter(|&op| self.stage[op as usize] & (CALLED | DONE) == CALLED)
    }

    /// Starts the operations that require no other.
    pub fn begin(&mut self, runtime: &mut Runtime<'_>) {
        let roots: Vec<u32> =
            (0..).zip(&self.required).filter(|(_, required)| **required == 0).map(|(op, _)| op).collect();
        for op in roots {
            self.start(op, runtime);
        }
    }

    /// Starts an operation that waits for no other.
    fn start(&mut self, op: u32, runtime: &mut Runtime<'_>) {
        runtime.events += 1;
        let found = runtime.program.rank(self.me).ops[op as usize];
        self.stage[op as usize] |= CALLED;
        match found.kind {
            OpKind::Calc => {
                let time = runtime.calculation(found.duration());
                let kinds = (ActivityKind::Compute, ActivityKind::RecvWait);
                let end = self.occupy(op, runtime.now(), time, kinds, None, runtime);
                runtime.set(end, Event::Finish(self.me, op));
            }
            OpKind::Send | OpKind::Isend => {
                let message = (found.size, found.is_posted(), found.role());
                let asked = runtime.protocol.send(self.me, op, found.envelope(), message, &mut runtime.clock);
                if let Some(time) = asked {
                    self.take(&time, runtime);
                }
            }
            OpKind::Collective => self.start_collective(op, found, runtime),
            _ => {
                let asked = runtime.protocol.recv(self.me, op, found.envelope(), &mut runtime.clock);
                if let Some(time) = asked {
                    self.take(&time, runtime);
                }
                self.started(op, runtime);
            }
        }
    }

    /// Gives a message the processor time that it asks for.
    pub fn take(&mut self, asked: &ProcessorTime, runtime: &mut Runtime<'_>) {
        let &ProcessorTime { op, begin, time, kind, idle, other, then, .. } = asked;
        let op = self.in_program(op);
        let end = self.occupy(op, begin, time, (kind, idle), Some(other), runtime);
        runtime.clock.set_message(end, then);
    }

    /// Occupies the processor of an operation after its earlier work; returns the end. `(kind, idle)`: kind
    /// of this time, and of the processor's idle time before.
    pub(super) fn occupy(
        &mut self,
        op: u32,
        begin: Time,
        time: Time,
        (kind, idle): (ActivityKind, ActivityKind),
        other: Option<(u32, RankId)>,
        runtime: &mut Runtime<'_>,
    ) -> Time {
        let program = runtime.program.rank(self.me);
        let cpu = usize::from(program.ops[op as usize].cpu);
        let free = self.free[cpu];
        let start = begin.max(free);
        let end = match kind {
            ActivityKind::Compute => runtime.clock.computed(self.me, start, time),
            _ => runtime.clock.worked(self.me, start, time),
        };
        if cpu == 0 {
            runtime.ledger.spent(self.me, idle, (free.max(self.booked), start), op, other);
        } else if !self.requests.is_empty() {
            self.wait(idle, start, op, other, runtime);
        }
        self.free[cpu] = end;
        runtime.ledger.spent(self.me, kind, (start, end), op, other);
        if program.graph().is_some_and(|graph| graph.followers(op).any(|follower| follower.for_start)) {
            // The operation starts only when it has got its processor.
            if start > runtime.now() {
                runtime.set(start, Event::Started(self.me, op));
            } else {
                self.started(op, runtime);
            }
        }
        end
    }

    /// Books a wait of collectives until `end`, as far as no processor works meanwhile.
    pub(super) fn wait(
        &mut self,
        kind: ActivityKind,
        end: Time,
        op: u32,
        other: Option<(u32, RankId)>,
        runtime: &mut Runtime<'_>,
    ) {
        let idle = self.free.iter().copied().fold(self.booked, Time::max);
        runtime.ledger.spent(self.me, kind, (idle, end), op, other);
        self.booked = self.booked.max(end);
    }

    /// Marks an operation as started, and releases the operations that wait for that.
    pub fn started(&mut self, op: u32, runtime: &mut Runtime<'_>) {
        let stage = &mut self.stage[op as usize];
        if *stage & STARTED == 0 {
            *stage |= STARTED;
            self.release(op, true, runtime);
        }
    }

    /// Marks an operation as done, and releases the operations that wait for that.
    pub fn finish(&mut self, op: u32, runtime: &mut Runtime<'_>) {
        self.started(op, runtime);
        self.left -= 1;
        self.stage[op as usize] |= DONE;
        runtime.ledger.done(self.me, op, runtime.clock.now());
        if self.left == 0 {
            let busy_until = self.free.iter().copied().max().unwrap_or_default();
            runtime.ledger.ended(self.me, busy_until.max(runtime.now()));
        }
        self.release(op, false, runtime);
    }

    /// Starts the operations that waited only for this start or end, in the order of the input.
    fn release(&mut self, op: u32, for_start: bool, runtime: &mut Runtime<'_>) {
        let Some(edges) = runtime.program.rank(self.me).graph() else { return };
        let mut free: SmallVec<[u32; 8]> = SmallVec::new();
        for follower in edges.followers(op).filter(|follower| follower.for_start == for_start) {
            let required = &mut self.required[follower.op as usize];
            *required -= 1;
            if *required == 0 {
                free.push(follower.op);
            }
        }
        free.sort_unstable();
        for op in free {
            self.start(op, runtime);
        }
    }
}

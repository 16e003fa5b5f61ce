//! Account of a played training step: time of a GPU by what it computes or waits for.
//!
//! Where no computation runs, a GPU waits for the operation that the next computation got last, and before that for
//! the one that this operation got last, back to the end of the computation before. Each of them counts for its stream,
//! from the end of what it required last to its own end. A wait for a message of the pipeline is bubble until the
//! sender's computation has ended, and pipeline time from then on. So the parts add up to the time of the step.

use rustc_hash::FxHashMap;

use super::step::Stream;
use crate::ids::{Id, RankId};
use crate::program::{OpKind, Program};
use crate::units::Time;

/// Time of a GPU by what it waits for \[s\].
#[report(Copy, Default)]
pub struct Exposed {
    /// Collectives of tensor parallelism.
    pub tp: f64,
    /// Messages between stages, from the end of the sender's computation on.
    pub pp: f64,
    /// Gradients and weights.
    pub dp: f64,
    /// Keys and values.
    pub cp: f64,
    /// All-to-alls of experts.
    pub ep: f64,
}

/// Time of a step on the GPU that ends last; its parts add up to that time.
#[report(Copy, Default)]
pub struct StepParts {
    /// Rank of the GPU.
    pub rank: u32,
    /// Time of the step \[s\].
    pub step_s: f64,
    /// Computation \[s\].
    pub compute_s: f64,
    /// Waits for communication while no computation runs \[s\].
    pub exposed_s: Exposed,
    /// Waits for passes of other stages \[s\].
    pub bubble_s: f64,
}

/// Record of a rank.
#[derive(Clone, Debug, Default)]
struct RankRecord {
    /// End of each operation \[ps\].
    done: Vec<f64>,
    /// Operation that each operation got last; itself without one.
    gate: Vec<u32>,
    /// End of the last computation, and of the last operation \[ps\].
    computed: f64,
    end: f64,
    /// Last operation.
    last: u32,
    /// Computation, waits by stream, and bubble \[ps\].
    compute: f64,
    waits: [f64; 6],
    bubble: f64,
}

/// Account of a step while it is played.
#[derive(Debug)]
pub struct StepRecord<'a> {
    program: &'a Program,
    ranks: Vec<RankRecord>,
    /// End of the computation before each message of the pipeline, by sender, receiver and tag \[ps\].
    sent: FxHashMap<(u32, u32, u32), f64>,
}

impl<'a> StepRecord<'a> {
    /// Creates the account of a program.
    pub fn new(program: &'a Program) -> Self {
        let rank = |(_, rank): (RankId, &crate::program::RankProgram)| RankRecord {
            done: vec![0.0; rank.ops.len()],
            gate: (0..rank.ops.len() as u32).collect(),
            ..RankRecord::default()
        };
        Self { program, ranks: program.iter().map(rank).collect(), sent: FxHashMap::default() }
    }

    /// Notes the end of an operation.
    pub fn done(&mut self, rank: RankId, op: u32, now: Time) {
        let of = self.program.rank(rank);
        let (done, now) = (of.ops[op as usize], now.ps());
        let record = &mut self.ranks[rank.index()];
        record.done[op as usize] = now;
        (record.end, record.last) = (now, op);
        for follower in of.graph().into_iter().flat_map(|graph| graph.followers(op)) {
            record.gate[follower.op as usize] = op;
            let next = &of.ops[follower.op as usize];
            let leaves = done.cpu != Stream::Pipeline as u8 && next.cpu == Stream::Pipeline as u8;
            if leaves && next.kind != OpKind::Recv {
                self.sent.insert((rank.0, next.peer, next.tag), now);
            }
        }
        if done.cpu == Stream::Compute as u8 {
            let gate = record.gate[op as usize];
            let ready = if gate == op { 0.0 } else { record.done[gate as usize] };
            let (before, begin) = (record.computed, ready.max(record.computed));
            self.wait(rank, op, before, begin);
            let record = &mut self.ranks[rank.index()];
            record.compute += now - begin;
            record.computed = now;
        }
    }

    /// Books the wait of a rank for what this operation required, from `begin` to `end` \[ps\].
    fn wait(&mut self, rank: RankId, mut op: u32, begin: f64, mut end: f64) {
        let record = &mut self.ranks[rank.index()];
        while end > begin {
            let gate = record.gate[op as usize];
            if gate == op {
                return;
            }
            let required = record.gate[gate as usize];
            let from = if required == gate { 0.0 } else { record.done[required as usize] }.max(begin);
            let of = &self.program.rank(rank).ops[gate as usize];
            if of.cpu == Stream::Pipeline as u8 && of.kind == OpKind::Recv {
                let sent = self.sent.get(&(of.peer, rank.0, of.tag)).copied().unwrap_or(from).clamp(from, end);
                record.bubble += sent - from;
                record.waits[usize::from(of.cpu)] += end - sent;
            } else {
                record.waits[usize::from(of.cpu).min(5)] += end - from;
            }
            (op, end) = (gate, from);
        }
    }

    /// Returns the parts of the step on the GPU that ends last, of several the first.
    pub fn finish(mut self) -> StepParts {
        let ends = |best: usize, at: usize| if self.ranks[at].end > self.ranks[best].end { at } else { best };
        let at = (0..self.ranks.len()).fold(0, ends);
        let Some(RankRecord { last, computed, end, .. }) = self.ranks.get(at).cloned() else {
            return StepParts::default();
        };
        let rank = RankId(at as u32);
        // Behind the last computation stand the weights that are gathered.
        let stream = usize::from(self.program.rank(rank).ops.get(last as usize).map_or(0, |op| op.cpu)).min(5);
        self.ranks[at].waits[stream] += (end - computed).max(0.0);
        let record = &self.ranks[at];
        let [_, tp, pp, dp, cp, ep] = record.waits.map(|time| time * 1e-12);
        StepParts {
            rank: at as u32,
            step_s: end * 1e-12,
            compute_s: record.compute * 1e-12,
            exposed_s: Exposed { tp, pp, dp, cp, ep },
            bubble_s: record.bubble * 1e-12,
        }
    }
}

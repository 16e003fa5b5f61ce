//! Account of a played training step: time of a GPU by what it computes or waits for.
//!
//! Where no computation runs, a GPU waits for the operation that the next computation got last, and before that for
//! the one that this operation got last, back to the end of the computation before. Each of them counts for its stream,
//! from the end of what it required last to its own end. A wait for a message of the pipeline is bubble until the
//! sender's computation has ended, and pipeline time from then on. So the parts add up to the time of the step.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::schedule::Schedule;
use super::step::{RankGraph, Step, Stream};
use crate::ids::{Id, RankId};
use crate::program::{OpKind, Program, RankProgram};
use crate::symmetry::Folded;
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

impl StepParts {
    /// Returns all parts with their names.
    pub fn parts(&self) -> [(&'static str, f64); 7] {
        let Exposed { tp, pp, dp, cp, ep } = self.exposed_s;
        [
            ("computation", self.compute_s),
            ("tensor communication", tp),
            ("pipeline bubble", self.bubble_s),
            ("pipeline messages", pp),
            ("data communication", dp),
            ("expert communication", ep),
            ("context communication", cp),
        ]
    }
}

/// Sums of the times of a GPU \[ps\].
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Sums {
    /// Computation.
    compute: f64,
    /// Waits by stream.
    waits: [f64; 6],
    /// Waits for passes of other stages.
    bubble: f64,
    /// Times by kind of activity.
    pub kinds: [f64; 6],
}

impl Sums {
    /// Adds `times` times other sums.
    pub fn add(&mut self, other: &Self, times: f64) {
        self.compute += times * other.compute;
        self.bubble += times * other.bubble;
        for (sums, of) in [(&mut self.waits, &other.waits), (&mut self.kinds, &other.kinds)] {
            sums.iter_mut().zip(of).for_each(|(sum, of)| *sum += times * of);
        }
    }
}

/// Windows that a step with more micro-batches has beside those that were played.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Repetition {
    /// Time that they add \[ps\].
    pub time: f64,
    /// Sums that they add, by rank.
    pub sums: Vec<Sums>,
    /// Operations of each rank within a window, from the first to one past the last, with the number of windows.
    pub operations: Vec<(RankId, std::ops::Range<u32>, u64)>,
}

impl Repetition {
    /// Returns the numbers of operations that the windows add, by rank and phase.
    pub fn operations(&self) -> impl Iterator<Item = u64> {
        self.operations.iter().map(|(_, window, count)| u64::from(window.end - window.start) * count)
    }
}

/// Record of a rank.
#[derive(Clone, Debug, Default)]
pub(super) struct RankRecord {
    /// End of each operation \[ps\].
    pub done: Vec<f64>,
    /// Operation that each operation got last; itself without one.
    pub gate: Vec<u32>,
    /// End of the last computation of each pass \[ps\], and the sums until then.
    pub passed: Vec<(f64, Sums)>,
    /// End of the last computation, and of the last operation \[ps\].
    computed: f64,
    end: f64,
    /// Last operation.
    last: u32,
    sums: Sums,
}

/// Account of a step while it is played.
#[derive(Debug)]
pub struct StepRecord<'a> {
    program: &'a Program,
    pub(super) ranks: Vec<RankRecord>,
    /// End of the computation before each message of the pipeline, by sender, direction and tag \[ps\].
    sent: FxHashMap<(u32, bool, u32), f64>,
    /// Ranks that are played, if not all are.
    folded: Option<Arc<Folded>>,
    /// Schedule, if a repetition is looked for.
    pub(super) schedule: Option<Schedule>,
    /// First operation of each pass by stage.
    pub(super) passes: Vec<Vec<u32>>,
    /// Last computation of each pass by stage.
    computations: Vec<Vec<u32>>,
}

impl<'a> StepRecord<'a> {
    /// Creates the account of a program.
    pub fn new(program: &'a Program) -> Self {
        let rank = |(_, rank): (RankId, &RankProgram)| RankRecord {
            done: vec![0.0; rank.ops.len()],
            gate: (0..rank.ops.len() as u32).collect(),
            ..RankRecord::default()
        };
        let ranks = program.iter().map(rank).collect();
        let [passes, computations] = [Vec::new(), Vec::new()];
        Self { program, ranks, sent: FxHashMap::default(), folded: None, schedule: None, passes, computations }
    }

    /// Creates the account of a run in which some ranks stand for others.
    #[must_use]
    pub fn with_played(self, folded: Option<Arc<Folded>>) -> Self {
        Self { folded, ..self }
    }

    /// Copies what was noted of each rank that was played to the ranks that it stands for.
    pub fn expand(&mut self) {
        if let Some(folded) = &self.folded {
            self.ranks = folded.expand(&self.ranks);
        }
    }

    /// Returns the name of a message of the pipeline. A rank sends to one rank in each direction.
    fn message(&self, from: u32, to: u32, tag: u32) -> (u32, bool, u32) {
        let sender = self.folded.as_ref().map_or(from, |folded| folded.representative(RankId(from)).0);
        (sender, from < to, tag)
    }

    /// Looks for a repetition in the program of this step.
    #[must_use]
    pub fn with_passes(mut self, step: &Step<'_>) -> Self {
        self.schedule = Some(step.layout.schedule(step.model));
        let of_stage = step.layout.gpus() / step.layout.pp;
        for stage in 0..step.layout.pp {
            let RankGraph { ops, passes, .. } = step.rank(stage * of_stage);
            let ends = passes.iter().skip(1).copied().chain([ops.len() as u32]);
            let last = |(from, to): (&u32, u32)| (*from..to).rev().find(|&op| ops[op as usize].0 == Stream::Compute);
            self.computations.push(passes.iter().zip(ends).filter_map(last).collect());
            self.passes.push(passes);
        }
        self
    }

    /// Returns the stage of a rank.
    pub(super) fn stage(&self, rank: usize) -> usize {
        rank * self.passes.len() / self.ranks.len()
    }

    /// Notes time that a rank spends on a kind of activity.
    pub fn spent(&mut self, rank: RankId, kind: usize, time: Time) {
        self.ranks[rank.index()].sums.kinds[kind] += time.ps();
    }

    /// Notes the end of an operation.
    pub fn done(&mut self, rank: RankId, op: u32, now: Time) {
        let of = self.program.rank(rank);
        let (done, now) = (of.ops[op as usize], now.ps());
        let stage = if self.passes.is_empty() { 0 } else { self.stage(rank.index()) };
        let record = &mut self.ranks[rank.index()];
        record.done[op as usize] = now;
        (record.end, record.last) = (now, op);
        for follower in of.graph().into_iter().flat_map(|graph| graph.followers(op)) {
            self.ranks[rank.index()].gate[follower.op as usize] = op;
            let next = &of.ops[follower.op as usize];
            let leaves = done.cpu != Stream::Pipeline as u8 && next.cpu == Stream::Pipeline as u8;
            if leaves && next.kind != OpKind::Recv {
                let message = self.message(rank.0, next.peer, next.tag);
                self.sent.insert(message, now);
            }
        }
        if done.cpu == Stream::Compute as u8 {
            let record = &self.ranks[rank.index()];
            let gate = record.gate[op as usize];
            let ready = if gate == op { 0.0 } else { record.done[gate as usize] };
            let (before, begin) = (record.computed, ready.max(record.computed));
            self.wait(rank, op, before, begin);
            let record = &mut self.ranks[rank.index()];
            record.sums.compute += now - begin;
            record.computed = now;
            if self.computations.get(stage).and_then(|all| all.get(record.passed.len())) == Some(&op) {
                record.passed.push((now, record.sums));
            }
        }
    }

    /// Books the wait of a rank for what this operation required, from `begin` to `end` \[ps\].
    fn wait(&mut self, rank: RankId, mut op: u32, begin: f64, mut end: f64) {
        while end > begin {
            let record = &self.ranks[rank.index()];
            let gate = record.gate[op as usize];
            if gate == op {
                return;
            }
            let required = record.gate[gate as usize];
            let from = if required == gate { 0.0 } else { record.done[required as usize] }.max(begin);
            let of = &self.program.rank(rank).ops[gate as usize];
            let message = self.message(of.peer, rank.0, of.tag);
            let sums = &mut self.ranks[rank.index()].sums;
            if of.cpu == Stream::Pipeline as u8 && of.kind == OpKind::Recv {
                let sent = self.sent.get(&message).copied().unwrap_or(from).clamp(from, end);
                sums.bubble += sent - from;
                sums.waits[usize::from(of.cpu)] += end - sent;
            } else {
                sums.waits[usize::from(of.cpu).min(5)] += end - from;
            }
            (op, end) = (gate, from);
        }
    }

    /// Returns the parts of the step on the GPU that ends last, of several the first, with windows that were not
    /// played.
    pub fn finish(mut self, more: Option<&Repetition>) -> StepParts {
        let ends = |best: usize, at: usize| if self.ranks[at].end > self.ranks[best].end { at } else { best };
        let at = (0..self.ranks.len()).fold(0, ends);
        let Some(RankRecord { last, computed, end, .. }) = self.ranks.get(at) else {
            return StepParts::default();
        };
        // Behind the last computation stand the weights that are gathered.
        let stream = usize::from(self.program.rank(RankId(at as u32)).ops[*last as usize].cpu).min(5);
        let (rest, mut end) = ((end - computed).max(0.0), *end);
        let sums = &mut self.ranks[at].sums;
        sums.waits[stream] += rest;
        if let Some(more) = more {
            sums.add(&more.sums[at], 1.0);
            end += more.time;
        }
        let [_, tp, pp, dp, cp, ep] = sums.waits.map(|time| time * 1e-12);
        StepParts {
            rank: at as u32,
            step_s: Time::from_ps(end).seconds(),
            compute_s: sums.compute * 1e-12,
            exposed_s: Exposed { tp, pp, dp, cp, ep },
            bubble_s: sums.bubble * 1e-12,
        }
    }
}

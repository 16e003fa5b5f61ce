//! Collectives of a graph: each runs beside the other operations of its rank.
//!
//! A collective starts when it requires no other operation. Its steps then run one after the other, and their
//! overheads and calculations occupy the processor of the collective. Several collectives of a rank run side by
//! side. The tag of the operation keeps the messages of each call on a communicator apart: ranks may start calls
//! in different orders, so the program numbers them.

use super::activity::ActivityKind;
use super::clock::Event;
use super::graph::GraphRank;
use super::keys::{COLLECTIVE, STRANDS, is_background};
use super::runtime::Runtime;
use super::strand::{Strand, StrandState};
use crate::ids::RankId;
use crate::program::{Action, Envelope, Op, OpKind};
use crate::units::Time;

impl GraphRank {
    /// Starts a collective.
    pub(super) fn start_collective(&mut self, at: u32, op: Op, runtime: &mut Runtime<'_>) {
        let collective = &runtime.program.collectives[op.arg as usize];
        let group = &runtime.program.communicators[collective.comm as usize];
        let mut steps = Vec::new();
        if let (Some(expand), Some(me)) = (runtime.expand, group.rank_of(self.me)) {
            expand.steps(collective, group, me, &mut steps);
        }
        let first = self.free_keys(steps.len() as u32);
        if self.collectives.is_empty() {
            self.booked = runtime.now();
        }
        self.collectives.push(Strand::new(at, first, steps, op.tag));
        self.started(at, runtime);
        self.run_collective(at, runtime);
    }

    /// Returns the first of `count` successive keys that no running collective uses.
    fn free_keys(&self, count: u32) -> u32 {
        let last = self.collectives.iter().map(Strand::end).max().unwrap_or(STRANDS);
        if last.checked_add(count).is_some() {
            return last;
        }
        let is_free = |first: &u32| {
            let Some(end) = first.checked_add(count) else { return false };
            self.collectives.iter().all(|strand| end <= strand.key(0) || strand.end() <= *first)
        };
        let candidates = self.collectives.iter().map(Strand::end);
        candidates.chain([STRANDS]).filter(is_free).min().unwrap_or(STRANDS)
    }

    /// Continues a collective until a step takes time.
    pub(super) fn run_collective(&mut self, of: u32, runtime: &mut Runtime<'_>) {
        loop {
            let Some(at) = self.collectives.iter().position(|strand| strand.op == of) else { return };
            let strand = &mut self.collectives[at];
            let Some((key, op)) = strand.take_step() else {
                self.collectives.swap_remove(at);
                // As an event, so that a chain of collectives without steps is no recursion.
                runtime.set(runtime.now(), Event::Finish(self.me, of));
                return;
            };
            runtime.events += 1;
            let tag = strand.tag;
            let inside = |envelope: Envelope| Envelope { comm: envelope.comm | COLLECTIVE, tag, ..envelope };
            match op.action() {
                Action::Calc(time) => {
                    let time = runtime.calculation(time);
                    if time > Time::ZERO {
                        let kinds = (ActivityKind::Compute, ActivityKind::RecvWait);
                        let end = self.occupy(of, runtime.now(), time, kinds, None, runtime);
                        runtime.set(end, Event::Background(self.me, of));
                        return;
                    }
                }
                Action::Send { nonblocking, to, bytes } => {
                    self.begin_step(at, key, nonblocking);
                    let message = (bytes, op.is_posted(), op.role());
                    let asked = runtime.protocol.send(self.me, key, inside(to), message, &mut runtime.clock);
                    asked.iter().for_each(|time| self.take(time, runtime));
                    if !nonblocking {
                        return;
                    }
                }
                Action::Recv { nonblocking, from, .. } => {
                    self.begin_step(at, key, nonblocking);
                    let asked = runtime.protocol.recv(self.me, key, inside(from), &mut runtime.clock);
                    asked.iter().for_each(|time| self.take(time, runtime));
                    if !nonblocking {
                        return;
                    }
                }
                Action::Wait(started) => {
                    let request = strand.key(started);
                    if self.requests.get(&request) == Some(&false) {
                        strand.state = StrandState::Blocked(request);
                        return;
                    }
                    self.requests.remove(&request);
                }
                // There are no other kinds of steps.
                _ => {}
            }
        }
    }

    /// Notes that a message of a collective begins.
    fn begin_step(&mut self, at: usize, key: u32, nonblocking: bool) {
        self.requests.insert(key, false);
        if !nonblocking {
            self.collectives[at].state = StrandState::Blocked(key);
        }
    }

    /// Notes that a message of a collective is done, and continues the collective if it waits for it. The wait is
    /// booked as far as no processor works meanwhile.
    pub(super) fn step_done(&mut self, key: u32, other: Option<(u32, RankId)>, runtime: &mut Runtime<'_>) {
        let Some(strand) = self.collectives.iter().find(|strand| strand.has(key)) else { return };
        let of = strand.op;
        if strand.waits_for() != Some(key) {
            self.requests.insert(key, true);
            return;
        }
        let sends = strand.step(key).is_some_and(|step| matches!(step.kind, OpKind::Send | OpKind::Isend));
        let kind = if sends { ActivityKind::SendWait } else { ActivityKind::RecvWait };
        self.wait(kind, runtime.now(), of, other, runtime);
        self.requests.remove(&key);
        self.run_collective(of, runtime);
    }

    /// Returns the operation of the program that this key belongs to; of a step, its collective.
    pub(super) fn in_program(&self, key: u32) -> u32 {
        let strand = self.collectives.iter().find(|strand| is_background(key) && strand.has(key));
        strand.map_or(key, |strand| strand.op)
    }

    /// Returns the step for which a collective waits.
    pub fn awaited_step(&self, of: u32) -> Option<Op> {
        let strand = self.collectives.iter().find(|strand| strand.op == of)?;
        strand.step(strand.waits_for()?)
    }
}

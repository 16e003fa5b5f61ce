//! Upper bound on the time that a change could save, from the original run and without a simulation.
//!
//! The critical path is walked back from its end. Where it waits for something that the change moves or
//! removes, that wait could go. Its time is counted, and the walk goes on with the previous activity of the
//! same rank instead of the one it waited for. Where the path does not touch the change, it stays the same in
//! the changed program, and so does its time:
//!
//! ```text
//! makespan of the changed program >= makespan - sum of the times that the change could take away on such a path
//! ```
//! The bound holds if the activities of ranks depend only on each other's messages. On a fabric, messages
//! also share links, and a removed message may speed up others. There the bound is only an estimate, good
//! enough to try the most promising changes first.
//!
//! Cost: one walk, O(a) for a activities of the run at worst; a thousandth of a simulation, or a tenth where
//! ranks hardly compute.

use std::collections::BTreeMap;

use hayase_advice::model::{Action, Change, Edit, ScenarioChange};

use super::rules::Base;
use hayase::ids::RankId;
use hayase::player::{Activity, ActivityKind, Transfer};
use hayase::program::{OpKind, Program, RankProgram};
use hayase::record::History;
use hayase::units::Time;

/// Largest number of changes of the rank at one instant; then the walk gives up, as the walk of the critical
/// path does.
const MOST_HOPS: u32 = 1000;

/// Part of a run that a change touches.
pub enum Touched {
    /// These operations, by rank and position, and their messages.
    Operations(BTreeMap<u32, Vec<bool>>),
    /// Messages longer than this \[B\], and their sends and receives.
    Longer(u64),
    /// Everything but computation.
    Everything,
}

impl Touched {
    /// Returns the part of a run that a change touches; `None` if there is no change.
    pub fn by(change: &Change, program: &Program, eager: Option<u64>) -> Option<Self> {
        match change {
            Change::None => None,
            Change::Program { edits, .. } => Some(Self::edited(edits, program)),
            Change::Scenario(ScenarioChange::RaiseEager { .. }) => Some(eager.map_or(Self::Everything, Self::Longer)),
            Change::Scenario(ScenarioChange::Placement { .. }) => Some(Self::Everything),
            Change::Scenario(ScenarioChange::Algorithm { collective, .. }) => {
                let is_it = |number: u32| {
                    let collective = collective.to_ascii_lowercase();
                    super::rules::operation_of(program, number).name() == collective
                };
                Some(Self::collectives(program, is_it))
            }
        }
    }

    /// Returns all calls of the collectives with these numbers, and the waits for them.
    pub fn collectives(program: &Program, is_it: impl Fn(u32) -> bool) -> Self {
        let mut touched = BTreeMap::new();
        let which: Vec<bool> = (0..program.collectives.len() as u32).map(is_it).collect();
        for (rank, of) in program.iter() {
            let mut ops = vec![false; of.ops.len()];
            for (at, op) in of.ops.iter().enumerate() {
                ops[at] = op.kind.is_collective() && which.get(op.arg as usize).is_some_and(|&which| which);
            }
            mark_waits(&mut ops, of);
            touched.insert(rank.0, ops);
        }
        Self::Operations(touched)
    }

    fn edited(edits: &[Edit], program: &Program) -> Self {
        let mut touched: BTreeMap<u32, Vec<bool>> = BTreeMap::new();
        let mut touch = |rank: u32, event: u64| {
            if rank >= program.ranks() {
                return;
            }
            let of = program.rank(RankId(rank));
            let ops = touched.entry(rank).or_insert_with(|| vec![false; of.ops.len()]);
            for op in super::edit::calls(of, event) {
                ops[op as usize] = of.ops[op as usize].kind != OpKind::Calc;
            }
        };
        for edit in edits {
            match &edit.action {
                Action::Overlap { .. } => edit.events().for_each(|event| touch(edit.rank, event)),
                Action::Merge { with, .. } => edit.events().for_each(|event| {
                    touch(edit.rank, event);
                    with.iter().for_each(|distance| touch(edit.rank, event + distance));
                }),
                Action::Replace { calls, .. } => calls.iter().for_each(|&(rank, event)| touch(rank, event)),
            }
        }
        // A rank that arrives earlier at a collective operation is earlier for all its members.
        let mut which = vec![false; program.collectives.len()];
        for (&rank, ops) in &touched {
            let of = &program.rank(RankId(rank)).ops;
            let collectives = ops.iter().zip(of).filter(|(touched, op)| **touched && op.kind.is_collective());
            collectives.for_each(|(_, op)| which[op.arg as usize] = true);
        }
        if which.contains(&true) {
            let Self::Operations(members) = Self::collectives(program, |number| which[number as usize]) else {
                return Self::Everything;
            };
            for (rank, ops) in members {
                let known = touched.entry(rank).or_insert_with(|| vec![false; ops.len()]);
                known.iter_mut().zip(ops).for_each(|(known, op)| *known |= op);
            }
        }
        Self::Operations(touched)
    }

    fn op(&self, rank: RankId, op: u32) -> bool {
        match self {
            Self::Operations(ranks) => {
                ranks.get(&rank.0).and_then(|ops| ops.get(op as usize)).is_some_and(|&touched| touched)
            }
            Self::Longer(_) => false,
            Self::Everything => true,
        }
    }

    fn transfer(&self, transfer: &Transfer) -> bool {
        match self {
            Self::Operations(_) => {
                transfer.op.is_some_and(|op| self.op(transfer.src, op))
                    || transfer.received_by.is_some_and(|op| self.op(transfer.dst, op))
            }
            Self::Longer(than) => transfer.bytes > *than,
            Self::Everything => true,
        }
    }
}

/// Marks the waits for marked collectives; waits for messages are known by the message.
fn mark_waits(ops: &mut [bool], of: &RankProgram) {
    if !of.ops.iter().any(|op| op.kind == OpKind::Icollective) {
        return;
    }
    for at in 0..of.ops.len() {
        let op = of.ops[at];
        let waits = |&started: &u32| {
            let started = started as usize;
            ops.get(started).is_some_and(|&marked| marked) && of.ops[started].kind == OpKind::Icollective
        };
        let marked = match op.kind {
            OpKind::Wait | OpKind::Test => waits(&op.arg),
            OpKind::Waitall | OpKind::Waitany | OpKind::Waitsome => of.list(op.arg, op.size as u32).iter().any(waits),
            _ => false,
        };
        if marked {
            ops[at] = true;
        }
    }
}

/// Returns the largest time that a change could save \[s\]; `None` if the activities of the run were not
/// kept.
pub fn most_saved(base: &Base, touched: &Touched) -> Option<f64> {
    let history = base.replayed.history.as_ref()?;
    // The ends in the report are those of the selected region, not of the run.
    let ends = base.program.rank_ids().filter_map(|rank| Some((rank, history.of(rank).last()?.end)));
    let (last, time) = ends.reduce(|a, b| if b.1 > a.1 { b } else { a })?;
    let cursors = base.program.rank_ids().map(|rank| history.of(rank).len()).collect();
    let mut walk = Walk { history, touched, cursors, rank: last, time, hops: 0, saved: Time::ZERO };
    while walk.time > Time::ZERO {
        walk.back();
    }
    Some(walk.saved.seconds())
}

struct Walk<'a> {
    history: &'a History,
    touched: &'a Touched,
    /// Number of activities of each rank that begin before the present time of the walk. Times only go back,
    /// and so do these.
    cursors: Vec<usize>,
    rank: RankId,
    time: Time,
    hops: u32,
    saved: Time,
}

impl<'a> Walk<'a> {
    /// Returns the last activity of a rank that begins before a time.
    fn before(&mut self, rank: RankId, time: Time) -> Option<&'a Activity> {
        let activities = self.history.of(rank);
        let cursor = &mut self.cursors[rank.0 as usize];
        while *cursor > 0 && activities[*cursor - 1].begin >= time {
            *cursor -= 1;
        }
        activities.get(cursor.checked_sub(1)?)
    }

    fn back(&mut self) {
        let now = self.time;
        let Some(activity) = self.before(self.rank, now) else {
            self.time = Time::ZERO;
            return;
        };
        if activity.end < now {
            self.go(self.rank, activity.end);
            return;
        }
        if activity.kind == ActivityKind::Compute {
            self.did(activity);
            return;
        }
        let message = activity.message.and_then(|message| self.history.message(message));
        let goes = self.touched.op(activity.rank, activity.op) || message.is_some_and(|it| self.touched.transfer(it));
        if goes {
            self.saved += now - activity.begin;
            self.did(activity);
            return;
        }
        match (activity.kind, message) {
            (ActivityKind::RecvWait, Some(transfer)) if self.hops < MOST_HOPS => self.received(activity, transfer),
            (ActivityKind::SendWait, Some(transfer)) if activity.begin >= transfer.leave => {
                self.go(self.rank, transfer.leave);
            }
            (ActivityKind::SendWait, Some(transfer)) if self.hops < MOST_HOPS && transfer.dst != self.rank => {
                self.go(transfer.dst, now);
            }
            _ => self.did(activity),
        }
    }

    /// Continues from a wait for a message that ends now, as the critical path does.
    fn received(&mut self, activity: &Activity, transfer: &Transfer) {
        let (now, sender) = (self.time, transfer.src);
        if transfer.called > now {
            self.did(activity);
            return;
        }
        if transfer.waited && now <= transfer.begin {
            self.go(sender, transfer.called);
            return;
        }
        let leave = transfer.leave.min(now);
        let sending = self.before(sender, leave);
        if leave <= transfer.called || sending.is_some_and(|sending| sending.message == Some(transfer.message)) {
            self.go(sender, leave);
            return;
        }
        let (to, since) = if transfer.waited { (self.rank, transfer.begin) } else { (sender, transfer.called) };
        self.go(to, since);
    }

    fn did(&mut self, activity: &Activity) {
        self.go(self.rank, activity.begin);
        self.hops = 0;
    }

    fn go(&mut self, rank: RankId, time: Time) {
        self.hops = if time < self.time { 0 } else { self.hops + 1 };
        (self.rank, self.time) = (rank, time);
    }
}

#[cfg(test)]
mod tests;

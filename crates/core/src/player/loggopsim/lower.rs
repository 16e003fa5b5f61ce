//! Conversion of sequences to graphs, for a model without calls.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::super::keys::COLLECTIVE;
use crate::ids::RankId;
use crate::program::{
    ANY_TAG, Action, Expand, Graph, Mark, Op, OpKind, Order, Program, ProgramBuilder, RankProgram, unrolled,
};
use crate::units::Time;

/// Returns the program with a graph for every rank.
///
/// An operation requires the one before it, or only the start of that one if it is non-blocking. A wait is a
/// calculation of zero time that requires the operations it waits for. A wait for any or some is a wait for
/// all; tests and probes take no time.
pub fn as_graphs<'p>(program: &'p Program, expand: &dyn Expand) -> Cow<'p, Program> {
    let is_lowered = |rank: &RankProgram| rank.graph().is_some() && !rank.ops.iter().any(|op| op.kind.is_collective());
    if program.iter().all(|(_, rank)| is_lowered(rank)) {
        return Cow::Borrowed(program);
    }
    let mut lowered = program.clone();
    for (rank, _) in program.iter() {
        if program.rank(rank).graph().is_none() {
            lower(program, rank, expand, &mut lowered);
        } else {
            let inside = |op: Op, tag| Op { arg: op.arg | COLLECTIVE, tag, ..op };
            *lowered.rank_mut(rank) = unrolled(program, rank, expand, inside);
        }
    }
    Cow::Owned(lowered)
}

/// Converts one rank to a graph.
fn lower(program: &Program, rank: RankId, expand: &dyn Expand, lowered: &mut Program) {
    let found = program.rank(rank);
    let mut chain = Chain { graph: ProgramBuilder::new(1).graph(0), before: None, places: Vec::new() };
    let mut requests = FxHashMap::default();
    let mut steps = Vec::new();
    let (background, mut calls) = (program.has_background_collectives(), FxHashMap::default());
    let (mut marks, mut lowered_marks) = (found.marks.iter().peekable(), Vec::new());
    for (at, &op) in found.ops.iter().enumerate() {
        while let Some(mark) = marks.next_if(|mark| mark.at as usize <= at) {
            lowered_marks.push(Mark { at: chain.graph.ops().len() as u32, ..*mark });
        }
        let place = found.place(at);
        if let Action::Collective(number) | Action::Icollective(number) = op.action() {
            let collective = &program.collectives[number as usize];
            let group = &program.communicators[collective.comm as usize];
            steps.clear();
            if let Some(me) = group.rank_of(rank) {
                expand.steps(collective, group, me, &mut steps);
            }
            // If some collectives run in the background, each call on a communicator has its own tag.
            let tag = if background {
                let calls = calls.entry(collective.comm).or_insert(0_u32);
                *calls = (*calls + 1) % ANY_TAG;
                *calls
            } else {
                0
            };
            let mut inner = FxHashMap::default();
            let aside = op.kind == OpKind::Icollective;
            if aside {
                chain.push(Op::calc(Time::ZERO), 0, &mut inner, &[], place);
            }
            let here = chain.before;
            for (step, &op) in steps.iter().enumerate() {
                let op = match op.action() {
                    Action::Send { .. } | Action::Recv { .. } => Op { arg: op.arg | COLLECTIVE, tag, ..op },
                    _ => op,
                };
                chain.push(op, step as u32, &mut inner, &[], place);
            }
            if aside {
                // The collective is a separate branch; a wait requires its end.
                chain.push(Op::calc(Time::ZERO), 0, &mut inner, &[], place);
                requests.extend(chain.before.map(|(end, _)| (at as u32, end)));
                chain.before = here;
            }
            continue;
        }
        let list = match op.action() {
            Action::WaitList { first, count, .. } => found.list(first, count),
            _ => &[],
        };
        chain.push(op, at as u32, &mut requests, list, place);
    }
    let Chain { graph, places, .. } = chain;
    let (_, mut made): (u32, _) = graph.into();
    made.places = places;
    let end = made.ops.len() as u32;
    lowered_marks.extend(marks.map(|mark| Mark { at: end, ..*mark }));
    made.marks = lowered_marks;
    (made.file, made.measured) = (found.file, found.measured);
    if made.ops.is_empty() {
        made.order = Order::Graph(Graph::chain(0));
    }
    *lowered.rank_mut(rank) = made;
}

struct Chain {
    graph: crate::program::GraphBuilder,
    /// Previous operation, and true if only its start is required.
    before: Option<(u32, bool)>,
    places: Vec<u32>,
}

impl Chain {
    fn push(&mut self, op: Op, key: u32, requests: &mut FxHashMap<u32, u32>, list: &[u32], place: Option<u32>) {
        let nonblocking = op.kind.is_nonblocking();
        let (made, waits): (Op, &[u32]) = match op.kind {
            OpKind::Calc => (op, &[]),
            OpKind::Send | OpKind::Isend => (Op { kind: OpKind::Send, ..op }, &[]),
            OpKind::Recv | OpKind::Irecv => (Op { kind: OpKind::Recv, ..op }, &[]),
            OpKind::Wait => (Op::calc(Time::ZERO), std::slice::from_ref(&op.arg)),
            OpKind::Waitall | OpKind::Waitany | OpKind::Waitsome => (Op::calc(Time::ZERO), list),
            OpKind::Test | OpKind::Probe | OpKind::Collective | OpKind::Icollective => (Op::calc(Time::ZERO), &[]),
        };
        let at = self.graph.push(made);
        self.places.extend(place);
        match self.before {
            Some((before, true)) => self.graph.irequires(at, before),
            Some((before, false)) => self.graph.requires(at, before),
            None => {}
        }
        for waited in waits {
            if let Some(started) = requests.remove(waited) {
                self.graph.requires(at, started);
            }
        }
        if nonblocking {
            requests.insert(key, at);
        }
        self.before = Some((at, nonblocking));
    }
}

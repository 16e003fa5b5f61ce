//! Graphs whose collectives are replaced by their messages, for formats and node models without collectives.

use super::{Expand, GraphBuilder, Op, OpKind, Order, Program, ProgramBuilder, RankProgram};
use crate::ids::RankId;
use crate::units::Time;

/// Returns the operations of a rank whose order is a graph, with each collective replaced by its messages.
///
/// A collective becomes a calculation of no length, its steps, and another such calculation: what it requires comes
/// before the first, what requires it after the second. `message` gives a step's message the tag of the call.
pub fn unrolled(program: &Program, rank: RankId, expand: &dyn Expand, message: impl Fn(Op, u32) -> Op) -> RankProgram {
    let found = program.rank(rank);
    let mut out = ProgramBuilder::new(1).graph(rank.0);
    out.from_file(found.file);
    // First and last new operation of each operation.
    let mut ends = Vec::with_capacity(found.ops.len());
    let mut steps = Vec::new();
    for (at, &op) in found.ops.iter().enumerate() {
        let place = found.place(at);
        if op.kind != OpKind::Collective {
            let new = push(&mut out, op, place);
            ends.push((new, new));
            continue;
        }
        let collective = &program.collectives[op.arg as usize];
        steps.clear();
        if let Some(me) = program.communicators[collective.comm as usize].rank_of(rank) {
            expand.steps(collective, &program.communicators[collective.comm as usize], me, &mut steps);
        }
        let first = push(&mut out, Op::calc(Time::ZERO).on(op.cpu, op.nic), place);
        // Operations that the next step requires, and the new position of each step.
        let (mut required, mut positions) = (vec![first], Vec::with_capacity(steps.len()));
        for step in steps.iter().copied().chain([Op::calc(Time::ZERO)]) {
            if step.kind == OpKind::Wait {
                positions.push(first);
                required.push(positions[step.arg as usize]);
                continue;
            }
            let (kind, nonblocking) = (step.kind, step.kind.is_nonblocking());
            let step = step.on(op.cpu, op.nic);
            let step = match kind {
                OpKind::Send | OpKind::Isend => message(Op { kind: OpKind::Send, ..step }, op.tag),
                OpKind::Recv | OpKind::Irecv => message(Op { kind: OpKind::Recv, ..step }, op.tag),
                _ => step,
            };
            let new = push(&mut out, step, place);
            required.iter().for_each(|&before| out.requires(new, before));
            positions.push(new);
            if !nonblocking {
                required = vec![new];
            }
        }
        ends.push((first, required[0]));
    }
    if let Some(graph) = found.graph() {
        for op in 0..found.ops.len() as u32 {
            for follower in graph.followers(op) {
                let ((begin, end), (next, _)) = (ends[op as usize], ends[follower.op as usize]);
                match follower.for_start {
                    true => out.irequires(next, begin),
                    false => out.requires(next, end),
                }
            }
        }
    }
    let (_, mut made): (u32, RankProgram) = out.into();
    made.measured = found.measured;
    debug_assert!(matches!(made.order, Order::Graph(_)));
    made
}

fn push(out: &mut GraphBuilder, op: Op, place: Option<u32>) -> u32 {
    match place {
        Some(place) => out.push_at(op, place),
        None => out.push(op),
    }
}

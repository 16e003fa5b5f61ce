//! Collectives expanded into messages, for formats that have none.

use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::ids::RankId;
use crate::program::{Communicator, Expand, Op, OpKind, Order, Program, ProgramBuilder, RankProgram, unrolled};

/// Returns the same program with every collective replaced by its messages.
///
/// Each call of a collective on a communicator gets a tag of its own, above those of the program. So messages
/// of different calls do not match each other; in a schedule nothing else separates them. Messages of one
/// call between two ranks match in the order in which they are sent. A non-blocking collective completes
/// where it is called, since a sequence has no other place for it. A graph numbers its calls itself.
///
/// # Errors
/// Those of [`ProgramBuilder::build`], which a program that was built does not have.
pub fn expanded(program: &Program, expand: &dyn Expand) -> Result<Program, Vec<Diagnostic>> {
    if program.has_threads() {
        let what = "ranks of several threads cannot be written as a schedule";
        return Err(vec![Diagnostic::new("several-threads", what).help("Hayase's own format (.hyt) keeps them")]);
    }
    // Tags from `base` on are above all tags in use.
    let messages = |op: &&Op| matches!(op.kind, OpKind::Send | OpKind::Isend | OpKind::Recv | OpKind::Irecv);
    let largest = program.iter().flat_map(|(_, rank)| &rank.ops).filter(messages);
    let base = largest.map(|op| op.tag).filter(|&tag| tag != u32::MAX).max().map_or(0, |tag| tag.saturating_add(1));
    let mut builder = ProgramBuilder::new(program.ranks());
    for file in &program.files {
        builder.file(Arc::clone(file));
    }
    builder.places_in(program.place_unit);
    for group in &program.communicators[1..] {
        if let Communicator::Group(ranks) = group {
            builder.communicator(ranks.clone());
        }
    }
    for (rank, ops) in program.iter() {
        if ops.graph().is_some() {
            let inside = |op: Op, tag: u32| Op { tag: base.wrapping_add(tag), ..op };
            builder.finish_rank((rank.0, unrolled(program, rank, expand, inside)));
            continue;
        }
        builder.finish_rank((rank.0, expanded_rank(program, rank, ops, base, expand)));
    }
    builder.build()
}

fn expanded_rank(program: &Program, rank: RankId, ops: &RankProgram, base: u32, expand: &dyn Expand) -> RankProgram {
    let mut out =
        RankProgram { order: Order::Sequence, file: ops.file, measured: ops.measured, ..RankProgram::default() };
    // New position of each operation, and the number of collectives so far on each communicator.
    let mut position = Vec::with_capacity(ops.ops.len());
    let mut calls = vec![0_u32; program.communicators.len()];
    let mut steps = Vec::new();
    let is_collective = |op: u32| ops.ops[op as usize].kind == OpKind::Icollective;
    for (at, op) in ops.ops.iter().enumerate() {
        position.push(out.ops.len() as u32);
        let place = ops.place(at);
        let first = out.ops.len() as u32;
        match op.kind {
            OpKind::Collective | OpKind::Icollective => {
                let collective = &program.collectives[op.arg as usize];
                let group = &program.communicators[collective.comm as usize];
                let call = &mut calls[collective.comm as usize];
                let Some(me) = group.rank_of(rank) else { continue };
                steps.clear();
                expand.steps(collective, group, me, &mut steps);
                let tag = base.wrapping_add(*call);
                *call += 1;
                for step in &steps {
                    out.ops.push(match step.kind {
                        OpKind::Send | OpKind::Isend | OpKind::Recv | OpKind::Irecv => Op { tag, ..*step },
                        OpKind::Wait | OpKind::Test => Op { arg: step.arg + first, ..*step },
                        _ => *step,
                    });
                }
            }
            // A non-blocking collective is already complete.
            OpKind::Wait | OpKind::Test if is_collective(op.arg) => {}
            OpKind::Wait | OpKind::Test => out.ops.push(Op { arg: position[op.arg as usize], ..*op }),
            OpKind::Waitall | OpKind::Waitany | OpKind::Waitsome => {
                let list = ops.list(op.arg, op.size as u32).iter().filter(|&&started| !is_collective(started));
                let start = out.lists.len();
                out.lists.extend(list.map(|&started| position[started as usize]));
                let count = (out.lists.len() - start) as u64;
                if count > 0 {
                    out.ops.push(Op { arg: start as u32, size: count, ..*op });
                }
            }
            _ => out.ops.push(*op),
        }
        if let Some(place) = place {
            out.places.resize(out.ops.len(), place);
        }
    }
    out
}

//! Writer of GOAL text.

use std::io::{self, Write};

use crate::base::Arrange;
use crate::ids::RankId;
use crate::program::{Action, Op, OpKind, Program, RankProgram};

/// Picoseconds in a nanosecond, the unit of calculations.
pub(super) const PS_PER_UNIT: f64 = 1000.0;

/// Reason why a program cannot be written as a schedule.
#[derive(Debug, thiserror::Error)]
pub enum NotGoal {
    /// An operation that the format does not have.
    #[error("{place}: {format} has no {what}")]
    Operation {
        /// Name of the format.
        format: &'static str,
        /// Place of the operation.
        place: String,
        /// Description of the operation.
        what: String,
    },
    /// Writing failed.
    #[error("{error}")]
    Io {
        /// Error of the writer.
        #[from]
        error: io::Error,
    },
}

/// An edge: the operation that waits, the one it waits for, and true if only for its start.
pub(in crate::trace) type Edge = (u32, u32, bool);

/// Operations of a rank as GOAL has them, and their edges. Edges to one operation are in the order in which
/// they were given.
pub(in crate::trace) struct Schedule {
    pub ops: Vec<Op>,
    pub edges: Vec<Edge>,
}

/// Converts the operations of a rank to a graph of sends, receives and calculations.
///
/// A sequence becomes a chain. The successor of a non-blocking operation follows its start. A wait becomes a
/// calculation of no length that requires the operations that it waits for. With `keeps` collectives stay.
///
/// # Errors
/// Collectives unless they stay (expand them first), probes, and waits for any of several.
pub(in crate::trace) fn schedule(
    program: &Program,
    rank: RankId,
    ops: &RankProgram,
    keeps: bool,
) -> Result<Schedule, NotGoal> {
    if let Some(graph) = ops.graph() {
        let mut edges = Vec::with_capacity(graph.edges());
        for op in 0..ops.ops.len() as u32 {
            edges.extend(graph.followers(op).map(|follower| (follower.op, op, follower.for_start)));
        }
        return Ok(Schedule { ops: ops.ops.clone(), edges });
    }
    let mut out = Schedule { ops: Vec::with_capacity(ops.ops.len()), edges: Vec::with_capacity(ops.ops.len()) };
    // Position in the schedule of each operation of the program.
    let mut position = vec![0; ops.ops.len()];
    let mut before: Option<(u32, bool)> = None;
    for (i, op) in ops.ops.iter().enumerate() {
        let next = out.ops.len() as u32;
        let awaited: &[u32] = match op.action() {
            Action::Wait(started) => &[started],
            Action::WaitList { kind: OpKind::Waitall, first, count } => ops.list(first, count),
            // A test takes no time and changes nothing.
            Action::Test(_) => continue,
            Action::Collective(_) | Action::Icollective(_) if keeps => &[],
            Action::Probe(_) | Action::Collective(_) | Action::Icollective(_) | Action::WaitList { .. } => {
                let place = program.place(rank, i as u32).unwrap_or_else(|| format!("rank {rank}, operation {i}"));
                let format = if keeps { "Chakra" } else { "GOAL" };
                return Err(NotGoal::Operation { format, place, what: program.describe(rank, op) });
            }
            _ => &[],
        };
        position[i] = next;
        out.ops.push(match op.kind {
            OpKind::Isend => Op { kind: OpKind::Send, ..*op },
            OpKind::Irecv => Op { kind: OpKind::Recv, ..*op },
            OpKind::Icollective => Op { kind: OpKind::Collective, ..*op },
            OpKind::Wait | OpKind::Waitall => Op::calc(crate::units::Time::ZERO),
            _ => *op,
        });
        if let Some((before, for_start)) = before {
            out.edges.push((next, before, for_start));
        }
        out.edges.extend(awaited.iter().map(|&started| (next, position[started as usize], false)));
        before = Some((next, op.kind.is_nonblocking()));
    }
    Ok(out)
}

/// Writes a schedule as text, with labels `l1`, `l2` ... for operations that have dependences.
///
/// Tags keep messages of different communicators apart: communicator c adds c times (largest tag + 1) to a
/// tag.
///
/// # Errors
/// Those of `out`, and operations that GOAL does not have.
pub fn write_text(program: &Program, out: &mut dyn Write) -> Result<(), NotGoal> {
    let mut out = io::BufWriter::with_capacity(1 << 16, out);
    let span = span(program)?;
    writeln!(out, "num_ranks {}", program.ranks())?;
    for (rank, ops) in program.iter() {
        let Schedule { ops, mut edges } = schedule(program, rank, ops, false)?;
        let mut named = vec![false; ops.len()];
        for &(op, required, _) in &edges {
            named[op as usize] = true;
            named[required as usize] = true;
        }
        writeln!(out, "\nrank {rank} {{")?;
        // Edges to one operation are written together, in the order in which they were given, as soon as all of them
        // are known.
        let mut last: Vec<u32> = (0..ops.len() as u32).collect();
        for &(op, required, _) in &edges {
            let last = &mut last[required as usize];
            *last = op.max(*last);
        }
        edges.arrange_by_key(|&(_, required, _)| (last[required as usize], required));
        let mut edges = edges.into_iter().peekable();
        for (i, op) in ops.iter().enumerate() {
            if named[i] {
                write!(out, "l{}: ", i + 1)?;
            }
            let any = |number: u32| if number == u32::MAX { -1 } else { i64::from(number) };
            match op.kind {
                OpKind::Send => write!(out, "send {}b to {} tag {}", op.size, op.peer, any(tag(op, span)))?,
                OpKind::Recv => write!(out, "recv {}b from {} tag {}", op.size, any(op.peer), any(tag(op, span)))?,
                _ => write!(out, "calc {}", nanoseconds(op))?,
            }
            if op.cpu > 0 {
                write!(out, " cpu {}", op.cpu)?;
            }
            if op.nic > 0 && op.kind != OpKind::Calc {
                write!(out, " nic {}", op.nic)?;
            }
            writeln!(out)?;
            while let Some((op, required, for_start)) = edges.next_if(|edge| last[edge.1 as usize] == i as u32) {
                let word = if for_start { "irequires" } else { "requires" };
                writeln!(out, "l{} {word} l{}", op + 1, required + 1)?;
            }
        }
        writeln!(out, "}}")?;
    }
    out.flush()?;
    Ok(())
}

/// Returns the distance of the tags of successive communicators, one more than the largest tag in use.
/// Communicator c adds c times this to a tag, which keeps messages of different communicators apart.
///
/// # Errors
/// Tags and communicators that do not fit in 32 bits together.
pub(in crate::trace) fn span(program: &Program) -> Result<u32, NotGoal> {
    let messages = || {
        program
            .iter()
            .flat_map(|(_, rank)| &rank.ops)
            .filter(|op| matches!(op.kind, OpKind::Send | OpKind::Isend | OpKind::Recv | OpKind::Irecv))
    };
    let last = messages().map(|op| op.arg).max().unwrap_or(0);
    if last == 0 {
        return Ok(0);
    }
    let largest = messages().map(|op| op.tag).filter(|&tag| tag != u32::MAX).max().unwrap_or(0);
    let most = (u64::from(largest) + 1) * (u64::from(last) + 1);
    match most < u64::from(u32::MAX) {
        true => Ok(largest + 1),
        false => Err(NotGoal::Operation {
            format: "GOAL",
            place: format!("tags up to {largest} in {} communicators", last + 1),
            what: "room for so many tags".into(),
        }),
    }
}

/// Returns the tag of a message.
pub(in crate::trace) fn tag(op: &Op, span: u32) -> u32 {
    match op.tag {
        u32::MAX => u32::MAX,
        tag => tag + op.arg * span,
    }
}

/// Returns the length of a calculation in whole nanoseconds.
pub(super) fn nanoseconds(op: &Op) -> u64 {
    (op.duration().ps() / PS_PER_UNIT).round() as u64
}

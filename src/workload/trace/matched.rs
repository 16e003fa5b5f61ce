//! Whether every receive of a program can have a message.

use rustc_hash::FxHashMap;

use crate::diagnostic::Diagnostic;
use crate::ids::RankId;
use crate::units::grouped;
use crate::workload::program::{ANY_SOURCE, ANY_TAG, Op, OpKind, Program};

/// Largest number of mistakes that are listed; the others are counted.
const MOST: usize = 20;

/// Receives of a certain source and tag for which nobody sends a message, and messages that nobody receives, with where
/// they stand; empty where all fit. Messages of one sender, communicator and tag are told apart by their number alone,
/// as MPI matches them.
///
/// Receives from any source or with any tag may take any message that is left: as many messages may be left as there
/// are such receives. A program that passes can still wait for itself in a circle; that comes out when it runs.
///
/// Cost: proportional to the number of operations; a table of the messages to one rank at a time.
pub fn unmatched(program: &Program) -> Vec<Diagnostic> {
    // By receiver, those who send to it: (sender, position of the operation).
    let mut arriving: Vec<Vec<(u32, u32)>> = vec![Vec::new(); program.ranks() as usize];
    for (rank, ops) in program.iter() {
        for (at, op) in ops.ops.iter().enumerate() {
            if matches!(op.kind, OpKind::Send | OpKind::Isend) {
                arriving[op.peer as usize].push((rank.0, at as u32));
            }
        }
    }
    let mut mistakes = Mistakes::default();
    for (rank, ops) in program.iter() {
        let mut sent: FxHashMap<(u32, u32, u32), (u32, u32)> = FxHashMap::default();
        let arriving = std::mem::take(&mut arriving[rank.0 as usize]);
        for &(src, at) in &arriving {
            let op = &program.rank(RankId(src)).ops[at as usize];
            sent.entry((src, op.tag, op.arg)).or_insert((0, at)).0 += 1;
        }
        let mut left = arriving.len() as u64;
        let mut wildcards = 0_u64;
        for (at, op) in ops.ops.iter().enumerate() {
            if !matches!(op.kind, OpKind::Recv | OpKind::Irecv) {
                continue;
            }
            if op.peer == ANY_SOURCE || op.tag == ANY_TAG {
                wildcards += 1;
                continue;
            }
            match sent.get_mut(&(op.peer, op.tag, op.arg)) {
                Some((count @ 1.., _)) => {
                    *count -= 1;
                    left -= 1;
                }
                _ => mistakes.add(|| mistake(program, rank, at as u32, op, "no message is sent for it")),
            }
        }
        if wildcards < left {
            // Those of one key are as good as each other: the first of the first sender is named.
            let first = arriving.iter().find(|&&(src, at)| {
                let op = &program.rank(RankId(src)).ops[at as usize];
                sent.get(&(src, op.tag, op.arg)).is_some_and(|&(count, first)| count > 0 && first == at)
            });
            if let Some(&(src, at)) = first {
                let op = &program.rank(RankId(src)).ops[at as usize];
                let why = match left - wildcards {
                    1 => "it or another of this kind is never received".to_owned(),
                    more => format!("it or others: {more} messages to rank {rank} are never received"),
                };
                mistakes.add(|| mistake(program, RankId(src), at, op, &why));
            }
        } else if left < wildcards {
            let message = format!(
                "rank {rank} receives {wildcards} messages from any rank or of any tag, and {left} are left for it"
            );
            mistakes.add(|| Diagnostic::new("unmatched-receive", message));
        }
    }
    let Mistakes { mut list, more } = mistakes;
    if more > 0 {
        list.push(Diagnostic::new("unmatched", format!("{} more mistakes of this kind", grouped(more))));
    }
    list
}

/// Mistakes up to a number, and how many more there are.
#[derive(Default)]
struct Mistakes {
    list: Vec<Diagnostic>,
    more: u64,
}

impl Mistakes {
    /// Adds a mistake, or counts it.
    fn add(&mut self, mistake: impl FnOnce() -> Diagnostic) {
        if self.list.len() < MOST { self.list.push(mistake()) } else { self.more += 1 }
    }
}

fn mistake(program: &Program, rank: RankId, at: u32, op: &Op, why: &str) -> Diagnostic {
    let place = program.place(rank, at).map_or(String::new(), |place| format!("{place}: "));
    let code = if matches!(op.kind, OpKind::Send | OpKind::Isend) { "unmatched-send" } else { "unmatched-receive" };
    Diagnostic::new(code, format!("{place}{} of rank {rank}: {why}", program.describe(rank, op)))
}

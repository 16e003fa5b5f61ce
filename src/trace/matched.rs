//! Matching of a program's messages: receives without a message, and messages without a receive.

use rustc_hash::FxHashMap;

use crate::diagnostic::Diagnostic;
use crate::ids::RankId;
use crate::program::{ANY_SOURCE, ANY_TAG, Op, OpKind, Program};
use crate::units::grouped;

/// Largest number of mistakes that are listed. Further ones are counted.
const MAX_LISTED: usize = 20;

/// Receives and messages without a counterpart.
#[derive(Debug, Default)]
pub struct Unmatched {
    /// Receives for which no rank sends a message. The program waits for ever.
    pub receives: Vec<Diagnostic>,
    /// Number of messages that are never received, which MPI allows, and the first one to the lowest rank
    /// that has any.
    pub messages: u64,
    first: Option<(RankId, String)>,
}

impl Unmatched {
    /// True if every receive and message has a counterpart.
    pub fn is_empty(&self) -> bool {
        self.receives.is_empty() && self.messages == 0
    }

    /// Describes the messages that are never received and the consequence, if there are any.
    pub fn unreceived(&self) -> Option<String> {
        let (to, first) = self.first.as_ref()?;
        let messages = match self.messages {
            1 => "1 message is".to_owned(),
            more => format!("{more} messages are"),
        };
        Some(format!(
            "{messages} never received, the first {first} or another of its kind to rank {to}: the run can end all the \
             same, but a blocking send of one above the eager limit waits for ever"
        ))
    }
}

/// Describes the messages that are never received, if there are any, in a program whose receives all have
/// one.
///
/// Cost: two numbers per rank if all messages are received.
pub fn unreceived(program: &Program) -> Option<String> {
    let mut left = vec![0_i64; program.ranks() as usize];
    for (rank, ops) in program.iter() {
        for op in &ops.ops {
            match op.kind {
                OpKind::Send | OpKind::Isend => left[op.peer as usize] += 1,
                OpKind::Recv | OpKind::Irecv => left[rank.0 as usize] -= 1,
                _ => {}
            }
        }
    }
    if left.iter().any(|&left| left > 0) { unmatched(program).unreceived() } else { None }
}

/// Finds receives of a given source and tag without a message, and messages without a receive, with their
/// places. Messages of one sender, communicator and tag differ by their number alone, as MPI matches them.
///
/// Receives from any source or with any tag may take any message that is left. So as many messages may be
/// left as there are such receives. A program that passes can still deadlock in a cycle, which shows when it
/// runs.
///
/// Cost: proportional to the number of operations; a table of the messages to one rank at a time.
pub fn unmatched(program: &Program) -> Unmatched {
    // Senders to each receiver: (sender, position of the operation).
    let mut arriving: Vec<Vec<(u32, u32)>> = vec![Vec::new(); program.ranks() as usize];
    for (rank, ops) in program.iter() {
        for (at, op) in ops.ops.iter().enumerate() {
            if matches!(op.kind, OpKind::Send | OpKind::Isend) {
                arriving[op.peer as usize].push((rank.0, at as u32));
            }
        }
    }
    let (mut found, mut mistakes) = (Unmatched::default(), Mistakes::default());
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
                _ => mistakes.add(|| format!("{}: no message is sent for it", described(program, rank, at as u32, op))),
            }
        }
        if wildcards < left {
            // Messages of one key are interchangeable: the first of the first sender is named.
            let first = arriving.iter().find(|&&(src, at)| {
                let op = &program.rank(RankId(src)).ops[at as usize];
                sent.get(&(src, op.tag, op.arg)).is_some_and(|&(count, first)| count > 0 && first == at)
            });
            found.messages += left - wildcards;
            if let (Some(&(src, at)), None) = (first, &found.first) {
                let op = &program.rank(RankId(src)).ops[at as usize];
                found.first = Some((rank, described(program, RankId(src), at, op)));
            }
        } else if left < wildcards {
            let message = format!(
                "rank {rank} receives {wildcards} messages from any rank or of any tag, and {left} are left for it"
            );
            mistakes.add(|| message);
        }
    }
    let Mistakes { mut list, more } = mistakes;
    if more > 0 {
        list.push(Diagnostic::new("unmatched-receive", format!("{} more mistakes of this kind", grouped(more))));
    }
    found.receives = list;
    found
}

/// Mistakes up to a limit, and the number of further ones.
#[derive(Default)]
struct Mistakes {
    list: Vec<Diagnostic>,
    more: u64,
}

impl Mistakes {
    /// Adds a mistake, or counts it.
    fn add(&mut self, message: impl FnOnce() -> String) {
        match self.list.len() {
            MAX_LISTED.. => self.more += 1,
            _ => self.list.push(Diagnostic::new("unmatched-receive", message())),
        }
    }
}

/// Describes an operation with its place.
fn described(program: &Program, rank: RankId, at: u32, op: &Op) -> String {
    let place = program.place(rank, at).map_or(String::new(), |place| format!("{place}: "));
    format!("{place}{} of rank {rank}", program.describe(rank, op))
}

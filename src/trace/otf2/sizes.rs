//! Collective operations: their numbers, and the bytes that a rank sends and receives in them.
//!
//! With n ranks, rank m of them and B bytes per block (`bytes` of the call), Score-P records
//!
//! | operation | sent | received |
//! |---|---|---|
//! | bcast, scatter | n B at the root, else 0 | B |
//! | reduce, gather | B | n B at the root, else 0 |
//! | allreduce, allgather, alltoall, reduce-scatter-block | n B | n B |
//! | allgatherv | n times the own block | all blocks |
//! | gatherv, scatterv, alltoallv, alltoallw | sum of the blocks sent | sum of the blocks received |
//! | reduce-scatter | all blocks | n times the own block |
//! | scan | (n - m) B | (m + 1) B |
//! | exscan | (n - m - 1) B | m B |
//!
//! An operation in place leaves the own block out, so that n - 1 stands for n.
//!
//! Source: the tests of the MPI adapter of Score-P (`test_mpi_coll_bytes`).

use crate::trace::calls::{Call, CallKind, Event};

/// Collective operations, by their number in events.
const OPERATIONS: [Call; 17] = [
    Call::Barrier,
    Call::Bcast,
    Call::Gather,
    Call::Gatherv,
    Call::Scatter,
    Call::Scatterv,
    Call::Allgather,
    Call::Allgatherv,
    Call::Alltoall,
    Call::Alltoallv,
    Call::Alltoallw,
    Call::Allreduce,
    Call::Reduce,
    Call::ReduceScatter,
    Call::Scan,
    Call::Exscan,
    Call::ReduceScatterBlock,
];
/// Numbers of the making and the end of a communicator.
const MADE: u64 = 17;
pub(super) const ENDED: u64 = 18;
/// Largest number of an operation: others allocate memory for windows, together.
const LAST: u64 = 22;

/// Returns the blocking call of an operation; `None` for an unknown number.
pub(super) fn call_of(operation: u64) -> Option<Call> {
    match operation {
        MADE => Some(Call::CommDup),
        ENDED => Some(Call::CommFree),
        19..=LAST => Some(Call::Barrier),
        _ => OPERATIONS.get(operation as usize).copied(),
    }
}

/// Returns the number of the operation of a collective call, or of one that makes or ends a communicator.
pub(super) fn operation_of(call: Call) -> Option<u64> {
    match call.kind() {
        CallKind::Communicator => Some(MADE),
        _ if call == Call::CommFree => Some(ENDED),
        _ => OPERATIONS.iter().position(|&known| known == call.blocking()).map(|at| at as u64),
    }
}

/// Returns true if an operation has a root.
fn is_rooted(call: Call) -> bool {
    use Call::{Bcast, Gather, Gatherv, Reduce, Scatter, Scatterv};
    matches!(call.blocking(), Bcast | Reduce | Gather | Gatherv | Scatter | Scatterv)
}

/// Sets root and sizes of a collective call from the bytes that rank `me` of `ranks` sent and received.
pub(super) fn set(event: &mut Event, ranks: u64, me: u64, root: u64, [sent, received]: [u64; 2]) {
    let n = ranks.max(1);
    // Block of n or, in place, n - 1 blocks.
    let block = |sum: u64| match (sum % n, n) {
        (0, _) | (_, 1) => sum / n,
        _ if sum.is_multiple_of(n - 1) => sum / (n - 1),
        _ => sum,
    };
    let first = |size: u64, blocks: u64| if size > 0 { size } else { blocks / (n - 1).max(1) };
    if is_rooted(event.call) {
        event.peer = i32::try_from(root).unwrap_or(Event::NOBODY);
    }
    // Blocks of one size for the others: only their sum is known.
    let others = |own: u64, sum: u64| {
        let mut blocks = vec![sum.saturating_sub(own) / (n - 1).max(1); n as usize];
        if let Some(block) = blocks.get_mut(me as usize) {
            *block = own;
        }
        blocks
    };
    let is_root = root == me;
    match event.call.blocking() {
        Call::Bcast | Call::Scatter => event.bytes = first(received, sent),
        Call::Reduce | Call::Gather => event.bytes = first(sent, received),
        Call::Allreduce | Call::Allgather | Call::Alltoall | Call::ReduceScatterBlock => event.bytes = block(sent),
        Call::Gatherv => {
            event.bytes = sent;
            if is_root {
                event.counts2 = others(sent, received);
            }
        }
        Call::Scatterv => {
            event.bytes2 = received;
            if is_root {
                event.counts = others(received, sent);
            }
        }
        Call::Allgatherv => event.bytes = received / n,
        Call::Alltoallv | Call::Alltoallw => event.bytes2 = sent,
        Call::ReduceScatter => event.bytes = sent / n,
        Call::Scan => event.bytes = sent.saturating_add(received) / (n + 1),
        Call::Exscan => event.bytes = sent.saturating_add(received) / (n - 1).max(1),
        _ => {}
    }
}

/// Returns the bytes that rank `me` of `ranks` sends and receives in a collective call.
pub(super) fn of(event: &Event, ranks: u64, me: u64) -> [u64; 2] {
    let (n, own) = (ranks, event.bytes);
    let all = own.saturating_mul(n);
    let sum = |counts: &[u64], without: u64| match counts {
        [] => without,
        counts => counts.iter().fold(0, |sum: u64, &count| sum.saturating_add(count)),
    };
    let at_root = |bytes: u64| if i64::from(event.peer) == me as i64 { bytes } else { 0 };
    match event.call.blocking() {
        Call::Bcast | Call::Scatter => [at_root(all), own],
        Call::Reduce | Call::Gather => [own, at_root(all)],
        Call::Gatherv => [own, at_root(sum(&event.counts2, all))],
        Call::Scatterv => [at_root(sum(&event.counts, event.bytes2.saturating_mul(n))), event.bytes2],
        Call::Allgatherv => [all, sum(&event.counts2, all)],
        Call::Alltoallv | Call::Alltoallw => [sum(&event.counts, event.bytes2), sum(&event.counts2, event.bytes2)],
        Call::ReduceScatter => {
            let own = event.counts.get(me as usize).copied().unwrap_or(own);
            [sum(&event.counts, all), own.saturating_mul(n)]
        }
        Call::Scan => [own.saturating_mul(n.saturating_sub(me)), own.saturating_mul(me + 1)],
        Call::Exscan => [own.saturating_mul(n.saturating_sub(me + 1)), own.saturating_mul(me)],
        Call::Allreduce | Call::Allgather | Call::Alltoall | Call::ReduceScatterBlock => [all, all],
        _ => [0, 0],
    }
}

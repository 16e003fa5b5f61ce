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
//! The sums s and r of all ranks together give the blocks of gatherv, scatterv, allgatherv and reduce-scatter. Of those
//! of alltoallv only the sums are known. Rank i sends rank j the share r_j of its sum,
//!
//! ```text
//! s_i r_j / (r_0 + r_1 + ...)
//! ```
//! rounded so that the blocks of a rank add up to its sum. If a member does not call the operation, blocks are equal.
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
pub(super) fn is_rooted(call: Call) -> bool {
    use Call::{Bcast, Gather, Gatherv, Reduce, Scatter, Scatterv};
    matches!(call.blocking(), Bcast | Reduce | Gather | Gatherv | Scatter | Scatterv)
}

/// Bytes that a rank sent and received.
pub(super) type Sums = [u64; 2];

/// Returns true if the blocks of an operation may have different sizes, so that the sums of all ranks matter.
pub(super) fn has_own_blocks(operation: u64) -> bool {
    use Call::{Allgatherv, Alltoallv, Alltoallw, Gatherv, ReduceScatter, Scatterv};
    let call = OPERATIONS.get(operation as usize);
    matches!(call, Some(Allgatherv | Alltoallv | Alltoallw | Gatherv | ReduceScatter | Scatterv))
}

/// Sets root and sizes of a collective call from the bytes that one of `ranks` ranks sent and received. `all` has the
/// sums of all ranks, if they are known and matter.
pub(super) fn set(event: &mut Event, ranks: u64, root: u64, [sent, received]: Sums, all: &[Sums]) {
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
    let (of_sent, of_received) = (all.iter().map(|sums| sums[0]), all.iter().map(|sums| sums[1]));
    match event.call.blocking() {
        Call::Bcast | Call::Scatter => event.bytes = first(received, sent),
        Call::Reduce | Call::Gather => event.bytes = first(sent, received),
        Call::Allreduce | Call::Allgather | Call::Alltoall | Call::ReduceScatterBlock => event.bytes = block(sent),
        Call::Gatherv => {
            event.bytes = sent;
            event.counts2 = of_sent.collect();
        }
        Call::Scatterv => {
            event.bytes2 = received;
            event.counts = of_received.collect();
        }
        Call::Allgatherv => {
            event.bytes = received / n;
            event.counts2 = of_sent.map(block).collect();
        }
        Call::Alltoallv | Call::Alltoallw => {
            event.bytes2 = sent;
            event.counts = shares(sent, of_received);
        }
        Call::ReduceScatter => {
            event.bytes = sent / n;
            event.counts = of_received.map(block).collect();
        }
        Call::Scan => event.bytes = sent.saturating_add(received) / (n + 1),
        Call::Exscan => event.bytes = sent.saturating_add(received) / (n - 1).max(1),
        _ => {}
    }
}

/// Divides bytes in proportion to `weights`. Returns nothing if these are equal, as blocks without sizes are.
pub(super) fn shares(bytes: u64, weights: impl Iterator<Item = u64> + Clone) -> Vec<u64> {
    if weights.clone().min() == weights.clone().max() {
        return Vec::new();
    }
    let all: u128 = weights.clone().map(u128::from).sum();
    // Bytes of all blocks up to the present one are rounded, so that the blocks add up.
    let (mut before, mut passed) = (0_u128, 0_u64);
    let share = |weight: u64| {
        before += u128::from(weight);
        let up_to = u64::try_from(u128::from(bytes).saturating_mul(before) / all).unwrap_or(bytes).min(bytes);
        up_to - std::mem::replace(&mut passed, up_to)
    };
    weights.map(share).collect()
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

//! Results of every algorithm on every number of ranks from 1 to 40, compared with the definition of the
//! collective.

mod costs;
pub mod execution;
mod rounds;
mod symbolic;

use std::sync::Arc;

use super::*;
use execution::{Held, Sends, run};
use symbolic::Calls;

/// Numbers of ranks.
const RANKS: std::ops::RangeInclusive<u32> = 1..=40;

/// Returns the roots to test: the first ranks, one in the middle, the last.
fn roots(ranks: u32) -> Vec<u32> {
    let mut roots = vec![0, 1, ranks / 2, ranks - 1];
    roots.retain(|&root| root < ranks);
    roots.sort_unstable();
    roots.dedup();
    roots
}

/// Returns blocks of different sizes, many of them empty.
fn uneven(ranks: u32) -> Vec<u64> {
    (0..u64::from(ranks)).map(|rank| [2, 0, 3, 0, 0, 1, 4][(rank * rank + rank / 7) as usize % 7]).collect()
}

/// Returns the plans of this algorithm to test: in one piece and, along trees, in segments.
fn plans(call: &Call, algorithm: Algorithm) -> Vec<Plan> {
    let plan = Plan::of(call, algorithm);
    let in_trees = matches!(
        plan.algorithm,
        Algorithm::Linear
            | Algorithm::Binomial
            | Algorithm::Knomial
            | Algorithm::Binary
            | Algorithm::InOrderBinary
            | Algorithm::Chain
            | Algorithm::Pipeline
    );
    if !in_trees || !matches!(call.collective, Operation::Bcast | Operation::Reduce) {
        return vec![plan];
    }
    let with = |segment, fan| Plan { segment, fan, ..plan };
    // Segments of single bytes take long to execute.
    let mut plans = vec![with(None, 4), with(Some(5), 3)];
    plans.extend((call.ranks <= 12).then_some(with(Some(1), 2)));
    plans
}

/// Returns the calls of a collective to test on `ranks` ranks.
fn calls(operation: Operation, ranks: u32) -> Vec<Call> {
    use Operation as O;
    let p = u64::from(ranks);
    let mut calls = match operation {
        O::Barrier => vec![Call::equal(operation, ranks, 0)],
        O::Bcast | O::Reduce | O::Allreduce | O::Scan | O::Exscan => {
            let sizes = [0, 7, p + 3];
            sizes.iter().map(|&bytes| Call::equal(operation, ranks, bytes)).collect()
        }
        O::Gather | O::Scatter | O::Allgather | O::Alltoall | O::ReduceScatterBlock => {
            [0, 1, 3].iter().map(|&bytes| Call::equal(operation, ranks, bytes)).collect()
        }
        O::Gatherv | O::Scatterv | O::Allgatherv | O::ReduceScatter => {
            vec![Call::counts(operation, &uneven(ranks)), Call::counts(operation, &vec![2; ranks as usize])]
        }
        O::Alltoallv => vec![Call::equal(operation, ranks, 2)],
    };
    if matches!(operation, O::Bcast | O::Reduce | O::Gather | O::Gatherv | O::Scatter | O::Scatterv) {
        calls = calls.iter().flat_map(|call| roots(ranks).into_iter().map(|root| call.clone().rooted(root))).collect();
    }
    if matches!(operation, O::Reduce | O::Allreduce | O::ReduceScatter | O::ReduceScatterBlock) {
        let in_order: Vec<Call> = calls.iter().map(|call| call.clone().in_order()).collect();
        calls.extend(in_order);
        let elements = calls.last().cloned().map(|call| call.of_elements(2));
        calls.extend(elements);
    }
    calls
}

/// Returns the rank whose block has this byte.
fn owner(call: &Call, slot: usize) -> u32 {
    match &call.sizes {
        Sizes::Equal(bytes) => (slot as u64 / bytes) as u32,
        Sizes::Counts(_) => {
            let counts =
                if call.total() == 2 * u64::from(call.ranks) && uneven(call.ranks) != vec![2; call.ranks as usize] {
                    vec![2; call.ranks as usize]
                } else {
                    uneven(call.ranks)
                };
            let mut end = 0;
            let found = counts.iter().position(|count| {
                end += count;
                (slot as u64) < end
            });
            found.expect("the slot is in a block") as u32
        }
        Sizes::Own { .. } => unreachable!("all-to-alls have slots by pair"),
    }
}

fn check(call: &Call, plan: Plan, sends: Sends) {
    use Operation as O;
    let name = format!("{call:?} by {plan:?}, {sends:?}");
    let ranks = call.ranks;
    let is_alltoall = matches!(call.collective, O::Alltoall | O::Alltoallv);
    let slots = if is_alltoall { (ranks * ranks) as usize } else { call.total() as usize };
    let repeats = matches!(plan.algorithm, Algorithm::ScatterAllgather | Algorithm::ScatterRing)
        || matches!(call.collective, O::Reduce | O::Allreduce | O::ReduceScatter | O::ReduceScatterBlock)
        || plan.algorithm == Algorithm::Linear && matches!(call.collective, O::Allgather | O::Allgatherv);
    let start = |rank: u32, slot: usize| match call.collective {
        O::Bcast | O::Scatter | O::Scatterv => (rank == call.root).then_some(rank),
        O::Gather | O::Gatherv | O::Allgather | O::Allgatherv => (owner(call, slot) == rank).then_some(rank),
        O::Alltoall | O::Alltoallv => (slot as u32 / ranks == rank).then_some(rank),
        _ => Some(rank),
    };
    let expansions = expansions(call, plan);
    let (held, sent_messages) = run(&name, &Calls::new(call, &expansions, repeats, slots, &start), sends);
    if call.collective != O::Alltoallv {
        rounds::check_carries(call, plan, &sent_messages);
    }
    if sends == Sends::Buffered {
        rounds::check(call, plan);
    }
    let all: Vec<u8> = (0..ranks as u8).collect();
    for (rank, Held { row, result, heard }) in held.iter().enumerate() {
        let rank = rank as u32;
        let has = |slot: usize, wanted: &[u8]| {
            let what = row[slot].as_deref();
            assert_eq!(what, Some(wanted), "{name}: slot {slot} of rank {rank}");
        };
        let combined = |slot: usize| {
            let mut what = row[slot].as_deref().expect("something").to_vec();
            if call.commutative {
                what.sort_unstable();
            }
            assert_eq!(what, all, "{name}: slot {slot} of rank {rank}");
        };
        match call.collective {
            O::Barrier => assert_eq!(*heard, u64::MAX >> (64 - ranks), "{name}: rank {rank}"),
            O::Bcast => (0..slots).for_each(|slot| has(slot, &[call.root as u8])),
            O::Gather | O::Gatherv if rank != call.root => {}
            O::Gather | O::Gatherv | O::Allgather | O::Allgatherv => {
                (0..slots).for_each(|slot| has(slot, &[owner(call, slot) as u8]));
            }
            O::Scatter | O::Scatterv => {
                (0..slots).filter(|&slot| owner(call, slot) == rank).for_each(|slot| has(slot, &[call.root as u8]));
            }
            O::Alltoall | O::Alltoallv => {
                for src in (0..ranks).filter(|&src| call.collective == O::Alltoall || sent(ranks, src, rank) > 0) {
                    has((src * ranks + rank) as usize, &[src as u8]);
                }
            }
            O::Reduce if rank != call.root => {}
            O::Reduce | O::Allreduce => (0..slots).for_each(combined),
            O::ReduceScatter | O::ReduceScatterBlock => {
                (0..slots).filter(|&slot| owner(call, slot) == rank).for_each(combined);
            }
            O::Scan => (0..slots).for_each(|slot| {
                let what = result[slot].as_deref();
                assert_eq!(what, Some(&all[..=rank as usize]), "{name}: rank {rank}");
            }),
            O::Exscan => (0..slots).for_each(|slot| {
                let what = result[slot].as_deref().unwrap_or(&[]);
                assert_eq!(what, &all[..rank as usize], "{name}: rank {rank}");
            }),
        }
    }
}

/// Bytes that `src` sends to `dst` in an all-to-all with different blocks \[B\].
fn sent(ranks: u32, src: u32, dst: u32) -> u64 {
    u64::from((src * 7 + dst * 3 + src * dst) % (ranks + 2) % 4)
}

/// Returns one expansion for all ranks, or one for each.
fn expansions(call: &Call, plan: Plan) -> Vec<Expansion> {
    if call.collective != Operation::Alltoallv {
        return vec![Expansion::of(call, plan)];
    }
    let own = |rank| {
        let send = (0..call.ranks).map(|peer| sent(call.ranks, rank, peer)).collect();
        let receive = (0..call.ranks).map(|peer| sent(call.ranks, peer, rank)).collect();
        let call = Call { sizes: Sizes::Own { send, receive: Some(receive) }, ..call.clone() };
        Expansion::of(&call, plan)
    };
    (0..call.ranks).map(own).collect()
}

fn check_all(operations: &[Operation]) {
    for &operation in operations {
        for &algorithm in Algorithm::of(operation) {
            for ranks in RANKS {
                for call in calls(operation, ranks) {
                    for plan in plans(&call, algorithm) {
                        check(&call, plan, Sends::Buffered);
                        check(&call, plan, Sends::Synchronous);
                    }
                }
            }
        }
    }
}

#[test]
fn nobody_leaves_a_barrier_before_it_has_heard_of_everybody() {
    check_all(&[Operation::Barrier]);
}

#[test]
fn a_broadcast_reaches_all() {
    check_all(&[Operation::Bcast]);
}

#[test]
fn reductions_combine_each_contribution_once_and_in_order_where_they_must() {
    check_all(&[Operation::Reduce, Operation::Allreduce]);
}

#[test]
fn blocks_are_gathered_and_scattered() {
    check_all(&[Operation::Gather, Operation::Gatherv, Operation::Scatter, Operation::Scatterv]);
    check_all(&[Operation::Allgather, Operation::Allgatherv]);
}

#[test]
fn every_pair_of_ranks_exchanges_its_blocks() {
    check_all(&[Operation::Alltoall, Operation::Alltoallv]);
}

#[test]
fn everyone_gets_its_block_of_the_combination() {
    check_all(&[Operation::ReduceScatter, Operation::ReduceScatterBlock]);
}

#[test]
fn scans_combine_the_ranks_before_in_order() {
    check_all(&[Operation::Scan, Operation::Exscan]);
}

#[test]
fn what_the_libraries_choose_can_do_the_call() {
    for &operation in Operation::ALL {
        for ranks in [1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 31, 32, 33, 40] {
            for bytes in [0, 1, 3, 100] {
                for commutative in [true, false] {
                    let mut call = match operation {
                        Operation::Gatherv | Operation::Scatterv | Operation::Allgatherv | Operation::ReduceScatter => {
                            Call::counts(operation, &uneven(ranks))
                        }
                        _ => Call::equal(operation, ranks, bytes),
                    };
                    call.root = ranks / 3;
                    call.commutative = commutative;
                    for plan in [rules::mpich::plan(&call), rules::open_mpi::plan(&call)] {
                        assert!(Algorithm::of(operation).contains(&plan.algorithm), "{call:?}: {plan:?}");
                        assert_eq!(plan.feasible(&call), plan, "{call:?}");
                        check(&call, plan, Sends::Synchronous);
                    }
                }
            }
        }
    }
}

#[test]
fn an_all_to_all_whose_receives_are_not_known_sends_empty_blocks_too() {
    let call = Call::equal(Operation::Alltoallv, 5, 0);
    let own = |rank: u32| {
        let send: Arc<[u64]> = (0..5).map(|peer| sent(5, rank, peer)).collect();
        Call { sizes: Sizes::Own { send, receive: None }, ..call.clone() }
    };
    for &algorithm in Algorithm::of(Operation::Alltoallv) {
        let steps: Vec<Step> = Expansion::new(&own(2), algorithm).steps(2).collect();
        let sends = steps.iter().filter(|step| matches!(step, Step::StartSend { .. } | Step::Exchange { .. })).count();
        assert_eq!(sends, 4, "{algorithm}");
    }
}

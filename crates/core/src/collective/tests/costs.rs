//! Numbers and sizes of messages compared with the formulas in the literature, and the rules at their
//! thresholds.

use crate::collective::rules::{mpich, open_mpi};
use crate::collective::*;
use crate::units::Bytes;

/// Messages, bytes and combined bytes of one rank, and the number of its sequential steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Cost {
    messages: u64,
    bytes: u64,
    combined: u64,
    steps: u64,
}

fn cost(expansion: &Expansion, rank: u32) -> Cost {
    let mut cost = Cost::default();
    for step in expansion.steps(rank) {
        match step {
            Step::Send { bytes, .. } | Step::Post { bytes, .. } | Step::StartSend { bytes, .. } => {
                cost.messages += 1;
                cost.bytes += bytes;
            }
            Step::Exchange { send_bytes, .. } => {
                cost.messages += 1;
                cost.bytes += send_bytes;
            }
            Step::Reduce { bytes } => cost.combined += bytes,
            Step::Receive { .. } | Step::StartReceive { .. } | Step::WaitAll => {}
        }
        cost.steps += u64::from(!matches!(step, Step::Reduce { .. } | Step::WaitAll));
    }
    cost
}

fn total(expansion: &Expansion, ranks: u32) -> Cost {
    (0..ranks).map(|rank| cost(expansion, rank)).fold(Cost::default(), |sum, one| Cost {
        messages: sum.messages + one.messages,
        bytes: sum.bytes + one.bytes,
        combined: sum.combined + one.combined,
        steps: sum.steps + one.steps,
    })
}

fn log2_up(ranks: u32) -> u64 {
    u64::from(ranks.next_power_of_two().ilog2())
}

#[test]
fn a_dissemination_barrier_is_a_message_a_round() {
    for ranks in 2..=40 {
        let barrier = Expansion::new(&Call::equal(Operation::Barrier, ranks, 0), Algorithm::Dissemination);
        assert_eq!(total(&barrier, ranks).messages, u64::from(ranks) * log2_up(ranks));
    }
}

#[test]
fn a_barrier_of_65536_ranks_is_sixteen_steps_a_rank_wherever_one_looks() {
    let barrier = Expansion::new(&Call::equal(Operation::Barrier, 65_536, 0), Algorithm::Dissemination);
    assert!(size_of_val(&barrier) <= 256);
    for rank in [0, 1, 40_000, 65_535] {
        let steps: Vec<Step> = barrier.steps(rank).collect();
        assert_eq!(steps.len(), 16);
        let Step::Exchange { to, from, .. } = steps[15] else { panic!("{:?}", steps[15]) };
        assert_eq!((to, from), ((rank + 32_768) % 65_536, (rank + 32_768) % 65_536));
    }
}

/// Trees have P - 1 messages of the whole vector; scatter and allgather move (P - 1) pieces and P (P - 1) pieces.
#[test]
fn broadcasts_move_what_the_literature_says() {
    for ranks in [2, 3, 8, 13, 32, 40] {
        let p = u64::from(ranks);
        let call = Call::equal(Operation::Bcast, ranks, 1000 * p).rooted(1);
        for algorithm in [Algorithm::Linear, Algorithm::Binomial, Algorithm::Knomial, Algorithm::Binary] {
            let all = total(&Expansion::new(&call, algorithm), ranks);
            assert_eq!((all.messages, all.bytes), (p - 1, (p - 1) * 1000 * p), "{algorithm}, {ranks}");
        }
        let pipeline = Plan { segment: Some(500), ..Plan::of(&call, Algorithm::Pipeline) };
        let all = total(&Expansion::of(&call, pipeline), ranks);
        assert_eq!((all.messages, all.bytes), ((p - 1) * 2 * p, (p - 1) * 1000 * p));
        let ring = total(&Expansion::new(&call, Algorithm::ScatterRing), ranks);
        assert_eq!(ring.messages, p - 1 + p * (p - 1));
        assert_eq!(cost(&Expansion::new(&call, Algorithm::ScatterRing), 0).bytes % 1000, 0);
        // A binomial root sends ceil(log2 P) messages, a flat one P - 1.
        assert_eq!(cost(&Expansion::new(&call, Algorithm::Binomial), 1).messages, log2_up(ranks));
        assert_eq!(cost(&Expansion::new(&call, Algorithm::Linear), 1).messages, p - 1);
    }
}

/// n bytes on P = 2^K ranks: recursive doubling K n, Rabenseifner and ring 2 n (P - 1) / P; all combine at least
/// n (P - 1) / P.
#[test]
fn allreduces_cost_a_rank_what_the_literature_says() {
    for ranks in [2u32, 4, 16, 32] {
        let (p, log) = (u64::from(ranks), u64::from(ranks.ilog2()));
        let n = 800 * p;
        let call = Call::equal(Operation::Allreduce, ranks, n).of_elements(8);
        for rank in 0..ranks {
            let of = |algorithm| cost(&Expansion::new(&call, algorithm), rank);
            let share = n / p * (p - 1);
            assert_eq!(
                of(Algorithm::RecursiveDoubling),
                Cost { messages: log, bytes: log * n, combined: log * n, steps: log }
            );
            assert_eq!(
                of(Algorithm::Rabenseifner),
                Cost { messages: 2 * log, bytes: 2 * share, combined: share, steps: 2 * log }
            );
            let rounds = 2 * (p - 1);
            assert_eq!(
                of(Algorithm::Ring),
                Cost { messages: rounds, bytes: 2 * share, combined: share, steps: rounds }
            );
        }
    }
}

#[test]
fn allgathers_cost_a_rank_p_minus_one_blocks_in_as_many_rounds_as_the_literature_says() {
    for ranks in 2..=40u32 {
        let p = u64::from(ranks);
        let call = Call::equal(Operation::Allgather, ranks, 10);
        for rank in 0..ranks {
            let of = |algorithm| cost(&Expansion::new(&call, algorithm), rank);
            let in_rounds = |messages| Cost { messages, bytes: 10 * (p - 1), combined: 0, steps: messages };
            assert_eq!(of(Algorithm::Ring), in_rounds(p - 1));
            assert_eq!(of(Algorithm::Bruck), in_rounds(log2_up(ranks)));
            assert_eq!(of(Algorithm::Sparbit), in_rounds(log2_up(ranks)));
            if ranks.is_power_of_two() {
                assert_eq!(of(Algorithm::RecursiveDoubling), in_rounds(log2_up(ranks)));
            }
            if ranks.is_multiple_of(2) {
                assert_eq!(of(Algorithm::NeighborExchange), in_rounds(p / 2));
            }
        }
    }
}

#[test]
fn all_to_alls_cost_a_rank_what_the_literature_says() {
    for ranks in 2..=40u32 {
        let p = u64::from(ranks);
        let call = Call::equal(Operation::Alltoall, ranks, 10);
        for algorithm in [Algorithm::Linear, Algorithm::Scattered, Algorithm::Pairwise, Algorithm::SimpleSpread] {
            let one = cost(&Expansion::new(&call, algorithm), ranks - 1);
            assert_eq!((one.messages, one.bytes), (p - 1, 10 * (p - 1)), "{algorithm}");
        }
        let bruck = cost(&Expansion::new(&call, Algorithm::Bruck), ranks - 1);
        assert_eq!(bruck.messages, log2_up(ranks));
        // A block for the rank i places on takes as many messages as i has bits set.
        let hops: u64 = (0..ranks).map(|i| u64::from(i.count_ones())).sum();
        assert_eq!(bruck.bytes, 10 * hops);
    }
}

/// For n bytes in total on 2^K ranks: halving, pairwise and ring n (P - 1) / P a rank; doubling K n - n (P -
/// 1) / P.
#[test]
fn reduce_scatters_cost_a_rank_what_the_literature_says() {
    for ranks in [2u32, 8, 32] {
        let (p, log) = (u64::from(ranks), u64::from(ranks.ilog2()));
        let call = Call::equal(Operation::ReduceScatterBlock, ranks, 10);
        for rank in 0..ranks {
            let of = |algorithm| cost(&Expansion::new(&call, algorithm), rank);
            let share = 10 * (p - 1);
            for (algorithm, rounds) in
                [(Algorithm::RecursiveHalving, log), (Algorithm::Pairwise, p - 1), (Algorithm::Ring, p - 1)]
            {
                assert_eq!(
                    of(algorithm),
                    Cost { messages: rounds, bytes: share, combined: share, steps: rounds },
                    "{algorithm}"
                );
            }
            assert_eq!(of(Algorithm::RecursiveDoubling).bytes, log * 10 * p - share);
            let interleaved = Expansion::new(&call.clone().in_order(), Algorithm::Interleaved);
            assert_eq!(cost(&interleaved, rank).bytes, share);
        }
    }
}

#[test]
fn vectors_are_split_between_elements() {
    let call = Call::equal(Operation::Allreduce, 3, 8 * 10).of_elements(8);
    let ring = Expansion::new(&call, Algorithm::Ring);
    for step in (0..3).flat_map(|rank| ring.steps(rank).collect::<Vec<_>>()) {
        if let Step::Exchange { send_bytes, .. } = step {
            assert!(send_bytes == 24 || send_bytes == 32, "{send_bytes}");
        }
    }
}

#[test]
fn mpich_switches_at_its_thresholds() {
    use Algorithm as A;
    let of = |operation, ranks, bytes| mpich::plan(&Call::equal(operation, ranks, bytes)).algorithm;
    for (operation, ranks, bytes, algorithm) in [
        (Operation::Barrier, 100, 0, A::Dissemination),
        (Operation::Bcast, 64, 12_287, A::Binomial),
        (Operation::Bcast, 64, 12_288, A::ScatterAllgather),
        (Operation::Bcast, 64, 524_288, A::ScatterRing),
        (Operation::Bcast, 63, 12_288, A::ScatterRing),
        (Operation::Bcast, 7, 1 << 20, A::Binomial),
        (Operation::Reduce, 16, 2048, A::Binomial),
        (Operation::Reduce, 16, 2049, A::Rabenseifner),
        (Operation::Allreduce, 16, 2048, A::RecursiveDoubling),
        (Operation::Allreduce, 16, 2049, A::Rabenseifner),
        (Operation::Allreduce, 4096, 4000, A::RecursiveDoubling),
        (Operation::Allgather, 64, 8191, A::RecursiveDoubling),
        (Operation::Allgather, 64, 8192, A::Ring),
        (Operation::Allgather, 10, 8191, A::Bruck),
        (Operation::Allgather, 10, 8192, A::Ring),
        (Operation::Alltoall, 8, 256, A::Bruck),
        (Operation::Alltoall, 7, 256, A::Scattered),
        (Operation::Alltoall, 8, 257, A::Scattered),
        (Operation::Alltoall, 8, 32_769, A::Pairwise),
        (Operation::Alltoall, 9, 32_769, A::SimpleSpread),
        (Operation::ReduceScatterBlock, 64, 8191, A::RecursiveHalving),
        (Operation::ReduceScatterBlock, 64, 8192, A::Pairwise),
        (Operation::Scan, 5, 10, A::RecursiveDoubling),
    ] {
        assert_eq!(of(operation, ranks, bytes), algorithm, "{operation}, {ranks} ranks, {bytes} B");
    }
    let mut doubles = Call::equal(Operation::Allreduce, 1024, 4096).of_elements(8);
    assert_eq!(mpich::plan(&doubles).algorithm, A::RecursiveDoubling, "fewer elements than ranks");
    doubles = Call::equal(Operation::Allreduce, 512, 4096).of_elements(8);
    assert_eq!(mpich::plan(&doubles).algorithm, A::Rabenseifner);
    let in_order = Call::equal(Operation::ReduceScatterBlock, 6, 10).in_order();
    assert_eq!(mpich::plan(&in_order).algorithm, A::RecursiveDoubling);
}

#[test]
fn open_mpi_switches_at_its_thresholds() {
    use Algorithm as A;
    let of = |operation, ranks, bytes| open_mpi::plan(&Call::equal(operation, ranks, bytes)).algorithm;
    for (operation, ranks, bytes, algorithm) in [
        (Operation::Allreduce, 16, 4095, A::RecursiveDoubling),
        (Operation::Allreduce, 16, 4096, A::Rabenseifner),
        (Operation::Allreduce, 4096, 20_000, A::RecursiveDoubling),
        (Operation::Allreduce, 2, 65_536, A::Ring),
        (Operation::Alltoall, 64, 1023, A::Bruck),
        (Operation::Alltoall, 64, 262_144, A::SimpleSpread),
        (Operation::Barrier, 300, 0, A::Binomial),
        (Operation::Barrier, 5000, 0, A::Dissemination),
        (Operation::Bcast, 2048, 262_144, A::ScatterAllgather),
        (Operation::Bcast, 2050, 262_144, A::ScatterRing),
        (Operation::Bcast, 100, 5, A::Knomial),
        (Operation::Reduce, 100, 5, A::Binomial),
        (Operation::Reduce, 7, 10_000, A::Chain),
        (Operation::Gather, 300, 2048, A::Linear),
        (Operation::Scatter, 64, 512, A::LinearNonblocking),
        (Operation::Allgather, 2, 9, A::Ring),
        (Operation::Allgather, 32, 1023, A::RecursiveDoubling),
        (Operation::Allgather, 34, 1023, A::Bruck),
        (Operation::Allgather, 34, 1024, A::NeighborExchange),
        (Operation::Allgather, 33, 1024, A::Ring),
        (Operation::Alltoallv, 100, 9, A::SimpleSpread),
        (Operation::Scan, 5, 10, A::Linear),
    ] {
        assert_eq!(of(operation, ranks, bytes), algorithm, "{operation}, {ranks} ranks, {bytes} B");
    }
    let doubles = |ranks, bytes| Call::equal(Operation::Allreduce, ranks, bytes).of_elements(8);
    assert_eq!(open_mpi::plan(&doubles(16, 8)).algorithm, A::RecursiveDoubling, "a ring of one element");
    assert_eq!(open_mpi::plan(&doubles(60, 160)).algorithm, A::Linear, "20 elements for 32 members");
    assert_eq!(open_mpi::plan(&doubles(60, 256)).algorithm, A::Rabenseifner);
    let in_order = Call::equal(Operation::Reduce, 100, 600).in_order();
    assert_eq!(open_mpi::plan(&in_order).algorithm, A::InOrderBinary);
}

#[test]
fn what_is_named_is_taken_and_what_is_not_is_chosen() {
    let read = |text: &str| crate::reading::from_toml::<CollectivesSpec>(text).unwrap();
    let spec = read("like = 'open-mpi'\nallreduce = 'ring'\nbcast = 'chain'\nchains = 2\nsegment-size = '8 KiB'");
    assert!(spec.check().is_empty());
    let plan = |spec: &CollectivesSpec, operation| spec.plan(&Call::equal(operation, 16, 100_000));
    assert_eq!(plan(&spec, Operation::Allreduce).algorithm, Algorithm::Ring);
    let chain = Plan { algorithm: Algorithm::Chain, segment: Some(8192), fan: 2 };
    assert_eq!(plan(&spec, Operation::Bcast), chain);
    let gather = Call::equal(Operation::Gather, 16, 100_000);
    assert_eq!(spec.plan(&gather), open_mpi::plan(&gather));
    assert_eq!(CollectivesSpec::default().plan(&gather), mpich::plan(&gather));
    assert_eq!(spec.segment_size.as_deref(), Some(&Bytes(8192)));
}

#[test]
fn a_wrong_name_is_told_with_the_right_ones() {
    let spec = crate::reading::from_toml::<CollectivesSpec>("allreduce = 'rign'\nscan = 'ring'\nradix = 1").unwrap();
    let mistakes = spec.check();
    assert_eq!(mistakes.len(), 3);
    assert_eq!(mistakes[0].message, "unknown algorithm \"rign\"");
    assert_eq!(mistakes[0].label, "did you mean `ring`?");
    assert_eq!(mistakes[1].message, "`ring` is not an algorithm for scan");
    assert_eq!(mistakes[1].help.as_deref(), Some("scan can be: recursive-doubling, linear"));
}

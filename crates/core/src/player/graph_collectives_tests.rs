//! Collectives of graphs, compared with closed forms and with graphs of their messages.

use super::*;
use crate::collective::{CollectivesSpec, Operation};
use crate::node::{LogGpsSpec, NodeSpec, ReceiverSharing};
use crate::program::collectives::Expander;
use crate::program::{Collective, CollectiveCall, Counts, Op, Program, ProgramBuilder, unrolled};
use crate::units::{Bytes, PerByte, Time};

fn us(us: f64) -> Time {
    Time::from_ps(us * 1e6)
}

/// Returns costs: L = 10 us, o = 1 us; bytes are free.
fn node() -> NodeSpec {
    let free = || PerByte::from_ps(0.0).into();
    NodeSpec::Loggps(LogGpsSpec {
        latency: us(10.0).into(),
        o: us(1.0).into(),
        g: Time::ZERO.into(),
        oss: free(),
        ors: free(),
        gs: free(),
        osl: free(),
        orl: free(),
        gl: None,
        s: None,
        sync: Bytes(1000).into(),
        receiver_sharing: ReceiverSharing::Off,
        eager_buffer: None,
    })
}

/// Builds ranks with these calls, each in its own order, beside a calculation, and a calculation behind all.
fn program(calls: &[CollectiveCall], ranks: &[(&[u32], f64)]) -> Program {
    let mut program = ProgramBuilder::new(ranks.len() as u32);
    for (at, &call) in (0..).zip(calls) {
        program.collective(Collective { call, comm: 0, root: 0, counts: Counts::Same(8 + 8 * at), plan: None });
    }
    for (number, (order, time)) in (0..).zip(ranks) {
        let mut rank = program.graph(number);
        let mut parts: Vec<u32> =
            order.iter().map(|&call| rank.push(Op { tag: call, ..Op::collective(call) }.on(1, 0))).collect();
        parts.push(rank.push(Op::calc(us(*time))));
        let end = rank.push(Op::calc(us(1.0)));
        parts.into_iter().for_each(|part| rank.requires(end, part));
        program.finish_rank(rank);
    }
    program.build().unwrap()
}

/// Returns the end of each rank \[us\].
fn ends(program: &Program) -> Vec<f64> {
    let expander = Expander::new(CollectivesSpec::default()).of(program);
    let play =
        Play { program, costs: node().costs().unwrap(), expand: Some(&expander), cpu_speed: 1.0, on_fabric: false };
    let played = Player::new(play, Observers::default()).run(&|_, _| true);
    assert_eq!((played.stuck, played.unreceived), (vec![], 0));
    played.ranks.iter().map(|rank| (rank.end.ps() / 1e3).round() / 1e3).collect()
}

#[test]
fn a_broadcast_travels_beside_a_calculation_that_does_not_require_it() {
    // The root sends for o = 1 us; the message arrives after o + L + o = 12 us.
    let beside = program(&[CollectiveCall::Bcast], &[(&[0], 20.0), (&[0], 30.0)]);
    assert_eq!(ends(&beside), [21.0, 31.0]);
    let short = program(&[CollectiveCall::Bcast], &[(&[0], 0.0), (&[0], 5.0)]);
    assert_eq!(ends(&short), [2.0, 13.0]);
}

#[test]
fn only_waits_that_no_processor_hides_are_booked() {
    let beside = program(&[CollectiveCall::Bcast], &[(&[0], 20.0), (&[0], 5.0)]);
    let expander = Expander::new(CollectivesSpec::default());
    let costs = node().costs().unwrap();
    let play = Play { program: &beside, costs, expand: Some(&expander), cpu_speed: 1.0, on_fabric: false };
    let ranks = Player::new(play, Observers::default()).run(&|_, _| true).ranks;
    let of = |rank: usize, kind| (ranks[rank].of(kind).ps() / 1e6).round();
    // Of the 12 us until the message is received, 5 are computation and the last is overhead.
    assert_eq!([ActivityKind::Compute, ActivityKind::RecvWait].map(|kind| of(1, kind)), [6.0, 6.0]);
    assert_eq!([ActivityKind::Compute, ActivityKind::RecvWait].map(|kind| of(0, kind)), [21.0, 0.0]);
}

#[test]
fn ranks_may_start_calls_in_different_orders() {
    let calls = [CollectiveCall::Allreduce, CollectiveCall::Barrier, CollectiveCall::Alltoall];
    let ordered = program(&calls, &[(&[0, 1, 2], 0.0), (&[0, 1, 2], 0.0), (&[0, 1, 2], 0.0), (&[0, 1, 2], 0.0)]);
    let mixed = program(&calls, &[(&[0, 1, 2], 0.0), (&[2, 1, 0], 0.0), (&[1, 2, 0], 0.0), (&[0, 2, 1], 0.0)]);
    let (ordered, mixed) = (ends(&ordered), ends(&mixed));
    assert!(mixed.iter().zip(&ordered).all(|(a, b)| (a - b).abs() < 20.0), "{ordered:?} {mixed:?}");
}

#[test]
fn every_collective_lasts_as_long_as_the_graph_of_its_messages() {
    let expander = Expander::new(CollectivesSpec::default());
    for &operation in Operation::ALL {
        for ranks in 1..10 {
            let each: Vec<(&[u32], f64)> = (0..ranks).map(|rank| (&[0, 1][..], f64::from(rank))).collect();
            let whole = program(&[operation.into(), CollectiveCall::Barrier], &each);
            let mut messages = whole.clone();
            for rank in whole.rank_ids() {
                *messages.rank_mut(rank) = unrolled(&whole, rank, &expander, |op, tag| Op { tag, ..op });
            }
            assert_eq!(messages.collective_calls(), 0);
            assert_eq!(ends(&whole), ends(&messages), "{operation} of {ranks} ranks");
        }
    }
}

#[test]
fn a_rank_that_never_calls_leaves_the_others_in_their_call() {
    let mut stuck = ProgramBuilder::new(2);
    let call = CollectiveCall::Allreduce;
    stuck.collective(Collective { call, comm: 0, root: 0, counts: Counts::Same(8), plan: None });
    let mut rank = stuck.graph(0);
    rank.push(Op::collective(0));
    stuck.finish_rank(rank);
    let rank = stuck.graph(1);
    stuck.finish_rank(rank);
    let stuck = stuck.build().unwrap();
    let expander = Expander::new(CollectivesSpec::default());
    let costs = node().costs().unwrap();
    let play = Play { program: &stuck, costs, expand: Some(&expander), cpu_speed: 1.0, on_fabric: false };
    let played = Player::new(play, Observers::default()).run(&|_, _| true);
    assert_eq!(played.stuck.len(), 1);
    assert!(played.stuck[0].what.starts_with("allreduce, in its irecv of"), "{}", played.stuck[0].what);
    assert_eq!(played.stuck[0].on.map(|rank| rank.0), Some(1));
}

//! Collectives in the background, compared with the times of their messages.

use super::loggopsim;
use super::*;
use crate::ids::RankId;
use crate::node::{LogGopSimSpec, LogGpsSpec, NodeSpec, ReceiverSharing};
use crate::program::collectives::{CollectivesSpec, Expander};
use crate::program::{Collective, CollectiveCall, Counts, Envelope, Op, OpKind, Program, ProgramBuilder};
use crate::units::{Bytes, PerByte, Time};

fn us(us: f64) -> Time {
    Time::from_ps(us * 1e6)
}

fn calc(time: f64) -> Op {
    Op::calc(us(time))
}

/// Costs: L = 10 us, o = 1 us; bytes are free.
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

/// Builds a program in which collective `n` is the n-th of these calls, on all ranks.
fn program(collectives: &[CollectiveCall], ranks: &[&[Op]]) -> Program {
    let mut program = ProgramBuilder::new(ranks.len() as u32);
    for (at, &call) in (0..).zip(collectives) {
        // Different sizes, so that no two collectives are the same.
        program.collective(Collective { call, comm: 0, root: 0, counts: Counts::Same(8 + 8 * at), plan: None });
    }
    for (number, ops) in (0..).zip(ranks) {
        let mut rank = program.sequence(number);
        for &op in *ops {
            match op.kind {
                OpKind::Waitall => drop(rank.wait_list(OpKind::Waitall, &[0, 1])),
                _ => drop(rank.push(op)),
            }
        }
        program.finish_rank(rank);
    }
    program.build().unwrap()
}

/// Returns the end of each rank [us].
fn ends(program: &Program) -> Vec<f64> {
    let expander = Expander::new(CollectivesSpec::default());
    let play =
        Play { program, costs: node().costs().unwrap(), expand: Some(&expander), cpu_speed: 1.0, on_fabric: false };
    let played = Player::new(play, Observers::default()).run(&|_, _| true);
    assert_eq!((played.stuck, played.unreceived), (vec![], 0));
    played.ranks.iter().map(|rank| (rank.end.ps() / 1e3).round() / 1e3).collect()
}

#[test]
fn a_broadcast_travels_while_its_ranks_compute() {
    let blocking = |time| [Op::collective(0), calc(time)];
    let moved = |time| [Op::icollective(0), calc(time), Op::wait(0)];
    let calls = [CollectiveCall::Bcast];
    // The message arrives after o + L + o = 12 us; computation follows.
    assert_eq!(ends(&program(&calls, &[&blocking(20.0), &blocking(30.0)])), [21.0, 42.0]);
    // The call takes o, the wait at least o: 1 + 30 + 1.
    assert_eq!(ends(&program(&calls, &[&moved(20.0), &moved(30.0)])), [22.0, 32.0]);
    // Less computation than the message takes: the wait ends when the message arrives.
    assert_eq!(ends(&program(&calls, &[&moved(20.0), &moved(5.0)])), [22.0, 12.0]);
    // It makes no difference to the other rank if a rank calls it at once or in the background.
    assert_eq!(ends(&program(&calls, &[&blocking(20.0), &moved(30.0)])), [21.0, 32.0]);
    assert_eq!(ends(&program(&calls, &[&moved(20.0), &blocking(30.0)])), [22.0, 42.0]);
}

#[test]
fn a_collective_of_several_steps_goes_on_without_its_rank() {
    // A barrier of four ranks is two exchanges, each o + L + o: the second follows the first while all compute.
    let ops = [Op::icollective(0), calc(100.0), Op::wait(0)];
    let all: [&[Op]; 4] = [&ops; 4];
    assert_eq!(ends(&program(&[CollectiveCall::Barrier], &all)), [102.0; 4]);
    let ops = [Op::icollective(0), Op::wait(0)];
    let all: [&[Op]; 4] = [&ops; 4];
    let at_once = [Op::collective(0)];
    let blocking: [&[Op]; 4] = [&at_once; 4];
    let (alone, done_at_once) =
        (ends(&program(&[CollectiveCall::Barrier], &all)), ends(&program(&[CollectiveCall::Barrier], &blocking)));
    assert_eq!(alone, done_at_once, "what is waited for at once takes what it takes");
    assert_eq!(alone, [24.0; 4]);
}

#[test]
fn two_in_the_background_are_kept_apart() {
    // Both broadcasts at once, with waits in the opposite order; rank 1 waits for the second before the
    // first.
    let calls = [CollectiveCall::Bcast, CollectiveCall::Bcast];
    let root = [Op::icollective(0), Op::icollective(1), calc(50.0), Op::wait(1), Op::wait(0)];
    let other = [Op::icollective(0), Op::icollective(1), Op::wait(1), Op::wait(0), calc(3.0)];
    // The root calls at 0 and 1, so the messages arrive at 12 and 13; waits: 13, and o more for the first.
    assert_eq!(ends(&program(&calls, &[&root, &other])), [54.0, 17.0]);
    // A list is one wait after the other: 12, then 13 (which is o later).
    let list = Op { kind: OpKind::Waitall, ..Op::wait(0) };
    let other = [Op::icollective(0), Op::icollective(1), list, calc(3.0)];
    assert_eq!(ends(&program(&calls, &[&root, &other])), [54.0, 16.0]);
}

#[test]
fn messages_of_the_program_do_not_meet_those_of_collectives() {
    let message = |peer| Envelope::world(peer, 1);
    let calls = [CollectiveCall::Allreduce, CollectiveCall::Bcast];
    let left = [Op::icollective(0), Op::send(message(1), 8), Op::collective(1), Op::recv(message(1), 8), Op::wait(0)];
    let right = [Op::icollective(0), Op::recv(message(0), 8), Op::collective(1), Op::send(message(0), 8), Op::wait(0)];
    let ends = ends(&program(&calls, &[&left, &right]));
    // Rank 1 has the message at 1 + 1 + 10 + 1 = 13. The broadcast, sent at 2..3, has arrived at 13 and is
    // taken by 14. Its message leaves at 15 and is taken by 26. The allreduce has long been done: waiting
    // takes o.
    assert_eq!(ends, [27.0, 16.0]);
}

#[test]
fn what_never_comes_is_said_with_the_step_that_waits() {
    let program = program(&[CollectiveCall::Bcast], &[&[], &[Op::icollective(0), Op::wait(0)]]);
    let expander = Expander::new(CollectivesSpec::default());
    let costs = node().costs().unwrap();
    let play = Play { program: &program, costs, expand: Some(&expander), cpu_speed: 1.0, on_fabric: false };
    let played = Player::new(play, Observers::default()).run(&|_, _| true);
    let [stuck] = played.stuck.as_slice() else { panic!("{:?}", played.stuck) };
    assert_eq!((stuck.rank, stuck.on), (RankId(1), Some(RankId(0))));
    assert!(stuck.what.starts_with("wait for ibcast, in its recv of 8 B from rank 0"), "{}", stuck.what);
}

#[test]
fn a_graph_has_a_branch_for_what_goes_on_in_the_background() {
    let time = |us: f64| Time::from_ps(us * 1e6);
    let spec = LogGopSimSpec {
        latency: time(10.0).into(),
        o: time(1.0).into(),
        g: Time::ZERO.into(),
        gap: PerByte::from_ps(0.0).into(),
        overhead: PerByte::from_ps(0.0).into(),
        sync: Bytes(1000).into(),
    };
    let expander = Expander::new(CollectivesSpec::default());
    let ends = |ops: &[Op]| {
        let program = program(&[CollectiveCall::Bcast], &[ops, ops]);
        let lowered = loggopsim::as_graphs(&program, &expander);
        let played = loggopsim::play(&lowered, &spec.host_costs(), (1.0, None), Observers::default(), &|_, _| true);
        assert_eq!(played.stuck, []);
        played.ranks[1].end.ps() / 1e6
    };
    // The message arrives at 1 + 10; taking it costs o on the one processor.
    assert_eq!(ends(&[Op::collective(0), calc(30.0)]), 42.0);
    assert_eq!(ends(&[Op::icollective(0), calc(30.0), Op::wait(0)]), 31.0);
}

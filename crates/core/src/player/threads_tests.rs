//! Threads of a rank, compared with the time that each of them takes alone.

use super::*;
use crate::ids::RankId;
use crate::node::{LogGpsSpec, NodeSpec, ReceiverSharing};
use crate::program::collectives::{CollectivesSpec, Expander};
use crate::program::{After, Collective, CollectiveCall, Counts, Envelope, Op, Program, ProgramBuilder};
use crate::units::{Bytes, PerByte, Time};

fn us(us: f64) -> Time {
    Time::from_ps(us * 1e6)
}

fn calc(time: f64) -> Op {
    Op::calc(us(time))
}

fn on(peer: u32, tag: u32) -> Envelope {
    Envelope::world(peer, tag)
}

/// Costs: L = 10 us, o = 1 us; bytes are free, so a message takes 12 us.
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

/// Step of a thread of a rank: the thread, the operation, and its requirements (an operation, and the lag
/// after it \[us\]).
type Step = (u32, Op, &'static [(u32, f64)]);

fn program(ranks: &[&[Step]]) -> Program {
    let mut program = ProgramBuilder::new(ranks.len() as u32);
    program.collective(Collective {
        call: CollectiveCall::Barrier,
        comm: 0,
        root: 0,
        counts: Counts::Same(0),
        plan: None,
    });
    for (number, steps) in (0..).zip(ranks) {
        let mut rank = program.sequence(number);
        for &(thread, op, after) in *steps {
            for &(on, lag) in after {
                rank.after(on, us(lag));
            }
            rank.at_thread(thread);
            rank.push(op);
        }
        program.finish_rank(rank);
    }
    program.build().unwrap()
}

fn play(program: &Program) -> Played {
    let expander = Expander::new(CollectivesSpec::default());
    let costs = node().costs().unwrap();
    let play = Play { program, costs, expand: Some(&expander), cpu_speed: 1.0, on_fabric: false };
    Player::new(play, Observers::default()).run(&|_, _| true)
}

/// Returns the end of each rank \[us\].
fn ends(program: &Program) -> Vec<f64> {
    let played = play(program);
    assert_eq!(played.stuck, []);
    played.ranks.iter().map(|times| (times.end.ps() / 1e3).round() / 1e3).collect()
}

#[test]
fn two_threads_take_as_long_as_the_longer_alone() {
    let pings = |thread: u32, peer: u32, work: f64| {
        let (send, recv) = (Op::send(on(peer, thread), 8), Op::recv(on(peer, thread), 8));
        let turn = if peer == 1 { [send, recv] } else { [recv, send] };
        (0..10)
            .flat_map(move |_| [calc(work), turn[0], turn[1]])
            .map(move |op| (thread, op, &[][..]))
            .collect::<Vec<Step>>()
    };
    let alone = |work| ends(&program(&[&pings(0, 1, work), &pings(0, 0, 0.0)]));
    // There and back: the work, then 12 us each way.
    assert_eq!(alone(5.0), [10.0 * 29.0, 10.0 * 29.0 - 11.0]);
    let mut both: [Vec<Step>; 2] = [pings(0, 1, 5.0), pings(0, 0, 0.0)];
    for (steps, peer) in both.iter_mut().zip([1, 0]) {
        let second = pings(1, peer, if peer == 1 { 3.0 } else { 0.0 });
        // Interleaved as they may have been recorded.
        *steps = steps.iter().zip(&second).flat_map(|(&first, &second)| [second, first]).collect();
    }
    let [first, second] = &both;
    assert_eq!(ends(&program(&[first, second])), alone(5.0));
}

#[test]
fn an_operation_begins_so_long_after_one_of_another_thread() {
    // Thread 1 begins 2 us after 10, and takes 5.
    assert_eq!(ends(&program(&[&[(0, calc(10.0), &[]), (1, calc(5.0), &[(0, 2.0)])]])), [17.0]);
    // The thread comes to it later.
    let late: &[Step] = &[(0, calc(10.0), &[]), (1, calc(20.0), &[]), (1, calc(5.0), &[(0, 2.0)])];
    assert_eq!(ends(&program(&[late])), [25.0]);
    // A join, and a start.
    let joined: &[Step] = &[
        (0, calc(3.0), &[]),
        (1, calc(7.0), &[(After::START, 4.0)]),
        (0, calc(1.0), &[(1, 0.0)]),
        (1, calc(1.0), &[(2, 0.0)]),
    ];
    assert_eq!(ends(&program(&[joined])), [13.0]);
}

#[test]
fn a_request_of_one_thread_is_waited_for_by_another() {
    let sender: &[Step] = &[(0, calc(50.0), &[]), (0, Op::send(on(1, 0), 8), &[])];
    let receiver: &[Step] =
        &[(0, Op::irecv(on(0, 0), 8), &[]), (1, Op::wait(0), &[(0, 0.0)]), (0, calc(30.0), &[]), (1, calc(100.0), &[])];
    // The message arrives after 50 + 12; the computation of the other thread runs in parallel.
    assert_eq!(ends(&program(&[sender, receiver])), [51.0, 162.0]);
}

#[test]
fn threads_take_turns_in_collectives() {
    let turns: &[Step] = &[
        (0, Op::collective(0), &[]),
        (1, Op::collective(0), &[(0, 0.0)]),
        (0, calc(40.0), &[]),
        (0, Op::collective(0), &[(1, 0.0)]),
    ];
    let alone: &[Step] = &[(0, Op::collective(0), &[]), (0, Op::collective(0), &[]), (0, Op::collective(0), &[])];
    let (both, one) = (ends(&program(&[turns, turns])), ends(&program(&[alone, alone])));
    // The third barrier begins 40 us after the first; this time hides the second.
    assert_eq!(both[0], one[0] * 2.0 / 3.0 + 40.0);
}

#[test]
fn shares_are_those_of_a_thread_and_who_is_stuck_is_said() {
    let busy: &[Step] = &[(0, calc(10.0), &[]), (1, calc(6.0), &[])];
    let played = play(&program(&[busy]));
    assert_eq!(played.ranks[0].of(ActivityKind::Compute), us(8.0), "half of 16");
    let stuck: &[Step] = &[(1, Op::recv(on(1, 5), 8), &[]), (0, calc(1.0), &[(0, 0.0)])];
    let played = play(&program(&[stuck, &[]]));
    assert_eq!(played.stuck.len(), 1);
    let Stuck { rank, op, what, .. } = &played.stuck[0];
    assert_eq!((*rank, *op), (RankId(0), 0));
    assert!(what.starts_with("recv of 8 B from rank 1, tag 5"), "{what}");
}

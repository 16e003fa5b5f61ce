//! The tables of LogGPS, as statements about programs that are played.

use super::*;
use crate::ids::RankId;
use crate::node::{LogGpsSpec, NodeSpec, ReceiverSharing};
use crate::program::{ANY_SOURCE, ANY_TAG, Envelope, Op, OpKind, Program, ProgramBuilder};
use crate::units::{Bytes, PerByte, Time};

/// Published parameters of Myrinet [ns, ns/B].
const L: f64 = 850.0;
const O: f64 = 6730.0;
const OSS: f64 = 5.02;
const ORS: f64 = 4.72;
const GS: f64 = 15.17;
const OSL: f64 = 4.80;
const ORL: f64 = 3.86;
const GL: f64 = 0.04;
const SHORT: u64 = 8191;
const SYNC: u64 = 16383;

pub(super) fn ns(ns: f64) -> Time {
    Time::from_ps(ns * 1e3)
}

pub(super) fn myrinet() -> LogGpsSpec {
    let per_byte = |ns: f64| PerByte::from_ps(ns * 1e3).into();
    LogGpsSpec {
        latency: ns(L).into(),
        o: ns(O).into(),
        g: Time::ZERO.into(),
        oss: per_byte(OSS),
        ors: per_byte(ORS),
        gs: per_byte(GS),
        osl: per_byte(OSL),
        orl: per_byte(ORL),
        gl: Some(per_byte(GL)),
        s: Some(Bytes(SHORT).into()),
        sync: Bytes(SYNC).into(),
        receiver_sharing: ReceiverSharing::Message,
        eager_buffer: None,
    }
}

fn t1(k: u64) -> f64 {
    O + k as f64 * if k > SYNC { OSL } else { OSS }
}

fn t2(k: u64) -> f64 {
    let k = k as f64;
    let s = SHORT as f64;
    if k <= s { k * GS + L } else { s * GS + (k - s) * GL + L }
}

fn t3(k: u64) -> f64 {
    O + k as f64 * if k > SYNC { ORL } else { ORS }
}

/// Lengths on both sides of s and S, and far above.
const LENGTHS: [u64; 8] = [0, 1, 1000, SHORT, SHORT + 1, SYNC, SYNC + 1, 1_000_000];

fn program(ranks: &[&[Op]]) -> Program {
    let mut program = ProgramBuilder::new(ranks.len() as u32);
    for (number, ops) in ranks.iter().enumerate() {
        let mut rank = program.sequence(number as u32);
        for &op in *ops {
            rank.push(op);
        }
        program.finish_rank(rank);
    }
    program.build().unwrap()
}

fn play_on(program: &Program, node: &NodeSpec) -> (Played, Vec<Activity>) {
    let mut activities = Vec::new();
    let mut on_activity = |activity: &Activity| activities.push(*activity);
    let play = Play { program, costs: node.costs().unwrap(), expand: None, cpu_speed: 1.0, on_fabric: false };
    let played =
        Player::new(play, Observers { on_activity: Some(&mut on_activity), ..Observers::default() }).run(&|_, _| true);
    (played, activities)
}

fn play(program: &Program) -> Played {
    let (played, _) = play_on(program, &NodeSpec::Loggps(myrinet()));
    assert_eq!(played.stuck, []);
    played
}

fn to(peer: u32) -> Envelope {
    Envelope::world(peer, 0)
}

fn calc(duration: f64) -> Op {
    Op::calc(ns(duration))
}

#[track_caller]
fn near(time: Time, expected_ns: f64) {
    let found = time.ps() / 1e3;
    assert!((found - expected_ns).abs() <= 1e-9 * expected_ns.abs() + 1e-9, "{found} ns instead of {expected_ns} ns");
}

#[test]
fn calls_take_what_table_4_says_whoever_comes_first() {
    for k in LENGTHS {
        for (ts, tr) in [(0.0, 0.0), (100.0, 0.0), (0.0, 5000.0), (0.0, 9e6), (9e6, 0.0)] {
            let sender: &[Op] = &[calc(ts), Op::send(to(1), k)];
            let receiver: &[Op] = &[calc(tr), Op::recv(to(0), k)];
            let played = play(&program(&[sender, receiver]));
            let t4 = (O + L).max(tr - ts) + O;
            let t5 = O + L + O;
            let (send, recv) = if k <= SYNC {
                (t1(k), (t1(k) + t2(k) - (tr - ts)).max(0.0) + t3(k))
            } else {
                (t4 + t5 + t1(k), (O + L - (tr - ts)).max(0.0) + O + t5 + t1(k) + t2(k) + t3(k))
            };
            near(played.ranks[0].end, ts + send);
            near(played.ranks[1].end, tr + recv);
            // Communication time, table 3: from the call of the send to the end of the receive.
            let communication = played.ranks[1].end.ps() / 1e3 - ts;
            if tr <= ts {
                let expected = t1(k) + t2(k) + t3(k) + if k > SYNC { t4 + t5 } else { 0.0 };
                near(ns(communication), expected);
            }
        }
    }
}

#[test]
fn a_round_trip_with_work_takes_the_closed_form() {
    let (t4, t5) = (O + L + O, O + L + O);
    for k in LENGTHS {
        for w in [0.0, 1.0, 10_000.0, 100_000.0, 1e8] {
            let first: &[Op] = &[Op::send(to(1), k), calc(w), Op::recv(to(1), k)];
            let second: &[Op] = &[Op::recv(to(0), k), Op::send(to(0), k)];
            let played = play(&program(&[first, second]));
            let expected = if k <= SYNC {
                (t1(k) + 2.0 * t2(k) + t3(k) - w).max(0.0) + w + t1(k) + t3(k)
            } else {
                (t2(k) + t3(k) + O + L - w).max(0.0) + w + 2.0 * t1(k) + t2(k) + t3(k) + 2.0 * t4 + 2.0 * t5 - (O + L)
            };
            near(played.ranks[0].end, expected);
        }
    }
}

#[test]
fn the_slopes_of_myrinets_round_trip_are_the_published_ones() {
    let round_trip = |k: u64, w: f64| {
        let first: &[Op] = &[Op::send(to(1), k), calc(w), Op::recv(to(1), k)];
        let second: &[Op] = &[Op::recv(to(0), k), Op::send(to(0), k)];
        play(&program(&[first, second])).ranks[0].end.ps() / 1e3
    };
    let slope = |from: u64, to: u64, w: f64| (round_trip(to, w) - round_trip(from, w)) / (to - from) as f64;
    let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-6, "{found}, not {expected}");
    close(round_trip(0, 0.0), 28_620.0); // 4 o' + 2 L
    close(slope(1000, 2000, 1e9), OSS + ORS); // 9.74
    close(slope(1000, 2000, 0.0), 49.82); // 2 (Oss + Ors + Gs)
    close(slope(10_000, 16_000, 0.0), 19.56); // 2 (Oss + Ors + Gl)
    close(slope(20_000, 40_000, 0.0), 17.40); // 2 (Osl + Orl + Gl)
    close(slope(20_000, 40_000, 1e9), 13.50); // 2 Osl + Orl + Gl
    let alone = play(&program(&[&[Op::send(to(1), SYNC)], &[Op::recv(to(0), SYNC)]]));
    close(alone.ranks[0].end.ps() / 1e6, 88.97266); // us: o' + S Oss
}

#[test]
fn a_message_of_16383_bytes_takes_298_us_and_1438_of_them_0_43_s() {
    let played = play(&program(&[&[Op::send(to(1), SYNC)], &[Op::recv(to(0), SYNC)]]));
    assert_eq!((played.ranks[1].end.ps() / 1e6).round(), 298.0);
    let exchange = |first: bool| {
        let mut ops = Vec::new();
        for _ in 0..1438 {
            // The next message leaves when the last one has been received, as the published figure adds them
            // up.
            match first {
                true => ops.extend([Op::send(to(1), SYNC), Op::recv(Envelope::world(1, 9), 0)]),
                false => ops.extend([Op::recv(to(0), SYNC), Op::send(Envelope::world(0, 9), 0)]),
            }
        }
        ops
    };
    let played = play(&program(&[&exchange(true), &exchange(false)]));
    let without_answers = played.ranks[0].end.seconds() - 1438.0 * (2.0 * O + L) * 1e-9;
    assert_eq!((without_answers * 100.0).round() / 100.0, 0.43);
}

#[test]
fn a_wait_takes_what_is_left_of_the_blocking_call_and_at_least_the_overhead() {
    for k in LENGTHS {
        for (work, late) in [(0.0, 0.0), (1000.0, 0.0), (60_000.0, 0.0), (1e9, 0.0), (0.0, 2e5), (1e6, 2e5)] {
            let sender: &[Op] = &[Op::isend(to(1), k), calc(work), Op::wait(0)];
            let receiver: &[Op] = &[calc(late), Op::irecv(to(0), k), calc(work), Op::wait(1)];
            let played = play(&program(&[sender, receiver]));
            let (t4, t5) = ((O + L).max(late) + O, O + L + O);
            let (send, recv) = if k <= SYNC {
                (t1(k), (t1(k) + t2(k) - late).max(0.0) + t3(k))
            } else {
                (t4 + t5 + t1(k), (O + L - late).max(0.0) + O + t5 + t1(k) + t2(k) + t3(k))
            };
            let wait = |blocking: f64| (blocking - (O + work)).max(O);
            near(played.ranks[0].end, O + work + wait(send));
            near(played.ranks[1].end, late + O + work + wait(recv));
        }
    }
}

#[test]
fn the_breakdown_adds_up_and_names_the_wait_for_the_receiver() {
    let k = 100_000;
    let late = 1e6;
    let sender: &[Op] = &[Op::send(to(1), k)];
    let receiver: &[Op] = &[calc(late), Op::recv(to(0), k)];
    let (played, activities) = play_on(&program(&[sender, receiver]), &NodeSpec::Loggps(myrinet()));
    let [send, recv] = [played.ranks[0], played.ranks[1]];
    near(send.of(ActivityKind::SendWait), late - (O + L));
    near(send.of(ActivityKind::SendOverhead), t1(k));
    near(send.of(ActivityKind::Sync), O + L + O + O + L + O);
    near(recv.of(ActivityKind::Compute), late);
    near(recv.of(ActivityKind::Sync), O + O + L + O);
    near(recv.of(ActivityKind::RecvWait), t1(k) + t2(k));
    near(recv.of(ActivityKind::RecvOverhead), t3(k));
    for (rank, times) in played.ranks.iter().enumerate() {
        let all: Time = ActivityKind::ALL.iter().map(|kind| times.of(*kind)).sum();
        near(all, times.end.ps() / 1e3);
        let mine: Vec<_> = activities.iter().filter(|activity| activity.rank.0 as usize == rank).collect();
        let told: Time = mine.iter().map(|activity| activity.end - activity.begin).sum();
        near(told, times.end.ps() / 1e3);
        assert!(mine.is_sorted_by(|a, b| a.end <= b.begin));
    }
    let wait = activities.iter().find(|activity| activity.kind == ActivityKind::SendWait).unwrap();
    assert_eq!((wait.peer, wait.message, wait.op), (Some(RankId(1)), Some(0), 0));
}

#[test]
fn a_chain_in_a_graph_takes_what_the_sequence_takes() {
    for k in LENGTHS {
        for late in [0.0, 3e5] {
            let first = [Op::send(to(1), k), calc(700.0), Op::recv(to(1), k), calc(300.0)];
            let second = [calc(late), Op::recv(to(0), k), Op::send(to(0), k)];
            let sequence = play(&program(&[&first, &second]));
            let mut builder = ProgramBuilder::new(2);
            for (number, ops) in [&first[..], &second[..]].into_iter().enumerate() {
                let mut rank = builder.graph(number as u32);
                for (at, &op) in ops.iter().enumerate() {
                    rank.push(op);
                    if at > 0 {
                        rank.requires(at as u32, at as u32 - 1);
                    }
                }
                builder.finish_rank(rank);
            }
            let mut node = myrinet();
            node.receiver_sharing = ReceiverSharing::Message;
            let (graph, _) = play_on(&builder.build().unwrap(), &NodeSpec::Loggps(node));
            for rank in 0..2 {
                near(graph.ranks[rank].end, sequence.ranks[rank].end.ps() / 1e3);
                for kind in [ActivityKind::Compute, ActivityKind::SendOverhead, ActivityKind::RecvOverhead] {
                    near(graph.ranks[rank].of(kind), sequence.ranks[rank].of(kind).ps() / 1e3);
                }
            }
        }
    }
}

#[test]
fn messages_that_flow_to_one_rank_share_its_bandwidth() {
    let k = 8000;
    let send: &[Op] = &[Op::send(to(0), k)];
    let receives: Vec<Op> = (1..=4).map(|peer| Op::recv(to(peer), k)).collect();
    let together = program(&[&receives, send, send, send, send]);
    let gap = k as f64 * GS;
    let played = play(&together);
    // All four arrive at once, after four times the gap; then one overhead after the other.
    near(played.ranks[0].end, t1(k) + L + 4.0 * gap + 4.0 * t3(k));
    let mut node = myrinet();
    node.receiver_sharing = ReceiverSharing::Off;
    let (alone, _) = play_on(&together, &NodeSpec::Loggps(node));
    near(alone.ranks[0].end, t1(k) + L + gap + 4.0 * t3(k));
    // Above S it is the sender's overhead that holds the bandwidth of Myrinet: the senders are busy for longer.
    let k = 100_000;
    let send: &[Op] = &[Op::send(to(0), k)];
    let receives: Vec<Op> = (1..=2).map(|peer| Op::irecv(to(peer), k)).chain([Op::wait(0), Op::wait(1)]).collect();
    let played = play(&program(&[&receives, send, send]));
    let overhead = played.ranks[1].of(ActivityKind::SendOverhead).ps() / 1e3;
    assert!(overhead > O + 1.8 * k as f64 * OSL, "{overhead}");
}

#[test]
fn a_message_that_finds_no_room_goes_by_rendezvous() {
    let k = 1000;
    let sends = [Op::send(to(1), k); 4];
    let receives = [&[calc(1e6)][..], &[Op::recv(to(0), k); 4]].concat();
    let program = program(&[&sends, &receives]);
    let end = |buffer: Option<u64>| {
        let mut node = myrinet();
        node.sync = Bytes(2000).into();
        node.s = None;
        node.eager_buffer = buffer.map(|bytes| Bytes(bytes).into());
        let (played, _) = play_on(&program, &NodeSpec::Loggps(node));
        assert_eq!(played.stuck, []);
        (played.ranks[0].end.ps() / 1e3, played.ranks[0].of(ActivityKind::SendWait).ps() / 1e3)
    };
    let (free, waits) = end(None);
    assert!((free - 4.0 * t1(k)).abs() < 1e-3 && waits == 0.0, "{free} {waits}");
    assert_eq!(end(Some(10_000)).0, free);
    // Three messages fit. The fourth asks its receiver, which answers after three receives, from 1 ms on, and
    // has the overhead of long messages.
    let (limited, waits) = end(Some(3000));
    let asked = 3.0 * t1(k) + O + L;
    let answered = 1e6 + 3.0 * t3(k);
    near(ns(limited), answered + O + (O + L + O) + O + k as f64 * OSL);
    near(ns(waits), answered - asked);
}

#[test]
fn a_shorter_message_does_not_overtake_a_longer_one() {
    // The second leaves long before the first; a receive of any tag takes the first.
    let sender: &[Op] =
        &[Op::isend(Envelope::world(1, 1), 16_000), Op::isend(Envelope::world(1, 2), 0), Op::wait(0), Op::wait(1)];
    let receiver: &[Op] = &[Op::recv(Envelope::world(ANY_SOURCE, ANY_TAG), 16_000), calc(5.0)];
    let (played, activities) = play_on(&program(&[sender, receiver]), &NodeSpec::Loggps(myrinet()));
    near(played.ranks[1].of(ActivityKind::RecvOverhead), t3(16_000));
    assert_eq!(played.unreceived, 1);
    assert!(
        activities.iter().all(|activity| activity.rank.0 == 0 || activity.message.is_none_or(|number| number == 0))
    );
}

#[test]
fn waits_for_several_end_as_all_any_or_some_are_done() {
    let sends: &[Op] = &[Op::send(Envelope::world(0, 1), 10), calc(1e6), Op::send(Envelope::world(0, 2), 10)];
    let wait = |kind: OpKind| {
        let mut builder = ProgramBuilder::new(2);
        let mut rank = builder.sequence(0);
        let late = rank.push(Op::irecv(Envelope::world(1, 2), 10));
        let early = rank.push(Op::irecv(Envelope::world(1, 1), 10));
        rank.wait_list(kind, &[late, early]);
        rank.push(calc(1.0));
        rank.wait_list(OpKind::Waitall, &[late, early]);
        builder.finish_rank(rank);
        let mut rank = builder.sequence(1);
        sends.iter().for_each(|&op| {
            rank.push(op);
        });
        builder.finish_rank(rank);
        let (played, activities) = play_on(&builder.build().unwrap(), &NodeSpec::Loggps(myrinet()));
        assert_eq!(played.stuck, []);
        let computes =
            activities.iter().find(|activity| activity.rank.0 == 0 && activity.kind == ActivityKind::Compute);
        computes.unwrap().begin.ps() / 1e3
    };
    assert!(wait(OpKind::Waitall) > 1e6);
    assert!(wait(OpKind::Waitany) < 1e5);
    assert!(wait(OpKind::Waitsome) < 1e5);
}

#[test]
fn two_that_swap_long_messages_with_sendrecv_do_not_wait_for_each_other_in_a_circle() {
    let k = 100_000;
    let mut builder = ProgramBuilder::new(2);
    for rank in 0..2 {
        let mut ops = builder.sequence(rank);
        ops.sendrecv(to(1 - rank), k, to(1 - rank), k);
        builder.finish_rank(ops);
    }
    let played = play(&builder.build().unwrap());
    near(played.ranks[0].end, 2.0 * (O + L + O) + t1(k) + t2(k) + t3(k));
    assert_eq!(played.ranks[0], played.ranks[1]);
    // With blocking sends first it is a deadlock, and both ranks are named.
    let ops = |peer: u32| [Op::send(to(peer), k), Op::recv(to(peer), k)];
    let (played, _) = play_on(&program(&[&ops(1), &ops(0)]), &NodeSpec::Loggps(myrinet()));
    let named: Vec<_> = played.stuck.iter().map(|stuck| (stuck.rank.0, stuck.op, stuck.on.map(|on| on.0))).collect();
    assert_eq!(named, [(0, 0, Some(1)), (1, 0, Some(0))]);
    assert_eq!(played.stuck[0].what, "send of 100000 B to rank 1, tag 0");
}

#[test]
fn a_probe_waits_for_a_message_and_leaves_it_there() {
    let sender: &[Op] = &[calc(1e5), Op::send(to(1), 10)];
    let receiver: &[Op] = &[Op::probe(Envelope::world(ANY_SOURCE, 0)), Op::recv(to(0), 10)];
    let played = play(&program(&[sender, receiver]));
    near(played.ranks[1].end, 1e5 + t1(10) + t2(10) + O + t3(10));
}

#[test]
fn ideal_nodes_without_a_network_take_the_computation_alone() {
    let first: &[Op] = &[calc(100.0), Op::send(to(1), 1 << 20), calc(50.0)];
    let second: &[Op] = &[Op::recv(to(0), 1 << 20), calc(70.0)];
    let (played, _) = play_on(&program(&[first, second]), &NodeSpec::default());
    near(played.makespan(), 170.0);
}

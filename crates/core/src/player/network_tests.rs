//! The network without a fabric: gaps between messages, and messages that share a receiver.

use super::tests::{myrinet, ns};
use super::*;
use crate::node::calibrate::{self, Measured, Sample};
use crate::node::{LogGpsSpec, NodeSpec, ReceiverSharing};
use crate::program::{Envelope, Op, ProgramBuilder};
use crate::units::{Bytes, Time};

fn played(ranks: &[Vec<Op>], node: &LogGpsSpec) -> Played {
    played_on(ranks, &NodeSpec::Loggps(node.clone()))
}

/// Plays a program of these ranks on nodes with their own network.
pub(super) fn played_on(ranks: &[Vec<Op>], node: &NodeSpec) -> Played {
    let mut program = ProgramBuilder::new(ranks.len() as u32);
    for (number, ops) in (0..).zip(ranks) {
        let mut rank = program.sequence(number);
        for &op in ops {
            rank.push(op);
        }
        program.finish_rank(rank);
    }
    let program = program.build().unwrap();
    let costs = node.costs().unwrap();
    let play = Play { program: &program, costs, expand: None, cpu_speed: 1.0, on_fabric: false };
    let played = Player::new(play, Observers::default()).run(&|_, _| true);
    assert_eq!(played.stuck, []);
    played
}

/// Lets `senders` ranks send `bytes` bytes each to rank 0, which receives them one after the other; returns
/// its end [ns].
fn incast(senders: u32, bytes: u64, node: &LogGpsSpec) -> f64 {
    let receives = (1..=senders).map(|rank| Op::recv(Envelope::world(rank, 0), bytes)).collect();
    let send = vec![Op::send(Envelope::world(0, 0), bytes)];
    let ranks: Vec<Vec<Op>> = std::iter::once(receives).chain((0..senders).map(|_| send.clone())).collect();
    played(&ranks, node).ranks[0].end.ps() / 1e3
}

#[test]
fn g_spaces_receives_as_well_as_sends() {
    let node = LogGpsSpec { g: ns(20_000.0).into(), ..myrinet() };
    // All three arrive at o + L; the first is taken then, the others 20 and 40 us later, each in o.
    assert_eq!(incast(3, 0, &node), 6730.0 + 850.0 + 40_000.0 + 6730.0);
    assert_eq!(incast(3, 0, &myrinet()), 6730.0 + 850.0 + 3.0 * 6730.0);
    // The background work of non-blocking receives is spaced as well, and the wait for it counts as waiting.
    let receives =
        (1..=2).map(|rank| Op::irecv(Envelope::world(rank, 0), 0)).chain([Op::wait(0), Op::wait(1)]).collect();
    let send = vec![Op::send(Envelope::world(0, 0), 0)];
    let found = played(&[receives, send.clone(), send], &node);
    assert_eq!(found.ranks[0].end.ps(), (6730.0 + 850.0 + 20_000.0 + 6730.0) * 1e3);
    assert_eq!(found.ranks[0].of(ActivityKind::RecvOverhead).ps(), 4.0 * 6730e3);
}

#[test]
fn calibration_finds_the_g_that_trains_of_messages_were_played_with() {
    let node = LogGpsSpec { g: ns(20_000.0).into(), receiver_sharing: ReceiverSharing::Off, ..myrinet() };
    let to = |peer| Envelope::world(peer, 0);
    let train = |count: usize, bytes: u64| {
        let ranks = [vec![Op::send(to(1), bytes); count], vec![Op::recv(to(0), bytes); count]];
        played(&ranks, &node).ranks[1].end
    };
    let mut samples = Vec::new();
    let mut add = |call, bytes, work: Time, time| samples.push(Sample { call, bytes, work, time });
    for bytes in (0..=40).map(|i| i * 1024).chain([1, 8191, 16_383]) {
        for work in [0.0, 5e6] {
            let first = vec![Op::send(to(1), bytes), Op::calc(ns(work)), Op::recv(to(1), bytes)];
            let second = vec![Op::recv(to(0), bytes), Op::send(to(0), bytes)];
            add(Measured::RoundTrip, bytes, ns(work), played(&[first, second], &node).ranks[0].end);
        }
        if bytes <= 16_383 {
            let send = played(&[vec![Op::send(to(1), bytes)], vec![Op::recv(to(0), bytes)]], &node).ranks[0].end;
            add(Measured::Send, bytes, Time::ZERO, send);
        }
    }
    for bytes in [0, 100, 1000] {
        let each = (train(30, bytes) - train(10, bytes)).ps() / 20.0;
        add(Measured::Interval, bytes, Time::ZERO, Time::from_ps(each));
    }
    let found = calibrate::calibrate(&samples, &calibrate::Options::default()).unwrap();
    assert!((found.g.value.unwrap() - 20_000.0).abs() < 1e-3, "{:?}", found.g);
    let o = found.parameters.iter().find(|parameter| parameter.name == "o").unwrap().value.unwrap();
    assert!((o - 6730.0).abs() < 1.0, "{o}");
}

#[test]
fn the_papers_sharing_is_not_monotonic_in_the_length_and_that_of_the_wire_is() {
    let paper = myrinet();
    let wire = LogGpsSpec { receiver_sharing: ReceiverSharing::Wire, ..myrinet() };
    let us = |senders, bytes, node: &LogGpsSpec| (incast(senders, bytes, node) / 1e3).round();
    // Up to s bytes, the wire's part is five times as long; above, only the sender's is.
    assert_eq!((us(5, 8191, &paper), us(5, 8192, &paper)), (897.0, 564.0));
    assert_eq!((us(5, 8191, &wire), us(5, 8192, &wire)), (897.0, 897.0));
    let ethernet = |mut node: LogGpsSpec| {
        let per_byte = |ns: f64| crate::units::PerByte::from_ps(ns * 1e3).into();
        (node.latency, node.o) = (ns(24_580.0).into(), ns(22_340.0).into());
        (node.oss, node.ors, node.gs) = (per_byte(12.37), per_byte(11.53), per_byte(188.77));
        (node.osl, node.orl, node.gl) = (per_byte(9.73), per_byte(9.89), Some(per_byte(65.09)));
        node.s = Some(Bytes(1023).into());
        node
    };
    let lengths: Vec<u64> =
        (0..=70).map(|i| i * 1000).chain([1, 1023, 1024, 8191, 8192, 8193, 16_383, 16_384, 16_385]).collect();
    for node in [wire.clone(), ethernet(wire)] {
        for senders in [1, 2, 3, 5, 8, 20] {
            let mut lengths = lengths.clone();
            lengths.sort_unstable();
            let times: Vec<f64> = lengths.iter().map(|&bytes| incast(senders, bytes, &node)).collect();
            let falls = times.windows(2).position(|pair| pair[1] < pair[0] - 1e-6);
            assert!(falls.is_none(), "{senders} senders: falls after {} B", lengths[falls.unwrap_or(0)]);
        }
    }
    // A single message shares with none.
    for &bytes in &lengths {
        let off = LogGpsSpec { receiver_sharing: ReceiverSharing::Off, ..myrinet() };
        let wire = LogGpsSpec { receiver_sharing: ReceiverSharing::Wire, ..myrinet() };
        assert!((incast(1, bytes, &wire) - incast(1, bytes, &off)).abs() < 1e-6, "{bytes} B");
    }
}

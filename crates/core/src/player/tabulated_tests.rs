//! Costs by size, played without a fabric: chains, ports and exchanges.

use super::network_tests::played_on;
use crate::program::{Envelope, Op};

/// Steps of 2 us at 1 KB and 6 us at 100 KB, on a wire of 1 GB/s.
const NODE: &str = "[tabulated]\nG = \"1 ns/B\"\neager = \"1000 B\"\none-way = \"5 us\"\ngap = \"0.5 us\"\n\
                    rendezvous-gap = \"1 us\"\nshared-above = \"60000 B\"\n\
                    step = [{ size = \"1000 B\", time = \"2 us\" }, { size = \"100000 B\", time = \"6 us\" }]";

/// Plays a program of these ranks; returns the end of the last one \[us\].
fn end(ranks: &[Vec<Op>]) -> f64 {
    let played = played_on(ranks, &crate::reading::from_toml(NODE).unwrap());
    let end = played.ranks.iter().map(|rank| rank.end).max().unwrap();
    (end.ps() / 1e3).round() / 1e3
}

/// Returns the operations of `steps` calls that send to `to` and receive from `from`.
fn exchanges(to: u32, from: u32, bytes: u64, steps: u32) -> Vec<Op> {
    let step = |at: u32| {
        let receive = Op::irecv(Envelope::world(from, 0), bytes).marked(Op::WITHIN_CALL);
        let send = Op::send(Envelope::world(to, 0), bytes);
        [receive, send, Op::wait(3 * at).marked(Op::WITHIN_CALL)]
    };
    (0..steps).flat_map(step).collect()
}

#[test]
fn a_ring_takes_a_step_for_each_other_rank() {
    for (bytes, step) in [(1000, 2.0 + 1.0), (100_000, 6.0 + 100.0), (10_000, 4.0 + 10.0)] {
        let ring: Vec<Vec<Op>> = (0..5).map(|rank| exchanges((rank + 1) % 5, (rank + 4) % 5, bytes, 4)).collect();
        assert_eq!(end(&ring), 4.0 * step, "{bytes} B");
    }
}

#[test]
fn both_directions_of_an_exchange_with_one_partner_share_what_is_beyond_a_size() {
    let swap = |bytes| end(&[exchanges(1, 1, bytes, 1), exchanges(0, 0, bytes, 1)]);
    assert_eq!(swap(10_000), 4.0 + 10.0);
    assert_eq!(swap(100_000), 6.0 + 100.0 + 40.0);
}

#[test]
fn a_message_alone_costs_at_most_the_one_way_time_above_the_eager_limit() {
    let one =
        |bytes| end(&[vec![Op::send(Envelope::world(1, 0), bytes)], vec![Op::recv(Envelope::world(0, 0), bytes)]]);
    assert_eq!([one(1000), one(10_000), one(100_000)], [3.0, 14.0, 105.0]);
}

#[test]
fn messages_at_once_follow_each_other_by_the_wire_and_the_gap() {
    let sends = |ranks: u32, bytes| -> Vec<Op> {
        let sends = (1..ranks).map(|to| Op::isend(Envelope::world(to, 0), bytes));
        sends.chain((0..ranks - 1).map(Op::wait)).collect()
    };
    let receive = |bytes| vec![Op::recv(Envelope::world(0, 0), bytes)];
    for (bytes, alone, next) in [(1000, 3.0, 1.5), (100_000, 105.0, 101.0)] {
        let scatter: Vec<Vec<Op>> = std::iter::once(sends(5, bytes)).chain((1..5).map(|_| receive(bytes))).collect();
        assert_eq!(end(&scatter), alone + 3.0 * next, "from one rank, {bytes} B");
        let receives =
            (1..5).map(|from| Op::irecv(Envelope::world(from, 0), bytes)).chain((0..4).map(Op::wait)).collect();
        let send = vec![Op::send(Envelope::world(0, 0), bytes)];
        let gather: Vec<Vec<Op>> = std::iter::once(receives).chain((1..5).map(|_| send.clone())).collect();
        assert_eq!(end(&gather), alone + 3.0 * next, "to one rank, {bytes} B");
    }
}

#[test]
fn a_long_message_waits_for_its_receive() {
    use crate::units::Time;
    let late = |bytes| {
        let busy = Op::calc(Time::from_ps(50e6));
        let ranks = [vec![Op::send(Envelope::world(1, 0), bytes)], vec![busy, Op::recv(Envelope::world(0, 0), bytes)]];
        end(&ranks)
    };
    // A short one has arrived: the receiver's part, 2 us without 0.5 us and the copy of 1 us, is left.
    assert_eq!([late(1000), late(100_000)], [50.5, 155.0]);
}

//! The player compared with a simple second implementation of the tables of LogGPS, for random programs.

use proptest::prelude::*;
use rustc_hash::FxHashMap;

use super::tests::{myrinet, ns};
use super::*;
use crate::node::{NodeSpec, ReceiverSharing};
use crate::program::{Envelope, Op, Program, ProgramBuilder};
use crate::units::Bytes;

/// Parameters of two networks [ns, ns/B]: L, o, Oss, Ors, Gs, Osl, Orl, Gl, s, S.
const MYRINET: [f64; 10] = [850.0, 6730.0, 5.02, 4.72, 15.17, 4.80, 3.86, 0.04, 8191.0, 16383.0];
const FAST_ETHERNET: [f64; 10] = [24_580.0, 22_340.0, 12.37, 11.53, 188.77, 9.73, 9.89, 65.09, 1023.0, 16_383.0];

/// A call of a random program; a wait names a call by its position in the same rank. Tags continue from one
/// communicator to the next.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Call {
    Calc(f64),
    Send { to: usize, tag: u32, bytes: u64, blocking: bool },
    Recv { from: usize, tag: u32, bytes: u64, blocking: bool },
    Wait(usize),
}

/// The equations of tables 3 and 4 with the parameters of a network.
struct Tables([f64; 10]);

impl Tables {
    /// Returns the time of the sender, between the ends and of the receiver, and the time of a rendezvous
    /// beside the wait (the o of T4, and T5).
    fn pieces(&self, bytes: u64) -> (f64, f64, f64, Option<f64>) {
        let [l, o, oss, ors, gs, osl, orl, gl, s, sync] = self.0;
        let k = bytes as f64;
        let wire = l + if k <= s { k * gs } else { s * gs + (k - s) * gl };
        if k <= sync {
            (o + k * oss, wire, o + k * ors, None)
        } else {
            (o + k * osl, wire, o + k * orl, Some(o + (o + l + o)))
        }
    }

    /// Returns the end of the sender's call from the times at which it and the receive were called; `None` if
    /// it depends on the receive, which has not been called.
    fn send_ends(&self, bytes: u64, ts: f64, tr: Option<f64>) -> Option<f64> {
        let [l, o, ..] = self.0;
        let (t1, _, _, handshake) = self.pieces(bytes);
        match handshake {
            None => Some(ts + t1),
            Some(handshake) => Some((ts + o + l).max(tr?) + handshake + t1),
        }
    }

    fn recv_ends(&self, bytes: u64, ts: f64, tr: f64) -> f64 {
        let (_, t2, t3, handshake) = self.pieces(bytes);
        let leaves = self.send_ends(bytes, ts, Some(tr)).unwrap();
        if handshake.is_some() { leaves + t2 + t3 } else { (leaves + t2).max(tr) + t3 }
    }

    /// Returns the end of each rank; `None` if it does not end.
    fn ends(&self, ranks: &[Vec<Call>]) -> Vec<Option<f64>> {
        let o = self.0[1];
        // The n-th send from a rank to another with a tag meets the n-th receive of it: the times of both
        // calls.
        let (mut sends, mut recvs) = (FxHashMap::<_, Vec<(f64, u64)>>::default(), FxHashMap::<_, Vec<f64>>::default());
        let mut places: Vec<Vec<usize>> = ranks.iter().map(|calls| vec![0; calls.len()]).collect();
        let mut called: Vec<Vec<Option<f64>>> = ranks.iter().map(|calls| vec![None; calls.len()]).collect();
        let mut at = vec![(0, 0.0); ranks.len()];
        let mut moved = true;
        while std::mem::take(&mut moved) {
            for (rank, calls) in ranks.iter().enumerate() {
                while let Some(&call) = calls.get(at[rank].0) {
                    let (place, now) = at[rank];
                    if called[rank][place].is_none() {
                        called[rank][place] = Some(now);
                        match call {
                            Call::Send { to, tag, bytes, .. } => {
                                let all = sends.entry((rank, to, tag)).or_default();
                                places[rank][place] = all.len();
                                all.push((now, bytes));
                            }
                            Call::Recv { from, tag, .. } => {
                                let all = recvs.entry((from, rank, tag)).or_default();
                                places[rank][place] = all.len();
                                all.push(now);
                            }
                            _ => {}
                        }
                    }
                    let done = |of: usize| {
                        let (n, ti) = (places[rank][of], called[rank][of].unwrap());
                        match calls[of] {
                            Call::Send { to, tag, bytes, .. } => {
                                let tr = recvs.get(&(rank, to, tag)).and_then(|all| all.get(n).copied());
                                self.send_ends(bytes, ti, tr)
                            }
                            Call::Recv { from, tag, .. } => {
                                let &(ts, bytes) = sends.get(&(from, rank, tag))?.get(n)?;
                                Some(self.recv_ends(bytes, ts, ti))
                            }
                            _ => None,
                        }
                    };
                    let end = match call {
                        Call::Calc(time) => Some(now + time),
                        Call::Send { blocking: true, .. } | Call::Recv { blocking: true, .. } => done(place),
                        Call::Send { .. } | Call::Recv { .. } => Some(now + o),
                        Call::Wait(of) => done(of).map(|end| end.max(now + o)),
                    };
                    let Some(end) = end else { break };
                    at[rank] = (place + 1, end);
                    moved = true;
                }
            }
        }
        at.iter().zip(ranks).map(|(&(place, now), calls)| (place == calls.len()).then_some(now)).collect()
    }
}

/// Number of tags of each communicator.
const TAGS: u32 = 3;

/// Returns an envelope in the communicator of all ranks, or in one that has them in the opposite order.
fn envelope(peer: usize, tag: u32) -> Envelope {
    Envelope { comm: tag / TAGS, ..Envelope::world(peer as u32, tag % TAGS) }
}

/// Builds the player's program from calls.
fn built(ranks: &[Vec<Call>]) -> Program {
    let mut program = ProgramBuilder::new(ranks.len() as u32);
    assert_eq!(program.communicator((0..ranks.len() as u32).rev().collect::<Vec<_>>()), 1);
    for (number, calls) in ranks.iter().enumerate() {
        let mut rank = program.sequence(number as u32);
        for &call in calls {
            rank.push(match call {
                Call::Calc(time) => Op::calc(ns(time)),
                Call::Send { to, tag, bytes, blocking: true } => Op::send(envelope(to, tag), bytes),
                Call::Send { to, tag, bytes, .. } => Op::isend(envelope(to, tag), bytes),
                Call::Recv { from, tag, bytes, blocking: true } => Op::recv(envelope(from, tag), bytes),
                Call::Recv { from, tag, bytes, .. } => Op::irecv(envelope(from, tag), bytes),
                Call::Wait(of) => Op::wait(of as u32),
            });
        }
        program.finish_rank(rank);
    }
    program.build().unwrap()
}

/// Creates a random program. Messages are in an order in which both ends call them, and waits for
/// non-blocking calls come somewhere later. Some neighbouring calls of a rank are exchanged, so that receives
/// ask for messages in another order than they were sent. Half of the messages are as long as one of
/// `limits`, or a byte shorter or longer; the rest have any length, or none.
fn random(seed: u64, limits: &[u64]) -> Vec<Vec<Call>> {
    let mut state = seed;
    let mut below = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    let count = 2 + below(6) as usize;
    // Waits do not know the positions of calls yet: each call that is waited for has a number.
    let mut ranks: Vec<Vec<(Call, Option<usize>)>> = vec![Vec::new(); count];
    let mut open: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut requests = 0;
    for _ in 0..4 + below(40) {
        let from = below(count as u64) as usize;
        let to = (from + 1 + below(count as u64 - 1) as usize) % count;
        let tag = below(2 * u64::from(TAGS)) as u32;
        let bytes = match below(6) {
            0..3 => (limits[below(limits.len() as u64) as usize] + below(3)).saturating_sub(1),
            3 => below(2000),
            4 => below(200_000),
            _ => 0,
        };
        for (rank, sends) in [(from, true), (to, false)] {
            if below(3) == 0 {
                ranks[rank].push((Call::Calc(below(200_000) as f64), None));
            }
            let blocking = below(2) == 0;
            let call = match sends {
                true => Call::Send { to, tag, bytes, blocking },
                false => Call::Recv { from, tag, bytes, blocking },
            };
            ranks[rank].push((call, (!blocking).then_some(requests)));
            if !blocking {
                open[rank].push(requests);
                requests += 1;
            }
            if !open[rank].is_empty() && below(3) == 0 {
                let which = below(open[rank].len() as u64) as usize;
                let request = open[rank].swap_remove(which);
                ranks[rank].push((Call::Wait(request), None));
            }
        }
    }
    let exchanges = [0, 1, 3, 12][below(4) as usize];
    let finished = ranks.into_iter().zip(open).map(|(mut calls, open)| {
        calls.extend(open.into_iter().map(|request| (Call::Wait(request), None)));
        for _ in 0..exchanges {
            let at = below(calls.len().max(2) as u64 - 1) as usize;
            if let Some([(a, started), (b, _)]) = calls.get(at..at + 2).map(|pair| [pair[0], pair[1]])
                && !matches!((b, started), (Call::Wait(request), Some(started)) if request == started)
                && !same_messages(a, b)
            {
                calls.swap(at, at + 1);
            }
        }
        let place = |request| calls.iter().position(|(_, started)| *started == Some(request)).unwrap();
        let number = |&(call, _): &(Call, _)| match call {
            Call::Wait(request) => Call::Wait(place(request)),
            call => call,
        };
        calls.iter().map(number).collect()
    });
    finished.collect()
}

/// Returns true if two calls must keep their order: with the same peer and tag, lengths are matched in order.
fn same_messages(a: Call, b: Call) -> bool {
    match (a, b) {
        (Call::Send { to: p, tag: x, .. }, Call::Send { to: q, tag: y, .. }) => (p, x) == (q, y),
        (Call::Recv { from: p, tag: x, .. }, Call::Recv { from: q, tag: y, .. }) => (p, x) == (q, y),
        _ => false,
    }
}

fn network([l, o, oss, ors, gs, osl, orl, gl, s, sync]: [f64; 10]) -> crate::node::LogGpsSpec {
    let per_byte = |ns: f64| crate::units::PerByte::from_ps(ns * 1e3).into();
    crate::node::LogGpsSpec {
        latency: ns(l).into(),
        o: ns(o).into(),
        oss: per_byte(oss),
        ors: per_byte(ors),
        gs: per_byte(gs),
        osl: per_byte(osl),
        orl: per_byte(orl),
        gl: Some(per_byte(gl)),
        s: Some(Bytes(s as u64).into()),
        sync: Bytes(sync as u64).into(),
        receiver_sharing: ReceiverSharing::Off,
        ..myrinet()
    }
}

fn played(ranks: &[Vec<Call>], node: crate::node::LogGpsSpec) -> Played {
    let program = built(ranks);
    let costs = NodeSpec::Loggps(node).costs().unwrap();
    let play = Play { program: &program, costs, expand: None, cpu_speed: 1.0, on_fabric: false };
    Player::new(play, Observers::default()).run(&|_, _| true)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn random_programs_take_what_the_equations_say(seed in any::<u64>(), ethernet in any::<bool>()) {
        let ranks = random(seed, &[1023, 8191, 16_383]);
        let parameters = if ethernet { FAST_ETHERNET } else { MYRINET };
        let expected = Tables(parameters).ends(&ranks);
        let found = played(&ranks, network(parameters));
        for (rank, expected) in expected.iter().enumerate() {
            let stuck = found.stuck.iter().any(|stuck| stuck.rank.0 as usize == rank);
            prop_assert_eq!(stuck, expected.is_none(), "rank {} of {:?}", rank, ranks);
            if let Some(expected) = expected {
                let end = found.ranks[rank].end.ps() / 1e3;
                prop_assert!((end - expected).abs() < 1e-3, "rank {rank} at {end}, not {expected} ns: {ranks:?}");
            }
        }
    }

    #[test]
    fn a_program_that_ends_with_every_send_synchronous_ends_with_every_buffer(seed in any::<u64>(), room in 0..200_000_u64) {
        let ranks = random(seed, &[8191, 16_383, room]);
        prop_assume!(ends_synchronously(&ranks));
        for room in [0, 1, 1000, 16_382, 16_383, 16_384, room.saturating_sub(1), room, room + 1] {
            prop_assert_eq!(played(&ranks, with_room(room)).stuck, vec![], "{} B: {:?}", room, ranks);
        }
    }

    #[test]
    fn room_for_all_messages_is_as_good_as_any_room(seed in any::<u64>()) {
        let ranks = random(seed, &[8191, 16_383]);
        let ends = |node| played(&ranks, node).ranks.iter().map(|rank| rank.end).collect::<Vec<_>>();
        prop_assert_eq!(ends(with_room(1 << 30)), ends(network(MYRINET)), "{:?}", ranks);
    }
}

fn with_room(room: u64) -> crate::node::LogGpsSpec {
    crate::node::LogGpsSpec { eager_buffer: Some(Bytes(room).into()), ..network(MYRINET) }
}

/// Returns true if a program ends when every send, even an empty one, waits for its receive.
fn ends_synchronously(ranks: &[Vec<Call>]) -> bool {
    let mut synchronous = MYRINET;
    (synchronous[8], synchronous[9]) = (0.0, -1.0);
    Tables(synchronous).ends(ranks).iter().all(Option::is_some)
}

/// The random programs are of all kinds that the properties above need: programs that end with synchronous
/// sends, and with limited room that has an effect; programs that do not end; receives in another order than
/// their messages were sent in.
#[test]
fn random_programs_are_of_all_kinds() {
    let (mut ending, mut felt, mut stuck, mut overtaken) = (0, 0, 0, 0);
    for seed in 0..400 {
        let ranks = random(u64::wrapping_mul(seed, 0x9e37_79b9_7f4a_7c15), &[8191, 16_383]);
        if ends_synchronously(&ranks) {
            ending += 1;
            let end = |node| played(&ranks, node).makespan();
            felt += u32::from(end(with_room(20_000)) > end(network(MYRINET)));
        }
        stuck += u32::from(Tables(MYRINET).ends(&ranks).iter().any(Option::is_none));
        overtaken += u32::from(overtakes(&ranks));
    }
    assert!(ending > 80 && felt > 30 && stuck > 20 && overtaken > 80, "{ending} {felt} {stuck} {overtaken}");
}

/// Returns true if a rank receives the messages of another rank in another order of tags than they are sent
/// in.
fn overtakes(ranks: &[Vec<Call>]) -> bool {
    let tags_of = |rank: usize, peer: usize, sent: bool| -> Vec<u32> {
        let tag = |call: &Call| match *call {
            Call::Send { to, tag, .. } if sent && to == peer => Some(tag),
            Call::Recv { from, tag, .. } if !sent && from == peer => Some(tag),
            _ => None,
        };
        ranks[rank].iter().filter_map(tag).collect()
    };
    let pairs = (0..ranks.len()).flat_map(|from| (0..ranks.len()).map(move |to| (from, to)));
    pairs.into_iter().any(|(from, to)| tags_of(from, to, true) != tags_of(to, from, false))
}

#[test]
fn a_buffer_that_is_full_of_what_is_asked_for_later_stops_nobody() {
    // Rank 1 fills the room at rank 2, which asks for the message of rank 0 first.
    let send = |bytes| Call::Send { to: 2, tag: 0, bytes, blocking: true };
    let recv = |from, bytes| Call::Recv { from, tag: 0, bytes, blocking: true };
    let program =
        [vec![Call::Calc(100_000.0), send(16_383)], vec![send(16_383)], vec![recv(0, 16_383), recv(1, 16_383)]];
    let node = crate::node::LogGpsSpec { eager_buffer: Some(Bytes(16_383).into()), ..network(MYRINET) };
    let found = played(&program, node);
    assert_eq!(found.stuck, []);
    // The message of rank 0 uses a rendezvous, with the overheads of long messages: T4 + T5 + T1' + T2' +
    // T3'.
    let [l, o, _, _, gs, osl, orl, gl, ..] = MYRINET;
    let k = 16_383.0;
    let (handshake, t2) = (2.0 * (o + l + o), l + 8191.0 * gs + (k - 8191.0) * gl);
    let expected = 100_000.0 + handshake + (o + k * osl) + t2 + (o + k * orl) + (o + k * 4.72);
    let end = found.ranks[2].end.ps() / 1e3;
    assert!((end - expected).abs() < 1e-3, "{end} ns, not {expected} ns");
}

#[test]
fn gaussian_elimination_in_pieces_ends_with_every_buffer() {
    let program = crate::program::GaussianElimination { n: 512, fragment: Some(Bytes(2047)), ..Default::default() };
    let program = program.program().unwrap();
    let makespan = |room: Option<u64>| {
        let mut node = network(MYRINET);
        (node.s, node.sync) = (None, Bytes(2047).into());
        node.eager_buffer = room.map(|room| Bytes(room).into());
        let costs = NodeSpec::Loggps(node).costs().unwrap();
        let play = Play { program: &program, costs, expand: None, cpu_speed: 1.0, on_fabric: false };
        let played = Player::new(play, Observers::default()).run(&|_, _| true);
        assert_eq!(played.stuck, []);
        played.makespan()
    };
    let free = makespan(None);
    let limited = [0, 2047, 4000, 6141, 20_470].map(|room| makespan(Some(room)));
    assert!(limited[0] > free && limited[1] > free, "{limited:?} {free}");
    assert_eq!(makespan(Some(10_000_000)), free);
}

#[test]
fn a_short_message_does_not_wait_for_the_bytes_of_a_long_one_with_another_tag() {
    let send = |tag, bytes| Call::Send { to: 1, tag, bytes, blocking: true };
    let recv = |tag, bytes| Call::Recv { from: 0, tag, bytes, blocking: true };
    let program = [vec![send(1, 9000), send(2, 10)], vec![recv(2, 10)]];
    // Equation 7 from the time of sending, after T1 of the first message: (o + 9000 Oss) + (o + 10 Oss) + (10
    // Gs + L) + (o + 10 Ors) = 66.469 us.
    let expected = (6730.0 + 9000.0 * 5.02) + (6730.0 + 50.2) + (151.7 + 850.0) + (6730.0 + 47.2);
    let end = played(&program, network(MYRINET)).ranks[1].end.ps() / 1e3;
    assert!((end - expected).abs() < 1e-3, "{end} ns, not {expected} ns");
    assert_eq!((expected / 100.0).round(), 665.0);
    assert_eq!(Tables(MYRINET).ends(&program)[1].map(|end| (end - expected).abs() < 1e-6), Some(true));
}

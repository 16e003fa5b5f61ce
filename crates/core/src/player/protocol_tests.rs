//! Messages by themselves: two ranks that only send and receive, and the requests that the steps of a message
//! make.

use super::activity::{ActivityKind, Observers};
use super::clock::{Clock, Event, MessageEvent};
use super::ledger::Ledger;
use super::protocol::{Protocol, RankRequest};
use crate::ids::RankId;
use crate::node::{NodeSpec, Role};
use crate::program::Envelope;
use crate::units::Time;

/// Costs: L = 100, o = 10, Oss = 1, Ors = 2, Gs = 3, Osl = 4, Orl = 5, S = 1000 \[ns, B\].
const NODE: &str = r#"
    [loggps]
    L = "100 ns"
    o = "10 ns"
    Oss = "1 ns/B"
    Ors = "2 ns/B"
    Gs = "3 ns/B"
    Osl = "4 ns/B"
    Orl = "5 ns/B"
    S = "1000 B"
    receiver-sharing = false
"#;

struct Bench {
    protocol: Protocol,
    clock: Clock,
    ledger: Ledger<'static>,
    /// Calls that are done: rank, operation, time \[ns\].
    done: Vec<(u32, u32, f64)>,
    /// Processor time that was requested: rank, kind, time \[ns\].
    processors: Vec<(u32, ActivityKind, f64)>,
}

impl Bench {
    fn new(more: &str, has_processors: bool) -> Self {
        let node: NodeSpec = crate::reading::from_toml(&format!("{NODE}{more}")).unwrap();
        Self {
            protocol: Protocol::new(node.costs().unwrap(), false, [has_processors; 2].into_iter()),
            clock: Clock::default(),
            ledger: Ledger::new(2, Observers::default()),
            done: Vec::new(),
            processors: Vec::new(),
        }
    }

    fn send(&mut self, op: u32, bytes: u64) {
        let asked =
            self.protocol.send(RankId(0), op, Envelope::world(1, 0), (bytes, false, Role::OneWay), &mut self.clock);
        self.ask(asked.into());
    }

    fn recv(&mut self, op: u32) {
        let asked = self.protocol.recv(RankId(1), op, Envelope::world(0, 0), &mut self.clock);
        self.ask(asked.into());
    }

    fn ask(&mut self, asks: RankRequest) {
        match asks {
            RankRequest::Nothing => {}
            RankRequest::Processor(time) => {
                self.processors.push((time.rank.0, time.kind, time.time.ps() / 1e3));
                self.clock.set_message(time.begin + time.time, time.then);
            }
            RankRequest::Done(rank, op, done) => self.done.push((rank.0, op, done.end.ps() / 1e3)),
            RankRequest::Match(message) => {
                let Some((mut matched, dst)) = self.protocol.envelope_arrives(message) else { return };
                assert_eq!(dst, RankId(1));
                loop {
                    if let Some(receive) = matched.receive {
                        let asked = self.protocol.join(matched.message, receive, &mut self.clock);
                        self.ask(asked.into());
                    }
                    if !matched.more {
                        return;
                    }
                    let Some(next) = self.protocol.next_envelope(message) else { return };
                    matched = next;
                }
            }
        }
    }

    /// Executes all events before this time \[ns\], and advances the clock to it.
    fn until(&mut self, ns: f64) {
        let end = Time::from_ps(ns * 1e3);
        while self.clock.next() < end {
            let Some(Event::Message(event)) = self.clock.tick() else { panic!("nothing but messages is here") };
            let asks = self.protocol.step(event, &mut self.clock, &mut self.ledger);
            self.ask(asks);
        }
        self.clock.pass(end);
    }
}

#[test]
fn a_short_message_leaves_when_its_overhead_is_over_and_waits_for_its_receive() {
    let mut bench = Bench::new("", false);
    bench.send(7, 100);
    bench.until(5000.0);
    // o + k Oss.
    assert_eq!(bench.done, [(0, 7, 110.0)]);
    assert_eq!((bench.protocol.unexpected(), bench.protocol.delivered), (1, 0));
    bench.recv(8);
    bench.until(9000.0);
    // The receive is called at 5000: o + k Ors.
    assert_eq!(bench.done[1..], [(1, 8, 5210.0)]);
    assert_eq!((bench.protocol.unexpected(), bench.protocol.delivered, bench.protocol.bytes), (0, 1, 100));
}

#[test]
fn a_receive_that_is_there_first_ends_when_the_bytes_are_taken_in() {
    let mut bench = Bench::new("", false);
    bench.recv(8);
    bench.send(7, 100);
    bench.until(9000.0);
    // T1 + T2 + T3 = (10 + 100) + (300 + 100) + (10 + 200).
    assert_eq!(bench.done, [(0, 7, 110.0), (1, 8, 720.0)]);
}

#[test]
fn a_long_message_asks_before_it_leaves() {
    let mut bench = Bench::new("", false);
    bench.send(7, 2000);
    bench.until(1000.0);
    assert_eq!(bench.done, []);
    bench.recv(8);
    bench.until(50_000.0);
    // From tr on: 2 o, L, o, then T1' + T2' + T3' = (10 + 8000) + (6000 + 100) + (10 + 10000).
    let agreed = 1000.0 + 20.0 + 100.0 + 10.0;
    assert_eq!(bench.done, [(0, 7, agreed + 8010.0), (1, 8, agreed + 8010.0 + 6100.0 + 10_010.0)]);
}

#[test]
fn ranks_with_processors_are_asked_for_their_time() {
    let mut bench = Bench::new("", true);
    bench.recv(8);
    bench.send(7, 2000);
    bench.until(50_000.0);
    use ActivityKind::{RecvOverhead, SendOverhead, Sync};
    let expected =
        [(0, Sync, 10.0), (1, Sync, 20.0), (0, Sync, 10.0), (0, SendOverhead, 8010.0), (1, RecvOverhead, 10_010.0)];
    assert_eq!(bench.processors, expected);
    assert_eq!(bench.done.len(), 2);
}

#[test]
fn a_message_that_finds_no_room_asks_and_one_that_is_taken_makes_room() {
    let mut bench = Bench::new("eager-buffer = \"150 B\"", false);
    bench.send(0, 100);
    bench.send(1, 100);
    bench.until(5000.0);
    // The second waits for its receive.
    assert_eq!(bench.done, [(0, 0, 110.0)]);
    bench.recv(0);
    bench.until(10_000.0);
    bench.send(2, 100);
    bench.until(20_000.0);
    // The third message found room, but overtakes none: its envelope is behind the second's.
    assert_eq!(bench.done[1..], [(1, 0, 5210.0), (0, 2, 10_110.0)]);
    bench.recv(1);
    bench.recv(2);
    bench.until(50_000.0);
    assert_eq!(bench.done.iter().filter(|(rank, ..)| *rank == 1).map(|&(_, op, _)| op).collect::<Vec<_>>(), [0, 2, 1]);
    assert_eq!((bench.protocol.unexpected(), bench.protocol.delivered), (0, 3));
}

#[test]
fn g_is_kept_between_sends_and_between_receives_of_a_rank() {
    let mut bench = Bench::new("g = \"1 us\"", false);
    for op in 0..3 {
        bench.recv(op);
    }
    for op in 0..3 {
        bench.send(op, 0);
    }
    bench.until(50_000.0);
    let ends = |rank| bench.done.iter().filter(|done| done.0 == rank).map(|done| done.2).collect::<Vec<_>>();
    assert_eq!((ends(0), ends(1)), (vec![10.0, 1010.0, 2010.0], vec![120.0, 1120.0, 2120.0]));
}

#[test]
fn a_stale_timer_of_shared_bandwidth_means_nothing() {
    let mut bench = Bench::new("", false);
    bench.protocol = {
        let node: NodeSpec = crate::reading::from_toml(&NODE.replace("receiver-sharing = false", "")).unwrap();
        Protocol::new(node.costs().unwrap(), false, [false; 2].into_iter())
    };
    bench.recv(0);
    bench.recv(1);
    bench.send(0, 100);
    bench.send(1, 100);
    bench.clock.set_message(Time::from_ps(1.0), MessageEvent::Through(RankId(1), 99));
    bench.until(50_000.0);
    // Both gaps of 300 ns flow at the same time, at half the speed: 110 + 100 + 600 + 210.
    assert_eq!(bench.done[2..], [(1, 0, 1020.0), (1, 1, 1020.0)]);
}

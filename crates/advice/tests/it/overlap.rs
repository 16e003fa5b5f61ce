//! Reach of communications, compared with the algorithm of the paper carried out element by element.

use super::common::{Access, Recorded, Spreads, access, run_of};
use hayase_advice::model::{CallPart, Dependence};
use hayase_advice::overlap::{Limits, Spread};
use hayase_advice::watch::Blocker;
use hayase_trace::{Call, CallKind, Event};
use proptest::prelude::*;

const EVERYTHING: Limits = Limits { ahead: 1 << 40, back: 1 << 40, named: 8, detailed: u64::MAX };

/// Creates a send or receive of `bytes` at `buffer`.
fn message(call: Call, buffer: u64, bytes: u64, peer: i32) -> Event {
    Event { peer, tag: 1, bytes, element: 1, buffer, site: 1, ..Event::new(call, 0, 0) }
}

fn spread_of(recorded: &Recorded, limits: Limits, event: u64) -> Spread {
    run_of(recorded, limits).into_iter().find(|spread| spread.event == event).expect("the event communicates")
}

/// Returns the block before a communication, if neither arguments nor branches count.
fn before(spread: &Spread) -> Blocker {
    spread.beyond.as_ref().map_or(spread.early.block, |beyond| beyond.block)
}

/// Returns the positions of the blockers before and after: an access of an interval, or `None` for an event.
///
/// As in the paper, neither arguments nor branches count.
fn ends(spread: &Spread) -> Spreads {
    let position = |stamp: (u64, u64)| (stamp.0, (stamp.1 != u64::MAX).then_some(stamp.1));
    let before = before(spread);
    ((before.dependence, position(before.stamp)), (spread.late.block.dependence, position(spread.late.block.stamp)))
}

/// Returns the last receive before an event whose bytes are partly read in between.
fn last_read(recorded: &Recorded, event: u64) -> Option<u64> {
    let is_read = |receive: &Event, one: &Access| {
        !one.write && one.address < receive.buffer + receive.bytes && receive.buffer < one.address + one.size
    };
    (1..event).rev().find(|&number| {
        let receive = &recorded.events[number as usize];
        let between = recorded.intervals[number as usize + 1..=event as usize].iter().flatten();
        receive.call == Call::Recv && between.into_iter().any(|one| is_read(receive, one))
    })
}

/// True if an access or event writes a variable that is read among the last accesses before `event`.
fn writes_what_is_read_last(recorded: &Recorded, event: u64, (number, position): (u64, u64)) -> bool {
    let call = &recorded.events[number as usize];
    let received = Access { site: 1, address: call.buffer, size: call.bytes, write: call.call == Call::Recv };
    let write = *recorded.intervals[number as usize].get(position as usize).unwrap_or(&received);
    let mut last = recorded.intervals[event as usize].iter().rev().take(16).filter(|one| !one.write);
    let touches = |one: &Access| one.address < write.address + write.size && write.address < one.address + one.size;
    write.write && last.any(touches)
}

/// Returns the numbers of accesses before and after that could overlap.
fn both(spread: &Spread) -> (u64, u64) {
    (spread.early.accesses, spread.late.accesses)
}

/// Place, access, and the event that makes it, if any.
type Happening = ((u64, Option<u64>), Access, Option<usize>);

/// Carries out figure 5: compares with every event, one element at a time.
fn brute_force(recorded: &Recorded, event: u64) -> Spreads {
    let calls = &recorded.events;
    let this = &calls[event as usize];
    let receives = this.call.kind() == CallKind::Recv;
    let mine = |address: u64| (this.buffer..this.buffer + this.bytes).contains(&address);
    let touches = |access: &Access| (access.address..access.address + access.size).any(mine);
    let kind = |write: bool, first: bool| match (write, receives) {
        (false, false) => None,
        (true, true) => Some(Dependence::Output),
        (true, false) => Some(if first { Dependence::Flow } else { Dependence::Anti }),
        (false, true) => Some(if first { Dependence::Anti } else { Dependence::Flow }),
    };
    // All accesses in order; an event counts as an access to its whole buffer.
    let mut all: Vec<Happening> = Vec::new();
    for (number, accesses) in recorded.intervals.iter().enumerate() {
        for (position, one) in accesses.iter().enumerate() {
            all.push(((number as u64, Some(position as u64)), *one, None));
        }
        if let Some(call) = calls.get(number) {
            let write = call.call.kind() == CallKind::Recv;
            let whole = Access { site: 0, address: call.buffer, size: call.bytes, write };
            all.push(((number as u64, None), whole, Some(number)));
        }
    }
    let at = all.iter().position(|(_, _, call)| *call == Some(event as usize)).unwrap();
    let is_message = |call: &Event| matches!(call.call.kind(), CallKind::Send | CallKind::Recv);
    let conflict = |(stamp, one, call): &Happening, first: bool| {
        if let Some(call) = call.map(|call| &calls[call]) {
            match call.call {
                Call::Init | Call::Finalize if first => return Some((Dependence::Program, *stamp)),
                Call::Init | Call::Finalize => return None,
                _ if !is_message(call) => return None,
                _ => {}
            }
            let overtaken = first && call.call == this.call && call.peer == this.peer && call.tag == this.tag;
            let data = kind(one.write, first).filter(|_| touches(one));
            return data.or(overtaken.then_some(Dependence::Order)).map(|dependence| (dependence, *stamp));
        }
        kind(one.write, first).filter(|_| touches(one)).map(|dependence| (dependence, *stamp))
    };
    let before = all[..at].iter().rev().find_map(|one| conflict(one, true));
    let after = all[at + 1..].iter().find_map(|one| conflict(one, false));
    let end = (recorded.intervals.len() as u64, Some(0));
    (before.unwrap_or((Dependence::Program, (0, Some(0)))), after.unwrap_or((Dependence::Program, end)))
}

/// Generates small programs: intervals of loops over few addresses, and sends and receives of few buffers.
fn programs() -> impl Strategy<Value = Recorded> {
    let nest = (0_u32..4, 1000_u64..1060, 1_u64..9, 1_u64..7, -9_i64..9, 1_u64..4, -30_i64..30);
    let interval = prop::collection::vec(nest, 0..4).prop_map(|nests| {
        let mut accesses = Vec::new();
        // Two loops that run interleaved, or one after the other.
        for (site, base, size, count, stride, rounds, jump) in nests {
            let (count, rounds) = (count as i64, rounds as i64);
            for round in 0..rounds {
                for i in 0..count {
                    let address = base.wrapping_add_signed(i * stride + round * jump);
                    accesses.push(access(site, address, size));
                    if site == 3 {
                        accesses.push(access(0, 2000 + i as u64, 1));
                    }
                }
            }
        }
        accesses
    });
    let call = (any::<bool>(), 1000_u64..1050, 1_u64..20, 0_i32..2).prop_map(|(sends, buffer, bytes, peer)| {
        message(if sends { Call::Send } else { Call::Recv }, buffer, bytes, peer)
    });
    let steps = prop::collection::vec((interval, call), 1..12);
    steps.prop_map(|steps| {
        let (mut intervals, mut events) = (vec![Vec::new()], vec![Event::new(Call::Init, 0, 0)]);
        for (interval, event) in steps {
            intervals.push(interval);
            events.push(event);
        }
        intervals.push(Vec::new());
        events.push(Event::new(Call::Finalize, 0, 0));
        Recorded { intervals, events }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn communications_reach_as_far_as_the_papers_algorithm_lets_them(recorded in programs()) {
        for spread in run_of(&recorded, EVERYTHING) {
            let expected = brute_force(&recorded, spread.event);
            let (mut before, mut after) = ends(&spread);
            // If data and order forbid the same event, either is right.
            if before.1 == expected.0.1 { before.0 = expected.0.0; }
            if after.1 == expected.1.1 { after.0 = expected.1.0; }
            prop_assert_eq!((before, after), expected, "event {} of {:?}", spread.event, recorded);
            let read = last_read(&recorded, spread.event).map_or((0, 0), |number| (number, u64::MAX));
            let early = spread.early.block;
            prop_assert!(early.stamp >= read, "{:?} {:?}", spread, read);
            if let Some(beyond) = &spread.beyond {
                prop_assert_eq!(early.dependence, Dependence::Control);
                let decides = early.stamp == read || writes_what_is_read_last(&recorded, spread.event, early.stamp);
                prop_assert!(beyond.block.stamp < early.stamp && decides, "{:?}", spread);
            }
        }
    }

    #[test]
    fn bounds_only_shorten_what_is_found(recorded in programs(), ahead in 0_u64..6, back in 0_u64..6) {
        let limits = Limits { ahead, back, ..EVERYTHING };
        let far = run_of(&recorded, EVERYTHING);
        for near in run_of(&recorded, limits) {
            let far = far.iter().find(|far| far.event == near.event).unwrap();
            let (posted, furthest) = (before(&near), before(far));
            prop_assert!(posted.stamp >= furthest.stamp && near.late.block.stamp <= far.late.block.stamp, "{:?} {:?}", near, far);
            prop_assert!(posted.stamp == furthest.stamp || posted.dependence == Dependence::Limit);
            prop_assert!(near.late.block.stamp == far.late.block.stamp || near.late.block.dependence == Dependence::Limit);
        }
    }
}

/// Address of element `i` of an array of doubles: `1_000_000 * array + 8 i`.
fn element(array: u64, i: u64) -> u64 {
    1_000_000 * array + 8 * i
}

const A: u64 = 1;
const B: u64 = 2;

/// Records an event with accesses before and after it. The sites of `common` are 0: line 10, reads; 1: line
/// 11, writes; 2: line 12, reads; 3: line 13, writes.
fn with(before: Vec<Access>, event: Event, after: Vec<Access>) -> Recorded {
    Recorded {
        intervals: vec![Vec::new(), before, after, Vec::new()],
        events: vec![Event::new(Call::Init, 0, 0), event, Event::new(Call::Finalize, 0, 0)],
    }
}

fn reads(site: u32, array: u64, range: impl Iterator<Item = u64>) -> Vec<Access> {
    range.map(|i| access(site, element(array, i), 8)).collect()
}

#[test]
fn a_send_waits_for_what_it_sends_and_is_awaited_by_what_overwrites_it() {
    // Line 11 writes a[0..100], line 13 b[0..50]; Send a[0..100]; line 12 reads a; line 13 writes b[0..60], then
    // a[0..25].
    let before = [reads(1, A, 0..100), reads(3, B, 0..50)].concat();
    let after = [reads(2, A, 0..100), reads(3, B, 0..60), reads(3, A, 0..25)].concat();
    let recorded = with(before, message(Call::Send, element(A, 0), 800, 1), after);
    let spread = spread_of(&recorded, EVERYTHING, 1);
    assert_eq!(spread.early.block.dependence, Dependence::Flow);
    assert_eq!(spread.early.block.stamp, (1, 99), "the last write of a[99]");
    assert_eq!(spread.late.block.dependence, Dependence::Anti);
    assert_eq!(spread.late.block.stamp, (2, 160), "the first write of a[0]");
    assert_eq!(both(&spread), (50, 160));
    assert_eq!(spread.late.block.address, element(A, 0));
    let line = |line: u32| spread.late.lines.iter().find(|share| share.line == line).copied();
    let lines: Vec<(u64, u64, u64)> =
        spread.late.lines.iter().map(|share| (share.first, share.last, share.of)).collect();
    assert_eq!(lines.len(), 2, "line 12 as a whole, line 13 in part: {lines:?} {:?}", line(0));
    assert!(lines.contains(&(1, 100, 100)) && lines.contains(&(1, 60, 85)), "{lines:?}");
}

#[test]
fn a_receive_is_awaited_by_the_first_that_reads_it_iteration_by_iteration() {
    // Recv r[0..500]; line 12 reads r[999], r[998] ... r[0] of a thousand: 500 iterations do not need it.
    let recorded = with(Vec::new(), message(Call::Recv, element(A, 0), 4000, 1), reads(2, A, (0..1000).rev()));
    let spread = spread_of(&recorded, EVERYTHING, 1);
    assert_eq!((spread.late.block.dependence, spread.late.block.stamp), (Dependence::Flow, (2, 500)));
    let share = spread.late.lines[0];
    assert_eq!((share.first, share.last, share.of), (1, 500, 1000));
    assert_eq!(spread.late.point, (2, 0.5));
}

#[test]
fn a_receive_waits_for_the_last_that_reads_its_buffer() {
    // Line 10 reads r[0..1000] while the receive needs r[0..500] free: iterations 501..1000 can follow the post.
    let recorded = with(reads(0, A, 0..1000), message(Call::Recv, element(A, 0), 4000, 1), Vec::new());
    let spread = spread_of(&recorded, EVERYTHING, 1);
    assert_eq!((spread.early.block.dependence, spread.early.block.stamp), (Dependence::Anti, (1, 499)));
    let share = spread.early.lines[0];
    assert_eq!((share.first, share.last, share.of), (501, 1000, 1000));
    assert_eq!(spread.early.point, (1, 0.5));
}

#[test]
fn output_dependences_count_on_both_sides_of_a_receive() {
    let recorded = with(
        [reads(3, A, 10..11), reads(0, B, 0..5)].concat(),
        message(Call::Recv, element(A, 0), 800, 1),
        [reads(0, B, 0..5), reads(1, A, 99..100)].concat(),
    );
    let spread = spread_of(&recorded, EVERYTHING, 1);
    assert_eq!((spread.early.block.dependence, spread.late.block.dependence), (Dependence::Output, Dependence::Output));
    assert_eq!(both(&spread), (5, 5));
}

#[test]
fn reading_what_is_sent_does_not_stand_in_the_way() {
    let recorded = with(reads(0, A, 0..10), message(Call::Send, element(A, 0), 80, 1), reads(2, A, 0..10));
    let spread = spread_of(&recorded, EVERYTHING, 1);
    assert_eq!(
        (spread.early.block.dependence, spread.late.block.dependence),
        (Dependence::Program, Dependence::Program)
    );
    assert_eq!(both(&spread), (10, 10));
}

#[test]
fn neighbouring_bytes_do_not_stand_in_the_way() {
    let recorded = with(
        reads(1, A, 10..20),
        message(Call::Send, element(A, 0), 80, 1),
        vec![access(1, element(A, 0) - 8, 8), access(1, element(A, 10), 8)],
    );
    assert_eq!(both(&spread_of(&recorded, EVERYTHING, 1)), (10, 2));
    // One byte more on either side does.
    for address in [element(A, 0) - 7, element(A, 10) - 1] {
        let recorded = with(Vec::new(), message(Call::Send, element(A, 0), 80, 1), vec![access(1, address, 8)]);
        assert_eq!(both(&spread_of(&recorded, EVERYTHING, 1)), (0, 0));
    }
}

#[test]
fn a_message_is_not_posted_before_its_predecessor_to_the_same_rank() {
    let send = |buffer, peer| message(Call::Send, element(buffer, 0), 8, peer);
    for (peer, dependence, stamp) in [(1, Dependence::Order, (1, u64::MAX)), (2, Dependence::Program, (0, u64::MAX))] {
        let recorded = Recorded {
            intervals: vec![Vec::new(), reads(0, B, 0..3), reads(0, B, 0..4), Vec::new()],
            events: vec![Event::new(Call::Init, 0, 0), send(A, 1), send(A, peer), Event::new(Call::Finalize, 0, 0)],
        };
        let spread = spread_of(&recorded, EVERYTHING, 2);
        assert_eq!((spread.early.block.dependence, spread.early.block.stamp), (dependence, stamp));
    }
}

#[test]
fn a_message_under_way_is_followed_from_its_wait_and_traced_back_from_its_post() {
    let isend = Event { requests: vec![1], ..message(Call::Isend, element(A, 0), 80, 1) };
    let wait = Event { requests: vec![1], site: 2, ..Event::new(Call::Wait, 0, 0) };
    let recorded = Recorded {
        intervals: vec![
            Vec::new(),
            [reads(1, A, 0..10), reads(0, B, 0..7)].concat(),
            reads(0, B, 0..100),
            [reads(0, B, 0..20), reads(1, A, 9..10)].concat(),
        ],
        events: vec![Event::new(Call::Init, 0, 0), isend, wait, Event::new(Call::Finalize, 0, 0)],
    };
    let spread = spread_of(&recorded, EVERYTHING, 1);
    assert_eq!((spread.part, spread.completion, both(&spread)), (CallPart::Send, 2, (7, 20)));
    assert_eq!((spread.early.block.stamp, spread.late.block.stamp), ((1, 9), (3, 20)));
}

#[test]
fn accesses_recorded_before_the_first_call_lie_behind_init() {
    // Recording begins in `Init`: accesses recorded as before event 0 belong before event 1.
    let recorded = Recorded {
        intervals: vec![reads(1, A, 0..1000), Vec::new(), Vec::new()],
        events: vec![
            Event::new(Call::Init, 0, 0),
            message(Call::Send, element(A, 0), 4000, 1),
            Event::new(Call::Finalize, 0, 0),
        ],
    };
    let spread = spread_of(&recorded, EVERYTHING, 1);
    assert_eq!((spread.early.block.dependence, spread.early.block.stamp), (Dependence::Flow, (1, 499)));
    assert_eq!(spread.early.accesses, 500);
}

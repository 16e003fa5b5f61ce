//! Effects that no call shows: variables on the stack that begin and end, and code without instrumentation.

use super::common::names;
use hayase_advice::doubts::Doubts;
use hayase_advice::model::Dependence;
use hayase_advice::overlap::{Called, Limits, Listener, Posted, Search, Spread};
use hayase_advice::stream::{Steps, TraceState};
use hayase_trace::memory::{AccessKind, Level, Nest, Sink, Site, Writer as MemoryWriter};
use hayase_trace::{Call, Event, Header, Site as CallSite, Writer};

/// Results for each communication: its blockers before and after, and its doubts.
#[derive(Default)]
struct Collector {
    spreads: Vec<Spread>,
    doubts: Vec<Doubts>,
}

impl Listener for Collector {
    fn spread(&mut self, spread: &Spread, _: &TraceState) {
        self.spreads.push(spread.clone());
    }

    fn posted(&mut self, at: &Posted<'_>) {
        self.doubts.push(at.communication.doubts);
    }

    fn call(&mut self, _: &Called<'_>) {}
}

/// Returns the sites of the tests:
/// - 0 reads, 9 writes;
/// - 1: a function begins or ends;
/// - 2: code without instrumentation, 3: a call of a function of such code;
/// - 4 and 5: writes and reads by the call at address 99;
/// - 6: a block begins or ends;
/// - 7 and 8: a window begins and ends.
fn sites() -> [Site; 10] {
    let site = |address, kind, name: &str| Site { address, write: kind != AccessKind::Plain, kind, name: name.into() };
    [
        site(10, AccessKind::Plain, ""),
        site(11, AccessKind::Frame, ""),
        site(12, AccessKind::Opaque, "/usr/lib/libother.so.3"),
        site(13, AccessKind::Opaque, "/home/user/program (a function)"),
        site(99, AccessKind::Call, "MPI_Recv"),
        Site { write: false, ..site(99, AccessKind::Call, "MPI_Alltoallv") },
        site(14, AccessKind::Block, "free"),
        site(15, AccessKind::Hazard, "window"),
        Site { write: false, ..site(16, AccessKind::Hazard, "window") },
        Site { write: true, ..site(17, AccessKind::Plain, "") },
    ]
}

/// Searches a rank that makes these calls, with the recorded accesses before each.
fn heard(events: &[Event], intervals: &[(u64, Vec<Nest>)]) -> (Collector, TraceState) {
    let (mut stream, mut memory) = (Vec::new(), Vec::new());
    let mut writer = Writer::new(&mut stream, &Header::new(0, 2)).unwrap();
    writer.site(0, &CallSite { address: 99, name: "program.c:100".into(), callers: Vec::new() }).unwrap();
    for event in events {
        writer.event(event).unwrap();
    }
    writer.finish().unwrap();
    let mut writer = MemoryWriter::new(&mut memory, &[]).unwrap();
    for site in sites() {
        writer.site(&site);
    }
    for (number, nests) in intervals {
        writer.interval(*number).unwrap();
        for nest in nests {
            writer.nest(nest).unwrap();
        }
    }
    writer.finish(Default::default()).unwrap();
    let mut steps = Steps::new(stream.as_slice(), Some(memory.as_slice()), &names);
    let (mut search, mut heard) = (Search::new(Limits::default()), Collector::default());
    while let Some(step) = steps.next().unwrap() {
        search.step(step, &mut heard);
    }
    let known = steps.finish();
    search.finish(&mut heard, &known);
    (heard, known)
}

fn calls(middle: Event) -> Vec<Event> {
    let event = |call| Event { site: 1, ..Event::new(call, 0, 0) };
    vec![event(Call::Init), event(Call::Barrier), middle, event(Call::Barrier), event(Call::Finalize)]
}

/// Returns ten reads of other memory, at the positions from 0 on.
fn elsewhere() -> Nest {
    Nest::new(0, 8, 0x9000, 0, &[Level { count: 10, stride: 8, step: 1 }])
}

#[test]
fn a_variable_is_no_buffer_before_its_function_begins_and_after_it_has_ended() {
    let send = Event { peer: 1, tag: 1, bytes: 8, element: 8, buffer: 0x1000, site: 1, ..Event::new(Call::Send, 0, 0) };
    let frame = |position| Nest::new(1, 0x100, 0xf80, position, &[]);
    let intervals = [(2, vec![elsewhere(), frame(4)]), (3, vec![elsewhere(), frame(6)])];
    let (heard, _) = heard(&calls(send), &intervals);
    let [spread] = heard.spreads.as_slice() else { panic!("{:?}", heard.spreads) };
    assert_eq!((spread.early.block.dependence, spread.early.block.stamp), (Dependence::Flow, (2, 4)));
    assert_eq!((spread.late.block.dependence, spread.late.block.stamp), (Dependence::Anti, (3, 6)));
    // The begin and end of a block are no computation: only the reads after the one and before the other can overlap.
    assert_eq!((spread.early.accesses, spread.late.accesses), (5, 6));
    for (lines, range) in [&spread.early.lines, &spread.late.lines].into_iter().zip([(6, 10), (1, 6)]) {
        assert_eq!(lines.len(), 1);
        assert_eq!((lines[0].first, lines[0].last, lines[0].of), (range.0, range.1, 10));
    }
}

#[test]
fn calls_of_code_that_is_not_instrumented_are_in_doubt_and_nothing_passes_it() {
    let receive =
        Event { peer: 1, tag: 1, bytes: 8, element: 8, buffer: 0x1000, site: 1, ..Event::new(Call::Recv, 0, 0) };
    let unknown = |site, position| Nest::new(site, 0, 0, position, &[]);
    let intervals = [(2, vec![elsewhere(), unknown(2, 10)]), (3, vec![unknown(2, 0)])];
    let (heard, known) = self::heard(&calls(receive.clone()), &intervals);
    assert!(heard.doubts[0].has(Doubts::FOREIGN) && heard.doubts[0] != Doubts::default(), "{:?}", heard.doubts);
    let spread = &heard.spreads[0];
    assert_eq!((spread.early.block.dependence, spread.early.block.stamp), (Dependence::Opaque, (2, 10)));
    assert_eq!((spread.late.block.dependence, spread.late.block.stamp), (Dependence::Opaque, (3, 0)));
    // Files are named without their folders.
    assert_eq!(known.foreign.keys().collect::<Vec<_>>(), ["libother.so.3", "program"]);

    // Nothing passes a call of a function of such code either, but the program makes the MPI call behind it.
    let intervals = [(2, vec![elsewhere(), unknown(3, 10)])];
    let (heard, _) = self::heard(&calls(receive), &intervals);
    assert!(heard.doubts[0] == Doubts::default(), "{:?}", heard.doubts);
    assert_eq!(heard.spreads[0].early.block.dependence, Dependence::Opaque);
}

/// Creates a receive or a send of eight bytes that no other access touches.
fn message(call: Call) -> Event {
    Event { peer: 1, tag: 1, bytes: 8, element: 8, buffer: 0x1000, site: 1, ..Event::new(call, 0, 0) }
}

/// Creates an access of site `site` to eight bytes.
fn one(site: u32, address: u64, position: u64) -> Nest {
    Nest::new(site, 8, address, position, &[])
}

#[test]
fn what_reads_a_status_stays_behind_the_call_that_writes_it() {
    // Ten reads, the arguments of the receive; then ten reads, of which one is the status, which also decides the
    // next send.
    let events = |middle| {
        let mut events = calls(middle);
        events.insert(3, message(Call::Send));
        events
    };
    let status = one(4, 0x5000, 10);
    let read = Nest::new(0, 8, 0x5000, 10, &[]);
    let intervals = [(2, vec![elsewhere(), status]), (3, vec![elsewhere(), read])];
    let (told, _) = heard(&events(Event { buffer: 0x2000, ..message(Call::Recv) }), &intervals);
    let receive = told.spreads.iter().find(|spread| spread.event == 2).unwrap();
    assert_eq!((receive.late.block.dependence, receive.late.block.stamp), (Dependence::Flow, (3, 10)));
    assert_eq!((receive.early.accesses, receive.late.accesses), (10, 10), "arguments are no computation");
    let send = told.spreads.iter().find(|spread| spread.event == 3).unwrap();
    assert_eq!((send.early.block.dependence, send.early.block.stamp), (Dependence::Control, (2, u64::MAX)));
    assert!(send.beyond.as_ref().unwrap().accesses > send.early.accesses, "to be checked: before the receive");
    // A later write of the status, or the end of its variable, delays nothing.
    let ends = Nest::new(1, 0x100, 0x4f80, 3, &[]);
    let again = [(2, vec![elsewhere(), status]), (3, vec![elsewhere(), ends, status])];
    let (told, _) = heard(&events(Event { buffer: 0x2000, ..message(Call::Recv) }), &again);
    let receive = told.spreads.iter().find(|spread| spread.event == 2).unwrap();
    assert_eq!(receive.late.block.dependence, Dependence::Program);
}

#[test]
fn what_may_decide_a_call_is_there_before_it_even_where_both_move() {
    // Receive; ten reads; a read of the received data; ten reads; a send of other data, which the received data may
    // decide.
    let receive = Event { buffer: 0x2000, ..message(Call::Recv) };
    let mut events = calls(receive);
    events.insert(3, message(Call::Send));
    let reads = [
        elsewhere(),
        Nest::new(0, 8, 0x2000, 10, &[]),
        Nest::new(0, 8, 0xa000, 11, &[Level { count: 10, stride: 8, step: 1 }]),
    ];
    let (told, _) = heard(&events, &[(3, reads.to_vec())]);
    let of = |event| told.spreads.iter().find(|spread| spread.event == event).unwrap();
    let (receive, send) = (of(2), of(3));
    // Each by itself may move to the present place of the other.
    assert_eq!((receive.late.block.stamp, send.early.block.stamp), ((3, 10), (2, u64::MAX)));
    let needs: Vec<u64> = send.needs.iter().map(|need| need.event).collect();
    assert_eq!(needs, [2], "the two must not cross");
}

#[test]
fn a_call_stays_behind_the_write_of_a_variable_that_is_read_just_before_it() {
    // A variable is written and, after ten reads, read: it is an argument of the send, or its condition.
    let variable = |site, position| Nest::new(site, 4, 0x6000, position, &[]);
    let intervals = |last: u64| {
        let loops = Nest::new(0, 8, 0x9000, 11, &[Level { count: 10, stride: 8, step: 1 }]);
        let more = Nest::new(0, 8, 0xa000, 22, &[Level { count: last, stride: 8, step: 1 }]);
        let behind = (last > 1).then_some(more);
        [(2, [elsewhere(), variable(9, 10), loops, variable(0, 21)].into_iter().chain(behind).collect())]
    };
    let (told, _) = heard(&calls(message(Call::Send)), &intervals(1));
    let [send] = told.spreads.as_slice() else { panic!("{:?}", told.spreads) };
    assert_eq!((send.early.block.dependence, send.early.block.stamp), (Dependence::Control, (2, 10)));
    assert!(send.beyond.as_ref().unwrap().accesses > send.early.accesses);
    // Reads before a loop belong to the loop.
    let (told, _) = heard(&calls(message(Call::Send)), &intervals(10));
    assert!(told.spreads[0].beyond.is_none() && told.spreads[0].early.block.stamp < (2, 10), "{:?}", told.spreads);
}

#[test]
fn a_number_that_a_call_takes_by_address_is_read_when_it_is_posted() {
    // The variable is written after the first reads, and again after the call.
    let events = |call| calls(Event { buffer: 0x2000, ..message(call) });
    let argument = one(5, 0x6000, 11);
    let intervals = [(2, vec![elsewhere(), one(9, 0x6000, 10), argument]), (3, vec![elsewhere(), one(9, 0x6000, 10)])];
    let (told, _) = heard(&events(Call::Send), &intervals);
    let [send] = told.spreads.as_slice() else { panic!("{:?}", told.spreads) };
    assert_eq!((send.early.block.dependence, send.early.block.stamp), (Dependence::Control, (2, 10)));
    assert_eq!(send.late.block.dependence, Dependence::Program);
}

#[test]
fn a_probe_that_is_read_decides_what_follows() {
    let probe = Event { site: 1, ..Event::new(Call::Probe, 0, 0) };
    let mut events = calls(probe);
    events.insert(3, message(Call::Send));
    let read = Nest::new(0, 8, 0x5000, 4, &[]);
    let (told, _) = heard(&events, &[(2, vec![elsewhere(), one(4, 0x5000, 10)]), (3, vec![read])]);
    assert_eq!((told.spreads[0].early.block.dependence, told.spreads[0].early.block.stamp.0), (Dependence::Control, 2));
}

#[test]
fn counts_are_read_when_the_call_is_posted() {
    let event = Event {
        counts: vec![4, 4],
        counts2: vec![4, 4],
        bytes: 8,
        buffer: 0x2000,
        buffer2: 0x3000,
        ..message(Call::Alltoallv)
    };
    let writes = Nest::new(6, 8, 0x5000, 7, &[]);
    let (told, _) = heard(&calls(event), &[(2, vec![elsewhere(), writes, one(5, 0x5000, 10)])]);
    assert_eq!(told.spreads[0].early.block.stamp, (2, 7), "the counts are there by then");
}

#[test]
fn a_block_is_no_buffer_once_it_is_freed() {
    let frees = Nest::new(6, 0x100, 0xf80, 6, &[]);
    let (told, _) = heard(&calls(message(Call::Send)), &[(3, vec![elsewhere(), frees])]);
    let [spread] = told.spreads.as_slice() else { panic!("{:?}", told.spreads) };
    assert_eq!((spread.late.block.dependence, spread.late.block.stamp), (Dependence::Anti, (3, 6)));
    assert_eq!(spread.late.accesses, 6);
}

#[test]
fn nothing_passes_a_call_while_others_may_write_memory_of_this_rank() {
    let window = |site| Nest::new(site, 0, 0, 0, &[]);
    let events = |middle| {
        let mut events = calls(middle);
        events.insert(3, message(Call::Send));
        events.insert(4, Event { site: 1, ..Event::new(Call::Barrier, 0, 0) });
        events
    };
    let receive = Event { buffer: 0x2000, ..message(Call::Recv) };
    let (told, _) =
        heard(&events(receive.clone()), &[(1, vec![window(7)]), (3, vec![elsewhere()]), (4, vec![elsewhere()])]);
    for spread in &told.spreads {
        assert!(spread.doubts.has(Doubts::WINDOW), "{spread:?}");
    }
    let send = told.spreads.iter().find(|spread| spread.event == 3).unwrap();
    assert_eq!((send.early.block.dependence, send.early.block.stamp), (Dependence::Opaque, (2, u64::MAX)));
    assert_eq!((send.late.block.dependence, send.late.block.stamp), (Dependence::Opaque, (4, u64::MAX)));
    // After the window is freed, all is as before.
    let freed = [(1, vec![window(7)]), (2, vec![window(8)]), (3, vec![elsewhere()])];
    let (told, _) = heard(&events(receive), &freed);
    let send = told.spreads.iter().find(|spread| spread.event == 3).unwrap();
    assert_eq!((send.doubts, send.late.block.dependence), (Doubts::default(), Dependence::Program));
}

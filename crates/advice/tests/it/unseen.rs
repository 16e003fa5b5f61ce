//! What nobody tells of: variables on the stack that begin and end, and code that is not instrumented.

use super::common::names;
use hayase_advice::calls::Doubts;
use hayase_advice::model::Dependence;
use hayase_advice::overlap::{Called, Limits, Listener, Posted, Search, Spread};
use hayase_advice::stream::{Known, Steps};
use hayase_trace::memory::{Kind, Level, Nest, Sink, Site, Writer as MemoryWriter};
use hayase_trace::{Call, Event, Header, Site as CallSite, Writer};

/// What is found of each communication: what it must stay between, and what is in doubt.
#[derive(Default)]
struct Heard {
    spreads: Vec<Spread>,
    doubts: Vec<Doubts>,
}

impl Listener for Heard {
    fn spread(&mut self, spread: &Spread, _: &Known) {
        self.spreads.push(spread.clone());
    }

    fn posted(&mut self, at: &Posted<'_>) {
        self.doubts.push(at.communication.doubts);
    }

    fn call(&mut self, _: &Called<'_>) {}
}

/// Sites: 0 reads, 1 is where a function begins or ends, 2 is code without instrumentation, 3 a call of a function of
/// such code.
fn sites() -> [Site; 4] {
    let site = |address, kind, name: &str| Site { address, write: kind != Kind::Plain, kind, name: name.into() };
    [
        site(10, Kind::Plain, ""),
        site(11, Kind::Frame, ""),
        site(12, Kind::Opaque, "/usr/lib/libother.so.3"),
        site(13, Kind::Opaque, "/home/user/program (a function)"),
    ]
}

/// A rank that makes these calls, with what is recorded before each.
fn heard(events: &[Event], intervals: &[(u64, Vec<Nest>)]) -> (Heard, Known) {
    let (mut stream, mut memory) = (Vec::new(), Vec::new());
    let mut writer = Writer::new(&mut stream, &Header::new(0, 2)).unwrap();
    writer.site(0, &CallSite { address: 0, name: "program.c:100".into(), callers: Vec::new() }).unwrap();
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
    let (mut search, mut heard) = (Search::new(Limits::default()), Heard::default());
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

/// Ten reads of something else, at the positions from 0 on.
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
    assert_eq!((spread.before.dependence, spread.before.stamp), (Dependence::Flow, (2, 4)));
    assert_eq!((spread.after.dependence, spread.after.stamp), (Dependence::Anti, (3, 6)));
    // Beginning and ending is no computation: what can overlap are the reads behind the one and before the other.
    assert_eq!(spread.accesses, (5, 6));
    for (lines, range) in spread.lines.iter().zip([(6, 10), (1, 6)]) {
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
    assert_eq!((spread.before.dependence, spread.before.stamp), (Dependence::Opaque, (2, 10)));
    assert_eq!((spread.after.dependence, spread.after.stamp), (Dependence::Opaque, (3, 0)));
    // Files are named without their folders.
    assert_eq!(known.foreign.keys().collect::<Vec<_>>(), ["libother.so.3", "program"]);

    // A call of a function of such code is passed by nothing either, but the call of MPI behind it is the program's.
    let intervals = [(2, vec![elsewhere(), unknown(3, 10)])];
    let (heard, _) = self::heard(&calls(receive), &intervals);
    assert!(heard.doubts[0] == Doubts::default(), "{:?}", heard.doubts);
    assert_eq!(heard.spreads[0].before.dependence, Dependence::Opaque);
}

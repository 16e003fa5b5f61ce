//! Recorded programs on their way to replay: the result of each kind of call, and of invalid input.

use std::fmt::Write as _;
use std::path::Path;

use proptest::prelude::*;

use super::calls::{self, Call, Calls, Clock, Communicator, Event, Flags, Header, Item, ItemError};
use super::*;
use crate::diagnostic::{Diagnostic, Invalid, Sources};
use crate::ids::RankId;
use crate::program::{ANY_SOURCE, ANY_TAG, Collective, CollectiveCall, Counts, Envelope, Op, OpKind, Program};
use crate::reading::Input;
use crate::units::Time;

mod actions;
mod threads;

fn text_of(diagnostics: Vec<Diagnostic>) -> String {
    Invalid { diagnostics, sources: Sources::default() }.lines()
}

/// Makes a program from calls. Each rank has a header and the events after it.
fn program(ranks: &[&[Event]]) -> Result<Program, String> {
    let mut program = ToProgram::new("x.hyt", "event");
    let count = ranks.len() as u32;
    let mut feed = || -> Result<(), (u32, u64, ItemError)> {
        for (rank, events) in (0..).zip(ranks) {
            let mut item = |place, item| program.item(rank, place, item).map_err(|wrong| (rank, place, wrong));
            let header = Header::new(rank, count);
            item(0, Item::Header(&header))?;
            for (place, event) in (1..).zip(*events) {
                item(place, Item::Event(event))?;
            }
        }
        Ok(())
    };
    feed().map_err(|(rank, place, wrong)| format!("rank {rank}, event {place}: {}", wrong.message))?;
    program.finish().map_err(text_of)
}

fn at(call: Call, begin: u64, end: u64) -> Event {
    Event::new(call, begin, end)
}

fn message(call: Call, peer: i32, request: Option<u64>) -> Event {
    Event { peer, tag: 7, bytes: 100, requests: request.into_iter().collect(), ..at(call, 0, 0) }
}

fn waits(call: Call, requests: &[u64]) -> Event {
    Event { requests: requests.into(), ..at(call, 0, 0) }
}

fn ops(program: &Program, rank: u32) -> Vec<Op> {
    program.rank(RankId(rank)).ops.clone()
}

fn ns(ns: f64) -> Time {
    Time::from_ps(ns * 1000.0)
}

#[test]
fn the_time_between_calls_is_computed_and_that_inside_is_left_to_the_replay() {
    let init = at(Call::Init, 0, 1_000);
    let send = Event { peer: 1, tag: 7, bytes: 100, ..at(Call::Send, 1_500, 9_000) };
    let program = program(&[
        &[init.clone(), send, at(Call::Finalize, 9_250, 10_000)],
        &[init, Event { cpu: Some(90), ..message(Call::Recv, 0, None) }],
    ])
    .unwrap();
    let to = Envelope::world(1, 7);
    assert_eq!(ops(&program, 0), [Op::calc(ns(500.0)), Op::send(to, 100), Op::calc(ns(250.0))]);
    assert_eq!(ops(&program, 1)[0], Op::calc(ns(90.0)));
    assert_eq!(program.rank(RankId(0)).measured, Some(ns(8250.0)));
    assert_eq!(program.place(RankId(0), 1).as_deref(), Some("x.hyt, event 2"));
}

#[test]
fn the_cost_of_the_clock_is_taken_off() {
    let mut program = ToProgram::new("x", "event");
    let header = Header { empty_gap: 400, clock: Clock::Cpu, ..Header::new(0, 1) };
    program.item(0, 0, Item::Header(&header)).unwrap();
    for cpu in [399, 400, 1400] {
        program.item(0, 1, Item::Event(&Event { cpu: Some(cpu), ..at(Call::Barrier, 0, 0) })).unwrap();
    }
    let program = program.finish().unwrap();
    let barrier = Op::collective(0);
    assert_eq!(ops(&program, 0), [barrier, barrier, Op::calc(ns(1000.0)), barrier]);
    assert_eq!(program.measured(), None, "processor time says nothing about how long the run took");
}

#[test]
fn requests_lead_from_waits_to_what_was_started() {
    let program = program(&[
        &[
            message(Call::Isend, 1, Some(1)),
            message(Call::Irecv, 1, Some(2)),
            message(Call::Isend, Event::PROC_NULL, Some(3)),
            waits(Call::Test, &[]),
            waits(Call::Waitall, &[3, 2, 1]),
        ],
        &[
            message(Call::Irecv, 0, Some(1)),
            waits(Call::Testsome, &[1]),
            message(Call::Send, 0, None),
            message(Call::Recv, Event::PROC_NULL, None),
        ],
    ])
    .unwrap();
    let other = |rank| Envelope::world(rank, 7);
    let first = program.rank(RankId(0));
    assert_eq!(first.ops[..2], [Op::isend(other(1), 100), Op::irecv(other(1), 100)]);
    assert_eq!((first.ops[2].kind, first.list(first.ops[2].arg, 2)), (OpKind::Waitall, &[1, 0][..]));
    assert_eq!(first.ops.len(), 3);
    assert_eq!(ops(&program, 1), [Op::irecv(other(0), 100), Op::wait(0), Op::send(other(0), 100)]);
    assert!(unmatched(&program).is_empty());
}

#[test]
fn persistent_requests_start_again_and_again() {
    let program = program(&[
        &[
            message(Call::SendInit, 1, Some(1)),
            waits(Call::Start, &[1]),
            waits(Call::Wait, &[1]),
            waits(Call::Startall, &[1]),
            waits(Call::Wait, &[1]),
            waits(Call::RequestFree, &[1]),
        ],
        &[message(Call::Recv, 0, None), message(Call::Recv, 0, None)],
    ])
    .unwrap();
    let send = Op::isend(Envelope::world(1, 7), 100);
    assert_eq!(ops(&program, 0), [send, Op::wait(0), send, Op::wait(2)]);
}

#[test]
fn requests_that_end_in_other_ways_leave_what_was_started() {
    let open = |of: Event, peer| Event { flags: Flags::ANY_SOURCE, peer, tag: 7, bytes: 100, ..of };
    let program = program(&[
        &[
            // Requests freed while active, persistent to nobody, and cancelled at the second of two starts.
            message(Call::Isend, 1, Some(1)),
            waits(Call::RequestFree, &[1]),
            message(Call::SendInit, Event::PROC_NULL, Some(2)),
            open(waits(Call::RecvInit, &[3]), -1),
            waits(Call::Start, &[2]),
            open(waits(Call::Start, &[3]), 1),
            waits(Call::Waitall, &[2, 3]),
            open(waits(Call::Start, &[3]), Event::PROC_NULL),
            waits(Call::Wait, &[3]),
        ],
        &[message(Call::Recv, 0, None), message(Call::Send, 0, None)],
    ])
    .unwrap();
    let receive = Op::irecv(Envelope::world(1, 7), 100).marked(Op::OPEN_SOURCE);
    assert_eq!(ops(&program, 0), [Op::isend(Envelope::world(1, 7), 100), receive, Op::wait(1)]);
    assert!(unmatched(&program).is_empty());
}

#[test]
fn a_communicator_that_is_made_in_the_background_is_there_when_it_is_waited_for() {
    let idup = [waits(Call::CommIdup, &[1]), at(Call::Compute, 0, 10), waits(Call::Wait, &[1])];
    let program = program(&[&idup, &idup]).unwrap();
    assert_eq!(ops(&program, 0), [Op::icollective(0), Op::calc(ns(10.0)), Op::wait(0)]);
    assert_eq!(program.collectives[0].call, CollectiveCall::Barrier);
}

#[test]
fn what_the_program_left_open_is_what_came_and_can_be_opened_again() {
    let open = Flags::ANY_SOURCE.and(Flags::ANY_TAG);
    let recv = Event { flags: open, ..message(Call::Recv, 1, None) };
    let program = program(&[&[recv], &[message(Call::Send, 0, None)]]).unwrap();
    let both = Op::OPEN_SOURCE | Op::OPEN_TAG;
    assert_eq!(ops(&program, 0), [Op::recv(Envelope::world(1, 7), 100).marked(both)]);
    assert_eq!(ops(&program.unpinned(), 0), [Op::recv(Envelope::world(ANY_SOURCE, ANY_TAG), 100)]);
    assert_eq!((program.pinned(), program.unpinned().pinned()), (1, 0));
    assert!(unmatched(&program).is_empty() && unmatched(&program.unpinned()).is_empty());
}

#[test]
fn what_nobody_knows_stays_open() {
    let open = Flags::ANY_SOURCE.and(Flags::ANY_TAG);
    let recv = Event { flags: open, ..message(Call::Recv, -1, None) };
    let program = program(&[&[recv], &[message(Call::Send, 0, None)]]).unwrap();
    assert_eq!(ops(&program, 0), [Op::recv(Envelope::world(ANY_SOURCE, ANY_TAG), 100)]);
    assert_eq!(program.pinned(), 0);
}

#[test]
fn both_halves_of_a_sendrecv_go_on_at_once() {
    let both = |peer, peer2| Event { peer2, tag2: 8, bytes2: 50, ..message(Call::Sendrecv, peer, None) };
    let program = program(&[&[both(1, 1), both(1, Event::PROC_NULL)], &[both(0, 0)]]).unwrap();
    let (to, from) = (Envelope::world(1, 7), Envelope::world(1, 8));
    let mark = Op::WITHIN_CALL;
    assert_eq!(
        ops(&program, 0),
        [Op::irecv(from, 50).marked(mark), Op::send(to, 100), Op::wait(0).marked(mark), Op::send(to, 100)]
    );
}

#[test]
fn ranks_of_a_communicator_become_ranks_of_the_world() {
    let mut program = ToProgram::new("x", "event");
    for rank in 0..3 {
        program.item(rank, 0, Item::Header(&Header::new(rank, 3))).unwrap();
        // The index belongs to the rank; the id is the same for all.
        let index = 5 + rank;
        let evens = Communicator { id: 77, members: vec![2, 0], remote: vec![] };
        if rank != 1 {
            program.item(rank, 0, Item::Communicator(index, &evens)).unwrap();
            let bcast = Event { comm: index, peer: 0, bytes: 9, ..at(Call::Bcast, 0, 0) };
            program.item(rank, 1, Item::Event(&bcast)).unwrap();
        }
        let pair = Event {
            comm: index,
            ..message(if rank == 0 { Call::Send } else { Call::Recv }, 1 - rank as i32 / 2, None)
        };
        if rank != 1 {
            let peer = if rank == 0 { 0 } else { 1 };
            program.item(rank, 2, Item::Event(&Event { peer, ..pair })).unwrap();
        }
    }
    let program = program.finish().unwrap();
    assert_eq!(program.communicators.len(), 2);
    assert_eq!(program.collectives.len(), 1, "both call the same thing");
    assert_eq!(ops(&program, 0)[1], Op::send(Envelope { peer: 2, tag: 7, comm: 1 }, 100));
    assert_eq!(ops(&program, 2)[1], Op::recv(Envelope { peer: 0, tag: 7, comm: 1 }, 100));
    assert!(unmatched(&program).is_empty());
}

#[test]
fn peers_of_both_sides_of_an_inter_communicator_are_in_the_other_group() {
    let mut program = ToProgram::new("x", "event");
    let sides = [vec![0, 2], vec![3, 1]];
    for rank in 0..4 {
        program.item(rank, 0, Item::Header(&Header::new(rank, 4))).unwrap();
        let side = usize::from(sides[1].contains(&rank));
        let [members, remote] = [side, 1 - side].map(|side| sides[side].clone());
        program.item(rank, 0, Item::Communicator(5, &Communicator { id: 77, members, remote })).unwrap();
        // 2 sends to 3, and 1 to 0.
        let call = if matches!(rank, 1 | 2) { Call::Send } else { Call::Recv };
        let peer = if matches!(rank, 0 | 3) { 1 } else { 0 };
        let sent = message(call, peer, None);
        let flags = sent.flags.and(Flags::INTER);
        program.item(rank, 1, Item::Event(&Event { comm: 5, flags, ..sent })).unwrap();
    }
    let program = program.finish().unwrap();
    let to = |peer| Envelope { peer, tag: 7, comm: 1 };
    assert_eq!(ops(&program, 2), [Op::send(to(3), 100)]);
    assert_eq!(ops(&program, 1), [Op::send(to(0), 100)]);
    assert!(unmatched(&program).is_empty());
}

#[test]
fn collectives_carry_the_sizes_that_a_rank_knows() {
    let root = |call, peer| Event { peer, bytes: 8, ..at(call, 0, 0) };
    let program = program(&[
        &[
            root(Call::Bcast, 1),
            Event { counts2: vec![8, 3], ..root(Call::Gatherv, 0) },
            Event { counts: vec![1, 2], ..at(Call::Alltoallv, 0, 0) },
            Event { bytes2: 10, ..at(Call::Alltoallv, 0, 0) },
            Event { bytes: 4, requests: vec![1], ..at(Call::Iallreduce, 0, 0) },
            waits(Call::Wait, &[1]),
            at(Call::CommDup, 0, 0),
        ],
        &[Event { bytes: 3, ..root(Call::Gatherv, 0) }],
    ])
    .unwrap();
    let collective = |call, root, counts| Collective { call, comm: 0, root, counts, plan: None };
    let each = |counts: &[u64]| Counts::Each(counts.into());
    assert_eq!(
        program.collectives,
        [
            collective(CollectiveCall::Bcast, 1, Counts::Same(8)),
            collective(CollectiveCall::Gather, 0, each(&[8, 3])),
            collective(CollectiveCall::Alltoall, 0, each(&[1, 2])),
            collective(CollectiveCall::Alltoall, 0, Counts::Same(5)),
            collective(CollectiveCall::Allreduce, 0, Counts::Same(4)),
            collective(CollectiveCall::Barrier, 0, Counts::Same(0)),
            collective(CollectiveCall::Gather, 0, each(&[0, 3])),
        ]
    );
    // A non-blocking collective proceeds until it is waited for.
    assert_eq!(ops(&program, 0)[4..], [Op::icollective(4), Op::wait(4), Op::collective(5)]);
}

#[test]
fn what_makes_no_sense_is_named_with_its_rank_and_event() {
    let send = message(Call::Send, 0, None);
    for (event, what) in [
        (waits(Call::Wait, &[4]), "Wait names request 4, which no call before it has made"),
        (message(Call::Isend, 0, None), "Isend makes 0 requests, not one"),
        (Event { tag: -5, ..send.clone() }, "a message has tag -5"),
        (Event { peer: -7, ..send.clone() }, "there is no rank -7"),
        (Event { comm: 3, ..send.clone() }, "communicator 3 has not been made"),
        (Event { peer: 1, ..at(Call::Bcast, 0, 0) }, "Bcast has root 1, in a communicator of 1"),
        (Event { counts: vec![1, 2], ..at(Call::Alltoallv, 0, 0) }, "has 2 counts for 1 ranks"),
        (waits(Call::Start, &[1]), "Start names request 1"),
    ] {
        let error = program(&[&[at(Call::Init, 0, 0), event]]).unwrap_err();
        assert!(error.starts_with("rank 0, event 2: ") && error.contains(what), "{error}");
    }
    let error = program(&[&[message(Call::Send, 5, None)]]).unwrap_err();
    assert!(error.contains("x.hyt, event 1: send of rank 0 names rank 5"), "{error}");
    let mut missing = ToProgram::new("run", "event");
    missing.item(1, 0, Item::Header(&Header::new(1, 3))).unwrap();
    let error = text_of(missing.finish().unwrap_err());
    assert!(error.contains("`run` has the calls of 1 of 3 ranks; rank 0 is missing"), "{error}");
}

#[test]
fn receives_without_a_message_are_found_with_their_places() {
    let broken = program(&[
        &[message(Call::Recv, 1, None), message(Call::Recv, 1, None)],
        &[message(Call::Send, 0, None), message(Call::Send, 1, None)],
    ])
    .unwrap();
    let found = unmatched(&broken);
    let said = found.unreceived().unwrap();
    let text = text_of(found.receives);
    assert!(
        text.contains("x.hyt, event 2: recv of 100 B from rank 1, tag 7 of rank 0: no message is sent for it"),
        "{text}"
    );
    assert!(
        said.starts_with(
            "1 message is never received, the first x.hyt, event 2: send of 100 B to rank 1, tag 7 of rank 1 or"
        ),
        "{said}"
    );
    // The first mistakes of many are listed, the rest is counted.
    let many = vec![message(Call::Recv, 1, None); 50];
    let text = text_of(unmatched(&program(&[&many, &[]]).unwrap()).receives);
    assert_eq!(text.matches("no message is sent for it").count(), 20);
    assert!(text.contains("30 more mistakes of this kind"), "{text}");
    let open = Event { flags: Flags::ANY_SOURCE, ..message(Call::Recv, -1, None) };
    let text = text_of(unmatched(&program(&[&[open]]).unwrap()).receives);
    assert!(text.contains("rank 0 receives 1 messages from any rank or of any tag, and 0 are left"), "{text}");
}

// --- text traces of the NAS benchmarks
// --------------------------------------------------------------------------------

fn npb(text: &str) -> Result<Program, String> {
    let mut program = ToProgram::new("x.tsv", "line");
    npb::read(&|| Ok(Input::from_bytes("x.tsv", text.into())), &mut program).map_err(text_of)?;
    program.finish().map_err(text_of)
}

const NPB: &str = "#hxtrace-text 1\n#title t\n#ranks 2\n#gap_overhead_ns 400\n#site 0 a.f:3\n#rank 0\n\
    Init\t0\t0\t0\t0\t0\t-\t-1\nIsend\t1400\t1\t5\t64\t0\t1\t0\nWait\t100\t-1\t0\t0\t0\t1\t-1\nBcast\t400\t0\t0\t8\t1\t-\t0\n\
    #rank 1\nInit\t0\t1\t0\t0\t0\t-\t-1\nRecv\t0\t*0\t*5\t64\t0\t-\t0\nBcast\t400\t0\t0\t8\t1\t-\t0\n";

#[test]
fn text_traces_are_read() {
    let program = npb(NPB).unwrap();
    assert_eq!(ops(&program, 0)[..3], [Op::calc(ns(1000.0)), Op::isend(Envelope::world(1, 5), 64), Op::wait(1)]);
    let both = Op::OPEN_SOURCE | Op::OPEN_TAG;
    assert_eq!(ops(&program, 1)[0], Op::recv(Envelope::world(0, 5), 64).marked(both));
    assert_eq!(program.collectives[0].comm, 1, "both make the same calls on it: it has both");
    assert_eq!(program.place(RankId(1), 0).as_deref(), Some("x.tsv:13"));
}

#[test]
fn mistakes_in_text_traces_have_line_and_column() {
    for (from, to, what) in [
        ("Isend", "Isent", "x.tsv:8:1: unknown call `Isent`; write `Isend`"),
        ("1400", "x", "x.tsv:8:7: not a number of nanoseconds"),
        ("1400\t1", "1400\t2", "x.tsv:8:12: not a rank below 2"),
        ("\t64\t", "\t-64\t", "not a number of bytes"),
        ("\t1\t-1\nB", "\t1\nB", "x.tsv:9:1: this line has 7 columns, not 8"),
        ("\t1\t-1\nB", "\t9\t-1\nB", "x.tsv:9:1: Wait names request 9"),
        ("#rank 1", "#rank 2", "x.tsv:11:7: not a whole number below 2"),
        ("#rank 0\n", "", "x.tsv:6:1: an event before it is said whose it is"),
        ("#rank 1", "#rank 0", "rank 0 appears twice"),
        ("#ranks 2", "#ranks 3", "has the calls of 2 of 3 ranks; rank 2 is missing"),
        ("#ranks 2", "#ranks 4294967295", "not a whole number below 16777217"),
    ] {
        let text = NPB.replacen(from, to, 1);
        let error = npb(&text).unwrap_err();
        assert!(error.contains(what), "{to:?}: {error}");
    }
}

fn shipped(name: &str) -> Trace<'static> {
    let sources: &'static Sources = Box::leak(Box::default());
    let path = format!("{}/traces/{name}", env!("CARGO_MANIFEST_DIR"));
    Trace::open(sources, &path.into()).unwrap()
}

const SHIPPED: [(&str, u32, u64); 12] = [
    ("cg.S.4.tsv.zst", 4, 6720),
    ("cg.S.16.tsv.zst", 16, 0),
    ("ep.S.16.tsv.zst", 16, 0),
    ("ep.W.16.tsv.zst", 16, 0),
    ("ft.S.16.tsv.zst", 16, 0),
    ("ft.W.16.tsv.zst", 16, 0),
    ("is.S.16.tsv.zst", 16, 0),
    ("is.W.16.tsv.zst", 16, 0),
    ("lu.S.4.tsv.zst", 4, 0),
    ("lu.S.16.tsv.zst", 16, 0),
    ("mg.S.4.tsv.zst", 4, 1776),
    ("mg.S.16.tsv.zst", 16, 0),
];

#[test]
fn shipped_traces_are_whole_their_messages_pair_and_they_survive_conversion() {
    for (name, ranks, messages) in SHIPPED {
        let trace = shipped(name);
        assert_eq!(trace.format(), Format::Npb);
        let program = trace.program(Options::default()).map_err(text_of).unwrap();
        assert_eq!(program.ranks(), ranks, "{name}");
        if messages > 0 {
            assert_eq!(program.messages(), messages, "{name}");
        }
        assert!(unmatched(&program).is_empty() && unreceived(&program).is_none(), "{name}");

        let mut converted = ToTrace::new();
        trace.calls(Options::default(), &mut converted).unwrap();
        let mut bytes = Vec::new();
        converted.write(&mut bytes).unwrap();
        let mut again = ToProgram::new("y.hyt", "event");
        calls::read(Input::from_bytes("y.hyt", bytes), &mut again).unwrap();
        let again = again.finish().map_err(text_of).unwrap();
        assert_eq!(again.communicators, program.communicators, "{name}");
        assert_eq!(again.collectives, program.collectives, "{name}");
        for (rank, ops) in program.iter() {
            assert_eq!(again.rank(rank).ops, ops.ops, "{name}, rank {rank}");
        }
    }
}

#[test]
fn an_event_takes_less_than_four_bytes() {
    // Adds the times of a recorder: calls vary as much in duration as the computation of the program.
    struct Timed(ToTrace, u64, Vec<u64>);
    impl Calls for Timed {
        fn item(&mut self, rank: u32, place: u64, item: Item<'_>) -> Result<(), ItemError> {
            let mut event = match item {
                Item::Event(event) => event.clone(),
                Item::Header(header) => {
                    self.2.clear();
                    let header = Header { clock: Clock::Wall, tick: 10, ..header.clone() };
                    return self.0.item(rank, place, Item::Header(&header));
                }
                item => return self.0.item(rank, place, item),
            };
            let cpu = event.cpu.unwrap_or(0);
            let last = self.2.last().copied().unwrap_or(0);
            // Noise with a spread of a third, derived from the number of the event.
            self.1 += 1;
            let noise = self.1.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54;
            event.begin = last + cpu + noise / 32;
            event.end = event.begin + 400 + noise / 4;
            event.buffer = 0x7f00_0000_0000 + u64::from(event.site) * 4096;
            self.2.push(event.end);
            self.0.item(rank, place, Item::Event(&event))
        }
    }
    for name in ["lu.S.16.tsv.zst", "cg.S.16.tsv.zst", "mg.S.16.tsv.zst"] {
        let mut timed = Timed(ToTrace::new(), 0, Vec::new());
        shipped(name).calls(Options::default(), &mut timed).unwrap();
        let bytes: usize = timed.0.streams().unwrap().iter().map(|(_, stream)| stream.len()).sum();
        let each = bytes as f64 / timed.1 as f64;
        println!("{name}: {} events, {each:.2} B each", timed.1);
        assert!(each < 4.0, "{name}: {each} bytes an event");
    }
}

// --- which format
// -----------------------------------------------------------------------------------------------------

#[test]
fn a_format_is_told_by_content_and_then_by_name() {
    let of = Format::of_content;
    assert_eq!(of(&hayase_trace::SIGNATURE), Some(Format::Hayase));
    assert_eq!(of(b"\n  num_ranks 3"), Some(Format::Goal));
    assert_eq!(of(b"// by hand\n/* x */ num_ranks 3"), Some(Format::Goal));
    assert_eq!(of(&goal::MAGIC), Some(Format::GoalBinary));
    assert_eq!(of(b"#hxtrace-text 1\n"), Some(Format::Npb));
    assert_eq!(of(b"p0 init\n"), Some(Format::TimeIndependent));
    assert_eq!(of(b"rank 0 {\n"), None);
    assert_eq!((of(b""), of(b"\x00\x01")), (None, None));
    assert_eq!(Format::of_name(Path::new("a/lu.goal.zst")), Some(Format::Goal));
    assert_eq!(Format::of_name(Path::new("list.txt")), Some(Format::TimeIndependent));
    assert_eq!(Format::of_name(Path::new("a.b/x")), None);
}

#[test]
fn a_folder_with_a_file_a_rank_is_one_trace() {
    let folder = tempfile::tempdir().unwrap();
    let mut converted = ToTrace::new();
    shipped("ep.S.16.tsv.zst").calls(Options::default(), &mut converted).unwrap();
    let streams = converted.streams().unwrap();
    for (rank, stream) in &streams {
        std::fs::write(folder.path().join(format!("rank-{rank:05}.hyt")), stream).unwrap();
    }
    std::fs::write(folder.path().join("notes.md"), "not a trace").unwrap();
    let sources = Sources::default();
    let open = || Trace::open(&sources, &folder.path().display().to_string().into()).unwrap();
    let mut tally = Tally::default();
    open().calls(Options::default(), &mut tally).unwrap();
    assert_eq!((tally.ranks, tally.present, tally.events), (16, 16, 16 * 8));
    assert!(open().program(Options::default()).is_ok());

    // One stream is truncated, which is an error unless its part is asked for.
    let first = &streams[0].1;
    std::fs::write(folder.path().join("rank-00000.hyt"), &first[..first.len() - 1]).unwrap();
    let error = text_of(open().program(Options::default()).unwrap_err());
    assert!(error.contains("rank-00000.hyt, byte ") && error.contains("8 calls of rank 0 come before"), "{error}");
    assert!(open().program(Options { truncated: true, ..Options::default() }).is_ok());
    std::fs::remove_file(folder.path().join("rank-00000.hyt")).unwrap();
    assert!(text_of(open().program(Options::default()).unwrap_err()).contains("rank 0 is missing"));
}

// --- mangled
// ----------------------------------------------------------------------------------------------------------

/// Reads bytes in every format that they could be in.
fn read_as_all(bytes: &[u8]) {
    let input = || Input::from_bytes("x", bytes.to_vec());
    let mut program = ToProgram::new("x", "event");
    if calls::read(input(), &mut program).is_ok() {
        let _ = program.finish().map(|program| unmatched(&program));
    }
    let mut program = ToProgram::new("x", "line");
    if npb::read(&|| Ok(input()), &mut program).is_ok() {
        let _ = program.finish().map(|program| unmatched(&program));
    }
    let mut program = ToProgram::new("x", "line");
    let open = |name: &str| if name == "x" { Ok(input()) } else { Err(Diagnostic::new("missing-file", "none")) };
    if time_independent::read("x", &open, 1e9, &mut program).is_ok() {
        let _ = program.finish().map(|program| unmatched(&program));
    }
    let _ = goal::read_text(input()).map(|program| unmatched(&program));
    let _ = goal::read_binary(input()).map(|program| unmatched(&program));
    let _ = Format::of_content(bytes);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn garbage_does_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        read_as_all(&bytes);
    }

    #[test]
    fn mangled_text_traces_do_no_harm(
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(b"09-*\t\n#ax,\xff".as_slice())), 1..6),
    ) {
        let mut bytes = NPB.as_bytes().to_vec();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        read_as_all(&bytes);
    }

    #[test]
    fn mangled_actions_do_no_harm(
        lines in prop::collection::vec((0..3_u32, 0..20_usize, prop::collection::vec(prop_oneof![(-2..4_i64).prop_map(|n| n.to_string()), Just("1e6".to_owned()), Just("x".to_owned())], 0..6)), 0..30),
    ) {
        const NAMES: [&str; 20] = [
            "init", "finalize", "compute", "send", "isend", "recv", "irecv", "wait", "waitall", "test", "barrier",
            "bcast", "reduce", "alltoallv", "gatherv", "scatterv", "reducescatter", "sendrecv", "sleep", "scan",
        ];
        let mut text = String::new();
        for (rank, name, words) in lines {
            let _ = writeln!(text, "{rank} {} {}", NAMES[name], words.join(" "));
        }
        read_as_all(text.as_bytes());
    }

    #[test]
    fn calls_in_any_order_become_a_program_or_are_refused(
        calls in prop::collection::vec((0..Call::ALL.len(), -3..4_i32, prop::collection::vec(0..6_u64, 0..3), 0..32_u16, 0..2_u32), 0..40),
    ) {
        let events: Vec<Event> = calls
            .into_iter()
            .map(|(call, peer, requests, flags, comm)| Event {
                peer,
                peer2: -peer,
                flags: Flags(flags),
                comm,
                counts: requests.clone(),
                requests,
                ..at(Call::ALL[call], 5, 3)
            })
            .collect();
        if let Ok(program) = program(&[&events, &events]) {
            unmatched(&program);
        }
    }
}

#[test]
fn numbers_of_ranks_that_are_not_there_cost_nothing() {
    // Sixteen million ranks, of which only the last is present and gathers. Nothing is made for the others.
    let header = Header::new(MOST_RANKS - 1, MOST_RANKS);
    let mut program = ToProgram::new("x", "event");
    program.item(header.rank, 0, Item::Header(&header)).unwrap();
    assert!(text_of(program.finish().unwrap_err()).contains("rank 0 is missing"));
    let mut program = ToProgram::new("x", "event");
    program.item(header.rank, 0, Item::Header(&header)).unwrap();
    let gatherv = |bytes| Event { peer: 0, bytes, ..at(Call::Gatherv, 0, 0) };
    let results: Vec<_> = (0..5).map(|i| program.item(header.rank, i, Item::Event(&gatherv(i)))).collect();
    assert!(results[4].as_ref().is_err_and(|wrong| wrong.code == "too-large"));
    let header = Header::new(0, MOST_RANKS + 1);
    assert!(ToProgram::new("x", "event").item(0, 0, Item::Header(&header)).is_err());
}

// --- collectives spelled out
// ------------------------------------------------------------------------------------------

#[test]
fn collectives_become_messages_of_their_own_tags() {
    /// A stand-in for a collective in which each rank sends to the next one.
    struct Ring;
    impl crate::program::Expand for Ring {
        fn steps(&self, _: &Collective, group: &crate::program::Communicator, me: u32, steps: &mut Vec<Op>) {
            let next = group.world_rank((me + 1) % group.size());
            let before = group.world_rank((me + group.size() - 1) % group.size());
            steps.push(Op::irecv(Envelope::world(before, 0), 1));
            steps.push(Op::send(Envelope::world(next, 0), 1));
            steps.push(Op::wait(0));
        }
    }
    let barrier = at(Call::Barrier, 0, 0);
    let calls = |rank: i32| {
        let started = message(Call::Isend, 1 - rank, Some(1));
        let recv = message(Call::Recv, 1 - rank, None);
        vec![barrier.clone(), started, barrier.clone(), recv, waits(Call::Wait, &[1])]
    };
    let whole = program(&[&calls(0), &calls(1)]).unwrap();
    let spelled = expanded(&whole, &Ring).unwrap();
    assert_eq!(spelled.collective_calls(), 0);
    let ops = ops(&spelled, 0);
    let tags: Vec<u32> = ops.iter().filter(|op| op.kind == OpKind::Send).map(|op| op.tag).collect();
    assert!(tags[0] > 7 && tags[1] > tags[0], "above the program's own tag, and different for each call: {tags:?}");
    assert_eq!(ops.iter().map(|op| op.kind).filter(|kind| *kind == OpKind::Wait).count(), 3);
    assert_eq!(ops.last().copied(), Some(Op::wait(3)), "the program's own wait still finds its send");
    assert!(unmatched(&spelled).is_empty());
    let mut text = Vec::new();
    goal::write_text(&spelled, &mut text).unwrap();
    let again = goal::read_text(Input::from_bytes("x.goal", text)).map_err(text_of).unwrap();
    assert_eq!(again.messages(), 6);
}

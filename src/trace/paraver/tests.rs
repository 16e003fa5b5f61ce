//! Traces of this format as programs: messages in their calls, collectives over all tasks, and damaged files.

use std::fmt::Write;

use proptest::prelude::*;

use crate::diagnostic::{Invalid, Sources};
use crate::ids::RankId;
use crate::program::{Counts, Op, OpKind, Program};
use crate::trace::{Options, Tally, Trace};
use crate::units::Time;

const SEND: u32 = 1;
const RECV: u32 = 2;
const ISEND: u32 = 3;
const IRECV: u32 = 4;
const WAITALL: u32 = 6;
const BCAST: u32 = 7;
const ALLGATHERV: u32 = 18;
const GATHERV: u32 = 14;
const SENDRECV: u32 = 41;

/// Text of a trace.
struct Text(String);

impl Text {
    /// Starts a trace of tasks that are all in communicator 1, with the `Init` of each.
    fn new(tasks: u32) -> Self {
        let list: Vec<String> = (0..tasks).map(|_| "1:1".to_owned()).collect();
        let mut text =
            Self(format!("#Paraver (10/04/2013 at 14:27):100000_ns:1({tasks}):1:{tasks}({}),1\n", list.join(",")));
        let all: Vec<String> = (1..=tasks).map(|task| task.to_string()).collect();
        writeln!(text.0, "c:1:1:{tasks}:{}", all.join(":")).unwrap();
        for task in 1..=tasks {
            writeln!(text.0, "1:1:1:{task}:1:0:100000:1").unwrap();
            text.call(task, (0, 10), (3, 31), "");
        }
        text
    }

    /// Adds a call of a kind with this value.
    fn call(&mut self, task: u32, (begin, end): (u64, u64), (kind, value): (u32, u32), facts: &str) {
        writeln!(self.0, "2:1:1:{task}:1:{begin}:{}:{value}{facts}", 50_000_000 + kind).unwrap();
        writeln!(self.0, "2:1:1:{task}:1:{end}:{}:0", 50_000_000 + kind).unwrap();
    }

    fn collective(&mut self, task: u32, begin: u64, value: u32, (sent, received, root): (u64, u64, bool)) {
        let facts = format!(":50100001:{sent}:50100002:{received}:50100004:1");
        let root = if root { ":50100003:1" } else { "" };
        self.call(task, (begin, begin + 10), (2, value), &(facts + root));
    }

    fn message(&mut self, (from, sent): (u32, u64), (to, received, arrived): (u32, u64, u64), bytes: u64) {
        let sender = format!("1:1:{from}:1:{sent}:{sent}");
        writeln!(self.0, "3:{sender}:1:1:{to}:1:{received}:{arrived}:{bytes}:7").unwrap();
    }

    fn finish(mut self, tasks: u32) -> String {
        (1..=tasks).for_each(|task| self.call(task, (90_000, 90_010), (3, 32), ""));
        self.0
    }
}

fn text_of(diagnostics: Vec<crate::diagnostic::Diagnostic>) -> String {
    Invalid { diagnostics, sources: Sources::default() }.lines()
}

fn opened<T>(text: &str, read: impl FnOnce(&Trace<'_>) -> Result<T, String>) -> Result<T, String> {
    let mut sources = Sources::default();
    sources.attach("x.prv", text.as_bytes());
    let trace = Trace::open(&sources, &"x.prv".to_owned().into()).map_err(|mistake| text_of(vec![mistake]))?;
    read(&trace)
}

fn program_with(text: &str, options: Options) -> Result<Program, String> {
    opened(text, |trace| trace.program(options).map_err(text_of))
}

fn program(text: &str) -> Result<Program, String> {
    program_with(text, Options::default())
}

fn tally(text: &str) -> Tally {
    let mut tally = Tally::default();
    opened(text, |trace| trace.calls(Options::default(), &mut tally).map_err(text_of)).unwrap();
    tally
}

fn ops(program: &Program, rank: u32) -> Vec<Op> {
    program.rank(RankId(rank)).ops.clone()
}

fn exchange() -> String {
    let mut text = Text::new(2);
    text.call(1, (100, 120), (1, SEND), "");
    text.call(2, (10, 130), (1, RECV), "");
    text.message((1, 100), (2, 10, 130), 4000);
    text.finish(2)
}

#[test]
fn the_same_program_as_actions_has_the_same_operations() {
    let actions = "0 init\n0 compute 90\n0 send 1 7 4000 6\n0 compute 89880\n0 finalize\n1 init\n\
                   1 recv 0 7 4000 6\n1 compute 89870\n1 finalize\n";
    let (actions, records) = (program(actions).unwrap(), program(&exchange()).unwrap());
    for rank in 0..2 {
        assert_eq!(format!("{:?}", ops(&actions, rank)), format!("{:?}", ops(&records, rank)));
    }
}

#[test]
fn time_outside_of_calls_is_computation() {
    // Microseconds, if the header does not say ns.
    assert_eq!(tally(&exchange()).computed, Time::from_ps((90.0 + 89_880.0 + 89_870.0) * 1e3));
    let in_us = exchange().replace("_ns", "");
    assert_eq!(tally(&in_us).computed, Time::from_ps((90.0 + 89_880.0 + 89_870.0) * 1e6));
}

#[test]
fn a_receive_is_complete_in_the_call_in_which_its_message_arrived() {
    let mut text = Text::new(2);
    text.call(1, (100, 110), (1, IRECV), "");
    text.call(1, (120, 130), (1, ISEND), "");
    text.call(1, (140, 300), (1, WAITALL), "");
    text.call(2, (100, 200), (1, SENDRECV), "");
    text.message((1, 120), (2, 100, 200), 16);
    text.message((2, 100), (1, 100, 250), 24);
    let program = program(&text.finish(2)).unwrap();
    let kinds: Vec<_> =
        ops(&program, 0).iter().map(|op| (op.kind, op.size)).filter(|(kind, _)| *kind != OpKind::Calc).collect();
    assert_eq!(kinds, [(OpKind::Irecv, 24), (OpKind::Isend, 16), (OpKind::Waitall, 2)]);
    let sizes: Vec<_> =
        ops(&program, 1).iter().filter(|op| op.peer == 0 && op.kind != OpKind::Calc).map(|op| op.size).collect();
    assert!(sizes.contains(&24) && sizes.contains(&16), "{sizes:?}");
}

#[test]
fn messages_outside_of_calls_are_sends_and_receives_of_their_own() {
    let mut text = Text::new(2);
    text.message((1, 500), (2, 400, 600), 64);
    let tally = tally(&text.finish(2));
    let bytes = |call| tally.calls.get(&call).map(|of| (of.count, of.bytes));
    assert_eq!(bytes(crate::trace::calls::Call::Send), Some((1, 64)));
    assert_eq!(bytes(crate::trace::calls::Call::Recv), Some((1, 64)));
}

#[test]
fn collectives_have_the_root_and_the_bytes_of_all_tasks() {
    let mut text = Text::new(3);
    for task in 1..=3 {
        let is_root = task == 2;
        text.collective(task, 100, BCAST, if is_root { (800, 0, true) } else { (0, 800, false) });
        text.collective(task, 200, ALLGATHERV, (u64::from(task) * 8, 48, false));
        text.collective(task, 300, GATHERV, (u64::from(task), if task == 3 { 6 } else { 0 }, task == 3));
    }
    let program = program(&text.finish(3)).unwrap();
    let counts = |at: usize| program.collectives[at].counts.clone();
    assert_eq!((program.collectives[0].root, counts(0)), (1, Counts::Same(800)));
    assert!(program.collectives.iter().any(|of| of.counts == Counts::Each([8, 16, 24].as_slice().into())));
    assert!(
        program.collectives.iter().any(|of| of.root == 2 && of.counts == Counts::Each([1, 2, 3].as_slice().into()))
    );
}

#[test]
fn a_mistake_names_its_line() {
    let of = |text: &str| program(text).unwrap_err();
    let good = exchange();
    let with = |line: &str| format!("{good}{line}\n");
    let lines = good.lines().count() + 1;
    for (line, message) in [
        ("4:1:1:1:1:0", "a record begins with 1 (state), 2 (event) or 3 (message)"),
        ("2:1:1:9:1:5:50000001:1", "there is no task 9: tasks are 1 to 2"),
        ("2:1:1:1:1:200000:50000001:1", "time 200000 is after the end of the trace, 100000"),
        ("2:1:1:1:1:50:50000001:1", "the clock runs backwards: the event before was at 90010"),
        ("2:1:1:1:1", "the line ends where a time is expected"),
        ("3:1:1:1:1:0:0:1:1:2:1:0:0:x:1", "`x` is not a size"),
        ("1:1:1:1:1:50:40:1", "the state ends before it begins"),
        ("c:1:2:3:1:2", "a communicator has 3 tasks by its own account, and 2 follow"),
    ] {
        let text = of(&with(line));
        assert!(text.contains(message) && text.contains(&format!("x.prv:{lines}:")), "{line}: {text}");
    }
    for header in [
        "#Paraver (x",
        "#Paraver (x):1_ns",
        "#Paraver (x):1_ns:1(2):1:4294967295(1:1)",
        "#Paraver (x):1_ns:1(2):2:1(1:1):1(1:1)",
    ] {
        assert!(of(header).contains("expected in the header of a Paraver trace"), "{header}");
    }
}

#[test]
fn threads_are_found_in_time_that_does_not_grow_with_their_number() {
    let mut text = Text::new(1);
    let last = 200_000;
    for thread in (1..=last).rev() {
        writeln!(text.0, "2:1:1:1:{thread}:100:50000001:{SEND}").unwrap();
    }
    (1..=last).for_each(|thread| writeln!(text.0, "2:1:1:1:{thread}:200:50000001:0").unwrap());
    let tally = tally(&text.finish(1));
    assert_eq!(tally.threads, last);
    assert_eq!(tally.calls[&crate::trace::calls::Call::Send].time, Time::from_ps(f64::from(last) * 100e3));
}

#[test]
fn counts_of_things_that_are_not_there_are_refused() {
    let header = |tasks: u32, entries: u32| {
        let list = vec!["1:1"; entries as usize].join(",");
        format!("#Paraver (10/04/2013 at 14:27):100000_ns:1({tasks}):1:{tasks}({list}),1\n")
    };
    let state = "1:1:1:1:1:0:100000:1\n";
    for (text, message) in [
        (header(2_147_483_648, 1) + state, "a number of tasks is expected"),
        (header(16_000_000, 1) + state, "the threads and the node of each of 16000000 tasks"),
        // Tasks of which only the header knows take no memory.
        (header(4_000_000, 4_000_000) + state, "has the calls of 1 of 4000000 ranks; rank 1 is missing"),
        (
            header(1, 1) + "c:1:1:1000000000:1\n" + state,
            "a communicator has 1000000000 tasks by its own account, and 1",
        ),
        (header(1, 1) + "2:1:1:1:4294967297:5:50000001:1\n", "threads count from 1 to 4294967296"),
    ] {
        let error = program(&text).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn tasks_that_disagree_about_a_collective_are_named() {
    let mut text = Text::new(2);
    text.collective(1, 100, BCAST, (8, 0, true));
    text.collective(2, 100, ALLGATHERV, (8, 0, true));
    let error = program(&text.finish(2)).unwrap_err();
    assert!(error.contains("task 2 calls Allgatherv on communicator 1, where task 1 calls Bcast"), "{error}");
}

#[test]
fn a_file_cut_at_any_byte_is_refused_or_used_as_far_as_it_goes() {
    let good = exchange();
    for length in 0..good.len() {
        let _ = program(&good[..length]);
        let _ = program_with(&good[..length], Options { truncated: true, ..Options::default() });
    }
    let cut = program(good.lines().take(8).fold(String::new(), |text, line| text + line + "\n").as_str()).unwrap();
    assert!(cut.caveats.incomplete.concat().contains("are cut off"), "{:?}", cut.caveats);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_change_of_a_good_file_makes_the_reader_panic(changes in prop::collection::vec((0_usize..2000, 32_u8..127), 1..8)) {
        let mut text = exchange().into_bytes();
        for (at, byte) in changes {
            let at = at % text.len();
            text[at] = byte;
        }
        let _ = program(&String::from_utf8_lossy(&text));
    }
}

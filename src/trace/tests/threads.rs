//! Calls of several threads of a rank.

use super::*;
use crate::program::After;

/// Creates a call of a thread from begin, end and processor time before it \[us\].
fn call(thread: u32, call: Call, begin: u64, end: u64, cpu: u64) -> Event {
    Event { thread, cpu: Some(cpu * 1000), ..Event::new(call, begin * 1000, end * 1000) }
}

/// Returns the thread of each operation and the operations that it waits for, each with the time after it
/// \[us\].
fn threads(program: &Program) -> Vec<(u32, Vec<(u32, f64)>)> {
    let threads = &program.rank(RankId(0)).threads;
    let after = |op| threads.after(op).iter().map(|after| (after.on, after.lag.ps() / 1e6)).collect();
    (0..ops(program, 0).len() as u32).map(|op| (threads.of(op), after(op))).collect()
}

#[test]
fn each_thread_computes_by_its_own_clock() {
    let events = [
        call(0, Call::Init, 0, 100, 0),
        call(0, Call::Barrier, 150, 160, 50),
        // It began when the first thread had called, and computed 40 us.
        call(1, Call::Barrier, 200, 210, 40),
        call(0, Call::Barrier, 215, 220, 55),
        call(0, Call::Finalize, 230, 240, 10),
    ];
    let program = program(&[&events]).unwrap();
    let calc = |us: f64| Op::calc(ns(us * 1e3));
    let barrier = Op::collective(0);
    assert_eq!(ops(&program, 0), [calc(50.0), barrier, calc(40.0), barrier, calc(55.0), barrier, calc(10.0)]);
    let expected = [
        (0, vec![]),
        (0, vec![]),
        // It began at 200 - 40.
        (1, vec![(1, 0.0)]),
        // Collective operations on a communicator follow one another.
        (1, vec![(1, 0.0)]),
        (0, vec![]),
        (0, vec![(3, 0.0)]),
        (0, vec![]),
    ];
    assert_eq!(threads(&program), expected);
}

#[test]
fn a_thread_that_stood_still_waited_for_the_calls_of_the_others() {
    let send =
        |thread, begin, end, cpu| Event { peer: 0, tag: 1, bytes: 8, ..call(thread, Call::Send, begin, end, cpu) };
    let blocked = |event| Event { flags: Flags::BLOCKED, ..event };
    let events = [
        call(0, Call::Init, 0, 100, 0),
        send(0, 110, 120, 10),
        send(1, 150, 160, 20),
        send(2, 170, 180, 30),
        // The first thread has computed for 5 us since 120. For the rest of the time it waited for the other two.
        blocked(send(0, 200, 210, 5)),
        // The last thread continues: of the 20 us between 180 and 200 it computed 8.
        blocked(send(2, 220, 230, 8)),
        // This call had no core.
        send(1, 300, 310, 8),
    ];
    let program = program(&[&events]).unwrap();
    let of: Vec<(u32, Vec<(u32, f64)>)> = threads(&program);
    // Each call gives a calculation and a send: 0 and 1, 2 and 3, ...
    assert_eq!(of[2], (1, vec![(1, 5.0)]), "150 - 20 is 10 after the first send, of which it computed 5");
    assert_eq!(of[4], (2, vec![(1, 5.0)]), "170 - 30 is 20 after it");
    // The second thread computed 8 of the 140 us until its next call, so no more of the 40 us until this one.
    assert_eq!(of[7], (0, vec![(3, 8.0), (5, 8.0)]));
    assert_eq!(of[9], (2, vec![(7, 10.0)]));
    assert_eq!(of[11], (1, vec![]));
}

#[test]
fn a_wait_for_a_request_of_another_thread_comes_after_it() {
    let receive = Event { thread: 1, ..message(Call::Irecv, 0, Some(1)) };
    let events = [receive, waits(Call::Wait, &[1]), message(Call::Send, 0, None)];
    let program = program(&[&events]).unwrap();
    assert_eq!(threads(&program)[1], (0, vec![(0, 0.0)]));
}

#[test]
fn a_thread_that_calls_before_the_first_begins_after_the_start() {
    let events = [call(0, Call::Init, 0, 100, 0), call(1, Call::Barrier, 150, 160, 20)];
    let program = program(&[&events]).unwrap();
    assert_eq!(threads(&program)[0], (1, vec![(After::START, 30.0)]));
}

#[test]
fn too_many_threads_are_refused_and_what_cannot_keep_them_says_so() {
    let error = program(&[&[call(256, Call::Barrier, 0, 1, 0)]]).unwrap_err();
    assert_eq!(error, "rank 0, event 1: thread 256 of a rank; at most 256 at a time are read");
}

use super::*;
use crate::node::NodeSpec;
use crate::scenario::Loader;
use crate::scenario::replay::ReplayOptions;
use crate::workload::program::{Envelope, ProgramBuilder};

fn us(time: f64) -> Time {
    Time::from_ps(time * 1e6)
}

/// Events are numbered from 0 at each rank; each has its computation before it.
fn program(ranks: &[&[(f64, Op)]]) -> Program {
    let mut program = ProgramBuilder::new(ranks.len() as u32);
    for (number, events) in (0..).zip(ranks) {
        let mut rank = program.sequence(number);
        for (place, &(computation, op)) in (1..).zip(*events) {
            if computation > 0.0 {
                rank.push_at(Op::calc(us(computation)), place);
            }
            rank.push_at(op, place);
        }
        program.finish_rank(rank);
    }
    program.build().unwrap()
}

fn edit(rank: u32, event: u64, action: Action) -> Edit {
    Edit { rank, event, times: 1, step: 1, action }
}

fn point(interval: i64, fraction: f32) -> Point {
    Point { interval, fraction }
}

fn changed(program: &Program, edits: &[Edit]) -> Program {
    let mut changed = Changed::new(program, 1000.0);
    changed.add(edits).unwrap();
    changed.build().unwrap()
}

fn words(program: &Program, rank: u32) -> Vec<String> {
    let rank = RankId(rank);
    program.rank(rank).ops.iter().map(|op| program.describe(rank, op)).collect()
}

/// Microseconds that it takes with L = 10 us, o = 1 us, 1 ns/B, messages above 1000 B waiting for their receivers.
fn makespan(program: Program) -> f64 {
    let text = "[node.loggps]\nL = \"10 us\"\no = \"1 us\"\nGs = \"1 ns/B\"\nS = \"1000 B\"\n";
    let replay = Loader::new().text("machine.toml", text).load_replay(program.into(), "test", 1.0).unwrap();
    assert!(matches!(replay.node, NodeSpec::Loggps(_)));
    let replayed = replay.run(ReplayOptions::default());
    assert!(replayed.stuck.is_empty(), "{:?}", replayed.stuck);
    replayed.report.makespan_s * 1e6
}

#[test]
fn a_call_that_blocks_is_posted_at_one_point_and_waited_for_at_another() {
    let to = Envelope::world(1, 5);
    let from = Envelope::world(0, 5);
    let before = program(&[
        &[(4.0, Op::send(to, 100)), (8.0, Op::send(to, 7))],
        &[(0.0, Op::recv(from, 100)), (0.0, Op::recv(from, 7))],
    ]);
    let action = Action::Overlap { part: Part::Send, post: point(0, 0.25), wait: point(1, 0.5) };
    let after = changed(&before, &[edit(0, 0, action)]);
    let expected = [
        "calc of 1 us",
        "isend of 100 B to rank 1, tag 5",
        "calc of 3 us",
        "calc of 4 us",
        "wait for isend of 100 B to rank 1, tag 5",
        "calc of 4 us",
        "send of 7 B to rank 1, tag 5",
    ];
    assert_eq!(words(&after, 0), expected);
    assert_eq!(words(&after, 1), words(&before, 1));
}

#[test]
fn a_wait_moves_out_of_the_list_it_was_in() {
    let from = |tag| Envelope::world(1, tag);
    let mut builder = ProgramBuilder::new(2);
    let mut rank = builder.sequence(0);
    let first = rank.push_at(Op::irecv(from(1), 10), 1);
    let second = rank.push_at(Op::irecv(from(2), 20), 2);
    rank.wait_list_at(OpKind::Waitall, &[first, second], 3);
    rank.push_at(Op::calc(us(6.0)), 4);
    rank.push_at(Op::send(from(3), 1), 4);
    builder.finish_rank(rank);
    let rank = builder.sequence(1);
    builder.finish_rank(rank);
    let before = builder.build().unwrap();
    let action = Action::Overlap { part: Part::Receive, post: point(0, 0.0), wait: point(3, 1.0) };
    let after = changed(&before, &[edit(0, 0, action)]);
    let expected = [
        "irecv of 10 B from rank 1, tag 1",
        "irecv of 20 B from rank 1, tag 2",
        "waitall for 1 requests",
        "calc of 6 us",
        "wait for irecv of 10 B from rank 1, tag 1",
        "send of 1 B to rank 1, tag 3",
    ];
    assert_eq!(words(&after, 0), expected);
    let rank = after.rank(RankId(0));
    assert_eq!(rank.list(rank.ops[2].arg, 1), [1]);
}

#[test]
fn what_overlaps_saves_the_shorter_of_the_two() {
    // The message waits for its receiver: 10 us of computation there. Its sender computes 30 us before it sends again.
    let (to, from) = (Envelope::world(1, 0), Envelope::world(0, 0));
    let before = program(&[
        &[(0.0, Op::send(to, 5000)), (30.0, Op::send(to, 1))],
        &[(10.0, Op::recv(from, 5000)), (0.0, Op::recv(from, 1))],
    ]);
    let action = Action::Overlap { part: Part::Send, post: point(0, 0.0), wait: point(1, 1.0) };
    let after = changed(&before, &[edit(0, 0, action)]);
    let (long, short) = (makespan(before), makespan(after));
    // All of the send but what its processor does itself is behind the computation.
    assert!(short < long - 9.0 && short > long - 40.0, "{long} {short}");
}

#[test]
fn merged_messages_are_one_with_all_the_bytes_and_their_copies() {
    let (to, from) = (Envelope::world(1, 0), Envelope::world(0, 0));
    let before = program(&[
        &[(0.0, Op::send(to, 100)), (0.0, Op::send(to, 50)), (1.0, Op::send(to, 9))],
        &[(0.0, Op::recv(from, 100)), (0.0, Op::recv(from, 50)), (0.0, Op::recv(from, 9))],
    ]);
    let merge = || Action::Merge { with: vec![1], bytes: 150, copy: 50 };
    let after = changed(&before, &[edit(0, 0, merge()), edit(1, 0, merge())]);
    // A byte takes 1000 ps to copy.
    let sends = ["calc of 50 ns", "send of 150 B to rank 1, tag 0", "calc of 1 us", "send of 9 B to rank 1, tag 0"];
    assert_eq!(words(&after, 0), sends);
    let receives = ["recv of 150 B from rank 0, tag 0", "calc of 50 ns", "recv of 9 B from rank 0, tag 0"];
    assert_eq!(words(&after, 1), receives);
    assert!(makespan(after) < makespan(before));
}

#[test]
fn calls_become_one_collective_of_those_who_make_them() {
    let send = |to| (0.0, Op::send(Envelope::world(to, 1), 80));
    let recv = (2.0, Op::recv(Envelope::world(1, 1), 80));
    let before = program(&[&[recv], &[send(0), send(2)], &[recv], &[]]);
    let action = Action::Replace {
        collective: "Bcast".into(),
        members: vec![0, 1, 2],
        root: Some(1),
        bytes: 80,
        calls: vec![(0, 0), (1, 0), (1, 1), (2, 0)],
    };
    let after = changed(&before, &[edit(1, 0, action)]);
    assert_eq!(words(&after, 1), ["bcast, communicator 1"]);
    assert_eq!(words(&after, 0), ["calc of 2 us", "bcast, communicator 1"]);
    let collective = &after.collectives[0];
    assert_eq!((collective.root, after.communicators[1].size()), (1, 3));
    makespan(after);
}

#[test]
fn nothing_is_changed_twice() {
    let (to, from) = (Envelope::world(1, 0), Envelope::world(0, 0));
    let before = program(&[
        &[(1.0, Op::send(to, 100)), (1.0, Op::send(to, 50))],
        &[(0.0, Op::recv(from, 100)), (0.0, Op::recv(from, 50))],
    ]);
    let merge = |rank| edit(rank, 0, Action::Merge { with: vec![1], bytes: 150, copy: 0 });
    let overlap = edit(0, 1, Action::Overlap { part: Part::Send, post: point(0, 0.0), wait: point(0, 1.0) });
    let mut changed = Changed::new(&before, 0.0);
    assert_eq!(changed.add(&[merge(0), merge(1)]).unwrap().made, 4);
    assert!(changed.add(std::slice::from_ref(&overlap)).unwrap_err().contains("another piece of advice"));
    let mut changed = Changed::new(&before, 0.0);
    assert_eq!(changed.add(&[overlap]).unwrap(), Applied { made: 1, taken: 0, unknown: 0 });
    // Half a merge would leave a message that nobody receives.
    assert!(changed.add(&[merge(0), merge(1)]).is_err());
    assert_eq!(changed.build().unwrap().rank(RankId(1)).ops, before.rank(RankId(1)).ops);
}

#[test]
fn repeated_edits_change_every_step() {
    let to = Envelope::world(1, 0);
    let events: Vec<(f64, Op)> = (0..6).map(|_| (2.0, Op::send(to, 10))).collect();
    let before = program(&[&events, &[]]);
    let action = Action::Overlap { part: Part::Send, post: point(0, 0.5), wait: point(0, 1.0) };
    let after = changed(&before, &[Edit { rank: 0, event: 1, times: 2, step: 3, action }]);
    let kinds: Vec<OpKind> = after.rank(RankId(0)).ops.iter().map(|op| op.kind).collect();
    use OpKind::{Calc, Isend, Send, Wait};
    let one = [Calc, Send];
    let moved = [Calc, Isend, Calc, Wait];
    let expected: Vec<OpKind> = [&one[..], &moved, &one, &one, &moved, &one].concat();
    assert_eq!(kinds, expected);
}

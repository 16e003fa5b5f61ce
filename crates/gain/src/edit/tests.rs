use super::*;
use hayase::node::NodeSpec;
use hayase::program::{Envelope, ProgramBuilder};
use hayase::scenario::Loader;
use hayase::simulation::{ProgramWork, RunOptions};

fn us(time: f64) -> Time {
    Time::from_ps(time * 1e6)
}

/// Builds a program. Events are numbered from 0 at each rank; each has its computation before it.
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
    changed.add(edits, Placement::default()).unwrap();
    changed.build().unwrap()
}

fn words(program: &Program, rank: u32) -> Vec<String> {
    let rank = RankId(rank);
    program.rank(rank).ops.iter().map(|op| program.describe(rank, op)).collect()
}

/// Returns the makespan \[us\] with L = 10 us, o = 1 us, 1 ns/B; messages above 1000 B wait for their
/// receivers.
fn makespan(program: Program) -> f64 {
    let text = "[node.loggps]\nL = \"10 us\"\no = \"1 us\"\nGs = \"1 ns/B\"\nS = \"1000 B\"\n";
    let replay = Loader::new().text("machine.toml", text).load_program(ProgramWork::new(program, "test")).unwrap();
    assert!(matches!(replay.system().node(), NodeSpec::Loggps(_)));
    let replayed = replay.run(RunOptions::default());
    assert!(replayed.stuck.is_empty(), "{:?}", replayed.stuck);
    replayed.report.head.makespan_s * 1e6
}

#[test]
fn a_call_that_blocks_is_posted_at_one_point_and_waited_for_at_another() {
    let to = Envelope::world(1, 5);
    let from = Envelope::world(0, 5);
    let before = program(&[
        &[(4.0, Op::send(to, 100)), (8.0, Op::send(to, 7))],
        &[(0.0, Op::recv(from, 100)), (0.0, Op::recv(from, 7))],
    ]);
    let action = Action::Overlap { part: CallPart::Send, post: point(0, 0.25), wait: point(1, 0.5), needs: Vec::new() };
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
    let action =
        Action::Overlap { part: CallPart::Receive, post: point(0, 0.0), wait: point(3, 1.0), needs: Vec::new() };
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
    // The message waits for its receiver, which computes 10 us. Its sender computes 30 us before it sends again.
    let (to, from) = (Envelope::world(1, 0), Envelope::world(0, 0));
    let before = program(&[
        &[(0.0, Op::send(to, 5000)), (30.0, Op::send(to, 1))],
        &[(10.0, Op::recv(from, 5000)), (0.0, Op::recv(from, 1))],
    ]);
    let action = Action::Overlap { part: CallPart::Send, post: point(0, 0.0), wait: point(1, 1.0), needs: Vec::new() };
    let after = changed(&before, &[edit(0, 0, action)]);
    let (long, short) = (makespan(before), makespan(after));
    // The send overlaps the computation, except for its processor time.
    assert!(short < long - 9.0 && short > long - 40.0, "{long} {short}");
}

#[test]
fn merged_messages_are_one_with_all_the_bytes_and_their_copies() {
    let (to, from) = (Envelope::world(1, 0), Envelope::world(0, 0));
    let before = program(&[
        &[(0.0, Op::send(to, 100)), (0.0, Op::send(to, 50)), (1.0, Op::send(to, 9))],
        &[(0.0, Op::recv(from, 100)), (0.0, Op::recv(from, 50)), (0.0, Op::recv(from, 9))],
    ]);
    let merge = || Action::Merge { with: vec![1], bytes: 150, copy: 50, needs: Vec::new() };
    let after = changed(&before, &[edit(0, 0, merge()), edit(1, 0, merge())]);
    // Copying a byte takes 1000 ps.
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
        needs: Vec::new(),
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
    let merge = |rank| edit(rank, 0, Action::Merge { with: vec![1], bytes: 150, copy: 0, needs: Vec::new() });
    let overlap = edit(
        0,
        1,
        Action::Overlap { part: CallPart::Send, post: point(0, 0.0), wait: point(0, 1.0), needs: Vec::new() },
    );
    let mut changed = Changed::new(&before, 0.0);
    assert_eq!(changed.add(&[merge(0), merge(1)], Placement::default()).unwrap().made, 4);
    assert!(
        changed
            .add(std::slice::from_ref(&overlap), Placement::default())
            .unwrap_err()
            .why
            .contains("another piece of advice")
    );
    let mut changed = Changed::new(&before, 0.0);
    assert_eq!(changed.add(&[overlap], Placement::default()).unwrap(), Applied { made: 1, taken: 0, unknown: 0 });
    // Half a merge would leave a message without a receive.
    assert!(changed.add(&[merge(0), merge(1)], Placement::default()).is_err());
    assert_eq!(changed.build().unwrap().rank(RankId(1)).ops, before.rank(RankId(1)).ops);
}

#[test]
fn repeated_edits_change_every_step() {
    let to = Envelope::world(1, 0);
    let events: Vec<(f64, Op)> = (0..6).map(|_| (2.0, Op::send(to, 10))).collect();
    let before = program(&[&events, &[]]);
    let action = Action::Overlap { part: CallPart::Send, post: point(0, 0.5), wait: point(0, 1.0), needs: Vec::new() };
    let after = changed(&before, &[Edit { rank: 0, event: 1, times: 2, step: 3, action }]);
    let kinds: Vec<OpKind> = after.rank(RankId(0)).ops.iter().map(|op| op.kind).collect();
    use OpKind::{Calc, Isend, Send, Wait};
    let one = [Calc, Send];
    let moved = [Calc, Isend, Calc, Wait];
    let expected: Vec<OpKind> = [&one[..], &moved, &one, &one, &moved, &one].concat();
    assert_eq!(kinds, expected);
}

/// Rank 0 sends a large and a small message, computes, and receives; its partner receives both and answers.
fn two_messages() -> Program {
    let (to, from) = (|tag| Envelope::world(1, tag), |tag| Envelope::world(0, tag));
    program(&[
        &[
            (0.0, Op::send(to(0), 800)),
            (0.0, Op::send(to(1), 0)),
            (5.0, Op::recv(Envelope::world(1, 2), 0)),
            (9.0, Op::send(to(3), 0)),
        ],
        &[
            (0.0, Op::recv(from(0), 800)),
            (0.0, Op::recv(from(1), 0)),
            (20.0, Op::send(Envelope::world(0, 2), 0)),
            (0.0, Op::recv(from(3), 0)),
        ],
    ])
}

#[test]
fn where_a_message_is_posted_and_waited_for_decides_what_it_costs() {
    // o = 1, L = 10, 800 B take 0.8 more. Rank 0 sends at 0..1 and 1..2, computes to 7, and waits. Rank 1 has the
    // first at 1 + 10 + 0.8 + 1 = 12.8, the second at 13.8 (it arrived at 12), computes to 33.8, answers to 34.8.
    // Rank 0 has the answer at 34.8 + 10 + 1 = 45.8, computes to 54.8, sends to 55.8, and rank 1 has it at 66.8.
    let before = two_messages();
    assert!((makespan(before.clone()) - 66.8).abs() < 1e-9, "{}", makespan(before));
    // The second may be posted before the first, and waited for after the answer and half of the computation behind
    // it.
    let action = Action::Overlap { part: CallPart::Send, post: point(-1, 0.0), wait: point(2, 0.5), needs: Vec::new() };
    let at = |placement: Placement| {
        let mut changed = Changed::new(&before, 0.0);
        changed.add(&[edit(0, 1, action.clone())], placement).unwrap();
        makespan(changed.build().unwrap())
    };
    let [widest, late_post, early_wait, narrow] = Placement::ALL.map(at);
    // Posted first, it delays the first message by o. Waited for after the answer, it takes o there.
    for (name, found, expected) in [
        ("widest", widest, 68.8),
        ("late post", late_post, 67.8),
        ("early wait", early_wait, 67.8),
        ("narrow", narrow, 66.8),
    ] {
        assert!((found - expected).abs() < 1e-9, "{name}: {found} us, not {expected} us");
    }
}

#[test]
fn a_broadcast_goes_on_in_the_background() {
    let mut builder = ProgramBuilder::new(2);
    let number = builder.collective(Collective {
        call: CollectiveCall::Bcast,
        comm: 0,
        root: 0,
        counts: Counts::Same(8),
        plan: None,
    });
    for (rank, before, behind) in [(0, 0.0, 20.0), (1, 4.0, 30.0)] {
        let mut ops = builder.sequence(rank);
        ops.push_at(Op::calc(us(before)), 1);
        ops.push_at(Op::collective(number), 1);
        ops.push_at(Op::calc(us(behind)), 2);
        ops.push_at(Op::send(Envelope::world(1 - rank, 9), 0), 2);
        ops.push_at(Op::recv(Envelope::world(1 - rank, 9), 0), 3);
        builder.finish_rank(ops);
    }
    let before = builder.build().unwrap();
    // Rank 1 has the broadcast after o + 8 B + L + o = 12.007 us (7 gaps), computes to 42.007 and sends; rank 0 has
    // the message at 54.007.
    let blocking = makespan(before.clone());
    let action =
        || Action::Overlap { part: CallPart::Collective, post: point(0, 0.0), wait: point(1, 1.0), needs: Vec::new() };
    let both = changed(&before, &[edit(0, 0, action()), edit(1, 0, action())]);
    assert_eq!(
        words(&both, 1),
        [
            "ibcast",
            "calc of 4 us",
            "calc of 30 us",
            "wait for ibcast",
            "send of 0 B to rank 0, tag 9",
            "recv of 0 B from rank 0, tag 9"
        ]
    );
    // The call takes o, computation 34, the wait o: sends at 36 to 37, there at 48.
    assert!((makespan(both) - 48.0).abs() < 1e-9 && (blocking - 54.0).abs() < 0.02, "{blocking}");
    // One side may change alone; the other side keeps its call.
    let one = changed(&before, &[edit(1, 0, action())]);
    assert!((makespan(one) - 48.0).abs() < 1e-9);
}

#[test]
fn a_half_of_a_sendrecv_does_not_wait_before_the_other_half() {
    let mut builder = ProgramBuilder::new(2);
    for rank in 0..2 {
        let other = Envelope::world(1 - rank, 0);
        let mut ops = builder.sequence(rank);
        ops.push_at(Op::calc(us(5.0)), 1);
        ops.push_at(Op::irecv(other, 10).marked(Op::WITHIN_CALL), 1);
        ops.push_at(Op::send(other, 10), 1);
        ops.push_at(Op::wait(1).marked(Op::WITHIN_CALL), 1);
        builder.finish_rank(ops);
    }
    let before = builder.build().unwrap();
    // Posted earlier and waited for at its place, after the send that the partner needs.
    let action =
        || Action::Overlap { part: CallPart::Receive, post: point(0, 0.0), wait: point(0, 1.0), needs: Vec::new() };
    let after = changed(&before, &[edit(0, 0, action()), edit(1, 0, action())]);
    let kinds: Vec<OpKind> = after.rank(RankId(0)).ops.iter().map(|op| op.kind).collect();
    assert_eq!(kinds, [OpKind::Irecv, OpKind::Calc, OpKind::Send, OpKind::Wait]);
    makespan(after);
}

/// Rank 0 sends a buffer and receives into it, twice, with computation after each receive.
fn one_buffer() -> Program {
    let other = Envelope::world(1, 0);
    let round = [(0.0, Op::send(other, 8)), (0.0, Op::recv(other, 8))];
    let again = [(4.0, Op::send(other, 8)), (0.0, Op::recv(other, 8)), (4.0, Op::send(other, 8))];
    let rank: Vec<(f64, Op)> = round.into_iter().chain(again).collect();
    program(&[&rank, &[]])
}

fn needs(distance: u64, part: CallPart) -> Vec<Needed> {
    vec![Needed { distance, part }]
}

#[test]
fn what_is_sent_is_not_sent_before_it_has_come_although_each_may_move_alone() {
    let before = one_buffer();
    // The receives end after the computation; the sends go before it.
    let late = Action::Overlap {
        part: CallPart::Receive,
        post: point(0, 0.0),
        wait: point(1, 1.0),
        needs: needs(1, CallPart::Send),
    };
    let early = Action::Overlap {
        part: CallPart::Send,
        post: point(0, 0.0),
        wait: point(0, 1.0),
        needs: needs(1, CallPart::Receive),
    };
    let receives = [Edit { rank: 0, event: 1, times: 2, step: 2, action: late }];
    let sends = [Edit { rank: 0, event: 2, times: 2, step: 2, action: early }];
    for (first, second, crossing) in
        [(&receives, &sends, "before the end of"), (&sends, &receives, "behind the start of")]
    {
        let mut changed = Changed::new(&before, 0.0);
        changed.add(first, Placement::default()).unwrap();
        let refused = changed.add(second, Placement::default()).unwrap_err();
        assert_eq!(refused.with, Some(0));
        assert!(refused.why.contains(crossing), "{}", refused.why);
    }
    // A send that keeps its place crosses nothing.
    let mut changed = Changed::new(&before, 0.0);
    changed.add(&receives, Placement::default()).unwrap();
    changed.add(&sends, Placement { late_post: true, early_wait: false }).unwrap();
}

#[test]
fn within_one_change_the_later_call_makes_way() {
    // Both in one change, as occurrences of one line: the sends start where the receives before them end.
    let before = one_buffer();
    let late = Action::Overlap { part: CallPart::Receive, post: point(0, 0.0), wait: point(1, 0.5), needs: Vec::new() };
    let early = Action::Overlap {
        part: CallPart::Send,
        post: point(0, 0.0),
        wait: point(0, 1.0),
        needs: needs(1, CallPart::Receive),
    };
    let after = changed(&before, &[edit(0, 1, late), edit(0, 2, early)]);
    let expected = [
        "send of 8 B to rank 1, tag 0",
        "irecv of 8 B from rank 1, tag 0",
        "calc of 2 us",
        "wait for irecv of 8 B from rank 1, tag 0",
        "isend of 8 B to rank 1, tag 0",
        "calc of 2 us",
        "wait for isend of 8 B to rank 1, tag 0",
        "recv of 8 B from rank 1, tag 0",
        "calc of 4 us",
        "send of 8 B to rank 1, tag 0",
    ];
    assert_eq!(words(&after, 0), expected);
}

#[test]
fn what_is_merged_must_be_there_too() {
    // The second of two sends needs the data of a receive before the first; the receive would now end between them.
    let other = Envelope::world(1, 0);
    let before = program(&[&[(0.0, Op::recv(other, 8)), (2.0, Op::send(other, 8)), (2.0, Op::send(other, 8))], &[]]);
    let late = Action::Overlap { part: CallPart::Receive, post: point(0, 0.0), wait: point(2, 0.5), needs: Vec::new() };
    let merge = Action::Merge { with: vec![1], bytes: 16, copy: 0, needs: needs(1, CallPart::Receive) };
    let (late, merge) = ([edit(0, 0, late)], [edit(0, 1, merge)]);
    for (first, second) in [(&late, &merge), (&merge, &late)] {
        let mut changed = Changed::new(&before, 0.0);
        changed.add(first, Placement::default()).unwrap();
        assert_eq!(changed.add(second, Placement::default()).unwrap_err().with, Some(0));
    }
}

#[test]
fn what_is_merged_is_complete_as_soon_as_one_of_its_parts_was() {
    let from = |tag| Envelope::world(1, tag);
    let mut builder = ProgramBuilder::new(2);
    let mut rank = builder.sequence(0);
    let first = rank.push_at(Op::irecv(from(1), 10), 1);
    let second = rank.push_at(Op::irecv(from(2), 20), 2);
    rank.push_at(Op::wait(second), 3);
    rank.push_at(Op::calc(us(6.0)), 4);
    rank.push_at(Op::wait(first), 4);
    builder.finish_rank(rank);
    let rank = builder.sequence(1);
    builder.finish_rank(rank);
    let before = builder.build().unwrap();
    let merge = Action::Merge { with: vec![1], bytes: 30, copy: 0, needs: Vec::new() };
    let after = changed(&before, &[edit(0, 0, merge)]);
    let expected = ["irecv of 30 B from rank 1, tag 1", "wait for irecv of 30 B from rank 1, tag 1", "calc of 6 us"];
    assert_eq!(words(&after, 0), expected);
}

#[test]
fn borders_of_regions_stay_where_they_were_among_the_operations() {
    // 4 us of computation, a border after the first; the post moves to the middle of the second piece.
    let to = Envelope::world(1, 5);
    let mut before = ProgramBuilder::new(2);
    let region = before.region("solve");
    let mut rank = before.sequence(0);
    rank.push_at(Op::calc(us(1.0)), 1);
    rank.mark(region, true, 0, 1);
    rank.push_at(Op::calc(us(3.0)), 1);
    rank.push_at(Op::send(to, 100), 1);
    rank.mark(region, false, 0, 2);
    rank.push_at(Op::calc(us(8.0)), 2);
    rank.push_at(Op::send(to, 7), 2);
    before.finish_rank(rank);
    let mut rank = before.sequence(1);
    rank.push_at(Op::recv(Envelope::world(0, 5), 100), 1);
    rank.push_at(Op::recv(Envelope::world(0, 5), 7), 2);
    before.finish_rank(rank);
    let before = before.build().unwrap();

    let action =
        Action::Overlap { part: CallPart::Send, post: point(0, 0.625), wait: point(1, 0.5), needs: Vec::new() };
    let after = changed(&before, &[edit(0, 0, action)]);
    let expected = [
        "calc of 1 us",
        "calc of 1.5 us",
        "isend of 100 B to rank 1, tag 5",
        "calc of 1.5 us",
        "calc of 4 us",
        "wait for isend of 100 B to rank 1, tag 5",
        "calc of 4 us",
        "send of 7 B to rank 1, tag 5",
    ];
    assert_eq!(words(&after, 0), expected);
    assert_eq!(after.rank(RankId(0)).within(region), [(1, 4)], "from behind the first microsecond to the second call");
    // In the first piece, in front of the border.
    let action =
        Action::Overlap { part: CallPart::Send, post: point(0, 0.125), wait: point(0, 1.0), needs: Vec::new() };
    let after = changed(&before, &[edit(0, 0, action)]);
    assert_eq!(words(&after, 0)[..3], ["calc of 500 ns", "isend of 100 B to rank 1, tag 5", "calc of 500 ns"]);
    assert_eq!(after.rank(RankId(0)).within(region)[0].0, 3);
}

#[test]
fn what_blocks_now_is_complete_where_it_is_now_also_in_one_that_does_not() {
    let mut builder = ProgramBuilder::new(1);
    let sum = builder.collective(Collective {
        call: CollectiveCall::Allreduce,
        comm: 0,
        root: 0,
        counts: Counts::Same(8),
        plan: None,
    });
    let mut rank = builder.sequence(0);
    let first = rank.push_at(Op { kind: OpKind::Icollective, ..Op::collective(sum) }, 1);
    rank.push_at(Op::calc(us(2.0)), 2);
    rank.push_at(Op::collective(sum), 2);
    rank.push_at(Op::calc(us(6.0)), 3);
    rank.push_at(Op::wait(first), 3);
    builder.finish_rank(rank);
    let before = builder.build().unwrap();
    let merge = Action::Merge { with: vec![1], bytes: 16, copy: 0, needs: Vec::new() };
    let after = changed(&before, &[edit(0, 0, merge)]);
    let expected = ["iallreduce", "calc of 2 us", "wait for iallreduce", "calc of 6 us"];
    assert_eq!(words(&after, 0), expected);
}

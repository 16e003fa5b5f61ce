//! Findings that need all ranks: messages to merge, patterns, waits; and near misses.

use super::common::{Access, Program, access, advise, message, of};
use hayase_advice::model::{Action, CallPart, Certainty, Change, Finding, Role, RuleId};
use hayase_advice::search::Options;
use hayase_trace::{Call, Event, Flags, Op};

/// Address of element `i` of array `array`.
fn element(array: u64, i: u64) -> u64 {
    1_000_000 * array + 8 * i
}

fn touch(site: u32, array: u64, range: std::ops::Range<u64>) -> Vec<Access> {
    range.map(|i| access(site, element(array, i), 8)).collect()
}

fn found(ranks: &[Program], rule: RuleId) -> Vec<Finding> {
    of(&advise(ranks, true, &Options::default()), rule)
}

fn edits(finding: &Finding) -> Vec<(u32, Vec<u64>, Action)> {
    let Change::Program { edits, left_out: 0 } = &finding.change else { panic!("a change of the program") };
    edits.iter().map(|edit| (edit.rank, edit.events().collect(), edit.action.clone())).collect()
}

/// Rank 0 writes its data and sends two messages; rank 1 receives and reads both. The arguments add accesses
/// in between.
fn two_messages(at_sender: Vec<Access>, at_receiver: Vec<Access>) -> Vec<Program> {
    let sender = Program::default()
        .then([touch(1, 1, 0..10), touch(1, 2, 0..10)].concat(), message(Call::Send, 0, element(1, 0), 80, 1))
        .then(at_sender, message(Call::Send, 1, element(2, 0), 80, 1));
    let receiver = Program::default()
        .then(Vec::new(), message(Call::Recv, 2, element(3, 0), 80, 0))
        .then(at_receiver, message(Call::Recv, 3, element(3, 10), 80, 0))
        .then(touch(0, 3, 0..20), Event::new(Call::Barrier, 0, 0));
    let bystander = Program::default();
    let sender = sender.then(Vec::new(), Event::new(Call::Barrier, 0, 0));
    vec![sender, receiver, bystander.then(Vec::new(), Event::new(Call::Barrier, 0, 0))]
}

#[test]
fn messages_that_nothing_keeps_apart_are_one() {
    let findings = found(&two_messages(touch(0, 4, 0..5), Vec::new()), RuleId::A002);
    let [finding] = findings.as_slice() else { panic!("one finding: {findings:?}") };
    assert_eq!((finding.certainty(), finding.occurrences, finding.bytes), (Certainty::Proven, 1, 160));
    assert_eq!(finding.title, "messages sent to one rank at program.c:100 and program.c:101 could be one message");
    // The sender copies two separate buffers; at the receiver they are contiguous.
    let merge = |copy| Action::Merge { with: vec![1], bytes: 160, copy, needs: Vec::new() };
    assert_eq!(edits(finding), [(0, vec![1], merge(160)), (1, vec![1], merge(0))]);
}

#[test]
fn messages_are_not_merged_when_the_second_is_not_ready_at_the_first() {
    assert!(found(&two_messages(touch(1, 2, 9..10), Vec::new()), RuleId::A002).is_empty());
}

#[test]
fn messages_are_not_merged_when_the_receiver_still_needs_the_second_buffer() {
    assert!(found(&two_messages(Vec::new(), touch(0, 3, 10..11)), RuleId::A002).is_empty());
    // The buffer of the first message may be used: the message has arrived.
    assert_eq!(found(&two_messages(Vec::new(), touch(0, 3, 0..10)), RuleId::A002).len(), 1);
}

#[test]
fn a_loop_of_messages_is_one_finding_with_its_edits_folded() {
    let mut ranks = vec![Program::default(); 2];
    for _ in 0..100 {
        let [sender, receiver] = ranks.as_mut_slice() else { unreachable!() };
        *sender = std::mem::take(sender)
            .then([touch(1, 1, 0..10), touch(1, 2, 0..10)].concat(), message(Call::Send, 0, element(1, 0), 80, 1))
            .then(Vec::new(), message(Call::Send, 1, element(2, 0), 80, 1));
        *receiver = std::mem::take(receiver)
            .then(Vec::new(), message(Call::Recv, 2, element(3, 0), 80, 0))
            .then(Vec::new(), message(Call::Recv, 3, element(3, 10), 80, 0))
            .then(touch(0, 3, 0..20), Event::new(Call::Iprobe, 0, 0));
    }
    let findings = found(&ranks, RuleId::A002);
    assert_eq!((findings.len(), findings[0].occurrences), (1, 100));
    let edits = edits(&findings[0]);
    assert_eq!(edits.len(), 2, "one edit a rank, a hundred times: {edits:?}");
    assert_eq!(edits[1].1[..3], [1, 4, 7]);
}

#[test]
fn what_can_be_merged_in_part_only_in_some_rounds_belongs_to_the_whole() {
    // Three messages a round; in the second round, the third is computed after the second has been sent.
    let (mut sender, mut receiver) = (Program::default(), Program::default());
    for round in 0..2 {
        let all = [touch(1, 1, 0..10), touch(1, 2, 0..10), touch(1, 3, 0..10)].concat();
        let late = if round == 1 { touch(1, 3, 0..10) } else { Vec::new() };
        sender = sender
            .then(all, message(Call::Send, 0, element(1, 0), 80, 1))
            .then(Vec::new(), message(Call::Send, 1, element(2, 0), 80, 1))
            .then(late, message(Call::Send, 2, element(3, 0), 80, 1));
        receiver = receiver
            .then(Vec::new(), message(Call::Recv, 3, element(4, 0), 80, 0))
            .then(Vec::new(), message(Call::Recv, 4, element(5, 0), 80, 0))
            .then(Vec::new(), message(Call::Recv, 5, element(6, 0), 80, 0))
            .then(
                [touch(0, 4, 0..10), touch(0, 5, 0..10), touch(0, 6, 0..10)].concat(),
                Event::new(Call::Iprobe, 0, 0),
            );
    }
    let findings = found(&[sender, receiver], RuleId::A002);
    let [finding] = findings.as_slice() else { panic!("one finding: {findings:?}") };
    assert_eq!(finding.occurrences, 2);
    let of = |role: Role| -> Vec<(u32, u64)> {
        let places = finding.places.iter().filter(|place| place.role == role);
        places.map(|place| (place.location.line, place.occurrences)).collect()
    };
    assert_eq!((of(Role::Communication), of(Role::Companion)), (vec![(100, 2)], vec![(101, 2), (102, 1)]));
}

/// Every rank calls two reductions, with these accesses before the second.
fn two_reductions(between: Vec<Access>, second: Op) -> Vec<Program> {
    let reduce = |line: u32, from: u64, to: u64, op| Event {
        op,
        bytes: 8,
        element: 8,
        buffer: element(from, 0),
        buffer2: element(to, 0),
        site: line + 1,
        ..Event::new(Call::Allreduce, 0, 0)
    };
    let sum = Op::from_name("sum").unwrap();
    let program = Program::default()
        .then([touch(1, 1, 0..1), touch(1, 2, 0..1)].concat(), reduce(0, 1, 3, sum))
        .then(between, reduce(1, 2, 4, second))
        .then(touch(0, 4, 0..1), Event::new(Call::Barrier, 0, 0));
    vec![program; 3]
}

#[test]
fn reductions_in_a_row_are_one() {
    let sum = Op::from_name("sum").unwrap();
    let findings = found(&two_reductions(touch(0, 3, 0..1), sum), RuleId::A003);
    let [finding] = findings.as_slice() else { panic!("one finding: {findings:?}") };
    assert_eq!((finding.certainty(), finding.ranks.len()), (Certainty::Check, 3), "the first was read");
    let unread = found(&two_reductions(touch(0, 5, 0..1), sum), RuleId::A003);
    assert_eq!((unread.len(), unread[0].certainty()), (1, Certainty::Proven));
    let merge = Action::Merge { with: vec![1], bytes: 16, copy: 32, needs: Vec::new() };
    assert_eq!(edits(finding), [(0, vec![1], merge.clone()), (1, vec![1], merge.clone()), (2, vec![1], merge)]);
}

#[test]
fn a_reduction_that_needs_the_one_before_is_not_merged() {
    let sum = Op::from_name("sum").unwrap();
    assert!(found(&two_reductions([touch(0, 3, 0..1), touch(1, 2, 0..1)].concat(), sum), RuleId::A003).is_empty());
    assert!(found(&two_reductions(Vec::new(), Op::from_name("max").unwrap()), RuleId::A003).is_empty());
    // One rank with such an access is enough.
    let mut ranks = two_reductions(Vec::new(), sum);
    ranks[2] = two_reductions(touch(1, 2, 0..1), sum).remove(2);
    assert!(found(&ranks, RuleId::A003).is_empty());
}

/// Rank 0 sends to all others; `what` gives the buffer and size by destination.
fn one_to_all(ranks: i32, what: impl Fn(i32) -> Option<(u64, u64)>) -> Vec<Program> {
    let mut root = Program::default().then(touch(1, 1, 0..400), Event::new(Call::Iprobe, 0, 0));
    let mut programs = vec![Program::default()];
    for peer in 1..ranks {
        let mut program = Program::default();
        if let Some((buffer, bytes)) = what(peer) {
            root = root.then(Vec::new(), message(Call::Send, 0, buffer, bytes, peer));
            program = program.then(Vec::new(), message(Call::Recv, 1, element(3, 0), bytes, 0));
        }
        programs.push(program.then(touch(0, 3, 0..10), Event::new(Call::Barrier, 0, 0)));
    }
    programs[0] = root.then(Vec::new(), Event::new(Call::Barrier, 0, 0));
    programs
}

fn replaced(finding: &Finding) -> (String, Vec<u32>, Option<u32>, u64, usize) {
    match edits(finding).remove(0).2 {
        Action::Replace { collective, members, root, bytes, calls, .. } => {
            (collective, members, root, bytes, calls.len())
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_same_to_all_others_is_a_broadcast_and_a_block_each_a_scatter() {
    let findings = found(&one_to_all(4, |_| Some((element(1, 0), 80))), RuleId::A004);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(replaced(&findings[0]), ("Bcast".into(), vec![0, 1, 2, 3], Some(0), 80, 6));
    assert_eq!(findings[0].certainty(), Certainty::Proven);
    let findings = found(&one_to_all(4, |peer| Some((element(1, 10 * peer as u64), 80))), RuleId::A004);
    assert_eq!(replaced(&findings[0]), ("Scatter".into(), vec![0, 1, 2, 3], Some(0), 80, 6));
}

#[test]
fn near_misses_are_no_collective_operation() {
    let cases: [(&str, Vec<Program>); 3] = [
        ("one rank is left out", one_to_all(4, |peer| (peer != 2).then_some((element(1, 0), 80)))),
        ("sizes differ", one_to_all(4, |peer| Some((element(1, 0), 80 + 8 * u64::from(peer == 3))))),
        ("blocks overlap", one_to_all(4, |peer| Some((element(1, 5 * peer as u64), 80)))),
    ];
    for (what, ranks) in cases {
        let findings = found(&ranks, RuleId::A004);
        assert!(findings.is_empty(), "{what}: {findings:?}");
    }
}

#[test]
fn what_is_sent_and_changed_in_between_is_no_broadcast() {
    let mut root = Program::default();
    let mut ranks = vec![Program::default()];
    for peer in 1..4 {
        root = root.then(touch(1, 1, 0..10), message(Call::Send, 0, element(1, 0), 80, peer));
        ranks.push(Program::default().then(Vec::new(), message(Call::Recv, 1, element(3, 0), 80, 0)));
    }
    ranks[0] = root;
    assert!(found(&ranks, RuleId::A004).is_empty());
}

/// All other ranks send to rank 0, which receives into these buffers.
fn all_to_one(ranks: i32, into: impl Fn(i32) -> u64, between: Vec<Access>) -> Vec<Program> {
    let mut root = Program::default();
    let mut programs = vec![Program::default()];
    for peer in 1..ranks {
        root = root
            .then(if peer > 1 { between.clone() } else { Vec::new() }, message(Call::Recv, 0, into(peer), 80, peer));
        programs.push(Program::default().then(touch(1, 1, 0..10), message(Call::Send, 1, element(1, 0), 80, 0)));
    }
    programs[0] = root;
    programs
}

#[test]
fn a_block_from_all_others_is_a_gather_and_one_buffer_for_all_a_reduction() {
    let findings = found(&all_to_one(5, |peer| element(2, 10 * peer as u64), Vec::new()), RuleId::A004);
    assert_eq!(replaced(&findings[0]), ("Gather".into(), vec![0, 1, 2, 3, 4], Some(0), 80, 8));
    let sums = [touch(0, 2, 0..10), touch(1, 5, 0..10)].concat();
    let findings = found(&all_to_one(5, |_| element(2, 0), sums), RuleId::A004);
    assert_eq!(replaced(&findings[0]).0, "Reduce");
    assert_eq!(findings[0].certainty(), Certainty::Check, "what is done with it was not looked at");
}

#[test]
fn broadcasts_from_one_rank_after_the_other_are_no_reduction_at_their_receivers() {
    let mut ranks = vec![Program::default(); 4];
    for step in 0..8 {
        for (me, program) in ranks.iter_mut().enumerate() {
            let taken = std::mem::take(program);
            *program = if me == step % 4 {
                (0..4).filter(|&peer| peer != me as i32).fold(taken, |program, peer| {
                    program.then(Vec::new(), message(Call::Send, 0, element(1, 0), 80, peer))
                })
            } else {
                taken.then(touch(0, 3, 0..10), message(Call::Recv, 1, element(3, 0), 80, (step % 4) as i32))
            };
        }
    }
    let names: Vec<String> = found(&ranks, RuleId::A004).iter().map(|finding| replaced(finding).0).collect();
    assert_eq!(names, ["Bcast"]);
}

/// Every rank starts sends to its partners and receives from them, then waits.
fn exchange(ranks: u32, partners: impl Fn(u32) -> Vec<u32>, block: u64) -> Vec<Program> {
    (0..ranks)
        .map(|me| {
            let mut program = Program::default().then(touch(1, 1, 0..200), Event::new(Call::Iprobe, 0, 0));
            let mut request = 0;
            for (call, line, array) in [(Call::Irecv, 0, 2), (Call::Isend, 1, 1)] {
                for peer in partners(me) {
                    request += 1;
                    let buffer = element(array, u64::from(peer) * if call == Call::Irecv { 10 } else { block });
                    let event = message(call, line, buffer, 80, peer as i32);
                    program = program.then(Vec::new(), Event { requests: vec![request], ..event });
                }
            }
            let wait = Event { requests: (1..=request).collect(), site: 4, ..Event::new(Call::Waitall, 0, 0) };
            program.then(Vec::new(), wait).then(touch(0, 2, 0..100), Event::new(Call::Barrier, 0, 0))
        })
        .collect()
}

#[test]
fn everybody_with_everybody_is_an_all_to_all_and_neighbours_are_not() {
    let all = |me: u32| (0..5).filter(|&peer| peer != me).collect::<Vec<_>>();
    let findings = found(&exchange(5, all, 10), RuleId::A004);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(replaced(&findings[0]), ("Alltoall".into(), vec![0, 1, 2, 3, 4], None, 80, 40));
    let findings = found(&exchange(5, all, 0), RuleId::A004);
    assert_eq!(replaced(&findings[0]).0, "Allgather");
    // A ring, and a square of four neighbours each.
    let ring = |me: u32| vec![(me + 1) % 9, (me + 8) % 9];
    assert!(found(&exchange(9, ring, 10), RuleId::A004).is_empty());
    let torus = |me: u32| {
        let (x, y) = (me % 3, me / 3);
        vec![(x + 1) % 3 + 3 * y, (x + 2) % 3 + 3 * y, x + 3 * ((y + 1) % 3), x + 3 * ((y + 2) % 3)]
    };
    let findings = found(&exchange(9, torus, 10), RuleId::A004);
    assert!(findings.is_empty(), "{findings:?}");
}

#[test]
fn an_exchange_is_found_beside_a_broadcast_of_one_of_its_ranks() {
    let mut ranks = exchange(5, |me| (0..5).filter(|&peer| peer != me).collect(), 10);
    for (me, program) in ranks.iter_mut().enumerate() {
        let taken = std::mem::take(program);
        *program = match me {
            0 => (1..5)
                .fold(taken, |program, peer| program.then(Vec::new(), message(Call::Send, 6, element(4, 0), 80, peer))),
            _ => taken.then(Vec::new(), message(Call::Recv, 7, element(5, 0), 80, 0)),
        };
    }
    let findings = found(&ranks, RuleId::A004);
    let names: Vec<String> = findings.iter().map(|finding| replaced(finding).0).collect();
    assert_eq!(names, ["Alltoall", "Bcast"]);
    let partner = findings[1].places.iter().find(|place| place.role == Role::Partner).unwrap();
    assert_eq!(partner.location.line, 107, "a line of the rank that receives");
}

fn waits(ranks: &[Program], rule: RuleId, eager: Option<u64>) -> Vec<Finding> {
    of(&advise(ranks, false, &Options { eager, ..Options::default() }), rule)
}

#[test]
fn a_receive_waits_for_the_computation_of_its_sender() {
    // Rank 0 computes 3 ms and 1 ms before it sends. Rank 1 waits 4 ms for it, and rank 2 waits as long for rank 1,
    // which is not the cause.
    let ranks = [
        Program::default()
            .after(3_000_000, Event { site: 11, ..Event::new(Call::Iprobe, 0, 0) })
            .after(1_000_000, message(Call::Send, 11, element(1, 0), 8, 1)),
        Program::default()
            .after(0, message(Call::Recv, 12, element(1, 0), 8, 0))
            .after(1_000, message(Call::Send, 13, element(1, 0), 8, 2)),
        Program::default().after(0, message(Call::Recv, 14, element(1, 0), 8, 1)),
    ];
    let findings = waits(&ranks, RuleId::A101, None);
    assert_eq!(findings.len(), 2, "{findings:?}");
    for (finding, line, time) in [(&findings[0], 112, 4_000_000), (&findings[1], 114, 4_001_000)] {
        assert_eq!((finding.places[0].location.line, finding.time_ns), (line, time));
        let causes: Vec<u32> =
            finding.places.iter().filter(|place| place.role == Role::Cause).map(|place| place.location.line).collect();
        assert!(causes.contains(&110), "the computation before line 110 of rank 0 is the longest: {causes:?}");
        assert!(finding.text[0].contains("for rank 0"), "{:?}", finding.text);
    }
    assert!(waits(&ranks, RuleId::A102, Some(4)).is_empty(), "no sender waits: the receivers are there first");
}

#[test]
fn a_large_message_waits_for_its_receiver_and_a_small_one_does_not() {
    let ranks = |bytes| {
        [
            Program::default().after(0, message(Call::Send, 1, element(1, 0), bytes, 1)),
            Program::default().after(2_000_000, message(Call::Recv, 2, element(1, 0), bytes, 0)),
        ]
    };
    let findings = waits(&ranks(8000), RuleId::A102, Some(4000));
    assert_eq!((findings.len(), findings[0].time_ns), (1, 2_000_000));
    let findings = waits(&ranks(8000), RuleId::A106, Some(4000));
    assert!(matches!(
        findings[0].change,
        Change::Scenario(hayase_advice::model::ScenarioChange::RaiseEager { to: 8000 })
    ));
    for (bytes, eager) in [(4000, Some(4000)), (8000, None)] {
        assert!(waits(&ranks(bytes), RuleId::A102, eager).is_empty());
        assert!(waits(&ranks(bytes), RuleId::A106, eager).is_empty());
    }
}

#[test]
fn ranks_that_come_early_to_a_barrier_wait_for_the_last() {
    let ranks: Vec<Program> = (0..4)
        .map(|rank| {
            let cpu = if rank == 2 { 5_000_000 } else { 1_000_000 };
            Program::default().after(cpu, Event { site: 8, ..Event::new(Call::Barrier, 0, 0) })
        })
        .collect();
    let findings = waits(&ranks, RuleId::A103, None);
    let [finding] = findings.as_slice() else { panic!("{findings:?}") };
    assert_eq!((finding.time_ns, finding.ranks.to_string().as_str()), (12_000_000, "0-1, 3"));
    assert!(finding.text[0].contains("for rank 2"));
    // Balanced work gives no finding.
    let even: Vec<Program> =
        (0..4).map(|_| Program::default().after(1_000_000, Event::new(Call::Barrier, 0, 0))).collect();
    assert!(waits(&even, RuleId::A103, None).is_empty());
}

#[test]
fn a_ping_pong_of_small_messages_is_a_chain_and_one_of_long_computation_is_not() {
    let ranks = |cpu: u64| {
        let mut ranks = [Program::default(), Program::default()];
        for i in 0..40 {
            let (sends, receives) = (i % 2, 1 - i % 2);
            let take = std::mem::take(&mut ranks[sends]);
            ranks[sends] = take.after(cpu, message(Call::Send, 1, element(1, 0), 8, receives as i32));
            let take = std::mem::take(&mut ranks[receives]);
            ranks[receives] = take.after(0, message(Call::Recv, 2, element(1, 0), 8, sends as i32));
        }
        ranks
    };
    let findings = waits(&ranks(500), RuleId::A105, None);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(waits(&ranks(50_000), RuleId::A105, None).is_empty());
}

#[test]
fn a_receiver_of_many_is_named_and_an_exchange_is_not() {
    assert_eq!(waits(&all_to_one(6, |peer| element(2, 10 * peer as u64), Vec::new()), RuleId::A104, None).len(), 1);
    assert!(waits(&all_to_one(4, |peer| element(2, 10 * peer as u64), Vec::new()), RuleId::A104, None).is_empty());
    let all = |me: u32| (0..6).filter(|&peer| peer != me).collect::<Vec<_>>();
    assert!(waits(&exchange(6, all, 10), RuleId::A104, None).is_empty());
}

#[test]
fn without_memory_findings_are_to_be_checked() {
    let advice = advise(&two_messages(Vec::new(), Vec::new()), false, &Options::default());
    assert!(advice.notes.iter().any(|note| note.contains("memory accesses were not recorded")));
    let merged = of(&advice, RuleId::A002);
    assert_eq!((merged.len(), merged[0].certainty()), (1, Certainty::Check));
    assert!(merged[0].caveats.iter().any(|caveat| caveat.contains("hayase cc")));
}

#[test]
fn a_run_whose_messages_never_meet_ends_with_a_note() {
    let ranks = [
        Program::default().after(0, message(Call::Recv, 1, element(1, 0), 8, 1)),
        Program::default().after(0, message(Call::Recv, 1, element(1, 0), 8, 0)),
    ];
    let advice = advise(&ranks, false, &Options::default());
    assert!(advice.notes.iter().any(|note| note.contains("waits at event 1")), "{:?}", advice.notes);
}

/// Rank 0 broadcasts a few bytes and then more, twice; `reads` is true if the ranks read the first before the
/// second.
fn length_and_payload(first: u64, sizes: [u64; 2], reads: bool) -> Vec<Program> {
    let bcast = |line: u32, array: u64, bytes: u64| Event {
        peer: 0,
        element: 4,
        bytes,
        buffer: element(array, 0),
        site: line + 1,
        ..Event::new(Call::Bcast, 0, 0)
    };
    let program = |rank: u32| {
        let mut program = Program::default();
        for bytes in sizes {
            let read = if reads && rank > 0 { touch(0, 1, 0..1) } else { Vec::new() };
            program = program
                .then(Vec::new(), bcast(0, 1, first))
                .then(read, bcast(1, 2, bytes))
                .then(touch(0, 2, 0..1), Event::new(Call::Barrier, 0, 0));
        }
        program
    };
    (0..3).map(program).collect()
}

#[test]
fn a_length_and_then_so_many_bytes_stay_two() {
    let certainty = |ranks: &[Program], memory| {
        let found = of(&advise(ranks, memory, &Options::default()), RuleId::A003);
        found
            .first()
            .map(|finding| (finding.certainty(), finding.caveats.iter().any(|it| it.contains("length depends"))))
    };
    let (proven, in_doubt) = (Some((Certainty::Proven, false)), Some((Certainty::Check, true)));
    for (first, sizes, reads, wanted) in [
        // The first is read and the second longer: a length.
        (4, [400, 400], true, None),
        (8, [4, 400], true, None),
        (32, [400, 400], true, None),
        // The second is not longer, but of several sizes.
        (8, [8, 4], true, None),
        // Two values, or one that decides if there is another.
        (8, [8, 8], true, in_doubt),
        // Data that no rank reads decides nothing.
        (4, [400, 300], false, proven),
        // A group that begins with a length.
        (36, [400, 400], true, in_doubt),
        (80, [40, 20], true, in_doubt),
        (80, [40, 40], true, in_doubt),
    ] {
        let ranks = length_and_payload(first, sizes, reads);
        assert_eq!(certainty(&ranks, true), wanted, "{first} B, {sizes:?}, read: {reads}");
    }
    // Reads were not recorded: only the sizes tell.
    assert_eq!(certainty(&length_and_payload(4, [400, 300], false), false), None);
    assert_eq!(certainty(&length_and_payload(4, [400, 400], false), false), in_doubt);
    assert_eq!(certainty(&length_and_payload(80, [400, 300], false), false), Some((Certainty::Check, false)));
}

#[test]
fn what_is_replaced_is_sent_first() {
    // The buffer is not touched before and after. Still no data may arrive in it before it is sent, and no received
    // data may be sent from it.
    let replace = |peer: i32| Event {
        peer2: peer,
        tag2: 1,
        bytes2: 80,
        ..message(Call::SendrecvReplace, 0, element(1, 0), 80, peer)
    };
    let one = |peer| {
        Program::default()
            .then(touch(0, 4, 0..5), replace(peer))
            .then(touch(0, 4, 0..5), Event::new(Call::Barrier, 0, 0))
    };
    let findings = found(&[one(1), one(0)], RuleId::A001);
    let moves: Vec<Action> = findings.iter().flat_map(edits).map(|(_, _, action)| action).collect();
    assert_eq!(moves.len(), 4, "{findings:?}");
    for action in moves {
        let Action::Overlap { part, post, wait, .. } = action else { panic!("{action:?}") };
        match part {
            CallPart::Receive => assert_eq!((post.interval, post.fraction), (0, 1.0)),
            // The call itself ends it.
            _ => assert_eq!((wait.interval, wait.fraction), (0, 1.0)),
        }
    }
}

#[test]
fn counts_that_came_are_there_when_they_are_given() {
    // No recorded access reads the gathered data, but the next call may read it as its counts.
    let gather = |rank: u32, bytes| Event {
        bytes,
        element: 4,
        buffer: element(1, u64::from(rank)),
        buffer2: element(2, 0),
        site: 1,
        ..Event::new(Call::Allgather, 0, 0)
    };
    let counted = Event {
        bytes: 8,
        element: 4,
        buffer: element(3, 0),
        buffer2: element(4, 0),
        counts2: vec![8; 2],
        site: 2,
        ..Event::new(Call::Allgatherv, 0, 0)
    };
    let late = |bytes| -> Vec<i64> {
        let one = |rank| {
            Program::default()
                .then(touch(0, 5, 0..5), gather(rank, bytes))
                .then(touch(0, 5, 0..5), counted.clone())
                .then(touch(0, 5, 0..5), Event::new(Call::Barrier, 0, 0))
        };
        let gathered = found(&[one(0), one(1)], RuleId::A001).remove(0);
        assert_eq!(gathered.places[0].location.line, 100);
        let waits = edits(&gathered).into_iter().map(|(_, _, action)| match action {
            Action::Overlap { wait, .. } => wait.interval,
            _ => panic!("{action:?}"),
        });
        waits.collect()
    };
    assert_eq!(late(4), [1, 1], "not behind the call that may be given it");
    assert_eq!(late(400), [4, 4], "so many bytes are no counts of two ranks: up to the end");
}

/// Creates a call at line 100 + `line` that names these requests.
fn named(call: Call, line: u32, requests: &[u64]) -> Event {
    Event { requests: requests.into(), site: line + 1, ..Event::new(call, 0, 0) }
}

#[test]
fn a_start_with_nobody_among_its_requests_starts_each_of_the_others() {
    let init =
        |call, request, peer| Event { requests: vec![request], ..message(call, 0, element(request, 0), 80, peer) };
    let edge = Program::default()
        .after(0, init(Call::RecvInit, 1, Event::PROC_NULL))
        .after(0, init(Call::RecvInit, 2, 1))
        .after(0, named(Call::Startall, 1, &[1, 2]))
        .after(0, named(Call::Wait, 2, &[1]))
        .after(1_000_000, named(Call::Wait, 3, &[2]));
    let ranks = [edge, Program::default().after(3_000_000, message(Call::Send, 4, element(1, 0), 80, 0))];
    let findings = waits(&ranks, RuleId::A101, None);
    let [finding] = findings.as_slice() else { panic!("one wait: {findings:?}") };
    assert_eq!((finding.places[0].location.line, finding.time_ns), (103, 2_000_000));
}

#[test]
fn starts_of_a_receive_from_anyone_take_what_they_brought() {
    let open = Flags::ANY_SOURCE;
    let init = Event { requests: vec![1], flags: open, ..message(Call::RecvInit, 0, element(1, 0), 80, -1) };
    let start = |line, peer| Event { requests: vec![1], flags: open, ..message(Call::Start, line, 0, 80, peer) };
    // The first is from rank 2, the second was cancelled, the third is from rank 1.
    let receiver = Program::default()
        .after(0, init)
        .after(0, start(1, 2))
        .after(0, named(Call::Wait, 2, &[1]))
        .after(0, start(3, Event::PROC_NULL))
        .after(0, named(Call::Wait, 4, &[1]))
        .after(0, start(5, 1))
        .after(0, named(Call::Wait, 6, &[1]));
    let sender = |cpu, line| Program::default().after(cpu, message(Call::Send, line, element(1, 0), 80, 0));
    let ranks = [receiver, sender(5_000_000, 7), sender(3_000_000, 8)];
    let found: Vec<_> = waits(&ranks, RuleId::A101, None)
        .iter()
        .map(|finding| (finding.places[0].location.line, finding.time_ns))
        .collect();
    assert_eq!(found, [(102, 3_000_000), (106, 2_000_000)]);
}

#[test]
fn a_persistent_send_that_waits_for_its_receiver_is_a_send() {
    let init = Event { requests: vec![1], ..message(Call::SendInit, 0, element(1, 0), 8000, 1) };
    let sender =
        Program::default().after(0, init).after(0, named(Call::Start, 1, &[1])).after(0, named(Call::Wait, 2, &[1]));
    let ranks = [sender, Program::default().after(2_000_000, message(Call::Recv, 3, element(1, 0), 8000, 0))];
    assert_eq!(waits(&ranks, RuleId::A102, Some(4000)).len(), 1);
    assert_eq!(waits(&ranks, RuleId::A106, Some(4000)).len(), 1);
    assert!(waits(&ranks, RuleId::A101, Some(4000)).is_empty());
}

#[test]
fn a_receive_of_which_the_tag_is_not_known_holds_nobody_up() {
    let open = Event { tag: -1, flags: Flags::ANY_TAG, ..message(Call::Recv, 0, element(1, 0), 80, 1) };
    let ranks = [
        Program::default().after(0, open).after(0, message(Call::Recv, 1, element(2, 0), 80, 1)),
        Program::default().after(1_000_000, message(Call::Send, 2, element(1, 0), 80, 0)),
    ];
    let advice = advise(&ranks, false, &Options::default());
    assert!(advice.notes.iter().all(|note| !note.contains("waits at event")), "{:?}", advice.notes);
    assert_eq!(of(&advice, RuleId::A101).len(), 1, "the other one has the message");
}

//! Schedules that survive writing and reading, and mistakes with their places.

use proptest::prelude::*;

use super::*;
use crate::diagnostic::{Diagnostic, Invalid, Sources};
use crate::ids::RankId;
use crate::program::{ANY_SOURCE, ANY_TAG, Envelope, Op, Program, ProgramBuilder};
use crate::reading::Input;
use crate::units::Time;

fn read(text: &str) -> Result<Program, Vec<Diagnostic>> {
    read_text(Input::from_bytes("x.goal", text.into()))
}

/// Returns all mistakes of a schedule, one per line.
fn mistakes(text: &str) -> String {
    let diagnostics = read(text).expect_err("a mistake");
    Invalid { diagnostics, sources: Sources::default() }.lines()
}

fn text_of(program: &Program) -> String {
    let mut text = Vec::new();
    write_text(program, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// Operations of a rank and, for each of them, the operations that it waits for, with a flag for start only.
type Content = (Vec<Op>, Vec<Vec<(u32, bool)>>);

/// Returns the comparable content of a program: operations and followers.
fn content(program: &Program) -> Vec<Content> {
    let rank = |rank: RankId| {
        let ops = program.rank(rank);
        let graph = ops.graph().expect("GOAL is a graph");
        let followers = |op| graph.followers(op).map(|follower| (follower.op, follower.for_start)).collect();
        (ops.ops.clone(), (0..ops.ops.len() as u32).map(followers).collect())
    };
    program.rank_ids().map(rank).collect()
}

/// Returns the content in the order of the binary form: dependences on ends apart from those on starts.
fn sorted(program: &Program) -> Vec<Content> {
    let mut content = content(program);
    content.iter_mut().flat_map(|rank| &mut rank.1).for_each(|followers| followers.sort_by_key(|f| f.1));
    content
}

#[test]
fn everything_that_the_language_has_is_understood() {
    let program = read(
        "// a schedule\r\n/* of\n two */ num_ranks 2\n\nrank 0 {\na: send 5 b to 1\nb:recv 7b from -1 tag -1 cpu 2 nic 3\n\
         c: calc 9 cpu 1\nb requires a\n// later\n\tc irequires a\nsend 1b to 1 nic 4\n}\nrank 1{\n}\nanything at all {",
    )
    .unwrap();
    let ops = &program.rank(RankId(0)).ops;
    assert_eq!(
        ops.as_slice(),
        [
            Op::send(Envelope::world(1, 0), 5),
            Op::recv(Envelope::world(ANY_SOURCE, ANY_TAG), 7).on(2, 3),
            Op::calc(Time::from_ps(9000.0)).on(1, 0),
            Op::send(Envelope::world(1, 0), 1).on(0, 4),
        ]
    );
    assert_eq!(content(&program)[0].1[0], [(1, false), (2, true)]);
    assert_eq!(program.place(RankId(0), 1).as_deref(), Some("x.goal:7"));
    assert!(program.rank(RankId(1)).ops.is_empty());
    assert_eq!(program.lanes(), (3, 5));
}

#[test]
fn the_first_of_two_labels_of_a_name_stays() {
    let program = read("num_ranks 1\nrank 0 {\na: calc 1\na: calc 2\nb: calc 3\nb requires a\n}\n").unwrap();
    assert_eq!(content(&program)[0].1[0], [(2, false)]);
}

#[test]
fn every_mistake_is_found_where_it_stands() {
    for (line, place, what) in [
        ("frob 3", "3:1", "`frob` is not an operation"),
        ("send 8b to 2", "3:12", "there is no rank 2; `num_ranks` says 2"),
        ("send 8b to -1", "3:12", "`-` where the number of a rank is expected"),
        ("send 8b from 1", "3:9", "`from` where `to` is expected"),
        ("send 8 to 1", "3:8", "`to` where `b` is expected"),
        ("send b to 1", "3:6", "`b` where a number of bytes is expected"),
        ("send 99999999999999999999b to 1", "3:6", "does not fit in 64 bits"),
        ("send 8b to 1 cpu 256", "3:18", "a processor is at most 255"),
        ("send 8b to 1 cpu 1 tag 3", "3:20", "`tag` where the end of the line is expected"),
        ("calc 5 nic 1", "3:8", "`nic` where the end of the line is expected"),
        ("calc 1.5", "3:7", "`.` where the end of the line is expected"),
        ("calc", "3:5", "the line ends where a time in nanoseconds is expected"),
        ("calc 5 // why", "3:8", "a comment has a line of its own"),
        ("a: ", "3:4", "the line ends where an operation is expected"),
        ("1: calc 5", "3:1", "a label starts with a letter"),
        ("a requires b", "3:1", "no operation `a` of rank 0 above"),
        ("a: calc 1\nb: calc 1\na requires b\nb requires c", "6:12", "no operation `c` of rank 0 above"),
        ("a: calc 1\na requires a", "4:1", "requires itself"),
        ("recv 1b from -2", "3:14", "`-` where"),
        ("} x", "3:3", "`x` where the end of the line is expected"),
    ] {
        let text = format!("num_ranks 2\nrank 0 {{\n{line}\n}}\nrank 1 {{\n}}\n");
        let mistakes = mistakes(&text);
        assert!(mistakes.contains(&format!("x.goal:{place}: ")) && mistakes.contains(what), "{line}: {mistakes}");
    }
}

#[test]
fn a_file_that_is_cut_off_or_lacks_a_rank_says_so() {
    for (text, what) in [
        ("", "is empty"),
        ("\n// nothing\n", "is empty"),
        ("rank 0 {", "x.goal:1:1: `rank` where `num_ranks` is expected"),
        ("num_ranks 0", "no ranks"),
        ("num_ranks 2\nrank 0 {\ncalc 5\n", "x.goal:2: the block of rank 0 has no end"),
        ("num_ranks 2\nrank 0 {\ncalc 5\n}\n", "rank 1 is missing; `num_ranks` says 2"),
        ("num_ranks 2\nrank 1 {\n}\n", "x.goal:2:6: rank 1 where rank 0 is expected"),
        ("num_ranks 2\nrank 2 {\n}\n", "there is no rank 2"),
        ("num_ranks 1\n/* rank 0 {\n}\n", "x.goal:2: a comment has no end"),
        ("num_ranks 4294967295\n", "a number of ranks is at most"),
        ("num_ranks 16777216\n", "rank 0 is missing"),
        (
            "num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\na requires b\nb requires a\n}\n",
            "requires itself, by way of others",
        ),
    ] {
        assert!(mistakes(text).contains(what), "{text:?}: {}", mistakes(text));
    }
}

#[test]
fn all_mistakes_are_reported_up_to_a_limit() {
    let three = mistakes("num_ranks 1\nrank 0 {\nx\ny\nz\n}\n");
    assert_eq!(three.matches("is not an operation").count(), 3);
    let many = mistakes(&format!("num_ranks 1\nrank 0 {{\n{}}}\n", "x\n".repeat(50)));
    assert!(many.contains("20 mistakes or more"), "{many}");
}

#[test]
fn a_sequence_becomes_a_chain_in_which_a_wait_requires_what_it_waits_for() {
    let mut program = ProgramBuilder::new(2);
    let mut rank = program.sequence(0);
    let request = rank.push(Op::isend(Envelope::world(1, 3), 8));
    rank.push(Op::calc(Time::from_ps(5e6)));
    rank.push(Op::wait(request));
    program.finish_rank(rank);
    let mut rank = program.sequence(1);
    rank.push(Op::recv(Envelope::world(0, 3), 8));
    program.finish_rank(rank);
    let program = program.build().unwrap();
    assert_eq!(
        text_of(&program),
        "num_ranks 2\n\nrank 0 {\nl1: send 8b to 1 tag 3\nl2: calc 5000\nl3: calc 0\nl2 irequires l1\nl3 requires l1\n\
         l3 requires l2\n}\n\nrank 1 {\nrecv 8b from 0 tag 3\n}\n"
    );
}

#[test]
fn schedules_of_other_programs_come_back_from_text_and_from_binary() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("validation/goal");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "goal") {
            let program = read(&std::fs::read_to_string(&path).unwrap()).unwrap();
            let mut binary = Vec::new();
            write_binary(&program, &mut binary).unwrap();
            let back = read_binary(Input::from_bytes("x.bin", binary)).unwrap();
            assert_eq!(content(&read(&text_of(&program)).unwrap()), content(&program), "{}", path.display());
            assert_eq!(sorted(&back), sorted(&program), "{}", path.display());
            count += 1;
        }
    }
    assert!(count >= 9, "only {count} schedules");
}

#[test]
fn communicators_keep_apart_by_their_tags() {
    let mut program = ProgramBuilder::new(2);
    program.communicator([0, 1]);
    for (number, send) in [(0, true), (1, false)] {
        let mut rank = program.sequence(number);
        for comm in [0, 1] {
            let with = Envelope { peer: 1 - number, tag: 9, comm };
            rank.push(if send { Op::send(with, 1) } else { Op::recv(with, 1) });
        }
        program.finish_rank(rank);
    }
    let text = text_of(&program.build().unwrap());
    assert!(text.contains("tag 9\n") && text.contains("tag 19\n"), "{text}");
}

#[test]
fn what_goal_has_no_word_for_is_named() {
    let mut program = ProgramBuilder::new(1);
    let mut rank = program.sequence(0);
    rank.push(Op::probe(Envelope::world(ANY_SOURCE, 3)));
    program.finish_rank(rank);
    let error = write_text(&program.build().unwrap(), &mut Vec::new()).unwrap_err();
    assert!(error.to_string().contains("GOAL has no probe"), "{error}");
}

fn any_program() -> impl Strategy<Value = Program> {
    const RANKS: u32 = 3;
    let peer = || prop_oneof![3 => 0..RANKS, 1 => Just(ANY_SOURCE)];
    let tag = || prop_oneof![0..4_u32, Just(ANY_TAG), any::<u32>()];
    let op =
        (0..3, peer(), tag(), 0..1_u64 << 40, 0..3_u8, 0..3_u8).prop_map(
            |(kind, peer, tag, size, cpu, nic)| match kind {
                0 => Op::send(Envelope::world(peer.min(RANKS - 1), tag), size).on(cpu, nic),
                1 => Op::recv(Envelope::world(peer, tag), size).on(cpu, nic),
                _ => Op::calc(Time::from_ps(size as f64 * 1000.0)).on(cpu, 0),
            },
        );
    // Edges ascend in some order of the operations other than theirs, so there are no cycles and both directions occur.
    let edge = (any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<bool>());
    let rank = (prop::collection::vec(op, 0..12), prop::collection::vec(edge, 0..12), any::<u32>());
    prop::collection::vec(rank, RANKS as usize).prop_map(|ranks| {
        let mut program = ProgramBuilder::new(RANKS);
        for (number, (ops, edges, salt)) in ranks.into_iter().enumerate() {
            let mut rank = program.graph(number as u32);
            for &op in &ops {
                rank.push(op);
            }
            let key = |op: usize| (op as u32).wrapping_add(salt).wrapping_mul(2_654_435_761);
            for (a, b, for_start) in edges {
                if ops.is_empty() {
                    break;
                }
                let (a, b) = (a.index(ops.len()), b.index(ops.len()));
                if key(a) < key(b) {
                    match for_start {
                        false => rank.requires(b as u32, a as u32),
                        true => rank.irequires(b as u32, a as u32),
                    }
                }
            }
            program.finish_rank(rank);
        }
        program.build().unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_schedule_comes_back_from_text(program in any_program()) {
        let back = read(&text_of(&program)).unwrap();
        prop_assert_eq!(content(&back), content(&program));
    }

    #[test]
    fn a_schedule_comes_back_from_binary(program in any_program()) {
        let mut bytes = Vec::new();
        write_binary(&program, &mut bytes).unwrap();
        let back = read_binary(Input::from_bytes("x.bin", bytes)).unwrap();
        prop_assert_eq!(sorted(&back), sorted(&program));
    }

    #[test]
    fn a_mangled_text_is_read_or_refused(program in any_program(), changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5), cut in any::<prop::sample::Index>()) {
        let mut text = text_of(&program).trim_end().as_bytes().to_vec();
        let cut = text[..cut.index(text.len())].to_vec();
        prop_assert!(read_text(Input::from_bytes("x", cut)).is_err(), "what is cut off lacks its last brace");
        for (at, byte) in changes {
            let at = at.index(text.len());
            text[at] = byte;
        }
        let _ = read_text(Input::from_bytes("x", text));
    }

    #[test]
    fn a_mangled_binary_is_read_or_refused(program in any_program(), changes in prop::collection::vec((any::<prop::sample::Index>(), prop_oneof![Just(0xff), any::<u8>()]), 0..5), cut in any::<prop::sample::Index>()) {
        let mut bytes = Vec::new();
        write_binary(&program, &mut bytes).unwrap();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let _ = read_binary(Input::from_bytes("x", bytes.clone()));
        bytes.truncate(cut.index(bytes.len()));
        prop_assert!(read_binary(Input::from_bytes("x", bytes)).is_err());
    }
}

#[test]
fn numbers_of_four_billion_in_a_binary_are_refused() {
    let program = read("num_ranks 2\nrank 0 {\na: calc 1\nb: calc 2\nb requires a\n}\nrank 1 {\n}\n").unwrap();
    let mut bytes = Vec::new();
    write_binary(&program, &mut bytes).unwrap();
    let start = 8 + 6 + 32;
    for (at, what) in [
        (8, "a schedule of 4294967295 ranks"),
        (start, "claims to have 4294967295 operations"),
        (start + 4, "claims to have 2 operations, which are not there"),
        (start + 12 + 23, "has followers that are not there"),
        (start + 12 + 27, "has followers that are not there"),
        (start + 12 + 78, "is followed by operation 4294967295"),
    ] {
        let mut bytes = bytes.clone();
        bytes[at..at + 4].fill(0xff);
        let mistakes = read_binary(Input::from_bytes("x.bin", bytes)).unwrap_err();
        assert!(mistakes[0].message.contains(what), "{at}: {}", mistakes[0].message);
    }
    let mistakes = read_binary(Input::from_bytes("x.bin", super::binary::MAGIC[..7].to_vec())).unwrap_err();
    assert!(mistakes[0].message.contains("byte 7: the schedule ends"), "{}", mistakes[0].message);
}

#[test]
fn ranks_of_a_binary_may_stand_anywhere() {
    let program = read("num_ranks 2\nrank 0 {\na: calc 1\nb: calc 2\nb requires a\n}\nrank 1 {\ncalc 3\n}\n").unwrap();
    let mut bytes = Vec::new();
    write_binary(&program, &mut bytes).unwrap();
    let (head, table) = (8 + 6, 8 + 6 + 32);
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize + 8;
    let first = bytes[number(head)..number(head + 8)].to_vec();
    let second = bytes[number(head + 16)..number(head + 24)].to_vec();
    // The second rank stands before the first one, or far behind it.
    for (gap, swapped) in [(0, true), (100, true), (100, false), (200_000, false)] {
        let mut moved = bytes[..table].to_vec();
        let mut put = |rank: usize, part: &[u8]| {
            moved.resize(moved.len() + gap, 0xff);
            let (start, end) = (moved.len() as u64 - 8, (moved.len() + part.len()) as u64 - 8);
            moved.extend_from_slice(part);
            let entry = head + 16 * rank;
            moved[entry..entry + 8].copy_from_slice(&start.to_le_bytes());
            moved[entry + 8..entry + 16].copy_from_slice(&end.to_le_bytes());
        };
        match swapped {
            true => [put(1, &second), put(0, &first)],
            false => [put(0, &first), put(1, &second)],
        };
        let back = read_binary(Input::from_bytes("x.bin", moved.clone())).unwrap();
        assert_eq!(sorted(&back), sorted(&program), "{gap} {swapped}");
        assert_eq!(back.place(RankId(0), 1).as_deref(), Some("x.bin, operation 2"));
        assert_eq!(back.place(RankId(0), 2).as_deref(), Some("x.bin"));
        moved.pop();
        let mistakes = read_binary(Input::from_bytes("x.bin", moved)).unwrap_err();
        let what = format!("rank {} lies beyond the end of the file", u8::from(!swapped));
        assert!(mistakes[0].message.contains(&what), "{}", mistakes[0].message);
    }
}

//! Tests of folding: unfolding gives back the folded program.

use proptest::prelude::*;

use super::*;
use crate::ids::RankId;
use crate::program::{Collective, Counts, Envelope, Op, Program, ProgramBuilder};
use crate::reading::Input;
use crate::units::Time;

/// Returns the operations of a program without its calculations, with requests by age, so that positions do
/// not matter.
fn bare(program: &Program) -> Vec<Vec<String>> {
    let of = |rank: RankId| {
        let ops = program.rank(rank);
        let mut started: Vec<u32> = Vec::new();
        let mut lines = Vec::new();
        for (at, op) in ops.ops.iter().enumerate() {
            let age = |request: &u32| started.iter().rev().position(|found| found == request).unwrap() + 1;
            let site = program.site(rank, at as u32).map_or("", |site| site);
            match op.kind {
                OpKind::Calc => continue,
                OpKind::Wait | OpKind::Test => lines.push(format!("{:?} {} {site}", op.kind, age(&op.arg))),
                OpKind::Waitall | OpKind::Waitany | OpKind::Waitsome => {
                    let ages: Vec<_> = ops.list(op.arg, op.size as u32).iter().map(age).collect();
                    lines.push(format!("{:?} {ages:?} {site}", op.kind));
                }
                OpKind::Collective | OpKind::Icollective => {
                    lines.push(format!("{:?} {:?} {site}", op.kind, program.collectives[op.arg as usize]));
                }
                _ => lines.push(format!("{op:?} {site}")),
            }
            if op.kind.is_nonblocking() {
                started.push(at as u32);
            }
        }
        lines
    };
    program.rank_ids().map(of).collect()
}

/// Timing that returns the recorded times of blocks, one execution after another.
struct Recorded<'a>(&'a [Vec<Time>], usize, usize);

impl Timing for Recorded<'_> {
    fn rank(&mut self, rank: u32) {
        (self.1, self.2) = (rank as usize, 0);
    }
    fn time(&mut self, _block: u32, _execution: u64) -> Time {
        self.2 += 1;
        self.0[self.1][self.2 - 1]
    }
}

fn computed(program: &Program) -> Vec<Vec<Time>> {
    let of = |rank| {
        let calcs = program.rank(rank).ops.iter().filter(|op| op.kind == OpKind::Calc);
        calcs.map(Op::duration).collect()
    };
    program.rank_ids().map(of).collect()
}

fn comes_back(program: &Program) -> ProgramData {
    let Folded { data, times } = fold(program).unwrap();
    let mut text = Vec::new();
    write(&data, &mut text).unwrap();
    let read = read(Input::from_bytes("x.prog", text.clone())).unwrap();
    assert_eq!(read, data, "{}", String::from_utf8_lossy(&text));
    let blocks = Blocks::of(&read);
    let unfolded = unfold(&read, &blocks, &mut Recorded(&times, 0, 0), "x.prog").unwrap();
    assert_eq!(bare(&unfolded), bare(program), "{}", String::from_utf8_lossy(&text));
    assert_eq!(computed(&unfolded), computed(program));
    data
}

/// Builds an elimination: the owner of column k sends the rest of the column to all other ranks.
fn elimination(ranks: u32, columns: u32) -> Program {
    let mut program = ProgramBuilder::new(ranks);
    let (send, receive) = (program.site("gauss.c:10"), program.site("gauss.c:12"));
    for me in 0..ranks {
        let mut rank = program.sequence(me);
        for k in 0..columns {
            let bytes = u64::from(8 * (columns - k));
            rank.push(Op::calc(Time::from_ps(f64::from(1 + (columns - k) * 1000))));
            let owner = k % ranks;
            if owner == me {
                rank.at_site(send);
                for to in (0..ranks).filter(|&to| to != me) {
                    rank.push(Op::send(Envelope::world(to, k), bytes));
                }
            } else {
                rank.at_site(receive);
                rank.push(Op::recv(Envelope::world(owner, k), bytes));
            }
        }
        program.finish_rank(rank);
    }
    program.build().unwrap()
}

#[test]
fn an_elimination_folds_to_a_few_lines_a_rank() {
    let data = comes_back(&elimination(8, 200));
    // 25 rounds of 7 receives and a row of sends at each rank, in two parts around its own number.
    assert!(data.steps() <= 8 * 12, "{} steps", data.steps());
    let larger = comes_back(&elimination(8, 400));
    assert_eq!(larger.steps(), data.steps(), "the folded program does not grow with the matrix");
}

#[test]
fn ranks_of_a_ring_are_one_group() {
    let mut program = ProgramBuilder::new(16);
    for me in 0..16 {
        let mut rank = program.sequence(me);
        for _ in 0..100 {
            rank.sendrecv(Envelope::world((me + 1) % 16, 3), 100, Envelope::world((me + 15) % 16, 3), 100);
        }
        for k in 0..4 {
            rank.push(Op::send(Envelope::world(me ^ 1 << k, 4), 8));
            rank.push(Op::recv(Envelope::world(me ^ 1 << k, 4), 8));
        }
        program.finish_rank(rank);
    }
    let data = comes_back(&program.build().unwrap());
    assert_eq!(data.groups.len(), 1);
    let text = data.groups[0].text();
    assert!(
        text.starts_with("loop L1 100\n irecv rank-1 3 100 within\n send rank+1 3 100\n wait 1 within\nend\n"),
        "{text}"
    );
    assert!(text.contains("send rank^4 4 8\n"), "{text}");
    // Eight ranks away is the same in both directions.
    assert!(text.contains("send rank+8 4 8\n"), "{text}");
}

#[test]
fn what_runs_before_a_loop_is_another_block_than_what_it_repeats() {
    let mut program = ProgramBuilder::new(1);
    let (a, b) = (program.site("/home/a/src/x.c:1"), program.site("/home/a/src/x.c:2"));
    let barrier = program.collective(Collective {
        call: crate::program::CollectiveCall::Barrier,
        comm: 0,
        root: 0,
        counts: Counts::Same(0),
        plan: None,
    });
    let mut rank = program.sequence(0);
    for _ in 0..5 {
        rank.at_site(a);
        rank.push(Op::collective(barrier));
        rank.at_site(b);
        rank.push(Op::collective(barrier));
    }
    program.finish_rank(rank);
    let data = comes_back(&program.build().unwrap());
    let blocks = Blocks::of(&data);
    let names: Vec<String> = (0..blocks.count()).map(|block| blocks.name(block).unwrap().to_string()).collect();
    assert_eq!(names, ["x.c:2 -> x.c:1", "start -> x.c:1", "x.c:1 -> x.c:2", "x.c:2 -> end"]);
    struct Count(Vec<u64>);
    impl Timing for Count {
        fn rank(&mut self, _: u32) {}
        fn time(&mut self, block: u32, _: u64) -> Time {
            self.0[block as usize] += 1;
            Time::ZERO
        }
    }
    let mut count = Count(vec![0; 4]);
    unfold(&data, &blocks, &mut count, "x").unwrap();
    assert_eq!(count.0, [4, 1, 5, 1]);
}

#[test]
fn longer_loops_are_longer_programs() {
    let mut data = comes_back(&elimination(4, 40));
    // Sizes that shrink reach 0: this number of iterations is impossible.
    let (before, after) = extend::extend(&mut data, "L1", extend::Iterations::Times(10.0)).unwrap();
    assert_eq!(after, 10 * before);
    let mistakes = unfold(&data, &Blocks::of(&data), &mut (), "x.prog").unwrap_err();
    assert!(mistakes[0].message.contains("gauss.c:1"), "{}", mistakes[0].message);
    let unknown = extend::extend(&mut data, "L99", extend::Iterations::Exactly(2)).unwrap_err();
    assert!(unknown.help.unwrap().contains("L1 to L"));
}

#[test]
fn mistakes_in_a_file_have_their_place() {
    let head = "hayase-program 1\nranks 2\nsite 1 a.c:1\ngroup 0-1\n";
    for (text, line, what) in [
        ("x\n", 1, "begins with"),
        (&format!("{head}send rank^2 0 8\n"), 5, "not a rank"),
        (&format!("{head}send 5 0 8\n"), 5, "not a rank"),
        (&format!("{head}send rank+1 0\n"), 5, "bytes is missing"),
        (&format!("{head}send rank+1 0 8 9\n"), 5, "not 3"),
        (&format!("{head}send rank+1 0 8-1*L1\n"), 5, "is not a number of bytes"),
        (&format!("{head}snd rank+1 0 8\n"), 5, "unknown operation"),
        (&format!("{head}barrier 0 @2\n"), 5, "no @2"),
        (&format!("{head}bcast 4 root=2\n"), 5, "not a root among 2 ranks, from 0 to 1"),
        (&format!("{head}loop L1 0\nend\n"), 5, "at least once"),
        (&format!("{head}end\n"), 5, "no loop is open"),
        (&format!("{head}group 1\n"), 5, "two groups"),
    ] {
        let mistakes = read(Input::from_bytes("x.prog", text.as_bytes().to_vec())).unwrap_err();
        let place = mistakes[0].place(&crate::diagnostic::Sources::default()).unwrap();
        assert!(mistakes[0].message.contains(what), "{text}: {}", mistakes[0].message);
        assert_eq!(place.line, line, "{text}");
    }
    let cut = read(Input::from_bytes("x.prog", format!("{head}loop L1 3\n").into_bytes())).unwrap_err();
    assert!(cut[0].message.contains("cut off"));
}

/// Generates parts of programs that repeat, with numbers that are constant, grow, or are arbitrary.
fn any_program() -> impl Strategy<Value = Program> {
    let piece = (0..6_u8, 0..4_u32, 0..3_u64, 1..6_u32, 1..4_u32, 0..3_i64);
    proptest::collection::vec(piece, 1..12).prop_map(|pieces| {
        let ranks = 5;
        let mut program = ProgramBuilder::new(ranks);
        let comm = program.communicator([4, 0, 2]);
        let sites: Vec<u32> = (0..4).map(|line| program.site(&format!("x.f:{line}"))).collect();
        let collectives: Vec<u32> = (0..3)
            .map(|root| {
                let counts = if root == 2 { Counts::Each([1, 2, 3].into()) } else { Counts::Same(8) };
                let call = crate::program::CollectiveCall::Gather;
                program.collective(Collective { call, comm, root, counts, plan: None })
            })
            .collect();
        for me in 0..ranks {
            let mut rank = program.sequence(me);
            let mut started = Vec::new();
            for (n, &(kind, peer, size, outer, inner, step)) in pieces.iter().enumerate() {
                for i in 0..outer {
                    for j in 0..inner + i * (step as u32 % 2) {
                        rank.at_site(if kind == 5 { 0 } else { sites[(n + peer as usize) % 4] });
                        let bytes = 1000 * (size + 1) - u64::from(i) * step as u64 + u64::from(j) * size;
                        let peer = (me + peer + i * u32::from(kind == 3)) % ranks;
                        match kind {
                            0 => {
                                rank.push(Op::send(Envelope::world(peer, j), bytes));
                            }
                            1 => started.push(rank.push(Op::isend(Envelope::world(peer, 7), bytes))),
                            2 => started.push(rank.push(Op::irecv(Envelope { peer: ANY, tag: ANY, comm: 0 }, bytes))),
                            3 => {
                                rank.sendrecv(Envelope::world(peer, 1), bytes, Envelope::world(peer, 1), 5);
                            }
                            4 if started.len() > 2 && !j.is_multiple_of(2) => {
                                rank.wait_list(OpKind::Waitall, &started.split_off(started.len() - 2));
                            }
                            4 if started.len() > 3 => {
                                rank.wait_list(OpKind::Waitany, &[started[3], started[0]]);
                            }
                            4 => {
                                rank.push(Op::calc(Time::from_ps(f64::from(i + 1))));
                            }
                            _ if comm > 0 && [4, 0, 2].contains(&me) => {
                                let number = collectives[(i as usize * step as usize) % 3];
                                match j.is_multiple_of(2) {
                                    true => drop(rank.push(Op::collective(number))),
                                    false => started.push(rank.push(Op::icollective(number))),
                                }
                            }
                            _ => {
                                rank.push(Op::probe(Envelope { peer, tag: ANY, comm: 0 }));
                            }
                        }
                        rank.push(Op::calc(Time::from_ps(f64::from(1 + j))));
                    }
                }
            }
            program.finish_rank(rank);
        }
        program.build().unwrap()
    })
}

const ANY: u32 = u32::MAX;

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn any_program_comes_back_from_its_folded_form(program in any_program()) {
        // Adjacent calculations are one block.
        let Folded { data, times } = fold(&program).unwrap();
        let blocks = Blocks::of(&data);
        let unfolded = unfold(&data, &blocks, &mut Recorded(&times, 0, 0), "x").unwrap();
        prop_assert_eq!(bare(&unfolded), bare(&program));
        let sum = |program: &Program| -> Vec<f64> {
            computed(program).iter().map(|times| times.iter().map(|time| time.ps()).sum()).collect()
        };
        prop_assert_eq!(sum(&unfolded), sum(&program));
        let mut text = Vec::new();
        write(&data, &mut text).unwrap();
        let again = read(Input::from_bytes("x.prog", text)).unwrap();
        prop_assert_eq!(again, data);
    }
}

#[test]
fn folders_are_no_part_of_the_name_of_a_block() {
    assert_eq!(short("/home/a/src/cg.c:75 (dot/product)"), "cg.c:75 (dot/product)");
    assert_eq!(short("cg.f:1023"), "cg.f:1023");
}

#[test]
fn threads_come_back_with_what_they_wait_for() {
    let mut program = ProgramBuilder::new(1);
    let mut rank = program.sequence(0);
    let to = |tag| Envelope::world(0, tag);
    let us = |us: f64| Time::from_ps(us * 1e6);
    for round in 0..20_u32 {
        let first = rank.push(Op::calc(us(3.0)));
        let request = rank.push(Op::irecv(to(1), 8));
        rank.at_thread(1);
        // First the calculation waits, later the operation after it.
        match round {
            0 => drop(rank.after(crate::program::After::START, us(2.0))),
            _ => drop(rank.push(Op::calc(us(4.0)))),
        }
        rank.after(request, us(1.5));
        rank.push(Op::send(to(1), 8));
        rank.push(Op::calc(us(1.0)));
        rank.at_thread(0);
        rank.after(first, Time::ZERO);
        rank.push(Op::wait(request));
    }
    program.finish_rank(rank);
    let program = program.build().unwrap();
    let Folded { data, times } = fold(&program).unwrap();
    assert!(data.steps() < 40, "{}", data.groups[0].text());
    let mut text = Vec::new();
    write(&data, &mut text).unwrap();
    let data = read(Input::from_bytes("x.prog", text)).unwrap();
    let again = unfold(&data, &Blocks::of(&data), &mut Recorded(&times, 0, 0), "x").unwrap();
    let (before, after) = (program.rank(RankId(0)), again.rank(RankId(0)));
    assert_eq!(after.ops, before.ops);
    for op in 0..before.ops.len() as u32 {
        assert_eq!(after.threads.of(op), before.threads.of(op), "{op}");
        let waits = |of: &crate::program::RankProgram| -> Vec<(u32, Time)> {
            // A calculation takes the place of the last operation before it.
            let on = |on: u32| {
                if of.ops.get(on as usize).is_some_and(|op| op.kind == OpKind::Calc) { on.wrapping_sub(1) } else { on }
            };
            of.threads.after(op).iter().map(|after| (on(after.on), after.lag)).collect()
        };
        assert_eq!(waits(after), waits(before), "{op}");
    }
}

//! Tests of times of blocks: they are gathered, written, read and found again.

use super::*;
use crate::ids::RankId;
use crate::prediction::program::{Folded, extend, fold, unfold};
use crate::program::{Collective, CollectiveCall, Counts, Op, OpKind, Program, ProgramBuilder};
use crate::reading::Input;

/// Builds a program of two ranks: a computation at the start, then iterations of two barriers with
/// `time(rank, iteration)` before the second.
fn program(iterations: u32, time: impl Fn(u32, u32) -> f64) -> Program {
    let mut program = ProgramBuilder::new(2);
    let (a, b) = (program.site("x.c:1"), program.site("x.c:2"));
    let barrier = Collective { call: CollectiveCall::Barrier, comm: 0, root: 0, counts: Counts::Same(0), plan: None };
    let barrier = program.collective(barrier);
    for me in 0..2 {
        let mut rank = program.sequence(me);
        rank.push(Op::calc(Time::from_ps(5e9)));
        for i in 0..iterations {
            rank.at_site(a);
            rank.push(Op::collective(barrier));
            rank.at_site(b);
            rank.push(Op::calc(Time::from_ps(time(me, i))));
            rank.push(Op::collective(barrier));
        }
        program.finish_rank(rank);
    }
    program.build().unwrap()
}

fn halves(program: &Program, pool: Pool) -> (Folded, Blocks, ComputationData) {
    let folded = fold(program).unwrap();
    let blocks = Blocks::of(&folded.data);
    let mut times = gather(&folded, &blocks, pool).unwrap();
    times.notes.push(("source".into(), "a test".into()));
    // Files have a resolution of picoseconds, so a second round trip changes nothing.
    let text = |times: &ComputationData| {
        let mut text = Vec::new();
        write(times, &mut text).unwrap();
        text
    };
    let again = read(Input::from_bytes("x.comp", text(&times))).unwrap();
    assert_eq!(String::from_utf8(text(&again)), String::from_utf8(text(&times)));
    (folded, blocks, again)
}

/// Returns the calculations of rank 0 \[ps\].
fn predicted(folded: &Folded, blocks: &Blocks, mut estimates: Estimates) -> Vec<f64> {
    let program = unfold(&folded.data, blocks, &mut estimates, "x").unwrap();
    let ops = &program.rank(RankId(0)).ops;
    ops.iter().filter(|op| op.kind == OpKind::Calc).map(|op| op.duration().ps()).collect()
}

const ONE: [Machine; 2] = [Machine { data: 0, scale: 1.0 }; 2];

#[test]
fn a_prediction_takes_means_and_what_ran_once_runs_once() {
    let (folded, blocks, times) = halves(&program(10, |_, i| if i % 2 == 0 { 1e6 } else { 3e6 }), Pool::EachRank);
    let estimates = Estimates::new(&folded.data, &blocks, &[times], &ONE, TimeRule::Line).unwrap();
    assert_eq!(estimates.found.by_name + estimates.found.other_ranks, 0);
    let calcs = predicted(&folded, &blocks, estimates);
    assert_eq!(calcs[0], 5e9);
    assert_eq!(&calcs[1..], [2e6; 10]);
}

#[test]
fn times_that_follow_a_line_are_taken_from_it() {
    let (folded, blocks, times) = halves(&program(11, |_, i| 1e6 * f64::from(20 - i)), Pool::EachRank);
    let with = Estimates::new(&folded.data, &blocks, std::slice::from_ref(&times), &ONE, TimeRule::Line).unwrap();
    let calcs = predicted(&folded, &blocks, with);
    assert_eq!((calcs[1], calcs[6], calcs[11]), (20e6, 15e6, 10e6));
    let without = Estimates::new(&folded.data, &blocks, &[times], &ONE, TimeRule::Mean).unwrap();
    assert_eq!(predicted(&folded, &blocks, without)[1..], [15e6; 11]);
}

#[test]
fn work_that_shrinks_to_nothing_along_a_curve_is_taken_from_a_line_with_its_sum() {
    // The line of least squares would end below zero.
    let (folded, blocks, times) = halves(&program(11, |_, i| 1e6 * f64::from((10 - i) * (10 - i))), Pool::EachRank);
    let with = Estimates::new(&folded.data, &blocks, &[times], &ONE, TimeRule::Line).unwrap();
    let calcs = predicted(&folded, &blocks, with);
    // The last execution takes no time and is not an operation.
    assert_eq!((calcs[1], calcs[6], calcs.len()), (70e6, 35e6, 11));
    assert_eq!(calcs[1..].iter().sum::<f64>(), 385e6);
}

#[test]
fn more_iterations_take_the_same_times_and_the_start_is_not_repeated() {
    let (mut folded, _, times) = halves(&program(11, |_, i| 1e6 * f64::from(20 - i)), Pool::EachRank);
    extend::extend(&mut folded.data, "L1", extend::Iterations::Times(10.0)).unwrap();
    let blocks = Blocks::of(&folded.data);
    let estimates = Estimates::new(&folded.data, &blocks, &[times], &ONE, TimeRule::Line).unwrap();
    assert_eq!(estimates.found.by_name, 0, "blocks are the same");
    let calcs = predicted(&folded, &blocks, estimates);
    assert_eq!(calcs.iter().filter(|&&time| time == 5e9).count(), 1);
    assert_eq!((calcs.len(), calcs[1], calcs[110]), (111, 20e6, 10e6), "the line stretches over all iterations");
}

#[test]
fn ranks_may_be_of_different_machines_and_scaled() {
    let (folded, blocks, slow) = halves(&program(9, |rank, _| 1e6 * f64::from(rank + 1)), Pool::EachRank);
    let (_, _, fast) = halves(&program(20, |_, _| 5e5), Pool::EachRank);
    let machines = [Machine { data: 1, scale: 3.0 }, Machine { data: 0, scale: 1.0 }];
    let estimates = Estimates::new(&folded.data, &blocks, &[slow, fast], &machines, TimeRule::Line).unwrap();
    let program = unfold(&folded.data, &blocks, &mut { estimates }, "x").unwrap();
    let last =
        |rank: u32| program.rank(RankId(rank)).ops.iter().rfind(|op| op.kind == OpKind::Calc).unwrap().duration();
    assert_eq!((last(0).ps(), last(1).ps()), (1.5e6, 2e6));
}

#[test]
fn pooled_ranks_share_a_row_and_blocks_without_a_time_are_named() {
    let (folded, blocks, mut pooled) = halves(&program(9, |rank, _| 1e6 * f64::from(rank + 1)), Pool::Group);
    assert!(pooled.blocks.iter().all(|block| block.rows.len() == 1 && block.rows[0].ranks == [0, 1]));
    let estimates = Estimates::new(&folded.data, &blocks, &[pooled.clone()], &ONE, TimeRule::Line).unwrap();
    assert_eq!(predicted(&folded, &blocks, estimates)[1], 1.5e6);
    // Another structure: existing blocks are found by name, the others are mistakes.
    pooled.structure.clear();
    let by_name = Estimates::new(&folded.data, &blocks, &[pooled.clone()], &ONE, TimeRule::Line).unwrap();
    assert_eq!((by_name.found.direct, by_name.found.by_name), (0, 2 * u64::from(blocks.count())));
    pooled.blocks.retain(|block| block.name.to != "x.c:2");
    let mistakes = Estimates::new(&folded.data, &blocks, &[pooled], &ONE, TimeRule::Line).unwrap_err();
    assert!(mistakes[0].message.contains("x.c:1 -> x.c:2"), "{}", mistakes[0].message);
}

#[test]
fn mistakes_in_a_file_have_their_place() {
    let head = "hayase-computation 1\nranks 2\nstructure 0\nblock\t1\ta\tb\n";
    for (text, what) in [
        ("x\n".to_owned(), "begins with"),
        (format!("{head}0 1 2\n"), "7 columns"),
        (format!("{head}0 1 1 1 1 1 1 line 3\n"), "10 columns"),
        (format!("{head}0 1 1 1 1 1 1 lines 3\n"), "unknown word"),
        (format!("{head}0-2 1 1 1 1 1 1\n"), "ranks below 2"),
        (format!("{head}0 0 1 1 1 1 1\n"), "executions"),
        (format!("{head}0 1 1 -1 1 1 1\n"), "nanoseconds"),
        (format!("{head}block\t1\ta\tb\n"), "comes late"),
        (format!("{head}block\t2\ta\n"), "two names"),
        (format!("{head}0 1 1 1 1 1 1\n0-1 1 1 1 1 1 1\n"), "block 1 has the times of rank 0 already"),
    ] {
        let mistakes = read(Input::from_bytes("x.comp", text.clone().into_bytes())).unwrap_err();
        assert!(mistakes[0].message.contains(what), "{text}: {}", mistakes[0].message);
    }
}

#[test]
fn drawn_times_are_as_many_of_each_eighth_and_have_the_mean_of_all() {
    let (folded, blocks, times) = halves(&program(80, |_, i| 1e6 * f64::from(i * 37 % 80)), Pool::EachRank);
    let find = |times: &ComputationData| times.blocks.iter().find_map(|block| block.rows[0].eighths);
    let eighths = find(&times).unwrap();
    assert_eq!(eighths.map(|time| time.ps() / 1e6), [4.5, 14.5, 24.5, 34.5, 44.5, 54.5, 64.5, 74.5]);
    let drawn = |seed| {
        let take = TimeRule::Draw(seed);
        let calcs = predicted(
            &folded,
            &blocks,
            Estimates::new(&folded.data, &blocks, std::slice::from_ref(&times), &ONE, take).unwrap(),
        );
        calcs[1..].to_vec()
    };
    let one = drawn(1);
    assert_eq!(one.iter().sum::<f64>(), 80.0 * 39.5e6);
    assert!(one.chunks(8).all(|chunk| chunk.iter().sum::<f64>() == 8.0 * 39.5e6));
    assert_eq!(one, drawn(1));
    assert_ne!(one, drawn(2));
    assert!(one.windows(2).filter(|pair| pair[1] > pair[0]).count() < 70, "in an order of its own");
}

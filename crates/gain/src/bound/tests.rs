use super::*;
use crate::edit::{Changed, Placement};
use crate::gain::with_program;
use crate::{Judge, rules};
use hayase::program::{Collective, CollectiveCall, Counts, Envelope, Op, ProgramBuilder};
use hayase::rng::Stream;
use hayase::scenario::Loader;
use hayase::scenario::Scenario;
use hayase::simulation::ProgramWork;
use hayase_advice::model::{CallPart, Point};

const MACHINE: &str =
    "[node.loggps]\nL = \"10 us\"\no = \"1 us\"\ng = \"2 us\"\nGs = \"1 ns/B\"\nGl = \"1 ns/B\"\nS = \"1000 B\"\n";

/// Source of random numbers of a test.
struct Random(Stream);

impl Random {
    fn below(&mut self, n: u32) -> u32 {
        self.0.below(u64::from(n)) as u32
    }

    fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }
}

/// Generates messages one after the other between random ranks, with computation before each call and some
/// reductions.
///
/// Events are numbered from 0 at each rank. Some calls block, others do not; those are waited for a few
/// messages later.
fn program(random: &mut Random, ranks: u32) -> Program {
    let mut program = ProgramBuilder::new(ranks);
    program.places_in("event");
    let world = Collective { call: CollectiveCall::Allreduce, comm: 0, root: 0, counts: Counts::Same(64), plan: None };
    let sum = program.collective(world);
    let mut sequences: Vec<_> = (0..ranks).map(|rank| program.sequence(rank)).collect();
    let mut places = vec![0; ranks as usize];
    let mut pending: Vec<Vec<u32>> = vec![Vec::new(); ranks as usize];
    for tag in 0..4 + random.below(20) {
        let mut call = |rank: u32, op: Op, random: &mut Random| {
            let at = rank as usize;
            places[at] += 1;
            let time = Time::from_ps(f64::from(random.below(30)) * 1e6);
            if time > Time::ZERO {
                sequences[at].push_at(Op::calc(time), places[at]);
            }
            sequences[at].push_at(op, places[at])
        };
        if random.one_in(6) {
            for rank in 0..ranks {
                call(rank, Op::collective(sum), random);
            }
            continue;
        }
        let from = random.below(ranks);
        let to = (from + 1 + random.below(ranks - 1)) % ranks;
        let bytes = [8, 500, 5000][random.below(3) as usize];
        let (sent, got) = (Envelope::world(to, tag), Envelope::world(from, tag));
        let (send, receive) = (random.one_in(2), random.one_in(2));
        let started = call(from, if send { Op::isend(sent, bytes) } else { Op::send(sent, bytes) }, random);
        pending[from as usize].extend(send.then_some(started));
        let started = call(to, if receive { Op::irecv(got, bytes) } else { Op::recv(got, bytes) }, random);
        pending[to as usize].extend(receive.then_some(started));
        for rank in 0..ranks {
            while !pending[rank as usize].is_empty() && random.one_in(3) {
                let started = pending[rank as usize].remove(0);
                call(rank, Op::wait(started), random);
            }
        }
    }
    for (mut sequence, (pending, place)) in sequences.into_iter().zip(pending.into_iter().zip(places)) {
        for started in pending {
            sequence.push_at(Op::wait(started), place + 1);
        }
        program.finish_rank(sequence);
    }
    program.build().unwrap()
}

/// Generates edits that post some calls earlier and wait for them later.
fn edits(random: &mut Random, program: &Program) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (rank, of) in program.iter() {
        for (op, &place) in of.ops.iter().zip(&of.places) {
            let part = match op.kind {
                OpKind::Send | OpKind::Isend => CallPart::Send,
                OpKind::Recv | OpKind::Irecv => CallPart::Receive,
                OpKind::Collective => CallPart::Collective,
                _ => continue,
            };
            if !random.one_in(4) {
                continue;
            }
            let fraction = |random: &mut Random| random.below(5) as f32 / 4.0;
            let post = Point { interval: -i64::from(random.below(4)), fraction: fraction(random) };
            let wait = Point { interval: i64::from(1 + random.below(4)), fraction: fraction(random) };
            let action = Action::Overlap { part, post, wait, needs: Vec::new() };
            edits.push(Edit { rank: rank.0, event: u64::from(place) - 1, times: 1, step: 1, action });
        }
    }
    edits
}

fn replay(program: Program) -> Scenario<ProgramWork> {
    Loader::new().text("machine.toml", MACHINE).load_program(ProgramWork::new(program, "test")).unwrap()
}

#[test]
fn no_change_saves_more_than_its_bound() {
    let (mut played, mut gained, mut ruled_out) = (0, 0, 0);
    for number in 0..600 {
        let mut random = Random(Stream::new(number, "bounds of changes"));
        let ranks = 2 + random.below(3);
        let program = program(&mut random, ranks);
        let replay = replay(program);
        let judge = Judge { replay: &replay, copy: 0.0, watch: None, thorough: false };
        let base = Base::new(&judge, true).unwrap();
        for _ in 0..4 {
            let edits = edits(&mut random, &base.program);
            let mut changed = Changed::new(&base.program, 0.0);
            let Ok(_) = changed.add(&edits, Placement::ALL[random.below(4) as usize]) else { continue };
            let Ok(changed) = changed.build() else { continue };
            let Ok(simulated) = judge.play(&with_program(&replay, changed).unwrap(), 0) else { continue };
            let saved = base.simulated.makespan_s - simulated.makespan_s;
            let touched = Touched::edited(&edits, &base.program);
            let most = most_saved(&base, &touched).unwrap();
            assert!(saved <= most + 1e-12, "program {number}: saves {saved} s, at most {most} s were expected");
            played += 1;
            gained += u32::from(saved > 1e-9);
            ruled_out += u32::from(most < 1e-9);
        }
    }
    assert!(played > 500 && gained > 100 && ruled_out > 10, "{played} played, {gained} gained, {ruled_out} ruled out");
}

#[test]
fn a_wait_off_the_critical_path_saves_nothing_and_one_on_it_what_it_takes() {
    // Rank 0 computes 5 us and sends; rank 1 waits for it and computes 20 us. Rank 2 computes 100 us without
    // messages.
    let build = |alone: f64| {
        let mut program = ProgramBuilder::new(3);
        program.places_in("event");
        let us = |time: f64| Op::calc(Time::from_ps(time * 1e6));
        for (rank, ops) in [
            vec![us(5.0), Op::send(Envelope::world(1, 0), 8)],
            vec![Op::recv(Envelope::world(0, 0), 8), us(20.0), Op::send(Envelope::world(2, 0), 8)],
            vec![us(alone), Op::recv(Envelope::world(1, 0), 8)],
        ]
        .into_iter()
        .enumerate()
        {
            let mut sequence = program.sequence(rank as u32);
            let mut place = 1;
            for op in ops {
                sequence.push_at(op, place);
                place += u32::from(op.kind != OpKind::Calc);
            }
            program.finish_rank(sequence);
        }
        replay(program.build().unwrap())
    };
    let most = |alone: f64| {
        let replay = build(alone);
        let judge = Judge { replay: &replay, copy: 0.0, watch: None, thorough: false };
        let base = Base::new(&judge, true).unwrap();
        let point = |interval, fraction| Point { interval, fraction };
        let action =
            Action::Overlap { part: CallPart::Receive, post: point(0, 0.0), wait: point(1, 1.0), needs: Vec::new() };
        let edits = [Edit { rank: 1, event: 0, times: 1, step: 1, action }];
        (most_saved(&base, &Touched::edited(&edits, &base.program)).unwrap() * 1e6, rules::eager(&judge))
    };
    let (free, limit) = most(100.0);
    assert!(free.abs() < 1e-6 && limit == Some(1000), "{free}");
    // The receive ends after 5 us of computation, o, L, 8 ns and o.
    let (bound, _) = most(0.0);
    assert!(bound > 16.0 && bound < 19.1, "{bound}");
}

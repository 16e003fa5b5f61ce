//! LogGOPSim's own predictions, to the nanosecond.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::*;
use crate::node::LogGopSimSpec;
use crate::program::ProgramBuilder;
use crate::program::generate::Generator;
use crate::units::{Bytes, PerByte};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../validation/goal")
}

fn rows(file: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(folder().join(file)).unwrap();
    text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

fn parameters() -> BTreeMap<String, LogGopSimSpec> {
    let spec = |row: Vec<String>| {
        let value = |at: usize| row[at].parse::<f64>().unwrap();
        let spec = LogGopSimSpec {
            latency: Time::from_ps(value(1) * 1e3).into(),
            o: Time::from_ps(value(2) * 1e3).into(),
            g: Time::from_ps(value(3) * 1e3).into(),
            gap: PerByte::from_ps(value(4) * 1e3).into(),
            overhead: PerByte::from_ps(value(5) * 1e3).into(),
            sync: Bytes(value(6) as u64).into(),
        };
        (row[0].clone(), spec)
    };
    rows("parameters.csv").into_iter().map(spec).collect()
}

fn ends(program: &Program, spec: &LogGopSimSpec) -> Vec<f64> {
    let played = play(program, &spec.host_costs(), (1.0, None), Observers::default(), &|_, _| true);
    assert_eq!((played.stuck.len(), played.interrupted), (0, false));
    played.ranks.iter().map(|rank| rank.end.ps() / 1e3).collect()
}

#[test]
fn the_larger_loads_take_what_they_take_there() {
    let load = |text: &str| {
        let program = Generator::parse(text).unwrap().program().unwrap();
        ends(&program, &LogGopSimSpec::default()).into_iter().fold(0.0, f64::max)
    };
    assert_eq!(load("pairwise:ranks=64"), 8_087_562.0);
    assert_eq!(load("pairwise:ranks=256"), 32_735_370.0);
    assert_eq!(load("linear:ranks=64"), 8_087_562.0);
    assert_eq!(load("linear:ranks=128"), 16_303_498.0);
    assert_eq!(load("linear:ranks=256"), 32_735_370.0);
    assert_eq!(load("dissemination:ranks=1024"), 55_420.0);
    assert_eq!(load("dissemination:ranks=4096"), 66_504.0);
    assert_eq!(load("broadcast:ranks=1024"), 116_380.0);
    assert_eq!(load("broadcast:ranks=16384"), 162_932.0);
    assert_eq!(load("stencil:x=32,y=32,iterations=20"), 6_371_680.0);
}

/// LogGOPSim without queues: every event that finds its resources busy comes again.
mod plain {
    use super::*;

    #[derive(Clone, Copy)]
    enum PlainEvent {
        Op(RankId, u32),
        Message { host: RankId, src: RankId, op: u32 },
    }

    struct Plain<'a> {
        program: &'a Program,
        events: BTreeMap<(u64, u64), PlainEvent>,
        created: u64,
        required: Vec<Vec<u32>>,
        cpu: Vec<f64>,
        nic: Vec<[f64; 2]>,
        posted: Vec<Vec<u32>>,
        kept: Vec<Vec<(RankId, u32)>>,
        ready: Vec<(RankId, u8, u32)>,
    }

    impl Plain<'_> {
        fn push(&mut self, time: f64, what: PlainEvent) {
            self.created += 1;
            self.events.insert((time.to_bits(), self.created), what);
        }

        fn release(&mut self, host: RankId, op: u32, start: bool, end: bool) {
            let rank = self.program.rank(host);
            for follower in rank.graph().unwrap().followers(op) {
                if if follower.for_start { start } else { end } {
                    let count = &mut self.required[host.0 as usize][follower.op as usize];
                    *count -= 1;
                    if *count == 0 {
                        self.ready.push((host, class(&rank.ops[follower.op as usize]), follower.op));
                    }
                }
            }
        }

        fn enter(&mut self) {
            let mut ready = std::mem::take(&mut self.ready);
            ready.sort_unstable();
            for (host, class, op) in ready {
                let h = host.0 as usize;
                let time = if class == 0 { self.cpu[h].max(self.nic[h][0]) } else { self.cpu[h] };
                self.push(time, PlainEvent::Op(host, op));
            }
        }

        fn fits(&self, host: RankId, receive: u32, src: RankId, sent: u32) -> bool {
            let (r, s) = (self.program.rank(host).ops[receive as usize], self.program.rank(src).ops[sent as usize]);
            (r.peer == u32::MAX || r.peer == src.0) && (r.tag == u32::MAX || r.tag == s.tag)
        }
    }

    pub fn ends(program: &Program, spec: &LogGopSimSpec) -> Vec<f64> {
        let hosts = program.ranks() as usize;
        let mut plain = Plain {
            program,
            events: BTreeMap::new(),
            created: 0,
            required: program.iter().map(|(_, rank)| rank.graph().unwrap().required()).collect(),
            cpu: vec![0.0; hosts],
            nic: vec![[0.0; 2]; hosts],
            posted: vec![Vec::new(); hosts],
            kept: vec![Vec::new(); hosts],
            ready: Vec::new(),
        };
        for host in program.rank_ids() {
            for (at, op) in program.rank(host).ops.iter().enumerate() {
                if plain.required[host.0 as usize][at] == 0 {
                    plain.ready.push((host, class(op), at as u32));
                }
            }
        }
        plain.enter();
        let (l, o, g) = (spec.latency.ps(), spec.o.ps(), spec.g.ps());
        let (gap, overhead) = (spec.gap.ps(), spec.overhead.ps());
        while let Some(((bits, number), what)) = plain.events.pop_first() {
            let now = f64::from_bits(bits);
            let (host, src, at) = match what {
                PlainEvent::Op(host, op) => (host, host, op),
                PlainEvent::Message { host, src, op } => (host, src, op),
            };
            let (h, op) = (host.0 as usize, program.rank(src).ops[at as usize]);
            let more = op.size as f64 - 1.0;
            let is_message = matches!(what, PlainEvent::Message { .. });
            let free = match class(&op) {
                0 => plain.cpu[h].max(plain.nic[h][usize::from(is_message)]),
                2 => plain.cpu[h],
                _ => 0.0,
            };
            if free > now {
                plain.events.insert((free.to_bits(), number), what);
                continue;
            }
            let mut matched: Option<(u32, RankId, u32)> = None;
            if is_message {
                plain.cpu[h] = now + o + (more * overhead).max(more * gap);
                plain.nic[h][1] = now + g + more * gap;
                match plain.posted[h].iter().position(|&receive| plain.fits(host, receive, src, at)) {
                    Some(found) => matched = Some((plain.posted[h].remove(found), src, at)),
                    None => plain.kept[h].push((src, at)),
                }
                if let Some((receive, ..)) = matched {
                    plain.release(host, receive, false, true);
                }
            } else if class(&op) == 0 {
                plain.cpu[h] = now + o + more * overhead;
                plain.nic[h][0] = now + g + more * gap;
                plain.push(now + o + l, PlainEvent::Message { host: RankId(op.peer), src: host, op: at });
                plain.release(host, at, true, op.size <= spec.sync.0);
            } else if class(&op) == 2 {
                plain.cpu[h] = now + op.duration().ps();
                plain.release(host, at, true, true);
            } else {
                match plain.kept[h].iter().position(|&(src, sent)| plain.fits(host, at, src, sent)) {
                    Some(found) => {
                        let (src, sent) = plain.kept[h].remove(found);
                        matched = Some((at, src, sent));
                        plain.release(host, at, true, true);
                    }
                    None => {
                        plain.posted[h].push(at);
                        plain.release(host, at, true, false);
                    }
                }
            }
            if let Some((_, src, sent)) = matched
                && program.rank(src).ops[sent as usize].size > spec.sync.0
            {
                let s = src.0 as usize;
                plain.cpu[s] = plain.cpu[s].max(now);
                plain.nic[s][0] = plain.nic[s][0].max(now);
                plain.release(src, sent, false, true);
            }
            plain.enter();
        }
        plain.cpu.iter().map(|ps| ps / 1e3).collect()
    }
}

/// Creates a random program in which every send has a receive. Messages go between random ranks in random
/// order, with random requirements on earlier operations.
fn random_program(seed: u64) -> Program {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut random = |below: u32| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        ((state >> 33) % u64::from(below)) as u32
    };
    let ranks = 2 + random(5);
    let mut lists: Vec<Vec<Op>> = vec![Vec::new(); ranks as usize];
    for _ in 0..random(120) {
        let (from, to, tag) = (random(ranks), random(ranks), random(3));
        if from == to {
            lists[from as usize].push(Op::calc(Time::from_ps(f64::from(random(40)) * 1e6)));
            continue;
        }
        let size = [0, 1, 100, 5000, 70_000, 200_000][random(6) as usize];
        lists[from as usize].push(Op::send(Envelope::world(to, tag), size));
        let wild = random(8);
        let peer = if wild == 0 { u32::MAX } else { from };
        lists[to as usize].push(Op::recv(Envelope::world(peer, if wild == 1 { u32::MAX } else { tag }), size));
    }
    let mut program = ProgramBuilder::new(ranks);
    for (number, ops) in lists.into_iter().enumerate() {
        let mut rank = program.graph(number as u32);
        for (at, op) in ops.into_iter().enumerate() {
            let at = at as u32;
            rank.push(op);
            if at > 0 && random(3) == 0 {
                rank.irequires(at, random(at));
            }
            if at > 0 && random(4) == 0 && rank.ops()[at as usize - 1].kind == OpKind::Calc {
                rank.requires(at, at - 1);
            }
        }
        program.finish_rank(rank);
    }
    program.build().unwrap()
}

#[test]
fn queues_change_nothing_but_the_time_it_takes() {
    let sets: Vec<LogGopSimSpec> = parameters().into_values().collect();
    for seed in 0..600 {
        let program = random_program(seed);
        for spec in &sets {
            let played = play(&program, &spec.host_costs(), (1.0, None), Observers::default(), &|_, _| true);
            let ends: Vec<f64> = played.ranks.iter().map(|rank| rank.end.ps() / 1e3).collect();
            assert_eq!(ends, plain::ends(&program, spec), "seed {seed}");
        }
    }
}

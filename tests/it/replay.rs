//! Programs replayed through the library: without contention, the times on a fabric are the same as without
//! one.

use std::sync::Arc;

use hayase::ids::RankId;
use hayase::program::collectives::{CollectivesSpec, Expander};
use hayase::program::generate::Generator;
use hayase::program::{Collective, CollectiveCall, Counts, Envelope, Op, OpKind, Program, ProgramBuilder};
use hayase::scenario::Loader;
use hayase::simulation::{ProgramOutcome, ProgramWork, RunOptions};
use hayase::units::Time;

/// Node model: L is two links of 400 ns, G is a link's bandwidth.
const NODE: &str = "[node.loggps]\nL = '800 ns'\no = '1500 ns'\nOss = '0.5 ns/B'\nOrs = '0.25 ns/B'\nGs = '8 ns/B'\n\
                    Osl = '0.125 ns/B'\nOrl = '0.5 ns/B'\nS = '4096 B'\n";
const FABRIC: &str = "[topology.crossbar]\nnodes = 8\nbandwidth = '125 MB/s'\nlatency = '400 ns'\n";

fn replayed(program: Program, texts: &[&str]) -> ProgramOutcome {
    let loader =
        texts.iter().enumerate().fold(Loader::new(), |loader, (i, text)| loader.text(format!("{i}.toml"), *text));
    let replay =
        loader.load_program(ProgramWork::new(Arc::new(program), "test")).unwrap_or_else(|invalid| panic!("{invalid}"));
    let replayed = replay.run(RunOptions::default());
    assert_eq!(replayed.stuck, []);
    replayed
}

/// Returns a program in which ranks in a ring pass on messages of growing length, one at a time, blocking and
/// not.
fn ring() -> Program {
    let ranks = 6;
    let mut program = ProgramBuilder::new(ranks);
    for rank in 0..ranks {
        let mut ops = program.sequence(rank);
        let (next, before) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
        for (tag, size) in [(0, 0), (1, 100), (2, 4096), (3, 4097), (4, 100_000)] {
            let (to, from) = (Envelope::world(next, tag), Envelope::world(before, tag));
            ops.push(Op::calc(Time::from_ps(f64::from(rank) * 1e6)));
            if rank == 0 {
                ops.push(Op::send(to, size));
                ops.push(Op::recv(from, size));
            } else if rank % 2 == 0 {
                ops.push(Op::recv(from, size));
                ops.push(Op::send(to, size));
            } else {
                let received = ops.push(Op::irecv(from, size));
                ops.push(Op::calc(Time::from_ps(3e6)));
                ops.wait_list(OpKind::Waitall, &[received]);
                let sent = ops.push(Op::isend(to, size));
                ops.push(Op::calc(Time::from_ps(5e5)));
                ops.push(Op::wait(sent));
            }
        }
        program.finish_rank(ops);
    }
    program.build().unwrap()
}

#[test]
fn a_fabric_on_which_nothing_meets_gives_what_the_models_own_network_gives() {
    let eager = NODE.replace("S = '4096 B'", "S = '1 MB'");
    for (node, is_eager) in [(eager.as_str(), true), (NODE, false)] {
        let own = replayed(ring(), &[node, "[node.loggps]\nreceiver-sharing = false\n"]).report;
        let fabric = replayed(ring(), &[node, FABRIC]).report;
        assert_eq!(own.head.messages, 30);
        assert_eq!((own.head.messages, own.head.bytes), (fabric.head.messages, fabric.head.bytes));
        for (own, fabric) in own.ranks.iter().zip(&fabric.ranks) {
            // On a fabric a send by rendezvous lasts until its data have left.
            assert!(is_eager || fabric.end_s >= own.end_s);
            let work = [
                (own.compute_s, fabric.compute_s),
                (own.send_overhead_s, fabric.send_overhead_s),
                (own.recv_overhead_s, fabric.recv_overhead_s),
            ];
            let waits = [
                (own.end_s, fabric.end_s),
                (own.send_wait_s, fabric.send_wait_s),
                (own.recv_wait_s, fabric.recv_wait_s),
                (own.sync_s, fabric.sync_s),
            ];
            for (own, fabric) in work.into_iter().chain(waits.into_iter().filter(|_| is_eager)) {
                assert!((own - fabric).abs() <= 1e-12 * own.abs().max(1e-3), "{own:e} {fabric:e}");
            }
        }
    }
}

#[test]
fn messages_that_meet_on_a_link_take_longer_on_the_fabric() {
    let incast = || {
        let mut program = ProgramBuilder::new(5);
        let mut root = program.sequence(0);
        for peer in 1..5 {
            root.push(Op::recv(Envelope::world(peer, 0), 4000));
        }
        program.finish_rank(root);
        for rank in 1..5 {
            let mut ops = program.sequence(rank);
            ops.push(Op::send(Envelope::world(0, 0), 4000));
            program.finish_rank(ops);
        }
        program.build().unwrap()
    };
    let shared = replayed(incast(), &[NODE, FABRIC]).report.head.makespan_s;
    // o + k Oss, L, four messages through the last link, then four overheads.
    let expected = (1500.0 + 2000.0 + 800.0 + 4.0 * 4000.0 * 8.0 + 4.0 * (1500.0 + 1000.0)) * 1e-9;
    assert!((shared - expected).abs() < 1e-15, "{shared} {expected}");
    // The closed form of the model's own network shares the receiver in the same way.
    let own = replayed(incast(), &[NODE]).report.head.makespan_s;
    assert!((own - expected).abs() < 1e-15, "{own} {expected}");
}

#[test]
fn replays_are_the_same_every_time_on_every_model() {
    for texts in [&[NODE][..], &[NODE, FABRIC], &["node = 'loggopsim'"], &["node = 'ideal'", FABRIC], &[]] {
        let once = replayed(ring(), texts).report.head.fingerprint;
        assert_eq!(once, replayed(ring(), texts).report.head.fingerprint);
    }
}

#[test]
fn every_collective_comes_to_its_end_on_every_model() {
    let calls = || {
        let ranks = 7;
        let mut program = ProgramBuilder::new(ranks);
        let odd = program.communicator(vec![1, 3, 5]);
        let mut numbers = Vec::new();
        for call in CollectiveCall::ALL {
            for (comm, size) in [(0, 7), (odd, 3)] {
                let root = if matches!(call, CollectiveCall::Bcast | CollectiveCall::Gather) { 1 } else { 0 };
                numbers.push((
                    comm,
                    program.collective(Collective { call, comm, root, counts: Counts::Same(20_000), plan: None }),
                ));
                if matches!(call, CollectiveCall::Gather | CollectiveCall::Alltoall) {
                    let counts = Counts::Each((0..size).map(|i| i * 3000).collect());
                    numbers.push((comm, program.collective(Collective { call, comm, root, counts, plan: None })));
                }
            }
        }
        for rank in 0..ranks {
            let mut ops = program.sequence(rank);
            // A message of the program itself is under way meanwhile, with every tag a collective may use.
            let from = (rank + ranks - 1) % ranks;
            let posted = ops.push(Op::irecv(Envelope::world(from, 0), 8));
            for &(comm, number) in &numbers {
                if comm == 0 || rank % 2 == 1 {
                    ops.push(Op::collective(number));
                }
            }
            ops.push(Op::send(Envelope::world((rank + 1) % ranks, 0), 8));
            ops.push(Op::wait(posted));
            program.finish_rank(ops);
        }
        program.build().unwrap()
    };
    for texts in [&[NODE][..], &[NODE, FABRIC], &["node = 'loggopsim'"], &["node = 'ideal'"]] {
        let report = replayed(calls(), texts).report;
        assert_eq!(report.unreceived, 0, "{texts:?}");
        assert!(report.head.messages > 100);
    }
}

#[test]
fn the_same_allreduce_by_the_player_and_spelled_out_takes_the_same_time() {
    let ranks = 8;
    let mut program = ProgramBuilder::new(ranks);
    let counts = Counts::Same(1 << 16);
    let collective = Collective { call: CollectiveCall::Allreduce, comm: 0, root: 0, counts, plan: None };
    let number = program.collective(collective);
    for rank in 0..ranks {
        let mut ops = program.sequence(rank);
        ops.push(Op::calc(Time::from_ps(1e6 * f64::from(rank))));
        ops.push(Op::collective(number));
        program.finish_rank(ops);
    }
    let program = program.build().unwrap();
    let spelled_out = hayase::trace::expanded(&program, &Expander::new(CollectivesSpec::default())).unwrap();
    let (played, spelled_out) = (replayed(program, &[NODE]).report, replayed(spelled_out, &[NODE]).report);
    assert_eq!(played.head.messages, spelled_out.head.messages);
    assert_eq!(played.head.makespan_s, spelled_out.head.makespan_s);
}

#[test]
fn every_named_machine_can_be_played_on() {
    for named in hayase::scenario::library::Shelf::Machines.all() {
        let program = Generator::parse("pairwise:ranks=4").unwrap().program().unwrap();
        let replay = Loader::new().machine(named.name).load_program(ProgramWork::new(Arc::new(program), "pairwise"));
        let report =
            replay.unwrap_or_else(|invalid| panic!("{}: {invalid}", named.name)).run(RunOptions::default()).report;
        assert!(report.head.makespan_s > 0.0 && report.head.messages == 12, "{}", named.name);
    }
}

#[test]
fn faster_processors_compute_in_less_time() {
    let program = || {
        let mut program = ProgramBuilder::new(1);
        let mut ops = program.sequence(0);
        ops.push(Op::calc(Time::from_ps(8e6)));
        program.finish_rank(ops);
        Arc::new(program.build().unwrap())
    };
    let replay =
        Loader::new().load_program(ProgramWork { cpu_speed: 4.0, ..ProgramWork::new(program(), "calc") }).unwrap();
    let report = replay.run(RunOptions::default()).report;
    assert_eq!(report.ranks[RankId(0).0 as usize].end_s, 2e-6);
}

#[test]
fn what_does_not_go_together_is_said_with_its_place() {
    let error = |texts: &[&str]| {
        let loader = texts.iter().fold(Loader::new(), |loader, text| loader.text("x.toml", *text));
        loader.load_program(ProgramWork::new(Arc::new(ring()), "ring")).unwrap_err().lines()
    };
    assert!(error(&["node = 'loggopsim'", FABRIC]).contains("a network of its own"));
    let missing = error(&["[node.loggps]\no = '1 us'\n"]);
    assert!(missing.contains("missing key") && missing.contains("`S`"), "{missing}");
    assert!(error(&[NODE, "[node.loggps]\ns = '1 MB'\n"]).contains("larger than S"));
    assert!(error(&["[node.loggps]\nL = 5\n"]).contains("has no unit"));
    assert!(error(&[NODE, "[topology.crossbar]\nnodes = 4\nbandwidth = '1 GB/s'\n"]).contains("6 ranks"));
    let bands = "[node.loggp]\nL = '1 us'\nbands = [{ o = '1 us', G = '1 ns/B' }, { o = '1 us', G = '1 ns/B' }]\n";
    assert!(error(&[bands]).contains("a band that is not the last has no end"));
}

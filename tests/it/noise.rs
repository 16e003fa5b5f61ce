//! Stragglers and noise: closed forms, cost over seeds, propagation of a delay.

use std::fmt::Write;
use std::path::Path;

use hayase::diagnostic::Located;
use hayase::noise::{Distribution, NoiseSpec, NoiseTables, Numbers, Phase, Speed, StragglerSpec};
use hayase::program::{Collective, CollectiveCall, Counts, Envelope, Op, Program, ProgramBuilder};
use hayase::report::{NoiseReport, SeedStatistics};
use hayase::simulation::{PatternWork, ProgramWork, Simulated};
use hayase::sweep::{Control, cost_of_noise, over_seeds};
use hayase::{Loader, RunOptions, Scenario, System, Time};

/// Converts microseconds.
fn us(time: f64) -> Time {
    Time::from_ps(time * 1e6)
}

/// Returns a program of `steps` steps in which all ranks compute, then wait for each other.
fn bulk_synchronous(ranks: u32, steps: u32, work_us: f64) -> Program {
    let mut program = ProgramBuilder::new(ranks);
    let barrier = program.collective(Collective {
        call: CollectiveCall::Barrier,
        comm: 0,
        root: 0,
        counts: Counts::Same(0),
        plan: None,
    });
    for rank in 0..ranks {
        let mut ops = program.sequence(rank);
        for _ in 0..steps {
            ops.push(Op::calc(us(work_us)));
            ops.push(Op::collective(barrier));
        }
        program.finish_rank(ops);
    }
    program.build().unwrap()
}

fn noise(length_us: f64, period_us: Option<f64>, distribution: Distribution, phase: Option<Phase>) -> NoiseTables {
    let noise = NoiseSpec {
        length: us(length_us).into(),
        period: period_us.map(|period| us(period).into()),
        distribution,
        phase: phase.map(Located::from),
        ranks: None,
        seed: None,
    };
    NoiseTables { noise: Some(noise), ..NoiseTables::default() }
}

fn straggler(ranks: &str, speed: f64) -> NoiseTables {
    let straggler = StragglerSpec {
        ranks: Some(Numbers::parse(ranks).unwrap().into()),
        nodes: None,
        count: None,
        job: None,
        speed: Speed(speed).into(),
        start: None,
        until: None,
    };
    NoiseTables { stragglers: vec![straggler.into()], ..NoiseTables::default() }
}

fn on_ideal_nodes(program: Program, tables: NoiseTables) -> Scenario<ProgramWork> {
    Scenario::new(System::default().with_noise(tables), ProgramWork::new(program, "program")).unwrap()
}

fn cost<W: Simulated>(scenario: &Scenario<W>, seeds: u64) -> NoiseReport {
    let first = W::summary(&scenario.run(RunOptions::default()));
    let all: Vec<u64> = (1..=seeds).collect();
    let seeds: Option<SeedStatistics> =
        (seeds > 1).then(|| over_seeds(scenario, &all, &first, Control::default()).unwrap());
    cost_of_noise(scenario, seeds.as_ref(), Control::default()).unwrap().unwrap()
}

fn close(value: f64, expected: f64) {
    assert!((value - expected).abs() <= 1e-12 * expected.abs(), "{value} {expected}");
}

#[test]
fn bulk_synchronous_steps_wait_for_the_largest_of_the_ranks_stops() {
    // Each step takes w and the largest of n stops. Its mean is l for fixed lengths, 2 l n / (n + 1) for uniform ones
    // (0 to 2 l) and l H_n for exponential ones.
    let (steps, work, length) = (40, 100.0, 10.0);
    let mut outside = 0;
    for n in [1_u32, 2, 7, 24] {
        let harmonic: f64 = (1..=n).map(|k| 1.0 / f64::from(k)).sum();
        let f = f64::from(n);
        let cases = [
            (Distribution::Fixed, length),
            (Distribution::Uniform, 2.0 * length * f / (f + 1.0)),
            (Distribution::Exponential, length * harmonic),
        ];
        for (distribution, largest) in cases {
            let program = bulk_synchronous(n, steps, work);
            let report = cost(&on_ideal_nodes(program, noise(length, None, distribution, None)), 40);
            close(report.without_s, f64::from(steps) * work * 1e-6);
            let (expected, found) = (f64::from(steps) * largest * 1e-6, report.seeds.unwrap());
            if distribution == Distribution::Fixed {
                assert!((found.mean_s / expected - 1.0).abs() < 1e-9 && found.sd_s < 1e-9 * expected);
                continue;
            }
            // The 95 % interval misses one case in twenty; twice as wide, one in ten thousand.
            let half = found.high_s - found.mean_s;
            assert!((found.mean_s - expected).abs() < 2.0 * half, "{n} {distribution:?} {found:?} {expected}");
            assert!(half < 0.1 * expected, "{found:?}");
            outside += u32::from((found.mean_s - expected).abs() > half);
        }
    }
    assert!(outside <= 2, "{outside} of 8 outside of their 95 % intervals");
}

#[test]
fn a_step_under_periodic_noise_takes_what_the_chance_to_be_hit_says() {
    // A rank that begins at 0 and works for w <= P - l loses l with probability w / P, and an evenly distributed part
    // of l with probability l / P (a stop is under way at 0). The mean of the largest of n is
    // l - P / (n + 1) ((1 - w / P)^(n + 1) - (1 - w / P - l / P)^(n + 1)).
    let (work, length, period) = (30.0, 20.0, 100.0);
    for n in [1_u32, 3, 10] {
        let tables = noise(length, Some(period), Distribution::Fixed, None);
        let found = cost(&on_ideal_nodes(bulk_synchronous(n, 1, work), tables), 400).seeds.unwrap();
        let power = |base: f64| (0..=n).fold(1.0, |product, _| product * base);
        let free = power(1.0 - work / period) - power(1.0 - (work + length) / period);
        let expected = (length - period / f64::from(n + 1) * free) * 1e-6;
        let half = found.high_s - found.mean_s;
        assert!((found.mean_s - expected).abs() < 1.5 * half && half < 0.15 * expected, "{n} {found:?} {expected}");
    }
}

#[test]
fn synchronised_noise_costs_its_share_whatever_the_ranks() {
    // All stop together, 20 of each 100 us: 8 ms of work take 10 ms.
    for n in [1, 5, 16] {
        let tables = noise(20.0, Some(100.0), Distribution::Fixed, Some(Phase::Synchronised));
        let report = cost(&on_ideal_nodes(bulk_synchronous(n, 80, 100.0), tables), 1);
        close(report.without_s, 8e-3);
        close(report.cost_s, 2e-3);
        close(report.slowdown, 1.25);
    }
}

/// Returns a program in which one rank after another computes and passes a message on, for several laps.
fn around(ranks: u32, laps: u32, work_us: f64) -> Program {
    let mut program = ProgramBuilder::new(ranks);
    for rank in 0..ranks {
        let mut ops = program.sequence(rank);
        for lap in 0..laps {
            if rank > 0 || lap > 0 {
                ops.push(Op::recv(Envelope::world((rank + ranks - 1) % ranks, 0), 8));
            }
            ops.push(Op::calc(us(work_us)));
            if rank + 1 < ranks || lap + 1 < laps {
                ops.push(Op::send(Envelope::world((rank + 1) % ranks, 0), 8));
            }
        }
        program.finish_rank(ops);
    }
    program.build().unwrap()
}

#[test]
fn a_straggler_costs_its_own_work_in_a_chain_a_ring_and_a_loop_of_barriers() {
    let work = 50.0;
    for (ranks, laps, speed) in [(7, 1, 0.5), (7, 5, 0.5), (2, 3, 0.25), (13, 2, 0.8), (5, 4, 2.0)] {
        // The other ranks once a lap, and the straggler 1 / speed times as long.
        let report = cost(&on_ideal_nodes(around(ranks, laps, work), straggler("1", speed)), 1);
        let each = f64::from(laps) * work * 1e-6;
        close(report.without_s, f64::from(ranks) * each);
        assert!((report.cost_s - each * (1.0 / speed - 1.0)).abs() < 1e-12 * report.without_s);
        // In a loop of barriers all wait for it in each step.
        let report = cost(&on_ideal_nodes(bulk_synchronous(ranks, laps, work), straggler("1", speed)), 1);
        close(report.without_s, each);
        close(report.slowdown, (1.0 / speed).max(1.0));
        if speed < 1.0 {
            let slowed = report.slowed.unwrap();
            assert_eq!((slowed.ranks, slowed.most_rank), (1, 1));
            close(slowed.most_s, each * (1.0 / speed - 1.0));
            assert_eq!(slowed.absorbed_s, 0.0);
        }
    }
}

#[test]
fn slack_absorbs_what_fits_into_it() {
    // Rank 0 computes 100 us, rank 1 only 30. At a quarter of its speed rank 1 takes 120 us, and only 20 of
    // its 90 extra us show.
    let mut program = ProgramBuilder::new(2);
    for (rank, work) in [(0, 100.0), (1, 30.0)] {
        let mut ops = program.sequence(rank);
        ops.push(Op::calc(us(work)));
        match rank {
            0 => ops.push(Op::recv(Envelope::world(1, 0), 8)),
            _ => ops.push(Op::send(Envelope::world(0, 0), 8)),
        };
        program.finish_rank(ops);
    }
    let report = cost(&on_ideal_nodes(program.build().unwrap(), straggler("1", 0.25)), 1);
    close(report.cost_s, 20e-6);
    close(report.slowed.unwrap().absorbed_s, 70e-6);
}

#[test]
fn overheads_of_messages_are_stretched_too() {
    // o + L + o: the sender at half its speed, then the receiver.
    let node = "[node.loggps]\nL = \"5 us\"\no = \"2 us\"\nGs = \"0 ns/B\"\nS = \"64 KB\"\n";
    let mut program = ProgramBuilder::new(2);
    for rank in 0..2 {
        let mut ops = program.sequence(rank);
        match rank {
            0 => ops.push(Op::send(Envelope::world(1, 0), 8)),
            _ => ops.push(Op::recv(Envelope::world(0, 0), 8)),
        };
        program.finish_rank(ops);
    }
    let program = program.build().unwrap();
    let time = |flags: &[&str], fabric: &str| {
        let loader = Loader::new().text("node.toml", format!("{node}{fabric}"));
        let loader = flags.iter().fold(loader, |loader, flag| loader.straggler(flag));
        let scenario = loader.load_program(ProgramWork::new(program.clone(), "ping")).unwrap();
        scenario.run(RunOptions::default()).report.head.makespan_s
    };
    for fabric in ["", "[topology.crossbar]\nnodes = 2\nbandwidth = \"1 GB/s\"\nlatency = \"2.5 us\"\n"] {
        let plain = time(&[], fabric);
        close(time(&["0=50%"], fabric) - plain, 2e-6);
        close(time(&["1=25%"], fabric) - plain, 6e-6);
        // Only while it is slow: from 1 us on, when half of the sender's overhead is over.
        close(time(&["0=50%@1us.."], fabric) - plain, 1e-6);
    }
}

/// Writes a ring in which rank r sends to r + 1 in each step, after it has computed and received the message
/// of the previous step from r - 1.
fn ring_of_steps(folder: &Path, ranks: u32, steps: u32) -> String {
    let mut text = String::from("src,dst,bytes,delay,after,id\n");
    for step in 0..steps {
        for rank in 0..ranks {
            let after = match step {
                0 => String::new(),
                _ => format!("{}.{}", step - 1, (rank + ranks - 1) % ranks),
            };
            let _ = writeln!(text, "{rank},{},1000,100 us,{after},{step}.{rank}", (rank + 1) % ranks);
        }
    }
    let path = folder.join("messages.csv");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

const STAR: &str = "[topology.crossbar]\nnodes = 11\nbandwidth = \"1 GB/s\"\n";

#[test]
fn a_delay_travels_one_rank_a_step_through_a_list_of_messages() {
    let folder = tempfile::tempdir().unwrap();
    let messages = ring_of_steps(folder.path(), 11, 30);
    let loader = || Loader::new().text("star.toml", STAR).pattern(&messages);
    // Rank 4 takes 200 us for its first delay, and is not slow afterwards.
    let scenario = loader().straggler("4=50%@0s..200us").load_pattern().unwrap();
    let report = cost(&scenario, 1);
    close(report.without_s, 30.0 * 101e-6);
    assert!((report.cost_s - 100e-6).abs() < 1e-15);
    assert_eq!(report.by_distance.len(), 11);
    for (row, distance) in report.by_distance.iter().zip(0_u32..) {
        assert_eq!((row.messages, row.ranks, row.reached), (distance, 1, 1));
        // It sends 100 us late; from then on the delay moves one rank a step.
        let expected = match distance {
            0 => 200e-6,
            d => 200e-6 + f64::from(d) * 1e-6 + f64::from(d - 1) * 100e-6,
        };
        close(row.first_s.unwrap(), expected);
        assert!((row.delay_s - 100e-6).abs() < 1e-15, "{row:?}");
        assert_eq!(row.hops, Some(if distance == 0 { 0.0 } else { 2.0 }));
    }
    assert!(report.ranks.iter().all(|rank| rank.messages == Some((rank.rank + 7) % 11)));
    // The program of its calls takes as long; slow by node is the same as slow by rank here.
    let by_node = loader().straggler("nodes:4=0.5@..200us").load_pattern().unwrap();
    assert_eq!(cost(&by_node, 1), report);
}

#[test]
fn who_is_slow_is_one_rank_of_one_job_in_all_its_repetitions() {
    let folder = tempfile::tempdir().unwrap();
    let messages = ring_of_steps(folder.path(), 3, 2);
    let job = |name: &str| {
        format!(
            "[[job]]\nname = \"{name}\"\nranks = 3\nrepeat = 4\nstart = \"7 us\"\n[job.workload.file]\npath = \"{messages}\"\n"
        )
    };
    let text = format!("{STAR}{}{}", job("a"), job("b"));
    let load = |flags: &[&str]| {
        let loader = flags.iter().fold(Loader::new().text("jobs.toml", &*text), |loader, flag| loader.straggler(flag));
        loader.load().unwrap()
    };
    let ends = |flags: &[&str]| {
        let scenario = load(flags);
        let hayase::simulation::Outcome::Jobs(outcome) = scenario.run(RunOptions::default()) else { panic!() };
        outcome.report.jobs.iter().map(|job| job.end_s.unwrap()).collect::<Vec<_>>()
    };
    let plain = ends(&[]);
    close(plain[0], 7e-6 + 8.0 * 101e-6);
    // In a ring of three the second step waits for the slow rank, or the slow rank for the second step.
    let slow = ends(&["b:1=50%"]);
    assert_eq!(slow[0], plain[0]);
    close(slow[1], 7e-6 + 8.0 * 201e-6);
    assert_eq!(slow, ends(&["4=50%"]));
    assert_eq!(cost(&load(&["b:1=50%"]), 1).slowed.unwrap().most_rank, 4);
}

#[test]
fn jobs_on_nodes_that_cost_something_are_slow_as_well() {
    // Of two equal jobs on one switch, the one with the slow rank takes longer, by the same amount as alone.
    let node = "[node.loggps]\nL = \"5 us\"\no = \"2 us\"\nGs = \"0 ns/B\"\nS = \"64 KB\"\n";
    let load = |flags: &[&str]| {
        let jobs = Loader::new().text("star.toml", format!("{STAR}{node}")).job("a=ring:4").job("b=ring:4");
        let loader = flags.iter().fold(jobs, |loader, flag| loader.straggler(flag));
        match loader.load().unwrap().run(RunOptions { alone: true, ..RunOptions::default() }) {
            hayase::simulation::Outcome::Jobs(outcome) => outcome.report.jobs,
            other => panic!("{other:?}"),
        }
    };
    let (plain, slow) = (load(&[]), load(&["b:2=50%"]));
    assert_eq!(slow[0].makespan_s, plain[0].makespan_s);
    assert!(slow[1].makespan_s.unwrap() > plain[1].makespan_s.unwrap() + 1.9e-6);
    assert_eq!(slow[1].makespan_s, slow[1].alone_s);
}

#[test]
fn noise_of_no_length_and_the_speed_of_all_change_nothing_to_the_last_bit() {
    let folder = tempfile::tempdir().unwrap();
    let messages = ring_of_steps(folder.path(), 11, 5);
    let loader = || Loader::new().text("star.toml", STAR).pattern(&messages);
    let run = |loader: Loader| loader.load_pattern().unwrap().run(RunOptions::default()).report.head.fingerprint;
    let plain = run(loader());
    assert_eq!(run(loader().noise("0us/1ms")), plain);
    assert_eq!(run(loader().straggler("0-10=100%")), plain);
    assert_ne!(run(loader().noise("1us/1ms")), plain);
    // Noise is the same whether other random values are drawn again or not.
    let twice = || run(loader().noise("5us/50us,exponential").seed(3));
    assert_eq!(twice(), twice());
    assert_ne!(twice(), run(loader().noise("5us/50us,exponential").seed(4)));
    assert_eq!(run(loader().noise("5us/50us,seed=9").seed(3)), run(loader().noise("5us/50us,seed=9").seed(4)));
}

#[test]
fn a_report_is_run_again_with_its_noise() {
    let text = format!("{STAR}[workload.ring]\nsize = \"1 KB\"\nmessage-jitter = \"50 us\"\n");
    let loader = Loader::new().text("a.toml", text).noise("5us/50us,uniform").straggler("count:2=50%");
    let scenario = loader.load_pattern().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scenario.json");
    std::fs::write(&path, scenario.to_json().to_string()).unwrap();
    let again = Loader::new().file(&path).load_pattern().unwrap();
    assert_eq!(again.system().noise(), scenario.system().noise());
    let run = |scenario: &Scenario<PatternWork>| scenario.run(RunOptions::default()).report.head.fingerprint;
    assert_eq!(run(&again), run(&scenario));
}

#[test]
fn workers_of_a_farm_are_slow_in_closed_form_and_over_a_fabric() {
    let farm =
        "[workload.master-slave]\nworkers = 4\n[workload.master-slave.tasks.constant]\ncount = 40\ntime = \"1 ms\"\n";
    let time = |flags: &[&str], fabric: &str| {
        let loader = Loader::new().text("farm.toml", format!("{fabric}{farm}"));
        let loader = flags.iter().fold(loader, |loader, flag| loader.straggler(flag));
        loader.load().unwrap().run(RunOptions::default()).summary().makespan_s
    };
    for fabric in ["", STAR] {
        close(time(&[], fabric), 10e-3);
        // The two fast workers execute 2 tasks a ms, the two at half the speed 1 task a ms: 40 tasks take 14 ms,
        // the last ones side by side.
        close(time(&["1-2=50%"], fabric), 14e-3);
    }
    let mistake = |flag: &str| {
        let loader = Loader::new().text("farm.toml", farm).straggler(flag);
        loader.load().map(drop).unwrap_err().lines()
    };
    assert!(mistake("1=50%@1ms..2ms").contains("closed form") && mistake("0=50%").contains("closed form"));
    let noise = Loader::new().text("farm.toml", farm).noise("1us/1ms").load().map(drop).unwrap_err().lines();
    assert!(noise.contains("closed form"), "{noise}");
    // Over a fabric the master, noise and a time are fine.
    assert!(time(&["0=50%", "1=50%@1ms..2ms"], STAR) > 10e-3);
}

#[test]
fn mistakes_are_marked_where_they_stand_all_at_once() {
    let lines = |text: &str| {
        let text = format!("{STAR}[workload.ring]\nsize = \"1 KB\"\n{text}");
        Loader::new().text("a.toml", text).load_all().map(drop).unwrap_err().lines()
    };
    let text = "[noise]\nlength = \"2 ms\"\nperiod = \"1 ms\"\n[[straggler]]\nranks = \"0-11\"\nspeed = 0.5\n\
                [[straggler]]\nranks = [3, 3]\nspeed = \"50 %\"\n[[straggler]]\nspeed = \"x2\"\n[[straggler]]\nranks = 1\njob = \"a\"\nspeed = 1\n";
    let found = lines(text);
    for (line, what) in
        [(7, "for ever"), (10, "no rank 11"), (13, "rank 3 appears twice"), (15, "one of `ranks`"), (19, "no job `a`")]
    {
        let marked = found.lines().any(|found| found.contains(&format!("a.toml:{line}:")) && found.contains(what));
        assert!(marked, "{line} {what}:\n{found}");
    }
    let found = lines("[[straggler]]\nranks = 1\nspeed = 0\n[[straggler]]\nranks = \"x\"\nspeed = \"-5 %\"\n");
    for what in ["never gets anything done", "not a number or range", "`-5 %`"] {
        assert!(found.contains(what), "{what}:\n{found}");
    }
    let found = lines("[noise]\nlength = \"-1 us\"\nperiods = \"1 ms\"\ndistribution = \"gauss\"\n");
    for what in ["periods", "gauss"] {
        assert!(found.contains(what), "{what}:\n{found}");
    }
    assert!(lines("straggler = 3\n").contains("straggler"));
}

//! Properties that hold for any tasks, workers and network.

use super::*;

/// Returns all policies for a random case.
fn policies(case: &Case) -> Vec<Policy> {
    let base = case.policy;
    let ahead = |prefetch| Policy { extensions: master::Extensions { prefetch, ..Default::default() }, ..base };
    let mut policies = vec![base, ahead(1), ahead(3)];
    if case.workers.len() >= 3 {
        policies.push(Policy { masters: Masters::Partition(3), ..base });
        policies.push(Policy { masters: Masters::Hierarchy { masters: 2, batch: 7 }, ..base });
        policies.push(Policy { masters: Masters::Hierarchy { masters: 3, batch: 1 }, ..base });
    }
    policies
}

#[test]
fn work_is_conserved_and_no_run_beats_its_bounds() {
    for seed in 0..1500 {
        let case = Case::random(seed);
        for policy in policies(&case) {
            let mut turns = Vec::new();
            let outcome = farm::run(&case.tasks, &case.workers, &case.costs, &policy, &mut turns);
            let context = format!("seed {seed}, {policy:?}");
            assert_eq!(outcome.tasks(), case.tasks.len() as u64, "{context}");
            assert_eq!(outcome.undone, 0, "{context}");
            // Every task is dealt once.
            let mut given: Vec<u32> = turns.iter().flat_map(|turn| turn.first..turn.first + turn.tasks).collect();
            given.sort_unstable();
            assert!(given.into_iter().eq(0..case.tasks.len() as u32), "{context}");
            // Each task takes its time on its worker.
            let expected: f64 = turns
                .iter()
                .map(|turn| {
                    let part = &case.tasks.times()[turn.first as usize..][..turn.tasks as usize];
                    part.iter().map(|time| time.ps()).sum::<f64>() * case.workers.factors[turn.worker as usize]
                })
                .sum();
            assert_eq!(outcome.busy(), ps(expected), "{context}");
            // A worker does one thing at a time.
            for worker in 0..case.workers.len() as u32 {
                let mine: Vec<&Turn> = turns.iter().filter(|turn| turn.worker == worker).collect();
                assert!(mine.windows(2).all(|pair| pair[0].end <= pair[1].start), "{context}");
            }
            let bounds = Bounds::of(&case.tasks, &case.workers, &case.costs, &policy);
            let slack = 1.0 + 1e-12;
            assert!(outcome.time.ps() * slack >= bounds.largest().ps(), "{context}: {outcome:?} {bounds:?}");
            assert!(outcome.masters.iter().all(|&busy| busy <= outcome.time), "{context}");
        }
    }
}

#[test]
fn nothing_is_lost_with_lost_workers() {
    for seed in 0..1500 {
        let mut case = Case::random(seed);
        let mut random = Stream::new(seed, "losses");
        // Worker 0 is never lost.
        for worker in 1..case.workers.len() as u32 {
            if random.below(2) == 0 {
                case.workers.losses.push(Loss { worker, at: ps(random.below(3000) as f64) });
            }
        }
        let detection = ps(random.below(200) as f64);
        case.policy.extensions = master::Extensions { prefetch: random.below(3) as u32, detection };
        let mut turns = Vec::new();
        let outcome = farm::run(&case.tasks, &case.workers, &case.costs, &case.policy, &mut turns);
        assert_eq!((outcome.tasks(), outcome.undone), (case.tasks.len() as u64, 0), "seed {seed}");
        // Results that arrived are every task once. Messages without a result were sent again.
        let back = |turn: &&Turn| turn.back < Time::NEVER;
        let mut done: Vec<u32> =
            turns.iter().filter(back).flat_map(|turn| turn.first..turn.first + turn.tasks).collect();
        done.sort_unstable();
        assert!(done.into_iter().eq(0..case.tasks.len() as u32), "seed {seed}");
        assert_eq!(turns.iter().filter(|turn| !back(turn)).count() as u64, outcome.repeated, "seed {seed}");
        let bounds = Bounds::of(&case.tasks, &case.workers, &case.costs, &case.policy);
        assert!(outcome.time.ps() * (1.0 + 1e-12) >= bounds.largest().ps(), "seed {seed}");
    }
}

/// Graham, Bounds on multiprocessing timing anomalies, 1969: list scheduling on m equal machines takes at
/// most `A/m + (1 - 1/m) T_max`. A faster worker may make a run slower, but not beyond that bound.
#[test]
fn list_scheduling_keeps_grahams_bound_and_a_faster_worker_that_of_uniform_machines() {
    for seed in 0..1000 {
        let mut case = Case::random(seed);
        case.costs = Costs::default();
        case.policy = Policy::default();
        let m = case.workers.len() as f64;
        let unequal = std::mem::take(&mut case.workers);
        case.workers = Workers::equal(unequal.len() as u32);
        let (work, longest) = (case.tasks.work().ps(), case.tasks.longest().ps());
        assert!(case.run().time.ps() <= work / m + (1.0 - 1.0 / m) * longest + 1e-6, "seed {seed}");
        // On unequal workers all were busy while the last task waited, and it may run on the slowest.
        for worker in 0..unequal.len() {
            case.workers = unequal.clone();
            case.workers.factors[worker] /= 2.0;
            let bound = work / case.workers.speed() + longest * case.workers.slowest();
            assert!(case.run().time.ps() <= bound + 1e-6, "seed {seed}");
        }
    }
}

/// Two workers, tasks 4, 1, 6. The first takes task 0 to time 4. With factor 4.05 the second completes task 1
/// at 4.05, so the first takes the long one: 10. With factor 3.95 the second is free first and takes it: 3.95
/// + 6 * 3.95.
#[test]
fn a_faster_worker_can_make_it_slower() {
    let tasks = tasks(&[4.0, 1.0, 6.0], 0, 0);
    let run = |factor| {
        let workers = Workers::new(vec![1.0, factor]);
        farm::run(&tasks, &workers, &Costs::default(), &Policy::default(), &mut ()).time.ps()
    };
    assert_eq!(run(4.05), 10.0);
    assert!((run(3.95) - 7.0 * 3.95).abs() < 1e-9);
}

#[test]
fn a_master_with_enough_to_do_is_the_limit() {
    // 1000 tasks of 100, o = 10: the master needs 40 per task (receive 10, send 10 and 20 for the bytes), and a turn
    // takes 40 + 10 + 100 + 10 + 2 * 5 = 170. Five workers keep it busy, and more change nothing.
    let tasks = tasks(&[100.0; 1000], 20, 0);
    let costs = Costs::log_gp(ps(5.0), ps(10.0), Time::ZERO, 1.0);
    let time = |workers| farm::run(&tasks, &Workers::equal(workers), &costs, &Policy::default(), &mut ()).time.ps();
    assert_eq!(Bounds::saturation(&tasks, 1.0, &costs, &Policy::default(), 1000), Some(5));
    assert!(time(4) > 1.05 * time(5));
    // The last task is sent at 40,000. Its result arrives 130 later, after all others have been received, and is
    // received in 10.
    assert_eq!([time(5), time(6)], [40_140.0, 40_140.0]);
    // Each of 50 workers is received for the last time after that.
    assert_eq!(time(50), 40_500.0);
    assert_eq!(time(50), Bounds::of(&tasks, &Workers::equal(50), &costs, &Policy::default()).master.ps());
}

#[test]
fn what_waits_at_a_saturated_master_is_what_the_workers_have_in_excess() {
    let tasks = tasks(&[100.0; 5000], 20, 0);
    let costs = Costs::log_gp(ps(5.0), ps(10.0), Time::ZERO, 1.0);
    let outcome = farm::run(&tasks, &Workers::equal(20), &costs, &Policy::default(), &mut ());
    // A turn of 20 workers takes 20 * 40. A worker's message is under way for 130 of it and in service for 40 (from its
    // receive on); it waits for the rest. By Little's law (800 - 170) / 40 wait on average.
    let mean = outcome.waited.ps() / outcome.time.ps();
    assert!((mean - 630.0 / 40.0).abs() < 0.1, "{mean}");
    assert!((16..=17).contains(&outcome.most_waiting), "{}", outcome.most_waiting);
}

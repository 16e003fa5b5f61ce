//! An independent simulator: it scans all messages instead of using a queue, keeps no statistics, and follows
//! the paper sentence by sentence.

use super::*;

/// Returns the predicted time, with all messages of the run as `(arrival, worker)` in a plain list.
fn brute_force(case: &Case) -> Time {
    let Case { tasks, workers, costs, policy } = case;
    let o = costs.overhead.ps() + costs.overhead_per_processor.ps() * (workers.len() + 1) as f64;
    let gap = costs.gap;
    // Work and sizes of each message.
    let mut chunks = Vec::new();
    let (mut first, mut batch) = (0, Vec::new());
    while first < tasks.len() {
        let left = tasks.len() - first;
        let count = match policy.chunking {
            Chunking::Fixed(k) => k as usize,
            Chunking::Guided(least) => left.div_ceil(workers.len()).max(least as usize),
            Chunking::Factoring(least) => {
                if batch.is_empty() {
                    batch = vec![left.div_ceil(2 * workers.len()).max(least as usize); workers.len()];
                }
                batch.pop().unwrap()
            }
        };
        let part = first..(first + count).min(tasks.len());
        let sum = |f: &dyn Fn(usize) -> f64| part.clone().map(f).sum::<f64>();
        chunks.push((
            sum(&|i| tasks.times()[i].ps()),
            sum(&|i| tasks.size(i as u32).input as f64),
            sum(&|i| tasks.size(i as u32).output as f64),
        ));
        first = part.end;
    }
    let mut messages: Vec<(f64, usize)> = (0..workers.len()).map(|worker| (0.0, worker)).collect();
    let mut tasks_left = chunks.into_iter();
    let mut clock = 0.0;
    while !messages.is_empty() {
        // P1: the message that arrived first is received.
        let earliest = (0..messages.len()).min_by(|&a, &b| messages[a].partial_cmp(&messages[b]).unwrap()).unwrap();
        let (arrival, worker) = messages.remove(earliest);
        if arrival > clock {
            clock = arrival;
        }
        clock += o;
        // P2: a task is taken.
        let Some((work, input, output)) = tasks_left.next() else { continue };
        // P3: the task is sent, carried, received and computed, and its result sent and carried.
        clock += o + input * gap;
        let received = clock + costs.latency.ps() + o;
        let result_sent = received + work * workers.factors[worker] + o + output * gap;
        messages.push((result_sent + costs.latency.ps(), worker));
    }
    ps(clock)
}

#[test]
fn the_master_agrees_with_an_independent_simulator_to_the_picosecond() {
    for seed in 0..3000 {
        let case = Case::random(seed);
        assert_eq!(case.run().time, brute_force(&case), "seed {seed}");
    }
}

#[test]
fn the_general_master_does_what_that_of_the_paper_does() {
    for seed in 0..1000 {
        let case = Case::random(seed);
        let o = case.costs.overhead_among(case.workers.len() as u32 + 1);
        let dealer = Dealer::new(&case.tasks, case.policy.chunking, case.workers.len() as u32);
        let (mut turns, mut general_turns) = (Vec::new(), Vec::new());
        let paper = paper::run::<Tournament>(dealer.clone(), &case.workers.factors, &case.costs, o, &mut turns);
        let keyed = paper::run::<Keyed>(dealer.clone(), &case.workers.factors, &case.costs, o, &mut ());
        let general = master::run(dealer, &case.workers, &case.costs, o, Default::default(), &mut general_turns);
        assert_eq!(paper, keyed, "seed {seed}");
        assert_eq!(paper, general, "seed {seed}");
        assert_eq!(turns, general_turns, "seed {seed}");
    }
}

#[test]
fn without_communication_equal_workers_are_list_scheduling() {
    for seed in 0..500 {
        let mut case = Case::random(seed);
        case.costs = Costs::default();
        case.workers = Workers::equal(case.workers.len() as u32);
        case.policy = Policy::default();
        // Graham: the next task of the list goes to the processor that is free first.
        let mut free = vec![0.0f64; case.workers.len()];
        for time in case.tasks.times() {
            let first = (0..free.len()).min_by(|&a, &b| free[a].total_cmp(&free[b])).unwrap();
            free[first] += time.ps();
        }
        let makespan = free.iter().copied().fold(0.0, f64::max);
        assert_eq!(case.run().time, ps(makespan), "seed {seed}");
    }
}

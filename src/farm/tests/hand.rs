//! Cases small enough to be worked out on paper.

use super::*;

/// Two workers, four tasks; every event.
///
/// o = 10, L = 5, G = 1 ps/B, ki = 20, ko = 30; times 100, 40, 60, 80; worker 1 is half as fast (r = 2).
/// O1 = 2*10 + 20 = 40; O2 = 10 + T*r + 20 + 30 = 60 + T*r.
///
/// ```text
/// event               t1   task      clock  result arrives
/// request of 0 at 0    0   0 (100)      40  0 + 40 + 160 = 200
/// request of 1 at 0   40   1 (40*2)     80  40 + 40 + 140 = 220
/// result of 0 at 200 200   2 (60)      240  200 + 40 + 120 = 360
/// result of 1 at 220 240   3 (80*2)    280  240 + 40 + 220 = 500     waited 20
/// result of 0 at 360 360   none        370
/// result of 1 at 500 500   none        510
/// ```
fn case() -> (Tasks, Workers, Costs) {
    let costs = Costs::log_gp(ps(5.0), ps(10.0), Time::ZERO, 1.0);
    (tasks(&[100.0, 40.0, 60.0, 80.0], 20, 30), Workers::new(vec![1.0, 2.0]), costs)
}

#[test]
fn two_workers_and_four_tasks_event_by_event() {
    let (tasks, workers, costs) = case();
    let mut turns = Vec::new();
    let outcome = farm::run(&tasks, &workers, &costs, &Policy::default(), &mut turns);
    assert_eq!(outcome.time, ps(510.0));
    let back: Vec<(u32, u32, f64)> = turns.iter().map(|turn| (turn.worker, turn.first, turn.back.ps())).collect();
    assert_eq!(back, [(0, 0, 200.0), (1, 1, 220.0), (0, 2, 360.0), (1, 3, 500.0)]);
    // A worker computes after the message has been sent, carried and received: 40 + 5 + 10.
    assert_eq!((turns[0].start, turns[0].end), (ps(55.0), ps(155.0)));
    // 4 * (20 + 20) for tasks and requests, 2 * 10 for the last results.
    assert_eq!(outcome.masters, [ps(180.0)]);
    assert_eq!((outcome.waited, outcome.most_waiting), (ps(20.0), 1));
    let used: Vec<(f64, u32)> = outcome.workers.iter().map(|used| (used.busy.ps(), used.tasks)).collect();
    assert_eq!(used, [(160.0, 2), (240.0, 2)]);
    assert_eq!(outcome.dealt, ps(280.0));
    let bounds = Bounds::of(&tasks, &workers, &costs, &Policy::default());
    // 280 on workers of speed 1 and 1/2. A task of 100 on the fast one has 40 + 60 around it, less the receive of its
    // request: so each of four messages has 90 around it on any worker.
    assert_eq!(bounds.work.ps(), 280.0 / 1.5);
    assert_eq!(bounds.longest, ps(190.0));
    assert_eq!(bounds.master, ps(180.0));
    assert_eq!(bounds.exchange.ps(), (280.0 + 4.0 * 90.0 / 2.0) / 1.5);
}

#[test]
fn overhead_grows_with_the_number_of_processors() {
    let (tasks, workers, _) = case();
    // o(3) = 1 + 3*3 = 10, as above.
    let costs = Costs::log_gp(ps(5.0), ps(1.0), ps(3.0), 1.0);
    assert_eq!(farm::run(&tasks, &workers, &costs, &Policy::default(), &mut ()).time, ps(510.0));
}

/// With the next task sent ahead, a single worker never waits: o = 10, L = 100, tasks of 50.
///
/// ```text
/// request at 0     received at 10, first task sent at 20, second (ahead) at 30
/// first            at the worker at 120, received 130, computed 180, sent 190, back at 290
/// second           at the worker at 130, free at 190: received 200, computed 250, sent 260, back at 360
/// first result     at 290: received 300, third task sent 310, at the worker 410, received 420, done 470, sent 480, 580
/// second result    at 360: received 370, nothing left
/// third result     at 580: received 590
/// ```
#[test]
fn a_task_sent_ahead_is_there_when_the_worker_is_free() {
    let costs = Costs::log_gp(ps(100.0), ps(10.0), Time::ZERO, 0.0);
    let policy = Policy { extensions: master::Extensions { prefetch: 1, ..Default::default() }, ..Policy::default() };
    let mut turns = Vec::new();
    let outcome = farm::run(&tasks(&[50.0; 3], 0, 0), &Workers::equal(1), &costs, &policy, &mut turns);
    let starts: Vec<f64> = turns.iter().map(|turn| turn.start.ps()).collect();
    assert_eq!(starts, [130.0, 200.0, 420.0]);
    assert_eq!(outcome.time, ps(590.0));
}

/// Worker 1 is lost at 130, during its second task; the master notices it 50 later.
///
/// No costs; worker 0: 0-100, 100-200; worker 1: 0-100, then lost in task 3 at 130, noticed at 180. Task 3 is
/// dealt again at the next free moment: worker 0 at 200, to 300. Task 4 follows, to 400.
#[test]
fn the_task_of_a_lost_worker_goes_out_again() {
    let mut workers = Workers::equal(2);
    workers.losses.push(Loss { worker: 1, at: ps(130.0) });
    let policy = Policy { extensions: master::Extensions { prefetch: 0, detection: ps(50.0) }, ..Policy::default() };
    let mut turns = Vec::new();
    let outcome = farm::run(&tasks(&[100.0; 5], 0, 0), &workers, &Costs::default(), &policy, &mut turns);
    assert_eq!(outcome.time, ps(400.0));
    assert_eq!((outcome.repeated, outcome.wasted, outcome.undone), (1, ps(30.0), 0));
    let given: Vec<(u32, u32, f64)> = turns.iter().map(|turn| (turn.worker, turn.first, turn.given.ps())).collect();
    assert_eq!(given, [(0, 0, 0.0), (1, 1, 0.0), (0, 2, 100.0), (1, 3, 100.0), (0, 3, 200.0), (0, 4, 300.0)]);
    assert_eq!(outcome.workers.iter().map(|used| used.tasks).sum::<u32>(), 5);
}

/// The last task is lost long after worker 0 has been dismissed, which is then called back.
#[test]
fn a_dismissed_worker_takes_over_from_a_lost_one() {
    let mut workers = Workers::equal(2);
    workers.losses.push(Loss { worker: 1, at: ps(500.0) });
    let outcome = farm::run(&tasks(&[100.0, 1000.0], 0, 0), &workers, &Costs::default(), &Policy::default(), &mut ());
    assert_eq!((outcome.time, outcome.repeated, outcome.wasted), (ps(1500.0), 1, ps(500.0)));
}

#[test]
fn with_all_workers_lost_the_tasks_that_are_left_are_counted() {
    let mut workers = Workers::equal(1);
    workers.losses.push(Loss { worker: 0, at: ps(150.0) });
    let outcome = farm::run(&tasks(&[100.0; 4], 0, 0), &workers, &Costs::default(), &Policy::default(), &mut ());
    assert_eq!((outcome.undone, outcome.tasks()), (3, 1));
}

/// Two masters, two workers, four tasks of 100, no costs: each master has two tasks and one worker.
#[test]
fn masters_with_parts_of_their_own_know_nothing_of_each_other() {
    let times = [100.0, 100.0, 10.0, 10.0];
    let policy = Policy { masters: Masters::Partition(2), ..Policy::default() };
    let outcome = farm::run(&tasks(&times, 0, 0), &Workers::equal(2), &Costs::default(), &policy, &mut ());
    assert_eq!(outcome.time, ps(200.0));
    assert_eq!(outcome.workers.iter().map(|used| used.busy.ps()).collect::<Vec<_>>(), [200.0, 20.0]);
}

/// A master of masters with one master, one worker, two tasks in one batch. o = 1, L = 10; no bytes.
///
/// ```text
/// above: request at 0 received at 1, batch sent at 2, at the master at 12
/// master: the worker's request received at 1 (it waits); batch received at 13, task sent at 14, asks above: 15
/// worker: at 24, received 25, computed 125, sent 126, back at 136: received 137, second task sent at 138
/// above: request at 25, received 26, "nothing more" sent 27, at the master at 37: received 38
/// worker: at 148, received 149, computed 249, sent 250, back at 260: received 261; results sent at 262
/// above: at 272, received 273
/// ```
#[test]
fn a_master_of_masters_event_by_event() {
    let costs = Costs::log_gp(ps(10.0), ps(1.0), Time::ZERO, 0.0);
    let policy = Policy { masters: Masters::Hierarchy { masters: 1, batch: 2 }, ..Policy::default() };
    let mut turns = Vec::new();
    let outcome = farm::run(&tasks(&[100.0; 2], 0, 0), &Workers::equal(1), &costs, &policy, &mut turns);
    let back: Vec<f64> = turns.iter().map(|turn| turn.back.ps()).collect();
    assert_eq!(back, [136.0, 260.0]);
    assert_eq!(outcome.time, ps(273.0));
}

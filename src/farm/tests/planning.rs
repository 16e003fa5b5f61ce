//! Plans: fewer tasks than a regular grid needs, and intervals that hold.

use super::plan::{ReplayedPlan, execute_until, plan};
use super::*;

/// Returns the Mandelbrot tasks of the paper's size.
fn mandelbrot(side: u64, iterations: u64) -> (MandelbrotSpec, TaskGrid, f64) {
    let spec = MandelbrotSpec { side: side.into(), iterations: iterations.into(), time: ps(1.0).into() };
    let work = spec.times().unwrap().iter().map(|time| time.ps()).sum();
    let grid = spec.grid().unwrap();
    (spec, grid, work)
}

fn time_of(spec: &MandelbrotSpec, point: &[i64]) -> Time {
    spec.time(point[0] as u64, point[1] as u64)
}

/// Returns the number of tasks that a simple random sample of these times needs for an interval of 95 %. It
/// is `n / (1 + n/N)` for N tasks, with `n = (1.96 s / (part * mean))^2` for infinitely many.
fn simple_sample(times: &[Time], part: f64) -> f64 {
    let all = times.len() as f64;
    let mean = times.iter().map(|time| time.ps()).sum::<f64>() / all;
    let variance = times.iter().map(|time| (time.ps() - mean) * (time.ps() - mean)).sum::<f64>() / all;
    let n = (1.96 / part / mean) * (1.96 / part / mean) * variance;
    n / (1.0 + n / all)
}

#[test]
fn mandelbrot_is_known_to_two_percent_with_a_fifth_of_a_simple_sample() {
    let (spec, grid, work) = mandelbrot(1024, 1000);
    let (executed, plan) = execute_until(&grid, 0.02, |point| time_of(&spec, point)).unwrap();
    let error = (plan.work.ps() / work - 1.0).abs();
    assert!(error <= plan.relative() && plan.relative() <= 0.02, "{error} {}", plan.relative());
    let needed = simple_sample(&spec.times().unwrap(), 0.02);
    println!(
        "plan: {} tasks, error {error:.4}, interval {:.4}; at random: {needed:.0}",
        executed.len(),
        plan.relative()
    );
    assert!((executed.len() as f64) < needed / 5.0, "{} of {needed}", executed.len());
    // All tasks together have the estimated work.
    let tasks = ReplayedPlan::new(&executed, &grid).unwrap().tasks(0);
    assert!((tasks.work().ps() / plan.work.ps() - 1.0).abs() < 1e-9);
}

#[test]
fn the_interval_holds_the_work_for_most_problems() {
    type Time2 = fn(f64, f64) -> f64;
    let smooth: [Time2; 4] = [
        |x, y| 1.0 + x * x + y * y,
        |x, y| 2.0 + x * y,
        |x, y| 1.0 / (0.05 + (x - 0.3) * (x - 0.3) + (y - 0.6) * (y - 0.6)),
        |x, y| if x + y > 1.1 { 10.0 } else { 1.0 },
    ];
    let (mut held, mut all) = (0, 0);
    let mut check = |grid: &TaskGrid, work: f64, execute: &dyn Fn(&[i64]) -> Time, accuracy: f64| {
        let (executed, plan) = execute_until(grid, accuracy, execute).unwrap();
        assert!(executed.len() < grid.tasks());
        let error = (plan.work.ps() / work - 1.0).abs();
        all += 1;
        held += usize::from(error <= plan.relative());
        println!("{} tasks of {}: error {error:.5} interval {:.5}", executed.len(), grid.tasks(), plan.relative());
        // No error is far off.
        assert!(error < 2.5 * accuracy, "{error} for {accuracy}");
    };
    for f in smooth {
        let grid: TaskGrid = "400x300".parse().unwrap();
        let time = |point: &[i64]| ps(f(point[0] as f64 / 400.0, point[1] as f64 / 300.0) * 1e6);
        let work: f64 = (0..grid.tasks()).map(|i| time(&grid.point(i)).ps()).sum();
        for accuracy in [0.05, 0.02, 0.01] {
            check(&grid, work, &time, accuracy);
        }
    }
    for iterations in [100, 300, 1000] {
        let (spec, grid, work) = mandelbrot(512, iterations);
        for accuracy in [0.05, 0.02, 0.01] {
            check(&grid, work, &|point| time_of(&spec, point), accuracy);
        }
    }
    assert!(held * 10 >= all * 9, "{held} of {all}");
}

/// Returns a time that neither coordinates nor neighbours predict.
fn rough(point: &[i64]) -> Time {
    ps(((point.iter().sum::<i64>() * 7919) % 13) as f64 + 1.0)
}

#[test]
fn a_plan_ends_at_every_task_at_the_latest() {
    for text in ["7", "5x9", "3x4x5", "1x1", "2", "100", "20x31"] {
        let grid: TaskGrid = text.parse().unwrap();
        let (executed, plan) = execute_until(&grid, 0.0, rough).unwrap();
        let work: f64 = (0..grid.tasks()).map(|i| rough(&grid.point(i)).ps()).sum();
        assert!((plan.work.ps() - work).abs() < 1e-6 * work, "{text}");
        assert_eq!((executed.len(), plan.needed, plan.half_width), (grid.tasks(), grid.tasks(), Time::ZERO), "{text}");
        let played = ReplayedPlan::new(&executed, &grid).unwrap();
        let [time, least, most] = played.predict(&[Workers::equal(3)], &Costs::default())[0];
        assert!(least == time && time == most, "{text}: nothing is left to be guessed");
    }
}

/// Draws two of three tasks, a and b, in a cell of their own: `3 (3 - 2) (a - b)^2 / 4`.
#[test]
fn the_estimate_of_a_round_and_its_variance_have_the_true_means_over_all_draws() {
    let times = [1.0, 4.0, 10.0];
    let pairs = [(0, 1), (0, 2), (1, 2)].map(|(i, j)| (times[i], times[j]));
    let mean = |of: &dyn Fn((f64, f64)) -> f64| pairs.iter().map(|&pair| of(pair)).sum::<f64>() / 3.0;
    let work = |(a, b): (f64, f64)| 3.0 * (a + b) / 2.0;
    assert_eq!(mean(&work), 15.0);
    let variance = mean(&|pair| (work(pair) - 15.0) * (work(pair) - 15.0));
    assert!((mean(&|(a, b)| 3.0 * (a - b) * (a - b) / 4.0) - variance).abs() < 1e-12);
}

#[test]
fn times_that_differ_at_random_need_what_sampling_theory_says() {
    // The deviation of exponential times is their mean: 1.96^2 / 0.1^2 = 384 tasks of infinitely many, n / (1 + n/N) of
    // N. The first round has more, 577 of 15,000.
    let grid: TaskGrid = "15000".parse().unwrap();
    let times = ExponentialSpec { count: 15_000.into(), mean: ps(1e6).into() }.times(3).unwrap();
    let time = |point: &[i64]| times[point[0] as usize - 1];
    let (executed, plan) = execute_until(&grid, 0.1, time).unwrap();
    // Two tasks per cell may be one more.
    assert!((577..=578).contains(&executed.len()), "{}", executed.len());
    // 1.96 / sqrt(577) = 8.2 %, and a little for the tasks not seen.
    assert!((0.07..0.1).contains(&plan.relative()), "{}", plan.relative());
    // 4 % needs 2,401 of infinitely many, 2,070 of these. The expected number is near that.
    let wanted = super::plan::plan(&executed, &grid, 0.04).unwrap();
    assert!((1700..2600).contains(&wanted.needed), "{}", wanted.needed);
    assert!(!wanted.next.is_empty());
}

#[test]
fn tasks_that_take_no_time_are_known_without_error() {
    let grid: TaskGrid = "30x50".parse().unwrap();
    let (executed, plan) = execute_until(&grid, 0.05, |_| Time::ZERO).unwrap();
    assert!(executed.len() < grid.tasks());
    assert_eq!((plan.work, plan.relative()), (Time::ZERO, 0.0));
}

#[test]
fn the_order_of_the_list_does_not_matter() {
    let grid: TaskGrid = "40x40".parse().unwrap();
    let (executed, plan) = execute_until(&grid, 0.05, rough).unwrap();
    let mut turned = Executed::new(2);
    for i in (0..executed.len()).rev() {
        turned.push(executed.point(i), executed.times()[i], executed.size(i));
    }
    assert_eq!(super::plan::plan(&turned, &grid, 0.05).unwrap(), plan);
}

#[test]
fn what_no_plan_proposed_is_refused() {
    let grid: TaskGrid = "90x90".parse().unwrap();
    let mut executed = Executed::new(2);
    let first = plan(&executed, &grid, 0.1).unwrap().next;
    for point in &first[1..] {
        executed.push(point, rough(point), Size::default());
    }
    let missing = super::grid::show_point(&first[0]);
    let said = plan(&executed, &grid, 0.1).unwrap_err().message;
    assert!(said.contains("1 task of round 1") && said.contains(&missing), "{said}");
    executed.push(&first[0], rough(&first[0]), Size::default());
    let next = plan(&executed, &grid, 0.01).unwrap().next;
    let stray = (0..).map(|i| grid.point(i)).find(|point| !first.contains(point) && !next.contains(point)).unwrap();
    executed.push(&stray, ps(1.0), Size::default());
    assert!(plan(&executed, &grid, 0.1).unwrap_err().message.contains("round 2"));
}

//! Plans: fewer tasks than a regular grid needs, and intervals that hold.

use super::plan::{execute_until, plan};
use super::*;

/// The Mandelbrot tasks of the paper's size.
fn mandelbrot(side: u64, iterations: u64) -> (MandelbrotSpec, TaskGrid, f64) {
    let spec = MandelbrotSpec { side: side.into(), iterations: iterations.into(), time: ps(1.0).into() };
    let work = spec.times().unwrap().iter().map(|time| time.ps()).sum();
    let grid = spec.grid().unwrap();
    (spec, grid, work)
}

fn time_of(spec: &MandelbrotSpec, point: &[i64]) -> Time {
    spec.time(point[0] as u64, point[1] as u64)
}

/// The work that a regular grid of `k x k` executed tasks gives.
fn regular(spec: &MandelbrotSpec, grid: &TaskGrid, k: i64) -> f64 {
    let side = *spec.side as i64;
    let axis: Vec<i64> = (0..k).map(|i| 1 + i * (side - 1) / (k - 1)).collect();
    let mut executed = Executed::new(2);
    for &i in &axis {
        for &j in &axis {
            executed.push(&[i, j], time_of(spec, &[i, j]), Size::default());
        }
    }
    interpolate(&executed, grid, Outside::Refuse).unwrap().work().ps()
}

#[test]
fn mandelbrot_is_known_to_two_percent_with_fewer_tasks_than_a_regular_grid_needs() {
    let (spec, grid, work) = mandelbrot(1024, 1000);
    let (executed, plan) = execute_until(&grid, 0.02, |point| time_of(&spec, point)).unwrap();
    let error = (plan.work.ps() / work - 1.0).abs();
    assert!(error <= 0.02, "{error}");
    assert!(plan.relative() <= 0.02);
    // A regular grid has no interval; it needs as many as the first size from which on all are within 2 %.
    let sizes: Vec<i64> = (4..=12).map(|i| i * 8).collect();
    let good: Vec<bool> = sizes.iter().map(|&k| (regular(&spec, &grid, k) / work - 1.0).abs() <= 0.02).collect();
    let needed = sizes[good.iter().rposition(|good| !good).map_or(0, |last| last + 1).min(sizes.len() - 1)];
    println!("plan: {} tasks, error {error:.4}, interval {:.4}; regular: {needed}^2", executed.len(), plan.relative());
    assert!((executed.len() as i64) < needed * needed, "{} of {}", executed.len(), needed * needed);
    // The refined set gives the same work task by task.
    let tasks = refined::interpolate(&executed, &grid).unwrap();
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
        // Never far off.
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

#[test]
fn a_plan_begins_everywhere_and_ends_at_every_task() {
    for text in ["7", "5x9", "3x4x5", "1x1", "2"] {
        let grid: TaskGrid = text.parse().unwrap();
        let rough = |point: &[i64]| ps(((point.iter().sum::<i64>() * 7919) % 13) as f64 + 1.0);
        let (executed, plan) = execute_until(&grid, 0.0, rough).unwrap();
        let work: f64 = (0..grid.tasks()).map(|i| rough(&grid.point(i)).ps()).sum();
        assert!((plan.work.ps() - work).abs() < 1e-6 * work, "{text}");
        assert!(executed.len() <= grid.tasks());
        assert!((plan.relative()) < 1e-9 || executed.len() == grid.tasks(), "{text}: {plan:?}");
    }
}

#[test]
fn what_no_plan_proposed_is_refused() {
    let grid: TaskGrid = "9x9".parse().unwrap();
    let mut executed = Executed::new(2);
    for point in [[1, 1], [1, 9], [9, 1]] {
        executed.push(&point, ps(1.0), Size::default());
    }
    assert!(plan(&executed, &grid, 0.1).unwrap_err().message.contains("(9, 9)"));
    executed.push(&[9, 9], ps(1.0), Size::default());
    assert_eq!(plan(&executed, &grid, 0.1).unwrap().half_width, Time::NEVER);
    executed.push(&[5, 5], ps(1.0), Size::default());
    assert!(plan(&executed, &grid, 0.1).unwrap_err().message.contains("(5, 5)"));
}

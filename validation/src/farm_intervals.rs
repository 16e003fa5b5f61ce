//! Intervals of plans: the fraction of many task sets of a family in which they hold the work and the
//! predicted time.

use std::fmt::Write;

use super::{Case, CaseError, Context, Outcome};
use hayase::base::portable::{exp, ln};
use hayase::farm;
use hayase::farm::plan::{ReplayedPlan, execute_until};
use hayase::farm::{Costs, Extent, Policy, Sizes, TaskGrid, Tasks, Workers};
use hayase::rng::Mix;
use hayase::units::Time;

/// Requested accuracy.
const ACCURACY: f64 = 0.05;
/// Number of workers for the predicted time.
const WORKERS: u32 = 16;
/// Smallest fraction of the task sets whose interval must hold: 95 %, minus the scatter of a few hundred
/// sets.
const MIN_HELD_PART: f64 = 0.93;

/// Random numbers of a task set.
struct TaskSet(Mix);

impl TaskSet {
    /// Returns a number of the whole set.
    fn own(&self, key: u64) -> f64 {
        self.0.one_unit(key)
    }

    /// Returns a number of a task.
    fn of(&self, task: u64, key: u64) -> f64 {
        self.0.two_unit(task, key)
    }

    fn exponential(&self, task: u64) -> f64 {
        -ln(1.0 - self.of(task, 0))
    }

    /// Returns a nearly normal random number of a task.
    fn normal(&self, task: u64) -> f64 {
        (1..13).map(|key| self.of(task, key)).sum::<f64>() - 6.0
    }
}

/// Time of a task from its number and its coordinates, from 0 to 1.
type Rule = fn(&TaskSet, u64, &[f64]) -> f64;

/// Task sets of one kind.
struct Family {
    name: &'static str,
    grid: &'static str,
    rule: Rule,
    /// Results for 200 sets of the earlier method, interpolation in a tree of cells: the percentage of sets
    /// whose interval held, and the mean number of executed tasks.
    earlier: (f64, u32),
}

fn smooth(set: &TaskSet, _: u64, x: &[f64]) -> f64 {
    let y = x.get(1).copied().unwrap_or(0.5);
    let (u, v) = (x[0] - set.own(4), y - set.own(5));
    1.0 + set.own(1) * x[0] * x[0] + set.own(2) * x[0] * y + 4.0 * set.own(3) * exp(-8.0 * (u * u + v * v))
}

fn noisy(set: &TaskSet, task: u64, x: &[f64]) -> f64 {
    smooth(set, task, x) * (0.8 + 0.4 * set.of(task, 0))
}

fn ramp(set: &TaskSet, _: u64, x: &[f64]) -> f64 {
    set.own(1) + (2..).zip(x).map(|(key, x)| set.own(key) * x).sum::<f64>()
}

fn step(set: &TaskSet, _: u64, x: &[f64]) -> f64 {
    let side: f64 = (2..).zip(x).map(|(key, x)| (set.own(key) + 0.1) * (x - 0.5)).sum();
    if 2.0 * side > set.own(1) - 0.5 { 10.0 } else { 1.0 }
}

fn column(set: &TaskSet, _: u64, x: &[f64]) -> f64 {
    if x[0] > 0.1 + 0.8 * set.own(1) { 10.0 } else { 1.0 }
}

fn end(set: &TaskSet, _: u64, x: &[f64]) -> f64 {
    if x[0] > 0.95 + 0.04 * set.own(1) { 20.0 } else { 1.0 }
}

fn peaks(set: &TaskSet, _: u64, x: &[f64]) -> f64 {
    let peak = |k: u64| {
        let width = 0.015 + 0.02 * set.own(10 * k);
        let square: f64 = (10 * k + 1..).zip(x).map(|(key, x)| (x - set.own(key)) * (x - set.own(key))).sum();
        30.0 * exp((-square / (2.0 * width * width)).max(-600.0))
    };
    1.0 + (1..4).map(peak).sum::<f64>()
}

fn exponential(set: &TaskSet, task: u64, _: &[f64]) -> f64 {
    set.exponential(task)
}

fn log_normal(set: &TaskSet, task: u64, _: &[f64]) -> f64 {
    exp(set.normal(task))
}

fn heavy_tail(set: &TaskSet, task: u64, _: &[f64]) -> f64 {
    exp(set.exponential(task) / 2.5)
}

fn two_levels(set: &TaskSet, task: u64, _: &[f64]) -> f64 {
    if set.of(task, 0) < 0.1 { 10.0 } else { 1.0 }
}

fn few_long(set: &TaskSet, task: u64, _: &[f64]) -> f64 {
    if set.of(task, 0) < 0.01 { 100.0 } else { 1.0 }
}

fn cluster(set: &TaskSet, task: u64, x: &[f64]) -> f64 {
    if step(set, task, x) > 5.0 { 5.0 * set.exponential(task) } else { 1.0 }
}

fn half_zero(set: &TaskSet, task: u64, _: &[f64]) -> f64 {
    if set.of(task, 0) < 0.5 { 0.0 } else { set.of(task, 1) }
}

fn zero(_: &TaskSet, _: u64, _: &[f64]) -> f64 {
    0.0
}

fn constant(set: &TaskSet, _: u64, _: &[f64]) -> f64 {
    1.0 + set.own(1)
}

fn periodic(set: &TaskSet, task: u64, _: &[f64]) -> f64 {
    let period = 3.0 + (17.0 * set.own(1)).floor();
    1.0 + set.own(2) * ((task as f64 + (20.0 * set.own(3)).floor()) % period)
}

fn rows(set: &TaskSet, _: u64, x: &[f64]) -> f64 {
    set.exponential((x[0] * 4096.0) as u64)
}

fn families() -> Vec<Family> {
    let all: [(&str, &str, Rule, (f64, u32)); 27] = [
        ("smooth", "1000", smooth, (100.0, 17)),
        ("smooth", "64x64", smooth, (100.0, 289)),
        ("smooth", "16x16x16", smooth, (100.0, 729)),
        ("smooth, +- 20 % at random", "31x37", noisy, (91.5, 289)),
        ("ramp", "997", ramp, (100.0, 17)),
        ("ramp", "64x64", ramp, (100.0, 289)),
        ("step", "1000", column, (100.0, 19)),
        ("step along a column", "32x32", column, (0.0, 289)),
        ("step at any angle", "32x32", step, (94.5, 289)),
        ("long at the end", "1000", end, (100.0, 65)),
        ("three narrow peaks", "1000", peaks, (98.5, 52)),
        ("three narrow peaks", "64x64", peaks, (92.5, 429)),
        ("exponential", "73", exponential, (85.0, 70)),
        ("exponential", "1000", exponential, (75.0, 785)),
        ("exponential", "32x32", exponential, (8.5, 721)),
        ("exponential", "10007", exponential, (18.5, 2659)),
        ("log-normal", "1000", log_normal, (86.5, 881)),
        ("heavy tail, shape 2.5", "64x64", heavy_tail, (9.0, 536)),
        ("10 % ten times as long", "1000", two_levels, (11.5, 604)),
        ("1 % a hundred times as long", "1000", few_long, (12.5, 144)),
        ("exponential behind a step", "64x64", cluster, (18.0, 772)),
        ("half of them nothing", "1000", half_zero, (93.5, 956)),
        ("all of them nothing", "1000", zero, (100.0, 17)),
        ("constant", "10", constant, (100.0, 10)),
        ("one task", "1", exponential, (100.0, 1)),
        ("periodic", "1024", periodic, (47.0, 39)),
        ("exponential by row", "64x64", rows, (18.0, 1128)),
    ];
    all.into_iter().map(|(name, grid, rule, earlier)| Family { name, grid, rule, earlier }).collect()
}

/// Counts over the task sets of a family.
#[derive(Default)]
struct HeldCounts {
    /// Number of intervals that held the work.
    work: u32,
    /// Number of intervals that held the predicted time.
    time: u32,
    executed: usize,
    /// Sum of the relative half widths.
    width: f64,
}

fn hold(family: &Family, sets: u64) -> Result<HeldCounts, CaseError> {
    let usual: TaskGrid = family.grid.parse()?;
    let mut held = HeldCounts::default();
    for number in 0..sets {
        let set = TaskSet(Mix::new(number, family.name));
        // Other coordinates, other draws: the interval is to hold over these.
        let shifted =
            |extent: &Extent| Extent { first: number as i64, last: number as i64 + extent.last - extent.first };
        let grid = TaskGrid::new(usual.extents().iter().map(shifted).collect())?;
        let time = |point: &[i64]| {
            let part = |(&at, extent): (&i64, &Extent)| ((at - extent.first) as f64 + 0.5) / extent.count() as f64;
            let x: Vec<f64> = point.iter().zip(grid.extents()).map(part).collect();
            Time::from_ps(1e9 * (family.rule)(&set, grid.index(point) as u64, &x))
        };
        let told = |diagnostic: hayase::diagnostic::Diagnostic| diagnostic.message;
        let (executed, plan) = execute_until(&grid, ACCURACY, time).map_err(told)?;
        let all = Tasks::new((0..grid.tasks()).map(|task| time(&grid.point(task))).collect(), Sizes::default());
        // Sums in another order differ in the last digits.
        let is_in = |[least, most]: [f64; 2], truth: Time| {
            let rounding = 1e-9 * truth.ps();
            (least - rounding..=most + rounding).contains(&truth.ps())
        };
        let (work, half) = (plan.work.ps(), plan.half_width.ps());
        held.work += u32::from(is_in([work - half, work + half], all.work()));
        let (crew, costs) = (Workers::equal(WORKERS), Costs::log_gp(Time::ZERO, Time::ZERO, Time::ZERO, 0.0));
        let truth = farm::run(&all, &crew, &costs, &Policy::default(), &mut ()).time;
        let played = ReplayedPlan::new(&executed, &grid).map_err(told)?;
        let [_, least, most] = played.predict(&[crew], &costs)[0];
        held.time += u32::from(is_in([least.ps(), most.ps()], truth));
        held.executed += executed.len();
        held.width += plan.relative();
    }
    Ok(held)
}

fn intervals(context: &Context) -> Result<Outcome, CaseError> {
    let sets: u64 = context.choose(100, 200);
    let found = context.run_parts(families(), |family| Ok((hold(&family, sets)?, family)))?;
    let mut note = format!(
        "| task sets | grid | work held, earlier | executed, earlier | work held | executed | +- | time held, {WORKERS} \
         workers |\n|---|---|--:|--:|--:|--:|--:|--:|\n"
    );
    let part = |count: u32| f64::from(count) / sets as f64;
    let mut worst = (1.0, "");
    for (held, family) in &found {
        let Family { name, grid, earlier: (rate, tasks), .. } = family;
        if part(held.work) < worst.0 {
            worst = (part(held.work), name);
        }
        let _ = writeln!(
            note,
            "| {name} | {grid} | {rate:.1} % | {tasks} | {:.1} % | {:.0} | {:.1} % | {:.1} % |",
            100.0 * part(held.work),
            held.executed as f64 / sets as f64,
            100.0 * held.width / sets as f64,
            100.0 * part(held.time)
        );
    }
    let got = format!("at least {:.1} % of {sets} sets ({})", 100.0 * worst.0, worst.1);
    Ok(Outcome::check(worst.0 >= MIN_HELD_PART, got).note(note.trim_end()))
}

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("master-slave/intervals", intervals)
            .source("all tasks of sets that are drawn at random, of 27 kinds")
            .expect("95 % of the intervals of a plan for 5 % hold the work of all tasks", "2 % of the sets, each kind")
            .takes(9, 18),
    ]
}

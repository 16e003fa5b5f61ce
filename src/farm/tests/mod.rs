//! The master against hand-computed cases, an independent simulator and list scheduling; properties of any
//! case.

mod hand;
mod interpolation;
mod oracle;
mod planning;
mod properties;
mod reading;

use super::*;
use crate::farm;
use crate::rng::Stream;
use crate::units::Time;

/// Returns `time` picoseconds.
fn ps(time: f64) -> Time {
    Time::from_ps(time)
}

/// Creates tasks of these times \[ps\], with the same sizes.
fn tasks(times: &[f64], input: u64, output: u64) -> Tasks {
    Tasks::new(times.iter().map(|&time| ps(time)).collect(), Sizes::Same(Size { input, output }))
}

/// Random tasks, workers and costs in whole picoseconds, so that sums are exact in any order.
struct Case {
    tasks: Tasks,
    workers: Workers,
    costs: Costs,
    policy: Policy,
}

impl Case {
    fn random(seed: u64) -> Self {
        let mut random = Stream::new(seed, "master/slave case");
        let count = random.below(60) as usize;
        let mut below = |bound: u64| random.below(bound) as f64;
        let times = (0..count).map(|_| ps(below(1000))).collect();
        let sizes = match below(2) as u32 {
            0 => Sizes::Same(Size { input: below(50) as u64, output: below(50) as u64 }),
            _ => Sizes::Each((0..count).map(|_| Size { input: below(50) as u64, output: below(50) as u64 }).collect()),
        };
        let workers = Workers::new((0..1 + below(9) as u32).map(|_| 0.5 * (1.0 + below(6))).collect());
        let costs = Costs::log_gp(ps(below(40)), ps(below(30)), ps(below(4)), below(4));
        let chunking = match below(3) as u32 {
            0 => Chunking::Fixed(1 + below(5) as u32),
            1 => Chunking::Guided(1 + below(2) as u32),
            _ => Chunking::Factoring(1),
        };
        let policy = Policy { chunking, ..Policy::default() };
        Self { tasks: Tasks::new(times, sizes), workers, costs, policy }
    }

    fn run(&self) -> Outcome {
        farm::run(&self.tasks, &self.workers, &self.costs, &self.policy, &mut ())
    }
}

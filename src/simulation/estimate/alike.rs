//! Comparison of the messages still to come with those already played, by the load that their routes put on
//! links.
//!
//! For one step, with all its messages under way together, `L` is a mean over the messages. Each message
//! contributes the largest load on any link of its route, given as the time that the link needs for it
//! \[ps\]. Steps already played and steps to come are sampled at random, and the means of their L are
//! compared. Under random placement they agree within chance. On a torus with ranks in order they differ,
//! because near ranks come first.

use crate::fabric::Fabric;
use crate::ids::{IdVec, LinkId, RankId};
use crate::pattern::Pattern;
use crate::placement::Placement;
use crate::rng::Mix;
use crate::routing::Router;

/// Largest number of routes examined, and the smallest number of steps on each side.
const ROUTES: usize = 1_000_000;
const MIN_STEPS: usize = 24;

/// Difference of the means, in standard errors, above which steps count as different.
const SIGNIFICANT_ERRORS: f64 = 3.0;

/// A pattern on a network, as needed to compare steps.
pub struct Comparison<'a> {
    pub pattern: &'a dyn Pattern,
    pub fabric: &'a Fabric,
    pub router: &'a dyn Router,
    pub placement: &'a Placement,
    pub seed: u64,
}

/// Mean and the variance of that mean.
type SampleMean = (f64, f64);

impl Comparison<'_> {
    /// Succeeds if the steps from `played` on resemble those before. Their L may differ by what chance
    /// explains, or by half of `wanted`, the relative precision that is asked for.
    ///
    /// # Errors
    /// A description of the difference.
    pub fn check_similar(&self, played: u32, wanted: f64) -> Result<(), String> {
        let all = self.pattern.sends(RankId(0));
        let steps = (ROUTES / self.placement.len().max(1)).max(3 * MIN_STEPS);
        let early = (steps / 3).max(MIN_STEPS);
        let (before, of_before) = self.mean_load(0, played, early);
        let (after, of_after) = self.mean_load(played, all, steps - early);
        if before <= 0.0 {
            return Ok(());
        }
        let change = after / before - 1.0;
        let error = (of_before + of_after).sqrt() / before;
        if change.abs() > (SIGNIFICANT_ERRORS * error).max(wanted / 2.0) {
            let (percent, more) = (100.0 * change.abs(), if change > 0.0 { "more" } else { "less" });
            return Err(format!(
                "the steps after the first {played} load their links {percent:.1} % {more} than these"
            ));
        }
        Ok(())
    }

    /// Returns the mean of L over `count` steps between `first` and `end`, one drawn from each of `count`
    /// equal parts. It takes all steps if there are fewer.
    fn mean_load(&self, first: u32, end: u32, count: usize) -> SampleMean {
        let steps = (end - first) as usize;
        let random = Mix::new(self.seed, "estimate");
        let mut load = IdVec::filled(self.fabric.links().len(), 0.0);
        let count = count.min(steps);
        let values: Vec<f64> = (0..count)
            .map(|part| {
                let (from, to) = (part * steps / count, (part + 1) * steps / count);
                let step = from as u64 + random.two_below(u64::from(first), part as u64, (to - from) as u64);
                self.load_of_step(first + step as u32, &mut load)
            })
            .collect();
        let n = count.max(1) as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
        (mean, squares / (n - 1.0).max(1.0) / n)
    }

    /// Returns L of one step.
    fn load_of_step(&self, step: u32, load: &mut IdVec<LinkId, f64>) -> f64 {
        let ranks = self.placement.len() as u32;
        let mut routes: Vec<LinkId> = Vec::new();
        let mut route = Vec::new();
        let mut ends = Vec::with_capacity(ranks as usize);
        for src in (0..ranks).map(RankId) {
            let message = self.pattern.message(src, step);
            let (from, to) = (self.placement[src], self.placement[message.dst]);
            let begin = routes.len();
            if from != to {
                // Routers expect an empty route.
                route.clear();
                self.router.route(from, to, &mut route);
                for &link in &route {
                    load[link] += self.fabric.link(link).capacity.time_for(message.bytes as f64).ps();
                }
                routes.append(&mut route);
            }
            ends.push((begin, routes.len()));
        }
        let of_route = |&(begin, end): &(usize, usize)| routes[begin..end].iter().map(|&l| load[l]).fold(0.0, f64::max);
        let sum: f64 = ends.iter().map(of_route).sum();
        routes.iter().for_each(|&link| load[link] = 0.0);
        sum / f64::from(ranks.max(1))
    }
}

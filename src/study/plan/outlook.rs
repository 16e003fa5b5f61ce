//! Outlook on a plan: facts that are known before anything runs.

use rayon::prelude::*;

use super::points::settings;
use super::run::golden_stride;
use super::{Plan, values};
use crate::diagnostic::Invalid;

/// Largest number of configurations that are built to find mistakes; of a larger plan, a sample spread over
/// the plan.
const MAX_BUILT: u64 = 10_000;
/// Largest number of combinations to which filters are applied.
const MOST_FILTERED: u64 = 1_000_000;

/// Outlook on the points of a plan.
#[derive(Debug)]
pub struct Outlook {
    /// Number of points, with filters applied unless that would take minutes.
    pub points: u64,
    /// True if the number is exact; false if there may be fewer, for example because a rule may need fewer
    /// seeds.
    pub is_exact: bool,
    /// Keys that vary, each with the number of its values.
    pub keys: Vec<(String, u64)>,
    /// Fabrics, each once, in the order of the plan.
    pub fabrics: Vec<String>,
    /// Number of configurations that were built, but not run.
    pub built: u64,
    /// Number of all configurations.
    pub configurations: u64,
    /// Mistakes of configurations, each kind once.
    pub wrong: Vec<Wrong>,
}

/// Mistake of configurations.
#[derive(Debug)]
pub struct Wrong {
    /// Mistakes of the first configuration.
    pub mistakes: Invalid,
    /// Keys and values of the first configuration.
    pub first: Vec<(String, String)>,
    /// Number of built configurations whose first mistake is of this kind.
    pub configurations: u64,
}

/// Result of building a configuration.
enum BuildResult {
    LeftOut,
    Fabric(String),
    Wrong(Invalid),
}

impl Plan {
    /// Examines the points of the plan without running any.
    pub fn outlook(&self) -> Outlook {
        let all = self.configurations();
        let looked = all.min(MAX_BUILT);
        let stride = if looked < all { golden_stride(all) } else { 1 };
        let mut numbers: Vec<u64> =
            (0..looked).map(|i| (u128::from(i) * u128::from(stride) % u128::from(all.max(1))) as u64).collect();
        numbers.sort_unstable();
        let built: Vec<BuildResult> = numbers.par_iter().map(|&number| self.built(number)).collect();
        let (mut fabrics, mut wrong): (Vec<String>, Vec<Wrong>) = (Vec::new(), Vec::new());
        let mut tried = 0;
        for (&number, became) in numbers.iter().zip(built) {
            match became {
                BuildResult::LeftOut => continue,
                BuildResult::Fabric(fabric) if fabric.is_empty() || fabrics.contains(&fabric) => {}
                BuildResult::Fabric(fabric) => fabrics.push(fabric),
                BuildResult::Wrong(mistakes) => {
                    let kind = |of: &Invalid| of.diagnostics.first().map(|first| first.code);
                    match wrong.iter_mut().find(|known| kind(&known.mistakes) == kind(&mistakes)) {
                        Some(known) => known.configurations += 1,
                        None => wrong.push(Wrong { mistakes, first: self.named(number), configurations: 1 }),
                    }
                }
            }
            tried += 1;
        }
        let is_counted = self.points.is_filtered() && self.most_points() <= MOST_FILTERED;
        let points = if is_counted { self.taken() } else { self.most_points() };
        Outlook {
            points,
            is_exact: self.is_exact() || is_counted && self.settings.within.is_none(),
            keys: self.points.varied().map(|(key, values)| (key.name.clone(), values.len())).collect(),
            fabrics,
            built: tried,
            configurations: all,
            wrong,
        }
    }

    fn built(&self, number: u64) -> BuildResult {
        let values = self.points.values(number);
        if !self.is_taken(&values) {
            return BuildResult::LeftOut;
        }
        match self.base.variant(settings(&values)).load() {
            Ok(scenario) => {
                BuildResult::Fabric(scenario.network().map(|network| network.fabric.to_string()).unwrap_or_default())
            }
            Err(mistakes) => BuildResult::Wrong(mistakes),
        }
    }

    /// Returns true if filters leave a combination in with at least one seed.
    pub(super) fn is_taken(&self, values: &[super::Value<'_>]) -> bool {
        (0..self.points.seeds()).any(|seed| self.points.takes_with(values, seed))
    }

    /// Counts the points that filters leave in.
    fn taken(&self) -> u64 {
        let of = |number: u64| {
            let values = self.points.values(number);
            let takes = |seed: &u64| self.points.takes_with(&values, *seed);
            (0..self.points.seeds()).filter(takes).count() as u64
        };
        (0..self.configurations()).into_par_iter().map(of).sum()
    }

    /// Returns the keys and values of a configuration, as the plan writes them.
    fn named(&self, number: u64) -> Vec<(String, String)> {
        let written = |value| match values::json(value) {
            serde_json::Value::String(text) => text,
            other => other.to_string(),
        };
        self.points.values(number).iter().map(|(key, value)| (key.name.clone(), written(value))).collect()
    }
}

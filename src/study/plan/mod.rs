//! Plans: sweeps over many points, in which each point is run once and its row survives the process.
//!
//! A [`Plan`] is a scenario of any work and the keys that vary: `[grid]`, every combination of the values of
//! keys, and `[[zip]]`, keys that vary together. Its points are counted and numbered, and never listed. A
//! point has an *id*: a hash of its scenario with all defaults, the contents of the files that it names, and
//! the version of results ([`RESULTS`]). [`run`] appends a row for each point to a file of a folder, the
//! *store*. A point whose id is already in the store is not run again. [`merge`] reads the rows in the order
//! of the plan.

mod columns;
mod means;
mod merge;
mod outlook;
mod points;
mod read;
mod row;
mod rule;
mod run;
mod store;
mod table;
mod values;

use std::path::Path;

use rayon::prelude::*;

use crate::diagnostic::{Diagnostic, Invalid};
use crate::reading::tree::Tree;
use crate::scenario::{Base, Identity, Loader, OF_PLANS, Variant, settings_as_toml};
use crate::study::mistakes::Mistakes;
use crate::units::grouped;

pub use means::{Crossing, MeanRow, Means, Sensitivity, VariedKey, means, refine};
pub use merge::{Counts, Merged, count, merge};
pub use outlook::{Outlook, Wrong};
pub use run::{Progress, RunControl, RunSummary, run};
pub use store::{Faults, Shard, StoreError};
pub use table::Columns;

/// Version of results: part of the id of each point, so that points of another version are simulated again. A
/// change that moves a simulated time raises it by one, here and in CHANGELOG.md.
pub const RESULTS: u32 = 41;

/// Largest number of points of a plan.
const MOST_POINTS: u64 = 10_000_000;
/// Number of configurations that are built in parallel where their order matters.
const BATCH: u64 = 4096;

/// Sweep: a scenario, the keys that vary, and the figures that are kept of each point.
pub struct Plan {
    name: String,
    digest: String,
    base: Base,
    points: points::Points,
    settings: read::Settings,
}

/// Key with one of its values.
type Value<'a> = (&'a points::Key, Tree);

/// Configuration: a combination of the values of all keys except the seed.
struct Configuration<'a> {
    /// Number of the configuration, from 0.
    number: u64,
    values: Vec<(&'a points::Key, Tree)>,
    /// Identity of the scenario; a scenario with mistakes has an identity too.
    identity: Identity,
}

impl Plan {
    /// Reads a plan, from a file or from one that is attached to the loader. The plan is laid over the texts
    /// of `loader`.
    ///
    /// # Errors
    /// Every mistake in the keys that vary, and in the scenario with each listed value of each key. Values
    /// that contradict each other are a mistake of their point alone, which its row reports.
    pub fn read(path: &Path, loader: Loader) -> Result<Self, Invalid> {
        let attached = path.to_str().and_then(|name| loader.attached(name)).map(<[u8]>::to_vec);
        let base = Base::new(loader.file(path), &OF_PLANS);
        let (points, mut settings) = match read::read(base.apart()) {
            Ok(read) if base.mistakes().is_empty() => read,
            Ok(_) => return Err(invalid(&base, base.mistakes().to_vec())),
            // Parts cannot be missing from a file that does not exist.
            Err(_) if base.apart().is_empty() && !base.mistakes().is_empty() => {
                return Err(invalid(&base, base.mistakes().to_vec()));
            }
            Err(mistakes) => {
                let of_file = mistakes.into_iter().map(|mistake| mistake.of_file(&path.to_string_lossy()));
                return Err(invalid(&base, base.mistakes().iter().cloned().chain(of_file).collect()));
            }
        };
        if base.sets("estimate") || points.keys().any(|key| key.name == "estimate") {
            let missing = columns::ESTIMATE.into_iter().filter(|name| !settings.keep.iter().any(|key| key == name));
            let missing: Vec<String> = missing.map(str::to_owned).collect();
            settings.keep.extend(missing);
        }
        let text = attached.or_else(|| std::fs::read(path).ok()).unwrap_or_default();
        let digest = blake3::hash(&text).to_hex()[..16].to_owned();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let plan = Self { name, digest, base, points, settings };
        plan.check_size()?;
        plan.check_values()?;
        plan.check_filters()?;
        Ok(plan)
    }

    fn check_size(&self) -> Result<(), Invalid> {
        if self.points.len().is_some_and(|points| points <= MOST_POINTS) {
            return Ok(());
        }
        let lengths = self.points.groups.iter().map(points::Group::len).chain([self.points.seeds()]);
        let factors: Vec<String> = lengths.filter(|len| *len > 1).map(grouped).collect();
        let all = self.points.len().map_or_else(|| "more than can be counted".to_owned(), grouped);
        let factors = if factors.len() > 1 { format!(" ({})", factors.join(" x ")) } else { String::new() };
        let message = format!("this plan has {all} points{factors}, more than {}", grouped(MOST_POINTS));
        let diagnostic = Diagnostic::new("too-many-points", message);
        let diagnostic = match self.points.keys().next() {
            Some(key) => diagnostic.at(key.at),
            None => diagnostic,
        };
        Err(invalid(&self.base, vec![diagnostic.help("leave out values, or make several plans of it")]))
    }

    /// Refuses filters that leave no point.
    fn check_filters(&self) -> Result<(), Invalid> {
        let is_taken = |number| self.is_taken(&self.points.values(number));
        if (0..self.configurations()).into_par_iter().any(is_taken) {
            return Ok(());
        }
        let message = format!("the filters leave none of the {} points", grouped(self.most_points()));
        let diagnostic = Diagnostic::new("empty-grid", message);
        let at = ["only", "skip"].into_iter().find_map(|name| self.base.apart().get(name)).map(|entry| entry.key);
        let diagnostic = at.map_or(diagnostic.clone(), |at| diagnostic.at(at));
        Err(invalid(&self.base, vec![diagnostic.help("let [[skip]] match fewer points, or [[only]] more of them")]))
    }

    /// Checks that every value has the form of its key, with all other keys at their first value.
    fn check_values(&self) -> Result<(), Invalid> {
        let mut mistakes = Mistakes::default();
        let mut later = self.points.configurations().unwrap_or(1);
        let mut look = |configuration: u64| {
            let variant = self.variant(&self.points.values(configuration));
            let (found, sources) = variant.mistakes();
            mistakes.add("", found, sources);
        };
        look(0);
        for group in &self.points.groups {
            later /= group.len();
            let mut numbers: Vec<u64> = group.values.iter().flat_map(values::Values::checked_numbers).collect();
            numbers.sort_unstable();
            numbers.dedup();
            numbers.into_iter().filter(|number| *number > 0).for_each(|number| look(number * later));
        }
        mistakes.none()
    }

    /// Returns the name of the plan's file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns true if rows have a column of this name that may be a number: a key, or a figure of `keep`.
    pub fn has_figure(&self, name: &str) -> bool {
        self.keys().contains(&name) || self.settings.keep.iter().any(|kept| kept == name)
    }

    /// Returns the keys that vary, as written and in the order of the plan.
    pub fn keys(&self) -> Vec<&str> {
        self.points.keys().map(|key| key.name.as_str()).collect()
    }

    /// Returns the largest number of points: filters leave some out, and a rule may need fewer seeds.
    pub fn most_points(&self) -> u64 {
        self.points.len().unwrap_or(u64::MAX)
    }

    /// Returns true if the number of points equals [`Plan::most_points`].
    pub fn is_exact(&self) -> bool {
        !self.points.is_filtered() && self.settings.within.is_none()
    }

    /// Returns the text of the plan.
    pub fn text(&self) -> &str {
        let key = self.points.keys().next().or_else(|| Some(self.points.seed(0)?.0));
        key.and_then(|key| self.base.sources().find(key.at)).map_or("", |(_, text, _)| text)
    }

    /// Returns the scenario of a configuration with its first seed and all defaults, as a scenario file for the folder
    /// of the plan. Returns `None` if it cannot be built.
    pub fn scenario(&self, configuration: u64) -> Option<String> {
        let mut values = self.points.values(configuration);
        let seed = (0..self.points.seeds()).find(|seed| self.points.takes_with(&values, *seed))?;
        values.extend(self.points.seed(seed));
        let scenario = self.variant(&values).load().ok()?;
        scenario.to_json().as_object().map(settings_as_toml)
    }

    fn configurations(&self) -> u64 {
        self.points.configurations().unwrap_or(0)
    }

    fn variant(&self, values: &[(&points::Key, Tree)]) -> Variant {
        self.base.variant(points::settings(values))
    }

    /// Returns the identity of a variant. A variant with mistakes has an identity that holds until the plan
    /// is changed.
    fn identity(&self, values: &[(&points::Key, Tree)], variant: &Variant) -> Identity {
        variant.identity(&self.base, RESULTS).unwrap_or_else(|| {
            let mut text = self.digest.clone();
            for (key, value) in values {
                text += &format!("\n{}={}", key.name, values::normal(value));
            }
            Identity::of_text(&text, RESULTS)
        })
    }

    /// Visits all points in the order of the plan: the configurations by number, and for each the seeds in
    /// turn, until `on_point` returns false because no more seeds are needed.
    fn each<E>(&self, mut on_point: impl FnMut(&Configuration<'_>, PlanPoint<'_>) -> Result<bool, E>) -> Result<(), E> {
        let all = self.configurations();
        let mut from = 0;
        while from < all {
            let to = all.min(from + BATCH);
            let part: Vec<Configuration<'_>> = (from..to)
                .into_par_iter()
                .map(|number| {
                    let values = self.points.values(number);
                    let identity = self.identity(&values, &self.variant(&values));
                    Configuration { number, values, identity }
                })
                .collect();
            for configuration in &part {
                let mut is_first = true;
                for seed in 0..self.points.seeds() {
                    let Some(visit) = self.visit(configuration, seed, is_first) else { continue };
                    is_first = false;
                    if !on_point(configuration, visit)? {
                        break;
                    }
                }
            }
            from = to;
        }
        Ok(())
    }

    /// Returns the point of a configuration with this seed, or `None` if filters leave it out.
    fn visit<'a>(&'a self, configuration: &Configuration<'a>, seed: u64, is_first: bool) -> Option<PlanPoint<'a>> {
        if !self.points.takes_with(&configuration.values, seed) {
            return None;
        }
        let seed_number = self.points.seed_number(seed).unwrap_or(configuration.identity.seed);
        let id = configuration.identity.with_seed(seed_number);
        Some(PlanPoint { seed: self.points.seed(seed), seed_index: seed, seed_number, id, is_first })
    }
}

/// Point that is visited.
struct PlanPoint<'a> {
    /// Key and value of its seed, if the seed varies.
    seed: Option<(&'a points::Key, Tree)>,
    /// Position of the seed among all seeds.
    seed_index: u64,
    seed_number: u64,
    id: u128,
    /// True for the first point of its configuration.
    is_first: bool,
}

fn invalid(base: &Base, diagnostics: Vec<Diagnostic>) -> Invalid {
    Invalid { diagnostics, sources: base.sources().clone() }
}

#[cfg(test)]
mod tests;

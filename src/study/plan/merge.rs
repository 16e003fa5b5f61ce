//! The rows of all shards, in the order of the plan.

use std::io::Write;
use std::path::Path;

use rustc_hash::FxHashSet;

use super::rule::Mean;
use super::store::{Faults, Store, StoreError};
use super::table::{Columns, Kept, Table};
use super::{Plan, Visit};
use crate::diagnostic::Diagnostic;

/// How many points there are, and how many are done.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Counts {
    /// Points that the plan asks for; with a rule for seeds, as far as is known.
    pub points: u64,
    /// Of these, points that are the same as another: of one scenario, however it is written.
    pub repeated: u64,
    /// Points with a row.
    pub done: u64,
    /// Of these, points without a makespan.
    pub failed: u64,
    /// Points without a row.
    pub missing: u64,
    /// Configurations whose seeds are not enough yet, where a rule says how many are; their missing points are counted
    /// as one each.
    pub unfinished: u64,
    /// How long a point takes, on average over those that are done \[s\].
    pub wall_s: Option<f64>,
}

impl Counts {
    /// How long the missing points take on so many threads \[s\].
    pub fn left_s(&self, threads: usize) -> Option<f64> {
        self.wall_s.map(|wall| wall * self.missing as f64 / threads.max(1) as f64)
    }
}

/// What a merge found.
#[derive(Clone, Debug, Default)]
pub struct Merged {
    /// How much of the plan is there.
    pub counts: Counts,
    /// What is wrong with lines of the store.
    pub faults: Faults,
}

/// Counts what is done of a plan; without a folder nothing is.
///
/// # Errors
/// A store that cannot be used.
pub fn count(plan: &Plan, folder: Option<&Path>) -> Result<Merged, StoreError> {
    let store = folder.filter(|folder| folder.exists()).map(|folder| Store::read(folder, plan)).transpose()?;
    let mut counts = Counts::default();
    over(plan, store.as_ref(), &mut counts, |_, _, _| Ok(()))?;
    Ok(Merged { counts, faults: store.map(|store| store.faults).unwrap_or_default() })
}

/// Writes the rows of all points that are done, in the order of the plan: the same bytes whoever ran them, and however
/// often that was interrupted.
///
/// # Errors
/// A store that cannot be used, points whose rows differ, and failures of the writer.
pub fn merge(plan: &Plan, folder: &Path, columns: Columns, writer: &mut dyn Write) -> Result<Merged, StoreError> {
    if !folder.is_dir() {
        let diagnostic = Diagnostic::new("missing-file", format!("there is no folder `{}`", folder.display()));
        return Err(diagnostic.help("run the plan first: hayase sweep PLAN -o DIR").into());
    }
    let store = Store::read(folder, plan)?;
    if let Some(first) = store.faults.differing.first() {
        let message = format!("a point has two rows that differ: the second one is `{}`", folder.join(first).display());
        let help = "move one of the shards away: they were not written by the same version of the program";
        return Err(Diagnostic::new("differing-rows", message).help(help).into());
    }
    let mut rows = store.reader()?;
    let mut kept = Kept::of(plan);
    if columns == Columns::Parquet && !kept.is_known() {
        over(plan, Some(&store), &mut Counts::default(), |_, _, found| {
            kept.see(plan, rows.text(found)?).map_err(StoreError::Unwritten)
        })?;
    }
    let mut table = Table::begin(plan, columns, &kept, writer).map_err(StoreError::Unwritten)?;
    let mut counts = Counts::default();
    over(plan, Some(&store), &mut counts, |configuration, visit, found| {
        table.row(configuration, visit, rows.text(found)?).map_err(StoreError::Unwritten)
    })?;
    table.end().map_err(StoreError::Unwritten)?;
    Ok(Merged { counts, faults: store.faults })
}

/// Goes over the points of a plan that count, in order, with their rows.
pub(super) fn over(
    plan: &Plan,
    store: Option<&Store>,
    counts: &mut Counts,
    mut with: impl FnMut(&super::Configuration<'_>, &Visit<'_>, super::store::Found) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let (mut mean, mut finished) = (Mean::default(), true);
    let (mut wall_s, mut seen) = (0.0, FxHashSet::default());
    let rule = plan.settings.within;
    // Seeds differ: so configurations are the same, with all their seeds, or none of their points are.
    let by_configuration = plan.points.seeds.is_some() && !plan.points.is_filtered();
    let mut is_new = true;
    plan.each(|configuration, visit| -> Result<bool, StoreError> {
        if visit.is_first {
            counts.unfinished += u64::from(!finished);
            (mean, finished) = (Mean::default(), rule.is_none());
        }
        counts.points += 1;
        if visit.is_first || !by_configuration {
            is_new = seen.insert(if by_configuration { configuration.identity.with_seed(0) } else { visit.id });
        }
        counts.repeated += u64::from(!is_new);
        let Some(found) = store.and_then(|store| store.get(visit.id)) else {
            counts.missing += 1;
            // Seeds come one after another: behind a missing one nothing is known.
            return Ok(rule.is_none());
        };
        counts.done += 1;
        wall_s += f64::from(found.wall_s);
        with(configuration, &visit, found)?;
        match found.makespan_s {
            Some(makespan) => mean.add(makespan),
            None => counts.failed += 1,
        }
        let Some(part) = rule else { return Ok(true) };
        let is_last = visit.seed_index + 1 == plan.points.seeds();
        finished = is_last || found.is_hopeless || mean.is_within(part, plan.settings.least);
        Ok(!finished)
    })?;
    counts.unfinished += u64::from(!finished);
    counts.wall_s = (counts.done > 0).then(|| wall_s / counts.done as f64);
    Ok(())
}

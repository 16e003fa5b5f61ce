//! Rows of all shards, in the order of the plan.

use std::io::Write;
use std::path::Path;

use rustc_hash::FxHashSet;

use super::rule::Mean;
use super::store::{Faults, Store, StoreError};
use super::table::{Columns, KeptColumns, Table};
use super::{Plan, PlanPoint};
use crate::diagnostic::Diagnostic;

/// Numbers of points of a plan, in all and done.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Counts {
    /// Points that the plan asks for; with a rule for seeds, as far as is known.
    pub points: u64,
    /// Points that are the same as another one: the same scenario, however it is written.
    pub repeated: u64,
    /// Points with a row.
    pub done: u64,
    /// Points that are done and have no makespan.
    pub failed: u64,
    /// Points without a row.
    pub missing: u64,
    /// Configurations that still need seeds, if a rule decides how many seeds are enough. The missing points
    /// of each count as one.
    pub unfinished: u64,
    /// Mean run time of the points that are done \[s\].
    pub wall_s: Option<f64>,
}

impl Counts {
    /// Estimates the time of the missing points on this number of threads \[s\].
    pub fn left_s(&self, threads: usize) -> Option<f64> {
        self.wall_s.map(|wall| wall * self.missing as f64 / threads.max(1) as f64)
    }
}

/// Result of a merge.
#[derive(Clone, Debug, Default)]
pub struct Merged {
    /// Numbers of points, in all and done.
    pub counts: Counts,
    /// Faulty lines of the store.
    pub faults: Faults,
}

/// Counts the points of a plan that are done; without a folder, none is.
///
/// # Errors
/// A store that cannot be used.
pub fn count(plan: &Plan, folder: Option<&Path>) -> Result<Merged, StoreError> {
    let store = folder.filter(|folder| folder.exists()).map(|folder| Store::read(folder, plan)).transpose()?;
    let mut counts = Counts::default();
    visit_rows(plan, store.as_ref(), &mut counts, |_, _, _| Ok(()))?;
    Ok(Merged { counts, faults: store.map(|store| store.faults).unwrap_or_default() })
}

/// Writes the rows of all points that are done, in the order of the plan. The bytes do not depend on which
/// process ran the points, or on how often it was interrupted.
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
    let mut kept = KeptColumns::of(plan);
    if columns == Columns::Parquet && !kept.is_known() {
        visit_rows(plan, Some(&store), &mut Counts::default(), |_, _, found| {
            kept.update(plan, rows.text(found)?).map_err(StoreError::Unwritten)
        })?;
    }
    let mut table = Table::begin(plan, columns, &kept, writer).map_err(StoreError::Unwritten)?;
    let mut counts = Counts::default();
    visit_rows(plan, Some(&store), &mut counts, |configuration, visit, found| {
        table.row(configuration, visit, rows.text(found)?).map_err(StoreError::Unwritten)
    })?;
    table.end().map_err(StoreError::Unwritten)?;
    Ok(Merged { counts, faults: store.faults })
}

/// Visits the points of a plan that have rows, in order, and counts all points.
pub(super) fn visit_rows(
    plan: &Plan,
    store: Option<&Store>,
    counts: &mut Counts,
    mut with: impl FnMut(&super::Configuration<'_>, &PlanPoint<'_>, super::store::StoredRow) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let (mut mean, mut finished) = (Mean::default(), true);
    let (mut wall_s, mut seen) = (0.0, FxHashSet::default());
    let rule = plan.settings.within;
    // Seeds are distinct, so two configurations have either all of their points in common or none.
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
            // Seeds are run in order: the seeds after a missing one are unknown.
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
        finished = is_last || found.is_invalid || mean.is_within(part, plan.settings.least);
        Ok(!finished)
    })?;
    counts.unfinished += u64::from(!finished);
    counts.wall_s = (counts.done > 0).then(|| wall_s / counts.done as f64);
    Ok(())
}

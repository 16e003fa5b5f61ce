//! The thresholds between protocols: the lengths with which everything fits best.

use super::fit::{Fit, HUBER, fit, spread};
use super::model::{self, Setting};
use super::samples::Sample;
use super::{Options, SyncBounds};

/// Number of evenly spread lengths that are tried first; then those around the best are tried.
const FIRST_LENGTHS: usize = 64;
/// Least gain of a worthwhile threshold: a place and a slope, at about one in a thousand (chi-squared).
const LEAST_GAIN: f64 = 14.0;
/// Residual below which a fit counts as exact.
const EXACT: f64 = 1e-9;
/// Rounds of reweighting: during the search, and in the final fit.
const ROUNDS: (usize, usize) = (2, 30);

/// Returns the thresholds, given or fitted, and the fit with them.
///
/// Among the settings that fit nearly as well as the best one, the one with the fewest protocols is chosen: a
/// threshold must be worthwhile.
pub(super) fn find(samples: &[Sample], lengths: &[u64], told: SyncBounds, options: &Options) -> (Setting, Fit) {
    let step = lengths.len().div_ceil(FIRST_LENGTHS);
    // With the last length as a threshold, no message is beyond it.
    let spread = |lengths: &[u64]| -> Vec<u64> {
        let last = (!lengths.len().saturating_sub(1).is_multiple_of(step)).then(|| lengths.last().copied()).flatten();
        lengths.iter().copied().step_by(step).chain(last).collect()
    };
    let allowed = told.allowed(lengths);
    let best = search(samples, &candidates(&spread(lengths), &spread(&allowed), options));
    let near = |lengths: &[u64], bytes: u64| -> Vec<u64> {
        let at = lengths.partition_point(|&length| length < bytes);
        lengths[at.saturating_sub(step)..(at + step + 1).min(lengths.len())].to_vec()
    };
    let setting = if step == 1 {
        best
    } else {
        search(samples, &candidates(&near(lengths, best.short), &near(&allowed, best.sync), options))
    };
    (setting, fit(&setting, samples, ROUNDS.1))
}

fn candidates(shorts: &[u64], syncs: &[u64], options: &Options) -> Vec<Setting> {
    let given = |given: Option<crate::units::Bytes>, found: &[u64]| given.map_or_else(|| found.to_vec(), |b| vec![b.0]);
    let mut settings = Vec::new();
    for &sync in &given(options.sync, syncs) {
        let mut shorts = given(options.short, shorts);
        if options.short.is_none() {
            shorts.push(sync);
        }
        shorts.retain(|&short| short <= sync);
        shorts.sort_unstable();
        shorts.dedup();
        settings.extend(shorts.into_iter().map(|short| Setting { short, sync }));
    }
    settings
}

fn search(samples: &[Sample], settings: &[Setting]) -> Setting {
    let last = samples.iter().map(|sample| sample.bytes).max().unwrap_or(0);
    let protocols =
        |setting: &Setting| 1 + u32::from(setting.short < last.min(setting.sync)) + u32::from(setting.sync < last);
    let fits: Vec<(Setting, Fit)> =
        settings.iter().map(|&setting| (setting, fit(&setting, samples, ROUNDS.0))).collect();
    // All settings are compared on one scale. On its own scale, a setting that fits most measurements exactly would
    // see the rest as outliers, and these would cost it nothing.
    let absolute = |(setting, fit): &(Setting, Fit)| residuals(setting, fit, samples).map(f64::abs).sum::<f64>();
    let closest = fits.iter().map(|one| (one, absolute(one))).min_by(|a, b| a.1.total_cmp(&b.1));
    let scale =
        closest.map_or(0.0, |((setting, fit), _)| spread(&residuals(setting, fit, samples).collect::<Vec<f64>>()));
    let scale = scale.max(EXACT);
    let cost = |(setting, fit): &(Setting, Fit)| {
        let cost = residuals(setting, fit, samples).map(|residual| huber(residual / scale)).sum::<f64>();
        (*setting, cost)
    };
    let costs: Vec<(Setting, f64)> = fits.iter().map(cost).collect();
    let best = costs.iter().map(|(_, cost)| *cost).fold(f64::INFINITY, f64::min);
    let good = costs.iter().filter(|(_, cost)| *cost <= best + LEAST_GAIN);
    let fewest = good.map(|(setting, _)| protocols(setting)).min().unwrap_or(1);
    let simple = costs.iter().filter(|(setting, _)| protocols(setting) == fewest);
    simple.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(Setting { short: last, sync: last }, |(setting, _)| *setting)
}

/// Returns the difference of fitted and measured time for each measurement, relative to the measured time.
fn residuals<'a>(setting: &'a Setting, fit: &'a Fit, samples: &'a [Sample]) -> impl Iterator<Item = f64> + 'a {
    samples.iter().map(|sample| model::time(setting, sample, &fit.values) / sample.time.ps() - 1.0)
}

/// Returns Huber's loss of a residual in standard deviations: its square, but only linear growth for
/// outliers.
///
/// Source: Huber, Robust Estimation of a Location Parameter, Annals of Mathematical Statistics 35 (1964).
fn huber(residual: f64) -> f64 {
    let size = residual.abs();
    if size <= HUBER { size * size } else { HUBER * (2.0 * size - HUBER) }
}

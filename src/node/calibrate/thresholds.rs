//! Where one protocol ends and the next begins: the lengths with which everything fits best.

use super::Options;
use super::fit::{Fit, fit};
use super::model::Setting;
use super::samples::Sample;

/// So many lengths are looked at first, evenly spread; then those around the best.
const FIRST: usize = 64;
/// Rounds of reweighting while looking, and in the end.
const ROUNDS: (usize, usize) = (2, 30);

/// The thresholds, as given or found, and the fit with them.
///
/// Of the settings that fit nearly as well as the best one, that with the fewest protocols is taken: a threshold must pay
/// for itself.
pub(super) fn find(samples: &[Sample], lengths: &[u64], options: &Options) -> (Setting, Fit) {
    let last = lengths[lengths.len() - 1];
    let step = lengths.len().div_ceil(FIRST);
    // The last length as a threshold: there is nothing beyond.
    let spread: Vec<u64> = lengths
        .iter()
        .copied()
        .step_by(step)
        .chain((!(lengths.len() - 1).is_multiple_of(step)).then_some(last))
        .collect();
    let best = search(samples, &candidates(&spread, &spread, options));
    let near = |bytes: u64| -> Vec<u64> {
        let at = lengths.partition_point(|&length| length < bytes);
        lengths[at.saturating_sub(step)..(at + step + 1).min(lengths.len())].to_vec()
    };
    let setting =
        if step == 1 { best } else { search(samples, &candidates(&near(best.short), &near(best.sync), options)) };
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
    let costs: Vec<(Setting, f64)> =
        settings.iter().map(|&setting| (setting, fit(&setting, samples, ROUNDS.0).cost)).collect();
    let best = costs.iter().map(|(_, cost)| *cost).fold(f64::INFINITY, f64::min);
    // An F test at about one in a thousand: a threshold adds a place and a slope.
    let allowed = best * (1.0 + 14.0 / samples.len() as f64) + 1e-20;
    let good = costs.iter().filter(|(_, cost)| *cost <= allowed);
    let fewest = good.map(|(setting, _)| protocols(setting)).min().unwrap_or(1);
    let simple = costs.iter().filter(|(setting, _)| protocols(setting) == fewest);
    simple.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(Setting { short: last, sync: last }, |(setting, _)| *setting)
}

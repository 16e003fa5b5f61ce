//! Parameters of LogGPS from measured round trips.
//!
//! Two ranks send a message of k bytes there and back. Between its send and its receive the first rank works
//! for a time w. Whether w is 0 or long, the time of the round trip grows linearly with k in up to three
//! pieces: short, eager, rendezvous. The slopes and intercepts of these lines are sums of the parameters:
//!
//! | | w = 0 | w long |
//! |---|---|---|
//! | k = 0 | 4 o + 2 L | 2 o + w |
//! | slope up to s | 2 (Oss + Ors + Gs) | Oss + Ors |
//! | slope from s to S | 2 (Oss + Ors + Gl) | Oss + Ors |
//! | slope above S | 2 (Osl + Orl + Gl) | 2 Osl + Orl + Gl |
//!
//! Oss and Ors occur only as a sum. To separate them, the time of a blocking send, `o + k Oss`, is measured
//! too.
//!
//! The gap g between two messages shows only if messages follow each other as fast as possible: in the time
//! between two messages of a long train (`interval`), if that is longer than a message takes at either end
//! and on the network.
//!
//! S can be measured without a clock: a send either finishes before its receive is posted or it does not
//! (`eager`, `rendezvous`). If S is not measured, or not to the byte, it is chosen so that the lines fit
//! best.
//!
//! All measurements are fitted at once instead of line by line, so that every measurement counts for every
//! parameter in it. Parameters that the measurements do not determine are reported as such instead of
//! guessed.
//!
//! Source: Ino, Fujimoto, Hagihara: LogGPS, sections 4.1 and 4.2, table 6 and figure 5.

mod fit;
mod gap;
mod model;
mod samples;
mod steps;
mod thresholds;

#[cfg(test)]
mod tests;

use serde::Serialize;

use crate::diagnostic::Diagnostic;
use crate::units::{Bytes, Time};

#[doc(hidden)]
pub use samples::COLUMNS;
pub use samples::Measured;
pub use samples::{Sample, read};
pub use steps::{StepOptions, StepPoint, StepTable, steps};

use fit::Fit;
use model::{COUNT, Setting};

/// Bounds of S from sends without a posted receive.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct SyncBounds {
    /// Longest message whose send finished \[B\].
    eager: Option<u64>,
    /// Shortest message whose send did not finish \[B\].
    rendezvous: Option<u64>,
}

impl SyncBounds {
    fn of(told: &[Sample]) -> Result<Self, Diagnostic> {
        let of = |call| told.iter().filter(move |sample| sample.call == call).map(|sample| sample.bytes);
        let (eager, rendezvous) = (of(Measured::Eager).max(), of(Measured::Rendezvous).min());
        if let (Some(eager), Some(rendezvous)) = (eager, rendezvous)
            && eager >= rendezvous
        {
            let message = format!("{eager} B are eager, but {rendezvous} B wait for their receiver");
            return Err(Diagnostic::new("wrong-value", message).help("a message waits where any shorter one does"));
        }
        Ok(Self { eager, rendezvous })
    }

    /// Returns the possible values of S: those of `lengths` within the bounds, and the longest eager length.
    fn allowed(self, lengths: &[u64]) -> Vec<u64> {
        let possible = |length: u64| {
            self.eager.is_none_or(|eager| length >= eager) && self.rendezvous.is_none_or(|waits| length < waits)
        };
        let mut allowed: Vec<u64> =
            lengths.iter().copied().chain(self.eager).filter(|&length| possible(length)).collect();
        // Every measured message waits, so S is below all of them.
        if allowed.is_empty() {
            allowed.extend(self.rendezvous.map(|waits| waits.saturating_sub(1)));
        }
        allowed.sort_unstable();
        allowed.dedup();
        allowed
    }
}

/// Options of the fit.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Options {
    /// s, if it is known; otherwise it is fitted.
    pub short: Option<Bytes>,
    /// S, if it is known; otherwise it is fitted.
    pub sync: Option<Bytes>,
    /// Percentile of the repetitions of a measurement that counts, from 0 (the fastest) to 100.
    pub percentile: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self { short: None, sync: None, percentile: 50.0 }
    }
}

/// An estimate of a parameter or of a sum of parameters.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Estimate {
    /// Name of the parameter or sum: `Oss`, `Oss + Ors`.
    pub name: String,
    /// Unit: `ns` or `ns/B`.
    pub unit: &'static str,
    /// Most likely value; `None` if the measurements do not determine it.
    pub value: Option<f64>,
    /// Half the width of the 95 % interval of the value, if the model holds.
    pub error: Option<f64>,
}

/// A threshold between protocols.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Threshold {
    /// Longest message below the threshold \[B\].
    pub bytes: u64,
    /// Shortest measured message above the threshold \[B\]; the threshold may be anywhere below it. `None` if
    /// the threshold was given.
    pub below: Option<u64>,
}

/// A measurement with its fitted time.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Point {
    /// Kind of measurement.
    pub call: Measured,
    /// Length of the message \[B\].
    pub bytes: u64,
    /// Work between send and receive \[s\].
    pub work_s: f64,
    /// Measured time \[s\].
    pub time_s: f64,
    /// Time according to the fitted parameters \[s\].
    pub fitted_s: f64,
}

impl Point {
    /// Returns the difference of measured and fitted time, relative to the fitted time.
    pub fn residual(&self) -> f64 {
        self.time_s / self.fitted_s - 1.0
    }
}

/// Result of a calibration.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Calibration {
    /// The eight parameters.
    pub parameters: Vec<Estimate>,
    /// g; without a value if messages never follow each other closely enough to show it.
    pub g: Estimate,
    /// Upper bound of g \[ns\], if trains of messages were measured but do not show g.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub g_at_most: Option<f64>,
    /// Sums that are known although not all of their parameters are.
    pub sums: Vec<Estimate>,
    /// s; `None` if every measured message is short.
    pub s: Option<Threshold>,
    /// S; `None` if no measured message waits for its receiver.
    #[serde(rename = "S")]
    pub sync: Option<Threshold>,
    /// Number of measurements read.
    pub samples: usize,
    /// The fitted measurements: one of each length, work and call.
    pub points: Vec<Point>,
    /// Median of the absolute relative residuals.
    pub median_residual: f64,
    /// Largest absolute relative residual.
    pub largest_residual: f64,
}

/// Names and units of the parameters, in the order of [`model`].
const NAMES: [(&str, &str); COUNT] = [
    ("L", "ns"),
    ("o", "ns"),
    ("Oss", "ns/B"),
    ("Ors", "ns/B"),
    ("Gs", "ns/B"),
    ("Osl", "ns/B"),
    ("Orl", "ns/B"),
    ("Gl", "ns/B"),
];

/// Sums that round trips can determine even if they do not determine each parameter in the sum.
const SUMS: [&[usize]; 6] = [&[2, 3], &[6, 7], &[5, 6], &[2, 3, 4], &[2, 3, 7], &[5, 6, 7]];

/// Finds the parameters that explain the measurements best.
///
/// Cost: a fit is O(n) for n different measurements. If both thresholds are fitted there are O(k^2) fits for
/// k different lengths; at most 64 lengths are tried first.
///
/// # Errors
/// Too few measurements for any estimate, or thresholds that contradict each other.
pub fn calibrate(samples: &[Sample], options: &Options) -> Result<Calibration, Diagnostic> {
    if let (Some(short), Some(sync)) = (options.short, options.sync)
        && short > sync
    {
        let message = format!("s ({short}) is larger than S ({sync})");
        return Err(Diagnostic::new("wrong-value", message).help("s may be as large as S; then no message is eager"));
    }
    let (told, timed): (Vec<Sample>, Vec<Sample>) =
        samples.iter().copied().partition(|sample| sample.call.has_no_time());
    let told = SyncBounds::of(&told)?;
    let (trains, others): (Vec<Sample>, Vec<Sample>) =
        timed.into_iter().partition(|sample| sample.call == Measured::Interval);
    let points = samples::reduce(&others, options.percentile);
    let mut lengths: Vec<u64> = points.iter().map(|sample| sample.bytes).collect();
    lengths.sort_unstable();
    lengths.dedup();
    if points.iter().filter(|sample| sample.call == Measured::RoundTrip).count() < 4 || lengths.len() < 2 {
        let message = format!("{} different measurements of {} lengths are too few", points.len(), lengths.len());
        return Err(Diagnostic::new("too-few-measurements", message).help(
            "measure round trips of many lengths from 0 B to some times S, each without work and with work that is longer \
             than the message takes",
        ));
    }
    let (setting, fit) = thresholds::find(&points, &lengths, told, options);
    lengths.extend([told.eager, told.rendezvous].into_iter().flatten());
    lengths.sort_unstable();
    let mut found = report(samples.len(), &points, &lengths, options, setting, &fit);
    (found.g, found.g_at_most) = gap::find(&trains, &setting, &fit, options.percentile, found.median_residual);
    Ok(found)
}

fn report(
    samples: usize,
    measured: &[Sample],
    lengths: &[u64],
    options: &Options,
    setting: Setting,
    fit: &Fit,
) -> Calibration {
    // Parameters are computed in picoseconds.
    let estimate = |name: String, unit, which: &[usize]| {
        let known = fit.sum(which);
        let in_ns = |value: f64| value / 1e3;
        Estimate {
            name,
            unit,
            value: known.map(|(value, _)| in_ns(value)),
            error: known.map(|(_, error)| in_ns(error)),
        }
    };
    let parameters: Vec<Estimate> =
        NAMES.iter().enumerate().map(|(i, (name, unit))| estimate((*name).to_owned(), unit, &[i])).collect();
    let sums = SUMS
        .iter()
        .filter(|which| which.iter().any(|&i| parameters[i].value.is_none()))
        .map(|which| {
            let names: Vec<&str> = which.iter().map(|&i| NAMES[i].0).collect();
            estimate(names.join(" + "), "ns/B", which)
        })
        .filter(|sum| sum.value.is_some())
        .collect();
    let points: Vec<Point> = measured
        .iter()
        .map(|sample| Point {
            call: sample.call,
            bytes: sample.bytes,
            work_s: sample.work.seconds(),
            time_s: sample.time.seconds(),
            fitted_s: Time::from_ps(model::time(&setting, sample, &fit.values)).seconds(),
        })
        .collect();
    let mut sizes: Vec<f64> = points.iter().map(|point| point.residual().abs()).collect();
    sizes.sort_by(f64::total_cmp);
    let threshold = |bytes: u64, given: Option<Bytes>| {
        let below = lengths.iter().copied().find(|&length| length > bytes)?;
        Some(Threshold { bytes, below: given.is_none().then_some(below) })
    };
    Calibration {
        parameters,
        g: Estimate { name: "g".to_owned(), unit: "ns", value: None, error: None },
        g_at_most: None,
        sums,
        s: threshold(setting.short, options.short),
        sync: threshold(setting.sync, options.sync),
        samples,
        points,
        median_residual: sizes[sizes.len() / 2],
        largest_residual: sizes[sizes.len() - 1],
    }
}

impl Calibration {
    /// Returns the parameters that the measurements do not determine.
    pub fn missing(&self) -> Vec<&str> {
        let unknown = self.parameters.iter().filter(|parameter| parameter.value.is_none());
        unknown.map(|parameter| parameter.name.as_str()).chain(self.sync.is_none().then_some("S")).collect()
    }

    /// Returns the measurements to add so that all parameters can be determined; empty if they are already.
    pub fn advice(&self) -> Vec<String> {
        let unknown = |name: &str| self.missing().contains(&name);
        let mut advice = Vec::new();
        if unknown("Oss") && unknown("Ors") {
            advice.push(
                "Oss and Ors are not identifiable from round trips, only their sum: measure the time of a blocking send \
                 too, best of one of S bytes (a line with `send` in the column `call`)"
                    .to_owned(),
            );
        }
        if unknown("L") || unknown("o") {
            advice.push(
                "L and o are not identifiable: measure round trips of short messages without work and with work that is \
                 longer than the round trip"
                    .to_owned(),
            );
        }
        if unknown("S") {
            advice.push("no measured message waits for its receiver: measure longer ones".to_owned());
        } else if ["Osl", "Orl", "Gl"].iter().any(|name| unknown(name)) {
            advice.push(
                "Osl, Orl and Gl are not all identifiable: measure messages of several lengths above S, and between s and \
                 S, without work and with long work"
                    .to_owned(),
            );
        }
        if unknown("Gs") {
            advice.push("Gs is not identifiable: measure messages of several lengths up to s without work".to_owned());
        }
        advice
    }

    /// Returns a machine file with the parameters; `None` if one is missing.
    pub fn machine(&self, origin: &str) -> Option<String> {
        if !self.missing().is_empty() {
            return None;
        }
        let mut text = format!(
            "# Calibrated from {origin}: {} measurements, residuals {:.2} % (median), {:.2} % (largest).\n\n[node.loggps]\n",
            self.samples,
            100.0 * self.median_residual,
            100.0 * self.largest_residual
        );
        for parameter in &self.parameters {
            let (value, error) = (parameter.value?, parameter.error?);
            // Writes one digit more than the error justifies.
            let digits = if parameter.unit == "ns" { 1 } else { 4 };
            text += &format!(
                "{} = \"{value:.digits$} {}\"  # +- {error:.digits$} {}\n",
                parameter.name, parameter.unit, parameter.unit
            );
        }
        if let Estimate { value: Some(g), error: Some(error), .. } = self.g {
            text += &format!("g = \"{g:.1} ns\"  # +- {error:.1} ns\n");
        }
        let sync = self.sync?.bytes;
        let short = self.s.map_or(sync, |short| short.bytes.min(sync));
        text += &format!("s = \"{short} B\"\nS = \"{sync} B\"\n");
        Some(text)
    }
}

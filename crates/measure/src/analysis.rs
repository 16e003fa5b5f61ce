//! Analysis: from repetitions to communication data. A low percentile of each measurement, lines, parameters,
//! and their uncertainty.
//!
//! **Intervals** come from resampling (the bootstrap). The repetitions of each measurement and the
//! measurements themselves are drawn again with replacement some hundred times, and all results are computed
//! from each draw. The interval holds 95 % of the results. So it includes noise, and also doubt about the
//! model: parameters that depend on the choice of sizes are uncertain.
//!
//! **Noise only adds.** So the repetition at a low percentile counts. A longer message is never faster than a
//! shorter one under the same protocol. So a measurement with only disturbed repetitions is limited by those
//! of longer messages.
//!
//! **Not identifiable** is a parameter whose interval reaches down to 0 or is wider than its value. Fitted
//! parameters are not negative, so one that the measurements contradict is 0 again and again. Sums of such
//! parameters (the time of an empty message, the slope of a line) are reported all the same.
//!
//! Source: Efron, Tibshirani: An Introduction to the Bootstrap, chapters 9 and 13 (resampling cases;
//! percentile intervals).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use super::launcher::Measured;
use super::protocol::MeasurementKind;
use hayase::base::Arrange;
use hayase::diagnostic::Diagnostic;
use hayase::node::calibrate::{self, Calibration, Options, Sample};
use hayase::prediction::communication::{Communication, FORMAT, Limits, Line, Origin, Parameter, Row};
use hayase::rng::Stream;
use hayase::units::{Bytes, Time};

/// Number of resamplings.
const RESAMPLINGS: usize = 300;
/// Ratio of the median to the low percentile above which other processes had the processor.
const DISTURBED: f64 = 2.0;
/// A sum of parameters: its name, each parameter with its factor, the unit.
type Sum = (&'static str, &'static [(&'static str, f64)], &'static str);
/// Sums reported beside the parameters.
const SUMS: [Sum; 6] = [
    ("2 o + L", &[("o", 2.0), ("L", 1.0)], "ns"),
    ("Oss + Ors", &[("Oss", 1.0), ("Ors", 1.0)], "ns/B"),
    ("Oss + Ors + Gs", &[("Oss", 1.0), ("Ors", 1.0), ("Gs", 1.0)], "ns/B"),
    ("Oss + Ors + Gl", &[("Oss", 1.0), ("Ors", 1.0), ("Gl", 1.0)], "ns/B"),
    ("Orl + Gl", &[("Orl", 1.0), ("Gl", 1.0)], "ns/B"),
    ("Osl + Orl + Gl", &[("Osl", 1.0), ("Orl", 1.0), ("Gl", 1.0)], "ns/B"),
];

/// Results of the analysis.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Analysis {
    /// Data set.
    pub communication: Communication,
    /// Fit of its parameters, with every point and its residual.
    pub calibration: Calibration,
}

/// All repetitions of one measurement \[ns\].
struct Group {
    kind: MeasurementKind,
    bytes: u64,
    work_ns: f64,
    ns: Vec<f64>,
}

/// Computes the data set; `origin` has the data that only the caller knows, and the percentile that counts.
///
/// Cost: 300 fits of some hundred equations, a few hundredths of a second each at most.
///
/// # Errors
/// Too few measurements.
pub fn analyse(measured: &Measured, origin: Origin) -> Result<Analysis, Diagnostic> {
    let groups = group(measured);
    let percentile = origin.percentile;
    let largest = groups.iter().map(|group| group.bytes).max().unwrap_or(0);
    let sync = measured.eager.unwrap_or(largest);
    let of = |groups: &[Group]| PercentileTimes::of(groups, percentile, sync);
    let reduced = of(&groups);
    let times = rows(&groups, &reduced);
    let options = |short| Options { short, sync: None, percentile };
    let samples = |reduced: &PercentileTimes| -> Vec<Sample> {
        samples(reduced).into_iter().chain(sync_bounds(measured)).collect()
    };
    let calibration = calibrate::calibrate(&samples(&reduced), &options(None))?;
    let short = calibration.s.map(|short| Bytes(short.bytes)).filter(|short| short.0 < sync);
    let limits = Limits { s: short, sync: measured.eager.map(Bytes) };
    let mut lines = lines(&times, &limits);

    // The same for each draw.
    let mut parameters: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let mut drawn_lines: Vec<Vec<(f64, f64)>> = vec![Vec::new(); lines.len()];
    let mut stream = Stream::new(1, "bootstrap");
    let given = options(Some(short.unwrap_or(Bytes(sync))));
    for _ in 0..RESAMPLINGS {
        let groups = resample(&groups, &mut stream);
        let drawn = of(&groups);
        for (found, line) in drawn_lines.iter_mut().zip(&lines) {
            found.extend(straight(&rows(&groups, &drawn), line.from.0, line.to.0));
        }
        if let Ok(found) = calibrate::calibrate(&samples(&drawn), &given) {
            for (name, _) in names() {
                let value = value_of(&found, name);
                parameters.entry(name.to_owned()).or_default().extend(value);
            }
        }
    }
    for (line, drawn) in lines.iter_mut().zip(drawn_lines) {
        let (starts, slopes): (Vec<f64>, Vec<f64>) = drawn.into_iter().unzip();
        line.start_interval = interval(starts);
        line.slope_interval = interval(slopes);
    }
    let parameters = names()
        .filter(|(name, _)| short.is_some() || *name != "Oss + Ors + Gl")
        .map(|(name, unit)| {
            let drawn = parameters.remove(name).unwrap_or_default();
            parameter(name, unit, value_of(&calibration, name), drawn)
        })
        .collect();
    let origin = Origin {
        mpi: measured.mpi.clone(),
        hosts: measured.hosts.clone(),
        processor: measured.processor.clone(),
        ..origin
    };
    let communication = Communication { format: FORMAT.into(), origin, limits, times, lines, parameters };
    Ok(Analysis { communication, calibration })
}

/// Returns the bounds of S found without a clock, from sends without a receive: the longest that completed,
/// and a longer one that did not.
fn sync_bounds(measured: &Measured) -> impl Iterator<Item = Sample> {
    let largest = measured.times.iter().map(|times| times.bytes).max();
    let told = |call, bytes| Sample { call, bytes, work: Time::ZERO, time: Time::ZERO };
    let eager = measured.eager.or(largest).map(|bytes| told(calibrate::Measured::Eager, bytes));
    let waits = measured.eager.map(|sync| told(calibrate::Measured::Rendezvous, sync.saturating_add(1)));
    eager.into_iter().chain(waits)
}

/// Returns every repetition of the round trips and sends, and the bounds of S, in the form that
/// [`calibrate::read`] reads.
pub fn samples_csv(measured: &Measured) -> String {
    let mut text = String::from("bytes,work,time,call\n");
    for group in group(measured) {
        let call = match group.kind {
            MeasurementKind::RoundTrip => "round-trip",
            MeasurementKind::Send => "send",
            MeasurementKind::Late => continue,
        };
        for ns in group.ns {
            let _ = writeln!(text, "{},{} ns,{ns:.3} ns,{call}", group.bytes, group.work_ns);
        }
    }
    for sample in sync_bounds(measured) {
        let call = if sample.call == calibrate::Measured::Eager { "eager" } else { "rendezvous" };
        let _ = writeln!(text, "{},,,{call}", sample.bytes);
    }
    text
}

fn group(measured: &Measured) -> Vec<Group> {
    let mut groups: BTreeMap<(MeasurementKind, u64, u64), Group> = BTreeMap::new();
    for times in &measured.times {
        let key = (times.kind, times.bytes, times.work_ns.to_bits());
        let (kind, bytes, work_ns) = (times.kind, times.bytes, times.work_ns);
        let entry = groups.entry(key).or_insert_with(|| Group { kind, bytes, work_ns, ns: Vec::new() });
        entry.ns.extend(&times.ns);
    }
    groups.into_values().filter(|group| !group.ns.is_empty()).collect()
}

/// Draws the measurements and their repetitions again. A measurement that is drawn twice counts once: of n,
/// about 0.63 n are drawn.
fn resample(groups: &[Group], stream: &mut Stream) -> Vec<Group> {
    let mut drawn: Vec<usize> = (0..groups.len()).map(|_| stream.below(groups.len() as u64) as usize).collect();
    drawn.sort_unstable();
    drawn.dedup();
    let again = |group: &Group, stream: &mut Stream| {
        let ns = (0..group.ns.len()).map(|_| group.ns[stream.below(group.ns.len() as u64) as usize]).collect();
        Group { ns, ..*group }
    };
    drawn.into_iter().map(|i| again(&groups[i], stream)).collect()
}

/// Returns the value below which `percent` of the values are, interpolated between two of them.
fn at_percentile(sorted: &[f64], percent: f64) -> f64 {
    let at = sorted.len().saturating_sub(1) as f64 * percent.clamp(0.0, 100.0) / 100.0;
    let (below, above) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    below + (above - below) * (at - at.floor())
}

fn sorted(ns: &[f64]) -> Vec<f64> {
    let mut sorted = ns.to_vec();
    sorted.arrange_by(f64::total_cmp);
    sorted
}

/// Value of each group that counts, in the order of groups: kind, size, work \[ns\], time \[ns\].
struct PercentileTimes(Vec<(MeasurementKind, u64, f64, f64)>);

impl PercentileTimes {
    /// Takes the percentile of each group, limited by the times of longer messages measured in the same way
    /// under the same protocol. (With work, sizes are not measured in the same way: their work differs.)
    fn of(groups: &[Group], percentile: f64, sync: u64) -> Self {
        let one =
            |group: &Group| (group.kind, group.bytes, group.work_ns, at_percentile(&sorted(&group.ns), percentile));
        let mut reduced: Vec<_> = groups.iter().map(one).collect();
        // Groups are sorted by kind, then by size.
        let mut least: Option<(MeasurementKind, bool, f64)> = None;
        for (kind, bytes, _, time) in reduced.iter_mut().rev().filter(|entry| entry.2 == 0.0) {
            let waits = *bytes > sync;
            *time = match least {
                Some((of, side, least)) if (of, side) == (*kind, waits) => time.min(least),
                _ => *time,
            };
            least = Some((*kind, waits, *time));
        }
        Self(reduced)
    }

    fn find(&self, kind: MeasurementKind, bytes: u64) -> Option<f64> {
        // The order of groups: by kind, size, work.
        let order = |entry: &(MeasurementKind, u64, f64, f64)| {
            (entry.0, entry.1).cmp(&(kind, bytes)).then(entry.2.total_cmp(&0.0))
        };
        self.0.binary_search_by(order).ok().map(|at| self.0[at].3)
    }
}

fn rows(groups: &[Group], reduced: &PercentileTimes) -> Vec<Row> {
    let time = |ns: f64| Time::from_ps(ns * 1e3);
    let trips = groups
        .iter()
        .zip(&reduced.0)
        .filter(|(group, _)| group.kind == MeasurementKind::RoundTrip && group.work_ns == 0.0);
    trips
        .map(|(group, &(_, bytes, _, least))| {
            let sorted = sorted(&group.ns);
            Row {
                size: Bytes(bytes),
                receive: time(least / 2.0),
                median: time(at_percentile(&sorted, 50.0) / 2.0),
                high: time(at_percentile(&sorted, 95.0) / 2.0),
                send: reduced.find(MeasurementKind::Send, bytes).map(time),
                late: reduced.find(MeasurementKind::Late, bytes).map(time),
                repetitions: group.ns.len() as u64,
            }
        })
        .collect()
}

/// Returns the samples for the fit: one for each measurement.
fn samples(reduced: &PercentileTimes) -> Vec<Sample> {
    let time = |ns: f64| Time::from_ps(ns * 1e3);
    let call = |kind| match kind {
        MeasurementKind::RoundTrip => Some(calibrate::Measured::RoundTrip),
        MeasurementKind::Send => Some(calibrate::Measured::Send),
        MeasurementKind::Late => None,
    };
    let sample = |&(kind, bytes, work, ns): &(MeasurementKind, u64, f64, f64)| {
        Some(Sample { call: call(kind)?, bytes, work: time(work), time: time(ns) })
    };
    reduced.0.iter().filter_map(sample).collect()
}

/// Returns a line for each protocol that has three sizes.
fn lines(times: &[Row], limits: &Limits) -> Vec<Line> {
    let largest = times.last().map_or(0, |row| row.size.0);
    let mut ends: Vec<u64> = limits.s.iter().chain(&limits.sync).map(|limit| limit.0).collect();
    ends.push(largest);
    let mut lines = Vec::new();
    let mut from = times.first().map_or(0, |row| row.size.0);
    for to in ends {
        if let Some((start_ns, slope_ns)) = straight(times, from, to) {
            let interval = [f64::NAN; 2];
            let (from, to) = (Bytes(from), Bytes(to));
            lines.push(Line { from, to, start_ns, slope_ns, start_interval: interval, slope_interval: interval });
        }
        // A limit may be below all measured sizes.
        from = from.max(to + 1);
    }
    lines
}

/// Returns start and slope of the line through the times of these sizes, fitted by relative residuals \[ns,
/// ns/B\].
fn straight(times: &[Row], from: u64, to: u64) -> Option<(f64, f64)> {
    let rows: Vec<&Row> = times.iter().filter(|row| (from..=to).contains(&row.size.0)).collect();
    if rows.len() < 3 {
        return None;
    }
    let mut sums = [0.0; 5];
    for row in rows {
        let (k, t) = (row.size.0 as f64, row.receive.ps() / 1e3);
        let weight = 1.0 / (t * t);
        for (sum, term) in sums.iter_mut().zip([1.0, k, k * k, t, k * t]) {
            *sum += weight * term;
        }
    }
    let [one, k, kk, t, kt] = sums;
    let determinant = one * kk - k * k;
    (determinant > 0.0).then(|| ((t * kk - k * kt) / determinant, (one * kt - k * t) / determinant))
}

/// Returns parameters, then sums, with their units.
fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
    let parameters = [("L", "ns"), ("o", "ns"), ("Oss", "ns/B"), ("Ors", "ns/B"), ("Gs", "ns/B")];
    let long = [("Osl", "ns/B"), ("Orl", "ns/B"), ("Gl", "ns/B")];
    parameters.into_iter().chain(long).chain(SUMS.iter().map(|(name, _, unit)| (*name, *unit)))
}

/// Returns a parameter or sum of a fit; `None` if the equations do not determine it \[ns, ns/B\].
fn value_of(found: &Calibration, name: &str) -> Option<f64> {
    let estimate =
        |name: &str| found.parameters.iter().chain(&found.sums).find(|estimate| estimate.name == name)?.value;
    estimate(name).or_else(|| {
        let (_, terms, _) = SUMS.iter().find(|(sum, ..)| *sum == name)?;
        terms.iter().map(|(name, factor)| Some(factor * estimate(name)?)).sum()
    })
}

/// Returns the interval that holds 95 % of the values.
fn interval(values: Vec<f64>) -> [f64; 2] {
    let sorted = sorted(&values);
    if sorted.is_empty() { [f64::NAN; 2] } else { [at_percentile(&sorted, 2.5), at_percentile(&sorted, 97.5)] }
}

fn parameter(name: &str, unit: &str, value: Option<f64>, drawn: Vec<f64>) -> Parameter {
    let often = drawn.len() * 20 >= RESAMPLINGS * 19;
    let interval = (often && value.is_some()).then(|| interval(drawn));
    let sure = |value: f64, [low, high]: [f64; 2]| low > 0.0 && high - low <= value;
    let value = value.filter(|&value| interval.is_some_and(|interval| sure(value, interval)));
    Parameter { name: name.into(), unit: unit.into(), value, interval }
}

impl Analysis {
    /// Returns true if something disturbed the measurements: at half of the sizes the median exceeds the low
    /// percentile by a fixed factor.
    pub fn is_disturbed(&self) -> bool {
        let times = &self.communication.times;
        2 * times.iter().filter(|row| row.median.ps() > DISTURBED * row.receive.ps()).count() > times.len()
    }

    /// Returns the parameters that the measurements do not determine, without sums.
    pub fn unknown(&self) -> Vec<&str> {
        let parameters = self.communication.parameters.iter();
        parameters.filter(|p| p.value.is_none() && !p.name.contains('+')).map(|p| p.name.as_str()).collect()
    }

    /// Returns a machine file. Parameters that are not identifiable are marked, and chosen so that the sums
    /// are right.
    pub fn machine(&self, origin: &str) -> String {
        let data = &self.communication;
        let mut text = format!(
            "# Measured between two processes of {}: {origin}.\n# {}, {}.\n",
            data.origin.mpi, data.origin.processor, data.origin.measured
        );
        let unknown = self.unknown();
        if !unknown.is_empty() {
            let _ = write!(
                text,
                "# Not identifiable alone: {}. Their values here are one way of many to\n\
                 # add up to the measured times; do not vary them one by one.\n",
                unknown.join(", ")
            );
        }
        text += "\n[node.loggps]\n";
        for estimate in &self.calibration.parameters {
            let digits = if estimate.unit == "ns" { 1 } else { 5 };
            // A parameter that the equations do not determine gets the value of its sum, or 0.
            let value = estimate.value.unwrap_or_else(|| match estimate.name.as_str() {
                "Orl" => value_of(&self.calibration, "Orl + Gl").unwrap_or(0.0),
                _ => 0.0,
            });
            let mark = if unknown.contains(&estimate.name.as_str()) { "  # not identifiable" } else { "" };
            let _ = writeln!(text, "{} = \"{value:.digits$} {}\"{mark}", estimate.name, estimate.unit);
        }
        let largest = data.times.last().map_or(0, |row| row.size.0);
        let sync = data.limits.sync.map_or(largest, |sync| sync.0);
        let short = data.limits.s.map_or(sync, |short| short.0);
        let _ = write!(text, "s = \"{short} B\"\nS = \"{sync} B\"\n");
        text
    }
}

#[cfg(test)]
mod tests;

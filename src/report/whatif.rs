//! Predicted time of a program over parameters of the system, as plain data.

use serde::Serialize;

use super::{Head, Meta, Stopped};
use crate::program::caveats::Caveats;

/// Version of the JSON format of [`WhatIfReport`].
pub const SCHEMA: &str = "hayase-whatif-1";

/// Predicted times with one parameter changed at a time, and lower limits of the time.
#[report]
pub struct WhatIfReport {
    /// Head of the report of the unchanged run.
    #[serde(flatten)]
    pub head: Head,
    /// Program, by the name of its trace.
    pub program: String,
    /// Defects of the recordings that the program was made from.
    #[serde(flatten)]
    pub caveats: Caveats,
    /// Node model, for people: `loggps`.
    pub node: String,
    /// Network, for people.
    pub network: String,
    /// Region whose times are reported, if one was asked for.
    pub region: Option<String>,
    /// Number of tasks of a farm that are not done in the unchanged run because all workers were lost.
    #[serde(skip_serializing_if = "super::skip::is_zero")]
    pub undone: u32,
    /// Time of the recorded run, if the trace has it \[s\].
    pub measured_s: Option<f64>,
    /// Times that other networks could reach at best.
    pub limits: Limits,
    /// True if every parameter is halved and doubled, and parameters are listed by effect, largest first.
    /// False if the user named values.
    pub tornado: bool,
    /// Predicted times over each changed parameter.
    pub varied: Vec<Sensitivity>,
    /// True if all runs were made.
    pub complete: bool,
    /// Figures that may differ from machine to machine.
    pub meta: Meta,
}

/// Times that a better network approaches \[s\]; NaN (`null` in JSON) if unknown: for a pattern all, for a
/// farm all but the first.
#[report(Copy, Default)]
pub struct Limits {
    /// Time if messages cost nothing and arrive when they are sent: only computation and dependences are
    /// left.
    pub ideal_s: f64,
    /// Time if no rank waits: the largest sum of computing, sending and receiving of one rank in the
    /// unchanged run.
    pub zero_wait_s: f64,
    /// Largest computation of one rank.
    pub compute_s: f64,
}

impl Limits {
    /// Returns the known limits in the order in which they are shown: name, time and meaning of each.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, f64, &'static str)> {
        let all = [
            (
                "ideal network",
                self.ideal_s,
                "computation and dependences alone: no network is faster with the same matches",
            ),
            ("zero wait", self.zero_wait_s, "the busiest rank's computation and overheads, if nobody waited"),
            ("computation", self.compute_s, "the busiest rank's computation"),
        ];
        all.into_iter().filter(|(_, time_s, _)| time_s.is_finite())
    }
}

/// Predicted times over one parameter.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Sensitivity {
    /// Name of the parameter, as typed: `S`, `topology.torus.bandwidth`. `bands.o` of `[node.loggp]`
    /// changes all bands together.
    pub parameter: String,
    /// Unchanged value, if there is one.
    pub base: Option<String>,
    /// `ln(T2 / T1) / ln(p2 / p1)` between the smallest value p1 and the largest p2. It is 1 if the time is
    /// proportional to the parameter, 0 if it does not depend on it, and absent if it is not defined.
    pub elasticity: Option<f64>,
    /// Results, in the order in which values were named.
    pub points: Vec<WhatIfPoint>,
}

impl Sensitivity {
    /// Returns the largest time less the smallest, of the points that were played to the end \[s\].
    pub fn swing(&self) -> f64 {
        let times = || self.points.iter().filter_map(|point| point.time_s);
        let swing = times().fold(f64::NEG_INFINITY, f64::max) - times().fold(f64::INFINITY, f64::min);
        if swing.is_finite() { swing } else { 0.0 }
    }
}

/// Result for one value of one parameter.
#[report(Default)]
pub struct WhatIfPoint {
    /// Value of the parameter.
    pub value: String,
    /// Value as a number in base units \[s, B, s/B, B/s, 1\]; absent if it is a word.
    #[always]
    pub number: Option<f64>,
    /// Predicted time \[s\]; absent if there is none.
    #[always]
    pub time_s: Option<f64>,
    /// `time_s` over the unchanged time, less 1.
    #[always]
    pub change: Option<f64>,
    /// Time and progress at which the program deadlocked, if it did.
    pub stopped: Option<Stopped>,
    /// Reason why there is no time: the program deadlocks, or the value contradicts other values.
    pub failed: Option<String>,
    /// Other parameters that were changed together with this one, because the values would contradict
    /// otherwise. s of `[node.loggps]` follows S down, for example.
    pub note: Option<String>,
}

/// Returns `ln(T2 / T1) / ln(p2 / p1)` between the point with the smallest number and the one with the
/// largest.
#[expect(clippy::disallowed_methods, reason = "of a report, nothing is simulated from it")]
pub fn elasticity(points: &[WhatIfPoint]) -> Option<f64> {
    let known = || points.iter().filter_map(|point| Some((point.number?, point.time_s?)));
    let least = known().min_by(|a, b| a.0.total_cmp(&b.0))?;
    let most = known().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let defined = least.0 > 0.0 && most.0 > least.0 && least.1 > 0.0 && most.1 > 0.0;
    // Rounded, so that the last bit of a logarithm does not matter.
    let rounded = |value: f64| (value * 1e9).round() / 1e9;
    defined.then(|| rounded((most.1 / least.1).ln() / (most.0 / least.0).ln()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(number: f64, time_s: f64) -> WhatIfPoint {
        WhatIfPoint {
            value: String::new(),
            number: Some(number),
            time_s: Some(time_s),
            change: None,
            stopped: None,
            failed: None,
            note: None,
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the power law that is looked for")]
    fn elasticity_is_the_exponent_of_a_power_law() {
        for exponent in [-1.0, 0.0, 0.5, 2.0] {
            let points: Vec<_> = [4.0, 1.0, 2.0].iter().map(|&p: &f64| point(p, 3.0 * p.powf(exponent))).collect();
            assert!((elasticity(&points).unwrap() - exponent).abs() < 1e-12);
        }
        assert_eq!(elasticity(&[point(1.0, 1.0)]), None);
        assert_eq!(elasticity(&[point(0.0, 1.0), point(1.0, 2.0)]), None);
    }

    #[test]
    fn the_swing_leaves_out_what_has_no_time() {
        let mut points = vec![point(1.0, 5.0), point(2.0, 7.0), point(3.0, 99.0)];
        points[2].time_s = None;
        let sensitivity = Sensitivity { parameter: "L".into(), base: None, elasticity: None, points };
        assert_eq!(sensitivity.swing(), 2.0);
    }
}

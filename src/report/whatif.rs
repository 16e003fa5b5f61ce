//! How the predicted time of a program depends on what it is played on, as plain data.

use serde::Serialize;

use super::{Head, Meta, Stopped};
use crate::program::caveats::Caveats;

/// The version of the form of [`WhatIfReport`] in JSON.
pub const SCHEMA: &str = "hayase-whatif-1";

/// The predicted time with one parameter changed at a time, and what it cannot fall below.
#[report]
pub struct WhatIfReport {
    /// What every report begins with, of the run with nothing changed.
    #[serde(flatten)]
    pub head: Head,
    /// The program: the name of its trace.
    pub program: String,
    /// What is wrong with the recordings that it was made of.
    #[serde(flatten)]
    pub caveats: Caveats,
    /// The nodes, for people: `loggps`.
    pub node: String,
    /// The network, for people.
    pub network: String,
    /// The region whose times these are, if one was asked for.
    pub region: Option<String>,
    /// Tasks of a farm that are not done with nothing changed, since all workers were lost.
    #[serde(skip_serializing_if = "super::is_zero")]
    pub undone: u32,
    /// The time of the run that was recorded, where the trace has it \[s\].
    pub measured_s: Option<f64>,
    /// What other networks could bring at most.
    pub limits: Limits,
    /// Whether every parameter is halved and doubled, the one that matters most first; else values were named.
    pub tornado: bool,
    /// What was changed.
    pub varied: Vec<Sensitivity>,
    /// Whether all of it was run.
    pub complete: bool,
    /// What may differ from machine to machine.
    pub meta: Meta,
}

/// Times that a better network approaches \[s\]; no number where it is not known, of patterns and farms.
#[report(Copy, Default)]
pub struct Limits {
    /// Messages cost nothing and arrive when they are sent: computation and dependences are left.
    pub ideal_s: f64,
    /// Nobody waits: the most that one rank computes, sends and receives in the unchanged run.
    pub zero_wait_s: f64,
    /// The most that one rank computes.
    pub compute_s: f64,
}

impl Limits {
    /// Each that is known with its name, in the order in which they are shown, and what it says.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, f64, &'static str)> {
        let all = [
            ("ideal network", self.ideal_s, "computation and dependences alone: no network can be faster"),
            ("zero wait", self.zero_wait_s, "the busiest rank's computation and overheads, if nobody waited"),
            ("computation", self.compute_s, "the busiest rank's computation"),
        ];
        all.into_iter().filter(|(_, time_s, _)| time_s.is_finite())
    }
}

/// The predicted time over one parameter.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Sensitivity {
    /// Its name, as typed: `S`, `topology.torus.bandwidth`.
    pub parameter: String,
    /// Its unchanged value, where it has one.
    pub base: Option<String>,
    /// `ln(T2 / T1) / ln(p2 / p1)` between the smallest value p1 and the largest p2: 1 where the time is proportional
    /// to the parameter, 0 where it does not depend on it; nothing where that is not defined.
    pub elasticity: Option<f64>,
    /// What came out, in the order in which values were named.
    pub points: Vec<WhatIfPoint>,
}

impl Sensitivity {
    /// The largest time less the smallest, of the points that were played to the end \[s\].
    pub fn swing(&self) -> f64 {
        let times = || self.points.iter().filter_map(|point| point.time_s);
        let swing = times().fold(f64::NEG_INFINITY, f64::max) - times().fold(f64::INFINITY, f64::min);
        if swing.is_finite() { swing } else { 0.0 }
    }
}

/// One value of one parameter.
#[report(Default)]
pub struct WhatIfPoint {
    /// The value.
    pub value: String,
    /// The same as a number in base units \[s, B, s/B, B/s, 1\]; nothing where it is a word.
    #[always]
    pub number: Option<f64>,
    /// The predicted time \[s\]; nothing where there is none.
    #[always]
    pub time_s: Option<f64>,
    /// `time_s` over the unchanged time, less 1.
    #[always]
    pub change: Option<f64>,
    /// Where the program deadlocks: when and with what it came to a standstill.
    pub stopped: Option<Stopped>,
    /// Why there is no time: the program deadlocks, or the value does not go with the others.
    pub failed: Option<String>,
    /// What was changed with it, because it would not go with it otherwise.
    pub note: Option<String>,
}

/// `ln(T2 / T1) / ln(p2 / p1)` between the point with the smallest number and that with the largest.
#[expect(clippy::disallowed_methods, reason = "of a report, nothing is simulated from it")]
pub fn elasticity(points: &[WhatIfPoint]) -> Option<f64> {
    let known = || points.iter().filter_map(|point| Some((point.number?, point.time_s?)));
    let least = known().min_by(|a, b| a.0.total_cmp(&b.0))?;
    let most = known().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let defined = least.0 > 0.0 && most.0 > least.0 && least.1 > 0.0 && most.1 > 0.0;
    // Rounded, so that it is the same whatever the last bit of a logarithm is.
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

//! End costs by size from a ping-pong, or from a collective that is a chain of equal steps.

use std::fmt::Write;

use serde::Serialize;

use super::samples::{self, Measured, Sample};
use crate::diagnostic::Diagnostic;
use crate::units::{Bandwidth, Bytes, Time};

/// Origin of the times of steps.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct StepOptions {
    /// Number of steps in each time: P - 1 for a ring allgather of P ranks, 1 for half a round trip.
    pub steps: u32,
    /// Rate B of the wire.
    pub bandwidth: Bandwidth,
    /// Longest message whose sender does not wait for the receiver, if it is known.
    pub eager: Option<Bytes>,
    /// Percentile of the repetitions of a measurement that counts, from 0 (the fastest) to 100.
    pub percentile: f64,
}

/// A step with messages of one size.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct StepPoint {
    /// Size of the message \[B\].
    pub bytes: u64,
    /// Measured time of a step \[s\].
    pub time_s: f64,
    /// Its part beyond n/B \[s\]; more than measured if a shorter message has taken longer.
    pub step_s: f64,
}

/// End costs by size.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct StepTable {
    /// Origin of the times.
    pub options: StepOptions,
    /// Steps by ascending size.
    pub points: Vec<StepPoint>,
    /// Number of measurements read.
    pub samples: usize,
}

/// Finds the time of a step beyond n/B for each measured size n:
/// ```text
/// a(n) = max over sizes m up to n of t(m) / steps, less n/B; a longer message is never faster
/// ```
///
/// # Errors
/// Fewer than two sizes, a measurement of another kind, or a step that is faster than the wire.
pub fn steps(measured: &[Sample], options: StepOptions) -> Result<StepTable, Diagnostic> {
    if measured.iter().any(|sample| sample.call != Measured::RoundTrip || sample.work > Time::ZERO) {
        let message = "times of steps have neither `work` nor `call`";
        return Err(Diagnostic::new("wrong-value", message).help("leave out --ring and --ping-pong to fit LogGPS"));
    }
    let rows = samples::reduce(measured, options.percentile);
    if rows.len() < 2 {
        let message = format!("{} size is too few for a table", rows.len());
        return Err(Diagnostic::new("too-few-measurements", message).help("measure some sizes from 8 B to some MiB"));
    }
    let mut longest = 0.0f64;
    let mut points = Vec::new();
    for Sample { bytes, time, .. } in rows {
        let time_s = time.seconds() / f64::from(options.steps);
        longest = longest.max(time_s);
        let step_s = longest - bytes as f64 / options.bandwidth.bytes_per_second();
        if step_s < 0.0 {
            let (time, size) = (Time::from_seconds(time_s), Bytes(bytes));
            let message = format!("a step of {size} in {time} is faster than {}", options.bandwidth);
            return Err(Diagnostic::new("wrong-value", message)
                .help("--bandwidth is the rate of the wire, --ring the number of ranks; times are in seconds"));
        }
        points.push(StepPoint { bytes, time_s, step_s });
    }
    Ok(StepTable { options, points, samples: measured.len() })
}

impl StepTable {
    /// Returns the assumptions of the table, and the measurements that would replace them.
    pub fn advice(&self) -> Vec<String> {
        let mut advice = vec![
            "the latency, and the overheads of sender and receiver, are not identifiable: the table has their sum, of \
             which each end gets half; `gap`, from a linear all-to-all, is the sender's part"
                .to_owned(),
        ];
        if self.options.eager.is_none() {
            advice.push("no message waits for its receiver: give the longest eager message with --eager".to_owned());
        }
        if self.options.steps == 1 {
            advice.push(
                "a ping-pong has neither skew nor both directions at once: steps of a ring take longer, and its rows \
                 predict collectives better (--ring)"
                    .to_owned(),
            );
        }
        advice
    }

    /// Returns a machine file with the table and the links.
    pub fn machine(&self, origin: &str) -> String {
        let StepOptions { steps, bandwidth, eager, .. } = self.options;
        let rate = bandwidth.bytes_per_second();
        let mut text = format!(
            "# Calibrated from {origin}: {} measurements; time / {steps} - n G.\n\
             # Latency and overheads of both ends are one figure.\n\n\
             [node.tabulated]\nG = \"{} ns/B\"\nstep = [\n",
            self.samples,
            1e9 / rate
        );
        for point in &self.points {
            let _ = writeln!(text, "    {{ size = \"{} B\", time = \"{:.6} us\" }},", point.bytes, point.step_s * 1e6);
        }
        text += "]\n";
        if let Some(eager) = eager {
            let _ = writeln!(text, "eager = \"{} B\"", eager.0);
        }
        let _ = write!(text, "\n[link]\nbandwidth = \"{}\"\nlatency = \"0 s\"\n", bandwidth.exact());
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::NodeModel;

    fn sample(bytes: u64, us: f64) -> Sample {
        Sample { call: Measured::RoundTrip, bytes, work: Time::ZERO, time: Time::from_ps(us * 1e6) }
    }

    fn options(steps: u32) -> StepOptions {
        let bandwidth = Bandwidth::from_bytes_per_second(1e9);
        StepOptions { steps, bandwidth, eager: Some(Bytes(1000)), percentile: 50.0 }
    }

    #[test]
    fn a_chain_and_a_ping_pong_give_back_their_tables() {
        let table = [(8, 1.5), (1000, 4.0), (1 << 20, 20.0)];
        for steps_of in [1, 31] {
            let rows = table.map(|(n, us)| sample(n, f64::from(steps_of) * (us + n as f64 / 1e3)));
            let found = steps(&rows, options(steps_of)).unwrap();
            let machine: toml::Table = found.machine("x.csv").parse().unwrap();
            let node = toml::to_string(&machine["node"]["tabulated"]).unwrap();
            let spec: crate::node::TabulatedSpec = crate::reading::from_toml(&node).unwrap();
            assert!(spec.check().is_empty());
            for (row, (size, us)) in spec.step.iter().zip(table) {
                assert_eq!(row.size.0, size);
                assert!((row.time.ps() / 1e6 - us).abs() < 1e-3, "{size}: {}", row.time);
            }
            assert_eq!((spec.per_byte.ps(), spec.eager_limit()), (1000.0, Some(Bytes(1000))));
        }
    }

    #[test]
    fn a_longer_message_is_never_faster() {
        let found = steps(&[sample(10, 3.0), sample(20, 2.0), sample(30, 5.0)], options(1)).unwrap();
        let us: Vec<f64> = found.points.iter().map(|point| (point.step_s * 1e9).round() / 1e3).collect();
        assert_eq!(us, [2.99, 2.98, 4.97]);
    }

    #[test]
    fn a_table_needs_two_sizes_and_steps_that_the_wire_allows() {
        let wrong = |rows: &[Sample]| steps(rows, options(1)).unwrap_err().code;
        assert_eq!(wrong(&[sample(8, 1.0)]), "too-few-measurements");
        assert_eq!(wrong(&[sample(8, 1.0), sample(5000, 4.9)]), "wrong-value");
        let work = Sample { work: Time::from_ps(1.0), ..sample(8, 1.0) };
        assert_eq!(wrong(&[work, sample(9, 2.0)]), "wrong-value");
    }
}

//! The expected time of a measurement as a sum of parameters: one row of the system of equations.

use super::samples::{Measured, Sample};

/// Number of parameters: L, o, Oss, Ors, Gs, Osl, Orl, Gl in this order \[ps, ps/B\].
pub(super) const COUNT: usize = 8;

const L: usize = 0;
pub(super) const O: usize = 1;
pub(super) const OSS: usize = 2;
pub(super) const ORS: usize = 3;
const GS: usize = 4;
const OSL: usize = 5;
const ORL: usize = 6;
const GL: usize = 7;

/// Thresholds between protocols \[B\].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Setting {
    pub short: u64,
    pub sync: u64,
}

/// Factor of each parameter in a measured time, and the rest of the time \[ps\].
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub factors: [f64; COUNT],
    pub rest: f64,
}

/// A sum of parameters: the factor of each.
type Sum = [f64; COUNT];

fn add_scaled(a: Sum, b: Sum, times: f64) -> Sum {
    std::array::from_fn(|i| a[i] + times * b[i])
}

fn sum_of(terms: &[(usize, f64)]) -> Sum {
    let mut sum = [0.0; COUNT];
    for &(which, factor) in terms {
        sum[which] += factor;
    }
    sum
}

/// Returns T1 or T1', T2 or T2', T3 or T3' of a message: at the sender, on the network, at the receiver.
fn pieces(setting: &Setting, bytes: u64) -> (Sum, Sum, Sum) {
    let (k, first) = (bytes as f64, bytes.min(setting.short) as f64);
    let (send, receive) = if bytes > setting.sync { (OSL, ORL) } else { (OSS, ORS) };
    (
        sum_of(&[(O, 1.0), (send, k)]),
        sum_of(&[(L, 1.0), (GS, first), (GL, k - first)]),
        sum_of(&[(O, 1.0), (receive, k)]),
    )
}

/// Returns the time of a round trip that work can hide.
fn hidden(setting: &Setting, bytes: u64) -> Sum {
    let (send, network, receive) = pieces(setting, bytes);
    if bytes > setting.sync {
        // T2' + T3' + o + L
        add_scaled(add_scaled(network, receive, 1.0), sum_of(&[(O, 1.0), (L, 1.0)]), 1.0)
    } else {
        // T1 + 2 T2 + T3
        add_scaled(add_scaled(send, network, 2.0), receive, 1.0)
    }
}

/// Returns the equation of a measurement. `exposed` is true if a round trip waits for the message after its
/// work.
pub(super) fn row(setting: &Setting, sample: &Sample, exposed: bool) -> Row {
    let (send, network, receive) = pieces(setting, sample.bytes);
    // T4 with the receive posted, and T5, are both 2 o + L.
    let handshake = sum_of(&[(O, 2.0), (L, 1.0)]);
    let waits = sample.bytes > setting.sync;
    match sample.call {
        // These have no time, or the largest of some sums (see `gap`), all of which contain o.
        Measured::Interval | Measured::Eager | Measured::Rendezvous => Row { factors: sum_of(&[(O, 1.0)]), rest: 0.0 },
        Measured::Send if waits => Row { factors: add_scaled(send, handshake, 2.0), rest: 0.0 },
        Measured::Send => Row { factors: send, rest: 0.0 },
        Measured::RoundTrip => {
            let seen = if waits {
                // 2 T1' + T2' + T3' + 2 T4 + 2 T5 - (o + L)
                let there = add_scaled(add_scaled(add_scaled(network, receive, 1.0), send, 2.0), handshake, 4.0);
                add_scaled(there, sum_of(&[(O, 1.0), (L, 1.0)]), -1.0)
            } else {
                add_scaled(send, receive, 1.0)
            };
            if exposed {
                Row { factors: add_scaled(seen, hidden(setting, sample.bytes), 1.0), rest: 0.0 }
            } else {
                Row { factors: seen, rest: sample.work.ps() }
            }
        }
    }
}

/// Returns the interval between the messages of a train without g \[ps\]: the largest of the times at the
/// sender, on the network and at the receiver.
pub(super) fn interval_without_g(setting: &Setting, bytes: u64, values: &[f64; COUNT]) -> f64 {
    let (send, network, receive) = pieces(setting, bytes);
    let wire = value(&network, values) - values[L];
    value(&send, values).max(wire).max(value(&receive, values))
}

fn value(sum: &Sum, values: &[f64; COUNT]) -> f64 {
    sum.iter().zip(values).map(|(factor, value)| factor * value).sum()
}

/// Returns true if a round trip waits for the message after its work, with these parameters.
pub(super) fn is_exposed(setting: &Setting, sample: &Sample, values: &[f64; COUNT]) -> bool {
    value(&hidden(setting, sample.bytes), values) > sample.work.ps()
}

/// Returns the time of a measurement with these parameters \[ps\].
pub(super) fn time(setting: &Setting, sample: &Sample, values: &[f64; COUNT]) -> f64 {
    let row = row(setting, sample, is_exposed(setting, sample, values));
    value(&row.factors, values) + row.rest
}

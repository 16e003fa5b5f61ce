//! A table of receive times: what a message takes is what was measured for its size, and nothing waits for anything else.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::costs::{Costs, Kind};
use crate::diagnostic::{Diagnostic, Located};
use crate::units::{Bytes, Time};

/// `[node.receive-times]`.
///
/// A message of k bytes that is sent at t can be received from t + T(k) on; sends take no time, and neither do the calls. T is piecewise linear
/// between the rows, as the first below them, and beyond the last along the line from the row with half its size (or the nearest
/// above).
///
/// Source: Horii, Iwabuchi, Yamana: MPIETE, section 2.5 (equations 1 to 7, `T_comm`).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ReceiveTimesSpec {
    /// Rows, by ascending size.
    pub times: Located<Vec<ReceiveTime>>,
}

/// How long messages of a size take.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ReceiveTime {
    /// Size of the message.
    pub size: Bytes,
    /// From the call of the send to the end of the receive.
    pub receive: Time,
}

/// The same, ready to be looked into \[B, ps\].
#[derive(Clone, PartialEq, Debug)]
pub struct ReceiveTable {
    rows: Vec<(u64, f64)>,
    /// Growth beyond the last row \[ps/B\].
    beyond: f64,
}

impl ReceiveTimesSpec {
    pub(super) fn check(&self) -> Vec<Diagnostic> {
        let mut mistakes = Vec::new();
        if self.times.is_empty() {
            let help = "write one row at least: times = [{ size = \"0 B\", receive = \"30 us\" }]";
            mistakes.push(Diagnostic::new("wrong-value", "there are no times").at_value(&self.times).help(help));
        }
        for pair in self.times.windows(2).filter(|pair| pair[0].size >= pair[1].size) {
            let message = format!("sizes do not ascend: {} comes after {}", pair[1].size, pair[0].size);
            mistakes.push(Diagnostic::new("wrong-value", message).at_value(&self.times));
        }
        mistakes
    }

    pub(super) fn costs(&self) -> Costs {
        Costs::new(Kind::Table(self.table()))
    }

    /// The table.
    pub fn table(&self) -> ReceiveTable {
        let rows: Vec<(u64, f64)> = self.times.iter().map(|row| (row.size.0, row.receive.ps())).collect();
        let beyond = rows.last().and_then(|&(size, time)| {
            let from = rows.iter().find(|row| row.0 >= size / 2 && row.0 < size).or(rows.iter().rev().nth(1));
            // No message is faster for being longer.
            from.map(|&(before, at)| ((time - at) / (size - before) as f64).max(0.0))
        });
        ReceiveTable { rows, beyond: beyond.unwrap_or_default() }
    }
}

impl ReceiveTable {
    /// T(k).
    ///
    /// Cost: O(log n) for n rows.
    #[inline]
    pub fn time(&self, bytes: u64) -> Time {
        let at = self.rows.partition_point(|row| row.0 < bytes);
        Time::from_ps(match (at.checked_sub(1).map(|below| self.rows[below]), self.rows.get(at)) {
            (_, Some(&(size, time))) if size == bytes => time,
            (Some((a, at_a)), Some(&(b, at_b))) => at_a + (at_b - at_a) * (bytes - a) as f64 / (b - a) as f64,
            (None, Some(&(_, time))) => time,
            (Some((size, time)), None) => time + self.beyond * (bytes - size) as f64,
            (None, None) => 0.0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_interpolated_and_go_on_beyond_the_last_row() {
        let row = |size, us: f64| ReceiveTime { size: Bytes(size), receive: Time::from_ps(us * 1e6) };
        let spec =
            ReceiveTimesSpec { times: vec![row(10, 2.0), row(1000, 4.0), row(1900, 5.0), row(2000, 6.0)].into() };
        assert!(spec.check().is_empty());
        let table = spec.table();
        for (bytes, us) in [(0, 2.0), (10, 2.0), (505, 3.0), (1000, 4.0), (2000, 6.0), (3000, 8.0)] {
            assert_eq!(table.time(bytes).ps(), us * 1e6, "{bytes} B");
        }
        let wrong = ReceiveTimesSpec { times: vec![row(10, 2.0), row(10, 4.0)].into() };
        assert_eq!(wrong.check().len(), 1);
    }
}

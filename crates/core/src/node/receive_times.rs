//! A table of receive times: a message takes the time measured for its size, and messages do not delay each
//! other.

use super::costs::Costs;
use super::model::{NodeFacts, NodeModel, Playing};
use super::pairs::Pairs;
use super::receive_table::ReceiveTable;
use crate::diagnostic::{Diagnostic, Located};
use crate::units::{Bytes, Time};

/// `[node.receive-times]`.
///
/// A message of k bytes sent at t can be received from t + T(k) on. Sends and calls take no time. T is
/// piecewise linear between the rows, and constant below the first row. Beyond the last row it follows the
/// line from the row with half the last size (or the nearest above).
///
/// Source: Horii, Iwabuchi, Yamana: MPIETE, section 2.5 (equations 1 to 7, `T_comm`).
#[spec]
pub struct ReceiveTimesSpec {
    /// Rows, by ascending size.
    pub times: Located<Vec<ReceiveTime>>,
    /// Other rows for some pairs of ranks; the last entry that includes a pair counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub between: Vec<ReceiveTimesBetween>,
}

/// Times of messages between some ranks.
#[spec]
pub struct ReceiveTimesBetween {
    /// Pairs of ranks: `0-7:8-15`, `0-7>8-15`, `0-7`, `node:8`.
    pub pairs: Pairs,
    /// Rows, by ascending size.
    pub times: Located<Vec<ReceiveTime>>,
}

/// Time of messages of one size.
#[spec]
pub struct ReceiveTime {
    /// Size of the message.
    pub size: Bytes,
    /// Time from the call of the send to the end of the receive.
    pub receive: Time,
}

impl NodeModel for ReceiveTimesSpec {
    fn name(&self) -> &'static str {
        "receive-times"
    }

    fn check(&self) -> Vec<Diagnostic> {
        let mut mistakes = Vec::new();
        for times in std::iter::once(&self.times).chain(self.between.iter().map(|other| &other.times)) {
            if times.is_empty() {
                let help = "write one row at least: times = [{ size = \"0 B\", receive = \"30 us\" }]";
                mistakes.push(Diagnostic::new("wrong-value", "there are no times").at_value(times).help(help));
            }
            for pair in times.windows(2).filter(|pair| pair[0].size >= pair[1].size) {
                let message = format!("sizes do not ascend: {} comes after {}", pair[1].size, pair[0].size);
                mistakes.push(Diagnostic::new("wrong-value", message).at_value(times));
            }
        }
        mistakes
    }

    fn playing(&self) -> Playing {
        Playing::FromTable(self.table(), Costs::new(self.table()))
    }

    fn facts(&self) -> NodeFacts {
        let network = "measured receive times, no contention";
        NodeFacts { is_network: true, is_table: true, network, ..NodeFacts::default() }
    }
}

impl ReceiveTimesSpec {
    /// Returns the table.
    pub fn table(&self) -> ReceiveTable {
        let rows = |times: &[ReceiveTime]| times.iter().map(|row| (row.size.0, row.receive.ps())).collect();
        let between = self.between.iter().map(|other| (other.pairs.clone(), rows(&other.times)));
        ReceiveTable::new(rows(&self.times), between)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::RankId;

    #[test]
    fn times_are_interpolated_and_go_on_beyond_the_last_row() {
        let row = |size, us: f64| ReceiveTime { size: Bytes(size), receive: Time::from_ps(us * 1e6) };
        let spec = ReceiveTimesSpec {
            times: vec![row(10, 2.0), row(1000, 4.0), row(1900, 5.0), row(2000, 6.0)].into(),
            between: Vec::new(),
        };
        assert!(spec.check().is_empty());
        let table = spec.table();
        for (bytes, us) in [(0, 2.0), (10, 2.0), (505, 3.0), (1000, 4.0), (2000, 6.0), (3000, 8.0)] {
            assert_eq!(table.time(bytes).ps(), us * 1e6, "{bytes} B");
        }
        let wrong = ReceiveTimesSpec { times: vec![row(10, 2.0), row(10, 4.0)].into(), between: Vec::new() };
        assert_eq!(wrong.check().len(), 1);
    }

    #[test]
    fn beyond_the_last_row_a_message_goes_on_along_the_last_half_and_is_never_faster() {
        let time = |rows: &[(u64, f64)], bytes: u64| {
            let row = |&(size, us): &(u64, f64)| ReceiveTime { size: Bytes(size), receive: Time::from_ps(us * 1e6) };
            let spec = ReceiveTimesSpec { times: rows.iter().map(row).collect::<Vec<_>>().into(), between: Vec::new() };
            spec.table().time(bytes).ps() / 1e6
        };
        // The line starts at the row of 1000 B, half the last size, and not at the row before the last, which may be
        // off: 1 us per byte.
        assert_eq!(time(&[(1, 1e6), (1000, 1000.0), (1990, 1.0), (2000, 2000.0)], 2500), 2500.0);
        assert_eq!(time(&[(10, 100.0), (20, 50.0)], 1 << 40), 50.0, "never below the last");
        assert_eq!((time(&[(8, 70.0)], 1 << 20), time(&[(8, 70.0)], 0)), (70.0, 70.0));
        // Times may jump from one size to the next.
        let jump = [(0, 100.0), (1000, 300.0), (1001, 2000.0), (2002, 4000.0)];
        assert_eq!([0, 500, 1000, 1001].map(|bytes| time(&jump, bytes)), [100.0, 200.0, 300.0, 2000.0]);
    }

    #[test]
    fn pairs_may_have_times_of_their_own_and_the_last_that_names_one_holds() {
        let rows = |us: f64| vec![ReceiveTime { size: Bytes(0), receive: Time::from_ps(us * 1e6) }].into();
        let other = |pairs: &str, us| ReceiveTimesBetween { pairs: pairs.parse().unwrap(), times: rows(us) };
        let between = vec![other("0-3:4-7", 20.0), other("3>4", 30.0)];
        let table = ReceiveTimesSpec { times: rows(1.0), between }.table();
        for (src, dst, us) in [(0, 1, 1.0), (0, 4, 20.0), (4, 0, 20.0), (3, 4, 30.0), (4, 3, 20.0), (8, 4, 1.0)] {
            assert_eq!(table.between(RankId(src), RankId(dst), 8).ps(), us * 1e6, "{src} {dst}");
        }
    }
}

//! End costs by size, from measured steps.

use std::sync::Arc;

use super::costs::{Costs, CostsByLength, MessageCosts, Role};
use super::model::{NodeModel, Playing};
use crate::base::portable::ln;
use crate::diagnostic::{Diagnostic, Located};
use crate::ids::RankId;
use crate::units::{Bytes, PerByte, Time};

/// `[node.tabulated]`.
///
/// A message of n bytes takes these times, with a(n) from the table `step`, x = `shared-above` and n G the time
/// on the wire, which a fabric replaces:
/// ```text
/// S(n) = a(n) + n G                         a step of a chain: a call that sends to one rank and receives from another
/// X(n) = S(n) + max(0, n - x) G             a call that sends to one rank and receives from the same
/// O(n) = min(a(n), one-way) + n G           any other message, above `eager`; S(n) up to it
/// k messages of a port at once              O(n) + (k - 1) (n G + gap)
/// ```
/// a(n) is linear in n up to `eager` and linear in log n above. It is constant before the first row and beyond the
/// last. A message above `eager` leaves when its receive has been called.
///
/// A ping-pong cannot tell the sender's part of a(n) from the receiver's. Without `gap` each has half of it.
/// Otherwise the sender has `gap`, and also the time n G to copy an eager message. The receiver has the rest,
/// and what both directions share; of an eager message only `gap`, and the rest is over when it is there. On a
/// fabric a blocking send above `eager` ends with the receiver's part, so that k of them take k O(n).
#[spec]
pub struct TabulatedSpec {
    /// Gap per byte: the inverse of the rate for which the table has been made.
    #[serde(rename = "G")]
    pub per_byte: Located<PerByte>,
    /// Time of a step of a chain beyond n G, by ascending size.
    pub step: Located<Vec<StepRow>>,
    /// Longest message whose sender does not wait for the receive to be called (default: no sender waits).
    pub eager: Option<Located<Bytes>>,
    /// Most time beyond n G of a message above `eager` that is not part of an exchange (default: that of a step).
    pub one_way: Option<Located<Time>>,
    /// Time between two messages of a rank beyond n G, if several are under way (default 0 s).
    pub gap: Option<Located<Time>>,
    /// The same for messages above `eager` (default: `gap`).
    pub rendezvous_gap: Option<Located<Time>>,
    /// Size above which the two messages of an exchange with one partner share the way (default: no size).
    pub shared_above: Option<Located<Bytes>>,
}

/// Time of a step with messages of one size.
#[spec]
pub struct StepRow {
    /// Size of the message.
    pub size: Bytes,
    /// Time beyond n G.
    pub time: Time,
}

impl NodeModel for TabulatedSpec {
    fn name(&self) -> &'static str {
        "tabulated"
    }

    fn check(&self) -> Vec<Diagnostic> {
        let mut mistakes = Vec::new();
        if self.step.is_empty() {
            let help = "write one row at least: step = [{ size = \"8 B\", time = \"1.5 us\" }]";
            mistakes.push(Diagnostic::new("wrong-value", "there are no steps").at_value(&self.step).help(help));
        }
        for pair in self.step.windows(2) {
            let [before, row] = pair else { continue };
            if before.size >= row.size {
                let message = format!("sizes do not ascend: {} comes after {}", row.size, before.size);
                mistakes.push(Diagnostic::new("wrong-value", message).at_value(&self.step));
            } else if row.time.ps() + (row.size.0 - before.size.0) as f64 * self.per_byte.ps() < before.time.ps() - 2.0
            {
                // Times may have been rounded to picoseconds.
                let message = format!("a message of {} is faster than one of {}", row.size, before.size);
                let help = "give the longer message at least the time of the shorter one";
                mistakes.push(Diagnostic::new("wrong-value", message).at_value(&self.step).help(help));
            }
        }
        mistakes
    }

    fn playing(&self) -> Playing {
        let ps = |time: &Option<Located<Time>>| time.as_ref().map(|time| time.ps());
        let gap = ps(&self.gap);
        Playing::AtCosts(Costs::new(Table {
            rows: self.step.iter().map(|row| (row.size.0, row.time.ps())).collect(),
            per_byte: self.per_byte.ps(),
            wire: self.per_byte.ps(),
            eager: self.eager.as_ref().map_or(u64::MAX, |eager| eager.0),
            one_way: ps(&self.one_way).unwrap_or(f64::INFINITY),
            gaps: [gap, ps(&self.rendezvous_gap).or(gap)],
            shared_above: self.shared_above.as_ref().map_or(u64::MAX, |size| size.0),
        }))
    }

    fn eager_limit(&self) -> Option<Bytes> {
        self.eager.as_ref().map(|eager| **eager)
    }
}

/// Costs by size \[B, ps, ps/B\].
#[derive(Clone, Debug)]
struct Table {
    rows: Vec<(u64, f64)>,
    per_byte: f64,
    /// Gap per byte of the model's own network; 0 on a fabric.
    wire: f64,
    eager: u64,
    one_way: f64,
    /// Gaps of messages up to `eager` and above.
    gaps: [Option<f64>; 2],
    shared_above: u64,
}

impl Table {
    /// Returns a(n) \[ps\]. Cost: O(log r) for r rows.
    fn step(&self, bytes: u64) -> f64 {
        let at = self.rows.partition_point(|row| row.0 < bytes);
        match (at.checked_sub(1).map(|below| self.rows[below]), self.rows.get(at)) {
            (Some((_, time)), None) => time,
            (Some((from, low)), Some(&(to, high))) if bytes < to => {
                let part = match bytes > self.eager && from > 0 {
                    true => ln(bytes as f64 / from as f64) / ln(to as f64 / from as f64),
                    false => (bytes - from) as f64 / (to - from) as f64,
                };
                low + (high - low) * part
            }
            (_, Some(&(_, time))) => time,
            (None, None) => 0.0,
        }
    }
}

impl CostsByLength for Table {
    fn message(&self, bytes: u64) -> MessageCosts {
        self.between(RankId(0), RankId(0), bytes, bytes > self.eager, Role::OneWay)
    }

    fn between(&self, _: RankId, _: RankId, bytes: u64, rendezvous: bool, role: Role) -> MessageCosts {
        let (n, step) = (bytes as f64, self.step(bytes));
        let ends = if role == Role::OneWay && rendezvous { step.min(self.one_way) } else { step };
        let gap = self.gaps[usize::from(rendezvous)];
        let copy = if rendezvous { 0.0 } else { n * self.per_byte };
        let send = gap.map_or(ends / 2.0, |gap| (gap + copy).min(ends));
        let rest = ends - send;
        // An eager message that has arrived takes its receiver only the gap.
        let recv = gap.filter(|_| !rendezvous).map_or(rest, |gap| gap.min(rest));
        let shared = if role == Role::Swap { bytes.saturating_sub(self.shared_above) } else { 0 };
        MessageCosts {
            send: Time::from_ps(send),
            gap: Time::from_ps(n * self.wire + rest - recv),
            recv: Time::from_ps(recv + shared as f64 * self.per_byte),
            port: Time::from_ps(gap.unwrap_or_default() + n * self.wire),
            acknowledgement: Time::from_ps(rest),
            rendezvous,
            ..MessageCosts::default()
        }
    }

    fn on_fabric(&self) -> Arc<dyn CostsByLength> {
        Arc::new(Self { wire: 0.0, ..self.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(keys: &str) -> TabulatedSpec {
        crate::reading::from_toml(&format!("G = \"1 ns/B\"\n{keys}")).unwrap()
    }

    #[test]
    fn steps_are_linear_up_to_the_eager_limit_and_logarithmic_above() {
        let rows = "[{ size = \"100 B\", time = \"1 us\" }, { size = \"1000 B\", time = \"4 us\" }, \
                    { size = \"16000 B\", time = \"8 us\" }]";
        let spec = spec(&format!("eager = \"1000 B\"\nstep = {rows}"));
        assert!(spec.check().is_empty());
        let costs = spec.costs().unwrap();
        let ends = |bytes| {
            let MessageCosts { send, recv, .. } = costs.message(bytes);
            ((send + recv).ps() / 1e3).round() / 1e3
        };
        assert_eq!([0, 100, 400, 1000, 4000, 16_000, 1 << 40].map(ends), [1.0, 1.0, 2.0, 4.0, 6.0, 8.0, 8.0]);
    }

    #[test]
    fn the_sender_has_the_gap_and_the_copy_and_the_receiver_the_rest() {
        let step = "step = [{ size = \"0 B\", time = \"8 us\" }]\neager = \"1000 B\"";
        let parts = |keys: &str, bytes| {
            let MessageCosts { send, gap, recv, port, .. } =
                spec(&format!("{step}\n{keys}")).costs().unwrap().message(bytes);
            [send, gap, recv, port].map(|time| time.ps() / 1e6)
        };
        assert_eq!(parts("", 1000), [4.0, 1.0, 4.0, 1.0]);
        assert_eq!(parts("gap = \"0.5 us\"", 1000), [1.5, 7.0, 0.5, 1.5]);
        assert_eq!(parts("gap = \"0.5 us\"", 2000), [0.5, 2.0, 7.5, 2.5]);
        assert_eq!(parts("gap = \"0.5 us\"\none-way = \"3 us\"", 2000), [0.5, 2.0, 2.5, 2.5]);
        assert_eq!(parts("gap = \"9 us\"", 1000), [8.0, 1.0, 0.0, 10.0]);
        let costs = spec(step).costs().unwrap().on_fabric();
        assert_eq!(costs.message(1000).gap, Time::ZERO);
    }

    #[test]
    fn a_table_has_rows_by_ascending_size_and_time() {
        let row = |size: u64, us: f64| format!("{{ size = \"{size} B\", time = \"{us} us\" }}");
        let mistakes = |rows: &[String]| spec(&format!("step = [{}]", rows.join(", "))).check().len();
        assert_eq!(mistakes(&[]), 1);
        assert_eq!(mistakes(&[row(8, 1.0), row(8, 2.0)]), 1);
        assert_eq!(mistakes(&[row(8, 3.0), row(1008, 1.9)]), 1, "1008 B would be faster by 0.1 us");
        assert_eq!(mistakes(&[row(8, 3.0), row(1008, 2.0)]), 0);
        assert!(
            crate::reading::from_toml::<TabulatedSpec>("G = \"1 ns/B\"\nstep = [{ size = \"8 B\", time = \"-1 us\" }]")
                .is_err()
        );
    }
}

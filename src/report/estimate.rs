//! Estimates: a makespan with its interval, or why there is none.

use serde::{Serialize, Serializer};

/// Makespan estimated from the beginning of a run. The report's `messages` and `bytes` are then those of
/// the whole run. `bounds` has `injection_s` alone. `links`, `contention`, `rounds`, `fingerprint` and
/// `meta` cover the simulated part.
#[report(Copy)]
pub struct Estimate {
    /// Estimated makespan \[s\].
    pub makespan_s: f64,
    /// Lower end of its interval \[s\].
    pub low_s: f64,
    /// Upper end of its interval \[s\].
    pub high_s: f64,
    /// Probability that the interval holds the makespan of the full run: 0.95.
    pub confidence: f64,
    /// Fraction of all messages that was simulated.
    pub simulated_part: f64,
    /// Requested accuracy: half of the interval over the makespan.
    pub asked: f64,
}

impl Estimate {
    /// Returns half of the interval \[s\].
    pub fn half_s(&self) -> f64 {
        (self.high_s - self.low_s) / 2.0
    }

    /// Returns half of the interval over the makespan.
    pub fn error(&self) -> f64 {
        if self.makespan_s > 0.0 { self.half_s() / self.makespan_s } else { 0.0 }
    }

    /// Returns true if the interval is wider than asked for, for example because the end of the run takes
    /// longer than usual.
    pub fn is_wider(&self) -> bool {
        self.error() > self.asked
    }
}

/// Result of a request for an estimate.
///
/// Written as `estimate`: the estimate, or `null` with `estimate_reason`.
#[derive(Clone, PartialEq, Debug)]
pub enum Estimated {
    /// The makespan is an estimate.
    By(Estimate),
    /// The whole run was simulated, for this reason: the makespan is exact.
    Full(String),
}

impl Estimated {
    /// Returns the estimate, if there is one.
    pub fn estimate(&self) -> Option<&Estimate> {
        match self {
            Self::By(estimate) => Some(estimate),
            Self::Full(_) => None,
        }
    }
}

impl Serialize for Estimated {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let estimate_reason = match self {
            Self::By(_) => None,
            Self::Full(reason) => Some(reason.as_str()),
        };
        Written { estimate: self.estimate(), estimate_reason }.serialize(serializer)
    }
}

/// Keys under which an [`Estimated`] is written.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Written<'a> {
    /// Makespan with its interval, if it is an estimate.
    estimate: Option<&'a Estimate>,
    /// Reason why there is no estimate, if the whole run was simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate_reason: Option<&'a str>,
}

#[cfg(test)]
impl schemars::JsonSchema for Estimated {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Estimated".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Written::json_schema(generator)
    }
}

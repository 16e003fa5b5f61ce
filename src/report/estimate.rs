//! Estimates: a makespan with its interval, or why there is none.

use serde::{Serialize, Serializer};

/// A makespan that is estimated from the beginning of a run.
#[report(Copy)]
pub struct Estimate {
    /// The makespan \[s\].
    pub makespan_s: f64,
    /// The low end of its interval \[s\].
    pub low_s: f64,
    /// The high end \[s\].
    pub high_s: f64,
    /// How sure the interval is to hold the makespan of the full run: 0.95.
    pub confidence: f64,
    /// The part of all messages that was simulated.
    pub simulated_part: f64,
    /// Half of the interval over the makespan, as it was asked for.
    pub asked: f64,
}

impl Estimate {
    /// Half of its interval \[s\].
    pub fn half_s(&self) -> f64 {
        (self.high_s - self.low_s) / 2.0
    }

    /// Half of its interval, over the makespan.
    pub fn error(&self) -> f64 {
        if self.makespan_s > 0.0 { self.half_s() / self.makespan_s } else { 0.0 }
    }

    /// Whether the interval came out wider than asked for, as an end that takes longer than most makes it.
    pub fn is_wider(&self) -> bool {
        self.error() > self.asked
    }
}

/// What became of an estimate that was asked for.
///
/// Written as `estimate`: the estimate, or `null` with `estimate_reason`.
#[derive(Clone, PartialEq, Debug)]
pub enum Estimated {
    /// The makespan is one.
    By(Estimate),
    /// All was simulated, for this reason: the makespan is exact.
    Full(String),
}

impl Estimated {
    /// The estimate, where there is one.
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

/// The keys of an [`Estimated`].
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Written<'a> {
    /// The makespan with its interval, where it is an estimate.
    estimate: Option<&'a Estimate>,
    /// Why there is none, where all was simulated.
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

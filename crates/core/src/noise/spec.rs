//! `[noise]` and `[[straggler]]`: what is written.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::numbers::Numbers;
use crate::diagnostic::{Diagnostic, Located};
use crate::units::Time;

/// The shortest period: what happens more often than this makes a processor slower, and that is a straggler's `speed`.
const SHORTEST: Time = Time::from_ps(100e3);

/// `[noise]`: stops of the ranks' processors, by the operating system or by something else. A stop holds up the
/// calculation or the overhead that a rank is at; a rank that waits loses nothing by one.
#[spec]
pub struct NoiseSpec {
    /// How long a stop is, on average; "25 us".
    pub length: Located<Time>,
    /// Time from the beginning of one stop of a rank to that of the next (default: one stop in each calculation of a
    /// rank, however long that is); "1 ms".
    pub period: Option<Located<Time>>,
    /// How lengths are distributed (default `fixed`).
    #[serde(default)]
    pub distribution: Distribution,
    /// When the stops of a rank begin within the period (default `random`).
    pub phase: Option<Located<Phase>>,
    /// Ranks that have it (default: all): a number, a list, or a text like "0-7"; of several jobs all ranks are
    /// numbered, job by job.
    pub ranks: Option<Located<Numbers>>,
    /// Seed of the draws (default: the scenario's).
    pub seed: Option<u64>,
}

/// The tables of a scenario that are about slow processors.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct NoiseTables {
    /// `[noise]`.
    pub noise: Option<NoiseSpec>,
    /// Each `[[straggler]]`.
    pub stragglers: Vec<Located<StragglerSpec>>,
}

impl NoiseTables {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.noise.is_none() && self.stragglers.is_empty()
    }

    /// Whether another seed slows others, or at other times.
    pub fn depends_on_seed(&self) -> bool {
        self.noise.as_ref().is_some_and(NoiseSpec::depends_on_seed)
            || self.stragglers.iter().any(|straggler| straggler.count.is_some())
    }
}

/// How the lengths of stops are distributed.
#[spec(Copy, Eq, Default)]
pub enum Distribution {
    /// All the same.
    #[default]
    Fixed,
    /// Evenly from 0 to twice the mean.
    Uniform,
    /// Exponentially with this mean.
    Exponential,
}

/// When the stops of a rank begin within the period.
#[spec(Copy, Eq, Default)]
pub enum Phase {
    /// At a random time of the period, drawn for each rank.
    #[default]
    Random,
    /// At the same time on all ranks: at 0 and every period after.
    Synchronised,
}

/// `[[straggler]]`: ranks that compute slower than the others, always or for a while.
#[spec]
pub struct StragglerSpec {
    /// Which ranks: a number, a list, or a text like "0-7,12".
    pub ranks: Option<Located<Numbers>>,
    /// Which nodes, instead: the ranks on them.
    pub nodes: Option<Located<Numbers>>,
    /// How many ranks, instead, drawn by the seed.
    pub count: Option<Located<u32>>,
    /// The job that `ranks` and `count` are about, where there are several (default: all ranks are numbered, job by
    /// job).
    pub job: Option<Located<String>>,
    /// Speed of its processors: a part of the speed of the others ("50 %", 0.5), or a factor ("x2").
    pub speed: Located<Speed>,
    /// From when on (default 0 s); "1 ms".
    pub start: Option<Located<Time>>,
    /// Until when (default: to the end); "2 ms".
    pub until: Option<Located<Time>>,
}

/// A speed, relative to the others: above 0.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Speed(pub f64);

impl Speed {
    /// Reads `50 %`, `0.5` or `x2`.
    ///
    /// # Errors
    /// A text that is none of these, a speed that is not above 0, or a number above 1 of which nothing says whether it
    /// is per cent or a factor: what it is, and after a semicolon what to write instead.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (number, unit) = match (text.strip_suffix('%'), text.strip_prefix('x')) {
            (Some(percent), _) => (percent, Some(100.0)),
            (None, Some(factor)) => (factor, Some(1.0)),
            (None, None) => (text, None),
        };
        let value = number.trim().parse();
        let value =
            value.map_err(|_| format!("`{text}` is no speed; write \"50 %\" or 0.5, half the speed of others"))?;
        Self::of(value, unit, text)
    }

    fn of(value: f64, unit: Option<f64>, text: &str) -> Result<Self, String> {
        match value / unit.unwrap_or(1.0) {
            value if (1e-9..=1e9).contains(&value) && (value <= 1.0 || unit.is_some()) => Ok(Self(value)),
            value if value <= 0.0 => Err(format!(
                "at the speed `{text}` a rank never gets anything done; write a speed above 0, such as \"50 %\""
            )),
            value if value <= 1e9 => Err(format!(
                "the speed `{text}` may be per cent or a factor; write \"{text}%\" for a part of the speed of others, \
                 or \"x{text}\" for {text} times as fast"
            )),
            _ => Err(format!("`{text}` is no speed; write a factor from 1e-9 to 1e9, such as \"50 %\" or 0.5")),
        }
    }
}

impl Serialize for Speed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0 > 1.0 {
            serializer.collect_str(&format_args!("x{}", self.0))
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}

impl<'de> Deserialize<'de> for Speed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl Visitor<'_> for Any {
            type Value = Speed;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a part (\"50 %\", 0.5) or a factor (\"x2\")")
            }
            fn visit_f64<E: Error>(self, value: f64) -> Result<Speed, E> {
                Speed::of(value, None, &value.to_string()).map_err(E::custom)
            }
            fn visit_i64<E: Error>(self, value: i64) -> Result<Speed, E> {
                self.visit_f64(value as f64)
            }
            fn visit_u64<E: Error>(self, value: u64) -> Result<Speed, E> {
                self.visit_f64(value as f64)
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Speed, E> {
                Speed::parse(text).map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Any)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Speed {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Speed".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "anyOf": [{ "type": "string" }, { "type": "number", "exclusiveMinimum": 0 }] })
    }
}

impl NoiseSpec {
    /// What is wrong with it, whatever the ranks.
    pub fn check(&self) -> Vec<Diagnostic> {
        let mut mistakes = Vec::new();
        match &self.period {
            Some(period) if **period < SHORTEST => {
                let message = format!("a period of {} is too short for stops of their own", **period);
                let diagnostic = Diagnostic::new("wrong-value", message).at_value(period);
                let help = "what happens so often makes ranks slower: write a [[straggler]] with a speed";
                mistakes.push(diagnostic.label(format!("{SHORTEST} at least")).help(help));
            }
            Some(period) if *self.length >= **period => {
                let message = format!("stops of {} every {} stop a rank for ever", *self.length, **period);
                let diagnostic = Diagnostic::new("endless", message).at_value(&self.length);
                mistakes.push(diagnostic.label("shorter than the period").help(format!("the period is {}", **period)));
            }
            Some(_) => {}
            None => {
                if let Some(phase) = &self.phase {
                    let message = "stops in each calculation have no phase";
                    let diagnostic = Diagnostic::new("unused-option", message).at_value(phase);
                    mistakes.push(diagnostic.help("give a `period`, or leave `phase` out"));
                }
            }
        }
        mistakes
    }

    /// Whether another seed gives other stops.
    pub fn depends_on_seed(&self) -> bool {
        let random_phase = self.period.is_some() && self.phase.as_deref().copied().unwrap_or_default() == Phase::Random;
        self.seed.is_none() && *self.length > Time::ZERO && (self.distribution != Distribution::Fixed || random_phase)
    }
}

//! The tables `[noise]` and `[[straggler]]`.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::numbers::Numbers;
use crate::diagnostic::{Diagnostic, Located};
use crate::units::Time;

/// Shortest period. More frequent stops make a processor slower; use a straggler's `speed` for that.
const SHORTEST: Time = Time::from_ps(100e3);

/// `[noise]`: stops of the ranks' processors, caused by the operating system, for example. A stop delays
/// the calculation or overhead of a rank; a rank that waits loses nothing. `--noise` replaces this table.
#[spec]
pub struct NoiseSpec {
    /// Mean length of a stop; "25 us".
    pub length: Located<Time>,
    /// Time from the beginning of one stop of a rank to that of the next (default: one stop in each
    /// calculation of a rank, however long that is). At least 100 ns, and longer than `length`; "1 ms".
    pub period: Option<Located<Time>>,
    /// Distribution of the lengths of stops (default `fixed`).
    #[serde(default)]
    pub distribution: Distribution,
    /// Beginning of a rank's stops within the period (default `random`).
    pub phase: Option<Located<Phase>>,
    /// Ranks that have noise (default: all): a number, a list, or a text like "0-7". With several jobs all
    /// ranks are numbered, job by job.
    pub ranks: Option<Located<Numbers>>,
    /// Seed of the random numbers (default: that of the scenario).
    pub seed: Option<u64>,
}

/// The tables of a scenario about slow processors.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct NoiseTables {
    /// `[noise]`.
    pub noise: Option<NoiseSpec>,
    /// All `[[straggler]]` tables.
    pub stragglers: Vec<Located<StragglerSpec>>,
}

impl NoiseTables {
    /// Returns true if there are no such tables.
    pub fn is_empty(&self) -> bool {
        self.noise.is_none() && self.stragglers.is_empty()
    }

    /// Returns true if another seed slows other ranks, or at other times.
    pub fn depends_on_seed(&self) -> bool {
        self.noise.as_ref().is_some_and(NoiseSpec::depends_on_seed)
            || self.stragglers.iter().any(|straggler| straggler.count.is_some())
    }
}

/// Distribution of the lengths of stops.
#[spec(Copy, Eq, Default)]
pub enum Distribution {
    /// All the same.
    #[default]
    Fixed,
    /// Uniform from 0 to twice the mean.
    Uniform,
    /// Exponential with this mean.
    Exponential,
}

/// Beginning of a rank's stops within the period.
#[spec(Copy, Eq, Default)]
pub enum Phase {
    /// A random time within the period, drawn for each rank.
    #[default]
    Random,
    /// The same time on all ranks: 0 and every period after.
    Synchronised,
}

/// `[[straggler]]`: ranks that compute more slowly than the rest, always or for a while. `--straggler` adds
/// one. A farm without a fabric takes `ranks` and `speed` alone.
#[spec]
pub struct StragglerSpec {
    /// Ranks (one of `ranks`, `nodes` and `count` is required): a number, a list, or a text like "0-7,12".
    pub ranks: Option<Located<Numbers>>,
    /// Nodes, instead of `ranks`: all ranks on them.
    pub nodes: Option<Located<Numbers>>,
    /// Number of ranks, instead of `ranks`, drawn by the seed.
    pub count: Option<Located<u32>>,
    /// Job to which `ranks` and `count` refer, if there are several jobs (default: all ranks are numbered,
    /// job by job).
    pub job: Option<Located<String>>,
    /// Speed of the processors: a fraction of the normal speed ("50 %", 0.5), or a factor ("x2"). Above 0;
    /// a number above 1 needs `%` or `x`.
    pub speed: Located<Speed>,
    /// Start of the slow time (default 0 s); "1 ms".
    pub start: Option<Located<Time>>,
    /// End of the slow time (default: the end of the run); "2 ms".
    pub until: Option<Located<Time>>,
}

/// A speed above 0, relative to the normal speed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Speed(pub f64);

impl Speed {
    /// Reads `50 %`, `0.5` or `x2`.
    ///
    /// # Errors
    /// The text is none of these, the speed is not above 0, or a number above 1 may mean per cent or a
    /// factor. The message says what is wrong and, after a semicolon, what to write instead.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (number, unit) = match (text.strip_suffix('%'), text.strip_prefix('x')) {
            (Some(percent), _) => (percent, Some(100.0)),
            (None, Some(factor)) => (factor, Some(1.0)),
            (None, None) => (text, None),
        };
        let value = number.trim().parse();
        let value =
            value.map_err(|_| format!("`{text}` is not a speed; write \"50 %\" or 0.5, half the speed of others"))?;
        Self::of(value, unit, text)
    }

    fn of(value: f64, unit: Option<f64>, text: &str) -> Result<Self, String> {
        match value / unit.unwrap_or(1.0) {
            value if (1e-9..=1e9).contains(&value) && (value <= 1.0 || unit.is_some()) => Ok(Self(value)),
            value if value <= 0.0 => Err(format!(
                "at the speed `{text}` a rank never gets anything done; write a speed above 0, such as \"50 %\""
            )),
            value if value <= 1e9 => Err(format!(
                "the speed `{text}` may be a percentage or a factor; write \"{text}%\" for a part of the speed of \
                 others, \
                 or \"x{text}\" for {text} times as fast"
            )),
            _ => Err(format!("`{text}` is not a speed; write a factor from 1e-9 to 1e9, such as \"50 %\" or 0.5")),
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
    /// Returns the mistakes in the table that do not depend on the ranks.
    pub fn check(&self) -> Vec<Diagnostic> {
        let mut mistakes = Vec::new();
        match &self.period {
            Some(period) if **period < SHORTEST => {
                let message = format!("a period of {} is too short for stops of their own", **period);
                let diagnostic = Diagnostic::new("wrong-value", message).at_value(period);
                let help = "interruptions this frequent act like a lower speed: write a [[straggler]] with a speed";
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

    /// Returns true if another seed gives other stops.
    pub fn depends_on_seed(&self) -> bool {
        let random_phase = self.period.is_some() && self.phase.as_deref().copied().unwrap_or_default() == Phase::Random;
        self.seed.is_none() && *self.length > Time::ZERO && (self.distribution != Distribution::Fixed || random_phase)
    }
}

//! Times at which the messages of a pattern may go: the injection rule and the start offsets.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::diagnostic::{Diagnostic, Located};
use crate::ids::RankId;
use crate::rng::Mix;
use crate::units::Time;

/// Options that every workload has beside its own: each `...Spec` has them as its own fields `injection` and
/// `message-jitter`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Traffic {
    /// Rule by which a rank sends its next message.
    pub injection: Located<Injection>,
    /// Upper bound of the random start offset of each rank \[ps\].
    pub message_jitter: Located<Time>,
    /// Time that the barrier after each step takes under [`Injection::Barrier`] \[ps\].
    pub barrier_cost: Located<Time>,
}

impl Traffic {
    /// Returns the mistake of a barrier's cost without barriers, if it has one.
    pub fn unused_cost(&self) -> Option<Diagnostic> {
        let is_unused = *self.barrier_cost > Time::ZERO && *self.injection != Injection::Barrier;
        is_unused.then(|| {
            let message = format!("`barrier-cost` has no meaning for the injection rule \"{}\"", *self.injection);
            Diagnostic::new("unused-option", message)
                .at_value(&self.barrier_cost)
                .label("only for \"barrier\"")
                .help("leave it out, or write `injection = \"barrier\"`")
        })
    }
}

/// Returns the start offset of each rank, random and below `jitter`.
pub fn start_offsets(seed: u64, jitter: Time) -> impl Fn(RankId) -> Time {
    let random = Mix::new(seed, "message-jitter");
    move |rank| Time::from_ps(jitter.ps() * random.one_unit(u64::from(rank.0)))
}

/// Rule by which a rank sends its next message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Injection {
    /// After its previous message has been delivered.
    #[default]
    Queue,
    /// After its previous message has been delivered and all messages to it of that step have arrived.
    SendRecv,
    /// After all messages of all ranks of the previous step have been delivered.
    Barrier,
    /// After the last byte of its previous message has left its node. With a transport that does not know
    /// this time (flows), after it has been delivered.
    Left,
    /// At once: all messages are in flight together.
    All,
    /// While fewer than this number of its messages are in flight.
    Window(u32),
}

impl fmt::Display for Injection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Queue => f.write_str("queue"),
            Self::SendRecv => f.write_str("sendrecv"),
            Self::Barrier => f.write_str("barrier"),
            Self::Left => f.write_str("left"),
            Self::All => f.write_str("all"),
            Self::Window(k) => write!(f, "window={k}"),
        }
    }
}

impl FromStr for Injection {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        match compact.as_str() {
            "queue" => Ok(Self::Queue),
            "sendrecv" => Ok(Self::SendRecv),
            "barrier" => Ok(Self::Barrier),
            "left" => Ok(Self::Left),
            "all" => Ok(Self::All),
            other => match other.strip_prefix("window=").map(str::parse) {
                Some(Ok(k)) if k > 0 => Ok(Self::Window(k)),
                Some(_) => Err(format!("the window of \"{text}\" is not a number of messages, 1 or more")),
                None => Err(format!(
                    "unknown injection rule \"{text}\"; write \"queue\", \"sendrecv\", \"barrier\", \"left\", \"all\" or \"window=4\""
                )),
            },
        }
    }
}

impl<'de> Deserialize<'de> for Injection {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

impl Serialize for Injection {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Injection {
    fn schema_name() -> Cow<'static, str> {
        "Injection".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "pattern": "^(queue|sendrecv|barrier|left|all|window *= *[0-9]+)$",
            "description": "queue: the next message when this one is delivered; sendrecv: when also this step's \
                            receives are done; barrier: when every rank's are; left: when this one has left its node; all: at once; window=4: up to 4 under way"
        })
    }
}

//! LogGPS: overheads linear in the length, and rendezvous for long messages.

use std::fmt;
use std::sync::Arc;

use serde::de::{self, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::costs::{Costs, CostsByLength, MessageCosts, Phase, Role};
use super::model::{NodeFacts, NodeModel, Playing};
use crate::diagnostic::{Diagnostic, Located};
use crate::ids::RankId;
use crate::units::{Bytes, PerByte, Time};

/// `[node.loggps]`.
///
/// A message of k bytes whose send is called at ts and whose receive is called at tr takes, from ts on,
/// ```text
/// k <= s (short)         T1 + T2 + T3
/// s < k <= S (eager)     T1 + T2' + T3
/// k > S (rendezvous)     T4 + T5 + T1' + T2' + T3'
///
/// T1  = o + k Oss        T2  = k Gs + L                 T3  = o + k Ors
/// T1' = o + k Osl        T2' = s Gs + (k - s) Gl + L    T3' = o + k Orl
/// T4  = max(o + L, tr - ts) + o                         T5  = o + L + o
/// ```
/// The calls take these times. Tblk is the time of the blocking call made at ti, and tw is the time of the
/// Wait:
///
/// - Send: T1, or T4 + T5 + T1' above S.
/// - Recv: max(T1 + T2 - (tr - ts), 0) + T3, or above S max(o + L - (tr - ts), 0) + o + T5 + T1' + T2' + T3'.
/// - Isend and Irecv: o.
/// - Wait: max(Tblk - (tw - ti), o).
///
/// Source: Ino, Fujimoto, Hagihara: LogGPS, tables 3 and 4; its o' is our `o`.
#[spec]
pub struct LogGpsSpec {
    /// Latency between two ranks.
    #[serde(rename = "L")]
    pub latency: Located<Time>,
    /// Overhead of a message of 0 bytes, at either end.
    pub o: Located<Time>,
    /// Least time between two sends of a rank, and between two receives (default 0 s: part of o).
    #[serde(default, skip_serializing_if = "Located::is_default")]
    pub g: Located<Time>,
    /// Overhead per byte at the sender, up to S (default 0 ns/B).
    #[serde(rename = "Oss", default)]
    pub oss: Located<PerByte>,
    /// Overhead per byte at the receiver, up to S (default 0 ns/B).
    #[serde(rename = "Ors", default)]
    pub ors: Located<PerByte>,
    /// Gap per byte, for the first s bytes.
    #[serde(rename = "Gs")]
    pub gs: Located<PerByte>,
    /// Overhead per byte at the sender, above S (default 0 ns/B).
    #[serde(rename = "Osl", default)]
    pub osl: Located<PerByte>,
    /// Overhead per byte at the receiver, above S (default 0 ns/B).
    #[serde(rename = "Orl", default)]
    pub orl: Located<PerByte>,
    /// Gap per byte beyond the first s bytes (default: Gs).
    #[serde(rename = "Gl", default, skip_serializing_if = "Option::is_none")]
    pub gl: Option<Located<PerByte>>,
    /// Longest message that is sent as one packet (default: S).
    pub s: Option<Located<Bytes>>,
    /// Longest message that is sent without waiting for the receiver.
    #[serde(rename = "S")]
    pub sync: Located<Bytes>,
    /// Sharing of a receiver's bandwidth by messages that flow to it at the same time, without a fabric:
    /// `true` by message, as in the paper (the default); `"wire"` by byte; `false` for none.
    #[serde(default, skip_serializing_if = "ReceiverSharing::is_default")]
    pub receiver_sharing: ReceiverSharing,
    /// Room at each receiver for messages up to S that are under way or that no receive has asked for yet. A
    /// message that does not fit is sent by rendezvous, like those above S (default: no limit).
    pub eager_buffer: Option<Located<Bytes>>,
}

/// Bandwidth that messages to one rank at the same time share.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ReceiverSharing {
    /// None.
    Off,
    /// By message, as in the paper: the whole of the part with the largest time per byte, among Oss, Gs and
    /// Ors for messages up to s, among Osl, Gl and Orl for longer ones.
    #[default]
    Message,
    /// By byte: for the first s bytes of any message the largest of Oss, Gs and Ors, for the rest that of
    /// Osl, Gl and Orl. The time is monotonic in the length, because longer messages also share the part of
    /// their first s bytes.
    Wire,
}

impl ReceiverSharing {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Serialize for ReceiverSharing {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Off => serializer.serialize_bool(false),
            Self::Message => serializer.serialize_bool(true),
            Self::Wire => serializer.serialize_str("wire"),
        }
    }
}

impl<'de> Deserialize<'de> for ReceiverSharing {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Words;

        impl Visitor<'_> for Words {
            type Value = ReceiverSharing;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true, false or \"wire\"")
            }

            fn visit_bool<E: de::Error>(self, on: bool) -> Result<Self::Value, E> {
                Ok(if on { ReceiverSharing::Message } else { ReceiverSharing::Off })
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<Self::Value, E> {
                match word {
                    "wire" => Ok(ReceiverSharing::Wire),
                    _ => Err(E::invalid_value(Unexpected::Str(word), &self)),
                }
            }
        }

        deserializer.deserialize_any(Words)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for ReceiverSharing {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ReceiverSharing".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "enum": [true, false, "wire"] })
    }
}

impl NodeModel for LogGpsSpec {
    fn name(&self) -> &'static str {
        "loggps"
    }

    fn check(&self) -> Vec<Diagnostic> {
        let mut mistakes = Vec::new();
        if let Some(s) = &self.s
            && **s > *self.sync
        {
            let message = format!("s ({}) is larger than S ({})", **s, *self.sync);
            mistakes.push(
                Diagnostic::new("wrong-value", message).at_value(s).label("a size of S or less is expected").help(
                    "messages up to s go as one packet, those up to S without waiting; leave s out to have s = S",
                ),
            );
        }
        mistakes
    }

    fn playing(&self) -> Playing {
        let short = self.s.as_ref().map_or(*self.sync, |s| **s);
        let linear = Linear {
            o: self.o.ps(),
            oss: self.oss.ps(),
            ors: self.ors.ps(),
            gs: self.gs.ps(),
            osl: self.osl.ps(),
            orl: self.orl.ps(),
            gl: self.gl.as_ref().map_or(self.gs.ps(), |gl| gl.ps()),
            short: short.0,
            sync: self.sync.0,
            by_byte: self.receiver_sharing == ReceiverSharing::Wire,
        };
        Playing::AtCosts(Costs {
            latency: *self.latency,
            handshake: *self.o,
            control_travels: true,
            interval: *self.g,
            wait_send: *self.o,
            receiver_sharing: self.receiver_sharing != ReceiverSharing::Off,
            eager_buffer: self.eager_buffer.as_ref().map(|buffer| **buffer),
            ..Costs::new(linear)
        })
    }

    fn facts(&self) -> NodeFacts {
        NodeFacts { path_bounds: true, ..NodeFacts::default() }
    }

    fn eager_limit(&self) -> Option<Bytes> {
        Some(*self.sync)
    }

    /// Sets S. If s was S by default, s keeps its value.
    fn set_eager_limit(&mut self, limit: Bytes) -> bool {
        self.s.get_or_insert(self.sync);
        self.sync = limit.into();
        true
    }

    /// Returns `s` if S falls below it, since s must not exceed S.
    fn follows(&self, parameter: &str, value: f64) -> Option<&'static str> {
        let short = self.s.as_ref()?.0 as f64;
        (parameter == "S" && value < short).then_some("s")
    }
}

/// Overheads and gaps linear in the length \[ps, ps/B\].
#[derive(Clone, Copy, Debug)]
struct Linear {
    o: f64,
    oss: f64,
    ors: f64,
    gs: f64,
    osl: f64,
    orl: f64,
    gl: f64,
    short: u64,
    sync: u64,
    /// Set if bandwidth is shared byte by byte; otherwise it is shared message by message.
    by_byte: bool,
}

impl Linear {
    /// Returns the costs of a message, with the overheads of its protocol and the gap of its length.
    #[inline]
    fn by_protocol(&self, bytes: u64, rendezvous: bool) -> MessageCosts {
        let k = bytes as f64;
        let gap = if bytes <= self.short {
            k * self.gs
        } else {
            self.short as f64 * self.gs + (bytes - self.short) as f64 * self.gl
        };
        let (os, or) = if rendezvous { (self.osl, self.orl) } else { (self.oss, self.ors) };
        // The largest of the three is the shared one; if they are equal, it is the gap.
        let holder = |s: f64, g: f64, r: f64| {
            if g >= s && g >= r {
                (Phase::Gap, g)
            } else if s >= r {
                (Phase::Send, s)
            } else {
                (Phase::Recv, r)
            }
        };
        let (first, rest) = (holder(self.oss, self.gs, self.ors), holder(self.osl, self.gl, self.orl));
        let of_phase = [k * os, gap, k * or];
        let mut shared = [0.0; 3];
        if self.by_byte {
            let near = bytes.min(self.short);
            for ((phase, per_byte), bytes) in [(first, near), (rest, bytes - near)] {
                shared[phase as usize] += per_byte * bytes as f64;
            }
            // The shared part of a phase is at most the whole phase.
            shared.iter_mut().zip(of_phase).for_each(|(shared, all)| *shared = shared.min(all));
        } else {
            let (phase, _) = if bytes <= self.short { first } else { rest };
            shared[phase as usize] = of_phase[phase as usize];
        }
        let o = Time::from_ps(self.o);
        MessageCosts {
            send: Time::from_ps(self.o + k * os),
            gap: Time::from_ps(gap),
            recv: Time::from_ps(self.o + k * or),
            isend: o,
            irecv: o,
            wait_recv: o,
            port: Time::ZERO,
            acknowledgement: Time::ZERO,
            rendezvous,
            shared: shared.map(Time::from_ps),
        }
    }
}

impl CostsByLength for Linear {
    fn message(&self, bytes: u64) -> MessageCosts {
        self.by_protocol(bytes, bytes > self.sync)
    }

    fn between(&self, _src: RankId, _dst: RankId, bytes: u64, rendezvous: bool, _role: Role) -> MessageCosts {
        self.by_protocol(bytes, rendezvous)
    }

    fn on_fabric(&self) -> Arc<dyn CostsByLength> {
        Arc::new(Self { gs: 0.0, gl: 0.0, ..*self })
    }
}

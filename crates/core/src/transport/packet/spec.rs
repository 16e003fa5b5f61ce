//! `[transport.packet]`: packet model, packet size, buffers and arbiters.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::diagnostic::{Diagnostic, Located};
use crate::fabric::Fabric;
use crate::routing::{Router, Steps};
use crate::units::{Bytes, Time};

/// `[transport.packet]`.
#[spec(partial)]
pub struct PacketSpec {
    /// Queues of the switches (default oq).
    pub model: Model,
    /// Bytes of a packet; the last packet of a message has the rest (default 1500 B).
    pub packet_size: Located<Bytes>,
    /// Packets of a message of mean size, instead of `packet-size`: the packet size is the mean message
    /// size divided by this number. Coarse and quick, for messages much longer than buffers. Buffers of iq
    /// then hold 2 packets by default, 4 with local-bubble. For patterns; not beside `packet-size`.
    pub packets_per_message: Option<Located<u32>>,
    /// Packets that fit in a buffer, or "unlimited". For iq: of each input port and virtual channel (default
    /// 8). For fq: of each message at each hop (default 2). oq has no limit.
    pub buffer: Option<Located<Buffer>>,
    /// Arbitration among waiting packets, for iq (default round-robin).
    pub arbitration: Option<Located<Arbitration>>,
    /// Deadlock avoidance, which keeps packets from waiting for each other in a circle, for iq (default:
    /// dateline under dimension-order, else classes). `classes` works on any fabric under any rule;
    /// `local-bubble`, `dateline` and `turn` work on the rings of a torus under dimension-order.
    pub deadlock_avoidance: Option<Located<DeadlockAvoidance>>,
    /// Virtual channels of each link, for iq with classes (default: as many as routes need; fewer are
    /// refused).
    pub channels: Option<Located<u32>>,
    /// Queues in an input buffer, for iq (default fifo).
    pub queues: Option<Located<Queues>>,
    /// Time after its first byte was sent at which a packet may go on (cut-through), for iq, for example "50
    /// ns". By default a packet waits for its last byte.
    pub head_latency: Option<Located<Time>>,
}

impl Default for PacketSpec {
    fn default() -> Self {
        Self {
            model: Model::Oq,
            packet_size: Bytes::PACKET.into(),
            packets_per_message: None,
            buffer: None,
            arbitration: None,
            deadlock_avoidance: None,
            channels: None,
            queues: None,
            head_latency: None,
        }
    }
}

/// Queues of the switches.
#[spec(Copy, Eq, Named)]
pub enum Model {
    /// Unlimited first-in-first-out output queues, store and forward.
    Oq,
    /// Input buffers with credits, head-of-line blocking.
    Iq,
    /// Output queues that serve messages in turn.
    Fq,
}

/// Arbitration among waiting packets.
#[spec(Copy, Eq)]
pub enum Arbitration {
    /// Inputs in turn.
    RoundRobin,
    /// The packet that came to this switch first.
    ArrivalOrder,
    /// The packet whose message was sent first.
    OldestFirst,
}

/// Deadlock avoidance, which keeps packets from waiting for each other in a circle.
#[spec(Copy, Eq, Named)]
pub enum DeadlockAvoidance {
    /// A packet enters a ring only if room for one more is left behind it.
    LocalBubble,
    /// Two virtual channels: packets change to the second one where the ring closes.
    Dateline,
    /// Two virtual channels: packets that will cross the link that closes a ring use the second one from
    /// where they enter the ring.
    Turn,
    /// Virtual channels by class: a packet changes to the next one wherever its route does not ascend in the
    /// order of links that the rule or the fabric's family defines. Works on any fabric, under any rule.
    Classes,
    /// No avoidance: packets may deadlock, which is reported.
    None,
}

/// Queues in an input buffer.
#[spec(Copy, Eq)]
pub enum Queues {
    /// One queue: a waiting packet holds back all packets behind it.
    Fifo,
    /// One queue for each output; the queues share the buffer.
    VirtualOutput,
}

/// Number of packets that fit in a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Buffer {
    /// This number, at least 1.
    Packets(u32),
    /// No limit.
    Unlimited,
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Buffer {
    /// Returns the room as a number that counts down; for unlimited buffers it is more than can ever come.
    pub(super) fn room(self) -> u32 {
        match self {
            Self::Packets(count) => count,
            Self::Unlimited => u32::MAX,
        }
    }
}

impl Serialize for Buffer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Packets(count) => serializer.serialize_u32(*count),
            Self::Unlimited => serializer.serialize_str("unlimited"),
        }
    }
}

impl<'de> Deserialize<'de> for Buffer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl de::Visitor<'_> for Visitor {
            type Value = Buffer;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of packets, or \"unlimited\"")
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Buffer, E> {
                match u32::try_from(value) {
                    Ok(count) if (1..=MAX_BUFFER).contains(&count) => Ok(Buffer::Packets(count)),
                    _ => Err(E::custom(format!("a buffer of {value} packets; write a number from 1 to {MAX_BUFFER}"))),
                }
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Buffer, E> {
                self.visit_i64(i64::try_from(value).unwrap_or(i64::MAX))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Buffer, E> {
                match text {
                    "unlimited" => Ok(Buffer::Unlimited),
                    _ => match text.trim().parse() {
                        Ok(count) => self.visit_i64(count),
                        Err(_) => Err(E::custom(format!("no buffer \"{text}\"; write 8, or \"unlimited\""))),
                    },
                }
            }
        }

        deserializer.deserialize_any(Visitor)
    }
}

/// Largest limited buffer \[packets\].
const MAX_BUFFER: u32 = 1 << 30;

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Buffer {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Buffer".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": ["integer", "string"],
            "minimum": 1,
            "maximum": MAX_BUFFER,
            "pattern": "^(unlimited|[0-9]+)$",
            "description": "a number of packets, or \"unlimited\""
        })
    }
}

fn no_bubble(buffer: &Located<Buffer>) -> Diagnostic {
    Diagnostic::new("wrong-value", "a buffer of one packet has no room for a bubble")
        .at_value(buffer)
        .label("2 or more are needed")
        .help("write `buffer = 2`, or deadlock-avoidance = \"dateline\"")
}

fn plural(channels: u32) -> String {
    format!("{channels} virtual channel{}", if channels == 1 { "" } else { "s" })
}

/// Largest packet \[B\].
const LARGEST: u64 = 1 << 30;

impl PacketSpec {
    /// Returns the mistakes in its options.
    pub fn check(&self) -> Vec<Diagnostic> {
        let mut mistakes = Vec::new();
        if !(1..=LARGEST).contains(&self.packet_size.0) {
            mistakes.push(
                Diagnostic::new("wrong-value", format!("packets of {}", *self.packet_size))
                    .at_value(&self.packet_size)
                    .label(format!("from 1 B to {}", Bytes(LARGEST)))
                    .help("Ethernet's are \"1500 B\", InfiniBand's \"4 KiB\""),
            );
        }
        mistakes.extend(self.check_packets_per_message());
        let mut only_for = |written: Option<Diagnostic>, models: &[Model]| {
            if let Some(diagnostic) = written.filter(|_| !models.contains(&self.model)) {
                let names: Vec<String> = models.iter().map(|model| format!("`{model}`")).collect();
                mistakes.push(
                    diagnostic
                        .label(format!("only for {}", names.join(" and ")))
                        .help(format!("leave it out, or write model = \"{}\"", models[0])),
                );
            }
        };
        let model = self.model;
        let unused = |key: &str| Diagnostic::new("unused-option", format!("`{key}` has no meaning for {model}"));
        only_for(self.buffer.as_ref().map(|value| unused("buffer").at_value(value)), &[Model::Iq, Model::Fq]);
        only_for(self.arbitration.as_ref().map(|value| unused("arbitration").at_value(value)), &[Model::Iq]);
        only_for(
            self.deadlock_avoidance.as_ref().map(|value| unused("deadlock-avoidance").at_value(value)),
            &[Model::Iq],
        );
        only_for(self.channels.as_ref().map(|value| unused("channels").at_value(value)), &[Model::Iq]);
        only_for(self.queues.as_ref().map(|value| unused("queues").at_value(value)), &[Model::Iq]);
        only_for(self.head_latency.as_ref().map(|value| unused("head-latency").at_value(value)), &[Model::Iq]);
        if let Some(buffer) = &self.buffer
            && self.model == Model::Iq
            && self.avoidance() == Some(DeadlockAvoidance::LocalBubble)
            && **buffer == Buffer::Packets(1)
        {
            mistakes.push(no_bubble(buffer));
        }
        if let (Some(channels), Some(avoidance)) = (&self.channels, self.avoidance())
            && avoidance != DeadlockAvoidance::Classes
        {
            mistakes.push(
                Diagnostic::new("unused-option", "`channels` are those of deadlock-avoidance = \"classes\"")
                    .at_value(channels)
                    .label("only for classes")
                    .help("leave it out, or write deadlock-avoidance = \"classes\""),
            );
        }
        mistakes
    }

    /// Returns the mistake in `packets-per-message`, if there is one.
    fn check_packets_per_message(&self) -> Option<Diagnostic> {
        let packets = self.packets_per_message.as_ref()?;
        if **packets == 0 {
            let none = Diagnostic::new("wrong-value", "a message of no packets").at_value(packets);
            return Some(none.label("a number from 1 is expected").help("7 is close to small packets, 4 is quicker"));
        }
        // (The default has no place in a text.)
        if *self.packet_size != Bytes::PACKET || self.packet_size.span().is_some() {
            let both = "both `packet-size` and `packets-per-message` set the size of packets";
            let both = Diagnostic::new("unused-option", both).at_value(&self.packet_size);
            return Some(both.label("of no use beside packets-per-message").help("leave one of them out"));
        }
        let head = self.head_latency.as_ref()?;
        let message = "large packets that go on before they are there are further from small ones, not closer";
        let diagnostic = Diagnostic::new("unused-option", message).at_value(head);
        Some(diagnostic.label("not beside packets-per-message").help("leave it out, or take small packets"))
    }

    /// Returns the options with `packet-size` and `buffer` as `packets-per-message` asks for them, for
    /// messages of this mean size \[B\], if that is known.
    #[must_use]
    pub fn for_messages_of(&self, mean: u64) -> Self {
        let Some(packets) = self.packets_per_message.filter(|packets| mean > 0 && **packets > 0) else {
            return self.clone();
        };
        let size = mean.div_ceil(u64::from(*packets)).clamp(1, LARGEST);
        let bubble = self.avoidance() == Some(DeadlockAvoidance::LocalBubble);
        let usual = (self.model == Model::Iq).then(|| Buffer::Packets(if bubble { 4 } else { 2 }).into());
        Self { packet_size: Bytes(size).into(), buffer: self.buffer.or(usual), ..self.clone() }
    }

    /// Returns the mistakes in its options on this fabric under this rule.
    pub fn check_on(&self, fabric: &Fabric, router: &dyn Router) -> Vec<Diagnostic> {
        let mut mistakes = Vec::new();
        if self.model != Model::Iq {
            return mistakes;
        }
        if let Some(channels) = &self.channels {
            let ranks = Steps::ranks(router, fabric);
            let needed = Steps::of(router, fabric, &ranks, &mut |_, _, _, _| ());
            if **channels < needed.max(1) {
                let message = format!("{} cannot keep packets from waiting in a circle", plural(**channels));
                mistakes.push(
                    Diagnostic::new("too-few-channels", message)
                        .at_value(channels)
                        .label(format!("{needed} are needed on `{}` under this rule", fabric.name()))
                        .help(format!("write `channels = {needed}`, or leave it out")),
                );
            }
        }
        mistakes
    }

    /// Returns the buffer of the model.
    pub fn buffer(&self) -> Buffer {
        match (self.model, &self.buffer) {
            (Model::Oq, _) => Buffer::Unlimited,
            (_, Some(buffer)) => **buffer,
            (Model::Iq, None) => Buffer::Packets(8),
            (Model::Fq, None) => Buffer::Packets(2),
        }
    }

    /// Returns the arbitration of `iq`.
    pub fn arbitration(&self) -> Arbitration {
        self.arbitration.map_or(Arbitration::RoundRobin, |value| *value)
    }

    /// Returns the deadlock avoidance of `iq`, if one is asked for.
    pub fn avoidance(&self) -> Option<DeadlockAvoidance> {
        self.deadlock_avoidance.as_ref().map(|value| **value)
    }

    /// Returns the queues of `iq`.
    pub fn queues(&self) -> Queues {
        self.queues.map_or(Queues::Fifo, |value| *value)
    }
}

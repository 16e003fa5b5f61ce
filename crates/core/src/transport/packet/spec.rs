//! `[transport.packet]`: which packet model, with which packets, buffers and arbiters.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::diagnostic::{Diagnostic, Located};
use crate::fabric::Fabric;
use crate::routing::{Router, Steps};
use crate::units::{Bytes, Time};

/// `[transport.packet]`.
#[spec(partial)]
pub struct PacketSpec {
    /// How switches queue packets (default oq).
    pub model: Model,
    /// Bytes of a packet; the last one of a message is what is left (default 1500 B).
    pub packet_size: Located<Bytes>,
    /// Packets of a message of mean size, instead of `packet-size`: one size for all, the mean message divided by this
    /// number; coarse and quick, for messages much longer than what buffers hold. Buffers of iq then hold 2 packets by
    /// default, 4 with local-bubble.
    pub packets_per_message: Option<Located<u32>>,
    /// Packets that fit in a buffer, or "unlimited": iq, of each input port and virtual channel (default 8); fq, of
    /// each message at each hop (default 2); oq has no limit.
    pub buffer: Option<Located<Buffer>>,
    /// Which of several waiting packets goes first, for iq (default round-robin).
    pub arbitration: Option<Located<Arbitration>>,
    /// What keeps packets from waiting for each other in a circle, for iq (default: dateline under dimension-order,
    /// else classes).
    pub deadlock_avoidance: Option<Located<DeadlockAvoidance>>,
    /// Virtual channels of each link, for iq with classes (default: as many as routes need).
    pub channels: Option<Located<u32>>,
    /// How input buffers are divided, for iq (default fifo).
    pub queues: Option<Located<Queues>>,
    /// Cut-through, for iq: a packet may go on this long after its first byte was sent; without, when its last byte is
    /// there; for example "50 ns".
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

/// How switches queue packets.
#[spec(Copy, Eq, Named)]
pub enum Model {
    /// Unlimited first-in-first-out output queues, store and forward.
    Oq,
    /// Input buffers with credits, head-of-line blocking.
    Iq,
    /// Output queues that serve messages in turn.
    Fq,
}

/// Which of several waiting packets goes first.
#[spec(Copy, Eq)]
pub enum Arbitration {
    /// Inputs in turn.
    RoundRobin,
    /// The packet that came to this switch first.
    ArrivalOrder,
    /// The packet whose message was sent first.
    OldestFirst,
}

/// What keeps packets from waiting for each other in a circle.
#[spec(Copy, Eq, Named)]
pub enum DeadlockAvoidance {
    /// A packet enters a ring only where room for one more is left behind it.
    LocalBubble,
    /// Two virtual channels: packets change to the second one where the ring closes.
    Dateline,
    /// Two virtual channels: packets that will cross the link that closes a ring are in the second one from where they
    /// turn into it.
    Turn,
    /// Virtual channels by class: a packet changes to the next one wherever its route does not ascend in the order of
    /// links that the rule or the fabric's family has; on any fabric, under any rule.
    Classes,
    /// Nothing: packets may deadlock, which is reported.
    None,
}

/// How input buffers are divided.
#[spec(Copy, Eq)]
pub enum Queues {
    /// One queue: a packet that waits holds back all behind it.
    Fifo,
    /// A queue for each output, which share the buffer.
    VirtualOutput,
}

/// How many packets fit in a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Buffer {
    /// So many, at least 1.
    Packets(u32),
    /// As many as come.
    Unlimited,
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Buffer {
    /// As a number that counts down: unlimited is more than can ever come.
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
                    Ok(count) if (1..=MOST).contains(&count) => Ok(Buffer::Packets(count)),
                    _ => Err(E::custom(format!("a buffer of {value} packets; write a number from 1 to {MOST}"))),
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

/// The largest limited buffer \[packets\].
const MOST: u32 = 1 << 30;

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Buffer {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Buffer".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": ["integer", "string"],
            "minimum": 1,
            "maximum": MOST,
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

/// The largest packet \[B\].
const LARGEST: u64 = 1 << 30;

impl PacketSpec {
    /// What is wrong with its options.
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

    /// What is wrong with few, large packets.
    fn check_packets_per_message(&self) -> Option<Diagnostic> {
        let packets = self.packets_per_message.as_ref()?;
        if **packets == 0 {
            let none = Diagnostic::new("wrong-value", "a message of no packets").at_value(packets);
            return Some(none.label("a number from 1 is expected").help("7 is close to small packets, 4 is quicker"));
        }
        // (The default has no place.)
        if *self.packet_size != Bytes::PACKET || self.packet_size.span().is_some() {
            let both = "both `packet-size` and `packets-per-message` say how large packets are";
            let both = Diagnostic::new("unused-option", both).at_value(&self.packet_size);
            return Some(both.label("of no use beside packets-per-message").help("leave one of them out"));
        }
        let head = self.head_latency.as_ref()?;
        let message = "large packets that go on before they are there are further from small ones, not closer";
        let diagnostic = Diagnostic::new("unused-option", message).at_value(head);
        Some(diagnostic.label("not beside packets-per-message").help("leave it out, or take small packets"))
    }

    /// The same with `packet-size` and `buffer` as `packets-per-message` asks for them, for messages of this mean size
    /// \[B\], if that is known.
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

    /// What is wrong with its options on this fabric under this rule.
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

    /// The buffer of the model.
    pub fn buffer(&self) -> Buffer {
        match (self.model, &self.buffer) {
            (Model::Oq, _) => Buffer::Unlimited,
            (_, Some(buffer)) => **buffer,
            (Model::Iq, None) => Buffer::Packets(8),
            (Model::Fq, None) => Buffer::Packets(2),
        }
    }

    /// The arbitration of `iq`.
    pub fn arbitration(&self) -> Arbitration {
        self.arbitration.map_or(Arbitration::RoundRobin, |value| *value)
    }

    /// The deadlock avoidance of `iq`, where one is asked for.
    pub fn avoidance(&self) -> Option<DeadlockAvoidance> {
        self.deadlock_avoidance.as_ref().map(|value| **value)
    }

    /// The queues of `iq`.
    pub fn queues(&self) -> Queues {
        self.queues.map_or(Queues::Fifo, |value| *value)
    }
}

//! The models that are held against each other: which there are on a fabric, and what a scenario says to have them.

use crate::diagnostic::Diagnostic;
use crate::network::Network;
use crate::routing::ChannelOrder;
use crate::scenario::Loader;

/// Where a setting of a model comes from, in messages.
const FLAG: &str = "--models, --references";

/// Packets of a mean message of the model `few-packets`.
pub const FEW: u32 = 7;

/// A model that is held against packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Model {
    /// Flows under a sharing policy that has no options.
    Flow(&'static str),
    /// Flows under `blocking`, with the channels of the reference.
    Blocking,
    /// The reference itself with few, large packets.
    FewPackets,
}

/// All of them, as they are written.
pub const MODELS: [(&str, Model); 5] = [
    ("equal-share", Model::Flow("flow:equal-share")),
    ("redistribute", Model::Flow("flow:redistribute")),
    ("max-min", Model::Flow("flow:max-min")),
    ("blocking", Model::Blocking),
    ("few-packets", Model::FewPackets),
];

/// Those that are taken where nothing is said.
pub const USUAL_MODELS: [&str; 4] = ["equal-share", "redistribute", "max-min", "blocking"];

/// What keeps packets in input queues from waiting in a circle, or how their buffers are divided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Avoidance {
    Dateline,
    Turn,
    Bubble,
    Classes,
    Voq,
}

/// A packet model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reference {
    /// Output queues.
    Oq,
    /// A queue for each message.
    Fq,
    /// Input queues.
    Iq(Avoidance),
}

/// All of them, as they are written.
pub const REFERENCES: [(&str, Reference); 7] = [
    ("packet:oq", Reference::Oq),
    ("packet:fq", Reference::Fq),
    ("packet:iq:dateline", Reference::Iq(Avoidance::Dateline)),
    ("packet:iq:turn", Reference::Iq(Avoidance::Turn)),
    ("packet:iq:bubble", Reference::Iq(Avoidance::Bubble)),
    ("packet:iq:classes", Reference::Iq(Avoidance::Classes)),
    ("packet:iq:voq", Reference::Iq(Avoidance::Voq)),
];

/// What a scenario is to say beside all else: a transport, and keys with their values.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Settings {
    pub transport: &'static str,
    pub keys: Vec<(&'static str, String)>,
}

impl Settings {
    /// The texts with them.
    pub fn on(&self, loader: Loader) -> Loader {
        let set = |loader: Loader, (key, value): &(&str, String)| loader.set(FLAG, &format!("{key}={value}"));
        self.keys.iter().fold(loader.transport(self.transport), set)
    }
}

impl Reference {
    /// As it is written.
    pub fn name(self) -> &'static str {
        REFERENCES.iter().find(|(_, reference)| *reference == self).map_or("", |(name, _)| name)
    }

    /// Whether there are such switches on this fabric: rings have ways of their own, all else has classes.
    pub fn applies(self, network: &Network) -> bool {
        let rings = has_rings(network);
        match self {
            Self::Oq | Self::Fq | Self::Iq(Avoidance::Voq) => true,
            Self::Iq(Avoidance::Classes) => !rings,
            Self::Iq(_) => rings,
        }
    }

    /// Whether its buffers hold as many packets as is said.
    pub fn has_buffer(self) -> bool {
        matches!(self, Self::Iq(_))
    }

    /// What a scenario says for it.
    pub fn settings(self, network: &Network, buffer: Option<&str>, packets_per_message: Option<u32>) -> Settings {
        let mut keys = Vec::new();
        let transport = match self {
            Self::Oq => "packet:oq",
            Self::Fq => "packet:fq",
            Self::Iq(avoidance) => {
                let word = match avoidance {
                    Avoidance::Dateline => Some("dateline"),
                    Avoidance::Turn => Some("turn"),
                    Avoidance::Bubble => Some("local-bubble"),
                    Avoidance::Classes => None,
                    Avoidance::Voq => has_rings(network).then_some("dateline"),
                };
                keys.extend(word.map(|word| ("transport.packet.deadlock-avoidance", word.to_owned())));
                if avoidance == Avoidance::Voq {
                    keys.push(("transport.packet.queues", "virtual-output".to_owned()));
                }
                keys.extend(buffer.map(|packets| ("transport.packet.buffer", packets.to_owned())));
                "packet:iq"
            }
        };
        keys.extend(packets_per_message.map(|packets| ("transport.packet.packets-per-message", packets.to_string())));
        Settings { transport, keys }
    }

    /// The channels of `blocking` that stand for it, where it has a choice of them.
    fn channels(self, network: &Network) -> Option<&'static str> {
        match self {
            Self::Iq(Avoidance::Voq) => Some("voq"),
            _ if !has_rings(network) => None,
            Self::Iq(Avoidance::Turn) => Some("turn"),
            Self::Iq(Avoidance::Bubble) => Some("bubble"),
            Self::Iq(_) | Self::Oq | Self::Fq => Some("dateline"),
        }
    }
}

impl Model {
    /// Returns what a scenario says for it beside this reference, in messages of `mean_bytes`, and the channels that it
    /// has; none where it would be the reference itself.
    pub fn settings(
        self,
        network: &Network,
        reference: Reference,
        packets_per_message: Option<u32>,
        mean_bytes: u64,
    ) -> Option<(Settings, Option<&'static str>)> {
        match self {
            Self::Flow(transport) => Some((Settings { transport, keys: Vec::new() }, None)),
            Self::Blocking => {
                let channels = reference.channels(network);
                let rings = channels.map(|word| ("sharing.blocking.channels", word.to_owned()));
                let packet = packets_per_message.map(|packets| {
                    ("sharing.blocking.packet-size", format!("\"{} B\"", mean_bytes.div_ceil(packets.into())))
                });
                let keys = rings.into_iter().chain(packet).collect();
                let settings = Settings { transport: "flow:blocking", keys };
                Some((settings, Some(channels.unwrap_or("classes"))))
            }
            // Its buffers are its own, in packets of its size.
            Self::FewPackets => {
                (packets_per_message != Some(FEW)).then(|| (reference.settings(network, None, Some(FEW)), None))
            }
        }
    }
}

/// Whether routes go along rings, in which packets could wait in a circle.
fn has_rings(network: &Network) -> bool {
    network.router.channel_order() == ChannelOrder::Rings && !network.fabric.family().rings().is_empty()
}

/// The models of a list, or those that are usual.
pub fn models(names: &[String]) -> Result<Vec<(&'static str, Model)>, Vec<Diagnostic>> {
    let usual: Vec<String> = USUAL_MODELS.map(str::to_owned).to_vec();
    chosen(if names.is_empty() { &usual } else { names }, &MODELS, "--models: unknown model")
}

/// The references of a list, each by its name or by the beginning of it (`packet:iq`); all where none is named.
pub fn references(names: &[String]) -> Result<Vec<(&'static str, Reference)>, Vec<Diagnostic>> {
    let all = ["packet".to_owned()];
    chosen(if names.is_empty() { &all } else { names }, &REFERENCES, "--references: unknown packet model")
}

/// What is named, each once, in the order of the list of all.
fn chosen<T: Copy>(
    names: &[String],
    all: &[(&'static str, T)],
    what: &str,
) -> Result<Vec<(&'static str, T)>, Vec<Diagnostic>> {
    let is_meant =
        |known: &str, name: &str| known == name || known.strip_prefix(name).is_some_and(|rest| rest.starts_with(':'));
    let unknown = names.iter().filter(|name| !all.iter().any(|(known, _)| is_meant(known, name)));
    let words: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
    let mistakes: Vec<Diagnostic> = unknown
        .map(|name| {
            let message = format!("{what} `{name}`");
            Diagnostic::new("unknown-choice", message).help(format!("those are {}", words.join(", ")))
        })
        .collect();
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    Ok(all.iter().filter(|(known, _)| names.iter().any(|name| is_meant(known, name))).copied().collect())
}

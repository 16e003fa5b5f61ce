//! Models that are compared: which of them apply to a fabric, and the keys that select them in a scenario.

use crate::diagnostic::Diagnostic;
use crate::network::Network;
use crate::routing::ChannelOrder;
use crate::scenario::Loader;

/// Source of the settings of a model, for messages.
const FLAG: &str = "--models, --references";

/// Packets of a mean message of the model `few-packets`.
pub const FEW_PACKETS: u32 = 7;

/// Model that is compared with packet models.
#[derive(Clone, Copy, Debug)]
pub struct Model {
    /// Name of the model.
    pub name: &'static str,
    kind: ModelKind,
    /// Estimated processor time of a message \[s\].
    pub seconds_a_message: f64,
    /// True if the model is compared by default.
    is_usual: bool,
}

#[derive(Clone, Copy, Debug)]
enum ModelKind {
    /// Flows under a sharing policy that has no options.
    Flow(&'static str),
    /// Flows under `blocking`, with the channels of the reference.
    Blocking,
    /// The reference itself with few, large packets.
    FewPackets,
}

/// All models.
const MODELS: [Model; 5] = [
    Model::new("equal-share", ModelKind::Flow("flow:equal-share"), 1e-6),
    Model::new("redistribute", ModelKind::Flow("flow:redistribute"), 10e-6),
    Model::new("max-min", ModelKind::Flow("flow:max-min"), 5e-6),
    Model::new("blocking", ModelKind::Blocking, 15e-6),
    Model { is_usual: false, ..Model::new("few-packets", ModelKind::FewPackets, 0.0) },
];

/// Packet model that serves as a reference.
#[derive(Clone, Copy, Debug)]
pub struct Reference {
    /// Name of the reference.
    pub name: &'static str,
    transport: &'static str,
    /// True if such switches exist only where routes go along rings, false if only elsewhere.
    rings: Option<bool>,
    /// Rule by which packets in input queues along rings avoid waiting in a cycle.
    avoidance: Option<&'static str>,
    /// True if input queues have virtual output queues, one for each output.
    has_virtual_outputs: bool,
    /// Channels of `blocking` that represent this reference along rings, and with virtual output queues
    /// everywhere.
    channels: &'static str,
    /// Measured packet hops per second (docs/concepts/packets.md).
    pub speed: f64,
}

/// Input queues.
const IQ: Reference = Reference {
    name: "packet:iq",
    transport: "packet:iq",
    rings: None,
    avoidance: Some("dateline"),
    has_virtual_outputs: false,
    channels: "dateline",
    speed: 10e6,
};

/// All references.
const REFERENCES: [Reference; 7] = [
    Reference { name: "packet:oq", transport: "packet:oq", avoidance: None, speed: 33e6, ..IQ },
    Reference { name: "packet:fq", transport: "packet:fq", avoidance: None, speed: 18e6, ..IQ },
    Reference { name: "packet:iq:dateline", rings: Some(true), ..IQ },
    Reference { name: "packet:iq:turn", rings: Some(true), avoidance: Some("turn"), channels: "turn", ..IQ },
    Reference {
        name: "packet:iq:bubble",
        rings: Some(true),
        avoidance: Some("local-bubble"),
        channels: "bubble",
        ..IQ
    },
    Reference { name: "packet:iq:classes", rings: Some(false), ..IQ },
    Reference { name: "packet:iq:voq", has_virtual_outputs: true, channels: "voq", ..IQ },
];

/// Settings of a scenario for one model: a transport, and keys with their values.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Settings {
    pub transport: &'static str,
    pub keys: Vec<(&'static str, String)>,
}

impl Settings {
    /// Returns the loader with these settings.
    pub fn on(&self, loader: Loader) -> Loader {
        let set = |loader: Loader, (key, value): &(&str, String)| loader.set(FLAG, &format!("{key}={value}"));
        // Settings of other models are for those.
        let (transport, sharing) = self.transport.split_once(':').unwrap_or((self.transport, ""));
        let loader = loader.for_choice("transport", transport, |_| true);
        let loader = if transport == "flow" { loader.for_choice("sharing", sharing, |_| true) } else { loader };
        self.keys.iter().fold(loader.transport(self.transport), set)
    }
}

impl Reference {
    /// Returns true if such switches exist on this fabric: some only where routes go along rings, some only
    /// elsewhere.
    pub fn applies(self, network: &Network) -> bool {
        self.rings.is_none_or(|rings| rings == has_rings(network))
    }

    /// Returns true if the user sets the number of packets of its buffers.
    pub fn has_buffer(self) -> bool {
        self.transport == IQ.transport
    }

    /// Returns the settings that select this reference.
    pub fn settings(self, network: &Network, buffer: Option<&str>, packets_per_message: Option<u32>) -> Settings {
        let avoidance = self.avoidance.filter(|_| has_rings(network));
        let queues = self.has_virtual_outputs.then_some("virtual-output");
        let buffer = buffer.filter(|_| self.has_buffer());
        let settings = [
            ("transport.packet.deadlock-avoidance", avoidance.map(str::to_owned)),
            ("transport.packet.queues", queues.map(str::to_owned)),
            ("transport.packet.buffer", buffer.map(str::to_owned)),
            ("transport.packet.packets-per-message", packets_per_message.map(|packets| packets.to_string())),
        ];
        let keys = settings.into_iter().filter_map(|(key, value)| Some((key, value?))).collect();
        Settings { transport: self.transport, keys }
    }
}

impl Model {
    const fn new(name: &'static str, kind: ModelKind, seconds_a_message: f64) -> Self {
        Self { name, kind, seconds_a_message, is_usual: true }
    }

    /// Returns true if the model is the reference itself with few, large packets.
    pub fn is_packets(self) -> bool {
        matches!(self.kind, ModelKind::FewPackets)
    }

    /// Returns the settings that select this model against this reference, for messages of `mean_bytes`, and
    /// its channels. Returns `None` if the model would be the reference itself.
    pub fn settings(
        self,
        network: &Network,
        reference: Reference,
        packets_per_message: Option<u32>,
        mean_bytes: u64,
    ) -> Option<(Settings, Option<&'static str>)> {
        match self.kind {
            ModelKind::Flow(transport) => Some((Settings { transport, keys: Vec::new() }, None)),
            ModelKind::Blocking => {
                let has_choice = reference.has_virtual_outputs || has_rings(network);
                let channels = has_choice.then_some(reference.channels);
                let rings = channels.map(|word| ("sharing.blocking.channels", word.to_owned()));
                let packet = packets_per_message.map(|packets| {
                    ("sharing.blocking.packet-size", format!("\"{} B\"", mean_bytes.div_ceil(packets.into())))
                });
                let keys = rings.into_iter().chain(packet).collect();
                let settings = Settings { transport: "flow:blocking", keys };
                Some((settings, Some(channels.unwrap_or("classes"))))
            }
            // Its buffers are counted in its own large packets.
            ModelKind::FewPackets => (packets_per_message != Some(FEW_PACKETS))
                .then(|| (reference.settings(network, None, Some(FEW_PACKETS)), None)),
        }
    }
}

/// Returns true if routes go along rings, in which packets could wait in a cycle.
fn has_rings(network: &Network) -> bool {
    network.router.channel_order() == ChannelOrder::Rings && !network.fabric.family().rings().is_empty()
}

/// Returns the models of a list, or the default ones if the list is empty.
pub fn models(names: &[String]) -> Result<Vec<Model>, Vec<Diagnostic>> {
    let usual = |model: &Model| names.is_empty() && model.is_usual;
    chosen(names, &MODELS, |model| model.name, usual, "--models: unknown model")
}

/// Returns the references of a list, each by its name or the beginning of it (`packet:iq`); all if the list
/// is empty.
pub fn references(names: &[String]) -> Result<Vec<Reference>, Vec<Diagnostic>> {
    let usual = |_: &Reference| names.is_empty();
    chosen(names, &REFERENCES, |reference| reference.name, usual, "--references: unknown packet model")
}

/// Returns the named or default entries, each once, in the order of the list of all.
fn chosen<T: Copy>(
    names: &[String],
    all: &[T],
    name_of: fn(&T) -> &'static str,
    is_usual: impl Fn(&T) -> bool,
    what: &str,
) -> Result<Vec<T>, Vec<Diagnostic>> {
    let is_meant = |one: &T, name: &String| {
        name_of(one).strip_prefix(name.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
    };
    let unknown = names.iter().filter(|name| !all.iter().any(|one| is_meant(one, name)));
    let words: Vec<&str> = all.iter().map(name_of).collect();
    let mistakes: Vec<Diagnostic> = unknown
        .map(|name| {
            let message = format!("{what} `{name}`");
            Diagnostic::new("unknown-choice", message).help(format!("those are {}", words.join(", ")))
        })
        .collect();
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let is_named = |one: &&T| is_usual(one) || names.iter().any(|name| is_meant(one, name));
    Ok(all.iter().filter(is_named).copied().collect())
}

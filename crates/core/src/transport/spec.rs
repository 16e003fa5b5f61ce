//! Transport of a scenario: `[transport.flow]` and so on.

use std::sync::Arc;

use super::flow::FlowSpec;
use super::packet::PacketSpec;
use super::{Built, ContentionFree, Metered, Packets, Transport, flow_transport};
use crate::diagnostic::Diagnostic;
use crate::fabric::Fabric;
use crate::placement::Placement;
use crate::routing::Router;
use crate::sharing::SharingSpec;
use crate::workload::Load;

/// Transport: model of how messages move.
#[spec]
pub enum TransportSpec {
    /// Each message is a flow that shares links with other flows (the default). Any key below needs
    /// `equal-share` or `max-min` (with another solver than `groups`).
    Flow(FlowSpec),
    /// Each message is a train of packets that queue for links.
    Packet(PacketSpec),
    /// Messages do not affect each other: latencies plus bytes over the narrowest link.
    ContentionFree(ContentionFreeSpec),
}

/// `[transport.contention-free]`: no options.
#[spec(Default)]
pub struct ContentionFreeSpec {}

impl Default for TransportSpec {
    fn default() -> Self {
        Self::Flow(FlowSpec::default())
    }
}

impl TransportSpec {
    /// True for the default.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// True if messages are flows, so that the sharing policy matters.
    pub fn is_flow(&self) -> bool {
        matches!(self, Self::Flow(_))
    }

    /// True if messages are flows that only unmodified links hold back: no factors, weights, windows or
    /// traffic on the way back.
    pub fn is_plain_flow(&self) -> bool {
        matches!(self, Self::Flow(spec) if spec.is_plain())
    }

    /// True if messages may take several paths under this sharing policy: split
    /// ([`EntryOptions::parts`](super::EntryOptions::parts)), or packet by packet.
    pub fn takes_splits(&self, sharing: &SharingSpec) -> bool {
        match self {
            Self::Flow(_) => sharing.refuses_terms().is_none(),
            Self::ContentionFree(_) => true,
            Self::Packet(_) => true,
        }
    }

    /// Returns the reason why links cannot change while messages are under way; `None` if they can.
    pub fn refuses_changes(&self, sharing: &SharingSpec) -> Option<&'static str> {
        match self {
            Self::Flow(_) => sharing.refuses_changes(),
            Self::Packet(_) => Some("packets are on links that stay as they are"),
            Self::ContentionFree(_) => Some("it works out when a message arrives when it starts"),
        }
    }

    /// Returns the reason why the culprits of lost time cannot be told; `None` if they can.
    pub fn refuses_parties(&self, sharing: &SharingSpec) -> Option<&'static str> {
        match self {
            Self::Flow(_) => sharing.refuses_parties(),
            Self::Packet(_) => Some("packets wait in queues in which nobody notes whose packets are in front"),
            Self::ContentionFree(_) => None,
        }
    }

    /// True if it uses the mean size of messages, which may require a look at all of them.
    pub fn wants_mean_bytes(&self) -> bool {
        matches!(self, Self::Packet(spec) if spec.packets_per_message.is_some())
    }

    /// Returns its name as on the command line: `flow`, `packet:oq`, `contention-free`.
    pub fn name(&self) -> String {
        match self {
            Self::Flow(_) => "flow".to_owned(),
            Self::Packet(spec) => format!("packet:{}", spec.model),
            Self::ContentionFree(_) => "contention-free".to_owned(),
        }
    }

    /// Returns the mistakes in its options.
    pub fn check(&self) -> Vec<Diagnostic> {
        match self {
            Self::Packet(spec) => spec.check(),
            Self::Flow(spec) => spec.check(),
            Self::ContentionFree(_) => Vec::new(),
        }
    }

    /// Builds the transport on this fabric, for ranks in these places and a load with these known properties.
    /// It measures losses between parties unless it [refuses](Self::refuses_parties), and time lost on links
    /// as far as it can.
    pub fn build(
        &self,
        fabric: &Fabric,
        router: &Arc<dyn Router>,
        placement: &Placement,
        sharing: &SharingSpec,
        load: Load,
        metered: Metered<'_>,
    ) -> Box<dyn Transport> {
        self.build_known(fabric, router, placement, sharing, load, metered).boxed()
    }

    /// Builds the transport by its concrete type.
    pub fn build_known(
        &self,
        fabric: &Fabric,
        router: &Arc<dyn Router>,
        placement: &Placement,
        sharing: &SharingSpec,
        load: Load,
        metered: Metered<'_>,
    ) -> Built {
        match self {
            Self::Flow(spec) => flow_transport(fabric, &**router, placement, spec, sharing, load, metered),
            Self::Packet(spec) => {
                let spec = spec.for_messages_of(load.mean_bytes);
                Built::Other(Box::new(Packets::new(fabric, router, &spec, load.departures)))
            }
            Self::ContentionFree(_) => Built::Other(Box::new(ContentionFree::new(fabric))),
        }
    }
}

//! Transport: how long a message is under way, given all others.
//!
//! | transport | a message is | what holds it back |
//! |---|---|---|
//! | [`Flows`] | a flow with a rate | its share of the links it crosses |
//! | [`GroupFlows`] | the same | the same, for all at once that share a bottleneck |
//! | [`CrowdedFlows`] | the same | the same, one by one or all at once, whichever is faster at the time |
//! | [`FlowsOnTerms`] | the same | the same, with weights, windows and traffic on the way back |
//! | [`BlockingFlows`] | the same | queues at inputs that wait for each other, back to its source |
//! | [`Packets`] | packets in queues | the packets in front of each |
//! | [`ContentionFree`] | alone | nothing but latencies and its narrowest link |

mod contention_free;
mod flow;
pub mod packet;
mod spec;

pub use contention_free::ContentionFree;
pub use flow::{
    BlockingFlows, Built, CrowdedFlows, FlowSpec, Flows, FlowsOnTerms, GroupFlows, Weights, flow_transport,
};
pub use packet::{PacketSpec, Packets};
pub use spec::{ContentionFreeSpec, TransportSpec};

use std::sync::Arc;

use crate::ids::{FlowId, IdVec, LinkId, RankId};
use crate::routing::{Path, Start};
use crate::sharing::Rounds;
use crate::units::{Bandwidth, Time};

/// A message that starts to move.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Its number among those under way.
    pub flow: FlowId,
    /// Its sender.
    pub src: RankId,
    /// Its links, each named once.
    pub links: &'a [LinkId],
    /// Its bytes, more than 0 \[B\].
    pub bytes: u64,
    /// What few messages have.
    pub more: &'a More<'a>,
}

/// What few messages have: parts, a weight, a way back.
#[derive(Clone, Copy, Debug)]
pub struct More<'a> {
    /// The part of the message that crosses each link; empty where all of it does.
    pub parts: &'a [f64],
    /// Its weight; 1 unless [`Wants::weights`].
    pub weight: f64,
    /// The links from its receiver to its sender; empty unless [`Wants::ways_back`], and where there is no way.
    pub way_back: &'a [LinkId],
    /// Set where its packets ask for their ways, only where [`Wants::to_ask`].
    pub asks: Option<Start>,
}

impl More<'static> {
    /// Nothing of it.
    pub const NONE: Self = Self { parts: &[], weight: 1.0, way_back: &[], asks: None };
}

impl<'a> Entry<'a> {
    /// Creates a message that crosses all of these links.
    #[inline]
    pub fn new(flow: FlowId, links: &'a [LinkId], bytes: u64) -> Self {
        Self { flow, src: RankId(0), links, bytes, more: &More::NONE }
    }

    /// Returns its links, with the part of it on each.
    pub fn crossed(&self) -> impl Iterator<Item = (LinkId, f64)> + Clone + 'a {
        let parts = self.more.parts;
        self.links.iter().enumerate().map(move |(hop, &link)| (link, parts.get(hop).copied().unwrap_or(1.0)))
    }
}

/// What a transport wants to know of messages, since it takes time to find out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wants {
    /// Ways back.
    pub ways_back: bool,
    /// Weights.
    pub weights: bool,
    /// Set where it asks for ways itself, packet by packet, where the rule chooses.
    pub to_ask: bool,
}

/// Moves messages over links.
///
/// The engine starts messages, lets the transport work out what that changes, asks when the next one arrives, and
/// collects those that have arrived by then.
pub trait Transport {
    /// Whether the transport itself lets the latencies of the links pass, link by link. If not, the engine lets their
    /// sum pass before [`Transport::start`].
    fn spends_latency(&self) -> bool {
        false
    }

    /// How many times the latency of its route a message waits, where the engine lets latencies pass.
    fn latency_factor(&self) -> f64 {
        1.0
    }

    /// Returns what it wants to know of a message beside sender, links and bytes.
    fn wants(&self) -> Wants {
        Wants::default()
    }

    /// How long this message would be under way with the network to itself, where that is not latencies plus bytes
    /// over the least capacity.
    fn alone(&self, route: &[LinkId], bytes: u64) -> Option<Time> {
        let _ = (route, bytes);
        None
    }

    /// Lets a message start to move, at the time of the next [`Transport::settle`]. It has arrived when all of it has.
    ///
    /// A transport that knows no parts ([`TransportSpec::takes_splits`]) moves all of the message over each link, which
    /// takes too long: scenarios refuse it.
    fn start(&mut self, entry: &Entry<'_>);

    /// Writes the links that the packets of a message have crossed, which asked and has arrived, and the part of it on
    /// each.
    fn way(&mut self, flow: FlowId, bytes: u64, path: &mut Path) {
        let _ = (flow, bytes, path);
    }

    /// A link has another capacity from the time of the next [`Transport::settle`] on.
    ///
    /// Transports whose links stay as they are ([`TransportSpec::refuses_changes`]) do not take it: scenarios refuse
    /// it.
    fn set_capacity(&mut self, link: LinkId, capacity: Bandwidth) {
        unreachable!("link {link} is to carry {capacity:?}, and this transport's links stay as they are");
    }

    /// A message that has started is no longer under way, and will not arrive; only where links may change.
    fn cancel(&mut self, flow: FlowId) {
        unreachable!("message {flow} is to stop, and this transport's links stay as they are");
    }

    /// Works out what the starts and arrivals since the last call change, as of `now`.
    fn settle(&mut self, now: Time);

    /// When the next message arrives, if nothing starts before; [`Time::NEVER`] if none does.
    ///
    /// Nothing starts before `horizon`, the next event that the engine knows of. So a transport with events of its own
    /// may go through them up to there, and stops at the first arrival. It may also stop without one, for the engine
    /// to look around: then it says where it is, and [`Transport::arrived`] gives nothing.
    fn next_arrival(&mut self, horizon: Time) -> Time;

    /// Takes out the messages that have arrived by `until`, in no particular order.
    fn arrived(&mut self, until: Time, flows: &mut Vec<FlowId>);

    /// After an arrival: the message that will probably arrive next and the one after it, where it is worth the while
    /// to ask for what is kept of them now.
    fn expected(&self) -> Option<[FlowId; 2]> {
        None
    }

    /// Takes out the messages whose last byte has left the sending node since the last call. A transport that knows no
    /// such moment before the arrival gives nothing: then a message has left when it has arrived.
    fn departed(&mut self, flows: &mut Vec<FlowId>) {
        let _ = flows;
    }

    /// Asked when nothing moves any more: the channels that wait for each other, if messages are still under way.
    fn gridlock(&self) -> Option<Gridlock> {
        None
    }

    /// What it knows of the run, asked at its end.
    fn facts(&self) -> Facts {
        Facts::default()
    }
}

/// What a transport knows of a run, beside when messages arrived.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Facts {
    /// What each link did, where that is more than the number of messages on it.
    pub ports: Option<IdVec<LinkId, PortUse>>,
    /// Packets that have crossed a link, where messages are packets.
    pub packet_hops: Option<u64>,
    /// Rounds of redistribution, where the sharing policy has them.
    pub rounds: Option<Rounds>,
    /// By [party](Parties), row after row: what its messages have lost to those of each other party \[s\], where that
    /// was asked for.
    pub lost: Option<Vec<f64>>,
    /// Time that messages lost on each link \[s\], where that was asked for and is known.
    pub delays: Option<IdVec<LinkId, f64>>,
}

/// Measurement of the time that messages lose to each other.
#[derive(Clone, Copy, Debug)]
pub enum Metered<'a> {
    /// Nothing.
    Nothing,
    /// Time lost on each link ([`Facts::delays`]).
    Links,
    /// Time that each party loses to each other ([`Facts::lost`]).
    Parties(&'a Arc<Parties>),
}

/// Which messages belong together, of those that are asked how much time they lose to each other.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Parties {
    /// By rank that sends: the party.
    pub of: Vec<u32>,
    /// How many there are.
    pub count: u32,
    /// Set if what messages lose to others of their own party is measured, too.
    pub counts_own: bool,
}

/// Packets that wait for each other in a circle, so that none of them ever moves again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Gridlock {
    /// When the last packet moved.
    pub at: Time,
    /// Packets in buffers and sources that cannot move.
    pub packets: u64,
    /// The circle: the buffer behind each channel is full of packets whose first waits for the next channel.
    pub cycle: Vec<Channel>,
}

/// A link, or one of the virtual channels that share it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Channel {
    /// The link.
    pub link: LinkId,
    /// The virtual channel; 0 where there is only one.
    pub lane: u16,
}

/// What the port in front of a link did.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct PortUse {
    /// How long the link was sending \[ps\].
    pub busy: Time,
    /// The most packets that waited at once for the link, messages not yet injected apart.
    pub peak_queue: u32,
    /// Packets that waited, summed over time \[ps\].
    pub queue_time: f64,
    /// How long the link stood still although packets waited for it, for want of room behind it \[ps\].
    pub blocked: Time,
}

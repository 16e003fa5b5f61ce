//! Transport: how long a message is under way, given all others.
//!
//! | transport | a message is | held back by |
//! |---|---|---|
//! | [`Flows`] | a flow with a rate | its share of the links it crosses |
//! | [`GroupFlows`] | a flow with a rate | its share, computed by groups of flows with the same bottleneck |
//! | [`CrowdedFlows`] | a flow with a rate | its share, computed by flows or by groups, as is faster at the time |
//! | [`FlowsOnTerms`] | a flow with a rate | its share, with weights, windows and traffic on the way back |
//! | [`BlockingFlows`] | a flow with a rate | queues at inputs that wait for each other, back to its source |
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
use crate::routing::{Path, StartingMessage};
use crate::sharing::Rounds;
use crate::units::{Bandwidth, Time};

/// Message that starts to move.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Its number among the messages under way.
    pub flow: FlowId,
    /// Sender.
    pub src: RankId,
    /// Its links, each named once.
    pub links: &'a [LinkId],
    /// Its bytes, more than 0 \[B\].
    pub bytes: u64,
    /// Properties that few messages have.
    pub options: &'a EntryOptions<'a>,
}

/// Properties that few messages have: parts, a weight, a way back.
#[derive(Clone, Copy, Debug)]
pub struct EntryOptions<'a> {
    /// Part of the message that crosses each link; empty if all of it crosses each.
    pub parts: &'a [f64],
    /// Weight; 1 unless [`Wants::weights`].
    pub weight: f64,
    /// Links from its receiver to its sender; empty unless [`Wants::ways_back`], and if there is no path.
    pub way_back: &'a [LinkId],
    /// Set if each of its packets asks for its path, unless the entry has links; only with [`Wants::to_ask`].
    pub asks: Option<StartingMessage>,
}

impl EntryOptions<'static> {
    /// No such properties.
    pub const NONE: Self = Self { parts: &[], weight: 1.0, way_back: &[], asks: None };
}

impl<'a> Entry<'a> {
    /// Creates a message that crosses all of these links.
    #[inline]
    pub fn new(flow: FlowId, links: &'a [LinkId], bytes: u64) -> Self {
        Self { flow, src: RankId(0), links, bytes, options: &EntryOptions::NONE }
    }

    /// Returns its links, with the part of it on each.
    pub fn crossed(&self) -> impl Iterator<Item = (LinkId, f64)> + Clone + 'a {
        let parts = self.options.parts;
        self.links.iter().enumerate().map(move |(hop, &link)| (link, parts.get(hop).copied().unwrap_or(1.0)))
    }
}

/// Properties of messages that a transport asks for, since they take time to find out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wants {
    /// Set if it asks for ways back.
    pub ways_back: bool,
    /// Set if it asks for weights.
    pub weights: bool,
    /// Set if it asks for paths itself, packet by packet, under a rule that chooses paths.
    pub to_ask: bool,
}

/// Number of messages that are expected to arrive soon, whose data is prefetched.
pub const EXPECTED: usize = 8;

/// Moves messages over links.
///
/// The engine starts messages, lets the transport compute the effects, asks when the next one arrives, and
/// collects those that have arrived by then.
pub trait Transport {
    /// True if the transport itself lets the latencies of the links pass, link by link. If not, the engine
    /// lets their sum pass before [`Transport::start`].
    fn spends_latency(&self) -> bool {
        false
    }

    /// Returns the factor on the latency of its route that a message waits for, if the engine lets latencies
    /// pass.
    fn latency_factor(&self) -> f64 {
        1.0
    }

    /// Returns the properties of a message that it asks for, beside sender, links and bytes.
    fn wants(&self) -> Wants {
        Wants::default()
    }

    /// Returns the time that this message would be under way with the network to itself, if that is not
    /// latencies plus bytes over the least capacity.
    fn alone(&self, route: &[LinkId], bytes: u64) -> Option<Time> {
        let _ = (route, bytes);
        None
    }

    /// Starts a message at the time of the next [`Transport::settle`]. It has arrived when all of it has.
    ///
    /// A transport that knows no parts ([`TransportSpec::takes_splits`]) moves all of the message over each
    /// link, which takes too long: scenarios refuse it.
    fn start(&mut self, entry: &Entry<'_>);

    /// Writes the links that the packets of an arrived message have crossed, and its part on each, if its
    /// packets asked for their paths.
    fn way(&mut self, flow: FlowId, bytes: u64, path: &mut Path) {
        let _ = (flow, bytes, path);
    }

    /// Changes the capacity of a link from the time of the next [`Transport::settle`] on.
    ///
    /// Transports with constant links ([`TransportSpec::refuses_changes`]) do not support this: scenarios
    /// refuse it.
    fn set_capacity(&mut self, link: LinkId, capacity: Bandwidth) {
        unreachable!("link {link} is to carry {capacity:?}, and this transport's links stay as they are");
    }

    /// Cancels a message that has started: it will not arrive. Only called where links may change.
    fn cancel(&mut self, flow: FlowId) {
        unreachable!("message {flow} is to stop, and this transport's links stay as they are");
    }

    /// Computes the effects, as of `now`, of the starts and arrivals since the last call.
    fn settle(&mut self, now: Time);

    /// Returns the time at which the next message arrives if nothing starts before; [`Time::NEVER`] if none
    /// does.
    ///
    /// Nothing starts before `horizon`, the next event that the engine knows of. So a transport with events
    /// of its own may process them up to there, and stops at the first arrival. It may also stop without an
    /// arrival, so that the engine can look around: then it returns the time that it has reached, and
    /// [`Transport::arrived`] gives nothing.
    fn next_arrival(&mut self, horizon: Time) -> Time;

    /// Takes out the messages that have arrived by `until`, in no particular order.
    fn arrived(&mut self, until: Time, flows: &mut Vec<FlowId>);

    /// Returns messages that will arrive soon after an arrival, the first three in order, if prefetching
    /// their data pays.
    fn expected(&self) -> Option<[FlowId; EXPECTED]> {
        None
    }

    /// Prefetches data of the links of a message that will probably start after this number of others: the
    /// links, then what is on them.
    fn expect_on(&self, route: &[LinkId], after: usize) {
        let _ = (route, after);
    }

    /// Takes out the messages whose last byte has left the sending node since the last call. A transport that
    /// knows no such moment before the arrival gives nothing: then a message has left when it has arrived.
    fn departed(&mut self, flows: &mut Vec<FlowId>) {
        let _ = flows;
    }

    /// Returns the channels that wait for each other, if messages are still under way when nothing moves any
    /// more.
    fn gridlock(&self) -> Option<Gridlock> {
        None
    }

    /// Returns the facts about the run that it knows; called at the end.
    fn facts(&self) -> Facts {
        Facts::default()
    }
}

/// Facts about a run that a transport knows, beside arrival times.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Facts {
    /// Use of each link, if the transport knows more than the number of messages on it.
    pub ports: Option<IdVec<LinkId, PortUse>>,
    /// Number of links that packets have crossed, summed over packets; `None` if messages are not packets.
    pub packet_hops: Option<u64>,
    /// Rounds of redistribution, if the sharing policy has them.
    pub rounds: Option<Rounds>,
    /// By [party](Parties), row after row: the time that its messages have lost to those of each other party
    /// \[s\], if that was asked for.
    pub lost: Option<Vec<f64>>,
    /// Time that messages lost on each link \[s\], if that was asked for and is known.
    pub delays: Option<IdVec<LinkId, f64>>,
}

/// Measurement of the time that messages lose to each other.
#[derive(Clone, Copy, Debug)]
pub enum Metered<'a> {
    /// No measurement.
    Nothing,
    /// Time lost on each link ([`Facts::delays`]).
    Links,
    /// Time lost on each link if the messages of a rank stand for this many, by rank.
    Classes(&'a [f64]),
    /// Time that each party loses to each other ([`Facts::lost`]).
    Parties(&'a Arc<Parties>),
}

/// Parties of messages, between which lost time is measured.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Parties {
    /// By sending rank: its party.
    pub of: Vec<u32>,
    /// Number of parties.
    pub count: u32,
    /// Set if the time that messages lose to others of their own party is measured, too.
    pub counts_own: bool,
}

/// Packets that wait for each other in a circle, so that none of them ever moves again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Gridlock {
    /// Time at which the last packet moved.
    pub at: Time,
    /// Number of packets in buffers and sources that cannot move.
    pub packets: u64,
    /// The circle: the buffer behind each channel is full of packets whose first waits for the next channel.
    pub cycle: Vec<Channel>,
}

/// Link, or one of the virtual channels that share it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Channel {
    /// The link.
    pub link: LinkId,
    /// Virtual channel; 0 if there is only one.
    pub lane: u16,
}

/// Use of the port in front of a link.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct PortUse {
    /// Time that the link was sending \[ps\].
    pub busy: Time,
    /// Largest number of packets that waited at once for the link, without messages that are not yet
    /// injected.
    pub peak_queue: u32,
    /// Number of waiting packets, integrated over time \[ps\].
    pub queue_time: f64,
    /// Time that the link stood still for lack of room behind it, although packets waited \[ps\].
    pub blocked: Time,
}

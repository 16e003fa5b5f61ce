//! The rates of the messages of a first step, with all of them under way at once.

use std::borrow::Cow;

use serde::Serialize;

use crate::fabric::Fabric;
use crate::ids::{FlowId, IdVec, LinkId, MessageId, NodeId, RankId};
use crate::network::{Network, NetworkParts};
use crate::pattern::{Injection, Message, Pattern};
use crate::routing::{ChoiceKind, Path, StartingMessage, UnderWay, may_lack_routes};
use crate::sharing::Sharing;
use crate::transport::{Entry, EntryOptions, FlowsOnTerms, Transport, TransportSpec};
use crate::units::Time;

/// Rate of one message while all messages of the first step are under way.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rate {
    /// Sending rank.
    pub src: u32,
    /// Receiving rank.
    pub dst: u32,
    /// Rate \[B/s\]; infinite (`null` in JSON) for a message that crosses no link.
    #[serde(rename = "rate_Bps")]
    pub rate_bps: f64,
    /// Name of the bottleneck link of the message, if it has one; one of several equal ones.
    pub bottleneck: Option<String>,
}

/// A rate \[B/s\] with its bottleneck link, if it has one.
type LimitedRate = (f64, Option<LinkId>);

/// Kind of sharing between messages.
enum RateSharing {
    /// Flows that only links limit.
    Plain(Box<dyn Sharing>),
    /// Flows that are split or have terms of their own.
    OnTerms(Box<FlowsOnTerms>),
    /// No sharing.
    Alone,
}

impl RateSharing {
    fn new(network: &Network, weighted: bool) -> Self {
        let NetworkParts { fabric, router, transport, sharing, .. } = &**network;
        let uneven = weighted || router.choice().is_some_and(|choice| choice.kind() == ChoiceKind::Split);
        let on_terms = match transport {
            TransportSpec::ContentionFree(_) => return Self::Alone,
            TransportSpec::Flow(spec) if uneven || fabric.limits_messages() || !transport.is_plain_flow() => {
                FlowsOnTerms::new(fabric, &**router, spec, sharing)
            }
            TransportSpec::Flow(_) | TransportSpec::Packet(_) => None,
        };
        let plain = || sharing.build(fabric.shared_capacities());
        on_terms.map_or_else(|| Self::Plain(plain()), |flows| Self::OnTerms(Box::new(flows)))
    }

    /// Starts a message of this size and weight; `number` counts the messages that share links.
    fn start(&mut self, number: u32, network: &Network, ends: (NodeId, NodeId), path: &Path, size: (u64, f64)) {
        match self {
            Self::Plain(sharing) => sharing.add(number, &path.links.iter().map(|link| link.0).collect::<Vec<_>>()),
            Self::OnTerms(flows) => {
                let mut way_back = Vec::new();
                if flows.wants().ways_back {
                    network.router.route(ends.1, ends.0, &mut way_back);
                }
                let entry = Entry::new(FlowId(number), &path.links, size.0);
                flows.start(&Entry {
                    options: &EntryOptions { parts: &path.parts, weight: size.1, way_back: &way_back, asks: None },
                    ..entry
                });
            }
            Self::Alone => {}
        }
    }

    fn settle(&mut self) {
        match self {
            Self::Plain(sharing) => sharing.solve(&mut Vec::new()),
            Self::OnTerms(flows) => flows.settle(Time::ZERO),
            Self::Alone => {}
        }
    }

    /// Returns the rate of a message \[B/s\] and its bottleneck link; `None` without sharing.
    fn rate(&self, number: u32) -> Option<LimitedRate> {
        match self {
            Self::Plain(sharing) => Some((sharing.rate(number), sharing.bottleneck(number).map(LinkId))),
            Self::OnTerms(flows) => Some((flows.rate(FlowId(number)), flows.bottleneck(FlowId(number)))),
            Self::Alone => None,
        }
    }
}

/// Returns the rate of a message alone \[B/s\] and the link that limits it.
fn rate_alone(fabric: &Fabric, path: &Path) -> LimitedRate {
    let parts = match path.parts.is_empty() {
        true => Cow::Owned(vec![1.0; path.links.len()]),
        false => Cow::Borrowed(&path.parts[..]),
    };
    let rates = path.links.iter().zip(parts.iter());
    let rates = rates.map(|(&link, part)| (fabric.link(link).capacity.bytes_per_second() / part, Some(link)));
    rates.fold((f64::INFINITY, None), |least, rate| if rate.0 < least.0 { rate } else { least })
}

/// Returns the rates, on this network, of all messages that the injection rule releases at the start.
pub fn rates(pattern: &dyn Pattern, injection: Injection, network: &Network) -> Vec<Rate> {
    let NetworkParts { fabric, router, placement, .. } = &**network;
    let plan = pattern.plan();
    let mut shared = RateSharing::new(network, plan.is_some_and(|plan| plan.is_weighted()));
    let mut on_links: UnderWay = IdVec::filled(fabric.links().len(), 0);
    let mut messages: Vec<(RankId, Message, Option<u32>, LimitedRate)> = Vec::new();
    let (mut path, mut under_way) = (Path::default(), 0);
    let asks = network.faults_concern_runs() || may_lack_routes(fabric, &**router);
    for src in (0..pattern.ranks()).map(RankId) {
        for (index, message) in (0..).zip(first_messages(pattern, injection, src)) {
            let id = MessageId { src, index };
            let (from, to) = (placement[src], placement[message.dst]);
            let (mut number, mut least) = (None, (f64::INFINITY, None));
            let given = network.plan.as_ref().map_or(&[][..], |plan| plan.path(id));
            if asks && given.is_empty() && !router.reaches(from, to) {
                least = (0.0, None);
            } else if from != to && message.bytes > 0 {
                path.clear();
                match router.choice() {
                    _ if !given.is_empty() => path.links.extend_from_slice(given),
                    None => router.route(from, to, &mut path.links),
                    Some(choice) => {
                        let start = StartingMessage { src: from, dst: to, message: id };
                        choice.choose(start, &on_links, &mut path);
                        path.links.iter().for_each(|&link| on_links[link] += 1);
                    }
                }
                least = rate_alone(fabric, &path);
                let size = (message.bytes, plan.map_or(1.0, |plan| plan.weight(id)));
                shared.start(under_way, network, (from, to), &path, size);
                number = Some(under_way);
                under_way += 1;
            }
            messages.push((src, message, number, least));
        }
    }
    shared.settle();
    let rate = |(src, message, number, least): (RankId, Message, Option<u32>, LimitedRate)| {
        let (rate_bps, link) = number.and_then(|number| shared.rate(number)).unwrap_or(least);
        Rate { src: src.0, dst: message.dst.0, rate_bps, bottleneck: link.map(|link| fabric.link_name(link)) }
    };
    messages.into_iter().map(rate).collect()
}

/// Returns the messages of a rank that the injection rule releases at the start.
fn first_messages(pattern: &dyn Pattern, injection: Injection, src: RankId) -> impl Iterator<Item = Message> {
    let count = pattern.sends(src);
    let (limit, every_step) = match injection {
        Injection::All => (count, true),
        Injection::Window(window) => (count.min(window), true),
        Injection::Queue | Injection::SendRecv | Injection::Barrier | Injection::Left => (count, false),
    };
    let messages = (0..limit).map(move |index| pattern.message(src, index));
    messages.take_while(move |message| every_step || message.step == 0)
}

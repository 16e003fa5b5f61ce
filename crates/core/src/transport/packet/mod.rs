//! Packet-level transport: messages as trains of packets that queue for links.
//!
//! | model | packets wait | goes first | close to |
//! |---|---|---|---|
//! | `oq` | at the output, without limit | the first to come | ns-3's point-to-point devices |
//! | `iq` | at the input, in buffers with credits | inputs in turn | BookSim, most real switches |
//! | `fq` | at the output, a few packets of each message | messages in turn | max-min flows |
//!
//! A message of b bytes is cut into packets of `packet-size`; the last one has the rest. They follow the
//! message's route, or each asks for a path of its own if the rule chooses paths. A packet of s bytes keeps a
//! link of capacity c busy for `s / c`, and is at its other end a latency later. Time is integer, so packets
//! that take the same time everywhere stay in step for ever.
//!
//! Events happen in order of time, and those of one time in the order in which they were scheduled. When a
//! link has sent its packet, it first starts its next one, and then the finished one is handed on. When a
//! message arrives, its sender's next message starts before anything else happens. So the transport stops at
//! every arrival: the workload's answer takes its place in that order.

mod asking;
#[cfg(test)]
mod asking_tests;
#[cfg(test)]
mod channel_tests;
mod clock;
mod fair_packets;
mod fq;
mod iq;
mod lanes;
mod meter;
mod net;
mod oq;
mod pending;
mod spec;
mod switching;
#[cfg(test)]
mod tests;
mod turn;
mod ways;
mod wheel;

use std::sync::Arc;

use crate::fabric::Fabric;
use crate::ids::{FlowId, LinkId};
use crate::routing::{Path, Router};
use crate::units::Time;

use super::{Entry, Facts, Gridlock, PortUse, Transport, Wants};
use fair_packets::FairPackets;
use fq::FairQueues;
use iq::InputQueues;
use net::Net;
use oq::OutputQueues;
use switching::Switching;

#[cfg(feature = "simulator")]
#[doc(hidden)]
pub use net::{MOST_PLACES, places};
pub use spec::{Arbitration, Buffer, DeadlockAvoidance, Model, PacketSpec, Queues};

/// Largest number of events between two looks of the engine, if no message arrives.
const EVENTS_PER_LOOK: u32 = 1 << 16;

/// Messages as packets.
#[derive(Debug)]
pub struct Packets {
    net: Net,
    switches: Switches,
    /// Messages that start with the next `settle`.
    started: Vec<(FlowId, u64)>,
}

/// Model of the switches.
#[derive(Debug)]
enum Switches {
    Oq(Box<OutputQueues<false>>),
    Iq(Box<InputQueues<false>>),
    Fq(Box<FairQueues>),
    /// Output queues, for packets that choose their own paths.
    OqAsks(Box<OutputQueues<true>>),
    IqAsks(Box<InputQueues<true>>),
    FqAsks(Box<FairPackets>),
}

/// Evaluates an expression with the model in use.
macro_rules! with_model {
    ($switches:expr, $model:ident => $does:expr) => {
        match $switches {
            Switches::Oq($model) => $does,
            Switches::Iq($model) => $does,
            Switches::Fq($model) => $does,
            Switches::OqAsks($model) => $does,
            Switches::IqAsks($model) => $does,
            Switches::FqAsks($model) => $does,
        }
    };
}

impl Packets {
    /// Creates the transport of this fabric, with nothing under way; packets follow the rule. `departures`:
    /// the times are needed at which messages have left their senders.
    pub fn new(fabric: &Fabric, router: &Arc<dyn Router>, spec: &PacketSpec, departures: bool) -> Self {
        let net = Net::new(fabric, router, spec, departures);
        let switches = match (spec.model, net.asking.is_some()) {
            (Model::Oq, false) => Switches::Oq(Box::new(OutputQueues::new(&net))),
            (Model::Oq, true) => Switches::OqAsks(Box::new(OutputQueues::new(&net))),
            (Model::Iq, false) => Switches::Iq(Box::new(InputQueues::new(fabric, &**router, spec, &net))),
            (Model::Iq, true) => Switches::IqAsks(Box::new(InputQueues::new(fabric, &**router, spec, &net))),
            (Model::Fq, false) => Switches::Fq(Box::new(FairQueues::new(spec, &net))),
            (Model::Fq, true) => Switches::FqAsks(Box::new(FairPackets::new(spec, &net))),
        };
        Self { net, switches, started: Vec::new() }
    }

    /// Returns the model, for rare calls.
    fn switching(&self) -> &dyn Switching {
        with_model!(&self.switches, model => &**model)
    }
}

/// Processes the events up to `limit`, the first arrival or departure, or [`EVENTS_PER_LOOK`].
fn run(model: &mut impl Switching, net: &mut Net, limit: u64) -> Time {
    for _ in 0..EVENTS_PER_LOOK {
        let Some(event) = net.pending.pop(limit) else { return Time::NEVER };
        net.now = event.time;
        if model.handle(net, event) {
            break;
        }
    }
    net.clock.time(net.now)
}

impl Transport for Packets {
    fn spends_latency(&self) -> bool {
        true
    }

    fn alone(&self, route: &[LinkId], bytes: u64) -> Option<Time> {
        let head = match &self.switches {
            Switches::Iq(model) => model.head(),
            Switches::IqAsks(model) => model.head(),
            Switches::Oq(_) | Switches::Fq(_) | Switches::OqAsks(_) | Switches::FqAsks(_) => None,
        };
        Some(self.net.alone(route, bytes, head))
    }

    fn wants(&self) -> Wants {
        Wants { to_ask: self.net.asking.is_some(), ..Wants::default() }
    }

    fn start(&mut self, entry: &Entry<'_>) {
        match entry.options.asks {
            Some(start) => self.net.begin(entry.flow.0, start, entry.links, entry.bytes),
            None => self.net.set_route(entry.flow.0, entry.links),
        }
        self.started.push((entry.flow, entry.bytes));
    }

    fn way(&mut self, flow: FlowId, bytes: u64, path: &mut Path) {
        self.net.way_of(flow.0, bytes, path);
    }

    fn settle(&mut self, now: Time) {
        if self.started.is_empty() {
            return;
        }
        self.net.set_now(now);
        for (flow, bytes) in self.started.drain(..) {
            with_model!(&mut self.switches, model => model.launch(&mut self.net, flow.0, bytes));
        }
    }

    fn next_arrival(&mut self, horizon: Time) -> Time {
        // The very last tick stands for times that cannot be counted.
        let limit = self.net.clock.at_or_before(horizon).min(u64::MAX - 1);
        with_model!(&mut self.switches, model => run(&mut **model, &mut self.net, limit))
    }

    fn arrived(&mut self, _until: Time, flows: &mut Vec<FlowId>) {
        flows.extend(self.net.arrivals.drain(..).map(FlowId));
    }

    fn departed(&mut self, flows: &mut Vec<FlowId>) {
        flows.extend(self.net.departures.drain(..).map(FlowId));
    }

    fn gridlock(&self) -> Option<Gridlock> {
        let gridlock = self.switching().gridlock(&self.net)?;
        // Events later than can be counted are no standstill.
        let cycle = if self.net.pending.is_empty() { gridlock.cycle } else { Vec::new() };
        Some(Gridlock { cycle, ..gridlock })
    }

    fn facts(&self) -> Facts {
        let net = &self.net;
        let port = |link: usize| {
            let ticks = self.switching().port(net, link);
            let time = |ticks| net.clock.time(ticks);
            PortUse {
                busy: time(ticks.busy),
                peak_queue: ticks.peak_queue,
                queue_time: ticks.queue_time * time(1).ps(),
                blocked: time(ticks.blocked),
            }
        };
        let ports = Some((0..net.links.len()).map(port).collect());
        Facts { ports, packet_hops: Some(net.hops), ..Facts::default() }
    }
}

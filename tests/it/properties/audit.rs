//! A transport that checks every step of the flows inside it, and a workload of messages at arbitrary times.

use std::collections::BTreeMap;

use hayase::fabric::Fabric;
use hayase::ids::{FlowId, LinkId, MessageId, RankId, WakeId};
use hayase::sharing::SharingSpec;
use hayase::transport::{Entry, Flows, Transport};
use hayase::units::Time;
use hayase::workload::{Blocked, Requests, SendRequest, Workload};

use super::oracle::Problem;

/// Relative tolerance of all rates.
const EXACT: f64 = 1e-9;

/// Threshold of the redistribution. Not 0.01: a gain can meet that exactly, and then rounding decides.
pub const THRESHOLD: f64 = 0.010_137;

/// A flow seen from outside.
struct AuditedFlow {
    route: Vec<LinkId>,
    bytes: f64,
    /// Bytes transferred up to the last look, at the reported rates.
    through: f64,
    /// Reported rate \[B/s\].
    rate: f64,
}

/// Audited flows: the bytes of each flow are summed up from the rates, and all rates are checked after every
/// change.
pub struct Audit<'a> {
    flows: Flows,
    fabric: &'a Fabric,
    sharing: &'a SharingSpec,
    under_way: BTreeMap<FlowId, AuditedFlow>,
    looked: Time,
    pub arrivals: u32,
}

impl<'a> Audit<'a> {
    pub fn new(flows: Flows, fabric: &'a Fabric, sharing: &'a SharingSpec) -> Self {
        Self { flows, fabric, sharing, under_way: BTreeMap::new(), looked: Time::ZERO, arrivals: 0 }
    }

    /// Moves bytes at the present rates until a time.
    fn pass(&mut self, until: Time) {
        let seconds = (until - self.looked).seconds();
        for flow in self.under_way.values_mut() {
            flow.through += flow.rate * seconds;
        }
        self.looked = until;
    }

    fn check(&self) {
        let capacities: Vec<f64> = self.fabric.links().iter().map(|link| link.capacity.bytes_per_second()).collect();
        let mut loads = vec![0.0; capacities.len()];
        let mut fastest = vec![0.0f64; capacities.len()];
        for flow in self.under_way.values() {
            for link in &flow.route {
                loads[link.0 as usize] += flow.rate;
                fastest[link.0 as usize] = fastest[link.0 as usize].max(flow.rate);
            }
        }
        for (link, (load, capacity)) in loads.iter().zip(&capacities).enumerate() {
            assert!(*load <= capacity * (1.0 + EXACT), "link {link} carries {load} of {capacity}");
        }
        if matches!(self.sharing, SharingSpec::MaxMin(_)) {
            for (id, flow) in &self.under_way {
                let holds = |link: &&LinkId| {
                    let link = link.0 as usize;
                    loads[link] >= capacities[link] * (1.0 - EXACT) && fastest[link] <= flow.rate * (1.0 + EXACT)
                };
                assert!(flow.route.iter().find(holds).is_some(), "nothing holds flow {id} back at {}", flow.rate);
            }
        }
        let flows = self.under_way.values().map(|flow| flow.route.iter().map(|link| link.0).collect()).collect();
        let problem = Problem { capacities, flows };
        let expected = match self.sharing {
            SharingSpec::MaxMin(_) => problem.max_min(),
            SharingSpec::EqualShare(_) => problem.equal_share(),
            SharingSpec::Redistribute(_) => problem.redistribute(THRESHOLD),
            SharingSpec::Blocking(_) => unreachable!("its rates are those of queues"),
        };
        for ((id, flow), expected) in self.under_way.iter().zip(expected) {
            assert!((flow.rate - expected).abs() <= EXACT * expected, "flow {id}: {}, not {expected}", flow.rate);
        }
    }
}

impl Transport for Audit<'_> {
    fn start(&mut self, entry: &Entry<'_>) {
        // It moves from the next `settle` on.
        let seen = AuditedFlow { route: entry.links.to_vec(), bytes: entry.bytes as f64, through: 0.0, rate: 0.0 };
        assert!(self.under_way.insert(entry.flow, seen).is_none(), "{} is under way already", entry.flow);
        self.flows.start(entry);
    }

    fn settle(&mut self, now: Time) {
        self.pass(now.max(self.looked));
        self.flows.settle(now);
        for (id, flow) in &mut self.under_way {
            flow.rate = self.flows.rate(*id);
        }
        self.check();
    }

    fn next_arrival(&mut self, horizon: Time) -> Time {
        self.flows.next_arrival(horizon)
    }

    fn arrived(&mut self, until: Time, flows: &mut Vec<FlowId>) {
        self.pass(until.max(self.looked));
        let before = flows.len();
        self.flows.arrived(until, flows);
        for id in &flows[before..] {
            let flow = self.under_way.remove(id).expect("what arrives was under way");
            // An instant has a width: this many bytes may be missing or too many.
            let blur = flow.rate * until.seconds() * 1e-12;
            let error = (flow.through - flow.bytes).abs();
            assert!(error <= EXACT * flow.bytes + blur, "{} of {} bytes of {id} arrived", flow.through, flow.bytes);
            self.arrivals += 1;
        }
        // The remaining flows have bytes left.
        for (id, flow) in &self.under_way {
            assert!(flow.through <= flow.bytes * (1.0 + EXACT), "{id} should have arrived");
        }
    }
}

/// A message of a script: receiver, size, and time after the previous one \[ps\].
#[derive(Clone, Copy, Debug)]
pub struct ScriptedMessage {
    pub dst: u32,
    pub bytes: u64,
    pub gap: f64,
}

/// Workload of ranks that send at given times, whether or not earlier messages have arrived.
pub struct Script {
    lines: Vec<Vec<ScriptedMessage>>,
    next: Vec<u32>,
    pub delivered: Vec<(MessageId, Time)>,
}

impl Script {
    pub fn new(lines: Vec<Vec<ScriptedMessage>>) -> Self {
        Self { next: vec![0; lines.len()], lines, delivered: Vec::new() }
    }
}

impl Workload for Script {
    fn ranks(&self) -> u32 {
        self.lines.len() as u32
    }

    fn messages(&self) -> u64 {
        self.lines.iter().map(|lines| lines.len() as u64).sum()
    }

    fn begin(&mut self, requests: &mut Requests) {
        for (rank, lines) in self.lines.iter().enumerate() {
            if let Some(line) = lines.first() {
                requests.wakes.push((Time::from_ps(line.gap), WakeId(rank as u32)));
            }
        }
    }

    fn delivered(&mut self, now: Time, messages: &[SendRequest], _: &mut Requests) {
        self.delivered.extend(messages.iter().map(|send| (send.id, now)));
    }

    fn woke(&mut self, now: Time, wake: WakeId, requests: &mut Requests) {
        let rank = RankId(wake.0);
        let index = self.next[rank.0 as usize];
        let lines = &self.lines[rank.0 as usize];
        let ScriptedMessage { dst, bytes, .. } = lines[index as usize];
        requests.sends.push(SendRequest { id: MessageId { src: rank, index }, dst: RankId(dst), bytes });
        self.next[rank.0 as usize] += 1;
        if let Some(line) = lines.get(index as usize + 1) {
            requests.wakes.push((now + Time::from_ps(line.gap), wake));
        }
    }

    fn blocked(&self) -> Vec<Blocked> {
        Vec::new()
    }
}

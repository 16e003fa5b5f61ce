//! Simulated steady traffic: the throughput of nodes that always have something to send.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::diagnostic::Diagnostic;
use crate::engine::{Progress, Stop, Watch};
use crate::fabric::Fabric;
use crate::ids::{IdVec, MessageId, NodeId, RankId, WakeId};
use crate::network::{Network, NetworkParts};
use crate::rng::Mix;
use crate::routing::Demand;
use crate::sharing::{MaxMinSpec, SharingSpec, Solver};
use crate::steady::{Traffic, check_routes};
use crate::units::Time;
use crate::workload::{Blocked, Load, Requests, SendRequest, Workload};

/// Options for measuring steady traffic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SteadyOptions {
    /// Number of messages that each node keeps under way: it sends the next when one of them has been
    /// delivered.
    pub under_way: u32,
    /// Size of a message \[B\].
    pub bytes: u64,
    /// Number of rounds before measuring starts. In a round as many messages are delivered as are under way.
    pub warm_up: u32,
    /// Number of rounds that are measured, in [`SteadyOptions::BATCHES`] batches.
    pub rounds: u32,
    /// Seed of the random destinations and of random traffic.
    pub seed: u64,
}

impl SteadyOptions {
    /// Number of batches whose means give the error of the overall mean.
    pub const BATCHES: u32 = 10;
    /// Largest number of messages of a node under way.
    pub const MOST_UNDER_WAY: u32 = 4096;
    /// Largest number of messages of all nodes under way.
    pub const MOST_MESSAGES: u64 = 50_000_000;
}

impl Default for SteadyOptions {
    fn default() -> Self {
        Self { under_way: 64, bytes: 1_000_000, warm_up: 10, rounds: 20, seed: 1 }
    }
}

/// Result of simulated steady traffic.
#[report]
pub struct Steady {
    /// Fraction of its bandwidth that a node sends: the mean over sending nodes and over the measured time.
    pub throughput: f64,
    /// Half the width of its 95 % confidence interval, from the means of batches.
    pub half_width: f64,
    /// Fraction of its bandwidth that the slowest sender sends.
    pub slowest_node: f64,
    /// Mean over senders, by batch.
    pub batches: Vec<f64>,
    /// Number of messages that each node kept under way.
    pub under_way: u32,
    /// Number of messages delivered in the measured time.
    pub messages: u64,
    /// Measured time \[s\].
    pub measured_s: f64,
}

/// Simulates steady traffic in a closed loop and measures the throughput of the nodes.
///
/// Every sending node keeps k messages of s bytes under way, each to a destination drawn in the proportions
/// of the traffic. The first k messages have the sizes `(j + 1/2) s / k` (j = 0 .. k - 1), as if they had
/// been under way before.
///
/// A *round* is as many deliveries as there are messages under way. After the rounds of warming up,
/// deliveries are counted in batches of equal numbers. With the time T of a batch and the total bandwidth
/// D(i) that node i could send
/// ```text
/// throughput = sum of bytes delivered / (T sum over i of D(i))      the mean over batches
/// half width = t(0.975, B - 1) s_B / sqrt(B)                        s_B: their standard deviation, B batches
/// ```
/// This is less than the throughput by load counting, because links are idle at times. A link that all nodes
/// together can just fill is a queue in a closed network. With m messages under way over it on average it is
/// idle for `1 / (m + 1)` of the time (product form, one such link on a path; `docs/concepts/bounds.md`).
///
/// Ranks are nodes: the placement of the network is ignored.
///
/// Source: A. Law, "Simulation Modeling and Analysis" (batch means); W. Gordon, G. Newell, "Closed queuing
/// systems with exponential servers", Operations Research 15 (1967) 254.
///
/// # Errors
/// Traffic does not fit the fabric, pairs have no route, the rule cannot route messages, packets wait for
/// each other, or the watch stopped the run.
pub fn steady(
    network: &Network,
    traffic: &Traffic,
    options: &SteadyOptions,
    watch: Option<&dyn Watch>,
) -> Result<Steady, Diagnostic> {
    let fabric = &*network.fabric;
    let demands = traffic.demands(fabric, &*network.router, options.seed)?;
    demands.iter().try_for_each(|demand| check_routes(fabric, &*network.router, demand))?;
    check(fabric, options)?;
    let done = AtomicBool::new(false);
    let mut traffic = SteadyTraffic::new(&demands, fabric.nodes(), options, &done);
    if traffic.senders.is_empty() {
        return Ok(traffic.measured());
    }
    if traffic.senders.len() as u64 * u64::from(options.under_way) > SteadyOptions::MOST_MESSAGES {
        let message = format!("{} messages of each of {} nodes", options.under_way, traffic.senders.len());
        return Err(Diagnostic::new("too-many-under-way", format!("{message} are too many to be under way at once"))
            .help(format!("at most {} in all", SteadyOptions::MOST_MESSAGES)));
    }
    let until = UntilMeasured { done: &done, watch };
    // Groups work for flows on one path, over links that do not change.
    let may_group = !network.router.splits() && !fabric.limits_messages() && network.events().is_none();
    let sharing = if may_group { by_groups(&network.sharing) } else { network.sharing.clone() };
    let parts = NetworkParts { placement: fabric.node_ids().collect(), sharing, ..network.parts() };
    let network = parts.build().map_err(|invalid| invalid.diagnostics[0].clone())?;
    let outcome = network.simulate(&mut traffic, &mut (), Some(&until));
    match outcome.stop {
        Stop::Interrupted if done.load(Ordering::Relaxed) => Ok(traffic.measured()),
        Stop::Interrupted => Err(Diagnostic::new("interrupted", "ended before the traffic was measured")),
        Stop::Gridlock(_) => Err(Diagnostic::new("gridlock", "packets of steady traffic wait for each other")
            .help("take a transport or a routing rule without deadlock, or measure flows")),
        Stop::Done | Stop::Deadlock(_) => Ok(traffic.measured()),
    }
}

/// Returns the same policy with the solver by groups, if the solver is left open, because many messages share
/// each bottleneck link. Rates are the same; on 72 nodes under Valiant with 64 messages of each node under
/// way, it takes a fourteenth of the time.
fn by_groups(sharing: &SharingSpec) -> SharingSpec {
    match sharing {
        SharingSpec::MaxMin(spec) if spec.solver == Solver::Auto => {
            SharingSpec::MaxMin(MaxMinSpec { solver: Solver::Groups })
        }
        other => other.clone(),
    }
}

fn check(fabric: &Fabric, options: &SteadyOptions) -> Result<(), Diagnostic> {
    let number = |code, name: &str, value: u64, most: u64| {
        let message = format!("{value} is no {name}");
        let wrong = !(1..=most).contains(&value);
        if wrong { Err(Diagnostic::new(code, message).help(format!("write 1 to {most}"))) } else { Ok(()) }
    };
    let (under_way, most) = (options.under_way.into(), SteadyOptions::MOST_UNDER_WAY.into());
    number("too-many-under-way", "number of messages under way", under_way, most)?;
    number("wrong-value", "size of steady messages", options.bytes, 1 << 50)?;
    if options.rounds < SteadyOptions::BATCHES {
        let message = format!("{} rounds are fewer than {} batches", options.rounds, SteadyOptions::BATCHES);
        return Err(
            Diagnostic::new("too-few-rounds", message).help(format!("write {} or more", SteadyOptions::BATCHES))
        );
    }
    match fabric.nodes() {
        0 => Err(Diagnostic::new("no-nodes", "a fabric without nodes has no traffic")),
        _ => Ok(()),
    }
}

/// A watch that stops the run when everything is measured, or when another watch stops it.
struct UntilMeasured<'a> {
    done: &'a AtomicBool,
    watch: Option<&'a dyn Watch>,
}

impl Watch for UntilMeasured<'_> {
    fn tick(&self, progress: Progress) -> bool {
        !self.done.load(Ordering::Relaxed) && self.watch.is_none_or(|watch| watch.tick(progress))
    }
}

/// Deliveries within the current batch.
#[derive(Default)]
struct Batch {
    begin: Time,
    messages: u64,
    bytes: u64,
}

/// Nodes that always have something to send.
struct SteadyTraffic<'a> {
    /// Traffic, in parts of one kind each.
    demands: &'a [Demand],
    options: &'a SteadyOptions,
    draws: Mix,
    nodes: u32,
    senders: Vec<RankId>,
    /// Total rate that all senders could send \[B/s\].
    wanted: f64,
    /// Number of messages sent by each rank.
    sent: IdVec<RankId, u32>,
    /// Bytes of each sender delivered in the measured time \[B\].
    delivered_bytes: IdVec<RankId, u64>,
    /// Rate that each rank could send \[B/s\].
    send_bandwidths: IdVec<RankId, f64>,
    /// Rate that each rank could send, by part of the traffic \[B/s\].
    send_bandwidths_of: Vec<IdVec<RankId, f64>>,
    /// Number of deliveries so far.
    delivered: u64,
    batch: Batch,
    /// Number of deliveries in finished batches.
    measured: u64,
    /// Begin and end of the measured time.
    span: (Time, Time),
    batches: Vec<f64>,
    done: &'a AtomicBool,
}

impl<'a> SteadyTraffic<'a> {
    fn new(demands: &'a [Demand], nodes: u32, options: &'a SteadyOptions, done: &'a AtomicBool) -> Self {
        let send_bandwidths = |demand: &Demand| demand.totals(nodes).into_iter().map(|(sends, _)| sends).collect();
        let send_bandwidths_of: Vec<IdVec<RankId, f64>> = demands.iter().map(send_bandwidths).collect();
        let sum = |rank: RankId| send_bandwidths_of.iter().map(|of| of[rank]).sum();
        let send_bandwidths: IdVec<RankId, f64> = (0..nodes).map(|rank| sum(RankId(rank))).collect();
        Self {
            senders: send_bandwidths.ids().filter(|&rank| send_bandwidths[rank] > 0.0).collect(),
            wanted: send_bandwidths.iter().sum(),
            demands,
            send_bandwidths_of,
            options,
            draws: Mix::new(options.seed, "throughput.steady"),
            nodes,
            sent: IdVec::filled(nodes as usize, 0),
            delivered_bytes: IdVec::filled(nodes as usize, 0),
            send_bandwidths,
            delivered: 0,
            batch: Batch::default(),
            measured: 0,
            span: (Time::ZERO, Time::ZERO),
            batches: Vec::new(),
            done,
        }
    }

    /// Returns the number of messages under way.
    fn round(&self) -> u64 {
        self.senders.len() as u64 * u64::from(self.options.under_way)
    }

    /// Returns the number of deliveries in a batch, and that before the first batch.
    fn parts(&self) -> (u64, u64) {
        let batches = u64::from(SteadyOptions::BATCHES);
        (self.round() * u64::from(self.options.rounds) / batches, self.round() * u64::from(self.options.warm_up))
    }

    /// Returns the destination of a message of a rank. `unit` is a random number in `[0, 1)`, which selects
    /// the part of the traffic and the destination within it.
    fn destination(&self, src: RankId, unit: f64) -> Option<NodeId> {
        let (last, parts) = self.demands.split_last()?;
        let mut ahead = unit * self.send_bandwidths[src];
        for (demand, send_bandwidths) in parts.iter().zip(&self.send_bandwidths_of) {
            if ahead < send_bandwidths[src] {
                return demand.drawn(NodeId(src.0), ahead / send_bandwidths[src]);
            }
            ahead -= send_bandwidths[src];
        }
        let rest = if parts.is_empty() { unit } else { ahead / self.send_bandwidths_of[parts.len()][src] };
        // (Rounding may have given 1, which is not a valid draw.)
        last.drawn(NodeId(src.0), rest.min(1.0 - f64::EPSILON))
    }

    fn send(&mut self, src: RankId, bytes: u64, requests: &mut Requests) {
        let index = self.sent[src];
        let draw = self.draws.two_unit(u64::from(src.0), u64::from(index));
        if let Some(dst) = self.destination(src, draw) {
            self.sent[src] = index.wrapping_add(1);
            requests.sends.push(SendRequest { id: MessageId { src, index }, dst: RankId(dst.0), bytes });
        }
    }

    fn measured(&self) -> Steady {
        let count = self.batches.len().max(1) as f64;
        let mean = self.batches.iter().sum::<f64>() / count;
        let squares: f64 = self.batches.iter().map(|value| (value - mean) * (value - mean)).sum();
        let freedom = (count - 1.0).max(1.0);
        let seconds = (self.span.1 - self.span.0).seconds();
        let of_rank = |&rank: &RankId| self.delivered_bytes[rank] as f64 / (seconds * self.send_bandwidths[rank]);
        let of_senders = self.senders.iter().map(of_rank);
        let nothing_sent = self.senders.is_empty();
        Steady {
            throughput: if nothing_sent { 1.0 } else { mean },
            half_width: student(freedom) * (squares / freedom / count).sqrt(),
            slowest_node: if nothing_sent { 1.0 } else { of_senders.fold(f64::INFINITY, f64::min) },
            batches: self.batches.clone(),
            under_way: self.options.under_way,
            messages: self.measured,
            measured_s: seconds,
        }
    }
}

impl Workload for SteadyTraffic<'_> {
    fn ranks(&self) -> u32 {
        self.nodes
    }

    /// Returns more messages than are sent, since the run is stopped from outside.
    fn messages(&self) -> u64 {
        let (batch, before) = self.parts();
        before + batch * u64::from(SteadyOptions::BATCHES) + self.round() + 1
    }

    fn load(&self) -> Load {
        Load { one_at_a_time: self.options.under_way == 1, ..Load::default() }
    }

    fn begin(&mut self, requests: &mut Requests) {
        let k = u64::from(self.options.under_way);
        for at in 0..self.senders.len() {
            for j in 0..k {
                let bytes = u128::from(self.options.bytes) * u128::from(2 * j + 1) / u128::from(2 * k);
                self.send(self.senders[at], (bytes as u64).max(1), requests);
            }
        }
    }

    fn delivered(&mut self, now: Time, messages: &[SendRequest], requests: &mut Requests) {
        if self.done.load(Ordering::Relaxed) {
            // Remaining messages drain until the engine calls the watch.
            return;
        }
        let (batch, before) = self.parts();
        let measuring = self.delivered >= before;
        self.delivered += messages.len() as u64;
        for message in messages {
            if measuring {
                self.batch.messages += 1;
                self.batch.bytes += message.bytes;
                self.delivered_bytes[message.id.src] += message.bytes;
            }
            self.send(message.id.src, self.options.bytes, requests);
        }
        // Messages that arrive at one instant belong to one batch.
        let seconds = (now - self.batch.begin).seconds();
        if !measuring {
            self.batch.begin = now;
            self.span = (now, now);
        } else if self.batch.messages >= batch && seconds > 0.0 {
            self.batches.push(self.batch.bytes as f64 / (seconds * self.wanted));
            self.measured += self.batch.messages;
            self.batch = Batch { begin: now, ..Batch::default() };
            self.span.1 = now;
        }
        if self.batches.len() == SteadyOptions::BATCHES as usize {
            requests.sends.clear();
            self.done.store(true, Ordering::Relaxed);
        }
    }

    fn woke(&mut self, _: Time, _: WakeId, _: &mut Requests) {}

    fn blocked(&self) -> Vec<Blocked> {
        Vec::new()
    }
}

/// Returns the 0.975 quantile of Student's distribution with `freedom` degrees of freedom, to 1e-2 from 3 on.
///
/// Source: M. Abramowitz, I. Stegun, "Handbook of Mathematical Functions", 26.7.5.
fn student(freedom: f64) -> f64 {
    let z = 1.959_963_984_540_054_f64;
    let (z3, z5, z7) = (z * z * z, z * z * z * z * z, z * z * z * z * z * z * z);
    z + (z3 + z) / (4.0 * freedom)
        + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * freedom * freedom)
        + (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / (384.0 * freedom * freedom * freedom)
}

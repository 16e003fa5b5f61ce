//! Steady traffic, simulated under rules that choose, beside what load counting says.

use super::*;
use crate::engine::{Progress, Stop};
use crate::ids::{MessageId, RankId, WakeId};
use crate::rng::Mix;
use crate::routing::RoutingSpec;
use crate::routing::test_fabrics::{Arrangement, dragonfly, of_cables};
use crate::transport::ContentionFreeSpec;
use crate::workload::{Blocked, Requests, Send};

/// Messages between nodes of groups `shift` apart, so many of each node under way all the time.
struct Steady {
    /// Nodes, and nodes of a group.
    nodes: (u32, u32),
    /// By how many groups.
    shift: u32,
    window: u32,
    sent: Vec<u32>,
    draw: Mix,
    /// Arrivals, one after another: when, and how much.
    arrived: Vec<(Time, u64)>,
}

const BYTES: u64 = 100_000;

impl Steady {
    fn new(nodes: (u32, u32), shift: u32, window: u32) -> Self {
        let sent = vec![0; nodes.0 as usize];
        Self { nodes, shift, window, sent, draw: Mix::new(1, "test"), arrived: Vec::new() }
    }

    fn send(&mut self, rank: u32, requests: &mut Requests) {
        let index = self.sent[rank as usize];
        self.sent[rank as usize] += 1;
        let (nodes, group) = self.nodes;
        let draw = |below: u32| self.draw.two_below(rank.into(), index.into(), below.into()) as u32;
        let dst = (rank / group + self.shift) * group % nodes + draw(group);
        let id = MessageId { src: RankId(rank), index };
        // Of unlike sizes, so that they do not all end at once.
        let bytes = BYTES / 2 + u64::from(draw(BYTES as u32));
        requests.sends.push(Send { id, dst: RankId(dst), bytes });
    }

    /// What the nodes send together after the first third of the run, over their bandwidth.
    fn throughput(&self) -> f64 {
        let (first, rest) = self.arrived.split_at(self.arrived.len() / 3);
        let bytes: u64 = rest.iter().map(|(_, bytes)| bytes).sum();
        let time = rest[rest.len() - 1].0 - first[first.len() - 1].0;
        bytes as f64 / time.seconds() / f64::from(self.nodes.0) / 1e9
    }
}

impl Workload for Steady {
    fn ranks(&self) -> u32 {
        self.nodes.0
    }

    fn messages(&self) -> u64 {
        u64::MAX
    }

    fn begin(&mut self, requests: &mut Requests) {
        for _ in 0..self.window {
            (0..self.nodes.0).for_each(|rank| self.send(rank, requests));
        }
    }

    fn delivered(&mut self, now: Time, messages: &[Send], requests: &mut Requests) {
        for message in messages {
            self.arrived.push((now, message.bytes));
            self.send(message.id.src.0, requests);
        }
    }

    fn woke(&mut self, _: Time, _: WakeId, _: &mut Requests) {}

    fn blocked(&self) -> Vec<Blocked> {
        Vec::new()
    }
}

fn network(fabric: &Arc<Fabric>, routing: &str) -> Network {
    let routing: RoutingSpec = toml::from_str(routing).unwrap();
    Network {
        router: routing.build(fabric, 1).unwrap(),
        placement: fabric.node_ids().collect(),
        fabric: Arc::clone(fabric),
        sharing: SharingSpec::default(),
        transport: TransportSpec::default(),
        resolution: Time::ZERO,
    }
}

/// Ends a run after so many messages.
struct Until(u64);

impl Watch for Until {
    fn tick(&self, progress: Progress) -> bool {
        progress.delivered < self.0
    }
}

/// The throughput of adversarial traffic on a dragonfly of 72 nodes, 16 messages of each node under way.
fn simulated(routing: &str) -> f64 {
    let fabric = dragonfly(2, Arrangement::Palmtree);
    let mut work = Steady::new((72, 8), 1, 16);
    let outcome = network(&fabric, routing).simulate(&mut work, &mut (), Some(&Until(72 * 70)));
    assert_eq!(outcome.stop, Stop::Interrupted);
    work.throughput()
}

#[test]
fn minimal_routes_carry_what_load_counting_says() {
    let throughput = simulated("minimal = {}");
    assert!((0.97..1.03).contains(&(throughput / 0.125)), "{throughput}");
}

#[test]
fn detours_carry_nearly_what_load_counting_says() {
    // 0.4375 if every cable had always something to do; with 16 messages a node under way some have not.
    let throughput = simulated("valiant-groups = {}");
    assert!((0.88..1.02).contains(&(throughput / 0.4375)), "{throughput}");
}

#[test]
fn rules_that_adapt_come_near_the_best_mix() {
    // g / (2ap) = 0.5625 is the best mix of minimal and Valiant.
    for routing in ["ugal-l = {}", "ugal-g = {}", "progressive = {}"] {
        let throughput = simulated(routing);
        assert!((0.9..1.05).contains(&(throughput / 0.5625)), "{routing}: {throughput}");
    }
}

/// One message, from the first node to the last.
struct One;

impl Workload for One {
    fn ranks(&self) -> u32 {
        2
    }

    fn messages(&self) -> u64 {
        1
    }

    fn begin(&mut self, requests: &mut Requests) {
        let id = MessageId { src: RankId(0), index: 0 };
        requests.sends.push(Send { id, dst: RankId(1), bytes: BYTES });
    }

    fn delivered(&mut self, _: Time, _: &[Send], _: &mut Requests) {}

    fn woke(&mut self, _: Time, _: WakeId, _: &mut Requests) {}

    fn blocked(&self) -> Vec<Blocked> {
        Vec::new()
    }
}

#[test]
fn a_split_message_takes_the_latency_of_its_longest_path_and_the_time_of_its_busiest_link() {
    // Over switch 2 or 3 a message from switch 0 to its neighbour 1 crosses up to 3 cables, and 2 links of nodes, of 1 ns
    // each; those of the nodes carry all of it at 1 GB/s.
    let fabric = of_cables("ring", 4, 1, [(0, 1), (1, 2), (2, 3), (3, 0)], None);
    let mut network = network(&fabric, "valiant-switches = { all-intermediates = true }");
    network.transport = TransportSpec::ContentionFree(ContentionFreeSpec {});
    network.placement = [0, 1].map(crate::ids::NodeId).into_iter().collect();
    let outcome = network.simulate(&mut One, &mut (), None);
    assert_eq!(outcome.makespan, Time::from_ps(5.0 * 1000.0 + BYTES as f64 * 1000.0));
}

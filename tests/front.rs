//! Front example of the library: a comparison of two algorithms, and a workload of one's own on a fabric of
//! one's own.

use hayase::engine::Outcome;
use hayase::fabric::{Fabric, FabricBuilder, Irregular, LinkRole};
use hayase::ids::{MessageId, NodeId, RankId, VertexId, WakeId};
use hayase::units::{Bandwidth, Time};
use hayase::workload::{Blocked, Requests, SendRequest};
use hayase::{Invalid, Loader, Network, RunOptions, Workload};

#[test]
fn a_scenario_is_named_loaded_and_run() -> Result<(), Invalid> {
    // The same as `hayase run -t fat-tree-54 -p all-to-all-simple-spread --placement regular`.
    let base = Loader::new().topology("fat-tree-54").pattern("all-to-all-simple-spread");
    let regular = base.clone().placement("regular").load_pattern()?.run(RunOptions::default()).report;
    // 53 messages of 20 KB at 1 GB/s, one after the other, without contention.
    assert_eq!(regular.head.makespan_s, 1060e-6);

    let random = base.placement("random").load_pattern()?.run(RunOptions::default()).report;
    assert!(random.head.makespan_s > 2.0 * regular.head.makespan_s);
    Ok(())
}

#[test]
fn a_fabric_and_a_workload_are_a_few_lines() -> Result<(), Box<dyn std::error::Error>> {
    let network = Network::new(star(8))?;
    let mut token = Token { ranks: 8, hops: 100 };
    let Outcome { makespan, messages, .. } = network.simulate(&mut token, &mut (), None);
    // Each hop crosses two cables of 1 us and carries 1 KB at 1 GB/s.
    assert_eq!((messages, makespan), (100, Time::from_seconds(100.0 * 3e-6)));
    Ok(())
}

/// Builds a fabric of nodes around one switch, each with a cable both ways: 1 GB/s, 1 us.
fn star(nodes: u32) -> Fabric {
    let (mut fabric, switch) = (FabricBuilder::new("star", nodes, 1), VertexId(nodes));
    let (bandwidth, latency) = (Bandwidth::from_bytes_per_second(1e9), Time::from_seconds(1e-6));
    for node in (0..nodes).map(NodeId) {
        fabric.link(node.into(), switch, bandwidth, latency, LinkRole::Injection);
        fabric.link(switch, node.into(), bandwidth, latency, LinkRole::Ejection);
    }
    fabric.finish(Irregular)
}

/// Token of 1 KB that ranks pass on around a ring.
struct Token {
    ranks: u32,
    hops: u32,
}

impl Token {
    fn hand_on(&self, from: RankId, hop: u32, requests: &mut Requests) {
        if hop < self.hops {
            // The messages of a rank are numbered from 0.
            let id = MessageId { src: from, index: hop / self.ranks };
            requests.sends.push(SendRequest { id, dst: RankId((from.0 + 1) % self.ranks), bytes: 1000 });
        }
    }
}

impl Workload for Token {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn messages(&self) -> u64 {
        self.hops.into()
    }

    fn begin(&mut self, requests: &mut Requests) {
        self.hand_on(RankId(0), 0, requests);
    }

    fn delivered(&mut self, _: Time, messages: &[SendRequest], requests: &mut Requests) {
        for SendRequest { id, dst, .. } in messages {
            self.hand_on(*dst, id.index * self.ranks + id.src.0 + 1, requests);
        }
    }

    fn woke(&mut self, _: Time, _: WakeId, _: &mut Requests) {}

    fn blocked(&self) -> Vec<Blocked> {
        Vec::new()
    }
}

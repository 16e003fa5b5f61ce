//! Single messages on networks whose routes are unusual.

use std::sync::Arc;

use crate::engine::Stop;
use crate::faults::Faults;
use crate::ids::{LinkId, MessageId, NodeId, RankId, WakeId};
use crate::network::NetworkParts;
use crate::routing::test_fabrics::of_cables;
use crate::routing::{Router, RoutingSpec};
use crate::sharing::SharingSpec;
use crate::transport::{ContentionFreeSpec, TransportSpec};
use crate::units::Time;
use crate::workload::{Blocked, Requests, SendRequest, Workload};

const BYTES: u64 = 100_000;

/// One message, from the first rank to the second.
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
        requests.sends.push(SendRequest { id, dst: RankId(1), bytes: BYTES });
    }

    fn delivered(&mut self, _: Time, _: &[SendRequest], _: &mut Requests) {}

    fn woke(&mut self, _: Time, _: WakeId, _: &mut Requests) {}

    fn blocked(&self) -> Vec<Blocked> {
        Vec::new()
    }
}

/// Returns a ring of four switches with one node each, and ranks on the first two nodes.
fn ring() -> NetworkParts {
    let fabric = of_cables("ring", 4, 1, [(0, 1), (1, 2), (2, 3), (3, 0)], None);
    let parts = NetworkParts::new(Arc::unwrap_or_clone(fabric)).unwrap();
    NetworkParts { placement: [0, 1].map(NodeId).into_iter().collect(), ..parts }
}

#[test]
fn a_split_message_takes_the_latency_of_its_longest_path_and_the_time_of_its_busiest_link() {
    // Over switch 2 or 3 a message from switch 0 to its neighbour 1 crosses up to 3 cables, and 2 links of nodes, of 1
    // ns each; those of the nodes carry all of it at 1 GB/s.
    let mut network = ring();
    let routing: RoutingSpec = crate::reading::from_toml("valiant-switches = { all-intermediates = true }").unwrap();
    network.router = routing.build(&network.fabric, 1).unwrap();
    network.transport = TransportSpec::ContentionFree(ContentionFreeSpec {});
    let outcome = network.build().unwrap().simulate(&mut One, &mut (), None);
    assert_eq!(outcome.makespan, Time::from_ps(5.0 * 1000.0 + BYTES as f64 * 1000.0));
}

#[test]
fn parts_that_do_not_go_together_are_no_network() {
    let split: RoutingSpec = crate::reading::from_toml("valiant-switches = { all-intermediates = true }").unwrap();
    let message = |parts: NetworkParts| parts.build().unwrap_err().diagnostics[0].message.clone();
    for sharing in ["blocking = {}", "redistribute = {}", "max-min = { solver = \"groups\" }"] {
        let parts = ring();
        let sharing: SharingSpec = crate::reading::from_toml(sharing).unwrap();
        let name = sharing.name();
        let router = split.build(&parts.fabric, 1).unwrap();
        assert_eq!(
            message(NetworkParts { sharing, router, ..parts }),
            format!("flows under sharing {name} go over one path")
        );
    }
    let parts = ring();
    let link = parts.fabric.link_name(LinkId(0));
    let event = format!("event = [{{ at = \"1 us\", link = \"{link}\", state = \"down\" }}]");
    let routing = RoutingSpec::default_for(&parts.fabric);
    let faults =
        Faults::build(&crate::reading::from_toml(&event).unwrap(), &parts.fabric, (&routing, &parts.router), 1)
            .unwrap();
    let packets: TransportSpec = crate::reading::from_toml("packet = { model = \"oq\" }").unwrap();
    let parts = NetworkParts { transport: packets, ..parts.with_faults(Arc::new(faults)) };
    assert_eq!(message(parts), "links cannot fail or change at a time under transport packet:oq");
    let far = NetworkParts { placement: [NodeId(0), NodeId(4)].into_iter().collect(), ..ring() };
    assert_eq!(message(far), "a rank is on node 4, and the fabric has 4 nodes");
    let none = SharingSpec::Redistribute(crate::reading::from_toml("threshold = 2.0").unwrap());
    assert_eq!(message(NetworkParts { sharing: none, ..ring() }), "the threshold 2 is not a fraction of a rate");
}

/// A router without routes.
#[derive(Debug)]
struct Nowhere;

impl Router for Nowhere {
    fn route(&self, _: NodeId, _: NodeId, _: &mut Vec<LinkId>) {}
}

#[test]
fn a_message_without_a_route_is_not_delivered_and_ends_the_run_with_its_ends_named() {
    for transport in [TransportSpec::default(), TransportSpec::ContentionFree(ContentionFreeSpec {})] {
        let network = NetworkParts { router: Arc::new(Nowhere), transport, ..ring() };
        let outcome = network.build().unwrap().simulate(&mut One, &mut (), None);
        let Stop::Deadlock(blocked) = outcome.stop else { panic!("{:?}", outcome.stop) };
        assert_eq!(blocked[0].waits_for, "a route from node 0 to node 1, which its routing does not have");
        assert_eq!((blocked[0].rank, outcome.messages), (RankId(0), 0));
    }
}

//! Steady traffic against load counting and closed networks.

use std::sync::Arc;

use super::*;
use crate::diagnostic::Sources;
use crate::ids::Id;
use crate::routing::RoutingSpec;
use crate::sharing::SharingSpec;
use crate::throughput::throughput;
use crate::topology::Topology;
use crate::transport::TransportSpec;

/// A network of a written topology under a rule.
fn network(topology: &str, rule: &str) -> Network {
    let loaded = crate::scenario::Loader::new().text("t.toml", topology).routing(rule).load_topology().unwrap();
    Network {
        placement: loaded.fabric.node_ids().collect(),
        fabric: loaded.fabric,
        router: loaded.router,
        sharing: SharingSpec::default(),
        transport: TransportSpec::default(),
        resolution: Time::ZERO,
    }
}

fn dragonfly(h: u32) -> String {
    format!(
        "[topology.dragonfly]\np = {h}\na = {}\nh = {h}\narrangement = \"palmtree\"\nbandwidth = \"1 GB/s\"\n",
        2 * h
    )
}

fn crossbar(nodes: u32) -> String {
    format!("[topology.crossbar]\nnodes = {nodes}\nbandwidth = \"1 GB/s\"\n")
}

fn options(under_way: u32) -> SteadyOptions {
    SteadyOptions { under_way, ..SteadyOptions::default() }
}

#[track_caller]
fn near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance * expected, "{value} instead of {expected}");
}

#[test]
fn a_bottleneck_that_never_idles_gives_the_closed_form() {
    // All messages from a group to the next cross one cable.
    let network = network(&dragonfly(2), "minimal");
    for under_way in [1, 2, 7] {
        let measured = steady(&network, &Traffic::Adversarial(1), &options(under_way), None).unwrap();
        near(measured.throughput, 0.125, 1e-2 / f64::from(under_way));
        assert_eq!(measured.batches.len(), SteadyOptions::BATCHES as usize);
    }
}

#[test]
fn pairs_get_what_their_links_carry() {
    let network = network(&crossbar(6), "family");
    for traffic in [Traffic::Permutation, Traffic::Bisection { both: false }] {
        let measured = steady(&network, &traffic, &options(3), None).unwrap();
        near(measured.throughput, 1.0, 1e-9);
        near(measured.slowest_node, 1.0, 1e-9);
        assert!(measured.half_width < 1e-9);
    }
}

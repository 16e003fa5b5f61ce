//! A custom topology: a ring of switches with chords, on which an all-to-all is run under two sharing
//! policies.
//!
//! ```text
//! cargo run --release --example own_topology
//! ```

use std::sync::Arc;

use hayase::fabric::{Fabric, FabricBuilder, Irregular, LinkRole};
use hayase::ids::{NodeId, VertexId};
use hayase::pattern::{Injection, PatternPlayer};
use hayase::record::{LinkMeasures, Recorder};
use hayase::sharing::{EqualShareSpec, SharingSpec};
use hayase::units::{Bandwidth, Time};
use hayase::{Loader, Network, NetworkParts};

/// Builds a ring of switches with `nodes_each` nodes each, and a chord from each switch to the opposite one.
fn chordal_ring(switches: u32, nodes_each: u32) -> Fabric {
    let nodes = switches * nodes_each;
    let mut fabric = FabricBuilder::new(format!("chordal ring {switches}x{nodes_each}"), nodes, switches);
    let (cable, latency) = (Bandwidth::from_bytes_per_second(12.5e9), Time::from_seconds(100e-9));
    let switch = |number: u32| VertexId(nodes + number % switches);
    for node in (0..nodes).map(NodeId) {
        let home = switch(node.0 / nodes_each);
        fabric.link(node.into(), home, cable, latency, LinkRole::Injection);
        fabric.link(home, node.into(), cable, latency, LinkRole::Ejection);
    }
    for from in 0..switches {
        for to in [from + 1, from + switches - 1, from + switches / 2] {
            fabric.link(switch(from), switch(to), cable, latency, LinkRole::Network { tier: 0 });
        }
    }
    fabric.finish(Irregular)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let network = Network::new(chordal_ring(8, 4))?;
    println!("{}: diameter {:?}", network.fabric, network.fabric.diameter());
    let all_to_all = Loader::new().pattern("all-to-all-pairwise").load_workload(&network.fabric.nodes())?.pattern;
    for sharing in [SharingSpec::EqualShare(EqualShareSpec {}), SharingSpec::default()] {
        let policy = sharing.name();
        let network = NetworkParts { sharing, ..network.parts() }.build()?;
        let bisection = network.fabric.bisection();
        let mut recorder = Recorder::new(&network.fabric, &network.placement, bisection, LinkMeasures::default());
        let mut ranks = PatternPlayer::new(Arc::clone(&all_to_all), Injection::Queue, Time::ZERO, 1);
        let outcome = network.simulate(&mut ranks, &mut recorder, None);
        let (busiest, carried) = recorder.bytes.iter_ids().max_by_key(|&(_, carried)| carried).ok_or("no links")?;
        println!(
            "{policy:12} {:9.3} us, {} messages; busiest link: {}, {carried} B",
            outcome.makespan.seconds() * 1e6,
            outcome.messages,
            network.fabric.link_name(busiest),
        );
    }
    Ok(())
}

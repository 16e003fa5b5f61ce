//! The least cut, compared with that of another program, and with closed forms of large fabrics.

use petgraph::algo::dinics;
use petgraph::graph::DiGraph;
use petgraph::visit::EdgeRef;

use hayase::Loader;
use hayase::fabric::Fabric;
use hayase::ids::Id;
use hayase::rng::Stream;

fn fabric(topology: &str) -> Fabric {
    let loaded = Loader::new().text("t.toml", topology).load_topology().unwrap();
    std::sync::Arc::unwrap_or_clone(loaded.fabric)
}

/// Returns the largest flow from the lower half of the nodes to the upper, in integers, by petgraph.
fn oracle(fabric: &Fabric) -> f64 {
    let mut graph: DiGraph<(), u64> = DiGraph::new();
    let vertices: Vec<_> = (0..fabric.graph().node_count() + 2).map(|_| graph.add_node(())).collect();
    let [.., source, sink] = vertices[..] else { unreachable!() };
    for edge in fabric.graph().edge_references() {
        let capacity = fabric.link(*edge.weight()).capacity.bytes_per_second();
        graph.add_edge(vertices[edge.source().index()], vertices[edge.target().index()], capacity as u64);
    }
    for node in fabric.node_ids() {
        let (a, b) = (vertices[node.index()], vertices[node.index()]);
        if node.0 < fabric.nodes() / 2 {
            graph.add_edge(source, a, 1 << 50);
        } else {
            graph.add_edge(b, sink, 1 << 50);
        }
    }
    dinics(&graph, source, sink).0 as f64
}

#[test]
fn equal_vertices_merged_the_largest_flow_is_the_same() {
    let mut random = Stream::new(1, "test");
    let mut below = |most: u64| 1 + random.below(most);
    for _ in 0..40 {
        let (servers, gpus, spines, planes) = (below(9), below(4), below(4), below(2));
        let segment = below(servers);
        let (nic, spine, nvlink, by_rail) = (below(3), below(5), below(20), below(2) == 1);
        let text = format!(
            "[topology.rails]\nservers = {servers}\ngpus = {gpus}\nsegment = {segment}\nspines = {spines}\n\
             planes = {planes}\nby-rail = {by_rail}\nbandwidth = \"{nic} GB/s\"\nspine-bandwidth = \"{spine} GB/s\"\n\
             nvlink-bandwidth = \"{nvlink} GB/s\"\n"
        );
        let fabric = fabric(&text);
        if fabric.nodes() > 1 {
            let cut = fabric.search_cut(fabric.lower_half()).unwrap().bandwidth.bytes_per_second();
            assert_eq!(cut, oracle(&fabric), "{text}");
        }
    }
    for text in [
        "[topology.dragonfly]\np = 2\nbandwidth = \"1 GB/s\"\n",
        "[topology.slim-fly]\nq = 5\nbandwidth = \"1 GB/s\"\n",
        "[topology.jellyfish]\nswitches = 31\nradix = 9\ndegree = 6\nbandwidth = \"1 GB/s\"\n",
        "[topology.hyperx]\nshape = [3, 5]\nnodes = 3\nbandwidth = [\"3 GB/s\", \"1 GB/s\"]\n",
    ] {
        let fabric = fabric(text);
        assert_eq!(
            fabric.search_cut(fabric.lower_half()).unwrap().bandwidth.bytes_per_second(),
            oracle(&fabric),
            "{text}"
        );
    }
}

#[test]
fn large_fabrics_of_rails_are_cut_at_once() {
    // Half of 15,360 nodes with a cable of 25 GB/s into each of two planes, whose spines can carry all their
    // traffic.
    let hpn = Loader::new().topology("simai-hpn").load_topology().unwrap().fabric;
    let cut = hpn.bisection().unwrap();
    let nodes = 7680.0 * 2.0 * 25e9;
    // 56 of 120 leaves of a plane are in segments below the half, 8 shared by both halves.
    assert!(cut.bandwidth.bytes_per_second() <= nodes && cut.bandwidth.bytes_per_second() > 0.9 * nodes);
    // With the cables of all spines halved twice, these are the bottleneck: 32 leaves x 64 spines, and
    // nothing else crosses.
    let text = "[topology.rails]\nservers = 512\ngpus = 8\nsegment = 64\nspines = 64\nbandwidth = \"4 GB/s\"\n\
                spine-bandwidth = \"1 GB/s\"\nnvlink-bandwidth = \"100 GB/s\"\n";
    let cut = fabric(text);
    assert_eq!(cut.bisection().unwrap().bandwidth.bytes_per_second(), 32.0 * 64.0 * 1e9);
}

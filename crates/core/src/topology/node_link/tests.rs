use super::*;
use crate::diagnostic::Invalid;
use crate::ids::VertexId;

/// Output of networkx 3.6.1 for a `nx.MultiGraph` of two switches with two cables between them and three
/// hosts, written by `json.dump(nx.node_link_data(g), f, indent=1)`.
const BY_NETWORKX: &str = include_str!("testdata/networkx.json");

fn build_with(text: &str, bandwidth: Option<f64>) -> Result<Fabric, String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("g.json");
    std::fs::write(&file, text).unwrap();
    let bandwidth = bandwidth.map(|bandwidth| Bandwidth::from_bytes_per_second(bandwidth).into());
    let spec = GraphSpec { file: file.display().to_string().into(), bandwidth, latency: None };
    let mut sources = Sources::default();
    spec.build(&mut sources).map_err(|diagnostics| {
        let folder = format!("{}/", folder.path().display());
        Invalid { diagnostics, sources }.lines().replace(&folder, "")
    })
}

fn listing(fabric: &Fabric) -> String {
    let line = |(id, link): (crate::ids::LinkId, &crate::fabric::Link)| {
        format!("{}: {}, {}, {:?}", fabric.link_name(id), link.capacity, link.latency, link.role)
    };
    fabric.links().iter_ids().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_graph_of_networkx_is_a_fabric() {
    assert!(is_graph(BY_NETWORKX));
    let fabric = build_with(BY_NETWORKX, None).unwrap();
    assert_eq!((fabric.nodes(), fabric.switches(), fabric.name()), (3, 2, "graph g"));
    insta::assert_snapshot!(listing(&fabric), @"
    leaf a -> leaf b: 12.5 GB/s, 1 us, Network { tier: 0 }
    leaf b -> leaf a: 12.5 GB/s, 1 us, Network { tier: 0 }
    leaf a -> leaf b: 12.5 GB/s, 500 ns, Network { tier: 0 }
    leaf b -> leaf a: 12.5 GB/s, 500 ns, Network { tier: 0 }
    leaf a -> 0: 2.5 GB/s, 0 ps, Ejection
    0 -> leaf a: 2.5 GB/s, 0 ps, Injection
    leaf a -> 1: 2.5 GB/s, 0 ps, Ejection
    1 -> leaf a: 2.5 GB/s, 0 ps, Injection
    leaf b -> 2: 2.5 GB/s, 0 ps, Ejection
    2 -> leaf b: 2.5 GB/s, 0 ps, Injection
    ");
}

const HEAD: &str = r#"{"directed": false, "multigraph": false, "graph": {}, "#;

#[test]
fn vertices_with_one_edge_are_nodes_where_nothing_is_said() {
    let star = r#""nodes": [{"id": [0, 0]}, {"id": "b"}, {"id": 7}],
        "links": [{"source": "b", "target": [0,0]}, {"source": 7, "target": "b"}]}"#;
    let fabric = build_with(&format!("{HEAD}{star}"), Some(2e9)).unwrap();
    assert_eq!((fabric.nodes(), fabric.switches()), (2, 1));
    assert_eq!(fabric.vertex_name(VertexId(2)), "b");
    assert_eq!(fabric.vertex_name(VertexId(0)), "[0,0]");
}

#[test]
fn switches_with_endpoints_have_nodes() {
    // The format of graphs for SST's AnyTopo.
    let two = r#""nodes": [{"id": 0, "endpoints": 2}, {"id": 1, "endpoints": 1}, {"id": 2, "endpoints": 0}],
        "edges": [{"source": 0, "target": 1, "capacity": "100 Gbit/s", "delay": "1 us"}, {"source": 2, "target": 1}]}"#;
    let fabric = build_with(&format!("{HEAD}{two}"), Some(1e9)).unwrap();
    assert_eq!((fabric.nodes(), fabric.switches(), fabric.links().len()), (3, 3, 10));
    assert_eq!(fabric.lowest_switch_of(crate::ids::NodeId(2)), 4);
    assert_eq!(fabric.links().iter().next().unwrap().capacity.bytes_per_second(), 12.5e9);
}

#[test]
fn what_is_wrong_with_a_graph_has_its_place() {
    let wrong = [
        "{\n \"nodes\": [,\n",
        "{\"nodes\": 3, \"links\": []}",
        "{\"nodes\": []}",
        "{\"nodes\": [], \"links\": []}",
        "{\"nodes\": [{\"id\": 0, \"kind\": \"host\"}, {\"id\": 1, \"kind\": \"toaster\"}, {\"id\": 0}, {}, 3, {\"id\": null}],\n \"links\": [\n \
         {\"source\": 0, \"target\": 9},\n {\"source\": 0},\n {\"source\": 0, \"target\": 0, \"bandwidth\": 0, \"latency\": \"1 km\"}]}",
        "{\"directed\": 1, \"nodes\": [{\"id\": 0, \"kind\": \"node\"}, {\"id\": 1, \"kind\": \"node\"}, {\"id\": 2}],\n \"edges\": [{\"source\": 0, \"target\": 1}]}",
        "{\"nodes\": [{\"id\": 0, \"kind\": \"node\"}, {\"id\": 1, \"kind\": \"node\"}, {\"id\": 2}],\n \"edges\": [{\"source\": 0, \"target\": 1}]}",
    ];
    let mistakes: Vec<String> = wrong.iter().map(|text| build_with(text, None).unwrap_err()).collect();
    insta::assert_snapshot!(mistakes.join("\n\n"), @r#"
    g.json:2:12: this is not the JSON of a graph: expected value

    g.json:1:11: `nodes` is not a list (a list is expected)

    g.json:1:1: this graph has no `edges` or `links` (a node-link graph, as networkx writes it, is expected)

    no vertex is a node, so that there is nowhere to send from; give vertices "kind": "node", or switches "endpoints": 16

    g.json:1:57: `kind` is neither node nor switch ("node" (or host, endpoint) or "switch" (or router))
    g.json:1:76: there are two vertices with this id (already the id of a vertex above)
    g.json:1:80: this vertex has no `id` ("id" is expected)
    g.json:1:84: a vertex is an object (an object with keys is expected)
    g.json:1:94: an id is a number, a text or a list (the id of a vertex is expected)
    g.json:3:26: there is no vertex 9 (the id of one of `nodes`)
    g.json:4:2: this edge has no `target` (the id of a vertex is expected)
    g.json:5:42: `bandwidth` carries nothing (above 0 is expected)
    g.json:5:56: unknown time unit "km"; write "1.5 us" or "250 ns" (a number in base units, or a text with its unit)
    g.json:5:2: an edge leads from a vertex to itself (two different vertices are expected)

    g.json:1:14: `directed` is true or false (true or false is expected)

    g.json:1:66: vertex `2` has no kind, as others do ("kind": "node" or "switch" is expected)
    g.json:2:12: this edge has no bandwidth ("bandwidth": 12.5e9 or "12.5 GB/s" is expected); or give all edges one: --set topology.graph.bandwidth="12.5 GB/s"
    "#);
}

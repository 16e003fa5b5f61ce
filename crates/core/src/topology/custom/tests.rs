use proptest::prelude::*;

use super::*;
use crate::diagnostic::Invalid;

/// Builds the fabric of these files; removes the directory from messages.
fn build(nodes: u32, links: &[u8], routes: Option<&[u8]>, port: Option<f64>) -> Result<Fabric, String> {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| Located::from(directory.path().join(name).display().to_string());
    std::fs::write(directory.path().join("links.csv"), links).unwrap();
    if let Some(routes) = routes {
        std::fs::write(directory.path().join("routes.csv"), routes).unwrap();
    }
    let spec = CustomSpec {
        nodes: nodes.into(),
        links: path("links.csv"),
        routes: routes.map(|_| path("routes.csv")),
        switch_port_bandwidth: port.map(|port| Bandwidth::from_bytes_per_second(port).into()),
    };
    let mut sources = Sources::default();
    spec.build(&mut sources).map_err(|diagnostics| {
        let directory = format!("{}/", directory.path().display());
        Invalid { diagnostics, sources }.lines().replace(&directory, "")
    })
}

const TWO: &str = "id,from,to,bandwidth,latency\nup,0,s,1 GB/s,1 us\ndown,s,1,2e9,0\nback,1,t,1e9,0\nhome,t,0,1e9,0\n\
                   trunk,t,s,1e9,1e-6\n";

fn listing(fabric: &Fabric) -> String {
    let line = |(id, link): (LinkId, &crate::fabric::Link)| {
        let ends = link
            .ends
            .map_or("loose".into(), |(from, to)| format!("{} -> {}", fabric.vertex_name(from), fabric.vertex_name(to)));
        format!("{}: {ends}, {}, {}, {:?}", fabric.link_name(id), link.capacity, link.latency, link.role)
    };
    fabric.links().iter_ids().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn numbers_are_nodes_and_all_else_are_switches() {
    let fabric = build(2, TWO.as_bytes(), None, None).unwrap();
    assert_eq!((fabric.nodes(), fabric.switches()), (2, 2));
    insta::assert_snapshot!(listing(&fabric), @"
    up: node 0 -> s, 1 GB/s, 1 us, Injection
    down: s -> node 1, 2 GB/s, 0 ps, Ejection
    back: node 1 -> t, 1 GB/s, 0 ps, Injection
    home: t -> node 0, 1 GB/s, 0 ps, Ejection
    trunk: t -> s, 1 GB/s, 1 us, Network { tier: 0 }
    ");
}

#[test]
fn a_number_that_no_node_has_is_no_switch() {
    let error = build(2, b"id,from,to,bandwidth\na,0,7,1e9\n", None, None).unwrap_err();
    assert!(error.starts_with("links.csv:2:5: there is no node 7"), "{error}");
}

#[test]
fn a_switch_port_limits_the_links_that_leave_a_switch() {
    let fabric = build(2, TWO.as_bytes(), None, Some(0.5e9)).unwrap();
    let capacities: Vec<f64> = fabric.links().iter().map(|link| link.capacity.bytes_per_second()).collect();
    assert_eq!(capacities, [1e9, 0.5e9, 1e9, 0.5e9, 0.5e9]);
    assert!(build(2, TWO.as_bytes(), None, Some(0.0)).unwrap_err().contains("carries nothing"));
}

#[test]
fn links_of_nodes_that_messages_pass_are_network_links() {
    let ring = "id,from,to,bandwidth\na,0,1,1e9\nb,1,2,1e9\nc,2,0,1e9\n";
    let network = LinkRole::Network { tier: 0 };
    assert!(build(3, ring.as_bytes(), None, None).unwrap().links().iter().all(|link| link.role == network));
    // Node 1 has links to switches only, but a route leads through it.
    let dual = "id,from,to,bandwidth\na,0,s,1e9\nb,s,1,1e9\nc,1,t,1e9\nd,t,2,1e9\n";
    let roles = |routes: &str| {
        let fabric = build(3, dual.as_bytes(), Some(routes.as_bytes()), None).unwrap();
        fabric.links().iter().map(|link| link.role).collect::<Vec<_>>()
    };
    let (inject, eject) = (LinkRole::Injection, LinkRole::Ejection);
    assert_eq!(roles("src,dst,links\n0,1,a b\n"), [inject, eject, inject, eject]);
    assert_eq!(roles("src,dst,links\n0,2,a b c d\n"), [inject, network, network, eject]);
}

#[test]
fn given_routes_may_use_links_without_ends() {
    let links = "id,from,to,bandwidth,latency\nx,,,1 GB/s,\n,,,1,\n".replace("\n,,,1,", "\ny,,,1,");
    let fabric = build(2, links.as_bytes(), Some(b"src,dst,links\n0,1,y x\n1,0,x\n0,0,\n"), None).unwrap();
    let routes = fabric.routes().unwrap();
    assert_eq!(routes.get(NodeId(0), NodeId(1)), Some(&[LinkId(1), LinkId(0)][..]));
    assert_eq!(routes.get(NodeId(1), NodeId(0)), Some(&[LinkId(0)][..]));
    assert_eq!(routes.len(), 3);
    assert!(fabric.links().iter().all(|link| link.ends.is_none()));
}

#[test]
fn ids_have_blanks_where_no_routes_list_them() {
    let links = b"id,from,to,bandwidth,latency\na b,0,1,1 GB/s,\n1 -> 0,1,0,1 GB/s,\n";
    let fabric = build(2, links, None, None).unwrap();
    assert_eq!(fabric.link_name(LinkId(1)), "1 -> 0");
    let mistake = build(2, links, Some(b"src,dst,links\n0,1,a b\n"), None).unwrap_err();
    assert!(mistake.contains("links.csv:2:1: \"a b\" cannot be the id of a link (a name without blanks)"), "{mistake}");
}

#[test]
fn every_mistake_in_the_links_has_its_place() {
    let error = |text: &str| build(2, text.as_bytes(), None, None).unwrap_err();
    insta::assert_snapshot!(error("id,from,to,bandwidth,latency\na,0,s,0,1 km\n,s,,1 GBs,\nb c,s,s,-1,\na,0,1,1,\nd,0,1,1,\nd,,,1,\nd,0,00,1,\n"), @r#"
    links.csv:2:7: a bandwidth of 0 carries nothing (a bandwidth above 0); leave the link out
    links.csv:2:9: unknown time unit "km"; write "1.5 us" or "250 ns"
    links.csv:3:1: `id` is empty (a name for the link)
    links.csv:3:4: a link has both ends or none (`to` is expected)
    links.csv:3:5: unknown bandwidth unit "GBs"; write "12.5 GB/s" or "100 Gbit/s"
    links.csv:4:7: a link leads from a place to itself (another node or switch is expected); leave it out: a message of a node to itself crosses no link
    links.csv:4:9: a bandwidth is finite and not negative, unlike "-1"
    links.csv:7:1: there are two links `d` (already the id of a link above); a link is directed: the two directions of a cable are two links with an id each
    links.csv:7:3: a link without ends can only be used by given routes (where the link starts is expected); fill in `from` and `to`, or give `routes = "FILE.csv"`
    links.csv:8:1: there are two links `d` (already the id of a link above); a link is directed: the two directions of a cable are two links with an id each
    links.csv:8:5: a link leads from a place to itself (another node or switch is expected); leave it out: a message of a node to itself crosses no link
    "#);
    insta::assert_snapshot!(error("id,from,to,bandwith\n"), @"
    links.csv:1:12: unknown column `bandwith`; write `bandwidth`
    links.csv:1:1: there is no column `bandwidth` (the columns are id,from,to,bandwidth,latency)
    ");
    assert!(build(0, TWO.as_bytes(), None, None).unwrap_err().contains("cannot have 0 nodes"));
    assert!(build(u32::MAX, TWO.as_bytes(), None, None).unwrap_err().contains("cannot have 4294967295 nodes"));
}

#[test]
fn every_mistake_in_the_routes_has_its_place() {
    let routes = "src,dst,links\n0,1,up down\n0,1,up down\n1,0,back gone home\n1,0,home back\n1,0,back\n0,2,up\n1,0,\n\
                  0,0,up\n1,0,back trunk down back\n";
    insta::assert_snapshot!(build(2, TWO.as_bytes(), Some(routes.as_bytes()), None).unwrap_err(), @"
    routes.csv:3:3: there are two routes from 0 to 1 (a route is given for each pair once)
    routes.csv:4:10: there is no link `gone` (the id of a link is expected)
    routes.csv:5:5: the route from node 1 to node 0 is not connected (this link starts at `t`, the route is at node 1)
    routes.csv:6:5: the route from node 1 to node 0 does not get there (this link ends at `t`)
    routes.csv:7:3: there is no node 2 (nodes are numbered from 0 to 1)
    routes.csv:8:5: the route from node 1 to node 0 is empty (the ids of its links are expected)
    routes.csv:9:5: a message of a node to itself crosses no links (nothing is expected); leave the line out
    routes.csv:10:21: a route crosses a link twice (also its link 1)
    ");
}

#[test]
fn a_missing_file_is_reported_at_its_name() {
    let text = "nodes = 2\nlinks = 'no-such.csv'\n";
    let spec: CustomSpec = crate::reading::from_toml(text).unwrap();
    let mut sources = Sources::default();
    sources.add("dir/t.toml", text);
    let diagnostics = spec.build(&mut sources).unwrap_err();
    let error = Invalid { diagnostics, sources }.lines();
    assert!(error.starts_with("dir/t.toml:2:9: there is no file `dir/no-such.csv`"), "{error}");
}

proptest! {
    #[test]
    fn no_links_or_routes_file_panics(
        links in "(id,from,to,bandwidth,latency\n)?([a-c],[0-3s]?,[0-3t]?,[0-9]{0,2}( GB/s)?,[0-9]?\n|[0-9a-d, \"#\r]{0,10}\n){0,8}",
        routes in prop::option::of("(src,dst,links\n)?([0-3],[0-3],([a-c] ?){0,3}\n|[0-9a-d, \"#\r]{0,10}\n){0,6}"),
        nodes in 0u32..4,
    ) {
        let _ = build(nodes, links.as_bytes(), routes.as_deref().map(str::as_bytes), None);
    }

    #[test]
    fn a_graph_written_to_a_file_reads_back(ends in prop::collection::vec((0u32..8, 1u32..8, 1u64..1 << 50, 0u32..1000), 1..30)) {
        let name = |vertex: u32| if vertex < 4 { vertex.to_string() } else { format!("s{vertex}") };
        let mut text = String::from("id,from,to,bandwidth,latency\n");
        for (i, (from, step, bandwidth, latency)) in ends.iter().enumerate() {
            text.push_str(&format!("l{i},{},{},{bandwidth},{latency}ns\n", name(*from), name((from + step) % 8)));
        }
        let fabric = build(4, text.as_bytes(), None, None).unwrap();
        let mut written = String::from("id,from,to,bandwidth,latency\n");
        for (id, link) in fabric.links().iter_ids() {
            let (from, to) = link.ends.unwrap();
            let end = |vertex: VertexId| fabric.vertex_name(vertex).replace("node ", "");
            let (bandwidth, latency) = (link.capacity.bytes_per_second(), link.latency.ps() / 1e3);
            written.push_str(&format!("{},{},{},{bandwidth},{latency}ns\n", fabric.link_name(id), end(from), end(to)));
        }
        prop_assert_eq!(written, text);
    }
}

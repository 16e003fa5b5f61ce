//! Tests on platforms in their usual notation: the fabrics built from them, and the messages for mistakes.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::diagnostic::{Invalid, Span};
use crate::fabric::{Grid, LinkRole, Tree};
use crate::ids::{LinkId, NodeId};

/// Builds the fabric of a platform with this content.
fn built(inside: &str) -> Fabric {
    built_with(inside, false)
}

fn built_with(inside: &str, own_routes: bool) -> Fabric {
    let text = whole(inside);
    fabric(&text, 0, "p", own_routes, &mut beside).unwrap_or_else(|mistakes| panic!("{}", shown(&text, mistakes)))
}

/// Returns the text of a file beside a platform.
fn beside(file: &str, span: Span) -> Result<(usize, Arc<str>), Diagnostic> {
    let text = match file {
        "slow.bw" => "10 5e8\n20 1e9\nLOOPAFTER 5\n",
        "torn.state" => "1 0\n2 on\n",
        _ => return Err(Diagnostic::new("no-file", format!("there is no file `{file}`")).at(span)),
    };
    // This offset is after all platforms.
    Ok((1_000_000, text.into()))
}

fn whole(inside: &str) -> String {
    format!(
        "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n{inside}\n</platform>\n"
    )
}

fn shown(text: &str, diagnostics: Vec<Diagnostic>) -> String {
    let mut sources = Sources::default();
    sources.add("p.xml", text);
    Invalid { diagnostics, sources }.lines()
}

/// Returns the messages for a platform with this content, which starts on line 4.
fn mistakes(inside: &str) -> String {
    let text = whole(inside);
    match fabric(&text, 0, "p", false, &mut beside) {
        Ok(fabric) => panic!("{fabric} was built"),
        Err(mistakes) => shown(&text, mistakes),
    }
}

/// Returns the names of the links from one node to another on the fabric's own route.
fn route(fabric: &Fabric, src: u32, dst: u32) -> String {
    let route = fabric.routes().unwrap().get(NodeId(src), NodeId(dst));
    route.map_or("none".to_owned(), |links| {
        links.iter().map(|&link| fabric.link_name(link)).collect::<Vec<_>>().join(" ")
    })
}

const FULL: &str = r#"<zone id="all" routing="Full">
  <host id="a" speed="1Gf" core="4"><prop id="x" value="y"/><disk id="d" read_bw="1" write_bw="1"/></host>
  <host id="b" speed="1Gf"/>
  <host id="c" speed="1Gf"/>
  <link id="l1" bandwidth="125MBps" latency="50us"/>
  <link id="l2" bandwidth="10Gbps" latency="1ms" sharing_policy="SPLITDUPLEX"/>
  <route src="a" dst="b"><link_ctn id="l1"/><link_ctn id="l2" direction="UP"/></route>
  <route src="a" dst="c" symmetrical="NO"><link_ctn id="l2_DOWN"/></route>
</zone>"#;

#[test]
fn routes_of_a_full_zone_hold_in_both_directions_unless_they_say_no() {
    let fabric = built(FULL);
    assert_eq!((fabric.nodes(), fabric.switches(), fabric.links().len()), (3, 0, 3));
    assert_eq!(fabric.vertex_name(NodeId(1).into()), "b");
    assert_eq!(fabric.link(LinkId(0)).capacity.bytes_per_second(), 125e6);
    assert_eq!(fabric.link(LinkId(1)).capacity.bytes_per_second(), 1.25e9);
    assert_eq!(fabric.link(LinkId(2)).latency.seconds(), 1e-3);
    assert_eq!(route(&fabric, 0, 1), "l1 l2_UP");
    assert_eq!(route(&fabric, 1, 0), "l2_DOWN l1");
    assert_eq!(route(&fabric, 0, 2), "l2_DOWN");
    assert_eq!(route(&fabric, 2, 0), "none");
    assert_eq!(fabric.routes().unwrap().len(), 3);
}

#[test]
fn zones_are_crossed_from_gateway_to_gateway() {
    let fabric = built(
        r#"<zone id="world" routing="Full">
  <zone id="left" routing="Full">
    <host id="l0" speed="1f"/><router id="lgw"/>
    <link id="ll" bandwidth="1GBps"/>
    <route src="l0" dst="lgw"><link_ctn id="ll"/></route>
  </zone>
  <cluster id="right" prefix="r" suffix=".x" radical="0-1,7" speed="1Gf" bw="2GBps" lat="1us" bb_bw="3GBps" bb_lat="2us"/>
  <link id="wan" bandwidth="1GBps" latency="10ms"/>
  <zoneRoute src="left" dst="right" gw_src="lgw" gw_dst="rright_router.x"><link_ctn id="wan"/></zoneRoute>
</zone>"#,
    );
    assert_eq!(fabric.nodes(), 4);
    assert_eq!(fabric.vertex_name(NodeId(3).into()), "r7.x");
    assert_eq!(route(&fabric, 0, 3), "ll wan right_backbone right_link_7_DOWN");
    assert_eq!(route(&fabric, 3, 0), "right_link_7_UP right_backbone wan ll");
    assert_eq!(route(&fabric, 1, 2), "right_link_0_UP right_backbone right_link_1_DOWN");
}

#[test]
fn zones_may_be_nested_three_deep() {
    let side = |name: &str| {
        format!(
            r#"<zone id="{name}" routing="Full"><zone id="{name}i" routing="Floyd"><host id="{name}0" speed="1f"/>
            <router id="{name}gw"/><link id="{name}l" bandwidth="1"/>
            <route src="{name}0" dst="{name}gw"><link_ctn id="{name}l"/></route></zone></zone>"#
        )
    };
    let fabric = built(&format!(
        r#"<zone id="w" routing="Dijkstra">{}{}<link id="x" bandwidth="1"/>
        <zoneRoute src="A" dst="B" gw_src="Agw" gw_dst="Bgw"><link_ctn id="x"/></zoneRoute></zone>"#,
        side("A"),
        side("B")
    ));
    assert_eq!(route(&fabric, 0, 1), "Al x Bl");
    assert_eq!(route(&fabric, 1, 0), "Bl x Al");
}

#[test]
fn shortest_paths_are_those_with_fewest_links() {
    for routing in ["Floyd", "Dijkstra", "DijkstraCache"] {
        let fabric = built(&format!(
            r#"<zone id="z" routing="{routing}">
  <host id="a" speed="1f"/><host id="b" speed="1f"/><host id="c" speed="1f"/><router id="r"/>
  <link id="ar" bandwidth="1"/><link id="rb" bandwidth="1"/><link id="bc" bandwidth="1"/><link id="long" bandwidth="1"/>
  <route src="a" dst="r"><link_ctn id="ar"/></route>
  <route src="r" dst="b"><link_ctn id="rb"/></route>
  <route src="b" dst="c"><link_ctn id="bc"/></route>
  <route src="a" dst="c" symmetrical="NO"><link_ctn id="long"/><link_ctn id="long"/><link_ctn id="long"/><link_ctn id="long"/></route>
</zone>"#
        ));
        assert_eq!(route(&fabric, 0, 2), "ar rb bc", "{routing}");
        assert_eq!(route(&fabric, 2, 0), "bc rb ar", "{routing}");
    }
}

#[test]
fn a_flat_cluster_is_a_crossbar_or_two_switches_around_its_backbone() {
    let cluster = |more: &str| {
        built(&format!(
            r#"<zone id="z" routing="Full"><cluster id="c" prefix="n-" suffix="" radical="0-4" speed="1Gf" bw="1GBps" lat="1us" {more}/></zone>"#
        ))
    };
    let plain = cluster("");
    assert!(matches!(plain.family_as::<Tree>(), Some(tree) if tree.down == [5]));
    assert!(plain.routes().is_none());
    assert_eq!(plain.vertex_name(NodeId(4).into()), "n-4");
    assert_eq!(plain.link_name(LinkId(5)), "c_link_0_DOWN");
    let backbone = cluster(r#"bb_bw="2GBps" bb_lat="5us""#);
    assert_eq!((backbone.switches(), backbone.links().len()), (2, 11));
    assert!(backbone.routes().is_none());
    assert_eq!(backbone.link(LinkId(10)).role, LinkRole::Network { tier: 0 });
    let shared = cluster(r#"sharing_policy="SHARED" limiter_link="1GBps""#);
    assert_eq!(shared.links().len(), 10);
    assert_eq!(route(&shared, 0, 1), "c_link_0_limiter c_link_0 c_link_1 c_link_1_limiter");
}

#[test]
fn hosts_of_a_cluster_zone_have_the_links_that_are_given_to_them() {
    let fabric = built(
        r#"<zone id="z" routing="Cluster">
  <host id="a" speed="1f"/><host id="b" speed="1f"/><router id="r"/>
  <link id="up" bandwidth="1GBps" sharing_policy="SPLITDUPLEX"/><link id="only" bandwidth="1GBps"/>
  <host_link id="a" up="up_UP" down="up_DOWN"/><host_link id="b" up="only" down="only"/>
  <backbone id="bb" bandwidth="1GBps" latency="1us"/>
</zone>"#,
    );
    assert_eq!(route(&fabric, 0, 1), "up_UP bb only");
    assert_eq!(route(&fabric, 1, 0), "only bb up_DOWN");
}

/// Returns a cluster with a topology.
fn cluster(topology: &str, parameters: &str, hosts: u32, more: &str) -> String {
    format!(
        r#"<zone id="z" routing="Full"><cluster id="c" prefix="h" suffix="" radical="0-{}" speed="1Gf" bw="1GBps" lat="0us" topology="{topology}" topo_parameters="{parameters}" {more}/></zone>"#,
        hosts - 1
    )
}

/// Parses a file of `testdata`: SimGrid's link numbers by source and destination.
fn simgrid(text: &str) -> Vec<Vec<Vec<u32>>> {
    let links = |field: &str| field.split_whitespace().map(|link| link.parse().unwrap()).collect();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split(';').map(links).collect()).collect()
}

/// Returns the routes of a platform in Hayase's link numbers.
fn all_routes(text: &str) -> Vec<Vec<Vec<u32>>> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).unwrap();
    let mut mistakes = element::Mistakes::new(0);
    let platform = read::read(document.root_element(), &mut mistakes, &mut beside);
    assert!(mistakes.is_empty());
    let one = |src: usize, dst: usize| {
        let mut route = Vec::new();
        assert!(platform.route(src, dst, &mut route));
        route
    };
    platform.hosts.iter().map(|&src| platform.hosts.iter().map(|&dst| one(src, dst)).collect()).collect()
}

#[test]
fn clusters_have_simgrids_routes_but_for_the_numbers_of_links() {
    let cases = [
        (cluster("FAT_TREE", "3;2,2,4;1,2,2;1,1,1", 16, ""), include_str!("testdata/fat-tree-2.txt"), 96),
        (cluster("TORUS", "4,4", 16, ""), include_str!("testdata/torus-4.txt"), 64),
        (cluster("TORUS", "5,5", 25, ""), include_str!("testdata/torus-5.txt"), 100),
    ];
    for (inside, data, links) in cases {
        let (theirs, ours) = (simgrid(data), all_routes(&whole(&inside)));
        assert_eq!(theirs.len(), ours.len());
        assert_eq!(built(&inside).links().len(), links);
        let (mut ours_of, mut theirs_of) = (BTreeMap::new(), BTreeMap::new());
        for (theirs, ours) in theirs.iter().flatten().zip(ours.iter().flatten()) {
            assert_eq!(theirs.len(), ours.len());
            for (&theirs, &ours) in theirs.iter().zip(ours) {
                assert_eq!(*ours_of.entry(theirs).or_insert(ours), ours);
                assert_eq!(*theirs_of.entry(ours).or_insert(theirs), theirs);
            }
        }
        assert!(!ours_of.is_empty());
    }
}

#[test]
fn a_fat_tree_or_torus_becomes_one_of_ours_and_lists_routes_only_where_simgrids_differ() {
    let tree = built(&cluster("FAT_TREE", "2;4,4;1,2;1,1", 16, ""));
    assert!(matches!(tree.family_as::<Tree>(), Some(tree) if tree.up == [1, 2]));
    assert!(tree.routes().is_none());
    assert_eq!(tree.vertex_name(NodeId(3).into()), "h3");
    let parallel = cluster("FAT_TREE", "2;4,4;1,2;1,2", 16, "");
    assert_eq!(built(&parallel).routes().unwrap().len(), 16 * 15);
    assert!(built_with(&parallel, true).routes().is_none());
    assert!(built(&cluster("TORUS", "5,3", 15, "")).routes().is_none());
    let even = built(&cluster("TORUS", "4,3,2", 24, ""));
    assert!(matches!(even.family_as::<Grid>(), Some(grid) if grid.dims == [4, 3, 2] && !grid.host_link));
    let routes = even.routes().unwrap();
    assert_eq!(routes.len(), 24 * 23);
    for (src, dst) in (0..24).flat_map(|src| (0..24).map(move |dst| (src, dst))).filter(|(src, dst)| src != dst) {
        let mut here = src;
        for &link in routes.get(NodeId(src), NodeId(dst)).unwrap() {
            let (from, to) = even.link(link).ends.unwrap();
            assert_eq!(from.0, here, "{src} to {dst}");
            here = to.0;
        }
        assert_eq!(here, dst);
    }
}

#[test]
fn parallel_cables_lead_where_the_tree_says() {
    let fabric = built(&cluster("FAT_TREE", "3;2,3,2;1,2,2;1,2,3", 12, ""));
    let routes = fabric.routes().unwrap();
    for (src, dst) in (0..12).flat_map(|src| (0..12).map(move |dst| (src, dst))).filter(|(src, dst)| src != dst) {
        let mut here = src;
        for &link in routes.get(NodeId(src), NodeId(dst)).unwrap() {
            let (from, to) = fabric.link(link).ends.unwrap();
            assert_eq!(from.0, here, "{src} to {dst}");
            here = to.0;
        }
        assert_eq!(here, dst);
    }
}

#[test]
fn without_split_duplex_a_cable_is_one_link_for_both_directions() {
    let fabric = built(&cluster("FAT_TREE", "2;2,2;1,2;1,1", 4, r#"sharing_policy="SHARED""#));
    assert_eq!(fabric.links().len(), 8);
    let routes = fabric.routes().unwrap();
    let mut back = routes.get(NodeId(1), NodeId(0)).unwrap().to_vec();
    back.reverse();
    assert_eq!(routes.get(NodeId(0), NodeId(1)).unwrap(), back);
    assert!(fabric.links().iter().all(|link| link.ends.is_none()));
}

#[test]
fn a_fatpipe_is_a_limit_where_it_is_the_narrowest_link_of_a_route() {
    let platform = |fatpipe: &str| {
        format!(
            r#"<zone id="z" routing="Full"><host id="a" speed="1f"/><host id="b" speed="1f"/>
<link id="thin" bandwidth="1GBps"/><link id="fat" bandwidth="{fatpipe}" latency="5us" sharing_policy="FATPIPE"/>
<route src="a" dst="b"><link_ctn id="thin"/><link_ctn id="fat"/></route></zone>"#
        )
    };
    let bandwidth = |text: &str| {
        let fabric = built(&platform(text));
        assert_eq!(route(&fabric, 0, 1), "thin fat");
        assert_eq!(fabric.link(LinkId(1)).latency.seconds(), 5e-6);
        assert!(fabric.is_own(LinkId(1)) && !fabric.is_own(LinkId(0)));
        assert!(fabric.shared_capacity(LinkId(1)) >= fabric.link(LinkId(0)).capacity);
        (fabric.link(LinkId(1)).capacity.bytes_per_second(), fabric.limits_messages())
    };
    assert_eq!(bandwidth("1GBps"), (1e9, false));
    assert_eq!(bandwidth("0.9GBps"), (9e8, true));
    // The route has no shared link.
    let alone = built(
        r#"<zone id="z" routing="Full"><host id="a"/><host id="b"/>
<link id="fat" bandwidth="1" sharing_policy="FATPIPE"/><route src="a" dst="b"><link_ctn id="fat"/></route></zone>"#,
    );
    assert!(alone.limits_messages());
}

fn regular(topology: &str, parameters: &str, radical: &str, rest: &str) -> String {
    format!(
        r#"<zone id="w" routing="Full"><cluster id="c" prefix="n" suffix="" radical="{radical}" speed="1f" bw="1GBps"
 lat="1us" topology="{topology}" topo_parameters="{parameters}" {rest}/></zone>"#
    )
}

/// Returns the bandwidths along a path [GB/s].
fn widths(fabric: &Fabric, src: u32, dst: u32) -> Vec<f64> {
    let route = fabric.routes().unwrap().get(NodeId(src), NodeId(dst)).unwrap();
    route.iter().map(|&link| fabric.link(link).capacity.bytes_per_second() / 1e9).collect()
}

#[test]
fn a_limiter_is_crossed_at_every_host_and_switch_of_a_way() {
    let limiter = r#"limiter_link="0.5GBps""#;
    let torus = built(&regular("TORUS", "3,3", "0-1,10-12,20-23", limiter));
    assert_eq!(torus.vertex_name(NodeId(8).into()), "n23");
    assert_eq!(widths(&torus, 0, 1), [0.5, 1.0, 0.5]);
    assert_eq!(widths(&torus, 0, 4), [0.5, 1.0, 0.5, 1.0, 0.5]);
    let tree = built(&regular("FAT_TREE", "2;2,2;1,2;1,1", "0-3", limiter));
    assert_eq!(widths(&tree, 0, 1), [0.5, 1.0, 0.5, 1.0, 0.5]);
    assert_eq!(widths(&tree, 0, 3), [0.5, 1.0, 0.5, 1.0, 0.5, 1.0, 0.5, 1.0, 0.5]);
    // A limiter is one link for all messages, in both directions.
    let of = |src, dst| torus.routes().unwrap().get(NodeId(src), NodeId(dst)).unwrap();
    assert_eq!((of(0, 1)[0], of(0, 1)[2]), (of(1, 0)[2], of(1, 0)[0]));
    let dragonfly = built(&regular("DRAGONFLY", "2,1;1,1;2,1;1", "0-3", limiter));
    assert_eq!(widths(&dragonfly, 0, 1), [0.5, 1.0, 0.5, 1.0, 0.5, 1.0, 0.5]);
}

/// The platform has 2 groups of 3 chassis of 4 routers with 2 nodes; blue, black and green links are 5, 3 and
/// 2 times as wide.
#[test]
fn a_dragonfly_has_the_links_and_routes_of_simgrid() {
    // SimGrid shares the links of a cluster for any sharing policy, except split-duplex links.
    for policy in ["SPLITDUPLEX", "SHARED", "FATPIPE"] {
        let rest = format!(r#"sharing_policy="{policy}""#);
        let fabric = built(&regular("DRAGONFLY", "2,5;3,3;4,2;2", "0-47", &rest));
        let cables = 48 + 6 * 6 + 2 * 3 * 4 + 1;
        assert_eq!(fabric.links().len(), if policy == "SPLITDUPLEX" { 2 * cables } else { cables });
        // The same router; the same chassis; another place of the first chassis; another chassis at the same place.
        assert_eq!(widths(&fabric, 0, 1), [1.0, 1.0]);
        assert_eq!(widths(&fabric, 0, 2), [1.0, 2.0, 1.0]);
        assert_eq!(widths(&fabric, 0, 8), [1.0, 3.0, 1.0]);
        assert_eq!(widths(&fabric, 0, 10), [1.0, 2.0, 3.0, 1.0]);
        // To the router with the other group's number, over, and on from the router with this group's number.
        assert_eq!(widths(&fabric, 2, 24), [1.0, 5.0, 1.0]);
        assert_eq!(widths(&fabric, 0, 26), [1.0, 2.0, 5.0, 2.0, 1.0]);
        assert_eq!(widths(&fabric, 0, 34), [1.0, 2.0, 5.0, 2.0, 3.0, 1.0]);
        assert_eq!(widths(&fabric, 8, 34), [1.0, 2.0, 3.0, 5.0, 2.0, 3.0, 1.0]);
        // SimGrid continues from the first chassis after a step inside a chassis.
        assert_eq!(widths(&fabric, 8, 10), [1.0, 2.0, 3.0, 1.0]);
        assert_eq!(widths(&fabric, 8, 2), [1.0, 2.0, 1.0]);
        let of = |src, dst| fabric.routes().unwrap().get(NodeId(src), NodeId(dst)).unwrap();
        assert_eq!(of(0, 2)[1] == of(2, 0)[1], policy != "SPLITDUPLEX");
        assert!(!fabric.limits_messages());
    }
}

const CHANGING: &str = r#"<zone id="z" routing="Full"><host id="a" state_file="any"/><host id="b"/><host id="c"/>
<link id="l" bandwidth="1GBps" ATTRIBUTES/><link id="m" bandwidth="1GBps"/>
<route src="a" dst="b"><link_ctn id="m"/></route>ROUTE</zone>"#;

#[test]
fn links_change_over_time_where_messages_cross_them() {
    let platform = |attributes: &str, used: bool, behind: &str| {
        let route = if used { r#"<route src="a" dst="c"><link_ctn id="l"/></route>"# } else { "" };
        CHANGING.replace("ATTRIBUTES", attributes).replace("ROUTE", route) + behind
    };
    let file = r#"bandwidth_file="slow.bw""#;
    let changing = built(&platform(file, true, ""));
    let link = LinkId(0);
    assert!(changing.timetable().is_some_and(|table| table.tracks().iter().all(|track| track.link == link)));
    assert!(built(&platform(file, false, "")).timetable().is_none());
    let trace = r#"<trace id="t" periodicity="21.0">
    0.0 1.0
    11.0 0.5
</trace>"#;
    let connect = |kind: &str, element: &str| {
        format!("{trace}<trace_connect kind=\"{kind}\" trace=\"t\" element=\"{element}\"/>")
    };
    // Profiles of hosts do not affect messages.
    for kind in ["SPEED", "HOST_AVAIL"] {
        built(&platform("", true, &connect(kind, "a")));
    }
    for kind in ["LINK_AVAIL", "BANDWIDTH"] {
        assert_eq!(built(&platform("", true, &connect(kind, "l"))).timetable().unwrap().tracks().len(), 1);
    }
    let said = mistakes(&platform("", true, &connect("LATENCY", "l")));
    assert!(said.contains("the latency of link `l` changes from 0 s on, and again every 21 s"), "{said}");
    for (behind, expected) in [
        (connect("SPEED", "x"), "there is no host, router or zone `x`"),
        (connect("BANDWIDTH", "x"), "there is no link `x`"),
        (connect("COLOUR", "a"), "is not a kind of trace"),
        (connect("SPEED", "a").replace("0.5", "half"), ""),
        (connect("BANDWIDTH", "m").replace("0.5", "half"), "p.xml:8:5: this is not a profile over time"),
        (r#"<trace id="t"/>"#.to_owned(), "`<trace>` is not supported"),
        (r#"<trace_connect trace="t" element="a"/>"#.to_owned(), "there is no trace `t`"),
    ] {
        match expected {
            "" => _ = built(&platform("", true, &behind)),
            _ => assert!(
                mistakes(&platform("", true, &behind)).contains(expected),
                "{behind}: {}",
                mistakes(&platform("", true, &behind))
            ),
        }
    }
    assert!(mistakes(&platform(r#"state_file="gone""#, true, "")).contains("there is no file `gone`"));
}

#[test]
fn mistakes_are_reported_where_they_are_all_at_once() {
    let cases = [
        (r#"<zone id="z" routing="Vivaldi"/>"#, "4:23: routing \"Vivaldi\" is not supported"),
        (r#"<zone id="z"/>"#, "4:2: `<zone>` has no `routing`"),
        (r#"<zone id="z" routing="Full" colour="red"/>"#, "4:29: unknown attribute `colour` of `<zone>`"),
        (r#"<zone id="z" routing="Full"><storage id="s"/></zone>"#, "4:30: `<storage>` is not supported"),
        (r#"<zone id="z" routing="Full"><host speed="1f"/></zone>"#, "4:30: `<host>` has no `id`"),
        (r#"<zone id="z" routing="Full"><host id="a"/><host id="a"/></zone>"#, "4:53: `a` is the name of two things"),
        (
            r#"<zone id="z" routing="Full"><zone id="z" routing="Full"><host id="a"/></zone></zone>"#,
            "4:39: `z` is the name of two things",
        ),
        (
            r#"<trace id="t">0 1</trace><trace id="t">0 2</trace><zone id="z" routing="Full"><host id="a"/></zone>"#,
            "4:37: `t` is the name of two things",
        ),
        (
            r#"<zone id="z" routing="Full"><link id="l" bandwidth="1GB/s" latency="5 parsecs"/></zone>"#,
            "4:53: \"1GB/s\" is not a bandwidth",
        ),
        (
            r#"<zone id="z" routing="Full"><link id="l" bandwidth="1" sharing_policy="WIFI"/></zone>"#,
            "4:72: \"WIFI\" is not a supported sharing policy",
        ),
        (
            r#"<zone id="z" routing="Full"><host id="alpha"/><route src="alpha" dst="alhpa"/></zone>"#,
            "4:71: there is no host, router or zone `alhpa`",
        ),
        (
            r#"<zone id="z" routing="Full"><host id="a"/><host id="b"/><route src="a" dst="b"><link_ctn id="x"/></route></zone>"#,
            "4:94: there is no link `x`",
        ),
        (&cluster("DRAGONFLY", "3,4;4,3", 4, ""), "is not a description of a dragonfly"),
        (&cluster("DRAGONFLY", "3,1;1,1;2,1;1", 6, ""), "no more groups than routers of a chassis"),
        (&cluster("DRAGONFLY", "1,1;1,1;1000000,1;1", 6, ""), "at most 16,777,216 links"),
        (&cluster("DRAGONFLY", "1,1;1,1;2,1;2", 6, ""), "a topology of 4 hosts for a cluster of 6"),
        (&cluster("TORUS", "2,3", 4, ""), "a topology of 6 hosts for a cluster of 4"),
        (&cluster("FAT_TREE", "2;2,2;1", 4, ""), "is not a description of a fat-tree"),
        (&cluster("TORUS", "2,2", 4, r#"bb_bw="1""#), "`bb_bw` is not supported"),
        (r#"<zone id="z" routing="Full"/><zone id="y" routing="Full"/>"#, "4:31: `<zone>` is not supported"),
        (r#"<zone id="z" routing="Full"/>"#, "3:2: the platform has no hosts"),
        (r#"<zone id="z" routing="Full">"#, "this is not XML"),
    ];
    for (inside, expected) in cases {
        let said = mistakes(inside);
        assert!(said.contains(expected), "{inside}\n{said}\n{expected}");
        assert!(said.starts_with("p.xml:"), "{said}");
    }
    let many = mistakes(
        r#"<zone id="z" routing="Full"><host/><link id="l" bandwidth="fast" latency="slow"/>
<cluster id="c" prefix="" suffix="" radical="x" speed="1f" bw="1" lat="1"/></zone>"#,
    );
    assert_eq!(many.lines().count(), 4, "{many}");
}

#[test]
fn routes_must_fit_their_zone() {
    let zones = |route: &str| {
        mistakes(&format!(
            r#"<zone id="z" routing="Full"><host id="a"/><zone id="in" routing="Full"><host id="b"/></zone>
<link id="one" bandwidth="1"/><link id="two" bandwidth="1" sharing_policy="SPLITDUPLEX"/>
{route}</zone>"#
        ))
    };
    let cases = [
        (r#"<route src="a" dst="b"/>"#, "6:21: `b` is not directly in zone `z`"),
        (r#"<route src="a" dst="in"/>"#, "expected <zoneRoute> with gateways"),
        (r#"<zoneRoute src="a" dst="in" gw_src="a" gw_dst="a"/>"#, "6:48: `a` is not a gateway of `in`"),
        (r#"<zoneRoute src="a" dst="in" gw_src="a"/>"#, "has no `gw_dst`"),
        (
            r#"<zoneRoute src="a" dst="in" gw_src="a" gw_dst="b"><link_ctn id="two"/></zoneRoute>"#,
            "`two` is a SPLITDUPLEX link",
        ),
        (
            r#"<zoneRoute src="a" dst="in" gw_src="a" gw_dst="b"><link_ctn id="one" direction="UP"/></zoneRoute>"#,
            "`one` is not a SPLITDUPLEX link",
        ),
        (
            r#"<zoneRoute src="a" dst="in" gw_src="a" gw_dst="b"/><zoneRoute src="in" dst="a" gw_src="b" gw_dst="a"/>"#,
            "the route from `in` to `a` is given twice",
        ),
    ];
    for (route, expected) in cases {
        let said = zones(route);
        assert!(said.contains(expected), "{route}\n{said}");
    }
}

#[test]
fn a_platform_of_another_version_or_kind_is_refused() {
    for (text, expected) in [
        ("<platform version=\"3\"/>", "1:20: platforms of version 3 are not supported"),
        ("<platform/>", "1:2: `<platform>` has no `version`"),
        ("<html/>", "1:2: `<html>` is not a SimGrid platform"),
        ("<platform version=\"4\"><zone", "p.xml:1:"),
        ("", "this is not XML"),
        ("ä\n<", "p.xml:"),
    ] {
        let said = shown(text, fabric(text, 0, "p", false, &mut beside).unwrap_err());
        assert!(said.contains(expected), "{text}: {said}");
    }
}

#[test]
fn routes_that_do_not_fit_in_memory_are_refused() {
    let said = mistakes(&cluster("TORUS", "64,64", 4096, ""));
    assert!(said.contains("the routes of 4096 hosts would have to be listed") && said.contains("own-routes"), "{said}");
    assert_eq!(built_with(&cluster("TORUS", "64,64", 4096, ""), true).nodes(), 4096);
}

#[test]
fn zones_nested_without_end_are_refused() {
    let inside = format!("{}{}", r#"<zone id="z" routing="Full">"#.repeat(300), "</zone>".repeat(300));
    assert!(mistakes(&inside).contains("nested too deeply"));
}

#[test]
fn a_platform_is_read_from_the_file_that_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("small.xml");
    std::fs::write(&path, whole(FULL)).unwrap();
    let spec = |path: &std::path::Path| SimgridSpec { platform: path.display().to_string().into(), own_routes: false };
    let fabric = spec(&path).build(&mut Sources::default()).unwrap();
    assert_eq!(fabric.name(), "small");
    let missing = spec(&folder.path().join("none.xml")).build(&mut Sources::default()).unwrap_err();
    assert!(missing[0].message.contains("there is no file"), "{missing:?}");
}

/// Returns a platform that uses every supported feature.
fn everything() -> String {
    whole(&format!(
        r#"<config id="g"><prop id="a" value="b"/></config><zone id="w" routing="Floyd">{}{}{}
<zoneRoute src="all" dst="k" gw_src="a" gw_dst="nk_router"><link_ctn id="l1"/></zoneRoute></zone>"#,
        FULL,
        r#"<cluster id="k" prefix="n" suffix="" radical="0-3" speed="1" bw="1" lat="0" bb_bw="1" bb_lat="0"/>"#,
        r#"<cluster id="t" prefix="t" suffix="" radical="0-5" speed="1" bw="1" lat="0" topology="TORUS" topo_parameters="3,2"/>"#
    ))
}

#[test]
fn the_platform_that_is_mangled_below_is_good_before() {
    let text = everything();
    let fabric =
        fabric(&text, 0, "p", false, &mut beside).unwrap_or_else(|mistakes| panic!("{}", shown(&text, mistakes)));
    assert_eq!(fabric.nodes(), 3 + 4 + 6);
    assert_eq!(route(&fabric, 0, 4), "l1 k_backbone k_link_1_DOWN");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_platform_however_mangled_makes_us_panic(
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 0usize..12, "[ -~\n]{0,6}|é|<|\"|&#0;|999999999"), 1..6)
    ) {
        let mut text = everything();
        for (at, length, with) in cuts {
            let mut start = at.index(text.len());
            while !text.is_char_boundary(start) {
                start -= 1;
            }
            let mut end = (start + length).min(text.len());
            while !text.is_char_boundary(end) {
                end += 1;
            }
            text.replace_range(start..end, &with);
        }
        if let Err(mistakes) = fabric(&text, 0, "p", false, &mut beside) {
            prop_assert!(!mistakes.is_empty());
            prop_assert!(!shown(&text, mistakes).is_empty());
        }
    }

    #[test]
    fn swapped_words_are_errors_or_platforms_and_never_panics(pairs in prop::collection::vec(any::<(prop::sample::Index, prop::sample::Index)>(), 1..8)) {
        let text = everything();
        let mut words: Vec<&str> = text.split_inclusive(['"', ' ', '<', '>']).collect();
        for (a, b) in pairs {
            let (a, b) = (a.index(words.len()), b.index(words.len()));
            words.swap(a, b);
        }
        let _ = fabric(&words.concat(), 0, "p", false, &mut beside);
    }
}

const BYPASSED: &str = r#"<zone id="all" routing="Full">
  <zone id="a" routing="Full">
    <zone id="inner" routing="Full"><host id="h0" speed="1Gf"/></zone>
    <host id="h1" speed="1Gf"/>
    <host id="h2" speed="1Gf"/>
    <link id="in" bandwidth="1GBps"/><link id="two" bandwidth="1GBps"/><link id="one" bandwidth="1GBps"/>
    <zoneRoute src="inner" dst="h1" gw_src="h0" gw_dst="h1"><link_ctn id="in"/></zoneRoute>
    <route src="h1" dst="h2"><link_ctn id="two"/><link_ctn id="in"/></route>
    <bypassRoute src="h1" dst="h2"><link_ctn id="one"/></bypassRoute>
  </zone>
  <zone id="b" routing="Full"><host id="h3" speed="1Gf"/></zone>
  <link id="far" bandwidth="1GBps"/><link id="near" bandwidth="1GBps"/><link id="nearest" bandwidth="1GBps"/>
  <zoneRoute src="a" dst="b" gw_src="h1" gw_dst="h3"><link_ctn id="far"/></zoneRoute>
  BYPASS
</zone>"#;

#[test]
fn a_bypass_is_taken_one_way_and_the_innermost_between_zones() {
    let near = r#"<bypassZoneRoute src="a" dst="b" gw_src="h2" gw_dst="h3"><link_ctn id="near"/></bypassZoneRoute>"#;
    let fabric = built(&BYPASSED.replace("BYPASS", near));
    assert_eq!((route(&fabric, 1, 2), route(&fabric, 2, 1)), ("one".to_owned(), "in two".to_owned()));
    // By h2, and inside `a` its own bypass.
    assert_eq!((route(&fabric, 1, 3), route(&fabric, 2, 3)), ("one near".to_owned(), "near".to_owned()));
    assert_eq!(route(&fabric, 3, 2), "far one");
    let both = format!(
        "{near}{}",
        r#"<bypassASroute src="inner" dst="b" gw_src="h0" gw_dst="h3"><link_ctn id="nearest"/></bypassASroute>"#
    );
    let fabric = built(&BYPASSED.replace("BYPASS", &both));
    assert_eq!((route(&fabric, 0, 3), route(&fabric, 1, 3)), ("nearest".to_owned(), "one near".to_owned()));
}

#[test]
fn what_is_wrong_with_a_bypass_is_said() {
    for (bypass, what) in [
        (r#"<bypassRoute src="a" dst="b"><link_ctn id="near"/></bypassRoute>"#, "expected <zoneRoute>"),
        (r#"<bypassRoute src="h1" dst="h2"><link_ctn id="near"/></bypassRoute>"#, "`h1` is not directly in zone `all`"),
        (r#"<bypassZoneRoute src="h1" dst="b" gw_src="h1" gw_dst="h3"/>"#, "`h1` is not a zone in `all`"),
        (r#"<bypassZoneRoute src="a" dst="b" gw_src="h3" gw_dst="h3"/>"#, "`h3` is not a gateway of `a`"),
        (r#"<bypassZoneRoute src="a" dst="b" gw_src="h1" gw_dst="h3"/>"#, "a bypass has links"),
        (r#"<bypassZoneRoute src="a" dst="b" gw_src="h1" gw_dst="h3"><link_ctn id="x"/></bypassZoneRoute>"#, "`x`"),
    ] {
        let said = mistakes(&BYPASSED.replace("BYPASS", bypass));
        assert!(said.contains(what), "{what}: {said}");
    }
}

#[test]
fn cabinets_are_hosts_around_a_backbone() {
    let cabinets = r#"<zone id="z" routing="Cluster">
<cabinet id="c1" prefix="h-" suffix=".x" speed="1Gf" bw="125MBps" lat="100us" radical="1,4"/>
<cabinet id="c2" prefix="h-" suffix=".x" speed="1Gf" bw="250MBps" lat="50us" radical="7-8"/>
<router id="r"/><backbone id="bb" bandwidth="2.25GBps" latency="500us"/></zone>"#;
    let fabric = built(cabinets);
    assert_eq!(fabric.nodes(), 4);
    let names: Vec<&str> = fabric
        .links()
        .ids()
        .map(|link| fabric.link_name(link))
        .collect::<Vec<_>>()
        .leak()
        .iter()
        .map(|name| &**name)
        .collect();
    assert!(names.contains(&"link_h-1.x_UP") && names.contains(&"link_h-8.x_DOWN"), "{names:?}");
    let elsewhere = cabinets
        .replace("\"Cluster\"", "\"Full\"")
        .replace("<backbone id=\"bb\" bandwidth=\"2.25GBps\" latency=\"500us\"/>", "");
    assert!(mistakes(&elsewhere).contains("routing=\"Cluster\" only"));
}

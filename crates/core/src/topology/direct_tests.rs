//! Tests of the families of today's machines: properties over many parameters, and mistakes in parameters.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::diagnostic::Sources;
use crate::fabric::{Fabric, LinkRole};
use crate::ids::{IdVec, LinkId, MessageId, NodeId, RankId};
use crate::rng::Stream;
use crate::routing::{Demand, Path, RoutingSpec, StartingMessage};
use crate::topology::TopologySpec;

fn tried(text: &str) -> Result<Fabric, Vec<crate::diagnostic::Diagnostic>> {
    let spec: TopologySpec = crate::reading::from_toml(&format!("[{text}\nbandwidth = \"1 GB/s\"")).unwrap();
    spec.build(&mut Sources::default())
}

fn built(text: &str) -> Arc<Fabric> {
    Arc::new(tried(text).unwrap_or_else(|mistakes| panic!("{text}: {}", mistakes[0].message)))
}

/// Returns the number of links from each switch to other switches.
fn degrees(fabric: &Fabric) -> Vec<u32> {
    let mut degrees = vec![0; fabric.switches() as usize];
    for link in fabric.links().iter().filter(|link| matches!(link.role, LinkRole::Network { .. })) {
        let (from, _) = link.ends.unwrap();
        degrees[(from.0 - fabric.nodes()) as usize] += 1;
    }
    degrees
}

/// Counts the links from each group to each other group.
fn between(fabric: &Fabric) -> BTreeMap<(u32, u32), u32> {
    let groups = fabric.groups().unwrap();
    let mut counts = BTreeMap::new();
    for link in fabric.links().iter().filter(|link| matches!(link.role, LinkRole::Network { .. })) {
        let (from, to) = link.ends.unwrap();
        let group = |vertex: u32| groups[(vertex - fabric.nodes()) as usize];
        if group(from.0) != group(to.0) {
            *counts.entry((group(from.0), group(to.0))).or_default() += 1;
        }
    }
    counts
}

/// Checks that every link exists in both directions and that switch names are unique.
fn check(fabric: &Fabric) {
    let named = fabric.link_names();
    assert!(fabric.links().ids().all(|link| named[link.0 as usize] == fabric.link_name(link)));
    let mut ends: Vec<_> = fabric.links().iter().map(|link| link.ends.unwrap()).collect();
    let mut back: Vec<_> = ends.iter().map(|&(from, to)| (to, from)).collect();
    ends.sort_unstable();
    back.sort_unstable();
    assert_eq!(ends, back, "{}", fabric.name());
    let mut names: Vec<String> = (0..fabric.switches()).map(|switch| fabric.family().switch_name(switch)).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), fabric.switches() as usize, "{}: two switches of one name", fabric.name());
}

/// Checks that the routes of the family's own rule lead from link to link to their end. Returns the longest
/// length.
fn longest_route(fabric: &Arc<Fabric>) -> usize {
    let router = RoutingSpec::default_for(fabric);
    assert_eq!(router.name(), "family", "{}", fabric.name());
    let router = router.build(fabric, 1).unwrap();
    let (mut longest, mut route) = (0, Vec::<LinkId>::new());
    for src in fabric.node_ids() {
        for dst in fabric.node_ids() {
            route.clear();
            router.route(src, dst, &mut route);
            let mut at = src.0;
            for &link in &route {
                let (from, to) = fabric.link(link).ends.unwrap();
                assert_eq!(from.0, at, "{}: {src} to {dst}", fabric.name());
                at = to.0;
            }
            assert_eq!(at, dst.0, "{}: {src} to {dst}", fabric.name());
            longest = longest.max(route.len());
        }
    }
    longest
}

#[test]
fn each_pair_of_groups_of_a_dragonfly_has_its_cables_in_every_arrangement() {
    for arrangement in ["absolute", "relative", "palmtree", "circulant", "random"] {
        for (p, a, h, g) in
            [(2, 4, 2, 9), (1, 2, 1, 3), (1, 3, 2, 7), (1, 5, 3, 4), (2, 4, 3, 7), (1, 6, 4, 6), (1, 1, 3, 4)]
        {
            let text = format!("dragonfly]\np = {p}\na = {a}\nh = {h}\ng = {g}\narrangement = \"{arrangement}\"");
            let fabric = built(&text);
            check(&fabric);
            assert_eq!(fabric.nodes(), p * a * g);
            let trunk = a * h / (g - 1);
            let counts = between(&fabric);
            assert_eq!(counts.len() as u32, g * (g - 1), "{text}");
            assert!(counts.values().all(|&links| links == trunk), "{text}: {counts:?}");
            assert!(degrees(&fabric).iter().all(|&degree| degree <= a - 1 + h), "{text}");
            if trunk * (g - 1) == a * h {
                assert!(degrees(&fabric).iter().all(|&degree| degree == a - 1 + h), "{text}");
            }
            let longest = longest_route(&fabric);
            assert!(longest <= 5 && fabric.diameter().unwrap() as usize <= longest, "{text}: {longest}");
        }
    }
}

/// The full dragonfly of h = 2 has 72 nodes, 36 switches, and at most three links between switches on a
/// route.
#[test]
fn a_dragonfly_is_whole_where_only_p_is_given() {
    let fabric = built("dragonfly]\np = 2");
    assert_eq!((fabric.nodes(), fabric.switches(), fabric.links().len()), (72, 36, 2 * (72 + 9 * 6 + 36)));
    assert_eq!(fabric.diameter(), Some(5));
    assert_eq!(fabric.family().switch_name(7), "g1.s3");
    let one = built("dragonfly]\np = 3\ng = 1");
    assert_eq!((one.nodes(), one.diameter(), longest_route(&one)), (18, Some(3), 3));
    let single = built("dragonfly]\np = 1\na = 1\ng = 1");
    assert_eq!((single.nodes(), single.diameter()), (1, Some(0)));
}

#[test]
fn a_cascade_group_is_complete_along_rows_and_columns() {
    let text = "dragonfly]\np = 1\nrows = 3\ncolumns = 4\ncolumn-links = 3\nh = 1\ng = 4";
    let fabric = built(text);
    check(&fabric);
    assert!(
        degrees(&fabric).iter().all(|&degree| degree == 3 + 2 * 3 + 1),
        "three columns, two rows by three, one port"
    );
    assert!(between(&fabric).values().all(|&links| links == 4));
    assert_eq!(fabric.family().switch_name(12 + 7), "g1.r1c3");
    // At most a row and a column in each group, and the cable between the groups.
    let longest = longest_route(&fabric);
    assert!(longest <= 7 && fabric.diameter().unwrap() as usize <= longest, "{longest}");
}

#[test]
fn a_dragonfly_plus_has_leaves_and_spines() {
    for (nodes, leaves, spines, ports, groups) in
        [(2, 2, 2, 2, 5), (1, 3, 2, 3, 4), (3, 1, 1, 1, 2), (1, 4, 4, 4, 17), (2, 2, 2, 1, 1)]
    {
        let text = format!(
            "dragonfly-plus]\nnodes = {nodes}\nleaves = {leaves}\nspines = {spines}\nglobal-ports = {ports}\ngroups = {groups}"
        );
        let fabric = built(&text);
        check(&fabric);
        assert_eq!(fabric.nodes(), nodes * leaves * groups);
        let trunk = if groups > 1 { spines * ports / (groups - 1) } else { 0 };
        assert_eq!(between(&fabric).len() as u32, groups * (groups - 1));
        assert!(between(&fabric).values().all(|&links| links == trunk), "{text}");
        let longest = longest_route(&fabric);
        assert!(longest <= 5 && fabric.diameter().unwrap() as usize <= longest, "{text}");
    }
}

#[test]
fn switches_of_a_hyperx_that_differ_in_one_coordinate_are_joined() {
    for (shape, links) in [
        (vec![4], vec![1]),
        (vec![3, 4], vec![2, 1]),
        (vec![2, 3, 2], vec![1, 1, 3]),
        (vec![1, 5], vec![1, 1]),
        (vec![1], vec![1]),
    ] {
        let fabric = built(&format!("hyperx]\nshape = {shape:?}\nnodes = 2\nlinks = {links:?}"));
        check(&fabric);
        let degree: u32 = shape.iter().zip(&links).map(|(size, links)| (size - 1) * links).sum();
        assert!(degrees(&fabric).iter().all(|&found| found == degree));
        assert_eq!(fabric.switches(), shape.iter().product::<u32>());
        let searched = fabric.search_diameter();
        assert_eq!(fabric.diameter(), searched, "{shape:?}");
        assert_eq!(longest_route(&fabric), searched.unwrap() as usize);
    }
}

#[test]
fn slim_flies_are_regular_and_of_diameter_two() {
    for q in [3, 4, 5, 7, 8, 9, 11, 13] {
        let fabric = built(&format!("slim-fly]\nq = {q}\np = 1"));
        check(&fabric);
        let delta = match q % 4 {
            1 => 1,
            3 => -1,
            _ => 0,
        };
        assert_eq!(fabric.switches(), 2 * q * q);
        assert!(degrees(&fabric).iter().all(|&degree| degree as i64 == (3 * i64::from(q) - delta) / 2), "q = {q}");
        assert_eq!(fabric.diameter(), Some(4), "q = {q}: two cables and two host links");
    }
    assert_eq!(built("slim-fly]\nq = 5").nodes(), 200);
}

#[test]
fn polarflies_have_their_quadrics_and_diameter_two() {
    for q in [2, 3, 4, 5, 7, 8, 9] {
        let fabric = built(&format!("polarfly]\nq = {q}\np = 1"));
        check(&fabric);
        assert_eq!(fabric.switches(), q * q + q + 1);
        let degrees = degrees(&fabric);
        assert_eq!(degrees.iter().filter(|&&degree| degree == q).count() as u32, q + 1, "q = {q}: quadrics");
        assert!(degrees.iter().all(|&degree| degree == q || degree == q + 1));
        assert_eq!(fabric.diameter(), Some(4));
    }
}

#[test]
fn a_jellyfish_is_simple_regular_connected_and_its_own_by_seed() {
    for (switches, degree) in [(1, 0), (2, 1), (7, 2), (6, 5), (10, 3), (50, 7), (20, 18), (9, 8), (300, 220)] {
        let fabric = built(&format!("jellyfish]\nswitches = {switches}\nradix = {}\ndegree = {degree}", degree + 2));
        check(&fabric);
        assert!(degrees(&fabric).iter().all(|&found| found == degree), "{switches} of {degree}");
        assert!(fabric.diameter().is_some());
        let mut ends: Vec<_> = fabric.links().iter().map(|link| link.ends.unwrap()).collect();
        let all = ends.len();
        ends.sort_unstable();
        ends.dedup();
        assert_eq!(ends.len(), all, "two cables between the same switches");
    }
    let with = |seed: u32| {
        let fabric = built(&format!("jellyfish]\nswitches = 30\nradix = 6\ndegree = 4\nseed = {seed}"));
        fabric.links().iter().map(|link| link.ends).collect::<Vec<_>>()
    };
    assert!(with(1) == with(1) && with(1) != with(2));
}

#[test]
fn rails_join_the_same_place_of_every_server() {
    let fabric =
        built("rails]\nnvlink-bandwidth = \"8 GB/s\"\nservers = 4\ngpus = 2\nsegment = 2\nspines = 3\nplanes = 2");
    check(&fabric);
    assert_eq!((fabric.nodes(), fabric.switches()), (8, 4 + 2 * (4 + 3)));
    let next = |node: u32| {
        let mut names: Vec<String> = fabric
            .links()
            .iter()
            .filter_map(|link| link.ends.filter(|(from, _)| from.0 == node))
            .map(|(_, to)| fabric.vertex_name(to))
            .collect();
        names.sort();
        names
    };
    assert_eq!(next(5), ["plane0.seg1.leaf1", "plane1.seg1.leaf1", "server2"]);
    assert_eq!((longest_route(&fabric), fabric.diameter()), (4, Some(4)));
    let router = RoutingSpec::default_for(&fabric).build(&fabric, 1).unwrap();
    let mut route = Vec::new();
    router.route(NodeId(0), NodeId(1), &mut route);
    assert_eq!((route.len(), fabric.link(route[0]).capacity.bytes_per_second()), (2, 8e9));
    for text in [
        "servers = 1",
        "servers = 1\ngpus = 1",
        "servers = 3\ngpus = 1",
        "servers = 5\nsegment = 2\nspines = 2",
        "servers = 6\ngpus = 4\nsegment = 3\nby-rail = false\nspines = 3\nspine-links = 2",
        "servers = 7\ngpus = 3\nsegment = 5\nby-rail = false",
    ] {
        let fabric = built(&format!("rails]\nnvlink-bandwidth = \"8 GB/s\"\n{text}"));
        check(&fabric);
        assert_eq!(longest_route(&fabric), fabric.diameter().unwrap() as usize, "{text}");
    }
}

/// `oversubscription` thins the cables above the leaves and nothing else.
#[test]
fn a_tree_may_be_oversubscribed_by_a_word() {
    for (size, up) in [("p = 4", "[1, 2, 4]"), ("down = [4, 4, 8]", "[1, 2, 4]"), ("down = [8, 6]", "[1, 4]")] {
        let word = built(&format!("fat-tree]\n{size}\noversubscription = 2"));
        let down = if size.starts_with('p') { "down = [4, 4, 8]" } else { size };
        let lists = built(&format!("fat-tree]\n{down}\nup = {up}"));
        let ends = |fabric: &Fabric| fabric.links().iter().map(|link| link.ends).collect::<Vec<_>>();
        assert!(ends(&word) == ends(&lists), "{size}");
        assert_eq!(word.oversubscription(), Some(2.0), "{size}");
    }
}

/// The bisection bandwidth is the smaller of that of the cables between the halves and that of the host
/// links.
#[test]
fn a_node_that_hangs_on_a_switch_does_not_move_the_cut() {
    // A complete graph of 4 switches of 2 nodes: two switches send over 4 cables to the other two, and the host links
    // of 4 nodes have the same bandwidth.
    let fabric = built("hyperx]\nshape = [4]\nnodes = 2");
    assert_eq!(fabric.bisection().unwrap().bandwidth.bytes_per_second(), 4e9);
    let narrow = built("hyperx]\nshape = [2]\nnodes = 3");
    assert_eq!(narrow.bisection().unwrap().bandwidth.bytes_per_second(), 1e9);
    assert_eq!(narrow.oversubscription(), Some(3.0));
}

/// Two switches of a ring are joined by one cable; a single switch has none.
#[test]
fn a_ring_of_rings_is_as_wide_as_its_rings() {
    for (rings, switches) in [(1, 1), (1, 5), (2, 2), (4, 3), (5, 1), (3, 7)] {
        let fabric = built(&format!("ring-of-rings]\nrings = {rings}\nswitches = {switches}\nnodes = 2"));
        check(&fabric);
        // To the first switch, to the other ring, and along it: half-way round each ring.
        let inner = if rings > 1 { 2 * (switches / 2) } else { switches / 2 };
        assert_eq!(fabric.diameter(), Some(2 + inner + rings / 2), "{rings} of {switches}");
    }
}

#[test]
fn parameters_that_no_member_has_are_told() {
    for (text, code, part) in [
        ("dragonfly]\np = 2\ng = 10", "topology-parameter", "8 global ports"),
        ("dragonfly]\np = 0", "size", "0"),
        ("dragonfly]\np = 2\ng = 0", "size", "0"),
        ("dragonfly]\np = 2\nrows = 2", "topology-parameter", "rows and columns"),
        ("dragonfly]\np = 2\na = 5\nrows = 2\ncolumns = 2", "topology-parameter", "= 4"),
        ("dragonfly]\np = 2\ng = 3\nglobal-links = 5", "topology-parameter", "5 cables"),
        ("dragonfly]\np = 2\nseed = 3", "topology-parameter", "seed"),
        ("dragonfly]\np = 2\na = 4000000000\nh = 4000000000\ng = 3", "topology-parameter", "too large"),
        ("dragonfly]\np = 1000", "too-large", "nodes"),
        ("dragonfly-plus]\nnodes = 2\nleaves = 2\ngroups = 6", "topology-parameter", "4 global ports"),
        ("hyperx]\nshape = [4, 4]\nnodes = 1\nlinks = [1]", "length", "1 value,"),
        ("hyperx]\nshape = [4, 4]\nnodes = 1\nlinks = 0", "size", "without cables"),
        ("hyperx]\nshape = []\nnodes = 1", "tiers", "0 dimensions"),
        ("slim-fly]\nq = 6", "topology-parameter", "q = 6"),
        ("slim-fly]\nq = 2", "topology-parameter", "q = 2"),
        ("polarfly]\nq = 1", "topology-parameter", "q = 1"),
        ("polarfly]\nq = 4001", "too-large", "nodes"),
        ("jellyfish]\nswitches = 5\nradix = 4\ndegree = 3", "topology-parameter", "without another"),
        ("jellyfish]\nswitches = 5\nradix = 4\ndegree = 4", "topology-parameter", "leave none"),
        ("jellyfish]\nswitches = 4\nradix = 9\ndegree = 5", "topology-parameter", "no 5 others"),
        ("jellyfish]\nswitches = 8\nradix = 9\ndegree = 1", "topology-parameter", "not connected"),
        ("fat-tree]\np = 4\noversubscription = 3", "topology-parameter", "divided by 3"),
        ("fat-tree]\np = 4\noversubscription = 0", "size", "0"),
        ("fat-tree]\ndown = [4, 4]\nup = [1, 2]\noversubscription = 2", "topology-parameter", "both by"),
        ("fat-tree]\ndown = [4]\noversubscription = 2", "topology-parameter", "no cables up"),
        ("ring-of-rings]\nrings = 0\nswitches = 2\nnodes = 1", "size", "0"),
        ("rails]\nnvlink-bandwidth = \"1 GB/s\"\nservers = 2\nspines = 0", "topology-parameter", "without spines"),
        ("rails]\nnvlink-bandwidth = \"1 GB/s\"\nservers = 2\nsegment = 3", "topology-parameter", "larger"),
        ("rails]\nnvlink-bandwidth = \"0 B/s\"\nservers = 2", "no-bandwidth", "never"),
    ] {
        let mistakes = tried(text).expect_err(text);
        assert_eq!(mistakes[0].code, code, "{text}: {}", mistakes[0].message);
        assert!(mistakes[0].message.contains(part), "{text}: {}", mistakes[0].message);
    }
}

#[test]
fn a_mistake_of_the_links_of_a_group_is_said_once() {
    for family in
        ["dragonfly]\np = 2\nrows = 2\ncolumns = 2", "dragonfly]\np = 2", "dragonfly-plus]\nnodes = 2\nleaves = 2"]
    {
        let mistakes = tried(&format!("{family}\nlocal-bandwidth = \"0 B/s\"")).unwrap_err();
        assert_eq!(mistakes.len(), 1, "{family}: {mistakes:?}");
    }
}

/// Returns the largest load of a link by tier if every node sends to every other at 1 / (N - 1) of its
/// bandwidth.
fn largest_loads(fabric: &Arc<Fabric>) -> Vec<f64> {
    let router = RoutingSpec::default_for(fabric).build(fabric, 1).unwrap();
    let mut counts = IdVec::filled(fabric.links().len(), 0u32);
    for src in fabric.node_ids() {
        let ends: Vec<(NodeId, NodeId)> = fabric.node_ids().filter(|&dst| dst != src).map(|dst| (src, dst)).collect();
        router.count(&ends, &mut counts);
    }
    let mut largest = Vec::new();
    for (id, link) in fabric.links().iter_ids() {
        let LinkRole::Network { tier } = link.role else { continue };
        largest.resize(largest.len().max(usize::from(tier) + 1), 0.0f64);
        let load = f64::from(counts[id]) / f64::from(fabric.nodes() - 1);
        largest[usize::from(tier)] = largest[usize::from(tier)].max(load);
    }
    largest
}

/// With minimal routes on a balanced dragonfly, a global cable carries (a p)^2 messages. A local one carries
/// those between its two ends' nodes (p^2) and those that leave by one of h ports at either end (2 h p a p).
/// On a HyperX in dimension order, a cable carries T^2 times the other dimensions.
#[test]
fn uniform_traffic_loads_links_as_the_closed_forms_say() {
    for arrangement in ["absolute", "relative", "palmtree", "circulant"] {
        let fabric = built(&format!("dragonfly]\np = 2\narrangement = \"{arrangement}\""));
        let (local, global) = ((4.0 + 2.0 * 2.0 * 2.0 * 8.0) / 71.0, 64.0 / 71.0);
        let loads = largest_loads(&fabric);
        assert!((loads[0] - local).abs() < 1e-12 && (loads[1] - global).abs() < 1e-12, "{arrangement}: {loads:?}");
    }
    let loads = largest_loads(&built("hyperx]\nshape = [12, 8]\nnodes = 7"));
    assert!(
        (loads[0] - 49.0 * 8.0 / 671.0).abs() < 1e-12 && (loads[1] - 49.0 * 12.0 / 671.0).abs() < 1e-12,
        "{loads:?}"
    );
}

/// Dragonflies with one, two and more cables between groups, in order and at random, and with parallel ones inside.
const DRAGONFLIES: [&str; 7] = [
    "dragonfly]\np = 2",
    "dragonfly]\np = 2\na = 5\nh = 3\ng = 4",
    "dragonfly]\np = 1\na = 4\nh = 5\ng = 3\narrangement = \"random\"\nrow-links = 2",
    "dragonfly]\np = 3\na = 6\nh = 4\ng = 5\narrangement = \"random\"",
    "dragonfly]\np = 2\na = 1\nh = 3\ng = 4",
    "dragonfly]\np = 2\na = 4\nh = 1\ng = 1",
    "dragonfly]\np = 2\nh = 6\nrows = 2\ncolumns = 3\nrow-links = 2\ng = 4",
];

/// HyperX and dragonfly+, with one and with parallel cables, and with one switch or group.
const OTHERS: [&str; 9] = [
    "hyperx]\nshape = [3, 4]\nnodes = 2",
    "hyperx]\nshape = [3, 1, 2, 4]\nnodes = 1\nlinks = [1, 2, 3, 2]",
    "hyperx]\nshape = [1]\nnodes = 3",
    "dragonfly-plus]\nnodes = 2\nleaves = 2",
    "dragonfly-plus]\nnodes = 1\nleaves = 3\nspines = 2\nglobal-ports = 6\ngroups = 4\nlocal-links = 2",
    "dragonfly-plus]\nnodes = 2\nleaves = 4\nspines = 3\nglobal-ports = 5\ngroups = 5\narrangement = \"random\"",
    "dragonfly-plus]\nnodes = 2\nleaves = 3\nspines = 1\nglobal-ports = 2",
    "dragonfly-plus]\nnodes = 2\nleaves = 1\nspines = 2\nglobal-ports = 2\ngroups = 3",
    "dragonfly-plus]\nnodes = 2\nleaves = 3\nspines = 2\ngroups = 1",
];

/// With another capacity of one link, the family's arithmetic is not used and paths come from tables.
#[test]
fn shortest_paths_by_arithmetic_are_those_of_tables() {
    let mut by_arithmetic = 0;
    for text in DRAGONFLIES.into_iter().chain(OTHERS) {
        let fabric = built(text);
        by_arithmetic += u32::from(fabric.family().shortest_paths().is_some());
        let half = crate::units::Bandwidth::from_bytes_per_second(5e8);
        let tables = Arc::new(fabric.altered(&[], &[(LinkId(0), half)]));
        let mut random = Stream::new(1, "under way");
        let mut under_way = IdVec::filled(fabric.links().len(), 0u32);
        under_way.as_mut_slice().iter_mut().for_each(|count| *count = random.below(5) as u32);
        for rule in ["minimal", "ecmp", "valiant-groups", "valiant-switches", "ugal-l", "ugal-g", "progressive"] {
            let build = |fabric| RoutingSpec::parse_name(rule).unwrap().build(fabric, 3);
            // (Not every rule is for every fabric.)
            if build(&fabric).is_err() {
                assert_ne!(rule, "minimal", "{text}");
                continue;
            }
            let [one, other] = [&fabric, &tables].map(|fabric| {
                let router = build(fabric).unwrap();
                let mut paths = Vec::new();
                for (src, dst) in fabric.node_ids().flat_map(|src| fabric.node_ids().map(move |dst| (src, dst))) {
                    let mut path = Path::default();
                    match router.choice() {
                        Some(choice) if src != dst => {
                            let message = MessageId { src: RankId(src.0), index: dst.0 };
                            choice.choose(StartingMessage { src, dst, message }, &under_way, &mut path);
                        }
                        _ => router.route(src, dst, &mut path.links),
                    }
                    paths.push(path.links);
                }
                paths
            });
            assert_eq!(one, other, "{rule} on {text}");
        }
    }
    assert_eq!(by_arithmetic, 15);
}

/// Equal amounts are counted, and added up at the end.
#[test]
fn counted_loads_are_sums_over_routes_to_the_last_bit() {
    for text in DRAGONFLIES.iter().chain(&["hyperx]\nshape = [3, 4]\nnodes = 2", "fat-tree]\np = 3"]) {
        let fabric = built(text);
        let router = RoutingSpec::default_for(&fabric).build(&fabric, 1).unwrap();
        let pairs = fabric.node_ids().flat_map(|src| fabric.node_ids().map(move |dst| (src, dst, 0.1)));
        let demand = Demand::Pairs(pairs.filter(|(src, dst, _)| src != dst).collect());
        let mut counted = IdVec::filled(fabric.links().len(), 0.0);
        router.loads(&demand, &mut counted).unwrap();
        // Counting is in 32 parts, by source.
        let mut parts = vec![vec![0.0; fabric.links().len()]; 32];
        let mut times = IdVec::filled(fabric.links().len(), 0u32);
        for (src, dst) in fabric.node_ids().flat_map(|src| fabric.node_ids().map(move |dst| (src, dst))) {
            let mut route = Vec::new();
            router.route(src, dst, &mut route);
            for link in route {
                parts[src.0 as usize % 32][link.0 as usize] += 0.1;
                times[link] += 1;
            }
        }
        for (link, &load) in counted.iter_ids() {
            let sum = parts.iter().fold(0.0f64, |sum, part| sum + part[link.0 as usize]);
            assert_eq!(load.to_bits(), sum.to_bits(), "{text}: link {link}");
        }
        let ends: Vec<_> = fabric.node_ids().flat_map(|src| fabric.node_ids().map(move |dst| (src, dst))).collect();
        let mut counts = IdVec::filled(fabric.links().len(), 0u32);
        router.count(&ends, &mut counts);
        assert_eq!(counts.as_slice(), times.as_slice(), "{text}");
    }
}

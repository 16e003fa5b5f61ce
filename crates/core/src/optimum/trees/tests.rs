//! Tests against reference values and exhaustive search.

use rustc_hash::FxHashMap;

use super::*;

/// Bounds of fabrics as exact fractions, and the graph of each.
const BOUNDS: &str = include_str!("../../../../../validation/optimum/forest.jsonl");

fn go(_: f64) -> bool {
    true
}

fn ratio(text: &str) -> Ratio {
    let (above, below) = text.split_once('/').unwrap_or((text, "1"));
    Ratio::new(above.parse().unwrap(), below.parse().unwrap()).unwrap()
}

/// Row of the references: text of a column by its name.
struct Row(serde_json::Value);

impl Row {
    fn name(&self) -> &str {
        self.0["name"].as_str().unwrap()
    }

    fn ratio(&self, column: &str) -> Ratio {
        ratio(self.0[column].as_str().unwrap())
    }
}

/// Rows of the references with their graphs.
fn rows() -> Vec<(Row, Graph)> {
    let row = |line| {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let compute = row["compute"].as_u64().unwrap() as u32;
        let vertices = compute + row["switches"].as_u64().unwrap() as u32;
        let links = serde_json::from_value(row["links"].clone()).unwrap();
        (Row(row), Graph { compute, vertices, links })
    };
    BOUNDS.lines().map(row).collect()
}

/// Largest number of edges from a root to a node.
fn depth(forest: &Forest, nodes: u32) -> u32 {
    forest.trees.iter().flat_map(|tree| tree.depths(nodes).unwrap()).max().unwrap()
}

#[test]
fn bounds_are_those_of_the_reference() {
    for (row, graph) in rows() {
        let bound = bound(&graph, &mut go).unwrap();
        assert_eq!(bound.time, row.ratio("allgather_s"), "{}", row.name());
        assert_eq!(bound.trees_per_root, row.0["trees_per_root"], "{}", row.name());
        let roots = (0..graph.compute).map(|root| broadcast_bound(&graph, root, &mut go).unwrap());
        let times: Vec<Ratio> = roots.collect();
        assert_eq!(times[0], row.ratio("broadcast_rank0_s"), "{}", row.name());
        assert_eq!(times.iter().min(), Some(&row.ratio("broadcast_best_root_s")), "{}", row.name());
        assert_eq!(times.iter().max(), Some(&row.ratio("broadcast_worst_root_s")), "{}", row.name());
    }
}

/// Leaves with hosts, each joined to each spine, by links of these bandwidths.
fn fat_tree(leaves: u32, hosts: u32, spines: u32, down: u64, up: u64) -> Graph {
    let (compute, mut links) = (leaves * hosts, Vec::new());
    for host in 0..compute {
        links.extend([(host, compute + host / hosts, down), (compute + host / hosts, host, down)]);
    }
    for (leaf, spine) in (0..leaves).flat_map(|leaf| (0..spines).map(move |spine| (leaf, spine))) {
        let (leaf, spine) = (compute + leaf, compute + leaves + spine);
        links.extend([(leaf, spine, up), (spine, leaf, up)]);
    }
    Graph { compute, vertices: compute + leaves + spines, links }
}

/// Boxes of 8 GPUs on an inner switch, and one switch for all.
fn boxes(count: u32, inner: u64, outer: u64) -> Graph {
    let (compute, mut links) = (8 * count, Vec::new());
    for gpu in 0..compute {
        for (switch, bandwidth) in [(compute + gpu / 8, inner), (compute + count, outer)] {
            links.extend([(gpu, switch, bandwidth), (switch, gpu, bandwidth)]);
        }
    }
    Graph { compute, vertices: compute + count + 1, links }
}

/// Torus whose nodes are the routers.
fn torus(dims: &[u32]) -> Graph {
    let compute = dims.iter().product();
    let mut links = Vec::new();
    for node in 0..compute {
        let mut stride = 1;
        for &dim in dims {
            let at = node / stride % dim;
            let to = |by: u32| node - at * stride + (at + by) % dim * stride;
            links.push((node, to(1), 1));
            links.extend((dim > 2).then(|| (node, to(dim - 1), 1)));
            stride *= dim;
        }
    }
    Graph { compute, vertices: compute, links }
}

/// Links of a path with the fewest hops.
fn shortest(graph: &Graph) -> impl FnMut(u32, u32) -> Vec<u32> {
    let mut out = vec![Vec::new(); graph.vertices as usize];
    for (number, &(from, to, _)) in (0..).zip(&graph.links) {
        out[from as usize].push((number, to));
    }
    let links = graph.links.clone();
    move |from, to| {
        let (mut into, mut queue) = (vec![None; out.len()], std::collections::VecDeque::from([from]));
        while let Some(vertex) = queue.pop_front().filter(|_| into[to as usize].is_none()) {
            let spread = (from + to) as usize % out[vertex as usize].len();
            let (late, early) = out[vertex as usize].split_at(spread);
            for &(link, next) in early.iter().chain(late) {
                if into[next as usize].is_none() && next != from {
                    into[next as usize] = Some(link);
                    queue.push_back(next);
                }
            }
        }
        let mut path = Vec::new();
        let mut at = to;
        while at != from {
            let link: u32 = into[at as usize].unwrap();
            path.insert(0, link);
            at = links[link as usize].0;
        }
        path
    }
}

#[test]
fn bounds_of_large_fabrics_are_those_of_the_reference() {
    for (graph, time) in [
        (fat_tree(24, 18, 18, 1, 1), "431"),
        (boxes(54, 450, 50), "53/50"),
        (boxes(128, 450, 50), "127/50"),
        (fat_tree(96, 36, 18, 1, 1), "3455"),
    ] {
        let bound = bound(&graph, &mut go).unwrap();
        assert_eq!((bound.time, bound.trees_per_root), (ratio(time), 1));
    }
}

#[test]
fn trees_reach_the_bounds() {
    for (row, graph) in rows() {
        let forest = all_gather(&graph, &mut go).unwrap();
        assert_eq!(forest.verified_time(&graph), Some(row.ratio("allgather_s")), "{}", row.name());
        let forest = broadcast(&graph, 0, &mut go).unwrap();
        assert!(forest.trees.iter().all(|tree| tree.root == 0));
        assert_eq!(forest.verified_time(&graph), Some(row.ratio("broadcast_rank0_s")), "{}", row.name());
    }
}

#[test]
#[ignore = "takes a minute"]
fn trees_of_large_fabrics_reach_the_bound() {
    for (graph, time) in
        [(fat_tree(24, 18, 18, 1, 1), "431"), (boxes(54, 450, 50), "53/50"), (two_boxes_of_mi250(), "15/166")]
    {
        let forest = all_gather(&graph, &mut go).unwrap();
        assert_eq!(forest.verified_time(&graph), Some(ratio(time)));
    }
}

/// MI250 systems of two boxes with 16 GCDs each.
fn two_boxes_of_mi250() -> Graph {
    let (_, inner) = rows().into_iter().find(|(row, _)| row.name() == "mi250-1x16").unwrap();
    let mut links = Vec::new();
    for shift in [0, 16] {
        links.extend(inner.links.iter().map(|&(from, to, bandwidth)| (from + shift, to + shift, bandwidth)));
        links.extend((shift..shift + 16).flat_map(|gcd| [(gcd, 32, 16), (32, gcd, 16)]));
    }
    Graph { compute: 32, vertices: 33, links }
}

#[test]
fn few_trees_reach_most_of_the_bandwidth() {
    let graph = two_boxes_of_mi250();
    let best = bound(&graph, &mut go).unwrap();
    assert_eq!(best.trees_per_root, 83);
    assert!((32.0 / best.time.value() - 354.13).abs() < 0.01);
    for (trees, bandwidth) in [(1, 320.0), (5, 347.8)] {
        let forest = with_trees(&graph, trees, &mut go).unwrap();
        let time = forest.verified_time(&graph).unwrap();
        assert!((32.0 / time.value() - bandwidth).abs() < 0.05);
    }
}

#[test]
fn bandwidths_in_bytes_per_second_are_reduced() {
    let graph = boxes(4, 450_000_000_000, 50_000_000_000);
    let forest = all_gather(&graph, &mut go).unwrap();
    assert_eq!(forest.verified_time(&graph), Some(ratio("31/500000000000")));
    let graph = Graph { compute: 2, vertices: 2, links: vec![(0, 1, u64::MAX), (1, 0, u64::MAX - 1)] };
    assert_eq!(bound(&graph, &mut go), Err(Error::Overflow));
}

/// Random graph in which each vertex has as much bandwidth in as out: a sum of cycles.
fn random_graph(random: &mut crate::rng::Stream) -> Graph {
    let compute = 2 + random.below(5) as u32;
    let vertices = compute + random.below(4) as u32;
    let mut links = Vec::new();
    for cycle in 0..1 + random.below(6) {
        let mut order: Vec<u32> = (0..vertices).collect();
        random.shuffle(&mut order);
        order.truncate(if cycle == 0 { order.len() } else { 2 + random.below(u64::from(vertices) - 1) as usize });
        let bandwidth = 1 + random.below(9);
        links.extend((0..order.len()).map(|i| (order[i], order[(i + 1) % order.len()], bandwidth)));
    }
    Graph { compute, vertices, links }
}

#[test]
fn on_random_graphs_trees_reach_the_worst_of_all_cuts() {
    let mut random = crate::rng::Stream::new(1, "trees");
    for case in 0..400 {
        let graph = random_graph(&mut random);
        let all = (1 << graph.compute) - 1;
        let cuts = (0_u32..1 << graph.vertices).filter(|cut| cut & all != all && cut & all != 0).map(|cut| {
            let leaves = graph.links.iter().filter(|link| cut >> link.0 & 1 == 1 && cut >> link.1 & 1 == 0);
            Ratio::new((cut & all).count_ones().into(), leaves.map(|link| u128::from(link.2)).sum()).unwrap()
        });
        let worst = cuts.max().unwrap();
        let bound = bound(&graph, &mut go).unwrap();
        assert_eq!(bound.time, worst, "{case}");
        assert_eq!(Ratio::new(bound.cut_nodes.into(), bound.cut_bandwidth.into()), Some(worst));
        let forest = all_gather(&graph, &mut go).unwrap();
        assert_eq!(forest.verified_time(&graph), Some(worst), "{case} {graph:?}");
        let root = random.below(graph.compute.into()) as u32;
        let forest = broadcast(&graph, root, &mut go).unwrap();
        assert_eq!(forest.verified_time(&graph), broadcast_bound(&graph, root, &mut go).ok(), "{case}");
        // Links may differ in the two directions, and rounding may unbalance a switch.
        match with_trees(&graph, 2, &mut go) {
            Ok(forest) => assert!(forest.verified_time(&graph).unwrap() >= worst),
            Err(error) => assert!(matches!(error, Error::Unbalanced(_)), "{case} {error:?}"),
        }
    }
}

#[test]
fn what_has_no_trees_is_refused() {
    let graph = |compute, vertices, links: &[(u32, u32, u64)]| Graph { compute, vertices, links: links.to_vec() };
    let error = |graph: &Graph| all_gather(graph, &mut go).unwrap_err();
    assert_eq!(error(&graph(1, 1, &[])), Error::TooFewNodes);
    assert_eq!(error(&graph(2, 2, &[(0, 1, 0)])), Error::ZeroBandwidth(0));
    assert_eq!(error(&graph(2, 2, &[(0, 1, 1)])), Error::Disconnected(0));
    assert_eq!(error(&graph(4, 4, &[(0, 1, 1), (1, 0, 1), (2, 3, 1), (3, 2, 1)])), Error::Disconnected(0));
    // The switch multiplies what it gets: 0 sends 1, and each of 1 and 2 gets 1.
    let copies = graph(3, 4, &[(0, 3, 1), (3, 1, 1), (3, 2, 1), (1, 0, 1), (2, 0, 1), (1, 2, 1), (2, 1, 1)]);
    assert!(bound(&copies, &mut go).is_ok());
    assert_eq!(all_gather(&boxes(2, 9, 1), &mut |done| done < 0.5), Err(Error::Stopped));
}

#[test]
fn progress_does_not_go_back() {
    let mut last = 0.0;
    let mut forward = |done: f64| {
        assert!((last..=1.0).contains(&done), "{last} {done}");
        last = done;
        true
    };
    all_gather(&boxes(4, 450, 50), &mut forward).unwrap();
}

#[test]
fn trees_of_groups_are_optimal_on_fat_trees() {
    let graph = fat_tree(8, 8, 8, 1, 1);
    let group: Vec<u32> = (0..64).map(|node| node / 8).collect();
    let forest = groups(&group, &mut shortest(&graph)).unwrap();
    assert_eq!(forest.verified_time(&graph), Some(ratio("63")));
    assert_eq!(depth(&forest, 64), 2);
    for (graph, most) in [(boxes(4, 450, 50), 1.0041), (boxes(16, 450, 50), 1.0001)] {
        let group: Vec<u32> = (0..graph.compute).map(|node| node / 8).collect();
        let route = &mut |from: u32, to: u32| {
            let switch = if from / 8 == to / 8 { graph.compute + from / 8 } else { graph.vertices - 1 };
            let link = |ends: (u32, u32)| graph.links.iter().position(|link| (link.0, link.1) == ends).unwrap() as u32;
            vec![link((from, switch)), link((switch, to))]
        };
        let time = groups(&group, route).unwrap().verified_time(&graph).unwrap();
        let over = time.value() / bound(&graph, &mut go).unwrap().time.value();
        assert!(over <= most, "{over}");
    }
    assert_eq!(groups(&[0, 0, 1], &mut shortest(&graph)), None);
}

#[test]
fn shifted_trees_are_optimal_on_tori() {
    for dims in [&[8][..], &[4, 4], &[3, 5], &[4, 4, 4], &[2, 2, 2], &[2, 2, 2, 2, 2, 2], &[16, 8, 4], &[2, 16]] {
        let graph = torus(dims);
        let forest = translated(&graph, dims, &torus_steps(dims), &mut shortest(&graph)).unwrap();
        assert_eq!(forest.verified_time(&graph), Some(ingress_bound(&graph).unwrap().time), "{dims:?}");
        let diameter: u32 = dims.iter().map(|dim| dim / 2).sum();
        assert_eq!(depth(&forest, graph.compute), diameter, "{dims:?}");
    }
    for (row, graph) in rows() {
        let dims = match row.name() {
            "torus-4x4-bw-2-1" | "torus-4x4-hosts-4" => vec![4, 4],
            "hypercube-4-hosts-3" => vec![2; 4],
            _ => continue,
        };
        let forest = translated(&graph, &dims, &torus_steps(&dims), &mut shortest(&graph)).unwrap();
        assert_eq!(forest.verified_time(&graph), Some(row.ratio("allgather_s")), "{}", row.name());
    }
    let graph = torus(&[16, 16, 16]);
    let mut hop = FxHashMap::default();
    hop.extend((0..).zip(&graph.links).map(|(number, link)| ((link.0, link.1), number)));
    let forest = translated(&graph, &[16; 3], &torus_steps(&[16; 3]), &mut |from, to| vec![hop[&(from, to)]]);
    assert_eq!(forest.and_then(|forest| forest.time(&graph)), Some(ratio("1365/2")));
}

#[test]
fn free_shares_of_roots_help_unequal_nodes() {
    // (Fabric, bound and reached time of an all-reduce of N bytes, by a linear program.)
    let expected = [
        ("ring-8", 7.0, 7.0),
        ("torus-4x4-cut", 240.0 / 31.0, 240.0 / 31.0),
        ("fat-tree-4x4x4", 30.0, 30.0),
        ("mi250-2x8", 0.125, 12.0 / 91.0),
        ("star-slow-host", 8.0, 8.0),
        ("random-16-8-9", 8.0 / 3.0, 3.2),
    ];
    for (row, graph) in rows() {
        let Some((_, least, reached)) = expected.iter().find(|(name, ..)| *name == row.name()) else { continue };
        let bandwidth = free_bandwidth(&graph, &mut go).unwrap().unwrap();
        let time = 2.0 * f64::from(graph.compute) / bandwidth;
        assert!((time / reached - 1.0).abs() < 1e-4 && time >= least * (1.0 - 1e-4), "{}: {time}", row.name());
    }
}

#[test]
fn messages_wait_for_their_data_and_for_the_chunk_before() {
    let graph = torus(&[4, 4]);
    let forest = all_gather(&graph, &mut go).unwrap();
    for reduces in [false, true] {
        let messages = messages(&forest, 16, 3, reduces);
        assert_eq!(messages.len(), forest.trees.len() * 15 * 3);
        assert!(messages.is_sorted_by_key(|message| message.turn));
        for (index, message) in (0..).zip(&messages) {
            let same = |other: &Message| (other.tree, other.chunk) == (message.tree, message.chunk);
            let into =
                |other: &&u32| same(&messages[**other as usize]) && messages[**other as usize].to == message.from;
            assert!(message.after.iter().all(|&other| other < index && messages[other as usize].turn < message.turn));
            let needs = messages.iter().filter(|other| same(other) && other.to == message.from).count();
            assert_eq!(message.after.iter().filter(into).count(), needs);
            assert_eq!(message.after.len(), needs + usize::from(message.chunk > 0));
        }
    }
}

#[test]
fn the_number_of_chunks_balances_depth_and_latency() {
    assert_eq!(usual_chunks(1, 1e-6, 1.0, 64), 1);
    assert_eq!(usual_chunks(5, 1e-6, 1e-4, 64), 20);
    assert_eq!(usual_chunks(5, 0.0, 1e-4, 64), 64);
    assert_eq!(usual_chunks(1, 0.0, 0.0, 64), 1);
}

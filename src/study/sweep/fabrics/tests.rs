use super::*;

fn routed(topology: &str) -> RoutedFabric {
    Loader::new().topology(topology).load_topology().unwrap_or_else(|wrong| panic!("{topology}: {wrong:?}"))
}

fn questions() -> Questions {
    Questions { layout: Layout::default(), prices: None, pairings: 3, failures: 5, failed: 0.0, simulated: 0, seed: 1 }
}

fn of(topology: &str, questions: &Questions) -> FabricFigures {
    let loader = Loader::new().topology(topology);
    figures(topology, &loader, &routed(topology), questions, &|_| {}).unwrap()
}

/// p = 2, a = 4, h = 2, g = 9: 72 nodes on 36 switches, 9 x 6 local cables and 36 global ones.
#[test]
fn a_dragonfly_has_the_figures_of_its_closed_forms() {
    let found = of("dragonfly-72", &questions());
    assert_eq!((found.nodes, found.switches, found.radix, found.diameter), (72, 36, 7, Some(5)));
    assert_eq!((found.cables.all, found.cables.optical, found.cables.racks), (72 + 54 + 36, Some(36), 9));
    assert_eq!(found.cables.by_kind["local"], 54);
    // ADV+1 under minimal routes: 1 / (a p).
    assert!((found.adversarial.unwrap() - 0.125).abs() < 1e-9);
    // Largest load of a local link under uniform traffic, from the definitions: 0.95775; nodes are full at 1.
    assert!((found.uniform.unwrap() - 1.0).abs() < 1e-9);
    // From a node: 1 on its switch at 2 links; of the 35 other switches 3 in the group at 3 links; 2 by one global
    // cable at 3; others at 4 (one local link on either side) or 5.
    let distance = found.mean_distance.unwrap();
    assert!(distance > 3.0 && distance < 5.0, "{distance}");
}

#[test]
fn the_mean_distance_of_small_fabrics_is_that_of_all_pairs() {
    for topology in ["torus-4x4", "fat-tree-54", "slim-fly-200", "dragonfly-72", "crossbar-64"] {
        let fabric = routed(topology).fabric;
        let (mut sum, mut pairs) = (0u64, 0u64);
        for node in fabric.node_ids() {
            // Plain breadth-first search along all links.
            let mut distance = vec![u64::MAX; fabric.graph().node_count()];
            distance[node.0 as usize] = 0;
            let mut queue = std::collections::VecDeque::from([NodeIndex::new(node.0 as usize)]);
            while let Some(vertex) = queue.pop_front() {
                for next in fabric.graph().neighbors(vertex) {
                    if distance[next.index()] == u64::MAX {
                        distance[next.index()] = distance[vertex.index()] + 1;
                        queue.push_back(next);
                    }
                }
            }
            for other in fabric.node_ids().filter(|other| *other != node) {
                sum += distance[other.0 as usize];
                pairs += 1;
            }
        }
        let found = fabric.mean_distance().unwrap();
        assert!(!found.is_sampled && (found.links - sum as f64 / pairs as f64).abs() < 1e-9, "{topology}: {found:?}");
    }
}

#[test]
fn a_ring_parts_when_two_of_its_cables_are_lost_and_a_crossbar_never() {
    let ring = of("torus:dims=[12],bandwidth=1GB/s", &questions());
    let resilience = ring.resilience.unwrap();
    assert_eq!((resilience.parts_at.mean, resilience.least), (2.0 / 12.0, 2.0 / 12.0));
    assert_eq!(of("crossbar-64", &questions()).resilience, None);
}

#[test]
fn what_is_asked_for_is_answered_and_nothing_else() {
    let none = of("dragonfly-72", &Questions { pairings: 0, failures: 0, ..questions() });
    assert!(none.effective_bisection.is_none() && none.resilience.is_none() && none.simulated.is_none());
    let all = of("dragonfly-72", &Questions { failed: 0.01, simulated: 4, ..questions() });
    let left = all.with_failed.unwrap();
    assert!(left.mean > 0.3 && left.mean <= 1.0, "{left:?}");
    let simulated = all.simulated.unwrap();
    assert!(simulated > 0.2 && simulated <= 1.0, "{simulated}");
}

#[test]
fn longer_cables_are_optical_where_a_length_says_so() {
    let all = Layout { optical_from_m: Some(0.5), rack_nodes: None };
    assert_eq!(of("dragonfly-72", &Questions { layout: all, ..questions() }).cables.optical, Some(162));
    let none = Layout { optical_from_m: Some(100.0), rack_nodes: None };
    assert_eq!(of("dragonfly-72", &Questions { layout: none, ..questions() }).cables.optical, Some(0));
    // 16 nodes a rack: on a 4 x 4 torus all in one.
    let one = Layout { optical_from_m: None, rack_nodes: Some(16) };
    let torus = of("torus-4x4", &Questions { layout: one, ..questions() }).cables;
    assert_eq!((torus.racks, torus.optical, torus.all, torus.copper_m), (1, Some(0), 16 + 32, Some(48.0)));
}

#[test]
fn a_list_of_prices_is_added_up() {
    let folder = std::env::temp_dir().join(format!("hayase-prices-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("prices.toml");
    let write = |text: &str| std::fs::write(&path, text).unwrap();
    write(
        "currency = 'EUR'\nnic = 10\n[switch]\n4 = 1\n8 = 100\n[copper]\ncable = 1\n[optical]\ncable = 5\nmetre = 0\n",
    );
    let prices = Prices::read(&path.display().to_string()).unwrap();
    let cost = of("dragonfly-72", &Questions { prices: Some(prices), ..questions() }).cost.unwrap();
    // 36 switches of 7 ports, 126 copper and 36 optical cables, 72 cards.
    assert_eq!((cost.switches, cost.cables, cost.nics), (3600.0, 126.0 + 180.0, 720.0));
    assert_eq!(cost.per_node, (3600.0 + 306.0 + 720.0) / 72.0);
    for (text, message) in [
        ("nic = 'x'\n", "`nic` is a text"),
        ("nic = -1\n", "`nic` is not a price"),
        ("nik = 1\n", "unknown price `nik`"),
        ("[switch]\nports = 1\n", "a switch has no price `ports`"),
        ("[copper]\nfoot = 1\n", "a cable has no price `foot`"),
        ("[switch]\n8 = 1\nport = 2\n", "switches have prices by their ports, and `each` or `port` besides"),
    ] {
        write(text);
        let wrong = Prices::read(&path.display().to_string()).unwrap_err();
        assert_eq!(wrong.diagnostics[0].message, message);
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

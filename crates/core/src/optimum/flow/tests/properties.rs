//! Properties of the bounds, flows and paths of random networks.
use super::fabrics::*;
use super::*;
use crate::rng::Stream;

/// Vertices that pass traffic on, links and demand.
type Parts = (Vec<bool>, Vec<(u32, u32, f64)>, Vec<(u32, u32, f64)>);

/// Draws links and a demand; some vertices pass nothing on. All pairs of the demand are connected.
fn random(seed: u64) -> Parts {
    let mut stream = Stream::new(seed, "case");
    let n = 3 + stream.below(12) as u32;
    let mut passes = vec![true; n as usize];
    let mut links = Vec::new();
    let scale = [1.0, 1e9, 1e-6][stream.below(3) as usize];
    // A directed ring connects all; links beyond it may be parallel, of one direction, or loops.
    for v in 0..n {
        links.push((v, (v + 1) % n, scale * (0.1 + stream.unit())));
    }
    for _ in 0..stream.below(4 * u64::from(n)) {
        let (a, b) = (stream.below(n.into()) as u32, stream.below(n.into()) as u32);
        links.push((a, b, scale * if stream.below(8) == 0 { 100.0 } else { 0.1 + stream.unit() }));
    }
    // Nodes with two ports, which pass nothing on.
    for node in n..n + stream.below(4) as u32 {
        passes.push(false);
        for _ in 0..2 {
            let at = stream.below(n.into()) as u32;
            links.extend([(node, at, scale), (at, node, scale)]);
        }
    }
    let all = passes.len() as u64;
    let pairs = 1 + stream.below(all * all / 2);
    let demand =
        (0..pairs).map(|_| (stream.below(all) as u32, stream.below(all) as u32, 1e6 * stream.unit())).collect();
    (passes, links, demand)
}

fn build(parts: &Parts) -> Case {
    let demand = Demand::new(parts.0.len(), parts.2.iter().copied());
    Case { links: Links::new(parts.0.clone(), &parts.1), demand, floor: 0.0 }
}

/// Checks conservation of each stored flow and of its paths.
fn check_flows(case: &Case, optimum: &Optimum) {
    let Case { links, demand, .. } = case;
    let mut total = vec![0.0; links.ends().len()];
    for (flow, &source) in optimum.flows.iter().zip(demand.sources()) {
        let row = demand.of(source);
        let sent: f64 = row.iter().map(|d| d.1).sum();
        let mut carried = vec![0.0; links.ends().len()];
        flow.iter().for_each(|(link, bytes)| carried[link as usize] = bytes);
        let mut shares = vec![0.0; links.vertices()];
        for path in paths(links, source, row, flow) {
            let bytes = row.iter().find(|d| d.0 == path.to).unwrap().1;
            let mut at = source;
            for &link in &path.links {
                let (from, to) = links.ends()[link as usize];
                assert!(from == at && (from == source || links.passes(from)));
                carried[link as usize] -= path.share * bytes;
                at = to;
            }
            assert_eq!(at, path.to);
            shares[path.to as usize] += path.share;
        }
        assert!(row.iter().all(|d| (shares[d.0 as usize] - 1.0).abs() < 1e-12), "{shares:?}");
        // Cycles are left out, and small shares move to other paths.
        assert!(carried.iter().all(|&left| left >= -1e-4 * sent), "{carried:?}");
        flow.iter().for_each(|(link, bytes)| total[link as usize] += bytes);
    }
    assert!(total.iter().zip(&optimum.total).all(|(a, b)| (a - b).abs() <= 1e-9 * b));
}

#[test]
fn random_networks_keep_all_properties() {
    for seed in 0..400 {
        let parts = random(seed);
        let case = build(&parts);
        let optimum = run(&case, 0.01, 0.0);
        check(&case, &optimum);
        check_flows(&case, &optimum);
        assert!(optimum.reached <= optimum.at_least * 1.010001, "{seed} {} {}", optimum.at_least, optimum.reached);
        let (free, certificate) = free_bounds(&case.links, &case.demand);
        assert!((certificate.value(&case.links, &case.demand) - free).abs() <= 1e-9 * free);
        assert!(free <= optimum.reached * (1.0 + 1e-9));
    }
}

#[test]
fn other_numbers_of_the_vertices_give_the_same_optimum() {
    for seed in 1000..1100 {
        let mut parts = random(seed);
        let first = run(&build(&parts), 0.01, 0.0);
        let n = parts.0.len();
        let mut number: Vec<u32> = (0..n as u32).collect();
        Stream::new(seed, "numbers").shuffle(&mut number);
        let mut passes = vec![true; n];
        (0..n).for_each(|v| passes[number[v] as usize] = parts.0[v]);
        parts.0 = passes;
        for list in [&mut parts.1, &mut parts.2] {
            list.iter_mut().for_each(|e| (e.0, e.1) = (number[e.0 as usize], number[e.1 as usize]));
        }
        let second = run(&build(&parts), 0.01, 0.0);
        let slack = 1.0 + 1e-9;
        assert!(first.at_least <= second.reached * slack && second.at_least <= first.reached * slack, "{seed}");
    }
}

#[test]
fn a_smaller_gap_is_reached_too() {
    for seed in 2000..2400 {
        let case = build(&random(seed));
        let optimum = run(&case, 0.001, 0.0);
        check(&case, &optimum);
        assert!(optimum.reached <= optimum.at_least * 1.001001, "{seed} {} {}", optimum.at_least, optimum.reached);
    }
}

#[test]
fn fabrics_keep_all_properties() {
    for fabric in [dragonfly(2).failed(0.05, 1), torus(&[5, 4, 3]), jellyfish(40, 5, 3, 1), fat_tree(6).failed(0.05, 2)]
    {
        let case = fabric.uniform(1e9);
        let optimum = run(&case, 0.01, 0.0);
        check(&case, &optimum);
        check_flows(&case, &optimum);
        assert!(optimum.reached <= optimum.at_least * 1.010001);
    }
}

#[test]
fn a_ring_reaches_its_distance_bound() {
    let optimum = run(&torus(&[9]).uniform(1.0), 0.01, 0.0);
    assert!(optimum.is_exact && (optimum.reached - 10.0).abs() < 1e-12);
}

#[test]
fn a_slim_fly_reaches_its_distance_bound() {
    let optimum = run(&slim_fly(5, 3).uniform(1.0), 0.01, 0.0);
    assert!(optimum.is_exact && optimum.certificate == Certificate::Distance);
    assert!((optimum.reached - 117.0).abs() < 1e-9);
}

#[test]
fn the_bottleneck_of_a_bridge_is_a_cut() {
    let links = [(0, 1, 2.0), (1, 2, 1.0), (2, 3, 2.0)];
    let case = Case {
        links: Links::new(vec![true; 4], &links),
        demand: Demand::new(4, [(0, 2, 3.0), (0, 3, 1.0), (1, 3, 2.0), (0, 3, 1.0)]),
        floor: 0.0,
    };
    let optimum = run(&case, 0.01, 0.0);
    let side = vec![true, true, false, false];
    assert_eq!(optimum.certificate, Certificate::Cut { side, bytes: 7.0, capacity: 1.0 });
    assert!(optimum.is_exact && optimum.reached == 7.0);
}

#[test]
fn traffic_does_not_cross_a_node_that_passes_nothing_on() {
    let links = [(0, 1, 9.0), (1, 2, 9.0), (0, 3, 1.0), (3, 2, 1.0), (1, 3, 1.0)];
    let demand = Demand::new(4, [(0, 2, 1.0)]);
    let case = Case { links: Links::new(vec![true, false, true, true], &links), demand, floor: 0.0 };
    let optimum = run(&case, 0.01, 0.0);
    assert_eq!(optimum.total, [0.0, 0.0, 1.0, 1.0, 0.0]);
    // Bytes of the node itself leave it, and bytes to it arrive.
    let case = Case { demand: Demand::new(4, [(1, 2, 1.0), (0, 1, 1.0)]), ..case };
    check_flows(&case, &run(&case, 0.01, 0.0));
}

#[test]
fn a_disconnected_pair_is_named() {
    let links = Links::new(vec![true, false, true], &[(0, 1, 1.0), (1, 2, 1.0), (1, 0, 1.0)]);
    let demand = Demand::new(3, [(0, 1, 1.0), (0, 2, 1.0)]);
    let options = Options { gap: 0.01, floor: 0.0, seed: 1 };
    let error = solve(&links, &demand, &options, &mut |_, _| true).unwrap_err();
    assert_eq!(error, FlowError::Disconnected { from: 0, to: 2 });
    assert!(free_bounds(&links, &demand).0.is_infinite());
}

#[test]
fn no_demand_takes_no_time() {
    let links = Links::new(vec![true; 2], &[(0, 1, 1.0)]);
    let demand = Demand::new(2, [(0, 0, 5.0), (0, 1, 0.0)]);
    let optimum = solve(&links, &demand, &Options { gap: 0.01, floor: 0.0, seed: 1 }, &mut |_, _| true).unwrap();
    assert!(optimum.is_exact && optimum.reached == 0.0 && optimum.certificate == Certificate::None);
}

#[test]
fn a_stopped_solver_returns_the_bounds_that_it_has() {
    let case = torus(&[16, 16]).failed(0.01, 1).uniform(1.0);
    for most in [1, 3, 8] {
        let (mut calls, mut last) = (0, (0.0, f64::INFINITY));
        let mut watch = |at_least: f64, reached: f64| {
            assert!(at_least >= last.0 && reached <= last.1);
            last = (at_least, reached);
            calls += 1;
            calls < most
        };
        let options = Options { gap: 0.0, floor: 0.0, seed: 1 };
        let optimum = solve(&case.links, &case.demand, &options, &mut watch).unwrap();
        assert_eq!(calls, most);
        assert!(optimum.reached <= last.1 && optimum.at_least >= last.0 * (1.0 - 1e-9));
        check(&case, &optimum);
        check_flows(&case, &optimum);
    }
}

#[test]
fn a_cycle_is_no_part_of_a_path() {
    let links = Links::new(vec![true; 4], &[(0, 1, 1.0), (1, 2, 1.0), (2, 1, 1.0), (2, 3, 1.0), (0, 3, 1.0)]);
    let flow = Flow::new([2.0, 5.0, 3.0, 2.0, 6.0].into_iter());
    let result = paths(&links, 0, &[(3, 8.0)], &flow);
    let expected = [(vec![4], 0.75), (vec![0, 1, 3], 0.25)];
    assert_eq!(result.into_iter().map(|p| (p.links, p.share)).collect::<Vec<_>>(), expected);
}

#[test]
fn the_same_seed_gives_the_same_bits() {
    let case = dragonfly(2).failed(0.1, 1).uniform(1.0);
    let (first, second) = (run(&case, 0.005, 0.0), run(&case, 0.005, 0.0));
    assert_eq!((first.at_least, first.reached, first.total), (second.at_least, second.reached, second.total));
}

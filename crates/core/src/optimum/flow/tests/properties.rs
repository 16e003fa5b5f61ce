//! Properties of all optima, on random networks.
use super::*;
use crate::rng::Stream;

/// Returns a connected network with random links and a random demand; some vertices may not be crossed.
fn random(stream: &mut Stream) -> Case {
    let vertices = 3 + stream.below(8) as u32;
    let capacity = |stream: &mut Stream| 1.0 + stream.below(9) as f64;
    // A circle both ways connects all vertices, and the last vertex only sends and receives.
    let mut links = Vec::new();
    for v in 0..vertices - 1 {
        let next = (v + 1) % (vertices - 1);
        if v != next {
            links.extend([(v, next, capacity(stream)), (next, v, capacity(stream))]);
        }
    }
    links.extend([(vertices - 1, 0, capacity(stream)), (0, vertices - 1, capacity(stream))]);
    for _ in 0..stream.below(12) {
        let (from, to) = (stream.below(vertices.into()) as u32, stream.below(vertices.into()) as u32);
        if from != to {
            links.push((from, to, capacity(stream)));
        }
    }
    let pairs = (0..3 * vertices).map(|_| {
        let (from, to) = (stream.below(vertices.into()) as u32, stream.below(vertices.into()) as u32);
        (from, to, 1.0 + stream.below(20) as f64)
    });
    let demand = Demand::new(vertices as usize, pairs.collect::<Vec<_>>());
    let passes = (0..vertices).map(|v| v + 1 < vertices).collect();
    Case { links: Links::new(passes, &links), demand, floor: 0.0 }
}

#[test]
fn bounds_enclose_the_optimum_and_are_proven() {
    let mut stream = Stream::new(1, "optimum");
    for _ in 0..300 {
        let case = random(&mut stream);
        let optimum = run(&case, 0.01, 0.0);
        check(&case, &optimum);
        assert!(optimum.reached <= 1.0101 * optimum.at_least, "{} {}", optimum.at_least, optimum.reached);
        let (free, certificate) = free_bounds(&case.links, &case.demand);
        assert!(free <= optimum.reached * (1.0 + 1e-9));
        assert!((certificate.value(&case.links, &case.demand) - free).abs() <= 1e-9 * free);
    }
}

#[test]
fn paths_carry_the_flow_of_their_source() {
    let mut stream = Stream::new(2, "optimum");
    for _ in 0..100 {
        let case = random(&mut stream);
        let optimum = run(&case, 0.02, 0.0);
        let mut carried = vec![0.0; case.links.ends().len()];
        for (&source, flow) in case.demand.sources().iter().zip(&optimum.flows) {
            let row = case.demand.of(source);
            let all = paths(&case.links, source, row, flow);
            for &(to, bytes) in row {
                let of_pair: Vec<&Path> = all.iter().filter(|path| path.to == to).collect();
                assert!((of_pair.iter().map(|path| path.share).sum::<f64>() - 1.0).abs() < 1e-9);
                for path in of_pair {
                    let mut at = source;
                    for &link in &path.links {
                        let (from, next) = case.links.ends()[link as usize];
                        assert!(from == at && (at == source || case.links.passes(at)));
                        at = next;
                        carried[link as usize] += bytes * path.share;
                    }
                    assert_eq!(at, to);
                }
            }
        }
        let busiest = carried.iter().zip(case.links.capacity()).map(|(bytes, c)| bytes / c).fold(0.0, f64::max);
        assert!(busiest <= optimum.reached * (1.0 + 1e-4), "{busiest} {}", optimum.reached);
    }
}

#[test]
fn a_pair_without_a_path_is_an_error() {
    let links = Links::new(vec![true, false, true], &[(0, 1, 1.0), (1, 2, 1.0), (2, 1, 1.0)]);
    let demand = Demand::new(3, [(0, 2, 1.0)]);
    let options = Options { gap: 0.01, floor: 0.0, seed: 1 };
    // Vertex 1 only sends and receives.
    let error = solve(&links, &demand, &options, &mut |_, _| true).unwrap_err();
    assert_eq!(error, FlowError::Disconnected { from: 0, to: 2 });
}

#[test]
fn a_search_that_is_stopped_returns_its_bounds() {
    let case = random(&mut Stream::new(5, "optimum"));
    let options = Options { gap: 1e-9, floor: 0.0, seed: 1 };
    let optimum = solve(&case.links, &case.demand, &options, &mut |_, _| false).unwrap();
    check(&case, &optimum);
}

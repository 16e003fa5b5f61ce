use super::*;
use crate::fabric::{FabricBuilder, Irregular, LinkRole};
use crate::rng::Stream;
use crate::routing::RoutingSpec;
use crate::units::{Bandwidth, Time};

const NETWORK: LinkRole = LinkRole::Network { tier: 0 };

/// Builds a fabric of these links; nodes joined directly to each other are on network links.
fn fabric(nodes: u32, switches: u32, links: &[(u32, u32)]) -> Arc<Fabric> {
    let mut builder = FabricBuilder::new("test", nodes, switches);
    let mut open = vec![false; nodes as usize];
    for &(from, to) in links {
        if from < nodes && to < nodes {
            open[from as usize] = true;
            open[to as usize] = true;
        }
    }
    let closed = |vertex: u32| vertex < nodes && !open[vertex as usize];
    for &(from, to) in links {
        let role = match (closed(from), closed(to)) {
            (true, _) => LinkRole::Injection,
            (_, true) => LinkRole::Ejection,
            _ => NETWORK,
        };
        builder.link(VertexId(from), VertexId(to), Bandwidth::from_bytes_per_second(1e9), Time::ZERO, role);
    }
    Arc::new(builder.finish(Irregular))
}

fn route(router: &dyn Router, src: u32, dst: u32) -> Option<Vec<u32>> {
    let mut route = Vec::new();
    router.route(NodeId(src), NodeId(dst), &mut route);
    router.reaches(NodeId(src), NodeId(dst)).then(|| route.into_iter().map(|link| link.0).collect())
}

#[test]
fn among_equally_short_paths_the_lowest_link_at_each_step_is_taken() {
    // Node 0 - switch 2 - two paths (switch 3 or 4, and two cables to 3) - switch 5 - node 1.
    let links = [(0, 2), (5, 1), (2, 4), (4, 5), (2, 3), (2, 3), (3, 5)];
    let router = RoutingSpec::ShortestPath(ShortestPathSpec {}).build(&fabric(2, 4, &links), 1).unwrap();
    assert_eq!(route(&*router, 0, 1), Some(vec![0, 2, 3, 1]));
    assert_eq!(route(&*router, 0, 0), Some(vec![]));
    assert_eq!(route(&*router, 1, 0), None);
}

#[test]
fn a_message_crosses_no_node_with_links_of_its_own() {
    // Both switches 3 and 4 reach node 1, which must not join them; 5 is the long way round.
    let links = [(0, 3), (3, 1), (1, 4), (4, 2), (3, 5), (5, 6), (6, 4)];
    let router = RoutingSpec::ShortestPath(ShortestPathSpec {}).build(&fabric(3, 4, &links), 1).unwrap();
    assert_eq!(route(&*router, 0, 2), Some(vec![0, 4, 5, 6, 3]));
    assert_eq!(route(&*router, 0, 1), Some(vec![0, 1]));
}

#[test]
fn nodes_joined_directly_pass_messages_on() {
    let ring: Vec<(u32, u32)> = (0..5).map(|i| (i, (i + 1) % 5)).collect();
    let router = RoutingSpec::ShortestPath(ShortestPathSpec {}).build(&fabric(5, 0, &ring), 1).unwrap();
    assert_eq!(route(&*router, 3, 1), Some(vec![3, 4, 0]));
}

#[test]
fn a_fabric_whose_links_have_no_ends_has_no_paths() {
    let mut builder = FabricBuilder::new("loose", 2, 0);
    builder.loose_link(Bandwidth::from_bytes_per_second(1.0), Time::ZERO);
    let error =
        RoutingSpec::ShortestPath(ShortestPathSpec {}).build(&Arc::new(builder.finish(Irregular)), 1).unwrap_err();
    assert_eq!(error[0].code, "no-ends");
}

/// Returns distances computed by repeated relaxation, without targets and slots.
fn distances(fabric: &Fabric, open: &[bool], src: usize) -> Vec<Option<usize>> {
    let mut distance = vec![None; open.len()];
    distance[src] = Some(0);
    for _ in 0..open.len() {
        for link in fabric.links().iter() {
            let (from, to) = link.ends.unwrap();
            let (from, to) = (from.index(), to.index());
            if (open[from] || from == src)
                && let Some(d) = distance[from]
                && distance[to].is_none_or(|old| old > d + 1)
            {
                distance[to] = Some(d + 1);
            }
        }
    }
    distance
}

#[test]
fn routes_on_random_graphs_are_connected_and_as_short_as_can_be() {
    let mut random = Stream::new(1, "test graphs");
    for _ in 0..200 {
        let nodes = 1 + random.below(8) as u32;
        let switches = random.below(6) as u32;
        let vertices = u64::from(nodes + switches);
        let links: Vec<(u32, u32)> = (0..random.below(40))
            .map(|_| (random.below(vertices) as u32, random.below(vertices) as u32))
            // Few direct links between nodes, so that most graphs have closed ones.
            .filter(|&(from, to)| from != to && (from >= nodes || to >= nodes || (from + to) % 7 == 0))
            .collect();
        let fabric = fabric(nodes, switches, &links);
        let router = ShortestPath::new(&fabric);
        for src in 0..nodes {
            let distance = distances(&fabric, &router.open, src as usize);
            for dst in 0..nodes {
                let route = route(&router, src, dst);
                assert_eq!(route.as_ref().map(Vec::len), distance[dst as usize], "{src} to {dst} of {links:?}");
                let mut at = src;
                for &link in route.iter().flatten() {
                    assert_eq!(links[link as usize].0, at);
                    at = links[link as usize].1;
                }
                assert!(route.is_none() || at == dst);
            }
        }
    }
}

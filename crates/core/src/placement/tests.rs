use std::io::Write;

use proptest::prelude::*;

use super::*;
use crate::diagnostic::Invalid;
use crate::fabric::{FabricBuilder, Irregular, LinkRole};
use crate::ids::VertexId;
use crate::units::{Bandwidth, Time};

impl PlacementSpec {
    /// Parses a placement as the command line does: one of the names, `by-leaf:random` with the value of its
    /// one choice, a list of nodes, else a file.
    pub(crate) fn parse(name_or_path: &str) -> Self {
        match name_or_path {
            "regular" => Self::Regular(RegularSpec {}),
            "random" => Self::Random(RandomSpec::default()),
            "block" => Self::Block(BlockSpec::default()),
            "round-robin" => Self::RoundRobin(RoundRobinSpec::default()),
            "round-robin:group" => Self::RoundRobin(RoundRobinSpec { over: Unit::Group }),
            "by-leaf" => Self::ByLeaf(ByLeafSpec::default()),
            "by-leaf:random" => Self::ByLeaf(ByLeafSpec { order: UnitOrder::Random, seed: None }),
            "by-group" => Self::ByGroup(ByGroupSpec::default()),
            "by-group:random" => Self::ByGroup(ByGroupSpec { order: UnitOrder::Random, seed: None }),
            list if is_list(list) => Self::Nodes(NodesSpec { list: list.to_owned().into() }),
            path => Self::File(FileSpec { path: path.to_owned().into() }),
        }
    }
}

/// Builds nodes attached to the switches of this list; `None` is a node on a network link.
fn fabric(switch_of: &[Option<u32>]) -> Arc<Fabric> {
    let nodes = switch_of.len() as u32;
    let mut builder = FabricBuilder::new("test", nodes, 8);
    let capacity = Bandwidth::from_bytes_per_second(1e9);
    for (node, switch) in (0..).zip(switch_of) {
        let (to, role) = match switch {
            Some(switch) => (nodes + switch, LinkRole::Injection),
            None => (nodes, LinkRole::Network { tier: 0 }),
        };
        builder.link(VertexId(node), VertexId(to), capacity, Time::ZERO, role);
    }
    Arc::new(builder.finish(Irregular))
}

/// Builds two nodes on switch 0, one on network links, three on switch 1, interleaved.
fn mixed() -> Arc<Fabric> {
    fabric(&[Some(1), Some(0), Some(1), None, Some(0), Some(1)])
}

fn nodes(spec: &PlacementSpec, ranks: u32, fabric: &Arc<Fabric>) -> Result<Vec<u32>, String> {
    let mut sources = Sources::default();
    spec.build((ranks, 1), fabric, 1, &mut sources)
        .map(|placement| placement.iter().map(|node| node.0).collect())
        .map_err(|diagnostics| Invalid { diagnostics, sources }.lines())
}

#[test]
fn a_block_fills_one_leaf_after_the_other() {
    let spec = PlacementSpec::parse("block");
    assert_eq!(nodes(&spec, 6, &mixed()), Ok(vec![0, 2, 5, 1, 4, 3]));
    let two = PlacementSpec::Block(BlockSpec { per_leaf: Some(2.into()) });
    assert_eq!(nodes(&two, 5, &mixed()), Ok(vec![0, 2, 1, 4, 3]));
    assert!(nodes(&two, 6, &mixed()).unwrap_err().contains("room for 5 ranks"));
    let none = PlacementSpec::Block(BlockSpec { per_leaf: Some(0.into()) });
    assert!(nodes(&none, 1, &mixed()).unwrap_err().contains("room for 0 ranks"));
}

#[test]
fn round_robin_deals_ranks_to_leaves_and_passes_full_ones_over() {
    assert_eq!(nodes(&PlacementSpec::parse("round-robin"), 6, &mixed()), Ok(vec![0, 1, 3, 2, 4, 5]));
}

#[test]
fn regular_is_the_node_of_the_same_number() {
    assert_eq!(nodes(&PlacementSpec::default(), 3, &mixed()), Ok(vec![0, 1, 2]));
    assert!(
        nodes(&PlacementSpec::default(), 7, &mixed()).unwrap_err().starts_with("7 ranks do not fit on the 6 nodes")
    );
}

#[test]
fn random_placement_of_few_ranks_begins_like_that_of_many() {
    let fabric = fabric(&[Some(0); 100]);
    let spec = PlacementSpec::parse("random");
    let all = nodes(&spec, 100, &fabric).unwrap();
    assert_eq!(nodes(&spec, 10, &fabric).unwrap(), all[..10]);
    let mut sorted = all.clone();
    sorted.sort_unstable();
    assert!(sorted.into_iter().eq(0..100));
    let other = PlacementSpec::Random(RandomSpec { seed: Some(2.into()) });
    assert_ne!(nodes(&other, 100, &fabric).unwrap(), all);
    let same = PlacementSpec::Random(RandomSpec { seed: Some(1.into()) });
    assert_eq!(nodes(&same, 100, &fabric).unwrap(), all);
}

/// Returns the placement of a file with this content; removes the file's name from messages.
fn from_file(content: &[u8], ranks: u32) -> Result<Vec<u32>, String> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(content).unwrap();
    let path = file.path().display().to_string();
    nodes(&PlacementSpec::parse(&path), ranks, &mixed()).map_err(|text| text.replace(&path, "FILE"))
}

#[test]
fn a_file_places_each_rank_once() {
    assert_eq!(from_file(b"node,rank\n5,1\n0,0\n# two more\n3, 2\n", 3), Ok(vec![0, 5, 3]));
    insta::assert_snapshot!(from_file(b"rank,node\n0,0\n1,0\n0,2\n2,6\n3,1\nx,\n", 3).unwrap_err(), @"
    FILE:3:3: node 0 has 1 rank already (line 2 places one on it); several ranks share a node with `ranks-per-node`
    FILE:4:1: rank 0 has a node already (line 2 places it on node 0)
    FILE:5:3: there is no node 6 (nodes are numbered from 0 to 5)
    FILE:6:1: there is no rank 3 (ranks are numbered from 0 to 2)
    FILE:7:1: \"x\" is not the number of a rank (ranks are numbered from 0 to 2)
    FILE:7:3: `node` is empty (the number of a node)
    ");
    insta::assert_snapshot!(
        from_file(b"rank,node\n1,1\n", 3).unwrap_err(),
        @"`FILE` gives 2 of the 3 ranks no node; the first is rank 0; add a line `rank,node` for each"
    );
    assert!(nodes(&PlacementSpec::parse("no/such.csv"), 3, &mixed()).unwrap_err().contains("there is no file"));
}

#[test]
fn a_name_that_is_no_rule_is_a_file() {
    for name in [
        "regular",
        "random",
        "block",
        "round-robin",
        "round-robin:group",
        "by-leaf",
        "by-leaf:random",
        "by-group",
        "by-group:random",
        "nodes.csv",
    ] {
        assert_eq!(PlacementSpec::parse(name).name(), name);
    }
    assert!(matches!(PlacementSpec::parse("nodes.csv"), PlacementSpec::File(_)));
}

proptest! {
    #[test]
    fn no_placement_file_panics(content in "(rank,node\n)?([0-9a-z,\"# \r\n-]{0,8}\n?){0,8}", ranks in 0u32..7) {
        if let Ok(nodes) = from_file(content.as_bytes(), ranks) {
            prop_assert_eq!(nodes.len(), ranks as usize);
        }
    }

    #[test]
    fn a_placement_written_to_a_file_reads_back(nodes in Just((0..6).collect::<Vec<u32>>()).prop_shuffle(), ranks in 0usize..6) {
        let lines: String = nodes.iter().take(ranks).enumerate().map(|(rank, node)| format!("{rank},{node}\n")).collect();
        prop_assert_eq!(from_file(format!("rank,node\n{lines}").as_bytes(), ranks as u32), Ok(nodes[..ranks].to_vec()));
    }
}

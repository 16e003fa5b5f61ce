//! The names by which the tables of a scenario are read, as the types that read them have them.

use crate::farm::FarmSpec;
use crate::node::NodeSpec;
use crate::pattern::PatternSpec;
use crate::placement::PlacementSpec;
use crate::reading::names;
use crate::routing::RoutingSpec;
use crate::sharing::SharingSpec;
use crate::system::ProgramSpec;
use crate::topology::TopologySpec;
use crate::transport::TransportSpec;

/// The tables and keys that a scenario can have.
pub const KEYS: [&str; 17] = [
    "seed",
    "resolution",
    "topology",
    "link",
    "routing",
    "placement",
    "sharing",
    "transport",
    "node",
    "collectives",
    "faults",
    "noise",
    "straggler",
    "estimate",
    "workload",
    "job",
    "files",
];

/// The tables of a plan, which are no part of its scenario.
pub(crate) const OF_PLANS: [&str; 5] = ["grid", "zip", "skip", "only", "sweep"];

/// Whether the table of this choice has this key; `None` where there is no such choice.
pub(super) fn has_key(table: &str, choice: &str, key: &str) -> Option<bool> {
    keys(table, choice).map(|keys| keys.contains(&key))
}

/// The choices of a table: `torus`, `mesh` ... of `topology`.
pub(super) fn choices(table: &str) -> Vec<&'static str> {
    match table {
        "topology" => names::choices::<TopologySpec>().to_vec(),
        "routing" => names::choices::<RoutingSpec>().to_vec(),
        "placement" => names::choices::<PlacementSpec>().to_vec(),
        "sharing" => names::choices::<SharingSpec>().to_vec(),
        "transport" => names::choices::<TransportSpec>().to_vec(),
        "node" => names::choices::<NodeSpec>().to_vec(),
        "workload" => {
            [names::choices::<PatternSpec>(), names::choices::<ProgramSpec>(), names::choices::<FarmSpec>()].concat()
        }
        _ => Vec::new(),
    }
}

/// The keys of the table of a choice: `dims`, `bandwidth` ... of `topology` and `torus`.
pub(super) fn keys(table: &str, choice: &str) -> Option<&'static [&'static str]> {
    match table {
        "topology" => names::keys::<TopologySpec>(choice),
        "routing" => names::keys::<RoutingSpec>(choice),
        "placement" => names::keys::<PlacementSpec>(choice),
        "sharing" => names::keys::<SharingSpec>(choice),
        "transport" => names::keys::<TransportSpec>(choice),
        "node" => names::keys::<NodeSpec>(choice),
        "workload" => names::keys::<PatternSpec>(choice)
            .or_else(|| names::keys::<ProgramSpec>(choice))
            .or_else(|| names::keys::<FarmSpec>(choice)),
        _ => None,
    }
}

/// Whether the work of this name is a program: the others are patterns.
pub(super) fn is_program(work: &str) -> bool {
    names::choices::<ProgramSpec>().contains(&work)
}

/// The parameters of a node model, as files have them: `L`, `o`, `S` ...
pub fn node_parameters(model: &str) -> Vec<&'static str> {
    keys("node", model).unwrap_or_default().to_vec()
}

#[cfg(test)]
mod tests {
    use super::super::overlay::CHOICES;
    use super::super::schema::Node;
    use super::*;

    #[test]
    fn the_types_know_the_names_that_the_schema_describes() {
        let described: Vec<&str> = Node::root().keys().into_iter().filter(|key| *key != "preset").collect();
        assert_eq!(described, KEYS);
        for table in CHOICES {
            let node = Node::root().key(table).unwrap();
            assert_eq!(choices(table), node.keys(), "{table}");
            for choice in choices(table) {
                assert_eq!(keys(table, choice).unwrap(), node.key(choice).unwrap().keys(), "{table}.{choice}");
            }
        }
    }
}

//! Names of the tables and keys of a scenario, taken from the types that read them.

use serde::Deserialize;

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

/// Tables and keys that a scenario can have.
pub const KEYS: [&str; 20] = [
    "seed",
    "ranks-per-node",
    "resolution",
    "symmetry",
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
    "optimum",
    "workload",
    "job",
    "files",
];

/// Tables of a plan that are not part of its scenario.
pub(crate) const OF_PLANS: [&str; 5] = ["grid", "zip", "skip", "only", "sweep"];

/// Tables of a scenario that contain exactly one choice: `[topology.torus]`.
pub(super) const CHOICES: [&str; 7] = ["topology", "routing", "placement", "sharing", "transport", "node", "workload"];

/// Functions that return the names of a type: its choices, and the keys of a choice.
struct Names {
    choices: fn() -> &'static [&'static str],
    keys: fn(&str) -> Option<&'static [&'static str]>,
}

impl Names {
    const fn of<T: for<'a> Deserialize<'a>>() -> Self {
        Self { choices: names::choices::<T>, keys: names::keys::<T> }
    }
}

/// Tables that contain exactly one choice (`[topology.torus]`), with the types that read them.
static TABLES: [(&str, &[Names]); CHOICES.len()] = [
    ("topology", &[Names::of::<TopologySpec>()]),
    ("routing", &[Names::of::<RoutingSpec>()]),
    ("placement", &[Names::of::<PlacementSpec>()]),
    ("sharing", &[Names::of::<SharingSpec>()]),
    ("transport", &[Names::of::<TransportSpec>()]),
    ("node", &[Names::of::<NodeSpec>()]),
    ("workload", &[Names::of::<PatternSpec>(), Names::of::<ProgramSpec>(), Names::of::<FarmSpec>()]),
];

/// Returns the names of a table, for each type that reads it.
fn names_of(table: &str) -> &'static [Names] {
    TABLES.iter().find(|(name, _)| *name == table).map_or(&[], |(_, types)| types)
}

/// Returns true if the table of this choice has this key; `None` if there is no such choice.
pub(super) fn has_key(table: &str, choice: &str, key: &str) -> Option<bool> {
    keys(table, choice).map(|keys| keys.contains(&key))
}

/// Returns the choices of a table: `torus`, `mesh` ... of `topology`.
pub(super) fn choices(table: &str) -> Vec<&'static str> {
    names_of(table).iter().flat_map(|names| (names.choices)()).copied().collect()
}

/// Returns the keys of the table of a choice: `dims`, `bandwidth` ... of `topology` and `torus`.
pub(super) fn keys(table: &str, choice: &str) -> Option<&'static [&'static str]> {
    names_of(table).iter().find_map(|names| (names.keys)(choice))
}

/// Returns true if the work with this name is a program; otherwise it is a pattern.
pub(super) fn is_program(work: &str) -> bool {
    names::choices::<ProgramSpec>().contains(&work)
}

/// Returns the kind of work that a table of the workload describes, as words for a message.
pub(super) fn kind_of_work(work: &str) -> &'static str {
    match work {
        "program-data" => "a prediction",
        _ if is_program(work) => "a program",
        _ if names::choices::<FarmSpec>().contains(&work) => "a farm",
        _ => "a pattern",
    }
}

/// Returns the parameters of a node model by their names in files: `L`, `o`, `S` ...
pub fn node_parameters(model: &str) -> Vec<&'static str> {
    keys("node", model).unwrap_or_default().to_vec()
}

#[cfg(test)]
mod tests {
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

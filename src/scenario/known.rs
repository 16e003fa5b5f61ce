//! The names by which the tables of a scenario are read, as the types that read them have them.

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

/// The tables of a scenario in which exactly one choice is made: `[topology.torus]`.
pub(super) const CHOICES: [&str; 7] = ["topology", "routing", "placement", "sharing", "transport", "node", "workload"];

/// Names that a type knows.
struct Names {
    choices: fn() -> &'static [&'static str],
    keys: fn(&str) -> Option<&'static [&'static str]>,
}

impl Names {
    const fn of<T: for<'a> Deserialize<'a>>() -> Self {
        Self { choices: names::choices::<T>, keys: names::keys::<T> }
    }
}

/// The tables in which exactly one choice is made (`[topology.torus]`), with the types that read them.
static TABLES: [(&str, &[Names]); CHOICES.len()] = [
    ("topology", &[Names::of::<TopologySpec>()]),
    ("routing", &[Names::of::<RoutingSpec>()]),
    ("placement", &[Names::of::<PlacementSpec>()]),
    ("sharing", &[Names::of::<SharingSpec>()]),
    ("transport", &[Names::of::<TransportSpec>()]),
    ("node", &[Names::of::<NodeSpec>()]),
    ("workload", &[Names::of::<PatternSpec>(), Names::of::<ProgramSpec>(), Names::of::<FarmSpec>()]),
];

/// The names of a table, by the types that read it.
fn names_of(table: &str) -> &'static [Names] {
    TABLES.iter().find(|(name, _)| *name == table).map_or(&[], |(_, types)| types)
}

/// Whether the table of this choice has this key; `None` where there is no such choice.
pub(super) fn has_key(table: &str, choice: &str, key: &str) -> Option<bool> {
    keys(table, choice).map(|keys| keys.contains(&key))
}

/// The choices of a table: `torus`, `mesh` ... of `topology`.
pub(super) fn choices(table: &str) -> Vec<&'static str> {
    names_of(table).iter().flat_map(|names| (names.choices)()).copied().collect()
}

/// The keys of the table of a choice: `dims`, `bandwidth` ... of `topology` and `torus`.
pub(super) fn keys(table: &str, choice: &str) -> Option<&'static [&'static str]> {
    names_of(table).iter().find_map(|names| (names.keys)(choice))
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

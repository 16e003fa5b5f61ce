//! The schema, generated from the types.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use schemars::schema_for;
use serde::Serialize;
use serde_json::{Value, json};

use super::super::known::{CHOICES, choices};
use super::super::{JobSpec, LinkSpec};
use super::*;
use crate::diagnostic::Located;
use crate::faults::FaultsSpec;
use crate::node::NodeSpec;
use crate::noise::{NoiseSpec, StragglerSpec};
use crate::placement::PlacementSpec;
use crate::program::collectives::CollectivesSpec;
use crate::routing::RoutingSpec;
use crate::sharing::SharingSpec;
use crate::system::WorkloadSpec;
use crate::system::{Symmetry, Target};
use crate::topology::TopologySpec;
use crate::transport::TransportSpec;
use crate::units::Time;

/// All tables of a scenario file.
#[derive(Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct ScenarioFile {
    /// Seed of everything random (default 1).
    #[serde(default = "first_seed")]
    seed: u64,
    /// Number of ranks on each node, which share its links (default 1). Rules of placement fill one node after the
    /// other. Messages within a node take no time on the fabric.
    #[serde(default = "one_rank")]
    ranks_per_node: NonZeroU32,
    /// Smallest step of simulated time (default 0 s; only to reproduce published results).
    #[serde(default)]
    resolution: Located<Time>,
    /// Ranks of a program that are played: one of each class of ranks that do the same, if that saves most of the
    /// work (`auto`), or every rank (`off`).
    #[serde(default)]
    symmetry: Symmetry,
    /// Fabric: nodes, switches and links.
    topology: TopologySpec,
    /// Links, if the topology leaves them to the machine (default: those of the topology).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    link: Option<LinkSpec>,
    /// Routing rule (default: the usual one of the topology).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    routing: Option<RoutingSpec>,
    /// Placement of ranks on nodes (default regular).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    placement: Option<PlacementSpec>,
    /// Sharing policy of links between flows (default max-min).
    #[serde(default)]
    sharing: SharingSpec,
    /// Transport of messages (default flow).
    #[serde(default, skip_serializing_if = "TransportSpec::is_default")]
    transport: TransportSpec,
    /// Node model: the cost of a message at its two ends (default ideal: nothing).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    node: Option<NodeSpec>,
    /// Algorithms of collectives (programs only; default: as MPICH chooses).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    collectives: Option<CollectivesSpec>,
    /// Links and switches that fail (default: none).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    faults: Option<FaultsSpec>,
    /// Noise: stops of the ranks' processors (default: none).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    noise: Option<NoiseSpec>,
    /// Ranks that compute more slowly than the rest (default: none).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    straggler: Vec<StragglerSpec>,
    /// Relative precision to which the makespan is needed: half of its 95 % interval, from 0.01 % to 50 %.
    /// Of a regular pattern only the beginning is simulated, and the rest is estimated; all other work is
    /// simulated in full (default: exact); "1 %"
    #[serde(default, skip_serializing_if = "Option::is_none")]
    estimate: Option<Target>,
    /// Largest gap between the bounds of the best possible time over all routings, from 0.01 % to 50 %; the report
    /// then has both bounds and the ratio to the optimum (default: not computed); "1 %"
    #[serde(default, skip_serializing_if = "Option::is_none")]
    optimum: Option<Target>,
    /// Workload: the messages of the ranks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    workload: Option<WorkloadSpec>,
    /// Several jobs on the fabric, instead of a workload.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    job: Vec<JobSpec>,
    /// Files inside the scenario: contents by the names that other keys use. They take precedence over files
    /// on disk.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    files: BTreeMap<String, String>,
}

/// Returns the default seed for the schema; the seed of a file is read separately.
fn one_rank() -> NonZeroU32 {
    NonZeroU32::MIN
}

fn first_seed() -> u64 {
    crate::system::System::SEED
}

/// Returns the schema of [`ScenarioFile`], with the short forms that the loader accepts.
fn of_types() -> Value {
    let mut schema = schema_for!(ScenarioFile).to_value();
    let properties = schema["properties"].as_object_mut().unwrap();
    for key in CHOICES {
        let choice = properties.get_mut(key).unwrap();
        let description = choice.as_object_mut().unwrap().remove("description").unwrap();
        let name = match key {
            "topology" => json!({ "type": "string", "description": "a named topology, or a file" }),
            "workload" => json!({ "type": "string", "description": "a named pattern, or a file" }),
            _ => json!({ "enum": choices(key), "description": "short for an empty table of that name" }),
        };
        *choice = json!({ "anyOf": [choice.take(), name], "description": description });
    }
    let description = "Defaults for everything that this file leaves open: a named preset, or a file";
    properties.insert("preset".to_owned(), json!({ "type": "string", "description": description }));
    schema["title"] = "Hayase scenario".into();
    schema["description"] = "A fabric, what is sent over it, and how: https://docs.rs/hayase".into();
    // A named topology or pattern is a partial scenario.
    schema.as_object_mut().unwrap().remove("required");
    schema
}

/// Compares `schema.json` with the types. `HAYASE_WRITE_SCHEMA=1 cargo test --lib -- scenario::schema` writes
/// the file again.
#[test]
fn the_file_says_what_the_types_say() {
    let text = format!("{:#}\n", of_types());
    if std::env::var_os("HAYASE_WRITE_SCHEMA").is_some() {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/src/scenario/schema.json"), &text).unwrap();
        return;
    }
    let differs = text.lines().zip(schema().lines()).position(|(types, file)| types != file);
    assert!(
        text == schema(),
        "src/scenario/schema.json is not what the types say, from line {} on; write it anew with HAYASE_WRITE_SCHEMA=1",
        differs.map_or(text.lines().count().min(schema().lines().count()), |line| line) + 1
    );
}

#[test]
fn what_is_looked_up_is_found_through_references_and_alternatives() {
    let torus = Node::at(["topology", "torus"]).unwrap();
    assert_eq!(torus.description().unwrap(), "A grid whose dimensions are closed to rings");
    assert_eq!(torus.required(), ["dims", "bandwidth"]);
    assert_eq!(torus.key("dims").unwrap().type_name(), Some("array"));
    assert_eq!(torus.key("bandwidth").unwrap().example(), Some("\"12.5 GB/s\""));
    assert_eq!(Node::at(["seed"]).unwrap().default(), Some(&json!(1)));
    assert!(Node::at(["workload", "all-to-all", "algorithm"]).unwrap().words().contains(&"simple-spread"));
    assert!(Node::at(["topology", "dragonfry"]).is_none());
}

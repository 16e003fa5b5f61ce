//! The schema as the types give it.

use std::collections::BTreeMap;

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
use crate::system::Target;
use crate::system::WorkloadSpec;
use crate::topology::TopologySpec;
use crate::transport::TransportSpec;
use crate::units::Time;

/// What the texts say together: every table of a scenario file.
#[derive(Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct ScenarioFile {
    /// The seed of everything random (default 1).
    #[serde(default = "first_seed")]
    seed: u64,
    /// Smallest step of simulated time (default 0 s; only to reproduce published results).
    #[serde(default)]
    resolution: Located<Time>,
    /// The fabric.
    topology: TopologySpec,
    /// What links have where the topology leaves them to the machine (default: as the topology says for that).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    link: Option<LinkSpec>,
    /// The routes (default: what is usual for the topology).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    routing: Option<RoutingSpec>,
    /// Where ranks are (default regular).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    placement: Option<PlacementSpec>,
    /// How flows share links (default max-min).
    #[serde(default)]
    sharing: SharingSpec,
    /// How messages move (default flow).
    #[serde(default, skip_serializing_if = "TransportSpec::is_default")]
    transport: TransportSpec,
    /// What a message costs at its two ends (default ideal: nothing; programs only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    node: Option<NodeSpec>,
    /// By which algorithms collectives are done (programs only; default: as MPICH chooses).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    collectives: Option<CollectivesSpec>,
    /// Links and switches that fail (default: none).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    faults: Option<FaultsSpec>,
    /// Noise: stops of the ranks' processors (default: none).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    noise: Option<NoiseSpec>,
    /// Ranks that compute slower than the others (default: none).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    straggler: Vec<StragglerSpec>,
    /// How well the makespan is to be known, as a part of it: a beginning is simulated then, and the rest estimated
    /// (default: exactly); "1 %"
    #[serde(default, skip_serializing_if = "Option::is_none")]
    estimate: Option<Target>,
    /// What ranks send.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    workload: Option<WorkloadSpec>,
    /// Several jobs on the fabric, in the place of a workload.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    job: Vec<JobSpec>,
    /// Files that the scenario brings with it: what is in them, by the names under which other keys have them. They
    /// come before files on disk.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    files: BTreeMap<String, String>,
}

/// For the schema: of files, the seed is read apart.
fn first_seed() -> u64 {
    crate::system::System::SEED
}

/// The schema of [`ScenarioFile`], with what the loader takes besides.
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
    let description = "What holds where this file says nothing else: a named preset, or a file";
    properties.insert("preset".to_owned(), json!({ "type": "string", "description": description }));
    schema["title"] = "Hayase scenario".into();
    schema["description"] = "A fabric, what is sent over it, and how: https://docs.rs/hayase".into();
    // A named topology or pattern is a scenario without the rest.
    schema.as_object_mut().unwrap().remove("required");
    schema
}

/// `HAYASE_WRITE_SCHEMA=1 cargo test --lib -- scenario::schema` writes the file anew.
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

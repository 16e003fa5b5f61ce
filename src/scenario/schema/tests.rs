//! The schema as the types give it.

use schemars::schema_for;
use serde_json::{Value, json};

use super::super::ScenarioFile;
use super::super::known::choices;
use super::super::loader::CHOICES;
use super::*;

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

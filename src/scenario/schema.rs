//! The JSON schema of a scenario: for editors, and for messages that say which keys there are.

use std::sync::OnceLock;

use serde_json::{Map, Value, json};

use super::ScenarioFile;
use super::loader::CHOICES;

/// The JSON schema of a scenario file, for editors (Taplo, VS Code) and other programs.
pub fn schema() -> Value {
    let mut schema = types().clone();
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        for key in CHOICES {
            let Some(choice) = properties.get_mut(key) else { continue };
            let description = choice.as_object_mut().and_then(|choice| choice.remove("description"));
            let name = match key {
                "topology" => json!({ "type": "string", "description": "a named topology, or a file" }),
                "workload" => json!({ "type": "string", "description": "a named pattern, or a file" }),
                _ => json!({ "enum": variants(key), "description": "short for an empty table of that name" }),
            };
            *choice = json!({ "anyOf": [choice.take(), name] });
            if let (Some(description), Some(choice)) = (description, choice.as_object_mut()) {
                choice.insert("description".to_owned(), description);
            }
        }
    }
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        let description = "What holds where this file says nothing else: a named preset, or a file";
        properties.insert("preset".to_owned(), json!({ "type": "string", "description": description }));
    }
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("title".to_owned(), "Hayase scenario".into());
        let description = "A fabric, what is sent over it, and how: https://docs.rs/hayase";
        schema.insert("description".to_owned(), description.into());
        // A named topology or pattern is a scenario without the rest.
        schema.remove("required");
    }
    schema
}

/// The schema of [`ScenarioFile`] as its types give it.
fn types() -> &'static Value {
    static TYPES: OnceLock<Value> = OnceLock::new();
    TYPES.get_or_init(|| schemars::schema_for!(ScenarioFile).to_value())
}

/// What the schema says of the value at the end of these keys.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// All alternatives, references followed.
    alternatives: Vec<&'static Map<String, Value>>,
    description: Option<&'static str>,
    default: Option<&'static Value>,
}

impl Node {
    /// The whole scenario.
    pub fn root() -> Self {
        Self::of(types())
    }

    /// What stands behind these keys, if the schema knows them.
    pub fn at<'a>(path: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        path.into_iter().try_fold(Self::root(), |node, key| node.key(key))
    }

    fn of(schema: &'static Value) -> Self {
        let mut node = Self { alternatives: Vec::new(), description: None, default: schema.get("default") };
        node.add(schema, 0);
        node.description = schema
            .get("description")
            .and_then(Value::as_str)
            .or_else(|| node.alternatives.iter().find_map(|schema| schema.get("description").and_then(Value::as_str)));
        node
    }

    fn add(&mut self, schema: &'static Value, depth: u32) {
        let Some(map) = schema.as_object().filter(|_| depth < 16) else { return };
        self.alternatives.push(map);
        if let Some(target) =
            map.get("$ref").and_then(Value::as_str).and_then(|path| types().pointer(path.trim_start_matches('#')))
        {
            self.add(target, depth + 1);
        }
        for word in ["oneOf", "anyOf", "allOf"] {
            for schema in map.get(word).and_then(Value::as_array).into_iter().flatten() {
                self.add(schema, depth + 1);
            }
        }
    }

    /// What stands behind one key.
    pub fn key(&self, key: &str) -> Option<Self> {
        let (_, schema, owner) = self.properties().find(|(name, ..)| *name == key)?;
        let mut node = Self::of(schema);
        if schema.get("description").is_none() && owner.contains_key("required") {
            // One of several choices: what it is stands beside it.
            node.description = owner.get("description").and_then(Value::as_str).or(node.description);
        }
        Some(node)
    }

    /// The keys there are, in the order in which the types name them.
    pub fn keys(&self) -> Vec<&'static str> {
        self.properties().map(|(key, ..)| key).collect()
    }

    /// The keys there must be.
    pub fn required(&self) -> Vec<&'static str> {
        let lists = self.alternatives.iter().filter_map(|schema| schema.get("required")?.as_array());
        lists.flatten().filter_map(Value::as_str).collect()
    }

    /// What it is, in one sentence.
    pub fn description(&self) -> Option<String> {
        let text = self.description?.split("\n\n").next()?.replace('\n', " ");
        Some(text.trim_end_matches('.').to_owned())
    }

    /// What it is where it is left out, if the types say so.
    pub fn default(&self) -> Option<&'static Value> {
        self.default
    }

    /// The texts it may be, where there is a choice of words.
    pub fn words(&self) -> Vec<&'static str> {
        let listed = self.alternatives.iter().filter_map(|schema| schema.get("enum")?.as_array()).flatten();
        let single = self.alternatives.iter().filter_map(|schema| schema.get("const"));
        listed.chain(single).filter_map(Value::as_str).collect()
    }

    /// The name of its type in JSON, if there is one.
    pub fn type_name(&self) -> Option<&'static str> {
        // An optional value is of one of two types, the second being nothing.
        let name = |kind: &'static Value| kind.as_str().or_else(|| kind.as_array()?.first()?.as_str());
        self.alternatives.iter().find_map(|schema| schema.get("type").and_then(name))
    }

    /// A value that could stand there, as TOML, if the types give one: descriptions of quantities end in it.
    pub fn example(&self) -> Option<&'static str> {
        let descriptions = self.alternatives.iter().filter_map(|schema| schema.get("description")?.as_str());
        descriptions
            .filter_map(|text| text.rsplit_once("; "))
            .map(|(_, example)| example)
            .find(|example| example.len() > 2 && example.starts_with('"') && example.ends_with('"'))
    }

    /// Names, what the schema says of them, and where that stands.
    fn properties(&self) -> impl Iterator<Item = (&'static str, &'static Value, &'static Map<String, Value>)> {
        let maps =
            self.alternatives.iter().filter_map(|schema| Some((schema.get("properties")?.as_object()?, *schema)));
        maps.flat_map(|(map, owner)| map.iter().map(move |(key, schema)| (key.as_str(), schema, owner)))
    }
}

/// The choices of a table: `torus`, `mesh`, ... of `topology`.
pub(super) fn variants(table: &str) -> Vec<&'static str> {
    let node = Node::root().key(table);
    node.map(|node| node.keys().into_iter().chain(node.words()).collect()).unwrap_or_default()
}

/// The parameters of a node model, as files have them: `L`, `o`, `S` ...
pub fn node_parameters(model: &str) -> Vec<&'static str> {
    Node::at(["node", model]).map(|node| node.keys()).unwrap_or_default()
}

/// The tables and keys that a scenario can have.
pub fn keys() -> Vec<&'static str> {
    Node::root().keys()
}

/// Whether the table at the end of `path` has this key; `None` where there is no such table.
pub(super) fn has_key(path: &[&str], key: &str) -> Option<bool> {
    Node::at(path.iter().copied()).map(|node| node.keys().contains(&key))
}

//! The JSON schema of a scenario: for editors, and for messages that say what a key means.
//!
//! It follows from the types that are read, and is worked out where the program is tested: `schema.json` holds it, and
//! a test compares the two. The program carries the text, and looks into it only to explain something.

use std::sync::OnceLock;

use serde_json::{Map, Value};

/// The JSON schema of a scenario file, for editors (Taplo, VS Code) and other programs.
pub fn schema() -> &'static str {
    include_str!("schema.json")
}

/// The same, to be looked into.
fn parsed() -> &'static Value {
    static PARSED: OnceLock<Value> = OnceLock::new();
    PARSED.get_or_init(|| serde_json::from_str(schema()).unwrap_or_default())
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
        Self::of(parsed())
    }

    /// What stands behind these keys, if the schema knows them.
    pub fn at<'a>(path: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        path.into_iter().try_fold(Self::root(), |node, key| node.key(key))
    }

    fn of(schema: &'static Value) -> Self {
        let mut node = Self { alternatives: Vec::new(), description: None, default: None };
        node.add(schema, 0);
        node.default = node.alternatives.iter().find_map(|schema| schema.get("default"));
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
            map.get("$ref").and_then(Value::as_str).and_then(|path| parsed().pointer(path.trim_start_matches('#')))
        {
            self.add(target, depth + 1);
        }
        // Of a list: what its items are.
        if let Some(items) = map.get("items") {
            self.add(items, depth + 1);
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

    /// The name of the type of quantities that it is, or a list of: `Time`, `Size`, `Bandwidth`, `TimePerByte`.
    pub fn quantity(&self) -> Option<&'static str> {
        let named = |schema: &&'static Map<String, Value>| schema.get("$ref")?.as_str()?.strip_prefix("#/$defs/");
        let quantities = ["Time", "Size", "Bandwidth", "TimePerByte"];
        self.alternatives.iter().filter_map(named).find(|name| quantities.contains(name))
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

#[cfg(test)]
mod tests;

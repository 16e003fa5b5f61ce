//! Node-link JSON, with the place of every vertex and edge.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::node_link_graph::{ById, Edge, MOST_MISTAKES, NodeLinkGraph, Vertex, VertexKind};
use crate::diagnostic::{Diagnostic, Span};
use crate::reading::json::in_words;
use crate::units::{Bandwidth, QuantityError, Time};

/// Keys of an object with their raw values. If a key occurs twice the last value holds, as in Python.
struct Object<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Keys;
        impl<'de> Visitor<'de> for Keys {
            type Value = Object<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'de>, A::Error> {
                let mut keys = Vec::new();
                while let Some((key, value)) = map.next_entry::<String, &'de RawValue>()? {
                    keys.push((Cow::Owned(key), value));
                }
                Ok(Object(keys))
            }
        }
        deserializer.deserialize_map(Keys)
    }
}

impl<'a> Object<'a> {
    /// Returns the first of these names that the object has, with its value.
    fn get(&self, names: &[&'static str]) -> Option<(&'static str, &'a RawValue)> {
        let value = |name: &'static str| self.0.iter().rev().find(|(key, _)| key == name).map(|(_, raw)| (name, *raw));
        names.iter().find_map(|name| value(name))
    }
}

/// Returns true if a JSON text is a node-link graph: it has `nodes`, and `links` or `edges`.
pub fn is_graph(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Keys {
        nodes: Option<IgnoredAny>,
        links: Option<IgnoredAny>,
        edges: Option<IgnoredAny>,
        topology: Option<IgnoredAny>,
        scenario: Option<IgnoredAny>,
    }
    serde_json::from_str::<Keys>(text).is_ok_and(|keys| {
        let edges = keys.links.is_some() || keys.edges.is_some();
        keys.nodes.is_some() && edges && keys.topology.is_none() && keys.scenario.is_none()
    })
}

/// Text with its place in the sources.
struct Reader<'a> {
    text: &'a str,
    base: usize,
    mistakes: Vec<Diagnostic>,
}

/// Reads the graph of a text that starts at `base` in its sources.
pub(super) fn graph(text: &str, base: usize) -> Result<NodeLinkGraph, Vec<Diagnostic>> {
    let mut reader = Reader { text, base, mistakes: Vec::new() };
    let graph = reader.graph();
    match graph {
        Some(graph) if reader.mistakes.is_empty() => Ok(graph),
        _ => Err(reader.mistakes),
    }
}

impl<'a> Reader<'a> {
    fn span(&self, raw: &RawValue) -> Span {
        let start = self.base + (raw.get().as_ptr() as usize - self.text.as_ptr() as usize);
        Span::new(start, start + raw.get().len())
    }

    fn wrong(&mut self, raw: &RawValue, code: &'static str, message: impl Into<String>, label: &str) {
        let diagnostic = Diagnostic::new(code, message).at(self.span(raw)).label(label);
        self.mistakes.push(diagnostic);
    }

    fn is_full(&self) -> bool {
        self.mistakes.len() >= MOST_MISTAKES
    }

    fn graph(&mut self) -> Option<NodeLinkGraph> {
        let object: Object<'a> = match serde_json::from_str(self.text) {
            Ok(object) => object,
            Err(error) => {
                let line: usize =
                    self.text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
                let at = self.base + (line + error.column().saturating_sub(1)).min(self.text.len());
                let message = format!("this is not the JSON of a graph: {}", in_words(&error));
                self.mistakes.push(Diagnostic::new("json", message).at(Span::new(at, at + 1)));
                return None;
            }
        };
        let directed = match object.get(&["directed"]) {
            None => false,
            Some((_, raw)) => match raw.get() {
                "true" => true,
                "false" => false,
                _ => {
                    self.wrong(raw, "wrong-type", "`directed` is true or false", "true or false is expected");
                    false
                }
            },
        };
        let nodes = self.list(&object, &["nodes"])?;
        let edges = self.list(&object, &["edges", "links"])?;
        let mut by_id = ById::default();
        let mut vertices = Vec::with_capacity(nodes.len());
        for raw in nodes {
            if self.is_full() {
                return None;
            }
            self.vertex(raw, &mut vertices, &mut by_id);
        }
        let mut read = Vec::with_capacity(edges.len());
        for raw in edges {
            if self.is_full() {
                return None;
            }
            read.extend(self.edge(raw, &by_id));
        }
        Some(NodeLinkGraph { directed, vertices, edges: read })
    }

    fn list(&mut self, object: &Object<'a>, names: &[&'static str]) -> Option<Vec<&'a RawValue>> {
        let Some((name, raw)) = object.get(names) else {
            let message = format!("this graph has no `{}`", names.join("` or `"));
            let mistake = Diagnostic::new("missing-key", message).at(Span::new(self.base, self.base + 1));
            self.mistakes.push(mistake.label("a node-link graph, as networkx writes it, is expected"));
            return None;
        };
        match serde_json::from_str(raw.get()) {
            Ok(list) => Some(list),
            Err(_) => {
                self.wrong(raw, "wrong-type", format!("`{name}` is not a list"), "a list is expected");
                None
            }
        }
    }

    fn object(&mut self, raw: &'a RawValue, what: &str) -> Option<Object<'a>> {
        let object = serde_json::from_str(raw.get()).ok();
        if object.is_none() {
            self.wrong(raw, "wrong-type", format!("{what} is an object"), "an object with keys is expected");
        }
        object
    }

    /// Returns an id as a key that is the same for equal values, however they are written.
    fn id(&mut self, raw: &RawValue) -> Option<String> {
        match serde_json::from_str::<serde_json::Value>(raw.get()) {
            Ok(value @ (serde_json::Value::String(_) | serde_json::Value::Number(_) | serde_json::Value::Array(_))) => {
                Some(value.to_string())
            }
            _ => {
                self.wrong(raw, "wrong-type", "an id is a number, a text or a list", "the id of a vertex is expected");
                None
            }
        }
    }

    fn vertex(&mut self, raw: &'a RawValue, vertices: &mut Vec<Vertex>, by_id: &mut ById) {
        let Some(object) = self.object(raw, "a vertex") else { return };
        let Some((_, id_raw)) = object.get(&["id"]) else {
            return self.wrong(raw, "missing-key", "this vertex has no `id`", "\"id\" is expected");
        };
        let Some(id) = self.id(id_raw) else { return };
        let text = |raw: &RawValue| serde_json::from_str::<String>(raw.get()).ok();
        let name = object.get(&["name"]).and_then(|(_, raw)| text(raw)).or_else(|| text(id_raw));
        let name = name.unwrap_or_else(|| id.clone());
        let kind = match object.get(&["kind", "type"]) {
            None => None,
            Some((key, raw)) => match text(raw).unwrap_or_default().to_lowercase().as_str() {
                "node" | "host" | "endpoint" | "server" | "compute" | "nic" | "hca" | "terminal" | "gpu" => {
                    Some(VertexKind::Node)
                }
                "switch" | "router" => Some(VertexKind::Switch),
                _ => {
                    let message = format!("`{key}` is neither node nor switch");
                    self.wrong(raw, "wrong-value", message, "\"node\" (or host, endpoint) or \"switch\" (or router)");
                    Some(VertexKind::Switch)
                }
            },
        };
        let endpoints = object.get(&["endpoints"]).map(|(_, raw)| {
            raw.get().parse::<u32>().unwrap_or_else(|_| {
                self.wrong(raw, "bad-number", "`endpoints` is a number of nodes", "a whole number is expected");
                0
            })
        });
        if by_id.insert(id, vertices.len() as u32).is_some() {
            self.wrong(
                id_raw,
                "duplicate-name",
                "there are two vertices with this id",
                "already the id of a vertex above",
            );
        }
        vertices.push(Vertex { name, kind, endpoints, span: self.span(raw) });
    }

    fn edge(&mut self, raw: &'a RawValue, by_id: &ById) -> Option<Edge> {
        let object = self.object(raw, "an edge")?;
        let mut end = |names: &[&'static str]| {
            let Some((_, value)) = object.get(names) else {
                let message = format!("this edge has no `{}`", names[0]);
                self.wrong(raw, "missing-key", message, "the id of a vertex is expected");
                return None;
            };
            let id = self.id(value)?;
            let vertex = by_id.get(&id).copied();
            if vertex.is_none() {
                self.wrong(value, "unknown-vertex", format!("there is no vertex {id}"), "the id of one of `nodes`");
            }
            vertex
        };
        let (from, to) = (end(&["source"]), end(&["target"]));
        let bandwidth = self.quantity(&object, &["bandwidth", "capacity"], Bandwidth::from_cell, |bandwidth| {
            bandwidth.bytes_per_second() > 0.0 && (1e12 / bandwidth.bytes_per_second()).is_finite()
        });
        let latency = self.quantity(&object, &["latency", "delay"], Time::from_cell, |_| true);
        let ends = (from?, to?);
        if ends.0 == ends.1 {
            self.wrong(raw, "loop", "an edge leads from a vertex to itself", "two different vertices are expected");
            return None;
        }
        let name = object.get(&["name"]).and_then(|(_, raw)| serde_json::from_str::<String>(raw.get()).ok());
        Some(Edge { ends, bandwidth, latency, name, span: self.span(raw) })
    }

    /// Returns a number in base units, or a text with a unit; `None` if it is missing or `null`.
    fn quantity<T>(
        &mut self,
        object: &Object<'a>,
        names: &[&'static str],
        parse: impl Fn(&str) -> Result<T, QuantityError>,
        fits: impl Fn(&T) -> bool,
    ) -> Option<T> {
        let (name, raw) = object.get(names).filter(|(_, raw)| raw.get() != "null")?;
        let text = serde_json::from_str::<String>(raw.get()).unwrap_or_else(|_| raw.get().to_owned());
        match parse(&text) {
            Ok(value) if fits(&value) => return Some(value),
            Ok(_) => self.wrong(raw, "zero-bandwidth", format!("`{name}` carries nothing"), "above 0 is expected"),
            Err(error) => {
                self.wrong(raw, "bad-quantity", error.to_string(), "a number in base units, or a text with its unit")
            }
        }
        None
    }
}

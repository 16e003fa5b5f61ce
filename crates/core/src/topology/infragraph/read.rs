//! Reader of infrastructures in YAML, in the InfraGraph schema.

use rustc_hash::{FxHashMap, FxHashSet};

use super::model::{Component, Device, Edge, Instance, Link, Model, Rate, Scheme};
use super::slice::{self, Part};
use super::yaml::{Document, Id, Value};
use crate::diagnostic::{Diagnostic, Span};
use crate::units::{Bandwidth, Time};

/// Number of mistakes at which reading stops.
const MOST_MISTAKES: usize = 20;
/// Longest name [B]; names of vertices are made of several.
const LONGEST: usize = 128;
/// Kinds of components that the schema names, besides `device` and `custom`.
const KINDS: [&str; 6] = ["cpu", "xpu", "nic", "memory", "port", "switch"];

struct Reader<'a> {
    document: &'a Document,
    mistakes: Vec<Diagnostic>,
    /// Number of list values that may still be read: aliases could name the same list again and again.
    left: usize,
}

/// Mapping with the keys that it may have.
struct Object {
    id: Id,
    values: Vec<(&'static str, Id)>,
}

impl Object {
    fn get(&self, key: &str) -> Option<Id> {
        self.values.iter().find(|(name, _)| *name == key).map(|(_, id)| *id)
    }
}

/// Reads the infrastructure of a document.
pub(super) fn model(document: &Document) -> Result<Model, Vec<Diagnostic>> {
    let mut reader = Reader { document, mistakes: Vec::new(), left: 2 * document.len() + (1 << 16) };
    let model = reader.model();
    match model {
        Some(model) if reader.mistakes.is_empty() => Ok(model),
        _ => Err(reader.mistakes),
    }
}

impl<'a> Reader<'a> {
    fn span(&self, id: Id) -> Span {
        self.document.node(id).span
    }

    fn wrong(&mut self, at: Span, code: &'static str, message: impl Into<String>, label: impl Into<String>) {
        if self.mistakes.len() < MOST_MISTAKES {
            self.mistakes.push(Diagnostic::new(code, message).at(at).label(label));
        }
    }

    /// Returns true if there are enough mistakes to stop.
    fn is_full(&self) -> bool {
        self.mistakes.len() >= MOST_MISTAKES
    }

    /// Returns a mapping; reports keys that the schema does not know.
    fn object(&mut self, id: Id, what: &str, keys: &[&'static str]) -> Option<Object> {
        let document = self.document;
        let Value::Map(entries) = &document.node(id).value else {
            self.wrong(self.span(id), "wrong-type", format!("{what} is a mapping"), "keys with values are expected");
            return None;
        };
        let mut values: Vec<(&'static str, Id)> = Vec::new();
        let mut merged = None;
        for &(key, value) in entries {
            let name = document.text(key).unwrap_or_default();
            match keys.iter().find(|known| **known == name) {
                Some(known) if values.iter().any(|(there, _)| there == known) => {
                    self.wrong(self.span(key), "duplicate-key", format!("{what} has two `{name}`"), "remove one");
                }
                Some(_) if document.is_null(value) => {}
                Some(known) => values.push((known, value)),
                None if name == "<<" => merged = Some(value),
                None => {
                    let expected = format!("expected are {}", keys.join(", "));
                    self.wrong(self.span(key), "unknown-key", format!("{what} has no `{name}`"), expected);
                }
            }
            if self.is_full() {
                return None;
            }
        }
        // A merge key gives values for missing keys; one level is enough for hand-written files.
        if let Some(merged) = merged {
            match &document.node(merged).value {
                Value::Map(entries) => {
                    for &(key, value) in entries.iter().take(64) {
                        let name = document.text(key).unwrap_or_default();
                        if let Some(known) = keys.iter().find(|known| **known == name)
                            && values.iter().all(|(there, _)| there != known)
                            && !document.is_null(value)
                        {
                            values.push((known, value));
                        }
                    }
                }
                _ => self.wrong(self.span(merged), "wrong-type", "`<<` names one mapping", "an alias is expected"),
            }
        }
        Some(Object { id, values })
    }

    fn missing(&mut self, object: &Object, what: &str, key: &str) {
        let label = format!("`{key}` is expected");
        self.wrong(self.span(object.id), "missing-key", format!("{what} has no `{key}`"), label);
    }

    /// Returns a list, empty if there is none.
    fn list(&mut self, object: &Object, key: &str) -> &'a [Id] {
        let Some(id) = object.get(key) else { return &[] };
        let document = self.document;
        match &document.node(id).value {
            Value::List(items) if items.len() <= self.left => {
                self.left -= items.len();
                items
            }
            Value::List(_) => {
                let message = "aliases make this file much larger than it is written";
                self.wrong(self.span(id), "too-large", message, "this list is read again and again");
                &[]
            }
            _ => {
                self.wrong(self.span(id), "wrong-type", format!("`{key}` is a list"), "a list is expected");
                &[]
            }
        }
    }

    fn text(&mut self, object: &Object, what: &str, key: &str) -> Option<(&'a str, Span)> {
        let Some(id) = object.get(key) else {
            self.missing(object, what, key);
            return None;
        };
        let span = self.span(id);
        let text = self.document.text(id);
        if text.is_none() {
            self.wrong(span, "wrong-type", format!("`{key}` is a text"), "a text is expected");
        }
        text.map(|text| (text, span))
    }

    /// Returns the name of an object; `what` names its kind in messages.
    fn name(&mut self, object: &Object, what: &str) -> Option<(String, Span)> {
        let (text, span) = self.text(object, what, "name")?;
        // Names used in ends of edges cannot contain the separators of ends.
        let is_in_ends = !matches!(what, "a link" | "an infrastructure");
        if text.is_empty() || text.len() > LONGEST || is_in_ends && text.contains(['[', ']', '.', '\n']) {
            let label = format!("1 to {LONGEST} bytes, of what ends name without `[`, `]` and `.`");
            self.wrong(span, "bad-name", "this cannot be a name", label);
            return None;
        }
        Some((text.to_owned(), span))
    }

    fn count(&mut self, object: &Object, what: &str) -> Option<u32> {
        let (text, span) = self.text(object, what, "count")?;
        let count = text.parse::<u32>().ok().filter(|count| *count <= i32::MAX as u32);
        if count.is_none() {
            let label = format!("a whole number up to {}", i32::MAX);
            self.wrong(span, "bad-number", format!("`count` is not a number of {what}s"), label);
        }
        count
    }

    fn model(&mut self) -> Option<Model> {
        let mut root = self.document.root;
        // An answer of the service has the infrastructure inside.
        for key in ["infragraph", "infrastructure"] {
            if let Value::Map(entries) = &self.document.node(root).value {
                let inner = entries.iter().find(|(name, _)| self.document.text(*name) == Some(key));
                root = inner.map_or(root, |(_, value)| *value);
            }
        }
        let keys = ["name", "description", "devices", "links", "instances", "edges"];
        let object = self.object(root, "an infrastructure", &keys)?;
        let name = object.get("name").and_then(|_| self.name(&object, "an infrastructure"));
        let mut devices = Vec::new();
        for &id in self.list(&object, "devices") {
            if self.is_full() {
                return None;
            }
            devices.extend(self.device(id));
        }
        self.unique(devices.iter().map(|device| (&*device.name, device.span)), "device");
        let mut instances = Vec::new();
        for &id in self.list(&object, "instances") {
            if self.is_full() {
                return None;
            }
            instances.extend(self.instance(id));
        }
        self.unique(instances.iter().map(|instance| (&*instance.name, instance.span)), "instance");
        if object.get("instances").is_none() {
            self.missing(&object, "an infrastructure", "instances");
        }
        let links = self.links(&object);
        let edges = self.edges(&object, &links, true);
        let name = name.map_or_else(String::new, |(name, _)| name);
        Some(Model { name, devices, instances, links, edges, span: self.span(root) })
    }

    /// Reports names that occur twice.
    fn unique<'n>(&mut self, names: impl Iterator<Item = (&'n str, Span)>, what: &str) {
        let mut seen = FxHashSet::default();
        for (name, span) in names {
            if !seen.insert(name) {
                let message = format!("there are two {what}s `{name}`");
                self.wrong(span, "duplicate-name", message, "already the name of one above");
            }
        }
    }

    fn device(&mut self, id: Id) -> Option<Device> {
        let keys = ["name", "description", "components", "links", "edges"];
        let object = self.object(id, "a device", &keys)?;
        let (name, span) = self.name(&object, "a device")?;
        let mut components = Vec::new();
        for &id in self.list(&object, "components") {
            if self.is_full() {
                return None;
            }
            components.extend(self.component(id));
        }
        self.unique(components.iter().map(|component| (&*component.name, component.span)), "component");
        let links = self.links(&object);
        let edges = self.edges(&object, &links, false);
        Some(Device { name, components, links, edges, span })
    }

    fn component(&mut self, id: Id) -> Option<Component> {
        let keys = [
            "name",
            "description",
            "count",
            "choice",
            "custom",
            "device",
            "cpu",
            "xpu",
            "nic",
            "memory",
            "port",
            "switch",
        ];
        let object = self.object(id, "a component", &keys)?;
        let (name, span) = self.name(&object, "a component")?;
        let count = self.count(&object, "component")?;
        let (choice, place) = match object.get("choice") {
            Some(_) => self.text(&object, "a component", "choice")?,
            None => {
                let said = keys[4..].iter().find_map(|key| Some((*key, self.span(object.get(key)?))));
                if said.is_none() {
                    self.missing(&object, "a component", "choice");
                }
                said?
            }
        };
        let kind = match choice {
            "device" => None,
            "custom" => {
                let Some(custom) = object.get("custom") else {
                    self.missing(&object, "a custom component", "custom");
                    return None;
                };
                let custom = self.object(custom, "`custom`", &["type"])?;
                Some(self.text(&custom, "`custom`", "type")?.0.to_owned())
            }
            kind if KINDS.contains(&kind) => Some(kind.to_owned()),
            other => {
                let label = format!("one of {}, device, custom", KINDS.join(", "));
                self.wrong(place, "unknown-name", format!("there is no kind of component `{other}`"), label);
                return None;
            }
        };
        Some(Component { name, kind, count, span })
    }

    fn instance(&mut self, id: Id) -> Option<Instance> {
        let object = self.object(id, "an instance", &["name", "description", "device", "count"])?;
        let (name, span) = self.name(&object, "an instance")?;
        let (device, device_span) = self.text(&object, "an instance", "device")?;
        let count = self.count(&object, "instance")?;
        Some(Instance { name, device: device.to_owned(), device_span, count, span })
    }

    fn links(&mut self, object: &Object) -> Vec<Link> {
        let mut links = Vec::new();
        for &id in self.list(object, "links") {
            if self.is_full() {
                break;
            }
            links.extend(self.link(id));
        }
        self.unique(links.iter().map(|link| (&*link.name, link.span)), "link");
        links
    }

    fn link(&mut self, id: Id) -> Option<Link> {
        let object = self.object(id, "a link", &["name", "description", "physical"])?;
        let (name, span) = self.name(&object, "a link")?;
        let mut link = Link { name, rate: Rate::None, latency: None, span };
        let Some(physical) = object.get("physical") else { return Some(link) };
        let physical = self.object(physical, "`physical`", &["bandwidth", "latency"])?;
        if let Some(bandwidth) = physical.get("bandwidth") {
            let units = ["choice", "gigabits_per_second", "gigabytes_per_second", "gigatransfers_per_second"];
            if let Some((unit, number, span)) = self.quantity(bandwidth, "`bandwidth`", &units) {
                let per_second = number * if unit == "gigabits_per_second" { 1e9 / 8.0 } else { 1e9 };
                let fits = (1e12 / per_second).is_finite() && per_second.is_finite() && per_second > 0.0;
                link.rate = match unit {
                    _ if !fits => {
                        self.wrong(span, "no-bandwidth", "a link without bandwidth never delivers anything", "above 0");
                        Rate::None
                    }
                    "gigatransfers_per_second" => Rate::Transfers(per_second, span),
                    _ => Rate::Bandwidth(Bandwidth::from_bytes_per_second(per_second)),
                };
            }
        }
        if let Some(latency) = physical.get("latency")
            && let Some((unit, number, span)) = self.quantity(latency, "`latency`", &["choice", "ms", "us", "ns"])
        {
            let per_second = [("ms", 1e3), ("us", 1e6), ("ns", 1e9)];
            let factor = per_second.iter().find(|(name, _)| *name == unit).map_or(1.0, |(_, factor)| *factor);
            if (0.0..=1e15).contains(&number) {
                link.latency = Some(Time::from_seconds(number / factor));
            } else {
                self.wrong(span, "bad-quantity", "this is no latency", "0 or more is expected");
            }
        }
        Some(link)
    }

    /// Returns the unit that `choice` selects, or the only one given, with its number.
    fn quantity(&mut self, id: Id, what: &str, keys: &[&'static str]) -> Option<(&'static str, f64, Span)> {
        let object = self.object(id, what, keys)?;
        let units = &keys[1..];
        let unit = match object.get("choice") {
            Some(_) => {
                let (choice, span) = self.text(&object, what, "choice")?;
                let unit = units.iter().find(|unit| **unit == choice);
                if unit.is_none() {
                    let label = format!("one of {}", units.join(", "));
                    self.wrong(span, "unknown-name", format!("{what} has no unit `{choice}`"), label);
                }
                *unit?
            }
            None => *units.iter().find(|unit| object.get(unit).is_some())?,
        };
        // The schema's own writer leaves a choice without a number if none is given.
        object.get(unit)?;
        let (text, span) = self.text(&object, what, unit)?;
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Some((unit, number, span)),
            _ => {
                self.wrong(span, "bad-number", format!("`{unit}` is no number"), "a number is expected");
                None
            }
        }
    }

    fn edges(&mut self, object: &Object, links: &[Link], between_instances: bool) -> Vec<Edge> {
        let by_name: FxHashMap<&str, u32> =
            links.iter().enumerate().map(|(index, link)| (&*link.name, index as u32)).collect();
        let mut edges = Vec::new();
        for &id in self.list(object, "edges") {
            if self.is_full() {
                break;
            }
            edges.extend(self.edge(id, &by_name, between_instances));
        }
        edges
    }

    fn edge(&mut self, id: Id, links: &FxHashMap<&str, u32>, between_instances: bool) -> Option<Edge> {
        let object = self.object(id, "an edge", &["ep1", "ep2", "scheme", "link"])?;
        let (name, span) = self.text(&object, "an edge", "link")?;
        let link = links.get(name).copied();
        if link.is_none() {
            let label = if between_instances { "one of the infrastructure's" } else { "one of the device's" };
            self.wrong(span, "unknown-name", format!("there is no link `{name}`"), format!("{label} `links`"));
        }
        let (scheme, span) = self.text(&object, "an edge", "scheme")?;
        let scheme = match scheme {
            "one2one" => Scheme::One2One,
            "many2many" => Scheme::Many2Many,
            "ring" => Scheme::Ring,
            other => {
                let message = format!("there is no scheme `{other}`");
                self.wrong(span, "unknown-name", message, "one of one2one, many2many, ring");
                return None;
            }
        };
        let first = self.end(&object, "ep1", between_instances);
        let second = self.end(&object, "ep2", between_instances);
        Some(Edge { ends: [first?, second?], scheme, link: link?, span: self.span(id) })
    }

    fn end(&mut self, edge: &Object, key: &'static str, between_instances: bool) -> Option<Vec<Part>> {
        let Some(id) = edge.get(key) else {
            self.missing(edge, "an edge", key);
            return None;
        };
        let owner = if between_instances { "instance" } else { "device" };
        let object = self.object(id, &format!("`{key}`"), &[owner, "component"])?;
        let mut parts = Vec::new();
        if between_instances || object.get(owner).is_some() {
            let (text, span) = self.text(&object, &format!("`{key}`"), owner)?;
            parts.push(slice::part(text, span).or_else(|| self.no_slice(text, span))?);
        }
        let (text, span) = self.text(&object, &format!("`{key}`"), "component")?;
        parts.extend(slice::parts(text, span).or_else(|| self.no_slice(text, span))?);
        Some(parts)
    }

    fn no_slice<T>(&mut self, text: &str, span: Span) -> Option<T> {
        let label = "a name, name[0], name[0:4] or name[0:8:2] is expected";
        self.wrong(span, "bad-slice", format!("`{text}` is not a slice"), label);
        None
    }
}

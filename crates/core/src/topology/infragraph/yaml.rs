//! YAML with the place of every value. Aliases refer to the value that they name, which is not copied.

use rustc_hash::FxHashMap;
use saphyr_parser::{Event, Marker, Parser, ScalarStyle};

use crate::diagnostic::{Diagnostic, Span};

/// Position of a value in the document.
pub(super) type Id = u32;

/// Content of a value.
pub(super) enum Value {
    /// Scalar; `plain` is true if it has no quotes.
    Text {
        text: String,
        plain: bool,
    },
    List(Vec<Id>),
    /// Keys and values.
    Map(Vec<(Id, Id)>),
}

/// Value and its place.
pub(super) struct Node {
    pub value: Value,
    /// Place of the value: for a list its first character, for a mapping its first key.
    pub span: Span,
}

/// Values of a text.
pub(super) struct Document {
    nodes: Vec<Node>,
    pub root: Id,
}

impl Document {
    pub fn node(&self, id: Id) -> &Node {
        &self.nodes[id as usize]
    }

    /// Number of values in the text.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the text of a scalar that is not null.
    pub fn text(&self, id: Id) -> Option<&str> {
        match &self.node(id).value {
            Value::Text { text, .. } if !self.is_null(id) => Some(text),
            _ => None,
        }
    }

    pub fn is_null(&self, id: Id) -> bool {
        let Value::Text { text, plain: true } = &self.node(id).value else { return false };
        matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL")
    }
}

/// Map from character counts to byte offsets.
struct Places<'a> {
    text: &'a str,
    base: usize,
    /// Byte offset of each `EVERY`th character; empty if all characters are single bytes.
    marks: Vec<usize>,
}

const EVERY: usize = 64;

impl<'a> Places<'a> {
    fn new(text: &'a str, base: usize) -> Self {
        let starts = || text.char_indices().step_by(EVERY).map(|(offset, _)| offset).collect();
        Self { text, base, marks: if text.is_ascii() { Vec::new() } else { starts() } }
    }

    fn offset(&self, marker: Marker) -> usize {
        let index = marker.index();
        let offset = match self.marks.get(index / EVERY) {
            Some(&mark) => {
                let rest = &self.text[mark..];
                mark + rest.char_indices().nth(index % EVERY).map_or(rest.len(), |(offset, _)| offset)
            }
            None if self.marks.is_empty() => index,
            None => self.text.len(),
        };
        self.base + offset.min(self.text.len())
    }

    fn span(&self, span: saphyr_parser::Span) -> Span {
        let (start, end) = (self.offset(span.start), self.offset(span.end));
        Span::new(start, end.max(start))
    }
}

/// Open lists and mappings, and the values so far.
struct Builder {
    nodes: Vec<Node>,
    open: Vec<(Id, Option<Id>)>,
    anchors: FxHashMap<usize, Id>,
    root: Option<Id>,
}

impl Builder {
    fn add(&mut self, value: Value, span: Span, anchor: usize) -> Id {
        let id = self.nodes.len() as Id;
        self.nodes.push(Node { value, span });
        if anchor > 0 {
            self.anchors.insert(anchor, id);
        }
        self.attach(id);
        id
    }

    /// Puts a value at the next free place of the innermost open list or mapping.
    fn attach(&mut self, id: Id) {
        let span = self.nodes[id as usize].span;
        let Some((parent, key)) = self.open.last_mut() else {
            self.root = Some(id);
            return;
        };
        let parent = &mut self.nodes[*parent as usize];
        match (&mut parent.value, key.take()) {
            (Value::List(items), _) => items.push(id),
            (Value::Map(entries), Some(key)) => entries.push((key, id)),
            (Value::Map(entries), None) => {
                if entries.is_empty() {
                    parent.span = span;
                }
                *key = Some(id);
            }
            (Value::Text { .. }, _) => {}
        }
    }
}

/// Parses a text that starts at `base` in its sources.
pub(super) fn parse(text: &str, base: usize) -> Result<Document, Diagnostic> {
    let places = Places::new(text, base);
    let mut builder = Builder { nodes: Vec::new(), open: Vec::new(), anchors: FxHashMap::default(), root: None };
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            let start = places.offset(*error.marker());
            let what = match error.info() {
                "recursion limit exceeded" => "lists and mappings are nested too deeply",
                what => what,
            };
            let message = format!("this is not YAML: {what}");
            Diagnostic::new("not-yaml", message).at(Span::new(start, start + 1)).label("an InfraGraph is expected")
        })?;
        let place = places.span(span);
        let first = Span::new(place.start, place.start + 1);
        match event {
            Event::Scalar(value, style, anchor, _) => {
                let value = Value::Text { text: value.into_owned(), plain: style == ScalarStyle::Plain };
                let place = if place.start == place.end { first } else { place };
                builder.add(value, place, anchor);
            }
            Event::SequenceStart(anchor, _) => {
                let id = builder.add(Value::List(Vec::new()), first, anchor);
                builder.open.push((id, None));
            }
            Event::MappingStart(anchor, _) => {
                let id = builder.add(Value::Map(Vec::new()), first, anchor);
                builder.open.push((id, None));
            }
            Event::SequenceEnd | Event::MappingEnd => {
                builder.open.pop();
            }
            Event::Alias(anchor) => match builder.anchors.get(&anchor) {
                Some(&id) => builder.attach(id),
                None => {
                    return Err(Diagnostic::new("not-yaml", "this alias stands for nothing").at(place));
                }
            },
            Event::DocumentStart(_) if builder.root.is_some() => {
                let message = "a second document starts here";
                return Err(Diagnostic::new("not-yaml", message).at(first).label("one document is expected"));
            }
            _ => {}
        }
    }
    match builder.root {
        Some(root) => Ok(Document { nodes: builder.nodes, root }),
        None => {
            let mistake = Diagnostic::new("not-yaml", "this file is empty").at(Span::new(base, base + 1));
            Err(mistake.label("an InfraGraph is expected"))
        }
    }
}

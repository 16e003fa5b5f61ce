//! Elements and attributes of an XML document, and mistakes at their places.

use std::ops::Range;

use roxmltree::Node;

use crate::diagnostic::{Diagnostic, Span, closest};

/// Largest number of mistakes reported for one document.
const MOST_MISTAKES: usize = 100;

/// Value of an attribute with its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text<'a> {
    pub value: &'a str,
    pub span: Span,
}

/// Mistakes of a document, at places in [`crate::diagnostic::Sources`].
#[derive(Debug)]
pub(super) struct Mistakes {
    base: usize,
    list: Vec<Diagnostic>,
    more: usize,
}

impl Mistakes {
    /// Creates an empty list. `base` is where the document's text starts in its sources.
    pub(super) fn new(base: usize) -> Self {
        Self { base, list: Vec::new(), more: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns true if no more mistakes are reported in full, so that suggestions need not be looked for.
    pub(super) fn is_full(&self) -> bool {
        self.list.len() >= MOST_MISTAKES
    }

    /// Returns the mistakes; the last one counts those beyond the limit.
    pub(super) fn into_list(mut self) -> Vec<Diagnostic> {
        if self.more > 0 {
            self.list.push(Diagnostic::new("more", format!("{} more mistakes in this file", self.more)));
        }
        self.list
    }

    pub(super) fn span(&self, range: Range<usize>) -> Span {
        Span::new(self.base + range.start, self.base + range.end)
    }

    /// Returns the place of the name in the start tag of an element.
    pub(super) fn tag(&self, node: Node<'_, '_>) -> Span {
        let start = node.range().start + 1;
        self.span(start..start + node.tag_name().name().len())
    }

    pub(super) fn add(&mut self, diagnostic: Diagnostic) {
        if self.list.len() < MOST_MISTAKES { self.list.push(diagnostic) } else { self.more += 1 }
    }

    /// Returns an attribute.
    pub(super) fn attribute<'a>(&self, node: Node<'a, '_>, name: &str) -> Option<Text<'a>> {
        let attribute = node.attribute_node(name)?;
        Some(Text { value: attribute.value(), span: self.span(attribute.range_value()) })
    }

    /// Returns an attribute; reports an element without it.
    pub(super) fn required<'a>(&mut self, node: Node<'a, '_>, name: &str) -> Option<Text<'a>> {
        let found = self.attribute(node, name);
        if found.is_none() {
            let element = node.tag_name().name();
            self.add(
                Diagnostic::new("missing-attribute", format!("`<{element}>` has no `{name}`"))
                    .at(self.tag(node))
                    .label(format!("expected {name}=\"...\"")),
            );
        }
        found
    }

    /// Reports attributes that are not known.
    pub(super) fn only(&mut self, node: Node<'_, '_>, known: &[&str]) {
        for attribute in node.attributes() {
            let name = attribute.name();
            if known.contains(&name) {
                continue;
            }
            let element = node.tag_name().name();
            let mut mistake =
                Diagnostic::new("unknown-attribute", format!("unknown attribute `{name}` of `<{element}>`"))
                    .at(self.span(attribute.range_qname()))
                    .label(format!("expected one of: {}", known.join(", ")));
            if let Some(close) = closest(name, known.iter().copied()) {
                mistake = mistake.help(format!("write `{close}`"));
            }
            self.add(mistake);
        }
    }

    /// Parses the value of an attribute by `parse`, whose error names what was expected. Returns `None` after
    /// reporting it.
    pub(super) fn parse<T>(
        &mut self,
        text: Text<'_>,
        what: &str,
        parse: impl FnOnce(&str) -> Result<T, &'static str>,
    ) -> Option<T> {
        match parse(text.value) {
            Ok(value) => Some(value),
            Err(expected) => {
                let message = format!("\"{}\" is not a {what}", text.value.escape_debug());
                self.add(Diagnostic::new("bad-value", message).at(text.span).label(expected));
                None
            }
        }
    }

    /// Reports an element that is not supported here.
    pub(super) fn unsupported(&mut self, node: Node<'_, '_>, why: &str) {
        let element = node.tag_name().name();
        self.add(
            Diagnostic::new("unsupported-element", format!("`<{element}>` is not supported"))
                .at(self.tag(node))
                .label(why.to_owned()),
        );
    }
}

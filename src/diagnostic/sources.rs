//! The texts that were read, and ranges of characters in them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A range of bytes of one of the texts of a [`Sources`], counted through all of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The range `start..end`.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end: end.max(start) }
    }
}

/// A place in a text, as a person would name it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The file, or what stands for one (`--set`).
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The line itself (long ones are cut).
    pub text: String,
    /// How many characters of it are meant.
    pub length: usize,
}

#[derive(Clone, Debug)]
struct Source {
    name: String,
    text: Arc<str>,
    base: usize,
}

/// The texts that were read so far.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    texts: Vec<Source>,
}

impl Sources {
    /// Keeps a text and returns its base: byte i of it has position `base + i` in a [`Span`].
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<Arc<str>>) -> usize {
        let base = self.texts.last().map_or(0, |last| last.base + last.text.len() + 1);
        self.texts.push(Source { name: name.into(), text: text.into(), base });
        base
    }

    /// The text that holds this range, with its name and the range in it.
    pub fn find(&self, span: Span) -> Option<(&str, &str, std::ops::Range<usize>)> {
        let source = self.texts.iter().rev().find(|source| source.base <= span.start)?;
        let start = (span.start - source.base).min(source.text.len());
        let end = (span.end - source.base).clamp(start, source.text.len());
        Some((&source.name, &source.text, start..end))
    }

    /// File, line and column of a range.
    pub fn place(&self, span: Span) -> Option<Place> {
        let (name, text, range) = self.find(span)?;
        let start = floor_char_boundary(text, range.start);
        let line_start = text[..start].rfind('\n').map_or(0, |i| i + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |i| start + i);
        let end = floor_char_boundary(text, range.end.min(line_end)).max(start);
        Some(Place {
            file: name.to_owned(),
            line: text[..start].matches('\n').count() + 1,
            column: text[line_start..start].chars().count() + 1,
            text: text[line_start..line_end].trim_end_matches('\r').chars().take(400).collect(),
            length: text[start..end].chars().count().max(1),
        })
    }
}

fn floor_char_boundary(text: &str, mut index: usize) -> usize {
    while !text.is_char_boundary(index) {
        index -= 1;
    }
    index
}

//! What is wrong with an input, where, and what to do about it.
//!
//! Every reader of a file reports [`Diagnostic`]s: a code, a message, the place, what was expected there and a
//! hint. Texts are kept in [`Sources`], in which a [`Span`] is a range of characters of any of them, so that a
//! value read from a file still knows its place when a later check finds it impossible ([`Located`]).

pub mod file_names;
mod located;
#[cfg(feature = "simulator")]
mod show;
mod sources;
mod span;

use std::fmt;

#[cfg(feature = "simulator")]
pub(crate) use located::LOCATED;
pub use located::Located;
#[cfg(feature = "simulator")]
pub use show::failure;
pub use sources::{BuiltIn, OnRead, Place, Sources};
pub use span::Span;

/// One mistake in an input.
#[derive(Clone, PartialEq, Debug)]
pub struct Diagnostic {
    /// A short, stable name of the kind of mistake (`"unknown-key"`).
    pub code: &'static str,
    /// What is wrong: a lowercase sentence without a full stop.
    pub message: String,
    /// Where.
    pub at: At,
    /// What stands under the marked characters: what was expected there.
    pub label: String,
    /// What to write or to try instead.
    pub help: Option<String>,
}

/// Where a mistake is.
#[derive(Clone, PartialEq, Debug)]
pub enum At {
    /// In no text: the command line as a whole, a missing file.
    Nowhere,
    /// In a text that [`Sources`] holds.
    Span(Span),
    /// In a text too large to keep; the reader has worked out the place.
    Place(Box<Place>),
}

impl Diagnostic {
    /// A mistake without a place.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: shortened(message.into()), at: At::Nowhere, label: String::new(), help: None }
    }

    /// The same at this place, where there is one.
    #[must_use]
    pub fn at(mut self, span: impl Into<Option<Span>>) -> Self {
        if let Some(span) = span.into() {
            self.at = At::Span(span);
        }
        self
    }

    /// The same at the place of a located value, if it has one.
    #[must_use]
    pub fn at_value<T>(self, value: &Located<T>) -> Self {
        self.at(value.span())
    }

    /// The same at a place that the reader has worked out.
    #[must_use]
    pub fn at_place(mut self, place: Place) -> Self {
        self.at = At::Place(Box::new(place));
        self
    }

    /// The same about this file, which stands in the message where no place names it.
    #[must_use]
    pub fn of_file(mut self, file: &str) -> Self {
        if self.at == At::Nowhere && !self.message.contains(file) {
            self.message = shortened(format!("{file}: {}", self.message));
        }
        self
    }

    /// The same with a text under the marked characters.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = shortened(label.into());
        self
    }

    /// The same with what to do instead.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(shortened(help.into()));
        self
    }

    /// The place of the mistake, where it has one.
    pub fn place(&self, sources: &Sources) -> Option<Place> {
        match &self.at {
            At::Nowhere => None,
            At::Span(span) => sources.place(*span),
            At::Place(place) => Some((**place).clone()),
        }
    }
}

/// Longest message, label or help, in characters: less than a screen, whatever the input says.
const LONGEST: usize = 1_000;

/// The text, without its middle where it is longer than anybody reads.
fn shortened(text: String) -> String {
    // No character is shorter than a byte.
    if text.len() <= LONGEST {
        return text;
    }
    let count = text.chars().count();
    if count <= LONGEST {
        return text;
    }
    let head: String = text.chars().take(LONGEST * 2 / 3).collect();
    let tail: String = text.chars().skip(count - LONGEST / 4).collect();
    format!("{head} ... {tail}")
}

/// All mistakes of an input, with the texts they are in: the error of everything that reads.
#[derive(Clone, Debug, Default)]
pub struct Invalid {
    /// The mistakes, in the order in which they were found.
    pub diagnostics: Vec<Diagnostic>,
    /// The texts.
    pub sources: Sources,
}

impl Invalid {
    /// A single mistake.
    pub fn one(diagnostic: Diagnostic, sources: &Sources) -> Self {
        Self { diagnostics: vec![diagnostic], sources: sources.clone() }
    }

    /// Whether nothing is wrong but that what failed leaves messages no way.
    pub fn is_cut_off(&self) -> bool {
        !self.diagnostics.is_empty() && self.diagnostics.iter().all(|one| one.code == "cut-off")
    }
}

impl Invalid {
    /// A line for each mistake: `file:line:column: message; help`.
    pub fn lines(&self) -> String {
        let line = |diagnostic: &Diagnostic| {
            let place = diagnostic.place(&self.sources);
            let place =
                place.map(|place| format!("{}:{}:{}: ", place.file, place.line, place.column)).unwrap_or_default();
            let label = if diagnostic.label.is_empty() { String::new() } else { format!(" ({})", diagnostic.label) };
            let help = diagnostic.help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
            format!("{place}{}{label}{help}", diagnostic.message)
        };
        self.diagnostics.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

/// As the command line shows it: each mistake under its line, with what to write instead.
impl fmt::Display for Invalid {
    #[cfg(feature = "simulator")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.show(false))
    }

    #[cfg(not(feature = "simulator"))]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.lines())
    }
}

impl std::error::Error for Invalid {}

/// The name among `known` that `unknown` was most likely meant to be, if one is close.
pub fn closest<'a>(unknown: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|name| (edit_distance(&unknown.to_lowercase(), &name.to_lowercase()), name))
        .filter(|(distance, name)| *distance <= 1 + name.len().max(unknown.len()) / 4)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Levenshtein's distance: insertions, deletions and replacements that turn `a` into `b`.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_miss_is_recognised() {
        let names = ["fat-tree", "torus", "crossbar"];
        assert_eq!(closest("fattree", names), Some("fat-tree"));
        assert_eq!(closest("Torus", names), Some("torus"));
        assert_eq!(closest("dragonfly", names), None);
    }

    #[test]
    fn a_message_is_never_longer_than_a_screen() {
        let diagnostic = Diagnostic::new("bad-quantity", format!("unknown unit \"{}\"", "ä".repeat(30_000_000)))
            .label("x".repeat(5_000))
            .help("y".repeat(5_000));
        assert!(diagnostic.message.starts_with("unknown unit \"ää") && diagnostic.message.ends_with("ä\""));
        for text in [&diagnostic.message, &diagnostic.label, diagnostic.help.as_ref().unwrap()] {
            assert!(text.chars().count() <= LONGEST, "{}", text.chars().count());
        }
        let short = "z".repeat(LONGEST);
        assert_eq!(Diagnostic::new("x", short.clone()).message, short);
    }

    #[test]
    fn a_message_names_file_line_and_column() {
        let mut sources = Sources::default();
        let base = sources.add("scenario.toml", "seed = 1\nsede = 2\n");
        let invalid = Invalid {
            diagnostics: vec![
                Diagnostic::new("unknown-key", "unknown key `sede`")
                    .at(Span::new(base + 9, base + 13))
                    .help("write `seed`"),
            ],
            sources,
        };
        assert_eq!(invalid.lines(), "scenario.toml:2:1: unknown key `sede`; write `seed`");
    }
}

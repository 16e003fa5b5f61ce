//! Mistakes in an input: the message, the place and the way out.
//!
//! Every reader of a file reports [`Diagnostic`]s: a code, a message, the place, the text expected there and
//! a hint. [`Sources`] keeps the texts, and a [`Span`] is a range of bytes in any of them. A value read from
//! a file keeps its place ([`Located`]), so that a later check can point at it.

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
    /// Short, stable name of the kind of mistake (`"unknown-key"`).
    pub code: &'static str,
    /// The message: a lowercase sentence without a full stop.
    pub message: String,
    /// The place.
    pub at: At,
    /// Text under the marked characters: the thing expected there.
    pub label: String,
    /// The way out: what to write or try instead.
    pub help: Option<String>,
}

/// Place of a mistake.
#[derive(Clone, PartialEq, Debug)]
pub enum At {
    /// No text: the command line as a whole, a missing file.
    Nowhere,
    /// A range in a text that [`Sources`] holds.
    Span(Span),
    /// A place in a text too large to keep, computed by the reader.
    Place(Box<Place>),
}

impl Diagnostic {
    /// Creates a mistake without a place.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: shortened(message.into()), at: At::Nowhere, label: String::new(), help: None }
    }

    /// Sets the place, if there is one.
    #[must_use]
    pub fn at(mut self, span: impl Into<Option<Span>>) -> Self {
        if let Some(span) = span.into() {
            self.at = At::Span(span);
        }
        self
    }

    /// Sets the place to that of a located value, if it has one.
    #[must_use]
    pub fn at_value<T>(self, value: &Located<T>) -> Self {
        self.at(value.span())
    }

    /// Sets the place to one that the reader has computed.
    #[must_use]
    pub fn at_place(mut self, place: Place) -> Self {
        self.at = At::Place(Box::new(place));
        self
    }

    /// Puts the name of the file before the message, unless a place or the message names it.
    #[must_use]
    pub fn of_file(mut self, file: &str) -> Self {
        if self.at == At::Nowhere && !self.message.contains(file) {
            self.message = shortened(format!("{file}: {}", self.message));
        }
        self
    }

    /// Sets the text under the marked characters.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = shortened(label.into());
        self
    }

    /// Sets the help: what to do instead.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(shortened(help.into()));
        self
    }

    /// Returns the place of the mistake, if it has one.
    pub fn place(&self, sources: &Sources) -> Option<Place> {
        match &self.at {
            At::Nowhere => None,
            At::Span(span) => sources.place(*span),
            At::Place(place) => Some((**place).clone()),
        }
    }
}

/// Longest message, label or help \[characters\]: less than a screen for any input.
const LONGEST: usize = 1_000;

/// Returns the text, without its middle if it is longer than [`LONGEST`].
fn shortened(text: String) -> String {
    // A text has at most as many characters as bytes.
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

/// All mistakes of an input, with the texts they are in: the error type of all readers.
#[derive(Clone, Debug, Default)]
pub struct Invalid {
    /// The mistakes, in the order in which they were found.
    pub diagnostics: Vec<Diagnostic>,
    /// The texts.
    pub sources: Sources,
}

impl Invalid {
    /// Creates an error with a single mistake.
    pub fn one(diagnostic: Diagnostic, sources: &Sources) -> Self {
        Self { diagnostics: vec![diagnostic], sources: sources.clone() }
    }

    /// Returns true if every mistake is that failed links or switches cut nodes off from each other.
    pub fn is_cut_off(&self) -> bool {
        self.has_only("cut-off")
    }

    /// Returns true if every mistake has this code.
    pub fn has_only(&self, code: &str) -> bool {
        !self.diagnostics.is_empty() && self.diagnostics.iter().all(|one| one.code == code)
    }
}

impl Invalid {
    /// Returns one line for each mistake: `file:line:column: message; help`.
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

impl From<Diagnostic> for Invalid {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::one(diagnostic, &Sources::default())
    }
}

/// Writes the mistakes as the command line shows them: each under its line, with what to write instead.
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

/// Returns the name among `known` that `unknown` was most likely meant to be, if one is close.
pub fn closest<'a>(unknown: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|name| (edit_distance(&unknown.to_lowercase(), &name.to_lowercase()), name))
        .filter(|(distance, name)| *distance <= 1 + name.len().max(unknown.len()) / 4)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Returns Levenshtein's distance: the number of insertions, deletions and replacements that turn `a` into
/// `b`.
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

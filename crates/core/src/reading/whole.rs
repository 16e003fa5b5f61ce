//! A value of a type read from a whole table, with every mistake of form at its place.
//!
//! Reading stops at the first mistake. So each mistake is put in words, the offending key is removed from the
//! tree, and the rest is read again until no mistake is left.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;

use super::tree::{self, Kind, Step, Tree};
use super::typed::{Mismatch, MismatchKind, typed};
use crate::diagnostic::{Diagnostic, Span, closest};

/// Largest number of mistakes that are searched for in one table.
const MOST: usize = 50;

/// Description of a value, for messages.
pub struct ValueDescription {
    /// One sentence about the value.
    pub description: Option<String>,
    /// Required keys.
    pub required: Vec<&'static str>,
    /// All keys.
    pub keys: Vec<&'static str>,
}

/// A reader of a table.
pub struct TableReader<'a> {
    /// Key of the table; empty if the table is a whole text.
    pub key: &'a str,
    /// Place of mistakes that have none of their own.
    pub span: Span,
    /// Set when part of the table may be missing, so that a missing key is not a mistake.
    pub is_incomplete: bool,
    /// Returns the description of the value at the end of these keys.
    pub about: &'a dyn Fn(&[&str]) -> Option<ValueDescription>,
}

/// Reads a TOML text whose first byte has position `base`.
///
/// # Errors
/// All mistakes of its syntax, else all of its keys and values.
pub fn from_text<T: DeserializeOwned>(text: &str, base: usize) -> Result<T, Vec<Diagnostic>> {
    let (table, mistakes) = tree::parse(text, base);
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let span = Span::new(base, base);
    TableReader::of_text(span).read(&Tree { kind: Kind::Table(table), span })
}

impl TableReader<'_> {
    /// Creates a reader of a whole text that begins here, without descriptions of its values.
    pub fn of_text(span: Span) -> Self {
        Self { key: "", span, is_incomplete: false, about: &|_| None }
    }

    /// Reads the value. On a mistake, reads again until all mistakes are found.
    ///
    /// # Errors
    /// All mistakes.
    pub fn read<T: DeserializeOwned>(&self, value: &Tree) -> Result<T, Vec<Diagnostic>> {
        let mut next = match typed::<T>(value) {
            Ok(value) => return Ok(value),
            Err(mismatch) => mismatch,
        };
        let mut tree = value.clone();
        let (mut removed, mut mistakes) = (BTreeSet::new(), Vec::new());
        for _ in 0..MOST {
            let Mismatch { what, path, span } = next;
            let at = span.unwrap_or(self.span);
            if let MismatchKind::MissingKey(name) = what {
                mistakes.extend(self.missing(&path, name, at, &tree, &removed));
                break;
            }
            if matches!(what, MismatchKind::NotOneChoice) && removed.iter().any(|path_of| path_of.starts_with(&path)) {
                // The choice has already been reported and removed.
                break;
            }
            removed.extend(intended_key(&what, &path));
            mistakes.push(self.in_words(what, &path, at));
            if !tree.remove(&path) {
                break;
            }
            removed.insert(path);
            match typed::<T>(&tree) {
                Ok(_) => break,
                Err(mismatch) => next = mismatch,
            }
        }
        Err(mistakes)
    }

    /// Reports all missing keys of a table, except those removed because of a mistake of their own.
    fn missing(
        &self,
        path: &[Step],
        name: &'static str,
        at: Span,
        tree: &Tree,
        removed: &BTreeSet<Vec<Step>>,
    ) -> Option<Diagnostic> {
        let mut names = self.about(path).map(|about| about.required).unwrap_or_default();
        if !names.contains(&name) {
            names = vec![name];
        }
        let written = subtree(tree, path).and_then(Tree::table);
        let step = |name: &str| Step::Key(name.to_owned());
        names.retain(|name| {
            !removed.contains(&[path, &[step(name)]].concat())
                && !written.is_some_and(|table| table.contains_key(*name))
        });
        if names.is_empty() || self.is_incomplete {
            return None;
        }
        let listed: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let keys = if names.len() == 1 { "key" } else { "keys" };
        let described = names.iter().filter_map(|name| {
            let description = self.about(&[path, &[step(name)]].concat())?.description?;
            Some(format!("`{name}`: {}", brief(&description)))
        });
        let described: Vec<String> = described.collect();
        let diagnostic = Diagnostic::new("missing-key", format!("missing {keys} {}", listed.join(", "))).at(at);
        Some(if described.is_empty() { diagnostic } else { diagnostic.help(described.join("; ")) })
    }

    /// Returns the description of the value at this path.
    fn about(&self, path: &[Step]) -> Option<ValueDescription> {
        (self.about)(&self.names(path))
    }

    /// Returns the keys to the value at this path.
    fn names<'s>(&'s self, path: &'s [Step]) -> Vec<&'s str> {
        let key = Some(self.key).filter(|key| !key.is_empty());
        key.into_iter().chain(path.iter().filter_map(step_name)).collect()
    }

    /// Returns the diagnostic for a mismatch at this path.
    fn in_words(&self, what: MismatchKind, path: &[Step], at: Span) -> Diagnostic {
        let name = path.iter().rev().find_map(step_name).unwrap_or(self.key);
        match what {
            MismatchKind::UnknownKey { name: unknown, known } => {
                let table = self.names(&path[..path.len().saturating_sub(1)]).join(".");
                unknown_key(&unknown, at, known, &table)
            }
            MismatchKind::UnknownChoice { name: unknown, known } => {
                // If the choice is itself a key, the name of its table is the noun.
                let above = path.len().checked_sub(2).and_then(|i| step_name(&path[i]));
                let what = if name == unknown { above.unwrap_or(self.key) } else { name };
                unknown_choice(what, &unknown, at, known)
            }
            MismatchKind::NotOneChoice => {
                let known = self.about(path).map(|about| about.keys).unwrap_or_default();
                let diagnostic = Diagnostic::new("two-choices", format!("`{name}` is not one choice")).at(at);
                let help = example(&self.names(path).join("."), &known);
                diagnostic.label("exactly one table is expected").help(help)
            }
            MismatchKind::MissingKey(missing) => {
                Diagnostic::new("missing-key", format!("missing key `{missing}`")).at(at)
            }
            MismatchKind::Unfit { found, wanted } => {
                let diagnostic = Diagnostic::new("wrong-type", format!("`{name}` is {found}"))
                    .at(at)
                    .label(format!("{wanted} is expected"));
                match self.about(path).and_then(|about| about.description) {
                    Some(description) => diagnostic.help(format!("`{name}`: {}", brief(&description))),
                    None => diagnostic,
                }
            }
            MismatchKind::Refused(message) => match message.split_once("; ") {
                Some((message, help)) => Diagnostic::new("wrong-value", lowercase_first(message)).at(at).help(help),
                None => Diagnostic::new("wrong-value", lowercase_first(&message)).at(at),
            },
        }
    }
}

/// Returns the known key that the unknown key at this path was probably meant to be; it does not count as
/// missing.
fn intended_key(what: &MismatchKind, path: &[Step]) -> Option<Vec<Step>> {
    let MismatchKind::UnknownKey { name, known } = what else { return None };
    let near = closest(name, known.iter().copied())?;
    let mut meant = path.to_vec();
    *meant.last_mut()? = Step::Key(near.to_owned());
    Some(meant)
}

/// Returns the diagnostic for a key that a table does not have.
pub fn unknown_key(unknown: &str, at: Span, known: &[&str], table: &str) -> Diagnostic {
    let place = if table.is_empty() { String::new() } else { format!(" in [{table}]") };
    let diagnostic = Diagnostic::new("unknown-key", format!("unknown key `{unknown}`{place}")).at(at);
    match closest(unknown, known.iter().copied()) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None if known.is_empty() => diagnostic.help("there are no keys here"),
        None => diagnostic.help(format!("there are: {}", known.join(", "))),
    }
}

/// Returns the diagnostic for a choice that does not exist.
pub fn unknown_choice(what: &str, unknown: &str, at: Span, known: &[&str]) -> Diagnostic {
    let diagnostic = Diagnostic::new("unknown-choice", format!("unknown {what} `{unknown}`")).at(at);
    match closest(unknown, known.iter().copied()) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None => diagnostic.help(format!("there are: {}", known.join(", "))),
    }
}

/// Returns an example of a choice: a table, with the names of the choices.
pub fn example(key: &str, names: &[&str]) -> String {
    format!("write a table like [{key}.{}]; there are: {}", names.first().unwrap_or(&"..."), names.join(", "))
}

fn step_name(step: &Step) -> Option<&str> {
    match step {
        Step::Key(name) => Some(name),
        Step::Item(_) => None,
    }
}

fn subtree<'a>(tree: &'a Tree, path: &[Step]) -> Option<&'a Tree> {
    path.iter().try_fold(tree, |tree, step| match step {
        Step::Key(key) => tree.table()?.get(key).map(|entry| &entry.value),
        Step::Item(_) => None,
    })
}

/// Returns the beginning of a description, up to the first detail.
fn brief(description: &str) -> String {
    let end = ["; ", ": ", " (", ". "].iter().filter_map(|mark| description.find(mark)).min();
    lowercase_first(&description[..end.unwrap_or(description.len())])
}

fn lowercase_first(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        // Abbreviations keep their capitals.
        Some(first) if first.is_uppercase() && !text.chars().nth(1).is_some_and(char::is_uppercase) => {
            first.to_lowercase().chain(chars).collect()
        }
        _ => text.to_owned(),
    }
}

//! A table of a text as a value of a type: every mistake of the form, each where it was written.
//!
//! Reading stops at the first mistake. So each is put in words, the offending key is taken out of the tree, and the
//! rest is read again, until nothing is left to complain about.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;

use super::tree::{self, Kind, Step, Tree};
use super::typed::{Mismatch, What, typed};
use crate::diagnostic::{Diagnostic, Span, closest};

/// No more mistakes than this are looked for in one table.
const MOST: usize = 50;

/// Words about a value, for messages.
pub struct About {
    /// What it is, in one sentence.
    pub description: Option<String>,
    /// The keys there must be.
    pub required: Vec<&'static str>,
    /// The keys there are.
    pub keys: Vec<&'static str>,
}

/// A table that is read.
pub struct Whole<'a> {
    /// The key before it; empty where it is all of a text.
    pub key: &'a str,
    /// Place of mistakes that have none of their own.
    pub span: Span,
    /// Set when some of it may be missing, so that a key which is not there is no mistake.
    pub is_incomplete: bool,
    /// Says what is known of the value behind these keys.
    pub about: &'a dyn Fn(&[&str]) -> Option<About>,
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
    Whole::of_text(span).read(&Tree { kind: Kind::Table(table), span })
}

impl Whole<'_> {
    /// All of a text that begins here, of which no more is known than its types.
    pub fn of_text(span: Span) -> Self {
        Self { key: "", span, is_incomplete: false, about: &|_| None }
    }

    /// Reads it, again and again until all its mistakes are found.
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
            if let What::MissingKey(name) = what {
                mistakes.extend(self.missing(&path, name, at, &tree, &removed));
                break;
            }
            if matches!(what, What::NotOneChoice) && removed.iter().any(|path_of| path_of.starts_with(&path)) {
                // What was chosen has been reported and taken out.
                break;
            }
            removed.extend(meant(&what, &path));
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

    /// Reports all keys that a table lacks, unless they were taken out for a mistake of their own.
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

    /// What is known of the value at this path.
    fn about(&self, path: &[Step]) -> Option<About> {
        (self.about)(&self.names(path))
    }

    /// The keys to the value at this path.
    fn names<'s>(&'s self, path: &'s [Step]) -> Vec<&'s str> {
        let key = Some(self.key).filter(|key| !key.is_empty());
        key.into_iter().chain(path.iter().filter_map(step_name)).collect()
    }

    /// What is wrong at this path.
    fn in_words(&self, what: What, path: &[Step], at: Span) -> Diagnostic {
        let name = path.iter().rev().find_map(step_name).unwrap_or(self.key);
        match what {
            What::UnknownKey { name: unknown, known } => {
                let table = self.names(&path[..path.len().saturating_sub(1)]).join(".");
                unknown_key(&unknown, at, known, &table)
            }
            What::UnknownChoice { name: unknown, known } => {
                // Where the choice is a key itself, its table says of what it is one.
                let above = path.len().checked_sub(2).and_then(|i| step_name(&path[i]));
                let what = if name == unknown { above.unwrap_or(self.key) } else { name };
                unknown_choice(what, &unknown, at, known)
            }
            What::NotOneChoice => {
                let known = self.about(path).map(|about| about.keys).unwrap_or_default();
                let diagnostic = Diagnostic::new("two-choices", format!("`{name}` is not one choice")).at(at);
                let help = example(&self.names(path).join("."), &known);
                diagnostic.label("exactly one table is expected").help(help)
            }
            What::MissingKey(missing) => Diagnostic::new("missing-key", format!("missing key `{missing}`")).at(at),
            What::Unfit { found, wanted } => {
                let diagnostic = Diagnostic::new("wrong-type", format!("`{name}` is {found}"))
                    .at(at)
                    .label(format!("{wanted} is expected"));
                match self.about(path).and_then(|about| about.description) {
                    Some(description) => diagnostic.help(format!("`{name}`: {}", brief(&description))),
                    None => diagnostic,
                }
            }
            What::Refused(message) => match message.split_once("; ") {
                Some((message, help)) => Diagnostic::new("wrong-value", lowercase_first(message)).at(at).help(help),
                None => Diagnostic::new("wrong-value", lowercase_first(&message)).at(at),
            },
        }
    }
}

/// The key that was meant where an unknown one stands at this path: it is not missing.
fn meant(what: &What, path: &[Step]) -> Option<Vec<Step>> {
    let What::UnknownKey { name, known } = what else { return None };
    let near = closest(name, known.iter().copied())?;
    let mut meant = path.to_vec();
    *meant.last_mut()? = Step::Key(near.to_owned());
    Some(meant)
}

/// The mistake of a key that a table has not.
pub fn unknown_key(unknown: &str, at: Span, known: &[&str], table: &str) -> Diagnostic {
    let place = if table.is_empty() { String::new() } else { format!(" in [{table}]") };
    let diagnostic = Diagnostic::new("unknown-key", format!("unknown key `{unknown}`{place}")).at(at);
    match closest(unknown, known.iter().copied()) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None if known.is_empty() => diagnostic.help("there are no keys here"),
        None => diagnostic.help(format!("there are: {}", known.join(", "))),
    }
}

/// The mistake of a choice that there is not.
pub fn unknown_choice(what: &str, unknown: &str, at: Span, known: &[&str]) -> Diagnostic {
    let diagnostic = Diagnostic::new("unknown-choice", format!("unknown {what} `{unknown}`")).at(at);
    match closest(unknown, known.iter().copied()) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None => diagnostic.help(format!("there are: {}", known.join(", "))),
    }
}

/// What to write where a choice is made.
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

/// The beginning of a description, up to the first detail.
fn brief(description: &str) -> String {
    let end = ["; ", ": ", " (", ". "].iter().filter_map(|mark| description.find(mark)).min();
    lowercase_first(&description[..end.unwrap_or(description.len())])
}

fn lowercase_first(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        // Not an abbreviation.
        Some(first) if first.is_uppercase() && !text.chars().nth(1).is_some_and(char::is_uppercase) => {
            first.to_lowercase().chain(chars).collect()
        }
        _ => text.to_owned(),
    }
}

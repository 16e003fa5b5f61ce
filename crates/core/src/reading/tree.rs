//! Tables as they were written: every key and value with its place, before their meaning is known.
//!
//! Several texts are merged in this form, so that a mistake is shown in the text it comes from.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::diagnostic::{Diagnostic, Span};

/// The keys of a table.
pub type Table = BTreeMap<String, Entry>;

/// A key with its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Place of the key.
    pub key: Span,
    /// Value of the key.
    pub value: Tree,
}

/// A value with its place.
#[derive(Clone, Debug)]
pub struct Tree {
    /// Place of the value; for a table, its header.
    pub span: Span,
    /// The value itself.
    pub kind: Kind,
}

/// A value by kind.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A text.
    Text(String),
    /// A whole number, in decimal.
    Whole(String),
    /// Any other number.
    Decimal(String),
    /// A truth value.
    Truth(bool),
    /// A date or time, as TOML writes it.
    Date(String),
    /// A list.
    List(Vec<Tree>),
    /// A table.
    Table(Table),
}

impl Tree {
    /// Sets the place of the value and of all values in it.
    fn move_to(&mut self, at: Span) {
        self.span = at;
        match &mut self.kind {
            Kind::List(items) => items.iter_mut().for_each(|item| item.move_to(at)),
            Kind::Table(table) => move_to(table, at),
            _ => {}
        }
    }

    /// Returns the table, if this is one.
    pub fn table(&self) -> Option<&Table> {
        match &self.kind {
            Kind::Table(table) => Some(table),
            _ => None,
        }
    }

    /// Returns the table for changes, if this is one.
    pub fn table_mut(&mut self) -> Option<&mut Table> {
        match &mut self.kind {
            Kind::Table(table) => Some(table),
            _ => None,
        }
    }

    /// Returns the text, if this is one.
    pub fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the kind of the value, for messages.
    pub fn what(&self) -> &'static str {
        match &self.kind {
            Kind::Text(_) => "a text",
            Kind::Whole(_) | Kind::Decimal(_) => "a number",
            Kind::Truth(_) => "a truth value",
            Kind::Date(_) => "a date",
            Kind::List(_) => "a list",
            Kind::Table(_) => "a table",
        }
    }

    /// Returns the value in words, for messages.
    pub fn in_words(&self) -> String {
        match &self.kind {
            Kind::Text(text) => format!("the text {text:?}"),
            Kind::Whole(text) | Kind::Decimal(text) => format!("the number {text}"),
            Kind::Truth(value) => value.to_string(),
            Kind::Date(text) => format!("the date {text}"),
            Kind::List(_) | Kind::Table(_) => self.what().to_owned(),
        }
    }

    /// Overrides this with a later value: tables key by key, any other value as a whole.
    pub fn merge(&mut self, later: Self) {
        match (self.table_mut(), later) {
            (Some(table), Self { kind: Kind::Table(later), .. }) => merge_tables(table, later),
            (_, later) => *self = later,
        }
    }

    /// Removes the key or item at the end of the path. Returns true if it was there.
    pub fn remove(&mut self, path: &[Step]) -> bool {
        match (path, &mut self.kind) {
            ([Step::Key(key)], Kind::Table(table)) => table.remove(key).is_some(),
            ([Step::Key(key), rest @ ..], Kind::Table(table)) => {
                table.get_mut(key).is_some_and(|entry| entry.value.remove(rest))
            }
            ([Step::Item(i)], Kind::List(items)) if *i < items.len() => {
                items.remove(*i);
                true
            }
            ([Step::Item(i), rest @ ..], Kind::List(items)) => items.get_mut(*i).is_some_and(|item| item.remove(rest)),
            _ => false,
        }
    }
}

/// A step from a value to one inside it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Step {
    /// The value of a key.
    Key(String),
    /// An item of a list.
    Item(usize),
}

/// Overrides `table` with a later table, key by key.
pub fn merge_tables(table: &mut Table, later: Table) {
    for (key, entry) in later {
        match table.get_mut(&key) {
            Some(earlier) if earlier.value.table().is_some() && entry.value.table().is_some() => {
                earlier.value.merge(entry.value);
            }
            _ => {
                table.insert(key, entry);
            }
        }
    }
}

/// Reads a TOML text whose first byte has position `base`. Continues as far as possible after a mistake.
pub fn parse(text: &str, base: usize) -> (Table, Vec<Diagnostic>) {
    let (table, errors) = DeTable::parse_recoverable(text);
    (owned_table(table.get_ref(), base), errors.iter().map(|error| syntax(error, text, base)).collect())
}

/// Sets the place of everything in a table.
pub fn move_to(table: &mut Table, at: Span) {
    for entry in table.values_mut() {
        entry.key = at;
        entry.value.move_to(at);
    }
}

/// Reads a single value. A text that is not a TOML value is taken as a string.
pub fn value_or_text(text: &str, base: usize) -> Tree {
    let as_text = || Tree { span: Span::new(base, base + text.len()), kind: Kind::Text(text.to_owned()) };
    parse_value(text, base).unwrap_or_else(as_text)
}

/// Reads a single value.
pub fn parse_value(text: &str, base: usize) -> Option<Tree> {
    DeValue::parse(text).ok().map(|value| owned(&value, base))
}

fn owned_table(table: &DeTable<'_>, base: usize) -> Table {
    table
        .iter()
        .map(|(key, value)| {
            (key.get_ref().to_string(), Entry { key: shifted(key.span(), base), value: owned(value, base) })
        })
        .collect()
}

fn owned(value: &Spanned<DeValue<'_>>, base: usize) -> Tree {
    let kind = match value.get_ref() {
        DeValue::String(text) => Kind::Text(text.to_string()),
        DeValue::Integer(number) => Kind::Whole(match number.radix() {
            10 => number.as_str().to_owned(),
            radix => {
                u128::from_str_radix(number.as_str(), radix).map_or(number.to_string(), |number| number.to_string())
            }
        }),
        DeValue::Float(number) => Kind::Decimal(number.as_str().to_owned()),
        DeValue::Boolean(value) => Kind::Truth(*value),
        DeValue::Datetime(date) => Kind::Date(date.to_string()),
        DeValue::Array(items) => Kind::List(items.iter().map(|item| owned(item, base)).collect()),
        DeValue::Table(table) => Kind::Table(owned_table(table, base)),
    };
    Tree { span: shifted(value.span(), base), kind }
}

fn shifted(range: std::ops::Range<usize>, base: usize) -> Span {
    Span::new(range.start + base, range.end + base)
}

/// Puts a syntax error of the TOML reader in our own words.
fn syntax(error: &toml::de::Error, text: &str, base: usize) -> Diagnostic {
    let range = error.span().unwrap_or(text.len()..text.len());
    let message = error.message();
    let (what, expected) = message.split_once(", expected ").unwrap_or((message, ""));
    // TOML takes a word without quotes for a number, a date or a flag, by its first letter.
    if what.starts_with("invalid ") && range.len() > 1 && !text[range.clone()].starts_with(['"', '\'', '[', '{']) {
        let diagnostic = Diagnostic::new("syntax", format!("`{}` is not a value", &text[range.clone()]));
        let diagnostic = diagnostic.at(shifted(range, base)).label("a number, true, false or a text is expected");
        return diagnostic.help("texts stand in quotes: \"1 KB\"");
    }
    let diagnostic = Diagnostic::new("syntax", what.to_owned()).at(shifted(range, base));
    if expected.is_empty() { diagnostic } else { diagnostic.label(format!("expected {expected}")) }
}

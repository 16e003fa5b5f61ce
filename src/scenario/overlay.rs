//! Merging of tables, and small tables for the values of options.

use std::path::Path;

use super::known::CHOICES;
use super::{jobs, tasks};
use crate::diagnostic::Span;
use crate::reading::tree::{Entry, Kind, Table, Tree};

/// Merges a later text into the earlier ones. Another choice replaces the earlier one; the same choice is
/// merged.
pub(super) fn overlay(table: &mut Table, later: Table) {
    tasks::make_room(table, &later);
    for (key, entry) in later {
        if let ("job", Some(earlier)) = (key.as_str(), table.get_mut(&key)) {
            jobs::overlay(&mut earlier.value, entry.value, overlay);
            continue;
        }
        if stragglers_behind(table, &key, &entry) {
            continue;
        }
        let same_choice = |earlier: &Tree| match (earlier.table(), entry.value.table()) {
            (Some(earlier), Some(later)) => earlier.keys().all(|variant| later.contains_key(variant)),
            _ => false,
        };
        match table.get_mut(&key) {
            Some(earlier) if !CHOICES.contains(&key.as_str()) || same_choice(&earlier.value) => {
                earlier.value.merge(entry.value)
            }
            _ => {
                table.insert(key, entry);
            }
        }
    }
}

/// Returns the value at the end of a chain of tables with one key each.
pub(super) fn leaf(table: &mut Table) -> Option<&mut Tree> {
    let mut tree = &mut table.values_mut().next()?.value;
    while matches!(tree.kind, Kind::Table(_)) {
        tree = &mut tree.table_mut()?.values_mut().next()?.value;
    }
    Some(tree)
}

/// Returns a table with one key.
pub(super) fn one(key: String, at: Span, value: Tree) -> Table {
    Table::from([(key, Entry { key: at, value })])
}

/// Returns `{ kind = {} }`.
pub(super) fn empty_choice(kind: String, at: Span) -> Tree {
    Tree { span: at, kind: Kind::Table(one(kind, at, Tree { span: at, kind: Kind::Table(Table::new()) })) }
}

/// Returns `{ kind = { key = "text" } }`.
pub(super) fn choice(kind: &str, key: &str, text: &str, at: Span) -> Tree {
    let value = Tree { span: at, kind: Kind::Text(text.to_owned()) };
    let inner = Tree { span: at, kind: Kind::Table(one(key.to_owned(), at, value)) };
    Tree { span: at, kind: Kind::Table(one(kind.to_owned(), at, inner)) }
}

/// Returns the choice that a table makes: `packet` of `[transport.packet]`.
pub(super) fn chosen_key<'t>(layer: &'t Table, table: &str) -> Option<&'t str> {
    let Kind::Table(inner) = &layer.get(table)?.value.kind else { return None };
    inner.keys().next().filter(|_| inner.len() == 1).map(String::as_str)
}

/// Returns true if this is probably the name of a file.
pub(super) fn is_path(name: &str) -> bool {
    let known = ["toml", "json", "csv", "zst", "xml"];
    name.contains(['/', '\\'])
        || Path::new(name).extension().is_some_and(|extension| known.iter().any(|k| extension == *k))
}

/// Appends stragglers to the earlier ones, if `key` is about stragglers. An empty list is not appended: it
/// replaces them.
fn stragglers_behind(table: &mut Table, key: &str, later: &Entry) -> bool {
    let Kind::List(more) = &later.value.kind else { return false };
    match table.get_mut(key).map(|earlier| &mut earlier.value.kind) {
        Some(Kind::List(known)) if key == "straggler" && !more.is_empty() => known.extend_from_slice(more),
        _ => return false,
    }
    true
}

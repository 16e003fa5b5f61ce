//! Tables of texts, laid over each other, and small ones that options stand for.

use std::path::Path;

use super::known::CHOICES;
use super::{jobs, tasks};
use crate::diagnostic::Span;
use crate::reading::tree::{Entry, Kind, Table, Tree};

/// Lays a later text over the earlier ones: another choice replaces the earlier one, the same is merged.
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

/// The value at the end of a chain of tables of one key each.
pub(super) fn leaf(table: &mut Table) -> Option<&mut Tree> {
    let mut tree = &mut table.values_mut().next()?.value;
    while matches!(tree.kind, Kind::Table(_)) {
        tree = &mut tree.table_mut()?.values_mut().next()?.value;
    }
    Some(tree)
}

/// A table of one key.
pub(super) fn one(key: String, at: Span, value: Tree) -> Table {
    Table::from([(key, Entry { key: at, value })])
}

/// `{ kind = {} }`.
pub(super) fn empty_choice(kind: String, at: Span) -> Tree {
    Tree { span: at, kind: Kind::Table(one(kind, at, Tree { span: at, kind: Kind::Table(Table::new()) })) }
}

/// `{ kind = { key = "text" } }`.
pub(super) fn choice(kind: &str, key: &str, text: &str, at: Span) -> Tree {
    let value = Tree { span: at, kind: Kind::Text(text.to_owned()) };
    let inner = Tree { span: at, kind: Kind::Table(one(key.to_owned(), at, value)) };
    Tree { span: at, kind: Kind::Table(one(kind.to_owned(), at, inner)) }
}

/// Whether this is meant to be the name of a file.
pub(super) fn is_path(name: &str) -> bool {
    let known = ["toml", "json", "csv", "zst", "xml"];
    name.contains(['/', '\\'])
        || Path::new(name).extension().is_some_and(|extension| known.iter().any(|k| extension == *k))
}

/// Puts stragglers behind those that there are, if this is about them; an empty list takes them away instead.
fn stragglers_behind(table: &mut Table, key: &str, later: &Entry) -> bool {
    let Kind::List(more) = &later.value.kind else { return false };
    match table.get_mut(key).map(|earlier| &mut earlier.value.kind) {
        Some(Kind::List(known)) if key == "straggler" && !more.is_empty() => known.extend_from_slice(more),
        _ => return false,
    }
    true
}

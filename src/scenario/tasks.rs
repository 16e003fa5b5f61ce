//! The tasks of a farm as a short text: a file, or a rule with its parameters.

use crate::diagnostic::Span;
use crate::reading::tree::{Entry, Kind, Table, Tree, parse_value};

/// Expands the short text `tasks` of `[workload.master-slave]`: `"executed.csv"` to `[tasks.file]`, and
/// `"exponential:count=10000,mean=1ms"` to `[tasks.exponential]`.
pub(super) fn expand(table: &mut Table) {
    let Some(tasks) = farm(table).and_then(|farm| farm.get_mut("tasks")) else { return };
    if let Some(text) = tasks.value.text() {
        tasks.value = expand_text(text, tasks.value.span);
    }
}

/// Removes the tasks of a text if a later text has others. Tasks are a choice, as those of
/// [`super::known::CHOICES`].
pub(super) fn make_room(table: &mut Table, later: &Table) {
    let tasks_of = |table: &Table| -> Option<Vec<String>> {
        let farm = table.get("workload")?.value.table()?.get("master-slave")?.value.table()?;
        Some(farm.get("tasks")?.value.table()?.keys().cloned().collect())
    };
    if let (Some(earlier), Some(others)) = (tasks_of(table), tasks_of(later))
        && earlier.iter().any(|rule| !others.contains(rule))
        && let Some(farm) = farm(table)
    {
        farm.remove("tasks");
    }
}

/// Returns the table of the farm, if there is one.
fn farm(table: &mut Table) -> Option<&mut Table> {
    table.get_mut("workload")?.value.table_mut()?.get_mut("master-slave")?.value.table_mut()
}

fn expand_text(text: &str, at: Span) -> Tree {
    // A text in a file is in quotes.
    let quotes = usize::from(at.end - at.start == text.len() + 2);
    let base = at.start + quotes;
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    let (name, name_at, keys) = match text.split_once(':').filter(|(name, _)| is_name(name)) {
        Some((name, keys)) => {
            let first = base + name.len() + 1;
            (name, Span::new(base, base + name.len()), parameters(keys, first))
        }
        None => {
            let path = Entry { key: at, value: Tree { span: at, kind: Kind::Text(text.to_owned()) } };
            ("file", at, Table::from([("path".to_owned(), path)]))
        }
    };
    let keys = Tree { span: at, kind: Kind::Table(keys) };
    Tree { span: at, kind: Kind::Table(Table::from([(name.to_owned(), Entry { key: name_at, value: keys })])) }
}

/// Reads `count=10000,mean=1ms`. Values are TOML, or strings if they are not valid TOML.
fn parameters(text: &str, mut base: usize) -> Table {
    let mut table = Table::new();
    for assignment in text.split(',') {
        let (key, value) = assignment.split_once('=').unwrap_or((assignment, ""));
        let start = base + (key.len() + 1).min(assignment.len());
        let (key_at, value_at) = (Span::new(base, base + key.len()), Span::new(start, base + assignment.len()));
        base += assignment.len() + 1;
        if key.trim().is_empty() && value.is_empty() {
            continue;
        }
        let value = value.trim();
        let value = parse_value(value, value_at.start).map_or_else(|| Kind::Text(value.to_owned()), |value| value.kind);
        table.insert(key.trim().to_owned(), Entry { key: key_at, value: Tree { span: value_at, kind: value } });
    }
    table
}

//! Defaults of a preset for choices made elsewhere: `[defaults.sharing.redistribute]`,
//! `[defaults.workload.any]`.
//!
//! A preset lies below all other texts. Its choices hold until another choice is made. Its defaults hold for
//! the final choice, in the keys that no text sets.

use super::known::{CHOICES, choices, has_key, keys};
use crate::diagnostic::Diagnostic;
use crate::reading::tree::{Entry, Kind, Table, Tree, merge_tables};
use crate::reading::whole::unknown_key;

/// Word for every choice that has the key.
const ANY: &str = "any";

/// The `[defaults.TABLE.CHOICE]` tables of presets; later ones override.
#[derive(Clone, Default)]
pub(super) struct Defaults {
    tables: Table,
}

impl Defaults {
    /// Takes the defaults out of the text of a preset. A key that no choice has is a mistake.
    pub fn take(&mut self, text: &mut Table, diagnostics: &mut Vec<Diagnostic>) {
        let Some(Entry { value, .. }) = text.remove("defaults") else { return };
        for (table, entry) in entries(&value, "defaults", diagnostics) {
            let choices = choices(table);
            if !CHOICES.contains(&table.as_str()) || choices.is_empty() {
                diagnostics.push(unknown_key(table, entry.key, &CHOICES, "defaults"));
                continue;
            }
            for (choice, entry) in entries(&entry.value, &format!("defaults.{table}"), diagnostics) {
                let known: Vec<&str> = choices.iter().copied().chain([ANY]).collect();
                if !known.contains(&choice.as_str()) {
                    diagnostics.push(unknown_key(choice, entry.key, &known, &format!("defaults.{table}")));
                    continue;
                }
                let place = format!("defaults.{table}.{choice}");
                for (key, entry) in entries(&entry.value, &place, diagnostics) {
                    let has = |choice: &str| has_key(table, choice, key) == Some(true);
                    if !(has(choice) || choice == ANY && choices.iter().any(|choice| has(choice))) {
                        let keys = keys(table, choice).unwrap_or_default();
                        diagnostics.push(unknown_key(key, entry.key, keys, &place));
                    }
                }
            }
        }
        if let Kind::Table(tables) = value.kind {
            merge_tables(&mut self.tables, tables);
        }
    }

    /// Keeps the defaults of the tables for which `is_kept` is true.
    pub fn retain(&mut self, is_kept: impl Fn(&str) -> bool) {
        self.tables.retain(|table, _| is_kept(table));
    }

    /// Overrides these defaults with later ones.
    pub fn merge(&mut self, later: Self) {
        merge_tables(&mut self.tables, later.tables);
    }

    /// Sets the keys that the choices of a scenario leave out.
    pub fn fill_in(&self, scenario: &mut Table) {
        for (table, defaults) in &self.tables {
            let choices = scenario.get_mut(table).and_then(|entry| entry.value.table_mut());
            let Some((choice, chosen)) = choices.and_then(|choices| choices.iter_mut().next()) else { continue };
            let Some(keys) = chosen.value.table_mut() else { continue };
            for kind in [choice.as_str(), ANY] {
                let defaults = defaults.value.table().and_then(|defaults| defaults.get(kind)?.value.table());
                for (key, entry) in defaults.into_iter().flatten() {
                    if has_key(table, choice, key) == Some(true) && !keys.contains_key(key) {
                        keys.insert(key.clone(), entry.clone());
                    }
                }
            }
        }
    }
}

/// Returns the entries of a table. Another kind of value is a mistake.
fn entries<'a>(
    value: &'a Tree,
    name: &str,
    diagnostics: &mut Vec<Diagnostic>,
) -> impl Iterator<Item = (&'a String, &'a Entry)> + use<'a> {
    if value.table().is_none() {
        let diagnostic = Diagnostic::new("wrong-type", format!("`{name}` is {}", value.what())).at(value.span);
        diagnostics.push(diagnostic.label("a table is expected"));
    }
    value.table().into_iter().flatten()
}

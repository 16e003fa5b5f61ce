//! Settings of single keys: `--set transport.packet.buffer=4`.

use super::jobs;
use super::loader::Texts;
use super::overlay::{chosen_key, leaf};
use crate::diagnostic::{Diagnostic, Span};
use crate::reading::tree::{self, Table};

impl Texts {
    /// Reads a table from `a.b.c=VALUE`.
    pub(super) fn assignment(&mut self, flag: String, assignment: &str) -> Table {
        let at = self.flag(flag.clone(), assignment);
        let Some((key, value)) = assignment.split_once('=') else {
            let diagnostic = Diagnostic::new("syntax", format!("`{assignment}` sets nothing")).at(at);
            self.diagnostics.push(diagnostic.label("no `=`").help(format!("write {flag} topology.fat-tree.p=4")));
            return Table::new();
        };
        let key_at = Span::new(at.start, at.start + key.len());
        // Parses the key alone, so that a line break in it cannot add other keys.
        let (mut table, mistakes) = if key.contains(['\n', '\r', '#', '=']) {
            (Table::new(), Vec::new())
        } else {
            tree::parse(&format!("{key}=0"), at.start)
        };
        if table.len() != 1 || !mistakes.is_empty() {
            let diagnostic = Diagnostic::new("syntax", format!("`{key}` is not a key")).at(key_at);
            self.diagnostics.push(diagnostic.help("write names joined by dots, like topology.fat-tree.p"));
            return Table::new();
        }
        let trimmed = value.trim();
        let base = at.start + key.len() + 1 + (value.len() - value.trim_start().len());
        if let Some(leaf) = leaf(&mut table) {
            *leaf = tree::value_or_text(trimmed, base);
        }
        if let Some(unknown) = jobs::unknown(&self.table, &table) {
            self.diagnostics.push(unknown.at(key_at));
            return Table::new();
        }
        let layer = self.expanded(table, 0);
        self.check_choice(&layer, key.trim());
        layer
    }

    /// Reports a setting of one choice where a flag makes another one: `transport.packet.buffer` under
    /// `--transport flow`.
    fn check_choice(&mut self, layer: &Table, key: &str) {
        let Some((table, _)) = key.split_once('.') else { return };
        let Some((choice, flag)) = self.flags.get(table) else { return };
        let Some(set) = chosen_key(layer, table).filter(|set| set != choice) else { return };
        let message = format!("`{key}` is a key of `{set}`, and `{flag}` chooses `{choice}`");
        let help = format!("leave one of them out, or set keys of `{table}.{choice}`");
        let at = layer[table].key;
        self.diagnostics.push(Diagnostic::new("wrong-choice", message).at(at).help(help));
    }
}

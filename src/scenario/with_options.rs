//! Names with options: `dragonfly:p=4,a=8,h=4`, `adv:k=2`, `all-to-all-simple-spread:size=1 MB,ranks=64`.
//!
//! Before the colon is a name of the library, or a table (`dragonfly` for `[topology.dragonfly]`). After it
//! are keys of that table, separated by commas. A value is TOML, or a string if it is not valid TOML, as in
//! `--set`.

use super::known::choices;
use super::library::Shelf;
use crate::diagnostic::{Diagnostic, Span};
use crate::reading::tree::{self, Entry, Table};

/// Table whose first option may be the name of a model: `llm:gpt-3-175b,tp=8`.
pub(crate) const TRAINING: &str = "llm";

/// A name with options.
pub(crate) struct WithOptions<'a> {
    /// Text before the colon.
    pub base: &'a str,
    pub options: &'a str,
}

impl<'a> WithOptions<'a> {
    /// Splits a name with options: a known name or table, a colon, and a text with an equals sign.
    pub fn of(shelf: Shelf, name: &'a str) -> Option<Self> {
        let (base, options) = name.split_once(':')?;
        let table = shelf.table()?;
        let known = shelf.get(base).is_some() || choices(table).contains(&base);
        (matches!(shelf, Shelf::Topologies | Shelf::Patterns) && known && (options.contains('=') || base == TRAINING))
            .then_some(Self { base, options })
    }

    /// Returns the options; `at` is the place of the whole name.
    ///
    /// # Errors
    /// An option is not `key=value`.
    pub fn table(&self, at: Span) -> Result<Table, Vec<Diagnostic>> {
        // A name in a file is in quotes.
        let length = self.base.len() + 1 + self.options.len();
        let start = at.start + (at.end - at.start).saturating_sub(length) / 2 + self.base.len() + 1;
        let (mut table, mut mistakes) = (Table::new(), Vec::new());
        for (offset, part) in parts(self.options) {
            let place = Span::new(start + offset, start + offset + part.len());
            let names_model = self.base == TRAINING && offset == 0 && !part.contains('=') && !part.trim().is_empty();
            let model = names_model.then_some(("model", part));
            let written = model.or(part.split_once('=').map(|(key, value)| (key.trim(), value)));
            let Some((key, value)) = written.filter(|(key, _)| is_key(key)) else {
                let mistake = Diagnostic::new("syntax", format!("`{part}` sets nothing")).at(place);
                mistakes.push(mistake.label("like size=1MB").help(format!("write {}:key=value,key=value", self.base)));
                continue;
            };
            let trimmed = value.trim();
            let base = place.end - value.trim_start().len();
            let value = tree::value_or_text(trimmed, base);
            if table.insert(key.to_owned(), Entry { key: place, value }).is_some() {
                mistakes.push(Diagnostic::new("syntax", format!("`{key}` is set twice")).at(place));
            }
        }
        if mistakes.is_empty() { Ok(table) } else { Err(mistakes) }
    }
}

/// Splits a text at commas outside brackets and quotes, and returns each part with its start.
fn parts(text: &str) -> Vec<(usize, &str)> {
    let (mut parts, mut start, mut depth, mut quote) = (Vec::new(), 0, 0_i32, None);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth -= 1,
            (None, ',') if depth <= 0 => {
                parts.push((start, &text[start..at]));
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push((start, &text[start..]));
    parts
}

fn is_key(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_in_brackets_and_quotes_divide_nothing() {
        let texts = |text| parts(text).into_iter().map(|(_, part)| part.to_owned()).collect::<Vec<_>>();
        assert_eq!(texts("shape=[8,8],nodes=8"), ["shape=[8,8]", "nodes=8"]);
        assert_eq!(texts("a=\"x,y\",b=1"), ["a=\"x,y\"", "b=1"]);
        assert_eq!(texts("size=1 MB"), ["size=1 MB"]);
    }

    #[test]
    fn only_a_known_name_before_a_colon_has_options() {
        let base = |shelf, name| WithOptions::of(shelf, name).map(|found| found.base.to_owned());
        assert_eq!(base(Shelf::Topologies, "dragonfly:p=4,a=8"), Some("dragonfly".to_owned()));
        assert_eq!(base(Shelf::Patterns, "adv:k=2"), Some("adv".to_owned()));
        assert_eq!(base(Shelf::Patterns, "no-such:k=2"), None);
        assert_eq!(base(Shelf::Topologies, "dragonfly"), None);
        assert_eq!(base(Shelf::Machines, "myrinet:L=1"), None);
        assert_eq!(base(Shelf::Topologies, "C:\\fabrics\\a.toml"), None);
    }
}

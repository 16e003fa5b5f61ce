//! A first scenario: complete, and with comments from the descriptions of its types, so that it is never out
//! of date.

use super::known::choices;
use super::library::Shelf;
use super::loader::{Loader, Texts};
use super::schema::Node;
use crate::diagnostic::{Invalid, Sources};
use crate::reading::tree::{Table, Tree};

/// Longest line of a comment \[characters\].
const WIDTH: usize = 110;

/// Returns a scenario of this topology and pattern (names or paths, as for `-t` and `-p`) with every option
/// explained: the output of `hayase init`. Options that are not set are commented out with `#`.
///
/// # Errors
/// Every mistake in the scenario.
pub fn init(topology: &str, pattern: &str) -> Result<String, Invalid> {
    let loader = Loader::new().topology(topology).pattern(pattern);
    loader.clone().load_all()?;
    let Texts { table, sources, .. } = loader.gather();
    let mut page = Page { text: String::new(), sources: &sources };
    page.comment(&format!(
        "A scenario for Hayase: {topology} under {pattern}. Run it with `hayase run FILE`; `--set KEY=VALUE` overrides \
         any key."
    ));
    page.comment("What stands behind # is left out; it shows what holds then, an example, or another choice.");
    page.line("");
    for key in ["seed", "resolution"] {
        page.key(&Node::root(), key, table.get(key).map(|entry| &entry.value));
    }
    for (key, usual) in [
        ("topology", ""),
        ("routing", ""),
        ("placement", "regular"),
        ("transport", "flow"),
        ("sharing", "max-min"),
        ("workload", ""),
    ] {
        let chosen = table.get(key).and_then(|entry| entry.value.table()?.first_key_value());
        match chosen {
            Some((variant, entry)) => page.choice(key, variant, entry.value.table()),
            None => page.choice(key, usual, None),
        }
    }
    Ok(page.text)
}

/// Returns the names for [`init`] if the user gives none.
pub fn init_defaults() -> (&'static str, &'static str) {
    let first = |shelf: Shelf, usual: &'static str| match shelf.get(usual) {
        Some(named) => named.name,
        None => shelf.names().next().unwrap_or(usual),
    };
    (first(Shelf::Topologies, "fat-tree-54"), first(Shelf::Patterns, "all-to-all-mpich"))
}

struct Page<'a> {
    text: String,
    sources: &'a Sources,
}

impl Page<'_> {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Writes a comment, broken into lines.
    fn comment(&mut self, text: &str) {
        let mut line = "#".to_owned();
        for word in text.split_whitespace() {
            if line.chars().count() + word.chars().count() > WIDTH {
                let full = std::mem::replace(&mut line, "#".to_owned());
                self.line(&full);
            }
            line.push(' ');
            line.push_str(word);
        }
        self.line(&line);
    }

    /// Writes a choice with all its keys, and the other choices.
    fn choice(&mut self, key: &str, chosen: &str, written: Option<&Table>) {
        let Some(node) = Node::root().key(key) else { return };
        self.line("");
        if let Some(description) = node.description() {
            self.comment(&format!("{description}."));
        }
        if let Some(choice) = node.key(chosen) {
            if let Some(description) = choice.description() {
                self.comment(&format!("{chosen}: {description}."));
            }
            self.line(&format!("[{key}.{chosen}]"));
            for name in choice.keys() {
                self.key(&choice, name, written.and_then(|table| table.get(name)).map(|entry| &entry.value));
            }
        }
        let others: Vec<&str> = choices(key).into_iter().filter(|name| *name != chosen).collect();
        if key == "topology" || key == "workload" {
            if !others.is_empty() {
                self.comment(&format!("Other choices: {}.", others.join(", ")));
            }
            return;
        }
        for name in others {
            let Some(other) = node.key(name) else { continue };
            let description = other.description().map(|text| format!("   # {text}")).unwrap_or_default();
            self.line(&format!("# [{key}.{name}]{description}"));
            for name in other.keys() {
                self.unset(&other, name);
            }
        }
    }

    /// Writes a key with its description; commented out with `#` if it is not set.
    fn key(&mut self, table: &Node, name: &str, written: Option<&Tree>) {
        if let Some(node) = table.key(name) {
            let words = node.words();
            let words = if words.is_empty() { String::new() } else { format!(" One of {}.", words.join(", ")) };
            self.comment(&format!("{}.{words}", node.description().unwrap_or_default()));
        }
        match written.and_then(|value| self.sources.find(value.span)) {
            Some((_, text, range)) => {
                // Values typed on the command line have no quotes yet.
                let line = match value_text(written).filter(|_| !text[range.clone()].starts_with(['"', '\''])) {
                    Some(bare) => format!("{name} = {}", serde_json::Value::from(bare)),
                    None => format!("{name} = {}", &text[range]),
                };
                self.line(&line);
            }
            None => self.unset(table, name),
        }
    }

    fn unset(&mut self, table: &Node, name: &str) {
        let Some(node) = table.key(name) else { return };
        let value = match node.default() {
            Some(value) => value.to_string(),
            None => match (node.words().first().copied(), node.type_name()) {
                (Some(word), _) => format!("\"{word}\""),
                (None, _) if node.example().is_some() => node.example().unwrap_or_default().to_owned(),
                (None, Some("string")) => "\"...\"".to_owned(),
                (None, Some("integer" | "number")) => "1".to_owned(),
                (None, Some("boolean")) => "true".to_owned(),
                (None, Some("array")) => "[]".to_owned(),
                _ => "...".to_owned(),
            },
        };
        self.line(&format!("# {name} = {value}"));
    }
}

/// Returns the value if it is a text.
fn value_text(value: Option<&Tree>) -> Option<&str> {
    value.and_then(Tree::text)
}

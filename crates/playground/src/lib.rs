//! The playground: Hayase in a browser.
//!
//! The page (`page/`) gives the text of its editor to [`check`] and [`run`] and shows their answers, which are JSON. A
//! text is a scenario or a command, `hayase run ...` or `hayase compare ...`. Scenarios, reports, tables and pictures
//! come from `hayase` and `hayase-output`. `border` has the functions that WebAssembly exports.

#[cfg(target_family = "wasm")]
mod border;
mod command;
mod examples;
mod mistakes;
mod play;
#[cfg(test)]
mod tests;
mod words;

pub use play::{check, run};

use hayase::scenario::library::Shelf;
use hayase::scenario::{self};
use serde_json::{Value, json};

/// Name of the editor's text in messages.
const SCENARIO: &str = "scenario.toml";

/// Returns the names of topologies and patterns with their descriptions, the examples, and the version.
pub fn names() -> Value {
    let named = |shelf: Shelf| {
        let entries = shelf.all().iter().map(|entry| json!({"name": entry.name, "about": entry.description()}));
        Value::from(entries.collect::<Vec<_>>())
    };
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "topologies": named(Shelf::Topologies),
        "patterns": named(Shelf::Patterns),
        "examples": examples::all().map(|(title, text)| json!({"title": title, "text": text})).collect::<Vec<_>>(),
    })
}

/// Returns a scenario of this topology and pattern, with every option explained, as `hayase init` writes it.
pub fn init(topology: &str, pattern: &str) -> Value {
    match scenario::init(topology, pattern) {
        Ok(text) => json!({ "text": text }),
        Err(invalid) => mistakes::answer(&invalid, ""),
    }
}

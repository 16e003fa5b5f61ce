//! Text of the library, shown by a command.

use std::io::Write;

use super::files::names;
use super::options::{Format, Offer, OutputArgs};
use super::{Failure, print, print_with};
use hayase::diagnostic::Diagnostic;
use hayase_output::json;

/// Help below the options of a command that shows such a text.
pub const FILES: &str = "\
Files (-o), by name:
  x.toml   the printed text
  x.json   the same as JSON";

/// Prints and writes the text (TOML).
pub fn show(out: &OutputArgs, verb: &'static str, text: &str) -> Result<(), Failure> {
    let offer = Offer::new(verb, names!["x.toml", "x.json"]).without_csv("it is no table").on_one_thread();
    out.begin(&offer)?;
    let data: toml::Table =
        text.parse().map_err(|error: toml::de::Error| Diagnostic::new("library", format!("built-in text: {error}")))?;
    for (name, file) in out.open(&offer)? {
        file.write(|w| if name == "x.toml" { w.write_all(text.as_bytes()) } else { json::write(&data, w) })?;
    }
    match out.format {
        Format::Json => print_with(|w| json::write(&data, w)),
        Format::Table | Format::Csv => print(text),
    }
}

//! Generated pages of the reference: commands, keys of scenarios, tables and reports. The tests compare them
//! with the program, its schemas and its outputs; `SNAPSHOTS=overwrite` writes them anew.

mod commands;
mod schema;
mod tables;

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compares a generated page with the file in `docs/reference`, or writes it.
fn check(name: &str, page: &str) {
    let path = root().join("docs/reference").join(name);
    if std::env::var("SNAPSHOTS").as_deref() == Ok("overwrite") {
        fs::write(&path, page).unwrap();
        return;
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    let line = written.lines().zip(page.lines()).position(|(a, b)| a != b);
    assert!(
        written == page,
        "docs/reference/{name} is stale from line {} on; write it anew by\n    SNAPSHOTS=overwrite cargo test -p hayase-cli \
         --test it reference",
        line.map_or(0, |at| at + 1)
    );
}

#[test]
fn the_pages_of_commands_are_those_of_the_program() {
    check("commands.md", &commands::index());
    for (group, verbs) in commands::groups() {
        check(&commands::file(&group), &commands::page(&group, &verbs));
    }
}

#[test]
fn the_page_of_keys_is_that_of_the_schema() {
    let schema = fs::read_to_string(root().join("src/scenario/schema.json")).unwrap();
    check("keys.md", &schema::keys(&serde_json::from_str(&schema).unwrap()));
}

#[test]
fn the_page_of_reports_is_that_of_the_schema() {
    let schema = fs::read_to_string(root().join("src/report/schema.json")).unwrap();
    check("reports.md", &schema::reports(&serde_json::from_str(&schema).unwrap()));
}

#[test]
fn the_page_of_tables_has_the_columns_that_are_written() {
    check("tables.md", &tables::page());
}

/// Returns a text as the cell of a Markdown table: one line, with bars and angle brackets escaped.
fn cell(text: &str) -> String {
    let paragraphs = text.split("\n\n").map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "));
    let text = paragraphs.filter(|paragraph| !paragraph.is_empty()).collect::<Vec<_>>().join("<br>");
    escaped(&text).replace('|', "\\|")
}

/// Breaks paragraphs into lines of at most 110 columns.
fn wrapped(text: &str) -> String {
    let paragraphs = text.split("\n\n").map(|paragraph| {
        let mut lines = vec![String::new()];
        for word in paragraph.split_whitespace() {
            match lines.last_mut() {
                Some(line) if line.is_empty() => line.push_str(word),
                Some(line) if line.chars().count() + word.chars().count() < 110 => *line += &format!(" {word}"),
                _ => lines.push(word.to_owned()),
            }
        }
        lines.join("\n")
    });
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

/// Returns a paragraph as Markdown: angle brackets escaped outside of code.
fn escaped(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let parts = parts.map(|(at, part)| match at % 2 {
        0 => part
            .replace("<br>", "\u{0}")
            .replace('<', "&lt;")
            .replace('\u{0}', "<br>")
            .replace("\\[", "[")
            .replace("\\]", "]"),
        _ => part.to_owned(),
    });
    let text = parts.collect::<Vec<_>>().join("`");
    // Intra-doc links become code here.
    text.replace("[`", "`").replace("`]", "`")
}

//! Explanations of the terms on a page.

use std::collections::BTreeMap;

use crate::columns::MEANINGS;
use crate::table::escape;

/// Terms that columns of files do not have, one a line: `term | meaning`. A star marks a term that is also looked
/// for in sentences.
const TERMS: &str = include_str!("terms.txt");
/// Units at the end of the names of columns.
const SUFFIXES: [&str; 4] = ["_per_s", "_Bps", "_bps", "_s"];

/// Returns the meanings of all terms.
fn meanings() -> BTreeMap<String, &'static str> {
    let mut meanings = BTreeMap::new();
    for (name, meaning) in MEANINGS.lines().filter_map(|line| line.split_once(": ")) {
        let name = name.rsplit('/').next().unwrap_or(name);
        let bare = SUFFIXES.iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name);
        meanings.entry(bare.replace('_', " ")).or_insert(meaning);
    }
    for (term, meaning) in TERMS.lines().filter_map(|line| line.split_once(" | ")) {
        meanings.insert(term.trim_start_matches('*').to_owned(), meaning);
    }
    meanings
}

/// Returns the headings of the tables in this HTML.
fn headings(html: &str) -> impl Iterator<Item = &str> {
    html.split("<th ").skip(1).filter_map(|rest| rest.split_once('>')?.1.split("</th>").next())
}

/// Returns a heading without its unit, unless it is a term with it.
fn term_of<'a>(heading: &'a str, meanings: &BTreeMap<String, &str>) -> &'a str {
    let bare = heading.rsplit_once(" [").map_or(heading, |(bare, _)| bare);
    if meanings.contains_key(heading) { heading } else { bare }
}

/// Lists the terms of a page, with their meanings, as HTML.
pub(super) fn list(html: &str) -> String {
    let meanings = meanings();
    let in_text = TERMS.lines().filter_map(|line| line.strip_prefix('*')?.split_once(" | "));
    let in_text = in_text.map(|(term, _)| term).filter(|term| html.contains(term));
    let mut terms: Vec<&str> = headings(html).map(|heading| term_of(heading, &meanings)).chain(in_text).collect();
    terms.sort_unstable();
    terms.dedup();
    let entry = |(at, term): (usize, &str)| {
        let meaning = escape(meanings.get(term)?);
        Some(format!("<dt>{}</dt><dd id=\"term-{at}\">{meaning}</dd>\n", escape(term)))
    };
    let entries: String = terms.into_iter().enumerate().filter_map(entry).collect();
    match entries.is_empty() {
        true => entries,
        false => format!("<details id=\"terms\"><summary>Terms</summary>\n<dl>\n{entries}</dl></details>\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls of builders of tables that are followed by a heading.
    const BUILDERS: [&str; 9] = ["text", "number", "time", "quantity", "count", "ratio", "words", "id", "factor"];

    #[test]
    fn every_heading_of_a_table_has_a_meaning() {
        let meanings = meanings();
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/table");
        let mut found = 0;
        for file in std::fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            let Ok(source) = std::fs::read_to_string(&path) else { continue };
            if path.ends_with("tests.rs") {
                continue;
            }
            let source = source.split("#[cfg(test)]").next().unwrap();
            for start in BUILDERS.map(|builder| format!(".{builder}(\"")) {
                for rest in source.split(&start).skip(1) {
                    let heading = rest.split('"').next().unwrap();
                    found += 1;
                    let is_known = heading.is_empty() || meanings.contains_key(term_of(heading, &meanings));
                    assert!(is_known, "terms.txt does not explain `{heading}` of {}", path.display());
                }
            }
        }
        assert!(found > 80, "{found}");
    }

    #[test]
    fn terms_of_headings_and_sentences_are_listed_once() {
        let html = list("<p>makespan</p><th a>lost here [us]</th><th a>lost here [us]</th><th a>size [B]</th>");
        assert_eq!(html.matches("<dt>").count(), 3, "{html}");
        assert!(html.contains("<dt>lost here</dt>") && html.contains("<dt>size [B]</dt>"), "{html}");
        assert_eq!(list("<p>nothing</p>"), "");
    }
}

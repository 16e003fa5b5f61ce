//! Mistakes of a text, as the page shows them.

use hayase::diagnostic::Invalid;
use serde_json::{Value, json};

use crate::SCENARIO;
use crate::command::{COMMAND, range_of};

/// Returns the answer for a text with mistakes: each with its place in the text, line 0 if it has none.
pub fn answer(invalid: &Invalid, text: &str) -> Value {
    // A page has no files.
    let files = "the playground reads no files; put the text into [files], or use the program";
    let mistakes = invalid.diagnostics.iter().map(|mistake| {
        let place = mistake.place(&invalid.sources);
        let (line, column, length) = match &place {
            Some(place) if [SCENARIO, COMMAND].contains(&&*place.file) => (place.line, place.column, place.length),
            Some(place) => match range_of(text, &place.file, &place.text) {
                Some(range) => {
                    let (line, column) = position(text, range.start);
                    (line, column, text[range].chars().count())
                }
                None => (0, 0, 0),
            },
            None => (0, 0, 0),
        };
        let file = place.map(|place| place.file).filter(|_| line == 0);
        let of_file = || (mistake.code == "unreadable-file").then(|| files.to_owned());
        let help = mistake.help.clone().or_else(of_file);
        json!({
            "code": mistake.code, "message": mistake.message, "label": mistake.label, "help": help,
            "line": line, "column": column, "length": length.max(1), "file": file,
        })
    });
    json!({"mistakes": mistakes.collect::<Vec<_>>()})
}

/// Returns line and column of an offset \[B\] in a text, from 1.
fn position(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..at];
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
}

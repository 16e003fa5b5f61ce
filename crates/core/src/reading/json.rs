//! JSON texts as tables with the place of every value, and their mistakes in words.

use std::collections::BTreeMap;

use serde_json::Error;
use serde_json::error::Category;
use serde_json::value::RawValue;

use super::tree::{Entry, Kind, Table, Tree};
use crate::diagnostic::{Diagnostic, Span};

/// Returns the message for a mistake in a JSON text, without its place.
pub fn in_words(error: &Error) -> String {
    let message = error.to_string();
    let message = message.rsplit_once(" at line ").map_or(&*message, |(message, _)| message);
    match (error.classify(), message) {
        (Category::Eof, _) => "the text ends too early; it may be cut off".to_owned(),
        (_, "recursion limit exceeded") => "lists and objects are nested too deeply".to_owned(),
        (_, message) => message.to_owned(),
    }
}

/// Deepest nesting of lists and objects.
const DEEPEST: u32 = 64;

/// Reads a JSON text whose first byte has position `base`. Of a key that occurs twice the last value holds.
///
/// # Errors
/// The first mistake of the text, at its place.
pub fn tree(text: &str, base: usize) -> Result<Tree, Diagnostic> {
    let wrong = |error: &Error| {
        let line: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
        let at = base + (line + error.column().saturating_sub(1)).min(text.len());
        Diagnostic::new("json", format!("this is no JSON: {}", in_words(error))).at(Span::new(at, at + 1))
    };
    let whole: &RawValue = serde_json::from_str(text).map_err(|error| wrong(&error))?;
    value(whole, text, base, DEEPEST)
}

/// Reads one value of a text.
fn value(raw: &RawValue, text: &str, base: usize, depth: u32) -> Result<Tree, Diagnostic> {
    let json = raw.get();
    let start = json.as_ptr() as usize - text.as_ptr() as usize;
    let span = Span::new(base + start, base + start + json.len());
    let wrong = |message: String| Diagnostic::new("json", message).at(span);
    let unread = |error: Error| wrong(in_words(&error));
    if depth == 0 {
        return Err(wrong("lists and objects are nested too deeply".to_owned()));
    }
    let kind = match json.as_bytes().first() {
        Some(b'{') => {
            let keys: BTreeMap<String, &RawValue> = serde_json::from_str(json).map_err(unread)?;
            let mut table = Table::new();
            for (name, of) in keys {
                let mut value = value(of, text, base, depth - 1)?;
                // The key stands before its value.
                let quoted = format!("\"{name}\"");
                let key = text[..value.span.start - base]
                    .rfind(&quoted)
                    .map_or(value.span, |at| Span::new(base + at, base + at + quoted.len()));
                if value.table().is_some() {
                    value.span = key;
                }
                table.insert(name, Entry { key, value });
            }
            Kind::Table(table)
        }
        Some(b'[') => {
            let items: Vec<&RawValue> = serde_json::from_str(json).map_err(unread)?;
            Kind::List(items.into_iter().map(|item| value(item, text, base, depth - 1)).collect::<Result<_, _>>()?)
        }
        Some(b'"') => Kind::Text(serde_json::from_str(json).map_err(unread)?),
        Some(b't' | b'f') => Kind::Truth(json == "true"),
        Some(b'n') => return Err(wrong("null is no value here".to_owned())),
        _ if json.contains(['.', 'e', 'E']) => Kind::Decimal(json.to_owned()),
        _ => Kind::Whole(json.to_owned()),
    };
    let span = if let Kind::Table(_) = kind { Span::new(span.start, span.start + 1) } else { span };
    Ok(Tree { span, kind })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_becomes_a_table_with_the_place_of_every_key_and_value() {
        let text = r#"{"a": {"b": [1, 2.5, true]}, "c": "x"}"#;
        let tree = tree(text, 100).unwrap();
        let [a, c] = ["a", "c"].map(|key| &tree.table().unwrap()[key]);
        assert_eq!((a.key, c.key, c.value.span), (Span::new(101, 104), Span::new(129, 132), Span::new(134, 137)));
        let Kind::List(items) = &a.value.table().unwrap()["b"].value.kind else { panic!("a list") };
        assert_eq!(items.iter().map(Tree::in_words).collect::<Vec<_>>(), ["the number 1", "the number 2.5", "true"]);
    }

    #[test]
    fn a_text_that_is_cut_off_or_too_deep_is_a_mistake() {
        assert_eq!(
            tree("{\"a\": ", 0).unwrap_err().message,
            "this is no JSON: the text ends too early; it may be cut off"
        );
        let deep = "[".repeat(100) + &"]".repeat(100);
        assert_eq!(tree(&deep, 0).unwrap_err().message, "lists and objects are nested too deeply");
    }

    #[test]
    fn mistakes_are_told_without_their_place_and_without_words_of_a_library() {
        let of = |text: &str| in_words(&serde_json::from_str::<serde_json::Value>(text).unwrap_err());
        assert_eq!(of("{\"a\": [1,"), "the text ends too early; it may be cut off");
        assert_eq!(of(&"[".repeat(1000)), "lists and objects are nested too deeply");
        assert_eq!(of("{\"a\" 1}"), "expected `:`");
    }
}

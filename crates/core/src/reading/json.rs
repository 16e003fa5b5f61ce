//! Mistakes of JSON texts, in words.

use serde_json::Error;
use serde_json::error::Category;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_are_told_without_their_place_and_without_words_of_a_library() {
        let of = |text: &str| in_words(&serde_json::from_str::<serde_json::Value>(text).unwrap_err());
        assert_eq!(of("{\"a\": [1,"), "the text ends too early; it may be cut off");
        assert_eq!(of(&"[".repeat(1000)), "lists and objects are nested too deeply");
        assert_eq!(of("{\"a\" 1}"), "expected `:`");
    }
}

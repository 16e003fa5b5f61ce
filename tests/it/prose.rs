//! Language of doc comments and documents: plain English, in lines and sentences of readable length.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use super::house::{self, root, shown};

/// First words that a doc comment does not have: a function's begins with its verb, a type's with its noun.
const QUESTIONS: [&str; 11] =
    ["What", "Whether", "How", "Where", "Who", "Whom", "Whose", "Whoever", "Which", "When", "Why"];

/// Phrases that leave open what they are about.
const PHRASES: [&str; 11] = [
    "so many",
    "so long",
    "so much",
    "whoever",
    "that it is of",
    "what is said",
    "is said of",
    "are said",
    "as it is",
    "what came out",
    "in the manner",
];

const LONGEST_LINE: usize = 120;
const LONGEST_SENTENCE: usize = 35;

/// Largest part of the doc comments that may begin with a question word \[%\].
const QUESTIONS_ALLOWED: usize = 2;

#[test]
fn doc_comments_begin_with_their_verb_or_noun_and_have_no_vague_phrases() {
    let (mut comments, mut questions, mut mistakes) = (0, Vec::new(), String::new());
    for path in files("rs") {
        let text = fs::read_to_string(&path).unwrap();
        let mut inside = false;
        for (at, line) in text.lines().enumerate() {
            let place = || format!("{}:{}: {}", shown(&path), at + 1, line.trim());
            let trimmed = line.trim();
            let body = trimmed.strip_prefix("///").or_else(|| trimmed.strip_prefix("//!")).map(str::trim);
            if trimmed.starts_with("//") && line.chars().count() > LONGEST_LINE {
                writeln!(mistakes, "line beyond {LONGEST_LINE} columns: {}", place()).unwrap();
            }
            let Some(body) = body else {
                inside = false;
                continue;
            };
            if !inside && !body.is_empty() {
                comments += 1;
                let first = body.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
                questions.extend(QUESTIONS.contains(&first).then(place));
            }
            let lower = body.to_lowercase();
            if let Some(phrase) = PHRASES.iter().find(|phrase| lower.contains(**phrase)) {
                writeln!(mistakes, "`{phrase}`: {}", place()).unwrap();
            }
            inside = true;
        }
    }
    assert!(mistakes.is_empty(), "{mistakes}");
    assert!(
        questions.len() * 100 <= comments * QUESTIONS_ALLOWED,
        "{} of {comments} doc comments begin with a question word:\n{}",
        questions.len(),
        questions.join("\n")
    );
}

#[test]
fn documents_have_lines_and_sentences_of_readable_length() {
    let mut mistakes = String::new();
    for path in files("md").into_iter().filter(|path| !path.components().any(|part| part.as_os_str() == "notes")) {
        let text = fs::read_to_string(&path).unwrap();
        let (mut in_code, mut prose) = (false, String::new());
        for (at, line) in text.lines().enumerate() {
            let is_fence = line.trim_start().starts_with("```");
            in_code ^= is_fence;
            if in_code || is_fence || line.trim_start().starts_with('|') {
                continue;
            }
            if line.chars().count() > LONGEST_LINE {
                writeln!(mistakes, "line beyond {LONGEST_LINE} columns: {}:{}", shown(&path), at + 1).unwrap();
            }
            if !line.trim_start().starts_with('#') {
                prose.push_str(line.trim());
                prose.push(' ');
            }
        }
        for sentence in sentences(&prose) {
            let words = sentence.split_whitespace().count();
            if words > LONGEST_SENTENCE {
                let start: String = sentence.chars().take(100).collect();
                writeln!(mistakes, "sentence of {words} words: {}: {start}", shown(&path)).unwrap();
            }
        }
    }
    assert!(mistakes.is_empty(), "{mistakes}");
}

#[test]
fn sentences_end_at_their_marks() {
    assert_eq!(
        sentences("One. Two, 1.5 GB: three! Four").collect::<Vec<_>>(),
        ["One.", "Two, 1.5 GB:", "three!", "Four"]
    );
}

/// Returns the sentences of a text: they end at a mark that a blank follows.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let end = rest
            .char_indices()
            .zip(rest.chars().skip(1))
            .find(|((_, mark), next)| matches!(mark, '.' | '!' | '?' | ':') && next.is_whitespace());
        let (sentence, left) = rest.split_at(end.map_or(rest.len(), |((at, _), _)| at + 1));
        rest = left;
        (!sentence.is_empty()).then_some(sentence)
    })
}

/// Returns the project's files with this ending.
fn files(ending: &str) -> Vec<PathBuf> {
    let found = house::files(root(), ending);
    assert!(found.len() > 20, "only {} files", found.len());
    found
}

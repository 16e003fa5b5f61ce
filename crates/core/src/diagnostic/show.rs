//! Mistakes as people read them: the place, the line with the marked characters, the thing expected, the way
//! out.

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use super::{Diagnostic, Invalid, Place};

/// Largest number of mistakes shown. The first ones usually cause the rest.
const MOST_SHOWN: usize = 40;
/// Number of characters of a line shown before and after the marked ones.
const CONTEXT: usize = 60;

impl Invalid {
    /// Returns all mistakes, each under its line; with `colour` for a terminal.
    pub fn show(&self, colour: bool) -> String {
        let renderer = renderer(colour);
        let shown = self.diagnostics.iter().take(MOST_SHOWN);
        let mut parts: Vec<String> =
            shown.map(|diagnostic| one(diagnostic, diagnostic.place(&self.sources).as_ref(), &renderer)).collect();
        let total = self.diagnostics.len();
        if total > MOST_SHOWN {
            parts.push(format!("{total} mistakes, of which the first {MOST_SHOWN} are shown"));
        } else if total > 1 {
            parts.push(format!("{total} mistakes"));
        }
        parts.join("\n\n")
    }
}

/// Returns the text of a failure that is not a mistake in an input, in the same form.
pub fn failure(message: &str, colour: bool) -> String {
    renderer(colour).render(&[Group::with_title(Level::ERROR.primary_title(clean(message)))])
}

fn renderer(colour: bool) -> Renderer {
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    renderer.decor_style(DecorStyle::Ascii)
}

fn one(diagnostic: &Diagnostic, place: Option<&Place>, renderer: &Renderer) -> String {
    let mut group = Group::with_title(Level::ERROR.primary_title(clean(&diagnostic.message)).id(diagnostic.code));
    if let Some(place) = place {
        let origin = Origin::path(clean(&place.file)).line(place.line).char_column(place.column);
        match window(place) {
            Some(Window { text, start, end, cut }) => {
                let mut mark = AnnotationKind::Primary.span(start..end);
                if !diagnostic.label.is_empty() {
                    mark = mark.label(clean(&diagnostic.label));
                }
                let snippet = Snippet::source(text).line_start(place.line).annotation(mark);
                group = if cut {
                    // Columns of the cut line differ from those of the file.
                    group.element(origin).element(snippet)
                } else {
                    group.element(snippet.path(clean(&place.file)))
                };
            }
            // The place is beyond the part kept of a long line.
            None => {
                group = group.element(origin);
                if !diagnostic.label.is_empty() {
                    group = group.element(Level::NOTE.message(clean(&diagnostic.label)));
                }
            }
        }
    } else if !diagnostic.label.is_empty() {
        group = group.element(Level::NOTE.message(clean(&diagnostic.label)));
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(clean(help)));
    }
    renderer.render(&[group])
}

/// Part of a line around the marked characters.
#[derive(PartialEq, Eq, Debug)]
struct Window {
    text: String,
    /// First marked byte in the text.
    start: usize,
    end: usize,
    /// Set when the beginning of the line is cut off.
    cut: bool,
}

/// Returns the line with the marked characters, cut to the part around them if it is long.
fn window(place: &Place) -> Option<Window> {
    let chars: Vec<char> = place.text.chars().collect();
    let start = place.column.checked_sub(1).filter(|start| *start <= chars.len())?;
    let end = (start + place.length.max(1)).min(chars.len()).max(start);
    // The text stands for one line number, so a line break in it must not start another line.
    let text = |range: std::ops::Range<usize>| -> String {
        chars[range].iter().map(|c| if matches!(c, '\n' | '\r') { ' ' } else { *c }).collect()
    };
    let (from, to) = if chars.len() > 3 * CONTEXT {
        (start.saturating_sub(CONTEXT), (end.min(start + CONTEXT) + CONTEXT).min(chars.len()))
    } else {
        (0, chars.len())
    };
    let (before, marked, after) = (text(from..start), text(start..end.min(to)), text(end.min(to)..to));
    let lead = if from > 0 { "..." } else { "" };
    let trail = if to < chars.len() { "..." } else { "" };
    let first = lead.len() + before.len();
    // If a line ends too early, the mark is placed after its end.
    let behind = if marked.is_empty() { " " } else { "" };
    let last = first + marked.len() + behind.len();
    let text = format!("{lead}{before}{marked}{behind}{after}{trail}");
    Some(Window { text, start: first, end: last, cut: from > 0 })
}

/// Returns the text on one line without control characters, because input texts may contain anything.
fn clean(text: &str) -> String {
    text.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::{Sources, Span};

    #[test]
    fn a_mistake_is_shown_under_its_line_with_what_to_write() {
        let mut sources = Sources::default();
        let base = sources.add("scenario.toml", "seed = 1\n\n[topology.torus]\nbandwidth = \"4 GBs\"\n");
        let diagnostic = Diagnostic::new("wrong-value", "unknown bandwidth unit \"GBs\"")
            .at(Span::new(base + 39, base + 46))
            .label("expected a bandwidth")
            .help("write \"12.5 GB/s\" or \"100 Gbit/s\"");
        insta::assert_snapshot!(Invalid::one(diagnostic, &sources).show(false), @r#"
        error[wrong-value]: unknown bandwidth unit "GBs"
         --> scenario.toml:4:13
          |
        4 | bandwidth = "4 GBs"
          |             ^^^^^^^ expected a bandwidth
          |
          = help: write "12.5 GB/s" or "100 Gbit/s"
        "#);
    }

    #[test]
    fn a_mistake_in_a_file_that_is_not_kept_is_shown_by_its_line() {
        let place = Place { file: "m.csv".into(), line: 1_000_000, column: 5, text: "0,1,-3".into(), length: 2 };
        let first = Diagnostic::new("wrong-value", "\"-3\" is no size").at_place(place.clone()).label("a size");
        let second = Diagnostic::new("missing-cell", "`bytes` is missing").at_place(Place { column: 7, ..place });
        let both = Invalid { diagnostics: vec![first, second], sources: Sources::default() };
        insta::assert_snapshot!(both.show(false), @r#"
        error[wrong-value]: "-3" is no size
               --> m.csv:1000000:5
                |
        1000000 | 0,1,-3
                |     ^^ a size

        error[missing-cell]: `bytes` is missing
               --> m.csv:1000000:7
                |
        1000000 | 0,1,-3 
                |       ^

        2 mistakes
        "#);
    }

    #[test]
    fn a_mistake_without_a_place_has_its_help_all_the_same() {
        let diagnostic = Diagnostic::new("missing-file", "there is no file `x.toml`").label("looked here").help("hm");
        insta::assert_snapshot!(Invalid::one(diagnostic, &Sources::default()).show(false), @"
        error[missing-file]: there is no file `x.toml`
         |
         = note: looked here
         = help: hm
        ");
    }

    #[test]
    fn a_long_line_is_cut_around_the_mistake() {
        let text = format!("{}WRONG{}", "a".repeat(200), "b".repeat(195));
        let place = Place { file: "x".into(), line: 1, column: 201, text: text.clone(), length: 5 };
        let Window { text: shown, start, end, .. } = window(&place).unwrap();
        assert_eq!(&shown[start..end], "WRONG");
        assert!(shown.len() < 200 && shown.starts_with("...a") && shown.ends_with("b..."), "{shown}");
        let beyond = Place { column: 1000, text, ..place };
        assert_eq!(window(&beyond), None);
        let diagnostic = Diagnostic::new("x", "y").at_place(beyond).label("far");
        assert!(Invalid::one(diagnostic, &Sources::default()).show(false).contains("x:1:1000"));
    }

    #[test]
    fn no_text_breaks_the_picture() {
        for text in ["", "\t\tx", "日本語の行 = \u{1b}[31m", "a\u{0}b\rc", "\u{202e}x"] {
            for column in 1..=text.chars().count() + 2 {
                for length in [0, 1, 5, usize::MAX / 2] {
                    let place = Place { file: "f\n".into(), line: 1, column, text: text.into(), length };
                    let diagnostic = Diagnostic::new("c", text).at_place(place).label(text).help(text);
                    let shown = Invalid::one(diagnostic, &Sources::default()).show(false);
                    assert!(!shown.contains('\u{1b}'), "{shown:?}");
                }
            }
        }
    }
}

//! Printed answer: lines and tables in turn, in common units, fitted to the width of the terminal.

use std::fmt;

use super::grid::Units;
use super::written::escape;
use super::{Grid, layout};

/// Lines of text and tables in turn. A quantity has the same unit in all tables, chosen for its largest
/// figure.
///
/// Lines are written as into a `String` (`write!`). [`Display`](fmt::Display) gives the text without a limit
/// of width.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    parts: Vec<Part>,
    /// Sentences that a page begins with.
    lead: Vec<String>,
}

#[derive(Clone, Debug)]
enum Part {
    Text(String),
    /// Heading of a table.
    Title(String),
    Table(Grid),
}

impl Answer {
    /// Creates an empty answer.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds text unchanged, including line breaks.
    pub fn push_str(&mut self, text: &str) {
        match self.parts.last_mut() {
            Some(Part::Text(last)) => last.push_str(text),
            _ => self.parts.push(Part::Text(text.to_owned())),
        }
    }

    /// Adds a plain sentence of the answer, which a page begins with and the other forms leave out.
    pub fn say(&mut self, sentence: &str) {
        let mut letters = sentence.chars();
        let first = letters.next().map(|first| first.to_uppercase().to_string());
        self.lead.push(first.unwrap_or_default() + letters.as_str());
    }

    /// Returns the sentences that a page begins with.
    pub fn lead(&self) -> impl Iterator<Item = &str> {
        self.lead.iter().map(String::as_str)
    }

    /// Returns the first line of text.
    pub fn first_line(&self) -> String {
        let text = self.parts.iter().find_map(|part| match part {
            Part::Text(text) | Part::Title(text) => text.lines().find(|line| !line.trim().is_empty()),
            Part::Table(_) => None,
        });
        text.unwrap_or_default().trim().to_owned()
    }

    /// Adds the heading of a table, on a line of its own.
    pub fn title(&mut self, title: impl Into<String>) {
        self.parts.push(Part::Title(title.into()));
    }

    /// Adds a table.
    pub fn table(&mut self, grid: Grid) {
        self.parts.push(Part::Table(grid));
    }

    /// Adds all parts of another answer. Its tables then use the units of this one.
    pub fn append(&mut self, other: Self) {
        self.parts.extend(other.parts);
        self.lead.extend(other.lead);
    }

    fn units(&self) -> Units {
        Units::of(self.parts.iter().filter_map(|part| match part {
            Part::Table(grid) => Some(grid),
            _ => None,
        }))
    }

    /// Formats the answer for a terminal of `width` columns, or without a limit of width. Tables that are too
    /// wide become narrower or continue below (`layout`), and lines are broken between words.
    pub fn to_text(&self, width: Option<usize>) -> String {
        let units = self.units();
        let parts = self.parts.iter().map(|part| match part {
            Part::Text(text) => layout::wrap(text, width),
            Part::Title(title) => layout::wrap(&format!("{title}\n"), width),
            Part::Table(grid) => grid.written(&units).to_text(width),
        });
        parts.collect()
    }

    /// Formats the answer as Markdown.
    pub fn to_markdown(&self) -> String {
        let units = self.units();
        let parts = self.parts.iter().map(|part| match part {
            Part::Text(text) => text.clone(),
            Part::Title(title) => format!("**{title}**\n\n"),
            Part::Table(grid) => grid.written(&units).to_markdown(),
        });
        parts.collect()
    }

    /// Formats the answer as HTML. Lines of text stay unchanged; names are escaped.
    pub fn to_html(&self) -> String {
        let units = self.units();
        let parts = self.parts.iter().map(|part| match part {
            Part::Text(text) if text.trim().is_empty() => String::new(),
            Part::Text(text) => format!("<pre>{}</pre>\n", escape(text.trim_matches('\n'))),
            Part::Title(title) => format!("<p><b>{}</b></p>\n", escape(title)),
            Part::Table(grid) => grid.written(&units).to_html(),
        });
        parts.collect()
    }
}

impl From<Grid> for Answer {
    fn from(grid: Grid) -> Self {
        Self { parts: vec![Part::Table(grid)], ..Self::default() }
    }
}

impl fmt::Write for Answer {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push_str(text);
        Ok(())
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text(None))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Cell;
    use super::*;

    #[test]
    fn html_holds_names_as_text() {
        let mut grid = Grid::new().text("<b>").time("time");
        grid.row([Cell::from("a & b"), 2.0.into()]);
        let mut answer = Answer::new();
        answer.push_str("\n<i>\n\n");
        answer.table(grid);
        insta::assert_snapshot!(answer.to_html(), @r#"
        <pre>&lt;i&gt;</pre>
        <table>
        <thead><tr><th style="text-align:left">&lt;b&gt;</th><th style="text-align:right">time [s]</th></tr></thead>
        <tbody>
        <tr><td style="text-align:left">a &amp; b</td><td style="text-align:right">2.000</td></tr>
        </tbody>
        </table>
        "#);
    }

    #[test]
    fn all_tables_of_an_answer_have_the_same_units() {
        let mut first = Grid::new().text("what").time("time");
        first.row([Cell::from("long"), 2.5.into()]);
        let mut second = Grid::new().text("what").time("wait");
        second.row([Cell::from("short"), 3e-6.into()]);
        let mut answer = Answer::new();
        answer.table(first);
        answer.push_str("and\n");
        answer.table(second);
        insta::assert_snapshot!(answer, @"
        what  time [s]
        ──────────────
        long     2.500
        and
        what     wait [s]
        ─────────────────
        short  0.00000300
        ");
    }
}

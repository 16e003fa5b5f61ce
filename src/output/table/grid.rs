//! Aligned columns for a terminal, and the same as Markdown.

use std::fmt::Write;

use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};

/// Longest line of a sentence in a table, in characters.
const SENTENCE: usize = 72;

/// A table of text: columns with their headings, and rows.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    columns: Vec<(String, CellAlignment)>,
    rows: Vec<Vec<String>>,
}

impl Grid {
    /// Without columns yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// With one more column of text, aligned to the left.
    #[must_use]
    pub fn text(mut self, heading: impl Into<String>) -> Self {
        self.columns.push((heading.into(), CellAlignment::Left));
        self
    }

    /// With one more column of numbers, aligned to the right.
    #[must_use]
    pub fn number(mut self, heading: impl Into<String>) -> Self {
        self.columns.push((heading.into(), CellAlignment::Right));
        self
    }

    /// Adds a row: a cell for each column.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Adds a row whose last cell is a sentence: where it is long it goes on in lines of its own.
    pub fn row_with_sentence(&mut self, cells: impl IntoIterator<Item = String>, sentence: &str) {
        let mut cells: Vec<String> = cells.into_iter().collect();
        let mut lines = vec![String::new()];
        for word in sentence.split_whitespace() {
            match lines.last_mut() {
                Some(line) if line.is_empty() => line.push_str(word),
                Some(line) if line.chars().count() + word.chars().count() < SENTENCE => {
                    line.push(' ');
                    line.push_str(word);
                }
                _ => lines.push(word.to_owned()),
            }
        }
        for line in lines {
            let blank = vec![String::new(); cells.len()];
            cells.push(line);
            self.rows.push(std::mem::replace(&mut cells, blank));
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Aligned, with a light line under the headings.
    pub fn to_text(&self) -> String {
        let mut table = Table::new();
        table
            .load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')))
            .set_header(self.columns.iter().map(|(heading, _)| printable(heading)).collect::<Vec<_>>());
        for row in &self.rows {
            table.add_row(row.iter().map(|cell| printable(cell)).collect::<Vec<_>>());
        }
        let last = self.columns.len().saturating_sub(1);
        for (i, column) in table.column_iter_mut().enumerate() {
            column.set_padding((0, u16::from(i < last))).set_cell_alignment(self.columns[i].1);
        }
        let mut text = table.trim_fmt();
        text.push('\n');
        text
    }

    /// As Markdown.
    pub fn to_markdown(&self) -> String {
        let mut text = String::new();
        let mut line = |cells: &mut dyn Iterator<Item = String>| {
            for cell in cells {
                let _ = write!(text, "| {cell} ");
            }
            text.push_str("|\n");
        };
        let cell = |cell: &str| printable(cell).replace('|', "\\|");
        line(&mut self.columns.iter().map(|(heading, _)| cell(heading)));
        line(&mut self.columns.iter().map(|(_, alignment)| match alignment {
            CellAlignment::Right => "--:".to_owned(),
            _ => ":--".to_owned(),
        }));
        for row in &self.rows {
            line(&mut row.iter().map(|text| cell(text)));
        }
        text
    }
}

/// Names come from files: what would move the cursor of a terminal is replaced.
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        let mut grid = Grid::new().text("link").number("bytes [KB]").number("flows");
        grid.row(["node 0 -> switch 0".into(), "20.000".into(), "1".into()]);
        grid.row(["西|東\u{1b}[2J".into(), "7.250".into(), "12".into()]);
        grid
    }

    #[test]
    fn numbers_are_aligned_to_the_right_and_wide_characters_count_twice() {
        insta::assert_snapshot!(grid().to_text(), @"
        link                bytes [KB]  flows
        ─────────────────────────────────────
        node 0 -> switch 0      20.000      1
        西|東�[2J                7.250     12
        ");
    }

    #[test]
    fn a_long_sentence_goes_on_below() {
        let mut grid = Grid::new().text("name").text("what it is");
        grid.row_with_sentence(["a".into()], &"word ".repeat(20));
        grid.row_with_sentence(["b".into()], "");
        assert_eq!(grid.rows.len(), 3);
        assert_eq!(grid.rows[1][0], "");
        assert!(grid.rows[0][1].len() <= SENTENCE && grid.rows[0][1].len() + 5 > SENTENCE);
    }

    #[test]
    fn markdown_keeps_bars_inside_their_cell() {
        insta::assert_snapshot!(grid().to_markdown(), @r"
        | link | bytes [KB] | flows |
        | :-- | --: | --: |
        | node 0 -> switch 0 | 20.000 | 1 |
        | 西\|東�[2J | 7.250 | 12 |
        ");
    }
}

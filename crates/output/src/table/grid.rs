//! Tables of aligned columns, for a terminal and as Markdown.

use std::borrow::Borrow;

use super::figures::{Quantity, Scale, Style, fixed, grouped};
use super::written::Written;
use hayase::columns::{self, Columns, Form};

/// Longest line of a sentence in a table \[characters\].
const SENTENCE: usize = 72;

/// Table: columns with their headings and the kind of their figures, and rows.
///
/// A column of a [`Quantity`] holds figures in base units. The unit in its heading is chosen when all tables
/// of an answer are known (`Units`).
#[derive(Clone, Debug, Default)]
pub struct Grid {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
    /// Number of leading columns that identify a row.
    keys: usize,
    /// True if the last column holds sentences.
    sentences: bool,
}

#[derive(Clone, Debug)]
struct Column {
    heading: String,
    content: Content,
}

/// Kind of the values of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Content {
    Text,
    /// Counts, ratios and other figures without a unit.
    Number,
    Quantity(Quantity),
}

/// Value of a cell.
#[derive(Clone, PartialEq, Debug)]
pub enum Cell {
    /// Text, shown unchanged.
    Text(String),
    /// Figure in the base unit of its column; NaN is shown as `-`.
    Figure(f64),
}

impl Default for Cell {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl Cell {
    /// Formats a value for readers; `-` if it is missing.
    fn of(form: Form, value: columns::Cell<'_>) -> Self {
        match (form, value) {
            (_, columns::Cell::Null) => Self::Figure(f64::NAN),
            (_, columns::Cell::Text(text)) => Self::Text(text.into_owned()),
            (Form::Count, columns::Cell::Unsigned(count)) => Self::Text(grouped(count)),
            (Form::Quantity(_), columns::Cell::Unsigned(figure)) => Self::Figure(figure as f64),
            (_, columns::Cell::Unsigned(number)) => Self::Text(number.to_string()),
            (_, columns::Cell::Whole(number)) => Self::Text(number.to_string()),
            (_, columns::Cell::Truth(value)) => Self::Text(value.to_string()),
            (Form::Ratio(decimals), columns::Cell::Number(figure)) => Self::Text(fixed(figure, decimals)),
            (_, columns::Cell::Number(figure)) => Self::Figure(figure),
        }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<f64> for Cell {
    fn from(figure: f64) -> Self {
        Self::Figure(figure)
    }
}

impl From<Option<f64>> for Cell {
    /// Converts a figure; `-` if it is missing.
    fn from(figure: Option<f64>) -> Self {
        Self::Figure(figure.unwrap_or(f64::NAN))
    }
}

impl From<u64> for Cell {
    /// Formats a count, with grouped digits.
    fn from(count: u64) -> Self {
        Self::Text(grouped(count))
    }
}

impl From<u32> for Cell {
    /// Formats a number that identifies something, such as a rank or a block, without grouping.
    fn from(number: u32) -> Self {
        Self::Text(number.to_string())
    }
}

/// One unit for each quantity, common to all tables of an answer.
#[derive(Clone, Copy, Debug)]
pub struct Units([Scale; Quantity::ALL.len()]);

impl Units {
    /// Chooses the units in which the largest figure of all these tables is at least 1.
    pub fn of<'a>(grids: impl Iterator<Item = &'a Grid> + Clone) -> Self {
        Self(Quantity::ALL.map(|quantity| {
            let figures = grids.clone().flat_map(|grid| grid.figures(quantity));
            Scale::of(quantity, figures)
        }))
    }

    fn scale(&self, quantity: Quantity) -> Scale {
        self.0[quantity as usize]
    }
}

impl Grid {
    /// Returns a table of these columns with a row for each of `rows`. Headings are the labels of the
    /// columns.
    pub fn of<R, B: Borrow<R>>(columns: &Columns<'_, R>, rows: impl IntoIterator<Item = B>) -> Self {
        let mut grid = columns.iter().fold(Self::new(), |grid, column| match column.form {
            Form::Text => grid.text(column.label()),
            Form::Id | Form::Count | Form::Ratio(_) => grid.number(column.label()),
            Form::Quantity(quantity) => grid.quantity(column.label(), quantity),
        });
        grid.rows(columns, rows);
        grid
    }

    /// Adds a row for each of `rows`, with the values of these columns.
    pub fn rows<R, B: Borrow<R>>(&mut self, columns: &Columns<'_, R>, rows: impl IntoIterator<Item = B>) {
        for row in rows {
            self.row(columns.iter().map(|column| Cell::of(column.form, column.value(row.borrow()))));
        }
    }

    /// Creates a table without columns.
    pub fn new() -> Self {
        Self { keys: 1, ..Self::default() }
    }

    /// Adds a column of text, aligned to the left.
    #[must_use]
    pub fn text(self, heading: impl Into<String>) -> Self {
        self.column(heading, Content::Text)
    }

    /// Adds a column of numbers without a unit (counts, ratios), aligned to the right.
    #[must_use]
    pub fn number(self, heading: impl Into<String>) -> Self {
        self.column(heading, Content::Number)
    }

    /// Adds a column of figures of a quantity, in base units; the heading gets the unit.
    #[must_use]
    pub fn quantity(self, heading: impl Into<String>, quantity: Quantity) -> Self {
        self.column(heading, Content::Quantity(quantity))
    }

    /// Adds a column of times \[s\].
    #[must_use]
    pub fn time(self, heading: impl Into<String>) -> Self {
        self.quantity(heading, Quantity::Time)
    }

    fn column(mut self, heading: impl Into<String>, content: Content) -> Self {
        self.columns.push(Column { heading: heading.into(), content });
        self
    }

    /// Sets the number of leading columns that identify a row (1 by default). They are repeated where the
    /// other columns continue below.
    #[must_use]
    pub fn keys(self, keys: usize) -> Self {
        Self { keys, ..self }
    }

    /// Adds a row: a cell for each column.
    pub fn row<C: Into<Cell>>(&mut self, cells: impl IntoIterator<Item = C>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// Adds a row whose last cell is a sentence. A long sentence continues on lines below, even where the
    /// table fits.
    pub fn row_with_sentence(&mut self, cells: impl IntoIterator<Item = String>, sentence: &str) {
        self.sentences = true;
        self.row(cells.into_iter().chain([sentence.split_whitespace().collect::<Vec<_>>().join(" ")]));
    }

    /// True if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns all figures of a quantity.
    fn figures(&self, quantity: Quantity) -> impl Iterator<Item = f64> {
        let of_it = move |&(_, column): &(usize, &Column)| column.content == Content::Quantity(quantity);
        self.columns.iter().enumerate().filter(of_it).flat_map(|(at, _)| self.of_column(at))
    }

    fn of_column(&self, at: usize) -> impl Iterator<Item = f64> {
        self.rows.iter().filter_map(move |row| match row.get(at) {
            Some(Cell::Figure(figure)) => Some(*figure),
            _ => None,
        })
    }

    /// Formats all figures in these units.
    pub(super) fn written(&self, units: &Units) -> Written {
        let styles: Vec<Option<(Scale, Style)>> = (self.columns.iter().enumerate())
            .map(|(at, column)| match column.content {
                Content::Quantity(quantity) => {
                    let scale = units.scale(quantity);
                    Some((scale, scale.column(quantity, self.of_column(at))))
                }
                _ => None,
            })
            .collect();
        let heading = |(column, style): (&Column, &Option<(Scale, Style)>)| match style {
            Some((scale, _)) => format!("{} [{}]", printable(&column.heading), scale.unit).trim_start().to_owned(),
            None => printable(&column.heading),
        };
        let show = |(cell, style): (&Cell, &Option<(Scale, Style)>)| match (cell, style) {
            (Cell::Text(text), _) => printable(text),
            (Cell::Figure(figure), Some((_, style))) => style.show(*figure),
            (Cell::Figure(figure), None) => fixed(*figure, 3),
        };
        Written {
            headings: self.columns.iter().zip(&styles).map(heading).collect(),
            texts: self.columns.iter().map(|column| column.content == Content::Text).collect(),
            rows: self.rows.iter().map(|row| row.iter().zip(&styles).map(show).collect()).collect(),
            keys: self.keys.min(self.columns.len()),
            sentence: self.sentences.then_some(SENTENCE),
        }
    }

    /// Formats a table that is the whole answer: aligned, with a light line under the headings, without a
    /// limit of width.
    pub fn to_text(&self) -> String {
        self.written(&Units::of(std::iter::once(self))).to_text(None)
    }
}

/// Replaces characters that would move the cursor of a terminal. Names that come from files pass through
/// here.
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        let mut grid = Grid::new().text("link").quantity("bytes", Quantity::Bytes).number("flows");
        grid.row([Cell::from("node 0 -> switch 0"), 20_000.0.into(), 1_u64.into()]);
        grid.row([Cell::from("西|東\u{1b}[2J"), 7250.0.into(), 12_u64.into()]);
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
        let text = grid.to_text();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 5, "{text}");
        assert!(lines[2].starts_with("a     word") && lines[3].starts_with("      word") && lines[4] == "b", "{text}");
        assert!(lines[2].len() <= 6 + SENTENCE && lines[2].len() + 5 > 6 + SENTENCE);
    }

    #[test]
    fn markdown_keeps_bars_inside_their_cell() {
        let grid = grid();
        insta::assert_snapshot!(grid.written(&Units::of(std::iter::once(&grid))).to_markdown(), @r"
        | link | bytes [KB] | flows |
        | :-- | --: | --: |
        | node 0 -> switch 0 | 20.000 | 1 |
        | 西\|東�[2J | 7.250 | 12 |
        ");
    }
}

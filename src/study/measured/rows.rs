//! Tables of measured collectives.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::reading::Input;
use crate::reading::csv::{self, Column};
use crate::report::MeasuredRow;
use crate::units::{Bytes, Time};

/// Row of a file, with its place.
#[derive(Clone, Debug)]
pub(super) struct ReadRow {
    pub row: MeasuredRow,
    /// Size of an element of its vectors \[B\].
    pub element: u64,
    pub file: Arc<str>,
    pub line: u64,
}

impl ReadRow {
    /// Returns the mistake at this row.
    pub fn mistake(&self, reason: &str) -> Diagnostic {
        Diagnostic::new("no-prediction", format!("{}:{}: {reason}", self.file, self.line))
    }
}

/// Size of an element of the vectors of tables \[B\].
const ELEMENT: u64 = 4;

/// Returns the mistake of a shape that does not have these nodes. An empty one is not known.
pub(super) fn wrong_shape(shape: &str, nodes: u64) -> Option<String> {
    let lengths: Option<u64> = shape.split('x').try_fold(1u64, |n, d| n.checked_mul(d.parse().ok()?));
    let is_wrong = !shape.is_empty() && lengths != Some(nodes);
    is_wrong.then(|| format!("the shape \"{shape}\" does not have {nodes} nodes"))
}

/// Rows of a file, and the columns that it has.
#[derive(Clone, Debug, Default)]
pub(super) struct ReadRows {
    pub rows: Vec<ReadRow>,
    pub columns: Vec<&'static str>,
}

/// Columns of a table. Those that are optional here may be given by a comment; the nodes also by the ranks.
pub const COLUMNS: [Column; 16] = [
    Column::optional("system"),
    Column::required("operation"),
    Column::required("algorithm"),
    Column::optional("library"),
    Column::optional("nodes"),
    Column::optional("shape"),
    Column::optional("ranks"),
    Column::required("size_B"),
    Column::required("time_s"),
    Column::optional("statistic"),
    Column::optional("p10_s"),
    Column::optional("p90_s"),
    Column::optional("repetitions"),
    Column::optional("placement"),
    Column::optional("note"),
    Column::optional("source"),
];
const SYSTEM: usize = 0;
const OPERATION: usize = 1;
const ALGORITHM: usize = 2;
const NODES: usize = 4;
const SHAPE: usize = 5;
const RANKS: usize = 6;

/// Largest number of nodes and ranks.
const MOST: u64 = 1 << 24;

/// Values that a file gives for all rows, and the cells of the row before.
#[derive(Default)]
struct Constants {
    /// Beginning of each cell of a column.
    head: BTreeMap<usize, String>,
    /// Set if an empty cell stands for the cell above it.
    repeats: bool,
}

impl Constants {
    /// Takes a comment `column: text`.
    fn comment(&mut self, comment: &str) {
        let Some((key, value)) = comment.split_once(':') else { return };
        let (key, value) = (key.trim(), value.trim());
        self.repeats |= (key, value) == ("empty cells", "as above");
        if let Some(column) = COLUMNS.iter().position(|column| column.name() == key) {
            self.head.insert(column, value.to_owned());
        }
    }

    /// Returns the text of a cell; `above` is the cell above it.
    fn cell(&self, row: &mut csv::Row<'_>, column: usize, above: &mut String) -> Option<String> {
        let mut cell = row.text(column)?.into_owned();
        if self.repeats {
            match cell.as_str() {
                "" => cell.clone_from(above),
                _ => above.clone_from(&cell),
            }
            if cell == "-" {
                cell.clear();
            }
        }
        Some(match self.head.get(&column) {
            Some(head) if cell.is_empty() => head.clone(),
            Some(head) => format!("{head} {cell}"),
            None => cell,
        })
    }
}

/// Reads a table of measured collectives. A comment `# column: text` before the header begins all cells of that
/// column. `# empty cells: as above` lets an empty cell stand for the one above it, and `-` for an empty one.
///
/// # Errors
/// All mistakes of the table, each with its place.
pub(super) fn read(input: Input, system: Option<&str>) -> Result<ReadRows, Vec<Diagnostic>> {
    let file: Arc<str> = input.name().into();
    let constants = std::cell::RefCell::new(Constants::default());
    let mut above = vec![String::new(); COLUMNS.len()];
    let mut has = [false; COLUMNS.len()];
    let mut rows = Vec::new();
    csv::read_with_head(
        input,
        &COLUMNS,
        |comment| constants.borrow_mut().comment(comment),
        |row| {
            let constants = constants.borrow();
            let mut cells = Vec::with_capacity(COLUMNS.len());
            for (column, above) in above.iter_mut().enumerate() {
                has[column] |= row.has(column) || constants.head.contains_key(&column);
                cells.push(constants.cell(row, column, above).unwrap_or_default());
            }
            if let Some(system) = system.filter(|_| cells[SYSTEM].is_empty()) {
                cells[SYSTEM] = system.to_owned();
                has[SYSTEM] = true;
            }
            if let Some(read) = of_cells(row, cells) {
                rows.push(ReadRow { row: read, element: ELEMENT, file: Arc::clone(&file), line: row.line() });
            }
        },
    )?;
    let columns = COLUMNS.iter().zip(has).filter(|(_, has)| *has).map(|(column, _)| column.name()).collect();
    Ok(ReadRows { rows, columns })
}

/// Returns the row of these cells, or notes its mistakes.
fn of_cells(row: &mut csv::Row<'_>, mut cells: Vec<String>) -> Option<MeasuredRow> {
    let mut is_right = true;
    let mut wrong = |row: &mut csv::Row<'_>, column: usize, message: String, label: &str| {
        row.mistake(column, Diagnostic::new("wrong-value", message).label(label));
        is_right = false;
    };
    for column in [SYSTEM, OPERATION, ALGORITHM] {
        if cells[column].is_empty() {
            let help = if column == SYSTEM { "a column `system`, or --system NAME" } else { "a name" };
            wrong(row, column, format!("a row without {}", COLUMNS[column].name()), help);
        }
    }
    let mut whole = |row: &mut csv::Row<'_>, column: usize| -> Option<u64> {
        let cell = &cells[column];
        let value = cell.parse().ok().filter(|value| (1..=MOST).contains(value));
        if value.is_none() && !cell.is_empty() {
            let what = COLUMNS[column].name();
            wrong(row, column, format!("\"{cell}\" is no number of {what}"), "a whole number from 1");
        }
        value
    };
    let (nodes, ranks, repetitions) = (whole(row, NODES), whole(row, RANKS), whole(row, 12));
    let Some(nodes) = nodes.or(ranks) else {
        wrong(row, NODES, "a row without nodes".to_owned(), "a column `nodes` or `ranks`");
        return None;
    };
    let ranks = ranks.unwrap_or(nodes);
    if ranks < nodes {
        wrong(row, RANKS, format!("{ranks} ranks do not use {nodes} nodes"), "a rank or more for each node");
    }
    if let Some(message) = wrong_shape(&cells[SHAPE], nodes) {
        wrong(row, SHAPE, message, "lengths of a grid, like 4x4x4");
    }
    let Bytes(size) = Bytes::from_cell(&cells[7]).unwrap_or_else(|error| {
        wrong(row, 7, error.to_string(), "a size in bytes");
        Bytes(0)
    });
    let mut seconds = |row: &mut csv::Row<'_>, column: usize| -> Option<f64> {
        let cell = &cells[column];
        let value = cell.parse().ok().or_else(|| Time::from_cell(cell).ok().map(Time::seconds));
        let value = value.filter(|value: &f64| value.is_finite() && *value > 0.0);
        if value.is_none() && !(cell.is_empty() && column != 8) {
            wrong(row, column, format!("\"{cell}\" is no measured time"), "a time above 0, in seconds");
        }
        value
    };
    let (time_s, p10_s, p90_s) = (seconds(row, 8), seconds(row, 10), seconds(row, 11));
    let mut take = |column: usize| std::mem::take(&mut cells[column]);
    Some(MeasuredRow {
        system: take(SYSTEM),
        operation: take(OPERATION),
        algorithm: take(ALGORITHM),
        library: take(3),
        nodes: nodes as u32,
        shape: take(SHAPE),
        ranks: ranks as u32,
        size_bytes: size,
        time_s: time_s?,
        statistic: take(9),
        p10_s,
        p90_s,
        repetitions,
        placement: take(13),
        note: take(14),
        source: take(15),
        ..MeasuredRow::default()
    })
    .filter(|_| is_right)
}

//! Tables in CSV files, read at the speed of the file and with a place for every mistake.
//!
//! A table starts with a line that names its columns, in any order. Blank lines and lines that start with `#`
//! are skipped. Blanks around a cell are not part of it. A cell in double quotes may contain commas and,
//! doubled, quotes. LF and CRLF, a byte order mark and zstd are all understood.
//!
//! One pass over the bytes splits a line into cells. Whole numbers, the bulk of large files, are read from
//! the bytes directly. Nothing is kept of a line except the values that its reader takes.

mod numbers;

use std::borrow::Cow;
use std::io::{ErrorKind, Read};
use std::ops::Range;

use numbers::{plain_decimal, whole_number, whole_time};

use super::Input;
use crate::diagnostic::{Diagnostic, Place, closest};
use crate::units::{Bandwidth, Bytes, QuantityError, Time};

/// Number of mistakes after which the rest of a file is not read.
const MOST_MISTAKES: usize = 20;
/// Longest line \[B\].
const LONGEST_LINE: usize = 4 << 20;
/// Initial size of the buffer for reading \[B\].
const CHUNK: usize = 1 << 20;
/// Length of the part of a line that a message shows \[characters\].
const SHOWN_LENGTH: usize = 400;

/// A column that a table may have.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    name: &'static str,
    required: bool,
}

impl Column {
    /// Creates a column that every table must have.
    pub const fn required(name: &'static str) -> Self {
        Self { name, required: true }
    }

    /// Creates a column that a table may leave out.
    pub const fn optional(name: &'static str) -> Self {
        Self { name, required: false }
    }

    /// Returns the name of the column in the header.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns true if every table must have the column.
    pub const fn is_required(&self) -> bool {
        self.required
    }
}

/// One line of a table. A column is identified by its position in the list passed to [`read`].
///
/// A method that finds no valid value in a cell notes a mistake and returns `None`. Read all cells before you
/// look at the results, so that all mistakes of a line are found at once.
pub struct Row<'a> {
    line: u64,
    text: &'a [u8],
    cells: &'a [Cell],
    header: &'a Header,
    file: &'a str,
    mistakes: &'a mut Vec<Diagnostic>,
    stopped: &'a mut bool,
}

/// Position of the content of a cell in its line \[B\].
#[derive(Clone, Copy, Debug)]
struct Cell {
    start: u32,
    end: u32,
    /// Set when the cell contains doubled quotes.
    doubled: bool,
}

/// Positions of the wanted columns in the file.
#[derive(Debug)]
struct Header {
    columns: Vec<Column>,
    positions: Vec<Option<usize>>,
    width: usize,
}

/// Reads a table: calls `each` for each line after the header, and returns the number of such lines.
///
/// Cost: proportional to the size of the file; memory for its longest line.
///
/// # Errors
/// All mistakes in the order of the file, including those that `each` notes. After 20 mistakes the rest is
/// not read.
pub fn read(input: Input, columns: &[Column], each: impl FnMut(&mut Row<'_>)) -> Result<u64, Vec<Diagnostic>> {
    read_with_head(input, columns, |_| (), each)
}

/// Reads a table as [`read`] does, and calls `head` for each comment before the header, without its `#`.
///
/// # Errors
/// See [`read`].
pub fn read_with_head(
    mut input: Input,
    columns: &[Column],
    mut head: impl FnMut(&str),
    mut each: impl FnMut(&mut Row<'_>),
) -> Result<u64, Vec<Diagnostic>> {
    let file = input.name().to_owned();
    let mut mistakes = Vec::new();
    let mut header = None;
    let mut rows = 0;
    let mut line = 0;
    let mut cells = Vec::new();
    let mut stopped = false;
    let mut buffer = vec![0; CHUNK];
    let (mut start, mut filled, mut at_end) = (0, 0, false);
    'file: loop {
        while let Some(split) = split(&buffer[start..filled], at_end, &mut cells) {
            line += 1;
            let text = &buffer[start..start + split.length];
            start += split.next;
            if cells.is_empty() {
                let comment = str::from_utf8(text).ok().and_then(|text| text.trim().strip_prefix('#'));
                comment.filter(|_| header.is_none()).into_iter().for_each(&mut head);
                continue;
            }
            if let Some((range, message)) = split.misplaced_quotes {
                let length = range.len();
                mistakes.push(
                    Diagnostic::new("bad-quotes", message)
                        .at_place(place(&file, line, text, range.start, length))
                        .help("put the whole cell in quotes, and double the quotes inside it: \"a \"\"b\"\" c\""),
                );
            } else if let Some(header) = &header {
                rows += 1;
                let mut row = Row {
                    line,
                    text,
                    cells: &cells,
                    header,
                    file: &file,
                    mistakes: &mut mistakes,
                    stopped: &mut stopped,
                };
                if row.has_all_cells() {
                    each(&mut row);
                }
            } else {
                match Header::read(&file, line, text, &cells, columns) {
                    Ok(known) => header = Some(known),
                    Err(found) => {
                        mistakes.extend(found);
                        break 'file;
                    }
                }
            }
            if mistakes.len() >= MOST_MISTAKES {
                mistakes.truncate(MOST_MISTAKES);
                mistakes.push(Diagnostic::new(
                    "too-many-mistakes",
                    format!("there are {MOST_MISTAKES} mistakes or more; the rest of `{file}` was not read"),
                ));
                break 'file;
            }
            if stopped {
                break 'file;
            }
        }
        if at_end {
            break;
        }
        buffer.copy_within(start..filled, 0);
        filled -= start;
        start = 0;
        if filled >= LONGEST_LINE {
            mistakes.push(
                Diagnostic::new("line-too-long", format!("a line is longer than {LONGEST_LINE} bytes"))
                    .at_place(place(&file, line + 1, &buffer[..SHOWN_LENGTH], 0, 1))
                    .help("this does not look like a table; is it the right file?"),
            );
            break;
        }
        if buffer.len() < filled + CHUNK / 2 {
            buffer.resize(2 * buffer.len(), 0);
        }
        // Fills the buffer before splitting, so that a long line is not scanned again after every small read.
        while filled < buffer.len() && !at_end {
            match input.read(&mut buffer[filled..]) {
                Ok(0) => at_end = true,
                Ok(count) => filled += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    mistakes.push(Input::failed(&file, &error));
                    break 'file;
                }
            }
        }
        if line == 0 && start == 0 && buffer[..filled].starts_with(b"\xef\xbb\xbf") {
            start = 3;
        }
    }
    if header.is_none() && mistakes.is_empty() {
        mistakes.push(
            Diagnostic::new("no-header", format!("`{file}` is empty"))
                .help(format!("its first line names the columns: {}", names(columns))),
        );
    }
    if mistakes.is_empty() { Ok(rows) } else { Err(mistakes) }
}

impl<'a> Row<'a> {
    /// Returns the number of the line in the file, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Leaves the rest of the file unread.
    pub fn stop(&mut self) {
        *self.stopped = true;
    }

    /// Returns true if the file has this column.
    pub fn has(&self, column: usize) -> bool {
        self.header.positions[column].is_some()
    }

    /// Returns the bytes of a cell; empty if the file lacks the column. Doubled quotes are still doubled.
    #[inline]
    pub fn bytes(&self, column: usize) -> &'a [u8] {
        match self.cell(column) {
            Some(cell) => &self.text[cell.start as usize..cell.end as usize],
            None => &[],
        }
    }

    /// Returns the text of a cell; empty if the file lacks the column.
    pub fn text(&mut self, column: usize) -> Option<Cow<'a, str>> {
        let bytes = self.bytes(column);
        match std::str::from_utf8(bytes) {
            Ok(text) if self.cell(column).is_some_and(|cell| cell.doubled) => {
                Some(Cow::Owned(text.replace("\"\"", "\"")))
            }
            Ok(text) => Some(Cow::Borrowed(text)),
            Err(error) => {
                let at = error.valid_up_to();
                let diagnostic = Diagnostic::new("not-utf8", format!("`{}` is not UTF-8 text", self.file))
                    .label(format!("byte 0x{:02x} is not a character", bytes[at]))
                    .help("save the file as UTF-8");
                self.mistake_in(column, at..at + 1, diagnostic);
                None
            }
        }
    }

    /// Returns the blank-separated words of a cell, each with its range in the cell.
    pub fn words(&mut self, column: usize) -> Vec<(Range<usize>, &'a str)> {
        let bytes = self.bytes(column);
        let text = match self.text(column) {
            Some(Cow::Borrowed(text)) => text,
            // No name contains doubled quotes, so words that contain them are reported as unknown.
            Some(Cow::Owned(_)) => std::str::from_utf8(bytes).unwrap_or_default(),
            None => return Vec::new(),
        };
        text.split_ascii_whitespace()
            .map(|word| {
                let start = word.as_ptr() as usize - text.as_ptr() as usize;
                (start..start + word.len(), word)
            })
            .collect()
    }

    /// Returns a whole number below `end`. Messages use `what` as its noun (`rank`, `node`).
    #[inline]
    pub fn number(&mut self, column: usize, what: &str, end: u32) -> Option<u32> {
        match whole_number(self.bytes(column)) {
            Some(number) if number < u64::from(end) => Some(number as u32),
            other => {
                self.wrong_number(column, what, end, other.is_some());
                None
            }
        }
    }

    #[cold]
    fn wrong_number(&mut self, column: usize, what: &str, end: u32, is_number: bool) {
        let range = format!("{what}s are numbered from 0 to {}", end.saturating_sub(1));
        let text = String::from_utf8_lossy(self.bytes(column)).into_owned();
        let diagnostic = if text.is_empty() {
            self.empty(column).label(format!("the number of a {what}"))
        } else if is_number {
            Diagnostic::new("out-of-range", format!("there is no {what} {text}")).label(range)
        } else {
            Diagnostic::new("bad-number", format!("\"{text}\" is not the number of a {what}")).label(range)
        };
        self.mistake(column, diagnostic);
    }

    /// Returns a whole number of at least 1. Messages use `what` as the noun of the things counted.
    pub fn count(&mut self, column: usize, what: &str) -> Option<u32> {
        let number = whole_number(self.bytes(column)).filter(|&number| number > 0);
        if number.is_none() {
            let text = String::from_utf8_lossy(self.bytes(column)).into_owned();
            let diagnostic = match text.is_empty() {
                true => self.empty(column),
                false => Diagnostic::new("bad-number", format!("\"{text}\" is not a number of {what}s")),
            };
            self.mistake(column, diagnostic.label("a whole number above 0").help("leave out what is not there"));
        }
        number.map(|number| number.min(u64::from(u32::MAX)) as u32)
    }

    /// Returns an amount of data, written as bytes or with a unit \[B\].
    #[inline]
    pub fn size(&mut self, column: usize) -> Option<u64> {
        match whole_number(self.bytes(column)) {
            Some(bytes) if bytes <= 1 << 53 => Some(bytes),
            _ => self.quantity(column, Bytes::from_cell).map(|Bytes(bytes)| bytes),
        }
    }

    /// Returns a time, written as seconds or with a unit.
    #[inline]
    pub fn time(&mut self, column: usize) -> Option<Time> {
        let bytes = self.bytes(column);
        whole_time(bytes)
            .or_else(|| plain_decimal(bytes).map(Time::from_seconds))
            .or_else(|| self.quantity(column, Time::from_cell))
    }

    /// Returns a bandwidth above 0, written as bytes per second or with a unit.
    pub fn bandwidth(&mut self, column: usize) -> Option<Bandwidth> {
        let bandwidth = self.quantity(column, Bandwidth::from_cell)?;
        if bandwidth.bytes_per_second() > 0.0 && bandwidth.bytes_per_second().is_finite() {
            return Some(bandwidth);
        }
        let diagnostic = Diagnostic::new("zero-bandwidth", "a bandwidth of 0 carries nothing")
            .label("a bandwidth above 0")
            .help("leave the link out");
        self.mistake(column, diagnostic);
        None
    }

    fn quantity<T>(&mut self, column: usize, parse: impl Fn(&str) -> Result<T, QuantityError>) -> Option<T> {
        let text = self.text(column)?;
        let diagnostic = if text.is_empty() {
            self.empty(column)
        } else {
            match parse(&text) {
                Ok(value) => return Some(value),
                Err(error) => Diagnostic::new("bad-quantity", error.to_string()),
            }
        };
        self.mistake(column, diagnostic);
        None
    }

    /// Returns a whole number, negative or not.
    pub fn integer(&mut self, column: usize) -> Option<i64> {
        let bytes = self.bytes(column);
        let number = match bytes {
            [b'-', digits @ ..] => whole_number(digits).map(|number| -(number as i64)),
            digits => whole_number(digits).map(|number| number as i64),
        };
        if number.is_none() {
            let text = String::from_utf8_lossy(bytes).into_owned();
            let diagnostic = match text.is_empty() {
                true => self.empty(column),
                false => Diagnostic::new("bad-number", format!("\"{text}\" is not a whole number")),
            };
            self.mistake(column, diagnostic.label("a whole number, like 3 or -12"));
        }
        number
    }

    /// Returns a finite number.
    pub fn decimal(&mut self, column: usize) -> Option<f64> {
        if let Some(number) = whole_number(self.bytes(column)).filter(|&number| number <= 1 << 53) {
            return Some(number as f64);
        }
        let text = self.text(column)?;
        let diagnostic = match text.parse::<f64>() {
            Ok(number) if number.is_finite() => return Some(number),
            _ if text.is_empty() => self.empty(column),
            _ => Diagnostic::new("bad-number", format!("\"{text}\" is not a number")),
        };
        self.mistake(column, diagnostic.label("a number, like 3 or -0.5"));
        None
    }

    /// Notes a mistake in a cell.
    pub fn mistake(&mut self, column: usize, diagnostic: Diagnostic) {
        let place = self.place(column);
        self.mistakes.push(diagnostic.at_place(place));
    }

    /// Notes a mistake in a part of a cell.
    pub fn mistake_in(&mut self, column: usize, part: Range<usize>, diagnostic: Diagnostic) {
        let start = self.cell(column).map_or(0, |cell| cell.start as usize);
        let place = place(self.file, self.line, self.text, start + part.start, part.len());
        self.mistakes.push(diagnostic.at_place(place));
    }

    #[inline]
    fn cell(&self, column: usize) -> Option<Cell> {
        self.header.positions[column].and_then(|position| self.cells.get(position)).copied()
    }

    fn place(&self, column: usize) -> Place {
        let (start, length) =
            self.cell(column).map_or((0, 1), |cell| (cell.start as usize, (cell.end - cell.start) as usize));
        place(self.file, self.line, self.text, start, length)
    }

    fn empty(&self, column: usize) -> Diagnostic {
        Diagnostic::new("empty-cell", format!("`{}` is empty", self.header.columns[column].name))
    }

    #[inline]
    fn has_all_cells(&mut self) -> bool {
        let (found, expected) = (self.cells.len(), self.header.width);
        if found != expected {
            self.wrong_width(found, expected);
        }
        found == expected
    }

    #[cold]
    fn wrong_width(&mut self, found: usize, expected: usize) {
        let count = |n: usize| format!("{n} {}", if n == 1 { "cell" } else { "cells" });
        let start = self.cells.get(expected).map_or(self.text.len(), |cell| cell.start as usize);
        let diagnostic =
            Diagnostic::new("wrong-width", format!("this line has {}, the header names {expected}", count(found)))
                .label(if found < expected { "cells are missing" } else { "nothing more is expected" })
                .help("separate cells by commas; an empty cell still needs its comma");
        let length = self.text.len() - start;
        let place = place(self.file, self.line, self.text, start, length);
        self.mistakes.push(diagnostic.at_place(place));
    }
}

impl Header {
    /// Finds the wanted columns in the line that names the columns.
    fn read(file: &str, line: u64, text: &[u8], cells: &[Cell], columns: &[Column]) -> Result<Self, Vec<Diagnostic>> {
        let named: Vec<Cow<'_, str>> =
            cells.iter().map(|cell| String::from_utf8_lossy(&text[cell.start as usize..cell.end as usize])).collect();
        let at = |i: usize| place(file, line, text, cells[i].start as usize, (cells[i].end - cells[i].start) as usize);
        let whole = || place(file, line, text, 0, text.len());
        let expected = names(columns);
        if named.iter().all(|name| name.starts_with(|c: char| c.is_ascii_digit())) {
            return Err(vec![
                Diagnostic::new("no-header", "the first line does not name the columns")
                    .at_place(whole())
                    .label("a header is expected")
                    .help(format!("start the file with the line `{expected}`")),
            ]);
        }
        let mut mistakes = Vec::new();
        let mut positions = vec![None; columns.len()];
        for (i, name) in named.iter().enumerate() {
            match columns.iter().position(|column| column.name == *name) {
                Some(column) if positions[column].is_some() => mistakes.push(
                    Diagnostic::new("duplicate-column", format!("there are two columns `{name}`")).at_place(at(i)),
                ),
                Some(column) => positions[column] = Some(i),
                None => mistakes.push(unknown_column(name, columns).at_place(at(i))),
            }
        }
        for (column, position) in columns.iter().zip(&positions) {
            if column.required && position.is_none() {
                mistakes.push(
                    Diagnostic::new("missing-column", format!("there is no column `{}`", column.name))
                        .at_place(whole())
                        .label(format!("the columns are {expected}")),
                );
            }
        }
        if mistakes.is_empty() {
            Ok(Self { columns: columns.to_vec(), positions, width: cells.len() })
        } else {
            Err(mistakes)
        }
    }
}

fn unknown_column(name: &str, columns: &[Column]) -> Diagnostic {
    let diagnostic = Diagnostic::new("unknown-column", format!("unknown column `{name}`"));
    if name.contains([';', '\t', ' ']) {
        return diagnostic.label("one cell").help("separate cells by commas");
    }
    match closest(name, columns.iter().map(|column| column.name)) {
        Some(near) => diagnostic.help(format!("write `{near}`")),
        None => diagnostic.help(format!("the columns are {}", names(columns))),
    }
}

/// Returns the columns as a header would name them.
fn names(columns: &[Column]) -> String {
    columns.iter().map(|column| column.name).collect::<Vec<_>>().join(",")
}

/// Returns the place of `length` bytes from byte `start` of a line.
fn place(file: &str, line: u64, text: &[u8], start: usize, length: usize) -> Place {
    let end = (start + length).min(text.len());
    let characters = |range: Range<usize>| String::from_utf8_lossy(&text[range]).chars().count();
    Place {
        file: file.to_owned(),
        line: usize::try_from(line).unwrap_or(usize::MAX),
        column: characters(0..start) + 1,
        text: String::from_utf8_lossy(text).trim_end_matches('\r').chars().take(SHOWN_LENGTH).collect(),
        length: characters(start..end).max(1),
    }
}

/// Result of [`split`].
struct Split {
    /// Length of the line without its end.
    length: usize,
    /// Start of the next line.
    next: usize,
    /// Range of misplaced quotes, with a message.
    misplaced_quotes: Option<(Range<usize>, &'static str)>,
}

/// Splits the line at the start of `bytes` into cells; a blank line or a comment has no cells.
///
/// Returns `None` if `bytes` does not contain the end of the line, or, at the end of the file (`last`), if
/// there is no further line.
fn split(bytes: &[u8], last: bool, cells: &mut Vec<Cell>) -> Option<Split> {
    cells.clear();
    let mut misplaced_quotes = None;
    let mut at = 0;
    loop {
        while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\r')) {
            at += 1;
        }
        let mut start = at;
        let mut end;
        let mut doubled = false;
        match bytes.get(at) {
            Some(b'#') if cells.is_empty() => {
                let length = bytes[at..].iter().position(|&b| b == b'\n').map(|i| at + i);
                return match length {
                    Some(length) => Some(Split { length, next: length + 1, misplaced_quotes: None }),
                    None => last.then_some(Split { length: bytes.len(), next: bytes.len(), misplaced_quotes: None }),
                };
            }
            Some(b'"') => {
                start += 1;
                at = start;
                loop {
                    match bytes.get(at) {
                        Some(b'"') if bytes.get(at + 1) == Some(&b'"') => {
                            doubled = true;
                            at += 2;
                        }
                        // The next byte, not yet read, may be a second quote.
                        Some(b'"') if at + 1 == bytes.len() && !last => return None,
                        Some(b'"') => break,
                        Some(b'\n') => break,
                        Some(_) => at += 1,
                        None if !last => return None,
                        None => break,
                    }
                }
                end = at;
                if bytes.get(at) == Some(&b'"') {
                    at += 1;
                    let after = at;
                    while !matches!(bytes.get(at), Some(b',' | b'\n') | None) {
                        at += 1;
                    }
                    if bytes[after..at].iter().any(|b| !matches!(b, b' ' | b'\t' | b'\r')) {
                        misplaced_quotes.get_or_insert((after..at, "text after the closing quote of a cell"));
                    }
                } else {
                    misplaced_quotes.get_or_insert((start - 1..at, "a quote is not closed on its line"));
                }
            }
            _ => {
                while let Some(&byte) = bytes.get(at) {
                    if byte == b',' || byte == b'\n' {
                        break;
                    }
                    at += 1;
                }
                end = at;
                while end > start && matches!(bytes[end - 1], b' ' | b'\t' | b'\r') {
                    end -= 1;
                }
            }
        }
        let next = bytes.get(at);
        if next.is_none() && (!last || (at == 0 && bytes.is_empty())) {
            return None;
        }
        let blank_line = cells.is_empty() && start == end && next != Some(&b',') && !bytes[..at].contains(&b'"');
        if !blank_line {
            cells.push(Cell { start: start as u32, end: end as u32, doubled });
        }
        match next {
            Some(b',') => at += 1,
            _ => return Some(Split { length: at, next: (at + 1).min(bytes.len()), misplaced_quotes }),
        }
    }
}

#[cfg(test)]
mod tests;

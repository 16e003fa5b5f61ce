//! Layout of tables and lines on narrow terminals.
//!
//! A table that is too wide is fitted in this order:
//!
//! 1. Headings are broken between words.
//! 2. Columns of text become narrower and continue on lines below.
//! 3. The less important columns at the right move below the others as a table of their own. The columns that
//!    identify a row are repeated there.
//!
//! Numbers are never broken, and nothing is left out. Other text is broken between words, but not between a
//! figure and its unit.

use super::written::Written;

/// Blanks between two columns.
const BETWEEN: usize = 2;
/// Smallest width of a column of text.
const LEAST_TEXT: usize = 14;

impl Written {
    /// Formats the table, aligned, with a light line under the headings; within `width` columns if possible.
    pub fn to_text(&self, width: Option<usize>) -> String {
        fit(self, width).iter().map(Self::aligned).collect::<Vec<_>>().join("\n")
    }
}

/// Splits a table into tables that fit `width` columns of a terminal.
pub(super) fn fit(table: &Written, width: Option<usize>) -> Vec<Written> {
    let whole = || vec![part(table, &(0..table.headings.len()).collect::<Vec<_>>())];
    let mut widths = table.widths();
    let long = match (table.sentence, widths.last_mut()) {
        (Some(most), Some(last)) if *last > most => {
            *last = most;
            true
        }
        _ => false,
    };
    let width = width.unwrap_or(usize::MAX);
    if total(&widths) <= width && !long {
        return whole();
    }
    let narrowest: Vec<usize> = (0..table.headings.len()).map(|column| narrowest(table, column)).collect();
    if total(&narrowest) <= width || table.headings.len() <= table.keys + 1 {
        return vec![narrowed(table, &narrowest, width)];
    }
    // Key columns that leave too little room for the other columns are not repeated.
    let room = (1..=table.keys).rev().find(|&keys| keys == 1 || total(&narrowest[..keys]) <= width / 3 * 2);
    let keys: Vec<usize> = (0..room.unwrap_or(0)).collect();
    let mut tables = Vec::new();
    let mut columns = keys.clone();
    for column in keys.len()..table.headings.len() {
        let with: Vec<usize> = columns.iter().chain([&column]).map(|&column| narrowest[column]).collect();
        if columns.len() > keys.len() && total(&with) > width {
            tables.push(part(table, &columns));
            columns.clone_from(&keys);
        }
        columns.push(column);
    }
    tables.push(part(table, &columns));
    // Each table has the same keys and at least one more column, so the recursion ends.
    tables.iter().flat_map(|table| fit(table, Some(width))).collect()
}

fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + BETWEEN * widths.len().saturating_sub(1)
}

/// Returns these columns of a table as a table.
fn part(table: &Written, columns: &[usize]) -> Written {
    let of = |cells: &[String]| columns.iter().map(|&at| cells.get(at).cloned().unwrap_or_default()).collect();
    Written {
        headings: of(&table.headings),
        texts: columns.iter().map(|&at| table.texts[at]).collect(),
        rows: table.rows.iter().map(|row| of(row)).collect(),
        keys: table.keys.min(columns.len()),
        sentence: table.sentence.filter(|_| columns.last() == Some(&(table.headings.len() - 1))),
    }
}

/// Returns the smallest width of a column.
fn narrowest(table: &Written, column: usize) -> usize {
    let word = |text: &str| text.split(' ').map(length).max().unwrap_or(0);
    let cells = table.rows.iter().filter_map(|row| row.get(column));
    let cells = match table.texts[column] {
        true => cells.map(|cell| length(cell).min(LEAST_TEXT)).max(),
        false => cells.map(|cell| length(cell)).max(),
    };
    word(&table.headings[column]).max(cells.unwrap_or(0))
}

/// Breaks headings, and then columns of text, until the table fits. `least` is the smallest width of each
/// column.
fn narrowed(table: &Written, least: &[usize], width: usize) -> Written {
    let cell_widths: Vec<usize> = (0..table.headings.len())
        .map(|at| table.rows.iter().filter_map(|row| row.get(at)).map(|cell| length(cell)).max().unwrap_or(0))
        .collect();
    // Headings shrink to the cells below them first, then the widest text, a character at a time.
    let mut widths: Vec<usize> = cell_widths.iter().zip(least).map(|(cells, least)| *cells.max(least)).collect();
    if let (Some(most), Some(last)) = (table.sentence, widths.last_mut()) {
        *last = most.min(*last);
    }
    while total(&widths) > width {
        let wider = |&at: &usize| table.texts[at] && widths[at] > least[at];
        match (0..widths.len()).filter(wider).max_by_key(|&at| widths[at]) {
            Some(at) => widths[at] -= 1,
            None => break,
        }
    }
    // Remaining room goes to broken headings, from the left.
    let mut left = width.saturating_sub(total(&widths));
    for (at, heading) in table.headings.iter().enumerate() {
        let more = length(heading).saturating_sub(widths[at]);
        if more <= left {
            widths[at] += more;
            left -= more;
        }
    }
    let broken = |cells: &[String], all: bool| {
        let cells = cells.iter().zip(&widths).enumerate();
        cells
            .map(
                |(at, (cell, &width))| {
                    if all || table.texts[at] { lines(cell, width).join("\n") } else { cell.clone() }
                },
            )
            .collect()
    };
    Written {
        headings: broken(&table.headings, true),
        texts: table.texts.clone(),
        rows: table.rows.iter().map(|row| broken(row, false)).collect(),
        keys: table.keys,
        sentence: None,
    }
}

/// Breaks a text between words into lines of `width` columns, at least one line. A longer word is broken
/// after a sign inside it, or else at any place that is not inside a number.
pub(super) fn lines(text: &str, width: usize) -> Vec<String> {
    let indent: String = text.chars().take_while(|c| *c == ' ').collect();
    let mut lines = vec![indent];
    let mut begun = false;
    for word in words(text.trim()) {
        let mut word = word;
        loop {
            let line = lines.last_mut().map(|line| (length(line), line));
            let Some((there, line)) = line else { break };
            let room = width.saturating_sub(there + usize::from(begun));
            if length(word) <= room || (!begun && width == 0) {
                if begun {
                    line.push(' ');
                }
                line.push_str(word);
                begun = true;
                break;
            }
            if begun {
                lines.push(String::new());
                begun = false;
                continue;
            }
            let at = break_of(word, room.max(1));
            line.push_str(&word[..at]);
            word = &word[at..];
            if word.is_empty() {
                begun = true;
                break;
            }
            lines.push(String::new());
        }
    }
    lines
}

/// Splits a text into words; a figure and its unit are one word.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut start = 0;
    for (at, _) in text.match_indices(' ') {
        let is_unit = |word: &str| UNITS.contains(&word.trim_end_matches([',', ';', '.', ':', ')']));
        let figure = text[start..at].ends_with(|c: char| c.is_ascii_digit());
        let next = text[at + 1..].split(' ').next().unwrap_or("");
        if figure && is_unit(next) {
            continue;
        }
        words.push(&text[start..at]);
        start = at + 1;
    }
    words.push(&text[start..]);
    words.retain(|word| !word.is_empty());
    words
}

/// Words that stay with the figure before them.
const UNITS: [&str; 26] = [
    "ps", "ns", "us", "ms", "s", "B", "KB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "B/s", "KB/s", "MB/s", "GB/s",
    "TB/s", "%", "k", "M", "G", "k/s", "M/s", "G/s", "/s",
];

/// Returns the position at which a word of more than `room` columns is broken: after the last sign that fits,
/// else before a character that is no part of a number, else after the whole number.
fn break_of(word: &str, room: usize) -> usize {
    let chars: Vec<(usize, char)> = word.char_indices().collect();
    let mut used = 0;
    let (mut sign, mut other) = (None, None);
    for (i, &(at, c)) in chars.iter().enumerate() {
        used += length(c.encode_utf8(&mut [0; 4]));
        if used > room {
            break;
        }
        let end = at + c.len_utf8();
        let next = chars.get(i + 1).map(|&(_, next)| next);
        let number = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',');
        if i > 0
            && matches!(c, '-' | '/' | '_' | ':' | ',' | '>' | '(' | ')')
            && !next.is_some_and(|c| c.is_ascii_digit())
        {
            sign = Some(end);
        }
        if !(number(c) && next.is_some_and(number)) {
            other = Some(end);
        }
    }
    sign.or(other).unwrap_or_else(|| {
        // The number is longer than the line.
        let rest = chars.iter().find(|(_, c)| !(c.is_ascii_digit() || matches!(c, '.' | ',')));
        rest.map_or(word.len(), |&(at, c)| at + c.len_utf8())
    })
}

/// Breaks lines that are longer than the terminal is wide. Further lines are indented to the text of the
/// first one.
pub(super) fn wrap(text: &str, width: Option<usize>) -> String {
    let Some(width) = width.filter(|&width| text.lines().any(|line| length(line) > width)) else {
        return text.to_owned();
    };
    let mut out = String::with_capacity(text.len() + 64);
    for line in text.split_inclusive('\n') {
        let (body, end) = line.strip_suffix('\n').map_or((line, ""), |body| (body, "\n"));
        if length(body) <= width {
            out.push_str(line);
            continue;
        }
        let indent = hanging(body).min(width / 2);
        let (label, rest) = body.split_at(byte_of(body, indent));
        out.push_str(label);
        let blank = " ".repeat(indent);
        out.push_str(&lines(rest.trim_start(), width - indent).join(&format!("\n{blank}")));
        out.push_str(end);
    }
    out
}

/// Returns the column at which the text of a line begins: after its indentation, or after a label and its
/// blanks.
fn hanging(line: &str) -> usize {
    let begin = line.len() - line.trim_start().len();
    if begin > 0 {
        return begin;
    }
    match line.find("  ").filter(|&label| label <= 20) {
        Some(label) => {
            let rest = &line[label..];
            length(&line[..label]) + rest.len() - rest.trim_start().len()
        }
        None => 0,
    }
}

fn byte_of(text: &str, characters: usize) -> usize {
    text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at)
}

/// Returns the columns of a terminal that a text takes; wide characters take two.
fn length(text: &str) -> usize {
    text.chars().map(|c| if is_wide(c) { 2 } else { 1 }).sum()
}

/// True for East Asian wide characters. A wide character that is missing here only makes a line too long.
fn is_wide(c: char) -> bool {
    matches!(u32::from(c), 0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0xfe30..=0xfe6f
        | 0xff00..=0xff60 | 0xffe0..=0xffe6 | 0x1f300..=0x1faff | 0x20000..=0x3fffd)
}

#[cfg(test)]
mod tests;

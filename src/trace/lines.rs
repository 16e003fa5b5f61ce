//! Reader of texts of any size, line by line, with a place for every mistake.

use std::io::{ErrorKind, Read};
use std::ops::{ControlFlow, Range};

use crate::diagnostic::{Diagnostic, Place};
use crate::reading::Input;

/// Size of one read \[B\].
const CHUNK: usize = 1 << 20;
/// Longest line \[B\]. A collective with a count for each of a million ranks needs less.
const LONGEST_LINE: usize = 16 << 20;
/// Number of mistakes after which the rest of a file is not read.
const MOST_MISTAKES: usize = 20;
/// Largest part of a line that a message shows, in characters.
const MAX_SHOWN_CHARS: usize = 400;

/// A line of a file.
#[derive(Clone, Copy)]
pub(crate) struct Line<'a> {
    /// Name of the file, for messages.
    pub file: &'a str,
    /// Number of the line, from 1.
    pub number: u64,
    /// Text of the line, without its end.
    pub text: &'a [u8],
}

impl<'a> Line<'a> {
    /// Creates a mistake at these bytes of the line.
    #[cold]
    pub fn mistake(&self, range: Range<usize>, code: &'static str, message: impl Into<String>) -> Diagnostic {
        let end = range.end.min(self.text.len());
        let start = range.start.min(end);
        let characters = |range: Range<usize>| String::from_utf8_lossy(&self.text[range]).chars().count();
        Diagnostic::new(code, message).at_place(Place {
            file: self.file.to_owned(),
            line: usize::try_from(self.number).unwrap_or(usize::MAX),
            column: characters(0..start) + 1,
            text: String::from_utf8_lossy(&self.text[..self.text.len().min(4 * MAX_SHOWN_CHARS)])
                .chars()
                .take(MAX_SHOWN_CHARS)
                .collect(),
            length: characters(start..end).max(1),
        })
    }

    /// Iterates over the words of the line, separated by blanks, each with its range.
    pub fn words(&self) -> impl Iterator<Item = (Range<usize>, &'a [u8])> + use<'a> {
        let text = self.text;
        let mut at = 0;
        std::iter::from_fn(move || {
            let start = at + text[at..].iter().position(|byte| !byte.is_ascii_whitespace())?;
            let length = text[start..].iter().position(u8::is_ascii_whitespace).unwrap_or(text.len() - start);
            at = start + length;
            Some((start..at, &text[start..at]))
        })
    }

    /// Returns the whole line as text, without blanks around it.
    pub fn trimmed(&self) -> String {
        String::from_utf8_lossy(self.text).trim().to_owned()
    }

    /// Returns a part of the line as text, for messages.
    pub fn show(&self, range: Range<usize>) -> String {
        String::from_utf8_lossy(&self.text[range]).chars().take(40).collect()
    }
}

/// Reads a file line by line, up to its end or until `each` breaks.
///
/// # Errors
/// All mistakes that `each` returns, and those of reading. After 20 the rest is not read.
pub(crate) fn each_line(
    mut input: Input,
    mut each: impl FnMut(Line<'_>) -> Result<ControlFlow<()>, Diagnostic>,
) -> Result<(), Vec<Diagnostic>> {
    let file = input.name().to_owned();
    let mut mistakes = Vec::new();
    let mut buffer = vec![0; CHUNK];
    let (mut filled, mut number, mut at_end) = (0, 0, false);
    while !at_end {
        if filled >= LONGEST_LINE {
            let line = Line { file: &file, number: number + 1, text: &buffer[..MAX_SHOWN_CHARS] };
            mistakes.push(
                line.mistake(0..1, "line-too-long", format!("a line is longer than {LONGEST_LINE} bytes"))
                    .help("this does not look like a trace; is it the right file?"),
            );
            break;
        }
        if buffer.len() < filled + CHUNK / 2 {
            buffer.resize(2 * buffer.len(), 0);
        }
        let before = filled;
        while filled < buffer.len() && !at_end {
            match input.read(&mut buffer[filled..]) {
                Ok(0) => at_end = true,
                Ok(count) => filled += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    // The lines read so far are still processed, since a truncated file ends at an arbitrary place.
                    let message = format!("cannot read `{file}` beyond line {}: {error}", number + 1);
                    mistakes.push(Diagnostic::new("unreadable-file", message));
                    at_end = true;
                }
            }
        }
        // Only new bytes can contain the end of the line that was begun.
        let mut start = 0;
        let mut from = before;
        loop {
            let end = match buffer[from..filled].iter().position(|&byte| byte == b'\n') {
                Some(length) => from + length,
                None if at_end && start < filled => filled,
                None => break,
            };
            number += 1;
            let mut text = &buffer[start..end];
            if let Some(rest) = text.strip_suffix(b"\r") {
                text = rest;
            }
            (start, from) = (end + 1, end + 1);
            match each(Line { file: &file, number, text }) {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(())) => return if mistakes.is_empty() { Ok(()) } else { Err(mistakes) },
                Err(mistake) => mistakes.push(mistake),
            }
            if mistakes.len() >= MOST_MISTAKES {
                let message = format!("there are {MOST_MISTAKES} mistakes or more; the rest of `{file}` was not read");
                mistakes.push(Diagnostic::new("too-many-mistakes", message));
                return Err(mistakes);
            }
            if start >= filled {
                break;
            }
        }
        let start = start.min(filled);
        buffer.copy_within(start..filled, 0);
        filled -= start;
    }
    if mistakes.is_empty() { Ok(()) } else { Err(mistakes) }
}

/// Parses a whole number of decimal digits; `None` for anything else and for more than 64 bits.
#[inline]
pub(crate) fn whole(bytes: &[u8]) -> Option<u64> {
    if bytes.is_empty() || bytes.len() > 20 {
        return None;
    }
    let mut value: u64 = 0;
    for &byte in bytes {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(digit.into())?;
    }
    Some(value)
}

/// Parses a whole number with or without a minus.
pub(crate) fn signed(bytes: &[u8]) -> Option<i64> {
    match bytes.strip_prefix(b"-") {
        Some(digits) => whole(digits).and_then(|value| 0_i64.checked_sub_unsigned(value)),
        None => whole(bytes).and_then(|value| value.try_into().ok()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8]) -> Vec<(u64, String)> {
        let mut lines = Vec::new();
        each_line(Input::from_bytes("x", text.to_vec()), |line| {
            lines.push((line.number, String::from_utf8(line.text.to_vec()).unwrap()));
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
        lines
    }

    #[test]
    fn lines_end_in_any_way_and_the_last_one_need_not() {
        assert_eq!(lines(b""), []);
        assert_eq!(lines(b"a\nb\r\n\nc"), [(1, "a".into()), (2, "b".into()), (3, "".into()), (4, "c".into())]);
        assert_eq!(lines(b"a\n"), [(1, "a".into())]);
    }

    #[test]
    fn lines_longer_than_a_read_are_whole() {
        let mut text = vec![b'x'; 3 * CHUNK];
        text.push(b'\n');
        text.extend_from_slice(&[b'y'; 10]);
        let lines = lines(&text);
        assert_eq!((lines[0].1.len(), lines[1].1.len()), (3 * CHUNK, 10));
    }

    #[test]
    fn a_file_without_lines_is_given_up() {
        let input = Input::from_bytes("x", vec![0; LONGEST_LINE + 2 * CHUNK]);
        let mistakes = each_line(input, |_| Ok(ControlFlow::Continue(()))).unwrap_err();
        assert_eq!(mistakes[0].code, "line-too-long");
    }

    #[test]
    fn numbers_are_read_to_their_last_value() {
        assert_eq!(whole(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(whole(b"18446744073709551616"), None);
        assert_eq!((whole(b""), whole(b"1x"), whole(b"+1")), (None, None, None));
        assert_eq!((signed(b"-9223372036854775808"), signed(b"-")), (Some(i64::MIN), None));
    }
}

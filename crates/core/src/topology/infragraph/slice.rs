//! Ends of edges: `server[0:4]`, `cx5[0].port[::2]`.

use crate::diagnostic::Span;

/// Name and slice, as written in the file.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub name: String,
    pub slice: Slice,
    pub span: Span,
}

/// Selection of some components out of a number of equal ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Slice {
    /// `xpu`.
    All,
    /// `xpu[3]`.
    One(i64),
    /// `xpu[start:stop:step]`; each number may be left out.
    Range(Option<i64>, Option<i64>, Option<i64>),
}

/// Numbers `start`, `start + step` ..., `len` of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Progression {
    pub start: i64,
    pub step: i64,
    pub len: u64,
}

/// Returns the parts of `names[slice].names[slice]`, or `None` if one of them has another form.
pub(super) fn parts(text: &str, span: Span) -> Option<Vec<Part>> {
    text.split('.').map(|text| part(text.trim(), span)).collect()
}

/// Returns one part.
pub(super) fn part(text: &str, span: Span) -> Option<Part> {
    let (name, slice) = match text.split_once('[') {
        None => (text, Slice::All),
        Some((name, rest)) => (name, slice(rest.strip_suffix(']')?)?),
    };
    (!name.is_empty()).then(|| Part { name: name.to_owned(), slice, span })
}

fn slice(text: &str) -> Option<Slice> {
    let number = |text: &str| text.trim().parse::<i64>().ok().filter(|number| number.unsigned_abs() < 1 << 32);
    let pieces: Vec<&str> = text.split(':').take(4).collect();
    if let [one] = pieces[..] {
        return number(one).map(Slice::One);
    }
    if pieces.len() > 3 {
        return None;
    }
    let mut bounds = [None; 3];
    for (bound, piece) in bounds.iter_mut().zip(&pieces) {
        if !piece.trim().is_empty() {
            *bound = Some(number(piece)?);
        }
    }
    let [start, stop, step] = bounds;
    Some(Slice::Range(start, stop, step))
}

impl Slice {
    /// Returns the numbers out of `count` that the slice selects, as Python's `range(start, stop, step)`.
    /// Returns `None` if it selects none, or one that does not exist.
    pub fn of(self, count: u32) -> Option<Progression> {
        let count = i64::from(count);
        let (start, stop, step) = match self {
            Self::All => (0, count, 1),
            Self::One(index) => (index, index + 1, 1),
            Self::Range(start, stop, step) => match step.unwrap_or(1) {
                0 => return None,
                step @ 1.. => (start.unwrap_or(0), stop.unwrap_or(count), step),
                step => (start.unwrap_or(count - 1), stop.unwrap_or(-1), step),
            },
        };
        let span = if step > 0 { stop - start } else { start - stop };
        if span <= 0 {
            return None;
        }
        let len = (span + step.abs() - 1) / step.abs();
        let last = start + (len - 1) * step;
        let is_there = |index: i64| (0..count).contains(&index);
        (is_there(start) && is_there(last)).then_some(Progression { start, step, len: len as u64 })
    }
}

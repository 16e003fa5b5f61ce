//! Files of records: chunks of one size, each with the order of its bytes.

use std::io::Read;

use super::layout::{Fields, Layout, Values};
use crate::reading::Input;
use crate::trace::fault::{Fault, fault};

/// First byte of a chunk.
pub(super) const CHUNK: u8 = 3;
/// Orders of bytes.
pub(super) const BIG: u8 = 0x23;
pub(super) const LITTLE: u8 = 0x42;
/// Kinds of the records that end a chunk and the file, and of the time of the events that follow.
pub(super) const END_OF_CHUNK: u8 = 0;
pub(super) const END_OF_FILE: u8 = 2;
pub(super) const TIME: u8 = 5;
/// Bytes before the records of a chunk: kind, order of bytes, numbers of its first and last record \[B\].
pub(super) const HEAD: usize = 18;

/// Returns true if the byte says that integers begin with their most significant byte.
pub(super) fn is_big(order: u8, at: u64) -> Result<bool, Fault> {
    match order {
        BIG => Ok(true),
        LITTLE => Ok(false),
        other => fault(at, format!("byte {other:#04x} is no order of bytes; {BIG:#04x} or {LITTLE:#04x} is expected")),
    }
}

/// Records of a file, one after the other. Memory: a chunk.
pub(super) struct Records {
    input: Input,
    /// Size of all chunks but the last \[B\].
    size: u64,
    chunk: Vec<u8>,
    next: usize,
    /// Offset of the chunk in the file.
    base: u64,
    is_big: bool,
    has_times: bool,
    time: u64,
    layout_of: fn(u8) -> Option<Layout>,
    is_done: bool,
}

/// A record.
pub(super) struct Record<'a> {
    pub kind: u8,
    /// Offset in the file.
    pub at: u64,
    /// Time of an event, in ticks of its location.
    pub time: u64,
    pub values: Values<'a>,
    /// Bytes after the fields of the layout.
    pub rest: Fields<'a>,
}

impl Records {
    /// Creates a reader of records whose fields `layout_of` gives; others are skipped. Files of events have times.
    pub fn new(input: Input, size: u64, has_times: bool, layout_of: fn(u8) -> Option<Layout>) -> Self {
        let (chunk, is_big) = (Vec::new(), false);
        Self { input, size, chunk, next: 0, base: 0, is_big, has_times, time: 0, layout_of, is_done: false }
    }

    /// Name of the file.
    pub fn name(&self) -> &str {
        self.input.name()
    }

    /// Reads the next chunk.
    fn load(&mut self) -> Result<(), Fault> {
        self.base += self.chunk.len() as u64;
        self.chunk.clear();
        let read = (&mut self.input).take(self.size).read_to_end(&mut self.chunk);
        if let Err(error) = read {
            return fault(self.base, format!("cannot be read: {error}"));
        }
        let mut head = Fields { bytes: &self.chunk, next: 0, base: self.base, is_big: false };
        match head.byte() {
            Ok(CHUNK) => {}
            Ok(kind) => return fault(self.base, format!("a chunk begins with byte {kind}, and {CHUNK} is expected")),
            Err(_) => return fault(self.base, "the file ends where a chunk or the end of the file is expected"),
        }
        self.is_big = is_big(head.byte()?, self.base + 1)?;
        head.part(HEAD as u64 - 2)?;
        self.next = HEAD;
        Ok(())
    }

    /// Returns the next record that has a meaning; `None` at the end of the file.
    #[inline]
    pub fn next(&mut self) -> Result<Option<Record<'_>>, Fault> {
        let Some((kind, layout, start, end)) = self.find()? else { return Ok(None) };
        let base = self.base + start as u64;
        let mut rest = Fields { bytes: &self.chunk[start..end], next: 0, base, is_big: self.is_big };
        let values = layout.read(&mut rest)?;
        if !layout.length {
            self.next = start + rest.next;
        }
        Ok(Some(Record { kind, at: base, time: self.time, values, rest }))
    }

    /// Finds the next record that has a meaning: its kind, and the range of its fields in the chunk.
    #[inline]
    fn find(&mut self) -> Result<Option<(u8, Layout, usize, usize)>, Fault> {
        if self.chunk.is_empty() && !self.is_done {
            self.load()?;
        }
        while !self.is_done {
            let at = self.base + self.next as u64;
            let mut from = Fields { bytes: &self.chunk, next: self.next, base: self.base, is_big: self.is_big };
            if from.is_empty() {
                return fault(at, "the file ends where a record or the end of the file is expected");
            }
            match from.byte()? {
                END_OF_CHUNK if (self.chunk.len() as u64) < self.size => {
                    return fault(at, format!("the chunk ends before its {} bytes", self.size));
                }
                END_OF_CHUNK => self.load()?,
                END_OF_FILE => self.is_done = true,
                TIME if self.has_times => {
                    let time = from.whole(8)?;
                    if time < self.time {
                        return fault(at, format!("time {time} comes after {}: the clock runs backwards", self.time));
                    }
                    (self.time, self.next) = (time, from.next);
                }
                kind => match (self.layout_of)(kind) {
                    Some(layout) if !layout.length => return Ok(Some((kind, layout, from.next, self.chunk.len()))),
                    layout => {
                        let length = from.record()?.bytes.len();
                        self.next = from.next;
                        if let Some(layout) = layout {
                            return Ok(Some((kind, layout, from.next - length, from.next)));
                        }
                    }
                },
            }
        }
        Ok(None)
    }
}

//! Bytes of a file: numbers in network byte order, each with its offset.

use crate::trace::fault::{Fault, mistake};

/// Position in the bytes of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    /// Offset of the next byte in the file \[B\].
    pub at: usize,
    /// Set if the bytes have no end that the file names, so that their end is that of a file cut off.
    open: bool,
}

impl<'a> Cursor<'a> {
    /// Starts at an offset of a file and ends at another. `open`: the file names no end.
    pub fn new(bytes: &'a [u8], at: usize, end: usize, open: bool) -> Self {
        Self { bytes: &bytes[..end.min(bytes.len())], at, open }
    }

    /// Returns the number of bytes left.
    pub fn left(&self) -> usize {
        self.bytes.len().saturating_sub(self.at)
    }

    /// Takes bytes.
    pub fn take(&mut self, count: usize, what: &'static str) -> Result<&'a [u8], Fault> {
        let left = self.left();
        if left < count {
            let code = if self.open { "truncated-trace" } else { "damaged-trace" };
            let what = format!("{left} bytes are left where {what} of {count} bytes is expected");
            return mistake(code, self.at as u64, what);
        }
        let taken = &self.bytes[self.at..self.at + count];
        self.at += count;
        Ok(taken)
    }

    /// Takes a whole number of at most eight bytes.
    fn number(&mut self, width: usize) -> Result<u64, Fault> {
        let bytes = self.take(width, "a number")?;
        Ok(bytes.iter().fold(0, |value, &byte| value << 8 | u64::from(byte)))
    }

    pub fn u8(&mut self) -> Result<u8, Fault> {
        self.number(1).map(|value| value as u8)
    }

    pub fn u16(&mut self) -> Result<u16, Fault> {
        self.number(2).map(|value| value as u16)
    }

    pub fn u32(&mut self) -> Result<u32, Fault> {
        self.number(4).map(|value| value as u32)
    }

    pub fn i32(&mut self) -> Result<i32, Fault> {
        self.u32().map(|value| value as i32)
    }

    pub fn u64(&mut self) -> Result<u64, Fault> {
        self.number(8)
    }

    /// Takes the number of elements of an array whose elements have at least `width` bytes. The bytes of all
    /// of them are there.
    pub fn count(&mut self, width: usize) -> Result<usize, Fault> {
        let at = self.at;
        let count = self.u32()? as usize;
        if count.saturating_mul(width) > self.left() {
            let code = if self.open && count < 1 << 28 { "truncated-trace" } else { "damaged-trace" };
            let what = format!("an array claims {count} elements, and {} bytes are left", self.left());
            return mistake(code, at as u64, what);
        }
        Ok(count)
    }

    /// Takes a text with its length in two bytes.
    pub fn text(&mut self) -> Result<String, Fault> {
        let length = self.u16()?;
        Ok(String::from_utf8_lossy(self.take(length.into(), "a text")?).into_owned())
    }
}

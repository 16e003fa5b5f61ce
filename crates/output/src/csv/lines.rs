//! Lines that are written while a run goes on.

use std::io::{self, Write};

/// A table that grows line by line. The first failure is kept for [`finish`](Self::finish), and nothing is written
/// after it.
#[derive(Debug)]
pub(super) struct Lines<W> {
    writer: W,
    error: Option<io::Error>,
}

impl<W: Write> Lines<W> {
    /// Writes the header.
    pub fn new(mut writer: W, header: &str) -> io::Result<Self> {
        writer.write_all(header.as_bytes())?;
        Ok(Self { writer, error: None })
    }

    /// Writes one line.
    #[inline]
    pub fn write(&mut self, line: impl FnOnce(&mut W) -> io::Result<()>) {
        if self.error.is_none() {
            self.error = line(&mut self.writer).err();
        }
    }

    /// Whether a write has failed: then going on is in vain.
    pub fn failed(&self) -> bool {
        self.error.is_some()
    }

    /// The writer, all lines being written; or the first failure.
    pub fn finish(self) -> io::Result<W> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(self.writer),
        }
    }
}

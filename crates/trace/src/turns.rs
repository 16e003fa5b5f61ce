//! Threads of the events of a chunk.
//!
//! Events of several threads of a rank stand in one stream, in the order in which their calls returned.
//! Changes of the thread are stored in a column of their own, as numbers:
//!
//! ```text
//! events of the chunk since the change before (or the chunk's begin, where it is thread 0)
//! thread
//! ```

use crate::code::{Cursor, put};

/// Writes the column of a chunk.
#[derive(Debug, Default)]
pub(crate) struct ThreadWriter {
    thread: u32,
    /// Number of events of the chunk before the last change.
    turned: u64,
}

impl ThreadWriter {
    /// Appends the thread of the event after `pending` others of the chunk, if it has changed.
    #[inline]
    pub(crate) fn write(&mut self, out: &mut Vec<u8>, pending: u64, thread: u32) {
        if thread != self.thread {
            put(out, pending - self.turned);
            put(out, thread.into());
            *self = Self { thread, turned: pending };
        }
    }
}

/// Reads the column of a chunk.
#[derive(Debug, Default)]
pub(crate) struct ThreadReader {
    thread: u32,
    /// Number of events before the next change; `None` if there is none.
    before: Option<u64>,
}

impl ThreadReader {
    /// Begins a chunk.
    pub(crate) fn begin(cursor: &mut Cursor, bytes: &[u8]) -> Self {
        Self { thread: 0, before: cursor.take(bytes) }
    }

    /// Returns the thread of the next event; `None` if the column is cut off or invalid.
    #[inline]
    pub(crate) fn next(&mut self, cursor: &mut Cursor, bytes: &[u8]) -> Option<u32> {
        while self.before == Some(0) {
            self.thread = u32::try_from(cursor.take(bytes)?).ok()?;
            self.before = if cursor.left() > 0 { Some(cursor.take(bytes)?) } else { None };
        }
        self.before = self.before.map(|events| events - 1);
        Some(self.thread)
    }
}

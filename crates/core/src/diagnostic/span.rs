//! Ranges of bytes in the texts that were read.

use serde::{Deserialize, Serialize};

/// A range of bytes in one of the texts of a [`Sources`](super::Sources). Positions count through all texts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// Creates the range `start..end`.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end: end.max(start) }
    }
}

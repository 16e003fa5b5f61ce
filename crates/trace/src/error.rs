//! Errors of reading a trace.

use std::io;

/// Reason why a trace cannot be read any further. All items before it are right and can be used.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The system failed.
    #[error("{error}")]
    Io {
        /// Error of the system.
        #[from]
        error: io::Error,
    },
    /// The trace ends in the middle of something.
    #[error("the trace ends in the middle of {what}")]
    Truncated {
        /// Item that is cut off.
        what: &'static str,
        /// Begin of that item \[B from the start\].
        offset: u64,
    },
    /// The trace is damaged, or is not a trace.
    #[error("{what}")]
    Damaged {
        /// Description of the damage.
        what: String,
        /// Begin of the damaged part \[B from the start\].
        offset: u64,
    },
}

impl ReadError {
    /// Returns the begin of the damaged part in the trace \[B\].
    pub fn offset(&self) -> Option<u64> {
        match self {
            Self::Io { .. } => None,
            Self::Truncated { offset, .. } | Self::Damaged { offset, .. } => Some(*offset),
        }
    }
}

//! Why a trace cannot be read.

use std::io;

/// Why a trace cannot be read on. All items before it were right and can be used.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The system failed.
    #[error("{error}")]
    Io {
        /// How.
        #[from]
        error: io::Error,
    },
    /// The trace ends in the middle of something.
    #[error("the trace ends in the middle of {what}")]
    Truncated {
        /// Of what.
        what: &'static str,
        /// Where that began \[B from the start\].
        offset: u64,
    },
    /// The trace is damaged, or no trace.
    #[error("{what}")]
    Damaged {
        /// What is wrong.
        what: String,
        /// Where the damaged part begins \[B from the start\].
        offset: u64,
    },
}

impl ReadError {
    /// Where in the trace the damaged part begins \[B\].
    pub fn offset(&self) -> Option<u64> {
        match self {
            Self::Io { .. } => None,
            Self::Truncated { offset, .. } | Self::Damaged { offset, .. } => Some(*offset),
        }
    }
}

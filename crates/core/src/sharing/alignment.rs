//! Alignment of links in memory.

use std::fmt::Debug;

/// State of a link that a policy keeps.
pub trait Aligned: Debug {
    /// Alignment of a link, which is a cache line or half of one: a link that fits there is in one line.
    type Alignment: Copy + Debug + Send;
}

/// Alignment to a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct WholeLine;

/// Alignment to half of a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub struct HalfLine;

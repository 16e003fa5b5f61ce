//! Chunks: what a stream consists of after its signature.
//!
//! ```text
//! kind u8 | coding u8 | raw length u32 | stored length u32 | CRC-32 of the stored bytes u32 | stored bytes
//! ```
//! Numbers are little-endian. Coding 0: as they are; 1: a zstd frame. A kind in lowercase may be skipped by a reader
//! that does not know it.

/// Bytes before the content.
pub(crate) const HEAD: usize = 14;

/// Longest content, compressed or not \[B\]: what a reader may be made to allocate by a damaged length.
pub(crate) const LONGEST: usize = 16 << 20;

pub(crate) const STORED: u8 = 0;
pub(crate) const ZSTD: u8 = 1;

/// The header of the stream.
pub(crate) const HEADER: u8 = b'H';
/// Call sites.
pub(crate) const SITES: u8 = b'S';
/// Communicators.
pub(crate) const COMMUNICATORS: u8 = b'C';
/// Events.
pub(crate) const EVENTS: u8 = b'E';
/// A named text or file, like the memory map of the process.
pub(crate) const NOTE: u8 = b'n';
/// The end of the stream: number of events, number of calls lost.
pub(crate) const END: u8 = b'Z';

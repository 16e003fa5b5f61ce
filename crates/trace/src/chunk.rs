//! Chunks, which follow the signature of a stream.
//!
//! ```text
//! kind u8 | coding u8 | raw length u32 | stored length u32 | CRC-32 u32 | stored bytes
//! ```
//! Numbers are little-endian. Coding 0: stored unchanged; 1: a zstd frame. A reader may skip an unknown chunk
//! whose kind is in lowercase. The checksum covers the stored bytes, then kind and coding; in older files the
//! stored bytes alone, which readers accept too.

use std::io::{self, Read, Write};

use crate::ReadError;
use crate::code::Crc;

/// Bytes before the content.
pub(crate) const HEAD: usize = 14;

/// Longest content, compressed or not \[B\]: limits the memory that a damaged length makes a reader allocate.
pub(crate) const MAX_CONTENT_BYTES: usize = 16 << 20;

pub(crate) const STORED: u8 = 0;
pub(crate) const ZSTD: u8 = 1;

/// The header of the stream.
pub(crate) const HEADER: u8 = b'H';
/// Call sites.
pub(crate) const SITES: u8 = b'S';
/// Callers of the call sites in the next chunk of sites.
pub(crate) const PATHS: u8 = b'p';
/// Communicators.
pub(crate) const COMMUNICATORS: u8 = b'C';
/// Events.
pub(crate) const EVENTS: u8 = b'E';
/// Names of regions.
pub(crate) const REGIONS: u8 = b'r';
/// Memory accesses.
pub(crate) const ACCESSES: u8 = b'A';
/// A named text or file, such as the memory map of the process.
pub(crate) const NOTE: u8 = b'n';
/// End of the stream: number of events, number of calls lost.
pub(crate) const END: u8 = b'Z';

/// Returns the head of a chunk; `crc` covers the stored bytes.
pub(crate) fn head(kind: u8, coding: u8, raw: usize, stored: usize, mut crc: Crc) -> [u8; HEAD] {
    let mut head = [0; HEAD];
    head[0] = kind;
    head[1] = coding;
    crc.add(&head[..2]);
    head[2..6].copy_from_slice(&(raw as u32).to_le_bytes());
    head[6..10].copy_from_slice(&(stored as u32).to_le_bytes());
    head[10..14].copy_from_slice(&crc.value().to_le_bytes());
    head
}

/// Compresses chunks; keeps its memory from one to the next.
pub(crate) struct Packer {
    compressor: zstd::bulk::Compressor<'static>,
    stored: Vec<u8>,
}

impl Packer {
    pub(crate) fn new(level: i32) -> io::Result<Self> {
        Ok(Self { compressor: zstd::bulk::Compressor::new(level)?, stored: Vec::new() })
    }

    /// Writes `raw` as a chunk, compressed if requested and shorter.
    pub(crate) fn write(&mut self, out: &mut impl Write, kind: u8, raw: &[u8], compress: bool) -> io::Result<()> {
        if raw.len() > MAX_CONTENT_BYTES {
            return Err(io::Error::other(format!(
                "{} bytes are more than a chunk of a trace holds ({MAX_CONTENT_BYTES})",
                raw.len()
            )));
        }
        let (mut coding, mut bytes) = (STORED, raw);
        if compress {
            self.stored.resize(zstd::zstd_safe::compress_bound(raw.len()), 0);
            let length = self.compressor.compress_to_buffer(raw, &mut self.stored[..])?;
            if length < raw.len() {
                (coding, bytes) = (ZSTD, &self.stored[..length]);
            }
        }
        let mut crc = Crc::new();
        crc.add(bytes);
        out.write_all(&head(kind, coding, raw.len(), bytes.len(), crc))?;
        out.write_all(bytes)
    }
}

/// Reads chunks one after another, and knows the offset of each.
#[derive(Debug)]
pub(crate) struct Chunks<R> {
    input: R,
    /// Bytes read.
    offset: u64,
    /// Offset of the present chunk \[B\].
    at: u64,
    /// Content of the present chunk.
    pub(crate) content: Vec<u8>,
    stored: Vec<u8>,
    /// Kinds of chunks that are skipped unread.
    passed: &'static [u8],
}

impl<R> Chunks<R> {
    pub(crate) fn new(input: R) -> Self {
        Self::passing(input, &[])
    }

    /// Reads chunks and leaves the content of some kinds empty.
    pub(crate) fn passing(input: R, passed: &'static [u8]) -> Self {
        Self { input, offset: 0, at: 0, content: Vec::new(), stored: Vec::new(), passed }
    }

    /// Returns true if chunks of a kind are skipped.
    pub(crate) fn passes(&self, kind: u8) -> bool {
        self.passed.contains(&kind)
    }

    /// Number of bytes read so far.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Offset of the present chunk \[B\].
    pub(crate) fn at(&self) -> u64 {
        self.at
    }

    /// Begins another chunk at the present offset.
    pub(crate) fn mark(&mut self) {
        self.at = self.offset;
    }

    /// Returns the error that the present chunk is damaged.
    pub(crate) fn damaged(&self, what: String) -> ReadError {
        ReadError::Damaged { what, offset: self.at }
    }
}

impl<R: Read> Chunks<R> {
    /// Reads a chunk into `content` and returns its kind.
    pub(crate) fn next(&mut self) -> Result<u8, ReadError> {
        let offset = self.at;
        let truncated = |what| ReadError::Truncated { what, offset };
        let mut head = [0; HEAD];
        match self.fill(&mut head)? {
            0 => return Err(truncated("a stream (its end is missing)")),
            HEAD => {}
            _ => return Err(truncated("the head of a chunk")),
        }
        let number = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (raw, stored, expected) = (number(2) as usize, number(6) as usize, number(10));
        if raw > MAX_CONTENT_BYTES || stored > MAX_CONTENT_BYTES {
            let length = raw.max(stored);
            return Err(self
                .damaged(format!("a chunk claims to have {length} bytes, at most {MAX_CONTENT_BYTES} are possible")));
        }
        if self.passes(head[0]) {
            self.content.clear();
            let count = io::copy(&mut (&mut self.input).take(stored as u64), &mut io::sink())?;
            self.offset += count;
            return if count < stored as u64 { Err(truncated("a chunk")) } else { Ok(head[0]) };
        }
        // Room grows with the bytes present, not with those claimed.
        self.stored.clear();
        let count = (&mut self.input).take(stored as u64).read_to_end(&mut self.stored)?;
        self.offset += count as u64;
        if count < stored {
            return Err(truncated("a chunk"));
        }
        let mut crc = Crc::new();
        crc.add(&self.stored);
        let of_content = crc.value();
        crc.add(&head[..2]);
        if ![crc.value(), of_content].contains(&expected) {
            return Err(self.damaged(format!("the checksum of a chunk is {:08x}, not {expected:08x}", crc.value())));
        }
        match head[1] {
            STORED => std::mem::swap(&mut self.content, &mut self.stored),
            ZSTD => {
                self.content.resize(raw, 0);
                let length = zstd::bulk::decompress_to_buffer(&self.stored, &mut self.content[..])
                    .map_err(|error| self.damaged(format!("a chunk cannot be decompressed: {error}")))?;
                self.content.truncate(length);
            }
            coding => return Err(self.damaged(format!("a chunk has coding {coding}, which is not known"))),
        }
        if self.content.len() != raw {
            return Err(self.damaged(format!("a chunk has {} bytes, not {raw}", self.content.len())));
        }
        Ok(head[0])
    }

    /// Fills `bytes` as far as the input goes; returns the number of bytes read.
    pub(crate) fn fill(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let mut count = 0;
        while count < bytes.len() {
            match self.input.read(&mut bytes[count..]) {
                Ok(0) => break,
                Ok(more) => count += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.offset += count as u64;
        Ok(count)
    }
}

//! Insertion of the names of call sites into a finished stream.
//!
//! A recorder knows addresses; their places in the source are found afterwards, with the program's debug
//! information. Events refer to sites by their index, so only the table changes: all other chunks are copied
//! unchanged.

use std::io::{self, BufRead, Read, Write};

use crate::code::Crc;
use crate::write::put_sites;
use crate::{SIGNATURE, Site, chunk};

/// Copies a stream with another table of call sites, which now comes right after the header.
///
/// A stream that was cut short is copied up to its last whole chunk. Returns true if it has its end.
///
/// Cost: the bytes of the stream; nothing is decompressed.
///
/// # Errors
/// Those of the input and the output; `InvalidData` if the input is not a stream.
pub fn replace_sites<'a>(
    mut input: impl BufRead,
    mut output: impl Write,
    sites: impl IntoIterator<Item = (u32, &'a Site)>,
) -> io::Result<bool> {
    let invalid = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what);
    let mut signature = [0; SIGNATURE.len()];
    input.read_exact(&mut signature)?;
    if signature != SIGNATURE {
        return Err(invalid("no stream of a trace begins here"));
    }
    output.write_all(&signature)?;
    let mut sites = Some(sites);
    let mut stored = Vec::new();
    loop {
        let mut head = [0; chunk::HEAD];
        match input.read_exact(&mut head) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break,
            result => result?,
        }
        let length = u32::from_le_bytes([head[6], head[7], head[8], head[9]]) as usize;
        if length > chunk::MAX_CONTENT_BYTES {
            return Err(invalid("a chunk of the trace is damaged"));
        }
        stored.clear();
        if (&mut input).take(length as u64).read_to_end(&mut stored)? < length {
            break;
        }
        if !matches!(head[0], chunk::SITES | chunk::PATHS) {
            output.write_all(&head)?;
            output.write_all(&stored)?;
        }
        if head[0] == chunk::HEADER
            && let Some(sites) = sites.take()
        {
            write_sites(&mut output, sites)?;
        }
        if head[0] == chunk::END {
            output.flush()?;
            return Ok(true);
        }
    }
    output.flush()?;
    Ok(false)
}

fn write_sites<'a>(output: &mut impl Write, sites: impl IntoIterator<Item = (u32, &'a Site)>) -> io::Result<()> {
    put_sites(sites, |kind, raw| {
        let stored = zstd::bulk::compress(raw, 3)?;
        let (coding, bytes) = if stored.len() < raw.len() { (chunk::ZSTD, &*stored) } else { (chunk::STORED, raw) };
        let mut crc = Crc::new();
        crc.add(bytes);
        output.write_all(&chunk::head(kind, coding, raw.len(), bytes.len(), crc))?;
        output.write_all(bytes)
    })
}

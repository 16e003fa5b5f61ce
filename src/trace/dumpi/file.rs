//! The file of a rank: its index, and the sections that the index leads to.
//!
//! ```text
//! magic, body (u32 second of processor time, u32 second of real time, records), u16 end of stream, header,
//! footer, sizes of datatypes and others, index (magic, then offsets u64)
//! ```
//! The index is the end of the file. Its last four offsets are those of header, body, footer and key values.
//! Later versions have put three others before them: names of counters, names of functions, sizes.
//!
//! Source: sst-dumpi, `docs/traceformat.dox` (T.0 to T.8) and `common/io.c`.

use super::record::{Records, Version};
use super::wire::Cursor;
use crate::trace::fault::{Fault, fault, mistake};

/// First bytes of every file, and of its index.
pub(in crate::trace) const MAGIC: [u8; 8] = [0xff, 0xaa, 0xdd, b'D', b'U', b'M', b'P', b'I'];
/// First number of the footer.
const FOOTER_MAGIC: u64 = 0xf007_fee7;
/// Newest major version that is known.
const NEWEST: u8 = 13;

/// Sections of a file.
#[derive(Debug)]
pub(super) struct Sections<'a> {
    bytes: &'a [u8],
    pub version: Version,
    pub host: String,
    /// Bounds of the records.
    body: (usize, usize),
    /// Number of the function that ends the stream; `None` if the file has no index.
    end: Option<u16>,
    /// Seconds from which processor time and real time count \[s\].
    pub epochs: [u32; 2],
    /// Sizes of datatypes by number \[B\]; empty if the file does not have them.
    pub sizes: Vec<i32>,
    /// Calls that were made and not recorded, by number of the function.
    pub ignored: Vec<u32>,
    /// Set if the file ends within its records or after them, without an index.
    pub is_cut_off: bool,
}

impl<'a> Sections<'a> {
    /// Finds the sections of a file.
    ///
    /// # Errors
    /// Another format, a version that is too new, offsets that lead nowhere.
    pub fn new(bytes: &'a [u8]) -> Result<Self, Fault> {
        if !bytes.starts_with(&MAGIC) {
            let swapped = bytes.len() >= 8 && bytes[..8].iter().rev().eq(&MAGIC);
            let order = if swapped { ": the bytes are in the wrong order" } else { "" };
            return fault(0, format!("the file does not begin with ff aa dd and `DUMPI`{order}"));
        }
        let Some(index) = index(bytes) else {
            let mut times = Cursor::new(bytes, 8, bytes.len(), true);
            return Ok(Self {
                bytes,
                version: [NEWEST, 0, 0],
                host: String::new(),
                body: (16, bytes.len()),
                end: None,
                epochs: [times.u32()?, times.u32()?],
                sizes: Vec::new(),
                ignored: Vec::new(),
                is_cut_off: true,
            });
        };
        let mut offsets = Cursor::new(bytes, index, bytes.len(), false);
        offsets.u64()?;
        let mut listed = Vec::new();
        while offsets.left() > 0 {
            let at = offsets.at;
            let offset = offsets.u64()?;
            if offset >= index as u64 {
                return fault(
                    at as u64,
                    format!("the index leads to byte {offset}, and the sections end at byte {index}"),
                );
            }
            listed.push(offset as usize);
        }
        let [.., header, body, footer, _] = listed[..] else { return fault(index as u64, "the index is too short") };
        let mut of_header = Cursor::new(bytes, header, index, false);
        let version = [of_header.u8()?, of_header.u8()?, of_header.u8()?];
        if version[0] > NEWEST {
            let [major, minor, patch] = version;
            let what = format!("version {major}.{minor}.{patch} of the format; versions up to {NEWEST} are read");
            return mistake("unknown-version", header as u64, what);
        }
        of_header.u64()?;
        let host = of_header.text()?;
        if header < 10 || body < 8 || body + 8 > header - 2 {
            let what = format!("the index has the records at byte {body}, and their end at byte {header}");
            return fault(index as u64, what);
        }
        let mut times = Cursor::new(bytes, body, header, false);
        let end = Cursor::new(bytes, header - 2, header, false).u16()?;
        let mut sections = Self {
            bytes,
            version,
            host,
            body: (body + 8, header - 2),
            end: Some(end),
            epochs: [times.u32()?, times.u32()?],
            sizes: Vec::new(),
            ignored: Vec::new(),
            is_cut_off: false,
        };
        // The first offset of an index with three more is that of the sizes.
        if let [sizes, _, _, _, _, _, _] = listed[..]
            && sizes != 0
        {
            let mut cursor = Cursor::new(bytes, sizes, index, false);
            sections.sizes = (0..cursor.count(4)?).map(|_| cursor.i32()).collect::<Result<_, _>>()?;
        }
        if footer != 0 {
            let mut cursor = Cursor::new(bytes, footer, index, false);
            if cursor.u64()? != FOOTER_MAGIC {
                return fault(footer as u64, format!("the footer does not begin with {FOOTER_MAGIC:#x}"));
            }
            // One for each function, and one for all of them. Three numbers follow those of functions.
            let count = usize::from(end.saturating_sub(2));
            cursor.take(4 * count, "the counts of calls")?;
            sections.ignored = (0..count).map(|_| cursor.u32()).collect::<Result<_, _>>()?;
        }
        Ok(sections)
    }

    /// Returns a reader of the records, from the first one.
    pub fn records(&self) -> Records<'a> {
        let cursor = Cursor::new(self.bytes, self.body.0, self.body.1, self.is_cut_off);
        Records::new(cursor, self.version, self.end)
    }

    /// Returns the fault of a file that has no index.
    pub fn cut_off(&self) -> Fault {
        let what = "the file ends without the index of its sections: it was cut off, or its writer was ended early";
        Fault { code: "truncated-trace", at: self.bytes.len() as u64, what: what.into() }
    }
}

/// Returns the offset of the index: the magic number before the last four to seven offsets.
fn index(bytes: &[u8]) -> Option<usize> {
    let begins = (4..=7).map(|offsets| bytes.len().checked_sub(8 * (offsets + 1)));
    begins.flatten().find(|&at| at >= 16 && bytes[at..].starts_with(&MAGIC))
}

//! Anchor file of an archive: version, sizes of chunks, numbers of locations and definitions.

use super::file::{BIG, CHUNK, END_OF_FILE, LITTLE, is_big};
use super::layout::Fields;
use crate::trace::fault::{Fault, fault};

/// Text after the order of bytes.
const MAGIC: &[u8] = b"OTF2";
/// Versions of the anchor and of the archive that are read and written.
const FORMATS: (u8, u8) = (3, 2);
/// Version of the library whose archives have this form.
const LIBRARY: [u8; 3] = [3, 0, 2];
/// Possible sizes of chunks \[B\].
const CHUNKS: std::ops::RangeInclusive<u64> = 256 << 10..=16 << 20;
/// Storage in plain files, and files that are not compressed.
const PLAIN: u8 = 1;
/// Property with the meaning of the times, in archives written here.
const CLOCK: &[u8] = b"HAYASE::CLOCK";

/// Content of the anchor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Anchor {
    /// Size of the chunks of events and of definitions \[B\].
    pub events: u64,
    pub definitions: u64,
    /// Number of locations.
    pub locations: u64,
    /// Number of global definitions.
    pub records: u64,
    /// Meaning of the times; empty for real time.
    pub clock: Vec<u8>,
}

/// Returns true if a file that begins with these bytes is an anchor.
pub(in crate::trace) fn is_anchor(head: &[u8]) -> bool {
    matches!(head, [CHUNK, BIG | LITTLE, text @ ..] if text.starts_with(MAGIC))
}

impl Anchor {
    /// Reads the anchor.
    pub fn read(bytes: &[u8]) -> Result<Self, Fault> {
        let mut from = Fields { bytes, next: 0, base: 0, is_big: false };
        if from.byte()? != CHUNK {
            return fault(0, format!("an anchor begins with byte {CHUNK}"));
        }
        from.is_big = is_big(from.byte()?, 1)?;
        if from.text()? != MAGIC {
            return fault(2, "the text \"OTF2\" is expected");
        }
        let unsupported = |at: u64, what: String| Err(Fault { code: "unsupported-trace", at, what: what.into() });
        let (format, version) = (from.byte()?, from.byte()?);
        if !(1..=FORMATS.0).contains(&format) || version > FORMATS.1 {
            let (anchor, archive) = FORMATS;
            let what = format!(
                "the archive has format {version} with an anchor of format {format}; formats up to {archive} and {anchor} are \
                 read"
            );
            return unsupported(7, what);
        }
        from.part(3)?;
        let at = from.at();
        let (events, definitions) = (from.whole(8)?, from.whole(8)?);
        for size in [events, definitions] {
            if !CHUNKS.contains(&size) {
                let (least, most) = CHUNKS.into_inner();
                return fault(at, format!("chunks of {size} bytes, and {least} to {most} are expected"));
            }
        }
        for (how, library, setting) in [
            ("stored in SION containers", "SIONlib", "SCOREP_TRACING_USE_SION"),
            ("compressed with zlib by OTF2", "zlib", "SCOREP_TRACING_COMPRESS"),
        ] {
            let at = from.at();
            match from.byte()? {
                PLAIN => {}
                2 => {
                    let way =
                        format!("copy it with an OTF2 library that has {library}, whose Python package writes them");
                    let what = format!("the archive is {how}, and plain files are read");
                    return unsupported(at, format!("{what}: {way}, or record with {setting}=false"));
                }
                other => return fault(at, format!("{other} is no storage and no compression; 1 (plain) is expected")),
            }
        }
        let (locations, records) = (from.whole(8)?, from.whole(8)?);
        for _machine_creator_description in 0..3 {
            from.text()?;
        }
        let mut clock = Vec::new();
        if format > 1 {
            for _property in 0..from.whole(4)? {
                let (name, value) = (from.text()?, from.text()?);
                if name == CLOCK {
                    clock = value.to_owned();
                }
            }
            from.part(8)?;
        }
        if format > 2 {
            from.part(8)?;
        }
        let at = from.at();
        match from.byte()? {
            END_OF_FILE => Ok(Self { events, definitions, locations, records, clock }),
            other => fault(at, format!("byte {other} is expected to be {END_OF_FILE}, the end of the anchor")),
        }
    }

    /// Returns the bytes of the anchor.
    pub fn bytes(&self, creator: &str) -> Vec<u8> {
        let mut out = vec![CHUNK, LITTLE];
        out.extend(MAGIC);
        out.extend([0, FORMATS.0, FORMATS.1]);
        out.extend(LIBRARY);
        out.extend(self.events.to_le_bytes());
        out.extend(self.definitions.to_le_bytes());
        out.extend([PLAIN, PLAIN]);
        out.extend(self.locations.to_le_bytes());
        out.extend(self.records.to_le_bytes());
        out.push(0);
        out.extend(creator.bytes().chain([0, 0]));
        out.extend(u32::from(!self.clock.is_empty()).to_le_bytes());
        if !self.clock.is_empty() {
            out.extend(CLOCK.iter().chain(&[0]).chain(&self.clock).chain(&[0]));
        }
        // Number of the archive, of snapshots and of thumbnails.
        out.extend([0; 16]);
        out.extend([END_OF_FILE, 1]);
        out
    }
}

//! Prints the calls of recorded streams, one a line: `cargo run -p hayase-recorder --example calls rank-00000.hyt`.

use std::fs::File;
use std::io::{BufReader, Write, stdout};

use hayase_trace::{Item, Reader};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = stdout().lock();
    for path in std::env::args().skip(1) {
        let mut reader = Reader::new(BufReader::new(File::open(&path)?));
        while let Some(item) = reader.next()? {
            match item {
                Item::Header(header) => writeln!(out, "{header:?}")?,
                Item::Event(event) => writeln!(
                    out,
                    "{} {}..{} cpu {:?} flags {} site {} comm {} op {} of {} | peer {} tag {} bytes {} | {} {} {} | requests {:?} offered {:?} counts {:?} {:?}",
                    event.call.name(),
                    event.begin,
                    event.end,
                    event.cpu,
                    event.flags.0,
                    event.site,
                    event.comm,
                    event.op.name(),
                    event.element,
                    event.peer,
                    event.tag,
                    event.bytes,
                    event.peer2,
                    event.tag2,
                    event.bytes2,
                    event.requests,
                    event.offered,
                    event.counts,
                    event.counts2
                )?,
                Item::Note(name, content) => writeln!(out, "note {name}: {}", String::from_utf8_lossy(content))?,
                other => writeln!(out, "{other:?}")?,
            }
        }
    }
    Ok(())
}

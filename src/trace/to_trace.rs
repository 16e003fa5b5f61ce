//! Conversion of calls of any format to a trace of Hayase's own.

use std::collections::BTreeMap;
use std::io::{self, Write};

use hayase_trace::Writer;

use super::calls::{Calls, Item, ItemError};

/// Consumer of calls that keeps them as streams, one per rank, compressed in memory.
#[derive(Debug, Default)]
pub struct ToTrace {
    ranks: BTreeMap<u32, Stream>,
    /// Set if complete streams of the source have an end.
    ends: bool,
}

#[derive(Debug)]
enum Stream {
    Open(Box<Writer<Vec<u8>>>),
    Done(Vec<u8>),
}

impl ToTrace {
    /// Creates an empty trace.
    pub fn new() -> Self {
        Self::default()
    }

    /// Declares if complete streams of the source have an end. If so, a stream without one is marked as cut off.
    #[must_use]
    pub fn with_ends(mut self, ends: bool) -> Self {
        self.ends = ends;
        self
    }

    /// Returns the streams of all ranks present, in ascending order.
    ///
    /// # Errors
    /// None in memory but those of compression.
    pub fn streams(self) -> io::Result<Vec<(u32, Vec<u8>)>> {
        let mut streams = Vec::new();
        for (rank, stream) in self.ranks {
            let bytes = match stream {
                Stream::Open(mut writer) => {
                    // A written stream has an end, so it is marked here, or it would look complete.
                    if self.ends {
                        writer.note("ended", b"cut off")?;
                    }
                    writer.finish()?
                }
                Stream::Done(bytes) => bytes,
            };
            streams.push((rank, bytes));
        }
        Ok(streams)
    }

    /// Writes all streams, one after another.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(self, out: &mut dyn Write) -> io::Result<()> {
        self.streams()?.iter().try_for_each(|(_, stream)| out.write_all(stream))
    }
}

impl Calls for ToTrace {
    fn item(&mut self, rank: u32, _place: u64, item: Item<'_>) -> Result<(), ItemError> {
        let failed = |error: io::Error| ItemError::new("unwritable", error.to_string());
        if let Item::Header(header) = item {
            if header.ranks > super::calls::MOST_RANKS {
                return Err(ItemError::new("too-large", format!("a trace of {} ranks", header.ranks)));
            }
            if self.ranks.contains_key(&rank) {
                return Err(ItemError::new("repeated-rank", format!("rank {rank} appears twice")));
            }
            let writer = Writer::new(Vec::new(), header).map_err(failed)?;
            self.ranks.insert(rank, Stream::Open(Box::new(writer)));
            return Ok(());
        }
        let Some(Stream::Open(writer)) = self.ranks.get_mut(&rank) else {
            return Err(ItemError::new("no-header", format!("rank {rank} calls outside its trace")));
        };
        match item {
            Item::Header(_) => {}
            Item::Site(index, site) => writer.site(index, site).map_err(failed)?,
            Item::Communicator(index, communicator) => writer.communicator(index, communicator).map_err(failed)?,
            Item::Region(index, name) => writer.region(index, name).map_err(failed)?,
            Item::Mark(mark) => writer.mark(mark).map_err(failed)?,
            Item::Note(name, content) => writer.note(name, content).map_err(failed)?,
            Item::Event(event) => writer.event(event).map_err(failed)?,
            Item::End { lost, .. } => {
                if let Some(Stream::Open(writer)) = self.ranks.remove(&rank) {
                    self.ranks.insert(rank, Stream::Done(writer.finish_with_lost(lost).map_err(failed)?));
                }
            }
        }
        Ok(())
    }
}

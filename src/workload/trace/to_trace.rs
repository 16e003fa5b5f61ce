//! From calls of any format to a trace of Hayase's own.

use std::io::{self, Write};

use hayase_trace::Writer;

use super::calls::{Calls, Item, Wrong};

/// Takes calls and keeps them as streams, one a rank, compressed in memory.
#[derive(Debug, Default)]
pub struct ToTrace {
    ranks: Vec<Option<Stream>>,
}

#[derive(Debug)]
enum Stream {
    Open(Box<Writer<Vec<u8>>>),
    Done(Vec<u8>),
}

impl ToTrace {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The streams of all ranks that there are, ascending.
    ///
    /// # Errors
    /// None in memory but those of compression.
    pub fn streams(self) -> io::Result<Vec<(u32, Vec<u8>)>> {
        let mut streams = Vec::new();
        for (rank, stream) in self.ranks.into_iter().enumerate() {
            match stream {
                Some(Stream::Open(writer)) => streams.push((rank as u32, writer.finish()?)),
                Some(Stream::Done(bytes)) => streams.push((rank as u32, bytes)),
                None => {}
            }
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
    fn item(&mut self, rank: u32, _place: u64, item: Item<'_>) -> Result<(), Wrong> {
        let failed = |error: io::Error| Wrong::new("unwritable", error.to_string());
        let at = rank as usize;
        if let Item::Header(header) = item {
            if header.ranks > super::MOST_RANKS {
                return Err(Wrong::new("too-large", format!("a trace of {} ranks", header.ranks)));
            }
            if self.ranks.len() <= at {
                self.ranks.resize_with(at + 1, || None);
            }
            if self.ranks[at].is_some() {
                return Err(Wrong::new("repeated-rank", format!("rank {rank} is there twice")));
            }
            let writer = Writer::new(Vec::new(), header).map_err(failed)?;
            self.ranks[at] = Some(Stream::Open(Box::new(writer)));
            return Ok(());
        }
        let Some(stream @ Some(Stream::Open(_))) = self.ranks.get_mut(at) else {
            return Err(Wrong::new("no-header", format!("rank {rank} calls outside its trace")));
        };
        let Some(Stream::Open(writer)) = stream else { return Ok(()) };
        match item {
            Item::Header(_) => {}
            Item::Site(index, site) => writer.site(index, site).map_err(failed)?,
            Item::Communicator(index, communicator) => writer.communicator(index, communicator).map_err(failed)?,
            Item::Note(name, content) => writer.note(name, content).map_err(failed)?,
            Item::Event(event) => writer.event(event).map_err(failed)?,
            Item::End { lost, .. } => {
                if let Some(Stream::Open(writer)) = stream.take() {
                    *stream = Some(Stream::Done(writer.finish_with_lost(lost).map_err(failed)?));
                }
            }
        }
        Ok(())
    }
}

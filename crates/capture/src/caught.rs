//! Contents of a recording: read back from the streams of all ranks, as its users will read it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use hayase_trace::{Call, EXTENSION, Event, Header, Item, ReadError, Reader};
use rayon::prelude::*;

use super::folder::files;
use super::sites::Table;
use hayase::program::caveats::Caveats;
use hayase::trace::Integrity;
use hayase::units::Time;

/// Picoseconds in a nanosecond.
const PS_PER_NS: f64 = 1000.0;

/// Contents of a recording.
#[derive(Clone, Debug, Default)]
pub struct RecordingContents {
    /// Streams by rank.
    pub streams: BTreeMap<u32, Stream>,
    /// Streams that cannot be read, each with the reason.
    pub unreadable: Vec<(PathBuf, String)>,
}

/// Contents of a rank's stream.
#[derive(Clone, Debug)]
pub struct Stream {
    /// Header of the stream.
    pub header: Header,
    /// Bytes on disk \[B\].
    pub bytes: u64,
    /// Number of calls recorded.
    pub events: u64,
    /// Number of calls that could not be recorded.
    pub lost: u64,
    /// Number of calls of which only the time is known: one-sided communication, files.
    pub opaque: u64,
    /// Time of these calls.
    pub opaque_time: Time,
    /// Time from the first call to the end of the last.
    pub span: Time,
    /// True if it has a regular end: otherwise its rank was stopped.
    pub whole: bool,
    /// Call sites.
    pub sites: Table,
    /// Notes of the recorder, by name.
    pub notes: Vec<(String, String)>,
    /// The last call.
    pub last: Option<Call>,
}

impl RecordingContents {
    /// Reads all streams of a folder.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn read(folder: &Path) -> io::Result<Self> {
        let streams: Vec<(PathBuf, Result<Stream, String>)> =
            files(folder, EXTENSION)?.into_par_iter().map(|(_, path)| (path.clone(), Stream::read(&path))).collect();
        let mut caught = Self::default();
        for (path, stream) in streams {
            match stream {
                Ok(stream) => drop(caught.streams.insert(stream.header.rank, stream)),
                Err(what) => caught.unreadable.push((path, what)),
            }
        }
        Ok(caught)
    }

    /// Updates the sizes of the files after names have been put into them.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn measure(&mut self, folder: &Path) -> io::Result<()> {
        for (rank, path) in files(folder, EXTENSION)? {
            if let Some(stream) = self.streams.get_mut(&rank) {
                stream.bytes = path.metadata()?.len();
            }
        }
        Ok(())
    }

    /// Number of ranks of the program.
    pub fn ranks(&self) -> u32 {
        self.streams.values().map(|stream| stream.header.ranks).max().unwrap_or(0)
    }

    /// Returns a sum over all ranks.
    pub fn sum(&self, of: impl Fn(&Stream) -> u64) -> u64 {
        self.streams.values().map(of).fold(0, u64::saturating_add)
    }

    /// Returns the longest time of a rank from its first call to the end of its last.
    pub fn span(&self) -> Time {
        self.streams.values().map(|stream| stream.span).fold(Time::ZERO, Time::max)
    }

    /// Returns the call sites of each rank.
    pub fn sites(&self) -> BTreeMap<u32, Table> {
        self.streams.iter().map(|(rank, stream)| (*rank, stream.sites.clone())).collect()
    }

    /// Returns the notes of this name at the end of streams (`ended`: the reason of an early end), each with
    /// the number of ranks that have it.
    pub fn remarks(&self, name: &str) -> BTreeMap<&str, u32> {
        let mut remarks = BTreeMap::new();
        for (_, value) in self.streams.values().flat_map(|stream| &stream.notes).filter(|(known, _)| known == name) {
            *remarks.entry(value.trim()).or_default() += 1;
        }
        remarks
    }

    /// Returns the deficiencies of the recording.
    pub fn caveats(&self) -> Caveats {
        let mut integrity = Integrity::default();
        for (&rank, stream) in &self.streams {
            integrity.begin(rank, &stream.header);
            for (name, text) in &stream.notes {
                integrity.note(rank, name, text.as_bytes());
            }
            if stream.whole {
                integrity.end(rank, stream.lost);
            }
        }
        integrity.caveats()
    }

    /// Returns the calls of which only the time is known, by name, and the number of each.
    pub fn opaque(&self) -> BTreeMap<&str, u64> {
        let mut calls = BTreeMap::new();
        for (_, text) in self.streams.values().flat_map(|stream| &stream.notes).filter(|(name, _)| name == "opaque") {
            for (name, count) in text.lines().filter_map(|line| line.rsplit_once(' ')) {
                *calls.entry(name).or_default() += count.parse().unwrap_or(0);
            }
        }
        calls
    }

    /// Returns the different values of a note in the headers (`host`, `mpi`), in the order of ranks.
    pub fn noted(&self, name: &str) -> Vec<String> {
        let mut values: Vec<String> = Vec::new();
        for value in self.streams.values().filter_map(|stream| stream.header.find(name)) {
            if !values.iter().any(|known| known == value) {
                values.push(value.to_owned());
            }
        }
        values
    }
}

impl Stream {
    fn read(path: &Path) -> Result<Self, String> {
        let file = File::open(path).map_err(|error| error.to_string())?;
        let bytes = file.metadata().map_or(0, |metadata| metadata.len());
        let mut reader = Reader::new(BufReader::with_capacity(1 << 16, file));
        let mut stream: Option<Self> = None;
        let mut first = None;
        loop {
            let item = match reader.next() {
                Ok(Some(item)) => item,
                // A stream that was cut short is read as far as it goes.
                Ok(None) | Err(ReadError::Truncated { .. }) => break,
                Err(error) => return Err(error.to_string()),
            };
            if let (None, Item::Header(header)) = (&stream, &item) {
                stream = Some(Self::new((*header).clone(), bytes));
            }
            let Some(stream) = &mut stream else { continue };
            match item {
                Item::Site(index, site) => drop(stream.sites.insert(index, site.clone())),
                Item::Event(event) => {
                    first.get_or_insert(event.begin);
                    stream.event(event, first.unwrap_or(0));
                }
                Item::Note(name, content) => {
                    stream.notes.push((name.to_owned(), String::from_utf8_lossy(content).into_owned()));
                }
                Item::End { lost, .. } => (stream.lost, stream.whole) = (lost, true),
                Item::Header(_) | Item::Communicator(..) | Item::Region(..) | Item::Mark(_) => {}
            }
        }
        stream.ok_or_else(|| "the stream has no header".into())
    }

    fn new(header: Header, bytes: u64) -> Self {
        Self {
            header,
            bytes,
            events: 0,
            lost: 0,
            opaque: 0,
            opaque_time: Time::ZERO,
            span: Time::ZERO,
            whole: false,
            sites: Table::new(),
            notes: Vec::new(),
            last: None,
        }
    }

    fn event(&mut self, event: &Event, first: u64) {
        let time = |from: u64, to: u64| Time::from_ps(to.saturating_sub(from) as f64 * PS_PER_NS);
        self.events += 1;
        self.span = self.span.max(time(first, event.end));
        if event.call == Call::Opaque {
            self.opaque += 1;
            self.opaque_time += time(event.begin, event.end);
        }
        self.last = Some(event.call);
    }
}

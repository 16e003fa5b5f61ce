//! Writer of streams.

use std::fmt;
use std::io::{self, Write};

use rustc_hash::FxHashMap;

use crate::chunk::Packer;
use crate::code::{Crc, digits, fold, put};
use crate::shape::{self, FIELDS, LISTS, REQUEST_LISTS, Shape, column};
use crate::turns::ThreadWriter;
use crate::{Communicator, Event, Header, Mark, SIGNATURE, Site, chunk, marks};

/// Size of all columns together at which a chunk is written \[B\].
const FULL: usize = 256 << 10;
/// Level of compression: the default of zstd.
const LEVEL: i32 = 3;

/// Writes the stream of one rank.
///
/// Data stays in memory until a chunk is full (256 KiB before compression, some ten thousand calls), or
/// [`flush`](Self::flush) or [`finish`](Self::finish) is called. A writer that is dropped writes its data as
/// far as possible.
///
/// Cost: an event takes some 60 ns, compression included, and two to three bytes (measured with noisy times;
/// AMD EPYC).
pub struct Writer<W: Write> {
    /// `None` once finished.
    out: Option<W>,
    columns: [Vec<u8>; column::COUNT],
    /// Number of events in `columns`.
    pending: u64,
    events: u64,
    tick: u64,
    /// End of the last event \[ticks\].
    last_end: u64,
    /// Processor time less than a tick that no event includes so far \[ns\].
    cpu_rest: u64,
    /// Largest number of a request so far.
    newest: u64,
    shapes: Shapes,
    /// Number of events of the chunk before the last border of a region.
    marked: u64,
    turns: ThreadWriter,
    /// Sites that are not yet written, as in their chunk.
    sites: Vec<u8>,
    /// Callers of these sites, as in their chunk.
    paths: Vec<u8>,
    /// Regions that are not yet written, as in their chunk.
    regions: Vec<u8>,
    /// Communicators that are not yet written, each as in its chunk.
    communicators: Vec<Vec<u8>>,
    raw: Vec<u8>,
    packer: Packer,
}

#[derive(Default)]
struct Shapes {
    /// Number of each shape, for each thread: changes from call to call are those of a thread.
    numbers: FxHashMap<(u32, Shape), u32>,
    last: Vec<LastValues>,
}

/// The last event of a shape.
struct LastValues {
    fields: [i64; FIELDS],
    lists: [Vec<u64>; LISTS],
}

impl<W: Write> Writer<W> {
    /// Starts a stream.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn new(mut out: W, header: &Header) -> io::Result<Self> {
        out.write_all(&SIGNATURE)?;
        let mut writer = Self {
            out: Some(out),
            columns: std::array::from_fn(|_| Vec::new()),
            pending: 0,
            events: 0,
            tick: u64::from(header.tick.max(1)),
            last_end: 0,
            cpu_rest: 0,
            newest: 0,
            shapes: Shapes::default(),
            marked: 0,
            turns: ThreadWriter::default(),
            sites: Vec::new(),
            paths: Vec::new(),
            regions: Vec::new(),
            communicators: Vec::new(),
            raw: Vec::new(),
            packer: Packer::new(LEVEL)?,
        };
        writer.raw.extend_from_slice(header.to_text().as_bytes());
        // Not compressed, so that people can recognise a trace.
        writer.chunk(chunk::HEADER, false)?;
        Ok(writer)
    }

    /// Writes the call site of an index. A site written again replaces the earlier one.
    ///
    /// # Errors
    /// Those of the output.
    pub fn site(&mut self, index: u32, site: &Site) -> io::Result<()> {
        self.sites([(index, site)])
    }

    /// Writes several call sites at once.
    ///
    /// # Errors
    /// Those of the output.
    pub fn sites<'a>(&mut self, sites: impl IntoIterator<Item = (u32, &'a Site)>) -> io::Result<()> {
        self.flush()?;
        let out = self.out.as_mut().ok_or_else(|| io::Error::other("the stream has ended"))?;
        put_sites(sites, |kind, content| self.packer.write(out, kind, content, true))
    }

    /// Writes a communicator by its index in this rank's table. Written again, the index means another one
    /// from here on.
    ///
    /// # Errors
    /// Those of the output.
    pub fn communicator(&mut self, index: u32, communicator: &Communicator) -> io::Result<()> {
        self.flush()?;
        self.raw.clear();
        put_communicator(&mut self.raw, index, communicator);
        self.chunk(chunk::COMMUNICATORS, true)
    }

    /// Adds a call site with a new index, which is written before the pending calls without ending their
    /// chunk.
    pub fn new_site(&mut self, index: u32, site: &Site) {
        // A chunk has a limit: callers beyond it would make the whole chunk unreadable.
        if self.paths.len() < chunk::MAX_CONTENT_BYTES / 2 {
            put_path(&mut self.paths, index, site);
        }
        put_site(&mut self.sites, index, site);
    }

    /// Adds a communicator with a new index, which is written before the pending calls without ending their
    /// chunk.
    pub fn new_communicator(&mut self, index: u32, communicator: &Communicator) {
        self.communicators.retain(|content| !content.is_empty());
        let mut content = Vec::new();
        put_communicator(&mut content, index, communicator);
        self.communicators.push(content);
    }

    /// Writes a region by its index in this rank's table.
    ///
    /// # Errors
    /// Those of the output.
    pub fn region(&mut self, index: u32, name: &str) -> io::Result<()> {
        self.flush()?;
        self.new_region(index, name);
        self.tables()
    }

    /// Adds a region with a new index, which is written before the pending calls without ending their chunk.
    pub fn new_region(&mut self, index: u32, name: &str) {
        put_region(&mut self.regions, index, name);
    }

    /// Adds a border of a region, after the calls so far.
    ///
    /// # Errors
    /// Those of the output, when a chunk is full.
    pub fn mark(&mut self, mark: &Mark) -> io::Result<()> {
        let column = &mut self.columns[column::MARKS];
        marks::write(column, self.pending - self.marked, self.last_end, self.tick, mark);
        self.marked = self.pending;
        // If there are more borders than calls, they fill the chunk.
        if column.len() >= FULL { self.flush() } else { Ok(()) }
    }

    /// Adds a note by name, such as the memory map of the process.
    ///
    /// # Errors
    /// Those of the output; more than 16 MiB.
    pub fn note(&mut self, name: &str, content: &[u8]) -> io::Result<()> {
        self.flush()?;
        self.raw.clear();
        put(&mut self.raw, name.len() as u64);
        self.raw.extend_from_slice(name.as_bytes());
        self.raw.extend_from_slice(content);
        self.chunk(chunk::NOTE, true)
    }

    /// Adds a call.
    ///
    /// # Errors
    /// Those of the output, when a chunk is full.
    pub fn event(&mut self, event: &Event) -> io::Result<()> {
        let fields = shape::fields(event);
        let shape = Shape::of(event, &fields);
        let columns = &mut self.columns;
        let known = self.shapes.last.len() as u32;
        let number = *self.shapes.numbers.entry((event.thread, shape)).or_insert(known);
        put(&mut columns[column::SHAPE], number.into());
        self.turns.write(&mut columns[column::THREADS], self.pending, event.thread);
        if number == known {
            shape.write(&mut columns[column::DEFINITION]);
            self.shapes.last.push(LastValues { fields: shape::NO_FIELDS, lists: Default::default() });
        }

        let (begin, end) = (event.begin / self.tick, event.end / self.tick);
        let gap = begin.wrapping_sub(self.last_end);
        put(&mut columns[column::GAP], gap);
        put(&mut columns[column::LENGTH], end.wrapping_sub(begin));
        self.last_end = end;
        if let Some(cpu) = event.cpu {
            // The rounded-off part goes to the next event: so sums stay right, like those of begin and end.
            let cpu = cpu.wrapping_add(self.cpu_rest);
            self.cpu_rest = cpu % self.tick;
            put(&mut columns[column::CPU], fold(gap.wrapping_sub(cpu / self.tick) as i64));
        }

        if !shape.is_bare() {
            let last = &mut self.shapes.last[number as usize];
            for i in 0..FIELDS {
                if shape.has_field(i) {
                    put(&mut columns[column::FIELDS + i], fold(fields[i].wrapping_sub(last.fields[i])));
                }
            }
            last.fields = fields;
            let newest = self.newest;
            for (i, list) in shape::lists(event).into_iter().enumerate() {
                if shape.has_list(i) {
                    let relative = |value: u64| if i < REQUEST_LISTS { newest.wrapping_sub(value) } else { value };
                    let (out, last) = (&mut columns[column::LISTS], &mut last.lists[i]);
                    let same = last.len() == list.len()
                        && last.iter().zip(list).all(|(&last, &value)| last == relative(value));
                    if same {
                        out.push(0);
                        continue;
                    }
                    put(out, list.len() as u64);
                    last.clear();
                    let mut before = 0_u64;
                    for &value in list {
                        let value = relative(value);
                        put(out, fold(value.wrapping_sub(before) as i64));
                        before = value;
                        last.push(value);
                    }
                }
            }
            if event.call.makes_request() {
                for &request in &event.requests {
                    self.newest = self.newest.max(request);
                }
            }
        }

        self.pending += 1;
        self.events += 1;
        // It suffices to check now and then if the chunk is full, and after events of unusual length.
        if self.pending.is_multiple_of(64) || event.requests.len() + event.counts.len() > 64 {
            let bytes: usize = self.columns.iter().map(Vec::len).sum();
            if bytes >= FULL {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Number of calls so far.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Writes all data added so far.
    ///
    /// # Errors
    /// Those of the output.
    pub fn flush(&mut self) -> io::Result<()> {
        // There are many callers, much alike.
        if let Some(out) = self.out.as_mut().filter(|_| !self.paths.is_empty()) {
            self.packer.write(out, chunk::PATHS, &self.paths, true)?;
            self.paths.clear();
        }
        self.tables()?;
        if self.is_empty() {
            return Ok(());
        }
        self.raw.clear();
        let count = self.used_columns();
        put(&mut self.raw, self.pending);
        put(&mut self.raw, count as u64);
        (self.pending, self.marked, self.turns) = (0, 0, ThreadWriter::default());
        for column in &mut self.columns[..count] {
            put(&mut self.raw, column.len() as u64);
            self.raw.append(column);
        }
        self.chunk(chunk::EVENTS, true)
    }

    /// Returns true if there is nothing for a chunk of events.
    fn is_empty(&self) -> bool {
        self.pending == 0 && self.columns[column::MARKS].is_empty()
    }

    /// Returns the number of columns. The last two exist only with borders of regions and several threads.
    fn used_columns(&self) -> usize {
        let filled = self.columns.iter().rposition(|column| !column.is_empty()).map_or(0, |last| last + 1);
        filled.max(column::MARKS)
    }

    /// Writes all data added so far, uncompressed and without allocating memory. For the handler of a signal
    /// that ends the process and did not interrupt a call of this writer.
    ///
    /// # Errors
    /// Those of the output.
    pub fn flush_stored(&mut self) -> io::Result<()> {
        self.tables()?;
        let (empty, count) = (self.is_empty(), self.used_columns());
        let Some(out) = self.out.as_mut().filter(|_| !empty) else {
            return Ok(());
        };
        // Numbers of at most ten bytes; a length that overflows the array cannot occur here.
        let mut heads = [([0_u8; 10], 0); column::COUNT + 2];
        let numbers =
            [self.pending, count as u64].into_iter().chain(self.columns[..count].iter().map(|c| c.len() as u64));
        for (head, number) in heads.iter_mut().zip(numbers) {
            *head = digits(number);
        }
        let head = |i: usize| &heads[i].0[..heads[i].1];
        let mut crc = Crc::new();
        let mut total = 0;
        let mut piece = |bytes: &[u8]| {
            crc.add(bytes);
            total += bytes.len();
        };
        piece(head(0));
        piece(head(1));
        for (i, column) in self.columns[..count].iter().enumerate() {
            piece(head(i + 2));
            piece(column);
        }
        out.write_all(&chunk::head(chunk::EVENTS, chunk::STORED, total, total, crc))?;
        out.write_all(head(0))?;
        out.write_all(head(1))?;
        for (i, column) in self.columns[..count].iter_mut().enumerate() {
            out.write_all(head(i + 2))?;
            out.write_all(column)?;
            column.clear();
        }
        (self.pending, self.marked, self.turns) = (0, 0, ThreadWriter::default());
        out.flush()
    }

    /// Ends the stream like [`flush_stored`](Self::flush_stored), uncompressed and without allocating memory:
    /// with notes, and the number of calls that could not be recorded. Nothing can be added after that.
    ///
    /// # Errors
    /// Those of the output.
    pub fn end_stored(&mut self, notes: &[(&str, &[u8])], lost: u64) -> io::Result<()> {
        self.flush_stored()?;
        let Some(mut out) = self.out.take() else { return Ok(()) };
        for (name, note) in notes {
            let (head, length) = digits(name.len() as u64);
            write_stored(&mut out, chunk::NOTE, &[&head[..length], name.as_bytes(), note])?;
        }
        let (events, events_length) = digits(self.events);
        let (lost, lost_length) = digits(lost);
        write_stored(&mut out, chunk::END, &[&events[..events_length], &lost[..lost_length]])?;
        out.flush()
    }

    /// Ends the stream with the number of calls that could not be recorded; returns the output.
    ///
    /// # Errors
    /// Those of the output.
    pub fn finish_with_lost(mut self, lost: u64) -> io::Result<W> {
        self.flush()?;
        self.raw.clear();
        put(&mut self.raw, self.events);
        put(&mut self.raw, lost);
        self.chunk(chunk::END, false)?;
        let mut out = self.out.take().ok_or_else(|| io::Error::other("the stream has ended"))?;
        out.flush()?;
        Ok(out)
    }

    /// Ends the stream; returns the output.
    ///
    /// # Errors
    /// Those of the output.
    pub fn finish(self) -> io::Result<W> {
        self.finish_with_lost(0)
    }

    /// Writes the sites, regions and communicators that are still pending.
    fn tables(&mut self) -> io::Result<()> {
        if let Some(out) = &mut self.out {
            if !self.paths.is_empty() {
                write_stored(out, chunk::PATHS, &[&self.paths])?;
                self.paths.clear();
            }
            if !self.sites.is_empty() {
                write_stored(out, chunk::SITES, &[&self.sites])?;
                self.sites.clear();
            }
            if !self.regions.is_empty() {
                write_stored(out, chunk::REGIONS, &[&self.regions])?;
                self.regions.clear();
            }
            for content in &mut self.communicators {
                if !content.is_empty() {
                    write_stored(out, chunk::COMMUNICATORS, &[content])?;
                    // Not freed here: this may be a signal handler.
                    content.clear();
                }
            }
        }
        Ok(())
    }

    /// Writes `raw` as a chunk.
    fn chunk(&mut self, kind: u8, compress: bool) -> io::Result<()> {
        let out = self.out.as_mut().ok_or_else(|| io::Error::other("the stream has ended"))?;
        self.packer.write(out, kind, &self.raw, compress)
    }
}

impl<W: Write> fmt::Debug for Writer<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("events", &self.events).field("pending", &self.pending).finish_non_exhaustive()
    }
}

impl<W: Write> Drop for Writer<W> {
    fn drop(&mut self) {
        // Nobody is left to be told of a failure.
        let _ = self.flush();
    }
}

/// Passes the chunks of a table of sites to `write`, each with its kind.
pub(crate) fn put_sites<'a>(
    sites: impl IntoIterator<Item = (u32, &'a Site)>,
    mut write: impl FnMut(u8, &[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let (mut paths, mut places) = (Vec::new(), Vec::new());
    let mut chunks = |paths: &mut Vec<u8>, places: &mut Vec<u8>| {
        for (kind, content) in [(chunk::PATHS, paths), (chunk::SITES, places)] {
            if !content.is_empty() {
                write(kind, content)?;
                content.clear();
            }
        }
        io::Result::Ok(())
    };
    for (index, site) in sites {
        put_path(&mut paths, index, site);
        put_site(&mut places, index, site);
        if paths.len().max(places.len()) > FULL {
            chunks(&mut paths, &mut places)?;
        }
    }
    chunks(&mut paths, &mut places)
}

fn put_path(out: &mut Vec<u8>, index: u32, site: &Site) {
    if site.callers.is_empty() {
        return;
    }
    put(out, index.into());
    put(out, site.callers.len() as u64);
    for frame in &site.callers {
        put(out, frame.address);
        put(out, frame.name.len() as u64);
        out.extend_from_slice(frame.name.as_bytes());
    }
}

fn put_site(out: &mut Vec<u8>, index: u32, site: &Site) {
    put(out, index.into());
    put(out, site.address);
    put(out, site.name.len() as u64);
    out.extend_from_slice(site.name.as_bytes());
}

fn put_region(out: &mut Vec<u8>, index: u32, name: &str) {
    put(out, index.into());
    put(out, name.len() as u64);
    out.extend_from_slice(name.as_bytes());
}

fn put_communicator(out: &mut Vec<u8>, index: u32, communicator: &Communicator) {
    put(out, index.into());
    put(out, communicator.id);
    for group in [&communicator.members, &communicator.remote] {
        put(out, group.len() as u64);
        let mut before = -1;
        for &rank in group {
            put(out, fold(i64::from(rank) - before - 1));
            before = i64::from(rank);
        }
    }
}

/// Writes several pieces as one uncompressed chunk.
fn write_stored(out: &mut impl Write, kind: u8, pieces: &[&[u8]]) -> io::Result<()> {
    let mut crc = Crc::new();
    let mut total = 0;
    for piece in pieces {
        crc.add(piece);
        total += piece.len();
    }
    out.write_all(&chunk::head(kind, chunk::STORED, total, total, crc))?;
    pieces.iter().try_for_each(|piece| out.write_all(piece))
}

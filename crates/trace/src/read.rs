//! Reader of streams.

use std::collections::BTreeMap;
use std::io::Read;

use crate::chunk::Chunks;
use crate::code::{Cursor, unfold};
use crate::error::ReadError;
use crate::shape::{self, FIELDS, LISTS, REQUEST_LISTS, Shape, column};
use crate::turns::ThreadReader;
use crate::{Communicator, Event, Frame, Header, Mark, SIGNATURE, Site, chunk, marks};

/// Chunks skipped by a reader of call sites only.
const BUT_SITES: &[u8] = &[chunk::EVENTS, chunk::COMMUNICATORS, chunk::NOTE, chunk::REGIONS];

/// Largest number of ranks of a group: limit for a damaged length.
const MOST_MEMBERS: u64 = 1 << 24;

/// An item of a trace.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Item<'a> {
    /// Begin of the stream of a rank.
    Header(&'a Header),
    /// A call site and its index.
    Site(u32, &'a Site),
    /// A communicator and its index in the rank's table.
    Communicator(u32, &'a Communicator),
    /// The name of a region and its index in the table.
    Region(u32, &'a str),
    /// A border of a region: after the previous event, before the next one.
    Mark(&'a Mark),
    /// A note, by name.
    Note(&'a str, &'a [u8]),
    /// A call.
    Event(&'a Event),
    /// Regular end of the stream.
    End {
        /// Number of calls of the stream.
        events: u64,
        /// Number of calls that could not be recorded.
        lost: u64,
    },
}

/// Reads the streams of a trace, one item at a time.
///
/// Memory: a chunk (at most 32 MiB) and the last event of every shape, for any trace.
#[derive(Debug)]
pub struct Reader<R> {
    chunks: Chunks<R>,
    stream: Option<Header>,
    /// Rest of a chunk of sites.
    sites: Cursor,
    site: Site,
    /// Callers of sites of the next chunk.
    paths: BTreeMap<u32, Vec<Frame>>,
    /// Rest of a chunk of regions.
    regions: Cursor,
    region: String,
    mark: Mark,
    /// Number of events before the next border of a region; `None` if the chunk has no more.
    before_mark: Option<u64>,
    communicator: Communicator,
    note: String,
    columns: [Cursor; column::COUNT],
    threads: ThreadReader,
    /// Number of events left in the chunk.
    pending: u64,
    events: u64,
    last_end: u64,
    newest: u64,
    shapes: Vec<ShapeState>,
    /// Shape of the last event, which holds that event.
    newest_shape: usize,
    /// Set after an error: nothing more is read.
    failed: bool,
}

/// A shape and its last event.
#[derive(Debug)]
struct ShapeState {
    shape: Shape,
    event: Event,
    fields: [i64; FIELDS],
    /// Distances of the requests of the last event.
    relative: [Vec<u64>; REQUEST_LISTS],
}

impl<R: Read> Reader<R> {
    /// Creates a reader at the beginning of a stream.
    pub fn new(input: R) -> Self {
        Self::on(Chunks::new(input))
    }

    fn on(chunks: Chunks<R>) -> Self {
        Self {
            chunks,
            stream: None,
            sites: Cursor::default(),
            site: Site::default(),
            paths: BTreeMap::new(),
            regions: Cursor::default(),
            region: String::new(),
            mark: Mark::default(),
            before_mark: None,
            communicator: Communicator::default(),
            note: String::new(),
            columns: [Cursor::default(); column::COUNT],
            threads: ThreadReader::default(),
            pending: 0,
            events: 0,
            last_end: 0,
            newest: 0,
            shapes: Vec::new(),
            newest_shape: 0,
            failed: false,
        }
    }

    /// Creates a reader of headers and call sites only: everything else is skipped without being unpacked.
    pub fn of_sites(input: R) -> Self {
        Self::on(Chunks::passing(input, BUT_SITES))
    }

    /// Number of bytes read so far.
    pub fn offset(&self) -> u64 {
        self.chunks.offset()
    }

    /// Last event that was read; `None` before the first of a stream. For callers that cannot keep the item
    /// borrowed from [`next`](Self::next).
    pub fn event(&self) -> Option<&Event> {
        self.shapes.get(self.newest_shape).map(|known| &known.event)
    }

    /// Reads the next item; `None` at the end of the last stream, and after an error.
    ///
    /// # Errors
    /// The trace is truncated or damaged; everything before is right.
    #[allow(clippy::should_implement_trait, reason = "the item borrows from the reader")]
    pub fn next(&mut self) -> Result<Option<Item<'_>>, ReadError> {
        if self.failed {
            return Ok(None);
        }
        self.failed = true;
        let step = self.step()?;
        self.failed = false;
        Ok(match step {
            HeldItem::Over => None,
            HeldItem::Header => self.stream.as_ref().map(Item::Header),
            HeldItem::Site(index) => Some(Item::Site(index, &self.site)),
            HeldItem::Region(index) => Some(Item::Region(index, &self.region)),
            HeldItem::Mark => Some(Item::Mark(&self.mark)),
            HeldItem::Communicator(index) => Some(Item::Communicator(index, &self.communicator)),
            HeldItem::Note(at) => Some(Item::Note(&self.note, &self.chunks.content[at..])),
            HeldItem::Event(shape) => Some(Item::Event(&self.shapes[shape].event)),
            HeldItem::End(events, lost) => Some(Item::End { events, lost }),
        })
    }
}

/// Kind of [`Item`] that the reader holds.
enum HeldItem {
    Over,
    Header,
    Site(u32),
    Region(u32),
    Mark,
    Communicator(u32),
    /// Offset of its content.
    Note(usize),
    Event(usize),
    End(u64, u64),
}

/// Description of an error in the content of a chunk.
type ContentError = String;

impl<R: Read> Reader<R> {
    fn step(&mut self) -> Result<HeldItem, ReadError> {
        if self.before_mark == Some(0) {
            return self.next_mark().map(|()| HeldItem::Mark).map_err(|what| self.damaged(what));
        }
        if self.pending > 0 {
            self.pending -= 1;
            self.before_mark = self.before_mark.map(|events| events - 1);
            return self.next_event().map(HeldItem::Event).map_err(|what| self.damaged(what));
        }
        if self.sites.left() > 0 {
            return self.next_site().map(HeldItem::Site).map_err(|what| self.damaged(what));
        }
        if self.regions.left() > 0 {
            return self.next_region().map(HeldItem::Region).map_err(|what| self.damaged(what));
        }
        loop {
            self.chunks.mark();
            if self.stream.is_none() {
                return if self.signature()? { self.header() } else { Ok(HeldItem::Over) };
            }
            let kind = self.chunks.next()?;
            let whole = Cursor { at: 0, end: self.chunks.content.len() };
            let step = match kind {
                kind if self.chunks.passes(kind) => Ok(None),
                chunk::EVENTS => self.begin_events(whole).map(|()| None),
                chunk::SITES => {
                    self.sites = whole;
                    Ok(None)
                }
                chunk::PATHS => self.some_paths(whole).map(|()| None),
                chunk::REGIONS => {
                    self.regions = whole;
                    Ok(None)
                }
                chunk::COMMUNICATORS => self.one_communicator(whole).map(|index| Some(HeldItem::Communicator(index))),
                chunk::NOTE => self.one_note(whole).map(|at| Some(HeldItem::Note(at))),
                chunk::END => self.end(whole).map(Some),
                chunk::HEADER => Err("a stream has a second header".into()),
                kind if kind.is_ascii_lowercase() => Ok(None),
                kind => Err(format!("there is no kind of chunk 0x{kind:02x}")),
            };
            match step.map_err(|what| self.damaged(what))? {
                Some(step) => return Ok(step),
                None if self.has_more() => return self.step(),
                None => {}
            }
        }
    }

    /// Returns true if the last chunk has items left.
    fn has_more(&self) -> bool {
        self.pending > 0 || self.before_mark.is_some() || self.sites.left() > 0 || self.regions.left() > 0
    }

    /// Reads the signature of a stream; `false` at the end of the input.
    fn signature(&mut self) -> Result<bool, ReadError> {
        let mut bytes = [0; SIGNATURE.len()];
        let count = self.chunks.fill(&mut bytes)?;
        let truncated = ReadError::Truncated { what: "a signature", offset: self.chunks.at() };
        match bytes {
            _ if count == 0 => Ok(false),
            SIGNATURE => Ok(true),
            _ if SIGNATURE.starts_with(&bytes[..count]) => Err(truncated),
            _ if bytes[..3] == SIGNATURE[..3] && bytes[3] != SIGNATURE[3] => {
                Err(self.damaged(format!("version {:?} of the format is not known", char::from(bytes[3]))))
            }
            _ if bytes[..4] == SIGNATURE[..4] => {
                Err(self.damaged("the signature is damaged: was the file copied as text?".into()))
            }
            _ => Err(self.damaged("no stream of a trace begins here".into())),
        }
    }

    fn header(&mut self) -> Result<HeldItem, ReadError> {
        self.chunks.mark();
        let kind = self.chunks.next()?;
        if kind != chunk::HEADER {
            return Err(self.damaged("a stream does not begin with a header".into()));
        }
        let header = std::str::from_utf8(&self.chunks.content)
            .map_err(|_| "the header is no text".to_owned())
            .and_then(Header::from_text)
            .map_err(|what| self.damaged(what))?;
        self.stream = Some(header);
        (self.events, self.last_end, self.newest) = (0, 0, 0);
        self.shapes.clear();
        self.paths.clear();
        Ok(HeldItem::Header)
    }

    fn damaged(&self, what: String) -> ReadError {
        self.chunks.damaged(what)
    }

    fn next_site(&mut self) -> Result<u32, ContentError> {
        let bytes = &self.chunks.content;
        let mut next = || Some((self.sites.take(bytes)?, self.sites.take(bytes)?, self.sites.text(bytes)?));
        let (index, address, name) = next().ok_or("a call site is cut off")?;
        let index = u32::try_from(index).map_err(|_| format!("there is no call site {index}"))?;
        (*name).clone_into(&mut self.site.name);
        self.site.address = address;
        self.site.callers = self.paths.remove(&index).unwrap_or_default();
        Ok(index)
    }

    fn some_paths(&mut self, mut cursor: Cursor) -> Result<(), ContentError> {
        let bytes = &self.chunks.content;
        let cut_off = || "a call path is cut off".to_owned();
        // Callers left over from the last such chunk belong to no site.
        self.paths.clear();
        while cursor.left() > 0 {
            let index = cursor.take(bytes).ok_or_else(cut_off)?;
            let index = u32::try_from(index).map_err(|_| format!("there is no call site {index}"))?;
            let count = cursor.take(bytes).ok_or_else(cut_off)?;
            // Every caller takes at least two bytes.
            if count > cursor.left() as u64 / 2 {
                return Err(format!("a call path claims to have {count} callers"));
            }
            let mut callers = Vec::with_capacity(count as usize);
            for _ in 0..count {
                let mut next = || Some((cursor.take(bytes)?, cursor.text(bytes)?));
                let (address, name) = next().ok_or_else(cut_off)?;
                callers.push(Frame { address, name: name.into_owned() });
            }
            self.paths.insert(index, callers);
        }
        Ok(())
    }

    fn next_region(&mut self) -> Result<u32, ContentError> {
        let bytes = &self.chunks.content;
        let mut next = || Some((self.regions.take(bytes)?, self.regions.text(bytes)?));
        let (index, name) = next().ok_or("the name of a region is cut off")?;
        (*name).clone_into(&mut self.region);
        u32::try_from(index).map_err(|_| format!("there is no region {index}"))
    }

    /// Reads the border that is due, and the number of events before the next.
    fn next_mark(&mut self) -> Result<(), ContentError> {
        let tick = self.stream.as_ref().map_or(1, |header| u64::from(header.tick));
        let cursor = &mut self.columns[column::MARKS];
        let mark = marks::read(cursor, &self.chunks.content, self.last_end, tick);
        self.mark = mark.ok_or("a border of a region is cut off")?;
        self.expect_mark()
    }

    /// Reads the number of events before the next border.
    fn expect_mark(&mut self) -> Result<(), ContentError> {
        let cursor = &mut self.columns[column::MARKS];
        self.before_mark = match cursor.left() {
            0 => None,
            _ => match cursor.take(&self.chunks.content) {
                Some(events) if events <= self.pending => Some(events),
                _ => return Err("a border of a region stands behind the events of its block".into()),
            },
        };
        Ok(())
    }

    fn one_communicator(&mut self, mut cursor: Cursor) -> Result<u32, ContentError> {
        let bytes = &self.chunks.content;
        let cut_off = || "a communicator is cut off".to_owned();
        let index = cursor.take(bytes).ok_or_else(cut_off)?;
        let index = u32::try_from(index).map_err(|_| format!("there is no communicator {index}"))?;
        self.communicator.id = cursor.take(bytes).ok_or_else(cut_off)?;
        for group in [&mut self.communicator.members, &mut self.communicator.remote] {
            group.clear();
            let count = cursor.take(bytes).ok_or_else(cut_off)?;
            // Every member takes at least a byte.
            if count > MOST_MEMBERS.min(cursor.left() as u64) {
                return Err(format!("a communicator claims to have {count} members"));
            }
            let mut before = -1_i64;
            for _ in 0..count {
                let rank = before.wrapping_add(1).wrapping_add(unfold(cursor.take(bytes).ok_or_else(cut_off)?));
                group.push(u32::try_from(rank).map_err(|_| format!("there is no rank {rank}"))?);
                before = rank;
            }
        }
        Ok(index)
    }

    fn one_note(&mut self, mut cursor: Cursor) -> Result<usize, ContentError> {
        let name = cursor.text(&self.chunks.content).ok_or("a note is cut off")?;
        (*name).clone_into(&mut self.note);
        Ok(cursor.at)
    }

    fn end(&mut self, mut cursor: Cursor) -> Result<HeldItem, ContentError> {
        let events = cursor.take(&self.chunks.content).ok_or("the end is cut off")?;
        let lost = cursor.take(&self.chunks.content).ok_or("the end is cut off")?;
        if events != self.events && !self.chunks.passes(chunk::EVENTS) {
            return Err(format!("the stream says that it has {events} events, and has {}", self.events));
        }
        self.stream = None;
        Ok(HeldItem::End(events, lost))
    }

    fn begin_events(&mut self, mut cursor: Cursor) -> Result<(), ContentError> {
        self.before_mark = None;
        let bytes = &self.chunks.content;
        let cut_off = || "a block of events is cut off".to_owned();
        let events = cursor.take(bytes).ok_or_else(cut_off)?;
        let columns = cursor.take(bytes).ok_or_else(cut_off)?;
        self.columns = [Cursor::default(); column::COUNT];
        for i in 0..columns {
            let length = cursor.take(bytes).ok_or_else(cut_off)?;
            let at = cursor.at;
            cursor.slice(bytes, length).ok_or_else(cut_off)?;
            // Columns of later versions are skipped.
            if let Some(column) = self.columns.get_mut(i as usize) {
                *column = Cursor { at, end: cursor.at };
            }
        }
        // Every event takes at least a byte in the column of shapes.
        if events > self.columns[column::SHAPE].left() as u64 {
            return Err(format!("a block claims to have {events} events"));
        }
        self.pending = events;
        self.threads = ThreadReader::begin(&mut self.columns[column::THREADS], bytes);
        self.expect_mark()
    }

    /// Reads the next event into the last event of its shape and returns that shape's number.
    fn next_event(&mut self) -> Result<usize, ContentError> {
        let Self { chunks, columns, shapes, threads, .. } = self;
        let bytes = &chunks.content;
        let cut_off = || "a block of events ends in the middle of one".to_owned();
        let number = columns[column::SHAPE].take(bytes).ok_or_else(cut_off)?;
        if number == shapes.len() as u64 {
            let shape = Shape::read(&mut columns[column::DEFINITION], bytes)?;
            let mut event = Event::new(shape.call, 0, 0);
            let Shape { op, flags, site, comm, element, .. } = shape;
            (event.op, event.flags, event.site, event.comm, event.element) = (op, flags, site, comm, element);
            shapes.push(ShapeState { shape, event, fields: shape::NO_FIELDS, relative: Default::default() });
        }
        let index = usize::try_from(number).map_err(|_| cut_off())?;
        let known = shapes.get_mut(index).ok_or_else(|| format!("there is no shape {number}"))?;
        let (shape, event) = (&known.shape, &mut known.event);
        event.thread = threads.next(&mut columns[column::THREADS], bytes).ok_or_else(cut_off)?;

        let tick = self.stream.as_ref().map_or(1, |header| u64::from(header.tick));
        let gap = columns[column::GAP].take(bytes).ok_or_else(cut_off)?;
        let length = columns[column::LENGTH].take(bytes).ok_or_else(cut_off)?;
        let begin = self.last_end.wrapping_add(gap);
        self.last_end = begin.wrapping_add(length);
        event.begin = begin.wrapping_mul(tick);
        event.end = self.last_end.wrapping_mul(tick);
        if shape.has_cpu() {
            let less = unfold(columns[column::CPU].take(bytes).ok_or_else(cut_off)?) as u64;
            event.cpu = Some(gap.wrapping_sub(less).wrapping_mul(tick));
        }
        if !shape.is_bare() {
            for i in 0..FIELDS {
                if shape.has_field(i) {
                    let change = unfold(columns[column::FIELDS + i].take(bytes).ok_or_else(cut_off)?);
                    known.fields[i] = known.fields[i].wrapping_add(change);
                }
            }
            shape::set_fields(event, &known.fields);
            for i in 0..LISTS {
                if shape.has_list(i) {
                    let cursor = &mut columns[column::LISTS];
                    let list = if i < REQUEST_LISTS { &mut known.relative[i] } else { shape::list_mut(event, i) };
                    read_list(list, cursor, bytes).ok_or_else(cut_off)?;
                    if i < REQUEST_LISTS {
                        let requests = shape::list_mut(event, i);
                        requests.clear();
                        requests.extend(known.relative[i].iter().map(|&back| self.newest.wrapping_sub(back)));
                    }
                }
            }
            if event.call.makes_request() {
                for &request in &event.requests {
                    self.newest = self.newest.max(request);
                }
            }
        }
        self.events += 1;
        self.newest_shape = index;
        Ok(index)
    }
}

/// Reads a list into the previous one, which stays if nothing has changed.
fn read_list(list: &mut Vec<u64>, cursor: &mut Cursor, bytes: &[u8]) -> Option<()> {
    let count = cursor.take(bytes)?;
    if count == 0 {
        return Some(());
    }
    // Every entry takes at least a byte.
    if count > cursor.left() as u64 {
        return None;
    }
    list.clear();
    let mut before = 0_u64;
    for _ in 0..count {
        before = before.wrapping_add(unfold(cursor.take(bytes)?) as u64);
        list.push(before);
    }
    Some(())
}

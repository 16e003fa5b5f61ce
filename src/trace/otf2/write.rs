//! Calls of any format as an archive.
//!
//! A call is a region of MPI; its call site is the region's place in the source. Processor time before a call is an
//! attribute of its begin. Not kept: callers, reduction operators, addresses of buffers, and the sizes of single
//! blocks.

use std::collections::BTreeMap;

use hayase_trace::names;
use hayase_trace::walk::{Identities, Identity};
use rustc_hash::FxHashMap;

use super::anchor::Anchor;
use super::definitions::{CPU, LOCATIONS, MPI, NUMBER, RANKS, THREAD, USER};
use super::file::{CHUNK, END_OF_CHUNK, END_OF_FILE, HEAD, LITTLE, TIME};
use super::layout::{Layout, UNDEFINED, definitions as known, events};
use super::sizes;
use crate::trace::MOST_RANKS;
use crate::trace::calls::{Call, CallKind, Calls, Clock, Communicator, Event, Header, Item, ItemError};

/// Size of chunks of events and of definitions \[B\].
const EVENTS: usize = 1 << 20;
const DEFINITIONS: usize = 16 << 20;
/// Bytes of a time \[B\].
const TIME_BYTES: usize = 9;
/// Nanoseconds in a second: the ticks of the clock.
const TICKS: u64 = 1_000_000_000;
/// Role of a region: a function.
const FUNCTION: u64 = 1;

/// Files of an archive.
#[derive(Debug)]
pub struct Archive {
    /// Anchor: `NAME.otf2`.
    pub anchor: Vec<u8>,
    /// Definitions: `NAME.def`.
    pub definitions: Vec<u8>,
    /// Files in the folder `NAME`, by their names.
    pub locations: Vec<(String, Vec<u8>)>,
}

/// Consumer of calls that makes an archive of them, in memory.
#[derive(Debug, Default)]
pub struct ToArchive {
    world: u32,
    clock: Clock,
    ranks: BTreeMap<u32, Rank>,
    /// Members of communicators, by number less one; the world is number 0.
    comms: Vec<Communicator>,
    numbers: FxHashMap<Identity, u64>,
    regions: Vec<(String, String, u64)>,
    region_numbers: FxHashMap<(String, String, u64), u64>,
    /// Smallest start of a stream \[ns\].
    start: Option<u64>,
}

/// A rank on its way into a file.
#[derive(Debug)]
struct Rank {
    file: Chunks,
    start: u64,
    empty_gap: u64,
    sites: FxHashMap<u32, String>,
    marked: FxHashMap<u32, String>,
    comms: FxHashMap<u32, (u64, u64, u64)>,
    naming: Identities,
    /// Messages and collectives by request, and numbers of requests in the archive.
    persistent: FxHashMap<u64, Event>,
    open: FxHashMap<u64, (u64, Vec<u64>, Layout)>,
    requested: u64,
    /// Times and lengths of the records, before the common start of all streams is known, and their bytes.
    events: Vec<(u64, u32)>,
    bytes: Vec<u8>,
    regions: FxHashMap<(Call, u32), u64>,
}

/// File of chunks on its way.
#[derive(Debug)]
struct Chunks {
    bytes: Vec<u8>,
    size: usize,
    /// Begin of the chunk, and number of the last record.
    chunk: usize,
    records: u64,
    time: Option<u64>,
}

impl Chunks {
    fn new(size: usize) -> Self {
        let mut file = Self { bytes: Vec::new(), size, chunk: 0, records: 0, time: None };
        file.begin();
        file
    }

    fn begin(&mut self) {
        self.chunk = self.bytes.len();
        self.bytes.extend([CHUNK, LITTLE]);
        self.bytes.extend((self.records + 1).to_le_bytes());
        self.bytes.extend([0; 8]);
    }

    fn end(&mut self) {
        self.bytes[self.chunk + 10..self.chunk + HEAD].copy_from_slice(&self.records.to_le_bytes());
    }

    /// Adds a record at a time, which is not before that of the record before.
    fn put(&mut self, time: Option<u64>, record: &[u8]) -> Result<(), ItemError> {
        let needed = record.len() + TIME_BYTES + 1;
        if needed + HEAD > self.size {
            return Err(ItemError::new("too-large", "a definition is larger than a chunk of an archive"));
        }
        if self.bytes.len() - self.chunk + needed > self.size {
            self.end();
            self.bytes.resize(self.chunk + self.size, END_OF_CHUNK);
            self.begin();
            // Every chunk begins with the time.
            self.time = None;
        }
        if let Some(time) = time.filter(|_| self.time != time) {
            self.bytes.push(TIME);
            self.bytes.extend(time.to_le_bytes());
            self.time = Some(time);
        }
        self.bytes.extend(record);
        self.records += 1;
        Ok(())
    }

    fn finish(mut self) -> Vec<u8> {
        self.end();
        self.bytes.extend([END_OF_FILE, 1]);
        self.bytes
    }
}

impl ToArchive {
    /// Creates an empty archive.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the files.
    ///
    /// # Errors
    /// A rank is missing, or there is none.
    pub fn finish(mut self) -> Result<Archive, ItemError> {
        if self.world == 0 {
            return Err(ItemError::new("no-calls", "there are no calls to write"));
        }
        if let Some(missing) = (0..self.world).find(|rank| !self.ranks.contains_key(rank)) {
            return Err(ItemError::new("missing-rank", format!("rank {missing} is missing, and an archive needs it")));
        }
        let start = self.start.unwrap_or(0);
        let (mut locations, mut counts, mut last) = (Vec::new(), Vec::new(), 0);
        for (number, mut rank) in std::mem::take(&mut self.ranks) {
            let shift = rank.start - start.min(rank.start);
            let mut rest = rank.bytes.as_slice();
            for (time, length) in std::mem::take(&mut rank.events) {
                let time = time.saturating_add(shift);
                last = last.max(time);
                let (record, after) = rest.split_at(length as usize);
                rank.file.put(Some(time), record)?;
                rest = after;
            }
            counts.push(rank.file.records);
            locations.push((format!("{number}.def"), Chunks::new(DEFINITIONS).finish()));
            locations.push((format!("{number}.evt"), rank.file.finish()));
        }
        let definitions = self.definitions(&counts, last)?;
        let anchor = Anchor {
            events: EVENTS as u64,
            definitions: DEFINITIONS as u64,
            locations: self.world.into(),
            records: definitions.records,
            clock: if self.clock == Clock::Wall { Vec::new() } else { self.clock.name().into() },
        };
        Ok(Archive { anchor: anchor.bytes("hayase"), definitions: definitions.finish(), locations })
    }

    /// Returns the global definitions.
    fn definitions(&self, counts: &[u64], last: u64) -> Result<Chunks, ItemError> {
        let mut file = Definitions { file: Chunks::new(DEFINITIONS), texts: FxHashMap::default() };
        file.put(known::CLOCK, &[TICKS, 0, last + 1], &[])?;
        let empty = file.text("")?;
        let machine = file.text("machine")?;
        file.put(known::SYSTEM_TREE_NODE, &[0, machine, machine, UNDEFINED], &[])?;
        let thread = file.text("first thread")?;
        for (rank, &count) in (0..).zip(counts) {
            let name = file.text(&format!("rank {rank}"))?;
            // A process on the machine, and its thread.
            file.put(known::LOCATION_GROUP, &[rank, name, 1, 0, UNDEFINED], &[])?;
            file.put(known::LOCATION, &[rank, thread, THREAD, count, rank], &[])?;
        }
        let cpu = file.text(CPU)?;
        let meaning = file.text("processor time since the call before [ns]")?;
        file.put(known::ATTRIBUTE, &[0, cpu, NUMBER, meaning], &[])?;
        for (number, (name, site, paradigm)) in (0..).zip(&self.regions) {
            let place = names::place(site).rsplit_once(':');
            let place = place.and_then(|(file, line)| Some((file, line.parse::<u32>().ok()?)));
            let (source, line) = place.unwrap_or(("", 0));
            let source = if source.is_empty() { UNDEFINED } else { file.text(source)? };
            let (name, site) = (file.text(name)?, if site.is_empty() { empty } else { file.text(site)? });
            let line = u64::from(line);
            let fields = [number, name, site, FUNCTION, source, line, line, name, FUNCTION, *paradigm, 0];
            file.put(known::REGION, &fields, &[])?;
        }
        let all: Vec<u64> = (0..u64::from(self.world)).collect();
        let name = file.text("MPI_COMM_WORLD")?;
        // The kinds of old readers stand before those of new ones.
        file.put(known::GROUP, &[0, empty, 6, LOCATIONS, MPI, 0], &all)?;
        file.put(known::GROUP, &[1, empty, 4, RANKS, MPI, 0], &all)?;
        file.put(known::COMM, &[0, name, 1, UNDEFINED, 0], &[])?;
        let mut group = 2;
        for (number, comm) in (1..).zip(&self.comms) {
            let mut put_group = |ranks: &[u32]| {
                let ranks: Vec<u64> = ranks.iter().copied().map(u64::from).collect();
                file.put(known::GROUP, &[group, empty, 4, RANKS, MPI, 0], &ranks)?;
                group += 1;
                Ok::<_, ItemError>(group - 1)
            };
            let own = put_group(&comm.members)?;
            if comm.remote.is_empty() {
                file.put(known::COMM, &[number, empty, own, UNDEFINED, 0], &[])?;
            } else {
                let other = put_group(&comm.remote)?;
                file.inter_comm(number, empty, own, other)?;
            }
        }
        Ok(file.file)
    }
}

/// Definitions on their way, with the numbers of the texts.
struct Definitions {
    file: Chunks,
    texts: FxHashMap<String, u64>,
}

impl Definitions {
    fn put(&mut self, layout: Layout, numbers: &[u64], list: &[u64]) -> Result<(), ItemError> {
        let mut record = Vec::new();
        layout.write(numbers, &[], list, &mut record);
        self.file.put(None, &record)
    }

    /// Adds a communicator between two groups, with fields beyond those that are read.
    fn inter_comm(&mut self, number: u64, name: u64, own: u64, other: u64) -> Result<(), ItemError> {
        let layout = Layout { fields: "nnnnnn", ..known::INTER_COMM };
        self.put(layout, &[number, name, own, other, UNDEFINED, 0], &[])
    }

    /// Returns the number of a text, which is defined before its first use.
    fn text(&mut self, text: &str) -> Result<u64, ItemError> {
        if let Some(&number) = self.texts.get(text) {
            return Ok(number);
        }
        let number = self.texts.len() as u64;
        let mut record = Vec::new();
        known::STRING.write(&[number], text.as_bytes(), &[], &mut record);
        self.file.put(None, &record)?;
        self.texts.insert(text.to_owned(), number);
        Ok(number)
    }
}

impl Calls for ToArchive {
    fn item(&mut self, number: u32, _place: u64, item: Item<'_>) -> Result<(), ItemError> {
        if let Item::Header(header) = item {
            return self.header(header);
        }
        let Some(mut rank) = self.ranks.remove(&number) else {
            return Err(ItemError::new("no-header", format!("rank {number} calls outside its trace")));
        };
        let result = self.of_rank(number, &mut rank, item);
        self.ranks.insert(number, rank);
        result
    }
}

impl ToArchive {
    fn header(&mut self, header: &Header) -> Result<(), ItemError> {
        if header.ranks > MOST_RANKS {
            return Err(ItemError::new("too-large", format!("a trace of {} ranks", header.ranks)));
        }
        if self.ranks.contains_key(&header.rank) {
            return Err(ItemError::new("repeated-rank", format!("rank {} appears twice", header.rank)));
        }
        (self.world, self.clock) = (header.ranks, header.clock);
        self.start = Some(self.start.map_or(header.start, |start| start.min(header.start)));
        let rank = Rank {
            file: Chunks::new(EVENTS),
            start: header.start,
            empty_gap: header.empty_gap,
            sites: FxHashMap::default(),
            marked: FxHashMap::default(),
            comms: FxHashMap::default(),
            naming: Identities::default(),
            persistent: FxHashMap::default(),
            open: FxHashMap::default(),
            requested: 0,
            events: Vec::new(),
            bytes: Vec::new(),
            regions: FxHashMap::default(),
        };
        self.ranks.insert(header.rank, rank);
        Ok(())
    }

    fn of_rank(&mut self, number: u32, rank: &mut Rank, item: Item<'_>) -> Result<(), ItemError> {
        match item {
            Item::Site(index, site) => {
                let name = match site.name.as_str() {
                    "" if site.address == 0 => return Ok(()),
                    "" => format!("0x{:x}", site.address),
                    name => name.to_owned(),
                };
                rank.sites.insert(index, name);
            }
            Item::Region(index, name) => drop(rank.marked.insert(index, name.to_owned())),
            Item::Communicator(index, communicator) => {
                if communicator.members.is_empty() {
                    let what = format!("it is not known who is in communicator {index}");
                    return Err(ItemError::new("unknown-members", what));
                }
                let next = self.comms.len() as u64 + 1;
                let comm = *self.numbers.entry(rank.naming.identity(communicator)).or_insert(next);
                if comm == next {
                    self.comms.push(Communicator { id: 0, ..communicator.clone() });
                }
                let me = communicator.members.iter().position(|&member| member == number).unwrap_or(0);
                rank.comms.insert(index, (comm, communicator.members.len() as u64, me as u64));
            }
            Item::Mark(mark) => {
                let name = rank.marked.get(&mark.region).cloned().unwrap_or_default();
                let region = self.region(name, String::new(), USER);
                let layout = if mark.begins { events::ENTER } else { events::LEAVE };
                rank.put(mark.begin, mark.cpu, layout, &[region]);
            }
            Item::Event(event) => return self.event(number, rank, event),
            Item::Header(_) | Item::Note(..) | Item::End { .. } => {}
        }
        Ok(())
    }

    fn region(&mut self, name: String, site: String, paradigm: u64) -> u64 {
        let next = self.regions.len() as u64;
        let key = (name, site, paradigm);
        let number = *self.region_numbers.entry(key.clone()).or_insert(next);
        if number == next {
            self.regions.push(key);
        }
        number
    }

    fn event(&mut self, number: u32, rank: &mut Rank, event: &Event) -> Result<(), ItemError> {
        if event.thread != 0 {
            let what = "ranks of several threads cannot be written as an archive";
            return Err(ItemError::new("several-threads", what));
        }
        let known = rank.regions.get(&(event.call, event.site)).copied();
        let region = known.unwrap_or_else(|| {
            let site = event.site.checked_sub(1).and_then(|site| rank.sites.get(&site)).cloned();
            let region = self.region(format!("MPI_{}", event.call.name()), site.unwrap_or_default(), MPI);
            rank.regions.insert((event.call, event.site), region);
            region
        });
        let cpu = event.cpu.map(|cpu| cpu.saturating_sub(rank.empty_gap));
        rank.put(event.begin, cpu, events::ENTER, &[region]);
        let begun = match event.call.kind() {
            CallKind::SendInit | CallKind::RecvInit => {
                if let Some(&request) = event.requests.first() {
                    rank.persistent.insert(request, event.clone());
                }
                Vec::new()
            }
            CallKind::Start => {
                let started = event.requests.iter().filter_map(|request| rank.persistent.get(request));
                started.cloned().collect()
            }
            _ => vec![event.clone()],
        };
        for begun in &begun {
            rank.communication(number, self.world, event, begun)?;
        }
        rank.put(event.end, None, events::LEAVE, &[region]);
        Ok(())
    }
}

impl Rank {
    fn put(&mut self, time: u64, cpu: Option<u64>, layout: Layout, numbers: &[u64]) {
        let begin = self.bytes.len();
        if let Some(cpu) = cpu {
            // A list of one attribute: the number of this attribute is 0.
            let layout = Layout { fields: "nnbn", ..events::ATTRIBUTES };
            layout.write(&[1, 0, NUMBER, cpu], &[], &[], &mut self.bytes);
        }
        layout.write(numbers, &[], &[], &mut self.bytes);
        let last = self.events.last().map_or(0, |(last, _)| *last);
        self.events.push((time.max(last), (self.bytes.len() - begin) as u32));
    }

    /// Returns the request of a call in the archive; `None` if it has none.
    fn request(&mut self, begun: &Event, record: Vec<u64>, layout: Layout) -> Option<u64> {
        let &request = begun.requests.first()?;
        self.requested += 1;
        self.open.insert(request, (self.requested, record, layout));
        Some(self.requested)
    }

    /// Adds the records of one communication, within the region of its call.
    fn communication(&mut self, me: u32, world: u32, call: &Event, begun: &Event) -> Result<(), ItemError> {
        let (comm, ranks, own) = match self.comms.get(&begun.comm) {
            Some(&comm) => comm,
            None if begun.comm == 0 => (0, world.into(), me.into()),
            None => {
                let what = format!("communicator {} has not been made", begun.comm);
                return Err(ItemError::new("unknown-communicator", what));
            }
        };
        let at = call.begin;
        let number = |value: i32| u64::try_from(value).unwrap_or(UNDEFINED);
        let kind = begun.call.kind();
        let makes_request = matches!(kind, CallKind::Isend | CallKind::Irecv | CallKind::SendInit | CallKind::RecvInit);
        for end in begun.message_ends() {
            let message = vec![number(end.peer), comm, number(end.tag), end.bytes];
            match (makes_request, end.sends) {
                (false, true) => self.put(at, None, events::SEND, &message),
                (false, false) => self.put(call.end, None, events::RECV, &message),
                (true, true) => {
                    let Some(request) = self.request(begun, Vec::new(), events::ISEND_COMPLETE) else { continue };
                    self.put(at, None, events::ISEND, &[&message[..], &[request]].concat());
                }
                (true, false) => {
                    let Some(request) = self.request(begun, message, events::IRECV) else { continue };
                    self.put(at, None, events::IRECV_REQUEST, &[request]);
                }
            }
        }
        if let Some(operation) = sizes::operation_of(begun.call) {
            let root = if begun.peer < 0 { UNDEFINED } else { number(begun.peer) };
            let [sent, received] = sizes::of(begun, ranks, own);
            let record = vec![operation, comm, root, sent, received];
            if begun.call.makes_request() {
                if let Some(request) = self.request(begun, record, events::NBC_COMPLETE) {
                    self.put(at, None, events::NBC_REQUEST, &[request]);
                }
            } else {
                self.put(at, None, events::COLLECTIVE_BEGIN, &[]);
                self.put(call.end, None, events::COLLECTIVE_END, &record);
            }
        }
        let ends = begun.call.completes_requests() || matches!(begun.call, Call::RequestFree | Call::Cancel);
        for request in call.requests.iter().filter(|_| ends) {
            let Some((number, mut record, layout)) = self.open.remove(request) else { continue };
            record.push(number);
            match begun.call {
                Call::Cancel => self.put(call.end, None, events::CANCELLED, &[number]),
                _ => self.put(call.end, None, layout, &record),
            }
        }
        Ok(())
    }
}

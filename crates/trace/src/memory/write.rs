//! Writer of files of accesses.
//!
//! A record (nest or gather) is written as differences to an earlier record of its site. The first record of
//! a site in an interval is compared with the first one in the last interval that has any, since programs
//! repeat themselves from one exchange to the next. Later records are compared with the previous one. Each
//! kind of number has a column of its own.

use std::fmt;
use std::io::{self, Write};

use rustc_hash::FxHashMap;

use super::fold::Sink;
use super::nest::{AccessKind, Gather, Level, Nest, SIGNATURE, Site, Totals};
use crate::chunk::{self, Packer};
use crate::code::{Crc, fold, put};

/// Columns of a chunk of accesses, in the order in which they are stored.
pub(super) mod column {
    /// 0: an interval begins; 1: a new site; otherwise a record, of the site with this number minus two.
    pub(crate) const SITE: usize = 0;
    /// Definitions of sites.
    pub(crate) const DEFINITION: usize = 1;
    /// Numbers of intervals, minus that of the previous one.
    pub(crate) const INTERVAL: usize = 2;
    /// Set of differences: the bits below.
    pub(crate) const MASK: usize = 3;
    /// First positions.
    pub(crate) const FIRST: usize = 4;
    /// First addresses.
    pub(crate) const BASE: usize = 5;
    /// Sizes.
    pub(crate) const SIZE: usize = 6;
    /// Counts of levels and gathers.
    pub(crate) const COUNT: usize = 7;
    /// Strides of levels.
    pub(crate) const STRIDE: usize = 8;
    /// Steps of levels and gathers.
    pub(crate) const STEP: usize = 9;
    /// Addresses of gathers except the first.
    pub(crate) const ADDRESS: usize = 10;
    /// Number of columns.
    pub(crate) const COLUMNS: usize = 11;
}

/// Bits of the mask. The lowest three are the number of levels.
pub(super) const LEVELS: u8 = 7;
/// The levels differ from those of the last record.
pub(super) const CHANGED: u8 = 8;
/// The size differs.
pub(super) const SIZED: u8 = 16;
/// A gather.
pub(super) const GATHER: u8 = 32;
/// A gather whose addresses are those of an earlier one of its site.
pub(super) const REPEAT: u8 = 64;
/// All defined bits.
pub(super) const BITS: u8 = 127;

/// Size of all columns together at which a chunk is written \[B\].
const FULL: usize = 256 << 10;
/// Level of compression: the default of zstd.
const LEVEL: i32 = 3;

/// Gathers of a site that a later one may repeat: programs read through the same lists of indices again and
/// again. Writer and reader keep the same gathers.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    gathers: Vec<Vec<u64>>,
    /// Number of addresses in all of them.
    length: usize,
    /// Gather expected next if the program repeats itself.
    next: usize,
}

/// Largest number of addresses kept for a site: 2 MiB.
const KEPT: usize = 1 << 18;

impl History {
    /// Returns the gather `ahead` places after the expected one, and expects its successor next.
    pub(super) fn repeat(&mut self, ahead: i64) -> Option<&[u64]> {
        let index = self.next.wrapping_add_signed(ahead as isize);
        let gather = self.gathers.get(index)?;
        self.next = (index + 1) % self.gathers.len();
        Some(gather)
    }

    /// Keeps a gather and returns its number; if there is no room, it replaces all others.
    pub(super) fn keep(&mut self, addresses: &[u64]) -> usize {
        if self.length + addresses.len() > KEPT {
            *self = Self::default();
        }
        self.length += addresses.len();
        self.gathers.push(addresses.to_vec());
        // A sequence that repeats begins with its first gather.
        self.next = 0;
        self.gathers.len() - 1
    }
}

/// Finds a gather in a history.
#[derive(Clone, Debug, Default)]
struct Finder {
    numbers: FxHashMap<u64, usize>,
}

impl Finder {
    /// Returns the distance from the expected gather to the kept one with these addresses; keeps them if
    /// there is none.
    fn find_or_keep(&mut self, addresses: &[u64], history: &mut History) -> Option<i64> {
        let is = |index: usize| history.gathers.get(index).is_some_and(|kept| kept == addresses);
        if is(history.next) {
            return Some(0);
        }
        let hash = addresses
            .iter()
            .fold(0_u64, |hash, &address| (hash.rotate_left(5) ^ address).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        if let Some(&index) = self.numbers.get(&hash)
            && is(index)
        {
            return Some(index as i64 - history.next as i64);
        }
        let index = history.keep(addresses);
        if index == 0 {
            self.numbers.clear();
        }
        self.numbers.insert(hash, index);
        None
    }
}

/// State of a site, from which its next record is encoded as differences.
#[derive(Clone, Debug, Default)]
pub(super) struct SiteState {
    /// Number of the interval of the last record, plus one.
    pub(super) interval: u64,
    /// First record of that interval.
    pub(super) first: (u64, u64),
    /// Last record: position and address.
    pub(super) last: (u64, u64),
    pub(super) size: u64,
    pub(super) levels: Vec<Level>,
    pub(super) history: History,
}

impl SiteState {
    /// Returns the position and address that the next record is compared with.
    pub(super) fn reference(&self, interval: u64) -> (u64, u64) {
        if self.interval == interval.wrapping_add(1) { self.last } else { self.first }
    }

    pub(super) fn set(&mut self, interval: u64, next: (u64, u64)) {
        if self.interval != interval.wrapping_add(1) {
            self.first = next;
            self.interval = interval.wrapping_add(1);
        }
        self.last = next;
    }
}

/// Writes a file of accesses.
///
/// Data stays in memory until a chunk is full (256 KiB before compression), or [`flush`](Self::flush),
/// [`finish`](Self::finish) or [`finish_stored`](Self::finish_stored) is called.
pub struct Writer<W: Write> {
    out: W,
    columns: [Vec<u8>; column::COLUMNS],
    /// Number of items in `columns`.
    pending: u64,
    /// Upper estimate of the bytes in `columns`.
    filled: usize,
    interval: u64,
    /// Last interval that was written, plus one.
    told: u64,
    sites: Vec<SiteState>,
    finders: Vec<Finder>,
    raw: Vec<u8>,
    packer: Packer,
    records: u64,
    held: bool,
}

impl<W: Write> Writer<W> {
    /// Starts a file; the notes describe the program, or anything else.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn new(mut out: W, notes: &[(&str, &str)]) -> io::Result<Self> {
        let mut text = String::new();
        for (name, value) in notes {
            text.extend(name.chars().map(|c| if c.is_whitespace() { '-' } else { c }));
            text.push(' ');
            text.extend(value.chars().map(|c| if matches!(c, '\n' | '\r') { ' ' } else { c }));
            text.push('\n');
        }
        let mut packer = Packer::new(LEVEL)?;
        out.write_all(&SIGNATURE)?;
        // Not compressed, so that people can recognise a file.
        packer.write(&mut out, chunk::HEADER, text.as_bytes(), false)?;
        Ok(Self {
            out,
            // Adding records in a signal handler must not allocate memory: so it is reserved from the start.
            // Pages that are never touched cost nothing.
            columns: std::array::from_fn(|_| Vec::with_capacity(2 * FULL)),
            pending: 0,
            filled: 0,
            interval: 0,
            told: 0,
            sites: Vec::new(),
            finders: Vec::new(),
            raw: Vec::with_capacity(FULL),
            packer,
            records: 0,
            held: false,
        })
    }

    /// Adds a site and returns its number.
    pub fn site(&mut self, site: &Site) -> u32 {
        self.sites.push(SiteState::default());
        self.finders.push(Finder::default());
        put(&mut self.columns[column::SITE], 1);
        let out = &mut self.columns[column::DEFINITION];
        put(out, site.address);
        out.push(u8::from(site.write) | (site.kind as u8) << 1);
        put(out, site.name.len() as u64);
        out.extend_from_slice(site.name.as_bytes());
        self.pending += 1;
        self.filled += 16 + site.name.len();
        (self.sites.len() - 1) as u32
    }

    /// Begins an interval: later records belong to it.
    ///
    /// # Errors
    /// Those of the output, when a chunk is full.
    pub fn interval(&mut self, number: u64) -> io::Result<()> {
        self.interval = number;
        self.flush_if_full()
    }

    /// Returns true if the present interval already has a record, so that its number is written.
    pub fn has_records(&self) -> bool {
        self.told == self.interval + 1
    }

    /// Number of nests and gathers so far.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Output of the writer.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.out
    }

    fn begin(&mut self, site: u32, size: u64, at: (u64, u64), mask: u8, levels: &[Level]) {
        let columns = &mut self.columns;
        if self.told != self.interval + 1 {
            put(&mut columns[column::SITE], 0);
            put(&mut columns[column::INTERVAL], fold((self.interval + 1).wrapping_sub(self.told) as i64));
            self.told = self.interval + 1;
            self.pending += 1;
        }
        let index = site as usize;
        put(&mut columns[column::SITE], u64::from(site) + 2);
        let last = &mut self.sites[index];
        let mut mask = mask | levels.len() as u8;
        // A gather has no levels and leaves those of the last nest unchanged.
        if mask & GATHER == 0 && last.levels != levels {
            mask |= CHANGED;
        }
        if last.size != size {
            mask |= SIZED;
            put(&mut columns[column::SIZE], size);
            last.size = size;
        }
        columns[column::MASK].push(mask);
        let (position, address) = last.reference(self.interval);
        put(&mut columns[column::FIRST], fold(at.0.wrapping_sub(position) as i64));
        put(&mut columns[column::BASE], fold(at.1.wrapping_sub(address) as i64));
        last.set(self.interval, at);
        if mask & CHANGED != 0 {
            for (i, level) in levels.iter().enumerate() {
                let before = last.levels.get(i).copied().unwrap_or_default();
                put(&mut columns[column::COUNT], fold(level.count.wrapping_sub(before.count) as i64));
                put(&mut columns[column::STRIDE], fold(level.stride.wrapping_sub(before.stride)));
                put(&mut columns[column::STEP], fold(level.step.wrapping_sub(before.step) as i64));
            }
            last.levels.clear();
            last.levels.extend_from_slice(levels);
        }
        self.pending += 1;
        self.records += 1;
        self.filled += 16;
    }

    /// Stops writing full chunks, before [`finish_stored`](Self::finish_stored) in a signal handler.
    pub fn hold(&mut self) {
        self.held = true;
    }

    fn flush_if_full(&mut self) -> io::Result<()> {
        // A record takes at least six bytes; so it suffices to check now and then if the columns are full.
        if self.filled >= FULL / 8 && !self.held {
            self.filled = self.columns.iter().map(Vec::len).sum();
            if self.filled >= FULL {
                return self.flush();
            }
            self.filled = 0;
        }
        Ok(())
    }

    /// Writes all data added so far.
    ///
    /// # Errors
    /// Those of the output.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.pending == 0 {
            return Ok(());
        }
        self.raw.clear();
        put(&mut self.raw, self.pending);
        put(&mut self.raw, column::COLUMNS as u64);
        for column in &mut self.columns {
            put(&mut self.raw, column.len() as u64);
            self.raw.append(column);
        }
        (self.pending, self.filled) = (0, 0);
        self.packer.write(&mut self.out, chunk::ACCESSES, &self.raw, true)
    }

    /// Writes all data added so far and the end, without compression and without allocating memory. For a
    /// signal handler that did not interrupt a call of this writer. Nothing may be added afterwards.
    ///
    /// # Errors
    /// Those of the output.
    pub fn finish_stored(&mut self, totals: Totals) -> io::Result<()> {
        if self.pending > 0 {
            let mut heads = [ShortBytes::default(); column::COLUMNS + 1];
            heads[0].put(self.pending);
            heads[0].put(column::COLUMNS as u64);
            for (head, column) in heads[1..].iter_mut().zip(&self.columns) {
                head.put(column.len() as u64);
            }
            let nothing = Vec::new();
            let mut crc = Crc::new();
            let mut length = 0;
            let pieces = || heads.iter().zip(std::iter::once(&nothing).chain(&self.columns));
            for (head, column) in pieces() {
                crc.add(head.bytes());
                crc.add(column);
                length += head.bytes().len() + column.len();
            }
            self.out.write_all(&chunk::head(chunk::ACCESSES, chunk::STORED, length, length, crc))?;
            for (head, column) in pieces() {
                self.out.write_all(head.bytes())?;
                self.out.write_all(column)?;
            }
            self.pending = 0;
            for column in &mut self.columns {
                column.clear();
            }
        }
        let end = ShortBytes::of_totals(totals, self.records);
        let mut crc = Crc::new();
        crc.add(end.bytes());
        let length = end.bytes().len();
        self.out.write_all(&chunk::head(chunk::END, chunk::STORED, length, length, crc))?;
        self.out.write_all(end.bytes())?;
        self.out.flush()
    }

    /// Ends the file; returns the output.
    ///
    /// # Errors
    /// Those of the output.
    pub fn finish(mut self, totals: Totals) -> io::Result<W> {
        self.flush()?;
        self.finish_stored(totals)?;
        Ok(self.out)
    }
}

impl<W: Write> Sink for Writer<W> {
    fn nest(&mut self, nest: &Nest) -> io::Result<()> {
        self.begin(nest.site, nest.size, (nest.first, nest.base), 0, nest.levels());
        self.flush_if_full()
    }

    fn gather(&mut self, gather: &Gather) -> io::Result<()> {
        let Some((&base, rest)) = gather.addresses.split_first() else { return Ok(()) };
        let index = gather.site as usize;
        let history = &mut self.sites[index].history;
        let repeated = self.finders[index].find_or_keep(&gather.addresses, history);
        let mask = if repeated.is_some() { GATHER | REPEAT } else { GATHER };
        self.begin(gather.site, gather.size, (gather.first, base), mask, &[]);
        put(&mut self.columns[column::STEP], gather.step);
        if let Some(ahead) = repeated {
            self.sites[index].history.repeat(ahead);
            put(&mut self.columns[column::COUNT], fold(ahead));
            return self.flush_if_full();
        }
        put(&mut self.columns[column::COUNT], gather.addresses.len() as u64);
        let mut before = base;
        for &address in rest {
            put(&mut self.columns[column::ADDRESS], fold(address.wrapping_sub(before) as i64));
            before = address;
        }
        self.filled += 3 * rest.len();
        self.flush_if_full()
    }
}

impl<W: Write> fmt::Debug for Writer<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("records", &self.records).field("pending", &self.pending).finish_non_exhaustive()
    }
}

/// A few numbers of at most ten bytes each, without heap memory.
#[derive(Clone, Copy)]
struct ShortBytes {
    bytes: [u8; 40],
    length: usize,
}

impl Default for ShortBytes {
    fn default() -> Self {
        Self { bytes: [0; 40], length: 0 }
    }
}

impl ShortBytes {
    fn of_totals(totals: Totals, records: u64) -> Self {
        let mut short = Self::default();
        for number in [records, totals.accesses, totals.elsewhere, totals.lost] {
            short.put(number);
        }
        short
    }

    fn put(&mut self, mut number: u64) {
        loop {
            let more = number >= 0x80;
            self.bytes[self.length] = (number & 0x7f) as u8 | u8::from(more) << 7;
            self.length += 1;
            number >>= 7;
            if !more {
                break;
            }
        }
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

const _: () = assert!(AccessKind::ALL.len() == 8 && super::nest::DEPTH <= LEVELS as usize);

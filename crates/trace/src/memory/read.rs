//! Reader of files of accesses.

use std::io::Read;

use super::nest::{AccessKind, DEPTH, Gather, Level, Nest, SIGNATURE, Site, Totals};
use super::write::{BITS, CHANGED, GATHER, LEVELS, REPEAT, SIZED, SiteState, column};
use crate::ReadError;
use crate::chunk::{self, Chunks};
use crate::code::{Cursor, unfold};

/// An item of a file of accesses.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Item<'a> {
    /// Description of the program: names and values.
    Header(&'a [(String, String)]),
    /// A site and its number.
    Site(u32, &'a Site),
    /// Begin of an interval, by number.
    Interval(u64),
    /// Accesses that follow a rule.
    Nest(&'a Nest),
    /// Accesses that follow no rule.
    Gather(&'a Gather),
    /// Regular end of the file.
    End(Totals),
}

/// Reads a file of accesses, one item at a time.
///
/// Memory: a chunk (at most 32 MiB) and the last record of every site, for any file.
#[derive(Debug)]
pub struct Reader<R> {
    chunks: Chunks<R>,
    notes: Option<Vec<(String, String)>>,
    columns: [Cursor; column::COLUMNS],
    pending: u64,
    interval: u64,
    told: u64,
    sites: Vec<(Site, SiteState)>,
    nest: Nest,
    gather: Gather,
    records: u64,
    /// Set at the end or after an error: nothing more is read.
    ended: bool,
}

/// Kind of [`Item`] that the reader holds.
enum HeldItem {
    Header,
    Site(u32),
    Interval,
    Nest,
    Gather,
    End(Totals),
}

impl<R: Read> Reader<R> {
    /// Creates a reader at the beginning of a file.
    pub fn new(input: R) -> Self {
        Self {
            chunks: Chunks::new(input),
            notes: None,
            columns: [Cursor::default(); column::COLUMNS],
            pending: 0,
            interval: 0,
            told: 0,
            sites: Vec::new(),
            nest: Nest::default(),
            gather: Gather::default(),
            records: 0,
            ended: false,
        }
    }

    /// Reads the next item; `None` after the end, and after an error.
    ///
    /// # Errors
    /// The file is truncated or damaged; everything before is right.
    #[allow(clippy::should_implement_trait, reason = "the item borrows from the reader")]
    pub fn next(&mut self) -> Result<Option<Item<'_>>, ReadError> {
        if self.ended {
            return Ok(None);
        }
        self.ended = true;
        let step = self.step()?;
        self.ended = matches!(step, HeldItem::End(_));
        Ok(Some(match step {
            HeldItem::Header => Item::Header(self.notes.as_deref().unwrap_or_default()),
            HeldItem::Site(number) => Item::Site(number, &self.sites[number as usize].0),
            HeldItem::Interval => Item::Interval(self.interval),
            HeldItem::Nest => Item::Nest(&self.nest),
            HeldItem::Gather => Item::Gather(&self.gather),
            HeldItem::End(totals) => Item::End(totals),
        }))
    }

    fn step(&mut self) -> Result<HeldItem, ReadError> {
        loop {
            if self.pending > 0 {
                self.pending -= 1;
                return self.item().map_err(|what| self.chunks.damaged(what));
            }
            self.chunks.mark();
            if self.notes.is_none() {
                return self.header();
            }
            let kind = self.chunks.next()?;
            let whole = Cursor { at: 0, end: self.chunks.content.len() };
            match kind {
                chunk::ACCESSES => self.begin(whole).map_err(|what| self.chunks.damaged(what))?,
                chunk::END => return self.end(whole).map_err(|what| self.chunks.damaged(what)),
                kind if kind.is_ascii_lowercase() => {}
                kind => return Err(self.chunks.damaged(format!("there is no kind of chunk 0x{kind:02x}"))),
            }
        }
    }

    fn header(&mut self) -> Result<HeldItem, ReadError> {
        let mut bytes = [0; SIGNATURE.len()];
        let count = self.chunks.fill(&mut bytes)?;
        if bytes != SIGNATURE {
            return Err(match bytes {
                _ if SIGNATURE.starts_with(&bytes[..count]) => {
                    ReadError::Truncated { what: "a signature", offset: self.chunks.at() }
                }
                _ if bytes[..3] == SIGNATURE[..3] && bytes[3] != SIGNATURE[3] => {
                    self.chunks.damaged(format!("version {:?} of the format is not known", char::from(bytes[3])))
                }
                _ if bytes[..4] == SIGNATURE[..4] => {
                    self.chunks.damaged("the signature is damaged: was the file copied as text?".into())
                }
                _ => self.chunks.damaged("no file of memory accesses begins here".into()),
            });
        }
        self.chunks.mark();
        if self.chunks.next()? != chunk::HEADER {
            return Err(self.chunks.damaged("the file does not begin with a header".into()));
        }
        let text = std::str::from_utf8(&self.chunks.content);
        let text = text.map_err(|_| self.chunks.damaged("the header is no text".into()))?;
        let note = |line: &str| {
            let (name, value) = line.split_once(' ').unwrap_or((line, ""));
            (name.to_owned(), value.to_owned())
        };
        self.notes = Some(text.lines().map(note).collect());
        Ok(HeldItem::Header)
    }

    fn begin(&mut self, mut cursor: Cursor) -> Result<(), String> {
        let bytes = &self.chunks.content;
        let cut_off = || "a block of accesses is cut off".to_owned();
        let items = cursor.take(bytes).ok_or_else(cut_off)?;
        let columns = cursor.take(bytes).ok_or_else(cut_off)?;
        self.columns = [Cursor::default(); column::COLUMNS];
        for i in 0..columns {
            let length = cursor.take(bytes).ok_or_else(cut_off)?;
            let at = cursor.at;
            cursor.slice(bytes, length).ok_or_else(cut_off)?;
            // Columns of later versions are skipped.
            if let Some(column) = self.columns.get_mut(i as usize) {
                *column = Cursor { at, end: cursor.at };
            }
        }
        // Every item takes at least a byte in the column of sites.
        if items > self.columns[column::SITE].left() as u64 {
            return Err(format!("a block claims to have {items} records"));
        }
        self.pending = items;
        Ok(())
    }

    fn take(&mut self, column: usize) -> Result<u64, String> {
        self.columns[column]
            .take(&self.chunks.content)
            .ok_or_else(|| "a block of accesses ends in the middle of a record".to_owned())
    }

    fn item(&mut self) -> Result<HeldItem, String> {
        match self.take(column::SITE)? {
            0 => {
                self.told = self.told.wrapping_add(unfold(self.take(column::INTERVAL)?) as u64);
                self.interval = self.told.wrapping_sub(1);
                Ok(HeldItem::Interval)
            }
            1 => self.site(),
            number if number - 2 < self.sites.len() as u64 => self.record((number - 2) as u32),
            number => Err(format!("there is no site {}", number - 2)),
        }
    }

    fn site(&mut self) -> Result<HeldItem, String> {
        let number = u32::try_from(self.sites.len()).map_err(|_| "there are too many sites".to_owned())?;
        let address = self.take(column::DEFINITION)?;
        let flags = self.take(column::DEFINITION)?;
        let kind = AccessKind::ALL.get((flags >> 1) as usize);
        let kind = *kind.ok_or_else(|| format!("a site has kind {}, which is not known", flags >> 1))?;
        let length = self.take(column::DEFINITION)?;
        let name = self.columns[column::DEFINITION].slice(&self.chunks.content, length);
        let name = String::from_utf8_lossy(name.ok_or("the name of a site is cut off")?).into_owned();
        self.sites.push((Site { address, write: flags & 1 != 0, kind, name }, SiteState::default()));
        Ok(HeldItem::Site(number))
    }

    fn record(&mut self, number: u32) -> Result<HeldItem, String> {
        let mask = self.take(column::MASK)?;
        let depth = (mask & u64::from(LEVELS)) as usize;
        if mask > u64::from(BITS) || depth > DEPTH {
            return Err(format!("a record has form {mask}, which is not known"));
        }
        let mask = mask as u8;
        let index = number as usize;
        if mask & SIZED != 0 {
            self.sites[index].1.size = self.take(column::SIZE)?;
        }
        let (position, address) = self.sites[index].1.reference(self.interval);
        let first = position.wrapping_add(unfold(self.take(column::FIRST)?) as u64);
        let base = address.wrapping_add(unfold(self.take(column::BASE)?) as u64);
        let size = self.sites[index].1.size;
        self.sites[index].1.set(self.interval, (first, base));
        self.records += 1;
        if mask & GATHER != 0 {
            let step = self.take(column::STEP)?;
            self.gather =
                Gather { site: number, size, first, step, addresses: std::mem::take(&mut self.gather.addresses) };
            self.gather.addresses.clear();
            if mask & REPEAT != 0 {
                let ahead = unfold(self.take(column::COUNT)?);
                let addresses = self.sites[index].1.history.repeat(ahead);
                self.gather.addresses.extend_from_slice(addresses.ok_or("a gather repeats one that is not kept")?);
                return Ok(HeldItem::Gather);
            }
            let count = self.take(column::COUNT)?;
            // Every address except the first takes at least a byte.
            if count == 0 || count - 1 > self.columns[column::ADDRESS].left() as u64 {
                return Err(format!("a gather claims to have {count} addresses"));
            }
            self.gather.addresses.push(base);
            let mut address = base;
            for _ in 1..count {
                address = address.wrapping_add(unfold(self.take(column::ADDRESS)?) as u64);
                self.gather.addresses.push(address);
            }
            self.sites[index].1.history.keep(&self.gather.addresses);
            return Ok(HeldItem::Gather);
        }
        if mask & CHANGED != 0 {
            let mut levels = [Level::default(); DEPTH];
            for (i, level) in levels[..depth].iter_mut().enumerate() {
                let before = self.sites[index].1.levels.get(i).copied().unwrap_or_default();
                level.count = before.count.wrapping_add(unfold(self.take(column::COUNT)?) as u64);
                level.stride = before.stride.wrapping_add(unfold(self.take(column::STRIDE)?));
                level.step = before.step.wrapping_add(unfold(self.take(column::STEP)?) as u64);
                if level.count < 2 {
                    return Err(format!("a loop goes round {} times", level.count));
                }
            }
            let last = &mut self.sites[index].1.levels;
            last.clear();
            last.extend_from_slice(&levels[..depth]);
        }
        let levels = &self.sites[index].1.levels;
        if levels.len() != depth {
            return Err(format!("a record has {depth} levels, the one that it repeats {}", levels.len()));
        }
        self.nest = Nest::new(number, size, base, first, levels);
        Ok(HeldItem::Nest)
    }

    fn end(&mut self, mut cursor: Cursor) -> Result<HeldItem, String> {
        let mut take = || cursor.take(&self.chunks.content).ok_or("the end is cut off");
        let records = take()?;
        let totals = Totals { accesses: take()?, elsewhere: take()?, lost: take()? };
        if records != self.records {
            return Err(format!("the file has {} records, not {records} as its end says", self.records));
        }
        Ok(HeldItem::End(totals))
    }
}

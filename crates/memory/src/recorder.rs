//! Conversion of accesses to runs.
//!
//! Each site has an open run: the number of its accesses, and the next expected address and position. An
//! access at that point extends the run, which is all the work for nearly every access. Any other access
//! closes the run and begins a new one. Closed runs go to the site's [`Folder`].

use std::io::{self, Write};

use hayase_trace::memory::{AccessKind, Folder, Nest, Run, Sink, Site, Totals, Writer};

mod blocks;

pub use blocks::Block;
use blocks::Blocks;

/// An open run. One cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
struct OpenRun {
    /// Site: address, direction and kind; 0 if free.
    key: u64,
    /// Address of the next access, if the run continues.
    next: u64,
    /// Position of the next access, if the run continues; `NO_POSITION` while that is not known.
    at: u64,
    /// Distance between addresses; for a run of one access: its address; for a gather: distance between
    /// positions.
    stride: u64,
    /// Distance between positions; for a run of one access: its position; for a gather: position of the next
    /// access.
    step: u64,
    /// Number of accesses of the run; 0 if there is none; `GATHER` if the folder has an open gather instead.
    count: u64,
    /// Index of further data of the site.
    side: u32,
}

/// Count that stands for a gather.
const GATHER: u64 = u64::MAX;

/// A position that no access has.
const NO_POSITION: u64 = u64::MAX;

/// Data of a site that is rarely needed.
#[derive(Debug)]
struct SiteData {
    site: u32,
    /// Size of the accesses of the open run \[B\].
    size: u64,
    /// True if the site is in `Recorder::active`.
    active: bool,
    folder: Folder,
}

/// The sites of a program and their open runs.
#[derive(Debug)]
pub struct Recorder<W: Write> {
    /// A hash table with linear probing; at most half full.
    slots: Box<[OpenRun]>,
    /// 64 minus the number of bits of an index of `slots`.
    shift: u32,
    /// Position of the next access.
    position: u64,
    sides: Vec<SiteData>,
    /// Sites with an open run or nest, as indices of `slots`, in the order of their first access in the interval.
    active: Vec<u32>,
    blocks: Blocks,
    /// Hazards that begin or end in the interval, with their positions.
    hazards: Vec<(Place, bool, u64)>,
    writer: Writer<W>,
    /// Number of accesses of earlier intervals.
    accesses: u64,
    /// First error, after which nothing is written any more.
    error: Option<io::Error>,
}

/// Base-2 logarithm of the number of slots of a new table.
const SLOTS_LOG2: u32 = 12;

/// 2^64 over the golden ratio: addresses of code are multiplied by it and the top bits taken (Fibonacci
/// hashing).
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns the key of a site within the process: its return address and its direction.
#[inline(always)]
pub fn key(address: u64, write: bool) -> u64 {
    address << 1 | u64::from(write)
}

/// Position of the kind of a site in a key: addresses of programs have 57 bits at most.
const KIND: u32 = 60;

/// Place in the program that calls a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// Return address.
    pub address: u64,
    /// Name of the function, or of its effect.
    pub name: &'static str,
}

impl<W: Write> Recorder<W> {
    /// Starts a file; the notes go into its header.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn new(out: W, notes: &[(&str, &str)]) -> io::Result<Self> {
        Ok(Self {
            slots: vec![OpenRun::default(); 1 << SLOTS_LOG2].into_boxed_slice(),
            shift: 64 - SLOTS_LOG2,
            position: 0,
            sides: Vec::new(),
            active: Vec::with_capacity(1 << SLOTS_LOG2),
            blocks: Blocks::default(),
            hazards: Vec::new(),
            writer: Writer::new(out, notes)?,
            accesses: 0,
            error: None,
        })
    }

    /// Takes an access if it continues the open run of the site with this [`key`]; otherwise does nothing and
    /// returns `false`. Only for sites whose accesses all have one size, as for each call of an entry
    /// function: the size is not compared.
    #[inline(always)]
    pub fn extend(&mut self, key: u64, address: u64) -> bool {
        let index = (key.wrapping_mul(GOLDEN) >> self.shift) as usize;
        let Some(slot) = self.slots.get_mut(index) else { return false };
        let position = self.position;
        if slot.key == key && slot.next == address && slot.at == position {
            slot.next = address.wrapping_add(slot.stride);
            slot.at = position.wrapping_add(slot.step);
            slot.count += 1;
            self.position = position + 1;
            return true;
        }
        false
    }

    /// Takes an access if it continues the open gather of the site with this [`key`]; otherwise does nothing
    /// and returns `false`. Only for sites whose accesses all have one size, as for each call of an entry
    /// function: the size is not compared.
    #[inline(always)]
    pub fn extend_gather(&mut self, key: u64, address: u64) -> bool {
        let index = (key.wrapping_mul(GOLDEN) >> self.shift) as usize;
        let Some(slot) = self.slots.get_mut(index) else { return false };
        if slot.key != key || slot.count != GATHER || slot.step != self.position {
            return false;
        }
        let Some(side) = self.sides.get_mut(slot.side as usize) else { return false };
        if !side.folder.gather(address) {
            return false;
        }
        slot.step = slot.step.wrapping_add(slot.stride);
        self.position += 1;
        true
    }

    /// Records an access of the program.
    pub fn access(&mut self, key: u64, address: u64, size: u64) {
        self.access_of(key, address, size, AccessKind::Plain, "");
    }

    /// Records an access by a site of any kind; `name` is the accessing function.
    #[inline(never)]
    pub fn access_of(&mut self, key: u64, address: u64, size: u64, kind: AccessKind, name: &str) {
        let index = self.find(key, kind, name);
        let position = self.position;
        self.position = position + 1;
        let slot = &mut self.slots[index];
        let Some(side) = self.sides.get_mut(slot.side as usize) else { return };
        if !side.active {
            side.active = true;
            self.active.push(index as u32);
        }
        if side.size == size {
            match slot.count {
                0 => {}
                1 => {
                    slot.stride = address.wrapping_sub(slot.stride);
                    slot.step = position - slot.step;
                    slot.next = address.wrapping_add(slot.stride);
                    slot.at = position + slot.step;
                    slot.count = 2;
                    return;
                }
                GATHER if slot.step == position && side.folder.gather(address) => {
                    slot.step = slot.step.wrapping_add(slot.stride);
                    return;
                }
                _ if slot.next == address && slot.at == position => {
                    slot.next = address.wrapping_add(slot.stride);
                    slot.at = position + slot.step;
                    slot.count += 1;
                    return;
                }
                _ => {}
            }
        }
        if let Some(run) = slot.close(side) {
            let result = side.folder.run(&run, &mut self.writer);
            note(&mut self.error, result);
            if let Some((at, step)) = side.folder.gathering()
                && at == position
                && side.size == size
            {
                // It has room: it has just begun.
                if side.folder.gather(address) {
                    (slot.count, slot.at, slot.stride, slot.step) = (GATHER, NO_POSITION, step, at + step);
                    return;
                }
            }
        }
        (slot.count, slot.at, slot.stride, slot.step) = (1, NO_POSITION, address, position);
        side.size = size;
    }

    /// Returns the index of a site in the table; adds it if it is new.
    fn find(&mut self, key: u64, kind: AccessKind, name: &str) -> usize {
        // One call may tell of accesses and be marked, or end one block and begin another.
        let key = key & !(!0 << KIND) | (kind as u64) << KIND;
        let mask = self.slots.len() - 1;
        let mut index = (key.wrapping_mul(GOLDEN) >> self.shift) as usize;
        loop {
            match self.slots[index].key {
                found if found == key => return index,
                0 => break,
                _ => index = (index + 1) & mask,
            }
        }
        if 2 * (self.sides.len() + 1) > self.slots.len() {
            self.grow();
            return self.find(key, kind, name);
        }
        let address = ((key & !(!0 << KIND)) >> 1).wrapping_sub(1);
        let site = Site { address, write: key & 1 != 0, kind, name: name.into() };
        let site = self.writer.site(&site);
        self.slots[index] = OpenRun { key, at: NO_POSITION, side: self.sides.len() as u32, ..OpenRun::default() };
        self.sides.push(SiteData { site, size: 0, active: false, folder: Folder::default() });
        index
    }

    fn grow(&mut self) {
        let old = std::mem::take(&mut self.slots);
        self.slots = vec![OpenRun::default(); 2 * old.len()].into_boxed_slice();
        self.shift -= 1;
        let mask = self.slots.len() - 1;
        let mut moved = vec![0; old.len()];
        for (slot, moved) in old.iter().zip(&mut moved) {
            if slot.key != 0 {
                let mut index = (slot.key.wrapping_mul(GOLDEN) >> self.shift) as usize;
                while self.slots[index].key != 0 {
                    index = (index + 1) & mask;
                }
                self.slots[index] = *slot;
                *moved = index as u32;
            }
        }
        for index in &mut self.active {
            *index = moved[*index as usize];
        }
        self.active.reserve(self.slots.len() - self.active.len());
    }

    /// Sets the number of the next call: the first interval is before the call that comes first, whatever its
    /// number.
    pub fn name_interval(&mut self, number: u64) {
        if !self.writer.has_records() {
            let result = self.writer.interval(number);
            note(&mut self.error, result);
        }
    }

    /// Records that the function of this site began or ended, with variables at `low..high`, before the
    /// access with this position.
    pub fn frame(&mut self, key: u64, low: u64, high: u64, position: u64) {
        self.mark(key, AccessKind::Frame, "", (low, high), position);
    }

    /// Writes a record that is not an access.
    fn mark(&mut self, key: u64, kind: AccessKind, name: &str, (low, high): (u64, u64), position: u64) {
        let index = self.find(key, kind, name);
        let Some(side) = self.sides.get(self.slots[index].side as usize) else { return };
        let mark = Nest::new(side.site, high.saturating_sub(low), low, position, &[]);
        let result = self.writer.nest(&mark);
        note(&mut self.error, result);
    }

    /// Records a call that makes or ends a block of this address and size, at this point in the order of
    /// accesses.
    pub fn block(&mut self, place: Place, begins: bool, low: u64, size: u64) {
        let (first, last) = (self.position, self.position);
        let block = Block { place, low, high: low.saturating_add(size), first, last };
        if begins { self.blocks.begin(block) } else { self.blocks.end(block) }
    }

    /// Records that memory may change unseen from here on, or no longer does; the place's name is the reason.
    pub fn hazard(&mut self, place: Place, begins: bool) {
        self.hazards.push((place, begins, self.position));
    }

    /// Notes that the call with this index begins: the interval with its number is over.
    pub fn call(&mut self, number: u64) {
        self.name_interval(number);
        for (Block { place, low, high, .. }, position) in self.blocks.take() {
            self.mark(key(place.address, true), AccessKind::Block, place.name, (low, high), position);
        }
        for (place, begins, position) in std::mem::take(&mut self.hazards) {
            self.mark(key(place.address, begins), AccessKind::Hazard, place.name, (0, 0), position);
        }
        self.close();
        let result = self.writer.interval(number.wrapping_add(1));
        note(&mut self.error, result);
    }

    fn close(&mut self) {
        for &index in &self.active {
            let slot = &mut self.slots[index as usize];
            let side = &mut self.sides[slot.side as usize];
            side.active = false;
            if let Some(run) = slot.close(side) {
                let result = side.folder.run(&run, &mut self.writer);
                note(&mut self.error, result);
            }
            (slot.count, slot.at) = (0, NO_POSITION);
            let result = side.folder.flush(&mut self.writer);
            note(&mut self.error, result);
        }
        self.active.clear();
        self.accesses += self.position;
        self.position = 0;
    }

    /// Ends the file without allocating memory; `elsewhere` and `lost` go into its totals.
    ///
    /// # Errors
    /// Those of the file: this one, or the first since it was begun.
    pub fn finish(&mut self, elsewhere: u64, lost: u64) -> io::Result<()> {
        self.writer.hold();
        self.close();
        let totals = Totals { accesses: self.accesses, elsewhere, lost };
        let result = self.writer.finish_stored(totals);
        self.error.take().map_or(result, Err)
    }

    /// Position of the next access.
    #[inline(always)]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Accesses so far.
    pub fn accesses(&self) -> u64 {
        self.accesses + self.position
    }
}

/// Remembers the first error.
fn note(first: &mut Option<io::Error>, result: io::Result<()>) {
    if let Err(error) = result {
        first.get_or_insert(error);
    }
}

impl OpenRun {
    /// Returns the open run.
    #[inline]
    fn close(&self, side: &SiteData) -> Option<Run> {
        let Self { next, at, stride, step, count, .. } = *self;
        let SiteData { site, size, .. } = *side;
        match count {
            0 | GATHER => None,
            1 => Some(Run { site, size, base: stride, first: step, stride: 0, count, step: 0 }),
            _ => Some(Run {
                site,
                size,
                base: next.wrapping_sub(stride.wrapping_mul(count)),
                first: at.wrapping_sub(step.wrapping_mul(count)),
                stride: stride as i64,
                count,
                step,
            }),
        }
    }
}

#[cfg(test)]
mod tests;

//! Labels of the operations of a rank: a hash table over one run of bytes, which is cleared for the next rank
//! and keeps its memory.

use std::hash::Hasher;

/// Map from the labels of a rank to operations.
#[derive(Default)]
pub(super) struct Labels {
    /// All labels, one after another.
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    /// Number of an entry plus one, by hash with linear probing; 0 if free. The number of slots is a power of
    /// two, and at most half of them are taken.
    slots: Vec<u32>,
}

struct Entry {
    hash: u32,
    start: u32,
    end: u32,
    op: u32,
}

impl Labels {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.entries.clear();
        self.slots.fill(0);
    }

    /// Returns the operation of this name.
    #[inline]
    pub(super) fn get(&self, name: &[u8]) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        match self.find(name, hash(name)) {
            Ok(entry) => Some(self.entries[entry].op),
            Err(_) => None,
        }
    }

    /// Names an operation, unless another one has that name already. Returns `false` if there are too many
    /// names.
    pub(super) fn insert(&mut self, name: &[u8], op: u32) -> bool {
        if self.entries.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let hash = hash(name);
        let Err(slot) = self.find(name, hash) else { return true };
        let (Ok(start), Ok(end)) = (u32::try_from(self.bytes.len()), u32::try_from(self.bytes.len() + name.len()))
        else {
            return false;
        };
        self.bytes.extend_from_slice(name);
        self.entries.push(Entry { hash, start, end, op });
        self.slots[slot] = self.entries.len() as u32;
        true
    }

    /// Returns the entry of this name, or the slot where it would be.
    #[inline]
    fn find(&self, name: &[u8], hash: u32) -> Result<usize, usize> {
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let number = self.slots[slot];
            if number == 0 {
                return Err(slot);
            }
            let entry = &self.entries[number as usize - 1];
            if entry.hash == hash && &self.bytes[entry.start as usize..entry.end as usize] == name {
                return Ok(number as usize - 1);
            }
            slot = (slot + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let size = (2 * self.slots.len()).max(64);
        self.slots.clear();
        self.slots.resize(size, 0);
        let mask = size - 1;
        for (i, entry) in self.entries.iter().enumerate() {
            let mut slot = entry.hash as usize & mask;
            while self.slots[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            self.slots[slot] = i as u32 + 1;
        }
    }
}

#[inline]
fn hash(name: &[u8]) -> u32 {
    let mut hasher = rustc_hash::FxHasher::default();
    hasher.write(name);
    let hash = hasher.finish();
    (hash >> 32) as u32 ^ hash as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_a_name_stays() {
        let mut labels = Labels::default();
        assert_eq!(labels.get(b"a"), None);
        for round in 0..2 {
            for op in 0..5000_u32 {
                assert!(labels.insert(format!("l{op}").as_bytes(), op + round));
                assert!(labels.insert(format!("l{}", op / 2).as_bytes(), 99));
            }
            assert!((0..5000).all(|op| labels.get(format!("l{op}").as_bytes()) == Some(op + round)));
            assert_eq!(labels.get(b"l5000"), None);
            labels.clear();
            assert_eq!(labels.get(b"l1"), None);
        }
    }
}

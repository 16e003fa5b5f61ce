//! Fabrics and programs that several scenarios share: built once, and kept while they are in use.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde::Serialize;

use super::notes::Notes;
use super::routed::RoutedFabric;
use crate::program::Program;
use crate::program::start_up::StartUp;

/// Number of fabrics that are kept. Each may need as much memory as the rest of a run.
const FABRICS: usize = 16;
/// Number of programs that are kept.
const PROGRAMS: usize = 8;

/// Fabrics and programs built so far, by their specifications.
#[derive(Debug)]
pub(crate) struct Shared {
    /// Fabrics with their routes.
    pub(super) fabrics: Cache<RoutedFabric>,
    /// Programs.
    pub(super) programs: Cache<SharedProgram>,
}

/// A program as read.
#[derive(Clone, Debug)]
pub(super) struct SharedProgram {
    pub program: Arc<Program>,
    pub name: String,
    pub start_up: Option<StartUp>,
    pub beginning: Option<u64>,
}

impl Default for Shared {
    fn default() -> Self {
        Self { fabrics: Cache::new(FABRICS), programs: Cache::new(PROGRAMS) }
    }
}

type Key = [u8; 32];

/// Returns a hash of a specification.
pub(super) fn key(of: &impl Serialize) -> Key {
    let text = serde_json::to_vec(of).unwrap_or_default();
    *blake3::hash(&text).as_bytes()
}

/// A value that the first user builds while later users wait for it.
type CacheSlot<T> = Arc<OnceLock<Option<T>>>;

/// The most recently used values, by key.
#[derive(Debug)]
pub(super) struct Cache<T> {
    most: usize,
    slots: Mutex<Vec<(Key, CacheSlot<T>)>>,
}

impl<T: Clone> Cache<T> {
    fn new(most: usize) -> Self {
        Self { most, slots: Mutex::new(Vec::new()) }
    }

    /// Returns the value with this key, and builds it if necessary. A value that cannot be built is not kept,
    /// so that each user reports its mistakes.
    pub fn get(&self, key: Key, notes: &mut Notes, make: &mut dyn FnMut(&mut Notes) -> Option<T>) -> Option<T> {
        let slot = self.slot(key);
        let mut made = None;
        let kept = slot.get_or_init(|| {
            let before = notes.diagnostics.len();
            let result = make(notes);
            let is_clean = notes.diagnostics.len() == before;
            made = Some(result.clone());
            result.filter(|_| is_clean)
        });
        match (kept, made) {
            (Some(kept), _) => Some(kept.clone()),
            (None, Some(made)) => made,
            (None, None) => make(notes),
        }
    }

    /// Returns the slot of this key and marks it as the most recently used.
    fn slot(&self, key: Key) -> CacheSlot<T> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = match slots.iter().position(|(known, _)| *known == key) {
            Some(i) => slots.remove(i).1,
            None => CacheSlot::default(),
        };
        if slots.len() >= self.most {
            slots.remove(0);
        }
        slots.push((key, Arc::clone(&slot)));
        slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Diagnostic;

    #[test]
    fn what_was_asked_for_longest_ago_goes_first_and_what_failed_is_tried_again() {
        let kept: Cache<u32> = Cache::new(2);
        let mut made = Vec::new();
        for asked in [1, 2, 1, 3, 1, 2] {
            let got = kept.get([asked; 32], &mut Notes::default(), &mut |_| {
                made.push(asked);
                Some(asked.into())
            });
            assert_eq!(got, Some(asked.into()));
        }
        assert_eq!(made, [1, 2, 3, 2]);
        let mut notes = Notes::default();
        for _ in 0..2 {
            let none = kept.get([9; 32], &mut notes, &mut |notes| {
                notes.push(Diagnostic::new("wrong-value", "no"));
                None
            });
            assert_eq!(none, None);
        }
        assert_eq!(notes.diagnostics.len(), 2);
    }
}

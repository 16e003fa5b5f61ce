//! Distances from all places to one target, and the links that lead closer to it.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// Distances to one target, for all places from a first one on, and the links out of each place that lead
/// closer.
///
/// Memory: 4 bytes a place for distances, and 4 or 8 for sets of links if these are stored.
#[derive(Debug)]
pub(super) struct Field {
    /// Distance of each place, see [`Graph::distance`](super::graph::Graph).
    pub distances: Box<[u32]>,
    sets: Sets,
}

/// Sets of links by place: a bit for each link that leads closer; 0 if the set has not been computed.
#[derive(Debug)]
enum Sets {
    None,
    Narrow(Box<[AtomicU32]>),
    Wide(Box<[AtomicU64]>),
}

/// Number of bits stored for each place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Width {
    /// No bits: links are examined one by one.
    None,
    /// 32 bits.
    Narrow,
    /// 64 bits.
    Wide,
}

/// Most memory of all sets of a graph \[B\].
const MOST_MEMORY: u64 = 64 << 20;

impl Width {
    /// Returns the width for these numbers of targets and places, if no place has more than `ports` links.
    pub fn new(targets: u64, places: u64, ports: usize) -> Self {
        let fits = |bytes: u64| targets * places * bytes <= MOST_MEMORY;
        match ports {
            0..=32 if fits(4) => Self::Narrow,
            33..=64 if fits(8) => Self::Wide,
            _ => Self::None,
        }
    }
}

impl Field {
    /// Creates a field of these distances without sets.
    pub fn new(distances: Box<[u32]>, width: Width) -> Self {
        let places = distances.len();
        let sets = match width {
            Width::None => Sets::None,
            Width::Narrow => Sets::Narrow((0..places).map(|_| AtomicU32::new(0)).collect()),
            Width::Wide => Sets::Wide((0..places).map(|_| AtomicU64::new(0)).collect()),
        };
        Self { distances, sets }
    }

    /// Returns true if sets are stored.
    #[inline]
    pub fn has_sets(&self) -> bool {
        !matches!(self.sets, Sets::None)
    }

    /// Returns the links that lead closer, as bits by position; 0 if the set has not been computed, or is
    /// empty.
    #[inline]
    pub fn set(&self, place: usize) -> u64 {
        // All threads that store a set write the same value.
        match &self.sets {
            Sets::None => 0,
            Sets::Narrow(sets) => sets[place].load(Relaxed).into(),
            Sets::Wide(sets) => sets[place].load(Relaxed),
        }
    }

    /// Stores the set of a place.
    pub fn note(&self, place: usize, set: u64) {
        match &self.sets {
            Sets::None => {}
            Sets::Narrow(sets) => sets[place].store(set as u32, Relaxed),
            Sets::Wide(sets) => sets[place].store(set, Relaxed),
        }
    }
}

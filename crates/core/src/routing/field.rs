//! What is left to one target from everywhere, and the links that lead closer to it.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// For one target, by place from some first one on: how far it is, and which of the links out of the place lead closer.
///
/// Memory: 4 bytes a place for distances, and 4 or 8 for sets of links where these are kept.
#[derive(Debug)]
pub(super) struct Field {
    /// See [`Graph::distance`](super::graph::Graph).
    pub distances: Box<[u32]>,
    sets: Sets,
}

/// By place a bit for each of its links that leads closer; 0 where that has not been asked yet.
#[derive(Debug)]
enum Sets {
    None,
    Narrow(Box<[AtomicU32]>),
    Wide(Box<[AtomicU64]>),
}

/// How many bits are kept of each place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Width {
    /// None: links are looked at one by one.
    None,
    /// 32.
    Narrow,
    /// 64.
    Wide,
}

/// Most memory of all sets of a graph \[B\].
const MOST_MEMORY: u64 = 64 << 20;

impl Width {
    /// For so many targets and places, of which none has more links than `ports`.
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
    /// These distances, and no set yet.
    pub fn new(distances: Box<[u32]>, width: Width) -> Self {
        let places = distances.len();
        let sets = match width {
            Width::None => Sets::None,
            Width::Narrow => Sets::Narrow((0..places).map(|_| AtomicU32::new(0)).collect()),
            Width::Wide => Sets::Wide((0..places).map(|_| AtomicU64::new(0)).collect()),
        };
        Self { distances, sets }
    }

    /// Whether sets are kept.
    #[inline]
    pub fn has_sets(&self) -> bool {
        !matches!(self.sets, Sets::None)
    }

    /// The links that lead closer, by their position; 0 where nobody has asked, or there are none.
    #[inline]
    pub fn set(&self, place: usize) -> u64 {
        // Whoever asks first writes the same as whoever else does.
        match &self.sets {
            Sets::None => 0,
            Sets::Narrow(sets) => sets[place].load(Relaxed).into(),
            Sets::Wide(sets) => sets[place].load(Relaxed),
        }
    }

    /// Notes them.
    pub fn note(&self, place: usize, set: u64) {
        match &self.sets {
            Sets::None => {}
            Sets::Narrow(sets) => sets[place].store(set as u32, Relaxed),
            Sets::Wide(sets) => sets[place].store(set, Relaxed),
        }
    }
}

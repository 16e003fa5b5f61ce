//! Links that need attention, smallest key first.
//!
//! The water only rises, and most keys change before it has come near them. So only *near* keys, those in the
//! lowest non-empty class of keys, are kept in order, in a [`Pending`] set of a few keys. All other keys are
//! just recorded in the list of their class, eight classes to a doubling of the level. When no near key is
//! left, the next class is opened. It skips links whose key has moved to another class since it was recorded.

use super::super::pending::Pending;
use super::table::{Link, NONE};

/// Binary logarithm of the number of classes in a doubling of the key.
const FINENESS: u32 = 3;
/// Number of classes, the lowest and the highest open-ended: sixteen doublings up to the largest capacity.
const CLASSES: usize = 128;

#[derive(Clone, Debug)]
pub(super) struct Waiting {
    /// Class bits of a key in the lowest class.
    origin: i64,
    /// Class of the near keys.
    class: usize,
    near: Pending,
    /// Link at each place among the near keys.
    links: Vec<u32>,
    /// Places whose link is no longer near.
    vacant: Vec<u32>,
    /// By class: links that may wait in it; and one bit for each class with links.
    classes: Vec<Vec<u32>>,
    occupied: [u64; CLASSES / 64],
}

/// Returns the bits of a number that determine its class, counted from 0.
#[inline(always)]
fn coarse(key: f64) -> i64 {
    key.to_bits() as i64 >> (f64::MANTISSA_DIGITS - 1 - FINENESS)
}

impl Waiting {
    /// Creates an empty set for links whose largest capacity is `widest`.
    pub fn new(widest: f64) -> Self {
        Self {
            origin: coarse(widest) + 2 - CLASSES as i64,
            class: 0,
            near: Pending::default(),
            links: Vec::new(),
            vacant: Vec::new(),
            classes: vec![Vec::new(); CLASSES],
            occupied: [0; CLASSES / 64],
        }
    }

    #[inline(always)]
    fn class(&self, key: f64) -> usize {
        // (The bits of a negative key are a negative number.)
        (coarse(key) - self.origin).clamp(0, CLASSES as i64 - 1) as usize
    }

    /// Gives a link a key; with an infinite key it no longer waits.
    #[inline(always)]
    pub fn set(&mut self, id: u32, link: &mut Link, key: f64) {
        let old = std::mem::replace(&mut link.key, key);
        if key == f64::INFINITY {
            if link.place != NONE {
                self.remove_near(link);
            }
            return;
        }
        let class = self.class(key);
        if class <= self.class {
            if link.place == NONE {
                self.add_near(id, link);
            } else {
                self.near.set(link.place, key);
            }
        } else {
            if link.place != NONE {
                self.remove_near(link);
            } else if old < f64::INFINITY && self.class(old) == class {
                return;
            }
            self.classes[class].push(id);
            self.occupied[class / 64] |= 1 << (class % 64);
        }
    }

    /// Adds a link to the near ones.
    fn add_near(&mut self, id: u32, link: &mut Link) {
        if let Some(place) = self.vacant.pop() {
            link.place = place;
            self.links[place as usize] = id;
            self.near.set(place, link.key);
        } else {
            link.place = self.near.push(link.key);
            self.links.push(id);
        }
    }

    /// Removes a link from the near ones.
    fn remove_near(&mut self, link: &mut Link) {
        self.near.set(link.place, f64::INFINITY);
        self.vacant.push(std::mem::replace(&mut link.place, NONE));
    }

    /// Returns the link with the smallest key.
    #[inline(always)]
    pub fn smallest(&mut self, links: &mut [Link]) -> Option<u32> {
        loop {
            if self.vacant.len() < self.links.len()
                && let Some((place, _)) = self.near.smallest()
            {
                return Some(self.links[place as usize]);
            }
            self.open(links)?;
        }
    }

    /// Opens the lowest class with links when no near key is left; `None` if there is no such class.
    fn open(&mut self, links: &mut [Link]) -> Option<()> {
        debug_assert_eq!(self.vacant.len(), self.links.len());
        self.near.clear();
        self.links.clear();
        self.vacant.clear();
        let Some(word) = self.occupied.iter().position(|&word| word != 0) else {
            self.class = 0;
            return None;
        };
        let bit = self.occupied[word].trailing_zeros();
        self.occupied[word] &= !(1 << bit);
        self.class = word * 64 + bit as usize;
        let mut class = std::mem::take(&mut self.classes[self.class]);
        for id in class.drain(..) {
            let link = &mut links[id as usize];
            if link.place == NONE && link.key < f64::INFINITY && self.class(link.key) <= self.class {
                self.add_near(id, link);
            }
        }
        self.classes[self.class] = class;
        Some(())
    }
}

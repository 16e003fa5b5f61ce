//! The links that need attention, smallest key first.
//!
//! The water only rises, and most keys change before it has come near them. So only what is *near*, in the lowest class
//! of keys that has any, is kept in order, in a [`Pending`] set of a few keys; all others are just noted in the list of
//! their class, eight classes to a doubling of the level. When nothing is near any more, the next class is opened. A
//! link whose key has moved to another class since it was noted is passed over then.

use super::super::pending::Pending;
use super::table::{Link, NONE};

/// Bits of the number of classes in a doubling of the key.
const FINENESS: u32 = 3;
/// All classes, the lowest and the highest open-ended: sixteen doublings up to the largest capacity.
const CLASSES: usize = 128;

#[derive(Clone, Debug)]
pub(super) struct Waiting {
    /// The key bits of the lowest class.
    origin: i64,
    /// The class that is near.
    class: usize,
    near: Pending,
    /// By place among the near keys: the link.
    links: Vec<u32>,
    /// Places whose link is not near any more.
    vacant: Vec<u32>,
    /// By class: links that may wait in it; and one bit for each class that has any.
    classes: Vec<Vec<u32>>,
    occupied: [u64; CLASSES / 64],
}

/// The bits of a number that say its class, counted from 0.
#[inline(always)]
fn coarse(key: f64) -> i64 {
    key.to_bits() as i64 >> (f64::MANTISSA_DIGITS - 1 - FINENESS)
}

impl Waiting {
    /// Nothing, where the largest capacity is this.
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

    /// Gives a link a key; with an infinite one it does not wait any more.
    #[inline(always)]
    pub fn set(&mut self, id: u32, link: &mut Link, key: f64) {
        let old = std::mem::replace(&mut link.key, key);
        if key == f64::INFINITY {
            if link.place != NONE {
                self.leave(link);
            }
            return;
        }
        let class = self.class(key);
        if class <= self.class {
            if link.place == NONE {
                self.come(id, link);
            } else {
                self.near.set(link.place, key);
            }
        } else {
            if link.place != NONE {
                self.leave(link);
            } else if old < f64::INFINITY && self.class(old) == class {
                return;
            }
            self.classes[class].push(id);
            self.occupied[class / 64] |= 1 << (class % 64);
        }
    }

    /// A link comes near.
    fn come(&mut self, id: u32, link: &mut Link) {
        if let Some(place) = self.vacant.pop() {
            link.place = place;
            self.links[place as usize] = id;
            self.near.set(place, link.key);
        } else {
            link.place = self.near.push(link.key);
            self.links.push(id);
        }
    }

    /// A link is not near any more.
    fn leave(&mut self, link: &mut Link) {
        self.near.set(link.place, f64::INFINITY);
        self.vacant.push(std::mem::replace(&mut link.place, NONE));
    }

    /// The link with the smallest key.
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

    /// Opens the lowest class that has links, when nothing is near; `None` when there is none.
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
                self.come(id, link);
            }
        }
        self.classes[self.class] = class;
        Some(())
    }
}

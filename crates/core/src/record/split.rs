//! Bytes on links of messages that are split among several paths.

use crate::fabric::Fabric;
use crate::ids::{Id, IdVec, LinkId};

/// Largest distance of a sum of parts from a whole number of bytes by rounding \[B\].
const ROUNDING: f64 = 1e-6;

/// Fractions of a byte that links have carried beside whole ones \[B\]; empty where no message was split.
#[derive(Clone, Default, Debug)]
pub struct Fractions(IdVec<LinkId, f64>);

impl Fractions {
    /// Adds a message of which each link carries a part.
    pub fn add(&mut self, bytes: &mut IdVec<LinkId, u64>, message: u64, links: &[LinkId], parts: &[f64]) {
        if self.0.is_empty() {
            self.0 = IdVec::filled(bytes.len(), 0.0);
        }
        for (&link, part) in links.iter().zip(parts) {
            let carried = self.0[link] + message as f64 * part;
            // Parts that add up to whole bytes do so up to rounding.
            let whole = (carried + ROUNDING).floor();
            bytes[link] += whole as u64;
            self.0[link] = carried - whole;
        }
    }

    /// Makes whole bytes of what is left, so that what enters a switch leaves it; no link has a byte more or less than
    /// it carried.
    ///
    /// Sums at a vertex are whole. So a link with a fraction has another one at its end, and such links form circles:
    /// more is moved around a circle, or less, until one of its links is whole. Links without ends are rounded.
    pub fn settle(&mut self, bytes: &mut IdVec<LinkId, u64>, fabric: &Fabric) {
        let fractions = std::mem::take(&mut self.0);
        let mut open = vec![Vec::new(); fabric.vertices() as usize];
        let mut left = Left { fractions, bytes };
        for id in left.fractions.ids() {
            match fabric.link(id).ends {
                Some((from, to)) if left.is_open(id) => {
                    open[from.index()].push((id, to.index(), true));
                    open[to.index()].push((id, from.index(), false));
                }
                _ => left.round(id),
            }
        }
        // By vertex: its place on the way.
        let mut place: Vec<Option<usize>> = vec![None; open.len()];
        for start in 0..open.len() {
            let (mut here, mut way) = (start, Vec::<(LinkId, usize, bool)>::new());
            loop {
                open[here].retain(|&(link, ..)| left.is_open(link));
                let came = way.last().map(|&(link, ..)| link);
                let Some(&(link, next, along)) = open[here].iter().find(|&&(link, ..)| Some(link) != came) else {
                    // Sums that rounding has kept from being whole.
                    let Some((link, before, _)) = way.pop() else { break };
                    left.round(link);
                    place[before] = None;
                    here = before;
                    continue;
                };
                place[here] = Some(way.len());
                way.push((link, here, along));
                here = next;
                if let Some(first) = place[here] {
                    left.move_around(&way[first..]);
                    way.drain(first..).for_each(|(_, vertex, _)| place[vertex] = None);
                }
            }
        }
    }
}

/// Links with what they have carried, and fractions of a byte that are left.
struct Left<'a> {
    fractions: IdVec<LinkId, f64>,
    bytes: &'a mut IdVec<LinkId, u64>,
}

impl Left<'_> {
    fn is_open(&self, link: LinkId) -> bool {
        self.fractions[link] > ROUNDING && self.fractions[link] < 1.0 - ROUNDING
    }

    fn round(&mut self, link: LinkId) {
        self.bytes[link] += self.fractions[link].round() as u64;
        self.fractions[link] = 0.0;
    }

    /// Moves as much around a circle of links, each with its direction on the way, as makes one of them whole.
    fn move_around(&mut self, circle: &[(LinkId, usize, bool)]) {
        let room = |more: bool| {
            let of = |&(link, _, along): &(LinkId, usize, bool)| {
                if along == more { 1.0 - self.fractions[link] } else { self.fractions[link] }
            };
            circle.iter().map(of).fold(1.0, f64::min)
        };
        let (more, less) = (room(true), room(false));
        let moved = if more <= less { more } else { -less };
        for &(link, _, along) in circle {
            self.fractions[link] += if along { moved } else { -moved };
            if !self.is_open(link) {
                self.round(link);
            }
        }
    }
}

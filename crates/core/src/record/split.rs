//! Bytes on links from messages that are split among several paths.

use crate::fabric::Fabric;
use crate::ids::{Id, IdVec, LinkId};

/// Largest rounding error of a sum of parts that is a whole number of bytes \[B\].
const ROUNDING: f64 = 1e-6;

/// Fractions of a byte that links have carried in addition to whole bytes \[B\]; empty if no message was
/// split.
#[derive(Clone, Default, Debug)]
pub struct Fractions(IdVec<LinkId, f64>);

impl Fractions {
    /// Adds a message; each link carries a part of it.
    pub fn add(&mut self, bytes: &mut IdVec<LinkId, u64>, message: u64, links: &[LinkId], parts: &[f64]) {
        if self.0.is_empty() {
            self.0 = IdVec::filled(bytes.len(), 0.0);
        }
        for (&link, part) in links.iter().zip(parts) {
            let carried = self.0[link] + message as f64 * part;
            // Sums of parts are whole bytes only up to rounding.
            let whole = (carried + ROUNDING).floor();
            bytes[link] += whole as u64;
            self.0[link] = carried - whole;
        }
    }

    /// Rounds the fractions to whole bytes, so that the same number of bytes enters and leaves each switch.
    /// Each link gets less than one byte more or less than it carried.
    ///
    /// Sums at a vertex are whole. So a link with a fraction has another such link at its end, and these
    /// links form circles. Bytes are moved around a circle until one of its links is whole. Links without
    /// ends are rounded.
    pub fn round_to_bytes(&mut self, bytes: &mut IdVec<LinkId, u64>, fabric: &Fabric) {
        let fractions = std::mem::take(&mut self.0);
        let mut open = vec![Vec::new(); fabric.vertices() as usize];
        let mut left = RemainingBytes { fractions, bytes };
        for id in left.fractions.ids() {
            match fabric.link(id).ends {
                Some((from, to)) if left.is_open(id) => {
                    open[from.index()].push((id, to.index(), true));
                    open[to.index()].push((id, from.index(), false));
                }
                _ => left.round(id),
            }
        }
        // Position of each vertex on the way.
        let mut place: Vec<Option<usize>> = vec![None; open.len()];
        for start in 0..open.len() {
            let (mut here, mut way) = (start, Vec::<(LinkId, usize, bool)>::new());
            loop {
                open[here].retain(|&(link, ..)| left.is_open(link));
                let came = way.last().map(|&(link, ..)| link);
                let Some(&(link, next, along)) = open[here].iter().find(|&&(link, ..)| Some(link) != came) else {
                    // Rounding has kept the sums here from being whole.
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

/// Links with the bytes they have carried and the remaining fractions of a byte.
struct RemainingBytes<'a> {
    fractions: IdVec<LinkId, f64>,
    bytes: &'a mut IdVec<LinkId, u64>,
}

impl RemainingBytes<'_> {
    fn is_open(&self, link: LinkId) -> bool {
        self.fractions[link] > ROUNDING && self.fractions[link] < 1.0 - ROUNDING
    }

    fn round(&mut self, link: LinkId) {
        self.bytes[link] += self.fractions[link].round() as u64;
        self.fractions[link] = 0.0;
    }

    /// Moves just enough around a circle of links to make one of them whole. Each link has its direction on
    /// the way.
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

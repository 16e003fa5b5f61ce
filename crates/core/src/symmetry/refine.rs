//! Colour refinement: the coarsest classes.

use rustc_hash::FxHashMap;

use super::exchanges::Exchanges;
use super::hash::mix;
use crate::ids::{Id, IdVec, LinkId};

/// Largest number of rounds. A chain of ranks that differ by their distance from its end needs half its length; such
/// classes are small.
const MOST_ROUNDS: usize = 300;

/// Partition of ranks and links into classes, numbered in the order of their first members.
#[derive(Clone, PartialEq, Debug)]
pub struct Classes {
    /// Class of each rank.
    pub of_rank: Vec<u32>,
    /// Class of each link.
    pub of_link: IdVec<LinkId, u32>,
    /// Number of classes of ranks.
    pub ranks: u32,
}

impl Classes {
    /// Returns the coarsest equitable partition; `None` if it has more than `most` classes of ranks, or is not reached
    /// within some hundred rounds.
    ///
    /// A round gives links a colour of the channels on them and ranks a colour of their channels, peers and links:
    /// ```text
    /// colour'(l) = hash of colour(l) and the multiset of (colour(i), p, h) over channels p of ranks i with hop h on l
    /// colour'(i) = hash of colour(i) and, channel by channel, of (colour(peer), place there, colour'(l) of its links)
    /// ```
    /// It ends when neither number of colours grows. Cost: O(r h) for r rounds over h hops of all channels.
    pub fn coarsest(exchanges: &Exchanges, most: u32) -> Option<Self> {
        let mut ranks: Vec<u64> = exchanges.ranks.iter().map(|ends| ends.colour).collect();
        let mut links = exchanges.link_colours.clone();
        let mut found = (0, 0);
        for _ in 0..MOST_ROUNDS {
            recolour_links(exchanges, &ranks, &mut links);
            ranks = recolour_ranks(exchanges, &ranks, &links);
            let now = (count(ranks.clone()), count(links.as_slice().to_vec()));
            if now.0 > most as usize {
                return None;
            }
            if now == found {
                let (of_rank, classes) = numbered(&ranks);
                return Some(Self { of_rank, of_link: numbered(links.as_slice()).0.into(), ranks: classes });
            }
            found = now;
        }
        None
    }
}

/// Adds the channels on each link to its colour.
fn recolour_links(exchanges: &Exchanges, ranks: &[u64], links: &mut IdVec<LinkId, u64>) {
    let mut sums: IdVec<LinkId, u64> = IdVec::filled(links.len(), 0);
    for (ends, &colour) in exchanges.ranks.iter().zip(ranks) {
        for (place, at) in (0..).zip(ends.range(0)) {
            let channel = mix(colour, place);
            for (hop, &link) in (0..).zip(exchanges.route(at)) {
                sums[link] = sums[link].wrapping_add(mix(channel, hop));
            }
        }
    }
    for (link, &sum) in links.as_mut_slice().iter_mut().zip(sums.as_slice()) {
        *link = mix(*link, sum);
    }
}

/// Returns the colours of ranks with those of their channels.
fn recolour_ranks(exchanges: &Exchanges, ranks: &[u64], links: &IdVec<LinkId, u64>) -> Vec<u64> {
    let recoloured = exchanges.ranks.iter().zip(ranks).map(|(ends, &colour)| {
        let mut hash = colour;
        for at in ends.range(0) {
            let (dst, place) = exchanges.receiver(at);
            hash = mix(mix(hash, ranks[dst as usize]), place.into());
            hash = exchanges.route(at).iter().fold(hash, |hash, &link| mix(hash, links[link]));
            hash = exchanges.backs.get(at).map_or(hash, |&back| mix(hash, back));
        }
        for at in ends.range(1) {
            let (src, place) = exchanges.sender(at);
            hash = mix(mix(hash, ranks[src as usize]), place.into());
        }
        hash
    });
    recoloured.collect()
}

/// Returns the number of different colours.
fn count(mut colours: Vec<u64>) -> usize {
    colours.sort_unstable();
    colours.dedup();
    colours.len()
}

/// Numbers colours in the order of their first occurrence; returns the numbers and how many there are.
fn numbered(colours: &[u64]) -> (Vec<u32>, u32) {
    let mut numbers = FxHashMap::default();
    let of = colours.iter().map(|&colour| {
        let next = numbers.len() as u32;
        *numbers.entry(colour).or_insert(next)
    });
    let of: Vec<u32> = of.collect();
    (of, numbers.len() as u32)
}

impl Classes {
    /// Returns the first link of each class, by link, and the number of links in the class, by link.
    pub(super) fn of_links(&self) -> (IdVec<LinkId, LinkId>, IdVec<LinkId, u32>) {
        let (first, size) = members(self.of_link.as_slice());
        let classes = self.of_link.as_slice();
        (
            classes.iter().map(|&class| LinkId::from_index(first[class as usize] as usize)).collect(),
            classes.iter().map(|&class| size[class as usize]).collect(),
        )
    }
}

/// Returns the first member and the number of members of each class.
pub(super) fn members(classes: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let (mut first, mut size) = (Vec::new(), Vec::new());
    for (member, &class) in (0..).zip(classes) {
        if class as usize == first.len() {
            first.push(member);
            size.push(0);
        }
        size[class as usize] += 1;
    }
    (first, size)
}

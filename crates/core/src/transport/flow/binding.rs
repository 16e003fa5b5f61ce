//! Links that can hold a flow back.

use crate::base::threads;
use crate::fabric::{Fabric, Link, LinkRole};
use crate::ids::{Id, IdVec, LinkId};
use crate::routing::Router;

/// Numbers of links in the sharing policy, in the order of the links.
///
/// Links are grouped in blocks of [`BLOCK`]. A block in which a link can hold a flow back has numbers for all
/// its links; other blocks have none. So a number is a sum of two values. Looking it up takes a quarter of a
/// byte for each link, which fits in the nearest caches for a fabric of 65,536 nodes. On a tree, links of one
/// use are adjacent, so the policy knows hardly more links than those that bind.
#[derive(Clone, Debug)]
pub(super) struct Numbers {
    blocks: Vec<Block>,
    links: usize,
    /// Number of link numbers.
    count: usize,
}

/// Number of links in a block.
const BLOCK: usize = 64;

/// Block of consecutive links.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// One bit for each link, from the last bit on: set if it can hold a flow back.
    binding: u64,
    /// Number of the first link.
    first: u32,
}

/// Number of numbered links from which on their data takes more than most second-level caches; in tests a
/// number that some of their fabrics reach.
const MANY: usize = if cfg!(test) { 200 } else { 1 << 15 };

impl Numbers {
    /// Numbers each link that can hold a flow back by its own number.
    pub fn same(binding: &IdVec<LinkId, bool>) -> Self {
        Self::of(binding, |_| true)
    }

    /// Numbers the links that can hold a flow back, and few others.
    pub fn dense(binding: &IdVec<LinkId, bool>) -> Self {
        Self::of(binding, |links| links.contains(&true))
    }

    /// Numbers the blocks that pass the test.
    fn of(binding: &IdVec<LinkId, bool>, test: impl Fn(&[bool]) -> bool) -> Self {
        let mut count = 0;
        let block = |links: &[bool]| {
            let first = count;
            count += if test(links) { BLOCK } else { 0 };
            let bits = links.iter().rev().fold(0, |bits, &binds| bits << 1 | u64::from(binds));
            Block { binding: bits, first: first as u32 }
        };
        let blocks = binding.as_slice().chunks(BLOCK).map(block).collect();
        Self { blocks, links: binding.len(), count }
    }

    /// Returns the number of a link, and true if it can hold a flow back; else the number means nothing.
    #[inline(always)]
    fn look_up(&self, link: LinkId) -> (u32, bool) {
        let (block, place) = (self.blocks[link.index() / BLOCK], link.index() % BLOCK);
        (block.first + place as u32, block.binding >> place & 1 == 1)
    }

    /// Returns the number of a link that can hold a flow back.
    #[inline]
    pub fn get(&self, link: LinkId) -> Option<u32> {
        let (number, binds) = self.look_up(link);
        binds.then_some(number)
    }

    /// Returns the link that can hold a flow back and has this number. Cost: O(L) for L links, so it is not
    /// called for every message.
    pub fn link(&self, number: u32) -> Option<LinkId> {
        (0..self.links).map(LinkId::from_index).find(|&link| self.get(link) == Some(number))
    }

    /// Converts values by number to values by link; 0 for links that never bind.
    pub fn by_link(&self, values: &[f64]) -> IdVec<LinkId, f64> {
        let of = |link| self.get(link).map_or(0.0, |number| values[number as usize]);
        (0..self.links).map(LinkId::from_index).map(of).collect()
    }

    /// Returns the capacity of links by number; numbers behind the last link get the capacity of the last
    /// link.
    pub fn capacities(&self, capacity: impl Fn(LinkId) -> f64) -> Vec<f64> {
        let mut capacities = Vec::with_capacity(self.count);
        for (index, block) in self.blocks.iter().enumerate() {
            let first = block.first as usize;
            // (Empty for a block without numbers: the next one begins at the same number.)
            let end = self.blocks.get(index + 1).map_or(self.count, |next| next.first as usize);
            let links = (first..end).map(|number| (index * BLOCK + number - first).min(self.links - 1));
            capacities.extend(links.map(|link| capacity(LinkId::from_index(link))));
        }
        capacities
    }

    /// Writes the numbers of the links of a route that can hold a flow back to `links`, and returns them.
    ///
    /// Each number is written to the place of the next one that is kept, which avoids an unpredictable
    /// branch.
    #[inline(always)]
    pub fn keep<'a>(&self, route: &[LinkId], links: &'a mut Vec<u32>) -> &'a [u32] {
        // (It only grows: entries behind the kept ones mean nothing.)
        if links.len() < route.len() {
            links.resize(route.len(), 0);
        }
        let mut len = 0;
        for &link in route {
            let (number, binds) = self.look_up(link);
            links[len] = number;
            len += usize::from(binds);
        }
        &links[..len]
    }

    /// True if prefetching the data of links pays.
    #[inline(always)]
    pub fn are_many(&self) -> bool {
        self.count >= MANY
    }
}

/// Returns for each link true if it can hold a flow back (see [`Flows`](super::Flows)).
pub(super) fn binding_links(fabric: &Fabric, router: &dyn Router, one_at_a_time: bool) -> IdVec<LinkId, bool> {
    let capacity = |link: LinkId| fabric.shared_capacity(link);
    let ejection = |link: &Link| link.role == LinkRole::Ejection;
    let narrowest_injection =
        fabric.links().iter().filter(|link| link.role == LinkRole::Injection).map(|link| link.capacity).min();
    let widest_ejection = fabric.links().iter().filter(|link| ejection(link)).map(|link| link.capacity).max();
    // One flow at a time, through an ejection link that is not wider: in known families every route ends in
    // one.
    let injection_is_idle = one_at_a_time
        && fabric.is_connected_by_family()
        && matches!((narrowest_injection, widest_ejection), (Some(injection), Some(ejection)) if ejection <= injection);
    let is_binding = |link: LinkId| {
        if fabric.is_own(link) {
            return true;
        }
        if injection_is_idle && fabric.link(link).role == LinkRole::Injection {
            return false;
        }
        // One link in the chain of dominators that is not wider is enough; the last link of the chain stays.
        let mut dominator = router.dominator(link);
        while let Some(other) = dominator {
            if capacity(other) <= capacity(link) {
                return false;
            }
            dominator = router.dominator(other);
        }
        true
    };
    threads::collect(fabric.links().len(), |link| is_binding(LinkId::from_index(link))).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_bind_have_numbers_by_blocks_that_lead_back_to_them() {
        // 64 links that do not bind, 64 of which one binds, 64 that do not, and 3 that do.
        let binds = |link: usize| link == 70 || link >= 192;
        let binding: IdVec<LinkId, bool> = (0..195).map(binds).collect();
        let (dense, same) = (Numbers::dense(&binding), Numbers::same(&binding));
        let route = [194, 0, 70, 71, 130].map(LinkId);
        let mut links = Vec::new();
        assert_eq!(dense.keep(&route, &mut links), [66, 6]);
        assert_eq!(same.keep(&route, &mut links), [194, 70]);
        assert_eq!(dense.keep(&route[1..2], &mut links), [0; 0]);
        assert_eq!(dense.keep(&[], &mut links), [0; 0]);
        assert_eq!((dense.get(LinkId(192)), dense.get(LinkId(71)), same.get(LinkId(192))), (Some(64), None, Some(192)));
        assert_eq!((dense.link(66), dense.link(67), dense.link(7)), (Some(LinkId(194)), None, None));
        assert!(!dense.are_many());
        let capacities = dense.capacities(|link| f64::from(link.0));
        assert_eq!((capacities.len(), capacities[6], capacities[7], capacities[64]), (128, 70.0, 71.0, 192.0));
        assert_eq!((capacities[66], capacities[67]), (194.0, 194.0));
        let none = Numbers::dense(&IdVec::filled(100, false));
        assert_eq!((none.capacities(|_| 1.0).len(), none.keep(&route[1..2], &mut links)), (0, &[][..]));
        assert_eq!(Numbers::dense(&IdVec::new()).capacities(|_| 1.0), [0.0; 0]);
    }
}

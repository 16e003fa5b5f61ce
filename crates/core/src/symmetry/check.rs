//! Check that a partition is equitable, independent of the way in which it was found.

use super::exchanges::Exchanges;
use super::refine::{Classes, members};
use crate::ids::{Id, IdVec, LinkId};

impl Classes {
    /// Returns true if the partition is equitable: each member is compared with the first one of its class. Cost:
    /// O(h log h) for h hops of all channels.
    pub fn is_equitable(&self, exchanges: &Exchanges) -> bool {
        let (first, _) = members(&self.of_rank);
        let ranks = self.of_rank.iter().enumerate();
        ranks.into_iter().all(|(rank, &class)| self.is_like(exchanges, rank, first[class as usize] as usize))
            && self.loads_links_evenly(exchanges)
    }

    /// Returns true if two ranks have the same program, and channels to the same classes over links of the same
    /// classes.
    fn is_like(&self, exchanges: &Exchanges, rank: usize, other: usize) -> bool {
        let [a, b] = [rank, other].map(|rank| &exchanges.ranks[rank]);
        let class = |(rank, place): (u32, u32)| (self.of_rank[rank as usize], place);
        let links = |at: usize| exchanges.route(at).iter().map(|&link| self.of_link[link]);
        a.colour == b.colour
            && a.count == b.count
            && a.range(0).zip(b.range(0)).all(|(a, b)| {
                class(exchanges.receiver(a)) == class(exchanges.receiver(b))
                    && links(a).eq(links(b))
                    && exchanges.backs.get(a) == exchanges.backs.get(b)
            })
            && a.range(1).zip(b.range(1)).all(|(a, b)| class(exchanges.sender(a)) == class(exchanges.sender(b)))
    }

    /// Returns true if the links of each class have the same capacity and latency and carry equally many channels of
    /// each kind.
    fn loads_links_evenly(&self, exchanges: &Exchanges) -> bool {
        let mut loads: IdVec<LinkId, Vec<(u32, u32, u32)>> = IdVec::filled(self.of_link.len(), Vec::new());
        for (ends, &class) in exchanges.ranks.iter().zip(&self.of_rank) {
            for (place, at) in (0..).zip(ends.range(0)) {
                for (hop, &link) in (0..).zip(exchanges.route(at)) {
                    loads[link].push((class, place, hop));
                }
            }
        }
        loads.as_mut_slice().iter_mut().for_each(|load| load.sort_unstable());
        let (first, _) = members(self.of_link.as_slice());
        self.of_link.iter_ids().all(|(link, &class)| {
            let like = LinkId::from_index(first[class as usize] as usize);
            exchanges.link_colours[link] == exchanges.link_colours[like] && loads[link] == loads[like]
        })
    }
}

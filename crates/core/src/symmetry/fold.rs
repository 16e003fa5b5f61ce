//! Folded ranks and links: who stands for whom, and under which names messages arrive.

use rustc_hash::FxHashMap;

use super::exchanges::{Channel, Exchanges};
use super::refine::{Classes, members};
use crate::ids::{IdVec, LinkId, RankId};

/// Classes of ranks and links with a representative of each.
#[derive(Clone, Debug)]
pub struct Folded {
    /// Representative of each rank: the first one of its class.
    representatives: IdVec<RankId, RankId>,
    /// Number of ranks in the class of each rank.
    sizes: IdVec<RankId, u32>,
    /// Representative of each link, and the number of links in its class.
    links: IdVec<LinkId, LinkId>,
    link_sizes: IdVec<LinkId, u32>,
    /// Channel from which the representative of the receiver expects a message, by its sender, which is a
    /// representative, and its channel there.
    expected: FxHashMap<(RankId, Channel), Channel>,
    /// Number of classes of ranks.
    classes: u32,
}

/// Folds ranks if that leaves at most `most` of them; `None` if not. The exchanges have their routes.
pub fn fold(exchanges: &Exchanges, most: u32) -> Option<Folded> {
    let classes = Classes::coarsest(exchanges, most)?;
    // Refinement compares hashes; this compares what was hashed.
    classes.is_equitable(exchanges).then(|| Folded::new(exchanges, &classes))
}

impl Folded {
    /// Creates the quotient of an equitable partition.
    pub fn new(exchanges: &Exchanges, classes: &Classes) -> Self {
        let (first, size) = members(&classes.of_rank);
        let representatives: IdVec<RankId, RankId> =
            classes.of_rank.iter().map(|&class| RankId(first[class as usize])).collect();
        let mut expected = FxHashMap::default();
        for &rank in &first {
            for at in exchanges.ranks[rank as usize].range(0) {
                let (dst, place) = exchanges.receiver(at);
                let receiver = representatives[RankId(dst)];
                let end = exchanges.ranks[receiver.0 as usize].first[1] + place;
                expected.insert((RankId(rank), exchanges.sends[at]), exchanges.receives[end as usize]);
            }
        }
        let (links, link_sizes) = classes.of_links();
        let sizes = classes.of_rank.iter().map(|&class| size[class as usize]).collect();
        Self { representatives, sizes, links, link_sizes, expected, classes: classes.ranks }
    }

    /// Number of classes of ranks: of ranks that are played.
    pub fn classes(&self) -> u32 {
        self.classes
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        self.representatives.len() as u32
    }

    /// Returns true for a rank that is played.
    pub fn is_played(&self, rank: RankId) -> bool {
        self.representatives[rank] == rank
    }

    /// Returns the rank that is played for a rank.
    #[inline]
    pub fn representative(&self, rank: RankId) -> RankId {
        self.representatives[rank]
    }

    /// Number of ranks that a rank stands for.
    #[inline]
    pub fn times(&self, rank: RankId) -> u32 {
        self.sizes[rank]
    }

    /// Number of ranks that each rank stands for.
    pub fn all_times(&self) -> Vec<f64> {
        self.sizes.iter().map(|&size| size.into()).collect()
    }

    /// Returns the channel from which the representative of the receiver expects a message of a rank that is played.
    /// A channel without a receiver keeps its sender.
    #[inline]
    pub fn expected(&self, src: RankId, to: Channel) -> Channel {
        self.expected.get(&(src, to)).copied().unwrap_or(Channel { peer: src.0, ..to })
    }

    /// Returns the link that stands for a link, and the number of links that it stands for.
    #[inline]
    pub fn link(&self, link: LinkId) -> (LinkId, u32) {
        (self.links[link], self.link_sizes[link])
    }

    /// Returns for each rank the value of its representative.
    pub fn expand<T: Clone>(&self, played: &[T]) -> Vec<T> {
        self.representatives.iter().map(|rank| played[rank.0 as usize].clone()).collect()
    }

    /// Returns for each link the value of its representative.
    pub fn expand_links<T: Clone>(&self, played: &IdVec<LinkId, T>) -> IdVec<LinkId, T> {
        self.links.iter().map(|&link| played[link].clone()).collect()
    }
}

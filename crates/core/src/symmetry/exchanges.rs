//! Channels between ranks, and the links that they cross.

use super::hash::mix;
use crate::fabric::{Fabric, Link};
use crate::ids::{IdVec, LinkId, RankId};
use crate::placement::Placement;
use crate::routing::Router;

/// Messages of a rank to, or from, one peer on one communicator.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Channel {
    /// Rank at the other end.
    pub peer: u32,
    /// Kind of the messages: their communicator. Both ends name the same.
    pub kind: u32,
}

/// Program of a rank up to the names of its peers and communicators.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RankShape {
    /// Hash of the operations, in which channels stand for peers and communicators. It also covers which channels
    /// have the same peer.
    pub colour: u64,
    /// Channels to peers, each once, in the order of first use.
    pub sends: Vec<Channel>,
    /// Channels from peers, likewise.
    pub receives: Vec<Channel>,
}

/// Channels of all ranks, with the links that each crosses.
#[derive(Clone, Debug)]
pub struct Exchanges {
    pub(super) ranks: Vec<Ends>,
    /// Sending ends, rank after rank, and the receiving end of each.
    pub(super) sends: Vec<Channel>,
    pub(super) arrives: Vec<u32>,
    /// Receiving ends, rank after rank, and the sending end of each.
    pub(super) receives: Vec<Channel>,
    pub(super) leaves: Vec<u32>,
    /// First link of each channel in `links`, and one more entry.
    first_link: Vec<u32>,
    links: Vec<LinkId>,
    /// Latency of the way back of each channel \[ps\], as bits; empty if nothing travels back.
    pub(super) backs: Vec<u64>,
    /// Colour of each link at the start: its capacity and latency.
    pub(super) link_colours: IdVec<LinkId, u64>,
}

/// Ends of the channels of a rank.
#[derive(Clone, Debug)]
pub(super) struct Ends {
    /// Colour of the program.
    pub colour: u64,
    /// First of its sending and of its receiving ends, and the number of each.
    pub first: [u32; 2],
    pub count: [u32; 2],
}

impl Exchanges {
    /// Joins the ends of all channels; `None` if a channel has only one end. Cost: O(c log c) for c channels.
    pub fn new(shapes: impl IntoIterator<Item = RankShape>) -> Option<Self> {
        let (mut ranks, mut sends, mut receives) = (Vec::new(), Vec::new(), Vec::new());
        for shape in shapes {
            let first = [sends.len() as u32, receives.len() as u32];
            let count = [shape.sends.len() as u32, shape.receives.len() as u32];
            let colour = count.iter().fold(shape.colour, |colour, &count| mix(colour, count.into()));
            ranks.push(Ends { colour, first, count });
            sends.extend(shape.sends);
            receives.extend(shape.receives);
        }
        let (mut arrives, mut leaves) = (vec![0; sends.len()], vec![0; receives.len()]);
        let mut out: Vec<(u32, u32, u32, u32)> = Vec::with_capacity(sends.len());
        let mut into = Vec::with_capacity(receives.len());
        for (me, ends) in (0..).zip(&ranks) {
            out.extend(ends.range(0).map(|at| (me, sends[at].peer, sends[at].kind, at as u32)));
            into.extend(ends.range(1).map(|at| (receives[at].peer, me, receives[at].kind, at as u32)));
        }
        out.sort_unstable();
        into.sort_unstable();
        let channel = |&(src, dst, kind, _): &(u32, u32, u32, u32)| (src, dst, kind);
        let is_paired = out.iter().map(channel).eq(into.iter().map(channel));
        let is_double = out.windows(2).any(|pair| channel(&pair[0]) == channel(&pair[1]));
        if !is_paired || is_double {
            return None;
        }
        for (&(.., from), &(.., to)) in out.iter().zip(&into) {
            arrives[from as usize] = to;
            leaves[to as usize] = from;
        }
        let first_link = vec![0; sends.len() + 1];
        let (links, backs, link_colours) = (Vec::new(), Vec::new(), IdVec::new());
        Some(Self { ranks, sends, arrives, receives, leaves, first_link, links, backs, link_colours })
    }

    /// Adds the links of all routes, and the latency of each way back if `backs` is set. The router has one route for
    /// each pair. Returns `None` if a route is missing. Cost: that of all routes.
    #[must_use]
    pub fn with_routes(
        mut self,
        fabric: &Fabric,
        router: &dyn Router,
        placement: &Placement,
        backs: bool,
    ) -> Option<Self> {
        let (mut links, mut back) = (Vec::new(), Vec::new());
        for (me, ends) in self.ranks.iter().enumerate() {
            for at in ends.range(0) {
                let (src, dst) = (placement[RankId(me as u32)], placement[RankId(self.sends[at].peer)]);
                let reaches = |src, dst| router.reaches(src, dst);
                if src != dst && !(reaches(src, dst) && (!backs || reaches(dst, src))) {
                    return None;
                }
                if src != dst {
                    router.route(src, dst, &mut links);
                }
                self.first_link[at + 1] = links.len() as u32;
                if backs {
                    back.clear();
                    if src != dst {
                        router.route(dst, src, &mut back);
                    }
                    let latency: f64 = back.iter().map(|&link| fabric.link(link).latency.ps()).sum();
                    self.backs.push(latency.to_bits());
                }
            }
        }
        let properties = |link: &Link| [link.capacity.bytes_per_second(), link.latency.ps()];
        let colour = |link: &Link| properties(link).iter().fold(0, |colour, value| mix(colour, value.to_bits()));
        self.link_colours = fabric.links().iter().map(colour).collect();
        self.links = links;
        Some(self)
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        self.ranks.len() as u32
    }

    /// Number of channels.
    pub fn channels(&self) -> usize {
        self.sends.len()
    }

    /// Returns the links of a channel, by the number of its sending end.
    pub(super) fn route(&self, at: usize) -> &[LinkId] {
        &self.links[self.first_link[at] as usize..self.first_link[at + 1] as usize]
    }

    /// Returns the rank and the place among its channels of each sending end, as (sender, place).
    pub(super) fn sender(&self, receive: usize) -> (u32, u32) {
        let src = self.receives[receive].peer;
        (src, self.leaves[receive] - self.ranks[src as usize].first[0])
    }

    /// Returns the receiver of a sending end, and the place among its channels.
    pub(super) fn receiver(&self, send: usize) -> (u32, u32) {
        let dst = self.sends[send].peer;
        (dst, self.arrives[send] - self.ranks[dst as usize].first[1])
    }
}

impl Ends {
    /// Returns the numbers of its sending (0) or receiving (1) ends.
    pub fn range(&self, side: usize) -> std::ops::Range<usize> {
        let first = self.first[side] as usize;
        first..first + self.count[side] as usize
    }
}

//! Which flows are on which links and in which groups.

use super::{Groups, NONE};

/// How far the sweep has come with a dirty link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    Old,
    Released,
    Done,
}

/// What is kept of a link.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Link {
    /// \[B/s\].
    pub capacity: f64,
    /// The rate of its own flows \[B/s\]; infinite where it is not full, and while its own flows are free.
    pub level: f64,
    /// Sum of the rates of its fixed flows \[B/s\].
    pub load: f64,
    /// A lower bound of the allowances of its own flows \[B/s\].
    pub least: f64,
    /// Its level before this solve \[B/s\]; valid while it is dirty.
    pub before: f64,
    pub epoch: u32,
    /// Where its key is in the pending set; valid while it is dirty, like the phase.
    pub place: u32,
    /// Number of its flows that are free, of all its flows, and of its own.
    pub free: u32,
    pub count: u32,
    pub own: u32,
    pub phase: Phase,
    /// Whether the key is the exact level and not just a lower bound.
    pub is_exact: bool,
}

impl Link {
    pub fn new(capacity: f64) -> Self {
        Self {
            capacity,
            level: f64::INFINITY,
            load: 0.0,
            least: f64::INFINITY,
            before: f64::INFINITY,
            epoch: 0,
            place: 0,
            free: 0,
            count: 0,
            own: 0,
            phase: Phase::Old,
            is_exact: false,
        }
    }
}

/// The flows of a link, and the links of its group.
#[derive(Clone, Debug, Default)]
pub(super) struct Lists {
    /// The flows that it holds back.
    pub own: Vec<u32>,
    /// Flows of other groups, or of none, and which of their links this is.
    pub foreign: Vec<(u32, u32)>,
    /// The other active links that own flows cross, with the number of flows.
    pub edges: Vec<(u32, u32)>,
}

/// The links, places and groups of flows.
#[derive(Clone, Debug, Default)]
pub(super) struct Flows {
    /// Words for each flow: the number of its links, then the links.
    stride: usize,
    words: Vec<u32>,
    /// Like the words: where the flow is in the list of foreign flows of that link.
    places: Vec<u32>,
    /// By flow: its group, or [`NONE`].
    pub group: Vec<u32>,
    /// By flow: where it is in its group's list of own flows; while it has none, in the pending set.
    pub own_place: Vec<u32>,
}

impl Flows {
    /// Makes room for a flow and notes its links.
    pub fn reserve(&mut self, flow: u32, links: &[u32]) {
        if links.len() >= self.stride {
            let stride = (links.len() + 1).next_power_of_two();
            let widen = |old: &[u32]| {
                let mut wide = vec![0; self.group.len() * stride];
                if self.stride > 0 {
                    for (to, from) in wide.chunks_exact_mut(stride).zip(old.chunks_exact(self.stride)) {
                        to[..self.stride].copy_from_slice(from);
                    }
                }
                wide
            };
            self.words = widen(&self.words);
            self.places = widen(&self.places);
            self.stride = stride;
        }
        let needed = flow as usize + 1;
        if needed > self.group.len() {
            self.group.resize(needed, NONE);
            self.own_place.resize(needed, 0);
            self.words.resize(needed * self.stride, 0);
            self.places.resize(needed * self.stride, 0);
        }
        let base = flow as usize * self.stride;
        self.words[base] = links.len() as u32;
        self.words[base + 1..][..links.len()].copy_from_slice(links);
    }
    /// Number of links of a flow.
    #[inline(always)]
    pub fn count(&self, flow: u32) -> usize {
        self.words[flow as usize * self.stride] as usize
    }
    /// The links of a flow.
    #[inline(always)]
    pub fn links(&self, flow: u32) -> &[u32] {
        let base = flow as usize * self.stride;
        &self.words[base + 1..][..self.words[base] as usize]
    }
    /// One link of a flow.
    #[inline(always)]
    pub fn link(&self, flow: u32, hop: usize) -> u32 {
        self.words[flow as usize * self.stride + 1 + hop]
    }
    /// Where it is in that link's list of foreign flows.
    #[inline(always)]
    pub fn place(&self, flow: u32, hop: usize) -> u32 {
        self.places[flow as usize * self.stride + 1 + hop]
    }
    /// Notes where it is there.
    #[inline(always)]
    pub fn set_place(&mut self, flow: u32, hop: usize, place: u32) {
        self.places[flow as usize * self.stride + 1 + hop] = place;
    }
    /// Forgets a flow.
    pub fn clear(&mut self, flow: u32) {
        self.words[flow as usize * self.stride] = 0;
        self.group[flow as usize] = NONE;
    }
}

impl Groups {
    /// One own flow of a group more crosses a link.
    #[inline]
    pub(super) fn tie(&mut self, group: u32, link: u32) {
        let edges = &mut self.lists[group as usize].edges;
        match edges.iter_mut().find(|edge| edge.0 == link) {
            Some(edge) => edge.1 += 1,
            None => edges.push((link, 1)),
        }
    }

    /// One own flow of a group fewer crosses a link.
    #[inline]
    pub(super) fn cut(&mut self, group: u32, link: u32) {
        let edges = &mut self.lists[group as usize].edges;
        let place =
            edges.iter().position(|edge| edge.0 == link).expect("a group has an edge to the links of its flows");
        edges[place].1 -= 1;
        if edges[place].1 == 0 {
            edges.swap_remove(place);
        }
    }

    /// Takes a flow out of its group.
    #[inline]
    pub(super) fn take_own(&mut self, flow: u32, group: u32) {
        let own = &mut self.lists[group as usize].own;
        let place = self.flows.own_place[flow as usize] as usize;
        own.swap_remove(place);
        if let Some(&other) = own.get(place) {
            self.flows.own_place[other as usize] = place as u32;
        }
        let link = &mut self.links[group as usize];
        link.own -= 1;
        if link.own == 0 {
            link.least = f64::INFINITY;
        }
    }

    /// Puts a flow into a group.
    #[inline]
    pub(super) fn put_own(&mut self, flow: u32, group: u32) {
        let own = &mut self.lists[group as usize].own;
        self.flows.own_place[flow as usize] = own.len() as u32;
        own.push(flow);
        let allowance = self.allowances.rate(flow);
        let link = &mut self.links[group as usize];
        link.own += 1;
        if allowance < link.least {
            link.least = allowance;
        }
    }

    /// Takes a flow out of a link's list of foreign flows.
    #[inline]
    pub(super) fn take_foreign(&mut self, link: u32, flow: u32, hop: usize) {
        let list = &mut self.lists[link as usize].foreign;
        let place = self.flows.place(flow, hop) as usize;
        list.swap_remove(place);
        if let Some(&(other, hop)) = list.get(place) {
            self.flows.set_place(other, hop as usize, place as u32);
        }
    }

    /// Puts a flow into a link's list of foreign flows.
    #[inline]
    pub(super) fn put_foreign(&mut self, link: u32, flow: u32, hop: usize) {
        let list = &mut self.lists[link as usize].foreign;
        self.flows.set_place(flow, hop, list.len() as u32);
        list.push((flow, hop as u32));
    }
}

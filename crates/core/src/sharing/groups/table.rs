//! What is kept of links, flows and groups.

/// Levels closer than this, relatively, are the same level.
pub(super) const EPS: f64 = 1e-12;

/// No group, no link, no place.
pub(super) const NONE: u32 = u32::MAX;

/// What is kept of a link.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Link {
    /// \[B/s\].
    pub capacity: f64,
    /// Sum of the rates of its flows \[B/s\]; kept while it is active.
    pub load: f64,
    /// While it is active: the groups of its flows, its own among them, with the number of flows.
    pub crossing: Vec<Crossing>,
    /// The group that it holds back, or [`NONE`].
    pub group: u32,
    /// Number of its flows.
    pub count: u32,
    /// The next level at which it needs attention, or a lower bound of that \[B/s\]; infinite if it does not.
    pub key: f64,
    /// Where it is among the links that are next, or [`NONE`].
    pub place: u32,
    /// Whether the key is the exact level and not just a lower bound.
    pub is_exact: bool,
    /// Whether a flow on it may be faster than its group.
    pub is_suspect: bool,
    /// Whether it is in the list of links that may become inactive.
    pub is_idle: bool,
}

impl Link {
    pub fn new(capacity: f64) -> Self {
        Self {
            capacity,
            load: 0.0,
            crossing: Vec::new(),
            group: NONE,
            count: 0,
            key: f64::INFINITY,
            place: NONE,
            is_exact: false,
            is_suspect: false,
            is_idle: false,
        }
    }
}

/// Flows that are held back by the same link.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// The link, or [`NONE`] where there is no such group at present.
    pub link: u32,
    /// The solve in which its level was last set.
    pub epoch: u32,
    /// A lower bound of the allowances of its flows \[B/s\].
    pub least: f64,
    /// Its flows.
    pub own: Vec<u32>,
    /// The active links that they cross, its own among them, with the number of flows.
    pub edges: Vec<Crossing>,
}

/// The links, places and groups of flows.
#[derive(Clone, Debug, Default)]
pub(super) struct Flows {
    /// Words for each flow: the number of its links, then the links.
    stride: usize,
    words: Vec<u32>,
    /// Like the words: where the flow is in the list of flows of that link.
    places: Vec<u32>,
    /// By flow: its group, or [`NONE`].
    pub group: Vec<u32>,
    /// By flow: where it is in its group's list of flows.
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

    /// Where it is in that link's list of flows.
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

/// Some flows of a group cross an active link: as noted with the group (a link), or with the link (a group).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Crossing {
    /// The link, or the group.
    pub other: u32,
    /// The number of flows.
    pub flows: u32,
    /// Where the same is noted with the other.
    pub twin: u32,
}

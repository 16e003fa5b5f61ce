//! State of links, flows and groups.

/// Levels closer than this, relatively, are the same level.
pub(super) const EPS: f64 = 1e-12;

/// Value for no group, no link or no place.
pub(super) const NONE: u32 = u32::MAX;

/// Group without flows, whose level is 0.
pub(super) const NOBODY: u32 = 0;

/// State of a link.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Link {
    /// Capacity \[B/s\].
    pub capacity: f64,
    /// Sum of the rates of its flows \[B/s\]; kept only while it is active.
    pub load: f64,
    /// Groups of its flows, its own among them, with the number of flows; kept only while it is active.
    pub crossing: Vec<Crossing>,
    /// Group that it holds back, or [`NONE`].
    pub group: u32,
    /// Number of its flows.
    pub count: u32,
    /// Next level at which it needs attention, or a lower bound of that \[B/s\]; infinite if it needs none.
    pub key: f64,
    /// Place among the near links, or [`NONE`].
    pub place: u32,
    /// Set if the key is the exact level, not just a lower bound.
    pub is_exact: bool,
    /// Set if a flow on it may be faster than its group.
    pub is_suspect: bool,
    /// Set if it is in the list of links that may become inactive.
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

/// Flows that the same link holds back.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// The link, or [`NONE`] for a free group.
    pub link: u32,
    /// Solve in which its level was last set.
    pub epoch: u32,
    /// Lower bound of the allowances of its flows \[B/s\].
    pub least: f64,
    /// Its flows.
    pub own: Vec<u32>,
    /// Active links that its flows cross, its own among them, with the number of flows.
    pub edges: Vec<Crossing>,
}

/// Links of flows, their places in lists, and their groups.
#[derive(Clone, Debug, Default)]
pub(super) struct Flows {
    /// Words of each flow: the number of its links, then the links.
    stride: usize,
    words: Vec<u32>,
    /// Place of the flow in the list of each of its links, laid out like the words.
    places: Vec<u32>,
    /// By flow: its group, or [`NONE`].
    pub group: Vec<u32>,
    /// By flow: its place in its group's list of flows.
    pub own_place: Vec<u32>,
}

impl Flows {
    /// Makes room for a flow and stores its links.
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

    /// Returns the number of links of a flow.
    #[inline(always)]
    pub fn count(&self, flow: u32) -> usize {
        self.words[flow as usize * self.stride] as usize
    }

    /// Returns the links of a flow.
    #[inline(always)]
    pub fn links(&self, flow: u32) -> &[u32] {
        let base = flow as usize * self.stride;
        &self.words[base + 1..][..self.words[base] as usize]
    }

    /// Returns one link of a flow.
    #[inline(always)]
    pub fn link(&self, flow: u32, hop: usize) -> u32 {
        self.words[flow as usize * self.stride + 1 + hop]
    }

    /// Returns the place of a flow in the list of one of its links.
    #[inline(always)]
    pub fn place(&self, flow: u32, hop: usize) -> u32 {
        self.places[flow as usize * self.stride + 1 + hop]
    }

    /// Sets the place of a flow in the list of one of its links.
    #[inline(always)]
    pub fn set_place(&mut self, flow: u32, hop: usize, place: u32) {
        self.places[flow as usize * self.stride + 1 + hop] = place;
    }

    /// Clears the entries of a flow.
    pub fn clear(&mut self, flow: u32) {
        self.words[flow as usize * self.stride] = 0;
        self.group[flow as usize] = NONE;
    }
}

/// Flows of a group that cross an active link, stored both with the group and with the link.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Crossing {
    /// The link, if stored with the group, or the group, if stored with the link.
    pub other: u32,
    /// Number of flows.
    pub flows: u32,
    /// Place of the counterpart in the list of `other`.
    pub twin: u32,
}

//! Interface of sharing policies.

/// Change of a rate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Change {
    /// The flow.
    pub flow: u32,
    /// Rate before \[B/s\]; 0 for a new flow.
    pub old: f64,
    /// Rate now \[B/s\].
    pub new: f64,
}

/// Weight and limit of a flow.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Terms {
    /// Weight: a link that holds flows back gives them rates in proportion to their weights.
    pub weight: f64,
    /// Largest rate \[B/s\]; infinite for none.
    pub limit: f64,
}

impl Default for Terms {
    fn default() -> Self {
        Self { weight: 1.0, limit: f64::INFINITY }
    }
}

impl Terms {
    /// Returns the rate of a flow at this level \[B/s\].
    pub(super) fn rate(self, level: f64) -> f64 {
        let rate = self.weight * level;
        if rate < self.limit { rate } else { self.limit }
    }

    /// Returns the terms after checking them.
    ///
    /// # Panics
    /// If weight or limit is not above 0, or the weight is infinite.
    pub(super) fn checked(self) -> Self {
        let Self { weight, limit } = self;
        assert!(weight > 0.0 && weight < f64::INFINITY, "{weight} is no weight of a flow");
        assert!(limit > 0.0, "{limit} is no limit of a flow");
        self
    }
}

/// Sharing policy at work on one set of links.
///
/// The caller chooses flow ids, which are dense and may be used again. Every flow crosses at least one link
/// and none twice.
pub trait Sharing: std::fmt::Debug {
    /// Adds a flow.
    fn add(&mut self, flow: u32, links: &[u32]);

    /// True if it takes flows on several paths, with weights and limits.
    fn takes_terms(&self) -> bool {
        false
    }

    /// Adds a flow on more than one path that takes `parts[i]` of its rate on `links[i]`.
    fn add_split(&mut self, flow: u32, links: &[u32], parts: &[f64]) {
        self.add_on_terms(flow, links, parts, Terms::default());
    }

    /// Adds a flow with parts as in [`Sharing::add_split`], and with a weight or a limit; only if
    /// [`Sharing::takes_terms`].
    fn add_on_terms(&mut self, flow: u32, links: &[u32], parts: &[f64], terms: Terms) {
        let _ = (links, parts, terms);
        unreachable!("flow {flow} has several paths or terms, which this policy does not take");
    }

    /// Removes a flow.
    fn remove(&mut self, flow: u32);

    /// Prefetches data of a flow that will probably be removed after this number of others: a part each time,
    /// since where the next part lies stands in the one before.
    fn expect(&self, flow: u32, after: usize) {
        let _ = (flow, after);
    }

    /// Prefetches data of these links, on which a flow will come after this number of others: the links, then
    /// the flows on them.
    fn expect_on(&self, links: &[u32], after: usize) {
        let _ = (links, after);
    }

    /// Changes the capacity of a link to a value above 0 \[B/s\]; only if
    /// [`SharingSpec::refuses_changes`](super::SharingSpec::refuses_changes) returns `None`.
    fn set_capacity(&mut self, link: u32, capacity: f64) {
        unreachable!("link {link} is to carry {capacity} B/s, which this policy cannot change");
    }

    /// Makes a link a pipe of this capacity \[B/s\], before flows are on it: each flow has the capacity to
    /// itself, and all flows on it stop at the level at which the first of them reaches it. Returns false if
    /// the policy knows no pipes.
    fn make_pipe(&mut self, link: u32, capacity: f64) -> bool {
        let _ = (link, capacity);
        false
    }

    /// Appends the rates that differ from those of the last call, each flow once.
    fn solve(&mut self, changes: &mut Vec<Change>);

    /// Returns the rate of a flow at the last call of [`Sharing::solve`] \[B/s\].
    fn rate(&self, flow: u32) -> f64;

    /// Returns the bottleneck link of a flow.
    fn bottleneck(&self, flow: u32) -> Option<u32>;

    /// True if this link of its route is known to hold a flow back. This is asked before
    /// [`Sharing::bottleneck`], which looks at all links.
    fn holds_back(&self, flow: u32, link: u32) -> bool {
        let _ = (flow, link);
        false
    }

    /// True if a link can be left out whose flows all cross another link of no larger capacity.
    fn may_leave_out_dominated_links(&self) -> bool {
        true
    }

    /// True if flows that all have the same least share c / n along their routes get just that share, and
    /// need no further bookkeeping.
    fn gives_even_flows_even_shares(&self) -> bool {
        true
    }

    /// Returns the rounds of redistribution so far; `None` for policies without rounds.
    fn rounds(&self) -> Option<Rounds> {
        None
    }
}

/// Rounds that the solves so far took.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rounds {
    /// Number of solves.
    pub solves: u64,
    /// Rounds of all solves.
    pub total: u64,
    /// Fewest rounds of a solve.
    pub min: u32,
    /// Most rounds of a solve.
    pub max: u32,
}

impl Default for Rounds {
    fn default() -> Self {
        Self { solves: 0, total: 0, min: u32::MAX, max: 0 }
    }
}

impl Rounds {
    /// Counts a solve.
    pub(super) fn count(&mut self, rounds: u32) {
        self.solves += 1;
        self.total += u64::from(rounds);
        self.min = self.min.min(rounds);
        self.max = self.max.max(rounds);
    }

    /// Returns the counts if anything was solved.
    pub(super) fn known(self) -> Option<Self> {
        (self.solves > 0).then_some(self)
    }
}

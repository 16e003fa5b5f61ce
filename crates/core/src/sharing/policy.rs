//! What a sharing policy is for whoever asks it for rates.

/// A rate that has changed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Change {
    /// The flow.
    pub flow: u32,
    /// Its rate before \[B/s\]; 0 for a flow that was added since.
    pub old: f64,
    /// Its rate now \[B/s\].
    pub new: f64,
}

/// On which terms a flow shares, beside which part of its rate it takes on which link.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Terms {
    /// Rates of flows that a link holds back are in proportion to their weights.
    pub weight: f64,
    /// The largest rate of its own \[B/s\]; infinite for none.
    pub limit: f64,
}

impl Default for Terms {
    fn default() -> Self {
        Self { weight: 1.0, limit: f64::INFINITY }
    }
}

impl Terms {
    /// The rate of a flow at this level \[B/s\].
    pub(super) fn rate(self, level: f64) -> f64 {
        let rate = self.weight * level;
        if rate < self.limit { rate } else { self.limit }
    }

    /// The same.
    ///
    /// # Panics
    /// Where weight or limit is not above 0, or the weight is infinite.
    pub(super) fn checked(self) -> Self {
        let Self { weight, limit } = self;
        assert!(weight > 0.0 && weight < f64::INFINITY, "{weight} is no weight of a flow");
        assert!(limit > 0.0, "{limit} is no limit of a flow");
        self
    }
}

/// A sharing policy at work on one set of links.
///
/// Flow ids are chosen by the caller, dense, and may be used again. Every flow crosses at least one link and none
/// twice.
pub trait Sharing: std::fmt::Debug {
    /// A flow comes.
    fn add(&mut self, flow: u32, links: &[u32]);

    /// Whether it takes flows on several paths, with weights and limits.
    fn takes_terms(&self) -> bool {
        false
    }

    /// A flow comes that takes `parts[i]` of its rate on `links[i]`: more than one path.
    fn add_split(&mut self, flow: u32, links: &[u32], parts: &[f64]) {
        self.add_on_terms(flow, links, parts, Terms::default());
    }

    /// The same for a flow with a weight or a limit; only where [`Sharing::takes_terms`].
    fn add_on_terms(&mut self, flow: u32, links: &[u32], parts: &[f64], terms: Terms) {
        let _ = (links, parts, terms);
        unreachable!("flow {flow} has several paths or terms, which this policy does not take");
    }

    /// A flow goes.
    fn remove(&mut self, flow: u32);

    /// A flow will probably go next, and another after it: what is kept of them may be asked for.
    fn expect(&self, next: u32, later: u32) {
        let _ = (next, later);
    }

    /// A flow on these links will come soon: what is kept of them may be asked for.
    fn expect_on(&self, links: &[u32]) {
        let _ = links;
    }

    /// A link has another capacity from now on \[B/s\], more than nothing; only where
    /// [`SharingSpec::refuses_changes`](super::SharingSpec::refuses_changes) says nothing.
    fn set_capacity(&mut self, link: u32, capacity: f64) {
        unreachable!("link {link} is to carry {capacity} B/s, which this policy cannot change");
    }

    /// Makes a link a pipe of this capacity \[B/s\], before flows are on it: each flow has the capacity to itself, and
    /// all flows on it stop at the level at which the first of them reaches it. False where the policy knows no pipes.
    fn make_pipe(&mut self, link: u32, capacity: f64) -> bool {
        let _ = (link, capacity);
        false
    }

    /// Appends the rates that differ from those of the last call, each flow once.
    fn solve(&mut self, changes: &mut Vec<Change>);

    /// The rate of a flow at the last call of [`Sharing::solve`] \[B/s\].
    fn rate(&self, flow: u32) -> f64;

    /// The link that holds this flow back.
    fn bottleneck(&self, flow: u32) -> Option<u32>;

    /// Returns true if this link of its route is known to hold a flow back: asked before [`Sharing::bottleneck`], which
    /// looks at all of them.
    fn holds_back(&self, flow: u32, link: u32) -> bool {
        let _ = (flow, link);
        false
    }

    /// Whether a link can be left out whose flows all cross another link of no larger capacity.
    fn may_leave_out_dominated_links(&self) -> bool {
        true
    }

    /// Whether flows that all have the same least share c / n along their routes get just that, and nothing else need
    /// be noted of them.
    fn gives_even_flows_even_shares(&self) -> bool {
        true
    }

    /// Rounds of redistribution so far, for the policy that has them.
    fn rounds(&self) -> Option<Rounds> {
        None
    }
}

/// How many rounds the solves so far took.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rounds {
    /// Number of solves.
    pub solves: u64,
    /// Rounds of all of them.
    pub total: u64,
    /// Fewest of one.
    pub min: u32,
    /// Most of one.
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

    /// The same, if anything was solved.
    pub(super) fn known(self) -> Option<Self> {
        (self.solves > 0).then_some(self)
    }
}

//! Lower bounds of the time of the links, each with the certificate that proves it.
use super::search::Search;
use super::{Demand, Links};

/// Largest sources x links for which [`free_bounds`] searches from each source.
const SEARCHES: usize = 1 << 26;
/// Number of pairs and links that one round of prefix cuts may visit.
const CUT_WORK: usize = 1 << 24;

/// Proof of a lower bound `L >= value` \[s\].
#[derive(Clone, Debug, PartialEq)]
pub enum Certificate {
    /// Absence of any demand: the bound is 0.
    None,
    /// Fewest hops: `L >= sum d_st hops(s, t) / sum c_e`.
    Distance,
    /// Lengths `l_e` of links: `L >= sum d_st dist_l(s, t) / sum c_e l_e`, the dual of the linear program.
    Lengths(Vec<f64>),
    /// Cut: `L >= bytes / capacity` of all traffic and all links from one side to the rest.
    Cut {
        /// True for each vertex on the sending side.
        side: Vec<bool>,
        /// Demand from the side to the rest \[B\].
        bytes: f64,
        /// Capacity of the links from the side to the rest \[B/s\].
        capacity: f64,
    },
}

impl Certificate {
    /// Returns the certificate of a cut, from its sending side.
    fn cut(links: &Links, demand: &Demand, side: Vec<bool>) -> Self {
        let crosses = |from: u32, to: u32| side[from as usize] && !side[to as usize];
        let row = |&s: &u32| demand.of(s).iter().filter(move |d| crosses(s, d.0)).map(|d| d.1).sum::<f64>();
        let bytes = demand.sources().iter().filter(|&&s| side[s as usize]).map(row).sum();
        let all = links.ends().iter().zip(links.capacity());
        let capacity = all.filter(|&(&(from, to), _)| crosses(from, to)).map(|(_, c)| c).sum();
        Self::Cut { side, bytes, capacity }
    }

    /// Returns the lower bound \[s\] that the certificate proves, computed from the links and the demand alone.
    ///
    /// Lengths and distances cost one search from each source.
    pub fn value(&self, links: &Links, demand: &Demand) -> f64 {
        let mut search = Search::new(links.vertices());
        let mut sum = |run: &dyn Fn(&mut Search, u32)| -> f64 {
            let cost = |&source: &u32| {
                run(&mut search, source);
                search.cost(demand.of(source))
            };
            demand.sources().iter().map(cost).sum()
        };
        match self {
            Self::None => 0.0,
            Self::Distance => sum(&|search, s| search.by_hops(links, s)) / links.capacity().iter().sum::<f64>(),
            Self::Lengths(l) => sum(&|search, s| search.by_length(links, l, s)) / weight(links, l),
            Self::Cut { side, .. } => match Self::cut(links, demand, side.clone()) {
                Self::Cut { bytes, capacity, .. } if bytes > 0.0 => bytes / capacity,
                _ => 0.0,
            },
        }
    }
}

/// Returns `sum c_e l_e`.
pub(super) fn weight(links: &Links, lengths: &[f64]) -> f64 {
    links.capacity().iter().zip(lengths).map(|(c, l)| c * l).sum()
}

/// Best lower bound so far.
pub(super) struct Bound {
    /// Value of the bound \[s\].
    pub at_least: f64,
    pub certificate: Certificate,
}

impl Bound {
    /// Keeps the certificate if its value is larger.
    pub fn offer(&mut self, at_least: f64, certificate: impl FnOnce() -> Certificate) {
        if at_least > self.at_least * (1.0 + 1e-12) {
            (self.at_least, self.certificate) = (at_least, certificate());
        }
    }
}

/// Cuts of one vertex and of the first vertices of searches.
pub(super) struct Cuts<'a> {
    links: &'a Links,
    demand: &'a Demand,
    /// Bytes out of and into each vertex \[B\].
    totals: Vec<(f64, f64)>,
    /// Capacity out of and into each vertex \[B/s\].
    capacities: Vec<(f64, f64)>,
}

impl<'a> Cuts<'a> {
    pub fn new(links: &'a Links, demand: &'a Demand) -> Self {
        let mut totals = vec![(0.0, 0.0); links.vertices()];
        for &source in demand.sources() {
            for &(to, bytes) in demand.of(source) {
                totals[source as usize].0 += bytes;
                totals[to as usize].1 += bytes;
            }
        }
        let mut capacities = vec![(0.0, 0.0); links.vertices()];
        for (&(from, to), capacity) in links.ends().iter().zip(links.capacity()).filter(|(e, _)| e.0 != e.1) {
            capacities[from as usize].0 += capacity;
            capacities[to as usize].1 += capacity;
        }
        Self { links, demand, totals, capacities }
    }

    /// Returns the number of searches whose prefix cuts are cheap enough for one round.
    pub fn searches(&self) -> usize {
        1 + CUT_WORK / (1 + self.demand.pairs() + self.links.ends().len())
    }

    /// Offers the cut of the vertices in `inside`, or of all others for `into`.
    fn offer(&self, bound: &mut Bound, value: f64, inside: &[u32], into: bool) {
        bound.offer(value, || {
            let mut side = vec![into; self.links.vertices()];
            inside.iter().for_each(|&v| side[v as usize] = !into);
            Certificate::cut(self.links, self.demand, side)
        });
    }

    /// Offers the cuts out of and into each single vertex.
    pub fn vertices(&self, bound: &mut Bound) {
        for v in 0..self.links.vertices() {
            let (bytes, capacity) = (self.totals[v], self.capacities[v]);
            self.offer(bound, ratio(bytes.0, capacity.0), &[v as u32], false);
            self.offer(bound, ratio(bytes.1, capacity.1), &[v as u32], true);
        }
    }

    /// Offers the cuts between the first vertices of the order and all others, for each number of them and in both
    /// directions. Costs one visit of each pair of the demand and of each link.
    pub fn prefixes(&self, bound: &mut Bound, order: &[u32]) {
        let mut inside = vec![false; self.links.vertices()];
        let mut from_inside = vec![0.0; self.links.vertices()];
        let (mut bytes, mut capacity) = ((0.0, 0.0), (0.0, 0.0));
        let mut best = (0.0, 0, false);
        for (before, &vertex) in order[..order.len() - 1].iter().enumerate() {
            let v = vertex as usize;
            inside[v] = true;
            let mut inwards = 0.0;
            for &(to, amount) in self.demand.of(vertex) {
                inwards += if inside[to as usize] { amount } else { 0.0 };
                from_inside[to as usize] += amount;
            }
            bytes.0 += self.totals[v].0 - inwards - from_inside[v];
            bytes.1 += self.totals[v].1 - inwards - from_inside[v];
            let within = |entries: &[(u32, u32)]| -> f64 {
                let inner = entries.iter().filter(|e| e.1 != vertex && inside[e.1 as usize]);
                inner.map(|e| self.links.capacity()[e.0 as usize]).sum()
            };
            let inner = within(self.links.out(vertex)) + within(self.links.into(vertex));
            capacity.0 += self.capacities[v].0 - inner;
            capacity.1 += self.capacities[v].1 - inner;
            for (value, into) in [(ratio(bytes.0, capacity.0), false), (ratio(bytes.1, capacity.1), true)] {
                if value > best.0 {
                    best = (value, before + 1, into);
                }
            }
        }
        self.offer(bound, best.0, &order[..best.1], best.2);
    }
}

/// Returns bytes over capacity, 0 where no bytes cross.
fn ratio(bytes: f64, capacity: f64) -> f64 {
    if bytes > 0.0 { bytes / capacity } else { 0.0 }
}

/// Returns the largest lower bound \[s\] that needs no iterations, and its certificate.
///
/// It is the largest of the cuts of one vertex, the cuts of search orders (of some sources on large fabrics), and
/// the bound of distances, which is left out where sources x links exceed 2^26. The bound is infinite where a
/// destination cannot be reached. Cost: at most O(sources x links + pairs) and 2^24 steps.
pub fn free_bounds(links: &Links, demand: &Demand) -> (f64, Certificate) {
    let mut bound = Bound { at_least: 0.0, certificate: Certificate::None };
    let cuts = Cuts::new(links, demand);
    cuts.vertices(&mut bound);
    let sources = demand.sources();
    if sources.len() * links.ends().len() <= SEARCHES {
        let mut search = Search::new(links.vertices());
        let every = sources.len().div_ceil(cuts.searches()).max(1);
        let mut sum = 0.0;
        for (i, &source) in sources.iter().enumerate() {
            search.by_hops(links, source);
            sum += search.cost(demand.of(source));
            if i % every == 0 {
                cuts.prefixes(&mut bound, &search.order);
            }
        }
        bound.offer(ratio(sum, links.capacity().iter().sum()), || Certificate::Distance);
    }
    (bound.at_least, bound.certificate)
}

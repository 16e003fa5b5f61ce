//! Throughput by load counting: the fraction of their bandwidth that all nodes can use at once, under steady
//! traffic.
//!
//! Every node sends a fraction θ of its bandwidth all the time. The load of a link is its traffic at θ = 1,
//! divided by its capacity. Routes are given, so loads are proportional to θ, and the busiest link is full at
//! ```text
//! θ = 1 / largest load of all links
//! ```
//! That is exact for oblivious rules, on average over their random choices, and needs no simulation.
//!
//! For random pairs of nodes (`bisection`) the result is the *effective bisection*: the mean over all pairs
//! of
//! ```text
//! 1 / largest load of the links on the way of the pair
//! ```
//!
//! Source: W. Dally, B. Towles, "Principles and Practices of Interconnection Networks" (2004), chapter 3; T.
//! Hoefler, T. Schneider, A. Lumsdaine, "Multistage switches are not crossbars", Cluster 2008 (effective
//! bisection).

mod best;
mod ground;
mod kind;
mod rates;
mod simulated;
#[cfg(test)]
mod tests;
mod traffic;
mod worst;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::fabric::{Fabric, LinkRole};
use crate::ids::{Id, IdVec, LinkId, NodeId, VertexId};
use crate::routing::{Demand, Path, Router, may_lack_routes};

pub use best::{BestThroughput, NewCable, WeightedPath, best_throughput};
pub use ground::{OnFabric, OnNodes};
pub use kind::kind;
pub use rates::{Rate, rates};
pub use simulated::{Steady, SteadyOptions, steady};
pub use traffic::{Traffic, groups as groups_of_nodes};
pub use worst::worst_case;

/// Result of load counting.
#[report]
pub struct Throughput {
    /// Fraction of its bandwidth that every node uses; for random pairs the mean over pairs. The mean over
    /// seeds.
    pub throughput: f64,
    /// Standard deviation over seeds, if there are several.
    pub deviation: Option<f64>,
    /// Fraction of its bandwidth that the slowest of the random pairs uses; the mean over seeds.
    pub slowest_pair: Option<f64>,
    /// Number of seeds with which random traffic was drawn.
    pub seeds: u32,
    /// Fraction of the traffic on shortest paths, if the rule chose the best mix of two kinds of paths.
    pub minimal_share: Option<f64>,
    /// Largest load of the links of each kind, over all seeds: the traffic of a link when every node uses its
    /// whole bandwidth, divided by its capacity.
    pub largest_load: BTreeMap<String, f64>,
    /// Mean load of the links of each kind, over all seeds: its inverse is the throughput that they would
    /// allow if all of them were used equally.
    pub mean_load: BTreeMap<String, f64>,
    /// Link with the largest load.
    #[always]
    pub bottleneck: Option<Bottleneck>,
}

/// The bottleneck link.
#[report]
pub struct Bottleneck {
    /// Name of the link.
    pub link: String,
    /// Kind of the link.
    pub kind: String,
    /// Load of the link.
    pub load: f64,
}

/// Counts the loads of steady traffic. Random traffic is drawn again for each seed.
///
/// # Errors
/// Traffic does not fit the fabric, pairs have no route, or the loads of the rule depend on the messages
/// under way.
pub fn throughput(
    fabric: &Arc<Fabric>,
    router: &dyn Router,
    traffic: &Traffic,
    seeds: impl IntoIterator<Item = u64>,
) -> Result<Throughput, Diagnostic> {
    let mut counted = Sums::new(fabric);
    let mut values = Vec::new();
    let mut slowest = Vec::new();
    let mut minimal_share = None;
    for seed in seeds.into_iter().take(if traffic.is_random() { usize::MAX } else { 1 }) {
        let demands = traffic.demands(fabric, router, seed)?;
        let mut loads = IdVec::filled(fabric.links().len(), 0.0);
        for demand in &demands {
            check_routes(fabric, router, demand)?;
            minimal_share = router.loads(demand, &mut loads)?.minimal_share;
        }
        for (link, load) in (0..loads.len()).map(LinkId::from_index).zip(loads.as_mut_slice()) {
            *load /= fabric.shared_capacity(link).bytes_per_second();
        }
        let largest = counted.add(&loads);
        if let (Traffic::Bisection { .. }, [Demand::Pairs(pairs)]) = (traffic, demands.as_slice()) {
            let (mean, least) = pair_rates(router, pairs, &loads)?;
            values.push(mean);
            slowest.push(least);
        } else {
            values.push(if largest > 0.0 { 1.0 / largest } else { 1.0 });
        }
    }
    let count = values.len().max(1) as f64;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / count;
    let throughput = mean(&values);
    let squares: f64 = values.iter().map(|value| (value - throughput) * (value - throughput)).sum();
    Ok(Throughput {
        throughput,
        deviation: (values.len() > 1).then(|| (squares / (count - 1.0)).sqrt()),
        slowest_pair: (!slowest.is_empty()).then(|| mean(&slowest)),
        seeds: values.len() as u32,
        minimal_share,
        largest_load: counted.by_kind(),
        mean_load: counted.means(values.len()),
        bottleneck: counted.bottleneck(),
    })
}

/// Returns the mean and the least rate of pairs: for each, the inverse of the largest load on its way.
fn pair_rates(
    router: &dyn Router,
    pairs: &[(NodeId, NodeId, f64)],
    loads: &IdVec<LinkId, f64>,
) -> Result<(f64, f64), Diagnostic> {
    let (mut sum, mut least, mut path) = (0.0, f64::INFINITY, Path::default());
    for &(src, dst, _) in pairs {
        path.clear();
        match router.choice() {
            None => router.route(src, dst, &mut path.links),
            Some(choice) if choice.expected(src, dst, &mut path) => {}
            Some(_) => {
                let message = "what a pair gets is not known of a rule that mixes ways for all traffic together";
                return Err(Diagnostic::new("mixed-routing", message).help(
                    "use an oblivious rule (minimal, ecmp, spray, valiant-groups ...), or --traffic permutation",
                ));
            }
        }
        let rate = 1.0 / path.links.iter().map(|&link| loads[link]).fold(1.0, f64::max);
        sum += rate;
        least = f64::min(least, rate);
    }
    Ok(if pairs.is_empty() { (1.0, 1.0) } else { (sum / pairs.len() as f64, least) })
}

/// Largest number of pairs whose routes are checked.
const MOST_PAIRS: u64 = 20_000_000;

/// Checks that there are routes for the traffic. Families of fabrics are connected by construction.
pub(crate) fn check_routes(fabric: &Fabric, router: &dyn Router, demand: &Demand) -> Result<(), Diagnostic> {
    if !may_lack_routes(fabric, router) {
        return Ok(());
    }
    let (mut lost, mut looked_at) = (None, 0);
    for src in (0..demand.sources()).map(NodeId) {
        demand.from(src, |dst, _| {
            looked_at += 1;
            if lost.is_none() && looked_at <= MOST_PAIRS && !router.reaches(src, dst) {
                lost = Some((src, dst));
            }
        });
        if lost.is_some() || looked_at > MOST_PAIRS {
            break;
        }
    }
    let Some((src, dst)) = lost else { return Ok(()) };
    let name = |node: NodeId| fabric.vertex_name(node.into());
    let message = format!("there is no route from {} to {}", name(src), name(dst));
    if fabric.failed().is_some() {
        let diagnostic = Diagnostic::new("cut-off", message);
        return Err(diagnostic.help("let fewer links fail, or draw others (another seed)"));
    }
    Err(Diagnostic::new("no-route", message)
        .help("add links or routes to the topology, or paths to the file of its routing"))
}

/// Largest and mean loads so far.
struct Sums<'a> {
    fabric: &'a Fabric,
    /// Kind of each link.
    kind_of: Vec<u32>,
    kinds: Vec<String>,
    /// Largest load of each kind.
    largest: Vec<f64>,
    /// Sum over links and seeds, and number of links, of each kind.
    sums: Vec<(f64, u32)>,
    busiest: Option<(LinkId, f64)>,
}

impl<'a> Sums<'a> {
    fn new(fabric: &'a Fabric) -> Self {
        // Links with the same role between or within groups are of one kind, so each name is made only once.
        let mut names: BTreeMap<(u16, bool), u32> = BTreeMap::new();
        let (mut kinds, mut kind_of) = (Vec::new(), Vec::new());
        let groups = fabric.groups().unwrap_or_default();
        for id in fabric.links().ids() {
            let link = fabric.link(id);
            let role = match link.role {
                LinkRole::Injection | LinkRole::Ejection => u16::MAX,
                LinkRole::Network { tier } => tier.into(),
            };
            let group = |vertex: VertexId| groups.get(vertex.index().wrapping_sub(fabric.nodes() as usize));
            let crosses = link
                .ends
                .is_some_and(|(from, to)| matches!((group(from), group(to)), (Some(from), Some(to)) if from != to));
            let number = *names.entry((role, crosses)).or_insert_with(|| {
                let name = kind(fabric, id);
                let known = kinds.iter().position(|known| *known == name);
                known.unwrap_or_else(|| {
                    kinds.push(name);
                    kinds.len() - 1
                }) as u32
            });
            kind_of.push(number);
        }
        let mut sums = vec![(0.0, 0); kinds.len()];
        kind_of.iter().for_each(|&kind| sums[kind as usize].1 += 1);
        Self { fabric, largest: vec![0.0; kinds.len()], sums, kinds, kind_of, busiest: None }
    }

    /// Adds the loads of one run and returns the largest of them.
    fn add(&mut self, loads: &IdVec<LinkId, f64>) -> f64 {
        let mut largest = 0.0;
        for (link, &load) in loads.iter_ids() {
            let of_kind = &mut self.largest[self.kind_of[link.index()] as usize];
            *of_kind = load.max(*of_kind);
            self.sums[self.kind_of[link.index()] as usize].0 += load;
            largest = load.max(largest);
            // Sums of equal terms may differ in their last digits; the first of equally busy links is named.
            if load > self.busiest.map_or(0.0, |(_, most)| most * (1.0 + 1e-12)) {
                self.busiest = Some((link, load));
            }
        }
        largest
    }

    fn by_kind(&self) -> BTreeMap<String, f64> {
        self.kinds.iter().cloned().zip(self.largest.iter().copied()).collect()
    }

    fn means(&self, seeds: usize) -> BTreeMap<String, f64> {
        let mean = |&(sum, links): &(f64, u32)| sum / (f64::from(links) * seeds.max(1) as f64);
        self.kinds.iter().cloned().zip(self.sums.iter().map(mean)).collect()
    }

    fn bottleneck(&self) -> Option<Bottleneck> {
        let (link, load) = self.busiest?;
        let kind = self.kinds[self.kind_of[link.index()] as usize].clone();
        Some(Bottleneck { link: self.fabric.link_name(link), kind, load })
    }
}

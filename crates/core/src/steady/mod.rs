//! Throughput by load counting: how much of their bandwidth all nodes can use at once, under steady traffic.
//!
//! Every node sends a fraction θ of its bandwidth all the time. The load of a link is what crosses it at θ = 1, over
//! its capacity; routes are given, so loads grow with θ, and the busiest link is full at
//! ```text
//! θ = 1 / largest load of all links
//! ```
//! That is exact for oblivious rules, on average over what they draw, and needs no simulation.
//!
//! Where pairs of nodes are drawn (`bisection`), what is told is the *effective bisection*: the mean over all pairs of
//! ```text
//! 1 / largest load of the links on the way of the pair
//! ```
//!
//! Source: W. Dally, B. Towles, "Principles and Practices of Interconnection Networks" (2004), chapter 3; T. Hoefler,
//! T. Schneider, A. Lumsdaine, "Multistage switches are not crossbars", Cluster 2008 (effective bisection).

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

pub use ground::{OnFabric, OnNodes};
pub use kind::kind;
pub use rates::{Rate, rates};
pub use simulated::{Steady, SteadyOptions, steady};
pub use traffic::{Traffic, groups as groups_of_nodes};
pub use worst::worst_case;

/// What came out of counting loads.
#[report]
pub struct Throughput {
    /// The part of its bandwidth that every node uses; of random pairs the mean over pairs. The mean over seeds.
    pub throughput: f64,
    /// The standard deviation over seeds, where there are several.
    pub deviation: Option<f64>,
    /// Of random pairs: what the slowest has; the mean over seeds.
    pub slowest_pair: Option<f64>,
    /// How often random traffic was drawn.
    pub seeds: u32,
    /// The part of the traffic that goes shortest ways, where the rule has mixed two kinds of ways as is best.
    pub minimal_share: Option<f64>,
    /// By kind of link, the largest load of all its links, over all seeds: what crosses it when every node uses its
    /// whole bandwidth, over its capacity.
    pub largest_load: BTreeMap<String, f64>,
    /// By kind of link, the mean load of its links, over all seeds: 1 over it is the throughput that they would allow
    /// if all of them were used alike.
    pub mean_load: BTreeMap<String, f64>,
    /// The link with the largest load.
    #[always]
    pub bottleneck: Option<Bottleneck>,
}

/// The link that holds traffic back.
#[report]
pub struct Bottleneck {
    /// Its name.
    pub link: String,
    /// Its kind.
    pub kind: String,
    /// Its load.
    pub load: f64,
}

/// Counts the loads of steady traffic, drawn anew for each seed where it is random.
///
/// # Errors
/// Traffic that does not fit the fabric, pairs without a route, and a rule whose loads depend on what is under way.
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
            check_ways(fabric, router, demand)?;
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

/// The mean and the least of what pairs get: of each, 1 over the largest load on its way.
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

/// Pairs looked at for routes, at most.
const MOST_PAIRS: u64 = 20_000_000;

/// That routes lead where traffic goes. Families of fabrics are connected by construction.
pub(crate) fn check_ways(fabric: &Fabric, router: &dyn Router, demand: &Demand) -> Result<(), Diagnostic> {
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

/// The largest loads so far.
struct Sums<'a> {
    fabric: &'a Fabric,
    /// By link: its kind.
    kind_of: Vec<u32>,
    kinds: Vec<String>,
    /// By kind.
    largest: Vec<f64>,
    /// By kind: the sum over links and seeds, and how many links there are.
    sums: Vec<(f64, u32)>,
    busiest: Option<(LinkId, f64)>,
}

impl<'a> Sums<'a> {
    fn new(fabric: &'a Fabric) -> Self {
        // Links with the same role between or within groups are of one kind: each name is made once.
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

    /// Notes the loads of one run and returns the largest of them.
    fn add(&mut self, loads: &IdVec<LinkId, f64>) -> f64 {
        let mut largest = 0.0;
        for (link, &load) in loads.iter_ids() {
            let of_kind = &mut self.largest[self.kind_of[link.index()] as usize];
            *of_kind = load.max(*of_kind);
            self.sums[self.kind_of[link.index()] as usize].0 += load;
            largest = load.max(largest);
            // Sums of equal terms differ in their last digits: the first of links that are as busy is named.
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

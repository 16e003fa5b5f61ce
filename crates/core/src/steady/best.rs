//! Throughput over all routings, and the cables that would raise it.

use std::collections::BTreeMap;

use super::{Sums, Traffic};
use crate::diagnostic::Diagnostic;
use crate::fabric::Fabric;
use crate::ids::{LinkId, NodeId, VertexId};
use crate::optimum::{BestTime, FlowNetwork, Proof, Volumes};
use crate::routing::Router;
use crate::units::Bandwidth;

/// Largest number of cables whose effect is computed.
const MOST_TRIED: usize = 24;
/// Largest number of cables that are reported.
const MOST_CABLES: usize = 10;

/// Throughput over all routings, with any split over paths.
#[report]
pub struct BestThroughput {
    /// Fraction of its bandwidth that every node uses on the best known routes; the mean over seeds.
    pub optimum_throughput: f64,
    /// Fraction that no routing exceeds; the mean over seeds.
    pub optimum_throughput_at_most: f64,
    /// Proof of the upper bound, of the first seed.
    pub optimum_certificate: Proof,
    /// Proof in words.
    pub optimum_proof: String,
    /// Largest load of the links of each kind on the best known routes, over all seeds.
    pub optimum_largest_load: BTreeMap<String, f64>,
    /// Cables that raise the throughput most, if they were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cables: Vec<NewCable>,
}

/// Cable that could be added, one link each way.
#[report]
pub struct NewCable {
    /// One end.
    pub from: String,
    /// Other end.
    pub to: String,
    /// Bandwidth of each of its links \[B/s\].
    #[serde(rename = "bandwidth_Bps")]
    pub bandwidth_bps: f64,
    /// Throughput over all routings with this cable, at least.
    pub optimum_throughput: f64,
    /// Throughput over all routings with this cable, at most.
    pub optimum_throughput_at_most: f64,
}

/// Path with its share of the traffic between two switches or nodes.
#[derive(Clone, PartialEq, Debug)]
pub struct WeightedPath {
    /// Start of the path.
    pub src: VertexId,
    /// End of the path.
    pub dst: VertexId,
    /// Share of the traffic of the pair.
    pub weight: f64,
    /// Links of the path.
    pub links: Vec<LinkId>,
}

/// Bounds the throughput over all routings until the bounds differ by at most `gap`, or `go_on` returns false, which
/// is called with the bounds of the load so far. Returns the routes of the first seed as well.
///
/// # Errors
/// Traffic does not fit the fabric, pairs are not connected, or links are known by routes alone.
pub fn best_throughput(
    fabric: &Fabric,
    router: &dyn Router,
    traffic: &Traffic,
    seeds: impl IntoIterator<Item = u64>,
    gap: f64,
    cables: bool,
    go_on: &mut dyn FnMut(f64, f64) -> bool,
) -> Result<(BestThroughput, Vec<WeightedPath>), Diagnostic> {
    let network = FlowNetwork::new(fabric)?;
    let mut loads = Sums::new(fabric);
    let (mut reached, mut at_most) = (Vec::new(), Vec::new());
    let mut first = None;
    for seed in seeds.into_iter().take(if traffic.is_random() { usize::MAX } else { 1 }) {
        let mut volumes = network.volumes();
        for demand in traffic.demands(fabric, router, seed)? {
            for src in (0..demand.sources()).map(NodeId) {
                demand.from(src, |dst, rate| volumes.add(src, dst, rate));
            }
        }
        let best = network.best_time(&volumes, gap, seed, go_on)?;
        loads.add(&network.loads(&best, &volumes));
        reached.push(fraction(best.reached_s));
        at_most.push(fraction(best.at_least_s));
        first.get_or_insert((best, volumes, seed));
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let Some((best, volumes, seed)) = first else {
        return Err(Diagnostic::new("no-seeds", "there is no seed to draw traffic with"));
    };
    let rate = |rate: f64| Bandwidth::from_bytes_per_second(rate).to_string();
    let optimum = BestThroughput {
        optimum_throughput: mean(&reached),
        optimum_throughput_at_most: mean(&at_most),
        optimum_certificate: best.proof,
        optimum_proof: network.describe(&best, &volumes, rate),
        optimum_largest_load: loads.by_kind(),
        cables: if cables { new_cables(&network, &best, &volumes, gap, seed, go_on)? } else { Vec::new() },
    };
    let paths = network.paths(&best, &volumes);
    let vertex = |vertex: u32| network.of_vertex[vertex as usize];
    let paths = paths.into_iter().map(|(src, path)| WeightedPath {
        src: vertex(src),
        dst: vertex(path.to),
        weight: path.share,
        links: path.links.into_iter().map(|link| network.of_link[link as usize]).collect(),
    });
    Ok((optimum, paths.collect()))
}

/// Returns the throughput for a load at full bandwidth.
fn fraction(load: f64) -> f64 {
    if load > 0.0 { 1.0 / load } else { 1.0 }
}

/// Returns the cables that raise the throughput most, by solving again with each of some candidates.
fn new_cables(
    network: &FlowNetwork<'_>,
    best: &BestTime,
    volumes: &Volumes,
    gap: f64,
    seed: u64,
    go_on: &mut dyn FnMut(f64, f64) -> bool,
) -> Result<Vec<NewCable>, Diagnostic> {
    let mut tried = Vec::new();
    for (from, to) in network.candidates(best, MOST_TRIED) {
        let (larger, bandwidth) = network.with_cable(from, to);
        let with = larger.best_time(volumes, gap, seed, go_on)?;
        let name = |vertex: u32| network.fabric.vertex_name(network.of_vertex[vertex as usize]);
        tried.push(NewCable {
            from: name(from),
            to: name(to),
            bandwidth_bps: bandwidth,
            optimum_throughput: fraction(with.reached_s),
            optimum_throughput_at_most: fraction(with.at_least_s),
        });
    }
    tried.sort_by(|a, b| b.optimum_throughput.total_cmp(&a.optimum_throughput));
    tried.truncate(MOST_CABLES);
    Ok(tried)
}

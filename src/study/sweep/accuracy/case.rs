//! Cases: the words by which a case is found again, and the work of simulating its packets.

use serde::Serialize;

use crate::fabric::{Fabric, Grid, LinkRole, Tree};
use crate::ids::RankId;
use crate::network::Network;
use crate::pattern::{AllToAll, PatternSpec};
use crate::report::AccuracyCase;
use crate::scenario::Scenario;
use crate::simulation::{PatternWork, Simulated};

/// Number of messages that are sampled to estimate the number of links that they cross.
const SAMPLE: u64 = 2_000;

/// Describes a scenario as a case, by its own names.
pub fn case_of<W: Simulated>(scenario: &Scenario<W>, work: &PatternWork) -> AccuracyCase {
    let network = scenario.network();
    AccuracyCase {
        topology: network.map(|network| network.fabric.name().to_owned()).unwrap_or_default(),
        family: network.map(family).unwrap_or_default(),
        nodes: network.map_or(0, |network| network.fabric.nodes()),
        pattern: work.name.clone(),
        kind: work.pattern_spec().map_or("", kind).to_owned(),
        placement: scenario.system().placement().map(chosen).unwrap_or_default(),
        routing: scenario.system().routing().map(chosen).unwrap_or_default(),
        injection: work.injection.to_string(),
        varied: Default::default(),
        size_bytes: work.pattern.mean_bytes(),
        messages: work.pattern.messages(),
    }
}

/// Returns the name of the table by which a scenario makes this choice.
fn chosen(written: &impl Serialize) -> String {
    let value = serde_json::to_value(written).unwrap_or_default();
    value.as_object().and_then(|table| table.keys().next().cloned()).unwrap_or_default()
}

/// Returns the family of the fabric.
///
/// Families are distinguished if models fail on them in different ways: a crossbar, a tree and a tree that is
/// narrower above; tori and meshes by their dimensions, and a grid that is closed in only some dimensions.
fn family(network: &Network) -> String {
    let fabric = &network.fabric;
    if let Some(Grid { dims, wrap, .. }) = fabric.family_as::<Grid>() {
        let closed = wrap.iter().zip(dims).filter(|&(&wraps, &side)| wraps || side < 3).count();
        let name = match closed {
            _ if closed == dims.len() => "torus",
            _ if !wrap.contains(&true) => "mesh",
            _ => "half-closed mesh",
        };
        return format!("{name} {}d", dims.len());
    }
    if let Some(tree) = fabric.family_as::<Tree>() {
        return match tree.down.len() {
            1 => "crossbar",
            _ if is_narrower_above(fabric) => "tapered tree",
            _ => "tree",
        }
        .to_owned();
    }
    fabric.family().facts().0.to_owned()
}

/// Returns true if the bandwidth between the halves of a fabric is less than their nodes send.
fn is_narrower_above(fabric: &Fabric) -> bool {
    let sent = fabric.links().iter().filter(|link| link.role == LinkRole::Injection);
    let sent: f64 = sent.map(|link| link.capacity.bytes_per_second()).sum();
    fabric.bisection().is_some_and(|cut| cut.bandwidth.bytes_per_second() < 0.99 * sent / 2.0)
}

/// Returns the kind of a pattern: patterns of one kind are hard for a model in the same way. Empty if there
/// is no such kind.
fn kind(spec: &PatternSpec) -> &'static str {
    match spec {
        PatternSpec::AllToAll(spec) => match *spec.algorithm {
            AllToAll::SimpleSpread
            | AllToAll::Spread2d
            | AllToAll::SpreadNd
            | AllToAll::Pairwise
            | AllToAll::Mpich
            | AllToAll::RandomOrder => "all-to-all",
            AllToAll::Linear => "all-to-all at once",
            AllToAll::Ring => "neighbours",
            AllToAll::Bruck => "collective",
        },
        PatternSpec::UniformRandom(_) => "random",
        PatternSpec::Permutation(_) | PatternSpec::Adv(_) | PatternSpec::GroupPermutation(_) => "permutation",
        PatternSpec::WorstCase(_) => "permutation",
        PatternSpec::Incast(_) => "incast",
        PatternSpec::HotGroup(_) => "hot group",
        PatternSpec::Halo(_) | PatternSpec::Ring(_) => "neighbours",
        PatternSpec::Allgather(_)
        | PatternSpec::Allreduce(_)
        | PatternSpec::Broadcast(_)
        | PatternSpec::Collective(_) => "collective",
        PatternSpec::File(_) => "",
    }
}

/// Estimates the number of times that a packet of at most `size` bytes crosses a link in one run, and the
/// same for messages. Uses a sample of the messages, over the routes of an idle network.
pub(super) fn packet_hops(work: &PatternWork, network: &Network, size: u64) -> (f64, f64) {
    let (pattern, messages) = (&*work.pattern, work.pattern.messages());
    let every = messages.div_ceil(SAMPLE).max(1);
    let (mut seen, mut packets, mut links) = (0_u64, 0.0, 0.0);
    let mut route = Vec::new();
    // The messages with numbers 0, every, 2 every ..., counted sender by sender.
    let mut skip = 0;
    for rank in (0..pattern.ranks()).map(RankId) {
        let sends = u64::from(pattern.sends(rank));
        while skip < sends {
            let message = pattern.message(rank, skip as u32);
            let (src, dst) = (network.placement[rank], network.placement[message.dst]);
            route.clear();
            if src != dst && network.router.reaches(src, dst) {
                network.router.route(src, dst, &mut route);
            }
            seen += 1;
            packets += (route.len() as u64 * message.bytes.div_ceil(size).max(1)) as f64;
            links += route.len() as f64;
            skip += every;
        }
        skip -= sends;
    }
    let of_all = messages as f64 / seen.max(1) as f64;
    (packets * of_all, links * of_all)
}

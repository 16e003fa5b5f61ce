//! What a case is, in the words by which cases are found again, and how much work its packets are.

use crate::ids::RankId;
use crate::report::AccuracyCase;
use crate::scenario::Scenario;
use crate::simulation::{PatternWork, Simulated};
use crate::system::Network;
use crate::workload::pattern::{AllToAll, PatternSpec};

/// Messages that are looked at to learn how many links they cross.
const SAMPLE: u64 = 2_000;

/// A scenario as a case, by its own names.
pub fn case_of<W: Simulated>(scenario: &Scenario<W>, work: &PatternWork) -> AccuracyCase {
    let json = scenario.to_json();
    let chosen = |key: &str| {
        let table = json.get(key).and_then(|value| value.as_object());
        table.and_then(|table| table.keys().next().cloned()).unwrap_or_default()
    };
    let network = scenario.network();
    AccuracyCase {
        topology: network.map(|network| network.fabric.name().to_owned()).unwrap_or_default(),
        family: network.map(family).unwrap_or_default(),
        nodes: network.map_or(0, |network| network.fabric.nodes()),
        pattern: work.name.clone(),
        kind: work.pattern_spec().map_or("", kind).to_owned(),
        placement: chosen("placement"),
        routing: chosen("routing"),
        injection: work.injection.to_string(),
        varied: Default::default(),
        size_bytes: work.pattern.mean_bytes(),
        messages: work.pattern.messages(),
    }
}

/// The family of a fabric, of grids with their number of dimensions.
fn family(network: &Network) -> String {
    let (name, facts) = network.fabric.family().facts();
    let dims = facts.iter().find_map(|(key, fact)| match (*key, fact) {
        ("dims", crate::fabric::Fact::Numbers(dims)) => Some(dims.len()),
        _ => None,
    });
    match dims {
        Some(dims) => format!("{name} {dims}d"),
        None => name.to_owned(),
    }
}

/// What kind of pattern it is: those of a kind are hard for a model in the same way. Empty for what is like no other.
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

/// How often a packet of at most `size` bytes crosses a link in one run, and how often a message does: by a sample of
/// the messages, over the routes of an idle network.
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

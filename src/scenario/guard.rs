//! The check that a run fits in memory, before it starts.

use petgraph::Direction;

use crate::base::memory;
use crate::diagnostic::Diagnostic;
use crate::ids::RankId;
use crate::network::Network;
use crate::pattern::Injection;
use crate::routing::ChannelOrder;
use crate::simulation::PatternWork;
use crate::transport::TransportSpec;
use crate::transport::packet::{DeadlockAvoidance, MOST_PLACES, Model, PacketSpec, Queues, places};
use crate::units::Bytes;

/// Memory below which a run is not checked \[B\].
const UNCHECKED_BYTES: u64 = 16 << 20;
/// Memory of a message under way without its route: its state, its place in the event queue, its share \[B\].
const PER_FLOW: u64 = 192;
/// Memory per link of its route: the route itself and the link's list of flows \[B\].
const PER_CROSSING: u64 = 24;
/// Memory of a link: its state in the sharing policy and its counters \[B\].
const PER_LINK: u64 = 160;
/// Memory of a packet \[B\].
const PER_PACKET: u64 = 40;
/// Memory of the packets of a message at a hop \[B\].
const PER_QUEUE: u64 = 40;
/// Memory of the buffer of a link and channel \[B\].
const PER_BUFFER: u64 = 32;
/// Memory of a rank: its state in the workload \[B\].
const PER_RANK: u64 = 128;

/// Estimates the memory that a run needs in addition to everything built already \[B\], and the number of
/// messages under way at once.
///
/// `flows * (192 + 24 * crossings) + links * 160 + ranks * 128`, where `crossings` is the mean length of a
/// sample of routes and `flows` follows from the injection rule: one for each rank, `k` for each with a
/// window of k, all messages together with `all`.
pub(super) fn estimate(network: &Network, work: &PatternWork) -> (Bytes, u64) {
    let ranks = u64::from(work.pattern.ranks());
    let messages = work.pattern.messages();
    let flows = match work.injection {
        Injection::All => messages,
        Injection::Window(k) => messages.min(ranks.saturating_mul(u64::from(k))),
        Injection::Queue | Injection::SendRecv | Injection::Barrier | Injection::Left => messages.min(ranks),
    };
    let each = PER_FLOW + PER_CROSSING * crossings(network, work);
    let links = network.fabric.links().len() as u64;
    let packets = match &network.transport {
        TransportSpec::Packet(spec) => packets(network, work, spec, flows),
        TransportSpec::Flow(_) | TransportSpec::ContentionFree(_) => 0,
    };
    let needed = flows.saturating_mul(each).saturating_add(links * PER_LINK + ranks * PER_RANK).saturating_add(packets);
    (Bytes(needed), flows)
}

/// Estimates the additional memory of packets \[B\]. Under `oq` it is that of all packets of the messages
/// under way, at worst. Under `fq` it is a queue for each message at each hop. Under `iq` it is a bit for
/// each pair of an input and an output of a switch, and a queue if outputs have their own.
fn packets(network: &Network, work: &PatternWork, spec: &PacketSpec, flows: u64) -> u64 {
    match spec.model {
        Model::Oq => {
            let spec = spec.for_messages_of(work.pattern.mean_bytes());
            flows
                .saturating_mul(work.pattern.mean_bytes().div_ceil(spec.packet_size.0.max(1)))
                .saturating_mul(PER_PACKET)
        }
        Model::Fq => places(flows, crossings(network, work)).saturating_mul(PER_QUEUE),
        Model::Iq => {
            let graph = network.fabric.graph();
            // With classes there are at most as many channels as a route has links, and usually fewer.
            let by_class = match spec.avoidance() {
                Some(avoidance) => avoidance == DeadlockAvoidance::Classes,
                None => network.router.channel_order() != ChannelOrder::Rings,
            };
            let lanes = if by_class { crossings(network, work).max(2) } else { 2 };
            let pairs = |vertex| {
                let degree = |direction| graph.edges_directed(vertex, direction).count() as u64;
                (lanes * degree(Direction::Incoming) + 1) * degree(Direction::Outgoing)
            };
            let pairs: u64 = graph.node_indices().map(pairs).sum();
            let buffers = network.fabric.links().len() as u64 * lanes * PER_BUFFER;
            buffers + pairs / 8 + if spec.queues() == Queues::VirtualOutput { 8 * pairs } else { 0 }
        }
    }
}

/// Returns the mean length of the routes of a sample of messages, rounded up.
fn crossings(network: &Network, work: &PatternWork) -> u64 {
    let ranks = work.pattern.ranks();
    let mut route = Vec::new();
    let mut count = 0;
    for rank in (0..ranks).step_by((ranks as usize / 64).max(1)).map(RankId) {
        if let Some(last) = work.pattern.sends(rank).checked_sub(1) {
            let dst = work.pattern.message(rank, last / 2).dst;
            if let (Some(&from), Some(&to)) = (network.placement.get(rank), network.placement.get(dst))
                && network.router.reaches(from, to)
            {
                network.router.route(from, to, &mut route);
                count += 1;
            }
        }
    }
    (route.len() as u64).div_ceil(count.max(1))
}

/// Returns a diagnostic if the run does not fit in the free memory; `None` if the system does not report it.
pub(super) fn check(network: &Network, work: &PatternWork) -> Option<Diagnostic> {
    let (needed, flows) = estimate(network, work);
    // Reading the system's free memory takes longer than many a run of that size.
    if needed.0 < UNCHECKED_BYTES {
        return None;
    }
    if matches!(network.transport, TransportSpec::Packet(_))
        && let Some(diagnostic) = exceeds_places(flows, crossings(network, work))
    {
        return Some(diagnostic);
    }
    exceeds(needed, flows, Bytes(memory::free()?))
}

/// Help text for a run that is too large.
const FEWER_MESSAGES_HELP: &str =
    "let fewer messages be under way at once (--injection queue, --injection window=8) or take fewer ranks";

fn exceeds(needed: Bytes, flows: u64, free: Bytes) -> Option<Diagnostic> {
    (needed > free).then(|| {
        let message = format!("the run needs about {needed}, but {free} are free: {flows} messages would be under way");
        Diagnostic::new("too-large", message).help(FEWER_MESSAGES_HELP)
    })
}

/// Returns a diagnostic if packet models cannot number the links of the routes of all messages.
fn exceeds_places(flows: u64, crossings: u64) -> Option<Diagnostic> {
    let most = MOST_PLACES as u64 / places(1, crossings);
    (flows > most).then(|| {
        let message = format!(
            "{flows} messages would be under way, and packet models keep routes of {most} such messages at most"
        );
        Diagnostic::new("too-large", message).help(FEWER_MESSAGES_HELP)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_says_how_much_it_needs() {
        let diagnostic = exceeds(Bytes(64_000_000_000), 12_000_000, Bytes(8_000_000_000)).unwrap();
        assert!(diagnostic.message.contains("needs about 64 GB, but 8 GB are free"), "{}", diagnostic.message);
        assert_eq!(exceeds(Bytes(1), 1, Bytes(1)), None);
    }

    #[test]
    fn routes_of_packets_have_numbers_below_those_of_marks() {
        // Six links and the end of the route take 8 of 2^30 places.
        assert_eq!(exceeds_places(1 << 27, 6), None);
        let diagnostic = exceeds_places((1 << 27) + 1, 6).unwrap();
        assert!(diagnostic.message.contains("keep routes of 134217728 such messages"), "{}", diagnostic.message);
    }
}

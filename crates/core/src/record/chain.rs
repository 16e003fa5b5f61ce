//! The longest chain of messages that wait for each other, each with the network to itself.

use crate::engine::{Progress, Watch};
use crate::ids::{IdVec, LinkId, NodeId, RankId};
use crate::network::{Network, NetworkParts};
use crate::pattern::{Injection, Needs, Pattern};
use crate::units::{Bandwidth, Time};
use crate::workload::Lockstep;

/// Number of messages between two calls of the watch.
const MESSAGES_PER_TICK: u32 = 1 << 16;

/// Returns true if each rank sends its messages one after another and waits for nothing else, so that its
/// chain is the sum of the times that its messages take alone.
pub fn is_sequential(pattern: &dyn Pattern, injection: Injection) -> bool {
    injection == Injection::Queue && pattern.needs() == Needs::NOTHING && !pattern.waits_for_sends()
}

/// Returns the arrival of the last message of work in lockstep under `sendrecv` or `barrier`, if each message
/// has the network to itself and the ranks are ready at the given times. Returns `None` under other rules, if
/// messages have different sizes, and if the watch stops it.
///
/// Let a(r, s) be the time that the message of rank r in step s takes alone, and let `r -> d` stand for its
/// destination. Rank r is ready for step s + 1 at
/// ```text
/// t(r, s + 1) = max(t(r, s) + a(r, s), max over q -> r of t(q, s) + a(q, s))      sendrecv
/// t(r, s + 1) = max over all q of t(q, s) + a(q, s)                               barrier
/// ```
/// Cost: a route for each message.
pub fn of_steps(
    work: &Lockstep<'_>,
    injection: Injection,
    network: &Network,
    mut ready: IdVec<RankId, Time>,
    watch: Option<&dyn Watch>,
) -> Option<Time> {
    if work.passed_on.is_some() || !matches!(injection, Injection::SendRecv | Injection::Barrier) {
        return None;
    }
    let NetworkParts { fabric, router, placement, .. } = &**network;
    let mut route: Vec<LinkId> = Vec::new();
    let mut alone = |from: NodeId, to: NodeId| {
        route.clear();
        if from != to {
            router.route(from, to, &mut route);
        }
        let latency: Time = route.iter().map(|&link| fabric.link(link).latency).sum();
        let narrowest: Option<Bandwidth> = route.iter().map(|&link| fabric.link(link).capacity).min();
        let moves = narrowest.filter(|_| work.bytes > 0);
        latency + moves.map_or(Time::ZERO, |narrowest| narrowest.time_for(work.bytes as f64))
    };
    let total = u64::from(work.ranks) * u64::from(work.steps);
    let steps_per_tick = (MESSAGES_PER_TICK / work.ranks.max(1)).max(1);
    let (mut destinations, mut next) = (Vec::new(), ready.clone());
    for step in 0..work.steps {
        // The watch sees all messages as delivered.
        let progress = Progress { now: Time::ZERO, delivered: total, total };
        if step % steps_per_tick == 0 && watch.is_some_and(|watch| !watch.tick(progress)) {
            return None;
        }
        destinations.clear();
        (work.destinations)(step, &mut destinations);
        next.clone_from(&ready);
        for ((rank, &sends), &dst) in ready.iter_ids().zip(&destinations) {
            let arrives = sends + alone(placement[rank], placement[dst]);
            next[rank] = next[rank].max(arrives);
            next[dst] = next[dst].max(arrives);
        }
        if injection == Injection::Barrier {
            let last = next.iter().copied().max().unwrap_or(Time::ZERO);
            next.as_mut_slice().fill(last);
        }
        std::mem::swap(&mut ready, &mut next);
    }
    ready.iter().copied().max()
}

//! PAT (parallel aggregated trees): a binomial tree for the block of each rank, all at the same time.
//!
//! At place s of its list, a rank holds the block of the rank s above it. In an all-gather it receives place s from the
//! rank `lowest bit of s` above it, which has it at place `s & (s - 1)`. The farthest rank comes first, as its subtree
//! is largest. So there are ceil(log2 n) distances, and small blocks of several trees go in one message, as in Bruck's
//! algorithm. A reduce-scatter is the reverse, with the nearest rank first.
//!
//! Simplified: buffers never hold up a rank. It sends when its data have arrived, distance by distance.
//!
//! Source: S. Jeaugey, "PAT: a new algorithm for all-gather and reduce-scatter operations at scale", arXiv:2506.20252,
//! 2025; NCCL, `src/include/collectives.h`.

use super::super::tuning::Operation;
use super::Plan;

/// Data of a buffer of a channel \[B\]; blocks of at most half of it are sent together.
const BUFFER: f64 = 524_288.0;

/// Step of an all-gather: the distance to the receiver, and the places of the blocks that each rank sends to it.
pub(super) type Step = (u32, Vec<u32>);

/// Returns the steps of an all-gather with up to `together` blocks in a message.
pub(super) fn steps(ranks: u32, together: u32) -> Vec<Step> {
    let size = ranks.next_power_of_two();
    let stride = size / together;
    let mut steps = Vec::new();
    for distance in (0..size.ilog2()).rev().map(|bit| 1_u32 << bit) {
        // Trees whose blocks go together are a stride apart; above a stride all of them do.
        let trees = (0..stride).step_by(2 * distance as usize);
        steps.extend(trees.map(|first| {
            let apart = stride.max(2 * distance) as usize;
            (distance, (first..ranks.saturating_sub(distance)).step_by(apart).collect::<Vec<_>>())
        }));
    }
    steps.retain(|(_, places)| !places.is_empty());
    steps
}

/// Sends an all-gather or a reduce-scatter on `channels` channels.
pub(super) fn send(plan: &mut Plan, channels: u32) -> Result<(), String> {
    let n = plan.ranks();
    let block = plan.bytes / f64::from(n);
    let mut together = 1;
    while 2.0 * block * f64::from(together) <= BUFFER * f64::from(channels) && together < n / 2 {
        together *= 2;
    }
    let gathers = plan.operation == Operation::AllGather;
    // Each place but the first has a step at most.
    plan.chunks(0.0, u64::from(n) * u64::from(n.next_power_of_two() / together))?;
    let mut steps = steps(n, together);
    if !gathers {
        steps.reverse();
    }
    let other = |rank: u32, distance: u32, is_below: bool| (rank + if is_below { n - distance } else { distance }) % n;
    // Steps that brought each place. All ranks take the same steps, and a step has a message of each rank.
    let mut arrived = vec![Vec::new(); n as usize];
    for (at, (distance, places)) in steps.iter().enumerate() {
        let mut before = Vec::new();
        for &place in places {
            let (from, to) = if gathers { (place, place + distance) } else { (place + distance, place) };
            before.extend(arrived[from as usize].iter().copied());
            arrived[to as usize].push(at);
        }
        before.sort_unstable();
        before.dedup();
        for rank in 0..n {
            let after = before.iter().map(|&step: &usize| step as u32 * n + other(rank, steps[step].0, !gathers));
            let after: Vec<u32> = after.collect();
            let connection = (rank, other(rank, *distance, gathers), distance.ilog2());
            plan.send(connection, block * places.len() as f64, &after);
        }
    }
    Ok(())
}

//! CollNet: the switches of the network reduce (SHARP). Heads of a node pass its data to them and get the result.
//!
//! A switch neither adds nor copies here. So each head sends to the same head of the next node what its card sends to
//! the switches, and as much arrives. Links of cards carry the bytes of NCCL; links between switches may carry more.
//! A node waits for its own data and those of the node before it, not for all nodes.
//!
//! Source: NCCL, `src/device/all_reduce.h`, `all_gather.h`, `reduce_scatter.h`.

use super::super::tuning::Operation;
use super::Plan;

/// Sends a chunk of each node through the network, from the same GPU of all nodes. Returns the messages for which the
/// result at each node waits.
fn cross(plan: &mut Plan, (gpu, channel): (u32, u32), bytes: f64, ready: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let (nodes, gpus) = (plan.nodes, plan.gpus);
    let mut arrived = vec![Vec::new(); nodes as usize];
    for (node, after) in (0..nodes).zip(ready) {
        let next = (node + 1) % nodes;
        let sent = plan.send((node * gpus + gpu, next * gpus + gpu, channel), bytes, after);
        arrived[node as usize].push(sent);
        arrived[next as usize].push(sent);
    }
    arrived
}

/// Sends an operation with each GPU beside all heads: each head reduces its share of the node's data, the network
/// that of all nodes, and the head passes it on.
///
/// With g GPUs on each of m nodes and h heads, a head passes S/h of an all-reduce through the network. Of an all-gather
/// and a reduce-scatter, each GPU is a head, and (m - 1)/m of S/g comes from other nodes.
pub(super) fn direct(plan: &mut Plan, heads: u32) -> Result<(), String> {
    let (nodes, gpus) = (plan.nodes, plan.gpus);
    let is_all = plan.operation == Operation::AllReduce;
    let heads = if is_all { heads.min(gpus) } else { gpus };
    let share = plan.bytes / f64::from(heads);
    let chunks = plan.chunks(share, u64::from(nodes) * u64::from(heads) * u64::from(2 * gpus))?;
    let share = share / f64::from(chunks);
    let through = if is_all { share } else { share * f64::from(nodes - 1) / f64::from(nodes) };
    for (_, head) in (0..chunks).flat_map(|chunk| (0..heads).map(move |head| (chunk, head))) {
        let others = || (0..gpus).filter(move |gpu| *gpu != head);
        let mut ready = vec![Vec::new(); nodes as usize];
        if plan.operation != Operation::AllGather {
            for (node, ready) in (0..nodes).zip(&mut ready) {
                let to_head = |gpu| plan.send((node * gpus + gpu, node * gpus + head, 0), share, &[]);
                ready.extend(others().map(to_head));
            }
        }
        let arrived = cross(plan, (head, 1), through, &ready);
        if plan.operation != Operation::ReduceScatter {
            for (node, after) in (0..nodes).zip(&arrived) {
                for gpu in others() {
                    plan.send((node * gpus + head, node * gpus + gpu, 2), share, after);
                }
            }
        }
    }
    Ok(())
}

/// Sends an all-reduce up a chain in each node, through the network, and down the chain. Channel c begins and ends at
/// GPU c.
pub(super) fn chain(plan: &mut Plan) -> Result<(), String> {
    let (nodes, gpus, channels) = (plan.nodes, plan.gpus, plan.channels);
    let bytes = plan.bytes / f64::from(channels);
    let chunks = plan.chunks(bytes, u64::from(channels) * u64::from(nodes) * u64::from(2 * gpus))?;
    let bytes = bytes / f64::from(chunks);
    for (_, channel) in (0..chunks).flat_map(|chunk| (0..channels).map(move |channel| (chunk, channel))) {
        let rank = |node: u32, i: u32| node * gpus + (i + channel) % gpus;
        let mut ready = vec![Vec::new(); nodes as usize];
        for (node, ready) in (0..nodes).zip(&mut ready) {
            for i in (1..gpus).rev() {
                *ready = vec![plan.send((rank(node, i), rank(node, i - 1), 2 * channel), bytes, ready)];
            }
        }
        let arrived = cross(plan, (channel, 2 * channel), bytes, &ready);
        for (node, mut after) in (0..nodes).zip(arrived) {
            for i in 1..gpus {
                after = vec![plan.send((rank(node, i - 1), rank(node, i), 2 * channel + 1), bytes, &after)];
            }
        }
    }
    Ok(())
}

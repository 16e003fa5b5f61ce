//! Rings: each rank sends to the next one.

use super::super::tuning::Operation;
use super::Plan;

/// Returns the ranks of a ring in their order.
///
/// Odd nodes have the opposite order, so that each crossing but the last of an odd number of nodes joins two GPUs of
/// the same number.
fn order(plan: &Plan, channel: u32) -> Vec<u32> {
    let gpus = plan.gpus;
    let of_node = |node: u32| {
        let at = move |i: u32| if node.is_multiple_of(2) { i } else { gpus - 1 - i };
        (0..gpus).map(move |i| node * gpus + (at(i) + channel) % gpus)
    };
    (0..plan.nodes).flat_map(of_node).collect()
}

/// Returns the rings of an operation, whose messages are those of [`send`] up to rounding: the ranks of each ring, the
/// bytes of a block, and the steps. `None` for operations that pass chunks on.
pub(super) fn rings(plan: &Plan) -> Option<(Vec<Vec<u32>>, f64, u64)> {
    let steps = u64::from(steps(plan)?);
    let orders = (0..plan.channels).map(|channel| order(plan, channel)).collect();
    Some((orders, plan.bytes / f64::from(plan.channels) / f64::from(plan.ranks()), steps))
}

/// Returns the number of steps of an operation around a ring; `None` for those that pass chunks on.
fn steps(plan: &Plan) -> Option<u32> {
    match plan.operation {
        Operation::AllReduce => Some(2 * (plan.ranks() - 1)),
        Operation::AllGather | Operation::ReduceScatter => Some(plan.ranks() - 1),
        Operation::Broadcast | Operation::Reduce => None,
    }
}

/// Sends an operation around all rings.
///
/// An all-reduce has n - 1 steps of reduction and n - 1 of copies, with an n-th of the data each; an all-gather and a
/// reduce-scatter have one of them. A broadcast passes chunks on, a reduction in the opposite direction.
pub(super) fn send(plan: &mut Plan) -> Result<(), String> {
    let (n, channels) = (plan.ranks(), plan.channels);
    let bytes = plan.bytes / f64::from(channels);
    let Some(steps) = steps(plan) else { return pass_on(plan) };
    plan.chunks(0.0, u64::from(steps) * u64::from(n) * u64::from(channels))?;
    for channel in 0..channels {
        let order = order(plan, channel);
        // Message of the step before from the rank before, by position.
        let mut arrived: Vec<Option<u32>> = vec![None; n as usize];
        for _ in 0..steps {
            let mut next = vec![None; n as usize];
            for at in 0..n as usize {
                let to = (at + 1) % n as usize;
                let after: Vec<u32> = arrived[at].into_iter().collect();
                next[to] = Some(plan.send((order[at], order[to], channel), bytes / f64::from(n), &after));
            }
            arrived = next;
        }
    }
    Ok(())
}

/// Passes chunks on from the first rank to the last, or from the last to the first.
fn pass_on(plan: &mut Plan) -> Result<(), String> {
    let channels = plan.channels;
    let bytes = plan.bytes / f64::from(channels);
    let chunks = plan.chunks(bytes, u64::from(plan.ranks()) * u64::from(channels))?;
    for channel in 0..channels {
        let mut order = order(plan, channel);
        // All rings begin at rank 0, the root.
        let root = order.iter().position(|rank| *rank == 0).unwrap_or(0);
        order.rotate_left(root);
        if plan.operation == Operation::Reduce {
            order.reverse();
        }
        for _ in 0..chunks {
            let mut after = Vec::new();
            for pair in order.windows(2) {
                after = vec![plan.send((pair[0], pair[1], channel), bytes / f64::from(chunks), &after)];
            }
        }
    }
    Ok(())
}

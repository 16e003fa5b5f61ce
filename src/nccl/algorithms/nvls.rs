//! NVLS: the switch of a node adds the data of its GPUs and copies the sum to them; a double tree joins the nodes.
//!
//! GPU h of each node is the head of an h-th of the data. Messages go between nodes of a fabric, and a switch neither
//! adds nor copies here. So in place of both, each GPU sends to the next one what NVLS moves in each direction of its
//! link. For an all-reduce of S that is S + S/g: its data out and its part back, then its part out and all data back.
//! Half of it stands for the sum, half for the copies. For an all-gather and a reduce-scatter it is S. The
//! operations of the switch reach a part of the bandwidth (eta), so the bytes are divided by it.

use super::super::tuning::Operation;
use super::Plan;
use super::tree::DoubleTree;

/// Sends an operation through the switches of nodes and both trees.
pub(super) fn send(plan: &mut Plan, efficiency: f64) -> Result<(), String> {
    let (nodes, gpus) = (plan.nodes, plan.gpus);
    if gpus < 2 {
        return Err("a node of one GPU has no switch of its own".to_owned());
    }
    let trees = DoubleTree::new(nodes);
    let used = if nodes > 1 { 2 } else { 1 };
    let bytes = plan.bytes / f64::from(used);
    let chunks = plan.chunks(bytes / f64::from(gpus), u64::from(4 * used) * u64::from(plan.ranks()))?;
    let bytes = bytes / f64::from(chunks);
    let (stages, of_link) = match plan.operation {
        Operation::AllReduce => (2.0, 1.0 + 1.0 / f64::from(gpus)),
        _ => (1.0, 1.0),
    };
    let in_switch = bytes * of_link / stages / efficiency;
    let neighbour = |node: u32, gpu: u32| (node * gpus + gpu, node * gpus + (gpu + 1) % gpus);
    for tree in 0..used {
        let order = trees.down_order(tree);
        for _ in 0..chunks {
            // Messages for which each rank waits.
            let mut arrived = vec![Vec::new(); plan.ranks() as usize];
            for &node in order.iter().rev() {
                for gpu in 0..gpus {
                    let (src, dst) = neighbour(node, gpu);
                    let sent = plan.send((src, dst, 2 * tree), in_switch, &[]);
                    arrived[src as usize].push(sent);
                    arrived[dst as usize].push(sent);
                }
                let Some(parent) = trees.parent(tree, node) else { continue };
                for gpu in 0..gpus {
                    let (src, dst) = (node * gpus + gpu, parent * gpus + gpu);
                    let after = std::mem::take(&mut arrived[src as usize]);
                    let sent = plan.send((src, dst, 2 * tree), bytes / f64::from(gpus), &after);
                    arrived[dst as usize].push(sent);
                }
            }
            for &node in &order {
                for gpu in 0..gpus {
                    let src = node * gpus + gpu;
                    let after = std::mem::take(&mut arrived[src as usize]);
                    for child in trees.children(tree, node) {
                        let dst = child * gpus + gpu;
                        let sent = plan.send((src, dst, 2 * tree), bytes / f64::from(gpus), &after);
                        arrived[dst as usize] = vec![sent];
                    }
                    if stages == 2.0 {
                        let (src, dst) = neighbour(node, gpu);
                        plan.send((src, dst, 2 * tree + 1), in_switch, &after);
                    }
                }
            }
        }
    }
    Ok(())
}

//! Collective operations of all tasks: a task records its own bytes, and only the root that it is one.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::records::{Called, Task};
use crate::trace::calls::{Call, CallKind, Event};

/// A collective operation of a communicator.
#[derive(Clone, Debug)]
struct Joint {
    call: Call,
    /// First task that calls it, and its root.
    first: u32,
    root: Option<u32>,
    /// Bytes sent and received by each task, by task, if blocks have sizes of their own.
    bytes: Vec<(u32, (u64, u64))>,
    /// Largest of the bytes sent, and of those received.
    largest: (u64, u64),
}

/// Collective operations by communicator, in order.
#[derive(Debug, Default)]
pub(super) struct Joints {
    of: FxHashMap<u64, Vec<Joint>>,
}

fn is_collective(call: Call) -> bool {
    matches!(call.kind(), CallKind::Collective | CallKind::Icollective)
}

impl Joints {
    /// Joins the calls of all tasks: the n-th calls on a communicator are one operation.
    ///
    /// # Errors
    /// Two tasks that call different operations, each with its line.
    pub fn new(tasks: &BTreeMap<u32, Task>) -> Result<Self, (u64, String)> {
        let mut joints = Self::default();
        for (&me, task) in tasks {
            let mut next: FxHashMap<u64, usize> = FxHashMap::default();
            for called in task.calls.iter().filter(|called| is_collective(called.call)) {
                let list = joints.of.entry(called.comm).or_default();
                let at = next.entry(called.comm).or_default();
                if *at == list.len() {
                    let (first, root, bytes, largest) = (me, None, Vec::new(), (0, 0));
                    list.push(Joint { call: called.call, first, root, bytes, largest });
                }
                let joint = &mut list[*at];
                *at += 1;
                if joint.call != called.call {
                    let (first, name) = (joint.first, joint.call.name());
                    let message = format!(
                        "task {} calls {} on communicator {}, where task {} calls {name}",
                        me + 1,
                        called.call.name(),
                        called.comm,
                        first + 1
                    );
                    return Err((called.line, message));
                }
                if called.is_root {
                    joint.root = Some(me);
                }
                // Ranks need the sizes of the blocks of others.
                let call = called.call.blocking();
                if matches!(call, Call::Allgatherv | Call::Gatherv | Call::ReduceScatter | Call::Scatterv) {
                    joint.bytes.push((me, (called.sent, called.received)));
                }
                let (sent, received) = joint.largest;
                joint.largest = (sent.max(called.sent), received.max(called.received));
            }
        }
        Ok(joints)
    }

    /// Sets the bytes and the root of the n-th call of a task on a communicator with these members.
    pub fn fill(&self, called: &Called, at: usize, me: u32, members: &[u32], event: &mut Event) {
        let Some(joint) = self.of.get(&called.comm).and_then(|list| list.get(at)) else { return };
        let size = members.len().max(1) as u64;
        let find = |member: &u32| joint.bytes.binary_search_by_key(member, |&(task, _)| task);
        let of = |member: &u32| find(member).map_or((0, 0), |at| joint.bytes[at].1);
        let (sent, received) = joint.largest;
        let root = joint.root.and_then(|root| members.iter().position(|&member| member == root)).unwrap_or(0);
        let is_root = members.get(root) == Some(&me);
        match called.call.blocking() {
            Call::Bcast | Call::Reduce => (event.bytes, event.peer) = (sent.max(received), root as i32),
            Call::Allreduce | Call::Scan | Call::Exscan => event.bytes = sent.max(received),
            Call::Gather => (event.bytes, event.peer) = (sent, root as i32),
            Call::Scatter => (event.bytes, event.peer) = (received, root as i32),
            Call::Allgather => event.bytes = if sent > 0 { sent } else { received / size },
            // Bytes sent are those to one member or to all, by version; those received are of all.
            Call::Alltoall => event.bytes = if received > 0 { received / size } else { sent },
            Call::ReduceScatterBlock => event.bytes = received,
            Call::Alltoallv | Call::Alltoallw => event.bytes2 = called.received,
            Call::Gatherv => {
                (event.bytes, event.peer) = (of(&me).0, root as i32);
                if is_root {
                    event.counts2 = members.iter().map(|member| of(member).0).collect();
                }
            }
            Call::Scatterv => {
                (event.bytes2, event.peer) = (of(&me).1, root as i32);
                if is_root {
                    event.counts = members.iter().map(|member| of(member).1).collect();
                }
            }
            Call::Allgatherv => {
                event.bytes = of(&me).0;
                event.counts2 = members.iter().map(|member| of(member).0).collect();
            }
            Call::ReduceScatter => event.counts = members.iter().map(|member| of(member).1).collect(),
            _ => {}
        }
    }
}

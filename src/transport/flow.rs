//! Flow-level transport: a message is a flow whose rate is its share of the links it crosses.

use super::Transport;
use super::finish_queue::FinishQueue;
use crate::fabric::{Fabric, Link, LinkRole, Shape};
use crate::ids::{FlowId, IdVec, LinkId};
use crate::routing::Router;
use crate::sharing::{Change, Rounds, Sharing, SharingSpec};
use crate::units::{Bandwidth, Time};

/// Messages as flows.
///
/// A flow of b bytes whose rate is r(t) arrives when the integral of r over the time since its start is b. Between
/// two events rates are constant, so all that is kept of a flow is when it would finish at its present rate. When its
/// rate changes from r to r' at time t,
/// ```text
/// finish' = t + (finish - t) * r / r'
/// ```
/// and no count of bytes left has to be brought up to date.
///
/// Source: MFS, steps 3 to 8 of its cycle, with rates worked out around the change only.
///
/// # Links that never bind
///
/// If every route over link A also crosses link B, and B's capacity is not larger, then A never holds anything back:
/// its flows are some of B's. On a fat-tree with D-mod-k routing each down link serves one destination, so its
/// ejection link dominates it; and where a node sends one message at a time, its injection link carries one flow and
/// is dominated by that flow's ejection link. Such links are left out of the sharing, half of them on a 3,456-node
/// fat-tree; rates stay the same.
#[derive(Debug)]
pub struct Flows {
    sharing: Box<dyn Sharing>,
    /// By link: whether it can hold a flow back.
    binding: IdVec<LinkId, bool>,
    finish: FinishQueue,
    /// By flow: bytes, until it has a rate.
    bytes: Vec<u64>,
    changes: Vec<Change>,
    links: Vec<u32>,
}

impl Flows {
    /// Nothing under way on this fabric. `one_at_a_time`: no node ever sends two messages at once.
    pub fn new(fabric: &Fabric, router: &dyn Router, sharing: &SharingSpec, one_at_a_time: bool) -> Self {
        let capacities = fabric.links().iter().map(|link| link.capacity.bytes_per_second()).collect();
        let sharing = sharing.build(capacities);
        let binding = if sharing.may_leave_out_dominated_links() {
            binding_links(fabric, router, one_at_a_time)
        } else {
            IdVec::filled(fabric.links().len(), true)
        };
        Self {
            sharing,
            binding,
            finish: FinishQueue::default(),
            bytes: Vec::new(),
            changes: Vec::new(),
            links: Vec::new(),
        }
    }

    /// The policy at work, for its rates and bottlenecks.
    pub fn sharing(&self) -> &dyn Sharing {
        &*self.sharing
    }
}

/// By link: whether it can hold a flow back (see [`Flows`]).
fn binding_links(fabric: &Fabric, router: &dyn Router, one_at_a_time: bool) -> IdVec<LinkId, bool> {
    let capacity = |link: LinkId| fabric.link(link).capacity;
    let ejection = |link: &Link| link.role == LinkRole::Ejection;
    let narrowest_injection =
        fabric.links().iter().filter(|link| link.role == LinkRole::Injection).map(|link| link.capacity).min();
    let widest_ejection = fabric.links().iter().filter(|link| ejection(link)).map(|link| link.capacity).max();
    // One flow at a time, through an ejection link that is not wider: on regular shapes every route ends in one.
    let injection_is_idle = one_at_a_time
        && *fabric.shape() != Shape::Irregular
        && matches!((narrowest_injection, widest_ejection), (Some(injection), Some(ejection)) if ejection <= injection);
    let is_binding = |link: LinkId| {
        if injection_is_idle && fabric.link(link).role == LinkRole::Injection {
            return false;
        }
        // Along the chain of dominators a link that is not wider is enough; the last one of the chain stays.
        let mut dominator = router.dominator(link);
        while let Some(other) = dominator {
            if capacity(other) <= capacity(link) {
                return false;
            }
            dominator = router.dominator(other);
        }
        true
    };
    fabric.links().ids().map(is_binding).collect()
}

impl Transport for Flows {
    fn start(&mut self, flow: FlowId, route: &[LinkId], bytes: u64) {
        self.links.clear();
        self.links.extend(route.iter().filter(|&&link| self.binding[link]).map(|link| link.0));
        self.sharing.add(flow.0, &self.links);
        if self.bytes.len() <= flow.0 as usize {
            self.bytes.resize(flow.0 as usize + 1, 0);
        }
        self.bytes[flow.0 as usize] = bytes;
    }

    fn settle(&mut self, now: Time) {
        self.changes.clear();
        self.sharing.solve(&mut self.changes);
        let now_ps = now.ps();
        for &Change { flow, old, new } in &self.changes {
            let finish = if old == 0.0 {
                let bytes = self.bytes[flow as usize] as f64;
                (now + Bandwidth::from_bytes_per_second(new).time_for(bytes)).ps()
            } else {
                let finish = self.finish.time(flow);
                if finish <= now_ps {
                    continue; // done already, within the width of an instant
                }
                now_ps + (finish - now_ps) * (old / new)
            };
            self.finish.set(flow, finish);
        }
    }

    fn next_arrival(&mut self, _horizon: Time) -> Time {
        Time::from_ps(self.finish.earliest())
    }

    fn arrived(&mut self, until: Time, flows: &mut Vec<FlowId>) {
        while self.finish.earliest() <= until.ps() {
            let Some(flow) = self.finish.pop() else { break };
            self.sharing.remove(flow);
            flows.push(FlowId(flow));
        }
    }

    fn rounds(&self) -> Option<Rounds> {
        self.sharing.rounds()
    }
}

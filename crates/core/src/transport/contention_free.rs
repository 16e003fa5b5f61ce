//! Contention-free transport: a message takes its time alone, whatever else moves.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Entry, Transport};
use crate::fabric::Fabric;
use crate::ids::{FlowId, IdVec, LinkId};
use crate::units::{Bandwidth, Time};

/// Messages that do not affect each other.
///
/// A message of b bytes over links l of latency L_l \[s\] and capacity c_l \[B/s\] is under way for:
/// ```text
/// sum of L_l + b / min of c_l
/// ```
/// A message of which the part p_l crosses link l takes the latency of its longest path + b max of (p_l /
/// c_l).
///
/// No other transport is faster than this: the difference is the price of contention. The engine lets the
/// latencies pass.
///
/// Source: the network of LogP-like models, without their gaps; MPIETE, section 3 (communication data).
#[derive(Debug)]
pub struct ContentionFree {
    capacity: IdVec<LinkId, Bandwidth>,
    finish: BinaryHeap<Reverse<(Time, FlowId)>>,
    started: Vec<(FlowId, Time)>,
}

impl ContentionFree {
    /// Creates the transport of this fabric, with nothing under way.
    pub fn new(fabric: &Fabric) -> Self {
        Self {
            capacity: fabric.links().iter().map(|link| link.capacity).collect(),
            finish: BinaryHeap::new(),
            started: Vec::new(),
        }
    }
}

impl Transport for ContentionFree {
    fn start(&mut self, entry: &Entry<'_>) {
        let time = |(link, part): (LinkId, f64)| self.capacity[link].time_for(entry.bytes as f64 * part);
        let longest = entry.crossed().map(time).max();
        self.started.push((entry.flow, longest.unwrap_or(Time::ZERO)));
    }

    fn settle(&mut self, now: Time) {
        for (flow, time) in self.started.drain(..) {
            self.finish.push(Reverse((now + time, flow)));
        }
    }

    fn next_arrival(&mut self, _horizon: Time) -> Time {
        self.finish.peek().map_or(Time::NEVER, |Reverse((time, _))| *time)
    }

    fn arrived(&mut self, until: Time, flows: &mut Vec<FlowId>) {
        while let Some(&Reverse((time, flow))) = self.finish.peek()
            && time <= until
        {
            self.finish.pop();
            flows.push(flow);
        }
    }
}

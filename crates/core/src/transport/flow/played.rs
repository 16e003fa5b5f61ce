//! Messages played by one transport or another, for tests that compare arrivals.

use crate::ids::{FlowId, NodeId};
use crate::routing::Router;
use crate::transport::{Entry, Transport};
use crate::units::Time;

/// Message: its start \[ps\], source node, destination node and bytes.
pub type Start = (f64, u32, u32, u64);

/// Plays messages; returns the arrival time of each \[ps\].
pub fn play(router: &dyn Router, starts: &[Start], by: &mut dyn Transport) -> Vec<f64> {
    let mut route = Vec::new();
    arrivals(
        by,
        starts,
        |start| start.0,
        |by, flow, &(_, from, to, bytes)| {
            route.clear();
            router.route(NodeId(from), NodeId(to), &mut route);
            by.start(&Entry::new(flow, &route, bytes));
        },
    )
}

/// Plays messages; returns the arrival time of each \[ps\]. `time` gives the start of a message \[ps\], and
/// `start` starts it.
pub fn arrivals<T: Transport + ?Sized, M>(
    by: &mut T,
    messages: &[M],
    time: impl Fn(&M) -> f64,
    mut start: impl FnMut(&mut T, FlowId, &M),
) -> Vec<f64> {
    let mut arrivals = vec![0.0; messages.len()];
    let (mut next, mut gone) = (0, Vec::new());
    loop {
        let at = messages.get(next).map_or(Time::NEVER, |message| Time::from_ps(time(message)));
        let now = at.min(by.next_arrival(Time::NEVER));
        if !now.is_finite() {
            return arrivals;
        }
        by.arrived(now, &mut gone);
        gone.drain(..).for_each(|flow: FlowId| arrivals[flow.0 as usize] = now.ps());
        while let Some(message) = messages.get(next).filter(|message| time(message) <= now.ps()) {
            start(by, FlowId(next as u32), message);
            next += 1;
        }
        by.settle(now);
    }
}

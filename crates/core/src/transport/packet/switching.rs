//! What the models of switches have in common.

use super::net::Net;
use super::wheel::Event;
use crate::transport::Gridlock;

/// Marks an event as the arrival of a packet alone: the link has been free for a latency already.
pub(super) const ARRIVAL: u32 = 1 << 31;

/// What the models have in common.
pub(super) trait Switching {
    /// A message leaves its source, now.
    fn launch(&mut self, net: &mut Net, flow: u32, bytes: u64);

    /// An event; returns whether a message has arrived or departed.
    fn handle(&mut self, net: &mut Net, event: Event) -> bool;

    /// What each port did by now \[ticks\].
    fn port(&self, net: &Net, link: usize) -> Ticks;

    /// The channels that wait for each other, when nothing moves any more.
    fn gridlock(&self, net: &Net) -> Option<Gridlock>;
}

/// A [`PortUse`](crate::transport::PortUse) in ticks.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Ticks {
    pub busy: u64,
    pub peak_queue: u32,
    pub queue_time: f64,
    pub blocked: u64,
}

//! Interface of the models of switches.

use super::net::Net;
use super::wheel::Event;
use crate::transport::Gridlock;

/// Bit that marks an event as the arrival of a packet alone: the link was already free a latency earlier.
pub(super) const ARRIVAL: u32 = 1 << 31;

/// Model of the switches.
pub(super) trait Switching {
    /// Sends a message from its source, now.
    fn launch(&mut self, net: &mut Net, flow: u32, bytes: u64);

    /// Handles an event; returns true if a message has arrived or departed.
    fn handle(&mut self, net: &mut Net, event: Event) -> bool;

    /// Returns the use of a port up to now \[ticks\].
    fn port(&self, net: &Net, link: usize) -> Ticks;

    /// Returns the channels that wait for each other, when nothing moves any more.
    fn gridlock(&self, net: &Net) -> Option<Gridlock>;
}

/// Use of a port as in [`PortUse`](crate::transport::PortUse), in ticks.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Ticks {
    pub busy: u64,
    pub peak_queue: u32,
    pub queue_time: f64,
    pub blocked: u64,
}

//! Transport: how long a message is under way, given all others.

mod flow;

pub use flow::Flows;

use crate::ids::{FlowId, LinkId};
use crate::sharing::Rounds;
use crate::units::Time;

/// Moves messages over links.
///
/// The engine starts messages, lets the transport work out what that changes, asks when the next one arrives, and
/// collects those that have arrived by then.
pub trait Transport {
    /// A message of `bytes > 0` bytes starts to move over these links, at least one, at the time of the next
    /// [`Transport::settle`].
    fn start(&mut self, flow: FlowId, route: &[LinkId], bytes: u64);

    /// Works out what the starts and arrivals since the last call change, as of `now`.
    fn settle(&mut self, now: Time);

    /// When the next message arrives, if nothing starts before; [`Time::NEVER`] if none is under way.
    fn next_arrival(&self) -> Time;

    /// Takes out the messages that have arrived by `until`, in no particular order.
    fn arrived(&mut self, until: Time, flows: &mut Vec<FlowId>);

    /// Rounds of redistribution so far, where the sharing policy has them.
    fn rounds(&self) -> Option<Rounds> {
        None
    }
}

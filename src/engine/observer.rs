//! What can be seen of a run while it happens.

use crate::ids::LinkId;
use crate::units::Time;
use crate::workload::Send;

/// A message under way.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Flight {
    /// The message.
    pub send: Send,
    /// When it was sent.
    pub start: Time,
    /// How long it would take with the network to itself: latencies plus bytes over the least capacity,
    /// unless the transport says otherwise.
    pub alone: Time,
}

/// Looks at what happens; every method does nothing unless it is written.
pub trait Observer {
    /// A message starts to take bandwidth on these links.
    fn entered(&mut self, now: Time, route: &[LinkId]) {
        let _ = (now, route);
    }

    /// A message takes no more bandwidth on these links.
    fn left(&mut self, now: Time, route: &[LinkId]) {
        let _ = (now, route);
    }

    /// A message has been delivered, in order of (time, message); its route is left out where what links carry is told by
    /// [`Observer::carried`].
    fn delivered(&mut self, now: Time, flight: &Flight, route: &[LinkId]) {
        let _ = (now, flight, route);
    }

    /// A link has carried so many bytes \[B\] of messages that were delivered without their route.
    fn carried(&mut self, link: LinkId, bytes: u64) {
        let _ = (link, bytes);
    }
}

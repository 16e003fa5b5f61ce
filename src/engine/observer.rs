//! What can be seen of a run while it happens.

use crate::ids::{LinkId, MessageId, RankId};
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

/// A step: of every rank one message, which all start together and are delivered together.
#[derive(Clone, Copy, Debug)]
pub struct CountedStep<'a> {
    /// Which of its rank's messages each of them is.
    pub index: u32,
    /// When they were sent.
    pub start: Time,
    /// When they are delivered.
    pub now: Time,
    /// Size of each \[B\].
    pub bytes: u64,
    /// By sender: where its message goes.
    pub destinations: &'a [RankId],
    /// How long each would take with the network to itself.
    pub alone: Alone<'a>,
}

/// How long the messages of a step would take with the network to themselves.
#[derive(Clone, Copy, Debug)]
pub enum Alone<'a> {
    /// All of them as long.
    Same(Time),
    /// By sender.
    Each(&'a [Time]),
}

impl CountedStep<'_> {
    /// Its messages, in order of their senders.
    pub fn flights(&self) -> impl Iterator<Item = Flight> {
        self.destinations.iter().enumerate().map(|(rank, &dst)| {
            let alone = match self.alone {
                Alone::Same(alone) => alone,
                Alone::Each(alone) => alone[rank],
            };
            let id = MessageId { src: RankId(rank as u32), index: self.index };
            Flight { send: Send { id, dst, bytes: self.bytes }, start: self.start, alone }
        })
    }
}

/// Looks at what happens; every method does nothing unless it is written. `()` sees nothing.
pub trait Observer {
    /// A message starts to take bandwidth on these links.
    fn entered(&mut self, now: Time, route: &[LinkId]) {
        let _ = (now, route);
    }

    /// A message takes no more bandwidth on these links.
    fn left(&mut self, now: Time, route: &[LinkId]) {
        let _ = (now, route);
    }

    /// A message has been delivered, in order of (time, message); its route is left out where what links carry is told
    /// by [`Observer::carried`].
    fn delivered(&mut self, now: Time, flight: &Flight, route: &[LinkId]) {
        let _ = (now, flight, route);
    }

    /// The same of a message that was split: each of its links has carried its part of the bytes.
    fn delivered_split(&mut self, now: Time, flight: &Flight, links: &[LinkId], parts: &[f64]) {
        let _ = (links, parts);
        self.delivered(now, flight, &[]);
    }

    /// Steps have been delivered, one after another; what their messages did to links is told by [`Observer::carried`].
    fn steps(&mut self, steps: &[CountedStep<'_>]) {
        for step in steps {
            for flight in step.flights() {
                self.delivered(step.now, &flight, &[]);
            }
        }
    }

    /// A link has carried so many bytes \[B\] of messages that were delivered without their route.
    fn carried(&mut self, link: LinkId, bytes: u64) {
        let _ = (link, bytes);
    }
}

impl Observer for () {}

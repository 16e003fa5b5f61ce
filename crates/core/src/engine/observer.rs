//! What can be seen of a run while it happens.

use crate::ids::{IdVec, LinkId, MessageId, RankId};
use crate::units::Time;
use crate::workload::SendRequest;

/// A message under way.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Flight {
    /// The message.
    pub send: SendRequest,
    /// When it was sent.
    pub start: Time,
    /// How long it would take with the network to itself: latencies plus bytes over the least capacity,
    /// unless the transport says otherwise.
    pub alone: Time,
}

/// A step: of every rank one message, which all start together and are delivered together; and the steps after it that
/// are the same again.
#[derive(Clone, Copy, Debug)]
pub struct CountedStep<'a> {
    /// Which of its rank's messages each of the first step is.
    pub index: u32,
    /// When those were sent.
    pub start: Time,
    /// By step: when its messages are delivered, and those of the next are sent.
    pub ends: &'a [Time],
    /// Size of each \[B\].
    pub bytes: u64,
    /// By sender: where its message goes.
    pub destinations: &'a [RankId],
    /// How long each would take with the network to itself.
    pub alone: Alone<'a>,
    /// By link: how many of its messages cross it; nothing where nobody asks ([`Observer::asks_links`]).
    pub on_links: Option<&'a IdVec<LinkId, u32>>,
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
    /// By step: when its messages are sent, and when they are delivered.
    pub fn times(&self) -> impl Iterator<Item = (Time, Time)> {
        std::iter::once(self.start).chain(self.ends.iter().copied()).zip(self.ends.iter().copied())
    }

    /// Its messages with the time of delivery, in order of that and of their senders.
    pub fn flights(&self) -> impl Iterator<Item = (Time, Flight)> {
        (self.index..).zip(self.times()).flat_map(move |(index, (start, now))| {
            self.destinations.iter().enumerate().map(move |(rank, &dst)| {
                let alone = match self.alone {
                    Alone::Same(alone) => alone,
                    Alone::Each(alone) => alone[rank],
                };
                let id = MessageId { src: RankId(rank as u32), index };
                (now, Flight { send: SendRequest { id, dst, bytes: self.bytes }, start, alone })
            })
        })
    }
}

/// Messages that go round a ring and never meet, of which only the sums are known.
#[derive(Clone, Copy, Debug)]
pub struct Passed<'a> {
    /// Messages of each rank.
    pub steps: u32,
    /// When the last ones are delivered.
    pub end: Time,
    /// By sender: where its messages go, and their bytes \[B\].
    pub sent: &'a [(RankId, u64)],
    /// Sum over messages of the time under way, which is what they would take with the network to themselves \[ps\].
    pub under_way: f64,
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

    /// Whether it is to be told how many messages of a counted step are on each link.
    fn asks_links(&self) -> bool {
        false
    }

    /// Steps have been delivered, one after another; what their messages did to links is told by [`Observer::carried`].
    fn steps(&mut self, steps: &[CountedStep<'_>]) {
        for step in steps {
            for (now, flight) in step.flights() {
                self.delivered(now, &flight, &[]);
            }
        }
    }

    /// Messages have been delivered that nobody looked at one by one.
    fn passed(&mut self, passed: &Passed<'_>) {
        let _ = passed;
    }

    /// A link has carried so many bytes \[B\] of messages that were delivered without their route.
    fn carried(&mut self, link: LinkId, bytes: u64) {
        let _ = (link, bytes);
    }
}

impl Observer for () {}

//! Events of a run that can be observed while it happens.

use crate::ids::{IdVec, LinkId, MessageId, RankId};
use crate::units::Time;
use crate::workload::SendRequest;

/// Message under way.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Flight {
    /// The message.
    pub send: SendRequest,
    /// Time at which it was sent.
    pub start: Time,
    /// Time that it would take with the network to itself: latencies plus bytes over the least capacity,
    /// unless the transport says otherwise.
    pub alone: Time,
}

/// Step in which every rank sends one message, all starting together and delivered together, with the
/// identical steps that follow it.
#[derive(Clone, Copy, Debug)]
pub struct CountedStep<'a> {
    /// Index of the first step's messages among the messages of their ranks.
    pub index: u32,
    /// Time at which the messages of the first step were sent.
    pub start: Time,
    /// By step: the time at which its messages are delivered and those of the next step are sent.
    pub ends: &'a [Time],
    /// Size of each message \[B\].
    pub bytes: u64,
    /// By sender: the destination of its message.
    pub destinations: &'a [RankId],
    /// Time that each message would take with the network to itself.
    pub alone: Alone<'a>,
    /// By link: the number of messages that cross it. `None` where nobody asks ([`Observer::asks_links`]).
    pub on_links: Option<&'a IdVec<LinkId, u32>>,
}

/// Times that the messages of a step would take with the network to themselves.
#[derive(Clone, Copy, Debug)]
pub enum Alone<'a> {
    /// The same time for all messages.
    Same(Time),
    /// Time by sender.
    Each(&'a [Time]),
}

impl CountedStep<'_> {
    /// Returns for each step the times at which its messages are sent and delivered.
    pub fn times(&self) -> impl Iterator<Item = (Time, Time)> {
        std::iter::once(self.start).chain(self.ends.iter().copied()).zip(self.ends.iter().copied())
    }

    /// Returns the messages with their times of delivery, in order of time and sender.
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

/// Messages that go round a ring and never meet; only their sums are known.
#[derive(Clone, Copy, Debug)]
pub struct Passed<'a> {
    /// Number of messages of each rank.
    pub steps: u32,
    /// Time at which the last messages are delivered.
    pub end: Time,
    /// By sender: the destination of its messages, and their bytes \[B\].
    pub sent: &'a [(RankId, u64)],
    /// Sum over messages of the time under way, which equals the time with the network to themselves \[ps\].
    pub under_way: f64,
}

/// Observes a run. Every method does nothing by default; `()` observes nothing.
pub trait Observer {
    /// Called when a message starts to take bandwidth on these links.
    fn entered(&mut self, now: Time, route: &[LinkId]) {
        let _ = (now, route);
    }

    /// Called when a message stops taking bandwidth on these links.
    fn left(&mut self, now: Time, route: &[LinkId]) {
        let _ = (now, route);
    }

    /// Called when a message that was split starts to take these parts of its rate on these links.
    fn entered_split(&mut self, now: Time, links: &[LinkId], parts: &[f64]) {
        let _ = parts;
        self.entered(now, links);
    }

    /// Called when a message that was split stops taking parts of its rate on these links.
    fn left_split(&mut self, now: Time, links: &[LinkId], parts: &[f64]) {
        let _ = parts;
        self.left(now, links);
    }

    /// Called for each delivered message, in order of (time, message). The route is empty where
    /// [`Observer::carried`] reports the bytes of links.
    fn delivered(&mut self, now: Time, flight: &Flight, route: &[LinkId]) {
        let _ = (now, flight, route);
    }

    /// Prefetches data of the links of a message that will probably arrive next.
    fn expect(&self, route: &[LinkId]) {
        let _ = route;
    }

    /// Called for each delivered message that was split: each of its links has carried its part of the bytes.
    fn delivered_split(&mut self, now: Time, flight: &Flight, links: &[LinkId], parts: &[f64]) {
        let _ = (links, parts);
        self.delivered(now, flight, &[]);
    }

    /// True if the observer needs the number of messages of a counted step on each link.
    fn asks_links(&self) -> bool {
        false
    }

    /// Called for delivered steps, in order. [`Observer::carried`] reports the bytes of their links.
    fn steps(&mut self, steps: &[CountedStep<'_>]) {
        for step in steps {
            for (now, flight) in step.flights() {
                self.delivered(now, &flight, &[]);
            }
        }
    }

    /// Called for messages that have been delivered without being simulated one by one.
    fn passed(&mut self, passed: &Passed<'_>) {
        let _ = passed;
    }

    /// Called with the bytes \[B\] that a link has carried of messages that were delivered without their
    /// route.
    fn carried(&mut self, link: LinkId, bytes: u64) {
        let _ = (link, bytes);
    }
}

impl Observer for () {}

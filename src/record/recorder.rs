//! The observer behind every report.

use super::Fingerprint;
use crate::engine::{Flight, Observer};
use crate::fabric::{Bisection, Fabric};
use crate::ids::{IdVec, LinkId, RankId};
use crate::placement::Placement;
use crate::units::Time;

/// Called with each message when it is delivered, and the time.
pub type OnMessage<'a> = &'a mut dyn FnMut(Time, &Flight);

/// Keeps what a report needs: a few sums for each message, and the bytes on each link. Times on links and the
/// messages themselves only where they are asked for.
pub struct Recorder<'a> {
    /// What each link has carried \[B\].
    pub bytes: IdVec<LinkId, u64>,
    /// What each rank has sent to, and received from, other nodes \[B\].
    pub ranks: IdVec<RankId, (u64, u64)>,
    /// What has crossed the bisection: from the first half to the second, and back \[B\].
    pub crossed: (u64, u64),
    /// Busy time and number of flows of each link, where asked for.
    pub times: Option<LinkTimes>,
    /// Sum over messages of the time under way \[ps\].
    pub under_way: f64,
    /// Sum over messages of the time it would have taken alone \[ps\].
    pub alone: f64,
    /// Of the deliveries so far.
    pub fingerprint: Fingerprint,
    placement: &'a Placement,
    bisection: Option<&'a Bisection>,
    on_message: Option<OnMessage<'a>>,
}

impl<'a> Recorder<'a> {
    /// Nothing recorded yet.
    pub fn new(
        fabric: &Fabric,
        placement: &'a Placement,
        bisection: Option<&'a Bisection>,
        link_times: bool,
        on_message: Option<OnMessage<'a>>,
    ) -> Self {
        let links = fabric.links().len();
        Self {
            bytes: IdVec::filled(links, 0),
            ranks: IdVec::filled(placement.len(), (0, 0)),
            crossed: (0, 0),
            times: link_times.then(|| LinkTimes::new(links)),
            under_way: 0.0,
            alone: 0.0,
            fingerprint: Fingerprint::new(placement.len() as u32),
            placement,
            bisection,
            on_message,
        }
    }

    /// Adds a message to the sums.
    #[inline]
    fn count(&mut self, now: Time, flight: &Flight) {
        let send = &flight.send;
        self.under_way += (now - flight.start).ps();
        self.alone += flight.alone.ps();
        self.fingerprint.add(now, send);
        let (src, dst) = (self.placement[send.id.src], self.placement[send.dst]);
        if src != dst {
            self.ranks[send.id.src].0 += send.bytes;
            self.ranks[send.dst].1 += send.bytes;
            match self.bisection.and_then(|cut| cut.crossing(src, dst)) {
                Some(true) => self.crossed.0 += send.bytes,
                Some(false) => self.crossed.1 += send.bytes,
                None => {}
            }
        }
    }
}

impl Observer for Recorder<'_> {
    fn entered(&mut self, now: Time, route: &[LinkId]) {
        if let Some(times) = &mut self.times {
            times.change(now, route, |flows| flows + 1);
        }
    }

    fn left(&mut self, now: Time, route: &[LinkId]) {
        if let Some(times) = &mut self.times {
            times.change(now, route, |flows| flows - 1);
        }
    }

    fn delivered(&mut self, now: Time, flight: &Flight, route: &[LinkId]) {
        for &link in route {
            self.bytes[link] += flight.send.bytes;
        }
        self.count(now, flight);
        if let Some(on_message) = &mut self.on_message {
            on_message(now, flight);
        }
    }

    fn carried(&mut self, link: LinkId, bytes: u64) {
        self.bytes[link] += bytes;
    }
}

/// How long links were busy, and with how many flows.
#[derive(Clone, Debug)]
pub struct LinkTimes {
    links: IdVec<LinkId, LinkTime>,
}

/// Of one link.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkTime {
    flows: u32,
    since: Time,
    /// The most flows at once.
    pub peak: u32,
    /// How long there was at least one.
    pub busy: Time,
    /// Flows summed over time \[ps\].
    pub flow_time: f64,
}

impl LinkTimes {
    fn new(links: usize) -> Self {
        Self { links: IdVec::filled(links, LinkTime::default()) }
    }

    fn change(&mut self, now: Time, route: &[LinkId], count: impl Fn(u32) -> u32) {
        for &link in route {
            let link = &mut self.links[link];
            link.pass(now);
            link.flows = count(link.flows);
            link.peak = link.peak.max(link.flows);
        }
    }

    /// What a link has done by `now`.
    pub fn of(&self, link: LinkId, now: Time) -> LinkTime {
        let mut link = self.links[link];
        link.pass(now);
        link
    }
}

impl LinkTime {
    /// Time passes with the flows that are on the link.
    fn pass(&mut self, now: Time) {
        let passed = now - self.since;
        self.since = now;
        if self.flows > 0 {
            self.busy += passed;
            self.flow_time += passed.ps() * f64::from(self.flows);
        }
    }
}

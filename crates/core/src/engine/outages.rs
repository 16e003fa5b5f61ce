//! What fails while messages are under way, and what becomes of them.

use crate::fabric::{Agenda, LinkStates};
use crate::faults::Faults;
use crate::ids::{LinkId, NodeId};
use crate::routing::Router;
use crate::units::Time;
use crate::workload::SendRequest;

/// Pairs named at most.
const NAMED: usize = 5;

/// Changes of links at most while nothing moves and messages wait for a way: a profile without end may never give them
/// one.
pub(super) const MOST_IN_VAIN: u32 = 10_000;

/// What became of messages for want of links.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Mishaps {
    /// Messages that were on a link that failed, or were to go over one, and were sent again.
    pub resent: u64,
    /// Messages that were lost so.
    pub lost: u64,
    /// Messages that found no way, up to the end.
    pub stranded: u64,
    /// From where to where the first of the lost and the stranded were to go; each pair once.
    pub pairs: Vec<(NodeId, NodeId)>,
}

/// What fails, and what waits for it to come back.
pub(super) struct Outages<'a> {
    pub faults: &'a Faults,
    pub agenda: Agenda<'a>,
    pub states: LinkStates,
    /// By change of routes: the routes, where they were foreseen.
    pub routes: Vec<Option<&'a dyn Router>>,
    /// Messages without a way, with when they were sent.
    pub waiting: Vec<(SendRequest, Time)>,
    pub mishaps: Mishaps,
    /// Changes of links since a message last found a way.
    pub in_vain: u32,
}

impl<'a> Outages<'a> {
    pub fn new(faults: &'a Faults) -> Self {
        let (mut agenda, mut states) = (faults.timetable().agenda(), LinkStates::new(faults.timetable()));
        // What holds from the start is in the fabric already.
        while let Some((track, link, change)) = agenda.pop(Time::ZERO) {
            states.note(track, link, change);
        }
        Self {
            faults,
            agenda,
            states,
            routes: Vec::new(),
            waiting: Vec::new(),
            mishaps: Mishaps::default(),
            in_vain: 0,
        }
    }

    /// Whether a route crosses a link that is down.
    pub fn is_broken(&self, route: &[LinkId]) -> bool {
        route.iter().any(|&link| self.states.is_down(link))
    }

    /// A message has found a way.
    pub fn moves(&mut self) {
        self.in_vain = 0;
    }

    /// Names a pair between which a message is lost or has no way.
    pub fn name(&mut self, src: NodeId, dst: NodeId) {
        if self.mishaps.pairs.len() < NAMED && !self.mishaps.pairs.contains(&(src, dst)) {
            self.mishaps.pairs.push((src, dst));
        }
    }
}

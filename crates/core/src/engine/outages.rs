//! Failures of links during a run, and the messages that they affect.

use crate::fabric::{Agenda, LinkStates};
use crate::faults::Faults;
use crate::ids::{LinkId, NodeId};
use crate::routing::Router;
use crate::units::Time;
use crate::workload::SendRequest;

/// Largest number of pairs that are named.
const MAX_NAMED_PAIRS: usize = 5;

/// Largest number of changes of links while nothing moves and messages wait for a path. A profile without end
/// may never give them one.
pub(super) const MAX_IDLE_CHANGES: u32 = 10_000;

/// Messages that failed links affected.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Mishaps {
    /// Messages that were on a failed link, or about to cross one, and were sent again.
    pub resent: u64,
    /// Messages that were on a failed link, or about to cross one, and were lost.
    pub lost: u64,
    /// Messages that had found no path by the end of the run.
    pub stranded: u64,
    /// Source and destination of the first lost and stranded messages; each pair once.
    pub pairs: Vec<(NodeId, NodeId)>,
}

/// Failed links, and the messages that wait for new routes.
pub(super) struct Outages<'a> {
    pub faults: &'a Faults,
    pub agenda: Agenda<'a>,
    pub states: LinkStates,
    /// By change of links: the routes around the failed links, where they were computed.
    pub routes: Vec<Option<&'a dyn Router>>,
    /// Messages without a path, with the times at which they were sent.
    pub waiting: Vec<(SendRequest, Time)>,
    pub mishaps: Mishaps,
    /// Changes of links since a message last found a path.
    pub idle_changes: u32,
}

impl<'a> Outages<'a> {
    pub fn new(faults: &'a Faults) -> Self {
        let (mut agenda, mut states) = (faults.timetable().agenda(), LinkStates::new(faults.timetable()));
        // The fabric already has the changes that hold from the start.
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
            idle_changes: 0,
        }
    }

    /// True if a route crosses a failed link.
    pub fn is_broken(&self, route: &[LinkId]) -> bool {
        route.iter().any(|&link| self.states.is_down(link))
    }

    /// Records that a message has found a path.
    pub fn moves(&mut self) {
        self.idle_changes = 0;
    }

    /// Records a pair of nodes between which a message is lost or has no path.
    pub fn name(&mut self, src: NodeId, dst: NodeId) {
        if self.mishaps.pairs.len() < MAX_NAMED_PAIRS && !self.mishaps.pairs.contains(&(src, dst)) {
            self.mishaps.pairs.push((src, dst));
        }
    }
}

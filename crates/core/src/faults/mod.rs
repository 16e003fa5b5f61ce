//! Faults: links and switches that fail, carry less or come back, from the start or at a time.
//!
//! ```text
//! [faults] ──┐
//!            ├──> Timetable of links ──> the fabric at the start, with its routes     (all that is needed where
//! a file's ──┘                           routes for every set of links that is down    nothing happens later)
//! profiles
//! ```
//! [`Faults`] is built from the scenario ([`FaultsSpec`]) and from profiles of the fabric's own file
//! ([`Fabric::timetable`]). Links that fail at the start are removed from the fabric before anything else is
//! built on it; later changes are looked up by the engine while it runs.

mod cut_off;
mod draw;
mod names;
mod part;
mod spec;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::fabric::{Fabric, LinkChange, LinkStates, Timetable};
use crate::ids::{LinkId, VertexId};
use crate::routing::{Router, RoutingSpec};
use crate::units::{Bandwidth, Time};

pub use cut_off::CutOff;
pub use part::part;
pub use spec::{EventSpec, FaultsSpec, OnFailure, StateSpec};

/// Largest number of changes of a timetable that are searched for sets of links that are down, and of such
/// sets: each set has routes of its own.
const MOST_CHANGES: u64 = 100_000;
const MOST_SETS: usize = 1024;

/// Faults over time, and the routes over the remaining links.
pub struct Faults {
    whole: Arc<Fabric>,
    at_start: Arc<Fabric>,
    most: Arc<Fabric>,
    timetable: Timetable,
    failed: Vec<LinkId>,
    switches: Vec<VertexId>,
    degraded: Vec<LinkId>,
    delay: Time,
    on_failure: OnFailure,
    cut_off: CutOff,
    /// Routes for each set of links that is down.
    routers: BTreeMap<Vec<LinkId>, Arc<dyn Router>>,
}

impl fmt::Debug for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Faults")
            .field("failed", &self.failed)
            .field("timetable", &self.timetable)
            .finish_non_exhaustive()
    }
}

impl Faults {
    /// Builds the faults given by `spec` and the fabric's own file.
    ///
    /// `own` has the routes of the rule on the intact fabric. `seed` is used for draws if the specification
    /// has no seed of its own.
    ///
    /// # Errors
    /// Fails for unknown names, parts above 100 %, and links that fail twice or come back without having
    /// failed. Also fails if no link remains, or if the rule finds no routes on the remaining links.
    pub fn build(
        spec: &FaultsSpec,
        whole: &Arc<Fabric>,
        (routing, own): (&RoutingSpec, &Arc<dyn Router>),
        seed: u64,
    ) -> Result<Self, Vec<Diagnostic>> {
        let draw::DrawnFaults { mut timetable, switches } = draw::drawn(spec, whole, seed)?;
        if let Some(profiles) = whole.timetable() {
            timetable.join(profiles.clone());
        }
        let (mut agenda, mut states) = (timetable.agenda(), LinkStates::new(&timetable));
        let mut capacities: BTreeMap<LinkId, Bandwidth> = BTreeMap::new();
        while let Some((track, link, change)) = agenda.pop(Time::ZERO) {
            states.note(track, link, change);
            if let LinkChange::Bandwidth(rate) = change {
                capacities.insert(link, rate);
            }
        }
        let failed = states.failed();
        if !whole.links().is_empty() && failed.len() == whole.links().len() {
            let message = format!("all {} links of {} have failed", failed.len(), whole.name());
            return Err(vec![Diagnostic::new("all-failed", message).help("leave some: nothing can be sent")]);
        }
        let degraded: Vec<LinkId> = capacities
            .iter()
            .filter(|(link, rate)| whole.link(**link).capacity != **rate)
            .map(|(link, _)| *link)
            .collect();
        let capacities: Vec<(LinkId, Bandwidth)> = capacities.into_iter().collect();
        let at_start = match failed.is_empty() && degraded.is_empty() {
            true => Arc::clone(whole),
            false => Arc::new(whole.altered(&failed, &capacities)),
        };
        let mut routers = BTreeMap::from([(failed.clone(), routing.on_remaining_fabric(own, &at_start, seed)?)]);
        if timetable.changes_later() {
            for down in later_sets(&timetable)? {
                if let Entry::Vacant(routes) = routers.entry(down) {
                    let left = Arc::new(whole.altered(routes.key(), &[]));
                    routes.insert(routing.on_remaining_fabric(own, &left, seed)?);
                }
            }
        } else {
            timetable = Timetable::default();
        }
        let more = |(link, rate): &(LinkId, Bandwidth)| *rate > whole.link(*link).capacity;
        let wider: Vec<(LinkId, Bandwidth)> = timetable.most().filter(more).collect();
        let most = if wider.is_empty() { Arc::clone(whole) } else { Arc::new(whole.altered(&[], &wider)) };
        let cut_off = CutOff::of(&at_start, &*routers[&failed]);
        Ok(Self {
            whole: Arc::clone(whole),
            at_start,
            most,
            timetable,
            failed,
            switches,
            degraded,
            delay: spec.rerouting_delay.as_ref().map_or(Time::ZERO, |delay| **delay),
            on_failure: spec.on_failure,
            cut_off,
            routers,
        })
    }

    /// Returns the intact fabric.
    pub fn whole(&self) -> &Arc<Fabric> {
        &self.whole
    }

    /// Returns the fabric at the start of a run.
    pub fn at_start(&self) -> &Arc<Fabric> {
        &self.at_start
    }

    /// Returns the fabric with the largest capacity that each link ever has: no run is faster than on it.
    pub fn most(&self) -> &Arc<Fabric> {
        if self.timetable.is_empty() { &self.at_start } else { &self.most }
    }

    /// Returns the routes at the start of a run.
    pub fn router(&self) -> &Arc<dyn Router> {
        &self.routers[&self.failed]
    }

    /// Returns the routes while these links are down, in order. Returns `None` for a set of links that occurs
    /// too late in a timetable to have been prepared.
    pub fn router_around(&self, down: &[LinkId]) -> Option<&Arc<dyn Router>> {
        self.routers.get(down)
    }

    /// Returns the changes over time, if there are any after the start.
    pub fn timetable(&self) -> &Timetable {
        &self.timetable
    }

    /// Returns true if there are changes after the start.
    pub fn has_events(&self) -> bool {
        !self.timetable.is_empty()
    }

    /// Returns true if a run has to handle faults: later events, or messages without a path.
    pub fn concern_runs(&self) -> bool {
        self.has_events() || self.cut_off.may_exist()
    }

    /// Returns the links that have failed at the start.
    pub fn failed(&self) -> &[LinkId] {
        &self.failed
    }

    /// Returns the switches that have failed at the start.
    pub fn switches(&self) -> &[VertexId] {
        &self.switches
    }

    /// Returns the links with another bandwidth than originally at the start.
    pub fn degraded(&self) -> &[LinkId] {
        &self.degraded
    }

    /// Returns the delay from a change to new routes.
    pub fn delay(&self) -> Time {
        self.delay
    }

    /// Returns the treatment of a message on a link that fails.
    pub fn on_failure(&self) -> OnFailure {
        self.on_failure
    }

    /// Returns the pairs of nodes without a path at the start.
    pub fn cut_off(&self) -> &CutOff {
        &self.cut_off
    }
}

/// Returns every set of links that is down at some time.
fn later_sets(timetable: &Timetable) -> Result<BTreeSet<Vec<LinkId>>, Vec<Diagnostic>> {
    let (mut agenda, mut states) = (timetable.agenda(), LinkStates::new(timetable));
    let mut sets = BTreeSet::new();
    let mut changes = 0;
    while agenda.next_time() < Time::NEVER && changes < MOST_CHANGES {
        let at = agenda.next_time();
        let mut differs = false;
        while let Some((track, link, change)) = agenda.pop(at) {
            differs |= states.note(track, link, change).is_some();
            changes += 1;
        }
        if differs && sets.insert(states.failed()) && sets.len() > MOST_SETS {
            let message = format!("links fail in more than {MOST_SETS} different ways over time");
            return Err(vec![
                Diagnostic::new("too-large", message).help("each way has routes of its own; take fewer events"),
            ]);
        }
    }
    Ok(sets)
}

#[cfg(test)]
mod tests;

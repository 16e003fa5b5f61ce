//! What each kind of work answers, and what can be observed of its run.

use super::summary::Summary;
use crate::diagnostic::{Diagnostic, Sources};
use crate::engine::Watch;
use crate::player::{OnActivity, OnMark, OnTransfer};
use crate::report::MessageRecord;
use crate::system::System;
use crate::units::Time;
use crate::workload::WorkloadSpec;

/// What to observe of a run, beside what its report needs.
#[derive(Default)]
pub struct RunOptions<'a> {
    /// Of a pattern: whether to record busy time and number of flows of each link (bytes are always recorded).
    pub link_use: bool,
    /// Of a pattern: called for each message when it is delivered.
    pub on_message: Option<&'a mut dyn FnMut(&MessageRecord)>,
    /// Of a program: called with everything that ranks do.
    pub on_activity: Option<OnActivity<'a>>,
    /// Of a program: called with every message that is received.
    pub on_transfer: Option<OnTransfer<'a>>,
    /// Of a program: called with every border of a region.
    pub on_mark: Option<OnMark<'a>>,
    /// Of a program: whether everything is kept, however long the run; otherwise up to `room` activities and messages
    /// are.
    pub keep: bool,
    /// Of a program: how many activities and messages are kept of a run, and nothing of a longer one; [`KEPT`](super::KEPT) if it is
    /// not said.
    pub room: Option<usize>,
    /// Of a program: the run is stopped here, at a time that is no longer of interest.
    pub until: Option<Time>,
    /// Of jobs: whether each is run by itself as well, to say how much slower it is beside the others.
    pub alone: bool,
    /// Of jobs: whether what the messages of each lose to those of the others is kept.
    pub interference: bool,
    /// Looks on and may end the run.
    pub watch: Option<&'a dyn Watch>,
}

/// Work that can be simulated.
pub trait Simulated: Clone + std::fmt::Debug + Send + Sync {
    /// What comes of it.
    type Outcome;

    /// Whether it can run on this system.
    ///
    /// # Errors
    /// Why it cannot.
    fn fits(&self, system: &System) -> Result<(), Diagnostic>;

    /// Runs it on a system that it fits. Ask [`simulate`](super::simulate()), which makes sure of that.
    fn play(&self, system: &System, options: RunOptions<'_>) -> Self::Outcome;

    /// What came of it, in the figures that all work has in common.
    fn summary(outcome: &Self::Outcome) -> Summary;

    /// What it is, for people: `all-to-all simple-spread, 20 KB`.
    fn name(&self) -> &str;

    /// Number of ranks.
    fn ranks(&self) -> u32;

    /// Number of messages, for progress; of a program without those of its collectives.
    fn messages(&self) -> u64;

    /// What a scenario says of it, if one does.
    fn spec(&self) -> Option<&WorkloadSpec>;

    /// Whether another seed gives other work.
    fn depends_on_seed(&self) -> bool;

    /// The same for a system with another seed: what is random is drawn again.
    ///
    /// # Errors
    /// What cannot be built with the seed.
    fn with_seed_of(&self, system: &System, sources: &mut Sources) -> Result<Self, Vec<Diagnostic>>;

    /// The scenario of it on this system, as JSON, with every default put in.
    fn to_json(&self, system: &System) -> serde_json::Value {
        system.to_json(self.spec(), false)
    }

    /// What carries its messages on this system, for people.
    fn network_name(&self, system: &System) -> String {
        system.network_name()
    }
}

/// The mistake of work that needs a network.
pub(super) fn without_network(name: &str) -> Diagnostic {
    let message = format!("{name} needs a network to send its messages over");
    Diagnostic::new("missing-network", message).help("build the system with System::new")
}

/// The mistake of more ranks than have places, or other ones.
fn misplaced(name: &str, ranks: u32, places: usize) -> Diagnostic {
    let message = format!("{name} has {ranks} ranks, and {places} have a place on the network");
    Diagnostic::new("too-few-nodes", message).help("place every rank")
}

/// Whether every rank has a place, where there is a network.
pub(super) fn fits_places(name: &str, ranks: u32, system: &System) -> Result<(), Diagnostic> {
    match system.network().map(|network| network.placement.len()) {
        Some(places) if places < ranks as usize => Err(misplaced(name, ranks, places)),
        _ => Ok(()),
    }
}

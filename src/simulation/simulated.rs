//! What each kind of work answers, and what can be observed of its run.

use std::sync::Arc;

use super::summary::Summary;
use crate::diagnostic::{Diagnostic, Sources};
use crate::engine::Watch;
use crate::noise::{Added, Processors, Slow};
use crate::player::{OnActivity, OnMark, OnTransfer};
use crate::report::MessageRecord;
use crate::system::System;
use crate::system::WorkloadSpec;
use crate::units::{Bandwidth, Time};

/// What to observe of a run, beside what its report needs.
#[derive(Default)]
pub struct RunOptions<'a> {
    /// Of a pattern: whether to record busy time and number of flows of each link (bytes are always recorded); of jobs:
    /// whether what each link carried of each job is part of the outcome.
    pub link_use: bool,
    /// Of a pattern or jobs, whose ranks are one after another: called for each message when it is delivered.
    pub on_message: Option<&'a mut dyn FnMut(&MessageRecord)>,
    /// Who is late, and whom that delays; of a pattern, also where the time of its ranks went and the critical path.
    pub late: bool,
    /// Of a pattern or program: called with everything that ranks do.
    pub on_activity: Option<OnActivity<'a>>,
    /// The same: called with every message that is received.
    pub on_transfer: Option<OnTransfer<'a>>,
    /// Of a program: called with every border of a region.
    pub on_mark: Option<OnMark<'a>>,
    /// The same: whether everything is kept, however long the run; otherwise up to `room` activities and messages
    /// are.
    pub keep: bool,
    /// The same: how many activities and messages are kept of a run, and nothing of a longer one; [`KEPT`](super::KEPT)
    /// if it is not said.
    pub room: Option<usize>,
    /// Of a program: the run is stopped here, at a time that is no longer of interest.
    pub until: Option<Time>,
    /// Of jobs: whether each is run by itself as well, to say how much slower it is beside the others.
    pub alone: bool,
    /// Where ranks are slow: by rank, how much longer their work takes is added up here.
    pub added: Option<Arc<Added>>,
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

    /// Runs it on a system that it fits. Ask [`simulate`](super::simulate()), which checks that.
    ///
    /// # Errors
    /// Work that needs a network on a system without one.
    fn play(&self, system: &System, options: RunOptions<'_>) -> Result<Self::Outcome, Diagnostic>;

    /// What came of it, in the figures that all work has in common.
    fn summary(outcome: &Self::Outcome) -> Summary;

    /// By rank when it ended \[s\], where that is known of ranks.
    fn ends(outcome: &Self::Outcome) -> Vec<f64> {
        let _ = outcome;
        Vec::new()
    }

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

/// The processors of all ranks of work, where some are slow.
pub(super) fn processors(system: &System, ranks: u32, added: Option<Arc<Added>>) -> Option<Processors> {
    // Whoever asks has seen that the tables fit.
    let slow = system.slow(ranks, &[]).ok().flatten()?;
    Some(Processors::new(Arc::new(slow), 0, ranks, Time::ZERO, added))
}

/// The processors of the ranks of a job, where some are slow.
pub(super) struct Slowed {
    pub slow: Arc<Slow>,
    /// The number of its rank 0 among all.
    pub first: u32,
    pub ranks: u32,
    pub added: Option<Arc<Added>>,
}

impl Slowed {
    /// Those of ranks that count time from here.
    pub fn from(&self, begun: Time) -> Processors {
        Processors::new(Arc::clone(&self.slow), self.first, self.ranks, begun, self.added.clone())
    }
}

/// Whether what is said of slow ranks fits these.
pub(super) fn fits_noise(system: &System, ranks: u32, jobs: &[(&str, u32)]) -> Result<(), Diagnostic> {
    match system.slow(ranks, jobs) {
        Err(mistakes) => mistakes.into_iter().next().map_or(Ok(()), Err),
        Ok(_) => Ok(()),
    }
}

/// Returns how long bytes take at a bandwidth; 0 where there are none, or where nothing is known of the bandwidth (that
/// of a node of loose links).
pub(super) fn time_over(bytes: f64, bandwidth: Bandwidth) -> Time {
    if bytes > 0.0 && bandwidth.bytes_per_second() > 0.0 { bandwidth.time_for(bytes) } else { Time::ZERO }
}

/// Returns a number that differs where any of these times does, in the last bit.
pub(super) fn fingerprint(times: impl IntoIterator<Item = Time>) -> String {
    let mut hasher = blake3::Hasher::new();
    for time in times {
        hasher.update(&time.ps().to_bits().to_le_bytes());
    }
    hasher.finalize().to_hex()[..16].to_owned()
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

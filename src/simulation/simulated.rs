//! Interface of all kinds of work, and the options of a run.

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

/// Observations of a run, beside those that its report needs.
#[derive(Default)]
pub struct RunOptions<'a> {
    /// Set to record the use of links. For a pattern this adds busy time and number of flows (bytes are
    /// always recorded). For jobs the bytes of each job on each link become part of the outcome.
    pub link_use: bool,
    /// Set to record the load of links over time; for patterns and programs.
    pub link_series: bool,
    /// Function called for each message on its delivery; for patterns and jobs. Ranks of jobs are numbered
    /// job after job.
    pub on_message: Option<&'a mut dyn FnMut(&MessageRecord)>,
    /// Set to report late ranks and the ranks that they delay; for a pattern also how ranks spent their time
    /// and the critical path.
    pub late: bool,
    /// Function called with each activity of a rank; for patterns and programs.
    pub on_activity: Option<OnActivity<'a>>,
    /// Function called with each message that is received; for patterns and programs.
    pub on_transfer: Option<OnTransfer<'a>>,
    /// Function called with each border of a region; for programs.
    pub on_mark: Option<OnMark<'a>>,
    /// Set to keep everything, however long the run is; for patterns and programs. Otherwise up to `room`
    /// activities and messages are kept.
    pub keep: bool,
    /// Largest number of activities and messages to keep, by default [`KEPT`](super::KEPT); for patterns and
    /// programs. Of a longer run nothing is kept.
    pub room: Option<usize>,
    /// Time at which the run is stopped; for programs.
    pub until: Option<Time>,
    /// Set to run each job alone as well, to measure its slowdown.
    pub alone: bool,
    /// Sums, by rank, of the time by which slow processors lengthen work.
    pub added: Option<Arc<Added>>,
    /// Set to record the time that the messages of each job lose to those of other jobs.
    pub interference: bool,
    /// Set to run a pattern whose ranks start late once more without that, for its ratio to the bound in step.
    pub in_step: bool,
    /// Watch that follows the progress and may end the run.
    pub watch: Option<&'a dyn Watch>,
}

impl RunOptions<'_> {
    /// Returns true if an observation needs every rank of a program.
    pub(super) fn is_observed(&self) -> bool {
        let observes = self.on_activity.is_some() || self.on_transfer.is_some() || self.on_mark.is_some();
        observes || self.keep || self.until.is_some()
    }
}

/// Work that can be simulated.
pub trait Simulated: Clone + std::fmt::Debug + Send + Sync {
    /// Outcome of a run.
    type Outcome;

    /// Succeeds if the work can run on this system.
    ///
    /// # Errors
    /// The reason why it cannot.
    fn fits(&self, system: &System) -> Result<(), Diagnostic>;

    /// Runs the work on a system that it fits. Call [`simulate`](super::simulate()), which checks that.
    ///
    /// # Errors
    /// Work that needs a network on a system without one.
    fn play(&self, system: &System, options: RunOptions<'_>) -> Result<Self::Outcome, Diagnostic>;

    /// Returns the figures of an outcome that all kinds of work share.
    fn summary(outcome: &Self::Outcome) -> Summary;

    /// Returns the end of each rank \[s\], if it is known.
    fn ends(outcome: &Self::Outcome) -> Vec<f64> {
        let _ = outcome;
        Vec::new()
    }

    /// Description of the work, as shown to users: `all-to-all simple-spread, 20 KB`.
    fn name(&self) -> &str;

    /// Number of ranks.
    fn ranks(&self) -> u32;

    /// Number of messages, for progress; for a program without those of its collectives.
    fn messages(&self) -> u64;

    /// Returns the work as a scenario describes it, if one does.
    fn spec(&self) -> Option<&WorkloadSpec>;

    /// True if another seed gives other work.
    fn depends_on_seed(&self) -> bool;

    /// Returns the same work for a system with another seed, with everything random drawn again.
    ///
    /// # Errors
    /// Work that cannot be built with the seed.
    fn with_seed_of(&self, system: &System, sources: &mut Sources) -> Result<Self, Vec<Diagnostic>>;

    /// Returns the scenario of the work on this system as JSON, with all defaults filled in.
    fn to_json(&self, system: &System) -> serde_json::Value {
        system.to_json(self.spec(), false)
    }

    /// Returns the description of the network on this system that is shown to users.
    fn network_name(&self, system: &System) -> String {
        system.network_name()
    }
}

/// Returns the processors of all ranks, if some are slow.
pub(super) fn processors(system: &System, ranks: u32, added: Option<Arc<Added>>) -> Option<Processors> {
    // `fits_noise` has checked the tables of slow ranks.
    let slow = system.slow(ranks, &[]).ok().flatten()?;
    Some(Processors::new(Arc::new(slow), 0, ranks, Time::ZERO, added))
}

/// Processors of the ranks of one job, if some are slow.
pub(super) struct Slowed {
    pub slow: Arc<Slow>,
    /// Number of the job's rank 0 among all ranks.
    pub first: u32,
    pub ranks: u32,
    pub added: Option<Arc<Added>>,
}

impl Slowed {
    /// Returns the processors for ranks whose clock starts at `begun`.
    pub fn from(&self, begun: Time) -> Processors {
        Processors::new(Arc::clone(&self.slow), self.first, self.ranks, begun, self.added.clone())
    }
}

/// Succeeds if the description of slow ranks fits these ranks and jobs.
pub(super) fn fits_noise(system: &System, ranks: u32, jobs: &[(&str, u32)]) -> Result<(), Diagnostic> {
    match system.slow(ranks, jobs) {
        Err(mistakes) => mistakes.into_iter().next().map_or(Ok(()), Err),
        Ok(_) => Ok(()),
    }
}

/// Returns the time that `bytes` take at a bandwidth. It is 0 without bytes, or if the bandwidth is unknown
/// (that of a node of loose links).
pub(super) fn time_over(bytes: f64, bandwidth: Bandwidth) -> Time {
    if bytes > 0.0 && bandwidth.bytes_per_second() > 0.0 { bandwidth.time_for(bytes) } else { Time::ZERO }
}

/// Returns a hash that differs if any of these times differs in its last bit.
pub(super) fn fingerprint(times: impl IntoIterator<Item = Time>) -> String {
    let mut hasher = blake3::Hasher::new();
    for time in times {
        hasher.update(&time.ps().to_bits().to_le_bytes());
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

/// Returns the error for work that needs a network.
pub(super) fn without_network(name: &str) -> Diagnostic {
    let message = format!("{name} needs a network to send its messages over");
    Diagnostic::new("missing-network", message).help("build the system with System::new")
}

/// Returns the error for a number of ranks that does not match the places.
fn misplaced(name: &str, ranks: u32, places: usize) -> Diagnostic {
    let message = format!("{name} has {ranks} ranks, and {places} have a place on the network");
    Diagnostic::new("too-few-nodes", message).help("place every rank")
}

/// Succeeds if every rank has a place, where there is a network.
pub(super) fn fits_places(name: &str, ranks: u32, system: &System) -> Result<(), Diagnostic> {
    match system.network().map(|network| network.placement.len()) {
        Some(places) if places < ranks as usize => Err(misplaced(name, ranks, places)),
        _ => Ok(()),
    }
}

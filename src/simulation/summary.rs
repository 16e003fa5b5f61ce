//! Summary of a run: the figures that all kinds of work share.

use crate::report::{
    Bounds, Estimate, Estimated, FaultsReport, Gridlock, Head, JobReport, KindUse, Meta, Status, Stopped,
};
use crate::training::StepParts;
use crate::workload::Blocked;

/// Figures of a run of any work.
#[derive(Clone, PartialEq, Debug)]
pub struct Summary {
    /// Status at the end of the run.
    pub status: Status,
    /// Time at which the last message was delivered, or the last rank ended \[s\]. For a region it is the
    /// region's duration.
    pub makespan_s: f64,
    /// Messages delivered.
    pub messages: u64,
    /// Bytes of these messages \[B\].
    pub bytes: u64,
    /// Lower bounds of the makespan. A farm has only its largest bound, as the critical path.
    pub bounds: Bounds,
    /// Ratio to the bound of the same run without late starts, if it was asked for.
    pub ratio_in_step: Option<f64>,
    /// Number of events, a measure of the cost of the run.
    pub events: u64,
    /// Number of links crossed by packets, if messages are packets and crossings are counted.
    pub packet_hops: Option<u64>,
    /// Hash of everything that happened.
    pub fingerprint: String,
    /// Wall-clock time of the run itself \[s\].
    pub wall_s: f64,
    /// Blocked ranks and what they wait for, if the run deadlocked.
    pub blocked: Vec<Blocked>,
    /// Channels that wait for each other, if packets deadlocked.
    pub gridlock: Option<Gridlock>,
    /// Time and deliveries at which the run came to a standstill.
    pub stopped: Option<Stopped>,
    /// Failures and their effects on messages, if anything fails.
    pub faults: Option<Box<FaultsReport>>,
    /// Result of an estimate, if one was asked for.
    pub estimated: Option<Estimated>,
    /// Number of tasks of a farm that were not done because all workers were lost.
    pub undone: u32,
    /// Reports of several jobs.
    pub jobs: Vec<JobReport>,
    /// Use of links by kind, as far as it was asked for and measured.
    pub links: Vec<KindUse>,
    /// Time of a training step by its parts.
    pub llm: Option<StepParts>,
}

impl Summary {
    /// Returns the figures that all reports contain, and defaults for the rest.
    pub(super) fn of(head: &Head, meta: &Meta) -> Self {
        Self {
            status: head.status,
            makespan_s: head.makespan_s,
            messages: head.messages,
            bytes: head.bytes,
            bounds: Bounds::default(),
            ratio_in_step: None,
            events: meta.events,
            packet_hops: meta.packet_hops,
            fingerprint: head.fingerprint.clone(),
            wall_s: meta.wall_s,
            blocked: Vec::new(),
            gridlock: None,
            stopped: head.stopped,
            faults: head.faults.clone(),
            estimated: head.estimated.clone(),
            undone: 0,
            jobs: Vec::new(),
            links: Vec::new(),
            llm: None,
        }
    }

    /// Returns half of the 95 % interval of the makespan \[s\] if it is an estimate, else 0.
    pub fn half_s(&self) -> f64 {
        self.estimated.as_ref().and_then(Estimated::estimate).map_or(0.0, Estimate::half_s)
    }

    /// True if failures at the start left messages without a route.
    pub fn is_cut_off(&self) -> bool {
        self.faults.as_ref().is_some_and(|faults| faults.stranded > 0 && !faults.events)
    }
}

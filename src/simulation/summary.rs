//! What a run of any work came to, in the figures that all have in common.

use crate::report::{Bounds, Estimate, Estimated, FaultsReport, Gridlock, Head, JobReport, Meta, Status, Stopped};
use crate::workload::Blocked;

/// What a run came to, whatever the work.
#[derive(Clone, PartialEq, Debug)]
pub struct Summary {
    /// Whether it came to its end.
    pub status: Status,
    /// When the last message was delivered, or the last rank ended; of a region, how long it took \[s\].
    pub makespan_s: f64,
    /// Messages delivered.
    pub messages: u64,
    /// Their bytes \[B\].
    pub bytes: u64,
    /// Lower bounds; of a farm its largest, as the critical path.
    pub bounds: Bounds,
    /// Events, for what it cost.
    pub events: u64,
    /// Packets that crossed a link, where messages are packets and that is counted.
    pub packet_hops: Option<u64>,
    /// Over everything that happened.
    pub fingerprint: String,
    /// How long the run itself took \[s\].
    pub wall_s: f64,
    /// Who waits for whom, where it deadlocked.
    pub blocked: Vec<Blocked>,
    /// Which channels wait for each other, where it is the packets that do.
    pub gridlock: Option<Gridlock>,
    /// When and with what it came to a standstill.
    pub stopped: Option<Stopped>,
    /// What failed, and what became of messages for it, where anything does.
    pub faults: Option<Box<FaultsReport>>,
    /// What became of an estimate, where one was asked for.
    pub estimated: Option<Estimated>,
    /// Tasks of a farm that are not done, since all workers were lost.
    pub undone: u32,
    /// Of several jobs: what became of each.
    pub jobs: Vec<JobReport>,
}

impl Summary {
    /// Returns what all reports say; the rest is that of work that knows no more.
    pub(super) fn of(head: &Head, meta: &Meta) -> Self {
        Self {
            status: head.status,
            makespan_s: head.makespan_s,
            messages: head.messages,
            bytes: head.bytes,
            bounds: Bounds::default(),
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
        }
    }

    /// Half of the 95 % interval of the makespan \[s\], where it is an estimate; else 0.
    pub fn half_s(&self) -> f64 {
        self.estimated.as_ref().and_then(Estimated::estimate).map_or(0.0, Estimate::half_s)
    }

    /// Whether what failed left messages without a way from the start on.
    pub fn is_cut_off(&self) -> bool {
        self.faults.as_ref().is_some_and(|faults| faults.stranded > 0 && !faults.events)
    }
}

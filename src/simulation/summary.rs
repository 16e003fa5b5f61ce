//! What a run of any work came to, in the figures that all have in common.

use super::{FarmOutcome, Outcome, PatternOutcome, ProgramOutcome, RunOptions, Simulated, Work};
use crate::engine::Watch;
use crate::report::{Bounds, Gridlock, Status, Stopped};
use crate::system::System;
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
    /// Tasks of a farm that are not done, since all workers were lost.
    pub undone: u32,
}

impl Outcome {
    /// The figures that all work has in common.
    pub fn summary(&self) -> Summary {
        Work::summary(self)
    }
}

impl PatternOutcome {
    /// The figures that all work has in common.
    pub fn summary(&self) -> Summary {
        let report = &self.report;
        Summary {
            status: report.head.status,
            makespan_s: report.head.makespan_s,
            messages: report.head.messages,
            bytes: report.head.bytes,
            bounds: report.bounds,
            events: report.meta.events,
            packet_hops: report.meta.packet_hops,
            fingerprint: report.head.fingerprint.clone(),
            wall_s: report.meta.wall_s,
            blocked: self.blocked.clone(),
            gridlock: report.gridlock.clone(),
            stopped: report.head.stopped,
            undone: 0,
        }
    }
}

impl ProgramOutcome {
    /// The figures that all work has in common; of a region, where one is asked for.
    pub fn summary(&self) -> Summary {
        let report = &self.report;
        Summary {
            status: report.head.status,
            makespan_s: report.asked_s(),
            messages: report.head.messages,
            bytes: report.head.bytes,
            bounds: Bounds::default(),
            events: report.meta.events,
            packet_hops: report.meta.packet_hops,
            fingerprint: report.head.fingerprint.clone(),
            wall_s: report.meta.wall_s,
            blocked: self.stuck.iter().cloned().map(Blocked::from).collect(),
            gridlock: None,
            stopped: report.head.stopped,
            undone: 0,
        }
    }
}

impl FarmOutcome {
    /// The figures that all work has in common.
    pub fn summary(&self) -> Summary {
        let row = self.prediction.as_ref();
        Summary {
            status: if row.is_some() { Status::Complete } else { Status::Interrupted },
            makespan_s: row.map_or(0.0, |row| row.time_s),
            messages: row.map_or(0, |row| 2 * row.messages - row.repeated),
            bytes: self.bytes,
            bounds: Bounds { path_s: row.map(|row| row.bound_s), ..Bounds::default() },
            events: row.map_or(0, |row| 2 * row.messages - row.repeated),
            packet_hops: None,
            fingerprint: row.map(|row| row.fingerprint.clone()).unwrap_or_default(),
            wall_s: self.wall_s,
            blocked: Vec::new(),
            gridlock: None,
            stopped: None,
            undone: row.map_or(0, |row| row.undone),
        }
    }
}

impl Work {
    /// What a run came to; of a program with its time on nodes and a network that cost nothing as its critical path,
    /// which takes a second run.
    pub fn measured(&self, system: &System, watch: Option<&dyn Watch>) -> Summary {
        let Self::Program(program) = self else {
            return self.play(system, RunOptions { watch, ..RunOptions::default() }).summary();
        };
        let play = |system: &System| {
            program.play(system, RunOptions { watch, room: Some(0), ..RunOptions::default() }).summary()
        };
        let played = play(system);
        let ideal = (played.status == Status::Complete).then(|| play(&system.without_network()));
        let ideal = ideal.filter(|ideal| ideal.status == Status::Complete);
        Summary { bounds: Bounds { path_s: ideal.map(|ideal| ideal.makespan_s), ..Bounds::default() }, ..played }
    }
}

//! Whatever a scenario says is to be done, run in one way: for those to whom it does not matter whether it is a pattern or a program.

use super::replay::{Replay, ReplayOptions};
use super::{RunOptions, Scenario};
use crate::diagnostic::Invalid;
use crate::engine::Watch;
use crate::report::{Bounds, Gridlock, Status, Stopped};
use crate::system::Network;
use crate::workload::program::start_up::StartUp;
use crate::workload::{Blocked, WorkloadSpec};

/// What a scenario says is to be done, ready to be run.
#[derive(Clone, Debug)]
pub enum Runnable {
    /// A pattern on a fabric.
    Pattern(Box<Scenario>),
    /// A program on nodes, and on a fabric where there is one; and what of its start is left out.
    Program(Box<Replay>, Option<StartUp>),
}

/// What a run of either came to.
#[derive(Clone, PartialEq, Debug)]
pub struct Measured {
    /// Whether it came to its end.
    pub status: Status,
    /// When the last message was delivered, or the last rank ended; of a region, how long it took \[s\].
    pub makespan_s: f64,
    /// Messages delivered.
    pub messages: u64,
    /// Their bytes \[B\].
    pub bytes: u64,
    /// Lower bounds; of a program the time on nodes and a network that cost nothing, as its critical path.
    pub bounds: Bounds,
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
}

impl Runnable {
    /// The seed of everything random.
    pub fn seed(&self) -> u64 {
        match self {
            Self::Pattern(scenario) => scenario.seed,
            Self::Program(replay, _) => replay.seed(),
        }
    }

    /// Whether another seed can give another result.
    pub fn depends_on_seed(&self) -> bool {
        match self {
            Self::Pattern(scenario) => scenario.depends_on_seed(),
            Self::Program(replay, _) => replay.depends_on_seed(),
        }
    }

    /// The same with another seed.
    ///
    /// # Errors
    /// What cannot be built with this seed.
    pub fn with_seed(&self, seed: u64) -> Result<Self, Invalid> {
        Ok(match self {
            Self::Pattern(scenario) => Self::Pattern(Box::new(scenario.with_seed(seed)?)),
            Self::Program(replay, start_up) => Self::Program(Box::new(replay.with_seed(seed)?), *start_up),
        })
    }

    /// The network that it runs on, if there is one.
    pub fn network(&self) -> Option<&Network> {
        match self {
            Self::Pattern(scenario) => Some(&scenario.network),
            Self::Program(replay, _) => replay.placed(),
        }
    }

    /// The same, to be changed.
    pub(crate) fn network_mut(&mut self) -> Option<&mut Network> {
        match self {
            Self::Pattern(scenario) => Some(&mut scenario.network),
            Self::Program(replay, _) => replay.placed_mut(),
        }
    }

    /// What is done, as it was written.
    pub fn workload(&self) -> Option<&WorkloadSpec> {
        match self {
            Self::Pattern(scenario) => Some(&scenario.file.workload),
            Self::Program(replay, _) => replay.workload.as_ref(),
        }
    }

    /// What is done, for people: `all-to-all simple-spread, 20 KB`.
    pub fn name(&self) -> &str {
        match self {
            Self::Pattern(scenario) => &scenario.workload_name,
            Self::Program(replay, _) => &replay.name,
        }
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        match self {
            Self::Pattern(scenario) => scenario.pattern.ranks(),
            Self::Program(replay, _) => replay.program.ranks(),
        }
    }

    /// Number of messages, for progress; of a program without those of its collectives.
    pub fn messages(&self) -> u64 {
        match self {
            Self::Pattern(scenario) => scenario.pattern.messages(),
            Self::Program(replay, _) => replay.program.messages(),
        }
    }

    /// The scenario as JSON, with every default put in.
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Pattern(scenario) => scenario.file.to_json(),
            Self::Program(replay, _) => replay.to_json(),
        }
    }

    /// Runs it.
    pub fn run(&self, watch: Option<&dyn Watch>) -> Measured {
        match self {
            Self::Pattern(scenario) => {
                let run = scenario.run(RunOptions { watch, ..RunOptions::default() });
                let report = run.report;
                Measured {
                    status: report.status,
                    makespan_s: report.makespan_s,
                    messages: report.messages,
                    bytes: report.bytes,
                    bounds: report.bounds,
                    packet_hops: report.meta.packet_hops,
                    fingerprint: report.fingerprint,
                    wall_s: report.meta.wall_s,
                    blocked: run.blocked,
                    gridlock: report.gridlock,
                    stopped: report.stopped,
                }
            }
            Self::Program(replay, _) => {
                let play =
                    |replay: &Replay| replay.run(ReplayOptions { watch, room: Some(0), ..ReplayOptions::default() });
                let played = play(replay);
                let report = played.report;
                let ideal = (report.status == Status::Complete).then(|| play(&replay.without_network()).report);
                let ideal = ideal.filter(|ideal| ideal.status == Status::Complete);
                Measured {
                    status: report.status,
                    makespan_s: report.asked_s(),
                    messages: report.messages,
                    bytes: report.bytes,
                    bounds: Bounds { path_s: ideal.map(|ideal| ideal.asked_s()), ..Bounds::default() },
                    packet_hops: report.meta.packet_hops,
                    fingerprint: report.fingerprint,
                    wall_s: report.meta.wall_s,
                    blocked: played.stuck.into_iter().map(Blocked::from).collect(),
                    gridlock: None,
                    stopped: report.stopped,
                }
            }
        }
    }
}

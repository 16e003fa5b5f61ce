//! Whatever a scenario says is to be done, run in one way: for those to whom it does not matter whether it is a
//! pattern, a program or a farm.

use std::collections::BTreeMap;

use super::replay::{Replay, ReplayOptions};
use super::{Farm, RunOptions, Scenario, farm};
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
    /// A master with its workers, and what of both is tried.
    Farm(Box<Farm>),
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
    /// Lower bounds; of a program the time on nodes and a network that cost nothing, as its critical path, and so the
    /// largest bound of a farm.
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
    /// Tasks of a farm that are not done, since all workers were lost.
    pub undone: u32,
}

impl Runnable {
    /// The seed of everything random.
    pub fn seed(&self) -> u64 {
        match self {
            Self::Pattern(scenario) => scenario.seed,
            Self::Program(replay, _) => replay.seed(),
            Self::Farm(farm) => farm.seed(),
        }
    }

    /// Whether another seed can give another result.
    pub fn depends_on_seed(&self) -> bool {
        match self {
            Self::Pattern(scenario) => scenario.depends_on_seed(),
            Self::Program(replay, _) => replay.depends_on_seed(),
            Self::Farm(farm) => farm.depends_on_seed(),
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
            Self::Farm(farm) => Self::Farm(Box::new(farm.with_seed(seed)?)),
        })
    }

    /// The network that it runs on, if there is one.
    pub fn network(&self) -> Option<&Network> {
        match self {
            Self::Pattern(scenario) => Some(&scenario.network),
            Self::Program(replay, _) => replay.placed(),
            Self::Farm(farm) => farm.network(),
        }
    }

    /// Takes fabric and routes from another network that has the same.
    pub(crate) fn share_network(&mut self, known: &Network) {
        let network = match self {
            Self::Pattern(scenario) => Some(&mut scenario.network),
            Self::Program(replay, _) => replay.placed_mut(),
            Self::Farm(farm) => return farm.share_network(known),
        };
        if let Some(network) = network {
            network.fabric = known.fabric.clone();
            network.router = known.router.clone();
        }
    }

    /// Each of several things that are tried as work of its own, with the keys of the scenario that say which it is.
    pub fn split(self) -> Vec<(BTreeMap<String, String>, Self)> {
        match self {
            Self::Farm(farm) if farm.points.len() > 1 => {
                farm.split().into_iter().map(|(keys, farm)| (keys, Self::Farm(Box::new(farm)))).collect()
            }
            one => vec![(BTreeMap::new(), one)],
        }
    }

    /// What is done, as it was written.
    pub fn workload(&self) -> Option<&WorkloadSpec> {
        match self {
            Self::Pattern(scenario) => Some(&scenario.file.workload),
            Self::Program(replay, _) => replay.workload.as_ref(),
            Self::Farm(farm) => Some(farm.workload()),
        }
    }

    /// What is done, for people: `all-to-all simple-spread, 20 KB`.
    pub fn name(&self) -> &str {
        match self {
            Self::Pattern(scenario) => &scenario.workload_name,
            Self::Program(replay, _) => &replay.name,
            Self::Farm(farm) => farm.name(),
        }
    }

    /// The node model, for people.
    pub fn node_name(&self) -> String {
        match self {
            Self::Pattern(_) => "ideal".to_owned(),
            Self::Program(replay, _) => replay.node.name().to_owned(),
            Self::Farm(farm) => farm.node_name().to_owned(),
        }
    }

    /// The network, for people.
    pub fn network_name(&self) -> String {
        match self {
            Self::Pattern(scenario) => {
                let network = &scenario.network;
                format!("{}, {}", network.fabric, farm::moved_by(network))
            }
            Self::Program(replay, _) => replay.network_name(),
            Self::Farm(farm) => farm.network_name(),
        }
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        match self {
            Self::Pattern(scenario) => scenario.pattern.ranks(),
            Self::Program(replay, _) => replay.program.ranks(),
            Self::Farm(farm) => farm.ranks(),
        }
    }

    /// Number of messages, for progress; of a program without those of its collectives.
    pub fn messages(&self) -> u64 {
        match self {
            Self::Pattern(scenario) => scenario.pattern.messages(),
            Self::Program(replay, _) => replay.program.messages(),
            Self::Farm(farm) => farm.messages(),
        }
    }

    /// The scenario as JSON, with every default put in.
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Pattern(scenario) => scenario.file.to_json(),
            Self::Program(replay, _) => replay.to_json(),
            Self::Farm(farm) => farm.to_json(),
        }
    }

    /// Runs it; of a farm its first point (see [`Runnable::split`]).
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
                    undone: 0,
                }
            }
            Self::Farm(farm) => farm.measured(watch),
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
                    undone: 0,
                }
            }
        }
    }
}

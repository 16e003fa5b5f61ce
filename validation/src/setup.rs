//! Scenarios of the cases, and results of their runs.

use std::sync::Arc;

use super::context::RunObserver;
use super::{CaseError, Context};
use hayase::diagnostic::Diagnostic;
use hayase::fabric::{FabricBuilder, Irregular, RouteTable};
use hayase::ids::{LinkId, MessageId, NodeId, RankId};
use hayase::network::{Network, NetworkParts};
use hayase::pattern::{After, Injection, Message, Pattern};
use hayase::report::{MessageRecord, Status};
use hayase::routing::RoutingSpec;
use hayase::scenario::{Loader, Scenario};
use hayase::simulation::{PatternOutcome, PatternWork, RunOptions, Simulated};
use hayase::system::System;
use hayase::units::{Bandwidth, Time};

/// Time of one message of the named patterns alone on a link of the named fabrics \[s\]: 20,000 B at 1e9 B/s.
pub(super) const MESSAGE_S: f64 = 20e-6;

/// Number of messages of an all-to-all among a number of ranks, each sent directly to its destination.
pub(super) fn all_to_all(ranks: u32) -> u64 {
    u64::from(ranks) * u64::from(ranks - 1)
}

/// Options that differ between the runs of a case.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunChoice<'a> {
    /// A named fabric.
    pub topology: &'a str,
    /// A named pattern.
    pub pattern: &'a str,
    /// `regular`, `random`.
    pub placement: &'a str,
    /// `equal-share`, `redistribute`, `max-min`.
    pub sharing: &'a str,
    /// `queue`, `sendrecv`, `barrier` ...
    pub injection: &'a str,
    /// The seed.
    pub seed: u64,
    /// `resolution = "..."`, if not 0.
    pub resolution: Option<&'a str>,
    /// Routing rule, if not the default.
    pub routing: Option<&'a str>,
}

impl<'a> RunChoice<'a> {
    /// Chooses this pattern on this fabric, with regular placement, max-min, queue injection.
    pub fn new(topology: &'a str, pattern: &'a str) -> Self {
        Self {
            topology,
            pattern,
            placement: "regular",
            sharing: "max-min",
            injection: "queue",
            seed: 1,
            resolution: None,
            routing: None,
        }
    }

    /// Builds the scenario with more assignments (`topology.torus.host-link=false`).
    pub fn load_with(&self, assignments: &[String]) -> Result<Scenario<PatternWork>, CaseError> {
        let mut loader = Loader::new()
            .topology(self.topology)
            .pattern(self.pattern)
            .placement(self.placement)
            .sharing(self.sharing)
            .injection(self.injection)
            .seed(self.seed);
        if let Some(time) = self.resolution {
            loader = loader.set("validation", &format!("resolution={time}"));
        }
        if let Some(rule) = self.routing {
            loader = loader.routing(rule);
        }
        for assignment in assignments {
            loader = loader.set("validation", assignment);
        }
        loader.load_pattern().map_err(|invalid| format!("{self:?}: {invalid}"))
    }

    /// Builds the scenario.
    pub fn load(&self) -> Result<Scenario<PatternWork>, CaseError> {
        self.load_with(&[])
    }

    /// Builds the scenario and runs it to its end.
    pub fn run(&self, context: &Context<'_>) -> Result<PatternOutcome, CaseError> {
        run(context, &self.load()?)
    }

    /// Returns its makespan \[s\].
    pub fn makespan(&self, context: &Context<'_>) -> Result<f64, CaseError> {
        Ok(self.run(context)?.report.head.makespan_s)
    }
}

/// Runs a scenario to its end, unless the observer ends it.
pub(super) fn run(context: &Context<'_>, scenario: &Scenario<PatternWork>) -> Result<PatternOutcome, CaseError> {
    let watch = begin(context)?;
    complete(&watch, scenario.run(RunOptions { watch: Some(&watch), ..RunOptions::default() }))
}

/// Returns the observer of the next run; fails if the case has been ended.
fn begin<'a>(context: &'a Context<'a>) -> Result<RunObserver<'a>, CaseError> {
    if context.may_continue() { Ok(RunObserver::new(context)) } else { Err("interrupted".into()) }
}

/// Returns the outcome of a run that was completed.
fn complete(watch: &RunObserver<'_>, run: PatternOutcome) -> Result<PatternOutcome, CaseError> {
    match run.report.head.status {
        Status::Complete => {
            watch.delivered(run.report.head.messages);
            Ok(run)
        }
        status => Err(format!("{} on {} ended early: {status:?}", run.report.workload, run.report.fabric)),
    }
}

/// Returns the arrival time of each message \[s\], by rank, then by the sender's order.
pub(super) fn arrivals(
    context: &Context<'_>,
    scenario: &Scenario<PatternWork>,
) -> Result<(PatternOutcome, Vec<Vec<f64>>), CaseError> {
    let pattern = &scenario.work().pattern;
    let ranks = pattern.ranks();
    let sends = |rank| pattern.sends(RankId(rank)) as usize;
    let mut ends: Vec<Vec<f64>> = (0..ranks).map(|rank| vec![f64::NAN; sends(rank)]).collect();
    let mut note = |message: &MessageRecord| ends[message.src as usize][message.index as usize] = message.end_s;
    let watch = begin(context)?;
    let options = RunOptions { on_message: Some(&mut note), watch: Some(&watch), ..RunOptions::default() };
    let run = complete(&watch, scenario.run(options))?;
    Ok((run, ends))
}

/// Builds a network of nodes without switches, rank r on node r, under max-min. Links are given by capacity
/// \[B/s\] and latency, routes by source, destination and the numbers of their links.
pub(super) fn given_routes(
    nodes: u32,
    links: impl IntoIterator<Item = (f64, Time)>,
    routes: impl IntoIterator<Item = (u32, u32, Vec<u32>)>,
) -> Result<Network, CaseError> {
    let mut builder = FabricBuilder::new("given routes", nodes, 0);
    for (capacity, latency) in links {
        builder.loose_link(Bandwidth::from_bytes_per_second(capacity), latency);
    }
    let mut table = RouteTable::default();
    for (src, dst, links) in routes {
        let links: Vec<LinkId> = links.into_iter().map(LinkId).collect();
        table.insert(NodeId(src), NodeId(dst), &links);
    }
    builder.routes(table);
    let said = |mistakes: Vec<Diagnostic>| mistakes.iter().map(|m| m.message.as_str()).collect::<String>();
    let fabric = Arc::new(builder.finish(Irregular));
    let router = RoutingSpec::default_for(&fabric).build(&fabric, System::SEED);
    let router = router.map_err(|mistakes| format!("no routes: {}", said(mistakes)))?;
    NetworkParts::on(fabric, router).build().map_err(|invalid| invalid.to_string())
}

/// Puts work on a network whose nodes cost nothing.
pub(super) fn on(network: Network, work: PatternWork) -> Result<Scenario<PatternWork>, CaseError> {
    Scenario::new(System::new(network), work).map_err(|mistake| mistake.message)
}

/// Separate flows: the even rank 2f sends one message to rank 2f + 1.
#[derive(Debug)]
struct Pairs {
    flows: u32,
    bytes: u64,
}

impl Pattern for Pairs {
    fn ranks(&self) -> u32 {
        2 * self.flows
    }
    fn sends(&self, rank: RankId) -> u32 {
        u32::from(rank.0.is_multiple_of(2))
    }
    fn message(&self, rank: RankId, _index: u32) -> Message {
        Message { dst: RankId(rank.0 + 1), bytes: self.bytes, step: 0, delay: Time::ZERO, after: After::Nothing }
    }
    fn receives(&self, rank: RankId, _step: u32) -> u32 {
        u32::from(!rank.0.is_multiple_of(2))
    }
    fn steps(&self) -> u32 {
        1
    }
}

/// Builds a scenario under max-min in which flow f of `flows` has its own pair of nodes, its links and its
/// bytes.
pub(super) fn flows_on_links(
    links: &[(f64, Time)],
    flows: &[Vec<u32>],
    bytes: u64,
) -> Result<Scenario<PatternWork>, CaseError> {
    let pattern = Arc::new(Pairs { flows: flows.len() as u32, bytes });
    let work = PatternWork::new(pattern, "separate flows", Injection::All);
    let routes = flows.iter().enumerate().map(|(flow, links)| (2 * flow as u32, 2 * flow as u32 + 1, links.clone()));
    on(given_routes(work.ranks(), links.iter().copied(), routes)?, work)
}

/// Returns the name of the `index`-th message of a rank, for notes.
pub(super) fn name_of(src: usize, index: usize) -> String {
    MessageId { src: RankId(src as u32), index: index as u32 }.to_string()
}

/// Returns `|a - b| / |b|`.
pub(super) fn relative(a: f64, b: f64) -> f64 {
    (a - b).abs() / b.abs()
}

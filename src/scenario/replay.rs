//! Programs played on what the texts say: node model, and a fabric where there is one.

use std::cell::RefCell;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::Serialize;
use serde_json::{Value, json};

use super::build::{self, Placed};
use super::links::Links;
use super::read::Sections;
use super::replay_path;
use crate::diagnostic::{Invalid, Sources};
use crate::engine::{Progress, Stop, Watch};
use crate::fabric::Fabric;
use crate::ids::{NodeId, RankId};
use crate::node::NodeSpec;
use crate::placement::{Placement, PlacementSpec};
use crate::player::{
    Activity, ActivityKind, Observers, OnActivity, OnMark, OnTransfer, Play, Played, Player, RankTimes, Stuck,
    Transfer, alone, rules,
};
use crate::prediction::{Origin, assemble};
use crate::record::{History, PathStep, PlayedRegion, Regions, critical_path};
use crate::report::replay::{OpenReceives, RankReport, ReplayReport, SCHEMA, Spread, Wait};
use crate::report::{Meta, Status, Stopped};
use crate::routing::Router;
use crate::sharing::SharingSpec;
use crate::system::Network;
use crate::transport::TransportSpec;
use crate::units::Time;
use crate::workload::pattern::PatternSpec;
use crate::workload::program::collectives::{CollectivesSpec, Expander};
use crate::workload::program::{Mark, Op, Program, Wildcards};
use crate::workload::{BlockTimes, ProgramDataSpec, ProgramSpec, WorkloadSpec, as_program};

/// Waits between two ranks that a report holds.
const WAITS: usize = 20;

/// Activities and messages that are kept for the critical path where nobody asks for more.
pub const KEPT: usize = 1_000_000;

/// A program and what it is played on: complete, checked and built.
#[derive(Clone, Debug)]
pub struct Replay {
    /// What ranks do.
    pub program: Arc<Program>,
    /// The name of the program.
    pub name: String,
    /// What messages and calls cost.
    pub node: NodeSpec,
    /// How collectives are done.
    pub collectives: CollectivesSpec,
    /// How fast processors are, relative to those of the trace.
    pub cpu_speed: f64,
    /// What receives take that left open from whom.
    pub wildcards: Wildcards,
    /// The region of the program that is asked for, by its number.
    pub region: Option<u32>,
    /// How the links that the fabric brings along compare with those of the machine, where it does not take these.
    pub own_links: Option<String>,
    /// What the scenario says of it; nothing where a program was put together elsewhere.
    pub workload: Option<WorkloadSpec>,
    /// Which data sets it was put together from, where it is a prediction.
    pub origin: Option<Arc<Origin>>,
    pub(super) fabric: Option<Placed>,
    pub(super) seed: u64,
    pub(super) sources: Sources,
}

/// What to observe of a replay, beside what its report needs.
#[derive(Default)]
pub struct ReplayOptions<'a> {
    /// Called with everything that ranks do.
    pub on_activity: Option<OnActivity<'a>>,
    /// Called with every message that is received.
    pub on_transfer: Option<OnTransfer<'a>>,
    /// Called with every border of a region.
    pub on_mark: Option<OnMark<'a>>,
    /// Whether everything is kept, however long the run; otherwise up to `room` activities and messages are.
    pub keep: bool,
    /// How many activities and messages are kept of a run, and nothing of a longer one; [`KEPT`] if it is not said.
    pub room: Option<usize>,
    /// The run is stopped here, at a time that is no longer of interest.
    pub until: Option<Time>,
    /// Looks on and may end the run.
    pub watch: Option<&'a dyn Watch>,
}

/// What a replay gave.
#[derive(Clone, PartialEq, Debug)]
pub struct Replayed {
    /// The report.
    pub report: ReplayReport,
    /// Who waits for whom, where the program deadlocked.
    pub stuck: Vec<Stuck>,
    /// What ranks did and the messages between them, if that was kept.
    pub history: Option<History>,
    /// The steps of the critical path, in order of time; where the run is complete and was kept.
    pub path: Option<Vec<PathStep>>,
    /// The program's regions, by number.
    pub regions: Vec<PlayedRegion>,
}

/// The keys of a scenario that say what a program or a farm runs on.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct File<'a> {
    pub seed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolution: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topology: Option<&'a crate::topology::TopologySpec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routing: Option<&'a crate::routing::RoutingSpec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<&'a PlacementSpec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sharing: Option<&'a SharingSpec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<&'a TransportSpec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<&'a NodeSpec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collectives: Option<&'a CollectivesSpec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload: Option<&'a WorkloadSpec>,
}

impl File<'_> {
    /// The same as JSON.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

impl Replay {
    /// Plays it.
    pub fn run(&self, options: ReplayOptions<'_>) -> Replayed {
        let start = crate::wall_clock::now();
        let ReplayOptions { mut on_activity, mut on_transfer, mut on_mark, keep, room, until, watch } = options;
        let room = if keep { usize::MAX } else { room.unwrap_or(KEPT) };
        let history = History::new(self.program.ranks(), room);
        let history = RefCell::new(history);
        let total = self.program.messages();
        let go_on = |now: Time, delivered: u64| {
            until.is_none_or(|until| now <= until)
                && watch.is_none_or(|watch| watch.tick(Progress { now, delivered, total: total.max(delivered + 1) }))
        };
        let expander = Expander::new(self.collectives.clone());
        let mut waits = Waits::default();
        let pinned = self.program.pinned();
        let unpinned = (pinned > 0 && self.wildcards == Wildcards::Arrival).then(|| self.program.unpinned());
        let program = unpinned.as_ref().unwrap_or(&self.program);
        let (mut matched, mut as_recorded) = (0_u64, 0_u64);
        let mut see_transfer = |transfer: &Transfer| {
            if pinned > 0
                && let Some((op, sent)) = self.open_receive(transfer)
            {
                matched += 1;
                as_recorded += u64::from((op.peer, op.tag) == (transfer.src.0, sent.tag));
            }
            history.borrow_mut().transfer(transfer);
            if let Some(on_transfer) = &mut on_transfer {
                on_transfer(transfer);
            }
        };
        let marked = program.has_regions();
        let regions = RefCell::new(Regions::new(program));
        let mut see_mark = |rank: RankId, mark: &Mark, time: Time| {
            regions.borrow_mut().mark(rank, mark, time);
            if let Some(on_mark) = &mut on_mark {
                on_mark(rank, mark, time);
            }
        };
        let on_mark: Option<OnMark<'_>> = if marked { Some(&mut see_mark) } else { None };
        let knows_waits = self.node.facts().knows_receives;
        let mut see = |activity: &Activity| {
            if marked {
                regions.borrow_mut().activity(activity);
            }
            if knows_waits && self.region.is_none_or(|region| regions.borrow().is_open(activity.rank, region)) {
                waits.see(activity);
            }
            history.borrow_mut().activity(activity);
            if let Some(on_activity) = &mut on_activity {
                on_activity(activity);
            }
        };
        let observers = Observers { on_activity: Some(&mut see), on_transfer: Some(&mut see_transfer), on_mark };
        let played = match &self.fabric {
            None => alone(program, self.node.playing(), &expander, self.cpu_speed, observers, &go_on),
            Some(fabric) => {
                // Models that are a network of their own have been refused; nothing is left to play of one.
                let costs = self.node.costs().unwrap_or_default();
                let (expand, cpu_speed) = (Some(&expander as _), self.cpu_speed);
                let player = Player::new(Play { program, costs, expand, cpu_speed, on_fabric: true }, observers);
                over(&fabric.network, player, Some(&Until { until, watch }))
            }
        };
        let meta = Meta {
            wall_s: start.elapsed().as_secs_f64(),
            events: played.events,
            packet_hops: None,
            peak_rss_bytes: crate::memory::peak(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let mut history = history.into_inner();
        history.sort();
        let history = (!history.is_full()).then_some(history);
        let whole = !played.interrupted && played.stuck.is_empty();
        let makespan = played.makespan();
        let last = (0..).map(RankId).zip(&played.ranks).find(|(_, times)| times.end == makespan);
        let path = history
            .as_ref()
            .zip(last)
            .filter(|_| whole)
            .map(|(history, (rank, times))| critical_path(history, rank, times.end));
        let regions = regions.into_inner().finish(&played.ranks, makespan);
        let mut report = self.report(&played, waits, meta);
        self.report_regions(&mut report, &regions);
        report.open_receives = (pinned > 0).then(|| OpenReceives {
            take: self.wildcards.name(),
            receives: pinned,
            seen: matched,
            as_recorded,
        });
        let within = self.region.and_then(|region| regions.get(region as usize));
        report.critical_path = path.as_ref().map(|path| replay_path::summary(path, self, within));
        Replayed { report, stuck: played.stuck, history, path, regions }
    }

    /// Whether messages are told apart by the rules of MPIETE alone: nothing depends on the order in which they arrive.
    pub fn by_rules(&self) -> bool {
        let open = self.wildcards == Wildcards::Arrival && self.program.pinned() > 0;
        self.node.facts().is_table && !open && rules::apply(&self.program)
    }

    /// The receive that took a message, where it is one that left open what it takes, and the send.
    fn open_receive(&self, transfer: &Transfer) -> Option<(Op, Op)> {
        let receive = *self.program.rank(transfer.dst).ops.get(transfer.received_by? as usize)?;
        let send = *self.program.rank(transfer.src).ops.get(transfer.op? as usize)?;
        receive.is_pinned().then_some((receive, send))
    }

    fn report(&self, played: &Played, waits: Waits, meta: Meta) -> ReplayReport {
        let makespan_s = played.makespan().seconds();
        let measured_s = self.program.measured().map(Time::seconds).filter(|&measured| measured > 0.0);
        let status = match () {
            () if played.interrupted => Status::Interrupted,
            () if played.stuck.is_empty() => Status::Complete,
            () => Status::Deadlocked,
        };
        ReplayReport {
            schema: SCHEMA,
            scenario: self.to_json(),
            program: format!(
                "{} ({} ranks, {} operations)",
                self.name,
                self.program.ranks(),
                self.program.operations()
            ),
            incomplete: self.program.caveats.incomplete.clone(),
            lack_of_cores: self.program.caveats.lack_of_cores.clone(),
            node: self.node.name().to_owned(),
            network: self.network_name(),
            status,
            makespan_s,
            stopped: (status != Status::Complete).then(|| Stopped {
                at_s: played.last.seconds(),
                messages: played.messages,
                bytes: played.bytes,
            }),
            measured_s,
            error: measured_s.filter(|_| status == Status::Complete).map(|measured| makespan_s / measured - 1.0),
            region: None,
            regions: Vec::new(),
            operations: self.program.operations(),
            messages: played.messages,
            bytes: played.bytes,
            unreceived: played.unreceived,
            breakdown: breakdown(&played.ranks),
            waits: waits.longest(),
            open_receives: None,
            critical_path: None,
            prediction: self.origin.as_ref().map(|origin| self.prediction(origin)),
            seeds: None,
            ranks: played.ranks.iter().enumerate().map(|(rank, times)| rank_report(rank as u32, times)).collect(),
            fingerprint: fingerprint(&played.ranks),
            meta,
        }
    }

    /// Says how the links that the fabric brings along compare with those of the machine.
    pub(super) fn comparing_links(self, links: &Links, sections: &Sections) -> Self {
        let own_links = self.network().and_then(|(fabric, _)| links.comparison(fabric, &sections.link));
        Self { own_links, ..self }
    }

    /// The network that carries its messages, for people.
    pub fn network_name(&self) -> String {
        match &self.fabric {
            Some(Placed { network, .. }) if network.transport.is_flow() => {
                format!("{}, {}", network.fabric, network.sharing.name())
            }
            Some(Placed { network, .. }) => format!("{}, {}", network.fabric, network.transport.name()),
            None => self.node.facts().network.to_owned(),
        }
    }

    /// What it is played on, as JSON: the scenario with every default put in.
    pub fn to_json(&self) -> Value {
        let fabric = self.fabric.as_ref();
        let resolution = fabric.map(|fabric| fabric.network.resolution);
        let file = File {
            seed: self.seed,
            resolution: resolution.filter(|resolution| *resolution > Time::ZERO),
            topology: fabric.map(|fabric| &fabric.topology),
            routing: fabric.map(|fabric| &fabric.routing),
            placement: fabric.map(|fabric| &fabric.placement),
            sharing: fabric.map(|fabric| &fabric.network.sharing),
            transport: fabric.map(|fabric| &fabric.network.transport).filter(|transport| !transport.is_default()),
            node: Some(&self.node),
            collectives: Some(&self.collectives),
            workload: self.workload.as_ref(),
        };
        let mut value = file.to_json();
        if let (None, Some(map)) = (&self.workload, value.as_object_mut()) {
            map.insert("trace".to_owned(), self.name.clone().into());
            map.insert("cpu-speed".to_owned(), json!(self.cpu_speed));
            if self.wildcards != Wildcards::default() {
                map.insert("wildcards".to_owned(), self.wildcards.name().into());
            }
        }
        value
    }

    /// The same with another seed: what is random is drawn again.
    ///
    /// # Errors
    /// What cannot be built with this seed.
    pub fn with_seed(&self, seed: u64) -> Result<Self, Invalid> {
        let mut replay = Self { seed, ..self.clone() };
        if let Some(Placed { routing, placement, network, .. }) = &mut replay.fabric {
            let mut sources = self.sources.clone();
            let built = build::reseed(network, Some(routing), Some(placement), seed, &mut sources);
            built.map_err(|diagnostics| Invalid { diagnostics, sources })?;
        }
        if let Some(spec) = self.drawn_data() {
            let mut sources = self.sources.clone();
            let assembled = assemble(spec, seed, &mut sources);
            let assembled = assembled.map_err(|diagnostics| Invalid { diagnostics, sources })?;
            replay.program = Arc::new(assembled.program);
        }
        if let (Some(pattern), Some(placed)) = (self.random_pattern(), &self.fabric) {
            let mut sources = self.sources.clone();
            let (nodes, traffic) = (placed.network.fabric.nodes(), pattern.traffic());
            let program = pattern
                .build(nodes, seed, &mut sources)
                .and_then(|pattern| as_program(&*pattern, *traffic.injection, *traffic.message_jitter, seed));
            replay.program = Arc::new(program.map_err(|diagnostics| Invalid { diagnostics, sources })?);
        }
        Ok(replay)
    }

    /// The pattern that it is the program of, if that depends on the seed.
    fn random_pattern(&self) -> Option<&PatternSpec> {
        match &self.workload {
            Some(WorkloadSpec::Pattern(pattern)) => {
                let jitter = *pattern.traffic().message_jitter > Time::ZERO;
                (jitter || pattern.depends_on_seed()).then_some(pattern)
            }
            _ => None,
        }
    }

    /// The data sets that it is put together from, if times of blocks are drawn.
    fn drawn_data(&self) -> Option<&ProgramDataSpec> {
        match &self.workload {
            Some(WorkloadSpec::Program(ProgramSpec::ProgramData(spec))) => {
                (spec.times == BlockTimes::Draw).then_some(spec)
            }
            _ => None,
        }
    }

    /// The seed of everything random.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Whether another seed can give another result.
    pub fn depends_on_seed(&self) -> bool {
        let random = |placed: &Placed| placed.routing.depends_on_seed() || placed.placement.depends_on_seed();
        self.fabric.as_ref().is_some_and(random) || self.random_pattern().is_some() || self.drawn_data().is_some()
    }

    /// The same on ideal nodes and no network: messages arrive when they are sent, so that computation and dependences
    /// are left.
    #[must_use]
    pub fn without_network(&self) -> Self {
        Self { node: NodeSpec::default(), fabric: None, ..self.clone() }
    }

    /// The same, asked for one region of the program, or for all of it.
    #[must_use]
    pub fn with_region(self, region: Option<u32>) -> Self {
        Self { region, ..self }
    }

    /// The same, as a scenario says it: so that its report can be run again.
    #[must_use]
    pub fn with_workload(self, workload: ProgramSpec) -> Self {
        Self { workload: Some(WorkloadSpec::Program(workload)), ..self }
    }

    /// Another program of as many ranks on the same.
    #[must_use]
    pub fn with_program(&self, program: Arc<Program>) -> Self {
        Self { program, workload: None, origin: None, ..self.clone() }
    }

    /// The same with ranks on these nodes; `None` if there is no fabric, a node is not there or has two ranks, or the
    /// ranks are not so many.
    #[must_use]
    pub fn with_nodes(&self, nodes: &[u32]) -> Option<Self> {
        let mut replay = self.clone();
        let network = &mut replay.fabric.as_mut()?.network;
        let mut taken = vec![false; network.fabric.nodes() as usize];
        let free = |&node: &u32| taken.get_mut(node as usize).is_some_and(|taken| !std::mem::replace(taken, true));
        if nodes.len() != network.placement.len() || !nodes.iter().all(free) {
            return None;
        }
        network.placement = nodes.iter().map(|&node| NodeId(node)).collect::<Vec<_>>().into();
        Some(replay)
    }

    /// The fabric and the routes on it, if there is one.
    pub fn network(&self) -> Option<(&Arc<Fabric>, &dyn Router)> {
        self.fabric.as_ref().map(|placed| (&placed.network.fabric, &*placed.network.router))
    }

    /// The network with the ranks on it, if there is a fabric.
    pub fn placed(&self) -> Option<&Network> {
        self.fabric.as_ref().map(|placed| &placed.network)
    }

    /// The same, to be changed.
    pub(super) fn placed_mut(&mut self) -> Option<&mut Network> {
        self.fabric.as_mut().map(|placed| &mut placed.network)
    }

    /// Where each rank is, if there is a fabric.
    pub fn placement(&self) -> Option<&Placement> {
        self.fabric.as_ref().map(|placed| &placed.network.placement)
    }
}

/// Plays a program over a network.
fn over(network: &Network, mut player: Player<'_>, watch: Option<&dyn Watch>) -> Played {
    let outcome = network.simulate(&mut player, &mut (), watch);
    player.ended(outcome.stop == Stop::Interrupted)
}

/// Ends a run at a time, or when whoever looks on wants it.
struct Until<'a> {
    until: Option<Time>,
    watch: Option<&'a dyn Watch>,
}

impl Watch for Until<'_> {
    fn tick(&self, progress: Progress) -> bool {
        self.until.is_none_or(|until| progress.now <= until) && self.watch.is_none_or(|watch| watch.tick(progress))
    }
}

/// How long ranks waited for each other.
#[derive(Default)]
struct Waits(FxHashMap<(u32, u32, ActivityKind), (Time, u64)>);

impl Waits {
    fn see(&mut self, activity: &Activity) {
        if let (ActivityKind::SendWait | ActivityKind::RecvWait, Some(peer)) = (activity.kind, activity.peer) {
            let wait = self.0.entry((activity.rank.0, peer.0, activity.kind)).or_default();
            wait.0 += activity.end - activity.begin;
            wait.1 += 1;
        }
    }

    fn longest(self) -> Vec<Wait> {
        let mut waits: Vec<_> = self.0.into_iter().collect();
        // The order is a total one, so that of the map does not matter.
        waits.sort_unstable_by(|(a, (time_a, _)), (b, (time_b, _))| time_b.cmp(time_a).then(a.cmp(b)));
        waits.truncate(WAITS);
        let wait = |((rank, peer, kind), (time, count)): ((u32, u32, ActivityKind), (Time, u64))| Wait {
            rank,
            peer,
            kind: kind.name(),
            time_s: time.seconds(),
            count,
        };
        waits.into_iter().map(wait).collect()
    }
}

pub(super) fn rank_report(rank: u32, times: &RankTimes) -> RankReport {
    let of = |kind| times.of(kind).seconds();
    RankReport {
        rank,
        end_s: times.end.seconds(),
        compute_s: of(ActivityKind::Compute),
        send_overhead_s: of(ActivityKind::SendOverhead),
        recv_overhead_s: of(ActivityKind::RecvOverhead),
        send_wait_s: of(ActivityKind::SendWait),
        recv_wait_s: of(ActivityKind::RecvWait),
        sync_s: of(ActivityKind::Sync),
    }
}

pub(super) fn breakdown(ranks: &[RankTimes]) -> Vec<Spread> {
    let all: f64 = ranks.iter().map(|rank| rank.end.seconds()).sum();
    let spread = |kind: ActivityKind| {
        let times = || (0..).zip(ranks).map(|(rank, times): (u32, &RankTimes)| (times.of(kind), rank));
        let (least, least_rank) = times().min().unwrap_or_default();
        let (most, most_rank) = times()
            .map(|(time, rank)| (time, std::cmp::Reverse(rank)))
            .max()
            .map_or_else(Default::default, |(time, rank)| (time, rank.0));
        let sum: f64 = times().map(|(time, _)| time.seconds()).sum();
        Spread {
            kind: kind.name(),
            least_s: least.seconds(),
            least_rank,
            mean_s: sum / ranks.len().max(1) as f64,
            most_s: most.seconds(),
            most_rank,
            part: if all > 0.0 { sum / all } else { 0.0 },
        }
    };
    ActivityKind::ALL.into_iter().map(spread).collect()
}

/// Over what every rank spent on what, to the last bit.
fn fingerprint(ranks: &[RankTimes]) -> String {
    let mut hasher = blake3::Hasher::new();
    for times in ranks {
        hasher.update(&times.end.ps().to_bits().to_le_bytes());
        for kind in ActivityKind::ALL {
            hasher.update(&times.of(kind).ps().to_bits().to_le_bytes());
        }
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

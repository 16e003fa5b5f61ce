//! Programs played on what the texts say: node model, and a fabric where there is one.

use std::cell::RefCell;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::Serialize;
use serde_json::{Value, json};

use super::Loader;
use super::build::{self, Network};
use super::read::{self, Section, Sections};
use super::replay_path;
use crate::diagnostic::{Diagnostic, Invalid, Sources};
use crate::engine::{Observer, Progress, Simulation, Stop, Watch};
use crate::fabric::Fabric;
use crate::ids::{NodeId, RankId};
use crate::node::NodeSpec;
use crate::placement::{Placement, PlacementSpec, RegularSpec};
use crate::player::{
    Activity, ActivityKind, Observers, OnActivity, OnMark, OnTransfer, Play, Played, Player, RankTimes, Stuck,
    Transfer, loggopsim, rules,
};
use crate::record::{History, PathStep, PlayedRegion, Regions, critical_path};
use crate::report::replay::{OpenReceives, RankReport, ReplayReport, SCHEMA, Spread, Wait};
use crate::report::{self, Meta, Status, Stopped};
use crate::routing::Router;
use crate::sharing::SharingSpec;
use crate::transport::{Load, TransportSpec};
use crate::units::Time;
use crate::workload::program::collectives::{CollectivesSpec, Expander};
use crate::workload::program::{Mark, Op, Program, Wildcards};

/// Waits between two ranks that a report holds.
const WAITS: usize = 20;

/// Activities and messages that are kept for the critical path where nobody asks for more.
pub const KEPT: usize = 1_000_000;

/// Pairs of ranks looked at for routes, at most.
const MOST_PAIRS: u64 = 20_000_000;

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
    fabric: Option<Placed>,
    seed: u64,
}

/// A fabric with the ranks on it.
#[derive(Clone, Debug)]
struct Placed {
    network: Network,
    placement_spec: PlacementSpec,
    placement: Placement,
    sharing: SharingSpec,
    transport: TransportSpec,
    resolution: Time,
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

/// The keys of a scenario that say what a program is played on.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct File<'a> {
    seed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    topology: Option<&'a crate::topology::TopologySpec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    routing: Option<&'a crate::routing::RoutingSpec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    placement: Option<&'a PlacementSpec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sharing: Option<&'a SharingSpec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    transport: Option<&'a TransportSpec>,
    node: &'a NodeSpec,
    collectives: &'a CollectivesSpec,
}

impl Loader {
    /// Reads the texts and builds what they say of nodes and fabric, for this program.
    ///
    /// # Errors
    /// Every mistake of every text; that there is no topology or workload is none.
    pub fn load_replay(self, program: Arc<Program>, name: &str, cpu_speed: f64) -> Result<Replay, Invalid> {
        let wildcards = self.wildcards;
        let mut texts = self.gather();
        // A topology may be missing; a parameter of the machine may not.
        let incomplete = texts.is_incomplete();
        let sections = read::sections_alone(&texts.table, &mut texts.diagnostics, incomplete);
        texts.only_first_mistakes();
        let links = texts.links.clone();
        let (mut sources, mut diagnostics) = texts.into_parts();
        let replay = built(&sections, program, name, cpu_speed, &mut sources, &mut diagnostics);
        let replay = replay.map(|replay| {
            let fabric = replay.fabric.as_ref().map(|placed| &placed.network.fabric);
            let own_links = fabric.and_then(|fabric| links.comparison(fabric, &sections.link));
            Replay { wildcards, own_links, ..replay }
        });
        build::finish(replay, sources, diagnostics)
    }
}

fn built(
    sections: &Sections,
    program: Arc<Program>,
    name: &str,
    cpu_speed: f64,
    sources: &mut Sources,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Replay> {
    let node = match &sections.node {
        Section::Is(node, at) => {
            diagnostics.extend(build::at_section(node.check(), Some(*at)));
            node.clone()
        }
        Section::Absent => NodeSpec::default(),
        Section::Broken => return None,
    };
    let collectives = match &sections.collectives {
        Section::Is(collectives, at) => {
            diagnostics.extend(build::at_section(collectives.check(), Some(*at)));
            collectives.clone()
        }
        Section::Absent => CollectivesSpec::default(),
        Section::Broken => return None,
    };
    if let Section::Is(_, at) = &sections.topology
        && matches!(node, NodeSpec::Loggopsim(_) | NodeSpec::ReceiveTimes(_))
    {
        let message = format!("the node model `{}` is a network of its own", node.name());
        let help = "leave the topology out, or choose another model (--node loggps)";
        diagnostics.push(Diagnostic::new("wrong-choice", message).at(*at).help(help));
    }
    if let (Section::Absent, Section::Is(_, at)) = (&sections.topology, &sections.transport) {
        let message = "a transport needs a fabric to move messages over";
        let help = "name one with -t; without a fabric messages take the node model's own latency and gaps";
        diagnostics.push(Diagnostic::new("wrong-choice", message).at(*at).help(help));
    }
    let fabric = match &sections.topology {
        Section::Is(..) => Some(placed(sections, program.ranks(), sources, diagnostics)?),
        Section::Absent => None,
        Section::Broken => return None,
    };
    let seed = build::seed(sections);
    let wildcards = Wildcards::default();
    let (region, own_links) = (None, None);
    let name = name.to_owned();
    Some(Replay { program, name, node, collectives, cpu_speed, wildcards, region, own_links, fabric, seed })
}

fn placed(sections: &Sections, ranks: u32, sources: &mut Sources, diagnostics: &mut Vec<Diagnostic>) -> Option<Placed> {
    let sharing = sections.sharing.get().cloned().unwrap_or_default();
    build::check_sharing(&sharing, diagnostics);
    let transport = sections.transport.get().cloned().unwrap_or_default();
    diagnostics.extend(build::at_section(transport.check(), sections.transport.span()));
    let network = build::network(sections, sources, diagnostics)?;
    let (placement_spec, at) = match &sections.placement {
        Section::Is(placement, at) => (placement.clone(), Some(*at)),
        Section::Absent => (PlacementSpec::Regular(RegularSpec {}), sections.topology.span()),
        Section::Broken => return None,
    };
    let built = placement_spec.build(ranks, &network.fabric, build::seed(sections), sources);
    let placement = build::taken(built, at, diagnostics)?;
    if network.fabric.routes().is_some() || *network.fabric.shape() == crate::fabric::Shape::Irregular {
        let pairs = (0..ranks).flat_map(|from| (0..ranks).map(move |to| (RankId(from), RankId(to))));
        let mut nodes = pairs.take(MOST_PAIRS as usize).map(|(from, to)| (placement[from], placement[to]));
        let reaches = |&(from, to): &(NodeId, NodeId)| from == to || network.router.reaches(from, to);
        if let Some((from, to)) = nodes.find(|pair| !reaches(pair)) {
            let name = |node: NodeId| network.fabric.vertex_name(node.into());
            let message = format!("there is no route from {} to {}", name(from), name(to));
            diagnostics.extend(build::at_section(vec![Diagnostic::new("no-route", message)], sections.topology.span()));
        }
    }
    let resolution = sections.resolution.get().map(|time| **time).unwrap_or_default();
    Some(Placed { network, placement_spec, placement, sharing, transport, resolution })
}

/// Sees nothing.
struct Blind;

impl Observer for Blind {}

impl Replay {
    /// Plays it.
    pub fn run(&self, options: ReplayOptions<'_>) -> Replayed {
        let start = report::wall_clock();
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
        // LogGOPSim's waits are not for certain ranks.
        let knows_waits = !matches!(self.node, NodeSpec::Loggopsim(_));
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
        let played = match (&self.node, self.node.costs()) {
            (NodeSpec::Loggopsim(spec), _) => {
                // The expander is there, so there is nothing that could not be spelled out.
                let graphs = loggopsim::as_graphs(program, &expander);
                loggopsim::play(&graphs, spec, self.cpu_speed, observers, &go_on)
            }
            (NodeSpec::ReceiveTimes(spec), _) if rules::apply(program) => {
                let table = spec.table();
                rules::play(program, &table, &expander, self.cpu_speed, observers, &go_on)
            }
            (_, Some(costs)) => {
                let play = Play {
                    program,
                    costs,
                    expand: Some(&expander),
                    cpu_speed: self.cpu_speed,
                    on_fabric: self.fabric.is_some(),
                };
                let player = Player::new(play, observers);
                match &self.fabric {
                    None => player.run(&go_on),
                    Some(fabric) => fabric.run(player, Some(&Until { until, watch })),
                }
            }
            (_, None) => Played::default(),
        };
        let meta = Meta {
            wall_s: start.elapsed().as_secs_f64(),
            events: played.events,
            packet_hops: None,
            peak_rss_bytes: report::peak_rss(),
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
        matches!(self.node, NodeSpec::ReceiveTimes(_)) && !open && rules::apply(&self.program)
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
            network: match &self.fabric {
                Some(fabric) if fabric.transport.is_flow() => {
                    format!("{}, {}", fabric.network.fabric, fabric.sharing.name())
                }
                Some(fabric) => format!("{}, {}", fabric.network.fabric, fabric.transport.name()),
                None if matches!(self.node, NodeSpec::Ideal(_)) => {
                    "none: messages arrive when they are sent".to_owned()
                }
                None if matches!(self.node, NodeSpec::ReceiveTimes(_)) => {
                    "measured receive times, no contention".to_owned()
                }
                None => "the model's own latency and gaps".to_owned(),
            },
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
            prediction: None,
            ranks: played.ranks.iter().enumerate().map(|(rank, times)| rank_report(rank as u32, times)).collect(),
            fingerprint: fingerprint(&played.ranks),
            meta,
        }
    }

    /// What it is played on, as JSON: the scenario with every default put in.
    pub fn to_json(&self) -> Value {
        let fabric = self.fabric.as_ref();
        let file = File {
            seed: self.seed,
            topology: fabric.map(|fabric| &fabric.network.topology),
            routing: fabric.map(|fabric| &fabric.network.routing),
            placement: fabric.map(|fabric| &fabric.placement_spec),
            sharing: fabric.map(|fabric| &fabric.sharing),
            transport: fabric.map(|fabric| &fabric.transport).filter(|transport| !transport.is_default()),
            node: &self.node,
            collectives: &self.collectives,
        };
        let mut value = serde_json::to_value(file).unwrap_or_default();
        if let Some(map) = value.as_object_mut() {
            map.insert("trace".to_owned(), self.name.clone().into());
            map.insert("cpu-speed".to_owned(), json!(self.cpu_speed));
            if self.wildcards != Wildcards::default() {
                map.insert("wildcards".to_owned(), self.wildcards.name().into());
            }
        }
        value
    }

    /// The same on ideal nodes and no network: messages arrive when they are sent, so that computation and dependences are
    /// left.
    #[must_use]
    pub fn without_network(&self) -> Self {
        Self { node: NodeSpec::default(), fabric: None, ..self.clone() }
    }

    /// The same, asked for one region of the program, or for all of it.
    #[must_use]
    pub fn with_region(self, region: Option<u32>) -> Self {
        Self { region, ..self }
    }

    /// Another program of as many ranks on the same.
    #[must_use]
    pub fn with_program(&self, program: Arc<Program>) -> Self {
        Self { program, ..self.clone() }
    }

    /// The same with ranks on these nodes; `None` if there is no fabric, a node is not there or has two ranks, or the ranks are not so many.
    #[must_use]
    pub fn with_nodes(&self, nodes: &[u32]) -> Option<Self> {
        let mut replay = self.clone();
        let fabric = replay.fabric.as_mut()?;
        let mut taken = vec![false; fabric.network.fabric.nodes() as usize];
        let free = |&node: &u32| taken.get_mut(node as usize).is_some_and(|taken| !std::mem::replace(taken, true));
        if nodes.len() != fabric.placement.len() || !nodes.iter().all(free) {
            return None;
        }
        fabric.placement = nodes.iter().map(|&node| NodeId(node)).collect::<Vec<_>>().into();
        Some(replay)
    }

    /// The fabric and the routes on it, if there is one.
    pub fn network(&self) -> Option<(&Arc<Fabric>, &dyn Router)> {
        self.fabric.as_ref().map(|placed| (&placed.network.fabric, &*placed.network.router))
    }

    /// Where each rank is, if there is a fabric.
    pub fn placement(&self) -> Option<&Placement> {
        self.fabric.as_ref().map(|fabric| &fabric.placement)
    }
}

impl Placed {
    fn run(&self, mut player: Player<'_>, watch: Option<&dyn Watch>) -> Played {
        let Network { fabric, router, .. } = &self.network;
        let mut transport = self.transport.build(fabric, &**router, &self.sharing, Load::default());
        let simulation = Simulation {
            fabric,
            router: &**router,
            placement: &self.placement,
            workload: &mut player,
            transport: &mut *transport,
            resolution: self.resolution,
        };
        let outcome = simulation.run(&mut Blind, watch);
        player.ended(outcome.stop == Stop::Interrupted)
    }
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

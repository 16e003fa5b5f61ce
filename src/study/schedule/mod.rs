//! Schedules of collective operations: the best possible time, a plan near it, and the usual algorithms beside it.
//!
//! A [`Plan`] has every message with its round or chunk, its route and what it waits for. It is simulated as the
//! message file that it is written to, without and with late starts.

mod ground;
mod plan;
mod trees;
mod turns;

use crate::collective::{Algorithm, Call, Operation, Plan as Choice, Schedule as CallSchedule};
use crate::columns::Columns;
use crate::diagnostic::{Diagnostic, Invalid};
use crate::fabric::Fabric;
use crate::ids::{IdVec, LinkId, NodeId, RankId};
use crate::network::{Network, NetworkParts};
use crate::optimum::trees::{Error, Ratio, bound, free_bandwidth};
use crate::optimum::{FlowNetwork, Volumes};
use crate::report::{SCHEDULE_SCHEMA, ScheduleReport, ScheduleRow, WorstCut};
use crate::scenario::{Loader, Scenario};
use crate::simulation::PatternWork;
use crate::study::runs::Control;
use crate::study::sweep::{Axis, Sweep, SweepError};
use crate::units::{Bandwidth, Bytes, Time};

use ground::RankGraph;
pub use plan::{Plan, PlanMessage, PlanOperation, check};

/// Largest gap of the optimum of an all-to-all, scatter or gather.
const GAP: f64 = 0.01;
/// Late starts as part of the time of a message, if none are asked for.
const JITTER: f64 = 0.05;
/// Largest number of messages of an algorithm that is simulated beside a schedule.
const MOST_SIMULATED: u64 = 1 << 22;
/// Largest number of pairs of ranks of an all-to-all; each takes 16 bytes before anything is scheduled.
const MOST_PAIRS: u64 = 1 << 25;
/// Name of the schedule among the algorithms.
const SCHEDULE: &str = "schedule";

/// Method by which a schedule is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Method {
    /// Trees for operations that copy or add; for an all-to-all the faster of order and packing by the formula.
    #[default]
    Auto,
    /// All-to-all in rounds of the best order.
    Order,
    /// All-to-all in slots that are packed greedily.
    Greedy,
    /// All-to-all in slots that are packed with two tries each.
    Pack,
    /// All-to-all in slots with one of the best routes for each message.
    Packr,
    /// All-to-all in rounds with coloured routes, on trees.
    Colour,
    /// Everything at once, split over the best routes.
    Routes,
    /// Packed spanning trees.
    Trees,
}

impl Method {
    /// Methods with their names.
    pub const ALL: [(&'static str, Self); 8] = [
        ("auto", Self::Auto),
        ("order", Self::Order),
        ("greedy", Self::Greedy),
        ("pack", Self::Pack),
        ("packr", Self::Packr),
        ("colour", Self::Colour),
        ("routes", Self::Routes),
        ("trees", Self::Trees),
    ];

    /// Returns the name of the method.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, method)| *method == self).map_or("auto", |(name, _)| name)
    }

    /// Returns true if the method makes schedules of this operation.
    fn suits(self, operation: PlanOperation) -> bool {
        use PlanOperation as O;
        match self {
            Self::Auto => true,
            Self::Order | Self::Greedy | Self::Pack | Self::Packr | Self::Colour => operation == O::AllToAll,
            Self::Routes => matches!(operation, O::AllToAll | O::Scatter | O::Gather),
            Self::Trees => matches!(operation, O::AllGather | O::ReduceScatter | O::AllReduce | O::Broadcast),
        }
    }
}

/// Request for a schedule.
#[derive(Clone, Debug)]
pub struct Request {
    /// The operation.
    pub operation: PlanOperation,
    /// The method.
    pub method: Method,
    /// Size \[B\]; see [`ScheduleReport::size_bytes`].
    pub size: u64,
    /// Root of a broadcast, scatter or gather.
    pub root: u32,
    /// Number of ranks; one for each node if absent.
    pub ranks: Option<u32>,
    /// Number of trees of each root; as many as the optimum needs if absent.
    pub trees: Option<u64>,
    /// Number of chunks of the data of each tree; the fastest number by the formula if absent.
    pub chunks: Option<u32>,
    /// Largest late start of a rank; a twentieth of the time of a message if absent.
    pub jitter: Option<Time>,
    /// Time of the barrier after each slot.
    pub barrier_cost: Time,
    /// Bytes from rank to rank of an all-to-all, in place of `size`.
    pub sizes: Option<Vec<(u32, u32, u64)>>,
}

impl Request {
    /// Creates the request for a schedule of messages of 1 MB.
    pub fn of(operation: PlanOperation) -> Self {
        let (method, size) = (Method::Auto, 1_000_000);
        Self {
            operation,
            method,
            size,
            root: 0,
            ranks: None,
            trees: None,
            chunks: None,
            jitter: None,
            barrier_cost: Time::ZERO,
            sizes: None,
        }
    }
}

/// Schedule of an operation, with its report.
#[derive(Debug)]
pub struct Schedule {
    /// The report.
    pub report: ScheduleReport,
    /// The plan, if there is a schedule.
    pub plan: Option<Plan>,
    /// Network with the ranks.
    pub network: Network,
    /// Texts of the scenario that plays the schedule in step.
    played: Option<Loader>,
}

impl Schedule {
    /// Returns the scenario that plays the schedule in step; `None` if there is no schedule.
    ///
    /// # Errors
    /// A file that was changed since the schedule was made.
    pub fn scenario(&self) -> Result<Option<Scenario<PatternWork>>, Invalid> {
        self.played.clone().map(Loader::load_pattern).transpose()
    }

    /// Returns the bytes on each link of the plan's messages for which `is_counted` is true \[B\].
    pub fn bytes(&self, is_counted: impl Fn(&PlanMessage) -> bool) -> IdVec<LinkId, u64> {
        let NetworkParts { fabric, router, placement, .. } = &*self.network;
        let mut bytes = IdVec::filled(fabric.links().len(), 0);
        let mut route = Vec::new();
        for message in self.plan.iter().flat_map(|plan| &plan.messages).filter(|message| is_counted(message)) {
            route.clear();
            match message.path.as_slice() {
                [] => router.route(placement[RankId(message.src)], placement[RankId(message.dst)], &mut route),
                path => route.extend(path.iter().map(|&link| LinkId(link))),
            }
            route.iter().for_each(|&link| bytes[link] += message.bytes);
        }
        bytes
    }
}

/// Plan with the facts of its method.
struct Built {
    plan: Plan,
    /// The plan as a workload, if a pattern has the same messages.
    pattern: Option<String>,
    method: Method,
    predicted_s: f64,
    order: Option<String>,
    depth: Option<u32>,
    chunks: Option<u32>,
    trees: Option<u64>,
}

impl Built {
    /// Creates a plan without trees, order and pattern.
    fn new(plan: Plan, method: Method, predicted_s: f64) -> Self {
        Self { plan, pattern: None, method, predicted_s, order: None, depth: None, chunks: None, trees: None }
    }
}

/// Fabric, ranks and request from which a schedule is made.
struct Ground<'a> {
    network: &'a Network,
    nodes: &'a [NodeId],
    request: &'a Request,
    seed: u64,
    base: &'a Loader,
    control: &'a Control<'a>,
}

impl Ground<'_> {
    fn ranks(&self) -> u32 {
        self.nodes.len() as u32
    }

    /// Returns the nodes of all pairs of ranks, by sender.
    fn pairs(&self) -> impl Iterator<Item = (NodeId, NodeId)> {
        self.nodes.iter().flat_map(|&from| self.nodes.iter().map(move |&to| (from, to)))
    }

    /// Returns the bytes of one rank for another.
    fn sizes(&self) -> Vec<(u32, u32, u64)> {
        let (ranks, size, root) = (self.ranks(), self.request.size, self.request.root);
        let others = |root: u32| (0..ranks).filter(move |&rank| rank != root);
        match (self.request.operation, &self.request.sizes) {
            (_, Some(sizes)) => sizes.clone(),
            (PlanOperation::Scatter, None) => others(root).map(|rank| (root, rank, size)).collect(),
            (PlanOperation::Gather, None) => others(root).map(|rank| (rank, root, size)).collect(),
            _ => (0..ranks).flat_map(|src| others(src).map(move |dst| (src, dst, size))).collect(),
        }
    }
}

/// Returns the schedule of an operation on the system of these texts, with simulated times.
///
/// # Errors
/// The texts describe no network with ranks, the request does not fit it, or a run deadlocks.
pub fn schedule(base: &Loader, request: &Request, control: Control<'_>) -> Result<Schedule, SweepError> {
    let ranks = request.ranks.map_or_else(String::new, |ranks| format!("ranks = {ranks}\n"));
    let probe = format!("[workload.all-to-all]\nalgorithm = \"simple-spread\"\nsize = \"{} B\"\n{ranks}", request.size);
    let scenario = base.clone().over("<schedule>", probe).load_pattern()?;
    let network = scenario.system().network().ok_or_else(|| Invalid::from(without_network()))?;
    let nodes: Vec<NodeId> = network.placement.iter().copied().collect();
    let (base, control) = (base, &control);
    let ground = Ground { network, nodes: &nodes, request, seed: scenario.seed(), base, control };
    check_request(&ground)?;
    let mut report = ScheduleReport {
        schema: SCHEDULE_SCHEMA,
        fabric: network.fabric.to_string(),
        fabric_fingerprint: network.fabric.fingerprint(),
        placement: scenario.to_json()["placement"]
            .as_object()
            .and_then(|of| of.keys().next().cloned())
            .unwrap_or_default(),
        transport: network.transport.name(),
        operation: request.operation.name().to_owned(),
        ranks: ground.ranks(),
        size_bytes: request.sizes.iter().flatten().map(|row| row.2).max().unwrap_or(request.size),
        ..ScheduleReport::default()
    };
    let built = match request.operation {
        PlanOperation::AllToAll | PlanOperation::Scatter | PlanOperation::Gather => exchange(&ground, &mut report)?,
        _ => along_trees(&ground, &mut report)?,
    };
    let built = built.map_err(|reason| report.no_schedule = Some(reason)).ok();
    if let Some(built) = &built {
        // Of many ranks the messages are known as a pattern alone.
        // The sizes of a file may leave out pairs, which the check would miss.
        if !built.plan.messages.is_empty()
            && request.sizes.is_none()
            && let Err(mistake) = plan::check(&built.plan)
        {
            return Err(Invalid::from(Diagnostic::new("wrong-plan", format!("the plan is wrong: {mistake}"))).into());
        }
        report.method = Some(built.method.name().to_owned());
        report.messages = built.plan.messages.len() as u64;
        report.predicted_s = Some(built.predicted_s);
        (report.depth, report.chunks) = (built.depth, built.chunks);
        report.order.clone_from(&built.order);
        report.trees_per_root = built.trees.or(report.trees_per_root);
        report.slots = built.plan.messages.iter().filter_map(|message| message.slot).max().map(|last| last + 1);
    }
    let played = simulate(&ground, built.as_ref(), &mut report)?;
    let plan = built.map(|built| built.plan).filter(|plan| !plan.messages.is_empty());
    Ok(Schedule { report, plan, network: network.clone(), played })
}

fn without_network() -> Diagnostic {
    Diagnostic::new("no-fabric", "a schedule needs a fabric").help("name one with -t")
}

fn check_request(ground: &Ground<'_>) -> Result<(), Invalid> {
    let Request { operation, method, root, size, trees, chunks, ref sizes, .. } = *ground.request;
    let ranks = ground.ranks();
    let wrong = |message: String, help: &str| Err(Diagnostic::new("wrong-value", message).help(help).into());
    if ranks < 2 {
        return wrong(format!("{} with one rank moves nothing", operation.name()), "take at least 2 ranks");
    }
    let pairs = u64::from(ranks) * u64::from(ranks - 1);
    if operation == PlanOperation::AllToAll && sizes.is_none() && pairs > MOST_PAIRS {
        let message = format!("an all-to-all of {ranks} ranks has {pairs} messages, and {MOST_PAIRS} can be scheduled");
        return wrong(message, "take fewer --ranks; `hayase throughput --optimum` has bounds of larger fabrics");
    }
    if root >= ranks {
        return wrong(format!("there is no rank {root} among {ranks}"), "write a smaller --root");
    }
    if !method.suits(operation) {
        let names: Vec<&str> =
            Method::ALL.iter().filter(|(_, other)| other.suits(operation)).map(|(name, _)| *name).collect();
        let message = format!("method \"{}\" makes no schedule of {}", method.name(), operation.name());
        return wrong(message, &format!("take {}", names.join(", ")));
    }
    let has_trees = !matches!(operation, PlanOperation::AllToAll | PlanOperation::Scatter | PlanOperation::Gather);
    for (option, is_given) in [("--trees", trees.is_some()), ("--chunks", chunks.is_some())] {
        if is_given && !has_trees {
            return wrong(format!("{option} has no meaning for {}", operation.name()), "leave it out");
        }
    }
    if let Some(sizes) = sizes {
        let largest = sizes.iter().map(|row| row.0.max(row.1)).max();
        match largest {
            _ if operation != PlanOperation::AllToAll => {
                return wrong(format!("{} has one size for all ranks", operation.name()), "write --size");
            }
            None => return wrong("no pair of the file has bytes".to_owned(), "rows src,dst,bytes with bytes above 0"),
            Some(largest) if largest >= ranks => {
                return wrong(format!("there is no rank {largest} among {ranks}"), "name ranks below --ranks");
            }
            Some(_) => {}
        }
    }
    if size == 0 && sizes.is_none() {
        return wrong("messages without bytes need no schedule".to_owned(), "write a --size above 0");
    }
    Ok(())
}

/// Schedules an operation that neither copies nor adds.
fn exchange(ground: &Ground<'_>, report: &mut ScheduleReport) -> Result<Result<Built, String>, Invalid> {
    let flows = FlowNetwork::new(&ground.network.fabric)?;
    let mut volumes: Volumes = flows.volumes();
    for (src, dst, bytes) in ground.sizes() {
        volumes.add(ground.nodes[src as usize], ground.nodes[dst as usize], bytes as f64);
    }
    let mut go_on = |_, _| !ground.control.is_cancelled();
    let best = flows.best_time(&volumes, GAP, ground.seed, &mut go_on)?;
    // Other algorithms may send blocks on from rank to rank, which spares links where nodes have several.
    let relaying = flows.relaying(ground.nodes);
    let relayed = relaying.as_ref().map(|flows| flows.best_time(&volumes, GAP, ground.seed, &mut go_on)).transpose()?;
    let (of, bound) = (relaying.as_ref().unwrap_or(&flows), relayed.as_ref().unwrap_or(&best));
    report.optimum_s = bound.at_least_s;
    report.optimum_exact = bound.is_exact();
    report.optimum_certificate = Some(bound.proof);
    report.optimum_proof = of.describe(bound, &volumes, |bytes| Bytes(bytes.round() as u64).to_string());
    Ok(turns::schedule(ground, &flows, &best, &volumes))
}

/// Schedules an operation along trees.
fn along_trees(ground: &Ground<'_>, report: &mut ScheduleReport) -> Result<Result<Built, String>, Invalid> {
    let Request { operation, root, size, trees: fixed, chunks, .. } = *ground.request;
    let ranks = ground.ranks();
    let Some(graph) = RankGraph::new(&ground.network.fabric, ground.nodes) else {
        let mistake = Diagnostic::new("wrong-choice", "two ranks share a node, and trees need a node for each rank");
        return Err(mistake.help("take a placement with one rank on each node").into());
    };
    // A reduce-scatter is an all-gather on the links in the opposite direction.
    let is_even = graph.opposite().is_some();
    let graph = if operation == PlanOperation::ReduceScatter && !is_even { graph.reversed() } else { graph };
    let mut progress = |_: f64| !ground.control.is_cancelled();
    let router = &*ground.network.router;
    let found = trees::trees(&graph, ground.nodes, router, (operation, root), fixed, &mut progress);
    let mut found = found.map_err(|error| mistake(error, &graph))?;
    let mut least = found.least.value();
    if operation == PlanOperation::AllReduce && !is_even {
        let back = graph.reversed();
        let reduction = bound(&back.graph, &mut progress).map_err(|error| mistake(error, &back))?;
        least = (least + reduction.time.value()) / 2.0;
        found.forest = Err("links differ in their two directions, so trees cannot be reversed".to_owned());
    }
    // Seconds for one byte of each rank become those of the whole operation.
    let scale = match operation {
        PlanOperation::AllReduce => 2.0 * size as f64 / f64::from(ranks),
        PlanOperation::Broadcast => size as f64 / f64::from(ranks),
        _ => size as f64,
    };
    report.optimum_s = least * scale;
    report.optimum_exact = found.forest.is_ok() && found.time <= least * (1.0 + 1e-9);
    report.optimum_proof = proof(&found, ranks);
    if operation == PlanOperation::AllReduce {
        report.optimum_proof += ", twice: reduce-scatter, then all-gather, with equal shares";
        // Reversed trees need as much bandwidth in one direction as in the other.
        let free = if is_even { free_bandwidth(&graph.graph, &mut progress).ok().flatten() } else { None };
        let free_s = free.map(|bandwidth| 2.0 * size as f64 / bandwidth);
        report.free_shares_s = free_s.filter(|free_s| *free_s < 0.999 * report.optimum_s);
    }
    if let Some(bound) = &found.bound {
        report.worst_cut = Some(WorstCut { nodes: bound.cut_nodes, bandwidth_bps: bound.cut_bandwidth as f64 });
        report.trees_per_root = Some(bound.trees_per_root);
    }
    let forest = match found.forest {
        Ok(forest) => forest,
        Err(reason) => return Ok(Err(reason)),
    };
    let trees = forest.trees.iter().filter(|tree| tree.root == root).map(|tree| tree.weight).sum();
    let bytes = match operation {
        PlanOperation::AllReduce | PlanOperation::Broadcast => size,
        _ => size.saturating_mul(ranks.into()),
    };
    let built = trees::tree_plan(&graph, &forest, (operation, root, bytes), found.time * scale, chunks);
    Ok(built.map(|built| Built {
        depth: Some(built.depth),
        chunks: Some(built.chunks),
        trees: Some(trees),
        ..Built::new(built.plan, Method::Trees, built.predicted_s)
    }))
}

/// Returns the proof of the bound in words.
fn proof(found: &trees::TreesOf, ranks: u32) -> String {
    match &found.bound {
        Some(bound) => {
            let out = Bandwidth::from_bytes_per_second(bound.cut_bandwidth as f64);
            format!("the data of {} of {ranks} ranks leave their cut over {out}", bound.cut_nodes)
        }
        None => {
            let Ratio { numerator, denominator } = found.least;
            let flow = Bandwidth::from_bytes_per_second(f64::from(ranks) * denominator as f64 / numerator as f64);
            format!("no more than {flow} reach some rank from the root")
        }
    }
}

/// Describes why there is no bound.
fn mistake(error: Error, graph: &RankGraph<'_>) -> Diagnostic {
    match error {
        Error::Disconnected(rank) => {
            Diagnostic::new("disconnected", format!("rank {rank} is not connected to all ranks"))
                .help("let fewer links fail, or add the links that are missing")
        }
        Error::ZeroBandwidth(link) => {
            let name = graph.fabric.link_name(graph.of_link[link as usize]);
            Diagnostic::new("wrong-value", format!("`{name}` has no bandwidth"))
        }
        Error::Stopped => Diagnostic::new("interrupted", "the search for trees was stopped"),
        _ => Diagnostic::new("too-large", "bandwidths have too few common divisors for an exact bound")
            .help("round the bandwidths of links to whole MB/s"),
    }
}

/// Simulates the plan and the usual algorithms, without and with late starts. Returns the texts of the plan's scenario.
fn simulate(
    ground: &Ground<'_>,
    built: Option<&Built>,
    report: &mut ScheduleReport,
) -> Result<Option<Loader>, SweepError> {
    let ranks = format!("ranks = {}\n", ground.ranks());
    let largest = built.and_then(|built| built.plan.messages.iter().map(|message| message.bytes).max());
    let port = ground.nodes.iter().map(|&node| ground.network.capacity_of(node).0).min().unwrap_or_default();
    let message_time = port.time_for(largest.unwrap_or(ground.request.size) as f64);
    let jitter = ground.request.jitter.unwrap_or(Time::from_ps((message_time.ps() * JITTER).round()));
    report.jitter_s = jitter.seconds();
    let mut base = ground.base.clone();
    let (mut names, mut played) = (Vec::new(), None);
    if let Some(built) = built {
        let injection = if report.slots.is_some() || built.pattern.is_some() { "barrier" } else { "all" };
        let table = built.pattern.clone().unwrap_or_else(|| "[workload.file]\npath = \"schedule.csv\"\n".to_owned());
        if built.pattern.is_none() {
            base = base.attach("schedule.csv", csv_of(&built.plan, &ground.network.fabric));
        }
        let cost = match ground.request.barrier_cost {
            cost if cost > Time::ZERO && injection == "barrier" => format!("barrier-cost = \"{} ps\"\n", cost.ps()),
            _ => String::new(),
        };
        let file = format!("{table}{ranks}injection = \"{injection}\"\n{cost}");
        base = base.attach("schedule.toml", file.into_bytes());
        names.push((SCHEDULE.to_owned(), "schedule.toml".to_owned()));
        played = Some(base.clone().pattern("schedule.toml"));
    }
    for (name, text) in algorithms(ground) {
        let file = format!("{name}.toml");
        base = base.attach(file.as_str(), (text + &ranks).into_bytes());
        names.push((name, file));
    }
    let late = format!("{} ps", jitter.ps());
    let sweep = Sweep {
        base,
        axes: vec![
            (Axis::Key("jitter".to_owned()), vec!["0 s".to_owned(), late.clone()]),
            (Axis::Pattern, names.iter().map(|(_, file)| file.clone()).collect()),
        ],
        seeds: vec![ground.seed],
        ..Sweep::default()
    };
    let comparison = sweep.run(*ground.control)?;
    let optimum = report.optimum_s;
    for (name, file) in names {
        let time = |jitter: &str| {
            let row = comparison
                .rows
                .iter()
                .find(|row| row.pattern == file && row.varied.get("jitter").is_some_and(|of| of == jitter));
            row.map(|row| row.makespan.mean_s)
        };
        let (Some(makespan_s), Some(makespan_jitter_s)) = (time("0 s"), time(&late)) else { continue };
        if name == SCHEDULE {
            (report.simulated_s, report.simulated_jitter_s) = (Some(makespan_s), Some(makespan_jitter_s));
        }
        let (ratio_in_step, ratio_to_optimum) = (makespan_s / optimum, makespan_jitter_s / optimum);
        report.algorithms.push(ScheduleRow { name, makespan_s, makespan_jitter_s, ratio_in_step, ratio_to_optimum });
    }
    report.algorithms.sort_by(|a, b| a.makespan_jitter_s.total_cmp(&b.makespan_jitter_s));
    Ok(played)
}

/// Returns the usual algorithms of the operation with their workloads.
fn algorithms(ground: &Ground<'_>) -> Vec<(String, String)> {
    let Request { operation, size, root, ref sizes, .. } = *ground.request;
    let ranks = ground.ranks();
    let call_of = match operation {
        PlanOperation::AllToAll => {
            let mut all = vec!["simple-spread", "random-order", "bruck", "linear"];
            all.extend(ranks.is_power_of_two().then_some("pairwise"));
            all.retain(|_| sizes.is_none() && u64::from(ranks).pow(2) <= MOST_SIMULATED);
            let table = |name: &str| format!("[workload.all-to-all]\nalgorithm = \"{name}\"\nsize = \"{size} B\"\n");
            return all.into_iter().map(|name| (name.to_owned(), table(name))).collect();
        }
        PlanOperation::AllGather => Operation::Allgather,
        PlanOperation::ReduceScatter => Operation::ReduceScatterBlock,
        PlanOperation::AllReduce => Operation::Allreduce,
        PlanOperation::Broadcast => Operation::Bcast,
        PlanOperation::Scatter => Operation::Scatter,
        PlanOperation::Gather => Operation::Gather,
    };
    let call = Call::equal(call_of, ranks, size).rooted(root).of_usual_elements();
    let suits = |algorithm: &&Algorithm| {
        let plan = Choice::of(&call, **algorithm);
        let messages = CallSchedule::of(&call, plan).rounds().saturating_mul(ranks.into());
        plan.algorithm == **algorithm && messages <= MOST_SIMULATED
    };
    let with_root = if call_of.has_root() { format!("root = {root}\n") } else { String::new() };
    let table = |name: &str| {
        format!(
            "[workload.collective]\noperation = \"{call_of}\"\nalgorithm = \"{name}\"\nsize = \"{size} B\"\n{with_root}"
        )
    };
    let all = Algorithm::of(call_of).iter().filter(suits);
    all.map(|algorithm| (algorithm.name().to_owned(), table(algorithm.name()))).collect()
}

impl PlanOperation {
    /// Operations with their names.
    pub const ALL: [(&'static str, Self); 7] = [
        ("all-to-all", Self::AllToAll),
        ("all-gather", Self::AllGather),
        ("reduce-scatter", Self::ReduceScatter),
        ("all-reduce", Self::AllReduce),
        ("broadcast", Self::Broadcast),
        ("scatter", Self::Scatter),
        ("gather", Self::Gather),
    ];

    /// Returns the name of the operation.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, operation)| *operation == self).map_or("", |(name, _)| name)
    }
}

/// Returns a plan as a message file: rounds, routes and weights where the plan has them.
pub fn csv_of(plan: &Plan, fabric: &Fabric) -> Vec<u8> {
    let mut sent = vec![0_u32; plan.ranks as usize];
    let index: Vec<u32> = plan
        .messages
        .iter()
        .map(|message| {
            sent[message.src as usize] += 1;
            sent[message.src as usize] - 1
        })
        .collect();
    let rows: Vec<(usize, &PlanMessage)> = plan.messages.iter().enumerate().collect();
    let any = |has: fn(&PlanMessage) -> bool| plan.messages.iter().any(has);
    let name = |&earlier: &u32| format!("{}:{}", plan.messages[earlier as usize].src, index[earlier as usize]);
    let columns = Columns::<(usize, &PlanMessage)>::new()
        .id("src", |(_, message)| message.src)
        .id("dst", |(_, message)| message.dst)
        .id("bytes", |(_, message)| message.bytes)
        .when(any(|message| !message.after.is_empty()), |columns| {
            columns.words("after", |(_, message)| message.after.iter().map(name).collect::<Vec<_>>().join(" "))
        })
        .when(any(|message| message.slot.is_some()), |columns| {
            columns.id("slot", |(_, message)| message.slot.unwrap_or(0))
        })
        .when(any(|message| !message.path.is_empty()), |columns| {
            columns.words("path", |(_, message)| {
                fabric.path_name(&message.path.iter().map(|&link| LinkId(link)).collect::<Vec<_>>())
            })
        })
        .when(any(|message| message.weight != 1.0), |columns| columns.id("flow_weight", |(_, message)| message.weight));
    let mut text = format!("# fabric: {}\n", fabric.fingerprint()).into_bytes();
    // Writing to memory does not fail.
    let _ = crate::columns::csv::write(columns, &rows, &mut text);
    text
}

//! Schedules of messages that neither copy nor add: in rounds of an order, in packed slots, or all at once.

use super::plan::{Plan, PlanMessage, PlanOperation};
use super::{Built, Ground, Method};
use crate::fabric::Tree;
use crate::ids::{Id, LinkId, NodeId, RankId};
use crate::optimum::flow::Path;
use crate::optimum::slots::{Effort, Messages, colour_round, pack};
use crate::optimum::{BestTime, FlowNetwork, Volumes};

/// Largest number of ranks whose slots are packed or coloured.
const MOST_PACKED: u32 = 2_000;
/// Largest number of routes of a message from which packing chooses.
const MOST_ROUTES: usize = 8;
/// Ratio to the optimum at which an order is good enough.
const NEAR: f64 = 1.01;
/// Ratio to the optimum above which turns are given up for nodes with several ports.
const FAR: f64 = 1.2;
/// Largest number of messages of a pattern that are listed one by one.
const MOST_LISTED: u64 = 1 << 22;
/// Largest number of messages that are split over several routes.
const MOST_SPLIT: usize = 1 << 20;

/// Returns the schedule of an exchange, or the reason why there is none.
pub(super) fn schedule(
    ground: &Ground<'_>,
    flows: &FlowNetwork<'_>,
    best: &BestTime,
    volumes: &Volumes,
) -> Result<Built, String> {
    let request = ground.request;
    let is_even = request.operation == PlanOperation::AllToAll && request.sizes.is_none();
    match request.method {
        Method::Order if is_even => by_order(ground),
        Method::Greedy if is_even => packed(ground, Method::Greedy, &single_routes(ground)?),
        Method::Pack if is_even => packed(ground, Method::Pack, &single_routes(ground)?),
        Method::Packr if is_even => {
            packed(ground, Method::Packr, &BestRoutes::new(flows, best, volumes).of_pairs(ground))
        }
        Method::Colour if is_even => coloured(ground),
        Method::Auto if is_even => {
            let ordered = by_order(ground);
            if ordered.as_ref().is_ok_and(|ordered| ordered.predicted_s <= NEAR * best.at_least_s) {
                return ordered;
            }
            let other = coloured(ground).or_else(|_| packed(ground, Method::Greedy, &single_routes(ground)?));
            let turns = match (ordered, other) {
                (Ok(ordered), Ok(other)) if other.predicted_s < ordered.predicted_s => Ok(other),
                (Ok(ordered), _) => Ok(ordered),
                (Err(_), other) => other,
            };
            // Nodes with several ports can do more than one message at a time.
            let is_port = |node: &NodeId| flows.of_vertex[flows.place[node.index()] as usize] != (*node).into();
            match turns {
                Ok(turns) if turns.predicted_s <= FAR * best.at_least_s || ground.nodes.iter().any(is_port) => {
                    Ok(turns)
                }
                turns => at_once(ground, flows, best, volumes).or(turns),
            }
        }
        Method::Auto | Method::Routes => at_once(ground, flows, best, volumes),
        method => Err(format!("method \"{}\" needs one size for all messages", method.name())),
    }
}

/// Returns an empty plan of the exchange.
fn plan(ground: &Ground<'_>) -> Plan {
    let ranks = ground.ranks();
    let blocks = if ground.request.operation == PlanOperation::AllToAll { ranks * ranks } else { ranks };
    Plan { operation: ground.request.operation, ranks, root: ground.request.root, units: blocks, messages: Vec::new() }
}

/// Returns the unit of the block of one rank for another.
fn unit(ground: &Ground<'_>, src: u32, dst: u32) -> u32 {
    match ground.request.operation {
        PlanOperation::AllToAll => src * ground.ranks() + dst,
        PlanOperation::Gather => src,
        _ => dst,
    }
}

/// Returns an all-to-all in rounds of the best order.
fn by_order(ground: &Ground<'_>) -> Result<Built, String> {
    let table = |order: &str| {
        let size = ground.request.size;
        format!("[workload.all-to-all]\nalgorithm = \"simple-spread\"\norder = \"{order}\"\nsize = \"{size} B\"\n")
    };
    let text = format!("{}ranks = {}\n", table("auto"), ground.ranks());
    let scenario = ground.base.clone().over("<schedule>", text).load_pattern();
    let scenario = scenario
        .map_err(|invalid| invalid.diagnostics.first().map_or_else(String::new, |first| first.message.clone()))?;
    let pattern = &scenario.work().pattern;
    let choice = pattern.order().ok_or("no order is known")?;
    let mut plan = plan(ground);
    let listed = if pattern.messages() <= MOST_LISTED { pattern.ranks() } else { 0 };
    for src in (0..listed).map(RankId) {
        for message in (0..pattern.sends(src)).map(|index| pattern.message(src, index)) {
            plan.messages.push(turn(ground, (src.0, message.dst.0), message.step, Vec::new()));
        }
    }
    let predicted_s = choice.tried.iter().find(|(name, _)| *name == choice.name).map_or(f64::NAN, |(_, time)| *time);
    let (order, pattern) = (Some(choice.name.to_owned()), Some(table(choice.name)));
    Ok(Built { pattern, order, ..Built::new(plan, Method::Order, predicted_s) })
}

/// Routes of each pair of ranks, as links of the fabric; a pair on one node has none.
type Routes = Vec<Vec<Vec<u32>>>;

/// Returns the one route of each pair of ranks by the routing rule.
fn single_routes(ground: &Ground<'_>) -> Result<Routes, String> {
    if ground.network.router.choice().is_some() {
        return Err("slots are packed on fixed routes, and the routing rule chooses; take method packr".to_owned());
    }
    too_many(ground)?;
    let mut links = Vec::new();
    let mut route = |from, to| {
        links.clear();
        if from != to {
            ground.network.router.route(from, to, &mut links);
        }
        vec![links.iter().map(|link: &LinkId| link.0).collect()]
    };
    Ok(ground.pairs().map(|(from, to)| route(from, to)).collect())
}

/// Best known routes between nodes, in order of their ends.
struct BestRoutes<'a> {
    flows: &'a FlowNetwork<'a>,
    routes: Vec<(u32, Path)>,
}

impl<'a> BestRoutes<'a> {
    fn new(flows: &'a FlowNetwork<'_>, best: &BestTime, volumes: &Volumes) -> Self {
        let mut routes = flows.paths(best, volumes);
        routes.sort_by_key(|(from, path)| (*from, path.to));
        Self { flows, routes }
    }

    /// Returns the routes between two nodes of different switches as links of the fabric, with their shares.
    fn between(&self, from: NodeId, to: NodeId) -> impl Iterator<Item = (f64, Vec<u32>)> {
        let ends = (self.flows.place[from.index()], self.flows.place[to.index()]);
        let first = self.routes.partition_point(|(from, path)| (*from, path.to) < ends);
        let of_pair = self.routes[first..].iter().take_while(move |(from, path)| (*from, path.to) == ends);
        of_pair.map(move |(_, path)| (path.share, self.whole(from, to, &path.links)))
    }

    /// Returns the links of the fabric from node to node along links of the network.
    fn whole(&self, from: NodeId, to: NodeId, links: &[u32]) -> Vec<u32> {
        let inner = links.iter().map(|&link| self.flows.of_link[link as usize]);
        self.flows.whole_path(from, to, inner).into_iter().map(|link| link.0).collect()
    }

    /// Returns the routes of each pair of ranks that carry most of its traffic.
    fn of_pairs(&self, ground: &Ground<'_>) -> Routes {
        let of_pair = |(from, to): (NodeId, NodeId)| match from == to {
            true => vec![Vec::new()],
            false if self.flows.place[from.index()] == self.flows.place[to.index()] => vec![self.whole(from, to, &[])],
            false => self.between(from, to).take(MOST_ROUTES).map(|(_, links)| links).collect(),
        };
        ground.pairs().map(of_pair).collect()
    }
}

/// Refuses more ranks than slots are packed for.
fn too_many(ground: &Ground<'_>) -> Result<(), String> {
    match ground.ranks() {
        ..=MOST_PACKED => Ok(()),
        ranks => Err(format!("slots are packed for at most {MOST_PACKED} ranks, not {ranks}")),
    }
}

/// Returns an all-to-all in packed slots: in each, a link carries as many messages as it can in the time that the
/// narrowest link needs for one.
fn packed(ground: &Ground<'_>, method: Method, routes: &Routes) -> Result<Built, String> {
    too_many(ground)?;
    let ranks = ground.ranks();
    let capacity = ground.network.fabric.shared_capacities();
    let used = routes.iter().flatten().flatten().map(|&link| capacity[link as usize]);
    let slowest = used.fold(f64::INFINITY, f64::min);
    let mut room: Vec<u32> =
        capacity.iter().map(|capacity| (capacity / slowest + 1e-9).clamp(1.0, 1e9) as u32).collect();
    // A rank sends one message at a time and receives one: two more links of each rank.
    let ends = room.len() as u32;
    room.resize(room.len() + 2 * ranks as usize, 1);
    let (mut messages, mut pairs) = (Messages::default(), Vec::new());
    for (pair, routes) in (0..).zip(routes).filter(|(pair, _)| pair / ranks != pair % ranks) {
        let own = [ends + pair / ranks, ends + ranks + pair % ranks];
        let whole: Vec<Vec<u32>> = routes.iter().map(|route| route.iter().copied().chain(own).collect()).collect();
        messages.push(1, whole.iter().map(Vec::as_slice));
        pairs.push(pair);
    }
    let effort = if method == Method::Pack { Effort::Pack } else { Effort::Greedy };
    let slots = pack(&messages, &room, effort, ground.seed, &mut |_| !ground.control.is_cancelled());
    let slots = slots.ok_or("the packing was stopped")?;
    let mut plan = plan(ground);
    for (index, &pair) in pairs.iter().enumerate() {
        let (src, dst) = (pair / ranks, pair % ranks);
        let path = if method == Method::Packr {
            messages.route(slots.route[index]).iter().copied().filter(|&link| link < ends).collect()
        } else {
            Vec::new()
        };
        plan.messages.push(turn(ground, (src, dst), slots.slot[index], path));
    }
    plan.messages.sort_by_key(|message| (message.src, message.slot));
    let predicted_s = f64::from(slots.slots) * ground.request.size as f64 / slowest;
    Ok(Built::new(plan, method, predicted_s))
}

/// Returns an all-to-all in rounds by number, with the routes of each round coloured on a tree.
fn coloured(ground: &Ground<'_>) -> Result<Built, String> {
    let fabric = &ground.network.fabric;
    let Some(tree) = fabric.family_as::<Tree>().filter(|_| fabric.failed().is_none()) else {
        return Err("routes are coloured on trees without failed links".to_owned());
    };
    too_many(ground)?;
    let (ranks, levels) = (ground.ranks(), tree.levels());
    let (mut plan, mut ports, mut rounds) = (plan(ground), Vec::new(), 0.0);
    let capacity = fabric.shared_capacities().into_iter().fold(f64::INFINITY, f64::min);
    for round in 1..ranks {
        let ends: Vec<(u32, u32)> = (0..ranks)
            .map(|rank| (ground.nodes[rank as usize].0, ground.nodes[((rank + round) % ranks) as usize].0))
            .collect();
        rounds += f64::from(colour_round(tree, &ends, &mut ports));
        for (rank, &(from, to)) in (0..).zip(&ends) {
            let ports = &ports[rank as usize * levels..][..levels];
            let path = climb(tree, from, to, ports);
            plan.messages.push(turn(ground, (rank, (rank + round) % ranks), round - 1, path));
        }
    }
    plan.messages.sort_by_key(|message| (message.src, message.slot));
    let predicted_s = rounds * ground.request.size as f64 / capacity;
    Ok(Built::new(plan, Method::Colour, predicted_s))
}

/// Returns the links of a message that climbs by these ports and comes down by the same.
fn climb(tree: &Tree, from: u32, to: u32, ports: &[u16]) -> Vec<u32> {
    let (mut up, mut down, mut at) = (Vec::new(), Vec::new(), [from, to]);
    for (level, &port) in (1..).zip(ports) {
        if from == to || from / tree.block(level - 1) == to / tree.block(level - 1) {
            break;
        }
        up.push(tree.up_link(level, at[0], port.into()).0);
        down.push(tree.down_link(level, at[1], port.into()).0);
        at = at.map(|part| tree.parent(level, part, port.into()));
    }
    up.into_iter().chain(down.into_iter().rev()).collect()
}

/// Returns the message of a pair in a slot.
fn turn(ground: &Ground<'_>, pair: (u32, u32), slot: u32, path: Vec<u32>) -> PlanMessage {
    PlanMessage { slot: Some(slot), ..message(ground, pair, ground.request.size, path) }
}

/// Returns a message of a pair that waits for none.
fn message(ground: &Ground<'_>, (src, dst): (u32, u32), bytes: u64, path: Vec<u32>) -> PlanMessage {
    let data = (unit(ground, src, dst), 1);
    PlanMessage { src, dst, bytes, slot: None, path, weight: 1.0, after: Vec::new(), data, reduces: false }
}

/// Returns all messages at once, each split over the best known routes. Under max-min every flow then gets at least
/// its share of the busiest link, so that the time is that of the routes.
fn at_once(ground: &Ground<'_>, flows: &FlowNetwork<'_>, best: &BestTime, volumes: &Volumes) -> Result<Built, String> {
    let best_routes = BestRoutes::new(flows, best, volumes);
    if best_routes.routes.len() > MOST_SPLIT {
        return Err("the best routes are too many for one plan".to_owned());
    }
    let mut plan = plan(ground);
    for (src, dst, bytes) in ground.sizes() {
        let [from, to] = [src, dst].map(|rank| ground.nodes[rank as usize]);
        let mut split: Vec<(f64, Vec<u32>)> = best_routes.between(from, to).collect();
        if split.is_empty() {
            split.push((1.0, Vec::new()));
        }
        let mut done = 0.0;
        for (share, path) in split {
            let begin = (bytes as f64 * done).round() as u64;
            done += share;
            let part = ((bytes as f64 * done).round() as u64).min(bytes) - begin;
            if part > 0 {
                plan.messages.push(PlanMessage { weight: part as f64, ..message(ground, (src, dst), part, path) });
            }
        }
    }
    plan.messages.sort_by_key(|message| message.src);
    Ok(Built::new(plan, Method::Routes, best.reached_s))
}

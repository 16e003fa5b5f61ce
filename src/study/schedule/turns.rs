//! Schedules of messages that neither copy nor add: in rounds of an order, in packed slots, or all at once.

use super::plan::{Plan, PlanMessage, PlanOperation};
use super::{Built, Ground, Method};
use crate::ids::{LinkId, RankId};
use crate::optimum::{BestTime, FlowNetwork, Volumes};

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
        Method::Auto if is_even => by_order(ground),
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
    let scenario = ground.base.clone().over("<schedule>", table("auto")).load_pattern();
    let scenario = scenario
        .map_err(|invalid| invalid.diagnostics.first().map_or_else(String::new, |first| first.message.clone()))?;
    let pattern = &scenario.work().pattern;
    let choice = pattern.order().ok_or("no order is known")?;
    let mut plan = plan(ground);
    let listed = if pattern.messages() <= MOST_LISTED { pattern.ranks() } else { 0 };
    for src in (0..listed).map(RankId) {
        for message in (0..pattern.sends(src)).map(|index| pattern.message(src, index)) {
            plan.messages.push(PlanMessage {
                src: src.0,
                dst: message.dst.0,
                bytes: message.bytes,
                slot: Some(message.step),
                path: Vec::new(),
                weight: 1.0,
                after: Vec::new(),
                data: (unit(ground, src.0, message.dst.0), 1),
                reduces: false,
            });
        }
    }
    let predicted_s = choice.tried.iter().find(|(name, _)| *name == choice.name).map_or(f64::NAN, |(_, time)| *time);
    let (order, pattern) = (Some(choice.name.to_owned()), Some(table(choice.name)));
    Ok(Built { plan, pattern, method: Method::Order, predicted_s, order, depth: None, chunks: None, trees: None })
}

/// Returns all messages at once, each split over the best known routes. Under max-min every flow then gets at least
/// its share of the busiest link, so that the time is that of the routes.
fn at_once(ground: &Ground<'_>, flows: &FlowNetwork<'_>, best: &BestTime, volumes: &Volumes) -> Result<Built, String> {
    let mut routes = flows.paths(best, volumes);
    if routes.len() > MOST_SPLIT {
        return Err("the best routes are too many for one plan".to_owned());
    }
    routes.sort_by_key(|(from, path)| (*from, path.to));
    let mut plan = plan(ground);
    let sizes = ground.sizes();
    for &(src, dst, bytes) in &sizes {
        let [from, to] = [src, dst].map(|rank| ground.nodes[rank as usize]);
        let [start, end] = [from, to].map(|node| flows.place[node.0 as usize]);
        let first = routes.partition_point(|(from, path)| (*from, path.to) < (start, end));
        let of_pair = routes[first..].iter().take_while(|(from, path)| (*from, path.to) == (start, end));
        let split: Vec<(f64, Vec<u32>)> = of_pair
            .map(|(_, path)| {
                let inner = path.links.iter().map(|&link| flows.of_link[link as usize]);
                (path.share, flows.whole_path(from, to, inner).into_iter().map(|link: LinkId| link.0).collect())
            })
            .collect();
        let split = if split.is_empty() { vec![(1.0, Vec::new())] } else { split };
        let mut done = 0.0;
        for (share, path) in split {
            let begin = (bytes as f64 * done).round() as u64;
            done += share;
            let part = ((bytes as f64 * done).round() as u64).min(bytes) - begin;
            if part > 0 {
                plan.messages.push(PlanMessage {
                    src,
                    dst,
                    bytes: part,
                    slot: None,
                    path,
                    weight: part as f64,
                    after: Vec::new(),
                    data: (unit(ground, src, dst), 1),
                    reduces: false,
                });
            }
        }
    }
    plan.messages.sort_by_key(|message| message.src);
    let predicted_s = best.reached_s;
    Ok(Built {
        plan,
        pattern: None,
        method: Method::Routes,
        predicted_s,
        order: None,
        depth: None,
        chunks: None,
        trees: None,
    })
}
